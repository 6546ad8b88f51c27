"""The roster of credentials in the journal: built from notes, stored in every snapshot.

A box compares this roster with its people file. A difference without a recorded change was made by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

# A sentence names at most this many credentials and counts the others.
MAX_NAMED: Final = 20


class RosterEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One credential in the roster.

    `pin` changes with every PIN. It is a digest of a salted hash without the salt, so it does not reveal the PIN.
    """

    id: str
    person: str
    role: str
    pin: str
    revoked: str = ""


class CredentialRoster(msgspec.Struct):
    """Credentials by lower-case id; None before the first note. `change` is the last recorded change."""

    known: dict[str, RosterEntry] | None = None
    change: str = ""

    def apply(self, listed: Mapping[str, RosterEntry | None] | None, change: str = "") -> None:
        """Apply the credentials of one note; None removes a credential."""
        self.change = change or self.change
        if listed is None:
            return
        known = {**(self.known or {}), **listed}
        self.known = {key: one for key, one in known.items() if one is not None}


def format_entries(entries: Mapping[str, RosterEntry]) -> str:
    """Return credentials with their roles as part of a sentence."""
    named = [f"{one.id} ({one.role}{', revoked' if one.revoked else ''})" for one in entries.values()]
    more = f" and {len(named) - MAX_NAMED} more" if len(named) > MAX_NAMED else ""
    return (", ".join(named[:MAX_NAMED]) + more) or "nobody"


def differences(old: Mapping[str, RosterEntry], new: Mapping[str, RosterEntry]) -> dict[str, RosterEntry | None]:
    """Return every credential that changed; None for a removed one."""
    changed: dict[str, RosterEntry | None] = {key: one for key, one in new.items() if old.get(key) != one}
    return changed | {key: None for key in old if key not in new}


def describe(old: Mapping[str, RosterEntry], changed: Mapping[str, RosterEntry | None]) -> str:
    """Return the differences as a sentence, one part for each credential."""
    parts = [_difference(old.get(key), one) for key, one in changed.items()]
    more = [f"and {len(parts) - MAX_NAMED} more"] if len(parts) > MAX_NAMED else []
    return "; ".join([*parts[:MAX_NAMED], *more])


def _difference(old: RosterEntry | None, new: RosterEntry | None) -> str:
    if old is None:
        assert new is not None
        return f"{new.id} was added as {new.role}{', revoked' if new.revoked else ''}"
    if new is None:
        return f"{old.id} ({old.role}) was removed"
    changes = [
        f"the {what} was {before or 'none'} and is {after or 'none'}"
        for what, before, after in (("role", old.role, new.role), ("person", old.person, new.person))
        if before != after
    ]
    if old.revoked != new.revoked:
        changes.append("it was revoked" if new.revoked else "its revocation was removed")
    if old.pin != new.pin:
        changes.append("it has another PIN")
    return f"{new.id}: {', '.join(changes) or 'the spelling of its id changed'}"
