"""Mutants of the bet sensor (BS) with nothing on its spot: locks, rounds and restarts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.bet_sensor import messages as m
from simulators.mutants.mutant_tools import (
    Mistake,
    MutantGroup,
    Real,
    answer,
    before,
    method,
    no_event,
    other_answer,
    refusal,
    replaced,
)

if TYPE_CHECKING:
    from collections.abc import Callable


GROUP: Final = MutantGroup(m.KIND)
S: Final = m.State
R: Final = m.Reason
row: Final = GROUP.row


def allowed(command: type[Any], fits: Callable[[Any, Any], bool]) -> Mistake:
    """Accept a command that should be refused, where firmware and message fit."""

    def refusal(firmware: Any, real: Real, message: Any) -> m.Reason:
        real_reason: m.Reason = real(message)
        return R.NONE if isinstance(message, command) and fits(firmware, message) else real_reason

    return method("firmware._refusal", refusal)


def set_memory(firmware: Any, **fields: Any) -> None:
    """Write into the firmware's memory."""
    firmware.memory = replaced(firmware.memory, **fields)


def latched(change: Callable[[m.Latch], m.Latch]) -> Mistake:
    """Latch something else."""

    def lock(firmware: Any, real: Real, message: m.Lock) -> Any:
        before, answer = firmware.memory.latch, real(message)
        if isinstance(answer, m.Locked) and before is None:
            set_memory(firmware, latch=change(answer.latch))
            return m.Locked(change(answer.latch))
        return answer

    return method("firmware._lock", lock)


row("PL-12", "health-is-status", "Asked for its health it reports its state.",
    other_answer(m.GetHealth, lambda machine, _: machine.firmware.handle(m.GetStatus())),
    also="BS-01 BS-13")  # fmt: skip
row("BS-01", "coil-without-noise", "It reports a level without noise, as if the coil were not read.",
    answer(m.GetHealth, noise=0))  # fmt: skip
row("BS-02", "lights-without-a-bet", "Its lights go on while bets are closed.",
    allowed(m.SetLight, lambda firmware, _: firmware.state is S.NONE))  # fmt: skip


@GROUP.method("firmware._lock", "BS-02", also="BS-15")
def latches_a_closed_spot(firmware: Any, real: Real, message: m.Lock) -> Any:
    """A lock latches though bets were closed."""
    if firmware.state is S.NONE:
        set_memory(firmware, open=True, round=message.round)
    return real(message)


row("BS-03", "round-zero", "It opens bets for round 0.", allowed(m.Open, lambda _, message: message.round == 0))
row("BS-04", "latches-the-next-number", "The latched number is one too high: the first late chip would count.",
    latched(lambda latch: replaced(latch, last_change=latch.last_change + 1)))  # fmt: skip


@GROUP.method("firmware._lock", "BS-05", also="BS-14 BS-23 BS-24 BS-26")
def confirms_once(firmware: Any, real: Real, message: m.Lock) -> Any:
    """A repeated lock is refused."""
    before, answer = firmware.memory, real(message)
    if isinstance(answer, m.Locked) and before.latch is not None:
        return m.LockRefused(message.lock_id, R.OTHER_LOCK, message.round, answer.latch)
    return answer


@GROUP.method("firmware._lock", "BS-06", also="BS-08")
def last_lock_wins(firmware: Any, real: Real, message: m.Lock) -> Any:
    """Another lock of the same round takes the latch over."""
    latch = firmware.memory.latch
    if latch is not None and latch.round == message.round:
        set_memory(firmware, latch=replaced(latch, lock_id=message.lock_id))
    return real(message)


@GROUP.method("firmware._lock", "BS-06")
def hides_the_latch(_: Any, real: Real, message: m.Lock) -> Any:
    """A refused lock does not report the latch."""
    answer = real(message)
    return replaced(answer, latch=None) if isinstance(answer, m.LockRefused) else answer


@GROUP.method("firmware._lock", "BS-07")
def stays_open(firmware: Any, real: Real, message: m.Lock) -> Any:
    """A lock of another round leaves bets open."""
    before, answer = firmware.memory, real(message)
    if isinstance(answer, m.LockRefused):
        firmware.memory = before
    return answer


@GROUP.mutant("BS-08")
def forgets_locks(machine: Any) -> None:
    """It does not remember the id of a lock."""
    memory = machine.board.memory

    def lock(_: Any, real: Real, message: m.Lock) -> Any:
        answer = real(message)
        memory._known.pop(message.lock_id, None)
        memory._tags.pop(message.lock_id, None)
        return answer

    method("firmware._lock", lock)(machine)


row("BS-09", "opens-a-latched-round", "A round that was latched can be opened again.",
    allowed(m.Open, lambda firmware, message: 0 < message.round == firmware.memory.ended))  # fmt: skip
row("BS-10", "any-lock-unlocks", "A latch can be ended with any lock id.",
    allowed(m.Unlock, lambda firmware, _: firmware.state is S.LOCKED))  # fmt: skip
row("BS-11", "tests-in-a-round", "It tests itself while bets are open.",
    allowed(m.SelfTest, lambda firmware, _: firmware.state is S.AWAITING))  # fmt: skip
row("BS-12", "lights-while-testing", "Its lights can be switched while it tests them.", refusal(m.SetLight, R.BUSY))
row("BS-13", "unreported-test", "A self-test ends without reporting which parts passed.", no_event(m.SelfTested))
row("BS-14", "latch-lost-at-start", "It loses its latch at a restart.",
    before("board._on_boot", lambda machine: set_memory(machine.firmware, latch=None)), also="BS-26 BS-30")  # fmt: skip


@GROUP.mutant("BS-15", also="BS-27")
def open_after_restart(machine: Any) -> None:
    """Bets stay open after a restart, though changes without power were missed."""

    def boot(_: Any, real: Real) -> None:
        was_open = machine.firmware.memory.open
        real()
        set_memory(machine.firmware, open=was_open)

    method("board._on_boot", boot)(machine)
