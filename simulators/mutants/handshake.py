"""Mutants of the handshake (HS)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge import frame as fr
from firmware_bridge import seal
from firmware_bridge.errors import LinkError
from firmware_bridge.link import HEARTBEAT_S
from firmware_bridge.messages import HostHello, HostProof, NoSession, Refuse
from simulators.mutants.mutant_tools import MutantGroup, each_boot, each_session, replaced, wrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.engine.machine import SimulatedMachine

GROUP: Final = MutantGroup()


@GROUP.mutant("HS-01")
def proof_before_hello(machine: SimulatedMachine) -> None:
    """Its proof goes out before its hello."""

    def spoil(greeter: Any) -> None:
        def handle(real: Callable[..., None], message: HostHello, payload: bytes) -> None:
            held: list[tuple[bytes, ...]] = []
            wire = greeter._wire
            send = wire.send
            wire.send = lambda *frame: held.append(frame)
            real(message, payload)
            wire.send = send
            for frame in reversed(held):
                wire.send(*frame)

        wrap(greeter, "_take_hello", handle)

    each_boot(machine, spoil)


@GROUP.mutant("HS-02")
def name_too_long(machine: SimulatedMachine) -> None:
    """Its model's name has 40 letters."""

    def spoil(greeter: Any) -> None:
        greeter._identity = replaced(greeter._identity, model="M" * 40)

    each_boot(machine, spoil)


@GROUP.mutant("HS-03")
def proof_of_another_key(machine: SimulatedMachine) -> None:
    """Its proof is that of another key."""

    def spoil(greeter: Any) -> None:
        greeter._key = bytes(byte ^ 1 for byte in greeter._key)

    each_boot(machine, spoil)


@GROUP.mutant("HS-04")
def no_welcome(machine: SimulatedMachine) -> None:
    """It never sends Welcome."""
    each_boot(machine, lambda greeter: setattr(greeter, "_take_proof", lambda _: None))


@GROUP.mutant("HS-05", also="HS-10")
def same_challenge(machine: SimulatedMachine) -> None:
    """Its entropy has run dry: every challenge is the same."""
    each_boot(machine, lambda greeter: setattr(greeter, "_entropy", lambda size: bytes(range(size))))


@GROUP.mutant("HS-06")
def new_challenge_for_repeated_hello(machine: SimulatedMachine) -> None:
    """A repeated hello gets a new challenge."""

    def spoil(greeter: Any) -> None:
        def handle(real: Callable[..., None], message: HostHello, payload: bytes) -> None:
            greeter._asked = b""
            real(message, payload)

        wrap(greeter, "_take_hello", handle)

    each_boot(machine, spoil)


@GROUP.mutant("HS-07")
def counter_starts_at_one(machine: SimulatedMachine) -> None:
    """Its counter starts at 1."""

    def spoil(greeter: Any) -> None:
        def welcome(real: Callable[..., None], sealer: seal.Sealer) -> None:
            if sealer.counter == fr.FIRST_COUNTER:
                sealer.counter = 1
            real(sealer)

        wrap(greeter, "_send_welcome", welcome)

    each_boot(machine, spoil)


@GROUP.mutant("HS-08")
def refuses_repeated_proof(machine: SimulatedMachine) -> None:
    """A repeated proof is refused."""

    def spoil(greeter: Any) -> None:
        def handle(real: Callable[..., None], message: HostProof) -> None:
            if greeter._link is not None and message.proof == greeter._opened_by:
                greeter._send_unsealed(Refuse(315))
            else:
                real(message)

        wrap(greeter, "_take_proof", handle)

    each_boot(machine, spoil)


@GROUP.mutant("HS-09", also="HS-11")
def takes_any_proof(machine: SimulatedMachine) -> None:
    """Any proof opens a session."""

    def spoil(greeter: Any) -> None:
        def handle(real: Callable[..., None], message: HostProof) -> None:
            real(HostProof(seal.host_proof(greeter._key, greeter._bound)) if greeter._asked else message)

        wrap(greeter, "_take_proof", handle)

    each_boot(machine, spoil)


@GROUP.mutant("HS-09")
def refuses_with_another_reason(machine: SimulatedMachine) -> None:
    """It refuses with another reason."""

    def spoil(greeter: Any) -> None:
        def send(real: Callable[..., None], message: Any) -> None:
            real(Refuse(1) if isinstance(message, Refuse) else message)

        wrap(greeter, "_send_unsealed", send)

    each_boot(machine, spoil)


@GROUP.mutant("HS-10", also="HS-14")
def challenge_serves_again(machine: SimulatedMachine) -> None:
    """A challenge is not used up: a recorded handshake opens a session."""

    def spoil(greeter: Any) -> None:
        def handle(real: Callable[..., None], message: HostProof) -> None:
            asked = greeter._asked
            real(message)
            greeter._asked = asked

        wrap(greeter, "_take_proof", handle)

    each_boot(machine, spoil)


