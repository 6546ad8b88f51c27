"""The moves of a minimal table in a state search: people, devices and hands, each move a few events.

Devices that a search is not about complete a command at once; the others take time, and everything else may happen
meanwhile. Irregular events are grouped by kind and occur only while fewer irregularities are open than the bound
allows: so the states are finitely many, and a search with one or two kinds terminates.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, Final

from devices.service import ABSENT, CLEARED, FAULTED, IN_SERVICE, SIGNED, UNSIGNED, UNVERIFIED
from simulators.casino.dealt_hands import enter_dealt
from table_controller.table import dealing, progressive_bets, shuffling, stub
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.hits import NO_WIN
from tests.support.core.ideal_table import DEALER, FLOOR, OTHER_FLOOR, PEOPLE, TECH, next_change, signs_report
from tests.support.core.search_trouble import SHAKER, SearchMove, SearchTrouble, troubles
from tests.support.oracles.table_monitor import TableMonitor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.table.core import Table
    from table_controller.table.decisions import Prompt
    from table_controller.table.state import IssuedCommand

DECKS: Final = ("blue", "red")
SHUFFLER: Final = "shuffler.1"
SHOE: Final = "shoe.1"


class SearchModel:
    """A table and everything that may happen to it."""

    def __init__(self, table: Table, trouble: SearchTrouble) -> None:
        self.table = table
        self.trouble = trouble
        self.slow_slots = trouble.slow_slots
        self.whole = table.context.edition.cards.count
        self.decks = DECKS[: 2 if table.context.submission.two_decks else 1]

    def prepared(self) -> TableMonitor:
        """Bring the devices into service and, unless their opening is searched too, the decks; return who watched."""
        monitor = TableMonitor.of(self.table.context.edition, self.table.context.meter)

        def submit(*events: ev.Event) -> None:
            for event in events:
                monitor.watch(event, self.table.step(event), self.table.state)

        for slot in self.table.state.slots:
            submit(ev.SlotChanged(slot, "appear"), ev.SlotChanged(slot, "verify"))
        submit(*signs_report(self.table))
        for deck in () if self.trouble.opening else self.decks:
            submit(ev.DeckReceived(deck, DEALER))
            while True:
                moves = [*self._prompted(), *self._commanded(everything=True), *self._hands()]
                moves = [m for m in moves if not m.trouble and not m.name.startswith(("open round", "deck "))]
                if not moves:
                    break
                submit(*moves[0].events)
        return monitor

    def moves(self) -> Iterator[SearchMove]:
        """Yield everything that may happen in the state that the table is in."""
        yield from self._prompted()
        yield from self._commanded()
        yield from self._hands()
        yield from self._slots()
        yield from self._orders()
        if len(self.table.state.holds) < self.trouble.holds:
            yield from self.troubles()

    def troubles(self) -> Iterator[SearchMove]:
        """Yield the trouble of the chosen kinds that may come now."""
        return troubles(self.table, self.trouble, self.decks)

    def immediate_events(self) -> tuple[ev.Event, ...]:
        """Return the outcome of the oldest command of the devices that complete at once; nothing if there is none."""
        for id_, issued in self.table.state.commands.items():
            if issued.slot not in self.slow_slots and not issued.unknown:
                events = next(self._good(id_, issued))[1]
                return (*events, ev.CommandEnded(id_, "done"))
        for prompt in self.table.state.prompts.values():
            if prompt.kind.startswith("opening/") and not self.trouble.opening:
                return (ev.Answer(prompt.id, prompt.choices[0], PEOPLE[prompt.role]),)
        return ()

    # --- answers ------------------------------------------------------------------------------------------------------

    def _prompted(self) -> Iterator[SearchMove]:
        for prompt in self.table.state.prompts.values():
            yield from self._answers(prompt)

    def _answers(self, prompt: Prompt) -> Iterator[SearchMove]:
        if prompt.kind == "move_button" and prompt.slot is not None:
            return
        who = OTHER_FLOOR if prompt.kind == "hand_pay" else PEOPLE[prompt.role]  # not who looked the bet up
        plain = not self.trouble.variety and prompt.kind in ("decide", "settled", "cover_back", "sign_seen", "cut")
        plain = plain or (prompt.kind == "device_cleared" and not self.trouble.given_up)
        plain = plain or (prompt.kind == "collected" and not self.trouble.people)
        looks = prompt.kind == "collected" or prompt.kind.startswith("opening/")
        choices = prompt.choices
        if prompt.kind == "progressive" and self.trouble.money:
            yield from self._cards(prompt)
            ruled = (prompt.seat or 0) in self.table.state.round.claims_ruled
            choices = (*choices[:2], choices[-1]) if ruled else choices
        for choice in choices[:1] if plain else choices:
            first = choice == prompt.choices[0]
            for number, bad in self._numbers(prompt) if prompt.number and first else [(None, looks and not first)]:
                for seats in self._seats(prompt) if prompt.seats and first else [()]:
                    event = ev.Answer(prompt.id, choice, who, number, seats)
                    drawn = self._drawn(prompt) if not bad else ()
                    yield SearchMove(f"{prompt.kind}={choice} {number or ''}{seats or ''}", (*drawn, event), bad)

    def _cards(self, prompt: Prompt) -> Iterator[SearchMove]:
        """Yield entries of cards that are the first line and the last, or that correct those of a withdrawn claim."""
        c, seat = self.table.context, prompt.seat or 0
        assert c.meter is not None
        hands = [c.meter.awards[0].hand, c.meter.awards[-1].hand] if seat not in c.state.round.hands else []
        hands += [NO_WIN] if seat in c.state.round.claims_fell and prompt.choices[0] != NO_WIN else []
        for hand in hands:
            entry = enter_dealt(c, seat, hand, PEOPLE["dealer"], Random(f"{seat} {hand}"))
            if entry is not None:
                yield SearchMove(f"cards of {hand}", (entry,))

    def _drawn(self, prompt: Prompt) -> tuple[ev.Event, ...]:
        """What a manual shoe counts while hands do what they were asked."""
        c, round_ = self.table.context, self.table.state.round
        more = {
            "additional_cards": c.edition.hand.second_deal, "card_discarded": 1,
            "burn_shoe": c.state.burn_shoe, "burn_dealer": c.state.burn_dealer,
            "card_burned": c.edition.burn.after_emergency,
        }  # fmt: skip
        if not round_.counting or c.shoe is None or prompt.kind not in more:
            return ()
        return (ev.CardsDrawn(c.shoe, round_.drawn + more[prompt.kind]),)

    def _numbers(self, prompt: Prompt) -> list[tuple[int, bool]]:
        """Return the right number, and a wrong one where people may be wrong."""
        c = self.table.context
        right, wrong = prompt.least, prompt.least
        match prompt.kind:
            case "announce":
                right = c.state.round.total or 0
                wrong = 4 if right == 3 else 3
            case "stub" | "stub_recount":
                right = stub.expected_stub(c)
                wrong = right + 1
            case "hand_pay":  # the next slip of the book
                right = wrong = max((last for _, last in c.state.money.book.slips), default=0) + 1
            case "chips":
                right = len(c.state.progressive.accepted)
                wrong = right + 1
            case "surrender_count":
                right, wrong = c.edition.hand.cards, c.edition.hand.cards + 1
            case "cards_together" | "count_deck":
                right, wrong = self.whole, self.whole - 1
        may = self.trouble.people and wrong != right and len(self.table.state.holds) <= self.trouble.holds
        return [(right, False), (wrong, True)] if may else [(right, False)]

    def _seats(self, prompt: Prompt) -> list[tuple[int, ...]]:
        if prompt.kind == "progressive_envy":
            return [progressive_bets.seats_paid_envy(self.table.context, prompt.seat or 0)]
        if prompt.kind in ("first_arrival", "cover_seat"):
            return [(2,)]
        if prompt.kind == "players":
            return [(1, 2)]
        return [(1, 2), (2,)] if self.trouble.variety else [(1, 2)]

    # --- commands -----------------------------------------------------------------------------------------------------

    def _commanded(self, *, everything: bool = False) -> Iterator[SearchMove]:
        """A device ends its commands in their order; of those that nobody knows the end of it is asked."""
        first: set[str] = set()
        for id_, issued in self.table.state.commands.items():
            if issued.unknown and self.table.state.slots[issued.slot].state != ABSENT:
                name = f"{issued.slot} {issued.act}"
                yield SearchMove(f"{name}: asked, done", (ev.CommandEnded(id_, "done"),))
                yield SearchMove(f"{name}: asked, failed", (ev.CommandEnded(id_, "failed"),))
            elif not issued.unknown and issued.slot not in first and (everything or issued.slot in self.slow_slots):
                first.add(issued.slot)
                yield from self._ends(id_, issued)

    def _ends(self, id_: int, issued: IssuedCommand) -> Iterator[SearchMove]:
        name = f"{issued.slot} {issued.act}"
        for how, events in self._good(id_, issued):
            yield SearchMove(f"{name}: {how}", (*events, ev.CommandEnded(id_, "done")))
        if len(self.table.state.holds) >= self.trouble.holds:
            return
        if issued.slot in self.trouble.counts:
            for how, events in self._miscounts(issued):
                yield SearchMove(f"{name}: {how}", (*events, ev.CommandEnded(id_, "done")), trouble=True)
        if issued.slot in self.trouble.ends:
            failed = ev.CommandEnded(id_, "failed")
            jam = ev.SlotChanged(issued.slot, "fault")
            yield SearchMove(f"{name}: failed", (failed,), trouble=True)
            yield SearchMove(f"{name}: jam", (jam, *self._stops(issued), failed), trouble=True)
            yield SearchMove(f"{name}: failed, then a jam", (failed, jam), trouble=True)
            yield SearchMove(f"{name}: unknown", (ev.CommandEnded(id_, "unknown"),), trouble=True)
            yield SearchMove(f"{name}: revoked", (ev.CommandEnded(id_, "revoked"),), trouble=True)

    def _good(self, id_: int, issued: IssuedCommand) -> Iterator[tuple[str, tuple[ev.Event, ...]]]:
        c, slot = self.table.context, issued.slot
        automated = c.state.dealing == "automated_shoe"
        events: tuple[ev.Event, ...] = ()
        match issued.act:
            case "shuffle":
                events = (ev.ShuffleEnded(slot, self.whole if c.submission.shuffler_counts else None, shuffled=True),)
            case "eject" | "clear_out":
                events = (ev.DeckGivenOut(slot),)
            case "insert":
                events = (ev.StackInserted(slot, self.whole),)
            case "load" if c.state.dealing == "continuous_shuffler":
                events = (ev.DiscardsTakenIn(slot, c.state.book.balance(c.state.slots[slot].deck or "", "rack")),)
            case "load":
                events = (ev.ShoeLoaded(slot, self.whole if automated else None),)
            case "dispense":
                taken = (ev.StackTaken(slot),) if automated else ()
                events = (ev.StackOut(slot, issued.number), *taken)
            case "give_stub" if automated:
                events = (ev.StubOut(slot, stub.expected_stub(c) + c.state.round.replacement),)
            case "start_round":
                events = (ev.CardsDrawn(slot, dealing.first_deal_cards(c)),)
            case "draw":
                if self.trouble.variety and slot in self.slow_slots:
                    yield "seven", (ev.NumberDrawn(slot, 7),)
                events = (ev.NumberDrawn(slot, 1),)
            case "lock":
                seat = int(slot.rpartition(".")[2])
                if slot in self.slow_slots and self.trouble.variety:
                    yield "no bet", (ev.SeatLatched(seat, issued.number, id_, next_change(c.state, seat), bet=False),)
                if slot in self.slow_slots and self.trouble.contradicts and seat in c.state.spots:
                    yield "no bet 3", (ev.SeatLatched(seat, issued.number, id_, 3, bet=False),)
                events = (ev.SeatLatched(seat, issued.number, id_, next_change(c.state, seat), bet=True),)
        yield "done", events

    def _stops(self, issued: IssuedCommand) -> tuple[ev.Event, ...]:
        """The report of a card device when it jams."""
        if issued.act == "shuffle":
            return (ev.ShuffleFailed(issued.slot, 430, 1),)
        if issued.act == "insert":
            return (ev.ShuffleFailed(issued.slot, 446, None),)
        return (ev.ShoeFault(issued.slot, 430),) if issued.slot == SHOE else ()

    def _miscounts(self, issued: IssuedCommand) -> Iterator[tuple[str, tuple[ev.Event, ...]]]:
        c, slot = self.table.context, issued.slot
        match issued.act:
            case "shuffle" if c.submission.shuffler_counts:
                yield "short", (ev.ShuffleEnded(slot, self.whole - 1, shuffled=True),)
                yield "sorted", (ev.ShuffleEnded(slot, self.whole, shuffled=False),)
                yield "sorted, short", (ev.ShuffleEnded(slot, self.whole - 1, shuffled=False),)
                yield "rejected", (ev.ShuffleEnded(slot, self.whole, shuffled=True, rejected=True),)
            case "shuffle":
                yield "sorted", (ev.ShuffleEnded(slot, None, shuffled=False),)
            case "load" if c.state.dealing == "continuous_shuffler":
                yield (
                    "one less",
                    (ev.DiscardsTakenIn(slot, c.state.book.balance(c.state.slots[slot].deck or "", "rack") - 1),),
                )
            case "load" if c.state.dealing == "automated_shoe":
                yield "short", (ev.ShoeLoaded(slot, self.whole - 1),)
            case "insert":
                yield "short", (ev.StackInserted(slot, self.whole - 1),)
            case "dispense":
                yield "short", (ev.StackOut(slot, issued.number - 1),)
            case "give_stub" if c.state.dealing == "automated_shoe":
                yield "one more", (ev.StubOut(slot, stub.expected_stub(c) + c.state.round.replacement + 1),)
            case "start_round":
                yield "one more", (ev.CardsDrawn(slot, dealing.first_deal_cards(c) + 1),)
            case "draw":
                yield "nine", (ev.NumberDrawn(slot, 9),)

    # --- hands --------------------------------------------------------------------------------------------------------

    def _hands(self) -> Iterator[SearchMove]:
        """What dealer and hands do by themselves."""
        state, c = self.table.state, self.table.context
        # Sensors answer within milliseconds: a command of one round has ended before the next round.
        sensors_busy = any(
            issued.slot.startswith("bet_sensor") and not issued.unknown for issued in state.commands.values()
        )
        if state.round.state == mc.IDLE and not sensors_busy:
            yield SearchMove("open round", (ev.OpenRound(DEALER),))
        if state.round.state == mc.BETTING:
            yield SearchMove("no more bets", (ev.NoMoreBets(DEALER),))
        yield from self._intake()
        if self._unconfirmed():
            yield SearchMove("lock due", (ev.Due("lock"),))
        rolls = state.round.state == mc.STARTING_POSITION and state.round.asked_start and state.round.total is None
        if rolls and state.start == "shaker" and not c.has_pending_command(SHAKER):
            yield SearchMove("dice: 7", (ev.DiceRead(SHAKER, (1, 2, 4)),))
            if self.trouble.variety:
                yield SearchMove("dice: 8", (ev.DiceRead(SHAKER, (1, 3, 4)),))
        for prompt in state.prompts.values():
            if prompt.kind == "move_button" and prompt.slot is not None:
                yield SearchMove("button moved", (ev.ButtonSeen(prompt.slot, state.button),))
        for deck in self.decks:
            known = state.decks.get(deck)
            if known is None or known.state == mc.REMOVED:
                yield SearchMove(f"deck {deck}", (ev.DeckReceived(deck, DEALER),))
                if self.trouble.opening:
                    yield SearchMove(f"deck {deck} preshuffled", (ev.DeckReceived(deck, DEALER, preshuffled=True),))
        if c.shuffles_per_shoe and state.round.state == mc.DEALING and not state.shoe_over:
            yield SearchMove("cover card", (ev.CoverCardOut(SHOE, 2),))

    def _unconfirmed(self) -> bool:
        """Whether a sensor cannot confirm its lock any more: then the time to do so runs out by itself."""
        c, bets = self.table.context, self.table.state.progressive
        if bets.state != mc.LOCKING or bets.overdue:
            return False
        pending = {i.slot for i in c.state.commands.values() if i.act == "lock" and not i.unknown}
        return any(not seat.latched and f"bet_sensor.{at}" not in pending for at, seat in bets.seats.items())

    def _intake(self) -> Iterator[SearchMove]:
        state = self.table.state
        shuffler = state.slots.get(SHUFFLER)
        if shuffler is None:
            return
        inside = state.decks.get(shuffler.deck or "")
        waits = inside is not None and inside.state == mc.IN_DEVICE and not shuffler.ran
        if (shuffler.intake or waits) and SHUFFLER in self.slow_slots:
            yield SearchMove("cards out of the intake", (ev.IntakeEmptied(SHUFFLER),))
        if shuffler.intake:
            return
        waiting = [d for d in state.decks.values() if shuffling.is_waiting(self.table.context, d)]
        back = state.dealing == "continuous_shuffler" and state.round.state == mc.IDLE
        back = back and any(state.book.balance(d.name, "rack") for d in state.decks.values() if d.state == mc.IN_PLAY)
        if (waiting and shuffler.deck is None and state.shuffling == "machine") or back:
            yield SearchMove("cards into the shuffler", (ev.CardsInserted(SHUFFLER),))

    def _slots(self) -> Iterator[SearchMove]:
        """The repair of devices, and what people do about them."""
        for name, slot in self.table.state.slots.items():
            if slot.state == ABSENT:
                yield SearchMove(f"{name} appears", (ev.SlotChanged(name, "appear"),))
            elif slot.state == UNVERIFIED:
                yield SearchMove(f"{name} reports well", (ev.SlotChanged(name, "verify"),))
            elif slot.state == FAULTED:
                yield SearchMove(f"{name} cleared", (ev.SlotOrdered(name, "clear", TECH),))
            elif slot.state == CLEARED:
                yield SearchMove(f"{name} acknowledged", (ev.SlotOrdered(name, "acknowledge", FLOOR),))
            elif slot.state == UNSIGNED:
                yield SearchMove(f"{name} signed", (ev.SlotOrdered(name, "sign", FLOOR),))
            if slot.state in (UNSIGNED, SIGNED):
                yield SearchMove(f"{name} repaired", (ev.SlotOrdered(name, "repair", TECH),))

    def _orders(self) -> Iterator[SearchMove]:
        """What a floorperson orders: always what leads on, and anything else only in a search about orders."""
        state, c = self.table.state, self.table.context
        orders: list[dict[str, Any]] = [{"order": "table_idle"}] if self.trouble.orders else []
        at_table = c.decks_at_table()
        for deck in at_table:
            two = state.shuffling == "hand" and len(at_table) > 1
            if self.trouble.orders or ((deck.passed or not deck.verified or two) and not state.holds):
                orders.append({"order": "remove_deck", "deck": deck.name})
            if self.trouble.orders:
                orders += [{"order": what, "deck": deck.name} for what in ("recut", "reshuffle")]
        used = (state.dealing, state.start, state.shuffling)
        first = (c.submission.dealing, c.submission.start, "hand" if c.submission.shuffler == "none" else "machine")
        alone = c.edition.second_set is not None and c.edition.second_set.required and len(at_table) < 2
        if self.trouble.orders or used != first or alone or any(s.state != IN_SERVICE for s in state.slots.values()):
            orders += self._methods()
        for order in orders:
            yield SearchMove(f"order {' '.join(order.values())}", (ev.Ordered(who=FLOOR, **order),))

    def _methods(self) -> Iterator[dict[str, Any]]:
        state, c = self.table.state, self.table.context
        if state.shuffling == "machine":
            yield {"order": "shuffle_by_hand"}
        elif c.submission.shuffler != "none":
            yield {"order": "shuffle_by_machine"}
        for method in c.edition.deal.methods:
            if method.name != state.dealing:
                yield {"order": "dealing_method", "method": method.name}
        for start in c.edition.starts:
            if start.name != state.start:
                yield {"order": "start_method", "method": start.name}
