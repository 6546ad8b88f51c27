"""The rules of each request: which roles sign it, whether two people must, its permit, and the event it becomes.

The core decides, and its list of roles is the only one (`table.signers`). These rules refuse earlier only what no state
of the table would allow: a wrong role, one person where two must sign, or an answer to a question that is not open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from firmware_bridge.errors import NotAllowed, QuestionClosed
from table_controller.access import requests as r
from table_controller.table import events as ev
from table_controller.table.signers import (
    COPY_ABSENCE_SIGNERS,
    METER_SIGNERS,
    OPEN_AFTER_UNREASONABLE,
    SIGNERS,
    SLOT_ACT_SIGNERS,
    TECHNICIAN,
    TECHNICIAN_OR_FLOOR,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_controller.access.people_file import CredentialHolder
    from table_controller.table.decisions import Actuation, Order, Prompt
    from table_controller.table.signers import Roles


class RequestRule(NamedTuple):
    """Who signs a request, and what it becomes.

    `roles`: the roles that may sign; empty: nobody signs, or `condition` explains who does. `second`: the roles of the
    second person, if two sign. `event`: the event of the core. `permit`: the permit that the core or the box asks for.
    `sample`: a valid request, and `command` the same one as a command.
    """

    sample: r.Request
    command: str
    roles: Roles = ()
    second: Roles = ()
    event: type[ev.Event] | None = None
    permit: Actuation | Order | None = None
    condition: str = ""


def _signed(sample: r.Request, command: str, event: type[ev.Event], permit: Actuation | None = None) -> RequestRule:
    """Return the rule of a request that one person signs: the core knows in which roles."""
    return RequestRule(sample, command, SIGNERS[event], (), event, permit)


def _meter(sample: r.Request, command: str, event: type[ev.Event], permit: Order) -> RequestRule:
    """Return the rule of a request about the meter: the core knows whose authority it needs."""
    first, second = METER_SIGNERS[permit]
    return RequestRule(sample, command, (first,), (second,), event, permit)


_ONE: Final = "--as F17"
_TWO: Final = "--as F17 --second A3"
_WHY: Final = "ground=malfunction reason=sensor_fault"
_ROLE_OF_QUESTION: Final = "the role of the question"

_RULES: Final = (
    RequestRule(r.StatusRequest(), "pitbox status"),
    RequestRule(r.FollowRequest(device_events=True), ""),
    RequestRule(r.TraceRequest(slots=("shoe.1",)), "pitbox trace --slot shoe.1"),
    RequestRule(r.SignOnRequest(credential="F17", pin="739164"), ""),
    RequestRule(r.SignOffRequest(credential="F17"), ""),
    RequestRule(
        r.AnswerRequest(prompt=4294967300, choice="done", seats=(1, 3)),
        "pitbox answer 4294967300 done --seats 1,3 --as D4", event=ev.Answer, condition=_ROLE_OF_QUESTION,
    ),
    _signed(r.OpenRoundRequest(), "pitbox submit open_round --as D4", ev.OpenRound, "open_bets"),
    _signed(r.NoMoreBetsRequest(), "pitbox submit no_more_bets --as D4", ev.NoMoreBets),
    _signed(
        r.AddDeckRequest(deck="blue", preshuffled=True), "pitbox submit deck deck=blue preshuffled=yes --as D4",
        ev.DeckReceived,
    ),
    _signed(
        r.ReportRequest(trigger="card_face_up", seat=3), "pitbox submit report trigger=card_face_up seat=3 --as D4",
        ev.IrregularityReported,
    ),
    _signed(
        r.OrderRequest(order="reshuffle", deck="blue"), f"pitbox submit order order=reshuffle deck=blue {_ONE}",
        ev.Ordered,
    ),
    RequestRule(
        r.SlotOrderRequest(slot="shoe.1", act="acknowledge"), f"pitbox submit slot slot=shoe.1 act=acknowledge {_ONE}",
        tuple(dict.fromkeys(role for roles in SLOT_ACT_SIGNERS.values() for role in roles)), (), ev.SlotOrdered,
        "return_to_service",
    ),
    _signed(r.ChangeDealerRequest(), "pitbox submit dealer_changed --as D4", ev.DealerChanged),
    _signed(r.CoverCardRequest(seat=3), "pitbox submit cover_card seat=3 --as D4", ev.CoverCardOut),
    _meter(
        r.CorrectMeterRequest(amount=12_500_000, document="MC-1", ground="malfunction", reason="sensor_fault"),
        f"pitbox submit correct_meter amount=+12.50 document=MC-1 {_WHY} {_TWO}", ev.MeterCorrected, "correct_meter",
    ),
    _meter(
        r.ResetMeterRequest(document="MC-2", ground="malfunction", reason="sensor_fault"),
        f"pitbox submit reset_meter document=MC-2 {_WHY} {_TWO}", ev.MeterReset, "reset_meter",
    ),
    _meter(
        r.SetMeterRequest(document="MC-3", rate_bp=1525, submission="RS-7"),
        "pitbox submit set_meter document=MC-3 rate=15.25 submission=RS-7 --as T3 --second A3", ev.MeterParameters,
        "change_meter",
    ),
    _meter(
        r.CloseMeterRequest(document="MC-4"), f"pitbox submit close_meter document=MC-4 {_TWO}", ev.MeterClosed,
        "close_meter",
    ),
    _meter(
        r.OpenMeterRequest(document="MC-5"), f"pitbox submit open_meter document=MC-5 {_TWO}", ev.MeterOpened,
        "open_meter",
    )._replace(
        second=(METER_SIGNERS["open_meter"][1], OPEN_AFTER_UNREASONABLE[1]),
        condition="the technician after an unreasonable contribution",
    ),
    _meter(
        r.TransferOverflowRequest(amount=12_500_000, document="MC-6"),
        f"pitbox submit transfer_overflow amount=12.50 document=MC-6 {_TWO}", ev.OverflowTransferred,
        "transfer_overflow",
    ),
    RequestRule(
        r.ConfirmCopyAbsentRequest(document="memo 3"),
        "pitbox submit confirm_copy_absent 'document=memo 3' --as F17 --second T3",
        COPY_ABSENCE_SIGNERS[:1], COPY_ABSENCE_SIGNERS[1:], ev.CopyAbsenceConfirmed,
    ),
    _signed(
        r.EnterHandRequest(place=3, cards="As Ah Kd 7c 4s"),
        "pitbox submit enter_hand place=3 'cards=As Ah Kd 7c 4s' --as D4", ev.HandEntered,
    ),
    _signed(
        r.EnterSettingRequest(place=3, hands="As Ah Kd 7c 4s | Qs Jh"),
        "pitbox submit enter_setting place=3 'hands=As Ah Kd 7c 4s | Qs Jh' --as D4", ev.SettingEntered,
    ),
    _signed(r.AskHouseWayRequest(seat=3), "pitbox submit ask_house_way seat=3 --as D4", ev.HouseWayAsked),
    _signed(
        r.EnterReplacementRequest(card="Qs"), "pitbox submit enter_replacement card=Qs --as D4", ev.ReplacementEntered
    ),
    _signed(
        r.EnterAmountRequest(wager="ante", seat=3, cents=2500),
        "pitbox submit enter_amount wager=ante seat=3 amount=25.00 --as D4", ev.AmountEntered,
    ),
    _signed(
        r.EnterOptionalWagerRequest(wager="trips", seats=(1, 3)),
        "pitbox submit enter_optional_wager wager=trips seats=1,3 --as D4", ev.OptionalWagerEntered,
    ),
    _signed(
        r.SettleSeatsRequest(wins=(1, 3), loses=(6,)), "pitbox submit settle_seats wins=1,3 loses=6 --as D4",
        ev.SeatsSettled,
    ),
    RequestRule(
        r.DeviceRequest(slot="shuffler.1", call="jog", arguments={"motor": "feed"}),
        "pitbox fault --slot shuffler.1 --order jog motor=feed --as T3", permit="test",
        condition="a technician signs an order; nobody needs to sign a question",
    ),
    RequestRule(r.FaultRequest(fault_report=12), "pitbox fault 12"),
    RequestRule(
        r.ReturnStepRequest(fault_report=12, step="count", cards=53), "pitbox fault 12 --step count --cards 53 --as T3",
        SIGNERS[ev.StepReported], condition="the step decides which of them",
    ),
    RequestRule(
        r.EnrollRequest(slot="shuffler.1", file="/etc/pitbox/SN124.key"),
        "pitbox enroll shuffler.1 --key /etc/pitbox/SN124.key --as T3 --second F17",
        TECHNICIAN_OR_FLOOR, TECHNICIAN_OR_FLOOR, permit="test", condition="one of each role",
    ),
    RequestRule(r.WearResetRequest(serial="SN124"), "pitbox faults --serviced SN124 --as T3", TECHNICIAN),
    RequestRule(
        r.PeopleRequest(change="revoke", credential="F17"), "pitbox people revoke F17 --as A3",
        condition="[who may change credentials](people.md#who-may-change-credentials)",
    ),
)  # fmt: skip
RULES: Final[dict[type[r.Request], RequestRule]] = {type(rule.sample): rule for rule in _RULES}

# On a page these roles sign each request with the PIN, even when they are signed on, and every role signs these.
ROLES_WITH_PIN_EACH_TIME: Final[Roles] = ("floorperson", "auditor")
REQUESTS_WITH_PIN_EACH_TIME: Final = (r.DeviceRequest,)


def needs_second(request: r.Request) -> bool:
    """Return whether two people sign a request."""
    return bool(RULES[type(request)].second)


def needs_pin_now(request: r.Request, role: str) -> bool:
    """Return whether a page must send the PIN with this request, although this role is signed on."""
    return role in ROLES_WITH_PIN_EACH_TIME or isinstance(request, REQUESTS_WITH_PIN_EACH_TIME)


def check_role(request: r.Request, who: CredentialHolder, prompts: Mapping[int, Prompt]) -> None:
    """Raise NotAllowed if this role may not sign a request; QuestionClosed if it answers one that is not open."""
    allowed: tuple[str, ...] = RULES[type(request)].roles
    if isinstance(request, r.AnswerRequest):
        prompt = prompts.get(request.prompt)
        if prompt is None:
            raise QuestionClosed("this question is already answered, or is not asked any more")
        allowed = (prompt.role,)
    if who.role not in allowed:
        raise NotAllowed(f"this is for the {' or the '.join(allowed)}; {who.id} is {who.role}")


def to_event(request: r.TableRequest, who: ev.Person, second: ev.Person | None) -> ev.Event:
    """Return the event of a request to the table, with the people who signed it. Only the box adds people."""
    kind: Any = RULES[type(request)].event
    fields = {name: getattr(request, name) for name in request.__struct_fields__}
    people = {"who": who} if second is None else {"who": who, "second": second}
    event: ev.Event = kind(**fields, **people)
    return event
