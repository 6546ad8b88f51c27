#!/usr/bin/env python3
"""Checks an export of a table's journal (`pitbox journal export`). Uses only Python's standard library, no box code.

    python3 tools/verify_export.py EXPORT [--against HEAD]

To run it elsewhere, copy this file and the folder `export_checks` into a folder named `tools`.

Exit code 0: everything below holds. 1: the first record that does not hold is named. 2: there is no export to read.

What is checked:
 1. Manifest: format, number of records, digest of the file, heads before and after.
 2. Chain: every head is BLAKE2b-256 of the head before it and the whole record; numbers have no gap; the readable content is the
    body; a record's boot is that of the last start, and starts count up by one; digests are those of the manifest.
    A chain that was rewritten as a whole holds, too. Only --against, with a head that left the box, detects that.
 3. Commands: a device acts only after a recorded command; every command has its own number and ends at most once.
 4. Permits, as far as an export can judge them: no machine moves while an open irregularity names it, the deck in play, or stops
    the round; no bets open while any irregularity is open; cards are dealt only after no more bets and, with a meter, after every
    opened sensor was ordered locked and latched (or a floorperson decided) and the chips were verified; a light only for an accepted bet.
 5. Prompts: every accepted answer is one of the choices, by the right role; an irregularity ends only by its
    acknowledgment.
 6. Cards: every count of a stack, a shuffle, a load, returned discards, a stub, a whole deck or collected chips, by
    machine or person, against the required number. A wrong count must have its irregularity, or be counted again, in
    the same record.
 7. Money, in whole micro-dollars: entries without a gap, accounts that sum to zero and are never overdrawn; what each bet, hit, return,
    payment and correction moved, computed again from the terms; every bet accepted once, after its latch, and settled or returned
    before the round is over; a meter that falls only by a hit or its reversal, a documented correction, or a bet of a void round.
    Every chip that was latched is booked when cards are dealt, unless its sensor was unreasonable. What is above the limit is
    overflow, and is returned with its bet. A refused event moves nothing.
 8. Answers and money: each hit goes from claim to payment by the right prompt, seat, role and choice, in order; a payment has
    its slip, a withdrawn claim its withdrawal, envy its hand and its seats, a correction its two people. People change a meter
    only between two rounds. Closing and opening alternate, each with its people, document and accounts; a limit fits the meter
    and its sign, a rate the configuration. Envy of a void hand is paid back. The amounts owed are computed again from the valid
    claims in their order. A hit is claimed by cards that were entered, and they are ranked again by the lines of the paytable; or
    a floorperson ruled that the dealer names the hand. Envy of a hand with entered cards is paid by their line. Exports of the
    first version are judged by its own arithmetic, and the report names it; claims have no cards before the fourth edition.
    Records of an earlier version are read under their former names (export_checks/former_names.toml).

Not checked: whether the records are true; permits that need the whole state (the tests of the rules prove them). An export that
does not begin with record 1 is checked for 1 and 2 only, as the report states.
"""  # noqa: E501 - a page that is read, not code

from __future__ import annotations

import argparse
import json
import struct
import sys
from hashlib import sha256
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.export_checks.basics import FIRST, CheckFailed, need
from tools.export_checks.chain import ChainCheck
from tools.export_checks.former_names import renewed
from tools.export_checks.table import TableCheck

FORMAT = "pitbox export 1"


def check(folder: Path, expected_head: str | None) -> list[str]:
    """Check an export; return what was checked, as lines. Raises Bad with the record and the problem."""
    manifest = json.loads((folder / "manifest.json").read_bytes())
    need(manifest["format"] == FORMAT, f"the manifest has another format than {FORMAT!r}")
    whole = sha256()
    chain, table, count = ChainCheck(manifest, expected_head), TableCheck(), 0
    judged = manifest["first"] == 1
    with (folder / manifest["file"]).open("rb") as lines:
        for count, line in enumerate(lines, 1):
            whole.update(line)
            try:
                record = json.loads(line)
                content = chain.check_record(record)
                if judged and record["kind"] in ("start", "box", "step", "migration"):
                    getattr(table, record["kind"])(renewed(record["kind"], content))
            except CheckFailed as bad:
                raise CheckFailed(f"record {manifest['first'] + count - 1}: {bad}") from None
            except (KeyError, TypeError, ValueError, AttributeError, struct.error) as error:
                raise CheckFailed(f"record {manifest['first'] + count - 1}: it cannot be read ({error!r})") from None
    chain.end(count)
    need(whole.hexdigest() == manifest["sha256"], "the file's digest is not the manifest's")
    report = [
        f"chain     {count} records, {manifest['first']} to {manifest['last']}, {len(manifest['boots'])} boots",
        f"          head {chain.head.hex()}",
    ]
    report += [f"          the head {expected_head} is among them"] if expected_head else []
    if not judged:
        return [
            *report,
            "not judged: commands, permits, cards and money, because the export does not begin with record 1",
        ]
    saw, book = table.counts, table.money.book
    title = table.terms.get("title", "nothing")
    paid = ", ".join(f"{number} {kind}" for kind, number in sorted(book.entries_by_kind.items())) or "none"
    return [
        *report,
        f"table     {title}: {table.round} rounds, {saw['rounds void']} void",
        f"commands  {saw['commands']} ordered, {saw['CommandEnded']} ends, each of an order and none twice",
        f"permits   {saw['irregularities']} irregularities, {len(table.holds)} open; nothing moved against one",
        f"prompts   {saw['answers']} answers, each by the right role",
        f"cards     {saw['counts']} counts, each right or with its irregularity",
        f"money     {book.entries} entries ({paid}); accounts sum to zero; meter {book.held['meter']} micro-dollars",
        *(["          booked by the rules of the first version"] if book.entries and book.edition == FIRST else []),
    ]


def main(words: list[str] | None = None) -> int:
    """Check and print."""
    parser = argparse.ArgumentParser(
        description="Checks an export of a table's journal; the docstring of this file lists the checks."
    )
    parser.add_argument("export", type=Path, help="the folder with manifest.json")
    parser.add_argument("--against", metavar="HEAD", help="a head that left the box")
    args = parser.parse_args(words)
    try:
        lines = check(args.export, args.against)
    except CheckFailed as bad:
        print(f"DOES NOT HOLD: {bad}")
        return 1
    except (OSError, KeyError, TypeError, ValueError) as error:
        print(f"no export can be read there: {error!r}", file=sys.stderr)
        return 2
    print("\n".join([*lines, "everything holds"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
