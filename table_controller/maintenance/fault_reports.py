"""The fault reports of a running box: a recorder for every machine that moves cards, and the state of the table.

The core gets every halt, the diagnosis of its report, and the evidence of machines whose return to service is open.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.driver_events import LinkUp, Reported
from firmware_bridge.errors import BadFaultReport
from firmware_bridge.version import VERSION
from table_controller.diagnosis import fault_report as d
from table_controller.diagnosis import fault_report_store as files
from table_controller.diagnosis.card_paths import PATHS
from table_controller.diagnosis.causes import diagnose
from table_controller.diagnosis.return_evidence import evidence_of, requirements_of
from table_controller.maintenance.fault_recorder import FaultRecorder
from table_controller.maintenance.frame_ring import FrameRing
from table_controller.maintenance.return_lines import ReturnLines
from table_controller.maintenance.return_to_service import ReturnsToService
from table_controller.table import events as ev
from table_controller.table import return_progress as rp
from table_controller.table.decisions import Prompt
from table_controller.table.decks import deck_age_s
from table_controller.table.return_steps import DoorMoved

if TYPE_CHECKING:
    from pathlib import Path

    from devices.kinds import AnyView, DriverEvent
    from table_controller.controller.box import Box
    from table_controller.controller.controller import DurableStep

log = logging.getLogger(__name__)

# How many answers of people a fault report includes.
_ANSWERS: Final = 20


class FaultReports:
    """The fault reports of one box, in one folder."""

    def __init__(self, box: Box, folder: Path, *, threads: bool = True) -> None:
        self.store = files.FaultReportStore(folder)
        self._box = box
        self._threads = threads
        self._lines = ReturnLines(self.store, threads=threads)
        self.returns = ReturnsToService(box, self._lines)
        self._asked: dict[int, str] = {}  # prompt -> kind
        self._answers: deque[tuple[int, d.EarlierAnswer]] = deque(maxlen=_ANSWERS)
        self.ordered_by: dict[str, str] = {}  # slot -> the person whose order its machine carried out last
        self._pinned: dict[str, list[int]] = {}  # slot -> reports whose machine is not back in service
        self._freezers = {name: self._freezer(name) for name, slot in box.slots.items() if slot.kind.name in PATHS}
        self._find_pinned()
        if box.controller is not None and box.store is not None:
            self._lines.catch_up(box.store)
            box.controller.followers += [self._stepped, self._lines.on_step]
        box.on_device_event.append(self._on_device_event)
        self._interrupted = {name for name in self._freezers if self._is_report_missing(name)}
        for name in tuple(self._interrupted):
            self._finish_recording(name)

    def _freezer(self, name: str) -> FaultRecorder:
        slot, clock = self._box.slots[name], self._box.clock
        ring = FrameRing(asyncio.get_running_loop().time)
        self._box.frame_monitors[name].watchers.append(lambda _slot, outgoing, signed, mac: ring(outgoing, signed, mac))
        freezer = FaultRecorder(
            name, slot.kind, slot.driver, ring, self.store, facts=lambda: self._facts(name),
            wall_ns=lambda: clock.now()[0], threads=self._threads, on_closed=self._kept,
        )  # fmt: skip
        if slot.driver.reported is not None:
            freezer.handle_device_event(LinkUp(slot.driver.reported.hello))
            freezer.handle_device_event(slot.driver.reported)
        return freezer

    def _kept(self, report: d.FaultReport) -> None:
        """Have the core begin the return to service that a new report requires."""
        if not report.number:  # the disk failed
            self._interrupted.add(report.machine.slot)
            return
        self._pinned.setdefault(report.machine.slot, []).append(report.number)
        self._diagnosed(report, service=not diagnose(report).staff)

    def _diagnosed(self, report: d.FaultReport, *, service: bool) -> None:
        requires, name = requirements_of(report, service=service), report.machine.slot
        self._submit(ev.FaultDiagnosed(name, report.number, report.halt.what, requires, report.at_ns))

    def _submit(self, event: ev.Event) -> None:
        """Submit an event; after the last snapshot the controller accepts none, and the next start goes on."""
        if self._box.controller is not None:
            self._box.controller.submit(event)

    def _procedure(self, name: str) -> rp.ReturnProcedure | None:
        controller = self._box.controller
        return None if controller is None else controller.table.state.slots[name].return_procedure

    # --- after a start ------------------------------------------------------------------------------------------------

    def _find_pinned(self) -> None:
        for number in files.numbers(self.store.folder):
            if files.is_pinned(self.store.folder, number):
                with suppress(BadFaultReport):
                    slot = files.read(self.store.folder, number).machine.slot
                    self._pinned.setdefault(slot, []).append(number)

    def _is_report_missing(self, name: str) -> bool:
        """Return whether a procedure in the core has no complete record of its fault on disk."""
        procedure = self._procedure(name)
        return bool(rp.recordings(procedure)) or (
            isinstance(procedure, rp.ReturnProgress) and procedure.fault_report not in files.numbers(self.store.folder)
        )

    def _finish_recording(self, name: str) -> None:
        """Finish what was interrupted: diagnose the report as far as it was written, or write that it was lost."""
        procedure = self._procedure(name)
        missing = isinstance(procedure, rp.ReturnProgress) and not self._write_lost(name, "", 0, procedure.fault_report)
        for recording in rp.recordings(procedure):
            report = self._report_of(name, recording)
            if report is not None:
                self._diagnosed(report, service=not diagnose(report).staff)
            elif not self._write_lost(name, recording.what, recording.at_ns):
                missing = True
        if not missing:
            self._interrupted.discard(name)

    def _report_of(self, name: str, recording: rp.FaultRecording) -> d.FaultReport | None:
        """Return the report of a halt that was being recorded, complete or not."""
        for number in reversed(self._pinned.get(name, ())):
            with suppress(BadFaultReport):
                report = files.read(self.store.folder, number)
                same = recording.at_ns == report.at_ns if recording.at_ns else recording.fault_report == number
                if same:
                    return report
        return None

    def _write_lost(self, name: str, what: str, at_ns: int, number: int = 0) -> bool:
        """Write an incomplete report in place of a lost one, once the machine is known; all steps are required.

        Return whether it is written.
        """
        report = self._freezers[name].lost_report(what, at_ns)
        if report is None:
            return False
        try:
            number = self.store.add(report, number)
        except OSError as error:
            log.error("%s: its lost fault report could not be written: %s", name, error)  # noqa: TRY400 - no traceback
            return False
        self._pinned.setdefault(name, []).append(number)
        self._diagnosed(msgspec.structs.replace(report, number=number), service=True)
        return True

    def cancel(self) -> None:
        """Stop at once, as after a power cut; partly written reports stay as they are."""
        for freezer in self._freezers.values():
            freezer.cancel()
        self._lines.cancel()

    async def close(self) -> None:
        """Finish open questions and writes."""
        for freezer in self._freezers.values():
            await freezer.close()
        await self._lines.wait_until_written()

    # --- state of the table -------------------------------------------------------------------------------------------

    def _stepped(self, step: DurableStep) -> None:
        for decision in step.decisions:
            if isinstance(decision, Prompt):
                self._asked[decision.id] = decision.kind
        event = step.event
        if isinstance(event, ev.Answer):
            answer = d.EarlierAnswer(self._asked.pop(event.prompt, "?"), event.choice, event.who.role, 0)
            self._answers.append((step.wall_ns, answer))

    def _facts(self, name: str) -> dict[str, Any]:
        """Return the parts of a fault report that come from the picture of the table, and not from the machine."""
        box, now = self._box, self._box.clock.now()[0]
        facts: dict[str, Any] = {
            "expected": box.plan.edition.cards.count,
            "versions": {"pitbox": VERSION, "game": box.plan.edition.game, **box.digests},
            "answers": tuple(
                msgspec.structs.replace(answer, before_s=(now - at) // 10**9) for at, answer in self._answers
            ),
        }
        table = box.pictures.table()
        if box.controller is None or table is None:
            return facts
        left_s = box.controller.time_left()
        holds = [each.hold for each in table.holds if each.hold.slot == name]
        return facts | {
            "table": tuple(
                d.SlotAtFault(each, slot.kind, slot.state, _state_name(box.slots[each].view))
                for each, slot in table.slots.items()
            ),
            "permits": tuple(
                d.PermitResult(
                    p.act, p.slot or p.deck or "", tuple(r.text for r in p.reasons), tuple(r.clause for r in p.reasons)
                )
                for p in table.permits
            ),
            "orders": tuple(dict.fromkeys(order for hold in holds for order in (*hold.outcomes, *hold.steps))),
            "clauses": tuple(dict.fromkeys(clause for hold in holds for clause in hold.clauses)),
            "decks": tuple(
                d.DeckAtFault(deck.name, deck.state, deck_age_s(deck.name, left_s)) for deck in table.decks.values()
            ),
        }

    # --- events of machines -------------------------------------------------------------------------------------------

    def _on_device_event(self, name: str, event: DriverEvent) -> None:
        freezer = self._freezers.get(name)
        if freezer is None:
            return
        before = freezer.recording
        freezer.handle_device_event(event)
        opened = freezer.recording
        if opened is not None and before is None:
            self.ordered_by.pop(name, None)
            self._submit(ev.MachineHalted(name, opened.halt.what, opened.at_ns))
        if isinstance(event, Reported):
            self._reported(name)
        shown = evidence_of(event)
        if shown is not None and isinstance(self._procedure(name), rp.ReturnProgress):
            by = "" if isinstance(shown, DoorMoved) else self.ordered_by.get(name, "")  # people open doors unordered
            self._submit(ev.EvidenceReported(name, shown, by))

    def _reported(self, name: str) -> None:
        """Handle a report of a machine: a machine in service needs its fault reports no longer."""
        controller = self._box.controller
        if controller is not None and controller.table.context.is_in_service(name):
            for number in self._pinned.pop(name, []):
                self._lines.write(_unpin, self.store, number)
        if name in self._interrupted:
            self._finish_recording(name)


def _unpin(store: files.FaultReportStore, number: int) -> None:
    store.pin(number, pinned=False)


def _state_name(view: AnyView) -> str:
    state = getattr(view, "state", None)
    return "" if state is None else str(getattr(state, "name", state)).lower()
