"""The data of the history page: faults and repairs, drift of the machines that move cards, links over time.

Faults come from the newest part of the journal, drift from the wear histories, links from samples of this module.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from typing import TYPE_CHECKING, Any, Final

import msgspec

from table_controller.cli.commands.faults import known_faults, reason_titles
from table_controller.diagnosis.drift import excess, margins
from table_controller.diagnosis.history import FaultHistory, HistoryRow
from table_controller.diagnosis.summary import cause_of, summarize
from table_controller.journal import records as rec
from table_controller.journal.record_text import decode_body, to_words
from table_controller.maintenance.wear import PARTS, WEAR_FOLDER, WearStore, warnings_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from table_controller.controller.box import Box
    from table_controller.diagnosis.drift import Wear
    from table_controller.diagnosis.summary import Summary
    from table_controller.journal.chain import Record
    from table_controller.panel.journal_access import JournalAccess

# The newest records that are read; `pitbox faults` reads them all.
MAX_RECORDS: Final = 20_000
# Faults that are shown as bars.
MAX_BARS: Final = 20
# Interval of link samples (s), and how many are kept: an hour.
SAMPLE_EVERY_S: Final = 10.0
MAX_SAMPLES: Final = 360
_COUNTED: Final = ("retransmitted", "gaps", "late_replies")


class LinkHistory:
    """Samples of each link since the panel started."""

    def __init__(self, box: Box, wall_ns: Callable[[], int]) -> None:
        self._box = box
        self._wall_ns = wall_ns
        self._looks: dict[str, deque[tuple[int, float | None, int]]] = {}
        self._before: dict[str, tuple[int, ...]] = {}
        self._handle: asyncio.TimerHandle | None = None
        self.sample()

    def sample(self) -> None:
        """Sample every link: its round-trip time (ms), and its errors since the last sample."""
        at = self._wall_ns() // 1_000_000
        for name, slot in self._box.slots.items():
            link = slot.driver.link
            counted = (0,) * len(_COUNTED) if link is None else tuple(getattr(link.counters, c) for c in _COUNTED)
            before = self._before.get(name, counted)
            # The counters of a new link start at zero.
            wrong = sum(now - then if now >= then else now for now, then in zip(counted, before, strict=True))
            self._before[name] = counted
            took = None if link is None else round(link.round_trip_s * 1000, 2)
            self._looks.setdefault(name, deque(maxlen=MAX_SAMPLES)).append((at, took, wrong))
        self._handle = asyncio.get_running_loop().call_later(SAMPLE_EVERY_S, self.sample)

    def to_list(self) -> list[dict[str, Any]]:
        """Return the samples of every link, oldest first."""
        return [{"slot": name, "looks": list(looks)} for name, looks in self._looks.items()]

    def close(self) -> None:
        """Stop sampling."""
        if self._handle is not None:
            self._handle.cancel()


async def read_history(reading: JournalAccess, newest: int, data: Path | None, links: LinkHistory) -> dict[str, Any]:
    """Return the data of all plots."""
    known = [] if data is None else await reading.in_thread(known_faults, data)
    folded = FaultHistory(known)

    def consume(records: Iterable[Record]) -> bool:
        for record in records:
            if record.kind == rec.STEP and isinstance(body := decode_body(record), dict):
                folded.add_row(HistoryRow(record.seq, record.wall_ns, body["event"], body["decisions"]))
        return False

    await reading.forward(max(1, newest - MAX_RECORDS + 1), newest, consume)
    summary = summarize(folded.finish(), reason_titles())
    worn = [] if data is None else await reading.in_thread(WearStore(data / WEAR_FOLDER).all)
    return {
        "since": summary.since,
        "until": summary.until,
        "slots": [msgspec.to_builtins(slot) for slot in summary.slots],
        "heat": _heat(summary),
        "waits": _waits(summary),
        "drift": [_drift(wear) for wear in worn if wear.slot.partition(".")[0] in PARTS],
        "links": links.to_list(),
    }


def _heat(summary: Summary) -> list[dict[str, Any]]:
    """Return a row for each place with faults: how many in each hour of the day (UTC)."""
    counts: Counter[tuple[str, int]] = Counter()
    for cell in summary.heat:
        counts[f"{cell.slot} {cell.segment}", cell.hour] += cell.faults
    return [
        {"place": place, "hours": [counts[place, hour] for hour in range(24)]}
        for place in sorted({place for place, _ in counts})
    ]


def _waits(summary: Summary) -> list[dict[str, Any]]:
    """Return the newest faults with the seconds until acknowledged, cleared, and back in service."""
    words = reason_titles()
    return [
        {
            "seq": fault.seq, "at": fault.at_ns // 1_000_000, "slot": fault.slot, "segment": fault.segment,
            "cause": cause_of(fault, words), "deck": fault.deck, "kind": fault.kind,
            "acknowledged": fault.waited(fault.acknowledged_ns), "cleared": fault.waited(fault.cleared_ns),
            "returned": fault.waited(fault.returned_ns),
        }
        for fault in summary.faults[-MAX_BARS:]
    ]  # fmt: skip


def _drift(wear: Wear) -> dict[str, Any]:
    """Return the drift of each part: slower than its base (%), or its transit time (ms) while it has no base."""
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
        "unit": "% slower than after its last repair" if has_base else "ms for a card",
        "transit": [_series(part.name, points) for part, points in (based if has_base else plainly) if points],
        "margin": [
            _series(part.name, [(at, float(level)) for at, level in margins(wear, part)])
            for part in sensors
            if margins(wear, part)
        ],
        "warnings": [each.sentence() for each in warnings_of(wear)],
    }


def _series(name: str, points: list[tuple[int, float]]) -> dict[str, Any]:
    return {"name": to_words(name), "points": [(at, round(value, 2)) for at, value in points]}
