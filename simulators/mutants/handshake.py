"""Mutants of the handshake (HS)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge import frame as fr
from firmware_bridge import seal
from firmware_bridge.errors import LinkError
from firmware_bridge.link import HEARTBEAT_S
from firmware_bridge.messages import HostHello, HostProof, NoSession, Refuse
from simulators.mutants.mutant_tools import (
    Mistake,
    MutantGroup,
    Real,
    each_boot,
    each_session,
    kept,
    method,
    replaced,
    skipped,
)

if TYPE_CHECKING:
    from collections.abc import Callable


GROUP: Final = MutantGroup()
row: Final = GROUP.row


def greeter_with(**fields: Callable[[Any], Any]) -> Mistake:
    """Change attributes of the greeter after every boot; each function gets the greeter."""

    def spoil(greeter: Any) -> None:
        for name, make in fields.items():
            setattr(greeter, name, make(greeter))

    return lambda machine: each_boot(machine, spoil)


@GROUP.method("greeter._take_hello", "HS-01")
def proof_before_hello(greeter: Any, real: Real, message: HostHello, payload: bytes) -> None:
    """Its proof goes out before its hello."""
    held: list[tuple[bytes, ...]] = []
    wire = greeter._wire
    send = wire.send
    wire.send = lambda *frame: held.append(frame)
    real(message, payload)
    wire.send = send
    for frame in reversed(held):
        wire.send(*frame)


row("HS-02", "name-too-long", "Its model's name has 40 letters.",
    greeter_with(_identity=lambda greeter: replaced(greeter._identity, model="M" * 40)))  # fmt: skip
row("HS-03", "proof-of-another-key", "Its proof is that of another key.",
    greeter_with(_key=lambda greeter: bytes(byte ^ 1 for byte in greeter._key)))  # fmt: skip
row("HS-04", "no-welcome", "It never sends Welcome.", skipped("greeter._take_proof"))
row("HS-05", "same-challenge", "Its entropy has run dry: every challenge is the same.",
    method("greeter._entropy", lambda _, __, size: bytes(range(size))), also="HS-10")  # fmt: skip


@GROUP.method("greeter._take_hello", "HS-06")
def new_challenge_for_repeated_hello(greeter: Any, real: Real, message: HostHello, payload: bytes) -> None:
    """A repeated hello gets a new challenge."""
    greeter._asked = b""
    real(message, payload)


@GROUP.method("greeter._send_welcome", "HS-07")
def counter_starts_at_one(_: Any, real: Real, sealer: seal.Sealer) -> None:
    """Its counter starts at 1."""
    if sealer.counter == fr.FIRST_COUNTER:
        sealer.counter = 1
    real(sealer)


@GROUP.method("greeter._take_proof", "HS-08")
def refuses_repeated_proof(greeter: Any, real: Real, message: HostProof) -> None:
    """A repeated proof is refused."""
    if greeter._link is not None and message.proof == greeter._opened_by:
        greeter._send_unsealed(Refuse(315))
    else:
        real(message)


@GROUP.method("greeter._take_proof", "HS-09", also="HS-11")
def takes_any_proof(greeter: Any, real: Real, message: HostProof) -> None:
    """Any proof opens a session."""
    real(HostProof(seal.host_proof(greeter._key, greeter._bound)) if greeter._asked else message)


row(
    "HS-09",
    "refuses-with-another-reason",
    "It refuses with another reason.",
    method(
        "greeter._send_unsealed", lambda _, real, message: real(Refuse(1) if isinstance(message, Refuse) else message)
    ),
)
row("HS-10", "challenge-serves-again", "A challenge is not used up: a recorded handshake opens a session.",
    kept("greeter._take_proof", "board._greeter._asked"), also="HS-14")  # fmt: skip


@GROUP.method("greeter._take_hello", "HS-11")
def hello_ends_session(greeter: Any, real: Real, message: HostHello, payload: bytes) -> None:
    """Any hello ends the session."""
    greeter.end_session(LinkError("a host sent a hello"))
    real(message, payload)


class _EitherOpener:
    """Accepts what one of two openers accepts."""

    def __init__(self, one: Any, other: Any) -> None:
        self._openers = [opener for opener in (one, other) if opener is not None]
        self.forged = self.replayed = 0

    def accepts(self, frame: fr.Frame) -> bool:
        return any(opener.accepts(frame) for opener in self._openers)


@GROUP.mutant("HS-12")
def old_keys_still_open(machine: Any) -> None:
    """The keys of the session before are still good."""
    before: list[Any] = [None]

    def spoil(link: Any) -> None:
        own = link._opener
        link._opener = _EitherOpener(own, before[0])
        before[0] = own

    each_session(machine, spoil)


row("HS-13", "no-word-without-session", "Without a session it does not answer sealed frames.",
    skipped("greeter.receive", lambda _, frame: frame.flags & fr.SEALED))  # fmt: skip


@GROUP.method("greeter._take_proof", "HS-14")
def refuses_proof_out_of_nowhere(greeter: Any, real: Real, message: HostProof) -> None:
    """A proof that it did not ask for is refused."""
    if not greeter._asked and greeter._link is None:
        greeter._send_unsealed(Refuse(315))
    else:
        real(message)


@GROUP.mutant("HS-15")
def pings_without_session(machine: Any) -> None:
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


@GROUP.method("greeter.receive", "HS-16")
def any_role(greeter: Any, real: Real, frame: fr.Frame) -> None:
    """It answers hosts in any role."""
    fields = _loosely(frame)
    if len(fields) == 3 and fields[1] not in ("bench", "table"):
        greeter._take_hello(HostHello("bench", fields[2]), frame.payload)
    else:
        real(frame)


@GROUP.method("greeter.receive", "HS-17")
def hello_with_more_fields(greeter: Any, real: Real, frame: fr.Frame) -> None:
    """It answers hellos with a field too many."""
    fields = _loosely(frame)
    if len(fields) > 3:
        greeter._take_hello(HostHello("bench", fields[2]), frame.payload)
    else:
        real(frame)


@GROUP.method("greeter._send_unsealed", "HS-18")
def another_boot_in_no_session(_: Any, real: Real, message: Any) -> None:
    """NoSession names another boot."""
    real(NoSession(message.boot_id ^ 1) if isinstance(message, NoSession) else message)
