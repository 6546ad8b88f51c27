"""Mutants of the dice shaker (DS): rolls that must not count, and readings that change."""

from __future__ import annotations

from typing import Any, Final

from devices.shaker import messages as m
from simulators.mutants.mutant_tools import (
    Mistake,
    MutantGroup,
    Real,
    answer,
    assigned,
    before,
    event_twice,
    kept,
    method,
    no_event,
    other_answer,
    refusal,
    replaced,
    skipped,
    wrap,
)

GROUP: Final = MutantGroup(m.KIND)
S: Final = m.State
R: Final = m.Reason
row: Final = GROUP.row


def others(values: list[int]) -> list[int]:
    """Return other faces than these."""
    return [value % 6 + 1 for value in values]


def other_reading(roll: m.Roll) -> m.Roll:
    """Return a roll with other faces than were read."""
    return roll if roll.values is None else replaced(roll, values=others(roll.values))


def last_roll(machine: Any) -> m.Roll | None:
    """Return the last roll that the firmware remembers."""
    return next(reversed(machine.firmware._rolls.values()), None)


def sees(**fields: int) -> Mistake:
    """Judge every die with these fields."""
    return method("firmware._judge", lambda _, real, seen: real([replaced(die, **fields) for die in seen]))


def ends_as(reason: m.Reason, instead: m.Reason) -> Mistake:
    """End rolls for another reason."""

    def end(_: Any, real: Real, values: Any, real_reason: m.Reason, *flat: int) -> None:
        real(values, instead if real_reason is reason else real_reason, *flat)

    return method("firmware._end", end)


# --- under the lid ----------------------------------------------------------------------------------------------------


row("PL-12", "roll-is-status", "Asked for a roll it reports its state.",
    other_answer(m.GetRoll, lambda machine, _: machine.firmware.handle(m.GetStatus())), also="DS-03 DS-08")  # fmt: skip
row("DS-01", "lid-below-its-threshold", "Its lid is on, but the level of its lid sensor means off.",
    answer(m.GetSensors, lid=lambda sensors: replaced(sensors.lid, level=0)))  # fmt: skip
row("DS-02", "looks-under-the-lid", "It reports the dice under the lid.",
    other_answer(m.GetSensors, lambda machine, sensors: replaced(sensors, dice=machine.mechanics.look())))  # fmt: skip
row("DS-03", "arms-silently", "It does not report that a roll is open.",
    no_event(m.Shaken, when=lambda e: not e.shakes))  # fmt: skip
row("DS-03", "rolls-uncounted", "It does not count its rolls.", answer(m.GetStatus, rolls=0))
row("DS-04", "arms-twice", "A second roll can be opened before the first one has ended.",
    refusal(m.Arm, R.BUSY, state=S.ARMED))  # fmt: skip
row("DS-05", "stopped-twice", "A roll that is disarmed ends twice.",
    event_twice(m.NoRoll, when=lambda e: e.reason is R.STOPPED))  # fmt: skip


@GROUP.mutant("DS-05")
def reports_disarm_when_idle(machine: Any) -> None:
    """Disarm ends the last roll once more, when none is open."""

    def begin(real: Real, message: Any) -> Any:
        roll = last_roll(machine)
        if isinstance(message, m.Disarm) and machine.firmware.state is S.RESTING and roll is not None:
            machine.board.emit(m.NoRoll(roll.command, R.STOPPED, 0, m.DICE, 0))
        return real(message)

    wrap(machine.firmware, "_begin", begin)


row("DS-06", "unreported-sensors", "A self-test ends without reporting which sensors passed.", no_event(m.SelfTested))
row("DS-07", "lid-off-while-testing", "While it tests itself it reports that its lid is off.",
    refusal(m.Arm, R.BUSY, R.LID_OFF, state=S.TESTING))  # fmt: skip
row("DS-08", "unknown-is-no-roll", "A roll that it does not know was no roll.",
    answer(m.GetRoll, when=lambda roll: roll.ending is m.Ending.UNKNOWN, ending=m.Ending.NO_ROLL))  # fmt: skip
row("DS-09", "roll-without-an-end", "A roll that a restart interrupted never ends.",
    assigned("board._on_boot", before={"firmware._armed": None}))  # fmt: skip


@GROUP.method("firmware._arm", "DS-10")
def remembers_eight_rolls(firmware: Any, real: Real, command: int) -> None:
    """It remembers eight rolls."""
    real(command)
    while len(firmware._rolls) > 8:
        firmware._rolls.popitem(last=False)


