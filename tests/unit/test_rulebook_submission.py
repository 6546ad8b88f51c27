"""Rules Submissions: permitted choices are accepted, all others are objected to at once, each with its clause."""

from __future__ import annotations

from typing import Any

import pytest

from firmware_bridge.errors import BadSubmission
from table_controller import rulebook
from table_controller.rulebook import GAMES, Submission, check_submission, default_submission
from tests.support.suite.clauses import clauses

PROGRESSIVE_687A: dict[str, Any] = {
    "adjacent_boxes": 1,
    "wagers": ["progressive"],
    "paytables": {"progressive": "687a-progressive-1"},
    "progressive_rate_bp": 1500,
    "folded_progressive": False,
    "settings": {"envy_paid_to": "progressive_bettors", "stake_returned": "no"},
}


def checked(of: str, /, **raw: Any) -> Submission:
    return check_submission(rulebook.edition(of), {"adjacent_boxes": 1, **raw})


def objections(of: str, /, **raw: Any) -> tuple[str, ...]:
    with pytest.raises(BadSubmission) as caught:
        checked(of, **raw)
    return caught.value.objections


def without(raw: dict[str, Any], *path: str) -> dict[str, Any]:
    """Return a copy of a submission without one key."""
    copy = {**raw, "settings": dict(raw["settings"])}
    inner = copy["settings"] if len(path) == 2 else copy
    del inner[path[-1]]
    return copy


@pytest.mark.parametrize("game", GAMES)
def test_every_game_has_a_plain_lawful_submission(game: str) -> None:
    edition = rulebook.edition(game)
    plain = default_submission(edition)
    assert (plain.game, plain.edition) == (game, edition.digest)
    assert plain.wagers == plain.warnings == ()
    assert (plain.shuffler, plain.shuffler_fact) == ("none", "none")
    assert plain.seats == 6
    always = [wager.name for wager in edition.wagers if not wager.option]
    assert list(plain.paytables) == always
    with pytest.raises(TypeError):
        plain.paytables["bonus"] = "x"  # type: ignore[index]
    with pytest.raises(AttributeError):
        plain.seats = 5  # type: ignore[misc]


def test_the_defaults_of_the_readings_are_filled_in() -> None:
    assert checked("over_under").settings == {"dead_hand_returns": "every_unsettled_wager"}
    assert checked("asia_poker").settings == {"discard_in_stub": "counted"}
    bonus = checked("asia_poker", wagers=["bonus"], paytables={"bonus": "575-bonus-B"})
    assert bonus.settings == {"bonus_lines": "printed", "discard_in_stub": "counted"}
    assert bonus.paytables == {"asia_poker": "575-main", "bonus": "575-bonus-B"}
    other = checked("dj_wild", settings={"settle_direction": "far_left_clockwise"})
    assert other.settings == {"settle_direction": "far_left_clockwise", "blind_amount": "free"}
    single = checked("saigon_5_card", wagers=["bonus"])
    assert single.paytables["bonus"] == "680a-bonus-A"


def test_a_whole_table_is_taken() -> None:
    full = checked(
        "face_up_pai_gow",
        dealing="automated_shoe",
        start="rng",
        shuffler="deck",
        shuffler_counts=True,
        two_decks=True,
        wagers=["ace_high", "fortune", "progressive"],
        paytables={"ace_high": "688a-acehigh-1", "fortune": "688a-fortune-2", "progressive": "688a-progressive-4"},
        adjacent_boxes=2,
        start_marker=True,
    )
    assert full.shuffler_fact == "counting"
    assert full.warnings == ()
    assert (
        checked("over_under", shuffler="batch", two_decks=True, mid_shoe_entry_ban=True).shuffler_fact == "not_counting"
    )
    continuous = {"dealing": "continuous_shuffler", "shuffler": "continuous", "shuffler_counts": True}
    assert checked("over_under", **continuous, reshuffles=True).dealing == "continuous_shuffler"
    button = checked("asia_poker", start="flat_button", dealing="automated_shoe", shuffler="deck")
    assert button.start == "flat_button"
    assert checked("dj_wild", **PROGRESSIVE_687A).settings["progressive_wilds"] == "none"


