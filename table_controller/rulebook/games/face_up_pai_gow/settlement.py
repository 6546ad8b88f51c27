"""Face Up Pai Gow Poker (688a.11): main wager, Ace High, Fortune, Progressive of each player, then all envy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.rulebook.cards import JOKER
from table_controller.rulebook.games.face_up_pai_gow import hands as pai_gow
from table_controller.rulebook.hands import hand_features
from table_controller.rulebook.hands.ranking import describe
from table_controller.rulebook.settlement.dealt_round import Need
from table_controller.rulebook.settlement.payments import amount_of
from table_controller.rulebook.settlement.ranked_by import cited, duties_of, line_by, ranked_by
from table_controller.rulebook.settlement.terms import by_line, envy_bonus, first_line, lost, returned

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from table_controller.rulebook.settlement.dealt_round import DealtRound, HandSetting, Seat, WagerVerdict
    from table_controller.rulebook.settlement.terms import SettlementTerms

_GAME = "face_up_pai_gow"
_MAIN = "face_up_pai_gow_poker"
# The clauses for a winning and for a losing hand.
_HAND_CLAUSES = {
    "fortune": (("688a.11(h)(2)(i)(B)/1", "688a.12(c)/1"), ("688a.11(h)(2)(i)(A)",)),
    "progressive": (("688a.11(h)(4)(i)(B)(4)/1", "688a.12(d)/1", "688a.12(d)/4"), ("688a.11(h)(4)(i)(A)",)),
}
_ENVY_CLAUSES = {"fortune": ("688a.11(h)(2)(ii)", "688a.12(c)/2"), "progressive": ("688a.11(h)(2)(ii)", "688a.12(d)/3")}
_CARDS = Need("cards", "688a.11(e)")
_SETTING = Need("setting", "688a.11(b)")
_DEALER = Need("dealer", "688a.11(c)")
_ENVY_CARDS = Need("cards", "688a.11(h)/2")
_QUALIFYING = Need("qualifying", "688a.1:Qualifying Wager")


def needs(_terms: SettlementTerms, played: DealtRound, seat: Seat, wager: str) -> tuple[Need, ...]:
    """Return what a wager depends on; an Ace High Pai Gow of the dealer decides every main wager alone (F12)."""
    if wager in _HAND_CLAUSES:
        return (_CARDS,)
    if wager == "ace_high":
        return (_CARDS, _DEALER)
    if seat.fate == "gave_up":
        return ()
    return (_DEALER,) if played.dealer and pai_gow.is_ace_high(played.dealer) else (_CARDS, _SETTING, _DEALER)


def settle_wager(terms: SettlementTerms, played: DealtRound, seat: Seat, wager: str) -> WagerVerdict:
    """Settle one wager."""
    if wager in _HAND_CLAUSES:
        return settle_by_hand(terms, seat, wager)
    if wager == "ace_high":
        return _ace_high(terms, played, seat)
    if seat.fate == "gave_up":
        return lost(seat, _MAIN, ("688a.11(d)/2",), see=("F11",))
    return _main(terms, played, seat)


def _main(terms: SettlementTerms, played: DealtRound, seat: Seat) -> WagerVerdict:
    if pai_gow.is_ace_high(played.dealer):  # before anything else, fouls included (F12)
        hand = f"dealer {describe(pai_gow.strength(played.dealer))}"
        clauses = ("688a.11(f)(2)(iii)", *duties_of(_GAME, "ace_high"))
        return returned(seat, _MAIN, clauses, hand, see=("F12",))
    assert seat.setting is not None, "the house way is never assumed for a player"
    dealer = played.dealer_setting or terms.set_by_house_way(played.dealer)
    hand = f"{_words(seat.setting)}; dealer {_words(dealer)}"
    foul = pai_gow.foul_clause(seat.setting)
    if foul is not None:
        return lost(seat, _MAIN, (foul, *duties_of(_GAME, *pai_gow.foul_duties(seat.setting))), hand)
    pairs = list(zip(seat.setting, dealer, strict=True))
    higher = sum(pai_gow.strength(own) > pai_gow.strength(other) for own, other in pairs)
    ranks = cited(*(ranked_by(_GAME, own, other, pai_gow.strength, (JOKER,)) for own, other in pairs))
    if higher == 0:
        return lost(seat, _MAIN, ("688a.11(f)(1)", *ranks), hand)
    if higher == 1:
        return returned(seat, _MAIN, ("688a.11(f)(2)", *ranks), hand)
    line = first_line(terms.table(_MAIN), hand_features.FEATURE_BIT["win"])
    return by_line(terms, seat, _MAIN, line, ("688a.11(f)(3)", "688a.12(a)", *ranks), (), hand)


def _ace_high(terms: SettlementTerms, played: DealtRound, seat: Seat) -> WagerVerdict:
    """Settle Ace High by the dealer's hand; it pays more if the player's hand is ace high too."""
    held = 0
    if pai_gow.is_ace_high(played.dealer):
        held = hand_features.FEATURE_BIT[
            "dealer_ace_high_with_joker" if JOKER in played.dealer else "dealer_ace_high_no_joker"
        ]
        held |= hand_features.FEATURE_BIT["both_ace_high"] if pai_gow.is_ace_high(seat.cards) else 0
    line = first_line(terms.table("ace_high"), held)
    hand = f"{describe(pai_gow.strength(seat.cards))}; dealer {describe(pai_gow.strength(played.dealer))}"
    ranks = cited(line_by(_GAME, "ace_high", line), duties_of(_GAME, "ace_high"))
    won = ("688a.11(h)(1)(i)(B)", "688a.12(b)", *ranks)
    return by_line(terms, seat, "ace_high", line, won, ("688a.11(h)(1)(i)(A)", *ranks), hand)


def settle_by_hand(terms: SettlementTerms, seat: Seat, wager: str) -> WagerVerdict:
    """Settle Fortune or Progressive on the player's seven cards; the printed lines of the table decide (F4, F5)."""
    table = terms.table(wager)
    line = first_line(table, pai_gow.seven_card_features(seat.cards, fully_wild=bool(table.fully_wild_joker)))
    ranks, (won, else_lost) = line_by(_GAME, wager, line), _HAND_CLAUSES[wager]
    hand = describe(pai_gow.strength(seat.cards))
    return by_line(terms, seat, wager, line, (*won, *ranks), (*else_lost, *ranks), hand)


