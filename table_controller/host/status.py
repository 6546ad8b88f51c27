"""The status of a box as data: table, slots, permits, meters and second copy.

The panel, the CLI, the metrics page and fault reports all show this status.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from devices.service import IN_SERVICE
from firmware_bridge.version import VERSION
from table_controller.controller.kinds import CONTROLLER_KINDS
from table_controller.controller.kinds.controller_kind import COMMON_PERMITS
from table_controller.controller.supervise import TaskState
from table_controller.host.certificates import Certificate
from table_controller.host.notices import Notice
from table_controller.host.surroundings import UplinkStatus
from table_controller.journal.finding_log import LoggedFinding
from table_controller.journal.hit_log import LoggedHit
from table_controller.table.betting import seat_of
from table_controller.table.decisions import DenialReason, Prompt
from table_controller.table.state import Deck, Hold, Progressive, Round

if TYPE_CHECKING:
    from devices.driver import Driver
    from firmware_bridge.errors import PitboxError
    from table_controller.controller.box import Box
    from table_controller.controller.controller import Controller
    from table_controller.controller.slot import AnySlot
    from table_controller.table.core import Table

# The version of the protocol of the control socket; raised when an old client would misunderstand.
PROTOCOL: Final = 2
# The state of a slot that would be in service if the box were not locked or halted.
LOCKED: Final = "locked"


class Problem(msgspec.Struct, frozen=True):
    """An error for people."""

    code: str
    text: str


class LinkStatus(msgspec.Struct, frozen=True):
    """The quality of a link since it came up: round trip (us), frames, retransmissions and noise."""

    round_trip_us: int
    sent: int
    received: int
    retransmitted: int
    gaps: int
    noise: int  # damaged frames
    dropped: int  # bytes


class SlotStatus(msgspec.Struct, frozen=True):
    """One slot: its state at the table, and its link."""

    name: str
    kind: str
    state: str
    connected: bool
    port: str
    serial: str = ""
    firmware: str = ""
    deck: str | None = None
    cause: Problem | None = None  # why it is not connected
    link: LinkStatus | None = None
    testing: int | None = None  # in test mode: the fault report of the return to service, or 0 without one


class PermitStatus(msgspec.Struct, frozen=True):
    """One actuation and every reason against it; no reason means permitted."""

    act: str
    reasons: tuple[DenialReason, ...]
    slot: str | None = None
    deck: str | None = None


class MeterStatus(msgspec.Struct, frozen=True):
    """The amounts of the progressive system, in micro-dollars."""

    current: int
    reserve: int
    pending: int
    paid_by_table: int
    paid_by_attendant: int
    overflow: int = 0
    closed: str = ""  # why the meter is closed to play; empty while it is open
    seed: int = 0  # the amount after a reset
    signs: dict[str, str] = {}  # why each sign does not show the amount; empty if it does


class HoldStatus(msgspec.Struct, frozen=True):
    """An open hold, and how often it was escalated."""

    hold: Hold
    escalated: int


class CopyStatus(msgspec.Struct, frozen=True):
    """The second copy, with a sentence for people."""

    configured: bool
    words: str
    seq: int
    behind: int
    problem: Problem | None


class TableStatus(msgspec.Struct, frozen=True):
    """The state of the table, for people."""

    round: Round
    decks: dict[str, Deck]
    progressive: Progressive
    prompts: list[Prompt]
    holds: list[HoldStatus]
    permits: list[PermitStatus]
    meters: MeterStatus | None
    dealing: str
    shuffling: str
    start: str | None
    commands: int  # open commands
    last_hits: dict[str, list[LoggedHit]] = {}  # level -> hits, oldest first
    findings: list[LoggedFinding] = []  # important ones first


class BoxStatus(msgspec.Struct, frozen=True):
    """A whole box. `phase`: running, locked (its journal cannot be used), halted (it failed later), stopping."""

    protocol: int
    version: str
    table: str
    game: str
    phase: str
    cause: Problem | None
    boot: int
    seq: int  # the last step on disk
    started_ns: int
    now_ns: int
    dealer: str | None
    slots: list[SlotStatus]
    copy: CopyStatus
    tasks: list[TaskState]
    checks: list[tuple[str, str]]
    digests: dict[str, str]
    state: TableStatus | None
    unverified: bool = False  # a development table, which runs without an approval
    notices: list[Notice] = []  # for the technician, while the table plays on
    certificates: list[Certificate] = []
    uplink: UplinkStatus | None = None  # None: no broker is configured


def problem_of(error: PitboxError | None) -> Problem | None:
    """Return an error for people."""
    return None if error is None else Problem(error.code, str(error))


def status_of(box: Box) -> BoxStatus:
    """Return the status of a box."""
    controller = box.controller
    copy = box.copy_state
    copy_problem = None if copy.problem is None else Problem(*copy.problem)
    reach = 0 if copy.ack is None else copy.ack.seq
    dealer, around = box.dealer(), box.surroundings
    return BoxStatus(
        PROTOCOL, VERSION, box.plan.name, box.plan.edition.game, _phase(box), problem_of(box.cause), box.boot,
        0 if controller is None else controller.durable_seq, box.started_ns, box.clock.now()[0],
        None if dealer is None else dealer.credential, [_slot(box, slot) for slot in box.slots.values()],
        CopyStatus(copy.configured, copy.sentence, reach, copy.behind, copy_problem), list(box.tasks.states.values()),
        box.checks, box.digests, None if controller is None else _table(box, controller), box.plan.is_development,
        around.notices, around.certificates, None if around.uplink is None else around.uplink(),
    )  # fmt: skip


def _phase(box: Box) -> str:
    if box.is_stopping:
        return "stopping"
    if box.safe_mode is not None:
        return "locked"
    return "running" if box.cause is None else "halted"


def _slot(box: Box, slot: AnySlot) -> SlotStatus:
    known = box.controller.table.state.slots[slot.name] if box.controller is not None else None
    hello = slot.driver.reported.hello if slot.driver.reported is not None else None
    port = next(place.port for place in box.plan.slots if place.name == slot.name)
    state = box.service_state(slot.name)
    if state == IN_SERVICE and box.cause is not None:
        state = LOCKED  # the machine is good, but the box is locked
    return SlotStatus(
        slot.name, slot.kind.name, state, slot.view.connected, port,
        "" if hello is None else hello.serial, "" if hello is None else hello.firmware,
        None if known is None else known.deck, problem_of(slot.cause), link_of(slot.driver), box.testing.get(slot.name),
    )  # fmt: skip


def link_of(driver: Driver) -> LinkStatus | None:
    """Return the quality of the link of a driver; None without a link."""
    link = driver.link
    if link is None:
        return None
    counted, framed = link.counters, link.wire.framer.counters
    noise = framed.bad_stuffing + framed.bad_crc + framed.bad_header + framed.too_long
    return LinkStatus(
        round(link.round_trip_s * 1e6), counted.sent, counted.received, counted.retransmitted, counted.gaps, noise,
        framed.bytes_dropped,
    )  # fmt: skip


def _table(box: Box, controller: Controller) -> TableStatus:
    state = controller.table.state
    escalated = box.escalation.escalation_counts if box.escalation is not None else {}
    money = controller.shown_money
    return TableStatus(
        state.round, state.decks, state.progressive, list(state.prompts.values()),
        [HoldStatus(hold, escalated.get(hold.id, 0)) for hold in state.holds.values()], permits_of(controller.table),
        None if money is None else MeterStatus(
            **msgspec.structs.asdict(money.meters), closed=money.closed, signs=state.signs,
            seed=0 if controller.table.context.meter is None else controller.table.context.meter.seed,
        ),
        state.dealing, state.shuffling, state.start, len(state.commands), controller.last_hits.levels,
        controller.findings.list_by_severity(),
    )  # fmt: skip


def permits_of(table: Table) -> list[PermitStatus]:
    """Return the permits of every possible next actuation: of the round, and of each slot."""
    coming = table.context.next_deck()
    deck = None if coming is None else coming.name
    permits = [PermitStatus("open_bets", table.permit("open_bets", deck=deck), deck=deck)]
    for name, slot in table.state.slots.items():
        kind = CONTROLLER_KINDS[slot.kind]
        for act in (*kind.permits, *COMMON_PERMITS):
            held = table.deck_at(name)
            seat = seat_of(name) if kind.is_at_seats else None
            permits.append(PermitStatus(act, table.permit(act, name, held, seat=seat), name, held))
    return permits
