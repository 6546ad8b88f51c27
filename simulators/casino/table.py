"""A whole table in one process: simulated machines, the shipped box over the wire protocol, and people."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from devices.service import IN_SERVICE
from simulators.casino.dealer import DEALER, FLOOR, LAYOUT, SimulatedPeople
from simulators.casino.deck_truth import DeckTruth
from simulators.casino.disk import Disk, PowerCut
from simulators.casino.disk_writer import DiskWriter
from simulators.casino.power import Mains, NoCredentials, SimulatedClock, make_plan
from simulators.casino.quiescence import QuiescenceWait
from simulators.casino.table_layout import (
    choices_of_models,
    default_choices,
    inserting_models,
    join_chutes,
    table_slots,
)
from simulators.kinds.models import make_machine
from simulators.world.cards import DECK_53, SIX_DECKS, World
from simulators.world.chips import TRAY as CHIP_TRAY
from simulators.world.chips import Chips
from simulators.world.table import RACK, RAIL, TRAY
from table_controller.controller.box import Box
from table_controller.journal.records import VERSION
from table_controller.rulebook import check_submission, edition
from table_controller.table import events as ev
from table_controller.table import shuffling
from table_controller.table import state_machines as mc
from table_controller.table.dealing import first_deal_cards
from table_controller.table.decisions import StateChanged

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from devices.kinds import DriverEvent
    from firmware_bridge.handshake import Trust
    from simulators.casino.disk import DiskStore
    from simulators.engine.machine import SimulatedMachine
    from table_controller.controller import plan
    from table_controller.controller.controller import Controller, DurableStep
    from table_controller.controller.slot import AnySlot
    from table_controller.picture.types import TablePicture
    from table_controller.rulebook import Submission
    from table_controller.table.decisions import Decision

# Time limit of a round (s of virtual time).
ROUND_TIMEOUT_S: Final = 3600.0
# The maker on the packages of cards.
MAKER: Final = "Example Cards"
_DEALT: Final = StateChanged("round", mc.DEALING)


def _until_controlled(_: Exception) -> None:
    """Ignore a journal failure before the box has a controller."""


def _machines(game: str, submission: Submission) -> dict[str, str]:
    """Return the machines of a table: no keypad, because people answer on a screen, and a sign if it has a meter."""
    unused = ("keypad",) if "progressive" in submission.wagers else ("keypad", "meter")
    return {slot: model for slot, model in table_slots(game).items() if not slot.startswith(unused)}


class CasinoTable:
    """One table with its machines, box and people, in memory and usually in virtual time."""

    def __init__(
        self,
        game: str,
        *,
        seed: int = 0,
        speed: float = 1.0,
        models: dict[str, str] | None = None,
        more: dict[str, str] | None = None,
        choices: dict[str, Any] | None = None,
        trust: dict[str, Trust] | None = None,
        disk: Disk | None = None,
        snapshot_every: int = 1000,
        pace: float = 1.0,
        people: Callable[[CasinoTable], SimulatedPeople] = SimulatedPeople,
        credentials: plan.PeopleSource | None = None,
    ) -> None:
        """`models`: of the table's own slots; `more`: further slots, with the model in each.

        `choices`: further choices of the certificate holder; `trust`: the trust of single slots.

        `credentials`: who may sign on at the box in addition to the simulated people.
        """
        self.patience = ROUND_TIMEOUT_S  # time limit until nobody has anything to do (s)
        self.pace = pace  # factor on the time that people take
        self.edition = edition(game)
        self.submission = check_submission(
            self.edition,
            {"adjacent_boxes": 1}
            | default_choices(game)
            | choices_of_models(game, (models or {}) | (more or {}))
            | (choices or {}),
        )
        self.truth = DeckTruth(self)
        self.world = World()
        self.seats: tuple[int, ...] = (1, 2, 4, 6)
        self.notes: list[str] = []
        self.step_log: list[tuple[ev.Event, list[Decision]]] = []
        self.dealt_rounds: list[tuple[int, str, bool]] = []  # number, deck, whether the deck was really complete
        self.stub = 0
        self._asked_again: list[str] = []
        self.stray_cards: dict[str, list[Any]] = {}  # cards with other backs among a deck
        self.watchers: list[Callable[[ev.Event, list[Decision]], None]] = []  # called for every durable step
        self.on_collect: Callable[[str], None] | None = None  # called once, when the next deck is collected
        self.chips = Chips()
        self.disk = disk or Disk(seed)
        self.mains = Mains(self.disk)
        self.clock = SimulatedClock()
        self._seed = seed
        self._snapshot_every = snapshot_every
        inserting = inserting_models(game) if self.submission.inserts_into_shoe else {}
        chosen = _machines(game, self.submission) | inserting | (models or {}) | (more or {})
        self.machines: dict[str, SimulatedMachine] = {}
        for slot, model in chosen.items():
            chips = {"chips": self.chips} if model == "bet-sensor" else {}
            self.machines[slot] = make_machine(model, slot, seed=seed, speed=speed, world=self.world, **chips)
        join_chutes(self.machines.values())
        self._has_own_dealer = credentials is None
        self.plan = make_plan(
            self.edition, self.submission, self.machines, self.mains,
            trust=trust or {}, credentials=credentials or NoCredentials(),
        )  # fmt: skip
        self.writer: DiskWriter  # of the journal of this boot
        self.people = people(self)
        self.box = self._start()

    # --- the box ------------------------------------------------------------------------------------------------------

    def _start(self) -> Box:
        """Return the first box, recovered but not connected; `open` connects its machines."""
        box = self._powered_box()
        box.recover(self._open_journal)
        self._attach(box)
        return box

    def _powered_box(self) -> Box:
        box = Box(self.plan, self.clock, snapshot_every=self._snapshot_every, threads=False, seed=self._seed)
        self.mains.switch_on(box)
        return box

    def _attach(self, box: Box) -> None:
        """Show people the steps of the box and the events of its machines."""
        if box.controller is not None:
            box.controller.followers.append(self._follow)
            box.on_device_event.append(self._on_device_event)

    def _open_journal(self, digests: Mapping[str, str]) -> tuple[DiskStore, DiskWriter]:
        store = self.disk.open(version=VERSION, digests=digests, clocks=self.clock.now)
        self.writer = DiskWriter(store, _until_controlled)
        return store, self.writer

    def picture(self) -> TablePicture:
        """Return the picture of the table that the box shows."""
        picture = self.box.pictures.table()
        assert picture is not None, f"the box is in safe mode: {self.box.cause}"
        return picture

    @property
    def controller(self) -> Controller:
        """The controller of the running box."""
        controller = self.box.controller
        assert controller is not None, f"the box is in safe mode: {self.box.cause}"
        return controller

    @property
    def slots(self) -> dict[str, AnySlot]:
        """The slots of the running box."""
        return self.box.slots

    @property
    def is_box_down(self) -> bool:
        """Whether the box has no power."""
        return not self.mains.is_on

    def is_answer_pending(self) -> bool:
        """Return False: in one process the box answers at once."""
        return False

    async def power_up(self) -> None:
        """Restore power: start the box, again after further cuts, and let people look at its screen.

        A box that cannot use its journal is in safe mode; `box.cause` is the reason.
        """
        while self.is_box_down:
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
            self.people.look_at_screen()

    def _sign_on(self) -> None:
        """Sign the simulated dealer on, unless other people sign on at the box."""
        if self._has_own_dealer and self.box.presence is not None:
            self.box.presence.sign_on(DEALER)

    async def power_down(self) -> None:
        """Stop the box in order and switch it off; the machines stay on."""
        await self.box.stop()
        self.mains.switch_off()

    def _on_device_event(self, slot: str, event: DriverEvent) -> None:
        if not self.is_box_down:
            self.people.see_device_event(slot, event)

    def _follow(self, step: DurableStep) -> None:
        self._stepped(step.event, step.decisions)

    def _stepped(self, event: ev.Event, decisions: list[Decision]) -> None:
        self.step_log.append((event, decisions))
        self.truth.apply_step(event, decisions)
        if isinstance(event, ev.StubOut):
            self.stub = event.count
        for decision in decisions:
            self.people.see_decision(decision)
        if _DEALT in decisions:
            round_ = self.controller.table.state.round
            self.dealt_rounds.append((round_.number, round_.deck or "", self.is_deck_whole(round_.deck or "")))
        for watch in self.watchers:
            watch(event, decisions)

    # --- cards --------------------------------------------------------------------------------------------------------

    def deck(self, back: str) -> list[Any]:
        """Return all cards with this back, at any place."""
        return [card for place in self.world.census() for card in self.world.at(place) if card.back == back]

    def is_deck_whole(self, back: str) -> bool:
        """Return whether the cards that will be dealt are really this deck: complete, and only of its back."""
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

    def gather_deck(self, back: str, to: str) -> None:
        """Gather the reachable cards of a deck in one place, from layout, rack and tray.

        Torn cards are set aside.
        """
        for card in self.deck(back):
            if card.id in self.world.torn and "/" not in self.world.where(card) and to != "quarantine":
                self.world.move(card, "set_aside")
            if "/" not in self.world.where(card) and self.world.where(card) not in (RAIL, "set_aside", to):
                self.world.move(card, to)

    def lose_one(self, back: str, to: str = RAIL) -> None:
        """Move one reachable card of a deck to a hidden place."""
        cards = [card for card in self.deck(back) if self.world.where(card) in (RACK, TRAY, LAYOUT)]
        self.world.move(cards[len(cards) // 2], to)

    def swap_one(self, back: str) -> None:
        """Replace one card of a deck by a copy of another."""
        cards = [card for card in self.deck(back) if self.world.where(card) in (RACK, TRAY, LAYOUT)]
        self.world.make(cards[0].face, back, self.world.where(cards[1]))
        self.world.move(cards[1], RAIL)

    def put_alone_in_tray(self, back: str) -> None:
        """Put one deck alone into the tray, and other cards into separate piles: decks are never mixed."""
        for card in self.world.at(TRAY):
            if card.back != back:
                self.world.move(card, f"pile of {card.back}")
        self.gather_deck(back, TRAY)

    def count_reachable(self, back: str) -> int:
        """Return the true number of cards of a deck that hands can count, on the table and in the tray."""
        lying = [card for card in self.deck(back) if "/" not in self.world.where(card) and card.face >= 0]
        mixed = [card for card in self.stray_cards.get(back, []) if self.world.where(card) not in ("quarantine", RACK)]
        return len(mixed) + sum(1 for c in lying if self.world.where(c) not in (RAIL, "set_aside", "quarantine"))

    def record_stray_cards(self, slot: str, back: str) -> None:
        """Record playing cards with another back that come out of a machine with a deck and are counted with it."""
        places = [place for place in self.world.census() if place.startswith(slot + "/")]
        inside = [card for place in places for card in self.world.at(place) if card.face >= 0]
        if 2 * sum(1 for card in inside if card.back == back) > len(inside):
            self.stray_cards[back] = [
                card for card in inside if card.back != back and "behind" not in self.world.where(card)
            ]

    def count_drawn(self) -> int:
        """Return the true number of playing cards on the layout."""
        return sum(1 for card in self.world.at(LAYOUT) if card.face >= 0)

    def count_in_shoe(self) -> int:
        """Return the true number of playing cards in the shoe."""
        return sum(
            1 for p in self.world.census() if p.startswith("shoe.1/") for card in self.world.at(p) if card.face >= 0
        )

    def count_inside(self, slot: str, back: str) -> int:
        """Return the true number of cards of a deck in a machine, without those behind its shelves."""
        places = [self.world.where(card) for card in self.deck(back)]
        return sum(1 for place in places if place.startswith(slot + "/") and "behind" not in place)

    def deal_by_hand(self, cards: int) -> None:
        """Deal from the hand."""
        for card in self.world.at(TRAY)[-cards:]:
            self.world.move(card, LAYOUT)

    def cards_of_deal(self) -> int:
        """Return the number of cards of the first deal."""
        return first_deal_cards(self.controller.table.context)

    def chips_in_tray(self, machine: Any) -> int:
        """Return the true number of chips in the dealer's tray."""
        return len(machine.chips.at(CHIP_TRAY))

    # --- play -------------------------------------------------------------------------------------------

    async def open(self, *decks: str) -> None:
        """Connect every machine; bring decks, which are opened and shuffled."""
        self._sign_on()
        self.box.connect()
        await self.until(lambda: all(self.box.service_state(slot) == IN_SERVICE for slot in self.slots))
        for back in decks:
            await self.bring_deck(back)

    async def bring_deck(self, back: str) -> None:
        """Bring a new deck, which is opened and shuffled."""
        self.world.make_deck(TRAY, back, DECK_53 if self.edition.cards.decks == 1 else SIX_DECKS)
        self.controller.submit(ev.DeckReceived(back, DEALER, maker=MAKER))
        await self.until_quiescent()

    def are_faces_right(self, back: str) -> bool:
        """Return whether the reachable cards of a deck have the right faces."""
        hidden = (RAIL, "set_aside", "quarantine")
        faces = sorted(card.face for card in self.deck(back) if self.world.where(card) not in hidden and card.face >= 0)
        return faces == sorted(DECK_53 if self.edition.cards.decks == 1 else SIX_DECKS)

    async def round(self, bets: tuple[int, ...] = ()) -> None:
        """Play one round from open to idle, or as far as it goes."""
        self.controller.submit(ev.OpenRound(DEALER))
        await self.wait(1.0)
        if bets:  # players see whether bets are open
            await self.until(lambda: self.is_box_down or not (self.is_answer_pending() or self.is_opening_bets()))
        for seat in bets:
            betting = not self.is_box_down and self.controller.table.state.round.state == mc.BETTING
            if betting and not self.chips.at(f"bet_sensor.{seat}/spot"):
                self.machines[f"bet_sensor.{seat}"].inject("place_bet")
        await self.wait(1.0)
        if self.is_box_down:
            return
        if self.controller.table.state.round.state == mc.BETTING:
            self.controller.submit(ev.NoMoreBets(DEALER))
        await self.until_quiescent()

    def is_opening_bets(self) -> bool:
        """Return whether a sensor has yet to confirm that bets are open."""
        return any(issued.act == "open_bets" for issued in self.controller.table.state.commands.values())

    async def until_quiescent(self, seconds: float | None = None) -> None:
        """Wait until nobody has anything to do, or the box is down."""
        await QuiescenceWait(self, self.patience if seconds is None else seconds).wait()

    def request_reports_again(self) -> bool:
        """Request a new report from an unverified machine, once; return whether there was one."""
        state = self.controller.table.state
        doubtful = [name for name, slot in state.slots.items() if slot.state == "unverified"]
        self._asked_again = [name for name in self._asked_again if name in doubtful]
        ready = [name for name in doubtful if name not in self._asked_again and self.slots[name].view.connected]
        for name in ready:
            self._asked_again.append(name)  # once: then the technician repairs it
            self.controller.submit(ev.SlotOrdered(name, "acknowledge", FLOOR))
        return bool(ready)

    def empty_intake(self, slot: str) -> None:
        """Take back cards that a shuffler has not drawn in."""
        if self.world.count(f"{slot}/intake"):
            self.world.move_all(f"{slot}/intake", TRAY)
            self.machines[slot].firmware.hands_moved()  # type: ignore[attr-defined]

    def load_shuffler(self) -> None:
        """Put a waiting deck into the shuffler, if it is empty and in service."""
        state = self.controller.table.state
        slot = state.slots.get("shuffler.1")
        if slot is None or slot.state != "in_service" or slot.deck is not None or state.holds:
            return
        if any(issued.slot == "shuffler.1" for issued in state.commands.values()):
            return
        for deck in state.decks.values():
            waits = shuffling.is_waiting(self.controller.table.context, deck)  # a deck that has to be shuffled
            if waits and not any(self.world.count(f"shuffler.1/{at}") for at in ("intake", "gate", "presented")):
                self.gather_deck(deck.name, TRAY)
                for card in [card for card in self.world.at(TRAY) if card.back == deck.name]:
                    self.world.move(card, "shuffler.1/intake")
                self.machines["shuffler.1"].firmware.hands_moved()  # type: ignore[attr-defined]
                return

    async def wait(self, seconds: float) -> None:
        """Wait so many seconds at the pace of these people."""
        await asyncio.sleep(seconds * self.pace)

    async def until_held(self) -> None:
        """Wait until the box has a hold and nobody is busy."""
        for _ in range(round(ROUND_TIMEOUT_S / 0.5)):
            self.load_shuffler()
            state = self.controller.table.state
            if state.holds and not self.people.is_busy and not state.commands:
                return
            await self.wait(0.5)
        raise TimeoutError("the box has found nothing")

    async def until(self, condition: Any, seconds: float | None = None) -> None:
        """Wait until a condition is true, by default for a minute."""
        for _ in range(round((60.0 if seconds is None else seconds) * 10)):
            if condition():
                return
            await self.wait(0.1)
        raise TimeoutError("the condition did not become true")

    async def close(self) -> None:
        """Close the table; check that every card is in exactly one place."""
        await self.people.close()
        self.disk.cut_at = self.mains.cut_at = None
        await self.power_down()
        for machine in self.machines.values():
            machine.board.power_off()
        self.world.check()
