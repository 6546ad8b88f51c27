"""Mutants of the bet sensor (BS) with nothing on its spot: locks, rounds and restarts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.bet_sensor import messages as m
from simulators.mutants.mutant_tools import MutantGroup, replace_event, replace_refusal, replace_reply, replaced, wrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.kinds.bet_sensor.machine import SimulatedBetSensor

GROUP: Final = MutantGroup(m.KIND)
S: Final = m.State
R: Final = m.Reason


def allow_command(machine: SimulatedBetSensor, command: type[Any], fits: Callable[[Any], bool]) -> None:
    """Accept a command that should be refused, where `fits` holds."""
    firmware: Any = machine.firmware

    def refusal(real: Callable[[Any], m.Reason], message: Any) -> m.Reason:
        real_reason = real(message)
        return R.NONE if isinstance(message, command) and fits(message) else real_reason

    wrap(firmware, "_refusal", refusal)


def set_memory(machine: SimulatedBetSensor, **fields: Any) -> None:
    """Write into the firmware's memory."""
    machine.firmware.memory = replaced(machine.firmware.memory, **fields)


def at_boot(machine: SimulatedBetSensor, around: Callable[[Callable[[], None]], None]) -> None:
    """Change how it starts."""
    wrap(machine.board, "_on_boot", around)


def at_latch(machine: SimulatedBetSensor, change: Callable[[m.Latch], m.Latch]) -> None:
    """Latch something else."""

    def lock(real: Callable[[m.Lock], Any], message: m.Lock) -> Any:
        before, answer = machine.firmware.memory.latch, real(message)
        if isinstance(answer, m.Locked) and before is None:
            set_memory(machine, latch=change(answer.latch))
            return m.Locked(change(answer.latch))
        return answer

    wrap(machine.firmware, "_lock", lock)


def at_lock(machine: SimulatedBetSensor, around: Callable[..., Any]) -> None:
    """Change what a lock does; `around` gets the real one, the message, and the memory before it."""
    wrap(machine.firmware, "_lock", lambda real, message: around(real, message, machine.firmware.memory))


@GROUP.mutant("PL-12", also="BS-01 BS-13")
def health_is_status(machine: SimulatedBetSensor) -> None:
    """Asked for its health it reports its state."""
    replace_reply(machine, m.GetHealth, lambda _: machine.firmware.handle(m.GetStatus()))


@GROUP.mutant("BS-01")
def coil_without_noise(machine: SimulatedBetSensor) -> None:
    """It reports a level without noise, as if the coil were not read."""
    replace_reply(machine, m.GetHealth, lambda health: replaced(health, noise=0))


@GROUP.mutant("BS-02")
def lights_without_a_bet(machine: SimulatedBetSensor) -> None:
    """Its lights go on while bets are closed."""
    allow_command(machine, m.SetLight, lambda _: machine.firmware.state is S.NONE)


@GROUP.mutant("BS-02", also="BS-15")
def latches_a_closed_spot(machine: SimulatedBetSensor) -> None:
    """A lock latches though bets were closed."""

    def lock(real: Callable[[m.Lock], Any], message: m.Lock, _: Any) -> Any:
        if machine.firmware.state is S.NONE:
            set_memory(machine, open=True, round=message.round)
        return real(message)

    at_lock(machine, lock)


@GROUP.mutant("BS-03")
def round_zero(machine: SimulatedBetSensor) -> None:
    """It opens bets for round 0."""
    allow_command(machine, m.Open, lambda message: message.round == 0)


@GROUP.mutant("BS-04")
def latches_the_next_number(machine: SimulatedBetSensor) -> None:
    """The latched number is one too high: the first late chip would count."""
    at_latch(machine, lambda latch: replaced(latch, last_change=latch.last_change + 1))


