"""A dice shaker and the hands that use it: dice, lid, door, and their sensors.

This module holds the true state of the dice; the firmware sees only accelerometer, load cell and reader. Hands keep
moving when power is cut, so they have their own clock, which also timestamps the sensors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.shaker.messages import DieSeen, SensorLevel
from firmware_bridge.errors import BadFault
from simulators.world.dice import Attitude, DiceSet, Die

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from simulators.engine.device_clock import DeviceClock
    from simulators.engine.faults import InjectedFault

# Time of one shake, and how long the dice keep rolling after the last shake or a bump (s).
SHAKE_TIME: Final = 0.35
ROLL_ON: Final = 0.4
# Peak acceleration of a good shake, and the threshold for a shake (thousandths of g).
SHAKE_PEAK: Final = 3200
SHAKE_THRESHOLD: Final = 1500
# The lid's magnet at its sensor (0-1023).
LID_LEVEL: Final = 860
NO_LID_LEVEL: Final = 50
LID_THRESHOLD: Final = 450
# Weight of a die, and noise of the load cell in each direction (tenths of a gram).
DIE_WEIGHT: Final = 80
WEIGHT_NOISE: Final = 2
# Clearness of the reader's image of a clean die, and tilt of a leaning die (degrees).
CLEAR_PICTURE: Final = 220
LEAN: Final = 25
MOVING_TILT: Final = 90

TABLE: Final = "table"  # on the layout, outside the shaker
OLD_DICE: Final = "old_dice"


def _ignore(*_: Any) -> None:
    """Ignore an edge."""


class ShakerMechanics:
    """One shaker. Callbacks report edges to the firmware; it must poll everything else."""

    def __init__(self, clock: DeviceClock, rng: Random, slot: str) -> None:
        self.dice = DiceSet()
        self.slot = slot
        self.lid_on = True
        self.door_open = False
        self.on_lid: Callable[[bool], None] = _ignore
        self.on_door: Callable[[bool], None] = _ignore
        self.on_shake: Callable[[int], None] = _ignore  # peak of a movement, in thousandths of g
        self.on_stir: Callable[[], None] = _ignore  # the reader detects that dice move, arrive or leave
        self.clock = clock
        self._rng = rng
        self._pending: list[tuple[InjectedFault, Die | None]] = []  # faults for the next time that the lid comes off
        self._still_at = 0.0
        self._peak = 0
        self._shakes_left = 0
        self.mend()
        for _ in range(3):
            self.dice.make(self.inside).tumble(rng)

    def mend(self) -> None:
        """Repair: clean sensors that measure correctly."""
        self._pending.clear()
        self._dust: dict[int, float] = {}  # share of clearness lost, by die
        self._misread: dict[int, int] = {}
        self._drift = 0.0
        self._deaf = False

    # --- the truth -----------------------------------------------------------------------------------------------

    @property
    def inside(self) -> str:
        """The place name of the inside of the shaker."""
        return f"{self.slot}/inside"

    @property
    def in_shaker(self) -> list[Die]:
        """The dice that are in the shaker."""
        return self.dice.at(self.inside)

    @property
    def moving(self) -> bool:
        """Return whether the dice still roll."""
        return self.clock.now < self._still_at

    def shown_faces(self) -> tuple[int, ...] | None:
        """Return the faces of the dice, if three of them are flat and still in the shaker."""
        dice = self.in_shaker
        if len(dice) != 3 or self.moving or any(die.attitude is not Attitude.FLAT for die in dice):
            return None
        return tuple(die.face_up for die in dice)

    # --- what the firmware can see -------------------------------------------------------------------------------

    def look(self) -> list[DieSeen]:
        """Return the reader's image of the dice on the floor; a stacked die is not seen."""
        return [self._seen(die) for die in self.in_shaker if die.attitude is not Attitude.STACKED][:8]

    def _seen(self, die: Die) -> DieSeen:
        clearness = round(CLEAR_PICTURE * (1 - self._dust.get(die.number, 0.0)))
        if self.moving:  # some face, not the one that will be up
            return DieSeen(die.face_up % 6 + 1, MOVING_TILT, clearness)
        if die.attitude is Attitude.LEANING:
            return DieSeen(die.face_up, LEAN, clearness)
        return DieSeen(self._misread.get(die.number, die.face_up), 0, clearness)

    def weight(self) -> int:
        """Weigh the dice in the shaker, in tenths of a gram."""
        true = DIE_WEIGHT * len(self.in_shaker) * (1 + self._drift)
        return max(0, round(true) + self._rng.randint(-WEIGHT_NOISE, WEIGHT_NOISE))

    def lid_sensor(self) -> SensorLevel:
        """Return the lid sensor's level."""
        return SensorLevel(self.lid_on, LID_LEVEL if self.lid_on else NO_LID_LEVEL, LID_THRESHOLD)

    def motion_sensor(self) -> SensorLevel:
        """Return the last peak of the accelerometer."""
        return SensorLevel(self._peak >= SHAKE_THRESHOLD, self._peak, SHAKE_THRESHOLD)

    def accelerometer_responds(self) -> bool:
        """Return whether the accelerometer passes its self-test."""
        return not self._deaf

    # --- hands ---------------------------------------------------------------------------------------------------

    def shake(self, times: int, strength: float) -> None:
        """Shake so many times in a row; a second call adds so many more."""
        idle = not self._shakes_left
        self._shakes_left += times
        if idle and times:
            self.clock.after(SHAKE_TIME, lambda: self._one_shake(strength))

    def _one_shake(self, strength: float) -> None:
        self._shakes_left -= 1
        for die in self.in_shaker:
            die.tumble(self._rng)
            if not self.lid_on:
                die.place = TABLE
        self._still_at = self.clock.now + ROLL_ON
        peak = round(SHAKE_PEAK * strength * self._rng.uniform(0.9, 1.1))
        self._feel(peak)
        if self._shakes_left:
            self.clock.after(SHAKE_TIME, lambda: self._one_shake(strength))

    def _feel(self, peak: int) -> None:
        if not self._deaf:
            self._peak = min(peak, 0xFFFF)
            self.on_shake(self._peak)
        self.on_stir()

    def put_lid(self, *, on: bool) -> None:
        """Take the lid off or put it on; pending faults are applied when it comes off."""
        if self.lid_on is on:
            return
        self.lid_on = on
        if not on:
            for fault, die in self._pending:
                self._befall(fault, die)
            self._pending.clear()
        self.on_lid(on)
        self.on_stir()

    def _befall(self, fault: InjectedFault, die: Die | None) -> None:
        if die is None:
            self._still_at = self.clock.now + fault.number("seconds")
        elif die.place != self.inside:  # it has left meanwhile, or has just fallen
            return
        elif fault.kind.name == "spill":
            die.place, die.attitude = TABLE, Attitude.FLAT
        else:
            die.attitude = Attitude.LEANING if fault.kind.name == "lean" else Attitude.STACKED

    def bump(self) -> None:
        """Bump the shaker: the dice jump, below the threshold for a shake."""
        for die in self.in_shaker:
            die.tumble(self._rng)
        self._still_at = self.clock.now + ROLL_ON
        self._feel(SHAKE_THRESHOLD // 2)

    def open_door(self, *, is_open: bool) -> None:
        """Open or close the door through which dice are exchanged."""
        if self.door_open is not is_open:
            self.door_open = is_open
            self.on_door(is_open)

    def pick_up(self) -> int:
        """Put fallen dice back into the open shaker, until it has three; return how many."""
        if self.lid_on:
            raise BadFault("pick_up: the lid is on")
        fallen = self.dice.at(TABLE)[: max(0, 3 - len(self.in_shaker))]
        for die in fallen:
            die.place = self.inside
        self.on_stir()
        return len(fallen)

    def take_die(self) -> None:
        """Take one die out."""
        if not self.in_shaker:
            raise BadFault("remove_die: the shaker is empty")
        self.in_shaker[-1].place = TABLE
        self.on_stir()

    def swap_die(self, fault: InjectedFault) -> Die:
        """Replace one die by another."""
        loaded = fault.integer("loaded")
        if not 0 <= loaded <= 6:
            raise BadFault("swap_die: loaded is a face, or 0 for a fair die")
        self._die(fault).place = OLD_DICE
        new = self.dice.make(self.inside, loaded=loaded or None)
        new.tumble(self._rng)
        self.on_stir()
        return new

    def exchange(self) -> None:
        """Open the door, take every die out, put three new ones in, close the door."""
        self.open_door(is_open=True)
        for die in self.in_shaker:
            die.place = OLD_DICE
        for _ in range(3):
            self.dice.make(self.inside).tumble(self._rng)
        self.on_stir()
        self.open_door(is_open=False)

    # --- faults --------------------------------------------------------------------------------------------------

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of dice or sensors; BadFault if it is impossible."""
        match fault.kind.name:
            case "lean" | "stack" | "spill":
                self._pending.append((fault, self._die(fault)))
            case "tremble":
                fault.number("seconds")
                self._pending.append((fault, None))
            case "dust":
                self._dust[self._die(fault).number] = min(1.0, fault.number("percent") / 100)
            case "misread":
                face = fault.integer("as")
                if not 1 <= face <= 6:
                    raise BadFault("misread: a face is 1 to 6")
                self._misread[self._die(fault).number] = face
            case "drift":
                self._drift = fault.number("percent") / 100
            case "deaf":
                self._deaf, self._peak = True, 0
            case "mend":
                self.mend()
            case name:
                raise BadFault(f"{name} does not act on the shaker's mechanics")

    def _die(self, fault: InjectedFault) -> Die:
        which = fault.integer("die")
        if not 1 <= which <= len(self.in_shaker):
            raise BadFault(f"{fault.kind.name}: there are {len(self.in_shaker)} dice in the shaker")
        return self.in_shaker[which - 1]
