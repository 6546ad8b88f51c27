"""The simulated firmware of a bet sensor: reads its coil, keeps the latch, drives two lamps, speaks the protocol.

It sees only the level of its coil. `latch` defines how each step changes its memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.bet_sensor import messages as m
from firmware_bridge.commands import Outcome
from firmware_bridge.errors import BadFault
from firmware_bridge.messages import tag_of
from simulators.kinds.bet_sensor import latch
from simulators.kinds.bet_sensor.mechanics import EMPTY_LEVEL

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.messages import Message
    from simulators.engine.board import Board
    from simulators.engine.device_clock import DeviceClock
    from simulators.engine.faults import InjectedFault
    from simulators.kinds.bet_sensor.mechanics import BetSpot

# Levels: below the first the spot is empty, from the second on it holds a chip, from the third on several. Between the
# first two the content is unclear.
NOTHING_BELOW: Final = 250
CHIP_FROM: Final = 450
SEVERAL_FROM: Final = 820
# A signal with less similarity to a chip's (%) is a foreign object.
LEAST_LIKENESS: Final = 70
# A working coil has some noise; above this the level is invalid.
MOST_NOISE: Final = 80
# Drift of the empty level at which a self-test fails.
MOST_DRIFT: Final = 60
TEST_TIME: Final = 0.6
RESET_TIME: Final = 0.3


def judge_reading(level: int, noise: int, likeness: int) -> m.SpotContent:
    """Return the content of the spot by one reading."""
    if not 0 < noise <= MOST_NOISE:
        return m.SpotContent.UNREAD
    if level < NOTHING_BELOW:
        return m.SpotContent.EMPTY
    if likeness < LEAST_LIKENESS:
        return m.SpotContent.FOREIGN
    if level < CHIP_FROM:
        return m.SpotContent.EDGE
    return m.SpotContent.CHIP if level < SEVERAL_FROM else m.SpotContent.SEVERAL


def _ignore(_: m.Latch) -> None:
    """Ignore a latch."""


class BetSensorFirmware:
    """The program of one bet sensor's controller board."""

    def __init__(self, spot: BetSpot, clock: DeviceClock) -> None:
        self.board: Board  # set by Machine.assemble
        self.on_latch: Callable[[m.Latch], None] = _ignore  # at the instant of every new latch
        self.stalled = False
        self.memory = latch.SpotMemory()  # kept over power cuts, all but the light
        self._coil = spot
        self._clock = clock
        self._testing: Any = None
        spot.on_change = self._coil_changed

    @property
    def state(self) -> m.State:
        """The state of the sensor."""
        return m.State.TESTING if self._testing is not None else self.memory.state

    def boot(self) -> None:
        """Start after power-up: keep the latch, close an open spot, read the content again."""
        self.board.memory.fail_running(m.Reason.POWER_LOST)
        self.stalled, self._testing = False, None
        self.memory = latch.rebooted(self.memory)
        self._coil.switch_light(m.Light.OFF)
        self._coil_changed()

    def on_session_start(self) -> None:
        """A session started: the status holds everything that a host needs."""

    def power_lost(self) -> None:
        """The lamps go out; the spot is not read."""
        self._coil.switch_light(m.Light.OFF)

    # --- messages --------------------------------------------------------------------------------------------

    def handle(self, message: m.Actuation | m.Question) -> Message:
        """Answer one message of the host."""
        match message:
            case m.GetStatus():
                spot = self.memory
                return m.Status(
                    self.state, spot.round, spot.lies, spot.sequence, spot.light, spot.latch, spot.reason
                )  # fmt: skip
            case m.GetHealth():
                level, noise, likeness = self._coil.read()
                return m.Health(self.memory.lies, level, CHIP_FROM, noise, likeness, self.memory.sound)
            case m.Lock():
                return self._lock(message)
            case _:
                return self.board.once(message, self._refusal, self._begin)

    def _lock(self, message: m.Lock) -> Message:
        """Latch. A repeated lock is answered with the latch itself, at any later time."""
        before = self.memory.latch
        self.memory, answer = latch.lock(self.memory, message.round, message.lock_id)
        if self.memory.latch is not None and self.memory.latch is not before:
            self.on_latch(self.memory.latch)
        self._coil.switch_light(self.memory.light)
        if self.board.memory.begin(message.lock_id, tag_of(m.Lock)) is None:
            if isinstance(answer, m.LockRefused):
                self.board.memory.settle(message.lock_id, Outcome.REFUSED, answer.reason)
            else:
                self.board.memory.settle(message.lock_id, Outcome.DONE)
        return answer

    def _refusal(self, message: m.Actuation) -> m.Reason:
        spot = self.memory
        if isinstance(message, m.Reset):
            return m.Reason.NONE
        if self._testing is not None:
            return m.Reason.BUSY
        match message:
            case m.Open():
                return latch.opening_refused(spot, message.round)
            case m.Unlock():
                return latch.unlocking_refused(spot, message.lock_id)
            case m.SetLight():
                return latch.light_refused(spot, message.light, message.sequence)
            case m.SelfTest():
                if spot.state is not m.State.NONE:
                    return m.Reason.BUSY
                chips = spot.lies in (m.SpotContent.CHIP, m.SpotContent.SEVERAL, m.SpotContent.EDGE)
                return m.Reason.SPOT_OCCUPIED if chips else m.Reason.NONE  # a drifted coil reads as a foreign object
        raise AssertionError(message)

    def _begin(self, message: m.Actuation) -> bool:
        """Carry out a command that was not refused; return whether it has already ended."""
        match message:
            case m.Open():
                self.memory = latch.opened(self.memory, message.round)
            case m.Unlock():
                self.memory = latch.unlocked(self.memory)
            case m.SetLight():
                self.memory = latch.with_light(self.memory, message.light)
            case m.Reset():
                self._clock.after(0.05, lambda: self.board.restart(RESET_TIME))  # after the reply has left
            case m.SelfTest():
                self._testing = message.command
                if not self.stalled:
                    self._clock.after(TEST_TIME, lambda: self._tested(message.command))
                return False
        self._coil.switch_light(self.memory.light)
        return True

    def _tested(self, command: int) -> None:
        level, noise, _ = self._coil.read()
        lamps = ((m.Part.ACKNOWLEDGED_LAMP, m.Light.ACKNOWLEDGED), (m.Part.ACCEPTED_LAMP, m.Light.ACCEPTED))
        bad = sum(1 << part for part, light in lamps if not self._coil.lamp_works(light))
        if not 0 < noise <= MOST_NOISE or abs(level - EMPTY_LEVEL) > MOST_DRIFT:
            bad |= 1 << m.Part.COIL
        self._testing = None
        self.memory = latch.tested(self.memory, passed=not bad)
        self.board.emit(m.SelfTested(command, bad))
        self.board.settle_test(command, m.Reason.SELF_TEST_FAILED if bad else None)

    # --- the coil ----------------------------------------------------------------------------------------------

    def _coil_changed(self) -> None:
        """Read the coil; number and report a change."""
        if not self.board.alive:
            return
        level, noise, likeness = self._coil.read()
        was_sound = self.memory.sound
        self.memory, changed = latch.update_content(self.memory, judge_reading(level, noise, likeness), level)
        self._coil.switch_light(self.memory.light)
        if changed is not None:
            self.board.emit(changed)
        if was_sound and not self.memory.sound:
            self.board.emit(m.Fault(m.Reason.SENSING_FAILED, level, noise))

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of the firmware."""
        if fault.kind.name != "stall":
            raise BadFault(f"{fault.kind.name} does not act on the bet sensor's firmware")
        self.stalled = True
        self._coil.freeze()
