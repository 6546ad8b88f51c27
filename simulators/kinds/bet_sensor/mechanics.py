"""A seat's betting spot: the chips on it, and the readings of its coil and lamps.

The coil gives a level, its noise, and how similar the signal is to a chip's. `on_change` is called after each change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.bet_sensor.messages import Light
from firmware_bridge.errors import BadFault

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.engine.faults import InjectedFault
    from simulators.world.chips import Chips

# Signal levels (0-1023): an empty spot, the first chip, each further chip (the coil's field is nearly used up).
EMPTY_LEVEL: Final = 100
CHIP_LEVEL: Final = 600
MORE_LEVEL: Final = 220
# The share of a chip's level when the chip is half over the edge.
EDGE_SHARE: Final = 0.42
# A coin or a telephone gives about the level of a chip, but not its signature (percent); a drifted coil gives a level
# with no signature.
FOREIGN_LEVEL: Final = 480
CHIP_LIKENESS: Final = 96
FOREIGN_LIKENESS: Final = 35
NO_LIKENESS: Final = 4
# Noise of a working coil; a coil without noise is no longer read.
QUIET_NOISE: Final = 6
MAX_LEVEL: Final = 1023
LAMPS: Final = ("acknowledged", "accepted")


def _ignore(_: Any = None) -> None:
    """Ignore a change."""


class BetSpot:
    """One spot. `on_change` is called after every change of the signal."""

    def __init__(self, chips: Chips, slot: str) -> None:
        self.chips = chips
        self.place = f"{slot}/spot"
        self.on_change: Callable[[], None] = _ignore
        self.foreign = False
        self.light = Light.OFF  # the light that is really on
        self._edge: set[int] = set()
        self._drift = 0.0
        self._noise = QUIET_NOISE
        self._frozen: tuple[int, int] | None = None
        self._dead_lamps: set[Light] = set()

    # --- what the firmware can see and do ------------------------------------------------------------------------

    def read(self) -> tuple[int, int, int]:
        """Return level, noise and likeness (%)."""
        if self._frozen is not None:
            return self._frozen[0], 0, self._frozen[1]
        chips = self.chips.at(self.place)
        level, likeness = EMPTY_LEVEL + self._drift, CHIP_LIKENESS if chips else NO_LIKENESS
        for number, chip in enumerate(chips):
            share = EDGE_SHARE if chip in self._edge else 1.0
            level += share * (MORE_LEVEL if number else CHIP_LEVEL)
        if self.foreign:
            level, likeness = level + FOREIGN_LEVEL, FOREIGN_LIKENESS
        return max(0, min(MAX_LEVEL, round(level))), self._noise, likeness

    def switch_light(self, light: Light) -> None:
        """Switch the lamps."""
        self.light = Light.OFF if light in self._dead_lamps else light

    def lamp_works(self, light: Light) -> bool:
        """Return whether a lamp works, measured by its current."""
        return light not in self._dead_lamps

    # --- hands -----------------------------------------------------------------------------------------------------

    def chip_count(self) -> int:
        """Return the true number of chips on the spot."""
        return len(self.chips.at(self.place))

    def place_chips(self, source: str, count: int = 1, *, edge: bool = False) -> int:
        """Put chips on the spot; return how many were available."""
        chips = self.chips.at(source)[:count]
        for chip in chips:
            self.chips.move(chip, self.place)
            if edge:
                self._edge.add(chip)
            self.on_change()
        return len(chips)

    def remove_chips(self, to: str, count: int | None = None) -> int:
        """Take chips from the spot, the top one first; return how many."""
        chips = self.chips.at(self.place)[::-1][:count]
        for chip in chips:
            self.chips.move(chip, to)
            self._edge.discard(chip)
            self.on_change()
        return len(chips)

    def straighten(self) -> int:
        """Push chips at the edge to the middle; return how many."""
        moved = len(self._edge)
        self._edge.clear()
        self.on_change()
        return moved

    def put_object(self, *, there: bool) -> None:
        """Put a foreign object on the spot, or take it away."""
        self.foreign = there
        self.on_change()

    # --- faults ----------------------------------------------------------------------------------------------------

    def freeze(self) -> None:
        """Freeze the converter: the last level forever, and no noise."""
        level, _, likeness = self.read()
        self._frozen = (level, likeness)
        self.on_change()

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of coil or lamps; BadFault for any other."""
        match fault.kind.name:
            case "drift":
                self._drift = CHIP_LEVEL * fault.number("percent") / 100
            case "interference":
                self._noise = max(QUIET_NOISE, fault.integer("noise"))
            case "dead_lamp":
                self._dead_lamps.add(Light(1 + fault.choice_index("light", LAMPS)))
                self.switch_light(self.light)
            case "mend":
                self._drift, self._noise, self._frozen = 0.0, QUIET_NOISE, None
                self._dead_lamps.clear()
            case name:
                raise BadFault(f"{name} does not act on the spot")
        self.on_change()
