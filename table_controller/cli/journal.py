"""`pitbox journal`: read, check, export and restore a table's journal. What records mean is told elsewhere.

Everything but `restore` and `begin-copy` only reads, beside a box that writes or without one.
"""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import ConfigurationError, RestoreRefused
from table_controller.cli import FAULT, OK
from table_controller.cli.pins import add_people_arguments, ask_pin, people_file
from table_controller.journal import reader

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

HELP = "read a table's journal: tail, verify, export, show a round; begin its second copy, restore from it"
EXAMPLE = "pitbox journal show /var/lib/pitbox/journal 812"

_LINES: Final = 20
# How often a journal is looked at while it is followed (s).
_LOOK: Final = 0.5
_HEAD_DIGITS: Final = 64
# The two people who answer for a restore: one of the floor, one who keeps the books.
_PEOPLE: Final = ("floorperson", "auditor")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parsers = parser.add_subparsers(title="what to do", metavar="WHAT", required=True)

    def command(
        name: str, about: str, example: str, do: Callable[[argparse.Namespace], int]
    ) -> argparse.ArgumentParser:
        made = parsers.add_parser(
            name, help=about, description=about, epilog=f"example: pitbox journal {example}",
            formatter_class=parser.formatter_class,
        )  # fmt: skip
        made.set_defaults(do=do)
        return made

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
    for role in _PEOPLE:
        restore.add_argument(f"--{role}", metavar="CRED", help=f"the credential of the {role} who answers for it")
    add_people_arguments(restore)
    restore.add_argument("--against", metavar="HEAD", help="a head that left the box: it must be among the records")
    restore.add_argument("--accept-loss", action="store_true", help="take what is before the first bad record")


def run(args: argparse.Namespace) -> int:
    """Do what was asked for."""
    done: int = args.do(args)
    return done


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
        raise ConfigurationError(f"a head is {_HEAD_DIGITS} hexadecimal digits, and {text!r} is none")
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
        raise ConfigurationError("-n takes a number of records, 0 or more")
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


def _proved(args: argparse.Namespace, by: dict[str, str]) -> dict[str, str]:
    """Have both people prove their credentials; each must have its role, and they must be two."""
    from table_controller.people_check import Checker

    checker = Checker(people_file(args))
    found = {role: checker.check(id_, ask_pin(args, id_)) for role, id_ in by.items()}
    for role, who in found.items():
        if who.role != role:
            raise RestoreRefused(f"a restore is answered for by a {role}, and {who.id} is a {who.role}")
    one, other = found.values()
    if one.same(other):
        raise RestoreRefused("a restore is answered for by two people; these credentials are one person's")
    return {role: who.id for role, who in found.items()}


def _restore(args: argparse.Namespace) -> int:
    from table_controller.journal.accounts import book_of
    from table_controller.journal.copy import restore
    from table_controller.ledger.money import dollars

    by = {role: (getattr(args, role) or "").strip() for role in _PEOPLE}
    missing = [role for role, credential in by.items() if not credential]
    if missing:
        raise RestoreRefused(f"a restore is answered for by two people; the {' and the '.join(missing)} is missing")
    if len({credential.casefold() for credential in by.values()}) < len(by):
        raise RestoreRefused(f"a restore is answered for by two people; {args.auditor} is one")
    against = _head(args.against)
    source, target = _folder(args.copy), Path(args.to)
    by = _proved(args, by)
    ack = restore(source, target, against=against, accept_loss=args.accept_loss, by=by)
    people = " and ".join(f"{role} {credential}" for role, credential in by.items())
    print(f"restored into {target}: records up to {ack.seq - 1}, and record {ack.seq} which names {people}")
    print(f"head {ack.head.hex()}")
    book = book_of(target)
    if not book.entries:
        print("no meter was ever seeded in this journal; there is none to bring over")
        return OK
    meters = book.meters
    for name, amount in (
        ("current value", meters.current), ("reserve", meters.reserve), ("hits claimed, not paid", meters.pending),
        ("paid by the table", meters.paid_by_table), ("paid by an attendant", meters.paid_by_attendant),
        ("cumulative payout", meters.cumulative),
    ):  # fmt: skip
        print(f"  {name:24s}{dollars(amount):>24s}")
    return OK if sum(book.held.values()) == 0 else FAULT
