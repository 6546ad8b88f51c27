"""Side wagers, Qualifying Wagers and envy: which seats have them, what they bar, and when a hand may go to the rack.

Progressive bets are known from their sensors. The dealer enters the other side wagers, because a player with one may
not surrender, and a Qualifying Wager keeps every hand on the table until envy is settled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.ledger import cards as book
from table_controller.rulebook import paytables
from table_controller.rulebook.wager_limits import citation_of
from table_controller.table import disputes, progressive_bets, settling
from table_controller.table import state_machines as mc

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.table import events as ev
    from table_controller.table.context import Context
    from table_controller.table.decisions import Prompt, Proposal
    from table_controller.table.view import TableView

_ENTERED: Final = "side_wagers"
# The place of a dispute about the envy of a round: that of the dealer, who pays it.
ENVY: Final = disputes.NO_SEAT
_DOLLAR: Final = 100  # cents


# --- who has what -----------------------------------------------------------------------------------------------------


def asked_wagers(c: Context) -> list[str]:
    """Return the offered side wagers that bar surrender and have no sensor: play asks for their seats."""
    rule, rules = c.edition.surrender, c.edition.progressive
    return [
        name
        for name in (rule.barred_by if rule is not None else ())
        if name in c.submission.wagers and (rules is None or name != rules.wager)
    ]


def has_side_wager(c: TableView, seat: int) -> bool:
    """Return whether a seat has a side wager that bars surrender and is settled after the main wager."""
    rule, rules = c.edition.surrender, c.edition.progressive
    for seats in c.state.round.side_wagers.values():
        if seat in seats:
            return True
    return (
        rule is not None
        and rules is not None
        and rules.wager in rule.barred_by
        and seat in c.state.progressive.accepted
    )


def ask_entries(c: Context) -> bool:
    """Ask for the seats of each side wager; return whether all are entered."""
    missing = [name for name in asked_wagers(c) if name not in c.state.round.side_wagers]
    for name in missing:
        wager = c.edition.wager(name)
        assert wager is not None
        clauses = (wager.clause, *c.clauses("surrender"))
        c.ask(f"{_ENTERED}/{name}", "dealer", "done", "nobody", seats=True, clauses=clauses)
    return not missing


def check_wager_seats(c: Context, prompt: Prompt, answer: ev.Answer) -> str | None:
    """Return an objection to the seats of a side wager: each must be in the round and appear once."""
    if answer.choice == "nobody":
        return None
    if not answer.seats or len(set(answer.seats)) != len(answer.seats):
        return "enter at least one seat, each once"
    without = [seat for seat in answer.seats if seat not in c.state.round.seats]
    if without:
        wager = c.edition.wager(prompt.kind.partition("/")[2])
        assert wager is not None
        cited = f"{c.clause('seats')}, {citation_of(c.edition.game, wager)}"
        return f"seat {without[0]} has no main wager, so it cannot have a side wager ({cited})"
    return None


def _wager_entered(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    name = prompt.kind.partition("/")[2]
    c.state.round.side_wagers[name] = sorted(answer.seats) if answer.choice == "done" else []


# --- envy -------------------------------------------------------------------------------------------------------------


def ask_lammers(c: Context) -> bool:
    """Ask for a lammer at every Qualifying Wager, seat by seat; return whether none is missing (F3).

    Where the amount is not known, the dealer is asked whether the wager qualifies: without a yes the seat has no envy.
    """
    envy, round_ = c.edition.envy, c.state.round
    if envy is None or not envy.lammer:
        return True
    surely, maybe, small = _qualifying(c)
    for seat in sorted(small - set(round_.lammers)):
        round_.lammers.append(seat)
        _record_no_envy(c, seat)
    missing = [seat for seat in sorted(surely | maybe) if seat not in round_.lammers]
    for seat in missing:
        if seat in surely:
            c.ask("lammers", "dealer", "laid", seat=seat, clauses=c.clauses("lammers"))
        else:
            c.ask("qualifying", "dealer", "yes", "no", seat=seat, clauses=c.clauses("qualifying"))
    return not missing


def _qualifying(c: Context) -> tuple[set[int], set[int], set[int]]:
    """Return the seats whose wager surely opens envy, those where it may, and those where it is too small."""
    envy, rules = c.edition.envy, c.edition.progressive
    assert envy is not None
    enough = envy.least_cents or 0
    surely: set[int] = set()
    maybe: set[int] = set()
    small: set[int] = set()
    for name in envy.wagers:
        if name not in c.submission.wagers or _shut_out(c, name):
            continue
        if rules is not None and name == rules.wager:
            table = c.submission.paytables.get(name)
            unit = next((t.unit_cents or 0 for t in paytables(c.edition.game) if t.id == table), 0)
            if unit >= enough:  # a bet is always its paytable's unit
                surely.update(c.state.progressive.accepted)
            continue
        least, most = c.submission.least_wagers_cents.get(name, 0), c.submission.most_wagers_cents.get(name)
        for seat in c.state.round.side_wagers.get(name, ()):
            cents = c.state.round.amounts.get(name, {}).get(seat)
            if enough <= (least if cents is None else cents):
                surely.add(seat)
            elif cents is not None or (most is not None and most < enough):
                small.add(seat)
            else:
                maybe.add(seat)
    return surely, maybe - surely, small - surely - maybe


def _shut_out(c: Context, wager: str) -> bool:
    """Whether the submission lets only another wager open envy (F3)."""
    only = c.submission.settings.get("envy_wagers")
    return only is not None and only not in ("fortune_or_progressive", wager)


def _lammer(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    """A lammer is at the wager; or the dealer found it too small, so that the seat gets no envy."""
    assert prompt.seat is not None
    c.state.round.lammers.append(prompt.seat)
    if answer.choice == "no":
        _record_no_envy(c, prompt.seat)
    else:
        c.state.round.envy.append(prompt.seat)


def _record_no_envy(c: Context, seat: int) -> None:
    """Record that the wager of a seat is no Qualifying Wager, so that it gets no envy in this round."""
    least = (c.edition.envy.least_cents or 0) // _DOLLAR if c.edition.envy is not None else 0
    round_ = c.state.round.number
    c.record_finding(
        "not_qualifying",
        f"seat {seat}, round {round_}: its wager is below ${least}, so it is no Qualifying Wager and this seat gets no "
        f"envy ({', '.join(c.clauses('qualifying')[-1:])})",
    )


# --- settling ---------------------------------------------------------------------------------------------------------


def ask_side_settlement(c: Context, seat: int) -> bool:
    """Ask for the side wagers and envy of a seat after its main wager; return whether nothing is open."""
    round_ = c.state.round
    if _hit_open(c, seat):
        return True  # its cards stay until the hit is paid and documented
    # 688a: before the seat's progressive bet, (h)(1), (2), then (4); 687a: after it, (f)(1), then (2), (3).
    if progressive_bets.is_side_wager_due(c, seat) or settling.is_later_wager_due(c, seat):
        _ask_side(c, seat)
        return False
    if round_.envy and seat not in round_.judged and progressive_bets.envy_line_from_bet(c, seat) is None:
        # Where a progressive bet pays envy, one prompt asks for the announcement and the line.
        lines = c.meter.envied if c.meter is not None and progressive_bets.is_envy_open(c) else ("announced",)
        choices = ("no", *lines)
        _ask_envy_hand(c, seat, _known_envy(c, seat, choices))
        return False
    return True


def _ask_envy_hand(c: Context, seat: int, choices: tuple[str, ...]) -> None:
    """Ask whether a hand pays envy. Where known cards leave one choice, the dealer may dispute it."""
    clauses = c.clauses("envy_hand")
    if seat in c.state.round.disputed:
        rules = c.meter
        every = rules.envied if rules is not None and progressive_bets.is_envy_open(c) else ("announced",)
        c.ask("envy_hand_disputed", "floorperson", *choices, *(each for each in ("no", *every) if each not in choices),
              seat=seat, clauses=clauses)  # fmt: skip
        return
    c.ask("envy_hand", "dealer", *choices, *(("disputed",) if len(choices) == 1 else ()), seat=seat, clauses=clauses)


def _known_envy(c: Context, seat: int, choices: tuple[str, ...]) -> tuple[str, ...]:
    """Return whether, and by which line, the known cards of a seat pay envy; where they are not known, all choices."""
    if seat not in c.state.round.hands:
        return choices
    if "announced" not in choices:
        line = settling.envied_hand(c, seat)
        return choices if line is None else (line or "no",)
    known = settling.envy_proposals(c)
    if known is None:
        return choices
    return ("announced",) if any(each.envy_of == seat for each in known) else ("no",)


def _ask_side(c: Context, seat: int) -> None:
    """Ask to settle a seat's side wagers, with what the known cards decide."""
    clauses, proposals = c.clauses("side") + c.clauses("rack_hand"), settling.side_proposals(c, seat)
    if seat in c.state.round.disputed:
        c.ask("side_disputed", "floorperson", "stands", "dealer_settles", seat=seat, clauses=clauses,
              proposals=proposals)  # fmt: skip
        return
    choices = ("confirmed", "disputed") if proposals else ("done",)
    c.ask("side_settled", "dealer", *choices, seat=seat, clauses=clauses, proposals=proposals)


