"""Mutants of commands and reports (CM): what a device remembers, and what it does twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.commands import REMEMBERED, Outcome, Report, Settled
from firmware_bridge.messages import tag_of
from simulators.mutants.mutant_tools import (
    Mistake,
    MutantGroup,
    Real,
    assigned,
    each_boot,
    each_session,
    method,
    replaced,
    reply,
)

if TYPE_CHECKING:
    from collections.abc import Callable


GROUP: Final = MutantGroup()
row: Final = GROUP.row


def _forget(memory: Any, *commands: int) -> None:
    for command in commands:
        memory._known.pop(command, None)
        memory._tags.pop(command, None)


def _forget_all(machine: Any) -> None:
    _forget(machine.board.memory, *machine.board.memory._known)


def _running(memory: Any) -> list[int]:
    return [command for command, known in memory._known.items() if known.outcome is Outcome.RUNNING]


row("CM-01", "uptime-stands-still", "Its uptime does not advance.", reply(Report, uptime_s=7))
row("CM-01", "report-of-another-boot", "Its report names another boot than its hello.",
    reply(Report, boot_id=lambda report: report.boot_id ^ 1), also="HS-18")  # fmt: skip


@GROUP.mutant("CM-02", also="CM-16")
def hides_bench_visits(machine: Any) -> None:
    """It does not count visits to a bench."""

    def session(_: Any) -> None:
        machine.board._bench_visits = -1  # the board adds this visit in a moment

    each_session(machine, session)


row("CM-02", "counts-hellos", "Every hello counts as a visit.",
    assigned("greeter._take_hello", before={"board._bench_visits": lambda machine: machine.board._bench_visits + 1}),
    also="CM-16")  # fmt: skip


@GROUP.method("board.memory.recall", "CM-03", also="LK-12 PL-09")
def short_ids(_: Any, real: Real, command: int) -> Any:
    """It knows ids of 32 bits."""
    known = real(command)
    return known if known.outcome is not Outcome.UNKNOWN else replaced(known, command=(command & 0x7FFFFFFF) or 1)


@GROUP.method("board.once", "CM-04", also="CM-09 SH-03")
def reports_twice(board: Any, real: Real, *given: Any) -> Any:
    """A command that ended at once is reported again as an event."""
    reply = real(*given)
    if isinstance(reply, Settled) and reply.outcome is Outcome.DONE:
        board.emit(reply)
    return reply


@GROUP.method("board.settle", "CM-05", also="CM-09 SH-04 SH-08 SH-11 SH-42 SH-47 SH-50 SH-54 SH-55")
def ends_twice(_: Any, real: Real, *given: Any) -> None:
    """A command ends twice."""
    real(*given)
    real(*given)


@GROUP.method("board.memory.settle", "CM-06", also="CM-12")
def forgets_refusals(memory: Any, real: Real, command: int, outcome: Outcome, *reason: int) -> Any:
    """It does not remember what it refused."""
    settled = real(command, outcome, *reason)
    if outcome is Outcome.REFUSED:
        _forget(memory, command)
    return settled


@GROUP.mutant("CM-07", also="CM-04 CM-08 CM-10 CM-17 SH-07 SH-23")
def slow_commands(machine: Any) -> None:
    """It waits for a second before it reports that a command is done."""

    def send(_: Any, real: Real, seq: int, message: Any) -> None:
        if isinstance(message, Settled) and message.outcome is Outcome.DONE:
            machine.clock.after(1.0, lambda: real(seq, message))
        else:
            real(seq, message)

    method("link.send_reply", send)(machine)


@GROUP.method("board.memory.begin", "CM-08", also="CM-09")
def does_it_again(memory: Any, real: Real, command: int, tag: int = 0) -> Any:
    """A command that was done is done again when its id comes back."""
    if memory.recall(command).outcome is Outcome.DONE and memory._tags[command] == tag:
        _forget(memory, command)
    return real(command, tag)


@GROUP.method("board.once", "CM-08")
def repeats_reset(
    board: Any, real: Real, message: Any, refusal: Callable[[Any], int], begin: Callable[..., bool]
) -> Any:
    """A Reset is carried out before anybody looks at its id: when it comes back, the machine restarts again."""
    known = board.memory._tags.get(message.command) == tag_of(type(message))
    if type(message).__name__ == "Reset" and known:
        begin(message)
    return real(message, refusal, begin)


row(
    "CM-09",
    "begins-again",
    "A running command is taken for new when its id comes back.",
    method(
        "board.memory.begin",
        lambda memory, real, command, tag: (
            None if memory.recall(command).outcome is Outcome.RUNNING else real(command, tag)
        ),
    ),
)
row("CM-10", "id-alone", "It looks at the id alone, not at the message.",
    method("board.memory.begin", lambda memory, real, command, tag: real(command, memory._tags.get(command, tag))),
)  # fmt: skip


@GROUP.method("board.memory.recall", "CM-11", also="CM-13 CM-15 SH-32")
def running_is_unknown(_: Any, real: Real, command: int) -> Any:
    """Asked about a running command it knows nothing."""
    known = real(command)
    return Settled(command, Outcome.UNKNOWN, 0) if known.outcome is Outcome.RUNNING else known


def remembers(count: int) -> Mistake:
    """Forget all that ended but the last `count`."""

    def remember(memory: Any, real: Real, settled: Settled) -> None:
        real(settled)
        ended = [command for command, known in memory._known.items() if known.outcome is not Outcome.RUNNING]
        for command in ended[:-count]:
            _forget(memory, command)

    return method("board.memory._remember", remember)


row("CM-12", "remembers-eight", "It remembers eight commands.", remembers(8))
row("CM-12", "remembers-one", "It remembers the last command alone.", remembers(1), also="CM-06 CM-08")
row("CM-12", "newest-first", "It reports the newest command first.",
    method("board.memory.recent", lambda _, real: real()[::-1]))  # fmt: skip


@GROUP.method("board.memory._remember", "CM-13")
def forgets_running(memory: Any, real: Real, settled: Settled) -> None:
    """Sixteen commands later it has forgotten one that runs."""
    memory._tags.setdefault(settled.command, 0)  # of one that was forgotten and ends now
    real(settled)
    oldest = next(iter(memory._known))
    if len(memory._known) == REMEMBERED and memory.recall(oldest).outcome is Outcome.RUNNING:
        _forget(memory, oldest)


row("CM-14", "forgets-with-the-session", "A new session begins with an empty memory.",
    lambda machine: each_session(machine, lambda _: _forget_all(machine)),
    also="CM-08 CM-10 CM-15 CM-16 CM-17 CM-18 SH-07 SH-32 SH-60")  # fmt: skip


@GROUP.mutant("CM-15", also="CM-17 CM-18 SH-32 SH-60")
def loses_running_with_the_session(machine: Any) -> None:
    """What ran when its session was lost is never settled."""
    memory = machine.board.memory
    lost: set[int] = set()

    def down(_: Any, real: Real, cause: Any) -> None:
        running = _running(memory)
        lost.update(running)
        _forget(memory, *running)
        real(cause)

    def settle(_: Any, real: Real, command: int, outcome: Outcome, *reason: int) -> Any:
        return Settled(command, outcome, *reason or (0,)) if command in lost else real(command, outcome, *reason)

    method("link.on_down", down)(machine)
    method("board.memory.settle", settle)(machine)


row("CM-16", "forgets-with-the-power", "Its command memory does not survive a power cut.",
    lambda machine: each_boot(machine, lambda _: _forget_all(machine)),
    also="CM-08 CM-10 CM-17 CM-18 SH-07 SH-60")  # fmt: skip


def _ends_well(memory: Any, running: list[int]) -> None:
    """Record interrupted commands as done."""
    for command in running:
        memory._known[command] = Settled(command, Outcome.DONE, 0)


@GROUP.method("board.memory.fail_running", "CM-17", also="CM-18 SH-60")
def restart_finishes_commands(memory: Any, real: Real, reason: int) -> None:
    """What ran when it restarted counts as done."""
    _ends_well(memory, _running(memory))
    real(reason)


@GROUP.mutant("CM-18", also="SH-60")
def power_loss_finishes_commands(machine: Any) -> None:
    """What ran when power went counts as done; a Reset ends it as it should."""
    cut: list[bool] = []

    def inject(_: Any, real: Real, fault: Any) -> None:
        cut[:] = [fault.kind.name == "power_cut"]
        real(fault)

    def interrupted(memory: Any, real: Real, reason: int) -> None:
        if any(cut):
            _ends_well(memory, _running(memory))
        cut.clear()
        real(reason)

    method("board.inject", inject)(machine)
    method("board.memory.fail_running", interrupted)(machine)
