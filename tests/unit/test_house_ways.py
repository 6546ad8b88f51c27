"""House ways: how each rule sets a hand, and never a foul hand."""

from __future__ import annotations

import random

import pytest

from firmware_bridge.errors import BadSubmission
from table_controller import rulebook
from table_controller.rulebook import check_submission, edition
from table_controller.rulebook.cards import JOKER, NOTATION, parse_cards
from table_controller.rulebook.game_rules import game_rules
from table_controller.rulebook.games.asia_poker import hands as asia
from table_controller.rulebook.games.asia_poker import house_way as asia_house_way
from table_controller.rulebook.games.face_up_pai_gow import hands as pai_gow
from table_controller.rulebook.games.face_up_pai_gow import house_way as pai_gow_house_way
from table_controller.rulebook.games.saigon_5_card import hands as saigon
from table_controller.rulebook.games.saigon_5_card import house_way as saigon_house_way
from tests.support.suite.clauses import clauses


def ranks(hand: tuple[int, ...]) -> str:
    """The ranks of a hand, highest first; the joker as an ace."""
    return "".join(sorted(("A" if card == JOKER else NOTATION[card][0] for card in hand), key="AKQJT98765432".index))


@clauses("688a.11(c)")
@pytest.mark.parametrize(
    ("cards", "low"),
    [
        ("As Kd Qh Jc 9s 7d 5h", "KQ"),  # no pair: second and third
        ("Kd Kh As 9c 7s 4d 2h", "A9"),  # a pair: the two highest others
        ("Kd Kh Qd Qh 9s 5c 3s", "QQ"),  # two pair: split
        ("9d 9h 4d 4h As 5c 3s", "A5"),  # kept together, an ace leads the low hand
        ("9d 9h 4d 4h Ks 5c 3s", "44"),
        ("Jd Jh 4d 4h As 6c 3s", "A6"),  # jack or better with a pair of 2s to 6s
        ("Jd Jh 7d 7h As 6c 3s", "77"),
        ("Ad Ah 3d 3h Ks 6c 4s", "33"),  # aces always split
        ("Kd Kh 9d 9h 4d 4h As", "KK"),  # three pair: the highest
        ("9d 9h 9s Kh 7d 4s 2c", "K7"),  # three alike stay
        ("Ad Ah As Kh 7d 4s 2c", "AK"),  # three aces: one of them leads the low hand
        ("9d 9h 9s 4d 4h 4s Kc", "99"),  # two threes: a pair of the higher
        ("9d 9h 9s 4d 4h Ks Ac", "44"),  # full house
        ("9d 9h 9s 4d 4h Ks Kc", "KK"),
        ("6d 6h 6s 6c As Kh 9d", "AK"),  # four 2s to 6s stay
        ("8d 8h 8s 8c As Kh 9d", "AK"),  # 7s to 10s with an ace
        ("8d 8h 8s 8c Qs Kh 9d", "88"),  # and split without
        ("Jd Jh Js Jc As Kh 9d", "JJ"),  # jacks and better split
        ("Jd Jh Js Jc 9s 9h 4d", "99"),  # unless a pair is at hand
        ("Jd Jh Js Jc 9s 9h 9d", "99"),
        ("As Ah Ad Ac Jk 9h 4d", "AA"),  # five aces split
        ("As Ah Ad Ac Jk Kh Kd", "KK"),  # but not before kings
        ("9s 8h 7d 6c 5s Kh 2d", "K2"),  # a straight stays whole
        ("9s 8h 7d 6c 5s 5h 2d", "52"),
        ("9s 8h 7d 6c 5s 4h 4d", "44"),  # and a pair goes below
        ("Ks Qs 9s 6s 3s As 2d", "A2"),  # of six in a suit the highest goes below
        ("9s 8h 7d 6c 5s 5h 9d", "55"),  # two pair, and the straight would leave none: split
        ("9s 8h 7d 6c 5s 9h 9d", "99"),  # three alike with a straight: a pair below
        ("Jk Kh Qd 9c 7s 4h 2d", "KQ"),  # the joker is an ace
        ("Jk 9s 8h 7d 6c Ks Qh", "KQ"),  # or completes
    ],
)
def test_standard_5_2(cards: str, low: str) -> None:
    hands = pai_gow_house_way.standard_5_2(parse_cards(cards))
    assert pai_gow.foul_clause(hands) is None
    assert ranks(hands[1]) == low


