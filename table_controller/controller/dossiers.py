"""The dossiers of a running box: a freezer at every machine that moves cards, and the way back of each fault.

What is done about a fault is written down twice: with its dossier, where a technician finds it, and in the journal. A
way that somebody has begun must be gone to its end before the machine is acknowledged; nothing here returns one itself.
While a technician goes it, the machine is in test mode: what it does is evidence, and the table hears nothing of it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.report import LinkDown, LinkUp, Reported
from firmware_bridge.errors import BadDossier, BadRequest, NotAllowed, PitboxError, StepRefused
from firmware_bridge.version import VERSION
from table_controller.controller.frame_ring import FrameRing
from table_controller.controller.freezer import KINDS, Freezer
from table_controller.controller.status import permits_of
from table_controller.diagnosis import dossier as d
from table_controller.diagnosis import evidence
from table_controller.diagnosis import steps as st
from table_controller.diagnosis import store as files
from table_controller.diagnosis.card_paths import BY_HAND
from table_controller.diagnosis.causes import diagnose
from table_controller.journal import records as rec
from table_controller.table import events as ev
from table_controller.table.decisions import Prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from table_controller.controller.box import Box
    from table_controller.controller.loop import Step

# Answers of people that a dossier tells.
_ANSWERS: Final = 20
# Who may take a dossier up: a technician any, people of the table what they may clear.
_TAKES_UP: Final = ("technician", "floorperson")


class Dossiers:
    """One box's dossiers in one folder."""

    def __init__(self, box: Box, folder: Path, *, threads: bool = True) -> None:
        self.store = files.DossierStore(folder)
        self._box = box
        self._threads = threads
        self._ways: dict[int, st.Way] = {}
        self._asked: dict[int, str] = {}  # prompts, by what they ask
        self._answers: deque[tuple[int, d.Answer]] = deque(maxlen=_ANSWERS)
        self._received: dict[str, int] = {}  # when each deck came (wall clock)
        self._pinned: dict[str, list[int]] = {}  # dossiers whose machine is not back, by slot
        self._freezers = {name: self._freezer(name) for name, slot in box.slots.items() if slot.kind.name in KINDS}
        self._tasks: set[asyncio.Task[None]] = set()
        for number in files.numbers(folder):
            self._take_up_again(number)
        box.on_told.append(self._told)
        box.guards.append(self._guard)
        if box.controller is not None:
            box.controller.followers.append(self._stepped)

    def _freezer(self, name: str) -> Freezer:
        slot, clock = self._box.slots[name], self._box.clock
        ring = FrameRing(asyncio.get_running_loop().time)
        self._box.taps[name].watchers.append(lambda _slot, outgoing, signed, mac: ring(outgoing, signed, mac))
        freezer = Freezer(
            name, slot.kind, slot.driver, ring, self.store, facts=lambda: self._facts(name),
            wall_ns=lambda: clock.now()[0], threads=self._threads, on_kept=self._kept,
        )  # fmt: skip
        if slot.driver.reported is not None:
            freezer.take(LinkUp(slot.driver.reported.hello))
            freezer.take(slot.driver.reported)
        return freezer

    def _kept(self, dossier: d.Dossier) -> None:
        if dossier.number:
            self._pinned.setdefault(dossier.machine.slot, []).append(dossier.number)

    def _take_up_again(self, number: int) -> None:
        try:
            way = st.replay(files.steps_of(self.store.folder, number))
            if files.is_pinned(self.store.folder, number):
                self._kept(files.read(self.store.folder, number))
        except BadDossier:
            return
        if way is not None and way.next is not None:
            self._ways[number] = way
            if way.began.service:
                self._box.testing[way.began.slot] = number

    async def close(self) -> None:
        """Let what is being asked and written end."""
        for freezer in self._freezers.values():
            await freezer.close()
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    # --- what the table knows -----------------------------------------------------------------------------------------

    def _stepped(self, step: Step) -> None:
        for decision in step.decisions:
            if isinstance(decision, Prompt):
                self._asked[decision.id] = decision.kind
        match step.event:
            case ev.Answer(prompt=prompt, choice=choice, who=who):
                self._answers.append((step.wall_ns, d.Answer(self._asked.pop(prompt, "?"), choice, who.role, 0)))
            case ev.DeckReceived(deck=deck):
                self._received[deck] = step.wall_ns

    def _facts(self, name: str) -> dict[str, Any]:
        """Return everything that a dossier tells besides the machine itself."""
        box, now = self._box, self._box.clock.now()[0]
        facts: dict[str, Any] = {
            "expected": box.plan.edition.cards.count,
            "versions": {"pitbox": VERSION, "game": box.plan.edition.game, **box.digests},
            "answers": tuple(
                msgspec.structs.replace(answer, before_s=(now - at) // 10**9) for at, answer in self._answers
            ),
        }
        if box.controller is None:
            return facts
        table = box.controller.table
        facts["table"] = tuple(
            d.Neighbour(each, slot.kind.name, table.state.slots[each].state, _word(slot.view))
            for each, slot in box.slots.items()
        )
        facts["permits"] = tuple(
            d.Permit(
                p.act, p.slot or p.deck or "", tuple(r.text for r in p.reasons), tuple(r.clause for r in p.reasons)
            )
            for p in permits_of(table)
        )
        holds = [hold for hold in table.state.holds.values() if hold.slot == name]
        facts["orders"] = tuple(dict.fromkeys(order for hold in holds for order in (*hold.outcomes, *hold.steps)))
        facts["clauses"] = tuple(dict.fromkeys(clause for hold in holds for clause in hold.clauses))
        facts["decks"] = tuple(
            d.Deck(deck.name, deck.state, None if deck.name not in self._received
                   else (now - self._received[deck.name]) // 10**9)
            for deck in table.state.decks.values()
        )  # fmt: skip
        return facts

    # --- the way back -------------------------------------------------------------------------------------------------

    def _told(self, name: str, event: Any) -> None:
        freezer = self._freezers.get(name)
        if freezer is None:
            return
        freezer.take(event)
        if isinstance(event, Reported) and self._serves(name):
            for number in self._pinned.pop(name, []):
                self._write(_unpin, self.store, number)
        if self._box.stopping:  # what the box does to its links as it ends is no fault of theirs
            return
        shown = (
            st.Faulted("nothing any more: its link is gone") if isinstance(event, LinkDown) else st.evidence_of(event)
        )
        if shown is not None:
            for number, way in tuple(self._ways.items()):
                if way.began.slot == name:
                    self._took(number, *st.take(way, shown, way.began.by), who=None)

    def _took(self, number: int, way: st.Way, events: list[st.StepEvent], who: ev.Person | None) -> None:
        """Keep what has happened on a way: in the journal, and with its dossier."""
        self._ways[number] = way
        for event in events:
            text = f"dossier {number}: " + msgspec.json.encode(event).decode()
            self._box.note(rec.Note("step", text, who=who, slot=way.began.slot))
            self._write(self.store.note, number, event)
        if way.next is None:
            del self._ways[number]
            self._leave_test(way.began.slot)

    def _leave_test(self, name: str) -> None:
        """The table hears the machine again, beginning with how it stands now."""
        if self._box.testing.pop(name, None) is None:
            return

        async def read() -> None:
            with suppress(PitboxError):  # then it reports when its link is back
                await self._box.slots[name].driver.report()

        self._run(read())

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _write(self, call: Callable[..., Any], *args: Any) -> None:
        if not self._threads:
            call(*args)
            return
        # One writer after the other: lines of one way stay in their order.
        before = tuple(self._tasks)

        async def write() -> None:
            if before:
                await asyncio.wait(before)
            await asyncio.to_thread(call, *args)

        self._run(write())

    def _serves(self, name: str) -> bool:
        controller = self._box.controller
        return controller is not None and controller.table.context.serves(name)

    def way(self, number: int) -> st.Way | None:
        """Return how far the way back of a dossier has come; None if nobody has begun it."""
        return self._ways.get(number) or st.replay(files.steps_of(self.store.folder, number))

    async def step(
        self, number: int, name: str, who: ev.Person, person: str, cards: int | None = None
    ) -> dict[str, Any]:
        """Begin a dossier's way (`begin`), or tick one of its steps; StepRefused says what is missing.

        `person` is whose credential it is: one person may have two, and is no second person for that.
        """
        if who.role not in _TAKES_UP:
            raise NotAllowed(f"a {' or a '.join(_TAKES_UP)} takes a dossier up; {who.credential} is a {who.role}")
        dossier = files.read(self.store.folder, number)
        way = self._ways.get(number)
        if name == "begin":
            return self._begin(dossier, way, who, person)
        if way is None:
            raise StepRefused(f"nobody has begun dossier {number}, or its machine is back in service")
        try:
            step = st.Step[name.upper()]
        except KeyError:
            known = ", ".join(each.name.lower() for each in way.steps)
            raise BadRequest(f"there is no step {name!r}; there are: begin, {known}") from None
        shown = await self._shown(way, step, who, person, cards)
        self._took(number, *st.must_tick(self._ways.get(number, way), step, shown, person), who=who)
        return self.told(number)

    def _begin(self, dossier: d.Dossier, way: st.Way | None, who: ev.Person, person: str) -> dict[str, Any]:
        if way is not None:
            return self.told(dossier.number)  # taken up again: nothing that was done is lost
        found = diagnose(dossier)
        if not found.staff and who.role != "technician":
            raise NotAllowed(f"dossier {dossier.number} is a fault of the machine: a technician takes it up")
        machine = dossier.machine
        other = next((n for n, way in self._ways.items() if way.began.slot == machine.slot), None)
        if other is not None:
            raise StepRefused(f"the way back of dossier {other} is under way at {machine.slot}; it proves the same")
        self._box.running()
        if not found.staff and self._serves(machine.slot):
            raise StepRefused(f"{machine.slot} is in service; nobody tests what serves")
        began = st.begin(
            dossier.number, machine.slot, person, service=not found.staff,
            expected=dossier.account.expected, has_door=BY_HAND not in machine.capabilities,
        )  # fmt: skip
        self._took(dossier.number, st.Way(began), [began], who=who)
        if began.service:
            self._box.testing[machine.slot] = dossier.number
        return self.told(dossier.number)

    async def _shown(self, way: st.Way, step: st.Step, who: ev.Person, person: str, cards: int | None) -> st.Evidence:
        """Return what can be shown for a step now; what a machine did is taken when it does it, never by word."""
        match step:
            case st.Step.PATH_EMPTY:
                slot = self._box.slots[way.began.slot]
                sensors = await slot.driver.sensors()
                return st.looked(evidence.levels_of(slot.kind.name, sensors.levels))
            case st.Step.COUNT if cards is not None:
                return st.Counted(cards, person)
            case st.Step.RETURN:
                return st.Returned(person, who.role)
            case _:
                raise StepRefused(f"{step.name.lower()} ticks by itself: {st.wanted(way, step)}")

    def told(self, number: int) -> dict[str, Any]:
        """Return how far a dossier's way has come, as plain data."""
        way = self.way(number)
        if way is None:
            return {"dossier": number, "begun": False, "done": [], "next": None}
        following = None if way.next is None else way.next.name.lower()
        done = [step.name.lower() for step in way.steps if step in way.done]
        return {"dossier": number, "begun": True, "done": done, "next": following}

    def _guard(self, event: ev.Event) -> None:
        """Refuse that a machine is acknowledged whose way back was begun and has steps left."""
        slot = None
        if isinstance(event, ev.SlotOrdered) and event.act == "acknowledge":
            slot = event.slot
        elif isinstance(event, ev.Answer) and self._box.controller is not None:
            prompt = self._box.controller.table.state.prompts.get(event.prompt)
            slot = prompt.slot if prompt is not None and prompt.kind == "acknowledge" else None
        for number, way in self._ways.items():
            if slot is not None and way.began.slot == slot and way.next is not None:
                raise StepRefused(f"dossier {number}: {way.next.name.lower()} is not done: {way.next.value}")


def _unpin(store: files.DossierStore, number: int) -> None:
    store.pin(number, pinned=False)


def _word(view: Any) -> str:
    state = getattr(view, "state", None)
    return "" if state is None else str(getattr(state, "name", state)).lower()
