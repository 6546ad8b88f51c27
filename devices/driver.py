"""The base of all drivers: uses a link, reads the first report, sends requests and commands, and publishes events.

A driver opens no port and applies no rules of the game: the caller of a command must hold the permit for it.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from devices.driver_events import DeviceRefused, LinkDown, LinkUp, OutcomeLost, Reported
from firmware_bridge.commands import CommandTracker, GetReport, Report, Settled
from firmware_bridge.errors import (
    BadMessage,
    CommandRefused,
    LinkError,
    NotCapable,
    NotSent,
    OutcomeUnknown,
    PitboxError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.link import Link
    from firmware_bridge.messages import DeviceHello, Message

# How long (s) a device may take to answer a request. Firmware answers from memory.
REPLY_TIMEOUT_S: Final = 0.3

_Answer = TypeVar("_Answer")


class Driver:
    """Controls one device. Calls `on_event` synchronously, in the order of the wire.

    Every report includes an inventory: the `answer` to `question`, with the machine's state and content.
    """

    def __init__(self, name: str, question: Message, answer: type[Message], on_event: Callable[[Any], None]) -> None:
        self.name = name
        self.reported: Reported | None = None
        self.publish = on_event
        self._question = question
        self._answer = answer
        self._link: Link | None = None
        self._down: PitboxError | None = None
        self._hello: DeviceHello | None = None
        self._boot_id: int | None = None
        self._commands = CommandTracker()
        self._first_report: asyncio.Future[Reported] | None = None
        self._held: list[Message] = []  # events before the first report; they are published after it

    @property
    def link(self) -> Link | None:
        """The current link, for its counters; None while disconnected."""
        return self._link

    # --- the supervisor's side ---------------------------------------------------------------------------------

    def link_up(self, link: Link, hello: DeviceHello) -> None:
        """Use a new link; read the device's report before anything else."""
        self._link, self._hello, self._down, self._held = link, hello, None, []
        link.on_event = self._on_link_event
        self.publish(LinkUp(hello))
        self._read_report(link, hello)

    def link_down(self, cause: PitboxError) -> None:
        """Release every waiting caller with the cause."""
        self._link, self.reported, self._down = None, None, cause
        self._commands.release_waiters(cause if isinstance(cause, LinkError) else LinkError(str(cause)))
        if self._first_report is not None and not self._first_report.done():
            self._first_report.set_exception(cause)
        self.publish(LinkDown(cause))

    def _read_report(self, link: Link, hello: DeviceHello) -> None:
        """Request report and inventory together; a device that does not answer both fails the link."""
        report = link.request(GetReport(), REPLY_TIMEOUT_S)
        inventory = link.request(self._question, REPLY_TIMEOUT_S)

        def both(_: asyncio.Future[Any]) -> None:
            if report.cancelled() or inventory.cancelled() or link.down is not None:
                return
            failed = report.exception() or inventory.exception()
            if failed is not None:
                link.fail(failed if isinstance(failed, PitboxError) else LinkError(str(failed)))
            elif not isinstance(report.result(), Report) or not isinstance(inventory.result(), self._answer):
                link.fail(BadMessage(f"{self.name}: its first report was {report.result()!r}, {inventory.result()!r}"))
            elif report.result().boot_id != hello.boot_id:
                link.fail(BadMessage(f"{self.name}: its hello and its report name different boots"))
            else:
                self._publish_report(hello, report.result(), inventory.result())

        asyncio.gather(report, inventory, return_exceptions=True).add_done_callback(both)

    def _publish_report(self, hello: DeviceHello, report: Report, inventory: Message) -> Reported:
        rebooted = self._boot_id is not None and self._boot_id != report.boot_id
        self._boot_id = report.boot_id
        self.reported = Reported(hello, report, inventory, rebooted)
        reported, held, self._held = self.reported, self._held, []
        for event in (reported, *held):
            self.publish(event)
        if (
            self._first_report is not None and not self._first_report.done()
        ):  # it is done if a listener ended the session
            self._first_report.set_result(reported)
        return reported

    def _on_link_event(self, message: Message) -> None:
        if isinstance(message, Settled):
            self._commands.record_settled(message)
        command = getattr(message, "command", None)
        if command is not None:
            self._commands.record_activity(command, asyncio.get_running_loop().time())
        if self.reported is None:
            self._held.append(message)
        else:
            self.publish(message)

    # --- for every kind of machine -----------------------------------------------------------------------------

    async def ready(self) -> Reported:
        """Wait for the device's first report; raises the cause if the link fails first."""
        if self.reported is not None:
            return self.reported
        if self._down is not None:
            raise self._down
        if self._first_report is None or self._first_report.done():
            self._first_report = asyncio.get_running_loop().create_future()
        return await asyncio.shield(self._first_report)

    async def report(self) -> Reported:
        """Read the device again, as after an acknowledgment, and publish the report."""
        hello = (await self.ready()).hello
        report = await self.ask(GetReport(), Report)
        return self._publish_report(hello, report, await self.ask(self._question, self._answer))

    async def read_inventory(self) -> Message:
        """Read the inventory without publishing it."""
        return await self.ask(self._question, self._answer)

    async def outcome(self, command: int) -> Settled:
        """Ask for the outcome of a command, which resolves OutcomeUnknown, and publish the answer."""
        answer = await self.query_outcome(command)
        self.publish(answer)
        return answer

    async def query_outcome(self, command: int) -> Settled:
        """Ask for the outcome of a command without publishing it."""
        return await self._commands.ask(self.require_link(), command)

    async def ask(self, question: Message, *answers: type[_Answer]) -> _Answer:
        """Send a request; BadMessage unless the reply is one of `answers`."""
        reply = await self.require_link().request(question, REPLY_TIMEOUT_S)
        if isinstance(reply, answers):
            return reply
        raise BadMessage(f"{self.name}: {question!r} was answered by {reply!r}")

    def actuate(
        self, message: Message, command: int, *, urgent: bool = False, then: Any = None
    ) -> asyncio.Task[Settled]:
        """Send a command, which the device executes at most once, in this call; return the task that waits for its end.

        Commands of one callback reach the wire in their order. `then` is published when the command is done. Raises
        NotSent if there is no link.
        """
        link = self.require_link()
        answer = self._commands.send(link, message, command, urgent=urgent)
        task = asyncio.get_running_loop().create_task(self._finish(link, answer, message, command, then))
        task.add_done_callback(partial(self._on_finished, command, answer))
        return task

    async def _finish(
        self, link: Link, answer: asyncio.Future[Any], message: Message, command: int, then: Any
    ) -> Settled:
        try:
            settled = await self._commands.wait_end(link, command, answer)
        except OutcomeUnknown:
            self.publish(OutcomeLost(command))
            raise
        except CommandRefused as refused:
            self.publish(DeviceRefused(command, type(message).__name__, refused.reason))
            raise
        if then is not None:
            self.publish(then)
        return settled

    def _on_finished(self, command: int, answer: asyncio.Future[Any], task: asyncio.Task[Settled]) -> None:
        """Publish OutcomeLost if the wait was canceled, perhaps before it began: the machine continues."""
        if task.cancelled():
            answer.cancel()
            self._commands.forget(command)
            self.publish(OutcomeLost(command))

    def _require_capability(self, capability: str, what: str, *, present: bool = True) -> None:
        """Raise NotCapable, before anything is sent, unless the device has a capability (`named=False`: lacks it)."""
        self.require_link()
        assert self._hello is not None
        if (capability in self._hello.capabilities) is not present:
            why = f"it {'does not name' if present else 'names'} the capability {capability!r}"
            raise NotCapable(f"the {self.name} {self._hello.model} cannot {what}: {why}; nothing was sent")

    def require_link(self) -> Link:
        """Return the link, or raise NotSent with the reason why there is none."""
        if self._link is None:
            raise NotSent(f"the {self.name} is not connected: {self._down or 'not yet'}") from self._down
        return self._link
