"""A round for a dispute, part by part: what `rounds` tells of it, and besides its phases, its deck, the meter's moves.

Folds records that somebody else reads, oldest first, beginning some rounds before; decides nothing, reads no file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.decoding import UNDECODABLE
from table_controller.journal import records as rec
from table_controller.journal import wording
from table_controller.journal.rounds import ENDED, NO_TERMS, OPENED, Story, asked_text, note_asked
from table_controller.table import machines as mc

if TYPE_CHECKING:
    from collections.abc import Iterable

    from table_controller.journal.chain import Record

# Lines of one part; a round that has more is told whole by `pitbox journal show`.
MOST: Final = 300
_DECK: Final = "deck "


class _Decks:
    """What was done with each deck since it last came out of play."""

    def __init__(self) -> None:
        self.lines: dict[str, list[str]] = {}
        self.in_play: str | None = None
        self._asked: dict[int, dict[str, Any]] = {}

    def take(self, record: Record, said: dict[str, Any]) -> None:
        event, at = said["event"], wording.when(record.wall_ns)[11:]
        moved = {d["what"][len(_DECK) :]: d["state"] for d in said["decisions"] if _of_deck(d)}
        prompt = self._asked.get(event["prompt"]) if event["type"] == "Answer" else None
        named = event.get("deck") if prompt is None else prompt.get("deck")
        for deck in dict.fromkeys(filter(None, (named, *moved))):
            text = wording.event_text(event) if prompt is None else _answer(prompt, event)
            refused = wording.refusal(said)
            text = text if refused is None else f"REFUSED: {text}: {refused}"
            state = f"; it is {wording.plain(moved[deck])}" if deck in moved else ""
            self.lines.setdefault(deck, []).append(f"{at}  {text}{state}")
            if moved.get(deck) == mc.IN_PLAY:
                self.in_play = deck
            elif moved.get(deck) == mc.RACK:  # what is done with it from here on is for another round
                self.lines[deck] = []
                self.in_play = None if self.in_play == deck else self.in_play
        note_asked(self._asked, said["decisions"])


def _of_deck(decision: dict[str, Any]) -> bool:
    return decision["type"] == "Moved" and str(decision["what"]).startswith(_DECK)


def _answer(prompt: dict[str, Any], event: dict[str, Any]) -> str:
    number = "" if event.get("number") is None else f", {event['number']}"
    return f"{asked_text(prompt)}: {wording.plain(event['choice'])}{number} ({wording.person(event['who'])})"


class _Round(Story):
    """A round with its phases and every entry of the book."""

    def __init__(self, number: int, terms: dict[str, Any], asked: dict[int, dict[str, Any]]) -> None:
        super().__init__(number, terms, asked)
        self.phases: list[str] = []
        self.meter: list[str] = []
        self.over = False  # nothing more belongs to it
        self.has_ended = False

    def take(self, record: Record, said: dict[str, Any]) -> None:
        """Take one step; after the round's end only what answers a question that it left open."""
        if self.has_ended:
            self.over = self.over or OPENED in said["decisions"]
            if not self.over:
                self.follow(record, said)
                self.over = self.is_answered
            return
        super().take(record, said)
        at, event = wording.when(record.wall_ns)[11:], said["event"]
        who = f" ({wording.person(event['who'])})" if event.get("who") else ""
        for decision in said["decisions"]:
            if decision["type"] == "Moved" and decision["what"] == "round":
                self.phases.append(f"{at}  {wording.plain(decision['state'])}{who}")
            if "entry" in decision:
                entry = decision["entry"]
                seat = f"seat {entry['seat']}: " if entry.get("seat") is not None else ""
                self.meter.append(f"{at}  {seat}{wording.entry_text(entry)}")
        self.has_ended = ENDED in said["decisions"]
        self.over = self.has_ended and self.is_answered


class Dispute:
    """One round out of a piece of the journal. `take` records in order; the piece may begin long before the round."""

    def __init__(self, number: int, opened: int, terms: dict[str, Any] | None) -> None:
        """`opened`: the record that opened the round. `terms`: what the table plays by, unless a start says so."""
        self._number = number
        self._opened = opened
        self._terms = terms or NO_TERMS
        self._decks = _Decks()
        self._asked: dict[int, dict[str, Any]] = {}
        self._round: _Round | None = None
        self._deck: tuple[str | None, list[str]] = (None, [])

    @property
    def over(self) -> bool:
        """Whether the round has ended, so that nothing more belongs to it."""
        return self._round is not None and self._round.over

    def take(self, records: Iterable[Record]) -> None:
        """Take the next records; what is no step, or is none that this software knows, tells nothing."""
        for record in records:
            if self.over:
                return
            said = wording.content(record)
            if record.kind == rec.BOX and isinstance(said, dict):
                self._terms = said.get("terms") or self._terms
            if record.kind == rec.STEP and isinstance(said, dict):
                self._step(record, said)

    def _step(self, record: Record, said: dict[str, Any]) -> None:
        try:
            rec.decode_step(record.body)
        except UNDECODABLE:
            return
        if record.seq == self._opened and OPENED in said["decisions"]:
            self._round = _Round(self._number, self._terms, self._asked)
        if self._round is not None and self._round.has_ended:  # its deck is told as it was then
            self._round.take(record, said)
            return
        self._decks.take(record, said)
        if self._round is None:
            note_asked(self._asked, said["decisions"])
            return
        self._round.take(record, said)
        deck = self._decks.in_play
        if deck is not None:
            self._deck = (deck, list(self._decks.lines.get(deck, [])))

    def told(self) -> dict[str, Any] | None:
        """Return the round as plain data; None if it was not among the records."""
        story = self._round
        if story is None:
            return None
        name, lines = self._deck
        title = "Its deck and the checks of it" + ("" if name is None else f": {name}")
        first, *rest = story.parts()
        parts = [("Phases", story.phases), (title, lines), first, *rest, ("Moves of the meter", story.meter)]
        return {
            "number": story.number,
            "game": f"{story.terms['title']} ({story.terms['chapter']})",
            "records": [story.first, story.last],
            "opened": story.opened,
            "end": story.end,
            "parts": [
                {"title": title, "lines": lines[:MOST], "more": max(0, len(lines) - MOST)}
                for title, lines in parts
                if lines
            ],
        }
