"""The firmware that all shufflers share: power, questions, refusals, gate, chute, self-test, clearing, door.

`card_mover` moves the cards; each model defines its own cycle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.edge_log import GetEdgeLog
from devices.shuffler import messages as m
from firmware_bridge.commands import Outcome
from firmware_bridge.errors import BadFault
from simulators.kinds.shuffler.card_mover import MOVING, CardMover

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.messages import Message
    from simulators.engine.faults import InjectedFault

# Time to open the gate, and of a self-test (s).
GATE_TIME: Final = 0.4
TEST_TIME: Final = 0.8
# Time to push a stack through the chute into the dealing shoe (s).
INSERT_TIME: Final = 1.2
# Time that a jogged motor is on (s): a quarter of a turn.
JOG_TIME: Final = 0.3
# A clear sensor closer to its threshold than this fails the self-test.
LEAST_MARGIN: Final = 80
# The sensors that must be clear when no card is on the path.
PATH_SENSORS: Final = (m.Sensor.FEED, m.Sensor.BRIDGE, m.Sensor.LIFT, m.Sensor.EXIT, m.Sensor.STACK)

_BUSY: Final = (*MOVING, m.State.TESTING, m.State.INSERTING)


class ShufflerFirmwareBase(CardMover):
    """The program of a shuffler's controller board, without the cycle of its model."""

    _cycles = 0

    def _forget(self) -> None:
        """Set the state after a boot."""
        self.state = m.State.DOUBTFUL if self._at_rest is None else self._at_rest
        self.mode = m.Mode.SHUFFLE
        self._empty_path()

    def boot(self) -> None:
        """Start after power-up; record that a running command did not finish."""
        interrupted = self._at_rest is None
        self.board.memory.fail_running(m.Reason.POWER_LOST)
        self.stalled = False
        self._forget()
        if interrupted:
            self._reason = m.Reason.POWER_LOST
            self._counts.forget()
            self._counts.lose_certainty()
        else:
            self._counts.begin()
        # No host is connected yet; a host that connects reads it in the status.
        self.board.emit(m.Power(interrupted))

    def on_session_start(self) -> None:
        """A session started: report a power loss at once."""
        if self._reason is m.Reason.POWER_LOST:
            self.board.emit(m.Power(interrupted=True))

    def power_lost(self) -> None:
        """Motors stop where they are."""
        self._mechanics.halt()

    # --- messages --------------------------------------------------------------------------------------------

    def handle(self, message: Any) -> Message:
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
            case m.GetFindings():
                return self._findings_reply()
            case _:
                return self.board.once(message, self._refusal, self._begin)

    def _status(self) -> m.Status:
        return m.Status(
            self.state, self.mode, self._mechanics.door_open, self._mechanics.blocked(m.Sensor.INTAKE),
            self._counts.inside, self._behind_gate, self._cycles, self._reason,
        )  # fmt: skip

    def _findings_reply(self) -> m.Findings | m.BatchFindings | m.NoFindings:
        return m.NoFindings(m.Reason.NOT_A_FINDING)

    def _begin(self, message: Any) -> bool:
        """Carry out a command that was not refused; return whether it has already ended."""
        command = message.command
        match message:
            case m.ClearJam():
                self._start_clearing(command)
            case m.Eject():
                self._later(command, GATE_TIME, m.State.UNLOADING, self._ejected)
            case m.Insert():
                self._start_insertion(command)
            case m.SelfTest():
                self._later(command, TEST_TIME, m.State.TESTING, self._tested)
            case m.Jog():
                self._later(command, JOG_TIME, m.State.TESTING, lambda _: self._jogged(message))
                self._mechanics.jog(message.motor)
            case m.Stop():
                self._stop(m.Reason.STOPPED)
                return True
            case m.Reset():
                self._clock.after(0.05, lambda: self.board.restart(0.3))  # after the reply has left
                return True
        return False

    def _refusal(self, message: Any) -> m.Reason:
        if isinstance(message, m.Stop | m.Reset):
            return m.Reason.NONE
        if self.state in _BUSY:
            return m.Reason.BUSY
        if self._mechanics.door_open:
            return m.Reason.DOOR_OPEN
        if isinstance(message, m.ClearJam):
            blocked = any(self._mechanics.blocked(sensor) for sensor in PATH_SENSORS)
            blocked = blocked or self._mechanics.shoe_chute.has_cards
            return m.Reason.PATH_BLOCKED if blocked else m.Reason.NONE
        if self.state in (m.State.HALTED, m.State.DOUBTFUL):
            return m.Reason.NEEDS_CLEARING
        if isinstance(message, m.Jog):
            return self._against_jog(message.motor)
        ready = self.state is m.State.READY
        if isinstance(message, m.Eject | m.Insert) and not ready:
            return m.Reason.NOTHING_TO_EJECT
        if isinstance(message, m.Insert) and self._mechanics.shoe_chute.is_occupied:
            return m.Reason.CHUTE_OCCUPIED
        moves = isinstance(message, m.StartCycle | m.TakeIn | m.Deliver | m.CountAll)
        if moves and ready:
            return m.Reason.GATE_OCCUPIED
        if isinstance(message, m.StartCycle | m.TakeIn) and not self._mechanics.blocked(m.Sensor.INTAKE):
            return m.Reason.NOTHING_LOADED
        return m.Reason.NONE

    def _against_jog(self, motor: m.Motor) -> m.Reason:
        """Return why a motor may not turn: its rollers must not reach a card."""
        if any(self._mechanics.blocked(sensor) for sensor in PATH_SENSORS):
            return m.Reason.PATH_BLOCKED
        reach = {
            m.Motor.FEED: self._mechanics.blocked(m.Sensor.INTAKE),
            m.Motor.EJECT: sum(self._counts.stored) > 0,
        }
        return m.Reason.CARDS_IN_REACH if reach.get(motor, False) else m.Reason.NONE

    def _later(self, command: int, seconds: float, state: m.State, end: Callable[[int], None]) -> None:
        """Start an action that moves no card on the path; it ends by itself, and the machine is idle again."""
        self._command, self.state = command, state
        if not self.stalled:
            self._watch.alarm(seconds, lambda: end(command))

    def _ejected(self, command: int) -> None:
        self._mechanics.open_gate()
        self.state = self._at_rest = m.State.IDLE
        self._behind_gate = 0
        self.board.settle(command, Outcome.DONE)

    def _start_insertion(self, command: int) -> None:
        """Push the stack through the chute. Until the end, cards may be on both sides of it."""
        self._command, self._at_rest, self.state = command, None, m.State.INSERTING
        self._reason = m.Reason.NONE
        count, self._behind_gate = self._behind_gate, None
        self._mechanics.push_stack()
        if not self.stalled:
            self._watch.alarm(INSERT_TIME, lambda: self._pushed(command, count))

    def _pushed(self, command: int, count: int | None) -> None:
        """The push is over: gate and chute must be clear, else it is not known how many cards are where."""
        self._mechanics.shoe_chute.finish()
        if self._mechanics.blocked(m.Sensor.GATE) or self._mechanics.shoe_chute.has_cards:
            stuck = m.Fault(command, m.Reason.CHUTE_JAMMED, m.Segment.DROP, 0, 0, 0)
            self._break_off(m.Reason.CHUTE_JAMMED, stuck)
            return
        self._stop_motion()
        self.state = self._at_rest = m.State.IDLE
        self._behind_gate = 0
        self.board.emit(m.Inserted(command, count))
        self.board.settle(command, Outcome.DONE)

    def _tested(self, command: int) -> None:
        levels = self._mechanics.levels()
        bad = sum(1 << s for s in PATH_SENSORS if levels[s].blocked or levels[s].margin < LEAST_MARGIN)
        held = sum(1 << motor for motor in m.Motor if not self._mechanics.turns(motor))
        assert self._at_rest is not None, "a machine with cards on its path refuses the test"
        self.state = self._at_rest
        failed = bool(bad or held)
        if not failed:
            self._counts.tested()
        self.board.emit(m.SelfTested(command, bad, held))
        self.board.settle(
            command,
            Outcome.FAILED if failed else Outcome.DONE,
            m.Reason.SELF_TEST_FAILED if failed else m.Reason.NONE,
        )

    def _jogged(self, message: m.Jog) -> None:
        assert self._at_rest is not None, "a machine with cards on its path refuses the jog"
        current, turned = self._mechanics.currents()[message.motor], self._mechanics.turns(message.motor)
        self._mechanics.halt()
        self.state = self._at_rest
        self.board.emit(m.Jogged(message.command, message.motor, message.reverse, current, turned))
        if turned:
            self.board.settle(message.command, Outcome.DONE)
        else:
            self.board.settle(message.command, Outcome.FAILED, m.Reason.MOTOR_STALLED)

    def _stop(self, reason: m.Reason) -> None:
        if self.state not in _BUSY:
            return
        if self._at_rest is not None:  # an interrupted gate or test: no card is on the path
            self._stop_motion()
            self.state = self._at_rest
            self.board.settle(self._command, Outcome.FAILED, reason)
        elif self.state is m.State.INSERTING:
            self._break_off(reason, m.Stopped(self._command, 0, 0, reason))
        else:
            self._break_off(reason, m.Stopped(self._command, self._counts.drawn_in, self._counts.left, reason))

    # --- after a halt ----------------------------------------------------------------------------------------

    def _start_clearing(self, command: int) -> None:
        self._command, self._at_rest = command, None
        unloading = self._halted_in in (m.State.UNLOADING, m.State.DELIVERING) and self._counts.stored[self._shelf] > 0
        self._counts.begin_emptying(on_the_way=int(unloading))
        self._reason = m.Reason.NONE
        if not self._mechanics.blocked(m.Sensor.GATE):
            self._behind_gate = 0
        self.state = m.State.CLEARING
        self._unload_all()

    def _cleared(self) -> None:
        emptied = self._counts.emptied()
        occupied = self._mechanics.blocked(m.Sensor.GATE)
        self.state = self._at_rest = self._halted_in = m.State.READY if occupied else m.State.IDLE
        self.board.emit(m.Cleared(self._command, emptied, self._behind_gate))
        self.board.settle(self._command, Outcome.DONE)

    # --- hands -----------------------------------------------------------------------------------------------

    def hands_moved(self) -> None:
        """Hands put cards in or took some out: read the intake again."""
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

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of the firmware or of its switches."""
        match fault.kind.name:
            case "stall":
                self.stalled = True
                self._stop_motion()
            case "hasty":
                segment = m.Segment(fault.choice_index("segment", self._mechanics.layout.words(m.Segment)))
                if segment is m.Segment.UNLOAD:
                    raise BadFault("hasty: where nothing comes from unload, the compartment counts as empty")
                self._watch.shorten_wait(segment, fault.number("percent") / 100)
            case "door":
                self.door(is_open=fault.choice_index("to", ("closed", "open")) == 1)
            case name:
                raise BadFault(f"{name} does not act on this shuffler's firmware")
