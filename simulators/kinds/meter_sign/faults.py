"""The faults of a meter sign, and what hands can do to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from simulators.engine.faults import FaultRows

FAULTS: Final[FaultRows] = (
    ("dead_digit", "machine", {"row": "value", "digit": "2"}, "a digit stays dark, counted from the last cent"),
    ("mend", "machine", {}, "a new display"),
)
