"""Rows of mutants: each is one mistake in one machine. It changes objects of that machine, never a class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec

from devices.path_telemetry import OpticalLevel

if TYPE_CHECKING:
    from simulators.engine.machine import SimulatedMachine

# Builds one mistake into a machine.
Mistake = Callable[[Any], None]
# The method that a mistake replaces.
Real = Callable[..., Any]


@dataclass(frozen=True)
class DeviceMutant:
    """One mistake. `breaks` is the requirement that it proves, `also` what else must fail because of it."""

    name: str
    breaks: str
    also: tuple[str, ...]
    mistake: str
    apply: Mistake
    kind: str = ""  # of machine; empty: any
    model: str = ""  # of that kind, if only that model can make the mistake


class MutantGroup:
    """A group of mutants, in the order of their requirements."""

    def __init__(self, kind: str = "") -> None:
        self.mutants: list[DeviceMutant] = []
        self._kind = kind

    def row(self, breaks: str, name: str, mistake: str, apply: Mistake, *, also: str = "", model: str = "") -> None:
        """Add a mutant: the requirement that it breaks, its name, its mistake in words, and what builds it in."""
        self.mutants.append(DeviceMutant(name, breaks, tuple(also.split()), mistake, apply, self._kind, model))

    def mutant(self, breaks: str, *, also: str = "", model: str = "") -> Callable[[Mistake], Mistake]:
        """Add a mutant that a function builds in; its name is the mutant's name, its docstring the mistake."""

        def register(apply: Mistake) -> Mistake:
            self._add(apply, breaks, apply, also, model)
            return apply

        return register

    def method(self, path: str, breaks: str, *, also: str = "", model: str = "") -> Callable[[Real], Real]:
        """Add a mutant whose function takes the place of one method: see `method`."""

        def register(change: Real) -> Real:
            self._add(change, breaks, method(path, change), also, model)
            return change

        return register

    def _add(self, function: Any, breaks: str, apply: Mistake, also: str, model: str) -> None:
        name, mistake = function.__name__.replace("_", "-"), function.__doc__
        assert mistake, f"{name} has no docstring"
        self.row(breaks, name, mistake, apply, also=also, model=model)


# --- one changed message ----------------------------------------------------------------------------------------------


def always(_: Any) -> bool:
    """Return True for every message."""
    return True


def replaced(message: Any, **fields: Any) -> Any:
    """Return a message with other fields; a function computes its field from the message."""
    values = {name: value(message) if callable(value) else value for name, value in fields.items()}
    return msgspec.structs.replace(message, **values)


def event(kind: type[Any], when: Callable[[Any], Any] = always, **fields: Any) -> Mistake:
    """Send events of this kind with other fields."""
    return events(kind, lambda sent: [replaced(sent, **fields) if when(sent) else sent])


def no_event(kind: type[Any], when: Callable[[Any], Any] = always) -> Mistake:
    """Leave events of this kind out."""
    return events(kind, lambda sent: [] if when(sent) else [sent])


def event_twice(kind: type[Any], when: Callable[[Any], Any] = always) -> Mistake:
    """Send events of this kind twice."""
    return events(kind, lambda sent: [sent, sent] if when(sent) else [sent])


def events(kind: type[Any], change: Callable[[Any], list[Any]]) -> Mistake:
    """Send other events instead of one of this kind."""
    return lambda machine: replace_all_events(machine, lambda sent: change(sent) if isinstance(sent, kind) else [sent])


def replace_all_events(machine: SimulatedMachine, change: Callable[[Any], list[Any]]) -> None:
    """Change the events that the device sends."""

    def emit(_: Any, real: Real, sent: Any, **how: Any) -> None:
        for changed in change(sent):
            real(changed, **how)

    method("board.emit", emit)(machine)


def answer(question: type[Any], when: Callable[[Any], Any] = always, **fields: Any) -> Mistake:
    """Answer a question with other fields."""
    return other_answer(question, lambda _, reply: replaced(reply, **fields) if when(reply) else reply)


def other_answer(question: type[Any], make: Callable[[Any, Any], Any]) -> Mistake:
    """Answer a question with something else, made from the machine and its own answer."""

    def apply(machine: Any) -> None:
        def handle(_: Any, real: Real, message: Any) -> Any:
            reply = real(message)
            return make(machine, reply) if isinstance(message, question) else reply

        method("board._handle", handle)(machine)

    return apply


