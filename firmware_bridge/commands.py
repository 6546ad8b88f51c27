"""Commands with ids: a device executes each at most once, and the host asks about a lost outcome instead of resending.

`CommandTracker` is the host's side, `CommandMemory` the device's side.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from enum import IntEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec

from firmware_bridge.errors import (
    BadMessage,
    CommandFailed,
    CommandIdReused,
    CommandRefused,
    LinkError,
    NotSent,
    OutcomeUnknown,
    QueueFull,
)
from firmware_bridge.messages import U16, U32, CommandId, Message

if TYPE_CHECKING:
    from firmware_bridge.link import Link

# A device remembers this many commands; the host never has more than a few under way.
REMEMBERED: Final = 16
# How long (s) a device may take to accept or refuse a command. Firmware answers at once; the rest is margin.
ACCEPT_TIMEOUT_S: Final = 0.5
# After this long (s) without an event about a running command, the host asks about it.
SETTLE_QUIET_S: Final = 10.0
# How many times in a row the answer may be "running" without an event; after that the machine counts as stuck.
MAX_ASKS: Final = 6


class Outcome(IntEnum):
    """The outcome of a command."""

    UNKNOWN = 0  # the device does not remember this id
    RUNNING = 1
    DONE = 2
    FAILED = 3
    REFUSED = 4


class Accepted(Message, frozen=True, tag=16):
    """The command has begun; `Settled` will follow."""

    command: CommandId


class Settled(Message, frozen=True, tag=17):
    """The command has ended: the reply to it, or a later event. `reason` is 0 when done."""

    command: CommandId
    outcome: Outcome
    reason: U16


class AskCommand(Message, frozen=True, tag=18):
    """Ask for the outcome of this command."""

    command: CommandId


class GetReport(Message, frozen=True, tag=19):
    """Ask for the device's report; the first request after every handshake."""


class Report(Message, frozen=True, tag=20):
    """The device's boot, its latest commands, and how many bench sessions it has had."""

    boot_id: U32
    uptime_s: U32
    bench_visits: U32  # bench sessions in its life, including this one; kept through power cuts, so none can be hidden
    commands: Annotated[list[Settled], msgspec.Meta(max_length=REMEMBERED)]


HostCommands = AskCommand | GetReport
DeviceCommands = Accepted | Settled | Report


class CommandTracker:
    """The host's record of the commands that run on one device. It lives as long as the driver, across links."""

    def __init__(self) -> None:
        self._waiting: dict[int, asyncio.Future[Settled]] = {}
        self._last_activity: dict[int, float] = {}

    def record_settled(self, message: Settled) -> None:
        """Record the end of a command and release the caller that waits for it."""
        waiter = self._waiting.get(message.command)
        if waiter is not None and not waiter.done():
            waiter.set_result(message)

    def record_activity(self, command: int, now: float) -> None:
        """Record that an event about a command arrived; this postpones the next question about it."""
        if command in self._last_activity:
            self._last_activity[command] = now

    def release_waiters(self, cause: LinkError) -> None:
        """Release every waiting caller with OutcomeUnknown; the device must be asked before the outcome is known."""
        for command, waiter in self._waiting.items():
            if not waiter.done():
                unknown = OutcomeUnknown(f"the link was lost while command {command} was under way", command)
                unknown.__cause__ = cause
                waiter.set_exception(unknown)

    def send(self, link: Link, message: Message, command: int, *, urgent: bool = False) -> asyncio.Future[Any]:
        """Send a command once, in this call unless the window is full; return the future of the device's answer.

        The caller passes the future to `wait_end`, or calls `forget`.
        """
        assert command not in self._waiting, f"command {command} is under way already"
        loop = asyncio.get_running_loop()
        self._waiting[command] = loop.create_future()
        self._last_activity[command] = loop.time()
        return link.request(message, ACCEPT_TIMEOUT_S, urgent=urgent, actuation=True)

    async def wait_end(self, link: Link, command: int, answer: asyncio.Future[Any]) -> Settled:
        """Wait for the end of a command that was sent.

        Returns `Settled` with outcome DONE. Raises CommandRefused or CommandFailed with the device's reason; NotSent,
        QueueFull or Revoked if the command certainly had no effect; OutcomeUnknown otherwise.
        """
        waiter = self._waiting[command]
        try:
            try:
                reply = await answer
            except (NotSent, QueueFull):
                raise
            except LinkError as cause:
                reply = await self._ask_or_unknown(link, command, cause)
            if not isinstance(reply, Accepted | Settled) or reply.command != command:
                raise BadMessage(f"command {command} was answered by {reply!r}")
            if isinstance(reply, Settled) and reply.outcome is not Outcome.RUNNING:
                return _judge(reply)
            return _judge(await self._wait(link, command, waiter))
        finally:
            self.forget(command)

    def forget(self, command: int) -> None:
        """Forget a command that has ended, or that nobody waits for any more."""
        waiter = self._waiting.pop(command, None)
        self._last_activity.pop(command, None)
        if waiter is not None and waiter.done() and not waiter.cancelled():
            waiter.exception()  # marks it as retrieved

    async def ask(self, link: Link, command: int) -> Settled:
        """Ask the device for the outcome of a command; safe to repeat."""
        reply = await link.request(AskCommand(command), ACCEPT_TIMEOUT_S)
        if not isinstance(reply, Settled) or reply.command != command:
            raise BadMessage(f"asked about command {command}, the device replied {reply!r}")
        return reply

    async def _wait(self, link: Link, command: int, waiter: asyncio.Future[Settled]) -> Settled:
        loop = asyncio.get_running_loop()
        asks = 0
        while True:
            last_activity = self._last_activity[command]
            done, _ = await asyncio.wait({waiter}, timeout=max(0.0, last_activity + SETTLE_QUIET_S - loop.time()))
            if done:
                return waiter.result()
            if self._last_activity[command] != last_activity:
                asks = 0
                continue
            asks += 1
            answer = await self._ask_or_unknown(link, command, None)
            if waiter.done():
                return waiter.result()
            if answer.outcome is not Outcome.RUNNING:
                return answer
            if asks >= MAX_ASKS:
                raise OutcomeUnknown(f"command {command} runs without progress", command)
            self._last_activity[command] = loop.time()

    async def _ask_or_unknown(self, link: Link, command: int, cause: LinkError | None) -> Settled:
        """Ask once for the outcome of a command; OutcomeUnknown if the device does not answer or does not remember."""
        try:
            answer = await self.ask(link, command)
        except LinkError as failed:
            raise OutcomeUnknown(f"command {command} was sent; the device does not answer", command) from (
                cause or failed
            )
        if answer.outcome is Outcome.UNKNOWN:
            raise OutcomeUnknown(f"the device does not remember command {command}", command) from cause
        return answer


