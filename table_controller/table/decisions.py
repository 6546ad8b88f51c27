"""Everything that a step can decide: commands to devices, prompts to people, deadlines, findings.

Carried out elsewhere.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from table_controller.ledger.money import Entry

Actuation = Literal[
    "shuffle", "eject", "clear_out", "load", "dispense", "start_round", "give_stub", "arm_dice", "draw", "open_bets",
    "light", "unlock", "pay", "return_to_service", "test",
]  # fmt: skip
# What people may be let do, by the same rows of reasons as machines: another method in place of a dead device, a device
# instead of another, cards into the rack, and what is done to the meter by hand.
Order = Literal[
    "method", "use", "collect", "correct_meter", "reset_meter", "change_meter", "close_meter", "open_meter",
    "transfer_overflow",
]  # fmt: skip
# What makes things safe needs no permit and waits for nothing.
FailSafe = Literal["stop", "lock"]


class Reason(msgspec.Struct, frozen=True):
    """Why an actuation is not permitted: a stable key, the clause, who may clear it and with what evidence."""

    key: str
    clause: str
    text: str
    clears: str
    evidence: str


class Decision(msgspec.Struct, frozen=True, tag=True):
    """Base of all decisions; journaled with the event that caused them."""


class Command(Decision, frozen=True):
    """Have a device do something. `safe`: at once, before anything is durable; else once durable and re-permitted."""

    id: int
    slot: str
    act: str  # an Actuation or a FailSafe
    number: int = 0  # cards to dispense, the round to open or to lock, the sequence of the bet to light
    safe: bool = False


class Prompt(Decision, frozen=True):
    """Ask a person. Only these choices are answers; the first one needs a number (`number`) or seats (`seats`)."""

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
    hold: int | None = None  # the irregularity that it belongs to
    least: int = 0  # the smallest number that is an answer
    most: int = 9999  # and the largest
    evidence: tuple[str, ...] = ()  # what an acknowledgement says was seen or done, in the rulebook's words


class PromptClosed(Decision, frozen=True):
    """A prompt was answered, or has lost its cause."""

    id: int
    choice: str | None = None


class Refused(Decision, frozen=True):
    """Something was asked for that may not be; every reason."""

    what: str
    reasons: tuple[Reason, ...]


class Deadline(Decision, frozen=True):
    """Send `Due(timer)` after so many seconds; a timer that is set again begins anew, None forgets it."""

    timer: str
    seconds: float | None


class Moved(Decision, frozen=True):
    """The round, a deck, a slot or the progressive is in another state."""

    what: str
    state: str


class Found(Decision, frozen=True):
    """An irregularity, by its ruling: what the rule orders, and the clauses that order it."""

    hold: int
    trigger: str
    outcomes: tuple[str, ...]
    clauses: tuple[str, ...]
    slot: str | None = None
    deck: str | None = None
    seat: int | None = None


class Cleared(Decision, frozen=True):
    """An irregularity has been carried out and acknowledged, by whom."""

    hold: int
    credential: str


class Finding(Decision, frozen=True):
    """Something that people must be able to find again: affected rounds, a card that is missing, a migrated card."""

    kind: str
    text: str
    deck: str | None = None
    rounds: tuple[int, ...] = ()


class WagersReturned(Decision, frozen=True):
    """All wagers of a void round go back, but for those that are still settled; with `seat`, those of one hand.

    Of one hand, `kept` do not go back: they are collected (O9).
    """

    round: int
    settled: tuple[str, ...]
    clauses: tuple[str, ...]
    seat: int | None = None
    kept: tuple[str, ...] = ()


# --- money ------------------------------------------------------------------------------------------------------------


class Booked(Decision, frozen=True):
    """Money moved; base of everything that moves any, so that the entries of all decisions are the whole book."""

    entry: Entry


class BetAccepted(Booked, frozen=True):
    """A latched bet counts, and this is what it adds: one decision, so that one record holds both or neither."""

    round: int
    seat: int
    amount: int


class BetReturned(Booked, frozen=True):
    """A bet of a void round or hand goes back, and with it what it had added."""

    round: int
    seat: int
    amount: int
    clauses: tuple[str, ...]


class BetSettled(Decision, frozen=True):
    """A bet is lost: what it added stays where it is. Or it is won, and a hit was claimed for it."""

    round: int
    seat: int
    outcome: Literal["lost", "won"]
    clauses: tuple[str, ...]


class HitClaimed(Booked, frozen=True):
    """A hand was claimed: its amount is out of the meter, which was re-seeded if it was won whole.

    A share of the meter is provisional until every earlier claim on it is validated or withdrawn.
    """

    hit: int
    round: int
    seat: int
    hand: str
    fixed: int
    share: int
    final: bool = True  # no earlier claim can change it any more


class HitRebooked(Booked, frozen=True):
    """A claim has these amounts from now on: an earlier claim fell, or a bet of the round went back."""

    hit: int
    round: int
    seat: int
    hand: str
    fixed: int
    share: int
    final: bool = True  # no earlier claim can change it any more


class MeterSet(Decision, frozen=True):
    """The meter's parameters are others from now on; no money moved."""

    rate_bp: int
    limit: int
    document: str
    credentials: tuple[str, str]
    submission: str = ""  # the Rules Submission that holds a new rate
    accounts: dict[str, int] = {}  # what every account held then; they sum to zero


class MeterPlay(Decision, frozen=True):
    """The meter is closed to play, or open again; no money moved. `cause` is why it was closed.

    `accounts` is what every account held then: they sum to zero, or the meter is not opened.
    """

    open: bool
    cause: str
    accounts: dict[str, int]
    document: str = ""
    credentials: tuple[str, ...] = ()
