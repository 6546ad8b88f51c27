"""Whether somebody may sign on: the PIN of a credential, checked against guessing. The people file is only read here.

What an attacker may do is bounded three ways. After a wrong PIN the credential waits, longer each time, and tries that
come too soon are refused unheard: they cost nothing and do not lengthen the wait, so whoever has the right PIN gets in
once it is over. Waits are counted by credential and by where the try came from, so guessing at one place does not keep
people out at another; strangers from many networks share what is left to them, and neither the table's own screens nor
an address where somebody signed on before share it with them. And one hash is computed at a time, and few tries wait.
"""

from __future__ import annotations

import hmac
import math
import threading
import time
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import BadPeopleFile, CredentialRefused, TryLater
from table_controller.people import HASH_SIZE, LONGEST_PIN, SALT_SIZE, Cost, PeopleFile, load_file, pin_hash
from table_controller.quota import Origin, Quota, Rank, Seat, origin_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from table_controller.people import Credential, Person

# The wait after the first wrong PIN (s); it doubles with each one more, up to the longest.
FIRST_WAIT: Final = 1.0
LONGEST_WAIT: Final = 60.0
# So many places have a wait of their own for one credential, of strangers, and of them and known ones; all others
# together have one more. Bounds guesses as well as memory. The table's own screens always have theirs.
STRANGE_PLACES: Final = 4
PLACES: Final = 8
OWN_PLACES: Final = 16
# Of them, what one network of strangers gets: a mistake at one address keeps nobody out at the next.
NETWORK_PLACES: Final = 2
# Tries that are looked at or wait for that, by rank: each holds a thread, and the table's own work needs some, too.
CHECKS: Final = (2, 3, 4)
# So many addresses are remembered for each credential that was accepted there; the last ones.
REMEMBERED: Final = 4
# Ids that nobody has share so many waits, so that they behave like credentials and need no memory of their own.
STRANGERS: Final = 16
# One hash at a time: each needs 16 MB, and the table's own work comes first.
PARALLEL: Final = 1
# A place that made no try for so long (s) is forgotten, once another one needs its wait.
FORGOTTEN: Final = 3600.0

_Key = tuple[str, str]
# Where tries are counted that have no wait of their own.
_ALL_OTHERS: Final = "\n"


class _Tries:
    """The wrong PINs in a row of one credential at one place."""

    def __init__(self) -> None:
        self.seat: Seat | None = None
        self.wrong = 0
        self.last = float("-inf")
        self.busy = False

    def wait(self, now: float) -> float:
        """How long it still waits (s)."""
        if self.busy:
            return FIRST_WAIT
        if not self.wrong:
            return 0.0
        return max(0.0, self.last + min(FIRST_WAIT * 2.0 ** min(self.wrong - 1, 30), LONGEST_WAIT) - now)


