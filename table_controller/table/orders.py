"""What people order or report without being asked: another dealing method, a reshuffle, an irregularity.

Orders concern methods, decks and an idle table; reports concern irregularities that no device detects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from table_controller.rulebook import TRIGGERS
from table_controller.table import (
    cutting,
    dealing,
    deck_opening,
    decks,
    exposure,
    playing,
    service,
    starting_position,
)
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.irregularities import open_hold, open_ordered_hold
from table_controller.table.signers import SIGNERS
from table_controller.table.view import SHOES, START_KINDS, slot_label

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.rulebook import Trigger
    from table_controller.table.context import Context
    from table_controller.table.decisions import Prompt

# Triggers that only devices or answers to prompts can report.
_NOT_DECLARED: Final = ("stub_wrong", "wrong_start_announced")
_NEEDS_SEAT: Final = ("player_card_exposed", "additional_cards_missed", "player_leaves", "surrender")
_OF_A_PLAYER: Final = ("player_leaves", "surrender")  # not irregularities
_OF_A_DEVICE: Final = ("shuffler_fault", "shoe_fault", "device_unusable")
_DICE: Final = ("dice_not_flat", "die_out_of_shaker")
_FACE_UP: Final = ("face_up_card_first", "face_up_card_more")
# What can be reported when all wagers are settled but the cards are not collected.
_OF_THE_ROUND: Final = ("dealer_hand_misset", "wrong_card_count", "wrong_start_dealt", "other")


# --- reports ----------------------------------------------------------------------------------------------------------


def on_irregularity_reported(c: Context, event: ev.IrregularityReported) -> None:
    """A person reports an irregularity; reopen the round if its cards still show it."""
    refusal = _objection(c, event)
    if refusal is not None:
        c.refuse(refusal)
        return
    if c.are_cards_uncollected and event.trigger in _OF_THE_ROUND:
        playing.reopen_round(c)
    _report(c, event)


def _report(c: Context, event: ev.IrregularityReported) -> None:
    """Apply a valid report."""
    if event.trigger in _FACE_UP:
        dealing.report_face_up(c, event.seat, 2 if event.trigger == "face_up_card_more" else 1)
    elif event.trigger in _DICE:
        starting_position.report_no_roll(c, cast("Trigger", event.trigger), c.start_slot)
    elif event.trigger == "player_leaves":
        assert event.seat is not None
        c.state.round.leaving.append(event.seat)
    elif event.trigger == "surrender":
        assert event.seat is not None
        c.state.round.surrendered.append(event.seat)
    elif event.trigger == "device_unusable":
        assert event.slot is not None
        service.report_unusable(c, event.slot)
    elif event.trigger in _OF_A_DEVICE:
        assert event.slot is not None
        open_hold(c, cast("Trigger", event.trigger), slot=event.slot, deck=c.state.slots[event.slot].deck)
    elif event.trigger == "count_wrong":
        open_hold(c, "count_wrong", deck=event.deck)
    else:
        known = event.trigger in TRIGGERS
        open_hold(c, cast("Trigger", event.trigger) if known else "other", deck=c.state.round.deck, seat=event.seat)


def _device_objection(c: Context, event: ev.IrregularityReported) -> str | None:
    """Return why a report about a device is refused; None if it is not."""
    slot = c.state.slots.get(event.slot or "")
    if slot is None or event.trigger.removesuffix("_fault") not in ("device_unusable", slot.kind):
        return f"{event.trigger} needs the slot of such a device"
    out = event.trigger == "device_unusable" and not mc.can_fire(mc.SERVICE, slot, "give_up")
    return f"{slot_label(event.slot or '')} is already out of order" if out else None


def _objection(c: Context, event: ev.IrregularityReported) -> str | None:
    """Return why a report is refused; None if it is not."""
    if event.who.role not in SIGNERS[ev.IrregularityReported]:
        return "only the dealer or a floorperson can report an irregularity"
    if event.trigger not in (*TRIGGERS, *_OF_A_PLAYER, "other") or event.trigger in _NOT_DECLARED:
        return f"people do not report {event.trigger}"
    if event.trigger in _OF_A_DEVICE:
        return _device_objection(c, event)
    if event.trigger == "count_wrong":
        deck = c.state.decks.get(event.deck or "")
        unopened = (mc.RECEIVED, mc.INSPECTED, mc.SHOWN, mc.REMOVED)
        return "count_wrong needs a deck that was opened" if deck is None or deck.state in unopened else None
    late = c.settles_void or (c.are_cards_uncollected and event.trigger in _OF_THE_ROUND)
    if not c.is_round_under_way and (event.trigger in _OF_A_PLAYER or not late):
        return f"{event.trigger}: no round is under way"
    if event.trigger in _DICE and c.state.round.state != mc.STARTING_POSITION:
        return f"{event.trigger}: no roll is due now"
    live = [seat for seat in c.state.round.seats if seat not in c.state.round.dead]
    if event.trigger in _NEEDS_SEAT and event.seat not in live:
        return f"{event.trigger} needs a seat whose hand is in play"
    if event.trigger == "player_leaves" and event.seat in c.state.round.leaving:
        return f"seat {event.seat} has already left"
    if event.trigger == "surrender" and (c.is_round_stopped or not exposure.may_surrender(c, event.seat or 0)):
        return f"seat {event.seat} may not surrender now{c.citation('surrender')}"
    if event.trigger == "additional_cards_missed" and event.seat in c.state.round.second:
        return f"seat {event.seat} has its additional cards"
    if event.trigger == "face_up_card_first" and _one_reported(c):
        return "a face-up card is already reported and not in the rack yet; report another one as face_up_card_more"
    if event.trigger in _FACE_UP and event.seat is None and c.state.dealing == "automated_shoe" and not _stack_known(c):
        return f"{event.trigger}: enter the seat of the stack"
    return None


def _one_reported(c: Context) -> bool:
    """Whether a reported face-up card is not discarded yet."""
    open_ = (hold for hold in c.state.holds.values() if hold.trigger == "face_up_card_first")
    return any("card_discarded" in hold.steps for hold in open_)


def _stack_known(c: Context) -> bool:
    return (
        c.state.round.state != mc.DEALING
        or c.state.round.in_slot is not None
        or c.has_pending_command(c.shoe, "dispense")
    )


def advance(c: Context) -> None:
    """Ask about the wagers of a player who left; where no rule takes them, the hand plays on."""
    if c.state.round.leaving and c.is_round_under_way:
        choices = ("abandoned", "plays_on") if c.clauses("seated") else ("plays_on",)
        for seat in c.state.round.leaving:
            c.ask("player_left", "floorperson", *choices, seat=seat, clauses=c.clauses("leaves"))


def _left(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    """A player left: the floorperson takes the wagers as abandoned, or lets the hand play on."""
    assert prompt.seat is not None
    c.state.round.leaving.remove(prompt.seat)
    if answer.choice == "abandoned":
        c.state.round.dead.append(prompt.seat)
        c.record_finding(
            "abandoned", f"the player of seat {prompt.seat} left the round; the wagers are lost ({prompt.clauses[0]})"
        )


# --- orders -----------------------------------------------------------------------------------------------------------


def on_ordered(c: Context, event: ev.Ordered) -> None:
    """Carry out a floorperson's order, or refuse it with the reasons."""
    if event.who.role not in SIGNERS[ev.Ordered]:
        c.refuse(f"only a floorperson can order {event.order}{c.citation(event.order)}")
        return
    refusal = _ORDERS[event.order](c, event)
    if refusal is not None:
        c.refuse(f"{event.order}: {refusal}")


