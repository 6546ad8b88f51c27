"""Asia Poker (575.11): two of three hands higher win; a tie of hands never helps the player; then the Bonus Wager."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.rulebook.cards import JOKER
from table_controller.rulebook.games.asia_poker import hands as asia
from table_controller.rulebook.hands import hand_features, poker5
from table_controller.rulebook.hands.ranking import describe
from table_controller.rulebook.settlement.dealt_round import Need
from table_controller.rulebook.settlement.ranked_by import cited, duties_of, line_by, ranked_by
from table_controller.rulebook.settlement.terms import by_line, first_line, lost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from table_controller.rulebook.settlement.dealt_round import DealtRound, HandSetting, Seat, WagerVerdict
    from table_controller.rulebook.settlement.terms import SettlementTerms
    from table_controller.rulebook.texts import PaytableLine

_GAME = "asia_poker"
_MAIN = "asia_poker"
_CARDS = Need("cards", "575.11(e)")
_SETTING = Need("setting", "575.11(b)")
_DEALER = Need("dealer", "575.11(c)")


def needs(_terms: SettlementTerms, _played: DealtRound, seat: Seat, wager: str) -> tuple[Need, ...]:
    """Return what a wager depends on; a surrendered one is lost with any cards."""
    if wager == "bonus":
        return (_CARDS,)
    return () if seat.fate == "gave_up" else (_CARDS, _SETTING, _DEALER)


def settle_wager(terms: SettlementTerms, played: DealtRound, seat: Seat, wager: str) -> WagerVerdict:
    """Settle one wager."""
    if wager == "bonus":
        line, hand = bonus_line(terms, seat.cards), describe(poker5.best_strength(seat.cards))
        ranks = line_by(_GAME, "bonus", line)
        return by_line(
            terms, seat, "bonus", line, ("575.11(h)(2)", "575.12(b)", *ranks), ("575.11(h)(1)", *ranks), hand
        )
    if seat.fate == "gave_up":
        return lost(seat, _MAIN, ("575.11(d)/2",))
    return _main(terms, played, seat)


def _main(terms: SettlementTerms, played: DealtRound, seat: Seat) -> WagerVerdict:
    assert seat.setting is not None, "the house way is never assumed for a player"
    strength = asia.strength(
        wheel_lowest_straight_flush=terms.submission.wheel_lowest_straight_flush,
        wheel_lowest_straight=terms.submission.wheel_lowest_straight,
    )
    dealer = played.dealer_setting or terms.set_by_house_way(played.dealer)
    hand = f"{_words(seat.setting, strength)}; dealer {_words(dealer, strength)}"
    foul = asia.foul_clause(seat.setting, strength)
    if foul is not None:
        return lost(seat, _MAIN, (foul, *duties_of(_GAME, *asia.foul_duties(seat.setting, strength))), hand)
    pairs = list(zip(seat.setting, dealer, strict=True))
    higher = sum(strength(own) > strength(other) for own, other in pairs)
    ranks = cited(*(ranked_by(_GAME, own, other, strength, (JOKER,)) for own, other in pairs))
    if higher < 2:
        return lost(seat, _MAIN, ("575.11(f)(1)", "575.1:Copy hand", *ranks), hand, ("A9",))
    line = first_line(terms.table(_MAIN), hand_features.FEATURE_BIT["win"])
    return by_line(terms, seat, _MAIN, line, ("575.11(f)(2)", "575.12(a)", *ranks), (), hand)


def bonus_line(terms: SettlementTerms, cards: tuple[int, ...]) -> PaytableLine | None:
    """Return the line that pays seven cards; the first printed line that fits, if it is paid here."""
    line = first_line(terms.table("bonus"), asia.bonus_features(cards))
    return line if line in paid_lines(terms, "bonus") else None


def paid_lines(terms: SettlementTerms, wager: str) -> Sequence[PaytableLine]:
    """Return the lines that are paid: all that are printed, or none of the bonus below 9-high if so submitted (A3)."""
    lines = terms.table(wager).lines
    if wager != "bonus" or terms.setting("bonus_lines") == "printed":
        return lines
    return lines[: [each.hand for each in lines].index("nine_high") + 1]


def _words(hands: HandSetting, strength: asia.Strength) -> str:
    return "; ".join(describe(strength(hand), 4) for hand in hands)
