"""The state of one table as plain data, which can be copied, compared and stored in snapshots."""

from __future__ import annotations

from typing import Literal

import msgspec

from devices.service import ABSENT
from table_controller.ledger.cards import CardBook
from table_controller.ledger.hits import EnvyPaid, Hit
from table_controller.ledger.meter import Bet
from table_controller.ledger.money import MoneyBook
from table_controller.rulebook.vocabulary import DealingName, ShufflerFact
from table_controller.table import state_machines as mc
from table_controller.table.decisions import DealtCards, Prompt
from table_controller.table.return_progress import ReturnProcedure

# Raised when the meaning of a field changes. A change of the fields themselves is detected without it.
STATE_VERSION = 3

StartName = Literal["shaker", "rng", "flat_button"]

# Places of a deck outside devices. Inside a device the place is SLOT; behind a shuffler's gate it is SLOT/gate, and at
# the end of its chute, before the shoe has loaded it, the shoe's SLOT/intake.
TRAY = "tray"
HANDS = "hands"
PLAIN_SHOE = "shoe"  # a dealing shoe without electronics
RACK = "rack"
GONE = "removed"
GATE = "/gate"
INTAKE = "/intake"


class Deck(msgspec.Struct):
    """One physical deck, or one batch of six; identified by its back color."""

    name: str
    state: str = mc.RECEIVED
    place: str = TRAY
    verified: bool = False  # an inspection or a count found it complete, and none found it wrong since
    preshuffled: bool = False
    two_jokers: bool = False
    by_hand: bool = False  # was ever dealt by hand: then the shorter change interval applies (X10)
    shuffled_by: ShufflerFact = "none"  # what shuffled it last
    passed: list[int] = []  # change intervals (h) that have passed
    rounds: list[int] = []  # rounds dealt from it since it was last found complete
    doubted: list[int] = []  # rounds before that, if only a hand count found it complete
    unseen: list[int] = []  # rounds dealt since its last face check, where the submission has one
    confirmed: dict[str, str] = {}  # opening steps and the credential that confirmed each
    ordered: bool = False  # a floorperson ordered its shuffle
    cut: bool = False  # cut since it was shuffled
    cover_due: bool = False  # cut, and the cover card is not placed yet
    declined: list[int] = []  # seats that declined to cut
    cutter: int | None = None  # who cut it last since its shuffle: a seat, 0 for the dealer
    idle: bool = False  # spread because the table was idle, and not stacked again yet
    look_due: bool = False  # stored while the table was idle: players see it before it is dealt
    persons: dict[str, str] = {}  # opening steps and the person who confirmed each


class SlotState(msgspec.Struct):
    """One device's place: its service state and the cards inside."""

    kind: str
    state: str = ABSENT
    deck: str | None = None  # of a shoe also the deck that the shuffler is inserting into it
    intake: bool = False  # cards are in the intake, and their deck is not known yet
    ran: bool = False  # a cycle was started on the cards inside
    identifies: bool = False  # a shoe that reports that it identifies the cards that it deals
    safe_due: bool = False  # must be stopped or locked first when it connects, because the box restarted
    return_procedure: ReturnProcedure | None = None  # until it is None, the device cannot return to service

    @property
    def is_testing(self) -> bool:
        """Whether the device is in test mode."""
        return self.return_procedure is not None and self.return_procedure.is_testing

    @property
    def tested_report(self) -> int | None:
        """The fault report for which the device is in test mode, 0 for none; None: it is not in test mode."""
        procedure = self.return_procedure
        return procedure.fault_report if procedure is not None and procedure.is_testing else None


class Hand(msgspec.Struct):
    """The known cards of one place, and how its player set them."""

    cards: tuple[int, ...]
    by: str  # the credential that entered them, or the slot of the shoe that released them
    setting: tuple[tuple[int, ...], ...] | None = None
    is_house_way: bool = False  # the player asked the dealer to set the hand


