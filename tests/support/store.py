"""A continuous shuffler in use: count, delivery, intake; its numbers are compared with the simulated world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.shuffler import messages as m
from simulators.world.cards import SIX_DECKS
from tests.support.beliefs import beliefs_hold, carried_out

if TYPE_CHECKING:
    from tests.support.bench import Bench

SET: Final = len(SIX_DECKS)
# Fewer cards, where nothing depends on their number but how long a test takes.
FEW: Final = 78


async def counted(b: Bench) -> m.Counted:
    """Have the whole set counted; cards in the intake are taken in first."""
    await carried_out(b, b.driver.count_all)
    return b.told(m.Counted)[-1]


async def delivered(b: Bench, cards: int) -> m.Delivered:
    """Have cards delivered into the chute."""
    await carried_out(b, lambda command: b.driver.deliver(command, cards))
    return b.told(m.Delivered)[-1]


async def taken_in(b: Bench) -> m.TakenIn:
    """Have the cards in the intake taken in."""
    await carried_out(b, b.driver.take_in)
    return b.told(m.TakenIn)[-1]


async def in_use(b: Bench, cards: int = 20, total: int = FEW) -> None:
    """Bring a machine to where it is in the middle of a round: counted, some cards in play, none in the chute."""
    leave(b, total)
    await counted(b)
    await delivered(b, cards)
    b.inject(f"draw:cards={cards}")
    await inventory_holds(b, outside=cards, total=total)


def leave(b: Bench, cards: int) -> None:
    """Take all but so many cards of the set away."""
    for card in b.machine.world.at(b.machine.mechanics.intake)[cards:]:
        b.machine.world.move(card, "cabinet")


async def inventory_holds(b: Bench, *, outside: int | None, total: int = FEW) -> m.Inventory:
    """Compare every number of the inventory with the truth; `outside` is how many cards of the set must be outside."""
    status = await beliefs_hold(b)
    assert isinstance(status, m.Inventory)
    assert status.inside == b.view.inside == b.machine.mechanics.inside() == total - (outside or 0)
    assert status.outside == b.view.outside == outside
    return status
