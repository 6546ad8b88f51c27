"""The mechanics of a single-deck shuffler: rollers, sensors, compartments, gate, and what can go wrong with them.

Motors are switched by whoever calls; sensors answer with edges. The truth about the cards is the world's; what is
seen of it is only what the sensors show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.shuffler.messages import Motor, Segment, Sensor, SensorLevel
from firmware_bridge.errors import BadFault

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from simulators.device_clock import DeviceClock, Timer
    from simulators.faults import Fault
    from simulators.world.cards import Card, World

# The words for segments and sensors in faults and places.
SEGMENTS: Final = tuple(segment.name.lower() for segment in Segment)
SENSORS: Final = tuple(sensor.name.lower() for sensor in Sensor)
COMPARTMENTS: Final = 10
# How long a card takes through each segment, and past one point (s), when the machine is new.
TRANSIT: Final = {
    Segment.FEED: 0.090,
    Segment.BRIDGE: 0.060,
    Segment.LIFT: 0.060,
    Segment.UNLOAD: 0.090,
    Segment.STACK: 0.060,
}
PASSING: Final = 0.040
CARD_LENGTH_MM: Final = 88.0
# One compartment up or down (s).
LIFT_STEP: Final = 0.008
# Light levels of a clean sensor, and where blocked begins.
CLEAR_LEVEL: Final = 900
BLOCKED_LEVEL: Final = 110
THRESHOLD: Final = 500
# Motor currents (mA): running free, and against a stuck card.
IDLE_CURRENT: Final = 0
FREE_CURRENT: Final = 310
STUCK_CURRENT: Final = 1150

# The sensor that a card reaches at the end of each segment, and the motor that moves it there.
_END: Final = {
    Segment.FEED: Sensor.FEED,
    Segment.BRIDGE: Sensor.BRIDGE,
    Segment.LIFT: Sensor.LIFT,
    Segment.UNLOAD: Sensor.EXIT,
    Segment.STACK: Sensor.STACK,
}
_MOTOR: Final = {
    Segment.FEED: Motor.FEED,
    Segment.BRIDGE: Motor.TRANSPORT,
    Segment.LIFT: Motor.TRANSPORT,
    Segment.SHELF: Motor.ELEVATOR,
    Segment.UNLOAD: Motor.EJECT,
    Segment.STACK: Motor.TRANSPORT,
    Segment.DROP: Motor.TRANSPORT,
}


def _ignore(_sensor: Any, _blocked: Any) -> None:
    """Take an edge that nobody watches."""


class ShufflerMechanics:
    """One machine's moving parts. `on_edge(sensor, blocked)` is called at the device time of each edge."""

    def __init__(self, world: World, clock: DeviceClock, rng: Random, slot: str) -> None:
        self.world = world
        self.clock = clock
        self.rng = rng
        self.slot = slot
        self.on_edge: Callable[[Sensor, bool], None] = _ignore
        self.door_open = False
        self._blocked: set[Sensor] = set()
        self._currents = dict.fromkeys(Motor, IDLE_CURRENT)
        self._wear = dict.fromkeys(Segment, 1.0)
        self._dust = dict.fromkeys(Sensor, 0.0)
        self._pending: list[Fault] = []
        self._moved = {False: 0, True: 0}  # cards begun in this phase, by unloading
        self._timers: list[Timer] = []
        self._shelf = (0, False)  # where the elevator stands, and whether it stores underneath

    # --- places ----------------------------------------------------------------------------------------------

    def place(self, name: str) -> str:
        """Return the world's name for a place in this machine."""
        return f"{self.slot}/{name}"

    def segment_place(self, segment: Segment) -> str:
        """Return the place of cards in a segment."""
        return self.place(SEGMENTS[segment])

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

    # --- what the firmware can see -----------------------------------------------------------------------------

    def blocked(self, sensor: Sensor) -> bool:
        """Tell what a sensor shows; intake and gate look at piles, the others at the path."""
        if sensor is Sensor.INTAKE:
            return self.world.count(self.intake) > 0
        if sensor is Sensor.GATE:
            return self.world.count(self.gate) > 0
        return sensor in self._blocked or self._level(sensor) < THRESHOLD

    def levels(self) -> list[SensorLevel]:
        """Return every sensor's light level."""
        return [SensorLevel(self.blocked(sensor), self._level(sensor), THRESHOLD) for sensor in Sensor]

    def currents(self) -> list[int]:
        """Return every motor's current in mA."""
        return [self._currents[motor] for motor in Motor]

    def read_face(self) -> int | None:
        """Read the face of the card at the feed sensor, as a camera there would; None if there is none."""
        cards = self.world.at(self.segment_place(Segment.BRIDGE))
        return cards[-1].face if cards else None

    def _level(self, sensor: Sensor) -> int:
        covered = sensor in self._blocked
        if sensor in (Sensor.INTAKE, Sensor.GATE):
            covered = self.blocked(sensor)
        return BLOCKED_LEVEL if covered else round(CLEAR_LEVEL * (1 - self._dust[sensor]))

    # --- what the firmware can do --------------------------------------------------------------------------------

    def begin_phase(self, *, unloading: bool) -> None:
        """Start counting cards of a phase, for faults that name a card."""
        self._moved[unloading] = 0

    def route(self, compartment: int, *, bottom: bool) -> float:
        """Send the elevator to a compartment, for the next card to be stored; return how long it takes (s)."""
        took = abs(compartment - self._shelf[0]) * LIFT_STEP
        self._shelf = (compartment, bottom)
        return took

    def feed(self) -> None:
        """Draw the top card from the intake and bring it to where the elevator then stands."""
        pile = self.world.at(self.intake)
        self._run_motors(Motor.FEED, Motor.TRANSPORT, Motor.ELEVATOR)
        if not pile:
            return
        self._moved[False] += 1
        double = self._due("double_feed") if len(pile) > 1 else None
        cards = pile[-2:] if double else pile[-1:]
        lag = double.number("offset") / CARD_LENGTH_MM * PASSING if double else 0.0
        self._travel(cards, Segment.FEED, lag, lambda: self._store(cards))

    def unload(self, compartment: int) -> None:
        """Push the top card of a compartment out towards the gate."""
        pile = self.world.at(self.compartment(compartment))
        self._run_motors(Motor.EJECT, Motor.TRANSPORT)
        if not pile:
            return
        self._moved[True] += 1
        cards = pile[-1:]
        self._travel(cards, Segment.UNLOAD, 0.0, lambda: self._lay(cards, self.gate))

    def open_gate(self) -> None:
        """Open the gate: the cards behind it can be taken."""
        self.world.move_all(self.gate, self.place("presented"))

    def halt(self) -> None:
        """All motors off; every card stays where it is."""
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        self._currents = dict.fromkeys(Motor, IDLE_CURRENT)

    # --- hands and faults ----------------------------------------------------------------------------------------

    def inject(self, fault: Fault) -> None:
        """Let something happen to the mechanics; BadFault if it cannot."""
        match fault.kind.name:
            case "jam" | "torn_card":
                segment = Segment(fault.one_of("segment", SEGMENTS))
                if fault.kind.name == "torn_card" and segment not in _END:
                    raise BadFault("torn_card: no sensor ends that segment, so a torn card there is a jam")
                fault.whole("card")
                self._pending.append(fault)
            case "double_feed":
                fault.whole("card")
                fault.number("offset")
                self._pending.append(fault)
            case "card_left_inside":
                fault.whole("card")
                self._pending.append(fault)
            case "mend":
                self._pending.clear()
                self._wear = dict.fromkeys(Segment, 1.0)
                self._dust = dict.fromkeys(Sensor, 0.0)
            case "wear":
                self._wear[Segment(fault.one_of("segment", SEGMENTS))] = 1 + fault.number("percent") / 100
            case "dust":
                self._dust[Sensor(fault.one_of("sensor", SENSORS))] = min(1.0, fault.number("percent") / 100)
            case _:
                raise BadFault(f"{fault.kind.name} does not act on the mechanics")

    def clear_path(self, to: str) -> int:
        """Hands take every card off the path (not out of the compartments); return how many."""
        taken = sum(self.world.move_all(self.segment_place(segment), to) for segment in Segment)
        self._blocked.clear()
        return taken

    # --- motion --------------------------------------------------------------------------------------------------

    def _travel(self, cards: list[Card], segment: Segment, lag: float, arrive: Callable[[], None]) -> None:
        """Move cards through a segment to the sensor at its end, then on."""
        self._lay(cards, self.segment_place(segment))
        took = TRANSIT[segment] * self._wear[segment] * self.rng.gauss(1.0, 0.03)
        if self._due("jam", segment):
            self._stick(segment, reached=self.rng.random() * took)
            return
        torn = self._due("torn_card", segment)
        self._after(took, lambda: self._reach(cards, segment, lag, arrive, torn=torn is not None))

    def _reach(
        self, cards: list[Card], segment: Segment, lag: float, arrive: Callable[[], None], *, torn: bool
    ) -> None:
        """The leading edge is at the sensor that ends the segment."""
        sensor = _END[segment]
        passing = (PASSING * self.rng.gauss(1.0, 0.02) + lag) * self._wear[segment]
        following = Segment(segment + 1)
        if torn:  # a scrap flies past the sensor; the card itself stays wound around the roller
            self.world.torn.update(card.id for card in cards)
            self._edge(sensor, True)
            self._after(passing * 0.35, lambda: self._edge(sensor, False))
            return
        self._lay(cards, self.segment_place(following))
        if following in (Segment.SHELF, Segment.DROP):
            if self._due("jam", following):
                self._edge(sensor, True)
                self._stick(following, reached=0.0)
                return
            self._after(passing, lambda: self._rest(arrive, sensor))
            self._edge(sensor, True)
            return
        # The next stretch decides whether the trailing edge still gets past this sensor.
        jam = self._due("jam", following)
        took = TRANSIT[following] * self._wear[following] * self.rng.gauss(1.0, 0.03)
        if jam:
            stuck_after = self.rng.random() * took
            if stuck_after > passing:
                self._after(passing, lambda: self._edge(sensor, False))
            self._stick(following, reached=stuck_after)
        else:
            torn_next = self._due("torn_card", following)
            self._after(passing, lambda: self._edge(sensor, False))
            self._after(took, lambda: self._reach(cards, following, lag, arrive, torn=torn_next is not None))
        self._edge(sensor, True)

    def _rest(self, arrive: Callable[[], None], sensor: Sensor) -> None:
        """The card has come to rest, clear of the last sensor."""
        arrive()
        self._edge(sensor, False)

    def _stick(self, segment: Segment, reached: float) -> None:
        """A card stops on its way and the motor works against it."""

        def strain() -> None:
            self._currents[_MOTOR[segment]] = STUCK_CURRENT

        self._after(reached, strain)

    def _store(self, cards: list[Card]) -> None:
        compartment, bottom = self._shelf
        to = self.behind_shelves if self._due("card_left_inside") else self.compartment(compartment)
        for card in cards:
            self.world.move(card, to, bottom=bottom)

    def _lay(self, cards: list[Card], to: str) -> None:
        for card in cards:
            self.world.move(card, to)

    def _edge(self, sensor: Sensor, blocked: bool) -> None:
        if blocked:
            self._blocked.add(sensor)
        else:
            self._blocked.discard(sensor)
        self.on_edge(sensor, blocked)

    def _after(self, seconds: float, call: Callable[[], None]) -> None:
        self._timers = [timer for timer in self._timers if timer.call is not None and timer.at >= self.clock.now]
        self._timers.append(self.clock.after(max(0.0, seconds), call))

    def _run_motors(self, *motors: Motor) -> None:
        self._currents = {motor: FREE_CURRENT if motor in motors else IDLE_CURRENT for motor in Motor}

    def _due(self, name: str, segment: Segment | None = None) -> Fault | None:
        """Return and use up a pending fault of this name that fits the card now moving."""
        for fault in self._pending:
            if fault.kind.name != name:
                continue
            if segment is not None and fault.one_of("segment", SEGMENTS) != segment:
                continue
            unloading = segment is not None and segment >= Segment.UNLOAD
            if fault.whole("card") in (0, self._moved[unloading]):
                self._pending.remove(fault)
                return fault
        return None
