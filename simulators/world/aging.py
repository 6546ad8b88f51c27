"""How a simulated shuffler or shoe ages over thousands of cards: seeded histories of reports, and how each ends.

It uses the mechanics' times and the firmware's statistics and time limits card by card, but no frames and no timers, so
that a year takes a second. A test shows that a machine on the wire reports the same.
"""

from __future__ import annotations

from math import pi, sin
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

from simulators.kinds.shared.card_tracker import LATE_FACTOR
from simulators.kinds.shared.transit_statistics import TransitLog
from simulators.kinds.shoe import mechanics
from simulators.kinds.shoe.mechanics import ShoeMechanics
from simulators.kinds.shuffler import mechanics as shuffler
from simulators.kinds.shuffler.mechanics import ShufflerMechanics
from simulators.world.path import PASSING_TIME_S, THRESHOLD, CardPathMechanics

if TYPE_CHECKING:
    from collections.abc import Iterator
    from enum import IntEnum

    from devices.path_telemetry import OpticalLevel, TransitTimes
    from simulators.engine.device_clock import DeviceClock
    from simulators.world.cards import World

DECK: Final = 53
KINDS: Final = ("healthy", "slow_wear", "fast_wear", "dust", "sudden")
# Segments with a transit time have rollers; each ends at a sensor on the path.
LAYOUTS: Final = {"shuffler": shuffler.LAYOUT, "shoe": mechanics.PATH}


class AgingPlan(NamedTuple):
    """How one machine ages, drawn from a seed; names that end with `_card` or `_cards` count cards."""

    kind: str
    wear_starts_card: int  # healthy until this card
    wear_lasts_cards: int  # cards from there until it is worn out
    segment: IntEnum
    sensor: IntEnum
    wear_exponent: float  # 1: wear is even; more: slow at first, then fast
    cards: int  # the history ends after so many cards at the latest
    temperature: tuple[float, float, float]  # temperature: amplitude of slowness, period in cards, phase
    temperature_effect: tuple[float, ...]  # effect of the temperature on each segment
    second_deck_slowness: float  # how much slower the second deck is
    bent_deck: tuple[int, int, float, IntEnum]  # a bent deck: first card, number of cards, slower by, segment
    power_cycle_cards: int  # power is cycled after so many cards: statistics from zero, cold grease


class WearReport(NamedTuple):
    """What the machine reports after a deck: cards since it was new, its statistics, its sensor levels."""

    cards: int
    transits: list[TransitTimes]
    levels: list[OpticalLevel]


class AgingEnd(NamedTuple):
    """How a history ended: after so many cards, by a jam in a segment, by a blind sensor, or without a fault."""

    cards: int
    segment: IntEnum | None = None
    sensor: IntEnum | None = None


# Cards from the first sign of wear to the end, for the kinds that age.
_WEAR_CARDS: Final = {"slow_wear": (5_000, 11_000), "fast_wear": (1_200, 3_500), "dust": (2_500, 9_000)}


def draw_plan(kind: str, seed: int, machine: str = "shuffler") -> AgingPlan:
    """Return how the machine of one seed ages."""
    layout = LAYOUTS[machine]
    rng = Random(f"{machine} {kind} {seed}")
    begins, lasts = rng.randrange(1_500, 5_000), rng.randrange(*_WEAR_CARDS.get(kind, (1, 2)))
    return AgingPlan(
        kind, begins, lasts, rng.choice(tuple(layout.transit_s)), rng.choice(tuple(layout.end_sensors.values())),
        rng.uniform(1.0, 2.2), begins + 2 * lasts if kind in _WEAR_CARDS else rng.randrange(9_000, 13_000),
        (rng.uniform(0.01, 0.05), rng.uniform(3_000, 9_000), rng.uniform(0, 2 * pi)),
        tuple(rng.uniform(0.6, 1.4) for _ in layout.segments), rng.uniform(0.0, 0.03),
        (rng.randrange(2_000, 9_000), rng.choice((0, rng.randrange(300, 1_500))), rng.uniform(0.02, 0.06),
         next(iter(layout.transit_s))),
        rng.randrange(3_000, 8_000),
    )  # fmt: skip


