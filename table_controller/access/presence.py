"""The signed-on dealer of the table, and the last one. Credentials are checked elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import NotAllowed
from table_controller.journal import records as rec
from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.journal.interfaces import Journal

# How many records back to look for the last dealer; a round has about a hundred, and each names its dealer.
LOOK_BACK_RECORDS: Final = 5000
# Events that name the dealer.
_DEALER_EVENTS: Final = (ev.OpenRound, ev.DealerChanged)


def last_dealer(store: Journal) -> str | None:
    """Return the credential of the dealer who dealt or signed on last, if recent records have one."""
    last = store.last()
    if last is None:
        return None
    dealer = None
    for record in store.read(max(1, last.seq - LOOK_BACK_RECORDS)):
        body = rec.current_body(record.kind, record.body)
        if record.kind in (rec.STEP, rec.NOTE) and b'"dealer"' in body:
            dealer = _dealer_in(record.kind, body) or dealer
    return dealer


def _dealer_in(kind: str, body: bytes) -> str | None:
    try:
        if kind == rec.NOTE:
            note = rec.decode_note(body)
            return note.who.credential if note.kind == "signed_on" and note.who and note.who.role == "dealer" else None
        event = rec.decode_step(body).event
    except UNDECODABLE:
        return None
    if isinstance(event, _DEALER_EVENTS) and event.who.role == "dealer":
        return event.who.credential
    return None


class Presence:
    """`dealer` is signed on now, or None; `last` is the last dealer, also from before a restart."""

    def __init__(self, last: str | None, submit: Callable[[ev.Event], None], note: Callable[[rec.Note], None]) -> None:
        self.dealer: ev.Person | None = None
        self.proof = ""  # of the PIN that the dealer signed on with
        self.last_dealer = last
        self._submit = submit
        self._note = note

    def sign_on(self, who: ev.Person, proof: str = "") -> None:
        """Sign a person on, with the proof of their PIN. A new dealer takes over the table."""
        if who.role != "dealer":
            self._note(rec.Note("signed_on", f"{who.role} {who.credential} signed on", who=who))
            return
        self.proof = proof
        if self.dealer == who:
            return
        self._note(rec.Note("signed_on", f"dealer {who.credential} signed on", who=who))
        self.dealer = who
        if self.last_dealer not in (None, who.credential):
            self._submit(ev.DealerChanged(who))
        self.last_dealer = who.credential

    def sign_off(self, who: ev.Person, proof: str = "") -> None:
        """Sign a person off. If the dealer has signed on again with another PIN, only the older sign-on ends."""
        if self.dealer == who and proof != self.proof:
            return
        if who.role != "dealer" or self.dealer == who:
            self._note(rec.Note("signed_off", f"{who.role} {who.credential} signed off", who=who))
        if self.dealer == who:
            self.dealer = None

    def check_dealer(self, event: ev.Event) -> None:
        """Raise NotAllowed for an event that only the signed-on dealer may submit. Closing bets is never refused."""
        if isinstance(event, ev.OpenRound) and event.who.role == "dealer":  # the core refuses other roles
            if self.dealer is None:
                raise NotAllowed("no dealer is signed on at this table")
            if self.dealer != event.who:
                raise NotAllowed(f"another dealer, {self.dealer.credential}, is signed on at this table")
