"""A machine and a host that shake hands over a pipe in memory."""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge.errors import LinkError
from firmware_bridge.handshake import DeviceHandshake, Trust, open_session
from firmware_bridge.keys import ApprovedFirmware, DeviceKey
from firmware_bridge.messages import DeviceHello
from firmware_bridge.wire import Wire
from tests.support.wire.links import TO_DEVICE, TO_HOST, BenchAnswer, BenchQuestion, LinkDevice, Port, ports

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.link import Link

KEY: Final = DeviceKey("S-1", "shuffler", bytes(range(32)))
HELLO: Final = DeviceHello("shuffler", "S-1", "PB-S1", "1.0", b"f" * 32, ["counts"], 0, bytes(16))
TRUST: Final = Trust("shuffler", {"S-1": KEY}, frozenset([ApprovedFirmware("shuffler", "1.0", b"f" * 32)]))


class HandshakeMachine:
    """A device's end of the link: a reboot ends handshake and sessions, but not entropy and command memory."""

    def __init__(self, port: Port, *, key: bytes = KEY.key, hello: DeviceHello = HELLO, seed: int = 1) -> None:
        self.port = port
        self.device = LinkDevice()
        self.sessions: list[Link] = []
        self.roles: list[str] = []
        self.on_session: Callable[[Link], None] = lambda _: None
        self._key = key
        self._hello = hello
        self._entropy = Random(seed).randbytes
        self._greeter: DeviceHandshake | None = None
        self.boots = 0
        self.boot()

    def boot(self) -> None:
        """Come up (again): a new boot id, no session."""
        self.halt()
        self.boots += 1
        identity = msgspec.structs.replace(self._hello, boot_id=self.boots)
        self._greeter = DeviceHandshake(Wire(self.port), self._key, identity, TO_DEVICE, self._session, self._entropy)

    def halt(self) -> None:
        """Lose power."""
        if self._greeter is not None:
            self._greeter.end_session(LinkError("power is off"))
        self.port.on_bytes = lambda _: None

    @property
    def alive(self) -> list[Link]:
        """The live sessions; there must never be two."""
        return [link for link in self.sessions if link.down is None]

    def _session(self, link: Link, role: str) -> None:
        self.device.serve(link)
        self.sessions.append(link)
        self.roles.append(role)
        self.on_session(link)


class HandshakePair:
    """A host's port, a machine's port, and the machine."""

    def __init__(self, **machine: Any) -> None:
        self.host_port, device_port = ports()
        self.machine = HandshakeMachine(device_port, **machine)

    async def shake_hands(self, trust: Trust = TRUST, seed: int = 1) -> Link:
        """Shake hands as the host."""
        link, _ = await open_session(Wire(self.host_port), trust, TO_HOST, Random(f"host {seed}").randbytes)
        return link

    async def expect_rejection(self, trust: Trust = TRUST, seed: int = 1) -> Exception:
        """Shake hands as the host and return the error."""
        try:
            await self.shake_hands(trust, seed)
        except Exception as error:  # noqa: BLE001 - the test checks it
            return error
        raise AssertionError("the handshake must not succeed")

    def close(self, link: Link | None = None) -> None:
        """End it all."""
        if link is not None:
            link.close()
        self.machine.halt()


async def is_answered(link: Link, n: int = 1) -> bool:
    """Return whether a question is answered over this link."""
    async with asyncio.timeout(60):
        return bool(await link.request(BenchQuestion(n), 5.0) == BenchAnswer(n))
