"""The mechanics of dealing shoes: a well from which hands draw cards, and the motors of an automated shoe."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from devices.path_telemetry import OpticalLevel
from devices.shoe.messages import Motor, Segment, Sensor
from firmware_bridge.errors import BadFault
from simulators.world.cards import COVER
from simulators.world.path import CARD_LENGTH_MM, PASSING_TIME_S, CardPathMechanics
from simulators.world.path_layout import PathLayout
from simulators.world.table import LAYOUT, put_down

if TYPE_CHECKING:
    from collections.abc import Callable
    from enum import IntEnum
    from random import Random

    from simulators.engine.device_clock import DeviceClock, DeviceTimer
    from simulators.engine.faults import InjectedFault
    from simulators.world.cards import Card, World

# Transit time of each segment (s), when the machine is new.
TRANSIT: Final = {Segment.FEED: 0.080, Segment.DRAW: 0.080, Segment.EXIT: 0.060}
# Speed of a hand that draws a card, compared with the rollers.
SLOWEST_HAND: Final = 0.3
QUICKEST_HAND: Final = 1.5
# Pause between two cards that a hand draws (s).
HAND_PAUSE: Final = 0.4
# The sensors of a manual shoe.
MANUAL: Final = (Sensor.WELL, Sensor.DRAW, Sensor.EXIT)
# For each reader: the segments after and before its sensor.
_READ: Final = {Sensor.FEED: (Segment.STORE, Segment.FEED), Sensor.DRAW: (Segment.EXIT, Segment.DRAW)}

# Faults of the reader that identifies cards.
READER_FAULTS: Final = ("card_unread", "card_misread", "card_read_twice")

PATH: Final = PathLayout(
    Segment,
    Sensor,
    Motor,
    end_sensors={Segment.FEED: Sensor.FEED, Segment.DRAW: Sensor.DRAW, Segment.EXIT: Sensor.EXIT},
    transit_s=TRANSIT,
    segment_motors={
        Segment.FEED: Motor.FEED,
        Segment.STORE: Motor.TRANSPORT,
        Segment.DRAW: Motor.DRAW,
        Segment.EXIT: Motor.TRANSPORT,
        Segment.DROP: Motor.TRANSPORT,
    },
    last_segments=(Segment.STORE, Segment.DROP),
)


class Surface(Enum):
    """What an optical reader detects on the card under it."""

    BACK = "the back of a card"
    FACE = "the face of a card"
    COVER = "a cover card"


class ManualShoeMechanics(CardPathMechanics):
    """A well and its throat: cards leave the well past the sensors DRAW and EXIT, drawn by hand."""

    def __init__(self, world: World, clock: DeviceClock, rng: Random, slot: str) -> None:
        super().__init__(PATH, world, clock, rng, slot)
        self.has_value_reader = False
        self._last_value: list[int] = []  # the image that the reader still holds
        self.well = self.place("well")  # cards before they are dealt
        self.behind_well = self.place("behind_well")  # not covered by any sensor
        self.piles = {Sensor.WELL: self.well}
        self._hand: list[DeviceTimer] = []
        self._in_hand: list[Card] = []
        self._to_pull = 0  # cards that the hand still has to draw

    # --- the truth ----------------------------------------------------------------------------------------------

    def left(self) -> int:
        """Return the true number of cards in the well or behind it."""
        return self.world.playing_cards(self.well) + self.world.playing_cards(self.behind_well)

    def path_cards(self) -> list[Card]:
        """Return the cards that are really on the path, cover cards included: they block like cards."""
        return [card for segment in Segment for card in self.world.at(self.segment_place(segment))]

    def in_path(self) -> int:
        """Return the true number of cards on the path, cover cards included."""
        return len(self.path_cards())

    @property
    def drawing(self) -> bool:
        """Return whether a hand holds a card in the throat or is about to draw the next."""
        return bool(self._in_hand or self._to_pull)

    # --- what the firmware can see -----------------------------------------------------------------------------

    def surface(self, sensor: Sensor) -> Surface:
        """Return what the reader at a sensor detects, at the leading edge."""
        card = self._card_at(sensor)
        if card.face == COVER:
            return Surface.COVER
        return Surface.FACE if card.id in self.world.face_up else Surface.BACK

    def _card_at(self, sensor: Sensor) -> Card:
        after, before = _READ[sensor]
        top = self.world.top
        (card,) = top(self.segment_place(after), 1) or top(self.segment_place(before), 1)  # a torn one
        return card

    def read_values(self) -> list[int]:
        """Return what the value reader at DRAW reports of the card there: its value, nothing, or something wrong."""
        card = self._card_at(Sensor.DRAW)
        before = self._last_value
        self._last_value = [] if card.id in self.world.face_up else [card.face]  # then the reader sees a back
        if self._reader_fault("card_unread"):
            return []
        if self._reader_fault("card_misread"):
            return before
        return self._last_value * (2 if self._reader_fault("card_read_twice") else 1)

    def _reader_fault(self, name: str) -> bool:
        """Return whether a fault of the reader concerns the moving card, and end it."""
        for fault in self._pending:
            if fault.kind.name == name and fault.integer("card") in (0, self._moved[1]):
                self._pending.remove(fault)
                return True
        return False

    def levels(self) -> list[OpticalLevel]:
        """Return the level of every sensor of a manual shoe, and zero for the others."""
        every = zip(Sensor, super().levels(), strict=True)
        return [level if sensor in MANUAL else OpticalLevel(False, 0, 0) for sensor, level in every]

    # --- hands -------------------------------------------------------------------------------------------------

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of the throat; BadFault for faults of a machine with motors."""
        name = fault.kind.name
        if name in ("card_left_inside", "wear", "slip", "bent_card", "foreign_object", "seized"):
            raise BadFault(f"{name}: a manual shoe has neither rollers nor a place behind its well")
        if name in ("jam", "torn_card") and fault.text("segment") not in ("exit", "drop"):
            raise BadFault(f"{name}: a manual shoe has the segments exit and drop, not {fault.text('segment')!r}")
        if name in READER_FAULTS:
            self._inject_reader_fault(fault)
        else:
            super().inject(fault)

    def _inject_reader_fault(self, fault: InjectedFault) -> None:
        if not self.has_value_reader:
            raise BadFault(f"{fault.kind.name}: this shoe reads no card values")
        fault.integer("card")
        self._pending.append(fault)

    def pull(self, cards: int) -> None:
        """Draw so many cards by hand, one after the other; cards that stick together come together. Takes time."""
        if not self._throat_free():
            raise BadFault("a card is in the throat; nothing can be drawn past it")
        if not self.world.count(self.well):
            raise BadFault("the well is empty; there is nothing to draw")
        self._drop_hand()  # this hand replaces an earlier one
        self._to_pull = cards
        self._pull_next()

    def _throat_free(self) -> bool:
        return not any(self.world.count(self.segment_place(s)) for s in (Segment.DRAW, Segment.EXIT, Segment.DROP))

    def _pull_next(self) -> None:
        """Draw the next card, if there is one and the throat is free; otherwise stop."""
        pile = self.world.at(self.well)
        if not self._to_pull or not pile or not self._throat_free():
            self._to_pull = 0
            return
        self._to_pull -= 1
        self._moved[1] += 1
        double = self._due("double_feed", Segment.DRAW) if len(pile) > 1 else None
        cards = pile[-2:] if double else pile[-1:]
        lag = double.number("offset") / CARD_LENGTH_MM * PASSING_TIME_S if double else 0.0
        slowness = 1 / self.rng.uniform(SLOWEST_HAND, QUICKEST_HAND)
        passing = (PASSING_TIME_S * self.rng.gauss(1.0, 0.02) + lag) * slowness
        travel_time = TRANSIT[Segment.EXIT] * self.rng.gauss(1.0, 0.03) * slowness
        self._in_hand = cards
        self._lay(cards, self.segment_place(Segment.EXIT))
        self._edge(Sensor.DRAW, True)
        self._hand_after(passing, lambda: self._edge(Sensor.DRAW, False))
        if self._due("jam", Segment.EXIT):
            self._let_go()
        else:
            torn = self._due("torn_card", Segment.EXIT) is not None
            self._hand_after(travel_time, lambda: self._pulled(cards, passing, torn=torn))

    def _pulled(self, cards: list[Card], passing: float, *, torn: bool) -> None:
        """The leading edge is at the last sensor."""
        if torn:
            self.world.torn.update(card.id for card in cards)
            self._let_go()
            self._hand_after(passing * 0.35, lambda: self._edge(Sensor.EXIT, False))
        else:
            self._lay(cards, self.segment_place(Segment.DROP))
            if self._due("jam", Segment.DROP):
                self._let_go()
            else:
                self._hand_after(passing, self._out)
        self._edge(Sensor.EXIT, True)

    def _let_go(self) -> None:
        """The hand lets go; a stuck card stays where it is."""
        self._in_hand, self._to_pull = [], 0

    def _out(self) -> None:
        """The card is in the hand, clear of the last sensor."""
        put_down(self.world, self._in_hand, LAYOUT)
        self._in_hand = []
        self._edge(Sensor.EXIT, False)
        if self._to_pull:
            self._hand_after(HAND_PAUSE, self._pull_next)

    def _hand_after(self, seconds: float, call: Callable[[], None]) -> None:
        self._hand = [timer for timer in self._hand if not timer.is_over]
        self._hand.append(self.clock.after(seconds, call))

    def _drop_hand(self) -> None:
        for timer in self._hand:
            timer.cancel()
        self._hand.clear()

    def power_lost(self) -> None:
        """Motors stop; a hand does not: the card that it was drawing is out, and no sensor detected it."""
        self.halt()
        self._drop_hand()
        if self._in_hand:
            put_down(self.world, self._in_hand, LAYOUT)
            self._blocked -= {Sensor.DRAW, Sensor.EXIT}
        self._let_go()


