"""Power cuts of the box at a whole simulated table, and the comparison with the truth afterwards. No tests here."""

from __future__ import annotations

import sys
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

from devices.bet_sensor.messages import Light
from simulators.house.disk import Disk
from simulators.house.table import House
from simulators.virtual_time import run_virtual
from simulators.world.chips import TRAY
from table_controller.journal import records as rec
from table_controller.table import machines as mc
from table_controller.table.core import Table
from table_controller.table.decisions import BetAccepted, BetReturned, Found, Moved

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.journal.chain import Record
    from table_controller.table.decisions import Decision

BETTORS = (1, 2, 4, 6)
# So many points ahead at most is the next cut: about as many as a round has.
AHEAD = 220


def steps(records: list[Record]) -> list[rec.Step]:
    """Return what the steps on disk say."""
    return [rec.decode_step(record.body) for record in records if record.kind == rec.STEP]


def decided(records: list[Record]) -> list[Decision]:
    """Return every decision on disk, in order."""
    return [decision for step in steps(records) for decision in step.decisions]


class Watch:
    """Looks at every accepted light as it goes on: the bet that it stands for must be on disk by then."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.lit: list[tuple[int, int]] = []
        self.unwritten: list[tuple[int, int]] = []
        for slot, machine in house.machines.items():
            if slot.startswith("bet_sensor."):
                self._watch(int(slot.rpartition(".")[2]), machine)

    def _watch(self, seat: int, machine: Any) -> None:
        burn: Callable[[Light], None] = machine.spot.burn

        def watched(light: Light) -> None:
            latch = machine.twin.memory.latch
            if light is Light.ACCEPTED and machine.spot.light is not Light.ACCEPTED:
                self._light(latch.round, seat)
            burn(light)

        machine.spot.burn = watched

    def _light(self, number: int, seat: int) -> None:
        self.lit.append((number, seat))
        on_disk = [d for d in decided(self.house.disk.records[-400:]) if isinstance(d, BetAccepted)]
        if (number, seat) not in [(bet.round, bet.seat) for bet in on_disk]:
            self.unwritten.append((number, seat))


def aim(house: House, rng: Random) -> None:
    """Have the power go at one of the next points: a write or a sync of the disk, before or after a write to a wire."""
    house.disk.cut_at = house.mains.cut_at = None
    ahead = rng.randrange(1, AHEAD)
    if rng.random() < 0.5:
        house.disk.cut_at = house.disk.points + ahead
    else:
        house.mains.cut_at, house.mains.before = house.mains.writes + ahead, rng.random() < 0.5


async def cut_and_compare(game: str, seed: int, cuts: int) -> Counter[str]:
    """Play a table whose box loses power again and again, then compare with the truth. Returns what was seen."""
    try:
        return await _cut_and_compare(game, seed, cuts)
    except Exception as failed:
        repeat = f"python -m tests.support.power_cuts {game} {seed} {cuts}"
        raise AssertionError(f"{game}, seed {seed}: {failed}; repeat: {repeat}") from failed


async def _cut_and_compare(game: str, seed: int, cuts: int, *, snapshot_every: int = 120) -> Counter[str]:
    rng, seen = Random(seed), Counter[str]()
    house = House(game, seed=seed, disk=Disk(seed), snapshot_every=snapshot_every)
    watch = Watch(house)
    try:
        await house.open("blue", "red")
        progressive = house.controller.table.context.progressive
        while seen["cuts"] < cuts:
            aim(house, rng)
            bets = tuple(seat for seat in BETTORS if rng.random() < 0.7) if progressive else ()
            await house.round(bets)
            while house.dark:
                seen["cuts"] += 1
                seen[_phase(house)] += 1
                before = shown(house)
                if rng.random() < 0.2:  # and once more, while it starts
                    house.disk.cut_at = house.disk.points + rng.randrange(1, 12)
                await house.power_up()
                still_shown(house, before)
                await house.rest()
                if house.box.powered and house.controller.table.state.round.state == mc.BETTING:
                    await house.round()
            await new_decks(house)
        house.disk.cut_at = house.mains.cut_at = None
        await house.round(BETTORS if progressive else ())
        verdict = house.box.store.verify()
        assert verdict.ok, verdict
        compare(house, watch, house.disk.records)
        seen["rounds"] = house.controller.table.state.round.number
        seen["bets"] = sum(isinstance(d, BetAccepted) for d in decided(house.disk.records))
        return seen
    finally:
        await house.close()


def _phase(house: House) -> str:
    return f"in {house.controller.table.state.round.state}"


async def new_decks(house: House) -> None:
    """Bring a deck for each that was removed: a table without cards shows nothing more."""
    at_table = [deck for deck in house.controller.table.state.decks.values() if deck.state != mc.REMOVED]
    for back in ("green", "violet", "orange", "grey", "white", "black"):
        if len(at_table) >= 2 or house.dark:
            return
        if back not in house.controller.table.state.decks:
            await house.bring(back)
            at_table = [deck for deck in house.controller.table.state.decks.values() if deck.state != mc.REMOVED]


def shown(house: House) -> set[tuple[int, str]]:
    """Return the irregularities that were on disk, and so shown, when the power went."""
    open_: dict[int, str] = {}
    for decision in decided(house.disk.records):
        if isinstance(decision, Found):
            open_[decision.hold] = decision.trigger
        elif type(decision).__name__ == "Cleared":
            open_.pop(decision.hold, None)  # type: ignore[attr-defined]
    return set(open_.items())


def still_shown(house: House, before: set[tuple[int, str]]) -> None:
    """What was shown before the cut is shown, and locks, after it."""
    state = house.controller.table.state
    now = {(hold.id, hold.trigger) for hold in state.holds.values()}
    cleared = {(hold, trigger) for hold, trigger in before - now}
    gone = {d.hold for d in decided(house.disk.records) if type(d).__name__ == "Cleared"}  # type: ignore[attr-defined]
    assert all(hold in gone for hold, _ in cleared), f"shown before the cut, not after it: {cleared}"
    if now:
        assert house.controller.table.permit("open_bets"), "an irregularity is shown and does not lock"


def compare(house: House, watch: Watch, records: list[Record]) -> None:
    """The truth: chips in tray and hands, lights, latches, cards; against the journal, from its first record."""
    _same_when_replayed(house, records)
    state = house.controller.table.state
    assert state.round.state == mc.IDLE, f"the table was not led on: {state.round.state} {state.prompts}"
    assert all(whole for _, _, whole in house.dealt_rounds), "a round was dealt from a deck that was not whole"
    ids = [d.id for d in decided(records) if type(d).__name__ == "Command" and d.act != "lock"]  # type: ignore[attr-defined]
    assert len(ids) == len(set(ids)), "a command's number was used twice"
    if house.controller.table.context.progressive:
        _bets(house, watch, decided(records))


def _same_when_replayed(house: House, records: list[Record]) -> None:
    """From the first record on, without any snapshot: the same decisions, and the state that the box has."""
    kinds: Any = {slot: machine.kind for slot, machine in house.machines.items()}
    table = Table(house.edition, house.submission, kinds)
    for step in steps(records):
        assert table.step(step.event) == step.decisions
    assert table.snapshot() == house.controller.table.snapshot()


def _bets(house: House, watch: Watch, told: list[Decision]) -> None:
    accepted = Counter((d.round, d.seat) for d in told if isinstance(d, BetAccepted))
    returned = Counter((d.round, d.seat) for d in told if isinstance(d, BetReturned))
    doubled = [bet for bet, times in accepted.items() if times > 1 + returned[bet]]
    assert not doubled, f"counted twice: {doubled}"
    kept = accepted - returned
    # Chips: what people collected and did not give back is what was accepted and not returned, round by round.
    collected = Counter(
        (number, int(slot.rpartition(".")[2])) for number, chips in house.people.collected.items() for _, slot in chips
    )
    assert kept == collected, f"bets and chips differ: {kept - collected} without chip, {collected - kept} without bet"
    assert not watch.unwritten, f"lit before they were on disk: {watch.unwritten}"
    assert set(watch.lit) <= set(accepted), "a light burned for a bet that was never accepted"
    assert len(house.chips.at(TRAY)) == kept.total(), "the tray holds other chips than bets"
    assert not [slot for slot in house.slots if house.chips.at(f"{slot}/spot")], "a chip was left on a spot"
    # The meter, told plainly: its seed, and what each chip in the tray adds.
    rules, book = house.controller.table.context.meter, house.controller.table.state.money.book
    assert rules is not None
    if accepted:
        assert book.meters.current == rules.seed + len(house.chips.at(TRAY)) * rules.unit * rules.rate_bp // 10_000
        assert sum(book.held.values()) == 0
    voided = {d.round for d in told if isinstance(d, BetReturned)}
    latched = {
        (latch.round, int(slot.rpartition(".")[2]))
        for slot, machine in house.machines.items()
        if slot.startswith("bet_sensor.")
        for latch, lying in machine.latched  # type: ignore[attr-defined]
        if lying == 1
    }
    finished = _finished(told)
    lost = {bet for bet in latched if bet[0] in finished - voided} - set(kept)
    assert not lost, f"latched with a chip in a round that was played, and never accepted: {lost}"


def _finished(told: list[Decision]) -> set[int]:
    """Return the numbers of the rounds that were played to their end."""
    finished, number = set(), 0
    for decision in told:
        if isinstance(decision, Moved) and decision.what == "round":
            number += decision.state == mc.BETTING
            if decision.state == mc.COMPLETE:
                finished.add(number)
    return finished


if __name__ == "__main__":
    print(run_virtual(_cut_and_compare(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
