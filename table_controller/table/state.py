"""What the core knows of one table, as plain data: it can be copied, compared, written down and read back.

No behaviour.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from devices.service import ABSENT
from table_controller.ledger.cards import CardBook
from table_controller.ledger.hits import EnvyPaid, Hit
from table_controller.ledger.meter import Bet
from table_controller.ledger.money import MoneyBook
from table_controller.rulebook.vocabulary import DealingName, DeviceFact, ShufflerFact
from table_controller.table import machines as mc
from table_controller.table.decisions import Prompt

# Counted up when a field means something else than before. A change of the fields themselves is seen without it.
STATE_VERSION = 2

StartName = Literal["shaker", "rng", "flat_button"]

# Places of a deck besides slots: SLOT is inside a device, SLOT/gate behind a shuffler's gate.
TRAY = "tray"
HANDS = "hands"
PLAIN_SHOE = "shoe"  # a dealing shoe that is no device
RACK = "rack"
GONE = "removed"
GATE = "/gate"


class Deck(msgspec.Struct):
    """One physical deck, or one batch of six; known by its back colour."""

    name: str
    state: str = mc.RECEIVED
    place: str = TRAY
    verified: bool = False  # found whole by a look or a count, and not found wrong since
    preshuffled: bool = False
    two_jokers: bool = False
    by_hand: bool = False  # dealt by hand at any time: then the shorter interval counts (X10)
    shuffled_by: ShufflerFact = "none"  # what shuffled it last
    passed: list[int] = []  # change intervals (h) that have passed
    rounds: list[int] = []  # dealt from it since it was last found whole
    doubted: list[int] = []  # dealt before that, where hands counted it and no other check has found it whole since
    unseen: list[int] = []  # dealt from it since its faces were last looked at; only where that is done every so often
    confirmed: dict[str, str] = {}  # opening steps, each with the credential that confirmed it
    ordered: bool = False  # a floorperson ordered its shuffle
    cut: bool = False  # cut since it was shuffled
    cover_due: bool = False  # cut, and the cover card is not where it belongs
    declined: list[int] = []  # seats that did not want to cut
    cutter: int | None = None  # who cut it last since its shuffle: a seat, or 0 for the dealer
    idle: bool = False  # spread because the table stood idle, and not stacked again yet
    look_due: bool = False  # stored while the table stood idle: looked at before it is dealt
    persons: dict[str, str] = {}  # opening steps, each with the person who confirmed it


class Way(msgspec.Struct):
    """The way back to service of a device that failed: the step that is next, in words, and whether it is tested."""

    dossier: int
    step: str
    testing: bool = False


class Slot(msgspec.Struct):
    """One device's place: its service state and what it holds."""

    kind: DeviceFact
    state: str = ABSENT
    deck: str | None = None
    intake: bool = False  # cards lie there, and nobody has said which
    ran: bool = False  # a cycle was begun on what is inside
    safe_due: bool = False  # not stopped or locked since the box started: that comes first when it appears
    way: Way | None = None  # steps that are not done: until they are, nobody returns it to service


