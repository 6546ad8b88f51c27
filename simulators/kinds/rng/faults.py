"""The faults of a number generator, and what hands can do to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from simulators.engine.faults import FaultRows

FAULTS: Final[FaultRows] = (
    ("noise_stuck", "machine", {"sample": "85"}, "the noise source gives the same sample forever"),
    ("noise_biased", "machine", {"sample": "0", "percent": "35"}, "PERCENT of the samples are SAMPLE"),
    ("noise_dead", "machine", {}, "the noise source gives no samples"),
    ("segment_dead", "machine", {"segment": "a"}, "a segment of the display stays dark: a 7 without segment a shows 1"),
    ("segment_stuck", "machine", {"segment": "a"}, "a segment of the display stays lit"),
    ("mend", "machine", {}, "a new noise source and a new display"),
    (
        "lie",
        "firmware",
        {"how": "zero"},
        "the firmware reports the impossible: zero, eight, another number on the display, a second one for a draw",
    ),
)
