"""575.5(a), (b)(1), (f) and 688a.5(a), (b)(1), (h): shuffled before play, after every round and on order, in one stack.

The cut has its own files because the chapters differ there.
"""

from __future__ import annotations

from typing import Any

import pytest

from firmware_bridge.errors import BadSubmission
from table_controller.rulebook import check_submission
from table_controller.rulebook import edition as committed
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command, HoldOpened, Prompt, RequestRefused, StateChanged
from tests.support.core.ideal_table import DEALER, IdealTable, commanded_acts, decisions_of, refusal_text
from tests.support.core.two_games import ASIA, both, end_with, leave_unanswered, make_table


def reasons_against(table: IdealTable, act: Any, slot: str | None = None, deck: str = "blue") -> dict[str, str]:
    """Return the reasons against an act, each with its clause."""
    return {reason.key: reason.clause for reason in table.table.permit(act, slot, deck)}


@both("575.5(a)/1", "688a.5(a)/1")
def test_an_opened_deck_is_dealt_only_after_its_shuffle(game: str) -> None:
    table = make_table(game)
    table.loads_shuffler = False
    table.start("blue")
    assert table.deck().state == mc.STACKED
    clause = f"{table.edition.chapter}.5(a)/1"
    assert reasons_against(table, "open_bets")["deck_not_ready"] == clause
    assert reasons_against(table, "load", "shoe.1")["deck_not_ready"] == clause
    assert not table.prompts("put_in_shoe")
    table.loads_shuffler = True
    decided = table.settle()
    assert "shuffle" in commanded_acts(decided)
    assert not table.reasons_against_opening()


@both("575.5(a)/1", "688a.5(a)/1")
@pytest.mark.parametrize("machine", [True, False])
def test_a_deck_is_shuffled_after_every_round(game: str, machine: bool) -> None:
    table = make_table(game, "manual_shoe", machine=machine).start("blue")
    for number in (1, 2, 3):
        decided = table.round()
        assert table.round_.number == number
        shuffles = commanded_acts(decided).count("shuffle") + [p.kind for p in decisions_of(Prompt, decided)].count(
            "hand_shuffle"
        )
        assert shuffles == 1
        moved = [d.state for d in decisions_of(StateChanged, decided) if d.what == "deck blue"]
        expected = [mc.IN_DEVICE, mc.READY] if machine else [mc.SHUFFLED, mc.READY]
        assert moved == [mc.IN_PLAY, mc.RACK, *expected]


@both("575.5(a)/1", "688a.5(a)/1")
def test_a_floorperson_orders_a_shuffle_and_nobody_else(game: str) -> None:
    table = make_table(game, two_decks=True).start("blue", "red")
    assert (
        refusal_text(table.step(ev.Ordered("reshuffle", DEALER, deck="blue")))
        == "only a floorperson can order reshuffle"
    )
    table.order("reshuffle", deck="blue")
    assert table.hold("reshuffle_ordered").clauses == (f"{table.edition.chapter}.5(a)/1",)
    assert "any_irregularity" in table.reasons_against_opening()
    table.clear_holds()
    assert (table.deck("blue").state, table.deck("blue").place) == (mc.STACKED, "tray")
    assert "deck_not_ready" in reasons_against(table, "open_bets", deck="blue")


@both("575.5(a)/2", "688a.5(a)/2")
def test_the_shuffler_gives_out_one_shuffled_stack_or_nothing(game: str) -> None:
    table = make_table(game)
    clause = f"{table.edition.chapter}.5(a)/2"
    seen: list[dict[str, str]] = []

    def look(decision: object) -> None:
        if isinstance(decision, Command) and decision.act == "shuffle":
            seen.append(reasons_against(table, "eject", "shuffler.1"))

    table.override = look
    table.start("blue")
    assert seen[0]["deck_not_shuffled"] == clause, "while it shuffles"
    table.override = end_with("shuffle", ev.ShuffleEnded("shuffler.1", 53, shuffled=False))
    table.play(ev.OpenRound(DEALER))
    decided = table.play(ev.NoMoreBets(DEALER), until=lambda decision: isinstance(decision, HoldOpened))
    after = commanded_acts(decided)
    assert "eject" not in after[after.index("shuffle") :], "a sorted deck is no shuffled stack"
    assert "deck_not_shuffled" in reasons_against(table, "eject", "shuffler.1")
    assert table.hold("shuffler_fault").deck == "blue"


