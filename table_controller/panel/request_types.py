"""The requests of a page: their types, the roles that may send them, and the events that they become.

The core decides. This module refuses only what no state of the table would allow: a wrong role, or an answer to a
question that is not open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec
from msgspec import Meta

from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_controller.table.decisions import Prompt

ShortText = Annotated[str, Meta(min_length=1, max_length=64)]
Seat = Annotated[int, Meta(ge=1, le=6)]
Document = Annotated[str, Meta(min_length=1, max_length=200)]


class ShownCredential(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A credential that comes with the request itself."""

    id: Annotated[str, Meta(max_length=64)]
    pin: Annotated[str, Meta(max_length=128)]

    def __repr__(self) -> str:
        """Never show the PIN."""
        return f"Who({self.id!r})"


class PageRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="act"):
    """Base of all requests: its number on this page, larger than any before, and credentials if it needs them.

    `by` signs instead of the person who is signed on; `second` is the second of two people.
    """

    n: Annotated[int, Meta(ge=1, le=1 << 53)]
    by: ShownCredential | None = None
    second: ShownCredential | None = None


class AnswerRequest(PageRequest, frozen=True, tag="answer", kw_only=True):
    """Answer a question."""

    prompt: int
    choice: ShortText
    number: Annotated[int, Meta(ge=0, le=1_000_000_000)] | None = None
    seats: Annotated[tuple[Seat, ...], Meta(max_length=6)] = ()


class OpenRoundRequest(PageRequest, frozen=True, tag="open_round"):
    """Open a round."""


class NoMoreBetsRequest(PageRequest, frozen=True, tag="no_more_bets"):
    """Call no more bets."""


class AddDeckRequest(PageRequest, frozen=True, tag="deck", kw_only=True):
    """Add a deck to the table."""

    deck: ShortText
    preshuffled: bool = False
    two_jokers: bool = False


class ReportRequest(PageRequest, frozen=True, tag="report", kw_only=True):
    """Report an irregularity that only people can see."""

    trigger: ShortText
    seat: Seat | None = None
    deck: ShortText | None = None
    slot: ShortText | None = None


class OrderRequest(PageRequest, frozen=True, tag="order", kw_only=True):
    """Give a floorperson's order."""

    order: Literal[
        "reshuffle", "recut", "remove_deck", "table_idle", "dealing_method", "start_method", "shuffle_by_hand",
        "shuffle_by_machine", "readmit",
    ]  # fmt: skip
    deck: ShortText | None = None
    method: ShortText | None = None
    seat: Seat | None = None


class SlotOrderRequest(PageRequest, frozen=True, tag="slot", kw_only=True):
    """Change the service state of a device."""

    slot: ShortText
    order: Literal["give_up", "sign", "repair", "clear", "acknowledge"]


class CorrectMeterRequest(PageRequest, frozen=True, tag="correct_meter", kw_only=True):
    """Correct the meter by an amount (micro-dollars)."""

    amount: Annotated[int, Meta(ge=-(10**15), le=10**15)]
    document: Document
    ground: ShortText
    reason: ShortText
    counterpart: Annotated[str, Meta(max_length=200)] = ""


class ResetMeterRequest(PageRequest, frozen=True, tag="reset_meter", kw_only=True):
    """Reset the meter to its seed."""

    document: Document
    ground: ShortText
    reason: ShortText
    counterpart: Annotated[str, Meta(max_length=200)] = ""


class CloseMeterRequest(PageRequest, frozen=True, tag="close_meter", kw_only=True):
    """Close the meter to play."""

    document: Document


class OpenMeterRequest(PageRequest, frozen=True, tag="open_meter", kw_only=True):
    """Open the meter to play again."""

    document: Document


class TransferOverflowRequest(PageRequest, frozen=True, tag="transfer_overflow", kw_only=True):
    """Transfer an amount of the overflow (micro-dollars) to the meter."""

    amount: Annotated[int, Meta(ge=1, le=10**15)]
    document: Document


class ConfirmCopyAbsentRequest(PageRequest, frozen=True, tag="confirm_copy_absent", kw_only=True):
    """Confirm that the second copy is unreachable and that no other box was restored from it."""

    document: Annotated[str, Meta(min_length=1, max_length=200)]


class SetMeterRequest(PageRequest, frozen=True, tag="set_meter", kw_only=True):
    """Set the rate of progression (basis points) or the limit of the meter."""

    document: Document
    rate_bp: Annotated[int, Meta(ge=1, le=10_000)] | None = None
    limit_cents: Annotated[int, Meta(ge=1, le=10**12)] | None = None
    submission: Annotated[str, Meta(max_length=200)] = ""


class CoverCardRequest(PageRequest, frozen=True, tag="cover_card", kw_only=True):
    """Report that the cover card came out."""

    seat: Seat | None = None


