"""`pitbox journal`: reads, verifies, exports and restores a table's journal.

Only `restore`, `begin` and `begin-copy` write. The others also work while a box writes to the journal.
"""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import ConfigurationError, RestoreRefused, UsageError
from table_controller.cli import FAULT, OK
from table_controller.cli.dual_authorization import add_signer_arguments, authenticate_signers, named_signers
from table_controller.cli.pins import add_people_arguments
from table_controller.cli.subcommands import Subcommands, run
from table_controller.journal import anchor, reader

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

__all__ = ["EXAMPLE", "HELP", "add_arguments", "run"]

HELP = "read, verify, export or restore a table's journal; begin a second copy or a new journal"
EXAMPLE = "pitbox journal show /var/lib/pitbox/journal 812"

_LINES: Final = 20
# Interval between two reads of a journal that is followed (s).
_LOOK: Final = 0.5
_HEAD_DIGITS: Final = 64
# The two people who sign for a restore.
_PEOPLE: Final = ("floorperson", "auditor")
# The two people who sign for a new journal; both are at the box.
_BEGINNERS: Final = ("technician", "floorperson")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    command = Subcommands(parser, "journal").add
    tail = command(
        "tail", "print the newest records, one on a line", "tail -n 5 --follow /var/lib/pitbox/journal", _tail
    )
    tail.add_argument("-n", type=int, default=_LINES, metavar="N", help=f"how many (default {_LINES})")
    tail.add_argument("--follow", action="store_true", help="print new records as they are written, until interrupted")
    verify = command(
        "verify", "check every record against its head; exit code 1 names the first bad record",
        "verify /var/lib/pitbox/journal --against 9f2c…", _verify,
    )  # fmt: skip
    verify.add_argument("--against", metavar="HEAD", help="a head that left the box: it must be among the records")
    export = command(
        "export", "write records as JSON Lines with a manifest; tools/verify_export.py checks them",
        "export /var/lib/pitbox/journal --to /media/audit/2031-03-17", _export,
    )  # fmt: skip
    export.add_argument("--to", required=True, metavar="DIR", help="a folder that contains no export")
    export.add_argument("--from", dest="first", type=int, metavar="SEQ", help="first record (default: the first kept)")
    export.add_argument("--until", dest="last", type=int, metavar="SEQ", help="last record (default: the newest)")
    show = command("show", "print one round step by step, for a dispute", "show /var/lib/pitbox/journal 812", _show)
    for each in (tail, verify, export, show):
        each.add_argument("folder", help="the journal's folder, or a second copy's")
    show.add_argument("round", type=int, help="the round's number")
    begin = command(
        "begin-copy", "mark an empty folder as the second copy; without the mark an unmounted disk would look the same",
        "begin-copy /mnt/copy/journal", _begin_copy,
    )  # fmt: skip
    begin.add_argument("folder", help="an empty folder, on another disk")
    restore = command(
        "restore", "write a journal into an empty folder from a copy; two people sign",
        "restore --from /mnt/copy --to /var/lib/pitbox/journal --floorperson F17 --auditor A3", _restore,
    )  # fmt: skip
    restore.add_argument("--from", dest="copy", required=True, metavar="COPY", help="the copy, or a damaged journal")
    restore.add_argument(
        "--to", required=True, metavar="FOLDER", help="an empty folder, or one that does not exist yet"
    )
    add_signer_arguments(restore, _PEOPLE)
    add_people_arguments(restore)
    restore.add_argument("--against", metavar="HEAD", help="a head that left the box: it must be among the records")
    restore.add_argument("--accept-loss", action="store_true", help="restore only the records before the first bad one")
    anew = command(
        "begin", "begin a new journal after a loss, with every meter at its seed; two people sign",
        "begin --config /etc/pitbox/table.toml --technician T3 --floorperson F17", _begin,
    )  # fmt: skip
    anew.add_argument(
        "--before", metavar="FOLDER", help="the previous journal, moved away as evidence: its revoked keys stay revoked"
    )
    add_signer_arguments(anew, _BEGINNERS)
    add_people_arguments(anew)


