"""The simulated firmware of the automated dealing shoe: loads, dispenses stacks, brings the stub out, and counts.

It knows only its sensors; tests compare its counts with the true places of the cards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.shoe import messages as m
from firmware_bridge.commands import Outcome
from firmware_bridge.errors import BadFault
from simulators.kinds.shared.card_tracker import SensorPulse
from simulators.kinds.shared.progress_throttle import ProgressThrottle
from simulators.kinds.shoe.counts import ShoeCounts
from simulators.kinds.shoe.mechanics import Surface
from simulators.kinds.shoe.shoe_base import ShoeFirmwareBase
from simulators.kinds.shoe.unit_values import UnitValues

if TYPE_CHECKING:
    from simulators.engine.faults import InjectedFault
    from simulators.kinds.shoe.mechanics import ShoeMechanics

# More cards than any deck: then the intake sensor is wrong.
MAX_CARDS: Final = 60

_STATE: Final = {
    m.Phase.LOADING: m.State.LOADING,
    m.Phase.DISPENSING: m.State.DISPENSING,
    m.Phase.STUB: m.State.COUNTING,
    m.Phase.CLEARING: m.State.CLEARING,
}
# States in which motors draw cards out of the well; in all others an edge in the throat comes from a hand.
_OUTWARD: Final = (m.State.DISPENSING, m.State.COUNTING, m.State.CLEARING)
_MOVING: Final = (m.State.LOADING, *_OUTWARD)


class ShoeFirmware(ShoeFirmwareBase):
    """The program of one automated shoe's controller board."""

    _beyond = (m.StartRound,)
    _mechanics: ShoeMechanics

    def __init__(self, mechanics: ShoeMechanics, *, identifies: bool) -> None:
        units = UnitValues(by_hand=False) if identifies else None
        super().__init__(mechanics, ShoeCounts(), units, sees_faces=True)

    def _forget(self) -> None:
        super()._forget()
        self._ordered_cards = 0
        self._face_up = 0  # face-up cards of this phase
        self._cover_at: int | None = None  # number of cards loaded before the cover card
        self._feeds_cover = False
        self._pace = ProgressThrottle(self._clock)
        self._left_then: int | None = None  # number of cards left when the last card arrived

    def _booted(self) -> None:
        super()._booted()
        self._delivered = None if self._lies_in(m.Place.SLOT) else 0
        self._look_into_well()

    def _look_into_well(self) -> None:
        """Cards in the well of an empty machine were put there by hand and are uncounted."""
        if self.state is m.State.IDLE and self._lies_in(m.Place.WELL):
            self._counts.lose_certainty()
            self.state = self._at_rest = m.State.READY

    # --- messages --------------------------------------------------------------------------------------------

    def _begin(self, message: m.Actuation) -> bool:
        match message:
            case m.Load():
                self._erase_values()
                self._counts.begin_load()
                self._start(message.command, m.Phase.LOADING)
                self._cover_at = None
                self._feed_next()
            case m.Dispense():
                self._start(message.command, m.Phase.DISPENSING)
                self._ordered_cards = message.cards
                if self._units is not None:
                    self._units.begin(message.command)
                self._draw_next()
            case m.CountStub():
                self._start(message.command, m.Phase.STUB)
                self._draw_next()
            case m.ClearJam():
                self._erase_values()
                self._counts.begin_emptying()
                self._start(message.command, m.Phase.CLEARING)
                self._reason = m.Reason.NONE
                self._draw_next()
            case _:
                return super()._begin(message)
        return False

    def _start(self, command: int, phase: m.Phase) -> None:
        self._command, self._phase, self._at_rest = command, phase, None
        self._moved = self._face_up = 0
        self.state = _STATE[phase]
        self._pace.begin()
        self._mechanics.begin_phase(leg=int(phase is not m.Phase.LOADING))

    def _busy(self, message: m.Actuation) -> bool:  # noqa: ARG002 - one command at a time
        return self.state in (*_MOVING, m.State.TESTING)

    def _lacking(self, message: m.Actuation) -> m.Reason:
        match message:
            case m.Load() if self.state is m.State.READY:
                return m.Reason.ALREADY_LOADED
            case m.Load() if not self._lies_in(m.Place.INTAKE):
                return m.Reason.NOTHING_LOADED
            case m.Dispense() if self.state is m.State.IDLE:
                return m.Reason.SHOE_EMPTY
            case m.CountStub() if self.state is m.State.IDLE:
                return m.Reason.NOTHING_TO_EJECT
            case m.Dispense() | m.CountStub() if self._lies_in(m.Place.SLOT):
                return m.Reason.SLOT_OCCUPIED
            case m.Jog(motor=m.Motor.FEED) if self._lies_in(m.Place.INTAKE):
                return m.Reason.CARDS_IN_REACH
            case m.Jog(motor=m.Motor.DRAW) if self._lies_in(m.Place.WELL):
                return m.Reason.CARDS_IN_REACH
            case m.Dispense() if self._counts.left is not None and self._counts.left < message.cards:
                return m.Reason.TOO_FEW_CARDS
        return m.Reason.NONE

    # --- in --------------------------------------------------------------------------------------------------

    def _feed_next(self) -> None:
        if self.stalled:
            return
        if not self._lies_in(m.Place.INTAKE):
            self._finish()
        elif self._moved >= MAX_CARDS:
            self._halt_with(m.Reason.TOO_MANY_CARDS, m.Segment.FEED, self._phase)
        else:
            self._counts.feed()
            self._mechanics.feed()
            self._watch.expect(m.Segment.FEED)

    # --- out -------------------------------------------------------------------------------------------------

    def _draw_next(self) -> None:
        if self.stalled:
            return
        done = self._phase is m.Phase.DISPENSING and self._moved == self._ordered_cards
        if done or not self._lies_in(m.Place.WELL):
            self._finish()
        else:
            self._counts.draw()
            self._mechanics.draw()
            self._watch.expect(m.Segment.DRAW)

    def _finish(self) -> None:
        """The block is in, a stack is complete, or the well is empty: compare counts and well, report, settle."""
        command, counts, failed = self._command, self._counts, m.Reason.NONE
        assert command is not None
        self._report_last_progress()
        self._watch.stop()
        self._mechanics.halt()
        drawn = counts.drawn if counts.sure else None
        if self._phase is m.Phase.CLEARING:
            counts.emptied(self._moved)
        well = self._lies_in(m.Place.WELL)
        self.state = self._at_rest = m.State.READY if well else m.State.IDLE
        balanced = counts.agree(empty=not well)
        match self._phase:
            case m.Phase.LOADING:
                self.board.emit(m.Loaded(command, self._moved, self._face_up, self._cover_at, counts.left))
            case m.Phase.CLEARING:
                self.board.emit(m.Cleared(command, self._moved, self._delivered))
            case m.Phase.STUB:
                self.board.emit(m.Stub(command, self._moved, drawn, counts.left))
            case _ if self._moved < self._ordered_cards:
                failed = self._reason = m.Reason.SHORT_STACK
                self.board.emit(m.ShortStack(command, self._ordered_cards, self._moved, counts.left))
            case _:
                self._stacks += 1
                if self._units is not None:
                    self._units.end_stack()
                self.board.emit(m.Dispensed(command, self._moved, self._face_up, counts.left))
        if not balanced:
            self._unbalanced()
            if self._phase is not m.Phase.DISPENSING:  # a correct stack stays correct
                failed = m.Reason.COUNTS_DISAGREE
        self._end(Outcome.FAILED if failed else Outcome.DONE, failed)

    def _unbalanced(self) -> None:
        """Counts and well disagree: halt until a person has searched the machine."""
        self._halt(m.Reason.COUNTS_DISAGREE)
        self.board.emit(m.Unbalanced(self._command, self._counts.loaded, self._counts.drawn))

    # --- sensors ---------------------------------------------------------------------------------------------

    def _edge(self, sensor: m.Sensor, blocked: bool) -> None:
        if sensor is not m.Sensor.FEED and self.state not in _OUTWARD:
            super()._edge(sensor, blocked)
        elif self.stalled or self.state not in _MOVING:
            return
        elif blocked:
            self._front(sensor)
        else:
            self._back(sensor)

    def _front(self, sensor: m.Sensor) -> None:
        """A leading edge: the card came through one segment and is in the next."""
        if self._watch.skipped(sensor):  # the sensor before this one is blind
            self._jam(self._watch.awaited)
            return
        self._watch.leading_edge(sensor)
        if sensor is m.Sensor.EXIT:
            return
        surface = self._surface(sensor, self._phase, self._command)
        self._face_up += surface is Surface.FACE
        if sensor is m.Sensor.DRAW:
            self._counts.read(cover=surface is Surface.COVER)
            if self._phase is m.Phase.DISPENSING and surface is not Surface.COVER:
                self._read_value()
            return
        self._feeds_cover = surface is Surface.COVER
        if self._feeds_cover:
            self._cover_at = self._moved

    def _back(self, sensor: m.Sensor) -> None:
        """A trailing edge: check that one whole card passed."""
        pulse = self._watch.trailing_edge(sensor)
        if pulse is not SensorPulse.CARD:
            if sensor is m.Sensor.EXIT and pulse is SensorPulse.TWO:
                self._delivered = None  # both are in the slot
            self._fault(pulse, m.Segment(self._watch.ended_at(sensor)), self._phase)
        elif sensor is m.Sensor.FEED:
            self._counts.stored(cover=self._feeds_cover)
            self._arrived(cover=self._feeds_cover)
            self._feed_next()
        elif sensor is m.Sensor.EXIT:
            self._came_out()
            self._draw_next()

    def _came_out(self) -> None:
        cover = self._counts.draws_cover
        self._counts.out()
        if cover:
            self.board.emit(m.CoverCard(self._command, self._phase, self._moved))
        elif self._delivered is not None:
            self._delivered += 1
        if self._units is not None and not cover and self._phase is m.Phase.DISPENSING:
            self._units.count(self._moved + 1)
        self._arrived(cover=cover)

    def _arrived(self, *, cover: bool) -> None:
        self._moved += not cover
        self._note_piles()
        self._left_then = self._counts.left
        if self._pace.is_report_due():
            self._progress()

    def _report_last_progress(self) -> None:
        """A phase ends, with or without a fault: report the counts of the last card that arrived."""
        if self._pace.end_phase():
            self._progress()

    def _progress(self) -> None:
        assert self._command is not None
        bits = self._mechanics.blocked_bits()
        self.board.emit(m.Progress(self._command, self._phase, self._moved, self._left_then, bits), droppable=True)

    def _halt(self, reason: m.Reason) -> None:
        self._report_last_progress()
        super()._halt(reason)

    # --- hands and doors -------------------------------------------------------------------------------------

    def _hand_drew(self) -> None:
        counts = self._counts
        self.board.emit(m.Drawn(False, 0, counts.drawn if counts.sure else None, counts.left))

    def _hand_rests(self) -> None:
        well = self._lies_in(m.Place.WELL)
        if self._at_rest is m.State.READY and not well:
            self._at_rest = m.State.IDLE
        if self.state is m.State.READY:
            self.state = m.State.READY if well else m.State.IDLE
            if not self._counts.agree(empty=not well):
                self._unbalanced()

    def _stop(self, reason: m.Reason) -> None:
        command = self._command
        if self.state in _MOVING:
            assert command is not None
            self._halt(reason)
            counts = self._counts
            self.board.emit(m.Stopped(command, self._phase, self._moved, counts.in_path, counts.left, reason))
        elif self.state is m.State.TESTING:  # no card is on the path
            assert self._at_rest is not None
            self._watch.stop()
            self._mechanics.halt()
            self.state = self._at_rest
        self._end(Outcome.FAILED, reason)

    def hands_moved(self) -> None:
        """Hands put or took cards: read the piles again."""
        if not self.board.alive:
            return
        if not self._lies_in(m.Place.SLOT):
            self._delivered = 0
            if self._units is not None:
                self._units.slot_emptied()
        self._look_into_well()
        self._note_piles()

    def door(self, *, is_open: bool) -> None:
        """The door switch changed: an open door stops all motion, and hands can reach inside."""
        if self._mechanics.door_open is is_open:
            return
        self._mechanics.door_open = is_open
        if is_open:
            self._erase_values()
            if self._at_rest is m.State.IDLE:
                self._counts.note_inspection()
            else:
                self._counts.lose_certainty()
        if not self.board.alive:
            return
        self.board.emit(m.Door(is_open))
        if is_open:
            self._stop(m.Reason.DOOR_OPEN)

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of the firmware or of its switches."""
        match fault.kind.name:
            case "stall":
                self.stalled = True
                self._mechanics.halt()
                self._watch.stop()
            case "hasty":
                segment = m.Segment(fault.choice_index("segment", self._mechanics.layout.words(m.Segment)))
                self._watch.shorten_wait(segment, fault.number("percent") / 100)
            case "door":
                self.door(is_open=fault.choice_index("to", ("closed", "open")) == 1)
            case name:
                raise BadFault(f"{name} does not act on the shoe's firmware")
