"""Places at a table that are no machine's, and what hands do with cards there. Machines' own places are theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulators.world.cards import DECK_53

if TYPE_CHECKING:
    from random import Random

    from simulators.world.cards import World

TRAY: Final = "tray"  # where hands keep the deck when it is in no machine
RAIL: Final = "under_the_rail"
RACK: Final = "discard_rack"


def lose_card(world: World, rng: Random, place: str) -> str:
    """Let one card of a pile fall under the rail."""
    world.move(rng.choice(world.at(place)), RAIL)
    return "a card fell under the rail"


def add_foreign(world: World, rng: Random, place: str) -> str:
    """Let a card of another deck join a pile."""
    world.make(rng.choice(DECK_53), "red", place)
    return "a card of another deck joined this one"


def swap_card(world: World, rng: Random, place: str) -> str:
    """Replace one card of a pile by a copy of another: the count stays right."""
    gone, doubled = rng.sample(world.at(place), 2)
    world.move(gone, RAIL)
    world.make(doubled.face, gone.back, place)
    return "one card was replaced by a copy of another"
