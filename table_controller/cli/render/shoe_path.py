"""Draws a shoe's card path as one line of text: where cards are, which sensors are dark, where it jammed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.shoe import messages as m
from table_controller.cli.render.card_path import CARDS, draw_box, draw_track

if TYPE_CHECKING:
    from devices.shoe.state import ShoeView
    from table_controller.cli.render.card_path import StyledText

# Cards that are not counted.
HEAP: Final = "▕▒▒▏"
_THROAT: Final = [m.Segment.DRAW, m.Sensor.DRAW, m.Segment.EXIT, m.Sensor.EXIT, m.Segment.DROP]


def draw_shoe(view: ShoeView, *, by_hand: bool) -> list[StyledText]:
    """Return the path of an automated shoe, or of a manual one (`by_hand`)."""
    stuck = view.ended.segment if isinstance(view.ended, m.Jam | m.Fault) else None
    well = _well(view)
    if by_hand:
        drawn = "?" if view.drawn is None else str(view.drawn)
        track = draw_track(_THROAT[1:], m.Sensor, stuck, view.blocked)
        return [("well ", ""), (well, CARDS), *track, (f"─▶ {drawn} drawn", "")]
    track = draw_track([m.Segment.FEED, m.Sensor.FEED, m.Segment.STORE, well, *_THROAT], m.Sensor, stuck, view.blocked)
    laid = view.moved if view.phase in (m.Phase.DISPENSING, m.Phase.STUB) else None
    slot = (HEAP if laid is None else draw_box(laid)) if view.in_slot else draw_box(0)
    intake = HEAP if view.in_intake else draw_box(0)
    return [("intake ", ""), (intake, CARDS), (" ", ""), *track, (" ", ""), (slot, CARDS), (" slot", "")]


def _well(view: ShoeView) -> str:
    if view.left is None and view.connected and view.in_well and view.counts_certain:
        return HEAP
    return draw_box(view.left)
