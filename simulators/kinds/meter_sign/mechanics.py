"""The display of a meter sign: rows of digits that are really readable, and their faults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.meter_sign.messages import DIGITS, Row
from firmware_bridge.errors import BadFault

if TYPE_CHECKING:
    from simulators.engine.faults import InjectedFault

ROWS: Final = tuple(row.name.lower() for row in Row)
DARK: Final = " "
DASH: Final = "-"


class SignDisplay:
    """Three rows of digits, the last cent on the right, and a mark for stale amounts."""

    def __init__(self) -> None:
        self.stale = False
        self._rows = dict.fromkeys(Row, DARK * DIGITS)
        self._dead: set[tuple[Row, int]] = set()
        self._frozen = False

    def write(self, rows: dict[Row, str], *, stale: bool) -> None:
        """Drive every digit; a frozen display keeps its digits."""
        if not self._frozen:
            self._rows, self.stale = dict(rows), stale

    def read(self, row: Row) -> str:
        """Return the readable digits of a row, as a person or a measuring circuit sees them."""
        return "".join(
            DARK if (row, DIGITS - 1 - place) in self._dead else seen for place, seen in enumerate(self._rows[row])
        )

    def freeze(self) -> None:
        """Freeze the digit drivers: the shown digits stay."""
        self._frozen = True

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of the display; BadFault for any other."""
        match fault.kind.name:
            case "dead_digit":
                digit = fault.integer("digit")
                if digit >= DIGITS:
                    raise BadFault(f"dead_digit: a row has digits 0 to {DIGITS - 1}, not {digit}")
                self._dead.add((Row(fault.choice_index("row", ROWS)), digit))
            case "mend":
                self._dead.clear()
                self._frozen = False
            case name:
                raise BadFault(f"{name} does not act on the glass")
