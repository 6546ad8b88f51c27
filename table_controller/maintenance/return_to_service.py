"""Runs the return to service of each faulted machine at a live box; `diagnosis.return_steps` has the steps.

Each completed step is recorded twice: with the fault report, for technicians, and in the journal. The procedure begins
with the fault. The core learns the next step from `ReturnStepChanged` and keeps the machine out of service until the
last one; only the core returns a machine. While a technician works on it, the machine is in test mode: its events are
evidence, and the table ignores them. `diagnosis.return_steps` defines the evidence of each step.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.kinds import CardPathDriver
from firmware_bridge.errors import BadFaultReport, BadRequest, NotAllowed, PitboxError, StepRefused
from table_controller.controller.service_command_ids import ServiceCommandIds
from table_controller.diagnosis import evidence
from table_controller.diagnosis import fault_report_store as files
from table_controller.diagnosis import return_steps as st
from table_controller.diagnosis.causes import diagnose
from table_controller.journal import records as rec
from table_controller.maintenance.test_mode import NO_FAULT_REPORT, read_mode, restore_mode
from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from table_controller.controller.box import Box
    from table_controller.diagnosis import fault_report as d
    from table_controller.table.state import ReturnProcedure

# Roles that may work on a fault report: a technician on any, a floorperson on interruptions.
_ROLES: Final = ("technician", "floorperson")


class ReturnsToService:
    """The returns to service of one box. `FaultReports` reports new faults and the evidence of machines."""

    def __init__(self, box: Box, store: files.FaultReportStore, *, threads: bool) -> None:
        self._box, self._store, self._threads = box, store, threads
        self._procedures: dict[int, st.ReturnProgress] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._fresh = ServiceCommandIds(box.clock).next_id

    def cancel(self) -> None:
        """Stop at once."""
        for task in self._tasks:
            task.cancel()

    async def close(self) -> None:
        """Finish open questions and writes."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    # --- after a start ------------------------------------------------------------------------------------------------

    def resume(self, procedure: st.ReturnProgress | None) -> None:
        """Resume a procedure from before this start, if it was not complete."""
        if procedure is not None and procedure.next is not None and procedure.began.slot in self._box.slots:
            self._procedures[procedure.began.report] = procedure
            if procedure.technician:
                self._box.testing[procedure.began.slot] = procedure.began.report

    def reconcile(self, name: str, pinned: Sequence[int]) -> None:
        """After a start, reconcile the procedure in the core with the one stored with the fault report.

        Power may have failed between the two records. A procedure in the core stays open unless its last step is
        stored; a fault whose report was not complete begins its procedure now.
        """
        known = self._known(name)
        if self._procedure_at(name) is not None:
            if known is None and self.is_in_service(name):  # it was returned, and only its report does not have that
                self._forget(name)
            self._submit_next(name)
        elif known is not None and known.fault_report:
            procedure = self._stored_procedure(known.fault_report)
            if procedure is not None and procedure.next is None:
                self._submit_next(name)
        elif known is not None and known.testing:  # a test without a fault continues
            self._box.testing[name] = NO_FAULT_REPORT
        elif known is not None:
            self._begin_late(name, pinned)

    def _begin_late(self, name: str, pinned: Sequence[int]) -> None:
        """Begin the procedure of a report that was interrupted; its stored part counts."""
        for number in reversed(pinned):
            with suppress(BadFaultReport):
                if self._stored_procedure(number) is None:
                    self.begin_after_fault(files.read(self._store.folder, number))
                    return
        self._box.note(rec.Note("step", "the fault report was lost in a power cut: no steps are required", slot=name))
        self._submit_next(name)

    def _stored_procedure(self, number: int) -> st.ReturnProgress | None:
        """Return the stored procedure of a report; None if there is none or it cannot be read."""
        with suppress(BadFaultReport):
            return st.replay(files.steps_of(self._store.folder, number))
        return None

    def _forget(self, name: str) -> None:
        for number in [n for n, procedure in self._procedures.items() if procedure.began.slot == name]:
            del self._procedures[number]
        self._box.testing.pop(name, None)

    # --- events to the core -------------------------------------------------------------------------------------------

    def _known(self, name: str) -> ReturnProcedure | None:
        """Return the procedure of a slot in the core."""
        controller = self._box.controller
        return None if controller is None else controller.table.state.slots[name].return_procedure

    def _procedure_at(self, name: str) -> st.ReturnProgress | None:
        return next((procedure for procedure in self._procedures.values() if procedure.began.slot == name), None)

    def _submit_next(self, name: str) -> None:
        """Submit the next step of a slot to the core, or that there is none."""
        procedure = self._procedure_at(name)
        step, number = ("", 0) if procedure is None else (procedure.next_text, procedure.began.report)
        self._submit(ev.ReturnStepChanged(name, number, step, testing=name in self._box.testing))

    def _submit(self, event: ev.ReturnStepChanged) -> None:
        known = self._known(event.slot)
        last = (known.fault_report, known.step, known.testing) if known is not None else (0, "", False)
        if self._box.is_stopping:  # the snapshot is written already; the next start submits the rest
            return
        if self._box.controller is not None and (event.fault_report, event.step, event.testing) != last:
            self._box.controller.submit(event)

    def on_recording(self, name: str) -> None:
        """Keep the machine out of service while its fault is being recorded."""
        if self._procedure_at(name) is None:
            self._submit(ev.ReturnStepChanged(name, 0, "dossier: the box is recording the fault"))

    def begin_after_fault(self, dossier: d.FaultReport) -> None:
        """Begin the procedure of a machine fault; an interruption is resolved by the people at the table."""
        name, service = dossier.machine.slot, not diagnose(dossier).staff
        if service and dossier.halt.what == "path_blocked":
            self._take_out(name)
        new = self._procedure_at(name) is None and dossier.number and not self.is_in_service(name)
        if new and service:
            began = st.begin_of(dossier, "", service=True)
            self._record(dossier.number, st.ReturnProgress(began), [began], who=None)
        self._submit_next(name)

    def _take_out(self, name: str) -> None:
        """Latch a fault for a machine that only refused a command, because something blocks its path.

        A card that a person left in the path is not a fault: the hold of the refused command covers it.
        """
        controller = self._box.controller
        if controller is not None and not self._box.is_stopping and self.is_in_service(name):
            controller.submit(ev.SlotChanged(name, "fault"))

    # --- steps --------------------------------------------------------------------------------------------------------

    def on_evidence(self, name: str, shown: st.Evidence) -> None:
        """Handle the evidence of a machine."""
        for number, procedure in tuple(self._procedures.items()):
            if procedure.began.slot == name:
                self._record(
                    number, *st.apply_evidence(procedure, shown, procedure.technician or procedure.began.by), who=None
                )

    def _record(
        self, number: int, procedure: st.ReturnProgress, events: list[st.ReturnEvent], who: ev.Person | None
    ) -> None:
        """Record completed steps in the journal and with the fault report."""
        self._procedures[number] = procedure
        for event in events:
            text = f"dossier {number}: " + msgspec.json.encode(event).decode()
            self._box.note(rec.Note("step", text, who=who, slot=procedure.began.slot))
            self.write(self._store.note, number, event)
        if procedure.next is None:
            self.write(self._ended, number)  # once its last step is on disk
        elif events:
            self._submit_next(procedure.began.slot)

    def _ended(self, number: int) -> None:
        """Finish a complete procedure: its machine needs no more steps."""
        if self._procedures[number].next is None:  # and no new evidence has undone it
            self._leave_test(self._procedures.pop(number))

    def _leave_test(self, procedure: st.ReturnProgress) -> None:
        """Leave test mode: restore the mode of the machine and read its state."""
        name = procedure.began.slot
        tested = self._box.testing.pop(name, None) is not None
        self._submit_next(name)
        if not tested:
            return

        async def read() -> None:
            driver: Any = self._box.slots[name].driver
            with suppress(PitboxError):  # then it reports when its link is back, in its default mode
                await restore_mode(driver, procedure.mode, self._fresh)
                await driver.report()

        self._run(read())

    async def wait_until_written(self) -> None:
        """Wait until every completed step is on disk."""
        while self._tasks:
            await asyncio.wait(tuple(self._tasks))

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def write(self, call: Callable[..., Any], *args: Any) -> None:
        """Write after all earlier writes."""
        if not self._threads:
            call(*args)
            return
        # One writer after the other: the lines of one procedure stay in order.
        before = tuple(self._tasks)

        async def write() -> None:
            if before:
                await asyncio.wait(before)
            if call == self._ended:  # this calls the core, so it runs on the thread of the loop
                call(*args)
            else:
                await asyncio.to_thread(call, *args)

        self._run(write())

    def is_in_service(self, name: str) -> bool:
        """Return whether a slot is in service."""
        controller = self._box.controller
        return controller is not None and controller.table.context.is_in_service(name)

    def procedure(self, number: int) -> st.ReturnProgress | None:
        """Return the procedure of a fault report; None if it has not begun."""
        return self._procedures.get(number) or st.replay(files.steps_of(self._store.folder, number))

    # --- people -------------------------------------------------------------------------------------------------------

    async def complete_step(
        self, number: int, name: str, who: ev.Person, person: str, cards: int | None = None
    ) -> dict[str, Any]:
        """Begin a procedure (`begin`) or complete one of its steps; raise StepRefused with what is missing.

        `person` identifies the holder: two credentials of one person are not two people.
        """
        if who.role not in _ROLES:
            raise NotAllowed(f"a {' or a '.join(_ROLES)} must do this; {who.credential} is a {who.role}")
        dossier = files.read(self._store.folder, number)
        procedure = self._procedures.get(number)
        if name == "begin":
            await self._begin(dossier, procedure, who, person)
            await self.wait_until_written()
            return self.progress(number)
        if procedure is not None and name == "leave":
            self._leave(procedure, who)
            await self.wait_until_written()
            return self.progress(number)
        if procedure is None:
            raise StepRefused(
                f"the return to service of report {number} has not begun, or its machine is back in service"
            )
        try:
            step = st.ReturnStep[name.upper()]
        except KeyError:
            known = ", ".join(each.name.lower() for each in procedure.steps)
            raise BadRequest(f"there is no step {name!r}; steps: begin, leave, {known}") from None
        shown = await self._shown(procedure, step, who, person, cards)
        self._record(number, *st.complete_step(self._procedures.get(number, procedure), step, shown, person), who=who)
        await self.wait_until_written()
        return self.progress(number)

    async def _begin(
        self, dossier: d.FaultReport, procedure: st.ReturnProgress | None, who: ev.Person, person: str
    ) -> None:
        """Begin or continue a procedure: one that began with the fault, was left, or belongs to an interruption."""
        diagnosis, name = diagnose(dossier), dossier.machine.slot
        if procedure is None:
            other = self._procedure_at(name)
            if other is not None:
                open_one = f"{name} already has an open return to service, of report {other.began.report}"
                raise StepRefused(f"{open_one}; complete that one")
            if not diagnosis.staff and self.is_in_service(name):
                raise StepRefused(f"{name} is in service; it needs no return to service")
        service = not diagnosis.staff if procedure is None else procedure.began.service
        if service and who.role != "technician":
            raise NotAllowed(f"report {dossier.number} is a fault of the machine: a technician must work on it")
        self._box.running_controller()
        events: list[st.ReturnEvent] = []
        if procedure is None:
            began = st.begin_of(dossier, "" if service else person, service=service)
            procedure, events = st.ReturnProgress(began), [began]
        if service:
            mode = await read_mode(self._box.slots[name].driver)
            procedure, new_events = st.assign_technician(self._procedures.get(dossier.number, procedure), person, mode)
            events += new_events
            self._box.testing[name] = dossier.number
        self._record(dossier.number, procedure, events, who=who)

    def _leave(self, procedure: st.ReturnProgress, who: ev.Person) -> None:
        """Pause a procedure: the table uses the events of the machine again, and the machine stays out of service."""
        number = procedure.began.report
        after, events = st.leave_procedure(procedure)
        self._record(number, after, events, who=who)
        self._leave_test(procedure)

    async def _shown(
        self, procedure: st.ReturnProgress, step: st.ReturnStep, who: ev.Person, person: str, cards: int | None
    ) -> st.Evidence:
        """Return the evidence for a step now; a step of the machine completes only by its own report."""
        match step:
            case st.ReturnStep.PATH_EMPTY:
                slot = self._box.slots[procedure.began.slot]
                assert isinstance(slot.driver, CardPathDriver), "only machines with a card path have this step"
                sensors = await slot.driver.sensors()
                return st.sensors_read(evidence.levels_of(slot.kind.name, sensors.levels))
            case st.ReturnStep.COUNT if cards is not None:
                return st.DeckCounted(cards, person)
            case st.ReturnStep.RETURN:
                return st.Returned(person, who.role)
            case _:
                raise StepRefused(
                    f"{step.name.lower()} completes when the machine reports it: "
                    f"{st.required_evidence(procedure, step)}"
                )

    def progress(self, number: int) -> dict[str, Any]:
        """Return the progress of a procedure, as plain data."""
        procedure = self.procedure(number)
        if procedure is None:
            return {"fault_report": number, "begun": False, "done": [], "next": None}
        following = None if procedure.next is None else procedure.next.name.lower()
        done = [step.name.lower() for step in procedure.steps if step in procedure.done]
        who: dict[str, Any] = {"open": procedure.next_text, "technician": procedure.technician}
        who["motors"] = [motor for motor in procedure.began.motors if motor not in procedure.jogged]
        return {"fault_report": number, "begun": True, "done": done, "next": following, **who}
