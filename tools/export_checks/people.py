"""Checks changes of the meter by two people: roles, document, ground, and the amount."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.export_checks.basics import CENT, SECOND, THIRD, Json, Transfers, need, person

if TYPE_CHECKING:
    from tools.export_checks.book import MeterBook

# The event of each change, and the roles of the two people.
DEEDS = {
    "correction": ("MeterCorrected", "floorperson", "auditor"),
    "reset": ("MeterReset", "floorperson", "auditor"),
    "transfer": ("OverflowTransferred", "floorperson", "auditor"),
    "parameters": ("MeterParameters", "technician", "auditor"),
    "close": ("MeterClosed", "floorperson", "auditor"),
    "open": ("MeterOpened", "floorperson", "auditor"),
}
# Paytables whose rate is set by the Rules Submission, and the largest amount of a sign.
OPEN_RATE = "687a-"
MOST = (10**10 - 1) * CENT
# Since the second version only these grounds permit a change, each for one of its reasons.
GROUNDS = {
    "malfunction": ("sensor_fault", "device_fault", "software_fault", "dealing_error", "journal_lost"),
    "transfer": ("to_other_meter", "from_other_meter"),
}


def check_people(deed: str, event: Json, state: str, *, second_role: str | None = None) -> None:
    """Check that two different people with the right roles sign, with a document, between two rounds."""
    kind, first, second = DEEDS[deed]
    need(event["type"] == kind, f"a {deed} that nobody entered")
    need(state == "idle", f"a {deed} while a round is under way")
    roles = (event["who"]["role"], event["second"]["role"])
    expected = (first, second_role or second)
    need(roles == expected, f"a {deed} by {' and '.join(roles)}; it is for {' and '.join(expected)}")
    need(person(event["who"]) != person(event["second"]), "one person alone changed the meter")
    need(event["document"].strip(), f"a {deed} without its document")


def by_hand(book: MeterBook, terms: Json, entry: Json, event: Json, state: str) -> Transfers:
    """Check a correction, a reset or a transfer of overflow; return what it moves."""
    kind = entry["kind"]
    check_people(kind, event, state)
    need(entry.get("document") == event["document"], f"a {kind} without its document")
    document = " ".join(event["document"].split()).casefold()
    need(book.edition < THIRD or document not in book.documents,
         f"document {event['document']} has moved money before")  # fmt: skip
    book.documents.add(document)
    if kind == "transfer":
        need(
            event["amount"] > 0 and book.held["meter"] + event["amount"] <= terms["limit"], "a transfer above the limit"
        )
        return {("overflow", "meter"): event["amount"]}
    by = event["amount"] if kind == "correction" else terms["seed"] - book.held["meter"]
    if book.edition >= SECOND:
        _check_ground(event, by)
        above = kind == "correction" and by > 0 and book.held["meter"] + by > terms["limit"]
        need(not above, "a correction above the limit of the meter")
    if by < 0:
        return {("meter", "corrections"): -by}
    return {("corrections" if kind == "correction" else "seed", "meter"): by}


def _check_ground(event: Json, by: int) -> None:
    ground, reason = event.get("ground", ""), event.get("reason", "")
    need(
        ground in GROUNDS and reason in GROUNDS[ground],
        f"{ground or 'no ground'}: {reason or 'no reason'} is no ground",
    )
    if ground == "transfer":
        need(event.get("counterpart", "").strip(), "a transfer names the other meter's document")
        need((by < 0) is (reason == "to_other_meter"), f"{reason} moves the meter the other way")


def parameters(book: MeterBook, terms: Json, d: Json, event: Json, state: str) -> Json:
    """Return the terms after two people set rate or limit."""
    need(event["type"] == "MeterParameters" and state == "idle", "parameters of the meter change out of turn")
    need(len(set(d["credentials"])) == 2 and d["document"], "parameters change without two people and a document")
    check_people("parameters", event, state)
    named = [event["who"]["credential"], event["second"]["credential"]]
    need((list(d["credentials"]), d["document"]) == (named, event["document"]), "the parameters name other people")
    rate = terms["rate_bp"] if event.get("rate_bp") is None else event["rate_bp"]
    limit = terms["limit"] if event.get("limit_cents") is None else event["limit_cents"] * CENT
    need((d["rate_bp"], d["limit"]) == (rate, limit), "the parameters are not those that were entered")
    if book.edition >= SECOND:
        submission = event.get("submission", "")
        need(event.get("rate_bp") is None or submission.strip(), "a rate changes without its Rules Submission")
        need(d.get("submission", "") == submission, "the parameters name another Rules Submission")
        need(rate == terms["rate_bp"] or terms["table"].startswith(OPEN_RATE), "a rate changes that the paytable fixes")
        need(limit >= max(terms["seed"], book.held["meter"]), "a limit below what the meter holds, or its seed")
        need(limit <= MOST, "a limit of more digits than a sign has")
    return terms | {"rate_bp": rate, "limit": limit}
