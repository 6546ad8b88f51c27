"""Players decide, the dealer shows, wagers are settled, cards are collected: the order, not the amounts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.ledger import cards as book
from table_controller.table import dealing, decks
from table_controller.table import machines as mc

if TYPE_CHECKING:
    from table_controller.table import events as ev
    from table_controller.table.context import Context
    from table_controller.table.decisions import Prompt

# What a player chooses between, where the game has a choice that later steps need.
CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "dj_wild": ("raise", "fold"),
    "over_under": ("over_23", "under_18", "surrender"),
}


def _live(c: Context) -> list[int]:
    """Return the seats of the round whose hands are not dead."""
    return [seat for seat in c.state.round.seats if seat not in c.state.round.dead]


def settle_order(c: Context) -> list[int]:
    """Return the seats in the order in which the text settles them."""
    order = c.edition.settle_order
    return sorted(c.state.round.seats, reverse=order.start == "far_right")


def advance(c: Context) -> None:
    """Ask for the next thing that players and dealer do."""
    if any(hold.this_round for hold in c.state.holds.values()):
        return
    round_ = c.state.round
    if round_.state == mc.PLAYING:
        _decide(c)
    if round_.state == mc.SETTLING:
        waiting = [seat for seat in settle_order(c) if seat not in round_.settled]
        if waiting:
            c.ask("settled", "dealer", seat=waiting[0], clauses=(c.clause_of("settle_order"),))
        else:
            c.fire_round("finish")
    if round_.state == mc.COMPLETE:
        if c.progressive and c.state.progressive.state != mc.CLOSED:
            c.fire_progressive("settle")
        deck = c.state.decks.get(round_.deck or "")
        if deck is None or deck.state != mc.IN_PLAY or _stays(c):
            _end(c)
        elif not c.reasons_against("collect", deck=deck.name):
            c.ask("collected", "dealer", deck=deck.name, clauses=(c.clause_of("rack"),))
    elif round_.state == mc.VOID and not any(hold.this_round for hold in c.state.holds.values()):
        _end(c)


def _stays(c: Context) -> bool:
    """A shoe of many decks serves until its cover card; the deck stays in play."""
    return (
        c.edition.second_set is not None
        and c.edition.second_set.alternate == "shoe"
        and not c.state.round.cover_card_out
    )


def _decide(c: Context) -> None:
    choices = CHOICES.get(c.edition.game)
    waiting = [seat for seat in _live(c) if seat not in c.state.round.decided]
    if choices is None:
        c.ask("reveal", "dealer", clauses=(c.clause_of("reveal"),))
    elif waiting:
        c.ask("decide", "dealer", *choices, seat=waiting[0], clauses=(c.clause_of("decide"),))
    elif c.edition.hand.dealer_hand:
        c.ask("reveal", "dealer", clauses=(c.clause_of("reveal"),))
    else:
        c.fire_round("settle")


def _end(c: Context) -> None:
    round_ = c.state.round
    c.state.last_deck = round_.deck
    deck = c.state.decks.get(round_.deck or "")
    if deck is not None and deck.state == mc.IN_PLAY:
        c.fire_deck(deck, "keep")
        c.state.book.move(deck.name, book.SEATS, book.RACK, c.state.book.at(deck.name, book.SEATS))
        c.state.last_deck = None
    c.fire_round("end")


def answered(c: Context, prompt: Prompt, answer: ev.Answer) -> bool:
    """Take an answer about play; False if it is about something else."""
    round_ = c.state.round
    match prompt.kind:
        case "decide":
            assert prompt.seat is not None
            round_.decided.append(prompt.seat)
        case "reveal":
            c.fire_round("settle")
        case "settled":
            assert prompt.seat is not None
            round_.settled.append(prompt.seat)
            if c.edition.hand.second_deal and prompt.seat not in round_.dead:
                dealing.delivered(c, c.edition.hand.second_deal)
        case "collected":
            decks.collected(c, c.state.decks[prompt.deck or ""])
        case _:
            return False
    return True
