"""The deck receipt: which deck came to the table, who received and inspected it, and its first count."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from table_controller.documents.document import Document, DocumentSection, DocumentTable, Fact
from table_controller.documents.entries import answered, person
from table_controller.documents.search import DocumentKind
from table_controller.documents.wording import NOT_RECORDED, clause_section, machine, moments_of, place_line
from table_controller.panel import labels
from table_controller.table.decks import color_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.documents.entries import Answered, Entry
    from table_controller.documents.moments import Moments
    from table_controller.documents.search import DocumentFacts, Trace

_COUNTS: Final = ("ShuffleEnded", "ShoeLoaded")
_COUNTED_BY_HAND: Final = ("deck_counted", "count_deck")


def _visit(trace: Trace, entry: Entry) -> bool:
    """Find the deck's arrival; the document begins there."""
    event, selection = entry.event, trace.selection
    if event.get("type") != "DeckReceived" or entry.is_refused:
        return False
    trace.seen.append(event["deck"])
    if selection.key and color_of(event["deck"]) != color_of(selection.key):
        return False
    if selection.record not in (None, entry.seq):
        return False
    trace.anchor = entry
    return True


def _titles(entry: Entry) -> list[str]:
    received = entry.event.get("type") == "DeckReceived" and not entry.is_refused
    return [f"Deck {entry.event['deck']}"] if received else []


def _count(entry: Entry, deck: str) -> tuple[str, int | None] | None:
    """Return where a machine counted this deck, and its count."""
    event = entry.event
    if event.get("type") not in _COUNTS:
        return None
    about = [each.get("deck") for each in entry.decisions("Finding", "HoldOpened")]
    return (event["slot"], event["count"]) if entry.states(f"deck {deck}") or deck in about else None


def _is_over(entry: Entry, anchor: Entry) -> bool:
    """The receipt ends with the first count of the deck, or when the deck leaves the table."""
    deck = anchor.event["deck"]
    if entry.seq != anchor.seq and entry.event.get("type") == "DeckReceived" and entry.event["deck"] == deck:
        return True
    return _count(entry, deck) is not None or "removed" in entry.states(f"deck {deck}")


def _build(facts: DocumentFacts) -> Document:
    moments, event = moments_of(facts), facts.anchor.event
    deck = event["deck"]
    answers = [each for each in answered(facts.entries) if each.prompt["deck"] == deck]
    clauses = [clause for each in answers for clause in each.prompt["clauses"]]
    return Document(
        title="Deck receipt",
        subject=f"Deck {deck}, received at record {facts.anchor.seq}",
        place=place_line(facts),
        sections=(
            DocumentSection("Deck", tuple(_deck_facts(facts, moments))),
            DocumentSection("Inspection", table=_inspection(answers, moments)),
            DocumentSection("First count", sentences=tuple(_counts(facts, answers, moments))),
            clause_section(facts, clauses),
        ),
        signatures=("Dealer", "Floorperson"),
        notes=(moments.note,) if moments.note else (),
        head=facts.head,
    )


def _deck_facts(facts: DocumentFacts, moments: Moments) -> Iterator[Fact]:
    event, cards = facts.anchor.event, facts.terms.get("cards")
    yield Fact("Back color", event["deck"])
    yield Fact("Maker", event.get("maker") or NOT_RECORDED)
    yield Fact("Cards", f"{cards} cards" if cards else NOT_RECORDED)
    yield Fact("Delivered", "preinspected and preshuffled" if event.get("preshuffled") else "in its sealed package")
    yield Fact("Jokers in the package", "two; one was torn in half" if event.get("two_jokers") else "as the game uses")
    yield Fact("Received by", person(event["who"]))
    yield Fact("Received", moments.full(facts.anchor.wall_ns))


def _inspection(answers: list[Answered], moments: Moments) -> DocumentTable:
    return DocumentTable(
        (*moments.columns, "Record", "What", "Answer", "Who"),
        tuple(
            (
                *moments.cells(each.entry.wall_ns), str(each.entry.seq), _step(each),
                labels.answer(each.choice), person(each.who),
            )
            for each in answers
            if each.prompt["kind"].startswith("opening/")
        ),
    )  # fmt: skip


def _step(answer: Answered) -> str:
    """Return the question without the name of the deck, which the document has at its top."""
    text = labels.question(answer.prompt["kind"], deck=answer.prompt["deck"])
    return labels.sentence(text.partition(": ")[2] or text)


def _counts(facts: DocumentFacts, answers: list[Answered], moments: Moments) -> Iterator[str]:
    deck, cards = facts.anchor.event["deck"], facts.terms.get("cards")
    for answer in answers:
        if answer.prompt["kind"] in _COUNTED_BY_HAND and answer.number is not None:
            yield f"{person(answer.who)} counted {answer.number} of {cards} cards by hand, record {answer.entry.seq}."
    for entry in facts.entries:
        counted = _count(entry, deck)
        if counted is not None:
            slot, count = counted
            result = "did not count" if count is None else f"counted {count} of {cards} cards"
            yield f"{machine(slot)} {result}: {moments.full(entry.wall_ns)}, record {entry.seq}."
            return
    yield "No machine has counted this deck up to this record."


DECK_RECEIPT: Final = DocumentKind(
    name="deck-receipt",
    title="Deck receipt",
    about="the receipt of a deck: who received and inspected it, and its first count",
    key="deck",
    key_help="the deck's back color (default: the newest deck)",
    roles=("floorperson", "auditor"),
    traced=re.compile(rb'"type":"DeckReceived"'),
    used=re.compile(
        rb'"type":"(?:DeckReceived|Answer|Prompt|ShuffleEnded|ShoeLoaded)"|"what":"deck [^"]*","state":"removed"'
    ),
    visit=_visit,
    is_over=_is_over,
    build=_build,
    titles=_titles,
)
