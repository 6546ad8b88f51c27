"""What the rules decide about the wagers of a seat by the cards that are known; the dealer confirms or disputes it.

The settlement is the rulebook's: it settles only what is known, and assumes nothing that is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from firmware_bridge.errors import BadHand
from table_controller.rulebook.cards import format_cards
from table_controller.rulebook.settlement.check import check
from table_controller.rulebook.settlement.dealt_round import DealtRound, Seat
from table_controller.rulebook.settlement.known import missing_for_envy
from table_controller.rulebook.settlement.payments import payments
from table_controller.rulebook.settlement.round_settlement import envy_due, seat_verdicts
from table_controller.table.decisions import Proposal, WagerSettled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from table_controller.rulebook.schema import Wager
    from table_controller.rulebook.settlement.dealt_round import Fate, WagerResult, WagerVerdict
    from table_controller.table.context import Context
    from table_controller.table.view import TableView

_GAVE_UP: Final = ("fold", "surrender")


# --- the round as it is known -----------------------------------------------------------------------------------------


def dealt_round(c: Context) -> DealtRound:
    """Return what is known of the round: its seats in play, their wagers and cards, and the dealer's hand."""
    round_ = c.state.round
    dealer = round_.hands.get(0)
    return DealtRound(
        seats=tuple(known_seat(c, seat) for seat in round_.seats if seat not in round_.dead),
        dealer=() if dealer is None else dealer.cards,
        dealer_setting=None if dealer is None else dealer.setting,
        replacement=round_.replacement_card,
    )


def known_seat(c: Context, number: int) -> Seat:
    """Return what is known of one seat."""
    round_ = c.state.round
    hand = round_.hands.get(number)
    gave_up = number in round_.surrendered or round_.decided.get(number) in _GAVE_UP
    gave_up = gave_up and not c.state.money.settles  # a void round settles optional wagers on the cards alone
    fate: Fate = "gave_up" if gave_up else "plays"
    return Seat(
        number=number,
        wagers={wager.name: _cents(c, wager, number) for wager in c.edition.wagers if _has(c, wager, number)},
        cards=() if hand is None else hand.cards,
        setting=None if hand is None else hand.setting,
        fate=fate,
        player=round_.players.get(number),
        qualifying=_qualifying(c, number),
    )


def _qualifying(c: Context, seat: int) -> tuple[str, ...] | None:
    """Return the wagers of a seat that open envy by the dealer's answer; None: their amounts decide."""
    envy, round_ = c.edition.envy, c.state.round
    if envy is None or seat not in round_.lammers:
        return None
    entered = [name for name in envy.wagers if seat in round_.side_wagers.get(name, ())]
    if all(seat in round_.amounts.get(name, {}) for name in entered):
        return None
    return tuple(name for name in envy.wagers if has_wager(c, seat, name)) if seat in round_.envy else ()


def _has(c: TableView, wager: Wager, seat: int) -> bool:
    """Whether a seat has a wager: a required one, the one it decided on, one with a sensor, or one that was entered."""
    round_, rules = c.state.round, c.edition.progressive
    if wager.decision:
        return round_.decided.get(seat) == wager.name
    if rules is not None and wager.name == rules.wager:
        bet = c.state.money.bets.get(seat)  # a void round's sensors are open again; its bets may still be settled
        return c.has_progressive and (seat in c.state.progressive.accepted or (bet is not None and bet.state == "open"))
    if wager.name in round_.side_wagers:  # the dealer entered its seats before the lock
        return seat in round_.side_wagers[wager.name]
    if wager.required:
        return True
    return seat in round_.optional_wagers.get(wager.name, ()) or seat in round_.amounts.get(wager.name, {})


def _cents(c: Context, wager: Wager, seat: int) -> int | None:
    return c.state.round.amounts.get(wager.name, {}).get(seat)


# --- proposals --------------------------------------------------------------------------------------------------------


