"""Checkers that compare a simulated table's box with the truth, at every step and after every round.

The truth is the world: cards, chips, and what machines really latched. Of the box the checkers read only durable events
and decisions, and after a round its state. They never use the core's permits or rules, and they change nothing.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from devices.cards import card_name
from simulators.casino.journal_money_oracle import JournalMoneyOracle
from simulators.casino.winning_players import WinningPlayers
from simulators.world.chips import TRAY
from simulators.world.table import LAYOUT, RACK
from simulators.world.table import TRAY as TABLE_TRAY
from table_controller.journal import records as rec
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import (
    BetAccepted,
    BetReturned,
    BetSettled,
    Booked,
    Command,
    Finding,
    HoldOpened,
    Prompt,
    RequestRefused,
    StateChanged,
    WagersReturned,
)

if TYPE_CHECKING:
    from simulators.casino.table import CasinoTable
    from table_controller.table.decisions import Decision


_DEALING: Final = StateChanged("round", mc.DEALING)


class InvariantBroken(Exception):
    """A checked promise was broken; `promise` is its name."""

    def __init__(self, promise: str, how: str) -> None:
        super().__init__(f"{promise}: {how}")
        self.invariant = promise


class TableCheckers:
    """All checkers of one table. `step` checks a durable step; `round_over` checks an idle table. `broken`: the
    failures."""

    def __init__(self, casino: CasinoTable) -> None:
        self.casino = casino
        self.broken: list[InvariantBroken] = []
        self.figures: Counter[str] = Counter()
        self.clauses: Counter[str] = Counter()
        self.decks = DeckChecker(casino)
        self.money = MoneyChecker(casino)
        self.rounds = RoundChecker(casino)
        self.machines = MachineChecker(casino)
        self.releases = ReleaseChecker(casino)

    def step(self, event: ev.Event, decisions: list[Decision]) -> None:
        """Check one durable step; after a power cut, first the steps that were on disk but never reported."""
        if isinstance(event, ev.BoxStarted):
            for unseen in self._unobserved_steps(event):
                if _DEALING in unseen.decisions:
                    back = self.casino.truth.deck_back_in("shoe.1")
                    self.casino.dealt_rounds.append((self.rounds.number, back, self.casino.is_deck_whole(back)))
                self._step(unseen.event, unseen.decisions)
        self._step(event, decisions)

    def _unobserved_steps(self, started: ev.BoxStarted) -> list[rec.StepRecord]:
        """Return the steps that were durable before a start and were never reported."""
        on_disk = [record for record in getattr(self.casino.disk, "records", ()) if record.kind == rec.STEP]
        for at in range(len(on_disk) - 1, self.figures["steps"] - 1, -1):
            if rec.decode_step(on_disk[at].body).event == started:
                return [rec.decode_step(record.body) for record in on_disk[self.figures["steps"] : at]]
        return []

    def _step(self, event: ev.Event, decisions: list[Decision]) -> None:
        self.figures["steps"] += 1
        for decision in decisions:
            if isinstance(decision, HoldOpened):
                self.figures["irregularities"] += 1
                self.clauses.update(decision.clauses)
        self.machines.note_power()
        for checker in (
            self.rounds,
            self.decks,
            self.money,
            self.releases,
        ):  # each checks every step, even if another one failed
            try:
                checker.step(event, decisions)
            except InvariantBroken as broken:
                self.broken.append(broken)

    def check_after_round(self) -> None:
        """Check an idle table; raise the first failure, from here or before."""
        if not self.broken:
            try:
                self.casino.world.check()
            except AssertionError as error:
                raise InvariantBroken("one place", str(error)) from error
            self.decks.check_idle()
            self.money.check_idle()
            self.rounds.check_idle()
            self.machines.check_idle()
        for broken in self.broken:
            raise broken


# --- cards ------------------------------------------------------------------------------------------------------------

# Questions whose answer checks a deck.
_CHECKS: Final = ("face_check", "cards_together", "deck_counted", "count_deck", "stub", "stub_recount")


class DeckChecker:
    """No hand is dealt from a deck after a check that could detect that it is wrong; the card ledger is correct."""

    def __init__(self, casino: CasinoTable) -> None:
        self.casino = casino
        self.known_bad: dict[str, str] = {}  # decks that a check found wrong, or could have: the check
        self.bad_rounds: list[int] = []  # dealt from an incomplete deck before any check could detect it
        self._whole = casino.edition.cards.count
        self.dealt_since_check: dict[str, list[int]] = {}  # rounds dealt from each deck since a check found it whole
        self.dealt_before_check: dict[
            str, list[int]
        ] = {}  # and before that check, if hands made it: another check must confirm it
        self.dealt_since_face_check: dict[str, list[int]] = {}  # the same, since its faces were checked
        self._unlisted: dict[str, list[int]] = {}  # rounds dealt from an incomplete deck and not listed yet
        self._asked: dict[int, Prompt] = {}
        self._out = 0  # cards that the shoe has dispensed in this round, by its own count
        self._dealt = 0

    def step(self, event: ev.Event, decisions: list[Decision]) -> None:
        """Follow the deck checks that an event reports, then the dealt rounds and the rounds listed as affected."""
        for decision in decisions:
            if isinstance(decision, Finding) and decision.kind == "affected_rounds":
                self._listed(decision)
        if RequestRefused not in map(type, decisions):
            self._check(event)
        for decision in decisions:
            if isinstance(decision, Prompt):
                self._asked[decision.id] = decision
            elif decision == _DEALING:
                self._out = 0
        for number, deck, whole in self.casino.dealt_rounds[self._dealt :]:
            self._dealt += 1
            if not whole and deck in self.known_bad:
                raise InvariantBroken(
                    "bad deck", f"round {number} is dealt from {deck}, which {self.known_bad[deck]} found wrong"
                )
            self.dealt_since_check.setdefault(deck, []).append(number)
            self.dealt_since_face_check.setdefault(deck, []).append(number)
            if not whole:
                self.bad_rounds.append(number)
                if self._short(deck):
                    self._unlisted.setdefault(deck, []).append(number)

    def _short(self, deck: str) -> bool:
        """Return whether a count would really find the dealt deck incomplete.

        Many rounds are dealt from one shoe: cards that hands lifted out of it are not missing.
        """
        places = (RACK, LAYOUT, TABLE_TRAY) if self.casino.edition.shuffle_after == "shoe" else (RACK, LAYOUT)
        lying = [card for place in places for card in self.casino.world.at(place) if card.back == deck]
        return self.casino.count_in_shoe() + sum(card.face >= 0 for card in lying) != self._whole

    def _listed(self, finding: Finding) -> None:
        """Check that the affected rounds are those dealt since a good check, with no bad round left out."""
        deck, rounds = finding.deck or "", list(finding.rounds)
        right = (
            self.dealt_before_check.get(deck, []) + self.dealt_since_check.get(deck, []),
            self.dealt_since_face_check.get(deck, []),
        )
        if rounds not in right:
            raise InvariantBroken(
                "affected rounds", f"{deck}: listed {rounds}, dealt since it was found whole {right[0]}"
            )
        left_out = [number for number in self._unlisted.pop(deck, []) if number not in rounds]
        if left_out:
            raise InvariantBroken("affected rounds", f"{deck}: {left_out} were dealt from bad cards and are not listed")

    def _check(self, event: ev.Event) -> None:
        match event:
            case ev.ShuffleEnded() if event.count is not None:
                real = self._real(event.slot, gate=True)
                self._checked(
                    self.casino.truth.deck_back_in(event.slot), event.count, real, f"the count of {event.slot}",
                    good=event.shuffled,
                )  # fmt: skip
            case ev.ShoeLoaded() if event.count is not None:
                real = self._real(event.slot, gate=False)
                real -= self.casino.world.playing_cards(
                    f"{event.slot}/slot"
                )  # came out before and is still in the slot
                self._checked(
                    self.casino.truth.deck_back_in(event.slot), event.count, real, f"the count of {event.slot}"
                )
            case ev.StackOut():
                self._out += event.count
            case ev.Answer() if event.prompt in self._asked:
                self._answered(event, self._asked[event.prompt])

    def _answered(self, event: ev.Answer, prompt: Prompt) -> None:
        if prompt.kind == "replacement":
            self._out += 1  # dealt from the stub by hand
        if prompt.kind not in _CHECKS:
            return
        deck = (
            prompt.deck
            or self.casino.truth.deck_back_in("shoe.1")
            or self.casino.controller.table.state.round.deck
            or ""
        )
        if prompt.kind == "face_check":
            self.dealt_since_face_check.pop(deck, None)
        elif event.number is None:
            return
        elif prompt.kind not in ("stub", "stub_recount"):
            self._checked(deck, event.number, event.number, f"a count by hand ({prompt.kind})", hands=True)
        elif event.number + self._out == self._whole:
            self._good(deck, hands=True)

    def _good(self, deck: str, *, hands: bool) -> None:
        """A check found a deck complete. A second hand count with no deal in between is the same check."""
        self.dealt_before_check[deck] = (
            (self.dealt_since_check.get(deck) or self.dealt_before_check.get(deck, [])) if hands else []
        )
        self.dealt_since_check[deck] = []

    def _checked(
        self, deck: str, reported: int, real: int, check: str, *, good: bool = True, hands: bool = False
    ) -> None:
        """A deck was counted; a cycle that is no shuffle is no good check, even with the right count."""
        if reported == self._whole and good:
            self._good(deck, hands=hands)
        if reported == real == self._whole:
            self.known_bad.pop(deck, None)
        elif deck:
            self.known_bad[deck] = check

    def _real(self, slot: str, *, gate: bool) -> int:
        """Return the true number of playing cards that a machine has to count, without those behind its shelves."""
        world = self.casino.world
        places = [p for p in world.census() if p.startswith(f"{slot}/") and (not gate or "behind_shelves" not in p)]
        return sum(world.playing_cards(place) for place in places)

    def check_idle(self) -> None:
        """Check that the accounts of every deck sum to its number of cards, and none is negative."""
        state = self.casino.controller.table.state
        for deck, accounts in state.book.held.items():
            if sum(accounts.values()) != self._whole:
                raise InvariantBroken("card book", f"the accounts of {deck} do not sum to {self._whole}: {accounts}")
            negative = [name for name, cards in accounts.items() if cards < 0 and name != "unaccounted"]
            if negative:
                raise InvariantBroken("card book", f"{deck} has accounts below zero: {accounts}")


class ReleaseChecker:
    """A shoe releases the cards of a hand only after its reveal, and only cards that really lie in its stack."""

    def __init__(self, casino: CasinoTable) -> None:
        self.casino = casino
        self.released = 0
        self._phase = mc.IDLE
        self._ordered = 0  # the newest Dispense
        self._stacks: dict[int, Counter[str]] = {}  # the cards of each stack, by its Dispense
        self._places: dict[int, int] = {}  # the place of each release

    def step(self, event: ev.Event, decisions: list[Decision]) -> None:
        """Follow the stacks, the phases of the round, and the orders to release."""
        slot = self.casino.world.at("shoe.1/slot") if isinstance(event, ev.StackOut) else []
        if isinstance(event, ev.StackOut) and event.slot == "shoe.1" and len(slot) == event.count:
            self._stacks[self._ordered] = Counter(card_name(card.face) for card in slot if card.face >= 0)
        elif isinstance(event, ev.HandReleased):
            self._check(event)
        for decision in decisions:
            if isinstance(decision, StateChanged) and decision.what == "round":
                self._phase = decision.state
            elif isinstance(decision, Command) and decision.act == "dispense":
                self._ordered = decision.id
            elif isinstance(decision, Command) and decision.act == "release_cards":
                self._places[decision.id] = decision.number

    def _check(self, event: ev.HandReleased) -> None:
        self.released += 1
        place, hand = self._places[event.command], self.casino.edition.hand
        face_up = hand.dealer_face_up and not place and self._phase == mc.PLAYING
        if self._phase != mc.SETTLING and not face_up:
            raise InvariantBroken("released cards", f"the cards of place {place} were released while {self._phase}")
        known = self._stacks.get(event.dealt_by)
        if known is not None and not Counter(event.cards.split()) <= known:
            raise InvariantBroken("released cards", f"place {place}: {event.cards}, but it has {sorted(known)}")


# --- money ------------------------------------------------------------------------------------------------------------


class MoneyChecker:
    """Chips, latches and the meter: every chip in the tray is an accepted bet, and their shares add up to the meter."""

    def __init__(self, casino: CasinoTable) -> None:
        self.casino = casino
        self.accepted: Counter[tuple[int, int]] = Counter()
        self.returned: Counter[tuple[int, int]] = Counter()
        self.settled: set[tuple[int, int]] = set()
        rules = casino.controller.table.context.meter
        self.oracle = (
            None if rules is None else JournalMoneyOracle(rules)
        )  # the same money, computed from what people did
        self.reconciled = 0  # rounds after which everything agreed
        self._accounts: Counter[str] = Counter()
        self._decided: set[tuple[int, int]] = set()  # rounds and seats where a floorperson confirmed a bet
        self._asked: dict[int, Prompt] = {}

    def step(self, event: ev.Event, decisions: list[Decision]) -> None:
        """Follow the money of one step."""
        if self.oracle is not None:
            self.oracle.apply_step(event, decisions)
        number = self.casino.controller.table.state.round.number
        if isinstance(event, ev.Answer) and event.prompt in self._asked and event.choice == "bet":
            self._decided.add((number, self._asked[event.prompt].seat or 0))
        for decision in decisions:
            if isinstance(decision, Prompt) and decision.kind == "seat_undecided":
                self._asked[decision.id] = decision
            elif isinstance(decision, BetAccepted):
                self._accept(decision)
            elif isinstance(decision, BetReturned):
                self.returned[decision.round, decision.seat] += 1
            elif isinstance(decision, BetSettled):
                self.settled.add((decision.round, decision.seat))
            if isinstance(decision, Booked):
                for transfer in decision.entry.transfers:
                    self._accounts[transfer.source] -= transfer.amount
                    self._accounts[transfer.to] += transfer.amount

    def _accept(self, bet: BetAccepted) -> None:
        """Check that an accepted bet was latched with a chip on its spot, or confirmed by a floorperson."""
        key = bet.round, bet.seat
        self.accepted[key] += 1
        if self.accepted[key] > 1 + self.returned[key]:
            raise InvariantBroken("counted twice", f"the bet of seat {bet.seat} in round {bet.round}")
        machine: Any = self.casino.machines[f"bet_sensor.{bet.seat}"]
        latched = any(latch.round == bet.round and lying for latch, lying in machine.latched[-6:])
        if not latched and key not in self._decided:
            raise InvariantBroken(
                "late bet", f"seat {bet.seat} in round {bet.round}: accepted, and no chip was on the spot at the latch"
            )

    def check_idle(self) -> None:
        """Compare chips, bets and meter after a round."""
        casino = self.casino
        rules = casino.controller.table.context.meter
        if rules is None:
            return
        kept = self.accepted - self.returned
        tray = len(casino.chips.at(TRAY))
        if tray != kept.total():
            raise InvariantBroken("chips and bets", f"{tray} chips in the tray, {kept.total()} bets that count")
        left = [slot for slot in casino.machines if casino.chips.at(f"{slot}/spot")]
        if left:
            raise InvariantBroken("chips and bets", f"chips were left on {', '.join(left)}")
        self._hits()
        booked = {
            account: amount for account, amount in casino.controller.table.state.money.book.held.items() if amount
        }
        if booked != {account: amount for account, amount in self._accounts.items() if amount}:
            raise InvariantBroken("meter", "the book has other amounts than the decisions moved")
        self.reconciled += 1

    def _hits(self) -> None:
        """Check that every account, and the payments for hits and envy, match what people did."""
        book, people, oracle = self.casino.controller.table.state.money.book, self.casino.people, self.oracle
        assert oracle is not None
        for account, right in oracle.accounts().items() if book.entries else ():
            if book.balance(account) != right:
                raise InvariantBroken(
                    "meter",
                    f"{account} holds {book.balance(account)} micro-dollars, by what people did it must be {right}",
                )
        if isinstance(people, WinningPlayers):
            if people.paid_twice:
                raise InvariantBroken("hits", f"paid twice, in two amounts: {people.paid_twice}")
            if oracle.paid != people.paid:
                wrong = sorted(set(oracle.paid.items()) ^ set(people.paid.items()))
                raise InvariantBroken("hits", f"what was booked and what was handed out differ: {wrong}")
            if oracle.envy != people.envy:
                raise InvariantBroken("hits", f"envy was booked as {oracle.envy} and handed out as {people.envy}")
            for key, paid in oracle.paid.items():
                if paid.hand != people.hand_of(*key):
                    raise InvariantBroken(
                        "hits", f"round and seat {key}: paid for {paid.hand}, and it was another hand"
                    )


# --- rounds -----------------------------------------------------------------------------------------------------------


class RoundChecker:
    """Checks that a void round returns its wagers and settles nothing."""

    def __init__(self, casino: CasinoTable) -> None:
        self.casino = casino
        self.voids: dict[int, tuple[str, ...]] = {}  # with the wagers that are settled anyway
        self.complete: set[int] = set()
        self.opened = 0
        self.number = 0

    def step(self, event: ev.Event, decisions: list[Decision]) -> None:
        """Follow how a round ends."""
        del event
        for decision in decisions:
            match decision:
                case StateChanged(what="round", state=mc.BETTING):
                    self.number += 1
                    self.opened += 1
                case StateChanged(what="round", state=mc.COMPLETE):
                    self.complete.add(self.number)
                case StateChanged(what="round", state=mc.SETTLING):
                    self.complete.discard(self.number)  # an irregularity was found before its cards were collected
                case WagersReturned(seat=None):
                    self.voids[decision.round] = decision.settled
                case BetSettled() if decision.round in self.voids and "progressive" not in self.voids[decision.round]:
                    raise InvariantBroken(
                        "void round", f"round {decision.round} is void, and seat {decision.seat} is settled"
                    )

    def check_idle(self) -> None:
        """Check that void rounds kept nothing."""
        for number in self.voids:
            if number in self.complete:
                raise InvariantBroken("void round", f"round {number} was void, and is complete")
            kept = [slot for _, slot in self.casino.people.collected.get(number, [])]
            left = [
                slot for slot in kept if (number, int(slot.rpartition(".")[2])) not in self.casino.people.standing_bets
            ]
            if "progressive" not in self.voids[number] and left:
                raise InvariantBroken("void round", f"round {number} was void, and its chips are in the tray")


# --- machines ---------------------------------------------------------------------------------------------------------


# The box detects a silent machine after 3.5 s, and a power cut of the box may come in between (s).
_UNNOTICED: Final = 15.0


class MachineChecker:
    """Checks that a slot in service has a powered machine, and that a shuffler holds the reported cards."""

    def __init__(self, casino: CasinoTable) -> None:
        self.casino = casino
        self._loop = asyncio.get_running_loop()
        self._dead: dict[str, float] = {}  # machines without power, and since when

    def note_power(self) -> None:
        """Record which machines have power."""
        for name, machine in self.casino.machines.items():
            if not machine.board.alive:
                self._dead.setdefault(name, self._loop.time())
            elif self._dead:
                self._dead.pop(name, None)

    def check_idle(self) -> None:
        """Compare the box's view of every machine in service with the truth."""
        self.note_power()
        for name, slot in self.casino.controller.table.state.slots.items():
            if slot.state != "in_service":
                continue
            if name in self._dead and self._loop.time() - self._dead[name] > _UNNOTICED:
                raise InvariantBroken(
                    "service", f"the box has {name} in service, and it has had no power for {_UNNOTICED:g} s"
                )
            inside = getattr(self.casino.slots[name].view, "inside", None)
            if inside is not None and name.startswith("shuffler."):
                real = self.casino.machines[name].mechanics.inside()  # type: ignore[attr-defined]
                if inside != real:
                    raise InvariantBroken(
                        "contents", f"the box counts {inside} cards in {name}, and it contains {real}"
                    )