def _remove_deck(c: Context, event: ev.Ordered) -> str | None:
    deck = c.state.decks.get(event.deck or "")
    if deck is None or deck.state == mc.REMOVED:
        return "this deck is not at the table"
    if deck.name == c.state.round.deck:
        return "the current round is dealt from it"
    if c.is_held(deck=deck.name):
        return "an irregularity of this deck is open; answer its questions"
    open_ordered_hold(c, "removal_ordered", "remove_deck", deck.name, c.clauses("composition"))
    return None


def _reshuffle(c: Context, event: ev.Ordered) -> str | None:
    deck = c.state.decks.get(event.deck or "")
    if deck is None or deck.state not in (mc.SHUFFLED, mc.READY, mc.IN_PLAY) or c.is_held(deck=deck.name):
        return "this deck is not shuffled, or an irregularity holds it"
    if deck.state == mc.IN_PLAY and c.shuffles_per_shoe:
        c.state.shoe_ordered = c.state.shoe_ordered or not c.state.shoe_over
        c.state.shoe_over = True  # after this round
        return None
    if c.is_round_under_way and deck.name == c.state.round.deck:
        return "the current round is dealt from it"
    deck.ordered = True
    open_ordered_hold(c, "reshuffle_ordered", "reshuffle", deck.name, c.clauses("floor_order"))
    return None


