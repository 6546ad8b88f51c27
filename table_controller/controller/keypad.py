"""The dealer's keypad: shows what the dealer is asked to enter, and takes keys as the dealer's word. No rule here."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

from devices.keypad import messages as m
from devices.keypad.state import seats_of, stale
from devices.report import Reported
from firmware_bridge.errors import PitboxError
from table_controller.table import events as ev
from table_controller.table import machines as mc

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from table_controller.controller.loop import Controller, Step
    from table_controller.controller.slot import Slot
    from table_controller.table.decisions import Prompt

log = logging.getLogger(__name__)

# Which questions a keypad can ask, and what it asks then; the first that stands open is asked.
_ASKS: Final = {"seats": m.Prompt.SEATS, "stub": m.Prompt.STUB_COUNT, "chips": m.Prompt.CHIP_COUNT}
_WORDS: Final = {
    "seats": ["SEATS WITH A WAGER", "press seats", "then CONFIRM"],
    "stub": ["CARDS IN THE STUB", "type the count", "then ENTER"],
    "chips": ["PROGRESSIVE CHIPS", "type the count", "then ENTER"],
}


class Keypad:
    """Every keypad of one table. `dealer` says who is signed on; `fresh` gives commands their numbers.

    Only the lock-out is taken when nobody is signed on: whoever closes bets is never sent away.
    """

    def __init__(
        self,
        controller: Controller,
        slots: Mapping[str, Slot[Any, Any]],
        dealer: Callable[[], ev.Person | None],
        fresh: Callable[[], int],
    ) -> None:
        self._controller = controller
        self._pads = {name: slot for name, slot in slots.items() if slot.kind.name == m.KIND}
        self._dealer = dealer
        self._fresh = fresh
        self._asked: dict[str, tuple[int, int]] = {}  # slot -> (question, the Show that asks it)
        self._lit: dict[str, frozenset[m.Lamp]] = {}
        self._busy: dict[str, asyncio.Task[None]] = {}
        self._opened: float | None = None  # when this round's bets were opened, if this box has seen it
        if self._pads:
            controller.followers.append(self._step)

    # --- what it shows ------------------------------------------------------------------------------------------------

    def _step(self, _: Step) -> None:
        betting = self._controller.table.state.round.state == mc.BETTING
        if not betting:
            self._opened = None
        elif self._opened is None:
            self._opened = asyncio.get_running_loop().time()
        for name in self._pads:
            self._show(name)

    def _question(self) -> Prompt | None:
        open_ = self._controller.table.state.prompts.values()
        return next((prompt for kind in _ASKS for prompt in open_ if prompt.kind == kind), None)

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
        wanted = self._question()
        if self._asked.get(name, (0, 0))[0] != (wanted.id if wanted else 0) or self._lit.get(name) != self._lamps():
            self._busy[name] = asyncio.get_running_loop().create_task(self._order(name))

    async def _order(self, name: str) -> None:
        """Bring one keypad to what it must show, until it shows that; one that fails is tried when it is back."""
        driver = self._pads[name].driver
        try:
            while True:
                wanted, lamps = self._question(), self._lamps()
                if self._asked.get(name, (0, 0))[0] != (wanted.id if wanted else 0):
                    number = self._fresh()
                    self._asked[name] = (wanted.id if wanted else 0, number)
                    kind = wanted.kind if wanted else ""
                    await driver.show(number, _ASKS.get(kind, m.Prompt.NOTHING), _WORDS.get(kind, []))
                elif self._lit.get(name) != lamps:
                    self._lit[name] = lamps
                    await driver.set_lamps(self._fresh(), *lamps)
                else:
                    return
        except PitboxError as error:
            log.warning("%s does not show what is asked: %s %s", name, error.code, error)
        finally:
            del self._busy[name]

    # --- what it tells ------------------------------------------------------------------------------------------------

    def told(self, slot: str, event: Any) -> None:
        """Take what a keypad tells, if it is one."""
        if slot not in self._pads:
            return
        match event:
            case Reported():
                self._asked.pop(slot, None)
                self._lit.pop(slot, None)
                self._show(slot)
            case m.Pressed() | m.SeatsEntered() | m.CountEntered() if stale(event) is not None:
                log.warning("%s: %s", slot, stale(event))
            case m.Pressed(key=m.Key.LOCK_OUT):
                self._lock_out(slot, event)
            case m.Pressed(key=m.Key.START_GAME):
                self._start_game(slot)
            case m.SeatsEntered():
                self._entered(slot, event.asked, seats=seats_of(event))
            case m.CountEntered():
                self._entered(slot, event.asked, number=event.count)

    def _lock_out(self, slot: str, press: m.Pressed) -> None:
        """A lock-out has no age, but it must be of this round: one that was pressed before the bets opened is not."""
        if self._opened is None or press.age_ms / 1000 > asyncio.get_running_loop().time() - self._opened:
            return
        self._controller.submit(ev.NoMoreBets(self._dealer() or ev.Person("dealer", slot)))

    def _start_game(self, slot: str) -> None:
        for prompt in self._controller.table.state.prompts.values():
            if prompt.kind == "start_game":
                self._answer(slot, prompt)
                return

    def _entered(self, slot: str, asked: int, *, number: int | None = None, seats: tuple[int, ...] = ()) -> None:
        """An entry answers the Show that asked for it; to any other it is no answer."""
        question, show = self._asked.pop(slot, (0, 0))
        prompt = self._controller.table.state.prompts.get(question)
        if prompt is not None and asked == show:
            self._answer(slot, prompt, number, seats)
        self._show(slot)  # what is still asked is shown again

    def _answer(self, slot: str, prompt: Prompt, number: int | None = None, seats: tuple[int, ...] = ()) -> None:
        who = self._dealer()
        if who is None:
            log.warning("%s: an entry, and no dealer is signed on", slot)
            return
        self._controller.submit(ev.Answer(prompt.id, prompt.choices[0], who, number, seats))

    def cancel(self) -> None:
        """Show nothing any more; `close` waits until nothing runs."""
        for task in self._busy.values():
            task.cancel()

    async def close(self) -> None:
        """Show nothing any more."""
        self.cancel()
        if tasks := list(self._busy.values()):
            await asyncio.wait(tasks)
