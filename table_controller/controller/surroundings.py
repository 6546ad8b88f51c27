"""What surrounds a running box, kept up to date while the table plays: certificates, folders, uplink. Only reads."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import msgspec

from table_controller.certificates import BROKER, Certificate, configured_certificates, notices_of
from table_controller.notices import NoticeBoard
from table_controller.places import own_notices
from table_controller.surroundings import head_notices

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.config import TableConfig
    from table_controller.controller.box import Box
    from table_controller.notices import Notice

# Files are read again after so long (s): a certificate that was renewed is known within the hour.
LOOK_EVERY: Final = 3600.0
TASK: Final = "surroundings"


class UplinkStatus(msgspec.Struct, frozen=True):
    """How the way to the broker stands: connected or not, the trouble that there is, and what is not acknowledged."""

    connected: bool
    code: str = ""
    text: str = ""
    acknowledged: int = 0  # the newest record that the broker has
    behind: int = 0  # records that it does not have


class Surroundings:
    """`certificates` by who reports them; `uplink` returns how the uplink stands, where a broker is configured."""

    def __init__(self, now_s: Callable[[], float]) -> None:
        self.uplink: Callable[[], UplinkStatus] | None = None
        self._now_s = now_s
        self._board = NoticeBoard(now_s)
        self._certificates: dict[str, tuple[Certificate, ...]] = {}

    @property
    def notices(self) -> list[Notice]:
        """What a technician must see to."""
        return self._board.notices

    @property
    def certificates(self) -> list[Certificate]:
        """Every certificate that is known, those that end first at the front."""
        every = [each for certificates in self._certificates.values() for each in certificates]
        return sorted(every, key=lambda each: each.ends_s)

    def files(self, certificates: list[Certificate], others: list[Notice]) -> None:
        """Files and folders were looked at."""
        self._certificates["files"] = tuple(certificates)
        self._board.put("places", others)
        self._renew()

    def broker_presented(self, certificate: Certificate) -> None:
        """The broker showed its certificate."""
        self._certificates[BROKER] = (certificate,)
        self._renew()

    def _renew(self) -> None:
        self._board.put("certificates", notices_of(self.certificates, self._now_s()))


async def watch_surroundings(box: Box, config: TableConfig) -> None:
    """Look at certificates and folders at the start and every hour. Until cancelled."""
    while True:
        certificates, others = await box.aside(
            lambda: (configured_certificates(config), head_notices(config) + own_notices(config))
        )
        box.surroundings.files(certificates, others)
        await asyncio.sleep(LOOK_EVERY)
