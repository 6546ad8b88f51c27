"""`pitbox journal`: read, check, export and restore a table's journal. What records mean is told elsewhere.

Everything but `restore`, `begin` and `begin-copy` only reads, beside a box that writes or without one.
"""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import ConfigurationError, RestoreRefused, UsageMistake
from table_controller.cli import FAULT, OK
from table_controller.cli.pins import add_people_arguments
from table_controller.cli.subcommands import Subcommands, run
from table_controller.cli.two_people import add_two_arguments, named, proved
from table_controller.journal import anchor, reader

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

__all__ = ["EXAMPLE", "HELP", "add_arguments", "run"]

HELP = "read a table's journal: tail, verify, export, show a round; begin its second copy, restore from it, begin anew"
EXAMPLE = "pitbox journal show /var/lib/pitbox/journal 812"

_LINES: Final = 20
# How often a journal is looked at while it is followed (s).
_LOOK: Final = 0.5
_HEAD_DIGITS: Final = 64
# The two people who answer for a restore: one of the floor, one who keeps the books.
_PEOPLE: Final = ("floorperson", "auditor")
# And those who answer for a new beginning: they stand before the box, and the books begin with the record of it.
_BEGINNERS: Final = ("technician", "floorperson")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    command = Subcommands(parser, "journal").add
    tail = command(
        "tail", "print the newest records, one on a line", "tail -n 5 --follow /var/lib/pitbox/journal", _tail
    )
    tail.add_argument("-n", type=int, default=_LINES, metavar="N", help=f"how many (default {_LINES})")
    tail.add_argument("--follow", action="store_true", help="go on with what is written from now on, until interrupted")
    verify = command(
        "verify", "check every record against its head; exit code 1 and the first bad record if one does not hold",
        "verify /var/lib/pitbox/journal --against 9f2c…", _verify,
    )  # fmt: skip
    verify.add_argument("--against", metavar="HEAD", help="a head that left the box: it must be among the records")
    export = command(
        "export", "write records as JSON Lines with a manifest; tools/verify_export.py checks them",
        "export /var/lib/pitbox/journal --to /media/audit/2031-03-17", _export,
    )  # fmt: skip
    export.add_argument("--to", required=True, metavar="DIR", help="a folder that holds no export")
    export.add_argument("--from", dest="first", type=int, metavar="SEQ", help="first record (default: the first kept)")
    export.add_argument("--until", dest="last", type=int, metavar="SEQ", help="last record (default: the newest)")
    show = command("show", "tell one round again, for a dispute", "show /var/lib/pitbox/journal 812", _show)
    for each in (tail, verify, export, show):
        each.add_argument("folder", help="the journal's folder, or a second copy's")
    show.add_argument("round", type=int, help="the round's number")
    begin = command(
        "begin-copy", "mark an empty folder as the place of a second copy, on purpose: an unmounted disk is empty, too",
        "begin-copy /mnt/copy/journal", _begin_copy,
    )  # fmt: skip
    begin.add_argument("folder", help="an empty folder, on another disk")
    restore = command(
        "restore", "make a journal in an empty folder from a copy, under two credentials",
        "restore --from /mnt/copy --to /var/lib/pitbox/journal --floorperson F17 --auditor A3", _restore,
    )  # fmt: skip
    restore.add_argument("--from", dest="copy", required=True, metavar="COPY", help="the copy, or a damaged journal")
    restore.add_argument("--to", required=True, metavar="FOLDER", help="an empty folder, or one that is not there yet")
    add_two_arguments(restore, _PEOPLE)
    add_people_arguments(restore)
    restore.add_argument("--against", metavar="HEAD", help="a head that left the box: it must be among the records")
    restore.add_argument("--accept-loss", action="store_true", help="take what is before the first bad record")
    anew = command(
        "begin", "begin a new journal where one was lost, with every meter at its seed, under two credentials",
        "begin --config /etc/pitbox/table.toml --technician T3 --floorperson F17", _begin,
    )  # fmt: skip
    anew.add_argument(
        "--before", metavar="FOLDER", help="the journal before, moved away as evidence: its revoked keys stay revoked"
    )
    add_two_arguments(anew, _BEGINNERS)
    add_people_arguments(anew)


def _folder(name: str) -> Path:
    """Return a journal's folder; say so if there is none."""
    folder = Path(name)
    if not folder.is_dir():
        raise ConfigurationError(f"{folder} is no folder")
    if not reader.segments(folder):
        raise ConfigurationError(f"{folder} holds no journal")
    reader.begin(folder)
    return folder


def _head(text: str | None) -> bytes | None:
    if text is None:
        return None
    try:
        head = bytes.fromhex(text)
    except ValueError:
        head = b""
    if len(text) != _HEAD_DIGITS or not head:
        raise UsageMistake(f"a head is {_HEAD_DIGITS} hexadecimal digits, and {text!r} is none")
    return head


@contextmanager
def _progress(what: str, first: int, last: int) -> Iterator[Callable[[int], None]]:
    """Show how far a long journal is read, on a person's terminal."""
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
    from table_controller.journal.wording import line

    if args.n < 0:
        raise UsageMistake("-n takes a number of records, 0 or more")
    folder = _folder(args.folder)
    first, last = reader.bounds(folder)
    for record in reader.read(folder, max(first, last + 1 - args.n), last):
        print(line(record))
    while args.follow:
        sys.stdout.flush()
        time.sleep(_LOOK)
        for record in reader.read(folder, last + 1):
            print(line(record))
            last = record.seq
    return OK


