"""The journal's folder: appended records are there, chained, after every kind of end; one writer at a time."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING

import msgspec
import pytest

from firmware_bridge.errors import (
    DiskReadOnly,
    JournalBusy,
    JournalDamaged,
    JournalError,
    JournalFailed,
    JournalForeign,
    JournalNewer,
    JournalShort,
)
from table_controller.journal import reader
from table_controller.journal.chain import GENESIS, MAX_BODY, SNAPSHOT, START, STOP, head_after
from table_controller.journal.store import COPY_MARK, Policy
from tests.support.box.journals import DIGESTS, copy_as_cut, entries, fill_segments, newest, open_journal

if TYPE_CHECKING:
    from pathlib import Path


def test_records_are_there_after_a_restart_in_order_and_chained(tmp_path: Path) -> None:
    store = open_journal(tmp_path)
    written = store.append(entries(store, 5)) + store.append(entries(store, 1))
    store.close()
    again = open_journal(tmp_path)
    records = list(again.read(1))
    assert [record.kind for record in records] == [GENESIS, START, *["event"] * 6, STOP, START]
    assert records[2:8] == written
    assert [record.boot for record in records] == [0, *[1] * 8, 2]
    start = msgspec.json.decode(records[1].body)
    assert (start["digests"], start["version"], start["clean"]) == (DIGESTS, 1, True)
    verdict = again.verify()
    assert (verdict.ok, verdict.first, verdict.last, verdict.head) == (True, 1, 10, records[-1].head)
    again.close()


def test_the_chain_is_the_documented_hash(tmp_path: Path) -> None:
    """Worked out by hand from docs/journal.md, with nothing of the journal's own code."""
    from hashlib import blake2b

    store = open_journal(tmp_path)
    (record,) = store.append([("bet", 1_700_000_000_000_000_000, -5, store.boot, b"\x01\x02")])
    before = next(store.read(record.seq - 1))
    text = before.head + record.seq.to_bytes(8, "big") + (1_700_000_000_000_000_000).to_bytes(8, "big", signed=True)
    text += (-5).to_bytes(8, "big", signed=True) + store.boot.to_bytes(8, "big")
    text += (3).to_bytes(2, "big") + (2).to_bytes(8, "big") + b"bet" + b"\x01\x02"
    assert record.head == blake2b(text, digest_size=32, person=b"pitbox journal 1").digest()
    store.close()


def test_a_boot_that_was_cut_off_is_distinguished_from_one_that_was_stopped(tmp_path: Path) -> None:
    store = open_journal(tmp_path / "a")
    acknowledged = store.append(entries(store, 3))
    image = copy_as_cut(tmp_path / "a", tmp_path / "b")
    store.close()
    again = open_journal(image)
    records = list(again.read(1))
    assert records[2:5] == acknowledged
    assert msgspec.json.decode(records[5].body)["clean"] is False
    again.close()


def test_a_second_writer_gets_the_name_of_the_first(tmp_path: Path) -> None:
    store = open_journal(tmp_path)
    with pytest.raises(JournalBusy, match=f"process {os.getpid()} writes this journal"):
        open_journal(tmp_path)
    store.close()


def test_a_reader_reads_while_the_writer_writes(tmp_path: Path) -> None:
    store = open_journal(tmp_path)
    store.append(entries(store, 10))
    reading = reader.read(tmp_path, 3)
    assert next(reading).seq == 3
    store.append(entries(store, 10))
    store.checkpoint(now=True)
    assert [record.seq for record in reading] == list(range(4, 13)), "a reader sees what was there when it began"
    assert newest(store).seq == 22
    store.close()


def test_what_is_beyond_the_limits_is_refused_and_the_journal_goes_on(tmp_path: Path) -> None:
    store = open_journal(tmp_path)
    for kind, body in (("", b""), ("k" * 65, b""), ("event", bytes(MAX_BODY + 1))):
        with pytest.raises(ValueError, match="beyond the limits"):
            store.append([(kind, 0, 0, 1, body)])
    assert store.append(entries(store, 1))[0].seq == 3
    store.close()


