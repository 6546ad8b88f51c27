"""The demo: a whole table played live, with faults and how they are resolved.

Everything drawn comes from steps on the box's disk; the simulated truth appears only in the summary.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from simulators.casino import fault_schedule
from simulators.casino.fault_schedule import TABLE_SLOT, Mishap
from simulators.casino.service_table import ServiceTable
from simulators.casino.soak import SoakTable
from simulators.casino.table_layout import table_slots
from simulators.casino.table_picture import EVENTS, draw_table
from table_controller.journal.record_text import to_words
from table_controller.ledger.money import format_dollars
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import (
    BetAccepted,
    Finding,
    HitClaimed,
    HitRebooked,
    HoldCleared,
    HoldOpened,
    StateChanged,
    WagersReturned,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulators.casino.fault_schedule import FaultLevel
    from simulators.casino.soak import SoakFigures
    from simulators.casino.table import CasinoTable
    from table_controller.cli.render.screen import Screen
    from table_controller.table.decisions import Decision

# Interval between pictures (s): short enough for cards, long enough for a small computer.
_EVERY: Final = 0.1


class DemoTable(SoakTable):
    """A soak table that is also shown; a power cut kills the process of the box."""

    def __init__(self, game: str, seed: int, mishaps: Sequence[Mishap], casino: CasinoTable, show: DemoShow) -> None:
        super().__init__(game, seed, mishaps, lambda *_, **__: casino)
        self._show = show

    def _happen(self, casino: CasinoTable, mishap: Mishap) -> None:
        self._show.show_mishap(mishap)
        if isinstance(casino, ServiceTable) and mishap.fault.startswith("box_power_cut"):
            self.figures.mishaps["box_power_cut"] += 1
            casino.cut()
        else:
            super()._happen(casino, mishap)


# Mishaps of a short demo: round, second of the round, slot, fault.
_TOUR: Final = (
    Mishap(1, 12.0, "shuffler.1", "jam:segment=lift,card=27"),
    Mishap(2, 1.5, TABLE_SLOT, "card_falls"),
    Mishap(4, 6.0, "shoe.1", "jam:segment=exit,card=3"),
    Mishap(5, 14.0, TABLE_SLOT, "box_power_cut:at=sync,points=1"),
)


def choose_mishaps(game: str, seed: int, rounds: int, level: FaultLevel) -> list[Mishap]:
    """Return the mishaps of a demo: the fixed tour first, then drawn ones, without changes of the clock."""
    is_automated = table_slots(game)["shoe.1"] == "shoe"
    tour = [mishap for mishap in _TOUR if is_automated or mishap.slot != "shoe.1"] if level == "some" else []
    drawn = fault_schedule.draw_schedule(game, seed, rounds, level)
    later = [mishap for mishap in drawn if mishap.round > (tour[-1].round if tour else 0)]
    return [*tour, *(mishap for mishap in later if not mishap.fault.startswith("clock_step"))]


class DemoShow:
    """Draws one table: a live picture on a terminal, lines of events elsewhere."""

    def __init__(self, casino: CasinoTable, screen: Screen, title: str) -> None:
        self._casino = casino
        self._screen = screen
        self._title = title
        self._recent: list[Text] = []
        self._drawing: asyncio.Task[None] | None = None
        self._holds: dict[int, str] = {}
        casino.watchers.append(self._step)

    def show_mishap(self, mishap: Mishap) -> None:
        """Show a mishap, before the box knows it."""
        where = "at the table" if mishap.slot == TABLE_SLOT else f"in {mishap.slot}"
        self._add_line(Text(f"⚡ {to_words(mishap.fault.partition(':')[0])} {where}", "bold yellow"))

    def _step(self, event: ev.Event, decisions: list[Decision]) -> None:
        for line in self._lines(event, decisions):
            self._add_line(line)

    def _add_line(self, line: Text) -> None:
        line.no_wrap = True
        self._recent = [*self._recent, line][-EVENTS:]
        if not self._screen.is_live:
            self._screen.line(line.plain, str(line.style))

    def _lines(self, event: ev.Event, decisions: list[Decision]) -> Iterator[Text]:
        number = self._casino.controller.table.state.round.number
        if isinstance(event, ev.BoxStarted):
            yield Text(f"the box starts (boot {event.boot}); no machine moves before all have reported", "cyan")
        for decision in decisions:
            match decision:
                case StateChanged(what="round", state=mc.BETTING):
                    yield Text(f"round {number}: bets are open")
                case StateChanged(what="round", state=mc.COMPLETE):
                    yield Text(f"round {number}: complete", "green")
                case BetAccepted():
                    yield Text(f"round {number}: bet of seat {decision.seat} accepted, on disk with its contribution")
                case HitClaimed():
                    amount = format_dollars(decision.fixed + decision.share)
                    yield Text(
                        f"round {number}: seat {decision.seat} claims {to_words(decision.hand)}, {amount}", "magenta"
                    )
                case HitRebooked():
                    amount = format_dollars(decision.fixed + decision.share)
                    yield Text(f"round {number}: seat {decision.seat} is booked again, {amount}", "magenta")
                case HoldOpened():
                    self._holds[decision.hold] = to_words(decision.trigger)
                    yield Text(f"found: {_about(decision)}", "bold red")
                    orders = ", ".join(to_words(outcome) for outcome in decision.outcomes)
                    yield Text(f"   the rule orders: {orders}   [{', '.join(decision.clauses)}]", "red")
                case WagersReturned(seat=None):
                    yield Text(f"round {number}: void, all wagers go back", "bold red")
                case Finding():
                    rounds = f": rounds {', '.join(map(str, decision.rounds))}" if decision.rounds else ""
                    yield Text(f"   {decision.text}{rounds}", "red")
                case HoldCleared():
                    what = self._holds.pop(decision.hold, "irregularity")
                    yield Text(f"cleared: {what}, acknowledged by {decision.credential}", "green")

    # --- drawing ------------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Start drawing, if the screen supports it."""
        if self._screen.is_live:
            self._drawing = asyncio.get_running_loop().create_task(self._draw_on())

    async def _draw_on(self) -> None:
        while True:
            self._screen.show(self.picture(), last=False)
            await asyncio.sleep(_EVERY)

    def picture(self) -> Any:
        """Return the picture of the table."""
        views = {name: slot.view for name, slot in self._casino.slots.items()}
        return draw_table(self._casino.picture(), views, self._recent, self._title)

    async def end(self) -> None:
        """Draw the last picture and keep it on the screen."""
        if self._drawing is not None:
            self._drawing.cancel()
            await asyncio.wait({self._drawing})
            self._screen.show(self.picture(), last=True)


def _about(finding: HoldOpened) -> str:
    parts = [
        to_words(finding.trigger),
        finding.slot,
        finding.deck and f"deck {finding.deck}",
        finding.seat and f"seat {finding.seat}",
    ]
    return " ".join(str(part) for part in parts if part)


def summary(day: SoakFigures, *, progressive: bool) -> list[Text]:
    """Return the summary of the demo, compared with the simulated truth."""
    lines = [
        Text(f"{day.rounds} rounds, {day.voids} void; {day.steps} steps in the journal; power cuts: {day.power_cuts}"),
        Text(f"mishaps: {sum(day.mishaps.values())}; irregularities found, by clause: {day.irregularities}"),
    ]
    lines += [Text(f"   {count:3d} x {clause}", "dim") for clause, count in sorted(day.clauses.items())]
    style = "bold red" if day.bad_after_check else "bold green"
    lines.append(Text(f"hands from a bad deck after the first check able to see it: {day.bad_after_check}", style))
    if progressive:
        lines.append(
            Text(f"{day.bets} bets; chips, bets and meter agreed in {day.reconciled} checks, to the micro-dollar")
        )
    return lines
