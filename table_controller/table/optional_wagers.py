"""Optional wagers that no sensor detects and no question asks for: the dealer enters their seats before the lock.

They bar no surrender, so play does not wait for them. An entry replaces the former one of the same wager.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.rulebook.wager_limits import citation_of, wager_objection
from table_controller.table import settling, side_wagers
from table_controller.table import state_machines as mc

if TYPE_CHECKING:
    from table_controller.rulebook.schema import Wager
    from table_controller.table import events as ev
    from table_controller.table.context import Context

_BEFORE_LOCK: Final = (mc.BETTING, mc.NO_MORE_BETS)


def optional_wagers(c: Context) -> list[Wager]:
    """Return the offered optional wagers that only the dealer's entries make known."""
    return [wager for wager in c.edition.wagers if wager.name in c.submission.paytables and _is_entered(c, wager)]


def seats_by_wager(c: Context) -> dict[str, tuple[int, ...]]:
    """Return each wager that may be entered now, with the seats that have it as far as it is known."""
    round_ = c.state.round
    if round_.state not in _BEFORE_LOCK:
        return {}
    seats = round_.seats if round_.seats_entered else range(1, c.submission.seats + 1)
    return {
        wager.name: tuple(seat for seat in seats if settling.has_wager(c, seat, wager.name))
        for wager in optional_wagers(c)
    }


def on_optional_wager_entered(c: Context, event: ev.OptionalWagerEntered) -> None:
    """Record exactly these seats as those that have a wager; an amount of any other seat is forgotten."""
    objection = _objection(c, event)
    if objection is not None:
        c.refuse(objection)
        return
    round_ = c.state.round
    round_.optional_wagers = {**round_.optional_wagers, event.wager: sorted(event.seats)}
    kept = {seat: cents for seat, cents in round_.amounts.get(event.wager, {}).items() if seat in event.seats}
    if event.wager in round_.amounts:
        round_.amounts = {**round_.amounts, event.wager: kept}


def drop_without_main_wager(c: Context) -> None:
    """Drop the entries of seats that turn out to have no main wager, with a finding each."""
    round_ = c.state.round
    for wager in optional_wagers(c):
        entered = round_.optional_wagers.get(wager.name, [])
        for seat in [each for each in entered if each not in round_.seats]:
            entered.remove(seat)
            cited = citation_of(c.edition.game, wager)
            c.record_finding(
                "optional_wager_alone",
                f"seat {seat}, round {round_.number}: the {wager.title} was entered without a main wager; it does not "
                f"count and is returned ({c.clause('seats')}, {cited})",
            )


def _is_entered(c: Context, wager: Wager) -> bool:
    """Whether a wager is optional, without a sensor, and no question asks for its seats."""
    return wager.option and not _is_sensed(c, wager) and wager.name not in side_wagers.asked_wagers(c)


def _is_sensed(c: Context, wager: Wager) -> bool:
    rules = c.edition.progressive
    return rules is not None and wager.name == rules.wager


def _objection(c: Context, event: ev.OptionalWagerEntered) -> str | None:
    """Return why these seats of a wager may not be entered, with its clauses."""
    wager, objection = c.edition.wager(event.wager), wager_objection(c.submission, event.wager, None)
    if objection is not None or wager is None:
        return objection
    cited = citation_of(c.edition.game, wager)
    if not wager.option:
        return f"the {wager.title} is no optional wager ({cited})"
    if _is_sensed(c, wager):
        return f"the bet sensors detect which seats have a {wager.title} ({cited})"
    if not _is_entered(c, wager):
        return f"the seats with a {wager.title} are asked for before the deal; answer that question ({cited})"
    if c.state.round.state not in _BEFORE_LOCK:
        late = f", and no wager is placed any more ({c.edition.close_clause}, {cited})"
        return f"no {wager.title} may be entered now{late if c.is_round_under_way else f' ({cited})'}"
    return _seats_objection(c, wager, event.seats)


def _seats_objection(c: Context, wager: Wager, seats: tuple[int, ...]) -> str | None:
    """Return why these seats cannot have a wager: each must exist, appear once, and have a main wager."""
    if len(set(seats)) != len(seats):
        return f"enter each seat with a {wager.title} once"
    for seat in seats:
        if not 1 <= seat <= c.submission.seats:
            return f"there is no seat {seat}{c.citation('seats')}"
        if c.state.round.seats_entered and seat not in c.state.round.seats:
            cited = citation_of(c.edition.game, wager)
            return f"seat {seat} has no main wager, so it cannot have a {wager.title} ({c.clause('seats')}, {cited})"
    return None
