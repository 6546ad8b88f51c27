"""A table whose shuffler inserts its stack into the shoe: the shipped box, simulated machines, the true cards.

However an insertion ends, the deck is counted by people before a card of it is dealt, and play goes on.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import pytest

from firmware_bridge.errors import CapabilityMissing
from simulators.casino.table import CasinoTable
from simulators.casino.table_layout import choices_of_models, inserting_models
from table_controller.rulebook import GAMES
from table_controller.table.decisions import Command, HoldOpened, Prompt
from tests.support.core.setups import INSERTION_CLAUSES
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.table import events as ev
    from table_controller.table.decisions import Decision

PAI_GOW: Final = "face_up_pai_gow"


class Watched:
    """A table with its log: orders, questions, holds; `on_insert` is called once, when an insertion is ordered."""

    def __init__(self, game: str, seed: int, **options: Any) -> None:
        self.casino = CasinoTable(game, seed=seed, more=inserting_models(game), **options)
        self.casino.watchers.append(self._see)
        self.orders: list[tuple[str, str]] = []
        self.asked: list[str] = []
        self.holds: list[HoldOpened] = []
        self.verified: list[bool] = []  # of each hold's deck, when it was opened
        self.on_insert: Callable[[], object] | None = None

    def _see(self, _event: ev.Event, decisions: list[Decision]) -> None:
        for each in decisions:
            if isinstance(each, Command):
                self.orders.append((each.act, each.slot))
                if each.act == "insert" and self.on_insert is not None:
                    happens, self.on_insert = self.on_insert, None
                    happens()
            elif isinstance(each, Prompt):
                self.asked.append(each.kind)
            elif isinstance(each, HoldOpened):
                self.holds.append(each)
                deck = self.casino.controller.table.state.decks.get(each.deck or "")
                self.verified.append(deck is not None and deck.verified)


@pytest.mark.parametrize("game", [pytest.param(game, marks=clauses(*INSERTION_CLAUSES[game])) for game in GAMES])
async def test_rounds_are_dealt_from_stacks_that_nobody_touched(seed: int, game: str) -> None:
    table = Watched(game, seed)
    await table.casino.open("blue", "red")
    for _ in range(3):
        await table.casino.round()
    shown = {permit.act for permit in table.casino.picture().permits}
    await table.casino.close()
    assert [number for number, _, _ in table.casino.dealt_rounds] == [1, 2, 3]
    assert all(whole for _, _, whole in table.casino.dealt_rounds)
    acts = [act for act, _ in table.orders]
    assert acts.count("insert") == acts.count("load") >= (1 if game == "over_under" else 3)
    assert "eject" not in acts
    assert not {"put_in_shoe", "cut"} & set(table.asked)
    assert not table.holds
    assert "insert" in shown


def _at(seconds: float, happens: Callable[[CasinoTable], object]) -> Callable[[CasinoTable], Callable[[], object]]:
    """Something happens so many seconds after the order to insert."""
    return lambda casino: lambda: asyncio.get_running_loop().call_later(seconds, happens, casino)


def _now(happens: Callable[[CasinoTable], object]) -> Callable[[CasinoTable], Callable[[], object]]:
    """Something happens as soon as the order to insert is recorded."""
    return lambda casino: lambda: happens(casino)


def _inject(slot: str, fault: str) -> Callable[[CasinoTable], object]:
    return lambda casino: casino.machines[slot].inject(fault)


# What goes wrong: when the insertion is ordered, or in the middle of the push (which takes 1.2 s), or during the load.
ENDS: Final = {
    "the stack sticks in the chute": _now(_inject("shuffler.1", "chute_jam:cards=20")),
    "a card falls next to the shoe": _now(_inject("shuffler.1", "chute_gap:cards=1")),
    "the whole stack falls next to the shoe": _now(_inject("shuffler.1", "chute_gap:cards=0")),
    "the motor is seized": _now(_inject("shuffler.1", "seized:motor=eject")),
    "the door is opened": _at(0.6, _inject("shuffler.1", "door:to=open")),
    "the shuffler loses power": _at(0.6, _inject("shuffler.1", "power_cut:seconds=2")),
    "the link to the shuffler is lost": _at(0.6, _inject("shuffler.1", "unplug:seconds=5")),
    "the link to the shoe is lost": _at(0.6, _inject("shoe.1", "unplug:seconds=5")),
    "the shoe loses power": _at(0.6, _inject("shoe.1", "power_cut:seconds=2")),
    "the shoe loses power while it loads": _at(2.5, _inject("shoe.1", "power_cut:seconds=2")),
    "the box loses power": _at(0.6, lambda casino: casino.disk.cut()),
    "the shuffler hangs": _at(0.6, _inject("shuffler.1", "hang:seconds=6")),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("game", ["saigon_5_card", PAI_GOW])
async def test_an_insertion_that_ends_otherwise_holds_the_deck_until_people_counted_it(
    seed: int, game: str, end: str
) -> None:
    table = Watched(game, seed)
    casino = table.casino
    await casino.open("blue", "red")
    table.on_insert = ENDS[end](casino)
    dealt = len(casino.dealt_rounds)
    await casino.round()  # the next deck is inserted when this round is over
    if casino.is_box_down:
        await casino.power_up()
    await casino.until_quiescent()
    held = [(hold, verified) for hold, verified in zip(table.holds, table.verified, strict=True) if hold.deck]
    assert held, f"{end}: nobody is told"
    deck = held[0][0].deck
    assert not held[0][1], f"{end}: deck {deck} stays verified"
    assert {"cards_together", "deck_counted", "deck_removed"} & set(table.asked)
    for _ in range(3):
        await casino.round()
    assert len(casino.dealt_rounds) > dealt + 1, f"{end}: play does not go on"
    assert all(whole for _, _, whole in casino.dealt_rounds), f"{end}: {casino.dealt_rounds}"
    await casino.close()


async def test_a_shuffler_without_a_chute_is_never_in_service_at_such_a_table(seed: int) -> None:
    choices = choices_of_models(PAI_GOW, inserting_models(PAI_GOW))
    casino = CasinoTable(PAI_GOW, seed=seed, models={"shuffler.1": "shuffler"}, choices=choices)
    casino.box.connect()
    await casino.until(lambda: casino.box.service_state("shoe.1") == "in_service")
    await casino.until(lambda: casino.slots["shuffler.1"].cause is not None)
    cause = casino.slots["shuffler.1"].cause
    assert isinstance(cause, CapabilityMissing)
    assert "inserts" in str(cause)
    await casino.wait(30.0)
    assert casino.box.service_state("shuffler.1") == "absent"
    assert "shuffler_missing" in {reason.key for reason in casino.controller.table.permit("open_bets")}
    await casino.close()


async def test_a_table_that_does_not_insert_accepts_either_model(seed: int) -> None:
    casino = CasinoTable(PAI_GOW, seed=seed, models=inserting_models(PAI_GOW), choices={"inserts_into_shoe": False})
    await casino.open("blue", "red")
    await casino.round()
    acts = {each.act for _, them in casino.step_log for each in them if isinstance(each, Command)}
    assert "insert" not in acts
    assert "eject" in acts
    assert "insert" not in {permit.act for permit in casino.picture().permits}, "the screens do not show it either"
    await casino.close()
