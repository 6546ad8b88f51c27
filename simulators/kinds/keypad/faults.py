"""The faults of a dealer's keypad, and what hands can do to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from simulators.engine.faults import FaultRows

FAULTS: Final[FaultRows] = (
    ("stuck_key", "machine", {"key": "start_game"}, "a key is pressed and does not come up again"),
    ("dead_key", "machine", {"key": "start_game"}, "a key's contact no longer closes"),
    ("bounce", "machine", {"times": "5"}, "the next press closes its contact TIMES times"),
    ("dead_lamp", "machine", {"lamp": "attention"}, "a lamp burns out: start_game, lock_out or attention"),
    ("dead_display", "machine", {}, "the display stays dark"),
    ("mend", "machine", {}, "new contacts, lamps and display; every key comes up"),
    ("press", "hands", {"key": "start_game"}, "a finger presses a key"),
    ("type", "hands", {"digits": "4"}, "fingers type digits and enter"),
    ("turn", "hands", {"to": "dealer"}, "a person turns the key switch: off, dealer, floor or technician"),
)