MeterRequest = (
    CorrectMeterRequest
    | ResetMeterRequest
    | SetMeterRequest
    | CloseMeterRequest
    | OpenMeterRequest
    | TransferOverflowRequest
)
TableRequest = (
    AnswerRequest
    | OpenRoundRequest
    | NoMoreBetsRequest
    | AddDeckRequest
    | ReportRequest
    | OrderRequest
    | SlotOrderRequest
    | CorrectMeterRequest
    | ResetMeterRequest
    | SetMeterRequest
    | CloseMeterRequest
    | OpenMeterRequest
    | TransferOverflowRequest
    | CoverCardRequest
    | ConfirmCopyAbsentRequest
)
TABLE_REQUESTS: Final = msgspec.json.Decoder(TableRequest)


class ReturnStepRequest(PageRequest, frozen=True, tag="step", kw_only=True):
    """Begin the return to service of a fault report, or complete one of its steps. No event of the table."""

    report: int
    step: ShortText
    cards: Annotated[int, Meta(ge=0, le=9999)] | None = None


RETURN_STEP_REQUESTS: Final = msgspec.json.Decoder(ReturnStepRequest)


class DeviceOrderRequest(PageRequest, frozen=True, tag="device", kw_only=True):
    """A technician's order to a machine. No event of the table; the journal records it as a note."""

    slot: ShortText
    call: ShortText
    arguments: dict[ShortText, int | bool | ShortText] = {}


DEVICE_ORDER_REQUESTS: Final = msgspec.json.Decoder(DeviceOrderRequest)

# The roles that may send each request; an answer is for the role of its question.
ROLES: Final[dict[type[PageRequest], tuple[str, ...]]] = {
    OpenRoundRequest: ("dealer",),
    NoMoreBetsRequest: ("dealer",),
    AddDeckRequest: ("dealer", "floorperson"),
    ReportRequest: ("dealer", "floorperson"),
    OrderRequest: ("floorperson",),
    SlotOrderRequest: ("floorperson", "technician"),
    CorrectMeterRequest: ("floorperson",),
    ResetMeterRequest: ("floorperson",),
    SetMeterRequest: ("technician",),
    CloseMeterRequest: ("floorperson",),
    OpenMeterRequest: ("floorperson",),
    TransferOverflowRequest: ("floorperson",),
    ConfirmCopyAbsentRequest: ("floorperson",),
    CoverCardRequest: ("dealer", "floorperson"),
}
# These roles sign each request with the PIN, even when they are signed on.
ROLES_WITH_PIN_EACH_TIME: Final = ("floorperson", "auditor")
# These requests are signed with the PIN by every role.
REQUESTS_WITH_PIN_EACH_TIME: Final = (DeviceOrderRequest,)
TWO_PERSON_REQUESTS: Final = (
    CorrectMeterRequest,
    ResetMeterRequest,
    SetMeterRequest,
    CloseMeterRequest,
    OpenMeterRequest,
    TransferOverflowRequest,
    ConfirmCopyAbsentRequest,
)


def roles_for(request: TableRequest, prompts: Mapping[int, Prompt]) -> tuple[str, ...]:
    """Return the roles that may send a request; none if it answers a question that is not open."""
    if isinstance(request, AnswerRequest):
        prompt = prompts.get(request.prompt)
        return () if prompt is None else (prompt.role,)
    return ROLES[type(request)]


def to_event(request: TableRequest, who: ev.Person, second: ev.Person | None) -> ev.Event:
    """Return the event of a request, with the people who signed it."""
    match request:
        case AnswerRequest():
            return ev.Answer(request.prompt, request.choice, who, request.number, request.seats)
        case OpenRoundRequest():
            return ev.OpenRound(who)
        case NoMoreBetsRequest():
            return ev.NoMoreBets(who)
        case AddDeckRequest():
            return ev.DeckReceived(request.deck, who, request.preshuffled, request.two_jokers)
        case ReportRequest():
            return ev.IrregularityReported(request.trigger, who, request.seat, request.deck, request.slot)
        case OrderRequest():
            return ev.Ordered(request.order, who, request.deck, request.method, request.seat)
        case SlotOrderRequest():
            return ev.SlotOrdered(request.slot, request.order, who)
        case ConfirmCopyAbsentRequest():
            assert second is not None
            return ev.CopyAbsenceConfirmed(request.document, who, second)
        case CoverCardRequest():
            return ev.CoverCardOut(seat=request.seat, who=who)
        case _:
            assert second is not None
            return _meter_event(request, who, second)


def _meter_event(request: MeterRequest, who: ev.Person, second: ev.Person) -> ev.Event:
    """Return the event of a request about the meter that two people signed."""
    match request:
        case CorrectMeterRequest():
            why = (request.ground, request.reason, request.counterpart)
            return ev.MeterCorrected(request.amount, request.document, who, second, *why)
        case ResetMeterRequest():
            why = (request.ground, request.reason, request.counterpart)
            return ev.MeterReset(request.document, who, second, *why)
        case SetMeterRequest():
            return ev.MeterParameters(
                request.document, who, second, request.rate_bp, request.limit_cents, request.submission
            )
        case CloseMeterRequest():
            return ev.MeterClosed(request.document, who, second)
        case OpenMeterRequest():
            return ev.MeterOpened(request.document, who, second)
        case TransferOverflowRequest():
            return ev.OverflowTransferred(request.amount, request.document, who, second)
