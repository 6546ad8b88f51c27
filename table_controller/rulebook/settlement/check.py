"""Checks that a round is possible: cards, wagers, decisions, settings. All objections are listed together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware_bridge.errors import BadHand
from table_controller.rulebook.cards import JOKER, NOTATION, excess_cards
from table_controller.rulebook.duties import duty_clauses
from table_controller.rulebook.game_rules import game_rules
from table_controller.rulebook.settlement.known import missing
from table_controller.rulebook.wager_limits import citation_of, wager_objection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from table_controller.rulebook.schema import Wager
    from table_controller.rulebook.settlement.dealt_round import DealtRound, HandSetting, Seat
    from table_controller.rulebook.settlement.terms import SettlementTerms


def check(terms: SettlementTerms, played: DealtRound, *, void: bool = False, partial: bool = False) -> None:
    """Raise BadHand with every error; in a void round hands may be incomplete and decisions missing.

    `partial`: whether cards, settings and amounts may be unknown; what is known must be possible all the same.
    """
    rules = game_rules(terms.edition.game)
    problems = [*_seats(terms, played)]
    for seat in played.seats:
        where = f"seat {seat.number}"
        problems += [f"{where}: {each}" for each in _wagers(terms, seat, partial=partial)]
        problems += [] if void else [f"{where}: {each}" for each in _decision(terms, seat)]
        problems += [f"{where}: {each}" for each in _hand(terms, played, seat, void=void, partial=partial)]
        problems += [] if void or partial else [f"{where}: {each}" for each in _not_set(terms, played, seat)]
        objection = None if partial else rules.seat_objection(terms, played, seat)
        problems += [f"{where}: {objection}"] if objection else []
    problems += [*_dealer(terms, played, void=void, partial=partial)]
    problems += [*_cards(terms, played)]
    if problems:
        raise BadHand("; ".join(problems))


def _seats(terms: SettlementTerms, played: DealtRound) -> Iterator[str]:
    numbers = [seat.number for seat in played.seats]
    for number in dict.fromkeys(numbers):
        if not 1 <= number <= terms.submission.seats:
            yield f"there is no seat {number}; this table has {terms.submission.seats}"
        if numbers.count(number) > 1:
            yield f"seat {number} appears {numbers.count(number)} times"


# --- wagers and decisions ---------------------------------------------------------------------------------------------


def _wagers(terms: SettlementTerms, seat: Seat, *, partial: bool) -> Iterator[str]:
    edition = terms.edition
    for name, cents in seat.wagers.items():
        wager, objection = edition.wager(name), wager_objection(terms.submission, name, cents)
        if objection is not None:
            yield objection
        elif wager is None or cents is None:
            yield from () if partial or wager is None else (f"no amount of the {wager.title}",)
        else:
            yield from _amount(terms, seat, wager, cents)
    for wager in edition.wagers:
        if wager.required and wager.name not in seat.wagers:
            yield f"no {wager.title} ({wager.clause})"


def _amount(terms: SettlementTerms, seat: Seat, wager: Wager, cents: int) -> Iterator[str]:
    """Check wagers whose amount follows from the Ante, and wagers that odds cannot pay in whole cents."""
    ante = seat.wagers.get("ante", 0)
    double = None if ante is None else 2 * ante
    expected = {"equal_to_ante": ante, "twice_ante": double}.get(wager.amount)
    if wager.amount == "submission" and terms.setting("blind_amount") == "equal_to_ante":
        expected = ante
    if expected is not None and cents != expected:
        yield f"{wager.name} = {cents} cents must be {expected} ({citation_of(terms.edition.game, wager)})"
    for won, per in terms.fractional_odds(wager.name):
        if cents * won % per:
            clause = terms.table(wager.name).clauses[-1]
            yield f"{wager.name} = {cents} cents cannot be paid {won} to {per} in whole cents ({clause})"


def _decision(terms: SettlementTerms, seat: Seat) -> Iterator[str]:
    edition = terms.edition
    choices = [wager for wager in edition.wagers if wager.decision]
    decided = [wager.name for wager in choices if wager.name in seat.wagers]
    if seat.fate == "plays" and choices and len(decided) != 1:
        expected = " or ".join(wager.name for wager in choices)
        yield f"a player who stays must place {expected} ({choices[0].clause})"
    if seat.fate == "gave_up":
        rule = edition.surrender
        if rule is None:
            yield f"{edition.title} has no surrender"
            return
        barred = [name for name in rule.barred_by if name in seat.wagers]
        if barred:
            yield f"no surrender with {', '.join(barred)} ({rule.clause})"
        if decided:
            yield f"{', '.join(decided)} although the player gave up ({rule.clause})"
    if seat.fate == "void" and not _hand_may_be_void(terms):
        yield f"{edition.title} has no rule that voids a single hand"
    if seat.fate == "abandoned" and not _may_be_abandoned(terms):
        yield f"{edition.title} has no rule for a player who leaves"


def _hand_may_be_void(terms: SettlementTerms) -> bool:
    alone = {"player_may_void", "player_option_dead_hand"}
    return any(alone & set(row.outcomes) for row in terms.edition.irregularities)


def _may_be_abandoned(terms: SettlementTerms) -> bool:
    return bool(duty_clauses(terms.edition.game, "abandoned"))


# --- cards ------------------------------------------------------------------------------------------------------------


def _hand(terms: SettlementTerms, played: DealtRound, seat: Seat, *, void: bool, partial: bool) -> Iterator[str]:
    size, number = terms.edition.hand.cards, len(seat.cards)
    if void or seat.fate in ("void", "abandoned"):
        if number > size:
            yield f"{number} cards; a hand has {size}"
    elif number != size and (
        number or seat.setting is not None or (not partial and _is_looked_at(terms, played, seat))
    ):
        yield f"{number} card{'s' * (number != 1)}; a hand has {size}"
    if seat.setting is not None:
        yield from _setting(terms, seat.setting, seat.cards)


def _is_looked_at(terms: SettlementTerms, played: DealtRound, seat: Seat) -> bool:
    """Whether the cards of a seat still matter."""
    return seat.fate == "plays" or game_rules(terms.edition.game).matters_after_giving_up(terms, played, seat)


def _setting(terms: SettlementTerms, hands: HandSetting, cards: Sequence[int]) -> Iterator[str]:
    split = terms.edition.hand.split
    if not split:
        yield f"{terms.edition.title} sets no hands"
    elif sorted(card for hand in hands for card in hand) != sorted(cards) or len(hands) != len(split):
        yield f"{len(cards)} cards are set into {len(split)} hands, each card once"
    elif objection := game_rules(terms.edition.game).setting_objection(hands):
        yield objection


def _not_set(terms: SettlementTerms, played: DealtRound, seat: Seat) -> Iterator[str]:
    """Object to a wager that depends on how the player set the hands, where that is not known: nobody assumes it."""
    for lack in missing(terms, played, seat):
        if lack.what == "setting":
            wager = terms.edition.wager(lack.wager)
            assert wager is not None
            yield f"the {wager.title} needs the hands as the player set them ({lack.clause})"


def _dealer(terms: SettlementTerms, played: DealtRound, *, void: bool, partial: bool) -> Iterator[str]:
    hand, number = terms.edition.hand, len(played.dealer)
    expected = hand.cards if hand.dealer_hand else 0
    unknown = partial and number == 0 and played.dealer_setting is None
    if number != expected and not (void and number < expected) and not unknown:
        yield f"dealer: {number} cards; the hand has {expected}"
    if played.dealer_setting is not None:
        yield from (f"dealer: {each}" for each in _setting(terms, played.dealer_setting, played.dealer))
        if game_rules(terms.edition.game).foul_clause(played.dealer_setting) is not None:
            yield "dealer: the hands are foul; set them again in the house way"
    if played.replacement is not None and set(terms.edition.deal.replacement_card.values()) == {"never"}:
        yield f"{terms.edition.title} has no replacement card"
    if played.replacement == JOKER and any(JOKER in seat.cards for seat in played.seats):
        yield f"{NOTATION[JOKER]} cannot replace itself"


def _cards(terms: SettlementTerms, played: DealtRound) -> Iterator[str]:
    dealt = [*played.dealer, *(card for seat in played.seats for card in seat.cards)]
    dealt += [] if played.replacement is None else [played.replacement]
    deck = terms.edition.cards
    yield from excess_cards(dealt, jokers=deck.jokers, copies=deck.decks)
