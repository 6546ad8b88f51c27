"""Damage anywhere in the files, by seed: noticed or harmless, never accepted. Torn writes: recovered, never refused.

A case is a journal with everything acknowledged in it, one file damaged in one way. `verify` with the last acknowledged
head must fail, or every acknowledged record must be there as it was; so must `verify` alone, unless the tip itself was
damaged.
"""

from __future__ import annotations

import shutil
from random import Random
from typing import TYPE_CHECKING, Final

import pytest

from firmware_bridge.errors import JournalError
from table_controller.journal import reader
from tests.support.box.journals import copy_as_cut, entries, newest, open_journal, quick_folder
from tests.support.suite.case_counts import draw_seeds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from table_controller.journal.chain import Record
    from table_controller.journal.segment import StoredSnapshot

SECTOR: Final = 512
PAGE: Final = 4096


class Image:
    """A journal's folder and what was acknowledged in it."""

    def __init__(self, folder: Path, acknowledged: list[Record], snapshot: StoredSnapshot | None) -> None:
        self.folder = folder
        self.acknowledged = acknowledged
        self.snapshot = snapshot


def _image(folder: Path, seed: int, how: str) -> Image:
    """Make a journal: one that was closed, one cut off with a log, one cut off after a checkpoint reused its log."""
    rng = Random(seed)
    store = open_journal(folder / f"{how} live")
    for number in range(12):
        store.append(entries(store, rng.randint(1, 12), rng.choice([10, 100, 700])))
        if number in (3, 8):
            store.snapshot(newest(store).seq, rng.randbytes(rng.choice([50, 6000])))
        if how == "reused" and number in (5, 9):
            store.checkpoint(now=True)
    if how == "closed":
        store.close()
        return Image(store.folder, list(reader.read(store.folder, 1)), reader.latest_snapshot(store.folder))
    image = Image(copy_as_cut(store.folder, folder / how), list(store.read(1)), store.latest_snapshot())
    store.close()
    return image


@pytest.fixture(scope="module")
def images() -> Iterator[list[Image]]:
    with quick_folder() as folder:
        yield [_image(folder, seed, how) for seed, how in enumerate(("closed", "log", "reused"))]


@pytest.fixture
def folder() -> Iterator[Path]:
    with quick_folder() as created:
        yield created


def _flip(data: bytearray, rng: Random) -> None:
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _flips(data: bytearray, rng: Random) -> None:
    for _ in range(rng.randint(2, 40)):
        _flip(data, rng)


def _cut_short(data: bytearray, rng: Random) -> None:
    del data[rng.randrange(len(data)) :]


