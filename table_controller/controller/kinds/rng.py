"""The number generator at the table: it draws the starting position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices import kinds
from devices.rng import messages as m
from devices.rng.driver import RngDriver
from table_controller.controller.kinds.controller_kind import ControllerKind, order
from table_controller.controller.kinds.table_needs import why_for_start
from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Iterator

    from devices.rng.state import DriverEvent
    from table_controller.table.decisions import Command

# The id of the command that clears the display is the id of its draw with this bit: no other command has it (see
# `service_command_ids` and `safe_mode`).
_CLEARS: Final = 1 << 60


def _core_events(slot: str, event: DriverEvent) -> Iterator[ev.Event]:
    if isinstance(event, m.Drawn):
        yield ev.NumberDrawn(slot, event.number)


async def _draw(driver: RngDriver, command: Command) -> Any:
    """Draw a number. Clear the display first: the generator refuses a draw while it shows a number."""
    await driver.clear(command.id | _CLEARS)
    return await driver.draw(command.id)


RNG: Final = ControllerKind(
    device=kinds.RNG,
    core_events=_core_events,
    commands={"draw": _draw},
    permits=("draw",),
    questions=(RngDriver.status, RngDriver.health),
    orders=(order(RngDriver.self_test), order(RngDriver.reset), order(RngDriver.clear)),
    why_required=why_for_start("rng"),
    is_private=False,
)
