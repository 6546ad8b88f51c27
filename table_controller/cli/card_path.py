"""Draws a shuffler's card path as one line of text: where cards are, which sensors are dark, where it jammed. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.shuffler import messages as m

if TYPE_CHECKING:
    from devices.shuffler.state import ShufflerView

Span = tuple[str, str]  # text, style
CLEAR: Final = "dim"
DARK: Final = "bold yellow"
WRONG: Final = "bold red"
CARDS: Final = "bold cyan"

# What stands between intake and gate, in the order a card meets it.
_TRACK: Final[list[m.Segment | m.Sensor | None]] = [
    m.Segment.FEED, m.Sensor.FEED, m.Segment.BRIDGE, m.Sensor.BRIDGE, m.Segment.LIFT, m.Sensor.LIFT, m.Segment.SHELF,
    None,  # the compartments
    m.Segment.UNLOAD, m.Sensor.EXIT, m.Segment.STACK, m.Sensor.STACK, m.Segment.DROP,
]  # fmt: skip


def draw_path(view: ShufflerView, expected: int) -> list[Span]:
    """Return the path as styled text. `expected` is how many cards the deck should have."""
    stuck = view.ended.segment if isinstance(view.ended, m.Jam | m.Fault) else None
    waiting: int | None = max(0, expected - view.entered)
    if view.phase is m.Phase.UNLOADING:
        waiting = None if view.state is m.State.CLEARING else 0
    spans: list[Span] = [("intake ", ""), (_box(waiting), CARDS), (" ", "")]
    for part in _TRACK:
        if part is None:
            spans.append((_box(view.inside), CARDS))
        elif isinstance(part, m.Segment):
            name = part.name.lower()
            spans.append((f"✖{name}✖", WRONG) if part is stuck else (f"─{name}─", CLEAR))
        else:
            dark = bool(view.blocked >> part & 1)
            spans.append(("●" if dark else "○", DARK if dark else CLEAR))
    spans += [(" ", ""), (_box(view.behind_gate), CARDS), (" gate", "")]
    return spans


def plain(spans: list[Span]) -> str:
    """Return the text without its styles."""
    return "".join(text for text, _ in spans)


def _box(cards: int | None) -> str:
    return "▕ ?▏" if cards is None else f"▕{cards:2d}▏"
