"""The frames of the last seconds of one port, and how what they belong to began. Bounded; no card, no key, no MAC.

A fault comes in the middle of a session that may be a day old. So that its frames can be played into a driver again,
what a session begins with is kept when it leaves the window: the hello, the newest answered report and inventory, and
the newest command. A machine that was asked at its last rest is known from there on.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

import msgspec

from devices.registry import all_messages, members
from devices.shoe import messages as shoe
from devices.shuffler import messages as shuffler
from firmware_bridge import frame as fr
from firmware_bridge.capture import Blanker, read_tag
from firmware_bridge.commands import GetReport, Outcome, Settled
from firmware_bridge.messages import DeviceHello, tag_of
from table_controller.diagnosis.dossier import Frame

if TYPE_CHECKING:
    from collections.abc import Callable

# How far back frames are kept (s), and how many at most: a busy shuffler sends about fifty a second.
SECONDS: Final = 30.0
_MOST_FRAMES: Final = 4000
_MOST_ASKED: Final = 16
_HELLO: Final = tag_of(DeviceHello)
_SETTLED: Final = tag_of(Settled)
# Questions whose newest answer says where a machine stood.
_STANDS: Final = frozenset(tag_of(question) for question in (GetReport, shuffler.GetStatus, shoe.GetStatus))
_ACTUATIONS: Final = frozenset(
    tag_of(command) for machine in (shuffler, shoe) for command in members(machine.Actuation)
)

_Kept = tuple[float, bool, bytes]  # when, outgoing, header and payload


class FrameRing:
    """Takes every frame of one port, blanked as a capture blanks it."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._frames: deque[_Kept] = deque()
        self._blanker = Blanker(all_messages())
        self._hello: _Kept | None = None
        self._asked: dict[int, tuple[int, _Kept]] = {}  # by sequence number: questions that have left the window
        self._stood: dict[int, tuple[_Kept, _Kept]] = {}  # by the question's tag: it, and its answer
        self._command: _Kept | None = None

    def __call__(self, outgoing: bool, signed: bytes, mac: bytes) -> None:  # noqa: ARG002 - not kept, see below
        """Take a frame; the port's capture calls this. A MAC is not kept: over a blanked payload it would tell it."""
        payload = signed[fr.HEADER_SIZE :]
        if self._blanker.objection(payload):
            signed = signed[: fr.HEADER_SIZE] + self._blanker.blank(payload)
        now = self._now()
        frames = self._frames
        frames.append((now, outgoing, signed))
        while frames[0][0] < now - SECONDS or len(frames) > _MOST_FRAMES:
            self._leaves(frames.popleft())

    def _leaves(self, kept: _Kept) -> None:
        """A frame leaves the window; what a session begins with is kept."""
        _, outgoing, signed = kept
        if len(signed) == fr.HEADER_SIZE:
            return
        _, kind, seq, _, answers, _ = fr.HEADER.unpack_from(signed)
        if kind == fr.REQUEST and outgoing:
            tag, _ = read_tag(signed[fr.HEADER_SIZE :])
            if tag in _STANDS:
                self._asked[seq] = (tag, kept)
                if len(self._asked) > _MOST_ASKED:  # the oldest was never answered
                    del self._asked[next(iter(self._asked))]
            elif tag in _ACTUATIONS:
                self._command = kept
        elif kind == fr.REPLY and answers in self._asked:
            tag, question = self._asked.pop(answers)
            self._stood[tag] = (question, kept)
        elif kind in (fr.REPLY, fr.EVENT) and self._command is not None and _settles(signed, self._command[2]):
            self._command = None  # it had ended: nothing of it is to be played again
        elif kind == fr.HANDSHAKE and not outgoing and read_tag(signed[fr.HEADER_SIZE :])[0] == _HELLO:
            self._hello, self._command = kept, None
            self._asked.clear()
            self._stood.clear()

    def opening(self) -> tuple[Frame, ...]:
        """Return what the session had begun with before the window, the oldest first; nothing if it is in it."""
        now = self._now()
        pairs = [each for pair in self._stood.values() for each in pair]
        kept = [each for each in (self._hello, *pairs, self._command) if each is not None]
        return tuple(_frame(now, *each) for each in sorted(kept, key=lambda each: each[0]))

    def frames(self) -> tuple[Frame, ...]:
        """Return the window, the oldest first."""
        now = self._now()
        return tuple(_frame(now, *each) for each in self._frames if each[0] >= now - SECONDS)


def _settles(answer: bytes, command: bytes) -> bool:
    """Tell whether a frame is the end of a command."""
    said, asked = answer[fr.HEADER_SIZE :], command[fr.HEADER_SIZE :]
    if read_tag(said)[0] != _SETTLED:
        return False
    end = msgspec.msgpack.decode(said, type=Settled)
    return end.outcome is not Outcome.RUNNING and msgspec.msgpack.decode(asked)[1] == end.command


def _frame(now: float, at: float, outgoing: bool, data: bytes) -> Frame:
    return Frame(round((now - at) * 1000), outgoing, data)
