"""Every event that the core accepts: people's entries, device reports, ends of commands, timers that ran out.

`Event` is the closed union of them; mypy fails where a case of it is missing.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from table_controller.table.return_steps import MachineEvidence, Requirements, ReturnStep

Role = Literal["dealer", "floorperson", "technician", "auditor"]


class BaseEvent(msgspec.Struct, frozen=True, tag=True):
    """Base of all events; the journal keeps them unchanged. An event belongs to one union at the end of this file."""


class Person(msgspec.Struct, frozen=True):
    """A person who acts: a role, proved by a credential. One person may hold several credentials."""

    role: Role
    credential: str
    person: str = ""  # the holder's name in the people file; empty: the credential identifies the person

    @property
    def identity(self) -> str:
        """The person behind the credential, in the form used to compare two people."""
        return (self.person or self.credential).casefold()

    def is_same_person(self, other: Person) -> bool:
        """Return whether two credentials belong to one person, who cannot act as the two people a rule requires."""
        return self.identity == other.identity


# --- people ----------------------------------------------------------------------------------------------------------


class DeckReceived(BaseEvent, frozen=True):
    """A deck (or batch) was brought to the table; its back color is its name."""

    deck: str
    who: Person
    preshuffled: bool = False
    two_jokers: bool = False
    maker: str = ""  # as printed on the package, for the receipt


class OpenRound(BaseEvent, frozen=True):
    """The dealer is ready for wagers."""

    who: Person


class NoMoreBets(BaseEvent, frozen=True):
    """The dealer calls no more bets (or, where the regulation has no call, is about to deal the first card)."""

    who: Person


class Answer(BaseEvent, frozen=True):
    """A person answers a prompt with one of its choices, and a number or seats where it asks for them."""

    prompt: int
    choice: str
    who: Person
    number: int | None = None
    seats: tuple[int, ...] = ()


class IrregularityReported(BaseEvent, frozen=True):
    """A person reports what no device can detect: an irregularity, or a player who leaves or surrenders."""

    trigger: str
    who: Person
    seat: int | None = None
    deck: str | None = None
    slot: str | None = None


class Ordered(BaseEvent, frozen=True):
    """A floorperson gives an order that the rules allow."""

    order: Literal[
        "reshuffle", "recut", "remove_deck", "table_idle", "dealing_method", "start_method", "shuffle_by_hand",
        "shuffle_by_machine", "readmit",
    ]  # fmt: skip
    who: Person
    deck: str | None = None
    method: str | None = None  # with dealing_method and start_method
    seat: int | None = None  # with readmit


class DealerChanged(BaseEvent, frozen=True):
    """Another dealer takes over."""

    who: Person


class SlotOrdered(BaseEvent, frozen=True):
    """A person acts on a device: takes it out of service, signs it, repairs it, clears its fault, or returns it."""

    slot: str
    act: Literal["give_up", "sign", "repair", "clear", "acknowledge"]
    who: Person


class MeterCorrected(BaseEvent, frozen=True):
    """Two people correct the meter by an amount (micro-dollars, up or down), on a ground and for a reason.

    `ground` and `reason` come from closed lists (`meter_adjustments.GROUNDS`). A transfer also names, as
    `counterpart`, the other meter's document.
    """

    amount: int
    document: str
    who: Person
    second: Person
    ground: str = ""
    reason: str = ""
    counterpart: str = ""


class MeterReset(BaseEvent, frozen=True):
    """Two people reset the meter to its seed, on the same grounds as a correction by the same amount."""

    document: str
    who: Person
    second: Person
    ground: str = ""
    reason: str = ""
    counterpart: str = ""


class MeterParameters(BaseEvent, frozen=True):
    """Two people set what the regulation leaves open: the rate of progression, and the meter's limit.

    A new rate names the Rules Submission that states it.
    """

    document: str
    who: Person
    second: Person
    rate_bp: int | None = None
    limit_cents: int | None = None
    submission: str = ""


class MeterClosed(BaseEvent, frozen=True):
    """Two people close the meter to play: no round opens until two people open it again."""

    document: str
    who: Person
    second: Person


class MeterOpened(BaseEvent, frozen=True):
    """Two people open the meter to play again."""

    document: str
    who: Person
    second: Person


class OverflowTransferred(BaseEvent, frozen=True):
    """Two people transfer an amount of the overflow (micro-dollars) back to the meter."""

    amount: int
    document: str
    who: Person
    second: Person


class DeviceEnrolled(BaseEvent, frozen=True):
    """A technician and a floorperson enroll the device of a key in a slot; `replaces` is the key that is revoked.

    A key is identified by its device's serial number and by a fingerprint, from which the key cannot be computed.
    """

    slot: str
    serial: str
    fingerprint: str
    who: Person
    second: Person
    replaces: tuple[str, str] | None = None


class KeysRevoked(BaseEvent, frozen=True):
    """Keys (serial number, fingerprint) that were revoked before the journal recorded revocations."""

    keys: tuple[tuple[str, str], ...]


class HandEntered(BaseEvent, frozen=True):
    """The dealer enters the cards of a place that are face up, in their notation; place 0 is the dealer's."""

    place: int
    cards: str
    who: Person


