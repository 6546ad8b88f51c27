"""The people file: who has a credential, in which role, and the hash of each PIN. PINs are checked in `people_check`.

No names: `id` is what a badge says and what the journal records, `person` tells two credentials of one person from two
people. An id is never given twice, so a record of years ago still names one person.
"""

from __future__ import annotations

import fcntl
import os
import pwd
import re
import secrets
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import blake2s, scrypt
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple, get_args

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from firmware_bridge.decoding import UNDECODABLE
from firmware_bridge.errors import BadCredential, BadPeopleFile
from table_controller.journal.roll import Listed
from table_controller.private_file import replace_file
from table_controller.table import events
from table_controller.table.events import Role

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FORMAT: Final = 1
ROLES: Final[tuple[str, ...]] = get_args(Role)
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,31}")
# Six digits are a million guesses, which the growing wait turns into months; nobody remembers more than 64 characters.
SHORTEST_PIN: Final = 6
LONGEST_PIN: Final = 64
SALT_SIZE: Final = 16
HASH_SIZE: Final = 32
# So much of a proof tells two PINs of a credential apart (hex digits).
_PROOF_DIGITS: Final = 16
# So many wrong PINs wait in the file for the journal; more are only counted.
REFUSED_KEPT: Final = 64


class Cost(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one hash costs: scrypt's own parameters. As they are, 16 MB and about 50 ms.

    The limits keep a damaged file from asking for all of the box's memory.
    """

    n: Annotated[int, Meta(ge=2, le=1 << 20)] = 1 << 14
    r: Annotated[int, Meta(ge=1, le=16)] = 8
    p: Annotated[int, Meta(ge=1, le=4)] = 1


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """Who has proved to hold a credential. `proof` names the PIN that did, without telling it: another PIN, another."""

    id: str
    person: str
    role: Role
    proof: str = ""

    @property
    def speaker(self) -> events.Person:
        """The holder as events name one; a credential that is a person of its own names no other."""
        return events.Person(self.role, self.id, "" if self.person == self.id else self.person)

    def same(self, other: Person) -> bool:
        """Tell whether two credentials are one person's: then they are not the two people that a rule wants."""
        return self.person.casefold() == other.person.casefold()


class Credential(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry of the file; salt and hash as hex digits, days as 2031-03-17."""

    id: str
    person: str
    role: Role
    added: str
    revoked: str | None = None
    cost: Cost
    salt: str
    hash: str

    def __repr__(self) -> str:
        """Show neither salt nor hash."""
        return f"Credential(id={self.id!r}, person={self.person!r}, role={self.role!r}, revoked={self.revoked!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Not in rich's drawings either."""
        return [("id", self.id), ("person", self.person), ("role", self.role), ("revoked", self.revoked)]

    @property
    def who(self) -> Person:
        """The holder, proved by the PIN of now."""
        return Person(id=self.id, person=self.person, role=self.role, proof=self.proof)

    @property
    def listed(self) -> Listed:
        """The credential as the journal lists it: neither salt nor hash."""
        return Listed(self.id, self.person, self.role, self.proof[:_PROOF_DIGITS], self.revoked or "")

    @property
    def proof(self) -> str:
        """What changes with every PIN, and does not help to find one."""
        return blake2s(f"{self.salt}{self.hash}".encode(), person=b"proof", digest_size=16).hexdigest()


What = Literal["added", "pin_changed", "revoked", "pin_refused"]


class Change(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A change that no journal has yet: `by` authorized it, and `user` of the system ran the command.

    It is in the same file as the change itself, so that neither is there without the other.
    """

    token: str
    at: str  # RFC 3339, UTC
    what: What
    listed: Listed | None = None  # the credential after the change; None: a wrong PIN for an id that nobody has
    by: str = ""
    by_role: str = ""
    user: str = ""
    times: int = 1  # of a wrong PIN


class Author(NamedTuple):
    """Who changes something: the person who authorized it, if one did, and the user of the system."""

    who: Person | None = None
    user: str = ""


NOBODY: Final = Author()


class PeopleFile(NamedTuple):
    """What the file holds: every credential by its id in lower case, and changes that no journal has yet, in order."""

    people: Mapping[str, Credential]
    changes: Sequence[Change] = ()

    @property
    def listed(self) -> dict[str, Listed]:
        """The credentials as the journal lists them."""
        return {key: credential.listed for key, credential in self.people.items()}


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    format: int
    people: list[Credential]
    changes: list[Change] = []


def pin_hash(pin: str, salt: bytes, cost: Cost) -> bytes:
    """Hash a PIN, at that cost."""
    room = 128 * cost.r * (cost.n + cost.p + 2)  # what scrypt itself says that it needs (bytes)
    return scrypt(
        pin.encode("utf-8", "surrogatepass"), salt=salt, n=cost.n, r=cost.r, p=cost.p, maxmem=room, dklen=HASH_SIZE
    )


# --- reading ----------------------------------------------------------------------------------------------------------


def load_people(path: Path) -> Mapping[str, Credential]:
    """Return the credentials of the file; BadPeopleFile as `load_file` raises it."""
    return load_file(path).people


def load_file(path: Path) -> PeopleFile:
    """Read the file; BadPeopleFile if it is missing, open to others, or not a people file."""
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):  # a pipe would be waited for, and everybody who signs on with it
            raise BadPeopleFile(f"{path}: not a file")
        data = path.read_bytes()
    except OSError as error:
        raise BadPeopleFile(f"{path}: {error.strerror}") from error
    try:
        found = msgspec.json.decode(data, type=_File)
    except UNDECODABLE as error:
        raise BadPeopleFile(f"{path}: not a people file: {error}") from error
    if found.format != FORMAT:
        raise BadPeopleFile(f"{path}: format {found.format}, and this software knows format {FORMAT}")
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise BadPeopleFile(f"{path}: others can read or change this file; run: chmod 600 {path}")
    people: dict[str, Credential] = {}
    for credential in found.people:
        key = credential.id.casefold()
        if key in people:
            raise BadPeopleFile(f"{path}: the credential {credential.id} is there twice")
        if not _sound(credential):
            raise BadPeopleFile(f"{path}: the entry of {credential.id!r} is damaged")
        people[key] = credential
    return PeopleFile(people, tuple(found.changes))


def _sound(credential: Credential) -> bool:
    cost = credential.cost
    hexed = re.fullmatch(rf"[0-9a-f]{{{2 * SALT_SIZE}}}", credential.salt) and re.fullmatch(
        rf"[0-9a-f]{{{2 * HASH_SIZE}}}", credential.hash
    )
    return bool(_ID.fullmatch(credential.id) and hexed) and cost.n & (cost.n - 1) == 0


# --- changing ---------------------------------------------------------------------------------------------------------

# Raises why a change is not allowed, given the credentials as they are; called while nobody else changes the file.
Allowed = Callable[[Mapping[str, Credential]], None]


def add(
    path: Path,
    id_: str,
    role: str,
    pin: str,
    *,
    person: str | None = None,
    cost: Cost | None = None,
    author: Author = NOBODY,
    allowed: Allowed | None = None,
) -> Credential:
    """Add a credential; the file is made if it is not there. Today is the day that it was added."""
    if not _ID.fullmatch(id_):
        raise BadCredential(f"{id_!r} cannot be a credential: up to 32 letters, digits, - _ and . can")
    if role not in ROLES:
        raise BadCredential(f"{role!r} is no role; {', '.join(ROLES)} are")
    if person is not None and not _ID.fullmatch(person):
        raise BadCredential(f"{person!r} cannot be a person's number: up to 32 letters, digits, - _ and . can")
    _check_pin(pin, id_, person or id_)
    if allowed is not None and path.exists():
        allowed(load_people(path))  # before the hash, which costs; and once more when nobody else writes
    salt, cost = secrets.token_bytes(SALT_SIZE), cost or Cost()
    made = Credential(
        id=id_, person=person or id_, role=msgspec.convert(role, Role), added=_today(), cost=cost, salt=salt.hex(),
        hash=pin_hash(pin, salt, cost).hex(),
    )  # fmt: skip

    def change(people: dict[str, Credential]) -> Change:
        if allowed is not None:
            allowed(people)
        old = people.get(id_.casefold())
        if old is not None:
            since = f"revoked on {old.revoked}" if old.revoked else f"given on {old.added}"
            raise BadCredential(f"the credential {old.id} was {since}; an id is never given twice")
        people[id_.casefold()] = made
        return _change("added", made, author)

    _changed(path, change, make=True)
    return made


def revoke(path: Path, id_: str, *, author: Author = NOBODY, allowed: Allowed | None = None) -> Credential:
    """Revoke a credential; it stays in the file, because the journal names it."""
    return _replaced(path, id_, "revoked", lambda old: replace(old, revoked=_today()), author, allowed)


def set_pin(
    path: Path,
    id_: str,
    pin: str,
    *,
    cost: Cost | None = None,
    author: Author = NOBODY,
    allowed: Allowed | None = None,
) -> Credential:
    """Give a credential another PIN."""
    salt, cost = secrets.token_bytes(SALT_SIZE), cost or Cost()

    def change(old: Credential) -> Credential:
        _check_pin(pin, old.id, old.person)
        return replace(old, cost=cost, salt=salt.hex(), hash=pin_hash(pin, salt, cost).hex())

    return _replaced(path, id_, "pin_changed", change, author, allowed)


def _replaced(
    path: Path,
    id_: str,
    what: What,
    change: Callable[[Credential], Credential],
    author: Author,
    allowed: Allowed | None,
) -> Credential:
    done: list[Credential] = []

    def one(people: dict[str, Credential]) -> Change:
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


def count_refused(path: Path, id_: str, user: str) -> None:
    """Leave a wrong PIN that a command met for the next journal. An id that nobody has is not kept: it may be a PIN."""
    with _only_one(path):
        people, changes = load_file(path)
        known = people.get(id_.casefold())
        refused = [at for at, change in enumerate(changes) if change.what == "pin_refused"]
        if len(refused) < REFUSED_KEPT:
            new = [*changes, _change("pin_refused", known, Author(user=user))]
        else:
            new = list(changes)
            new[refused[-1]] = replace(changes[refused[-1]], times=changes[refused[-1]].times + 1)
        _write(path, people, new)


def drop_changes(path: Path, tokens: Sequence[str]) -> None:
    """Remove changes that a journal has now."""
    with _only_one(path):
        people, changes = load_file(path)
        left = [change for change in changes if change.token not in tokens]
        if len(left) < len(changes):
            _write(path, people, left)


def _change(what: What, credential: Credential | None, author: Author) -> Change:
    who = author.who
    return Change(
        token=secrets.token_hex(8), at=datetime.now(UTC).isoformat(timespec="seconds"), what=what,
        listed=None if credential is None else credential.listed,
        by="" if who is None else who.id, by_role="" if who is None else who.role, user=author.user,
    )  # fmt: skip


def _check_pin(pin: str, *names: str) -> None:
    """Refuse a PIN that the first dozen guesses would find."""
    if not SHORTEST_PIN <= len(pin) <= LONGEST_PIN or not pin.isprintable():
        raise BadCredential(f"a PIN has {SHORTEST_PIN} to {LONGEST_PIN} characters, of one line")
    steps = {ord(b) - ord(a) for a, b in pairwise(pin)}
    if len(steps) == 1 and steps <= {-1, 0, 1}:
        raise BadCredential("a PIN of one character repeated, or of a plain sequence, is the first to be guessed")
    if pin.casefold() in {name.casefold() for name in names}:
        raise BadCredential("a PIN that is the credential itself is the first to be guessed")


def user_name(uid: int) -> str:
    """Return a user of the system by name and number."""
    try:
        return f"{pwd.getpwuid(uid).pw_name} ({uid})"
    except KeyError:
        return str(uid)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


@contextmanager
def _only_one(path: Path) -> Iterator[None]:
    """Hold the file against other processes. The lock is a file of its own, for the people file is exchanged whole."""
    if not path.parent.is_dir():
        raise BadPeopleFile(f"{path}: there is no folder {path.parent}")
    lock = path.with_name(f".{path.name}.lock")
    try:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise BadPeopleFile(f"{lock}: {error.strerror}") from error
    try:
        if os.geteuid() == 0:  # so that the box, which is another user, can hold it as well
            owner = (path if path.exists() else path.parent).stat()
            os.fchown(handle, owner.st_uid, owner.st_gid)
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _changed(path: Path, change: Callable[[dict[str, Credential]], Change], *, make: bool = False) -> None:
    """Exchange the file for a changed one, with the change itself as the last that waits for the journal."""
    with _only_one(path):
        people, changes = PeopleFile({}) if make and not path.exists() else load_file(path)
        people = dict(people)
        made = change(people)
        _write(path, people, [*changes, made])


def _write(path: Path, people: Mapping[str, Credential], changes: Sequence[Change]) -> None:
    """Write the file: whole, and on disk before it takes its name."""
    written = _File(FORMAT, list(people.values()), list(changes))
    try:
        replace_file(path, msgspec.json.format(msgspec.json.encode(written), indent=2) + b"\n")
    except OSError as error:
        raise BadPeopleFile(f"{path}: {error.strerror}") from error