def _folder(name: str) -> Path:
    """Return a journal's folder; raise ConfigurationError if there is none."""
    folder = Path(name)
    if not folder.is_dir():
        raise ConfigurationError(f"{folder} is not a folder")
    if not reader.segments(folder):
        raise ConfigurationError(f"{folder} contains no journal")
    reader.first_place(folder)
    return folder


def _head(text: str | None) -> bytes | None:
    if text is None:
        return None
    try:
        head = bytes.fromhex(text)
    except ValueError:
        head = b""
    if len(text) != _HEAD_DIGITS or not head:
        raise UsageError(f"a head has {_HEAD_DIGITS} hexadecimal digits; {text!r} is not a head")
    return head


@contextmanager
def _progress(what: str, first: int, last: int) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on a terminal while a long journal is read."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=last - first + 1)

        def on_record(seq: int) -> None:
            if seq % 1000 == 0 or seq == last:
                progress.update(task, completed=seq - first + 1)

        yield on_record


# --- reading ----------------------------------------------------------------------------------------------------------


def _tail(args: argparse.Namespace) -> int:
    from table_controller.journal.record_text import record_line

    if args.n < 0:
        raise UsageError("-n takes a number of records, 0 or more")
    folder = _folder(args.folder)
    first, last = reader.bounds(folder)
    for record in reader.read(folder, max(first, last + 1 - args.n), last):
        print(record_line(record))
    while args.follow:
        sys.stdout.flush()
        time.sleep(_LOOK)
        for record in reader.read(folder, last + 1):
            print(record_line(record))
            last = record.seq
    return OK


def _verify(args: argparse.Namespace) -> int:
    expected_head = _head(args.against)
    folder = _folder(args.folder)
    first, last = reader.bounds(folder)
    with _progress("verifying", first, last) as on_record:
        verdict = reader.verify(folder, None, expected_head, on_record=on_record)
    if not verdict.ok:
        reader.raise_if_bad(folder, verdict)
    print(f"records {verdict.first} to {verdict.last} are intact")
    print(f"head {verdict.head.hex()}")
    if expected_head is None:
        print("Compare the head with one that left the box (--against): a chain that was rewritten whole agrees, too.")
    return OK


def _export(args: argparse.Namespace) -> int:
    from table_controller.journal.export import export

    folder = _folder(args.folder)
    first, last = reader.bounds(folder)
    with _progress("exporting", args.first or first, args.last or last) as on_record:
        manifest = export(folder, Path(args.to), args.first, args.last, on_record=on_record)
    print(f"{manifest.count} records, {manifest.first} to {manifest.last}, in {Path(args.to) / manifest.file}")
    print(f"head before {manifest.head_before}")
    print(f"head after  {manifest.head_after}")
    print(f"sha256      {manifest.sha256}")
    return OK


def _show(args: argparse.Namespace) -> int:
    from table_controller.journal.round_report import read_round

    print("\n".join(read_round(_folder(args.folder), args.round).lines()))
    return OK


# --- the second copy --------------------------------------------------------------------------------------------------


def _begin_copy(args: argparse.Namespace) -> int:
    from table_controller.journal.copy import begin_copy

    folder = Path(args.folder)
    if not folder.is_dir():
        raise ConfigurationError(f"{folder} is not a folder; make one, on another disk than the journal")
    begin_copy(folder)
    print(f"{folder} is ready for the second copy; name it in table.toml: [journal] copy = ...")
    return OK


