"""The second copy of the journal: no round opens until the box has reached it, or two people confirm its absence.

A restore on another box marks the copy. A box that cannot read its copy cannot see the mark, and two boxes would run
one meter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.table.signers import COPY_ABSENCE_SIGNERS

if TYPE_CHECKING:
    from table_controller.table import events as ev
    from table_controller.table.context import Context


def on_copy_awaited(c: Context, _event: ev.CopyAwaited) -> None:
    """The box waits for the second copy: configured or used before, and not reached since the start."""
    c.state.copy_awaited = True


def on_copy_reached(c: Context, _event: ev.CopyReached) -> None:
    """The box reached its own copy."""
    c.state.copy_awaited, c.state.copy_kept = False, True


def on_copy_damaged(c: Context, event: ev.CopyDamaged) -> None:
    """The copy is damaged. Play continues, because the journal is complete; people must replace the disk."""
    c.record_finding("copy_damaged", event.why)


def on_copy_absence_confirmed(c: Context, event: ev.CopyAbsenceConfirmed) -> None:
    """Two people confirm that the copy is out of reach and no other box was made from it."""
    first, second = COPY_ABSENCE_SIGNERS
    people = (event.who.role, event.second.role)
    if not c.state.copy_awaited:
        c.refuse("confirm_copy_absent: the box is not waiting for the second copy")
    elif people != COPY_ABSENCE_SIGNERS or event.who.is_same_person(event.second):
        c.refuse(f"confirm_copy_absent needs two people: a {first} and, as the second credential, a {second}")
    elif not event.document.strip():
        c.refuse("confirm_copy_absent: name the document")
    else:
        c.state.copy_awaited = c.state.copy_kept = False
        who = f"{event.who.credential} and {event.second.credential}"
        c.record_finding("copy_absent", f"rounds open without the second copy: confirmed by {who}, {event.document}")
