"""The review of one round for a dispute: the round report, and its phases, its deck and the entries of the meter.

The caller passes records in order, beginning some rounds earlier, because a deck is checked before its round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.decode_errors import UNDECODABLE
from table_controller.journal import record_text
from table_controller.journal import records as rec
from table_controller.journal.round_report import (
    ROUND_ENDED,
    ROUND_OPENED,
    UNKNOWN_TERMS,
    RoundReport,
    prompt_text,
    track_prompts,
)
from table_controller.table import state_machines as mc

if TYPE_CHECKING:
    from collections.abc import Iterable

    from table_controller.journal.chain import Record

# Lines in one section; `pitbox journal show` prints longer rounds whole.
MAX_LINES: Final = 300
_DECK: Final = "deck "


class _DeckLog:
    """Lines about each deck since it was last taken out of play."""

    def __init__(self) -> None:
        self.lines: dict[str, list[str]] = {}
        self.in_play: str | None = None
        self._asked: dict[int, dict[str, Any]] = {}

    def add_step(self, record: Record, body: dict[str, Any]) -> None:
        event, at = body["event"], record_text.format_time(record.wall_ns)[11:]
        moved = {d["what"][len(_DECK) :]: d["state"] for d in body["decisions"] if _of_deck(d)}
        prompt = self._asked.get(event["prompt"]) if event["type"] == "Answer" else None
        named = event.get("deck") if prompt is None else prompt.get("deck")
        for deck in dict.fromkeys(filter(None, (named, *moved))):
            text = record_text.event_text(event) if prompt is None else _answer(prompt, event)
            refused = record_text.refusal_text(body)
            text = text if refused is None else f"REFUSED: {text}: {refused}"
            state = f"; it is {record_text.to_words(moved[deck])}" if deck in moved else ""
            self.lines.setdefault(deck, []).append(f"{at}  {text}{state}")
            if moved.get(deck) == mc.IN_PLAY:
                self.in_play = deck
            elif moved.get(deck) == mc.RACK:  # later steps with this deck belong to another round
                self.lines[deck] = []
                self.in_play = None if self.in_play == deck else self.in_play
        track_prompts(self._asked, body["decisions"])


def _of_deck(decision: dict[str, Any]) -> bool:
    return decision["type"] == "StateChanged" and str(decision["what"]).startswith(_DECK)


def _answer(prompt: dict[str, Any], event: dict[str, Any]) -> str:
    number = "" if event.get("number") is None else f", {event['number']}"
    who = record_text.person_text(event["who"])
    return f"{prompt_text(prompt)}: {record_text.to_words(event['choice'])}{number} ({who})"


class _ReviewedRound(RoundReport):
    """A round report with phases and every entry of the money book."""

    def __init__(self, number: int, terms: dict[str, Any], asked: dict[int, dict[str, Any]]) -> None:
        super().__init__(number, terms, asked)
        self.phases: list[str] = []
        self.meter: list[str] = []
        self.over = False  # no later record belongs to it
        self.has_ended = False

    def add_step(self, record: Record, body: dict[str, Any]) -> None:
        """Add one step; after the round's end, only answers to questions that it left open."""
        if self.has_ended:
            self.over = self.over or ROUND_OPENED in body["decisions"]
            if not self.over:
                self.add_late_answer(record, body)
                self.over = self.is_answered
            return
        super().add_step(record, body)
        at, event = record_text.format_time(record.wall_ns)[11:], body["event"]
        who = f" ({record_text.person_text(event['who'])})" if event.get("who") else ""
        for decision in body["decisions"]:
            if decision["type"] == "StateChanged" and decision["what"] == "round":
                self.phases.append(f"{at}  {record_text.to_words(decision['state'])}{who}")
            if "entry" in decision:
                entry = decision["entry"]
                seat = f"seat {entry['seat']}: " if entry.get("seat") is not None else ""
                self.meter.append(f"{at}  {seat}{record_text.entry_text(entry)}")
        self.has_ended = ROUND_ENDED in body["decisions"]
        self.over = self.has_ended and self.is_answered


class RoundReview:
    """The review of one round, built from records that are added in order."""

    def __init__(self, number: int, opened: int, terms: dict[str, Any] | None) -> None:
        """`opened`: the record that opened the round. `terms`: the table's terms if no `box` record is added."""
        self._number = number
        self._opened = opened
        self._terms = terms or UNKNOWN_TERMS
        self._decks = _DeckLog()
        self._asked: dict[int, dict[str, Any]] = {}
        self._round: _ReviewedRound | None = None
        self._deck: tuple[str | None, list[str]] = (None, [])

    @property
    def is_over(self) -> bool:
        """Whether the round has ended and no later record belongs to it."""
        return self._round is not None and self._round.over

    def add_records(self, records: Iterable[Record]) -> None:
        """Add the next records; ignores records that are no steps, or that this software cannot decode."""
        for record in records:
            if self.is_over:
                return
            body = record_text.decode_body(record)
            if record.kind == rec.BOX and isinstance(body, dict):
                self._terms = body.get("terms") or self._terms
            if record.kind == rec.STEP and isinstance(body, dict):
                self._step(record, body)

    def _step(self, record: Record, body: dict[str, Any]) -> None:
        try:
            rec.decode_step(record.body)
        except UNDECODABLE:
            return
        if record.seq == self._opened and ROUND_OPENED in body["decisions"]:
            self._round = _ReviewedRound(self._number, self._terms, self._asked)
        if self._round is not None and self._round.has_ended:  # lines about its deck stop at its end
            self._round.add_step(record, body)
            return
        self._decks.add_step(record, body)
        if self._round is None:
            track_prompts(self._asked, body["decisions"])
            return
        self._round.add_step(record, body)
        deck = self._decks.in_play
        if deck is not None:
            self._deck = (deck, list(self._decks.lines.get(deck, [])))

    def to_dict(self) -> dict[str, Any] | None:
        """Return the review as plain data; None if the round was not among the records."""
        story = self._round
        if story is None:
            return None
        name, lines = self._deck
        title = "The deck and its checks" + ("" if name is None else f": {name}")
        first, *others = story.sections()
        parts = [("Phases", story.phases), (title, lines), first, *others, ("Entries of the meter", story.meter)]
        return {
            "number": story.number,
            "game": f"{story.terms['title']} ({story.terms['chapter']})",
            "records": [story.first, story.last],
            "opened": story.opened,
            "end": story.end,
            "parts": [
                {"title": title, "lines": lines[:MAX_LINES], "more": max(0, len(lines) - MAX_LINES)}
                for title, lines in parts
                if lines
            ],
        }