# --- snapshots and segments -------------------------------------------------------------------------------------------


def test_a_full_segment_is_followed_by_one_that_begins_with_a_snapshot(tmp_path: Path) -> None:
    store = open_journal(tmp_path)
    fill_segments(store, 3)
    store.append(entries(store, 7))
    snapshot = store.latest_snapshot()
    assert snapshot is not None
    assert snapshot.body == b"state %d" % snapshot.seq
    assert next(store.read(snapshot.seq)).head == snapshot.head
    last = newest(store).seq
    assert [record.seq for record in store.read(1)] == list(range(1, last + 1))
    for _, path in reader.segments(tmp_path)[1:]:
        with sqlite3.connect(path) as connection:
            ((kind,),) = connection.execute("SELECT kind FROM records ORDER BY seq LIMIT 1").fetchall()
        connection.close()
        assert kind == SNAPSHOT
    store.close()
    again = open_journal(tmp_path)
    assert again.verify() == reader.verify(tmp_path)
    assert again.verify().ok
    assert again.verify(snapshot.seq + 1).first == snapshot.seq + 1
    again.close()


def test_a_snapshot_of_an_older_record_is_bound_to_that_record(tmp_path: Path) -> None:
    store = open_journal(tmp_path)
    records = store.append(entries(store, 5))
    store.snapshot(records[1].seq, b"state")
    snapshot = store.latest_snapshot()
    assert snapshot is not None
    assert (snapshot.seq, snapshot.head, snapshot.body) == (records[1].seq, records[1].head, b"state")
    store.close()


def altered(folder: Path, number: int, statement: str, *values: object) -> None:
    with sqlite3.connect(reader.segments(folder)[number][1]) as connection:
        connection.execute(statement, values)
    connection.close()


def test_a_snapshot_that_was_changed_does_not_open(tmp_path: Path) -> None:
    store = open_journal(tmp_path)
    store.append(entries(store, 5))
    announced = store.snapshot(newest(store).seq, b"meter 100")
    store.close()
    altered(tmp_path, 0, "UPDATE snapshots SET body = ?", b"meter 900")
    with pytest.raises(JournalDamaged, match="not the one that this record names") as caught:
        open_journal(tmp_path)
    assert caught.value.bad == announced.seq
    assert reader.verify(tmp_path).bad == announced.seq


# --- verify names the first bad record --------------------------------------------------------------------------------


@pytest.mark.parametrize("column", ["kind", "wall_ns", "mono_ns", "boot", "body", "head"])
def test_verify_names_the_first_record_that_was_changed(tmp_path: Path, column: str) -> None:
    store = open_journal(tmp_path)
    fill_segments(store, 2)
    store.close()
    value = {"kind": "evens", "body": b"x", "head": bytes(32)}.get(column, 77)
    altered(tmp_path, 1, f"UPDATE records SET {column} = ? WHERE seq = 150", value)
    verdict = reader.verify(tmp_path)
    assert (verdict.ok, verdict.bad, verdict.last) == (False, 150, 149)
    with pytest.raises(JournalDamaged) as caught:
        list(reader.read(tmp_path, 140))
    assert caught.value.bad == 150
    assert [record.seq for record in reader.read(tmp_path, 140, 149)] == list(range(140, 150))


def test_a_record_rewritten_with_its_head_breaks_the_next_one(tmp_path: Path) -> None:
    store = open_journal(tmp_path)
    records = store.append(entries(store, 5))
    store.close()
    old = records[2]
    head = head_after(records[1].head, old.seq, old.kind, old.wall_ns, old.mono_ns, old.boot, b"forged")
    altered(tmp_path, 0, "UPDATE records SET body = ?, head = ? WHERE seq = ?", b"forged", head, old.seq)
    assert reader.verify(tmp_path).bad == old.seq + 1


