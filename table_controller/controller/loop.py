"""The single writer: `submit` is the only caller of `step`, and what was decided is carried out in its order.

Fail-safe commands are written in the call that decided them. Permissive ones are asked for once more at the moment of
sending. So far nothing is durable: the journal will stand between the two.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, Final, cast

from devices.report import Reported
from firmware_bridge.errors import PitboxError
from table_controller.controller.actuate import begin, ended
from table_controller.controller.translate import translate
from table_controller.table import events as ev
from table_controller.table.decisions import Command, Deadline
from table_controller.table.state import HANDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.controller.slot import Slot
    from table_controller.table.core import Table
    from table_controller.table.decisions import Actuation, Decision

# Permits that are asked of a resource; these acts concern a seat's sensor only, and its round was opened by permit.
_SEAT_ACTS: Final = ("open_bets", "light", "return_to_service")


class Controller:
    """Joins the core of one table with its slots. `on_step` sees every event with its decisions, in order."""

    def __init__(self, table: Table, on_step: Callable[[ev.Event, list[Decision]], None]) -> None:
        self.table = table
        self.slots: dict[str, Slot[Any, Any]] = {}
        self._on_step = on_step
        self._waiting: deque[ev.Event] = deque()
        self._stepping = False
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Future[Any]] = set()
        self._loop = asyncio.get_running_loop()

    def listener(self, name: str) -> Callable[[Any], None]:
        """Return who takes a slot's events."""
        return lambda event: self._told(name, event)

    def _told(self, name: str, event: Any) -> None:
        slot = self.slots[name]
        for each in translate(name, slot.kind.name, slot.kind.trigger(event), event):
            self.submit(each)
        if isinstance(event, Reported):
            self._ask_about_unknown(name)

    def submit(self, event: ev.Event) -> None:
        """Take an event: synchronously, one after the other, never inside another one's step."""
        self._waiting.append(event)
        if self._stepping:
            return
        self._stepping = True
        try:
            while self._waiting:
                self._step(self._waiting.popleft())
        finally:
            self._stepping = False

    def _step(self, event: ev.Event) -> None:
        decisions = self.table.step(event)
        for decision in decisions:  # what makes things safe comes before everything else
            if isinstance(decision, Command) and decision.safe:
                self._send(decision)
        self._on_step(event, decisions)
        for decision in decisions:
            if isinstance(decision, Command) and not decision.safe:
                self._send_if_still_permitted(decision)
            elif isinstance(decision, Deadline):
                self._set_timer(decision)

    def _send_if_still_permitted(self, command: Command) -> None:
        """Ask once more, at the moment of sending: the command itself is no reason against itself."""
        if command.act in _SEAT_ACTS:
            self._send(command)
            return
        issued = self.table.state.commands.pop(command.id)
        deck = issued.deck or self.table.deck_at(command.slot) or self._on_the_way(command)
        reasons = self.table.permit(cast("Actuation", command.act), command.slot, deck, cards=command.number)
        self.table.state.commands[command.id] = issued
        if reasons:
            self.submit(ev.CommandEnded(command.id, "revoked"))
        else:
            self._send(command)

    def _on_the_way(self, command: Command) -> str | None:
        """The deck that a machine without one is about to get, or that the round in hand is dealt from."""
        state = self.table.state
        if command.act == "load":
            return next((deck.name for deck in state.decks.values() if deck.place == HANDS), None)
        return state.round.deck

    def _send(self, command: Command) -> None:
        slot = self.slots[command.slot]
        try:
            work = asyncio.ensure_future(begin(slot.kind.name, slot.driver, command))
        except PitboxError as failed:
            self._waiting.append(ended(command.id, failed))
            return
        self._tasks.add(work)
        work.add_done_callback(lambda done: self._ended(command, done))

    def _ended(self, command: Command, done: asyncio.Future[Any]) -> None:
        self._tasks.discard(done)
        if done.cancelled():
            return
        error = done.exception()
        if error is not None and not isinstance(error, PitboxError):
            raise error
        self.submit(ended(command.id, error))

    def _ask_about_unknown(self, name: str) -> None:
        """A device is back: ask what became of the commands whose outcome nobody knows."""
        for id_, issued in self.table.state.commands.items():
            if issued.slot == name and issued.unknown:
                work = asyncio.ensure_future(self.slots[name].driver.outcome(id_))
                self._tasks.add(work)
                work.add_done_callback(lambda done, id_=id_: self._learned(id_, done))

    def _learned(self, command: int, done: asyncio.Future[Any]) -> None:
        self._tasks.discard(done)
        if done.cancelled() or done.exception() is not None:
            return
        outcome = {"DONE": "done", "FAILED": "failed", "REFUSED": "failed"}.get(done.result().outcome.name)
        if outcome is not None:
            self.submit(ev.CommandEnded(command, outcome, done.result().reason))  # type: ignore[arg-type]

    def _set_timer(self, deadline: Deadline) -> None:
        old = self._timers.pop(deadline.timer, None)
        if old is not None:
            old.cancel()
        if deadline.seconds is not None:
            due = lambda: self._due(deadline.timer)  # noqa: E731
            self._timers[deadline.timer] = self._loop.call_later(deadline.seconds, due)

    def _due(self, timer: str) -> None:
        self._timers.pop(timer, None)
        self.submit(ev.Due(timer))

    async def close(self) -> None:
        """Stop listening to time and commands; the slots are whoever's who opened them."""
        for handle in self._timers.values():
            handle.cancel()
        self._timers.clear()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
