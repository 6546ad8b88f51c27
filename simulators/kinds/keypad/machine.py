"""A whole simulated dealer keypad: contacts, firmware, board, and fingers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from devices.keypad import messages as m
from firmware_bridge.errors import BadFault
from simulators.engine.machine import SimulatedMachine
from simulators.kinds.keypad.firmware import KeypadFirmware
from simulators.kinds.keypad.mechanics import POSITIONS, KeypadMechanics, key_of

if TYPE_CHECKING:
    from typing import Unpack

    from simulators.engine.faults import InjectedFault
    from simulators.engine.machine import MachineOptions

# Pause between two typed keys (s).
TYPING: Final = 0.1


class SimulatedKeypad(SimulatedMachine):
    """A keypad on the bench, its key switch on DEALER."""

    kind = m.KIND
    firmware: KeypadFirmware

    def __init__(self, slot: str = "keypad.1", **options: Unpack[MachineOptions]) -> None:
        super().__init__(slot, **options)
        self.mechanics = KeypadMechanics()
        self.mechanics.switch = m.Switch.DEALER
        self.firmware = KeypadFirmware(self.mechanics, self.clock)
        self.assemble(self.firmware, m.ToDevice, "PB-K1", [m.DISPLAY])

    def true_counts(self) -> dict[str, int]:
        """Return how often each key was really pressed."""
        pressed = self.mechanics.pressed
        return {key.name.lower(): pressed.count(key) for key in m.Key if key in pressed}

    def summary(self) -> list[str]:
        """Return the switch position, the lamps that are on, and the readable text."""
        lamps = ", ".join(sorted(lamp.name.lower() for lamp in self.mechanics.lamps)) or "none"
        shown = [f"  |{line:20}|" for line in self.mechanics.display_text]
        return [f"key switch: {self.mechanics.switch.name.lower()}", f"lamps: {lamps}", *shown]

    def apply_machine_fault(self, fault: InjectedFault) -> None:
        """Apply a fault of contacts, lamps or display."""
        self.mechanics.inject(fault)

    def apply_hand_action(self, fault: InjectedFault) -> str:
        """Apply an action of fingers."""
        match fault.kind.name:
            case "press":
                key = key_of(fault)
                self.mechanics.press(key)
                return f"{key.name.lower()} pressed"
            case "type":
                digits = fault.text("digits")
                if not digits.isdecimal():
                    raise BadFault(f"type: digits is a number, not {digits!r}")
                keys = [*(m.Key(m.Key.DIGIT_0 + int(digit)) for digit in digits), m.Key.ENTER]
                for number, key in enumerate(keys):
                    self.clock.after(number * TYPING, partial(self.mechanics.press, key))
                return f"{digits} and enter are being typed"
            case "turn":
                self.mechanics.turn(m.Switch(fault.choice_index("to", POSITIONS)))
                return f"key switch turned to {self.mechanics.switch.name.lower()}"
        raise AssertionError(fault.kind.name)
