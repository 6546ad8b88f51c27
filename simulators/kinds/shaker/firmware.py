"""The simulated firmware of the dice shaker: counts shakes, watches the lid, reads the dice.

A roll is open from Arm until its single end. Ends are persistent, so that a roll never gets a second one.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final

from devices.shaker import messages as m
from firmware_bridge.commands import REMEMBERED
from firmware_bridge.errors import BadFault
from simulators.kinds.shaker.mechanics import DIE_WEIGHT, SHAKE_THRESHOLD

if TYPE_CHECKING:
    from firmware_bridge.messages import Message
    from simulators.engine.board import Board
    from simulators.engine.device_clock import DeviceClock
    from simulators.engine.faults import InjectedFault
    from simulators.kinds.shaker.mechanics import ShakerMechanics

# A lid that comes off within this time after a shake (s) counts as off while shaking: one shake takes 0.35 s.
QUIET: Final = 0.5
# Interval between readings (s), equal readings that mean no motion, and time limit (s).
LOOK_EVERY: Final = 0.1
STEADY_LOOKS: Final = 5
TRY_FOR: Final = 8.0
# A die with more tilt (degrees) is not flat: on a crumb it tilts less, against the wall far more. A still die never
# tilts by more than half a right angle.
FLAT_TILT: Final = 6
MOVING_TILT: Final = 45
# Below this clearness (0-255) a face is unreadable: half of a clean die's.
LEAST_CLEARNESS: Final = 110
# Tolerance of a weight (tenths of a gram); the noise of the load cell is 2.
WEIGHT_TOLERANCE: Final = 10
TEST_TIME: Final = 0.8
# A lid level closer to its threshold fails the self-test.
LEAST_MARGIN: Final = 150

_OPEN: Final = (m.State.ARMED, m.State.SETTLING)
_BUSY: Final = (*_OPEN, m.State.TESTING)
_LIES: Final = ("seven", "no_shake", "not_flat", "second", "under_lid")


class ShakerFirmware:
    """The program of one shaker's controller board."""

    def __init__(self, mechanics: ShakerMechanics, clock: DeviceClock) -> None:
        self.board: Board  # set by Machine.assemble
        self.state = m.State.RESTING
        self.stalled = False
        self._mechanics = mechanics
        self._clock = clock
        self._faulty = False  # these five are persistent
        self._rolls: OrderedDict[int, m.Roll] = OrderedDict()
        self._armed: int | None = None
        self._armed_ever = 0
        self._openings = 0
        self._forget()
        mechanics.on_lid = self._lid
        mechanics.on_door = self._door
        mechanics.on_shake = self._shake
        mechanics.on_stir = self._stir

    def _forget(self) -> None:
        """Set the state after a boot."""
        self.state = m.State.FAULTY if self._faulty else m.State.RESTING
        self.stalled = False
        self._shakes = 0
        self._last_shake = float("-inf")
        self._disturbed = False
        self._watch: Any = None
        self._looks: list[list[m.DieSeen]] = []
        self._give_up_at = 0.0
        self._dice = self._count_dice()

    def boot(self) -> None:
        """Start after power-up: a running command did not finish, and an open roll is void."""
        self.board.memory.fail_running(m.Reason.POWER_LOST)
        self._forget()
        if self._armed is not None:
            self._end(None, m.Reason.POWER_LOST)

    def on_session_start(self) -> None:
        """A session started: the report holds everything that a host needs."""

    def power_lost(self) -> None:
        """Nothing to stop: the shaker has no motors."""

    # --- messages --------------------------------------------------------------------------------------------

    def handle(self, message: m.Actuation | m.Question) -> Message:
        """Answer one message of the host."""
        match message:
            case m.GetStatus():
                return self._status()
            case m.GetSensors():
                mechanics = self._mechanics
                seen = [] if mechanics.lid_on else mechanics.look()  # covered dice are secret
                return m.Sensors(mechanics.lid_sensor(), mechanics.motion_sensor(), mechanics.weight(), seen)
            case m.GetRoll():
                unknown = m.Roll(message.command, m.Ending.UNKNOWN, 0, None, m.Reason.NONE)
                return self._rolls.get(message.command, unknown)
            case _:
                return self.board.once(message, self._refusal, self._begin)

    def _status(self) -> m.Status:
        roll = next(reversed(self._rolls.values()), None)
        return m.Status(
            self.state, self._mechanics.lid_on, self._mechanics.door_open, self._count_dice(), self._shakes,
            roll.command if roll else None, roll.values if roll else None, self._disturbed, self._openings,
            self._armed_ever, roll.reason if roll else m.Reason.NONE,
        )  # fmt: skip

    def _refusal(self, message: m.Actuation) -> m.Reason:
        if isinstance(message, m.Disarm | m.Reset):
            return m.Reason.NONE
        if self.state in _BUSY:
            return m.Reason.BUSY
        if self._mechanics.door_open:
            return m.Reason.DOOR_OPEN
        if isinstance(message, m.SelfTest):
            return m.Reason.NONE
        if self._faulty:
            return m.Reason.SELF_TEST_FAILED
        if not self._mechanics.lid_on:
            return m.Reason.LID_OFF
        return m.Reason.NONE if self._count_dice() == m.DICE else m.Reason.NOT_THREE_DICE

    def _begin(self, message: m.Actuation) -> bool:
        """Carry out a command that was not refused; return whether it has already ended."""
        match message:
            case m.Arm():
                self._arm(message.command)
            case m.Disarm():
                if self.state in _OPEN:
                    self._end(None, m.Reason.STOPPED)
            case m.SelfTest():
                self.state = m.State.TESTING
                if not self.stalled:
                    self._watch = self._clock.after(TEST_TIME, lambda: self._tested(message.command))
                return False
            case m.Reset():
                self._clock.after(0.05, lambda: self.board.restart(0.3))  # after the reply has left
        return True

    # --- a roll ----------------------------------------------------------------------------------------------

    def _arm(self, command: int) -> None:
        self.state, self._armed, self._shakes, self._disturbed = m.State.ARMED, command, 0, False
        self._armed_ever += 1
        self._rolls[command] = m.Roll(command, m.Ending.OPEN, 0, None, m.Reason.NONE)
        while len(self._rolls) > REMEMBERED:
            self._rolls.popitem(last=False)
        self.board.emit(m.Shaken(command, 0))

    def _end(self, values: list[int] | None, reason: m.Reason, flat: int = 0) -> None:
        """End the open roll: store the end first, then report it."""
        command, self._armed = self._armed, None
        assert command is not None
        self._unwatch()
        self.state = m.State.RESTING
        ending = m.Ending.NO_ROLL if values is None else m.Ending.READ
        self._rolls[command] = m.Roll(command, ending, self._shakes, values, reason)
        if values is None:
            self._dice = self._count_dice()
            self.board.emit(m.NoRoll(command, reason, self._shakes, self._dice, flat))
        else:
            self.board.emit(m.Reading(command, self._shakes, values, [True] * m.DICE))

    def _lid_off(self) -> None:
        if self._mechanics.clock.now - self._last_shake < QUIET:
            self._end(None, m.Reason.LID_DURING_SHAKE)
        elif self._shakes < m.LEAST_SHAKES:
            self._end(None, m.Reason.TOO_FEW_SHAKES)
        else:
            self.state = m.State.SETTLING
            self._looks = []
            self._give_up_at = self._clock.now + TRY_FOR
            self._look_later()

    def _look_later(self) -> None:
        self._watch = self._clock.after(LOOK_EVERY, self._look)

    def _look(self) -> None:
        if self.stalled:
            return
        seen = self._mechanics.look()
        if not self._looks or self._looks[-1] != seen or any(die.tilt > MOVING_TILT for die in seen):
            self._looks = []
        self._looks.append(seen)
        if len(self._looks) >= STEADY_LOOKS:
            self._judge(seen)
        elif self._clock.now >= self._give_up_at:
            self._end(None, m.Reason.NOT_AT_REST)
        else:
            self._look_later()

    def _judge(self, seen: list[m.DieSeen]) -> None:
        """The dice are still: report their values, or why this is no roll."""
        flat = [die for die in seen if die.tilt <= FLAT_TILT]
        dice = self._count_dice()
        if dice is None or dice > m.DICE:
            self._end(None, m.Reason.NOT_THREE_DICE if dice else m.Reason.UNREADABLE, len(flat))
        elif dice < m.DICE:
            self._end(None, m.Reason.DIE_OUTSIDE, len(flat))
        elif len(flat) != m.DICE:
            self._end(None, m.Reason.DIE_NOT_FLAT, len(flat))
        elif any(die.face is None or die.clearness < LEAST_CLEARNESS for die in flat):
            self._end(None, m.Reason.UNREADABLE, len(flat))
        else:
            self._end([die.face for die in flat if die.face is not None], m.Reason.NONE)

    def _count_dice(self) -> int | None:
        weight = self._mechanics.weight()
        dice = round(weight / DIE_WEIGHT)
        return dice if abs(weight - dice * DIE_WEIGHT) <= WEIGHT_TOLERANCE else None

    def _unwatch(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    # --- sensors -----------------------------------------------------------------------------------------------

    @property
    def _blind(self) -> bool:
        return self.stalled or not self.board.alive

    def _shake(self, peak: int) -> None:
        if self._blind or peak < SHAKE_THRESHOLD:
            return
        self._last_shake = self._mechanics.clock.now
        self._shakes = min(self._shakes + 1, 0xFFFF)
        self.board.emit(m.Shaken(self._armed, self._shakes), droppable=True)

    def _lid(self, on: bool) -> None:
        if self._blind:
            return
        self._disturbed = False  # covered dice have no readings to disturb
        if on and self._armed is None:
            self._shakes = 0
        self.board.emit(m.Lid(on))
        if self.state is m.State.ARMED and not on:
            self._lid_off()
        elif self.state is m.State.SETTLING and on:
            self._end(None, m.Reason.NOT_AT_REST)

    def _door(self, is_open: bool) -> None:
        if self._blind:
            return
        self._openings += is_open
        if is_open and self.state in _OPEN:
            self._end(None, m.Reason.DOOR_OPEN)
        self._report_dice()

    def _stir(self) -> None:
        """The reader detects movement: uncovered dice are no longer as they were read."""
        if self._blind or self.state in _OPEN:
            return
        last = next(reversed(self._rolls.values()), None)
        read = last is not None and last.values is not None and not self._mechanics.lid_on
        if (read and not self._disturbed) or self._count_dice() != self._dice:
            self._disturbed = self._disturbed or read
            self._report_dice()

    def _report_dice(self) -> None:
        self._dice = self._count_dice()
        self.board.emit(m.Dice(self._mechanics.door_open, self._dice, self._disturbed))

    # --- self-test and faults -----------------------------------------------------------------------------------

    def _tested(self, command: int) -> None:
        if self.stalled:
            return
        mechanics = self._mechanics
        unclear = any(die.clearness < LEAST_CLEARNESS for die in mechanics.look())
        failed = {
            m.Sensor.LID: mechanics.lid_sensor().margin < LEAST_MARGIN,
            m.Sensor.MOTION: not mechanics.accelerometer_responds(),
            m.Sensor.WEIGHT: self._count_dice() is None,
            m.Sensor.READER: unclear,
        }
        bad = sum(1 << sensor for sensor, wrong in failed.items() if wrong)
        self._faulty = bool(bad)
        self.state = m.State.FAULTY if bad else m.State.RESTING
        self.board.emit(m.SelfTested(command, bad))
        self.board.settle_test(command, m.Reason.SELF_TEST_FAILED if bad else None)

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of the firmware."""
        match fault.kind.name:
            case "stall":
                self.stalled = True
                self._unwatch()
            case "lie":
                self._lie(_LIES[fault.choice_index("how", _LIES)])
            case name:
                raise BadFault(f"{name} does not act on the shaker's firmware")

    def _lie(self, how: str) -> None:
        """Send an impossible report about the open or the last roll."""
        last = next(reversed(self._rolls.values()), None)
        if last is None:
            raise BadFault("lie: there has been no roll to lie about")
        others = [value % 6 + 1 for value in last.values or [1, 2, 3]]
        if how == "under_lid":
            self.board.emit(m.Lid(on=True))
        self.board.emit(
            m.Reading(
                last.command,
                0 if how == "no_shake" else m.LEAST_SHAKES,
                [7, 1, 1] if how == "seven" else others,
                [True, how != "not_flat", True],
            )
        )
