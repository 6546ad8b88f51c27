"""One vocabulary of requests: types, rules, events, commands, pages and the documented examples agree."""

from __future__ import annotations

import ast
import re
import shlex
from contextlib import suppress
from typing import Any, Final, get_args

import msgspec
import pytest

from firmware_bridge.errors import BadRequest, NotAllowed, QuestionClosed
from table_controller.access import requests as r
from table_controller.access.people_file import CredentialHolder
from table_controller.access.request_json import LineEnvelope, PageEnvelope, ReceivedRequest, read_line, read_request
from table_controller.access.request_rules import RULES, check_role, to_event
from table_controller.cli import command_parser
from table_controller.cli.commands.answer import answer_fields
from table_controller.cli.commands.submit import parse_details
from table_controller.panel.page_requests import PAGE_REQUESTS
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import RequestRefused
from table_controller.table.meter_adjustments import GROUNDS
from table_controller.table.signers import SLOT_ACT_SIGNERS, TECHNICIAN
from table_controller.table.state import SlotState
from tests.support.core.ideal_table import IdealTable
from tools import ROOT
from tools.docs.request_tables import example_line

STATIC: Final = ROOT / "table_controller" / "panel" / "static"
ROLES: Final[tuple[str, ...]] = get_args(ev.Role)
# Requests without a command of their own: each command that needs them signs on or follows by itself.
WITHOUT_COMMAND: Final = {"follow", "sign_on", "sign_off"}
EVERY: Final = sorted(RULES, key=lambda kind: kind.name())
SIGNED: Final = [kind for kind in EVERY if kind in r.TABLE_REQUESTS]


def _line(**fields: Any) -> ReceivedRequest[LineEnvelope, r.AnyRequest]:
    return read_line(msgspec.json.encode(fields))


def _who(role: Any) -> CredentialHolder:
    return CredentialHolder(id=f"{role}-1", person=f"{role}-1", role=role)


def test_every_request_has_one_rule_and_one_name() -> None:
    assert set(RULES) == set(r.BY_NAME.values()) == set(r.Request.__subclasses__())
    assert {kind for kind, rule in RULES.items() if rule.event is not None} == set(r.TABLE_REQUESTS)
    for kind in RULES:
        own = set(kind.__struct_fields__)
        assert not own & {*LineEnvelope.__struct_fields__, *PageEnvelope.__struct_fields__, "do"}, kind


@pytest.mark.parametrize("kind", EVERY)
def test_the_documented_example_is_the_request(kind: type[r.Request]) -> None:
    envelope, request = read_line(example_line(RULES[kind]).encode())
    assert request == RULES[kind].sample
    assert (envelope.by is not None, envelope.second is not None) == (bool(RULES[kind].roles), bool(RULES[kind].second))


@pytest.mark.parametrize("kind", SIGNED)
def test_a_request_has_the_fields_of_its_event_and_only_the_box_adds_people(kind: type[r.Request]) -> None:
    rule = RULES[kind]
    people = {"who", "second"} if rule.second else {"who"}
    only_machines = {"slot"} if kind is r.CoverCardRequest else set()
    assert rule.event is not None
    assert isinstance(rule.sample, r.TableRequest)
    assert set(rule.event.__struct_fields__) == {*kind.__struct_fields__, *people, *only_machines}
    one, two = ev.Person("dealer", "D4"), ev.Person("auditor", "A3")
    event = to_event(rule.sample, one, two if rule.second else None)
    assert msgspec.convert(msgspec.to_builtins(event), rule.event) == event
    for claimed in ("who", *(["slot"] if only_machines else [])):
        with pytest.raises(BadRequest, match=f"unknown field `{claimed}`"):
            _line(**msgspec.to_builtins(rule.sample), **{claimed: {"role": "floorperson", "credential": "F17"}})


@pytest.mark.parametrize("kind", SIGNED)
@pytest.mark.parametrize("role", ROLES)
def test_a_role_that_the_rules_refuse_is_refused_by_the_core_too(kind: type[r.Request], role: Any) -> None:
    rule, table = RULES[kind], IdealTable("face_up_pai_gow").table
    table.step(ev.DeckReceived("blue", ev.Person("dealer", "D4")))
    request = rule.sample
    assert isinstance(request, r.TableRequest)
    if isinstance(request, r.AnswerRequest):
        prompt = next(iter(table.state.prompts.values()))
        request = r.AnswerRequest(prompt=prompt.id, choice=prompt.choices[0])
    if role in _allowed(request, table.state.prompts):
        return
    second = _who(rule.second[0]).event_person if rule.second else None
    decisions = table.step(to_event(request, _who(role).event_person, second))
    assert any(isinstance(decision, RequestRefused) for decision in decisions)


