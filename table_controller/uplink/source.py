"""The view of a box that the uplink reads: a running table with its journal, or a locked box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from firmware_bridge.version import VERSION
from table_controller.uplink import messages as m

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.errors import PitboxError
    from table_controller.controller.clock import Clock
    from table_controller.controller.controller import Controller
    from table_controller.journal.chain import Record
    from table_controller.journal.store import Store
    from table_controller.picture.pictures import Pictures
    from table_controller.picture.types import TablePicture


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxSource:
    """One start of a box. A locked box has no `controller` and no `store`; `locked` is the reason.

    `waiting` returns how many records are not on disk yet. Only a stream of events can do without `pictures`.
    """

    game: str
    chapter: str
    clock: Clock
    waiting: Callable[[], int]
    controller: Controller | None = None
    store: Store | None = None
    locked: PitboxError | None = None
    pictures: Pictures | None = None
    unverified: bool = False

    @property
    def cause(self) -> PitboxError | None:
        """Why the box is locked or halted; None if it runs."""
        return self.locked if self.controller is None else self.controller.halted

    def is_ready(self) -> bool:
        """Return whether the state may be published: every step is on disk, and no bet sensors are being locked."""
        if self.controller is None or self.controller.halted is not None:
            return True
        return self.controller.is_on_disk and not (self.pictures is not None and self.pictures.is_locking())

    def table(self) -> TablePicture | None:
        """Return the picture of the table; None for a locked box."""
        return None if self.pictures is None else self.pictures.table()

    @property
    def journal(self) -> str:
        """The journal's id (hex); empty for a locked box."""
        return "" if self.store is None else self.store.journal.hex()

    @property
    def boot(self) -> int:
        """The number of this start; 0 for a locked box."""
        return 0 if self.store is None else self.store.boot

    @property
    def last(self) -> Record | None:
        """The newest durable record."""
        return None if self.store is None else self.store.last()

    @property
    def now(self) -> str:
        """The present time."""
        return m.instant(self.clock.now()[0])

    def status(self) -> m.StatusMessage:
        """Return the last will, which the broker publishes if the connection breaks."""
        return m.StatusMessage(
            status="offline", reason="lost", new_journal=self.boot == 1, boot=self.boot, journal=self.journal,
            version=VERSION, unverified=self.unverified,
        )  # fmt: skip

    def identity(self, prefix: str) -> m.Identity:
        """Return the identity of the box."""
        return m.Identity(prefix=prefix, game=self.game, version=VERSION, journal=self.journal, boot=self.boot)