def test_a_whole_journal_rewritten_after_a_head_was_published_is_caught_by_that_head(tmp_path: Path) -> None:
    store = open_journal(tmp_path)
    records = store.append(entries(store, 5))
    store.close()
    assert reader.verify(tmp_path, expected_head=records[3].head).ok
    before = records[1].head
    altered(tmp_path, 0, "DELETE FROM records WHERE seq > ?", records[4].seq)
    for old in records[2:]:
        before = head_after(before, old.seq, old.kind, old.wall_ns, old.mono_ns, old.boot, b"forged")
        altered(tmp_path, 0, "UPDATE records SET body = ?, head = ? WHERE seq = ?", b"forged", before, old.seq)
    (tmp_path / "tip").unlink()
    assert reader.verify(tmp_path).ok, "a chain alone cannot show it"
    verdict = reader.verify(tmp_path, expected_head=records[3].head)
    assert not verdict.ok
    assert "rewritten" in verdict.why


def test_a_removed_record_is_named(tmp_path: Path) -> None:
    store = open_journal(tmp_path)
    records = store.append(entries(store, 5))
    store.close()
    altered(tmp_path, 0, "DELETE FROM records WHERE seq = ?", records[2].seq)
    verdict = reader.verify(tmp_path)
    assert (verdict.bad, verdict.last) == (records[2].seq, records[1].seq)


# --- journals that must not open and stay unchanged -------------------------------------------------------------------


def test_a_journal_that_lost_its_end_does_not_open_and_the_head_file_shows_the_loss(tmp_path: Path) -> None:
    store = open_journal(tmp_path / "a")
    acknowledged = store.append(entries(store, 5))[-1]
    image = copy_as_cut(tmp_path / "a", tmp_path / "b")
    store.close()
    (image / "journal-000001.db-wal").unlink()
    with pytest.raises(JournalShort, match=f"record {acknowledged.seq} was acknowledged"):
        open_journal(image)
    verdict = reader.verify(image)
    assert (verdict.ok, verdict.last) == (False, 1)


