"""Journals of whole runs, truncated after any record, recovered and continued; without device bytes."""

from __future__ import annotations

import sys
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

from simulators.casino.disk import Disk
from table_controller.journal import records as rec
from table_controller.journal.recovery import encode_snapshot, recover
from table_controller.journal.table_terms import terms_of
from table_controller.journal.timers import Timers
from table_controller.journal.versions import digests_of
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import BetAccepted, BetReturned, Command, HitClaimed
from tests.support.core.ideal_table import DEALER, FLOOR, TECH, WILD_PROGRESSIVE, IdealTable, signs_report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.journal.chain import Record
    from table_controller.table.core import Table
    from table_controller.table.decisions import Decision

SNAPSHOT_EVERY = 40
_SECOND = 1_000_000_000
# What goes wrong in a recorded run, now and then, so that there are errors to be shown again.
_MISHAPS = ("other", "player_card_exposed", "shuffler_fault")


class RecordedRun:
    """One recorded run: `records` as stored on disk, `states` after each step, by the number of its record."""

    def __init__(self, game: str, seed: int, rounds: int, **choices: Any) -> None:
        self.game, self.choices = game, choices
        self.name = f"{game}/{seed}/{rounds}/{'progressive' if choices else 'plain'}"
        self.disk = Disk(seed)
        self.states: dict[int, bytes] = {}
        self._rng = Random(f"{game} {seed}")
        floor = IdealTable(game, **choices)
        context = floor.table.context
        self.digests = digests_of(context.edition, context.submission, dict(floor.slots))
        self._timers = Timers()
        self._store = self.disk.open(version=rec.VERSION, digests=self.digests)
        body = rec.BoxRecord("test", "kernel", set=True, back=False, terms=terms_of(context), accounting=rec.ACCOUNTING)
        self._append(rec.BOX, rec.encode_body(body))
        self._since = 0
        step = floor.table.step

        def recorded(event: ev.Event) -> list[Decision]:
            decisions = step(event)
            self._step(floor.table, event, decisions)
            return decisions

        floor.table.step = recorded  # type: ignore[method-assign]
        self._play(floor, rounds)

    def _play(self, floor: IdealTable, rounds: int) -> None:
        floor.step(ev.BoxStarted(1))
        floor.start("blue", "red")
        resume_play(floor)
        for _ in range(rounds):
            floor.bets = {seat for seat in floor.seats if self._rng.random() < 0.6}
            floor.play(ev.OpenRound(DEALER))
            if self._rng.random() < 0.4:
                self._mishap(floor)
            resume_play(floor)

    def _mishap(self, floor: IdealTable) -> None:
        """An irregularity occurs in the middle of a round and stays open for a while."""
        if floor.phase == mc.BETTING:
            floor.play(ev.NoMoreBets(DEALER), until=lambda _: self._rng.random() < 0.08)
        trigger = self._rng.choice(_MISHAPS)
        slot = "shuffler.1" if trigger == "shuffler_fault" else None
        floor.step(ev.IrregularityReported(trigger, DEALER, seat=floor.seats[0], slot=slot))

    def _append(self, kind: str, body: bytes) -> Record:
        now = len(self.disk.records) * _SECOND
        (record,) = self._store.append([(kind, now, now, 1, body)])
        return record

    def _step(self, table: Table, event: ev.Event, decisions: list[Decision]) -> None:
        record = self._append(rec.STEP, rec.encode_step(event, decisions))
        stamp = rec.Timestamp(record.wall_ns, record.mono_ns, "kernel")
        if isinstance(event, ev.Due):
            self._timers.remove(event.timer)
        self._timers.add_step(decisions, stamp)
        self.states[record.seq] = table.snapshot()
        self._since += 1
        if self._since >= SNAPSHOT_EVERY:
            self._since = 0
            self._store.snapshot(record.seq, encode_snapshot(table, self._timers, self.digests, stamp))

    def prefixes(self) -> Iterator[int]:
        """Yield every number of records that a power cut can leave."""
        yield from range(2, len(self.disk.records) + 1)

    def recovered(self, length: int) -> IdealTable:
        """Return a table that was recovered from the first records alone; what it knows must be what it knew."""
        disk = Disk(length)
        disk.records = self.disk.records[:length]
        disk.snapshots = [kept for kept in self.disk.snapshots if kept.record <= length]
        store = disk.open(version=rec.VERSION, digests=self.digests)
        floor = IdealTable(self.game, **self.choices)
        recover(store, floor.table, self.digests)
        at = max((seq for seq in self.states if seq <= length), default=None)
        if at is not None:
            assert floor.table.snapshot() == self.states[at], f"after {length} records the state is another"
        return floor


