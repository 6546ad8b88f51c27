"""Other devices, or another way to deal, than a journal's table had: what differs, and the state that goes on.

Two people accept such a change between rounds (`pitbox config accept`). Money, rounds, revoked keys and decks outside
of devices go on. Nothing may be inside a device that is taken away, and no deck may be at the table when the cards are
dealt, shuffled or started in another way from then on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from firmware_bridge.errors import DeviceChangeRefused
from table_controller.table import machines as mc
from table_controller.table.state import Slot, State

if TYPE_CHECKING:
    from table_controller.table.core import Table

_METHODS: Final = ("dealing", "shuffling", "start")
# What the state holds of the decks and the shoe in use; with another way to deal it begins anew.
_OF_THE_DEAL: Final = (
    "last_deck", "shoe_over", "shoe_ordered", "cut_first", "cover_seat_due", "begun", "regulars", "uncounted",
    "burn_shoe", "burn_dealer", "button_seen",
)  # fmt: skip
# And of the dice, which leave with their shaker.
_OF_THE_SHAKER: Final = ("dice", "shaker_for", "lid_off")


def differences(state: State, table: Table) -> list[str]:
    """Return what a configured table has other than a journal's state, a line each; none: the same devices."""
    old, new = state.slots, table.state.slots
    found = [f"removed: {name} ({slot.kind})" for name, slot in old.items() if name not in new]
    found += [f"added: {name} ({slot.kind})" for name, slot in new.items() if name not in old]
    found += [
        f"other kind: {name} ({old[name].kind} -> {slot.kind})"
        for name, slot in new.items()
        if name in old and old[name].kind != slot.kind
    ]
    for method in _METHODS:
        before, after = getattr(state, method), getattr(table.state, method)
        found += [f"{method}: {before or 'none'} -> {after or 'none'}"] if before != after else []
    return found


def other_devices(state: State, table: Table) -> State:
    """Return the state for a table with other devices; DeviceChangeRefused says all that is against it."""
    gone = [name for name, slot in state.slots.items() if _leaves(name, slot, table)]
    against = [why for name in gone for why in _inside(state, name)]
    methods = [name for name in _METHODS if getattr(state, name) != getattr(table.state, name)]
    at_table = [deck.name for deck in state.decks.values() if deck.state != mc.REMOVED]
    if methods and at_table:
        against.append(
            f"{' and '.join(methods)} changes with {', '.join(at_table)} at the table: start the box with the old "
            "table.toml, have the floorperson remove every deck (pitbox submit order order=remove_deck deck=…), stop it"
        )
    if state.progressive.state != mc.CLOSED and any(state.slots[name].kind == "bet_sensor" for name in gone):
        against.append("progressive bets are not settled")
    if against:
        raise DeviceChangeRefused("; ".join(against))
    slots = {
        name: state.slots[name] if name in state.slots and name not in gone else Slot(slot.kind)
        for name, slot in table.state.slots.items()
    }
    fresh = (*_METHODS, *(_OF_THE_DEAL if methods else ()))
    fresh += _OF_THE_SHAKER if any(state.slots[name].kind == "shaker" for name in gone) else ()
    return replace(
        state,
        slots=slots,
        prompts={id_: prompt for id_, prompt in state.prompts.items() if prompt.slot not in gone},
        spots={seat: spot for seat, spot in state.spots.items() if f"bet_sensor.{seat}" not in gone},
        signs={sign: cause for sign, cause in state.signs.items() if sign not in gone},
        enrolled={slot: key for slot, key in state.enrolled.items() if slot not in gone},
        **{name: getattr(table.state, name) for name in fresh},
    )


def _leaves(name: str, slot: Slot, table: Table) -> bool:
    new = table.state.slots.get(name)
    return new is None or new.kind != slot.kind


def _inside(state: State, name: str) -> list[str]:
    """Return why a device may not be taken away: what is inside it, and what is open at it."""
    slot, found = state.slots[name], []
    places = {name, *(f"{name}/{part}" for part in ("gate", "intake", "path", "store"))}
    decks = {deck.name for deck in state.decks.values() if deck.place in places}
    decks |= {deck for deck, held in state.book.held.items() for place in held if place.partition("/")[0] == name}
    decks |= {slot.deck} if slot.deck is not None else set()
    if decks:
        found.append(f"{name} is removed and holds cards of {', '.join(sorted(decks))}")
    elif slot.intake:
        found.append(f"{name} is removed and has cards in its intake")
    if any(hold.slot == name for hold in state.holds.values()):
        found.append(f"{name} is removed, and an irregularity there is not cleared")
    return found