def _allowed(request: r.Request, prompts: Any) -> set[str]:
    """Return the roles that the rules permit; each other one is refused with a sentence that names it."""
    allowed = set()
    for role in ROLES:
        with suppress(NotAllowed):
            check_role(request, _who(role), prompts)
            allowed.add(role)
    assert 1 <= len(allowed) < len(ROLES)
    return allowed


def test_an_answer_to_a_question_that_is_not_open_is_refused_for_everybody() -> None:
    for role in ROLES:
        with pytest.raises(QuestionClosed, match="is already answered, or is not asked any more"):
            check_role(RULES[r.AnswerRequest].sample, _who(role), {})


# --- commands ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", EVERY)
def test_every_request_has_a_command_that_sends_it(kind: type[r.Request]) -> None:
    command, name = RULES[kind].command, kind.name()
    assert (not command) == (name in WITHOUT_COMMAND)
    if not command:
        return
    program, *words = shlex.split(command)
    args = command_parser(words[0]).parse_args(words)
    assert program == "pitbox"
    assert ("--second" in words) == bool(RULES[kind].second)
    if words[0] == "submit":
        assert args.what == name
        assert msgspec.convert({"do": name, **parse_details(args.what, args.details)}, kind) == RULES[kind].sample
    if words[0] == "answer":
        assert msgspec.convert({"do": name, **answer_fields(args)}, kind) == RULES[kind].sample


# --- programs ---------------------------------------------------------------------------------------------------------


def _requests_of_programs() -> list[tuple[str, str, set[str]]]:
    """Return file, name and fields of every request that a command or a program of this tree sends."""
    sent = []
    for folder in ("table_controller/cli", "simulators/casino", "benchmarks", "examples"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "request":
                    for named in (arg for arg in node.args[:1] if isinstance(arg, ast.Constant)):
                        fields = {keyword.arg for keyword in node.keywords if keyword.arg is not None}
                        sent.append((path.name, str(named.value), fields))
    return sent


def test_commands_and_programs_send_only_requests_that_exist_with_fields_that_exist() -> None:
    sent = _requests_of_programs()
    for file, name, fields in sent:
        known = {*r.BY_NAME[name].__struct_fields__, *LineEnvelope.__struct_fields__}
        assert fields <= known, (file, name)
    from_commands = {name for _, name, _ in sent}
    boxs_own = {kind.name() for kind in r.BOX_REQUESTS}
    assert boxs_own | {"status", "follow", "trace", "sign_on", "answer", "deck", "no_more_bets"} <= from_commands


# --- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("do", "fields"),
    [
        ("cover_card", {"seat": 7}), ("cover_card", {"seat": 0}), ("cover_card", {"seat": 10**30}),
        ("report", {"trigger": "x" * 65}), ("report", {"trigger": ""}), ("report", {"trigger": "other", "seat": -1}),
        ("answer", {"prompt": (1 << 53) + 1, "choice": "x"}), ("answer", {"prompt": 1, "choice": "x", "number": -1}),
        ("answer", {"prompt": 1, "choice": "x", "number": 10**9 + 1}),
        ("answer", {"prompt": 1, "choice": "x", "seats": [1] * 7}), ("answer", {"prompt": "1", "choice": "x"}),
        ("deck", {"deck": "blue\n2031-03-17 04:00:00  7  answer by floorperson F1"}), ("deck", {"deck": "\x1b[2J"}),
        ("deck", {"deck": "blue", "preshuffled": 1}), ("order", {"order": "dance"}),
        ("slot", {"slot": "a", "act": "b"}),
        ("correct_meter", {"amount": 10**15 + 1, "document": "d", "ground": "g", "reason": "r"}),
        ("correct_meter", {"amount": 1.5, "document": "d", "ground": "g", "reason": "r"}),
        ("transfer_overflow", {"amount": 0, "document": "d"}), ("close_meter", {"document": ""}),
        ("close_meter", {"document": "x" * 201}), ("close_meter", {"document": "a\u2028b"}),
        ("set_meter", {"document": "d", "rate_bp": 10_001}), ("set_meter", {"document": "d", "limit_cents": 0}),
        ("return_step", {"fault_report": 1, "step": "count", "cards": 10_000}),
        ("device", {"slot": "shoe.1", "call": "jog", "arguments": {"motor": ["feed"]}}),
        ("device", {"slot": "shoe.1", "call": "jog", "arguments": {"motor": "x" * 65}}),
        ("sign_on", {"credential": "x" * 65, "pin": "271828"}), ("sign_on", {"credential": "D1", "pin": "1" * 129}),
        ("status", {"more": 1}), ("open_round", {"id": {}}), ("open_round", {"by": {"id": "F1", "pin": "x"}}),
        ("deal_anyway", {}), (None, {}), (["status"], {}),
    ],
)  # fmt: skip
def test_a_request_outside_its_limits_is_refused(do: Any, fields: dict[str, Any]) -> None:
    with pytest.raises(BadRequest):
        _line(do=do, **fields)


