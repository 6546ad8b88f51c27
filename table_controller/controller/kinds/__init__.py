"""The registry of the kinds of machine for the controller: one module per kind, with everything that it needs of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.controller.kinds.bet_sensor import BET_SENSOR
from table_controller.controller.kinds.button import BUTTON
from table_controller.controller.kinds.keypad import KEYPAD
from table_controller.controller.kinds.meter_sign import METER_SIGN
from table_controller.controller.kinds.rng import RNG
from table_controller.controller.kinds.shaker import SHAKER
from table_controller.controller.kinds.shoe import SHOE
from table_controller.controller.kinds.shuffler import SHUFFLER

if TYPE_CHECKING:
    from devices.kinds import AnyDriver
    from table_controller.controller.kinds.controller_kind import ControllerKind

# By the name of the kind, in the order of `devices.kinds`.
CONTROLLER_KINDS: Final[dict[str, ControllerKind[AnyDriver]]] = {
    kind.name: kind for kind in (SHUFFLER, SHOE, SHAKER, RNG, BUTTON, BET_SENSOR, KEYPAD, METER_SIGN)
}
