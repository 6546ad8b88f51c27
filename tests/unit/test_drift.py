"""Drift: exact windows and trends, common effects removed, warnings; and the figures on a few seeded histories."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulators.world.aging import KINDS, LAYOUTS, draw_plan
from table_controller.diagnosis import drift
from table_controller.diagnosis.drift import (
    Limits,
    PathSample,
    SegmentSample,
    Wear,
    add_sample,
    judge,
    restart_after_repair,
    trend,
)
from tools.studies import drift_figures
from tools.studies.drift_figures import FIT, PLAIN, REPORT, figures, history, written


class MachineStatistics:
    """A machine's statistics, summed as firmware does."""

    def __init__(self, segments: int = 5, boot: int = 0) -> None:
        self.cards = 0
        self.boot = boot
        self._sums = [0] * segments
        self._squares = [0] * segments

    def deck(self, times: list[list[int]]) -> None:
        for card in times:
            self.cards += 1
            for segment, micros in enumerate(card):
                self._sums[segment] += micros
                self._squares[segment] += micros * micros

    def look(self, margins: tuple[int | None, ...] = (400, 400)) -> PathSample:
        reported = []
        for total, squares in zip(self._sums, self._squares, strict=True):
            mean = total // self.cards
            reported.append(SegmentSample(self.cards, mean, int((squares / self.cards - mean * mean) ** 0.5)))
        return PathSample(tuple(reported), margins, self.boot)


def run(
    wear: Wear, reported: MachineStatistics, decks: int, slower: dict[int, float], rng: Random, *, all_by: float = 1.0
) -> Wear:
    for _ in range(decks):
        reported.deck([[round(60_000 * all_by * slower.get(s, 1.0) * rng.gauss(1, 0.03)) for s in range(5)]
                   for _ in range(53)])  # fmt: skip
        wear = add_sample(wear, reported.look())
    return wear


def test_windows_have_the_mean_and_the_variance_of_their_own_cards_only() -> None:
    machine, wear = MachineStatistics(1), Wear("SN1")
    machine.deck([[50_000]] * 100)
    wear = add_sample(wear, machine.look())
    assert wear.windows == ()  # cards before the first look begin no window
    machine.deck([[60_000], [64_000]] * 106)
    wear = add_sample(wear, machine.look())
    (window,) = wear.windows
    assert window.at == 212
    assert abs(window.means[0] - 62_000) <= 2
    assert 1_800**2 < window.variances[0] < 2_200**2
    machine.deck([[60_000]] * 211)
    waiting = add_sample(wear, machine.look())  # too few for a window yet
    assert (waiting.windows, waiting.last, waiting.light) == (wear.windows, wear.last, ((400, 1), (400, 1)))
    machine.deck([[60_000]])
    assert add_sample(waiting, machine.look((300, None))).windows[-1].margins == (350, 400), (
        "the mean of the reported times"
    )


def test_a_machine_that_was_switched_off_goes_on_where_its_history_was() -> None:
    machine = MachineStatistics(1)
    machine.deck([[60_000]] * 212)
    wear = add_sample(add_sample(Wear("SN1"), PathSample((SegmentSample(0, 0, 0),), (400, 400))), machine.look())
    again = MachineStatistics(1, boot=9)  # as many cards as before: only the boot number shows that they are others
    again.deck([[70_000]] * 212)
    wear = add_sample(wear, again.look())
    assert [window.at for window in wear.windows] == [212, 424]
    assert wear.windows[1].means == (70_000,)


def test_what_all_segments_do_is_no_drift_and_what_one_does_alone_is() -> None:
    rng = Random(4)
    wear, machine = run(Wear("SN1"), MachineStatistics(), 40, {}, rng), MachineStatistics()
    weather = wear
    for step in range(1, 40):
        weather = run(weather, machine, 2, {}, rng, all_by=1 + step / 100)
    assert judge(weather) == []
    machine = MachineStatistics()
    worn = wear
    for step in range(1, 40):
        worn = run(worn, machine, 2, {2: 1 + step / 100}, rng, all_by=1 + step / 200)
        if result := judge(worn):
            break
    assert [(each.signal, each.part) for each in result] == [("transit", 2)]
    assert 0 < result[0].fewest <= result[0].left <= Limits().horizon
    assert judge(restart_after_repair(worn)) == []


