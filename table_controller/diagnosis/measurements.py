"""Measurements from a fault report: pulses, ratios to the machine's past, motor load, blind sensors."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

from table_controller.diagnosis.card_paths import BY_HAND, PATHS

if TYPE_CHECKING:
    from table_controller.diagnosis.card_paths import Leg
    from table_controller.diagnosis.fault_report import EdgeAtFault, FaultReport


class Thresholds(NamedTuple):
    """Thresholds of the measurements, fitted by `python -m tools.studies.accuracy --fit` on separate seeds."""

    strain: int = 560  # mA: a motor under load
    stall: int = 900  # mA: a motor that does not turn
    dim: int = 123  # light of a dark sensor that no card covers
    slow: float = 1.06  # of the usual time: the moving card is slow
    long: float = 1.1  # a pulse this many times the card's own is more than one card
    early: float = 0.6  # of the usual time: a sooner card is not the expected one
    hasty: float = 1.5  # of the usual time: the machine did not wait long enough
    drift: float = 1.5  # of the shortest time: the roller grips worse than before
    late: float = 1.08  # of the usual time, on average over one motion: many cards slip


# Readings of light and current have an error of some percent: factors of a threshold for a sure and a possible result.
CLEARLY: Final = 0.85
PERHAPS: Final = 0.95


class PulseReading(NamedTuple):
    """A dark period of a sensor: its start before the halt, and its length, None if still dark (microseconds)."""

    since: int
    length: int | None


def pulses(edges: tuple[EdgeAtFault, ...]) -> dict[str, list[PulseReading]]:
    """Return every sensor's pulses, the oldest first. A trailing edge without a leading one is ignored."""
    by_sensor: dict[str, list[PulseReading]] = {}
    for edge in edges:
        mine = by_sensor.setdefault(edge.sensor, [])
        if edge.blocked:
            mine.append(PulseReading(edge.before_us, None))
        elif mine and mine[-1].length is None:
            mine[-1] = PulseReading(mine[-1].since, mine[-1].since - edge.before_us)
    return by_sensor


