"""Tools that build a mistake into one machine: they change its objects, never a class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.engine.machine import SimulatedMachine


@dataclass(frozen=True)
class DeviceMutant:
    """One mistake. `breaks` is the requirement that it proves, `also` what else must fail because of it."""

    name: str
    breaks: str
    also: tuple[str, ...]
    mistake: str
    apply: Callable[[Any], None]
    kind: str = ""  # of machine; empty: any
    model: str = ""  # of that kind, if only that model can make the mistake


class MutantGroup:
    """A group of mutants, in the order of their requirements."""

    def __init__(self, kind: str = "") -> None:
        self.mutants: list[DeviceMutant] = []
        self._kind = kind

    def mutant(
        self, breaks: str, *, also: str = "", model: str = ""
    ) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
        """Register a function that changes a machine; its name is the mutant's name, its docstring the mistake."""

        def register(spoil: Callable[[Any], None]) -> Callable[[Any], None]:
            name, mistake = spoil.__name__.replace("_", "-"), spoil.__doc__
            assert mistake, f"{name} has no docstring"
            self.mutants.append(DeviceMutant(name, breaks, tuple(also.split()), mistake, spoil, self._kind, model))
            return spoil

        return register


def wrap(target: Any, method: str, around: Callable[..., Any]) -> None:
    """Replace a method of one object; `around` is called with the real one first."""
    setattr(target, method, partial(around, getattr(target, method)))


def each_boot(machine: SimulatedMachine, spoil: Callable[[Any], None]) -> None:
    """Spoil the board's half of the handshake (its greeter), now and after every boot."""
    board: Any = machine.board

    def power_on(real: Callable[[], None]) -> None:
        was_alive = board.alive
        real()
        if not was_alive:
            spoil(board._greeter)
            board._greeter._wire.on_frame = board._greeter.receive

    wrap(board, "power_on", power_on)
    spoil(board._greeter)
    board._greeter._wire.on_frame = board._greeter.receive


def each_session(machine: SimulatedMachine, spoil: Callable[[Any], None]) -> None:
    """Spoil the link of every session."""
    board: Any = machine.board

    def session(real: Callable[[Any, str], None], link: Any, role: str) -> None:
        spoil(link)
        link.wire.on_frame = link.receive
        real(link, role)

    wrap(board, "_session", session)
    board._greeter._on_session = board._session


def each_link(machine: SimulatedMachine, method: str, around: Callable[..., Any]) -> None:
    """Replace a method of every session's link; `around` gets link, real method, arguments."""
    each_session(machine, lambda link: wrap(link, method, lambda real, *given: around(link, real, *given)))


def each_seal(machine: SimulatedMachine, change: Callable[[list[Any]], None]) -> None:
    """Change the fields of a frame before it is sealed: flags, type, seq, ack, re, payload."""

    def spoil(link: Any) -> None:
        def seal(real: Callable[..., Any], *frame: Any) -> Any:
            fields = list(frame)
            change(fields)
            return real(*fields)

        wrap(link._sealer, "seal", seal)

    each_session(machine, spoil)


def replace_all_replies(machine: SimulatedMachine, change: Callable[[Any], Any]) -> None:
    """Change the replies of the device; None drops a reply."""

    def spoil(link: Any) -> None:
        def reply(real: Callable[[int, Any], None], seq: int, message: Any) -> None:
            changed = change(message)
            if changed is not None:
                real(seq, changed)

        wrap(link, "send_reply", reply)

    each_session(machine, spoil)


def replace_all_events(machine: SimulatedMachine, change: Callable[[Any], list[Any]]) -> None:
    """Change the events that the device sends."""
    board: Any = machine.board

    def emit(real: Callable[..., None], event: Any, **how: Any) -> None:
        for changed in change(event):
            real(changed, **how)

    wrap(board, "emit", emit)


def replace_event(machine: SimulatedMachine, kind: type[Any], change: Callable[[Any], list[Any]]) -> None:
    """Change one kind of event."""
    replace_all_events(machine, lambda event: change(event) if isinstance(event, kind) else [event])


def replace_reply(machine: SimulatedMachine, question: type[Any], change: Callable[[Any], Any]) -> None:
    """Change the answer to one question."""

    def handle(real: Callable[[Any], Any], message: Any) -> Any:
        reply = real(message)
        return change(reply) if isinstance(message, question) else reply

    wrap(machine.board, "_handle", handle)


def replace_refusal(machine: Any, command: type[Any], reason: int, instead: int = 0) -> None:
    """Replace one refusal reason of a command by another; 0 accepts the command."""

    def refusal(real: Callable[[Any], int], message: Any) -> int:
        real_reason = real(message)
        return instead if isinstance(message, command) and real_reason == reason else real_reason

    wrap(machine.firmware, "_refusal", refusal)


def replaced(message: Any, **fields: Any) -> Any:
    """Return a message with other fields."""
    return msgspec.structs.replace(message, **fields)
