"""One regular session with a device, over the real link: requests, commands, and all received events."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from devices.conformance.requirements import RequirementFailed, evidence_text
from firmware_bridge.commands import Accepted, AskCommand, Outcome, Settled
from firmware_bridge.errors import LinkError, PitboxError

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.link import Link
    from firmware_bridge.messages import DeviceHello, Message

# How long (s) a device may take to reply: generous, because separate requirements check its times.
REPLY_TIMEOUT_S: Final = 2.0

_T = TypeVar("_T")


class CheckSession:
    """A session with one device. `events` has all received events in order."""

    def __init__(self, link: Link, hello: DeviceHello) -> None:
        self.link = link
        self.hello = hello
        self.events: list[Any] = []
        self.down: PitboxError | None = None
        self._news = asyncio.Event()
        link.on_event = self._on_event
        link.on_down = self._fallen

    async def ask(self, question: Message, *answers: type[_T]) -> _T:
        """Send a request; Failed unless the reply is one of `answers`."""
        reply = await self.link.request(question, REPLY_TIMEOUT_S)
        if not isinstance(reply, answers):
            names = " or ".join(answer.__name__ for answer in answers)
            raise RequirementFailed(f"{names} in answer to {question!r}", evidence_text(reply))
        return reply

    async def send_command(self, message: Message) -> Accepted | Settled:
        """Send a command; return the reply."""
        sent: Any = message
        reply: Any = await self.ask(message, Accepted, Settled)
        if reply.command != sent.command:
            raise RequirementFailed(f"a reply about command {sent.command}", repr(reply))
        return cast("Accepted | Settled", reply)

    async def ask_outcome(self, command: int) -> Settled:
        """Ask for the outcome of a command."""
        return await self.ask(AskCommand(command), Settled)

    async def wait_until(self, fits: Callable[[Any], bool], within: float, since: int = 0) -> Any:
        """Wait for a matching event, from index `since` in `events`; None if none comes."""
        loop = asyncio.get_running_loop()
        late = loop.time() + within
        while True:
            for event in self.events[since:]:
                if fits(event):
                    return event
            since = len(self.events)
            if self.down is not None:
                raise self.down
            self._news.clear()
            try:
                async with asyncio.timeout_at(late):
                    await self._news.wait()
            except TimeoutError:
                return None

    async def wait_for_event(self, kind: type[_T], within: float, since: int = 0) -> _T:
        """Wait for an event of one kind; Failed if none comes."""
        result = await self.wait_until(lambda event: isinstance(event, kind), within, since)
        if not isinstance(result, kind):
            raise RequirementFailed(
                f"{kind.__name__} within {within:g} s", f"these events: {evidence_text(self.events[since:])}"
            )
        return result

    async def wait_settled(self, command: int, within: float) -> Settled:
        """Wait for the event that ends a command; Failed if none comes."""
        result = await self.wait_until(lambda event: isinstance(event, Settled) and event.command == command, within)
        if result is None:
            raise RequirementFailed(
                f"Settled about command {command} within {within:g} s", evidence_text(self.events_about(command))
            )
        settled: Settled = result
        return settled

    async def complete_command(self, message: Message, within: float) -> Settled:
        """Send a command and wait for its end; Failed unless it is DONE."""
        reply = await self.send_command(message)
        running = isinstance(reply, Accepted)
        settled = await self.wait_settled(reply.command, within) if isinstance(reply, Accepted) else reply
        if settled.outcome is not Outcome.DONE:
            raise RequirementFailed(f"{message!r} to be done", f"{settled!r}{' after Accepted' if running else ''}")
        return settled

    def events_about(self, command: int) -> list[Any]:
        """Return every event about a command."""
        return [event for event in self.events if getattr(event, "command", None) == command]

    def events_of(self, kind: type[_T], since: int = 0) -> list[_T]:
        """Return every event of one kind."""
        return [event for event in self.events[since:] if isinstance(event, kind)]

    async def wait_ended(self, within: float) -> bool:
        """Wait for the end of the session; return whether it came."""
        try:
            await self.wait_until(lambda _: False, within)
        except LinkError:
            return True
        return False

    def _on_event(self, event: Any) -> None:
        self.events.append(event)
        self._news.set()

    def _fallen(self, cause: PitboxError) -> None:
        self.down = cause
        self._news.set()
