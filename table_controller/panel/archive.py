"""What the journal has of rounds and findings: which rounds there were, what people must be able to find again.

Begins with a bounded piece of the journal when the panel starts, so that a restart loses nothing, and goes on with
every step. A round's whole story is read when somebody asks for it.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from firmware_bridge.decoding import UNDECODABLE
from firmware_bridge.errors import BadRequest, PitboxError
from table_controller.journal import records as rec
from table_controller.journal.dispute import Dispute
from table_controller.journal.finding_log import findings_in
from table_controller.journal.terms import terms_of
from table_controller.panel.view import finding
from table_controller.table import machines as mc
from table_controller.table.decisions import Finding, Found, Moved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from table_controller.controller.loop import Controller, Step
    from table_controller.journal.chain import Record
    from table_controller.journal.finding_log import LoggedFinding
    from table_controller.panel.reading import Reading
    from table_controller.table.decisions import Decision

log = logging.getLogger(__name__)

# Records that are looked through at once, at the start and for older rounds: about two hundred rounds.
LOOK_BACK: Final = 20_000
# Marks that are kept: opened, ended, irregular; about two thousand rounds.
MARKS: Final = 6_000
# A deck's checks are looked for from so many rounds before its round, and at most so many records.
ROUNDS_BEFORE: Final = 4
RECORDS_BEFORE: Final = 3_000
# The most records of one round that are read: fifty times what a round has.
LONGEST: Final = 5_000
# A step's record without any of these words tells nothing here, and is not decoded.
_WORDS: Final = re.compile(rb'"type":"(?:Found|Finding)"|"what":"round"')
_ENDS: Final = (mc.COMPLETE, mc.VOID)
_MARKED: Final = (mc.BETTING, mc.SETTLING, *_ENDS)


class Mark(NamedTuple):
    """Something of a step: the round opened, ended, or something was found. `at`: wall clock (ms)."""

    seq: int
    at: int
    kind: str  # betting, complete, void, found
    found: LoggedFinding | None = None


def marks_of(seq: int, wall_ns: int, decisions: Sequence[Decision]) -> list[Mark]:
    """Return what is to be remembered of a step. A refusal is of no round: however many come, rounds stay known."""
    at = wall_ns // 1_000_000
    marks = []
    for decision in decisions:
        if isinstance(decision, Finding | Found):
            marks += [Mark(seq, at, "found", finding) for finding in findings_in(seq, wall_ns, (decision,))]
        elif isinstance(decision, Moved) and decision.what == "round" and decision.state in _MARKED:
            marks.append(Mark(seq, at, decision.state))
    return marks


def marks_in(records: Iterable[Record]) -> list[Mark]:
    """Return the marks of some records; what this software cannot read has none."""
    marks: list[Mark] = []
    for record in records:
        if record.kind != rec.STEP or _WORDS.search(record.body) is None:
            continue
        try:
            marks += marks_of(record.seq, record.wall_ns, rec.decode_step(record.body).decisions)
        except UNDECODABLE:
            continue
    return marks


class Archive:
    """`rounds` and `round` answer whoever asks for them."""

    def __init__(self, controller: Controller, reading: Reading, on_news: Callable[[], None]) -> None:
        self._controller = controller
        self._reading = reading
        self._on_news = on_news
        self._marks: deque[Mark] = deque(maxlen=MARKS)
        # What was decided up to here is read back; every later step comes by itself.
        self._begun = controller.newest
        self._number = controller.table.state.round.number
        self._reached = self._begun + 1  # the oldest record that was looked at
        self._ended = False  # nothing older is kept
        self._loading: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Read back what was before this start, beside everything else."""
        if self._loading is None:
            self._loading = asyncio.get_running_loop().create_task(self._load())

    def close(self) -> None:
        """Stop reading."""
        if self._loading is not None:
            self._loading.cancel()

    def take(self, step: Step) -> None:
        """A step is on disk."""
        if step.seq <= self._begun:
            return
        for mark in marks_of(step.seq, step.wall_ns, step.decisions):
            self._marks.append(mark)

    # --- reading back -------------------------------------------------------------------------------------------------

    async def _load(self) -> None:
        try:
            while self._controller.durable < self._begun:
                if self._controller.halted is not None:
                    return
                await asyncio.sleep(0.02)
            await self.older()
        except PitboxError as error:  # the table goes on; its pages begin with what happens from now on
            log.warning("the journal could not be read back for the panel: %s %s", error.code, error)

    async def older(self) -> None:
        """Look through some more of what was before."""
        if self._ended or self._reached <= 1:
            return
        last, first = self._reached - 1, max(1, self._reached - LOOK_BACK)
        pieces: list[list[Mark]] = []
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
            if mark.found is not None:
                self._controller.findings.take_older(mark.found, self._controller.table.state.holds)
        self._on_news()

    # --- rounds -------------------------------------------------------------------------------------------------------

    def rounds(self) -> dict[str, Any]:
        """Return the rounds that are known, the newest first, and whether there may be older ones."""
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
                rounds.append({"number": number, "seq": mark.seq, "at": mark.at, "end": "under way", "wrong": 0})
            elif mark.found is not None:
                affected.update(mark.found.rounds)
                if rounds and rounds[-1]["end"] == "under way":
                    rounds[-1]["wrong"] += mark.found.what == "irregularity"
            elif rounds and mark.kind in _ENDS:
                rounds[-1]["end"] = mark.kind
            elif rounds and mark.kind == mc.SETTLING:
                # Also after its end, when something was found before the cards were collected.
                rounds[-1]["end"] = "under way"
        return [each | {"affected": each["number"] in affected} for each in rounds]

    async def round(self, number: int) -> dict[str, Any]:
        """Return a round's whole story; BadRequest if it is none of those that are known."""
        listed = self._listed()
        at = next((index for index, each in enumerate(listed) if each["number"] == number), None)
        if at is None:
            known = f"rounds {listed[0]['number']} to {listed[-1]['number']}" if listed else "no round"
            raise BadRequest(f"round {number} is not among those that were read, {known}; look for older ones")
        one, following = listed[at], listed[at + 1] if at + 1 < len(listed) else None
        before = listed[at - ROUNDS_BEFORE]["seq"] if at >= ROUNDS_BEFORE else 1
        first = max(1, before, one["seq"] - RECORDS_BEFORE)
        newest = self._controller.durable if following is None else following["seq"]
        terms = msgspec.to_builtins(terms_of(self._controller.table.context))
        dispute = Dispute(number, one["seq"], terms)

        def consume(records: Iterable[Record]) -> bool:
            dispute.take(records)
            return dispute.over

        await self._reading.forward(first, min(newest, one["seq"] + LONGEST), consume)
        review = dispute.told()
        if review is None:
            raise BadRequest(f"round {number} is no longer in the journal")
        named = [finding(mark.found) for mark in self._marks if mark.found is not None and number in mark.found.rounds]
        return review | {"at": one["at"], "affected": named, "end_state": one["end"]}
