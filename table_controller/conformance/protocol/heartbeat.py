"""HB: heartbeats of a device, and when it ends the session of a silent host."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from firmware_bridge import frame as fr
from firmware_bridge.commands import GetReport
from firmware_bridge.link import ANXIOUS, HEARTBEAT, KNOCK, SILENCE
from table_controller.conformance.probe import LINE, told, unsealed
from table_controller.conformance.requirements import Chapter, Failed, expect

if TYPE_CHECKING:
    from table_controller.conformance.bench import Bench

CHAPTER: Final = Chapter("HB", "Heartbeat and silence", "docs/protocol.md", needs=("HS-04",))
_SECTION: Final = "Heartbeat and silence"


@CHAPTER.requirement(1, "Receiving a sealed frame")
async def answered(bench: Bench) -> None:
    """A PING is answered by an ACK at once, with the low half of the ping's counter in `seq`."""
    raw = await bench.raw()
    for _ in range(3):
        place = len(raw.got)
        counter = raw.ping()
        received = await raw.until(lambda received: received.frame.type == fr.ACK, LINE, place)
        if received is None:
            raise Failed("an ACK to a PING", told(raw.got[place:]))
        expect(received.frame.seq == counter & 0xFFFF, f"seq {counter & 0xFFFF:04x}", f"seq {received.frame.seq:04x}")


@CHAPTER.requirement(2, _SECTION)
async def heartbeat(bench: Bench) -> None:
    """After 2.0 s without sending it sends a PING."""
    raw = await bench.raw()
    await raw.ask(GetReport())
    await raw.probe.listen(LINE)
    quiet_since, place = raw.got[-1].at, len(raw.got)
    await raw.probe.listen(HEARTBEAT / 2)
    raw.send(fr.ACK)  # it receives a frame, so it has no reason for quick PINGs
    received = await raw.until(lambda received: received.frame.type == fr.PING, HEARTBEAT / 2, place)
    if received is None:
        raise Failed(f"a PING within {HEARTBEAT + LINE} s of its last frame", told(raw.got))
    expect(
        received.at - quiet_since > HEARTBEAT / 2,
        f"a PING after {HEARTBEAT} s",
        f"after {received.at - quiet_since:.2f} s",
    )


@CHAPTER.requirement(3, _SECTION)
async def knocks(bench: Bench) -> None:
    """When it has received nothing for 2.25 s it sends a PING every 0.125 s."""
    raw = await bench.raw()
    await raw.ask(GetReport())
    raw.attentive = False
    raw.send(fr.ACK)
    began = raw.probe.now
    await raw.probe.listen(SILENCE - LINE)
    knocks = [received.at for received in raw.got if received.frame.type == fr.PING and received.at - began > ANXIOUS]
    gaps = [later - earlier for earlier, later in pairwise(knocks)]
    steady = len(knocks) >= 5 and max(gaps) < KNOCK + LINE / 2
    expect(
        steady,
        f"a PING every {KNOCK} s from {ANXIOUS} s on",
        f"{len(knocks)}, {' '.join(f'{gap:.2f} s' for gap in gaps)}",
    )


@CHAPTER.requirement(4, _SECTION)
async def patient(bench: Bench) -> None:
    """A session survives 3 s of silence of the host."""
    raw = await bench.raw()
    await raw.ask(GetReport())
    raw.attentive = False
    await raw.probe.listen(SILENCE - 2 * LINE)
    raw.attentive = True
    await raw.ask(GetReport())


@CHAPTER.requirement(5, _SECTION, needs=("HS-13",))
async def silence(bench: Bench) -> None:
    """After 3.5 s of silence the session has ended."""
    raw = await bench.raw()
    raw.attentive = False
    await raw.probe.listen(SILENCE + 2 * LINE)
    expect(not await raw.lives(), f"no session after {SILENCE} s of silence", "it continues")


@CHAPTER.requirement(6, _SECTION, needs=("HS-13",))
async def authentic_life(bench: Bench) -> None:
    """Only authentic frames keep a session alive: forged, replayed and unsealed ones do not."""
    raw = await bench.raw()
    old = fr.to_wire(*raw.sealed(fr.PING))
    raw.probe.write(old)
    raw.attentive = False
    until = raw.probe.now + SILENCE + 2 * LINE
    while raw.probe.now < until:
        signed, _ = raw.sealed(fr.PING)
        raw.probe.write(fr.to_wire(signed, bytes(fr.MAC_SIZE)))
        raw.probe.write(old)
        raw.probe.write(fr.to_wire(unsealed(b"", 0, fr.PING)))
        await asyncio.sleep(HEARTBEAT / 2)
    expect(not await raw.lives(), "the end of the session", "it continues")
