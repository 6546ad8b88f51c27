"""The kinds of irregular events of a minimal table, and their moves. Regular moves are in `search_moves`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from devices.service import IN_SERVICE, SIGNED, UNSIGNED, UNVERIFIED
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from tests.support.core.ideal_table import DEALER, FLOOR, next_change

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.table.core import Table

SHAKER: Final = "shaker.1"


class SearchMove(NamedTuple):
    """What may happen next. Trouble is bounded; the rest is a way on."""

    name: str
    events: tuple[ev.Event, ...]
    trouble: bool = False


class SearchTrouble(msgspec.Struct, frozen=True):
    """Which trouble a search makes, and how much of it at once."""

    holds: int = 1  # irregularities that may be open when another one is made
    links: tuple[str, ...] = ()  # slots that vanish and fault
    given_up: tuple[str, ...] = ()  # slots that are given up, and repaired
    ends: tuple[str, ...] = ()  # slots whose commands fail, are revoked, or end as nobody knows
    counts: tuple[str, ...] = ()  # slots that count or read wrongly
    unbidden: tuple[str, ...] = ()  # slots that do what nobody ordered
    slow: tuple[str, ...] = ()  # slots that take their time
    declared: tuple[str, ...] = ()  # what people report
    people: bool = False  # people count, announce and collect wrongly
    orders: bool = False  # any order that a floorperson may give, also without need
    ages: bool = False  # decks and dice grow old
    bets: bool = False  # sensors that confirm late or never, chips after the lock-out
    contradicts: bool = False  # a slow sensor that confirms what it had contradicted before
    money: bool = False  # hands that win the progressive
    variety: bool = False  # other seats, other results, other choices of players
    opening: bool = False  # the opening of decks step by step, found wrong too

    @property
    def slow_slots(self) -> frozenset[str]:
        """The slots whose commands do not end at once."""
        return frozenset((*self.links, *self.given_up, *self.ends, *self.counts, *self.unbidden, *self.slow))


def troubles(table: Table, trouble: SearchTrouble, decks: tuple[str, ...]) -> Iterator[SearchMove]:
    """Yield all trouble of the chosen kinds that may come in the state that the table is in."""
    for name in trouble.links:
        yield from _links(table, name)
    for name in trouble.given_up:
        if table.state.slots[name].state not in (UNSIGNED, SIGNED):
            yield SearchMove(f"{name} given up", (ev.SlotOrdered(name, "give_up", FLOOR),), trouble=True)
    for name in trouble.unbidden:
        yield from _unbidden(table, name)
    for trigger in trouble.declared:
        yield from _declared(decks, trigger)
    state = table.state
    if SHAKER in trouble.counts and state.round.state == mc.STARTING_POSITION and state.start == "shaker":
        for what in ("dice_not_flat", "too_few_shakes"):
            yield SearchMove(f"no roll: {what}", (ev.NoRollReported(SHAKER, what),), trouble=True)
    if trouble.bets:
        yield from _bets(table)
    if trouble.contradicts and state.progressive.state == mc.OPEN:
        yield SearchMove("bet 5 sensed", (ev.BetSensed(1, 5, placed=True),), trouble=True)
    if trouble.ages:
        yield from _ages(table)


def _links(table: Table, name: str) -> Iterator[SearchMove]:
    state = table.state
    slot = state.slots[name]
    pending = [id_ for id_, issued in state.commands.items() if issued.slot == name and not issued.unknown]
    if slot.state in (UNVERIFIED, IN_SERVICE):
        lost = [ev.CommandEnded(id_, "unknown") for id_ in pending]
        failed = [ev.CommandEnded(id_, "failed") for id_ in pending]
        yield SearchMove(f"{name} vanishes", (ev.SlotChanged(name, "vanish"), *lost), trouble=True)
        yield SearchMove(f"{name} faults", (ev.SlotChanged(name, "fault"), *failed), trouble=True)


def _unbidden(table: Table, name: str) -> Iterator[SearchMove]:
    """Unsolicited reports of a device in service."""
    kind, state, whole = table.state.slots[name].kind, table.state, table.context.edition.cards.count
    if state.slots[name].state != IN_SERVICE or table.context.has_pending_command(name):
        return
    events: list[ev.Event] = []
    if kind == "shuffler":
        events = [
            ev.ShuffleEnded(name, whole, shuffled=True),
            ev.DeckGivenOut(name),
            ev.StackInserted(name, whole),
            ev.DiscardsTakenIn(name, 1),
        ]
    elif kind == "shoe" and state.dealing == "automated_shoe":
        events = [
            ev.StackOut(name, 1),
            ev.StubOut(name, 2),
            ev.ShoeLoaded(name, whole),
            ev.FaceUpSeen(name),
            ev.ShoeEmpty(name),
        ]
    elif kind == "shoe" and state.round.drawn <= state.round.dealt + state.round.discarded + state.round.burned:
        events = [ev.CardsDrawn(name, state.round.drawn + 1)]
    elif kind == "shaker":
        events = [ev.DiceRead(name, (1, 3, 4))]
    elif kind == "rng":
        events = [ev.NumberDrawn(name, 1)]
    for event in events:
        yield SearchMove(f"{name} unbidden: {type(event).__name__}", (event,), trouble=True)


def _declared(decks: tuple[str, ...], trigger: str) -> Iterator[SearchMove]:
    for deck in decks if trigger == "count_wrong" else ("",):
        event = ev.IrregularityReported(trigger, DEALER, seat=2, deck=deck or None)
        yield SearchMove(f"declared {trigger} {deck}", (event,), trouble=True)


def _bets(table: Table) -> Iterator[SearchMove]:
    state = table.state
    if state.progressive.state == mc.LOCKING and not state.progressive.overdue:
        yield SearchMove("lock due", (ev.Due("lock"),), trouble=True)
    if state.progressive.state not in (mc.CLOSED, mc.OPEN):
        yield SearchMove("late bet", (ev.LateBet(1), ev.BetSensed(1, 99, placed=True)), trouble=True)
        yield SearchMove("foreign latch", (ev.SeatLatched(1, state.round.number, 0, 99, bet=True),), trouble=True)
    if state.progressive.overdue and state.progressive.state == mc.LOCKING:
        for seat, bets in state.progressive.seats.items():
            if not bets.latched:
                latch = ev.SeatLatched(seat, state.round.number, bets.lock, next_change(state, seat), bet=True)
                yield SearchMove(f"latch of {seat} after its time", (latch,), trouble=True)


def _ages(table: Table) -> Iterator[SearchMove]:
    state, c = table.state, table.context
    for old in c.decks_at_table():
        for hours in sorted(set(c.edition.change_hours.values())):
            if hours not in old.passed and (not old.passed or max(old.passed) < hours):
                due = ev.Due(f"deck_age/{old.name}/{hours}")
                yield SearchMove(f"{old.name} is {hours} h old", (due,), trouble=True)
                break
    if state.start == "shaker" and state.dice == "fresh":
        yield SearchMove("dice are old", (ev.Due("dice_age"),), trouble=True)