class ShoeHand(msgspec.Struct):
    """What a shoe that identifies cards dealt to one place, and what it released of it."""

    dealt: DealtCards
    cards: tuple[int, ...] = ()  # as it released them
    lost: int = 0  # how often its answer was lost
    ended: bool = False  # nothing more is asked about it


class Round(msgspec.Struct):
    """The current round. Place 0 is the dealer; seats are 1 to 6."""

    number: int = 0
    state: str = mc.IDLE
    deck: str | None = None
    # Wagers.
    seats: tuple[int, ...] = ()  # seats with a wager, entered by the dealer
    seats_entered: bool = False
    side_wagers: dict[str, list[int]] = {}  # side wagers that bar surrender, with the seats that the dealer entered
    optional_wagers: dict[str, list[int]] = {}  # optional wagers that no question asks for, with the seats entered
    amounts: dict[str, dict[int, int]] = {}  # cents of each wager by seat, as far as the dealer entered them
    players: dict[int, int] = {}  # boxes of players who have several, each with the lowest seat of its player
    players_entered: bool = False  # no further player has several boxes
    set_first: dict[int, int] = {}  # of each of these players, the box whose hand is set first
    lammers: list[int] = []  # seats where the dealer was asked for a Qualifying Wager, or to place its lammer
    envy: list[int] = []  # seats with a lammer
    started: bool = False  # the Start Game key was pressed
    # Starting position.
    total: int | None = None  # of the dice
    start: int | None = None  # position number 1 to 7
    announced: bool = False
    marked: bool = False  # the marker is at the starting position
    asked_start: bool = False  # the shaker is armed, or the generator has the command to draw
    # The deal.
    to_deal: list[int] = []  # places that still need their cards, in order
    in_slot: int | None = None  # the place whose stack is in the delivery slot
    completing: int | None = None  # the place whose stack is short by the discarded card (X2)
    counting: bool = False  # a manual shoe counts the cards of this round
    ready: int = 0  # cards that a continuous shuffler dispensed and that are not dealt yet
    dealt: int = 0  # cards dealt to the places
    drawn: int = 0  # cards that a manual shoe counted in this round
    burned: int = 0  # of those, how many were burned
    slip: int = 0  # the difference between its count and the deal that a floorperson already decided about
    face_up: int = 0
    discarded: int = 0  # cards found face up and moved to the rack
    replacement: int = 0
    # The stub.
    stub_ordered: bool = False
    stub_out: bool = False
    stub: int | None = None  # counted by the shoe
    stub_counts: int = 0  # how many counts were wrong
    stub_found: int | None = None  # the last wrong count by people
    stub_done: bool = False
    counted: bool = False  # the shuffler counted the deck, or people counted the stub or deck, and the count was right
    racked: bool = False  # the stacks of places without a wager are in the rack
    parked: bool = False  # the shaker was covered, shaken once and put aside
    # Play.
    hands_placed: list[int] = []  # boxes of one player whose hand was set and placed face down, in their order
    hands_set: bool = False
    decided: dict[int, str] = {}
    folds_taken: bool = False
    leaving: list[int] = []  # seats whose player left, until a floorperson decides
    dead: list[int] = []  # seats whose hand is out of the round
    late: list[int] = []  # seats that get their additional cards last (686a.9(c))
    second: list[int] = []  # seats that have their additional cards
    surrendered: list[int] = []
    settled: list[int] = []
    side_settled: list[int] = []
    judged: list[int] = []  # seats whose hand was judged for envy
    envy_hands: list[int] = []  # of those, the hands that pay envy to others
    envy_paid: bool = False
    hands_racked: list[int] = []  # seats whose hand is in the rack
    hands_collected: bool = False  # the hands that stayed on the table for envy were collected
    surrender_collected: list[int] = []  # seats whose surrendered wager was collected
    # The deal, the stub, and void or reopened hands.
    faces_in_stack: int = 0  # face-up cards that the shoe reported for the stack being dealt
    stub_off: int | None = None  # the shoe's count of the stub minus the expected number; None: not counted
    stub_disputed: bool = False  # dealer and shoe counted differently; a floorperson must count
    incomplete: list[int] = []  # seats whose hand was incomplete when the round was voided (W19)
    reopened: list[int] = []  # seats settled again because the dealer's hand was set wrong
    envy_cards: int = 0  # cards of the hands that stayed for envy, once they are in the rack
    # Known cards.
    hands: dict[int, Hand] = {}  # by place, as far as they were entered
    replacement_card: int | None = None  # the card that replaces a joker
    disputed: list[int] = []  # seats whose proposed settlement the dealer disputed, until a floorperson rules
    dealer_settles: list[int] = []  # seats that the dealer settles, by a floorperson's ruling
    stated: dict[str, list[int]] = {}  # optional wagers that are settled, confirmed or stated, with their seats
    dealt_hands: dict[int, ShoeHand] = {}  # by place, as far as a shoe that identifies cards dealt them as ordered
    counted_by: int = 0  # the command that began the round of a manual shoe
    order_lost: bool = False  # which card a manual shoe dealt to which place is not known any more
    shown: list[int] = []  # seats whose hand the dealer has shown, where the player might have surrendered before
    contested: dict[int, list[Hand]] = {}  # places whose cards the shoe and the dealer know differently: each reading
    claims_stand: list[int] = []  # seats whose known hand a floorperson upheld against the dealer
    claims_ruled: dict[int, str] = {}  # seats where a floorperson lets the dealer name the hand, with the reason
    claims_fell: list[int] = []  # seats with a withdrawn claim: the dealer may correct the cards


