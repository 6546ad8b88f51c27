"""The people at a simulated table: dealer, floorperson, technician. They do with their hands what the box asks for.

They follow prompts without thinking. They enter the true counts, unless a scenario sets `false_numbers`.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from devices.shaker import messages as shaker
from devices.shoe import messages as shoe
from devices.shuffler import state as shuffler_state
from firmware_bridge.errors import BadFault
from simulators.casino.dealt_hands import enter_dealt
from simulators.casino.technician import (
    ACTION_TIME_S,
    DEALER,
    FLOOR,
    MANY_LOOKS,
    OTHER_FLOOR,
    QUARANTINE,
    TECHNICIAN,
    Technician,
)
from simulators.world.chips import RAIL as CHIP_RAIL
from simulators.world.chips import TRAY as CHIP_TRAY
from simulators.world.chips import player_hand
from simulators.world.table import LAYOUT, RACK, TRAY
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Finding, Prompt

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from devices.kinds import DriverEvent
    from simulators.casino.table import CasinoTable
    from table_controller.table.decisions import Decision

# A wrong announcement is corrected the second time; a third one means that the dice were touched.
_MAX_ANNOUNCEMENTS: Final = 2
_PEOPLE: Final = {"dealer": DEALER, "floorperson": FLOOR, "technician": TECHNICIAN}
# Events of machines that people react to.
_SEEN: Final = (shuffler_state.DeckEjected, shoe.Dispensed, shoe.Stub, shaker.Shaken, shaker.Reading, shaker.NoRoll)


class SimulatedPeople(Technician):
    """All people at one table. `false_numbers`: a false number for a kind of prompt."""

    def __init__(self, casino: CasinoTable) -> None:
        super().__init__(casino)
        self.false_numbers: dict[str, int] = {}
        self.expired: set[str] = set()  # decks in use for too long
        self.miscounts: dict[str, int] = {}  # error of the next answer to a kind of question, once
        self.answers_twice = False  # two people give the next answer at once
        self.choices: dict[str, str] = {"players": "nobody"}  # the choice for a kind of prompt; otherwise the first
        self.prompts_seen: list[Prompt] = []
        self.is_ignoring = False  # they see the prompts of an irregularity and do nothing
        self.returned: list[int] = []  # rounds whose wagers were returned
        self._done: dict[int, int | None] = {}  # prompts that hands have handled, with the number they counted
        self._about: set[int] = set()  # prompts that a person is handling
        self.collected: dict[int, list[tuple[int, str]]] = {}  # by round: chips in the tray, and the spot of each
        self.standing_bets: set[tuple[int, int]] = set()  # rounds and seats whose bet counts although the round is void
        self._gone = False
        self._total: int | None = None  # of this roll, as the shaker reported it
        self._announced = 0  # how often a total of this roll was announced
        self._no_rolls = 0  # in a row
        self._tasks: set[asyncio.Task[None]] = set()
        self._reverified: set[str | None] = set()  # decks that were wrong once and are verified again
        self._chosen: set[tuple[int, tuple[str, ...]]] = set()  # choices already made once in a round
        self._aside: int | None = None  # cover cards set aside when the shoe was last filled

    # --- what they see ------------------------------------------------------------------------------------------------

    def see_decision(self, decision: Decision) -> None:
        """React to a decision: handle a prompt, note an expired deck."""
        if isinstance(decision, Finding) and decision.kind == "deck_expired" and decision.deck:
            self.expired.add(decision.deck)
        if isinstance(decision, Prompt) and decision.id not in self._about:
            self.prompts_seen.append(decision)
            if not self.is_ignoring or decision.hold is None:
                self._about.add(decision.id)
                self._go(self._answer(decision))

    def stop_ignoring(self) -> None:
        """Stop ignoring, and handle the open prompts."""
        self.is_ignoring = False
        for prompt in list(self.casino.controller.table.state.prompts.values()):
            self.see_decision(prompt)

    def look_at_screen(self) -> None:
        """The screen is back: take the cards that machines have delivered, and handle every prompt on it."""
        for slot, machine in self.casino.machines.items():
            if slot.startswith("shuffler.") and self.casino.world.count(f"{slot}/presented"):
                machine.inject("take_deck")
            elif slot.startswith("shoe.") and self.casino.world.count(f"{slot}/slot"):
                machine.inject("take")
        if self._aside is not None and self.casino.world.count("set_aside") > self._aside:
            # It was set aside; the box may not know it.
            self.casino.controller.submit(ev.CoverCardOut(who=DEALER))
        for prompt in list(self.casino.controller.table.state.prompts.values()):
            self.see_decision(prompt)

    def see_device_event(self, slot: str, event: DriverEvent) -> None:
        """React to an event of a machine."""
        if not isinstance(event, _SEEN):
            return
        machine = self.casino.machines[slot]
        if isinstance(event, shuffler_state.DeckEjected):
            self._go(self._later(lambda: machine.inject("take_deck")))
        elif isinstance(event, shoe.Dispensed | shoe.Stub) and self._has_slot:
            self._go(self._later(lambda: machine.inject("take")))
        elif isinstance(event, shaker.Shaken) and event.shakes == 0 and event.roll is not None:
            self._go(self._roll(slot))
        elif isinstance(event, shaker.Reading):
            self._total, self._no_rolls = sum(event.values), 0
        elif isinstance(event, shaker.NoRoll):
            self._no_rolls += 1

    @property
    def _has_slot(self) -> bool:
        """Whether the shoe delivers cards to a slot; from a manual shoe hands draw them."""
        return self.casino.controller.table.context.submission.dealing == "automated_shoe"

    def _go(self, work: Any) -> None:
        if self._gone:
            work.close()
            return
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _later(self, act: Callable[[], object]) -> None:
        await self.casino.wait(ACTION_TIME_S)
        act()

    async def close(self) -> None:
        """End all activities."""
        self._gone = True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    @property
    def is_busy(self) -> bool:
        """Whether a person is doing something."""
        return bool(self._tasks)

    # --- answering ----------------------------------------------------------------------------------------------------

    async def _answer(self, prompt: Prompt) -> None:
        try:
            await self._obey(prompt)
        finally:
            self._about.discard(prompt.id)

    def hand_actions(self) -> dict[str, Callable[[Prompt], Awaitable[int | None]]]:
        """Return what hands do before an answer, by kind of prompt; each action returns the counted number, if any."""
        return {
            "put_in_shoe": self._put_in_shoe,
            "chips": self._collect_chips,
            "stub": self._count_stub,
            "stub_recount": self._count_stub,
            "rack_stub": self._draw_stub,
            "announce": self._announce,
            "cut": self._cut,
            "dealt": self._deal_by_hand,
            "park_shaker": self._park,
            "cover_shaker": self._cover_again,
            "collected": self._collect,
            "shoe_emptied": self._service,
            "device_cleared": self._service,
            "cards_together": self._gather,
            "deck_counted": self._gather,
            "deck_removed": self._remove,
            "additional_cards": self._more_cards,
            "burn_shoe": self._burn,
            "burn_dealer": self._burn,
            "wagers_returned": self._return_chips,
            "late_chip": self._give_back,
            "acknowledge": self._look_at,
            "choose": self._hand_back,
            "let_out": self._close_door,
        }

    async def _obey(self, prompt: Prompt) -> None:
        await self.casino.wait(ACTION_TIME_S)
        entry = self._cards_first(prompt)
        if entry is not None:  # the box ranks them, and asks again
            self.submit_entry(prompt, entry)
            return
        number = self._plain_number(prompt)
        act = self.hand_actions().get(prompt.kind)
        if act is not None:
            if prompt.id not in self._done:  # hands do it once, even if the box restarts
                self._done[prompt.id] = await act(prompt)
            counted = self._done[prompt.id]
            number = counted if counted is not None else number
        if prompt.kind in self.false_numbers:
            number = self.false_numbers[prompt.kind]
        if number is not None and prompt.kind in self.miscounts:
            slip = max(0, number + self.miscounts.pop(prompt.kind))
            if len(prompt.choices) > 1 or prompt.least <= slip <= prompt.most:
                number = slip
            else:  # the box refuses such a number and offers no other choice: enter it again
                self.submit_answer(ev.Answer(prompt.id, prompt.choices[0], self._who(prompt), slip))
        choice, number = self._choice(prompt, number)
        self.submit_answer(ev.Answer(prompt.id, choice, self._who(prompt), number, self.name_seats(prompt)))

    # --- the cards of a progressive bet -------------------------------------------------------------------------------

    def _cards_first(self, prompt: Prompt) -> ev.HandEntered | None:
        """Return the cards to enter before a progressive hand can be named: the box offers only what cards are."""
        if prompt.kind != "progressive" or not self._is_still_asked(prompt):
            return None
        hand = self.choose(prompt)
        return None if hand in prompt.choices else self.cards_of(prompt, hand)

    def cards_of(self, prompt: Prompt, hand: str) -> ev.HandEntered | None:
        """Return the entry of a seat's cards that are a hand; None: no cards that are left can be it."""
        return enter_dealt(self.casino.controller.table.context, prompt.seat or 0, hand, DEALER)

    def submit_entry(self, _prompt: Prompt, entry: ev.HandEntered) -> None:
        """Enter the cards of a seat."""
        if not self.casino.is_box_down:
            self.casino.controller.submit(entry)

    def _who(self, prompt: Prompt) -> ev.Person:
        """Return who answers: a second floorperson documents a hand pay whose bet the first looked up."""
        hit = self.casino.controller.table.state.money.hit_of(prompt.seat) if prompt.kind == "hand_pay" else None
        return OTHER_FLOOR if hit is not None and hit.looked_up_by == FLOOR.identity else _PEOPLE[prompt.role]

    def submit_answer(self, answer: ev.Answer) -> None:
        """Send an answer to the box."""
        if not self.casino.is_box_down:
            self.casino.controller.submit(answer)
            if self.answers_twice:
                self.answers_twice = False
                other = ev.Person(answer.who.role, f"{answer.who.role}-2")
                self.casino.controller.submit(replace(answer, who=other))

    def _choice(self, prompt: Prompt, number: int | None) -> tuple[str, int | None]:
        """Return the choice, and the number that goes with it."""
        choice = self.choose(prompt)
        if prompt.kind == "progressive" and choice not in prompt.choices:
            choice = prompt.choices[0]  # no cards can be that hand
        if prompt.number and number is not None and not prompt.least <= number <= prompt.most:
            choice, number = prompt.choices[-1], None  # the counted number is not allowed: the other choice
        if prompt.kind == "face_check" and not self.casino.are_faces_right(prompt.deck or ""):
            choice = "not_whole"
        if prompt.kind == "choose" and "reverify" in prompt.choices and "choose" not in self.choices:
            choice = "remove" if prompt.deck in self._reverified else "reverify"  # found wrong again: remove it
            self._reverified.add(prompt.deck)
        if prompt.kind == "choose" and {"reshuffle", "remove"} <= set(prompt.choices) and "choose" not in self.choices:
            too_many = self.casino.count_reachable(prompt.deck or "") > self.casino.edition.cards.count
            choice = "remove" if too_many else choice  # cards of another deck are among them
        if prompt.kind == "choose" and "void" in prompt.choices and "choose" not in self.choices:
            case = self.casino.controller.table.state.round.number, prompt.choices
            choice = "void" if case in self._chosen else choice  # the first choice led back here: void the round
            self._chosen.add(case)
        if prompt.kind == "seat_undecided":
            choice = "bet" if self.casino.chips.at(f"bet_sensor.{prompt.seat}/spot") else "no_bet"
        if prompt.kind == "which_deck":
            choice = self._deck_in(prompt.slot or "")
        return choice, number

    def choose(self, prompt: Prompt) -> str:
        """Return the choice for a prompt."""
        return self.choices.get(prompt.kind, prompt.choices[0])

    def name_seats(self, prompt: Prompt) -> tuple[int, ...]:
        """Return the seats for a prompt that asks for them."""
        alone = prompt.kind in ("first_arrival", "cover_seat")
        return self.casino.seats[:1] if alone else self.casino.seats * prompt.seats

    def _plain_number(self, prompt: Prompt) -> int | None:
        """Return the number for a prompt that needs no hands."""
        if not prompt.number:
            return None
        edition = self.casino.edition
        known = {"surrender_count": edition.hand.cards, "cover_back": edition.cut.cover_above_bottom or 0}
        return known.get(prompt.kind, self.casino.count_reachable(prompt.deck or ""))

    def _deck_in(self, slot: str) -> str:
        """Return the back color of the cards in a shuffler's intake."""
        return self.casino.world.at(f"{slot}/intake")[0].back

    async def _cut(self, _: Prompt) -> int:
        return self.casino.edition.cards.count // 2

    async def _announce(self, prompt: Prompt) -> int | None:
        """Announce the total that the shaker reported, or that the dice show; after repeated errors report the dice."""
        self._announced += 1
        if self._announced > _MAX_ANNOUNCEMENTS and not self.casino.is_box_down:  # the dice were touched: no roll
            self.casino.controller.submit(ev.IrregularityReported("dice_not_flat", DEALER, slot=prompt.slot))
        machine: Any = self.casino.machines[prompt.slot or ""]
        return sum(machine.mechanics.shown_faces() or ()) if self._total is None else self._total

    async def _put_in_shoe(self, prompt: Prompt) -> None:
        with suppress(TimeoutError):  # the deck is taken out first
            await self.casino.until(lambda: not self.casino.world.count("shuffler.1/presented"), 5.0)
        if self.casino.world.count("shuffler.1/presented"):  # the eject was not reported, but the deck is there
            self.casino.machines["shuffler.1"].inject("take_deck")
        self.casino.put_alone_in_tray(prompt.deck or "")
        self.casino.machines[prompt.slot or ""].inject("load")
        self._aside = self.casino.world.count("set_aside")
        if self.casino.edition.cards.decks > 1:  # a quarter of the stack stays below the cover card
            self.casino.machines[prompt.slot or ""].inject(
                f"cover_card:depth={self.casino.edition.cards.count * 3 // 4}"
            )
        await self.casino.wait(ACTION_TIME_S)

    async def _collect_chips(self, prompt: Prompt) -> int:
        """Take the accepted chips from the spots to the tray, without late ones; remember the spot of each."""
        state = self.casino.controller.table.state
        taken = self.collected.setdefault(state.round.number, [])
        for slot, machine in self.casino.machines.items():
            if slot.startswith("bet_sensor.") and int(slot.rpartition(".")[2]) not in state.late_chips:
                chips = self.casino.chips.at(f"{slot}/spot")
                if len(chips) > 1:  # a bet is one chip: the others go back to the player
                    machine.inject(f"take_bet:chips={len(chips) - 1}")
                    chips = self.casino.chips.at(f"{slot}/spot")
                machine.inject("collect")
                taken += [(chip, slot) for chip in chips]
        if not prompt.number:  # without a count, the dealer sees a light without a chip: the player owes one
            for slot in (f"bet_sensor.{seat}" for seat in state.progressive.accepted):
                if slot in [spot for _, spot in taken]:
                    continue
                # From the player's chips, or from under the rail if none are left.
                owed = (self.casino.chips.at(player_hand(slot)) or self.casino.chips.at(CHIP_RAIL))[-1:]
                for chip in owed:
                    self.casino.chips.move(chip, CHIP_TRAY)
                    taken.append((chip, slot))
        return len(taken)

    async def _return_chips(self, prompt: Prompt) -> None:
        """Return the wagers of this round, or of one void hand, from the spots and from the tray."""
        round_ = self.casino.controller.table.state.round
        number, alone = round_.number, None if round_.state == mc.VOID else prompt.seat
        for slot, machine in self.casino.machines.items():
            concerned = slot.startswith("bet_sensor.") and alone in (None, int(slot.rpartition(".")[2]))
            chips = self.casino.chips.at(f"{slot}/spot") if concerned else []
            if chips:
                machine.inject(f"take_bet:chips={len(chips)}")
        bets = self.casino.controller.table.state.money.bets
        for chip, slot in self.collected.pop(number, []):
            seat = int(slot.rpartition(".")[2])
            if alone not in (None, seat):
                self.collected.setdefault(number, []).append((chip, slot))
                continue
            settled = seat in bets and bets[seat].state in ("lost", "won")  # although the round is void (687a.13(d))
            if settled or (number, seat) in self.standing_bets:
                self.collected.setdefault(number, []).append((chip, slot))
            else:
                self.casino.chips.move(chip, player_hand(slot))
        self.returned.append(number)

    async def _hand_back(self, prompt: Prompt) -> None:
        """Give a collected chip that does not count back to its player."""
        state = self.casino.controller.table.state
        hold = state.holds.get(prompt.hold or 0)
        if hold is None or hold.trigger != "bet_without_wager":
            return
        taken = self.collected.get(state.round.number, [])
        for chip, slot in [each for each in taken if each[1] == f"bet_sensor.{hold.seat}"]:
            self.casino.chips.move(chip, player_hand(slot))
            taken.remove((chip, slot))

    async def _give_back(self, prompt: Prompt) -> None:
        """Give late chips, on top or alone, back to the player; a chip placed in time stays."""
        slot = f"bet_sensor.{prompt.seat}"
        number = self.casino.controller.table.state.round.number
        taken = any(spot == slot for _, spot in self.collected.get(number, []))
        late = len(self.casino.chips.at(f"{slot}/spot")) - (self._lay_in_time(slot) and not taken)
        if late > 0:
            self.casino.machines[slot].inject(f"take_bet:chips={late}")

    def _lay_in_time(self, slot: str) -> bool:
        """Return whether a chip was on this spot when its sensor was locked in this round."""
        machine: Any = self.casino.machines[slot]
        number = self.casino.controller.table.state.round.number
        return any(latch.round == number and lying for latch, lying in machine.latched[-1:])

    async def _draw_stub(self, prompt: Prompt) -> None:
        """Draw the stub out of a manual shoe, past its counter; an automated shoe brings it out."""
        if self.casino.controller.table.state.dealing == "manual_shoe":
            await self._draw(self.casino.count_in_shoe(), prompt)

    async def _count_stub(self, prompt: Prompt, /) -> int:
        """Count the stub. A stub that the box does not know is still in the shoe: take it out first."""
        deck, slot = self.casino.controller.table.state.round.deck or "", "shoe.1"
        left = self.casino.count_in_shoe()
        if left and self.casino.controller.table.state.dealing == "manual_shoe":
            await self._draw(left, prompt)
            return left
        left = self.casino.count_inside(slot, deck) if self._has_slot else 0
        if not left:
            return self.casino.stub
        for _try in range(MANY_LOOKS):
            if self.casino.count_inside(slot, deck) == self.casino.world.count(f"{slot}/slot"):  # no card is in transit
                break
            await self.casino.wait(ACTION_TIME_S)
        self.casino.machines[slot].inject("take")
        await self._out_of_machine(deck)
        return left

    async def _deal_by_hand(self, prompt: Prompt) -> None:
        """Draw card by card from a manual shoe, or from the hand."""
        cards = self.casino.cards_of_deal()
        machine = self.casino.machines.get("shoe.1")
        if machine is not None and self.casino.controller.table.state.dealing != "hand":
            await self._draw(cards, prompt)
        else:
            self.casino.deal_by_hand(cards)

    async def _more_cards(self, prompt: Prompt) -> None:
        """Draw the additional cards of one player."""
        await self._draw(self.casino.edition.hand.second_deal, prompt)

    def _is_still_asked(self, prompt: Prompt) -> bool:
        """Return whether a prompt is still open."""
        return prompt.id in self.casino.controller.table.state.prompts

    async def _draw(self, cards: int, prompt: Prompt) -> None:
        """Draw so many playing cards from the manual shoe while the prompt is open, cover cards not counted."""
        before = self.casino.count_drawn()
        for _ in range(3):
            missing = cards - (self.casino.count_drawn() - before)
            if missing <= 0 or not self.casino.count_in_shoe() or not self._is_still_asked(prompt):
                return
            try:
                self.casino.machines["shoe.1"].inject(f"draw:cards={missing}")
            except BadFault:  # a stuck card: no more can be drawn, and the dealer reports it
                self.casino.controller.submit(ev.IrregularityReported("shoe_fault", DEALER, slot="shoe.1"))
                return
            await self.casino.wait(missing * 2.0)

    async def _burn(self, prompt: Prompt) -> None:
        """Draw a card and put it into the rack unseen."""
        await self._draw(1, prompt)

    async def _roll(self, slot: str) -> None:
        machine = self.casino.machines[slot]
        self._total, self._announced = None, 0
        await self.casino.wait(ACTION_TIME_S)
        machine.inject("shake:times=3")
        await self.casino.wait(3.0)
        if self.casino.is_box_down or self.casino.controller.table.state.round.state not in (mc.VOID, mc.IDLE):
            machine.inject("lid:to=off")  # in a void round the dice stay covered

    async def _cover_again(self, prompt: Prompt) -> None:
        """Put the lid on for another roll. After two failed rolls in a row, repair the shaker."""
        slot = prompt.slot or ""
        self._cover(slot)
        if self._no_rolls > 1:
            self._no_rolls = 0
            await self._repair(slot, self.casino.machines[slot])

    async def _park(self, prompt: Prompt) -> None:
        machine = self.casino.machines[prompt.slot or ""]
        machine.inject("lid:to=on")
        await self.casino.wait(ACTION_TIME_S)
        machine.inject("shake:times=1")

    async def _collect(self, prompt: Prompt) -> None:
        left = (
            self.casino.count_inside("shoe.1", prompt.deck or "") if self.casino.edition.shuffle_after == "shoe" else 0
        )
        if left:  # the remaining cards, past the counter
            await self._draw(left, prompt)
        if not self._is_still_asked(prompt):  # the shoe was emptied meanwhile
            return
        self.casino.gather_deck(prompt.deck or "", RACK)
        happens, self.casino.on_collect = self.casino.on_collect, None
        if happens is not None:
            happens(prompt.deck or "")

    async def _gather(self, prompt: Prompt) -> int:
        deck = prompt.deck or self.casino.controller.table.state.round.deck or ""
        await self._out_of_machine(deck)
        self.casino.gather_deck(deck, TRAY)
        return self.casino.count_reachable(deck)

    async def _remove(self, prompt: Prompt) -> None:
        deck = prompt.deck or self.casino.controller.table.state.round.deck or ""
        await self._out_of_machine(deck)
        self.casino.gather_deck(deck, QUARANTINE)

    async def _out_of_machine(self, deck: str) -> None:
        """The technician takes cards that are still inside a machine out, as soon as it accepts commands."""
        for slot, machine in self.casino.machines.items():
            for _ in range(MANY_LOOKS) if slot.startswith(("shuffler.", "shoe.")) else ():
                if not self.casino.count_inside(slot, deck):
                    break
                self.casino.record_stray_cards(slot, deck)
                await self._clear(slot, machine)
                if self.casino.count_inside(slot, deck):
                    await self.casino.wait(4 * ACTION_TIME_S)


__all__ = ["DEALER", "FLOOR", "LAYOUT", "QUARANTINE", "TECHNICIAN", "SimulatedPeople"]
