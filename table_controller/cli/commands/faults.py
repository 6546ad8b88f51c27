"""`pitbox faults`: faults and repairs of a table from its journal: where, when, which deck, how long.

Only reads, except `--serviced`: the running box records that a technician serviced a machine.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import BadFaultReport, ConfigurationError, UsageError
from table_controller.catalogue import catalogue
from table_controller.cli import OK
from table_controller.cli.box_link import (
    add_config_argument,
    configured_data_folder,
    configured_slots,
    connect_box,
    sign_on,
)
from table_controller.diagnosis.history import FaultHistory, HistoryRow
from table_controller.diagnosis.summary import cause_of, format_time, summarize
from table_controller.journal import reader
from table_controller.journal import records as rec
from table_controller.journal.record_text import decode_body

if TYPE_CHECKING:
    import argparse

    from rich.text import Text

    from table_controller.diagnosis.history import ReportedFault
    from table_controller.diagnosis.history_page import MachineWear
    from table_controller.diagnosis.summary import SlotSummary, Summary

HELP = "print faults and repairs of a table: heat map, cards between faults, bad deck or machine (former name: jams)"
EXAMPLE = "pitbox faults --data /var/lib/pitbox --since 7d --html faults.html"

DEFAULT_DATA: Final = Path("/var/lib/pitbox")
_NS: Final = 1_000_000_000
_AGO: Final = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}
# So many of the newest faults are printed one by one; the HTML page has all.
_SHOWN: Final = 20
_SHADES: Final = (" ·", "░░", "▒▒", "▓▓", "██")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    from argparse import SUPPRESS

    add_data_arguments(parser)
    parser.add_argument(
        "--since", metavar="WHEN", help="only faults since then: 8h, 7d, 2031-03-17, 2031-03-17T14:30 (UTC)"
    )
    parser.add_argument("--slot", help="only this slot, such as shuffler.1")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write one page with plots, for any browser")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument(
        "--serviced", metavar="SERIAL",
        help="record at a running box that this machine's rollers or sensors were serviced: its wear starts at zero "
        "(with --as)",
    )  # fmt: skip
    parser.add_argument("--mended", dest="serviced", help=SUPPRESS)  # the former name
    parser.add_argument("--as", dest="by", metavar="CRED", help="with --serviced: the technician's credential")
    parser.add_argument(
        "--pin-file", type=Path, metavar="FILE", help="a file with the PIN (default: ask on the terminal)"
    )
    parser.add_argument("--socket", type=Path, metavar="PATH", help="the box's control socket, if not as configured")


def add_data_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that name a box's data folder."""
    add_config_argument(parser)
    parser.add_argument("--data", type=Path, metavar="FOLDER",
                        help="folder of a box's data, a journal or its copy (default: as configured)")  # fmt: skip


def data_folder(args: argparse.Namespace) -> Path:
    """Return the named data folder, or the configured one, or the default if there is no configuration."""
    if args.data is not None:
        named: Path = args.data
        return named
    return configured_data_folder(args) if args.config.exists() else DEFAULT_DATA


def run(args: argparse.Namespace) -> int:
    """Read the journal and print its faults."""
    if args.serviced:
        return _record_service(args)
    args.data = data_folder(args)
    since = parse_since(args.since, time.time_ns()) if args.since else 0
    folder = journal_folder(args.data)
    history = read_history(folder, since, known_faults(args.data))
    if args.slot:
        _keep_slot(history, args.slot, configured_slots(args))
    summary = summarize(history, reason_titles())
    if args.html:
        from table_controller.diagnosis.history_page import render_page

        try:
            title = f"Faults of {args.data.resolve().name}"
            args.html.write_text(
                render_page(summary, title, reason_titles(), wear_curves(args.data, args.slot)), "utf-8"
            )
        except OSError as error:
            raise ConfigurationError(f"{args.html}: {error.strerror}") from error
    if args.json:
        import msgspec

        print(msgspec.json.format(msgspec.json.encode(summary)).decode())
    elif args.html:
        print(f"{len(summary.faults)} faults, in {args.html}")
    else:
        _draw(summary, drift_warnings(args.data, args.slot), args.slot)
    return OK


