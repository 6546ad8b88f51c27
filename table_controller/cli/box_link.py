"""Finds a running box, connects to its control socket and signs people on."""

from __future__ import annotations

import os
import tomllib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.decode_errors import BAD_TOML
from firmware_bridge.errors import BadConfiguration
from table_controller.access.control_client import BlockingClient
from table_controller.cli.pins import add_pin_argument, ask_pin

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

# Where Debian keeps files that an administrator writes.
DEFAULT_CONFIG: Final = Path("/etc/pitbox/table.toml")
_DATA: Final = "/var/lib/pitbox"


def add_config_argument(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names the configuration."""
    given = Path(os.environ.get("PITBOX_CONFIG", DEFAULT_CONFIG))
    parser.add_argument("--config", type=Path, default=given, metavar="FILE", help=f"table.toml (default {given})")


def add_box_arguments(parser: argparse.ArgumentParser, *, people: int = 0) -> None:
    """Add the arguments that name a running box and the people who sign on."""
    add_config_argument(parser)
    parser.add_argument("--socket", type=Path, metavar="PATH", help="the box's control socket, if not as configured")
    if people:
        parser.add_argument(
            "--as", dest="by", required=True, metavar="CRED", help="the credential of the person who signs"
        )
        add_pin_argument(parser)
    if people > 1:
        parser.add_argument("--second", metavar="CRED", help="the second credential, where two people must sign")


def socket_path(args: argparse.Namespace) -> Path:
    """Return the path of the control socket. Errors elsewhere in the configuration do not matter."""
    if args.socket is not None:
        named: Path = args.socket
        return named
    raw = _raw(args.config)
    control = raw.get("control")
    named_there = control.get("socket") if isinstance(control, dict) else None
    return args.config.parent / str(named_there) if named_there else configured_data_folder(args) / "control.sock"


def configured_data_folder(args: argparse.Namespace) -> Path:
    """Return the data folder. Errors elsewhere in the configuration do not matter."""
    data = _raw(args.config).get("data")
    folder: Path = args.config.parent / (str(data.get("folder", _DATA)) if isinstance(data, dict) else _DATA)
    return folder


def configured_slots(args: argparse.Namespace) -> frozenset[str]:
    """Return the names of the configured slots; none without a configuration."""
    kinds = _raw(args.config).get("device") if args.config.exists() else None
    if not isinstance(kinds, dict):
        return frozenset()
    return frozenset(
        f"{kind}.{place}" for kind, places in kinds.items() if isinstance(places, dict) for place in places
    )


def _raw(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise BadConfiguration(f"{path}: {error.strerror}; name the box with --config or --socket") from error
    except BAD_TOML as error:
        raise BadConfiguration(f"{path}: not TOML: {error}") from error


@contextmanager
def connect_box(args: argparse.Namespace) -> Iterator[BlockingClient]:
    """Connect to the box; raise NoBox if none answers."""
    with BlockingClient(socket_path(args)) as caller:
        yield caller


def sign_on(caller: BlockingClient, args: argparse.Namespace) -> dict[str, Any]:
    """Sign on the named people; return their credentials as a request carries them."""
    signers: dict[str, Any] = {"by": _sign_on(caller, args, args.by)}
    if getattr(args, "second", None):
        signers["second"] = _sign_on(caller, args, args.second)
    return signers


def _sign_on(caller: BlockingClient, args: argparse.Namespace, credential: str) -> str:
    session = caller.request("sign_on", credential=credential, pin=ask_pin(args, credential))
    return str(session["credential"])