def test_a_log_that_is_damaged_stays_as_evidence(tmp_path: Path) -> None:
    store = open_journal(tmp_path / "a")
    store.append(entries(store, 5))
    image = copy_as_cut(tmp_path / "a", tmp_path / "b")
    store.close()
    log = image / "journal-000001.db-wal"
    damaged = bytearray(log.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    log.write_bytes(damaged)
    before = {path.name: path.read_bytes() for path in image.iterdir() if not path.name.endswith("-shm")}
    with pytest.raises(JournalShort):
        open_journal(image)
    after = {path.name: path.read_bytes() for path in image.iterdir() if not path.name.endswith("-shm")}
    assert {**after, "lock": b""} == {**before, "lock": b""}


def test_an_older_copy_of_the_file_is_noticed(tmp_path: Path) -> None:
    store = open_journal(tmp_path / "a")
    store.close()
    older = (tmp_path / "a" / "journal-000001.db").read_bytes()
    store = open_journal(tmp_path / "a")
    store.append(entries(store, 5))
    store.close()
    (tmp_path / "a" / "journal-000001.db").write_bytes(older)
    with pytest.raises(JournalShort):
        open_journal(tmp_path / "a")


def test_a_file_of_another_journal_is_noticed(tmp_path: Path) -> None:
    for name in ("a", "b"):
        open_journal(tmp_path / name).close()
    (tmp_path / "a" / "journal-000001.db").write_bytes((tmp_path / "b" / "journal-000001.db").read_bytes())
    with pytest.raises(JournalForeign, match="another journal"):
        open_journal(tmp_path / "a")
    assert not reader.verify(tmp_path / "a").ok


def test_segments_of_two_journals_do_not_mix(tmp_path: Path) -> None:
    for name in ("a", "b"):
        store = open_journal(tmp_path / name)
        fill_segments(store, 2)
        store.close()
    (tmp_path / "a" / "journal-000002.db").write_bytes((tmp_path / "b" / "journal-000002.db").read_bytes())
    verdict = reader.verify(tmp_path / "a")
    assert not verdict.ok
    assert "another journal" in verdict.why


def test_a_journal_without_its_head_file_or_without_its_segments_does_not_open(tmp_path: Path) -> None:
    open_journal(tmp_path / "a").close()
    tip = (tmp_path / "a" / "tip").read_bytes()
    (tmp_path / "a" / "tip").unlink()
    with pytest.raises(JournalShort, match=r"head file \(tip\) is missing"):
        open_journal(tmp_path / "a")
    (tmp_path / "a" / "tip").write_bytes(bytes(len(tip)))
    with pytest.raises(JournalDamaged, match="neither slot"):
        open_journal(tmp_path / "a")
    (tmp_path / "a" / "tip").write_bytes(tip)
    (tmp_path / "a" / "journal-000001.db").unlink()
    with pytest.raises(JournalShort, match="every segment is gone"):
        open_journal(tmp_path / "a")


def test_a_missing_segment_in_the_middle_is_named(tmp_path: Path) -> None:
    store = open_journal(tmp_path)
    fill_segments(store, 3)
    store.close()
    (tmp_path / "journal-000002.db").unlink()
    with pytest.raises(JournalDamaged, match="segment 2 is missing"):
        open_journal(tmp_path)


def test_a_journal_of_newer_software_is_reported_and_left_untouched(tmp_path: Path) -> None:
    open_journal(tmp_path, version=7).close()
    before = (tmp_path / "journal-000001.db").read_bytes()
    with pytest.raises(JournalNewer, match="version 7"):
        open_journal(tmp_path, version=6)
    assert (tmp_path / "journal-000001.db").read_bytes() == before
    newer = open_journal(tmp_path, version=8)
    newer.append(entries(newer, 1))
    newer.close()
    with pytest.raises(JournalNewer, match="version 8"):
        open_journal(tmp_path, version=7)
    altered(tmp_path, 0, "PRAGMA user_version = 2")
    with pytest.raises(JournalNewer, match="format 2"):
        open_journal(tmp_path, version=8)
    with pytest.raises(JournalNewer, match="format 2"):
        reader.verify(tmp_path)


def test_a_start_of_newer_software_that_was_refused_does_not_shut_the_old_one_out(tmp_path: Path) -> None:
    """A box that cannot upgrade the state records its start and stop, and no body of its own version."""
    open_journal(tmp_path, version=6).close()
    open_journal(tmp_path, version=7).close()
    open_journal(tmp_path, version=6).close()


def test_a_file_that_is_no_database_is_damage(tmp_path: Path) -> None:
    open_journal(tmp_path).close()
    (tmp_path / "journal-000001.db").write_bytes(b"this is not a database" * 1000)
    with pytest.raises(JournalDamaged, match="cannot be read"):
        open_journal(tmp_path)
    assert reader.verify(tmp_path).bad == 1


def test_a_folder_that_cannot_be_created_or_written_is_reported(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="No such file"):
        open_journal(tmp_path / "a" / "b")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(JournalError):
        open_journal(tmp_path / "file")
    if os.geteuid() == 0:
        return
    (tmp_path / "locked").mkdir(mode=0o500)
    with pytest.raises(DiskReadOnly):
        open_journal(tmp_path / "locked")


def test_a_copy_is_not_written_as_if_it_were_the_journal(tmp_path: Path) -> None:
    open_journal(tmp_path).close()
    (tmp_path / COPY_MARK).write_text("")
    with pytest.raises(JournalForeign, match="second copy"):
        open_journal(tmp_path)


def test_after_a_failure_nothing_is_taken(tmp_path: Path) -> None:
    store = open_journal(tmp_path, policy=Policy(ballast_bytes=0))
    segment = store._segment
    assert segment is not None
    segment._connection.execute("PRAGMA query_only = ON")  # as a disk that turned read-only looks to SQLite
    with pytest.raises(DiskReadOnly):
        store.append(entries(store, 1))
    with pytest.raises(JournalFailed, match="PB-717"):
        store.append(entries(store, 1))
    last = newest(store)
    store.close()
    again = open_journal(tmp_path)
    assert next(again.read(last.seq + 1)).kind == START, "what failed left nothing behind"
    again.close()
