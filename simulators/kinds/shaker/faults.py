"""The faults of a dice shaker, and what hands can do to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from random import Random

    from simulators.engine.faults import FaultRows

FAULTS: Final[FaultRows] = (
    ("lean", "machine", {"die": "1"}, "when the lid comes off, die N leans against the wall"),
    ("stack", "machine", {"die": "1"}, "when the lid comes off, die N lies on another one"),
    ("spill", "machine", {"die": "1"}, "when the lid comes off, die N falls out of the shaker"),
    ("tremble", "machine", {"seconds": "2"}, "when the lid comes off, the dice keep moving for SECONDS"),
    ("dust", "machine", {"die": "1", "percent": "60"}, "the image of die N loses PERCENT of its clearness"),
    ("misread", "machine", {"die": "1", "as": "6"}, "the reader reads every face of die N as face AS"),
    ("drift", "machine", {"percent": "15"}, "the load cell measures PERCENT too much"),
    ("deaf", "machine", {}, "the accelerometer measures nothing"),
    ("mend", "machine", {}, "clean sensors; faults that wait for the lid are removed"),
    (
        "lie",
        "firmware",
        {"how": "seven"},
        "the firmware reports the impossible: seven, no_shake, not_flat, a second reading, under_lid",
    ),
    ("shake", "hands", {"times": "3", "strength": "100"}, "shake N times, with PERCENT of the usual strength"),
    ("lid", "hands", {"to": "off"}, "take the lid off or put it on"),
    ("bump", "hands", {}, "knock against the shaker, so that the dice jump"),
    ("pick_up", "hands", {}, "put fallen dice back into the open shaker"),
    ("door", "hands", {"to": "open"}, "the door is opened or closed"),
    ("remove_die", "hands", {}, "take one die out"),
    ("swap_die", "hands", {"die": "1", "loaded": "6"}, "replace die N by another, loaded for a face (0: a fair one)"),
    ("exchange_dice", "hands", {}, "open the door, take the dice out, put three new ones in, close it"),
)


def mishaps(rng: Random, _model: str) -> list[str]:
    """Return what can happen to a shaker at a simulated table."""
    die = rng.randint(1, 3)
    return [
        f"lean:die={die}", f"stack:die={die}", f"spill:die={die}", f"tremble:seconds={rng.choice([1, 4])}",
        f"dust:die={die},percent={rng.choice([20, 60])}", "deaf", "bump",
    ]  # fmt: skip
