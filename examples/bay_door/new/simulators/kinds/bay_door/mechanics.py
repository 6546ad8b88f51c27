"""The door of a bay, and the lamp inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware_bridge.errors import BadFault

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.engine.faults import InjectedFault


def _ignore() -> None:
    """Ignore a change."""


class DoorMechanics:
    """A door with a contact and a lamp. `on_change` is called when it moves."""

    def __init__(self) -> None:
        self.on_change: Callable[[], None] = _ignore
        self.is_open = False
        self.lamp_works = True

    def move(self, *, is_open: bool) -> None:
        """Open or close it."""
        self.is_open = is_open
        self.on_change()

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of the lamp."""
        if fault.kind.name not in ("dead_lamp", "mend"):
            raise BadFault(f"{fault.kind.name} does not act on the door")
        self.lamp_works = fault.kind.name == "mend"
