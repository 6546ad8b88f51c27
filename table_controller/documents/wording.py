"""Words that documents share: the table's place line, amounts, clauses, machines, and notes on missing facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from table_controller import rulebook
from table_controller.documents.document import DocumentSection, Fact
from table_controller.documents.moments import Moments
from table_controller.ledger.money import DOLLAR, format_dollars
from table_controller.panel import labels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from table_controller.documents.search import DocumentFacts

CENT: Final = DOLLAR // 100
NOT_RECORDED: Final = "not recorded in this journal"


def place_line(facts: DocumentFacts) -> str:
    """Return the site, the table and its game."""
    site, terms = facts.site, facts.terms
    game = f"{terms['title']} ({terms['chapter']})" if terms else "game not recorded"
    return " · ".join(part for part in (site.site, site.table or "Table not named in this journal", game) if part)


def moments_of(facts: DocumentFacts) -> Moments:
    """Return the clock of the table."""
    return Moments(facts.site.zone)


def cents(amount: int) -> str:
    """Return micro-dollars as dollars and cents. Fractions of a cent, which are never paid, stay visible."""
    return format_dollars(amount)


def paid_in_whole_cents(amount: int) -> str:
    """Return the sentence about fractions of a cent of a payment."""
    if amount % CENT:
        return "This amount has a fraction of a cent, which cannot be paid: report it."
    return "Paid in whole cents; fractions of a cent stay in the meter."


def clause_section(facts: DocumentFacts, ids: Iterable[str]) -> DocumentSection:
    """Return the clauses with their duties in our words."""
    game = facts.terms.get("game", "")
    duties = {one.id: one.duty for one in rulebook.clauses(game)} if game in rulebook.GAMES else {}
    readings = {id_: one.title for id_, one in rulebook.readings().items()}
    shown = tuple(
        Fact(id_, duties.get(id_) or readings.get(id_) or "no text in this software") for id_ in dict.fromkeys(ids)
    )
    return DocumentSection("Clauses, in our words", shown)


def machine(slot: str | None) -> str:
    """Return a machine as labeled."""
    return labels.machine_name(slot) if slot else NOT_RECORDED


def machine_facts(facts: DocumentFacts, slot: str) -> tuple[Fact, ...]:
    """Return maker, model and serial number of the machine in a slot."""
    note = facts.machines.get(slot)
    known: dict[str, Any] = (note.body.get("machine") or {}) if note is not None else {}
    return (
        Fact("Machine", machine(slot)),
        Fact("Maker", facts.site.makers.get(slot) or NOT_RECORDED),
        Fact("Model", known.get("model") or NOT_RECORDED),
        Fact("Serial number", known.get("serial") or NOT_RECORDED),
    )


_RANK_WORDS: Final = {
    "A": "ace", "K": "king", "Q": "queen", "J": "jack", "T": "10", **{str(rank): str(rank) for rank in range(2, 10)},
}  # fmt: skip
_SUIT_WORDS: Final = {"s": "spades", "h": "hearts", "d": "diamonds", "c": "clubs"}


def card_words(card: str) -> str:
    """Return a card of the notation, such as Qh, in words: queen of hearts."""
    known = len(card) == 2 and card[0] in _RANK_WORDS and card[1] in _SUIT_WORDS
    return f"{_RANK_WORDS[card[0]]} of {_SUIT_WORDS[card[1]]}" if known else "joker" if card == "Jk" else card


def hand_label(facts: DocumentFacts, hand: str) -> str:
    """Return a hand as the paytable of the progressive prints it."""
    awards = (facts.terms.get("meter") or {}).get("awards", ())
    printed = {award["hand"]: award["label"] for award in awards}
    return printed.get(hand) or hand.replace("_", " ").capitalize()
