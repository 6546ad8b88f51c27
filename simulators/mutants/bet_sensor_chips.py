"""Mutants of the bet sensor (BS) with chips on its spot: bets that count too late, and lights for the wrong bet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.bet_sensor import messages as m
from simulators.kinds.bet_sensor.firmware import judge_reading
from simulators.mutants.bet_sensor import R, S, allowed, latched, set_memory
from simulators.mutants.mutant_tools import (
    Mistake,
    MutantGroup,
    Real,
    before,
    event,
    method,
    no_event,
    refusal,
    replaced,
)

if TYPE_CHECKING:
    from collections.abc import Callable


GROUP: Final = MutantGroup(m.KIND)
EMPTY: Final = m.SpotContent.EMPTY
CHIP: Final = m.SpotContent.CHIP
row: Final = GROUP.row


def after_change(act: Callable[[Any, Any], None]) -> Mistake:
    """Do something after every look at the coil; it gets the firmware, and its memory as it was before."""

    def apply(machine: Any) -> None:
        def on_change(_: Any, real: Real) -> None:
            before = machine.firmware.memory
            real()
            act(machine.firmware, before)

        method("spot.on_change", on_change)(machine)

    return apply


def reported_as(change: m.Change, instead: m.Change) -> Mistake:
    """Report one change as another."""
    return event(m.Changed, when=lambda e: e.change is change, change=instead)


row("BS-20", "bet-without-a-round", "It does not report for which round a bet was placed.", event(m.Changed, round=0))
row("BS-21", "withdrawal-has-the-bets-number", "A withdrawal has the number of the bet that it ends.",
    event(m.Changed, when=lambda e: e.change is m.Change.WITHDRAWN, sequence=lambda e: e.sequence - 1),
    also="BS-25")  # fmt: skip
row("BS-22", "latches-no-bet", "It latches an empty spot though a chip is on it.",
    latched(lambda latch: replaced(latch, content=EMPTY) if latch.content is CHIP else latch))  # fmt: skip


@GROUP.mutant("BS-23")
def taken_bet_is_gone(machine: Any) -> None:
    """A bet that is taken after the latch is not latched any more."""

    def act(firmware: Any, _: Any) -> None:
        latch = firmware.memory.latch
        if latch is not None and firmware.memory.lies is EMPTY:
            set_memory(firmware, latch=replaced(latch, content=EMPTY))

    after_change(act)(machine)


row("BS-23", "taken-is-withdrawn", "A bet can be withdrawn after the latch.",
    reported_as(m.Change.TAKEN, m.Change.WITHDRAWN), also="BS-25")  # fmt: skip


@GROUP.mutant("BS-24")
def late_chip_counts(machine: Any) -> None:
    """A chip placed after the latch moves the latch."""

    def act(firmware: Any, _: Any) -> None:
        spot = firmware.memory
        if spot.latch is not None and spot.lies is CHIP:
            set_memory(firmware, latch=replaced(spot.latch, last_change=spot.sequence, content=spot.lies))

    after_change(act)(machine)


@GROUP.method("firmware._lock", "BS-24", also="BS-23")
def looks_again(firmware: Any, real: Real, message: m.Lock) -> Any:
    """A repeated lock is answered with the present content."""
    before, answer = firmware.memory, real(message)
    if isinstance(answer, m.Locked):
        return m.Locked(replaced(answer.latch, last_change=before.sequence, content=before.lies))
    return answer


row("BS-24", "late-is-placed", "A late chip is reported as a bet.",
    reported_as(m.Change.LATE, m.Change.PLACED), also="BS-25 BS-32")  # fmt: skip


@GROUP.mutant("BS-25", also="BS-23 BS-24 BS-26")
def closes_a_moment_later(machine: Any) -> None:
    """It reads the spot and closes it a moment later: changes in between are bets above the latched number."""
    firmware = machine.firmware

    def lock(_: Any, real: Real, message: m.Lock) -> Any:
        before, answer = firmware.memory, real(message)
        if isinstance(answer, m.Locked) and before.latch is None:
            set_memory(firmware, open=True)
            machine.clock.after(0.2, close)
        return answer

    def close() -> None:
        if firmware.memory.latch is not None:
            set_memory(firmware, open=False)

    method("firmware._lock", lock)(machine)
    before("firmware._begin", lambda _: close())(machine)  # any other command closes it first


row("BS-26", "counts-from-nothing", "Its numbers begin again with every start.",
    before("board._on_boot", lambda machine: set_memory(machine.firmware, sequence=0)), also="BS-27 BS-30")  # fmt: skip
row("BS-27", "change-in-the-dark-has-no-number", "What changed while power was off gets no number.",
    before("board._on_boot", lambda machine: set_memory(machine.firmware, lies=judge_reading(*machine.spot.read()))),
)  # fmt: skip
row("BS-28", "acknowledges-any-number", "Its acknowledged light does not look at the number.",
    allowed(m.SetLight, lambda firmware, message: firmware.state is S.PLACED and message.light is m.Light.ACKNOWLEDGED),
)  # fmt: skip
row("BS-28", "accepts-before-the-latch", "Its accepted light goes on for a bet that may still be withdrawn.",
    allowed(m.SetLight, lambda firmware, message: firmware.state is S.PLACED and message.light is m.Light.ACCEPTED),
)  # fmt: skip
row("BS-29", "light-burns-on", "The acknowledged light stays on when the bet is moved.",
    after_change(lambda firmware, before: set_memory(firmware, light=before.light)))  # fmt: skip


def accepts_light_if(fits: Callable[[Any, Any], bool]) -> Mistake:
    """Accept the accepted light where memory and message fit."""
    return allowed(
        m.SetLight, lambda firmware, message: message.light is m.Light.ACCEPTED and fits(firmware.memory, message)
    )


row("BS-30", "accepts-any-number", "Its accepted light does not look at the number.",
    accepts_light_if(lambda spot, _: spot.latch is not None and spot.latch.content is CHIP))  # fmt: skip
row(
    "BS-31",
    "lights-a-late-chip",
    "Its accepted light goes on for a present chip, latched or not.",
    accepts_light_if(
        lambda spot, message: spot.state is S.LOCKED and spot.lies is CHIP and message.sequence == spot.sequence
    ),
)
row("BS-32", "opens-on-a-chip", "It opens bets on a spot that already has a chip.", refusal(m.Open, R.SPOT_OCCUPIED))


@GROUP.method("spot.read", "BS-33")
def two_chips_are_one(_: Any, real: Real) -> tuple[int, int, int]:
    """Two chips are a bet."""
    level, noise, likeness = real()
    return (min(level, 800), noise, likeness)


row("BS-33", "accepts-what-is-unclear", "Its accepted light goes on for unclear content.",
    accepts_light_if(lambda spot, _: spot.latch is not None and spot.latch.content not in (EMPTY, CHIP)))  # fmt: skip
row("BS-34", "mends-itself", "Bets open again as soon as the coil can be read, without a self-test.",
    after_change(lambda firmware, before: set_memory(firmware, sound=before.sound)))  # fmt: skip
row("BS-34", "silent-coil-fault", "It does not report that its coil cannot be read.", no_event(m.Fault))
