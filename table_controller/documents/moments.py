"""Times of documents: local time of the table, and UTC."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

if TYPE_CHECKING:
    from datetime import tzinfo

_NS: Final = 1_000_000_000
# Not from the locale of the computer: the same journal prints the same text everywhere.
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Moments:
    """Writes times in the time zone of a table. `note` explains why there is none."""

    def __init__(self, zone: str) -> None:
        """`zone`: a name such as America/New_York; empty if the journal has none."""
        self._zone: tzinfo | None = None
        self.note = ""
        if not zone:
            self.note = "The journal does not name the time zone of the table: all times are UTC."
            return
        try:
            self._zone = ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            self.note = f"This computer does not know the time zone {zone} of the table: all times are UTC."

    def full(self, wall_ns: int) -> str:
        """Return a time as a text of its own: local time, then UTC."""
        utc = datetime.fromtimestamp(wall_ns // _NS, UTC)
        text = f"{utc:%Y-%m-%d %H:%M:%S} UTC"
        if self._zone is None:
            return text
        local = utc.astimezone(self._zone)
        return f"{_date(local)}, {local.year}, {_clock(local)} {local:%Z} ({text})"

    @property
    def columns(self) -> tuple[str, ...]:
        """The titles of the columns of `cells`."""
        return ("UTC",) if self._zone is None else ("Local time", "UTC")

    def cells(self, wall_ns: int) -> tuple[str, ...]:
        """Return a time for the columns of a table: local, UTC; only UTC without a time zone."""
        utc = datetime.fromtimestamp(wall_ns // _NS, UTC)
        shown = f"{utc:%Y-%m-%d %H:%M:%S}"
        if self._zone is None:
            return (shown,)
        local = utc.astimezone(self._zone)
        return f"{_date(local)}, {_clock(local)}", shown


def _date(at: datetime) -> str:
    return f"{_MONTHS[at.month - 1]} {at.day}"


def _clock(at: datetime) -> str:
    return f"{(at.hour + 11) % 12 + 1}:{at:%M:%S} {'AM' if at.hour < 12 else 'PM'}"


def duration(seconds: float) -> str:
    """Return a time span in hours and minutes."""
    minutes = round(seconds / 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min"
