"""Journal exports with forged overflow, meter closure, parameters, corrections or envy, each with a new hash chain."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final

from table_controller.journal import records as rec
from table_controller.journal.recovery import encode_snapshot
from table_controller.ledger.money import CENT
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import RequestRefused
from tests.support.box.export_forgeries import ForgedExport, Forgery
from tests.support.box.journal_prefixes import resume_play
from tests.support.box.recorded_table import RecordedTable
from tests.support.core.ideal_table import AUDITOR, DEALER, FLOOR, PEOPLE, TECH, next_change
from tests.support.core.meters import choices

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.table.decisions import Prompt


class SupervisedTable(RecordedTable):
    """A table with what people do to its meter by hand."""

    def submit(self, *events: ev.Event) -> None:
        """Take events, none of which is refused."""
        for event in events:
            decided = self.floor.step(event)
            assert not [each for each in decided if isinstance(each, RequestRefused)], decided

    def limited(self, more_cents: int) -> None:
        """Two people leave the meter so much room."""
        held = self.floor.state.money.book.meters.current // CENT
        self.submit(
            ev.MeterClosed("ML-1", FLOOR, AUDITOR),
            ev.MeterParameters("MP-1", TECH, AUDITOR, limit_cents=held + more_cents),
            ev.MeterOpened("MO-1", FLOOR, AUDITOR),
        )

    def chatter(self) -> None:
        """A sensor reports more changes than hands make: its bet is not booked, and the meter is closed."""
        self._open((1, 3))
        first = next_change(self.floor.state, 3)
        for number in range(first, first + 102):
            self.floor.step(ev.BetSensed(3, number, placed=(number - first) % 2 == 1))
        resume_play(self.floor)
        assert self.floor.state.money.closed == mc.UNREASONABLE
        self.submit(ev.MeterOpened("MO-2", FLOOR, TECH))

    def reconfigured(self, **choices: Any) -> None:
        """The box is stopped in order, and starts under another configuration."""
        last = self.store.last()
        assert last is not None
        stamp = rec.Timestamp(last.wall_ns, last.mono_ns, f"kernel {self.store.boot}")
        self.store.snapshot(last.seq, encode_snapshot(self.floor.table, self._timers, self.digests, stamp))
        self.choices = self.choices | choices
        self.restart()

    def until(self, kind: str, seat: int) -> Prompt:
        """Answer as it should be until a question about a seat is open; return it."""
        for _ in range(80):
            prompts = [prompt for prompt in self.floor.prompts(kind) if prompt.seat == seat]
            if prompts:
                return prompts[0]
            for event in self.floor.answer(self.floor.prompts()[0]):
                self.floor.step(event)
        raise AssertionError(f"{kind} of seat {seat} is never asked")

    def _open(self, bets: tuple[int, ...]) -> None:
        """Stop while bets are open, so that they can be changed."""
        self.floor.bets = set(bets)
        self.floor.step(ev.OpenRound(DEALER))
        assert self.floor.phase == mc.BETTING
        self.floor.settle()


def play_supervised_table(folder: Path) -> RecordedTable:
    """Overflow, accepted and given back; a closed meter, by people and by a sensor; every deed by hand; a new rate."""
    table = SupervisedTable(folder, "dj_wild", quick=True)
    table.open_table()
    table.round((1, 3))
    table.limited(20)
    table.round((1, 3, 6))
    table.void_round()
    table.hit_round(1)
    table.submit(
        ev.MeterCorrected(5_000_000, "MC-1", FLOOR, AUDITOR, "malfunction", "sensor_fault"),
        ev.MeterCorrected(-2_000_000, "MC-2", FLOOR, AUDITOR, "transfer", "to_other_meter", "their MC-9"),
        ev.OverflowTransferred(100_000, "MT-1", FLOOR, AUDITOR),
        ev.MeterReset("MR-1", FLOOR, AUDITOR, "malfunction", "device_fault"),
    )
    table.round((1, 3))
    table.chatter()
    table.round((1,))
    table.reconfigured(progressive_rate_bp=1600)
    table.submit(
        ev.MeterClosed("ML-3", FLOOR, AUDITOR),
        ev.MeterParameters("MP-3", TECH, AUDITOR, rate_bp=1600, submission="RS-2"),
        ev.MeterOpened("MO-3", FLOOR, AUDITOR),
    )
    table.round((1, 3))
    table.store.close()
    return table


def play_envy_table(folder: Path) -> RecordedTable:
    """Envy for two hands, and then one hand that got envy and one that brought it are void by their players' choice."""
    table = SupervisedTable(folder, "face_up_pai_gow", quick=True, **choices("688a-progressive-4"))
    table.open_table()
    for void in (3, 6):
        table._open((1, 3, 6))
        table.floor.play_to(mc.SETTLING)
        for seat, hand in ((6, "four_of_a_kind"), (3, "straight_flush")):
            table.until("progressive", seat)
            table.floor.name_hand(seat, hand)
        for of in (6, 3):
            asked = table.until("progressive_envy", of)
            seats = tuple(seat for seat in (1, 3, 6) if seat != of)
            table.submit(ev.Answer(asked.id, "paid", DEALER, None, seats))
        table.floor.declare("player_card_exposed", seat=void)
        while table.floor.state.holds:
            prompt = next(each for each in table.floor.prompts() if each.hold is not None)
            choice = "void" if prompt.kind == "choose" else prompt.choices[0]
            table.floor.step(ev.Answer(prompt.id, choice, PEOPLE[prompt.role]))
        resume_play(table.floor)
    table.store.close()
    return table


