"""Checks of broker, certificates, witnesses of the journal heads, and folders of the systemd unit."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import UplinkError
from table_controller.host.certificates import configured_certificates, notices_of
from table_controller.host.notice_checks import all_notices
from table_controller.maintenance.doctor.check_result import FAIL, OK, WARN, CheckResult
from table_controller.maintenance.doctor.ports import TIMEOUT_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.config import TableConfig
    from table_controller.host.notices import Notice

_DAY: Final = "%Y-%m-%d"


def check_broker(config: TableConfig) -> list[CheckResult]:
    """Check whether the broker accepts a connection and presents a valid certificate; send nothing."""
    if config.mqtt is None:
        return [CheckResult("broker", OK, "none is configured, and none is needed for play")]
    from table_controller.uplink.broker_certificate import fetch_certificate, try_fetch_certificate  # noqa: PLC0415 - only with a broker
    from table_controller.uplink.settings import MqttSettings  # noqa: PLC0415

    settings, where = MqttSettings.from_section(config.mqtt), f"{config.mqtt.host}:{config.mqtt.port}"
    try:
        shown = fetch_certificate(settings, TIMEOUT_S, accept_any=False)
    except UplinkError as error:
        shown = try_fetch_certificate(settings, TIMEOUT_S) if config.mqtt.tls else None
        lines = [
            CheckResult(
                "broker",
                WARN,
                f"{error.code}: {error}",
                f"the table plays on without it and nothing is lost; pitbox explain {error.code}",
            )
        ]
    else:
        lines = [CheckResult("broker", OK, f"{where} answers")]
    return lines if shown is None else [*lines, *_lines(notices_of([shown], time.time()))]


def check_notices(config: TableConfig) -> Iterator[CheckResult]:
    """Yield a line for every notice, and one for good certificates."""
    now = time.time()
    notices = all_notices(config, now)
    yield from _lines(notices)
    known = configured_certificates(config)
    if known and not notices_of(known, now):
        first = min(known, key=lambda each: each.ends_s)
        ends = time.strftime(_DAY, time.gmtime(first.ends_s))
        yield CheckResult("certificates", OK, f"{len(known)} valid; {first.name} expires first, on {ends}")


def _lines(notices: list[Notice]) -> list[CheckResult]:
    return [
        CheckResult(notice.what, FAIL if notice.is_failure else WARN, f"{notice.code}: {notice.text}", notice.do)
        for notice in notices
    ]
