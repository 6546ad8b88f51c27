"""Settlement by what is known so far: nothing is assumed, and each wager is given as soon as it is decided."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from firmware_bridge.errors import BadHand
from table_controller.rulebook.cards import JOKER, parse_cards
from table_controller.rulebook.settlement.dealt_round import DealtRound, Seat, WagerVerdict
from table_controller.rulebook.settlement.known import missing, missing_for_envy
from table_controller.rulebook.settlement.payments import payments
from table_controller.rulebook.settlement.round_settlement import envy_due, settle, settle_seat
from tests.support.core.settled_rounds import advised, seat, terms
from tests.support.suite.clauses import clauses

PAI_GOW = "face_up_pai_gow_poker"
SEVEN, DEALER = "As Ah 8d 6c 3s Ad Jd", "Ks Kh 9d 7c 4s Qd Jc"
QUADS = "9s 9h 9d 9c 5s Kd Qd"


def known(*seats: Seat, dealer: str = "", replacement: str = "") -> DealtRound:
    return DealtRound(
        seats=seats,
        dealer=parse_cards(dealer),
        replacement=parse_cards(replacement)[0] if replacement else None,
    )


def verdicts(game: str, one: Seat, *others: Seat, dealer: str = "", replacement: str = "") -> dict[str, WagerVerdict]:
    played = known(one, *others, dealer=dealer, replacement=replacement)
    return {verdict.wager: verdict for verdict in settle_seat(terms(game), played, one)}


def lacking(game: str, one: Seat, *others: Seat, dealer: str = "", replacement: str = "") -> set[tuple[str, str, str]]:
    played = known(one, *others, dealer=dealer, replacement=replacement)
    return {(each.wager, each.what, each.clause) for each in missing(terms(game), played, one)}


# --- the player's setting ---------------------------------------------------------------------------------------------


@clauses("575.11(b)", "680a.11(b)(1)", "688a.11(b)", "575.11(a)(1)", "688a.11(a)(1)")
@pytest.mark.parametrize(
    ("game", "cards", "wager", "dealer", "message"),
    [
        ("asia_poker", "As Ah Qs Qh Ts 6d 3c", "asia_poker", DEALER,
         "seat 2: the Asia Poker Wager needs the hands as the player set them (575.11(b))"),
        ("saigon_5_card", "Ks Kh 4s Kd 3s", "ante", "9s 8h 3d 9h 2s",
         "seat 2: the Ante Wager needs the hands as the player set them (680a.11(b)(1))"),
        ("face_up_pai_gow", SEVEN, PAI_GOW, DEALER,
         "seat 2: the Face Up Pai Gow Poker Wager needs the hands as the player set them (688a.11(b))"),
    ],
)  # fmt: skip
def test_the_house_way_is_never_assumed_for_a_player(
    game: str, cards: str, wager: str, dealer: str, message: str
) -> None:
    at, player = terms(game), seat(2, cards, **{wager: 500, "bonus" if game != "face_up_pai_gow" else "fortune": 500})
    with pytest.raises(BadHand) as caught:
        settle(at, known(player, dealer=dealer))
    assert str(caught.value) == message
    assert wager not in verdicts(game, player, dealer=dealer)
    assert lacking(game, player, dealer=dealer) == {(wager, "setting", message.rsplit(" ", 1)[1][1:-1])}
    assert wager in verdicts(game, advised(at, player), dealer=dealer)


@clauses("688a.11(f)(2)(iii)")
def test_an_ace_high_dealer_returns_every_main_wager_however_the_player_sets() -> None:
    player = seat(1, "Kh Kd 8c 6c 3s Qs Jd", **{PAI_GOW: 500})
    for one in (player, msgspec.structs.replace(player, cards=())):
        verdict = verdicts("face_up_pai_gow", one, dealer="As Ks Qd Jc 9s 7d 5h")[PAI_GOW]
        assert (verdict.outcome, verdict.back, verdict.clauses) == (
            "pushes",
            True,
            ("688a.11(f)(2)(iii)", "688a.1:Ace High Pai Gow"),
        )
    assert not verdicts("face_up_pai_gow", player)


@clauses("680a.11(b)(2)", "680a.11(b)(1)")
@pytest.mark.parametrize(
    ("cards", "decided"),
    [
        ("As 2d 2h 2c Ad", True),  # no three make ten, twenty or thirty
        ("Ks Kh Kd Qc Qd", True),  # any three make thirty, and any two a Point Count of 10
        ("Ks Kh Kd 4s 3s", False),  # three kings qualify; a player may have set something else
        ("Ks Kh Kd Qc 3s", False),
    ],
)
def test_five_cards_that_are_one_hand_however_they_are_set_need_no_setting(cards: str, *, decided: bool) -> None:
    assert ("ante" in verdicts("saigon_5_card", seat(1, cards, ante=500), dealer="9s 8h 3d 9h 2s")) is decided


def test_an_entered_setting_is_used_and_not_the_house_way() -> None:
    kept = seat(3, "As Ah Qs Qh | Ts 6d | 3c", asia_poker=2500)
    assert verdicts("asia_poker", kept, dealer=DEALER)["asia_poker"].outcome == "loses"
    split = advised(terms("asia_poker"), msgspec.structs.replace(kept, setting=None))
    assert verdicts("asia_poker", split, dealer=DEALER)["asia_poker"].outcome == "wins"


# --- what is decided by what ------------------------------------------------------------------------------------------


def test_optional_wagers_on_the_cards_alone_need_no_dealer() -> None:
    player = seat(1, QUADS, **{PAI_GOW: 500, "ace_high": 500, "fortune": 500, "progressive": 500})
    assert list(verdicts("face_up_pai_gow", player)) == ["fortune", "progressive"]
    assert list(verdicts("face_up_pai_gow", player, dealer=DEALER.replace("9d", "9c").replace("Qd", "Qh")
                         .replace("9c", "2c"))) == ["ace_high", "fortune", "progressive"]  # fmt: skip
    assert lacking("face_up_pai_gow", player) == {
        (PAI_GOW, "setting", "688a.11(b)"), (PAI_GOW, "dealer", "688a.11(c)"), ("ace_high", "dealer", "688a.11(c)")
    }  # fmt: skip


def test_nothing_known_decides_nothing() -> None:
    player = Seat(number=1, wagers={PAI_GOW: None, "fortune": None})
    assert not verdicts("face_up_pai_gow", player)
    assert ("fortune", "cards", "688a.11(e)") in lacking("face_up_pai_gow", player)


def test_what_a_folded_or_surrendered_hand_loses_needs_no_card() -> None:
    wagers: dict[str, Any] = {"ante": 500, "blind": 500, "bad_beat": 500, "trips": 500, "progressive": 100}
    folded = Seat(number=1, wagers=wagers, fate="gave_up")
    assert list(verdicts("dj_wild", folded)) == ["ante", "blind", "progressive", "bad_beat"]
    given = Seat(number=1, wagers={"ante": 500, "bonus": 500}, fate="gave_up")
    assert list(verdicts("over_under", given)) == ["ante"]
    for game, wager in (("asia_poker", "asia_poker"), ("face_up_pai_gow", PAI_GOW)):
        assert verdicts(game, Seat(number=1, wagers={wager: None}, fate="gave_up"))[wager].outcome == "loses"


@clauses("687a.11(f)(1)")
def test_only_a_joker_waits_for_the_replacement_card() -> None:
    wagers = {"ante": 500, "blind": 500, "raise": 1000, "progressive": 100, "trips": 200}
    plain, joker = seat(1, "9s 9h 9d 7s 4s", **wagers), seat(2, "8s 8h Jk 7c 4c", **wagers)
    assert list(verdicts("dj_wild", plain, joker)) == ["progressive", "trips"]
    assert list(verdicts("dj_wild", joker, plain)) == ["trips"]
    assert ("progressive", "replacement", "687a.11(f)(1)") in lacking("dj_wild", joker)
    assert verdicts("dj_wild", joker, replacement="8d")["progressive"].line == "Three-of-a-Kind"


def test_hands_out_of_the_round_are_decided_at_once() -> None:
    left = Seat(number=1, wagers={"asia_poker": None, "bonus": None}, fate="abandoned")
    assert {each.outcome for each in verdicts("asia_poker", left).values()} == {"loses"}
    assert not lacking("asia_poker", left)


def test_what_is_known_must_be_possible() -> None:
    at = terms("face_up_pai_gow")
    first, other = seat(1, SEVEN, **{PAI_GOW: 500}), seat(2, SEVEN, **{PAI_GOW: 500})
    with pytest.raises(BadHand, match="As appears 2 times"):
        settle_seat(at, known(first, other), first)
    with pytest.raises(BadHand, match="seat 1: 3 cards; a hand has 7"):
        settle_seat(at, known(seat(1, "As Ah 8d", **{PAI_GOW: 500})), first)
    unset = msgspec.structs.replace(first, setting=(parse_cards("As Ah 8d 6c 3s"), parse_cards("Ad Ac")))
    with pytest.raises(BadHand, match="7 cards are set into 2 hands, each card once"):
        settle_seat(at, known(unset), unset)
    other_dealer = DEALER.replace("Ks", "2s")
    half = Seat(number=1, wagers={PAI_GOW: 500, "fortune": None}, cards=first.cards)
    with pytest.raises(BadHand, match="seat 1: no amount of the Fortune Bonus Wager"):
        settle(at, known(advised(at, half), dealer=other_dealer))


# --- amounts and limits -----------------------------------------------------------------------------------------------


def test_a_verdict_has_odds_and_a_known_amount_makes_cents() -> None:
    at = terms("face_up_pai_gow")
    player = Seat(number=1, wagers={PAI_GOW: None, "fortune": None, "progressive": None}, cards=parse_cards(QUADS))
    played = known(player)
    fortune, progressive = settle_seat(at, played, player)
    assert (fortune.odds, fortune.line, progressive.fixed_cents) == ((20, 1), "Four of a Kind", 10_000)
    unknown, paid = payments(at, played, (fortune, progressive))
    assert unknown is None
    assert paid is not None
    assert (paid.wager_cents, paid.paid_cents, paid.back_cents) == (500, 10_000, 500)  # the paytable fixes the bet


@pytest.mark.parametrize(("ante", "second"), [(None, None), (500, (1000, 500, 500))])
def test_amounts_that_follow_from_the_ante(ante: int | None, second: Any) -> None:
    wild = Seat(number=1, wagers={"ante": ante, "blind": None, "raise": None}, cards=parse_cards("9s 9h 9d 7s 4s"))
    over = Seat(number=1, wagers={"ante": ante, "over_23": None}, cards=parse_cards("9s 9h 9d"))
    at, played = terms("dj_wild"), known(wild, dealer="Qd Jc 8c 6c 4d")
    got = {verdict.wager: paid for verdict, paid in zip(
        settle_seat(at, played, wild), payments(at, played, settle_seat(at, played, wild)), strict=True)}  # fmt: skip
    under, alone = terms("over_under"), known(over)
    both = payments(under, alone, settle_seat(under, alone, over))
    if second is None:
        assert not any(got.values())
        assert both == (None, None)
    else:
        assert got["raise"] is not None
        assert got["raise"].paid_cents == second[0]
        assert [each and each.paid_cents for each in both] == list(second[1:])


@clauses("575.12(c)", "680a.12(d)")
@pytest.mark.parametrize(
    ("game", "wager", "whose"), [("asia_poker", "asia_poker", "hand"), ("saigon_5_card", "ante", "player")]
)
def test_under_a_limit_nothing_is_computed_after_an_unknown_payment(game: str, wager: str, whose: str) -> None:
    at = terms(game, adjacent_boxes=2, payout_limit_cents=5_000_000, least_wagers_cents={wager: 200, "bonus": 100})
    seats = (
        Seat(number=1, wagers={wager: 500, "bonus": None}, player=1),
        Seat(number=2, wagers={wager: 500, "bonus": 500}, player=1),
    )
    won = [
        WagerVerdict(seat=number, wager="bonus", outcome="wins", back=True, odds=(10, 1), clauses=())
        for number in (1, 2)
    ]
    first, second = payments(at, known(*seats), won)
    assert first is None
    assert (second is not None) is (whose == "hand")
    lost = WagerVerdict(seat=1, wager="bonus", outcome="loses", back=False, clauses=())
    assert payments(at, known(*seats), (lost, won[1]))[1] is not None  # what is lost is no payment


# --- envy -------------------------------------------------------------------------------------------------------------


@clauses("688a.11(h)(2)(ii)", "688a.1:Qualifying Wager")
def test_envy_is_exact_by_cards_lammers_and_owners() -> None:
    at = terms("face_up_pai_gow")
    bets: dict[str, Any] = {PAI_GOW: None, "fortune": None}
    winner = Seat(number=1, wagers=bets, cards=parse_cards(QUADS), qualifying=("fortune",))
    lammer = Seat(number=2, wagers=bets, qualifying=("fortune",))
    small = Seat(number=3, wagers=bets, qualifying=())
    same = Seat(number=4, wagers=bets, qualifying=("fortune",), player=9)
    also = msgspec.structs.replace(winner, player=9)
    (due,) = envy_due(at, known(winner, lammer, small))
    assert (due.seat, due.envy_of, due.line, due.fixed_cents) == (2, 1, "Four of a Kind", 500)
    assert [each.seat for each in envy_due(at, known(also, lammer, same))] == [2]
    lacks = missing_for_envy(at, known(winner, lammer, small))
    assert [(number, lack.what) for number, lack in lacks] == [(2, "cards"), (3, "cards")]


def test_an_unknown_amount_leaves_envy_open() -> None:
    at = terms("face_up_pai_gow")
    bettor = Seat(number=2, wagers={PAI_GOW: None, "fortune": None}, cards=parse_cards("8h 7d 6h 4c 2s Jh 3c"))
    played = known(seat(1, QUADS, **{PAI_GOW: 500}), bettor)
    assert not envy_due(at, played)
    assert [(number, *lack) for number, lack in missing_for_envy(at, played)] == [
        (2, "fortune", "qualifying", "688a.1:Qualifying Wager")
    ]


@clauses("687a.12(c)/2", "687a.11(c)")
def test_envy_of_the_progressive_waits_for_a_joker_and_leaves_out_cards_in_the_rack() -> None:
    at = terms("dj_wild")
    plain = {"ante": 500, "blind": 500, "raise": 1000}
    bettor, royal = seat(1, "9s 9h 9d 7s 4s", **plain, progressive=100), seat(2, "Ks Qs Jk Ts As", **plain)
    assert JOKER in royal.cards
    assert not envy_due(at, known(bettor, royal))
    assert [(number, lack.what) for number, lack in missing_for_envy(at, known(bettor, royal))] == [(2, "replacement")]
    assert [each.envy_of for each in envy_due(at, known(bettor, royal, replacement="Js"))] == [2]
    allowed = terms("dj_wild", folded_progressive=True)
    for wagers, paid in (({}, []), ({"trips": 500}, [2])):
        folded = Seat(number=2, wagers={"ante": 500, "blind": 500, **wagers}, cards=royal.cards, fate="gave_up")
        assert [each.envy_of for each in envy_due(allowed, known(bettor, folded, replacement="Js"))] == paid
        assert not envy_due(at, known(bettor, folded, replacement="Js"))


@pytest.mark.parametrize("game", ["asia_poker", "saigon_5_card", "over_under"])
def test_games_without_envy(game: str) -> None:
    assert not envy_due(terms(game), known())
    assert not missing_for_envy(terms(game), known())
