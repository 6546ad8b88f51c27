"""What a table plays by, in the few numbers that whoever reads its journal must know: game, deal, decks, meter. Pure.

Digests say which edition and configuration wrote a record; these say what that means without this software.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from table_controller.ledger.meter import MeterRules

if TYPE_CHECKING:
    from table_controller.table.context import Context


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """As they hold from a start on. `hand` cards for each place in the first deal, `second` more after decisions."""

    game: str
    title: str
    chapter: str
    seats: int
    cards: int  # of one deck, or of one batch
    hand: int
    second: int
    all_places: bool  # every seat gets cards, also one without a wager
    dealer_hand: bool
    dealing: str
    meter: MeterRules | None = None


def terms_of(context: Context) -> Terms:
    """Return the terms of a table as it is now."""
    edition = context.edition
    return Terms(
        game=edition.game, title=edition.title, chapter=edition.chapter, seats=context.submission.seats,
        cards=edition.cards.count, hand=edition.hand.first_deal, second=edition.hand.second_deal,
        all_places=context.everybody, dealer_hand=edition.hand.dealer_hand, dealing=context.state.dealing,
        meter=context.meter,
    )  # fmt: skip
