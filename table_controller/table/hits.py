"""Hits, from the claimed hand to the payment: who confirms what, in which order, and the entries in the meter.

A share of the meter is provisional until every earlier claim on it is validated or withdrawn. Only a final amount is
validated and paid, and never from the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.ledger import hits as ledger
from table_controller.ledger import meter
from table_controller.ledger.money import MOST_SLIPS, format_dollars
from table_controller.rulebook.cards import JOKER, format_cards
from table_controller.table import disputes, progressive_bets, settling
from table_controller.table import state_machines as mc
from table_controller.table.decisions import HitClaimed, RequestRefused
from table_controller.table.exposure import settle_order

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.ledger.hits import Hit
    from table_controller.ledger.meter import MeterRules
    from table_controller.table import events as ev
    from table_controller.table.context import Context
    from table_controller.table.decisions import Prompt

NO_WIN: Final = "no_win"
NO_ENVY: Final = "none"
DISPUTED: Final = "disputed"
# A floorperson's rulings on a disputed claim: the cards decide, they are entered again, or the dealer names the hand,
# for one of these reasons.
UPHELD: Final = "stands"
ENTER_AGAIN: Final = "enter_again"
DEALER_NAMES: Final = ("ranked_otherwise", "cards_mixed")


def advance(c: Context) -> None:
    """Seed a new meter; while a round is settled, ask the next question about each bet and hit."""
    rules, money, round_ = c.meter, c.state.money, c.state.round
    if rules is None:
        return
    # A refused request must not change the state.
    if not money.book.entries and not any(isinstance(decision, RequestRefused) for decision in c.out):
        progressive_bets.record_entry(c, meter.open_meter(money.book, rules))
    if not money.bets or not (money.settles or (round_.state == mc.SETTLING and not c.is_round_stopped)):
        return
    _lose_abandoned(c)
    _ask_claims(c)
    for hit in list(money.hits.values()):
        _ask_next(c, hit)
    if (progressive_bets.are_main_wagers_settled(c) or money.settles) and not _claims_open(c):
        _ask_envy(c)


def _lose_abandoned(c: Context) -> None:
    """Settle as lost the bets of players who left, or who folded where that loses the bet."""
    folded = not c.submission.folded_progressive and not c.state.money.settles  # a void round ignores folds
    for seat, bet in c.state.money.bets.items():
        if bet.state != "open":
            continue
        if seat in c.state.round.dead:
            progressive_bets.settle_bet(c, seat, "lost", c.clauses("leaves"))
        elif folded and c.state.round.decided.get(seat) == "fold":
            progressive_bets.settle_bet(c, seat, "lost", c.clauses("folded_bet"))


def _claims_open(c: Context) -> bool:
    """Whether a bet's outcome is open, or a claim is not validated."""
    money = c.state.money
    return any(bet.state == "open" for bet in money.bets.values()) or any(
        hit.state in mc.HIT_UNVALIDATED for hit in money.hits.values()
    )


def _ask_claims(c: Context) -> None:
    """Ask for claims in the order of settlement, one at a time, so that several hits on one meter have an order."""
    rules, money = c.meter, c.state.money
    assert rules is not None
    for seat in settle_order(c):
        bet = money.bets.get(seat)
        if bet is not None and bet.state == "open" and (progressive_bets.is_claim_next(c, seat) or money.settles):
            _ask_claim(c, rules, seat)
            return


def _ask_claim(c: Context, rules: MeterRules, seat: int) -> None:
    """Ask what a bet won. Only known cards win: the dealer confirms what they are, or disputes it."""
    known, round_, clauses = settling.claimed_hand(c, seat), c.state.round, c.clauses("claim")
    if seat in round_.disputed:
        c.ask("claim_disputed", "floorperson", UPHELD, ENTER_AGAIN, *DEALER_NAMES, seat=seat, clauses=clauses,
              proposals=known[1] if known is not None else (), shows=_known_cards(c, seat))  # fmt: skip
    elif seat in round_.claims_ruled:
        hands = (award.hand for award in rules.awards)
        c.ask("progressive", "dealer", NO_WIN, *hands, seat=seat, clauses=clauses, shows=_known_cards(c, seat))
    elif known is None:
        c.ask("progressive", "dealer", NO_WIN, seat=seat, clauses=clauses, shows=_entry_due(c, seat))
    else:
        choices = (known[0] or NO_WIN, *(() if seat in round_.claims_stand else (DISPUTED,)))
        c.ask("progressive", "dealer", *choices, seat=seat, clauses=clauses, proposals=known[1])


