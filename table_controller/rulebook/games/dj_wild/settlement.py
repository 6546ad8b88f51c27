"""DJ Wild Stud Poker (687a.11): folded hands, then Ante, Blind and Raise against the dealer, then the other wagers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.rulebook.games.dj_wild import hands
from table_controller.rulebook.hands import hand_features, poker5
from table_controller.rulebook.hands.ranking import class_of, describe
from table_controller.rulebook.settlement.terms import (
    envy_result,
    first_line,
    line_result,
    lost_result,
    returned_result,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.rulebook.settlement.dealt_round import DealtRound, Seat, WagerResult
    from table_controller.rulebook.settlement.terms import SettlementTerms

_REQUIRED = ("ante", "blind", "raise")


def settle(terms: SettlementTerms, played: DealtRound, seats: list[Seat]) -> Iterator[WagerResult]:
    """Settle the seats in the order given; folded wagers were collected before the dealer's hand was seen (c)."""
    for seat in sorted(seats, key=lambda seat: seat.number):  # asked from the far left clockwise (b)
        if seat.fate == "gave_up":
            yield from _folded(seat)
    dealer = hands.strength(played.dealer)
    for seat in seats:
        if seat.fate == "plays":
            yield from _required(terms, seat, dealer)
        yield from settle_optional(terms, played, seat, "progressive", "trips")
        if seat.fate == "plays" and "bad_beat" in seat.wagers:
            yield _bad_beat(terms, seat, dealer)
    yield from _envy(terms, played, seats)


def _folded(seat: Seat) -> Iterator[WagerResult]:
    for wager, clause in (("ante", "687a.11(b)"), ("blind", "687a.11(b)"), ("bad_beat", "687a.11(b)(2)")):
        if wager in seat.wagers:
            yield lost_result(seat, wager, (clause,))


def _required(terms: SettlementTerms, seat: Seat, dealer: int) -> Iterator[WagerResult]:
    own = hands.strength(seat.cards)
    hand = f"{describe(own)}; dealer {describe(dealer)}"
    for wager in _REQUIRED:
        if own == dealer:
            yield returned_result(seat, wager, ("687a.11(e)(2)",), hand, see=("W27",))
        elif own < dealer:
            yield lost_result(seat, wager, ("687a.11(e)(3)",), hand)
        else:
            held = hand_features.FEATURE_BIT["win"] | hands.class_features(class_of(own))
            line = first_line(terms.table(wager), held)
            pays = "687a.12(b)" if wager == "blind" else "687a.12(a)"
            yield line_result(terms, seat, wager, line, ("687a.11(e)(1)", pays), (), hand)


def settle_optional(terms: SettlementTerms, played: DealtRound, seat: Seat, *wagers: str) -> Iterator[WagerResult]:
    """Settle Progressive and Trips on the player's cards alone, even in a void round (687a.13(d))."""
    if "progressive" in wagers and "progressive" in seat.wagers:
        yield _progressive(terms, played, seat)
    if "trips" in wagers and "trips" in seat.wagers:
        hand_class, column = hands.paid_class(seat.cards)
        line = first_line(terms.table("trips"), hands.class_features(hand_class))
        survived = ("687a.11(b)(1)",) if seat.fate == "gave_up" else ()
        won = (*survived, "687a.11(f)(2)(ii)", "687a.12(d)")
        hand = f"{describe(hands.strength(seat.cards))}, {column.replace('_', ' ')}"
        yield line_result(terms, seat, "trips", line, won, (*survived, "687a.11(f)(2)(i)"), hand, column)


def _progressive(terms: SettlementTerms, played: DealtRound, seat: Seat) -> WagerResult:
    survived = ("687a.11(b)(3)",) if seat.fate == "gave_up" else ()
    if survived and not terms.submission.folded_progressive:
        return lost_result(seat, "progressive", survived, see=("W21",))
    cards = hands.progressive_hand(seat.cards, played.replacement)
    twos = terms.setting("progressive_wilds") == "twos"
    line = first_line(terms.table("progressive"), hands.progressive_features(cards, twos_wild=twos))
    won = (*survived, "687a.11(f)(1)(ii)", "687a.12(c)/1")
    hand = describe(hands.strength(cards) if twos else poker5.best_strength(cards))
    return line_result(terms, seat, "progressive", line, won, (*survived, "687a.11(f)(1)(i)"), hand)


def _bad_beat(terms: SettlementTerms, seat: Seat, dealer: int) -> WagerResult:
    """Pay a beaten hand of three of a kind or better: the player's, and the dealer's only if so submitted (W15)."""
    own = hands.strength(seat.cards)
    pays = own < dealer or (dealer < own and terms.setting("bad_beat_pays") == "either_hand")
    line = first_line(terms.table("bad_beat"), hands.class_features(class_of(min(own, dealer)))) if pays else None
    hand = f"{describe(own)}; dealer {describe(dealer)}"
    won = ("687a.11(f)(3)(ii)", "687a.12(e)")
    return line_result(terms, seat, "bad_beat", line, won, ("687a.11(f)(3)(i)",), hand, see=("W15",))


def _envy(terms: SettlementTerms, played: DealtRound, seats: list[Seat]) -> Iterator[WagerResult]:
    """Pay each progressive bettor for every other player's royal or straight flush (W10)."""
    bettors = [seat for seat in seats if "progressive" in seat.wagers and seat.fate in ("plays", "gave_up")]
    if not bettors:
        return
    table = terms.table("progressive")
    twos = terms.setting("progressive_wilds") == "twos"
    for of in seats:
        if not of.cards or (of.fate == "gave_up" and not terms.submission.folded_progressive):
            continue
        cards = hands.progressive_hand(of.cards, played.replacement)
        line = first_line(table, hands.progressive_features(cards, twos_wild=twos))
        if line is None or line.envy_cents is None:
            continue
        for seat in bettors:
            if seat.owner != of.owner:
                yield envy_result(
                    terms, seat, "progressive", of, line, ("687a.12(c)/2",), describe(poker5.best_strength(cards))
                )
