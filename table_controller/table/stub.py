"""The stub: taken out of the shoe after the deal, a replacement card set aside, then counted or racked unseen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from table_controller.ledger import cards as book
from table_controller.rulebook import find_ruling
from table_controller.table import dealing, decks
from table_controller.table import state_machines as mc
from table_controller.table.irregularities import open_hold
from table_controller.table.view import slot_label

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.rulebook.vocabulary import StubFinding
    from table_controller.table import events as ev
    from table_controller.table.context import Context
    from table_controller.table.decisions import Prompt
    from table_controller.table.state import Deck

# What the dealer may find after a stub that is wrong in two counts.
FINDINGS: Final = ("not_misdealt", "misdealt_total_right", "misdealt_total_wrong")


def is_count_due(c: Context) -> bool:
    """Return whether people must count the stub of this deal: every round, or every so many rounds (X14)."""
    rule = c.edition.stub
    if rule is None or c.is_stub_count_waived(c.deck):
        return False
    return rule.every_rounds == 1 or c.state.uncounted + 1 >= rule.every_rounds


def expected_stub(c: Context) -> int:
    """Return how many cards must be left: all not dealt, set aside or discarded in this deal (X2)."""
    round_ = c.state.round
    discarded = round_.discarded if c.submission.settings.get("discard_in_stub") != "void" else 0
    return c.edition.cards.count - dealing.first_deal_cards(c) - round_.replacement - discarded


def on_stub_out(c: Context, event: ev.StubOut) -> None:
    """A shoe gave out the stub and counted it."""
    round_, deck = c.state.round, c.deck or c.state.decks.get(c.state.slots[event.slot].deck or "")
    if deck is None or deck.state != mc.IN_PLAY or not round_.stub_ordered or round_.stub is not None:
        open_hold(c, "unordered_stack", slot=event.slot, deck=c.state.slots[event.slot].deck)
        return
    c.state.slots[event.slot].deck = None
    if round_.stub_done:
        _counted_late(c, event, deck)
        return
    c.state.book.move(deck.name, event.slot, book.STUB, event.count)
    round_.stub, round_.stub_out = event.count, True
    if round_.state == mc.STUB_CHECK:
        round_.stub_off = event.count - expected_stub(c)
        if round_.stub_off:
            round_.stub_counts += 1
            _differs(c, event, deck)


def _differs(c: Context, event: ev.StubOut, deck: Deck) -> None:
    c.record_finding(
        "stub_differs",
        f"{slot_label(event.slot)} counted a stub of {event.count} cards, {expected_stub(c)} expected",
        deck.name,
    )


def _counted_late(c: Context, event: ev.StubOut, deck: Deck) -> None:
    """The shoe's count arrives when the stub is already in the rack; if it differs, the floorperson decides."""
    c.state.round.stub, c.state.round.stub_out = event.count, True
    if c.is_round_under_way and event.count != expected_stub(c):
        _differs(c, event, deck)
        open_hold(c, "stub_counts_differ", deck=deck.name)


def on_count_lost(c: Context) -> None:
    """The shoe gave out the stub but its count was not received: people must count."""
    c.state.round.stub_out = True
    c.state.round.stub_counts += 1


def advance(c: Context) -> None:
    """After the deal: stub out, replacement card, count or rack, then the stacks of places without a wager."""
    if c.state.round.state != mc.STUB_CHECK or c.is_round_stopped:
        return
    automated = c.state.dealing == "automated_shoe"
    if not automated and _replacement_due(c):
        c.ask("replacement", "dealer", clauses=c.clauses("replacement"))
    elif not _out(c):
        return
    elif automated and _replacement_due(c):
        c.ask("replacement", "dealer", clauses=c.clauses("replacement"))
    elif not c.state.round.stub_done:
        _count_or_rack(c)
    elif _unwagered(c) and not c.state.round.racked:
        c.ask("rack_unwagered", "dealer", clauses=c.clauses("unwagered"))
    else:
        c.fire_round("play")


def _out(c: Context) -> bool:
    """Have the shoe give out its stub; return whether it did, or whether people must take it out."""
    round_ = c.state.round
    if c.shoe is None or round_.stub_out or not c.is_in_service(c.shoe):
        return True
    if not round_.stub_ordered:
        round_.stub_ordered = c.try_issue_command("give_stub", c.shoe, deck=round_.deck)
    return round_.stub_ordered and c.state.dealing != "automated_shoe"


def _replacement_due(c: Context) -> bool:
    rule = c.edition.deal.replacement_card[c.state.dealing]
    required = rule == "offered" or (rule == "bet" and bool(c.state.progressive.accepted))
    return c.has_progressive and required and not c.state.round.replacement


def is_replacement_missing(c: Context) -> bool:
    """Return whether a void round settles progressive bets without a replacement card (687a.11(f)(1))."""
    bets = any(bet.state == "open" for bet in c.state.money.bets.values())
    return bets and not c.state.round.replacement