class Round(msgspec.Struct):
    """The round in hand. Place 0 is the dealer; seats are 1 to 6."""

    number: int = 0
    state: str = mc.IDLE
    deck: str | None = None
    # Wagers.
    seats: tuple[int, ...] = ()  # with a wager, as the dealer entered them
    seats_entered: bool = False
    side: dict[str, list[int]] = {}  # side wagers that bar surrender, each with its seats, as the dealer entered them
    lammers: list[int] = []  # seats where a lammer was asked for
    envy: list[int] = []  # seats where one lies
    started: bool = False  # the Start Game key was pressed
    # Starting position.
    total: int | None = None  # of the dice
    start: int | None = None  # position number 1 to 7
    announced: bool = False
    asked_start: bool = False  # the shaker is armed, or the generator was told to draw
    # The deal.
    to_deal: list[int] = []  # places that still wait for their cards, in order
    in_slot: int | None = None  # the place whose stack lies in the delivery slot
    completing: int | None = None  # the place whose stack lacks the card that was discarded (X2)
    counting: bool = False  # a manual shoe was told that the round begins
    ready: int = 0  # cards that a continuous shuffler brought and nobody has dealt yet
    dealt: int = 0  # cards before the places
    drawn: int = 0  # what a manual shoe counted in this round
    burned: int = 0  # of what it counted
    slip: int = 0  # by how many cards its count and the deal differ, as far as a floorperson knows
    face_up: int = 0
    discarded: int = 0  # found face up, and laid into the rack
    replacement: int = 0
    # The stub.
    stub_ordered: bool = False
    stub_out: bool = False
    stub: int | None = None  # as the shoe counted it
    stub_counts: int = 0  # how often it was counted and found wrong
    stub_found: int | None = None  # as people counted it, wrongly
    stub_done: bool = False
    counted: bool = False  # its deck by the shuffler, or its stub or the whole deck by people, and it was right
    racked: bool = False  # the stacks of places without a wager
    parked: bool = False  # the shaker was covered, shaken once and put aside
    # Play.
    hands_set: bool = False
    decided: dict[int, str] = {}
    folds_taken: bool = False
    leaving: list[int] = []  # seats whose player has left, until a floorperson has decided
    dead: list[int] = []  # seats whose hand does not play on
    late: list[int] = []  # seats that get their additional cards last (686a.9(c))
    second: list[int] = []  # seats that have them
    surrendered: list[int] = []
    settled: list[int] = []
    side_settled: list[int] = []
    judged: list[int] = []  # seats whose hand was looked at for envy
    envy_hands: list[int] = []  # of them, those that bring it
    envy_paid: bool = False
    hands_racked: list[int] = []  # seats whose hand lies in the rack
    hands_collected: bool = False  # the hands that envy kept on the table
    surrender_collected: list[int] = []  # seats whose surrendered wager was collected
    # Of the deal, the stub and void or reopened hands.
    faces_in_stack: int = 0  # cards face up that the shoe has reported of the stack under way
    stub_off: int | None = None  # the shoe's count of the stub, less the expected number; None: it has not counted
    stub_disputed: bool = False  # dealer and shoe counted differently, and no floorperson has counted yet
    incomplete: list[int] = []  # seats whose hand was incomplete when the round became void (W19)
    reopened: list[int] = []  # seats whose wager is settled anew because the dealer's hand was set wrong
    envy_cards: int = 0  # cards of the hands that envy kept on the table, while they lie in the rack


class Spot(msgspec.Struct):
    """What a sensor last reported of its spot, under the highest number of its own count, before it was locked."""

    sequence: int = 0
    lies: Literal["empty", "chip", "unclear"] = "empty"


class SeatBets(msgspec.Struct):
    """One seat's sensor in this round."""

    sequence: int = 0
    placed: bool = False  # as far as frames have come; says nothing about acceptance
    lock: int = 0  # the command that locks it
    latched: bool = False
    bet: bool | None = None  # after the latch; None: undecided
    refused: bool = False  # it holds no latch and will give none: it was not open when it was locked
    lit: bool = False
    doubt: str = ""  # why its confirmation does not decide: unclear, or against what the sensor reported before
    changes: int = 0  # how often a chip was laid or taken while bets were open, as far as frames have come


class Progressive(msgspec.Struct):
    """The progressive bets of the round. The latch is the order."""

    state: str = mc.CLOSED
    seats: dict[int, SeatBets] = {}
    overdue: bool = False  # the time to confirm is over: who has not is undecided

    @property
    def accepted(self) -> list[int]:
        """The seats whose bet counts."""
        return [seat for seat, bets in sorted(self.seats.items()) if bets.latched and bets.bet]


class Money(msgspec.Struct):
    """The money of the meter: its book, and the bets and hits of the round in hand."""

    book: MoneyBook = msgspec.field(default_factory=MoneyBook)
    rate_bp: int | None = None  # as people set it; None: as submitted
    limit: int | None = None
    bets: dict[int, Bet] = {}  # accepted in this round, by seat
    hits: dict[int, Hit] = {}  # claimed in this round, by their own numbers
    settles: bool = False  # the round is void, and its bets are settled all the same
    envied: dict[int, str] = {}  # seats whose hand was looked at for envy, with the line that it pays; "": none
    envy_paid: list[int] = []  # seats whose hand was paid to the others
    envy: list[EnvyPaid] = []
    closed: str = ""  # why the meter is closed to play: "people", "unreasonable"; empty while it is open

    def is_final(self, hit: Hit) -> bool:
        """Return whether a hit's amount can be paid: every earlier claim on the meter is validated or withdrawn."""
        earlier = (other for other in self.hits.values() if other.id < hit.id and other.on_meter)
        return not hit.on_meter or not any(other.state in mc.HIT_UNSURE for other in earlier)

    def hit_of(self, seat: int | None) -> Hit | None:
        """Return the hit that stands for a seat."""
        for hit in self.hits.values():
            if hit.seat == seat and hit.state != mc.HIT_WITHDRAWN:
                return hit
        return None


