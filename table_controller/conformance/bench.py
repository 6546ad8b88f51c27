"""What a check works with: the open port, sessions over it, the operator, and new command ids."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge import frame as fr
from firmware_bridge.errors import LinkError
from firmware_bridge.handshake import greet
from firmware_bridge.link import SILENCE
from firmware_bridge.wire import Wire
from table_controller.conformance.probe import LINE, Probe, Raw
from table_controller.conformance.requirements import Failed, NotChecked, expect
from table_controller.conformance.tape import Tape
from table_controller.conformance.visit import Visit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from devices.kinds import Kind
    from firmware_bridge.handshake import Trust
    from firmware_bridge.messages import Message
    from firmware_bridge.wire import Transport
    from table_controller.conformance.hands import Hands, Step
    from table_controller.conformance.requirements import Profile

# A restarting machine, including its port, is back within this long (s).
RESTART: Final = 30.0
# How often (s) a missing port is looked for.
_LOOK_AGAIN: Final = 0.25
# A payload with a tag that the protocol does not use.
NONSENSE: Final = b"\x91\x3f"


class Bench:
    """One device during one run of the kit."""

    def __init__(
        self,
        open_port: Callable[[], Awaitable[Transport]],
        trust: Trust,
        kind: Kind[Any, Any],
        profile: Profile,
        hands: Hands,
        ids: Callable[[], int],
        entropy: Callable[[int], bytes] = secrets.token_bytes,
    ) -> None:
        self.trust = trust
        self.kind = kind
        self.profile = profile
        self.tape = Tape()
        self.next_id = ids
        self.hands = hands
        self.capabilities: list[str] = []  # from its hello
        (self.key,) = trust.keys.values()
        self.deadline: asyncio.Timeout | None = None  # of the running check
        self._open_port = open_port
        self._entropy = entropy
        self._kept: dict[str, tuple[Any, list[str]]] = {}

    async def open(self) -> None:
        """Open the port; raises the same errors as every bench command."""
        self.tape.carry(await self._open_port())

    def probe(self) -> Probe:
        """Return a host that may break the protocol; it replaces the previous user of the port."""
        return Probe(self.tape, self.key.key, self._entropy, self.kind.decoder)

    async def raw(self) -> Raw:
        """Return a session that may break the protocol."""
        return await self.probe().open()

    @asynccontextmanager
    async def visit(self) -> AsyncIterator[Visit]:
        """Open a session that follows the protocol."""
        link, hello = await greet(Wire(self.tape), self.trust, self.kind.decoder, self._entropy)
        visit = Visit(link, hello)
        try:
            yield visit
        finally:
            link.close()

    async def no_session(self) -> Probe:
        """End the device's session, by a malformed request or, if that does not work, by silence."""
        raw = await self.raw()
        raw.attentive = False
        raw.request(NONSENSE)
        if await raw.lives():
            await raw.probe.listen(SILENCE + 2 * LINE)
            if await raw.lives():
                raise Failed("the session to end after a malformed request or after silence", "it continues")
        return self.probe()

    async def ended(self, raw: Raw) -> bool:
        """Return whether a session has ended; the device reports it only when asked."""
        return not await raw.lives()

    async def back(self, within: float = RESTART, not_boot: int | None = None) -> Probe:
        """Wait until the device answers again, also if its port vanished; not with the boot id `not_boot`."""
        loop = asyncio.get_running_loop()
        late = loop.time() + within
        while True:
            try:
                if self.tape.lost is not None:
                    await self.open()
                probe = self.probe()
                expect((await probe.greet()).hello.boot_id != not_boot, "a new boot id", f"still {not_boot}")
            except (LinkError, Failed):
                if loop.time() > late:
                    raise
                await asyncio.sleep(_LOOK_AGAIN)
            else:
                return probe

    async def do(self, step: Step) -> None:
        """Have the operator do a step, and wait until it is done."""
        self.tape.remark(f"hands: {step.sentence}")
        loop, left = asyncio.get_running_loop(), 0.0
        if self.deadline is not None:  # the operator's time does not count
            left = (self.deadline.when() or 0.0) - loop.time()
            self.deadline.reschedule(None)
        await self.hands.do(step)
        if self.deadline is not None:
            self.deadline.reschedule(loop.time() + left)

    async def now(self, step: Step) -> None:
        """Request a step from the operator while the machine moves."""
        self.tape.remark(f"hands: {step.sentence}")
        await self.hands.now(step)

    async def once(self, name: str, observe: Callable[[Bench], Awaitable[Any]]) -> Any:
        """Return an observation by name; it is made once in a run, for all requirements that use it."""
        if name in self._kept:
            seen, lines = self._kept[name]
            self.tape.quote(lines)
        else:
            try:
                seen = await observe(self)
            except (Failed, NotChecked) as error:
                seen = error
            self._kept[name] = seen, self.tape.transcript()
        if isinstance(seen, Exception):
            raise seen
        return seen

    async def stop(self) -> None:
        """Stop all motion, if the kind has a stop command; used when the kit is interrupted."""
        if self.profile.stop is not None and self.tape.lost is None:
            async with self.visit() as visit:
                await visit.order(self.profile.stop(self.next_id()))

    def close(self) -> None:
        """Release the port."""
        self.tape.close()


def with_numbers(signed: bytes, **numbers: int) -> bytes:
    """Return a frame with changed header fields; its MAC is not adapted."""
    first, type_, seq, ack, re, counter = fr.HEADER.unpack_from(signed)
    fields = {"first": first, "type": type_, "seq": seq, "ack": ack, "re": re, "counter": counter} | numbers
    return fr.HEADER.pack(*fields.values()) + signed[fr.HEADER_SIZE :]


def switch_of(profile: Profile) -> Any:
    """Return the switch commands of a kind that has them."""
    assert profile.switch is not None
    return profile.switch


async def is_on(visit: Visit, profile: Profile) -> bool:
    """Return whether the machine's switch is on."""
    return bool(switch_of(profile).is_on(await visit.ask(profile.question, profile.answer)))


def encoded_with(message: Message, *more: bytes) -> bytes:
    """Return a message's payload with extra fields."""
    from firmware_bridge.messages import encode  # noqa: PLC0415

    payload = encode(message)
    assert 0x90 <= payload[0] < 0x9F
    return bytes([payload[0] + len(more)]) + payload[1:] + b"".join(more)
