"""The simulated firmware of the flat button's mat: turns seven levels into one place, or into a reason.

It reports a place only while every sensor is clear, and withdraws it at once when one is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.button import messages as m
from firmware_bridge.errors import BadFault

if TYPE_CHECKING:
    from firmware_bridge.messages import Message
    from simulators.engine.board import Board
    from simulators.engine.device_clock import DeviceClock
    from simulators.engine.faults import InjectedFault
    from simulators.kinds.button.mechanics import ButtonMat

# From PRESENT up a button is there, down to ABSENT none is; between them it is unknown. A button that is clear at a
# place is mostly above it and less than a third above any other, so none is clear at a wrong place.
PRESENT: Final = 600
ABSENT: Final = 280
# A working sensor never reads less than this.
DEAD_BELOW: Final = 10
# Levels must be steady for so long (s) before they count: a moving hand changes them sooner.
STEADY: Final = 0.4
TEST_TIME: Final = 0.5

_LIES: Final = ("eight", "unclear", "nowhere")


class ButtonFirmware:
    """The program of one mat's controller board."""

    def __init__(self, mat: ButtonMat, clock: DeviceClock) -> None:
        self.board: Board  # set by Machine.assemble
        self.state = m.State.WATCHING
        self.stalled = False
        self._mat = mat
        self._clock = clock
        self._faulty = False  # kept over power cuts
        self._forget()
        mat.on_change = self._changed

    def _forget(self) -> None:
        """The state after a boot: a first reading, as if the button had just been put there."""
        self.state = m.State.FAULTY if self._faulty else m.State.WATCHING
        self.stalled = False
        self._moves = 0
        self._before: int | None = None
        self._timer: Any = None
        self._place, self._reason = self._judge()

    def boot(self) -> None:
        """Start after power-up."""
        self.board.memory.fail_running(m.Reason.POWER_LOST)
        self._forget()

    def on_session_start(self) -> None:
        """A session started: the report holds everything that a host needs."""

    def power_lost(self) -> None:
        """Nothing to stop: the mat has no moving parts."""

    # --- messages --------------------------------------------------------------------------------------------

    def handle(self, message: m.Actuation | m.Question) -> Message:
        """Answer one message of the host."""
        match message:
            case m.GetStatus():
                return m.Status(self.state, self._place, self._reason, self._moves)
            case m.GetSensors():
                return m.Sensors(self._mat.levels(), ABSENT, PRESENT)
            case _:
                return self.board.once(message, self._refusal, self._begin)

    def _refusal(self, message: m.Actuation) -> m.Reason:
        testing = self.state is m.State.TESTING and not isinstance(message, m.Reset)
        return m.Reason.BUSY if testing else m.Reason.NONE

    def _begin(self, message: m.Actuation) -> bool:
        if isinstance(message, m.Reset):
            self._clock.after(0.05, lambda: self.board.restart(0.3))  # after the reply has left
            return True
        self.state = m.State.TESTING
        self._clock.after(TEST_TIME, lambda: self._tested(message.command))
        return False

    # --- sensing -----------------------------------------------------------------------------------------------

    def _changed(self) -> None:
        """A level changed: the place is unknown until all levels are steady again."""
        if self.stalled or not self.board.alive:
            return
        if self._place is not None:
            self._before = self._place
        if self._reason is not m.Reason.MOVING:
            self._report_place(None, m.Reason.MOVING)
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._clock.after(STEADY, self._steady)

    def _steady(self) -> None:
        if self.stalled:
            return
        self._timer = None
        place, reason = self._judge()
        if place is not None and place != self._before:
            self._moves += 1
        self._report_place(place, reason)

    def _judge(self) -> tuple[int | None, m.Reason]:
        """Return the place, or the reason for no place."""
        levels = self._mat.levels()
        if any(level < DEAD_BELOW for level in levels):
            self._faulty, self.state = True, m.State.FAULTY
            return None, m.Reason.SENSOR_DEAD
        if any(ABSENT < level < PRESENT for level in levels):
            return None, m.Reason.BETWEEN_PLACES
        places = [place for place, level in enumerate(levels, 1) if level >= PRESENT]
        if len(places) > 1:
            return None, m.Reason.MORE_THAN_ONE
        return (places[0], m.Reason.NONE) if places else (None, m.Reason.NO_BUTTON)

    def _report_place(self, place: int | None, reason: m.Reason) -> None:
        self._place, self._reason = place, reason
        self.board.emit(m.Moved(self._before, place, reason))

    def _tested(self, command: int) -> None:
        if self.stalled:
            return
        levels = self._mat.levels()
        bad = sum(1 << place for place, level in enumerate(levels) if level < DEAD_BELOW)
        self._faulty = bool(bad)
        self.state = m.State.FAULTY if bad else m.State.WATCHING
        self.board.emit(m.SelfTested(command, bad))
        self.board.settle_test(command, m.Reason.SELF_TEST_FAILED if bad else None)

    # --- faults ------------------------------------------------------------------------------------------------

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of the firmware."""
        match fault.kind.name:
            case "stall":
                self.stalled = True
            case "lie":
                how = _LIES[fault.choice_index("how", _LIES)]
                self.board.emit(
                    {
                        "eight": m.Moved(1, 8, m.Reason.NONE),
                        "unclear": m.Moved(1, 2, m.Reason.BETWEEN_PLACES),
                        "nowhere": m.Moved(1, None, m.Reason.NONE),
                    }[how]
                )
            case name:
                raise BadFault(f"{name} does not act on the mat's firmware")
