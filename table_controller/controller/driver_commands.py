"""Maps each command of the core to the method of a driver, by kind of device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.bet_sensor.messages import Light
from firmware_bridge.errors import CommandFailed, CommandRefused, OutcomeUnknown, PitboxError
from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from table_controller.table.decisions import Command

# The id of the command that clears the display is the id of its draw with this bit: no other command has it (see
# `numbers` and `locked`).
_CLEARS: Final = 1 << 60


async def _draw(driver: Any, command: Command) -> Any:
    """Draw a number. Clear the display first: the generator refuses a draw while it shows a number."""
    await driver.clear(command.id | _CLEARS)
    return await driver.draw(command.id)


_METHODS: Final[dict[tuple[str, str], Callable[[Any, Command], Awaitable[Any]]]] = {
    ("shuffler", "shuffle"): lambda d, c: d.shuffle(c.id),
    ("shuffler", "eject"): lambda d, c: d.eject(c.id),
    ("shuffler", "clear_out"): lambda d, c: d.eject(c.id),
    ("shuffler", "stop"): lambda d, c: d.stop(c.id),
    ("shoe", "load"): lambda d, c: d.load(c.id),
    ("shoe", "dispense"): lambda d, c: d.dispense(c.id, c.number),
    ("shoe", "give_stub"): lambda d, c: d.count_stub(c.id),
    ("shoe", "stop"): lambda d, c: d.stop(c.id),
    ("shaker", "arm_dice"): lambda d, c: d.arm(c.id),
    ("shaker", "stop"): lambda d, c: d.disarm(c.id),
    ("shoe", "start_round"): lambda d, c: d.start_round(c.id),
    ("rng", "draw"): _draw,
    ("bet_sensor", "open_bets"): lambda d, c: d.open(c.id, c.number),
    ("bet_sensor", "light"): lambda d, c: d.light(c.id, Light.ACCEPTED, c.number),
    ("bet_sensor", "lock"): lambda d, c: d.lock(c.number, c.id),
}


def start_command(kind: str, driver: Any, command: Command) -> Awaitable[Any]:
    """Send a command before this returns; a draw waits until the display is clear. PitboxError: it was not sent."""
    if command.act == "return_to_service":  # a good report returns it to service
        return driver.report()  # type: ignore[no-any-return]
    return _METHODS[kind, command.act](driver, command)


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
