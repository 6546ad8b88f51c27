"""Forged exports: each change, whether the chain was computed again, and the finding that reveals it."""

from __future__ import annotations

import base64
import json
import shutil
from copy import deepcopy
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from table_controller.journal.chain import head_after
from table_controller.journal.export import MANIFEST, RECORDS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Records = list[dict[str, Any]]


class ForgedExport:
    """An export in memory: its manifest and its records."""

    def __init__(self, folder: Path) -> None:
        self.manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_bytes())
        self.records: Records = [json.loads(line) for line in (folder / RECORDS).read_bytes().splitlines()]

    def copy(self) -> ForgedExport:
        """Return a copy that may be changed."""
        return deepcopy(self)

    def write(self, folder: Path, *, rechain: bool) -> Path:
        """Write the export; `rechain`: recompute numbers, bodies, heads and manifest, as an attacker on the box can."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if rechain:
            self._chain()
        data = b"".join(json.dumps(record, separators=(",", ":")).encode() + b"\n" for record in self.records)
        if rechain:
            self.manifest["sha256"] = sha256(data).hexdigest()
        (folder / RECORDS).write_bytes(data)
        (folder / MANIFEST).write_text(json.dumps(self.manifest))
        return folder

    def _chain(self) -> None:
        head = bytes.fromhex(self.manifest["head_before"])
        for seq, record in enumerate(self.records, self.manifest["first"]):
            body = json.dumps(record["content"], separators=(",", ":")).encode()
            record["seq"], record["body"] = seq, base64.b64encode(body).decode()
            times = (record["wall_ns"], record["mono_ns"])
            head = head_after(head, seq, record["kind"], *times, record["boot"], body)
            record["head"] = head.hex()
        last = self.records[-1]["seq"]
        self.manifest |= {"last": last, "count": len(self.records), "head_after": head.hex()}

    # --- finding ------------------------------------------------------------------------------------------------------

    def event(self, kind: str, number: int = 0, /, **fields: Any) -> int:
        """Return the index of the n-th step with such an event."""
        matches = [
            n for n, r in enumerate(self.records)
            if r["kind"] == "step" and r["content"]["event"]["type"] == kind
            and all(r["content"]["event"].get(key) == value for key, value in fields.items())
        ]  # fmt: skip
        return matches[number]

    def decision(self, kind: str, number: int = 0, /, **fields: Any) -> tuple[int, dict[str, Any]]:
        """Return the index of the n-th step with such a decision, and the decision."""
        matches = [
            (n, d) for n, r in enumerate(self.records) if r["kind"] == "step" for d in r["content"]["decisions"]
            if d["type"] == kind and all(d.get(key) == value for key, value in fields.items())
        ]  # fmt: skip
        return matches[number]

    def decided(self, place: int) -> list[dict[str, Any]]:
        """Return the decisions of a step."""
        decisions: list[dict[str, Any]] = self.records[place]["content"]["decisions"]
        return decisions

    def step_event(self, place: int) -> dict[str, Any]:
        """Return the event of a step."""
        event: dict[str, Any] = self.records[place]["content"]["event"]
        return event

    def entry(self, kind: str, number: int = 0) -> tuple[int, dict[str, Any]]:
        """Return the index of the n-th step that books such an entry, and its decision."""
        matches = [
            (n, d) for n, r in enumerate(self.records) if r["kind"] == "step" for d in r["content"]["decisions"]
            if d.get("entry", {}).get("kind") == kind
        ]  # fmt: skip
        return matches[number]

    def drop(self, kind: str, number: int = 0, /, **fields: Any) -> int:
        """Remove a decision; return its index."""
        place, decision = self.decision(kind, number, **fields)
        self.decided(place).remove(decision)
        return place

    def shift_meter(self, from_entry: int, by: int) -> None:
        """Shift the meter of every later entry by so much."""
        for record in self.records:
            for decision in record["content"].get("decisions", ()) if record["kind"] == "step" else ():
                entry = decision.get("entry")
                if entry is not None and entry["number"] > from_entry:
                    entry["meter_before"] += by
                    entry["meter_after"] += by


class Forgery(NamedTuple):
    """A change that returns the index of the revealing record (None: the end), and the expected finding."""

    name: str
    change: Callable[[ForgedExport], int | None]
    finding: str
    rechain: bool = True


# --- of the file, without a new chain ---------------------------------------------------------------------------------


def _altered_body(e: ForgedExport) -> int:
    place = e.event("NoMoreBets")
    body = base64.b64decode(e.records[place]["body"]).replace(b'"D1"', b'"D2"')
    e.records[place]["body"] = base64.b64encode(body).decode()
    return place


def _altered_content(e: ForgedExport) -> int:
    place = e.event("NoMoreBets")
    e.step_event(place)["who"]["credential"] = "D2"
    return place


def _altered_time(e: ForgedExport) -> int:
    place = e.event("NoMoreBets")
    e.records[place]["wall_ns"] += 1
    return place


def _dropped(e: ForgedExport) -> int:
    place = e.event("NoMoreBets")
    del e.records[place]
    return place


def _exchanged(e: ForgedExport) -> int:
    e.records[40], e.records[41] = e.records[41], e.records[40]
    return 40


def _cut_short(e: ForgedExport) -> None:
    del e.records[-5:]


def _other_digest(e: ForgedExport) -> None:
    e.manifest["sha256"] = "00" * 32


def _other_end(e: ForgedExport) -> None:
    e.manifest["head_after"] = "00" * 32


def _twice(e: ForgedExport) -> int:
    e.records.insert(41, e.records[40])
    return 41


# --- of what happened, with a new chain -------------------------------------------------------------------------------


def _order_removed(e: ForgedExport) -> int:
    place = e.drop("Command", act="dispense")
    return next(n for n in range(place, len(e.records)) if e.step_event(n)["type"] == "StackOut")


def _step_removed(e: ForgedExport) -> int:
    place, _ = e.decision("Command", act="shuffle")
    del e.records[place]
    return e.event("ShuffleEnded")


def _report_made_up(e: ForgedExport) -> int:
    place = e.event("StackOut")
    e.records.insert(place + 1, deepcopy(e.records[place]))
    e.decided(place + 1).clear()
    return place + 1


def _ended_twice(e: ForgedExport) -> int:
    place = e.event("CommandEnded")
    e.records.insert(place + 1, deepcopy(e.records[place]))
    e.decided(place + 1).clear()
    return place + 1


def _number_again(e: ForgedExport) -> int:
    _, first = e.decision("Command")
    place, second = e.decision("Command", 5)
    second["id"] = first["id"]
    return place


def _stack_short(e: ForgedExport) -> int:
    place = e.event("StackOut")
    e.step_event(place)["count"] -= 1
    return place


def _shuffle_short(e: ForgedExport) -> int:
    place = e.event("ShuffleEnded")
    e.step_event(place)["count"] -= 1
    return place


def _irregularity_hidden(e: ForgedExport) -> int:
    """Remove every decision about a short deck."""
    place, irregularity = e.decision("HoldOpened", trigger="count_wrong")
    e.decided(place)[:] = [d for d in e.decided(place) if d["type"] not in ("HoldOpened", "Finding", "Prompt")]
    assert irregularity["slot"]
    return place


def _stub_short(e: ForgedExport) -> int:
    place = e.event("StubOut")
    e.step_event(place)["count"] -= 1
    return place


def _stub_miscounted(e: ForgedExport) -> int:
    (prompt,) = {d["id"] for _, d in [e.decision("Prompt", kind="stub")]}
    place = e.event("Answer", prompt=prompt)
    e.step_event(place)["number"] += 1
    return place


def _chips_miscounted(e: ForgedExport) -> int:
    _, prompt = e.decision("Prompt", kind="chips")
    place = e.event("Answer", prompt=prompt["id"])
    e.step_event(place)["number"] += 1
    return place


def _not_cleared(e: ForgedExport) -> int:
    """Remove an acknowledgment; the next command to the device reveals it."""
    place, irregularity = e.decision("HoldOpened", trigger="shoe_fault")
    cleared, _ = e.decision("HoldCleared", hold=irregularity["hold"])
    e.drop("HoldCleared", hold=irregularity["hold"])
    assert cleared > place
    return next(
        n for n in range(cleared, len(e.records)) if e.records[n]["kind"] == "step"
        for d in e.decided(n) if d["type"] == "Command" and (
            (d["slot"] == irregularity["slot"] and not d["safe"]) or d["act"] == "open_bets"
        )
    )  # fmt: skip


def _cleared_by_another(e: ForgedExport) -> int:
    place, cleared = e.decision("HoldCleared")
    cleared["credential"] = "F9"
    return place


def _answered_by_another_role(e: ForgedExport) -> int:
    _, prompt = e.decision("Prompt", role="floorperson", kind="hit_validate")
    place = e.event("Answer", prompt=prompt["id"])
    e.step_event(place)["who"]["role"] = "dealer"
    return place


def _no_call(e: ForgedExport) -> int:
    place = e.event("NoMoreBets")
    e.step_event(place)["type"] = "OpenRound"
    return place


def _not_closed(e: ForgedExport) -> int:
    e.drop("StateChanged", what="round", state="no_more_bets")
    return e.decision("StateChanged", what="round", state="locked")[0]


def _about(event: dict[str, Any], command: int) -> bool:
    return command in (event.get("command"), event.get("lock"))


def _never_locked(e: ForgedExport) -> int:
    """Remove the lock of one sensor and everything about it."""
    place, lock = e.decision("Command", act="lock", slot="bet_sensor.2")
    e.decided(place).remove(lock)
    e.records = [r for r in e.records if r["kind"] != "step" or not _about(r["content"]["event"], lock["id"])]
    return e.decision("Command", act="dispense")[0]


def _latch_turned(e: ForgedExport) -> int:
    place, bet = e.decision("BetAccepted")
    e.step_event(e.event("SeatLatched", seat=bet["seat"]))["bet"] = False
    return place


def _counted_twice(e: ForgedExport) -> int:
    place, bet = e.decision("BetAccepted")
    again = deepcopy(bet)
    added = bet["entry"]["meter_after"] - bet["entry"]["meter_before"]
    number = bet["entry"]["number"]
    e.shift_meter(number, added)
    for record in e.records:
        for d in record["content"].get("decisions", ()) if record["kind"] == "step" else ():
            if d.get("entry", {}).get("number", 0) > number:
                d["entry"]["number"] += 1
    again["entry"] |= {"number": number + 1, "meter_before": bet["entry"]["meter_after"],
                       "meter_after": bet["entry"]["meter_after"] + added}  # fmt: skip
    e.decided(place).insert(e.decided(place).index(bet) + 1, again)
    return place


def _one_micro_dollar(e: ForgedExport) -> int:
    """Move one micro-dollar from the house, so that all accounts still sum to zero."""
    place, bet = e.decision("BetAccepted")
    for moved in bet["entry"]["transfers"]:
        moved["amount"] += {"meter": 1, "house": -1}.get(moved["to"], 0)
    bet["entry"]["meter_after"] += 1
    e.shift_meter(bet["entry"]["number"], 1)
    return place


def _meter_reported_wrong(e: ForgedExport) -> int:
    place, bet = e.decision("BetAccepted", 1)
    bet["entry"]["meter_after"] -= 1
    return place


def _entry_removed(e: ForgedExport) -> int:
    """Remove the booking of a bet; its light reveals it."""
    place, bet = e.decision("BetAccepted", 1)
    e.decided(place).remove(bet)
    return place


def _share_less(e: ForgedExport) -> int:
    place, hit = e.decision("HitClaimed")
    hit["share"] -= 10_000
    return place


def _paid_twice(e: ForgedExport) -> int:
    place, paid = e.entry("hand_pay_paid")
    again = deepcopy(paid)
    again["entry"]["number"] += 1
    e.decided(place).append(again)
    return place


def _no_slip(e: ForgedExport) -> int:
    place, paid = e.entry("hand_pay_paid")
    del paid["entry"]["document"]
    return place


def _falls_otherwise(e: ForgedExport) -> int:
    """Call a correction by another name."""
    place, wrong = e.entry("correction")
    wrong["entry"]["kind"] = "seed"
    return place


def _one_person(e: ForgedExport) -> int:
    place = e.event("MeterCorrected")
    e.step_event(place)["second"]["credential"] = e.step_event(place)["who"]["credential"]
    return place


def _other_amount(e: ForgedExport) -> int:
    place = e.event("MeterCorrected")
    e.step_event(place)["amount"] += 1
    return place


def _not_returned(e: ForgedExport) -> int:
    """Keep the last bet of a void round."""
    place, bet = e.decision("BetReturned", -1)
    e.decided(place).remove(bet)
    entry = bet["entry"]
    e.shift_meter(entry["number"], entry["meter_before"] - entry["meter_after"])
    for record in e.records:
        for d in record["content"].get("decisions", ()) if record["kind"] == "step" else ():
            if d.get("entry", {}).get("number", 0) > entry["number"]:
                d["entry"]["number"] -= 1
    return next(
        n for n in range(place, len(e.records)) if e.records[n]["kind"] == "step"
        and any(d["type"] == "StateChanged" and (d["what"], d["state"]) == ("round", "idle") for d in e.decided(n))
    )  # fmt: skip


def _other_rate(e: ForgedExport) -> int:
    for record in e.records:
        if record["kind"] == "box":
            record["content"]["terms"]["meter"]["rate_bp"] -= 100
    return e.decision("BetAccepted")[0]


def _terms_changed(e: ForgedExport) -> int:
    place = max(n for n, r in enumerate(e.records) if r["kind"] == "box")
    e.records[place]["content"]["terms"]["cards"] += 1
    return place


def _other_software(e: ForgedExport) -> int:
    place = max(n for n, r in enumerate(e.records) if r["kind"] == "start")
    e.records[place]["content"]["digests"]["software"] = "00" * 32
    return place


def _boot_hidden(e: ForgedExport) -> int:
    place = next(n for n, r in enumerate(e.records) if r["kind"] == "start" and r["boot"] == 2)
    del e.records[place]
    return place


FORGERIES: Final = (
    Forgery("altered body", _altered_body, "its head is not", rechain=False),
    Forgery("altered readable content", _altered_content, "not what was chained", rechain=False),
    Forgery("altered time", _altered_time, "its head is not", rechain=False),
    Forgery("dropped record", _dropped, "is missing", rechain=False),
    Forgery("exchanged records", _exchanged, "is missing or out of its place", rechain=False),
    Forgery("repeated record", _twice, "out of its place", rechain=False),
    Forgery("cut short", _cut_short, "counts other records", rechain=False),
    Forgery("other digest", _other_digest, "digest is not", rechain=False),
    Forgery("other last head", _other_end, "another last head", rechain=False),
    Forgery("command without order", _order_removed, "without a command"),
    Forgery("step removed", _step_removed, "without a command"),
    Forgery("report made up", _report_made_up, "without a command"),
    Forgery("command ended twice", _ended_twice, "ended twice"),
    Forgery("number given out again", _number_again, "given out before"),
    Forgery("stack short", _stack_short, "no irregularity follows"),
    Forgery("shuffle short", _shuffle_short, "no irregularity follows"),
    Forgery("irregularity hidden", _irregularity_hidden, "no irregularity follows"),
    Forgery("stub short", _stub_short, "no irregularity follows"),
    Forgery("stub counted wrong", _stub_miscounted, "no irregularity follows"),
    Forgery("chips counted wrong", _chips_miscounted, "no irregularity"),
    Forgery("irregularity not cleared", _not_cleared, "open"),
    Forgery("cleared by another", _cleared_by_another, "did not acknowledge it"),
    Forgery("answered by another role", _answered_by_another_role, "the dealer answered for the floorperson"),
    Forgery("no more bets without a call", _no_call, "no more bets without a call"),
    Forgery("bets never closed", _not_closed, "from betting to locked"),
    Forgery("sensor never locked", _never_locked, "was never locked"),
    Forgery("bet that did not lie there", _latch_turned, "without a latch"),
    Forgery("double contribution", _counted_twice, "counts twice"),
    Forgery("meter off by one micro-dollar", _one_micro_dollar, "by the terms it moves"),
    Forgery("meter told wrong", _meter_reported_wrong, "not what the accounts give"),
    Forgery("bet not booked", _entry_removed, "is not booked"),
    Forgery("hit worth less", _share_less, "worth another amount"),
    Forgery("hit paid twice", _paid_twice, "of a hit that is documented"),
    Forgery("hand pay without slip", _no_slip, "without its slip"),
    Forgery("meter falls by another name", _falls_otherwise, "opened once"),
    Forgery("one person corrects", _one_person, "one person alone"),
    Forgery("correction of another amount", _other_amount, "by the terms it moves"),
    Forgery("bet of a void round kept", _not_returned, "are not settled"),
    Forgery("other rate", _other_rate, "by the terms it moves"),
    Forgery("terms changed", _terms_changed, "the digests did not"),
    Forgery("other software", _other_software, "does not name these digests"),
    Forgery("restart hidden", _boot_hidden, "boot is not that of the last start"),
)
