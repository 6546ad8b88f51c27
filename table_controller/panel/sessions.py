"""Who is signed on from which browser, until when, and which of their requests were taken already. No credentials.

A session is a cookie that scripts cannot read. A page is a secret that only our own script can read, so that another
site's request has none; its requests are numbered, so that none is taken twice, in whatever order they arrive.
"""

from __future__ import annotations

import secrets
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.people import Person

# A session without a request for so long (s) is over: a dealer's table may stand idle, a laptop is carried away.
IDLE: Final[dict[str, float]] = {"dealer": 3600.0, "floorperson": 900.0, "technician": 900.0, "auditor": 900.0}
# And after so long (s) in any case: longer than any shift.
LONGEST: Final = 12 * 3600.0
# More than any table has; beyond that the one that was idle longest is signed off.
SESSIONS: Final = 64
# Pages open at once in one browser; beyond that the oldest must be loaded anew.
PAGES: Final = 16
# Two requests of one page may overtake each other; one that is so many numbers behind is none of its last ones.
BEHIND: Final = 32


class Session:
    """One browser that somebody signed on from. `pages`: the secret of each page, with its last requests' numbers."""

    def __init__(self, who: Person, now: float) -> None:
        self.who = who
        self.began = now
        self.seen = now
        self.over = False
        self.pages: dict[str, set[int]] = {}

    def open_page(self, known: str = "") -> str:
        """Return the secret of a new page, or of one that is open and shows its own."""
        if known in self.pages:
            return known
        while len(self.pages) >= PAGES:
            del self.pages[next(iter(self.pages))]
        secret = secrets.token_urlsafe(24)
        self.pages[secret] = set()
        return secret

    def has_page(self, secret: str) -> bool:
        """Tell whether a request comes from a page of this session."""
        return secret in self.pages

    def take(self, secret: str, number: int) -> bool:
        """Take a page's request by its number, once; tell whether it may go on."""
        taken = self.pages.get(secret)
        if taken is None or number in taken or (taken and number <= max(taken) - BEHIND):
            return False
        taken.add(number)
        if len(taken) > BEHIND:
            taken.remove(min(taken))
        return True


class Sessions:
    """Every session of one box. In memory only: after a restart everybody signs on again."""

    def __init__(self, clock: Callable[[], float], on_over: Callable[[Session], None]) -> None:
        self._clock = clock
        self._on_over = on_over
        self._open: dict[bytes, Session] = {}

    def begin(self, who: Person) -> str:
        """Begin a session; return its token, which is kept nowhere but in the browser."""
        self.sweep()
        while len(self._open) >= SESSIONS:
            self._end(min(self._open, key=lambda key: self._open[key].seen))
        token = secrets.token_urlsafe(32)
        self._open[_key(token)] = Session(who, self._clock())
        return token

    def find(self, token: str, *, used: bool = True) -> Session | None:
        """Return the session of a token; `used`: somebody asks for something, so it is not idle."""
        self.sweep()
        session = self._open.get(_key(token))
        if session is not None and used:
            session.seen = self._clock()
        return session

    def end(self, token: str) -> None:
        """End a session, if it is one."""
        if _key(token) in self._open:
            self._end(_key(token))

    def sweep(self) -> None:
        """End whatever has been idle, or open, for too long."""
        now = self._clock()
        for key, session in list(self._open.items()):
            if now - session.seen > IDLE[session.who.role] or now - session.began > LONGEST:
                self._end(key)

    def __len__(self) -> int:
        """How many are signed on."""
        return len(self._open)

    def _end(self, key: bytes) -> None:
        session = self._open.pop(key)
        session.over = True
        self._on_over(session)


def _key(token: str) -> bytes:
    return blake2b(token.encode("utf-8", "surrogatepass"), digest_size=32).digest()
