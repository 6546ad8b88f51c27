"""Joins the uplink to a box: runs beside the table if the configuration names a broker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.journal.store import Store
from table_controller.uplink.cursor import NAME
from table_controller.uplink.settings import MqttSettings
from table_controller.uplink.source import Source
from table_controller.uplink.uplink import Uplink

if TYPE_CHECKING:
    from firmware_bridge.errors import UplinkError
    from table_controller.config import TableConfig
    from table_controller.controller.box import Box

TASK = "uplink"


async def keep_told(box: Box, config: TableConfig) -> None:
    """Keep the broker told of a box, running or locked, until cancelled; without a broker, return."""
    if config.mqtt is None:
        return
    store = box.store if isinstance(box.store, Store) else None
    source = Source(
        game=box.plan.edition.game,
        chapter=box.plan.edition.chapter,
        clock=box.clock,
        slots=box.slots,
        waiting=lambda: box.waiting,
        controller=box.controller,
        store=store,
        locked=box.cause,
        copy=lambda: box.copy,
        unverified=box.plan.development,
    )

    def trouble(cause: UplinkError | None) -> None:
        box.tasks.states[TASK].error = "" if cause is None else f"{cause.code} {cause}"

    uplink = Uplink(MqttSettings.of(config.mqtt), source, config.data / NAME, on_trouble=trouble)
    halted = [] if box.controller is None else box.on_halted
    halted.append(told := lambda _: uplink.look_again())
    try:
        await uplink.run()
    finally:
        halted.remove(told)
