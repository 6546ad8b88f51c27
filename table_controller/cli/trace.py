"""`pitbox trace`: watch frames, decoded, and keep them as pcapng: of a running box, or of one device on the bench.

No keys and no cards are in it.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from devices.report import LinkDown
from firmware_bridge.errors import ConfigurationError
from table_controller.cli.bench_link import add_link_arguments, bench_driver, open_capture, slot_name
from table_controller.cli.box_link import add_box_arguments, socket_of
from table_controller.cli.frame_text import frame_text

if TYPE_CHECKING:
    import argparse

    from firmware_bridge.capture import CaptureFile

HELP = "watch frames, decoded, and keep them as pcapng for Wireshark (deploy/wireshark/pitbox.lua)"
EXAMPLE = (
    "pitbox trace --slot shuffler.1 --out shuffler.pcapng --seconds 30      (of the running box)\n"
    "         pitbox trace --port /dev/ttyUSB0 --key SN123.key               (on the bench, without a box)"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    add_box_arguments(parser)
    parser.add_argument(
        "--slot", action="append", default=[], metavar="SLOT", help="of the box: only this slot; repeatable"
    )
    add_link_arguments(parser, required=False)
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write every frame to this pcapng file")
    parser.add_argument("--seconds", type=float, help="end after this long (default: until Ctrl-C)")


def run(args: argparse.Namespace) -> int:
    """Connect, watch, end on time or on Ctrl-C; the capture is whole either way."""
    if args.seconds is not None and not 0 < args.seconds <= 86_400:
        raise ConfigurationError("--seconds takes a number up to 86400")
    if args.port is None:
        return _of_box(args)
    if args.slot:
        raise ConfigurationError("--slot is for the box, --port for the bench: say one of them")
    file = open_capture(args.out) if args.out else None
    tracer = _Tracer(file, slot_name(args.port))
    try:
        asyncio.run(_watch(args, tracer))
    except KeyboardInterrupt:
        print(file=sys.stderr)
    finally:
        _close(file, args.out)
    return _whole(file)


def _close(file: CaptureFile | None, out: Path) -> None:
    if file is not None:
        file.close()
        if file.packets:
            print(f"{file.packets} frames in {out}", file=sys.stderr)
        else:
            out.unlink(missing_ok=True)  # nothing was captured: the name is free for another try


def _whole(file: CaptureFile | None) -> int:
    if file is not None and file.error is not None:
        print(f"pitbox: the capture is not whole: {file.error}", file=sys.stderr)
        return 1
    return 0


def _of_box(args: argparse.Namespace) -> int:
    """Follow the running box: its ports are its own."""
    from table_controller.cli.box_trace import BoxTrace

    socket = socket_of(args)
    trace = BoxTrace(args.out)
    try:
        asyncio.run(trace.follow(socket, args.slot, args.seconds))
    except KeyboardInterrupt:
        print(file=sys.stderr)
    finally:
        _close(trace.file, args.out)
    return _whole(trace.file)


class _Tracer:
    """Prints every frame and hands it on to the capture file."""

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
            except OSError as error:  # whoever read our output has gone
                self.unheard = error


async def _watch(args: argparse.Namespace, tracer: _Tracer) -> None:
    ended: asyncio.Future[LinkDown] = asyncio.get_running_loop().create_future()

    def take(event: object) -> None:
        if isinstance(event, LinkDown) and not ended.done():
            ended.set_result(event)

    async with bench_driver(args, take, tracer):
        until = None if args.seconds is None else time.monotonic() + args.seconds
        while tracer.unheard is None and (until is None or time.monotonic() < until):
            done, _ = await asyncio.wait({ended}, timeout=0.1)
            if done:
                raise ended.result().cause
        if tracer.unheard is not None:
            raise tracer.unheard