def _hit_open(c: Context, seat: int) -> bool:
    """Whether this seat has a hit that is not paid, documented or withdrawn."""
    hit = c.state.money.hit_of(seat)
    return hit is not None and hit.state in mc.HIT_OPEN


def rack_hand(c: Context, seat: int) -> None:
    """Move a finished hand to the rack; with a Qualifying Wager at the table all hands wait."""
    round_ = c.state.round
    bet = c.state.money.bets.get(seat)
    open_bet = bet is not None and bet.state == "open"
    side_due = progressive_bets.is_side_wager_due(c, seat) or settling.is_later_wager_due(c, seat)
    due = not side_due and not open_bet and not _hit_open(c, seat)
    one_by_one = c.deals_to_all_seats or c.edition.hand.second_deal
    if not one_by_one or round_.envy or not due or seat in round_.hands_racked or c.deck is None:
        return
    round_.hands_racked.append(seat)
    c.state.book.move(c.deck.name, book.SEATS, book.RACK, c.edition.hand.cards)


def return_hand_from_rack(c: Context, seat: int) -> None:
    """Return a hand from the rack to its seat."""
    round_ = c.state.round
    if seat in round_.hands_racked and c.deck is not None:
        round_.hands_racked.remove(seat)
        c.state.book.move(c.deck.name, book.RACK, book.SEATS, c.edition.hand.cards)


