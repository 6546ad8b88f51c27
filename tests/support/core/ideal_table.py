"""A table core with ideal devices and people, event by event. No bytes and no time."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final, TypeVar

from simulators.casino.dealt_hands import enter_dealt
from simulators.casino.table_layout import default_choices
from table_controller.rulebook import GAMES, check_submission
from table_controller.rulebook import edition as committed
from table_controller.rulebook.cards import NOTATION
from table_controller.table import dealing, progressive_bets, shuffling, stub
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.core import Table
from table_controller.table.decisions import Command, Decision, Finding, HoldOpened, Prompt, RequestRefused
from table_controller.table.hits import DISPUTED, NO_WIN
from table_controller.table.meter_visibility import PAGE
from table_controller.table.view import ODDS
from tests.support.suite.clauses import wrong_citations

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.rulebook import Edition
    from table_controller.rulebook.vocabulary import DeviceFact
    from table_controller.table.permits import ReasonRow
    from table_controller.table.state import Deck, Hold, Round, TableState

T = TypeVar("T", bound=Decision)

DEALER: Final = ev.Person("dealer", "D1")
FLOOR: Final = ev.Person("floorperson", "F1")
OTHER_FLOOR: Final = ev.Person("floorperson", "F2")
TECH: Final = ev.Person("technician", "T1")
AUDITOR: Final = ev.Person("auditor", "A1")
PEOPLE: Final = {"dealer": DEALER, "floorperson": FLOOR, "technician": TECH}

# Rules that a rule mutation uses instead of the committed ones; otherwise empty.
EDITIONS: Final[dict[str, Edition]] = {}
PERMITS: Final[list[tuple[ReasonRow, ...]]] = []

# A table with every machine that the game can have.
CHOICES: Final[dict[str, dict[str, Any]]] = {game: default_choices(game) for game in GAMES}
# Further choices of a progressive that the regulation leaves open.
WILD_PROGRESSIVE: Final[dict[str, Any]] = {
    "wagers": ["progressive"], "paytables": {"progressive": "687a-progressive-1"}, "progressive_rate_bp": 1500,
    "folded_progressive": True, "settings": {"envy_paid_to": "progressive_bettors", "stake_returned": "no"},
}  # fmt: skip
# A table without machines: no shuffler, and a shoe that is no device.
NO_MACHINES: Final[dict[str, Any]] = {"shuffler": "none", "shuffler_counts": False, "two_decks": False}

_SENSORS: Final[dict[str, DeviceFact]] = {f"bet_sensor.{n}": "bet_sensor" for n in range(1, 7)}
_CARDS: Final[dict[str, DeviceFact]] = {"shuffler.1": "shuffler", "shoe.1": "shoe"}
_SHAKER: Final[dict[str, DeviceFact]] = {"shaker.1": "shaker"}
SLOTS: Final[dict[str, dict[str, DeviceFact]]] = {
    game: {**_CARDS, **(_SHAKER if committed(game).starts else {}), **(_SENSORS if committed(game).progressive else {})}
    for game in GAMES
}


def edition(game: str) -> Edition:
    """Return the edition that tests play by: the committed one, or a mutant of it."""
    return EDITIONS.get(game) or committed(game)


def next_change(state: TableState, seat: int) -> int:
    """Return a number for the change that a sensor latches: above all that it has reported."""
    return state.spots[seat].sequence + 1 if seat in state.spots else 1


def signs_report(table: Table) -> list[ev.Event]:
    """Return the events by which the panel's page and each meter sign report that they show the meter and the odds."""
    odds: list[ev.Event] = [ev.SignShown(ODDS)] if table.context.submission.posted_on_sign else []
    if not table.context.has_progressive:
        return odds
    slots = [name for name, slot in table.state.slots.items() if slot.kind == "meter_sign"]
    return [*odds, *(ev.SignShown(sign) for sign in (PAGE, *slots))]


