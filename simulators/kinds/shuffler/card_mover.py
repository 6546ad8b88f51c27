"""How the firmware of a shuffler moves cards: feed, unload, watch the sensors, stop on a fault.

It knows only its sensors; tests compare its counts with the true places of the cards.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from typing import TYPE_CHECKING, Final

from devices.shuffler import messages as m
from firmware_bridge.commands import Outcome
from simulators.kinds.shared.card_tracker import CardTracker, SensorPulse, is_sensor_blind
from simulators.kinds.shared.edge_recorder import EdgeRecorder
from simulators.kinds.shared.progress_throttle import ProgressThrottle
from simulators.kinds.shuffler.counts import ShufflerCounts

if TYPE_CHECKING:
    from random import Random

    from firmware_bridge.messages import Message
    from simulators.engine.board import Board
    from simulators.kinds.shuffler.mechanics import ShufflerMechanics, ShufflerSize

# A motor that draws more is strained (mA): between running free and stalled, outside the noise of both.
STRAINED: Final = 600
MOVING: Final = (m.State.FEEDING, m.State.UNLOADING, m.State.CLEARING, m.State.DELIVERING)
_MOTOR: Final = {
    m.Segment.FEED: m.Motor.FEED,
    m.Segment.UNLOAD: m.Motor.EJECT,
}


class CardMover(ABC):
    """Cards in transit through one machine. The abstract methods define what a model does with them."""

    def __init__(self, mechanics: ShufflerMechanics, rng: Random, size: ShufflerSize) -> None:
        self.board: Board  # set by Machine.assemble
        self.state = m.State.IDLE
        self.mode = m.Mode.SHUFFLE
        self.stalled = False
        self._mechanics = mechanics
        self._clock = mechanics.clock
        self._rng = rng
        self._size = size
        self._at_rest: m.State | None = m.State.IDLE  # persistent; None while cards may be anywhere
        self._counts = ShufflerCounts(size)
        self._empty_path()
        mechanics.on_edge = self._edge

    def _empty_path(self) -> None:
        """Set the state after a boot."""
        self._reason = m.Reason.NONE
        self._command = 0
        self._started = 0.0
        self._halted_in = self.state
        self._behind_gate: int | None = 0 if self.state is m.State.IDLE else None
        self._order: deque[int] = deque()
        self._shelf = 0
        self._watch = CardTracker(self._mechanics.layout, self._clock, self._late)
        self._trail = EdgeRecorder(self._clock)
        self._pace = ProgressThrottle(self._clock)
        self._latest = (0, 0)  # entered and left, when the last card arrived
        self._phase = m.Phase.FEEDING
        self._had_cards = self._mechanics.blocked(m.Sensor.INTAKE)

    @abstractmethod
    def _cleared(self) -> None:
        """The compartments were emptied to clear the machine."""

    @abstractmethod
    def _fed(self) -> None:
        """The intake is empty, and all its cards are stored."""

    @abstractmethod
    def _emptied_out(self) -> None:
        """Every compartment is empty, and the cards are behind the gate."""

    @abstractmethod
    def _seen(self) -> None:
        """A card is at the first sensor, where a camera can read it."""

    def _dropped(self) -> None:
        """A card has arrived behind the gate."""
        if self._behind_gate is not None:
            self._behind_gate += 1
        self._arrived()
        self._unload_next()

    def _nothing_came(self) -> None:
        """The compartment is empty, even if its count is not zero."""
        self._counts.mark_empty(self._order.popleft())
        self._unload_next()

    # --- cards on their way ----------------------------------------------------------------------------------

    def _set_out(self, command: int) -> None:
        """Begin a command that moves cards."""
        self._command, self._started, self._at_rest = command, self._clock.now, None
        self._counts.begin()
        self._behind_gate = 0
        self._reason = m.Reason.NONE

    def _feed_all(self) -> None:
        self.state = m.State.FEEDING
        self._begin_phase(m.Phase.FEEDING)
        self._feed_next()

    def _feed_next(self) -> None:
        if self.stalled:
            return
        if not self._mechanics.blocked(m.Sensor.INTAKE):
            self._report_last_progress()
            self._note_intake()
            self._fed()
        elif self._counts.entered >= self._size.max_cards:
            self._halt_with(m.Reason.TOO_MANY_CARDS, m.Segment.FEED)
        else:
            self._shelf = self._rng.choice(self._counts.room())
            ready = self._mechanics.route(self._shelf, bottom=self._rng.random() < 0.5)
            self._counts.draw()
            self._mechanics.feed()
            self._watch.expect(m.Segment.FEED, ready)

    def _unload_all(self) -> None:
        order = list(range(self._size.compartments))
        if self.mode is m.Mode.SHUFFLE or self.state is m.State.CLEARING:
            self._rng.shuffle(order)
        self._order = deque(order)
        if self.state is not m.State.CLEARING:
            self.state = m.State.UNLOADING
        self._begin_phase(m.Phase.UNLOADING)
        self._unload_next()

    def _unload_next(self) -> None:
        if self.stalled:
            return
        if self._order:
            self._shelf = self._order[0]
            self._mechanics.unload(self._shelf)
            self._watch.expect(m.Segment.UNLOAD)
            return
        self._report_last_progress()
        self._stop_motion()
        if self.state is m.State.CLEARING:
            self._cleared()
        else:
            self._emptied_out()

    def _stop_motion(self) -> None:
        """No card is in transit: switch the motors off."""
        self._watch.stop()
        self._mechanics.halt()

    # --- sensors ---------------------------------------------------------------------------------------------

    def _edge(self, sensor: m.Sensor, blocked: bool) -> None:
        if self.stalled or self.state not in MOVING:
            return
        self._trail.record_edge(sensor, blocked)
        if blocked:
            self._front(sensor)
        else:
            self._back(sensor)

    def _front(self, sensor: m.Sensor) -> None:
        """A leading edge: the card came through one segment and is in the next."""
        if self._watch.skipped(sensor):  # the sensor before this one is blind
            self._lost_sight(self._watch.awaited)
            self._jam(self._watch.awaited)
            return
        self._watch.leading_edge(sensor)
        if sensor is m.Sensor.FEED:
            self._counts.enter()
            self._seen()

    def _back(self, sensor: m.Sensor) -> None:
        """A trailing edge: check that one whole card passed."""
        pulse = self._watch.trailing_edge(sensor)
        if pulse is not SensorPulse.CARD:
            reason = m.Reason.DOUBLE_FEED if pulse is SensorPulse.TWO else m.Reason.SHORT_CARD
            segment = m.Segment(self._watch.ended_at(sensor))
            if (
                self._watch.awaited is not None and self._watch.awaited > segment + 1
            ):  # its front has passed the next sensor
                self._lost_sight(segment)
            self._halt_with(reason, segment)
        elif sensor is m.Sensor.LIFT:
            self._counts.stored[self._shelf] += 1
            self._arrived()
            self._feed_next()
        elif sensor is m.Sensor.STACK:
            self._counts.leave(self._shelf)
            self._dropped()

    def _late(self, segment: m.Segment) -> None:
        if self.stalled:
            return
        if is_sensor_blind(self._mechanics.layout, self._mechanics.levels(), segment):
            self._lost_sight(segment)
        strained = self._mechanics.currents()[_MOTOR.get(segment, m.Motor.TRANSPORT)] >= STRAINED
        if segment is m.Segment.UNLOAD and not strained:  # no card came and the motor ran free
            self._nothing_came()
        else:
            self._jam(segment)

    def _lost_sight(self, segment: m.Segment) -> None:
        """A sensor is blind: the card may be past it, so the counts inside and outside are unknown."""
        self._counts.lose_certainty()
        if self._mechanics.layout.leg(segment):
            self._behind_gate = None

    # --- ends in mid-cycle -----------------------------------------------------------------------------------

    def _card(self) -> int:
        """Return the number of the moving card within its phase."""
        return self._counts.fed if self.state is m.State.FEEDING else self._counts.left + 1

    def _jam(self, segment: m.Segment) -> None:
        entered, left = self._counts.drawn_in, self._counts.left
        levels, currents = self._mechanics.levels(), self._mechanics.currents()
        jam = m.Jam(self._command, self._phase, segment, self._card(), entered, left, levels, currents)
        self._break_off(m.Reason.JAM, jam)

    def _halt_with(self, reason: m.Reason, segment: m.Segment) -> None:
        if reason is m.Reason.DOUBLE_FEED:
            self._counts.lose_certainty()
        entered, left = self._counts.drawn_in, self._counts.left
        self._break_off(reason, m.Fault(self._command, reason, segment, self._card(), entered, left))

    def _break_off(self, reason: m.Reason, event: Message) -> None:
        """Stop all motion; report the reason and that the command failed."""
        self._report_last_progress()
        self._trail.record_halt(self._watch.waited_s, self._mechanics.currents())
        self._stop_motion()
        self._halted_in = self.state
        self.state, self._reason = m.State.HALTED, reason
        self.board.emit(event)
        self.board.settle(self._command, Outcome.FAILED, reason)

    # --- progress reports --------------------------------------------------------------------------------------

    def _begin_phase(self, phase: m.Phase) -> None:
        self._phase = phase
        self._pace.begin()
        self._mechanics.begin_phase(leg=int(phase is not m.Phase.FEEDING))

    def _arrived(self) -> None:
        """A card is stored, or has come out: report progress if it is due."""
        self._latest = self._counts.entered, self._counts.left
        if self._pace.is_report_due():
            self._progress()

    def _report_last_progress(self) -> None:
        """A phase ends, with or without a fault: report the counts of the last card that arrived."""
        if self._pace.end_phase():
            self._progress()

    def _progress(self) -> None:
        entered, left = self._latest
        bits = self._mechanics.blocked_bits()
        self.board.emit(m.Progress(self._command, self._phase, entered, left, bits), droppable=True)

    def _note_intake(self) -> None:
        has_cards = self._mechanics.blocked(m.Sensor.INTAKE)
        if has_cards is not self._had_cards:
            self._had_cards = has_cards
            self.board.emit(m.Intake(has_cards))
