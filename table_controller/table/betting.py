"""Opening a round, no more bets, and the lock-out: until the bets are latched and their chips counted. No card moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.table import machines as mc
from table_controller.table.irregularities import irregular
from table_controller.table.state import Progressive, Round, SeatBets

if TYPE_CHECKING:
    from table_controller.table import events as ev
    from table_controller.table.context import Context
    from table_controller.table.decisions import Prompt

# A sensor that has not confirmed its lock by then (s) leaves its seat to the floorperson; a latch takes a millisecond.
LOCK_PATIENCE: Final = 1.0


def open_round(c: Context, _event: ev.OpenRound) -> None:
    """The dealer opens a round, if there is no reason against it."""
    deck = c.next_deck()
    name = deck.name if deck else None
    reasons = c.reasons_against("open_bets", deck=name)
    if reasons or deck is None:
        c.refuse("open_bets", *reasons)
        return
    c.state.round = Round(
        c.state.round.number + 1, c.state.round.state, name, cover_card_out=c.state.round.cover_card_out
    )
    c.fire_round("open")
    if c.progressive:
        c.state.progressive = Progressive(seats={_seat(slot): SeatBets() for slot in c.sensors})
        c.fire_progressive("open")
        for sensor in c.sensors:
            c.command("open_bets", sensor, number=c.state.round.number)


def _seat(slot: str) -> int:
    return int(slot.rpartition(".")[2])


def sensed(c: Context, event: ev.BetSensed) -> None:
    """A chip was laid or taken; before the latch a bet may be withdrawn, and it is not accepted yet."""
    bets = c.state.progressive.seats.get(event.seat)
    if bets is not None and event.sequence > bets.sequence:
        bets.sequence, bets.placed = event.sequence, event.placed


def no_more_bets(c: Context, _event: ev.NoMoreBets) -> None:
    """The call: everything is locked in this very step."""
    if c.state.round.state != mc.BETTING:
        c.refuse(f"no more bets: no wagers are open, the round is {c.state.round.state}")
        return
    c.fire_round("close")
    if c.progressive:
        c.state.progressive.lock = c.fresh_id()
        c.fire_progressive("lock")
        for sensor in c.sensors:
            c.command("lock", sensor, number=c.state.round.number, safe=True)
        c.timer("lock", LOCK_PATIENCE)
    if c.everybody:
        c.state.round.seats = tuple(range(1, c.submission.seats + 1))
        c.state.round.seats_entered = True


def latched(c: Context, event: ev.SeatLatched) -> None:
    """A sensor confirms: what it says is what counts, whatever frames came before or come after."""
    progressive = c.state.progressive
    bets = progressive.seats.get(event.seat)
    if progressive.state != mc.LOCKING or bets is None or event.round != c.state.round.number:
        c.finding("late_latch", f"seat {event.seat} confirmed a lock of round {event.round} that nobody waits for")
        return
    if bets.latched:
        return  # said again
    asked = [p for p in c.state.prompts.values() if p.kind == "seat_undecided" and p.seat == event.seat]
    if asked:
        c.finding("late_latch", f"seat {event.seat} confirmed after its time; the floorperson decides")
        return
    bets.latched, bets.bet, bets.sequence = True, event.bet, event.sequence


def lock_due(c: Context) -> None:
    """A sensor that has not confirmed leaves its seat undecided."""
    if c.state.progressive.state == mc.LOCKING:
        for seat, bets in c.state.progressive.seats.items():
            if not bets.latched:
                c.ask("seat_undecided", "floorperson", "bet", "no_bet", seat=seat, clauses=(c.clause_of("lockout"),))


def late(c: Context, event: ev.LateBet) -> None:
    """A chip on a locked sensor does not count and goes back."""
    c.state.progressive.late.append(event.seat)
    c.finding("late_bet", f"seat {event.seat}: a chip was laid after the lock-out; it does not count and goes back")


def advance(c: Context) -> None:
    """Go on as far as the bets allow."""
    if c.state.round.state != mc.NO_MORE_BETS:
        return
    if not c.state.round.seats_entered:
        c.ask("seats", "dealer", seats=True, clauses=(c.clause_of("seats"),))
    if c.progressive:
        _advance_progressive(c)
    ready = not c.progressive or c.state.progressive.state == mc.VERIFIED
    if ready and c.state.round.seats_entered and not any(hold.this_round for hold in c.state.holds.values()):
        c.fire_round("lock")


def _advance_progressive(c: Context) -> None:
    progressive = c.state.progressive
    if progressive.state == mc.LOCKING and all(bets.latched for bets in progressive.seats.values()):
        c.timer("lock", None)
        c.fire_progressive("latched")
    if progressive.state == mc.BETS_LOCKED:
        if progressive.accepted:
            c.ask("chips", "dealer", number=True, clauses=(c.clause_of("chips"),))
        else:
            c.fire_progressive("collect")
            c.fire_progressive("verify")


def answered(c: Context, prompt: Prompt, answer: ev.Answer) -> bool:
    """Take an answer about the bets; False if it is about something else."""
    match prompt.kind:
        case "seats":
            _seats(c, answer.seats)
        case "seat_undecided":
            assert prompt.seat is not None
            bets = c.state.progressive.seats[prompt.seat]
            bets.latched, bets.bet = True, answer.choice == "bet"
        case "chips":
            c.fire_progressive("collect")
            if answer.number == len(c.state.progressive.accepted):
                c.fire_progressive("verify")
            else:
                accepted = len(c.state.progressive.accepted)
                c.finding("chips_differ", f"{answer.number} chips were collected for {accepted} accepted bets")
                c.fire_progressive("recount")
                irregular(c, "chips_differ")
        case _:
            return False
    return True


def _seats(c: Context, seats: tuple[int, ...]) -> None:
    """The seats in the round, as the dealer entered them; a seat that does not exist cannot be."""
    allowed = range(1, c.submission.seats + 1)
    if not seats or len(set(seats)) != len(seats) or any(seat not in allowed for seat in seats):
        c.refuse(f"seats are numbers from 1 to {c.submission.seats}, each once, and at least one")
        return
    c.state.round.seats = tuple(sorted(seats))
    c.state.round.seats_entered = True
