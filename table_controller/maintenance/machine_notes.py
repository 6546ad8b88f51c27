"""Writes into the journal what documents need and the core does not: which machine is in a slot, doors, wrong decks.

The missing and extra cards of a rejected deck are asked for after the shuffler rejected it; such a deck is never dealt.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, NamedTuple

from devices.cards import CARD_NUMBERS, card_name
from devices.driver_events import Reported
from devices.kinds import CardPathDriver
from devices.shoe import messages as shoe
from devices.shuffler import messages as shuffler
from devices.shuffler.driver import ShufflerDriver
from firmware_bridge.errors import PitboxError
from table_controller.journal import records as rec
from table_controller.table.view import slot_label

if TYPE_CHECKING:
    from devices.kinds import DriverEvent
    from firmware_bridge.messages import DeviceHello
    from table_controller.controller.box import Box

log = logging.getLogger(__name__)


class NotedMachine(NamedTuple):
    """The newest note about the machine of a slot, and its record."""

    seq: int
    note: rec.Note


class MachineNotes:
    """The notes about the card-moving machines of one box. `machines`: the newest note of each slot in this start."""

    def __init__(self, box: Box) -> None:
        self._box = box
        self.machines: dict[str, NotedMachine] = {}
        self._asking: set[asyncio.Task[None]] = set()

    def cancel(self) -> None:
        """Stop asking at once."""
        for task in self._asking:
            task.cancel()

    async def close(self) -> None:
        """Stop asking."""
        self.cancel()
        await asyncio.gather(*self._asking, return_exceptions=True)

    def handle_device_event(self, slot: str, event: DriverEvent) -> None:
        """Note a machine that connected, a door, and what a rejected deck lacks."""
        match event:
            case Reported(hello=hello) if isinstance(self._box.slots[slot].driver, CardPathDriver):
                self._note_machine(slot, hello)
            case shuffler.Door() | shoe.Door():
                self._note_door(slot, is_open=event.open)
            case shuffler.Completed(rejected=True):
                task = asyncio.get_running_loop().create_task(self._ask_findings(slot))
                self._asking.add(task)
                task.add_done_callback(self._asking.discard)

    def _note_machine(self, slot: str, hello: DeviceHello) -> None:
        named = rec.MachineNamed(hello.kind, hello.model, hello.serial, hello.firmware)
        known = self.machines.get(slot)
        if known is not None and known.note.machine == named:
            return
        text = f"{slot_label(slot)} is a {named.model}, serial number {named.serial}, firmware {named.firmware}"
        note = rec.Note("machine", text, slot=slot, machine=named)
        if self._box.controller is not None:
            self.machines[slot] = NotedMachine(self._box.controller.record_note(note), note)

    def _note_door(self, slot: str, *, is_open: bool) -> None:
        """Note a door; in a return to service the core records it as evidence."""
        controller = self._box.controller
        if controller is not None and controller.table.state.slots[slot].return_procedure is None:
            self._box.note(rec.Note("door", f"the door was {'opened' if is_open else 'closed'}", slot=slot))

    async def _ask_findings(self, slot: str) -> None:
        driver = self._box.slots[slot].driver
        assert isinstance(driver, ShufflerDriver), f"a {driver.name} checks no deck"
        try:
            reply = await driver.findings()
        except PitboxError as error:
            log.warning("%s did not answer what the rejected deck lacks: %s", slot, error)
            return
        if not isinstance(reply, shuffler.NoFindings):
            cards = rec.CardsFound(_names(reply.missing), _names(reply.extra))
            self._box.note(rec.Note("deck_check", "the deck was rejected", slot=slot, deck_check=cards))


def _names(cards: bytes | list[int]) -> tuple[str, ...]:
    """Return cards in the notation of the rulebook, from card numbers or from a count for each card."""
    if isinstance(cards, bytes):
        return tuple(card_name(card) for card in cards)
    return tuple(card_name(card) for card in CARD_NUMBERS for _ in range(cards[card]))
