"""Sessions: who is signed on in which browser, until when, and which requests were accepted.

A session is a cookie that scripts cannot read. Each page has a secret that only the panel's own script can read, so
requests of other sites lack it; requests are numbered, so that none is accepted twice, in any order of arrival.
"""

from __future__ import annotations

import secrets
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.access.people_file import CredentialHolder

# A session ends after this time without a request (s); a dealer's table may be idle for longer.
IDLE_S: Final[dict[str, float]] = {"dealer": 3600.0, "floorperson": 900.0, "technician": 900.0, "auditor": 900.0}
# A session always ends after this time (s): longer than any shift.
LONGEST_S: Final = 12 * 3600.0
# Most sessions; beyond that, the one that was idle longest ends.
MAX_SESSIONS: Final = 64
# Most pages in one browser; beyond that, the oldest must be loaded again.
MAX_PAGES: Final = 16
# Requests of one page may arrive out of order, but at most this many numbers behind.
KEPT_NUMBERS: Final = 32


class PanelSession:
    """The session of one browser. `pages`: the secret of each page, with the numbers of its last requests."""

    def __init__(self, who: CredentialHolder, now: float) -> None:
        self.who = who
        self.began = now
        self.seen = now
        self.is_over = False
        self.pages: dict[str, set[int]] = {}

    def open_page(self, known: str = "") -> str:
        """Return `known` if it is the secret of an open page, else the secret of a new page."""
        if known in self.pages:
            return known
        while len(self.pages) >= MAX_PAGES:
            del self.pages[next(iter(self.pages))]
        secret = secrets.token_urlsafe(24)
        self.pages[secret] = set()
        return secret

    def has_page(self, secret: str) -> bool:
        """Return whether a secret belongs to a page of this session."""
        return secret in self.pages

    def accept_once(self, secret: str, number: int) -> bool:
        """Accept a page's request by its number; return False if the number was used or is too old."""
        taken = self.pages.get(secret)
        if taken is None or number in taken or (taken and number <= max(taken) - KEPT_NUMBERS):
            return False
        taken.add(number)
        if len(taken) > KEPT_NUMBERS:
            taken.remove(min(taken))
        return True


class PanelSessions:
    """All sessions of one box, in memory: after a restart everybody signs on again."""

    def __init__(self, clock: Callable[[], float], on_over: Callable[[PanelSession], None]) -> None:
        self._clock = clock
        self._on_over = on_over
        self._open: dict[bytes, PanelSession] = {}

    def begin(self, who: CredentialHolder) -> str:
        """Begin a session; return its token, which only the browser keeps."""
        self.sweep()
        while len(self._open) >= MAX_SESSIONS:
            self._end(min(self._open, key=lambda key: self._open[key].seen))
        token = secrets.token_urlsafe(32)
        self._open[_key(token)] = PanelSession(who, self._clock())
        return token

    def find(self, token: str, *, used: bool = True) -> PanelSession | None:
        """Return the session of a token; `used` restarts its idle time."""
        self.sweep()
        session = self._open.get(_key(token))
        if session is not None and used:
            session.seen = self._clock()
        return session

    def end(self, token: str) -> None:
        """End the session of a token, if there is one."""
        if _key(token) in self._open:
            self._end(_key(token))

    def sweep(self) -> None:
        """End the sessions that were idle or open for too long."""
        now = self._clock()
        for key, session in list(self._open.items()):
            if now - session.seen > IDLE_S[session.who.role] or now - session.began > LONGEST_S:
                self._end(key)

    def __len__(self) -> int:
        """Return the number of sessions."""
        return len(self._open)

    def _end(self, key: bytes) -> None:
        session = self._open.pop(key)
        session.is_over = True
        self._on_over(session)


def _key(token: str) -> bytes:
    return blake2b(token.encode("utf-8", "surrogatepass"), digest_size=32).digest()
