"""Keeps the second copy up to date beside the game: one thread, and a state that says how far it reaches."""

from __future__ import annotations

import asyncio
import logging
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from firmware_bridge.errors import CopyDiverged, CopyRotten, CopyTakenOver, CopyUnreachable, PitboxError, code_of
from table_controller.journal.copy import Ack

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.journal.copy import Copy
    from table_controller.journal.copy_check import CopyCheck
    from table_controller.journal.store import Store

log = logging.getLogger(__name__)

# A copy that cannot be reached is tried again after so long (s): soon enough after a cable is back, no load until then.
# So often is one looked at that has everything, too: another box may have taken it over.
RETRY: Final = 5.0
# A box that ends waits so long (s) for its last records to reach the copy; systemd ends it after 20 s.
CLOSE_PATIENCE: Final = 8.0
# Between two pieces of the nightly check (s): reading them takes a tenth of that, and the table shares the interpreter.
CHECK_PAUSE: Final = 0.05


class Numbered(Protocol):
    """Whatever has a record's number."""

    @property
    def seq(self) -> int:
        """The number."""


def _damage(check: CopyCheck | None) -> str:
    """Return what the nightly check knows of damage."""
    found = None if check is None else check.position.damage
    return "" if found is None else str(found)


class CopyState(msgspec.Struct, frozen=True):
    """What is known of the second copy: how far it reaches, how many records it is behind, and what is wrong."""

    configured: bool
    ack: Ack | None = None
    behind: int = 0
    code: str = ""
    error: str = ""
    damage: str = ""  # what the nightly check found; the copy is written on all the same

    @property
    def problem(self) -> tuple[str, str] | None:
        """What people must act on, with its code: shipping does not work, or the check found damage."""
        if self.error:
            return self.code, self.error
        return (code_of(CopyRotten.number), self.damage) if self.damage else None

    @property
    def words(self) -> str:
        """Say it in a sentence."""
        if not self.configured:
            return "There is no second copy of the journal: if this disk dies, the meters die with it."
        reach = "nothing yet" if self.ack is None else f"record {self.ack.seq} ({self.ack.head.hex()[:16]})"
        if self.error:
            return f"The second copy holds {reach} and is {self.behind} records behind. {self.code}: {self.error}"
        behind = f", {self.behind} records behind" if self.behind else ""
        damage = "" if self.problem is None else " {}: {}.".format(*self.problem)
        return f"The second copy holds {reach}{behind}.{damage}"


class Copier:
    """Ships in a thread of its own; `on_state` is called on the loop whenever the state has changed.

    A copy that diverges is an alarm and ends the shipping until the box is restarted, and so does one that another box
    has taken over; one that is out of reach is tried again. With a `check`, the copy is read again, a slice each night.
    """

    def __init__(
        self,
        store: Store,
        copy: Copy | None,
        on_state: Callable[[CopyState], None],
        check: CopyCheck | None = None,
    ) -> None:
        self._store = store
        self._copy = copy
        self._on_state = on_state
        self._check = check
        self._check_failed = ""  # why the check could not go on the last time; the same is not logged again
        self._loop = asyncio.get_running_loop()
        self._ended = self._loop.create_future()
        self._wake = threading.Event()
        self._stop = False
        self._thread: threading.Thread | None = None
        last = store.last()
        self._newest = 0 if last is None else last.seq
        damage = _damage(check) if copy is not None else ""
        self.state = CopyState(copy is not None, behind=self._newest if copy is not None else 0, damage=damage)
        if copy is None:
            self._loop.call_soon(on_state, self.state)
            return
        store.held_from = 0  # nothing leaves the journal before the copy has it
        self._wake.set()
        self._thread = threading.Thread(target=self._run, args=(copy,), name="journal copy", daemon=True)
        self._thread.start()

    def durable(self, record: Numbered) -> None:
        """A record is durable: ship it and whatever is before it. Called on the loop."""
        self._newest = record.seq
        if self._copy is not None:
            self._changed(self.state.ack, self.state.code, self.state.error)
            self._wake.set()

    def _changed(self, ack: Ack | None, code: str, error: str) -> None:
        behind = self._newest - (0 if ack is None else ack.seq)
        state = CopyState(True, ack, max(0, behind), code, error, _damage(self._check))
        told, self.state = self.state, state
        if (told.ack, told.code, told.error, told.damage) != (ack, code, error, state.damage):
            self._on_state(state)

    async def close(self) -> None:
        """Ship what is left if the copy can be reached, then end. A copy that does not answer is not waited for."""
        if self._thread is None:
            return
        last = self._store.last()
        self._newest = self._newest if last is None else last.seq
        self._stop = True
        self._wake.set()
        done, _ = await asyncio.wait({self._ended}, timeout=CLOSE_PATIENCE)
        if done:
            self._thread.join()
        if self.state.ack is None or self.state.ack.seq < self._newest:
            late = "" if done else f"; it did not answer within {CLOSE_PATIENCE:.0f} s"
            log.error("the second copy lacks the end of this start%s. %s", late, self.state.words)

    def _end(self) -> None:
        if not self._ended.done():
            self._ended.set_result(None)

    def _on_loop(self, work: Callable[..., None], *arguments: object) -> None:
        """Have the loop do something; a loop that ended did not wait for a copy that hung."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(work, *arguments)

    # --- in the thread ------------------------------------------------------------------------------------------------

    def _run(self, copy: Copy) -> None:
        failed: PitboxError | None = None
        try:
            while not isinstance(failed, CopyDiverged | CopyTakenOver):
                is_checking = failed is None and self._check is not None and self._check.is_due
                woken = self._wake.wait(CHECK_PAUSE if is_checking else RETRY)
                self._wake.clear()
                stopping = self._stop
                failed = self._ship(copy) if woken or stopping or failed is not None else self._look(copy)
                if stopping:
                    break
                if is_checking and not woken and failed is None:
                    self._read_again()
        finally:
            with suppress(PitboxError):
                copy.close()
            self._on_loop(self._end)

    def _read_again(self) -> None:
        """Read the next records of tonight's slice."""
        assert self._check is not None
        before = _damage(self._check)
        try:
            self._check.step()
        except (PitboxError, OSError) as error:  # it is tried again; what is wrong with the copy itself, shipping meets
            level = logging.DEBUG if str(error) == self._check_failed else logging.WARNING
            self._check_failed = str(error)
            log.log(level, "the check of the second copy could not go on: %s", error)
            self._wake.wait(RETRY)
        if _damage(self._check) != before:
            self._on_loop(self._changed, self.state.ack, self.state.code, self.state.error)

    def _look(self, copy: Copy) -> PitboxError | None:
        """There is nothing to ship; look whether the copy is still this box's."""
        try:
            copy.look()
        except PitboxError as error:
            self._on_loop(self._changed, copy.acknowledged or self.state.ack, error.code, str(error))
            return error
        return None

    def _ship(self, copy: Copy) -> PitboxError | None:
        try:
            ack = copy.ship()
        except PitboxError as error:
            reach = copy.acknowledged or self.state.ack
            self._on_loop(self._changed, reach, error.code, str(error))
            return error
        except Exception as error:  # noqa: BLE001 - a fault of ours must be seen as a copy that does not work
            failed = CopyUnreachable(f"copying failed: {error!r}")
            self._on_loop(self._changed, self.state.ack, failed.code, str(failed))
            return failed
        self._store.held_from = ack.seq + 1
        self._on_loop(self._changed, ack, "", "")
        return None
