"""The slots of the core: service state by events, people's orders about devices, and commands that end. No device talk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.service import ABSENT, FAULTED, SIGNED, UNSIGNED, UNVERIFIED
from table_controller.table import machines as mc
from table_controller.table.irregularities import irregular

if TYPE_CHECKING:
    from table_controller.table import events as ev
    from table_controller.table.context import Context

_MAY_ORDER: Final = {
    "give_up": ("floorperson",), "sign": ("floorperson",), "repair": ("technician",),
    "clear": ("technician", "floorperson"), "acknowledge": ("floorperson",),
}  # fmt: skip


def changed(c: Context, event: ev.SlotChanged) -> None:
    """A device's link or report changed: move its service state, and see what that means for the round."""
    slot = c.state.slots[event.slot]
    unsettled = any(i.slot == event.slot and i.unknown for i in c.state.commands.values())
    if event.trigger == "verify" and (slot.state != UNVERIFIED or unsettled):
        return
    if event.trigger == "doubt" and slot.state in (ABSENT, UNSIGNED, SIGNED):
        return
    if event.trigger == "fault" and slot.state == ABSENT:
        return
    mc.fire(mc.SERVICE, slot, event.trigger)
    c.moved(f"slot {event.slot}", slot.state)
    dealing = c.state.round.state in (mc.DEALING, mc.STUB_CHECK) and event.slot == c.shoe and c.uses_shoe
    if event.trigger == "vanish" and dealing and not _held(c, event.slot):
        irregular(c, "shoe_fault", slot=event.slot, deck=slot.deck)
    elif event.trigger == "vanish" and event.slot == c.shuffler and slot.ran and not _held(c, event.slot):
        irregular(c, "shuffler_fault", slot=event.slot, deck=slot.deck)


def _held(c: Context, slot: str) -> bool:
    return any(hold.slot == slot for hold in c.state.holds.values())


def ordered(c: Context, event: ev.SlotOrdered) -> None:
    """People do something about a device, each what their role may."""
    if event.who.role not in _MAY_ORDER[event.act]:
        c.refuse(f"{event.act} is for: {', '.join(_MAY_ORDER[event.act])}")
        return
    slot = c.state.slots.get(event.slot)
    if slot is None or not mc.may(mc.SERVICE, slot, event.act):
        c.refuse(f"{event.slot} cannot be ordered to {event.act} as it is")
        return
    if event.act in ("sign", "acknowledge", "clear") and _held(c, event.slot):
        c.refuse(f"{event.slot}: an irregularity is open; its own questions lead back")
        return
    mc.fire(mc.SERVICE, slot, event.act)
    c.moved(f"slot {event.slot}", slot.state)
    if event.act == "give_up":
        irregular(c, "device_unusable", slot=event.slot)


def command_ended(c: Context, event: ev.CommandEnded) -> None:
    """A command has ended, or nobody knows: then it stays open, and its device serves nobody until it was asked."""
    issued = c.state.commands.get(event.command)
    if issued is None:
        return
    if event.outcome == "unknown":
        issued.unknown = True
        slot = c.state.slots[issued.slot]
        if mc.may(mc.SERVICE, slot, "doubt"):
            mc.fire(mc.SERVICE, slot, "doubt")
            c.moved(f"slot {issued.slot}", slot.state)
        return
    del c.state.commands[event.command]
    faulted = c.state.slots[issued.slot].state == FAULTED
    if event.outcome == "failed" and not faulted and issued.act not in ("stop", "lock") and not _held(c, issued.slot):
        irregular(c, "command_failed", slot=issued.slot)
