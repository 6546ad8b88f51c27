"""Restart and halt of the box: what is made safe first, and who is asked.

`service` decides about commands with an unknown outcome, once their devices have reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.rulebook import DEFAULT_READING
from table_controller.table import state_machines as mc
from table_controller.table.betting import forget_spot, seat_of
from table_controller.table.decisions import Command, HoldOpened
from table_controller.table.irregularities import open_hold
from table_controller.table.return_to_service import void_evidence
from table_controller.table.state import INTAKE, Hold, IssuedCommand

if TYPE_CHECKING:
    from table_controller.table import events as ev
    from table_controller.table.context import Context

# Every start has its own range of ids, apart from all ids of earlier starts, recorded or not. 32 bits are more than one
# start can use, and leave 31 bits for the number of starts.
BOOT_SHIFT: Final = 32
# How long (s) sensors may take to reconnect and confirm a lock that a restart interrupted.
RESTART_LOCK_TIMEOUT_S: Final = 30.0
# Devices that accept a stop command.
STOPPABLE: Final = ("shuffler", "shoe", "shaker")
_RESTARTED: Final = "box_restarted"


def on_box_started(c: Context, event: ev.BoxStarted) -> None:
    """After a start only the journal is known: devices are absent, commands have unknown outcomes, a round stops."""
    first = event.boot << BOOT_SHIFT
    c.state.lost = (c.state.next_id, max(c.state.next_id, first))
    c.state.next_id = max(c.state.next_id, first)
    for name, slot in c.state.slots.items():
        c.fire_slot(name, "vanish")
        void_evidence(c, name, "the box was off, and nobody observed the machine")
        slot.safe_due = True
    for issued in c.state.commands.values():
        issued.unknown = True
    c.state.copy_awaited = False  # a new event reports whether this start waits for a copy
    c.state.signs.clear()  # what they show now is not known
    c.state.button_seen = None if c.start_slot is not None else c.state.button_seen
    if c.state.round.state == mc.BETTING and c.has_progressive:
        _close(c)
    elif c.state.progressive.state == mc.LOCKING and not c.state.progressive.overdue:
        c.set_timer("lock", RESTART_LOCK_TIMEOUT_S)
    for deck in c.decks_at_table():
        if c.is_between_machines(deck):  # nobody observed the chute
            if deck.place.endswith(INTAKE):
                open_hold(c, "shoe_fault", slot=c.slot_of("shoe"), deck=deck.name)
            else:
                open_hold(c, "shuffler_fault", slot=c.shuffler, deck=deck.name)
    if c.is_round_under_way:
        _ask(c)
    if event.clock_back:
        _clock_back(c)


def _close(c: Context) -> None:
    """Close bets that were open: each sensor is locked when it connects, and what it latches counts."""
    c.fire_round("close")
    c.fire_progressive("lock")
    c.set_timer("lock", RESTART_LOCK_TIMEOUT_S)


def _ask(c: Context) -> None:
    """Stop a round that a restart interrupted: no regulation covers it, so the floorperson decides."""
    open_ = next((hold for hold in c.state.holds.values() if hold.trigger == _RESTARTED and hold.this_round), None)
    if open_ is None:
        open_hold(c, _RESTARTED)
    elif "choose" not in open_.steps:
        open_.steps.insert(0, "choose")  # decided after an earlier restart; ask again after this one


def _clock_back(c: Context) -> None:
    """The clock was set back, so ages cannot be proved: a floorperson must acknowledge before a round opens."""
    text = "the clock was set back while the box was off; decks and dice in use then count as expired"
    c.record_finding("clock_back", text)
    hold = Hold(c.fresh_id(), "clock_back", (DEFAULT_READING,), ["acknowledge"], ("continue_round",))
    c.state.holds[hold.id] = hold
    c.out.append(HoldOpened(hold.id, hold.trigger, hold.outcomes, hold.clauses))


def make_safe(c: Context, name: str) -> None:
    """Stop or lock a device that connects, before anything else."""
    slot = c.state.slots[name]
    if slot.kind == "bet_sensor":
        forget_spot(c, seat_of(name))
        _lock(c, name)
    elif slot.safe_due and slot.kind in STOPPABLE and not (slot.kind == "shoe" and c.state.round.counting):
        c.issue_command("stop", name, safe=True)  # a manual shoe moves nothing, and must keep its count of the round
    slot.safe_due = False


def _lock(c: Context, name: str) -> None:
    """Lock a sensor that may be open. A lock that is not confirmed is sent again unchanged.

    This is safe: a lock only closes bets, and the same lock gets the same answer.
    """
    number, bets = c.state.round.number, c.state.progressive.seats.get(seat_of(name))
    if bets is not None and c.state.progressive.state == mc.LOCKING and not bets.latched:
        if not bets.lock:
            bets.lock = c.issue_command("lock", name, number=number, safe=True)
        else:
            c.state.commands[bets.lock] = IssuedCommand(name, "lock", number)
            c.out.append(Command(bets.lock, name, "lock", number, safe=True))
    elif c.state.progressive.state == mc.CLOSED and c.state.slots[name].safe_due and number:
        c.issue_command("lock", name, number=number, safe=True)


def on_box_halted(c: Context, _event: ev.BoxHalted) -> None:
    """The box stops, in order or because it cannot record: stop all motion and lock all open bets.

    Open bets are closed as after a start: what the sensors confirm counts.
    """
    if c.state.round.state == mc.BETTING and c.has_progressive:
        _close(c)
    for name, slot in c.state.slots.items():
        if slot.kind in STOPPABLE and c.has_pending_command(name):
            c.issue_command("stop", name, safe=True)
        elif slot.kind == "bet_sensor" and c.state.progressive.state == mc.LOCKING:
            _lock(c, name)
