"""Measures how well drift predicts jams, on seeded histories of simulated machines, against a simple threshold.

python -m tools.studies.drift_figures             print the table of the report seeds
python -m tools.studies.drift_figures --fit       print limits fitted on the fitting seeds, which the report never uses
python -m tools.studies.drift_figures --write     write the table into docs/history.md
"""

from __future__ import annotations

import argparse
import sys
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from simulators.engine.device_clock import DeviceClock
from simulators.engine.virtual_time import run_virtual
from simulators.world.aging import KINDS, LAYOUTS, AgingEnd, AgingPlan, draw_plan, make_aging_machine
from simulators.world.cards import World
from table_controller.diagnosis.drift import DEFAULT, Limits, TrendLine, Wear, add_sample, trend_lines, warning_for
from table_controller.maintenance.wear import wear_reading
from tools import ROOT
from tools.docs.markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterable

PAGE: Final = ROOT / "docs/history.md"
BEGIN: Final = "<!-- measured: drift -->"
END: Final = "<!-- end measured -->"
# Seeds of each kind. The report never uses the fitting seeds.
FIT: Final = range(30)
REPORT: Final = range(2_000, 2_025)
# A warning fewer cards before the end than this comes too late: the deck is already in the machine.
EARLY: Final = 53
WORDS: Final = {
    "healthy": "healthy, no jam",
    "slow_wear": "slow wear",
    "fast_wear": "fast wear",
    "dust": "dust",
    "sudden": "sudden jam, no drift",
}


class WindowReading(NamedTuple):
    """What the box knows after one window: card number, trends, and the values for a simple threshold."""

    cards: int
    lines: list[TrendLine]
    slowest: list[int]  # by segment: ppm over its base, without correction
    margins: list[int | None]


class MachineHistory(NamedTuple):
    """One machine's life as the box recorded it."""

    machine: str
    ahead: AgingPlan
    end: AgingEnd
    seen: list[WindowReading]

    @property
    def ages(self) -> bool:
        """Whether a gradual cause ended it."""
        return self.ahead.kind in ("slow_wear", "fast_wear", "dust")

    def rightly(self, cards: int, *, sensor: bool, part: int) -> bool:
        """Whether a warning names the part that really ages."""
        right = self.end.sensor if self.ahead.kind == "dust" else self.end.segment
        about = sensor is (self.ahead.kind == "dust") and part == right
        return self.ages and about and cards > self.ahead.wear_starts_card


def history(kind: str, seed: int, machine: str = "shuffler") -> MachineHistory:
    """Simulate one machine's life and record what the box sees."""
    return run_virtual(_history(kind, seed, machine))


async def _history(kind: str, seed: int, machine: str) -> MachineHistory:
    machine_life = make_aging_machine(machine, World(), DeviceClock(), Random(f"{machine} {kind} {seed} mechanics"))
    ahead = draw_plan(kind, seed, machine)
    wear = Wear(f"SIM-{seed}")
    seen: list[WindowReading] = []
    for report in machine_life.run(ahead):
        if isinstance(report, AgingEnd):
            return MachineHistory(machine, ahead, report, seen)
        before, wear = wear, add_sample(wear, wear_reading(machine, report.transits, report.levels))
        if wear.windows != before.windows and (trends := trend_lines(wear)):
            seen.append(WindowReading(report.cards, trends, _slower(wear), list(wear.windows[-1].margins)))
    raise AssertionError("a life has an end")


