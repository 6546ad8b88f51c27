"""What can be measured in a dossier: pulses, ratios to the machine's past, strain, blind sensors. Judges nothing."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

from table_controller.diagnosis.card_paths import BY_HAND, PATHS

if TYPE_CHECKING:
    from table_controller.diagnosis.card_paths import Leg
    from table_controller.diagnosis.dossier import Dossier, Edge


class Thresholds(NamedTuple):
    """Where one reading ends and another begins; fitted by `python -m tools.accuracy --fit`, on seeds of their own."""

    strain: int = 560  # mA: a motor that works against something
    stall: int = 900  # mA: as much as a motor draws that does not turn at all
    dim: int = 123  # light of a sensor that is dark, but not as dark as under a card
    slow: float = 1.06  # of the usual time: the card under way drags
    long: float = 1.1  # a pulse so many times what the card's speed accounts for is more than one card
    early: float = 0.6  # of the usual time: what came sooner is not what was waited for
    hasty: float = 1.5  # of the usual time: a machine that waited less has not waited long enough
    drift: float = 1.5  # of the least time: the roller grips worse than it did
    late: float = 1.08  # of the usual time, the cards of one motion on the average: many of them slip


# One reading of light or current is off by some percent: so far from its threshold it is sure, so near it may be.
CLEARLY: Final = 0.85
PERHAPS: Final = 0.95


class Pulse(NamedTuple):
    """A sensor was dark: from how long before the halt, and how long; None while it still was (microseconds)."""

    since: int
    length: int | None


def pulses(edges: tuple[Edge, ...]) -> dict[str, list[Pulse]]:
    """Return every sensor's pulses, the oldest first. A trailing edge without a leading one counts for none."""
    by_sensor: dict[str, list[Pulse]] = {}
    for edge in edges:
        mine = by_sensor.setdefault(edge.sensor, [])
        if edge.blocked:
            mine.append(Pulse(edge.before_us, None))
        elif mine and mine[-1].length is None:
            mine[-1] = Pulse(mine[-1].since, mine[-1].since - edge.before_us)
    return by_sensor


