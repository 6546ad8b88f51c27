"""Whether players can see the meter: what each sign shows, as the box reports it. Decides who may open bets no more.

At least one sign must show the amount. A sign that was lost counts again when it shows the amount again: the proof is
what it shows, and a device that failed also needs its technician and its floorperson (`service`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from table_controller.table import events as ev
    from table_controller.table.context import Context

# The panel's page, which is no device.
PAGE: Final = "/sign"
# Why a sign that is not there shows nothing.
GONE: Final = "gone"


def shown(c: Context, event: ev.SignShown) -> None:
    """A sign shows the amount on disk, or it does not."""
    slot = c.state.slots.get(event.sign)
    if event.sign != PAGE and (slot is None or slot.kind != "meter_sign"):
        c.refuse(f"there is no meter sign {event.sign}")
        return
    _keep(c, event.sign, event.cause)


def lost(c: Context, slot: str) -> None:
    """A meter sign came, went or failed: what it shows now, nobody has seen."""
    _keep(c, slot, GONE)


def _keep(c: Context, sign: str, cause: str) -> None:
    seen = c.meter_seen
    c.state.signs[sign] = cause
    if c.progressive and seen and not c.meter_seen:
        c.finding("meter_not_seen", f"{sign}: {cause}; no sign shows the meter, and no further round opens")
    elif c.progressive and not seen and c.meter_seen:
        c.finding("meter_seen", f"{sign} shows the meter")