class Hold(msgspec.Struct):
    """An irregularity that is not cleared: what it concerns, and the steps that are still to be done, in order."""

    id: int
    trigger: str
    clauses: tuple[str, ...]
    steps: list[str]
    outcomes: tuple[str, ...] = ()
    slot: str | None = None
    deck: str | None = None
    seat: int | None = None
    acknowledges: str = "floorperson"
    evidence: tuple[str, ...] = ()  # what the acknowledgement says was seen
    decides: str = "rule"
    choices: dict[str, tuple[str, ...]] = {}  # what the decider may answer, and what that orders
    this_round: bool = False  # it concerns the round in hand, and not only the next


class Issued(msgspec.Struct):
    """A command that has not ended."""

    slot: str
    act: str
    number: int = 0
    deck: str | None = None
    unknown: bool = False
    told: bool = False  # the device has told what came of it


class State(msgspec.Struct):
    """A whole table."""

    dealing: DealingName  # the method in use; another than the submission's only while a dead device is signed
    shuffling: Literal["machine", "hand"]
    start: StartName | None
    slots: dict[str, Slot] = {}
    decks: dict[str, Deck] = {}
    round: Round = msgspec.field(default_factory=Round)
    progressive: Progressive = msgspec.field(default_factory=Progressive)
    book: CardBook = msgspec.field(default_factory=CardBook)
    money: Money = msgspec.field(default_factory=Money)
    prompts: dict[int, Prompt] = {}
    holds: dict[int, Hold] = {}
    commands: dict[int, Issued] = {}
    last_deck: str | None = None  # of the last round, or of the last shoe
    shoe_over: bool = False  # the cover card came out, or a floorperson ordered the shuffle: no further round
    shoe_ordered: bool = False  # a floorperson ordered the shuffle before the cover card came out
    cut_first: int | None = None  # the seat where the cover card came out
    cover_seat_due: bool = False  # it came out in the deal, and nobody has said before whom (O3)
    begun: bool = False  # a round was dealt since the table opened or stood idle
    first_seat: int | None = None  # the first player to arrive
    regulars: list[int] | None = None  # who played the last round of this shoe; None: no round was played from it
    uncounted: int = 0  # rounds since the stub was last counted
    dice: Literal["none", "fresh", "doubtful", "expired"] = "none"  # doubtful: hands were at them
    shaker_for: str | None = None  # the new dealer (credential) who has not taken the shaker over yet
    button: int = 1  # the place where the flat button must lie
    button_seen: int | None = None
    burn_shoe: int = 0  # cards to burn because the shoe is new
    burn_dealer: int = 0  # and because the dealer is
    late_chips: list[int] = []  # seats with a chip that was laid after the lock-out
    next_id: int = 1
    lost: tuple[int, int] = (0, 0)  # ids from..below that may have gone out before the box last died, unrecorded
    copy_awaited: bool = False  # the second copy was not reached in this start, and nobody has answered for that
    copy_kept: bool = False  # a second copy was reached: a start without one needs two people's answer, too
    spots: dict[int, Spot] = {}  # by seat; a sensor that connects anew has a count of its own
    lid_off: bool = False  # the shaker was armed or read, and nobody has covered it since
    signs: dict[str, str] = {}  # every sign that was heard of: why it does not show the meter; empty if it does
    enrolled: dict[str, tuple[str, str]] = {}  # by slot: serial number and key fingerprint of the device enrolled last
    revoked: list[tuple[str, str]] = []  # the keys that never serve again at this table

    @property
    def burn_due(self) -> int:
        """How many cards must be burned before any is dealt: a new shoe and a new dealer are two duties."""
        return self.burn_shoe + self.burn_dealer
