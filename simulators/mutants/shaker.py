"""Mutants of the dice shaker (DS): rolls that must not count, and readings that change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.shaker import messages as m
from simulators.mutants.mutant_tools import MutantGroup, replace_event, replace_refusal, replace_reply, replaced, wrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.kinds.shaker.machine import SimulatedShaker

GROUP: Final = MutantGroup(m.KIND)
S: Final = m.State
R: Final = m.Reason


def others(values: list[int]) -> list[int]:
    """Return other faces than these."""
    return [value % 6 + 1 for value in values]


def last_roll(machine: SimulatedShaker) -> m.Roll | None:
    """Return the last roll that the firmware remembers."""
    return next(reversed(machine.firmware._rolls.values()), None)


def at_boot(machine: SimulatedShaker, spoil: Callable[[Any], None]) -> None:
    """Do something to the firmware before it starts."""

    def boot(real: Callable[[], None]) -> None:
        spoil(machine.firmware)
        real()

    wrap(machine.board, "_on_boot", boot)


def at_uncovering(machine: SimulatedShaker, spoil: Callable[[Any], None]) -> None:
    """Do something to the firmware when the lid comes off an open roll."""

    def lid_off(real: Callable[[], None]) -> None:
        spoil(machine.firmware)
        real()

    wrap(machine.firmware, "_lid_off", lid_off)


def sees(machine: SimulatedShaker, **fields: int) -> None:
    """Judge every die with these fields."""

    def judge(real: Callable[[list[m.DieSeen]], None], seen: list[m.DieSeen]) -> None:
        real([replaced(die, **fields) for die in seen])

    wrap(machine.firmware, "_judge", judge)


def wrong_reason(machine: SimulatedShaker, reason: m.Reason, instead: m.Reason) -> None:
    """End rolls for another reason."""

    def end(real: Callable[..., None], values: Any, real_reason: m.Reason, *flat: int) -> None:
        real(values, instead if real_reason is reason else real_reason, *flat)

    wrap(machine.firmware, "_end", end)


# --- under the lid ----------------------------------------------------------------------------------------------------


@GROUP.mutant("PL-12", also="DS-03 DS-08")
def roll_is_status(machine: SimulatedShaker) -> None:
    """Asked for a roll it reports its state."""
    replace_reply(machine, m.GetRoll, lambda _: machine.firmware.handle(m.GetStatus()))


@GROUP.mutant("DS-01")
def lid_below_its_threshold(machine: SimulatedShaker) -> None:
    """Its lid is on, but the level of its lid sensor means off."""
    replace_reply(machine, m.GetSensors, lambda sensors: replaced(sensors, lid=replaced(sensors.lid, level=0)))


@GROUP.mutant("DS-02")
def looks_under_the_lid(machine: SimulatedShaker) -> None:
    """It reports the dice under the lid."""
    replace_reply(machine, m.GetSensors, lambda sensors: replaced(sensors, dice=machine.mechanics.look()))


@GROUP.mutant("DS-03")
def arms_silently(machine: SimulatedShaker) -> None:
    """It does not report that a roll is open."""
    replace_event(machine, m.Shaken, lambda event: [event] if event.shakes else [])


@GROUP.mutant("DS-03")
def rolls_uncounted(machine: SimulatedShaker) -> None:
    """It does not count its rolls."""
    replace_reply(machine, m.GetStatus, lambda status: replaced(status, rolls=0))


@GROUP.mutant("DS-04")
def arms_twice(machine: SimulatedShaker) -> None:
    """A second roll can be opened before the first one has ended."""

    def refusal(real: Callable[[Any], m.Reason], message: Any) -> m.Reason:
        real_reason = real(message)
        return R.NONE if isinstance(message, m.Arm) and machine.firmware.state is S.ARMED else real_reason

    wrap(machine.firmware, "_refusal", refusal)


@GROUP.mutant("DS-05")
def stopped_twice(machine: SimulatedShaker) -> None:
    """A roll that is disarmed ends twice."""
    replace_event(machine, m.NoRoll, lambda event: [event, event] if event.reason is R.STOPPED else [event])


@GROUP.mutant("DS-05")
def reports_disarm_when_idle(machine: SimulatedShaker) -> None:
    """Disarm ends the last roll once more, when none is open."""

    def begin(real: Callable[[Any], bool], message: Any) -> bool:
        roll = last_roll(machine)
        if isinstance(message, m.Disarm) and machine.firmware.state is S.RESTING and roll is not None:
            machine.board.emit(m.NoRoll(roll.command, R.STOPPED, 0, m.DICE, 0))
        return real(message)

    wrap(machine.firmware, "_begin", begin)


@GROUP.mutant("DS-06")
def unreported_sensors(machine: SimulatedShaker) -> None:
    """A self-test ends without reporting which sensors passed."""
    replace_event(machine, m.SelfTested, lambda _: [])


@GROUP.mutant("DS-07")
def lid_off_while_testing(machine: SimulatedShaker) -> None:
    """While it tests itself it reports that its lid is off."""

    def refusal(real: Callable[[Any], m.Reason], message: Any) -> m.Reason:
        real_reason = real(message)
        return R.LID_OFF if isinstance(message, m.Arm) and machine.firmware.state is S.TESTING else real_reason

    wrap(machine.firmware, "_refusal", refusal)


@GROUP.mutant("DS-08")
def unknown_is_no_roll(machine: SimulatedShaker) -> None:
    """A roll that it does not know was no roll."""

    def change(roll: m.Roll) -> m.Roll:
        return replaced(roll, ending=m.Ending.NO_ROLL) if roll.ending is m.Ending.UNKNOWN else roll

    replace_reply(machine, m.GetRoll, change)


@GROUP.mutant("DS-09")
def roll_without_an_end(machine: SimulatedShaker) -> None:
    """A roll that a restart interrupted never ends."""

    def spoil(firmware: Any) -> None:
        firmware._armed = None

    at_boot(machine, spoil)


@GROUP.mutant("DS-10")
def remembers_eight_rolls(machine: SimulatedShaker) -> None:
    """It remembers eight rolls."""

    def arm(real: Callable[[int], None], command: int) -> None:
        real(command)
        while len(machine.firmware._rolls) > 8:
            machine.firmware._rolls.popitem(last=False)

    wrap(machine.firmware, "_arm", arm)


@GROUP.mutant("DS-10", also="DS-22")
def rolls_lost_with_the_power(machine: SimulatedShaker) -> None:
    """Its rolls do not survive a restart."""
    at_boot(machine, lambda firmware: firmware._rolls.clear())


# --- rolls ------------------------------------------------------------------------------------------------------------


@GROUP.mutant("DS-20")
def reads_twice(machine: SimulatedShaker) -> None:
    """Every reading is reported twice."""
    replace_event(machine, m.Reading, lambda event: [event, event])


@GROUP.mutant("DS-20")
def status_without_values(machine: SimulatedShaker) -> None:
    """Its status does not report the reading."""
    replace_reply(machine, m.GetStatus, lambda status: replaced(status, values=None))


@GROUP.mutant("DS-21")
def reads_other_faces(machine: SimulatedShaker) -> None:
    """What it reads is not what it sees."""

    def end(real: Callable[..., None], values: Any, *more: Any) -> None:
        real(values and others(values), *more)

    wrap(machine.firmware, "_end", end)


@GROUP.mutant("DS-22")
def reading_changes_under_the_lid(machine: SimulatedShaker) -> None:
    """A reading is another one when the dice are covered again."""

    def change(roll: m.Roll) -> m.Roll:
        covered = roll.values is not None and machine.mechanics.lid_on
        return replaced(roll, values=others(roll.values or [])) if covered else roll

    replace_reply(machine, m.GetRoll, change)


@GROUP.mutant("DS-23")
def two_shakes_do(machine: SimulatedShaker) -> None:
    """Two shakes are enough."""

    def spoil(firmware: Any) -> None:
        firmware._shakes += firmware._shakes == m.LEAST_SHAKES - 1

    at_uncovering(machine, spoil)


@GROUP.mutant("DS-24", also="DS-29")
def counts_earlier_shakes(machine: SimulatedShaker) -> None:
    """Shakes before Arm count."""
    firmware: Any = machine.firmware

    def arm(real: Callable[[int], None], command: int) -> None:
        shakes = firmware._shakes
        real(command)
        firmware._shakes = shakes

    wrap(firmware, "_arm", arm)


@GROUP.mutant("DS-25")
def lid_at_any_time(machine: SimulatedShaker) -> None:
    """The lid may come off while it is shaken."""

    def spoil(firmware: Any) -> None:
        firmware._last_shake = float("-inf")

    at_uncovering(machine, spoil)


@GROUP.mutant("DS-26")
def leaning_is_flat(machine: SimulatedShaker) -> None:
    """A die that leans is flat."""
    sees(machine, tilt=0)


@GROUP.mutant("DS-26")
def stacked_is_unreadable(machine: SimulatedShaker) -> None:
    """Dice that are not flat are called unreadable."""
    wrong_reason(machine, R.DIE_NOT_FLAT, R.UNREADABLE)


@GROUP.mutant("DS-27")
def outside_is_not_flat(machine: SimulatedShaker) -> None:
    """A die that fell out is called not flat."""
    wrong_reason(machine, R.DIE_OUTSIDE, R.DIE_NOT_FLAT)


@GROUP.mutant("DS-28")
def reads_under_the_lid(machine: SimulatedShaker) -> None:
    """It goes on reading when the lid is put on again."""

    def on_lid(real: Callable[[bool], None], on: bool) -> None:
        if not (on and machine.firmware.state is S.SETTLING):
            real(on)

    wrap(machine.mechanics, "on_lid", on_lid)


@GROUP.mutant("DS-29", also="DS-32")
def hides_disturbance(machine: SimulatedShaker) -> None:
    """It does not report that the dice were disturbed."""
    replace_event(machine, m.Dice, lambda event: [] if event.disturbed else [event])


@GROUP.mutant("DS-29", also="DS-30")
def disturbed_dice_count(machine: SimulatedShaker) -> None:
    """A reading follows the dice when they are disturbed."""

    def on_stir(real: Callable[[], None]) -> None:
        real()
        roll = last_roll(machine)
        if machine.firmware._disturbed and roll is not None and roll.values is not None:
            machine.firmware._rolls[roll.command] = replaced(roll, values=others(roll.values))

    wrap(machine.mechanics, "on_stir", on_stir)


@GROUP.mutant("DS-30")
def reads_without_arm(machine: SimulatedShaker) -> None:
    """Uncovered again, the dice are read again for the roll that was read already."""

    def on_lid(real: Callable[[bool], None], on: bool) -> None:
        real(on)
        roll = last_roll(machine)
        if not on and machine.firmware.state is S.RESTING and roll is not None and roll.values is not None:
            machine.board.emit(m.Reading(roll.command, roll.shakes, others(roll.values), [True] * m.DICE))

    wrap(machine.mechanics, "on_lid", on_lid)


@GROUP.mutant("DS-31")
def arms_without_a_lid(machine: SimulatedShaker) -> None:
    """A roll can be opened without the lid."""
    replace_refusal(machine, m.Arm, R.LID_OFF)


@GROUP.mutant("DS-32")
def arms_with_two_dice(machine: SimulatedShaker) -> None:
    """A roll can be opened with two dice."""
    replace_refusal(machine, m.Arm, R.NOT_THREE_DICE)


@GROUP.mutant("DS-33")
def openings_uncounted(machine: SimulatedShaker) -> None:
    """It does not count how often the dice door was opened."""
    replace_reply(machine, m.GetStatus, lambda status: replaced(status, openings=0))


@GROUP.mutant("DS-33")
def arms_with_the_door_open(machine: SimulatedShaker) -> None:
    """A roll can be opened while the dice door is open."""
    replace_refusal(machine, m.Arm, R.DOOR_OPEN)


@GROUP.mutant("DS-34")
def restart_mends_sensors(machine: SimulatedShaker) -> None:
    """A restart makes it forget that its self-test failed."""

    def spoil(firmware: Any) -> None:
        firmware._faulty = False

    at_boot(machine, spoil)


@GROUP.mutant("DS-34")
def arms_when_faulty(machine: SimulatedShaker) -> None:
    """A roll can be opened though the self-test failed."""
    replace_refusal(machine, m.Arm, R.SELF_TEST_FAILED)


@GROUP.mutant("DS-35")
def reads_what_is_unclear(machine: SimulatedShaker) -> None:
    """It guesses faces that are not clear."""
    sees(machine, clearness=255)
