"""The requests that people and programs send to a box: one type for each, with its fields and their limits.

Pages, the control socket and the commands all send these. Who signs a request is in `request_rules`; its number and
the names of its signers are in the envelope (`request_json`). docs/box.md lists every request.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, get_args

import msgspec
from msgspec import Meta

# Bounds of what people enter: numbers that every program can represent exactly, and texts of one line. The journal
# and its snapshots keep them forever.
LARGEST_NUMBER: Final = 1 << 53
LARGEST_AMOUNT: Final = 10**15

ShortText = Annotated[str, Meta(min_length=1, max_length=64)]
LongText = Annotated[str, Meta(max_length=200)]
Document = Annotated[str, Meta(min_length=1, max_length=200)]
Seat = Annotated[int, Meta(ge=1, le=6)]
Number = Annotated[int, Meta(ge=0, le=LARGEST_NUMBER)]
Pin = Annotated[str, Meta(max_length=128)]


class Request(
    msgspec.Struct, frozen=True, tag_field="do", forbid_unknown_fields=True, kw_only=True, omit_defaults=True
):
    """Base of all requests; `do` names the request."""

    @classmethod
    def name(cls) -> str:
        """Return the name of this request: the value of `do`."""
        return str(cls.__struct_config__.tag)

    def __repr__(self) -> str:
        """Never show a PIN."""
        fields = (f"{name}={getattr(self, name)!r}" for name in self.__struct_fields__ if name != "pin")
        return f"{type(self).__name__}({', '.join(fields)})"


class ShownCredential(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A credential that comes with the request itself."""

    id: Annotated[str, Meta(max_length=64)]
    pin: Pin

    def __repr__(self) -> str:
        """Never show the PIN."""
        return f"ShownCredential({self.id!r})"


# --- questions, and what belongs to a connection ----------------------------------------------------------------------


class StatusRequest(Request, frozen=True, tag="status"):
    """Return the status of the box."""


class FollowRequest(Request, frozen=True, tag="follow"):
    """Send the table's state now, then every step that is on disk; with `device_events`, also events of machines."""

    device_events: bool = False


class TraceRequest(Request, frozen=True, tag="trace"):
    """Send every frame of these slots (of all slots, if none is named) from now on."""

    slots: tuple[ShortText, ...] = ()


class SignOnRequest(Request, frozen=True, tag="sign_on"):
    """Sign a person on; from then on this connection may act for them."""

    credential: Annotated[str, Meta(max_length=64)]
    pin: Pin


class SignOffRequest(Request, frozen=True, tag="sign_off"):
    """Sign a person off."""

    credential: Annotated[str, Meta(max_length=64)]


# --- the table: each of these becomes an event of the core ------------------------------------------------------------


class AnswerRequest(Request, frozen=True, tag="answer"):
    """Answer a prompt with one of its choices, and a number or seats where it asks for them."""

    prompt: Number
    choice: ShortText
    number: Annotated[int, Meta(ge=0, le=1_000_000_000)] | None = None
    seats: Annotated[tuple[Seat, ...], Meta(max_length=6)] = ()


class OpenRoundRequest(Request, frozen=True, tag="open_round"):
    """Open a round."""


class NoMoreBetsRequest(Request, frozen=True, tag="no_more_bets"):
    """Call no more bets."""


class AddDeckRequest(Request, frozen=True, tag="deck"):
    """Add a deck to the table; its back color is its name."""

    deck: ShortText
    preshuffled: bool = False
    two_jokers: bool = False
    maker: Annotated[str, Meta(max_length=64)] = ""


class ReportRequest(Request, frozen=True, tag="report"):
    """Report an irregularity that only people can see."""

    trigger: ShortText
    seat: Seat | None = None
    deck: ShortText | None = None
    slot: ShortText | None = None


