"""DJ Wild Stud Poker (687a.11): folded hands, then Ante, Blind and Raise against the dealer, then the other wagers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.rulebook.cards import JOKER
from table_controller.rulebook.games.dj_wild import hands
from table_controller.rulebook.hands import hand_features, poker5
from table_controller.rulebook.hands.ranking import class_of, describe
from table_controller.rulebook.settlement.dealt_round import Need
from table_controller.rulebook.settlement.ranked_by import duties_of, line_by, ranked_by
from table_controller.rulebook.settlement.terms import by_line, envy_bonus, first_line, lost, returned

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from table_controller.rulebook.settlement.dealt_round import DealtRound, Seat, WagerVerdict
    from table_controller.rulebook.settlement.terms import SettlementTerms
    from table_controller.rulebook.texts import PaytableLine

_GAME = "dj_wild"
_CARDS = Need("cards", "687a.11(e)")
_DEALER = Need("dealer", "687a.11(d)")
_REPLACEMENT = Need("replacement", "687a.11(f)(1)")
_ENVY = "687a.12(c)/2"
# What a player who folds forfeits, collected before the dealer's hand is seen (c), and by which clause.
_FORFEITED = {"ante": "687a.11(b)", "blind": "687a.11(b)", "bad_beat": "687a.11(b)(2)"}
COLLECTED_FIRST = tuple(_FORFEITED)


def needs(terms: SettlementTerms, _: DealtRound, seat: Seat, wager: str) -> tuple[Need, ...]:
    """Return what a wager depends on; a forfeited one is lost with any cards."""
    if seat.fate == "gave_up" and (wager in _FORFEITED or _is_folded_progressive(terms, seat, wager)):
        return ()
    if wager == "trips":
        return (_CARDS,)
    if wager == "progressive":
        return (_CARDS, _REPLACEMENT) if JOKER in seat.cards else (_CARDS,)
    return (_CARDS, _DEALER)


def _is_folded_progressive(terms: SettlementTerms, seat: Seat, wager: str) -> bool:
    """Whether a progressive bet is lost because its hand was folded (687a.11(b)(3))."""
    return wager == "progressive" and seat.fate == "gave_up" and not terms.submission.folded_progressive


def settle_wager(terms: SettlementTerms, played: DealtRound, seat: Seat, wager: str) -> WagerVerdict:
    """Settle one wager."""
    if wager == "progressive":
        return _progressive(terms, played, seat)
    if wager == "trips":
        return _trips(terms, seat)
    if seat.fate == "gave_up":
        return lost(seat, wager, (_FORFEITED[wager], *duties_of(_GAME, "fold")))
    return (_bad_beat if wager == "bad_beat" else _required)(terms, played, seat, wager)


def _required(terms: SettlementTerms, played: DealtRound, seat: Seat, wager: str) -> WagerVerdict:
    own, dealer = hands.strength(seat.cards), hands.strength(played.dealer)
    hand = f"{describe(own)}; dealer {describe(dealer)}"
    ranks = ranked_by(_GAME, seat.cards, played.dealer, hands.strength, hands.WILD)
    if own == dealer:
        return returned(seat, wager, ("687a.11(e)(2)", *ranks), hand, see=("W27",))
    if own < dealer:
        return lost(seat, wager, ("687a.11(e)(3)", *ranks), hand)
    held = hand_features.FEATURE_BIT["win"] | hands.class_features(class_of(own))
    line = first_line(terms.table(wager), held)
    pays = "687a.12(b)" if wager == "blind" else "687a.12(a)"
    return by_line(terms, seat, wager, line, ("687a.11(e)(1)", pays, *ranks), (), hand)


def _trips(terms: SettlementTerms, seat: Seat) -> WagerVerdict:
    """Settle Trips on the player's cards alone."""
    hand_class, column = hands.paid_class(seat.cards)
    line = first_line(terms.table("trips"), hands.class_features(hand_class))
    survived = ("687a.11(b)(1)",) if seat.fate == "gave_up" else ()
    ranks = line_by(_GAME, "trips", line)
    won = (*survived, "687a.11(f)(2)(ii)", "687a.12(d)", *ranks)
    hand = f"{describe(hands.strength(seat.cards))}, {column.replace('_', ' ')}"
    return by_line(terms, seat, "trips", line, won, (*survived, "687a.11(f)(2)(i)", *ranks), hand, column)


