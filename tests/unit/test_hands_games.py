"""Rankings of the other four games, clause by clause, with the texts' own examples."""

from __future__ import annotations

import pytest

from table_controller.rulebook.cards import parse_cards
from table_controller.rulebook.games.asia_poker import hands as asia
from table_controller.rulebook.games.dj_wild import hands as dj_wild
from table_controller.rulebook.games.over_under import hands as over_under
from table_controller.rulebook.games.saigon_5_card import hands as saigon
from table_controller.rulebook.hands import hand_features
from table_controller.rulebook.hands.ranking import describe
from tests.support.suite.clauses import clauses

# --- Asia Poker -------------------------------------------------------------------------------------------------------


def four(text: str, *, low_flush: bool = False, low_straight: bool = False) -> int:
    rank_of = asia.strength(wheel_lowest_straight_flush=low_flush, wheel_lowest_straight=low_straight)
    return rank_of(parse_cards(text))


def falling(*worths: int) -> None:
    assert list(worths) == sorted(set(worths), reverse=True)


@clauses("575.6(b)", "575.6(b)(4)")
def test_the_four_card_classes_from_four_aces_down() -> None:
    falling(*map(four, (
        "As Ah Ad Ac", "As Ks Qs Js", "As 2s 3s 4s", "Ks Qs Js Ts", "5s 4s 3s 2s", "Ks Kh Kd Kc", "2s 2h 2d 2c",
        "As Ks Qs Ts", "6s 4s 3s 2s", "As Kh Qs Js", "As 2h 3s 4s", "Ks Qh Js Ts", "5s 4h 3s 2s", "As Ah Ad Ks",
        "2s 2h 2d 3s", "As Ah Ks Kh", "3s 3h 2s 2h", "As Ah Ks Qh", "2s 2h 4s 3h", "As Kh Qs Ts", "6s 4h 3s 2s",
    )))  # fmt: skip
    assert four("As Ah Ad Jk") == four("As Ah Ad Ac")


@clauses("575.6(b)(3)", "575.6(b)(6)")
def test_the_wheel_is_lowest_where_the_submission_chooses_it_for_each_class() -> None:
    flushes, straights = ("As 2s 3s 4s", "5s 4s 3s 2s", "Ks Qs Js Ts"), ("As 2h 3s 4s", "5s 4h 3s 2s", "Ks Qh Js Ts")
    for low_flush in (False, True):
        for low_straight in (False, True):
            wheel, lowest, second = (four(hand, low_flush=low_flush, low_straight=low_straight) for hand in flushes)
            falling(*((second, lowest, wheel) if low_flush else (wheel, second, lowest)))
            wheel, lowest, second = (four(hand, low_flush=low_flush, low_straight=low_straight) for hand in straights)
            falling(*((second, lowest, wheel) if low_straight else (wheel, second, lowest)))


@clauses("575.6(a)")
@pytest.mark.parametrize(
    ("hand", "as_if"),
    [
        ("Jk Ks Qs Js", "royal flush"),
        ("Jk Ks Qh Js", "straight, A-K-Q-J"),
        ("Jk 2s 3h 4s", "straight, 4-3-2-A"),
        ("Jk 8s 7h 6s", "straight, 9-8-7-6"),
        ("Jk As Ks 4s", "flush, A-K-Q-4"),
        ("Jk Ks Kh 4s", "pair of kings with A-4"),
        ("Jk As Kh 4s", "pair of aces with K-4"),
        ("Qs Kh As 2d", "ace high with K-Q-2"),  # the ace ends a sequence
        ("Jk 9s 7h 2d", "ace high with 9-7-2"),
    ],
)
def test_the_joker_of_asia_poker(hand: str, as_if: str) -> None:
    assert describe(four(hand), 4) == as_if


@clauses("575.6(b)(9)", "575.6(c)")
def test_medium_and_low_hands() -> None:
    falling(four("As Jk"), four("2s 2h"), four("Ks Qs"), four("Kh Js"), four("Kd"), four("Qs"))
    assert four("As") == four("Jk")
    assert four("Ks Qs") == four("Kh Qd")


@clauses("575.1:Setting the hands", "575.1:High hand", "575.1:Medium hand", "575.1:Low hand", "575.11(b)",
         "575.11(f)(1)(iii)", "575.11(f)(1)(iv)", "575.11(f)(1)(v)")  # fmt: skip
