"""The single writer: `submit` is the only caller of `step`, and what was decided is carried out in its order.

Fail-safe commands are written in the call that decided them, and `hold` gives them the loop until they are confirmed.
Everything else waits until the step is on disk: people are told then, and permissive commands go out then, if they are
still permitted at that moment.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge.commands import Settled
from firmware_bridge.errors import BoxFailed, DiskFull, JournalFailed, PitboxError
from table_controller.controller.actuate import begin, ended
from table_controller.controller.asking import Asking
from table_controller.controller.deadlines import Deadlines
from table_controller.controller.hold import Hold
from table_controller.controller.locked import BARE, bare_stop
from table_controller.controller.permission import still_permitted
from table_controller.controller.shown_money import money_of
from table_controller.controller.translate import translate
from table_controller.journal.records import Note
from table_controller.table import events as ev
from table_controller.table import machines as mc
from table_controller.table.decisions import Command, Deadline, Decision

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.controller.recorder import Recorder
    from table_controller.controller.shown_money import ShownMoney
    from table_controller.controller.slot import Slot
    from table_controller.journal.chain import Record
    from table_controller.journal.finding_log import FindingLog
    from table_controller.journal.hit_log import HitLog
    from table_controller.journal.records import Stamp
    from table_controller.journal.roll import Roll
    from table_controller.table.core import Table


log = logging.getLogger(__name__)

# A disk takes milliseconds; after so long (s) whoever waits looks whether the journal has failed meanwhile.
NOTE_PATIENCE: Final = 0.25


class Step(msgspec.Struct, frozen=True):
    """A step that is on disk: its number in the journal, when it was taken, what happened and what was decided.

    `head` is the journal's head after it.
    """

    seq: int
    wall_ns: int
    event: ev.Event
    decisions: list[Decision]
    head: bytes = b""


class Controller:
    """Joins the core of one table with its slots and its journal.

    `followers` see every event with its decisions, in order, once they are durable and what they permit was sent.
    `halted` is why nothing goes on.
    """

    def __init__(self, table: Table, recorder: Recorder) -> None:
        self.table = table
        self.slots: dict[str, Slot[Any, Any]] = {}
        self.followers: list[Callable[[Step], None]] = []
        self.halted: PitboxError | None = None
        self.durable = 0  # the number of the last step of this start that is on disk
        self.shown_money = money_of(table)  # after that step; whoever shows an amount shows this
        self.on_halted: Callable[[PitboxError], None] | None = None
        self.on_noted: list[Callable[[], None]] = []  # called when a note is on disk
        self._recorder = recorder
        self._waiting: deque[ev.Event] = deque()
        self._gone: set[str] = set()  # slots whose link the core has as down, in this start
        self._stepping = False
        self._closed = False
        self._stopping = False
        self._tasks: set[asyncio.Future[Any]] = set()
        self._deadlines = Deadlines(recorder, self._due)
        self.hold = Hold(recorder.writer)
        self._asking = Asking(table, self.submit)
        recorder.writer.on_failed = self.journal_failed
        recorder.writer.on_ballast_freed = self._disk_full

    def begin(self) -> None:
        """Say that the box has started, and what fell due while it was off. Ports are opened after this."""
        self._recorder.begin(self.table)
        come = self._deadlines.resume()
        self.submit(ev.BoxStarted(self._recorder.boot, self._recorder.back))
        for timer in come:
            if timer in self._recorder.timers.running:  # the start itself may have set it anew
                self._due_at_start(timer)

    def listener(self, name: str) -> Callable[[Any], None]:
        """Return who takes a slot's events."""
        return lambda event: self._told(name, event)

    def _told(self, name: str, event: Any) -> None:
        slot = self.slots[name]
        rules_hear = not isinstance(event, slot.kind.pictures)
        for each in translate(name, slot.kind.name, slot.kind.trigger(event), event) if rules_hear else ():
            if self._is_gone_already(each):
                continue
            if isinstance(each, ev.SlotChanged) or not self._tested(name):
                self.submit(each)
        if self.halted is not None or self._closed:
            return
        if isinstance(event, Settled):
            self._asking.settled(event)
        self._asking.look_after(slot)

    def _is_gone_already(self, event: ev.Event) -> bool:
        """Tell whether a link is reported down that is down, for another cause: that changes nothing at the table."""
        if not isinstance(event, ev.SlotChanged) or event.trigger not in ("appear", "vanish"):
            return False
        was_gone = event.slot in self._gone
        (self._gone.add if event.trigger == "vanish" else self._gone.discard)(event.slot)
        return was_gone and event.trigger == "vanish"

    def _tested(self, name: str) -> bool:
        """Tell whether a machine is in test mode: the cards of its reports are no deck's."""
        way = self.table.state.slots[name].way
        return way is not None and way.testing

    # --- the one way in -----------------------------------------------------------------------------------------------

    def submit(self, event: ev.Event) -> None:
        """Take an event: synchronously, one after the other, never inside another one's step.

        Once halted, or closed, nothing is taken any more: what cannot be recorded does not happen.
        """
        self.hold.catch_up()
        self._waiting.append(event)
        if self._stepping:
            return
        self._stepping = True
        try:
            while self._waiting:
                following = self._waiting.popleft()
                if self.halted is None and not self._closed:
                    self._step(following)
        finally:
            self._stepping = False
        self._snapshot_if_due()

    def _snapshot_if_due(self) -> None:
        """Keep the state if enough was recorded since it was kept last: also in a round, and while people wait.

        The state is that of the newest record only if no step is held back.
        """
        if self.halted is None and not self._closed and not self._stepping and not self.hold.keeps:
            self._recorder.snapshot_if_due(self.table)

    def _step(self, event: ev.Event) -> None:
        now = self._recorder.stamp()
        try:
            taken = len(first := self.table.take(event))
            self._make_safe(first)  # before anything else that follows is so much as looked for
            decisions = self.table.go_on(event)
        except Exception as bug:  # noqa: BLE001 - whatever it is, the machines are made safe
            self._core_failed(event, bug)
            return
        self._make_safe(decisions[taken:])
        record = partial(self._record, event, decisions, now, money_of(self.table))
        if not self.hold.later(record):
            record()

    def _record(self, event: ev.Event, decisions: list[Decision], now: Stamp, money: ShownMoney | None) -> None:
        """Hand a step to the journal, and keep what it says of time."""
        if isinstance(event, ev.Due):
            self._recorder.timers.came(event.timer)
        self._recorder.step(event, decisions, now, lambda record: self._durable(record, event, decisions, money))
        for decision in decisions:
            if isinstance(decision, Deadline):
                self._deadlines.set(decision.timer)

    def _make_safe(self, decisions: list[Decision]) -> None:
        """Write what makes things safe, in this very call."""
        for decision in decisions:
            if isinstance(decision, Command) and decision.safe:
                self._send(decision)

    def _durable(self, record: Record, event: ev.Event, decisions: list[Decision], money: ShownMoney | None) -> None:
        """A step is on disk: send what it permits and what is still permitted, then tell followers."""
        if self._closed:
            return
        self.durable, self.shown_money = record.seq, money
        for decision in decisions:
            if self.halted is None and isinstance(decision, Command) and not decision.safe:
                if not self._stopping and still_permitted(self.table, decision):
                    self._send(decision)
                else:
                    self.submit(ev.CommandEnded(decision.id, "revoked"))
        if self.followers:
            self._tell(Step(record.seq, record.wall_ns, event, decisions, record.head))

    def _tell(self, step: Step) -> None:
        """Tell whoever follows; one that fails is reported and stands in nobody's way."""
        for follower in tuple(self.followers):
            try:
                follower(step)
            except Exception as error:  # noqa: BLE001 - a panel's mistake must never reach the table
                context = {"message": f"who follows the table failed at record {step.seq}", "exception": error}
                asyncio.get_running_loop().call_exception_handler(context)

    @property
    def newest(self) -> int:
        """The number of the step that was taken last in this start; it may not be on disk yet (`durable`)."""
        self.hold.catch_up()  # what is held back has no number yet
        return self._recorder.newest

    @property
    def last_hits(self) -> HitLog:
        """The last hits of each level, also of starts before this one."""
        return self._recorder.hits

    @property
    def findings(self) -> FindingLog:
        """What people must be able to find again, also of starts before this one."""
        return self._recorder.findings

    @property
    def roll(self) -> Roll:
        """The credentials that the journal knows."""
        return self._recorder.roll

    def time_left(self) -> dict[str, float]:
        """How long (s) until each deadline that runs; for whoever shows it."""
        now, timers = self._recorder.stamp(), self._recorder.timers
        return {timer: timers.left(timer, now, trusted=self._recorder.trusted) for timer in timers.running}

    def note(self, note: Note, on_disk: Callable[[], None] | None = None) -> None:
        """Write down what is no step of the table; once halted or closed nothing is written."""
        if self.halted is None and not self._closed:
            self.hold.catch_up()
            self._recorder.note(note, lambda _: self._note_durable(on_disk))
            self._snapshot_if_due()

    def _note_durable(self, on_disk: Callable[[], None] | None) -> None:
        """A note is on disk: call who waits for it, then who shows notes."""
        if not self._closed:
            for noted in (*((on_disk,) if on_disk is not None else ()), *self.on_noted):
                noted()

    async def noted(self, note: Note) -> None:
        """Write something down and wait until it is on disk; JournalFailed if it never will be."""
        durable: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.note(note, lambda: None if durable.done() else durable.set_result(None))
        while self.halted is None and not self._closed:
            done, _ = await asyncio.wait({durable}, timeout=NOTE_PATIENCE)
            if done:
                return
        raise JournalFailed("the journal failed before this was written down")

    async def taken(self, event: ev.Event) -> list[Decision]:
        """Take an event and wait until it is on disk; return what was decided. JournalFailed if it never will be."""
        durable: asyncio.Future[list[Decision]] = asyncio.get_running_loop().create_future()

        def follow(step: Step) -> None:
            if step.event is event and not durable.done():
                durable.set_result(step.decisions)

        self.followers.append(follow)
        try:
            self.submit(event)
            while self.halted is None and not self._closed:
                done, _ = await asyncio.wait({durable}, timeout=NOTE_PATIENCE)
                if done:
                    return durable.result()
        finally:
            self.followers.remove(follow)
        raise JournalFailed("the journal failed before this was written down")

    # --- commands -----------------------------------------------------------------------------------------------------

    def _send(self, command: Command) -> None:
        slot = self.slots[command.slot]
        try:
            work = asyncio.ensure_future(begin(slot.kind.name, slot.driver, command))
        except PitboxError as failed:
            self._end(command, failed)
            return
        self._tasks.add(work)
        if command.safe:
            self.hold.begun(work)
            work.add_done_callback(lambda done: self.hold.answered(done, partial(self._ended, command, done)))
        else:
            work.add_done_callback(partial(self._ended, command))

    def _ended(self, command: Command, done: asyncio.Future[Any]) -> None:
        self._tasks.discard(done)
        if done.cancelled():
            return
        error = done.exception()
        if error is not None and not isinstance(error, PitboxError):
            raise error
        self._end(command, error)

    def _end(self, command: Command, error: PitboxError | None) -> None:
        """A command has ended. One that was in doubt may have been asked about and settled already."""
        if command.id in self.table.state.commands:
            self.submit(ended(command.id, error))

    # --- time ---------------------------------------------------------------------------------------------------------

    def _due(self, timer: str) -> None:
        self.submit(ev.Due(timer))

    def _due_at_start(self, timer: str) -> None:
        self._deadlines.set(timer)  # nobody waits for it twice
        self._recorder.timers.came(timer)
        self._deadlines.set(timer)
        self.submit(ev.Due(timer))

    # --- the end ------------------------------------------------------------------------------------------------------

    def journal_failed(self, error: Exception) -> None:
        """Nothing can be recorded any more: halt."""
        self.halt(error if isinstance(error, PitboxError) else JournalFailed(f"the journal failed: {error!r}"))

    def halt(self, known: PitboxError) -> None:
        """Stop and lock everything, show why, and accept nothing until the restart."""
        if self.halted is not None or self._closed:
            return
        stopping = self.table.step(ev.BoxHalted(known.number))
        self.halted = known
        self._make_safe(stopping)
        self._deadlines.close()
        if self.on_halted is not None:
            self.on_halted(known)

    def _core_failed(self, event: ev.Event, bug: Exception) -> None:
        """The core itself failed, and nobody knows what its state is worth: make every machine safe without it."""
        context = {"message": f"the core failed at {type(event).__name__}", "exception": bug}
        asyncio.get_running_loop().call_exception_handler(context)
        failed = BoxFailed(f"the core failed at {type(event).__name__}: {bug!r}")
        self.hold.catch_up()
        self._recorder.note(Note("failed", f"{failed.code}: {failed}"))
        self.halted = failed
        number = BARE + self._recorder.stamp().wall_ns // 1000
        for slot in self.slots.values():
            number += 1
            work = bare_stop(slot, self.table.state.round.number, number)
            if work is not None:
                self._watch(asyncio.ensure_future(work))
        self._deadlines.close()
        if self.on_halted is not None:
            self.on_halted(failed)

    def _watch(self, work: asyncio.Future[Any]) -> None:
        """See a stop through to its end, whatever that is."""
        self._tasks.add(work)

        def ended(done: asyncio.Future[Any]) -> None:
            self._tasks.discard(done)
            if not done.cancelled() and done.exception() is not None:
                log.error("a machine did not confirm its stop: %s", done.exception())

        work.add_done_callback(ended)

    def _disk_full(self) -> None:
        self.journal_failed(DiskFull("the journal's disk is full; the ballast gave room to say so"))

    def keep(self) -> None:
        """Before the box is stopped in order: between rounds, leave the state as the journal's last word.

        From there an upgrade may begin; in the middle of a round there is nothing to begin from.
        """
        self.hold.catch_up()
        if self.halted is None and not self._closed and self.table.state.round.state == mc.IDLE:
            self._recorder.snapshot(self.table)

    def stop(self) -> None:
        """The box is stopped in order: stop what moves, lock what is open, and permit nothing from here on."""
        self._stopping = True
        self.submit(ev.BoxHalted(0))

    def dead(self) -> None:
        """Be as if power had gone: nothing is taken, sent or told from here on."""
        self._closed = True
        self._deadlines.close()
        self.hold.close()

    async def close(self) -> None:
        """Stop listening to time and commands; the slots are whoever's who opened them."""
        self.dead()
        tasks: set[asyncio.Future[Any]] = {*self._tasks, *self._asking.close()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
