"""Asia Poker (575.11): two of three hands higher win; a tie of hands never helps the player; then the Bonus Wager."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.rulebook.games.asia_poker import hands as asia
from table_controller.rulebook.hands import hand_features
from table_controller.rulebook.hands.ranking import describe
from table_controller.rulebook.settlement.terms import first_line, line_result, lost_result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.rulebook.settlement.dealt_round import DealtRound, HandSetting, Seat, WagerResult
    from table_controller.rulebook.settlement.terms import SettlementTerms
    from table_controller.rulebook.texts import PaytableLine

_MAIN = "asia_poker"


def settle(terms: SettlementTerms, played: DealtRound, seats: list[Seat]) -> Iterator[WagerResult]:
    """Settle the seats in the order given."""
    chosen = terms.submission
    strength = asia.strength(
        wheel_lowest_straight_flush=chosen.wheel_lowest_straight_flush,
        wheel_lowest_straight=chosen.wheel_lowest_straight,
    )
    dealer = played.dealer_setting or terms.set_by_house_way(played.dealer)
    for seat in seats:
        if seat.fate == "gave_up":
            yield lost_result(seat, _MAIN, ("575.11(d)/2",))
            continue
        hands = seat.setting or terms.set_by_house_way(seat.cards)
        yield _main(terms, seat, hands, dealer, strength)
        if "bonus" in seat.wagers:
            line = bonus_line(terms, seat.cards)
            hand = _words(hands, strength)
            yield line_result(terms, seat, "bonus", line, ("575.11(h)(2)", "575.12(b)"), ("575.11(h)(1)",), hand)


def _main(
    terms: SettlementTerms, seat: Seat, hands: HandSetting, dealer: HandSetting, strength: asia.Strength
) -> WagerResult:
    hand = _words(hands, strength)
    foul = asia.foul_clause(hands, strength)
    if foul is not None:
        return lost_result(seat, _MAIN, (foul,), hand)
    higher = sum(strength(own) > strength(other) for own, other in zip(hands, dealer, strict=True))
    if higher < 2:
        return lost_result(seat, _MAIN, ("575.11(f)(1)", "575.1:Copy hand"), hand, ("A9",))
    line = first_line(terms.table(_MAIN), hand_features.FEATURE_BIT["win"])
    return line_result(terms, seat, _MAIN, line, ("575.11(f)(2)", "575.12(a)"), (), hand)


def bonus_line(terms: SettlementTerms, cards: tuple[int, ...]) -> PaytableLine | None:
    """Return the line that pays seven cards: any printed line, or none below 9-high if so submitted (A3)."""
    table = terms.table("bonus")
    line = first_line(table, asia.bonus_features(cards))
    if line is None or terms.setting("bonus_lines") == "printed":
        return line
    words = [each.hand for each in table.lines]
    return line if words.index(line.hand) <= words.index("nine_high") else None


def _words(hands: HandSetting, strength: asia.Strength) -> str:
    return "; ".join(describe(strength(hand), 4) for hand in hands)
