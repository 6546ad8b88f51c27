"""Before the first round of a start: does another box have this table? The second copy knows, or two people answer.

A restore marks the copy. A box that cannot look at its copy cannot see the mark, and two boxes would pay one meter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from table_controller.table import events as ev
    from table_controller.table.context import Context

# Who answers that no other box runs this table; who replaces boxes, and who knows what stands at the table.
_PEOPLE: Final = ("floorperson", "technician")


def awaited(c: Context, _event: ev.CopyAwaited) -> None:
    """A second copy is configured, or was kept before, and this start has not reached it yet."""
    c.state.copy_awaited = True


def reached(c: Context, _event: ev.CopyReached) -> None:
    """The copy is this box's own."""
    c.state.copy_awaited, c.state.copy_kept = False, True


def damaged(c: Context, event: ev.CopyDamaged) -> None:
    """The copy lost something. The table goes on: its journal is whole, and people must bring another disk."""
    c.finding("copy_damaged", event.why)


def confirmed(c: Context, event: ev.CopyAbsenceConfirmed) -> None:
    """Two people answer for it that the copy is out of reach and no other box was made from it."""
    first, second = _PEOPLE
    people = (event.who.role, event.second.role)
    if not c.state.copy_awaited:
        c.refuse("confirm_copy_absent: the second copy is not waited for")
    elif people != _PEOPLE or event.who.same_person(event.second):
        c.refuse(f"confirm_copy_absent is for a {first} with the credential of a {second} besides")
    elif not event.document.strip():
        c.refuse("confirm_copy_absent: no document is named")
    else:
        c.state.copy_awaited = c.state.copy_kept = False
        who = f"{event.who.credential} and {event.second.credential}"
        c.finding("copy_absent", f"rounds open without the second copy, by {who}, {event.document}")
