"""Appraisal of one hand: what it is, how it would be set, and what a wager on it gets by each paytable.

For a claimed hit or a dispute, where only the cards are known; the other parts of a round get simple defaults.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge.errors import BadHand
from table_controller.rulebook import cards as notation
from table_controller.rulebook.game_rules import game_rules
from table_controller.rulebook.loader import edition
from table_controller.rulebook.registry import GAMES
from table_controller.rulebook.settlement.dealt_round import DealtRound, Seat, SetHand, WagerResult
from table_controller.rulebook.settlement.known import missing_of
from table_controller.rulebook.settlement.payments import payments
from table_controller.rulebook.settlement.round_settlement import settle_seat
from table_controller.rulebook.settlement.terms import SettlementTerms
from table_controller.rulebook.submission import check_submission
from table_controller.rulebook.texts import paytables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from table_controller.rulebook.cards import Card
    from table_controller.rulebook.schema import Edition, Wager
    from table_controller.rulebook.texts import Paytable

# Cents on a wager whose amount is not given and not fixed by its paytable: five dollars, the least that opens envy.
BET_CENTS: Final = 500
# Assumptions in place of a Rules Submission; each appraisal lists the ones that it used.
_ASSUMED: Final = {"stake_returned": "no", "envy_paid_to": "progressive_bettors"}


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
    game, rules = edition(ask.game), game_rules(ask.game)
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
        hand=rules.describe(cards),
        holds=rules.features(cards),
        setting=_setting(game.game, cards, setting),
        foul=None if setting is None else rules.foul_clause(setting),
        results=results,
        assumed=assumed,
    )


def _setting(game: str, cards: Sequence[Card], given: tuple[tuple[Card, ...], ...] | None) -> tuple[SetHand, ...]:
    rules = game_rules(game)
    if rules.show_setting is None:
        return ()
    return rules.show_setting(given or next(iter(rules.house_ways.values())).set_hands(cards))


# --- a wager on it ----------------------------------------------------------------------------------------------------


def _results(
    ask: AppraisalRequest, game: Edition, cards: tuple[Card, ...], setting: tuple[tuple[Card, ...], ...] | None
) -> tuple[tuple[WagerResult, ...], tuple[str, ...]]:
    """Settle the simplest round with this hand and wager, once for every requested paytable."""
    wager = next((each for each in game.wagers if each.name == ask.wager), None)
    if wager is None:
        raise BadHand(f"{game.title} has no wager {ask.wager}; it has {', '.join(each.name for each in game.wagers)}")
    dealer = _dealer(ask, game)
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
        _refuse_unknown(at, played, seat, wager)
        verdicts = [verdict for verdict in settle_seat(at, played, seat) if verdict.wager == wager.name]
        results += [result for result in payments(at, played, verdicts) if result is not None]
    return tuple(results), tuple(f"{name} = {value}" for name, value in assumed.items())


def _dealer(ask: AppraisalRequest, game: Edition) -> tuple[Card, ...]:
    if not game.hand.dealer_hand or ask.dealer is None:
        return ()
    return notation.parse_hand(ask.dealer, game.hand.cards, jokers=game.cards.jokers)


def _refuse_unknown(at: SettlementTerms, played: DealtRound, seat: Seat, wager: Wager) -> None:
    """Raise BadHand if the wager depends on something that was not entered, with an example of a setting."""
    for _, what, clause in missing_of(at, played, seat, wager.name):
        needs = f"the {wager.title} needs"
        if what == "dealer":
            raise BadHand(f"{needs} the dealer's hand: enter it ({clause})")
        if what == "setting":
            hands = " | ".join(notation.format_cards(hand) for hand in at.set_by_house_way(seat.cards))
            raise BadHand(f"{needs} the hands as the player set them ({clause}), such as {hands}")
        if what == "replacement":
            raise BadHand(f"{needs} the replacement card for the joker: enter it ({clause})")


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
    decisions = [each for each in game.wagers if each.decision]
    if len(decisions) > 1 and wager.required:
        choices = " or ".join(each.name for each in decisions)
        raise BadHand(f"the {wager.title} is settled with the second wager: ask about {choices}")
    if decisions:
        decided = wager if wager.decision else decisions[0]
        needed[decided.name] = 2 * ante if decided.amount == "twice_ante" else ante
    return {**needed, wager.name: bet}
