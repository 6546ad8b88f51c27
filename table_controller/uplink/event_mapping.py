"""Maps journal records to the items of an event message. The same record always gives the same items.

Steps come from the running table or from the journal; both are mapped here, so a repeated event is identical.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, assert_never

import msgspec

from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import code_of
from table_controller.journal import chain
from table_controller.journal import records as rec
from table_controller.journal.store import StartRecord
from table_controller.table import decisions as d
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.uplink import event_types as it

if TYPE_CHECKING:
    from collections.abc import Sequence

    from table_controller.journal.chain import Record
    from table_controller.table.decisions import Decision, DenialReason
    from table_controller.table.events import Event

# Kinds of records without items; the steps around them show what they mean.
_QUIET: Final = (chain.GENESIS, chain.STOP, chain.SNAPSHOT, rec.BOX)
_ROUNDS: Final = {mc.BETTING: "opened", mc.COMPLETE: "complete", mc.VOID: "void"}
_ROUND_OPENED: Final = d.StateChanged("round", mc.BETTING)
_DECKS: Final = (mc.HELD, mc.REMOVED)


class MappedEvent(msgspec.Struct, frozen=True):
    """The items of one record, which may be none. `round` is the last opened round after it."""

    round: int
    event: str = ""
    by: str = ""
    items: tuple[it.AnyItem, ...] = ()


def map_record(record: Record, round_: int) -> MappedEvent:
    """Map a record of the journal; `round_` is the last opened round before it."""
    if record.kind == rec.STEP:
        try:
            step = rec.decode_step(record.body)
        except UNDECODABLE:  # of another version: only its presence is reported
            return MappedEvent(round_, record.kind, "", (it.RecordedItem(kind=record.kind),))
        return map_step(step.event, step.decisions, round_)
    if record.kind in _QUIET:
        return MappedEvent(round_)
    if record.kind == rec.NOTE:
        return _note(record, round_)
    return MappedEvent(round_, record.kind, "", (_other(record),))


def _note(record: Record, round_: int) -> MappedEvent:
    """Map a note without its text, which may name people."""
    try:
        note = rec.decode_note(record.body)
    except UNDECODABLE:
        return MappedEvent(round_, record.kind, "", (it.RecordedItem(kind=record.kind),))
    item = it.NoteItem(kind=note.kind, slot=note.slot, hold=note.hold)
    return MappedEvent(round_, record.kind, note.who.role if note.who is not None else "", (item,))


def _other(record: Record) -> it.AnyItem:
    try:
        if record.kind == chain.START:
            return it.JournalOpenedItem(
                boot=record.boot, clean=msgspec.json.decode(record.body, type=StartRecord).clean
            )
        if record.kind == rec.CLOCK:
            return it.ClockSteppedItem(by_ms=round(rec.decode_clock(record.body).by_ns / 1e6))
    except UNDECODABLE:
        pass
    return it.RecordedItem(kind=record.kind)


def map_step(event: Event, decisions: list[Decision], round_: int) -> MappedEvent:
    """Map a step of the table."""
    items: list[it.AnyItem] = []
    if isinstance(event, ev.BoxStarted):
        items.append(it.BoxStartedItem(boot=event.boot, clock_back=event.clock_back))
    elif isinstance(event, ev.CommandEnded) and event.outcome in ("failed", "unknown"):
        code = code_of(event.reason) if event.reason else ""
        items.append(it.CommandFailedItem(command=event.command, outcome=event.outcome, code=code))
    people = [value for name in event.__struct_fields__ if isinstance(value := getattr(event, name), ev.Person)]
    for decision in decisions:
        round_ += decision == _ROUND_OPENED
        items += (_without_credentials(item, people) for item in _items(decision, round_))
    who = getattr(event, "who", None)
    return MappedEvent(round_, type(event).__name__, who.role if isinstance(who, ev.Person) else "", tuple(items))


def _without_credentials(item: it.AnyItem, people: Sequence[ev.Person]) -> it.AnyItem:
    """Return an item whose sentence names the people of the event by their roles; the journal has their credentials."""
    match item:
        case it.FindingItem():
            return msgspec.structs.replace(item, text=_roles_in(item.text, people))
        case it.RefusedItem():
            return msgspec.structs.replace(item, what=_roles_in(item.what, people))
        case _:
            return item


def _roles_in(text: str, people: Sequence[ev.Person]) -> str:
    for person in people:
        text = re.sub(rf"(?<![\w.-]){re.escape(person.credential)}(?![\w-])", person.role, text)
    return text


def _items(decision: Decision, round_: int) -> tuple[it.AnyItem, ...]:  # noqa: PLR0912 - a short case each
    """Return what is published about a decision; nothing if only devices or people at the table need it."""
    match decision:
        case d.StateChanged():
            return _moved(decision, round_)
        case (
            d.Command() | d.Prompt() | d.PromptClosed() | d.Deadline() | d.BetSettled()
            # The state message has the next step of a return to service, and test mode.
            | d.ReturnBegan() | d.TechnicianAssigned() | d.TechnicianLeft() | d.EvidenceShown() | d.StepCompleted()
            | d.StepsUndone() | d.TestModeChanged()
        ):  # fmt: skip
            return ()
        case d.HoldOpened():
            return (_irregularity(decision),)
        case d.HoldCleared():
            return (it.IrregularityClearedItem(hold=decision.hold),)
        case d.Finding(kind, text, deck, rounds):
            return (it.FindingItem(kind=kind, text=text, deck=deck, rounds=rounds),)
        case d.RequestRefused(what, reasons):
            return (it.RefusedItem(what=what, reasons=tuple(blocking_reason(reason) for reason in reasons)),)
        case d.WagersReturned():
            return (_wagers(decision),)
        case d.WagerSettled(number, seat, result):
            return (
                it.WagerSettledItem(
                    round=number, seat=seat, wager=result.wager, outcome=result.outcome, clauses=result.clauses,
                    hand=result.hand, line=result.line, odds=result.odds, paid_cents=result.paid_cents,
                ),
            )  # fmt: skip
        case d.HitClaimed():
            return (_money(decision), _claimed(decision))
        case d.HitRebooked():
            return (_money(decision), _rebooked(decision))
        case d.Booked() | d.BetAccepted() | d.BetReturned():
            return (_money(decision),)
        case d.MeterSet():
            return (it.MeterTermsItem(rate_bp=decision.rate_bp, limit=decision.limit),)
        case d.MeterPlay():
            return (it.MeterPlayItem(open=decision.open, cause=decision.cause),)
        case _:
            assert_never(decision)


def _moved(moved: d.StateChanged, round_: int) -> tuple[it.AnyItem, ...]:
    what, _, name = moved.what.partition(" ")
    if what == "round" and moved.state in _ROUNDS:
        return (it.RoundItem(number=round_, state=_ROUNDS[moved.state]),)  # type: ignore[arg-type]
    if what == "slot":
        return (it.ServiceItem(slot=name, state=moved.state),)
    if what == "hit":
        return (it.HitItem(hit=int(name), state=moved.state),)
    if what == "deck" and moved.state in _DECKS:
        return (it.DeckItem(deck=name, state=moved.state),)  # type: ignore[arg-type]
    return ()


def _money(booked: d.Booked) -> it.MoneyItem:
    """Map an entry without its document, which may name people."""
    entry = booked.entry
    return it.MoneyItem(
        number=entry.number, kind=entry.kind, meter_before=entry.meter_before, meter_after=entry.meter_after,
        transfers=tuple(it.MoneyTransfer(one.source, one.to, one.amount) for one in entry.transfers),
        seat=entry.seat, hit=entry.hit, clauses=entry.clauses,
    )  # fmt: skip


def blocking_reason(reason: DenialReason) -> it.BlockingReason:
    """Return a reason as part of a message."""
    return it.BlockingReason(reason.key, reason.clause, reason.text, reason.clears, reason.evidence)


def _irregularity(decision: d.HoldOpened) -> it.AnyItem:
    return it.IrregularityFoundItem(
        hold=decision.hold, trigger=decision.trigger, outcomes=decision.outcomes, clauses=decision.clauses,
        slot=decision.slot, deck=decision.deck, seat=decision.seat,
    )  # fmt: skip


def _wagers(back: d.WagersReturned) -> it.AnyItem:
    return it.WagersReturnedItem(
        round=back.round, settled=back.settled, clauses=back.clauses, seat=back.seat, collected=back.kept
    )


def _claimed(hit: d.HitClaimed) -> it.AnyItem:
    return it.HitClaimedItem(
        hit=hit.hit, round=hit.round, seat=hit.seat, hand=hit.hand, fixed=hit.fixed, share=hit.share, final=hit.final
    )  # fmt: skip


def _rebooked(hit: d.HitRebooked) -> it.AnyItem:
    return it.HitRebookedItem(
        hit=hit.hit, round=hit.round, seat=hit.seat, hand=hit.hand, fixed=hit.fixed, share=hit.share, final=hit.final
    )  # fmt: skip
