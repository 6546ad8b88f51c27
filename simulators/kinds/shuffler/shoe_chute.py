"""The chute from a shuffler's gate into the dealing shoe, through which the whole stack is pushed at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulators.world.table import NEAR_SHOE

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.engine.faults import InjectedFault
    from simulators.world.cards import World

# Where the stack goes on the bench, where no shoe is joined to the chute.
BENCH_SHOE: Final = "bench_shoe"


def _ignore() -> None:
    """On the bench no shoe is joined to the chute."""


class ShoeChute:
    """`entry` is the place in the shoe that the chute ends at; `on_arrival` is called when cards get there."""

    def __init__(self, world: World, place: str) -> None:
        self.place = place
        self.entry = BENCH_SHOE
        self.on_arrival: Callable[[], None] = _ignore
        self._world = world
        self._is_moving = False
        self._pending: list[InjectedFault] = []

    def join(self, entry: str, on_arrival: Callable[[], None]) -> None:
        """Let the chute end at a place in a shoe."""
        self.entry, self.on_arrival = entry, on_arrival

    @property
    def has_cards(self) -> bool:
        """Whether cards are in the chute itself."""
        return self._world.count(self.place) > 0

    @property
    def is_occupied(self) -> bool:
        """Whether cards are in the chute, or where it ends."""
        return self.has_cards or self._world.count(self.entry) > 0

    def begin(self, gate: str) -> None:
        """The stack leaves the gate."""
        self._world.move_all(gate, self.place)
        self._is_moving = True

    def stop(self) -> None:
        """The push ends early: half of the stack is in the shoe."""
        if self._is_moving:
            self._is_moving = False
            self._arrive(self._world.count(self.place) // 2)

    def finish(self) -> None:
        """The push ends: the stack is in the shoe, unless a fault acts on it."""
        if not self._is_moving:
            return
        self._is_moving = False
        stack, fault = self._world.count(self.place), self._pending.pop(0) if self._pending else None
        if fault is None:
            self._arrive(stack)
        elif fault.kind.name == "chute_jam":
            self._arrive(min(stack, fault.integer("cards")))
        else:
            for card in self._world.at(self.place)[: fault.integer("cards") or stack]:
                self._world.move(card, NEAR_SHOE)
            self._arrive(self._world.count(self.place))

    def clear(self, to: str) -> int:
        """Take the cards out of the chute by hand; return how many."""
        return self._world.move_all(self.place, to)

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault to the next push."""
        fault.integer("cards")
        self._pending.append(fault)

    def mend(self) -> None:
        """Forget faults that wait for the next push."""
        self._pending.clear()

    def _arrive(self, cards: int) -> None:
        for card in self._world.at(self.place)[:cards]:
            self._world.move(card, self.entry)
        self.on_arrival()
