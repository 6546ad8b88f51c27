"""The mechanics of a single-deck shuffler: intake, compartments, gate, and the card path between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.shuffler.messages import Motor, Segment, Sensor
from simulators.world.path import CardPath, Layout

if TYPE_CHECKING:
    from random import Random

    from simulators.device_clock import DeviceClock
    from simulators.world.cards import Card, World

COMPARTMENTS: Final = 10
# How long a card takes through each segment (s), when the machine is new.
TRANSIT: Final = {
    Segment.FEED: 0.090,
    Segment.BRIDGE: 0.060,
    Segment.LIFT: 0.060,
    Segment.UNLOAD: 0.090,
    Segment.STACK: 0.060,
}
# One compartment up or down (s).
LIFT_STEP: Final = 0.008

LAYOUT: Final = Layout(
    Segment,
    Sensor,
    Motor,
    ends={
        Segment.FEED: Sensor.FEED,
        Segment.BRIDGE: Sensor.BRIDGE,
        Segment.LIFT: Sensor.LIFT,
        Segment.UNLOAD: Sensor.EXIT,
        Segment.STACK: Sensor.STACK,
    },
    transit=TRANSIT,
    moves={
        Segment.FEED: Motor.FEED,
        Segment.BRIDGE: Motor.TRANSPORT,
        Segment.LIFT: Motor.TRANSPORT,
        Segment.SHELF: Motor.ELEVATOR,
        Segment.UNLOAD: Motor.EJECT,
        Segment.STACK: Motor.TRANSPORT,
        Segment.DROP: Motor.TRANSPORT,
    },
    rests=(Segment.SHELF, Segment.DROP),
)


class ShufflerMechanics(CardPath):
    """One machine's moving parts."""

    def __init__(self, world: World, clock: DeviceClock, rng: Random, slot: str) -> None:
        super().__init__(LAYOUT, world, clock, rng, slot)
        self.piles = {Sensor.INTAKE: self.intake, Sensor.GATE: self.gate}
        self._shelf = (0, False)  # where the elevator stands, and whether it stores underneath

    # --- places ----------------------------------------------------------------------------------------------

    @property
    def intake(self) -> str:
        """Where cards are put in."""
        return self.place("intake")

    @property
    def gate(self) -> str:
        """Where shuffled cards lie behind the gate."""
        return self.place("gate")

    @property
    def behind_shelves(self) -> str:
        """Where no sensor looks."""
        return self.place("behind_shelves")

    def compartment(self, number: int) -> str:
        """Return the place of one compartment."""
        return self.place(f"compartment.{number}")

    def inside(self) -> int:
        """The truth: how many cards are past the intake and not yet behind the gate."""
        outside = (self.intake, self.gate, self.place("presented"))
        return sum(
            n for place, n in self.world.census().items() if place.startswith(self.slot + "/") and place not in outside
        )

    # --- what the firmware can see and do -----------------------------------------------------------------------

    def read_face(self) -> int | None:
        """Read the face of the card at the feed sensor, as a camera there would; None if there is none."""
        cards = self.world.at(self.segment_place(Segment.BRIDGE))
        return cards[-1].face if cards else None

    def route(self, compartment: int, *, bottom: bool) -> float:
        """Send the elevator to a compartment, for the next card to be stored; return how long it takes (s)."""
        took = abs(compartment - self._shelf[0]) * LIFT_STEP
        self._shelf = (compartment, bottom)
        return took

    def feed(self) -> None:
        """Draw the top card from the intake and bring it to where the elevator then stands."""
        pile = self.world.at(self.intake)
        self._run_motors(Motor.FEED, Motor.TRANSPORT, Motor.ELEVATOR)
        if pile:
            self._moved[0] += 1
            self._send(pile, Segment.FEED, self._store, self._due("double_feed") if len(pile) > 1 else None)

    def unload(self, compartment: int) -> None:
        """Push the top card of a compartment out towards the gate."""
        pile = self.world.at(self.compartment(compartment))
        self._run_motors(Motor.EJECT, Motor.TRANSPORT)
        if pile:
            self._moved[1] += 1
            self._send(pile, Segment.UNLOAD, lambda cards: self._lay(cards, self.gate), None)

    def open_gate(self) -> None:
        """Open the gate: the cards behind it can be taken."""
        self.world.move_all(self.gate, self.place("presented"))

    def _store(self, cards: list[Card]) -> None:
        compartment, bottom = self._shelf
        to = self.behind_shelves if self._due("card_left_inside") else self.compartment(compartment)
        for card in cards:
            self.world.move(card, to, bottom=bottom)
