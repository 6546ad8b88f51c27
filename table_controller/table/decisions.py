"""Every decision that a step can return: commands to devices, prompts to people, timers, findings.

The controller carries them out. `Decision` is the closed union of them; mypy fails where a case of it is missing.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from table_controller.ledger.money import MoneyEntry
from table_controller.table.return_steps import Evidence, ReturnStep

Actuation = Literal[
    "shuffle", "eject", "insert", "clear_out", "load", "dispense", "start_round", "give_stub", "arm_dice", "draw",
    "open_bets", "light", "unlock", "pay", "return_to_service", "test", "release_cards",
]  # fmt: skip
# What people need a permit for, by the same rows of reasons: another method in place of a device that is out of order,
# the return to a device's method, collecting cards into the rack, and adjusting the meter.
Order = Literal[
    "method", "use", "collect", "correct_meter", "reset_meter", "change_meter", "close_meter", "open_meter",
    "transfer_overflow",
]  # fmt: skip
# What becomes of a wager; returned: its hand is void.
Outcome = Literal["wins", "loses", "pushes", "returned"]
# Fail-safe commands need no permit and are sent at once.
FailSafe = Literal["stop", "lock"]


class DenialReason(msgspec.Struct, frozen=True):
    """Why an actuation is not permitted: a stable key, the clause, who can clear it and how."""

    key: str
    clause: str
    text: str
    clears: str
    evidence: str


class BaseDecision(msgspec.Struct, frozen=True, tag=True):
    """Base of all decisions; journaled with the event that caused them."""


class DealtCards(msgspec.Struct, frozen=True):
    """Which cards a shoe dealt to one place: those of a stack, or cards of a round that hands drew from it."""

    dealt_by: int  # the command that dealt the stack, or that began the round
    cards: tuple[int, ...] = ()  # the numbers of the cards in their round; none: the whole stack


class Command(BaseDecision, frozen=True):
    """A command to a device. `safe`: sent at once; else sent after it is durable and permitted again."""

    id: int
    slot: str
    act: str  # an Actuation or a FailSafe
    # Cards to dispense, the round to open or to lock, the sequence of the bet to light, the place of cards to release.
    number: int = 0
    safe: bool = False
    dealt: DealtCards | msgspec.UnsetType = msgspec.UNSET  # the cards to release


class Proposal(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the rules decide about one wager by the cards that are known."""

    wager: str
    outcome: Outcome
    hand: str  # in words
    clauses: tuple[str, ...]
    line: str = ""  # of the paytable, as printed
    odds: tuple[int, int] | None = None
    fixed_cents: int = 0
    paid_cents: int | None = None  # in addition to the wager, after any payout limit; None: its amount is not known
    envy_to: int | None = None  # an envy bonus: the seat that is paid,
    envy_of: int | None = None  # and the seat whose hand pays it


class Prompt(BaseDecision, frozen=True):
    """A question to a person. Only `choices` are answers; the first needs a number (`number`) or seats (`seats`)."""

    id: int
    kind: str
    role: str
    choices: tuple[str, ...]
    clauses: tuple[str, ...] = ()
    slot: str | None = None
    deck: str | None = None
    seat: int | None = None
    number: bool = False
    seats: bool = False
    hold: int | None = None  # the hold that it belongs to
    least: int = 0  # the smallest number that is an answer
    most: int = 9999  # and the largest
    evidence: tuple[str, ...] = ()  # what the person confirms by the answer, in the rulebook's words
    proposals: tuple[Proposal, ...] = ()  # what the person confirms or disputes
    shows: str = ""  # what the person compares with the table


class PromptClosed(BaseDecision, frozen=True):
    """A prompt was answered, or is no longer needed."""

    id: int
    choice: str | None = None


class RequestRefused(BaseDecision, frozen=True):
    """A request was refused, with every reason."""

    what: str
    reasons: tuple[DenialReason, ...]


class Deadline(BaseDecision, frozen=True):
    """Send `Due(timer)` after so many seconds; setting a timer again restarts it, None cancels it."""

    timer: str
    seconds: float | None


class StateChanged(BaseDecision, frozen=True):
    """The round, a deck, a slot, the progressive or a hit changed its state."""

    what: str
    state: str


class HoldOpened(BaseDecision, frozen=True):
    """A hold opened for an irregularity: the outcomes that the ruling orders, and its clauses."""

    hold: int
    trigger: str
    outcomes: tuple[str, ...]
    clauses: tuple[str, ...]
    slot: str | None = None
    deck: str | None = None
    seat: int | None = None


class HoldCleared(BaseDecision, frozen=True):
    """A hold ended: its steps are done, and `credential` acknowledged it."""

    hold: int
    credential: str


class Finding(BaseDecision, frozen=True):
    """A fact that people must be able to look up later: affected rounds, a missing card, a migrated card."""

    kind: str
    text: str
    deck: str | None = None
    rounds: tuple[int, ...] = ()


