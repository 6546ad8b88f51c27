"""`pitbox hits`: prints the last hits of each level, from a running box or from a journal's folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from firmware_bridge.decode_errors import UNDECODABLE
from table_controller.cli import OK
from table_controller.cli.box_link import add_box_arguments, connect_box

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

HELP = "print the last 25 hits of each level of the progressive: time, seat, amount, state"
EXAMPLE = "pitbox hits --config table.toml"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    add_box_arguments(parser)
    parser.add_argument("--journal", type=Path, metavar="FOLDER", help="read this journal instead of asking the box")


def run(args: argparse.Namespace) -> int:
    """Ask the box or read the journal, and print."""
    if args.journal is not None:
        levels = _of_journal(args.journal)
    else:
        with connect_box(args) as caller:
            levels = (caller.request("status")["state"] or {}).get("last_hits", {})
    print("\n".join(hit_lines(levels)))
    return OK


def hit_lines(levels: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    """Yield the hits of each level, the newest first."""
    from table_controller.journal.hit_log import KEPT_PER_LEVEL
    from table_controller.journal.record_text import format_time, to_words
    from table_controller.ledger.money import format_dollars

    if not levels:
        yield "no hit has been claimed"
    for level, hits in levels.items():
        yield f"{to_words(level)}: the last {len(hits)} hits (at most {KEPT_PER_LEVEL} are kept here)"
        yield f"  {'claimed (UTC)':20s} {'round':>7s} {'seat':>4s} {'amount':>18s}  state"
        for hit in reversed(hits):
            at, amount = format_time(hit["claimed_ns"]), format_dollars(hit["amount"])
            yield f"  {at:20s} {hit['round']:>7d} {hit['seat']:>4d} {amount:>18s}  {to_words(hit['state'])}"


def _of_journal(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the last hits; reads every record of the journal."""
    import msgspec

    from firmware_bridge.errors import ConfigurationError
    from table_controller.journal import reader
    from table_controller.journal import records as rec
    from table_controller.journal.chain import FIRST_SEQ
    from table_controller.journal.hit_log import HitLog

    if not folder.is_dir() or not reader.segments(folder):
        raise ConfigurationError(f"{folder} contains no journal")
    log = HitLog()
    for record in reader.read(folder, FIRST_SEQ):
        body = rec.current_body(record.kind, record.body)
        if record.kind == rec.STEP and b'"hit' in body.lower():
            try:
                log.add_step(record.wall_ns, rec.decode_step(body).decisions)
            except UNDECODABLE:
                continue  # a step of other software that this version cannot decode
    levels: dict[str, list[dict[str, Any]]] = msgspec.to_builtins(log.levels)
    return levels