def _ask_next(c: Context, hit: Hit) -> None:
    match hit.state:
        case mc.HIT_CLAIMED:
            c.ask("hit_hand", "dealer", "winning", "not_winning", seat=hit.seat, clauses=c.clauses("hit_hand"))
        case mc.HIT_CONFIRMED if hit.dark:
            c.ask("hit_dark", "floorperson", "bet_recorded", "refuse", seat=hit.seat, clauses=c.clauses("hit_light"))
        case mc.HIT_CONFIRMED:
            c.ask("hit_light", "dealer", "lit", "dark", seat=hit.seat, clauses=c.clauses("hit_light"))
        case mc.HIT_LIGHT_SEEN if c.state.money.is_final(hit):
            payments = ("hand_pay",) if hit.on_meter else ("table", "hand_pay")
            c.ask("hit_validate", "floorperson", *payments, "refuse", seat=hit.seat, clauses=c.clauses("pay"),
                  shows=_hand_line_amount(c, hit))  # fmt: skip
        case mc.HIT_VALIDATED if not c.reasons_against("pay", seat=hit.seat):
            c.ask("hit_pay", "dealer", "paid", seat=hit.seat, clauses=c.clauses("award"))
        case mc.HIT_HAND_PAY if c.state.money.is_final(hit):
            c.ask("hand_pay", "floorperson", "documented", seat=hit.seat, number=True, least=1, most=MOST_SLIPS,
                  clauses=c.clauses("hand_pay"))  # fmt: skip


def _known_cards(c: Context, seat: int) -> str:
    """Return the known cards of a seat, with the card that replaces its joker and a floorperson's ruling about it."""
    round_ = c.state.round
    hand = round_.hands.get(seat)
    parts = [] if hand is None else [format_cards(hand.cards)]
    if hand is not None and JOKER in hand.cards and round_.replacement_card is not None:
        parts.append(f"joker replaced by {format_cards((round_.replacement_card,))}")
    ruled = round_.claims_ruled.get(seat)
    return "; ".join(parts if ruled is None else [*parts, ruled])


def _entry_due(c: Context, seat: int) -> str:
    """Return what must be entered before the hand of a seat can be claimed."""
    if seat not in c.state.round.hands:
        return "a hand that wins is claimed by its cards: enter them"
    return f"{_known_cards(c, seat)}: enter the card that replaces the joker"


def _hand_line_amount(c: Context, hit: Hit) -> str:
    """Return what the person who validates a hit compares with the table: its cards, line and amount."""
    assert c.meter is not None
    line = next(award.label for award in c.meter.awards if award.hand == hit.hand)
    return "; ".join(part for part in (_known_cards(c, hit.seat), line, format_dollars(hit.amount)) if part)


def claim_objection(c: Context, prompt: Prompt, answer: ev.Answer) -> str | None:
    """Return why a line of the paytable cannot be claimed: the seat's cards do not decide what its bet won."""
    rules, seat = c.meter, prompt.seat
    assert seat is not None
    if rules is None or not any(award.hand == answer.choice for award in rules.awards):
        return None
    if settling.claimed_hand(c, seat) is not None or seat in c.state.round.claims_ruled:
        return None
    hand = c.state.round.hands.get(seat)
    lacks = "its cards" if hand is None else "the card that replaces its joker"
    how = "enter_hand" if hand is None else "enter_replacement"
    return f"seat {seat}: a hand wins only by its cards; first enter {lacks} ({how}, card pad){c.citation('claim')}"


def _ask_envy(c: Context) -> None:
    """After all progressive bets, ask which hands pay envy and that it was paid (F9)."""
    rules, money = c.meter, c.state.money
    assert rules is not None
    if progressive_bets.is_announcement_due(c):
        return
    for seat in settle_order(c):
        if not progressive_bets.seats_paid_envy(c, seat):
            continue
        hand = progressive_bets.envy_line(c, seat)
        if hand is None:
            line = settling.envied_hand(c, seat)
            lines = (NO_ENVY, *rules.envied) if line is None else (line or NO_ENVY,)
            c.ask("envy_line", "dealer", *lines, seat=seat, clauses=c.clauses("envy_line"),
                  shows=_known_cards(c, seat))  # fmt: skip
        elif hand and seat not in money.envy_paid:
            c.ask("progressive_envy", "dealer", "paid", seat=seat, seats=True, clauses=c.clauses("progressive_envy"))


