"""`pitbox trace`: prints decoded frames of a bench device or a running box, and writes them to a pcapng file.

The file contains no keys and no cards.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from devices.bench_link import add_link_arguments, bench_driver, open_capture, slot_name
from devices.driver_events import LinkDown
from devices.frame_text import frame_text
from firmware_bridge.errors import UsageError
from table_controller.cli.box_link import add_box_arguments, connect_box

if TYPE_CHECKING:
    import argparse

    from firmware_bridge.capture import CaptureFile

HELP = (
    "print frames of a bench device or a running box; write them as pcapng for Wireshark (deploy/wireshark/pitbox.lua)"
)
EXAMPLE = "pitbox trace --port /dev/ttyUSB0 --key SN123.key --out shuffler.pcapng --seconds 30"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    add_link_arguments(parser, required=False)
    add_box_arguments(parser)
    parser.add_argument(
        "--slot", action="append", metavar="SLOT", help="a slot of a running box, or all; repeatable; instead of --port"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write every frame to this pcapng file")
    parser.add_argument("--seconds", type=float, help="end after this long (default: until Ctrl-C)")


def run(args: argparse.Namespace) -> int:
    """Print frames until the time is up or Ctrl-C; the capture file is complete in both cases."""
    if args.seconds is not None and not 0 < args.seconds <= 86_400:
        raise UsageError("--seconds takes a number up to 86400")
    if (args.port is None) == (args.slot is None):
        raise UsageError("use --port for a device on the bench, or --slot for a slot of a running box")
    file = open_capture(args.out) if args.out else None
    try:
        if args.slot is not None:
            _watch_box(args, file)
        else:
            asyncio.run(_watch(args, _Tracer(file, slot_name(args.port))))
    except KeyboardInterrupt:
        print(file=sys.stderr)
    finally:
        if file is not None:
            file.close()
            if file.packets:
                print(f"{file.packets} frames in {args.out}", file=sys.stderr)
            else:
                args.out.unlink(missing_ok=True)  # nothing was captured: free the name for another try
    if file is not None and file.error is not None:
        print(f"pitbox: the capture is incomplete: {file.error}", file=sys.stderr)
        return 1
    return 0


class _Tracer:
    """Prints every frame and writes it to the capture file."""

    def __init__(self, file: CaptureFile | None, port: str) -> None:
        self._kept = file.port(port) if file is not None else None
        self._start = time.monotonic()
        self.unheard: OSError | None = None

    def __call__(self, outgoing: bool, signed: bytes, mac: bytes) -> None:
        if self._kept is not None:
            self._kept(outgoing, signed, mac)
        if self.unheard is None:
            try:
                print(f"{time.monotonic() - self._start:9.4f} {frame_text(outgoing, signed)}", flush=True)
            except OSError as error:  # the reader of our output has closed
                self.unheard = error


def _watch_box(args: argparse.Namespace, file: CaptureFile | None) -> None:
    """Print the frames that a running box sends; it blanks payloads that could name cards."""
    until = None if args.seconds is None else time.monotonic() + args.seconds
    with connect_box(args) as caller:
        caller.request("trace", slots=[] if "all" in args.slot else args.slot)
        began: int | None = None
        for push in caller.pushes(until):
            frame = push.get("frame")
            if frame is None:
                continue
            signed, mac = (msgspec.convert(frame[key], bytes) for key in ("signed", "mac"))
            began = frame["time_ns"] if began is None else began
            if file is not None:
                file.port(frame["slot"])(frame["outgoing"], signed, mac)
            passed = (frame["time_ns"] - began) / 1e9
            print(f"{passed:9.4f} {frame['slot']:14s} {frame_text(frame['outgoing'], signed)}", flush=True)


async def _watch(args: argparse.Namespace, tracer: _Tracer) -> None:
    ended: asyncio.Future[LinkDown] = asyncio.get_running_loop().create_future()

    def on_event(event: object) -> None:
        if isinstance(event, LinkDown) and not ended.done():
            ended.set_result(event)

    async with bench_driver(args, on_event, tracer):
        until = None if args.seconds is None else time.monotonic() + args.seconds
        while tracer.unheard is None and (until is None or time.monotonic() < until):
            done, _ = await asyncio.wait({ended}, timeout=0.1)
            if done:
                raise ended.result().cause
        if tracer.unheard is not None:
            raise tracer.unheard
