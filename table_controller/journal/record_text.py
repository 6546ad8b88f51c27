"""Records as text: an event, the decisions on it and their clauses, each record on one line.

Works on the plain JSON of a body, so that records of other software versions are readable too.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, assert_never

import msgspec

from devices.kinds import KINDS
from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import code_of
from table_controller.journal import chain
from table_controller.journal import records as rec
from table_controller.ledger.money import CENT, format_dollars
from table_controller.table import decisions as de
from table_controller.table.view import slot_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from table_controller.journal.chain import Record

_NS: Final = 1_000_000_000
_CAPITAL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_KEY: Final = re.compile(r"(?<![\w.])[a-z]+(?:_[a-z0-9]+)+(?![\w.]*\w)")
_SLOT: Final = re.compile(rf"\b(?:{'|'.join(KINDS)})\.\d+\b")
# Fields that the line shows elsewhere, or that only the software needs.
_QUIET: Final = ("type", "who", "second", "clauses", "evidence", "least", "most", "reasons", "entry", "id", "safe")


def format_time(wall_ns: int) -> str:
    """Return a time in UTC."""
    return f"{datetime.fromtimestamp(wall_ns // _NS, UTC):%Y-%m-%d %H:%M:%S}"


def decode_body(record: Record) -> Any:
    """Return a body under the names of this version; None if it is not JSON."""
    try:
        return msgspec.json.decode(rec.current_body(record.kind, record.body))
    except UNDECODABLE:
        return None


def to_words(name: str) -> str:
    """Return a name of the code as lower-case words."""
    return _CAPITAL.sub(" ", name).replace("_", " ").lower()


def plain_text(text: str) -> str:
    """Return a text of the core with words in place of its keys, and names of machines in place of slots like rng.1."""
    return _KEY.sub(lambda key: to_words(key[0]), _SLOT.sub(lambda slot: slot_label(slot[0]), text))


def person_text(who: Any) -> str:
    """Return a person as role and credential."""
    return f"{who['role']} {who['credential']}"


def _value(key: str, value: Any) -> str:
    if key == "reason" and isinstance(value, int):
        return code_of(value)
    if key == "amount" and isinstance(value, int):
        return format_dollars(value)
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value)


def _details(what: dict[str, Any]) -> str:
    parts = [
        f"{to_words(key)} {_value(key, value)}"
        for key, value in what.items()
        if key not in _QUIET and value is not None and value is not False and value not in ([], "")
        if key != "reason" or value
    ]
    return ", ".join(parts)


def event_text(event: dict[str, Any]) -> str:
    """Return an event as a sentence."""
    if event.get("type") == "BoxHalted":
        code = event.get("code", 0)
        return f"the box halts: {code_of(code)}" if code else "the box is stopped in order: machines stop, sensors lock"
    by = "".join(f" by {person_text(event[key])}" for key in ("who", "second") if event.get(key))
    about = _details(event)
    if event.get("type") == "OptionalWagerEntered" and not event.get("seats"):
        about += ", nobody"
    return to_words(str(event.get("type", "?"))) + by + (f": {about}" if about else "")


def _command(d: dict[str, Any]) -> str:
    return f"order {d['id']}: {to_words(d['act'])} {d['slot']}" + (f", {d['number']}" if d.get("number") else "")


def _prompt(d: dict[str, Any]) -> str:
    about = _details({key: d.get(key) for key in ("deck", "seat", "slot")})
    return f"asks {d['role']} {d['id']}: {to_words(d['kind'])}" + (f" ({about})" if about else "")


def _moved(d: dict[str, Any]) -> str:
    return f"{d['what']} is {to_words(d['state'])}"


def _irregularity(d: dict[str, Any]) -> str:
    about = _details({key: d.get(key) for key in ("deck", "seat", "slot")})
    return f"IRREGULARITY {d['hold']}: {to_words(d['trigger'])}" + (f" ({about})" if about else "")


def _refused(d: dict[str, Any]) -> str:
    why = "; ".join(reason["text"] for reason in d["reasons"])
    return plain_text(f"REFUSED {d['what']}" + (f": {why}" if why else ""))


def refusal_text(body: dict[str, Any]) -> str | None:
    """Return why a step refused a person's entry; None if it was accepted, or if no person made an entry."""
    event, decisions = body["event"], body["decisions"]
    refusals = [decision for decision in decisions if decision["type"] == "RequestRefused"]
    if not refusals or not event.get("who"):
        return None
    closed = [(d["id"], d["choice"]) for d in decisions if d["type"] == "PromptClosed"]
    if event["type"] == "Answer" and (event["prompt"], event["choice"]) in closed:
        return None  # the answer was accepted; a consequence of it was refused
    return "; ".join(_refused(decision).removeprefix("REFUSED ") for decision in refusals)