def drift_warnings(data: Path, slot: str | None = None) -> list[str]:
    """Return a sentence for every part that is about to fail, by the wear that machines reported."""
    from table_controller.maintenance.wear import WEAR_FOLDER, WearStore, warnings_of

    worn = [wear for wear in WearStore(data / WEAR_FOLDER).all() if slot in (None, wear.slot)]
    return [each.sentence() for wear in worn for each in warnings_of(wear)]


def wear_curves(data: Path, slot: str | None = None) -> list[MachineWear]:
    """Return the wear that machines reported, as curves."""
    from table_controller.diagnosis.history_page import MachineWear
    from table_controller.maintenance.wear import WEAR_FOLDER, WearStore, curves_of, warnings_of

    return [
        MachineWear(f"{wear.slot} ({wear.serial})", [each.sentence() for each in warnings_of(wear)], curves_of(wear))
        for wear in WearStore(data / WEAR_FOLDER).all()
        if slot in (None, wear.slot)
    ]


def _record_service(args: argparse.Namespace) -> int:
    """Have the box record who serviced a machine; its next cards become the new base of its wear."""
    if args.by is None:
        raise UsageError("--serviced needs --as: the box records who serviced the machine")
    with connect_box(args) as caller:
        who = sign_on(caller, args)
        caller.request("wear_reset", serial=args.serviced, by=who["by"])
    print(f"{args.serviced}: the next cards are its new base; wear is judged again after about a thousand cards")
    return OK


# --- reading ----------------------------------------------------------------------------------------------------------


def journal_folder(data: Path) -> Path:
    """Return the journal's folder within a data folder, or the folder itself if it is one."""
    for folder in (data / "journal", data):
        if folder.is_dir() and reader.segments(folder):
            reader.first_place(folder)
            return folder
    raise ConfigurationError(f"{data} contains no journal; --data takes a box's data folder or a journal's")


def parse_since(text: str, now_ns: int) -> int:
    """Return the instant (ns) of a text: a time before now, or a date and time in UTC."""
    if match := re.fullmatch(r"(\d{1,5})([mhdw])", text):
        return now_ns - int(match[1]) * _AGO[match[2]] * _NS
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--since takes 8h, 7d, 2031-03-17 or 2031-03-17T14:30, not {text!r}") from None
    return int(at.replace(tzinfo=at.tzinfo or UTC).timestamp()) * _NS


def read_history(folder: Path, since_ns: int, known: list[ReportedFault]) -> FaultHistory:
    """Return the history of a journal. Reads all of it: the deck in a machine at `since` is in older records."""
    history = FaultHistory(known, since_ns)
    first, last = reader.bounds(folder)
    for record in reader.read(folder, first, last):
        if record.kind == rec.STEP and isinstance(step := decode_body(record), dict):
            history.add_row(HistoryRow(record.seq, record.wall_ns, step["event"], step["decisions"]))
    return history.finish()


def _keep_slot(history: FaultHistory, slot: str, configured: frozenset[str]) -> None:
    """Leave only one slot in a history. A slot that neither the journal nor the configuration names is a mistake."""
    known = history.slots | configured
    if slot not in known and known:
        raise UsageError(f"this table has no slot {slot}; its slots: {', '.join(sorted(known))}")
    history.faults = [fault for fault in history.faults if fault.slot == slot]
    history.uses = {name: use for name, use in history.uses.items() if name == slot}


def known_faults(data: Path) -> list[ReportedFault]:
    """Return segment and cause from each fault report; skip reports that cannot be read."""
    from table_controller.diagnosis import fault_report_store
    from table_controller.diagnosis.causes import diagnose
    from table_controller.diagnosis.history import ReportedFault

    known = []
    folder = fault_report_store.folder_in(data)
    for number in fault_report_store.numbers(folder):
        try:
            report = fault_report_store.read(folder, number)
        except BadFaultReport:
            continue
        diagnosis = diagnose(report)
        segment = " or ".join(diagnosis.where.segments) or ", ".join(diagnosis.where.sensors)
        cause = diagnosis.causes[0].why.value
        known.append(
            ReportedFault(report.machine.slot, report.at_ns, segment, cause, str(number), staff=diagnosis.staff)
        )
    return known


def reason_titles() -> dict[int, str]:
    """Return the title of each fault code."""
    return {int(code[3:]): entry.title.lower() for code, entry in catalogue().items()}


# --- drawing ----------------------------------------------------------------------------------------------------------


