"""Saigon 5 Card (680a.11): who qualifies, then the higher Point Count; then the Bonus Wager."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.rulebook.games.saigon_5_card import hands
from table_controller.rulebook.hands import hand_features, poker5
from table_controller.rulebook.hands.ranking import describe
from table_controller.rulebook.settlement.terms import first_line, line_result, lost_result, returned_result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.rulebook.settlement.dealt_round import DealtRound, Seat, WagerResult
    from table_controller.rulebook.settlement.terms import SettlementTerms


def settle(terms: SettlementTerms, played: DealtRound, seats: list[Seat]) -> Iterator[WagerResult]:
    """Settle the seats in the order given."""
    dealer = hands.as_set(*(played.dealer_setting or terms.set_by_house_way(played.dealer)))
    for seat in seats:
        player = hands.as_set(*(seat.setting or terms.set_by_house_way(seat.cards)))
        yield _ante(terms, seat, player, dealer)
        if "bonus" in seat.wagers:
            line = first_line(terms.table("bonus"), hands.bonus_features(seat.cards))
            hand = describe(poker5.best_strength(seat.cards))
            yield line_result(terms, seat, "bonus", line, ("680a.11(e)(2)", "680a.12(c)"), ("680a.11(e)(1)",), hand)


def _ante(terms: SettlementTerms, seat: Seat, player: hands.SaigonSetting, dealer: hands.SaigonSetting) -> WagerResult:
    hand = f"{describe_setting(player)}; dealer {describe_setting(dealer)}"
    five = player.point_count == hands.HALF_PAID
    if not dealer.qualifies:
        if not player.qualifies:
            return returned_result(seat, "ante", ("680a.11(d)(1)(i)",), hand)
        return _won(terms, seat, f"680a.11(d)(1)(ii)({'B' if five else 'A'})", five=five, hand=hand)
    if not player.qualifies:
        return lost_result(seat, "ante", ("680a.11(d)(2)(i)",), hand)
    if dealer.point_count > player.point_count:
        return lost_result(seat, "ante", ("680a.11(d)(2)(ii)(A)",), hand)
    if dealer.point_count == player.point_count:
        return returned_result(seat, "ante", ("680a.11(d)(2)(ii)(C)",), hand)
    return _won(terms, seat, "680a.11(d)(2)(ii)(B)", five=five, hand=hand)


def _won(terms: SettlementTerms, seat: Seat, clause: str, *, five: bool, hand: str) -> WagerResult:
    line = first_line(terms.table("ante"), hand_features.FEATURE_BIT["point_count_5" if five else "point_count_not_5"])
    return line_result(terms, seat, "ante", line, (clause, "680a.12(b)" if five else "680a.12(a)"), (), hand)


def describe_setting(set_cards: hands.SaigonSetting) -> str:
    """Return a setting in words."""
    return f"qualifies, Point Count {set_cards.point_count}" if set_cards.qualifies else "does not qualify"