class SettingEntered(BaseEvent, frozen=True):
    """The dealer enters how the hands of a place are set: their cards, highest hand first, with bars between the hands.

    Place 0 is the dealer's, whose hand is set in the house way.
    """

    place: int
    hands: str
    who: Person


class HouseWayAsked(BaseEvent, frozen=True):
    """A player asks the dealer to set the hand in the house way."""

    seat: int
    who: Person


class ReplacementEntered(BaseEvent, frozen=True):
    """The dealer enters the card that replaces a player's joker."""

    card: str
    who: Person


class AmountEntered(BaseEvent, frozen=True):
    """The dealer enters the amount (cents) of a seat's wager."""

    wager: str
    seat: int
    cents: int
    who: Person


class OptionalWagerEntered(BaseEvent, frozen=True):
    """The dealer enters exactly the seats that have an optional wager that no question asks for; empty: nobody."""

    wager: str
    seats: tuple[int, ...]
    who: Person


class SeatsSettled(BaseEvent, frozen=True):
    """The dealer settles a wager of several seats at once: those that win, lose and push.

    `wager` is an optional one; empty: the main wagers.
    """

    who: Person
    wins: tuple[int, ...] = ()
    loses: tuple[int, ...] = ()
    pushes: tuple[int, ...] = ()
    wager: str = ""


# --- devices ---------------------------------------------------------------------------------------------------------


class SlotChanged(BaseEvent, frozen=True):
    """A device connected, disconnected, sent a good report, became doubtful or faulted (see `devices.service`)."""

    slot: str
    trigger: Literal["appear", "vanish", "verify", "doubt", "fault"]
    reason: int = 0


class ReturnStepChanged(BaseEvent, frozen=True):
    """The next step of a return to service as text: in journals of record versions 1 and 2; no box submits it now."""

    slot: str
    fault_report: int
    step: str
    testing: bool = False


class CardsInserted(BaseEvent, frozen=True):
    """Cards are in a shuffler's intake."""

    slot: str


class CardsBehindGate(BaseEvent, frozen=True):
    """A shuffler reports cards behind its gate."""

    slot: str


class IntakeEmptied(BaseEvent, frozen=True):
    """A shuffler's intake is empty: hands took the cards out again, or its cycle took them in."""

    slot: str


class ShuffleEnded(BaseEvent, frozen=True):
    """A cycle finished. `shuffled` is False if it was a sort; `rejected`: the machine read a wrong deck.

    `count` is None if the machine does not count. A continuous shuffler counts its whole store.
    """

    slot: str
    count: int | None
    shuffled: bool
    rejected: bool = False


class ShuffleFailed(BaseEvent, frozen=True):
    """A cycle did not finish: jam, stop, double feed, counts that disagree. `inside` is None if unknown."""

    slot: str
    reason: int
    inside: int | None


class DeckGivenOut(BaseEvent, frozen=True):
    """A shuffler gave out a deck."""

    slot: str


class StackInserted(BaseEvent, frozen=True):
    """A shuffler pushed its stack into the dealing shoe. `count` left the shuffler, None if unknown.

    Only the shoe reports what it received.
    """

    slot: str
    count: int | None


class DiscardsTakenIn(BaseEvent, frozen=True):
    """A continuous shuffler took discards back into its store, counted."""

    slot: str
    count: int


class ShoeLoaded(BaseEvent, frozen=True):
    """A shoe has taken a deck in and counted it (None: it cannot count)."""

    slot: str
    count: int | None


class ShoeEmpty(BaseEvent, frozen=True):
    """A shoe reports that it is empty; people may have emptied it without a report."""

    slot: str


class StackOut(BaseEvent, frozen=True):
    """A stack (from a continuous shuffler: cards into its chute) was dispensed; the sensor counted it."""

    slot: str
    count: int
    face_up: int = 0  # how many of them are face up


