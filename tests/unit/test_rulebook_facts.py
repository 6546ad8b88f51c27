"""Each chapter's facts, copied by hand from its text."""

from __future__ import annotations

import pytest

from table_controller import rulebook
from table_controller.rulebook import GAMES


def test_asia_poker_575() -> None:
    """575.2 to 575.12: one deck with a joker, seven cards each to all positions, four left over."""
    edition = rulebook.edition("asia_poker")
    assert (edition.chapter, edition.status, edition.dated) == ("575", "temporary", "effective 2011-10-01")
    assert (edition.cards.decks, edition.cards.per_deck, edition.cards.jokers, edition.cards.count) == (1, 53, 1, 53)
    assert (edition.cards.cover_cards_least, edition.cards.cover_cards_most) == (2, 2)
    assert edition.cards.two_joker_pack == "torn_and_boxed"
    assert (edition.seats.least, edition.seats.most) == (6, 6)
    assert (edition.hand.cards, edition.hand.split, edition.hand.dealer_face_up) == (7, (4, 2, 1), False)
    assert (edition.deal.to, edition.deal.begins, edition.deal.dealer_turn) == (
        "all_positions", "starting_position", "in_rotation",
    )  # fmt: skip
    assert [(method.name, method.unit, method.stack) for method in edition.deal.methods] == [
        ("manual_shoe", "card", 1), ("hand", "card", 1), ("automated_shoe", "stack", 7),
    ]  # fmt: skip
    assert [method.needs_automated_shuffler for method in edition.deal.methods] == [False, True, False]
    stub = edition.stub
    assert stub is not None
    assert (stub.expected, stub.every_rounds, stub.only_without_counting_shuffler) == (4, 1, False)
    assert edition.cards.count == 7 * 7 + 4
    assert (edition.count.expected, edition.count.on_wrong, edition.count.clause) == (53, "ask_floorperson", None)
    assert edition.change_hours == {"hand": 4, "manual_shoe": 8, "automated_shoe": 8}
    assert [(start.name, start.least, start.most) for start in edition.starts] == [
        ("shaker", 3, 18), ("rng", 1, 7), ("flat_button", 1, 7),
    ]  # fmt: skip
    assert edition.starts[2].needs == ("automated_shuffler", "automated_shoe")
    assert edition.dice is not None
    assert (edition.dice.number, edition.dice.least_shakes, edition.dice.shakes_after_deal) == (3, 3, 1)
    assert edition.dice.max_hours == 24
    assert (edition.cut.by, edition.cut.least_from_top, edition.cut.least_from_bottom) == ("dealer", 10, None)
    assert edition.cut.when == ("manual_shuffle", "preshuffled")
    assert (edition.burn.per_shoe, edition.burn.per_dealer) == (0, 0)
    assert [(wager.name, wager.required, wager.option) for wager in edition.wagers] == [
        ("asia_poker", True, False), ("bonus", False, True),
    ]  # fmt: skip
    assert edition.surrender is not None
    assert edition.surrender.barred_by == ("bonus",)
    assert (edition.settle_order.start, edition.settle_order.direction) == ("far_right", "counterclockwise")
    assert edition.payout_limit is not None
    assert (edition.payout_limit.floor_cents, edition.payout_limit.scope) == (50_000_00, "player_hand")
    assert edition.adjacent_boxes.most == 2
    assert edition.progressive is None
    assert edition.envy is None
    assert not edition.verbal_cash


