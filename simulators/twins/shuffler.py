"""The firmware twin of the single-deck shuffler: sees sensor edges and currents, drives motors, speaks the protocol.

It believes what its sensors tell it. Whether that is true is the world's to know and the tests' to compare.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, Any, Final

from devices.shuffler import messages as m
from firmware_bridge.commands import Outcome
from firmware_bridge.errors import BadFault
from simulators.twins.counts import Counts
from simulators.twins.statistics import TransitLog
from simulators.world.cards import DECK_53
from simulators.world.shuffler import COMPARTMENTS, PASSING, STUCK_CURRENT, TRANSIT

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from firmware_bridge.messages import Message
    from simulators.faults import Fault
    from simulators.twins.board import Board
    from simulators.world.shuffler import ShufflerMechanics

# A card that needs this many times the usual has not arrived.
PATIENCE: Final = 3.0
# A pulse this much longer or shorter than the sensor's average is two cards, or part of one.
TOO_LONG: Final = 1.3
TOO_SHORT: Final = 0.7
# More cards than any deck: the intake sensor must be lying.
MAX_CARDS: Final = 60
GATE_TIME: Final = 0.4
TEST_TIME: Final = 0.8
# A clear sensor that is closer to its threshold than this is not to be trusted.
LEAST_MARGIN: Final = 80
# The sensors that must be clear when no card is on the path.
PATH_SENSORS: Final = (m.Sensor.FEED, m.Sensor.BRIDGE, m.Sensor.LIFT, m.Sensor.EXIT, m.Sensor.STACK)

_MOVING: Final = (m.State.FEEDING, m.State.UNLOADING, m.State.CLEARING)
_BUSY: Final = (*_MOVING, m.State.TESTING)
# What the edge at a sensor's front means: the segment that ended, and the one that began.
_FRONT: Final = {
    m.Sensor.FEED: (m.Segment.FEED, m.Segment.BRIDGE),
    m.Sensor.BRIDGE: (m.Segment.BRIDGE, m.Segment.LIFT),
    m.Sensor.LIFT: (m.Segment.LIFT, m.Segment.SHELF),
    m.Sensor.EXIT: (m.Segment.UNLOAD, m.Segment.STACK),
    m.Sensor.STACK: (m.Segment.STACK, m.Segment.DROP),
}
_MOTOR: Final = {
    m.Segment.FEED: m.Motor.FEED,
    m.Segment.UNLOAD: m.Motor.EJECT,
}


class ShufflerTwin:
    """The program of one shuffler's controller board."""

    def __init__(self, mechanics: ShufflerMechanics, rng: Random, *, identifies: bool) -> None:
        self.board: Board  # set by whoever builds the machine
        self.stalled = False
        self._mechanics = mechanics
        self._clock = mechanics.clock
        self._rng = rng
        self._identifies = identifies
        self._at_rest: m.State | None = m.State.IDLE  # kept over power cuts; None while cards may be anywhere
        self._cycles = 0
        self._counts = Counts()
        self._forget()
        mechanics.on_edge = self._edge

    def _forget(self) -> None:
        """What a boot starts with."""
        self.state = m.State.DOUBTFUL if self._at_rest is None else self._at_rest
        self.mode = m.Mode.SHUFFLE
        self._reason = m.Reason.NONE
        self._command = 0
        self._started = 0.0
        self._counts.forget()
        self._halted_in = self.state
        self._behind_gate: int | None = 0 if self.state is m.State.IDLE else None
        self._order: deque[int] = deque()
        self._shelf = 0
        self._faces: Counter[int] = Counter()
        self._findings: m.Findings | None = None
        self._watch: Any = None
        self._segment = m.Segment.FEED
        self._segment_since = 0.0
        self._front_at: dict[m.Sensor, float] = {}
        self._log = TransitLog(PASSING)
        self._had_cards = self._mechanics.blocked(m.Sensor.INTAKE)

    def boot(self) -> None:
        """Start after power came; tell the memory that what ran did not finish."""
        interrupted = self._at_rest is None
        self.board.memory.interrupted(m.Reason.POWER_LOST)
        self.stalled = False
        self._forget()
        if interrupted:
            self._reason = m.Reason.POWER_LOST
            self._counts.doubt()
        # Nobody is connected yet: whoever connects reads it in the status.
        self.board.emit(m.Power(interrupted))

    def host_came(self) -> None:
        """A session began: say at once what a host must not miss."""
        if self._reason is m.Reason.POWER_LOST:
            self.board.emit(m.Power(interrupted=True))

    def power_lost(self) -> None:
        """Motors stop where they are."""
        self._mechanics.halt()

    # --- messages --------------------------------------------------------------------------------------------

    def handle(self, message: m.Actuation | m.Question) -> Message:
        """Answer one message of the host."""
        match message:
            case m.GetStatus():
                return self._status()
            case m.GetSensors():
                return m.Sensors(self._mechanics.levels(), self._mechanics.currents())
            case m.GetTransits():
                return m.Transits(self._log.segments())
            case m.GetFindings():
                return self._findings or m.NoFindings(m.Reason.NOT_A_FINDING)
            case _:
                return self.board.once(message, self._refusal, self._begin)

    def _status(self) -> m.Status:
        return m.Status(
            self.state, self.mode, self._mechanics.door_open, self._mechanics.blocked(m.Sensor.INTAKE),
            self._counts.inside, self._behind_gate, self._cycles, self._reason,
        )  # fmt: skip

    def _begin(self, message: m.Actuation) -> bool:
        """Carry out a command that was not refused; tell whether it has ended already."""
        command = message.command
        match message:
            case m.StartCycle():
                self._start_cycle(command)
            case m.ClearJam():
                self._start_clearing(command)
            case m.Eject():
                self._later(command, GATE_TIME, m.State.UNLOADING, self._ejected)
            case m.SelfTest():
                self._later(command, TEST_TIME, m.State.TESTING, self._tested)
            case m.Stop():
                self._stop(m.Reason.STOPPED)
                return True
            case m.SetMode():
                self.mode = message.mode
                return True
            case m.Reset():
                self._clock.after(0.05, lambda: self.board.restart(0.3))  # after the reply has left
                return True
        return False

    def _refusal(self, message: m.Actuation) -> m.Reason:
        if isinstance(message, m.Stop | m.Reset):
            return m.Reason.NONE
        if self.state in _BUSY:
            return m.Reason.BUSY
        if self._mechanics.door_open:
            return m.Reason.DOOR_OPEN
        halted = self.state in (m.State.HALTED, m.State.DOUBTFUL)
        if isinstance(message, m.ClearJam):
            blocked = any(self._mechanics.blocked(sensor) for sensor in PATH_SENSORS)
            return m.Reason.PATH_BLOCKED if blocked else m.Reason.NONE
        if halted:
            return m.Reason.NEEDS_CLEARING
        if isinstance(message, m.Eject):
            return m.Reason.NONE if self.state is m.State.READY else m.Reason.NOTHING_TO_EJECT
        if isinstance(message, m.StartCycle):
            if self.state is m.State.READY:
                return m.Reason.GATE_OCCUPIED
            return m.Reason.NONE if self._mechanics.blocked(m.Sensor.INTAKE) else m.Reason.NOTHING_LOADED
        return m.Reason.NONE

    def _later(self, command: int, seconds: float, state: m.State, end: Callable[[int], None]) -> None:
        """Do what moves no card along the path: it ends by itself, and the machine is at rest again."""
        self._command, self.state = command, state
        if not self.stalled:
            self._watch = self._clock.after(seconds, lambda: end(command))

    def _ejected(self, command: int) -> None:
        self._mechanics.open_gate()
        self.state = self._at_rest = m.State.IDLE
        self._behind_gate = 0
        self._findings = None
        self.board.settle(command, Outcome.DONE)

    def _tested(self, command: int) -> None:
        levels = self._mechanics.levels()
        bad = sum(1 << s for s in PATH_SENSORS if levels[s].blocked or levels[s].margin < LEAST_MARGIN)
        assert self._at_rest is not None, "a machine with cards on its path refuses the test"
        self.state = self._at_rest
        if not bad:
            self._counts.tested()
        self.board.emit(m.SelfTested(command, bad, 0))
        self.board.settle(
            command,
            Outcome.FAILED if bad else Outcome.DONE,
            m.Reason.SELF_TEST_FAILED if bad else m.Reason.NONE,
        )

    # --- a cycle ---------------------------------------------------------------------------------------------

    def _start_cycle(self, command: int) -> None:
        self._forget_cycle(command)
        self.state = m.State.FEEDING
        self._mechanics.begin_phase(unloading=False)
        self._feed_next()

    def _forget_cycle(self, command: int) -> None:
        self._command, self._started, self._at_rest = command, self._clock.now, None
        self._counts.forget()
        self._behind_gate = 0
        self._faces.clear()
        self._findings = None
        self._reason = m.Reason.NONE

    def _feed_next(self) -> None:
        if self.stalled:
            return
        if not self._mechanics.blocked(m.Sensor.INTAKE):
            self._note_intake()
            self._unload_all()
        elif self._counts.entered >= MAX_CARDS:
            self._halt_with(m.Reason.TOO_MANY_CARDS, m.Segment.FEED)
        else:
            self._shelf = self._rng.choice(self._counts.room())
            ready = self._mechanics.route(self._shelf, bottom=self._rng.random() < 0.5)
            self._counts.draw()
            self._mechanics.feed()
            self._expect(m.Segment.FEED, ready)

    def _unload_all(self) -> None:
        order = list(range(COMPARTMENTS))
        if self.mode is m.Mode.SHUFFLE or self.state is m.State.CLEARING:
            self._rng.shuffle(order)
        self._order = deque(order)
        if self.state is not m.State.CLEARING:
            self.state = m.State.UNLOADING
        self._mechanics.begin_phase(unloading=True)
        self._unload_next()

    def _unload_next(self) -> None:
        if self.stalled:
            return
        if not self._order:
            self._finish()
            return
        self._shelf = self._order[0]
        self._mechanics.unload(self._shelf)
        self._expect(m.Segment.UNLOAD, 0.0)

    def _finish(self) -> None:
        self._unwatch()
        self._mechanics.halt()
        command = self._command
        if self.state is m.State.CLEARING:
            self._cleared(command)
            return
        self._cycles += 1
        counts = self._counts
        if not counts.agree:
            self._reason, self.state = m.Reason.COUNTS_DISAGREE, m.State.HALTED
            counts.doubt()
            self.board.emit(m.Incomplete(command, counts.entered, counts.left))
            self.board.settle(command, Outcome.FAILED, self._reason)
            return
        self.state = self._at_rest = m.State.READY
        rejected = self._judge_faces(command)
        duration = round((self._clock.now - self._started) * 1000)
        self.board.emit(m.Completed(command, counts.left, duration, self.mode, rejected))
        self.board.settle(command, Outcome.DONE)

    def _judge_faces(self, command: int) -> bool:
        if not self._identifies:
            return False
        whole = Counter(DECK_53)
        missing, extra = whole - self._faces, self._faces - whole
        if not missing and not extra:
            return False
        self._findings = m.Findings(command, bytes(sorted(missing.elements())), bytes(sorted(extra.elements())))
        return True

    # --- sensors ---------------------------------------------------------------------------------------------

    def _edge(self, sensor: m.Sensor, blocked: bool) -> None:
        if self.stalled or self.state not in _MOVING:
            return
        if blocked:
            self._front(sensor)
        else:
            self._back(sensor)

    def _front(self, sensor: m.Sensor) -> None:
        """A leading edge: the card came through one segment and is in the next."""
        ended, began = _FRONT[sensor]
        self._log.transit(ended, self._clock.now - self._segment_since)
        self._front_at[sensor] = self._clock.now
        if sensor is m.Sensor.FEED:
            self._counts.enter()
            face = self._mechanics.read_face()
            if face is not None and self._identifies:
                self._faces[face] += 1
            if face is not None and self.mode is m.Mode.SORT:
                self._shelf = face // 13  # one compartment per suit, one for the joker
                self._mechanics.route(self._shelf, bottom=False)
        self._expect(began, 0.0)

    def _back(self, sensor: m.Sensor) -> None:
        """A trailing edge: was it one whole card?"""
        length = self._clock.now - self._front_at[sensor]
        usual = self._log.passing(sensor)
        ended, _ = _FRONT[sensor]
        if length > usual * TOO_LONG:
            self._halt_with(m.Reason.DOUBLE_FEED, ended)
            return
        if length < usual * TOO_SHORT:
            self._halt_with(m.Reason.SHORT_CARD, ended)
            return
        self._log.passed(sensor, length)
        if sensor is m.Sensor.LIFT:
            self._log.transit(m.Segment.SHELF, length)
            self._counts.stored[self._shelf] += 1
            self._progress(m.Phase.FEEDING)
            self._feed_next()
        elif sensor is m.Sensor.STACK:
            self._log.transit(m.Segment.DROP, length)
            self._counts.leave(self._shelf)
            if self._behind_gate is not None:
                self._behind_gate += 1
            self._progress(m.Phase.UNLOADING)
            self._unload_next()

    def _expect(self, segment: m.Segment, ready: float) -> None:
        """Watch a segment: its end must come within PATIENCE times the usual."""
        self._unwatch()
        self._segment, self._segment_since = segment, self._clock.now
        usual = TRANSIT.get(segment, PASSING)
        self._watch = self._clock.after(ready + usual * PATIENCE, self._late)

    def _unwatch(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    def _late(self) -> None:
        if self.stalled:
            return
        segment = self._segment
        strained = self._mechanics.currents()[_MOTOR.get(segment, m.Motor.TRANSPORT)] >= STUCK_CURRENT
        if segment is m.Segment.UNLOAD and not strained:
            # Nothing came and the motor ran free: the compartment is empty, whatever we believed.
            self._counts.found_empty(self._order.popleft())
            self._unload_next()
            return
        self._jam(segment)

    # --- ends in mid-cycle -----------------------------------------------------------------------------------

    def _jam(self, segment: m.Segment) -> None:
        phase = m.Phase.FEEDING if self.state is m.State.FEEDING else m.Phase.UNLOADING
        entered, left = self._counts.drawn_in, self._counts.left
        card = entered if phase is m.Phase.FEEDING else left + 1
        levels, currents = self._mechanics.levels(), self._mechanics.currents()
        self._halt(m.Reason.JAM)
        self.board.emit(m.Jam(self._command, phase, segment, card, entered, left, levels, currents))
        self.board.settle(self._command, Outcome.FAILED, m.Reason.JAM)

    def _halt_with(self, reason: m.Reason, segment: m.Segment) -> None:
        entered, left = self._counts.drawn_in, self._counts.left
        card = entered if self.state is m.State.FEEDING else left + 1
        if reason is m.Reason.DOUBLE_FEED:
            self._counts.doubt()
        self._halt(reason)
        self.board.emit(m.Fault(self._command, reason, segment, card, entered, left))
        self.board.settle(self._command, Outcome.FAILED, reason)

    def _stop(self, reason: m.Reason) -> None:
        if self.state not in _BUSY:
            return
        if self._at_rest is not None:  # a gate or a test that did not get to its end: no card is on the path
            self._unwatch()
            self.state = self._at_rest
        else:
            self._halt(reason)
            self.board.emit(m.Stopped(self._command, self._counts.drawn_in, self._counts.left, reason))
        self.board.settle(self._command, Outcome.FAILED, reason)

    def _halt(self, reason: m.Reason) -> None:
        self._unwatch()
        self._mechanics.halt()
        self._halted_in = self.state
        self.state, self._reason = m.State.HALTED, reason

    # --- after a halt ----------------------------------------------------------------------------------------

    def _start_clearing(self, command: int) -> None:
        self._command, self._at_rest = command, None
        unloading = self._halted_in is m.State.UNLOADING and self._counts.stored[self._shelf] > 0
        self._counts.begin_emptying(on_the_way=int(unloading))
        self._reason = m.Reason.NONE
        if not self._mechanics.blocked(m.Sensor.GATE):
            self._behind_gate = 0
        self.state = m.State.CLEARING
        self._unload_all()

    def _cleared(self, command: int) -> None:
        emptied = self._counts.emptied()
        occupied = self._mechanics.blocked(m.Sensor.GATE)
        self.state = self._at_rest = m.State.READY if occupied else m.State.IDLE
        self.board.emit(m.Cleared(command, emptied, self._behind_gate))
        self.board.settle(command, Outcome.DONE)

    # --- hands -----------------------------------------------------------------------------------------------

    def _progress(self, phase: m.Phase) -> None:
        bits = sum(1 << s for s in m.Sensor if self._mechanics.blocked(s))
        counts = self._counts
        self.board.emit(m.Progress(self._command, phase, counts.entered, counts.left, bits), droppable=True)

    def _note_intake(self) -> None:
        has_cards = self._mechanics.blocked(m.Sensor.INTAKE)
        if has_cards is not self._had_cards:
            self._had_cards = has_cards
            self.board.emit(m.Intake(has_cards))

    def hands_moved(self) -> None:
        """Somebody put cards in or took some out: look at the intake again."""
        if self.board.alive:
            self._note_intake()

    def door(self, *, is_open: bool) -> None:
        """The door switch changed: an open door stops all motion."""
        if self._mechanics.door_open is is_open:
            return
        self._mechanics.door_open = is_open
        if is_open:
            self._counts.door_opened(at_rest=self._at_rest is not None)
        if not self.board.alive:
            return
        self.board.emit(m.Door(is_open))
        if is_open:
            self._stop(m.Reason.DOOR_OPEN)

    def inject(self, fault: Fault) -> None:
        """Let something happen that concerns the firmware and its switches."""
        match fault.kind.name:
            case "stall":
                self.stalled = True
                self._mechanics.halt()
                self._unwatch()
            case "sort_mode":
                self.mode = m.Mode.SORT
            case "door":
                self.door(is_open=fault.one_of("to", ("closed", "open")) == 1)
            case name:
                raise BadFault(f"{name} does not act on the shuffler's firmware")
