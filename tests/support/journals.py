"""Small journals for tests: opened, filled, copied as a power cut would leave them, and damaged. No tests here."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from table_controller.journal.store import Policy, Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.journal.chain import Entry, Record

DIGESTS: Final = {"software": "aa", "edition": "bb", "configuration": "cc"}
SMALL: Final = Policy(segment_bytes=40_000, ballast_bytes=0)


def opened(folder: Path, **more: Any) -> Store:
    """Open a journal with small segments and no ballast, unless told otherwise."""
    chosen: dict[str, Any] = {"version": 1, "digests": DIGESTS, "policy": SMALL}
    return Store.open(folder, **chosen | more)


def entries(store: Store, count: int, size: int = 20) -> list[Entry]:
    """Make entries for this boot."""
    return [("event", 1000 + n, n, store.boot, bytes([n % 256]) * size) for n in range(count)]


def newest(store: Store) -> Record:
    """Return the newest record."""
    last = store.last()
    assert last is not None
    return last


def filled(store: Store, segments: int) -> None:
    """Append and take snapshots until so many more segments are there."""
    until = len(list(store.folder.glob("journal-*.db"))) + segments
    while len(list(store.folder.glob("journal-*.db"))) < until:
        store.append(entries(store, 50, 200))
        store.snapshot(newest(store).seq, b"state %d" % newest(store).seq)


@contextmanager
def quick_folder() -> Iterator[Path]:
    """Give a folder in memory, where there is one: what lies in files does not depend on how long a sync takes."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield Path(folder)


def cut(folder: Path, image: Path) -> Path:
    """Copy a journal's files as they are now: what a killed process leaves. Nobody may write meanwhile."""
    shutil.copytree(folder, image)
    for shared in image.glob("*-shm"):  # memory of the process, not of the disk
        shared.unlink()
    return image
