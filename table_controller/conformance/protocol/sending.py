"""RT: retransmission until frames are acknowledged: marked, spaced, within the window, and limited in time."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from firmware_bridge import frame as fr
from firmware_bridge.commands import GetReport
from firmware_bridge.link import HEARTBEAT, QUEUE_LIMIT, SILENCE, UNACKNOWLEDGED, WINDOW
from firmware_bridge.round_trip import ACK_DELAY, FIRST_RTO, MAX_RTO, MIN_RTO
from firmware_bridge.transport.serial import BAUD
from table_controller.conformance.probe import LINE, QUIET, told
from table_controller.conformance.requirements import Chapter, Failed, expect

if TYPE_CHECKING:
    from table_controller.conformance.bench import Bench
    from table_controller.conformance.probe import Heard, Raw

CHAPTER: Final = Chapter("RT", "Sending again", "docs/protocol.md", needs=("HS-04",))
_AGAIN: Final = "Sending, and sending again"
# Reports of one gap, sent at once: three times as many as a line of 115200 baud could carry 10 ms apart.
_REPORTS: Final = 100


async def _unheard(bench: Bench, questions: int = 1) -> tuple[Raw, list[Heard]]:
    """Ask, and acknowledge nothing; return the session and the first copies of the replies."""
    raw = await bench.raw()
    await raw.probe.listen(LINE)  # its own events are acknowledged first
    raw.attentive = False
    asked = [raw.request(GetReport()) for _ in range(questions)]
    for seq in asked:
        await raw.reply(seq)
    return raw, [raw.replies_to(seq)[0] for seq in asked]


def _copies(raw: Raw, of: Heard) -> list[Heard]:
    return [received for received in raw.sequenced() if received.frame.seq == of.frame.seq]


async def _copy(raw: Raw, of: Heard, within: float) -> Heard:
    known = len(_copies(raw, of))
    if await raw.until(lambda _: len(_copies(raw, of)) > known, within, len(raw.got)) is None:
        raise Failed(f"the unacknowledged {of} again within {within:g} s", told(raw.got))
    return _copies(raw, of)[-1]


@CHAPTER.requirement(1, _AGAIN)
async def again(bench: Bench) -> None:
    """A frame that is not acknowledged is sent again within its retransmission time, at most 2 s."""
    raw, (reply,) = await _unheard(bench)
    await _copy(raw, reply, MAX_RTO + LINE)


@CHAPTER.requirement(2, _AGAIN, needs=("RT-01",))
async def same(bench: Bench) -> None:
    """The copy keeps type, seq, re and payload; it has the RETRANSMIT flag and the next counter."""
    raw, (reply,) = await _unheard(bench)
    expect(not reply.frame.flags & fr.RETRANSMIT, "no RETRANSMIT flag at first", str(reply))
    copy, first = (await _copy(raw, reply, MAX_RTO + LINE)).frame, reply.frame
    expect(bool(copy.flags & fr.RETRANSMIT), "the RETRANSMIT flag", f"flags {copy.flags}")
    same_fields = (copy.type, copy.re, copy.payload) == (first.type, first.re, first.payload)
    expect(same_fields, str(reply), told([_copies(raw, reply)[-1]]))
    expect(copy.counter > first.counter, "a higher counter", f"{first.counter:08x}, then {copy.counter:08x}")


@CHAPTER.requirement(3, _AGAIN, needs=("RT-01",))
async def oldest_alone(bench: Bench) -> None:
    """Only the oldest unacknowledged frame is sent again."""
    raw, replies = await _unheard(bench, 3)
    await raw.probe.listen(1.5)
    again = {reply.frame.seq for reply in replies if len(_copies(raw, reply)) > 1}
    expect(again == {replies[0].frame.seq}, f"copies of {replies[0].frame.seq:04x} alone",
           f"copies of {', '.join(f'{seq:04x}' for seq in sorted(again)) or 'none'}")  # fmt: skip


@CHAPTER.requirement(4, _AGAIN)
async def enough(bench: Bench) -> None:
    """An acknowledged frame is not sent again."""
    raw, replies = await _unheard(bench, 2)
    raw.send(fr.ACK, ack=replies[-1].frame.seq + 1)
    await raw.probe.listen(LINE)
    place = len(raw.got)
    await raw.probe.listen(MAX_RTO)
    expect(not raw.sequenced(place), "no copy after the acknowledgement", told(raw.sequenced(place)))


@CHAPTER.requirement(5, "Receiving a sealed frame", needs=("RT-01",))
async def strange_ack(bench: Bench) -> None:
    """An acknowledgment of a frame that was never sent is ignored."""
    raw, (reply,) = await _unheard(bench)
    raw.send(fr.ACK, ack=reply.frame.seq + 40)
    await _copy(raw, reply, MAX_RTO + LINE)


@CHAPTER.requirement(6, "Receiving a sealed frame")
async def gap_filled(bench: Bench) -> None:
    """When an ACK reports a gap, the missing frame is sent again at once."""
    raw, replies = await _unheard(bench, 2)
    await asyncio.sleep(0.05)  # it repeats at most once per round trip
    raw.send(fr.ACK, ack=replies[0].frame.seq, re=replies[1].frame.seq)
    # Before the first sample a frame is repeated by itself only after 0.5 s.
    await _copy(raw, replies[0], min(LINE, FIRST_RTO - 0.1))


@CHAPTER.requirement(7, _AGAIN, needs=("RT-01",))
async def spaced(bench: Bench) -> None:
    """While nothing is received, the interval between copies grows."""
    raw, (reply,) = await _unheard(bench)
    await raw.probe.listen(SILENCE - 0.1)
    gaps = [later.at - earlier.at for earlier, later in pairwise(_copies(raw, reply))]
    growing = len(gaps) > 1 and all(later > 1.5 * earlier for earlier, later in pairwise(gaps[:3]))
    expect(growing, "at least two copies, each after about twice as long", " ".join(f"{gap:.3f} s" for gap in gaps))


@CHAPTER.requirement(8, _AGAIN, needs=("RT-01",))
async def not_sooner(bench: Bench) -> None:
    """No copy is sent sooner than 0.060 s, on any line."""
    raw = await bench.raw()
    for _ in range(6):
        await raw.ask(GetReport())
    raw.attentive = False
    seq = raw.request(GetReport())
    await raw.reply(seq)
    first = raw.replies_to(seq)[0]
    copy = await _copy(raw, first, MAX_RTO + LINE)
    # Half of it: both ends' clocks and buffers have their part in what is measured here.
    expect(copy.at - first.at > MIN_RTO / 2, f"not before {MIN_RTO} s", f"{copy.at - first.at:.3f} s")


@CHAPTER.requirement(9, _AGAIN)
async def window(bench: Bench) -> None:
    """At most eight frames are unacknowledged at a time; the next follow after acknowledgments."""
    raw = await bench.raw()
    await raw.probe.listen(LINE)
    raw.attentive = False
    asked = [raw.request(GetReport()) for _ in range(WINDOW + 4)]
    await raw.probe.listen(QUIET)
    sent = {received.frame.seq for received in raw.sequenced()}
    expect(0 < len(sent) <= WINDOW, f"1 to {WINDOW} frames", f"{len(sent)} frames")
    raw.attentive = True
    raw.send(fr.ACK, ack=max(sent) + 1)
    raw.expected = max(sent) + 1
    for seq in asked:
        await raw.reply(seq)


@CHAPTER.requirement(10, _AGAIN, needs=("HS-13",))
async def queue(bench: Bench) -> None:
    """A host that keeps sending requests and acknowledges nothing fills the queue of 64, and then its session ends."""
    raw = await bench.raw()
    raw.attentive = False
    for _ in range(WINDOW + QUEUE_LIMIT + 8):
        raw.request(GetReport())
    await raw.probe.listen(QUIET)
    expect(not await raw.lives(), "the end of the session", "it continues")


@CHAPTER.requirement(11, _AGAIN, needs=("HS-13",))
async def gives_up(bench: Bench) -> None:
    """A frame that is not acknowledged for 10 s ends the session, even if other frames arrive."""
    raw, _ = await _unheard(bench)
    began = raw.probe.now
    lived = 0.0
    while await raw.lives():
        lived = raw.probe.now - began
        if lived > UNACKNOWLEDGED + 2 * MAX_RTO:
            raise Failed(f"the end of the session after {UNACKNOWLEDGED:g} s", f"alive after {lived:.1f} s")
        await asyncio.sleep(HEARTBEAT / 2)
    expect(lived > UNACKNOWLEDGED / 2, f"a session for {UNACKNOWLEDGED:g} s", f"{lived:.1f} s")


@CHAPTER.requirement(12, "Receiving a sealed frame", needs=("RT-06",))
async def gap_filled_once(bench: Bench) -> None:
    """No matter how many ACKs report a gap, the missing frame is sent once per round trip, at most every 10 ms."""
    raw, replies = await _unheard(bench, 2)
    await asyncio.sleep(0.05)
    missing, held = (reply.frame.seq for reply in replies)
    reports = b"".join(fr.to_wire(*raw.sealed(fr.ACK, ack=missing, re=held)) for _ in range(_REPORTS))
    await raw.probe.pour(reports)
    await raw.probe.listen(LINE)
    copies = _copies(raw, replies[0])[1:]
    took = max(len(reports) * 10 / BAUD, copies[-1].at - copies[0].at if copies else 0.0)
    # One for the first report, and one that its retransmission time may add.
    most = 2 + int(took / ACK_DELAY)
    expect(
        len(copies) <= most, f"at most {most} copies for {_REPORTS} reports in {took:.2f} s", f"{len(copies)} copies"
    )