class OrderRequest(Request, frozen=True, tag="order"):
    """Give a floorperson's order."""

    order: Literal[
        "reshuffle", "recut", "remove_deck", "table_idle", "dealing_method", "start_method", "shuffle_by_hand",
        "shuffle_by_machine", "readmit",
    ]  # fmt: skip
    deck: ShortText | None = None
    method: ShortText | None = None
    seat: Seat | None = None


class SlotOrderRequest(Request, frozen=True, tag="slot"):
    """Change the service state of a device: take it out of service, sign, repair, clear or return it."""

    slot: ShortText
    act: Literal["give_up", "sign", "repair", "clear", "acknowledge"]


class ChangeDealerRequest(Request, frozen=True, tag="dealer_changed"):
    """Take over the table as its dealer."""


class CoverCardRequest(Request, frozen=True, tag="cover_card"):
    """Report that the cover card came out."""

    seat: Seat | None = None


class CorrectMeterRequest(Request, frozen=True, tag="correct_meter"):
    """Correct the meter by an amount (micro-dollars)."""

    amount: Annotated[int, Meta(ge=-LARGEST_AMOUNT, le=LARGEST_AMOUNT)]
    document: Document
    ground: ShortText
    reason: ShortText
    counterpart: LongText = ""


class ResetMeterRequest(Request, frozen=True, tag="reset_meter"):
    """Reset the meter to its seed."""

    document: Document
    ground: ShortText
    reason: ShortText
    counterpart: LongText = ""


class SetMeterRequest(Request, frozen=True, tag="set_meter"):
    """Set the rate of progression (hundredths of a percent) or the limit of the meter (cents)."""

    document: Document
    rate_bp: Annotated[int, Meta(ge=1, le=10_000)] | None = None
    limit_cents: Annotated[int, Meta(ge=1, le=10**12)] | None = None
    submission: LongText = ""


class CloseMeterRequest(Request, frozen=True, tag="close_meter"):
    """Close the meter to play."""

    document: Document


class OpenMeterRequest(Request, frozen=True, tag="open_meter"):
    """Open the meter to play again."""

    document: Document


class TransferOverflowRequest(Request, frozen=True, tag="transfer_overflow"):
    """Transfer an amount of the overflow (micro-dollars) to the meter."""

    amount: Annotated[int, Meta(ge=1, le=LARGEST_AMOUNT)]
    document: Document


class ConfirmCopyAbsentRequest(Request, frozen=True, tag="confirm_copy_absent"):
    """Confirm that the second copy is unreachable and that no other box was restored from it."""

    document: Document


class EnterHandRequest(Request, frozen=True, tag="enter_hand"):
    """Enter the cards of a place that are face up, such as `As Td 9h`; place 0 is the dealer's."""

    place: Annotated[int, Meta(ge=0, le=6)]
    cards: ShortText


class EnterSettingRequest(Request, frozen=True, tag="enter_setting"):
    """Enter how the hands of a place are set: all cards, highest hand first, bars between; 0 is the dealer's."""

    place: Annotated[int, Meta(ge=0, le=6)]
    hands: ShortText


class AskHouseWayRequest(Request, frozen=True, tag="ask_house_way"):
    """Have the dealer set a player's hand in the house way, because the player asks for it."""

    seat: Seat


class EnterReplacementRequest(Request, frozen=True, tag="enter_replacement"):
    """Enter the card that replaces a player's joker."""

    card: ShortText


class EnterAmountRequest(Request, frozen=True, tag="enter_amount"):
    """Enter the amount of a seat's wager."""

    wager: ShortText
    seat: Seat
    cents: Annotated[int, Meta(ge=1, le=10**12)]


class EnterOptionalWagerRequest(Request, frozen=True, tag="enter_optional_wager"):
    """Enter all seats with an optional wager that no question asks for; it replaces what was entered before."""

    wager: ShortText
    seats: Annotated[tuple[Seat, ...], Meta(max_length=6)] = ()


