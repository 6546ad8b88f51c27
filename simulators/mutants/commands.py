"""Mutants of commands and reports (CM): what a device remembers, and what it does twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.commands import REMEMBERED, Outcome, Report, Settled
from firmware_bridge.messages import tag_of
from simulators.mutants.mutant_tools import MutantGroup, each_boot, each_session, replace_all_replies, replaced, wrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.engine.machine import SimulatedMachine

GROUP: Final = MutantGroup()


def _forget(memory: Any, command: int) -> None:
    memory._known.pop(command, None)
    memory._tags.pop(command, None)


def _running(memory: Any) -> list[int]:
    return [command for command, known in memory._known.items() if known.outcome is Outcome.RUNNING]


def _in_memory(machine: SimulatedMachine, method: str, around: Callable[..., Any]) -> None:
    """Replace a method of the command memory; `around` gets memory, real method, arguments."""
    memory = machine.board.memory
    wrap(memory, method, lambda real, *given: around(memory, real, *given))


@GROUP.mutant("CM-01")
def uptime_stands_still(machine: SimulatedMachine) -> None:
    """Its uptime does not advance."""
    replace_all_replies(
        machine, lambda message: replaced(message, uptime_s=7) if isinstance(message, Report) else message
    )


@GROUP.mutant("CM-01", also="HS-18")
def report_of_another_boot(machine: SimulatedMachine) -> None:
    """Its report names another boot than its hello."""
    replace_all_replies(
        machine,
        lambda message: replaced(message, boot_id=message.boot_id ^ 1) if isinstance(message, Report) else message,
    )


@GROUP.mutant("CM-02", also="CM-16")
def hides_bench_visits(machine: SimulatedMachine) -> None:
    """It does not count visits to a bench."""

    def session(_: Any) -> None:
        machine.board._bench_visits = -1  # the board adds this visit in a moment

    each_session(machine, session)


@GROUP.mutant("CM-02", also="CM-16")
def counts_hellos(machine: SimulatedMachine) -> None:
    """Every hello counts as a visit."""

    def spoil(greeter: Any) -> None:
        def handle(real: Callable[..., None], *hello: Any) -> None:
            machine.board._bench_visits += 1
            real(*hello)

        wrap(greeter, "_take_hello", handle)

    each_boot(machine, spoil)


@GROUP.mutant("CM-03", also="LK-12 PL-09")
def short_ids(machine: SimulatedMachine) -> None:
    """It knows ids of 32 bits."""

    def recall(_: Any, real: Callable[[int], Settled], command: int) -> Settled:
        known = real(command)
        return known if known.outcome is not Outcome.UNKNOWN else replaced(known, command=(command & 0x7FFFFFFF) or 1)

    _in_memory(machine, "recall", recall)


@GROUP.mutant("CM-04", also="CM-09 SH-03")
def reports_twice(machine: SimulatedMachine) -> None:
    """A command that ended at once is reported again as an event."""

    def once(real: Callable[..., Any], *given: Any) -> Any:
        reply = real(*given)
        if isinstance(reply, Settled) and reply.outcome is Outcome.DONE:
            machine.board.emit(reply)
        return reply

    wrap(machine.board, "once", once)


@GROUP.mutant("CM-05", also="CM-09 SH-04 SH-08 SH-11 SH-42 SH-47 SH-50 SH-54 SH-55")
def ends_twice(machine: SimulatedMachine) -> None:
    """A command ends twice."""

    def settle(real: Callable[..., None], *given: Any) -> None:
        real(*given)
        real(*given)

    wrap(machine.board, "settle", settle)


@GROUP.mutant("CM-06", also="CM-12")
def forgets_refusals(machine: SimulatedMachine) -> None:
    """It does not remember what it refused."""

    def settle(memory: Any, real: Callable[..., Settled], command: int, outcome: Outcome, *reason: int) -> Settled:
        settled = real(command, outcome, *reason)
        if outcome is Outcome.REFUSED:
            _forget(memory, command)
        return settled

    _in_memory(machine, "settle", settle)


@GROUP.mutant("CM-07", also="CM-04 CM-08 CM-10 CM-17 SH-07 SH-23")
def slow_commands(machine: SimulatedMachine) -> None:
    """It waits for a second before it reports that a command is done."""

    def spoil(link: Any) -> None:
        def reply(real: Callable[..., None], seq: int, message: Any) -> None:
            if isinstance(message, Settled) and message.outcome is Outcome.DONE:
                machine.clock.after(1.0, lambda: real(seq, message))
            else:
                real(seq, message)

        wrap(link, "send_reply", reply)

    each_session(machine, spoil)


@GROUP.mutant("CM-08", also="CM-09")
def does_it_again(machine: SimulatedMachine) -> None:
    """A command that was done is done again when its id comes back."""

    def begin(memory: Any, real: Callable[..., Settled | None], command: int, tag: int = 0) -> Settled | None:
        if memory.recall(command).outcome is Outcome.DONE and memory._tags[command] == tag:
            _forget(memory, command)
        return real(command, tag)

    _in_memory(machine, "begin", begin)


@GROUP.mutant("CM-08")
def repeats_reset(machine: SimulatedMachine) -> None:
    """A Reset is carried out before anybody looks at its id: when it comes back, the machine restarts again."""

    def once(real: Callable[..., Any], message: Any, refusal: Callable[[Any], int], begin: Callable[..., bool]) -> Any:
        known = machine.board.memory._tags.get(message.command) == tag_of(type(message))
        if type(message).__name__ == "Reset" and known:
            begin(message)
        return real(message, refusal, begin)

    wrap(machine.board, "once", once)


@GROUP.mutant("CM-09")
def begins_again(machine: SimulatedMachine) -> None:
    """A running command is taken for new when its id comes back."""

    def begin(memory: Any, real: Callable[..., Settled | None], command: int, tag: int = 0) -> Settled | None:
        return None if memory.recall(command).outcome is Outcome.RUNNING else real(command, tag)

    _in_memory(machine, "begin", begin)


@GROUP.mutant("CM-10")
def id_alone(machine: SimulatedMachine) -> None:
    """It looks at the id alone, not at the message."""

    def begin(memory: Any, real: Callable[..., Settled | None], command: int, tag: int = 0) -> Settled | None:
        return real(command, memory._tags.get(command, tag))

    _in_memory(machine, "begin", begin)


@GROUP.mutant("CM-11", also="CM-13 CM-15 SH-32")
def running_is_unknown(machine: SimulatedMachine) -> None:
    """Asked about a running command it knows nothing."""

    def recall(_: Any, real: Callable[[int], Settled], command: int) -> Settled:
        known = real(command)
        return Settled(command, Outcome.UNKNOWN, 0) if known.outcome is Outcome.RUNNING else known

    _in_memory(machine, "recall", recall)


def _remembers(machine: SimulatedMachine, count: int) -> None:
    """Let it forget all that ended but the last `count`."""

    def remember(memory: Any, real: Callable[[Settled], None], settled: Settled) -> None:
        real(settled)
        ended = [command for command, known in memory._known.items() if known.outcome is not Outcome.RUNNING]
        for command in ended[:-count]:
            _forget(memory, command)

    _in_memory(machine, "_remember", remember)


@GROUP.mutant("CM-12")
def remembers_eight(machine: SimulatedMachine) -> None:
    """It remembers eight commands."""
    _remembers(machine, 8)


@GROUP.mutant("CM-12", also="CM-06 CM-08")
def remembers_one(machine: SimulatedMachine) -> None:
    """It remembers the last command alone."""
    _remembers(machine, 1)


@GROUP.mutant("CM-12")
def newest_first(machine: SimulatedMachine) -> None:
    """It reports the newest command first."""
    _in_memory(machine, "recent", lambda _, real: real()[::-1])


@GROUP.mutant("CM-13")
def forgets_running(machine: SimulatedMachine) -> None:
    """Sixteen commands later it has forgotten one that runs."""

    def remember(memory: Any, real: Callable[[Settled], None], settled: Settled) -> None:
        memory._tags.setdefault(settled.command, 0)  # of one that was forgotten and ends now
        real(settled)
        oldest = next(iter(memory._known))
        if len(memory._known) == REMEMBERED and memory.recall(oldest).outcome is Outcome.RUNNING:
            _forget(memory, oldest)

    _in_memory(machine, "_remember", remember)


@GROUP.mutant("CM-14", also="CM-08 CM-10 CM-15 CM-16 CM-17 CM-18 SH-07 SH-32 SH-60")
def forgets_with_the_session(machine: SimulatedMachine) -> None:
    """A new session begins with an empty memory."""
    memory: Any = machine.board.memory

    def session(_: Any) -> None:
        for command in list(memory._known):
            _forget(memory, command)

    each_session(machine, session)


@GROUP.mutant("CM-15", also="CM-17 CM-18 SH-32 SH-60")
def loses_running_with_the_session(machine: SimulatedMachine) -> None:
    """What ran when its session was lost is never settled."""
    memory: Any = machine.board.memory
    lost: set[int] = set()

    def session(link: Any) -> None:
        def down(real: Callable[..., None], cause: Any) -> None:
            running = _running(memory)
            lost.update(running)
            for command in running:
                _forget(memory, command)
            real(cause)

        wrap(link, "on_down", down)

    def settle(_: Any, real: Callable[..., Settled], command: int, outcome: Outcome, *reason: int) -> Settled:
        return Settled(command, outcome, *reason or (0,)) if command in lost else real(command, outcome, *reason)

    each_session(machine, session)
    _in_memory(machine, "settle", settle)


@GROUP.mutant("CM-16", also="CM-08 CM-10 CM-17 CM-18 SH-07 SH-60")
def forgets_with_the_power(machine: SimulatedMachine) -> None:
    """Its command memory does not survive a power cut."""
    memory: Any = machine.board.memory

    def boot(_: Any) -> None:
        for command in list(memory._known):
            _forget(memory, command)

    each_boot(machine, boot)


def _ends_well(memory: Any, running: list[int]) -> None:
    """Record interrupted commands as done."""
    for command in running:
        memory._known[command] = Settled(command, Outcome.DONE, 0)


@GROUP.mutant("CM-17", also="CM-18 SH-60")
def restart_finishes_commands(machine: SimulatedMachine) -> None:
    """What ran when it restarted counts as done."""

    def interrupted(memory: Any, real: Callable[[int], None], reason: int) -> None:
        _ends_well(memory, _running(memory))
        real(reason)

    _in_memory(machine, "fail_running", interrupted)


@GROUP.mutant("CM-18", also="SH-60")
def power_loss_finishes_commands(machine: SimulatedMachine) -> None:
    """What ran when power went counts as done; a Reset ends it as it should."""
    board = machine.board
    cut: list[bool] = []

    def inject(real: Callable[[Any], None], fault: Any) -> None:
        cut[:] = [fault.kind.name == "power_cut"]
        real(fault)

    def interrupted(memory: Any, real: Callable[[int], None], reason: int) -> None:
        if any(cut):
            _ends_well(memory, _running(memory))
        cut.clear()
        real(reason)

    wrap(board, "inject", inject)
    _in_memory(machine, "fail_running", interrupted)
