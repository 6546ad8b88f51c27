"""Settles a whole round, or what can be settled of one seat by what is known now.

`settle` a round played to its end, `settle_seat` one seat, `envy_due` the envy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.rulebook.duties import duty_clauses
from table_controller.rulebook.game_rules import game_rules
from table_controller.rulebook.settlement.check import check
from table_controller.rulebook.settlement.known import missing_of
from table_controller.rulebook.settlement.payments import payments
from table_controller.rulebook.settlement.terms import lost, returned

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from table_controller.rulebook.settlement.dealt_round import DealtRound, Seat, WagerResult, WagerVerdict
    from table_controller.rulebook.settlement.terms import SettlementTerms

# Outcomes that void one hand by its player's choice.
_ALONE: Final = ("player_may_void", "player_option_dead_hand")


def settle(terms: SettlementTerms, played: DealtRound) -> tuple[WagerResult, ...]:
    """Settle a round that was played to its end; BadHand if it is not possible, or if something is not known."""
    check(terms, played)
    seats = settlement_order(terms, played)
    aside = [seat for seat in seats if seat.fate in ("void", "abandoned")]
    playing = [seat for seat in seats if seat.fate in ("plays", "gave_up")]
    verdicts = [verdict for seat in aside for verdict in _seat(terms, played, seat)]
    verdicts += [*_collected_first(terms, played), *_in_turn(terms, played, playing)]
    verdicts += game_rules(terms.edition.game).envy(terms, played, playing)
    return _in_cents(terms, played, verdicts)


def settle_seat(terms: SettlementTerms, played: DealtRound, seat: Seat) -> tuple[WagerVerdict, ...]:
    """Return the verdicts on the wagers of a seat that what is known now decides, in the order of the text.

    BadHand if what is known is not possible. `missing` lists what keeps the other wagers from being decided.
    """
    check(terms, played, partial=True)
    return seat_verdicts(terms, played, seat)


def seat_verdicts(terms: SettlementTerms, played: DealtRound, seat: Seat) -> tuple[WagerVerdict, ...]:
    """Return what `settle_seat` does, for a round that is checked already."""
    return tuple(_seat(terms, played, seat))


def envy_due(terms: SettlementTerms, played: DealtRound) -> tuple[WagerVerdict, ...]:
    """Return the envy bonuses that are certain by what is known of a round that is checked already.

    `missing_for_envy` lists what may add to them.
    """
    playing = [seat for seat in settlement_order(terms, played) if seat.fate in ("plays", "gave_up")]
    return tuple(game_rules(terms.edition.game).envy(terms, played, playing))


def settlement_order(terms: SettlementTerms, played: DealtRound) -> list[Seat]:
    """Return the seats in the order of settlement. Seat 1 is farthest to the dealer's left."""
    chosen = terms.submission.settings.get("settle_direction", "")  # where the text leaves the direction open (W13)
    start = terms.edition.settle_order.start
    far_left = chosen.startswith("far_left") if chosen else start == "far_left"
    return sorted(played.seats, key=lambda seat: seat.number, reverse=not far_left)


def _collected_first(terms: SettlementTerms, played: DealtRound) -> Iterator[WagerVerdict]:
    """Yield what is collected from players who gave up before any hand is settled, from the far left clockwise."""
    first = game_rules(terms.edition.game).collected_first
    for seat in sorted(played.seats, key=lambda seat: seat.number):
        if seat.fate == "gave_up":
            yield from (verdict for verdict in _seat(terms, played, seat) if verdict.wager in first)


def _in_turn(terms: SettlementTerms, played: DealtRound, seats: Sequence[Seat]) -> Iterator[WagerVerdict]:
    """Yield the other verdicts, one player after the other."""
    first = game_rules(terms.edition.game).collected_first
    for seat in seats:
        for verdict in _seat(terms, played, seat):
            if seat.fate == "plays" or verdict.wager not in first:
                yield verdict


def _seat(terms: SettlementTerms, played: DealtRound, seat: Seat) -> Iterator[WagerVerdict]:
    """Yield what is decided of a seat."""
    if seat.fate in ("void", "abandoned"):
        yield from _set_aside(terms, seat)
        return
    settle_wager = game_rules(terms.edition.game).settle_wager
    for wager in terms.edition.wagers:
        if wager.name in seat.wagers and not missing_of(terms, played, seat, wager.name):
            yield settle_wager(terms, played, seat, wager.name)


def _set_aside(terms: SettlementTerms, seat: Seat) -> Iterator[WagerVerdict]:
    """Yield the verdicts on a hand that is out of the round: void, dead, or left by its player."""
    if seat.fate == "abandoned":
        for wager in seat.wagers:
            yield lost(seat, wager, duty_clauses(terms.edition.game, "abandoned"))
        return
    row = next(row for row in terms.edition.irregularities if set(_ALONE) & set(row.outcomes))
    only_ante = terms.submission.settings.get("dead_hand_returns") == "ante"
    for wager in seat.wagers:
        goes_back = wager == "ante" or not only_ante
        yield (returned(seat, wager, row.clauses, void=True, see=row.see) if goes_back
               else lost(seat, wager, row.clauses, see=row.see))  # fmt: skip


def _in_cents(terms: SettlementTerms, played: DealtRound, verdicts: Sequence[WagerVerdict]) -> tuple[WagerResult, ...]:
    """Return all results; `check` has made sure that every amount is known."""
    results = [result for result in payments(terms, played, verdicts) if result is not None]
    assert len(results) == len(verdicts)
    return tuple(results)