def restart(floor: IdealTable, boot: int, rng: Random) -> None:
    """Start the box on a recovered table: devices come back one by one, and are asked what became of their commands."""
    before = {hold.id for hold in floor.state.holds.values()}
    below = floor.state.next_id
    floor.step(ev.BoxStarted(boot))
    assert floor.state.next_id > below
    assert before <= {hold.id for hold in floor.state.holds.values()}, "an error that was shown is not shown any more"
    assert all(slot.state != "in_service" for slot in floor.state.slots.values())
    assert not floor.table.context.is_round_under_way or floor.table.context.is_round_stopped, (
        "a round goes on by itself"
    )
    if floor.state.holds or floor.table.context.is_round_under_way:
        assert floor.reasons_against_opening()
    doubtful = [(id_, issued.slot) for id_, issued in floor.state.commands.items()]
    for slot in floor.state.slots:
        sent = [d for d in floor.step(ev.SlotChanged(slot, "appear")) if isinstance(d, Command)]
        assert all(command.safe for command in sent), "something moves before the device was asked"
        for command in sent:
            for event in floor.answer(command):
                floor.step(event)
        for id_ in [id_ for id_, of in doubtful if of == slot and id_ in floor.state.commands]:  # a lock went out again
            outcome = rng.choice(("done", "failed", "revoked"))
            floor.step(ev.CommandEnded(id_, outcome))  # type: ignore[arg-type]
        floor.step(ev.SlotChanged(slot, "verify"))
        if floor.state.slots[slot].kind == "shoe":
            floor.step(ev.StackTaken(slot))  # its report shows that the slot is empty
    for event in signs_report(floor.table):
        floor.step(event)


def resume_play(floor: IdealTable) -> None:
    """Ideal people and devices do what is due, until the table is idle and nothing is open."""
    for _ in range(60):
        floor.clear_holds()
        if floor.phase == mc.BETTING:
            floor.play(ev.NoMoreBets(DEALER))
        floor.settle()
        _mend(floor)
        _late_news(floor)
        if floor.phase == mc.IDLE and not floor.state.holds and not floor.state.commands:
            return
    raise AssertionError(f"the table cannot be led on: {floor.phase} {floor.prompts()} {floor.state.holds}")


def _mend(floor: IdealTable) -> None:
    """A device that is at fault without an open irregularity is cleared and acknowledged by orders."""
    for name, slot in floor.state.slots.items():
        if slot.state == "faulted" and not any(hold.slot == name for hold in floor.state.holds.values()):
            floor.play(ev.SlotOrdered(name, "clear", TECH), ev.SlotOrdered(name, "acknowledge", FLOOR))


def _late_news(floor: IdealTable) -> None:
    """Send the report that was pending when a run was cut: settled dice, a stack that was taken."""
    round_ = floor.round_
    if floor.state.commands or floor.state.holds:
        return
    if round_.state == mc.STARTING_POSITION and round_.asked_start and round_.total is None:
        floor.play(ev.DiceRead("shaker.1", floor.dice))
    elif round_.in_slot is not None:
        floor.play(ev.StackTaken("shoe.1"))
    elif floor.round_.counting and round_.drawn < round_.dealt:
        floor.play(ev.CardsDrawn("shoe.1", round_.dealt))


def resume_every_prefix(run: RecordedRun) -> int:
    """Cut a journal off after every record; recover, restart, lead on, compare the meter. Returns how many."""
    cut = 0
    for length in run.prefixes():
        try:
            floor = run.recovered(length)
            restart(floor, 2, Random(length))
            resume_play(floor)
            _meter_is_exact(floor, _decisions(run.disk.records[:length]) + [d for _, ds in floor.log for d in ds])
        except Exception as failed:
            repeat = f"python -m tests.support.box.journal_prefixes {run.name} {length}"
            raise AssertionError(f"{run.name}, cut off after {length} records: {failed}; repeat: {repeat}") from failed
        cut += 1
    return cut


def steps_of(records: list[Record]) -> list[rec.StepRecord]:
    """Return the contents of the steps among the records."""
    return [rec.decode_step(record.body) for record in records if record.kind == rec.STEP]


def _decisions(records: list[Record]) -> list[Decision]:
    return [decision for step in steps_of(records) for decision in step.decisions]


def _meter_is_exact(floor: IdealTable, decisions: list[Decision]) -> None:
    """The meter is its seed plus the increment of every bet in force; no bet was counted twice."""
    accepted = Counter((d.round, d.seat) for d in decisions if isinstance(d, BetAccepted))
    returned = Counter((d.round, d.seat) for d in decisions if isinstance(d, BetReturned))
    assert all(times <= 1 + returned[bet] for bet, times in accepted.items()), "a bet was counted twice"
    rules, book = floor.table.context.meter, floor.state.money.book
    if rules is not None and accepted:
        assert not [d for d in decisions if isinstance(d, HitClaimed)]
        standing = accepted.total() - returned.total()
        assert book.meters.current == rules.seed + standing * rules.unit * rules.rate_bp // 10_000
        assert sum(book.held.values()) == 0


if __name__ == "__main__":
    name, at = sys.argv[1].split("/"), int(sys.argv[2])
    more = WILD_PROGRESSIVE if name[3] == "progressive" else {}
    recovered = RecordedRun(name[0], int(name[1]), int(name[2]), **more).recovered(at)
    restart(recovered, 2, Random(at))
    resume_play(recovered)