def _judge(settled: Settled) -> Settled:
    if settled.outcome is Outcome.DONE:
        return settled
    if settled.outcome is Outcome.REFUSED:
        raise CommandRefused(f"the device refused command {settled.command}; nothing moved", settled.reason)
    if settled.outcome is Outcome.FAILED:
        raise CommandFailed(f"the device could not finish command {settled.command}", settled.reason)
    raise OutcomeUnknown(f"the device does not remember command {settled.command}", settled.command)


class CommandMemory:
    """A device's latest commands and their outcomes. Survives a reboot; commands that ran then have failed."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, Settled] = OrderedDict()
        self._tags: dict[int, int] = {}  # tag of the message that brought each id

    def begin(self, command: int, tag: int = 0) -> Settled | None:
        """Record a new command as running; return the known outcome if this id came before.

        An id that comes back with another message (`tag`) is an error of the host and is refused.
        """
        known = self._known.get(command)
        if known is None:
            self._tags[command] = tag
            self._remember(Settled(command, Outcome.RUNNING, 0))
            return None
        return known if self._tags[command] == tag else Settled(command, Outcome.REFUSED, CommandIdReused.number)

    def settle(self, command: int, outcome: Outcome, reason: int = 0) -> Settled:
        """Record the end of a command."""
        settled = Settled(command, outcome, reason)
        self._remember(settled)
        return settled

    def recall(self, command: int) -> Settled:
        """Return the known outcome of a command; UNKNOWN if it is not remembered."""
        return self._known.get(command, Settled(command, Outcome.UNKNOWN, 0))

    def fail_running(self, reason: int) -> None:
        """Record every running command as failed, after power came back."""
        for command, settled in self._known.items():
            if settled.outcome is Outcome.RUNNING:
                self._known[command] = Settled(command, Outcome.FAILED, reason)

    def recent(self) -> list[Settled]:
        """Return the remembered outcomes, oldest first."""
        return list(self._known.values())

    def _remember(self, settled: Settled) -> None:
        self._known[settled.command] = settled
        self._known.move_to_end(settled.command)
        while len(self._known) > REMEMBERED:
            ended = (c for c, known in self._known.items() if known.outcome is not Outcome.RUNNING)
            oldest = next(ended)  # a device runs one command at a time, so there is always an ended one
            del self._known[oldest], self._tags[oldest]
