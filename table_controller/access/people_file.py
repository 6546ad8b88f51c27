"""The people file: credentials with their role and the hash of the PIN. `pin_check` checks PINs.

It has no names: `id` is the number on the badge and in the journal; `person` is the same for all credentials of one
person. An id is never used twice, so that old records still name one person.
"""

from __future__ import annotations

import pwd
import re
import secrets
import stat
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2s, scrypt
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple, get_args

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import BadCredential, BadPeopleFile
from table_controller.access.people_lock import lock_people_file
from table_controller.host.private_file import replace_file
from table_controller.journal.credential_roster import RosterEntry
from table_controller.table import events
from table_controller.table.events import Role

if TYPE_CHECKING:
    from pathlib import Path

FORMAT: Final = 1
ROLES: Final[tuple[str, ...]] = get_args(Role)
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,31}")
# Six digits are a million guesses, which take months with the growing waits; 64 characters are enough for anybody.
SHORTEST_PIN: Final = 6
LONGEST_PIN: Final = 64
SALT_SIZE: Final = 16
HASH_SIZE: Final = 32
# Enough of a proof to distinguish two PINs of a credential (hex digits).
_PROOF_DIGITS: Final = 16
# The most wrong PINs that wait in the file for the journal; further ones are only counted.
MOST_REFUSED_KEPT: Final = 64


