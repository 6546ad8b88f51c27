"""The simulated firmware of the number generator: tests its noise, draws, shows, reads back, and remembers.

Drawn numbers and a latched failure are persistent: a draw never gets a second number, and a power cycle clears no
failure.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from devices.number_draw import PROPORTION_CUTOFF, REPETITION_CUTOFF, WINDOW, NoiseFailure, NumberGenerator
from devices.rng import messages as m
from firmware_bridge.commands import REMEMBERED, Outcome
from firmware_bridge.errors import BadFault

if TYPE_CHECKING:
    from firmware_bridge.messages import Message
    from simulators.engine.board import Board
    from simulators.engine.device_clock import DeviceClock
    from simulators.engine.faults import InjectedFault
    from simulators.kinds.rng.mechanics import Display, NoiseSource

# Time that the display rolls, so that people see a draw (s).
DRAW_TIME: Final = 0.4
TEST_TIME: Final = 0.6
# Time until the firmware detects a wrong current through the display (s).
NOTICE_TIME: Final = 0.2

_BUSY: Final = (m.State.DRAWING, m.State.TESTING)
_REASON: Final = {
    NoiseFailure.STUCK: m.Reason.NOISE_STUCK,
    NoiseFailure.BIASED: m.Reason.NOISE_BIASED,
    NoiseFailure.DEAD: m.Reason.NOISE_DEAD,
}
_LIES: Final = ("zero", "eight", "display", "second")


class RngFirmware:
    """The program of one generator's controller board."""

    def __init__(self, noise: NoiseSource, display: Display, clock: DeviceClock) -> None:
        self.board: Board  # set by Machine.assemble
        self.state = m.State.IDLE
        self.stalled = False
        self._noise = noise
        self._display = display
        self._clock = clock
        self._latched = m.Reason.NONE  # these four are persistent
        self._draws: OrderedDict[int, int] = OrderedDict()
        self._shown: int | None = None
        self._drawn_ever = 0
        self._generator = NumberGenerator(noise.read)
        display.on_change = self._display_changed

    def boot(self) -> None:
        """Start after power-up: test the noise, and show the last number again."""
        self.board.memory.fail_running(m.Reason.POWER_LOST)
        self.stalled = False
        self.state = m.State.IDLE
        wrong = self._test_noise() or self._latched
        if wrong:
            self._latch(wrong)
        elif self._shown is not None:
            self._show(self._shown)

    def on_session_start(self) -> None:
        """A session started: the report holds everything that a host needs."""

    def power_lost(self) -> None:
        """The display goes dark."""
        self._display.power_lost()

    # --- messages --------------------------------------------------------------------------------------------

    def handle(self, message: m.Actuation | m.Question) -> Message:
        """Answer one message of the host."""
        match message:
            case m.GetStatus():
                return self._status()
            case m.GetHealth():
                health = self._generator.health
                return m.Health(
                    min(health.samples, 0xFFFF_FFFF), health.longest, REPETITION_CUTOFF, health.highest,
                    PROPORTION_CUTOFF, WINDOW,
                )  # fmt: skip
            case m.GetDraw():
                return m.PastDraw(message.command, self._draws.get(message.command))
            case _:
                return self.board.once(message, self._refusal, self._begin)

    def _status(self) -> m.Status:
        self._read_back()
        last = next(reversed(self._draws), None)
        return m.Status(self.state, last, self._shown, self._display.lit, self._drawn_ever, self._latched)

    def _refusal(self, message: m.Actuation) -> m.Reason:
        if isinstance(message, m.Reset):
            return m.Reason.NONE
        if self.state in _BUSY:
            return m.Reason.BUSY
        if isinstance(message, m.Clear):
            return m.Reason.NONE
        if isinstance(message, m.Draw) and self._latched:
            return m.Reason.NOT_HEALTHY
        return m.Reason.NUMBER_SHOWN if self._shown is not None else m.Reason.NONE

    def _begin(self, message: m.Actuation) -> bool:
        """Carry out a command that was not refused; return whether it has already ended."""
        command = message.command
        match message:
            case m.Draw():
                self.state = m.State.DRAWING
                self._clock.after(DRAW_TIME, lambda: self._draw(command))
                return False
            case m.SelfTest():
                self.state = m.State.TESTING
                self._clock.after(TEST_TIME, lambda: self._self_test(command))
                return False
            case m.Clear():
                return self._clear(command)
            case m.Reset():
                self._clock.after(0.05, lambda: self.board.restart(0.3))  # after the reply has left
        return True

    # --- drawing -----------------------------------------------------------------------------------------------

    def _draw(self, command: int) -> None:
        """Draw, store, show and report in one step, so that power cannot fail in between."""
        if self.stalled:
            return
        numbers = self._generator.draw_numbers()
        failure = self._generator.health.failure
        if failure is not None:
            self._fail(_REASON[failure])
            self.board.settle(command, Outcome.FAILED, self._latched)
            return
        if not self._show(numbers[0]):
            self.board.settle(command, Outcome.FAILED, self._latched)
            return
        self._draws[command] = numbers[0]
        while len(self._draws) > REMEMBERED:
            self._draws.popitem(last=False)
        self._drawn_ever += 1
        self.board.emit(m.Drawn(command, numbers[0], self._display.lit))
        self.board.settle(command, Outcome.DONE)

    def _show(self, number: int) -> bool:
        """Show a number; a number that the display cannot show correctly is not shown at all."""
        self._display.show(m.SEGMENTS[number])
        if self._display.lit != m.SEGMENTS[number]:
            self._fail(m.Reason.DISPLAY_FAULT)
            return False
        self.state, self._shown = m.State.SHOWING, number
        return True

    def _display_changed(self) -> None:
        if self.board.alive:
            self._clock.after(NOTICE_TIME, self._read_back)

    def _read_back(self) -> None:
        """Compare the idle display with its expected segments."""
        if self.state is m.State.SHOWING and self._shown is not None:
            expected = m.SEGMENTS[self._shown]
        elif self.state is m.State.IDLE:
            expected = m.BLANK
        else:
            return
        if self._display.lit != expected and not self.stalled:
            self._fail(m.Reason.DISPLAY_FAULT)

    def _clear(self, command: int) -> bool:
        """Blank the display; return whether the command has ended. A display that stays lit is a fault."""
        self._display.show(m.BLANK)
        self._shown = None
        if self._display.lit != m.BLANK:
            self._fail(m.Reason.DISPLAY_FAULT)
            self._clock.after(0.0, lambda: self.board.settle(command, Outcome.FAILED, m.Reason.DISPLAY_FAULT))
            return False
        self.state = m.State.FAILED if self._latched else m.State.IDLE
        self.board.emit(m.Cleared(command))
        return True

    # --- health ------------------------------------------------------------------------------------------------

    def _test_noise(self) -> m.Reason:
        """Run the start-up tests on a fresh record."""
        self._generator = NumberGenerator(self._noise.read)
        failure = self._generator.run_startup_test()
        return m.Reason.NONE if failure is None else _REASON[failure]

    def _fail(self, reason: m.Reason) -> None:
        self._latch(reason)
        health = self._generator.health
        counts = {m.Reason.NOISE_STUCK: health.longest, m.Reason.NOISE_BIASED: health.highest}
        self.board.emit(m.HealthFailed(reason, counts.get(reason, 0)))

    def _latch(self, reason: m.Reason) -> None:
        """Latch a failure: draw no more numbers, and show none."""
        self.state, self._latched, self._shown = m.State.FAILED, reason, None
        self._display.show(m.BLANK)

    def _self_test(self, command: int) -> None:
        if self.stalled:
            return
        wrong = self._test_noise()
        for segments in (m.ALL_SEGMENTS, m.BLANK):
            self._display.show(segments)
            if self._display.lit != segments:
                wrong = wrong or m.Reason.DISPLAY_FAULT
        if wrong:
            self._latch(wrong)
        else:
            self.state, self._latched = m.State.IDLE, m.Reason.NONE
        self.board.emit(m.SelfTested(command, wrong))
        self.board.settle(command, Outcome.FAILED if wrong else Outcome.DONE, wrong)

    # --- faults ------------------------------------------------------------------------------------------------

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of the firmware."""
        match fault.kind.name:
            case "stall":
                self.stalled = True
            case "lie":
                self._lie(_LIES[fault.choice_index("how", _LIES)])
            case name:
                raise BadFault(f"{name} does not act on the generator's firmware")

    def _lie(self, how: str) -> None:
        """Send an impossible report about the last draw."""
        if not self._draws:
            raise BadFault("lie: nothing has been drawn to lie about")
        command, number = next(reversed(self._draws.items()))
        other = number % 7 + 1
        fields = {"zero": (0, m.BLANK), "eight": (8, m.ALL_SEGMENTS), "display": (number, m.SEGMENTS[other]),
                "second": (other, m.SEGMENTS[other])}[how]  # fmt: skip
        self.board.emit(m.Drawn(command, *fields))