def _cut_at_page(data: bytearray, rng: Random) -> None:
    del data[rng.randrange(len(data)) // PAGE * PAGE :]


def _zeroes(data: bytearray, rng: Random) -> None:
    size = rng.choice([SECTOR, PAGE])
    start = rng.randrange(len(data)) // size * size
    data[start : start + size] = bytes(len(data[start : start + size]))


def _noise(data: bytearray, rng: Random) -> None:
    start = rng.randrange(len(data)) // SECTOR * SECTOR
    data[start : start + SECTOR] = rng.randbytes(len(data[start : start + SECTOR]))


def _misdirected(data: bytearray, rng: Random) -> None:
    """Write a page to the place of another one."""
    pages = max(1, len(data) // PAGE)
    source, target = rng.randrange(pages) * PAGE, rng.randrange(pages) * PAGE
    data[target : target + PAGE] = data[source : source + PAGE]


DAMAGES: Final[tuple[Callable[[bytearray, Random], None], ...]] = (
    _flip, _flip, _flips, _cut_short, _cut_at_page, _zeroes, _noise, _misdirected
)  # fmt: skip


def _intact(image: Image, folder: Path) -> bool:
    """Return whether every acknowledged record is unchanged and the newest snapshot is right."""
    results = {record.seq: record for record in reader.read(folder, 1)}
    return all(results.get(record.seq) == record for record in image.acknowledged)


def _case(image: Image, folder: Path, seed: int) -> str:
    """Damage one file; return "noticed" or "harmless". Fails if the journal accepted damage."""
    rng = Random(seed)
    shutil.copytree(image.folder, folder)
    names = sorted(path.name for path in folder.iterdir() if path.stat().st_size and path.name != "lock")
    name = rng.choice(names)
    damage = rng.choice(DAMAGES)
    data = bytearray((folder / name).read_bytes())
    if rng.random() < 0.02:
        (folder / name).unlink()
    else:
        damage(data, rng)
        (folder / name).write_bytes(data)
    what = f"seed {seed}: {damage.__name__} in {name} of {image.folder.name}"
    message = _verified(image, folder, what, tip_damaged=name == "tip")
    _opened(image, folder, what, tip_damaged=name == "tip")
    return message


def _verified(image: Image, folder: Path, what: str, *, tip_damaged: bool) -> str:
    try:
        verdict = reader.verify(folder, expected_head=image.acknowledged[-1].head)
        alone = reader.verify(folder)
    except JournalError:
        return "noticed"
    assert verdict.ok or verdict.bad is not None, f"{what}: no record was named"
    for each in (verdict,) if tip_damaged else (verdict, alone):
        assert not each.ok or _intact(image, folder), f"{what}: verify accepted it"
    return "harmless" if verdict.ok else "noticed"


def _opened(image: Image, folder: Path, what: str, *, tip_damaged: bool) -> None:
    """Check that opening verifies the records since the last snapshot, or refuses."""
    last = image.acknowledged[-1]
    try:
        store = open_journal(folder, expected_head=last.head if tip_damaged else None)
    except JournalError:
        return
    try:
        snapshot = store.latest_snapshot()
        since = 1 if snapshot is None else snapshot.seq + 1
        expected = [record for record in image.acknowledged if record.seq >= since]
        assert list(store.read(since, last.seq)) == expected, f"{what}: it opened without an acknowledged record"
        if snapshot is not None and image.snapshot is not None and snapshot.seq == image.snapshot.seq:
            assert snapshot == image.snapshot, f"{what}: it opened with another snapshot"
    finally:
        store.close()


def _cases(images: list[Image], folder: Path, seeds: range) -> dict[str, int]:
    counts = {"noticed": 0, "harmless": 0}
    for seed in seeds:
        case = folder / "case"
        counts[_case(images[seed % len(images)], case, seed)] += 1
        shutil.rmtree(case)
    return counts


def test_damage_is_noticed_or_harmless_and_never_accepted(images: list[Image], folder: Path) -> None:
    counts = _cases(images, folder, range(300))
    assert counts["noticed"] > 100
    assert counts["harmless"] > 0, "some damage hits what no record lies in"


@pytest.mark.proof
@pytest.mark.parametrize("part", draw_seeds(0, 8))
def test_much_damage_is_noticed_or_harmless_and_never_accepted(images: list[Image], folder: Path, part: int) -> None:
    counts = _cases(images, folder, range(1000 + 1000 * part, 2000 + 1000 * part))
    print(f"1000 damaged journals: {counts['noticed']} noticed, {counts['harmless']} harmless, none accepted")
    assert counts["noticed"] > 350


# --- torn writes: unsynced data may be there in part ------------------------------------------------------------------


def _torn(folder: Path, seed: int) -> tuple[int, int]:
    """Cut the power inside a commit, some of its sectors on the disk. It must open with all that was acknowledged."""
    rng = Random(seed)
    store = open_journal(folder / "live")
    for _ in range(rng.randint(1, 4)):
        store.append(entries(store, rng.randint(1, 5), rng.choice([10, 900])))
        if rng.random() < 0.4:
            store.checkpoint(now=True)
        if rng.random() < 0.2:
            store.snapshot(newest(store).seq, rng.randbytes(300))
    acknowledged = newest(store)
    before = copy_as_cut(store.folder, folder / "before")
    group = store.append(entries(store, rng.randint(1, 30), rng.choice([10, 900])))
    after = (store.folder / "journal-000001.db-wal").read_bytes()
    store.close()
    log = before / "journal-000001.db-wal"
    old = log.read_bytes().ljust(len(after), b"\0")
    torn = bytearray(old)
    for start in range(0, len(after), SECTOR):
        if rng.random() < 0.7:
            torn[start : start + SECTOR] = after[start : start + SECTOR]
    if rng.random() < 0.3:
        torn[:] = after  # everything arrived, but nothing was acknowledged
    log.write_bytes(torn)
    again = open_journal(before)
    records = list(again.read(1))[:-1]
    assert records[acknowledged.seq - 1] == acknowledged, f"seed {seed}"
    assert records[acknowledged.seq :] in ([], group), f"seed {seed}: a part of a group was taken"
    again.close()
    return len(records) > acknowledged.seq, 1


def _many_torn(folder: Path, seeds: range) -> tuple[int, int]:
    whole = 0
    for seed in seeds:
        case = folder / str(seed)
        case.mkdir()
        whole += _torn(case, seed)[0]
        shutil.rmtree(case)
    return whole, len(seeds)


def test_a_power_cut_inside_a_commit_leaves_all_of_it_or_nothing(folder: Path) -> None:
    whole, cases = _many_torn(folder, range(60))
    assert 0 < whole < cases


@pytest.mark.proof
@pytest.mark.parametrize("part", draw_seeds(0, 2))
def test_many_power_cuts_inside_a_commit(folder: Path, part: int) -> None:
    whole, cases = _many_torn(folder, range(1000 * part + 100, 1000 * part + 1100))
    print(f"{cases} torn commits: {whole} were there whole, {cases - whole} not at all; every acknowledged record was")
    assert 0 < whole < cases
