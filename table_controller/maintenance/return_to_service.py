"""The work of people on a return to service: reads the evidence of the machine, and submits their acts to the core.

`table.return_to_service` decides. `return_lines` writes what it decided with the fault report.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from devices.kinds import CardPathDriver
from firmware_bridge.errors import BadRequest, NotAllowed, StepRefused
from table_controller.diagnosis import evidence
from table_controller.diagnosis import fault_report_store as files
from table_controller.diagnosis.causes import diagnose
from table_controller.diagnosis.return_evidence import dark_sensors, requirements_of
from table_controller.journal.record_text import plain_text
from table_controller.maintenance.test_mode import read_mode
from table_controller.table import events as ev
from table_controller.table import return_progress as rp
from table_controller.table.decisions import RequestRefused
from table_controller.table.return_steps import ReturnStep

if TYPE_CHECKING:
    from table_controller.controller.box import Box
    from table_controller.diagnosis.fault_report import FaultReport
    from table_controller.maintenance.return_lines import ReturnLines

# A record is on disk after milliseconds; its line in the folder of the fault report follows.
_POLL_S: Final = 0.01


class ReturnsToService:
    """The returns to service of one box."""

    def __init__(self, box: Box, lines: ReturnLines) -> None:
        self._box, self._lines = box, lines

    async def complete_step(self, number: int, name: str, who: ev.Person, cards: int | None = None) -> dict[str, Any]:
        """Begin a procedure, leave it, or complete one of its steps; raise StepRefused with what is missing."""
        report = files.read(self._lines.folder, number)
        slot = report.machine.slot
        if slot not in self._box.slots:
            raise StepRefused(f"fault report {number} is of {slot}, and this table has no such slot")
        if name == "begin":
            await self._submit(await self._taken(report, who))
        elif name == "leave":
            obstacle = await self._obstacle_to_end(slot, number)
            await self._submit(ev.ReturnLeft(slot, number, who, obstacle))
        else:
            step = self._step(number, name)
            dark = await self._dark_sensors(slot) if step is ReturnStep.PATH_EMPTY else None
            obstacle = await self._obstacle_to_end(slot, number, step) if step is ReturnStep.RETURN else ""
            await self._submit(ev.StepReported(slot, number, step, who, cards, dark, obstacle))
        await self.wait_until_written()
        return self.progress(number)

    async def _obstacle_to_end(self, slot: str, number: int, last: ReturnStep | None = None) -> str:
        """Return what the machine has against the end of its test, if this is the end; empty if nothing.

        Then its mode is restored, before the end is recorded.
        """
        progress = self._box.running_controller().table.state.slots[slot].return_procedure
        if not isinstance(progress, rp.ReturnProgress) or progress.fault_report != number or not progress.is_testing:
            return ""
        if last not in (None, progress.next):
            return ""
        obstacle = await self._box.test_mode.obstacle_now(slot)
        if not obstacle:
            await self._box.test_mode.restore_before_end(slot)
        return obstacle

    async def wait_until_written(self) -> None:
        """Wait until every decided step is with its fault report, and modes are restored."""
        controller = self._box.controller
        newest = 0 if controller is None else controller.newest_seq
        while controller is not None and controller.durable_seq < newest and self._box.cause is None:
            if self._box.is_stopping:
                break
            await asyncio.sleep(_POLL_S)
        await self._lines.wait_until_written()
        await self._box.test_mode.wait_until_restored()

    async def _taken(self, report: FaultReport, who: ev.Person) -> ev.ReturnTaken:
        slot = report.machine.slot
        requires = requirements_of(report, service=not diagnose(report).staff)
        return ev.ReturnTaken(slot, report.number, who, requires, await read_mode(self._box.slots[slot].driver))

    def _step(self, number: int, name: str) -> ReturnStep:
        """Return a step by its name."""
        try:
            return ReturnStep[name.upper()]
        except KeyError:
            progress = self._progress(number)
            steps = ReturnStep if progress is None else progress.steps
            known = ", ".join(each.name.lower() for each in steps)
            raise BadRequest(f"there is no step {name!r}; steps: begin, leave, {known}") from None

    async def _dark_sensors(self, name: str) -> tuple[str, ...]:
        slot = self._box.slots[name]
        assert isinstance(slot.driver, CardPathDriver), "only machines with a card path have this step"
        sensors = await slot.driver.sensors()
        return dark_sensors(evidence.levels_of(slot.kind.name, sensors.levels))

    async def _submit(self, event: ev.Event) -> None:
        """Submit an act of a person; raise what the core has against it."""
        raise_refusal((await self._box.running_controller().submit_and_wait(event)).decisions)

    def _progress(self, number: int) -> rp.ReturnProgress | None:
        """Return the open procedure of a fault report, or the finished one from its file; None if it has not begun."""
        controller = self._box.controller
        for slot in () if controller is None else controller.table.state.slots.values():
            if isinstance(slot.return_procedure, rp.ReturnProgress) and slot.return_procedure.fault_report == number:
                return slot.return_procedure
        return rp.replay(files.steps_of(self._lines.folder, number))

    def progress(self, number: int) -> dict[str, Any]:
        """Return the progress of a procedure, as plain data."""
        progress = self._progress(number)
        if progress is None:
            return {"fault_report": number, "begun": False, "done": [], "next": None}
        following = None if progress.next is None else progress.next.name.lower()
        done = [step.name.lower() for step in progress.steps if step in progress.done]
        who: dict[str, Any] = {"open": progress.next_text, "technician": progress.technician}
        who["motors"] = [motor for motor in progress.began.motors if motor not in progress.jogged]
        return {"fault_report": number, "begun": True, "done": done, "next": following, **who}


def raise_refusal(decisions: list[Any]) -> None:
    """Raise what the core refused: NotAllowed with its reasons, or StepRefused with what is missing."""
    for refused in decisions:
        if isinstance(refused, RequestRefused):
            if refused.reasons:
                why = "; ".join(f"{r.text} [{r.clause}], {r.clears}" for r in refused.reasons)
                raise NotAllowed(plain_text(f"{refused.what}: {why}"))
            raise StepRefused(plain_text(refused.what))
