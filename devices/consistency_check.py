"""A driver that checks a device's messages for consistency: a contradiction ends the session.

For machines whose result takes effect at once, such as a number or a place. A contradiction is a BadMessage, and a
fault that people must acknowledge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from devices.driver import Driver
from devices.driver_events import DeviceView, LinkDown, LinkUp, OutcomeLost, Reported
from firmware_bridge.commands import Settled
from firmware_bridge.errors import BadMessage, ProtocolError

if TYPE_CHECKING:
    from collections.abc import Callable

    from devices.service import ReportTrigger
    from firmware_bridge.messages import Message

_Answer = TypeVar("_Answer")
_View = TypeVar("_View", bound=DeviceView)


class CheckedDriver(Driver, Generic[_View]):
    """Keeps a view of the device, and compares each message with it."""

    def __init__(
        self,
        name: str,
        question: Message,
        answer: type[Message],
        on_event: Callable[[Any], None],
        *,
        initial_view: _View,
        fold: Callable[[_View, Any], _View],
        contradiction: Callable[[_View, object], str | None],
    ) -> None:
        """`contradiction` returns what is wrong with a message, given the view; None if nothing is."""
        super().__init__(name, question, answer, self._compare)
        self._on_event = on_event
        self._known = initial_view
        self._fold = fold
        self._contradiction = contradiction

    def _compare(self, event: Any) -> None:
        """Publish an event unless it is contradictory; ignore events of a session that has ended."""
        if not isinstance(event, LinkUp | LinkDown | OutcomeLost | Settled):
            if self._link is None:
                return
            wrong = self._contradiction(self._known, event.inventory if isinstance(event, Reported) else event)
            if wrong is not None:
                self._link.fail(BadMessage(f"{self.name}: {wrong}"))
                return
        self._known = self._fold(self._known, event)
        self._on_event(event)

    async def ask(self, question: Message, *answers: type[_Answer]) -> _Answer:
        """Send a request; BadMessage, and the end of the session, if the reply is contradictory."""
        reply = await super().ask(question, *answers)
        wrong = self._contradiction(self._known, reply)
        if wrong is not None:
            bad = BadMessage(f"{self.name}: {wrong}")
            if self._link is not None:
                self._link.fail(bad)
            raise bad
        return reply


def link_trigger(event: object) -> ReportTrigger | None:
    """Return the service trigger of a link event, or None. A protocol error is a fault of the device."""
    match event:
        case LinkUp():
            return "appear"
        case LinkDown(cause=ProtocolError()):
            return "fault"
        case LinkDown():
            return "vanish"
        case OutcomeLost():
            return "doubt"
        case _:
            return None
