"""Every event that the core takes: what people say, what devices did, how commands ended, what fell due. No bytes."""

from __future__ import annotations

from typing import Literal

import msgspec

Role = Literal["dealer", "floorperson", "technician", "auditor"]


class Event(msgspec.Struct, frozen=True, tag=True):
    """Base of all events; journaled as they are."""


class Person(msgspec.Struct, frozen=True):
    """Who said something: a role, proved by a credential. One person may hold several credentials."""

    role: Role
    credential: str
    person: str = ""  # as the people file names the holder; empty: the credential is a person of its own

    @property
    def identity(self) -> str:
        """The person behind the credential, as two are compared."""
        return (self.person or self.credential).casefold()

    def same_person(self, other: Person) -> bool:
        """Return whether two credentials are one person's: then they are not the two people that a rule wants."""
        return self.identity == other.identity


# --- people ----------------------------------------------------------------------------------------------------------


class DeckReceived(Event, frozen=True):
    """A deck (or batch) was brought to the table; its back colour is its name."""

    deck: str
    who: Person
    preshuffled: bool = False
    two_jokers: bool = False


class OpenRound(Event, frozen=True):
    """The dealer is ready for wagers."""

    who: Person


class NoMoreBets(Event, frozen=True):
    """The dealer calls no more bets (or, where the text has no call, is about to deal the first card)."""

    who: Person


class Answer(Event, frozen=True):
    """Somebody answers a prompt: one of its choices, and a number or seats where it asks for them."""

    prompt: int
    choice: str
    who: Person
    number: int | None = None
    seats: tuple[int, ...] = ()


class Declared(Event, frozen=True):
    """Somebody reports what only people can see: an irregularity, or a player who leaves or surrenders."""

    trigger: str
    who: Person
    seat: int | None = None
    deck: str | None = None
    slot: str | None = None


class Ordered(Event, frozen=True):
    """A floorperson orders what the rules let a floorperson order."""

    order: Literal[
        "reshuffle", "recut", "remove_deck", "table_idle", "dealing_method", "start_method", "shuffle_by_hand",
        "shuffle_by_machine", "readmit",
    ]  # fmt: skip
    who: Person
    deck: str | None = None
    method: str | None = None  # with dealing_method and start_method
    seat: int | None = None  # with readmit


class DealerChanged(Event, frozen=True):
    """Another dealer takes over."""

    who: Person


class SlotOrdered(Event, frozen=True):
    """People do something about a device: give it up, sign it, call it repaired, clear it, ask for its return."""

    slot: str
    act: Literal["give_up", "sign", "repair", "clear", "acknowledge"]
    who: Person


class MeterCorrected(Event, frozen=True):
    """Two people correct the meter by an amount (micro-dollars, up or down), on a ground and for a reason.

    `ground` and `reason` come from closed lists (`meters.GROUNDS`). A transfer also names, as `counterpart`, the other
    meter's document.
    """

    amount: int
    document: str
    who: Person
    second: Person
    ground: str = ""
    reason: str = ""
    counterpart: str = ""


class MeterReset(Event, frozen=True):
    """Two people bring the meter to its seed, on the same grounds as a correction by the same amount."""

    document: str
    who: Person
    second: Person
    ground: str = ""
    reason: str = ""
    counterpart: str = ""


class MeterParameters(Event, frozen=True):
    """Two people set what the text leaves open: the rate of progression, and the most that the meter may hold.

    A new rate names the Rules Submission that holds it.
    """

    document: str
    who: Person
    second: Person
    rate_bp: int | None = None
    limit_cents: int | None = None
    submission: str = ""


class MeterClosed(Event, frozen=True):
    """Two people close the meter to play: no round opens until two people open it again."""

    document: str
    who: Person
    second: Person


class MeterOpened(Event, frozen=True):
    """Two people open the meter to play again."""

    document: str
    who: Person
    second: Person


class OverflowTransferred(Event, frozen=True):
    """Two people bring an amount of the overflow (micro-dollars) back to the meter."""

    amount: int
    document: str
    who: Person
    second: Person


class DeviceEnrolled(Event, frozen=True):
    """A technician and a floorperson enroll the device of a key in a slot; `replaces` is the key that is revoked.

    A key is known by its device's serial number and by its fingerprint, which does not help to find it.
    """

    slot: str
    serial: str
    fingerprint: str
    who: Person
    second: Person
    replaces: tuple[str, str] | None = None


class KeysRevoked(Event, frozen=True):
    """Keys (serial number, fingerprint) that were revoked before the journal kept that; a start takes them over."""

    keys: tuple[tuple[str, str], ...]


# --- devices ---------------------------------------------------------------------------------------------------------


class SlotChanged(Event, frozen=True):
    """A device appeared, vanished, reported well, is in doubt or faulted; the words of `devices.service`."""

    slot: str
    trigger: Literal["appear", "vanish", "verify", "doubt", "fault"]
    reason: int = 0


class WayBack(Event, frozen=True):
    """How far the way back to service of a device has come: the step that is next, in words; "" when all are done.

    The box tells it, from the evidence that it has for each step; nobody else can. `testing`: it is in test mode.
    """

    slot: str
    dossier: int
    step: str
    testing: bool = False


class CardsInserted(Event, frozen=True):
    """Cards lie in a shuffler's intake."""

    slot: str


class BehindGate(Event, frozen=True):
    """A shuffler reports that cards lie behind its gate."""

    slot: str


class IntakeEmptied(Event, frozen=True):
    """A shuffler's intake is empty: hands took the cards out again, or its cycle took them in."""

    slot: str