def return_hands_from_rack(c: Context) -> None:
    """Return to the table the hands that stayed for envy and were collected."""
    round_ = c.state.round
    if c.deck is not None:
        c.state.book.move(c.deck.name, book.RACK, book.SEATS, round_.envy_cards)
    round_.hands_collected, round_.envy_cards = False, 0


def ask_envy(c: Context) -> bool:
    """After all wagers, ask to pay the envy of wagers without a sensor; return whether nothing is open.

    Envy of progressive bets is recorded and asked for in `hits`.
    """
    round_ = c.state.round
    standing = [seat for seat in round_.seats if seat not in round_.dead]
    brings = any(seat in round_.envy_hands or progressive_bets.envy_line_from_bet(c, seat) for seat in standing)
    if brings and _others_opened(c) and not round_.envy_paid:
        proposals = settling.envy_proposals(c) if round_.hands and ENVY not in round_.dealer_settles else None
        if ENVY in round_.disputed:
            c.ask("envy_disputed", "floorperson", "stands", "dealer_settles", clauses=c.clauses("envy_paid"),
                  proposals=proposals or ())  # fmt: skip
        else:
            choices = ("confirmed", "disputed") if proposals else ("done",)
            c.ask("envy_paid", "dealer", *choices, clauses=c.clauses("envy_paid"), proposals=proposals or ())
        return False
    return True


