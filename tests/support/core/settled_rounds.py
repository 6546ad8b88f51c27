"""Rounds in readable notation, settled and compared wager by wager."""

from __future__ import annotations

from typing import Any

import msgspec

from table_controller import rulebook
from table_controller.rulebook.cards import parse_cards
from table_controller.rulebook.settlement.dealt_round import DealtRound, Seat, WagerResult
from table_controller.rulebook.settlement.round_settlement import settle
from table_controller.rulebook.settlement.terms import SettlementTerms

TABLES_688A = {"ace_high": "688a-acehigh-1", "fortune": "688a-fortune-1", "progressive": "688a-progressive-4"}
TABLES_687A = {
    "progressive": "687a-progressive-1",
    "trips": "687a-trips-DJWT-04",
    "bad_beat": "687a-badbeat-DJWBB-01",
}
_ALL: dict[str, dict[str, Any]] = {
    "dj_wild": {
        "wagers": list(TABLES_687A),
        "paytables": TABLES_687A,
        "progressive_rate_bp": 1500,
        "folded_progressive": False,
        "settings": {"envy_paid_to": "progressive_bettors", "stake_returned": "no"},
    },
    "face_up_pai_gow": {"wagers": list(TABLES_688A), "paytables": TABLES_688A},
}


def _offered(edition: rulebook.Edition) -> dict[str, Any]:
    """Return the choices that offer every optional wager, each with its first paytable."""
    options = {wager.name: wager.tables[0] for wager in edition.wagers if wager.option}
    return {"wagers": list(options), "paytables": options}


def choices_with(game: str, **changes: Any) -> dict[str, Any]:
    """The choices of a table that offers everything; paytables and settings are changed one by one."""
    raw = {"adjacent_boxes": 1, **(_ALL.get(game) or _offered(rulebook.edition(game)))}
    for name, value in changes.items():
        raw[name] = {**raw.get(name, {}), **value} if isinstance(value, dict) else value
    return raw


def terms(game: str, **changes: Any) -> SettlementTerms:
    """A table that offers everything; paytables and settings are changed one by one."""
    edition = rulebook.edition(game)
    return SettlementTerms(edition, rulebook.check_submission(edition, choices_with(game, **changes)))


def seat(number: int, cards: str, **wagers: int) -> Seat:
    """A seat that plays; hands separated by | are its setting."""
    hands = tuple(parse_cards(hand) for hand in cards.split("|"))
    setting = hands if len(hands) > 1 else None
    return Seat(number=number, cards=tuple(card for hand in hands for card in hand), setting=setting, wagers=wagers)


def advised(at: SettlementTerms, player: Seat) -> Seat:
    """The seat with its hands set by the house way, as a player does who asked for it (575.11(a)(1), 688a.11(a)(1))."""
    hand = at.edition.hand
    sets = hand.split and player.setting is None and len(player.cards) == hand.cards
    return msgspec.structs.replace(player, setting=at.set_by_house_way(player.cards)) if sets else player


def settle_round(at: SettlementTerms, *seats: Seat, dealer: str = "", replacement: str = "") -> tuple[WagerResult, ...]:
    """Settle a round; a dealer's hands separated by | are his setting.

    A player whose hands are not separated asked for the house way, and set the hands as advised.
    """
    hands = tuple(parse_cards(hand) for hand in dealer.split("|"))
    return settle(
        at,
        DealtRound(
            seats=tuple(advised(at, each) for each in seats),
            dealer=tuple(card for hand in hands for card in hand),
            dealer_setting=hands if len(hands) > 1 else None,
            replacement=parse_cards(replacement)[0] if replacement else None,
        ),
    )


def only_result(results: tuple[WagerResult, ...], wager: str, number: int | None = None) -> WagerResult:
    """The one result of a wager, envy left out."""
    (result,) = (
        each for each in results if each.wager == wager and number in (None, each.seat) and each.envy_of is None
    )
    return result
