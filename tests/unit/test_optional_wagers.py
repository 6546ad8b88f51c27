"""Optional wagers that no question asks for: the dealer enters their seats before the lock, and they are settled."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import pytest

from table_controller.journal.record_text import event_text
from table_controller.picture.build import picture_of_table
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.core import Table
from table_controller.table.decisions import RequestRefused, WagerSettled
from tests.support.core.ideal_table import (
    DEALER,
    FLOOR,
    WILD_PROGRESSIVE,
    IdealTable,
    decisions_of,
    findings,
    refusal_text,
)
from tests.support.suite.clause_evidence import cites
from tests.unit.clauses.test_wagers_entered import ASIA, NOTHING, PAI_GOW, SAIGON, UNDER, WILD, offered, place

# Each of these wagers, with the clause that a refusal cites.
ENTERED: Final = (
    (SAIGON, "bonus", "680a.7(d)(2)"), (UNDER, "bonus", "686a.6(e)"), (WILD, "trips", "687a.7(d)(3)"),
    (WILD, "bad_beat", "687a.7(d)(4)"),
)  # fmt: skip
# Wagers whose seats a question before the lock asks for.
ASKED: Final = ((ASIA, "bonus"), (PAI_GOW, "ace_high"), (PAI_GOW, "fortune"))
LOW_DEALER: Final = "Ks Qh 8d 6c 3h"
TRIPS: Final = "9s 9h 9d 7s 4s"
PAIR: Final = "Ts Th 5d 7h 4c"


def betting(game: str, *wagers: str, seats: tuple[int, ...] = (3, 6)) -> IdealTable:
    """Return a table that offers these wagers, with bets open."""
    table = IdealTable(game, **offered(game, *wagers)).start("blue", "red")
    table.seats = seats
    return table.play_to(mc.BETTING)


def enter(table: IdealTable, wager: str, *seats: int, who: ev.Person = DEALER) -> str:
    """Enter the seats with a wager; return why they are refused, "" if they are not."""
    decided = table.step(ev.OptionalWagerEntered(wager, seats, who))
    return refusal_text(decided) if decisions_of(RequestRefused, decided) else ""


def shown(table: IdealTable) -> dict[str, tuple[int, ...]]:
    """Return the wagers that the picture of the table offers to enter, with their seats."""
    return picture_of_table(table.table, 1, None).optional


@pytest.mark.parametrize(("game", "wager", "clause"), ENTERED)
def test_an_entry_names_every_seat_that_has_the_wager_and_replaces_the_former_one(
    game: str, wager: str, clause: str
) -> None:
    table = betting(game, wager)
    assert shown(table) == {wager: ()}
    assert enter(table, wager, 6, 3) == ""
    assert shown(table) == {wager: (3, 6)}
    assert enter(table, wager, 6) == ""
    assert table.round_.optional_wagers == {wager: [6]}
    assert enter(table, wager) == ""
    assert shown(table) == {wager: ()}
    assert enter(table, wager, 3) == ""
    table.play_to(mc.SETTLING)
    assert shown(table) == {}
    assert table.round_.optional_wagers == {wager: [3]}
    late = enter(table, wager, 6)
    assert "no wager is placed any more" in late
    assert cites(late, clause)
    assert table.round_.optional_wagers == {wager: [3]}


@pytest.mark.parametrize(("game", "wager", "clause"), ENTERED)
def test_a_wager_that_is_not_offered_and_a_seat_that_does_not_exist_are_refused(
    game: str, wager: str, clause: str
) -> None:
    without = IdealTable(game, **NOTHING).start("blue", "red").play_to(mc.BETTING)
    refused = enter(without, wager, 3)
    assert "is not offered at this table" in refused
    assert cites(refused, clause)
    table = betting(game, wager)
    assert enter(table, wager, 3, 7).startswith("there is no seat 7")
    assert enter(table, wager, 3, 3).startswith("enter each seat")
    assert enter(table, "nonesuch", 3).endswith("has no wager nonesuch")
    assert "only the dealer" in enter(table, wager, 3, who=FLOOR)
    assert not table.round_.optional_wagers
    idle = IdealTable(game, **offered(game, wager)).start("blue", "red")
    assert "may be entered now" in enter(idle, wager, 3)


@pytest.mark.parametrize(("game", "wager"), ASKED)
def test_a_wager_that_a_question_asks_for_keeps_its_question(game: str, wager: str) -> None:
    table = betting(game, wager)
    assert shown(table) == {}
    refused = enter(table, wager, 3)
    assert "are asked for before the deal" in refused
    assert cites(refused, table.edition.wager(wager).clause)  # type: ignore[union-attr]


def test_required_and_sensed_wagers_and_those_that_players_decide_on_are_refused() -> None:
    table = IdealTable(WILD, **WILD_PROGRESSIVE).start("blue", "red").play_to(mc.BETTING)
    assert "detect which seats" in enter(table, "progressive", 3)
    assert "is no optional wager (687a.7(d)" in enter(table, "ante", 3)
    assert "is no optional wager (687a.7(d)" in enter(table, "raise", 3)
    assert "is no optional wager" in enter(table, "blind", 3)


def test_after_the_seats_are_entered_only_a_seat_with_a_main_wager_can_have_one() -> None:
    table = betting(WILD, "trips", "bad_beat")
    assert enter(table, "trips", 2, 3) == ""
    table.step(ev.NoMoreBets(DEALER))
    prompt = table.prompt("seats")
    decided = table.step(ev.Answer(prompt.id, "done", DEALER, None, (3, 6)))
    (finding,) = findings(decided, "optional_wager_alone")
    assert finding.text.startswith("seat 2, round 1: the Trips Bonus Wager was entered without a main wager")
    assert all(cites(finding.text, clause) for clause in ("687a.7(d)(3)", "687a.1:Trips Bonus Wager"))
    assert table.round_.optional_wagers == {"trips": [3]}


def test_between_the_seats_and_the_lock_an_entry_needs_a_main_wager() -> None:
    choices = WILD_PROGRESSIVE | offered(WILD, "trips", "progressive")
    table = IdealTable(WILD, **choices).start("blue", "red")
    table.seats = (3, 6)
    table.play_to(mc.BETTING)
    table.step(ev.NoMoreBets(DEALER))  # the sensors have not confirmed their locks, so the round is not locked
    prompt = table.prompt("seats")
    table.step(ev.Answer(prompt.id, "done", DEALER, None, (3, 6)))
    assert table.phase == mc.NO_MORE_BETS
    assert "seat 2 has no main wager, so it cannot have a Trips Bonus Wager" in enter(table, "trips", 2)
    assert enter(table, "trips", 6) == ""
    assert shown(table) == {"trips": (6,)}


def test_an_amount_means_the_wager_until_an_entry_without_that_seat() -> None:
    table = betting(WILD, "trips")
    assert place(table, "trips", 3) == ""
    assert place(table, "trips", 6) == ""
    assert shown(table) == {"trips": (3, 6)}
    assert enter(table, "trips", 1, 6) == ""
    assert table.round_.amounts == {"trips": {6: 500}}
    assert shown(table) == {"trips": (1, 6)}


def settled_at_once(table: IdealTable, hands: dict[int, str]) -> dict[tuple[int, str], WagerSettled]:
    """Enter the hands and confirm what is proposed; return each result."""
    table.play_to(mc.SETTLING)
    for at, cards in hands.items():
        assert not decisions_of(RequestRefused, table.step(ev.HandEntered(at, cards, DEALER)))
    results: dict[tuple[int, str], WagerSettled] = {}
    while asked := [*table.prompts("side_settled"), *table.prompts("settled")]:
        assert asked[0].proposals
        decided = table.step(ev.Answer(asked[0].id, "confirmed", DEALER))
        results |= {(each.seat, each.result.wager): each for each in decisions_of(WagerSettled, decided)}
    return results


def test_trips_and_bad_beat_are_settled_by_cards_without_any_amount() -> None:
    table = betting(WILD, "trips", "bad_beat")
    assert enter(table, "trips", 3, 6) == ""
    assert enter(table, "bad_beat", 3) == ""
    results = settled_at_once(table, {0: LOW_DEALER, 3: TRIPS, 6: PAIR})
    assert {key: each.result.outcome for key, each in results.items() if key[1] in ("trips", "bad_beat")} == {
        (3, "trips"): "wins", (6, "trips"): "loses", (3, "bad_beat"): "loses",
    }  # fmt: skip
    assert list(results) == [
        (6, "ante"), (6, "blind"), (6, "raise"), (6, "trips"),
        (3, "ante"), (3, "blind"), (3, "raise"), (3, "trips"), (3, "bad_beat"),
    ]  # fmt: skip
    assert results[3, "trips"].result.odds is not None
    assert results[3, "trips"].result.paid_cents is None


def test_trips_are_settled_after_the_main_wagers_and_the_progressive_bet_of_the_seat() -> None:
    choices = WILD_PROGRESSIVE | offered(WILD, "progressive", "trips")
    table = IdealTable(WILD, **choices).start("blue", "red")
    table.seats, table.bets = (3, 6), {6}
    table.play_to(mc.BETTING)
    assert enter(table, "trips", 3, 6) == ""
    table.play_to(mc.SETTLING)
    table.step(ev.HandEntered(0, LOW_DEALER, DEALER))
    table.step(ev.HandEntered(6, PAIR, DEALER))
    assert {each.wager for each in table.prompt("settled").proposals} == {"ante", "blind", "raise"}
    together = refusal_text(table.step(ev.SeatsSettled(DEALER, loses=(6, 3))))
    assert together == "settle seat 6 with its optional wagers before the next seat (687a.11(f))"
    table.step(ev.Answer(table.prompt("settled").id, "confirmed", DEALER))
    assert not table.prompts("side_settled"), "the progressive bet is next"
    assert not table.prompts("settled"), "one player at a time"
    table.step(ev.Answer(table.prompt("progressive").id, table.prompt("progressive").choices[0], DEALER))
    (side,) = table.prompts("side_settled")
    assert not table.prompts("settled"), "one player at a time"
    assert [(each.wager, each.outcome) for each in side.proposals] == [("trips", "loses")]
    assert "687a.11(f)" in side.clauses
    assert place(table, "trips", 6) == "", "its amount counts until it is settled"
    table.step(ev.Answer(table.prompt("side_settled").id, "confirmed", DEALER))
    assert "seat 6 is settled" in place(table, "trips", 6)
    assert table.prompt("settled").seat == 3
    again = refusal_text(table.step(ev.SeatsSettled(DEALER, loses=(6,), wager="trips")))
    assert again.startswith("seat 6 has no Trips Bonus Wager to settle")


def test_without_known_cards_the_dealer_settles_the_later_wagers_by_touch() -> None:
    table = betting(WILD, "trips", seats=(3,))
    assert enter(table, "trips", 3) == ""
    table.play_to(mc.SETTLING)
    table.answer_prompt("settled")
    assert table.phase == mc.SETTLING
    assert table.prompt("side_settled").choices == ("done",)
    table.answer_prompt("side_settled")
    assert table.phase == mc.COMPLETE


def test_a_folded_hand_keeps_the_trips_wager_that_was_entered() -> None:
    table = betting(WILD, "trips", "bad_beat", seats=(3,))
    assert enter(table, "trips", 3) == ""
    table.play_to(mc.PLAYING)
    table.answer_prompt("decide", "fold")
    results = settled_at_once(table, {0: LOW_DEALER, 3: TRIPS})
    assert results[3, "trips"].result.outcome == "wins"


def test_a_new_round_begins_without_entries_and_a_former_snapshot_has_none() -> None:
    table = betting(SAIGON, "bonus")
    assert enter(table, "bonus", 3) == ""
    kept: dict[str, Any] = msgspec.msgpack.decode(table.table.snapshot())
    assert kept["round"].pop("optional_wagers") == {"bonus": [3]}
    again = Table(table.edition, table.table.context.submission, table.slots)
    again.restore(msgspec.msgpack.encode(kept))
    assert again.state.round.optional_wagers == {}


def test_the_journal_names_the_seats_or_nobody() -> None:
    def text(*seats: int) -> str:
        return event_text(msgspec.json.decode(msgspec.json.encode(ev.OptionalWagerEntered("trips", seats, DEALER))))

    assert text(1, 3) == "optional wager entered by dealer D1: wager trips, seats 1, 3"
    assert text() == "optional wager entered by dealer D1: wager trips, nobody"
