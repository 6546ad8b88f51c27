"""The single writer: `submit` is the only caller of the core, and decisions are carried out in their order.

Stops and locks are written in the call that decided them; `confirmation_batch` then keeps the loop free until the
machines have confirmed. Everything else waits until the step is on disk: followers get
the step, and permissive commands are sent if they are still permitted at that moment.
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
from table_controller.controller.command_reconciler import CommandReconciler
from table_controller.controller.confirmation_batch import ConfirmationBatch
from table_controller.controller.deadlines import Deadlines
from table_controller.controller.device_events import translate
from table_controller.controller.driver_commands import command_ended, start_command
from table_controller.controller.permission import still_permitted
from table_controller.controller.safe_mode import EMERGENCY_ID_BASE, stop_without_core
from table_controller.controller.shown_money import shown_money_of
from table_controller.journal.hit_log import HitLog
from table_controller.journal.records import Note
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command, Deadline, Decision

if TYPE_CHECKING:
    from collections.abc import Callable

    from devices.kinds import DriverEvent
    from table_controller.controller.recorder import Recorder
    from table_controller.controller.shown_money import ShownMoney
    from table_controller.controller.slot import AnySlot
    from table_controller.journal.chain import Record
    from table_controller.journal.credential_roster import CredentialRoster
    from table_controller.journal.finding_log import FindingLog
    from table_controller.journal.records import Timestamp
    from table_controller.table.core import Table


log = logging.getLogger(__name__)

# A disk needs milliseconds; a coroutine that waits for it checks this often (s) whether the journal has failed.
DURABLE_POLL_S: Final = 0.25


class DurableStep(msgspec.Struct, frozen=True):
    """A step that is on disk: its journal number, its time, its event and its decisions.

    `head` is the head of the journal after it.
    """

    seq: int
    wall_ns: int
    event: ev.Event
    decisions: list[Decision]
    head: bytes = b""


class Controller:
    """Joins the core of one table with its slots and its journal.

    `followers` get every durable step in order, after the commands that it permits were sent. `halted` is the error
    that stopped the table, or None.
    """

    def __init__(self, table: Table, recorder: Recorder) -> None:
        self.table = table
        self.slots: dict[str, AnySlot] = {}
        self.followers: list[Callable[[DurableStep], None]] = []
        self.halted: PitboxError | None = None
        self.durable_seq = 0  # the number of the last step of this start that is on disk
        self.shown_money = shown_money_of(table)  # after that step; all displays use it
        self.last_hits = HitLog(dict(recorder.hits.levels))  # of each level, those of earlier starts too
        self.on_halted: Callable[[PitboxError], None] | None = None
        self.on_noted: list[Callable[[], None]] = []  # called when a note is on disk
        self._recorder = recorder
        self._waiting: deque[ev.Event] = deque()
        self._gone: set[str] = set()  # slots that the core knows as disconnected in this start
        self._stepping = False
        self._closed = False
        self._stopping = False
        self._tasks: set[asyncio.Future[Any]] = set()
        self._deadlines = Deadlines(recorder, self._due)
        self.confirmation_batch = ConfirmationBatch(recorder.writer)
        self._asking = CommandReconciler(table, self.submit)
        recorder.writer.on_failed = self.journal_failed
        recorder.writer.on_ballast_freed = self._disk_full

    def begin(self) -> None:
        """Record the start, and every deadline that passed while the box was off. Ports are opened after this."""
        self._recorder.record_start(self.table)
        come = self._deadlines.resume()
        self.submit(ev.BoxStarted(self._recorder.boot, self._recorder.clock_went_back))
        for timer in come:
            if timer in self._recorder.timers.running:  # the start itself may have restarted it
                self._due_at_start(timer)

    def device_event_handler(self, name: str) -> Callable[[DriverEvent], None]:
        """Return the function that handles the events of a slot."""
        return lambda event: self._on_device_event(name, event)

    def _on_device_event(self, name: str, event: DriverEvent) -> None:
        slot = self.slots[name]
        is_for_core = not isinstance(event, slot.kind.telemetry_events)
        for each in translate(name, slot.kind.name, slot.kind.trigger(event), event) if is_for_core else ():
            if not self._is_gone_already(each):
                self.submit(each)
        if self.halted is not None or self._closed:
            return
        if isinstance(event, Settled):
            self._asking.on_settled(event)
        self._asking.reconcile(slot)

    def _is_gone_already(self, event: ev.Event) -> bool:
        """Return whether a link is reported down that the core already knows as down; such a report changes nothing."""
        if not isinstance(event, ev.SlotChanged) or event.trigger not in ("appear", "vanish"):
            return False
        was_gone = event.slot in self._gone
        (self._gone.add if event.trigger == "vanish" else self._gone.discard)(event.slot)
        return was_gone and event.trigger == "vanish"

    # --- events -------------------------------------------------------------------------------------------------------

    def submit(self, event: ev.Event) -> None:
        """Handle an event: synchronously, one after the other, never inside the step of another event.

        After a halt or close, events are ignored: nothing happens that cannot be recorded.
        """
        self.confirmation_batch.run_deferred()
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
        """Write a snapshot if enough records were written since the last one, even during a round.

        The state matches the newest record only if no step is deferred.
        """
        if self.halted is None and not self._closed and not self._stepping and not self.confirmation_batch.has_deferred:
            self._recorder.snapshot_if_due(self.table)

    def _step(self, event: ev.Event) -> None:
        if self.table.ignores(event):
            return
        now = self._recorder.stamp()
        try:
            taken = len(first := self.table.apply(event))
            self._make_safe(first)  # before the rest of the step is computed
            decisions = self.table.advance(event)
        except Exception as bug:  # noqa: BLE001 - any failure must make the machines safe
            self._core_failed(event, bug)
            return
        self._make_safe(decisions[taken:])
        record = partial(self._record, event, decisions, now, shown_money_of(self.table))
        if not self.confirmation_batch.defer(record):
            record()

    def _record(self, event: ev.Event, decisions: list[Decision], now: Timestamp, money: ShownMoney | None) -> None:
        """Pass a step to the journal, and update its deadlines."""
        if isinstance(event, ev.Due):
            self._recorder.timers.remove(event.timer)
        self._recorder.record_step(event, decisions, now, lambda record: self._durable(record, event, decisions, money))
        for decision in decisions:
            if isinstance(decision, Deadline):
                self._deadlines.update(decision.timer)

    def _make_safe(self, decisions: list[Decision]) -> None:
        """Send the fail-safe commands in this call."""
        for decision in decisions:
            if isinstance(decision, Command) and decision.safe:
                self._send(decision)

    def _durable(self, record: Record, event: ev.Event, decisions: list[Decision], money: ShownMoney | None) -> None:
        """Handle a step that is now on disk: send its commands that are still permitted, then call the followers."""
        if self._closed:
            return
        self.durable_seq, self.shown_money = record.seq, money
        self.last_hits.add_step(record.wall_ns, decisions)
        for decision in decisions:
            if self.halted is None and isinstance(decision, Command) and not decision.safe:
                if not self._stopping and still_permitted(self.table, decision):
                    self._send(decision)
                else:
                    self.submit(ev.CommandEnded(decision.id, "revoked"))
        if self.followers:
            self._call_followers(DurableStep(record.seq, record.wall_ns, event, decisions, record.head))

    def _call_followers(self, step: DurableStep) -> None:
        """Call every follower; report one that fails and continue with the next."""
        for follower in tuple(self.followers):
            try:
                follower(step)
            except Exception as error:  # noqa: BLE001 - a failure of the panel must never reach the table
                context = {"message": f"a follower of the table failed at record {step.seq}", "exception": error}
                asyncio.get_running_loop().call_exception_handler(context)

    @property
    def is_on_disk(self) -> bool:
        """Whether every step of this start is on disk."""
        return not self.confirmation_batch.has_deferred and self.durable_seq >= self._recorder.newest_seq

    @property
    def newest_seq(self) -> int:
        """The number of the last step of this start; it may not be on disk yet (`durable`)."""
        self.confirmation_batch.run_deferred()  # a deferred step has no number yet
        return self._recorder.newest_seq

    @property
    def findings(self) -> FindingLog:
        """The findings that people look up later, including those of earlier starts."""
        return self._recorder.findings

    @property
    def credential_roster(self) -> CredentialRoster:
        """The credentials that the journal knows."""
        return self._recorder.roll

    def time_left(self) -> dict[str, float]:
        """Return the time (s) until each running deadline."""
        now, timers = self._recorder.stamp(), self._recorder.timers
        return {
            timer: timers.seconds_left(timer, now, trusted=self._recorder.is_clock_trusted) for timer in timers.running
        }

    def note(self, note: Note, on_disk: Callable[[], None] | None = None) -> None:
        """Record a note, which is not a step of the table; ignored after a halt or close."""
        self.record_note(note, on_disk)

    def record_note(self, note: Note, on_disk: Callable[[], None] | None = None) -> int:
        """Record a note and return the number of its record; 0 after a halt or close, when it is ignored."""
        if self.halted is not None or self._closed:
            return 0
        self.confirmation_batch.run_deferred()
        seq = self._recorder.record_note(note, lambda _: self._note_durable(on_disk))
        self._snapshot_if_due()
        return seq

    def _note_durable(self, on_disk: Callable[[], None] | None) -> None:
        """Handle a note that is now on disk: call its own callback, then all `on_noted`."""
        if not self._closed:
            for noted in (*((on_disk,) if on_disk is not None else ()), *self.on_noted):
                noted()

    async def note_and_wait(self, note: Note) -> None:
        """Record a note and wait until it is on disk; raise JournalFailed if that is impossible."""
        durable: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.note(note, lambda: None if durable.done() else durable.set_result(None))
        while self.halted is None and not self._closed:
            done, _ = await asyncio.wait({durable}, timeout=DURABLE_POLL_S)
            if done:
                return
        raise JournalFailed("the journal failed before this was recorded")

    async def submit_and_wait(self, event: ev.Event) -> DurableStep:
        """Submit an event, wait until it is on disk, return its step; raise JournalFailed if that fails."""
        durable: asyncio.Future[DurableStep] = asyncio.get_running_loop().create_future()

        def follow(step: DurableStep) -> None:
            if step.event is event and not durable.done():
                durable.set_result(step)

        self.followers.append(follow)
        try:
            self.submit(event)
            while self.halted is None and not self._closed:
                done, _ = await asyncio.wait({durable}, timeout=DURABLE_POLL_S)
                if done:
                    return durable.result()
        finally:
            self.followers.remove(follow)
        raise JournalFailed("the journal failed before this was recorded")

    # --- commands -----------------------------------------------------------------------------------------------------

    def _send(self, command: Command) -> None:
        slot = self.slots[command.slot]
        try:
            work = asyncio.ensure_future(start_command(slot.kind.name, slot.driver, command))
        except PitboxError as failed:
            self._end(command, failed)
            return
        self._tasks.add(work)
        if command.safe:
            self.confirmation_batch.add(work)
            work.add_done_callback(
                lambda done: self.confirmation_batch.on_answer(done, partial(self._ended, command, done))
            )
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
        """Submit the end of a command, unless the reconciler has already settled it."""
        if command.id in self.table.state.commands:
            self.submit(command_ended(command.id, error))

    # --- time ---------------------------------------------------------------------------------------------------------

    def _due(self, timer: str) -> None:
        self.submit(ev.Due(timer))

    def _due_at_start(self, timer: str) -> None:
        self._deadlines.update(timer)  # so that no second handle waits for it
        self._recorder.timers.remove(timer)
        self._deadlines.update(timer)
        self.submit(ev.Due(timer))

    # --- the end ------------------------------------------------------------------------------------------------------

    def journal_failed(self, error: Exception) -> None:
        """Halt, because the journal can record nothing more."""
        self.halt(error if isinstance(error, PitboxError) else JournalFailed(f"the journal failed: {error!r}"))

    def halt(self, known: PitboxError) -> None:
        """Stop and lock everything, publish the cause, and accept nothing until the restart."""
        if self.halted is not None or self._closed:
            return
        stopping = self.table.step(ev.BoxHalted(known.number))
        self.halted = known
        self._make_safe(stopping)
        self._deadlines.close()
        if self.on_halted is not None:
            self.on_halted(known)

    def _core_failed(self, event: ev.Event, bug: Exception) -> None:
        """Make every machine safe without the core, because the core failed and its state is not reliable."""
        context = {"message": f"the core failed at {type(event).__name__}", "exception": bug}
        asyncio.get_running_loop().call_exception_handler(context)
        failed = BoxFailed(f"the core failed at {type(event).__name__}: {bug!r}")
        self.confirmation_batch.run_deferred()
        self._recorder.record_note(Note("failed", f"{failed.code}: {failed}"))
        self.halted = failed
        number = EMERGENCY_ID_BASE + self._recorder.stamp().wall_ns // 1000
        for slot in self.slots.values():
            number += 1
            work = stop_without_core(slot, self.table.state.round.number, number)
            if work is not None:
                self._watch(asyncio.ensure_future(work))
        self._deadlines.close()
        if self.on_halted is not None:
            self.on_halted(failed)

    def _watch(self, work: asyncio.Future[Any]) -> None:
        """Wait for the result of a stop and log a failure."""
        self._tasks.add(work)

        def ended(done: asyncio.Future[Any]) -> None:
            self._tasks.discard(done)
            if not done.cancelled() and done.exception() is not None:
                log.error("a machine did not confirm its stop: %s", done.exception())

        work.add_done_callback(ended)

    def _disk_full(self) -> None:
        self.journal_failed(DiskFull("the disk of the journal is full; the ballast was freed to record this"))

    def snapshot_if_idle(self) -> None:
        """Between rounds, write a snapshot as the last record before the box stops.

        An upgrade can begin from it; during a round an upgrade is not possible.
        """
        self.confirmation_batch.run_deferred()
        if self.halted is None and not self._closed and self.table.state.round.state == mc.IDLE:
            self._recorder.snapshot(self.table)

    def stop(self) -> None:
        """Stop every moving machine, lock every open sensor, and permit nothing from now on."""
        self._stopping = True
        self.submit(ev.BoxHalted(0))

    def abandon(self) -> None:
        """Behave as after a power cut: receive, send and publish nothing from now on."""
        self._closed = True
        self._deadlines.close()
        self.confirmation_batch.close()

    async def close(self) -> None:
        """Cancel deadlines and commands; the slots stay open, because the box owns them."""
        self.abandon()
        tasks: set[asyncio.Future[Any]] = {*self._tasks, *self._asking.close()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
