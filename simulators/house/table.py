"""A whole table in one process: simulated machines, the shipped box over the wire, people. No tests here."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from simulators.house.dealer import DEALER, FLOOR, LAYOUT, People
from simulators.house.disk import Disk, DiskWriter, PowerCut
from simulators.house.power import HouseClock, Mains, NobodyElse, plan_of
from simulators.house.rest import Rest
from simulators.house.truth import Truth
from simulators.models import make
from simulators.table import CHOICES, layout
from simulators.world.cards import DECK_53, SIX_DECKS, World
from simulators.world.chips import TRAY as CHIP_TRAY
from simulators.world.chips import Chips
from simulators.world.table import RACK, RAIL, TRAY
from table_controller.controller.box import Box
from table_controller.journal.records import VERSION
from table_controller.rulebook import check_submission, edition
from table_controller.table import events as ev
from table_controller.table import machines as mc
from table_controller.table import shuffling
from table_controller.table.dealing import first_deal
from table_controller.table.decisions import Moved

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from firmware_bridge.handshake import Trust
    from simulators.house.disk import DiskStore
    from simulators.machine import Machine
    from table_controller.controller import plan
    from table_controller.controller.loop import Controller, Step
    from table_controller.controller.slot import Slot
    from table_controller.rulebook import Submission
    from table_controller.table.decisions import Decision

__all__ = ["CHOICES", "ROUND_TIME", "House"]

# Far longer than any round takes at its pace (s of virtual time).
ROUND_TIME: Final = 3600.0
_DEALT: Final = Moved("round", mc.DEALING)


def _until_controlled(_: Exception) -> None:
    """The box's controller hears of a failing journal from its first record on."""


def _machines(game: str, submission: Submission) -> dict[str, str]:
    """Return the machines of a table: no keypad, for people answer at a screen, and a sign where a meter is shown."""
    unused = ("keypad",) if "progressive" in submission.wagers else ("keypad", "meter")
    return {slot: model for slot, model in layout(game).items() if not slot.startswith(unused)}


