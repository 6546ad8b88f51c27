"""A deck's way: opening, shuffle and count, cut, into place, out of play, and what is wrong with it. No round is here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.service import IN_SERVICE
from table_controller.ledger import cards as book
from table_controller.rulebook import precede
from table_controller.table import machines as mc
from table_controller.table.irregularities import irregular
from table_controller.table.state import Deck

if TYPE_CHECKING:
    from table_controller.rulebook import Trigger
    from table_controller.table import events as ev
    from table_controller.table.context import Context
    from table_controller.table.decisions import Prompt

HOUR: Final = 3600.0
_OUTSIDE: Final = (mc.STACKED, mc.RACK)


def received(c: Context, event: ev.DeckReceived) -> None:
    """A deck comes to the table: its age begins, and its opening."""
    known = c.state.decks.get(event.deck)
    if known is not None and known.state != mc.REMOVED:
        c.refuse(f"deck {event.deck} is at the table already")
        return
    most = 1 if c.edition.second_set is None or not c.submission.two_decks else 2
    if len(c.decks_at_table()) >= most:
        c.refuse(f"this table plays with {most} deck{'s' * (most > 1)}")
        return
    deck = Deck(event.deck, preshuffled=event.preshuffled)
    c.state.decks[event.deck] = deck
    c.state.book.receive(event.deck, c.edition.cards.count)
    for method, hours in c.edition.change_hours.items():
        c.timer(f"deck_age/{event.deck}/{method}", hours * HOUR)
    if event.preshuffled:
        deck.verified = True  # counted and sealed by whoever preshuffled it
        c.fire_deck(deck, "preshuffled")
    deck.two_jokers = event.two_jokers


def aged(c: Context, deck: str, method: str) -> None:
    """A change interval has passed. The hand's interval counts for a deck that was ever dealt by hand."""
    found = c.state.decks.get(deck)
    if found is None or found.state == mc.REMOVED:
        return
    by_hand = c.state.dealing == "hand" or found.by_hand
    if method != "hand" or by_hand:
        found.expired = True
        c.finding("deck_expired", f"deck {deck} has been in use for its whole interval", deck)


def inserted(c: Context, event: ev.CardsInserted) -> None:
    """Cards lie in a shuffler: say which deck they are, or ask."""
    if c.state.slots[event.slot].deck is not None:
        return
    waiting = [deck.name for deck in c.state.decks.values() if deck.state in _OUTSIDE]
    if len(waiting) == 1:
        _insert(c, event.slot, c.state.decks[waiting[0]])
    elif waiting:
        c.ask("which_deck", "dealer", *waiting, slot=event.slot, clauses=(c.clause_of("alternate"),))
    else:
        c.finding("unknown_cards", f"cards were put into {event.slot}, and no deck may be shuffled now")


def which_deck(c: Context, prompt: Prompt, choice: str) -> None:
    """The dealer has said which deck lies in the shuffler."""
    assert prompt.slot is not None
    _insert(c, prompt.slot, c.state.decks[choice])


def _insert(c: Context, slot: str, deck: Deck) -> None:
    c.fire_deck(deck, "insert")
    deck.place, deck.verified, deck.machine_shuffled = slot, False, False
    c.state.slots[slot].deck = deck.name
    c.state.slots[slot].ran = False
    c.state.book.move_all(deck.name, f"{slot}/store")


def shuffle_ended(c: Context, event: ev.ShuffleEnded) -> None:
    """A cycle ended: is it a shuffle of a whole deck?"""
    slot = c.state.slots[event.slot]
    deck = c.state.decks.get(slot.deck or "")
    if deck is None or deck.state != mc.IN_DEVICE:
        c.finding("unknown_cards", f"{event.slot} shuffled cards that are no deck of this table")
        irregular(c, "shuffler_fault", slot=event.slot)
        return
    difference = c.state.book.counted(deck.name, f"{event.slot}/store", event.count)
    wrong: list[Trigger] = [] if event.shuffled else ["shuffler_fault"]
    if difference or event.rejected:
        found_wrong(c, deck, difference, event.slot)
        wrong.append("count_wrong")
    for trigger in precede(c.edition, wrong):
        irregular(c, trigger, slot=event.slot, deck=deck.name)
    if not wrong:
        deck.verified = deck.machine_shuffled = True
        deck.rounds = []
        deck.place = f"{event.slot}/gate"
        c.fire_deck(deck, "verify_uncut" if "machine_shuffle" in c.edition.cut.when else "verify")


def shuffle_failed(c: Context, event: ev.ShuffleFailed) -> None:
    """A cycle did not go to its end: what it held is shuffled again before any use."""
    irregular(c, "shuffler_fault", slot=event.slot, deck=c.state.slots[event.slot].deck)


