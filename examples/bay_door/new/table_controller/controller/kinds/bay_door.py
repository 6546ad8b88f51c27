"""The bay door at the table: opened, it is a fault of its slot, which people clear and acknowledge."""

from __future__ import annotations

from typing import Final

from devices import kinds
from devices.bay_door.driver import BayDoorDriver
from table_controller.controller.kinds.controller_kind import ControllerKind, order

BAY_DOOR: Final = ControllerKind(
    device=kinds.BAY_DOOR,
    questions=(BayDoorDriver.status,),
    orders=(order(BayDoorDriver.self_test), order(BayDoorDriver.reset)),
    is_used=lambda _rules, _submission: True,
    is_private=False,
)
