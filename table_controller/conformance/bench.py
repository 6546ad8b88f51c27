"""What a check is given: the open port, ways to speak through it, hands, and fresh ids. Judges nothing itself."""

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

# A machine that restarts, its port included, is back within this long (s).
RESTART: Final = 30.0
# A port that is not there yet is looked for this often (s).
_LOOK_AGAIN: Final = 0.25
# A payload that no device knows: a tag that the protocol gives to nobody.
NONSENSE: Final = b"\x91\x3f"


class Bench:
    """One device on the bench during one run."""

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
        self.capabilities: list[str] = []  # as its hello names them, once it was met
        (self.key,) = trust.keys.values()
        self.deadline: asyncio.Timeout | None = None  # of the check that runs
        self._open_port = open_port
        self._entropy = entropy
        self._kept: dict[str, tuple[Any, list[str]]] = {}

    async def open(self) -> None:
        """Open the port; the errors are those of every bench command."""
        self.tape.carry(await self._open_port())

    def probe(self) -> Probe:
        """Return a host that may break the rules; whoever spoke before is not heard any more."""
        return Probe(self.tape, self.key.key, self._entropy, self.kind.decoder)

    async def raw(self) -> Raw:
        """Return a session that may break the rules."""
        return await self.probe().open()

    @asynccontextmanager
    async def visit(self) -> AsyncIterator[Visit]:
        """Hold a session by the rules."""
        link, hello = await greet(Wire(self.tape), self.trust, self.kind.decoder, self._entropy)
        visit = Visit(link, hello)
        try:
            yield visit
        finally:
            link.close()

    async def no_session(self) -> Probe:
        """Bring the device into a state without a session, by nonsense or, if that is borne, by silence."""
        raw = await self.raw()
        raw.attentive = False
        raw.request(NONSENSE)
        if await raw.lives():
            await raw.probe.listen(SILENCE + 2 * LINE)
            if await raw.lives():
                raise Failed("the session to end after nonsense or after silence", "it goes on")
        return self.probe()

    async def ended(self, raw: Raw) -> bool:
        """Tell whether a session has ended; the device says so only when it is asked."""
        return not await raw.lives()

    async def back(self, within: float = RESTART, not_boot: int | None = None) -> Probe:
        """Wait until a device answers again, at a port that may have vanished with it; not in the boot `not_boot`."""
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
        """Have something done by hand."""
        self.tape.remark(f"hands: {step.sentence}")
        loop, left = asyncio.get_running_loop(), 0.0
        if self.deadline is not None:  # a person's time is not the device's
            left = (self.deadline.when() or 0.0) - loop.time()
            self.deadline.reschedule(None)
        await self.hands.do(step)
        if self.deadline is not None:
            self.deadline.reschedule(loop.time() + left)

    async def now(self, step: Step) -> None:
        """Have something done by hand while the machine moves."""
        self.tape.remark(f"hands: {step.sentence}")
        await self.hands.now(step)

    async def once(self, name: str, observe: Callable[[Bench], Awaitable[Any]]) -> Any:
        """Return what was observed under this name, now or for an earlier requirement of the run."""
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
        """End all motion, if the kind knows how; for when the kit itself is interrupted."""
        if self.profile.stop is not None and self.tape.lost is None:
            async with self.visit() as visit:
                await visit.order(self.profile.stop(self.next_id()))

    def close(self) -> None:
        """Give the port back."""
        self.tape.close()


def with_numbers(signed: bytes, **numbers: int) -> bytes:
    """Return a frame with other numbers in its header, whatever its MAC covers."""
    first, type_, seq, ack, re, counter = fr.HEADER.unpack_from(signed)
    fields = {"first": first, "type": type_, "seq": seq, "ack": ack, "re": re, "counter": counter} | numbers
    return fr.HEADER.pack(*fields.values()) + signed[fr.HEADER_SIZE :]


def switch_of(profile: Profile) -> Any:
    """Return the kind's switch; only asked of kinds that have one."""
    assert profile.switch is not None
    return profile.switch


async def is_on(visit: Visit, profile: Profile) -> bool:
    """Ask the machine whether its switch is on."""
    return bool(switch_of(profile).is_on(await visit.ask(profile.question, profile.answer)))


def encoded_with(message: Message, *more: bytes) -> bytes:
    """Return a message's payload with more fields than it has."""
    from firmware_bridge.messages import encode  # noqa: PLC0415

    payload = encode(message)
    assert 0x90 <= payload[0] < 0x9F
    return bytes([payload[0] + len(more)]) + payload[1:] + b"".join(more)