def test_saigon_5_card_680a() -> None:
    """680a.2 to 680a.12: five cards to Ante seats, a count of 53 by the shuffler or of the stub every five rounds."""
    edition = rulebook.edition("saigon_5_card")
    assert (edition.chapter, edition.status) == ("680a", "adopted")
    assert edition.dated == "effective 2016-12-10, 46 Pa.B. 7661"
    assert (edition.cards.count, edition.cards.jokers) == (53, 1)
    assert (edition.cards.cover_cards_least, edition.cards.cover_cards_most) == (1, 1)
    assert (edition.seats.least, edition.seats.most) == (1, 6)
    assert (edition.hand.cards, edition.hand.split, edition.hand.player_face_up) == (5, (3, 2), False)
    assert (edition.deal.to, edition.deal.begins, edition.deal.dealer_turn) == ("wagered_seats", "far_left", "last")
    assert [(method.name, method.unit, method.stack) for method in edition.deal.methods] == [
        ("manual_shoe", "card", 1), ("hand", "card", 1), ("automated_shoe", "stack", 5),
    ]  # fmt: skip
    stub = edition.stub
    assert stub is not None
    assert (stub.expected, stub.every_rounds, stub.only_without_counting_shuffler) == (None, 5, True)
    assert (edition.count.expected, edition.count.on_wrong) == (53, "remove_deck")
    assert edition.count.clause == "680a.5(b)"
    assert edition.change_hours == {"hand": 4, "manual_shoe": 8, "automated_shoe": 8}
    assert edition.starts == ()
    assert edition.dice is None
    assert (edition.cut.by, edition.cut.least_from_top) == ("dealer", 10)
    assert [wager.name for wager in edition.wagers if wager.required] == ["ante"]
    assert edition.surrender is None
    assert edition.payout_limit is not None
    assert (edition.payout_limit.floor_cents, edition.payout_limit.scope) == (50_000_00, "player_round")
    assert edition.adjacent_boxes.must_state
    assert edition.approved_device.lifts == ("680a.5(d)", "680a.5(e)", "680a.5(f)")
    assert edition.settings == ()


def test_over_under_686a() -> None:
    """686a.2 to 686a.9: six decks of 52, one card and then two face up, no dealer hand, first cards burned."""
    edition = rulebook.edition("over_under")
    assert (edition.chapter, edition.status) == ("686a", "proposed")
    assert (edition.cards.decks, edition.cards.per_deck, edition.cards.jokers, edition.cards.count) == (6, 52, 0, 312)
    assert (edition.cards.cover_cards_least, edition.cards.cover_cards_most) == (1, None)
    assert edition.second_set is not None
    assert (edition.second_set.required, edition.second_set.alternate) == (True, "shoe")
    assert (edition.seats.least, edition.seats.most) == (1, 6)
    assert (edition.hand.cards, edition.hand.first_deal, edition.hand.second_deal) == (3, 1, 2)
    assert (edition.hand.dealer_hand, edition.hand.player_face_up) == (False, True)
    assert edition.deal.dealer_turn == "none"
    assert [method.name for method in edition.deal.methods] == ["dealing_shoe", "continuous_shuffler"]
    assert edition.stub is None
    assert (edition.count.expected, edition.count.on_wrong) == (312, "ask_floorperson")
    assert edition.change_hours == {"dealing_shoe": 24, "continuous_shuffler": 24}
    assert edition.shuffle_after == "shoe"
    assert edition.wagers_close == "first_card"
    assert edition.verbal_cash
    assert (edition.cut.least_from_top, edition.cut.least_from_bottom) == (10, 10)
    assert edition.cut.cover_above_bottom == 78 == 312 // 4
    assert (edition.cut.cover_put_back, edition.cut.by) == ("must", "player_then_dealer")
    assert "machine_shuffle" in edition.cut.when
    assert edition.cut.offered == ("first_arrival", "cover_card_seat", "far_right")
    assert (edition.burn.per_shoe, edition.burn.per_dealer, edition.burn.after_emergency) == (1, 1, 1)
    assert [(wager.name, wager.decision, wager.amount) for wager in edition.wagers] == [
        ("ante", False, "free"), ("over_23", True, "equal_to_ante"),
        ("under_18", True, "equal_to_ante"), ("bonus", False, "free"),
    ]  # fmt: skip
    assert (edition.settle_order.start, edition.settle_order.direction) == ("far_left", "clockwise")
    assert edition.surrender is not None
    assert edition.surrender.loses == ("ante",)
    assert edition.payout_limit is None
    assert edition.submission_choices == ("mid_shoe_entry_ban",)
    # 686a.5(g) repeats the whole opening; the others only turn, wash and stack again.
    assert "inspect" in edition.idle.repeats


