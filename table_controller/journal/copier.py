"""Keeps the second copy up to date in one thread while the game runs, and reports how far the copy reaches."""

from __future__ import annotations

import asyncio
import logging
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from firmware_bridge.errors import CopyCorrupted, CopyDiverged, CopyTakenOver, CopyUnreachable, PitboxError, code_of
from table_controller.journal.copy import Ack

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.journal.copy import Copy
    from table_controller.journal.copy_check import CopyCheck
    from table_controller.journal.store import Store

log = logging.getLogger(__name__)

# An unreachable copy is tried again after this time (s). A complete copy is checked as often, because another box may
# have taken it over.
RETRY_S: Final = 5.0
# A stopping box waits this long (s) for its last records to reach the copy; systemd kills it after 20 s.
CLOSE_TIMEOUT_S: Final = 8.0
# Pause between two chunks of the nightly check (s): reading a chunk takes a tenth of that in the table's interpreter.
CHECK_PAUSE_S: Final = 0.05


class Numbered(Protocol):
    """An object with the number of a record."""

    @property
    def seq(self) -> int:
        """The number."""


def _damage(check: CopyCheck | None) -> str:
    """Return the damage that the nightly check found, or an empty string."""
    damage = None if check is None else check.position.damage
    return "" if damage is None else str(damage)


class CopyState(msgspec.Struct, frozen=True):
    """State of the second copy: how far it reaches, how many records it is behind, and what is wrong."""

    configured: bool
    ack: Ack | None = None
    behind: int = 0
    code: str = ""
    error: str = ""
    damage: str = ""  # found by the nightly check; the copy is still kept up to date

    @property
    def problem(self) -> tuple[str, str] | None:
        """The code and text of what people must fix: copying fails, or the check found damage."""
        if self.error:
            return self.code, self.error
        return (code_of(CopyCorrupted.number), self.damage) if self.damage else None

    @property
    def sentence(self) -> str:
        """The state as a sentence."""
        if not self.configured:
            return "There is no second copy of the journal: if this disk fails, the meters are lost."
        reach = "nothing yet" if self.ack is None else f"record {self.ack.seq} ({self.ack.head.hex()[:16]})"
        if self.error:
            return f"The second copy has {reach} and is {self.behind} records behind. {self.code}: {self.error}"
        behind = f", {self.behind} records behind" if self.behind else ""
        damage = "" if self.problem is None else " {}: {}.".format(*self.problem)
        return f"The second copy has {reach}{behind}.{damage}"


class Copier:
    """Copies in a thread of its own; calls `on_state` on the loop when the state changes.

    A copy that diverges, or that another box has taken over, raises an alarm and stops the copying until the box is
    restarted; an unreachable copy is tried again. With a `check`, a slice of the copy is read again each night.
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
        self._check_failed = ""  # why the check last failed, so that the same failure is logged once
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
        store.retain_from = 0  # no segment is retired before the copy has it
        self._wake.set()
        self._thread = threading.Thread(target=self._run, args=(copy,), name="journal copy", daemon=True)
        self._thread.start()

    def on_durable(self, record: Numbered) -> None:
        """Copy a durable record and all before it. Called on the loop."""
        self._newest = record.seq
        if self._copy is not None:
            self._changed(self.state.ack, self.state.code, self.state.error)
            self._wake.set()

    def _changed(self, ack: Ack | None, code: str, error: str) -> None:
        behind = self._newest - (0 if ack is None else ack.seq)
        state = CopyState(True, ack, max(0, behind), code, error, _damage(self._check))
        before, self.state = self.state, state
        if (before.ack, before.code, before.error, before.damage) != (ack, code, error, state.damage):
            self._on_state(state)

    async def close(self) -> None:
        """Copy the last records if the copy can be reached, then stop. Does not wait for a copy that hangs."""
        if self._thread is None:
            return
        last = self._store.last()
        self._newest = self._newest if last is None else last.seq
        self._stop = True
        self._wake.set()
        done, _ = await asyncio.wait({self._ended}, timeout=CLOSE_TIMEOUT_S)
        if done:
            self._thread.join()
        if self.state.ack is None or self.state.ack.seq < self._newest:
            late = "" if done else f"; it did not answer within {CLOSE_TIMEOUT_S:.0f} s"
            log.error("the second copy lacks the last records of this run%s. %s", late, self.state.sentence)

    def _end(self) -> None:
        if not self._ended.done():
            self._ended.set_result(None)

    def _on_loop(self, work: Callable[..., None], *arguments: object) -> None:
        """Call `work` on the loop, if the loop still runs."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(work, *arguments)

    # --- in the thread ------------------------------------------------------------------------------------------------

    def _run(self, copy: Copy) -> None:
        failed: PitboxError | None = None
        try:
            while not isinstance(failed, CopyDiverged | CopyTakenOver):
                is_checking = failed is None and self._check is not None and self._check.is_due
                woken = self._wake.wait(CHECK_PAUSE_S if is_checking else RETRY_S)
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
        except (PitboxError, OSError) as error:  # tried again; if the copy itself is bad, copying reports it
            level = logging.DEBUG if str(error) == self._check_failed else logging.WARNING
            self._check_failed = str(error)
            log.log(level, "the check of the second copy failed: %s", error)
            self._wake.wait(RETRY_S)
        if _damage(self._check) != before:
            self._on_loop(self._changed, self.state.ack, self.state.code, self.state.error)

    def _look(self, copy: Copy) -> PitboxError | None:
        """Check that the copy still belongs to this box."""
        try:
            copy.check_ownership()
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
        except Exception as error:  # noqa: BLE001 - a bug here must show as a copy that fails
            failed = CopyUnreachable(f"copying failed: {error!r}")
            self._on_loop(self._changed, self.state.ack, failed.code, str(failed))
            return failed
        self._store.retain_from = ack.seq + 1
        self._on_loop(self._changed, ack, "", "")
        return None