def _unwagered(c: Context) -> bool:
    return c.deals_to_all_seats and len(c.state.round.seats) < c.submission.seats


def _count_or_rack(c: Context) -> None:
    """Ask for the count if it is due or the shoe's own count was wrong; else have the stub racked unseen."""
    round_ = c.state.round
    if round_.stub_disputed:
        c.ask("stub_recount", "floorperson", number=True, clauses=c.clauses("stub") + c.clauses("stub_right"))
    elif round_.stub_counts >= 2:
        c.ask("finding", "dealer", *FINDINGS, clauses=c.clauses("stub"))
    elif is_count_due(c) or round_.stub_counts:
        c.ask("stub", "dealer", number=True, clauses=c.clauses("stub") + c.clauses("stub_right"))
    else:
        c.ask("rack_stub", "dealer", clauses=c.clauses("stub_rack"))


def _counted(c: Context, _prompt: Prompt, answer: ev.Answer) -> None:
    """The dealer counted the stub: right, or wrong and to be counted again (X5).

    If the shoe's count differs from the dealer's, the floorperson counts and decides.
    """
    round_ = c.state.round
    assert answer.number is not None
    off = answer.number - expected_stub(c)
    if round_.stub_off is not None and off != round_.stub_off:
        round_.stub_disputed = True
        seen = f"difference from the expected stub: shoe {round_.stub_off:+}, {answer.who.credential} {off:+}"
        c.record_finding("stub_counts_differ", seen, c.state.round.deck)
    elif off:
        round_.stub_counts += 1
        round_.stub_found = answer.number
    else:
        _right(c)


def _recounted(c: Context, _prompt: Prompt, answer: ev.Answer) -> None:
    """The floorperson counted the stub after dealer and shoe disagreed: this count decides."""
    round_ = c.state.round
    round_.stub_disputed = False
    if answer.number == expected_stub(c):
        _right(c)
    else:
        round_.stub_counts += 2
        round_.stub_found = answer.number


def _right(c: Context) -> None:
    """The stub count is right; hands that were not counted may still hide a missing card."""
    round_, deck = c.state.round, c.deck
    assert deck is not None
    _racked(c)
    round_.counted = True
    counted_out = c.state.dealing == "automated_shoe" and c.shoe is not None
    decks.mark_whole_by_hand_count(deck, [] if counted_out else [round_.number])


def _rack_stub(c: Context, _prompt: Prompt, _answer: ev.Answer) -> None:
    _racked(c)


def _racked(c: Context) -> None:
    """The stub is in the rack, its faces unseen."""
    c.state.round.stub_done = True
    assert c.deck is not None
    source = book.STUB if c.state.round.stub is not None else dealing.source_account(c)
    c.state.book.move(c.deck.name, source, book.RACK, c.state.book.balance(c.deck.name, source))


def _replaced(c: Context, _prompt: Prompt, _answer: ev.Answer) -> None:
    lay_replacement(c)


def lay_replacement(c: Context) -> None:
    """Set one card aside, face down."""
    c.state.round.replacement = 1
    assert c.deck is not None
    source = book.STUB if c.state.round.stub is not None else dealing.source_account(c)
    c.state.book.move(c.deck.name, source, book.REPLACEMENT, 1)


def _unwagered_racked(c: Context, _prompt: Prompt, _answer: ev.Answer) -> None:
    """The unseen stacks of places without a wager are in the rack."""
    c.state.round.racked = True
    assert c.deck is not None
    stacks = c.submission.seats - len(c.state.round.seats)
    c.state.book.move(c.deck.name, book.SEATS, book.RACK, stacks * c.edition.hand.cards)


def _record_stub_finding(c: Context, _prompt: Prompt, answer: ev.Answer) -> None:
    """Record what the dealer found in the hands after a wrong stub.

    A misdeal with a right total falls under its own rule where no rule covers this stub.
    """
    assert c.deck is not None
    finding = cast("StubFinding", answer.choice)
    facts = c.facts(slot=None, deck=c.deck.name, finding=finding)
    ruled = is_count_due(c) and bool(find_ruling(c.edition, "stub_wrong", "stub_check", facts).rows)
    if finding == "misdealt_total_right" and not ruled:
        open_hold(c, "wrong_card_count", deck=c.deck.name)
        return
    if finding != "misdealt_total_right":
        decks.mark_wrong(c, c.deck, (c.state.round.stub_found or 0) - expected_stub(c), "the stub")
    open_hold(c, "stub_wrong", deck=c.deck.name, finding=finding)


ANSWERS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], None]]] = {
    "stub": _counted,
    "stub_recount": _recounted,
    "finding": _record_stub_finding,
    "rack_stub": _rack_stub,
    "replacement": _replaced,
    "rack_unwagered": _unwagered_racked,
}