class ShoeMechanics(ManualShoeMechanics):
    """An automated shoe: an intake, rollers that fill the well and draw from it, and a delivery slot."""

    def __init__(self, world: World, clock: DeviceClock, rng: Random, slot: str) -> None:
        super().__init__(world, clock, rng, slot)
        self.intake = self.place("intake")  # where hands put the block
        self.delivery = self.place("slot")  # where stacks are delivered
        self.piles |= {Sensor.INTAKE: self.intake, Sensor.SLOT: self.delivery}
        self.delivered = 0  # the truth: cards delivered since the slot was last empty

    @property
    def outside(self) -> tuple[str, ...]:
        """Places of this machine that hands can reach."""
        return (self.intake, self.delivery)

    def levels(self) -> list[OpticalLevel]:
        """Return every sensor's light level."""
        return CardPathMechanics.levels(self)

    def feed(self) -> None:
        """Draw the top card of the block and store it under the cards that are in the well."""
        self._run(Segment.FEED, self.intake, self._store, Motor.FEED, Motor.TRANSPORT)

    def draw(self) -> None:
        """Draw the top card of the well and deliver it into the slot."""
        self._run(Segment.DRAW, self.well, self._deliver, Motor.DRAW, Motor.TRANSPORT)

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of the mechanics; BadFault if it is impossible."""
        if fault.kind.name == "double_feed" and fault.text("segment") not in ("feed", "draw"):
            raise BadFault("double_feed: cards are drawn from a pile in segment feed or draw, nowhere else")
        if fault.kind.name in READER_FAULTS:
            self._inject_reader_fault(fault)
        else:
            CardPathMechanics.inject(self, fault)

    def _run(self, segment: Segment, place: str, arrive: Callable[[list[Card]], None], *motors: IntEnum) -> None:
        pile = self.world.top(place, 2)
        self._run_motors(*motors)
        if pile:
            self._moved[self._stretches[segment].leg] += 1
            self._send(pile, segment, arrive, self._due("double_feed", segment) if len(pile) > 1 else None)

    def _store(self, cards: list[Card]) -> None:
        to = self.behind_well if self._due("card_left_inside") else self.well
        for card in reversed(cards):
            self.world.move(card, to, bottom=True)

    def _deliver(self, cards: list[Card]) -> None:
        if not self.world.count(self.delivery):
            self.delivered = 0
        for card in cards:
            self.world.move(card, self.delivery)
            self.delivered += card.face != COVER

    def taken(self) -> None:
        """Hands took cards from the slot."""
        if not self.world.count(self.delivery):
            self.delivered = 0