class Cost(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The cost of one hash: the parameters of scrypt. The defaults need 16 MB and about 50 ms.

    The limits prevent a damaged file from using all memory of the box.
    """

    n: Annotated[int, Meta(ge=2, le=1 << 20)] = 1 << 14
    r: Annotated[int, Meta(ge=1, le=16)] = 8
    p: Annotated[int, Meta(ge=1, le=4)] = 1


class CredentialHolder(msgspec.Struct, frozen=True, kw_only=True):
    """The holder of a checked credential. `proof` identifies the PIN without revealing it; each PIN has its own."""

    id: str
    person: str
    role: Role
    proof: str = ""

    @property
    def event_person(self) -> events.Person:
        """The holder as a person of an event."""
        return events.Person(self.role, self.id, "" if self.person == self.id else self.person)

    def is_same_person(self, other: CredentialHolder) -> bool:
        """Return whether two credentials belong to one person, who does not count as two people."""
        return self.person.casefold() == other.person.casefold()


class Credential(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry of the file; salt and hash are hex digits, dates have the form 2031-03-17."""

    id: str
    person: str
    role: Role
    added: str
    revoked: str | None = None
    cost: Cost
    salt: str
    hash: str

    def __repr__(self) -> str:
        """Hide salt and hash."""
        return f"Credential(id={self.id!r}, person={self.person!r}, role={self.role!r}, revoked={self.revoked!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Hide salt and hash in rich output too."""
        return [("id", self.id), ("person", self.person), ("role", self.role), ("revoked", self.revoked)]

    @property
    def holder(self) -> CredentialHolder:
        """The holder, with the proof of the current PIN."""
        return CredentialHolder(id=self.id, person=self.person, role=self.role, proof=self.proof)

    @property
    def listed(self) -> RosterEntry:
        """The credential as the journal lists it, without salt and hash."""
        return RosterEntry(self.id, self.person, self.role, self.proof[:_PROOF_DIGITS], self.revoked or "")

    @property
    def proof(self) -> str:
        """A digest that changes with every PIN and does not reveal it."""
        return blake2s(f"{self.salt}{self.hash}".encode(), person=b"proof", digest_size=16).hexdigest()


ChangeKind = Literal["added", "pin_changed", "revoked", "pin_refused"]


class CredentialChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A change that the journal does not have yet: `by` authorized it, system user `user` ran the command.

    It is in the same file as its result, so that neither exists without the other.
    """

    token: str
    at: str  # RFC 3339, UTC
    what: ChangeKind
    listed: RosterEntry | None = None  # the credential after the change; None: a wrong PIN for an unknown id
    by: str = ""
    by_role: str = ""
    user: str = ""
    place: str = ""  # of a wrong PIN at a locked box: where it was typed
    times: int = 1  # number of wrong PINs


class Author(NamedTuple):
    """The author of a change: the person who authorized it, if any, and the system user."""

    who: CredentialHolder | None = None
    user: str = ""


NO_AUTHOR: Final = Author()


class PeopleFile(NamedTuple):
    """The content of the file: credentials by lower-case id, and changes that the journal does not have yet."""

    people: Mapping[str, Credential]
    changes: Sequence[CredentialChange] = ()

    @property
    def listed(self) -> dict[str, RosterEntry]:
        """The credentials as the journal lists them."""
        return {key: credential.listed for key, credential in self.people.items()}


class _PeopleFileData(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    format: int
    people: list[Credential]
    changes: list[CredentialChange] = []


def pin_hash(pin: str, salt: bytes, cost: Cost) -> bytes:
    """Return the hash of a PIN at this cost."""
    room = 128 * cost.r * (cost.n + cost.p + 2)  # the memory that scrypt needs (bytes)
    return scrypt(
        pin.encode("utf-8", "surrogatepass"), salt=salt, n=cost.n, r=cost.r, p=cost.p, maxmem=room, dklen=HASH_SIZE
    )


# --- reading ----------------------------------------------------------------------------------------------------------


def load_credentials(path: Path) -> Mapping[str, Credential]:
    """Return the credentials of the file; raise BadPeopleFile as `load_people_file` does."""
    return load_people_file(path).people


def load_people_file(path: Path) -> PeopleFile:
    """Read the file; raise BadPeopleFile if it is missing, accessible to others, or not a people file."""
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):  # reading a pipe would block every sign-on
            raise BadPeopleFile(f"{path}: not a file")
        data = path.read_bytes()
    except OSError as error:
        raise BadPeopleFile(f"{path}: {error.strerror}") from error
    try:
        file = msgspec.json.decode(data, type=_PeopleFileData)
    except UNDECODABLE as error:
        raise BadPeopleFile(f"{path}: not a people file: {error}") from error
    if file.format != FORMAT:
        raise BadPeopleFile(f"{path}: format {file.format}; this software reads format {FORMAT}")
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise BadPeopleFile(f"{path}: others can read or change this file; run: chmod 600 {path}")
    people: dict[str, Credential] = {}
    for credential in file.people:
        key = credential.id.casefold()
        if key in people:
            raise BadPeopleFile(f"{path}: the credential {credential.id} is in the file twice")
        if not _sound(credential):
            raise BadPeopleFile(f"{path}: the entry of {credential.id!r} is damaged")
        people[key] = credential
    return PeopleFile(people, tuple(file.changes))


def _sound(credential: Credential) -> bool:
    cost = credential.cost
    hexed = re.fullmatch(rf"[0-9a-f]{{{2 * SALT_SIZE}}}", credential.salt) and re.fullmatch(
        rf"[0-9a-f]{{{2 * HASH_SIZE}}}", credential.hash
    )
    return bool(_ID.fullmatch(credential.id) and hexed) and cost.n & (cost.n - 1) == 0


# --- changing ---------------------------------------------------------------------------------------------------------

# Raises an error if a change is not allowed, given the current credentials; called while the file is locked.
ChangeCheck = Callable[[Mapping[str, Credential]], None]


def add_credential(
    path: Path,
    id_: str,
    role: str,
    pin: str,
    *,
    person: str | None = None,
    cost: Cost | None = None,
    author: Author = NO_AUTHOR,
    allowed: ChangeCheck | None = None,
) -> Credential:
    """Add a credential with the date of today; create the file if it does not exist."""
    if not _ID.fullmatch(id_):
        raise BadCredential(f"{id_!r} cannot be a credential: use up to 32 letters, digits, - _ and .")
    if role not in ROLES:
        raise BadCredential(f"{role!r} is not a role; roles: {', '.join(ROLES)}")
    if person is not None and not _ID.fullmatch(person):
        raise BadCredential(f"{person!r} cannot be the number of a person: use up to 32 letters, digits, - _ and .")
    _check_pin(pin, id_, person or id_)
    if allowed is not None and path.exists():
        allowed(load_credentials(path))  # before the slow hash; and again while the file is locked
    salt, cost = secrets.token_bytes(SALT_SIZE), cost or Cost()
    credential = Credential(
        id=id_, person=person or id_, role=msgspec.convert(role, Role), added=_today(), cost=cost, salt=salt.hex(),
        hash=pin_hash(pin, salt, cost).hex(),
    )  # fmt: skip

    def change(people: dict[str, Credential]) -> CredentialChange:
        if allowed is not None:
            allowed(people)
        old = people.get(id_.casefold())
        if old is not None:
            since = f"revoked on {old.revoked}" if old.revoked else f"added on {old.added}"
            raise BadCredential(f"the credential {old.id} was {since}; an id is never used twice")
        people[id_.casefold()] = credential
        return _change("added", credential, author)

    _changed(path, change, make=True)
    return credential


def revoke_credential(
    path: Path, id_: str, *, author: Author = NO_AUTHOR, allowed: ChangeCheck | None = None
) -> Credential:
    """Revoke a credential; it stays in the file, because records of the journal name it."""
    return _replaced(path, id_, "revoked", lambda old: replace(old, revoked=_today()), author, allowed)


def set_pin(
    path: Path,
    id_: str,
    pin: str,
    *,
    cost: Cost | None = None,
    author: Author = NO_AUTHOR,
    allowed: ChangeCheck | None = None,
) -> Credential:
    """Set a new PIN."""
    salt, cost = secrets.token_bytes(SALT_SIZE), cost or Cost()

    def change(old: Credential) -> Credential:
        _check_pin(pin, old.id, old.person)
        return replace(old, cost=cost, salt=salt.hex(), hash=pin_hash(pin, salt, cost).hex())

    return _replaced(path, id_, "pin_changed", change, author, allowed)


def _replaced(
    path: Path,
    id_: str,
    what: ChangeKind,
    change: Callable[[Credential], Credential],
    author: Author,
    allowed: ChangeCheck | None,
) -> Credential:
    done: list[Credential] = []

    def one(people: dict[str, Credential]) -> CredentialChange:
        if allowed is not None:
            allowed(people)
        old = people.get(id_.casefold())
        if old is None:
            raise BadCredential(f"{path}: there is no credential {id_}")
        if old.revoked:
            raise BadCredential(f"{path}: the credential {old.id} was revoked on {old.revoked}")
        people[id_.casefold()] = change(old)
        done.append(people[id_.casefold()])
        return _change(what, done[0], author)

    _changed(path, one)
    return done[0]


def record_refused_pin(path: Path, id_: str, user: str = "", *, place: str = "") -> None:
    """Keep a wrong PIN of a command or at a locked box for the journal. An unknown id is not kept: it may be a PIN."""
    with lock_people_file(path):
        people, changes = load_people_file(path)
        known = people.get(id_.casefold())
        refused = [at for at, change in enumerate(changes) if change.what == "pin_refused"]
        if len(refused) < MOST_REFUSED_KEPT:
            new = [*changes, replace(_change("pin_refused", known, Author(user=user)), place=place)]
        else:
            new = list(changes)
            new[refused[-1]] = replace(changes[refused[-1]], times=changes[refused[-1]].times + 1)
        _write(path, people, new)


def drop_changes(path: Path, tokens: Sequence[str]) -> None:
    """Remove changes that the journal has now."""
    with lock_people_file(path):
        people, changes = load_people_file(path)
        left = [change for change in changes if change.token not in tokens]
        if len(left) < len(changes):
            _write(path, people, left)


def _change(what: ChangeKind, credential: Credential | None, author: Author) -> CredentialChange:
    who = author.who
    return CredentialChange(
        token=secrets.token_hex(8), at=datetime.now(UTC).isoformat(timespec="seconds"), what=what,
        listed=None if credential is None else credential.listed,
        by="" if who is None else who.id, by_role="" if who is None else who.role, user=author.user,
    )  # fmt: skip


def _check_pin(pin: str, *names: str) -> None:
    """Refuse a PIN that is easy to guess."""
    if not SHORTEST_PIN <= len(pin) <= LONGEST_PIN or not pin.isprintable():
        raise BadCredential(f"a PIN must have {SHORTEST_PIN} to {LONGEST_PIN} printable characters")
    steps = {ord(b) - ord(a) for a, b in pairwise(pin)}
    if len(steps) == 1 and steps <= {-1, 0, 1}:
        raise BadCredential("a PIN must not repeat one character or be a plain sequence: it is too easy to guess")
    if pin.casefold() in {name.casefold() for name in names}:
        raise BadCredential("a PIN must not be the credential itself: it is too easy to guess")


def user_name(uid: int) -> str:
    """Return the name and number of a system user."""
    try:
        return f"{pwd.getpwuid(uid).pw_name} ({uid})"
    except KeyError:
        return str(uid)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _changed(path: Path, change: Callable[[dict[str, Credential]], CredentialChange], *, make: bool = False) -> None:
    """Replace the file with a changed one, which also lists the change for the journal."""
    with lock_people_file(path):
        people, changes = PeopleFile({}) if make and not path.exists() else load_people_file(path)
        people = dict(people)
        change_record = change(people)
        _write(path, people, [*changes, change_record])


def _write(path: Path, people: Mapping[str, Credential], changes: Sequence[CredentialChange]) -> None:
    """Write the file atomically; it is on disk on return."""
    written = _PeopleFileData(FORMAT, list(people.values()), list(changes))
    try:
        replace_file(path, msgspec.json.format(msgspec.json.encode(written), indent=2) + b"\n")
    except OSError as error:
        raise BadPeopleFile(f"{path}: {error.strerror}") from error