class House:
    """One table with everything around it, in memory and (usually) in virtual time."""

    def __init__(
        self,
        game: str,
        *,
        seed: int = 0,
        speed: float = 1.0,
        models: dict[str, str] | None = None,
        choices: dict[str, Any] | None = None,
        trust: dict[str, Trust] | None = None,
        disk: Disk | None = None,
        snapshot_every: int = 1000,
        pace: float = 1.0,
        people: Callable[[House], People] = People,
        credentials: plan.People | None = None,
    ) -> None:
        """`choices` of the certificate holder besides the usual; `trust`: what a slot expects of its machine.

        `credentials`: who may sign on at the box besides the simulated people.
        """
        self.patience = ROUND_TIME  # how long anything may take until nobody has anything to do (s)
        self.pace = pace  # how long people take for everything, against their usual pace
        self.edition = edition(game)
        self.submission = check_submission(self.edition, {"adjacent_boxes": 1} | CHOICES[game] | (choices or {}))
        self.truth = Truth(self)
        self.world = World()
        self.seats: tuple[int, ...] = (1, 2, 4, 6)
        self.notes: list[str] = []
        self.log: list[tuple[ev.Event, list[Decision]]] = []
        self.dealt_rounds: list[tuple[int, str, bool]] = []  # number, deck, whether the deck was really whole
        self.stub = 0
        self._asked_again: list[str] = []
        self.strays: dict[str, list[Any]] = {}  # cards with other backs that lie among a deck
        self.watchers: list[Callable[[ev.Event, list[Decision]], None]] = []  # see every step once it is durable
        self.on_collect: Callable[[str], None] | None = None  # what happens, once, when the next deck is collected
        self.chips = Chips()
        self.disk = disk or Disk(seed)
        self.mains = Mains(self.disk)
        self.clock = HouseClock()
        self._seed = seed
        self._snapshot_every = snapshot_every
        chosen = _machines(game, self.submission) | (models or {})
        self.machines: dict[str, Machine] = {}
        for slot, model in chosen.items():
            more = {"chips": self.chips} if model == "bet-sensor" else {}
            self.machines[slot] = make(model, slot, seed=seed, speed=speed, world=self.world, **more)
        self._has_own_dealer = credentials is None
        self.plan = plan_of(
            self.edition, self.submission, self.machines, self.mains,
            trust=trust or {}, credentials=credentials or NobodyElse(),
        )  # fmt: skip
        self.writer: DiskWriter  # of the journal of this boot
        self.people = people(self)
        self.box = self._start()

    # --- the box ------------------------------------------------------------------------------------------------------

    def _start(self) -> Box:
        """The table's first box has recovered the table; `open` connects its machines."""
        box = self._powered_box()
        box.recover(self._open_journal)
        self._attach(box)
        return box

    def _powered_box(self) -> Box:
        box = Box(self.plan, self.clock, snapshot_every=self._snapshot_every, threads=False, seed=self._seed)
        self.mains.switch_on(box)
        return box

    def _attach(self, box: Box) -> None:
        """People see what the box shows and what its machines do."""
        if box.controller is not None:
            box.controller.followers.append(self._follow)
            box.on_told.append(self._on_device_event)

    def _open_journal(self, digests: Mapping[str, str]) -> tuple[DiskStore, DiskWriter]:
        store = self.disk.open(version=VERSION, digests=digests, clocks=self.clock.now)
        self.writer = DiskWriter(store, _until_controlled)
        return store, self.writer

    @property
    def controller(self) -> Controller:
        """The box's controller: of this boot."""
        controller = self.box.controller
        assert controller is not None, f"the box is locked: {self.box.cause}"
        return controller

    @property
    def slots(self) -> dict[str, Slot[Any, Any]]:
        """The box's slots: of this boot."""
        return self.box.slots

    @property
    def dark(self) -> bool:
        """Whether the box has no power."""
        return not self.mains.is_on

    def is_awaited(self) -> bool:
        """Return whether the box has yet to answer somebody: in one process it answers at once."""
        return False

    async def power_up(self) -> None:
        """Power comes back: the box starts, as often as it must, and people look at its screen again.

        A box whose journal cannot be taken is locked then; `box.cause` is why.
        """
        while self.dark:
            await self.box.stop()
            await asyncio.sleep(1.0)
            self.clock.kernel = str(int(self.clock.kernel) + 1)
            box = self._powered_box()
            try:
                await box.begin(self._open_journal)
            except PowerCut:
                continue
            self.box = box
            self._attach(box)
        await asyncio.sleep(1.0)  # the start is on disk and shown
        if self.box.controller is not None:
            self._sign_on()
            self.people.look_again()

    def _sign_on(self) -> None:
        """The simulated dealer signs on, unless other people do that at the box themselves."""
        if self._has_own_dealer and self.box.presence is not None:
            self.box.presence.signed_on(DEALER)

    async def power_down(self) -> None:
        """Somebody stops the box in order and switches it off; the machines stay."""
        await self.box.stop()
        self.mains.switch_off()

    def _on_device_event(self, slot: str, event: Any) -> None:
        if not self.dark:
            self.people.told(slot, event)

    def _follow(self, step: Step) -> None:
        self._stepped(step.event, step.decisions)

    def _stepped(self, event: ev.Event, decisions: list[Decision]) -> None:
        self.log.append((event, decisions))
        self.truth.take(event, decisions)
        if isinstance(event, ev.StubOut):
            self.stub = event.count
        for decision in decisions:
            self.people.take(decision)
        if _DEALT in decisions:
            round_ = self.controller.table.state.round
            self.dealt_rounds.append((round_.number, round_.deck or "", self.whole(round_.deck or "")))
        for watch in self.watchers:
            watch(event, decisions)

    # --- cards --------------------------------------------------------------------------------------------------------

    def deck(self, back: str) -> list[Any]:
        """Every card that has this back, wherever it is."""
        return [card for place in self.world.census() for card in self.world.at(place) if card.back == back]

    def whole(self, back: str) -> bool:
        """The truth: whether what will be dealt from is this deck, complete and of these backs only."""
        place = {"automated_shoe": "shoe.1", "dealing_shoe": "shoe.1", "manual_shoe": "shoe.1"}.get(
            self.controller.table.state.dealing, TRAY
        )
        cards = [c for p in self.world.census() if p == place or p.startswith(place + "/") for c in self.world.at(p)]
        if any(card.id in self.world.torn for card in cards):
            return False
        faces = sorted(card.face for card in cards if card.face >= 0)
        printed = sorted(DECK_53 if self.edition.cards.decks == 1 else SIX_DECKS)
        discarded = [card for card in self.deck(back) if self.world.where(card) in ("discard_rack", LAYOUT)]
        return sorted([*faces, *(card.face for card in discarded)]) == printed and {
            c.back for c in cards if c.face >= 0
        } <= {back}

    def lay(self, back: str, to: str) -> None:
        """Hands put every card of a deck that can be reached in one place: from the layout, the rack, the tray.

        A torn one is no card any more and stays aside.
        """
        for card in self.deck(back):
            if card.id in self.world.torn and "/" not in self.world.where(card) and to != "quarantine":
                self.world.move(card, "set_aside")
            if "/" not in self.world.where(card) and self.world.where(card) not in (RAIL, "set_aside", to):
                self.world.move(card, to)

    def lose_one(self, back: str, to: str = RAIL) -> None:
        """One card of a deck that can be reached ends where nobody looks."""
        cards = [card for card in self.deck(back) if self.world.where(card) in (RACK, TRAY, LAYOUT)]
        self.world.move(cards[len(cards) // 2], to)

    def swap_one(self, back: str) -> None:
        """One card of a deck is replaced by a copy of another."""
        cards = [card for card in self.deck(back) if self.world.where(card) in (RACK, TRAY, LAYOUT)]
        self.world.make(cards[0].face, back, self.world.where(cards[1]))
        self.world.move(cards[1], RAIL)

    def only_in_tray(self, back: str) -> None:
        """Hands put one deck into the tray, and whatever else lay there beside it: decks are never mixed."""
        for card in self.world.at(TRAY):
            if card.back != back:
                self.world.move(card, f"pile of {card.back}")
        self.lay(back, TRAY)

    def reachable(self, back: str) -> int:
        """The truth: how many cards of a deck hands can count, on the table and in the tray."""
        lying = [card for card in self.deck(back) if "/" not in self.world.where(card) and card.face >= 0]
        mixed = [card for card in self.strays.get(back, []) if self.world.where(card) not in ("quarantine", RACK)]
        return len(mixed) + sum(1 for c in lying if self.world.where(c) not in (RAIL, "set_aside", "quarantine"))

    def note_strays(self, slot: str, back: str) -> None:
        """Playing cards with another back come out of a machine together with a deck: they are counted with it."""
        places = [place for place in self.world.census() if place.startswith(slot + "/")]
        inside = [card for place in places for card in self.world.at(place) if card.face >= 0]
        if 2 * sum(1 for card in inside if card.back == back) > len(inside):
            self.strays[back] = [
                card for card in inside if card.back != back and "behind" not in self.world.where(card)
            ]

    def drawn(self) -> int:
        """The truth: how many playing cards lie on the layout."""
        return sum(1 for card in self.world.at(LAYOUT) if card.face >= 0)

    def in_well(self) -> int:
        """The truth: how many playing cards are in the shoe."""
        return sum(
            1 for p in self.world.census() if p.startswith("shoe.1/") for card in self.world.at(p) if card.face >= 0
        )

    def inside(self, slot: str, back: str) -> int:
        """The truth: how many cards of a deck are in a machine where hands find them: not behind its shelves."""
        places = [self.world.where(card) for card in self.deck(back)]
        return sum(1 for place in places if place.startswith(slot + "/") and "behind" not in place)

    def deal(self, cards: int) -> None:
        """Deal from the hand."""
        for card in self.world.at(TRAY)[-cards:]:
            self.world.move(card, LAYOUT)

    def cards_of_deal(self) -> int:
        """How many cards the first deal takes."""
        return first_deal(self.controller.table.context)

    def chips_in_tray(self, machine: Any) -> int:
        """The truth: how many chips the dealer's tray holds."""
        return len(machine.chips.at(CHIP_TRAY))

    # --- a day at the table -------------------------------------------------------------------------------------------

    async def open(self, *decks: str) -> None:
        """Every machine connects; decks come to the table, are opened and shuffled."""
        self._sign_on()
        self.box.connect()
        await self.until(lambda: all(slot.service.serves for slot in self.slots.values()))
        for back in decks:
            await self.bring(back)

    async def bring(self, back: str) -> None:
        """A new deck comes to the table, is opened and shuffled."""
        self.world.make_deck(TRAY, back, DECK_53 if self.edition.cards.decks == 1 else SIX_DECKS)
        self.controller.submit(ev.DeckReceived(back, DEALER))
        await self.rest()

    def faces_right(self, back: str) -> bool:
        """The truth: whether the cards of a deck that hands can reach are each there once."""
        hidden = (RAIL, "set_aside", "quarantine")
        faces = sorted(card.face for card in self.deck(back) if self.world.where(card) not in hidden and card.face >= 0)
        return faces == sorted(DECK_53 if self.edition.cards.decks == 1 else SIX_DECKS)

    async def round(self, bets: tuple[int, ...] = ()) -> None:
        """Play one round from open to idle, or as far as it goes."""
        self.controller.submit(ev.OpenRound(DEALER))
        await self.wait(1.0)
        if bets:  # players see whether their sensor takes bets
            await self.until(lambda: self.dark or not (self.is_awaited() or self.opening()))
        for seat in bets:
            betting = not self.dark and self.controller.table.state.round.state == mc.BETTING
            if betting and not self.chips.at(f"bet_sensor.{seat}/spot"):
                self.machines[f"bet_sensor.{seat}"].inject("place_bet")
        await self.wait(1.0)
        if self.dark:
            return
        if self.controller.table.state.round.state == mc.BETTING:
            self.controller.submit(ev.NoMoreBets(DEALER))
        await self.rest()

    def opening(self) -> bool:
        """Tell whether a sensor was told to take bets and has not answered yet."""
        return any(issued.act == "open_bets" for issued in self.controller.table.state.commands.values())

    async def rest(self, seconds: float | None = None) -> None:
        """Let everybody do what is to be done, until nobody has anything to do, or the box has no power."""
        await Rest(self, self.patience if seconds is None else seconds).come()

    def ask_again(self) -> bool:
        """Have a machine report once more that did not report well while somebody had it open; tell whether one did."""
        state = self.controller.table.state
        doubtful = [name for name, slot in state.slots.items() if slot.state == "unverified"]
        self._asked_again = [name for name in self._asked_again if name in doubtful]
        ready = [name for name in doubtful if name not in self._asked_again and self.slots[name].view.connected]
        for name in ready:
            self._asked_again.append(name)  # once: who is still in doubt then is the technician's
            self.controller.submit(ev.SlotOrdered(name, "acknowledge", FLOOR))
        return bool(ready)

    def empty_intake(self, slot: str) -> None:
        """Hands take back what a shuffler has not drawn in."""
        if self.world.count(f"{slot}/intake"):
            self.world.move_all(f"{slot}/intake", TRAY)
            self.machines[slot].firmware.hands_moved()  # type: ignore[attr-defined]

    def feed(self) -> None:
        """Put a deck that waits for the shuffler into it, if it is empty and serves."""
        state = self.controller.table.state
        slot = state.slots.get("shuffler.1")
        if slot is None or slot.state != "in_service" or slot.deck is not None or state.holds:
            return
        if any(issued.slot == "shuffler.1" for issued in state.commands.values()):
            return
        for deck in state.decks.values():
            waits = shuffling.waits(self.controller.table.context, deck)  # a stack, or a deck beside the one in place
            if waits and not any(self.world.count(f"shuffler.1/{at}") for at in ("intake", "gate", "presented")):
                self.lay(deck.name, TRAY)
                for card in [card for card in self.world.at(TRAY) if card.back == deck.name]:
                    self.world.move(card, "shuffler.1/intake")
                self.machines["shuffler.1"].firmware.hands_moved()  # type: ignore[attr-defined]
                return

    async def wait(self, seconds: float) -> None:
        """Let time pass at the pace of the people here."""
        await asyncio.sleep(seconds * self.pace)

    async def until_held(self, seconds: float = ROUND_TIME) -> None:
        """Let everybody go on until the box holds something back, and nobody is about anything any more."""
        for _ in range(round(seconds / 0.5)):
            self.feed()
            state = self.controller.table.state
            if state.holds and not self.people.busy and not state.commands:
                return
            await self.wait(0.5)
        raise TimeoutError("the box has found nothing")

    async def until(self, condition: Any, seconds: float | None = None) -> None:
        """Wait until something holds, for a minute unless it may take another time."""
        for _ in range(round((60.0 if seconds is None else seconds) * 10)):
            if condition():
                return
            await self.wait(0.1)
        raise TimeoutError("what the house waits for did not come true")

    async def close(self) -> None:
        """The table closes; every card must still be in exactly one place."""
        await self.people.close()
        self.disk.cut_at = self.mains.cut_at = None
        await self.power_down()
        for machine in self.machines.values():
            machine.board.power_off()
        self.world.check()
