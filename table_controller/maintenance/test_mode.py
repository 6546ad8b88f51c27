"""Test mode of machines: reads whether a machine is empty, submits the order, and restores its mode afterwards.

`table.return_to_service` decides; a machine with a fault is tested during its return to service. In test mode the
machine is out of service, the table ignores its cards, and all displays show the test.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from devices.shuffler.driver import ShufflerDriver
from devices.shuffler.messages import Mode
from firmware_bridge.errors import PitboxError
from table_controller.controller.kinds import CONTROLLER_KINDS
from table_controller.controller.service_command_ids import ServiceCommandIds
from table_controller.table import events as ev
from table_controller.table import return_to_service
from table_controller.table.decisions import TestModeChanged
from table_controller.table.return_progress import ReturnProgress, TestMode

if TYPE_CHECKING:
    from collections.abc import Callable

    from devices.kinds import AnyDriver
    from table_controller.controller.box import Box
    from table_controller.controller.controller import DurableStep
    from table_controller.table.decisions import Decision, DenialReason

log = logging.getLogger(__name__)


class TestModes:
    """Test mode of the machines of one box."""

    __test__ = False  # not a test class of pytest

    def __init__(self, box: Box) -> None:
        self._box = box
        self._tasks: set[asyncio.Task[None]] = set()

    def tested_report(self, slot: str) -> int | None:
        """Return the fault report for which a machine is in test mode, 0 for none; None: it is not in test mode."""
        controller = self._box.controller
        return None if controller is None else controller.table.state.slots[slot].tested_report

    def is_without_fault(self, slot: str) -> bool:
        """Return whether a machine is tested without a fault report."""
        controller = self._box.controller
        return controller is not None and isinstance(controller.table.state.slots[slot].return_procedure, TestMode)

    def assigned_technician(self, slot: str) -> str:
        """Return the technician who tests a machine; empty if it is not in test mode."""
        controller = self._box.controller
        procedure = None if controller is None else controller.table.state.slots[slot].return_procedure
        return procedure.technician if isinstance(procedure, TestMode | ReturnProgress) else ""

    async def obstacle_now(self, slot: str) -> str:
        """Return what a person must do before the test of a machine ends; empty if nothing, or if it does not answer.

        A halted or disconnected machine has no obstacle: its fault has latched, or its next report decides.
        """
        try:
            status = await self._box.slots[slot].driver.read_inventory()
        except PitboxError as silent:
            log.info("%s: the machine does not answer at the end of its test: %s", slot, silent)
            return ""
        return self._obstacle(slot, status)

    def reasons_against(self, slot: str) -> tuple[DenialReason, ...] | None:
        """Return every reason against test mode now; an empty tuple means permitted, None that it is not offered."""
        controller = self._box.controller
        if controller is None or not return_to_service.can_be_tested(controller.table.context, slot):
            return None
        return return_to_service.reasons_against_test(controller.table.context, slot)

    async def begin(self, slot: str, who: ev.Person) -> list[Decision]:
        """Have the core begin test mode; return its decisions."""
        status = None
        if self.reasons_against(slot) == ():
            status = await self._box.slots[slot].driver.read_inventory()
        order = ev.TestModeOrdered(slot, "begin", who, self._obstacle(slot, status), mode_in_status(status))
        return (await self._box.running_controller().submit_and_wait(order)).decisions

    async def leave(self, slot: str, who: ev.Person) -> list[Decision]:
        """Have the core end test mode; return its decisions when the machine has its previous mode again."""
        is_end = self.is_without_fault(slot)
        order = ev.TestModeOrdered(slot, "leave", who, await self.obstacle_now(slot) if is_end else "")
        if is_end and not order.obstacle:
            await self.restore_before_end(slot)
        step = await self._box.running_controller().submit_and_wait(order)
        await self.wait_until_restored()
        return step.decisions

    def _obstacle(self, slot: str, status: Any) -> str:
        """Return what a person must do first: a test begins and ends with an empty machine that does not move."""
        obstacle = CONTROLLER_KINDS[self._box.slots[slot].kind.name].obstacle_to_test
        return "" if obstacle is None or status is None else obstacle(status)

    def on_step(self, step: DurableStep) -> None:
        """Restore the mode of a machine whose test a person ended, and read its state; a fault leaves it as it is."""
        if not isinstance(step.event, ev.TestModeOrdered | ev.ReturnLeft | ev.StepReported):
            return
        for decision in step.decisions:
            if isinstance(decision, TestModeChanged) and not decision.testing:
                task = asyncio.get_running_loop().create_task(self._restore(decision.slot, decision.mode))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def restore_before_end(self, slot: str) -> None:
        """Restore the mode of a tested machine before the end of its test is recorded: power may fail in between."""
        controller = self._box.controller
        procedure = None if controller is None else controller.table.state.slots[slot].return_procedure
        if isinstance(procedure, TestMode | ReturnProgress) and procedure.is_testing:
            with suppress(PitboxError):  # a machine that is off starts in its default mode
                await restore_mode(self._box.slots[slot].driver, procedure.mode, self._fresh())

    def _fresh(self) -> Callable[[], int]:
        return ServiceCommandIds(self._box.clock).next_id

    async def _restore(self, slot: str, mode: str) -> None:
        driver = self._box.slots[slot].driver
        with suppress(PitboxError):  # otherwise it reports when its link is back, in its default mode
            await restore_mode(driver, mode, self._fresh())
        with suppress(PitboxError):
            await driver.report()

    async def wait_until_restored(self) -> None:
        """Wait until every mode is restored."""
        while self._tasks:
            await asyncio.wait(tuple(self._tasks))

    def cancel(self) -> None:
        """Stop at once."""
        for task in self._tasks:
            task.cancel()

    async def close(self) -> None:
        """End open questions to machines."""
        self.cancel()
        await self.wait_until_restored()


def mode_in_status(status: Any) -> str:
    """Return the mode in a status; empty if the machine has none."""
    mode = getattr(status, "mode", None)
    return "" if mode is None else str(mode.name.lower())


async def read_mode(driver: AnyDriver) -> str:
    """Return the current mode of a machine; empty if it has none or does not answer. Only a shuffler has modes."""
    if isinstance(driver, ShufflerDriver):
        with suppress(PitboxError):
            return mode_in_status(await driver.status())
    return ""


async def restore_mode(driver: AnyDriver, mode: str, next_id: Callable[[], int]) -> None:
    """Set a machine to a previous mode, if it has modes."""
    if mode and isinstance(driver, ShufflerDriver) and await read_mode(driver) != mode:
        await driver.set_mode(next_id(), Mode[mode.upper()])
