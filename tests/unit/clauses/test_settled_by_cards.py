"""Each clause that decides a wager decides it at the live table: a stated result that the cards contradict is refused.

`settled_examples.toml` has one round for each clause, with the outcome of a settlement that is written from the text.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

from table_controller import rulebook
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Prompt, RequestRefused, WagerSettled
from tests.support.core.ideal_table import DEALER, IdealTable, decisions_of
from tests.support.suite.clauses import clauses

EXAMPLES: Final[list[dict[str, str]]] = tomllib.loads(
    (Path(__file__).parent / "settled_examples.toml").read_text("utf-8")
)["example"]
SEAT: Final = 3
# A result that each outcome contradicts.
OTHER: Final = {"wins": "loses", "loses": "wins", "pushes": "wins"}


def choices_of(game: str, wager: str) -> dict[str, Any]:
    """Offer the wager of the example, with its first paytable."""
    rule = rulebook.edition(game).wager(wager)
    return {"wagers": [wager], "paytables": {wager: rule.tables[0]}} if rule is not None and rule.option else {}


def at_settlement(example: dict[str, str]) -> IdealTable:
    """Return a table that settles one seat, whose cards, setting and optional wager are known."""
    game, wager = example["game"], example["wager"]
    table = IdealTable(game, **choices_of(game, wager)).start("blue", "red")
    table.seats, table.side = (SEAT,), {wager: (SEAT,)}
    decided = example.get("decided")
    table.override = lambda each: (
        [ev.Answer(each.id, decided, DEALER)]
        if isinstance(each, Prompt) and each.kind == "decide" and decided
        else None
    )
    table.play_to(mc.BETTING)
    rule = table.edition.wager(wager)
    if rule is not None and rule.option:
        table.step(ev.AmountEntered(wager, SEAT, 500, DEALER))
    table.play_to(mc.SETTLING)
    for prompt in table.prompts("additional_cards"):
        for event in table.answer(prompt):
            table.step(event)
    if "dealer" in example:
        table.step(ev.HandEntered(0, example["dealer"], DEALER))
    for _ in table.prompts("dealer_set"):
        table.answer_prompt("dealer_set")
    table.step(ev.HandEntered(SEAT, example["cards"], DEALER))
    if "replacement" in example:
        table.step(ev.ReplacementEntered(example["replacement"], DEALER))
    if "hands" in example:
        table.step(ev.SettingEntered(SEAT, example["hands"], DEALER))
    return table


def _stated(table: IdealTable, example: dict[str, str], outcome: str) -> ev.SeatsSettled:
    """Return the statement that the wager of the example ended so."""
    rule = table.edition.wager(example["wager"])
    assert rule is not None
    seats = {outcome: (SEAT,)}
    return ev.SeatsSettled(
        DEALER, seats.get("wins", ()), seats.get("loses", ()), seats.get("pushes", ()),
        example["wager"] if rule.option else "",
    )  # fmt: skip


@pytest.mark.parametrize(
    "example", [pytest.param(each, marks=clauses(each["clause"]), id=each["clause"]) for each in EXAMPLES]
)
def test_a_result_that_the_cards_contradict_is_refused_with_the_clause(example: dict[str, str]) -> None:
    table = at_settlement(example)
    before = table.table.snapshot()
    (refused,) = table.step(_stated(table, example, OTHER[example["outcome"]]))
    assert isinstance(refused, RequestRefused)
    assert example["clause"] in [reason.clause for reason in refused.reasons], refused
    assert table.table.snapshot() == before, "nothing is settled by it"
    decided = table.step(_stated(table, example, example["outcome"]))
    settled = [each.result for each in decisions_of(WagerSettled, decided) if each.result.wager == example["wager"]]
    assert [result.outcome for result in settled] == [example["outcome"]]
    assert example["clause"] in settled[0].clauses
    assert example.get("line", settled[0].line) == settled[0].line


def test_a_wager_that_nobody_placed_in_time_is_not_settled() -> None:
    bonus = next(each for each in EXAMPLES if each["wager"] == "bonus" and each["game"] == "asia_poker")
    table = IdealTable("asia_poker", **choices_of("asia_poker", "bonus")).start("blue", "red")
    table.seats = (SEAT,)
    table.play_to(mc.SETTLING)
    (late,) = table.step(ev.AmountEntered("bonus", SEAT, 500, DEALER))
    assert isinstance(late, RequestRefused)
    assert "no wager is placed any more" in late.what
    (refused,) = table.step(_stated(table, bonus, bonus["outcome"]))
    assert isinstance(refused, RequestRefused)
    assert "has no Bonus Wager to settle" in refused.what
