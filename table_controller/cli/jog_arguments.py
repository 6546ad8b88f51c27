"""Arguments and result text of a jog (one motor turned a little), for every machine with motors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware_bridge.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from enum import IntEnum


def add_jog_arguments(parser: argparse.ArgumentParser, motors: type[IntEnum]) -> None:
    """Add the arguments that name the motor and the direction."""
    names = [motor.name.lower() for motor in motors]
    parser.add_argument("--motor", choices=names, help="with jog: which motor to turn")
    parser.add_argument("--reverse", action="store_true", help="with jog: backwards")


def check_jog(args: argparse.Namespace) -> None:
    """Refuse arguments that do not fit the action."""
    if (args.action == "jog") != (args.motor is not None) or (args.reverse and args.action != "jog"):
        raise UsageError("--motor NAME and --reverse belong to the action jog, and --motor is required there")


def jog_text(motor: IntEnum, current: int, *, reverse: bool, turned: bool) -> str:
    """Return the result of a jog as a sentence."""
    direction = "backwards" if reverse else "forward"
    return f"motor {motor.name.lower()} {direction}: {'it turned' if turned else 'it did not turn'}, {current} mA"
