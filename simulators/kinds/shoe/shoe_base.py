"""The firmware that all dealing shoes share: questions, hands in the throat, halts, self-test, restarts."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from devices.edge_log import GetEdgeLog
from devices.shoe import messages as m
from firmware_bridge.commands import Outcome
from simulators.kinds.shared.card_tracker import CardTracker, SensorPulse, is_sensor_blind
from simulators.kinds.shared.edge_recorder import EdgeRecorder
from simulators.kinds.shoe.hand_draw_tracker import HandDrawTracker
from simulators.kinds.shoe.mechanics import Surface

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.messages import Message
    from simulators.engine.board import Board
    from simulators.kinds.shoe.counts import ShoeCounts
    from simulators.kinds.shoe.mechanics import ManualShoeMechanics
    from simulators.kinds.shoe.unit_values import UnitValues

TEST_TIME: Final = 0.8
# Time that a jogged motor is on (s): a quarter of a turn.
JOG_TIME: Final = 0.3
# A clear sensor closer to its threshold than this fails the self-test.
LEAST_MARGIN: Final = 80
# The sensors that must be clear when no card is on the path.
PATH_SENSORS: Final = (m.Sensor.FEED, m.Sensor.DRAW, m.Sensor.EXIT)
PILES: Final = {m.Place.INTAKE: m.Sensor.INTAKE, m.Place.WELL: m.Sensor.WELL, m.Place.SLOT: m.Sensor.SLOT}
HALTED: Final = (m.State.HALTED, m.State.DOUBTFUL)


class ShoeFirmwareBase:
    """The part of a shoe's program that needs no motors. Models add their own commands."""

    _beyond: ClassVar[tuple[type[Message], ...]]  # commands that this model lacks

    def __init__(
        self, mechanics: ManualShoeMechanics, counts: ShoeCounts, units: UnitValues | None, *, sees_faces: bool
    ) -> None:
        """`units` keeps the card values of a shoe that identifies cards."""
        self.board: Board  # set by Machine.assemble
        self.stalled = False
        self._mechanics = mechanics
        self._clock = mechanics.clock
        self._counts = counts
        self._units = units
        self._sees_faces = sees_faces
        self._at_rest: m.State | None = m.State.IDLE  # persistent; None while cards may be anywhere
        self._stacks = 0
        self._forget()
        mechanics.on_edge = self._sensed

    def _forget(self) -> None:
        """Set the state after a boot."""
        self._erase_values()
        self.state = m.State.DOUBTFUL if self._at_rest is None else self._at_rest
        self._reason = m.Reason.NONE
        self._command: int | None = None  # the running command
        self._phase = m.Phase.DRAWING
        self._moved = 0  # cards of this phase
        self._delivered: int | None = None
        self._watch = CardTracker(self._mechanics.layout, self._clock, self._late)
        self._throat = HandDrawTracker(self._clock, self._hand_began, self._hand_ended, self._hand_stuck)
        self._trail = EdgeRecorder(self._clock)
        self._seen = {place: self._lies_in(place) for place in m.Place}

    def boot(self) -> None:
        """Start after power-up. Hands may have drawn cards from the well meanwhile, undetected."""
        interrupted = self._at_rest is not m.State.IDLE
        self.board.memory.fail_running(m.Reason.POWER_LOST)
        self.stalled = False
        self._counts.forget()
        self._forget()
        self._booted()
        if interrupted:
            self._reason = m.Reason.POWER_LOST
            self._counts.lose_certainty()

    def _booted(self) -> None:
        """Read the piles again."""
        if self.state is m.State.READY and not self._lies_in(m.Place.WELL):
            self.state = self._at_rest = m.State.IDLE

    def on_session_start(self) -> None:
        """A session started: report a power loss at once. A bench tool must not get what a table dealt."""
        if self.board.session_role == "bench":
            self._erase_values()
        if self._reason is m.Reason.POWER_LOST:
            self.board.emit(m.Power(interrupted=True))

    def power_lost(self) -> None:
        """Motors stop where they are."""
        self._mechanics.power_lost()

    # --- messages --------------------------------------------------------------------------------------------

    def handle(self, message: m.Actuation | m.Question) -> Message:
        """Answer one message of the host."""
        match message:
            case m.GetStatus():
                return self._status()
            case m.GetSensors():
                return m.Sensors(self._mechanics.levels(), self._mechanics.currents())
            case m.GetTransits():
                return m.Transits(self._watch.log.segments())
            case GetEdgeLog():
                return self._trail.message()
            case _:
                return self.board.once(message, self._refusal, self._begin)

    def _status(self) -> m.Status:
        counts = self._counts
        return m.Status(
            self.state, self._mechanics.door_open, self._lies_in(m.Place.INTAKE), self._lies_in(m.Place.WELL),
            self._lies_in(m.Place.SLOT), self._left(), counts.in_path, counts.drawn if counts.sure else None,
            self._delivered, self._moved, self._stacks, counts.sure, self._reason,
        )  # fmt: skip

    def _left(self) -> int | None:
        return self._counts.left

    def _lies_in(self, place: m.Place) -> bool:
        return self._mechanics.has_pile(PILES[place])

    def _refusal(self, message: m.Actuation) -> m.Reason:
        """Return the first reason that applies, in the order of docs/devices/shoe.md."""
        if isinstance(message, m.Stop | m.Reset):
            return m.Reason.NONE
        if isinstance(message, self._beyond) or (isinstance(message, m.ReleaseCards) and self._units is None):
            return m.Reason.NOT_CAPABLE
        if isinstance(message, m.Dispense) and not 1 <= message.cards <= m.MAX_STACK:
            return m.Reason.STACK_SIZE
        if self._busy(message):
            return m.Reason.BUSY
        if self._mechanics.door_open:
            return m.Reason.DOOR_OPEN
        if self.state in HALTED and not isinstance(message, m.ClearJam):
            return m.Reason.NEEDS_CLEARING
        if self._path_blocked() and not isinstance(message, m.SelfTest):
            return m.Reason.PATH_BLOCKED
        if isinstance(message, m.ReleaseCards):
            assert self._units is not None
            return self._units.refusal(message.dealt_by, message.card)
        return self._lacking(message)

    def _busy(self, message: m.Actuation) -> bool:
        """Return whether the running command excludes this one."""
        raise NotImplementedError

    def _lacking(self, message: m.Actuation) -> m.Reason:
        """Return which pile is not as a command needs it."""
        raise NotImplementedError

    def _path_blocked(self) -> bool:
        return self._throat.is_drawing or any(self._mechanics.blocked(sensor) for sensor in PATH_SENSORS)

    def _begin(self, message: m.Actuation) -> bool:
        """Carry out a command that was not refused; return whether it has already ended."""
        match message:
            case m.SelfTest():
                self._command, self.state = message.command, m.State.TESTING
                self._later(TEST_TIME, self._tested)
                return False
            case m.Jog():
                self._command, self.state = message.command, m.State.TESTING
                self._later(JOG_TIME, lambda: self._jogged(message))
                self._mechanics.jog(message.motor)
                return False
            case m.Stop():
                self._stop(m.Reason.STOPPED)
            case m.ReleaseCards(dealt_by=dealt_by, card=card):
                assert self._units is not None
                self.board.emit(m.CardsReleased(message.command, dealt_by, card, *self._units.release(dealt_by, card)))
            case m.Reset():
                self._clock.after(0.05, lambda: self.board.restart(0.3))  # after the reply has left
            case _:
                raise AssertionError(f"{message} was not refused and is not carried out")
        return True

    def _later(self, seconds: float, end: Callable[[], None]) -> None:
        if not self.stalled:
            self._watch.alarm(seconds, end)

    def _end(self, outcome: Outcome, reason: m.Reason = m.Reason.NONE) -> None:
        """Settle the running command, if there is one."""
        command, self._command = self._command, None
        if command is not None:
            self.board.settle(command, outcome, reason)

    def _tested(self) -> None:
        levels = self._mechanics.levels()
        fitted = [s for s in PATH_SENSORS if levels[s].threshold]
        bad = sum(1 << s for s in fitted if levels[s].blocked or levels[s].margin < LEAST_MARGIN)
        held = sum(1 << motor for motor in m.Motor if not self._mechanics.turns(motor))
        assert self._at_rest is not None, "a machine with cards on its path refuses the test"
        assert self._command is not None
        self.state = self._at_rest
        if not bad and not held and self._counts.tested():  # a person has looked inside
            self._reason = m.Reason.NONE
        self.board.emit(m.SelfTested(self._command, bad, held))
        if bad or held:
            self._end(Outcome.FAILED, m.Reason.SELF_TEST_FAILED)
        else:
            self._end(Outcome.DONE)

    def _jogged(self, message: m.Jog) -> None:
        assert self._at_rest is not None, "a machine with cards on its path refuses the jog"
        current, turned = self._mechanics.currents()[message.motor], self._mechanics.turns(message.motor)
        self._mechanics.halt()
        self.state = self._at_rest
        self.board.emit(m.Jogged(message.command, message.motor, message.reverse, current, turned))
        if turned:
            self._end(Outcome.DONE)
        else:
            self._end(Outcome.FAILED, m.Reason.MOTOR_STALLED)

    # --- card values ------------------------------------------------------------------------------------------

    def _erase_values(self) -> None:
        if self._units is not None:
            self._units.erase()

    def _read_value(self) -> None:
        """A card of an open stack or round reached the reader: keep its value."""
        if self._units is not None:
            self._units.read(self._mechanics.read_values())

    # --- hands in the throat ---------------------------------------------------------------------------------

    def _sensed(self, sensor: m.Sensor, blocked: bool) -> None:
        """Record an edge, moved by motor or hand, and handle it."""
        if self.board.alive and not self.stalled:
            self._trail.record_edge(sensor, blocked)
        self._edge(sensor, blocked)

    def _edge(self, sensor: m.Sensor, blocked: bool) -> None:
        if self.board.alive:  # without power no edge is detected
            self._throat.edge(sensor, blocked)

    def _late(self, segment: m.Segment) -> None:
        if is_sensor_blind(self._mechanics.layout, self._mechanics.levels(), segment):  # the card may be past it
            self._counts.lose_certainty()
            if self._mechanics.layout.leg(segment):
                self._delivered = None
        self._jam(segment)

    def _hand_began(self, again: bool) -> None:
        if again:
            self._counts.lose_certainty()
            self._erase_values()
        self._counts.draw()
        self._counts.read(cover=self._surface(m.Sensor.DRAW, m.Phase.DRAWING, None) is Surface.COVER)

    def _surface(self, sensor: m.Sensor, phase: m.Phase, command: int | None) -> Surface:
        """Read the card that has just reached a sensor; report that it is face up, never which card it is."""
        surface = self._mechanics.surface(sensor)
        if surface is Surface.FACE and self._sees_faces:
            self.board.emit(m.FaceUp(command, phase, self._card(phase)))
        return surface

    def _card(self, phase: m.Phase) -> int:
        """Return the number of the moving card within its phase."""
        return self._moved + 1 if phase is self._phase else self._counts.drawn + 1

    def _hand_ended(self, pulse: SensorPulse) -> None:
        if pulse is not SensorPulse.CARD:
            self._fault(pulse, m.Segment.EXIT, m.Phase.DRAWING)
            return
        if self._counts.draws_cover:
            self.board.emit(m.CoverCard(None, m.Phase.DRAWING, self._card(m.Phase.DRAWING) - 1))
            self._counts.out()
        else:
            self._counts.out()
            self._hand_drew()
        self._hand_rests()
        self._note_piles()

    def _hand_drew(self) -> None:
        """A hand drew one whole card."""
        raise NotImplementedError

    def _hand_rests(self) -> None:
        """The throat is empty."""
        raise NotImplementedError

    def _hand_stuck(self, segment: m.Segment) -> None:
        if is_sensor_blind(self._mechanics.layout, self._mechanics.levels(), segment):  # the card may be out
            self._counts.lose_certainty()
        self._jam(segment, m.Phase.DRAWING)

    # --- ends in the middle ----------------------------------------------------------------------------------

    def _jam(self, segment: m.Segment, phase: m.Phase | None = None) -> None:
        if self.stalled:
            return
        phase = self._phase if phase is None else phase
        levels, currents = self._mechanics.levels(), self._mechanics.currents()
        self._halt(m.Reason.JAM)
        card, counts = self._card(phase), self._counts
        self.board.emit(m.Jam(self._command, phase, segment, card, counts.in_path, self._left(), levels, currents))
        self._end(Outcome.FAILED, m.Reason.JAM)

    def _fault(self, pulse: SensorPulse, segment: m.Segment, phase: m.Phase) -> None:
        """A pulse at a sensor was not one whole card."""
        if pulse is SensorPulse.TWO:
            self._counts.lose_certainty()
        self._halt_with(m.Reason.DOUBLE_FEED if pulse is SensorPulse.TWO else m.Reason.SHORT_CARD, segment, phase)

    def _halt_with(self, reason: m.Reason, segment: m.Segment, phase: m.Phase) -> None:
        self._halt(reason)
        counts = self._counts
        self.board.emit(m.Fault(self._command, phase, reason, segment, self._card(phase), counts.in_path, self._left()))
        self._end(Outcome.FAILED, reason)

    def _stop(self, reason: m.Reason) -> None:
        raise NotImplementedError

    def _halt(self, reason: m.Reason) -> None:
        self._erase_values()
        self._trail.record_halt(self._watch.waited_s, self._mechanics.currents())
        self._watch.stop()
        self._mechanics.halt()
        self.state, self._reason, self._at_rest = m.State.HALTED, reason, None

    # --- piles -----------------------------------------------------------------------------------------------

    def _note_piles(self) -> None:
        """Report which piles have appeared and which are gone."""
        for place, before in self._seen.items():
            now = self._lies_in(place)
            if now is not before:
                self._seen[place] = now
                self.board.emit(m.Pile(place, now))

    def hands_moved(self) -> None:
        """Hands put or took cards: read the piles again."""
        if self.board.alive:
            self._note_piles()
