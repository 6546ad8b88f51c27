"""The faults and models on which the diagnosis is measured, and the true cause of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from table_controller.diagnosis.findings import Why

if TYPE_CHECKING:
    from table_controller.diagnosis.dossier import Dossier


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


class Truth(NamedTuple):
    """Where the cards really are at the fault."""

    segments: frozenset[str]
    path: int
    inside: int
    out: int
    hidden: int


class Outcome(NamedTuple):
    """The result of a case. `dossier` is None if the machine detected nothing."""

    case: Case
    dossier: Dossier | None
    truth: Truth


CAUSE: Final = {
    "jam": Why.STUCK_CARD, "bent": Why.BENT_CARD, "foreign": Why.FOREIGN_OBJECT, "torn": Why.TORN_CARD,
    "double": Why.DOUBLE_FEED, "pair": Why.UNSEEN_PAIR, "slipped": Why.SLIPPED_CARD, "many": Why.SLIPPED_CARD,
    "migrated": Why.MIGRATED_CARD, "wear": Why.WORN_ROLLER, "slip": Why.WORN_ROLLER,
    "dust": Why.DUST, "hasty": Why.FIRMWARE_TIMING, "seized": Why.SEIZED_MOTOR,
}  # fmt: skip
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
