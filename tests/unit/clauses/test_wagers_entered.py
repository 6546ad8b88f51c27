"""What a wager is, when it may be placed and of what size: the live table refuses another one with the clause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from table_controller.rulebook import duties as duty_rows
from table_controller.rulebook.settlement import check as settlement_check
from table_controller.rulebook.settlement import payments
from table_controller.table import events as ev
from table_controller.table import known_hands, playing
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Prompt, RequestRefused, WagerSettled
from tests.support.core.ideal_table import DEALER, FLOOR, IdealTable, decisions_of, findings, refusal_text
from tests.support.core.ranking_mutants import CHANGED
from tests.support.suite.clause_evidence import cites
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from collections.abc import Callable

ASIA: Final = "asia_poker"
SAIGON: Final = "saigon_5_card"
UNDER: Final = "over_under"
WILD: Final = "dj_wild"
PAI_GOW: Final = "face_up_pai_gow"
NOTHING: Final[dict[str, Any]] = {"wagers": [], "paytables": {}}

# Each optional wager, with the clauses by which it is refused where it is not offered, or comes too late.
OPTIONAL: Final = (
    (ASIA, "bonus", ("575.7(e)",)),
    (SAIGON, "bonus", ("680a.7(d)(2)", "680a.1:Bonus Wager")),
    (UNDER, "bonus", ("686a.6(e)", "686a.1:Bonus Wager")),
    (WILD, "progressive", ("687a.7(d)(2)",)),
    (WILD, "trips", ("687a.7(d)(3)", "687a.1:Trips Bonus Wager")),
    (WILD, "bad_beat", ("687a.7(d)(4)", "687a.1:Two-Way Bad Beat Bonus Wager")),
    (PAI_GOW, "ace_high", ("688a.7(e)(1)", "688a.7(e)", "688a.1:Ace High Bonus Wager")),
    (PAI_GOW, "fortune", ("688a.7(e)(2)", "688a.7(e)", "688a.1:Fortune Bonus Wager")),
)


def offered(game: str, *wagers: str) -> dict[str, Any]:
    """Return the choices that offer some wagers, each with its first paytable."""
    rules = IdealTable(game, **NOTHING).edition
    return {"wagers": list(wagers), "paytables": {name: rules.wager(name).tables[0] for name in wagers}}  # type: ignore[union-attr]


def place(table: IdealTable, wager: str, seat: int, cents: int = 500) -> str:
    """Enter the amount of a wager; return why it is refused, "" if it is not."""
    decided = table.step(ev.AmountEntered(wager, seat, cents, DEALER))
    return refusal_text(decided) if decisions_of(RequestRefused, decided) else ""


def check_optional(game: str, wager: str, cited: tuple[str, ...]) -> None:
    """Check that a wager is refused where it is not offered, without a main wager, and after the lock."""
    without = IdealTable(game, **NOTHING).start("blue", "red").play_to(mc.BETTING)
    refused = place(without, wager, 3)
    assert "is not offered at this table" in refused
    assert all(cites(refused, clause) for clause in cited), refused
    assert not without.round_.amounts
    if wager == "progressive":
        return  # its sensor decides which seats have it
    table = IdealTable(game, **offered(game, wager)).start("blue", "red")
    table.seats = (3, 6)
    table.play_to(mc.BETTING)
    assert place(table, wager, 3) == ""
    table.side = {wager: (3,)}
    table.play_to(mc.SETTLING)
    alone = place(table, wager, 2)
    assert "seat 2 has no main wager" in alone
    late = place(table, wager, 6)
    assert "no wager is placed any more" in late
    for refused in (alone, late):
        assert all(cites(refused, clause) for clause in cited), refused
    assert table.round_.amounts == {wager: {3: 500}}


@pytest.mark.parametrize(
    ("game", "wager", "cited"),
    [pytest.param(*each, marks=clauses(*each[2]), id=f"{each[0]}, {each[1]}") for each in OPTIONAL],
)
def test_an_optional_wager_is_refused_where_it_is_not_offered_or_comes_alone_or_late(
    game: str, wager: str, cited: tuple[str, ...]
) -> None:
    check_optional(game, wager, cited)


@pytest.mark.parametrize(("game", "wager", "cited"), OPTIONAL, ids=lambda each: each if isinstance(each, str) else "")
def test_without_the_check_or_its_row_that_test_fails(
    game: str, wager: str, cited: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = {name: () if name == f"wager_{wager}" else row for name, row in duty_rows.duties(game).items()}
    if len(cited) > 1:
        with monkeypatch.context() as patch:
            patch.setattr(duty_rows, "duties", lambda _: rows)
            with pytest.raises(AssertionError):
                check_optional(game, wager, cited)
    for module in (known_hands, settlement_check):
        monkeypatch.setattr(module, "wager_objection", lambda *_: None)
    with pytest.raises((AssertionError, KeyError)):  # KeyError: the wager has no paytable
        check_optional(game, wager, cited)


# --- wagers that follow a decision ------------------------------------------------------------------------------------


def decided_table(game: str, choice: str) -> IdealTable:
    """Return a table that settles one seat, whose player decided so; its Ante is five dollars."""
    table = IdealTable(game, **NOTHING).start("blue", "red")
    table.seats = (3,)
    table.play_to(mc.PLAYING)
    assert place(table, "ante", 3) == ""
    other = next(each.name for each in table.edition.wagers if each.decision)
    assert f"seat 3 has no {table.edition.wager(other).title}" in place(table, other, 3)  # type: ignore[union-attr]
    table.answer_prompt("decide", choice)
    return table.play_to(mc.SETTLING)


# Game, second wager, another decision, its size for an Ante of five dollars, and the clauses that a refusal cites.
DECISIONS: Final = (
    (UNDER, "over_23", "under_18", 500, ("686a.7(g)(1)", "686a.1:Over 23 Wager")),
    (UNDER, "under_18", "over_23", 500, ("686a.7(g)(2)", "686a.1:Under 18 Wager")),
    (WILD, "raise", "fold", 1000, ("687a.7(d)(1)", "687a.1:Raise Wager")),
)


@pytest.mark.parametrize(
    ("game", "wager", "other", "cents", "cited"),
    [pytest.param(*each, marks=clauses(*each[-1]), id=each[1]) for each in DECISIONS],
)
def test_the_second_wager_is_the_players_decision_and_its_size_follows_from_the_ante(
    game: str, wager: str, other: str, cents: int, cited: tuple[str, ...]
) -> None:
    table = decided_table(game, wager)
    for wrong in (cents - 100, cents + 100):
        refused = place(table, wager, 3, wrong)
        assert f"must be {cents}" in refused
        assert all(cites(refused, clause) for clause in cited), refused
    assert place(table, wager, 3, cents) == ""
    assert table.round_.amounts[wager] == {3: cents}
    another = decided_table(game, other)
    refused = place(another, wager, 3, cents)
    assert refused.startswith("seat 3 has no ")
    assert all(cites(refused, clause) for clause in cited), refused
    assert wager not in another.round_.amounts


@pytest.mark.parametrize(("game", "wager"), [(SAIGON, "bonus"), (PAI_GOW, "fortune")])
def test_an_optional_wager_is_settled_once(game: str, wager: str) -> None:
    """Saigon settles it with the main wager, Pai Gow after it; a stated result does not pay it again."""
    cards = {SAIGON: "As Ah Ad Ac Jk", PAI_GOW: "9s 9h 9d 9c Jk 2c 4d"}[game]
    table = IdealTable(game, **offered(game, wager)).start("blue", "red")
    table.seats, table.side = (3, 6), {wager: (6,)}
    table.play_to(mc.BETTING)
    assert place(table, wager, 6) == ""
    table.play_to(mc.SETTLING)
    table.step(ev.HandEntered(0, {SAIGON: "Kh Kd 8c 6h 2h", PAI_GOW: "Ks Kh 8d 7c 4s Qd Jc"}[game], DEALER))
    for _ in table.prompts("dealer_set"):
        table.answer_prompt("dealer_set")
    table.step(ev.HandEntered(6, cards, DEALER))
    table.step(ev.HouseWayAsked(6, DEALER))
    assert settled_results(table)[6, wager].result.outcome == "wins"
    again = refusal_text(table.step(ev.SeatsSettled(DEALER, wins=(6,), wager=wager)))
    assert again.startswith(f"seat 6 has no {table.edition.wager(wager).title} to settle")  # type: ignore[union-attr]


# --- the order of side wagers, and players who leave ------------------------------------------------------------------


@clauses("688a.11(h)(1)")
def test_ace_high_is_settled_before_the_other_side_wagers_of_a_seat() -> None:
    table = IdealTable(PAI_GOW, **offered(PAI_GOW, "ace_high", "fortune")).start("blue", "red")
    table.seats, table.side = (3,), {"ace_high": (3,), "fortune": (3,)}
    table.play_to(mc.SETTLING)
    refused = refusal_text(table.step(ev.SeatsSettled(DEALER, loses=(3,), wager="fortune")))
    assert refused == "settle the Ace High Bonus Wager of seat 3 first (688a.11(h)(1))"
    assert not table.round_.stated
    for wager in ("ace_high", "fortune"):
        (settled,) = decisions_of(WagerSettled, table.step(ev.SeatsSettled(DEALER, loses=(3,), wager=wager)))
        assert settled.result.wager == wager


def test_without_the_order_of_side_wagers_that_test_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "_settled_before", lambda *_: None)
    with pytest.raises(AssertionError):
        test_ace_high_is_settled_before_the_other_side_wagers_of_a_seat()


@pytest.mark.parametrize(
    ("game", "clause"),
    [
        pytest.param(game, clause, marks=clauses(clause), id=clause)
        for game, clause in (
            (ASIA, "575.7(b)/2"), (SAIGON, "680a.7(b)/2"), (WILD, "687a.7(b)/2"), (PAI_GOW, "688a.7(b)/2"),
        )
    ],
)  # fmt: skip
def test_a_floorperson_alone_takes_the_wagers_of_a_player_who_left_as_lost(game: str, clause: str) -> None:
    table = IdealTable(game).start("blue", "red").play_to(mc.PLAYING)
    table.declare("player_leaves", seat=3)
    asked = table.prompt("player_left")
    assert clause in asked.clauses
    before = table.table.snapshot()
    assert refusal_text(table.answer_prompt("player_left", "abandoned", who=DEALER)) == (
        "the floorperson must answer this"
    )
    assert table.table.snapshot() == before
    decided = table.answer_prompt("player_left", "abandoned", who=FLOOR)
    assert f"the wagers are lost ({clause})" in findings(decided, "abandoned")[0].text
    settled = [prompt.seat for prompt in decisions_of(Prompt, table.settle()) if prompt.kind == "settled"]
    assert 3 not in settled


# --- what the table pays ----------------------------------------------------------------------------------------------


def settled_results(table: IdealTable) -> dict[tuple[int, str], WagerSettled]:
    """Confirm every settlement; return the results."""
    results: dict[tuple[int, str], WagerSettled] = {}
    for _ in range(20):
        asked = [each for each in table.prompts() if each.kind in ("settled", "side_settled") and each.proposals]
        if not asked:
            return results
        decided = table.step(ev.Answer(asked[0].id, "confirmed", DEALER))
        results |= {(each.seat, each.result.wager): each for each in decisions_of(WagerSettled, decided)}
    raise AssertionError("the table settles for ever")


def asia_under_a_limit() -> None:
    limit: dict[str, Any] = {
        "payout_limit_cents": 5_000_000, "least_wagers_cents": {"asia_poker": 500, "bonus": 100},
    }  # fmt: skip
    table = IdealTable(ASIA, **offered(ASIA, "bonus"), **limit).start("blue", "red")
    table.seats, table.side = (3,), {"bonus": (3,)}
    table.play_to(mc.BETTING)
    assert place(table, "bonus", 3, 2_000) == ""
    table.play_to(mc.SETTLING)
    assert place(table, "asia_poker", 3, 10_000) == ""
    table.step(ev.HandEntered(0, "Ks Qh Td 7c 4s 3d 2c", DEALER))
    table.answer_prompt("dealer_set")
    table.step(ev.SettingEntered(3, "8s 8h 8d 8c | As Ad | Ah", DEALER))
    results = settled_results(table)
    main, bonus = results[3, "asia_poker"].result, results[3, "bonus"].result
    assert (main.paid_cents, bonus.paid_cents) == (10_000, 5_000_000 - 10_000), "5,000 to 1 would be more"
    assert "575.12(c)" in bonus.clauses


def saigon_under_a_limit() -> None:
    limit: dict[str, Any] = {
        "payout_limit_cents": 5_000_000, "least_wagers_cents": {"ante": 200, "bonus": 100}, "adjacent_boxes": 2,
    }  # fmt: skip
    table = IdealTable(SAIGON, **offered(SAIGON, "bonus"), **limit).start("blue", "red")
    table.seats, table.boxes = (2, 3), [(2, 3)]
    table.play_to(mc.BETTING)
    assert place(table, "bonus", 2, 20_000) == ""
    assert place(table, "bonus", 3, 800) == ""
    table.play_to(mc.SETTLING)
    assert {place(table, "ante", seat) for seat in (2, 3)} == {""}
    table.step(ev.HandEntered(0, "Kh Kd 8c 6h 2h", DEALER))
    for _ in table.prompts("dealer_set"):
        table.answer_prompt("dealer_set")
    for seat, cards in ((3, "As Ah Ad Ac Jk"), (2, "Ks Qs Js Ts 9s")):
        table.step(ev.HandEntered(seat, cards, DEALER))
        table.step(ev.HouseWayAsked(seat, DEALER))
    results = settled_results(table)
    paid = {key: each.result.paid_cents or 0 for key, each in results.items()}
    assert sum(paid.values()) == 5_000_000, paid
    cut = [key for key, each in results.items() if "680a.12(d)" in each.result.clauses]
    assert cut == [(2, "bonus")], "the box that is settled last is paid what is left"


@clauses("575.12(c)")
def test_a_payout_limit_cuts_what_a_hand_is_paid_at_the_table() -> None:
    asia_under_a_limit()


@clauses("680a.12(d)")
def test_a_payout_limit_counts_all_boxes_of_a_player_at_the_table() -> None:
    saigon_under_a_limit()


def test_without_the_limit_those_tests_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payments, "_cut", lambda result, *_: result)
    for check in (asia_under_a_limit, saigon_under_a_limit):
        with pytest.raises(AssertionError):
            check()


def blind(cards: str) -> WagerSettled:
    table = IdealTable(WILD, **NOTHING).start("blue", "red")
    table.seats = (3,)
    table.play_to(mc.SETTLING)
    table.step(ev.HandEntered(0, "Ks Qh 8d 6c 3h", DEALER))
    table.step(ev.HandEntered(3, cards, DEALER))
    return settled_results(table)[3, "blind"]


@clauses("687a.12(b)")
def test_the_blind_is_paid_by_its_printed_table_and_pushes_below() -> None:
    for cards, outcome, odds in (
        ("9s 8h 7d 6s 5c", "wins", (1, 1)),
        ("9s 9h 9d 9c 5c", "wins", (4, 1)),
        ("9s 9h 9d 7s 4s", "pushes", None),
    ):
        result = blind(cards).result
        assert (result.outcome, result.odds) == (outcome, odds)
        assert "687a.12(b)" in result.clauses


# --- settings ---------------------------------------------------------------------------------------------------------


@clauses("680a.11(b)(1)")
def test_five_cards_are_set_into_three_and_two() -> None:
    table = IdealTable(SAIGON, **NOTHING).start("blue", "red")
    table.seats = (3,)
    table.play_to(mc.SETTLING)
    for wrong in ("Kc 7h | 3s 9s 7d", "Kc 7h 3s 9s | 7d"):
        refused = refusal_text(table.step(ev.SettingEntered(3, wrong, DEALER)))
        assert refused == "seat 3: five cards are set into three and two (680a.11(b)(1))"
    assert not table.round_.hands
    table.step(ev.SettingEntered(3, "Kc 7h 3s | 9s 7d", DEALER))
    assert table.round_.hands[3].setting is not None


# --- progressive bets and envy ----------------------------------------------------------------------------------------


def claimed(game: str, cards: str, **choices: Any) -> WagerSettled:
    """Play a round whose progressive bet the cards decide; return its result."""
    table = IdealTable(game, **choices).start("blue", "red")
    table.seats, table.bets = (6,), {6}
    table.play_to(mc.SETTLING)
    table.step(ev.HandEntered(6, cards, DEALER))
    table.answer_prompt("settled")
    asked = table.prompt("progressive")
    (result,) = decisions_of(WagerSettled, table.step(ev.Answer(asked.id, asked.choices[0], DEALER)))
    assert asked.choices == (asked.choices[0], "disputed"), "the cards decide, or a floorperson"
    return result


WILD_BET: Final[dict[str, Any]] = {
    **offered(WILD, "progressive"), "progressive_rate_bp": 1500, "folded_progressive": True,
    "settings": {"envy_paid_to": "progressive_bettors", "stake_returned": "no"},
}  # fmt: skip


@clauses("687a.6(d)", "687a.7(d)(2)")
def test_the_progressive_of_dj_wild_pays_three_of_a_kind_or_better_without_wild_cards() -> None:
    won = claimed(WILD, "9s 9h 9d 7s 4s", **WILD_BET).result
    assert (won.outcome, won.line) == ("wins", "Three-of-a-Kind")
    lost = claimed(WILD, "9s 9h 2d 7s 4s", **WILD_BET).result
    assert lost.outcome == "loses", "the 2 is a 2"
    assert "687a.6(d)" in won.clauses
    assert "687a.6(d)" in lost.clauses


@clauses("688a.6(f)", "688a.6(f)(6)")
def test_the_progressive_of_pai_gow_pays_the_hands_of_its_table() -> None:
    five: dict[str, Any] = {"wagers": ["progressive"], "paytables": {"progressive": "688a-progressive-2"}}
    won = claimed(PAI_GOW, "9s 9h 9d 9c Jk 2c 4d", **five).result
    assert (won.outcome, won.line) == ("wins", "Five of a Kind")
    assert {"688a.6(f)", "688a.6(f)(6)"} <= set(won.clauses)
    unlisted: dict[str, Any] = {"wagers": ["progressive"], "paytables": {"progressive": "688a-progressive-4"}}
    other = claimed(PAI_GOW, "9s 9h 9d 9c Jk 2c 4d", **unlisted).result
    assert other.line != "Five of a Kind"
    assert "688a.6(f)(6)" not in other.clauses
    lost = claimed(PAI_GOW, "As Kh Qd 9h 7s 2c 5d", **unlisted).result
    assert (lost.outcome, "688a.6(f)" in lost.clauses) == ("loses", True)


def envied() -> WagerSettled:
    """Play a round in which four aces pay envy to one other seat; return that bonus."""
    table = IdealTable(PAI_GOW, **offered(PAI_GOW, "fortune")).start("blue", "red")
    table.side = {"fortune": (1, 6)}
    table.play_to(mc.BETTING)
    for seat, cents in ((1, 500), (6, 499)):
        assert place(table, "fortune", seat, cents) == ""
    table.play_to(mc.SETTLING)
    table.step(ev.HandEntered(0, "Ks Kh 9d 7c 4s Qd Jc", DEALER))
    table.answer_prompt("dealer_set")
    for seat, cards in ((1, "2s 4h 6d 8s Th Jd Qs"), (3, "As Ah Ad Ac 9s 2c 5d"), (6, "2h 3h 5s 7s 8h Js Ts")):
        table.step(ev.HandEntered(seat, cards, DEALER))
        table.step(ev.HouseWayAsked(seat, DEALER))
    for _ in range(40):
        if table.prompts("envy_paid"):
            break
        for event in table.answer(table.prompts()[0]):
            table.step(event)
    (bonus,) = decisions_of(WagerSettled, table.answer_prompt("envy_paid"))
    return bonus


@clauses("688a.1:Envy Bonus", "688a.1:Envy Bonus Qualifying Hand", "688a.12(c)/2")
def test_four_aces_pay_a_fixed_envy_bonus_to_the_other_player_with_a_qualifying_wager() -> None:
    bonus = envied()
    assert (bonus.seat, bonus.result.envy_of, bonus.result.outcome) == (1, 3, "wins")
    assert bonus.result.paid_cents == bonus.result.fixed_cents == 5_00
    cited = {"688a.1:Envy Bonus", "688a.1:Envy Bonus Qualifying Hand", "688a.12(c)/2"}
    assert cited <= set(bonus.result.clauses)


@pytest.mark.parametrize(
    ("rule", "check"),
    [
        ("687a.6(d)", test_the_progressive_of_dj_wild_pays_three_of_a_kind_or_better_without_wild_cards),
        ("688a.6(f)", test_the_progressive_of_pai_gow_pays_the_hands_of_its_table),
        ("688a.6(f)(6)", test_the_progressive_of_pai_gow_pays_the_hands_of_its_table),
        (
            "688a.1:Envy Bonus Qualifying Hand",
            test_four_aces_pay_a_fixed_envy_bonus_to_the_other_player_with_a_qualifying_wager,
        ),
        ("687a.12(b)", test_the_blind_is_paid_by_its_printed_table_and_pushes_below),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_with_another_rule_its_test_fails(
    rule: str, check: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    CHANGED[rule](monkeypatch)
    with pytest.raises((AssertionError, IndexError)):  # IndexError: no envy is paid
        check()