def given_out(c: Context, event: ev.GivenOut) -> None:
    """The shuffler gave its deck to the dealer's hands."""
    slot = c.state.slots[event.slot]
    deck = c.state.decks.get(slot.deck or "")
    slot.deck, slot.ran = None, False
    if deck is None:
        return
    if deck.state == mc.IN_DEVICE:  # taken out unshuffled, by whoever cleared the machine
        c.fire_deck(deck, "take_out")
    deck.place = "hands" if deck.state in (mc.READY, mc.SHUFFLED) else "tray"
    c.state.book.move_all(deck.name, book.TRAY)


def shoe_loaded(c: Context, event: ev.ShoeLoaded) -> None:
    """A shoe took a deck in; a count that is not the deck's stops it here."""
    deck = next((d for d in c.state.decks.values() if d.state == mc.READY and d.place == "hands"), None)
    c.state.slots[event.slot].loaded = event.count
    if deck is None:
        c.finding("unknown_cards", f"{event.slot} was loaded, and no deck is ready")
        irregular(c, "unknown_cards", slot=event.slot)
        return
    deck.place = event.slot
    c.state.slots[event.slot].deck = deck.name
    c.state.book.move_all(deck.name, event.slot)
    c.state.shoe_burn_due = bool(c.edition.burn.per_shoe)
    c.state.round.cover_card_out = False
    if event.count is not None:
        difference = c.state.book.counted(deck.name, event.slot, event.count)
        if difference:
            found_wrong(c, deck, difference, event.slot)
            irregular(c, "count_wrong", slot=event.slot, deck=deck.name)


def found_wrong(c: Context, deck: Deck, difference: int, where: str) -> None:
    """A deck is not whole: say so, list the rounds dealt from it since it was, and link a card that migrated."""
    deck.verified = False
    if difference:
        sign = f"{-difference} cards missing" if difference < 0 else f"{difference} cards too many"
        c.finding("wrong_count", f"{sign}, counted at {where}", deck.name)
    else:
        c.finding("wrong_cards", f"the count is right and the cards are not, read at {where}", deck.name)
    c.finding("affected_rounds", f"dealt since deck {deck.name} was last found whole", deck.name, tuple(deck.rounds))
    for other in c.state.decks.values():
        if other.name != deck.name and difference and c.state.book.missing(other.name) == difference:
            c.finding(
                "migrated", f"decks {deck.name} and {other.name}: what one lacks the other has too many", deck.name
            )


def collected(c: Context, deck: Deck) -> None:
    """The dealer has put the deck of the round into the rack."""
    c.fire_deck(deck, "collect")
    deck.place = "rack"
    deck.verified = False
    for slot in c.state.slots.values():
        if slot.kind == "shoe":
            slot.deck = slot.loaded = None
    c.state.book.move_all(deck.name, book.RACK)


def out_of_device(c: Context, deck: Deck) -> None:
    """The cards of a deck are in people's hands again, whatever held them; nobody has counted them there."""
    for slot in c.state.slots.values():
        if slot.deck == deck.name:
            slot.deck, slot.ran, slot.loaded = None, False, None
    deck.place, deck.verified = "tray", False
    c.state.book.move_all(deck.name, book.TRAY)


def removed(c: Context, deck: Deck) -> None:
    """A deck leaves the table for good."""
    out_of_device(c, deck)
    c.fire_deck(deck, "remove")
    deck.place = "removed"
    c.state.book.move_all(deck.name, book.QUARANTINE)
    for method in c.edition.change_hours:
        c.timer(f"deck_age/{deck.name}/{method}", None)


def advance(c: Context) -> None:
    """Ask for, or order, whatever comes next for each deck."""
    for deck in c.state.decks.values():
        _open(c, deck)
        if deck.state in _OUTSIDE and c.state.shuffling == "hand":
            c.ask("hand_shuffle", "dealer", deck=deck.name, clauses=(c.clause_of("shuffle"),))
        elif deck.state == mc.SHUFFLED and not deck.place.endswith("/gate") and not _held(c, deck):
            _offer_cut(c, deck)
        elif deck.state == mc.IN_DEVICE:
            slot = c.state.slots[deck.place]
            if not slot.ran and c.try_command("shuffle", deck.place, deck=deck.name):
                slot.ran = True
    if c.state.round.state == mc.IDLE:
        _into_place(c)


def _held(c: Context, deck: Deck) -> bool:
    return any(hold.deck == deck.name for hold in c.state.holds.values())


def _open(c: Context, deck: Deck) -> None:
    """Ask for the opening's next step; a step that several people confirm is asked of each of them."""
    if deck.state not in (mc.RECEIVED, mc.INSPECTED, mc.SHOWN):
        return
    for step in c.edition.opening:
        if step.when == "two_joker_pack" and not deck.two_jokers:
            continue
        missing = [role for role in step.who if f"{step.name}/{role}" not in deck.confirmed]
        for role in missing:
            choices = ("whole", "not_whole") if step.name in ("inspect", "verify_inspection") else ("done",)
            # What the first player does, the dealer enters.
            asked = "dealer" if role == "first_player" else role
            c.ask(f"opening/{step.name}/{role}", asked, *choices, deck=deck.name, clauses=(step.clause,))
        if missing:
            return