@pytest.mark.parametrize(
    ("hands", "clause"),
    [
        (("7s 7h Ks Qd", "7d 7c", "As"), None),  # the text's example: sevens in both, the longer hand is higher
        (("As Kh 9s 8d", "Ad Qc", "Kc"), None),
        (("As Kh 9s 8d", "Jk Qc", "Ac"), None),  # an ace-high medium hand over a single ace (A12)
        (("Ks Qh 9s 8d", "7d 7c", "As"), "575.11(f)(1)(iii)"),
        (("As Qh 9s 8d", "Ad Kc", "3c"), "575.11(f)(1)(iii)"),
        (("As Ah 9s 8d", "Qd Jc", "Kc"), "575.11(f)(1)(iv)"),
        (("As Ah 9s 8d 7s", "Qd", "Kc"), "575.11(f)(1)(v)"),
        (("As Ah 9s", "Qd Kc", "7s 8d"), "575.11(f)(1)(v)"),
    ],
)
def test_a_setting_of_asia_poker(hands: tuple[str, str, str], clause: str | None) -> None:
    assert asia.foul_clause([parse_cards(hand) for hand in hands], asia.strength()) == clause


def bonus(text: str) -> set[str]:
    cards = parse_cards(text)
    assert len(cards) == 7
    return set(hand_features.feature_names(asia.bonus_features(cards)))


@clauses("575.6(d)", "575.6(d)(7)")
@pytest.mark.parametrize(
    ("cards", "word", "fits"),
    [
        ("8s 8h 8d 8c Ks Kh Kd", "four_8s_plus_three_of_a_kind", True),
        ("8s 8h 8d 8c As Ah Jk", "four_8s_plus_three_of_a_kind", True),  # the joker as an ace (A4)
        ("8s 8h 8d 8c Ks Kh Jk", "four_8s_plus_three_of_a_kind", False),
        ("8s 8h 8d Jk Ks Kh Kd", "four_8s_plus_three_of_a_kind", False),
        ("7s 7h 7d 7c Ks Kh Kd", "four_8s_plus_three_of_a_kind", False),
        ("As Ah Ad Ac Jk 3d 2h", "five_aces", True),
        ("Jk Ks Qs Js Ts 3d 2h", "royal_flush", True),  # with joker too (A4)
        ("9s 8s 7s 6s 5s 3d 2h", "natural_straight_flush", True),
        ("9s 8s 7s 6s Jk 3d 2h", "natural_straight_flush", False),
        ("9s 8s 7s 6s Jk 3d 2h", "straight_flush_with_joker", True),
        ("9s 8s 7s 6s 5s Jk 2h", "natural_straight_flush", True),
        ("9s 8h 7d 6c 4s 3d 2h", "nine_high", True),
        ("9s 8h 7d 5c 4s 3d 2h", "nine_high", True),
        ("9s 8s 7s 6s 4s 3d 2h", "nine_high", True),  # a flush as well
        ("9s 8h 7d 6c 5s 3d 2h", "nine_high", False),
        ("9s 8h 6d 5c 4s 3d 2h", "nine_high", False),
        ("Jk 8h 7d 6c 4s 3d 2h", "nine_high", False),
        ("Ts 8h 7d 6c 4s 3d 2h", "nine_high", False),
    ],
)
def test_bonus_hands_of_asia_poker(cards: str, word: str, fits: bool) -> None:
    assert (word in bonus(cards)) is fits


# --- Saigon 5 Card ----------------------------------------------------------------------------------------------------


@clauses("680a.6(a)", "680a.6(a)(4)")
def test_values_of_saigon() -> None:
    assert [saigon.values(card) for card in parse_cards("As 2s 9s Ts Js Qs Ks")] == [
        (1,), (2,), (9,), (10,), (10,), (10,), (10,)
    ]  # fmt: skip
    assert saigon.values(parse_cards("Jk")[0]) == (3, 6, 9)


@clauses("680a.6(b)", "680a.1:Showdown hand")
@pytest.mark.parametrize(
    ("cards", "count"),
    [
        ("As 4s", 5),
        ("Ts Jd", 10),  # twenty, less ten
        ("As Ad", 2), ("9s 2d", 1), ("9s As", 10), ("Ks 5d", 5), ("8s 9d", 7),
        ("Jk As", 10), ("Jk 2s", 8), ("Jk 5s", 8), ("Jk Ks", 9), ("Jk 4s", 10), ("Jk 7s", 10), ("Jk 8s", 7),
    ],
)  # fmt: skip
def test_point_counts(cards: str, count: int) -> None:
    assert saigon.point_count(parse_cards(cards)) == count


