"""HB: heartbeats of a device, and when it ends the session of a silent host."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from devices.conformance.raw_host import LINE_ALLOWANCE_S, frames_text, unsealed_frame
from devices.conformance.requirements import Chapter, RequirementFailed, expect
from firmware_bridge import frame as fr
from firmware_bridge.commands import GetReport
from firmware_bridge.link import HEARTBEAT_S, PROBE_AFTER_S, PROBE_EVERY_S, SILENCE_LIMIT_S

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench

CHAPTER: Final = Chapter("HB", "Heartbeat and silence", "docs/protocol.md", needs=("HS-04",))
_SECTION: Final = "Heartbeat and silence"


@CHAPTER.requirement(1, "Receiving a sealed frame")
async def answered(bench: ConformanceBench) -> None:
    """A PING is answered by an ACK at once, with the low half of the ping's counter in `seq`."""
    raw = await bench.raw_session()
    for _ in range(3):
        place = len(raw.authentic)
        counter = raw.ping()
        received = await raw.wait_until(lambda received: received.frame.type == fr.ACK, LINE_ALLOWANCE_S, place)
        if received is None:
            raise RequirementFailed("an ACK to a PING", frames_text(raw.authentic[place:]))
        expect(received.frame.seq == counter & 0xFFFF, f"seq {counter & 0xFFFF:04x}", f"seq {received.frame.seq:04x}")


@CHAPTER.requirement(2, _SECTION)
async def heartbeat(bench: ConformanceBench) -> None:
    """After 2.0 s without sending it sends a PING."""
    raw = await bench.raw_session()
    await raw.ask(GetReport())
    await raw.host.listen(LINE_ALLOWANCE_S)
    quiet_since, place = raw.authentic[-1].at, len(raw.authentic)
    await raw.host.listen(HEARTBEAT_S / 2)
    raw.send(fr.ACK)  # it receives a frame, so it has no reason for quick PINGs
    received = await raw.wait_until(lambda received: received.frame.type == fr.PING, HEARTBEAT_S / 2, place)
    if received is None:
        raise RequirementFailed(
            f"a PING within {HEARTBEAT_S + LINE_ALLOWANCE_S} s of its last frame", frames_text(raw.authentic)
        )
    expect(
        received.at - quiet_since > HEARTBEAT_S / 2,
        f"a PING after {HEARTBEAT_S} s",
        f"after {received.at - quiet_since:.2f} s",
    )


@CHAPTER.requirement(3, _SECTION)
async def knocks(bench: ConformanceBench) -> None:
    """When it has received nothing for 2.25 s it sends a PING every 0.125 s."""
    raw = await bench.raw_session()
    await raw.ask(GetReport())
    raw.acknowledges = False
    raw.send(fr.ACK)
    began = raw.host.now
    await raw.host.listen(SILENCE_LIMIT_S - LINE_ALLOWANCE_S)
    knocks = [
        received.at
        for received in raw.authentic
        if received.frame.type == fr.PING and received.at - began > PROBE_AFTER_S
    ]
    gaps = [later - earlier for earlier, later in pairwise(knocks)]
    steady = len(knocks) >= 5 and max(gaps) < PROBE_EVERY_S + LINE_ALLOWANCE_S / 2
    expect(
        steady,
        f"a PING every {PROBE_EVERY_S} s from {PROBE_AFTER_S} s on",
        f"{len(knocks)}, {' '.join(f'{gap:.2f} s' for gap in gaps)}",
    )


@CHAPTER.requirement(4, _SECTION)
async def patient(bench: ConformanceBench) -> None:
    """A session survives 3 s of silence of the host."""
    raw = await bench.raw_session()
    await raw.ask(GetReport())
    raw.acknowledges = False
    await raw.host.listen(SILENCE_LIMIT_S - 2 * LINE_ALLOWANCE_S)
    raw.acknowledges = True
    await raw.ask(GetReport())


@CHAPTER.requirement(5, _SECTION, needs=("HS-13",))
async def silence(bench: ConformanceBench) -> None:
    """After 3.5 s of silence the session has ended."""
    raw = await bench.raw_session()
    raw.acknowledges = False
    await raw.host.listen(SILENCE_LIMIT_S + 2 * LINE_ALLOWANCE_S)
    expect(not await raw.is_alive(), f"no session after {SILENCE_LIMIT_S} s of silence", "it continues")


@CHAPTER.requirement(6, _SECTION, needs=("HS-13",))
async def authentic_life(bench: ConformanceBench) -> None:
    """Only authentic frames keep a session alive: forged, replayed and unsealed ones do not."""
    raw = await bench.raw_session()
    old = fr.to_wire(*raw.seal(fr.PING))
    raw.host.write(old)
    raw.acknowledges = False
    until = raw.host.now + SILENCE_LIMIT_S + 2 * LINE_ALLOWANCE_S
    while raw.host.now < until:
        signed, _ = raw.seal(fr.PING)
        raw.host.write(fr.to_wire(signed, bytes(fr.MAC_SIZE)))
        raw.host.write(old)
        raw.host.write(fr.to_wire(unsealed_frame(b"", 0, fr.PING)))
        await asyncio.sleep(HEARTBEAT_S / 2)
    expect(not await raw.is_alive(), "the end of the session", "it continues")