class StackTaken(BaseEvent, frozen=True):
    """The dealer took the stack from the delivery slot."""

    slot: str


class CardsDrawn(BaseEvent, frozen=True):
    """Cards were drawn from a manual shoe since the deal began, counted by its sensor."""

    slot: str
    count: int
    reported: bool = False  # read from a status report, as after a reconnect: not a sign that cards were just drawn


class StubOut(BaseEvent, frozen=True):
    """The shoe gave out its stub, counted."""

    slot: str
    count: int


class ShoeIdentifies(BaseEvent, frozen=True):
    """A shoe reports that it identifies the cards that it deals."""

    slot: str


class HandReleased(BaseEvent, frozen=True):
    """A shoe released cards of one place that the procedure exposed, in their notation, never in the dealt order.

    `dealt_by` is the command that dealt them; `unread`, how many it could not identify.
    """

    slot: str
    command: int
    dealt_by: int
    cards: str
    unread: int = 0


class ShoeFault(BaseEvent, frozen=True):
    """The automated shoe jammed, stopped, or did not deal all cards."""

    slot: str
    reason: int


class FaceUpSeen(BaseEvent, frozen=True):
    """A shoe detected a card face up."""

    slot: str


class CoverCardOut(BaseEvent, frozen=True):
    """The cover card was reached: detected by a shoe, or reported by `who`."""

    slot: str | None = None
    seat: int | None = None
    who: Person | None = None


class DiceRead(BaseEvent, frozen=True):
    """Three dice were read, flat and after enough shakes."""

    slot: str
    values: tuple[int, int, int]


class DiceOpened(BaseEvent, frozen=True):
    """The shaker's door was opened: the dice inside may have been exchanged."""

    slot: str


class NoRollReported(BaseEvent, frozen=True):
    """The roll does not count: a die not flat or outside, or too few shakes."""

    slot: str
    trigger: Literal["dice_not_flat", "die_out_of_shaker", "too_few_shakes"]


class NumberDrawn(BaseEvent, frozen=True):
    """The generator drew a number."""

    slot: str
    number: int


class ButtonSeen(BaseEvent, frozen=True):
    """The place of the flat button (None: at no place, or at several)."""

    slot: str
    number: int | None


class BetSensed(BaseEvent, frozen=True):
    """What a sensor detects, from a change or a report; `sequence` is the sensor's own count of changes.

    `placed`: exactly one chip. Not `clear`: neither clearly one chip nor nothing.
    """

    seat: int
    sequence: int
    placed: bool
    clear: bool = True


class SeatLatched(BaseEvent, frozen=True):
    """A sensor confirms a lock, with its last bet sequence and whether it detects a bet, if that is `clear`."""

    seat: int
    round: int
    lock: int
    sequence: int
    bet: bool
    clear: bool = True


class EarlierLatchReported(BaseEvent, frozen=True):
    """A sensor refused a lock because an earlier one of this round is latched; it reports what it latched then."""

    seat: int
    round: int
    lock: int
    sequence: int
    bet: bool


class SeatLockRefused(BaseEvent, frozen=True):
    """A sensor refused a lock: it was not open, or the lock is for another round, or another lock holds (`code`)."""

    seat: int
    lock: int
    code: int = 0


class LateBet(BaseEvent, frozen=True):
    """A chip was placed on a locked sensor; it does not count."""

    seat: int


class SignShown(BaseEvent, frozen=True):
    """A sign shows the recorded amount, or why it does not: stale, wrong_glass, refused, gone.

    `sign` is the slot of a meter sign, or `/sign` for the panel's page. The box sends it at every change.
    """

    sign: str
    cause: str = ""


# --- return to service and test mode ---------------------------------------------------------------------------------


class MachineHalted(BaseEvent, frozen=True):
    """A machine that moves cards halted, and the box records the fault. `at_ns` (wall clock) identifies the report."""

    slot: str
    what: str
    at_ns: int


class FaultDiagnosed(BaseEvent, frozen=True):
    """The report of a halt is on disk, with what its return to service requires.

    `at_ns` is that of the halt; 0 in journals of earlier versions.
    """

    slot: str
    fault_report: int
    what: str
    requires: Requirements
    at_ns: int = 0


class EvidenceReported(BaseEvent, frozen=True):
    """A machine did something that proves or disproves steps of its return to service.

    `by` is the person whose order it carried out; empty if nobody ordered it, as when the door is opened.
    """

    slot: str
    evidence: MachineEvidence
    by: str = ""


