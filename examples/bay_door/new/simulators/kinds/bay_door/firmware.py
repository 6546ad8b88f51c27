"""The simulated firmware of a bay door: sees one contact, and drives the lamp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.bay_door import messages as m
from firmware_bridge.errors import BadFault

if TYPE_CHECKING:
    from firmware_bridge.messages import Message
    from simulators.engine.board import Board
    from simulators.engine.device_clock import DeviceClock
    from simulators.engine.faults import InjectedFault
    from simulators.kinds.bay_door.mechanics import DoorMechanics

TEST_TIME: Final = 0.5


class BayDoorFirmware:
    """The program of one bay door's controller board."""

    def __init__(self, door: DoorMechanics, clock: DeviceClock) -> None:
        self.board: Board  # set by Machine.assemble
        self._door = door
        self._clock = clock
        self._forget()
        door.on_change = self._changed

    def _forget(self) -> None:
        """Set the state after a boot."""
        self.stalled = False
        self._testing = False
        self._openings = 0
        self._open = self._door.is_open

    @property
    def state(self) -> m.State:
        """What the firmware is doing."""
        if self._open:
            return m.State.OPEN
        return m.State.TESTING if self._testing else m.State.CLOSED

    def boot(self) -> None:
        """Start after power-up."""
        self.board.memory.fail_running(m.Reason.POWER_LOST)
        self._forget()

    def on_session_start(self) -> None:
        """A session started: the report holds everything that a host needs."""

    def power_lost(self) -> None:
        """Nothing to stop: it has no moving parts."""

    # --- messages --------------------------------------------------------------------------------------------

    def handle(self, message: m.Actuation | m.Question) -> Message:
        """Answer one message of the host."""
        if isinstance(message, m.GetStatus):
            return m.Status(self.state, self._openings, m.Reason.OPEN if self._open else m.Reason.NONE)
        return self.board.once(message, self._refusal, self._begin)

    def _refusal(self, message: m.Actuation) -> m.Reason:
        if isinstance(message, m.Reset):
            return m.Reason.NONE
        if self._open:
            return m.Reason.OPEN
        return m.Reason.BUSY if self._testing else m.Reason.NONE

    def _begin(self, message: m.Actuation) -> bool:
        if isinstance(message, m.Reset):
            self._clock.after(0.05, lambda: self.board.restart(0.3))  # after the reply has left
            return True
        self._testing = True
        self._clock.after(TEST_TIME, lambda: self._tested(message.command))
        return False

    # --- the door --------------------------------------------------------------------------------------------

    def _changed(self) -> None:
        if self.stalled or not self.board.alive or self._door.is_open is self._open:
            return
        self._open = not self._open
        self._openings += self._open
        self.board.emit(m.Opened(self._openings) if self._open else m.Closed())

    def _tested(self, command: int) -> None:
        if self.stalled:
            return
        self._testing = False
        works = self._door.lamp_works
        self.board.emit(m.SelfTested(command, works))
        self.board.settle_test(command, None if works else m.Reason.SELF_TEST_FAILED)

    # --- faults ------------------------------------------------------------------------------------------------

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of the firmware."""
        if fault.kind.name != "stall":
            raise BadFault(f"{fault.kind.name} does not act on the firmware of a bay door")
        self.stalled = True