# What `submit` never sent.
SINCE_PROTOCOL_3 = (
    r.EnterHandRequest, r.EnterSettingRequest, r.AskHouseWayRequest, r.EnterReplacementRequest, r.EnterAmountRequest,
    r.EnterOptionalWagerRequest, r.SettleSeatsRequest,
)  # fmt: skip


def test_requests_of_the_former_protocol_are_refused_with_the_new_name() -> None:
    for kind, rule in RULES.items():
        if rule.event is not None and kind not in SINCE_PROTOCOL_3:
            with pytest.raises(BadRequest, match=f"send '{kind.name()}' as `do`"):
                _line(do="submit", event={"type": rule.event.__name__}, by="D1")
    with pytest.raises(BadRequest, match="send 'return_step' as `do`"):
        _line(do="fault", fault_report=1, step="begin", by="T1")
    assert _line(do="fault", fault_report=1).request == r.FaultRequest(fault_report=1)


def test_no_request_and_no_credential_shows_its_pin() -> None:
    data = b'{"do": "no_more_bets", "n": 1, "by": {"id": "a", "pin": "1234567"}}'
    assert "1234567" not in repr(read_request(data, PageEnvelope, PAGE_REQUESTS))
    assert "1234567" not in repr(_line(do="sign_on", credential="a", pin="1234567"))
    assert "1234567" not in repr(_line(do="people", change="pin", credential="a", pin="1234567"))


# --- pages ------------------------------------------------------------------------------------------------------------


def _keys(text: str, start: int) -> set[str]:
    """Return the keys of the object whose brace is at `start` of a script."""
    depth, key, keys, reading = 0, "", set(), True
    for letter in text[start:]:
        depth += (letter in "{[(") - (letter in "}])")
        if depth == 0 or (depth == 1 and letter == ","):
            keys.add(key.strip(" {"))
            key, reading = "", True
        elif depth == 1 and letter == ":":
            reading = False
        elif reading:
            key += letter
        if depth == 0:
            break
    return keys - {""}


def _body_keys(text: str, end: int) -> set[str]:
    """Return the fields of the `body` that a script builds before a call."""
    start = text.rindex("const body = {", 0, end)
    return _keys(text, text.index("{", start)) | set(re.findall(r"\bbody\.(\w+) =", text[start:end]))


_CALL: Final = re.compile(r'\b(?:submit|submitAs|order)\((?:[\w.]+, |"\w+", )?"(\w+)", (\{|body)')
_ROLE: Final = f"({'|'.join(ROLES)})"
_METER: Final = re.compile(rf'^  (\w+): \["[^"]+", "{_ROLE}", "{_ROLE}", (.*)\],$', re.MULTILINE)
_GROUND: Final = re.compile(r'^  (\w+): \[((?:"\w+"(?:, )?)+)\],$', re.MULTILINE)


def _page_calls() -> list[tuple[str, set[str]]]:
    """Return the name and the fields of every request that a page's script sends."""
    calls: list[tuple[str, set[str]]] = []
    for path in sorted(STATIC.glob("*.js")):
        text = path.read_text("utf-8")
        for call in _CALL.finditer(text):
            is_literal = call[2] == "{"
            calls.append((call[1], _keys(text, call.end() - 1) if is_literal else _body_keys(text, call.start())))
        calls += [(name, set()) for name in re.findall(r'\bbig\("(\w+)"', text) if name != "bring"]
    why = {"ground", "reason", "counterpart"}
    for name, _, _, fields in _METER.findall((STATIC / "floor.js").read_text("utf-8")):
        named = set(re.findall(r'\["(\w+)", "', fields)) | (why if "WHY" in fields else set())
        calls.append((name, named | {"document"}))
    return calls


