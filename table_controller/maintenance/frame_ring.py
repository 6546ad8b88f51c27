"""The frames of the last seconds of one port, and the start of their session. Bounded; without cards, keys and MACs.

A fault may happen a day after the session began. To replay its frames into a driver, the ring keeps the frames that a
session begins with when they leave the window: the hello, the newest answered report and status, and the newest
command.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

import msgspec

from devices.message_registry import all_messages, union_members
from devices.shoe import messages as shoe
from devices.shuffler import messages as shuffler
from firmware_bridge import frame as fr
from firmware_bridge.capture import Blanker, read_tag
from firmware_bridge.commands import GetReport, Outcome, Settled
from firmware_bridge.messages import DeviceHello, tag_of
from table_controller.diagnosis.fault_report import FrameAtFault

if TYPE_CHECKING:
    from collections.abc import Callable

# The window (s), and the most frames in it: a busy shuffler sends about fifty a second.
WINDOW_S: Final = 30.0
_MOST_FRAMES: Final = 4000
_MOST_ASKED: Final = 16
_HELLO: Final = tag_of(DeviceHello)
_SETTLED: Final = tag_of(Settled)
# Questions whose newest answer has the state of the machine.
_STATE_QUESTIONS: Final = frozenset(tag_of(question) for question in (GetReport, shuffler.GetStatus, shoe.GetStatus))
_ACTUATIONS: Final = frozenset(
    tag_of(command) for machine in (shuffler, shoe) for command in union_members(machine.Actuation)
)

_Kept = tuple[float, bool, bytes]  # when, outgoing, header and payload


class FrameRing:
    """Keeps every frame of one port, with cards blanked as in a capture."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._frames: deque[_Kept] = deque()
        self._blanker = Blanker(all_messages())
        self._hello: _Kept | None = None
        self._asked: dict[int, tuple[int, _Kept]] = {}  # sequence number -> question that has left the window
        self._stood: dict[int, tuple[_Kept, _Kept]] = {}  # tag of a question -> question and answer
        self._command: _Kept | None = None

    def __call__(self, outgoing: bool, signed: bytes, mac: bytes) -> None:  # noqa: ARG002 - not kept, see below
        """Add a frame; the capture of the port calls this. The MAC is dropped: it would reveal the blanked payload."""
        payload = signed[fr.HEADER_SIZE :]
        if self._blanker.blank_reason(payload):
            signed = signed[: fr.HEADER_SIZE] + self._blanker.blank(payload)
        now = self._now()
        frames = self._frames
        frames.append((now, outgoing, signed))
        while frames[0][0] < now - WINDOW_S or len(frames) > _MOST_FRAMES:
            self._leaves(frames.popleft())

    def _leaves(self, kept: _Kept) -> None:
        """Drop a frame that leaves the window, unless its session begins with it."""
        _, outgoing, signed = kept
        if len(signed) == fr.HEADER_SIZE:
            return
        _, kind, seq, _, answers, _ = fr.HEADER.unpack_from(signed)
        if kind == fr.REQUEST and outgoing:
            tag, _ = read_tag(signed[fr.HEADER_SIZE :])
            if tag in _STATE_QUESTIONS:
                self._asked[seq] = (tag, kept)
                if len(self._asked) > _MOST_ASKED:  # the oldest was never answered
                    del self._asked[next(iter(self._asked))]
            elif tag in _ACTUATIONS:
                self._command = kept
        elif kind == fr.REPLY and answers in self._asked:
            tag, question = self._asked.pop(answers)
            self._stood[tag] = (question, kept)
        elif kind in (fr.REPLY, fr.EVENT) and self._command is not None and _settles(signed, self._command[2]):
            self._command = None  # it has ended: a replay does not need it
        elif kind == fr.HANDSHAKE and not outgoing and read_tag(signed[fr.HEADER_SIZE :])[0] == _HELLO:
            self._hello, self._command = kept, None
            self._asked.clear()
            self._stood.clear()

    def opening(self) -> tuple[FrameAtFault, ...]:
        """Return the first frames of the session, oldest first; empty if they are in the window."""
        now = self._now()
        pairs = [each for pair in self._stood.values() for each in pair]
        kept = [each for each in (self._hello, *pairs, self._command) if each is not None]
        return tuple(_frame(now, *each) for each in sorted(kept, key=lambda each: each[0]))

    def frames(self) -> tuple[FrameAtFault, ...]:
        """Return the frames of the window, oldest first."""
        now = self._now()
        return tuple(_frame(now, *each) for each in self._frames if each[0] >= now - WINDOW_S)


def _settles(answer: bytes, command: bytes) -> bool:
    """Return whether a frame reports the end of a command."""
    reply, asked = answer[fr.HEADER_SIZE :], command[fr.HEADER_SIZE :]
    if read_tag(reply)[0] != _SETTLED:
        return False
    end = msgspec.msgpack.decode(reply, type=Settled)
    return end.outcome is not Outcome.RUNNING and msgspec.msgpack.decode(asked)[1] == end.command


def _frame(now: float, at: float, outgoing: bool, data: bytes) -> FrameAtFault:
    return FrameAtFault(round((now - at) * 1000), outgoing, data)
