"""575.4 and 688a.4: a deck is inspected, verified, spread, looked at, washed and stacked before it is shuffled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from tests.support.core.ideal_table import DEALER, FLOOR, PEOPLE, commanded_acts, refusal_text
from tests.support.core.two_games import both, make_table

if TYPE_CHECKING:
    from tests.support.core.ideal_table import IdealTable


def received(game: str, **how: Any) -> IdealTable:
    """Return a table where the dealer has confirmed that the deck is whole."""
    table = make_table(game, two_decks=True)
    for slot in table.state.slots:
        table.play(ev.SlotChanged(slot, "appear"), ev.SlotChanged(slot, "verify"))
    table.step(ev.DeckReceived("blue", DEALER, **how))
    table.answer_prompt("opening/composition")
    return table


def asked(table: IdealTable, deck: str = "blue") -> list[tuple[str, str]]:
    """Return the open questions of a deck's opening, each with its role."""
    open_ = [p for p in table.prompts() if p.deck == deck and p.kind.startswith("opening/")]
    return [(p.kind.partition("/")[2], p.role) for p in open_]


def answer_until(table: IdealTable, step: str) -> None:
    """Confirm every step of the opening before the given one."""
    for _ in range(20):
        (first, _role), *_ = asked(table)
        if first.startswith(step):
            return
        table.answer_prompt(f"opening/{first}")
    raise AssertionError(f"{step} is never asked for")


@both("575.4(a)", "688a.4(a)")
def test_the_dealer_inspects_and_another_person_verifies(game: str) -> None:
    table = received(game)
    assert asked(table) == [("inspect/dealer", "dealer")]
    table.answer_prompt("opening/inspect/dealer")
    assert asked(table) == [("verify_inspection/floorperson", "floorperson")]
    prompt = table.prompt("opening/verify_inspection/floorperson")
    assert prompt.clauses == (f"{table.edition.chapter}.4(a)",)
    no = refusal_text(table.answer_prompt(prompt.kind, who=ev.Person("floorperson", DEALER.credential)))
    assert no == "the same person confirmed inspect as dealer; another person must confirm this"
    assert refusal_text(table.answer_prompt(prompt.kind, who=DEALER)) == "the floorperson must answer this"
    assert table.deck().state == mc.RECEIVED
    table.answer_prompt(prompt.kind)
    assert (table.deck().state, table.deck().verified) == (mc.INSPECTED, True)
    assert asked(table) == [("spread/dealer", "dealer")]


@both("575.4(a)", "688a.4(a)")
@pytest.mark.parametrize("who", ["inspect/dealer", "verify_inspection/floorperson"])
def test_a_deck_with_a_defect_leaves_the_table(game: str, who: str) -> None:
    table = received(game)
    answer_until(table, who)
    table.answer_prompt(f"opening/{who}", "not_whole")
    assert table.deck().state == mc.REMOVED
    assert "deck_not_ready" in table.reasons_against_opening()


@both("575.4(b)/1", "688a.4(b)/1")
def test_dealer_and_floorperson_both_see_the_spare_joker_torn(game: str) -> None:
    table = received(game, two_jokers=True)
    answer_until(table, "spare_joker")
    assert asked(table) == [("spare_joker/dealer", "dealer"), ("spare_joker/floorperson", "floorperson")]
    assert table.prompt("opening/spare_joker/dealer").clauses == (f"{table.edition.chapter}.4(b)/1",)
    table.answer_prompt("opening/spare_joker/dealer")
    assert asked(table) == [("spare_joker/floorperson", "floorperson")], "the spread waits for both"
    table.answer_prompt("opening/spare_joker/floorperson")
    assert asked(table) == [("spread/dealer", "dealer")]
    single = received(game)
    answer_until(single, "spread")
    assert not any(name.startswith("spare_joker") for name in single.deck().confirmed)


@both("575.4(b)/2", "688a.4(b)/2")
def test_the_deck_is_spread_before_the_first_player_looks(game: str) -> None:
    table = received(game)
    answer_until(table, "spread")
    assert table.prompt("opening/spread/dealer").clauses == (f"{table.edition.chapter}.4(b)/2",)
    assert table.deck().state == mc.INSPECTED
    table.answer_prompt("opening/spread/dealer")
    assert asked(table) == [("first_look/first_player", "dealer")]
    assert table.deck().state == mc.INSPECTED


@both("575.4(c)", "688a.4(c)")
def test_look_wash_and_stack_come_in_this_order_and_before_any_shuffle(game: str) -> None:
    table = received(game)
    answer_until(table, "first_look")
    for step in ("first_look/first_player", "wash/dealer", "stack/dealer"):
        assert [name for name, _ in asked(table)] == [step]
        assert table.prompt(f"opening/{step}").clauses == (f"{table.edition.chapter}.4(c)",)
        assert not commanded_acts(table.step(ev.CardsInserted("shuffler.1"))), (
            "cards that are not stacked are not shuffled"
        )
        assert "not_stacked" in table.keys("shuffle", "shuffler.1", "blue")
        table.step(ev.IntakeEmptied("shuffler.1"))
        table.answer_prompt(f"opening/{step}")
    assert table.deck().state == mc.STACKED
    assert commanded_acts(table.step(ev.CardsInserted("shuffler.1"))) == ["shuffle"]


@both("575.4(d)", "688a.4(d)")
def test_each_of_two_decks_has_its_own_opening(game: str) -> None:
    table = received(game)
    table.step(ev.DeckReceived("red", DEALER))
    assert f"{table.edition.chapter}.4(d)" in table.prompt("opening/composition").clauses
    while asked(table):
        (step, role), *_ = asked(table)
        (prompt,) = (p for p in table.prompts(f"opening/{step}") if p.deck == "blue")
        table.step(ev.Answer(prompt.id, prompt.choices[0], PEOPLE[role]))
    assert table.deck("blue").state == mc.STACKED
    assert table.deck("red").state == mc.RECEIVED
    assert asked(table, "red") == [("composition", "dealer")]
    assert commanded_acts(table.step(ev.CardsInserted("shuffler.1"))) == ["shuffle"]
    assert table.state.slots["shuffler.1"].deck == "blue"
    table.answer_prompt("opening/composition")
    assert asked(table, "red") == [("inspect/dealer", "dealer")], "nothing of the other deck's opening counts for it"
    assert FLOOR.credential not in table.deck("red").confirmed.values()
