"""The parts of a posting: wagers with their lines, the payout limit, special rules."""

from __future__ import annotations

import zlib

import msgspec


class PostedRule(msgspec.Struct, frozen=True):
    """A rule for players, and the clause that orders it."""

    text: str
    clause: str


class PostedLine(msgspec.Struct, frozen=True):
    """One line of a paytable: the hand as printed, and what it pays in each column."""

    hand: str
    pays: tuple[str, ...]


class PostedWager(msgspec.Struct, frozen=True):
    """A wager that may be placed at the table."""

    wager: str
    title: str
    clause: str
    columns: tuple[str, ...]  # the heads above the pays of each line
    lines: tuple[PostedLine, ...]
    notes: tuple[str, ...] = ()


class Posting(msgspec.Struct, frozen=True):
    """What a sign or a sheet at the table shows players."""

    chapter: str
    title: str
    wagers: tuple[PostedWager, ...]
    limit: PostedRule | None
    rules: tuple[PostedRule, ...]

    def texts(self) -> list[str]:
        """Return every text that players read, in the order of the sign."""
        texts = [self.title]
        for wager in self.wagers:
            texts += [wager.title, *wager.columns]
            texts += [text for line in wager.lines for text in (line.hand, *line.pays)]
            texts += wager.notes
        texts += [] if self.limit is None else [self.limit.text]
        return texts + [rule.text for rule in self.rules]

    @property
    def number(self) -> str:
        """The number of this posting: it changes with every text on it, so two sheets can be compared at a glance."""
        return f"{zlib.crc32('|'.join(self.texts()).encode()):08X}"
