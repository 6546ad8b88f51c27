"""Saigon 5 Card (680a.11): who qualifies, then the higher Point Count; then the Bonus Wager."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.rulebook.cards import JOKER
from table_controller.rulebook.games.saigon_5_card import hands
from table_controller.rulebook.hands import hand_features, poker5
from table_controller.rulebook.hands.ranking import describe
from table_controller.rulebook.settlement.dealt_round import Need
from table_controller.rulebook.settlement.ranked_by import duties_of, line_by
from table_controller.rulebook.settlement.terms import by_line, first_line, lost, returned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from table_controller.rulebook.settlement.dealt_round import DealtRound, Seat, WagerVerdict
    from table_controller.rulebook.settlement.terms import SettlementTerms

_GAME = "saigon_5_card"
_CARDS = Need("cards", "680a.11(d)")
_SETTING = Need("setting", "680a.11(b)(1)")
_DEALER = Need("dealer", "680a.11(c)")


def needs(_terms: SettlementTerms, _played: DealtRound, seat: Seat, wager: str) -> tuple[Need, ...]:
    """Return what a wager depends on; how the player set the cards, only where another setting gives another hand."""
    if wager == "bonus":
        return (_CARDS,)
    return (_CARDS, _DEALER) if _any_setting(seat.cards) else (_CARDS, _SETTING, _DEALER)


def _any_setting(cards: Sequence[int]) -> hands.SaigonSetting | None:
    """Return a setting if all settings are the same hand: none qualifies, or all do with the same Point Count."""
    every = list(hands.settings(cards))
    alike = {(each.qualifies, each.qualifies and each.point_count) for each in every}
    return every[0] if len(alike) == 1 else None


def settle_wager(terms: SettlementTerms, played: DealtRound, seat: Seat, wager: str) -> WagerVerdict:
    """Settle one wager."""
    if wager == "bonus":
        line, hand = (
            first_line(terms.table("bonus"), hands.bonus_features(seat.cards)),
            poker5.best_strength(seat.cards),
        )
        ranks = line_by(_GAME, "bonus", line)
        won, else_lost = ("680a.11(e)(2)", "680a.12(c)", *ranks), ("680a.11(e)(1)", *ranks)
        return by_line(terms, seat, "bonus", line, won, else_lost, describe(hand))
    player = hands.as_set(*seat.setting) if seat.setting is not None else _any_setting(seat.cards)
    assert player is not None, "no setting is ever assumed for a player"
    return _ante(terms, seat, player, hands.as_set(*(played.dealer_setting or terms.set_by_house_way(played.dealer))))


def _ante(terms: SettlementTerms, seat: Seat, player: hands.SaigonSetting, dealer: hands.SaigonSetting) -> WagerVerdict:
    hand = f"{describe_setting(player)}; dealer {describe_setting(dealer)}"
    five = player.point_count == hands.HALF_PAID
    ranks = _ranked_by(player, dealer)
    if not dealer.qualifies:
        if not player.qualifies:
            return returned(seat, "ante", ("680a.11(d)(1)(i)", *ranks), hand)
        clauses = (f"680a.11(d)(1)(ii)({'B' if five else 'A'})", "680a.11(d)(1)(ii)")
        return _won(terms, seat, clauses, ranks, five=five, hand=hand)
    if not player.qualifies:
        return lost(seat, "ante", ("680a.11(d)(2)(i)", *ranks), hand)
    if dealer.point_count > player.point_count:
        return lost(seat, "ante", ("680a.11(d)(2)(ii)(A)", *ranks), hand)
    if dealer.point_count == player.point_count:
        return returned(seat, "ante", ("680a.11(d)(2)(ii)(C)", *ranks), hand)
    return _won(terms, seat, ("680a.11(d)(2)(ii)(B)",), ranks, five=five, hand=hand)


def _ranked_by(player: hands.SaigonSetting, dealer: hands.SaigonSetting) -> tuple[str, ...]:
    """Return the clauses by which the hands qualify or not, and by which their Point Counts compare."""
    compared = ("point_count",) if player.qualifies else ()  # a hand that does not qualify has no showdown
    unset = () if any(each.qualifies for each in hands.settings((*player.three, *player.showdown))) else ("no_three",)
    joker = any(JOKER in (*each.three, *each.showdown) for each in (player, dealer))
    return duties_of(_GAME, "qualify", *compared, *unset, "card_values", *(("joker_value",) if joker else ()))


def _won(
    terms: SettlementTerms, seat: Seat, clauses: tuple[str, ...], ranks: tuple[str, ...], *, five: bool, hand: str
) -> WagerVerdict:
    line = first_line(terms.table("ante"), hand_features.FEATURE_BIT["point_count_5" if five else "point_count_not_5"])
    pays = "680a.12(b)" if five else "680a.12(a)"
    return by_line(terms, seat, "ante", line, (*clauses, pays, *ranks), (), hand)


def describe_setting(set_cards: hands.SaigonSetting) -> str:
    """Return a setting in words."""
    return f"qualifies, Point Count {set_cards.point_count}" if set_cards.qualifies else "does not qualify"
