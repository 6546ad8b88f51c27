"""People read words: no line of the status, no prompt, refusal or help shows a key of the code such as in_service."""

from __future__ import annotations

import re
from argparse import _SubParsersAction
from typing import TYPE_CHECKING

import msgspec
import pytest

from devices import service
from devices.kinds import KINDS
from table_controller.cli import command_parser
from table_controller.cli.commands import status
from table_controller.controller.shown_money import shown_money_of
from table_controller.journal.record_text import decision_text, plain_text
from table_controller.panel import labels
from table_controller.picture.build import picture_of_table
from table_controller.rulebook import GAMES
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Decision, Prompt, RequestRefused
from tests.support.core.all_inputs import all_inputs
from tests.support.core.ideal_table import IdealTable

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Iterator

_KEY = re.compile(r"[a-z]_[a-z]")
# What `pitbox answer` takes, followed by its meaning.
_TYPED = re.compile(r"\b[a-z0-9_]+ (?=\()")
PHASES = (mc.IDLE, mc.BETTING, mc.DEALING, mc.PLAYING)


def with_keys(lines: list[str]) -> list[str]:
    """Return the lines with a key of the code that is nothing to type."""
    return [line for line in lines if _KEY.search(_TYPED.sub("", line))]


def visited(game: str) -> Iterator[tuple[IdealTable, list[Decision]]]:
    """Yield a table in each phase after each input that it can get there, with the decisions on it."""
    for phase in PHASES:
        floor = IdealTable(game)
        floor.bets = {1, 3}
        floor.start("blue", "red")
        floor.round()
        if phase != mc.IDLE:
            floor.play_to(phase)
        before = floor.table.snapshot()
        for event in all_inputs(floor):
            floor.table.restore(before)
            yield floor, floor.table.step(event)


@pytest.mark.parametrize("game", GAMES)
def test_no_line_of_the_status_and_no_refusal_shows_a_key(game: str) -> None:
    shown: set[str] = set()
    refusals: set[str] = set()
    for floor, decisions in visited(game):
        picture = picture_of_table(floor.table, 0, shown_money_of(floor.table))
        shown.update(status._table(picture, "dealer-1"))
        for decision in decisions:
            if isinstance(decision, RequestRefused):
                refusals.add(decision_text(msgspec.to_builtins(decision)))
                refusals.add(labels.sentence(decision.what))
                refusals.update(labels.sentence(reason.text) for reason in decision.reasons)
    assert any(line.startswith("IRREGULARITY ") for line in shown)
    assert any(line.startswith("prompt for the dealer: ") for line in shown)
    assert with_keys(sorted(shown)) == []
    assert len(refusals) > 50
    assert with_keys(sorted(refusals)) == []


def test_every_service_state_and_every_prompt_has_its_words() -> None:
    for state in (*service.STATES, "locked"):
        assert not _KEY.search(labels.service_text(str(state))), state
    for kind in labels.QUESTIONS:
        prompt = Prompt(1, kind, "dealer", ("not_whole", "give_up"), slot="bet_sensor.1", deck="blue", seat=2)
        line = status.prompt_text(prompt, "shoe_fault")
        assert with_keys([line]) == [], line
        assert line.endswith(": not_whole (Not whole) | give_up (Take it out of service)")


def test_keys_and_slots_become_words_and_names_of_files_stay() -> None:
    assert plain_text("remove_deck: bet_sensor.2 is not in_service") == "remove deck: Bet sensor 2 is not in service"
    assert plain_text("see table_7.toml and docs/add_a_game.md") == "see table_7.toml and docs/add_a_game.md"
    assert plain_text("the shoe reports 4 cards") == "the shoe reports 4 cards"


def test_the_help_of_device_names_each_kind_in_words() -> None:
    commands = _below(_below(command_parser())["device"])
    assert set(commands) == set(KINDS)
    for kind, page in commands.items():
        assert page.description is not None
        assert not _KEY.search(page.description), kind
        for action in page._actions:
            assert not _KEY.search(" ".join((action.help or "", *map(str, action.choices or ())))), (kind, action.dest)


def _below(parser: ArgumentParser) -> dict[str, ArgumentParser]:
    """Return the commands below a parser."""
    (below,) = [each for each in parser._actions if isinstance(each, _SubParsersAction)]
    return dict(below.choices)