def test_dj_wild_stud_poker_687a() -> None:
    """687a.2 to 687a.13: stacks of five to seats with Ante and Blind, a replacement card, a Start Game key."""
    edition = rulebook.edition("dj_wild")
    assert (edition.chapter, edition.status) == ("687a", "proposed")
    assert (edition.cards.count, edition.cards.jokers, edition.cards.cover_cards_most) == (53, 1, 1)
    assert (edition.seats.least, edition.seats.most) == (1, 6)
    assert (edition.hand.cards, edition.hand.split) == (5, ())
    assert {(method.unit, method.stack) for method in edition.deal.methods} == {("stack", 5)}
    assert edition.deal.replacement_card == {"manual_shoe": "offered", "hand": "offered", "automated_shoe": "bet"}
    stub = edition.stub
    assert stub is not None
    assert (stub.expected, stub.every_rounds, stub.only_without_counting_shuffler) == (None, 5, True)
    assert (edition.count.expected, edition.count.on_wrong) == (53, "remove_deck")
    assert edition.change_hours == {"hand": 4, "manual_shoe": 8, "automated_shoe": 8}
    assert [wager.name for wager in edition.wagers if wager.required] == ["ante", "blind"]
    assert [(wager.amount, wager.placed) for wager in edition.wagers if wager.decision] == [
        ("twice_ante", "after_examining"),
    ]  # fmt: skip
    assert [wager.name for wager in edition.wagers if wager.option] == ["progressive", "trips", "bad_beat"]
    assert edition.surrender is not None
    assert (edition.surrender.kind, edition.surrender.loses) == ("fold", ("ante", "blind", "bad_beat"))
    assert edition.settle_order.side_wagers == ("progressive", "trips", "bad_beat")
    assert edition.progressive is not None
    assert (edition.progressive.start_key, edition.progressive.rate) == (True, "submission")
    assert edition.payout_limit is None
    assert [setting.name for setting in edition.settings if setting.default is None] == [
        "envy_paid_to",
        "stake_returned",
    ]


def test_face_up_pai_gow_poker_688a() -> None:
    """688a.2 to 688a.13: as Asia Poker, but a player cuts, the dealer's hand is face up, and there is a progressive."""
    edition = rulebook.edition("face_up_pai_gow")
    assert (edition.chapter, edition.status) == ("688a", "proposed")
    assert (edition.cards.count, edition.cards.jokers, edition.cards.cover_cards_least) == (53, 1, 2)
    assert (edition.seats.least, edition.seats.most) == (6, 6)
    assert (edition.hand.cards, edition.hand.split, edition.hand.dealer_face_up) == (7, (5, 2), True)
    assert [(method.name, method.stack) for method in edition.deal.methods] == [
        ("manual_shoe", 1), ("hand", 1), ("automated_shoe", 7),
    ]  # fmt: skip
    stub = edition.stub
    assert stub is not None
    assert (stub.expected, stub.every_rounds) == (4, 1)
    assert (edition.count.expected, edition.count.on_wrong) == (53, "ask_floorperson")
    assert edition.change_hours == {"hand": 4, "manual_shoe": 8, "automated_shoe": 8}
    assert [start.name for start in edition.starts] == ["shaker", "rng"]
    assert edition.dice is not None
    assert (edition.dice.number, edition.dice.least_shakes, edition.dice.max_hours) == (3, 3, 24)
    assert (edition.cut.by, edition.cut.least_from_top, edition.cut.least_from_bottom) == ("player_then_dealer", 10, 10)
    assert (edition.cut.cover_above_bottom, edition.cut.cover_put_back) == (4, "may")
    assert edition.cut.offered == ("first_arrival", "far_right")
    assert [wager.name for wager in edition.wagers if wager.option] == ["ace_high", "fortune", "progressive"]
    assert edition.surrender is not None
    assert edition.surrender.barred_by == ("ace_high", "fortune", "progressive")
    assert edition.progressive is not None
    assert (edition.progressive.rate, edition.progressive.chips_equal_bets) == ("printed", True)
    assert not edition.progressive.meter_share_from_tray
    assert edition.envy is not None
    assert (edition.envy.least_cents, edition.envy.hand, edition.envy.lammer) == (5_00, "four_of_a_kind", True)
    assert edition.payout_limit is None
    assert edition.idle.shuffler_keeps_stored


@pytest.mark.parametrize("game", [game for game in GAMES if game != "over_under"])
def test_two_decks_alternate_by_round_where_a_shuffler_is_used(game: str) -> None:
    second = rulebook.edition(game).second_set
    assert second is not None
    assert (second.allowed_with, second.required, second.alternate) == ("automated_shuffler", False, "round")


