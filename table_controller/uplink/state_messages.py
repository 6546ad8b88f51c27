"""Builds the messages for the table's state, its meters and the box's health."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from firmware_bridge.version import VERSION
from table_controller.ledger.money import format_dollars
from table_controller.uplink import event_types as it
from table_controller.uplink import messages as m
from table_controller.uplink.event_mapping import blocking_reason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firmware_bridge.errors import PitboxError
    from table_controller.controller.clock import Clock
    from table_controller.controller.shown_money import ShownMoney
    from table_controller.controller.slot import AnySlot
    from table_controller.journal.copier import CopyState
    from table_controller.journal.finding_log import FindingLog
    from table_controller.table.core import Table
    from table_controller.table.state import SlotState as TableSlot

# Findings in the retained state, which is sent again with every change.
MAX_FINDINGS: Final = 20


def describe_locked(game: str, chapter: str, cause: PitboxError | None, at: str) -> m.StateMessage:
    """Return the state message of a box that is locked because it cannot use its journal."""
    return m.StateMessage(
        seq=0, at=at, game=game, chapter=chapter, round=0, phase="locked", dealing="", shuffling="", progressive="",
        halted=_halt(cause), blocked_by=(), holds=(), prompts=(), slots={}, decks={},
    )  # fmt: skip


def _halt(cause: PitboxError | None) -> m.HaltSummary | None:
    return None if cause is None else m.HaltSummary(cause.code, str(cause))


def describe_findings(findings: FindingLog) -> tuple[m.FindingSummary, ...]:
    """Return the first findings without their texts, which may name people."""
    return tuple(
        m.FindingSummary(
            record=one.seq, at=m.instant(one.wall_ns), kind=one.kind, severity=one.severity, rounds=one.rounds
        )
        for one in findings.list_by_severity()[:MAX_FINDINGS]
    )  # fmt: skip


def describe_state(
    table: Table,
    halted: PitboxError | None,
    seq: int,
    at: str,
    findings: tuple[m.FindingSummary, ...] = (),
) -> m.StateMessage:
    """Return the state message of a running table."""
    view, state = table.context, table.state
    blocked_by: tuple[it.BlockingReason, ...] = ()
    if not view.is_round_under_way:
        coming = view.next_deck()
        blocked_by = tuple(
            blocking_reason(reason) for reason in table.permit("open_bets", deck=coming.name if coming else None)
        )
    return m.StateMessage(
        seq=seq,
        at=at,
        game=view.edition.game,
        chapter=view.edition.chapter,
        round=state.round.number,
        phase=state.round.state,
        dealing=state.dealing,
        shuffling=state.shuffling,
        progressive=state.progressive.state,
        halted=_halt(halted),
        blocked_by=blocked_by,
        holds=tuple(
            m.HoldSummary(
                hold=hold.id, trigger=hold.trigger, clauses=hold.clauses, outcomes=hold.outcomes,
                steps=tuple(hold.steps), acknowledges=hold.acknowledges, this_round=hold.this_round,
                slot=hold.slot, deck=hold.deck, seat=hold.seat,
            )
            for hold in state.holds.values()
        ),
        prompts=tuple(
            m.PromptSummary(
                prompt=prompt.id, kind=prompt.kind, role=prompt.role, clauses=prompt.clauses,
                slot=prompt.slot, deck=prompt.deck, seat=prompt.seat,
            )
            for prompt in state.prompts.values()
        ),
        slots={name: _slot(slot) for name, slot in state.slots.items()},
        decks={
            name: m.DeckSummary(state=deck.state, place=deck.place, verified=deck.verified)
            for name, deck in state.decks.items()
        },
        findings=findings,
    )  # fmt: skip


def _slot(slot: TableSlot) -> m.SlotService:
    if slot.return_procedure is None:
        return m.SlotService(kind=slot.kind, state=slot.state)
    return m.SlotService(
        kind=slot.kind, state=slot.state, testing=slot.return_procedure.testing, next_step=slot.return_procedure.step
    )


def describe_meters(money: ShownMoney | None, seq: int, at: str) -> m.MetersMessage | None:
    """Return the meters message; None if the table has no meter."""
    if money is None:
        return None
    shown, rules = money.meters, money.rules
    return m.MetersMessage(
        seq=seq, at=at, entry=money.entries, current=shown.current, reserve=shown.reserve, pending=shown.pending,
        paid_by_table=shown.paid_by_table, paid_by_attendant=shown.paid_by_attendant, rate_bp=rules.rate_bp,
        limit=rules.limit, display=format_dollars(shown.current), overflow=shown.overflow, closed=money.closed,
    )  # fmt: skip


def describe_links(slots: Mapping[str, AnySlot]) -> dict[str, m.LinkHealth]:
    """Return the health of every slot's link."""
    return {name: _link(slot) for name, slot in slots.items()}


def _link(slot: AnySlot) -> m.LinkHealth:
    supervisor, link = slot.supervisor, slot.supervisor.link
    code = "" if slot.cause is None else slot.cause.code
    if link is None:
        return m.LinkHealth(
            phase=supervisor.phase.value, failures=supervisor.failures, code=code, round_trip_ms=0.0, sent=0,
            received=0, retransmitted=0, gaps=0,
        )  # fmt: skip
    counted = link.counters
    return m.LinkHealth(
        phase=supervisor.phase.value, failures=supervisor.failures, code=code,
        round_trip_ms=round(link.round_trip_s * 1000, 3), sent=counted.sent, received=counted.received,
        retransmitted=counted.retransmitted, gaps=counted.gaps,
    )  # fmt: skip


def describe_copy(copy: CopyState | None) -> m.CopyHealth | None:
    """Return the health of the second copy; None if its state is unknown."""
    if copy is None:
        return None
    return m.CopyHealth(
        configured=copy.configured, acknowledged=0 if copy.ack is None else copy.ack.seq, behind=copy.behind,
        code="" if copy.problem is None else copy.problem[0], text=copy.sentence,
    )  # fmt: skip


def describe_health(
    uplink: m.UplinkHealth,
    links: dict[str, m.LinkHealth],
    disk: m.DiskHealth | None,
    copy: m.CopyHealth | None,
    clock: Clock,
) -> m.HealthMessage:
    """Return the health message."""
    at = m.instant(clock.now()[0])
    return m.HealthMessage(
        at=at, version=VERSION, uplink=uplink, links=links, disk=disk, copy=copy,
        clock=m.ClockHealth(synchronized=clock.is_clock_synchronized(), at=at),
    )  # fmt: skip