def main_proposals(c: Context, seat: int) -> tuple[Proposal, ...]:
    """Return what is decided about a seat's main wagers; nothing unless all of them are decided.

    Optional wagers that no other prompt settles belong to them.
    """
    sensed = "" if c.edition.progressive is None else c.edition.progressive.wager
    others = {*c.state.round.side_wagers, *after_progressive(c), sensed}
    return _proposals(c, seat, {wager.name for wager in c.edition.wagers} - others)


def side_proposals(c: Context, seat: int) -> tuple[Proposal, ...]:
    """Return what is decided about a seat's side wagers that the dealer entered; nothing unless all are decided."""
    asked = {name for name, seats in c.state.round.side_wagers.items() if seat in seats}
    return _proposals(c, seat, {*asked, *after_progressive(c)})


def after_progressive(c: Context) -> tuple[str, ...]:
    """Return the optional wagers that the chapter settles after a seat's progressive bet, in its order (687a.11(f))."""
    rules, order = c.edition.progressive, c.edition.settle_order.side_wagers
    return () if rules is None or rules.wager not in order else order[order.index(rules.wager) + 1 :]


def is_later_wager_due(c: Context, seat: int) -> bool:
    """Whether a seat still has an optional wager that is settled after its progressive bet."""
    round_ = c.state.round
    return seat not in round_.side_settled and any(
        has_wager(c, seat, wager) and seat not in round_.stated.get(wager, ()) for wager in after_progressive(c)
    )


def claimed_hand(c: Context, seat: int) -> tuple[str, tuple[Proposal, ...]] | None:
    """Return the paytable's hand that a seat's known cards are for its progressive bet, and the proposal; "": none.

    None: its cards do not decide that. That the dealer settles its main wager without the cards does not matter here.
    """
    rules, hand = c.meter, c.state.round.hands.get(seat)
    if rules is None or c.edition.progressive is None or hand is None:
        return None
    proposals = _decided(c, seat, {c.edition.progressive.wager})
    if not proposals:
        return None
    line = proposals[0].line if proposals[0].outcome == "wins" else ""
    return next((award.hand for award in rules.awards if award.label == line), ""), proposals


def _possible_round(c: Context) -> DealtRound | None:
    """Return what is known of the round; None if a later event made it impossible, so that nothing is proposed."""
    played = dealt_round(c)
    if (played, c.settles_void) == c.possible_round:  # a step asks several times, and most steps change nothing of it
        return played
    try:
        check_known(c, played)
    except BadHand:
        return None
    c.possible_round = (played, c.settles_void)
    return played


def check_known(c: Context, played: DealtRound) -> None:
    """Raise BadHand if what is known of the round is not possible; in a void round players need not have decided."""
    check(c.terms, played, void=c.settles_void, partial=True)


def _proposals(c: Context, seat: int, wagers: set[str]) -> tuple[Proposal, ...]:
    return () if seat in c.state.round.dealer_settles else _decided(c, seat, wagers)


def _decided(c: Context, seat: int, wagers: set[str]) -> tuple[Proposal, ...]:
    """Return what the known cards decide about these wagers of a seat; nothing unless all of them are decided."""
    round_ = c.state.round
    played = _possible_round(c) if round_.hands else None
    at = None if played is None else next((each for each in played.seats if each.number == seat), None)
    if played is None or at is None:
        return ()
    due = {wager for wager in wagers & at.wagers.keys() if seat not in round_.stated.get(wager, ())}
    verdicts = seat_verdicts(c.terms, played, at)
    if not due or not due <= {verdict.wager for verdict in verdicts}:
        return ()
    earlier = _paid_earlier(c, played, at)
    results = payments(c.terms, played, [*(earlier or ()), *verdicts])[len(earlier or ()) :]
    return tuple(
        _proposal(verdict, None if earlier is None else result)
        for verdict, result in zip(verdicts, results, strict=True)
        if verdict.wager in due
    )


