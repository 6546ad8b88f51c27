"""The meter sign at the table: `controller.meter_sign` sends it the durable amounts."""

from __future__ import annotations

from typing import Final

from devices import kinds
from devices.meter_sign.driver import MeterSignDriver
from table_controller.controller.kinds.controller_kind import ControllerKind, order
from table_controller.controller.kinds.table_needs import offers_progressive

METER_SIGN: Final = ControllerKind(
    device=kinds.METER_SIGN,
    questions=(MeterSignDriver.status, MeterSignDriver.shown),
    orders=(order(MeterSignDriver.self_test), order(MeterSignDriver.reset), order(MeterSignDriver.blank)),
    is_used=offers_progressive,
)