@pytest.mark.parametrize(
    ("game", "raw", "message"),
    [
        ("saigon_5_card", {"dealing": "hand"}, "dealing = hand needs an automated shuffler (680a.9(a)(1))"),
        ("dj_wild", {"dealing": "hand"}, "dealing = hand needs an automated shuffler (687a.9(a)(1))"),
        ("face_up_pai_gow", {"seats": 5}, "seats = 5: Face Up Pai Gow Poker has exactly 6 (688a.2(a), X1)"),
        ("asia_poker", {"seats": 7}, "seats = 7: Asia Poker has exactly 6 (575.2(a), X1)"),
        ("dj_wild", {"seats": 0}, "seats = 0: DJ Wild Stud Poker has 1 to 6 (687a.2(a), X1)"),
        ("asia_poker", {"start": "flat_button"},
         "start = flat_button needs an automated shuffler and an automated shoe (575.5(g)(3), A8)"),
        ("asia_poker", {"start": "flat_button", "shuffler": "deck"},
         "start = flat_button needs an automated shoe (575.5(g)(3), A8)"),
        ("face_up_pai_gow", {"start": "flat_button"},
         "start = flat_button: Face Up Pai Gow Poker allows shaker, rng (688a.2(c))"),
        ("face_up_pai_gow", {"start": None}, "start = None: Face Up Pai Gow Poker allows shaker, rng (688a.2(c))"),
        ("dj_wild", {"start": "rng"}, "start = rng: the deal begins at the far left (687a.8(d))"),
        ("over_under", {"shuffler": "batch"}, "a batch shuffler needs two batches (686a.3(b), O12)"),
        ("over_under", {"two_decks": True}, "two batches need a shuffler that stores one of them (686a.3(b))"),
        ("over_under", {"shuffler": "deck"}, "shuffler = deck: here it is none or batch or continuous (686a.3(a))"),
        ("over_under", {"dealing": "hand"},
         "dealing = hand: Over/Under allows dealing_shoe, continuous_shuffler (686a.7(a))"),
        ("over_under", {"dealing": "continuous_shuffler"},
         "dealing = continuous_shuffler needs shuffler = continuous (686a.3(a), O7)"),
        ("over_under", {"shuffler": "continuous", "reshuffles": True, "shuffler_counts": True},
         "a continuous shuffler serves as the shoe: dealing = continuous_shuffler (686a.3(a), O7)"),
        ("over_under", {"shuffler": "continuous", "dealing": "continuous_shuffler"},
         "a continuous shuffler needs approval as a device that reshuffles (686a.5(h), O5)"),
        ("saigon_5_card", {"two_decks": True}, "two decks need a shuffler that stores one of them (680a.3(b))"),
        ("saigon_5_card", {"shuffler": "batch"}, "shuffler = batch: here it is none or deck (680a.3(a))"),
        ("saigon_5_card", {"shuffler_counts": True}, "shuffler_counts without a shuffler (680a.5(b))"),
        ("saigon_5_card", {"shuffler": "deck", "reshuffles": True},
         "a device approved to reshuffle also counts: shuffler_counts (680a.5(g))"),
        ("asia_poker", {"shuffler": "deck", "reshuffles": True},
         "reshuffles needs approved_procedure, which replaces the whole section (575.5(f), X12)"),
        ("dj_wild", {"approved_procedure": "x"}, "approved_procedure does not apply here (687a.5(g), X12)"),
        ("face_up_pai_gow", {"wagers": ["fortune"]},
         ("paytables: one of 688a-fortune-1, 688a-fortune-2, 688a-fortune-3, 688a-fortune-4, 688a-fortune-5, "
         "688a-fortune-6 must be selected for fortune (688a.7(e)(2))")),
        ("asia_poker", {"wagers": ["bonus"], "paytables": {"bonus": "680a-bonus-A"}},
         "paytables: 680a-bonus-A is not a paytable of bonus; 575-bonus-A, 575-bonus-B, 575-bonus-C are (575.7(e))"),
        ("asia_poker", {"paytables": {"bonus": "575-bonus-A"}}, "paytables: bonus is not offered (575.7(e))"),
        ("asia_poker", {"paytables": {"tips": "575-bonus-A"}}, "paytables: Asia Poker has no wager tips"),
        ("dj_wild", {"wagers": ["bonus"]},
         "wagers: DJ Wild Stud Poker has no bonus; its options are progressive, trips, bad_beat (687a.7)"),
        ("dj_wild", {"wagers": ["ante"]}, "wagers: ante is not optional, it is always offered (687a.7(d)(1))"),
        ("saigon_5_card", {"wagers": ["bonus", "bonus"]}, "wagers: bonus is named twice"),
        ("dj_wild", without(PROGRESSIVE_687A, "progressive_rate_bp"),
         "the progressive needs progressive_rate_bp, because the regulation gives no rate of progression (W11)"),
        ("dj_wild", {**PROGRESSIVE_687A, "progressive_rate_bp": 0}, "progressive_rate_bp = 0 must be 1 to 10000 (W11)"),
        ("dj_wild", without(PROGRESSIVE_687A, "folded_progressive"),
         "the progressive needs folded_progressive (687a.11(b)(3), W21)"),
        ("dj_wild", without(PROGRESSIVE_687A, "settings", "envy_paid_to"),
         ("the progressive needs the setting envy_paid_to: who is paid envy: every other seat with a registered "
         "progressive bet (W10)")),
        ("dj_wild", without(PROGRESSIVE_687A, "settings", "stake_returned"),
         ("the progressive needs the setting stake_returned: whether a winning progressive bet comes back with its "
         "pay (W14)")),
        ("face_up_pai_gow", {"progressive_rate_bp": 100},
         "progressive_rate_bp: the rate cannot be chosen here (688a.12)"),
        ("face_up_pai_gow", {"folded_progressive": True}, "folded_progressive does not apply here"),
        ("over_under", {"settings": {"dead_hand_returns": "nothing"}},
         "settings: dead_hand_returns = nothing may be every_unsettled_wager or ante (O9)"),
        ("over_under", {"settings": {"dead_hands_return": "ante"}},
         "settings: there is no dead_hands_return; did you mean dead_hand_returns?"),
        ("dj_wild", {"settings": {"bad_beat_pays": "either_hand"}},
         "settings: bad_beat_pays applies only with the wager bad_beat (W15)"),
        ("dj_wild", {"mid_shoe_entry_ban": True}, "mid_shoe_entry_ban is not a choice in DJ Wild Stud Poker"),
        ("face_up_pai_gow", {"wheel_lowest_straight": True},
         "wheel_lowest_straight is not a choice in Face Up Pai Gow Poker"),
        ("asia_poker", {"adjacent_boxes": 3}, "adjacent_boxes = 3 must be 1 to 2 (575.7(f))"),
        ("dj_wild", {"adjacent_boxes": 7}, "adjacent_boxes = 7 must be 1 to 6 (687a.7(e))"),
        ("dj_wild", {"payout_limit_cents": 1},
         "payout_limit_cents: DJ Wild Stud Poker allows no limit (X9)"),
        ("asia_poker", {"payout_limit_cents": 9_000_000},
         "a payout limit needs least_wagers_cents of asia_poker (575.12(c))"),
        ("asia_poker", {"payout_limit_cents": 4_999_999, "least_wagers_cents": {"asia_poker": 1000}},
         "payout_limit_cents = 4999999 must be at least 5000000 (575.12(c), X9)"),
        ("asia_poker", {"least_wagers_cents": {"asia_poker": 0, "tips": 3}},
         "least_wagers_cents: asia_poker = 0 must be at least 1"),
        ("dj_wild", {"game": "over_under"}, "game = over_under: this is the edition of dj_wild"),
        ("dj_wild", {"edition": "00"}, f"edition 00 is not the one in use, {rulebook.edition('dj_wild').digest} (X16)"),
        ("dj_wild", {"seets": 6}, "unknown key seets; did you mean seats?"),
        ("dj_wild", {"warnings": []}, "unknown key warnings"),
        ("dj_wild", {"seats": "six"}, "seats: expected `int`, got `str`"),
        ("dj_wild", {"dealing": "shoe"}, "dealing: invalid enum value 'shoe'"),
    ],
)  # fmt: skip
def test_an_objection_cites_what_it_rests_on(game: str, raw: dict[str, Any], message: str) -> None:
    assert message in objections(game, **raw)