class IdealTable:
    """Plays a table: events go in one by one, and ideal devices and people answer the decisions.

    `twist(decision)` may return other events for a decision, or None for the ideal ones.
    """

    def __init__(
        self, game: str, slots: dict[str, DeviceFact] | None = None, rules: Edition | None = None, **choices: Any
    ) -> None:
        self.edition = rules or edition(game)
        raw = {"adjacent_boxes": 1} | CHOICES[game] | choices
        self.slots = SLOTS[game] if slots is None else slots
        self.table = Table(self.edition, check_submission(self.edition, raw), self.slots)
        if PERMITS:
            self.table.context.reasons = PERMITS[0]
        self.log: list[tuple[ev.Event, list[Decision]]] = []
        self.bets: set[int] = set()  # seats with a chip on their sensor
        self.seats: tuple[int, ...] = (1, 3, 6)
        self.side: dict[str, tuple[int, ...]] = {}  # side wager -> seats that have it
        self.boxes: list[tuple[int, ...]] = []  # boxes of each player who has several
        self.dice: tuple[int, int, int] = (2, 3, 5)
        self.dealt: dict[int, str] = {}  # the cards that a shoe that identifies them dealt to a place
        self.loads_shuffler = True  # somebody puts waiting decks into the shuffler
        self.override: Callable[[Decision], list[ev.Event] | None] = lambda _: None
        self._queue: deque[ev.Event] = deque()

    # --- looking -----------------------------------------------------------------------------------------------------

    @property
    def state(self) -> TableState:
        """The state of the core."""
        return self.table.state

    @property
    def round_(self) -> Round:
        """The current round."""
        return self.state.round

    @property
    def phase(self) -> str:
        """The round's state."""
        return self.state.round.state

    def deck(self, name: str = "blue") -> Deck:
        """One deck."""
        return self.state.decks[name]

    def prompts(self, kind: str | None = None) -> list[Prompt]:
        """Return the open prompts (of a kind)."""
        return [p for p in self.state.prompts.values() if kind in (None, p.kind)]

    def prompt(self, kind: str) -> Prompt:
        """Return the single open prompt of a kind."""
        (prompt,) = self.prompts(kind)
        return prompt

    def hold(self, trigger: str | None = None) -> Hold:
        """Return the single open hold (of a trigger)."""
        (hold,) = (h for h in self.state.holds.values() if trigger in (None, h.trigger))
        return hold

    def keys(self, act: Any, slot: str | None = None, deck: str | None = None, **more: Any) -> set[str]:
        """Return the keys of the reasons against an actuation."""
        return {reason.key for reason in self.table.permit(act, slot, deck, **more)}

    def reasons_against_opening(self) -> set[str]:
        """Return the keys of the reasons against a new round with the next deck."""
        deck = self.table.context.next_deck()
        return self.keys("open_bets", deck=deck.name if deck else None)

    def cards_at(self, place: int) -> str:
        """Return the cards that a shoe dealt to a place: those that a test gave, or others that no other place has."""
        size = self.edition.hand.cards
        return self.dealt.get(place, " ".join(NOTATION[place * size : (place + 1) * size]))

    # --- playing -----------------------------------------------------------------------------------------------------

    def step(self, event: ev.Event) -> list[Decision]:
        """Submit one event, without reactions."""
        decisions = self.table.step(event)
        assert not wrong_citations(self.edition, decisions), decisions
        self.log.append((event, decisions))
        return decisions

    def play(
        self, *events: ev.Event, until: Callable[[Decision], bool] | None = None, most: int = 3000
    ) -> list[Decision]:
        """Submit events and all reactions, until nobody has anything to do (or `until` a decision)."""
        self._queue.extend(events)
        decided: list[Decision] = []
        for _ in range(most):
            if not self._queue:
                self._hands()
            if not self._queue:
                return decided
            decisions = self.step(self._queue.popleft())
            decided += decisions
            for decision in decisions:
                twisted = self.override(decision)
                self._queue.extend(self.answer(decision) if twisted is None else twisted)
            if until is not None and any(until(decision) for decision in decisions):
                self._queue.clear()
                return decided
        raise AssertionError("the table does not become idle")

    def settle(self, most: int = 3000) -> list[Decision]:
        """Answer all open prompts and commands as ideal people and devices do, until none is open."""
        self._queue.clear()
        for prompt in self.prompts():
            twisted = self.override(prompt)
            self._queue.extend(self.answer(prompt) if twisted is None else twisted)
        for id_, issued in self.state.commands.items():
            command = Command(id_, issued.slot, issued.act, issued.number)
            self._queue.extend(self.answer(command))
        return self.play(most=most)

    def start(self, *decks: str) -> IdealTable:
        """Have every device report, and bring decks."""
        self.play(*(ev.SlotChanged(slot, "appear") for slot in self.state.slots))
        self.play(*(ev.SlotChanged(slot, "verify") for slot in self.state.slots))
        self.play(*signs_report(self.table))
        for deck in decks or ("blue",):
            self.play(ev.DeckReceived(deck, DEALER))
        return self

    def round(self) -> list[Decision]:
        """Open a round, call no more bets, and play it to its end."""
        return self.play(ev.OpenRound(DEALER)) + self.play(ev.NoMoreBets(DEALER))

    def play_to(self, phase: str) -> IdealTable:
        """Play until the round is in a phase; its prompts stay open."""
        if self.phase == phase:
            return self
        there = lambda _: self.phase == phase  # noqa: E731
        if self.phase == mc.IDLE:
            self.play(ev.OpenRound(DEALER), until=there)
        if self.phase == mc.BETTING and phase != mc.BETTING:
            self.play(ev.NoMoreBets(DEALER), until=there)
        for _ in range(50):
            if self.phase == phase:
                return self
            self._queue.clear()
            for prompt in self.prompts():
                self._queue.extend(self.answer(prompt))
            for id_, issued in self.state.commands.items():
                self._queue.extend(self.answer(Command(id_, issued.slot, issued.act, issued.number)))
            self.play(until=there)
        raise AssertionError(f"the round does not come to {phase}: it is {self.phase}, {self.prompts()}")

    def answer_prompt(
        self,
        kind: str,
        choice: str | None = None,
        number: int | None = None,
        who: ev.Person | None = None,
        seats: tuple[int, ...] = (),
    ) -> list[Decision]:
        """Answer the single open prompt of a kind, without reactions. The cards of a winning hand are entered first."""
        if kind == "progressive" and choice is not None:
            self.enter_hand_for(self.prompt(kind), choice)
        prompt = self.prompt(kind)
        if number is None and prompt.number and choice in (None, prompt.choices[0]):
            number = self._number(prompt)
        given = seats or (self._seats(prompt) if prompt.seats else ())
        return self.step(ev.Answer(prompt.id, choice or prompt.choices[0], who or PEOPLE[prompt.role], number, given))

    def enter_hand_for(self, prompt: Prompt, hand: str) -> None:
        """Enter cards that are a line of the paytable for a seat whose bet is asked about, unless it is offered.

        A line that the cards which are left cannot be, such as five aces twice, is named by a floorperson's ruling.
        """
        seat = prompt.seat or 0
        if hand == DISPUTED or hand in prompt.choices:
            return
        entry = enter_dealt(self.table.context, seat, hand, DEALER)
        if entry is None:
            self.rule_claim(seat)
        else:
            self.step(entry)

    def name_hand(self, seat: int, hand: str) -> list[Decision]:
        """Enter cards of a seat that are a hand, and claim it; return the decisions of the claim."""
        for entered in (False, True):
            (prompt,) = (each for each in self.prompts("progressive") if each.seat == seat)
            if not entered:
                self.enter_hand_for(prompt, hand)
        return self.step(ev.Answer(prompt.id, hand, DEALER))

    def rule_claim(self, seat: int) -> None:
        """Have a floorperson rule that the dealer names the hand of a seat, against its cards."""
        rules = self.table.context.meter
        assert rules is not None
        if seat not in self.round_.hands:
            hands = (NO_WIN, *(award.hand for award in rules.awards))
            entries = (enter_dealt(self.table.context, seat, hand, DEALER) for hand in hands)
            self.step(next(entry for entry in entries if entry is not None))
        for kind, choice in (("progressive", DISPUTED), ("claim_disputed", "ranked_otherwise")):
            (prompt,) = (each for each in self.prompts(kind) if each.seat == seat)
            self.step(ev.Answer(prompt.id, choice, PEOPLE[prompt.role]))

    def count_stub(self, number: int) -> list[Decision]:
        """Answer the stub count: by the dealer, or by the floorperson after a different count of the shoe."""
        return self.answer_prompt("stub_recount" if self.prompts("stub_recount") else "stub", number=number)

    def declare(self, trigger: str, **about: Any) -> list[Decision]:
        """Report an irregularity as the dealer."""
        return self.step(ev.IrregularityReported(trigger, DEALER, **about))

    def order(self, what: Any, **about: Any) -> list[Decision]:
        """Give an order as the floorperson."""
        return self.step(ev.Ordered(what, FLOOR, **about))

    def clear_holds(self) -> list[Decision]:
        """Answer the prompts of open irregularities, and nothing else."""
        decided: list[Decision] = []
        for _ in range(200):
            asked = [p for p in self.prompts() if p.hold is not None]
            if not asked:
                return decided
            for event in self.answer(asked[0]):
                decided += self.step(event)
            for id_, issued in list(self.state.commands.items()):
                if issued.act in ("clear_out", "return_to_service", "stop", "lock"):
                    for event in self.answer(Command(id_, issued.slot, issued.act, issued.number)):
                        decided += self.step(event)
        raise AssertionError(f"irregularities that do not end: {self.state.holds}")

    # --- hands, devices, people ---------------------------------------------------------------------------------------

    def _hands(self) -> None:
        """Put a waiting deck into the shuffler."""
        shuffler = self.state.slots.get("shuffler.1")
        waiting = [d for d in self.state.decks.values() if shuffling.is_waiting(self.table.context, d)]
        used = mc.IDLE if self.state.dealing == "continuous_shuffler" else None
        back = [
            d for d in self.state.decks.values() if d.state == mc.IN_PLAY and self.state.book.balance(d.name, "rack")
        ]
        if not self.loads_shuffler or shuffler is None or shuffler.state != "in_service" or self.state.holds:
            return
        if (self.state.shuffling == "machine" and shuffler.deck is None and waiting and not shuffler.intake) or (
            used == self.phase and back and not shuffler.intake
        ):
            self._queue.append(ev.CardsInserted("shuffler.1"))

    def answer(self, decision: Decision) -> list[ev.Event]:
        """Return the reactions of ideal devices and people to a decision."""
        if isinstance(decision, Command):
            return [*self._device(decision), ev.CommandEnded(decision.id, "done"), *self._after(decision)]
        if isinstance(decision, Prompt):
            return self._person(decision)
        return []

    def _device(self, command: Command) -> list[ev.Event]:
        slot, count = command.slot, self.edition.cards.count
        continuous = self.state.dealing == "continuous_shuffler"
        match command.act:
            case "shuffle":
                counts = self.table.context.submission.shuffler_counts
                return [ev.ShuffleEnded(slot, count if counts else None, shuffled=True)]
            case "eject" | "clear_out":
                return [ev.DeckGivenOut(slot)]
            case "insert":
                return [ev.StackInserted(slot, count)]
            case "load" if continuous:
                return [ev.DiscardsTakenIn(slot, self.state.book.balance(self.state.slots[slot].deck or "", "rack"))]
            case "load":
                return [ev.ShoeLoaded(slot, count if self.state.dealing == "automated_shoe" else None)]
            case "dispense":
                return [ev.StackOut(slot, command.number)]
            case "give_stub" if self.state.dealing == "automated_shoe":
                return [ev.StubOut(slot, stub.expected_stub(self.table.context))]
            case "draw":
                return [ev.NumberDrawn(slot, 4)]
            case "release_cards":
                dealt_by = self.round_.dealt_hands[command.number].dealt.dealt_by
                return [ev.HandReleased(slot, command.id, dealt_by, self.cards_at(command.number))]
            case "lock":
                seat = int(slot.rpartition(".")[2])
                return [
                    ev.SeatLatched(seat, command.number, command.id, next_change(self.state, seat), seat in self.bets)
                ]
            case "return_to_service":
                return []
            case _:
                return []

    def _after(self, command: Command) -> list[ev.Event]:
        if command.act == "dispense" and self.state.dealing == "automated_shoe":
            return [ev.StackTaken(command.slot)]
        if command.act == "arm_dice":
            return [ev.DiceRead(command.slot, self.dice)]
        if command.act == "return_to_service":
            return [ev.SlotChanged(command.slot, "verify")]
        if command.act == "start_round":
            return [ev.CardsDrawn(command.slot, dealing.first_deal_cards(self.table.context))]
        return []

    def correction(self, prompt: Prompt) -> ev.HandEntered | None:
        """Return the entry of cards that win nothing, in place of those by which a claim was made that is withdrawn."""
        return enter_dealt(self.table.context, prompt.seat or 0, NO_WIN, DEALER)

    def _number(self, prompt: Prompt) -> int:
        return {
            "announce": sum(self.dice),
            "chips": len(self.state.progressive.accepted),
            "stub": stub.expected_stub(self.table.context) if self.state.round.seats_entered else 0,
            "stub_recount": stub.expected_stub(self.table.context),
            "cut": self.edition.cards.count // 2,
            "cover_back": self.edition.cut.cover_above_bottom or 0,
            "surrender_count": self.edition.hand.cards,
            "cards_together": self.edition.cards.count,
            "deck_counted": self.edition.cards.count,
            "count_deck": self.edition.cards.count,
            "hand_pay": max((last for _, last in self.state.money.book.slips), default=0) + 1,
        }[prompt.kind]

    def _seats(self, prompt: Prompt) -> tuple[int, ...]:
        if prompt.kind.startswith("side_wagers/"):
            return self.side.get(prompt.kind.partition("/")[2], ())
        if prompt.kind == "progressive_envy":
            return progressive_bets.seats_paid_envy(self.table.context, prompt.seat or 0)
        if prompt.kind == "players":
            return next((each for each in self.boxes if each[0] not in self.round_.players), ())
        regulars = self.state.regulars
        if prompt.kind == "seats" and self.table.context.submission.mid_shoe_entry_ban and regulars is not None:
            return tuple(seat for seat in self.seats if seat in regulars)  # no new player may enter before the shuffle
        return self.seats[:1] if prompt.kind in ("first_arrival", "cover_seat") else self.seats

    def _person(self, prompt: Prompt) -> list[ev.Event]:
        if prompt.kind == "progressive" and prompt.seat in self.round_.claims_fell and prompt.seat in self.round_.hands:
            corrected = None if prompt.choices[0] == NO_WIN else self.correction(prompt)
            return [corrected or ev.Answer(prompt.id, prompt.choices[0], DEALER)]
        if prompt.kind == "move_button" and prompt.slot is not None:
            return [ev.ButtonSeen(prompt.slot, self.state.button)]
        number = self._number(prompt) if prompt.number else None
        seats = self._seats(prompt) if prompt.seats else ()
        events: list[ev.Event] = []
        if prompt.kind == "additional_cards" and self.state.round.counting:
            assert prompt.slot is None
            events.append(ev.CardsDrawn("shoe.1", self.state.round.drawn + self.edition.hand.second_deal))
        choice = prompt.choices[-1] if prompt.seats and not seats else prompt.choices[0]
        return [*events, ev.Answer(prompt.id, choice, self.person_for(prompt), number, seats)]

    def person_for(self, prompt: Prompt) -> ev.Person:
        """Return who answers a prompt: a second floorperson documents a hand pay whose bet the first looked up."""
        hit = self.state.money.hit_of(prompt.seat) if prompt.kind == "hand_pay" else None
        return OTHER_FLOOR if hit is not None and hit.looked_up_by == FLOOR.identity else PEOPLE[prompt.role]


# --- reading decisions ------------------------------------------------------------------------------------------------


def decisions_of(kind: type[T], decisions: list[Decision]) -> list[T]:
    """Return the decisions of a kind."""
    return [decision for decision in decisions if isinstance(decision, kind)]


def commanded_acts(decisions: list[Decision]) -> list[str]:
    """Return the acts of all commands."""
    return [command.act for command in decisions_of(Command, decisions)]


def found_irregularity(decisions: list[Decision]) -> HoldOpened:
    """Return the single irregularity found."""
    (one,) = decisions_of(HoldOpened, decisions)
    return one


def findings(decisions: list[Decision], kind: str) -> list[Finding]:
    """Return the findings of a kind."""
    return [finding for finding in decisions_of(Finding, decisions) if finding.kind == kind]


def refusal_text(decisions: list[Decision]) -> str:
    """Return the sentence of the single refusal; there must be no other decision."""
    assert all(isinstance(decision, RequestRefused) for decision in decisions), decisions
    (one,) = decisions_of(RequestRefused, decisions)
    return one.what
