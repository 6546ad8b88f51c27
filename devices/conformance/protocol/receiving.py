"""LK: receiving frames within a session: once, in order, acknowledged, answered in time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.conformance.raw_host import LINE_ALLOWANCE_S, QUIET_S, frames_text
from devices.conformance.requirements import Chapter, RequirementFailed, expect
from devices.driver import REPLY_TIMEOUT_S
from firmware_bridge import frame as fr
from firmware_bridge.commands import AskCommand, GetReport, Outcome, Settled
from firmware_bridge.link import HEARTBEAT_S, URGENT_WINDOW, WINDOW
from firmware_bridge.messages import encode
from firmware_bridge.rtt_estimator import ACK_DELAY_S

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.raw_host import RawSession, ReceivedFrame

CHAPTER: Final = Chapter("LK", "Receiving within a session", "docs/protocol.md", needs=("HS-04",))
_LINK: Final = "The link"
_RECEIVING: Final = "Receiving a sealed frame"
_REPORT: Final = encode(GetReport())
# So many requests must be acknowledged alone, but for one.
_LONE: Final = 3


@CHAPTER.requirement(1, _LINK)
async def one_reply(bench: ConformanceBench) -> None:
    """A request gets exactly one reply, with the request's number in `re`."""
    raw = await bench.raw_session()
    asked = [raw.request(bench.profile.question) for _ in range(3)]
    for seq in asked:
        await raw.wait_reply(seq)
    await raw.host.listen(QUIET_S)
    named = list({received.frame.seq: received.frame.re for received in raw.replies()}.values())
    expect(sorted(named) == asked, f"one reply each to {asked}", f"replies to {named}")


@CHAPTER.requirement(2, _LINK)
async def numbered(bench: ConformanceBench) -> None:
    """Its replies and events are numbered from 0x0101 without gaps."""
    raw = await bench.raw_session()
    for _ in range(4):
        await raw.ask(GetReport())
    seen = [received.frame.seq for received in raw.sequenced() if not received.frame.flags & fr.RETRANSMIT]
    expect(seen == list(range(fr.FIRST_SEQ, fr.FIRST_SEQ + len(seen))), "numbers from 0101 on", f"{seen}")


@CHAPTER.requirement(3, "Deadlines")
async def in_time(bench: ConformanceBench) -> None:
    """A request for its state is answered within 0.3 s."""
    raw = await bench.raw_session()
    for question in (GetReport(), bench.profile.question):
        began = raw.host.now
        await raw.ask(question)
        took = raw.host.now - began
        expect(
            took <= REPLY_TIMEOUT_S + LINE_ALLOWANCE_S,
            f"an answer within {REPLY_TIMEOUT_S} s (and {LINE_ALLOWANCE_S} s for the line)",
            f"{took:.3f} s",
        )


@CHAPTER.requirement(4, _RECEIVING)
async def acknowledges(bench: ConformanceBench) -> None:
    """A reply acknowledges the request that it answers."""
    raw = await bench.raw_session()
    for _ in range(3):
        seq = raw.request(GetReport())
        await raw.wait_reply(seq)
        ack = raw.replies_to(seq)[0].frame.ack
        if ack != seq + 1:  # an ACK of its own may have gone ahead, or may follow at once
            await raw.host.listen(LINE_ALLOWANCE_S)
            expect(raw.authentic[-1].frame.ack == seq + 1, f"ack {seq + 1:04x}", f"ack {ack:04x}")


@CHAPTER.requirement(5, "Sending, and sending again")
async def marked(bench: ConformanceBench) -> None:
    """A request with the RETRANSMIT flag that arrives for the first time is answered."""
    raw = await bench.raw_session()
    await raw.wait_reply(raw.request(GetReport(), flags=fr.RETRANSMIT))


@CHAPTER.requirement(6, _RECEIVING)
async def duplicate(bench: ConformanceBench) -> None:
    """A duplicate request is answered once, and acknowledged again at once."""
    raw = await bench.raw_session()
    seq = raw.request(GetReport())
    await raw.wait_reply(seq)
    await raw.host.listen(QUIET_S)
    place = len(raw.authentic)
    raw.request(GetReport(), seq=seq, flags=fr.RETRANSMIT)
    received = await raw.wait_until(lambda received: received.frame.type == fr.ACK, LINE_ALLOWANCE_S, place)
    expect(
        received is not None and received.frame.ack == seq + 1,
        f"an ACK with ack {seq + 1:04x}",
        frames_text(raw.authentic[place:]),
    )
    await raw.host.listen(QUIET_S)
    expect(not raw.replies(place), "no second reply", frames_text(raw.replies(place)))


@CHAPTER.requirement(7, _RECEIVING)
async def in_order(bench: ConformanceBench) -> None:
    """Requests that arrive out of order are answered in order."""
    raw = await bench.raw_session()
    first = raw.seq
    for seq in (first + 1, first + 2):
        raw.request(GetReport(), seq=seq)
    await raw.host.listen(QUIET_S)
    expect(not raw.replies(), "no reply before the missing request has come", frames_text(raw.replies()))
    raw.request(GetReport(), seq=first)
    for seq in (first, first + 1, first + 2):
        await raw.wait_reply(seq)
    answered = [received.frame.re for received in raw.replies() if not received.frame.flags & fr.RETRANSMIT]
    expect(answered == [first, first + 1, first + 2], "replies in the order of the requests", f"replies to {answered}")


