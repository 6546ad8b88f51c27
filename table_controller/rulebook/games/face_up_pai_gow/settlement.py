"""Face Up Pai Gow Poker (688a.11): main wager, Ace High, Fortune, Progressive of each player, then all envy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.rulebook.cards import JOKER
from table_controller.rulebook.games.face_up_pai_gow import hands as pai_gow
from table_controller.rulebook.hands import hand_features
from table_controller.rulebook.hands.ranking import describe
from table_controller.rulebook.settlement.terms import (
    envy_result,
    first_line,
    line_result,
    lost_result,
    returned_result,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.rulebook.settlement.dealt_round import DealtRound, HandSetting, Seat, WagerResult
    from table_controller.rulebook.settlement.terms import SettlementTerms

_MAIN = "face_up_pai_gow_poker"
# The clauses for a winning and for a losing hand.
_HAND_CLAUSES = {
    "fortune": (("688a.11(h)(2)(i)(B)/1", "688a.12(c)/1"), ("688a.11(h)(2)(i)(A)",)),
    "progressive": (("688a.11(h)(4)(i)(B)(4)/1", "688a.12(d)/1", "688a.12(d)/4"), ("688a.11(h)(4)(i)(A)",)),
}
_ENVY_CLAUSES = {"fortune": ("688a.11(h)(2)(ii)", "688a.12(c)/2"), "progressive": ("688a.11(h)(2)(ii)", "688a.12(d)/3")}


def settle(terms: SettlementTerms, played: DealtRound, seats: list[Seat]) -> Iterator[WagerResult]:
    """Settle the seats in the order given; envy comes after all of them (F9)."""
    dealer = played.dealer_setting or terms.set_by_house_way(played.dealer)
    for seat in seats:
        if seat.fate == "gave_up":
            yield lost_result(seat, _MAIN, ("688a.11(d)/2",), see=("F11",))
            continue
        yield _main(terms, played, seat, dealer)
        if "ace_high" in seat.wagers:
            yield settle_ace_high(terms, played, seat)
        for wager in ("fortune", "progressive"):
            if wager in seat.wagers:
                yield settle_by_hand(terms, seat, wager)
    yield from _envy(terms, seats)


def _main(terms: SettlementTerms, played: DealtRound, seat: Seat, dealer: HandSetting) -> WagerResult:
    hands = seat.setting or terms.set_by_house_way(seat.cards)
    hand = f"{_words(hands)}; dealer {_words(dealer)}"
    if pai_gow.is_ace_high(played.dealer):  # before anything else, fouls included (F12)
        return returned_result(seat, _MAIN, ("688a.11(f)(2)(iii)",), hand, see=("F12",))
    foul = pai_gow.foul_clause(hands)
    if foul is not None:
        return lost_result(seat, _MAIN, (foul,), hand)
    higher = sum(pai_gow.strength(own) > pai_gow.strength(other) for own, other in zip(hands, dealer, strict=True))
    if higher == 0:
        return lost_result(seat, _MAIN, ("688a.11(f)(1)",), hand)
    if higher == 1:
        return returned_result(seat, _MAIN, ("688a.11(f)(2)",), hand)
    line = first_line(terms.table(_MAIN), hand_features.FEATURE_BIT["win"])
    return line_result(terms, seat, _MAIN, line, ("688a.11(f)(3)", "688a.12(a)"), (), hand)


def settle_ace_high(terms: SettlementTerms, played: DealtRound, seat: Seat) -> WagerResult:
    """Settle Ace High by the dealer's hand; it pays more if the player's hand is ace high too."""
    held = 0
    if pai_gow.is_ace_high(played.dealer):
        held = hand_features.FEATURE_BIT[
            "dealer_ace_high_with_joker" if JOKER in played.dealer else "dealer_ace_high_no_joker"
        ]
        held |= hand_features.FEATURE_BIT["both_ace_high"] if pai_gow.is_ace_high(seat.cards) else 0
    line = first_line(terms.table("ace_high"), held)
    hand = f"{describe(pai_gow.strength(seat.cards))}; dealer {describe(pai_gow.strength(played.dealer))}"
    won = ("688a.11(h)(1)(i)(B)", "688a.12(b)")
    return line_result(terms, seat, "ace_high", line, won, ("688a.11(h)(1)(i)(A)",), hand)


def settle_by_hand(terms: SettlementTerms, seat: Seat, wager: str) -> WagerResult:
    """Settle Fortune or Progressive on the player's seven cards; the printed lines of the table decide (F4, F5)."""
    table = terms.table(wager)
    line = first_line(table, pai_gow.seven_card_features(seat.cards, fully_wild=bool(table.fully_wild_joker)))
    return line_result(terms, seat, wager, line, *_HAND_CLAUSES[wager], describe(pai_gow.strength(seat.cards)))


def qualifying_wagers(terms: SettlementTerms, seat: Seat) -> list[str]:
    """Return the wagers of a seat that open envy: at least five dollars each (F3)."""
    rules = terms.edition.envy
    assert rules is not None
    assert rules.least_cents is not None
    opening = ("fortune",) if terms.setting("envy_wagers") == "fortune" else rules.wagers
    if seat.fate not in ("plays", "gave_up"):
        return []
    return [wager for wager in opening if seat.wagers.get(wager, 0) >= rules.least_cents]


def _envy(terms: SettlementTerms, seats: list[Seat]) -> Iterator[WagerResult]:
    """Pay every qualifying wager for each other player's hand, the limited joker for all (F26)."""
    for wager in ("fortune", "progressive"):
        for of in seats:
            if not of.cards or of.fate == "void" or not terms.offers(wager):
                continue
            line = first_line(terms.table(wager), pai_gow.seven_card_features(of.cards))
            if line is None or line.envy_cents is None:
                continue
            for seat in seats:
                if wager in qualifying_wagers(terms, seat) and seat.owner != of.owner:
                    hand = describe(pai_gow.strength(of.cards))
                    yield envy_result(terms, seat, wager, of, line, _ENVY_CLAUSES[wager], hand)


def _words(hands: HandSetting) -> str:
    return "; ".join(describe(pai_gow.strength(hand)) for hand in hands)
