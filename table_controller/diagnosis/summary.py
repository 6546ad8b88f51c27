"""The summary of a fault history for people and scripts: by slot, place, hour, deck and machine."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Final

import msgspec

from table_controller.diagnosis.deck_or_machine import find_pattern
from table_controller.diagnosis.history import CardUse, FaultHistory, FaultRecord, cards_between, median

_NS: Final = 1_000_000_000


class Cell(msgspec.Struct, frozen=True):
    """One cell of the heat map: the faults of one cause in a segment, with a deck, in an hour of the day (UTC)."""

    slot: str
    segment: str
    cause: str
    deck: str
    hour: int
    faults: int


class SlotSummary(msgspec.Struct, frozen=True):
    """One slot: its cards, its faults, and the median times of people (s)."""

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
    """The content of `pitbox faults`."""

    since: str
    until: str
    slots: list[SlotSummary]
    heat: list[Cell]
    faults: list[FaultRecord]


def format_time(wall_ns: int) -> str:
    """Return a time in UTC."""
    return f"{datetime.fromtimestamp(wall_ns // _NS, UTC):%Y-%m-%d %H:%M:%S}" if wall_ns else ""


def hour(wall_ns: int) -> int:
    """Return the hour of the day (UTC)."""
    return datetime.fromtimestamp(wall_ns // _NS, UTC).hour


def cause_of(fault: FaultRecord, reasons: dict[int, str]) -> str:
    """Return the cause from the fault report, else the machine's reason."""
    return fault.cause if fault.report else reasons.get(fault.reason, "reported faulty")


def summarize(history: FaultHistory, reasons: dict[int, str]) -> Summary:
    """Return the summary of a finished history. `reasons` are texts for the codes of faults."""
    cells = Counter((f.slot, f.segment, cause_of(f, reasons), f.deck, hour(f.at_ns)) for f in history.faults)
    slots = sorted({fault.slot for fault in history.faults} | {s for s, use in history.uses.items() if use.cards})
    return Summary(
        format_time(history.first_ns),
        format_time(history.last_ns),
        [_slot(history, slot) for slot in slots],
        [Cell(*key, count) for key, count in sorted(cells.items())],
        history.faults,
    )


def _slot(history: FaultHistory, slot: str) -> SlotSummary:
    mine = [fault for fault in history.faults if fault.slot == slot]
    cards = history.uses.get(slot, CardUse()).cards
    failures = [fault for fault in mine if fault.kind == "failure"]

    def median_wait(field: str) -> int | None:
        waits = [fault.waited(getattr(fault, field)) for fault in mine]
        return median([wait for wait in waits if wait is not None])

    return SlotSummary(
        slot,
        cards,
        len(mine) - len(failures),
        len(failures),
        cards_between(mine, cards),
        cards_between(failures, cards),
        sum(fault.repeats is not None for fault in mine),
        median_wait("acknowledged_ns"),
        median_wait("cleared_ns"),
        median_wait("returned_ns"),
        _follows(history, slot),
    )


def _follows(history: FaultHistory, slot: str) -> str:
    """Compare a slot with all slots of its kind, which move the same cards."""
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
    return find_pattern(faults, cards).sentence()