@CHAPTER.requirement(8, _RECEIVING)
async def gap_reported(bench: ConformanceBench) -> None:
    """An early frame is acknowledged at once, with its number in `re` and the missing number in `ack`."""
    raw = await bench.raw_session()
    missing = raw.seq
    raw.request(GetReport(), seq=missing + 2)
    received = await raw.wait_until(lambda received: received.frame.type == fr.ACK, LINE_ALLOWANCE_S)
    if received is None:
        raise RequirementFailed("an ACK at once", frames_text(raw.authentic))
    seen = (received.frame.ack, received.frame.re)
    expect(seen == (missing, missing + 2), f"({missing}, {missing + 2}) as ack and re", seen)


@CHAPTER.requirement(9, _RECEIVING)
async def holds_eleven(bench: ConformanceBench) -> None:
    """It holds up to eleven early frames."""
    raw = await bench.raw_session()
    first = raw.seq
    for ahead in range(1, URGENT_WINDOW):
        raw.request(GetReport(), seq=first + ahead)
    raw.request(GetReport(), seq=first)
    await _all_answered(raw, first, URGENT_WINDOW)


@CHAPTER.requirement(10, _RECEIVING)
async def too_far_ahead(bench: ConformanceBench) -> None:
    """A frame that is twelve or more ahead is dropped, and an ACK is sent."""
    raw = await bench.raw_session()
    first = raw.seq
    far = first + URGENT_WINDOW
    raw.request(GetReport(), seq=far)
    received = await raw.wait_until(lambda received: received.frame.type == fr.ACK, LINE_ALLOWANCE_S)
    expect(
        received is not None and received.frame.re == fr.NO_RE,
        "an ACK at once that reports nothing",
        frames_text(raw.authentic),
    )
    for ahead in range(URGENT_WINDOW):
        raw.request(GetReport(), seq=first + ahead)
    await _all_answered(raw, first, URGENT_WINDOW)
    await raw.host.listen(QUIET_S)
    expect(not raw.replies_to(far), "no reply to what was dropped", frames_text(raw.replies_to(far)))
    raw.request(GetReport(), seq=far, flags=fr.RETRANSMIT)
    await raw.wait_reply(far)


async def _all_answered(raw: RawSession, first: int, count: int) -> None:
    for seq in range(first, first + count):
        await raw.wait_reply(seq)
    answered = [received.frame.re for received in raw.replies() if not received.frame.flags & fr.RETRANSMIT]
    expect(answered == list(range(first, first + count)), "every request answered, in order", f"replies to {answered}")


@CHAPTER.requirement(11, "A frame")
async def tidy_numbers(bench: ConformanceBench) -> None:
    """Its PINGs have seq 0, and only its replies and ACKs have a value in `re`."""
    raw = await bench.raw_session()
    await raw.ask(GetReport())
    raw.ping()
    await raw.host.listen(HEARTBEAT_S + 2 * LINE_ALLOWANCE_S)  # until its heartbeat

    def wrong(received: ReceivedFrame) -> bool:
        frame = received.frame
        strange_re = frame.re != fr.NO_RE and frame.type not in (fr.REPLY, fr.ACK)
        return strange_re or (frame.type == fr.PING and frame.seq != 0)

    bad = [received for received in raw.authentic if wrong(received)]
    expect(not bad, "re ffff and, in a PING, seq 0", frames_text(bad))


@CHAPTER.requirement(12, _RECEIVING, needs=("LK-08",))
async def not_held_over(bench: ConformanceBench) -> None:
    """Early frames are discarded with the session: the next session executes none of them, not even a Reset."""
    await bench.profile.bring_to_idle(bench)
    command = bench.next_id()
    old = await bench.raw_session()
    missing = old.seq
    old.request(bench.profile.reset(command), seq=missing + 1)
    if (
        await old.wait_until(lambda received: received.frame.type == fr.ACK and received.frame.re == missing + 1)
        is None
    ):
        raise RequirementFailed(f"an ACK that reports {missing + 1:04x} as kept", frames_text(old.authentic))
    new = await bench.raw_session()
    await new.ask(GetReport())  # it has the number that was missing in the old session
    await new.host.listen(QUIET_S)
    answered = [received.frame.re for received in new.replies()]
    expect(set(answered) == {missing}, "a reply to the only request of this session", f"replies to {answered}")
    again = await (await bench.wait_for_device()).open_session()
    boots = (new.greeting.hello.boot_id, again.greeting.hello.boot_id)
    expect(boots[0] == boots[1], "no restart", f"boot {boots[0]:08x} and then {boots[1]:08x}")
    known = await again.ask(AskCommand(command))
    expect(known == Settled(command, Outcome.UNKNOWN, 0), "the old session's Reset unknown", known)


@CHAPTER.requirement(13, _RECEIVING)
async def lone_acknowledgment(bench: ConformanceBench) -> None:
    """A request whose reply must wait is acknowledged by a separate ACK after 10 ms."""
    raw = await bench.raw_session()
    await raw.host.listen(LINE_ALLOWANCE_S)  # its own events are acknowledged first
    raw.acknowledges = False
    for _ in range(WINDOW):
        raw.request(GetReport())
    await raw.host.listen(QUIET_S)
    lone: list[bool] = []
    for _ in range(_LONE):  # no place is left in its window, so no reply carries these acknowledgments
        lone += [await _acknowledged(raw, raw.request(GetReport()))]
    # A copy of its first reply, which is repeated after 60 ms at the soonest, may carry one of them, but not two.
    expect(
        sum(lone) >= _LONE - 1,
        f"an ACK for each of {_LONE} requests",
        f"{sum(lone)}; {frames_text(raw.authentic[-6:])}",
    )


async def _acknowledged(raw: RawSession, seq: int) -> bool:
    """Return whether an ACK of its own acknowledges a request in time."""

    def alone(received: ReceivedFrame) -> bool:
        return received.frame.type == fr.ACK and received.frame.ack == seq + 1

    return await raw.wait_until(alone, ACK_DELAY_S + LINE_ALLOWANCE_S) is not None
