"""Selects the messages about the table's state, its meters and the box's health from the picture of the box."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from firmware_bridge.version import VERSION
from table_controller.ledger.money import format_dollars
from table_controller.picture.types import PICTURE_VERSION, LinkPicture
from table_controller.uplink import messages as m
from table_controller.uplink.event_mapping import blocking_reason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from table_controller.controller.clock import Clock
    from table_controller.journal.finding_log import LoggedFinding
    from table_controller.picture.types import (
        CopyPicture,
        HoldPicture,
        MachinePicture,
        ProblemPicture,
        SlotPicture,
        TablePicture,
    )

# Findings in the retained state, which is sent again with every change.
MAX_FINDINGS: Final = 20


def describe_locked(game: str, chapter: str, cause: ProblemPicture | None, at: str) -> m.StateMessage:
    """Return the state message of a box that is locked because it cannot use its journal."""
    return m.StateMessage(
        seq=0, at=at, game=game, chapter=chapter, round=0, phase="locked", dealing="", shuffling="", progressive="",
        halted=_halt(cause), blocked_by=(), holds=(), prompts=(), slots={}, decks={}, picture=PICTURE_VERSION,
    )  # fmt: skip


def _halt(cause: ProblemPicture | None) -> m.HaltSummary | None:
    return None if cause is None else m.HaltSummary(cause.code, cause.text)


def describe_state(table: TablePicture, halted: ProblemPicture | None, at: str) -> m.StateMessage:
    """Return the state message of a running table."""
    return m.StateMessage(
        seq=table.seq,
        at=at,
        game=table.rules.game,
        chapter=table.rules.chapter,
        round=table.round.number,
        phase=table.round.state,
        dealing=table.dealing,
        shuffling=table.shuffling,
        progressive=table.progressive.state,
        halted=_halt(halted),
        blocked_by=() if table.under_way else tuple(blocking_reason(reason) for reason in table.next_round),
        holds=tuple(_hold(each) for each in table.holds),
        prompts=tuple(
            m.PromptSummary(
                prompt=prompt.id, kind=prompt.kind, role=prompt.role, clauses=prompt.clauses,
                slot=prompt.slot, deck=prompt.deck, seat=prompt.seat,
            )
            for prompt in table.prompts
        ),
        slots={name: _slot(slot) for name, slot in table.slots.items()},
        decks={
            name: m.DeckSummary(state=deck.state, place=deck.place, verified=deck.verified)
            for name, deck in table.decks.items()
        },
        findings=tuple(_finding(one) for one in table.findings[:MAX_FINDINGS]),
        picture=PICTURE_VERSION,
    )  # fmt: skip


def _hold(each: HoldPicture) -> m.HoldSummary:
    hold = each.hold
    return m.HoldSummary(
        hold=hold.id, trigger=hold.trigger, clauses=hold.clauses, outcomes=hold.outcomes, steps=tuple(hold.steps),
        acknowledges=hold.acknowledges, this_round=hold.this_round, slot=hold.slot, deck=hold.deck, seat=hold.seat,
        escalated=each.escalated,
    )  # fmt: skip


def _slot(slot: SlotPicture) -> m.SlotService:
    return m.SlotService(
        kind=slot.kind, state=slot.state, testing=slot.testing is not None, next_step=slot.next_step
    )  # fmt: skip


def _finding(one: LoggedFinding) -> m.FindingSummary:
    """Return a finding without its text, which may name people."""
    return m.FindingSummary(
        record=one.seq, at=m.instant(one.wall_ns), kind=one.kind, severity=one.severity, rounds=one.rounds
    )  # fmt: skip


def describe_meters(table: TablePicture, at: str) -> m.MetersMessage | None:
    """Return the meters message, as players may see it; None if the table has no meter."""
    shown = table.meters
    if shown is None:
        return None
    return m.MetersMessage(
        seq=table.seq, at=at, entry=shown.entry, current=shown.public_current, reserve=shown.public_reserve,
        pending=shown.public_pending,
        paid_by_table=shown.paid_by_table, paid_by_attendant=shown.paid_by_attendant, rate_bp=shown.rate_bp,
        limit=shown.limit, display=format_dollars(shown.public_current), overflow=shown.overflow, closed=shown.closed,
    )  # fmt: skip


def describe_links(machines: Sequence[MachinePicture]) -> dict[str, m.LinkHealth]:
    """Return the health of every device's link."""
    return {machine.name: _link(machine) for machine in machines}


def _link(machine: MachinePicture) -> m.LinkHealth:
    link = machine.link or LinkPicture()
    return m.LinkHealth(
        phase=machine.phase, failures=machine.failures, code="" if machine.cause is None else machine.cause.code,
        round_trip_ms=round(link.round_trip_us / 1000, 3), sent=link.sent, received=link.received,
        retransmitted=link.retransmitted, gaps=link.gaps,
    )  # fmt: skip


def describe_copy(copy: CopyPicture) -> m.CopyHealth:
    """Return the health of the second copy."""
    return m.CopyHealth(
        configured=copy.configured, acknowledged=copy.seq, behind=copy.behind,
        code="" if copy.problem is None else copy.problem.code, text=copy.words,
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
