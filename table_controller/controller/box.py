"""The box of one table: joins journal, core, slots and people, and starts and stops them in order.

Ports, disk and clock are arguments, so the same class runs on real devices or in memory in virtual time. Panel, uplink
and control socket are not part of it: they follow the table through `followers`, `on_device_event` and `on_halted`.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from math import inf
from random import Random
from typing import TYPE_CHECKING, Any, Final, TypeVar

from msgspec.structs import replace as struct_replace

from devices.kinds import DriverEvent, kind_named
from devices.service import ABSENT
from firmware_bridge.errors import (
    BoxLocked,
    CopyTakenOver,
    CredentialRefused,
    JournalBusy,
    JournalError,
    PitboxError,
    TryLater,
    code_of,
)
from firmware_bridge.link_drops import FIRST_TRIAL_S, LONGEST_TRIAL_S
from table_controller.access.credential_log import CredentialLog, keep_refused_pin
from table_controller.access.keypad import Keypad
from table_controller.access.presence import Presence, last_dealer
from table_controller.controller.escalation import Escalation
from table_controller.controller.kinds import CONTROLLER_KINDS
from table_controller.controller.meter_sign import MeterSigns
from table_controller.controller.recorder import SNAPSHOT_EVERY
from table_controller.controller.safe_mode import SafeMode
from table_controller.controller.service_command_ids import ServiceCommandIds
from table_controller.controller.slot import AnySlot, Slot
from table_controller.controller.start import start
from table_controller.controller.supervise import TaskState, TaskSupervisor
from table_controller.host.notice_watch import NoticeWatch
from table_controller.host.repeated_log import RepeatedLog, log_refused_pin
from table_controller.journal import records as rec
from table_controller.journal.copier import CopyState
from table_controller.journal.versions import digests_of
from table_controller.maintenance import key_files
from table_controller.maintenance.enrollment import check_enrolled
from table_controller.maintenance.frame_monitor import FrameMonitor
from table_controller.maintenance.machine_notes import MachineNotes
from table_controller.maintenance.test_mode import TestModes
from table_controller.picture.pictures import Pictures
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.core import Table
from table_controller.table.decisions import StateChanged

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from firmware_bridge.handshake import Trust
    from firmware_bridge.keys import DeviceKey
    from table_controller.access.people_file import CredentialHolder
    from table_controller.controller.clock import Clock
    from table_controller.controller.controller import Controller, DurableStep
    from table_controller.controller.plan import Plan, SlotPlan
    from table_controller.controller.recorder import WatchedWriter
    from table_controller.host.quota import Origin
    from table_controller.journal.copier import Copier
    from table_controller.journal.interfaces import Journal
    from table_controller.maintenance.fault_reports import FaultReports
    from table_controller.maintenance.wear import WearStore
    from table_controller.table.events import Person as EventPerson

    # Opens the journal for these digests; raises JournalError if it cannot be used.
    OpenJournal = Callable[[Mapping[str, str]], tuple[Journal, WatchedWriter]]

log = logging.getLogger(__name__)
T = TypeVar("T")

# A machine answers a stop or a lock within milliseconds; the box waits no longer than this (s).
STOP_TIMEOUT_S: Final = 1.0
# A table counts as played if a round moved within this time (s): longer than any step of a round.
RECENT_ROUND_S: Final = 600.0


class Box:
    """One box. `controller` runs the table, or `locked` keeps it safe; `cause` is the error that people see."""

    def __init__(
        self,
        plan: Plan,
        clock: Clock,
        *,
        snapshot_every: int = SNAPSHOT_EVERY,
        threads: bool = True,
        seed: int | None = None,
    ) -> None:
        """Prepare a box; nothing runs yet.

        `threads`: slow work, such as checking a PIN, runs in a thread (not in virtual time). `seed` makes the waits
        between two attempts to connect the same in every run.
        """
        self.plan = plan
        self.site = struct_replace(plan.site, table=plan.site.table or plan.name)
        self._threads = threads
        self._seed = seed
        self._has_power = True
        self.clock = clock
        self.started_ns = clock.now()[0]
        self.repeated_log = RepeatedLog(log)  # for log lines that people outside can cause
        self.controller: Controller | None = None
        self.safe_mode: SafeMode | None = None
        self.presence: Presence | None = None
        self.credentials: CredentialLog | None = None
        self.escalation: Escalation | None = None
        self.copier: Copier | None = None
        self.fault_reports: FaultReports | None = None
        self.wear: WearStore | None = None
        self.slots: dict[str, AnySlot] = {}
        self.frame_monitors: dict[str, FrameMonitor] = {}
        self.checks: list[tuple[str, str]] = []  # results of the self-check, for people
        self.notice_watch = NoticeWatch(lambda: clock.now()[0] / 1e9)
        self.is_stopping = False
        self.boot = 0
        self.enrollment_lock = asyncio.Lock()  # one enrollment at a time
        self._finishing: set[asyncio.Task[Any]] = set()  # work that continues when its requester disconnects
        self.settled_enrollments: list[
            str
        ] = []  # interrupted enrollments, and whether this start finished or undid them
        self._revoked_before = (
            () if plan.former_revocation_list is None else key_files.read_former_list(plan.former_revocation_list)
        )
        self.on_device_event: list[Callable[[str, DriverEvent], None]] = []
        self.test_mode = TestModes(self)
        self.pictures = Pictures(self)
        self.on_halted: list[Callable[[PitboxError], None]] = []
        self.on_replayed: Callable[[int], None] = lambda _: None  # called with the number of each replayed record
        self.tasks = TaskSupervisor(self._died)
        kinds: dict[str, Any] = {place.name: place.kind for place in plan.slots}
        self.digests = digests_of(plan.edition, plan.submission, kinds)
        self._kinds = kinds
        self._snapshot_every = snapshot_every
        self.machine_notes = MachineNotes(self)
        self._joined: list[MeterSigns | Keypad | TestModes | MachineNotes] = []
        self.meter_signs: MeterSigns | None = None  # keeps the meter signs up to date
        self._round_moved = -inf  # when a round last moved (loop time, s)
        self._damage = ""  # the last known damage of the second copy
        self._store: Journal | None = None
        self._writer: WatchedWriter | None = None

    @property
    def cause(self) -> PitboxError | None:
        """Why the table is stopped; None while it runs."""
        if self.safe_mode is not None:
            return self.safe_mode.cause
        return self.controller.halted if self.controller is not None else None

    @property
    def is_new_journal(self) -> bool:
        """Whether this start found no journal and began a new one."""
        return self.controller is not None and self.boot == 1

    @property
    def copy_state(self) -> CopyState:
        """How far the second copy reaches."""
        return CopyState(False) if self.copier is None else self.copier.state

    @property
    def store(self) -> Journal | None:
        """The journal, while it is open."""
        return self._store

    @property
    def pending_records(self) -> int:
        """How many records are not durable yet."""
        return 0 if self._writer is None else self._writer.waiting

    def service_state(self, slot: str) -> str:
        """Return the service state of a slot: the core keeps it, or safe mode while no core runs."""
        if self.controller is not None:
            return self.controller.table.state.slots[slot].state
        return ABSENT if self.safe_mode is None else self.safe_mode.services[slot].state

    def running_controller(self) -> Controller:
        """Return the controller of a running table; raise BoxLocked if the table is stopped."""
        if self.controller is None or self.cause is not None:
            cause = self.cause
            raise BoxLocked("the box has not started" if cause is None else f"{cause.code}: {cause}")
        return self.controller

    # --- start --------------------------------------------------------------------------------------------------------

    async def begin(self, open_journal: OpenJournal, copier: Callable[[Journal], Copier | None] | None = None) -> None:
        """Recover the table from the journal, then open the ports. A journal that cannot be used locks the box."""
        self.recover(open_journal, copier)
        if self.safe_mode is not None:
            await self._close_journal()
        self.connect()

    def recover(self, open_journal: OpenJournal, copier: Callable[[Journal], Copier | None] | None = None) -> None:
        """Do the first half of `begin`: recover the table and record this start. Open no port.

        Raise JournalBusy if another box has this table: then this box must not touch its machines. Raise KeyRevoked if
        a slot is configured with a replaced key.
        """
        try:
            self._store, self._writer = open_journal(self.digests)
            self.boot = self._store.boot
            self._recover(self._store, self._writer)
        except JournalBusy:
            raise
        except JournalError as cause:
            self._lock(cause)
        else:
            self.copier = copier(self._store) if copier is not None else None
            self._settle_drafts()
            self._damage = self.copy_state.damage
        self._fill()
        if self.controller is not None:
            self._join(self.controller)
            self.controller.begin()
            assert self.credentials is not None
            self.credentials.compare()
            if self.copy_state.configured or self.controller.table.state.copy_kept:
                self.controller.submit(ev.CopyAwaited())
            self._check_keys(self.controller)

    def _settle_drafts(self) -> None:
        """Finish the enrollments that the journal has and undo those that it does not have."""
        for place in self.plan.slots if self.controller is not None else ():
            if place.key_file is None:
                continue
            assert self.controller is not None
            new, sentence = key_files.settle_draft(self.controller.table.state, place.name, place.key_file)
            self.settled_enrollments += [sentence] if sentence else []
            if new is not None:
                self._trust(place.name, new)

    def _check_keys(self, controller: Controller) -> None:
        """Copy the former list of revoked keys to the journal; raise KeyRevoked if a slot has a wrong key."""
        state, path = controller.table.state, self.plan.former_revocation_list
        keys = tuple(key for key in self._revoked_before if key not in state.revoked)
        if keys:
            controller.followers.append(self._taken_over)
            controller.submit(ev.KeysRevoked(keys))
        elif self._revoked_before and path is not None:
            key_files.retire_former_list(path)
        for place in self.plan.slots:
            for key in place.trust.keys.values():
                check_enrolled(state, key, place.name)

    def _taken_over(self, step: DurableStep) -> None:
        """Retire the former list of revoked keys: the journal has them now."""
        if isinstance(step.event, ev.KeysRevoked) and self.plan.former_revocation_list is not None:
            key_files.retire_former_list(self.plan.former_revocation_list)

    def connect(self) -> None:
        """Do the second half of `begin`: open the ports and keep every machine connected."""
        for name, slot in self.slots.items():
            self.tasks.supervise(name, slot.supervisor.run)

    def _recover(self, store: Journal, writer: WatchedWriter) -> None:
        table = Table(self.plan.edition, self.plan.submission, self._kinds)
        self.controller = controller = start(
            table, store, writer, self.clock, self.digests,
            snapshot_every=self._snapshot_every, on_record=self.on_replayed, site=self.site,
        )  # fmt: skip
        controller.on_halted = self._halted
        self.presence = Presence(last_dealer(store), controller.submit, controller.note)
        self.credentials = CredentialLog(self.plan.people, controller, self.run_in_thread)
        self.escalation = Escalation(self.plan.escalate_after_s, table, controller.note)
        controller.followers += [self.escalation.on_step, self._copy_on, self._watch_round]
        controller.on_noted.append(self.pictures.forget)

    def _join(self, controller: Controller) -> None:
        """Connect the meter signs and the keypads with the table."""
        fresh = ServiceCommandIds(self.clock).next_id
        self.meter_signs = sign = MeterSigns(controller, self.slots, fresh)
        keypad = Keypad(controller, self.slots, self.dealer, fresh)
        self.on_device_event += [
            sign.handle_device_event, keypad.handle_device_event, self.machine_notes.handle_device_event,
        ]  # fmt: skip
        controller.followers.append(self.test_mode.on_step)
        self._joined = [sign, keypad, self.test_mode, self.machine_notes]

    def _lock(self, cause: JournalError) -> None:
        """Continue in safe mode and show the cause."""
        log.error("the box is locked: %s %s", cause.code, cause)
        self.controller, self.safe_mode = None, SafeMode(cause, self.clock)

    def _fill(self) -> None:
        owner = self.controller or self.safe_mode
        assert owner is not None
        for place in self.plan.slots:
            self.frame_monitors[place.name] = FrameMonitor(place.name)
            self.slots[place.name] = self._slot(place, owner.device_event_handler(place.name))
        owner.slots = self.slots

    def _slot(self, place: SlotPlan, submit: Callable[[DriverEvent], None]) -> AnySlot:
        def handle(event: DriverEvent) -> None:
            if not self._has_power:
                return
            with nullcontext() if hold is None else hold.one_commit():  # a fault and its halt: never one without
                submit(event)
                for handler in self.on_device_event:
                    handler(place.name, event)

        hold = None if self.controller is None else self.controller.confirmation_batch
        slot = Slot(
            place.name,
            kind_named(place.kind),
            place.open_port,
            self._with_needs(place),
            handle,
            capture=self.frame_monitors[place.name],
            jitter=None if self._seed is None else Random(self._seed),
            confirmation_batch=hold,
            longest_trial=None if self.controller is None else partial(self._longest_trial, place.name),
        )
        slot.on_failed = lambda bug: self.note(
            rec.Note("died", f"the driver of {place.name} failed: {bug!r}; the box reads it again", slot=place.name)
        )
        slot.on_unsteady = lambda text: self.note(rec.Note("link", text, slot=place.name))
        return slot

    def _longest_trial(self, slot: str) -> float:
        """Return how long (s) an unsteady link must stay up before the table counts the device as connected.

        0 during a round and when the box halted, because the device may have to be stopped; 0 while a command of the
        device is open, because its result must be asked for at once. Short while rounds follow each other, because
        people wait.
        """
        controller = self.controller
        if controller is None or self.cause is not None or controller.table.state.round.state != mc.IDLE:
            return 0.0
        if any(issued.slot == slot for issued in controller.table.state.commands.values()):
            return 0.0
        played = asyncio.get_running_loop().time() - self._round_moved < RECENT_ROUND_S
        return FIRST_TRIAL_S if played else LONGEST_TRIAL_S

    # --- while it runs ------------------------------------------------------------------------------------------------

    def copy_changed(self, state: CopyState) -> None:
        """Handle a new state of the second copy: reached, it permits rounds; taken over by a box, it halts this one."""
        if self.controller is None:
            return
        if state.damage and state.damage != self._damage:
            self.controller.submit(ev.CopyDamaged(state.damage))
        self._damage = state.damage
        if state.code == code_of(CopyTakenOver.number):
            self.controller.journal_failed(CopyTakenOver(state.error))
        elif state.ack is not None and not state.error and self.controller.table.state.copy_awaited:
            self.controller.submit(ev.CopyReached())

    def _watch_round(self, step: DurableStep) -> None:
        if any(isinstance(decision, StateChanged) and decision.what == "round" for decision in step.decisions):
            self._round_moved = asyncio.get_running_loop().time()

    def _copy_on(self, step: DurableStep) -> None:
        if self.copier is not None:
            self.copier.on_durable(step)

    def _halted(self, cause: PitboxError) -> None:
        log.critical("halted: %s %s", cause.code, cause)
        for handler in self.on_halted:
            handler(cause)

    def _died(self, task: TaskState) -> None:
        self.note(
            rec.Note("died", f"{task.name} failed: {task.error}; the box restarts it ({task.restarts} restarts so far)")
        )

    def note(self, note: rec.Note) -> None:
        """Record a note, which is not a step of the table, if the journal is open."""
        if self.controller is not None:
            self.controller.note(note)

    def halt(self, cause: PitboxError) -> None:
        """Record a cause that only people can end, then stop and lock every machine."""
        if self.controller is not None:
            self.controller.note(rec.Note("halted", f"{cause.code}: {cause}"))
            self.controller.halt(cause)

    async def check_person(self, credential: str, pin: str, place: Origin | str) -> CredentialHolder:
        """Return the holder of a credential; raise CredentialRefused if the PIN is wrong. The table plays on meanwhile.

        Every sign-on calls this, so the journal gets edits of the people file and the number of wrong PINs. The log
        gets one line a minute for each credential and network, with a count of the others.
        """
        try:
            holder = await self.run_in_thread(lambda: self.plan.people.check(credential, pin, place))
        except PitboxError as refused:
            log_refused_pin(self.repeated_log, refused, self.plan.people.stored_id(credential), place)
            if isinstance(refused, CredentialRefused):
                await self._count_refused_pin(credential, place if isinstance(place, str) else place.name, refused)
            raise
        if self.credentials is not None:
            self.credentials.compare()
            self.credentials.pins.on_accepted(credential)
        return holder

    async def _count_refused_pin(self, credential: str, place: str, refused: CredentialRefused) -> None:
        """Count a wrong PIN in the journal; a locked box keeps it in the people file for the next start."""
        if self.credentials is not None and self.controller is not None and self.controller.halted is None:
            self.credentials.pins.on_refused(credential, place, refused)
        elif not isinstance(refused, TryLater):
            path = self.plan.people.path
            await self.run_in_thread(lambda: keep_refused_pin(path, credential, place))

    async def run_to_completion(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end, even if the task that waits for it is canceled; return its result."""
        task = asyncio.ensure_future(work)
        self._finishing.add(task)
        task.add_done_callback(self._finished)
        return await asyncio.shield(task)

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._finishing.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.info("a request failed: %s", task.exception())

    async def run_in_thread(self, work: Callable[[], T]) -> T:
        """Run slow work, such as files or a hash, in a thread; in virtual time run it directly."""
        return await asyncio.to_thread(work) if self._threads else work()

    def is_credential_valid(self, who: EventPerson, proof: str = "") -> bool:
        """Return whether the credential of a signed-on person is still valid: not revoked, and with the same PIN."""
        return self.plan.people.is_valid(who.credential, who.role, proof)

    def dealer(self) -> EventPerson | None:
        """Return the signed-on dealer; None if nobody is, or the credential was revoked or got another PIN."""
        if self.presence is None or self.presence.dealer is None:
            return None
        return self.presence.dealer if self.is_credential_valid(self.presence.dealer, self.presence.proof) else None

    def supervise(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run a background service, such as the uplink or the panel; its failure never stops the table."""
        self.tasks.supervise(name, work)

    def expect(self, slot: str, key: DeviceKey) -> None:
        """From now on, accept only the device with this key in a slot."""
        supervisor = self.slots[slot].supervisor
        supervisor.trust = self._trust(slot, key)
        supervisor.drops.reset()  # the unsteady link was that of the previous device

    def _trust(self, slot: str, key: DeviceKey) -> Trust:
        """Change the plan of a slot to the device with this key; return what the device must prove."""
        places = [
            replace(place, trust=struct_replace(place.trust, keys={key.serial: key})) if place.name == slot else place
            for place in self.plan.slots
        ]
        self.plan = replace(self.plan, slots=tuple(places))
        return next(self._with_needs(place) for place in places if place.name == slot)

    def _with_needs(self, place: SlotPlan) -> Trust:
        """Return what the device of a slot must prove, with the capabilities that the rules of the table need."""
        needs = CONTROLLER_KINDS[place.kind].needed_capabilities(self.plan.submission)
        return struct_replace(place.trust, needs=needs)

    # --- stop ---------------------------------------------------------------------------------------------------------

    async def stop(self) -> None:
        """End in order, even during a deal: stop and lock the machines, close the journal, close the ports."""
        self.is_stopping = True
        if self._finishing and self._has_power:
            await asyncio.wait(self._finishing, timeout=STOP_TIMEOUT_S)
        for task in self._finishing:
            task.cancel()
        if self._has_power and self.credentials is not None:
            self.credentials.pins.close()
        if self._has_power and self.controller is not None and self.controller.halted is None:
            self.controller.stop()
            await self._until_still(self.controller)
            self.controller.snapshot_if_idle()
            self.controller.abandon()  # an upgrade begins from the snapshot, so no step may follow it
        if self.escalation is not None:
            self.escalation.close()
        for joined in self._joined:
            await joined.close()
        if self.fault_reports is not None:
            await self.fault_reports.close()
        owner = self.controller or self.safe_mode
        if owner is not None:
            await owner.close()
        await self.tasks.close()
        self.repeated_log.flush()
        await self._close_journal()

    def lose_power(self) -> None:
        """Simulate a power cut: from now on nothing is received, sent, shown or recorded.

        A real cut ends the process. Call `stop` afterwards to free the tasks; it then neither writes to the journal nor
        sends to a machine.
        """
        self.is_stopping, self._has_power = True, False
        for task in self._finishing:
            task.cancel()
        if self.controller is not None:
            self.controller.abandon()
        if self.credentials is not None:
            self.credentials.pins.cancel()
        if self.escalation is not None:
            self.escalation.close()
        for joined in self._joined:
            joined.cancel()
        if self.fault_reports is not None:
            self.fault_reports.cancel()
        self.tasks.cancel()

    async def _until_still(self, controller: Controller) -> None:
        """Wait until every stop and lock is answered, or the time is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_TIMEOUT_S):
                while _stops(controller):  # noqa: ASYNC110 - a few commands, once per run
                    await asyncio.sleep(0.01)

    async def _close_journal(self) -> None:
        writer, self._writer, store, self._store = self._writer, None, self._store, None
        if not self._has_power:
            return
        if writer is not None:
            await writer.close()
        if store is not None:
            store.end()  # before the copy is closed: otherwise the copy looks as if this start was cut off
        if self.copier is not None:
            await self.copier.close()
        if store is not None:
            store.close()


def _stops(controller: Controller) -> bool:
    """Return whether a stop or a lock is still open."""
    return any(issued.act in ("stop", "lock") for issued in controller.table.state.commands.values())
