"""Editions with a handful of cards and two seats, so that every state of a table can be visited.

The rules are unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from table_controller.rulebook import check_submission
from table_controller.table.core import Table
from tests.support.core.ideal_table import edition

if TYPE_CHECKING:
    from table_controller.rulebook import Edition
    from table_controller.rulebook.vocabulary import DeviceFact

SEATS: Final = 2
# Cards of a hand (or of its first and second deal) and of the stub. The fewest that still have too few and too many;
# with a progressive a hand has all its cards, because they decide what a bet wins.
HAND: Final = 2
STUB: Final = 2
EVERY: Final = 2  # rounds between counts of the stub, where they are not counted in every round


def tiny_edition(game: str) -> Edition:
    """Return a game's edition with two seats and mostly hands of two cards; all irregularities are as they were."""
    full = edition(game)
    hands = SEATS + 1 if full.hand.dealer_hand else SEATS
    least = HAND if full.progressive is None else full.hand.cards
    first = 1 if full.hand.second_deal else least
    second = 1 if full.hand.second_deal else 0
    count = hands * (first + second) + STUB
    stub = full.stub
    if stub is not None and stub.expected is not None:
        stub = replace(stub, expected=STUB)
    elif stub is not None:
        stub = replace(stub, every_rounds=EVERY)
    return replace(
        full,
        cards=replace(full.cards, decks=1, per_deck=count, count=count),
        seats=replace(full.seats, least=1, most=SEATS),
        hand=replace(full.hand, cards=first + second, first_deal=first, second_deal=second, split=()),
        count=replace(full.count, expected=count),
        stub=stub,
        starts=tuple(start for start in full.starts if start.name != "flat_button"),  # seven places need seven seats
        cut=replace(full.cut, least_from_top=1, least_from_bottom=1 if full.cut.least_from_bottom else None,
                    cover_above_bottom=1 if full.cut.cover_above_bottom else None),
    )  # fmt: skip


def tiny_table(game: str, slots: dict[str, DeviceFact], **choices: Any) -> Table:
    """Return a table of a tiny edition."""
    rules = tiny_edition(game)
    return Table(rules, check_submission(rules, {"adjacent_boxes": 1, **choices}), slots)