class SettleSeatsRequest(Request, frozen=True, tag="settle_seats"):
    """Settle the main wagers of several seats at once, or one optional `wager` of them."""

    wins: Annotated[tuple[Seat, ...], Meta(max_length=6)] = ()
    loses: Annotated[tuple[Seat, ...], Meta(max_length=6)] = ()
    pushes: Annotated[tuple[Seat, ...], Meta(max_length=6)] = ()
    wager: ShortText = ""


# --- machines and people: the box does these, and its journal records them --------------------------------------------


class DeviceRequest(Request, frozen=True, tag="device"):
    """Ask a device a question, or give it an order of a technician."""

    slot: ShortText
    call: ShortText
    arguments: dict[ShortText, int | bool | ShortText] = {}


class FaultRequest(Request, frozen=True, tag="fault"):
    """Return the progress of the return to service of a fault report."""

    fault_report: Number


class ReturnStepRequest(Request, frozen=True, tag="return_step"):
    """Begin the return to service of a fault report, or complete one of its steps.

    "begin", "leave", "path_empty", "count" (with `cards`) and "return"; other steps complete when the machine reports.
    """

    fault_report: Number
    step: ShortText
    cards: Annotated[int, Meta(ge=0, le=9999)] | None = None


class EnrollRequest(Request, frozen=True, tag="enroll"):
    """Enroll a device in a slot; a previous key is revoked. `file` names the key file on the computer of the box."""

    slot: ShortText
    file: Annotated[str, Meta(max_length=4096)] = ""


class WearResetRequest(Request, frozen=True, tag="wear_reset"):
    """Restart the wear history of a machine after a technician serviced its rollers or sensors."""

    serial: ShortText


class PeopleRequest(Request, frozen=True, tag="people"):
    """Add or revoke a credential, or change its PIN."""

    change: Literal["add", "pin", "revoke"]
    credential: Annotated[str, Meta(max_length=64)]
    role: LongText = ""
    person: LongText | None = None
    pin: Pin = ""


# Requests that become an event of the core.
TableRequest = (
    AnswerRequest | OpenRoundRequest | NoMoreBetsRequest | AddDeckRequest | ReportRequest | OrderRequest
    | SlotOrderRequest | ChangeDealerRequest | CoverCardRequest | CorrectMeterRequest | ResetMeterRequest
    | SetMeterRequest | CloseMeterRequest | OpenMeterRequest | TransferOverflowRequest | ConfirmCopyAbsentRequest
    | EnterHandRequest | EnterSettingRequest | AskHouseWayRequest | EnterReplacementRequest | EnterAmountRequest
    | EnterOptionalWagerRequest | SettleSeatsRequest
)  # fmt: skip
# What `request_handler` carries out; mypy fails where a case of it is missing.
HandledRequest = TableRequest | DeviceRequest | FaultRequest | ReturnStepRequest | EnrollRequest | WearResetRequest
# Requests that people sign and the box carries out itself; a connection handles those about people.
BoxRequest = DeviceRequest | FaultRequest | ReturnStepRequest | EnrollRequest | WearResetRequest | PeopleRequest
# Requests that only a connection to the control socket has; a page has its session and its stream instead.
ConnectionRequest = StatusRequest | FollowRequest | TraceRequest | SignOnRequest | SignOffRequest
AnyRequest = ConnectionRequest | HandledRequest | PeopleRequest

TABLE_REQUESTS: Final[tuple[type[TableRequest], ...]] = get_args(TableRequest)
BOX_REQUESTS: Final[tuple[type[BoxRequest], ...]] = get_args(BoxRequest)
BY_NAME: Final[dict[str, type[AnyRequest]]] = {kind.name(): kind for kind in get_args(AnyRequest)}


def texts_of(value: Any) -> list[str]:
    """Return every text in a request except a PIN, which people choose and nothing records."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Request):
        return [text for name in value.__struct_fields__ if name != "pin" for text in texts_of(getattr(value, name))]
    if isinstance(value, dict):
        return [text for pair in value.items() for each in pair for text in texts_of(each)]
    return [text for each in value for text in texts_of(each)] if isinstance(value, tuple) else []
