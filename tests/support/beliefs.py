"""Compares what driver and firmware believe of the cards with where the cards really are. No tests here."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from firmware_bridge.errors import ReplyTimeout
from simulators.bench import TRAY

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from devices.shuffler import messages as m
    from tests.support.bench import Bench

_Answer = TypeVar("_Answer")


async def ask(question: Callable[[], Awaitable[_Answer]], tries: int = 10) -> _Answer:
    """Ask, and ask again if no answer came in time: questions move nothing, and the lossy rung loses whole rows."""
    for _ in range(tries - 1):
        try:
            return await question()
        except ReplyTimeout:
            continue
    return await question()


def behind_gate(b: Bench) -> int:
    """The truth: how many cards lie behind the gate."""
    return b.machine.world.count(b.machine.mechanics.gate)


def faces_behind_gate(b: Bench) -> list[int]:
    """The truth: which cards lie behind the gate, in ascending order."""
    return sorted(card.face for card in b.machine.world.at(b.machine.mechanics.gate))


async def beliefs_hold(b: Bench) -> m.Status:
    """Read the status; fail if view or firmware says a number that is not the truth. None is no number."""
    status = await ask(b.driver.status)
    inside, gate = b.machine.mechanics.inside(), behind_gate(b)
    assert status.inside in (None, inside), f"the firmware says {status.inside} inside, the truth is {inside}"
    assert b.view.inside in (None, inside), f"the view says {b.view.inside} inside, the truth is {inside}"
    assert status.behind_gate in (None, gate), f"the firmware says {status.behind_gate} at the gate, truth {gate}"
    assert b.view.behind_gate in (None, gate), f"the view says {b.view.behind_gate} at the gate, the truth is {gate}"
    assert b.view.door_open is status.door_open is b.machine.mechanics.door_open
    return status


async def all_cards_back(b: Bench, expected: int = 53) -> None:
    """Clear by hand and by machine, give out what came, and fail unless every card is outside the machine."""
    b.inject("clear_path")
    await b.driver.clear_jam(b.next_id())
    await beliefs_hold(b)
    if behind_gate(b):
        await b.driver.eject(b.next_id())
    mechanics, world = b.machine.mechanics, b.machine.world
    assert mechanics.inside() == behind_gate(b) == 0
    outside = (mechanics.intake, mechanics.place("presented"), TRAY)
    assert sum(world.count(place) for place in outside) == expected
    await beliefs_hold(b)
