"""The faults of a bet sensor, and what hands can do to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from random import Random

    from simulators.engine.faults import FaultRows

FAULTS: Final[FaultRows] = (
    ("drift", "machine", {"percent": "30"}, "the coil's level rises by PERCENT of a chip's level"),
    ("interference", "machine", {"noise": "200"}, "noise on the coil, in its own units"),
    ("dead_lamp", "machine", {"light": "accepted"}, "a lamp burns out: acknowledged or accepted"),
    ("mend", "machine", {}, "a new coil and new lamps"),
    ("place_bet", "hands", {"chips": "1"}, "the player places chips on the spot"),
    ("edge_bet", "hands", {}, "the player places a chip half over the spot's edge"),
    ("straighten", "hands", {}, "a hand pushes chips at the edge to the middle"),
    ("take_bet", "hands", {"chips": "1"}, "the player takes chips back, the top one first"),
    ("collect", "hands", {}, "the dealer collects the chips on the spot to the tray"),
    ("drop_chip", "hands", {}, "a chip falls from the spot under the rail"),
    ("foreign_object", "hands", {}, "a hand puts a coin or a telephone on the spot"),
    ("take_object", "hands", {}, "a hand takes the foreign object away"),
)


def mishaps(rng: Random, _model: str) -> list[str]:
    """Return what can happen to a bet sensor at a simulated table."""
    return [
        f"drift:percent={rng.choice([10, 30])}", f"interference:noise={rng.choice([50, 200])}", "dead_lamp",
        "foreign_object",
    ]  # fmt: skip
