"""Connects a bench command to one device: key file, approved list, exclusive port, one attempt."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from devices.kinds import kind_named
from devices.message_registry import all_messages
from firmware_bridge.capture import CaptureFile
from firmware_bridge.errors import BadApprovedList, BadCapture, BadKeyFile, EnrolledKey, PortMissing, WrongKind
from firmware_bridge.handshake import Trust
from firmware_bridge.keys import load_approved, load_key
from firmware_bridge.supervisor import Supervisor
from firmware_bridge.transport.ports import is_path, open_port

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Callable

    from devices.driver import Driver
    from firmware_bridge.wire import Capture


def add_link_arguments(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Describe the arguments that every bench command shares."""
    parser.add_argument("--port", required=required, help="device path, or socket://, rfc2217://, usb:, usbip://")
    parser.add_argument("--key", type=Path, help="the device's key file (default: PORT.key, as simulators make it)")
    parser.add_argument(
        "--approved", type=Path, help="list of approved firmware (default: approved.toml next to the key file)"
    )


def bench_trust(args: argparse.Namespace) -> Trust:
    """Read key and approved list; refuse a key that is enrolled at a table."""
    is_file = is_path(args.port)
    if is_file and not Path(args.port).exists():
        raise PortMissing(f"{args.port}: no such port")
    path = args.key or (Path(args.port + ".key") if is_file else None)
    if path is None or (args.key is None and not path.exists()):
        raise BadKeyFile(f"{args.port}: name the key file with --key FILE")
    key = load_key(path)
    if key.enrolled:
        owner = f"{key.serial}, enrolled at {key.enrolled}"
        raise EnrolledKey(f"{path} is the key of {owner}; a bench command may not use it")
    approved = args.approved or path.with_name("approved.toml")
    if not approved.exists():
        raise BadApprovedList(f"{approved} does not exist; name the list with --approved FILE")
    return Trust(key.kind, {key.serial: key}, load_approved(approved), role="bench")


def slot_name(port: str) -> str:
    """Return the name of this port in a capture: the last part of a path, which is the slot's name on the bench."""
    return Path(port).name if is_path(port) else port


def open_capture(path: Path) -> CaptureFile:
    """Create a capture file. Never overwrites a file."""
    try:
        file = path.open("xb", buffering=0)
    except OSError as error:
        raise BadCapture(f"{path}: {error.strerror}") from error
    return CaptureFile(file, all_messages())


@asynccontextmanager
async def bench_driver(
    args: argparse.Namespace,
    on_event: Callable[[Any], None],
    capture: Capture | None = None,
    *,
    kind: str | None = None,
) -> AsyncIterator[Driver]:
    """Connect to one device; raises the first failure, without a retry.

    The key file names the kind of device; `kind` is the one kind that the caller supports, None for all.
    """
    trust = bench_trust(args)
    if kind is not None and trust.kind != kind:
        raise WrongKind(f"the key file is for a {trust.kind}, not for a {kind}")
    device_kind = kind_named(trust.kind)
    driver: Driver = device_kind.driver(on_event)
    supervisor = Supervisor(
        args.port, lambda: open_port(args.port), trust, device_kind.decoder, driver, capture=capture
    )
    supervisor.start()
    try:
        await driver.ready()
        yield driver
    finally:
        await supervisor.close()


def bench_command_id() -> int:
    """Return a command id that no earlier bench command on this machine had."""
    return time.time_ns()
