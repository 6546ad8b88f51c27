"""Requests as JSON: reads a line of the control socket or the body of a page's request, and encodes answers.

Around the fields of a request are those of its envelope: a connection adds `id`, a page adds `n`, and both name the
signers, the connection by credentials that are signed on over it, the page by credentials that it shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Generic, NamedTuple, TypeVar

import msgspec
from msgspec import Meta

from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import BadRequest, PitboxError
from table_controller.access.requests import BY_NAME, LARGEST_NUMBER, AnyRequest, ShownCredential, texts_of
from table_controller.catalogue import catalogue

if TYPE_CHECKING:
    from collections.abc import Mapping

# Version of the control socket's requests and answers; docs/versioning.md explains when it is raised.
PROTOCOL: Final = 3
# The longest line (bytes); far more than any request needs.
MAX_LINE: Final = 64 * 1024
# The requests of protocol 2, each with the one that replaces it: events that `submit` named, and steps of `fault`.
_FORMER_EVENTS: Final = {
    "DeckReceived": "deck", "OpenRound": "open_round", "NoMoreBets": "no_more_bets", "Answer": "answer",
    "IrregularityReported": "report", "Ordered": "order", "DealerChanged": "dealer_changed", "SlotOrdered": "slot",
    "MeterCorrected": "correct_meter", "MeterReset": "reset_meter", "MeterParameters": "set_meter",
    "CoverCardOut": "cover_card", "MeterClosed": "close_meter", "MeterOpened": "open_meter",
    "OverflowTransferred": "transfer_overflow", "CopyAbsenceConfirmed": "confirm_copy_absent",
}  # fmt: skip


class LineEnvelope(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a line of the control socket adds: `id` comes back with the answer; the signers are signed on here."""

    id: int = 0
    by: str | None = None
    second: str | None = None


class PageEnvelope(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a page adds: the request's number, larger than any before, and the credentials that it shows.

    `by` signs instead of the person who is signed on; `second` is the second of two people.
    """

    n: Annotated[int, Meta(ge=1, le=LARGEST_NUMBER)]
    by: ShownCredential | None = None
    second: ShownCredential | None = None


E = TypeVar("E", LineEnvelope, PageEnvelope)
R = TypeVar("R", bound=AnyRequest)


class ReceivedRequest(NamedTuple, Generic[E, R]):
    """A request with its envelope."""

    envelope: E
    request: R


def read_request(data: bytes, envelope: type[E], known: Mapping[str, type[R]]) -> ReceivedRequest[E, R]:
    """Return one of the known requests in a line or a body, within its limits; raise BadRequest with the problem."""
    try:
        fields = msgspec.json.decode(data, type=dict[str, Any])
        outer = {name: fields.pop(name) for name in envelope.__struct_fields__ if name in fields}
        received = ReceivedRequest(msgspec.convert(outer, envelope), msgspec.convert(fields, _kind_of(fields, known)))
    except UNDECODABLE as error:
        raise BadRequest(f"not a request: {error}") from error
    for text in texts_of(received.request):
        if not text.isprintable():
            raise BadRequest(f"not a request: {text!r} has characters that cannot be printed on one line")
    return received


def read_line(line: bytes) -> ReceivedRequest[LineEnvelope, AnyRequest]:
    """Return the request on a line of the control socket."""
    return read_request(line, LineEnvelope, BY_NAME)


class _Numbered(msgspec.Struct):
    id: int = 0


def number_of(line: bytes) -> dict[str, int]:
    """Return the `id` of a line that is no request, so that its sender knows which one was refused."""
    try:
        number = msgspec.json.decode(line, type=_Numbered).id
    except UNDECODABLE:
        return {}
    return {"id": number} if number else {}


def _kind_of(fields: dict[str, Any], known: Mapping[str, type[R]]) -> type[R]:
    """Return the type of the request that `do` names; raise BadRequest with the one that replaced a former name."""
    do = fields.get("do")
    if do == "submit" or (do == "fault" and "step" in fields):
        event = fields.get("event")
        former = str(event.get("type")) if isinstance(event, dict) else ""
        name = "return_step" if do == "fault" else _FORMER_EVENTS.get(former, "open_round")
        raise BadRequest(
            f"since protocol {PROTOCOL} there is no {do!r} for this: send {name!r} as `do`, with its fields"
        )
    kind = known.get(do) if isinstance(do, str) else None
    if kind is None:
        raise BadRequest(f"{do!r} is not a request; requests: {', '.join(known)}")
    return kind


def error_body(error: PitboxError) -> dict[str, Any]:
    """Return an error for a client: code, sentence, and what to do."""
    entry = catalogue().get(error.code)
    return {"code": error.code, "text": str(error), "act": entry.act if entry else ""}


def encode_line(what: Any) -> bytes:
    """Return an object as a line of the socket."""
    return msgspec.json.encode(what) + b"\n"
