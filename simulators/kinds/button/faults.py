"""The faults of a flat button and its mat, and what hands can do to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from simulators.engine.faults import FaultRows

FAULTS: Final[FaultRows] = (
    ("weak_magnet", "machine", {"percent": "45"}, "the button's magnet loses PERCENT of its strength"),
    ("stray_field", "machine", {"place": "4", "level": "700"}, "a stray field gives a place's sensor a level"),
    ("dead_sensor", "machine", {"place": "4"}, "a place's sensor gives no level"),
    ("mend", "machine", {}, "a strong magnet, working sensors, no stray field"),
    (
        "lie",
        "firmware",
        {"how": "eight"},
        "the firmware reports the impossible: place eight, an unclear place, nowhere without a reason",
    ),
    ("put_button", "hands", {"at": "1"}, "put the button at a place"),
    ("slide_button", "hands", {"toward": "2", "percent": "50"}, "push the button PERCENT of the way to a place"),
    ("second_button", "hands", {"at": "5"}, "put a second button at a place"),
    ("take_buttons", "hands", {}, "take every button off the layout"),
)
