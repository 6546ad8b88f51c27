"""Maps journal records to the items of an event message. The same record always gives the same items.

Steps come from the running table or from the journal; both are mapped here, so a repeated event is identical.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge.decoding import UNDECODABLE
from firmware_bridge.errors import code_of
from table_controller.journal import chain
from table_controller.journal import records as rec
from table_controller.journal.store import Start
from table_controller.table import decisions as d
from table_controller.table import events as ev
from table_controller.table import machines as mc
from table_controller.uplink import items as it

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.journal.chain import Record
    from table_controller.table.decisions import Decision, Reason
    from table_controller.table.events import Event

# Kinds of records without items; the steps around them show what they mean.
_QUIET: Final = (chain.GENESIS, chain.STOP, chain.SNAPSHOT, rec.BOX)
_ROUNDS: Final = {mc.BETTING: "opened", mc.COMPLETE: "complete", mc.VOID: "void"}
_DECKS: Final = (mc.HELD, mc.REMOVED)


class Telling(msgspec.Struct, frozen=True):
    """The items of one record, which may be none. `round` is the last opened round after it."""

    round: int
    event: str = ""
    by: str = ""
    items: tuple[it.Items, ...] = ()


def tell_record(record: Record, round_: int) -> Telling:
    """Map a record of the journal; `round_` is the last opened round before it."""
    if record.kind == rec.STEP:
        try:
            step = rec.decode_step(record.body)
        except UNDECODABLE:  # of another version: only its presence is reported
            return Telling(round_, record.kind, "", (it.Recorded(kind=record.kind),))
        return tell_step(step.event, step.decisions, round_)
    if record.kind in _QUIET:
        return Telling(round_)
    if record.kind == rec.NOTE:
        return _note(record, round_)
    return Telling(round_, record.kind, "", (_other(record),))


def _note(record: Record, round_: int) -> Telling:
    """Map a note without its text, which may name people."""
    try:
        note = rec.decode_note(record.body)
    except UNDECODABLE:
        return Telling(round_, record.kind, "", (it.Recorded(kind=record.kind),))
    item = it.BoxNoted(kind=note.kind, slot=note.slot, hold=note.hold)
    return Telling(round_, record.kind, note.who.role if note.who is not None else "", (item,))


def _other(record: Record) -> it.Items:
    try:
        if record.kind == chain.START:
            return it.Opened(boot=record.boot, clean=msgspec.json.decode(record.body, type=Start).clean)
        if record.kind == rec.CLOCK:
            return it.ClockStepped(by_ms=round(rec.decode_clock(record.body).by_ns / 1e6))
    except UNDECODABLE:
        pass
    return it.Recorded(kind=record.kind)


def tell_step(event: Event, decisions: list[Decision], round_: int) -> Telling:
    """Map a step of the table."""
    items: list[it.Items] = []
    if isinstance(event, ev.BoxStarted):
        items.append(it.Started(boot=event.boot, clock_back=event.clock_back))
    elif isinstance(event, ev.CommandEnded) and event.outcome in ("failed", "unknown"):
        code = code_of(event.reason) if event.reason else ""
        items.append(it.CommandTrouble(command=event.command, outcome=event.outcome, code=code))
    for decision in decisions:
        if isinstance(decision, d.Moved):
            round_ += (decision.what, decision.state) == ("round", mc.BETTING)
            _moved(decision, round_, items)
            continue
        if isinstance(decision, d.Booked):
            items.append(_money(decision))
        mapper = _MAPPERS.get(type(decision))
        if mapper is not None:
            items.append(mapper(decision))
    who = getattr(event, "who", None)
    return Telling(round_, type(event).__name__, who.role if isinstance(who, ev.Person) else "", tuple(items))


def _moved(moved: d.Moved, round_: int, items: list[it.Items]) -> None:
    what, _, name = moved.what.partition(" ")
    if what == "round" and moved.state in _ROUNDS:
        items.append(it.RoundMoved(number=round_, state=_ROUNDS[moved.state]))  # type: ignore[arg-type]
    elif what == "slot":
        items.append(it.ServiceMoved(slot=name, state=moved.state))
    elif what == "hit":
        items.append(it.HitMoved(hit=int(name), state=moved.state))
    elif what == "deck" and moved.state in _DECKS:
        items.append(it.DeckMoved(deck=name, state=moved.state))  # type: ignore[arg-type]


def _money(booked: d.Booked) -> it.Money:
    """Map an entry without its document, which may name people."""
    entry = booked.entry
    return it.Money(
        number=entry.number, kind=entry.kind, meter_before=entry.meter_before, meter_after=entry.meter_after,
        transfers=tuple(it.Transfer(one.source, one.to, one.amount) for one in entry.transfers),
        seat=entry.seat, hit=entry.hit, clauses=entry.clauses,
    )  # fmt: skip


def cause(reason: Reason) -> it.Cause:
    """Return a reason as part of a message."""
    return it.Cause(reason.key, reason.clause, reason.text, reason.clears, reason.evidence)


def _irregularity(decision: d.Found) -> it.Items:
    return it.IrregularityFound(
        hold=decision.hold, trigger=decision.trigger, outcomes=decision.outcomes, clauses=decision.clauses,
        slot=decision.slot, deck=decision.deck, seat=decision.seat,
    )  # fmt: skip


def _cleared(cleared: d.Cleared) -> it.Items:
    return it.IrregularityCleared(hold=cleared.hold)


def _finding(finding: d.Finding) -> it.Items:
    return it.Noted(kind=finding.kind, text=finding.text, deck=finding.deck, rounds=finding.rounds)


def _refused(refused: d.Refused) -> it.Items:
    return it.Refusal(what=refused.what, reasons=tuple(cause(reason) for reason in refused.reasons))


def _wagers(back: d.WagersReturned) -> it.Items:
    return it.WagersBack(
        round=back.round, settled=back.settled, clauses=back.clauses, seat=back.seat, collected=back.kept
    )


def _claimed(hit: d.HitClaimed) -> it.Items:
    return it.HitClaimed(
        hit=hit.hit, round=hit.round, seat=hit.seat, hand=hit.hand, fixed=hit.fixed, share=hit.share, final=hit.final
    )  # fmt: skip


def _rebooked(hit: d.HitRebooked) -> it.Items:
    return it.HitRebooked(
        hit=hit.hit, round=hit.round, seat=hit.seat, hand=hit.hand, fixed=hit.fixed, share=hit.share, final=hit.final
    )  # fmt: skip


def _terms(terms: d.MeterSet) -> it.Items:
    return it.MeterTerms(rate_bp=terms.rate_bp, limit=terms.limit)


def _play(play: d.MeterPlay) -> it.Items:
    return it.MeterPlay(open=play.open, cause=play.cause)


_MAPPERS: Final[dict[type[Any], Callable[[Any], it.Items]]] = {
    d.Found: _irregularity, d.Cleared: _cleared, d.Finding: _finding, d.Refused: _refused, d.WagersReturned: _wagers,
    d.HitClaimed: _claimed, d.HitRebooked: _rebooked, d.MeterSet: _terms, d.MeterPlay: _play,
}  # fmt: skip
