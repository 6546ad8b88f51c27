"""The slots: their service state, people's orders about devices, and the ends of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from devices.service import FAULTED, UNVERIFIED, report_counts
from table_controller.table import card_release, meter_visibility, restart, return_to_service, shuffling, stub
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.betting import seat_of
from table_controller.table.irregularities import CoreTrigger, open_hold, open_holds
from table_controller.table.signers import SLOT_ACT_SIGNERS
from table_controller.table.state import TRAY
from table_controller.table.view import slot_label

if TYPE_CHECKING:
    from table_controller.rulebook import Trigger
    from table_controller.table.context import Context
    from table_controller.table.state import IssuedCommand

# Kinds of device whose fault with cards inside has a rule of its own.
_FAULTS: Final[dict[str, Trigger]] = {"shuffler": "shuffler_fault", "shoe": "shoe_fault"}
# Commands whose result arrives as an event before their end. Without that event the result is not known.
_RESULT_REQUIRED: Final = ("shuffle", "load", "dispense", "draw")
ResultEvent = ev.ShuffleEnded | ev.ShuffleFailed | ev.ShoeLoaded | ev.DiscardsTakenIn | ev.NumberDrawn
RESULT_EVENTS: Final[dict[type, str]] = {
    ev.ShuffleEnded: "shuffle", ev.ShuffleFailed: "shuffle", ev.ShoeLoaded: "load", ev.DiscardsTakenIn: "load",
    ev.NumberDrawn: "draw",
}  # fmt: skip
# Reports of cards that come out once per order: a second report means that other cards came out.
OUT_ONCE: Final[dict[type, tuple[tuple[str, ...], CoreTrigger]]] = {
    ev.StackOut: (("dispense",), "unordered_stack"),
    ev.StubOut: (("give_stub",), "unordered_stack"),
    ev.DeckGivenOut: (("eject", "clear_out"), "unknown_cards"),
    ev.StackInserted: (("insert",), "unknown_cards"),
}


def record_result(c: Context, act: str, event: ResultEvent) -> None:
    """Record that a device reported the result of a command, before the command ends."""
    for issued in c.state.commands.values():
        if issued.slot == event.slot and issued.act == act:
            issued.is_result_reported = True


def is_duplicate_report(c: Context, event: ev.Event) -> bool:
    """Return whether an event of `OUT_ONCE` reports for the second time that cards came out; open a hold if so."""
    acts, trigger = OUT_ONCE[type(event)]
    name = cast("ev.StackOut | ev.StubOut | ev.DeckGivenOut | ev.StackInserted", event).slot
    orders = [issued for issued in c.state.commands.values() if issued.slot == name and issued.act in acts]
    if not orders or not all(issued.is_result_reported for issued in orders):
        for issued in orders:
            issued.is_result_reported = True
        return False
    named = c.state.slots[name].deck or (c.state.round.deck if name == c.source else None)
    c.record_finding("told_twice", f"{slot_label(name)} reported cards out twice for one order", named)
    if trigger == "unknown_cards":
        for deck in c.state.decks.values():
            out = deck.place == TRAY or c.is_between_machines(deck)
            if out and deck.state in (mc.SHUFFLED, mc.READY):
                deck.verified = False  # either deck may have come out first, so neither is verified
                named = deck.name
    open_hold(c, trigger, slot=name, deck=named)
    return True


def on_slot_changed(c: Context, event: ev.SlotChanged) -> None:
    """A device's link or report changed: update its service state, and open a hold if its cards are in doubt."""
    slot = c.state.slots[event.slot]
    in_doubt = any(i.slot == event.slot and i.unknown for i in c.state.commands.values())
    if not report_counts(slot.state, event.trigger, unsettled=in_doubt or slot.return_procedure is not None):
        return
    seen = slot.kind == "meter_sign" and c.is_meter_visible
    was_testing = slot.is_testing
    c.fire_slot(event.slot, event.trigger)
    if event.trigger == "fault":
        return_to_service.on_fault(c, event.slot)
    if event.trigger == "vanish":
        return_to_service.void_evidence(c, event.slot, "its link was lost, and nobody observed the machine")
    if event.trigger == "appear":
        slot.identifies = False  # until it reports that it does
        restart.make_safe(c, event.slot)
    if event.trigger in ("vanish", "fault") and _cards_in_doubt(c, event, was_testing=was_testing):
        open_hold(c, _FAULTS[slot.kind], slot=event.slot, deck=slot.deck)
    if event.trigger in ("appear", "vanish") and event.slot == c.start_slot and c.state.round.total is None:
        c.state.round.asked_start = c.state.round.start is not None  # it is not known what was armed or drawn
    if event.trigger in ("appear", "vanish") and slot.kind == "button":
        c.state.button_seen = None
    if slot.kind == "meter_sign":
        meter_visibility.on_slot_changed(c, event, seen=seen)


def _cards_in_doubt(c: Context, event: ev.SlotChanged, *, was_testing: bool) -> bool:
    """Whether the cards inside are in doubt: the device faulted, or its link failed while it moved them.

    A machine that faults in test mode moved no cards of the table.
    """
    slot = c.state.slots[event.slot]
    if slot.kind not in _FAULTS or slot.deck is None or (was_testing and event.trigger == "fault"):
        return False
    moving = slot.kind == "shuffler" and c.state.decks[slot.deck].state == mc.IN_DEVICE and slot.ran
    dealing = c.state.round.state == mc.DEALING and slot.deck == c.state.round.deck
    return event.trigger == "fault" or moving or dealing or c.is_between_machines(c.state.decks[slot.deck])


