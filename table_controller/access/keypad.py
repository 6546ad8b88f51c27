"""The dealer keypad: shows what the dealer must enter, and submits the entries as answers of the dealer."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from devices.driver_events import Reported
from devices.keypad import messages as m
from devices.keypad.driver import KeypadDriver
from devices.keypad.state import check_freshness, seats_of
from firmware_bridge.errors import PitboxError
from table_controller.access.request_rules import to_event
from table_controller.access.requests import AnswerRequest, NoMoreBetsRequest
from table_controller.controller.slot import slots_of
from table_controller.table import events as ev
from table_controller.table import state_machines as mc

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from devices.kinds import DriverEvent
    from table_controller.controller.controller import Controller, DurableStep
    from table_controller.controller.slot import AnySlot
    from table_controller.table.decisions import Prompt

log = logging.getLogger(__name__)

# Kind of prompt -> prompt of the keypad; the keypad shows the first open one.
_PROMPTS: Final = {"seats": m.KeypadPrompt.SEATS, "stub": m.KeypadPrompt.STUB_COUNT, "chips": m.KeypadPrompt.CHIP_COUNT}
# Prompts that only a panel or the control socket can answer: the keypad shows where. It has no keys for cards, so a hit
# is never claimed at it, nor is a bet lost there.
_ELSEWHERE: Final = ("progressive",)
_TEXTS: Final = {
    "seats": ["SEATS WITH A WAGER", "press seats", "then CONFIRM"],
    "stub": ["CARDS IN THE STUB", "type the count", "then ENTER"],
    "chips": ["PROGRESSIVE CHIPS", "type the count", "then ENTER"],
    "progressive": ["PROGRESSIVE: SEAT {seat}", "enter its hand", "at the panel"],
}


class Keypad:
    """All keypads of one table. `dealer` returns the signed-on dealer; `next_id` returns command ids.

    Without a signed-on dealer only the lock-out works: closing bets is never refused.
    """

    def __init__(
        self,
        controller: Controller,
        slots: Mapping[str, AnySlot],
        dealer: Callable[[], ev.Person | None],
        next_id: Callable[[], int],
    ) -> None:
        self._controller = controller
        self._pads = slots_of(slots, KeypadDriver)
        self._dealer = dealer
        self._fresh = next_id
        self._asked: dict[str, tuple[int, int]] = {}  # slot -> (prompt, id of the Show command for it)
        self._lit: dict[str, frozenset[m.Lamp]] = {}
        self._busy: dict[str, asyncio.Task[None]] = {}
        self._opened: float | None = None  # when the bets of this round were opened in this start
        if self._pads:
            controller.followers.append(self._step)

    # --- display ------------------------------------------------------------------------------------------------------

    def _step(self, _: DurableStep) -> None:
        betting = self._controller.table.state.round.state == mc.BETTING
        if not betting:
            self._opened = None
        elif self._opened is None:
            self._opened = asyncio.get_running_loop().time()
        for name in self._pads:
            self._show(name)

    def _question(self) -> Prompt | None:
        open_ = self._controller.table.state.prompts.values()
        return next((prompt for kind in (*_PROMPTS, *_ELSEWHERE) for prompt in open_ if prompt.kind == kind), None)

    def _lamps(self) -> frozenset[m.Lamp]:
        state = self._controller.table.state
        lit = {
            m.Lamp.LOCK_OUT: state.round.state == mc.BETTING,
            m.Lamp.START_GAME: any(prompt.kind == "start_game" for prompt in state.prompts.values()),
            m.Lamp.ATTENTION: bool(state.holds),
        }
        return frozenset(lamp for lamp, on in lit.items() if on)

    def _show(self, name: str) -> None:
        if name in self._busy or not self._pads[name].view.connected or self._controller.halted is not None:
            return
        prompt = self._question()
        if self._asked.get(name, (0, 0))[0] != (prompt.id if prompt else 0) or self._lit.get(name) != self._lamps():
            self._busy[name] = asyncio.get_running_loop().create_task(self._order(name))

    async def _order(self, name: str) -> None:
        """Send commands until one keypad shows the current prompt and lamps; give up when one fails."""
        driver = self._pads[name].driver
        try:
            while True:
                prompt, lamps = self._question(), self._lamps()
                if self._asked.get(name, (0, 0))[0] != (prompt.id if prompt else 0):
                    number = self._fresh()
                    self._asked[name] = (prompt.id if prompt else 0, number)
                    kind, seat = (prompt.kind, prompt.seat) if prompt else ("", None)
                    lines = [line.format(seat=seat) for line in _TEXTS.get(kind, ())]
                    await driver.show(number, _PROMPTS.get(kind, m.KeypadPrompt.NOTHING), lines)
                elif self._lit.get(name) != lamps:
                    self._lit[name] = lamps
                    await driver.set_lamps(self._fresh(), *lamps)
                else:
                    return
        except PitboxError as error:
            log.warning("%s does not show the prompt: %s %s", name, error.code, error)
        finally:
            del self._busy[name]

    # --- entries ------------------------------------------------------------------------------------------------------

    def handle_device_event(self, slot: str, event: DriverEvent) -> None:
        """Handle an event of a keypad; ignore other devices."""
        if slot not in self._pads:
            return
        match event:
            case Reported():
                self._asked.pop(slot, None)
                self._lit.pop(slot, None)
                self._show(slot)
            case m.Pressed() | m.SeatsEntered() | m.CountEntered() if check_freshness(event) is not None:
                log.warning("%s: %s", slot, check_freshness(event))
            case m.Pressed(key=m.Key.LOCK_OUT):
                self._lock_out(slot, event)
            case m.Pressed(key=m.Key.START_GAME):
                self._start_game(slot)
            case m.SeatsEntered():
                self._entered(slot, event.asked, seats=seats_of(event))
            case m.CountEntered():
                self._entered(slot, event.asked, number=event.count)

    def _lock_out(self, slot: str, press: m.Pressed) -> None:
        """Close bets. A press has no age limit but must belong to this round: not from before the bets opened."""
        if self._opened is None or press.age_ms / 1000 > asyncio.get_running_loop().time() - self._opened:
            return
        self._controller.submit(to_event(NoMoreBetsRequest(), self._dealer() or ev.Person("dealer", slot), None))

    def _start_game(self, slot: str) -> None:
        for prompt in self._controller.table.state.prompts.values():
            if prompt.kind == "start_game":
                self._answer(slot, prompt)
                return

    def _entered(self, slot: str, asked: int, *, number: int | None = None, seats: tuple[int, ...] = ()) -> None:
        """Submit an entry, if it answers the prompt that the keypad showed."""
        question, show = self._asked.pop(slot, (0, 0))
        prompt = self._controller.table.state.prompts.get(question)
        if prompt is not None and asked == show and prompt.kind in _PROMPTS:
            self._answer(slot, prompt, number, seats)
        self._show(slot)  # show an open prompt again

    def _answer(self, slot: str, prompt: Prompt, number: int | None = None, seats: tuple[int, ...] = ()) -> None:
        who = self._dealer()
        if who is None:
            log.warning("%s: an entry was ignored because no dealer is signed on", slot)
            return
        answer = AnswerRequest(prompt=prompt.id, choice=prompt.choices[0], number=number, seats=seats)
        self._controller.submit(to_event(answer, who, None))

    def cancel(self) -> None:
        """Stop all displays; `close` waits for them."""
        for task in self._busy.values():
            task.cancel()

    async def close(self) -> None:
        """Stop all displays and wait."""
        self.cancel()
        if tasks := list(self._busy.values()):
            await asyncio.wait(tasks)