# --- envy -------------------------------------------------------------------------------------------------------------


def qualifies(terms: SettlementTerms, seat: Seat, wager: str) -> bool | None:
    """Whether a wager of a seat opens envy: at least five dollars (F3); None if that is not known."""
    rules = terms.edition.envy
    assert rules is not None
    assert rules.least_cents is not None
    if wager not in terms.envy_wagers or wager not in seat.wagers or seat.fate not in ("plays", "gave_up"):
        return False
    if seat.qualifying is not None:
        return wager in seat.qualifying
    cents = amount_of(terms, seat, wager)
    return None if cents is None else cents >= rules.least_cents


def envy(terms: SettlementTerms, _: DealtRound, seats: Sequence[Seat]) -> Iterator[WagerVerdict]:
    """Pay every qualifying wager for each other player's hand, the limited joker for all (F26)."""
    for wager, clauses in _ENVY_CLAUSES.items():
        for of in seats:
            if not of.cards or not terms.offers(wager):
                continue
            line = first_line(terms.table(wager), pai_gow.seven_card_features(of.cards))
            if line is None or line.envy_cents is None:
                continue
            for seat in seats:
                if qualifies(terms, seat, wager) and seat.owner != of.owner:
                    hand = describe(pai_gow.strength(of.cards))
                    yield envy_bonus(terms, seat, wager, of, line, (*clauses, *duties_of(_GAME, "envy_bonus")), hand)


def envy_needs(terms: SettlementTerms, played: DealtRound, seat: Seat) -> Iterator[tuple[str, Need]]:
    """Yield what is needed of a seat: its cards, if they may pay envy; and whether it has a Qualifying Wager."""
    for wager in _ENVY_CLAUSES:
        if not terms.offers(wager) or not any(line.envy_cents for line in terms.table(wager).lines):
            continue
        if may_pay_envy(terms, played, seat, wager):
            yield wager, _ENVY_CARDS
        if qualifies(terms, seat, wager) is None:
            yield wager, _QUALIFYING


def may_pay_envy(terms: SettlementTerms, played: DealtRound, of: Seat, wager: str) -> bool:
    """Whether the hand of a seat may pay envy to another player, surrendered or not (F11)."""
    others = [seat for seat in played.seats if seat.owner != of.owner]
    return of.fate in ("plays", "gave_up") and any(qualifies(terms, seat, wager) is not False for seat in others)


def _words(hands: HandSetting) -> str:
    return "; ".join(describe(pai_gow.strength(hand)) for hand in hands)
