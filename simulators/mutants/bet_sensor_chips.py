"""Mutants of the bet sensor (BS) with chips on its spot: bets that count too late, and lights for the wrong bet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.bet_sensor import messages as m
from simulators.mutants.bet_sensor import R, S, at_boot, at_latch, at_lock, lets, remembers
from simulators.mutants.workshop import Workshop, allows, replaced, tells, wrap
from simulators.twins.bet_sensor import judge

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.machines.bet_sensor import SimulatedBetSensor

WORKSHOP: Final = Workshop(m.KIND)


def at_change(machine: SimulatedBetSensor, after: Callable[[Any], None]) -> None:
    """Do something after every look at the coil; it gets the memory as it was before."""

    def on_change(real: Callable[[], None]) -> None:
        before = machine.firmware.memory
        real()
        after(before)

    wrap(machine.spot, "on_change", on_change)


def meaning(machine: SimulatedBetSensor, change: m.Change, instead: m.Change) -> None:
    """Report one change as another."""
    tells(
        machine, m.Changed, lambda event: [replaced(event, change=instead) if event.change is change else event]
    )  # fmt: skip


@WORKSHOP.mutant("BS-20")
def bet_without_a_round(machine: SimulatedBetSensor) -> None:
    """It does not report for which round a bet was placed."""
    tells(machine, m.Changed, lambda event: [replaced(event, round=0)])


@WORKSHOP.mutant("BS-21", also="BS-25")
def withdrawal_has_the_bets_number(machine: SimulatedBetSensor) -> None:
    """A withdrawal has the number of the bet that it ends."""

    def change(event: m.Changed) -> list[m.Changed]:
        withdrawn = event.change is m.Change.WITHDRAWN
        return [replaced(event, sequence=event.sequence - 1) if withdrawn else event]

    tells(machine, m.Changed, change)


@WORKSHOP.mutant("BS-22")
def latches_no_bet(machine: SimulatedBetSensor) -> None:
    """It latches an empty spot though a chip is on it."""
    at_latch(machine, lambda latch: replaced(latch, lies=m.Lies.EMPTY) if latch.lies is m.Lies.CHIP else latch)


@WORKSHOP.mutant("BS-23")
def taken_bet_is_gone(machine: SimulatedBetSensor) -> None:
    """A bet that is taken after the latch is not latched any more."""

    def after(_: Any) -> None:
        latch = machine.firmware.memory.latch
        if latch is not None and machine.firmware.memory.lies is m.Lies.EMPTY:
            remembers(machine, latch=replaced(latch, lies=m.Lies.EMPTY))

    at_change(machine, after)


@WORKSHOP.mutant("BS-23", also="BS-25")
def taken_is_withdrawn(machine: SimulatedBetSensor) -> None:
    """A bet can be withdrawn after the latch."""
    meaning(machine, m.Change.TAKEN, m.Change.WITHDRAWN)


@WORKSHOP.mutant("BS-24")
def late_chip_counts(machine: SimulatedBetSensor) -> None:
    """A chip placed after the latch moves the latch."""

    def after(_: Any) -> None:
        spot = machine.firmware.memory
        if spot.latch is not None and spot.lies is m.Lies.CHIP:
            remembers(machine, latch=replaced(spot.latch, last=spot.sequence, lies=spot.lies))

    at_change(machine, after)


@WORKSHOP.mutant("BS-24", also="BS-23")
def looks_again(machine: SimulatedBetSensor) -> None:
    """A repeated lock is answered with the present content."""

    def lock(real: Callable[[m.Lock], Any], message: m.Lock, before: Any) -> Any:
        answer = real(message)
        if isinstance(answer, m.Locked):
            return m.Locked(replaced(answer.latch, last=before.sequence, lies=before.lies))
        return answer

    at_lock(machine, lock)


@WORKSHOP.mutant("BS-24", also="BS-25 BS-32")
def late_is_placed(machine: SimulatedBetSensor) -> None:
    """A late chip is reported as a bet."""
    meaning(machine, m.Change.LATE, m.Change.PLACED)


@WORKSHOP.mutant("BS-25", also="BS-23 BS-24 BS-26")
def closes_a_moment_later(machine: SimulatedBetSensor) -> None:
    """It reads the spot and closes it a moment later: changes in between are bets above the latched number."""

    def lock(real: Callable[[m.Lock], Any], message: m.Lock, before: Any) -> Any:
        answer = real(message)
        if isinstance(answer, m.Locked) and before.latch is None:
            remembers(machine, open=True)
            machine.clock.after(0.2, close)
        return answer

    def close() -> None:
        if machine.firmware.memory.latch is not None:
            remembers(machine, open=False)

    def begin(real: Callable[[Any], bool], message: Any) -> bool:
        close()  # any other command closes it first
        return real(message)

    at_lock(machine, lock)
    wrap(machine.firmware, "_begin", begin)


@WORKSHOP.mutant("BS-26", also="BS-27 BS-30")
def counts_from_nothing(machine: SimulatedBetSensor) -> None:
    """Its numbers begin again with every start."""

    def boot(real: Callable[[], None]) -> None:
        remembers(machine, sequence=0)
        real()

    at_boot(machine, boot)


@WORKSHOP.mutant("BS-27")
def change_in_the_dark_has_no_number(machine: SimulatedBetSensor) -> None:
    """What changed while power was off gets no number."""

    def boot(real: Callable[[], None]) -> None:
        remembers(machine, lies=judge(*machine.spot.read()))
        real()

    at_boot(machine, boot)


@WORKSHOP.mutant("BS-28")
def acknowledges_any_number(machine: SimulatedBetSensor) -> None:
    """Its acknowledged light does not look at the number."""
    lets(
        machine,
        m.SetLight,
        lambda message: machine.firmware.state is S.PLACED and message.light is m.Light.ACKNOWLEDGED,
    )


@WORKSHOP.mutant("BS-28")
def accepts_before_the_latch(machine: SimulatedBetSensor) -> None:
    """Its accepted light goes on for a bet that may still be withdrawn."""
    lets(machine, m.SetLight, lambda message: machine.firmware.state is S.PLACED and message.light is m.Light.ACCEPTED)


@WORKSHOP.mutant("BS-29")
def light_burns_on(machine: SimulatedBetSensor) -> None:
    """The acknowledged light stays on when the bet is moved."""
    at_change(machine, lambda before: remembers(machine, light=before.light))


@WORKSHOP.mutant("BS-30")
def accepts_any_number(machine: SimulatedBetSensor) -> None:
    """Its accepted light does not look at the number."""

    def fits(message: Any) -> bool:
        latch = machine.firmware.memory.latch
        return latch is not None and latch.lies is m.Lies.CHIP and message.light is m.Light.ACCEPTED

    lets(machine, m.SetLight, fits)


@WORKSHOP.mutant("BS-31")
def lights_a_late_chip(machine: SimulatedBetSensor) -> None:
    """Its accepted light goes on for a present chip, latched or not."""

    def fits(message: Any) -> bool:
        spot = machine.firmware.memory
        late = spot.state is S.LOCKED and spot.lies is m.Lies.CHIP and message.sequence == spot.sequence
        return late and message.light is m.Light.ACCEPTED

    lets(machine, m.SetLight, fits)


@WORKSHOP.mutant("BS-32")
def opens_on_a_chip(machine: SimulatedBetSensor) -> None:
    """It opens bets on a spot that already has a chip."""
    allows(machine, m.Open, R.SPOT_OCCUPIED)


@WORKSHOP.mutant("BS-33")
def two_chips_are_one(machine: SimulatedBetSensor) -> None:
    """Two chips are a bet."""

    def read(real: Callable[[], tuple[int, int, int]]) -> tuple[int, int, int]:
        level, noise, likeness = real()
        return min(level, 800), noise, likeness

    wrap(machine.spot, "read", read)


@WORKSHOP.mutant("BS-33")
def accepts_what_is_unclear(machine: SimulatedBetSensor) -> None:
    """Its accepted light goes on for unclear content."""

    def fits(message: Any) -> bool:
        latch = machine.firmware.memory.latch
        unclear = latch is not None and latch.lies not in (m.Lies.EMPTY, m.Lies.CHIP)
        return unclear and message.light is m.Light.ACCEPTED

    lets(machine, m.SetLight, fits)


@WORKSHOP.mutant("BS-34")
def mends_itself(machine: SimulatedBetSensor) -> None:
    """Bets open again as soon as the coil can be read, without a self-test."""
    at_change(machine, lambda before: remembers(machine, sound=before.sound))


@WORKSHOP.mutant("BS-34")
def silent_coil_fault(machine: SimulatedBetSensor) -> None:
    """It does not report that its coil cannot be read."""
    tells(machine, m.Fault, lambda _: [])
