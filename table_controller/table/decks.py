"""Where a deck is and whether it is complete: counts, affected rounds, taking it out of devices and off the table.

Opening, shuffle and cut have their own modules.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

from table_controller.ledger import cards as book
from table_controller.table import state_machines as mc
from table_controller.table.irregularities import open_hold
from table_controller.table.state import GONE, RACK, TRAY, Deck

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_controller.table.context import Context

HOUR_S: Final = 3600.0


def color_of(name: str) -> str:
    """Return a back color in the form used for comparison: case, blanks and marks are ignored."""
    return "".join(sign for sign in unicodedata.normalize("NFKC", name).casefold() if sign.isalnum())


def age_timer(deck: str, hours: int) -> str:
    """Return the name of the timer of a change interval."""
    return f"deck_age/{deck}/{hours}"


def deck_age_s(deck: str, left_s: Mapping[str, float]) -> int | None:
    """Return the age of a deck (s) from the seconds left of its timers; None if none of them runs."""
    for timer, left in left_s.items():
        kind, _, about = timer.partition("/")
        name, _, hours = about.rpartition("/")
        if (kind, name) == ("deck_age", deck):
            return round(int(hours) * HOUR_S - left)
    return None


def on_deck_aged(c: Context, deck: str, hours: int) -> None:
    """A change interval of a deck has passed. Which interval applies depends on how the deck was ever dealt."""
    aged_deck = c.state.decks.get(deck)
    if aged_deck is not None and aged_deck.state != mc.REMOVED and hours not in aged_deck.passed:
        aged_deck.passed.append(hours)
        if c.is_expired(aged_deck):
            c.record_finding(
                "deck_expired", f"deck {deck} has been in use for {hours} hours; no new round is dealt from it", deck
            )


# --- counts ----------------------------------------------------------------------------------------------------------


def mark_whole(deck: Deck) -> None:
    """Mark a deck complete after a machine count or a face check: no earlier round is in doubt."""
    deck.verified = True
    deck.rounds, deck.doubted = [], []


def mark_whole_by_hand_count(deck: Deck, since: list[int]) -> None:
    """Mark a deck complete after a hand count; `since`: the rounds whose hands were not counted.

    A hand count may err, so the earlier rounds stay in doubt until another check finds the deck complete; counting the
    same cards again before they are dealt is no such check.
    """
    deck.doubted = [number for number in deck.rounds if number not in since] or deck.doubted
    deck.rounds = since


def record_affected_rounds(c: Context, deck: Deck, rounds: list[int] | None = None) -> None:
    """Record the rounds that may have been dealt from an incomplete deck."""
    text = f"dealt since deck {deck.name} was last found complete"
    if rounds is None:
        rounds = deck.doubted + deck.rounds
        text += ", or before that if only a hand count found it complete" * bool(deck.doubted)
    c.record_finding("affected_rounds", text, deck.name, tuple(rounds))


def mark_wrong(c: Context, deck: Deck, difference: int, where: str, rounds: list[int] | None = None) -> None:
    """Mark a deck wrong: record the difference, the affected rounds, and a card that migrated to the other deck."""
    deck.verified = False
    if difference:
        cards = f"{abs(difference)} card{'s' * (abs(difference) > 1)}"
        c.record_finding(
            "wrong_count", f"{cards} {'missing' if difference < 0 else 'too many'}, counted at {where}", deck.name
        )
    else:
        c.record_finding("wrong_cards", f"the count is right but the cards are wrong, read at {where}", deck.name)
    record_affected_rounds(c, deck, rounds)
    for other in c.state.decks.values():
        if other.name != deck.name and difference and c.state.book.missing(other.name) == difference:
            text = f"decks {deck.name} and {other.name}: cards that one lacks are extra in the other"
            c.record_finding("migrated", text, deck.name)
            c.record_finding("migrated", text, other.name)


def record_hand_count(c: Context, deck: Deck, cards: int) -> None:
    """Record a hand count of the whole deck: complete or wrong."""
    c.state.book.record_count(deck.name, book.RACK if deck.place == RACK else book.TRAY, cards)
    if cards == c.edition.cards.count:
        deck.verified = True
        mark_whole_by_hand_count(deck, [])
        c.state.uncounted, c.state.round.counted = 0, True
    else:
        mark_wrong(c, deck, cards - c.edition.cards.count, "the table")
        open_hold(c, "count_wrong", deck=deck.name)


# --- whereabouts ------------------------------------------------------------------------------------------------------


def take_out_of_device(c: Context, deck: Deck) -> None:
    """Record that people hold the cards of a deck again."""
    for slot in c.state.slots.values():
        if slot.deck == deck.name:
            slot.deck, slot.ran = None, False
    for issued in c.state.commands.values():
        if issued.deck == deck.name:
            issued.deck = None  # the command no longer concerns a known deck
    deck.place = TRAY
    c.state.book.move_all(deck.name, book.TRAY)


def collect(c: Context, deck: Deck) -> None:
    """Record that the cards of the round, or of the whole shoe, are in the rack."""
    take_out_of_device(c, deck)
    c.fire_deck(deck, "collect")
    deck.place = RACK
    deck.ordered = False
    c.state.last_deck = deck.name
    c.state.book.move_all(deck.name, book.RACK)


def gather(c: Context, deck: Deck) -> None:
    """Record that all cards of a deck are together and must be shuffled; a held deck stays held."""
    if deck.state == mc.IN_PLAY:
        collect(c, deck)
    elif deck.state == mc.RACK:
        c.state.book.move_all(deck.name, book.RACK)
    else:
        take_out_of_device(c, deck)
        if mc.can_fire(mc.DECK, deck, "take_out"):
            c.fire_deck(deck, "take_out")


def remove(c: Context, deck: Deck) -> None:
    """A deck leaves the table for good."""
    take_out_of_device(c, deck)
    c.fire_deck(deck, "remove")
    c.state.decks[deck.name] = Deck(deck.name, deck.state, GONE)
    c.state.book.move_all(deck.name, book.QUARANTINE)
    for hours in sorted(set(c.edition.change_hours.values())):
        c.set_timer(age_timer(deck.name, hours), None)