def _slower(wear: Wear) -> list[int]:
    bases = [sum(w.means[s] for w in wear.base) // len(wear.base) for s in range(len(wear.base[0].means))]
    return [1_000_000 * m // b - 1_000_000 if b else 0 for m, b in zip(wear.windows[-1].means, bases, strict=True)]


# --- two methods of warning -------------------------------------------------------------------------------------------


class FirstWarning(NamedTuple):
    """The first warning of one part: card, part, and the estimated cards left (None: no estimate)."""

    cards: int
    sensor: bool
    part: int
    left: int | None


class Threshold(NamedTuple):
    """A simple threshold: a window's mean is slower than its base by so many ppm, or a margin is below a level."""

    slower: int
    margin: int


def by_drift(known: MachineHistory, limits: Limits) -> list[FirstWarning]:
    """Return the first warning of every part by drift."""
    firsts: dict[tuple[bool, int], FirstWarning] = {}
    for seen in known.seen:
        for line in seen.lines:
            warned = warning_for(line, limits)
            if warned is not None:
                key = (warned.signal == "margin", warned.part)
                first = firsts.setdefault(key, FirstWarning(seen.cards, *key, warned.left))
                if first.cards == seen.cards:
                    firsts[key] = min(first, FirstWarning(seen.cards, *key, warned.left))
    return list(firsts.values())


def by_threshold(known: MachineHistory, threshold: Threshold) -> list[FirstWarning]:
    """Return the first warning of every part by a simple threshold."""
    firsts: dict[tuple[bool, int], FirstWarning] = {}
    for seen in known.seen:
        late = [(False, s) for s, ppm in enumerate(seen.slowest) if ppm > threshold.slower]
        dim = [(True, s) for s, margin in enumerate(seen.margins) if margin is not None and margin < threshold.margin]
        for key in late + dim:
            firsts.setdefault(key, FirstWarning(seen.cards, *key, None))
    return list(firsts.values())


class Score(msgspec.Struct):
    """The result of one method of warning."""

    histories: int = 0
    jams: int = 0
    announced: int = 0
    false: int = 0
    early: list[int] = []
    left: list[tuple[int, int]] = []  # estimated, true

    def add(self, known: MachineHistory, warned: Iterable[FirstWarning]) -> None:
        """Count one history."""
        self.histories += 1
        self.jams += known.end.segment is not None or known.end.sensor is not None
        right = [w for w in warned if known.rightly(w.cards, sensor=w.sensor, part=w.part)]
        self.false += sum(1 for w in warned if w not in right)
        in_time = [w for w in right if known.end.cards - w.cards >= EARLY]
        if in_time:
            first = min(in_time)
            self.announced += 1
            self.early.append(known.end.cards - first.cards)
            if first.left is not None:
                self.left.append((first.left, known.end.cards - first.cards))


# --- fitting ----------------------------------------------------------------------------------------------------------


def fit_threshold(known: list[MachineHistory]) -> Threshold:
    """Return the lowest threshold that gives no false alarm on these histories."""
    slower, margin = 0, 10_000
    for each in known:
        for seen in each.seen:
            for s, ppm in enumerate(seen.slowest):
                if not each.rightly(seen.cards, sensor=False, part=s):
                    slower = max(slower, ppm)
            for s, level in enumerate(seen.margins):
                if level is not None and not each.rightly(seen.cards, sensor=True, part=s):
                    margin = min(margin, level)
    return Threshold(slower, margin)


def _slim(known: MachineHistory) -> MachineHistory:
    """Drop the lines that no limits of the fit would warn about."""
    seen = [
        each._replace(lines=[line for line in each.lines if line.trend.sure >= 3 or line.trend.now >= 100_000])
        for each in known.seen
    ]
    return known._replace(seen=seen)


def fit(known: list[MachineHistory]) -> Limits:
    """Return the limits that predict most jams without a false alarm, then earliest; one limit at a time."""
    known = [_slim(each) for each in known]
    best = Limits()
    choices: dict[str, list[int]] = {
        "sure": [4, 5, 6, 7, 8, 9, 10],
        "least": [8_000, 12_000, 16_000, 20_000, 25_000, 30_000, 40_000, 50_000, 60_000],
        "least_spread": [30_000, 40_000, 60_000, 80_000, 120_000, 160_000, 200_000],
        "least_margin": [10, 15, 20, 30, 40, 60, 80],
        "transit": [120_000, 150_000, 200_000, 250_000, 300_000, 400_000],
        "spread": [150_000, 200_000, 250_000, 300_000, 400_000, 500_000],
        "horizon": [2_000, 3_000, 4_000, 6_000],
    }
    for _ in range(3):
        for name, values in choices.items():
            tried = [msgspec.structs.replace(best, **{name: value}) for value in values]
            best = max(tried, key=lambda limits: _worth(known, limits))
    return best


def _worth(known: list[MachineHistory], limits: Limits) -> tuple[Any, ...]:
    """Score limits; false alarms are counted with limits a fifth laxer, as a margin for unseen machines."""
    laxer = msgspec.structs.replace(
        limits, sure=limits.sure - 1, least=limits.least * 4 // 5, least_spread=limits.least_spread * 4 // 5,
        least_margin=limits.least_margin * 4 // 5, horizon=limits.horizon * 6 // 5,
    )  # fmt: skip
    lax, score = Score(), Score()
    for each in known:
        lax.add(each, by_drift(each, laxer))
        score.add(each, by_drift(each, limits))
    off = sum(min(1_000, 100 * max(estimated, true) // max(1, min(estimated, true))) for estimated, true in score.left)
    return -lax.false, score.announced, -(off // max(1, len(score.left))), sum(score.early)


# --- the table --------------------------------------------------------------------------------------------------------


def _tenths(values: list[int]) -> str:
    if not values:
        return ""
    ordered = sorted(values)
    return " / ".join(f"{ordered[min(len(ordered) - 1, len(ordered) * n // 10)]:,}" for n in (1, 5, 9))


class FigureRow(NamedTuple):
    """One row of the table: machine, kind of life, and the results of drift and of the simple threshold."""

    machine: str
    kind: str
    ours: Score
    plain: Score


def figures(seeds: Iterable[int], plain: dict[str, Threshold], limits: Limits = DEFAULT) -> list[FigureRow]:
    """Return the results by machine and kind of life."""
    rows = []
    for machine, kind in ((machine, kind) for machine in LAYOUTS for kind in KINDS):
        row = FigureRow(machine, kind, Score(), Score())
        for seed in seeds:
            known = history(kind, seed, machine)
            row.ours.add(known, by_drift(known, limits))
            row.plain.add(known, by_threshold(known, plain[machine]))
        rows.append(row)
    return rows


def written(rows: list[FigureRow]) -> str:
    """Return the table for the page."""
    heads = (
        "machine", "history", "machines", "jams", "announced", "cards before (10 % / 50 % / 90 %)",
        "estimate / truth (same)",
        "false alarms", "announced by threshold", "cards before", "its false alarms",
    )  # fmt: skip
    lines_ = []
    for machine, kind, ours, plain in rows:
        ratios = [100 * estimated // true for estimated, true in ours.left]
        lines_.append([
            machine, WORDS[kind], str(ours.histories), str(ours.jams), str(ours.announced), _tenths(ours.early),
            _tenths(ratios) and _tenths(ratios) + " %", str(ours.false), str(plain.announced), _tenths(plain.early),
            str(plain.false),
        ])  # fmt: skip
    return table(heads, *lines_)


# The result of `--fit` for the simple threshold; the limits of drift are in the drift module.
PLAIN: Final = {"shuffler": Threshold(177_289, 306), "shoe": Threshold(142_598, 325)}


def main(words: list[str] | None = None) -> int:
    """Measure and print; with --write, write the table into the page."""
    parser = argparse.ArgumentParser(prog="drift_figures", description=__doc__.partition("\n")[0])
    parser.add_argument("--fit", action="store_true", help="fit the limits, print them and end")
    parser.add_argument("--write", action="store_true", help="write the table into docs/history.md")
    args = parser.parse_args(words)
    if args.fit:
        known = [history(kind, seed, machine) for machine in LAYOUTS for kind in KINDS for seed in FIT]
        print(fit(known))
        for machine in LAYOUTS:
            print(machine, fit_threshold([each for each in known if each.machine == machine]))
        return 0
    text = written(figures(REPORT, PLAIN))
    print(text)
    if args.write:
        page = PAGE.read_text("utf-8")
        before, _, tail = page.partition(BEGIN)
        _, _, after = tail.partition(END)
        PAGE.write_text(f"{before}{BEGIN}\n\n{text.strip()}\n\n{END}{after}", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
