"""Appraisal of one hand: what it is, how it would be set, and what a wager on it gets by each paytable.

For a claimed hit or a dispute, where only the cards are known; the other parts of a round get simple defaults.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge.errors import BadHand
from table_controller.rulebook import cards as notation
from table_controller.rulebook.games.asia_poker import hands as asia
from table_controller.rulebook.games.dj_wild import hands as dj_wild
from table_controller.rulebook.games.face_up_pai_gow import hands as pai_gow
from table_controller.rulebook.games.house_ways import HOUSE_WAYS
from table_controller.rulebook.games.over_under import hands as over_under
from table_controller.rulebook.games.saigon import hands as saigon
from table_controller.rulebook.hands import hand_features, poker5
from table_controller.rulebook.hands.ranking import describe
from table_controller.rulebook.loader import edition
from table_controller.rulebook.settlement.dealt_round import DealtRound, Seat, WagerResult
from table_controller.rulebook.settlement.round_settlement import settle
from table_controller.rulebook.settlement.terms import SettlementTerms
from table_controller.rulebook.submission import check_submission
from table_controller.rulebook.texts import paytables
from table_controller.rulebook.registry import GAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from table_controller.rulebook.cards import Card
    from table_controller.rulebook.schema import Edition, Wager
    from table_controller.rulebook.texts import Paytable

# Cents on a wager whose amount is not given and not fixed by its paytable: five dollars, the least that opens envy.
BET_CENTS: Final = 500
# Assumptions in place of a Rules Submission; each appraisal lists the ones that it used.
_ASSUMED: Final = {"stake_returned": "no", "envy_paid_to": "progressive_bettors"}
# Wagers on the player's cards alone; the others need the dealer's hand.
_ALONE: Final = {
    "asia_poker": ("bonus",),
    "saigon_5_card": ("bonus",),
    "over_under": ("ante", "over_23", "under_18", "bonus"),
    "dj_wild": ("progressive", "trips"),
    "face_up_pai_gow": ("fortune", "progressive"),
}


class AppraisalRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request for an appraisal. Cards are written `As Td 9h Jk`; a bar separates hands that were set."""

    game: str
    cards: str
    wager: str | None = None
    paytable: str | None = None  # by id or by the end of it, as 4; None: every table of the wager
    dealer: str | None = None
    replacement: str | None = None
    bet_cents: int | None = None
    settings: dict[
        str, str
    ] = {}  # settings of the Rules Submission; a choice such as wheel_lowest_straight is yes or no


class SetHand(msgspec.Struct, frozen=True):
    """One hand of a setting, with its rank in words."""

    cards: str
    hand: str


