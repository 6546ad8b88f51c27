"""The index of rounds in the journal, for the list of rounds and their reviews.

It reads the newest part of the journal when the panel starts, so that a restart loses nothing, and then adds every
step. The review of a round is read on request.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import BadRequest, PitboxError
from table_controller.journal import records as rec
from table_controller.journal.finding_log import findings_in
from table_controller.journal.round_review import RoundReview
from table_controller.journal.table_terms import terms_of
from table_controller.panel.view import finding_view
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Finding, HoldOpened, StateChanged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from table_controller.controller.controller import Controller, DurableStep
    from table_controller.journal.chain import Record
    from table_controller.journal.finding_log import LoggedFinding
    from table_controller.panel.journal_access import JournalAccess
    from table_controller.table.decisions import Decision

log = logging.getLogger(__name__)

# Records in one search, at the start and for older rounds: about two hundred rounds.
LOOK_BACK: Final = 20_000
# Most marks in memory: about two thousand rounds.
MARKS: Final = 6_000
# The checks of a deck are read from this many rounds before its round, and at most this many records.
ROUNDS_BEFORE: Final = 4
RECORDS_BEFORE: Final = 3_000
# Most records of one round: fifty times a normal round.
LONGEST: Final = 5_000
# Only steps that match have marks; the others are not decoded.
_WORDS: Final = re.compile(rb'"type":"(?:HoldOpened|Finding)"|"what":"round"')
_ENDS: Final = (mc.COMPLETE, mc.VOID)
_MARKED: Final = (mc.BETTING, mc.SETTLING, *_ENDS)


class RoundMark(NamedTuple):
    """A mark of a step: a round opened or ended, or a finding. `at`: wall clock (ms)."""

    seq: int
    at: int
    kind: str  # betting, complete, void, found
    finding: LoggedFinding | None = None


def marks_of(seq: int, wall_ns: int, decisions: Sequence[Decision]) -> list[RoundMark]:
    """Return the marks of a step. Refusals have none, so that many refusals cannot displace rounds."""
    at = wall_ns // 1_000_000
    marks = []
    for decision in decisions:
        if isinstance(decision, Finding | HoldOpened):
            marks += [RoundMark(seq, at, "found", finding) for finding in findings_in(seq, wall_ns, (decision,))]
        elif isinstance(decision, StateChanged) and decision.what == "round" and decision.state in _MARKED:
            marks.append(RoundMark(seq, at, decision.state))
    return marks


def marks_in(records: Iterable[Record]) -> list[RoundMark]:
    """Return the marks of records; records that this software cannot decode have none."""
    marks: list[RoundMark] = []
    for record in records:
        body = rec.current_body(record.kind, record.body)
        if record.kind != rec.STEP or _WORDS.search(body) is None:
            continue
        try:
            marks += marks_of(record.seq, record.wall_ns, rec.decode_step(body).decisions)
        except UNDECODABLE:
            continue
    return marks


class RoundIndex:
    """The rounds of one journal: `rounds` lists them, `review_round` reads one."""

    def __init__(self, controller: Controller, reading: JournalAccess, on_news: Callable[[], None]) -> None:
        self._controller = controller
        self._reading = reading
        self._on_news = on_news
        self._marks: deque[RoundMark] = deque(maxlen=MARKS)
        # Steps up to here are read from the journal; later ones are added.
        self._begun = controller.newest_seq
        self._number = controller.table.state.round.number
        self._reached = self._begun + 1  # the oldest record that was read
        self._ended = False  # the journal has no older records
        self._loading: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Start reading older records in the background."""
        if self._loading is None:
            self._loading = asyncio.get_running_loop().create_task(self._load())

    def close(self) -> None:
        """Stop reading."""
        if self._loading is not None:
            self._loading.cancel()

    def add_step(self, step: DurableStep) -> None:
        """Add a durable step."""
        if step.seq <= self._begun:
            return
        for mark in marks_of(step.seq, step.wall_ns, step.decisions):
            self._marks.append(mark)

    # --- reading back -------------------------------------------------------------------------------------------------

    async def _load(self) -> None:
        try:
            while self._controller.durable_seq < self._begun:
                if self._controller.halted is not None:
                    return
                await asyncio.sleep(0.02)
            await self.load_older()
        except PitboxError as error:  # the table plays on; its pages show only new rounds
            log.warning("the panel could not read older rounds from the journal: %s %s", error.code, error)

    async def load_older(self) -> None:
        """Read more of the older records."""
        if self._ended or self._reached <= 1:
            return
        last, first = self._reached - 1, max(1, self._reached - LOOK_BACK)
        pieces: list[list[RoundMark]] = []
        reached = self._reached

        def consume(records: Iterable[Record]) -> bool:
            nonlocal reached
            kept = list(records)
            pieces.append(marks_in(kept))
            reached = kept[0].seq if kept else reached
            return not kept  # older ones were retired

        await self._reading.backward(last, first, consume)
        self._ended = reached > first or first == 1
        self._reached = reached
        for mark in (mark for piece in pieces for mark in reversed(piece)):
            if len(self._marks) == MARKS:
                self._ended = True
                break
            self._marks.appendleft(mark)
            if mark.finding is not None:
                self._controller.findings.add_older(mark.finding, self._controller.table.state.holds)
        self._on_news()

    # --- rounds -------------------------------------------------------------------------------------------------------

    def rounds(self) -> dict[str, Any]:
        """Return the indexed rounds, the newest first, and whether there may be older ones."""
        return {"rounds": self._listed()[::-1], "older": not self._ended and self._reached > 1}

    def _listed(self) -> list[dict[str, Any]]:
        opened = sum(mark.kind == mc.BETTING for mark in self._marks)
        after = sum(mark.kind == mc.BETTING and mark.seq > self._begun for mark in self._marks)
        number = self._number + after - opened
        rounds: list[dict[str, Any]] = []
        affected: set[int] = set()
        for mark in self._marks:
            if mark.kind == mc.BETTING:
                number += 1
                rounds.append(
                    {"number": number, "seq": mark.seq, "at": mark.at, "end": "under way", "irregularities": 0}
                )
            elif mark.finding is not None:
                affected.update(mark.finding.rounds)
                if rounds and rounds[-1]["end"] == "under way":
                    rounds[-1]["irregularities"] += mark.finding.what == "irregularity"
            elif rounds and mark.kind in _ENDS:
                rounds[-1]["end"] = mark.kind
            elif rounds and mark.kind == mc.SETTLING:
                # A completed round can return to settling until its cards are collected.
                rounds[-1]["end"] = "under way"
        return [each | {"affected": each["number"] in affected} for each in rounds]

    async def review_round(self, number: int) -> dict[str, Any]:
        """Return the review of a round; BadRequest if the round is not in the index."""
        listed = self._listed()
        at = next((index for index, each in enumerate(listed) if each["number"] == number), None)
        if at is None:
            known = f"rounds {listed[0]['number']} to {listed[-1]['number']}" if listed else "no round"
            raise BadRequest(f"round {number} is not in the list, which has {known}; load older rounds")
        one, following = listed[at], listed[at + 1] if at + 1 < len(listed) else None
        before = listed[at - ROUNDS_BEFORE]["seq"] if at >= ROUNDS_BEFORE else 1
        first = max(1, before, one["seq"] - RECORDS_BEFORE)
        newest = self._controller.durable_seq if following is None else following["seq"]
        terms = msgspec.to_builtins(terms_of(self._controller.table.context))
        dispute = RoundReview(number, one["seq"], terms)

        def consume(records: Iterable[Record]) -> bool:
            dispute.add_records(records)
            return dispute.is_over

        await self._reading.forward(first, min(newest, one["seq"] + LONGEST), consume)
        review = dispute.to_dict()
        if review is None:
            raise BadRequest(f"round {number} is not in the journal any more")
        named = [
            finding_view(mark.finding)
            for mark in self._marks
            if mark.finding is not None and number in mark.finding.rounds
        ]
        return review | {"at": one["at"], "affected": named, "end_state": one["end"]}
