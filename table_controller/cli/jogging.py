"""The arguments of a jog, whatever machine's motor it is, and how its end is told. Asks no device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware_bridge.errors import UsageMistake

if TYPE_CHECKING:
    import argparse
    from enum import IntEnum


def add_jog_arguments(parser: argparse.ArgumentParser, motors: type[IntEnum]) -> None:
    """Describe which motor is turned, and which way."""
    names = [motor.name.lower() for motor in motors]
    parser.add_argument("--motor", choices=names, help="with jog: which one is turned")
    parser.add_argument("--reverse", action="store_true", help="with jog: backwards")


def check_jog(args: argparse.Namespace) -> None:
    """Refuse what cannot be meant."""
    if (args.action == "jog") != (args.motor is not None) or (args.reverse and args.action != "jog"):
        raise UsageMistake("--motor NAME, and --reverse if it is meant, go with the action jog, and only with it")


def jog_text(motor: IntEnum, current: int, *, reverse: bool, turned: bool) -> str:
    """Return what came of a jog, as a sentence."""
    way = "backwards" if reverse else "forward"
    return f"motor {motor.name.lower()} {way}: {'it turned' if turned else 'it did not turn'}, {current} mA"