def test_the_opening_is_inspected_verified_spread_looked_at_washed_and_stacked() -> None:
    for game in GAMES:
        edition = rulebook.edition(game)
        steps = [step.name for step in edition.opening if step.when == "delivered"]
        assert steps == ["inspect", "verify_inspection", "spread", "first_look", "wash", "stack"]
        assert edition.opening[1].who == ("floorperson",)
        assert set(steps) <= set(edition.preshuffled.skips)
    both = [("dealer", "floorperson")]
    expected = {"asia_poker": both, "saigon_5_card": both, "over_under": [], "dj_wild": [], "face_up_pai_gow": both}
    for game, who in expected.items():
        assert [s.who for s in rulebook.edition(game).opening if s.name == "spare_joker"] == who, game


def odds(game: str, table: str, column: str = "pay") -> list[int | None]:
    result = next(each for each in rulebook.paytables(game) if each.id == table)
    pays = [getattr(line, column) for line in result.lines]
    return [pay.odds[0] if pay and pay.odds else None for pay in pays]


def test_paytables_are_as_printed() -> None:
    """One of every kind, digit by digit."""
    assert odds("asia_poker", "575-bonus-A") == [5000, 800, 200, 80, 40, 30, 10, 5, 4, 3, 2]
    assert odds("asia_poker", "575-bonus-C") == [5000, 800, 200, 50, 40, 25, 10, 5, 4, 3, 2]
    assert odds("saigon_5_card", "680a-bonus-A") == [5000, 1000, 250, 100, 50, 20, 15, 12, 10, 8]
    assert odds("over_under", "686a-bonus") == [50, 10, 5, 4, 3, 2, 1]
    assert odds("dj_wild", "687a-blind") == [1000, 50, 10, 9, 4, 3, 2, 1, None]
    assert odds("dj_wild", "687a-trips-DJWT-06", "natural") == [None, 400, None, 200, 50, 30, 25, 20, 6]
    assert odds("dj_wild", "687a-trips-DJWT-06", "with_wild") == [500, 70, 60, 25, 6, 5, 4, 3, 1]
    assert odds("dj_wild", "687a-badbeat-DJWBB-02") == [10000, 10000, 5000, 500, 400, 300, 100, 9]
    assert odds("face_up_pai_gow", "688a-acehigh-2") == [40, 15, 5]
    assert odds("face_up_pai_gow", "688a-fortune-1") == [5000, 1000, 750, 250, 100, 50, 20, 5, 4, 3, 2, None]
    ante = next(table for table in rulebook.paytables("saigon_5_card") if table.id == "680a-ante")
    assert [line.pay.odds for line in ante.lines if line.pay] == [(1, 1), (1, 2)]


def test_progressive_tables_are_as_printed() -> None:
    tables = {table.id: table for game in GAMES for table in rulebook.paytables(game) if "progressive" in table.wagers}
    printed = {
        "687a-progressive-1": (1_00, 2_000_00, None, None), "687a-progressive-2": (5_00, 10_000_00, None, None),
        "688a-progressive-1": (1_00, 10_000_00, 28, False), "688a-progressive-2": (1_00, 10_000_00, 7, False),
        "688a-progressive-3": (1_00, 2_000_00, 29, False), "688a-progressive-4": (5_00, 10_000_00, 1, True),
        "688a-progressive-5": (1_00, 5_000_00, 17, False), "688a-progressive-6": (1_00, 2_000_00, 17, False),
        "688a-progressive-7": (1_00, 1_000_00, 26, False),
    }  # fmt: skip
    assert {
        name: (table.unit_cents, table.seed_cents, table.rate_percent, table.stake_returned)
        for name, table in tables.items()
    } == printed
    four = tables["688a-progressive-4"]
    assert four.reserve_percent == 1
    first = four.lines[0]
    assert first.pay is not None
    assert (first.pay.fixed_cents, first.pay.meter_percent, first.envy_cents) == (5_000_00, 100, 5_000_00)
    assert four.lines[-1].pay is not None
    assert four.lines[-1].pay.fixed_cents == 7_50
    assert [name for name, table in tables.items() if table.fully_wild_joker] == [
        "688a-progressive-2", "688a-progressive-5", "688a-progressive-6", "688a-progressive-7",
    ]  # fmt: skip
