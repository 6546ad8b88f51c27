"""The cut: when it is due, who is offered it in which order, its limits, and the cover card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.table import dealing, decks
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.signers import SIGNERS
from table_controller.table.state import GATE

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.table.context import Context
    from table_controller.table.decisions import Prompt
    from table_controller.table.state import Deck


def on_cover_card_out(c: Context, event: ev.CoverCardOut) -> None:
    """The cover card came out: this round is the last of the shoe. A shoe does not know at which seat."""
    if event.who is not None and event.who.role not in SIGNERS[ev.CoverCardOut]:
        c.refuse("only the dealer or a floorperson can report the cover card")
        return
    if c.shuffles_per_shoe:
        c.state.shoe_over = True
        c.state.cut_first = event.seat
        c.state.cover_seat_due = event.seat is None and c.state.round.state in (mc.DEALING, mc.PLAYING, mc.SETTLING)


def advance(c: Context) -> None:
    """Ask for the cut of every deck that waits for it, and for its cover card."""
    if c.state.cover_seat_due:
        c.ask("cover_seat", "dealer", "player", "nobody", seats=True, clauses=c.clauses("cut_cover_seat"))
        return
    for deck in c.state.decks.values():
        if deck.state != mc.SHUFFLED or deck.place.endswith(GATE) or deck.look_due or c.is_held(deck=deck.name):
            continue
        if c.is_lifted(c.clause("cut")):
            _done(c, deck)  # a preshuffled deck with an approved device needs no cut
        elif deck.cover_due:
            _ask_cover(c, deck)
        else:
            _offer(c, deck)


def _offer(c: Context, deck: Deck) -> None:
    """Offer the cut to the dealer or the next player; a player who declines passes it on."""
    rule, cards = c.edition.cut, c.edition.cards.count
    duty, order = _order(c, deck)
    if duty == "cut_first" and not order and deck.cutter is None:
        c.ask("first_arrival", "dealer", deck=deck.name, seats=True, clauses=c.clauses(duty))
        return
    if deck.cutter is not None:
        order = _again(order, deck.cutter)
    waiting = [seat for seat in order if seat not in deck.declined]
    seat = waiting[0] if waiting else None
    choices = ("cut", "decline") if waiting else ("cut",)
    clauses = (rule.clause, *c.clauses("cut_due"), *(c.clauses(duty) if duty else ()))
    c.ask("cut", "dealer", *choices, deck=deck.name, seat=seat, number=True, clauses=clauses,
          least=rule.least_from_top, most=cards - (rule.least_from_bottom or 1))  # fmt: skip


def _order(c: Context, deck: Deck) -> tuple[str, list[int]]:
    """Return the duty that orders the cut, and the seats offered it: the first one, then counterclockwise."""
    offered = c.edition.cut.offered
    if not offered:
        return "", []
    sitting = c.state.round.seats or c.state.regulars or range(1, c.submission.seats + 1)
    seats = sorted(sitting, reverse=True)  # from the far right
    if deck.ordered or c.state.shoe_ordered:
        return "cut_ordered", seats
    if not c.state.begun and "first_arrival" in offered:
        first = c.state.first_seat
        return "cut_first", [] if first is None else [first, *(seat for seat in seats if seat != first)]
    if c.state.cut_first in seats and "cover_card_seat" in offered:
        at = seats.index(c.state.cut_first)
        return "cut_cover_seat", seats[at:] + seats[:at]
    return "cut_far_right", seats


def _again(order: list[int], cutter: int) -> list[int]:
    """Return the seats offered a recut: the last cutter, then the next ones; none if the dealer cut."""
    if cutter == dealing.DEALER:
        return []
    return [cutter, *(order[order.index(cutter) + 1 :] if cutter in order else [])]


def _first_arrived(c: Context, _prompt: Prompt, answer: ev.Answer) -> None:
    c.state.first_seat = answer.seats[0]


def _cover_seat(c: Context, _prompt: Prompt, answer: ev.Answer) -> None:
    """Record the seat where the cover card came out, or that it was at no seat."""
    c.state.cut_first = answer.seats[0] if answer.choice == "player" else None
    c.state.cover_seat_due = False


def check_round_seat(c: Context, _prompt: Prompt, answer: ev.Answer) -> str | None:
    """Return an objection unless exactly one seat of this round was entered, or the answer is nobody."""
    if answer.choice == "player" and (len(answer.seats) != 1 or answer.seats[0] not in c.state.round.seats):
        return f"enter one seat of this round: {', '.join(map(str, c.state.round.seats))}"
    return None


def check_one_seat(c: Context, _prompt: Prompt, answer: ev.Answer) -> str | None:
    """Return an objection unless exactly one seat of this table was entered."""
    if len(answer.seats) != 1 or not 1 <= answer.seats[0] <= c.submission.seats:
        return f"enter one seat, 1 to {c.submission.seats}"
    return None


def _cut(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    """Record the cut, or that the seat declined. The prompt checked the limits."""
    deck = c.state.decks[prompt.deck or ""]
    if answer.choice == "decline":
        assert prompt.seat is not None
        deck.declined.append(prompt.seat)
        return
    deck.cut, deck.cutter = True, prompt.seat or dealing.DEALER
    deck.cover_due = c.edition.cut.cover_put_back != "never"
    if not deck.cover_due:
        _done(c, deck)


def _ask_cover(c: Context, deck: Deck) -> None:
    """Ask to put the cover card back above the bottom or, where allowed, into the rack."""
    rule = c.edition.cut
    above = rule.cover_above_bottom or 0
    if rule.cover_put_back == "must":
        most = c.edition.cards.count - 1
        c.ask("cover_back", "dealer", "put_back", deck=deck.name, number=True, least=above, most=most,
              clauses=c.clauses("cover_back"))  # fmt: skip
    else:
        c.ask("cover_back", "dealer", "put_back", "rack", deck=deck.name, number=True, least=above, most=above,
              clauses=c.clauses("cover_back"))  # fmt: skip


def _cover_placed(c: Context, prompt: Prompt, _answer: ev.Answer) -> None:
    _done(c, c.state.decks[prompt.deck or ""])


def _done(c: Context, deck: Deck) -> None:
    deck.cover_due = False
    deck.declined = []
    c.fire_deck(deck, "cut")


def recut(c: Context, deck: Deck | None) -> str | None:
    """Have a deck cut again on a floorperson's order; return why not, if it is refused."""
    if c.is_lifted(c.clause("recut")):
        return f"no cut is needed with the approved device, so no recut ({c.edition.approved_device.clause})"
    if deck is not None and deck.state == mc.READY and not deck.cut and c.clause("no_cut"):
        return f"a machine shuffled it, so it is dealt without a cut{c.citation('no_cut')}"
    if deck is None or deck.state != mc.READY or not deck.cut:
        return f"this deck is not cut and ready{c.citation('recut')}"
    if c.state.round.state not in (mc.IDLE, *_BEFORE_THE_DEAL):
        return f"cards have been dealt{c.citation('recut')}"
    if c.shuffles_per_shoe and c.is_in_place(deck):
        return f"the shoe is loaded{c.citation('recut')}"
    decks.take_out_of_device(c, deck)
    c.fire_deck(deck, "recut")
    return None


_BEFORE_THE_DEAL: Final = (mc.BETTING, mc.NO_MORE_BETS, mc.LOCKED, mc.STARTING_POSITION)
ANSWERS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], None]]] = {
    "first_arrival": _first_arrived,
    "cut": _cut,
    "cover_back": _cover_placed,
    "cover_seat": _cover_seat,
}
CHECKS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], str | None]]] = {
    "first_arrival": check_one_seat,
    "cover_seat": check_round_seat,
}
