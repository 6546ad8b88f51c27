"""Whether players can see the meter and the odds, from what the box reports about each sign.

Every sign of the table must show the amount; the panel's page replaces them where there is none. A lost sign counts
again when it shows the amount again; a faulted one must first return to service (`service`). Odds and a payout limit
that are not inscribed on the layout are on that page too, which reports what it shows of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.table.view import ODDS, slot_label

if TYPE_CHECKING:
    from table_controller.table import events as ev
    from table_controller.table.context import Context

# The panel's page, which is not a device.
PAGE: Final = "/sign"
# The cause for a sign that is not connected.
GONE: Final = "gone"


def on_sign_shown(c: Context, event: ev.SignShown) -> None:
    """A sign shows the recorded amount, or it does not."""
    slot = c.state.slots.get(event.sign)
    if event.sign == ODDS:
        _on_odds_shown(c, event.cause)
        return
    if event.sign != PAGE and (slot is None or slot.kind != "meter_sign"):
        c.refuse(f"this table has no meter sign {event.sign}")
        return
    seen = c.is_meter_visible
    c.state.signs[event.sign] = event.cause
    _note(c, event.sign, seen=seen)


def _on_odds_shown(c: Context, cause: str) -> None:
    """The panel's page shows the odds and the payout limit, or it does not; record what players lose sight of."""
    seen = c.are_odds_visible
    c.state.signs[ODDS] = cause
    if c.submission.posted_on_sign and seen != c.are_odds_visible:
        if cause:
            text = f"{slot_label(ODDS)}: {cause}; players cannot see them, so no further round opens"
            c.record_finding("odds_not_seen", text)
        else:
            c.record_finding("odds_seen", f"{slot_label(ODDS)} are shown")


def on_slot_changed(c: Context, event: ev.SlotChanged, *, seen: bool) -> None:
    """A meter sign connected, disconnected or faulted, so its display is not known; or it is in service again."""
    if event.trigger != "verify":
        c.state.signs[event.slot] = GONE
    _note(c, event.slot, seen=seen)


def _note(c: Context, sign: str, *, seen: bool) -> None:
    """Record when players lose or regain sight of the meter; `seen`: whether they could see it before."""
    if c.has_progressive and seen and not c.is_meter_visible:
        cause = c.state.signs[sign]
        c.record_finding(
            "meter_not_seen", f"{slot_label(sign)}: {cause}; players cannot see the meter, so no further round opens"
        )
    elif c.has_progressive and not seen and c.is_meter_visible:
        c.record_finding("meter_seen", f"{slot_label(sign)} shows the meter")
