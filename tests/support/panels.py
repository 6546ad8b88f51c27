"""People with credentials for the panel's tests, and how their PINs are checked there."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from simulators.house.panel import HouseBench, HouseBox, silent_house
from table_controller import people

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.people_check import Checker

__all__ = ["PINS", "HouseBench", "HouseBox", "inline", "people_file", "silent_house"]

PINS = {"dealer-1": "481516", "dealer-2": "234299", "floor-1": "271828", "tech-1": "314159", "audit-1": "161803"}
ROLES = {"dealer": "dealer", "floor": "floorperson", "tech": "technician", "audit": "auditor"}
# A hash that costs nothing: tests check who is let in, not how dear a guess is.
CHEAP = people.Cost(2, 1, 1)


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
