"""The mechanics of a shuffler with cycles: intake, compartments, gate, and the card path between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from devices.shuffler.messages import Motor, Segment, Sensor
from simulators.kinds.shuffler.shoe_chute import ShoeChute
from simulators.world.cards import DECK_53, SIX_DECKS
from simulators.world.path import CardPathMechanics
from simulators.world.path_layout import PathLayout

if TYPE_CHECKING:
    from random import Random

    from simulators.engine.device_clock import DeviceClock
    from simulators.engine.faults import InjectedFault
    from simulators.world.cards import Card, World

# Transit time of each segment (s), when the machine is new.
TRANSIT: Final = {
    Segment.FEED: 0.090,
    Segment.BRIDGE: 0.060,
    Segment.LIFT: 0.060,
    Segment.UNLOAD: 0.090,
    Segment.STACK: 0.060,
}
# One compartment up or down (s).
LIFT_STEP: Final = 0.008

LAYOUT: Final = PathLayout(
    Segment,
    Sensor,
    Motor,
    end_sensors={
        Segment.FEED: Sensor.FEED,
        Segment.BRIDGE: Sensor.BRIDGE,
        Segment.LIFT: Sensor.LIFT,
        Segment.UNLOAD: Sensor.EXIT,
        Segment.STACK: Sensor.STACK,
    },
    transit_s=TRANSIT,
    segment_motors={
        Segment.FEED: Motor.FEED,
        Segment.BRIDGE: Motor.TRANSPORT,
        Segment.LIFT: Motor.TRANSPORT,
        Segment.SHELF: Motor.ELEVATOR,
        Segment.UNLOAD: Motor.EJECT,
        Segment.STACK: Motor.TRANSPORT,
        Segment.DROP: Motor.TRANSPORT,
    },
    last_segments=(Segment.SHELF, Segment.DROP),
)


class ShufflerSize(NamedTuple):
    """The size of a model, and its cards."""

    compartments: int
    per_compartment: int  # cards
    per_suit: int  # compartments, when it sorts; the joker counts as a suit
    max_cards: int  # cards that it accepts; more mean that the intake sensor is wrong
    full_set: tuple[int, ...]  # the faces of a whole deck or batch


ONE_DECK: Final = ShufflerSize(compartments=10, per_compartment=9, per_suit=1, max_cards=60, full_set=DECK_53)
# A seventh deck does not fit: 312 cards and half a deck of margin.
ONE_BATCH: Final = ShufflerSize(compartments=40, per_compartment=10, per_suit=8, max_cards=338, full_set=SIX_DECKS)


class ShufflerMechanics(CardPathMechanics):
    """One machine's moving parts."""

    def __init__(self, world: World, clock: DeviceClock, rng: Random, slot: str) -> None:
        super().__init__(LAYOUT, world, clock, rng, slot)
        self.intake = self.place("intake")  # where hands put cards in
        self.gate = self.place("gate")  # shuffled cards behind the gate
        self.behind_shelves = self.place("behind_shelves")  # not covered by any sensor
        self.shoe_chute = ShoeChute(world, self.place("shoe_chute"))
        self.piles = {Sensor.INTAKE: self.intake, Sensor.GATE: self.gate}
        self._shelf = (0, False)  # position of the elevator, and whether it stores at the bottom
        self._slipping = 0  # number of next stored cards that slip behind the shelves
        self._wanderers: list[Card] = []  # cards behind the shelves that come out with the next cycle
        self._returning: list[Card] = []

    # --- places ----------------------------------------------------------------------------------------------

    @property
    def outside(self) -> tuple[str, ...]:
        """The places of this machine that are not inside it."""
        return (self.intake, self.gate, self.shoe_chute.place, self.place("presented"))

    def compartment(self, number: int) -> str:
        """Return the place of one compartment."""
        return self.place(f"compartment.{number}")

    def inside(self) -> int:
        """Return the true number of cards past the intake and not yet behind the gate."""
        mine = {place: n for place, n in self.world.census().items() if place.startswith(self.slot + "/")}
        return sum(n for place, n in mine.items() if place not in self.outside)

    # --- what the firmware can see and do -----------------------------------------------------------------------

    def read_face(self) -> int | None:
        """Return the face of the card at the feed sensor, as a camera reads it; None without a card."""
        cards = self.world.top(self.segment_place(Segment.BRIDGE), 1)
        return cards[-1].face if cards else None

    def route(self, compartment: int, *, bottom: bool) -> float:
        """Send the elevator to a compartment for the next card; return the travel time (s)."""
        took = abs(compartment - self._shelf[0]) * LIFT_STEP
        self._shelf = (compartment, bottom)
        return took

    def begin_phase(self, *, leg: int) -> None:
        """Start counting the cards of a leg; new cards push out cards that slipped behind the shelves before."""
        super().begin_phase(leg=leg)
        if leg == 0:
            self._returning, self._wanderers = self._wanderers, []

    def feed(self) -> None:
        """Draw the top card from the intake and bring it to the elevator's position."""
        pile = self.world.top(self.intake, 2)
        self._run_motors(Motor.FEED, Motor.TRANSPORT, Motor.ELEVATOR)
        if pile:
            self._moved[0] += 1
            self._send(pile, Segment.FEED, self._store, self._due("double_feed") if len(pile) > 1 else None)

    def unload(self, compartment: int) -> None:
        """Push the top card of a compartment out toward the gate."""
        self._push_out(compartment, self.gate)

    def _push_out(self, compartment: int, to: str) -> None:
        pile = self.world.top(self.compartment(compartment), 1)
        self._run_motors(Motor.EJECT, Motor.TRANSPORT)
        if pile:
            self._moved[1] += 1
            self._send(pile, Segment.UNLOAD, lambda cards: self._lay(cards, to), None)

    def open_gate(self) -> None:
        """Open the gate: the cards behind it can be taken."""
        self.world.move_all(self.gate, self.place("presented"))

    def push_stack(self) -> None:
        """Begin to push the stack into the chute, if the motor turns."""
        self._run_motors(Motor.EJECT)
        if self.turns(Motor.EJECT):
            self.shoe_chute.begin(self.gate)

    def halt(self) -> None:
        """All motors off; a stack in the chute stays where it is."""
        super().halt()
        self.shoe_chute.stop()

    # --- hands and faults ----------------------------------------------------------------------------------------

    def clear_path(self, to: str) -> int:
        """Take all cards off the path and out of the chute by hand; return how many."""
        return super().clear_path(to) + self.shoe_chute.clear(to)

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of the mechanics; BadFault if it is impossible."""
        match fault.kind.name:
            case "card_migrates" | "cards_left_inside" as name:
                fault.integer("card")
                if name == "cards_left_inside":
                    fault.integer("count")
                self._pending.append(fault)
            case "chute_jam" | "chute_gap":
                self.shoe_chute.inject(fault)
            case name:
                super().inject(fault)
                if name == "mend":
                    self._slipping = 0
                    self.shoe_chute.mend()

    def _store(self, cards: list[Card]) -> None:
        compartment, bottom = self._shelf
        shelf = self.compartment(compartment)
        to = self.behind_shelves if self._slips(cards) else shelf
        for card in cards:
            self.world.move(card, to, bottom=bottom)
        for card in self._returning:
            if self.world.where(card) == self.behind_shelves:  # unless a person has found it
                self.world.move(card, shelf)
        self._returning = []

    def _slips(self, cards: list[Card]) -> bool:
        """Return whether the cards being stored slip behind the shelves, where no sensor detects them."""
        if not self._pending and not self._slipping:
            return False
        if many := self._due("cards_left_inside"):
            self._slipping = many.integer("count")
        if self._slipping:
            self._slipping -= 1
            return True
        if self._due("card_migrates"):
            self._wanderers.extend(cards)
            return True
        return self._due("card_left_inside") is not None
