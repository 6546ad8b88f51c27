"""The deck-check receipt: which machine checked a deck, when, in whose charge, and the result."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.errors import code_of
from table_controller.catalogue import catalogue
from table_controller.documents.document import Document, DocumentSection, Fact
from table_controller.documents.entries import person
from table_controller.documents.search import DocumentKind
from table_controller.documents.wording import NOT_RECORDED, card_words, machine, machine_facts, moments_of, place_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.documents.entries import Entry
    from table_controller.documents.search import DocumentFacts, Trace

_CHECKS: Final = ("ShuffleEnded", "ShuffleFailed")
_DECK: Final = "deck "


def _deck(entry: Entry) -> str:
    """Return the deck that a step moves or finds something about; empty if there is none."""
    named = [each["deck"] for each in entry.decisions("Finding", "HoldOpened") if each.get("deck")]
    moved = [each["what"] for each in entry.decisions("StateChanged") if each["what"].startswith(_DECK)]
    return next(iter((*named, *(what.removeprefix(_DECK) for what in moved))), "")


def _visit(trace: Trace, entry: Entry) -> bool:
    """Find the check, then the deck's way into the machine, then the dealer in charge."""
    event, selection = entry.event, trace.selection
    if trace.anchor is None:
        if event.get("type") not in _CHECKS:
            return False
        trace.seen.append(str(entry.seq))
        if selection.record in (None, entry.seq) and selection.key in ("", str(entry.seq)):
            trace.anchor = entry
        return False
    trace.about["loaded"] = trace.about.get("loaded") or any(
        each["what"].startswith(_DECK) and each["state"] == "in_device" for each in entry.decisions("StateChanged")
    )
    by_dealer = (event.get("who") or {}).get("role") == "dealer" and not entry.is_refused
    trace.about["dealer"] = trace.about.get("dealer") or by_dealer
    return bool(trace.about["loaded"] and trace.about["dealer"])


def _titles(entry: Entry) -> list[str]:
    if entry.event.get("type") not in _CHECKS:
        return []
    deck = _deck(entry)
    return [f"{machine(entry.event['slot'])}, " + (f"deck {deck}" if deck else "a deck")]


def _build(facts: DocumentFacts) -> Document:
    moments, anchor = moments_of(facts), facts.anchor
    before = [entry for entry in facts.entries if entry.seq < anchor.seq]
    dealers = [entry.event["who"] for entry in before if (entry.event.get("who") or {}).get("role") == "dealer"]
    deck = _deck(anchor) or next((_deck(entry) for entry in reversed(before) if _deck(entry)), "")
    slot = anchor.event["slot"]
    return Document(
        title="Deck-check receipt",
        subject=f"Check at record {anchor.seq}",
        place=place_line(facts),
        sections=(
            DocumentSection("Machine", machine_facts(facts, slot)),
            DocumentSection("Check", (
                Fact("Deck", deck or NOT_RECORDED),
                Fact("Operator", person(dealers[-1]) if dealers else NOT_RECORDED),
                Fact("Checked", moments.full(anchor.wall_ns)),
            )),
            DocumentSection("Result", tuple(_result(facts, slot))),
        ),
        signatures=("Floorperson",),
        notes=("The operator is the last dealer who acted at the table before the check.",
               *((moments.note,) if moments.note else ())),
        head=facts.head,
    )  # fmt: skip


def _result(facts: DocumentFacts, slot: str) -> Iterator[Fact]:
    event, cards = facts.anchor.event, facts.terms.get("cards")
    if event["type"] == "ShuffleFailed":
        code = code_of(event["reason"])
        entry = catalogue().get(code)
        yield Fact("Result", "not checked: the cycle did not finish")
        yield Fact("Reason", f"{code}, {entry.title}" if entry else code)
        return
    count = event["count"]
    yield Fact("Count", "this machine does not count" if count is None else f"{count} of {cards or '?'} cards")
    yield Fact("Order", "shuffled" if event["shuffled"] else "sorted, not shuffled")
    if event.get("rejected"):
        yield Fact("Result", "rejected: the machine read a wrong deck")
        yield from _wrong_cards(facts, slot)
    elif count is None:
        yield Fact("Result", "accepted; no count")
    else:
        yield Fact("Result", "accepted" if count == cards else "rejected: wrong number of cards")


def _wrong_cards(facts: DocumentFacts, slot: str) -> Iterator[Fact]:
    """Yield what was missing and extra; only a rejected deck, which is never dealt, has this."""
    for entry in facts.entries:
        cards: dict[str, Any] | None = entry.body.get("deck_check")
        if cards is not None and entry.body.get("slot") == slot and entry.seq > facts.anchor.seq:
            yield Fact("Missing", ", ".join(map(card_words, cards.get("missing", ()))) or "none")
            yield Fact("Extra", ", ".join(map(card_words, cards.get("extra", ()))) or "none")
            return
    yield Fact("Missing and extra", NOT_RECORDED)


def _is_over(entry: Entry, anchor: Entry) -> bool:
    """A rejected deck's findings follow in a note, before the machine's next check."""
    if not anchor.event.get("rejected"):
        return True
    return "deck_check" in entry.body or (entry.seq > anchor.seq and entry.event.get("type") in _CHECKS)


DECK_CHECK: Final = DocumentKind(
    name="deck-check",
    title="Deck-check receipt",
    about="the receipt of a shuffler's check of a deck",
    roles=("floorperson", "auditor", "technician"),
    traced=re.compile(rb'"type":"(?:ShuffleEnded|ShuffleFailed)"|"state":"in_device"|"role":"dealer"'),
    used=re.compile(
        rb'"type":"(?:ShuffleEnded|ShuffleFailed)"|"state":"in_device"|"role":"dealer"|"kind":"deck_check"'
    ),
    visit=_visit,
    is_over=_is_over,
    build=_build,
    titles=_titles,
    names_machine=True,
)
