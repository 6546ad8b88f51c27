"""Shuffling: a stack becomes a shuffled deck, by shuffler or by hand, and is put in place for the deal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.service import IN_SERVICE, UNVERIFIED
from table_controller.ledger import cards as book
from table_controller.table import decks
from table_controller.table import state_machines as mc
from table_controller.table.irregularities import open_hold, open_holds
from table_controller.table.state import GATE, HANDS, INTAKE, PLAIN_SHOE, TRAY
from table_controller.table.view import SHOES, slot_label

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.rulebook import Trigger
    from table_controller.table import events as ev
    from table_controller.table.context import Context
    from table_controller.table.decisions import Prompt
    from table_controller.table.state import Deck

_WAITING: Final = (mc.STACKED, mc.RACK)
_BEFORE_SHUFFLE: Final = (*_WAITING, mc.IN_DEVICE)


# --- into the shuffler ------------------------------------------------------------------------------------------------


def on_cards_inserted(c: Context, event: ev.CardsInserted) -> None:
    """Cards are in a shuffler's intake; the only waiting deck, or the dealer's answer, identifies them."""
    slot = c.state.slots[event.slot]
    deck = c.state.decks.get(slot.deck or "")
    slot.intake = deck is None or deck.state != mc.IN_DEVICE  # else their deck is known already


def on_intake_emptied(c: Context, event: ev.IntakeEmptied) -> None:
    """The intake is empty: a cycle took the cards in, or people took them out."""
    slot = c.state.slots[event.slot]
    slot.intake = False
    deck = c.state.decks.get(slot.deck or "")
    cycle = slot.ran or c.has_pending_command(event.slot, "shuffle")
    if deck is not None and deck.state == mc.IN_DEVICE and not cycle:  # people took the cards out
        decks.gather(c, deck)


def _identify(c: Context) -> None:
    """Identify the deck in the intake: the only one that waits; of two, ask the dealer."""
    name = c.shuffler
    if name is None or c.state.shuffling != "machine" or not c.state.slots[name].intake:
        return
    if c.is_held(slot=name) or c.has_pending_command(name):
        return
    slot = c.state.slots[name]
    if slot.deck is not None:
        _take_back(c, name, slot.deck)
        return
    waiting = [d.name for d in c.state.decks.values() if is_waiting(c, d) and _free(c, d)]
    if len(waiting) == 1:
        _insert(c, name, c.state.decks[waiting[0]])
    elif len(waiting) > 1:
        c.ask("which_deck", "dealer", *waiting, slot=name, clauses=c.clauses("alternate"))


def is_waiting(c: Context, deck: Deck) -> bool:
    """Return whether a deck may be put into the shuffler: a stack, or a second deck that arrived shuffled."""
    if deck.state in _WAITING:
        return True
    if deck.place != TRAY or deck.state not in (mc.SHUFFLED, mc.READY):
        return False
    return any(c.is_in_place(other) and c.is_playable(other) for other in c.decks_at_table() if other.name != deck.name)


def _which_deck(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    """The dealer identified the deck in the shuffler."""
    assert prompt.slot is not None
    deck = c.state.decks[answer.choice]
    if is_waiting(c, deck) and _free(c, deck):
        _insert(c, prompt.slot, deck)


def _free(c: Context, deck: Deck) -> bool:
    """Return whether a waiting deck may be shuffled: no hold, no face check due."""
    return not c.is_held(deck=deck.name) and not c.is_face_check_due(deck)


def _insert(c: Context, slot: str, deck: Deck) -> None:
    if deck.state not in _WAITING:
        c.fire_deck(deck, "take_out")
    c.fire_deck(deck, "insert")
    deck.place, deck.cut, deck.cutter, deck.declined = slot, False, None, []
    c.state.slots[slot].deck, c.state.slots[slot].ran, c.state.slots[slot].intake = deck.name, False, False
    c.state.book.move_all(deck.name, f"{slot}/intake")


def _take_back(c: Context, slot: str, deck: str) -> None:
    """A continuous shuffler takes the discards of its own batch back."""
    if c.source == slot and c.state.decks[deck].state == mc.IN_PLAY and c.state.round.state == mc.IDLE:
        c.try_issue_command("load", slot, deck=deck)


def on_discards_taken_in(c: Context, event: ev.DiscardsTakenIn) -> None:
    """A continuous shuffler took the discards back; their count must match the rack."""
    slot = c.state.slots[event.slot]
    slot.intake = False
    deck = c.state.decks.get(slot.deck or "")
    if deck is None:
        open_hold(c, "unknown_cards", slot=event.slot)
        return
    wrong = event.count - c.state.book.balance(deck.name, book.RACK)
    c.state.book.record_count(deck.name, book.RACK, event.count)
    c.state.book.move(deck.name, book.RACK, f"{event.slot}/store", event.count)
    if wrong:
        decks.mark_wrong(c, deck, wrong, slot_label(event.slot))
        open_hold(c, "count_wrong", slot=event.slot, deck=deck.name)


# --- out of it --------------------------------------------------------------------------------------------------------


def on_shuffle_ended(c: Context, event: ev.ShuffleEnded) -> None:
    """A cycle ended: check that it shuffled, and that the deck is complete."""
    slot = c.state.slots[event.slot]
    deck = c.state.decks.get(slot.deck or "")
    if deck is None or deck.state != mc.IN_DEVICE or not slot.ran:
        c.record_finding(
            "unknown_cards",
            f"{slot_label(event.slot)} ended a cycle without an order, on {slot.deck or 'unknown cards'}",
        )
        open_hold(c, "shuffler_fault", slot=event.slot, deck=slot.deck)
        return
    c.state.book.move_all(deck.name, f"{event.slot}/store")
    deck.shuffled_by = "not_counting" if event.count is None else "counting"
    wrong: list[Trigger] = [] if event.shuffled else ["shuffler_fault"]
    if event.count is not None:
        c.state.book.record_count(deck.name, f"{event.slot}/store", event.count)
        if event.count != c.edition.cards.count or event.rejected:
            decks.mark_wrong(c, deck, event.count - c.edition.cards.count, slot_label(event.slot))
            wrong.append("count_wrong")
    if wrong:
        open_holds(c, wrong, slot=event.slot, deck=deck.name)
        return
    if event.count is not None:
        decks.mark_whole(deck)
    if not c.submission.shuffler_counts:
        deck.shuffled_by = "not_counting"  # filed as such: its right count replaces no count by people
    if c.source != event.slot:
        deck.place = event.slot + GATE
    cut = "machine_shuffle" in c.edition.cut.when and not c.is_lifted(c.edition.cut.clause)
    c.fire_deck(deck, "verify_uncut" if cut else "verify")
    if c.source == event.slot:
        place_deck(c, deck, event.slot)


def on_shuffle_failed(c: Context, event: ev.ShuffleFailed) -> None:
    """A cycle did not finish: its cards must be shuffled again."""
    deck = c.state.slots[event.slot].deck
    if deck is not None and event.inside is not None:
        held = c.state.book.balance(deck, f"{event.slot}/intake")
        c.state.book.move(deck, f"{event.slot}/intake", f"{event.slot}/path", min(event.inside, held))
    open_hold(c, "shuffler_fault", slot=event.slot, deck=deck)


def on_deck_given_out(c: Context, event: ev.DeckGivenOut) -> None:
    """The shuffler gave out its deck; without an order the deck may not be dealt."""
    deck = c.state.decks.get(c.state.slots[event.slot].deck or "")
    if deck is None:
        c.record_finding("unknown_cards", f"{slot_label(event.slot)} gave out cards, but no deck was recorded in it")
        if c.is_in_service(event.slot) and not c.is_held(slot=event.slot):  # else people are already working on it
            open_hold(c, "unknown_cards", slot=event.slot)
        return
    decks.take_out_of_device(c, deck)
    if not c.has_pending_command(event.slot, "eject", "clear_out"):
        deck.verified = False  # it must be counted before it is dealt
        open_hold(c, "unknown_cards", slot=event.slot, deck=deck.name)


def on_stack_inserted(c: Context, event: ev.StackInserted) -> None:
    """The shuffler pushed its stack into the shoe. Until the shoe confirms it, the deck is between the machines."""
    slot, shoe = c.state.slots[event.slot], c.slot_of("shoe")
    deck = c.state.decks.get(slot.deck or "")
    if deck is None or shoe is None:
        c.record_finding(
            "unknown_cards", f"{slot_label(event.slot)} inserted cards into the shoe, but no deck was recorded in it"
        )
        if c.is_in_service(event.slot) and not c.is_held(slot=event.slot):  # else people are already working on it
            open_hold(c, "unknown_cards", slot=event.slot)
        return
    ordered = c.has_pending_command(event.slot, "insert")
    mixed = c.state.decks.get(c.state.slots[shoe].deck or "")
    _record_inserted(c, deck, event.slot, shoe)
    if event.count is not None:
        c.state.book.record_count(deck.name, deck.place, event.count)
        if event.count != c.edition.cards.count:
            decks.mark_wrong(c, deck, event.count - c.edition.cards.count, slot_label(event.slot))
            open_hold(c, "count_wrong", slot=event.slot, deck=deck.name)
    if not ordered:
        for each in (deck, *([mixed] if mixed is not None and mixed is not deck else [])):
            each.verified = False  # it must be counted before it is dealt
            open_hold(c, "unknown_cards", slot=event.slot, deck=each.name)


def _record_inserted(c: Context, deck: Deck, shuffler: str, shoe: str) -> None:
    """Record that a stack has left the shuffler for the shoe."""
    c.state.slots[shuffler].deck, c.state.slots[shuffler].ran = None, False
    c.state.slots[shoe].deck, deck.place = deck.name, shoe + INTAKE
    c.state.book.move_all(deck.name, deck.place)


def on_insertion_unreported(c: Context, slot: str, name: str | None) -> None:
    """The command to insert a stack is done, and nobody observed it: people must find the cards and count them."""
    shoe, deck = c.slot_of("shoe"), c.state.decks.get(name or "")
    if deck is None or shoe is None or c.state.slots[slot].deck != deck.name:
        return
    _record_inserted(c, deck, slot, shoe)
    open_hold(c, "shuffler_fault", slot=slot, deck=deck.name)


def free_shoe(c: Context, name: str | None) -> None:
    """An insertion was certainly not begun: the shoe no longer waits for this deck."""
    shoe = c.slot_of("shoe")
    if shoe is not None and name is not None and c.state.slots[shoe].deck == name:
        c.state.slots[shoe].deck = None


def on_cards_behind_gate(c: Context, event: ev.CardsBehindGate) -> None:
    """A shuffler reports cards behind its gate that no account has: fault it until people check.

    A faulted shuffler, or one out of order, is checked anyway and must report again before it is in service.
    """
    slot = c.state.slots[event.slot]
    if slot.deck is None and slot.state in (UNVERIFIED, IN_SERVICE):
        c.record_finding(
            "unknown_cards", f"{slot_label(event.slot)} reports cards behind its gate, but no deck was recorded in it"
        )
        c.fire_slot(event.slot, "fault")
        open_hold(c, "unknown_cards", slot=event.slot)


def confirm_given_out(c: Context, slot: str, name: str | None) -> None:
    """The command to give out a deck is done, even if the device did not report it."""
    if name is not None and c.state.slots[slot].deck == name:
        decks.take_out_of_device(c, c.state.decks[name])


def _hand_shuffled(c: Context, prompt: Prompt, _answer: ev.Answer) -> None:
    """Record a hand shuffle. It counts no cards, so the deck stays verified or not, as it was."""
    deck = c.state.decks[prompt.deck or ""]
    decks.take_out_of_device(c, deck)
    deck.shuffled_by, deck.cut, deck.cutter, deck.declined = "none", False, None, []
    c.fire_deck(deck, "hand_shuffle")


# --- into place -------------------------------------------------------------------------------------------------------


def advance(c: Context) -> None:
    """Ask for or order the next step from a stack to a deck in place."""
    _identify(c)
    for deck in c.state.decks.values():
        if deck.state not in _BEFORE_SHUFFLE or c.is_held(deck=deck.name):
            continue
        if deck.place == TRAY and c.deals_from_shuffler and mc.can_fire(mc.DECK, deck, "take_out"):
            c.fire_deck(deck, "take_out")  # a continuous shuffler takes stacks only
        if deck.state in _WAITING and c.is_face_check_due(deck):
            c.ask("face_check", "floorperson", "whole", "not_whole", deck=deck.name, clauses=c.clauses("composition"))
        elif deck.state in _WAITING and c.state.shuffling == "hand":
            c.ask("hand_shuffle", "dealer", deck=deck.name, clauses=c.clauses("shuffle"))
        elif deck.state == mc.IN_DEVICE:
            slot = c.state.slots[deck.place]
            if not slot.ran and c.try_issue_command("shuffle", deck.place, deck=deck.name):
                slot.ran = True
        elif deck.state == mc.RACK and c.state.round.state == mc.IDLE and len(c.decks_at_table()) > 1:
            c.ask("rack_clear", "dealer", deck=deck.name, clauses=c.clauses("rack"))
    if c.state.round.state in (mc.IDLE, mc.BETTING, mc.NO_MORE_BETS, mc.LOCKED, mc.STARTING_POSITION):
        _make_room(c)
        _into_place(c)


def _make_room(c: Context) -> None:
    """If the round's deck must be shuffled again before the deal, have the shuffler give out the other deck."""
    deck = c.deck
    if deck is None or deck.state not in _WAITING or not c.is_round_under_way or c.state.shuffling != "machine":
        return
    stored = c.state.decks.get(c.state.slots[c.shuffler].deck or "") if c.shuffler is not None else None
    if stored is not None and stored.place.endswith(GATE) and c.shuffler is not None:
        c.try_issue_command("eject", c.shuffler, deck=stored.name)