def _progressive(terms: SettlementTerms, played: DealtRound, seat: Seat) -> WagerVerdict:
    survived = ("687a.11(b)(3)",) if seat.fate == "gave_up" else ()
    if _is_folded_progressive(terms, seat, "progressive"):
        return lost(seat, "progressive", survived, see=("W21",))
    line, hand = _progressive_line(terms, played, seat)
    replaced = duties_of(_GAME, "joker_replaced") if JOKER in seat.cards else ()
    ranks = (*line_by(_GAME, "progressive", line), *replaced)
    won = (*survived, "687a.11(f)(1)(ii)", "687a.12(c)/1", *ranks)
    return by_line(terms, seat, "progressive", line, won, (*survived, "687a.11(f)(1)(i)", *ranks), hand)


def _progressive_line(terms: SettlementTerms, played: DealtRound, seat: Seat) -> tuple[PaytableLine | None, str]:
    """Return the line that a hand reaches with the joker replaced, and the hand in words."""
    cards = hands.progressive_hand(seat.cards, played.replacement)
    twos = terms.setting("progressive_wilds") == "twos"
    line = first_line(terms.table("progressive"), hands.progressive_features(cards, twos_wild=twos))
    return line, describe(hands.strength(cards) if twos else poker5.best_strength(cards))


def _bad_beat(terms: SettlementTerms, played: DealtRound, seat: Seat, _wager: str) -> WagerVerdict:
    """Pay a beaten hand of three of a kind or better: the player's, and the dealer's only if so submitted (W15)."""
    own, dealer = hands.strength(seat.cards), hands.strength(played.dealer)
    pays = own < dealer or (dealer < own and terms.setting("bad_beat_pays") == "either_hand")
    line = first_line(terms.table("bad_beat"), hands.class_features(class_of(min(own, dealer)))) if pays else None
    hand = f"{describe(own)}; dealer {describe(dealer)}"
    ranks = line_by(_GAME, "bad_beat", line)
    won = ("687a.11(f)(3)(ii)", "687a.12(e)", *ranks)
    return by_line(terms, seat, "bad_beat", line, won, ("687a.11(f)(3)(i)", *ranks), hand, see=("W15",))


# --- envy -------------------------------------------------------------------------------------------------------------


def envy(terms: SettlementTerms, played: DealtRound, seats: Sequence[Seat]) -> Iterator[WagerVerdict]:
    """Pay each progressive bettor for every other player's royal or straight flush (W10)."""
    for of in seats:
        bettors = _envious(terms, seats, of)
        if not bettors or not of.cards or (JOKER in of.cards and played.replacement is None):
            continue
        line, hand = _progressive_line(terms, played, of)
        if line is not None and line.envy_cents is not None:
            for seat in bettors:
                yield envy_bonus(terms, seat, "progressive", of, line, (_ENVY,), hand)


def envy_needs(terms: SettlementTerms, played: DealtRound, seat: Seat) -> Iterator[tuple[str, Need]]:
    """Yield what is needed of a seat whose hand may pay envy."""
    if _envious(terms, played.seats, seat):
        yield "progressive", Need("cards", _ENVY)
        if JOKER in seat.cards:
            yield "progressive", _REPLACEMENT


def _envious(terms: SettlementTerms, seats: Sequence[Seat], of: Seat) -> list[Seat]:
    """Return the seats that a hand would pay envy to: other players with a progressive bet."""
    stays = {"trips", "progressive"} & set(of.wagers) and terms.submission.folded_progressive
    if of.fate != "plays" and not (of.fate == "gave_up" and stays):  # other folded cards are in the rack (c)
        return []
    return [
        seat
        for seat in seats
        if "progressive" in seat.wagers and seat.fate in ("plays", "gave_up") and seat.owner != of.owner
    ]
