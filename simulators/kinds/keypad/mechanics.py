"""A keypad's contacts, lamps and display, and the fingers on its keys. Records every real press.

A press closes its contact and releases it at once; a contact that bounces closes several times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.keypad.messages import Key, Lamp, Switch
from firmware_bridge.errors import BadFault

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.engine.faults import InjectedFault

KEYS: Final = tuple(key.name.lower() for key in Key)
POSITIONS: Final = tuple(position.name.lower() for position in Switch)
LAMPS: Final = tuple(lamp.name.lower() for lamp in Lamp)
LINES: Final = 4


def _ignore(*_: Any) -> None:
    """Ignore an edge or a turn."""


class KeypadMechanics:
    """`on_edge(key, down)` and `on_turn()` are called at the instant of each."""

    def __init__(self) -> None:
        self.on_edge: Callable[[Key, bool], None] = _ignore
        self.on_turn: Callable[[], None] = _ignore
        self.switch = Switch.OFF
        self.down: set[Key] = set()
        self.pressed: list[Key] = []  # the truth: keys that fingers pressed
        self.lamps: set[Lamp] = set()  # lamps that are really on
        self.display_text: tuple[str, ...] = ()  # text that is really readable
        self.display_works = True
        self._bounces = 1
        self._dead: set[Key] = set()
        self._dead_lamps: set[Lamp] = set()

    # --- what the firmware can do --------------------------------------------------------------------------------

    def write(self, lines: list[str]) -> None:
        """Show text."""
        self.display_text = tuple(lines) if self.display_works else ()

    def switch_lamps(self, lamps: int) -> None:
        """Switch the lamps (bit per Lamp)."""
        self.lamps = {lamp for lamp in Lamp if lamps >> lamp & 1} - self._dead_lamps

    def bad_lamps(self) -> int:
        """Return the lamps that do not work, measured by their currents (bit per Lamp)."""
        return sum(1 << lamp for lamp in self._dead_lamps)

    # --- fingers -----------------------------------------------------------------------------------------------------

    def press(self, key: Key) -> None:
        """Press a key and release it."""
        self.pressed.append(key)
        if key in self._dead or key in self.down:
            return
        bounces, self._bounces = self._bounces, 1
        for _ in range(bounces):
            self.on_edge(key, True)
            self.on_edge(key, False)

    def stick_key(self, key: Key) -> None:
        """Press a key that stays down."""
        self.pressed.append(key)
        self.down.add(key)
        self.on_edge(key, True)

    def release(self) -> None:
        """Release every key."""
        down, self.down = self.down, set()
        for key in sorted(down):
            self.on_edge(key, False)

    def turn(self, to: Switch) -> None:
        """Turn the key switch."""
        if to is not self.switch:
            self.switch = to
            self.on_turn()

    # --- faults ----------------------------------------------------------------------------------------------------

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of contacts, lamps or display; BadFault for any other."""
        match fault.kind.name:
            case "stuck_key":
                self.stick_key(key_of(fault))
            case "dead_key":
                self._dead.add(key_of(fault))
            case "bounce":
                self._bounces = max(1, fault.integer("times"))
            case "dead_lamp":
                self._dead_lamps.add(Lamp(fault.choice_index("lamp", LAMPS)))
                self.lamps -= self._dead_lamps
            case "dead_display":
                self.display_works, self.display_text = False, ()
            case "mend":
                self._dead.clear()
                self._dead_lamps.clear()
                self.display_works, self._bounces = True, 1
                self.release()
            case name:
                raise BadFault(f"{name} does not act on the keypad")


def key_of(fault: InjectedFault) -> Key:
    """Return the key that a fault names."""
    return Key(fault.choice_index("key", KEYS))