class AgingPath(CardPathMechanics):
    """Mechanics that run through an `AgingPlan`, a deck at a time. The clock is not used."""

    def run(self, ahead: AgingPlan) -> Iterator[WearReport | AgingEnd]:
        """Yield the report after every deck, and the end."""
        self._watching = tuple(self.layout.end_sensors.values())
        log, since = self._switched_on(), 0
        self._wander = dict.fromkeys(self.layout.segments, 0.0)
        deck = 0
        while deck * DECK < ahead.cards:
            cards = deck * DECK
            deck += 1
            if since >= ahead.power_cycle_cards:
                log, since = self._switched_on(), 0
            self._age(ahead, cards, since, deck)
            end = self._run_deck(ahead, cards, log)
            if end is not None:
                yield end
                return
            since += DECK
            yield WearReport(cards + DECK, log.segments(), self.levels())
        yield AgingEnd(ahead.cards)

    def _switched_on(self) -> TransitLog:
        return TransitLog(self.layout.segments, self.layout.sensors, PASSING_TIME_S)

    def _age(self, ahead: AgingPlan, cards: int, since: int, deck: int) -> None:
        """Set the wear of rollers and the dust of sensors for the next deck."""
        most, period, phase = ahead.temperature
        slow = most * sin(2 * pi * cards / period + phase) + ahead.second_deck_slowness * (deck % 2)
        slow += 0.05 * max(0.0, 1 - since / 300)  # cold grease
        used = max(0.0, (cards - ahead.wear_starts_card) / ahead.wear_lasts_cards)
        for segment in self.layout.segments:
            self._wander[segment] += self.rng.gauss(0.0, 0.0005)
            self._stretches[segment].wear = 1 + slow * ahead.temperature_effect[segment] + self._wander[segment]
        came, stays, slower, where = ahead.bent_deck
        if came <= cards < came + stays:
            self._stretches[where].wear += slower
        for sensor in self._watching:
            self._dust[sensor] = max(0.0, self.rng.gauss(0.01, 0.006))
        if ahead.kind in ("slow_wear", "fast_wear"):
            worn = self._stretches[ahead.segment]
            worn.wear *= 1 + 0.35 * used**ahead.wear_exponent
            worn.slip = min(0.6, 0.22 * max(0.0, used - 0.3) ** 2)
        elif ahead.kind == "dust":
            self._dust[ahead.sensor] += 0.45 * used**ahead.wear_exponent

    def _run_deck(self, ahead: AgingPlan, cards: int, log: TransitLog) -> AgingEnd | None:
        """Run a deck; return the end of the history if the machine jams or a sensor is blind."""
        for sensor in self._watching:
            if self._level(sensor) < THRESHOLD:
                return AgingEnd(cards, sensor=sensor)
        stuck_at = ahead.wear_starts_card + 2_000 if ahead.kind == "sudden" else -1
        transit, note, usual, stretches = self._transit, log.record_transit, self.layout.transit_s, self._stretches
        for card in range(cards, cards + DECK):
            if card == stuck_at:
                return AgingEnd(card, ahead.segment)
            for segment in usual:
                took = transit(stretches[segment])
                if took > usual[segment] * LATE_FACTOR:
                    return AgingEnd(card, segment)
                note(segment, took)
        return None


class AgingShuffler(AgingPath, ShufflerMechanics):
    """A shuffler that ages."""


class AgingShoe(AgingPath, ShoeMechanics):
    """An automated shoe that ages: every card of a deck is loaded, drawn and put into the slot."""


def make_aging_machine(machine: str, world: World, clock: DeviceClock, rng: Random) -> AgingPath:
    """Return a machine of one kind, as new."""
    machine_class = {"shuffler": AgingShuffler, "shoe": AgingShoe}[machine]
    return machine_class(world, clock, rng, f"{machine}.1")
