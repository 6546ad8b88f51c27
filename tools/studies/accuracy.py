"""Measures the diagnosis: diagnoses every mechanical fault of the simulators and compares with the truth.

python -m tools.studies.accuracy              print the figures for the report seeds, which no threshold was fitted on
python -m tools.studies.accuracy --fit        print the readings of the fitting seeds and the thresholds in use
python -m tools.studies.accuracy --write      write the figures into docs/diagnosis.md
python -m tools.studies.accuracy --case NAME  print one case in full: fault report, diagnosis, truth
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from table_controller.diagnosis.causes import diagnose
from table_controller.diagnosis.fault_report import encode
from table_controller.diagnosis.measurements import Measurements, Thresholds
from tools import ROOT
from tools.docs.markdown import table
from tools.studies.accuracy_cases import CAUSE, Case, CaseOutcome, cases
from tools.studies.accuracy_runs import happen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from table_controller.diagnosis.fault_report import FaultReport
    from table_controller.diagnosis.findings import Diagnosis

# Thresholds are fitted on the first seeds; the second ones are used for the report alone.
FIT: Final = range(12)
REPORT: Final = range(2100, 2112)
PAGE: Final = ROOT / "docs" / "diagnosis.md"
_BEGIN, _END = "<!-- measured: accuracy -->", "<!-- end measured -->"


class CaseVerdict(NamedTuple):
    """How good one diagnosis is. `confident_wrong`: a definite statement of the diagnosis is false."""

    case: Case
    where: bool
    cards: bool
    cause: bool
    exact: bool  # one segment or none, one number
    confident_wrong: bool
    named: str


def judge(outcome: CaseOutcome, diagnosis: Diagnosis) -> CaseVerdict:
    """Compare a diagnosis with the truth."""
    truth, where, cards = outcome.truth, diagnosis.where, diagnosis.cards
    place = truth.segments <= set(where.segments) and truth.path in cards.path
    place &= not truth.hidden or where.hidden is not None
    inside = cards.inside is not None and truth.inside in cards.inside
    first = diagnosis.causes[0]
    cause = first.why is CAUSE[outcome.case.fault]
    one_place, one_number = len(where.segments) <= 1, cards.inside is not None and cards.inside.exact
    wrong = (not place and one_place) or (not inside and one_number) or (not cause and first.sure)
    return CaseVerdict(outcome.case, place, inside, cause, one_place and one_number, wrong, first.why.name.lower())


def measure(
    outcomes: Iterable[CaseOutcome], by: Callable[[FaultReport], Diagnosis] = diagnose
) -> tuple[list[CaseVerdict], list[Case]]:
    """Return a verdict for every case with a fault report, and the cases that the machine did not detect."""
    verdicts: list[CaseVerdict] = []
    unseen: list[Case] = []
    for outcome in outcomes:
        if outcome.report is None:
            unseen.append(outcome.case)
        else:
            verdicts.append(judge(outcome, by(outcome.report)))
    return verdicts, unseen


# --- tables -----------------------------------------------------------------------------------------------------------


def _share(count: int, of: int) -> str:
    return f"{count} of {of}" + ("" if count == of else f" ({100 * count / of:.1f} %)")


def summary(verdicts: list[CaseVerdict], unseen: list[Case]) -> list[str]:
    """Return the figures as a table."""
    of = len(verdicts)
    rows = [
        ("cases", str(of + len(unseen))),
        ("faults without a fault report: the machine detected nothing", str(len(unseen))),
        ("segment right, or a range that holds", _share(sum(v.where for v in verdicts), of)),
        ("cards inside right, or a range that holds", _share(sum(v.cards for v in verdicts), of)),
        ("of these one segment and one number", _share(sum(v.exact and v.where and v.cards for v in verdicts), of)),
        ("first cause right", _share(sum(v.cause for v in verdicts), of)),
        ("confident and wrong", str(sum(v.confident_wrong for v in verdicts))),
    ]
    return table(("what", "figure"), *rows).splitlines()


def by_fault(verdicts: list[CaseVerdict]) -> list[str]:
    """Return the right answers for every fault of every model."""
    rows = []
    for key in dict.fromkeys((v.case.model, v.case.fault) for v in verdicts):
        mine = [v for v in verdicts if (v.case.model, v.case.fault) == key]
        sums = [sum(getattr(v, name) for v in mine) for name in ("where", "cards", "exact", "cause")]
        rows.append((*key, str(len(mine)), *map(str, sums)))
    header = ("model", "fault", "cases", "segment", "cards inside", "exact", "first cause")
    return table(header, *rows).splitlines()


def confusion(verdicts: list[CaseVerdict]) -> list[str]:
    """Return the first named cause for every fault."""
    counts = Counter((v.case.fault, v.named) for v in verdicts)
    named = sorted({name for _, name in counts})
    rows = [
        (fault, *(str(counts[fault, name] or "") for name in named))
        for fault in dict.fromkeys(v.case.fault for v in verdicts)
    ]
    return table(("what it was \\ named first", *(name.replace("_", " ") for name in named)), *rows).splitlines()


# --- fitting ----------------------------------------------------------------------------------------------------------


class Split(NamedTuple):
    """The readings that one threshold must separate: those below it and those above."""

    below: list[float]
    above: list[float]

    @property
    def gap(self) -> tuple[float, float]:
        """The highest reading below and the lowest above; they overlap where noise exceeds the effect."""
        return max(self.below, default=0.0), min(self.above, default=0.0)

    def misplaced(self, threshold: float) -> float:
        """Return the share of readings that are on the wrong side of a threshold."""
        wrong = sum(r >= threshold for r in self.below) + sum(r < threshold for r in self.above)
        return wrong / max(1, len(self.below) + len(self.above))


def fit(outcomes: Iterable[CaseOutcome]) -> dict[str, Split]:
    """Return, for every threshold, the readings that it must separate."""
    splits = {name: Split([], []) for name in Thresholds._fields}

    def note(name: str, reading: float | None, above: bool) -> None:
        if reading is not None:
            (splits[name].above if above else splits[name].below).append(reading)

    for outcome in outcomes:
        report, fault = outcome.report, outcome.case.fault
        segment = report.halt.segment if report else None
        if report is None:
            continue
        r = Measurements(report, Thresholds())
        if r.path.legs[1].gives_up and report.halt.leg == 1 and fault != "wear":
            slips = fault == "slip" and outcome.case.segment == "unload"
            note("late", r.lately("unload") if slips or fault != "slip" else None, slips)
        if segment is None:
            continue
        stretch = r.leg.stretches[r.leg.index_of(segment)]
        if report.halt.what == "jam" and not r.by_hand:
            note("strain", report.current(stretch.motor), fault in ("jam", "bent", "foreign", "seized"))
            note("stall", report.current(stretch.motor) if fault == "seized" else None, True)
            if fault in ("jam", "bent"):
                note("slow", r.slowness(segment), fault == "bent")
            if fault in ("wear", "slip", "hasty") and r.skipped(segment) is None:
                note("hasty", r.waited(segment), fault != "hasty")
                note("drift", None if fault == "slip" else r.drifted(segment), fault == "wear")
        for level in report.levels:
            if fault == "dust" and level.blocked and level.sensor not in ("intake", "well", "gate", "slot"):
                note(
                    "dim",
                    level.level,
                    level.sensor == {"unload": "exit"}.get(outcome.case.segment, outcome.case.segment),
                )
        if report.halt.what == "double_feed" and stretch.sensor and not r.by_hand:
            pulse, transit = r.pulse(stretch.sensor), r.transit(segment)
            if pulse and transit and fault in ("double", "wear"):
                note("long", pulse / transit, fault == "double")
                note("early", transit, transit > 0.8)
    return splits


# --- running ----------------------------------------------------------------------------------------------------------


def page_of(verdicts: list[CaseVerdict], unseen: list[Case]) -> str:
    """Return the text for the page."""
    parts = [
        summary(verdicts, unseen), ["What was named first (rows: what it was):"], confusion(verdicts),
        ["Right answers by model and fault:"], by_fault(verdicts),
    ]  # fmt: skip
    return "\n\n".join("\n".join(part) for part in parts)


def main() -> int:
    """Measure and print; return 0 if the goals are met."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.studies.accuracy", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--fit", action="store_true", help="print the readings of the fitting seeds")
    parser.add_argument("--write", action="store_true", help="write the figures into docs/diagnosis.md")
    parser.add_argument("--case", metavar="MODEL:FAULT:SEGMENT:SEED", help="one case in full")
    parser.add_argument("--seeds", type=int, default=len(REPORT), help=f"how many seeds (default {len(REPORT)})")
    args = parser.parse_args()
    if args.case:
        model, fault, segment, seed = args.case.split(":")
        return _one(Case(model, fault, segment, int(seed)))
    if args.fit:
        for name, parted in fit(map(happen, cases(FIT))).items():
            (below, above), used = parted.gap, getattr(Thresholds(), name)
            wrong = 100 * parted.misplaced(used)
            print(f"{name:8s} up to {below:9.3f} and from {above:9.3f}   in use {used}, misplaced {wrong:.2f} %")
        return 0
    verdicts, unseen = measure(happen(case) for case in cases(REPORT[: args.seeds]))
    text = page_of(verdicts, unseen)
    print(text)
    if args.write:
        page = PAGE.read_text("utf-8")
        head, after = page.split(_BEGIN)
        PAGE.write_text(f"{head}{_BEGIN}\n\n{text}\n\n{_END}{after.split(_END)[1]}", "utf-8")
    missed = [v.case.name for v in verdicts if not (v.where and v.cards) or v.confident_wrong]
    if missed:
        print("\nmissed: " + ", ".join(missed[:20]), file=sys.stderr)
    good = sum(v.cause for v in verdicts) >= 0.9 * len(verdicts)
    return 0 if good and not missed else 1


def _one(case: Case) -> int:
    outcome = happen(case)
    if outcome.report is None:
        print("the machine detected nothing")
        return 1
    frames = len(outcome.report.frames)
    print(encode(msgspec.structs.replace(outcome.report, frames=())).decode())
    print(f"and {frames} frames\n{outcome.truth}")
    diagnosis = diagnose(outcome.report)
    print(diagnosis.where, diagnosis.cards, *diagnosis.causes, sep="\n")
    print(judge(outcome, diagnosis))
    return 0


if __name__ == "__main__":
    sys.exit(main())
