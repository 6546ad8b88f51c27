"""What a check works with: the open port, sessions over it, the operator, and new command ids."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from devices.conformance.raw_host import LINE_ALLOWANCE_S, RawHost, RawSession
from devices.conformance.requirements import NotChecked, RequirementFailed, expect
from devices.conformance.session import CheckSession
from devices.conformance.transcript import Transcript
from firmware_bridge import frame as fr
from firmware_bridge.errors import LinkError
from firmware_bridge.handshake import open_session
from firmware_bridge.link import SILENCE_LIMIT_S
from firmware_bridge.wire import Wire

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from devices.conformance.operators import ManualStep, Operator
    from devices.conformance.requirements import KindProfile
    from devices.kinds import AnyKind
    from firmware_bridge.handshake import Trust
    from firmware_bridge.messages import Message
    from firmware_bridge.wire import Transport

# A restarting machine, including its port, is back within this long (s).
RESTART_LIMIT_S: Final = 30.0
# How often (s) a missing port is looked for.
_LOOK_AGAIN: Final = 0.25
# A payload with a tag that the protocol does not use.
UNKNOWN_TAG_PAYLOAD: Final = b"\x91\x3f"


class ConformanceBench:
    """One device during one run of the kit."""

    def __init__(
        self,
        open_port: Callable[[], Awaitable[Transport]],
        trust: Trust,
        kind: AnyKind,
        profile: KindProfile,
        operator: Operator,
        ids: Callable[[], int],
        entropy: Callable[[int], bytes] = secrets.token_bytes,
    ) -> None:
        self.trust = trust
        self.kind = kind
        self.profile = profile
        self.transcript = Transcript()
        self.next_id = ids
        self.operator = operator
        self.capabilities: list[str] = []  # from its hello
        (self.key,) = trust.keys.values()
        self.deadline: asyncio.Timeout | None = None  # of the running check
        self._open_port = open_port
        self._entropy = entropy
        self._kept: dict[str, tuple[Any, list[str]]] = {}

    async def open(self) -> None:
        """Open the port; raises the same errors as every bench command."""
        self.transcript.attach(await self._open_port())

    def raw_host(self) -> RawHost:
        """Return a host that may break the protocol; it replaces the previous user of the port."""
        return RawHost(self.transcript, self.key.key, self._entropy, self.kind.decoder)

    async def raw_session(self) -> RawSession:
        """Return a session that may break the protocol."""
        return await self.raw_host().open_session()

    @asynccontextmanager
    async def session(self) -> AsyncIterator[CheckSession]:
        """Open a session that follows the protocol."""
        link, hello = await open_session(Wire(self.transcript), self.trust, self.kind.decoder, self._entropy)
        visit = CheckSession(link, hello)
        try:
            yield visit
        finally:
            link.close()

    async def end_sessions(self) -> RawHost:
        """End the device's session, by a malformed request or, if that does not work, by silence."""
        raw = await self.raw_session()
        raw.acknowledges = False
        raw.request(UNKNOWN_TAG_PAYLOAD)
        if await raw.is_alive():
            await raw.host.listen(SILENCE_LIMIT_S + 2 * LINE_ALLOWANCE_S)
            if await raw.is_alive():
                raise RequirementFailed("the session to end after a malformed request or after silence", "it continues")
        return self.raw_host()

    async def has_ended(self, raw: RawSession) -> bool:
        """Return whether a session has ended; the device reports it only when asked."""
        return not await raw.is_alive()

    async def wait_for_device(self, not_boot: int | None = None) -> RawHost:
        """Wait until the device answers again, also if its port vanished; not with the boot id `not_boot`."""
        loop = asyncio.get_running_loop()
        late = loop.time() + RESTART_LIMIT_S
        while True:
            try:
                if self.transcript.lost is not None:
                    await self.open()
                probe = self.raw_host()
                expect((await probe.greet()).hello.boot_id != not_boot, "a new boot id", f"still {not_boot}")
            except (LinkError, RequirementFailed):
                if loop.time() > late:
                    raise
                await asyncio.sleep(_LOOK_AGAIN)
            else:
                return probe

    async def perform(self, step: ManualStep) -> None:
        """Have the operator do a step, and wait until it is done."""
        self.transcript.add_remark(f"hands: {step.sentence}")
        loop, left = asyncio.get_running_loop(), 0.0
        if self.deadline is not None:  # the operator's time does not count
            left = (self.deadline.when() or 0.0) - loop.time()
            self.deadline.reschedule(None)
        await self.operator.perform(step)
        if self.deadline is not None:
            self.deadline.reschedule(loop.time() + left)

    async def request_now(self, step: ManualStep) -> None:
        """Request a step from the operator while the machine moves."""
        self.transcript.add_remark(f"hands: {step.sentence}")
        await self.operator.request_now(step)

    async def observe_once(self, name: str, observe: Callable[[ConformanceBench], Awaitable[Any]]) -> Any:
        """Return an observation by name; it is made once in a run, for all requirements that use it."""
        if name in self._kept:
            seen, lines = self._kept[name]
            self.transcript.add_quote(lines)
        else:
            try:
                seen = await observe(self)
            except (RequirementFailed, NotChecked) as error:
                seen = error
            self._kept[name] = seen, self.transcript.lines()
        if isinstance(seen, Exception):
            raise seen
        return seen

    async def stop(self) -> None:
        """Stop all motion, if the kind has a stop command; used when the kit is interrupted."""
        if self.profile.stop is not None and self.transcript.lost is None:
            async with self.session() as visit:
                await visit.send_command(self.profile.stop(self.next_id()))

    def close(self) -> None:
        """Release the port."""
        self.transcript.close()


def replace_header_fields(signed: bytes, **numbers: int) -> bytes:
    """Return a frame with changed header fields; its MAC is not adapted."""
    first, type_, seq, ack, re, counter = fr.HEADER.unpack_from(signed)
    fields = {"first": first, "type": type_, "seq": seq, "ack": ack, "re": re, "counter": counter} | numbers
    return fr.HEADER.pack(*fields.values()) + signed[fr.HEADER_SIZE :]


def require_switch(profile: KindProfile) -> Any:
    """Return the switch commands of a kind that has them."""
    assert profile.switch is not None
    return profile.switch


async def is_switch_on(visit: CheckSession, profile: KindProfile) -> bool:
    """Return whether the machine's switch is on."""
    return bool(require_switch(profile).is_on(await visit.ask(profile.question, profile.answer)))


def encode_with_extra_fields(message: Message, *more: bytes) -> bytes:
    """Return a message's payload with extra fields."""
    from firmware_bridge.messages import encode  # noqa: PLC0415

    payload = encode(message)
    assert 0x90 <= payload[0] < 0x9F
    return bytes([payload[0] + len(more)]) + payload[1:] + b"".join(more)
