"""The mechanics of a continuous shuffler: those of a shuffler with cycles, and a chute from which cards are drawn.

Its gate is at the bottom of a tray that can be lifted into the intake, so that all cards can be fed again and counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.shuffler.messages import Motor, Segment
from simulators.kinds.shuffler.mechanics import ShufflerMechanics

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from simulators.engine.device_clock import DeviceClock
    from simulators.world.cards import Card, World

# Time to lift the tray behind the gate up to the intake (s).
LIFTING: Final = 2.0


def _ignore() -> None:
    """Ignore a draw."""


class ContinuousMechanics(ShufflerMechanics):
    """One machine's moving parts. `on_draw()` is called when the sensor at the chute's mouth detects a drawn card."""

    def __init__(self, world: World, clock: DeviceClock, rng: Random, slot: str) -> None:
        super().__init__(world, clock, rng, slot)
        self.chute = self.place("chute")  # delivered cards until they are drawn, the first one at the mouth
        self.on_draw: Callable[[], None] = _ignore

    @property
    def outside(self) -> tuple[str, ...]:
        """The places of this machine that are not inside it."""
        return (*super().outside, self.chute)

    # --- what the firmware can see and do ------------------------------------------------------------------------

    def chute_dark(self) -> bool:
        """Return whether a card is at the mouth of the chute; a spring keeps the first one there."""
        return self.world.count(self.chute) > 0

    def deliver(self, compartment: int) -> None:
        """Push the top card of a compartment out and into the chute."""
        self._push_out(compartment, self.chute)

    def lift_tray(self) -> None:
        """Lift the cards behind the gate into the intake, in their order."""
        self._run_motors(Motor.ELEVATOR)
        if not self._due("jam", Segment.DROP):  # a jam: it stays where it is
            self._after(LIFTING, self._tray_up)

    def _tray_up(self) -> None:
        self.world.move_all(self.gate, self.intake)

    # --- hands ---------------------------------------------------------------------------------------------------

    def draw(self, to: str, *, at_once: int = 1) -> list[Card]:
        """Draw the first card from the chute by hand, or the first few as one; return the drawn cards."""
        drawn = self.world.at(self.chute)[:at_once]
        self._lay(drawn, to)
        if drawn:
            self.on_draw()
        return drawn
