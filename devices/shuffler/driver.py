"""The shuffler's driver: questions, actuations and typed events over a link that its supervisor gives it.

It opens no port, keeps no rule, and decides nothing: whoever calls an actuation has a permit for it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, TypeVar

from devices.report import LinkDown, LinkUp, Misread, Reported
from devices.shuffler import messages as m
from devices.shuffler.state import GivenOut
from firmware_bridge.commands import Commands, GetReport, Report, Settled
from firmware_bridge.errors import BadMessage, LinkError, NotSent, OutcomeUnknown, PitboxError
from firmware_bridge.messages import decoder

if TYPE_CHECKING:
    from collections.abc import Callable

    from devices.shuffler.state import DriverEvent
    from firmware_bridge.link import Link
    from firmware_bridge.messages import DeviceHello, Message

DECODER: Final = decoder(m.ToHost)

# A question is answered from the firmware's memory (s).
_PATIENCE: Final = 0.3

_Answer = TypeVar("_Answer")


class ShufflerDriver:
    """Talks to one shuffler. `on_event` is called synchronously, in the order of the wire."""

    def __init__(self, on_event: Callable[[DriverEvent], None]) -> None:
        self.reported: Reported | None = None
        self._on_event = on_event
        self._link: Link | None = None
        self._down: PitboxError | None = None
        self._commands = Commands()
        self._first_word: asyncio.Future[Reported] | None = None

    # --- the supervisor's side -------------------------------------------------------------------------------

    def link_up(self, link: Link, hello: DeviceHello) -> None:
        """Take a fresh link; read the device's report before anything else."""
        self._link, self._down = link, None
        link.on_event = self._take_event
        self._on_event(LinkUp(hello))
        self._read_report(link, hello)

    def link_down(self, cause: PitboxError) -> None:
        """Release everybody who waits, with the cause."""
        self._link, self.reported, self._down = None, None, cause
        link_error = cause if isinstance(cause, LinkError) else LinkError(str(cause))
        self._commands.link_lost(link_error)
        if self._first_word is not None and not self._first_word.done():
            self._first_word.set_exception(cause)
        self._on_event(LinkDown(cause))

    def _read_report(self, link: Link, hello: DeviceHello) -> None:
        """Ask for report and status in one breath; a device that does not answer them is of no use."""
        report = link.request(GetReport(), _PATIENCE)
        status = link.request(m.GetStatus(), _PATIENCE)

        def both(_: asyncio.Future[Any]) -> None:
            if report.cancelled() or status.cancelled() or link.down is not None:
                return
            failed = report.exception() or status.exception()
            if failed is not None:
                link.fail(failed if isinstance(failed, PitboxError) else LinkError(str(failed)))
                return
            first, inventory = report.result(), status.result()
            if not isinstance(first, Report) or not isinstance(inventory, m.Status):
                link.fail(BadMessage(f"the first report was {first!r}, {inventory!r}"))
                return
            self._tell(Reported(hello, first, inventory))

        asyncio.gather(report, status, return_exceptions=True).add_done_callback(both)

    def _tell(self, reported: Reported) -> None:
        self.reported = reported
        if self._first_word is not None and not self._first_word.done():
            self._first_word.set_result(reported)
        self._on_event(reported)

    def _take_event(self, message: Any) -> None:
        if isinstance(message, Settled):
            self._commands.settled(message)
        command = getattr(message, "command", None)
        if command is not None:
            self._commands.heard_of(command, asyncio.get_running_loop().time())
        self._on_event(message)

    # --- questions -------------------------------------------------------------------------------------------

    async def ready(self) -> Reported:
        """Wait for the device's first report; raises the cause if the link fails first."""
        if self.reported is not None:
            return self.reported
        if self._down is not None:
            raise self._down
        if self._first_word is None or self._first_word.done():
            self._first_word = asyncio.get_running_loop().create_future()
        return await asyncio.shield(self._first_word)

    async def report(self) -> Reported:
        """Read the device anew, as after an acknowledgement; the listener is told too."""
        hello = (await self.ready()).hello
        first = await self._ask(GetReport(), Report)
        reported = Reported(hello, first, await self.status())
        self._tell(reported)
        return reported

    async def status(self) -> m.Status:
        """What the machine does and what it believes is inside."""
        return await self._ask(m.GetStatus(), m.Status)

    async def sensors(self) -> m.Sensors:
        """Sensor levels and motor currents."""
        return await self._ask(m.GetSensors(), m.Sensors)

    async def transits(self) -> m.Transits:
        """Transit-time statistics."""
        return await self._ask(m.GetTransits(), m.Transits)

    async def findings(self) -> m.Findings | m.NoFindings:
        """What is missing or extra in a rejected deck, if this machine can tell."""
        return await self._ask(m.GetFindings(), m.Findings, m.NoFindings)

    async def outcome(self, command: int) -> Settled:
        """Ask what became of a command; the way out of OutcomeUnknown. The listener is told the answer too."""
        answer = await self._commands.ask(self._need_link(), command)
        self._on_event(answer)
        return answer

    # --- actuations: each is done at most once -----------------------------------------------------------------

    async def shuffle(self, command: int) -> Settled:
        """Run one cycle; returns when it is complete. What came out is in the Completed event."""
        return await self._actuate(m.StartCycle(command))

    async def eject(self, command: int) -> Settled:
        """Give the deck out."""
        settled = await self._actuate(m.Eject(command))
        self._on_event(GivenOut(command))
        return settled

    async def stop(self, command: int) -> Settled:
        """Stop all motion at once: written now, before anything queued; queued actuations are revoked."""
        return await self._actuate(m.Stop(command), urgent=True)

    async def self_test(self, command: int) -> Settled:
        """Test lamps, sensors and motors."""
        return await self._actuate(m.SelfTest(command))

    async def set_mode(self, command: int, mode: m.Mode) -> Settled:
        """Choose SHUFFLE or SORT."""
        return await self._actuate(m.SetMode(command, mode))

    async def clear_jam(self, command: int) -> Settled:
        """After the path was cleared by hand: check it and empty the compartments."""
        return await self._actuate(m.ClearJam(command))

    async def reset(self, command: int) -> Settled:
        """Restart the firmware; the link goes down and comes back with a new boot id."""
        return await self._actuate(m.Reset(command))

    async def _actuate(self, message: m.Actuation, *, urgent: bool = False) -> Settled:
        try:
            return await self._commands.actuate(self._need_link(), message, message.command, urgent=urgent)
        except (OutcomeUnknown, asyncio.CancelledError):  # whoever stops waiting does not stop the machine
            self._on_event(Misread(message.command))
            raise

    async def _ask(self, question: Message, *answers: type[_Answer]) -> _Answer:
        reply = await self._need_link().request(question, _PATIENCE)
        if isinstance(reply, answers):
            return reply
        raise BadMessage(f"{question!r} was answered by {reply!r}")

    def _need_link(self) -> Link:
        if self._link is None:
            raise NotSent(f"the shuffler is not connected: {self._down or 'not yet'}") from self._down
        return self._link