def reply(kind: type[Any], **fields: Any) -> Mistake:
    """Send replies of this kind with other fields, to any request."""

    def send(_: Any, real: Real, seq: int, message: Any) -> None:
        real(seq, replaced(message, **fields) if isinstance(message, kind) else message)

    return method("link.send_reply", send)


def refusal(command: type[Any], reason: int, instead: int = 0, state: Any = None) -> Mistake:
    """Refuse a command for another reason than this, in this state or in any; 0 accepts it."""

    def refuse(firmware: Any, real: Real, message: Any) -> Any:
        meant = isinstance(message, command) and state in (None, firmware.state)
        own = real(message)
        return instead if meant and own == reason else own

    return method("firmware._refusal", refuse)


def dark_unreported(question: type[Any], sensor: int) -> Mistake:
    """Report a level of a sensor that is below its threshold as not blocked."""
    dark = OpticalLevel(False, 400, 500)
    return answer(
        question,
        levels=lambda sensors: [dark if at == sensor else level for at, level in enumerate(sensors.levels)],
    )


def stop_reported(stop: type[Any], states: tuple[Any, ...], make: Callable[[Any], Any]) -> Mistake:
    """Report a stop in states in which nothing moves."""

    def apply(machine: Any) -> None:
        def begin(firmware: Any, real: Real, message: Any) -> Any:
            if isinstance(message, stop) and firmware.state in states:
                machine.board.emit(make(message))
            return real(message)

        method("firmware._begin", begin)(machine)

    return apply


def sealed_as(change: Callable[[list[Any]], list[Any]]) -> Mistake:
    """Change the fields of a frame before it is sealed: flags, type, seq, ack, re, payload."""
    return method("link._sealer.seal", lambda _, real, *frame: real(*change(list(frame))))


# --- one changed method -----------------------------------------------------------------------------------------------


def method(path: str, change: Real) -> Mistake:
    """Replace a method; `change` gets its object, the real method and the arguments.

    `path` names it from the machine: "firmware._stop", "board.memory.begin". A path that begins with "link" means the
    link of every session, with "greeter" the board's half of the handshake, after every boot.
    """
    place, _, name = path.rpartition(".")
    root, _, part = place.partition(".")

    def within(owner: Any, part: str = part) -> None:
        held = attrgetter(part)(owner) if part else owner
        setattr(held, name, partial(change, held, getattr(held, name)))

    def apply(machine: Any) -> None:
        if root == "link":
            each_session(machine, within)
        elif root == "greeter":
            each_boot(machine, within)
        else:
            within(machine, place)

    return apply


def skipped(path: str, when: Callable[..., Any] = lambda *_: True) -> Mistake:
    """Leave a method out; `when` gets its object and the arguments."""
    return method(path, lambda held, real, *given: None if when(held, *given) else real(*given))


def before(path: str, act: Callable[[Any], object]) -> Mistake:
    """Do something to the machine before a method."""

    def apply(machine: Any) -> None:
        def call(_: Any, real: Real, *given: Any) -> Any:
            act(machine)
            return real(*given)

        method(path, call)(machine)

    return apply


def assigned(path: str, before: Mapping[str, Any] | None = None, after: Mapping[str, Any] | None = None) -> Mistake:
    """Set attributes of the machine, named by their paths, before or after a method; a function gets the machine."""

    def apply(machine: Any) -> None:
        def call(_: Any, real: Real, *given: Any) -> Any:
            _assign(machine, before or {})
            result = real(*given)
            _assign(machine, after or {})
            return result

        method(path, call)(machine)

    return apply


def kept(path: str, *attributes: str) -> Mistake:
    """Let a method leave these attributes of the machine as they were."""

    def apply(machine: Any) -> None:
        def call(_: Any, real: Real, *given: Any) -> Any:
            were = {name: attrgetter(name)(machine) for name in attributes}
            result = real(*given)
            _assign(machine, were)
            return result

        method(path, call)(machine)

    return apply


def _assign(machine: Any, values: Mapping[str, Any]) -> None:
    for path, value in values.items():
        owner, _, name = path.rpartition(".")
        setattr(attrgetter(owner)(machine), name, value(machine) if callable(value) else value)


def wrap(target: Any, name: str, around: Callable[..., Any]) -> None:
    """Replace a method of one object; `around` is called with the real one first."""
    setattr(target, name, partial(around, getattr(target, name)))


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