@GROUP.mutant("BS-05", also="BS-14 BS-23 BS-24 BS-26")
def confirms_once(machine: SimulatedBetSensor) -> None:
    """A repeated lock is refused."""

    def lock(real: Callable[[m.Lock], Any], message: m.Lock, before: Any) -> Any:
        answer = real(message)
        if isinstance(answer, m.Locked) and before.latch is not None:
            return m.LockRefused(message.lock_id, R.OTHER_LOCK, message.round, answer.latch)
        return answer

    at_lock(machine, lock)


@GROUP.mutant("BS-06", also="BS-08")
def last_lock_wins(machine: SimulatedBetSensor) -> None:
    """Another lock of the same round takes the latch over."""

    def lock(real: Callable[[m.Lock], Any], message: m.Lock, before: Any) -> Any:
        if before.latch is not None and before.latch.round == message.round:
            set_memory(machine, latch=replaced(before.latch, lock_id=message.lock_id))
        return real(message)

    at_lock(machine, lock)


@GROUP.mutant("BS-06")
def hides_the_latch(machine: SimulatedBetSensor) -> None:
    """A refused lock does not report the latch."""

    def lock(real: Callable[[m.Lock], Any], message: m.Lock, _: Any) -> Any:
        answer = real(message)
        return replaced(answer, latch=None) if isinstance(answer, m.LockRefused) else answer

    at_lock(machine, lock)


@GROUP.mutant("BS-07")
def stays_open(machine: SimulatedBetSensor) -> None:
    """A lock of another round leaves bets open."""

    def lock(real: Callable[[m.Lock], Any], message: m.Lock, before: Any) -> Any:
        answer = real(message)
        if isinstance(answer, m.LockRefused):
            machine.firmware.memory = before
        return answer

    at_lock(machine, lock)


@GROUP.mutant("BS-08")
def forgets_locks(machine: SimulatedBetSensor) -> None:
    """It does not remember the id of a lock."""

    def lock(real: Callable[[m.Lock], Any], message: m.Lock, _: Any) -> Any:
        answer, memory = real(message), machine.board.memory
        memory._known.pop(message.lock_id, None)
        memory._tags.pop(message.lock_id, None)
        return answer

    at_lock(machine, lock)


@GROUP.mutant("BS-09")
def opens_a_latched_round(machine: SimulatedBetSensor) -> None:
    """A round that was latched can be opened again."""
    allow_command(machine, m.Open, lambda message: 0 < message.round == machine.firmware.memory.ended)


@GROUP.mutant("BS-10")
def any_lock_unlocks(machine: SimulatedBetSensor) -> None:
    """A latch can be ended with any lock id."""
    allow_command(machine, m.Unlock, lambda _: machine.firmware.state is S.LOCKED)


@GROUP.mutant("BS-11")
def tests_in_a_round(machine: SimulatedBetSensor) -> None:
    """It tests itself while bets are open."""
    allow_command(machine, m.SelfTest, lambda _: machine.firmware.state is S.AWAITING)


@GROUP.mutant("BS-12")
def lights_while_testing(machine: SimulatedBetSensor) -> None:
    """Its lights can be switched while it tests them."""
    replace_refusal(machine, m.SetLight, R.BUSY)


@GROUP.mutant("BS-13")
def unreported_test(machine: SimulatedBetSensor) -> None:
    """A self-test ends without reporting which parts passed."""
    replace_event(machine, m.SelfTested, lambda _: [])


@GROUP.mutant("BS-14", also="BS-26 BS-30")
def latch_lost_at_start(machine: SimulatedBetSensor) -> None:
    """It loses its latch at a restart."""

    def boot(real: Callable[[], None]) -> None:
        set_memory(machine, latch=None)
        real()

    at_boot(machine, boot)


@GROUP.mutant("BS-15", also="BS-27")
def open_after_restart(machine: SimulatedBetSensor) -> None:
    """Bets stay open after a restart, though changes without power were missed."""

    def boot(real: Callable[[], None]) -> None:
        was_open = machine.firmware.memory.open
        real()
        set_memory(machine, open=was_open)

    at_boot(machine, boot)
