"""`pitbox replay`: plays a recorded fault into the drivers. Opens no port and moves no machine."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.driver_events import LinkDown, LinkUp, Reported
from firmware_bridge.capture import read_capture
from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import BadCapture, PitboxError

if TYPE_CHECKING:
    import argparse

    from firmware_bridge.capture import CapturedFrame
    from simulators.casino.replay import ReplayedSlot

HELP = "play a capture or a fault report into the drivers again and print the events"
EXAMPLE = "pitbox replay shuffler.pcapng --slot shuffler.1"

_CHATTER: Final = ("Progress", "Settled")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument(
        "recording", type=Path, help="a .pcapng file of pitbox trace, or the .json file of a fault report"
    )
    parser.add_argument("--slot", help="only this slot of the recording")
    parser.add_argument("--real", action="store_true", help="play at the recorded speed (default: as fast as possible)")
    parser.add_argument("--all", action="store_true", help="also print every card and the end of every command")
    parser.add_argument("--json", action="store_true", help="print events and end as JSON lines")


def run(args: argparse.Namespace) -> int:
    """Read the recording, play it, and print the final state."""
    from simulators.casino.replay import replay
    from simulators.engine.virtual_time import run_virtual

    packets = read_recording(args.recording)
    if args.slot:
        known = sorted({packet.slot for packet in packets})
        packets = [packet for packet in packets if packet.slot == args.slot]
        if not packets:
            raise BadCapture(f"{args.recording}: no frame of {args.slot}; it has frames of: {', '.join(known)}")
    show = _Show(every=args.all, as_json=args.json)
    work = replay(packets, show.event)
    for played in asyncio.run(work) if args.real else run_virtual(work):
        show.end(played)
    return 0


def read_recording(path: Path) -> list[CapturedFrame]:
    """Return the frames of a capture or a fault report; raise BadCapture if it is neither."""
    try:
        with path.open("rb") as file:
            is_json = file.read(1) == b"{"
    except OSError as error:
        raise BadCapture(f"{path}: {error.strerror}") from error
    if not is_json:
        return sorted(read_capture(path), key=lambda packet: packet.time_ns)
    from simulators.casino.replay import packets_of
    from table_controller.diagnosis.fault_report import decode

    try:
        return packets_of(decode(path.read_bytes()))
    except UNDECODABLE as error:
        raise BadCapture(f"{path}: not a fault report: {error}") from error


class _Show:
    """Prints the events of the drivers."""

    def __init__(self, *, every: bool, as_json: bool) -> None:
        self._every = every
        self._json = as_json

    def event(self, at: float, slot: str, event: Any) -> None:
        """Print one event."""
        name = type(event).__name__
        if not self._every and name in _CHATTER:
            return
        if self._json:
            sys.stdout.write(
                json.dumps({"at": round(at, 3), "slot": slot, "event": name, "details": _details(event)}) + "\n"
            )
        else:
            print(f"{at:10.3f} s  {slot:12s} {name}{_details(event)}")

    def end(self, played: ReplayedSlot) -> None:
        """Print the final state."""
        state = {key: value for key, value in msgspec.structs.asdict(played.view).items() if key != "unsettled"}
        if self._json:
            end = {key: _plain(value) for key, value in state.items()}
            sys.stdout.write(json.dumps({"slot": played.slot, "service": played.service, "state": end}) + "\n")
            return
        how = "through its driver" if played.linked else "events only: the recording begins in the middle of a session"
        print(f"\n{played.slot} ({played.kind}, {how}) ends {played.service.replace('_', ' ')}")
        for key, value in state.items():
            print(f"  {key:14s} {_plain(value)}")
        if played.unanswered:
            print(f"  the recording has no answer to: {', '.join(dict.fromkeys(played.unanswered))}")


def _plain(value: Any) -> Any:
    if hasattr(value, "name") and hasattr(value, "value"):
        return value.name.lower()
    return value if isinstance(value, int | str | bool | float | type(None)) else _named(value)


def _named(value: Any) -> str:
    return f"{type(value).__name__}{_details(value)}" if hasattr(value, "__struct_fields__") else str(value)


def _details(event: Any) -> str:
    """Return an event's fields as text; for a report, the machine's inventory."""
    match event:
        case PitboxError():
            return f": {event.code} {event}"
        case LinkUp():
            return f": {event.hello.kind} {event.hello.serial}, firmware {event.hello.firmware}"
        case LinkDown():
            return f": {event.cause.code} {event.cause}"
        case Reported():
            return f": {_named(event.inventory)}"
    fields = getattr(event, "__struct_fields__", ())
    hidden = ("levels", "currents")
    return "(" + ", ".join(f"{key}={_plain(getattr(event, key))}" for key in fields if key not in hidden) + ")"
