"""The fault reports of a running box: a recorder for every machine that moves cards, and the state of the table.

`ways` keeps the return to service of each fault; this module passes it new reports and the evidence of machines.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.driver_events import LinkDown, LinkUp, Reported
from firmware_bridge.errors import BadFaultReport
from firmware_bridge.version import VERSION
from table_controller.diagnosis import fault_report as d
from table_controller.diagnosis import fault_report_store as files
from table_controller.diagnosis import return_steps as st
from table_controller.diagnosis.card_paths import PATHS
from table_controller.maintenance.fault_recorder import FaultRecorder
from table_controller.maintenance.frame_ring import FrameRing
from table_controller.maintenance.return_to_service import ReturnsToService
from table_controller.table import events as ev
from table_controller.table.decisions import Prompt
from table_controller.table.decks import deck_age_s

if TYPE_CHECKING:
    from pathlib import Path

    from devices.kinds import AnyView, DriverEvent
    from table_controller.controller.box import Box
    from table_controller.controller.controller import DurableStep

# How many answers of people a fault report includes.
_ANSWERS: Final = 20


class FaultReports:
    """The fault reports of one box, in one folder."""

    def __init__(self, box: Box, folder: Path, *, threads: bool = True) -> None:
        self.store = files.FaultReportStore(folder)
        self._box = box
        self._threads = threads
        self.returns = ReturnsToService(box, self.store, threads=threads)
        self._asked: dict[int, str] = {}  # prompt -> kind
        self._answers: deque[tuple[int, d.EarlierAnswer]] = deque(maxlen=_ANSWERS)
        self._pinned: dict[str, list[int]] = {}  # slot -> reports whose machine is not back in service
        self._freezers = {name: self._freezer(name) for name, slot in box.slots.items() if slot.kind.name in PATHS}
        for number in files.numbers(folder):
            self._take_up_again(number)
        for name in self._freezers:
            self.returns.reconcile(name, self._pinned.get(name, ()))
        box.on_device_event.append(self._on_device_event)
        if box.controller is not None:
            box.controller.followers.append(self._stepped)

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
        if report.number:
            self._pinned.setdefault(report.machine.slot, []).append(report.number)
        self.returns.begin_after_fault(report)

    def _take_up_again(self, number: int) -> None:
        with suppress(BadFaultReport):
            self.returns.resume(st.replay(files.steps_of(self.store.folder, number)))
            if files.is_pinned(self.store.folder, number):
                slot = files.read(self.store.folder, number).machine.slot
                self._pinned.setdefault(slot, []).append(number)

    def cancel(self) -> None:
        """Stop at once, as after a power cut; partly written reports stay as they are."""
        for freezer in self._freezers.values():
            freezer.cancel()
        self.returns.cancel()

    async def close(self) -> None:
        """Finish open questions and writes."""
        for freezer in self._freezers.values():
            await freezer.close()
        await self.returns.close()

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
        before = freezer.is_recording
        freezer.handle_device_event(event)
        if freezer.is_recording and not before:
            self.returns.on_recording(name)
        if isinstance(event, Reported) and self.returns.is_in_service(name):
            for number in self._pinned.pop(name, []):
                self.returns.write(_unpin, self.store, number)
        if self._box.is_stopping:  # the end of the box is not a fault of the links
            return
        shown = (
            st.FaultedAgain("nothing any more: its link is gone")
            if isinstance(event, LinkDown)
            else st.evidence_of(event)
        )
        if shown is not None:
            self.returns.on_evidence(name, shown)


def _unpin(store: files.FaultReportStore, number: int) -> None:
    store.pin(number, pinned=False)


def _state_name(view: AnyView) -> str:
    state = getattr(view, "state", None)
    return "" if state is None else str(getattr(state, "name", state)).lower()
