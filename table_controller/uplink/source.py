"""What the uplink may see of a box: a running table with its journal, or a box that is locked. Nothing is sent here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from firmware_bridge.version import VERSION
from table_controller.uplink import messages as m

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from firmware_bridge.errors import PitboxError
    from table_controller.controller.clock import Clock
    from table_controller.controller.loop import Controller
    from table_controller.controller.slot import Slot
    from table_controller.journal.chain import Record
    from table_controller.journal.copier import CopyState
    from table_controller.journal.store import Store


def _no_copy() -> CopyState | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One start of a box. Of a locked one there is no `controller` and no `store`, and `locked` is why.

    `waiting` says how many records are not yet durable, `copy` how far the second copy reaches.
    """

    game: str
    chapter: str
    clock: Clock
    slots: Mapping[str, Slot[Any, Any]]
    waiting: Callable[[], int]
    controller: Controller | None = None
    store: Store | None = None
    locked: PitboxError | None = None
    copy: Callable[[], CopyState | None] = _no_copy
    unverified: bool = False

    @property
    def cause(self) -> PitboxError | None:
        """Why nothing goes on, if nothing does."""
        return self.locked if self.controller is None else self.controller.halted

    @property
    def journal(self) -> str:
        """The journal's id (hex); nothing of a locked box."""
        return "" if self.store is None else self.store.journal.hex()

    @property
    def boot(self) -> int:
        """The number of this start; 0 of a locked box, which has none."""
        return 0 if self.store is None else self.store.boot

    @property
    def last(self) -> Record | None:
        """The newest durable record."""
        return None if self.store is None else self.store.last()

    @property
    def now(self) -> str:
        """The present instant."""
        return m.instant(self.clock.now()[0])

    def status(self) -> m.Status:
        """Return the will: what the broker says if we are cut off."""
        return m.Status(
            status="offline", reason="lost", begun=self.boot == 1, boot=self.boot, journal=self.journal,
            version=VERSION, unverified=self.unverified,
        )  # fmt: skip

    def identity(self, prefix: str) -> m.Identity:
        """Return which box this is."""
        return m.Identity(prefix=prefix, game=self.game, version=VERSION, journal=self.journal, boot=self.boot)