class Readings:
    """One dossier, measured. Everything that was not told is None, never a guess."""

    def __init__(self, dossier: Dossier, thresholds: Thresholds) -> None:
        self.dossier = dossier
        self.path = PATHS[dossier.machine.kind]
        self.by_hand = BY_HAND in dossier.machine.capabilities
        self._t = thresholds
        self._pulses = pulses(dossier.edges)

    @property
    def leg(self) -> Leg:
        """The leg on which it happened."""
        return self.path.legs[self.dossier.halt.leg or 0]

    # --- motors -------------------------------------------------------------------------------------------------------

    def strained(self, motor: str) -> bool | None:
        """Tell whether a motor worked against something when motion broke off."""
        drawn = self.dossier.current(motor)
        return None if drawn is None or self.by_hand else drawn >= self._t.strain

    def runs_free(self, motor: str) -> bool:
        """Tell whether a motor surely worked against nothing: a reading that is far from strain, noise and all."""
        drawn = self.dossier.current(motor)
        return drawn is not None and drawn <= self._t.strain * CLEARLY

    def seized(self, segment: str) -> bool:
        """Tell whether a motor may not turn at all: it strains, and nothing that it moves went on since its command.

        It draws its whole stall current then; or it halted before, was cleared, and stands still again at once.
        """
        motor = self.leg.stretches[self.leg.place(segment)].motor
        drawn = self.dossier.current(motor)
        if self.dossier.halt.card != 1 or drawn is None or not self.strained(motor):
            return False
        inward = any(stretch.motor == motor for stretch in self.path.legs[0].stretches)
        # What a machine keeps went in with an earlier motion, and says nothing of this one.
        went_in = bool(self.dossier.halt.counted_in) and not self.dossier.account.keeps
        turned = self.dossier.halt.leg == 1 and inward and went_in
        return self.again or (drawn >= self._t.stall and not turned)

    @property
    def again(self) -> bool:
        """Tell whether the motion before this one, clearing aside, ended in a jam too."""
        before = [end.said for end in self.dossier.ends if end.said != "Cleared"]
        return bool(before) and before[-1] == "Jam"

    # --- sensors ------------------------------------------------------------------------------------------------------

    def dark(self, sensor: str | None) -> bool | None:
        """Tell whether a sensor was dark."""
        level = self.dossier.level(sensor) if sensor else None
        return level.blocked if level is not None else None

    def dark_path(self) -> tuple[str, ...]:
        """Return the sensors of the card path that are dark; piles are no part of it."""
        on_path = [sensor for leg in self.path.legs for sensor in leg.sensors]
        return tuple(x.sensor for x in self.dossier.levels if x.blocked and x.threshold and x.sensor in on_path)

    def left_on(self, sensor: str) -> bool:
        """Tell whether the newest edge at a sensor is a card that came and did not go."""
        mine = self._pulses.get(sensor)
        return mine is not None and mine[-1].length is None

    def blind(self, sensor: str | None) -> bool:
        """Tell whether a sensor is dark although no card's leading edge came to it: it was dark before."""
        if sensor is None or not self.dark(sensor):
            return False
        mine = self._pulses.get(sensor)
        return self.dim(sensor) or not mine or mine[-1].length is not None

    def dim(self, sensor: str | None) -> bool:
        """Tell whether a sensor is dark, but not as dark as a card makes it."""
        level = self.dossier.level(sensor) if sensor else None
        return level is not None and level.blocked and level.level > self._t.dim

    def clearly_dim(self, sensor: str) -> bool:
        """Tell whether a sensor that is dark is surely not covered by a card: its reading is far from that."""
        level = self.dossier.level(sensor)
        return level is not None and level.blocked and level.level * CLEARLY > self._t.dim

    def perhaps_dim(self, sensor: str | None) -> bool:
        """Tell whether a dark sensor's reading leaves open that no card makes it so."""
        level = self.dossier.level(sensor) if sensor else None
        return level is not None and level.blocked and level.level > self._t.dim * PERHAPS

    def skipped(self, segment: str) -> str | None:
        """Return the sensor beyond a segment's end that saw a card although the one at its end did not."""
        later = self.leg.sensors[self.leg.place(segment) + 1 :]
        newest = self.dossier.edges[-1] if self.dossier.edges else None
        return newest.sensor if newest and newest.blocked and newest.sensor in later else None

    def reached(self, sensor: str) -> str:
        """Return the last sensor that saw the leading edge of the piece whose pulse at `sensor` was the last one."""
        mine = self._pulses.get(sensor)
        if not mine:
            return sensor
        for later in reversed(self.leg.sensors[self.leg.sensors.index(sensor) + 1 :]):
            theirs = self._pulses.get(later)
            if theirs and theirs[-1].since <= mine[-1].since:
                return later
        return sensor

    # --- times --------------------------------------------------------------------------------------------------------

    def pulse(self, sensor: str) -> float | None:
        """Return the last whole pulse at a sensor as so many times the ones before it."""
        mine = [pulse.length for pulse in self._pulses.get(sensor, ()) if pulse.length]
        newest = self._pulses.get(sensor, [])[-1:]
        if not newest or newest[0].length is None or len(mine) < 2:
            return None
        return mine[-1] / median(mine[:-1])

    def transit(self, segment: str) -> float | None:
        """Return the last time through a segment as so many times the usual."""
        usual, now = self.dossier.usual(segment), self.dossier.time(segment)
        return now.last / usual.mean if usual and now and usual.mean else None

    def drifted(self, segment: str) -> float | None:
        """Return the last time through a segment as so many times the least that was ever needed."""
        usual, now = self.dossier.usual(segment), self.dossier.time(segment)
        return now.last / min(now.least, usual.least) if usual and now and now.least and usual.least else None

    def lately(self, segment: str) -> float | None:
        """Return the mean time of the cards of this motion, the last one left out, as so many times the usual."""
        usual, now = self.dossier.usual(segment), self.dossier.time(segment)
        if not usual or not now or not usual.mean:
            return None
        older = usual if usual is not now and usual.cards < now.cards else None
        cards = now.cards - 1 - (older.cards if older else 0)
        total = now.cards * now.mean - now.last - (older.cards * older.mean if older else 0)
        return total / cards / usual.mean if cards > 0 else None

    def spread(self, segment: str) -> float | None:
        """Return the longest time through a segment as so many times the least."""
        now = self.dossier.time(segment)
        return now.most / now.least if now and now.least else None

    def gives_up(self) -> bool:
        """Tell whether cards leave the store so late, in a machine that takes late ones for none, that some may be."""
        leg = self.path.legs[1]
        first = leg.stretches[0].segment
        spread, drift, lately = self.spread(first), self.drifted(first), self.lately(first)
        if not leg.gives_up or spread is None or spread < self._t.hasty:
            return False
        return (drift is not None and drift >= self._t.drift) or (lately is not None and lately >= self._t.late)

    def waited(self, segment: str) -> float | None:
        """Return how long the machine waited for a card in a segment, as so many times the usual."""
        usual, waited = self.dossier.usual(segment), self.dossier.waited_us
        return waited / usual.mean if usual and usual.mean and waited is not None else None

    def slowness(self, segment: str) -> float | None:
        """Return how slow the card that stopped in a segment was on its way there: 1 is like any other.

        A pulse is measured more sharply than a transit, and weighs twice as much.
        """
        if self.by_hand:
            return None
        ratios: list[float] = []
        for stretch in self.leg.stretches[: self.leg.place(segment)]:
            ratios += [ratio for ratio in (self.transit(stretch.segment),) if ratio is not None]
            if stretch.sensor is not None:
                ratios += [ratio for ratio in (self.pulse(stretch.sensor),) if ratio is not None] * 2
        return sum(ratios) / len(ratios) if ratios else None