# --- changing ---------------------------------------------------------------------------------------------------------


def _transfers(
    e: ForgedExport, kind: str, accounts: tuple[str, str], number: int = 0
) -> tuple[int, dict[str, Any], Any]:
    """Return the n-th entry of a kind that moves money this way: its place, the decision and the transfer."""
    matches = [
        (n, d, one)
        for n, r in enumerate(e.records)
        if r["kind"] == "step"
        for d in r["content"]["decisions"]
        for one in d.get("entry", {}).get("transfers", ())
        if d["entry"]["kind"] == kind and (one["source"], one["to"]) == accounts
    ]
    return matches[number]


def _renumber(e: ForgedExport, above: int, by: int) -> None:
    for record in e.records:
        for d in record["content"].get("decisions", ()) if record["kind"] == "step" else ():
            if d.get("entry", {}).get("number", 0) > above:
                d["entry"]["number"] += by


# --- overflow ---------------------------------------------------------------------------------------------------------


def _overflow_to_house(e: ForgedExport) -> int:
    place, _, one = _transfers(e, "bet", ("bets", "overflow"))
    one["to"] = "house"
    return place


def _above_the_limit(e: ForgedExport) -> int:
    place, booked, one = _transfers(e, "bet", ("bets", "overflow"))
    one["to"] = "meter"
    booked["entry"]["meter_after"] += one["amount"]
    e.shift_meter(booked["entry"]["number"], one["amount"])
    return place


def _void_overflow_stays(e: ForgedExport) -> int:
    place, _, one = _transfers(e, "bet_returned", ("overflow", "bets"))
    one["source"] = "house"
    return place


def _transfer_by_one(e: ForgedExport) -> int:
    place = e.event("OverflowTransferred")
    e.step_event(place)["second"]["person"] = e.step_event(place)["who"]["credential"]
    return place


def _transfer_of_more(e: ForgedExport) -> int:
    place, booked = e.entry("transfer")
    booked["entry"]["transfers"][0]["amount"] += 50_000
    booked["entry"]["meter_after"] += 50_000
    e.shift_meter(booked["entry"]["number"], 50_000)
    return place


def _transfer_of_what_is_not_there(e: ForgedExport) -> int:
    place, booked = e.entry("transfer")
    e.step_event(place)["amount"] += 10_000_000
    booked["entry"]["transfers"][0]["amount"] += 10_000_000
    booked["entry"]["meter_after"] += 10_000_000
    e.shift_meter(booked["entry"]["number"], 10_000_000)
    return place


# --- out of turn ------------------------------------------------------------------------------------------------------


def _into_a_round(e: ForgedExport, event: str) -> int:
    """Move a deed into the next round, before its bets are accepted."""
    place = e.event(event)
    record = e.records.pop(place)
    opened = next(n for n, r in enumerate(e.records) if n >= place and _opens(r))
    e.records.insert(opened + 1, record)
    return opened + 1


def _opens(record: dict[str, Any]) -> bool:
    decisions = record["content"].get("decisions", ()) if record["kind"] == "step" else ()
    return {"type": "StateChanged", "what": "round", "state": "betting"} in decisions


def _reset_in_play(e: ForgedExport) -> int:
    return _into_a_round(e, "MeterReset")


