"""Betting: open a round, no more bets, lock-out (its time limit, undecided seats), latched bets, collected chips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import SeatUndecided
from table_controller.table import boxes, optional_wagers, progressive_bets, side_wagers
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.irregularities import close_bets, open_hold
from table_controller.table.signers import SIGNERS
from table_controller.table.state import Progressive, Round, SeatBets, SpotReport

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.table.context import Context
    from table_controller.table.decisions import Prompt

# If a sensor has not confirmed its lock by then (s), the floorperson decides its seat. A latch takes a millisecond;
# the rest covers a line that loses frames. A longer wait would delay the game.
LOCK_TIMEOUT_S: Final = 2.0


def on_open_round(c: Context, event: ev.OpenRound) -> None:
    """The dealer opens a round, if it is permitted."""
    if event.who.role not in SIGNERS[ev.OpenRound]:
        c.refuse("only the dealer can open a round")
        return
    deck = c.next_deck()
    name = deck.name if deck else None
    reasons = c.reasons_against("open_bets", deck=name)
    if reasons:
        c.refuse("open_bets", *reasons)
        return
    c.state.round = Round(c.state.round.number + 1, c.state.round.state, name)
    c.fire_round("open")
    if c.has_progressive:
        c.state.progressive = Progressive(seats={seat_of(slot): SeatBets() for slot in c.sensors})
        c.fire_progressive("open")
        for sensor in c.sensors:
            c.issue_command("open_bets", sensor, number=c.state.round.number)


def seat_of(slot: str) -> int:
    """Return the seat of a sensor: the number in its slot's name."""
    return int(slot.rpartition(".")[2])


def on_bet_sensed(c: Context, event: ev.BetSensed) -> None:
    """A chip was placed or removed. Before the latch a bet is not accepted and may be withdrawn."""
    bets = c.state.progressive.seats.get(event.seat)
    if bets is None or not _waits(c, bets):
        _record_spot(c, event)
    if bets is None:
        return
    if not bets.latched:
        if event.sequence > bets.sequence:
            bets.changes += event.sequence - bets.sequence if bets.sequence else 1  # lost frames count too
            bets.sequence, bets.placed = event.sequence, event.placed
    elif bets.lock and event.sequence == bets.sequence and (event.placed, event.clear) != (bets.bet, True):
        _contradict(c, event.seat, f"the sensor reported change {event.sequence} differently from its latch")


def _waits(c: Context, bets: SeatBets) -> bool:
    """Whether a seat's lock is pending: a report received now may be from before or after the latch."""
    return c.state.progressive.state == mc.LOCKING and not bets.latched and not _undecided(c, bets)


def _undecided(c: Context, bets: SeatBets) -> bool:
    """Whether the floorperson must decide this seat: no confirmation in time, a refusal, or a doubtful one."""
    return not bets.latched and bool(c.state.progressive.overdue or bets.refused or bets.doubt)


def _record_spot(c: Context, event: ev.BetSensed) -> None:
    """Record what the sensor detects, in the order of its sequence numbers, not of the frames' arrival."""
    spot = c.state.spots.setdefault(event.seat, SpotReport())
    if event.sequence >= spot.sequence:
        spot.sequence, spot.content = (
            event.sequence,
            "unclear" if not event.clear else "chip" if event.placed else "empty",
        )


def forget_spot(c: Context, seat: int) -> None:
    """Forget a spot when its sensor reconnects: its count may start again."""
    c.state.spots.pop(seat, None)
    bets = c.state.progressive.seats.get(seat)
    if bets is not None and not bets.latched:
        bets.sequence, bets.placed = 0, False


def on_no_more_bets(c: Context, event: ev.NoMoreBets) -> None:
    """The dealer calls no more bets: send every lock in this step."""
    if event.who.role not in SIGNERS[ev.NoMoreBets]:
        c.refuse("only the dealer can call no more bets")
        return
    if c.state.round.state != mc.BETTING:
        c.refuse(f"no more bets: no bets are open; the round is {c.state.round.state}")
        return
    c.fire_round("close")
    if c.has_progressive:
        c.fire_progressive("lock")
        for sensor in c.sensors:
            lock = c.issue_command("lock", sensor, number=c.state.round.number, safe=True)
            c.state.progressive.seats[seat_of(sensor)].lock = lock
        c.set_timer("lock", LOCK_TIMEOUT_S)


