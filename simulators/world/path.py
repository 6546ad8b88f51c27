"""The card path of a machine that moves cards: segments, sensors, motors, and what can go wrong in transit.

The firmware switches motors; sensors answer with edges. The world holds the true places of the cards; the firmware sees
only the sensors. Each machine defines its own path.
"""

from __future__ import annotations

from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from devices.path_telemetry import OpticalLevel
from firmware_bridge.errors import BadFault
from simulators.world.noise import SensorNoise
from simulators.world.path_layout import PathSegment

if TYPE_CHECKING:
    from collections.abc import Callable
    from enum import IntEnum
    from random import Random

    from simulators.engine.device_clock import DeviceClock, DeviceTimer
    from simulators.engine.faults import InjectedFault
    from simulators.world.cards import Card, World
    from simulators.world.path_layout import PathLayout

# Time that a card takes to pass one point (s), when the machine is new.
PASSING_TIME_S: Final = 0.040
CARD_LENGTH_MM: Final = 88.0
# A roller that slips grips again after this share of its segment's transit time.
GRIP_AGAIN: Final = 0.8
# Light levels of a clean sensor, and the threshold for blocked; readings are noisy.
CLEAR_LEVEL: Final = 900
BLOCKED_LEVEL: Final = 110
THRESHOLD: Final = 500
# Motor currents (mA): off, running free, and stalled by a stuck card; readings are noisy.
IDLE_CURRENT: Final = 0
FREE_CURRENT: Final = 310
STUCK_CURRENT: Final = 1150
# A foreign object in the path shades a sensor by this share (least and most): always enough to block it.
SHADE: Final = (0.5, 0.85)
# Ended timers are removed when there are this many.
_MANY: Final = 32


class CardFate(Enum):
    """What happens to a card in a segment."""

    PASSES = "it gets to the end"
    STICKS = "it stays in it"
    TEARS = "it gets to the end and tears there"


def _ignore(_sensor: Any, _blocked: Any) -> None:
    """Ignore an edge."""


