"""The in-memory pipe of all virtual tests: bytes arrive later and in order, and its end is reported."""

from __future__ import annotations

from firmware_bridge.errors import LinkError, PortFailed
from firmware_bridge.transport.memory import memory_pair
from tests.support.wire.links import settle


async def test_bytes_arrive_later_in_order_and_at_the_other_end_only() -> None:
    one, other = memory_pair()
    at_one: list[bytes] = []
    at_other: list[bytes] = []
    one.on_bytes, other.on_bytes = at_one.append, at_other.append
    for n in range(10):
        one.write(bytes([n]))
    assert at_other == []
    other.write(b"back")
    await settle()
    assert at_other == [bytes([n]) for n in range(10)]
    assert at_one == [b"back"]
    assert one.backlog == 0


async def test_bytes_written_before_closing_still_arrive_and_then_the_loss_is_reported_once() -> None:
    one, other = memory_pair()
    seen: list[bytes | LinkError] = []
    other.on_bytes, other.on_lost = seen.append, seen.append
    one.write(b"last words")
    one.close()
    one.close()
    one.write(b"nothing more")
    await settle()
    assert seen[0] == b"last words"
    assert [type(what) for what in seen[1:]] == [PortFailed]
    assert one.closed
    assert other.closed


async def test_the_end_that_closes_gets_no_loss_report_and_no_more_bytes() -> None:
    one, other = memory_pair()
    seen: list[bytes | LinkError] = []
    one.on_bytes, one.on_lost = seen.append, seen.append
    other.write(b"on the way")
    one.close()
    other.write(b"too late")
    other.close()
    await settle()
    assert seen == []
