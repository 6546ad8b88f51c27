"""The parts of a number generator: a noise source and a seven-segment display."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.rng.messages import ALL_SEGMENTS, BLANK
from firmware_bridge.errors import BadFault

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from simulators.engine.faults import InjectedFault

SEGMENT_NAMES: Final = "abcdefg"


class NoiseSource:
    """Raw 8-bit samples from injected entropy, changed by injected faults."""

    def __init__(self, entropy: Callable[[int], bytes], rng: Random) -> None:
        self._entropy = entropy
        self._rng = rng
        self.mend()

    def mend(self) -> None:
        """Repair: a new source."""
        self.alive = True
        self._stuck: int | None = None
        self._favored = 0
        self._share = 0.0

    def read(self, samples: int) -> bytes:
        """Return so many samples; none from a dead source."""
        if not self.alive:
            return b""
        if self._stuck is not None:
            return bytes([self._stuck]) * samples
        noise = self._entropy(samples)
        if not self._share:
            return noise
        return bytes(self._favored if self._rng.random() < self._share else sample for sample in noise)

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of the noise source."""
        match fault.kind.name:
            case "noise_stuck":
                self._stuck = _byte(fault)
            case "noise_biased":
                self._favored, self._share = _byte(fault), min(1.0, fault.number("percent") / 100)
            case "noise_dead":
                self.alive = False
            case name:
                raise BadFault(f"{name} does not act on a noise source")


def _ignore() -> None:
    """Ignore a change."""


class Display:
    """One digit. A fault makes lit segments differ from driven ones, and calls `on_change`."""

    def __init__(self) -> None:
        self.on_change: Callable[[], None] = _ignore
        self._driven = BLANK
        self.mend()

    def mend(self) -> None:
        """Repair: a new display."""
        self._dead = 0
        self._always = 0

    def show(self, segments: int) -> None:
        """Switch these segments on and the others off."""
        self._driven = segments

    @property
    def lit(self) -> int:
        """The lit segments, as people see them and as the firmware measures them by current."""
        return (self._driven & ~self._dead | self._always) & ALL_SEGMENTS

    def power_lost(self) -> None:
        """Switch all segments off."""
        self._driven = BLANK

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of a segment."""
        bit = 1 << fault.choice_index("segment", tuple(SEGMENT_NAMES))
        if fault.kind.name == "segment_dead":
            self._dead |= bit
        else:
            self._always |= bit
        self.on_change()


def _byte(fault: InjectedFault) -> int:
    value = fault.integer("sample")
    if value > 255:
        raise BadFault(f"{fault.kind.name}: a sample is 0 to 255")
    return value
