"""The terms of a table that readers of its journal need: game, deal, decks, meter, site.

Digests identify the edition and configuration of a record; the terms make the record readable without this software.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from table_controller.ledger.meter import MeterRules

if TYPE_CHECKING:
    from table_controller.table.context import Context


_FIVE: Final = 5  # cards of a hand in which a joker is replaced for the progressive (687a.11(f)(1))


class TableTerms(msgspec.Struct, frozen=True, kw_only=True):
    """Terms from a start on. Each place gets `hand` cards in the first deal, and `second` more after decisions."""

    game: str
    title: str
    chapter: str
    seats: int
    cards: int  # of one deck, or of one batch
    hand: int
    second: int
    all_places: bool  # every seat gets cards, even without a wager
    dealer_hand: bool
    dealing: str
    meter: MeterRules | None = None
    ranking: str = ""  # which cards are wild for the progressive; journals of earlier software have none


class SiteTerms(msgspec.Struct, frozen=True, kw_only=True):
    """What documents print about the site, from a start on. `zone` is a name such as America/New_York.

    `reporting_cents`: hand pays from this amount on are reported. `makers`: the maker of the machine in each slot.
    `development`: nobody approved the software.
    """

    site: str = ""
    table: str = ""
    zone: str = ""
    reporting_cents: int | None = None
    makers: dict[str, str] = {}
    development: bool = False


# A site of which nothing is configured.
NO_SITE: Final = SiteTerms()


def terms_of(context: Context) -> TableTerms:
    """Return the present terms of a table."""
    edition = context.edition
    return TableTerms(
        game=edition.game, title=edition.title, chapter=edition.chapter, seats=context.submission.seats,
        cards=edition.cards.count, hand=edition.hand.first_deal, second=edition.hand.second_deal,
        all_places=context.deals_to_all_seats, dealer_hand=edition.hand.dealer_hand, dealing=context.state.dealing,
        meter=context.meter, ranking=_ranking(context),
    )  # fmt: skip


def _ranking(context: Context) -> str:
    """Return how many cards of a seat a progressive paytable ranks, and which of them are wild."""
    rules = context.edition.progressive
    if context.meter is None or rules is None:
        return ""
    if context.edition.hand.cards == _FIVE:  # the joker is replaced
        return "five_wild_twos" if context.submission.settings.get("progressive_wilds") == "twos" else "five_natural"
    return "seven_wild_joker" if context.terms.table(rules.wager).fully_wild_joker else "seven_limited_joker"