class ShuffleEnded(Event, frozen=True):
    """A cycle went to its end. `shuffled` is False if it was a sort; `rejected` if the machine read a wrong deck.

    `count` is None if the machine does not count. Of a continuous shuffler: its whole store was counted.
    """

    slot: str
    count: int | None
    shuffled: bool
    rejected: bool = False


class ShuffleFailed(Event, frozen=True):
    """A cycle did not go to its end: jam, stop, double feed, counts that disagree. `inside` is None if unknown."""

    slot: str
    reason: int
    inside: int | None


class GivenOut(Event, frozen=True):
    """A shuffler gave a deck out."""

    slot: str


class TakenIn(Event, frozen=True):
    """A continuous shuffler took discards back into its store, counted."""

    slot: str
    count: int


class ShoeLoaded(Event, frozen=True):
    """A shoe has taken a deck in and counted it (None: it cannot count)."""

    slot: str
    count: int | None


class ShoeEmpty(Event, frozen=True):
    """A shoe reports that nothing is inside: hands emptied it, heard or not."""

    slot: str


class StackOut(Event, frozen=True):
    """A stack (from a continuous shuffler: cards into its chute) was dispensed; the count is what the sensor saw."""

    slot: str
    count: int
    face_up: int = 0  # of them, those that lie face up


class StackTaken(Event, frozen=True):
    """The dealer took the stack from the delivery slot."""

    slot: str


class CardsDrawn(Event, frozen=True):
    """Cards were drawn from a manual shoe since the deal began, counted by its sensor."""

    slot: str
    count: int
    reported: bool = False  # read from its report, as after a reconnect: says what was, and accuses nobody


class StubOut(Event, frozen=True):
    """The shoe gave out its stub, counted."""

    slot: str
    count: int


class ShoeFault(Event, frozen=True):
    """The automated shoe jammed, stopped, or did not deal all cards."""

    slot: str
    reason: int


class FaceUpSeen(Event, frozen=True):
    """A shoe saw a card face up."""

    slot: str


class CoverCardOut(Event, frozen=True):
    """The cover card was reached: a shoe saw it, or `who` did."""

    slot: str | None = None
    seat: int | None = None
    who: Person | None = None


class DiceRead(Event, frozen=True):
    """Three dice lie flat after enough shakes."""

    slot: str
    values: tuple[int, int, int]


class DiceOpened(Event, frozen=True):
    """The shaker's door was opened: the dice inside may be others from now on."""

    slot: str


class NoRoll(Event, frozen=True):
    """The dice cannot count: not flat, outside, too few shakes."""

    slot: str
    trigger: Literal["dice_not_flat", "die_out_of_shaker", "too_few_shakes"]


class NumberDrawn(Event, frozen=True):
    """The generator drew a number."""

    slot: str
    number: int


class ButtonSeen(Event, frozen=True):
    """The flat button lies at one place (None: at none, or at several)."""

    slot: str
    number: int | None


class BetSensed(Event, frozen=True):
    """What lies on a sensor, by a change or by its report; `sequence` is the sensor's own count of changes.

    `placed`: exactly one chip. Not `clear`: neither clearly one chip nor nothing.
    """

    seat: int
    sequence: int
    placed: bool
    clear: bool = True


class SeatLatched(Event, frozen=True):
    """A sensor confirms its lock: which, up to which bet sequence, and whether a bet lies there, if that is `clear`."""

    seat: int
    round: int
    lock: int
    sequence: int
    bet: bool
    clear: bool = True


class LatchStands(Event, frozen=True):
    """A sensor did not take a lock: another one of the same round stands, with what lay there then."""

    seat: int
    round: int
    lock: int
    sequence: int
    bet: bool


class LockRefused(Event, frozen=True):
    """A sensor did not take a lock: it was not open, or for another round, or another lock stands (`code`)."""

    seat: int
    lock: int
    code: int = 0


class LateBet(Event, frozen=True):
    """A chip was laid on a sensor that is locked; it does not count."""

    seat: int


class SignShown(Event, frozen=True):
    """A sign shows the amount that is on disk, or it does not, and why: stale, wrong_glass, refused, gone.

    `sign` is the slot of a meter sign, or `/sign` for the panel's page. The box reports it whenever it changes.
    """

    sign: str
    cause: str = ""


# --- commands and time -----------------------------------------------------------------------------------------------


class CommandEnded(Event, frozen=True):
    """A command ended in exactly one of these."""

    command: int
    outcome: Literal["done", "failed", "unknown", "revoked"]
    reason: int = 0


class Due(Event, frozen=True):
    """A deadline that the core asked for has come."""

    timer: str


class BoxStarted(Event, frozen=True):
    """The box has started, as its `boot`-th start; nothing but the journal is known. The first event of every start.

    `clock_back`: the clock shows less than it did when the last record was made.
    """

    boot: int
    clock_back: bool = False


class BoxHalted(Event, frozen=True):
    """The box can go on no more (its journal fails): whatever moves is stopped, whatever is open is locked."""

    code: int


# --- the second copy -------------------------------------------------------------------------------------------------


class CopyAwaited(Event, frozen=True):
    """A second copy is configured or was kept before, and this start has not reached it: another box may have it."""


class CopyReached(Event, frozen=True):
    """The second copy was reached in this start, and no other box has taken it over."""


class CopyDamaged(Event, frozen=True):
    """The nightly check read a record of the second copy that is not what was copied; `why` names it."""

    why: str


class CopyAbsenceConfirmed(Event, frozen=True):
    """Two people answer for it that the copy is out of reach and that no other box was made from it."""

    document: str
    who: Person
    second: Person
