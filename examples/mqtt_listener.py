"""An MQTT listener: prints the rounds and faults that a box publishes.

Start a broker, this listener, and a demo that publishes to the broker:

    mosquitto -p 1883
    python examples/mqtt_listener.py --port 1883
    pitbox demo --game dj_wild --rounds 3 --mqtt 127.0.0.1:1883

It prints, among other lines:

    Table bench-dj-wild: online
    Round 1 opened
    Round 1 complete
    Fault: shuffler_fault at shuffler.1; reshuffle [687a.13(e)]
    Cleared: shuffler_fault at shuffler.1
    Table bench-dj-wild: offline

It ends when the box goes offline. docs/uplink.md explains the topics; docs/asyncapi.yaml has every field. Nothing that
a listener publishes can move a card or a cent.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from typing import Any

import aiomqtt


class Printer:
    """Turns messages into lines. Remembers which events it has seen and which faults are open."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, int]] = set()
        self._faults: dict[int, str] = {}

    def lines(self, topic: str, message: dict[str, Any]) -> list[str]:
        """Return what to print for one message. An event that was delivered before prints nothing."""
        *_, table, kind = topic.split("/")
        if kind == "status":
            return [f"Table {table}: {message['status']}"]
        if kind != "events" or (message["journal"], message["seq"]) in self._seen:
            return []
        self._seen.add((message["journal"], message["seq"]))  # delivered again, an event has the same number
        return [line for item in message["items"] if (line := self._describe(item))]

    def _describe(self, item: dict[str, Any]) -> str:
        match item["item"]:
            case "round":
                return f"Round {item['number']} {item['state']}"
            case "irregularity_found":
                name = item["trigger"] + (f" at {item['slot']}" if item.get("slot") else "")
                self._faults[item["hold"]] = name
                return f"Fault: {name}; {', '.join(item['outcomes'])} [{', '.join(item['clauses'])}]"
            case "irregularity_cleared":
                return f"Cleared: {self._faults.pop(item['hold'], 'an earlier fault')}"
        return ""


async def listen(host: str, port: int) -> None:
    """Print messages until the box goes offline."""
    printer = Printer()
    async with aiomqtt.Client(host, port) as client:
        await client.subscribe("pitbox/#", qos=1)
        print("Listening", flush=True)
        async for message in client.messages:
            body = json.loads(message.payload)
            for line in printer.lines(str(message.topic), body):
                print(line, flush=True)
            if str(message.topic).endswith("/status") and body["status"] == "offline" and not message.retain:
                return


def main() -> int:
    """Read the arguments and listen."""
    parser = argparse.ArgumentParser(description="print rounds and faults that a box publishes over MQTT")
    parser.add_argument("--host", default="127.0.0.1", help="host of the broker")
    parser.add_argument("--port", type=int, default=1883, help="port of the broker")
    options = parser.parse_args()
    asyncio.run(listen(options.host, options.port))
    return 0


if __name__ == "__main__":
    sys.exit(main())