def _correction_in_play(e: ForgedExport) -> int:
    """The reset before it is taken away, so that entries stay in their order."""
    place, booked = e.entry("reset")
    entry = booked["entry"]
    e.shift_meter(entry["number"], entry["meter_before"] - entry["meter_after"])
    _renumber(e, entry["number"], -1)
    e.records.pop(place)
    at, booked = e.entry("correction", 1)
    over, moved = e.entry("transfer")
    e.records.pop(over)
    by = moved["entry"]["meter_after"] - moved["entry"]["meter_before"]
    e.shift_meter(moved["entry"]["number"], -by)
    _renumber(e, moved["entry"]["number"], -1)
    record = e.records.pop(at)
    opened = next(n for n, r in enumerate(e.records) if n >= at and _opens(r))
    e.records.insert(opened + 1, record)
    return opened + 1


def _closed_in_play(e: ForgedExport) -> int:
    record = deepcopy(e.records[e.event("MeterClosed")])
    opened = next(n for n, r in enumerate(e.records) if _opens(r))
    e.records.insert(opened + 1, record)
    return opened + 1


def _refused_and_booked(e: ForgedExport) -> int:
    place, _ = e.entry("correction")
    e.decided(place).insert(0, {"type": "RequestRefused", "what": "correct_meter", "reasons": []})
    return place


# --- closed and open --------------------------------------------------------------------------------------------------


def _opens_while_closed(e: ForgedExport) -> int:
    e.drop("MeterPlay", 1)
    return next(n for n, r in enumerate(e.records) if n > e.event("MeterOpened") and _opens(r))


def _never_closed(e: ForgedExport) -> int:
    """Closing and setting are gone; only the opening is left, with nothing to open."""
    e.records.pop(e.event("MeterClosed"))
    e.records.pop(e.event("MeterParameters"))
    return e.event("MeterOpened")


def _closed_twice(e: ForgedExport) -> int:
    place = e.event("MeterClosed")
    e.records.insert(place + 1, deepcopy(e.records[place]))
    return place + 1


def _closed_by_one(e: ForgedExport) -> int:
    place = e.event("MeterClosed")
    e.step_event(place)["second"]["person"] = e.step_event(place)["who"]["credential"]
    return place


def _closed_by_nobody(e: ForgedExport) -> int:
    """People closed it, and the record names a sensor: then nobody is accountable for it."""
    place = e.event("MeterClosed")
    e.step_event(place)["who"]["role"] = "dealer"
    e.decision("MeterPlay", 0, open=False)[1]["cause"] = "unreasonable"
    return place


def _no_objection(e: ForgedExport) -> int:
    """The meter is closed for an unreasonable contribution that nobody found."""
    place, _ = e.decision("MeterPlay", 0, cause="unreasonable", open=False)
    e.decided(place)[:] = [d for d in e.decided(place) if d.get("kind") != "unreasonable_contribution"]
    return place


def _opened_without_technician(e: ForgedExport) -> int:
    place = e.event("MeterOpened", document="MO-2")
    e.step_event(place)["second"]["role"] = "auditor"
    return place


def _other_cause(e: ForgedExport) -> int:
    """After an unreasonable contribution, floorperson and auditor open the meter as if people had closed it."""
    place = e.event("MeterOpened", document="MO-2")
    e.decision("MeterPlay", 0, open=True, document="MO-2")[1]["cause"] = "people"
    return place


def _other_paper(e: ForgedExport) -> int:
    place, play = e.decision("MeterPlay", 0, open=False)
    play["document"] = "ML-99"
    return place


def _other_names(e: ForgedExport) -> int:
    place, play = e.decision("MeterPlay", 0, open=True)
    play["credentials"] = ["F1", "A2"]
    return place


def _without_accounts(e: ForgedExport) -> int:
    place, play = e.decision("MeterPlay", 0, open=False)
    play["accounts"] = {}
    return place


def _set_without_accounts(e: ForgedExport) -> int:
    place, changed = e.decision("MeterSet")
    changed["accounts"] = {}
    return place


def _other_accounts(e: ForgedExport) -> int:
    place, play = e.decision("MeterPlay", 0, open=False)
    play["accounts"]["meter"] -= 10_000
    play["accounts"]["house"] += 10_000
    return place


# --- parameters -------------------------------------------------------------------------------------------------------


def _set(e: ForgedExport, number: int, **about: int) -> int:
    place, changed = e.decision("MeterSet", number)
    if "limit_cents" in about:
        changed["limit"] = about["limit_cents"] * CENT
    if "rate_bp" in about:
        changed["rate_bp"] = about["rate_bp"]
    e.step_event(place).update(about)
    return place


def _limit_below_meter(e: ForgedExport) -> int:
    return _set(e, 0, limit_cents=100_000)


