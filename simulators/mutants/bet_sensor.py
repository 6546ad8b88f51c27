"""Mutants of the bet sensor (BS): latches that move, chips that count too late, lights for the wrong bet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.bet_sensor import messages as m
from simulators.mutants.workshop import Workshop, allows, answers, replaced, tells, wrap
from simulators.twins.bet_sensor import judge

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.machines.bet_sensor import SimulatedBetSensor

WORKSHOP: Final = Workshop(m.KIND)
S: Final = m.State
R: Final = m.Reason


def lets(machine: SimulatedBetSensor, command: type[Any], fits: Callable[[Any], bool]) -> None:
    """Let a command happen that is refused, where it fits."""
    twin: Any = machine.twin

    def refusal(real: Callable[[Any], m.Reason], message: Any) -> m.Reason:
        found = real(message)
        return R.NONE if isinstance(message, command) and fits(message) else found

    wrap(twin, "_refusal", refusal)


def remembers(machine: SimulatedBetSensor, **fields: Any) -> None:
    """Write into the firmware's memory."""
    machine.twin.memory = replaced(machine.twin.memory, **fields)


def at_boot(machine: SimulatedBetSensor, around: Callable[[Callable[[], None]], None]) -> None:
    """Change how it starts."""
    wrap(machine.board, "_on_boot", around)


def at_change(machine: SimulatedBetSensor, after: Callable[[Any], None]) -> None:
    """Do something after every look at the coil; it gets the memory as it was before."""

    def on_change(real: Callable[[], None]) -> None:
        before = machine.twin.memory
        real()
        after(before)

    wrap(machine.spot, "on_change", on_change)


def at_latch(machine: SimulatedBetSensor, change: Callable[[m.Latch], m.Latch]) -> None:
    """Latch something else."""

    def lock(real: Callable[[m.Lock], Any], message: m.Lock) -> Any:
        before, answer = machine.twin.memory.latch, real(message)
        if isinstance(answer, m.Locked) and before is None:
            remembers(machine, latch=change(answer.latch))
            return m.Locked(change(answer.latch))
        return answer

    wrap(machine.twin, "_lock", lock)


def at_lock(machine: SimulatedBetSensor, around: Callable[..., Any]) -> None:
    """Change what a lock does; `around` gets the real one, the message, and the memory before it."""
    wrap(machine.twin, "_lock", lambda real, message: around(real, message, machine.twin.memory))


def meaning(machine: SimulatedBetSensor, change: m.Change, instead: m.Change) -> None:
    """Tell one meaning as another."""
    tells(
        machine, m.Changed, lambda event: [replaced(event, change=instead) if event.change is change else event]
    )  # fmt: skip


# --- without a chip ---------------------------------------------------------------------------------------------------


@WORKSHOP.mutant("PL-12", also="BS-01 BS-13")
def health_is_status(machine: SimulatedBetSensor) -> None:
    """Asked for its health it tells its state."""
    answers(machine, m.GetHealth, lambda _: machine.twin.handle(m.GetStatus()))


@WORKSHOP.mutant("BS-01")
def coil_without_noise(machine: SimulatedBetSensor) -> None:
    """It tells a level without any noise, as of a coil that is not read."""
    answers(machine, m.GetHealth, lambda health: replaced(health, noise=0))


@WORKSHOP.mutant("BS-02")
def lights_without_a_bet(machine: SimulatedBetSensor) -> None:
    """Its lights burn while no bets are taken."""
    lets(machine, m.SetLight, lambda _: machine.twin.state is S.NONE)


@WORKSHOP.mutant("BS-02", also="BS-15")
def latches_a_closed_spot(machine: SimulatedBetSensor) -> None:
    """A lock stands though no bets were taken."""

    def lock(real: Callable[[m.Lock], Any], message: m.Lock, _: Any) -> Any:
        if machine.twin.state is S.NONE:
            remembers(machine, open=True, round=message.round)
        return real(message)

    at_lock(machine, lock)


@WORKSHOP.mutant("BS-03")
def round_zero(machine: SimulatedBetSensor) -> None:
    """It takes bets for round 0."""
    lets(machine, m.Open, lambda message: message.round == 0)


@WORKSHOP.mutant("BS-04")
def latches_the_next_number(machine: SimulatedBetSensor) -> None:
    """The latched number is one too high: the first late chip would count."""
    at_latch(machine, lambda latch: replaced(latch, last=latch.last + 1))


@WORKSHOP.mutant("BS-05", also="BS-14 BS-23 BS-24 BS-26")
def confirms_once(machine: SimulatedBetSensor) -> None:
    """A lock that comes again is refused."""

    def lock(real: Callable[[m.Lock], Any], message: m.Lock, before: Any) -> Any:
        answer = real(message)
        if isinstance(answer, m.Locked) and before.latch is not None:
            return m.LockRefused(message.lock_id, R.OTHER_LOCK, message.round, answer.latch)
        return answer

    at_lock(machine, lock)