@pytest.mark.parametrize("game", ["saigon_5_card", "over_under", "dj_wild"])
def test_adjacent_boxes_must_be_stated_where_the_text_requires_it(game: str) -> None:
    edition = rulebook.edition(game)
    with pytest.raises(BadSubmission) as caught:
        check_submission(edition, {})
    assert caught.value.objections == (f"adjacent_boxes must be stated ({edition.adjacent_boxes.clause})",)
    for other in ("asia_poker", "face_up_pai_gow"):
        assert check_submission(rulebook.edition(other), {}).adjacent_boxes == 1


def test_all_objections_come_at_once() -> None:
    messages = objections("dj_wild", dealing="hand", seats=9, start="shaker", wagers=["progressive"], nonsense=1)
    for part in ("687a.9(a)(1)", "687a.2(a)", "687a.8(d)", "W10", "W11", "W14", "W21", "unknown key nonsense"):
        assert any(part in each for each in messages), part
    assert len(messages) == 9
    error = BadSubmission(messages)
    assert error.code == "PB-619"
    assert str(error) == "; ".join(messages)


def test_tables_that_fall_short_of_their_payback_give_a_warning() -> None:
    for number, text in (("6", "47.349"), ("7", "56.201")):
        table = f"688a-progressive-{number}"
        chosen = checked("face_up_pai_gow", wagers=["progressive"], paytables={"progressive": table})
        (warning,) = chosen.warnings
        assert warning.startswith(table)
        assert text in warning
        assert warning.endswith("(F8)")
    fine = checked("face_up_pai_gow", wagers=["progressive"], paytables={"progressive": "688a-progressive-1"})
    assert fine.warnings == ()


