"""A panel at a simulated table: a House whose people use their hands, while somebody else answers the questions."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from simulators.house.dealer import People
from simulators.house.table import House
from table_controller import people
from table_controller.people_check import Checker

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from firmware_bridge.errors import PitboxError
    from table_controller.controller.loop import Controller
    from table_controller.controller.presence import Presence
    from table_controller.controller.slot import Slot
    from table_controller.table import events as ev

PINS = {"dealer-1": "481516", "dealer-2": "234299", "floor-1": "271828", "tech-1": "314159", "audit-1": "161803"}
ROLES = {"dealer": "dealer", "floor": "floorperson", "tech": "technician", "audit": "auditor"}
# A hash that costs nothing: tests check who is let in, not how dear a guess is.
CHEAP = people.Cost(2, 1, 1)


class Hands(People):
    """People who do what the box asks for with their hands, and say nothing: `found` is what they would say."""

    def __init__(self, house: House) -> None:
        super().__init__(house)
        self.silent = True
        self.found: dict[int, ev.Answer] = {}

    def say(self, answer: ev.Answer) -> None:
        if self.silent:
            self.found[answer.prompt] = answer
        else:
            super().say(answer)


class HouseBox:
    """A House as the box that a panel needs."""

    def __init__(self, house: House, presence: Presence | None = None) -> None:
        self.house = house
        self.presence = presence

    @property
    def controller(self) -> Controller:
        return self.house.controller

    @property
    def slots(self) -> Mapping[str, Slot[Any, Any]]:
        return self.house.slots

    @property
    def cause(self) -> PitboxError | None:
        return self.house.controller.halted


def silent_house(game: str, **options: Any) -> tuple[House, Hands]:
    """Return a table whose people answer nothing by themselves."""
    house = House(game, **options)
    hands = Hands(house)
    house.people = hands
    return house, hands


def people_file(folder: Path) -> Path:
    """Write a people file with everybody of PINS in it."""
    path = folder / "people.json"
    for id_, pin in PINS.items():
        people.add(path, id_, ROLES[id_.partition("-")[0]], pin, cost=CHEAP)
    return path


def inline(checker: Checker) -> Any:
    """Check PINs in the loop: in virtual time there are no threads."""

    async def check(id_: str, pin: str, place: str) -> people.Person:
        await asyncio.sleep(0)
        return checker.check(id_, pin, place)

    return check
