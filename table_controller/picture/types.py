"""The picture of a table: everything that status, pages, MQTT, terminal, metrics and fault reports show of it.

Views select from a picture. No view asks the core for a permit of its own.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from table_controller.controller.supervise import TaskState
from table_controller.host.certificates import Certificate
from table_controller.host.notice_watch import UplinkStatus
from table_controller.host.notices import Notice
from table_controller.journal.finding_log import LoggedFinding
from table_controller.journal.hit_log import LoggedHit
from table_controller.table.decisions import DenialReason, Prompt
from table_controller.table.return_progress import ReturnProgress
from table_controller.table.state import Deck, Hold, Progressive, Round

# Raised when a field is removed or renamed, or changes its meaning. A new field does not raise it.
PICTURE_VERSION: Final = 1
# The state of a slot that would be in service if the box were not locked or halted.
LOCKED: Final = "locked"


# --- the table, after a step ------------------------------------------------------------------------------------------


class RulesPicture(msgspec.Struct, frozen=True):
    """What does not change while the box runs: game, seats, decks, and the hands that the meter pays."""

    game: str
    title: str
    chapter: str
    seats: int
    most_decks: int
    two_jokers: bool  # a pack has two jokers, and one is removed
    one_shuffle_per_shoe: bool  # one batch serves many rounds
    cards: int  # of a whole deck or batch
    first_deal: int  # cards that each place gets in the deal
    dice_hours: int | None  # the longest use of dice; None: the game has none
    hands: dict[str, str]  # the hands of the progressive paytable, as it prints them
    hand_cards: int = 0  # cards of a whole hand
    split: tuple[int, ...] = ()  # the sizes of the hands that a player sets, the highest first
    joker: bool = False
    wagers: dict[str, str] = {}  # the wagers that are offered, with their names for people


class DeckPicture(Deck):
    """A deck or batch with its change interval: its hours in the present dealing method, and whether it has passed."""

    hours: int = 0
    expired: bool = False


class TestPicture(msgspec.Struct, frozen=True):
    """What a technician can do about test mode without a fault, with every reason against it."""

    __test__ = False  # not a test class of pytest

    act: Literal["begin", "leave"]
    reasons: tuple[DenialReason, ...] = ()


class SlotPicture(msgspec.Struct, frozen=True):
    """A device's place as the core knows it. `next_step`: the next step of its return to service, in words.

    `returning`: its open return to service; None if none is open, or its fault is still being recorded.
    """

    kind: str
    state: str
    deck: str | None = None
    testing: int | None = None  # in test mode: the fault report of the return to service, or 0 without one
    next_step: str = ""
    returning: ReturnProgress | None = None
    test: TestPicture | None = None  # None: test mode is not offered


class PlacePicture(msgspec.Struct, frozen=True):
    """One place at the table; place 0 is the dealer."""

    place: int
    cards: str  # none, waits, slot (the stack is in the delivery slot), dealt
    wager: str = "none"  # none, wager, settled, dead
    bet: str = "none"  # the progressive bet: none, open, sensed, accepted, lit, undecided
    decided: str = ""  # what the player chose in this round
    hand: str = ""  # its known cards
    setting: str = ""  # how its player set them: the hands with bars between them, the highest first
    may_enter: bool = False  # its cards may be entered now


class WorkPicture(msgspec.Struct, frozen=True):
    """A command that a device has not finished."""

    slot: str
    act: str


class TaskPicture(msgspec.Struct, frozen=True):
    """What the dealer must do without a prompt, because a device detects when it is done."""

    do: str  # deal_stack, shake_dice, load_shuffler
    place: int | None = None
    deck: str | None = None


class PermitPicture(msgspec.Struct, frozen=True):
    """One actuation and every reason against it; no reason means permitted."""

    act: str
    reasons: tuple[DenialReason, ...]
    slot: str | None = None
    deck: str | None = None


class HoldPicture(msgspec.Struct, frozen=True):
    """An open hold, and how often it was escalated."""

    hold: Hold
    escalated: int


class HitPicture(msgspec.Struct, frozen=True):
    """A hit of this round that is not withdrawn. `final`: no earlier claim can change its amount any more.

    `public`: a floorperson has validated it, so players may see it.
    """

    seat: int
    hand: str
    amount: int
    state: str
    final: bool
    public: bool = False


class MeterPicture(msgspec.Struct, frozen=True):
    """The progressive system after the last step on disk; amounts in micro-dollars."""

    current: int
    reserve: int
    pending: int
    paid_by_table: int
    paid_by_attendant: int
    overflow: int = 0
    closed: str = ""  # why the meter is closed to play; empty while it is open
    seed: int = 0  # the amount after a reset
    signs: dict[str, str] = {}  # why each sign does not show the amount; empty if it does
    entry: int = 0  # the number of the last entry of the book
    rate_bp: int = 0  # of each bet into the meter, in hundredths of a percent
    limit: int = 0
    hits: tuple[HitPicture, ...] = ()
    next_slip: int = 1  # the next free number of a hand pay's slip
    # The same for players: as if the hits that no floorperson has validated had not been claimed.
    public_current: int = 0
    public_reserve: int = 0
    public_pending: int = 0

    @property
    def paid(self) -> int:
        """The total of all payments."""
        return self.paid_by_table + self.paid_by_attendant


class TablePicture(msgspec.Struct, frozen=True):
    """The table after step `seq`, the last one on disk. `on_disk`: false while the core is ahead of the disk.

    Amounts are always those on disk.
    """

    seq: int
    on_disk: bool
    rules: RulesPicture
    round: Round
    under_way: bool  # a round is neither idle nor complete nor void
    decks: dict[str, DeckPicture]
    progressive: Progressive
    places: list[PlacePicture]  # the dealer, then the seats
    prompts: list[Prompt]
    holds: list[HoldPicture]
    permits: list[PermitPicture]  # of every next actuation; the first is the next round
    slots: dict[str, SlotPicture]
    work: list[WorkPicture]
    task: TaskPicture | None
    meters: MeterPicture | None
    dealing: str
    shuffling: str
    start: str | None
    commands: int  # open commands
    dice: str  # none, fresh, doubtful, expired
    button: int  # the position where the flat button must be
    last_hits: dict[str, list[LoggedHit]] = {}  # level -> hits, oldest first
    findings: list[LoggedFinding] = []  # important ones first
    optional: dict[str, tuple[int, ...]] = {}  # optional wagers that may be entered now, with the seats that have them

    @property
    def next_round(self) -> tuple[DenialReason, ...]:
        """Every reason why the next round cannot open."""
        return self.permits[0].reasons

    @property
    def open_returns(self) -> dict[int, ReturnProgress]:
        """Every open return to service, by the number of its fault report."""
        returning = [slot.returning for slot in self.slots.values() if slot.returning is not None]
        return {progress.fault_report: progress for progress in returning}

    def reasons_against(self, act: str, slot: str) -> tuple[DenialReason, ...]:
        """Return every reason against an act of a device."""
        return next(each.reasons for each in self.permits if (each.act, each.slot) == (act, slot))


# --- the box, now -----------------------------------------------------------------------------------------------------


class ProblemPicture(msgspec.Struct, frozen=True):
    """An error for people."""

    code: str
    text: str


class LinkPicture(msgspec.Struct, frozen=True):
    """The quality of a link since it came up: round trip (us), frames, retransmissions and noise."""

    round_trip_us: int = 0
    sent: int = 0
    received: int = 0
    retransmitted: int = 0
    gaps: int = 0
    noise: int = 0  # damaged frames
    dropped: int = 0  # bytes
    late_replies: int = 0


class MachinePicture(msgspec.Struct, frozen=True):
    """One device: its place at the table, its identity and its link."""

    name: str
    kind: str
    state: str
    connected: bool
    port: str
    serial: str = ""
    firmware: str = ""
    deck: str | None = None
    cause: ProblemPicture | None = None  # why it is not connected
    link: LinkPicture | None = None
    testing: int | None = None  # in test mode: the fault report of the return to service, or 0 without one
    next_step: str = ""  # of its return to service
    model: str = ""
    phase: str = ""  # of its connection
    failures: int = 0  # failed attempts to connect


class CopyPicture(msgspec.Struct, frozen=True):
    """The second copy, with a sentence for people."""

    configured: bool
    words: str
    seq: int
    behind: int
    problem: ProblemPicture | None


class BoxPicture(msgspec.Struct, frozen=True):
    """A whole box. `phase`: running, locked (its journal cannot be used), halted (it failed later), stopping."""

    protocol: int  # of the control socket
    version: str
    table: str
    game: str
    phase: str
    cause: ProblemPicture | None
    boot: int
    seq: int  # the last step on disk
    started_ns: int
    now_ns: int
    dealer: str | None
    slots: list[MachinePicture]
    copy: CopyPicture
    tasks: list[TaskState]
    checks: list[tuple[str, str]]
    digests: dict[str, str]
    state: TablePicture | None  # None: the box is locked
    unverified: bool = False  # a development table, which runs without an approval
    notices: list[Notice] = []  # for the technician, while the table plays on
    certificates: list[Certificate] = []
    uplink: UplinkStatus | None = None  # None: no broker is configured
    picture: int = PICTURE_VERSION
    left_s: dict[str, float] = {}  # seconds until each running deadline


def picture_in(answer: Any) -> BoxPicture:
    """Return the picture in an answer of the control socket."""
    return msgspec.convert(answer, BoxPicture, str_keys=True)