class Measurements:
    """The measurements of one fault report. Unknown values are None, never guesses."""

    def __init__(self, report: FaultReport, thresholds: Thresholds) -> None:
        self.report = report
        self.path = PATHS[report.machine.kind]
        self.by_hand = BY_HAND in report.machine.capabilities
        self._t = thresholds
        self._pulses = pulses(report.edges)

    @property
    def leg(self) -> Leg:
        """The leg of the fault."""
        return self.path.legs[self.report.halt.leg or 0]

    # --- motors -------------------------------------------------------------------------------------------------------

    def strained(self, motor: str) -> bool | None:
        """Return whether a motor was under load at the halt."""
        drawn = self.report.current(motor)
        return None if drawn is None or self.by_hand else drawn >= self._t.strain

    def runs_free(self, motor: str) -> bool:
        """Return whether a motor surely had no load: its current is far below the threshold."""
        drawn = self.report.current(motor)
        return drawn is not None and drawn <= self._t.strain * CLEARLY

    def seized(self, segment: str) -> bool:
        """Return whether a motor may not turn: it is under load, and no card that it moves has moved since the command.

        It draws its full stall current, or it halted before and halted again at once after clearing.
        """
        motor = self.leg.stretches[self.leg.index_of(segment)].motor
        drawn = self.report.current(motor)
        if self.report.halt.card != 1 or drawn is None or not self.strained(motor):
            return False
        inward = any(stretch.motor == motor for stretch in self.path.legs[0].stretches)
        # Cards that a machine keeps went in with an earlier motion.
        went_in = bool(self.report.halt.counted_in) and not self.report.account.keeps
        turned = self.report.halt.leg == 1 and inward and went_in
        return self.jammed_before or (drawn >= self._t.stall and not turned)

    @property
    def jammed_before(self) -> bool:
        """Whether the motion before this one, apart from clearing, also ended in a jam."""
        before = [end.message for end in self.report.ends if end.message != "Cleared"]
        return bool(before) and before[-1] == "Jam"

    # --- sensors ------------------------------------------------------------------------------------------------------

    def dark(self, sensor: str | None) -> bool | None:
        """Return whether a sensor was dark; None if unknown."""
        level = self.report.level(sensor) if sensor else None
        return level.blocked if level is not None else None

    def dark_path(self) -> tuple[str, ...]:
        """Return the dark sensors of the card path, without sensors at piles."""
        on_path = [sensor for leg in self.path.legs for sensor in leg.sensors]
        return tuple(x.sensor for x in self.report.levels if x.blocked and x.threshold and x.sensor in on_path)

    def left_on(self, sensor: str) -> bool:
        """Return whether a card reached a sensor and did not leave it."""
        mine = self._pulses.get(sensor)
        return mine is not None and mine[-1].length is None

    def blind(self, sensor: str | None) -> bool:
        """Return whether a sensor is dark without a card's leading edge: it was dark before."""
        if sensor is None or not self.dark(sensor):
            return False
        mine = self._pulses.get(sensor)
        return self.dim(sensor) or not mine or mine[-1].length is not None

    def dim(self, sensor: str | None) -> bool:
        """Return whether a sensor is dark, but not as dark as under a card."""
        level = self.report.level(sensor) if sensor else None
        return level is not None and level.blocked and level.level > self._t.dim

    def clearly_dim(self, sensor: str) -> bool:
        """Return whether a dark sensor is surely not covered by a card."""
        level = self.report.level(sensor)
        return level is not None and level.blocked and level.level * CLEARLY > self._t.dim

    def perhaps_dim(self, sensor: str | None) -> bool:
        """Return whether a dark sensor is possibly not covered by a card."""
        level = self.report.level(sensor) if sensor else None
        return level is not None and level.blocked and level.level > self._t.dim * PERHAPS

    def skipped(self, segment: str) -> str | None:
        """Return the sensor beyond a segment that detected a card although the sensor at its end did not."""
        later = self.leg.sensors[self.leg.index_of(segment) + 1 :]
        newest = self.report.edges[-1] if self.report.edges else None
        return newest.sensor if newest and newest.blocked and newest.sensor in later else None

    def reached(self, sensor: str) -> str:
        """Return the last sensor that the card of the last pulse at `sensor` has reached."""
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
        """Return the last complete pulse at a sensor as a ratio to those before it."""
        mine = [pulse.length for pulse in self._pulses.get(sensor, ()) if pulse.length]
        newest = self._pulses.get(sensor, [])[-1:]
        if not newest or newest[0].length is None or len(mine) < 2:
            return None
        return mine[-1] / median(mine[:-1])

    def transit(self, segment: str) -> float | None:
        """Return the last transit time of a segment as a ratio to the usual one."""
        usual, now = self.report.usual(segment), self.report.time(segment)
        return now.last / usual.mean if usual and now and usual.mean else None

    def drifted(self, segment: str) -> float | None:
        """Return the last transit time of a segment as a ratio to the shortest ever."""
        usual, now = self.report.usual(segment), self.report.time(segment)
        return now.last / min(now.least, usual.least) if usual and now and now.least and usual.least else None

    def lately(self, segment: str) -> float | None:
        """Return the mean transit time of this motion without its last card, as a ratio to the usual one."""
        usual, now = self.report.usual(segment), self.report.time(segment)
        if not usual or not now or not usual.mean:
            return None
        older = usual if usual is not now and usual.cards < now.cards else None
        cards = now.cards - 1 - (older.cards if older else 0)
        total = now.cards * now.mean - now.last - (older.cards * older.mean if older else 0)
        return total / cards / usual.mean if cards > 0 else None

    def spread(self, segment: str) -> float | None:
        """Return the longest transit time of a segment as a ratio to the shortest."""
        now = self.report.time(segment)
        return now.most / now.least if now and now.least else None

    def gives_up(self) -> bool:
        """Return whether cards leave the store so late that the machine may have counted some as none."""
        leg = self.path.legs[1]
        first = leg.stretches[0].segment
        spread, drift, lately = self.spread(first), self.drifted(first), self.lately(first)
        if not leg.gives_up or spread is None or spread < self._t.hasty:
            return False
        return (drift is not None and drift >= self._t.drift) or (lately is not None and lately >= self._t.late)

    def waited(self, segment: str) -> float | None:
        """Return how long the machine waited for a card in a segment, as a ratio to the usual time."""
        usual, waited = self.report.usual(segment), self.report.waited_us
        return waited / usual.mean if usual and usual.mean and waited is not None else None

    def slowness(self, segment: str) -> float | None:
        """Return how slow the card that stopped in a segment was before: 1 is like any other card.

        A pulse is measured more precisely than a transit, and counts twice.
        """
        if self.by_hand:
            return None
        ratios: list[float] = []
        for stretch in self.leg.stretches[: self.leg.index_of(segment)]:
            ratios += [ratio for ratio in (self.transit(stretch.segment),) if ratio is not None]
            if stretch.sensor is not None:
                ratios += [ratio for ratio in (self.pulse(stretch.sensor),) if ratio is not None] * 2
        return sum(ratios) / len(ratios) if ratios else None
