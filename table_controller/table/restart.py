"""The box starts again, or can go on no more: what is still known, what is made safe first, and who is asked.

What becomes of a command in doubt is decided in `service`, once its device was asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.rulebook import DEFAULT_READING
from table_controller.table import machines as mc
from table_controller.table.betting import connected, seat_of
from table_controller.table.decisions import Command, Found
from table_controller.table.irregularities import irregular
from table_controller.table.state import Hold, Issued

if TYPE_CHECKING:
    from table_controller.table import events as ev
    from table_controller.table.context import Context

# Every start has its own numbers, far from all that an earlier one can have given out, recorded or not. 32 bits are
# more than one start can use up, and leave 31 for the starts of a box.
BOOT_SHIFT: Final = 32
# So long (s) may sensors take to come back and confirm a lock that the box's end cut in half.
RESTART_PATIENCE: Final = 30.0
# What moves, or lets something be moved, and can be told to stop.
STOPPABLE: Final = ("shuffler", "shoe", "shaker")
_RESTARTED: Final = "box_restarted"


def started(c: Context, event: ev.BoxStarted) -> None:
    """Nothing is known but the journal: every device is unseen, every command in doubt, a round stands still."""
    first = event.boot << BOOT_SHIFT
    c.state.lost = (c.state.next_id, max(c.state.next_id, first))
    c.state.next_id = max(c.state.next_id, first)
    for name, slot in c.state.slots.items():
        c.fire_slot(name, "vanish")
        slot.safe_due = True
    for issued in c.state.commands.values():
        issued.unknown = True
    c.state.copy_awaited = False  # this start says anew whether it has a copy to wait for
    c.state.signs.clear()  # what they show now, nobody has seen
    c.state.button_seen = None if c.start_slot is not None else c.state.button_seen
    if c.state.round.state == mc.BETTING and c.progressive:
        _close(c)
    elif c.state.progressive.state == mc.LOCKING and not c.state.progressive.overdue:
        c.timer("lock", RESTART_PATIENCE)
    if c.under_way:
        _ask(c)
    if event.clock_back:
        _clock_back(c)


def _close(c: Context) -> None:
    """Bets were open: what lies there when the sensors are locked, at once when they appear, is what was bet."""
    c.fire_round("close")
    c.fire_progressive("lock")
    c.timer("lock", RESTART_PATIENCE)


def _ask(c: Context) -> None:
    """No text says what becomes of a round that the box left half-way: it stands, and the floorperson decides."""
    open_ = next((hold for hold in c.state.holds.values() if hold.trigger == _RESTARTED and hold.this_round), None)
    if open_ is None:
        irregular(c, _RESTARTED)
    elif "choose" not in open_.steps:
        open_.steps.insert(0, "choose")  # decided before; since then nobody has watched again


def _clock_back(c: Context) -> None:
    """The clock was set back: no age can be proved by it, and no round opens before a floorperson knows."""
    text = "the clock shows less than before the start; what was in use over a power-off counts as expired"
    c.finding("clock_back", text)
    hold = Hold(c.fresh_id(), "clock_back", (DEFAULT_READING,), ["acknowledge"], ("continue_round",))
    c.state.holds[hold.id] = hold
    c.out.append(Found(hold.id, hold.trigger, hold.outcomes, hold.clauses))


def appeared(c: Context, name: str) -> None:
    """A device is there again: before anything else it is stopped or locked, whatever it does."""
    slot = c.state.slots[name]
    if slot.kind == "bet_sensor":
        connected(c, seat_of(name))
        _lock(c, name)
    elif slot.safe_due and slot.kind in STOPPABLE and not (slot.kind == "shoe" and c.state.round.counting):
        c.command("stop", name, safe=True)  # but a manual shoe moves nothing, and its count of the round must go on
    slot.safe_due = False


def _lock(c: Context, name: str) -> None:
    """Lock a sensor that may be open. A lock that nobody has confirmed goes out once more as it was.

    It may: a lock only closes, and the same lock gets the same answer.
    """
    number, bets = c.state.round.number, c.state.progressive.seats.get(seat_of(name))
    if bets is not None and c.state.progressive.state == mc.LOCKING and not bets.latched:
        if not bets.lock:
            bets.lock = c.command("lock", name, number=number, safe=True)
        else:
            c.state.commands[bets.lock] = Issued(name, "lock", number)
            c.out.append(Command(bets.lock, name, "lock", number, safe=True))
    elif c.state.progressive.state == mc.CLOSED and c.state.slots[name].safe_due and number:
        c.command("lock", name, number=number, safe=True)


def halted(c: Context, _event: ev.BoxHalted) -> None:
    """The box stops, in order or because nothing can be recorded any more: stop what moves, lock what is open.

    Bets that were open are closed by it, as by a start: what the sensors confirm is what was bet.
    """
    if c.state.round.state == mc.BETTING and c.progressive:
        _close(c)
    for name, slot in c.state.slots.items():
        if slot.kind in STOPPABLE and c.in_flight(name):
            c.command("stop", name, safe=True)
        elif slot.kind == "bet_sensor" and c.state.progressive.state == mc.LOCKING:
            _lock(c, name)
