"""Mutants of the bet sensor (BS) with chips on its spot: bets that count too late, and lights for the wrong bet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.bet_sensor import messages as m
from simulators.kinds.bet_sensor.firmware import judge_reading
from simulators.mutants.bet_sensor import R, S, allow_command, at_boot, at_latch, at_lock, set_memory
from simulators.mutants.mutant_tools import MutantGroup, replace_event, replace_refusal, replaced, wrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.kinds.bet_sensor.machine import SimulatedBetSensor

GROUP: Final = MutantGroup(m.KIND)


def at_change(machine: SimulatedBetSensor, after: Callable[[Any], None]) -> None:
    """Do something after every look at the coil; it gets the memory as it was before."""

    def on_change(real: Callable[[], None]) -> None:
        before = machine.firmware.memory
        real()
        after(before)

    wrap(machine.spot, "on_change", on_change)


def meaning(machine: SimulatedBetSensor, change: m.Change, instead: m.Change) -> None:
    """Report one change as another."""
    replace_event(
        machine, m.Changed, lambda event: [replaced(event, change=instead) if event.change is change else event]
    )  # fmt: skip


@GROUP.mutant("BS-20")
def bet_without_a_round(machine: SimulatedBetSensor) -> None:
    """It does not report for which round a bet was placed."""
    replace_event(machine, m.Changed, lambda event: [replaced(event, round=0)])


@GROUP.mutant("BS-21", also="BS-25")
def withdrawal_has_the_bets_number(machine: SimulatedBetSensor) -> None:
    """A withdrawal has the number of the bet that it ends."""

    def change(event: m.Changed) -> list[m.Changed]:
        withdrawn = event.change is m.Change.WITHDRAWN
        return [replaced(event, sequence=event.sequence - 1) if withdrawn else event]

    replace_event(machine, m.Changed, change)


@GROUP.mutant("BS-22")
def latches_no_bet(machine: SimulatedBetSensor) -> None:
    """It latches an empty spot though a chip is on it."""
    at_latch(
        machine,
        lambda latch: replaced(latch, content=m.SpotContent.EMPTY) if latch.content is m.SpotContent.CHIP else latch,
    )


@GROUP.mutant("BS-23")
def taken_bet_is_gone(machine: SimulatedBetSensor) -> None:
    """A bet that is taken after the latch is not latched any more."""

    def after(_: Any) -> None:
        latch = machine.firmware.memory.latch
        if latch is not None and machine.firmware.memory.lies is m.SpotContent.EMPTY:
            set_memory(machine, latch=replaced(latch, content=m.SpotContent.EMPTY))

    at_change(machine, after)


@GROUP.mutant("BS-23", also="BS-25")
def taken_is_withdrawn(machine: SimulatedBetSensor) -> None:
    """A bet can be withdrawn after the latch."""
    meaning(machine, m.Change.TAKEN, m.Change.WITHDRAWN)


@GROUP.mutant("BS-24")
def late_chip_counts(machine: SimulatedBetSensor) -> None:
    """A chip placed after the latch moves the latch."""

    def after(_: Any) -> None:
        spot = machine.firmware.memory
        if spot.latch is not None and spot.lies is m.SpotContent.CHIP:
            set_memory(machine, latch=replaced(spot.latch, last_change=spot.sequence, content=spot.lies))

    at_change(machine, after)


@GROUP.mutant("BS-24", also="BS-23")
def looks_again(machine: SimulatedBetSensor) -> None:
    """A repeated lock is answered with the present content."""

    def lock(real: Callable[[m.Lock], Any], message: m.Lock, before: Any) -> Any:
        answer = real(message)
        if isinstance(answer, m.Locked):
            return m.Locked(replaced(answer.latch, last_change=before.sequence, content=before.lies))
        return answer

    at_lock(machine, lock)


@GROUP.mutant("BS-24", also="BS-25 BS-32")
def late_is_placed(machine: SimulatedBetSensor) -> None:
    """A late chip is reported as a bet."""
    meaning(machine, m.Change.LATE, m.Change.PLACED)


@GROUP.mutant("BS-25", also="BS-23 BS-24 BS-26")
def closes_a_moment_later(machine: SimulatedBetSensor) -> None:
    """It reads the spot and closes it a moment later: changes in between are bets above the latched number."""

    def lock(real: Callable[[m.Lock], Any], message: m.Lock, before: Any) -> Any:
        answer = real(message)
        if isinstance(answer, m.Locked) and before.latch is None:
            set_memory(machine, open=True)
            machine.clock.after(0.2, close)
        return answer

    def close() -> None:
        if machine.firmware.memory.latch is not None:
            set_memory(machine, open=False)

    def begin(real: Callable[[Any], bool], message: Any) -> bool:
        close()  # any other command closes it first
        return real(message)

    at_lock(machine, lock)
    wrap(machine.firmware, "_begin", begin)


@GROUP.mutant("BS-26", also="BS-27 BS-30")
def counts_from_nothing(machine: SimulatedBetSensor) -> None:
    """Its numbers begin again with every start."""

    def boot(real: Callable[[], None]) -> None:
        set_memory(machine, sequence=0)
        real()

    at_boot(machine, boot)


@GROUP.mutant("BS-27")
def change_in_the_dark_has_no_number(machine: SimulatedBetSensor) -> None:
    """What changed while power was off gets no number."""

    def boot(real: Callable[[], None]) -> None:
        set_memory(machine, lies=judge_reading(*machine.spot.read()))
        real()

    at_boot(machine, boot)


@GROUP.mutant("BS-28")
def acknowledges_any_number(machine: SimulatedBetSensor) -> None:
    """Its acknowledged light does not look at the number."""
    allow_command(
        machine,
        m.SetLight,
        lambda message: machine.firmware.state is S.PLACED and message.light is m.Light.ACKNOWLEDGED,
    )


@GROUP.mutant("BS-28")
def accepts_before_the_latch(machine: SimulatedBetSensor) -> None:
    """Its accepted light goes on for a bet that may still be withdrawn."""
    allow_command(
        machine, m.SetLight, lambda message: machine.firmware.state is S.PLACED and message.light is m.Light.ACCEPTED
    )


@GROUP.mutant("BS-29")
def light_burns_on(machine: SimulatedBetSensor) -> None:
    """The acknowledged light stays on when the bet is moved."""
    at_change(machine, lambda before: set_memory(machine, light=before.light))


@GROUP.mutant("BS-30")
def accepts_any_number(machine: SimulatedBetSensor) -> None:
    """Its accepted light does not look at the number."""

    def fits(message: Any) -> bool:
        latch = machine.firmware.memory.latch
        return latch is not None and latch.content is m.SpotContent.CHIP and message.light is m.Light.ACCEPTED

    allow_command(machine, m.SetLight, fits)


@GROUP.mutant("BS-31")
def lights_a_late_chip(machine: SimulatedBetSensor) -> None:
    """Its accepted light goes on for a present chip, latched or not."""

    def fits(message: Any) -> bool:
        spot = machine.firmware.memory
        late = spot.state is S.LOCKED and spot.lies is m.SpotContent.CHIP and message.sequence == spot.sequence
        return late and message.light is m.Light.ACCEPTED

    allow_command(machine, m.SetLight, fits)


@GROUP.mutant("BS-32")
def opens_on_a_chip(machine: SimulatedBetSensor) -> None:
    """It opens bets on a spot that already has a chip."""
    replace_refusal(machine, m.Open, R.SPOT_OCCUPIED)


@GROUP.mutant("BS-33")
def two_chips_are_one(machine: SimulatedBetSensor) -> None:
    """Two chips are a bet."""

    def read(real: Callable[[], tuple[int, int, int]]) -> tuple[int, int, int]:
        level, noise, likeness = real()
        return min(level, 800), noise, likeness

    wrap(machine.spot, "read", read)


@GROUP.mutant("BS-33")
def accepts_what_is_unclear(machine: SimulatedBetSensor) -> None:
    """Its accepted light goes on for unclear content."""

    def fits(message: Any) -> bool:
        latch = machine.firmware.memory.latch
        unclear = latch is not None and latch.content not in (m.SpotContent.EMPTY, m.SpotContent.CHIP)
        return unclear and message.light is m.Light.ACCEPTED

    allow_command(machine, m.SetLight, fits)


@GROUP.mutant("BS-34")
def mends_itself(machine: SimulatedBetSensor) -> None:
    """Bets open again as soon as the coil can be read, without a self-test."""
    at_change(machine, lambda before: set_memory(machine, sound=before.sound))


@GROUP.mutant("BS-34")
def silent_coil_fault(machine: SimulatedBetSensor) -> None:
    """It does not report that its coil cannot be read."""
    replace_event(machine, m.Fault, lambda _: [])
