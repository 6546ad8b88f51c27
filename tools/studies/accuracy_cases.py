"""The faults and models on which the diagnosis is measured, and the true cause of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from table_controller.diagnosis.findings import CauseKind

if TYPE_CHECKING:
    from table_controller.diagnosis.fault_report import FaultReport


CARDS: Final = 53
_IN, _OUT = ("feed", "bridge", "lift", "shelf"), ("unload", "stack", "drop")
_SENSED: Final = ("feed", "bridge", "lift", "unload", "stack")
_MOTORS: Final = ("feed", "transport", "elevator", "eject")


class Case(NamedTuple):
    """One fault: model, kind, place (segment, motor or none), and the seed of everything else."""

    model: str
    fault: str
    segment: str
    seed: int

    @property
    def name(self) -> str:
        """The name that `--case` takes."""
        return ":".join(map(str, self))


class CaseTruth(NamedTuple):
    """Where the cards really are at the fault."""

    segments: frozenset[str]
    path: int
    inside: int
    out: int
    hidden: int


class CaseOutcome(NamedTuple):
    """The result of a case. `report` is None if the machine detected nothing."""

    case: Case
    report: FaultReport | None
    truth: CaseTruth


CAUSE: Final = {
    "jam": CauseKind.STUCK_CARD,
    "bent": CauseKind.BENT_CARD,
    "foreign": CauseKind.FOREIGN_OBJECT,
    "torn": CauseKind.TORN_CARD,
    "double": CauseKind.DOUBLE_FEED,
    "pair": CauseKind.UNSEEN_PAIR,
    "slipped": CauseKind.SLIPPED_CARD,
    "many": CauseKind.SLIPPED_CARD,
    "migrated": CauseKind.MIGRATED_CARD,
    "wear": CauseKind.WORN_ROLLER,
    "slip": CauseKind.WORN_ROLLER,
    "dust": CauseKind.DUST,
    "hasty": CauseKind.FIRMWARE_TIMING,
    "seized": CauseKind.SEIZED_MOTOR,
}
_SHUFFLER: Final = (
    *(("jam", s) for s in (*_IN, *_OUT)), *(("bent", s) for s in (*_IN, *_OUT)), *(("foreign", s) for s in _SENSED),
    *(("torn", s) for s in _SENSED), ("double", "feed"), ("pair", ""), ("slipped", ""), ("many", ""), ("migrated", ""),
    *(("wear", s) for s in _SENSED), *(("slip", s) for s in _SENSED), *(("dust", s) for s in _SENSED),
    *(("hasty", s) for s in (*_IN, *_OUT[1:])), *(("seized", motor) for motor in _MOTORS),
)  # fmt: skip
_STORE: Final = (
    *(("jam", s) for s in (*_IN, *_OUT)), *(("torn", s) for s in _SENSED), *(("foreign", s) for s in _SENSED),
    *(("dust", s) for s in _SENSED), ("double", "feed"), ("pair", ""), ("slipped", ""),
    *(("seized", motor) for motor in _MOTORS),
)  # fmt: skip
_SHOE_ALL, _SHOE_SENSED = ("feed", "store", "draw", "exit", "drop"), ("feed", "draw", "exit")
_SHOE: Final = (
    *(("jam", s) for s in _SHOE_ALL), *(("bent", s) for s in _SHOE_ALL), *(("foreign", s) for s in _SHOE_SENSED),
    *(("torn", s) for s in _SHOE_SENSED), ("double", "feed"), ("double", "draw"), ("pair", "feed"), ("slipped", ""),
    *(("wear", s) for s in _SHOE_SENSED), *(("slip", s) for s in _SHOE_SENSED),
    *(("dust", s) for s in _SHOE_SENSED), *(("hasty", s) for s in _SHOE_ALL),
    *(("seized", motor) for motor in ("feed", "transport", "draw")),
)  # fmt: skip
_MANUAL: Final = (("jam", "exit"), ("jam", "drop"), ("torn", "exit"), ("double", "draw"), ("dust", "exit"))
FAULTS: Final = {
    "shuffler": _SHUFFLER, "batch": _SHUFFLER, "continuous": _STORE, "shoe": _SHOE, "manual": _MANUAL,
}  # fmt: skip


def cases(seeds: range) -> list[Case]:
    """Return every fault of every model with each seed; the larger models only with every third seed."""
    return [
        Case(model, fault, segment, seed)
        for model, faults in FAULTS.items()
        for fault, segment in faults
        for seed in seeds
        if model not in ("batch", "continuous") or seed % 3 == 0
    ]
