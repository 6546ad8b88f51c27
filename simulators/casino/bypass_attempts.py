"""Attempts to bypass the box, counted: staff who go on regardless, late bettors, and devices with a false identity.

An attempt is an event sent to the box. It has passed if the box does not refuse it, or if it makes a machine move
cards.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import msgspec

from simulators.casino.dealer import DEALER, FLOOR, TECHNICIAN
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command, RequestRefused, StateChanged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulators.casino.table import CasinoTable
    from table_controller.table.decisions import Decision

# How often the staff of the published case ignored the light.
IGNORED_TIMES: Final = 3
_METHODS: Final = ("manual_shoe", "hand", "automated_shoe")

# How long a rogue device tries to connect before anybody plays (s).
_REFUSED_FOR_S: Final = 600.0


class BypassAttempts(msgspec.Struct):
    """Number of attempts, and how many passed."""

    attempted: int = 0
    passed: int = 0


def bypass_events(casino: CasinoTable) -> Iterator[ev.Event]:
    """Yield every event that staff can send to go on without following the box; correct answers are left out."""
    state = casino.controller.table.state
    people = (DEALER, FLOOR, TECHNICIAN)
    yield ev.OpenRound(DEALER)
    for who in people:
        if state.round.state != mc.BETTING or who != DEALER:
            yield ev.NoMoreBets(who)
    for prompt in list(state.prompts.values()):
        for who in people:
            if who.role != prompt.role:  # an answer by the wrong role
                yield from (ev.Answer(prompt.id, choice, who, 53) for choice in prompt.choices)
            yield ev.Answer(prompt.id, "deal_anyway", who, 53)
        yield ev.Answer(prompt.id + 1000, prompt.choices[0], DEALER, 53)
    for who in people:  # another method without a sign on the machine out of order
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


async def try_everything(casino: CasinoTable, attempts: BypassAttempts) -> None:
    """Make every attempt once."""
    for event in list(bypass_events(casino)):
        decisions = await _sent(casino, event)
        refused = any(isinstance(decision, RequestRefused) for decision in decisions)
        moved = any(isinstance(d, Command) or d == StateChanged("round", mc.BETTING) for d in decisions)
        attempts.attempted += 1
        attempts.passed += not refused or moved


async def _sent(casino: CasinoTable, event: ev.Event) -> list[Decision]:
    """Send an event to the box; return its decisions once they are durable."""
    at = len(casino.step_log)
    casino.controller.submit(event)
    await casino.until(lambda: any(each is event for each, _ in casino.step_log[at:]))
    return next(decisions for each, decisions in casino.step_log[at:] if each is event)


async def ignore_warning_light(casino: CasinoTable) -> BypassAttempts:
    """The shuffler stops with a red light. Staff try to go on again and again without answering the box."""
    tried = BypassAttempts()
    people = casino.people
    people.is_ignoring = True
    casino.controller.submit(ev.OpenRound(DEALER))
    await asyncio.sleep(1.0)
    casino.controller.submit(ev.NoMoreBets(DEALER))
    await casino.until_held()
    for _ in range(IGNORED_TIMES):
        await try_everything(casino, tried)
        await asyncio.sleep(60.0)
    assert casino.controller.table.state.holds, "the irregularity went away by itself"
    people.stop_ignoring()
    await casino.until_quiescent()
    return tried


# --- a bet while "no more bets" is announced --------------------------------------------------------------------------

# When the chip lands, in seconds after the call: before it, in the same instant, while the locks travel, and after.
CHIP_DELAYS_S: Final = {1: -0.5, 2: 0.0, 3: 0.0005, 4: 0.002, 5: 0.05, 6: 5.0}


class LateBets(msgspec.Struct, frozen=True):
    """How bets around the call ended, by the true places of the chips."""

    accepted: tuple[int, ...]  # seats whose bet the box accepted
    collected: int  # chips that went into the dealer's tray
    returned: tuple[int, ...]  # seats whose chip was refused and is back with its player
    placed: tuple[int, ...]  # seats that placed a chip
    dealt: bool  # the round was dealt


async def place_late_bets(casino: CasinoTable) -> LateBets:
    """Players place chips before, at and after the call of no more bets; then the round is played to its end."""
    sensors = {seat: casino.machines[f"bet_sensor.{seat}"] for seat in CHIP_DELAYS_S}
    casino.seats = tuple(CHIP_DELAYS_S)
    before = casino.chips_in_tray(sensors[1])
    loop = asyncio.get_running_loop()
    casino.controller.submit(ev.OpenRound(DEALER))
    await asyncio.sleep(2.0)
    for seat, when in CHIP_DELAYS_S.items():
        loop.call_later(1.0 + when, sensors[seat].inject, "place_bet")
    await asyncio.sleep(1.0)
    casino.controller.submit(ev.NoMoreBets(DEALER))
    at = len(casino.step_log)
    await casino.until_quiescent()
    decided = [decision for _, decisions in casino.step_log[at - 1 :] for decision in decisions]
    lit = [d.slot for d in decided if isinstance(d, Command) and d.act == "light"]  # the light follows the acceptance
    late = {event.seat for event, _ in casino.step_log[at - 1 :] if isinstance(event, ev.LateBet)}
    dealt = any(StateChanged("round", mc.DEALING) in decisions for _, decisions in casino.step_log[at:])
    accepted = tuple(sorted(int(slot.rpartition(".")[2]) for slot in lit))
    collected = casino.chips_in_tray(sensors[1]) - before
    return LateBets(accepted, collected, tuple(sorted(late)), tuple(CHIP_DELAYS_S), dealt)


# --- a device with a false identity --------------------------------------------------------------------------------


class RogueResult(msgspec.Struct, frozen=True):
    """What happened to a device with a wrong key or unapproved firmware."""

    cause: str  # why its link is refused
    served: bool  # whether its slot was ever in service
    opened: bool  # whether a round could be opened
    reasons: tuple[str, ...]  # why the round could not be opened


async def try_rogue_device(casino: CasinoTable, slot: str) -> RogueResult:
    """Start the table with a rogue device in one slot, bring a deck, and try to open a round."""
    casino.box.connect()
    await asyncio.sleep(_REFUSED_FOR_S)
    await casino.bring_deck("blue")
    decisions = await _sent(casino, ev.OpenRound(DEALER))
    keys = tuple(reason.key for d in decisions if isinstance(d, RequestRefused) for reason in d.reasons)
    served = any(StateChanged(f"slot {slot}", "in_service") in decided for _, decided in casino.step_log)
    opened = any(StateChanged("round", mc.BETTING) in decided for _, decided in casino.step_log)
    return RogueResult(getattr(casino.slots[slot].cause, "code", ""), served, opened, keys)
