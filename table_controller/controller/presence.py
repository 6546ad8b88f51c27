"""Who is at the table: the dealer that is signed on, and who dealt before. No credential is checked here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from firmware_bridge.decoding import UNDECODABLE
from firmware_bridge.errors import NotAllowed
from table_controller.journal import records as rec
from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.journal.port import Journal

# So many records back the last dealer is looked for; a round is about a hundred, and each has its dealer's word.
LOOK_BACK: Final = 5000
# Whose word shows who deals.
_DEALERS_WORD: Final = (ev.OpenRound, ev.DealerChanged)


def last_dealer(store: Journal) -> str | None:
    """Return the credential of the dealer who dealt or signed on last, if that was not too long ago."""
    last = store.last()
    if last is None:
        return None
    found = None
    for record in store.read(max(1, last.seq - LOOK_BACK)):
        body = rec.current_body(record.kind, record.body)
        if record.kind in (rec.STEP, rec.NOTE) and b'"dealer"' in body:
            found = _dealer_in(record.kind, body) or found
    return found


def _dealer_in(kind: str, body: bytes) -> str | None:
    try:
        if kind == rec.NOTE:
            note = rec.decode_note(body)
            return note.who.credential if note.kind == "signed_on" and note.who and note.who.role == "dealer" else None
        event = rec.decode_step(body).event
    except UNDECODABLE:
        return None
    spoke = isinstance(event, _DEALERS_WORD) and event.who.role == "dealer"
    return event.who.credential if spoke else None  # type: ignore[attr-defined]


class Presence:
    """`dealer` is signed on now, or None; `last` dealt last, also before a restart."""

    def __init__(self, last: str | None, submit: Callable[[ev.Event], None], note: Callable[[rec.Note], None]) -> None:
        self.dealer: ev.Person | None = None
        self.proof = ""  # of the PIN that the dealer signed on with
        self.last = last
        self._submit = submit
        self._note = note

    def signed_on(self, who: ev.Person, proof: str = "") -> None:
        """Somebody proved who they are by the PIN of `proof`. Another dealer than the last one takes the table over."""
        if who.role != "dealer":
            self._note(rec.Note("signed_on", f"{who.role} {who.credential} signed on", who=who))
            return
        self.proof = proof
        if self.dealer == who:
            return
        self._note(rec.Note("signed_on", f"dealer {who.credential} signed on", who=who))
        self.dealer = who
        if self.last not in (None, who.credential):
            self._submit(ev.DealerChanged(who))
        self.last = who.credential

    def signed_off(self, who: ev.Person, proof: str = "") -> None:
        """Somebody leaves. A dealer who signed on anew, by another PIN, stays: only the sign-on before it is over."""
        if self.dealer == who and proof != self.proof:
            return
        if who.role != "dealer" or self.dealer == who:
            self._note(rec.Note("signed_off", f"{who.role} {who.credential} signed off", who=who))
        if self.dealer == who:
            self.dealer = None

    def check(self, event: ev.Event) -> None:
        """Raise NotAllowed for what only the table's own dealer may say. Whoever closes bets is never sent away."""
        if isinstance(event, ev.OpenRound) and event.who.role == "dealer":  # the core tells others whose call it is
            if self.dealer is None:
                raise NotAllowed("no dealer is signed on at this table")
            if self.dealer != event.who:
                raise NotAllowed(f"dealer {self.dealer.credential} is signed on at this table")
