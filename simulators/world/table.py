"""Places at a table outside its machines, and what hands do with cards there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import BadFault
from simulators.world.cards import COVER, DECK_53

if TYPE_CHECKING:
    from random import Random

    from simulators.world.cards import Card, World

TRAY: Final = "tray"  # where hands keep the deck when it is in no machine
RAIL: Final = "under_the_rail"
RACK: Final = "discard_rack"
IN_PLAY: Final = "in_play"
LAYOUT: Final = "layout"  # dealt cards in front of players and dealer
ASIDE: Final = "set_aside"  # cover cards that came out
NEAR_SHOE: Final = "next_to_the_shoe"  # cards that missed the shoe


def lose_card(world: World, rng: Random, place: str) -> str:
    """Let one card of a pile fall under the rail."""
    world.move(rng.choice(world.at(place)), RAIL)
    return "a card fell under the rail"


def add_foreign(world: World, rng: Random, place: str) -> str:
    """Add a card of another deck to a pile."""
    world.make(rng.choice(DECK_53), "red", place)
    return "a card of another deck joined this one"


def swap_card(world: World, rng: Random, place: str) -> str:
    """Replace one card of a pile by a copy of another: the count stays right."""
    if world.count(place) < 2:
        raise BadFault("swapped_card: there is no other card to copy")
    gone, doubled = rng.sample(world.at(place), 2)
    world.move(gone, RAIL)
    world.make(doubled.face, gone.back, place)
    return "one card was replaced by a copy of another"


def turn_card_face_up(world: World, place: str, below: int) -> str:
    """Turn a card of a pile face up, the one under so many others."""
    pile = world.at(place)
    if below >= len(pile):
        raise BadFault(f"face_up: the pile has {len(pile)} cards, none is under {below} others")
    world.face_up.add(pile[-1 - below].id)
    return f"the card under {below} others lies face up"


def insert_cover(world: World, place: str, below: int) -> str:
    """Put a cover card into a pile, under so many cards."""
    world.insert(world.make(COVER, "yellow", place), below)
    return f"a cover card lies under {below} cards"


def put_down(world: World, cards: list[Card], place: str) -> None:
    """Put cards at a place by hand, face down and in this order; cover cards are set aside."""
    for card in cards:
        world.face_up.discard(card.id)
        world.move(card, ASIDE if card.face == COVER else place)


def collect_to_tray(world: World) -> str:
    """Collect dealt and discarded cards in the tray."""
    cards = [card for place in (LAYOUT, RACK) for card in world.at(place)]
    put_down(world, cards, TRAY)
    return f"{len(cards)} cards gathered in the tray"
