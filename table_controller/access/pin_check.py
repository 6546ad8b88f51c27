"""Checks the PIN of a credential, with protection against guessing. Only reads the people file.

Three limits protect a credential. First, after a wrong PIN it is blocked for some time, longer after each one; attempts
during that time are refused without a check and do not make it longer. Second, the block holds for the place of the
attempt, so that guessing at one place does not keep people out at another: unknown networks share a few places, while
the screens of the table and addresses of earlier sign-ons have their own. Third, one hash runs at a time, and few wait.
"""

from __future__ import annotations

import hmac
import math
import threading
import time
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import BadPeopleFile, CredentialRefused, TryLater
from table_controller.access.people_file import (
    HASH_SIZE,
    LONGEST_PIN,
    SALT_SIZE,
    Cost,
    PeopleFile,
    load_people_file,
    pin_hash,
)
from table_controller.host.quota import Admission, Origin, Quota, Rank, origin_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from table_controller.access.people_file import Credential, CredentialHolder

# The block after the first wrong PIN (s); it doubles with each further one, up to the longest.
FIRST_WAIT_S: Final = 1.0
LONGEST_WAIT_S: Final = 60.0
# How many places have their own block for one credential: unknown places, these and known ones, and all. Every further
# place shares one block. This limits guesses and memory. The screens of the table always have their own.
UNKNOWN_PLACES: Final = 4
PLACES: Final = 8
OWN_PLACES: Final = 16
# How many of them one unknown network gets.
NETWORK_PLACES: Final = 2
# The most attempts that are checked or wait, by rank: each uses a thread, and the table needs threads too.
CHECKS: Final = (2, 3, 4)
# How many of the last addresses of successful sign-ons are remembered for each credential.
REMEMBERED: Final = 4
# Unknown ids share this many blocks, so that they behave like credentials and use no memory.
UNKNOWN_ID_WAITS: Final = 16
# One hash at a time: each needs 16 MB, and the table comes first.
PARALLEL_HASHES: Final = 1
# A place without an attempt for this time (s) can be forgotten for another one.
FORGET_AFTER_S: Final = 3600.0

_Key = tuple[str, str]
# The place for all attempts without their own block.
_ALL_OTHERS: Final = "\n"


class _Tries:
    """The consecutive wrong PINs of one credential at one place."""

    def __init__(self) -> None:
        self.seat: Admission | None = None
        self.wrong = 0
        self.last = float("-inf")
        self.busy = False

    def wait(self, now: float) -> float:
        """Return how long it is still blocked (s)."""
        if self.busy:
            return FIRST_WAIT_S
        if not self.wrong:
            return 0.0
        return max(0.0, self.last + min(FIRST_WAIT_S * 2.0 ** min(self.wrong - 1, 30), LONGEST_WAIT_S) - now)


