"""How often a lossy line is declared dead, computed from the link's own constants."""

from __future__ import annotations

import asyncio

import pytest

from firmware_bridge import frame as fr
from firmware_bridge import link as lk
from tests.support.wire.links import FrameFate, LinkPair, kind_of, settle
from tools.studies.silence_chance import BEFORE, LOSSES, LinkTimes, false_silence, pings


async def test_the_reckoning_knows_when_a_deaf_link_pings() -> None:
    pair = LinkPair()
    sent: list[float] = []

    def lose(data: bytes) -> FrameFate:
        if kind_of(data) == fr.PING:
            sent.append(asyncio.get_running_loop().time())
        return FrameFate.DROP

    pair.device_port.fate = lambda _: FrameFate.DROP
    pair.host_port.fate = lose
    await settle(lk.SILENCE_LIMIT_S + 1.0)
    assert sent == pytest.approx(pings(lk.HEARTBEAT_S, LinkTimes()), abs=0.01)
    assert pair.host.down is not None


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("host", [True, False], ids=["host", "device"])
def test_fewer_heartbeats_do_not_mean_more_false_silences(loss: float, host: bool) -> None:
    now, before = false_silence(loss, LinkTimes(), host=host), false_silence(loss, BEFORE, host=host)
    assert 0 < now < before


def test_a_line_that_loses_every_frame_is_silent_and_one_that_loses_none_is_not() -> None:
    assert false_silence(1.0, LinkTimes()) == 1.0
    assert false_silence(0.0, LinkTimes()) == 0.0