class Appraisal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of an appraisal."""

    game: str
    cards: str
    hand: str  # the best hand in words
    holds: tuple[str, ...] = ()  # features, in the paytables' words
    setting: tuple[SetHand, ...] = ()  # as given, or by the house way
    foul: str | None = None  # the clause by which the given setting is foul
    results: tuple[WagerResult, ...] = ()  # of the wager, by each paytable
    assumed: tuple[str, ...] = ()


def appraise_hand(ask: AppraisalRequest) -> Appraisal:
    """Return what a hand is and what a wager on it gets; BadHand explains an invalid request."""
    if ask.game not in GAMES:
        raise BadHand(f"there is no game {ask.game}; the games are {', '.join(GAMES)}")
    game = edition(ask.game)
    hands = [notation.parse_cards(part) for part in ask.cards.split("|")]
    cards = notation.parse_hand(
        ask.cards.replace("|", " "), game.hand.cards, jokers=game.cards.jokers, copies=game.cards.decks
    )
    setting = tuple(hands) if len(hands) > 1 else None
    if setting is not None and not game.hand.split:
        raise BadHand(f"{game.title} sets no hands")
    results, assumed = _results(ask, game, cards, setting) if ask.wager else ((), ())
    return Appraisal(
        game=game.game,
        cards=notation.format_cards(cards),
        hand=describe_hand(game.game, cards),
        holds=_held(game.game, cards),
        setting=_setting(game.game, cards, setting),
        foul=_foul(game.game, setting),
        results=results,
        assumed=assumed,
    )


def describe_hand(game: str, cards: Sequence[Card]) -> str:
    """Return the best hand of a game in words."""
    if game == "over_under":
        return f"total {over_under.total(cards)}"
    if game == "dj_wild":
        _, column = dj_wild.paid_class(cards)
        return f"{describe(dj_wild.strength(cards))}, {column.replace('_', ' ')}"
    best = describe(poker5.best_strength(cards))
    if game == "saigon_5_card":
        best_set = saigon.best_set(cards)
        points = f"qualifies, Point Count {best_set.point_count}" if best_set.qualifies else "does not qualify"
        return f"{points}; {best}"
    return best


def _held(game: str, cards: Sequence[Card]) -> tuple[str, ...]:
    if game == "over_under":
        return ()
    if game == "dj_wild":
        return hand_features.feature_names(dj_wild.class_features(dj_wild.paid_class(cards)[0]))
    of_seven = {
        "asia_poker": asia.bonus_features,
        "saigon_5_card": saigon.bonus_features,
        "face_up_pai_gow": pai_gow.seven_card_features,
    }
    return tuple(reversed(hand_features.feature_names(of_seven[game](cards))))


def _setting(game: str, cards: Sequence[Card], given: tuple[tuple[Card, ...], ...] | None) -> tuple[SetHand, ...]:
    policies = HOUSE_WAYS.get(game)
    if policies is None:
        return ()
    if game == "saigon_5_card":
        set_cards = saigon.as_set(*(given or next(iter(policies.values()))(cards)))
        three = "qualifies" if set_cards.qualifies else "does not qualify"
        return (
            SetHand(notation.format_cards(set_cards.three), three),
            SetHand(notation.format_cards(set_cards.showdown), f"Point Count {set_cards.point_count}"),
        )
    strength = asia.strength() if game == "asia_poker" else pai_gow.strength
    length = 4 if game == "asia_poker" else 5
    hands = given or next(iter(policies.values()))(cards)
    return tuple(SetHand(notation.format_cards(hand), describe(strength(hand), length)) for hand in hands)


def _foul(game: str, given: tuple[tuple[Card, ...], ...] | None) -> str | None:
    if given is None or game == "saigon_5_card":
        return None
    return asia.foul_clause(given, asia.strength()) if game == "asia_poker" else pai_gow.foul_clause(given)


# --- a wager on it ----------------------------------------------------------------------------------------------------


def _results(
    ask: AppraisalRequest, game: Edition, cards: tuple[Card, ...], setting: tuple[tuple[Card, ...], ...] | None
) -> tuple[tuple[WagerResult, ...], tuple[str, ...]]:
    """Settle the simplest round with this hand and wager, once for every requested paytable."""
    wager = next((each for each in game.wagers if each.name == ask.wager), None)
    if wager is None:
        raise BadHand(f"{game.title} has no wager {ask.wager}; it has {', '.join(each.name for each in game.wagers)}")
    dealer = _dealer(ask, game, wager, cards)
    replacement = notation.parse_cards(ask.replacement or "")
    if len(replacement) > 1:
        raise BadHand(f"{len(replacement)} replacement cards; only one is used")
    stated = {name for name in ask.settings if name in _ASSUMED}
    assumed = {
        setting.name: _ASSUMED[setting.name]
        for setting in game.settings
        if setting.default is None and setting.needs == wager.name and setting.name not in stated
    }
    results = []
    for table in _tables(ask, game, wager):
        at = _terms(game, wager, table, {**assumed, **ask.settings})
        seat = Seat(number=1, cards=cards, setting=setting, wagers=_wagers(ask, game, wager, table))
        played = DealtRound(seats=(seat,), dealer=dealer, replacement=replacement[0] if replacement else None)
        results += [result for result in settle(at, played) if result.wager == wager.name and result.envy_of is None]
    return tuple(results), tuple(f"{name} = {value}" for name, value in assumed.items())


def _dealer(ask: AppraisalRequest, game: Edition, wager: Wager, cards: tuple[Card, ...]) -> tuple[Card, ...]:
    """Return the dealer's cards; any remaining ones where the wager does not need them."""
    if not game.hand.dealer_hand:
        return ()
    if ask.dealer is not None:
        return notation.parse_hand(ask.dealer, game.hand.cards, jokers=game.cards.jokers)
    if wager.name not in _ALONE[game.game]:
        raise BadHand(f"the {wager.title} needs the dealer's hand: enter it")
    taken = {*cards, *notation.parse_cards(ask.replacement or "")}
    return tuple([card for card in range(notation.JOKER) if card not in taken][: game.hand.cards])


def _tables(ask: AppraisalRequest, game: Edition, wager: Wager) -> list[Paytable]:
    every = [table for table in paytables(game.game) if table.id in wager.tables]
    if ask.paytable is None:
        return every
    asked = ask.paytable.lower()
    named = [table for table in every if table.id.lower() == asked or table.id.lower().endswith(f"-{asked}")]
    if len(named) != 1:
        raise BadHand(f"{ask.paytable} is not a paytable of {wager.name}; use one of {', '.join(wager.tables)}")
    return named


def _terms(game: Edition, wager: Wager, table: Paytable, settings: dict[str, str]) -> SettlementTerms:
    choices: dict[str, bool] = {
        name: value == "yes" for name, value in settings.items() if name in game.submission_choices
    }
    raw: dict[str, Any] = {"adjacent_boxes": 1, **choices}
    raw["settings"] = {name: value for name, value in settings.items() if name not in choices}
    if wager.option:
        raw |= {"wagers": [wager.name], "paytables": {wager.name: table.id}}
    rules = game.progressive
    if rules is not None and rules.wager == wager.name and rules.rate == "submission":
        raw |= {"progressive_rate_bp": 1, "folded_progressive": False}  # neither affects one hand in play
    return SettlementTerms(game, check_submission(game, raw))


def _wagers(ask: AppraisalRequest, game: Edition, wager: Wager, table: Paytable) -> dict[str, int]:
    """Return the requested wager and the wagers that it requires."""
    bet = table.unit_cents if ask.bet_cents is None else ask.bet_cents
    bet = BET_CENTS if bet is None else bet
    ante = bet // 2 if wager.amount == "twice_ante" else bet
    needed = {each.name: ante for each in game.wagers if each.required}
    if game.game == "dj_wild":
        needed["raise"] = 2 * ante
    if game.game == "over_under":
        if wager.name == "ante":
            raise BadHand("the Ante is settled with the second wager: ask about over_23 or under_18")
        needed["under_18" if wager.name == "under_18" else "over_23"] = ante
    return {**needed, wager.name: bet}
