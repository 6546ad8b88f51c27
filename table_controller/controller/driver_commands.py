"""Gives each command of the core to the driver of its machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware_bridge.errors import CommandFailed, CommandRefused, OutcomeUnknown, PitboxError
from table_controller.controller.kinds import CONTROLLER_KINDS
from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from devices.kinds import AnyDriver
    from table_controller.table.decisions import Command


def start_command(kind: str, driver: AnyDriver, command: Command) -> Awaitable[object]:
    """Send a command before this returns; a draw waits until the display is clear. PitboxError: it was not sent."""
    if command.act == "return_to_service":  # a good report returns it to service
        return driver.report()
    known = CONTROLLER_KINDS[kind]
    if command.safe:
        assert known.make_safe is not None, f"the core never makes a {kind} safe"
        return known.make_safe.send(driver, command.id, command.number)
    return known.commands[command.act](driver, command)


def command_ended(command: int, error: PitboxError | None) -> ev.CommandEnded:
    """Return the end of a command for the core; a command that certainly had no effect is revoked."""
    match error:
        case None:
            return ev.CommandEnded(command, "done")
        case CommandRefused() | CommandFailed():
            return ev.CommandEnded(command, "failed", error.reason)
        case OutcomeUnknown():
            return ev.CommandEnded(command, "unknown", error.number)
        case _:
            return ev.CommandEnded(command, "revoked", error.number)