def on_seat_latched(c: Context, event: ev.SeatLatched) -> None:
    """A sensor confirms its lock: this report decides the bet, regardless of frames that arrive before or after it.

    If the sensor contradicts itself or its reading is unclear, the seat is undecided.
    """
    bets = c.state.progressive.seats.get(event.seat)
    ours = bets is not None and (event.round, event.lock) == (c.state.round.number, bets.lock)
    if bets is None or not ours or (c.state.progressive.state != mc.LOCKING and not bets.latched):
        c.record_finding(
            "late_latch", f"seat {event.seat} confirmed lock {event.lock} of round {event.round}, which is not pending"
        )
    elif bets.latched:
        if (event.sequence, event.bet, event.clear) != (bets.sequence, bets.bet, True):
            _contradict(c, event.seat, "the sensor confirmed the same lock twice, differently")
    elif _undecided(c, bets):
        _record_late_latch(c, event)
    else:
        _decide(c, bets, event, "" if event.clear else "the sensor detects neither clearly one chip nor none")


def on_earlier_latch_reported(c: Context, event: ev.EarlierLatchReported) -> None:
    """A sensor holds the latch of a lock that the box sent but did not record before it stopped: this latch counts."""
    bets = c.state.progressive.seats.get(event.seat)
    if bets is None or bets.latched or event.round != c.state.round.number or c.state.progressive.state != mc.LOCKING:
        return
    first, end = c.state.lost
    if not first <= event.lock < end:
        return
    if _undecided(c, bets):
        _record_late_latch(c, event)
        return
    if _decide(c, bets, event):
        bets.lock = event.lock
        c.record_finding("latch_found", f"seat {event.seat} was latched before the box stopped; that latch counts")


def _decide(c: Context, bets: SeatBets, event: ev.SeatLatched | ev.EarlierLatchReported, doubt: str = "") -> bool:
    """Let the confirmation decide the seat, unless it is doubtful; return whether it does."""
    doubt = doubt or _contradiction(c, bets, event)
    if doubt:
        bets.doubt = doubt
        _leave_undecided(c, event.seat, doubt)
        return False
    bets.latched, bets.bet, bets.sequence = True, event.bet, event.sequence
    return True


def _contradiction(c: Context, bets: SeatBets, event: ev.SeatLatched | ev.EarlierLatchReported) -> str:
    """Return how a confirmation contradicts an earlier report; "" if it does not. Sequence numbers only rise."""
    spot = c.state.spots.get(event.seat, SpotReport())
    content = "chip" if event.bet else "empty"
    if event.sequence < spot.sequence:
        return f"the sensor confirmed {event.sequence} as its last change, but had reported change {spot.sequence}"
    same_number = event.sequence == spot.sequence and event.seat in c.state.spots and content != spot.content
    if same_number or (bets.sequence and event.sequence == bets.sequence and bets.placed != event.bet):
        return f"the sensor confirmed change {event.sequence} differently from its report"
    return ""


def _contradict(c: Context, seat: int, doubt: str) -> None:
    """A sensor contradicts its own latch: the seat becomes undecided, unless its bet is recorded already."""
    bets = c.state.progressive.seats[seat]
    if c.state.progressive.state == mc.LOCKING:
        bets.latched, bets.bet, bets.doubt = False, None, doubt
        _leave_undecided(c, seat, doubt)
    else:
        c.record_finding(
            "latch_contradicted", f"seat {seat}, round {c.state.round.number}: {doubt}; the first report counts"
        )


def _leave_undecided(c: Context, seat: int, why: str) -> None:
    """Record why it is not known whether a seat has a bet (PB-480); the floorperson decides."""
    undecided = SeatUndecided(f"seat {seat}, round {c.state.round.number}: {why}; the floorperson decides", seat)
    c.record_finding("seat_undecided", f"{undecided.code}: {undecided}")