def _restore(args: argparse.Namespace) -> int:
    from table_controller.journal.accounts import read_money_book
    from table_controller.journal.copy import restore
    from table_controller.ledger.money import format_dollars

    who = named_signers(args, _PEOPLE, "a restore")
    expected_head = _head(args.against)
    source, target = _folder(args.copy), Path(args.to)
    by = {role: person.id for role, person in authenticate_signers(args, who, "a restore").items()}
    ack = restore(source, target, expected_head=expected_head, accept_loss=args.accept_loss, by=by)
    if anchor.read_anchor(target.parent) is not None:  # two people signed for the loss
        (last,) = reader.read(target, ack.seq, ack.seq)
        anchor.create_anchor(target.parent, reader.first_place(target).journal, last)
    people = " and ".join(f"{role} {credential}" for role, credential in by.items())
    print(f"restored into {target}: records up to {ack.seq - 1}, and record {ack.seq} with the names of {people}")
    print(f"head {ack.head.hex()}")
    book = read_money_book(target)
    if not book.entries:
        print("this journal has no seeded meter; there is nothing to carry over")
        return OK
    meters = book.meters
    for name, amount in (
        ("current value", meters.current), ("reserve", meters.reserve), ("overflow", meters.overflow),
        ("hits claimed, not paid", meters.pending),
        ("paid by the table", meters.paid_by_table), ("paid by an attendant", meters.paid_by_attendant),
        ("cumulative payout", meters.cumulative),
    ):  # fmt: skip
        print(f"  {name:24s}{format_dollars(amount):>24s}")
    return OK if sum(book.held.values()) == 0 else FAULT


def _before(data: Path) -> str:
    """Return a sentence with the last known record of a lost journal."""
    from table_controller.uplink.cursor import NAME, load_cursor

    lost, published = anchor.read_anchor(data), load_cursor(data / NAME)
    if lost is not None:
        place = f"record {lost.seq} with the head {lost.head.hex()} was on disk"
        return f"of the previous journal, {lost.journal.hex()}, {place}"
    if published is not None:
        acknowledged = f"record {published.seq} with the head {published.head}"
        return f"of the previous journal, {published.journal}, the broker has {acknowledged}"
    return "nothing is known of a previous journal"


def _revoked_before(name: str) -> tuple[tuple[str, str], ...]:
    """Return the keys that the previous journal revoked; the first start of the new one revokes them again."""
    from table_controller.journal.revocations import revoked_in

    return revoked_in(_folder(name))


def _begin(args: argparse.Namespace) -> int:
    from table_controller.config import default_path, load_config
    from table_controller.host.data_folder import DataFolder
    from table_controller.journal import records as rec
    from table_controller.journal.store import Store
    from table_controller.journal.versions import digests_of
    from table_controller.maintenance import key_files

    if args.people is not None:
        raise UsageError("a new journal belongs to a table: name its table.toml with --config")
    who = named_signers(args, _BEGINNERS, "a new journal")
    config = load_config(args.config or default_path())
    folder, data = config.journal.folder, DataFolder(config.data)
    try:
        if folder.is_dir() and any(folder.iterdir()):
            raise RestoreRefused(f"{folder} is not empty; keep its files as evidence: move them away first")
        revoked = () if args.before is None else _revoked_before(args.before)
        signers = authenticate_signers(args, who, "a new journal")
        if revoked:
            known = key_files.read_former_list(config.data / key_files.FORMER_LIST)
            key_files.write_former_list(config.data / key_files.FORMER_LIST, tuple(dict.fromkeys((*known, *revoked))))
        one, two = (person.event_person for person in signers.values())
        before = _before(config.data)
        digests = digests_of(config.edition, config.submission, config.kinds)
        store = Store.open(folder, version=rec.VERSION, digests=digests, policy=config.journal.policy)
        try:
            note = rec.Note("begun", f"a new journal was begun, every meter at its seed; {before}", who=one, second=two)
            (record,) = store.append(
                [(rec.NOTE, time.time_ns(), time.monotonic_ns(), store.boot, rec.encode_body(note))]
            )
        finally:
            store.close()
        last = store.last()
        assert last is not None
        anchor.create_anchor(config.data, store.journal, last)
    finally:
        data.close()
    print(f"a new journal begins in {folder}; record {record.seq} names technician {one.credential} and floorperson "
          f"{two.credential}")  # fmt: skip
    print(before)
    if args.before is None:
        print("The revoked keys of the previous journal are unknown: if it can still be read, name it with --before")
    else:
        print(f"{len(revoked)} keys of the previous journal stay revoked")
    print("Start the box, then set the meters to the last published figures: pitbox submit correct_meter")
    return OK
