"""From a core's command to a driver's method, kind by kind. Sends nothing twice and permits nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.bet_sensor.messages import Light
from firmware_bridge.errors import CommandFailed, CommandRefused, OutcomeUnknown, PitboxError
from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from table_controller.table.decisions import Command

# A display is cleared under the number of the draw that it is cleared for, with this bit: no start gives such out, and
# no service command either (`numbers`, `locked`).
_CLEARS: Final = 1 << 60


async def _draw(driver: Any, command: Command) -> Any:
    """Draw a number. What the last draw left on the display is cleared first: a number that is shown bars a draw."""
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


def begin(kind: str, driver: Any, command: Command) -> Awaitable[Any]:
    """Start a command. A lock is written before this returns; everything else when the event loop runs it."""
    if command.act == "return_to_service":  # it serves again once it has reported well
        return driver.report()  # type: ignore[no-any-return]
    return _METHODS[kind, command.act](driver, command)


def ended(command: int, error: PitboxError | None) -> ev.CommandEnded:
    """Return how a command ended, for the core: what certainly had no effect is revoked."""
    match error:
        case None:
            return ev.CommandEnded(command, "done")
        case CommandRefused() | CommandFailed():
            return ev.CommandEnded(command, "failed", error.reason)
        case OutcomeUnknown():
            return ev.CommandEnded(command, "unknown", error.number)
        case _:
            return ev.CommandEnded(command, "revoked", error.number)
