"""The faults of a bay door, and what hands can do to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from random import Random

    from simulators.engine.faults import FaultRows

FAULTS: Final[FaultRows] = (
    ("dead_lamp", "machine", {}, "the lamp burns out"),
    ("mend", "machine", {}, "a new lamp"),
    ("open_bay", "hands", {}, "a hand opens the door"),
    ("close_bay", "hands", {}, "a hand closes the door"),
)


def mishaps(_rng: Random, _model: str) -> list[str]:
    """Return what can happen to a bay door at a simulated table."""
    return ["dead_lamp"]
