"""The requests of the control socket and the events that people may submit. One JSON object a line.

docs/box.md describes it for authors of clients.
"""

from __future__ import annotations

from typing import Any, Final, Literal, Union

import msgspec

from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import BadRequest, PitboxError
from table_controller.catalogue import catalogue
from table_controller.table import events as ev

# The version of the protocol; raised when an old client would misunderstand.
PROTOCOL: Final = 2
# The longest line (bytes); far more than any request needs.
MAX_LINE: Final = 64 * 1024
# Bounds for entries of people: numbers that every program can represent exactly, texts of one line.
LARGEST_NUMBER: Final = 1 << 53
LONGEST_TEXT: Final = 200
MOST_ITEMS: Final = 16


class Request(msgspec.Struct, frozen=True, tag_field="do", forbid_unknown_fields=True, kw_only=True):
    """Base of all requests; `id` comes back with the answer."""

    id: int = 0


class StatusRequest(Request, frozen=True, tag="status"):
    """Return the status of the box."""


class FollowRequest(Request, frozen=True, tag="follow"):
    """Send the state of the table now, then every step that is on disk; with `told`, also the events of machines."""

    device_events: bool = False


class SignOnRequest(Request, frozen=True, tag="sign_on"):
    """Sign a person on; from then on this connection may act for them."""

    credential: str
    pin: str


class SignOffRequest(Request, frozen=True, tag="sign_off"):
    """Sign a person off."""

    credential: str


class SubmitRequest(Request, frozen=True, tag="submit"):
    """Submit an event of a person, without `who`. `by` and `second` are signed on over this connection."""

    event: dict[str, Any]
    by: str | None = None
    second: str | None = None


class DeviceRequest(Request, frozen=True, tag="device"):
    """Ask a device a question, or give it an order of a technician, through the box."""

    slot: str
    call: str
    arguments: dict[str, Any] = {}
    by: str | None = None


class EnrollRequest(Request, frozen=True, tag="enroll"):
    """Enroll a device in a slot, signed by a technician and a floorperson; a previous key is revoked."""

    slot: str
    by: str
    second: str
    file: str = ""


class PeopleRequest(Request, frozen=True, tag="people"):
    """Add or revoke a credential, or change its PIN; `by` is signed on here and has the right to do it.

    While the people file has no auditor, nobody can sign: then the user of the box, or root, may do it.
    """

    change: Literal["add", "pin", "revoke"]
    credential: str
    role: str = ""
    person: str | None = None
    pin: str = ""
    by: str | None = None


class TraceRequest(Request, frozen=True, tag="trace"):
    """Send every frame of these slots (of all slots, if none is named) from now on."""

    slots: list[str] = []


class FaultRequest(Request, frozen=True, tag="fault"):
    """Return the progress of the return to service of a fault report; with `step`, begin it or complete a step."""

    fault_report: int
    step: str | None = None  # begin, leave, path_empty, count, return; other steps complete when the machine reports
    cards: int | None = None  # with count
    by: str | None = None


class WearResetRequest(Request, frozen=True, tag="wear_reset"):
    """Restart the wear history of a machine after a technician serviced its rollers or sensors."""

    serial: str
    by: str | None = None


REQUESTS: Final = (
    StatusRequest,
    FollowRequest,
    SignOnRequest,
    SignOffRequest,
    SubmitRequest,
    DeviceRequest,
    EnrollRequest,
    PeopleRequest,
    TraceRequest,
    FaultRequest,
    WearResetRequest,
)
_REQUESTS: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(Union[REQUESTS])  # noqa: UP007

# Every event that people may submit; the box adds the person.
PERSON_EVENTS: Final = (
    ev.DeckReceived,
    ev.OpenRound,
    ev.NoMoreBets,
    ev.Answer,
    ev.IrregularityReported,
    ev.Ordered,
    ev.DealerChanged,
    ev.SlotOrdered,
    ev.MeterCorrected,
    ev.MeterReset,
    ev.MeterParameters,
    ev.CoverCardOut,
    ev.MeterClosed,
    ev.MeterOpened,
    ev.OverflowTransferred,
    ev.CopyAbsenceConfirmed,
)
_BY_NAME: Final[dict[str, type[ev.Event]]] = {event.__name__: event for event in PERSON_EVENTS}
_TWO: Final = (
    ev.MeterCorrected, ev.MeterReset, ev.MeterParameters, ev.MeterClosed, ev.MeterOpened, ev.OverflowTransferred,
    ev.CopyAbsenceConfirmed,
)  # fmt: skip


def read_request(line: bytes) -> Request:
    """Return the request on a line; raise BadRequest with the problem."""
    try:
        decoded: Request = _REQUESTS.decode(line)
    except UNDECODABLE as error:
        known = ", ".join(request.__struct_config__.tag for request in REQUESTS)  # type: ignore[misc]
        raise BadRequest(f"not a request: {error}; requests: {known}") from error
    return decoded


def read_event(raw: dict[str, Any], who: ev.Person, second: ev.Person | None) -> ev.Event:
    """Return an event for the core, submitted by these people and nobody else."""
    claimed = [key for key in ("who", "second") if key in raw]
    if claimed:
        raise BadRequest(f"an event over this socket has no {claimed[0]!r}: the box adds the signed-on person")
    kind: type[ev.Event] | None = _BY_NAME.get(str(raw.get("type")))
    if kind is None:
        raise BadRequest(f"{raw.get('type')!r} is not an event that people submit; events: {', '.join(_BY_NAME)}")
    if kind is ev.CoverCardOut and raw.get("slot") is not None:
        raise BadRequest("CoverCardOut has a slot only when a shoe reports it; people may name the seat")
    people: dict[str, Any] = {"who": who}
    if kind in _TWO:
        if second is None:
            raise BadRequest(f"{kind.__name__} needs two people: name the other one as 'second'")
        people["second"] = second
    unknown = [key for key in raw if key not in (*kind.__struct_fields__, "type")]
    if unknown:
        raise BadRequest(f"{kind.__name__} has no {unknown[0]!r}; it has: {', '.join(kind.__struct_fields__)}")
    for key, value in raw.items():
        _check_bounds(f"{kind.__name__}: {key}", value)
    try:
        return msgspec.convert({**raw, **msgspec.to_builtins(people)}, kind)
    except UNDECODABLE as error:
        raise BadRequest(f"{kind.__name__}: {error}") from error


def _check_bounds(what: str, value: Any) -> None:
    """Refuse values that are too large: the journal and its snapshots would keep them forever."""
    if isinstance(value, int) and not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:
        raise BadRequest(f"{what}: a number is at most {LARGEST_NUMBER}")
    if isinstance(value, str) and not (len(value) <= LONGEST_TEXT and value.isprintable()):
        raise BadRequest(f"{what}: a text has one line and at most {LONGEST_TEXT} characters")
    if isinstance(value, list | tuple):
        if len(value) > MOST_ITEMS:
            raise BadRequest(f"{what}: a list has at most {MOST_ITEMS} items")
        for each in value:
            _check_bounds(what, each)


def error_body(error: PitboxError) -> dict[str, Any]:
    """Return an error for a client: code, sentence, and what to do."""
    entry = catalogue().get(error.code)
    return {"code": error.code, "text": str(error), "act": entry.act if entry else ""}


def encode_line(what: Any) -> bytes:
    """Return an object as a line of the socket."""
    return msgspec.json.encode(what) + b"\n"