def _limit_above_digits(e: ForgedExport) -> int:
    return _set(e, 0, limit_cents=10**10)


def _limit_not_entered(e: ForgedExport) -> int:
    place, changed = e.decision("MeterSet")
    changed["limit"] += 10 * CENT
    return place


def _rate_at_will(e: ForgedExport) -> int:
    """A rate changes between two starts under the same configuration."""
    place = _set(e, 0, rate_bp=2_500)
    e.step_event(place)["submission"] = "RS-9"
    e.decision("MeterSet")[1]["submission"] = "RS-9"
    return place


def _rate_without_submission(e: ForgedExport) -> int:
    place, changed = e.decision("MeterSet", 1)
    changed["submission"] = e.step_event(place)["submission"] = ""
    return place


def _other_submission(e: ForgedExport) -> int:
    place, changed = e.decision("MeterSet", 1)
    changed["submission"] = "RS-77"
    return place


def _rate_of_a_start(e: ForgedExport) -> int:
    """A start states another limit, and nobody set it."""
    place = max(n for n, r in enumerate(e.records) if r["kind"] == "box")
    e.records[place]["content"]["terms"]["meter"]["limit"] += CENT
    return place


# --- corrections ------------------------------------------------------------------------------------------------------


def _no_ground(e: ForgedExport) -> int:
    place = e.event("MeterCorrected")
    e.step_event(place)["ground"] = "jackpot too high"
    return place


def _other_reason(e: ForgedExport) -> int:
    place = e.event("MeterCorrected")
    e.step_event(place)["reason"] = "to_other_meter"
    return place


def _no_counterpart(e: ForgedExport) -> int:
    place = e.event("MeterCorrected", 1)
    e.step_event(place)["counterpart"] = " "
    return place


def _other_way(e: ForgedExport) -> int:
    place = e.event("MeterCorrected", 1)
    e.step_event(place)["reason"] = "from_other_meter"
    return place


def _corrected_above_limit(e: ForgedExport) -> int:
    place, booked = e.entry("correction")
    e.step_event(place)["amount"] += 10**9
    booked["entry"]["transfers"][0]["amount"] += 10**9
    booked["entry"]["meter_after"] += 10**9
    e.shift_meter(booked["entry"]["number"], 10**9)
    return place


def _reset_elsewhere(e: ForgedExport) -> int:
    place, booked = e.entry("reset")
    booked["entry"]["transfers"][0]["amount"] -= 10_000
    booked["entry"]["meter_after"] += 10_000
    e.shift_meter(booked["entry"]["number"], 10_000)
    return place


# --- bets -------------------------------------------------------------------------------------------------------------


def _bet_left_out(e: ForgedExport) -> int:
    """A latched bet is booked nowhere, and nobody is asked about it: its chip went somewhere else."""
    place, bet = e.decision("BetAccepted")
    seat, number = bet["seat"], bet["entry"]["number"]
    round_ = bet["round"]
    lights = [d["id"] for r in _steps(e) for d in r["decisions"]
              if d["type"] == "Command" and (d["act"], d["slot"]) == ("light", f"bet_sensor.{seat}")][:1]  # fmt: skip
    asked = [d["id"] for r in _steps(e) for d in r["decisions"]
             if d["type"] == "Prompt" and (d["kind"], d["seat"]) == ("progressive", seat)][:1]  # fmt: skip
    for record in _steps(e):
        record["decisions"][:] = [
            d for d in record["decisions"]
            if d is not bet and not (d["type"] in ("Command", "Prompt", "PromptClosed") and d["id"] in lights + asked)
            and not (d["type"] == "BetSettled" and (d["round"], d["seat"]) == (round_, seat))
        ]  # fmt: skip
    e.records[:] = [
        r for r in e.records
        if r["kind"] != "step"
        or not (r["content"]["event"].get("command") in lights or r["content"]["event"].get("prompt") in asked)
    ]  # fmt: skip
    by = bet["entry"]["meter_before"] - bet["entry"]["meter_after"]
    e.shift_meter(number, by)
    _renumber(e, number, -1)
    for record in _steps(e):
        for d in record["decisions"]:
            if d["type"] in ("MeterPlay", "MeterSet"):
                for one in bet["entry"]["transfers"]:
                    d["accounts"][one["source"]] += one["amount"]
                    d["accounts"][one["to"]] -= one["amount"]
    assert place
    return next(n for n, r in enumerate(e.records) if {"type": "StateChanged", "what": "round", "state": "dealing"}
                in (r["content"].get("decisions", ()) if r["kind"] == "step" else ()))  # fmt: skip


