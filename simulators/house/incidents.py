"""What really went wrong at card tables, replayed: the fault is made in the world, the box is left to find it.

Each incident is a table, something that happens at it, and rounds played until the box has noticed and people have done
what it asked. What is counted is the truth: rounds that were dealt from a deck that was not whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from simulators.house.table import House
from table_controller.table.decisions import Finding, Found

# Rounds before something happens, and at most after it.
BEFORE: Final = 2
AFTER: Final = 30


class Incident(msgspec.Struct, frozen=True):
    """One published case."""

    id: str
    what: str
    theirs: str  # hands dealt from bad cards before anybody noticed
    game: str
    happens: Callable[[House], None]
    sees: tuple[str, ...]  # the triggers of which one must be found
    models: dict[str, str] = {}
    decks: tuple[str, ...] = ("blue", "red")


class Replay(msgspec.Struct, frozen=True):
    """How an incident went, by the world's truth."""

    id: str
    what: str
    theirs: str
    rounds: int  # dealt in all
    before: tuple[int, ...]  # rounds dealt from bad cards before the first check that could see it
    after: tuple[int, ...]  # and after it: must be none
    listed: tuple[int, ...]  # the rounds that the box listed as affected
    clauses: tuple[str, ...]
    noticed: bool


def _shuffler(fault: str) -> Callable[[House], None]:
    """Let something happen to the shuffler with the next deck that it gets."""

    def happen(house: House) -> None:
        house.machines["shuffler.1"].inject(fault)

    return happen


def _lose_from_rack(house: House) -> None:
    """A card of the deck that was just dealt falls under the rail before it goes back into the machine."""
    house.on_collect = house.lose_one


def _swap_in_rack(house: House) -> None:
    """One card is replaced by a copy of another: the count stays right."""
    house.on_collect = house.swap_one


def _cover_swapped(house: House) -> None:
    """A playing card is used as the cover card: it stays aside when the deck goes back."""
    house.on_collect = lambda back: house.lose_one(back, "set_aside")


INCIDENTS: Final = (
    Incident("cards_left_inside", "16 cards stay inside a six-deck shuffler", "122", "over_under",
             _shuffler("cards_left_inside:count=16"), ("shuffler_fault", "count_wrong")),
    Incident("card_migrates", "a card wanders from one six-deck set into the other", "60", "over_under",
             _shuffler("card_migrates"), ("shuffler_fault", "count_wrong")),
    Incident("sort_mode", "a shuffler is left in SORT mode", "16", "saigon_5_card", _shuffler("sort_mode"),
             ("shuffler_fault",)),
    Incident("ignored_light", "staff ignore a red light", "many", "face_up_pai_gow",
             _shuffler("jam:segment=lift,card=20"), ("shuffler_fault",)),
    Incident("damaged_card", "the shuffler tears a card and play goes on one card short", "42", "face_up_pai_gow",
             _shuffler("torn_card:segment=bridge,card=11"), ("shuffler_fault", "count_wrong")),
    Incident("right_count_wrong_card", "a queen is missing and a jack extra; the count is right", "420",
             "face_up_pai_gow", _swap_in_rack, ("count_wrong",), {"shuffler.1": "shuffler-identifying"}),
    Incident("card_under_rail", "52 reported, the 53rd under the rail", "-", "dj_wild", _lose_from_rack,
             ("count_wrong", "shuffler_fault")),
    Incident("cover_card_swapped", "a playing card is used as the cut card", "1 round", "asia_poker", _cover_swapped,
             ("count_wrong", "shuffler_fault")),
)  # fmt: skip


async def replay(incident: Incident, seed: int = 1) -> Replay:
    """Play an incident from before it happens until the box has noticed and the table plays on, or cannot."""
    house = House(incident.game, seed=seed, models=incident.models)
    try:
        await house.open(*incident.decks)
        for _ in range(BEFORE):
            await house.round()
        mark = len(house.log)
        incident.happens(house)
        first = 0
        for _ in range(AFTER):
            await house.round()
            if _found(house, mark, incident.sees) is not None:
                first = first or _found_in_round(house, mark, incident.sees)
                break
        await house.round()
        return _judge(house, mark, incident, first)
    finally:
        await house.close()


def _found(house: House, mark: int, triggers: tuple[str, ...]) -> Found | None:
    found = (d for _, decisions in house.log[mark:] for d in decisions if isinstance(d, Found))
    return next((d for d in found if d.trigger in triggers), None)


def _found_in_round(house: House, mark: int, triggers: tuple[str, ...]) -> int:
    """Return how many rounds had been dealt when it was found."""
    dealt = 0
    numbers = [number for number, _, _ in house.dealt_rounds]
    for at, (_, decisions) in enumerate(house.log):
        dealt += sum(1 for d in decisions if getattr(d, "what", "") == "round" and getattr(d, "state", "") == "dealing")
        if at >= mark and any(isinstance(d, Found) and d.trigger in triggers for d in decisions):
            return numbers[dealt - 1] if dealt else 0
    return 0


def _judge(house: House, mark: int, incident: Incident, first: int) -> Replay:
    bad = [number for number, _, whole in house.dealt_rounds if not whole]
    found = _found(house, mark, incident.sees)
    told = [d for _, decisions in house.log[mark:] for d in decisions if isinstance(d, Finding)]
    listed = sorted({number for finding in told if finding.kind == "affected_rounds" for number in finding.rounds})
    return Replay(
        incident.id, incident.what, incident.theirs, len(house.dealt_rounds),
        tuple(n for n in bad if n <= first), tuple(n for n in bad if n > first or not found), tuple(listed),
        found.clauses if found else (), found is not None,
    )  # fmt: skip
