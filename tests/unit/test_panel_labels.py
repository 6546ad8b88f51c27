"""The panel's labels and metrics: every question of the core has a text, and the metrics text is well-formed."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, get_args

import msgspec
import pytest

from table_controller.access.people_file import CredentialHolder
from table_controller.access.requests import OrderRequest
from table_controller.cli.commands.prompts import facts_of
from table_controller.controller.shown_money import shown_money_of
from table_controller.panel import labels
from table_controller.panel.metrics import EventCounters, counters_text
from table_controller.panel.sessions import (
    IDLE_S,
    KEPT_NUMBERS,
    LONGEST_S,
    MAX_PAGES,
    MAX_SESSIONS,
    PanelSession,
    PanelSessions,
)
from table_controller.panel.view import table_view
from table_controller.picture.build import picture_of_table
from table_controller.rulebook import GAMES, OUTCOMES, PHASES, TRIGGERS
from table_controller.table import core, hold_steps, state_machines, view
from table_controller.table import events as ev
from table_controller.table.decisions import Decision, HoldOpened, RequestRefused, StateChanged
from table_controller.table.irregularities import CoreTrigger
from tests.support.core.ideal_table import IdealTable

if TYPE_CHECKING:
    from table_controller.picture.types import TablePicture

_LINE: Final = re.compile(
    r"# HELP [a-z_]+ \S.*|# TYPE [a-z_]+ (counter|gauge)"
    r'|[a-z_]+(\{[a-z_]+="(\\.|[^"\\\n])*"(,[a-z_]+="(\\.|[^"\\\n])*")*\})? -?[0-9]+(\.[0-9]+)?'
)


def test_every_question_of_the_core_has_a_sentence() -> None:
    asked = {*core._ANSWERS, *hold_steps.STEP_QUESTIONS}
    assert asked == set(labels.QUESTIONS)
    for kind in asked:
        sentence = labels.question(kind, seat=2, deck="blue", slot="shuffler.1", trigger="shoe_fault")
        assert "{" not in sentence
        assert sentence[0].isupper() or sentence.startswith("Shuffler 1"), sentence


def test_every_phase_and_every_report_has_its_words() -> None:
    assert set(labels.PHASES) == set(state_machines.ROUND_STATES) >= set(PHASES)
    assert set(labels.ORDERS) == set(_literals(OrderRequest, "order")) == set(_literals(ev.Ordered, "order"))


def test_reasons_pages_and_scripts_name_a_machine_alike() -> None:
    script = (Path(labels.__file__).parent / "static" / "common.js").read_text("utf-8")
    (table,) = re.findall(r"^const MACHINES = \{ (.*) \};$", script, re.MULTILINE)
    assert {kind.strip('"'): words for kind, words in re.findall(r'([^ ,:]+): "([^"]+)"', table)} == view._KIND_LABELS
    assert labels.machine_name("rng.1") == view.slot_label("rng.1") == "Number generator 1"


def test_every_irregularity_has_a_description() -> None:
    for trigger in (*TRIGGERS, *get_args(CoreTrigger)):
        assert labels.meaning(trigger), trigger
    for outcome in OUTCOMES:
        assert "_" not in labels.outcome(outcome), outcome


def test_button_labels_are_not_code_names() -> None:
    floor = IdealTable("face_up_pai_gow")
    floor.bets = {1, 3}
    message: list[str] = []

    def look(_: Decision) -> None:
        for prompt in table_view(picture_of(floor), "dealer", {})["prompts"]:
            message.extend((prompt["text"], *(choice["text"] for choice in prompt["choices"])))

    floor.override = look
    empty = table_view(picture_of(floor), "dealer", {})
    assert empty["next"]["text"] == "Add a deck"
    floor.start("blue", "red")
    floor.round()
    floor.play_to(state_machines.SETTLING)
    while not floor.prompts("progressive"):
        floor.step(floor.answer(floor.prompts()[0])[0])
    floor.enter_hand_for(floor.prompt("progressive"), "seven_card_straight_flush_any")
    look(floor.prompt("progressive"))
    assert "7 Card Straight Flush" in message, "as the paytable prints it"
    floor.name_hand(floor.prompt("progressive").seat or 0, "seven_card_straight_flush_any")
    for kind in ("hit_hand", "hit_light"):
        floor.answer_prompt(kind)
    (validated,) = [each for each in table_view(picture_of(floor), "floorperson", {})["prompts"] if each["mine"]]
    lines = facts_of(floor.prompt("hit_validate"))
    assert validated["shows"] == lines[0], "the floor page and `pitbox prompts`"
    assert lines[0].endswith("; 7 Card Straight Flush; $10,001.12"), "hand, line and amount"
    assert not [text for text in message if "_" in text or "(dealer)" in text]


def picture_of(floor: IdealTable) -> TablePicture:
    return picture_of_table(floor.table, 0, shown_money_of(floor.table))


def _literals(struct: Any, field: str) -> tuple[str, ...]:
    kind: Any = {f.name: f.type for f in msgspec.structs.fields(struct)}[field]
    return tuple(kind.__args__)


@pytest.mark.parametrize("game", GAMES)
def test_the_picture_is_plain_data_at_every_moment_of_a_round_and_names_one_next_thing(game: str) -> None:
    floor = IdealTable(game)
    floor.bets = {1, 3}
    phases = set()

    def look(_: Decision) -> None:
        for role in ("dealer", "floorperson", "technician"):
            shown = table_view(picture_of(floor), role, {"deck_age/blue/8": 1800.0, "dice_age": 60.0})
            again = msgspec.json.decode(msgspec.json.encode(shown))
            phases.add(again["round"]["state"])
            assert {prompt["id"] for prompt in shown["prompts"]} == set(floor.state.prompts)
            assert all(prompt["mine"] == (prompt["role"] == role) for prompt in shown["prompts"])
            mine = [prompt["id"] for prompt in shown["prompts"] if prompt["mine"]]
            assert shown["next"]["text"]
            assert shown["next"].get("prompt") == (mine[0] if mine else None)

    floor.override = look
    floor.start("blue", "red")
    floor.round()
    assert phases >= {"idle", "betting", "dealing", "settling"}


def test_counters_are_valid_text() -> None:
    tally = EventCounters()
    result = HoldOpened(1, 'odd "one"\\\n', (), ())
    ended = (StateChanged("round", "complete"), StateChanged("round", "idle"))
    reopened = (
        StateChanged("round", "complete"),
        StateChanged("round", "settling"),
        StateChanged("round", "void"),
        StateChanged("round", "idle"),
    )
    for seq, decision in enumerate((result, *ended, *reopened, RequestRefused("x", ())), 1):
        step: Any = SimpleNamespace(seq=seq, decisions=[decision])
        tally.add_step(step)
    text = counters_text(tally, panels=3)
    assert text.endswith("\n")
    for line in text.splitlines():
        assert _LINE.fullmatch(line), line
    assert tally.seq == 8
    assert "pitbox_panels 3\n" in text
    assert 'pitbox_rounds_total{ended="complete"} 1\n' in text
    assert 'pitbox_rounds_total{ended="void"} 1\n' in text
    assert 'pitbox_irregularities_total{trigger="odd \\"one\\"\\\\\\n"} 1\n' in text


# --- sessions ---------------------------------------------------------------------------------------------------------


def _who(role: Any = "dealer") -> CredentialHolder:
    return CredentialHolder(id=f"{role}-1", person="p", role=role)


def test_sessions_end_by_idleness_by_age_and_by_number() -> None:
    now = [0.0]
    over: list[PanelSession] = []
    sessions = PanelSessions(lambda: now[0], over.append)
    token = sessions.begin(_who("floorperson"))
    now[0] = IDLE_S["floorperson"]
    assert sessions.find(token) is not None
    now[0] += IDLE_S["floorperson"] + 1
    assert sessions.find(token) is None
    token = sessions.begin(_who())
    for _ in range(20):
        now[0] += IDLE_S["dealer"] - 1
        sessions.find(token)
    assert sessions.find(token) is None, f"in use, and over after {LONGEST_S} s"
    tokens = [sessions.begin(_who()) for _ in range(MAX_SESSIONS + 3)]
    assert len(sessions) == MAX_SESSIONS
    assert sessions.find(tokens[0]) is None
    assert sessions.find(tokens[-1]) is not None
    assert all(session.is_over for session in over)


def test_a_page_accepts_each_number_once_in_any_order_of_arrival() -> None:
    session = PanelSession(_who(), 0.0)
    page = session.open_page()
    assert [session.accept_once(page, n) for n in (1, 1, 5, 4, 4, 6)] == [True, False, True, True, False, True]
    assert not session.accept_once("another", 7)
    numbers = list(range(7, 7 + 3 * KEPT_NUMBERS))
    assert all(session.accept_once(page, n) for n in numbers)
    assert not any(session.accept_once(page, n) for n in (*range(1, 7), *numbers)), "none is taken twice, however old"
    assert len(session.pages[page]) <= KEPT_NUMBERS
    assert session.open_page(page) == page, "a page that shows its secret keeps it"
    pages = [session.open_page() for _ in range(MAX_PAGES)]
    assert not session.has_page(page), "the oldest page is gone"
    assert session.has_page(pages[-1])