def test_pages_send_only_requests_that_exist_with_fields_that_exist() -> None:
    for name, fields in _page_calls():
        assert name in PAGE_REQUESTS, name
        known = msgspec.structs.fields(r.BY_NAME[name])
        assert fields <= {field.name for field in known}, name
        assert {field.name for field in known if field.required} <= fields, name


def test_every_request_of_pages_is_sent_by_one() -> None:
    assert {name for name, _ in _page_calls()} == set(PAGE_REQUESTS)


def test_every_call_of_a_page_is_seen_by_these_tests() -> None:
    """A script sends with a literal name, with the name it got as a parameter, or an injected fault of the bench."""
    for path in STATIC.glob("*.js"):
        for call in re.findall(r"\bsubmit(?:As|AsTwo)?\([^)]*", path.read_text("utf-8")):
            is_known = _CALL.match(call) or re.search(r'\((?:"floorperson", |first, other, )?(?:name|act)\b', call)
            assert is_known or 'submit("", { slot, fault }, "/api/inject"' in call or path.name == "common.js", call


def test_the_meter_dialog_offers_the_grounds_of_the_core() -> None:
    text = (STATIC / "floor.js").read_text("utf-8")
    grounds = text[text.index("const GROUNDS = {") : text.index("const WHY")]
    assert {name: tuple(re.findall(r"\w+", reasons)) for name, reasons in _GROUND.findall(grounds)} == GROUNDS


def test_the_meter_dialog_asks_the_two_roles_of_the_rules() -> None:
    asked = _METER.findall((STATIC / "floor.js").read_text("utf-8"))
    assert len(asked) == sum(bool(rule.second) and kind.name() in PAGE_REQUESTS for kind, rule in RULES.items())
    for name, first, second, _ in asked:
        rule = RULES[r.BY_NAME[name]]
        assert (first in rule.roles, second in rule.second) == (True, True), name


def _signed_by_pages() -> list[tuple[str, str, str]]:
    """Return page, role and request, wherever a script names the role that signs. A wrapper signs every `order(`."""
    named = []
    for path in sorted(STATIC.glob("*.js")):
        text = path.read_text("utf-8")
        named += [(path.name, *each) for each in re.findall(r'submitAs\("(\w+)", "(\w+)"', text)]
        for role in re.findall(r'submitAs\("(\w+)", name,', text):
            named += [(path.name, role, each) for each in re.findall(r'\border\([\w.]+, "(\w+)"', text)]
            named += [(path.name, role, each) for each in re.findall(r'\border\("\w+", "(\w+)"', text)]
    return named


def test_pages_ask_only_roles_that_may_sign() -> None:
    signed = _signed_by_pages()
    assert {page for page, _, _ in signed} == {"floor.js", "orders.js", "technician.js"}
    for page, role, name in signed:
        is_order = name == r.DeviceRequest.name()  # its question needs nobody, so its rule names no role
        assert role in (TECHNICIAN if is_order else RULES[r.BY_NAME[name]].roles), (page, role, name)


def test_pages_offer_a_slot_act_only_to_a_role_that_signs_it_in_a_state_that_has_it() -> None:
    for page, role in (("floor.js", "floorperson"), ("technician.js", "technician")):
        text = (STATIC / page).read_text("utf-8")
        block = re.search(r"^const ACTS = (\{.*?\});$", text, re.MULTILINE | re.DOTALL)
        assert block is not None
        offered = re.findall(r"(\w+): \[(.*?)\](?=,\s+\w+:|,?\s*\})", block[1], re.DOTALL)
        assert {state for state, _ in offered} <= set(mc.SERVICE.states)
        assert len(offered) == len(re.findall(r"\w+: \[", block[1])) > 1
        for state, acts in offered:
            for act in re.findall(r'"([a-z_]+)"', acts):
                assert role in SLOT_ACT_SIGNERS[act], (page, state, act)
                is_read_again = (state, act) == ("unverified", "acknowledge")
                assert is_read_again or mc.can_fire(mc.SERVICE, SlotState("shuffler", state=state), act), (state, act)


def test_every_list_of_roles_of_a_page_is_of_the_vocabulary() -> None:
    home = (STATIC / "index.js").read_text("utf-8")
    assert tuple(re.findall(r'(\w+): "/', home)) == ROLES
    steps = re.search(r"const STEP_ROLES = \[(.*)\];", (STATIC / "fault_report.js").read_text("utf-8"))
    assert steps is not None
    assert tuple(re.findall(r'"(\w+)"', steps[1])) == RULES[r.ReturnStepRequest].roles
