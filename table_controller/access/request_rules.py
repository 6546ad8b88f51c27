"""The rules of each request: which roles sign it, whether two people must, its permit, and the event it becomes.

The core decides. These rules refuse earlier only what no state of the table would allow: a wrong role, one person
where two must sign, or an answer to a question that is not open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from firmware_bridge.errors import NotAllowed, QuestionClosed
from table_controller.access import requests as r
from table_controller.table import events as ev
from table_controller.table.meter_adjustments import AUTHORITY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_controller.access.people_file import CredentialHolder
    from table_controller.table.decisions import Actuation, Order, Prompt

DEALER: Final = ("dealer",)
FLOOR: Final = ("floorperson",)
DEALER_OR_FLOOR: Final = ("dealer", "floorperson")


class RequestRule(NamedTuple):
    """Who signs a request, and what it becomes.

    `roles`: the roles that may sign; empty: nobody signs, or `condition` explains who does. `second`: the roles of the
    second person, if two sign. `event`: the event of the core. `permit`: the permit that the core or the box asks for.
    `sample`: a valid request, and `command` the same one as a command.
    """

    sample: r.Request
    command: str
    roles: tuple[str, ...] = ()
    second: tuple[str, ...] = ()
    event: type[ev.Event] | None = None
    permit: Actuation | Order | None = None
    condition: str = ""


def _meter(sample: r.Request, command: str, event: type[ev.Event], permit: Order) -> RequestRule:
    """Return the rule of a request about the meter: the core knows whose authority it needs."""
    first, second = AUTHORITY[permit]
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
    RequestRule(r.OpenRoundRequest(), "pitbox submit open_round --as D4", DEALER, (), ev.OpenRound, "open_bets"),
    RequestRule(r.NoMoreBetsRequest(), "pitbox submit no_more_bets --as D4", DEALER, (), ev.NoMoreBets),
    RequestRule(
        r.AddDeckRequest(deck="blue", preshuffled=True), "pitbox submit deck deck=blue preshuffled=yes --as D4",
        DEALER_OR_FLOOR, (), ev.DeckReceived,
    ),
    RequestRule(
        r.ReportRequest(trigger="card_face_up", seat=3), "pitbox submit report trigger=card_face_up seat=3 --as D4",
        DEALER_OR_FLOOR, (), ev.IrregularityReported,
    ),
    RequestRule(
        r.OrderRequest(order="reshuffle", deck="blue"), f"pitbox submit order order=reshuffle deck=blue {_ONE}",
        FLOOR, (), ev.Ordered,
    ),
    RequestRule(
        r.SlotOrderRequest(slot="shoe.1", act="acknowledge"), f"pitbox submit slot slot=shoe.1 act=acknowledge {_ONE}",
        ("floorperson", "technician"), (), ev.SlotOrdered, "return_to_service",
    ),
    RequestRule(r.ChangeDealerRequest(), "pitbox submit dealer_changed --as D4", DEALER, (), ev.DealerChanged),
    RequestRule(
        r.CoverCardRequest(seat=3), "pitbox submit cover_card seat=3 --as D4", DEALER_OR_FLOOR, (), ev.CoverCardOut,
    ),
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
    )._replace(second=("auditor", "technician"), condition="the technician after an unreasonable contribution"),
    _meter(
        r.TransferOverflowRequest(amount=12_500_000, document="MC-6"),
        f"pitbox submit transfer_overflow amount=12.50 document=MC-6 {_TWO}", ev.OverflowTransferred,
        "transfer_overflow",
    ),
    RequestRule(
        r.ConfirmCopyAbsentRequest(document="memo 3"),
        "pitbox submit confirm_copy_absent 'document=memo 3' --as F17 --second T3",
        FLOOR, ("technician",), ev.CopyAbsenceConfirmed,
    ),
    RequestRule(
        r.DeviceRequest(slot="shuffler.1", call="jog", arguments={"motor": "feed"}),
        "pitbox fault --slot shuffler.1 --order jog motor=feed --as T3", permit="test",
        condition="a technician signs an order; nobody needs to sign a question",
    ),
    RequestRule(r.FaultRequest(fault_report=12), "pitbox fault 12"),
    RequestRule(
        r.ReturnStepRequest(fault_report=12, step="count", cards=53), "pitbox fault 12 --step count --cards 53 --as T3",
        ("technician", "floorperson"), condition="the step decides which of them",
    ),
    RequestRule(
        r.EnrollRequest(slot="shuffler.1", file="/etc/pitbox/SN124.key"),
        "pitbox enroll shuffler.1 --key /etc/pitbox/SN124.key --as T3 --second F17",
        ("technician", "floorperson"), ("technician", "floorperson"), permit="test", condition="one of each role",
    ),
    RequestRule(r.WearResetRequest(serial="SN124"), "pitbox faults --serviced SN124 --as T3", ("technician",)),
    RequestRule(
        r.PeopleRequest(change="revoke", credential="F17"), "pitbox people revoke F17 --as A3",
        condition="[who may change credentials](people.md#who-may-change-credentials)",
    ),
)  # fmt: skip
RULES: Final[dict[type[r.Request], RequestRule]] = {type(rule.sample): rule for rule in _RULES}

# On a page these roles sign each request with the PIN, even when they are signed on, and every role signs these.
ROLES_WITH_PIN_EACH_TIME: Final = ("floorperson", "auditor")
REQUESTS_WITH_PIN_EACH_TIME: Final = (r.DeviceRequest,)


def needs_second(request: r.Request) -> bool:
    """Return whether two people sign a request."""
    return bool(RULES[type(request)].second)


def needs_pin_now(request: r.Request, role: str) -> bool:
    """Return whether a page must send the PIN with this request, although this role is signed on."""
    return role in ROLES_WITH_PIN_EACH_TIME or isinstance(request, REQUESTS_WITH_PIN_EACH_TIME)


def check_role(request: r.Request, who: CredentialHolder, prompts: Mapping[int, Prompt]) -> None:
    """Raise NotAllowed if this role may not sign a request; QuestionClosed if it answers one that is not open."""
    allowed = RULES[type(request)].roles
    if isinstance(request, r.AnswerRequest):
        prompt = prompts.get(request.prompt)
        if prompt is None:
            raise QuestionClosed("this question is already answered, or is not asked any more")
        allowed = (prompt.role,)
    if who.role not in allowed:
        raise NotAllowed(f"this is for the {' or the '.join(allowed)}; {who.id} is {who.role}")


def to_event(request: r.Request, who: ev.Person, second: ev.Person | None) -> ev.Event:
    """Return the event of a request to the table, with the people who signed it. Only the box adds people."""
    kind: Any = RULES[type(request)].event
    fields = {name: getattr(request, name) for name in request.__struct_fields__}
    people = {"who": who} if second is None else {"who": who, "second": second}
    event: ev.Event = kind(**fields, **people)
    return event
