"""Changes of the devices or of the dealing method of a table: lists what differs, and converts the state.

Two people accept such a change between rounds (`pitbox config accept`). Money, rounds, revoked keys and decks outside
of devices are kept. A removed device must be empty, and no deck may be at the table if the dealing, shuffling or start
method changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from firmware_bridge.errors import DeviceChangeRefused
from table_controller.table import state_machines as mc
from table_controller.table.state import SlotState, TableState

if TYPE_CHECKING:
    from table_controller.table.core import Table

_METHODS: Final = ("dealing", "shuffling", "start")
# Fields of the state about decks and shoe in use; they are reset when the dealing method changes.
_OF_THE_DEAL: Final = (
    "last_deck", "shoe_over", "shoe_ordered", "cut_first", "cover_seat_due", "begun", "regulars", "uncounted",
    "burn_shoe", "burn_dealer", "button_seen",
)  # fmt: skip
# Fields of the state about dice, which are removed with their shaker.
_OF_THE_SHAKER: Final = ("dice", "shaker_for", "lid_off")


def differences(state: TableState, table: Table) -> list[str]:
    """Return the differences between the configured table and the journal's state, one line each."""
    old, new = state.slots, table.state.slots
    lines = [f"removed: {name} ({slot.kind})" for name, slot in old.items() if name not in new]
    lines += [f"added: {name} ({slot.kind})" for name, slot in new.items() if name not in old]
    lines += [
        f"other kind: {name} ({old[name].kind} -> {slot.kind})"
        for name, slot in new.items()
        if name in old and old[name].kind != slot.kind
    ]
    for method in _METHODS:
        before, after = getattr(state, method), getattr(table.state, method)
        lines += [f"{method}: {before or 'none'} -> {after or 'none'}"] if before != after else []
    return lines


def change_devices(state: TableState, table: Table) -> TableState:
    """Return the state for a table with other devices; DeviceChangeRefused names all reasons against it."""
    gone = [name for name, slot in state.slots.items() if _leaves(name, slot, table)]
    objections = [why for name in gone for why in _inside(state, name)]
    methods = [name for name in _METHODS if getattr(state, name) != getattr(table.state, name)]
    at_table = [deck.name for deck in state.decks.values() if deck.state != mc.REMOVED]
    if methods and at_table:
        objections.append(
            f"{' and '.join(methods)} changes with {', '.join(at_table)} at the table: start the box with the old "
            "table.toml, have the floorperson remove every deck (pitbox submit order order=remove_deck deck=…), stop it"
        )
    if state.progressive.state != mc.CLOSED and any(state.slots[name].kind == "bet_sensor" for name in gone):
        objections.append("progressive bets are not settled")
    if objections:
        raise DeviceChangeRefused("; ".join(objections))
    slots = {
        name: state.slots[name] if name in state.slots and name not in gone else SlotState(slot.kind)
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


def _leaves(name: str, slot: SlotState, table: Table) -> bool:
    new = table.state.slots.get(name)
    return new is None or new.kind != slot.kind


def _inside(state: TableState, name: str) -> list[str]:
    """Return why a device may not be removed: cards inside, or an open irregularity."""
    slot, reasons = state.slots[name], []
    places = {name, *(f"{name}/{part}" for part in ("gate", "intake", "path", "store"))}
    decks = {deck.name for deck in state.decks.values() if deck.place in places}
    decks |= {deck for deck, held in state.book.held.items() for place in held if place.partition("/")[0] == name}
    decks |= {slot.deck} if slot.deck is not None else set()
    if decks:
        reasons.append(f"{name} is removed and contains cards of {', '.join(sorted(decks))}")
    elif slot.intake:
        reasons.append(f"{name} is removed and has cards in its intake")
    if any(hold.slot == name for hold in state.holds.values()):
        reasons.append(f"{name} is removed, and an irregularity there is not cleared")
    return reasons