@both("575.5(a)/2", "688a.5(a)/2")
def test_a_shuffled_stack_goes_from_the_shuffler_to_where_it_is_dealt_from(game: str) -> None:
    table = make_table(game)
    decided = table.start("blue").log
    entries = [d for _, decisions in decided for d in decisions if isinstance(d, Command | Prompt)]
    path = [d.act if isinstance(d, Command) else d.kind for d in entries]
    assert path[path.index("shuffle") :] == ["shuffle", "eject", "put_in_shoe", "load"]
    assert table.deck().place == "shoe.1"


@both("575.5(b)(1)", "688a.5(b)(1)")
def test_after_a_machine_shuffle_nobody_cuts_and_the_position_comes_before_the_deal(game: str) -> None:
    table = make_table(game).start("blue")
    asked = [p.kind for _, decided in table.log for p in decisions_of(Prompt, decided)]
    assert not {"cut", "first_arrival", "cover_back"} & set(asked)
    assert table.deck().shuffled_by == "counting"
    assert refusal_text(table.order("recut", deck="blue")).endswith(f"without a cut ({table.edition.chapter}.5(b)(1))")
    assert {"start_unknown"} <= table.keys("dispense", "shoe.1", "blue", cards=7)
    decided = table.round()
    done = commanded_acts(decided)
    assert done.index("arm_dice") < done.index("dispense")
    assert "cut" not in [p.kind for p in decisions_of(Prompt, decided)]


# --- a device that reshuffles by itself -------------------------------------------------------------------------------


@both("575.5(f)", "688a.5(h)")
def test_an_approved_reshuffling_device_is_stated_as_the_text_requires(game: str) -> None:
    edition = committed(game)
    clause = "575.5(f)" if game == ASIA else "688a.5(h)"
    raw: dict[str, Any] = {"adjacent_boxes": 1, "reshuffles": True}
    lacking = [raw, raw | {"shuffler": "deck"}]
    for bad in lacking:
        with pytest.raises(BadSubmission) as caught:
            check_submission(edition, bad)
        assert any(f"({clause}" in text for text in caught.value.objections)
    right = {"approved_procedure": "P-17"} if game == ASIA else {"shuffler_counts": True}
    assert check_submission(edition, raw | {"shuffler": "deck"} | right).reshuffles
    assert edition.approved_device.clause == clause


def reshuffling(game: str) -> IdealTable:
    more: dict[str, Any] = {"approved_procedure": "P-17"} if game == ASIA else {}
    return make_table(game, reshuffles=True, **more)


@both("575.5(f)", "688a.5(h)")
def test_an_approved_device_waives_cut_recut_and_idle_spread_but_not_the_position_or_the_stub(game: str) -> None:
    table = reshuffling(game)
    for slot in table.state.slots:
        table.play(ev.SlotChanged(slot, "appear"), ev.SlotChanged(slot, "verify"))
    table.play(ev.DeckReceived("blue", DEALER, preshuffled=True))
    assert table.deck().state == mc.READY, "a delivered stack is not cut"
    assert refusal_text(table.order("table_idle")).startswith("table_idle: not needed with the approved device")
    assert "no cut is needed with the approved device" in refusal_text(table.order("recut", deck="blue"))
    decided = table.round()
    assert "arm_dice" in commanded_acts(decided)
    assert table.round_.number == 1
    assert "stub" in [p.kind for p in decisions_of(Prompt, decided)]
    plain = make_table(game)
    for slot in plain.state.slots:
        plain.play(ev.SlotChanged(slot, "appear"), ev.SlotChanged(slot, "verify"))
    plain.override = leave_unanswered("cut", "first_arrival")
    plain.play(ev.DeckReceived("blue", DEALER, preshuffled=True))
    assert plain.deck().state == mc.SHUFFLED, "without such a device it is"
    (no,) = decisions_of(RequestRefused, plain.step(ev.OpenRound(DEALER)))
    assert "deck_not_ready" in {reason.key for reason in no.reasons}