def _record_late_latch(c: Context, event: ev.SeatLatched | ev.EarlierLatchReported) -> None:
    """Record a confirmation for an undecided seat; it changes nothing."""
    latched_bet = "a bet" if event.bet else "no bet"
    c.record_finding("late_latch", f"seat {event.seat} confirmed {latched_bet} too late; the floorperson decides")


def on_seat_lock_refused(c: Context, event: ev.SeatLockRefused) -> None:
    """A sensor refuses its lock: the floorperson decides at once."""
    bets = c.state.progressive.seats.get(event.seat)
    if bets is None or bets.lock != event.lock or bets.latched:
        return
    if not _undecided(c, bets):
        reason = f" (PB-{event.code})" if event.code else ""
        _leave_undecided(c, event.seat, f"the sensor refused the lock{reason}")
    bets.refused = True


def on_lock_timeout(c: Context) -> None:
    """The time to confirm is over: seats without a confirmation are undecided, and the floorperson is asked."""
    if c.state.progressive.state != mc.LOCKING or c.state.progressive.overdue:
        return
    for seat, bets in c.state.progressive.seats.items():
        if _waits(c, bets):
            _leave_undecided(c, seat, "the sensor did not confirm its lock in time")
    c.state.progressive.overdue = True


def on_late_bet(c: Context, event: ev.LateBet) -> None:
    """A chip on a locked sensor does not count and is returned."""
    c.record_finding(
        "late_bet", f"seat {event.seat}: a chip was placed after the lock-out; it does not count and is returned"
    )
    if event.seat not in c.state.late_chips:
        c.state.late_chips.append(event.seat)


def seat_entry_evidence(c: Context) -> tuple[str, ...]:
    """Return what the dealer confirms by entering the seats: chips or cash, seated players, boxes per player."""
    paid = "cash_converted" if c.edition.verbal_cash else "chips_only"
    seated = ("seated",) if c.clauses("seated") else ()
    return (paid, *seated, f"boxes_at_most_{c.submission.adjacent_boxes}")


# --- advancing -------------------------------------------------------------------------------------------------------


def advance(c: Context) -> None:
    """Advance as far as wagers and bets allow; return late chips at any time."""
    for seat in c.state.late_chips:
        c.ask("late_chip", "dealer", "returned", seat=seat, clauses=c.clauses("lockout"))
    if c.state.round.state != mc.NO_MORE_BETS or c.is_round_stopped:
        return
    if not c.state.round.seats_entered:
        duties = ("seats", "instruments", "seated", "boxes", "no_more_bets")
        c.ask("seats", "dealer", "done", "nobody", seats=True, evidence=seat_entry_evidence(c),
              clauses=tuple(clause for duty in duties for clause in c.clauses(duty)))  # fmt: skip
    if c.has_progressive:
        _advance_bets(c)
    if not c.state.round.seats_entered or (c.has_progressive and c.state.progressive.state != mc.VERIFIED):
        return
    stray = (
        [seat for seat in c.state.progressive.accepted if seat not in c.state.round.seats] if c.has_progressive else []
    )
    if stray:
        for seat in stray:
            c.state.progressive.seats[seat].bet = False
            c.record_finding(
                "bet_without_wager",
                f"seat {seat}: a progressive bet without a wager; it does not count and is returned",
            )
            progressive_bets.return_bets(c, [seat], c.clauses("seats"))
            open_hold(c, "bet_without_wager", seat=seat)
    elif boxes.ask_players(c) and side_wagers.ask_entries(c) and side_wagers.ask_lammers(c):
        c.fire_round("lock")


def _advance_bets(c: Context) -> None:
    progressive, rules = c.state.progressive, c.edition.progressive
    assert rules is not None
    if progressive.state == mc.LOCKING and all(bets.latched for bets in progressive.seats.values()):
        c.set_timer("lock", None)
        c.fire_progressive("latched")
    for seat, bets in progressive.seats.items():
        if _undecided(c, bets):
            c.ask("seat_undecided", "floorperson", "bet", "no_bet", seat=seat, clauses=c.clauses("lockout"))
    if progressive.state != mc.BETS_LOCKED:
        return
    if not progressive.accepted:
        c.fire_progressive("collect")
        c.fire_progressive("verify")
    elif rules.start_key and not c.state.round.started:
        c.ask("start_game", "dealer", clauses=c.clauses("lockout"))
    else:
        progressive_bets.accept_bets(c)
        _refuse_unreasonable(c)
        if c.is_round_stopped:
            return
        _light(c)
        c.ask("chips", "dealer", number=rules.chips_equal_bets, clauses=c.clauses("chips"))


