"""The dice shaker at the table: its readings and irregular rolls, and how it is armed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices import kinds
from devices.shaker import messages as m
from devices.shaker.driver import ShakerDriver
from table_controller.controller.kinds.controller_kind import ControllerKind, MakeSafe, order, stop_order
from table_controller.controller.kinds.table_needs import why_for_start
from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Iterator

    from devices.shaker.state import DriverEvent

# Reason of the shaker -> irregularity of a roll that does not count; any other reason means too few shakes.
_NO_ROLL: Final = {
    m.Reason.DIE_NOT_FLAT: "dice_not_flat",
    m.Reason.DIE_OUTSIDE: "die_out_of_shaker",
    m.Reason.NOT_THREE_DICE: "die_out_of_shaker",
}


def _core_events(slot: str, event: DriverEvent) -> Iterator[ev.Event]:
    match event:
        case m.Reading():
            one, two, three = event.values
            yield ev.DiceRead(slot, (one, two, three))
        case m.Dice(door_open=True):
            yield ev.DiceOpened(slot)
        case m.NoRoll():
            yield ev.NoRollReported(slot, _NO_ROLL.get(event.reason, "too_few_shakes"))  # type: ignore[arg-type]


SHAKER: Final = ControllerKind(
    device=kinds.SHAKER,
    core_events=_core_events,
    commands={"arm_dice": lambda driver, c: driver.arm(c.id)},
    make_safe=MakeSafe(send=lambda driver, command, _: driver.disarm(command)),
    permits=("arm_dice",),
    questions=(ShakerDriver.status, ShakerDriver.sensors),
    orders=(order(ShakerDriver.self_test), order(ShakerDriver.reset), stop_order(ShakerDriver.disarm)),
    why_required=why_for_start("shaker"),
    is_private=False,
)