class Checker:
    """Checks PINs against a people file, which is read again whenever it has changed. For any number of threads.

    A check takes about 50 ms of computing, so a loop has it done in a thread.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Callable[[], float] = time.monotonic,
        hasher: Callable[[str, bytes, Cost], bytes] = pin_hash,
        parallel: int = PARALLEL,
    ) -> None:
        self.path = path
        self._clock = clock
        self._hasher = hasher
        self._turns = threading.BoundedSemaphore(parallel)
        self._lock = threading.Lock()
        self._tries: dict[_Key, _Tries] = {}
        self._places: dict[str, Quota] = {}  # by credential: which places have a wait of their own
        self._checks = Quota(CHECKS, CHECKS)
        self._accepted: dict[str, list[str]] = {}  # by credential: where it was accepted, the last one at the end
        self._file = PeopleFile({})
        self._stamp: tuple[int, ...] | None = None

    def check(self, id_: str, pin: str, place: Origin | str = "") -> Person:
        """Return who it is; CredentialRefused does not say whether id or PIN was wrong, TryLater says how long to wait.

        `place` is where the try came from: an address, a user of the system, the table's own panel.
        """
        with self._lock:
            people = self._read()
            known = people.get(id_.casefold())
            origin = self._known(place if isinstance(place, Origin) else origin_of(place))
            key = self._key(id_, known, origin)
            wait = self._tries[key].wait(self._clock()) if key in self._tries else 0.0
            if wait:
                raise TryLater(f"the credential {id_!r} waits: try again in {math.ceil(wait)} s", wait)
            turn = self._checks.admit(origin)
            if turn is None:
                raise TryLater("the box checks other PINs now: try again in 1 s", FIRST_WAIT)
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
        return known.who

    def known_address(self, name: str) -> bool:
        """Whether somebody signed on at this address before, since the box started."""
        with self._lock:
            return self._was_accepted(origin_of(name).name)

    def known_id(self, id_: str) -> str | None:
        """Return a credential as the people file writes it; None if nobody has it, or the file cannot be read."""
        with self._lock:
            try:
                known = self._read().get(id_.casefold())
            except BadPeopleFile:
                return None
        return None if known is None else known.id

    def holds(self, id_: str, role: str, proof: str = "") -> bool:
        """Tell whether a credential that was proved before was not revoked since, nor has another role.

        With `proof`, nor another PIN: whoever learnt the old one is sent away by the change. A file that cannot be
        read now revokes nobody; nobody new signs on with it either.
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
        """Return the file as it is now, the same object as long as it does not change; BadPeopleFile as it is."""
        with self._lock:
            self._read()
            return self._file

    def _right(self, known: Credential | None, pin: str, people: Mapping[str, Credential]) -> bool:
        """Compare, in the same time whether somebody has this id or nobody, and wherever the difference is."""
        if known is None or known.revoked:
            # What others here cost: whoever measures learns nothing.
            cost = max(
                (each.cost for each in people.values()), key=lambda cost: cost.n * cost.r * cost.p, default=Cost()
            )
            salt, wanted = bytes(SALT_SIZE), bytes(HASH_SIZE)
        else:
            salt, wanted, cost = bytes.fromhex(known.salt), bytes.fromhex(known.hash), known.cost
        with self._turns:
            found = self._hasher(pin[: LONGEST_PIN + 1], salt, cost)
        return hmac.compare_digest(found, wanted) and known is not None and not known.revoked

    # --- waits --------------------------------------------------------------------------------------------------------

    def _known(self, origin: Origin) -> Origin:
        """Return an origin with the rank that it has now."""
        if origin.rank is Rank.STRANGER and self._was_accepted(origin.name):
            return origin_of(origin.name, known=True)
        return origin

    def _was_accepted(self, name: str) -> bool:
        return any(name in names for names in self._accepted.values())

    def _key(self, id_: str, known: Credential | None, origin: Origin) -> _Key:
        """Return under which credential and place a try is counted."""
        who = (
            id_.casefold()
            if known is not None
            else f"?{sum(id_.casefold().encode('utf-8', 'surrogatepass')) % STRANGERS}"
        )
        if (who, origin.name) in self._tries:
            return who, origin.name
        places = self._places.setdefault(
            who, Quota((STRANGE_PLACES, PLACES, OWN_PLACES), (NETWORK_PLACES, PLACES, OWN_PLACES))
        )
        return (who, origin.name if places.has_room(origin) else _ALL_OTHERS)

    def _begin(self, key: _Key, origin: Origin) -> None:
        """A try is looked at: nobody else tries at its place meanwhile."""
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
        return not tries.busy and self._clock() - tries.last > FORGOTTEN

    def _end(self, key: _Key, origin: Origin, *, right: bool) -> None:
        """A try was looked at: count a wrong PIN; after a right one nothing is left to count."""
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
        """Return the people of the file as it is now."""
        try:
            found = self.path.stat()
        except OSError:
            self._stamp = None
        else:
            stamp = (found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size)
            if stamp == self._stamp:
                return self._file.people
            self._stamp = None  # what cannot be read now is read again next time
            self._file = load_file(self.path)
            self._stamp = stamp
            return self._file.people
        return load_file(self.path).people