class SpotReport(msgspec.Struct):
    """The newest report of a sensor about its spot, by its own sequence number, before it was locked."""

    sequence: int = 0
    content: Literal["empty", "chip", "unclear"] = "empty"


class SeatBets(msgspec.Struct):
    """One seat's sensor in this round."""

    sequence: int = 0
    placed: bool = False  # by the newest frame received; does not mean accepted
    lock: int = 0  # the command that locks it
    latched: bool = False
    bet: bool | None = None  # by the latch or the floorperson; None: undecided
    refused: bool = False  # the sensor refused the lock, so it will never confirm
    lit: bool = False
    doubt: str = ""  # why its confirmation is not used: unclear, or it contradicts an earlier report
    changes: int = 0  # chips placed or removed while bets were open, by the frames received


class Progressive(msgspec.Struct):
    """The progressive bets of the round. The latch decides which bets count."""

    state: str = mc.CLOSED
    seats: dict[int, SeatBets] = {}
    overdue: bool = False  # the time to confirm is over: seats without a latch are undecided

    @property
    def accepted(self) -> list[int]:
        """The seats whose bet counts."""
        return [seat for seat, bets in sorted(self.seats.items()) if bets.latched and bets.bet]


class Money(msgspec.Struct):
    """The money of the meter: its book, and the bets and hits of the current round."""

    book: MoneyBook = msgspec.field(default_factory=MoneyBook)
    rate_bp: int | None = None  # set by people; None: the submitted rate
    limit: int | None = None
    bets: dict[int, Bet] = {}  # accepted in this round, by seat
    hits: dict[int, Hit] = {}  # claimed in this round, by hit id
    settles: bool = False  # the round is void, but its bets are still settled
    envied: dict[int, str] = {}  # judged seats with the paytable line that pays envy; "": none
    envy_paid: list[int] = []  # seats whose hand's envy was paid
    envy: list[EnvyPaid] = []
    closed: str = ""  # why the meter is closed to play: "people", "unreasonable"; empty: it is open

    def is_final(self, hit: Hit) -> bool:
        """Return whether a hit's amount can be paid: every earlier claim on the meter is validated or withdrawn."""
        earlier = (other for other in self.hits.values() if other.id < hit.id and other.on_meter)
        return not hit.on_meter or not any(other.state in mc.HIT_UNVALIDATED for other in earlier)

    def hit_of(self, seat: int | None) -> Hit | None:
        """Return the hit of a seat that is not withdrawn."""
        for hit in self.hits.values():
            if hit.seat == seat and hit.state != mc.HIT_WITHDRAWN:
                return hit
        return None