def _rack_cleared(c: Context, prompt: Prompt, _answer: ev.Answer) -> None:
    """The dealer took the cards out of the rack."""
    deck = c.state.decks[prompt.deck or ""]
    decks.take_out_of_device(c, deck)
    c.fire_deck(deck, "take_out")


def _into_place(c: Context) -> None:
    """Put the next deck in place for the deal; before the first card also a recut one."""
    deck = c.deck if c.is_round_under_way else c.next_deck()
    if deck is None or c.is_held(deck=deck.name) or deck.look_due:
        return
    if c.is_in_place(deck):
        return
    if not c.is_round_under_way and any(c.is_in_place(other) and c.is_playable(other) for other in c.decks_at_table()):
        return  # another deck is in place
    if deck.place.endswith(GATE) and c.shuffler is not None:
        _out_of_shuffler(c, deck, c.shuffler)
    elif c.is_between_machines(deck):
        if c.shoe is not None and deck.place == c.shoe + INTAKE:
            c.try_issue_command("load", c.shoe, deck=deck.name)
    elif not c.is_round_under_way and _not_next(c, deck):
        return  # it waits until the other one is shuffled and dealt
    elif c.has_reason("count_due", "open_bets", deck.name):
        c.ask("count_deck", "dealer", deck=deck.name, number=True, clauses=c.clauses("stub"))
    elif deck.state == mc.READY and deck.place in (TRAY, HANDS, PLAIN_SHOE):  # also a place that is no longer used
        if c.state.dealing not in SHOES:
            c.ask("take_in_hand", "dealer", deck=deck.name, clauses=c.clauses("load"))
        elif c.shoe is None or not c.is_blocked("load", c.shoe, deck.name):
            c.ask("put_in_shoe", "dealer", deck=deck.name, slot=c.shoe, clauses=c.clauses("load"))


