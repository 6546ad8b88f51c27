"""Records in words: an event, what was decided on it and by which clauses, each on one line. Reads no files.

Works on the plain JSON of a body, so that a record of other software is still readable, if less smoothly.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge.decoding import UNDECODABLE
from firmware_bridge.errors import code_of
from table_controller.journal import chain
from table_controller.journal import records as rec
from table_controller.ledger.money import dollars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from table_controller.journal.chain import Record

_NS: Final = 1_000_000_000
_CAPITAL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
# Said elsewhere in the line, or of use to the software alone.
_QUIET: Final = ("type", "who", "second", "clauses", "evidence", "least", "most", "reasons", "entry", "id", "safe")


def when(wall_ns: int) -> str:
    """Return an instant for people, in the one time zone that needs no explanation."""
    return f"{datetime.fromtimestamp(wall_ns // _NS, UTC):%Y-%m-%d %H:%M:%S}"


def content(record: Record) -> Any:
    """Return a body under the names of this version; None if it is no JSON."""
    try:
        return msgspec.json.decode(rec.current_body(record.kind, record.body))
    except UNDECODABLE:
        return None


def plain(name: str) -> str:
    """Return a name of the code as words."""
    return _CAPITAL.sub(" ", name).replace("_", " ").lower()


def person(who: Any) -> str:
    """Return a person as role and credential."""
    return f"{who['role']} {who['credential']}"


def _value(key: str, value: Any) -> str:
    if key == "reason" and isinstance(value, int):
        return code_of(value)
    if key == "amount" and isinstance(value, int):
        return dollars(value)
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value)


def _details(what: dict[str, Any]) -> str:
    told = [
        f"{plain(key)} {_value(key, value)}"
        for key, value in what.items()
        if key not in _QUIET and value is not None and value is not False and value not in ([], "")
        if key != "reason" or value
    ]
    return ", ".join(told)


def event_text(event: dict[str, Any]) -> str:
    """Return an event as a person would tell it."""
    if event.get("type") == "BoxHalted":
        code = event.get("code", 0)
        return f"the box halts: {code_of(code)}" if code else "the box is stopped in order: machines stop, sensors lock"
    by = "".join(f" by {person(event[key])}" for key in ("who", "second") if event.get(key))
    about = _details(event)
    return plain(str(event.get("type", "?"))) + by + (f": {about}" if about else "")


def _command(d: dict[str, Any]) -> str:
    return f"order {d['id']}: {plain(d['act'])} {d['slot']}" + (f", {d['number']}" if d.get("number") else "")


def _prompt(d: dict[str, Any]) -> str:
    about = _details({key: d.get(key) for key in ("deck", "seat", "slot")})
    return f"asks {d['role']} {d['id']}: {plain(d['kind'])}" + (f" ({about})" if about else "")


def _moved(d: dict[str, Any]) -> str:
    return f"{d['what']} is {plain(d['state'])}"


def _found(d: dict[str, Any]) -> str:
    about = _details({key: d.get(key) for key in ("deck", "seat", "slot")})
    return f"IRREGULARITY {d['hold']}: {plain(d['trigger'])}" + (f" ({about})" if about else "")


def _refused(d: dict[str, Any]) -> str:
    why = "; ".join(reason["text"] for reason in d["reasons"])
    return f"REFUSED {d['what']}" + (f": {why}" if why else "")


def refusal(said: dict[str, Any]) -> str | None:
    """Return why a step refused what a person entered; None if it was accepted, or if no person entered anything."""
    event, decisions = said["event"], said["decisions"]
    found = [decision for decision in decisions if decision["type"] == "Refused"]
    if not found or not event.get("who"):
        return None
    closed = [(d["id"], d["choice"]) for d in decisions if d["type"] == "PromptClosed"]
    if event["type"] == "Answer" and (event["prompt"], event["choice"]) in closed:
        return None  # the answer counted, and what followed from it was refused
    return "; ".join(_refused(decision).removeprefix("REFUSED ") for decision in found)


def entry_text(entry: dict[str, Any]) -> str:
    """Return what an entry of the book did."""
    moved = ", ".join(f"{dollars(t['amount'])} {t['source']} to {t['to']}" for t in entry["transfers"])
    return f"{plain(entry['kind'])}: {moved or 'nothing moved'}; meter {dollars(entry['meter_after'])}"


def _accounts(d: dict[str, Any]) -> str:
    """Return what the accounts held, those that were empty left out."""
    held = [f"{account} {dollars(amount)}" for account, amount in d.get("accounts", {}).items() if amount]
    return f"; accounts {', '.join(held)}" if held else ""


def _meter_play(d: dict[str, Any]) -> str:
    by = f" by {' and '.join(d['credentials'])}, {d['document']}" if d["credentials"] else ""
    state = "open to play again" if d["open"] else f"closed to play ({plain(d['cause'])})"
    return f"the meter is {state}{by}{_accounts(d)}"


def _meter_set(d: dict[str, Any]) -> str:
    by = f"{' and '.join(d['credentials'])}, {d['document']}"
    filed = f", Rules Submission {d['submission']}" if d.get("submission") else ""
    return f"the meter runs at {d['rate_bp'] / 100:g} % up to {dollars(d['limit'])} by {by}{filed}{_accounts(d)}"


def _finding(d: dict[str, Any]) -> str:
    """Return what was found, and which rounds it is about."""
    about = f" (deck {d['deck']})" if d.get("deck") else ""
    rounds = f": rounds {', '.join(map(str, d['rounds']))}" if d.get("rounds") else ""
    return f"noted: {d['text']}{about}{rounds}"


_DECIDED: Final[dict[str, Callable[[dict[str, Any]], str]]] = {
    "Command": _command, "Prompt": _prompt, "Moved": _moved, "Found": _found, "Refused": _refused,
    "PromptClosed": lambda d: f"question {d['id']} " + (f"answered {d['choice']}" if d.get("choice") else "closed"),
    "Cleared": lambda d: f"irregularity {d['hold']} cleared by {d['credential']}",
    "Deadline": lambda d: f"timer {d['timer']} " + (f"{d['seconds']:g} s" if d.get("seconds") is not None else "off"),
    "Finding": _finding, "MeterPlay": _meter_play, "MeterSet": _meter_set,
}  # fmt: skip


def decision_text(decision: dict[str, Any]) -> str:
    """Return one decision in words."""
    kind = str(decision.get("type", "?"))
    text = _DECIDED[kind](decision) if kind in _DECIDED else f"{plain(kind)}: {_details(decision)}"
    return f"{text} [{entry_text(decision['entry'])}]" if "entry" in decision else text


def clauses_in(what: Any) -> Iterator[str]:
    """Yield every clause that a body names, wherever it stands."""
    if isinstance(what, dict):
        for key, value in what.items():
            if key == "clause" and value:
                yield value
            elif key == "clauses":
                yield from value
            else:
                yield from clauses_in(value)
    elif isinstance(what, list):
        for value in what:
            yield from clauses_in(value)


def _own(record: Record, said: Any) -> str:
    match record.kind:
        case chain.GENESIS:
            return f"the journal {said.get('journal')} begins"
        case chain.START:
            how = "in order" if said.get("clean") else "cut off"
            if record.boot == 1:
                return "start 1 of the box; there was none before it"
            return f"start {record.boot} of the box; the one before it ended {how}"
        case chain.STOP:
            return "the box stops in order"
        case chain.SNAPSHOT:
            return f"snapshot after record {said.get('seq')}"
        case chain.RESTORED:
            by = " and ".join(f"{role} {who}" for role, who in said.get("by", {}).items()) or "nobody who is named"
            lost = f"; lost: {said['lost']}" if said.get("lost") else ""
            return f"restored up to record {said.get('seq')} by {by}{lost}"
        case rec.BOX:
            game = (said.get("terms") or {}).get("title", "an unnamed game")
            return f"software {said.get('version')}, {game}; clock {'set' if said.get('set') else 'not set'}"
        case rec.MIGRATION:
            old, new = said.get("old", {}), said.get("new", {})
            what = " and ".join(sorted(name for name in {*old, *new} if old.get(name) != new.get(name)))
            people = " and ".join(person(said[key]) for key in ("who", "second") if said.get(key))
            accepted = f"; {people} accepted: {'; '.join(said.get('changes', ()))}" if people else ""
            taken = f"the state was taken over by the migration {said.get('name')}"
            return f"{what} changed between rounds; {taken}{accepted}"
        case rec.CLOCK:
            return f"the wall clock was stepped by {said.get('by_ns', 0) / _NS:+.1f} s"
        case rec.NOTE:
            by = " and ".join(person(said[key]) for key in ("who", "second") if said.get(key))
            return f"{plain(said.get('kind', '?'))}: {said.get('text')}" + (f" ({by})" if by else "")
    return _details(said) if isinstance(said, dict) else f"{len(record.body)} bytes"


def line(record: Record) -> str:
    """Return a record on one line: time, number, event, decisions, clauses."""
    said = content(record)
    opening = f"{when(record.wall_ns)}  {record.seq:>7}  "
    if record.kind != rec.STEP or not isinstance(said, dict):
        return f"{opening}{record.kind}: {_own(record, said or {})}"
    text = event_text(said["event"]) if refusal(said) is None else f"REFUSED: {event_text(said['event'])}"
    decided = [decision_text(each) for each in said["decisions"]]
    clauses = list(dict.fromkeys(clauses_in(said["decisions"])))
    text += f" -> {'; '.join(decided)}" if decided else ""
    return opening + text + (f"  [{', '.join(clauses)}]" if clauses else "")
