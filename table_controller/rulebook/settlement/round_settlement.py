"""Settles a whole round: `settle` for a round played to its end, `settle_void` for a void one."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import msgspec

from table_controller.rulebook.duties import duty_clauses
from table_controller.rulebook.game_rules import game_rules
from table_controller.rulebook.settlement.check import check
from table_controller.rulebook.settlement.terms import lost_result, returned_result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.rulebook.lookup import Ruling
    from table_controller.rulebook.settlement.dealt_round import DealtRound, Seat, WagerResult
    from table_controller.rulebook.settlement.terms import SettlementTerms

# Outcomes that void one hand by its player's choice.
_ALONE: Final = ("player_may_void", "player_option_dead_hand")


def settle(terms: SettlementTerms, played: DealtRound) -> tuple[WagerResult, ...]:
    """Settle a round that was played to its end; BadHand if the round is not possible."""
    check(terms, played)
    seats = settlement_order(terms, played)
    playing = [seat for seat in seats if seat.fate in ("plays", "gave_up")]
    results = [*_set_aside(terms, seats), *game_rules(terms.edition.game).settle(terms, played, playing)]
    return tuple(_within_limit(terms, played, results))


def settle_void(terms: SettlementTerms, played: DealtRound, ruling: Ruling) -> tuple[WagerResult, ...]:
    """Return every wager of a void round, also progressive bets in the tray, except those still settled."""
    settles = "settle_optional_wagers" in ruling.outcomes
    settle_hand = game_rules(terms.edition.game).settle_in_void_round
    check(terms, played, void=True, settles=settles)
    results = []
    for seat in settlement_order(terms, played):
        # All hands are void, even folded ones: optional wagers are settled on the cards alone.
        whole = msgspec.structs.replace(seat, fate="plays")
        settled = set()
        if settles and len(seat.cards) == terms.edition.hand.cards:  # an incomplete hand settles nothing (W19)
            assert settle_hand is not None, f"{terms.edition.game} does not say what is settled in a void round"
            for result in settle_hand(terms, played, whole):
                results.append(msgspec.structs.replace(result, clauses=(*ruling.clauses, *result.clauses)))
                settled.add(result.wager)
        unsettled = [wager for wager in seat.wagers if wager not in settled]
        results += [returned_result(seat, wager, ruling.clauses, void=True, see=ruling.see) for wager in unsettled]
    return tuple(results)


def settlement_order(terms: SettlementTerms, played: DealtRound) -> list[Seat]:
    """Return the seats in the order of settlement. Seat 1 is farthest to the dealer's left."""
    chosen = terms.submission.settings.get("settle_direction", "")  # where the text leaves the direction open (W13)
    start = terms.edition.settle_order.start
    far_left = chosen.startswith("far_left") if chosen else start == "far_left"
    return sorted(played.seats, key=lambda seat: seat.number, reverse=not far_left)


def _set_aside(terms: SettlementTerms, seats: list[Seat]) -> Iterator[WagerResult]:
    """Settle hands that are out of the round: void, dead, or left by their player."""
    abandoned = duty_clauses(terms.edition.game, "abandoned")
    for seat in seats:
        if seat.fate == "abandoned":
            for wager in seat.wagers:
                yield lost_result(seat, wager, abandoned)
        elif seat.fate == "void":
            row = next(row for row in terms.edition.irregularities if set(_ALONE) & set(row.outcomes))
            only_ante = terms.submission.settings.get("dead_hand_returns") == "ante"
            for wager in seat.wagers:
                goes_back = wager == "ante" or not only_ante
                yield (returned_result(seat, wager, row.clauses, void=True, see=row.see) if goes_back
                       else lost_result(seat, wager, row.clauses, see=row.see))  # fmt: skip


def _within_limit(terms: SettlementTerms, played: DealtRound, results: list[WagerResult]) -> Iterator[WagerResult]:
    """Cut payments to the table's payout limit, in the order of settlement; returned wagers do not count."""
    rule, most = terms.edition.payout_limit, terms.submission.payout_limit_cents
    if rule is None or most is None:
        yield from results
        return
    owners = {seat.number: seat.owner for seat in played.seats}
    paid: Counter[object] = Counter()
    for result in results:
        to = result.seat if rule.scope == "player_hand" else owners[result.seat]
        pays = min(result.paid_cents, most - paid[to])
        paid[to] += pays
        if pays == result.paid_cents:
            yield result
        else:
            yield msgspec.structs.replace(
                result, paid_cents=pays, cut_cents=result.paid_cents - pays, clauses=(*result.clauses, rule.clause)
            )
