"""A copy that was restored into another box: the old box detects it and locks; a second restore needs consent."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from firmware_bridge.errors import CopyTakenOver, RestoreRefused
from table_controller.journal import anchor
from table_controller.journal import copier as copier_module
from table_controller.journal.copier import Copier, CopyState
from table_controller.journal.copy import Copy, begin_copy, restore
from tests.support.box.journals import entries, newest, open_journal

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.journal.store import Store

BY = {"floorperson": "F1", "auditor": "A1"}


def _with_copy(folder: Path) -> tuple[Store, Copy]:
    """Return an old box with a complete copy."""
    store = open_journal(folder / "old")
    (folder / "copy").mkdir()
    begin_copy(folder / "copy")
    copy = Copy(store.folder, folder / "copy")
    store.append(entries(store, 5))
    copy.ship()
    return store, copy


def test_the_old_box_ships_nothing_any_more_after_a_restore(tmp_path: Path) -> None:
    store, copy = _with_copy(tmp_path)
    restore(tmp_path / "copy", tmp_path / "new", by=BY)
    store.append(entries(store, 1))
    with pytest.raises(CopyTakenOver, match="by floorperson F1 and auditor A1") as seen:
        copy.ship()
    assert seen.value.code == "PB-724"
    copy.close()
    store.close()


def test_the_old_box_does_not_start_with_a_copy_that_was_taken_over(tmp_path: Path) -> None:
    store, copy = _with_copy(tmp_path)
    anchor.create_anchor(tmp_path, store.journal, newest(store))
    copy.close()
    store.close()
    anchor.check_anchor(tmp_path, tmp_path / "old", tmp_path / "copy")
    restore(tmp_path / "copy", tmp_path / "new", by=BY)
    with pytest.raises(CopyTakenOver, match="another box"):
        anchor.check_anchor(tmp_path, tmp_path / "old", tmp_path / "copy")


def test_the_new_box_keeps_the_same_copy(tmp_path: Path) -> None:
    store, copy = _with_copy(tmp_path)
    copy.close()
    store.close()
    restore(tmp_path / "copy", tmp_path / "new", by=BY)
    new = open_journal(tmp_path / "new")
    again = Copy(new.folder, tmp_path / "copy")
    assert again.ship().head == newest(new).head
    new.append(entries(new, 2))
    assert again.ship().head == newest(new).head
    again.close()
    new.close()
    anchor.create_anchor(tmp_path, new.journal, newest(opened_again := open_journal(tmp_path / "new")))
    opened_again.close()
    anchor.check_anchor(tmp_path, tmp_path / "new", tmp_path / "copy")
    restore(tmp_path / "copy", tmp_path / "third", by=BY)


def test_a_copy_is_not_restored_twice_unless_the_loss_of_the_first_is_accepted(tmp_path: Path) -> None:
    store, copy = _with_copy(tmp_path)
    copy.close()
    store.close()
    restore(tmp_path / "copy", tmp_path / "new", by=BY)
    with pytest.raises(RestoreRefused, match="restored before, by floorperson F1"):
        restore(tmp_path / "copy", tmp_path / "other", by=BY)
    assert not (tmp_path / "other").exists()
    restore(tmp_path / "copy", tmp_path / "other", by=BY, accept_loss=True)
    new = open_journal(tmp_path / "new")
    with pytest.raises(CopyTakenOver):
        Copy(new.folder, tmp_path / "copy").ship()
    new.close()


def test_a_restore_that_fails_leaves_no_mark(tmp_path: Path) -> None:
    store, copy = _with_copy(tmp_path)
    with pytest.raises(RestoreRefused):
        restore(tmp_path / "copy", tmp_path / "new", expected_head=bytes(32))
    copy.ship()
    copy.close()
    store.close()


@pytest.mark.realtime
async def test_an_idle_box_sees_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copier_module, "RETRY_S", 0.05)
    store, copy = _with_copy(tmp_path)
    seen: list[CopyState] = []
    copier = Copier(store, copy, seen.append)
    await asyncio.sleep(0.2)
    restore(tmp_path / "copy", tmp_path / "new", by=BY)
    async with asyncio.timeout(20):
        while not seen or seen[-1].code != "PB-724":  # noqa: ASYNC110 - a thread's work
            await asyncio.sleep(0.02)
    await copier.close()
    store.close()
