"""Whether players can see the meter: what each sign shows, as the box reports it. Decides who may open bets no more.

Every sign of the table must show the amount; the panel's page stands for them where there is none. A sign that was lost
counts again when it shows the amount again: the proof is what it shows, and a device that failed also needs its
technician and its floorperson (`service`).
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
    seen = c.meter_seen
    c.state.signs[event.sign] = event.cause
    _note(c, event.sign, seen=seen)


def slot_changed(c: Context, event: ev.SlotChanged, *, seen: bool) -> None:
    """A meter sign came, went or failed, and what it shows now, nobody has seen; or it is in service again."""
    if event.trigger != "verify":
        c.state.signs[event.slot] = GONE
    _note(c, event.slot, seen=seen)


def _note(c: Context, sign: str, *, seen: bool) -> None:
    """Keep that players cannot see the meter any more, or can again; `seen`: whether they could before."""
    if c.progressive and seen and not c.meter_seen:
        cause = c.state.signs[sign]
        c.finding("meter_not_seen", f"{sign}: {cause}; players cannot see the meter, and no further round opens")
    elif c.progressive and not seen and c.meter_seen:
        c.finding("meter_seen", f"{sign} shows the meter")
