"""The faults of a dealing shoe, and what hands can do to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from random import Random

    from simulators.engine.faults import FaultRows

FAULTS: Final[FaultRows] = (
    (
        "jam",
        "machine",
        {"segment": "exit", "card": "0"},
        "a card sticks in a segment: card N of the phase, 0 = the next",
    ),
    (
        "double_feed",
        "machine",
        {"segment": "draw", "card": "0", "offset": "30"},
        "two cards are drawn as one, OFFSET mm apart: from the intake (feed) or from the well (draw)",
    ),
    (
        "torn_card",
        "machine",
        {"segment": "exit", "card": "0"},
        "a card tears; its larger part stays in the segment",
    ),
    (
        "card_left_inside",
        "machine",
        {"card": "0"},
        "a card slips behind the well while it is loaded, unseen by any sensor",
    ),
    (
        "bent_card",
        "machine",
        {"segment": "exit", "card": "0", "percent": "15"},
        "a bent card drags, PERCENT slower than another, and sticks in a segment",
    ),
    (
        "foreign_object",
        "machine",
        {"segment": "exit", "card": "0"},
        "something that is no card lies in a segment: it shades the sensor, and card N sticks at it",
    ),
    ("wear", "machine", {"segment": "exit", "percent": "30"}, "transit takes longer by PERCENT"),
    ("slip", "machine", {"segment": "exit", "percent": "10"}, "PERCENT of the cards slip and are gripped again"),
    ("dust", "machine", {"sensor": "exit", "percent": "30"}, "a sensor's clear level sinks by PERCENT"),
    ("seized", "machine", {"motor": "transport"}, "a motor does not turn: it strains, and what it should move sticks"),
    (
        "card_unread",
        "machine",
        {"card": "0"},
        "on a shoe that identifies: the reader cannot read a card, card N of the phase, 0 = the next",
    ),
    (
        "card_misread",
        "machine",
        {"card": "0"},
        "on a shoe that identifies: the reader reports the value of the card before, so one card is identified twice",
    ),
    (
        "card_read_twice",
        "machine",
        {"card": "0"},
        "on a shoe that identifies: the reader reports one card twice, so reads and count disagree",
    ),
    (
        "mend",
        "machine",
        {},
        "new rollers and motors, clean sensors; faults that wait for their card are forgotten",
    ),
    (
        "hasty",
        "firmware",
        {"segment": "exit", "percent": "70"},
        "until its next start the firmware waits in a segment only PERCENT of the time that a card needs",
    ),
    ("door", "machine", {"to": "open"}, "the door is opened or closed"),
    ("load", "hands", {}, "put the deck from the tray into the intake, or into a manual shoe's well"),
    ("take", "hands", {"cards": "0"}, "take CARDS of the cards in the slot, 0 = all"),
    ("draw", "hands", {"cards": "1"}, "draw CARDS cards from the shoe by hand, one after the other"),
    ("lift", "hands", {}, "lift every card out of a manual shoe's well, not past the counter"),
    ("face_up", "hands", {"depth": "5"}, "a card of the deck lies face up, under DEPTH others"),
    ("cover_card", "hands", {"depth": "40"}, "a cover card is put into the deck, under DEPTH cards"),
    ("missing_card", "hands", {}, "one card of the deck falls under the rail"),
    ("foreign_card", "hands", {}, "a card of another deck joins this one"),
    ("clear_path", "hands", {}, "open the door, take every card off the path, close the door"),
    ("gather", "hands", {}, "collect the cards that were dealt and discarded in the tray"),
)
_SEGMENTS: Final = ("feed", "store", "draw", "exit", "drop")


def mishaps(rng: Random, model: str) -> list[str]:
    """Return what can happen to a shoe of this model at a simulated table."""
    # No misread cards: a value that no other card contradicts is for the dealer to dispute, and no checker can know it.
    reads = ["card_unread", "card_read_twice"] * model.endswith("-identifying")
    if model.startswith("shoe-manual"):
        return [
            f"double_feed:offset={rng.choice([10, 45, 70])}", f"jam:segment={rng.choice(['exit', 'drop'])}",
            f"face_up:depth={rng.randint(0, 9)}", *reads,
        ]  # fmt: skip
    card = rng.randint(0, 40)
    return [
        f"jam:segment={rng.choice(_SEGMENTS)},card={card}", f"torn_card:segment=exit,card={card}",
        f"double_feed:segment={rng.choice(['feed', 'draw'])},card={card},offset={rng.choice([10, 30, 60])}",
        f"card_left_inside:card={card}", f"wear:segment={rng.choice(_SEGMENTS)},percent={rng.choice([10, 20])}",
        f"dust:sensor={rng.choice(['feed', 'draw', 'exit'])},percent={rng.choice([10, 30, 60])}",
        "missing_card", "foreign_card", f"face_up:depth={rng.randint(0, 40)}", "door:to=open", "door:to=closed",
        "withhold:message=Dispense", "withhold:message=Load", *reads, *["withhold:message=ReleaseCards"] * bool(reads),
    ]  # fmt: skip
