"""A table core with ideal devices and obedient people around it, event by event. No bytes, no time, no tests here."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

from table_controller.rulebook import check_submission, edition
from table_controller.table import events as ev
from table_controller.table import machines as mc
from table_controller.table.core import Table
from table_controller.table.decisions import Command, Decision, Prompt
from table_controller.table.dealing import expected_stub

if TYPE_CHECKING:
    from collections.abc import Callable


DEALER: Final = ev.Person("dealer", "D1")
FLOOR: Final = ev.Person("floorperson", "F1")
TECH: Final = ev.Person("technician", "T1")
PEOPLE: Final = {"dealer": DEALER, "floorperson": FLOOR, "technician": TECH}

# A table with every machine that the game can have.
CHOICES: Final[dict[str, dict[str, Any]]] = {
    "asia_poker": {"dealing": "automated_shoe", "shuffler": "deck", "shuffler_counts": True, "two_decks": True},
    "saigon_5_card": {"dealing": "automated_shoe", "shuffler": "deck", "shuffler_counts": True, "two_decks": True},
    "over_under": {"dealing": "dealing_shoe", "shuffler": "batch", "shuffler_counts": True, "two_decks": True},
    "dj_wild": {"dealing": "automated_shoe", "shuffler": "deck", "shuffler_counts": True, "two_decks": True},
    "face_up_pai_gow": {
        "dealing": "automated_shoe",
        "shuffler": "deck",
        "shuffler_counts": True,
        "two_decks": True,
        "wagers": ["progressive"],
        "paytables": {"progressive": "688a-progressive-1"},
    },
}

SLOTS: Final[dict[str, dict[str, str]]] = {
    "asia_poker": {"shuffler.1": "shuffler", "shoe.1": "shoe", "shaker.1": "shaker"},
    "saigon_5_card": {"shuffler.1": "shuffler", "shoe.1": "shoe"},
    "over_under": {"shuffler.1": "shuffler", "shoe.1": "shoe"},
    "dj_wild": {"shuffler.1": "shuffler", "shoe.1": "shoe", **{f"bet_sensor.{n}": "bet_sensor" for n in range(1, 7)}},
    "face_up_pai_gow": {
        "shuffler.1": "shuffler",
        "shoe.1": "shoe",
        "shaker.1": "shaker",
        **{f"bet_sensor.{n}": "bet_sensor" for n in range(1, 7)},
    },
}


class Floor:
    """Plays a table: events go in one by one, ideal devices and people answer what is decided.

    `twist(decision)` may return other events than the ideal ones for a decision, or None for the ideal ones.
    """

    def __init__(self, game: str, slots: dict[str, str] | None = None, **choices: Any) -> None:
        self.edition = edition(game)
        raw = {"adjacent_boxes": 1} | CHOICES[game] | choices
        self.table = Table(self.edition, check_submission(self.edition, raw), slots or SLOTS[game])
        self.log: list[tuple[ev.Event, list[Decision]]] = []
        self.bets: set[int] = set()  # seats with a chip on their sensor
        self.seats: tuple[int, ...] = (1, 3, 6)
        self.twist: Callable[[Decision], list[ev.Event] | None] = lambda _: None
        self._queue: deque[ev.Event] = deque()

    @property
    def state(self) -> Any:
        """What the core knows."""
        return self.table.state

    def step(self, event: ev.Event) -> list[Decision]:
        """One event, and nothing that follows from it."""
        decisions = self.table.step(event)
        self.log.append((event, decisions))
        return decisions

    def play(self, *events: ev.Event, most: int = 3000) -> list[Decision]:
        """Events and everything that follows from them, until nobody has anything to do."""
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
                twisted = self.twist(decision)
                self._queue.extend(self.answer(decision) if twisted is None else twisted)
        raise AssertionError("the table does not come to rest")

    def start(self, *decks: str) -> None:
        """Every device reports, and decks come to the table."""
        self.play(*(ev.SlotChanged(slot, "appear") for slot in self.state.slots))
        self.play(*(ev.SlotChanged(slot, "verify") for slot in self.state.slots))
        for deck in decks or ("blue",):
            self.play(ev.DeckReceived(deck, DEALER))

    def round(self) -> list[Decision]:
        """Open a round, call no more bets, and play it to its end."""
        return self.play(ev.OpenRound(DEALER)) + self.play(ev.NoMoreBets(DEALER))

    def _hands(self) -> None:
        """Somebody puts a deck that waits for the shuffler into it."""
        shuffler = self.state.slots.get("shuffler.1")
        waiting = [d for d in self.state.decks.values() if d.state in (mc.STACKED, mc.RACK)]
        asked = any(p.kind in ("which_deck", "hand_shuffle") for p in self.state.prompts.values())
        if shuffler and shuffler.deck is None and waiting and not asked and self.state.shuffling == "machine":
            if shuffler.state == "in_service" and not self.state.holds:
                self._queue.append(ev.CardsInserted("shuffler.1"))

    def answer(self, decision: Decision) -> list[ev.Event]:
        """What ideal devices and people do about a decision."""
        if isinstance(decision, Command):
            return [*self._device(decision), ev.CommandEnded(decision.id, "done"), *self._after(decision)]
        if isinstance(decision, Prompt):
            return self._person(decision)
        return []

    def _device(self, command: Command) -> list[ev.Event]:
        slot, count = command.slot, self.edition.cards.count
        match command.act:
            case "shuffle":
                return [ev.ShuffleEnded(slot, count, shuffled=True)]
            case "eject" | "clear_out":
                return [ev.GivenOut(slot)]
            case "load":
                return [ev.ShoeLoaded(slot, count)]
            case "dispense":
                return [ev.StackOut(slot, command.number)]
            case "give_stub":
                return [ev.StubOut(slot, expected_stub(self.table.context))]
            case "draw":
                return [ev.NumberDrawn(slot, 4)]
            case "lock":
                seat = int(slot.rpartition(".")[2])
                return [ev.SeatLatched(seat, command.number, self.state.progressive.lock, 1, seat in self.bets)]
            case _:
                return []

    def _after(self, command: Command) -> list[ev.Event]:
        if command.act == "dispense":
            return [ev.StackTaken(command.slot)]
        if command.act == "arm_dice":
            return [ev.DiceRead(command.slot, (2, 3, 5))]
        return []

    def _person(self, prompt: Prompt) -> list[ev.Event]:
        number: int | None = None
        if prompt.number:
            number = {
                "announce": 10,
                "chips": len(self.state.progressive.accepted),
                "stub": expected_stub(self.table.context) if self.state.round.seats else 0,
                "cut": self.edition.cards.count // 2,
            }[prompt.kind]
        seats = self.seats if prompt.seats else ()
        return [ev.Answer(prompt.id, prompt.choices[0], PEOPLE[prompt.role], number, seats)]
