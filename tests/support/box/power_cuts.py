"""Power cuts of the box at a whole simulated table, and the comparison with the simulated world afterwards."""

from __future__ import annotations

import sys
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from devices.bet_sensor.messages import Light
from simulators.casino.disk import Disk
from simulators.casino.journal_money_oracle import JournalMoneyOracle
from simulators.casino.table import CasinoTable
from simulators.casino.table_layout import default_choices, keypad_and_sign
from simulators.casino.winning_players import WinningPlayers
from simulators.engine.virtual_time import run_virtual
from simulators.world.chips import TRAY
from table_controller.journal import records as rec
from table_controller.ledger.money import ACCOUNTS, ENVY, METER
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.core import Table
from table_controller.table.decisions import (
    BetAccepted,
    BetReturned,
    Command,
    Finding,
    HitClaimed,
    HitRebooked,
    HoldCleared,
    HoldOpened,
    StateChanged,
)
from table_controller.table.hits import NO_WIN
from tests.support.core.meters import PROGRESSIVES, choices

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.journal.chain import Record
    from table_controller.table.decisions import Decision

BETTORS = (1, 2, 4, 6)
# So many points ahead at most is the next cut: about as many as a round has.
AHEAD = 220
# A claim is paid within about so many points of the disk; so often, where there are claims, it is one of them.
UNTIL_PAID = 24
POUNCE = 0.4


def steps(records: list[Record]) -> list[rec.StepRecord]:
    """Return the contents of the steps on disk."""
    return [rec.decode_step(record.body) for record in records if record.kind == rec.STEP]


def decided(records: list[Record]) -> list[Decision]:
    """Return every decision on disk, in order."""
    return [decision for step in steps(records) for decision in step.decisions]


class ShownBeforeCut(NamedTuple):
    """What people can have seen: irregularities that are not cleared, hits that are not paid, with their amounts."""

    holds: set[tuple[int, str]]
    hits: dict[int, int]


def shown(records: list[Record]) -> ShownBeforeCut:
    """Return what is on disk, and so may have been shown, when the power goes."""
    on_disk = ShownBeforeCut(set(), {})
    for decision in decided(records):
        match decision:
            case HoldOpened():
                on_disk.holds.add((decision.hold, decision.trigger))
            case HoldCleared():
                on_disk.holds.difference_update([hold for hold in on_disk.holds if hold[0] == decision.hold])
            case HitClaimed() | HitRebooked():  # an earlier claim that fell changes the share of a later one
                on_disk.hits[decision.hit] = decision.fixed + decision.share
            case StateChanged() if decision.what.startswith("hit ") and decision.state not in mc.HIT_OPEN:
                on_disk.hits.pop(int(decision.what[4:]), None)  # one that was paid and taken back is gone already
    return on_disk


class PowerCutTable(CasinoTable):
    """A table whose players win, and which is looked at when its box shows itself again after a cut.

    `before` is what was on disk then. At that moment nobody can have answered anything: all that is missing was lost.
    """

    def __init__(self, *where: Any, seed: int, **more: Any) -> None:
        self.before = ShownBeforeCut(set(), {})
        self.on_claim: Callable[[], None] | None = None  # what happens when a claim is shown
        self.not_shown: list[str] = []
        super().__init__(*where, seed=seed, **more)
        if self.controller.table.context.has_progressive:
            self.people = WinningPlayers(self, seed)

    def _stepped(self, event: ev.Event, decisions: list[Decision]) -> None:
        if isinstance(event, ev.BoxStarted):
            self._still_shown()
        super()._stepped(event, decisions)
        if self.on_claim is not None and any(isinstance(decision, HitClaimed) for decision in decisions):
            self.on_claim()

    def _still_shown(self) -> None:
        """What was shown before the cut is shown, and locks, after it; what was claimed is pending, exactly."""
        table = self.controller.table
        now = {(hold.id, hold.trigger) for hold in table.state.holds.values()}
        if self.before.holds - now:
            self.not_shown.append(f"shown before the cut, not after it: {self.before.holds - now}")
        if now and not table.permit("open_bets"):
            self.not_shown.append("an irregularity is shown and does not lock")
        money = table.state.money
        open_ = {hit.id: hit.amount for hit in money.hits.values() if hit.state in mc.HIT_OPEN}
        if open_ != self.before.hits or money.book.meters.pending != sum(self.before.hits.values()):
            self.not_shown.append(f"pending before the cut {self.before.hits}, after it {open_}")