def _others_opened(c: Context) -> bool:
    """Whether a wager without a sensor may have opened envy."""
    envy, round_ = c.edition.envy, c.state.round
    names = envy.wagers if envy is not None else ()
    standing = [seat for seat in round_.envy if seat not in round_.dead]
    return any(seat in round_.side_wagers.get(name, ()) for name in names for seat in standing)


def ask_collection(c: Context) -> bool:
    """Ask to collect the hands that stayed for envy; return whether nothing is left to collect."""
    if c.state.round.envy and not c.state.round.hands_collected:
        c.ask("hands_collected", "dealer", clauses=c.clauses("envy_collect") + c.clauses("rack_hand"))
        return False
    return True


def _side_settled(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    assert prompt.seat is not None
    if answer.choice == "disputed":
        disputes.open_dispute(c, prompt, answer)
    else:
        _settle_side(c, prompt.seat, prompt.proposals)


def _settle_side(c: Context, seat: int, proposals: tuple[Proposal, ...]) -> None:
    """Record a seat's side wagers as settled, with the results if its cards decided them."""
    settling.record_settled(c, seat, proposals)
    c.state.round.side_settled.append(seat)
    rack_hand(c, seat)


def _side_ruled(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    """A floorperson rules about disputed side wagers: what the rules decide stands, or the dealer settles them."""
    seat = disputes.end_dispute(c, prompt, answer)
    if answer.choice == "stands":
        _settle_side(c, seat, prompt.proposals)


def _judged(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    """Record whether a hand pays envy; such a hand was announced and is face up."""
    assert prompt.seat is not None
    if answer.choice == "disputed":
        disputes.open_dispute(c, prompt, answer)
        return
    if prompt.kind == "envy_hand_disputed":
        disputes.end_dispute(c, prompt, answer)
        if answer.choice != prompt.choices[0]:  # its cards were entered wrong; they decide nothing any more
            c.state.round.hands.pop(prompt.seat, None)
    c.state.round.judged.append(prompt.seat)
    if answer.choice != "no":
        c.state.round.envy_hands.append(prompt.seat)
    if progressive_bets.is_envy_open(c):
        c.state.money.envied[prompt.seat] = "" if answer.choice == "no" else answer.choice


def _envy_answered(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    """The dealer paid the envy of the round, or disputes what the known cards decide about it."""
    if answer.choice == "disputed":
        disputes.open_dispute(c, prompt, answer)
    else:
        _pay_envy(c, prompt)


def _envy_ruled(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    """A floorperson rules about disputed envy: what the cards decide stands, or the dealer pays it without them."""
    disputes.end_dispute(c, prompt, answer)
    if answer.choice == "stands":
        _pay_envy(c, prompt)


def _pay_envy(c: Context, prompt: Prompt) -> None:
    for proposal in prompt.proposals:
        settling.record_settled(c, proposal.envy_to or 0, (proposal,))
    c.state.round.envy_paid = True


def _collected(c: Context, _prompt: Prompt, _answer: ev.Answer) -> None:
    c.state.round.hands_collected = True
    if c.deck is not None:
        c.state.round.envy_cards = c.state.book.balance(c.deck.name, book.SEATS)
        c.state.book.move(c.deck.name, book.SEATS, book.RACK, c.state.round.envy_cards)


ANSWERS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], None]]] = {
    _ENTERED: _wager_entered,
    "lammers": _lammer,
    "qualifying": _lammer,
    "side_settled": _side_settled,
    "side_disputed": _side_ruled,
    "envy_hand": _judged,
    "envy_hand_disputed": _judged,
    "envy_paid": _envy_answered,
    "envy_disputed": _envy_ruled,
    "hands_collected": _collected,
}
CHECKS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], str | None]]] = {_ENTERED: check_wager_seats}