class Hold(msgspec.Struct):
    """An irregularity that is not cleared: what it concerns, and its open steps in order."""

    id: int
    trigger: str
    clauses: tuple[str, ...]
    steps: list[str]
    outcomes: tuple[str, ...] = ()
    slot: str | None = None
    deck: str | None = None
    seat: int | None = None
    acknowledges: str = "floorperson"
    evidence: tuple[str, ...] = ()  # what the acknowledgment confirms
    decides: str = "rule"
    choices: dict[str, tuple[str, ...]] = {}  # the decider's possible answers, with the outcomes of each
    this_round: bool = False  # it concerns the current round, not only the next


class IssuedCommand(msgspec.Struct):
    """A command that has not ended."""

    slot: str
    act: str
    number: int = 0
    deck: str | None = None
    unknown: bool = False
    is_result_reported: bool = False  # the device has reported the result


class TableState(msgspec.Struct):
    """The whole state of a table."""

    dealing: (
        DealingName  # the method in use; differs from the submission only while a device is out of order and signed
    )
    shuffling: Literal["machine", "hand"]
    start: StartName | None
    slots: dict[str, SlotState] = {}
    decks: dict[str, Deck] = {}
    round: Round = msgspec.field(default_factory=Round)
    progressive: Progressive = msgspec.field(default_factory=Progressive)
    book: CardBook = msgspec.field(default_factory=CardBook)
    money: Money = msgspec.field(default_factory=Money)
    prompts: dict[int, Prompt] = {}
    holds: dict[int, Hold] = {}
    commands: dict[int, IssuedCommand] = {}
    last_deck: str | None = None  # the deck of the last round or shoe
    shoe_over: bool = False  # the cover card came out, or a floorperson ordered a shuffle: no further round
    shoe_ordered: bool = False  # a floorperson ordered the shuffle before the cover card came out
    cut_first: int | None = None  # the seat where the cover card came out
    cover_seat_due: bool = False  # it came out in the deal, and its seat is not entered yet (O3)
    begun: bool = False  # a round was dealt since the table opened or was idle
    first_seat: int | None = None  # the first player to arrive
    regulars: list[int] | None = None  # seats that played the last round of this shoe; None: no round yet
    uncounted: int = 0  # rounds since the stub was last counted
    dice: Literal["none", "fresh", "doubtful", "expired"] = "none"  # doubtful: the shaker was opened
    shaker_for: str | None = None  # the new dealer's credential until that dealer takes over the shaker
    button: int = 1  # the place where the flat button must be
    button_seen: int | None = None
    burn_shoe: int = 0  # cards to burn for a new shoe
    burn_dealer: int = 0  # cards to burn for a new dealer
    late_chips: list[int] = []  # seats with a chip placed after the lock-out
    next_id: int = 1
    lost: tuple[int, int] = (0, 0)  # range of ids that the box may have sent, unrecorded, before its last restart
    copy_awaited: bool = False  # the second copy is not reached since the start, and no two people confirmed that
    copy_kept: bool = False  # a second copy was reached before: a start without it needs two people's confirmation
    spots: dict[int, SpotReport] = {}  # by seat; forgotten when the sensor reconnects, because its count starts again
    lid_off: bool = False  # the shaker was armed or read and not covered since
    signs: dict[str, str] = {}  # why each known sign does not show the meter; empty: it does
    enrolled: dict[str, tuple[str, str]] = {}  # by slot: serial number and key fingerprint of the enrolled device
    revoked: list[tuple[str, str]] = []  # keys that this table never accepts again

    @property
    def burn_due(self) -> int:
        """How many cards must be burned before any is dealt; a new shoe and a new dealer each need theirs."""
        return self.burn_shoe + self.burn_dealer
