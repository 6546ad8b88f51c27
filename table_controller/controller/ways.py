"""The ways back of a box's faults: begun by themselves, told to the table, gone by people, taken up after a start.

What is done is written down twice: with its dossier, where a technician finds it, and in the journal. The way of a
fault of the machine begins at the instant of the fault; the table is told which step is next, with `WayBack`, and
returns the machine to nobody before the last one: nothing here returns one itself. While a technician goes it, the
machine is in test mode: what it does is evidence, and the table hears nothing of it. What evidence a step needs is
known elsewhere.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge.errors import BadDossier, BadRequest, NotAllowed, PitboxError, StepRefused
from table_controller.controller.numbers import ServiceNumbers
from table_controller.controller.test_mode import NO_DOSSIER, mode_of, restore
from table_controller.diagnosis import evidence
from table_controller.diagnosis import steps as st
from table_controller.diagnosis import store as files
from table_controller.diagnosis.causes import diagnose
from table_controller.journal import records as rec
from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from table_controller.controller.box import Box
    from table_controller.diagnosis import dossier as d
    from table_controller.table.state import Way

# Who may take a dossier up: a technician any, people of the table what they may clear.
_TAKES_UP: Final = ("technician", "floorperson")


class Ways:
    """The ways of one box's dossiers. Whoever keeps the dossiers tells what was frozen and what machines show."""

    def __init__(self, box: Box, store: files.DossierStore, *, threads: bool) -> None:
        self._box, self._store, self._threads = box, store, threads
        self._ways: dict[int, st.Way] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._fresh = ServiceNumbers(box.clock).fresh

    def cancel(self) -> None:
        """Ask and write nothing any more."""
        for task in self._tasks:
            task.cancel()

    async def close(self) -> None:
        """Let what is being asked and written end."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    # --- after a start ------------------------------------------------------------------------------------------------

    def found(self, way: st.Way | None) -> None:
        """A way was written down before this start; it goes on, if it was not at its end."""
        if way is not None and way.next is not None and way.began.slot in self._box.slots:
            self._ways[way.began.dossier] = way
            if way.technician:
                self._box.testing[way.began.slot] = way.began.dossier

    def agree(self, name: str, pinned: Sequence[int]) -> None:
        """After a start: what the table believes of a way, and what is written with its dossier, are made one.

        Power may have gone between the two. What the table holds open stays so unless its last step is written down; a
        fault whose dossier was still being written begins its way now.
        """
        known = self._known(name)
        if self._way_at(name) is not None:
            if known is None and self.serves(name):  # it was returned, and only its dossier does not say so
                self._forget(name)
            self._tell(name)
        elif known is not None and known.dossier:
            way = self._written_way(known.dossier)
            if way is not None and way.next is None:
                self._tell(name)
        elif known is not None and known.testing:  # somebody tests it, without a fault: that goes on
            self._box.testing[name] = NO_DOSSIER
        elif known is not None:
            self._begin_late(name, pinned)

    def _begin_late(self, name: str, pinned: Sequence[int]) -> None:
        """The box died while it wrote a dossier down: what is there of it counts."""
        for number in reversed(pinned):
            with suppress(BadDossier):
                if self._written_way(number) is None:
                    self.begin_of_fault(files.read(self._store.folder, number))
                    return
        self._box.note(rec.Note("step", "the dossier of a fault was lost with the power: nothing binds", slot=name))
        self._tell(name)

    def _written_way(self, number: int) -> st.Way | None:
        """How far a way has come by what is written with its dossier; None if nothing is, or it cannot be read."""
        with suppress(BadDossier):
            return st.replay(files.steps_of(self._store.folder, number))
        return None

    def _forget(self, name: str) -> None:
        for number in [n for n, way in self._ways.items() if way.began.slot == name]:
            del self._ways[number]
        self._box.testing.pop(name, None)

    # --- what the table is told ---------------------------------------------------------------------------------------

    def _known(self, name: str) -> Way | None:
        """What the table believes of a slot's way."""
        controller = self._box.controller
        return None if controller is None else controller.table.state.slots[name].way

    def _way_at(self, name: str) -> st.Way | None:
        return next((way for way in self._ways.values() if way.began.slot == name), None)

    def _tell(self, name: str) -> None:
        """Have the table know what is next on a slot's way, or that nothing is."""
        way = self._way_at(name)
        step, number = ("", 0) if way is None else (way.open, way.began.dossier)
        self._submit(ev.WayBack(name, number, step, testing=name in self._box.testing))

    def _submit(self, event: ev.WayBack) -> None:
        known = self._known(event.slot)
        told = (known.dossier, known.step, known.testing) if known is not None else (0, "", False)
        if self._box.stopping:  # the state is written down already; the next start tells what is left
            return
        if self._box.controller is not None and (event.dossier, event.step, event.testing) != told:
            self._box.controller.submit(event)

    def freezing(self, name: str) -> None:
        """A fault is being written down: until it is known what it is, nobody returns the machine."""
        if self._way_at(name) is None:
            self._submit(ev.WayBack(name, 0, "dossier: the box is writing down what happened"))

    def begin_of_fault(self, dossier: d.Dossier) -> None:
        """A fault of the machine binds from its first instant; an interruption is for the people of the table."""
        name, service = dossier.machine.slot, not diagnose(dossier).staff
        if service and dossier.halt.what == "path_blocked":
            self._take_out(name)
        new = self._way_at(name) is None and dossier.number and not self.serves(name)
        if new and service:
            began = st.begin_of(dossier, "", service=True)
            self._took(dossier.number, st.Way(began), [began], who=None)
        self._tell(name)

    def _take_out(self, name: str) -> None:
        """A machine that only refused has said nothing of a fault; what darkens its path makes it one, and it latches.

        Somebody's card in the way does not: that one is told by the hold of the refused command, and taken out.
        """
        controller = self._box.controller
        if controller is not None and not self._box.stopping and self.serves(name):
            self._box.slots[name].service.take("fault", unsettled=False)
            controller.submit(ev.SlotChanged(name, "fault"))

    # --- on the way ---------------------------------------------------------------------------------------------------

    def showed(self, name: str, shown: st.Evidence) -> None:
        """A machine has shown something."""
        for number, way in tuple(self._ways.items()):
            if way.began.slot == name:
                self._took(number, *st.take(way, shown, way.technician or way.began.by), who=None)

    def _took(self, number: int, way: st.Way, events: list[st.StepEvent], who: ev.Person | None) -> None:
        """Keep what has happened on a way: in the journal, and with its dossier."""
        self._ways[number] = way
        for event in events:
            text = f"dossier {number}: " + msgspec.json.encode(event).decode()
            self._box.note(rec.Note("step", text, who=who, slot=way.began.slot))
            self.write(self._store.note, number, event)
        if way.next is None:
            self.write(self._ended, number)  # once its last step is on disk
        elif events:
            self._tell(way.began.slot)

    def _ended(self, number: int) -> None:
        """A way was gone to its end: nothing binds its machine any more."""
        if self._ways[number].next is None:  # and nothing has undone it meanwhile
            self._leave_test(self._ways.pop(number))

    def _leave_test(self, way: st.Way) -> None:
        """The table hears the machine again, in the mode in which it was, beginning with how it stands now."""
        name = way.began.slot
        tested = self._box.testing.pop(name, None) is not None
        self._tell(name)
        if not tested:
            return

        async def read() -> None:
            driver: Any = self._box.slots[name].driver
            with suppress(PitboxError):  # then it reports when its link is back, and starts in its own mode
                await restore(driver, way.mode, self._fresh)
                await driver.report()

        self._run(read())

    async def written(self) -> None:
        """Wait until what was done is on disk."""
        while self._tasks:
            await asyncio.wait(tuple(self._tasks))

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def write(self, call: Callable[..., Any], *args: Any) -> None:
        """Have something written, after all that was to be written before."""
        if not self._threads:
            call(*args)
            return
        # One writer after the other: lines of one way stay in their order.
        before = tuple(self._tasks)

        async def write() -> None:
            if before:
                await asyncio.wait(before)
            if call == self._ended:  # the table is told on its own thread
                call(*args)
            else:
                await asyncio.to_thread(call, *args)

        self._run(write())

    def serves(self, name: str) -> bool:
        """Tell whether a slot is in service, as far as the table knows."""
        controller = self._box.controller
        return controller is not None and controller.table.context.serves(name)

    def way(self, number: int) -> st.Way | None:
        """Return how far the way back of a dossier has come; None if nobody has begun it."""
        return self._ways.get(number) or st.replay(files.steps_of(self._store.folder, number))

    # --- people -------------------------------------------------------------------------------------------------------

    async def step(
        self, number: int, name: str, who: ev.Person, person: str, cards: int | None = None
    ) -> dict[str, Any]:
        """Begin a dossier's way (`begin`), or tick one of its steps; StepRefused says what is missing.

        `person` is whose credential it is: one person may have two, and is no second person for that.
        """
        if who.role not in _TAKES_UP:
            raise NotAllowed(f"a {' or a '.join(_TAKES_UP)} takes a dossier up; {who.credential} is a {who.role}")
        dossier = files.read(self._store.folder, number)
        way = self._ways.get(number)
        if name == "begin":
            await self._begin(dossier, way, who, person)
            await self.written()
            return self.told(number)
        if way is not None and name == "leave":
            self._leave(way, who)
            await self.written()
            return self.told(number)
        if way is None:
            raise StepRefused(f"nobody has begun dossier {number}, or its machine is back in service")
        try:
            step = st.Step[name.upper()]
        except KeyError:
            known = ", ".join(each.name.lower() for each in way.steps)
            raise BadRequest(f"there is no step {name!r}; there are: begin, leave, {known}") from None
        shown = await self._shown(way, step, who, person, cards)
        self._took(number, *st.must_tick(self._ways.get(number, way), step, shown, person), who=who)
        await self.written()
        return self.told(number)

    async def _begin(self, dossier: d.Dossier, way: st.Way | None, who: ev.Person, person: str) -> None:
        """Take a way up: one that began by itself, one that somebody left, or that of an interruption."""
        found, name = diagnose(dossier), dossier.machine.slot
        if way is None:
            other = self._way_at(name)
            if other is not None:
                held = f"the way back of dossier {other.began.dossier} is under way at {name}"
                raise StepRefused(f"{held}; it proves the same")
            if not found.staff and self.serves(name):
                raise StepRefused(f"{name} is in service; nobody tests what serves")
        service = not found.staff if way is None else way.began.service
        if service and who.role != "technician":
            raise NotAllowed(f"dossier {dossier.number} is a fault of the machine: a technician takes it up")
        self._box.running()
        events: list[st.StepEvent] = []
        if way is None:
            began = st.begin_of(dossier, "" if service else person, service=service)
            way, events = st.Way(began), [began]
        if service:
            mode = await mode_of(self._box.slots[name].driver)
            way, taken = st.take_up(self._ways.get(dossier.number, way), person, mode)
            events += taken
            self._box.testing[name] = dossier.number
        self._took(dossier.number, way, events, who=who)

    def _leave(self, way: st.Way, who: ev.Person) -> None:
        """Leave a way where it is: the table hears the machine again, and nobody returns it to service."""
        number = way.began.dossier
        after, events = st.leave(way)
        self._took(number, after, events, who=who)
        self._leave_test(way)

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
        who: dict[str, Any] = {"open": way.open, "technician": way.technician}
        who["motors"] = [motor for motor in way.began.motors if motor not in way.jogged]
        return {"dossier": number, "begun": True, "done": done, "next": following, **who}
