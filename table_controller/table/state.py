"""What the core knows of one table, as plain data: it can be copied, compared, written down and read back. No behaviour."""

from __future__ import annotations

import msgspec

from devices.service import ABSENT
from table_controller.ledger.cards import CardBook
from table_controller.table import machines as mc
from table_controller.table.decisions import Prompt


class Deck(msgspec.Struct):
    """One physical deck, or one batch of six; known by its back colour."""

    name: str
    state: str = mc.RECEIVED
    place: str = "tray"  # tray, SLOT (inside), SLOT/gate, shoe slot, hands, rack
    verified: bool = False  # counted right (where somebody counts) since it was last shuffled
    expired: bool = False
    preshuffled: bool = False
    two_jokers: bool = False
    by_hand: bool = False  # dealt by hand at any time: then the shorter interval counts
    machine_shuffled: bool = False
    rounds: list[int] = []  # dealt from it since it was last found whole
    confirmed: list[str] = []  # opening steps that people have confirmed
    declined: list[int] = []  # seats that did not want to cut


class Slot(msgspec.Struct):
    """One device's place: its service state and what it holds."""

    kind: str
    state: str = ABSENT
    deck: str | None = None
    ran: bool = False  # a cycle was begun on what is inside
    loaded: int | None = None  # a shoe's count of what it took in


class Round(msgspec.Struct):
    """The round in hand. Position 0 is the dealer; seats are 1 to 6."""

    number: int = 0
    state: str = mc.IDLE
    deck: str | None = None
    seats: tuple[int, ...] = ()
    seats_entered: bool = False
    start: int | None = None  # position number 1 to 7
    asked_start: bool = False  # the shaker is armed, or the generator was told to draw
    announced: bool = False  # the dealer's total agrees with the dice
    to_deal: list[int] = []  # positions that still wait for their stack, in order
    in_slot: int | None = None  # the position whose stack lies in the delivery slot
    dealt: int = 0  # cards dealt
    discarded: int = 0  # cards found face up and discarded in this deal
    face_up: int = 0
    replacement: int = 0
    stub: int | None = None
    stub_done: bool = False
    recounted: bool = False
    decided: list[int] = []
    dead: list[int] = []
    settled: list[int] = []
    cover_card_out: bool = False
    parked: bool = False  # the shaker was covered, shaken once and put aside after the deal


class SeatBets(msgspec.Struct):
    """One seat's sensor in this round."""

    sequence: int = 0
    placed: bool = False  # as far as frames have come; says nothing about acceptance
    latched: bool = False
    bet: bool | None = None  # after the latch; None: undecided


class Progressive(msgspec.Struct):
    """The progressive bets of the round. The latch is the order."""

    state: str = mc.CLOSED
    lock: int = 0
    seats: dict[int, SeatBets] = {}
    late: list[int] = []

    @property
    def accepted(self) -> list[int]:
        """The seats whose bet counts."""
        return [seat for seat, bets in sorted(self.seats.items()) if bets.latched and bets.bet]


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
    unknown: bool = False


class State(msgspec.Struct):
    """A whole table."""

    slots: dict[str, Slot] = {}
    decks: dict[str, Deck] = {}
    round: Round = msgspec.field(default_factory=Round)
    progressive: Progressive = msgspec.field(default_factory=Progressive)
    book: CardBook = msgspec.field(default_factory=CardBook)
    prompts: dict[int, Prompt] = {}
    holds: dict[int, Hold] = {}
    commands: dict[int, Issued] = {}
    dealing: str = ""  # the method in use; another one only while a dead device is signed
    shuffling: str = ""  # machine or hand
    start: str = ""
    last_deck: str | None = None
    uncounted: int = 0  # rounds since the stub was last counted
    dice_expired: bool = False
    cut_first: int | None = None  # the seat where the cover card came out
    dealer_burn_due: bool = False
    shoe_burn_due: bool = False
    next_id: int = 1
