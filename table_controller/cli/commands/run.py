"""`pitbox run`: runs the box of one table until SIGTERM or SIGINT."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from table_controller.cli import OK

if TYPE_CHECKING:
    import argparse

    from table_controller.config import TableConfig
    from table_controller.host.serve import BackgroundServices

HELP = "run the box of one table: its machines, its journal, its people"
# Files of the box: its own user writes, its group reads.
_UMASK: Final = 0o027
EXAMPLE = "pitbox run --config /etc/pitbox/table.toml"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    from table_controller.cli.box_link import add_config_argument

    add_config_argument(parser)


def background_services(config: TableConfig) -> BackgroundServices:
    """Return the background services of a table; a service that is not configured is not imported."""
    from table_controller.host.notice_watch import TASK_NAME as NOTICES
    from table_controller.host.notice_watch import watch_notices
    from table_controller.maintenance.wear import monitor_configured_wear

    services: dict[str, Any] = {NOTICES: watch_notices, "wear": monitor_configured_wear}
    if config.mqtt is not None:
        from table_controller.uplink.service import TASK, run_uplink

        services[TASK] = run_uplink
    if config.panel.enabled:
        from table_controller.panel.service import run_panel

        services["panel"] = run_panel
    return services


def run(args: argparse.Namespace) -> int:
    """Run until SIGTERM or SIGINT."""
    import asyncio
    import os

    from table_controller.config import load_config
    from table_controller.host.log import start_logging
    from table_controller.host.serve import serve

    os.umask(_UMASK)
    config = load_config(args.config)
    start_logging(config.id)
    asyncio.run(serve(config, background_services(config)))
    return OK
