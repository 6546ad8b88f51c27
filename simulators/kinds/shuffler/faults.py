"""The faults of a shuffler, and what hands can do to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from random import Random

    from simulators.engine.faults import FaultRows

FAULTS: Final[FaultRows] = (
    (
        "jam",
        "machine",
        {"segment": "lift", "card": "0"},
        "a card sticks in a segment: card N of the phase, 0 = the next",
    ),
    ("double_feed", "machine", {"card": "0", "offset": "30"}, "two cards go in as one, OFFSET mm apart"),
    (
        "torn_card",
        "machine",
        {"segment": "bridge", "card": "0"},
        "a card tears; its larger part stays in the segment",
    ),
    (
        "card_left_inside",
        "machine",
        {"card": "0"},
        "a stored card slips behind the shelves, unseen by any sensor",
    ),
    (
        "cards_left_inside",
        "machine",
        {"count": "16", "card": "0"},
        "COUNT stored cards in a row slip behind the shelves, from card N on",
    ),
    (
        "card_migrates",
        "machine",
        {"card": "0"},
        "a stored card slips behind the shelves and comes out with the next cards: one set short, the next one over",
    ),
    (
        "bent_card",
        "machine",
        {"segment": "lift", "card": "0", "percent": "15"},
        "a bent card drags, PERCENT slower than another, and sticks in a segment",
    ),
    (
        "foreign_object",
        "machine",
        {"segment": "lift", "card": "0"},
        "something that is no card lies in a segment: it shades the sensor, and card N sticks at it",
    ),
    ("wear", "machine", {"segment": "lift", "percent": "30"}, "transit takes longer by PERCENT"),
    ("slip", "machine", {"segment": "lift", "percent": "10"}, "PERCENT of the cards slip and are gripped again"),
    ("dust", "machine", {"sensor": "lift", "percent": "30"}, "a sensor's clear level sinks by PERCENT"),
    ("seized", "machine", {"motor": "transport"}, "a motor does not turn: it strains, and what it should move sticks"),
    (
        "mend",
        "machine",
        {},
        "new rollers and motors, clean sensors; faults that wait for their card are forgotten",
    ),
    (
        "chute_jam",
        "machine",
        {"cards": "20"},
        "inserting model: the next stack sticks in the chute when CARDS cards of it are in the shoe",
    ),
    (
        "chute_gap",
        "machine",
        {"cards": "1"},
        "inserting model: CARDS cards of the next stack fall next to the shoe, 0 = all of them",
    ),
    ("sort_mode", "machine", {}, "a person switches the machine to SORT mode"),
    (
        "hasty",
        "firmware",
        {"segment": "lift", "percent": "70"},
        "until its next start the firmware waits in a segment only PERCENT of the time that a card needs",
    ),
    ("door", "machine", {"to": "open"}, "the door is opened or closed"),
    ("load", "hands", {"cards": "0"}, "put CARDS cards from the tray into the intake, 0 = all of them"),
    ("take_intake", "hands", {}, "take the cards in the intake back to the tray"),
    ("missing_card", "hands", {}, "one card of the deck falls under the rail"),
    ("foreign_card", "hands", {}, "a card of another deck joins this one"),
    ("swapped_card", "hands", {}, "one card is replaced by a copy of another: the count stays right"),
    ("clear_path", "hands", {}, "open the door, take every card off the path, close the door"),
    ("take_deck", "hands", {}, "take the deck from the open gate to the tray"),
    (
        "swap_batches",
        "hands",
        {},
        "batch model: the batch from gate or tray goes into play, the one that was in play into the intake",
    ),
    (
        "block_chute",
        "hands",
        {"cards": "1"},
        "inserting model: put CARDS cards from intake or tray where the chute ends",
    ),
    ("draw", "hands", {"cards": "1"}, "continuous model: draw cards from the chute into play, one by one"),
    ("draw_pair", "hands", {}, "continuous model: draw two cards from the chute as if they were one"),
    ("discard", "hands", {"cards": "0"}, "continuous model: put cards in play back into the intake (0: all of them)"),
)
_SEGMENTS: Final = ("feed", "bridge", "lift", "shelf", "unload", "stack", "drop")
_SENSED: Final = ("feed", "bridge", "lift", "unload", "stack")


def mishaps(rng: Random, model: str) -> list[str]:
    """Return what can happen to a shuffler of this model at a simulated table."""
    card = rng.randint(0, 300 if model.startswith("shuffler-batch") else 50)
    words = [
        f"jam:segment={rng.choice(_SEGMENTS)},card={card}",
        f"torn_card:segment={rng.choice(_SENSED)},card={card}",
        f"double_feed:card={card},offset={rng.choice([10, 30, 60])}",
        f"card_left_inside:card={card}",
        f"wear:segment={rng.choice(_SEGMENTS)},percent={rng.choice([10, 20])}",
        f"dust:sensor={rng.choice(_SENSED[:3])},percent={rng.choice([10, 30, 60])}",
        "sort_mode", "missing_card", "foreign_card", "swapped_card", "door:to=open", "door:to=closed",
        "withhold:message=StartCycle",
    ]  # fmt: skip
    if "inserting" in model:
        words += [f"chute_jam:cards={card}", f"chute_gap:cards={card % 3}"]
    return [*words, f"cards_left_inside:count=16,card={card}", f"card_migrates:card={card}"]
