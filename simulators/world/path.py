"""A card path as every machine that moves cards has one: segments, sensors, motors, and what can go wrong on the way.

Motors are switched by whoever calls; sensors answer with edges. The truth about the cards is the world's; what is
seen of it is only what the sensors show. Where a machine's path leads is the machine's own business.
"""

from __future__ import annotations

from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from devices.gauges import SensorLevel
from firmware_bridge.errors import BadFault
from simulators.world.noise import Noise

if TYPE_CHECKING:
    from collections.abc import Callable
    from enum import IntEnum
    from random import Random

    from simulators.device_clock import DeviceClock, Timer
    from simulators.faults import Fault
    from simulators.world.cards import Card, World

# How long a card takes past one point (s), when the machine is new.
PASSING: Final = 0.040
CARD_LENGTH_MM: Final = 88.0
# A roller that slips takes hold again after this share of its segment's transit time.
GRIP_AGAIN: Final = 0.8
# Light levels of a clean sensor, and where blocked begins; what is read of them is noisy.
CLEAR_LEVEL: Final = 900
BLOCKED_LEVEL: Final = 110
THRESHOLD: Final = 500
# Motor currents (mA): running free, and stalled by a stuck card; what is read of them is noisy.
IDLE_CURRENT: Final = 0
FREE_CURRENT: Final = 310
STUCK_CURRENT: Final = 1150
# What lies in the path keeps so much of the light off a sensor (share, least and most): always enough to darken it.
SHADE: Final = (0.5, 0.85)
# Timers of cards under way are looked through for those that are over when there are so many.
_MANY: Final = 32


class Layout(NamedTuple):
    """What a machine's path is made of, in the order a card travels it.

    A path has legs: each begins at a pile and ends with a segment of `rests`, where the card comes to rest.
    """

    segments: type[IntEnum]
    sensors: type[IntEnum]
    motors: type[IntEnum]
    ends: dict[Any, Any]  # the sensor that a card reaches at the end of a segment
    transit: dict[Any, float]  # how long it takes to get there (s), when the machine is new
    moves: dict[Any, Any]  # the motor that moves it
    rests: tuple[Any, ...]

    def words(self, parts: type[IntEnum]) -> tuple[str, ...]:
        """Return the words for segments, sensors or motors in faults and places."""
        return tuple(part.name.lower() for part in parts)

    def leg(self, segment: int) -> int:
        """Return which leg of the path a segment belongs to."""
        return sum(segment > last for last in self.rests)


class Fate(Enum):
    """What becomes of a card in a segment."""

    PASSES = "it gets to the end"
    STICKS = "it stays in it"
    TEARS = "it gets to the end and tears there"


class Stretch:
    """One segment of one machine's path: where a card is in it, what moves it on to what, and how worn that is."""

    def __init__(self, layout: Layout, segment: IntEnum, place: str) -> None:
        self.segment = segment
        self.place = place
        self.motor = layout.moves[segment]
        self.sensor = layout.ends.get(segment)  # none ends a segment in which the card comes to rest
        self.new = layout.transit.get(segment, 0.0)  # how long a card takes to that sensor (s), when all is new
        self.leg = layout.leg(segment)
        self.rests = segment in layout.rests
        self.next: Stretch  # of all but the last
        self.mend()

    def mend(self) -> None:
        """Put new rollers in."""
        self.wear = 1.0  # how many times as long everything takes
        self.slip = 0.0  # share of cards that slip


def _ignore(_sensor: Any, _blocked: Any) -> None:
    """Take an edge that nobody watches."""


