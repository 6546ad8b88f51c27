"""People and players who go on regardless, and devices that are not what they say: everything they can try, counted.

An attempt is an event that somebody sends to the box. One that is not refused, or that makes a machine move cards, has
passed.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import msgspec

from simulators.house.dealer import DEALER, FLOOR, TECHNICIAN
from table_controller.table import events as ev
from table_controller.table import machines as mc
from table_controller.table.decisions import Command, Moved, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulators.house.table import House

# How often the published light was ignored.
TIMES: Final = 3
_METHODS: Final = ("manual_shoe", "hand", "automated_shoe")


class Attempts(msgspec.Struct):
    """How many attempts were made, and how many passed."""

    made: int = 0
    passed: int = 0


def everything(house: House) -> Iterator[ev.Event]:
    """Yield all that staff can send to go on without doing what is asked; the right answers are left out."""
    state = house.controller.table.state
    people = (DEALER, FLOOR, TECHNICIAN)
    yield ev.OpenRound(DEALER)
    for who in people:
        if state.round.state != mc.BETTING or who != DEALER:
            yield ev.NoMoreBets(who)
    for prompt in list(state.prompts.values()):
        for who in people:
            if who.role != prompt.role:  # somebody else's answer
                yield from (ev.Answer(prompt.id, choice, who, 53) for choice in prompt.choices)
            yield ev.Answer(prompt.id, "deal_anyway", who, 53)
        yield ev.Answer(prompt.id + 1000, prompt.choices[0], DEALER, 53)
    for who in people:  # another method without a sign on the dead machine
        yield ev.Ordered("shuffle_by_hand", who)
        yield from (ev.Ordered("dealing_method", who, method=method) for method in _METHODS)
    for order in ("reshuffle", "remove_deck", "table_idle", "recut"):
        yield from (ev.Ordered(order, DEALER, deck=deck) for deck in state.decks)
    for slot in state.slots:
        yield ev.SlotOrdered(slot, "clear", DEALER)
        yield from (ev.SlotOrdered(slot, "acknowledge", who) for who in people)
        yield ev.SlotOrdered(slot, "sign", DEALER)
    yield from (ev.DeckReceived(deck, DEALER) for deck in list(state.decks))
    yield ev.OpenRound(DEALER)


def make(house: House, attempts: Attempts) -> None:
    """Try everything once."""
    for event in everything(house):
        at = len(house.log)
        house.controller.submit(event)
        decisions = [decision for _, decided in house.log[at:] for decision in decided]
        refused = any(isinstance(decision, Refused) for decision in decisions)
        moved = any(isinstance(d, Command) or d == Moved("round", mc.BETTING) for d in decisions)
        attempts.made += 1
        attempts.passed += not refused or moved or not house.log[at:]


async def ignore_the_light(house: House) -> Attempts:
    """The shuffler stops with a red light. Staff look away and try to go on, again and again, and nobody answers."""
    tried = Attempts()
    people = house.people
    house.controller.submit(ev.OpenRound(DEALER))
    await asyncio.sleep(1.0)
    house.controller.submit(ev.NoMoreBets(DEALER))
    await house.until(lambda: bool(house.controller.table.state.holds), 600.0)
    people.ignoring = True
    await asyncio.sleep(30.0)  # whoever was about something has done it
    for _ in range(TIMES):
        make(house, tried)
        await asyncio.sleep(60.0)
    assert house.controller.table.state.holds, "the irregularity went away by itself"
    people.heed()
    await house.rest()
    return tried
