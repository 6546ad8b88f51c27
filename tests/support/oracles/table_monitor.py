"""Checks the invariants of a table from its events and decisions alone, never through the core's own permits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from devices.service import UNSIGNED
from table_controller.table import events as ev
from table_controller.table.decisions import (
    Command,
    HoldCleared,
    HoldOpened,
    Prompt,
    PromptClosed,
    RequestRefused,
    StateChanged,
    WagersReturned,
)
from tests.support.oracles.money_monitor import MoneyMonitor

if TYPE_CHECKING:
    from table_controller.ledger.meter import MeterRules
    from table_controller.rulebook import Edition
    from table_controller.table.decisions import Decision
    from table_controller.table.state import TableState

_DEALS: Final = ("dispense", "start_round")
_BARRED_WHILE_UNSIGNED: Final = ("load", *_DEALS, "arm_dice", "draw", "open_bets")
# Questions that may be asked only during a round in play.
_OF_PLAY: Final = ("dealt", "additional_cards", "hands_set", "decide", "reveal", "settled", "chips", "announce")
_OF_A_HAND: Final = ("decide", "settled", "additional_cards", "surrender_collected", "surrender_count")
_RESHUFFLES: Final = ("reshuffle", "reshuffle_with_dealt", "hold_deck", "remove_deck")


class MonitoredDeck(msgspec.Struct):
    """What the monitor knows of one deck."""

    inspected: list[str] = []  # who has found it whole
    shuffled: bool = False  # since it was last dealt
    wrong: bool = False  # found wrong, and not found whole since
    old: list[int] = []  # intervals that have passed
    by_hand: bool = False
    removed: bool = False


class TableMonitor(msgspec.Struct):
    """The invariants of one table."""

    whole: int
    hours: dict[str, int]
    needs_start: bool
    decks: dict[str, MonitoredDeck] = {}
    asked: dict[int, Prompt] = {}
    holds: dict[int, str | None] = {}  # open irregularities, with the deck that each names
    in_shuffler: str | None = None
    loading: str | None = None
    load: int = 0  # the open command to load, if there is one
    inserting: int = 0  # the command by which the stack is inserted into the shoe
    shoe: str | None = None  # the deck that a shoe was loaded with
    closed: bool = False  # no more bets was called in this round
    position: bool = False  # the starting position of this round was found
    void: bool = False  # this round's wagers went back
    unsigned: list[str] = []
    methods: tuple[str, str] = ("", "")  # while a device is out of order and unsigned: what was in use when it died
    locks: dict[int, int] = {}
    overdue: bool = False
    latched: dict[int, bool] = {}
    money: MoneyMonitor = msgspec.field(default_factory=MoneyMonitor)
    returned: list[int] = []  # seats whose wagers alone went back in this round
    optional: bool = False  # an irregularity of this round lets optional wagers be settled although it is void
    dealing: str = ""
    latches: list[str] = []  # slots whose fault nobody has acknowledged
    about: dict[int, str] = {}  # open irregularities that name a slot
    seen_to: list[str] = []  # slots with a fault of which a floorperson has acknowledged an irregularity
    old_dice: bool = False
    ordered: dict[int, int] = {}  # cards that a shoe was commanded to deliver
    moving: dict[int, str] = {}  # commands that deal and have not ended, with their slots
    sensed: dict[int, tuple[int, bool]] = {}  # what each sensor reported before it was locked: number, whether a bet

    @classmethod
    def of(cls, edition: Edition, rules: MeterRules | None = None) -> TableMonitor:
        """Return a monitor that has seen nothing."""
        return cls(
            edition.cards.count, {str(k): hours for k, hours in edition.change_hours.items()}, bool(edition.starts),
            money=MoneyMonitor.of(rules),
        )  # fmt: skip

    def key(self) -> object:
        """Return the state that identifies this monitor in a search, ids left out."""
        return (
            {name: msgspec.to_builtins(cards) for name, cards in self.decks.items()}, self.shoe,
            self.loading, self.load > 0,
            self.in_shuffler, self.closed, self.position, self.void, self.unsigned, self.methods, self.overdue,
            sorted(self.latched.items()), sorted(self.locks), [deck or "" for deck in self.holds.values()],
            sorted(self.returned), self.optional, len(self.moving), sorted(self.latches), self.seen_to,
            sorted(self.about.values()),
            self.old_dice, sorted(self.ordered.values()), self.money.key(), sorted(self.sensed.items()),
        )  # fmt: skip

    # --- what happens -------------------------------------------------------------------------------------------------

    def watch(self, event: ev.Event, decisions: list[Decision], state: TableState) -> None:
        """Take one step of the table; AssertionError for a broken invariant."""
        refused = any(isinstance(decision, RequestRefused) for decision in decisions)
        if not refused or isinstance(event, ev.Answer):  # what was refused has not happened
            self._event(event)
        self.dealing = str(state.dealing)
        for decision in decisions:
            self._decision(event, decision, state)
        self._voided(event, decisions)
        self._given_up(decisions)
        if isinstance(event, ev.StackOut) and event.count not in self.ordered.values() and not self.void:
            assert any(isinstance(d, HoldOpened) for d in decisions) or self.holds, "a wrong stack, and nobody is told"
        self.money.watch(decisions, self.latched, state)
        self._always(state)

    def _event(self, event: ev.Event) -> None:  # noqa: C901 - one short case for each relevant event
        match event:
            case ev.DeckReceived(preshuffled=True):
                self.decks[event.deck] = MonitoredDeck(["dealer", "floorperson"], shuffled=True)
            case ev.DeckReceived() if event.deck not in self.decks or self.decks[event.deck].removed:
                self.decks[event.deck] = MonitoredDeck()
            case ev.ShuffleEnded() if self.in_shuffler is not None:
                cards = self.decks[self.in_shuffler]
                if event.count is not None:
                    cards.wrong = event.count != self.whole or event.rejected
                cards.shuffled = event.shuffled and not cards.wrong
            case ev.DeckGivenOut():
                self.in_shuffler = None
            case ev.StackInserted() if self.in_shuffler is not None:
                if event.count not in (None, self.whole):
                    self.decks[self.in_shuffler].wrong = True
                if self.inserting:  # without an order, people find the deck where it was
                    self.loading, self.in_shuffler, self.inserting = self.in_shuffler, None, 0
            case ev.CommandEnded() if event.command == self.load and event.outcome != "unknown":
                self.load = 0
            case ev.ShoeLoaded() if self.loading is not None and self.load:
                self.shoe, self.loading = self.loading, None
                if event.count not in (None, self.whole):
                    self.decks[self.shoe].wrong = True
            case ev.IrregularityReported(trigger="count_wrong") if event.deck in self.decks:
                self.decks[event.deck or ""].wrong = True
            case ev.Due(timer=timer) if timer.startswith("deck_age/"):
                _, deck, hours = timer.split("/")
                self.decks[deck].old.append(int(hours))
            case ev.Due(timer="lock") if self.closed:
                self.overdue = True
            case ev.NoMoreBets():
                self.closed = True
            case ev.CommandEnded() if event.command in self.moving and event.outcome != "unknown":
                del self.moving[event.command]
                self.ordered.pop(event.command, None)
            case ev.Due(timer="dice_age"):
                self.old_dice = True
            case ev.NumberDrawn(number=number):
                self.position = 1 <= number <= 7
            case ev.SlotChanged(trigger="appear") if event.slot.startswith("bet_sensor."):
                self.sensed.pop(int(event.slot.rpartition(".")[2]), None)  # it may be another one
            case ev.BetSensed() if not self.closed:
                self.sensed[event.seat] = max(self.sensed.get(event.seat, (0, False)), (event.sequence, event.placed))
            case ev.SeatLatched() if event.lock == self.locks.get(event.seat) and not self.overdue:
                if not self._contradicted(event):
                    self.latched.setdefault(event.seat, event.bet)

    def _contradicted(self, latch: ev.SeatLatched) -> bool:
        """Whether a sensor had reported before the call what its latch knows nothing of."""
        sequence, placed = self.sensed.get(latch.seat, (0, False))
        return latch.sequence < sequence or (latch.sequence == sequence and latch.bet != placed)

    def _answered(self, event: ev.Answer, prompt: Prompt) -> None:
        """A question was answered: apply what follows for a deck, the position or a bet."""
        cards = self.decks.get(prompt.deck or "")
        match prompt.kind:
            case "opening/inspect/dealer" | "opening/verify_inspection/floorperson" if event.choice == "whole":
                assert cards is not None
                cards.inspected = sorted({*cards.inspected, event.who.role})
            case "hand_shuffle":
                assert cards is not None
                cards.shuffled = True
            case "put_in_shoe":
                self.loading = prompt.deck
            case "cards_together" | "deck_counted" | "count_deck" if event.number is not None:
                self._of(event, prompt).wrong = event.number != self.whole
            case "collected" if event.choice == "not_full":
                assert cards is not None
                cards.wrong = True
            case "announce":
                self.position = True
            case "dice":
                self.old_dice = False
            case "seat_undecided":
                self.latched[prompt.seat or 0] = event.choice == "bet"

    def _of(self, _event: ev.Answer, prompt: Prompt) -> MonitoredDeck:
        """The deck that a hold's step is about: the one it names."""
        named = prompt.deck or self.holds.get(prompt.hold or 0) or self.shoe or next(iter(self.decks))
        return self.decks[named]

    # --- what is decided ----------------------------------------------------------------------------------------------

    def _decision(self, event: ev.Event, decision: Decision, state: TableState) -> None:  # noqa: C901 - a short case each
        match decision:
            case Prompt():
                self.asked[decision.id] = decision
                assert not (self.void and decision.kind in _OF_PLAY), f"{decision.kind} is asked in a void round"
                again = decision.kind in _OF_A_HAND and decision.seat in self.returned
                assert not again, f"{decision.kind} is asked of seat {decision.seat}, whose wagers went back"
                if decision.kind in ("dealt", "additional_cards"):
                    self._deal(state)
                if self.unsigned and decision.kind == "hand_shuffle":
                    assert self.methods[1] == "hand", "cards are shuffled by hand while a dead device is unsigned"
            case PromptClosed():
                prompt = self.asked.pop(decision.id)
                if decision.choice is not None:
                    assert isinstance(event, ev.Answer)
                    assert event.who.role == prompt.role, f"{event.who.role} answered for the {prompt.role}"
                    self._answered(event, prompt)
            case HoldOpened():
                self.holds[decision.hold] = decision.deck
                if decision.slot is not None:
                    self.about[decision.hold] = decision.slot
                self.optional = self.optional or "settle_optional_wagers" in decision.outcomes
                if decision.deck is not None and set(decision.outcomes) & set(_RESHUFFLES):
                    self.decks[decision.deck].shuffled = False
            case HoldCleared():
                assert isinstance(event, ev.Answer), "an irregularity was cleared by nobody"
                assert event.choice == "acknowledged"
                del self.holds[decision.hold]
                slot = self.about.pop(decision.hold, None)
                if slot in self.latches and event.who.role == "floorperson":
                    self.seen_to = sorted({*self.seen_to, slot})
            case WagersReturned(seat=int() as seat):
                self.returned.append(seat)
            case WagersReturned():
                assert self.optional or not decision.settled, f"{decision.settled} are settled in a void round"
                self.void, self.closed, self.position, self.overdue = True, False, False, False
                self.locks, self.latched, self.sensed = {}, {}, {}
            case Command():
                self._command(decision, state)
            case StateChanged():
                self._moved(decision, state)
                self._latch(event, decision)

    def _command(self, command: Command, state: TableState) -> None:
        if command.act == "lock":
            self.locks[int(command.slot.rpartition(".")[2])] = command.id
        if command.act == "load":
            self.load = command.id
        if command.act == "insert":
            self.inserting = command.id
            self._insert(state)
        if command.act in _DEALS:
            self._deal(state)
            self.moving[command.id] = command.slot
            self.ordered[command.id] = command.number
        if command.act == "release_cards":
            round_, place = state.round, command.number
            shown = round_.state == "settling" or (round_.state == "playing" and not place)
            assert shown, f"the cards of place {place} are ordered while the round is {round_.state}"
            gave_up = {*round_.surrendered, *(seat for seat, choice in round_.decided.items() if choice == "surrender")}
            hidden = {*self.returned, *gave_up, *(() if not place else set(range(1, 7)) - set(round_.seats))}
            assert place not in hidden, f"the cards of seat {place} are ordered, whose hand no shoe releases"
        if command.act == "arm_dice":
            assert not self.old_dice, "old dice are armed"
        if command.act in _BARRED_WHILE_UNSIGNED:
            assert not self.unsigned, f"{command.act} while {self.unsigned} are dead and unsigned"

    def _insert(self, state: TableState) -> None:
        """A stack is about to be inserted into the shoe: between rounds, and nothing is wrong with its deck."""
        name = self.in_shuffler
        assert name is not None, "a stack is inserted, and no deck is in the shuffler"
        cards = self.decks[name]
        assert state.round.state == "idle", f"deck {name} is inserted while a round is {state.round.state}"
        assert cards.shuffled, f"deck {name} is inserted, which was not shuffled"
        assert not cards.wrong, f"deck {name} is inserted, which was found wrong"
        assert name not in self.holds.values(), f"deck {name} is inserted, which an irregularity names"

    def _deal(self, state: TableState) -> None:
        """Cards are about to be dealt: the round may be dealt, and its deck too."""
        name = state.round.deck
        assert name is not None
        cards = self.decks[name]
        assert self.closed, "cards are dealt before no more bets"
        assert not self.void, "cards are dealt in a void round"
        assert self.position or not self.needs_start, "cards are dealt before the starting position is known"
        assert not cards.wrong, f"cards of deck {name} are dealt, which was found wrong"
        assert not cards.removed, f"cards of deck {name} are dealt, which was removed"
        assert name not in self.holds.values(), f"cards of deck {name} are dealt, which an irregularity names"
        if state.dealing == "automated_shoe":
            assert self.shoe == name, f"the shoe holds {self.shoe}, and deck {name} is dealt"

    def _moved(self, moved: StateChanged, state: TableState) -> None:
        what, _, name = moved.what.partition(" ")
        if what == "deck":
            self._deck_moved(name, moved.state, state)
        elif what == "round":
            self._round_moved(moved.state, state)
        elif what == "slot" and moved.state == "out_of_order_unsigned":
            self.methods = self.methods if self.unsigned else (state.dealing, state.shuffling)
            self.unsigned.append(name)
        elif what == "slot" and name in self.unsigned:
            self.unsigned.remove(name)
            self.methods = self.methods if self.unsigned else ("", "")

    def _latch(self, event: ev.Event, moved: StateChanged) -> None:
        """A device that had a fault serves again only after a floorperson has acknowledged it."""
        what, _, name = moved.what.partition(" ")
        if what != "slot":
            return
        if moved.state in ("faulted", "out_of_order_unsigned"):
            self.latches = sorted({*self.latches, name})
            self.seen_to = [slot for slot in self.seen_to if slot != name]
        elif name in self.latches and moved.state == "unverified" and isinstance(event, ev.Answer | ev.SlotOrdered):
            assert event.who.role == "floorperson" or name in self.seen_to, (
                f"nobody has acknowledged the fault of {name}"
            )
            self.latches.remove(name)
            self.seen_to = [slot for slot in self.seen_to if slot != name]
        assert not (moved.state == "in_service" and name in self.latches), f"{name} serves, and nobody acknowledged"

    def _deck_moved(self, name: str, to: str, state: TableState) -> None:
        cards = self.decks[name]
        if to == "in_device":
            self.in_shuffler, cards.shuffled = name, False
        elif self.in_shuffler == name and to not in ("ready", "shuffled", "held", "in_play"):
            self.in_shuffler = None
        if to in ("rack", "stacked", "removed", "inspected", "received"):
            self.shoe = None if self.shoe == name else self.shoe
            cards.shuffled = False
        if to == "removed":
            self.decks[name] = MonitoredDeck(removed=True)
        if to == "in_play":
            assert cards.shuffled, f"deck {name} comes into play unshuffled"
            assert {"dealer", "floorperson"} <= set(cards.inspected), f"deck {name} was never inspected"
            cards.by_hand = cards.by_hand or state.dealing == "hand"

    def _round_moved(self, to: str, state: TableState) -> None:
        if to == "betting":
            self.closed = self.position = self.void = self.overdue = self.optional = False
            self.returned = []
            self.locks, self.latched, self.sensed = {}, {}, {}
            cards = self.decks[state.round.deck or ""]
            limit = min(self.hours.values()) if cards.by_hand else self.hours[state.dealing]
            assert limit not in cards.old, f"a round opens with a deck that is {limit} hours old"
            assert not cards.wrong, "a round opens with a deck that was found wrong"
            assert not self.holds, "a round opens while an irregularity is open"
            assert not self.unsigned, "a round opens while a dead device is unsigned"
        if to == "starting_position" and state.start == "flat_button":
            self.position = True
        assert not (self.void and to in ("settling", "complete", "playing")), f"a void round is {to}"

    def _voided(self, event: ev.Event, decisions: list[Decision]) -> None:
        """A round that becomes void gives all wagers back, unless nobody had one, and what deals is stopped."""
        if StateChanged("round", "void") not in decisions:
            return
        nobody = isinstance(event, ev.Answer) and event.choice == "nobody"
        back = [d for d in decisions if isinstance(d, WagersReturned) and d.seat is None]
        assert nobody or back, "a round is void, and its wagers do not go back"
        stopped = any(isinstance(d, Command) and d.act == "stop" and d.safe for d in decisions)
        assert stopped or not self.moving or self.dealing != "automated_shoe", (
            "the round is void, and the shoe deals on"
        )

    def _given_up(self, decisions: list[Decision]) -> None:
        """A device that is out of order is stopped; nothing waits for what it was dealing."""
        for given in [
            d.what.partition(" ")[2] for d in decisions if isinstance(d, StateChanged) and d.state == UNSIGNED
        ]:
            dealt = [id_ for id_, slot in self.moving.items() if slot == given]
            stopped = any(isinstance(d, Command) and d.act == "stop" and d.slot == given and d.safe for d in decisions)
            assert stopped or not dealt, f"{given} is out of order, and deals on"
            for id_ in dealt:
                del self.moving[id_], self.ordered[id_]

    # --- what holds at any time ---------------------------------------------------------------------------------------

    def _always(self, state: TableState) -> None:
        for seat in state.progressive.accepted:
            assert self.latched.get(seat), f"a bet of seat {seat} is accepted that no latch confirmed in time"
        for seat, bets in state.progressive.seats.items():
            if bets.latched:
                assert seat in self.latched, (
                    f"seat {seat} is decided by a latch that contradicts its sensor, or by nobody"
                )
        for prompt in state.prompts.values():
            if prompt.kind in ("dealt", "additional_cards"):
                self._deal(state)
        if self.unsigned:
            assert self.methods == (state.dealing, state.shuffling), "another method while a dead device is unsigned"
        for deck, accounts in state.book.held.items():
            assert sum(accounts.values()) == self.whole, f"the accounts of deck {deck} do not sum: {accounts}"
            assert all(cards > 0 for name, cards in accounts.items() if name != "unaccounted"), f"{deck}: {accounts}"
        assert {p.id for p in state.prompts.values()} == set(self.asked), "a question is open that was never asked"
