"""Face Up Pai Gow Poker's rankings, clause by clause, with the text's own examples."""

from __future__ import annotations

import pytest

from table_controller.rulebook.cards import parse_cards
from table_controller.rulebook.games.face_up_pai_gow import hands as pai_gow
from table_controller.rulebook.hands import hand_features
from table_controller.rulebook.hands.ranking import describe
from tests.support.suite.clauses import clauses


def strength(text: str) -> int:
    return pai_gow.strength(parse_cards(text))


def held(text: str, *, fully_wild: bool = False) -> set[str]:
    cards = parse_cards(text)
    assert len(cards) == 7
    return set(hand_features.feature_names(pai_gow.seven_card_features(cards, fully_wild=fully_wild)))


def falling(*hands: str) -> None:
    """Check that each hand is lower than the one before it."""
    worths = [strength(hand) for hand in hands]
    assert worths == sorted(set(worths), reverse=True)


@clauses("688a.6(b)")
def test_the_classes_from_five_aces_down() -> None:
    falling("As Ah Ad Ac Jk", "As Ks Qs Js Ts", "As 2s 3s 4s 5s", "Ks Qs Js Ts 9s", "6s 5s 4s 3s 2s",
            "As Ah Ad Ac Ks", "2s 2h 2d 2c 3s", "As Ah Ad Ks Kh", "2s 2h 2d 3s 3h", "As Ks Qs Js 9s",
            "7s 5s 4s 3s 2s", "As Kh Qs Js Ts", "As 2h 3s 4s 5s", "Ks Qh Js Ts 9s", "6s 5h 4s 3s 2s",
            "As Ah Ad Ks Qs", "2s 2h 2d 4s 3s", "As Ah Ks Kh Qs", "3s 3h 2s 2h 4s", "As Ah Ks Qs Js",
            "2s 2h 5s 4s 3s", "As Kh Qs Js 9s", "7s 5h 4s 3s 2s")  # fmt: skip


@clauses("688a.6(b)(3)")
def test_the_wheel_is_the_best_straight_flush_below_the_royal() -> None:
    falling("As Ks Qs Js Ts", "Ah 2h 3h 4h 5h", "Ks Qs Js Ts 9s")
    assert strength("Jk 2s 3s 4s 5s") == strength("As 2s 3s 4s 5s")


@clauses("688a.6(b)(7)")
def test_the_wheel_is_the_second_best_straight() -> None:
    falling("As Kh Qs Js Ts", "Ah 2s 3h 4h 5h", "Ks Qh Js Ts 9s")


@clauses("688a.6(a)")
def test_an_ace_ends_a_sequence() -> None:
    assert describe(strength("Qs Kh As 2d 3s")) == "ace high with K-Q-3-2"


@clauses("688a.6(a)")
@pytest.mark.parametrize(
    ("hand", "as_if"),
    [
        ("Jk Ks Qs Js Ts", "royal flush"),
        ("Jk Ks Qh Js Ts", "straight, A-K-Q-J-T"),
        ("Jk 9s 8h 7s 6s", "straight, T-9-8-7-6"),
        ("Jk 9s 8s 7s 6s", "straight flush, T-9-8-7-6"),
        ("Jk As 2h 3s 5s", "straight, 5-4-3-2-A"),
        ("Jk 2s 3h 4s 5s", "straight, 5-4-3-2-A"),
        ("Jk As Ks 9s 4s", "flush, A-K-Q-9-4"),  # the highest rank that the flush does not yet hold (X17)
        ("Jk Ks 9s 4s 2s", "flush, A-K-9-4-2"),
        ("Jk Ks Kh 4s 2s", "pair of kings with A-4-2"),  # never a third king
        ("Jk Ks Kh 2d 2s", "two pair, kings and 2s with A"),
        ("Jk As Kh 4s 2s", "pair of aces with K-4-2"),
        ("Jk As Ah 4s 4d", "full house, aces over 4s"),
        ("Jk As Ah Ad 4d", "four aces with 4"),
        ("Jk As Ah Ad Ac", "five aces"),
        ("Jk 9s 7h 4s 2d", "ace high with 9-7-4-2"),
    ],
)
def test_the_joker_is_an_ace_or_completes(hand: str, as_if: str) -> None:
    assert describe(strength(hand)) == as_if


@clauses("688a.6(c)")
def test_equal_classes_compare_the_highest_card_not_shared_and_else_tie() -> None:
    falling("As Ah Ks Qs 9s", "Ad Ac Ks Qs 8s", "Ks Kh As Qs Js")
    falling("As Ks 9s 4s 3s", "Ah Kh 9h 4h 2h")
    assert strength("As Kd 9s 4h 2c") == strength("Ah Kc 9d 4c 2d")
    assert strength("As Kd") > strength("Ah Qc")
    assert strength("As Kd") == strength("Jk Kc")


def test_the_best_five_of_seven() -> None:
    assert describe(strength("As Ah Ks Kh Qs Qh 2d")) == "two pair, aces and kings with Q"
    assert describe(strength("As Ah Ad Ks Kh Kd 2d")) == "full house, aces over kings"
    assert describe(strength("As Ah 2s 2h 2d 3s 3h")) == "full house, 2s over aces"
    assert describe(strength("As Ah Ad Ac Ks Kh Kd")) == "four aces with K"
    assert describe(strength("Ks Qs 9s 7s 5s 3s 2s")) == "flush, K-Q-9-7-5"


@clauses("688a.1:Setting the hands", "688a.1:High hand", "688a.1:Low hand", "688a.11(b)", "688a.11(f)(1)(iii)",
         "688a.11(f)(1)(iv)")  # fmt: skip