def test_a_falling_margin_is_reported_with_the_cards_that_are_left() -> None:
    rng = Random(5)
    machine, wear = MachineStatistics(), Wear("SN1")
    for deck in range(120):
        machine.deck([[round(60_000 * rng.gauss(1, 0.03)) for _ in range(5)] for _ in range(53)])
        margin = 400 - max(0, deck - 40) * 4  # four levels a deck: blind 100 decks later
        wear = add_sample(wear, machine.look((400, margin, None)))
        if result := judge(wear):
            break
    (warned,) = result
    assert (warned.signal, warned.part) == ("margin", 1)
    truth = (140 - deck) * 53
    assert truth * 0.7 < warned.left < truth * 1.5


def test_a_history_does_not_grow_for_ever() -> None:
    machine, wear = MachineStatistics(1), add_sample(Wear("SN1"), PathSample((SegmentSample(0, 0, 0),), ()))
    for _ in range(drift.MAX_WINDOWS + 20):
        machine.deck([[60_000]] * 1_000)
        wear = add_sample(wear, PathSample(machine.look().segments, ()))
    assert len(wear.windows) == drift.MAX_WINDOWS
    assert len(wear.base) == drift.BASE_WINDOWS


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(-(10**6), 10**6)), min_size=5, max_size=12))
def test_a_trend_is_the_least_squares_line(points: list[tuple[int, int]]) -> None:
    points = sorted(dict(points).items())
    result = trend(points)
    if len(points) < 5:
        assert result is None
        return
    assert result is not None
    n, end = len(points), points[-1][0]
    mx, my = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    slope = sum((x - mx) * (y - my) for x, y in points) / sum((x - mx) ** 2 for x, _ in points)
    assert result.rise == pytest.approx(slope * drift.PPM, rel=1e-6, abs=2)
    assert result.now == pytest.approx(my + slope * (end - mx), rel=1e-6, abs=2)
    assert result.most >= result.rise
    assert (result.sure > 0) <= (slope > 0)


# --- figures ----------------------------------------------------------------------------------------------------------


def test_a_life_is_its_seeds_and_no_seed_is_both_fitted_and_reported() -> None:
    assert not set(FIT) & set(REPORT)
    assert len(REPORT) * len(KINDS) * len(LAYOUTS) >= 200
    for kind in KINDS:
        assert draw_plan(kind, 3) == draw_plan(kind, 3)
        assert draw_plan(kind, 3) != draw_plan(kind, 4)
        assert draw_plan(kind, 3) != draw_plan(kind, 3, "shoe")
    assert history("fast_wear", 5).end == history("fast_wear", 5).end


def test_on_a_few_histories_jams_that_come_slowly_are_announced_and_nothing_else_is() -> None:
    rows = figures(range(4), PLAIN)
    for row in rows:
        assert row.ours.false == 0, row
        if row.kind in ("slow_wear", "fast_wear", "dust"):
            assert row.ours.jams == 4
            assert row.ours.announced >= 3, row
        if row.kind == "sudden":
            assert row.ours.announced == 0
        if row.kind == "healthy":
            assert row.ours.jams == 0
    assert {row.machine for row in rows} == {"shuffler", "shoe"}
    assert "| shoe | slow wear | 4 | 4 | " in written(rows)


@pytest.mark.proof
@pytest.mark.timeout(600)
def test_the_page_has_the_figures_of_the_report_seeds() -> None:
    rows = figures(REPORT, PLAIN)
    text = written(rows)
    print(text)
    assert text in drift_figures.PAGE.read_text("utf-8"), "run: python -m tools.studies.drift_figures --write"
    slow = [(row.ours, row.plain) for row in rows if row.kind in ("slow_wear", "fast_wear", "dust")]
    announced, jams = sum(ours.announced for ours, _ in slow), sum(ours.jams for ours, _ in slow)
    assert announced * 100 >= jams * 95
    assert announced >= sum(plain.announced for _, plain in slow)
    assert sum(row.ours.false for row in rows) * 100 <= sum(row.ours.histories for row in rows)
