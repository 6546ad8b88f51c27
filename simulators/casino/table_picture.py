"""Draws the picture of a table for a terminal: seats, card paths, meter, holds and prompts.

It draws what the box shows, never the simulated truth, so it would look the same for a real table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.console import Group
from rich.panel import Panel
from rich.table import Table as Grid
from rich.text import Text

from devices.service import IN_SERVICE
from devices.shoe.state import ShoeView
from devices.shuffler.state import ShufflerView
from table_controller.cli.render.card_path import draw_path
from table_controller.cli.render.shoe_path import draw_shoe
from table_controller.journal.record_text import to_words
from table_controller.ledger.money import format_dollars
from table_controller.table import state_machines as mc

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import RenderableType

    from devices.kinds import AnyView
    from table_controller.picture.types import MeterPicture, PlacePicture, TablePicture

WIDTH: Final = 112
# Number of last events that are shown.
EVENTS: Final = 6
_DEALER: Final = 0
_GOOD, _BAD, _QUIET, _WARN = "green", "bold red", "dim", "yellow"
_NOTHING: Final = Text("·", _QUIET)
# The progressive bet of a place, as text and style.
_BETS: Final = {
    "none": ("·", _QUIET), "open": ("open", _QUIET), "sensed": ("◌ sensed", _WARN), "accepted": ("● latched", _GOOD),
    "lit": ("● accepted", _GOOD), "undecided": ("? undecided", _BAD),
}  # fmt: skip


def draw_table(table: TablePicture, views: Mapping[str, AnyView], recent: Sequence[Text], title: str) -> RenderableType:
    """Return the drawing of a table. `views`: the view of each device, by slot."""
    parts: list[RenderableType] = [_head(table), Text(), _places(table), Text(), _devices(table, views)]
    if table.meters is not None:
        parts += [Text(), _meter(table.meters)]
    parts += [Text(), _locked(table), _asked(table), Text(), *list(recent)[-EVENTS:]]
    parts += [Text()] * (EVENTS - min(EVENTS, len(recent)))  # the picture keeps its height
    return Panel(Group(*parts), title=title, title_align="left", border_style="blue", width=WIDTH)


def _head(table: TablePicture) -> Text:
    round_ = table.round
    void = round_.state == mc.VOID
    text = Text.assemble(
        ("round ", _QUIET), (str(round_.number or "-"), "bold"), ("   ", ""),
        (to_words(round_.state), _BAD if void else "bold"), no_wrap=True,
    )  # fmt: skip
    for deck in table.decks.values():
        style = _GOOD if deck.verified else _BAD if deck.state in (mc.HELD, mc.REMOVED) else _WARN
        text.append("     deck ", _QUIET)
        text.append(f"{deck.name}: {to_words(deck.state)}", style)
    return text


# --- places ----------------------------------------------------------------------------------------------------------


def _places(table: TablePicture) -> Grid:
    """Draw seats and dealer: starting position, wagers, bets, cards."""
    dealer, *seats = table.places
    grid = Grid.grid(padding=(0, 1), pad_edge=False)
    for _ in range(len(seats) + 2):
        grid.add_column(width=10, no_wrap=True)
    start = table.round.start
    first = None if start is None else (_DEALER if start == 1 else 8 - start)
    names = [(each.place, f"seat {each.place}") for each in seats] + [(_DEALER, "dealer")]
    grid.add_row("", *(Text(f"▶{n}" if p == first else n, "bold cyan" if p == first else "bold") for p, n in names))
    grid.add_row(Text("wager", _QUIET), *(_wager(each) for each in seats), "")
    if table.meters is not None:
        grid.add_row(Text("bet", _QUIET), *(Text(*_BETS[each.bet]) for each in seats), "")
    grid.add_row(Text("cards", _QUIET), *(_cards(each, table.rules.first_deal) for each in (*seats, dealer)))
    return grid


def _wager(place: PlacePicture) -> Text:
    match place.wager:
        case "dead":
            return Text("returned", _WARN)
        case "settled":
            return Text("settled", _GOOD)
        case "wager":
            return Text(place.decided or "yes")
    return _NOTHING


def _cards(place: PlacePicture, many: int) -> Text:
    match place.cards:
        case "slot":
            return Text("in slot", "cyan")
        case "waits":
            return Text("waits", _QUIET)
        case "dealt":
            return Text("▮" * many, "cyan")
    return _NOTHING


# --- machines --------------------------------------------------------------------------------------------------------


def _devices(table: TablePicture, views: Mapping[str, AnyView]) -> Grid:
    grid = Grid.grid(padding=(0, 1), pad_edge=False)
    for width in (11, 12, 82):
        grid.add_column(width=width, no_wrap=True)
    many: dict[str, list[str]] = {}
    for name, slot in table.slots.items():
        view = views.get(name)
        if slot.kind == "bet_sensor":
            many.setdefault(slot.state, []).append(name.rpartition(".")[2])
            continue
        style = _GOOD if slot.state == IN_SERVICE else _BAD
        grid.add_row(Text(name, _QUIET), Text(to_words(slot.state), style), _path(table, view))
    for state, seats in many.items():
        label = Text(to_words(state), _GOOD if state == IN_SERVICE else _BAD)
        grid.add_row(Text("bet sensors", _QUIET), label, Text(", ".join(seats), _QUIET))
    return grid


def _path(table: TablePicture, view: AnyView | None) -> Text:
    if isinstance(view, ShufflerView):
        return Text.assemble(*draw_path(view, table.rules.cards))
    if isinstance(view, ShoeView):
        return Text.assemble(*draw_shoe(view, by_hand=table.dealing != "automated_shoe"))
    return Text("")


def _meter(meters: MeterPicture) -> Text:
    text = Text.assemble(("meter ", _QUIET), (format_dollars(meters.current), "bold green"), ("   reserve ", _QUIET))
    text.append(format_dollars(meters.reserve))
    if meters.pending:
        text.append(f"   pending {format_dollars(meters.pending)}", "bold yellow")
    return text


# --- people ----------------------------------------------------------------------------------------------------------


def _locked(table: TablePicture) -> Text:
    """Draw the first hold, with its clauses and the role that clears it."""
    if not table.holds:
        return Text("No holds", _GOOD)
    hold = table.holds[0].hold
    more = f"   and {len(table.holds) - 1} more" if len(table.holds) > 1 else ""
    about = " ".join(part for part in (hold.slot, hold.deck and f"deck {hold.deck}") if part)
    text = f"LOCKED  {to_words(hold.trigger)} {about}".rstrip()
    return Text(f"{text}   {', '.join(hold.clauses)}   {hold.acknowledges} clears it{more}", _BAD, no_wrap=True)


def _asked(table: TablePicture) -> Text:
    if not table.prompts:
        return Text("No open prompts", _QUIET)
    prompt = table.prompts[0]
    more = f"   and {len(table.prompts) - 1} more" if len(table.prompts) > 1 else ""
    clauses = f"   {', '.join(prompt.clauses)}" if prompt.clauses else ""
    return Text(f"{prompt.role}: {to_words(prompt.kind)}?{clauses}{more}", "bold", no_wrap=True)