@GROUP.mutant("HS-11")
def hello_ends_session(machine: SimulatedMachine) -> None:
    """Any hello ends the session."""

    def spoil(greeter: Any) -> None:
        def handle(real: Callable[..., None], message: HostHello, payload: bytes) -> None:
            greeter.end_session(LinkError("a host sent a hello"))
            real(message, payload)

        wrap(greeter, "_take_hello", handle)

    each_boot(machine, spoil)


class _EitherOpener:
    """Accepts what one of two openers accepts."""

    def __init__(self, one: Any, other: Any) -> None:
        self._openers = [opener for opener in (one, other) if opener is not None]
        self.forged = self.replayed = 0

    def accepts(self, frame: fr.Frame) -> bool:
        return any(opener.accepts(frame) for opener in self._openers)


@GROUP.mutant("HS-12")
def old_keys_still_open(machine: SimulatedMachine) -> None:
    """The keys of the session before are still good."""
    before: list[Any] = [None]

    def spoil(link: Any) -> None:
        own = link._opener
        link._opener = _EitherOpener(own, before[0])
        before[0] = own

    each_session(machine, spoil)


def each_sealed(machine: SimulatedMachine, handle_frame: Callable[[Any, Callable[..., None], fr.Frame], None]) -> None:
    """Change how frames outside a session are handled."""

    def spoil(greeter: Any) -> None:
        wrap(greeter, "receive", lambda real, frame: handle_frame(greeter, real, frame))

    each_boot(machine, spoil)


@GROUP.mutant("HS-13")
def no_word_without_session(machine: SimulatedMachine) -> None:
    """Without a session it does not answer sealed frames."""

    def handle(_: Any, real: Callable[..., None], frame: fr.Frame) -> None:
        if not frame.flags & fr.SEALED:
            real(frame)

    each_sealed(machine, handle)


@GROUP.mutant("HS-14")
def refuses_proof_out_of_nowhere(machine: SimulatedMachine) -> None:
    """A proof that it did not ask for is refused."""

    def spoil(greeter: Any) -> None:
        def handle(real: Callable[..., None], message: HostProof) -> None:
            if not greeter._asked and greeter._link is None:
                greeter._send_unsealed(Refuse(315))
            else:
                real(message)

        wrap(greeter, "_take_proof", handle)

    each_boot(machine, spoil)


@GROUP.mutant("HS-15")
def pings_without_session(machine: SimulatedMachine) -> None:
    """Its heartbeat goes on after its session has ended."""

    def spoil(greeter: Any) -> None:
        def beat() -> None:
            if greeter._link is None:
                head = fr.pack_header(fr.SEALED, fr.PING, 0, fr.FIRST_SEQ, fr.NO_RE, fr.FIRST_COUNTER)
                greeter._wire.send(head, bytes(fr.MAC_SIZE))
            machine.clock.after(HEARTBEAT_S, beat)

        machine.clock.after(HEARTBEAT_S, beat)

    each_boot(machine, spoil)


def _loosely(frame: fr.Frame) -> list[Any]:
    try:
        fields = msgspec.msgpack.decode(frame.payload)
    except msgspec.MsgspecError:
        return []
    is_hello = isinstance(fields, list) and len(fields) >= 3 and fields[0] == 1 and not frame.flags & fr.SEALED
    return fields if is_hello else []


@GROUP.mutant("HS-16")
def any_role(machine: SimulatedMachine) -> None:
    """It answers hosts in any role."""

    def handle(greeter: Any, real: Callable[..., None], frame: fr.Frame) -> None:
        fields = _loosely(frame)
        if len(fields) == 3 and fields[1] not in ("bench", "table"):
            greeter._take_hello(HostHello("bench", fields[2]), frame.payload)
        else:
            real(frame)

    each_sealed(machine, handle)


@GROUP.mutant("HS-17")
def hello_with_more_fields(machine: SimulatedMachine) -> None:
    """It answers hellos with a field too many."""

    def handle(greeter: Any, real: Callable[..., None], frame: fr.Frame) -> None:
        fields = _loosely(frame)
        if len(fields) > 3:
            greeter._take_hello(HostHello("bench", fields[2]), frame.payload)
        else:
            real(frame)

    each_sealed(machine, handle)


@GROUP.mutant("HS-18")
def another_boot_in_no_session(machine: SimulatedMachine) -> None:
    """NoSession names another boot."""

    def spoil(greeter: Any) -> None:
        def send(real: Callable[..., None], message: Any) -> None:
            real(NoSession(message.boot_id ^ 1) if isinstance(message, NoSession) else message)

        wrap(greeter, "_send_unsealed", send)

    each_boot(machine, spoil)