def test_a_payout_limit_covers_the_best_win_at_the_least_wagers() -> None:
    """575.12(c): at least $50,000, or the most that one player could win in a round at the least wager."""
    small = {"asia_poker": 10_00, "bonus": 5_00}
    offered = {"wagers": ["bonus"], "paytables": {"bonus": "575-bonus-A"}}
    assert checked("asia_poker", payout_limit_cents=50_000_00, least_wagers_cents=small, **offered).payout_limit_cents
    # $25 at 5,000 to 1 and $25 at even money.
    large = {"asia_poker": 25_00, "bonus": 25_00}
    enough = 125_000_00 + 25_00
    assert checked("asia_poker", payout_limit_cents=enough, least_wagers_cents=large, **offered)
    (objection,) = objections("asia_poker", payout_limit_cents=enough - 1, least_wagers_cents=large, **offered)
    assert f"must be at least {enough} (575.12(c), X9)" in objection
    (objection,) = objections(
        "asia_poker", payout_limit_cents=enough, least_wagers_cents=large, adjacent_boxes=2, **offered
    )  # a player on two boxes may win on both
    assert f"must be at least {2 * enough}" in objection
    # 680a.12(b) pays half of the Ante on a count of 5, 680a.12(a) all of it: the better one is measured.
    saigon = {"least_wagers_cents": {"ante": 60_000_00}}
    (objection,) = objections("saigon_5_card", payout_limit_cents=50_000_00, **saigon)
    assert "must be at least 6000000 (680a.12(d), X9)" in objection


@clauses("575.11(c)", "688a.11(c)")
def test_the_house_way_is_named_and_has_a_default() -> None:
    assert checked("face_up_pai_gow").house_way == "standard_5_2"
    assert checked("asia_poker", house_way="standard_4_2_1").house_way == "standard_4_2_1"
    assert checked("saigon_5_card").house_way == "highest_point_count"
    assert checked("dj_wild").house_way is None
    assert objections("face_up_pai_gow", house_way="by_feel") == (
        "house_way = by_feel: the dealer sets by standard_5_2 (688a.11(c))",
    )
    assert objections("dj_wild", house_way="standard_5_2") == ("house_way = standard_5_2: the dealer sets no hands",)