class CardPath:
    """One machine's moving parts. `on_edge(sensor, blocked)` is called at the device time of each edge."""

    def __init__(self, layout: Layout, world: World, clock: DeviceClock, rng: Random, slot: str) -> None:
        self.layout = layout
        self.world = world
        self.clock = clock
        self.rng = rng
        self.slot = slot
        self.on_edge: Callable[[Any, bool], None] = _ignore
        self.door_open = False
        self.piles: dict[Any, str] = {}  # sensors that look at a pile, and where it lies; the others look at the path
        self._blocked: set[Any] = set()
        self._currents = dict.fromkeys(layout.motors, IDLE_CURRENT)
        self._dust: dict[Any, float] = {}  # how much of its light a sensor has lost, if any
        self._shade: dict[Any, float] = {}  # how much of it something else keeps off
        self._seized: set[Any] = set()  # motors that do not turn, whatever they draw
        self._pending: list[Fault] = []
        self._moved = [0] * len(layout.rests)  # cards begun in this phase, by leg
        self._timers: list[Timer] = []
        self._noise = Noise(rng, layout.motors, layout.sensors)
        self._slowness = self._noise.slowness(clock.now)
        self._stretches = {
            segment: Stretch(layout, segment, self.place(segment.name.lower())) for segment in layout.segments
        }
        for stretch, following in pairwise(self._stretches.values()):
            stretch.next = following
        # Asked for with every card, and never other than at first.
        self._motors, self._sensors = tuple(layout.motors), tuple(layout.sensors)
        self._words = layout.words(layout.segments)
        self._before = {  # the sensors that a card has passed in its leg when it reaches one
            sensor: tuple(
                end
                for before, end in layout.ends.items()
                if before < segment and layout.leg(before) == layout.leg(segment)
            )
            for segment, sensor in layout.ends.items()
        }

    # --- places ----------------------------------------------------------------------------------------------

    def place(self, name: str) -> str:
        """Return the world's name for a place in this machine."""
        return f"{self.slot}/{name}"

    def segment_place(self, segment: IntEnum) -> str:
        """Return the place of cards in a segment."""
        return self._stretches[segment].place

    # --- what the firmware can see -----------------------------------------------------------------------------

    def blocked(self, sensor: IntEnum) -> bool:
        """Tell what a sensor shows."""
        if sensor in self.piles:
            return self.lies_at(sensor)
        return sensor in self._blocked or self._dim(sensor)

    def lies_at(self, sensor: IntEnum) -> bool:
        """Tell whether a sensor shows a pile; never, if this machine has none there."""
        pile = self.piles.get(sensor)
        return pile is not None and self.world.count(pile) > 0

    def _dim(self, sensor: IntEnum) -> bool:
        """Tell whether a sensor is dark by itself, with no card before it."""
        return self._clear_level(sensor) < THRESHOLD

    def levels(self) -> list[SensorLevel]:
        """Return every sensor's light level."""
        read = self._noise.light
        readings = [(sensor, self.blocked(sensor)) for sensor in self._sensors]
        return [
            SensorLevel(dark, read(sensor, self._level(sensor), THRESHOLD, blocked=dark), THRESHOLD)
            for sensor, dark in readings
        ]

    def pattern(self) -> int:
        """Return which sensors are blocked, one bit each."""
        if self._dust or self._shade:
            return sum([1 << sensor for sensor in self._sensors if self.blocked(sensor)])
        dark = [sensor for sensor, pile in self.piles.items() if self.world.count(pile)]
        return sum([1 << sensor for sensor in (*dark, *self._blocked)])

    def currents(self) -> list[int]:
        """Return every motor's current in mA."""
        return [self._noise.current(motor, self._currents[motor]) for motor in self._motors]

    def _level(self, sensor: IntEnum) -> int:
        covered = self.lies_at(sensor) or sensor in self._blocked
        return BLOCKED_LEVEL if covered else self._clear_level(sensor)

    def _clear_level(self, sensor: IntEnum) -> int:
        lost = 1 - (1 - self._dust.get(sensor, 0.0)) * (1 - self._shade.get(sensor, 0.0))
        return round(CLEAR_LEVEL * (1 - lost))

    # --- what the firmware can do --------------------------------------------------------------------------------

    def begin_phase(self, *, leg: int) -> None:
        """Start counting the cards of a leg, for faults that name a card. Warmth changes from motion to motion."""
        self._moved[leg] = 0
        self._slowness = self._noise.slowness(self.clock.now)

    def jog(self, motor: IntEnum) -> None:
        """Switch one motor on, with nothing in reach of its rollers."""
        self._currents[motor] = STUCK_CURRENT if motor in self._seized else FREE_CURRENT

    def turns(self, motor: IntEnum) -> bool:
        """Tell whether a motor's encoder ticks when it is switched on."""
        return motor not in self._seized

    def halt(self) -> None:
        """All motors off; every card stays where it is."""
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        self._run_motors()

    # --- hands and faults ----------------------------------------------------------------------------------------

    def inject(self, fault: Fault) -> None:
        """Let something happen to the mechanics; BadFault if it cannot."""
        layout = self.layout
        segments = layout.words(layout.segments)
        match fault.kind.name:
            case "jam" | "torn_card" | "bent_card" | "foreign_object" as name:
                segment = layout.segments(fault.one_of("segment", segments))
                if name in ("torn_card", "foreign_object") and segment not in layout.ends:
                    raise BadFault(f"{name}: no sensor ends that segment, so there it is a jam")
                fault.whole("card")
                if name == "bent_card":
                    fault.number("percent")
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
                for stretch in self._stretches.values():
                    stretch.mend()
                self._dust.clear()
                self._shade.clear()
                self._seized.clear()
            case "seized":
                self._seized.add(layout.motors(fault.one_of("motor", layout.words(layout.motors))))
            case "wear":
                worn = self._stretches[layout.segments(fault.one_of("segment", segments))]
                worn.wear = 1 + fault.number("percent") / 100
            case "slip":
                worn = self._stretches[layout.segments(fault.one_of("segment", segments))]
                worn.slip = min(0.9, fault.number("percent") / 100)
            case "dust":
                sensor = layout.sensors(fault.one_of("sensor", layout.words(layout.sensors)))
                self._dust[sensor] = min(1.0, fault.number("percent") / 100)
            case _:
                raise BadFault(f"{fault.kind.name} does not act on the mechanics")

    def clear_path(self, to: str) -> int:
        """Hands take everything off the path (not out of the machine's piles); return how many cards that were."""
        taken = sum(self.world.move_all(self.segment_place(segment), to) for segment in self.layout.segments)
        self._shade.clear()
        self._blocked.clear()
        return taken

    # --- motion --------------------------------------------------------------------------------------------------

    def _send(
        self, pile: list[Card], segment: IntEnum, arrive: Callable[[list[Card]], None], double: Fault | None
    ) -> None:
        """Draw the top card of a pile into a leg's first segment, or two that stick together; `arrive` lays it down."""
        cards = pile[-2:] if double else pile[-1:]
        lag = double.number("offset") / CARD_LENGTH_MM * PASSING if double else 0.0
        self._enter(cards, self._stretches[segment], lag, arrive)

    def _enter(self, cards: list[Card], stretch: Stretch, lag: float, arrive: Callable[[list[Card]], None]) -> None:
        """Move cards through a leg's first segment to the sensor at its end, then on."""
        self._lay(cards, stretch.place)
        took, fate = self._transit(stretch), self._fate(stretch)
        if fate is Fate.STICKS:
            self._stick(stretch, reached=self.rng.random() * took)
        else:
            self._after(took, self._reach, cards, stretch, lag, arrive, fate)

    def _transit(self, stretch: Stretch) -> float:
        """Return how long the card under way takes to the sensor at the end of a segment (s)."""
        drag = self._drag(stretch) if self._pending else 1.0
        took = stretch.new * stretch.wear * drag * self._slowness * self.rng.gauss(1.0, 0.03)
        while stretch.slip and self.rng.random() < stretch.slip:
            took += stretch.new * GRIP_AGAIN
        return took

    def _reach(
        self, cards: list[Card], stretch: Stretch, lag: float, arrive: Callable[[list[Card]], None], fate: Fate
    ) -> None:
        """The leading edge is at the sensor that ends the segment."""
        sensor, following = stretch.sensor, stretch.next
        drag = self._drag(stretch) if self._pending else 1.0
        passing = (PASSING * self.rng.gauss(1.0, 0.02) + lag) * stretch.wear * drag * self._slowness
        if fate is Fate.TEARS:  # a scrap flies past the sensor; the card itself stays wound around the roller
            self.world.torn.update(card.id for card in cards)
            self._edge(sensor, True)
            self._after(passing * 0.35, self._edge, sensor, False)
            return
        self._lay(cards, following.place)
        if following.rests:
            if self._fate(following) is Fate.STICKS:
                self._edge(sensor, True)
                self._stick(following, reached=0.0)
                return
            self._after(passing, self._come_to_rest, cards, arrive, sensor)
            self._edge(sensor, True)
            return
        # The next stretch decides whether the trailing edge still gets past this sensor.
        took, ahead = self._transit(following), self._fate(following)
        if ahead is Fate.STICKS:
            stuck_after = self.rng.random() * took
            if stuck_after > passing:
                self._after(passing, self._edge, sensor, False)
            self._stick(following, reached=stuck_after)
        else:
            self._after(passing, self._edge, sensor, False)
            self._after(took, self._reach, cards, following, lag, arrive, ahead)
        self._edge(sensor, True)

    def _come_to_rest(self, cards: list[Card], arrive: Callable[[list[Card]], None], sensor: Any) -> None:
        """The card has come to rest, clear of the last sensor and of those before it."""
        if len(self._blocked) > 1:
            for before in self._before[sensor]:
                if before in self._blocked:
                    self._edge(before, False)
        arrive(cards)
        self._edge(sensor, False)

    def _stick(self, stretch: Stretch, reached: float) -> None:
        """A card stops on its way and the motor works against it."""
        if stretch.motor in self._seized:  # at once, and all of it
            reached, drawn = 0.0, STUCK_CURRENT
        else:
            drawn = round(STUCK_CURRENT * self._noise.held())
        self._after(reached, self._strain, stretch.motor, drawn)

    def _strain(self, motor: Any, drawn: int) -> None:
        self._currents[motor] = drawn

    def _lay(self, cards: list[Card], to: str) -> None:
        for card in cards:
            self.world.move(card, to)

    def _fate(self, stretch: Stretch) -> Fate:
        """Tell what becomes of the card that enters a segment; what lies there shades the sensor at its end."""
        if stretch.motor in self._seized:
            return Fate.STICKS
        if not self._pending:
            return Fate.PASSES
        segment = stretch.segment
        if self._due("foreign_object", segment):
            self._shade[stretch.sensor] = self.rng.uniform(*SHADE)
            return Fate.STICKS
        if self._due("jam", segment) or self._due("bent_card", segment):
            return Fate.STICKS
        return Fate.TEARS if self._due("torn_card", segment) else Fate.PASSES

    def _drag(self, stretch: Stretch) -> float:
        """Return how many times as long as another the card under way takes through a segment, if it is bent."""
        for fault in self._pending:
            if fault.kind.name == "bent_card" and fault.whole("card") in (0, self._moved[stretch.leg]):
                sticks_in = fault.one_of("segment", self._words)
                if sticks_in >= stretch.segment and self.layout.leg(sticks_in) == stretch.leg:
                    return 1 + fault.number("percent") / 100
        return 1.0

    def _edge(self, sensor: Any, blocked: bool) -> None:
        """A card's edge is at a sensor; a sensor that is dark anyway does not see it."""
        if (sensor in self._blocked) is blocked:
            return
        if blocked:
            self._blocked.add(sensor)
        else:
            self._blocked.discard(sensor)
        if not (self._dust or self._shade) or not self._dim(sensor):
            self.on_edge(sensor, blocked)

    def _after(self, seconds: float, call: Callable[..., None], *args: Any) -> None:
        if len(self._timers) >= _MANY:
            self._timers = [timer for timer in self._timers if not timer.over]
        self._timers.append(self.clock.after(seconds if seconds > 0 else 0.0, call, *args))

    def _run_motors(self, *motors: IntEnum) -> None:
        """Switch these motors on and the others off."""
        self._currents = dict.fromkeys(self._motors, IDLE_CURRENT)
        for motor in motors:
            self._currents[motor] = FREE_CURRENT

    def _due(self, name: str, segment: IntEnum | None = None) -> Fault | None:
        """Return and use up a pending fault of this name that fits the card now moving."""
        if not self._pending:
            return None
        leg = 0 if segment is None else self._stretches[segment].leg
        for fault in self._pending:
            if fault.kind.name != name:
                continue
            if segment is not None and fault.one_of("segment", self._words) != segment:
                continue
            if fault.whole("card") in (0, self._moved[leg]):
                self._pending.remove(fault)
                return fault
        return None