class WagersReturned(BaseDecision, frozen=True):
    """All wagers of a void round are returned, except those still settled; with `seat`, those of one hand.

    For one hand, the wagers in `kept` are collected, not returned (O9).
    """

    round: int
    settled: tuple[str, ...]
    clauses: tuple[str, ...]
    seat: int | None = None
    kept: tuple[str, ...] = ()


class WagerSettled(BaseDecision, frozen=True):
    """A wager was settled by what the rules decide of it, or as the dealer stated (`hand` is then empty).

    `cards`: those of the seat, then the dealer's, as far as they were known.
    """

    round: int
    seat: int
    result: Proposal
    cards: tuple[str, str] = ("", "")


# --- return to service ------------------------------------------------------------------------------------------------


class ReturnBegan(BaseDecision, frozen=True):
    """A return to service began: with a machine fault (`by` is empty), or by a person."""

    report: int
    slot: str
    by: str
    service: bool  # a technician must work on it; otherwise table staff may clear it
    expected: int | None
    has_door: bool
    motors: tuple[str, ...] = ()  # motors that can be jogged; none if the firmware cannot


class TechnicianAssigned(BaseDecision, frozen=True):
    """A technician was assigned; `mode` is the machine's mode before, to be restored at the end."""

    report: int
    by: str
    mode: str = ""


class TechnicianLeft(BaseDecision, frozen=True):
    """The assigned technician left; completed steps are kept."""

    report: int
    by: str


class EvidenceShown(BaseDecision, frozen=True):
    """Part of a step's evidence arrived."""

    report: int
    by: str
    evidence: Evidence


class StepCompleted(BaseDecision, frozen=True):
    """A step was completed by this evidence."""

    report: int
    step: ReturnStep
    by: str
    evidence: Evidence


class StepsUndone(BaseDecision, frozen=True):
    """This step and all later ones must be done again."""

    report: int
    step: ReturnStep
    why: str


class TestModeChanged(BaseDecision, frozen=True):
    """A machine entered or left test mode; after it left, the box restores its `mode`, if it has modes."""

    slot: str
    testing: bool
    mode: str = ""


# --- money ------------------------------------------------------------------------------------------------------------


class Booked(BaseDecision, frozen=True):
    """Money moved. Base of every decision that moves money, so that their entries are the whole book."""

    entry: MoneyEntry


class BetAccepted(Booked, frozen=True):
    """A latched bet counts, with its contribution in the same decision, so that one record has both or neither."""

    round: int
    seat: int
    amount: int


class BetReturned(Booked, frozen=True):
    """A bet of a void round or hand is returned, and its contribution is reversed."""

    round: int
    seat: int
    amount: int
    clauses: tuple[str, ...]


class BetSettled(BaseDecision, frozen=True):
    """A bet is lost, and its contribution stays in the meter; or it is won, and a hit was claimed for it."""

    round: int
    seat: int
    outcome: Literal["lost", "won"]
    clauses: tuple[str, ...]


class HitClaimed(Booked, frozen=True):
    """A hand was claimed: its amount has left the meter, which is re-seeded if all of it was won.

    A share of the meter is provisional until every earlier claim on it is validated or withdrawn.
    """

    hit: int
    round: int
    seat: int
    hand: str
    fixed: int
    share: int
    final: bool = True  # no earlier claim can change it


class HitRebooked(Booked, frozen=True):
    """A claim has new amounts, because an earlier claim was withdrawn or a bet of the round was returned."""

    hit: int
    round: int
    seat: int
    hand: str
    fixed: int
    share: int
    final: bool = True  # no earlier claim can change it


class MeterSet(BaseDecision, frozen=True):
    """The meter's parameters changed; no money moved."""

    rate_bp: int
    limit: int
    document: str
    credentials: tuple[str, str]
    submission: str = ""  # the Rules Submission that states a new rate
    accounts: dict[str, int] = {}  # the balance of every account then; they sum to zero


class MeterPlay(BaseDecision, frozen=True):
    """The meter is closed to play, or open again; no money moved. `cause` is why it was closed.

    `accounts` is the balance of every account then. They sum to zero, or the meter is not opened.
    """

    open: bool
    cause: str
    accounts: dict[str, int]
    document: str = ""
    credentials: tuple[str, ...] = ()


# Every decision. Those that move money are also a `Booked`.
Decision = (
    Command | Prompt | PromptClosed | RequestRefused | Deadline | StateChanged | HoldOpened | HoldCleared | Finding
    | WagersReturned | Booked | BetAccepted | BetReturned | BetSettled | HitClaimed | HitRebooked | MeterSet
    | MeterPlay | ReturnBegan | TechnicianAssigned | TechnicianLeft | EvidenceShown | StepCompleted | StepsUndone
    | TestModeChanged | WagerSettled
)  # fmt: skip
