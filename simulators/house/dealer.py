"""The people at a simulated table: dealer, floorperson, technician. They do with their hands what the box asks for.

They obey; they do not think. What they enter is what lies there in the world, counted, unless a scenario's `lies` say
otherwise.
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
from simulators.house.technician import DEALER, FLOOR, LONG, OTHER_FLOOR, PACE, QUARANTINE, TECHNICIAN, Technician
from simulators.world.chips import RAIL as CHIP_RAIL
from simulators.world.chips import TRAY as CHIP_TRAY
from simulators.world.chips import hand
from simulators.world.table import LAYOUT, RACK, TRAY
from table_controller.table import events as ev
from table_controller.table import machines as mc
from table_controller.table.decisions import Finding, Prompt

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from simulators.house.table import House
    from table_controller.table.decisions import Decision

# A slip of the tongue is put right the second time; who is still wrong then does not see what the shaker saw.
_MAX_ANNOUNCEMENTS: Final = 2
_PEOPLE: Final = {"dealer": DEALER, "floorperson": FLOOR, "technician": TECHNICIAN}
# What machines do that somebody goes about.
_SEEN: Final = (shuffler_state.GivenOut, shoe.Dispensed, shoe.Stub, shaker.Shaken, shaker.Reading, shaker.NoRoll)


class People(Technician):
    """Everybody at one table. `lies` gives another number than the truth for a kind of prompt."""

    def __init__(self, casino: House) -> None:
        super().__init__(casino)
        self.lies: dict[str, int] = {}
        self.expired: set[str] = set()  # decks that have been in use for too long
        self.slips: dict[str, int] = {}  # by how much the next answer to a kind of question is wrong, once
        self.twice = False  # the next answer is given by two people at once
        self.choices: dict[str, str] = {}  # what is chosen where there is a choice; else the first
        self.asked: list[Prompt] = []
        self.ignoring = False  # they see what an irregularity asks of them and do nothing about it
        self.returned: list[int] = []  # rounds whose wagers went back
        self._done: dict[int, int | None] = {}  # what hands have done for a question, with what they counted
        self._about: set[int] = set()  # questions that somebody is about
        self.collected: dict[int, list[tuple[int, str]]] = {}  # by round: chips in the tray, and from whose spot
        self.stand: set[tuple[int, int]] = set()  # rounds and seats whose bet stands although the round is void
        self._gone = False
        self._total: int | None = None  # of this roll, as the shaker told it
        self._announced = 0  # how often a total of this roll was announced
        self._no_rolls = 0  # in a row
        self._tasks: set[asyncio.Task[None]] = set()
        self._reverified: set[str | None] = set()  # decks that were wrong once, and were given another chance
        self._chosen: set[tuple[int, tuple[str, ...]]] = set()  # what was chosen once in a round: the first way out
        self._aside: int | None = None  # cover cards beside the shoe when it was last filled

    # --- what they see ------------------------------------------------------------------------------------------------

    def take(self, decision: Decision) -> None:
        """See what the box asks for, and go about it."""
        if isinstance(decision, Finding) and decision.kind == "deck_expired" and decision.deck:
            self.expired.add(decision.deck)
        if isinstance(decision, Prompt) and decision.id not in self._about:
            self.asked.append(decision)
            if not self.ignoring or decision.hold is None:
                self._about.add(decision.id)
                self._go(self._answer(decision))

    def heed(self) -> None:
        """They go about what was asked meanwhile."""
        self.ignoring = False
        for prompt in list(self.casino.controller.table.state.prompts.values()):
            self.take(prompt)

    def look_again(self) -> None:
        """The screen is back: take what lies before the machines, and go about every question that it shows."""
        for slot, machine in self.casino.machines.items():
            if slot.startswith("shuffler.") and self.casino.world.count(f"{slot}/presented"):
                machine.inject("take_deck")
            elif slot.startswith("shoe.") and self.casino.world.count(f"{slot}/slot"):
                machine.inject("take")
        if self._aside is not None and self.casino.world.count("set_aside") > self._aside:
            # It lies beside the shoe; the box may not have seen it.
            self.casino.controller.submit(ev.CoverCardOut(who=DEALER))
        for prompt in list(self.casino.controller.table.state.prompts.values()):
            self.take(prompt)

    def told(self, slot: str, event: Any) -> None:
        """See what a machine did."""
        if not isinstance(event, _SEEN):
            return
        machine = self.casino.machines[slot]
        if isinstance(event, shuffler_state.GivenOut):
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
        """Whether the shoe brings cards to a delivery slot; from a manual one hands draw them."""
        return self.casino.controller.table.context.submission.dealing == "automated_shoe"

    def _go(self, work: Any) -> None:
        if self._gone:
            work.close()
            return
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _later(self, act: Callable[[], object]) -> None:
        await self.casino.wait(PACE)
        act()

    async def close(self) -> None:
        """Everybody goes home."""
        self._gone = True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    @property
    def busy(self) -> bool:
        """Whether somebody is about something."""
        return bool(self._tasks)

    # --- answering ----------------------------------------------------------------------------------------------------

    async def _answer(self, prompt: Prompt) -> None:
        try:
            await self._obey(prompt)
        finally:
            self._about.discard(prompt.id)

    def acts(self) -> dict[str, Callable[[Prompt], Awaitable[int | None]]]:
        """What hands do, by kind of prompt, before it is answered; the number that they found, if any."""
        return {
            "put_in_shoe": self._put_in_shoe,
            "chips": self._collect_chips,
            "stub": self._count_stub,
            "stub_recount": self._count_stub,
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
        await self.casino.wait(PACE)
        number = self._plain_number(prompt)
        act = self.acts().get(prompt.kind)
        if act is not None:
            if prompt.id not in self._done:  # hands do it once, however often the box starts
                self._done[prompt.id] = await act(prompt)
            counted = self._done[prompt.id]
            number = counted if counted is not None else number
        if prompt.kind in self.lies:
            number = self.lies[prompt.kind]
        if number is not None and prompt.kind in self.slips:
            slip = max(0, number + self.slips.pop(prompt.kind))
            if len(prompt.choices) > 1 or prompt.least <= slip <= prompt.most:
                number = slip
            else:  # the box takes no such number, and there is no other way out: it is entered once more
                self.say(ev.Answer(prompt.id, prompt.choices[0], self._who(prompt), slip))
        choice, number = self._choice(prompt, number)
        self.say(ev.Answer(prompt.id, choice, self._who(prompt), number, self.name_seats(prompt)))

    def _who(self, prompt: Prompt) -> ev.Person:
        """Who answers: a hand pay whose bet one floorperson looked up is documented by another."""
        hit = self.casino.controller.table.state.money.hit_of(prompt.seat) if prompt.kind == "hand_pay" else None
        return OTHER_FLOOR if hit is not None and hit.looked_up_by == FLOOR.identity else _PEOPLE[prompt.role]

    def say(self, answer: ev.Answer) -> None:
        """Answer the box, once hands have done what it asked for."""
        if not self.casino.dark:
            self.casino.controller.submit(answer)
            if self.twice:
                self.twice = False
                other = ev.Person(answer.who.role, f"{answer.who.role}-2")
                self.casino.controller.submit(replace(answer, who=other))

    def _choice(self, prompt: Prompt, number: int | None) -> tuple[str, int | None]:
        """What is chosen where there is a choice, with the number that goes with it."""
        choice = self.choose(prompt)
        if prompt.number and number is not None and not prompt.least <= number <= prompt.most:
            choice, number = prompt.choices[-1], None  # what was counted is no answer: the other way out
        if prompt.kind == "face_check" and not self.casino.faces_right(prompt.deck or ""):
            choice = "not_whole"
        if prompt.kind == "choose" and "reverify" in prompt.choices and "choose" not in self.choices:
            choice = "remove" if prompt.deck in self._reverified else "reverify"  # found wrong again: it leaves
            self._reverified.add(prompt.deck)
        if prompt.kind == "choose" and "void" in prompt.choices and "choose" not in self.choices:
            case = self.casino.controller.table.state.round.number, prompt.choices
            choice = "void" if case in self._chosen else choice  # the first way out led back here: the round ends
            self._chosen.add(case)
        if prompt.kind == "seat_undecided":
            choice = "bet" if self.casino.chips.at(f"bet_sensor.{prompt.seat}/spot") else "no_bet"
        if prompt.kind == "which_deck":
            choice = self._deck_in(prompt.slot or "")
        return choice, number

    def choose(self, prompt: Prompt) -> str:
        """What is chosen where there is a choice."""
        return self.choices.get(prompt.kind, prompt.choices[0])

    def name_seats(self, prompt: Prompt) -> tuple[int, ...]:
        """The seats of a question that asks for them."""
        alone = prompt.kind in ("first_arrival", "cover_seat")
        return self.casino.seats[:1] if alone else self.casino.seats * prompt.seats

    def _plain_number(self, prompt: Prompt) -> int | None:
        """The number of a question that asks for one and needs no hands."""
        if not prompt.number:
            return None
        edition = self.casino.edition
        known = {"surrender_count": edition.hand.cards, "cover_back": edition.cut.cover_above_bottom or 0}
        return known.get(prompt.kind, self.casino.reachable(prompt.deck or ""))

    def _deck_in(self, slot: str) -> str:
        """The back colour of what lies in a shuffler's intake."""
        return self.casino.world.at(f"{slot}/intake")[0].back

    async def _cut(self, _: Prompt) -> int:
        return self.casino.edition.cards.count // 2

    async def _announce(self, prompt: Prompt) -> int | None:
        """Say the total, as the shaker told it or as the dice lie there; one that is wrong again is of another roll."""
        self._announced += 1
        if (
            self._announced > _MAX_ANNOUNCEMENTS and not self.casino.dark
        ):  # somebody has touched the dice meanwhile: no roll
            self.casino.controller.submit(ev.Declared("dice_not_flat", DEALER, slot=prompt.slot))
        machine: Any = self.casino.machines[prompt.slot or ""]
        return sum(machine.mechanics.lying() or ()) if self._total is None else self._total

    async def _put_in_shoe(self, prompt: Prompt) -> None:
        with suppress(TimeoutError):  # it is taken out first
            await self.casino.until(lambda: not self.casino.world.count("shuffler.1/presented"), 5.0)
        if self.casino.world.count("shuffler.1/presented"):  # nobody heard that it was given out; it lies there
            self.casino.machines["shuffler.1"].inject("take_deck")
        self.casino.only_in_tray(prompt.deck or "")
        self.casino.machines[prompt.slot or ""].inject("load")
        self._aside = self.casino.world.count("set_aside")
        if self.casino.edition.cards.decks > 1:  # a quarter of the stack stays below the cover card
            self.casino.machines[prompt.slot or ""].inject(
                f"cover_card:depth={self.casino.edition.cards.count * 3 // 4}"
            )
        await self.casino.wait(PACE)

    async def _collect_chips(self, prompt: Prompt) -> int:
        """Take the chips that count from the spots to the tray, late ones apart; who has laid which is remembered."""
        state = self.casino.controller.table.state
        taken = self.collected.setdefault(state.round.number, [])
        for slot, machine in self.casino.machines.items():
            if slot.startswith("bet_sensor.") and int(slot.rpartition(".")[2]) not in state.late_chips:
                chips = self.casino.chips.at(f"{slot}/spot")
                if len(chips) > 1:  # a bet is one chip: the others go back to who laid them
                    machine.inject(f"take_bet:chips={len(chips) - 1}")
                    chips = self.casino.chips.at(f"{slot}/spot")
                machine.inject("collect")
                taken += [(chip, slot) for chip in chips]
        if not prompt.number:  # where nobody counts, the dealer sees a light without a chip: the player owes one
            for slot in (f"bet_sensor.{seat}" for seat in state.progressive.accepted):
                if slot in [spot for _, spot in taken]:
                    continue
                # From the player's own; whoever has none left picks up what fell under the rail.
                owed = (self.casino.chips.at(hand(slot)) or self.casino.chips.at(CHIP_RAIL))[-1:]
                for chip in owed:
                    self.casino.chips.move(chip, CHIP_TRAY)
                    taken.append((chip, slot))
        return len(taken)

    async def _return_chips(self, _: Prompt) -> None:
        """The wagers of this round go back: from the spots, and from the tray."""
        number = self.casino.controller.table.state.round.number
        for slot, machine in self.casino.machines.items():
            chips = self.casino.chips.at(f"{slot}/spot") if slot.startswith("bet_sensor.") else []
            if chips:
                machine.inject(f"take_bet:chips={len(chips)}")
        bets = self.casino.controller.table.state.money.bets
        for chip, slot in self.collected.pop(number, []):
            seat = int(slot.rpartition(".")[2])
            settled = seat in bets and bets[seat].state in ("lost", "won")  # although the round is void (687a.13(d))
            if settled or (number, seat) in self.stand:
                self.collected.setdefault(number, []).append((chip, slot))
            else:
                self.casino.chips.move(chip, hand(slot))
        self.returned.append(number)

    async def _hand_back(self, prompt: Prompt) -> None:
        """A chip that was collected and does not count goes back to its player."""
        state = self.casino.controller.table.state
        hold = state.holds.get(prompt.hold or 0)
        if hold is None or hold.trigger != "bet_without_wager":
            return
        taken = self.collected.get(state.round.number, [])
        for chip, slot in [each for each in taken if each[1] == f"bet_sensor.{hold.seat}"]:
            self.casino.chips.move(chip, hand(slot))
            taken.remove((chip, slot))

    async def _give_back(self, prompt: Prompt) -> None:
        """Whatever was laid too late, on top or alone, goes back to its player; what lay there in time stays."""
        slot = f"bet_sensor.{prompt.seat}"
        number = self.casino.controller.table.state.round.number
        taken = any(spot == slot for _, spot in self.collected.get(number, []))
        late = len(self.casino.chips.at(f"{slot}/spot")) - (self._lay_in_time(slot) and not taken)
        if late > 0:
            self.casino.machines[slot].inject(f"take_bet:chips={late}")

    def _lay_in_time(self, slot: str) -> bool:
        """Whether a chip lay on this spot when its sensor was locked in this round."""
        machine: Any = self.casino.machines[slot]
        number = self.casino.controller.table.state.round.number
        return any(latch.round == number and lying for latch, lying in machine.latched[-1:])

    async def _count_stub(self, _: Prompt) -> int:
        """Count the stub. One that the box has not heard of is still at the shoe: hands take it out first."""
        deck, slot = self.casino.controller.table.state.round.deck or "", "shoe.1"
        left = self.casino.inside(slot, deck) if self._has_slot else 0
        if not left:
            return self.casino.stub
        for _try in range(LONG):
            if self.casino.inside(slot, deck) == self.casino.world.count(
                f"{slot}/slot"
            ):  # it is not on its way any more
                break
            await self.casino.wait(PACE)
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
            self.casino.deal(cards)

    async def _more_cards(self, prompt: Prompt) -> None:
        """Draw the additional cards of one player."""
        await self._draw(self.casino.edition.hand.second_deal, prompt)

    def _is_still_asked(self, prompt: Prompt) -> bool:
        """Whether a question is still on the screen: what was asked in one that is gone is not done any more."""
        return prompt.id in self.casino.controller.table.state.prompts

    async def _draw(self, cards: int, prompt: Prompt) -> None:
        """Draw so many playing cards from the manual shoe, while it is asked for; the cover card is none of them."""
        before = self.casino.drawn()
        for _ in range(3):
            missing = cards - (self.casino.drawn() - before)
            if missing <= 0 or not self.casino.in_well() or not self._is_still_asked(prompt):
                return
            try:
                self.casino.machines["shoe.1"].inject(f"draw:cards={missing}")
            except BadFault:  # a card sticks in the throat: nothing more can be drawn, and the dealer says so
                self.casino.controller.submit(ev.Declared("shoe_fault", DEALER, slot="shoe.1"))
                return
            await self.casino.wait(missing * 2.0)

    async def _burn(self, prompt: Prompt) -> None:
        """Draw a card and lay it into the rack unseen."""
        await self._draw(1, prompt)

    async def _roll(self, slot: str) -> None:
        machine = self.casino.machines[slot]
        self._total, self._announced = None, 0
        await self.casino.wait(PACE)
        machine.inject("shake:times=3")
        await self.casino.wait(3.0)
        if self.casino.dark or self.casino.controller.table.state.round.state not in (mc.VOID, mc.IDLE):
            machine.inject("lid:to=off")  # for a round that is void meanwhile nobody looks at the dice

    async def _cover_again(self, prompt: Prompt) -> None:
        """The lid goes on for another roll. A shaker that was shaken well and does not say so twice is mended."""
        slot = prompt.slot or ""
        self._cover(slot)
        if self._no_rolls > 1:
            self._no_rolls = 0
            await self._repair(slot, self.casino.machines[slot])

    async def _park(self, prompt: Prompt) -> None:
        machine = self.casino.machines[prompt.slot or ""]
        machine.inject("lid:to=on")
        await self.casino.wait(PACE)
        machine.inject("shake:times=1")

    async def _collect(self, prompt: Prompt) -> None:
        left = self.casino.inside("shoe.1", prompt.deck or "") if self.casino.edition.shuffle_after == "shoe" else 0
        if left:  # the rest of the shoe, past its counter
            await self._draw(left, prompt)
        if not self._is_still_asked(prompt):  # a floorperson had the shoe emptied meanwhile: its cards are elsewhere
            return
        self.casino.lay(prompt.deck or "", RACK)
        happens, self.casino.on_collect = self.casino.on_collect, None
        if happens is not None:
            happens(prompt.deck or "")

    async def _gather(self, prompt: Prompt) -> int:
        deck = prompt.deck or self.casino.controller.table.state.round.deck or ""
        await self._out_of_machine(deck)
        self.casino.lay(deck, TRAY)
        return self.casino.reachable(deck)

    async def _remove(self, prompt: Prompt) -> None:
        deck = prompt.deck or self.casino.controller.table.state.round.deck or ""
        await self._out_of_machine(deck)
        self.casino.lay(deck, QUARANTINE)

    async def _out_of_machine(self, deck: str) -> None:
        """What is still inside a machine comes out by the technician's hands, as soon as it can be told to."""
        for slot, machine in self.casino.machines.items():
            for _ in range(LONG) if slot.startswith(("shuffler.", "shoe.")) else ():
                if not self.casino.inside(slot, deck):
                    break
                self.casino.note_strays(slot, deck)
                await self._clear(slot, machine)
                if self.casino.inside(slot, deck):
                    await self.casino.wait(4 * PACE)


__all__ = ["DEALER", "FLOOR", "LAYOUT", "QUARANTINE", "TECHNICIAN", "People"]