def _draw(summary: Summary, drift: list[str], only: str | None) -> None:
    from rich.text import Text

    from table_controller.cli.render.screen import Screen

    with Screen() as screen:
        if not summary.faults:
            whose = f" of {only}" if only else ""
            screen.line(f"no faults{whose} from {summary.since or 'the beginning'} to {summary.until or 'now'} (UTC)")
        else:
            screen.line(f"{len(summary.faults)} faults from {summary.since} to {summary.until} (UTC)", "bold")
        for sentence in drift:
            screen.line(f"BEFORE THE JAM: {sentence}", "bold yellow")
        if not summary.slots:
            return
        screen.line()
        heads = ("slot", "cards", "faults", "failures", "per fault", "failure", "again", "ack", "clear",
                 "back")  # fmt: skip
        screen.table([_slot_row(slot) for slot in summary.slots], heads)
        screen.line(
            "failure: needed a technician; again: same fault within 10 decks; ack, clear, back: median after the fault",
            "dim",
        )
        for slot in summary.slots:
            if slot.follows and slot.interruptions + slot.failures:
                screen.line(f"{slot.slot}: {slot.follows}")
        if not summary.faults:
            return
        screen.line()
        screen.line("where and when (segment by hour of the day, UTC)", "bold")
        for text in _heat(summary):
            screen.console.print(text, soft_wrap=True)
        screen.line()
        screen.line("cause and deck", "bold")
        screen.table(*_causes(summary))
        screen.line()
        hidden = len(summary.faults) - _SHOWN
        screen.line(f"the newest {_SHOWN}; {hidden} more with --json or --html" if hidden > 0 else "one by one", "bold")
        words = reason_titles()
        rows: list[tuple[str, ...]] = [
            (str(f.seq), format_time(f.at_ns)[5:16], f.slot, f.segment, cause_of(f, words), f.deck,
             f.kind if f.kind == "failure" else "", str(f.repeats or ""),
             _seconds(f.waited(f.returned_ns)) or "still out")
            for f in summary.faults[-_SHOWN:]
        ]  # fmt: skip
        screen.table(rows, ("record", "when", "slot", "segment", "cause", "deck", "", "again", "back"))
        screen.console.print(
            Text("pitbox journal tail shows the records; --html writes a page with plots", style="dim")
        )


def _slot_row(slot: SlotSummary) -> tuple[str, ...]:
    return (
        slot.slot, f"{slot.cards:,}", str(slot.interruptions + slot.failures), str(slot.failures),
        _count(slot.between_interruptions), _count(slot.between_failures), str(slot.repeats),
        _seconds(slot.acknowledge_s), _seconds(slot.clear_s), _seconds(slot.return_s),
    )  # fmt: skip


def _count(cards: int | None) -> str:
    return "" if cards is None else f"{cards:,}"


def _seconds(seconds: int | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds} s" if seconds < 600 else f"{seconds // 60} min"


def _heat(summary: Summary) -> list[Text]:
    """Return the heat map as lines: two columns an hour, darker for more faults."""
    from rich.text import Text

    counts: Counter[tuple[str, int]] = Counter()
    for cell in summary.heat:
        counts[f"{cell.slot} {cell.segment}", cell.hour] += cell.faults
    most = max(counts.values())
    names = sorted({name for name, _ in counts})
    wide = max(map(len, names))
    lines = [Text(" " * wide + " " + "".join(f"{hour:2d}" for hour in range(24)), style="dim")]
    for name in names:
        text = Text(name.ljust(wide) + " ")
        for hour in range(24):
            count = counts[name, hour]
            shade = _SHADES[0] if not count else _SHADES[1 + 3 * (count - 1) // max(1, most - 1)] if most > 1 else "██"
            text.append(shade, style="red" if count else "dim")
        text.append(f"  {sum(counts[name, hour] for hour in range(24))}")
        lines.append(text)
    return lines


def _causes(summary: Summary) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    counts: Counter[tuple[str, str]] = Counter()
    for cell in summary.heat:
        counts[cell.cause, cell.deck or "none"] += cell.faults
    decks = sorted({deck for _, deck in counts})
    rows = [
        (cause, *(str(counts[cause, deck] or "·") for deck in decks))
        for cause in sorted({cause for cause, _ in counts})
    ]
    return rows, ("cause", *decks)
