"""A continuous shuffler in use: count, delivery, intake; its numbers are compared with the simulated world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.shuffler import messages as m
from simulators.world.cards import SIX_DECKS
from tests.support.machines.card_checks import check_reported_cards, run_command

if TYPE_CHECKING:
    from tests.support.machines.bench import ShufflerTestBench

SET: Final = len(SIX_DECKS)
# Fewer cards, where nothing depends on their number but how long a test takes.
FEW: Final = 78


async def count_set(b: ShufflerTestBench) -> m.Counted:
    """Have the whole set counted; cards in the intake are taken in first."""
    await run_command(b, b.driver.count_all)
    return b.events_of(m.Counted)[-1]


async def deliver_cards(b: ShufflerTestBench, cards: int) -> m.Delivered:
    """Have cards delivered into the chute."""
    await run_command(b, lambda command: b.driver.deliver(command, cards))
    return b.events_of(m.Delivered)[-1]


async def take_cards_in(b: ShufflerTestBench) -> m.TakenIn:
    """Have the cards in the intake taken in."""
    await run_command(b, b.driver.take_in)
    return b.events_of(m.TakenIn)[-1]


async def bring_into_use(b: ShufflerTestBench, cards: int = 20, total: int = FEW) -> None:
    """Bring a machine to where it is in the middle of a round: counted, some cards in play, none in the chute."""
    keep_cards(b, total)
    await count_set(b)
    await deliver_cards(b, cards)
    b.inject(f"draw:cards={cards}")
    await check_inventory(b, outside=cards, total=total)


def keep_cards(b: ShufflerTestBench, cards: int) -> None:
    """Take all but so many cards of the set away."""
    for card in b.machine.world.at(b.machine.mechanics.intake)[cards:]:
        b.machine.world.move(card, "cabinet")


async def check_inventory(b: ShufflerTestBench, *, outside: int | None, total: int = FEW) -> m.Inventory:
    """Compare every number of the inventory with the truth; `outside` is how many cards of the set must be outside."""
    status = await check_reported_cards(b)
    assert isinstance(status, m.Inventory)
    assert status.inside == b.view.inside == b.machine.mechanics.inside() == total - (outside or 0)
    assert status.outside == b.view.outside == outside
    return status