def _opened(c: Context, deck: Deck, step: str, choice: str) -> None:
    """A step of the opening was confirmed, or the deck was found wrong."""
    if choice == "not_whole":
        for prompt in [p for p in c.state.prompts.values() if p.deck == deck.name and p.kind.startswith("opening/")]:
            c.close_prompt(prompt)
        c.finding("not_whole", f"deck {deck.name} was found wrong at its inspection", deck.name)
        removed(c, deck)
        return
    deck.confirmed.append(step)
    done = {entry.partition("/")[0] for entry in deck.confirmed}
    for name, trigger in (("verify_inspection", "inspect"), ("first_look", "show"), ("stack", "wash")):
        if name in done and mc.may(mc.DECK, deck, trigger):
            deck.verified = True  # every card was looked at
            c.fire_deck(deck, trigger)


def _into_place(c: Context) -> None:
    """Bring the next round's deck from the shuffler to where it is dealt from."""
    if any(c.in_place(deck.name) and deck.state == mc.READY for deck in c.decks_at_table()):
        return  # a deck is there already
    deck = c.next_deck(mc.READY, mc.SHUFFLED)
    if deck is None:
        return
    if deck.place.endswith("/gate"):
        c.try_command("eject", deck.place.removesuffix("/gate"), deck=deck.name)
    elif deck.state == mc.READY and deck.place in ("hands", "tray") and c.uses_shoe and c.shoe is not None:
        busy = any(issued.slot == c.shoe for issued in c.state.commands.values())
        if c.state.slots[c.shoe].state == IN_SERVICE and c.state.slots[c.shoe].deck is None and not busy:
            c.ask("put_in_shoe", "dealer", deck=deck.name, slot=c.shoe, clauses=(c.clause_of("shoe_loaded"),))
    elif deck.place == "tray":
        deck.place = "hands"


def answered(c: Context, prompt: Prompt, choice: str, number: int | None) -> bool:
    """Take an answer about a deck; False if it is about something else."""
    if prompt.kind == "which_deck":
        which_deck(c, prompt, choice)
        return True
    deck = c.state.decks.get(prompt.deck or "")
    if deck is None or prompt.hold is not None:
        return False
    if prompt.kind.startswith("opening/"):
        _opened(c, deck, prompt.kind.removeprefix("opening/"), choice)
        return True
    match prompt.kind:
        case "hand_shuffle":
            deck.machine_shuffled = False
            # Nobody counts a deck shuffled by hand; what its stub said last stands until it is counted again.
            deck.verified = c.state.book.missing(deck.name) == 0
            c.fire_deck(deck, "hand_shuffle")
        case "cut":
            _cut(c, deck, prompt, choice, number)
        case "put_in_shoe":
            assert prompt.slot is not None
            if not c.try_command("load", prompt.slot, deck=deck.name):
                c.refuse("load", *c.reasons_against("load", slot=prompt.slot, deck=deck.name))
        case _:
            return False
    return True


def _offer_cut(c: Context, deck: Deck) -> None:
    """Ask for the cut: of the dealer, or of the player whose turn it is; who declines passes it on."""
    waiting = [seat for seat in _cut_order(c) if seat not in deck.declined]
    by_player = c.edition.cut.by == "player_then_dealer" and bool(waiting)
    seat = waiting[0] if by_player else None
    choices = ("cut", "decline") if by_player else ("cut",)
    c.ask("cut", "dealer", *choices, deck=deck.name, seat=seat, number=True, clauses=(c.edition.cut.clause,))


def _cut_order(c: Context) -> list[int]:
    """Return the seats in the order in which the cut is offered: who comes first, then counterclockwise."""
    seats = sorted(c.state.round.seats, reverse=True)
    first = c.state.cut_first
    if first in seats and "cover_card_seat" in c.edition.cut.offered:
        at = seats.index(first)
        return seats[at:] + seats[:at]
    return seats


def _cut(c: Context, deck: Deck, prompt: Prompt, choice: str, number: int | None) -> None:
    """The cut is somewhere in the stack, not nearer to its ends than the text allows."""
    if choice == "decline":
        assert prompt.seat is not None
        deck.declined.append(prompt.seat)
        return
    top, bottom = c.edition.cut.least_from_top, c.edition.cut.least_from_bottom or 0
    if number is None or not top <= number <= c.edition.cards.count - bottom:
        c.refuse(f"the cut is at least {top} cards from the top and {bottom} from the bottom ({c.edition.cut.clause})")
        return
    deck.declined = []
    c.fire_deck(deck, "cut")