row("DS-10", "rolls-lost-with-the-power", "Its rolls do not survive a restart.",
    before("board._on_boot", lambda machine: machine.firmware._rolls.clear()), also="DS-22")  # fmt: skip


# --- rolls ------------------------------------------------------------------------------------------------------------


row("DS-20", "reads-twice", "Every reading is reported twice.", event_twice(m.Reading))
row("DS-20", "status-without-values", "Its status does not report the reading.", answer(m.GetStatus, values=None))
row("DS-21", "reads-other-faces", "What it reads is not what it sees.",
    method("firmware._end", lambda _, real, values, *more: real(values and others(values), *more)))  # fmt: skip
row("DS-22", "reading-changes-under-the-lid", "A reading is another one when the dice are covered again.",
    other_answer(m.GetRoll, lambda machine, roll: other_reading(roll) if machine.mechanics.lid_on else roll),
)  # fmt: skip


@GROUP.method("firmware._lid_off", "DS-23")
def two_shakes_do(firmware: Any, real: Real) -> None:
    """Two shakes are enough."""
    firmware._shakes += firmware._shakes == m.LEAST_SHAKES - 1
    real()


row("DS-24", "counts-earlier-shakes", "Shakes before Arm count.",
    kept("firmware._arm", "firmware._shakes"), also="DS-29")  # fmt: skip
row("DS-25", "lid-at-any-time", "The lid may come off while it is shaken.",
    assigned("firmware._lid_off", before={"firmware._last_shake": float("-inf")}))  # fmt: skip
row("DS-26", "leaning-is-flat", "A die that leans is flat.", sees(tilt=0))
row("DS-26", "stacked-is-unreadable", "Dice that are not flat are called unreadable.",
    ends_as(R.DIE_NOT_FLAT, R.UNREADABLE))  # fmt: skip
row("DS-27", "outside-is-not-flat", "A die that fell out is called not flat.", ends_as(R.DIE_OUTSIDE, R.DIE_NOT_FLAT))


@GROUP.mutant("DS-28")
def reads_under_the_lid(machine: Any) -> None:
    """It goes on reading when the lid is put on again."""
    skipped("mechanics.on_lid", lambda _, on: on and machine.firmware.state is S.SETTLING)(machine)


row("DS-29", "hides-disturbance", "It does not report that the dice were disturbed.",
    no_event(m.Dice, when=lambda e: e.disturbed), also="DS-32")  # fmt: skip


@GROUP.mutant("DS-29", also="DS-30")
def disturbed_dice_count(machine: Any) -> None:
    """A reading follows the dice when they are disturbed."""

    def on_stir(real: Real) -> None:
        real()
        roll = last_roll(machine)
        if machine.firmware._disturbed and roll is not None and roll.values is not None:
            machine.firmware._rolls[roll.command] = replaced(roll, values=others(roll.values))

    wrap(machine.mechanics, "on_stir", on_stir)


@GROUP.mutant("DS-30")
def reads_without_arm(machine: Any) -> None:
    """Uncovered again, the dice are read again for the roll that was read already."""

    def on_lid(real: Real, on: bool) -> None:
        real(on)
        roll = last_roll(machine)
        if not on and machine.firmware.state is S.RESTING and roll is not None and roll.values is not None:
            machine.board.emit(m.Reading(roll.command, roll.shakes, others(roll.values), [True] * m.DICE))

    wrap(machine.mechanics, "on_lid", on_lid)


row("DS-31", "arms-without-a-lid", "A roll can be opened without the lid.", refusal(m.Arm, R.LID_OFF))
row("DS-32", "arms-with-two-dice", "A roll can be opened with two dice.", refusal(m.Arm, R.NOT_THREE_DICE))
row("DS-33", "openings-uncounted", "It does not count how often the dice door was opened.",
    answer(m.GetStatus, openings=0))  # fmt: skip
row("DS-33", "arms-with-the-door-open", "A roll can be opened while the dice door is open.",
    refusal(m.Arm, R.DOOR_OPEN))  # fmt: skip
row("DS-34", "restart-mends-sensors", "A restart makes it forget that its self-test failed.",
    assigned("board._on_boot", before={"firmware._faulty": False}))  # fmt: skip
row("DS-34", "arms-when-faulty", "A roll can be opened though the self-test failed.",
    refusal(m.Arm, R.SELF_TEST_FAILED))  # fmt: skip
row("DS-35", "reads-what-is-unclear", "It guesses faces that are not clear.", sees(clearness=255))
