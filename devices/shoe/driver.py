"""The shoe's driver: requests, commands, the release of identified cards. The common part is in devices/driver.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devices.cards import CARD_NUMBERS
from devices.driver import Driver
from devices.driver_events import LinkDown
from devices.edge_log import EDGE_LOG, EdgeLog, GetEdgeLog
from devices.shoe import messages as m
from devices.shoe.state import ReleaseDropped
from firmware_bridge.errors import BadMessage, CommandRefused

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Sequence

    from devices.shoe.state import DriverEvent
    from firmware_bridge.commands import Settled


class ShoeDriver(Driver):
    """Controls one shoe, automated or manual. Commands that its model lacks raise NotCapable and are not sent."""

    def __init__(self, on_event: Callable[[DriverEvent], None]) -> None:
        super().__init__(m.KIND, m.GetStatus(), m.Status, self._check_release)
        self._on_event = on_event
        self._releases: dict[int, m.ReleaseCards] = {}  # ordered in this session, and not answered
        self._drawn: dict[int, list[m.CardsReleased]] = {}  # by the id of a release of several drawn cards: its answers

    def _check_release(self, event: DriverEvent) -> None:
        """Publish an event. Card values that nobody ordered, or that are impossible, are dropped; the session ends."""
        if isinstance(event, m.CardsReleased):
            wrong = _objection(self._releases.pop(event.command, None), event)
            if wrong:
                self._on_event(ReleaseDropped(wrong))
                self.require_link().fail(BadMessage(f"{self.name}: {wrong}"))
                return
            gathered = self._drawn.pop(event.command, None)
            if gathered is not None:
                gathered.append(event)
                return
        elif isinstance(event, LinkDown):
            self._releases.clear()  # a session's releases do not outlive it
            self._drawn.clear()
        self._on_event(event)

    # --- requests --------------------------------------------------------------------------------------------

    async def status(self) -> m.Status:
        """Return the state of the machine and its card counts."""
        return await self.ask(m.GetStatus(), m.Status)

    async def sensors(self) -> m.Sensors:
        """Return the sensor levels and motor currents."""
        return await self.ask(m.GetSensors(), m.Sensors)

    async def transits(self) -> m.Transits:
        """Return the transit-time statistics."""
        return await self.ask(m.GetTransits(), m.Transits)

    async def edge_log(self) -> EdgeLog:
        """Return the latest sensor edges, and the motor currents when motion halted."""
        self._require_capability(EDGE_LOG, "report its edge log")
        return await self.ask(GetEdgeLog(), EdgeLog)

    # --- commands: each is executed at most once ----------------------------------------------------------------

    def load(self, command: int) -> asyncio.Task[Settled]:
        """Load the block and count it; on a manual shoe, start counting the cards drawn by hand."""
        return self.actuate(m.Load(command), command)

    def dispense(self, command: int, cards: int) -> asyncio.Task[Settled]:
        """Dispense a stack into the slot; returns when it is there. The Dispensed event has its count."""
        self._require_capability(m.DISPENSES, "dispense stacks")
        if not 1 <= cards <= m.MAX_STACK:
            raise CommandRefused(
                f"a stack has 1 to {m.MAX_STACK} cards, not {cards}; nothing was sent", m.Reason.STACK_SIZE
            )
        return self.actuate(m.Dispense(command, cards), command)

    def count_stub(self, command: int) -> asyncio.Task[Settled]:
        """Bring out and count the stub. On a manual shoe people do; the Stub event comes when the well is empty."""
        return self.actuate(m.CountStub(command), command)

    def start_round(self, command: int) -> asyncio.Task[Settled]:
        """Count the cards drawn by hand from now on as one round."""
        self._require_capability(m.DRAWS, "count rounds that hands draw")
        return self.actuate(m.StartRound(command), command)

    def release_cards(self, command: int, dealt_by: int, card: int = 0) -> asyncio.Task[Settled]:
        """Order the values of a stack, by its Dispense, or of a card of a round, by its StartRound and its number.

        The CardsReleased event comes before the end. Nothing moves, so what was lost may be ordered again.
        """
        self._require_capability(m.IDENTIFIES, "identify cards")
        order = m.ReleaseCards(command, dealt_by, card)
        task = self.actuate(order, command)
        self._releases[command] = order
        return task

    def release_drawn(self, command: int, dealt_by: int, cards: Sequence[int]) -> Awaitable[Settled]:
        """Order the values of several cards of a round, each with an id of its own from `command` on.

        One CardsReleased event, with card 0, has all of them in ascending order: not which of them was drawn when.
        """
        gathered: list[m.CardsReleased] = []
        return self._release_rest(self._release_one(command, dealt_by, cards[0], gathered), dealt_by, cards, gathered)

    def _release_one(
        self, command: int, dealt_by: int, card: int, gathered: list[m.CardsReleased]
    ) -> asyncio.Task[Settled]:
        task = self.release_cards(command, dealt_by, card)
        self._drawn[command] = gathered
        return task

    async def _release_rest(
        self, first: asyncio.Task[Settled], dealt_by: int, cards: Sequence[int], gathered: list[m.CardsReleased]
    ) -> Settled:
        """Order the other cards one after the other; publish them all once the last was answered."""
        settled = await first
        for at, card in enumerate(cards[1:], 1):
            await self._release_one(settled.command + at, dealt_by, card, gathered)
        if len(gathered) == len(cards):
            values = bytes(sorted(value for part in gathered for value in part.cards))
            unread = sum(part.unread for part in gathered)
            self._on_event(m.CardsReleased(settled.command, dealt_by, 0, values, unread))
        return settled

    def stop(self, command: int) -> asyncio.Task[Settled]:
        """Stop all motion at once: sent before queued messages; queued commands are revoked."""
        return self.actuate(m.Stop(command), command, urgent=True)

    def self_test(self, command: int) -> asyncio.Task[Settled]:
        """Test lamps, sensors and motors."""
        return self.actuate(m.SelfTest(command), command)

    def clear_jam(self, command: int) -> asyncio.Task[Settled]:
        """After the path was cleared by hand: check it and empty the well into the slot."""
        return self.actuate(m.ClearJam(command), command)

    def jog(self, command: int, motor: m.Motor, *, reverse: bool = False) -> asyncio.Task[Settled]:
        """Turn one motor a little. The Jogged event has its current, and whether it turned."""
        self._require_capability(m.JOGS, "turn one motor by itself")
        return self.actuate(m.Jog(command, motor, reverse), command)

    def reset(self, command: int) -> asyncio.Task[Settled]:
        """Restart the firmware; the link drops and comes back with a new boot id."""
        return self.actuate(m.Reset(command), command)


def _objection(order: m.ReleaseCards | None, event: m.CardsReleased) -> str:
    """Return what is wrong with card values that arrived; empty if they are what was ordered. Never names a card."""
    if order is None or (order.dealt_by, order.card) != (event.dealt_by, event.card):
        return "it sent card values that nobody ordered"
    cards, most = list(event.cards), 1 if order.card else m.MAX_STACK
    if cards != sorted(cards) or not all(card in CARD_NUMBERS for card in cards):
        return "it sent card values that are not in ascending order, or are no cards"
    if not 1 <= len(cards) + event.unread <= most:
        return f"it sent {len(cards)} values and {event.unread} unread for at most {most}"
    return ""
