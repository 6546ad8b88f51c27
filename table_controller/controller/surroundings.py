"""What surrounds a running box, kept up to date while the table plays: certificates, folders, uplink. Only reads."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import msgspec

from table_controller.box_folders import own_notices
from table_controller.certificates import BROKER, Certificate, configured_certificates, notices_of
from table_controller.journal.store import Store
from table_controller.notices import Notice, NoticeBoard
from table_controller.surroundings import head_notices

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.config import TableConfig
    from table_controller.controller.box import Box

# Files are read again after so long (s): a few small ones, in a thread.
LOOK_EVERY: Final = 60.0
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
        self._board.put("folders", others)
        self._renew()

    def broker_presented(self, certificate: Certificate) -> None:
        """The broker showed its certificate."""
        self._certificates[BROKER] = (certificate,)
        self._renew()

    def _renew(self) -> None:
        self._board.put("certificates", notices_of(self.certificates, self._now_s()))


def retiring_notices(store: object) -> list[Notice]:
    """Return a notice if segments that should have left the journal could not."""
    failed = store.retiring_failed if isinstance(store, Store) else None
    if failed is None:
        return []
    text = f"segments that should leave the journal stay in it: {failed}"
    return [Notice("journal.archive", failed.code, text, f"pitbox explain {failed.code}", is_failure=True)]


async def watch_surroundings(box: Box, config: TableConfig) -> None:
    """Look at certificates and folders at the start and every minute. Until cancelled."""
    while True:
        certificates, others = await box.aside(
            lambda: (configured_certificates(config), head_notices(config) + own_notices(config))
        )
        box.surroundings.files(certificates, others + retiring_notices(box.store))
        await asyncio.sleep(LOOK_EVERY)
