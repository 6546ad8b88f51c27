"""Mutants of a shoe that identifies cards (SO-70 up): what it releases, when it refuses, and when it forgets."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from devices.shoe import messages as m
from simulators.mutants.mutant_tools import (
    MutantGroup,
    Real,
    event,
    event_twice,
    kept,
    method,
    no_event,
    refusal,
    skipped,
    wrap,
)
from simulators.mutants.shoe import R, S

GROUP: Final = MutantGroup(m.KIND)
row = partial(GROUP.row, model="shoe-identifying")
mutant_method = partial(GROUP.method, model="shoe-identifying")
by_hand = partial(GROUP.row, model="shoe-manual-identifying")


# --- what it releases -------------------------------------------------------------------------------------------------


row("SO-70", "releases-twice", "One release sends its cards twice.", event_twice(m.CardsReleased))
row("SO-70", "releases-nothing", "A release is done without its cards.", no_event(m.CardsReleased))
row("SO-70", "release-names-no-unit", "A release does not repeat which unit it is about.",
    event(m.CardsReleased, dealt_by=1))  # fmt: skip


@mutant_method("firmware._units.release", "SO-71")
def cards_in_another_order(_: Any, real: Real, dealt_by: int, card: int) -> tuple[bytes, int]:
    """It releases the cards in another than ascending order."""
    cards, unread = real(dealt_by, card)
    return cards[::-1], unread


row("SO-71", "one-card-withheld", "It counts a card that it read as unread.",
    event(m.CardsReleased, cards=lambda e: e.cards[1:], unread=lambda e: e.unread + 1), also="SO-81")  # fmt: skip


@mutant_method("firmware._units.release", "SO-72")
def release_once(units: Any, real: Real, dealt_by: int, card: int) -> Any:
    """It forgets a unit as soon as it has released it."""
    released = real(dealt_by, card)
    units._units.pop((dealt_by, card))
    units._dealt.append(dealt_by)
    return released


row("SO-73", "no-unit-is-forgotten", "What it never dealt, it claims to have forgotten.",
    refusal(m.ReleaseCards, R.NO_SUCH_UNIT, R.UNIT_FORGOTTEN))  # fmt: skip


@GROUP.mutant("SO-74", also="SO-73 SO-77 SO-78 SO-79 SO-82", model="shoe-identifying")
def sends_unordered_cards(machine: Any) -> None:
    """It sends the cards of every stack as soon as the stack is dealt."""
    units = machine.firmware._units

    def end_stack(real: Real) -> None:
        dealt_by = units._open
        real()
        machine.board.emit(m.CardsReleased(dealt_by, dealt_by, 0, *units.release(dealt_by, 0)))

    wrap(units, "end_stack", end_stack)


row("SO-75", "stack-in-the-slot-released", "It releases a stack that nobody has taken.",
    refusal(m.ReleaseCards, R.SLOT_OCCUPIED))  # fmt: skip
row("SO-76", "release-is-a-fault", "While it deals it reports that it has to be cleared before a release.",
    refusal(m.ReleaseCards, R.BUSY, R.NEEDS_CLEARING, state=S.DISPENSING))  # fmt: skip
row("SO-81", "guesses-a-card", "For a card that it cannot read it reports the next free value.",
    event(m.CardsReleased, when=lambda e: e.unread, unread=0,
          cards=lambda e: bytes(sorted([*e.cards, next(v for v in range(53) if v not in e.cards)]))),
)  # fmt: skip
row("SO-82", "two-of-one-are-fine", "It releases a stack although one card was identified twice.",
    method("firmware._units._has_duplicate", lambda *_: False))  # fmt: skip


# --- when it forgets --------------------------------------------------------------------------------------------------


row("SO-77", "cards-outlive-their-block", "When it loads another block it keeps the values of the one before.",
    kept("firmware._begin", "firmware._units._units"))  # fmt: skip
by_hand("SO-77", "cards-outlive-their-round", "When a round begins it keeps the values of the one before.",
    kept("firmware._units.begin", "firmware._units._units"))  # fmt: skip
row("SO-78", "cards-outlive-a-halt", "A halt makes it forget nothing.",
    skipped("firmware._erase_values", lambda firmware: firmware.state in (S.DISPENSING, S.HALTED)))  # fmt: skip
row("SO-79", "cards-outlive-an-open-door", "Somebody who opens its door makes it forget nothing.",
    skipped("firmware._erase_values", lambda firmware: firmware._mechanics.door_open))  # fmt: skip
row("SO-80", "a-bench-gets-the-cards-of-a-table", "A bench tool gets what was dealt before it came.",
    skipped("firmware._erase_values", lambda firmware: firmware.state is S.READY and not firmware._mechanics.door_open),
)  # fmt: skip
