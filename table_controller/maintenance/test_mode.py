"""Test mode of a machine in service, begun and left by a technician when the permits allow it.

Here the machine has no fault and so no fault report; a machine with a fault is tested during its return to service
(`return_to_service`). In test mode the machine is out of service, the table ignores its cards, and all displays show
the test. The state is a step of the table (`ReturnStepChanged` without a report), so it survives a restart. At the end
the machine is empty and in its previous mode, and a good report returns it to service. A fault during the test latches
as usual.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from devices.shuffler.messages import Mode
from firmware_bridge.errors import NotAllowed, PitboxError, StepRefused
from table_controller.controller.kinds import CONTROLLER_KINDS
from table_controller.controller.service_command_ids import ServiceCommandIds
from table_controller.journal import records as rec
from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.controller.box import Box
    from table_controller.table.decisions import DenialReason

log = logging.getLogger(__name__)

# The next step of a tested machine; the mode to restore is its last word.
_STEP: Final = "test: a technician leaves test mode"
_MODE: Final = "; it goes back to mode "
# The number that means: no fault report.
NO_FAULT_REPORT: Final = 0


class TestMode:
    """Test mode of the machines of one box."""

    __test__ = False  # not a test class of pytest

    def __init__(self, box: Box) -> None:
        self._box = box
        box.on_device_event.append(self._on_device_event)

    def is_without_fault(self, slot: str) -> bool:
        """Return whether a machine is tested without a fault report."""
        return self._box.testing.get(slot) == NO_FAULT_REPORT

    def reasons_against(self, slot: str) -> tuple[DenialReason, ...] | None:
        """Return every reason against test mode now; an empty tuple means permitted.

        None for a machine that moves no cards, is already tested, or is not in service.
        """
        box = self._box
        kind = CONTROLLER_KINDS[box.slots[slot].kind.name]
        if box.controller is None or kind.obstacle_to_test is None or slot in box.testing:
            return None
        table = box.controller.table
        return table.permit("test", slot, table.state.slots[slot].deck) if table.context.is_in_service(slot) else None

    async def begin(self, slot: str, who: ev.Person) -> None:
        """Begin test mode; raise NotAllowed with every reason against it, StepRefused if cards are in the machine."""
        self._check(slot)
        driver, controller = self._box.slots[slot].driver, self._box.running_controller()
        status = await driver.read_inventory()
        self._must_be_empty("begin_test", slot, status)
        mode = mode_in_status(status)
        await controller.note_and_wait(rec.Note("service", "begin_test: ordered", who=who, slot=slot))
        self._check(slot)
        self._box.testing[slot] = NO_FAULT_REPORT
        controller.submit(
            ev.ReturnStepChanged(slot, NO_FAULT_REPORT, _STEP + (_MODE + mode if mode else ""), testing=True)
        )
        controller.submit(ev.SlotChanged(slot, "doubt"))

    def _must_be_empty(self, call: str, slot: str, status: Any) -> None:
        """Raise StepRefused for a machine that moves or has cards: a test begins and ends with an empty machine."""
        obstacle_to_test = CONTROLLER_KINDS[self._box.slots[slot].kind.name].obstacle_to_test
        obstacle = "" if obstacle_to_test is None else obstacle_to_test(status)
        if obstacle:
            raise StepRefused(f"{call} {slot}: {obstacle}")

    def _check(self, slot: str) -> None:
        reasons = self.reasons_against(slot)
        if reasons is None:
            raise NotAllowed(
                f"begin_test {slot}: only for a machine that moves cards, is in service and is not in test mode"
            )
        if reasons:
            raise NotAllowed(f"begin_test {slot}: " + "; ".join(f"{r.text} [{r.clause}], {r.clears}" for r in reasons))

    async def leave(self, slot: str, who: ev.Person) -> None:
        """Leave test mode: restore the previous mode and read the machine again.

        Raise StepRefused if the machine moves or has cards. A halted or disconnected machine stays as it is: its fault
        has latched, or its next report decides.
        """
        if not self.is_without_fault(slot):
            raise NotAllowed(f"leave_test {slot}: it is not in test mode, or its test belongs to a return to service")
        controller, device = self._box.running_controller(), self._box.slots[slot]
        try:
            self._must_be_empty("leave_test", slot, await device.driver.read_inventory())
        except StepRefused:
            raise
        except PitboxError as silent:
            log.info("leave_test %s: the machine does not answer: %s", slot, silent)
        with suppress(PitboxError):  # then the machine starts in its default mode
            await restore_mode(device.driver, self._mode(slot), ServiceCommandIds(self._box.clock).next_id)
        await controller.note_and_wait(rec.Note("service", "leave_test: ordered", who=who, slot=slot))
        self._end(slot)
        with suppress(PitboxError):  # otherwise it reports when its link is back
            await device.driver.report()

    def _mode(self, slot: str) -> str:
        controller = self._box.controller
        procedure = None if controller is None else controller.table.state.slots[slot].return_procedure
        return "" if procedure is None else procedure.step.partition(_MODE)[2]

    def _end(self, slot: str) -> None:
        """End the test: the table uses the events of the machine again."""
        controller = self._box.controller
        self._box.testing.pop(slot, None)
        procedure = None if controller is None else controller.table.state.slots[slot].return_procedure
        if controller is None or procedure is None:
            return
        if procedure.step.startswith(_STEP):
            controller.submit(ev.ReturnStepChanged(slot, NO_FAULT_REPORT, ""))
        elif procedure.testing:  # a fault was recorded meanwhile, and its steps block the machine now
            controller.submit(ev.ReturnStepChanged(slot, procedure.fault_report, procedure.step))

    def _on_device_event(self, slot: str, event: Any) -> None:
        """Latch a fault of a machine in test mode; its own return to service begins."""
        if self.is_without_fault(slot) and self._box.slots[slot].kind.trigger(event) == "fault":
            self._end(slot)
            if self._box.controller is not None:
                self._box.controller.submit(ev.SlotChanged(slot, "fault"))


def mode_in_status(status: Any) -> str:
    """Return the mode in a status; empty if the machine has none."""
    mode = getattr(status, "mode", None)
    return "" if mode is None else str(mode.name.lower())


async def read_mode(driver: Any) -> str:
    """Return the current mode of a machine; empty if it has none or does not answer."""
    with suppress(PitboxError):
        return mode_in_status(await driver.status())
    return ""


async def restore_mode(driver: Any, mode: str, next_id: Callable[[], int]) -> None:
    """Set a machine to a previous mode, if it has modes."""
    if mode and await read_mode(driver) != mode:
        await driver.set_mode(next_id(), Mode[mode.upper()])
