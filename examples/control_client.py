"""A client of the control socket: prints status and prompts of a running box, then adds a deck.

Run a simulated table, a box and this client in three terminals:

    pitbox sim up table --game face_up_pai_gow --folder bench
    pitbox run --config bench/table.toml
    python examples/control_client.py bench/data/control.sock

It prints:

    bench face_up_pai_gow: pitbox 0.1.0, running
    shuffler.1 in_service
    ...
    No round: the deck is not shuffled and cut [688a.5(a)/1] (dealer)
    ...
    Prompt 4294967296 for the floorperson: dice? replaced
    Deck blue: accepted
    Prompt ... for the dealer: opening/composition? whole, not_whole

The protocol is one JSON object per line (docs/box.md). This program uses the standard library only.
"""

from __future__ import annotations

import argparse
import json
import socket
import sys
from typing import Any, Final

# Everybody at a simulated table has this PIN.
PIN: Final = "271828"
DEALER: Final = "dealer-1"
# A box replies at once; only a disk or a device may take longer (s).
TIMEOUT_S: Final = 30.0


class ControlClient:
    """One connection to the control socket of a box."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(TIMEOUT_S)
        self._socket.connect(path)
        self._lines = self._socket.makefile("rb")
        self._id = 0
        self.hello: dict[str, Any] = json.loads(self._lines.readline())["hello"]

    def request(self, do: str, **details: Any) -> Any:
        """Send a request and return its result. RuntimeError with the code of the box if it refuses."""
        self._id += 1
        self._socket.sendall(json.dumps({"do": do, "id": self._id, **details}).encode() + b"\n")
        while True:
            reply = json.loads(self._lines.readline())
            if reply.get("id") != self._id:
                continue  # an event that belongs to no request
            if "error" in reply:
                raise RuntimeError(f"{reply['error']['code']}: {reply['error']['text']}")
            return reply.get("ok")

    def close(self) -> None:
        """Close the connection."""
        self._lines.close()
        self._socket.close()


def print_prompts(status: dict[str, Any]) -> None:
    """Print every open question with its role and the possible answers."""
    for prompt in status["state"]["prompts"]:
        choices = ", ".join(prompt["choices"])
        print(f"Prompt {prompt['id']} for the {prompt['role']}: {prompt['kind']}? {choices}")


def main() -> int:
    """Print the status of a box, add a deck, print the prompts that follow."""
    parser = argparse.ArgumentParser(description="print status and prompts of a running box, then add a deck")
    parser.add_argument("socket", help="control socket of the box, as in bench/data/control.sock")
    parser.add_argument("--deck", default="blue", help="name of the deck to add")
    options = parser.parse_args()

    box = ControlClient(options.socket)
    status = box.request("status")
    print(f"{box.hello['table']}: pitbox {box.hello['pitbox']}, {status['phase']}")
    for slot in status["slots"]:
        print(f"{slot['name']} {slot['state']}")
    for permit in status["state"]["permits"]:
        for reason in permit["reasons"]:
            print(f"No round: {reason['text']} [{reason['clause']}] ({reason['clears']})")
    print_prompts(status)

    box.request("sign_on", credential=DEALER, pin=PIN)
    box.request("deck", deck=options.deck, by=DEALER)
    print(f"Deck {options.deck}: accepted")
    print_prompts(box.request("status"))
    box.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
