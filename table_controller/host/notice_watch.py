"""Watches certificates, folders and uplink of a running box and collects notices for the technician."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import msgspec

from table_controller.host.box_folders import box_notices
from table_controller.host.certificates import BROKER, Certificate, configured_certificates, notices_of
from table_controller.host.notice_checks import head_notices, retiring_notices
from table_controller.host.notices import Notice, NoticeBoard

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.config import TableConfig
    from table_controller.controller.box import Box

# How often the files are read again (s): a few small ones, in a thread.
CHECK_EVERY_S: Final = 60.0
TASK_NAME: Final = "notices"


class UplinkStatus(msgspec.Struct, frozen=True):
    """The connection to the broker: connected or not, its error, and the records that are not acknowledged."""

    connected: bool
    code: str = ""
    text: str = ""
    acknowledged: int = 0  # the newest acknowledged record
    behind: int = 0  # records that are not acknowledged


class NoticeWatch:
    """Notices and certificates. `uplink` returns the state of the uplink, if a broker is configured."""

    def __init__(self, now_s: Callable[[], float]) -> None:
        self.uplink: Callable[[], UplinkStatus] | None = None
        self._now_s = now_s
        self._board = NoticeBoard(now_s)
        self._certificates: dict[str, tuple[Certificate, ...]] = {}

    @property
    def notices(self) -> list[Notice]:
        """The notices for the technician."""
        return self._board.notices

    @property
    def certificates(self) -> list[Certificate]:
        """Every known certificate, by the date of its end."""
        every = [each for certificates in self._certificates.values() for each in certificates]
        return sorted(every, key=lambda each: each.ends_s)

    def update_files(self, certificates: list[Certificate], others: list[Notice]) -> None:
        """Replace the results of the check of files and folders."""
        self._certificates["files"] = tuple(certificates)
        self._board.put("folders", others)
        self._renew()

    def on_broker_certificate(self, certificate: Certificate) -> None:
        """Keep the certificate that the broker presented."""
        self._certificates[BROKER] = (certificate,)
        self._renew()

    def _renew(self) -> None:
        self._board.put("certificates", notices_of(self.certificates, self._now_s()))


async def watch_notices(box: Box, config: TableConfig) -> None:
    """Check certificates and folders at the start and every minute, until canceled."""
    while True:
        certificates, others = await box.run_in_thread(
            lambda: (configured_certificates(config), head_notices(config) + box_notices(config))
        )
        box.notice_watch.update_files(certificates, others + retiring_notices(box.store))
        await asyncio.sleep(CHECK_EVERY_S)