def _steps(e: ForgedExport) -> list[dict[str, Any]]:
    return [record["content"] for record in e.records if record["kind"] == "step"]


# --- envy of void hands -----------------------------------------------------------------------------------------------


def _envy_kept(e: ForgedExport, number: int) -> int:
    place, gone = e.entry("envy_returned", number)
    e.decided(place).remove(gone)
    _renumber(e, gone["entry"]["number"], -1)
    return place


def _got_and_kept(e: ForgedExport) -> int:
    return _envy_kept(e, 0)


def _brought_and_kept(e: ForgedExport) -> int:
    first = e.entry("envy_returned")[0]
    number = next(n for n in range(2, 9) if e.entry("envy_returned", n)[0] > first)
    return _envy_kept(e, number)


def _envy_of_another(e: ForgedExport) -> int:
    """Not the void hand returns its envy bonus, but a bettor whose hand and bet are valid."""
    place, gone = e.entry("envy_returned")
    gone["entry"]["seat"] = 1 if gone["entry"]["seat"] != 1 else 6
    return place


SUPERVISION_FORGERIES: Final = (
    Forgery("overflow to the house", _overflow_to_house, "by the terms it moves"),
    Forgery("a bet above the limit", _above_the_limit, "by the terms it moves"),
    Forgery("overflow of a void bet stays", _void_overflow_stays, "by the terms it moves"),
    Forgery("overflow transferred by one person", _transfer_by_one, "one person alone"),
    Forgery("more overflow than was entered", _transfer_of_more, "by the terms it moves"),
    Forgery("more overflow than there is", _transfer_of_what_is_not_there, "above the limit|paid what it did not hold"),
    Forgery("reset in play", _reset_in_play, "while a round is under way"),
    Forgery("correction in play", _correction_in_play, "while a round is under way"),
    Forgery("closed in play", _closed_in_play, "while a round is under way"),
    Forgery("refused and booked", _refused_and_booked, "was refused, and money moved"),
    Forgery("a round under a closed meter", _opens_while_closed, "while the meter is closed"),
    Forgery("opened and never closed", _never_closed, "is open already"),
    Forgery("closed twice", _closed_twice, "is closed already"),
    Forgery("closed by one person", _closed_by_one, "one person alone"),
    Forgery("closed by nobody", _closed_by_nobody, "nothing was unreasonable"),
    Forgery("unreasonable without a finding", _no_objection, "nothing was unreasonable"),
    Forgery("opened without a technician", _opened_without_technician, "it is for floorperson and technician"),
    Forgery("opened for another cause", _other_cause, "was closed for another cause"),
    Forgery("closed by another document", _other_paper, "names other people or another document"),
    Forgery("opened by other people", _other_names, "names other people or another document"),
    Forgery("closed without accounts", _without_accounts, "recorded accounts"),
    Forgery("set without accounts", _set_without_accounts, "recorded accounts"),
    Forgery("closed with other accounts", _other_accounts, "recorded accounts"),
    Forgery("limit below the meter", _limit_below_meter, "a limit below what the meter holds"),
    Forgery("limit above the sign's digits", _limit_above_digits, "more digits than a sign"),
    Forgery("another limit than was entered", _limit_not_entered, "not those that were entered"),
    Forgery("rate at will", _rate_at_will, "the configuration did not"),
    Forgery("rate without submission", _rate_without_submission, "without its Rules Submission"),
    Forgery("rate with another submission", _other_submission, "name another Rules Submission"),
    Forgery("limit of a start", _rate_of_a_start, "no person set them|the digests did not"),
    Forgery("no ground", _no_ground, "is no ground"),
    Forgery("reason of another ground", _other_reason, "is no ground"),
    Forgery("no counterpart", _no_counterpart, "other meter's document"),
    Forgery("transfer the other way", _other_way, "moves the meter the other way"),
    Forgery("corrected above the limit", _corrected_above_limit, "above the limit"),
    Forgery("reset to another amount", _reset_elsewhere, "by the terms it moves"),
    Forgery("bet left out", _bet_left_out, "and no bet is booked"),
)
ENVY_FORGERIES: Final = (
    Forgery("void hand keeps the envy that it got", _got_and_kept, "is void, and envy stays"),
    Forgery("envy stays that a void hand brought", _brought_and_kept, "is void, and envy stays"),
    Forgery("another bettor gives envy back", _envy_of_another, "envy comes back"),
)