def on_slot_ordered(c: Context, event: ev.SlotOrdered) -> None:
    """Carry out a person's act on a device, if the role may do it."""
    slot = c.state.slots.get(event.slot)
    if slot is None:
        c.refuse(f"this table has no slot {event.slot}")
        return
    if event.who.role not in SLOT_ACT_SIGNERS[event.act]:
        c.refuse(f"only a {' or '.join(SLOT_ACT_SIGNERS[event.act])} can do {event.act}")
        return
    again = event.act == "acknowledge" and slot.state == UNVERIFIED  # its report was not good: ask for another
    if not again and not mc.can_fire(mc.SERVICE, slot, event.act):
        c.refuse(f"{slot_label(event.slot)} is {slot.state}; {event.act} is not possible")
        return
    reasons = c.reasons_against("return_to_service", event.slot) if event.act == "acknowledge" else ()
    if reasons:
        c.refuse("return_to_service", *reasons)
        return
    if event.act == "give_up":
        report_unusable(c, event.slot)
    else:
        if not again:
            c.fire_slot(event.slot, event.act)
        if event.act == "acknowledge":
            c.try_issue_command("return_to_service", event.slot)


def report_unusable(c: Context, name: str) -> None:
    """Take a device that cannot be used out of service, and open the holds for it and the cards inside."""
    slot = c.state.slots[name]
    deck = slot.deck
    take_out_of_service(c, name)
    given: list[Trigger] = ["device_unusable"]
    if deck is not None and slot.kind in _FAULTS and not c.is_held(slot=name):
        given.append(_FAULTS[slot.kind])
    open_holds(c, given, slot=name, deck=None if len(given) == 1 else deck)


def take_out_of_service(c: Context, slot: str) -> None:
    """Take a device out of service: cancel its commands and stop it."""
    c.fire_slot(slot, "give_up")
    pending = [id_ for id_, issued in c.state.commands.items() if issued.slot == slot]
    armed = slot == c.start_slot and c.state.round.asked_start
    for id_ in pending:
        _undo(c, c.state.commands.pop(id_))
    if (pending or armed) and c.state.slots[slot].kind in restart.STOPPABLE:
        c.issue_command("stop", slot, safe=True)


def on_command_ended(c: Context, event: ev.CommandEnded) -> None:
    """A command ended. With an unknown outcome it stays open, and its device is unverified until it reports."""
    issued = c.state.commands.get(event.command)
    if issued is None:
        return
    slot = c.state.slots[issued.slot]
    if event.outcome == "unknown":
        issued.unknown = True
        if mc.can_fire(mc.SERVICE, slot, "doubt"):
            c.fire_slot(issued.slot, "doubt")
        if issued.act == "insert":  # the cards may be in both machines
            open_hold(c, "shuffler_fault", slot=issued.slot, deck=issued.deck)
        return
    del c.state.commands[event.command]
    if issued.act == card_release.RELEASE:
        card_release.on_release_ended(c, issued, event.outcome, event.reason)
    elif event.outcome == "revoked":
        _undo(c, issued)
        if issued.act == "insert":
            shuffling.free_shoe(c, issued.deck)
    elif event.outcome == "failed":
        _failed(c, issued)
    elif issued.act in ("eject", "clear_out"):
        shuffling.confirm_given_out(c, issued.slot, issued.deck)
    elif issued.act == "insert" and not issued.is_result_reported:
        shuffling.on_insertion_unreported(c, issued.slot, issued.deck)
    elif issued.act in _RESULT_REQUIRED and not issued.is_result_reported:
        (_undo if slot.state == FAULTED else _failed)(c, issued)  # its fault is already reported
    elif issued.act == "give_stub" and not issued.is_result_reported and c.state.dealing == "automated_shoe":
        stub.on_count_lost(c)


def _undo(c: Context, issued: IssuedCommand) -> None:
    """Undo the state of a command that was never sent."""
    match issued.act:
        case "shuffle":
            c.state.slots[issued.slot].ran = False
        case "arm_dice" | "draw":
            c.state.round.asked_start = False
        case "start_round":
            c.state.round.counting = False
        case "give_stub":
            c.state.round.stub_ordered = False
        case "light":
            bets = c.state.progressive.seats.get(seat_of(issued.slot))
            if bets is not None and bets.sequence == issued.number:
                bets.lit = False


def _failed(c: Context, issued: IssuedCommand) -> None:
    """A command failed: open a hold, except for fail-safe commands, which the device's report repeats."""
    if issued.act in ("stop", "lock", "return_to_service", "test"):
        return
    _undo(c, issued)
    kind = c.state.slots[issued.slot].kind
    trigger: Trigger | CoreTrigger = _FAULTS.get(kind, "command_failed")
    deck = c.state.slots[issued.slot].deck or issued.deck
    if not c.is_held(slot=issued.slot) and (deck is not None or kind not in _FAULTS or not issued.unknown):
        open_hold(c, trigger, slot=issued.slot, deck=deck)
