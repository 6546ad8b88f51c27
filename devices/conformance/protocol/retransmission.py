"""RT: retransmission until frames are acknowledged: marked, spaced, within the window, and limited in time."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from devices.conformance.raw_host import LINE_ALLOWANCE_S, QUIET_S, frames_text
from devices.conformance.requirements import Chapter, RequirementFailed, expect
from firmware_bridge import frame as fr
from firmware_bridge.commands import GetReport
from firmware_bridge.link import HEARTBEAT_S, QUEUE_LIMIT, SILENCE_LIMIT_S, UNACKNOWLEDGED_LIMIT_S, WINDOW
from firmware_bridge.rtt_estimator import ACK_DELAY_S, FIRST_RTO_S, MAX_RTO_S, MIN_RTO_S
from firmware_bridge.transport.serial import BAUD

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.raw_host import RawSession, ReceivedFrame

CHAPTER: Final = Chapter("RT", "Sending again", "docs/protocol.md", needs=("HS-04",))
_AGAIN: Final = "Sending, and sending again"
# Reports of one gap, sent at once: three times as many as a line of 115200 baud could carry 10 ms apart.
_REPORTS: Final = 100


async def _unheard(bench: ConformanceBench, questions: int = 1) -> tuple[RawSession, list[ReceivedFrame]]:
    """Ask, and acknowledge nothing; return the session and the first copies of the replies."""
    raw = await bench.raw_session()
    await raw.host.listen(LINE_ALLOWANCE_S)  # its own events are acknowledged first
    raw.acknowledges = False
    asked = [raw.request(GetReport()) for _ in range(questions)]
    for seq in asked:
        await raw.wait_reply(seq)
    return raw, [raw.replies_to(seq)[0] for seq in asked]


def _copies(raw: RawSession, of: ReceivedFrame) -> list[ReceivedFrame]:
    return [received for received in raw.sequenced() if received.frame.seq == of.frame.seq]


async def _copy(raw: RawSession, of: ReceivedFrame, within: float) -> ReceivedFrame:
    known = len(_copies(raw, of))
    if await raw.wait_until(lambda _: len(_copies(raw, of)) > known, within, len(raw.authentic)) is None:
        raise RequirementFailed(f"the unacknowledged {of} again within {within:g} s", frames_text(raw.authentic))
    return _copies(raw, of)[-1]


@CHAPTER.requirement(1, _AGAIN)
async def again(bench: ConformanceBench) -> None:
    """A frame that is not acknowledged is sent again within its retransmission time, at most 2 s."""
    raw, (reply,) = await _unheard(bench)
    await _copy(raw, reply, MAX_RTO_S + LINE_ALLOWANCE_S)


@CHAPTER.requirement(2, _AGAIN, needs=("RT-01",))
async def same(bench: ConformanceBench) -> None:
    """The copy keeps type, seq, re and payload; it has the RETRANSMIT flag and the next counter."""
    raw, (reply,) = await _unheard(bench)
    expect(not reply.frame.flags & fr.RETRANSMIT, "no RETRANSMIT flag at first", str(reply))
    copy, first = (await _copy(raw, reply, MAX_RTO_S + LINE_ALLOWANCE_S)).frame, reply.frame
    expect(bool(copy.flags & fr.RETRANSMIT), "the RETRANSMIT flag", f"flags {copy.flags}")
    same_fields = (copy.type, copy.re, copy.payload) == (first.type, first.re, first.payload)
    expect(same_fields, str(reply), frames_text([_copies(raw, reply)[-1]]))
    expect(copy.counter > first.counter, "a higher counter", f"{first.counter:08x}, then {copy.counter:08x}")


@CHAPTER.requirement(3, _AGAIN, needs=("RT-01",))
async def oldest_alone(bench: ConformanceBench) -> None:
    """Only the oldest unacknowledged frame is sent again."""
    raw, replies = await _unheard(bench, 3)
    await raw.host.listen(1.5)
    again = {reply.frame.seq for reply in replies if len(_copies(raw, reply)) > 1}
    expect(again == {replies[0].frame.seq}, f"copies of {replies[0].frame.seq:04x} alone",
           f"copies of {', '.join(f'{seq:04x}' for seq in sorted(again)) or 'none'}")  # fmt: skip


@CHAPTER.requirement(4, _AGAIN)
async def enough(bench: ConformanceBench) -> None:
    """An acknowledged frame is not sent again."""
    raw, replies = await _unheard(bench, 2)
    raw.send(fr.ACK, ack=replies[-1].frame.seq + 1)
    await raw.host.listen(LINE_ALLOWANCE_S)
    place = len(raw.authentic)
    await raw.host.listen(MAX_RTO_S)
    expect(not raw.sequenced(place), "no copy after the acknowledgment", frames_text(raw.sequenced(place)))


@CHAPTER.requirement(5, "Receiving a sealed frame", needs=("RT-01",))
async def strange_ack(bench: ConformanceBench) -> None:
    """An acknowledgment of a frame that was never sent is ignored."""
    raw, (reply,) = await _unheard(bench)
    raw.send(fr.ACK, ack=reply.frame.seq + 40)
    await _copy(raw, reply, MAX_RTO_S + LINE_ALLOWANCE_S)


@CHAPTER.requirement(6, "Receiving a sealed frame")
async def gap_filled(bench: ConformanceBench) -> None:
    """When an ACK reports a gap, the missing frame is sent again at once."""
    raw, replies = await _unheard(bench, 2)
    await asyncio.sleep(0.05)  # it repeats at most once per round trip
    raw.send(fr.ACK, ack=replies[0].frame.seq, re=replies[1].frame.seq)
    # Before the first sample a frame is repeated by itself only after 0.5 s.
    await _copy(raw, replies[0], min(LINE_ALLOWANCE_S, FIRST_RTO_S - 0.1))


@CHAPTER.requirement(7, _AGAIN, needs=("RT-01",))
async def spaced(bench: ConformanceBench) -> None:
    """While nothing is received, the interval between copies grows."""
    raw, (reply,) = await _unheard(bench)
    await raw.host.listen(SILENCE_LIMIT_S - 0.1)
    gaps = [later.at - earlier.at for earlier, later in pairwise(_copies(raw, reply))]
    growing = len(gaps) > 1 and all(later > 1.5 * earlier for earlier, later in pairwise(gaps[:3]))
    expect(growing, "at least two copies, each after about twice as long", " ".join(f"{gap:.3f} s" for gap in gaps))


@CHAPTER.requirement(8, _AGAIN, needs=("RT-01",))
async def not_sooner(bench: ConformanceBench) -> None:
    """No copy is sent sooner than 0.060 s, on any line."""
    raw = await bench.raw_session()
    for _ in range(6):
        await raw.ask(GetReport())
    raw.acknowledges = False
    seq = raw.request(GetReport())
    await raw.wait_reply(seq)
    first = raw.replies_to(seq)[0]
    copy = await _copy(raw, first, MAX_RTO_S + LINE_ALLOWANCE_S)
    # Half of it: both ends' clocks and buffers have their part in what is measured here.
    expect(copy.at - first.at > MIN_RTO_S / 2, f"not before {MIN_RTO_S} s", f"{copy.at - first.at:.3f} s")


@CHAPTER.requirement(9, _AGAIN)
async def window(bench: ConformanceBench) -> None:
    """At most eight frames are unacknowledged at a time; the next follow after acknowledgments."""
    raw = await bench.raw_session()
    await raw.host.listen(LINE_ALLOWANCE_S)
    raw.acknowledges = False
    asked = [raw.request(GetReport()) for _ in range(WINDOW + 4)]
    await raw.host.listen(QUIET_S)
    sent = {received.frame.seq for received in raw.sequenced()}
    expect(0 < len(sent) <= WINDOW, f"1 to {WINDOW} frames", f"{len(sent)} frames")
    raw.acknowledges = True
    raw.send(fr.ACK, ack=max(sent) + 1)
    raw.expected = max(sent) + 1
    for seq in asked:
        await raw.wait_reply(seq)


@CHAPTER.requirement(10, _AGAIN, needs=("HS-13",))
async def queue(bench: ConformanceBench) -> None:
    """A host that keeps sending requests and acknowledges nothing fills the queue of 64, and then its session ends."""
    raw = await bench.raw_session()
    raw.acknowledges = False
    for _ in range(WINDOW + QUEUE_LIMIT + 8):
        raw.request(GetReport())
    await raw.host.listen(QUIET_S)
    expect(not await raw.is_alive(), "the end of the session", "it continues")


@CHAPTER.requirement(11, _AGAIN, needs=("HS-13",))
async def gives_up(bench: ConformanceBench) -> None:
    """A frame that is not acknowledged for 10 s ends the session, even if other frames arrive."""
    raw, _ = await _unheard(bench)
    began = raw.host.now
    lived = 0.0
    while await raw.is_alive():
        lived = raw.host.now - began
        if lived > UNACKNOWLEDGED_LIMIT_S + 2 * MAX_RTO_S:
            raise RequirementFailed(
                f"the end of the session after {UNACKNOWLEDGED_LIMIT_S:g} s", f"alive after {lived:.1f} s"
            )
        await asyncio.sleep(HEARTBEAT_S / 2)
    expect(lived > UNACKNOWLEDGED_LIMIT_S / 2, f"a session for {UNACKNOWLEDGED_LIMIT_S:g} s", f"{lived:.1f} s")


@CHAPTER.requirement(12, "Receiving a sealed frame", needs=("RT-06",))
async def gap_filled_once(bench: ConformanceBench) -> None:
    """No matter how many ACKs report a gap, the missing frame is sent once per round trip, at most every 10 ms."""
    raw, replies = await _unheard(bench, 2)
    await asyncio.sleep(0.05)
    missing, held = (reply.frame.seq for reply in replies)
    reports = b"".join(fr.to_wire(*raw.seal(fr.ACK, ack=missing, re=held)) for _ in range(_REPORTS))
    await raw.host.write_paced(reports)
    await raw.host.listen(LINE_ALLOWANCE_S)
    copies = _copies(raw, replies[0])[1:]
    took = max(len(reports) * 10 / BAUD, copies[-1].at - copies[0].at if copies else 0.0)
    # One for the first report, and one that its retransmission time may add.
    most = 2 + int(took / ACK_DELAY_S)
    expect(
        len(copies) <= most, f"at most {most} copies for {_REPORTS} reports in {took:.2f} s", f"{len(copies)} copies"
    )
