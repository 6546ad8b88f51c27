"""Runs the uplink of a box, if the configuration names a broker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.host.notice_watch import UplinkStatus
from table_controller.journal.store import Store
from table_controller.uplink.cursor import NAME
from table_controller.uplink.settings import MqttSettings
from table_controller.uplink.source import BoxSource
from table_controller.uplink.uplink import Uplink

if TYPE_CHECKING:
    from firmware_bridge.errors import UplinkError
    from table_controller.config import TableConfig
    from table_controller.controller.box import Box

TASK = "uplink"


def source_of(box: Box) -> BoxSource:
    """Return the view of a started box that the uplink reads."""
    return BoxSource(
        game=box.plan.edition.game,
        chapter=box.plan.edition.chapter,
        clock=box.clock,
        waiting=lambda: box.pending_records,
        controller=box.controller,
        store=box.store if isinstance(box.store, Store) else None,
        locked=box.cause,
        pictures=box.pictures,
        unverified=box.plan.is_development,
    )


async def run_uplink(box: Box, config: TableConfig) -> None:
    """Publish a box to the broker, running or locked, until canceled; return if no broker is configured."""
    if config.mqtt is None:
        return

    def report_error(cause: UplinkError | None) -> None:
        box.tasks.states[TASK].error = "" if cause is None else f"{cause.code} {cause}"

    uplink = Uplink(
        MqttSettings.from_section(config.mqtt), source_of(box), config.data / NAME,
        on_trouble=report_error, on_certificate=box.notice_watch.on_broker_certificate,
    )  # fmt: skip

    def status() -> UplinkStatus:
        health = uplink.health
        return UplinkStatus(health.connected, health.code, health.text, health.acknowledged, health.behind)

    box.notice_watch.uplink = status
    halted = [] if box.controller is None else box.on_halted
    halted.append(on_halted := lambda _: uplink.refresh())
    try:
        await uplink.run()
    finally:
        halted.remove(on_halted)