@clauses("680a.6(b)")
def test_a_joker_in_the_showdown_hand_never_makes_five() -> None:
    assert 5 not in {saigon.point_count((card, 52)) for card in range(52)}


@clauses("680a.1:Qualify", "680a.11(b)(1)", "680a.11(b)(2)")
def test_the_texts_own_hand_qualifies_with_twenty() -> None:
    result = saigon.best_set(parse_cards("Jk 8s 6d 5h 2c"))
    assert (result.qualifies, result.point_count) == (True, 10)
    assert set(result.three) == set(parse_cards("Jk 6d 5h"))
    assert set(result.showdown) == set(parse_cards("8s 2c"))
    assert saigon.qualifies(parse_cards("Ts Jd Kh"))
    assert saigon.qualifies(parse_cards("As 2d 7h"))
    assert not saigon.qualifies(parse_cards("As 2d 8h"))
    assert not saigon.best_set(parse_cards("As 2d 2h As 2s")).qualifies


@clauses("680a.11(c)")
def test_of_several_qualifying_sets_the_highest_point_count_is_taken() -> None:
    splits = {results.point_count for results in saigon.settings(parse_cards("As Ad 3h 4c Jk")) if results.qualifies}
    assert splits == {2, 5}  # as the reading works it out (S4)
    assert saigon.best_set(parse_cards("As Ad 3h 4c Jk")).point_count == 5
    for cards in (
        parse_cards("Ts 9d As 5h 5c"),
        parse_cards("Ks Qd 4h 6c 7s"),
    ):  # without a joker the choice does not matter
        assert len({results.point_count for results in saigon.settings(cards) if results.qualifies}) == 1


@clauses("680a.6(c)", "680a.6(c)(1)")
@pytest.mark.parametrize(
    ("cards", "word", "fits"),
    [
        ("As Ah Ad Ac Jk", "five_aces", True),
        ("As Ks Qs Js Ts", "royal_flush_natural", True),
        ("As Ks Qs Jk Ts", "royal_flush_natural", False),
        ("As Ks Qs Jk Ts", "royal_flush_with_joker", True),
        ("Jk Ks Qs Js Ts", "royal_flush_with_joker", True),
        ("As 2s 3s 4s 5s", "straight_flush", True),
        ("Qs Ks As 2s 3s", "straight_flush", False),
        ("Qs Kh As 2s 3s", "straight", False),
        ("Jk 2s 3s 4s 6s", "straight_flush", True),
        ("Jk Ks Kh Kd 2s", "four_of_a_kind", False),  # an ace, not a fourth king
        ("Jk As Ah Ad 2s", "four_of_a_kind", True),
        ("Jk As Ah 2s 2d", "full_house", True),
        ("Jk Ks Kh 2s 2d", "full_house", False),
        ("Jk As 9h 2s 2d", "two_pair", True),
        ("Jk Ks 9h 2s 2d", "two_pair", False),
    ],
)
def test_bonus_hands_of_saigon(cards: str, word: str, fits: bool) -> None:
    assert (word in hand_features.feature_names(saigon.bonus_features(parse_cards(cards)))) is fits


# --- Over/Under -------------------------------------------------------------------------------------------------------


@clauses("686a.3(d)")
def test_totals_of_over_under() -> None:
    assert over_under.total(parse_cards("As Ah Ad")) == 33
    assert over_under.total(parse_cards("2s 2h 2d")) == 6
    assert over_under.total(parse_cards("Ks Th Jd")) == 30
    assert over_under.total(parse_cards("9s 2h Qd")) == 21
    whole = [*over_under.UNDER_18, *over_under.HOUSE, *over_under.OVER_23]
    assert whole == list(range(6, 34))


# --- DJ Wild Stud Poker -----------------------------------------------------------------------------------------------


def wild(text: str) -> int:
    return dj_wild.strength(parse_cards(text))