@WORKSHOP.mutant("BS-06", also="BS-08")
def last_lock_wins(machine: SimulatedBetSensor) -> None:
    """Another lock of the same round takes the latch over."""

    def lock(real: Callable[[m.Lock], Any], message: m.Lock, before: Any) -> Any:
        if before.latch is not None and before.latch.round == message.round:
            remembers(machine, latch=replaced(before.latch, lock_id=message.lock_id))
        return real(message)

    at_lock(machine, lock)


@WORKSHOP.mutant("BS-06")
def hides_the_latch(machine: SimulatedBetSensor) -> None:
    """A refused lock does not say which latch stands."""

    def lock(real: Callable[[m.Lock], Any], message: m.Lock, _: Any) -> Any:
        answer = real(message)
        return replaced(answer, latch=None) if isinstance(answer, m.LockRefused) else answer

    at_lock(machine, lock)


@WORKSHOP.mutant("BS-07")
def stays_open(machine: SimulatedBetSensor) -> None:
    """A lock of another round leaves bets open."""

    def lock(real: Callable[[m.Lock], Any], message: m.Lock, before: Any) -> Any:
        answer = real(message)
        if isinstance(answer, m.LockRefused):
            machine.twin.memory = before
        return answer

    at_lock(machine, lock)


@WORKSHOP.mutant("BS-08")
def forgets_locks(machine: SimulatedBetSensor) -> None:
    """It does not remember the id of a lock."""

    def lock(real: Callable[[m.Lock], Any], message: m.Lock, _: Any) -> Any:
        answer, memory = real(message), machine.board.memory
        memory._known.pop(message.lock_id, None)
        memory._tags.pop(message.lock_id, None)
        return answer

    at_lock(machine, lock)


@WORKSHOP.mutant("BS-09")
def opens_a_latched_round(machine: SimulatedBetSensor) -> None:
    """A round that was latched can be opened again."""
    lets(machine, m.Open, lambda message: 0 < message.round == machine.twin.memory.ended)


@WORKSHOP.mutant("BS-10")
def any_lock_unlocks(machine: SimulatedBetSensor) -> None:
    """A latch is ended by whoever asks."""
    lets(machine, m.Unlock, lambda _: machine.twin.state is S.LOCKED)


@WORKSHOP.mutant("BS-11")
def tests_in_a_round(machine: SimulatedBetSensor) -> None:
    """It tests itself while bets are taken."""
    lets(machine, m.SelfTest, lambda _: machine.twin.state is S.AWAITING)


@WORKSHOP.mutant("BS-12")
def lights_while_testing(machine: SimulatedBetSensor) -> None:
    """Its lights can be switched while it tests them."""
    allows(machine, m.SetLight, R.BUSY)


@WORKSHOP.mutant("BS-13")
def untold_test(machine: SimulatedBetSensor) -> None:
    """A self-test ends without telling which parts passed."""
    tells(machine, m.SelfTested, lambda _: [])


@WORKSHOP.mutant("BS-14", also="BS-26 BS-30")
def latch_lost_at_start(machine: SimulatedBetSensor) -> None:
    """It starts without the latch that stood."""

    def boot(real: Callable[[], None]) -> None:
        remembers(machine, latch=None)
        real()

    at_boot(machine, boot)


@WORKSHOP.mutant("BS-15", also="BS-27")
def open_after_restart(machine: SimulatedBetSensor) -> None:
    """It goes on taking bets after a restart, whatever happened in the dark."""

    def boot(real: Callable[[], None]) -> None:
        was_open = machine.twin.memory.open
        real()
        remembers(machine, open=was_open)

    at_boot(machine, boot)


# --- chips ------------------------------------------------------------------------------------------------------------


@WORKSHOP.mutant("BS-20")
def bet_without_a_round(machine: SimulatedBetSensor) -> None:
    """It does not say for which round a bet was placed."""
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
    """It latches an empty spot though a chip lies there."""
    at_latch(machine, lambda latch: replaced(latch, lies=m.Lies.EMPTY) if latch.lies is m.Lies.CHIP else latch)


@WORKSHOP.mutant("BS-23")
def taken_bet_is_gone(machine: SimulatedBetSensor) -> None:
    """A bet that is taken after the latch is not latched any more."""

    def after(_: Any) -> None:
        latch = machine.twin.memory.latch
        if latch is not None and machine.twin.memory.lies is m.Lies.EMPTY:
            remembers(machine, latch=replaced(latch, lies=m.Lies.EMPTY))

    at_change(machine, after)


