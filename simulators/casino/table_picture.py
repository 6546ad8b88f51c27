"""Draws a whole table for a terminal: seats, card paths, meter, holds and prompts.

It draws what the box knows, never the simulated truth, so it would look the same for a real table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

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
from table_controller.table.dealing import places_dealt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import RenderableType

    from table_controller.table.core import Table
    from table_controller.table.state import SeatBets

WIDTH: Final = 112
# Number of last events that are shown.
EVENTS: Final = 6
_SEATS: Final = range(1, 7)
_DEALER: Final = 0
_BEFORE_THE_DEAL: Final = (mc.IDLE, mc.BETTING, mc.NO_MORE_BETS, mc.LOCKED, mc.STARTING_POSITION)
_GOOD, _BAD, _QUIET, _WARN = "green", "bold red", "dim", "yellow"
_NOTHING: Final = Text("·", _QUIET)


def draw_table(table: Table, views: Mapping[str, Any], recent: Sequence[Text], title: str) -> RenderableType:
    """Return the picture of a table as the box knows it. `views`: the view of each device, by slot."""
    parts: list[RenderableType] = [_head(table), Text(), _places(table), Text(), _devices(table, views)]
    if table.context.has_progressive:
        parts += [Text(), _meter(table)]
    parts += [Text(), _locked(table), _asked(table), Text(), *list(recent)[-EVENTS:]]
    parts += [Text()] * (EVENTS - min(EVENTS, len(recent)))  # the picture keeps its height
    return Panel(Group(*parts), title=title, title_align="left", border_style="blue", width=WIDTH)


def _head(table: Table) -> Text:
    round_ = table.state.round
    void = round_.state == mc.VOID
    text = Text.assemble(
        ("round ", _QUIET), (str(round_.number or "-"), "bold"), ("   ", ""),
        (to_words(round_.state), _BAD if void else "bold"), no_wrap=True,
    )  # fmt: skip
    for deck in table.state.decks.values():
        style = _GOOD if deck.verified else _BAD if deck.state in (mc.HELD, mc.REMOVED) else _WARN
        text.append("     deck ", _QUIET)
        text.append(f"{deck.name}: {to_words(deck.state)}", style)
    return text


# --- places ----------------------------------------------------------------------------------------------------------


def _places(table: Table) -> Grid:
    """Draw seats and dealer: starting position, wagers, bets, cards."""
    grid = Grid.grid(padding=(0, 1), pad_edge=False)
    for _ in range(len(_SEATS) + 2):
        grid.add_column(width=10, no_wrap=True)
    start = table.state.round.start
    first = None if start is None else (_DEALER if start == 1 else 8 - start)
    names = [*(f"seat {seat}" for seat in _SEATS), "dealer"]
    marked = [Text(f"▶{n}" if p == first else n, "bold cyan" if p == first else "bold") for p, n in _named(names)]
    grid.add_row("", *marked)
    grid.add_row(Text("wager", _QUIET), *(_wager(table, seat) for seat in _SEATS), "")
    if table.context.has_progressive:
        seats = table.state.progressive.seats
        grid.add_row(Text("bet", _QUIET), *(_bet(seats.get(seat)) for seat in _SEATS), "")
    grid.add_row(Text("cards", _QUIET), *(_cards(table, place) for place in (*_SEATS, _DEALER)))
    return grid


def _named(names: list[str]) -> list[tuple[int, str]]:
    return list(zip((*_SEATS, _DEALER), names, strict=True))


def _wager(table: Table, seat: int) -> Text:
    round_ = table.state.round
    if seat in round_.dead:
        return Text("returned", _WARN)
    if seat in round_.settled:
        return Text("settled", _GOOD)
    return Text(round_.decided.get(seat, "yes")) if seat in round_.seats else _NOTHING


def _bet(bets: SeatBets | None) -> Text:
    if bets is None:
        return _NOTHING
    if bets.latched:
        shown = {True: ("● accepted" if bets.lit else "● latched", _GOOD), False: ("no bet", _QUIET)}
        return Text(*shown.get(bets.bet, ("? undecided", _BAD)))  # type: ignore[arg-type]
    return Text("◌ sensed", _WARN) if bets.placed else Text("open", _QUIET)


def _cards(table: Table, place: int) -> Text:
    round_ = table.state.round
    if round_.state in _BEFORE_THE_DEAL or not (round_.dealt or round_.in_slot is not None or round_.to_deal):
        return _NOTHING
    if place == round_.in_slot:
        return Text("in slot", "cyan")
    if place in round_.to_deal:
        return Text("waits", _QUIET)
    return (
        Text("▮" * table.context.edition.hand.first_deal, "cyan") if place in places_dealt(table.context) else _NOTHING
    )


# --- machines --------------------------------------------------------------------------------------------------------


def _devices(table: Table, views: Mapping[str, Any]) -> Grid:
    grid = Grid.grid(padding=(0, 1), pad_edge=False)
    for width in (11, 12, 82):
        grid.add_column(width=width, no_wrap=True)
    many: dict[str, list[str]] = {}
    for name, slot in table.state.slots.items():
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


def _path(table: Table, view: Any) -> Text:
    if isinstance(view, ShufflerView):
        return Text.assemble(*draw_path(view, table.context.edition.cards.count))
    if isinstance(view, ShoeView):
        return Text.assemble(*draw_shoe(view, by_hand=table.state.dealing != "automated_shoe"))
    return Text("")


def _meter(table: Table) -> Text:
    meters = table.state.money.book.meters
    text = Text.assemble(("meter ", _QUIET), (format_dollars(meters.current), "bold green"), ("   reserve ", _QUIET))
    text.append(format_dollars(meters.reserve))
    if meters.pending:
        text.append(f"   pending {format_dollars(meters.pending)}", "bold yellow")
    return text


# --- people ----------------------------------------------------------------------------------------------------------


def _locked(table: Table) -> Text:
    """Draw the first hold, with its clauses and the role that clears it."""
    holds = list(table.state.holds.values())
    if not holds:
        return Text("No holds", _GOOD)
    hold = holds[0]
    more = f"   and {len(holds) - 1} more" if len(holds) > 1 else ""
    about = " ".join(part for part in (hold.slot, hold.deck and f"deck {hold.deck}") if part)
    text = f"LOCKED  {to_words(hold.trigger)} {about}".rstrip()
    return Text(f"{text}   {', '.join(hold.clauses)}   {hold.acknowledges} clears it{more}", _BAD, no_wrap=True)


def _asked(table: Table) -> Text:
    prompts = list(table.state.prompts.values())
    if not prompts:
        return Text("No open prompts", _QUIET)
    prompt = prompts[0]
    more = f"   and {len(prompts) - 1} more" if len(prompts) > 1 else ""
    clauses = f"   {', '.join(prompt.clauses)}" if prompt.clauses else ""
    return Text(f"{prompt.role}: {to_words(prompt.kind)}?{clauses}{more}", "bold", no_wrap=True)
