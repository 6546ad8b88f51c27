"""Actuations: commands with ids that are done at most once, asked about when in doubt, and never resent blindly.

Both ends' halves live here: `actuate` and `ask` for the host, `CommandMemory` for a device. What a command moves is
the device folders' business.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from enum import IntEnum
from typing import TYPE_CHECKING, Annotated, Final

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
# How long a device may think before it accepts or refuses. Firmware answers at once; the rest is margin.
ACCEPT_PATIENCE: Final = 0.5
# Without any word about a running command for this long, the host asks about it.
SETTLE_QUIET: Final = 10.0
# How often in a row the answer may be "running" without an event: a machine that is busy this long is stuck.
MAX_ASKS: Final = 6


class Outcome(IntEnum):
    """What became of a command."""

    UNKNOWN = 0  # the device does not remember this id
    RUNNING = 1
    DONE = 2
    FAILED = 3
    REFUSED = 4


class Accepted(Message, frozen=True, tag=16):
    """The command has begun; `Settled` will follow."""

    command: CommandId


class Settled(Message, frozen=True, tag=17):
    """The command's end, as a reply (if it ended at once) or later as an event. `reason` is 0 when done."""

    command: CommandId
    outcome: Outcome
    reason: U16


class AskCommand(Message, frozen=True, tag=18):
    """What became of this command?"""

    command: CommandId


class GetReport(Message, frozen=True, tag=19):
    """Tell what you are and what you last did; the first question after every handshake."""


class Report(Message, frozen=True, tag=20):
    """What a device says of itself first: its boot, its last commands, and how often it was on a bench."""

    boot_id: U32
    uptime_s: U32
    bench_visits: U32  # bench sessions in its life, this one included; kept over power cuts, so none can be hidden
    commands: Annotated[list[Settled], msgspec.Meta(max_length=REMEMBERED)]


HostCommands = AskCommand | GetReport
DeviceCommands = Accepted | Settled | Report


class Commands:
    """The host's record of commands under way on one device; survives links, dies with the driver."""

    def __init__(self) -> None:
        self._waiting: dict[int, asyncio.Future[Settled]] = {}
        self._last_activity: dict[int, float] = {}

    def settled(self, message: Settled) -> None:
        """Take a command's end, however it came."""
        waiter = self._waiting.get(message.command)
        if waiter is not None and not waiter.done():
            waiter.set_result(message)

    def heard_of(self, command: int, now: float) -> None:
        """Note that an event about a command arrived, so it need not be asked about yet."""
        if command in self._last_activity:
            self._last_activity[command] = now

    def link_lost(self, cause: LinkError) -> None:
        """Release every waiter: what was sent has an unknown outcome until the device has been asked."""
        for command, waiter in self._waiting.items():
            if not waiter.done():
                unknown = OutcomeUnknown(f"the link was lost while command {command} was under way", command)
                unknown.__cause__ = cause
                waiter.set_exception(unknown)

    async def actuate(self, link: Link, message: Message, command: int, *, urgent: bool = False) -> Settled:
        """Send an actuation once and wait for its end.

        Returns `Settled` with outcome DONE. Raises CommandRefused or CommandFailed with the device's reason, NotSent,
        QueueFull or Revoked if it certainly had no effect, and OutcomeUnknown if nobody knows.
        """
        assert command not in self._waiting, f"command {command} is under way already"
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[Settled] = loop.create_future()
        self._waiting[command] = waiter
        self._last_activity[command] = loop.time()
        try:
            try:
                reply = await link.request(message, ACCEPT_PATIENCE, urgent=urgent, actuation=True)
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
            del self._waiting[command], self._last_activity[command]
            if waiter.done() and not waiter.cancelled():
                waiter.exception()  # retrieved, whoever won

    async def ask(self, link: Link, command: int) -> Settled:
        """Ask the device what became of a command; safe to repeat."""
        reply = await link.request(AskCommand(command), ACCEPT_PATIENCE)
        if not isinstance(reply, Settled) or reply.command != command:
            raise BadMessage(f"asked about command {command}, the device said {reply!r}")
        return reply

    async def _wait(self, link: Link, command: int, waiter: asyncio.Future[Settled]) -> Settled:
        loop = asyncio.get_running_loop()
        asks = 0
        while True:
            last_activity = self._last_activity[command]
            done, _ = await asyncio.wait({waiter}, timeout=max(0.0, last_activity + SETTLE_QUIET - loop.time()))
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
        """Ask once about a command in doubt; what cannot be learned is OutcomeUnknown."""
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
    """A device's half: its last commands and what became of them. Survives a reboot; running ones end interrupted."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, Settled] = OrderedDict()
        self._tags: dict[int, int] = {}  # which message each id came with

    def begin(self, command: int, tag: int = 0) -> Settled | None:
        """Note a new command as running, or return the answer if this id was seen before: it is not done again.

        An id that comes back with another message (`tag`) is the host's mistake, and refused.
        """
        known = self._known.get(command)
        if known is None:
            self._tags[command] = tag
            self._remember(Settled(command, Outcome.RUNNING, 0))
            return None
        return known if self._tags[command] == tag else Settled(command, Outcome.REFUSED, CommandIdReused.number)

    def settle(self, command: int, outcome: Outcome, reason: int = 0) -> Settled:
        """Note a command's end."""
        settled = Settled(command, outcome, reason)
        self._remember(settled)
        return settled

    def recall(self, command: int) -> Settled:
        """Return what is known of a command."""
        return self._known.get(command, Settled(command, Outcome.UNKNOWN, 0))

    def interrupted(self, reason: int) -> None:
        """Power came back: whatever was running did not finish."""
        for command, settled in self._known.items():
            if settled.outcome is Outcome.RUNNING:
                self._known[command] = Settled(command, Outcome.FAILED, reason)

    def last(self) -> list[Settled]:
        """Return what is remembered, oldest first."""
        return list(self._known.values())

    def _remember(self, settled: Settled) -> None:
        self._known[settled.command] = settled
        self._known.move_to_end(settled.command)
        while len(self._known) > REMEMBERED:
            ended = (c for c, known in self._known.items() if known.outcome is not Outcome.RUNNING)
            oldest = next(ended)  # a device runs one command at a time, so there is always an ended one
            del self._known[oldest], self._tags[oldest]