class LightWatch:
    """Checks each accepted-bet light as it goes on: its bet must be on disk by then."""

    def __init__(self, house: CasinoTable) -> None:
        self.house = house
        self.lit: list[tuple[int, int]] = []
        self.unwritten: list[tuple[int, int]] = []
        for slot, machine in house.machines.items():
            if slot.startswith("bet_sensor."):
                self._watch(int(slot.rpartition(".")[2]), machine)

    def _watch(self, seat: int, machine: Any) -> None:
        burn: Callable[[Light], None] = machine.spot.switch_light

        def watched(light: Light) -> None:
            latch = machine.firmware.memory.latch
            if light is Light.ACCEPTED and machine.spot.light is not Light.ACCEPTED:
                self._light(latch.round, seat)
            burn(light)

        machine.spot.switch_light = watched

    def _light(self, number: int, seat: int) -> None:
        self.lit.append((number, seat))
        on_disk = [d for d in decided(self.house.disk.records[-400:]) if isinstance(d, BetAccepted)]
        if (number, seat) not in [(bet.round, bet.seat) for bet in on_disk]:
            self.unwritten.append((number, seat))


def choices_of(game: str, seed: int) -> dict[str, Any]:
    """The non-default choices of the certificate holder: by seed, one of a game's progressive tables.

    Where the usual table has none, every other one has.
    """
    tables = [name for name, (of, _) in PROGRESSIVES.items() if of == game]
    if not tables or (seed % 2 == 0 and "progressive" not in default_choices(game).get("wagers", ())):
        return {}
    return choices(tables[seed // 2 % len(tables)])


def cut_at_random_point(house: PowerCutTable, rng: Random) -> None:
    """Have the power go at one of the next points: a write or a sync of the disk, before or after a write to a wire."""
    house.disk.cut_at = house.mains.cut_at = house.on_claim = None
    ahead = rng.randrange(1, AHEAD)
    if rng.random() < 0.5:
        house.disk.cut_at = house.disk.points + ahead
    else:
        house.mains.cut_at, house.mains.before = house.mains.writes + ahead, rng.random() < 0.5


def cut_at_next_claim(house: PowerCutTable, rng: Random) -> None:
    """Have the power go at the next claim, before it is paid."""

    def claimed() -> None:
        house.on_claim, house.disk.cut_at = None, house.disk.points + rng.randrange(1, UNTIL_PAID)

    house.disk.cut_at = house.mains.cut_at = None
    house.on_claim = claimed


async def cut_and_compare(game: str, seed: int, cuts: int, *, snapshot_every: int = 120) -> Counter[str]:
    """Play a table whose box loses power again and again, then compare with the truth. Returns what was seen."""
    try:
        return await _cut_and_compare(game, seed, cuts, snapshot_every=snapshot_every)
    except Exception as failed:
        repeat = f"python -m tests.support.box.power_cuts {game} {seed} {cuts} {snapshot_every}"
        raise AssertionError(f"{game}, seed {seed}: {failed}; repeat: {repeat}") from failed


async def _cut_and_compare(game: str, seed: int, cuts: int, *, snapshot_every: int) -> Counter[str]:
    rng, seen = Random(seed), Counter[str]()
    house = PowerCutTable(
        game, seed=seed, disk=Disk(seed), snapshot_every=snapshot_every, choices=choices_of(game, seed),
        models=keypad_and_sign(game) if seed % 2 == 0 else None,
    )  # fmt: skip
    watch = LightWatch(house)
    try:
        await house.open("blue", "red")
        progressive = house.controller.table.context.has_progressive
        while seen["cuts"] < cuts:
            if progressive and rng.random() < POUNCE:
                cut_at_next_claim(house, rng)
            else:
                cut_at_random_point(house, rng)
            bets = tuple(seat for seat in BETTORS if rng.random() < 0.7) if progressive else ()
            await house.round(bets)
            while house.is_box_down:
                seen["cuts"] += 1
                seen[_phase(house)] += 1
                house.before = shown(house.disk.records)
                seen["with a hit open"] += bool(house.before.hits)
                if rng.random() < 0.2:  # and once more, while it starts
                    house.disk.cut_at = house.disk.points + rng.randrange(1, 12)
                await house.power_up()
                await house.until_quiescent()
                if house.mains.is_on and house.controller.table.state.round.state == mc.BETTING:
                    await house.round()
            await new_decks(house)
        house.disk.cut_at = house.mains.cut_at = house.on_claim = None
        await house.round(BETTORS if progressive else ())
        store = house.box.store
        assert store is not None
        verdict = store.verify()
        assert verdict.ok, verdict
        compare(house, watch, house.disk.records)
        seen["rounds"] = house.controller.table.state.round.number
        seen["bets"] = sum(isinstance(d, BetAccepted) for d in decided(house.disk.records))
        if isinstance(house.people, WinningPlayers):
            seen["hits"] = len(house.people.paid)
        return seen
    finally:
        await house.close()


def _phase(house: CasinoTable) -> str:
    return f"in {house.controller.table.state.round.state}"


async def new_decks(house: CasinoTable) -> None:
    """Bring a deck for each that was removed: a table without cards shows nothing more."""
    at_table = [deck for deck in house.controller.table.state.decks.values() if deck.state != mc.REMOVED]
    for back in ("green", "violet", "orange", "grey", "white", "black"):
        if len(at_table) >= 2 or house.is_box_down:
            return
        if back not in house.controller.table.state.decks:
            await house.bring_deck(back)
            at_table = [deck for deck in house.controller.table.state.decks.values() if deck.state != mc.REMOVED]


def compare(house: PowerCutTable, watch: LightWatch, records: list[Record]) -> None:
    """Everything: cards, chips, what was shown and what was won."""
    assert not watch.unwritten, f"lit before they were on disk: {watch.unwritten}"
    assert not house.not_shown, house.not_shown
    compare_bets(house, watch, records)
    if house.controller.table.context.has_progressive:
        _hits(house, records)


def compare_bets(house: CasinoTable, watch: LightWatch, records: list[Record]) -> None:
    """The truth: chips in tray and hands, lights, latches, cards; against the journal, from its first record.

    And every account must equal the reference ledger's.
    """
    _same_when_replayed(house, records)
    state = house.controller.table.state
    assert state.round.state == mc.IDLE, f"the table was not led on: {state.round.state} {state.prompts}"
    assert all(whole for _, _, whole in house.dealt_rounds), "a round was dealt from a deck that was not whole"
    ids = [d.id for d in decided(records) if isinstance(d, Command) and d.act != "lock"]
    assert len(ids) == len(set(ids)), "a command's number was used twice"
    twice = [d for d in decided(records) if isinstance(d, Finding) and d.kind == "told_twice"]
    assert not twice, f"an honest device was taken for one that tells twice: {twice}"
    if house.controller.table.context.has_progressive:
        _bets(house, watch, decided(records))
        _accounts(house, records)


def _same_when_replayed(house: CasinoTable, records: list[Record]) -> None:
    """From the first record on, without any snapshot: the same decisions, and the state that the box has."""
    kinds: Any = {slot: machine.kind for slot, machine in house.machines.items()}
    table = Table(house.edition, house.submission, kinds)
    for step in steps(records):
        assert table.step(step.event) == step.decisions
    assert table.snapshot() == house.controller.table.snapshot()


def _bets(house: CasinoTable, watch: LightWatch, decisions: list[Decision]) -> None:
    accepted = Counter((d.round, d.seat) for d in decisions if isinstance(d, BetAccepted))
    returned = Counter((d.round, d.seat) for d in decisions if isinstance(d, BetReturned))
    doubled = [bet for bet, times in accepted.items() if times > 1 + returned[bet]]
    assert not doubled, f"counted twice: {doubled}"
    kept = accepted - returned
    # Chips: what people collected and did not give back is what was accepted and not returned, round by round.
    collected = Counter(
        (number, int(slot.rpartition(".")[2])) for number, chips in house.people.collected.items() for _, slot in chips
    )
    assert kept == collected, f"bets and chips differ: {kept - collected} without chip, {collected - kept} without bet"
    assert set(watch.lit) <= set(accepted), "a light burned for a bet that was never accepted"
    assert len(house.chips.at(TRAY)) == kept.total(), "the tray holds other chips than bets"
    assert not [slot for slot in house.slots if house.chips.at(f"{slot}/spot")], "a chip was left on a spot"
    voided = {d.round for d in decisions if isinstance(d, BetReturned)}
    latched = {
        (latch.round, int(slot.rpartition(".")[2]))
        for slot, machine in house.machines.items()
        if slot.startswith("bet_sensor.")
        for latch, lying in machine.latched  # type: ignore[attr-defined]
        if lying == 1
    }
    finished = _finished(decisions)
    lost = {bet for bet in latched if bet[0] in finished - voided} - set(kept)
    assert not lost, f"latched with a chip in a round that was played, and never accepted: {lost}"


def _accounts(house: CasinoTable, records: list[Record]) -> None:
    """Every account, and the four meters of 605a.7, to the micro-dollar."""
    rules, book = house.controller.table.context.meter, house.controller.table.state.money.book
    assert rules is not None
    if book.entries:
        oracle = JournalMoneyOracle(rules).apply_journal(steps(records))
        accounts = oracle.accounts()
        assert {account: book.balance(account) for account in ACCOUNTS} == accounts
        assert sum(book.held.values()) == 0
        by_table = accounts[ENVY] + sum(paid.amount for paid in oracle.paid.values() if paid.method == "table")
        by_hand = sum(paid.amount for paid in oracle.paid.values() if paid.method == "hand")
        meters, expected = book.meters, (accounts[METER], by_table, by_hand, by_table + by_hand)
        assert (meters.current, meters.paid_by_table, meters.paid_by_attendant, meters.cumulative) == expected
        assert meters.pending == 0


def _hits(house: PowerCutTable, records: list[Record]) -> None:
    """What was paid, once each, is what was won and what people handed out."""
    people, rules = house.people, house.controller.table.context.meter
    assert isinstance(people, WinningPlayers)
    assert rules is not None
    oracle = JournalMoneyOracle(rules).apply_journal(steps(records))
    assert not people.paid_twice, f"paid in two amounts: {people.paid_twice}"
    assert oracle.paid == people.paid, f"booked {oracle.paid}, handed out {people.paid}"
    assert oracle.envy == people.envy, f"envy booked {oracle.envy}, handed out {people.envy}"
    won = {(number, seat): people.hand_of(number, seat) for number, seat in kept_bets(decided(records))}
    assert {key: paid.hand for key, paid in oracle.paid.items()} == {k: h for k, h in won.items() if h != NO_WIN}


def kept_bets(decisions: list[Decision]) -> Counter[tuple[int, int]]:
    """Return the bets that were accepted and not returned, by round and seat."""
    accepted = Counter((d.round, d.seat) for d in decisions if isinstance(d, BetAccepted))
    return accepted - Counter((d.round, d.seat) for d in decisions if isinstance(d, BetReturned))


def _finished(decisions: list[Decision]) -> set[int]:
    """Return the numbers of the rounds that were played to their end."""
    finished, number = set(), 0
    for decision in decisions:
        if isinstance(decision, StateChanged) and decision.what == "round":
            number += decision.state == mc.BETTING
            if decision.state == mc.COMPLETE:
                finished.add(number)
    return finished


if __name__ == "__main__":
    every = int(sys.argv[4]) if len(sys.argv) > 4 else 120
    print(run_virtual(_cut_and_compare(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), snapshot_every=every)))