@clauses("687a.6(a)", "687a.6(c)")
def test_the_classes_from_five_wilds_down() -> None:
    falling(*map(wild, (
        "2s 2h 2d 2c Jk", "As Ks Qs Js Ts", "As Ah Ad Ac Jk", "3s 3h 3d 3c 2s", "Ks Qs Js Ts 9s", "As 2s 3s 4s 5s",
        "As Ah Ad Ac Ks", "3s 3h 3d 3c 4s", "As Ah Ad Ks Kh", "As Ks Qs Js 9s", "As Kh Qs Js Ts", "As 3h 4s 5s Jk",
        "As Ah Ad Ks Qs", "As Ah Ks Kh Qs", "As Ah Ks Qs Js", "As Kh Qs Js 9s",
    )))  # fmt: skip
    assert wild("As Kh Qd 9c 8s") == wild("Ah Kd Qs 9s 8h")


@clauses("687a.6(b)")
@pytest.mark.parametrize(
    ("hand", "as_if"),
    [
        ("2s 2h 2d 2c Jk", "five wilds"),
        ("2s 2h 2d 2c Ks", "royal flush"),
        ("2s 2h 2d 2c 9s", "five 9s"),
        ("2s 2h 2d Ks Qs", "royal flush"),
        ("2s 2h 2d Kh Qs", "four kings with Q"),
        ("2s 2h 2d 9s 8s", "straight flush, Q-J-T-9-8"),
        ("2s Jk Ks Kh 7d", "four kings with 7"),
        ("2s Ks Kh 7d 7c", "full house, kings over 7s"),
        ("2s 2h As 9s 4s", "flush, A-K-Q-9-4"),  # two wild cards: the two highest ranks not yet held
        ("2s 9s 8h 7d 6c", "straight, T-9-8-7-6"),
        ("2s As 3h 4d 5c", "straight, 5-4-3-2-A"),
        ("2s 3h 4d 5c 6s", "straight, 7-6-5-4-3"),
        ("2s 2h As Kh 7d", "three aces with K-7"),
        ("Jk As Kh 7d 4s", "pair of aces with K-7-4"),
    ],
)
def test_wild_cards(hand: str, as_if: str) -> None:
    assert describe(wild(hand)) == as_if


@clauses("687a.6(e)")
@pytest.mark.parametrize(
    ("hand", "paid"),
    [
        ("2s 2h 2d 2c Jk", ("FIVE_WILDS", "with_wild")),
        ("As Ks Qs Js Ts", ("ROYAL_FLUSH", "natural")),
        ("2h Ks Qs Js Ts", ("ROYAL_FLUSH", "with_wild")),
        ("As 2s 3s 4s 5s", ("STRAIGHT_FLUSH", "natural")),  # the 2 is used as a 2 (W7)
        ("6s 2s 3s 4s 5s", ("STRAIGHT_FLUSH", "natural")),
        ("6s 2h 3s 4s 5s", ("STRAIGHT_FLUSH", "with_wild")),
        ("Ks 2s 9s 7s 5s", ("FLUSH", "natural")),  # a 2 that is not needed as wild
        ("Ks 2h 9s 7s 5s", ("FLUSH", "with_wild")),
        ("As 2h 3s 4d 5s", ("STRAIGHT", "natural")),
        ("2s 2h 2d 2c 3s", ("FIVE_OF_A_KIND", "with_wild")),  # natural four of a kind is less
        ("Ks Kh Kd 2s 9h", ("FOUR_OF_A_KIND", "with_wild")),
        ("Ks Kh Kd 8s 9h", ("THREE_OF_A_KIND", "natural")),
        ("Ks Kh Jk 8s 9h", ("THREE_OF_A_KIND", "with_wild")),
    ],
)
def test_natural_and_wild_columns(hand: str, paid: tuple[str, str]) -> None:
    result, column = dj_wild.paid_class(parse_cards(hand))
    assert (result.name, column) == paid


@clauses("687a.6(d)", "687a.11(f)(1)")
def test_the_progressive_replaces_the_joker_and_knows_no_wild_card() -> None:
    cards = parse_cards("2s 2h 2d 2c Jk")
    played = dj_wild.progressive_hand(cards, parse_cards("As")[0])
    assert played == parse_cards("2s 2h 2d 2c As")
    assert "four_of_a_kind" in hand_features.feature_names(
        dj_wild.progressive_features(played, twos_wild=False)
    )  # as W23 states
    pair = dj_wild.progressive_hand(parse_cards("Ks Kh 2d 9c 4s"), None)
    assert "three_of_a_kind" not in hand_features.feature_names(dj_wild.progressive_features(pair, twos_wild=False))
    assert "three_of_a_kind" in hand_features.feature_names(dj_wild.progressive_features(pair, twos_wild=True))