def entry_text(entry: dict[str, Any]) -> str:
    """Return an entry of the money book as text."""
    moved = ", ".join(f"{format_dollars(t['amount'])} {t['source']} to {t['to']}" for t in entry["transfers"])
    return f"{to_words(entry['kind'])}: {moved or 'nothing moved'}; meter {format_dollars(entry['meter_after'])}"


def _accounts(d: dict[str, Any]) -> str:
    """Return the amounts in the accounts that are not empty."""
    held = [f"{account} {format_dollars(amount)}" for account, amount in d.get("accounts", {}).items() if amount]
    return f"; accounts {', '.join(held)}" if held else ""


def _meter_play(d: dict[str, Any]) -> str:
    by = f" by {' and '.join(d['credentials'])}, {d['document']}" if d["credentials"] else ""
    state = "open to play again" if d["open"] else f"closed to play ({to_words(d['cause'])})"
    return f"the meter is {state}{by}{_accounts(d)}"


def _meter_set(d: dict[str, Any]) -> str:
    by = f"{' and '.join(d['credentials'])}, {d['document']}"
    filed = f", Rules Submission {d['submission']}" if d.get("submission") else ""
    return f"the meter runs at {d['rate_bp'] / 100:g} % up to {format_dollars(d['limit'])} by {by}{filed}{_accounts(d)}"


def _finding(d: dict[str, Any]) -> str:
    """Return a finding with its deck and rounds."""
    about = f" (deck {d['deck']})" if d.get("deck") else ""
    rounds = f": rounds {', '.join(map(str, d['rounds']))}" if d.get("rounds") else ""
    return f"noted: {d['text']}{about}{rounds}"


def _closed(d: dict[str, Any]) -> str:
    return f"question {d['id']} " + (f"answered {d['choice']}" if d.get("choice") else "closed")


def _cleared(d: dict[str, Any]) -> str:
    return f"irregularity {d['hold']} cleared by {d['credential']}"


def _deadline(d: dict[str, Any]) -> str:
    return f"timer {d['timer']} " + (f"{d['seconds']:g} s" if d.get("seconds") is not None else "off")


def result_text(result: dict[str, Any]) -> str:
    """Return what becomes of a wager, why, and what is paid, as `fortune: full house, wins, pays 5 to 1`."""
    hand = f"{result['hand']}, " if result.get("hand") else ""
    text = f"{to_words(result['wager'])}: {hand}{result['outcome']}"
    if result.get("envy_of"):
        text = f"{to_words(result['wager'])} envy of seat {result['envy_to']} for seat {result['envy_of']}: {hand}wins"
    if result.get("odds"):
        text += f", pays {result['odds'][0]} to {result['odds'][1]}"
    if result.get("fixed_cents"):
        text += f", pays {format_dollars(result['fixed_cents'] * CENT)}"
    if result.get("paid_cents"):
        text += f", {format_dollars(result['paid_cents'] * CENT)} in all"
    return text


def _wager_settled(d: dict[str, Any]) -> str:
    seat, dealer = d.get("cards") or ("", "")
    known = f" ({seat}{' against ' + dealer if dealer else ''})" if seat else ""
    return f"seat {d['seat']}, {result_text(d['result'])}{known}"


def _any(d: dict[str, Any]) -> str:
    """Return the name and the fields of a decision."""
    return f"{to_words(str(d.get('type', '?')))}: {_details(d)}"