def _out_of_shuffler(c: Context, deck: Deck, shuffler: str) -> None:
    """Have the shuffler insert its stack into the shoe, or eject it."""
    if not _goes_by_chute(c, deck):
        c.try_issue_command("eject", shuffler, deck=deck.name)
    elif c.shoe is not None and c.try_issue_command("insert", shuffler, deck=deck.name):
        c.state.slots[c.shoe].deck = deck.name  # the shoe takes no other deck meanwhile


def _goes_by_chute(c: Context, deck: Deck) -> bool:
    """Return whether the shuffler inserts this deck into the shoe by itself; otherwise the dealer gets it.

    The dealer also gets a deck that must be counted first, or that is not the next one, and the deck of a round.
    """
    chosen = c.submission.inserts_into_shoe and c.state.shuffling == "machine" and c.shoe is not None
    overdue = c.has_reason("count_due", "open_bets", deck.name)
    return chosen and c.state.round.state == mc.IDLE and not overdue and not _not_next(c, deck)


def _not_next(c: Context, deck: Deck) -> bool:
    """Return whether the other deck must be dealt before this one, even if this one is ready (X19)."""
    return c.has_reason("deck_used_last", "open_bets", deck.name)


def _counted(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    """Record the count of the whole deck that replaces an overdue stub count."""
    assert answer.number is not None
    decks.record_hand_count(c, c.state.decks[prompt.deck or ""], answer.number)


def _faces_seen(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    """Record the face check, which finds errors that no count can."""
    deck = c.state.decks[prompt.deck or ""]
    unseen, deck.unseen = deck.unseen, []
    if answer.choice == "whole":
        c.record_finding("faces_seen", f"face check of deck {deck.name}: every card is there once", deck.name)
        decks.mark_whole(deck)
    else:
        decks.mark_wrong(c, deck, 0, "the face check", unseen)
        open_hold(c, "count_wrong", deck=deck.name)


def _put_in_shoe(c: Context, prompt: Prompt, _answer: ev.Answer) -> None:
    """The dealer put the deck into the shoe; a shoe device loads it if permitted."""
    deck = c.state.decks[prompt.deck or ""]
    if prompt.slot is None:
        place_deck(c, deck, PLAIN_SHOE)
    elif not c.try_issue_command("load", prompt.slot, deck=deck.name):
        c.refuse("load", *c.reasons_against("load", prompt.slot, deck.name))


def _taken_in_hand(c: Context, prompt: Prompt, _answer: ev.Answer) -> None:
    place_deck(c, c.state.decks[prompt.deck or ""], HANDS)


def on_shoe_loaded(c: Context, event: ev.ShoeLoaded) -> None:
    """A shoe loaded a deck; a wrong count opens a hold."""
    name = next((i.deck for i in c.state.commands.values() if i.slot == event.slot and i.act == "load"), None)
    deck = c.state.decks.get(name or "")
    if deck is None or not c.is_playable(deck):
        c.record_finding("unknown_cards", f"{slot_label(event.slot)} was loaded without an order")
        open_hold(c, "unknown_cards", slot=event.slot, deck=c.state.slots[event.slot].deck)
        return
    c.state.slots[event.slot].deck = deck.name
    c.state.book.move_all(deck.name, event.slot)
    place_deck(c, deck, event.slot)
    if event.count is not None:
        c.state.book.record_count(deck.name, event.slot, event.count)
        if event.count != c.edition.cards.count:
            decks.mark_wrong(c, deck, event.count - c.edition.cards.count, slot_label(event.slot))
            open_hold(c, "count_wrong", slot=event.slot, deck=deck.name)


def on_shoe_empty(c: Context, event: ev.ShoeEmpty) -> None:
    """A shoe is empty. If a deck was ready in it, people took it out without an order."""
    deck = c.state.decks.get(c.state.slots[event.slot].deck or "")
    if deck is None or deck.state != mc.READY or c.is_held(deck=deck.name) or c.has_pending_command(event.slot, "load"):
        return  # its cards are on the table, or people are already working on them
    if c.is_between_machines(deck):
        return  # they are not in the well yet
    decks.take_out_of_device(c, deck)
    deck.verified = False
    c.record_finding("unknown_cards", f"{slot_label(event.slot)} is empty, but deck {deck.name} was in it", deck.name)
    open_hold(c, "unknown_cards", slot=event.slot, deck=deck.name)


def place_deck(c: Context, deck: Deck, place: str) -> None:
    """Put a deck in place for the deal; a new shoe begins, with its burn card where the regulation requires one."""
    deck.place = place
    if c.shuffles_per_shoe:
        c.state.shoe_over = c.state.shoe_ordered = c.state.cover_seat_due = False
        c.state.regulars, c.state.cut_first = None, None
        c.state.burn_shoe = c.edition.burn.per_shoe


ANSWERS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], None]]] = {
    "which_deck": _which_deck,
    "hand_shuffle": _hand_shuffled,
    "put_in_shoe": _put_in_shoe,
    "take_in_hand": _taken_in_hand,
    "rack_clear": _rack_cleared,
    "count_deck": _counted,
    "face_check": _faces_seen,
}
