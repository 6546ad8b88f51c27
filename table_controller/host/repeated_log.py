"""Log lines that outsiders can cause: the first is written at once, repetitions as one count a minute.

Each count is written at the end of its minute or when the box stops. The number of causes is limited.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final, Protocol

from firmware_bridge.errors import CredentialRefused, PitboxError, TryLater
from table_controller.host.quota import Origin, origin_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable


class CancelableTimer(Protocol):
    """A timer that can be canceled."""

    def cancel(self) -> None:
        """Cancel the timer."""


# Repetitions within this time (s) are counted.
WINDOW_S: Final = 60.0
# The most causes that are counted separately; further ones of a kind are counted together.
MOST_CAUSES: Final = 16


def _later(seconds: float, call: Callable[[], None]) -> CancelableTimer:
    return asyncio.get_running_loop().call_later(seconds, call)


class _Cause:
    def __init__(self, text: str, level: int, timer: CancelableTimer) -> None:
        self.text = text
        self.level = level
        self.timer = timer
        self.more = 0


class RepeatedLog:
    """Counts repeated log lines. `call_later` calls a function after some seconds; tests replace it."""

    def __init__(
        self, log: logging.Logger, call_later: Callable[[float, Callable[[], None]], CancelableTimer] = _later
    ) -> None:
        self._log = log
        self._later = call_later
        self._causes: dict[Hashable, _Cause] = {}

    def warn(self, kind: str, cause: Hashable, text: str, *, level: int = logging.WARNING) -> None:
        """Log a warning, or count it. `kind` is what happened, `cause` its origin, `text` the whole line."""
        key: Hashable = (kind, cause)
        if key not in self._causes and len(self._causes) >= MOST_CAUSES:
            key, text = (kind, None), f"{kind}, from many other origins"
        known = self._causes.get(key)
        if known is not None:
            known.more += 1
            return
        self._log.log(level, "%s", text)
        self._causes[key] = _Cause(text, level, self._later(WINDOW_S, lambda: self._over(key)))

    def _over(self, key: Hashable) -> None:
        """Write the count of a minute, or forget a cause without repetitions."""
        cause = self._causes[key]
        if not cause.more:
            del self._causes[key]
            return
        self._write(cause)
        cause.timer = self._later(WINDOW_S, lambda: self._over(key))

    def _write(self, cause: _Cause) -> None:
        self._log.log(cause.level, "%s: %d more within a minute", cause.text, cause.more)
        cause.more = 0

    def flush(self) -> None:
        """Write every count now, before a stop."""
        for cause in self._causes.values():
            cause.timer.cancel()
            if cause.more:
                self._write(cause)
        self._causes.clear()


def log_refused_pin(repeated: RepeatedLog, error: PitboxError, credential: str | None, place: Origin | str) -> None:
    """Log why a sign-on failed. An unknown id is not written: it may be a PIN in the wrong field."""
    origin = origin_of(place) if isinstance(place, str) else place
    who = "an unknown credential" if credential is None else f"the credential {credential}"
    cause = (credential, origin.group)
    where = origin.name if origin.name == origin.group else f"{origin.name} of {origin.group}"
    if isinstance(error, TryLater):
        repeated.warn("a PIN came too soon", cause, f"a PIN for {who} came too soon, from {where}")
    elif isinstance(error, CredentialRefused):
        repeated.warn("a PIN was refused", cause, f"a PIN for {who} was refused, from {where}")
    else:  # the people file cannot be read, so nobody can sign on
        text = f"PINs cannot be checked: {error.code}: {error}"
        repeated.warn("PINs cannot be checked", error.code, text, level=logging.ERROR)


class ServerLog(logging.LoggerAdapter[logging.Logger]):
    """The log of the web server. Outsiders can cause its warnings, so they are counted."""

    def __init__(self, logger: logging.Logger, repeated: RepeatedLog) -> None:
        super().__init__(logger)
        self._repeated = repeated
        self.level = logger.level  # the web server reads it

    def warning(self, msg: object, *args: object, **more: Any) -> None:
        """Count a warning."""
        if more:
            super().warning(msg, *args, **more)
        else:
            self._repeated.warn("a bad request", msg, str(msg) % args if args else str(msg))
