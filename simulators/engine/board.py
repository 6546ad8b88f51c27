"""The controller board of every simulated machine: power, boot, persistent memory, and the device's end of the link.

The board passes requests to the machine's firmware through `handle`; the firmware sends events through `emit`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge.commands import Accepted, AskCommand, CommandMemory, GetReport, Outcome, Report
from firmware_bridge.errors import BadFault, BadMessage, LinkError, PortFailed
from firmware_bridge.handshake import DeviceHandshake
from firmware_bridge.messages import decoder, tag_of
from firmware_bridge.wire import Wire
from simulators.engine.line import FaultyLine

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from firmware_bridge.link import Link
    from firmware_bridge.messages import DeviceHello, Message
    from firmware_bridge.wire import Transport
    from simulators.engine.device_clock import DeviceClock
    from simulators.engine.faults import InjectedFault

# Time from power-up to the first byte (device seconds).
BOOT_TIME: Final = 0.3
_UNSET_CHALLENGE: Final = bytes(16)


class Board:
    """Strict: a message that its machine does not know ends the session. The same seed gives the same bytes."""

    def __init__(
        self,
        identity: DeviceHello,
        key: bytes,
        messages: Any,
        handle: Callable[[Any], Message],
        on_boot: Callable[[], None],
        clock: DeviceClock,
        rng: Random,
        entropy: Callable[[int], bytes],
    ) -> None:
        self.identity = identity
        self.key = key
        self.memory = CommandMemory()  # survives power cuts
        self.clock = clock
        self.alive = False
        self.session_role = ""  # of the host of the newest session, as it claims
        self.line = FaultyLine(rng)
        self.on_power_off: Callable[[], None] = _nothing  # power is gone: motors stop
        self.on_session_start: Callable[[], None] = _nothing  # a session began
        self._messages = messages
        self._handle = handle
        self._on_boot = on_boot
        self._rng = rng
        self._entropy = entropy
        self._link: Link | None = None
        self._greeter: DeviceHandshake | None = None
        self._bench_visits = 0  # survives power cuts
        self._booted_at = 0.0
        self._withheld: list[str] = []

    # --- power -------------------------------------------------------------------------------------------------

    def power_on(self) -> None:
        """Boot: a new boot id, no session, the persistent memory."""
        if self.alive:
            return
        self.alive = True
        self._booted_at = self.clock.now
        self.identity = msgspec.structs.replace(
            self.identity, boot_id=self._rng.getrandbits(32), challenge=_UNSET_CHALLENGE
        )
        self._greeter = DeviceHandshake(
            Wire(self.line), self.key, self.identity, decoder(self._messages), self._session, self._entropy
        )
        self.line.on_lost = self._cable_gone
        self._on_boot()

    def power_off(self) -> None:
        """Lose everything volatile."""
        self.alive = False
        self.clock.stop()
        self.on_power_off()
        self._end_session(LinkError("power is off"))
        self._greeter = None
        self.line.on_bytes = _nothing_of

    def restart(self, after: float) -> None:
        """Power off and on again, `after` device seconds later."""
        self.power_off()
        self.clock.after(after, self.power_on)

    # --- link --------------------------------------------------------------------------------------------------

    def plug(self, transport: Transport) -> None:
        """Put the cable into a port."""
        self.line.plug(transport)

    def unplug(self) -> None:
        """Pull the cable."""
        self.line.close()
        self._cable_gone(PortFailed("the cable was pulled"))

    def once(self, message: Any, refusal: Callable[[Any], int], begin: Callable[[Any], bool]) -> Message:
        """Carry out a command unless its id is known; return the reply.

        `refusal` returns the reason to refuse it, or 0; `begin` starts it and returns whether it has already ended.
        """
        command = message.command
        known = self.memory.begin(command, tag_of(type(message)))
        if known is not None:
            return known
        reason = refusal(message)
        if reason:
            return self.memory.settle(command, Outcome.REFUSED, reason)
        return self.memory.settle(command, Outcome.DONE) if begin(message) else Accepted(command)

    def settle(self, command: int, outcome: Outcome, reason: int = 0) -> None:
        """Record the end of a command that took some time, and report it to the host."""
        self.emit(self.memory.settle(command, outcome, reason))

    def settle_test(self, command: int, failure: int | None) -> None:
        """Record the end of a self-test: FAILED with the reason, or DONE if there is none."""
        if failure is None:
            self.settle(command, Outcome.DONE)
        else:
            self.settle(command, Outcome.FAILED, failure)

    def emit(self, event: Message, *, droppable: bool = False) -> None:
        """Send an event to the host, if there is one; a droppable event is dropped on a busy line."""
        link = self._link
        if link is None or link.down is not None or (droppable and link.is_congested):
            return
        try:
            link.send_event(event)
        except LinkError as full:
            link.fail(full)

    def _session(self, link: Link, role: str) -> None:
        self._link, self.session_role = link, role
        self._bench_visits += role == "bench"
        link.on_request = self._request
        link.on_event = lambda event: link.fail(BadMessage(f"a host sends no events, but sent {event!r}"))
        self.on_session_start()

    def _request(self, message: Any, seq: int) -> None:
        link = self._link
        if link is None:
            return
        if isinstance(message, GetReport):
            uptime = int(self.clock.now - self._booted_at)
            reply: Message = Report(self.identity.boot_id, uptime, self._bench_visits, self.memory.recent())
        elif isinstance(message, AskCommand):
            reply = self.memory.recall(message.command)
        else:
            reply = self.clock.run_at_one_instant(self._handle, message)
        name = type(message).__name__
        if name in self._withheld:
            self._withheld.remove(name)
        elif self._link is link:  # the session may have ended meanwhile
            link.send_reply(seq, reply)

    def _cable_gone(self, cause: LinkError) -> None:
        self._end_session(cause)

    def _end_session(self, cause: LinkError) -> None:
        link, self._link = self._link, None
        if link is not None:
            link.fail(cause)

    # --- faults --------------------------------------------------------------------------------------------------

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of the board."""
        match fault.kind.name:
            case "withhold":
                self._withheld.append(fault.text("message"))
            case "reboot":
                self.restart(BOOT_TIME)
            case "power_cut":
                self.restart(fault.number("seconds"))
            case "hang":
                seconds = fault.number("seconds")
                self.power_off()
                if seconds:
                    self.clock.after(seconds, self.power_on)
            case "wrong_key":
                self.key = bytes(byte ^ 0x5A for byte in self.key)
                self.restart(BOOT_TIME)
            case "rogue_firmware":
                self.identity = msgspec.structs.replace(self.identity, digest=self._rng.randbytes(32))
                self.restart(BOOT_TIME)
            case name:
                raise BadFault(f"{name} does not act on the board")


def _nothing() -> None:
    """Do nothing."""


def _nothing_of(_: bytes) -> None:
    """Ignore bytes without power."""
