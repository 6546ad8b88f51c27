"""A driver that holds a device to its word: what contradicts what it told before ends the session. Knows no machine.

For machines whose word decides something at once, a number or a place. Such a device is not asked which of its two
stories is true: BadMessage, and a fault that people must acknowledge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from devices.driver import Driver
from devices.report import LinkDown, LinkUp, Misread, Reported
from firmware_bridge.commands import Settled
from firmware_bridge.errors import BadMessage, ProtocolError

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.messages import Message

_Answer = TypeVar("_Answer")


class Witness(Driver):
    """Folds what it tells, and compares everything that a device says with that."""

    def __init__(
        self,
        name: str,
        question: Message,
        answer: type[Message],
        on_event: Callable[[Any], None],
        *,
        blank: Any,
        fold: Callable[[Any, Any], Any],
        contradiction: Callable[[Any, Any], str | None],
    ) -> None:
        """`contradiction` gives what is wrong with something said, by what is known, or None."""
        super().__init__(name, question, answer, self._compare)
        self._on_event = on_event
        self._known = blank
        self._fold = fold
        self._contradiction = contradiction

    def _compare(self, event: Any) -> None:
        """Pass on what is told, unless it cannot be true; a session that ended has nothing more to say."""
        if not isinstance(event, LinkUp | LinkDown | Misread | Settled):
            if self._link is None:
                return
            wrong = self._contradiction(self._known, event.inventory if isinstance(event, Reported) else event)
            if wrong is not None:
                self._link.fail(BadMessage(f"{self.name}: {wrong}"))
                return
        self._known = self._fold(self._known, event)
        self._on_event(event)

    async def ask(self, question: Message, *answers: type[_Answer]) -> _Answer:
        """Ask a question; BadMessage, and the end of the session, if the answer cannot be true."""
        reply = await super().ask(question, *answers)
        wrong = self._contradiction(self._known, reply)
        if wrong is not None:
            bad = BadMessage(f"{self.name}: {wrong}")
            if self._link is not None:
                self._link.fail(bad)
            raise bad
        return reply


def link_trigger(event: object) -> str | None:
    """Return what a link's life means for the slot's service state, or None: a broken word is a fault, not a cable."""
    match event:
        case LinkUp():
            return "appear"
        case LinkDown(cause=ProtocolError()):
            return "fault"
        case LinkDown():
            return "vanish"
        case Misread():
            return "doubt"
        case _:
            return None
