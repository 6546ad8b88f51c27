"""What may be said over the control socket: requests, answers and what the box tells by itself. One JSON a line.

docs/box.md describes it for whoever writes a client. No socket here.
"""

from __future__ import annotations

from typing import Any, Final, Literal, Union

import msgspec

from firmware_bridge.decoding import UNDECODABLE
from firmware_bridge.errors import BadRequest, PitboxError
from table_controller.catalogue import catalogue
from table_controller.table import events as ev

# Bytes in a line; far more than any request needs.
MAX_LINE: Final = 64 * 1024
# What people say is bounded: no number that another program could not carry exactly, no text that is more than a line.
MOST: Final = 1 << 53
LONGEST_TEXT: Final = 200
MOST_ITEMS: Final = 16


class Request(msgspec.Struct, frozen=True, tag_field="do", forbid_unknown_fields=True, kw_only=True):
    """Base of all requests; `id` comes back with the answer."""

    id: int = 0


class AskStatus(Request, frozen=True, tag="status"):
    """How does the box stand?"""


class Follow(Request, frozen=True, tag="follow"):
    """Send the table's state now, then every step once it is on disk; with `told`, what the machines tell, too."""

    told: bool = False


class SignOn(Request, frozen=True, tag="sign_on"):
    """Somebody proves who they are; from then on this connection may speak for them."""

    credential: str
    pin: str


class SignOff(Request, frozen=True, tag="sign_off"):
    """Somebody leaves."""

    credential: str


class Say(Request, frozen=True, tag="say"):
    """Somebody says something: one of the people's events, without `who`. `by` and `second` are signed on here."""

    event: dict[str, Any]
    by: str | None = None
    second: str | None = None


class Device(Request, frozen=True, tag="device"):
    """A technician asks or orders one device, through the box."""

    slot: str
    call: str
    arguments: dict[str, Any] = {}
    by: str | None = None


class Enroll(Request, frozen=True, tag="enroll"):
    """A technician and a floorperson enroll a device in a slot; the key before it, if there is one, is revoked."""

    slot: str
    by: str
    second: str
    file: str = ""


class People(Request, frozen=True, tag="people"):
    """Add a credential, revoke one, or give one another PIN; `by` is signed on here and may do that.

    Without an auditor in the people file there is nobody to sign: then the box's own user, or root, may do it.
    """

    change: Literal["add", "pin", "revoke"]
    credential: str
    role: str = ""
    person: str | None = None
    pin: str = ""
    by: str | None = None


class Trace(Request, frozen=True, tag="trace"):
    """Send every frame of these slots (none named: of all) from now on."""

    slots: list[str] = []


class Jam(Request, frozen=True, tag="jam"):
    """How far has the way back of a dossier come? With a `step`: begin it, or tick one, by who is signed on."""

    dossier: int
    step: str | None = None  # begin, leave, path_empty, count, return; what a machine shows ticks by itself
    cards: int | None = None  # with count
    by: str | None = None


class Mended(Request, frozen=True, tag="mended"):
    """Rollers or sensors of a machine were seen to: its wear begins anew. A technician says it."""

    serial: str
    by: str | None = None


REQUESTS: Final = (AskStatus, Follow, SignOn, SignOff, Say, Device, Enroll, People, Trace, Jam, Mended)
_REQUESTS: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(Union[REQUESTS])  # noqa: UP007

# Everything that people may say; the box adds who said it.
PEOPLES: Final = (
    ev.DeckReceived, ev.OpenRound, ev.NoMoreBets, ev.Answer, ev.Declared, ev.Ordered, ev.DealerChanged, ev.SlotOrdered,
    ev.MeterCorrected, ev.MeterReset, ev.MeterParameters, ev.CoverCardOut, ev.MeterClosed, ev.MeterOpened,
    ev.OverflowTransferred, ev.CopyAbsenceConfirmed,
)  # fmt: skip
_BY_NAME: Final = {event.__name__: event for event in PEOPLES}
_TWO: Final = (
    ev.MeterCorrected, ev.MeterReset, ev.MeterParameters, ev.MeterClosed, ev.MeterOpened, ev.OverflowTransferred,
    ev.CopyAbsenceConfirmed,
)  # fmt: skip


def read_request(line: bytes) -> Request:
    """Return the request on a line; BadRequest says what is wrong with it."""
    try:
        found: Request = _REQUESTS.decode(line)
    except UNDECODABLE as error:
        known = ", ".join(request.__struct_config__.tag for request in REQUESTS)  # type: ignore[misc]
        raise BadRequest(f"not a request: {error}; there are: {known}") from error
    return found


def read_event(raw: dict[str, Any], who: ev.Person, second: ev.Person | None) -> ev.Event:
    """Return what was said as the core's event, said by these people and nobody else."""
    claimed = [key for key in ("who", "second") if key in raw]
    if claimed:
        raise BadRequest(f"an event over this socket has no {claimed[0]!r}: whoever is signed on says it")
    kind = _BY_NAME.get(str(raw.get("type")))
    if kind is None:
        raise BadRequest(f"{raw.get('type')!r} is nothing that people say; there are: {', '.join(_BY_NAME)}")
    if kind is ev.CoverCardOut and raw.get("slot") is not None:
        raise BadRequest("CoverCardOut has a slot where a shoe saw it; people say before which seat, or nothing")
    people: dict[str, Any] = {"who": who}
    if kind in _TWO:
        if second is None:
            raise BadRequest(f"{kind.__name__} is said by two people: name the other one as 'second'")
        people["second"] = second
    unknown = [key for key in raw if key not in (*kind.__struct_fields__, "type")]
    if unknown:
        raise BadRequest(f"{kind.__name__} has no {unknown[0]!r}; it has: {', '.join(kind.__struct_fields__)}")
    for key, value in raw.items():
        _check_bounds(f"{kind.__name__}: {key}", value)
    try:
        made: ev.Event = msgspec.convert({**raw, **msgspec.to_builtins(people)}, kind)
    except UNDECODABLE as error:
        raise BadRequest(f"{kind.__name__}: {error}") from error
    return made


def _check_bounds(what: str, value: Any) -> None:
    """Refuse what no person means: the journal keeps it for ever, people read it, and every snapshot carries it."""
    if isinstance(value, int) and not -MOST <= value <= MOST:
        raise BadRequest(f"{what}: a number is {MOST} at most")
    if isinstance(value, str) and not (len(value) <= LONGEST_TEXT and value.isprintable()):
        raise BadRequest(f"{what}: a text has one line and at most {LONGEST_TEXT} characters")
    if isinstance(value, list | tuple):
        if len(value) > MOST_ITEMS:
            raise BadRequest(f"{what}: {MOST_ITEMS} of them at most")
        for each in value:
            _check_bounds(what, each)


def error_body(error: PitboxError) -> dict[str, Any]:
    """Return an error as a client gets it: code, sentence, and what to do."""
    entry = catalogue().get(error.code)
    return {"code": error.code, "text": str(error), "act": entry.act if entry else ""}


def line(what: Any) -> bytes:
    """Return one thing as a line of the socket."""
    return msgspec.json.encode(what) + b"\n"
