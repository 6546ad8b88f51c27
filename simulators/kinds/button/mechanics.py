"""Flat buttons on the layout and the mat of sensors under it: magnets, places, fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.button.messages import PLACES
from firmware_bridge.errors import BadFault

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from simulators.engine.faults import InjectedFault

# Level of a sensor with a new button right above it, and with none (0-1023), and its noise in each direction.
BUTTON_LEVEL: Final = 880
IDLE_LEVEL: Final = 40
LEVEL_NOISE: Final = 6


def _ignore(*_: Any) -> None:
    """Ignore a change."""


class Button:
    """One button: at a place, or between two places."""

    def __init__(self, place: int) -> None:
        self.place = place
        self.toward = place
        self.share = 0.0  # of the distance to `toward`

    def above(self, place: int) -> float:
        """Return the share of the button that is above a place."""
        return (1 - self.share) * (place == self.place) + self.share * (place == self.toward)


class ButtonMat:
    """Seven sensors and the buttons above them. `on_change` is called when a level changes."""

    def __init__(self, rng: Random) -> None:
        self.on_change: Callable[[], None] = _ignore
        self.buttons = [Button(1)]
        self._rng = rng
        self.mend()

    def mend(self) -> None:
        """Repair: a strong magnet, working sensors, no stray field."""
        self._strength = 1.0
        self._stray: dict[int, float] = {}
        self._dead: set[int] = set()

    # --- the truth -----------------------------------------------------------------------------------------------

    def true_place(self) -> int | None:
        """Return the true place of all buttons, by their larger part; None if there is no button or no single place."""
        places = {None if b.share == 0.5 else b.place if b.share < 0.5 else b.toward for b in self.buttons}
        return places.pop() if len(places) == 1 else None

    # --- what the firmware can see -------------------------------------------------------------------------------

    def levels(self) -> list[int]:
        """Return every sensor's level, by place."""
        return [self._level(place) for place in range(1, PLACES + 1)]

    def _level(self, place: int) -> int:
        if place in self._dead:
            return 0
        field = sum(button.above(place) for button in self.buttons) * BUTTON_LEVEL * self._strength
        noise = self._rng.randint(-LEVEL_NOISE, LEVEL_NOISE)
        return max(1, min(1023, round(IDLE_LEVEL + field + self._stray.get(place, 0.0)) + noise))

    # --- hands ---------------------------------------------------------------------------------------------------

    def put(self, place: int) -> None:
        """Put the button at a place."""
        self.buttons = [Button(_place(place))]
        self.on_change()

    def put_second(self, place: int) -> None:
        """Put the second button at a place; there are only two."""
        if len(self.buttons) > 1:
            raise BadFault("second_button: both buttons are on the layout already")
        self.buttons.append(Button(_place(place)))
        self.on_change()

    def remove_buttons(self) -> int:
        """Take every button off the layout; return how many."""
        taken, self.buttons = len(self.buttons), []
        self.on_change()
        return taken

    def slide(self, toward: int, share: float) -> None:
        """Push the button a share of the distance toward another place."""
        if not self.buttons:
            raise BadFault("slide_button: no button is on the layout")
        button = self.buttons[0]
        button.toward = _place(toward)
        button.share = 0.0 if toward == button.place else min(1.0, share)
        self.on_change()

    # --- faults --------------------------------------------------------------------------------------------------

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of magnet, sensors or surroundings."""
        match fault.kind.name:
            case "weak_magnet":
                self._strength = max(0.0, 1 - fault.number("percent") / 100)
            case "stray_field":
                self._stray[_place(fault.integer("place"))] = fault.number("level")
            case "dead_sensor":
                self._dead.add(_place(fault.integer("place")))
            case "mend":
                self.mend()
            case name:
                raise BadFault(f"{name} does not act on the mat")
        self.on_change()


def _place(number: int) -> int:
    if not 1 <= number <= PLACES:
        raise BadFault(f"there is no place {number}; places are 1 to {PLACES}")
    return number
