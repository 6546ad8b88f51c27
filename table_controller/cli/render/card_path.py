"""Draws a card path as one line of text: where cards are, which sensors are dark, where it jammed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.shuffler import messages as m

if TYPE_CHECKING:
    from collections.abc import Sequence
    from enum import IntEnum

    from devices.shuffler.state import ShufflerView

StyledText = tuple[str, str]  # text, style
CLEAR: Final = "dim"
DARK: Final = "bold yellow"
FAULTY: Final = "bold red"
CARDS: Final = "bold cyan"

# Segments and sensors between intake and gate, in the order in which a card passes them.
_TRACK: Final[list[m.Segment | m.Sensor | None]] = [
    m.Segment.FEED, m.Sensor.FEED, m.Segment.BRIDGE, m.Sensor.BRIDGE, m.Segment.LIFT, m.Sensor.LIFT, m.Segment.SHELF,
    None,  # the compartments
    m.Segment.UNLOAD, m.Sensor.EXIT, m.Segment.STACK, m.Sensor.STACK, m.Segment.DROP,
]  # fmt: skip


def draw_path(view: ShufflerView, expected: int) -> list[StyledText]:
    """Return the path as styled text. `expected` is how many cards the deck, batch or set should have."""
    stuck = view.ended.segment if isinstance(view.ended, m.Jam | m.Fault) else None
    digits = len(str(expected))
    gap = " " if digits < 3 else ""  # three digits must fit into 80 columns
    track = [draw_box(view.inside, digits) if part is None else part for part in _TRACK]
    chute = view.continuous and view.phase is not m.Phase.UNLOADING
    end, cards = ("chute", view.in_chute) if chute else ("gate", view.behind_gate)
    return [
        (f"intake{gap}", ""), (draw_box(_waiting(view, expected), digits), CARDS), (gap, ""),
        *draw_track(track, m.Sensor, stuck, view.blocked),
        (gap, ""), (draw_box(cards, digits), CARDS), (gap + end, ""),
    ]  # fmt: skip


def draw_track(
    track: Sequence[IntEnum | str], sensors: type[IntEnum], stuck: IntEnum | None, blocked: int
) -> list[StyledText]:
    """Return segments, sensors and boxes in their order; `blocked` has a bit per sensor that is dark."""
    spans: list[StyledText] = []
    for part in track:
        if isinstance(part, str):
            spans.append((part, CARDS))
        elif isinstance(part, sensors):
            dark = bool(blocked >> part & 1)
            spans.append(("●" if dark else "○", DARK if dark else CLEAR))
        else:
            name = part.name.lower()
            spans.append((f"✖{name}✖", FAULTY) if part is stuck else (f"─{name}─", CLEAR))
    return spans


def _waiting(view: ShufflerView, expected: int) -> int | None:
    """Return how many cards must still be in the intake; None if no count is known."""
    if view.continuous or view.state is m.State.CLEARING:
        return None
    if view.state is m.State.IDLE and not view.entered:  # no cycle has counted cards
        return None
    return 0 if view.phase is m.Phase.UNLOADING else max(0, expected - view.entered)


def plain_text(spans: list[StyledText]) -> str:
    """Return the text without its styles."""
    return "".join(text for text, _ in spans)


def draw_box(cards: int | None, digits: int = 2) -> str:
    """Return a place for cards with the number of cards in it."""
    return f"▕{'?' if cards is None else cards:>{max(2, digits)}}▏"