# --- answers ----------------------------------------------------------------------------------------------------------


def _hit(c: Context, prompt: Prompt) -> Hit:
    hit = c.state.money.hit_of(prompt.seat)
    assert hit is not None
    return hit


def _claimed(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    """Record the hand that the dealer entered for a bet; its award leaves the meter at once."""
    rules, money = c.meter, c.state.money
    assert rules is not None
    assert prompt.seat is not None
    if answer.choice == DISPUTED:
        disputes.open_dispute(c, prompt, answer)
        return
    settling.record_settled(c, prompt.seat, prompt.proposals)
    if answer.choice == NO_WIN:
        progressive_bets.settle_bet(c, prompt.seat, "lost", c.clauses("claim"))
        return
    progressive_bets.settle_bet(c, prompt.seat, "won", c.clauses("award"))
    number = c.state.round.number
    hit, entry = ledger.claim(money.book, rules, c.fresh_id(), number, prompt.seat, answer.choice)
    hit.dealers = [answer.who.identity]
    money.hits[hit.id] = hit
    c.out.append(HitClaimed(entry, hit.id, number, hit.seat, hit.hand, hit.fixed, hit.share, money.is_final(hit)))


def _claim_ruled(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    """A floorperson rules about a disputed claim: the cards decide, are entered again, or the dealer names the hand."""
    assert prompt.seat is not None
    line = ", ".join(proposal.line or proposal.outcome for proposal in prompt.proposals)
    cards = _known_cards(c, prompt.seat)
    seat = disputes.end_dispute(c, prompt, answer, f"; {cards}: {line}")
    if answer.choice == UPHELD:
        c.state.round.claims_stand.append(seat)
    elif answer.choice == ENTER_AGAIN:
        c.state.round.hands.pop(seat, None)
    else:
        reason = answer.choice.replace("_", " ")
        c.state.round.claims_ruled[seat] = f"{reason}, ruled by {answer.who.credential}"


def _refused(c: Context, hit: Hit, prompt: Prompt, answer: ev.Answer) -> None:
    """Withdraw a claim and ask the dealer again for the hand. A new claim comes after all other claims."""
    progressive_bets.withdraw_hit(c, hit, prompt.clauses)
    c.state.money.bets[hit.seat].state = "open"
    c.state.round.claims_stand = [seat for seat in c.state.round.claims_stand if seat != hit.seat]
    if hit.seat not in c.state.round.claims_fell:
        c.state.round.claims_fell.append(hit.seat)
    c.record_finding(
        "claim_withdrawn", f"seat {hit.seat}: {hit.hand} was claimed; {answer.who.credential} answered {answer.choice}"
    )


def _confirmed(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    hit = _hit(c, prompt)
    hit.dealers.append(answer.who.identity)
    if answer.choice == "winning":
        progressive_bets.fire_hit(c, hit, "confirm")
    else:
        _refused(c, hit, prompt, answer)


def _light(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    """Record whether the light is on; if it is off, a floorperson must look up the bet."""
    hit = _hit(c, prompt)
    hit.dealers.append(answer.who.identity)
    if answer.choice == "lit":
        progressive_bets.fire_hit(c, hit, "see_light")
    else:
        hit.dark = True
        c.record_finding("light_dark", f"seat {hit.seat}: its bet was accepted, but its light is off")


def _looked_up(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    hit = _hit(c, prompt)
    hit.looked_up_by = answer.who.identity
    if answer.choice == "bet_recorded":
        progressive_bets.fire_hit(c, hit, "see_light")
    else:
        _refused(c, hit, prompt, answer)


def _validated(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    hit = _hit(c, prompt)
    if answer.choice == "refuse":
        _refused(c, hit, prompt, answer)
        return
    hit.validated_by = answer.who.identity
    progressive_bets.fire_hit(c, hit, "validate")
    if answer.choice == "hand_pay":
        progressive_bets.fire_hit(c, hit, "hand_pay")


def _paid(c: Context, prompt: Prompt, _answer: ev.Answer) -> None:
    hit = _hit(c, prompt)
    progressive_bets.fire_hit(c, hit, "pay")
    progressive_bets.record_entry(c, ledger.pay_from_table(c.state.money.book, hit, prompt.clauses))


def _documented(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    hit = _hit(c, prompt)
    progressive_bets.fire_hit(c, hit, "document")
    progressive_bets.record_entry(
        c, ledger.pay_by_attendant(c.state.money.book, hit, prompt.clauses, f"slip {answer.number}")
    )


# --- who may answer about a hit, and which slip is new ----------------------------------------------------------------


def _another_than_the_dealer(c: Context, prompt: Prompt, answer: ev.Answer) -> str | None:
    """Return an objection if the person who claimed or confirmed a hand as dealer would also approve it."""
    if answer.who.identity not in _hit(c, prompt).dealers:
        return None
    return (
        f"seat {prompt.seat}: {answer.who.credential} confirmed this hand as dealer; another person must answer this as"
        f" floorperson ({c.clause('pay')})"
    )


def hand_pay_objection(c: Context, prompt: Prompt, answer: ev.Answer) -> str | None:
    """Return an objection to a hand pay's slip: entered by the wrong person, or its number is used already."""
    if wrong_person := _another_than_the_dealer(c, prompt, answer):
        return wrong_person
    if answer.who.identity == _hit(c, prompt).looked_up_by:
        return (
            f"seat {prompt.seat}: {answer.who.credential} looked up this bet; another floorperson must document the"
            f" hand pay ({c.clause('hand_pay')})"
        )
    if answer.number is not None and c.state.money.book.has_slip(answer.number):
        return f"slip {answer.number} is used for another hand pay; enter the number of a new slip"
    return None


def _another_than_the_floor(c: Context, prompt: Prompt, answer: ev.Answer) -> str | None:
    """Return an objection if the person who approved a payout as floorperson would also pay it as dealer."""
    hit = _hit(c, prompt)
    if answer.who.identity not in (hit.validated_by, hit.looked_up_by):
        return None
    return (
        f"seat {prompt.seat}: {answer.who.credential} confirmed this jackpot or looked up its bet; another person must"
        f" pay it as dealer ({c.clause('pay')})"
    )


def _envy_line(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    assert prompt.seat is not None
    c.state.money.envied[prompt.seat] = "" if answer.choice == NO_ENVY else answer.choice


def envy_objection(c: Context, prompt: Prompt, answer: ev.Answer) -> str | None:
    """Return an objection to the seats that were paid: all bettors, except boxes of the hand's own player."""
    assert prompt.seat is not None
    due = progressive_bets.seats_paid_envy(c, prompt.seat)
    if sorted(answer.seats) == list(due):
        return None
    return f"envy for seat {prompt.seat} is paid to seats {', '.join(map(str, due))}"


def _envy_paid(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    rules, money = c.meter, c.state.money
    assert rules is not None
    assert prompt.seat is not None
    money.envy_paid.append(prompt.seat)
    hand, seats = progressive_bets.envy_line(c, prompt.seat), tuple(sorted(answer.seats))
    assert hand
    number = c.state.round.number
    paid, entry = ledger.pay_envy(money.book, rules, number, prompt.seat, hand, seats, prompt.clauses)
    money.envy += paid
    progressive_bets.record_entry(c, entry)


ANSWERS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], None]]] = {
    "progressive": _claimed,
    "claim_disputed": _claim_ruled,
    "hit_hand": _confirmed,
    "hit_light": _light,
    "hit_dark": _looked_up,
    "hit_validate": _validated,
    "hit_pay": _paid,
    "hand_pay": _documented,
    "envy_line": _envy_line,
    "progressive_envy": _envy_paid,
}
# Why a choice that the prompt does not offer is no answer, in place of the list of its choices.
NOT_OFFERED: Final[dict[str, Callable[[Context, Prompt, ev.Answer], str | None]]] = {"progressive": claim_objection}
CHECKS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], str | None]]] = {
    "progressive_envy": envy_objection,
    "hit_dark": _another_than_the_dealer,
    "hit_validate": _another_than_the_dealer,
    "hit_pay": _another_than_the_floor,
    "hand_pay": hand_pay_objection,
}