class PinChecker:
    """Checks PINs against a people file, which is read again when it changes. Safe for threads.

    A check needs about 50 ms of CPU time, so an event loop runs it in a thread.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Callable[[], float] = time.monotonic,
        hasher: Callable[[str, bytes, Cost], bytes] = pin_hash,
        parallel: int = PARALLEL_HASHES,
    ) -> None:
        self.path = path
        self._clock = clock
        self._hasher = hasher
        self._turns = threading.BoundedSemaphore(parallel)
        self._lock = threading.Lock()
        self._tries: dict[_Key, _Tries] = {}
        self._places: dict[str, Quota] = {}  # credential -> places with their own block
        self._checks = Quota(CHECKS, CHECKS)
        self._accepted: dict[str, list[str]] = {}  # credential -> places of sign-ons, the last at the end
        self._file = PeopleFile({})
        self._stamp: tuple[int, ...] | None = None

    def check(self, id_: str, pin: str, place: Origin | str = "") -> CredentialHolder:
        """Return the holder; raise CredentialRefused for a wrong id or PIN, TryLater with the time to wait.

        `place` is the origin of the attempt: an address, a system user, the panel of the table.
        """
        with self._lock:
            people = self._read()
            known = people.get(id_.casefold())
            origin = self._known(place if isinstance(place, Origin) else origin_of(place))
            key = self._key(id_, known, origin)
            wait = self._tries[key].wait(self._clock()) if key in self._tries else 0.0
            if wait:
                raise TryLater(f"the credential {id_!r} is blocked: try again in {math.ceil(wait)} s", wait)
            turn = self._checks.admit(origin)
            if turn is None:
                raise TryLater("the box is checking other PINs: try again in 1 s", FIRST_WAIT_S)
            self._begin(key, origin)
        right = False
        try:
            right = self._right(known, pin, people)
        finally:
            with self._lock:
                self._checks.release(turn)
                self._end(key, origin, right=right)
        if known is None or known.revoked or not right:
            raise CredentialRefused(f"the credential {id_!r} is not valid, or the PIN is wrong")
        return known.holder

    def is_known_address(self, name: str) -> bool:
        """Return whether somebody signed on from this address since the box started."""
        with self._lock:
            return self._was_accepted(origin_of(name).name)

    def stored_id(self, id_: str) -> str | None:
        """Return an id as written in the people file; None if nobody has it or the file cannot be read."""
        with self._lock:
            try:
                known = self._read().get(id_.casefold())
            except BadPeopleFile:
                return None
        return None if known is None else known.id

    def is_valid(self, id_: str, role: str, proof: str = "") -> bool:
        """Return whether a signed-on credential is still valid: not revoked and with the same role.

        With `proof`, also with the same PIN: a changed PIN ends older sign-ons. An unreadable file revokes nobody, and
        nobody new can sign on.
        """
        with self._lock:
            try:
                known = self._read().get(id_.casefold())
            except BadPeopleFile:
                return True
        if known is None or known.revoked or known.role != role:
            return False
        return not proof or proof == known.proof

    def read(self) -> PeopleFile:
        """Return the current file, the same object until it changes; raise BadPeopleFile if it cannot be read."""
        with self._lock:
            self._read()
            return self._file

    def _right(self, known: Credential | None, pin: str, people: Mapping[str, Credential]) -> bool:
        """Return whether the PIN is right; takes the same time for every id and every difference."""
        if known is None or known.revoked:
            # The cost of other credentials, so that the time reveals nothing.
            cost = max(
                (each.cost for each in people.values()), key=lambda cost: cost.n * cost.r * cost.p, default=Cost()
            )
            salt, expected = bytes(SALT_SIZE), bytes(HASH_SIZE)
        else:
            salt, expected, cost = bytes.fromhex(known.salt), bytes.fromhex(known.hash), known.cost
        with self._turns:
            actual = self._hasher(pin[: LONGEST_PIN + 1], salt, cost)
        return hmac.compare_digest(actual, expected) and known is not None and not known.revoked

    # --- blocks -------------------------------------------------------------------------------------------------------

    def _known(self, origin: Origin) -> Origin:
        """Return an origin with its current rank."""
        if origin.rank is Rank.STRANGER and self._was_accepted(origin.name):
            return origin_of(origin.name, known=True)
        return origin

    def _was_accepted(self, name: str) -> bool:
        return any(name in names for names in self._accepted.values())

    def _key(self, id_: str, known: Credential | None, origin: Origin) -> _Key:
        """Return the credential and the place that an attempt counts for."""
        who = (
            id_.casefold()
            if known is not None
            else f"?{sum(id_.casefold().encode('utf-8', 'surrogatepass')) % UNKNOWN_ID_WAITS}"
        )
        if (who, origin.name) in self._tries:
            return who, origin.name
        places = self._places.setdefault(
            who, Quota((UNKNOWN_PLACES, PLACES, OWN_PLACES), (NETWORK_PLACES, PLACES, OWN_PLACES))
        )
        return (who, origin.name if places.has_room(origin) else _ALL_OTHERS)

    def _begin(self, key: _Key, origin: Origin) -> None:
        """Begin to check an attempt; its place is busy meanwhile."""
        tries = self._tries.get(key)
        if tries is None:
            tries = self._tries[key] = _Tries()
            if key[1] != _ALL_OTHERS:
                tries.seat = self._places[key[0]].admit(
                    origin, idle=lambda: self._is_forgotten(key), displace=lambda: self._tries.pop(key)
                )
        tries.busy = True

    def _is_forgotten(self, key: _Key) -> bool:
        tries = self._tries[key]
        return not tries.busy and self._clock() - tries.last > FORGET_AFTER_S

    def _end(self, key: _Key, origin: Origin, *, right: bool) -> None:
        """Finish an attempt: count a wrong PIN, or forget the count after a right one."""
        tries = self._tries[key]
        tries.busy = False
        tries.last = self._clock()
        tries.wrong += 1
        if right:
            del self._tries[key]
            if tries.seat is not None:
                self._places[key[0]].release(tries.seat)
            names = self._accepted.setdefault(key[0], [])
            names[:] = [*(name for name in names if name != origin.name), origin.name][-REMEMBERED:]

    def _read(self) -> Mapping[str, Credential]:
        """Return the credentials of the current file."""
        try:
            status = self.path.stat()
        except OSError:
            self._stamp = None
        else:
            stamp = (status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size)
            if stamp == self._stamp:
                return self._file.people
            self._stamp = None  # an unreadable file is read again next time
            self._file = load_people_file(self.path)
            self._stamp = stamp
            return self._file.people
        return load_people_file(self.path).people
