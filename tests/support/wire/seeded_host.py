"""Seeds the host's challenges, so that a whole run gives the same bytes every time."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from firmware_bridge import supervisor
from firmware_bridge.handshake import open_session

if TYPE_CHECKING:
    import pytest

    from firmware_bridge.handshake import Trust
    from firmware_bridge.link import Link
    from firmware_bridge.messages import DeviceHello
    from firmware_bridge.wire import Wire


def seed_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every handshake of every supervisor the same challenge; only for tests that compare runs."""

    async def seeded(wire: Wire, trust: Trust, decode: Any) -> tuple[Link, DeviceHello]:
        return await open_session(wire, trust, decode, Random(5).randbytes)

    monkeypatch.setattr(supervisor, "open_session", seeded)