class CardPathMechanics:
    """One machine's moving parts. `on_edge(sensor, blocked)` is called at the device time of each edge."""

    def __init__(self, layout: PathLayout, world: World, clock: DeviceClock, rng: Random, slot: str) -> None:
        self.layout = layout
        self.world = world
        self.clock = clock
        self.rng = rng
        self.slot = slot
        self.on_edge: Callable[[Any, bool], None] = _ignore
        self.door_open = False
        self.piles: dict[Any, str] = {}  # sensors that look at a pile, and its place; the others look at the path
        self._blocked: set[Any] = set()
        self._currents = dict.fromkeys(layout.motors, IDLE_CURRENT)
        self._dust: dict[Any, float] = {}  # share of light that a sensor has lost to dust
        self._shade: dict[Any, float] = {}  # share of light that a foreign object blocks
        self._seized: set[Any] = set()  # motors that do not turn
        self._pending: list[InjectedFault] = []
        self._moved = [0] * len(layout.last_segments)  # cards started in this phase, by leg
        self._timers: list[DeviceTimer] = []
        self._noise = SensorNoise(rng, layout.motors, layout.sensors)
        self._slowness = self._noise.slowness(clock.now)
        self._stretches = {
            segment: PathSegment(layout, segment, self.place(segment.name.lower())) for segment in layout.segments
        }
        for stretch, following in pairwise(self._stretches.values()):
            stretch.next = following
        # Constant; kept because every card needs them.
        self._motors, self._sensors = tuple(layout.motors), tuple(layout.sensors)
        self._words = layout.words(layout.segments)
        self._before = {  # for each sensor: the sensors before it in its leg
            sensor: tuple(
                end
                for before, end in layout.end_sensors.items()
                if before < segment and layout.leg(before) == layout.leg(segment)
            )
            for segment, sensor in layout.end_sensors.items()
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
        """Return whether a sensor is blocked."""
        if sensor in self.piles:
            return self.has_pile(sensor)
        return sensor in self._blocked or self._dim(sensor)

    def has_pile(self, sensor: IntEnum) -> bool:
        """Return whether a sensor detects a pile; False if this machine has no pile there."""
        pile = self.piles.get(sensor)
        return pile is not None and self.world.count(pile) > 0

    def _dim(self, sensor: IntEnum) -> bool:
        """Return whether a sensor is dark without a card in front of it."""
        return self._clear_level(sensor) < THRESHOLD

    def levels(self) -> list[OpticalLevel]:
        """Return every sensor's light level."""
        read = self._noise.light
        readings = [(sensor, self.blocked(sensor)) for sensor in self._sensors]
        return [
            OpticalLevel(dark, read(sensor, self._level(sensor), THRESHOLD, blocked=dark), THRESHOLD)
            for sensor, dark in readings
        ]

    def blocked_bits(self) -> int:
        """Return which sensors are blocked, one bit each."""
        if self._dust or self._shade:
            return sum([1 << sensor for sensor in self._sensors if self.blocked(sensor)])
        dark = [sensor for sensor, pile in self.piles.items() if self.world.count(pile)]
        return sum([1 << sensor for sensor in (*dark, *self._blocked)])

    def currents(self) -> list[int]:
        """Return every motor's current in mA."""
        return [self._noise.current(motor, self._currents[motor]) for motor in self._motors]

    def _level(self, sensor: IntEnum) -> int:
        covered = self.has_pile(sensor) or sensor in self._blocked
        return BLOCKED_LEVEL if covered else self._clear_level(sensor)

    def _clear_level(self, sensor: IntEnum) -> int:
        lost = 1 - (1 - self._dust.get(sensor, 0.0)) * (1 - self._shade.get(sensor, 0.0))
        return round(CLEAR_LEVEL * (1 - lost))

    # --- what the firmware can do --------------------------------------------------------------------------------

    def begin_phase(self, *, leg: int) -> None:
        """Start counting the cards of a leg, for faults that name a card; read the temperature effect."""
        self._moved[leg] = 0
        self._slowness = self._noise.slowness(self.clock.now)

    def jog(self, motor: IntEnum) -> None:
        """Switch one motor on, with no card in reach of its rollers."""
        self._currents[motor] = STUCK_CURRENT if motor in self._seized else FREE_CURRENT

    def turns(self, motor: IntEnum) -> bool:
        """Return whether a motor turns when it is switched on, by its encoder."""
        return motor not in self._seized

    def halt(self) -> None:
        """All motors off; every card stays where it is."""
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        self._run_motors()

    # --- hands and faults ----------------------------------------------------------------------------------------

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of the mechanics; BadFault if it is impossible."""
        layout = self.layout
        segments = layout.words(layout.segments)
        match fault.kind.name:
            case "jam" | "torn_card" | "bent_card" | "foreign_object" as name:
                segment = layout.segments(fault.choice_index("segment", segments))
                if name in ("torn_card", "foreign_object") and segment not in layout.end_sensors:
                    raise BadFault(f"{name}: no sensor ends that segment, so there it is a jam")
                fault.integer("card")
                if name == "bent_card":
                    fault.number("percent")
                self._pending.append(fault)
            case "double_feed":
                fault.integer("card")
                fault.number("offset")
                self._pending.append(fault)
            case "card_left_inside":
                fault.integer("card")
                self._pending.append(fault)
            case "mend":
                self._pending.clear()
                for stretch in self._stretches.values():
                    stretch.mend()
                self._dust.clear()
                self._shade.clear()
                self._seized.clear()
            case "seized":
                self._seized.add(layout.motors(fault.choice_index("motor", layout.words(layout.motors))))
            case "wear":
                worn = self._stretches[layout.segments(fault.choice_index("segment", segments))]
                worn.wear = 1 + fault.number("percent") / 100
            case "slip":
                worn = self._stretches[layout.segments(fault.choice_index("segment", segments))]
                worn.slip = min(0.9, fault.number("percent") / 100)
            case "dust":
                sensor = layout.sensors(fault.choice_index("sensor", layout.words(layout.sensors)))
                self._dust[sensor] = min(1.0, fault.number("percent") / 100)
            case _:
                raise BadFault(f"{fault.kind.name} does not act on the mechanics")

    def clear_path(self, to: str) -> int:
        """Take all cards off the path by hand (not out of the piles); return how many."""
        taken = sum(self.world.move_all(self.segment_place(segment), to) for segment in self.layout.segments)
        self._shade.clear()
        self._blocked.clear()
        return taken

    # --- motion --------------------------------------------------------------------------------------------------

    def _send(
        self, pile: list[Card], segment: IntEnum, arrive: Callable[[list[Card]], None], double: InjectedFault | None
    ) -> None:
        """Draw the top card of a pile, or two that stick together, into a leg's first segment; `arrive` stores it."""
        cards = pile[-2:] if double else pile[-1:]
        lag = double.number("offset") / CARD_LENGTH_MM * PASSING_TIME_S if double else 0.0
        self._enter(cards, self._stretches[segment], lag, arrive)

    def _enter(self, cards: list[Card], stretch: PathSegment, lag: float, arrive: Callable[[list[Card]], None]) -> None:
        """Move cards through a leg's first segment to the sensor at its end, then on."""
        self._lay(cards, stretch.place)
        took, fate = self._transit(stretch), self._fate(stretch)
        if fate is CardFate.STICKS:
            self._stick(stretch, reached=self.rng.random() * took)
        else:
            self._after(took, self._reach, cards, stretch, lag, arrive, fate)

    def _transit(self, stretch: PathSegment) -> float:
        """Return the transit time of the moving card to the sensor at the end of a segment (s)."""
        drag = self._drag(stretch) if self._pending else 1.0
        took = stretch.new_transit_s * stretch.wear * drag * self._slowness * self.rng.gauss(1.0, 0.03)
        while stretch.slip and self.rng.random() < stretch.slip:
            took += stretch.new_transit_s * GRIP_AGAIN
        return took

    def _reach(
        self, cards: list[Card], stretch: PathSegment, lag: float, arrive: Callable[[list[Card]], None], fate: CardFate
    ) -> None:
        """The leading edge is at the sensor that ends the segment."""
        sensor, following = stretch.sensor, stretch.next
        drag = self._drag(stretch) if self._pending else 1.0
        passing = (PASSING_TIME_S * self.rng.gauss(1.0, 0.02) + lag) * stretch.wear * drag * self._slowness
        if fate is CardFate.TEARS:  # a scrap passes the sensor; the card itself stays wound around the roller
            self.world.torn.update(card.id for card in cards)
            self._edge(sensor, True)
            self._after(passing * 0.35, self._edge, sensor, False)
            return
        self._lay(cards, following.place)
        if following.is_last:
            if self._fate(following) is CardFate.STICKS:
                self._edge(sensor, True)
                self._stick(following, reached=0.0)
                return
            self._after(passing, self._come_to_rest, cards, arrive, sensor)
            self._edge(sensor, True)
            return
        # The next segment decides whether the trailing edge still passes this sensor.
        took, ahead = self._transit(following), self._fate(following)
        if ahead is CardFate.STICKS:
            stuck_after = self.rng.random() * took
            if stuck_after > passing:
                self._after(passing, self._edge, sensor, False)
            self._stick(following, reached=stuck_after)
        else:
            self._after(passing, self._edge, sensor, False)
            self._after(took, self._reach, cards, following, lag, arrive, ahead)
        self._edge(sensor, True)

    def _come_to_rest(self, cards: list[Card], arrive: Callable[[list[Card]], None], sensor: Any) -> None:
        """The card has stopped, clear of the last sensor and of those before it."""
        if len(self._blocked) > 1:
            for before in self._before[sensor]:
                if before in self._blocked:
                    self._edge(before, False)
        arrive(cards)
        self._edge(sensor, False)

    def _stick(self, stretch: PathSegment, reached: float) -> None:
        """A card sticks and the motor strains."""
        if stretch.motor in self._seized:  # at once, with the full stall current
            reached, drawn = 0.0, STUCK_CURRENT
        else:
            drawn = round(STUCK_CURRENT * self._noise.stuck_current_share())
        self._after(reached, self._strain, stretch.motor, drawn)

    def _strain(self, motor: Any, drawn: int) -> None:
        self._currents[motor] = drawn

    def _lay(self, cards: list[Card], to: str) -> None:
        for card in cards:
            self.world.move(card, to)

    def _fate(self, stretch: PathSegment) -> CardFate:
        """Return what happens to the card that enters a segment; a foreign object also shades the sensor at its end."""
        if stretch.motor in self._seized:
            return CardFate.STICKS
        if not self._pending:
            return CardFate.PASSES
        segment = stretch.segment
        if self._due("foreign_object", segment):
            self._shade[stretch.sensor] = self.rng.uniform(*SHADE)
            return CardFate.STICKS
        if self._due("jam", segment) or self._due("bent_card", segment):
            return CardFate.STICKS
        return CardFate.TEARS if self._due("torn_card", segment) else CardFate.PASSES

    def _drag(self, stretch: PathSegment) -> float:
        """Return the factor on the transit time of the moving card in a segment, above 1 if the card is bent."""
        for fault in self._pending:
            if fault.kind.name == "bent_card" and fault.integer("card") in (0, self._moved[stretch.leg]):
                sticks_in = fault.choice_index("segment", self._words)
                if sticks_in >= stretch.segment and self.layout.leg(sticks_in) == stretch.leg:
                    return 1 + fault.number("percent") / 100
        return 1.0

    def _edge(self, sensor: Any, blocked: bool) -> None:
        """A card's edge is at a sensor; a dark sensor does not detect it."""
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
            self._timers = [timer for timer in self._timers if not timer.is_over]
        self._timers.append(self.clock.after(seconds if seconds > 0 else 0.0, call, *args))

    def _run_motors(self, *motors: IntEnum) -> None:
        """Switch these motors on and the others off."""
        self._currents = dict.fromkeys(self._motors, IDLE_CURRENT)
        for motor in motors:
            self._currents[motor] = FREE_CURRENT

    def _due(self, name: str, segment: IntEnum | None = None) -> InjectedFault | None:
        """Return and remove a pending fault of this name that applies to the moving card."""
        if not self._pending:
            return None
        leg = 0 if segment is None else self._stretches[segment].leg
        for fault in self._pending:
            if fault.kind.name != name:
                continue
            if segment is not None and fault.choice_index("segment", self._words) != segment:
                continue
            if fault.integer("card") in (0, self._moved[leg]):
                self._pending.remove(fault)
                return fault
        return None
