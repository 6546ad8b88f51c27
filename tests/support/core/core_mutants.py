"""Mutants of the core for mutation testing, each with the table and the fault kinds that must detect it.

A search is worth something only if it can fail: every mutant must be detected, by a broken invariant, by an event that
the core cannot take, or by a deadlock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from table_controller.table import (
    betting,
    core,
    dealing,
    deck_opening,
    decks,
    hold_steps,
    irregularities,
    orders,
    playing,
    service,
    shuffling,
)
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.context import Context
from tests.support.core.search_trouble import SearchTrouble

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from tests.support.core.search_moves import SearchModel

HAND: Final = "saigon, hand"
ASIA: Final = "asia, automated shoe"
SHOE: Final = "over/under, dealing shoe"
STORE: Final = "over/under, continuous"
BETS: Final = "pai gow, automated shoe, bets"
TWO: Final = "saigon, hand, two decks"
INSERTING: Final = "saigon, inserting"
_SHUFFLER: Final = ("shuffler.1",)


class CoreMutant(NamedTuple):
    """A mistake, where it shows, and what it does to the core (or to the table of one search)."""

    table: str
    trouble: SearchTrouble
    apply: Callable[[pytest.MonkeyPatch, SearchModel], None]


# --- ways to plant ----------------------------------------------------------------------------------------------------


def _without(key: str) -> Callable[[pytest.MonkeyPatch, SearchModel], None]:
    """A reason against something is not looked at."""

    def plant(_patch: pytest.MonkeyPatch, model: SearchModel) -> None:
        context = model.table.context
        assert any(row.key == key for row in context.reasons)
        context.reasons = tuple(row for row in context.reasons if row.key != key)

    return plant


def _put(module: Any, name: str, value: Any) -> Callable[[pytest.MonkeyPatch, SearchModel], None]:
    """A function does something else."""
    return lambda patch, _model: patch.setattr(module, name, value)


def _handle(kind: type, handler: Any) -> Callable[[pytest.MonkeyPatch, SearchModel], None]:
    """An event is handled otherwise."""
    return lambda patch, _model: patch.setitem(core._HANDLERS, kind, handler)


def _answer(table: dict[str, Any], kind: str, handler: Any) -> Callable[[pytest.MonkeyPatch, SearchModel], None]:
    """An answer does something else."""
    return lambda patch, _model: patch.setitem(table, kind, handler)


def _machine(
    name: str, states: tuple[str, ...], rows: list[list[str]]
) -> Callable[[pytest.MonkeyPatch, SearchModel], None]:
    """A machine has other transitions."""
    return lambda patch, _model: patch.setattr(mc, name, mc._machine(states, rows))


def _first(advance: Callable[[Context], None]) -> Callable[[pytest.MonkeyPatch, SearchModel], None]:
    """Something more follows from every step."""
    return lambda patch, _model: patch.setattr(core, "_ADVANCE", (advance, *core._ADVANCE))


def _nothing(*_given: Any) -> None:
    """It is forgotten."""


# --- mistakes ---------------------------------------------------------------------------------------------------------


def _hold_lost(c: Context) -> None:
    for hold in [h for h in c.state.holds.values() if h.steps == ["acknowledge"]]:
        del c.state.holds[hold.id]


def _void_only(c: Context, _hold: Any) -> None:
    if c.is_round_under_way:
        c.fire_round("void")


def _latched_late(c: Context, event: ev.SeatLatched) -> None:
    c.state.progressive.overdue, overdue = False, c.state.progressive.overdue
    betting.on_seat_latched(c, event)
    c.state.progressive.overdue = overdue


def _latched_any(c: Context, event: ev.SeatLatched) -> None:
    bets = c.state.progressive.seats.get(event.seat)
    if bets is not None and c.state.progressive.state != mc.CLOSED:
        bets.latched, bets.bet = True, event.bet


def _late_counts(c: Context, event: ev.LateBet) -> None:
    if event.seat in c.state.progressive.seats:
        bets = c.state.progressive.seats[event.seat]
        bets.latched, bets.bet = True, True


def _by_hand_anyway(c: Context, _event: ev.Ordered) -> None:
    c.state.shuffling = "hand"


def _method_anyway(c: Context, event: ev.Ordered) -> None:
    c.state.dealing = event.method or c.state.dealing  # type: ignore[assignment]


def _in_place_at_once(c: Context, deck: Any, shuffler: str, shoe: str) -> None:
    """The shoe is not asked what it received."""
    c.state.slots[shuffler].deck, c.state.slots[shoe].deck, deck.place = None, deck.name, shoe
    c.state.book.move_all(deck.name, shoe)


def _count_accepted(c: Context, event: ev.ShuffleEnded) -> None:
    right = None if event.count is None else c.edition.cards.count
    shuffling.on_shuffle_ended(c, ev.ShuffleEnded(event.slot, right, shuffled=event.shuffled))


def _sort_accepted(c: Context, event: ev.ShuffleEnded) -> None:
    shuffling.on_shuffle_ended(c, ev.ShuffleEnded(event.slot, event.count, shuffled=True, rejected=event.rejected))


def _load_accepted(c: Context, event: ev.ShoeLoaded) -> None:
    shuffling.on_shoe_loaded(c, ev.ShoeLoaded(event.slot, None))


def _stack_accepted(c: Context, event: ev.StackOut) -> None:
    ordered = next((i.number for i in c.state.commands.values() if i.slot == event.slot and i.act == "dispense"), 0)
    dealing.on_stack_out(c, ev.StackOut(event.slot, ordered or event.count))


def _together_uncounted(c: Context, hold: Any, _answer: ev.Answer) -> None:
    deck = hold_steps._deck_of(c, hold)
    assert deck is not None
    decks.gather(c, deck)
    decks.mark_whole(deck)


def _never_released(c: Context, hold: Any, answer: ev.Answer) -> None:
    deck = hold_steps._deck_of(c, hold)
    if answer.choice == "remove":
        irregularities.carry_out(c, hold, ("remove_deck",))
    elif deck is not None:
        decks.gather(c, deck)
        decks.record_hand_count(c, deck, c.edition.cards.count)


def _everybody_settled(c: Context) -> list[int]:
    return list(c.state.round.seats)


def _removed_at_once(c: Context, event: ev.Ordered) -> None:
    deck = c.state.decks.get(event.deck or "")
    if deck is not None and deck.state != mc.REMOVED:
        decks.remove(c, deck)


def _spread_is_a_look(c: Context, prompt: Any, answer: ev.Answer) -> None:
    deck_opening._opened(c, prompt, answer)
    c.state.decks[prompt.deck].verified = True


def _given_up_only(c: Context, slot: str) -> None:
    c.fire_slot(slot, "give_up")
    for id_ in [id_ for id_, issued in c.state.commands.items() if issued.slot == slot]:
        del c.state.commands[id_]


def _undecided_latched(c: Context) -> None:
    for bets in c.state.progressive.seats.values():
        bets.latched = bets.latched or c.state.progressive.overdue
        bets.bet = True if bets.bet is None and bets.latched else bets.bet


def _changing_mind(c: Context, event: ev.OpenRound) -> None:
    betting.on_open_round(c, event)
    _changing_mind.calls += 1  # type: ignore[attr-defined]
    c.record_finding("opened", str(_changing_mind.calls))  # type: ignore[attr-defined]


_changing_mind.calls = 0  # type: ignore[attr-defined]

_SELF_CLEARING: Final = [["clear", "faulted", "unverified"] if row[0] == "clear" else row
                         for row in mc.MACHINES["service"][2]]  # fmt: skip
_NO_RELEASE: Final = [row for row in mc.DECK_TRANSITIONS if row[0] != "release"]

CORE_MUTANTS: Final[dict[str, CoreMutant]] = {
    # Reasons against something that nobody looks at.
    "unverified decks are opened": CoreMutant(
        HAND, SearchTrouble(people=True, orders=True), _without("deck_unverified")
    ),
    "old decks are opened": CoreMutant(HAND, SearchTrouble(ages=True), _without("deck_expired")),
    "rounds open beside an irregularity": CoreMutant(
        TWO, SearchTrouble(declared=("count_wrong",), slow=_SHUFFLER), _without("any_irregularity")
    ),
    "a dead device stands unsigned": CoreMutant(
        ASIA, SearchTrouble(given_up=("shaker.1",)), _without("dead_device_unsigned")
    ),
    "old dice are armed": CoreMutant(ASIA, SearchTrouble(ages=True), _without("dice_not_fresh")),
    # Counts and reports that are trusted too little or too much.
    "a wrong count of the shuffler is right": CoreMutant(
        ASIA, SearchTrouble(counts=_SHUFFLER), _handle(ev.ShuffleEnded, _count_accepted)
    ),
    "a sort is a shuffle": CoreMutant(ASIA, SearchTrouble(counts=_SHUFFLER), _handle(ev.ShuffleEnded, _sort_accepted)),
    "a wrong count of the shoe is right": CoreMutant(
        ASIA, SearchTrouble(counts=("shoe.1",)), _handle(ev.ShoeLoaded, _load_accepted)
    ),
    "a short stack is whole": CoreMutant(
        ASIA, SearchTrouble(counts=("shoe.1",)), _handle(ev.StackOut, _stack_accepted)
    ),
    "nobody counts what was put together": CoreMutant(
        HAND,
        SearchTrouble(people=True, orders=True),
        _answer(hold_steps._ANSWERS, "cards_together", _together_uncounted),
    ),
    "a spread deck is a verified deck": CoreMutant(
        HAND, SearchTrouble(people=True, orders=True), _answer(core._ANSWERS, "opening", _spread_is_a_look)
    ),
    "decks do not age": CoreMutant(HAND, SearchTrouble(ages=True), _put(decks, "on_deck_aged", _nothing)),
    # Bets.
    "a latch after its time counts": CoreMutant(
        BETS, SearchTrouble(bets=True, slow=("bet_sensor.1",)), _handle(ev.SeatLatched, _latched_late)
    ),
    "any latch counts": CoreMutant(
        BETS, SearchTrouble(bets=True, slow=("bet_sensor.1",)), _handle(ev.SeatLatched, _latched_any)
    ),
    "a sensor that contradicts itself is accepted": CoreMutant(
        BETS,
        SearchTrouble(contradicts=True, slow=("bet_sensor.1",)),
        _put(betting, "_contradiction", lambda *_given: ""),
    ),
    "a late chip is a bet": CoreMutant(
        BETS, SearchTrouble(bets=True, slow=("bet_sensor.1",), variety=True), _handle(ev.LateBet, _late_counts)
    ),
    "an undecided seat has bet": CoreMutant(
        BETS, SearchTrouble(bets=True, slow=("bet_sensor.1",)), _first(_undecided_latched)
    ),
    # Irregularities.
    "a hold ends without its acknowledgment": CoreMutant(ASIA, SearchTrouble(links=_SHUFFLER), _first(_hold_lost)),
    "a void round keeps its wagers": CoreMutant(
        ASIA, SearchTrouble(declared=("wrong_card_count",)), _put(irregularities, "_void", _void_only)
    ),
    "a hand whose wagers went back is settled": CoreMutant(
        ASIA, SearchTrouble(declared=("player_card_exposed",)), _put(playing, "settle_order", _everybody_settled)
    ),
    "a held deck is never released": CoreMutant(
        ASIA, SearchTrouble(declared=("count_wrong",)), _answer(hold_steps._ANSWERS, "deck_counted", _never_released)
    ),
    # Methods and devices.
    "shuffled by hand anyway": CoreMutant(
        HAND, SearchTrouble(given_up=_SHUFFLER), _answer(orders._ORDERS, "shuffle_by_hand", _by_hand_anyway)
    ),
    "another dealing method anyway": CoreMutant(
        ASIA, SearchTrouble(given_up=("shoe.1",)), _answer(orders._ORDERS, "dealing_method", _method_anyway)
    ),
    "what a dead device was told is still waited for": CoreMutant(
        BETS, SearchTrouble(given_up=("rng.1",)), _put(service, "take_out_of_service", _given_up_only)
    ),
    "a command that failed is still waited for": CoreMutant(
        BETS, SearchTrouble(ends=("rng.1",)), _put(service, "_undo", _nothing)
    ),
    "a cleared fault needs no acknowledgment": CoreMutant(
        ASIA, SearchTrouble(links=("shaker.1",)), _machine("SERVICE", mc.MACHINES["service"][1], _SELF_CLEARING)
    ),
    # Decks and machines.
    "a deck of a round is removed at once": CoreMutant(
        HAND, SearchTrouble(orders=True), _answer(orders._ORDERS, "remove_deck", _removed_at_once)
    ),
    "a deck that must be shuffled again never comes out": CoreMutant(
        ASIA,
        SearchTrouble(declared=("count_wrong",), slow=_SHUFFLER),
        _answer(hold_steps._ANSWERS, "let_out", _nothing),
    ),
    "no way from held to stacked": CoreMutant(
        ASIA, SearchTrouble(declared=("count_wrong",)), _machine("DECK", mc.DECK_STATES, _NO_RELEASE)
    ),
    "questions that nothing asks for stay open": CoreMutant(
        ASIA,
        SearchTrouble(declared=("wrong_card_count",), slow=("shoe.1",)),
        _put(Context, "close_unneeded_prompts", _nothing),
    ),
    "a stack that left the shuffler is in the shoe": CoreMutant(
        INSERTING, SearchTrouble(), _put(shuffling, "_record_inserted", _in_place_at_once)
    ),
    "a stack that cannot be inserted is forgotten": CoreMutant(
        INSERTING, SearchTrouble(ends=_SHUFFLER), _put(service, "_failed", _nothing)
    ),
    # The same events must give the same decisions.
    "a step that remembers": CoreMutant(HAND, SearchTrouble(), _handle(ev.OpenRound, _changing_mind)),
}
