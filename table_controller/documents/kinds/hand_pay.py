"""The hand-pay slip: what an attendant paid, for which hand, who confirmed it, and whether it must be reported."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.errors import BadDocumentKey
from table_controller.documents.document import Document, DocumentSection, DocumentTable, Fact
from table_controller.documents.entries import answered, person
from table_controller.documents.search import DocumentKind
from table_controller.documents.wording import (
    CENT,
    cents,
    clause_section,
    hand_label,
    moments_of,
    paid_in_whole_cents,
    place_line,
)
from table_controller.ledger.money import BadEntry, slip_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.documents.entries import Entry
    from table_controller.documents.moments import Moments
    from table_controller.documents.search import DocumentFacts, Trace

# What a validation shows after the cards.
_LINE_AND_AMOUNT: Final = 2
# The edition of the accounting rules since which a slip number is used once.
_UNIQUE_SINCE: Final = 3
_PAID: Final = "hand_pay_paid"
_STEPS: Final = {
    "progressive": "Hand entered", "claim_disputed": "Dispute ruled", "hit_hand": "Hand verified",
    "hit_light": "Light checked", "hit_dark": "Bet looked up", "hit_validate": "Jackpot confirmed",
    "hand_pay": "Paid, slip number entered",
}  # fmt: skip


def _payment(entry: Entry) -> dict[str, Any] | None:
    """Return the booking of a hand pay in a step."""
    bookings = (each["entry"] for each in entry.decisions("Booked") if each["entry"]["kind"] == _PAID)
    return next(bookings, None)


def _slip(booking: dict[str, Any]) -> int | None:
    try:
        return slip_number(booking.get("document", ""))
    except BadEntry:
        return None


def _visit(trace: Trace, entry: Entry) -> bool:
    """Find the payment, then the bet that it was paid for."""
    if trace.anchor is None:
        booking = _payment(entry)
        if booking is None:
            return False
        slip, selection = _slip(booking), trace.selection
        trace.seen.append(str(slip))
        chosen = _number(selection.key) if selection.key else slip
        if slip == chosen and selection.record in (None, entry.seq):
            trace.anchor, trace.about = entry, booking
        return False
    booking = trace.about
    return any(
        (bet["round"], bet["seat"]) == (booking["round"], booking["seat"]) for bet in entry.decisions("BetAccepted")
    )


def _titles(entry: Entry) -> list[str]:
    booking = _payment(entry)
    return [] if booking is None else [f"Slip {_slip(booking)}"]


def _number(key: str) -> int:
    if not key.isdecimal() or not 0 < len(key) <= 9 or int(key) == 0:
        raise BadDocumentKey(f"a slip has a number from 1 to 999999999, not {key!r}")
    return int(key)


def _build(facts: DocumentFacts) -> Document:
    booking = _payment(facts.anchor)
    assert booking is not None
    moments = moments_of(facts)
    claim = _claim(facts, booking)
    amount = claim["fixed"] + claim["share"] if claim else sum(each["amount"] for each in booking["transfers"])
    return Document(
        title="Hand-pay slip",
        subject=f"Slip {_slip(booking)}",
        place=place_line(facts),
        sections=(
            DocumentSection("Payment", tuple(_payment_facts(facts, booking, claim, amount, moments))),
            DocumentSection("Reporting", sentences=(_reporting(facts, amount),)),
            DocumentSection("Who did what", table=_people(facts, booking, moments)),
            clause_section(facts, booking.get("clauses", ())),
        ),
        signatures=("Player", "Paid by", "Floorperson"),
        notes=tuple(_notes(facts, claim, moments)),
        head=facts.head,
    )


def _claim(facts: DocumentFacts, booking: dict[str, Any]) -> dict[str, Any]:
    """Return the claim as it was last booked; empty if the journal does not have it any more."""
    claims = [
        each
        for entry in facts.entries
        for each in entry.decisions("HitClaimed", "HitRebooked")
        if each["hit"] == booking.get("hit")
    ]
    return claims[-1] if claims else {}


def _payment_facts(
    facts: DocumentFacts, booking: dict[str, Any], claim: dict[str, Any], amount: int, moments: Moments
) -> Iterator[Fact]:
    yield Fact("Amount", cents(amount))
    if claim:
        entry = claim["entry"]
        yield Fact("Hand", hand_label(facts, claim["hand"]))
        cards = _cards(facts, booking)
        if cards:
            yield Fact("Cards", cards)
        yield Fact("Fixed award", cents(claim["fixed"]))
        yield Fact("Share of the meter", cents(claim["share"]))
        yield Fact("Meter before the claim", cents(entry["meter_before"]))
        yield Fact("Meter after the claim", cents(entry["meter_after"]))
    yield Fact("Round and seat", f"Round {booking['round']}, seat {booking['seat']}")
    yield Fact("Documented", moments.full(facts.anchor.wall_ns))
    yield Fact("Paid from", "the cashier, by an attendant; not from the table")
    yield Fact("Cents", paid_in_whole_cents(amount))


def _cards(facts: DocumentFacts, booking: dict[str, Any]) -> str:
    """Return the cards that the floorperson validated, with any ruling; empty where they were not known."""
    for answer in answered(facts.entries):
        asked = answer.prompt
        if (asked["kind"], asked["seat"], answer.choice) == ("hit_validate", booking["seat"], "hand_pay"):
            parts = asked.get("shows", "").split("; ")
            return "; ".join(parts[:-2] if len(parts) > _LINE_AND_AMOUNT else parts)
    return ""


def _reporting(facts: DocumentFacts, amount: int) -> str:
    threshold = facts.site.reporting_cents
    if threshold is None:
        return "No reporting threshold was set for this table: the casino decides whether this payment is reported."
    shown = cents(threshold * CENT)
    if amount >= threshold * CENT:
        return f"This payment reaches the reporting threshold of {shown}: complete the tax form before paying."
    return f"This payment is below the reporting threshold of {shown}."


def _people(facts: DocumentFacts, booking: dict[str, Any], moments: Moments) -> DocumentTable:
    rows = [
        (entry, "Bet accepted by its sensor: " + cents(bet["amount"]), "Bet sensor")
        for entry in facts.entries
        for bet in entry.decisions("BetAccepted")
        if (bet["round"], bet["seat"]) == (booking["round"], booking["seat"])
    ]
    for answer in answered(facts.entries):
        step = _STEPS.get(answer.prompt["kind"])
        if step is not None and answer.prompt["seat"] == booking["seat"]:
            rows.append((answer.entry, f"{step}: {_choice_text(facts, answer.choice)}", person(answer.who)))
    rows.sort(key=lambda row: row[0].seq)
    return DocumentTable(
        (*moments.columns, "Record", "What", "Who"),
        tuple((*moments.cells(entry.wall_ns), str(entry.seq), what, who) for entry, what, who in rows),
    )


_CHOICES: Final = {
    "winning": "winner", "not_winning": "not a winner", "lit": "on", "dark": "off", "bet_recorded": "bet is recorded",
    "disputed": "disputed", "stands": "the cards decide", "enter_again": "the cards are entered again",
    "ranked_otherwise": "the rule ranks it otherwise", "cards_mixed": "the cards are mixed",
    "refuse": "refused", "hand_pay": "hand pay ordered", "documented": "documented",
}  # fmt: skip


def _choice_text(facts: DocumentFacts, choice: str) -> str:
    return _CHOICES.get(choice) or hand_label(facts, choice)


def _notes(facts: DocumentFacts, claim: dict[str, Any], moments: Moments) -> Iterator[str]:
    if not claim:
        yield "The records of the claim are not in this journal any more; only the payment is."
    if facts.accounting < _UNIQUE_SINCE:
        yield "The software of that time did not refuse a number that was used before: compare the record, too."
    if moments.note:
        yield moments.note


HAND_PAY: Final = DocumentKind(
    name="hand-pay",
    title="Hand-pay slip",
    about="the slip of a hand pay",
    key="slip",
    key_help="the slip's number (default: the newest)",
    roles=("floorperson", "auditor"),
    traced=re.compile(rb'"hand_pay_paid"|"type":"BetAccepted"'),
    used=re.compile(rb'"type":"(?:Answer|HitClaimed|HitRebooked|BetAccepted|Prompt)"'),
    visit=_visit,
    is_over=lambda entry, anchor: entry.seq >= anchor.seq,
    build=_build,
    titles=_titles,
)
