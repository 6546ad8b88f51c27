"""The simulated firmware of the meter sign: drives the display, measures it, and marks old amounts as stale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.meter_sign import messages as m
from firmware_bridge.commands import Outcome
from firmware_bridge.errors import BadFault
from simulators.kinds.meter_sign.mechanics import DASH

if TYPE_CHECKING:
    from firmware_bridge.messages import Message
    from simulators.engine.board import Board
    from simulators.engine.device_clock import DeviceClock
    from simulators.engine.faults import InjectedFault
    from simulators.kinds.meter_sign.mechanics import SignDisplay

# Default limit (ms): after this time without an update the sign is stale.
FIRST_LIMIT_MS: Final = 5000
TEST_TIME: Final = 0.8
RESET_TIME: Final = 0.3
# Digits of an empty row: dashes, so that an empty row differs from a dark one.
NOTHING: Final = DASH * m.DIGITS
PATTERN: Final = "8" * m.DIGITS


class MeterSignFirmware:
    """The program of the sign's controller board. Amounts do not survive a power cut."""

    def __init__(self, glass: SignDisplay, clock: DeviceClock) -> None:
        self.board: Board  # set by Machine.assemble
        self.stalled = False
        self._glass = glass
        self._clock = clock
        self._bad = m.Reason.NONE  # persistent, until a self-test passes
        self._forget()

    def _forget(self) -> None:
        """Set the state after a boot."""
        self.state = m.State.BLANK
        self._sequence = 0
        self._rows = dict.fromkeys(m.Row, NOTHING)
        self._updated_at = self._clock.now
        self._limit_ms = FIRST_LIMIT_MS
        self._before_test = m.State.BLANK
        self._watch: Any = None

    def boot(self) -> None:
        """Start after power-up: dashes, never an old value."""
        self.board.memory.fail_running(m.Reason.POWER_LOST)
        self.stalled = False
        self._forget()
        self._drive()

    def power_lost(self) -> None:
        """The display is dark."""
        self._glass.write(dict.fromkeys(m.Row, " " * m.DIGITS), stale=False)

    def on_session_start(self) -> None:
        """A session started: the status holds everything that a host needs."""

    # --- messages --------------------------------------------------------------------------------------------

    def handle(self, message: m.Actuation | m.Question) -> Message:
        """Answer one message of the host."""
        match message:
            case m.GetStatus():
                return m.Status(self.state, self._sequence, self._age_ms(), self._limit_ms, self._bad)
            case m.GetShown():
                read = {row: _amount(self._glass.read(row)) for row in m.Row}
                return m.Shown(
                    self.state, self._sequence, read[m.Row.VALUE], read[m.Row.PENDING], read[m.Row.WON],
                    self._glass.stale,
                )  # fmt: skip
            case _:
                return self.board.once(message, self._refusal, self._begin)

    def _refusal(self, message: m.Actuation) -> m.Reason:
        if isinstance(message, m.Reset):
            return m.Reason.NONE
        if self.state is m.State.TESTING:
            return m.Reason.BUSY
        match message:
            case m.Show() if max(message.value, message.pending, message.won) > m.MAX_CENTS:
                return m.Reason.TOO_LARGE
            case m.Show() if message.sequence <= self._sequence:
                return m.Reason.OLD_SEQUENCE
            case m.SetLimit(limit_ms=0):
                return m.Reason.NO_LIMIT
        return m.Reason.NONE

    def _begin(self, message: m.Actuation) -> bool:
        """Carry out a command that was not refused; return whether it has already ended."""
        match message:
            case m.Show():
                return self._show(message)
            case m.SetLimit():
                self._limit_ms = message.limit_ms
                self._expect()
            case m.Blank():
                self.state, self._rows = m.State.BLANK, dict.fromkeys(m.Row, NOTHING)
                self._drive()
            case m.Reset():
                self._clock.after(0.05, lambda: self.board.restart(RESET_TIME))  # after the reply has left
            case m.SelfTest():
                self._before_test, self.state = self.state, m.State.TESTING
                self._glass.write(dict.fromkeys(m.Row, PATTERN), stale=False)
                if not self.stalled:
                    self._clock.after(TEST_TIME, lambda: self._tested(message.command))
                return False
        return True

    def _show(self, message: m.Show) -> bool:
        """Drive the display and read it back; return whether it is correct."""
        self._sequence, self._updated_at = message.sequence, self._clock.now
        amounts = (message.value, message.pending, message.won)
        self._rows = {row: _digits(cents) for row, cents in zip(m.Row, amounts, strict=True)}
        self.state = m.State.SHOWING
        self._expect()
        self._drive()
        wrong = self._wrong(self._rows)
        if not any(wrong):
            return True
        self._bad = m.Reason.WRONG_GLASS
        self._clock.after(0.0, lambda: self._not_shown(message.command, wrong))  # after the acceptance
        return False

    def _not_shown(self, command: int, wrong: list[int]) -> None:
        self.board.emit(m.Fault(m.Reason.WRONG_GLASS, wrong))
        self.board.settle(command, Outcome.FAILED, m.Reason.WRONG_GLASS)

    def _tested(self, command: int) -> None:
        wrong = self._wrong(dict.fromkeys(m.Row, PATTERN))
        self.state = self._before_test
        self._drive()
        self._grow_old()
        self._bad = m.Reason.SELF_TEST_FAILED if any(wrong) else m.Reason.NONE
        self.board.emit(m.SelfTested(command, wrong))
        self.board.settle_test(command, m.Reason.SELF_TEST_FAILED if any(wrong) else None)

    # --- the glass -----------------------------------------------------------------------------------------------

    def _drive(self) -> None:
        self._glass.write(self._rows, stale=self.state is m.State.STALE)

    def _wrong(self, expected: dict[m.Row, str]) -> list[int]:
        """Return the wrong digits of each row, one bit each."""
        return [
            sum(1 << place for place in range(m.DIGITS) if read[-1 - place] != expected[row][-1 - place])
            for row, read in ((row, self._glass.read(row)) for row in m.Row)
        ]

    # --- age -------------------------------------------------------------------------------------------------------

    def _age_ms(self) -> int:
        return min(0xFFFF_FFFF, round((self._clock.now - self._updated_at) * 1000))

    def _expect(self) -> None:
        """Become stale when the limit has passed since the last Show."""
        if self._watch is not None:
            self._watch.cancel()
        left = self._updated_at + self._limit_ms / 1000 - self._clock.now
        self._watch = self._clock.after(max(0.0, left), self._grow_old)

    def _grow_old(self) -> None:
        old = self._clock.now >= self._updated_at + self._limit_ms / 1000
        if self.state is m.State.SHOWING and old and not self.stalled:
            self.state = m.State.STALE
            self._drive()
            self.board.emit(m.Stale(self._sequence, self._age_ms()))

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of the firmware."""
        if fault.kind.name != "stall":
            raise BadFault(f"{fault.kind.name} does not act on the sign's firmware")
        self.stalled = True
        self._glass.freeze()


def _digits(cents: int) -> str:
    """Return an amount as a row shows it: no leading zeros, but at least one dollar and two cents."""
    return f"{cents:03d}".rjust(m.DIGITS)


def _amount(read: str) -> int | None:
    """Return the cents that a row shows, or None if it shows no amount."""
    shown = read.lstrip()
    return int(shown) if shown.isdecimal() and len(shown) >= 3 else None