@WORKSHOP.mutant("BS-23", also="BS-25")
def taken_is_withdrawn(machine: SimulatedBetSensor) -> None:
    """A bet can be withdrawn after the latch."""
    meaning(machine, m.Change.TAKEN, m.Change.WITHDRAWN)


@WORKSHOP.mutant("BS-24")
def late_chip_counts(machine: SimulatedBetSensor) -> None:
    """A chip laid after the latch moves the latch."""

    def after(_: Any) -> None:
        spot = machine.twin.memory
        if spot.latch is not None and spot.lies is m.Lies.CHIP:
            remembers(machine, latch=replaced(spot.latch, last=spot.sequence, lies=spot.lies))

    at_change(machine, after)


@WORKSHOP.mutant("BS-24", also="BS-23")
def looks_again(machine: SimulatedBetSensor) -> None:
    """A lock that comes again is answered by what lies there now."""

    def lock(real: Callable[[m.Lock], Any], message: m.Lock, before: Any) -> Any:
        answer = real(message)
        if isinstance(answer, m.Locked):
            return m.Locked(replaced(answer.latch, last=before.sequence, lies=before.lies))
        return answer

    at_lock(machine, lock)


@WORKSHOP.mutant("BS-24", also="BS-25 BS-32")
def late_is_placed(machine: SimulatedBetSensor) -> None:
    """A late chip is told as a bet."""
    meaning(machine, m.Change.LATE, m.Change.PLACED)


@WORKSHOP.mutant("BS-25", also="BS-23 BS-24 BS-26")
def closes_a_moment_later(machine: SimulatedBetSensor) -> None:
    """It reads the spot and closes it a moment later: what happens between is a bet above the latched number."""

    def lock(real: Callable[[m.Lock], Any], message: m.Lock, before: Any) -> Any:
        answer = real(message)
        if isinstance(answer, m.Locked) and before.latch is None:
            remembers(machine, open=True)
            machine.clock.after(0.2, close)
        return answer

    def close() -> None:
        if machine.twin.memory.latch is not None:
            remembers(machine, open=False)

    def begin(real: Callable[[Any], bool], message: Any) -> bool:
        close()  # whatever else it is told, it has closed before
        return real(message)

    at_lock(machine, lock)
    wrap(machine.twin, "_begin", begin)


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
    lets(machine, m.SetLight, lambda message: machine.twin.state is S.PLACED and message.light is m.Light.ACKNOWLEDGED)


@WORKSHOP.mutant("BS-28")
def accepts_before_the_latch(machine: SimulatedBetSensor) -> None:
    """Its accepted light burns for a bet that may still be withdrawn."""
    lets(machine, m.SetLight, lambda message: machine.twin.state is S.PLACED and message.light is m.Light.ACCEPTED)


@WORKSHOP.mutant("BS-29")
def light_burns_on(machine: SimulatedBetSensor) -> None:
    """The acknowledged light burns on when the bet is moved."""
    at_change(machine, lambda before: remembers(machine, light=before.light))


@WORKSHOP.mutant("BS-30")
def accepts_any_number(machine: SimulatedBetSensor) -> None:
    """Its accepted light does not look at the number."""

    def fits(message: Any) -> bool:
        latch = machine.twin.memory.latch
        return latch is not None and latch.lies is m.Lies.CHIP and message.light is m.Light.ACCEPTED

    lets(machine, m.SetLight, fits)


@WORKSHOP.mutant("BS-31")
def lights_a_late_chip(machine: SimulatedBetSensor) -> None:
    """Its accepted light burns for the chip that lies there, latched or not."""

    def fits(message: Any) -> bool:
        spot = machine.twin.memory
        late = spot.state is S.LOCKED and spot.lies is m.Lies.CHIP and message.sequence == spot.sequence
        return late and message.light is m.Light.ACCEPTED

    lets(machine, m.SetLight, fits)


@WORKSHOP.mutant("BS-32")
def opens_on_a_chip(machine: SimulatedBetSensor) -> None:
    """It takes bets on a spot where a chip lies already."""
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
    """Its accepted light burns for what is not clearly a bet."""

    def fits(message: Any) -> bool:
        latch = machine.twin.memory.latch
        unclear = latch is not None and latch.lies not in (m.Lies.EMPTY, m.Lies.CHIP)
        return unclear and message.light is m.Light.ACCEPTED

    lets(machine, m.SetLight, fits)


@WORKSHOP.mutant("BS-34")
def mends_itself(machine: SimulatedBetSensor) -> None:
    """Bets are taken again as soon as the coil can be read, without a self-test."""
    at_change(machine, lambda before: remembers(machine, sound=before.sound))


@WORKSHOP.mutant("BS-34")
def silent_coil_fault(machine: SimulatedBetSensor) -> None:
    """It does not tell that its coil cannot be read."""
    tells(machine, m.Fault, lambda _: [])