class ReturnTaken(BaseEvent, frozen=True):
    """A person begins or continues the return to service of a fault report. `mode` is the machine's present mode."""

    slot: str
    fault_report: int
    who: Person
    requires: Requirements
    mode: str = ""


class ReturnLeft(BaseEvent, frozen=True):
    """A person ends the work of the technician on a return to service; completed steps are kept.

    `obstacle` is what the machine's own report has against the end of test mode.
    """

    slot: str
    fault_report: int
    who: Person
    obstacle: str = ""


class StepReported(BaseEvent, frozen=True):
    """A person reports a step as done: the deck counted, the path seen clear (`dark` sensors), or the return signed.

    `obstacle` is what the machine's own report has against the end of test mode, when the return is signed.
    """

    slot: str
    fault_report: int
    step: ReturnStep
    who: Person
    cards: int | None = None
    dark: tuple[str, ...] | None = None
    obstacle: str = ""


class TestModeOrdered(BaseEvent, frozen=True):
    """A technician begins or leaves test mode of a machine without a fault.

    `obstacle` is what the machine's own report has against it; `mode` is its present mode.
    """

    slot: str
    act: Literal["begin", "leave"]
    who: Person
    obstacle: str = ""
    mode: str = ""


# --- commands and time -----------------------------------------------------------------------------------------------


class CommandEnded(BaseEvent, frozen=True):
    """A command ended with one outcome."""

    command: int
    outcome: Literal["done", "failed", "unknown", "revoked"]
    reason: int = 0


class Due(BaseEvent, frozen=True):
    """A timer that the core set ran out."""

    timer: str


class BoxStarted(BaseEvent, frozen=True):
    """The box started, for the `boot`-th time, and knows only its journal. The first event of every start.

    `clock_back`: the clock shows an earlier time than the last record.
    """

    boot: int
    clock_back: bool = False


class BoxHalted(BaseEvent, frozen=True):
    """The box cannot continue (its journal fails): it stops all motion and locks all open bets."""

    code: int


# --- the second copy -------------------------------------------------------------------------------------------------


class CopyAwaited(BaseEvent, frozen=True):
    """A second copy is configured or was kept before, and the box has not reached it since it started."""


class CopyReached(BaseEvent, frozen=True):
    """The box reached the second copy since it started, and no other box has taken it over."""


class CopyDamaged(BaseEvent, frozen=True):
    """The nightly check found a record of the second copy that differs from what was copied; `why` names it."""

    why: str


class CopyAbsenceConfirmed(BaseEvent, frozen=True):
    """Two people confirm that the copy is out of reach and that no other box was made from it."""

    document: str
    who: Person
    second: Person


# --- the closed unions -----------------------------------------------------------------------------------------------

# What people enter.
PersonEvent = (
    DeckReceived | OpenRound | NoMoreBets | Answer | IrregularityReported | Ordered | DealerChanged | SlotOrdered
    | MeterCorrected | MeterReset | MeterParameters | MeterClosed | MeterOpened | OverflowTransferred
    | DeviceEnrolled | KeysRevoked | ReturnTaken | ReturnLeft | StepReported | TestModeOrdered
    | HandEntered | SettingEntered | HouseWayAsked | ReplacementEntered | AmountEntered
    | OptionalWagerEntered | SeatsSettled
)  # fmt: skip
# What shufflers and shoes report.
CardEvent = (
    CardsInserted | CardsBehindGate | IntakeEmptied | ShuffleEnded | ShuffleFailed | DeckGivenOut | StackInserted
    | DiscardsTakenIn | ShoeLoaded | ShoeEmpty | StackOut | StackTaken | CardsDrawn | StubOut | ShoeFault | FaceUpSeen
    | CoverCardOut | ShoeIdentifies | HandReleased
)  # fmt: skip
# What dice, generator, button, bet sensors and signs report, and the service state of every device.
DeviceEvent = (
    SlotChanged | ReturnStepChanged | DiceRead | DiceOpened | NoRollReported | NumberDrawn | ButtonSeen | BetSensed
    | SeatLatched | EarlierLatchReported | SeatLockRefused | LateBet | SignShown
    | MachineHalted | FaultDiagnosed | EvidenceReported
)  # fmt: skip
# What the box reports: ends of commands, time, its own start and end, and the second copy.
BoxEvent = (
    CommandEnded | Due | BoxStarted | BoxHalted | CopyAwaited | CopyReached | CopyDamaged | CopyAbsenceConfirmed
)  # fmt: skip
Event = PersonEvent | CardEvent | DeviceEvent | BoxEvent