def _refuse_unreasonable(c: Context) -> None:
    """A latched bet that was not recorded does not count: its chip is returned, and a floorperson decides."""
    for seat in c.state.progressive.accepted:
        if seat not in c.state.money.bets:
            c.state.progressive.seats[seat].bet = False
            open_hold(c, "unreasonable_contribution", seat=seat)


def _light(c: Context) -> None:
    """Turn on the light of every accepted bet."""
    for sensor in c.sensors:
        seat = seat_of(sensor)
        bets = c.state.progressive.seats[seat]
        if bets.bet and bets.lock and not bets.lit and not c.reasons_against("light", sensor, seat=seat):
            bets.lit = True
            c.issue_command("light", sensor, number=bets.sequence)


# --- answers ----------------------------------------------------------------------------------------------------------


def check_seats(c: Context, _prompt: Prompt, answer: ev.Answer) -> str | None:
    """Return an objection to the entered seats: each must exist, appear once, and not be barred."""
    if answer.choice == "nobody":
        return None
    allowed = range(1, c.submission.seats + 1)
    if not answer.seats or len(set(answer.seats)) != len(answer.seats) or any(s not in allowed for s in answer.seats):
        clause = c.edition.seats.clause
        return f"enter at least one seat from 1 to {c.submission.seats}, each once ({clause})"
    if c.submission.mid_shoe_entry_ban and c.state.regulars is not None:
        barred = [seat for seat in answer.seats if seat not in c.state.regulars]
        if barred:
            clause = c.clause("entry_ban")
            return f"seat {barred[0]} sat out a round: wait for the shuffle, or a floorperson readmits it ({clause})"
    return None


def _seats(c: Context, _prompt: Prompt, answer: ev.Answer) -> None:
    if answer.choice == "nobody":
        call_off(c)
        return
    c.state.round.seats = tuple(sorted(answer.seats))
    c.state.round.seats_entered = True
    optional_wagers.drop_without_main_wager(c)


def call_off(c: Context) -> None:
    """End the round before a card is dealt, because no seat has a wager."""
    progressive_bets.void_bets(c, c.clauses("seats"))
    close_bets(c)
    c.fire_round("void")


def _seat_decided(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    assert prompt.seat is not None
    bets = c.state.progressive.seats[prompt.seat]
    bets.latched, bets.bet, bets.lock = True, answer.choice == "bet", 0
    why = bets.doubt or ("the sensor refused the lock" if bets.refused else "the sensor did not confirm in time")
    c.record_finding("seat_decided", f"seat {prompt.seat}: {why}; the floorperson decided {answer.choice}")


def _started(c: Context, _prompt: Prompt, _answer: ev.Answer) -> None:
    c.state.round.started = True


def _chips(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    """Compare the collected chips with the accepted bets; a difference opens a hold."""
    accepted = len(c.state.progressive.accepted)
    c.fire_progressive("collect")
    if not prompt.number or answer.number == accepted:
        c.fire_progressive("verify")
        return
    c.record_finding("chips_differ", f"{answer.number} chips were collected, {accepted} bets were accepted")
    c.fire_progressive("recount")
    open_hold(c, "chips_differ")


def _late_chip(c: Context, prompt: Prompt, _answer: ev.Answer) -> None:
    """The late chip was returned to its player."""
    assert prompt.seat is not None
    c.state.late_chips.remove(prompt.seat)


ANSWERS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], None]]] = {
    "seats": _seats,
    "seat_undecided": _seat_decided,
    "start_game": _started,
    "chips": _chips,
    "late_chip": _late_chip,
}
CHECKS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], str | None]]] = {"seats": check_seats}