def _recut(c: Context, event: ev.Ordered) -> str | None:
    return cutting.recut(c, c.state.decks.get(event.deck or ""))


def _table_idle(c: Context, _event: ev.Ordered) -> str | None:
    if c.state.round.state != mc.IDLE or c.state.holds:
        return "a round or an irregularity is open"
    if c.is_lifted(c.edition.idle.clause):
        return f"not needed with the approved device ({c.edition.approved_device.clause})"
    deck_opening.begin_idle(c)
    return None


def _dealing_method(c: Context, event: ev.Ordered) -> str | None:
    """Change the dealing method: to replace a device that is out of order and signed, and back again."""
    method = c.edition.method(event.method or "")
    if method is None:
        return f"this game is dealt by {', '.join(each.name for each in c.edition.deal.methods)}"
    if method.name == c.state.dealing:
        return "this method is already in use"
    back = method.name == c.submission.dealing
    device = c.slot_of("shoe") if c.submission.dealing in SHOES else c.shuffler
    reasons = c.reasons_against("use", device) if back else c.reasons_against("method", device)
    if reasons:
        c.refuse("dealing_method", *reasons)
        return None
    if method.needs_automated_shuffler and (c.state.shuffling != "machine" or not c.is_in_service(c.shuffler)):
        return f"it needs an automated shuffler in use ({method.shuffler_clause}, X15)"
    if method.name in ("automated_shoe", "continuous_shuffler") and not back:
        return "this table has no such device"
    c.state.dealing = method.name
    _out_of_place(c)
    return None


def _start_method(c: Context, event: ev.Ordered) -> str | None:
    """Change the method for the starting position, between rounds only."""
    start_name = next((start.name for start in c.edition.starts if start.name == event.method), None)
    if start_name is None:
        return "this game has no such starting-position method"
    slot = c.slot_of(START_KINDS[start_name])
    reasons = c.reasons_against("use", slot)
    if reasons:
        c.refuse(f"start_method{c.citation('one_start')}", *reasons)
        return None
    if slot is None and start_name != "flat_button":
        return "this table has no such device"
    c.state.start = start_name
    return None


def _by_hand(c: Context, _event: ev.Ordered) -> str | None:
    """Shuffle by hand: to replace a shuffler that is out of order and signed, or where its second batch is missing."""
    if c.state.shuffling == "hand":
        return "cards are already shuffled by hand"
    second = c.edition.second_set
    required = second is not None and second.required and c.submission.two_decks
    alone = required and len(c.decks_at_table()) < 2
    reasons = tuple(r for r in c.reasons_against("method", c.shuffler) if not (alone and r.key == "device_not_signed"))
    if reasons:
        c.refuse("shuffle_by_hand", *reasons)
        return None
    c.state.shuffling = "hand"
    return None


def _by_machine(c: Context, _event: ev.Ordered) -> str | None:
    if c.state.shuffling == "machine" or c.shuffler is None or c.submission.shuffler == "none":
        return "this table has no other shuffling method"
    reasons = c.reasons_against("use", c.shuffler)
    if reasons:
        c.refuse("shuffle_by_machine", *reasons)
        return None
    c.state.shuffling = "machine"
    return None


def _readmit(c: Context, event: ev.Ordered) -> str | None:
    if not c.submission.mid_shoe_entry_ban or c.state.regulars is None or event.seat in c.state.regulars:
        return "this seat is not barred"
    if event.seat is None or not 1 <= event.seat <= c.submission.seats:
        return "there is no such seat"
    c.state.regulars.append(event.seat)
    return None


def _out_of_place(c: Context) -> None:
    """Take out decks that were in place for the other method, so that they are put in place again."""
    for deck in c.decks_at_table():
        if deck.state == mc.READY and not c.is_inside_shuffler(deck):
            decks.take_out_of_device(c, deck)


_ORDERS: Final[dict[str, Callable[[Context, ev.Ordered], str | None]]] = {
    "remove_deck": _remove_deck,
    "reshuffle": _reshuffle,
    "recut": _recut,
    "table_idle": _table_idle,
    "dealing_method": _dealing_method,
    "start_method": _start_method,
    "shuffle_by_hand": _by_hand,
    "shuffle_by_machine": _by_machine,
    "readmit": _readmit,
}
ANSWERS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], None]]] = {"player_left": _left}
