"""Measures a step of the table core: each game, with and without irregularities, against a bare `Machine` trigger.

Events are recorded beforehand at a table with ideal devices and people, and replayed from a snapshot; only the
processor time of `step` is measured. The growth of the cost is measured on tables that play many rounds.
"""

from __future__ import annotations

from time import process_time
from typing import TYPE_CHECKING, Final

from transitions import Machine

from benchmarks.budgets import BUDGETS
from benchmarks.rows import BenchmarkRow, arguments, interleave, print_table, print_verdict
from table_controller.rulebook import GAMES
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command
from tests.support.core.ideal_table import DEALER, WILD_PROGRESSIVE, IdealTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from table_controller.table.decisions import Decision

ROUNDS: Final = 20
YEAR: Final = 500_000  # rounds of one table
RECORDED: Final = 30  # rounds in a recording: several shoes where a shoe is long
GROWTH: Final = (1_000, 5_000, 20_000)
JAM: Final = 4  # of so many shuffles one jams
SHOE: Final = 20  # rounds until the cover card comes out, where a shoe serves many
REPORT: Final = 3  # in one of so many rounds somebody reports something
TRIGGERS: Final = 200  # per sample of the bare machine

# The triggers of a whole round, for the bare machine.
_ROUND_TRIGGERS: Final = (
    "open",
    "close",
    "lock",
    "find_start",
    "deal",
    "check_stub",
    "play",
    "settle",
    "finish",
    "end",
)


class BareModel:
    """A model with only a state."""

    state: str
    trigger: object


def _bare() -> BenchmarkRow:
    model = BareModel()
    Machine(
        model=model, states=list(mc.ROUND_STATES), transitions=mc.ROUND_TRANSITIONS, initial=mc.IDLE,
        auto_transitions=False, ignore_invalid_triggers=False,
    )  # fmt: skip
    triggers = [getattr(model, trigger) for trigger in _ROUND_TRIGGERS]

    def batch() -> Sequence[float]:
        start = process_time()
        for _ in range(TRIGGERS // len(triggers)):
            for fire in triggers:
                fire()
        return [(process_time() - start) / TRIGGERS]

    return BenchmarkRow("a bare Machine trigger", batch, "floor")


def table(game: str, *, trouble: bool) -> IdealTable:
    """Return an open table with every machine and six players; with `trouble`, some shuffles jam."""
    floor = IdealTable(game, **(WILD_PROGRESSIVE if game == "dj_wild" else {}))
    floor.seats, floor.bets = (1, 2, 3, 4, 5, 6), {1, 4}
    shuffles = 0

    def jam(decision: Decision) -> list[ev.Event] | None:
        nonlocal shuffles
        if not isinstance(decision, Command) or decision.act != "shuffle":
            return None
        shuffles += 1
        if shuffles % JAM:
            return None
        slot = decision.slot
        return [ev.SlotChanged(slot, "fault"), ev.ShuffleFailed(slot, 430, 7), ev.CommandEnded(decision.id, "failed")]

    if trouble:
        floor.override = jam
    return floor.start("blue", "red")


def play(floor: IdealTable, *, trouble: bool) -> None:
    """Play one round; with `trouble`, a person reports an irregularity in some rounds."""
    if floor.table.context.shuffles_per_shoe and floor.state.round.number % SHOE == SHOE - 1:
        floor.play_to(mc.DEALING)
        floor.play(ev.CoverCardOut("shoe.1", 2))
        floor.settle()
    elif trouble and floor.state.round.number % REPORT == 0:
        floor.play_to(mc.PLAYING)
        floor.play(ev.IrregularityReported("other", DEALER, seat=1))
        floor.settle()
    else:
        floor.round()


class Recording:
    """Events of some rounds, and the state before the first."""

    def __init__(self, game: str, *, trouble: bool) -> None:
        floor = table(game, trouble=trouble)
        before = floor.state.round.number
        self.table, self.snapshot = floor.table, floor.table.snapshot()
        floor.log.clear()
        for _ in range(RECORDED):
            play(floor, trouble=trouble)
        self.events = [event for event, _ in floor.log]
        self.rounds = floor.state.round.number - before
        assert self.rounds == RECORDED, f"{game}: {self.rounds} rounds were played"

    def batch(self) -> Sequence[float]:
        """Replay; return the time of one event."""
        self.table.restore(self.snapshot)
        step = self.table.step
        start = process_time()
        for event in self.events:
            step(event)
        return [(process_time() - start) / len(self.events)]


class Aged(Recording):
    """Rounds of a table that has played many rounds."""

    def __init__(self, floor: IdealTable, rounds: int) -> None:
        while floor.state.round.number < rounds - RECORDED:
            play(floor, trouble=False)
            floor.log.clear()
        self.table, self.snapshot = floor.table, floor.table.snapshot()
        while floor.state.round.number < rounds:
            play(floor, trouble=False)
        self.events = [event for event, _ in floor.log]
        floor.log.clear()
        self.after = floor.table.snapshot()


def growth(game: str, rounds: int) -> None:
    """Play a table for many rounds; measure steps at each age and print step time and state size."""
    floor = table(game, trouble=False)
    ages = [Aged(floor, age) for age in GROWTH]
    rows = [BenchmarkRow(f"{game}, {age:,} rounds old, {len(aged.after):,} B", aged.batch)
            for age, aged in zip(GROWTH, ages, strict=True)]  # fmt: skip
    interleave(rows, rounds)
    print_table("one event through step", rows, rows[:1])
    print_verdict(
        BUDGETS["core, growth"], f"{game}: {GROWTH[-1]:,} rounds old / {GROWTH[0]:,}", rows[-1].ratio(rows[0])
    )


def main() -> None:
    """Measure, print, judge."""
    rounds = arguments(
        "Steps of the table core compared with a bare Machine trigger. Ratios count; absolute figures show the size.",
        "python -m benchmarks.core --rounds 100",
        ROUNDS,
    )
    recordings = {(game, trouble): Recording(game, trouble=trouble) for game in GAMES for trouble in (False, True)}
    bare = _bare()
    rows = {
        key: BenchmarkRow(f"{key[0]}{', with irregularities' if key[1] else ''}", recording.batch)
        for key, recording in recordings.items()
    }
    interleave([bare, *rows.values()], rounds)
    print_table("one event through step", [bare, *rows.values()], [bare])
    for key, row in rows.items():
        per = len(recordings[key].events) / RECORDED
        seconds = row.percentile(0.5)
        year = YEAR * per * seconds / 60
        print(f"{row.name}: {1 / seconds:,.0f} events/s, {1 / (per * seconds):,.0f} rounds/s of {per:.0f} events")
        print_verdict(BUDGETS["core, year"], f"{row.name}: steps of {YEAR:,} rounds on one core", year)
    for row in rows.values():
        print_verdict(BUDGETS["core"], f"{row.name} / bare trigger", row.ratio(bare))
    for game in GAMES:
        growth(game, rounds)


if __name__ == "__main__":
    main()
