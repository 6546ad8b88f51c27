"""The simulated firmware of the dealer's keypad: debounces contacts, numbers presses, builds entries.

The host decides what a press may start; the keypad accepts a lock-out at any time.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

from devices.keypad import messages as m
from firmware_bridge.errors import BadFault

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.messages import Message
    from simulators.engine.board import Board
    from simulators.engine.device_clock import DeviceClock
    from simulators.engine.faults import InjectedFault
    from simulators.kinds.keypad.mechanics import KeypadMechanics

# Presses that are sent again at the start of a session: more than people make while a link reconnects.
REMEMBERED: Final = 16
# A contact that closes again within this time (s) is bouncing.
DEBOUNCE: Final = 0.02
# A key that is down for longer (s) is stuck.
STUCK_AFTER: Final = 5.0
TEST_TIME: Final = 0.5
RESET_TIME: Final = 0.3
# Digits of a count: enough for any stub or stack of chips.
MAX_DIGITS: Final = 3
_SEATS: Final = range(m.Key.SEAT_1, m.Key.SEAT_6 + 1)
_DIGITS: Final = range(m.Key.DIGIT_0, m.Key.DIGIT_9 + 1)
_WRAP: Final = 0xFFFF_FFFF


class KeypadFirmware:
    """The program of the keypad's controller board."""

    def __init__(self, mechanics: KeypadMechanics, clock: DeviceClock) -> None:
        self.board: Board  # set by Machine.assemble
        self.stalled = False
        self._mechanics = mechanics
        self._clock = clock
        self._press = 0  # persistent
        self._asked_last = False  # persistent: a question was open when power was lost
        self._stuck: set[m.Key] = set()  # persistent, until a self-test passes
        self._sound = True  # persistent: lamps and display passed the last self-test
        self._forget()
        mechanics.on_edge = self._edge
        mechanics.on_turn = self._turned

    def _forget(self) -> None:
        """Set the state after a boot."""
        self._booted_at = self._clock.now
        self._remembered: deque[tuple[float, Callable[[int, int, int], m.KeypadAction]]] = deque(maxlen=REMEMBERED)
        self._prompt = m.KeypadPrompt.NOTHING
        self._asked = 0
        self._lines: list[str] = []
        self._seats = 0
        self._digits = ""
        self._lamps = 0
        self._testing = False
        self._closed_at: dict[m.Key, float] = {}
        self._watches: dict[m.Key, Any] = {}

    @property
    def state(self) -> m.State:
        """The state of the keypad."""
        if self._testing:
            return m.State.TESTING
        return m.State.ASKING if self._prompt else m.State.IDLE

    def boot(self) -> None:
        """Start after power-up: no question, no stored presses; the press count continues."""
        self.board.memory.fail_running(m.Reason.POWER_LOST)
        self.stalled = False
        self._forget()
        self._mechanics.switch_lamps(0)
        self._mechanics.write([])
        for key in self._mechanics.down:
            self._watch(key)

    def power_lost(self) -> None:
        """Lamps and display are dark."""
        self._mechanics.switch_lamps(0)
        self._mechanics.write([])

    def on_session_start(self) -> None:
        """A session started: send the last presses again, with their ages."""
        first = self._press - len(self._remembered) + 1
        for press, (at, make) in enumerate(self._remembered, first):
            self.board.emit(make(press, self._age(at), self._ms(at)))

    # --- messages --------------------------------------------------------------------------------------------

    def handle(self, message: m.Actuation | m.Question) -> Message:
        """Answer one message of the host."""
        if isinstance(message, m.GetStatus):
            return self._status()
        return self.board.once(message, self._refusal, self._begin)

    def _status(self) -> m.Status:
        held = sum(1 << key for key in self._mechanics.down)
        reason = m.Reason.POWER_LOST if self._asked_last and not self._prompt else m.Reason.NONE
        if self._stuck:
            reason = m.Reason.STUCK_KEY
        elif not self._sound:
            reason = m.Reason.SELF_TEST_FAILED
        return m.Status(
            self.state, self._mechanics.switch, self._prompt, self._press, self._press - len(self._remembered) + 1,
            self._lamps, held, sum(1 << key for key in self._stuck), self._ms(self._clock.now), reason,
        )  # fmt: skip

    def _refusal(self, message: m.Actuation) -> m.Reason:
        if isinstance(message, m.Reset):
            return m.Reason.NONE
        if self._testing:
            return m.Reason.BUSY
        if isinstance(message, m.SelfTest):
            if self._prompt:
                return m.Reason.BUSY
            return m.Reason.KEY_HELD if self._mechanics.down - self._stuck else m.Reason.NONE
        off = self._mechanics.switch not in (m.Switch.DEALER, m.Switch.FLOOR)
        if isinstance(message, m.Show) and message.prompt and off:
            return m.Reason.SWITCHED_OFF
        return m.Reason.NONE

    def _begin(self, message: m.Actuation) -> bool:
        """Carry out a command that was not refused; return whether it has already ended."""
        match message:
            case m.Show():
                self._ask(message)
            case m.SetLamps():
                self._lamps = message.lamps
                self._mechanics.switch_lamps(self._lamps)
            case m.Reset():
                self._clock.after(0.05, lambda: self.board.restart(RESET_TIME))  # after the reply has left
            case m.SelfTest():
                self._testing = True
                if not self.stalled:
                    self._clock.after(TEST_TIME, lambda: self._tested(message.command))
                return False
        return True

    def _ask(self, message: m.Show) -> None:
        self._prompt, self._asked, self._lines = message.prompt, message.command, list(message.lines)
        self._asked_last = bool(message.prompt)
        self._seats, self._digits = 0, ""
        self._mechanics.write(self._lines)

    def _tested(self, command: int) -> None:
        self._testing = False
        self._stuck = set(self._mechanics.down)
        bad_keys = sum(1 << key for key in self._stuck)
        bad_lamps, display = self._mechanics.bad_lamps(), self._mechanics.display_works
        self._sound = not bad_lamps and display
        self._asked_last = False
        self.board.emit(m.SelfTested(command, bad_keys, bad_lamps, display))
        self.board.settle_test(command, m.Reason.SELF_TEST_FAILED if bad_keys or not self._sound else None)

    # --- contacts ----------------------------------------------------------------------------------------------

    def _edge(self, key: m.Key, down: bool) -> None:
        if not self.board.alive or self.stalled:
            return
        if not down:
            self._unwatch(key)
            return
        now = self._clock.now
        bounced = now - self._closed_at.get(key, -1.0) < DEBOUNCE
        self._closed_at[key] = now
        self._watch(key)
        if not bounced and (key not in self._stuck or key is m.Key.LOCK_OUT):
            self._pressed(key)

    def _watch(self, key: m.Key) -> None:
        self._unwatch(key)
        self._watches[key] = self._clock.after(STUCK_AFTER, lambda: self._is_stuck(key))

    def _unwatch(self, key: m.Key) -> None:
        watch = self._watches.pop(key, None)
        if watch is not None:
            watch.cancel()

    def _is_stuck(self, key: m.Key) -> None:
        if key not in self._stuck:
            self._stuck.add(key)
            self.board.emit(m.Fault(m.Reason.STUCK_KEY, key))

    def _turned(self) -> None:
        if self.board.alive and not self.stalled:
            switch = self._mechanics.switch
            self._report_press(lambda press, age, at: m.Turned(press, age, at, switch))

    def _pressed(self, key: m.Key) -> None:
        switch = self._mechanics.switch
        if key is m.Key.LOCK_OUT:  # in any switch position, at any time
            self._report_press(lambda press, age, at: m.Pressed(press, age, at, key, switch))
        elif self._testing or switch not in (m.Switch.DEALER, m.Switch.FLOOR):
            return
        elif key is m.Key.START_GAME:
            self._report_press(lambda press, age, at: m.Pressed(press, age, at, key, switch))
        elif self._prompt is m.KeypadPrompt.SEATS:
            self._seat_key(key)
        elif self._prompt:
            self._digit_key(key)

    def _seat_key(self, key: m.Key) -> None:
        if key in _SEATS:
            self._seats ^= 1 << (key - m.Key.SEAT_1)
        elif key is m.Key.CLEAR:
            self._seats = 0
        elif key is m.Key.CONFIRM:
            asked, seats = self._asked, self._seats
            self._done(lambda press, age, at: m.SeatsEntered(press, age, at, asked, seats))
            return
        self._echo(" ".join(str(n + 1) for n in range(6) if self._seats >> n & 1))

    def _digit_key(self, key: m.Key) -> None:
        if key in _DIGITS and len(self._digits) < MAX_DIGITS:
            self._digits += str(key - m.Key.DIGIT_0)
        elif key is m.Key.CLEAR:
            self._digits = ""
        elif key is m.Key.ENTER and self._digits:
            asked, prompt, count = self._asked, self._prompt, int(self._digits)
            self._done(lambda press, age, at: m.CountEntered(press, age, at, asked, prompt, count))
            return
        self._echo(self._digits)

    def _echo(self, entry: str) -> None:
        """Show the entry so far in the last line."""
        self._mechanics.write([*self._lines[:3], *[""] * (3 - len(self._lines)), entry])

    def _done(self, make: Callable[[int, int, int], m.KeypadAction]) -> None:
        """An entry is complete: close the question, so that it is entered once."""
        self._prompt, self._lines, self._asked_last = m.KeypadPrompt.NOTHING, [], False
        self._mechanics.write([])
        self._report_press(make)

    def _report_press(self, make: Callable[[int, int, int], m.KeypadAction]) -> None:
        """Number an act of a person, store it, and report it to the host if there is one."""
        now = self._clock.now
        self._press += 1
        self._remembered.append((now, make))
        self.board.emit(make(self._press, 0, self._ms(now)))

    def _age(self, at: float) -> int:
        return min(_WRAP, round((self._clock.now - at) * 1000))

    def _ms(self, at: float) -> int:
        return round((at - self._booted_at) * 1000) & _WRAP

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of the firmware."""
        if fault.kind.name != "stall":
            raise BadFault(f"{fault.kind.name} does not act on the keypad's firmware")
        self.stalled = True
