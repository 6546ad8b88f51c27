"""Soak test of a continuous shuffler: rounds with human errors and faults, checked against the simulated world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.shuffler import messages as m
from devices.shuffler.state import verdict
from firmware_bridge.commands import Outcome
from firmware_bridge.errors import BadFault, CommandFailed
from simulators.kinds.shuffler.continuous_firmware import CHUTE_ROOM
from simulators.world.table import IN_PLAY, RAIL, TRAY
from tests.support.machines.card_checks import ask_until_answered, in_chute, run_command
from tests.support.machines.continuous_store import keep_cards
from tests.support.machines.disturbed_shuffler import DisturbedShuffler

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from random import Random

    from simulators.kinds.shuffler.counts import CountedSet
    from tests.support.machines.bench import ShufflerTestBench

# How long a command is disturbed at most (s): a delivery, some discards, a count of `cards`.
_SECONDS: Final = {"deliver": 4.0, "take_in": 6.0}
_PER_CARD: Final = 0.7


class ContinuousSoak(DisturbedShuffler):
    """Plays rounds on a bench with a set of so many cards."""

    def __init__(self, b: ShufflerTestBench, rng: Random, cards: int) -> None:
        super().__init__(b, rng)
        keep_cards(b, cards)
        self.cards = cards
        self._originals = {card.id for card in b.machine.world.at(b.machine.mechanics.intake)}
        self._pairs_drawn = 0  # two drawn as one since the chute was last empty
        self._total = 0  # the truth about the set when it was last counted: cards inside and outside
        self._broken_in = False  # hands took cards from the store: until the next count the ledger cannot know
        self._hidden: set[int] = set()  # behind the shelves before the command that is judged
        ledger: CountedSet = b.machine.firmware._set  # type: ignore[attr-defined]
        close = ledger.close

        def closed(counted: int) -> int:
            outside = close(counted)
            self._total, self._broken_in = b.machine.mechanics.inside() + outside, False
            return outside

        ledger.close = closed  # type: ignore[method-assign]

    def mishaps(self, card: int) -> list[str]:
        """What may happen to cards and mechanics; there is no mode to switch and no cycle to start."""
        words = [word for word in super().mishaps(card) if word != "sort_mode" and not word.startswith("withhold")]
        return [
            *words,
            f"card_migrates:card={card}",
            f"cards_left_inside:count={self.rng.randint(2, 16)},card={card}",
            f"withhold:message={self.rng.choice(['TakeIn', 'Deliver', 'CountAll'])}",
            "draw_pair",
        ]

    def choose(self, most_cards: int) -> tuple[list[str], list[str]]:
        """Draw faults; those that are impossible where the cards are do not happen."""
        before = in_chute(self.b) or 0
        try:
            return super().choose(most_cards)
        except BadFault:
            self.figures["faults that could not be"] += 1
            return [], []
        finally:
            self._pairs_drawn += before - (in_chute(self.b) or 0) == 2

    async def play(self) -> None:
        """One command with faults, the comparison with the simulated world, hands, and the repair where needed."""
        b, first_event = self.b, len(self.b.events)
        self._hidden = self._behind_shelves()
        _, during = self.choose(20)
        command = b.next_id()
        name, motion = self._command(command)
        await self.run(motion, during, _SECONDS.get(name, self.cards * _PER_CARD))
        status = await self.until_idle()
        known = await ask_until_answered(b, lambda: b.driver.outcome(command))
        assert known.outcome is not Outcome.RUNNING
        self.figures[f"{name} {known.outcome.name.lower()}"] += 1
        self._judge(first_event)
        await self.check_idle()
        self.figures["rounds"] += 1
        if status.state is m.State.IDLE and self.rng.random() < 0.8:
            await self._hands()
            await self.check_idle()
        else:
            await self._recover()

    def _command(self, command: int) -> tuple[str, Awaitable[object]]:
        """Choose what is asked of the machine: mostly what makes sense, sometimes what it must refuse."""
        b, rng = self.b, self.rng
        name = rng.choices(["deliver", "take_in", "count_all"], [5, 3, 2])[0]
        extra = (rng.randint(1, CHUTE_ROOM),) if name == "deliver" else ()
        return name, getattr(b.driver, name)(command, *extra)

    # --- what must be true -------------------------------------------------------------------------------------

    def check_status(self, status: m.Status) -> None:
        """Compare the whole inventory with the truth."""
        super().check_status(status)
        assert isinstance(status, m.Inventory)
        self._chute_true_or_unknown(status.in_chute)
        inside = self.b.machine.mechanics.inside()
        if status.outside is not None and status.state is m.State.IDLE and not self._broken_in:
            unseen = status.outside - (self._total - inside)
            assert 0 <= unseen <= self._doubles, f"{status.outside} reported outside, truth {self._total - inside}"
            self.figures["looks at a ledger that was right"] += unseen == 0

    def _chute_true_or_unknown(self, reported: int | None) -> None:
        chute = in_chute(self.b)
        assert chute is not None
        if chute == 0:
            self._pairs_drawn = 0
            assert reported in (0, None), f"{reported} cards are reported to be in an empty chute"
        elif reported is not None and reported != chute:
            unseen = reported - chute
            assert 0 < unseen <= self._pairs_drawn, f"{reported} cards are reported in the chute, truth {chute}"
            self.figures["looks while a pair was drawn as one, unseen"] += 1

    async def check_idle(self) -> None:
        """With nothing moving, view and firmware agree with the world."""
        self._chute_true_or_unknown(self.b.view.in_chute)
        if self._pairs_drawn:
            self.check_firmware()  # the status is right except for the double feed
            self.true_or_unknown(self.b.view.inside)
        else:
            await super().check_idle()

    def _behind_shelves(self) -> set[int]:
        return {card.id for card in self.b.machine.world.at(self.b.machine.mechanics.behind_shelves)}

    def _judge(self, first_event: int) -> None:
        """What was counted is what is there; a set is called whole only if it is."""
        b = self.b
        for event in b.events[first_event:]:
            if isinstance(event, m.Counted):
                # A card that slips away on its return was counted; the next count misses it.
                hidden = len(self._hidden & self._behind_shelves())
                assert event.count == b.machine.mechanics.inside() - hidden
                assert hidden == 0 or b.view.inside is None, "a card hides, and the machine says it knows them all"
                self.figures["sets found whole"] += not verdict(event, self.cards)
            elif isinstance(event, m.Incomplete | m.Jam | m.Stopped | m.Fault):
                self.figures[f"ended by {type(event).__name__.lower()}"] += 1

    # --- hands and the repair ------------------------------------------------------------------------------------

    async def _hands(self) -> None:
        """A dealer draws and discards; now and then something else is done that nobody ordered."""
        b, rng = self.b, self.rng
        b.inject(f"draw:cards={rng.randint(0, CHUTE_ROOM)}")
        b.inject(f"discard:cards={rng.randint(1, 40)}")
        roll = rng.random()
        if roll < 0.1:
            self.figures["restarts at rest"] += 1
            b.inject(rng.choice(["reboot", "power_cut:seconds=3"]))
            b.inject(f"draw:cards={rng.randint(0, 9)}")
            await b.until_reported()
        elif roll < 0.2:
            self._open_the_door()
        elif roll < 0.3:
            self.figures["cards that left the table"] += 1
            for card in b.machine.world.at(IN_PLAY)[:1]:
                b.machine.world.move(card, RAIL)
        elif roll < 0.4:
            self.figures["strange cards among the discards"] += 1
            b.inject(f"draw:cards={CHUTE_ROOM * 2}")
            b.inject("discard")
            b.machine.world.make(rng.randrange(52), "red", b.machine.mechanics.intake)
        await self.until_idle()
        if b.service.state == "faulted":
            await self.back_to_service()

    def _open_the_door(self) -> None:
        """Somebody opens the resting machine, and sometimes takes a card from the store."""
        b, rng = self.b, self.rng
        self.figures["doors opened at rest"] += 1
        b.inject("door")
        shelves = [place for place in self.places_with_cards() if "compartment" in place]
        if shelves and rng.random() < 0.5:
            self.figures["cards taken from the store"] += 1
            b.machine.world.move(b.machine.world.at(rng.choice(shelves))[0], "sleeve")
            self._broken_in = True
        b.inject("door:to=closed")

    async def _recover(self) -> None:
        """Take everything out, search, put the set together again, fill, count, and go back to work."""
        b = self.b
        self.repair()
        b.inject("mend")
        try:
            await self._fill_and_count(searched=False)
        except CommandFailed:  # it has seen that something does not fit: somebody looks for it, and counts again
            self.figures["counts that did not fit"] += 1
            await self._fill_and_count(searched=True)
        self._judge(len(b.events) - 1 - next(i for i, e in enumerate(reversed(b.events)) if isinstance(e, m.Counted)))
        await self.back_to_service()
        assert b.service.is_in_service
        await self.check_idle()
        self.figures["recoveries"] += 1

    async def _fill_and_count(self, *, searched: bool) -> None:
        b = self.b
        await self.empty()
        await run_command(b, b.driver.clear_jam)  # what is kept in the store comes out only if it is asked for
        await self.empty()
        b.inject(f"draw:cards={CHUTE_ROOM * 2}")
        b.inject("take_deck")
        if searched or (await ask_until_answered(b, b.driver.status)).inside is None:
            await self.search()
        self._hidden = self._behind_shelves()
        self._sort_out()
        b.inject("load")
        await run_command(b, b.driver.count_all)

    def _sort_out(self) -> None:
        """Hands put the set together again from what is outside the machine."""
        world: Any = self.b.machine.world
        world.torn.clear()
        for place in (RAIL, TRAY, IN_PLAY, "sleeve", self.b.machine.mechanics.intake):
            for card in world.at(place):
                world.move(card, TRAY if card.id in self._originals else "not of this set")
