"""Records of the journal as documents read them: decoded under the names of this version, with times and people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from table_controller.journal import record_text
from table_controller.journal import records as rec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from table_controller.journal.chain import Record


class Entry(NamedTuple):
    """One record of kind step, note or box. `body` is plain data, so that records of other versions are readable."""

    seq: int
    wall_ns: int
    kind: str
    body: dict[str, Any]

    @property
    def event(self) -> dict[str, Any]:
        """The event of a step; empty for other records."""
        event: dict[str, Any] = self.body.get("event", {}) if self.kind == rec.STEP else {}
        return event

    def decisions(self, *types: str) -> Iterator[dict[str, Any]]:
        """Yield the decisions of a step that have one of these types."""
        if self.kind == rec.STEP:
            yield from (each for each in self.body.get("decisions", ()) if each.get("type") in types)

    @property
    def is_refused(self) -> bool:
        """Whether a person's entry was refused."""
        return self.kind == rec.STEP and record_text.refusal_text(self.body) is not None

    def states(self, what: str) -> list[str]:
        """Return the new states of a deck, slot, hit or round in this step."""
        return [each["state"] for each in self.decisions("StateChanged") if each["what"] == what]


def entry_of(record: Record) -> Entry | None:
    """Return a record as an entry; None if it is no JSON object."""
    body = record_text.decode_body(record)
    return Entry(record.seq, record.wall_ns, record.kind, body) if isinstance(body, dict) else None


class Answered(NamedTuple):
    """An accepted answer to a prompt."""

    entry: Entry
    prompt: dict[str, Any]

    @property
    def choice(self) -> str:
        """The chosen answer."""
        return str(self.entry.event["choice"])

    @property
    def number(self) -> int | None:
        """The entered number."""
        number: int | None = self.entry.event.get("number")
        return number

    @property
    def who(self) -> dict[str, Any]:
        """The person who answered."""
        who: dict[str, Any] = self.entry.event["who"]
        return who


def answered(entries: Iterable[Entry]) -> Iterator[Answered]:
    """Yield the accepted answers whose prompts are among the entries."""
    prompts: dict[int, dict[str, Any]] = {}
    for entry in entries:
        event = entry.event
        if event.get("type") == "Answer" and event["prompt"] in prompts and not entry.is_refused:
            yield Answered(entry, prompts[event["prompt"]])
        for prompt in entry.decisions("Prompt"):
            prompts[prompt["id"]] = prompt


def person(who: dict[str, Any] | None) -> str:
    """Return a person as role and credential, with the name if the credential does not contain it."""
    if not who:
        return "nobody named"
    name = who.get("person") or ""
    known = f" ({name})" if name and name.casefold() != str(who["credential"]).casefold() else ""
    return f"{str(who['role']).capitalize()} {who['credential']}{known}"