def _verify(args: argparse.Namespace) -> int:
    against = _head(args.against)
    folder = _folder(args.folder)
    first, last = reader.bounds(folder)
    with _progress("verifying", first, last) as on_record:
        verdict = reader.verify(folder, None, against, on_record=on_record)
    if not verdict.ok:
        reader.must_hold(folder, verdict)
    print(f"records {verdict.first} to {verdict.last} hold")
    print(f"head {verdict.head.hex()}")
    if against is None:
        print("Compare the head with one that left the box (--against does): a chain that was made anew holds, too.")
    return OK


def _export(args: argparse.Namespace) -> int:
    from table_controller.journal.export import export

    folder = _folder(args.folder)
    first, last = reader.bounds(folder)
    with _progress("exporting", args.first or first, args.last or last) as on_record:
        made = export(folder, Path(args.to), args.first, args.last, on_record=on_record)
    print(f"{made.count} records, {made.first} to {made.last}, in {Path(args.to) / made.file}")
    print(f"head before {made.head_before}")
    print(f"head after  {made.head_after}")
    print(f"sha256      {made.sha256}")
    return OK


def _show(args: argparse.Namespace) -> int:
    from table_controller.journal.rounds import round_of

    print("\n".join(round_of(_folder(args.folder), args.round).lines()))
    return OK


# --- the second copy --------------------------------------------------------------------------------------------------


def _begin_copy(args: argparse.Namespace) -> int:
    from table_controller.journal.copy import begin_copy

    folder = Path(args.folder)
    if not folder.is_dir():
        raise ConfigurationError(f"{folder} is no folder; make one, on another disk than the journal's")
    begin_copy(folder)
    print(f"{folder} is the place of a second copy; name it in table.toml: [journal] copy = ...")
    return OK


def _restore(args: argparse.Namespace) -> int:
    from table_controller.journal.accounts import book_of
    from table_controller.journal.copy import restore
    from table_controller.ledger.money import dollars

    who = named(args, _PEOPLE, "a restore")
    against = _head(args.against)
    source, target = _folder(args.copy), Path(args.to)
    by = {role: person.id for role, person in proved(args, who, "a restore").items()}
    ack = restore(source, target, against=against, accept_loss=args.accept_loss, by=by)
    if anchor.read_anchor(target.parent) is not None:  # two people have answered for what is not there any more
        (last,) = reader.read(target, ack.seq, ack.seq)
        anchor.lay(target.parent, reader.begin(target).journal, last)
    people = " and ".join(f"{role} {credential}" for role, credential in by.items())
    print(f"restored into {target}: records up to {ack.seq - 1}, and record {ack.seq} which names {people}")
    print(f"head {ack.head.hex()}")
    book = book_of(target)
    if not book.entries:
        print("no meter was ever seeded in this journal; there is none to bring over")
        return OK
    meters = book.meters
    for name, amount in (
        ("current value", meters.current), ("reserve", meters.reserve), ("overflow", meters.overflow),
        ("hits claimed, not paid", meters.pending),
        ("paid by the table", meters.paid_by_table), ("paid by an attendant", meters.paid_by_attendant),
        ("cumulative payout", meters.cumulative),
    ):  # fmt: skip
        print(f"  {name:24s}{dollars(amount):>24s}")
    return OK if sum(book.held.values()) == 0 else FAULT


def _before(data: Path) -> str:
    """Say what is known of a journal that was lost."""
    from table_controller.uplink.cursor import NAME, load_cursor

    lost, told = anchor.read_anchor(data), load_cursor(data / NAME)
    if lost is not None:
        place = f"record {lost.seq} with the head {lost.head.hex()} was on disk"
        return f"of the one before it, {lost.journal.hex()}, {place}"
    if told is not None:
        return f"of the one before it, {told.journal}, the broker has record {told.seq} with the head {told.head}"
    return "nothing is known of one before it"


def _revoked_before(name: str) -> tuple[tuple[str, str], ...]:
    """Return the keys that a journal before had revoked; the first start of the new one takes them over."""
    from table_controller.journal.revocations import revoked_in

    return revoked_in(_folder(name))


def _begin(args: argparse.Namespace) -> int:
    from table_controller.config import default_path, load_config
    from table_controller.controller import key_files
    from table_controller.controller.data_folder import DataFolder
    from table_controller.journal import records as rec
    from table_controller.journal.store import Store
    from table_controller.journal.versions import digests_of

    if args.people is not None:
        raise UsageMistake("a journal is begun for a table: name its table.toml with --config")
    who = named(args, _BEGINNERS, "a new journal")
    config = load_config(args.config or default_path())
    folder, data = config.journal.folder, DataFolder(config.data)
    try:
        if folder.is_dir() and any(folder.iterdir()):
            raise RestoreRefused(f"{folder} is not empty; what is there is kept as evidence: move it away first")
        revoked = () if args.before is None else _revoked_before(args.before)
        found = proved(args, who, "a new journal")
        if revoked:
            known = key_files.read_revoked(config.data / key_files.REVOKED)
            key_files.write_revoked(config.data / key_files.REVOKED, tuple(dict.fromkeys((*known, *revoked))))
        one, two = (person.speaker for person in found.values())
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
        anchor.lay(config.data, store.journal, last)
    finally:
        data.close()
    print(f"a new journal begins in {folder}; record {record.seq} names technician {one.credential} and floorperson "
          f"{two.credential}")  # fmt: skip
    print(before)
    if args.before is None:
        print("Which keys the journal before had revoked is not known: if it can still be read, name it with --before")
    else:
        print(f"{len(revoked)} keys that the journal before had revoked stay revoked")
    print("Start the box, then bring the meters to the last figures that left it: pitbox say correct_meter")
    return OK