def _writer(kind: type[de.Decision]) -> Callable[[dict[str, Any]], str]:  # noqa: PLR0912 - a short case each
    """Return what writes a type of decision as text; mypy fails if a type is missing here."""
    if issubclass(kind, de.Command):
        return _command
    if issubclass(kind, de.Prompt):
        return _prompt
    if issubclass(kind, de.PromptClosed):
        return _closed
    if issubclass(kind, de.StateChanged):
        return _moved
    if issubclass(kind, de.HoldOpened):
        return _irregularity
    if issubclass(kind, de.HoldCleared):
        return _cleared
    if issubclass(kind, de.RequestRefused):
        return _refused
    if issubclass(kind, de.Deadline):
        return _deadline
    if issubclass(kind, de.Finding):
        return _finding
    if issubclass(kind, de.MeterPlay):
        return _meter_play
    if issubclass(kind, de.MeterSet):
        return _meter_set
    if issubclass(kind, de.WagerSettled):
        return _wager_settled
    if issubclass(
        kind,
        de.WagersReturned | de.BetSettled | de.Booked  # the entry of a booking is added to its text
        | de.ReturnBegan | de.TechnicianAssigned | de.TechnicianLeft | de.EvidenceShown | de.StepCompleted
        | de.StepsUndone | de.TestModeChanged,
    ):  # fmt: skip
        return _any
    assert_never(kind)


_WRITERS: Final = {kind.__name__: _writer(kind) for kind in rec.DECISIONS}


def decision_text(decision: dict[str, Any]) -> str:
    """Return one decision as text; a type of another version by its name and fields."""
    text = _WRITERS.get(str(decision.get("type")), _any)(decision)
    return f"{text} [{entry_text(decision['entry'])}]" if "entry" in decision else text


def clauses_in(what: Any) -> Iterator[str]:
    """Yield every clause that a body names, at any depth."""
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


def _own(record: Record, body: Any) -> str:
    match record.kind:
        case chain.GENESIS:
            return f"the journal {body.get('journal')} begins"
        case chain.START:
            how = "in order" if body.get("clean") else "without a stop"
            if record.boot == 1:
                return "start 1 of the box; the first one"
            return f"start {record.boot} of the box; the one before it ended {how}"
        case chain.STOP:
            return "the box stops in order"
        case chain.SNAPSHOT:
            return f"snapshot after record {body.get('seq')}"
        case chain.RESTORED:
            by = " and ".join(f"{role} {who}" for role, who in body.get("by", {}).items()) or "nobody named"
            lost = f"; lost: {body['lost']}" if body.get("lost") else ""
            return f"restored up to record {body.get('seq')} by {by}{lost}"
        case rec.BOX:
            game = (body.get("terms") or {}).get("title", "an unnamed game")
            return f"software {body.get('version')}, {game}; clock {'set' if body.get('set') else 'not set'}"
        case rec.MIGRATION:
            old, new = body.get("old", {}), body.get("new", {})
            what = " and ".join(sorted(name for name in {*old, *new} if old.get(name) != new.get(name)))
            people = " and ".join(person_text(body[key]) for key in ("who", "second") if body.get(key))
            accepted = f"; {people} accepted: {'; '.join(body.get('changes', ()))}" if people else ""
            taken = f"the migration {body.get('name')} took the state over"
            return f"{what} changed between rounds; {taken}{accepted}"
        case rec.CLOCK:
            return f"the wall clock was stepped by {body.get('by_ns', 0) / _NS:+.1f} s"
        case rec.NOTE:
            by = " and ".join(person_text(body[key]) for key in ("who", "second") if body.get(key))
            return f"{to_words(body.get('kind', '?'))}: {body.get('text')}" + (f" ({by})" if by else "")
    return _details(body) if isinstance(body, dict) else f"{len(record.body)} bytes"


def record_line(record: Record) -> str:
    """Return a record as one line: time, number, event, decisions, clauses."""
    body = decode_body(record)
    opening = f"{format_time(record.wall_ns)}  {record.seq:>7}  "
    if record.kind != rec.STEP or not isinstance(body, dict):
        return f"{opening}{record.kind}: {_own(record, body or {})}"
    text = event_text(body["event"]) if refusal_text(body) is None else f"REFUSED: {event_text(body['event'])}"
    decided = [decision_text(each) for each in body["decisions"]]
    clauses = list(dict.fromkeys(clauses_in(body["decisions"])))
    text += f" -> {'; '.join(decided)}" if decided else ""
    return opening + text + (f"  [{', '.join(clauses)}]" if clauses else "")
