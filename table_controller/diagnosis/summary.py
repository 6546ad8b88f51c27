"""A history summed up for people and for scripts: slot by slot, where and when, and what the faults follow. Pure."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Final

import msgspec

from table_controller.diagnosis.follows import follows
from table_controller.diagnosis.history import Fault, History, Use, between, middle

_NS: Final = 1_000_000_000


class Cell(msgspec.Struct, frozen=True):
    """One cell of the heat map: how many faults of this cause in this segment, with this deck, in this hour (UTC)."""

    slot: str
    segment: str
    cause: str
    deck: str
    hour: int
    faults: int


class SlotSummary(msgspec.Struct, frozen=True):
    """One slot: its cards, its faults, and the median seconds that people took."""

    slot: str
    cards: int
    interruptions: int
    failures: int
    between_interruptions: int | None  # cards
    between_failures: int | None
    repeats: int
    acknowledge_s: int | None
    clear_s: int | None
    return_s: int | None
    follows: str


class Summary(msgspec.Struct, frozen=True):
    """Everything that `pitbox faults` shows."""

    since: str
    until: str
    slots: list[SlotSummary]
    heat: list[Cell]
    faults: list[Fault]


def when(wall_ns: int) -> str:
    """Return an instant, in the one time zone that needs no explanation."""
    return f"{datetime.fromtimestamp(wall_ns // _NS, UTC):%Y-%m-%d %H:%M:%S}" if wall_ns else ""


def hour(wall_ns: int) -> int:
    """Return the hour of the day (UTC)."""
    return datetime.fromtimestamp(wall_ns // _NS, UTC).hour


def cause_of(fault: Fault, reasons: dict[int, str]) -> str:
    """Return the cause by its dossier, else what the machine called it."""
    return fault.cause if fault.dossier else reasons.get(fault.reason, "reported faulty")


def summed(history: History, reasons: dict[int, str]) -> Summary:
    """Sum a finished history up. `reasons` are words for the codes of faults."""
    cells = Counter((f.slot, f.segment, cause_of(f, reasons), f.deck, hour(f.at_ns)) for f in history.faults)
    slots = sorted({fault.slot for fault in history.faults} | {s for s, use in history.uses.items() if use.cards})
    return Summary(
        when(history.first_ns),
        when(history.last_ns),
        [_slot(history, slot) for slot in slots],
        [Cell(*key, count) for key, count in sorted(cells.items())],
        history.faults,
    )


def _slot(history: History, slot: str) -> SlotSummary:
    mine = [fault for fault in history.faults if fault.slot == slot]
    cards = history.uses.get(slot, Use()).cards
    failures = [fault for fault in mine if fault.kind == "failure"]

    def median(field: str) -> int | None:
        waits = [fault.waited(getattr(fault, field)) for fault in mine]
        return middle([wait for wait in waits if wait is not None])

    return SlotSummary(
        slot, cards, len(mine) - len(failures), len(failures), between(mine, cards), between(failures, cards),
        sum(fault.repeats is not None for fault in mine),
        median("acknowledged_ns"), median("cleared_ns"), median("returned_ns"), _follows(history, slot),
    )  # fmt: skip


def _follows(history: History, slot: str) -> str:
    """Compare a slot with all of its kind: what moves the same cards in the same way."""
    kind = slot.partition(".")[0]
    cards = {
        (name, deck): count
        for name, use in history.uses.items()
        if name.partition(".")[0] == kind
        for deck, count in use.by_deck.items()
    }
    if not cards:
        return ""
    faults = Counter((f.slot, f.deck) for f in history.faults if f.slot.partition(".")[0] == kind)
    return follows(faults, cards).sentence()