@clauses("575.11(c)")
@pytest.mark.parametrize(
    ("cards", "medium", "low"),
    [
        ("As Kd Qh 9c 8s 5d 3h", "K9", "Q"),  # no pair: the third highest is the low card
        ("Kd Kh As 9c 7s 4d 2h", "A7", "9"),  # a pair stays above
        ("Kd Kh Qd Qh 9s 5c 3s", "QQ", "9"),  # two pair split
        ("Kd Kh 9d 9h 4d 4h As", "99", "A"),  # three pair: the second in the middle
        ("Kd Kh 9d 9h 4d 4h 2s", "99", "4"),
        ("9d 9h 9s Kh 7d 4s 2c", "K4", "7"),  # three alike stay
        ("Ad Ah As Kh 9d 4s 2c", "A9", "K"),  # three aces: one of them leads the medium hand
        ("9d 9h 9s 4d 4h Ks Ac", "44", "A"),
        ("9d 9h 9s 4d 4h 4s Kc", "99", "K"),  # two threes: the lower stays above
        ("6d 6h 6s 6c As Kh 9d", "A9", "K"),  # four 2s to 6s stay
        ("8d 8h 8s 8c As Kh 5d", "88", "A"),  # others split
        ("8d 8h 8s 8c 5s 5h Kd", "55", "K"),  # unless a pair is at hand
        ("As Ah Ad Ac 5s 5h Kd", "55", "K"),
        ("As Ah Ad Ac Jk Kh 4d", "AA", "K"),  # five aces: three and two
        ("9s 8h 7d 6c Ks Qh 2d", "K2", "Q"),  # a straight stays whole
        ("9s 8h 7d 6c Ks Kh 2d", "KK", "2"),  # a pair goes below
        ("9s 9h 8d 8c 7s 5h 6d", "99", "8"),  # two pair: a straight if it leaves a pair for the middle
        ("9s 9h 8d 8c 7s 7h 6d", "88", "7"),  # and else not
        ("9s 9h 9d 8c 7s 6h Kd", "99", "K"),  # three alike with a straight: a pair in the middle
        ("Jk Kh Qd 9c 7s 4h 2d", "K9", "Q"),  # the joker is an ace
    ],
)
def test_standard_4_2_1(cards: str, medium: str, low: str) -> None:
    hands = asia_house_way.standard_4_2_1(parse_cards(cards))
    assert asia.foul_clause(hands, asia.strength()) is None
    assert (ranks(hands[1]), ranks(hands[2])) == (medium, low)


@clauses("680a.11(c)")
def test_highest_point_count() -> None:
    three, showdown = saigon_house_way.highest_point_count(parse_cards("As Ad 3h 4c Jk"))
    assert (saigon.qualifies(three), saigon.point_count(showdown)) == (True, 5)


def test_a_certificate_holder_chooses_the_ranks_on_which_a_rule_turns() -> None:
    eights = parse_cards("8s 8h 8d 8c Ks 5d 2c")
    (high, low) = pai_gow_house_way.standard_5_2(eights)
    assert len(low) == 2
    assert pai_gow.strength(low) == pai_gow.strength(parse_cards("8s 8h"))
    (high, low) = pai_gow_house_way.standard_5_2(eights, {"fours_kept_to": "8"})
    assert pai_gow.strength(high) >= pai_gow.strength(parse_cards("8s 8h 8d 8c 2c"))
    jacks = parse_cards("Js Jh 5d 5c As 9d 2c")
    (high, low) = pai_gow_house_way.standard_5_2(jacks)
    assert sorted(low) == sorted(parse_cards("As 9d"))
    (high, low) = pai_gow_house_way.standard_5_2(jacks, {"with_second_pair_to": "4"})
    assert pai_gow.strength(low) == pai_gow.strength(parse_cards("5d 5c"))


@pytest.mark.parametrize("rank", ["2", "7", "A"])
@pytest.mark.parametrize("game", ["face_up_pai_gow", "asia_poker"])
def test_no_choice_of_ranks_sets_a_foul_hand(game: str, rank: str, seed: int) -> None:
    rng = random.Random(seed)
    for policy in game_rules(game).house_ways.values():
        chosen = dict.fromkeys(policy.ranks, rank)
        for _ in range(700):
            hands = policy.set_hands(tuple(rng.sample(range(53), 7)), chosen)
            assert (
                pai_gow.foul_clause(hands) if game == "face_up_pai_gow" else asia.foul_clause(hands, asia.strength())
            ) is None


def test_ranks_of_a_house_way_are_checked_in_the_submission() -> None:
    rules = edition("face_up_pai_gow")
    good = check_submission(rules, {"house_way_ranks": {"fours_kept_to": "9"}})
    assert good.house_way_ranks == {"fours_kept_to": "9"}
    with pytest.raises(BadSubmission) as refused:
        check_submission(rules, {"house_way_ranks": {"fours_keep_to": "9", "with_second_pair_to": "11"}})
    assert "did you mean fours_kept_to?" in str(refused.value)
    assert "with_second_pair_to = 11 is not a rank" in str(refused.value)


@pytest.mark.parametrize("game", ["face_up_pai_gow", "asia_poker"])
def test_no_house_way_sets_a_foul_hand_or_loses_a_card(game: str, seed: int) -> None:
    rng = random.Random(seed)
    for policy in game_rules(game).house_ways.values():
        for _ in range(1500):
            cards = tuple(rng.sample(range(53), 7))
            hands = policy.set_hands(cards, {})
            assert sorted(card for hand in hands for card in hand) == sorted(cards)
            assert (
                pai_gow.foul_clause(hands) if game == "face_up_pai_gow" else asia.foul_clause(hands, asia.strength())
            ) is None
            shuffled = tuple(rng.sample(cards, 7))
            again = policy.set_hands(shuffled, {})
            strength = pai_gow.strength if game == "face_up_pai_gow" else asia.strength()
            assert [strength(hand) for hand in again] == [strength(hand) for hand in hands]


def test_every_game_that_sets_hands_has_house_ways_by_name() -> None:
    for game in rulebook.GAMES:
        sets = bool(rulebook.edition(game).hand.split) and rulebook.edition(game).hand.dealer_hand
        assert bool(game_rules(game).house_ways) is sets
