"""Notices for the technician while the table plays on, for checks, status, panel, log and metrics."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

log = logging.getLogger(__name__)

# How often an unchanged notice is logged again (s): once a day is enough and fills no disk.
LOG_EVERY_S: Final = 86_400


class Notice(msgspec.Struct, frozen=True):
    """A notice: its subject, code, sentence, and what to do. `is_failure`: something already fails."""

    what: str
    code: str
    text: str
    do: str
    is_failure: bool = False

    @property
    def sentence(self) -> str:
        """The notice in one line."""
        return f"{self.code} {self.text}; {self.do}"


class NoticeBoard:
    """The current notices, by source. Each is logged when it is new, and then once a day."""

    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._by_source: dict[str, tuple[Notice, ...]] = {}
        self._logged_s: dict[tuple[str, str], float] = {}

    @property
    def notices(self) -> list[Notice]:
        """All of them, failures first."""
        every = [notice for notices in self._by_source.values() for notice in notices]
        return sorted(every, key=lambda notice: not notice.is_failure)

    def put(self, source: str, notices: Iterable[Notice]) -> None:
        """Replace the notices of one source."""
        self._by_source[source] = tuple(notices)
        now = self._now_s()
        for notice in self._by_source[source]:
            key = notice.what, notice.code
            if now - self._logged_s.get(key, float("-inf")) >= LOG_EVERY_S:
                self._logged_s[key] = now
                log.log(logging.ERROR if notice.is_failure else logging.WARNING, "%s", notice.sentence)