@pytest.mark.parametrize(
    ("high", "low", "clause"),
    [
        ("7s 7h Ks Qs Js", "7d 7c", None),  # the text's example: a pair of sevens below, at least one above
        ("Ks Qh Js 9s 8d", "7d 7c", "688a.11(f)(1)(iii)"),
        ("6s 6h Ks Qs Js", "7d 7c", "688a.11(f)(1)(iii)"),
        ("As Qh Js 9s 8d", "Ad Kc", "688a.11(f)(1)(iii)"),
        ("As Kh Js 9s 8d", "Ad Kc", None),
        ("Ks Qh 9s 8d 7c", "Jk 2c", "688a.11(f)(1)(iii)"),
        ("As Ah Qs Js", "9s 8s 7d", "688a.11(f)(1)(iv)"),
        ("As Ah Qs Js 9s 8s", "7d", "688a.11(f)(1)(iv)"),
    ],
)
def test_a_setting_is_right_or_foul_by_its_clause(high: str, low: str, clause: str | None) -> None:
    assert pai_gow.foul_clause((parse_cards(high), parse_cards(low))) == clause


@clauses("688a.1:Ace High Pai Gow")
@pytest.mark.parametrize(
    ("cards", "ace_high"),
    [
        ("As Kd Qh Jc 9s 7d 5h", True),
        ("Jk Kd Qh 9c 8s 6d 3h", True),
        ("As Jk Qh 9c 8s 6d 3h", False),  # a pair of aces
        ("As Ad Qh 9c 8s 6d 3h", False),
        ("As Kd Qh Jc Ts 7d 5h", False),  # a straight
        ("Jk Kd Qh Jc 9s 7d 5h", False),  # the joker makes it one
        ("As Ks Qs Js 9s 7d 5h", False),  # a flush
        ("Jk Ks Qs 9s 8s 6d 3h", False),
        ("Kd Qh Jc 9s 7d 5h 3c", False),  # king high
        ("As 2d 3h 4c 6s 8d Th", True),
        ("As 2d 3h 4c 5s 8d Th", False),
    ],
)
def test_ace_high_pai_gow(cards: str, ace_high: bool) -> None:
    assert pai_gow.is_ace_high(parse_cards(cards)) is ace_high


@clauses("688a.6(e)", "688a.6(f)")
def test_seven_card_hands() -> None:
    natural = held("8s 9s Ts Js Qs Ks As")
    assert {"seven_card_natural_straight_flush", "seven_card_straight_flush_any", "royal_flush"} <= natural
    assert "seven_card_straight_flush_with_joker" not in natural
    joker = held("8s 9s Ts Jk Qs Ks As")
    assert {"seven_card_straight_flush_with_joker", "seven_card_straight_flush_any"} <= joker
    assert "seven_card_natural_straight_flush" not in joker
    assert "seven_card_straight_flush_any" in held("As 2s 3s 4s 5s 6s 7s")
    assert "seven_card_straight_flush_any" not in held("Ks As 2s 3s 4s 5s 6s")
    assert "seven_card_straight_flush_any" not in held("8s 9s Ts Js Qs Ks Ah")


@clauses("688a.6(e)", "688a.6(f)")
@pytest.mark.parametrize(
    ("cards", "match"),
    [
        ("As Ks Qs Js Ts Kd Qd", True),
        ("Jk Ks Qs Js Ts Kd Qd", True),
        ("As Jk Qs Js Ts Kd Qd", True),  # the joker is the royal's king, not the extra one
        ("As Ks Jk Js Ts Kd Qd", True),
        ("As Ks Qs Js Ts Kd Qh", False),  # two other suits
        ("As Ks Qs Js Ts Jk Qd", False),  # the joker cannot be the extra king (F21)
        ("As Ks Qs Js Ts Kd Jd", False),
        ("As Ks Qs Js 9s Kd Qd", False),
    ],
)
def test_royal_match(cards: str, match: bool) -> None:
    assert ("royal_flush_plus_royal_match" in held(cards)) is match


@clauses("688a.6(b)(9)")
def test_three_pair_is_held_by_seven_cards_only() -> None:
    assert "three_pair" in held("As Ah Ks Kh 2s 2d 7c")
    assert "three_pair" in held("As Jk Ks Kh 2s 2d 7c")
    assert "three_pair" not in held("As Ah Ks Kh 3s 2d 7c")
    assert describe(strength("As Ah Ks Kh 2s 2d 7c")) == "two pair, aces and kings with 7"


@clauses("688a.6(f)(6)", "688a.6(f)")
def test_the_joker_is_fully_wild_only_where_a_table_states_it() -> None:
    quads = "Ks Kh Kd Kc Jk 4s 2d"
    assert "five_of_a_kind" in held(quads, fully_wild=True)
    assert "five_of_a_kind" not in held(quads)
    assert "four_of_a_kind" in held("Ks Kh Kd 9c Jk 4s 2d", fully_wild=True)
    assert "four_of_a_kind" not in held("Ks Kh Kd 9c Jk 4s 2d")
    assert "full_house" in held("Ks Kh 9d 9c Jk 4s 2d", fully_wild=True)
    assert "full_house" not in held("Ks Kh 9d 9c Jk 4s 2d")
    aces = held("As Ah Ad Ac Jk 4s 2d", fully_wild=True)
    assert {"five_aces", "five_of_a_kind"} <= aces
    assert "five_aces" in held("As Ah Ad Ac Jk 4s 2d")
