"""What the technician's page plots: faults and repairs, drift of every machine that moves cards, links over time.

Only reads. Faults come from the newest part of the journal, drift from the wear histories, links from looks of our own.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from typing import TYPE_CHECKING, Any, Final

import msgspec

from table_controller.cli.jams import dossiers, reasons
from table_controller.controller.wear import FOLDER, PARTS, WearBook, warnings_of
from table_controller.diagnosis.drift import excess, margins
from table_controller.diagnosis.history import History, Row
from table_controller.diagnosis.summary import cause_of, summed
from table_controller.journal import records as rec
from table_controller.journal.wording import content, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from table_controller.controller.box import Box
    from table_controller.diagnosis.drift import Wear
    from table_controller.diagnosis.summary import Summary
    from table_controller.journal.chain import Record
    from table_controller.panel.reading import Reading

# Records that the plots are made from; `pitbox faults` reads them all.
NEWEST: Final = 20_000
# Faults that have a bar of their own.
BARS: Final = 20
# A link is looked at so often (s), and so many looks are kept: an hour.
EVERY: Final = 10.0
LOOKS: Final = 360
_COUNTED: Final = ("retransmitted", "gaps", "late_replies")


class Links:
    """How good each link was, look by look, since the panel started."""

    def __init__(self, box: Box, wall_ns: Callable[[], int]) -> None:
        self._box = box
        self._wall_ns = wall_ns
        self._looks: dict[str, deque[tuple[int, float | None, int]]] = {}
        self._before: dict[str, tuple[int, ...]] = {}
        self._handle: asyncio.TimerHandle | None = None
        self.look()

    def look(self) -> None:
        """Look at every link: how long an answer takes (ms), and how much went wrong since the last look."""
        at = self._wall_ns() // 1_000_000
        for name, slot in self._box.slots.items():
            link = slot.driver.link
            counted = (0,) * len(_COUNTED) if link is None else tuple(getattr(link.counters, c) for c in _COUNTED)
            before = self._before.get(name, counted)
            # A new link counts from zero again.
            wrong = sum(now - then if now >= then else now for now, then in zip(counted, before, strict=True))
            self._before[name] = counted
            took = None if link is None else round(link.round_trip * 1000, 2)
            self._looks.setdefault(name, deque(maxlen=LOOKS)).append((at, took, wrong))
        self._handle = asyncio.get_running_loop().call_later(EVERY, self.look)

    def told(self) -> list[dict[str, Any]]:
        """Return every link's looks, oldest first."""
        return [{"slot": name, "looks": list(looks)} for name, looks in self._looks.items()]

    def close(self) -> None:
        """Look no more."""
        if self._handle is not None:
            self._handle.cancel()


async def history(reading: Reading, newest: int, data: Path | None, links: Links) -> dict[str, Any]:
    """Return everything that is plotted."""
    known = [] if data is None else await reading.in_thread(dossiers, data)
    folded = History(known)

    def take(records: Iterable[Record]) -> bool:
        for record in records:
            if record.kind == rec.STEP and isinstance(said := content(record), dict):
                folded.take(Row(record.seq, record.wall_ns, said["event"], said["decisions"]))
        return False

    await reading.forward(max(1, newest - NEWEST + 1), newest, take)
    summary = summed(folded.finish(), reasons())
    worn = [] if data is None else await reading.in_thread(WearBook(data / FOLDER).all)
    return {
        "since": summary.since,
        "until": summary.until,
        "slots": [msgspec.to_builtins(slot) for slot in summary.slots],
        "heat": _heat(summary),
        "waits": _waits(summary),
        "drift": [_drift(wear) for wear in worn if wear.slot.partition(".")[0] in PARTS],
        "links": links.told(),
    }


def _heat(summary: Summary) -> list[dict[str, Any]]:
    """Return a row for each place where something failed: how often in each hour of the day (UTC)."""
    counts: Counter[tuple[str, int]] = Counter()
    for cell in summary.heat:
        counts[f"{cell.slot} {cell.segment}", cell.hour] += cell.faults
    return [
        {"place": place, "hours": [counts[place, hour] for hour in range(24)]}
        for place in sorted({place for place, _ in counts})
    ]


def _waits(summary: Summary) -> list[dict[str, Any]]:
    """Return the newest faults with the seconds until each was acknowledged, cleared, back in service."""
    words = reasons()
    return [
        {
            "seq": fault.seq, "at": fault.at_ns // 1_000_000, "slot": fault.slot, "segment": fault.segment,
            "cause": cause_of(fault, words), "deck": fault.deck, "kind": fault.kind,
            "acknowledged": fault.waited(fault.acknowledged_ns), "cleared": fault.waited(fault.cleared_ns),
            "returned": fault.waited(fault.returned_ns),
        }
        for fault in summary.faults[-BARS:]
    ]  # fmt: skip


def _drift(wear: Wear) -> dict[str, Any]:
    """Return how each part of a machine has changed: slower than its base (%), or its transit (ms) until it has one."""
    segments, sensors = PARTS[wear.slot.partition(".")[0]]
    based = [(part, [(at, ppm / 10_000) for at, ppm in excess(wear, part)]) for part in segments]
    plainly = [
        (part, [(window.at, window.means[part] / 1000) for window in wear.windows if window.means[part]])
        for part in segments
    ]
    has_base = any(points for _, points in based)
    return {
        "slot": wear.slot,
        "serial": wear.serial,
        "cards": wear.cards,
        "unit": "% slower than when it was mended" if has_base else "ms for a card",
        "transit": [_series(part.name, points) for part, points in (based if has_base else plainly) if points],
        "margin": [
            _series(part.name, [(at, float(level)) for at, level in margins(wear, part)])
            for part in sensors
            if margins(wear, part)
        ],
        "warnings": [each.sentence() for each in warnings_of(wear)],
    }


def _series(name: str, points: list[tuple[int, float]]) -> dict[str, Any]:
    return {"name": plain(name), "points": [(at, round(value, 2)) for at, value in points]}
