"""Runs the panel of a box, as a task of `pitbox run`. The web server is imported only when this runs."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from table_controller.host.addresses import panel_addresses
from table_controller.host.metrics import metrics_text
from table_controller.panel.serve import serve

if TYPE_CHECKING:
    from table_controller.config import TableConfig
    from table_controller.controller.box import Box

log = logging.getLogger(__name__)


async def run_panel(box: Box, config: TableConfig) -> None:
    """Serve the panel of a box until canceled; raises errors, and the box then restarts this task."""

    def ready(port: int) -> None:
        log.info("panel: %s", " or ".join(panel_addresses(config.panel, port)))

    await serve(
        config.panel,
        box,
        box.check_person,
        name=config.name,
        on_ready=ready,
        status=lambda: metrics_text(box.pictures.box()),
        data=config.data,
        unverified=box.plan.is_development,
    )
