"""The dealer's keypad at the table: `access.keypad` turns its entries into acts of the dealer."""

from __future__ import annotations

from typing import Final

from devices import kinds
from devices.keypad.driver import KeypadDriver
from table_controller.controller.kinds.controller_kind import ControllerKind, order

KEYPAD: Final = ControllerKind(
    device=kinds.KEYPAD,
    questions=(KeypadDriver.status,),
    orders=(order(KeypadDriver.self_test), order(KeypadDriver.reset)),
    is_used=lambda _rules, _submission: True,
)