def _paid_earlier(c: Context, played: DealtRound, at: Seat) -> list[WagerVerdict] | None:
    """Return what earlier boxes of the same player won, where a payout limit counts them together.

    None: the cards did not decide one of those wagers, so that nobody knows what is left under the limit.
    """
    rule = c.edition.payout_limit
    if rule is None or rule.scope == "player_hand" or c.submission.payout_limit_cents is None:
        return []
    by_number = {seat.number: seat for seat in played.seats}
    earlier: list[WagerVerdict] = []
    for number in c.state.round.settled:
        seat = by_number.get(number)
        if seat is None or number == at.number or seat.owner != at.owner:
            continue
        verdicts = seat_verdicts(c.terms, played, seat)
        if number in c.state.round.dealer_settles or len(verdicts) < len(seat.wagers):
            return None
        earlier += verdicts
    return earlier


def results_by_cards(c: Context, seats: Sequence[int]) -> list[tuple[str, str, str | None]]:
    """Return how the known cards and settings settle the wagers of some seats: wager, outcome, line."""
    played = dealt_round(c)
    verdicts = [seat_verdicts(c.terms, played, each) for each in played.seats if each.number in seats]
    return [(verdict.wager, verdict.outcome, verdict.line) for own in verdicts for verdict in own]


def decided(c: Context, seat: int, wager: str) -> Proposal | None:
    """Return what the known cards decide about one wager of a seat; None if they do not."""
    return next(iter(_proposals(c, seat, {wager})), None)


def has_wager(c: TableView, seat: int, wager: str) -> bool:
    """Return whether a seat has a wager, as far as it is known."""
    rule = c.edition.wager(wager)
    return rule is not None and _has(c, rule, seat)


def _proposal(verdict: WagerVerdict, result: WagerResult | None) -> Proposal:
    return Proposal(
        wager=verdict.wager,
        outcome=verdict.outcome,
        hand=verdict.hand,
        clauses=verdict.clauses if result is None else result.clauses,  # with that of the payout limit
        line=verdict.line or "",
        odds=verdict.odds,
        fixed_cents=verdict.fixed_cents,
        paid_cents=None if result is None else result.paid_cents,
    )


def envy_proposals(c: Context) -> tuple[Proposal, ...] | None:
    """Return every envy bonus of wagers without a sensor; None while cards that may pay one are not known."""
    played, rules = _possible_round(c), c.edition.progressive
    if played is None or missing_for_envy(c.terms, played):
        return None
    sensed = "" if rules is None else rules.wager
    verdicts = [verdict for verdict in envy_due(c.terms, played) if verdict.wager != sensed]
    results = payments(c.terms, played, verdicts)
    return tuple(
        msgspec.structs.replace(_proposal(verdict, result), envy_to=verdict.seat, envy_of=verdict.envy_of)
        for verdict, result in zip(verdicts, results, strict=True)
    )


def envied_hand(c: Context, seat: int) -> str | None:
    """Return the paytable's hand by which a seat's cards pay envy of the progressive; "": none; None: not known."""
    played, rules = _possible_round(c), c.meter
    if played is None or rules is None or c.edition.progressive is None or seat not in c.state.round.hands:
        return None
    wager = c.edition.progressive.wager
    if any(number == seat and lack.wager == wager for number, lack in missing_for_envy(c.terms, played)):
        return None
    due = (verdict for verdict in envy_due(c.terms, played) if (verdict.wager, verdict.envy_of) == (wager, seat))
    line = next((verdict.line for verdict in due), "")
    return next((award.hand for award in rules.awards if award.label == line), "")


def record_settled(c: Context, seat: int, proposals: tuple[Proposal, ...]) -> None:
    """Record the result of each wager with the cards that decided it."""
    hands = c.state.round.hands
    cards = tuple(format_cards(hands[place].cards) if place in hands else "" for place in (seat, 0))
    for proposal in proposals:
        c.out.append(WagerSettled(c.state.round.number, seat, proposal, (cards[0], cards[1])))
        _note_settled(c, seat, proposal)


def _note_settled(c: Context, seat: int, proposal: Proposal) -> None:
    """Note an optional wager as settled, so that nothing settles it again; a bet with a sensor has its own state."""
    rule, rules, stated = c.edition.wager(proposal.wager), c.edition.progressive, c.state.round.stated
    sensed = rules is not None and rules.wager == proposal.wager
    if rule is not None and rule.option and not sensed and proposal.envy_of is None:
        stated[proposal.wager] = [*stated.get(proposal.wager, ()), seat]
