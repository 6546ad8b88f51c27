"""Permits: whether an act is allowed now, and if not, every reason why.

Every command that moves a card or opens a bet needs a permit, and no reason can be overridden: each names who can clear
it, and how. A reason is a row of REASONS, so that tests can remove it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, get_args

import msgspec

from devices.service import CLEARED, UNSIGNED, UNVERIFIED
from table_controller.table import exposure
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Actuation, DenialReason, Order
from table_controller.table.state import RACK
from table_controller.table.view import ODDS, slot_label

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.table.return_progress import ReturnProcedure
    from table_controller.table.view import TableView


class Resource(msgspec.Struct, frozen=True):
    """What an actuation would act on."""

    slot: str | None = None
    deck: str | None = None
    seat: int | None = None
    cards: int = 0


@dataclass(frozen=True, slots=True)
class ReasonRow:
    """One reason: which acts it blocks, when it applies, which duty's clause it cites, who clears it and how."""

    key: str
    acts: tuple[str, ...]
    applies: Callable[[TableView, Resource], bool]
    duty: str
    text: str
    clears: str
    evidence: str
    detail: Callable[[TableView, Resource], str] | None = None  # added to the evidence, from the state of this table


ACTS: Final = (*get_args(Actuation), *get_args(Order))
# Acts that deal cards, and all acts that move cards or dice.
_DEALS: Final = ("dispense", "start_round")
_MOVES: Final = ("shuffle", "eject", "insert", "load", *_DEALS, "give_stub", "arm_dice", "draw")
# Prompts that may stay open while a round opens: they concern a deck that is not dealt yet.
_HARMLESS: Final = (
    "opening", "which_deck", "hand_shuffle", "first_arrival", "cut", "cover_back", "put_in_shoe", "take_in_hand",
    "stored_deck", "rack_clear", "count_deck", "face_check",
)  # fmt: skip


def _deck(v: TableView, r: Resource) -> str:
    """Return the state of the deck that would be moved; an unknown deck counts as removed."""
    return v.state.decks[r.deck].state if r.deck in v.state.decks else mc.REMOVED


def _irregular(v: TableView, r: Resource) -> bool:
    """Whether a hold concerns this device or deck, or the round that would continue."""
    of_round = r.slot != v.shuffler or r.deck == v.state.round.deck
    return v.is_held(slot=r.slot, deck=r.deck) or (of_round and v.is_round_stopped)


def _missing(v: TableView, slot: str | None) -> bool:
    return slot is not None and not v.is_in_service(slot)


def _shuffler_missing(v: TableView, _r: Resource) -> bool:
    """Whether the shuffler in use is not in service.

    Once it is signed out of order, cards that it shuffled before may still be dealt.
    """
    return v.state.shuffling == "machine" and _missing(v, v.shuffler) and not v.is_signed(v.shuffler)


def _sensor_missing(v: TableView, _r: Resource) -> bool:
    """Whether the progressive is offered and a seat has no sensor in service."""
    serving = {slot for slot in v.sensors if v.is_in_service(slot)}
    expected = {f"bet_sensor.{seat}" for seat in range(1, v.submission.seats + 1)}
    return v.has_progressive and not expected | set(v.sensors) <= serving


def _hand_barred(v: TableView, _r: Resource) -> bool:
    """Whether the dealing method needs an automated shuffler and none is in use (X15)."""
    method = v.edition.method(v.state.dealing)
    needs = method is not None and method.needs_automated_shuffler
    return needs and (v.state.shuffling != "machine" or not v.is_in_service(v.shuffler))


def _button_barred(v: TableView, _r: Resource) -> bool:
    using = {
        "automated_shuffler": v.state.shuffling == "machine",
        "automated_shoe": v.state.dealing == "automated_shoe",
    }
    return any(not using[need] for start in v.edition.starts if start.name == v.state.start for need in start.needs)


def _used_last(v: TableView, r: Resource) -> bool:
    """Whether two decks alternate, another one is open, and this one was used last (X19).

    A deck that was put in place while there was no other is dealt, also if it is still on its way from the shuffler
    into the shoe, and so is the deck of a round that has begun.
    """
    unopened = (mc.RECEIVED, mc.INSPECTED, mc.SHOWN)
    deck = v.state.decks.get(r.deck or "")
    if deck is None or v.is_in_place(deck) or v.is_between_machines(deck):
        return False
    if v.is_round_under_way and deck.name == v.state.round.deck:
        return False
    others = [d for d in v.decks_at_table() if d.name != r.deck and d.state not in unopened]
    return bool(others) and v.edition.second_set is not None and r.deck is not None and v.state.last_deck == r.deck


def _second_missing(v: TableView, _r: Resource) -> bool:
    """Whether this shuffler requires two batches and there are fewer (O12)."""
    second = v.edition.second_set
    required = second is not None and second.required and v.submission.two_decks
    return required and v.state.shuffling == "machine" and len(v.decks_at_table()) < 2


def _outside(v: TableView, r: Resource) -> bool:
    """Whether two decks are in use and the one not dealt is outside the shuffler; an unopened one may wait."""
    waits = (mc.STACKED, mc.SHUFFLED, mc.READY, mc.RACK)
    others = [d for d in v.decks_at_table() if d.name != r.deck and d.state in waits and not v.is_inside_shuffler(d)]
    return bool(others) and v.state.shuffling == "machine"


def _bets_open(v: TableView, _r: Resource) -> bool:
    return v.has_progressive and v.state.progressive.state != mc.VERIFIED


def _wrong_stack(v: TableView, r: Resource) -> bool:
    """Whether no place needs a stack of this size."""
    round_ = v.state.round
    if v.state.dealing == "continuous_shuffler":
        return not 0 < r.cards <= v.edition.hand.cards * len(round_.seats)
    return r.cards != (1 if round_.completing is not None else v.edition.hand.cards) or not (
        round_.to_deal or round_.completing is not None
    )


def _burns_first(v: TableView, r: Resource, due: int) -> bool:
    """Whether a card must be burned first; a continuous shuffler dispenses that card in the deal (O7)."""
    return due > 0 and not (v.state.dealing == "continuous_shuffler" and r.cards <= 1)


def _count_due(v: TableView, r: Resource) -> bool:
    """Whether the limit of rounds without a stub count is reached and no shuffler counted the deck (X14)."""
    stub = v.edition.stub
    uncounted = stub is not None and stub.every_rounds > 1 and v.state.uncounted >= stub.every_rounds
    return uncounted and not v.is_stub_count_waived(v.state.decks.get(r.deck or ""))


def _shoe_ended(v: TableView, r: Resource) -> bool:
    """Whether no further round is dealt from this shoe, so that its remaining cards may come out."""
    return v.shuffles_per_shoe and v.state.shoe_over and not v.is_round_under_way and _deck(v, r) == mc.IN_PLAY


def _not_in_play(v: TableView, r: Resource) -> bool:
    """Whether the deck is not the round's, or not in play."""
    return (r.deck != v.state.round.deck or _deck(v, r) != mc.IN_PLAY) and not _shoe_ended(v, r)


def _stays_stored(v: TableView, r: Resource) -> bool:
    """Whether the other deck is in play or about to be; not if that deck needs the shuffler itself."""
    return (
        v.is_round_under_way
        and r.deck != v.state.round.deck
        and (v.deck is None or v.deck.state not in (mc.STACKED, mc.RACK))
    )


def _not_ready(v: TableView, r: Resource) -> bool:
    deck = v.state.decks.get(r.deck or "")
    return deck is None or not v.is_playable(deck)


def _shoe_occupied(v: TableView, r: Resource) -> bool:
    """Whether cards are in the shoe, or on their way into it, other than those of this deck on their way."""
    if v.shoe is None or r.slot not in (v.shoe, v.shuffler):
        return False
    held = v.state.slots[v.shoe].deck
    return held is not None and (held != r.deck or v.state.decks[held].place == v.shoe)


def _takes_back(v: TableView, r: Resource) -> bool:
    """Whether a continuous shuffler takes the discards of its own batch back."""
    return v.state.dealing == "continuous_shuffler" and r.slot == v.shuffler and _deck(v, r) == mc.IN_PLAY


def _not_dealing(v: TableView, _r: Resource) -> bool:
    """Whether no cards are due: outside the deal and, in games with a second deal, outside settlement."""
    second = v.edition.hand.second_deal > 0 and v.state.round.state == mc.SETTLING
    return v.state.round.state != mc.DEALING and not second


def _hit_is(v: TableView, r: Resource, *states: str) -> bool:
    hit = v.state.money.hit_of(r.seat)
    return hit is not None and hit.state in states


def _provisional(v: TableView, r: Resource) -> bool:
    hit = v.state.money.hit_of(r.seat)
    return hit is not None and not v.state.money.is_final(hit)


def _any_hit(v: TableView, *states: str) -> bool:
    return any(hit.state in states for hit in v.state.money.hits.values())


def _not_from_table(v: TableView, r: Resource) -> bool:
    """Whether the table may not pay: a share of the meter never, a fixed award not after an order for a hand pay."""
    hit = v.state.money.hit_of(r.seat)
    rules = v.edition.progressive
    share_barred = rules is not None and not rules.meter_share_from_tray
    return hit is not None and ((share_barred and hit.on_meter) or hit.state == mc.HIT_HAND_PAY)


def _bets_unsettled(v: TableView, _r: Resource) -> bool:
    unpaid = (mc.HIT_CLAIMED, mc.HIT_CONFIRMED, mc.HIT_LIGHT_SEEN, mc.HIT_VALIDATED)
    return any(bet.state == "open" for bet in v.state.money.bets.values()) or _any_hit(v, *unpaid)


def _meter_in_play(v: TableView, _r: Resource) -> bool:
    return v.state.round.state != mc.IDLE or v.state.progressive.state != mc.CLOSED


def _signs(v: TableView, _r: Resource) -> str:
    """Return each known sign that does not show the meter, and why."""
    shown = [
        sign
        for sign, cause in v.state.signs.items()
        if sign == ODDS or (not cause and (sign not in v.state.slots or v.is_in_service(sign)))
    ]
    causes = [
        f"{slot_label(sign)}: {cause or 'not in service'}" for sign, cause in v.state.signs.items() if sign not in shown
    ]
    return f" ({'; '.join(causes)})" if causes else " (no sign has shown the amount yet)"


def _is_unposted(v: TableView, what: str) -> bool:
    """Whether a sign must show something that the layout lacks, and no sign does."""
    return what in v.submission.posted_on_sign and not v.are_odds_visible


def _odds_why(v: TableView, _r: Resource) -> str:
    return f" (the page: {v.state.signs[ODDS]})" if v.state.signs.get(ODDS) else " (no page has shown them yet)"


def _closed_why(v: TableView, _r: Resource) -> str:
    unreasonable = v.state.money.closed == mc.UNREASONABLE
    return "; after an unreasonable contribution: a floorperson and a technician" if unreasonable else ""


def _return_procedure(v: TableView, r: Resource) -> ReturnProcedure | None:
    return None if r.slot is None else v.state.slots[r.slot].return_procedure


def _next_step(v: TableView, r: Resource) -> str:
    """Return the next step of a device's return to service."""
    procedure = _return_procedure(v, r)
    if procedure is None:
        return ""
    return (
        f"; next, in fault report {procedure.fault_report}: {procedure.next_text}"
        if procedure.fault_report
        else f"; next: {procedure.next_text}"
    )


def _rack_taken(v: TableView, r: Resource) -> bool:
    return any(deck.place == RACK and deck.name != r.deck for deck in v.decks_at_table())


def _obstacle(v: TableView, r: Resource) -> exposure.Obstacle | None:
    """Return why the cards of a place are not exposed."""
    return None if r.seat is None else exposure.obstacle(v, r.seat)


def _release_ended(v: TableView, r: Resource) -> bool:
    hand = v.state.round.dealt_hands.get(r.seat or 0)
    return hand is not None and hand.ended


def _not_its_turn(v: TableView, r: Resource) -> bool:
    """Whether the hands of other seats are shown before this one."""
    return bool(r.seat) and r.seat not in exposure.unsettled_seats(v)[:1]


def _hand_settled(v: TableView, r: Resource) -> bool:
    return r.seat in v.state.round.settled or r.seat in v.state.round.hands_racked


def _own_reveal_due(v: TableView, r: Resource) -> bool:
    """Whether the player may still surrender, so that the hand may stay face down."""
    return bool(r.seat) and exposure.may_surrender(v, r.seat or 0) and r.seat not in v.state.round.hands


REASONS: Final[tuple[ReasonRow, ...]] = (
    # Devices.
    ReasonRow("slot_not_in_service", (*_MOVES, "clear_out", "light", "release_cards"), lambda v, r: not v.is_in_service(r.slot), "device_unusable",
        "the device is not in service", "floorperson", "return the device to service"),
    ReasonRow("device_busy", (*_MOVES, "clear_out", "return_to_service", "test", "release_cards"), lambda v, r: v.has_pending_command(r.slot), "device_unusable",
        "the last command to the device has no known outcome", "technician", "wait until the device reports the outcome"),
    ReasonRow("dead_device_unsigned", ("open_bets", "insert", "load", *_DEALS, "arm_dice", "draw", "method", "use"),
        lambda v, _: UNSIGNED in [slot.state for slot in v.state.slots.values()], "device_unusable",
        "a device that is out of order is neither covered nor signed", "floorperson", "cover the device or put up the sign"),
    ReasonRow("device_not_signed", ("method",), lambda v, r: not v.is_signed(r.slot), "device_unusable",
        "the device that the other method replaces is not out of order and signed", "floorperson",
        "take the device out of service and cover or sign it"),
    ReasonRow("device_not_back", ("use",), lambda v, r: _missing(v, r.slot), "device_unusable",
        "the device that this method needs is not in service", "floorperson", "return the device to service"),
    ReasonRow("shuffler_missing", ("open_bets",), _shuffler_missing, "shuffler_fault",
        "the shuffler is not in service", "floorperson", "return it to service, or take it out of service and sign it"),
    ReasonRow("shoe_missing", ("open_bets",), lambda v, _: _missing(v, v.shoe), "shoe_fault",
        "the dealing shoe is not in service", "floorperson", "return it to service, or take it out of service and sign it"),
    ReasonRow("start_device_missing", ("open_bets",), lambda v, _: _missing(v, v.start_slot), "start_device",
        "the device for the starting position is not in service", "floorperson", "return it to service, or order another method"),
    ReasonRow("sensor_missing", ("open_bets",), _sensor_missing, "sensors",
        "a seat has no bet sensor in service", "floorperson", "have a sensor in service at every seat"),
    ReasonRow("hand_without_shuffler", ("open_bets",), _hand_barred, "hand_shuffler",
        "this dealing method needs an automated shuffler", "floorperson", "return the shuffler to service, or deal from a shoe"),
    ReasonRow("button_barred", ("open_bets",), _button_barred, "button",
        "the flat button needs an automated shuffler and an automated shoe", "floorperson", "use both, or order another method"),
    ReasonRow("not_cleared", ("return_to_service",), lambda v, r: r.slot is None or v.state.slots[r.slot].state not in (CLEARED, UNVERIFIED),
        "device_unusable", "the fault is not cleared", "technician", "clear the fault, or repair the device"),
    ReasonRow("steps_open", ("return_to_service",), lambda v, r: _return_procedure(v, r) is not None, "device_unusable",
        "the return to service is not finished", "technician", "do every step", _next_step),
    ReasonRow("holds_cards", ("test",), lambda v, r: r.slot is not None and v.state.slots[r.slot].deck is not None, "device_unusable",
        "cards are inside the device", "dealer", "take the cards out"),
    # Irregularities.
    ReasonRow("irregularity", (*_MOVES, "collect", "return_to_service", "release_cards"), _irregular, "device_unusable",
        "an irregularity is not cleared", "floorperson", "do its steps and acknowledge it"),
    ReasonRow("any_irregularity", ("open_bets",), lambda v, _: bool(v.state.holds), "close",
        "an irregularity is not cleared", "floorperson", "do its steps and acknowledge it"),
    # Decks.
    ReasonRow("not_stacked", ("shuffle",), lambda v, r: _deck(v, r) != mc.IN_DEVICE, "opening",
        "the cards in the intake are not a deck that may be shuffled", "dealer", "inspect, spread, wash and stack the deck"),
    ReasonRow("deck_not_shuffled", ("eject",), lambda v, r: _deck(v, r) not in (mc.READY, mc.SHUFFLED), "single_stack",
        "the deck is not shuffled into one stack", "dealer", "let the shuffler finish a whole cycle"),
    ReasonRow("stored_deck", ("eject",), _stays_stored, "stored_deck",
        "this deck stays in the shuffler while the other is in play", "dealer", "finish the round"),
    ReasonRow("deck_not_ready", ("insert", "load", "open_bets"), lambda v, r: _not_ready(v, r) and not _takes_back(v, r), "shuffle",
        "the deck is not shuffled and cut", "dealer", "shuffle and cut the deck"),
    ReasonRow("deck_not_named", ("clear_out",), lambda v, r: not v.is_held(deck=r.deck), "single_stack",
        "the shuffler clears out a deck only for an irregularity", "floorperson", "report the irregularity of this deck"),
    ReasonRow("deck_not_in_play", (*_DEALS, "give_stub"), _not_in_play,
        "shuffle", "the cards in the shoe are not the deck of this round", "floorperson", "use the deck of this round"),
    ReasonRow("deck_unverified", ("eject", "insert", "load", *_DEALS, "open_bets"),
        lambda v, r: r.deck in v.state.decks and not v.state.decks[r.deck].verified, "count",
        "this deck is not verified", "floorperson", "count the deck and find it complete, or use another"),
    ReasonRow("faces_due", ("shuffle", "open_bets"),
        lambda v, r: r.deck in v.state.decks and v.is_face_check_due(v.state.decks[r.deck]) and _deck(v, r) != mc.IN_PLAY, "composition",
        "the face check of this deck is due", "floorperson", "look at every face"),
    ReasonRow("deck_expired", ("insert", "load", "open_bets"),
        lambda v, r: r.deck in v.state.decks and v.is_expired(v.state.decks[r.deck]) and not v.is_round_under_way, "deck_age",
        "the deck has been in use too long", "floorperson", "open a new deck"),
    ReasonRow("deck_used_last", ("insert", "load", "open_bets"), lambda v, r: _used_last(v, r) and not _takes_back(v, r), "alternate",
        "this deck was used in the last round", "dealer", "use the other deck"),
    ReasonRow("other_deck_outside", ("open_bets",), _outside, "stored_deck",
        "the other deck is not in the shuffler", "dealer", "put the other deck into the shuffler, or have it removed"),
    ReasonRow("two_decks_barred", ("open_bets",), lambda v, _: len(v.decks_at_table()) > 1 and v.state.shuffling != "machine", "two_decks",
        "two decks need an automated shuffler in use", "floorperson", "remove one deck, or use the shuffler"),
    ReasonRow("second_batch_missing", ("open_bets", "insert", "load"), _second_missing, "two_decks",
        "a batch shuffler needs two batches", "floorperson", "open a second batch, or order shuffling by hand"),
    ReasonRow("look_due", ("insert", "load", "open_bets"), lambda v, r: r.deck in v.state.decks and v.state.decks[r.deck].look_due, "idle",
        "the table was idle, and no player has seen this deck since", "dealer", "let the first player see the deck"),
    ReasonRow("insertion_barred", ("insert",), lambda v, _: not v.submission.inserts_into_shoe, "single_stack",
        "by the Rules Submission the shuffler does not insert its stack into the shoe", "dealer", "put the deck into the shoe"),
    ReasonRow("no_shoe_to_fill", ("insert",), lambda v, _: not v.is_in_service(v.shoe), "single_stack",
        "no dealing shoe is in service that the stack could be inserted into", "floorperson", "return the shoe to service"),
    ReasonRow("shoe_busy", ("insert",), lambda v, _: v.has_pending_command(v.shoe) or v.is_held(slot=v.shoe), "single_stack",
        "the dealing shoe has an open command or an open irregularity", "floorperson", "wait for the shoe, or clear its irregularity"),
    ReasonRow("shoe_occupied", ("insert", "load"), _shoe_occupied, "load", "cards are in the shoe", "dealer", "empty the shoe"),
    ReasonRow("not_in_place", ("open_bets",), lambda v, r: r.deck not in v.state.decks or not v.is_in_place(v.state.decks[r.deck]), "load",
        "the deck is not in place for the deal", "dealer", "put the deck into the shoe, or take it in hand"),
    ReasonRow("rack_taken", ("open_bets", "collect"), _rack_taken, "rack",
        "another deck is in the discard rack", "dealer", "clear the rack"),
    ReasonRow("shoe_over", ("open_bets",), lambda v, _: v.shuffles_per_shoe and v.state.shoe_over, "cover_card",
        "this shoe is finished", "dealer", "shuffle the batch"),
    ReasonRow("burn_due", ("open_bets", *_DEALS), lambda v, r: _burns_first(v, r, v.state.burn_shoe), "burn_shoe",
        "the first card of the shoe is not burned", "dealer", "burn a card and confirm it"),
    ReasonRow("dealer_burn_due", ("open_bets", *_DEALS), lambda v, r: _burns_first(v, r, v.state.burn_dealer), "burn_dealer",
        "the new dealer has not burned a card", "dealer", "burn a card and confirm it"),
    ReasonRow("count_due", ("open_bets", "insert", "load"), _count_due, "stub",
        "the stub count is overdue", "dealer", "count the deck"),
    # The round.
    ReasonRow("round_open", ("open_bets", "insert", "method", "use", "test"), lambda v, _: v.state.round.state != mc.IDLE, "close",
        "a round is under way", "dealer", "finish the round"),
    ReasonRow("prompt_open", ("open_bets",),
        lambda v, _: any(p.kind.partition("/")[0] not in _HARMLESS for p in v.state.prompts.values()), "close",
        "a question is open", "dealer", "answer the question"),
    ReasonRow("bets_not_verified", (*_DEALS, "arm_dice", "draw"), _bets_open, "lockout",
        "the progressive bets are not locked, or their chips not collected", "dealer", "wait for every sensor, then collect a chip for each bet"),
    ReasonRow("seats_not_entered", (*_DEALS, "arm_dice", "draw"), lambda v, _: not v.state.round.seats_entered, "seats",
        "the seats with a wager are not entered", "dealer", "enter the seats"),
    ReasonRow("dice_not_fresh", ("arm_dice", "open_bets"), lambda v, _: v.state.start == "shaker" and v.state.dice != "fresh", "dice",
        "the dice have been on the table too long, or their age is not known", "floorperson", "replace the dice"),
    ReasonRow("shaker_unattended", ("arm_dice",), lambda v, _: v.state.shaker_for is not None, "attend",
        "the new dealer has not taken over the shaker", "dealer", "the new dealer must confirm it"),
    ReasonRow("not_starting", ("arm_dice", "draw"), lambda v, _: v.state.round.state != mc.STARTING_POSITION, "start_due",
        "the bets are not locked yet", "dealer", "call no more bets and wait for the lock-out"),
    ReasonRow("start_unknown", _DEALS, lambda v, _: v.state.start is not None and v.state.round.start is None, "start_due",
        "the starting position is not known", "dealer", "roll the dice, draw the number, or place the button"),
    ReasonRow("not_dealing", _DEALS, _not_dealing, "no_more_bets",
        "the deal has not begun", "dealer", "finish no more bets, lock-out and starting position"),
    ReasonRow("stack_not_taken", ("dispense", "give_stub"), lambda v, _: v.state.round.in_slot is not None, "deal",
        "the last stack is still in the shoe", "dealer", "take the stack"),
    ReasonRow("wrong_stack", ("dispense",), _wrong_stack, "deal",
        "the deal does not need a stack of this size", "dealer", "deal the next stack"),
    ReasonRow("deal_not_over", ("give_stub",), lambda v, r: v.state.round.state != mc.STUB_CHECK and not _shoe_ended(v, r), "stub",
        "the stub comes out after the deal", "dealer", "finish the deal"),
    # Cards that a shoe identifies.
    ReasonRow("not_identifying", ("release_cards",), lambda v, r: r.slot is None or not v.state.slots[r.slot].identifies, "settle",
        "the shoe does not identify cards", "dealer", "enter the cards"),
    ReasonRow("no_dealt_hand", ("release_cards",), lambda v, r: r.seat not in v.state.round.dealt_hands, "deal",
        "the shoe did not deal the hand of this place as a whole", "dealer", "enter the cards once they are exposed"),
    ReasonRow("release_ended", ("release_cards",), _release_ended, "settle",
        "the shoe has released these cards, or refused to", "dealer", "enter the cards, if they are not known"),
    ReasonRow("hand_not_in_play", ("release_cards",), lambda v, r: _obstacle(v, r) in ("no_hand", "returned"), "seats",
        "this place has no hand in the round", "dealer", "leave its cards face down"),
    ReasonRow("hand_surrendered", ("release_cards",), lambda v, r: exposure.is_surrendered(v, r.seat or 0), "surrender",
        "the hand was surrendered; a shoe releases no card of it", "dealer", "leave its cards as they lie"),
    ReasonRow("hand_incomplete", ("release_cards",), lambda v, r: _obstacle(v, r) == "incomplete", "additional_cards",
        "the hand does not have all its cards yet", "dealer", "deal the additional cards"),
    ReasonRow("cards_face_down", ("release_cards",), lambda v, r: _obstacle(v, r) == "face_down", "reveal",
        "the cards are not exposed yet", "dealer", "reveal the dealer's hand"),
    ReasonRow("not_its_turn", ("release_cards",), _not_its_turn, "settle",
        "the hand of another seat is shown first", "dealer", "settle the seats in their order"),
    ReasonRow("own_reveal_due", ("release_cards",), _own_reveal_due, "surrender",
        "the player may still surrender", "dealer", "show the hand and confirm it"),
    ReasonRow("hand_folded", ("release_cards",), lambda v, r: exposure.is_folded_away(v, r.seat or 0), "folded",
        "the hand was folded and its cards are collected", "dealer", "leave the cards in the discard rack"),
    ReasonRow("hand_settled", ("release_cards",), _hand_settled, "settle",
        "the hand is settled", "dealer", "report an error to the floorperson"),
    # Bets and money.
    ReasonRow("not_latched", ("light",), lambda v, r: r.seat not in v.state.progressive.accepted, "seat_light",
        "no bet of this seat was latched", "dealer", "wait for the sensor"),
    ReasonRow("not_booked", ("light",), lambda v, r: r.seat not in v.state.money.bets, "contribution",
        "the bet is not recorded in the meter", "dealer", "wait until the bet is accepted"),
    ReasonRow("bets_latched", ("unlock",), lambda v, _: v.is_round_under_way, "lockout",
        "bets stay locked while the round is under way", "dealer", "finish the round"),
    ReasonRow("not_settling", ("pay",), lambda v, _: v.state.round.state != mc.SETTLING and not v.state.money.settles, "settle",
        "the round is not being settled", "dealer", "reveal the dealer's hand"),
    ReasonRow("pay_irregular", ("pay",), lambda v, _: v.is_round_stopped and not v.state.money.settles, "close",
        "an irregularity is not cleared", "floorperson", "do its steps and acknowledge it"),
    ReasonRow("not_claimed", ("pay",), lambda v, r: v.state.money.hit_of(r.seat) is None, "claim",
        "no hand of this seat was claimed", "dealer", "enter the winning hand"),
    ReasonRow("hand_not_confirmed", ("pay",), lambda v, r: _hit_is(v, r, mc.HIT_CLAIMED), "hit_hand",
        "the hand is not verified", "dealer", "verify that the hand wins"),
    ReasonRow("light_not_seen", ("pay",), lambda v, r: _hit_is(v, r, mc.HIT_CLAIMED, mc.HIT_CONFIRMED), "hit_light",
        "the light of this seat is not confirmed", "dealer", "check the light; if it is off, a floorperson looks up the bet"),
    ReasonRow("not_validated", ("pay",), lambda v, r: _hit_is(v, r, mc.HIT_CLAIMED, mc.HIT_CONFIRMED, mc.HIT_LIGHT_SEEN), "pay",
        "the jackpot is not confirmed", "floorperson", "confirm the jackpot"),
    ReasonRow("amount_provisional", ("pay",), _provisional, "pay",
        "an earlier claim on the meter is open, so this amount may change", "floorperson",
        "confirm or refuse the earlier claim"),
    ReasonRow("not_from_table", ("pay",), _not_from_table, "award",
        "the table does not pay this: it is a share of the meter, or a hand pay", "floorperson", "order the hand pay"),
    ReasonRow("hand_pay_open", ("collect",), lambda v, _: _any_hit(v, mc.HIT_HAND_PAY), "hand_pay",
        "a hand pay is not documented; the cards stay on the table", "floorperson", "enter the slip number"),
    ReasonRow("bets_not_settled", ("collect",), _bets_unsettled, "claim",
        "a progressive bet is not settled, or a hit is not paid", "dealer", "settle every bet and pay every hit"),
    ReasonRow("copy_not_reached", ("open_bets",), lambda v, _: v.state.copy_awaited and v.meter is not None, "meter",
        "the box has not reached the second copy of its journal since it started; another box may run this meter", "floorperson",
        "connect the copy, or confirm its absence together with a technician"),
    ReasonRow("meter_in_play", ("correct_meter", "reset_meter", "change_meter", "close_meter", "open_meter", "transfer_overflow"),
        _meter_in_play, "meter", "bets are open, or the bets of this round are not settled", "dealer", "finish the round"),
    # Odds and limits that are not inscribed on the layout.
    ReasonRow("odds_not_posted", ("open_bets",), lambda v, _: _is_unposted(v, "odds"), "odds_posted",
        "the payout odds are not inscribed on the layout, and no sign shows them", "floorperson",
        "open the /sign page on a display at the table", _odds_why),
    ReasonRow("limit_not_posted", ("open_bets",), lambda v, _: _is_unposted(v, "payout_limit"), "limit_posted",
        "the payout limit is not inscribed on the layout, and no sign shows it", "floorperson",
        "open the /sign page on a display at the table", _odds_why),
    # Supervision of the meter. docs/money.md names the rules that come only from the parallel texts of 605a.7.
    ReasonRow("meter_not_seen", ("open_bets",), lambda v, _: v.has_progressive and not v.is_meter_visible, "meter",
        "a sign does not show the meter, or there is no sign", "floorperson",
        "get every meter sign to show the amount; without one, open the /sign page on a display at the table", _signs),
    ReasonRow("meter_closed", ("open_bets",), lambda v, _: v.has_progressive and bool(v.state.money.closed), "meter",
        "the meter is closed to play", "floorperson", "two people open it, with a document", _closed_why),
    ReasonRow("rate_differs", ("open_bets",), lambda v, _: v.rate_differs, "contribution",
        "the rate in force is not the rate of the Rules Submission", "technician",
        "two people close the meter, set the rate of the Rules Submission, and open the meter"),
    ReasonRow("meter_not_closed", ("change_meter",), lambda v, _: v.state.money.closed != mc.BY_PEOPLE, "meter",
        "the meter is not closed to play by two people", "floorperson", "two people close it, with a document"),
)  # fmt: skip


def permit(
    v: TableView, act: Actuation | Order, resource: Resource, reasons: tuple[ReasonRow, ...] = REASONS
) -> tuple[DenialReason, ...]:
    """Return every reason why an act is not permitted; none means granted."""
    return applying_reasons(v, resource, tuple(row for row in reasons if act in row.acts))


def applying_reasons(v: TableView, resource: Resource, rows: tuple[ReasonRow, ...]) -> tuple[DenialReason, ...]:
    """Return the reasons of the rows that apply."""
    applying = [row for row in rows if row.applies(v, resource)]
    if not applying:
        return ()
    return tuple(
        [
            DenialReason(row.key, v.clause(row.duty), row.text, row.clears, _evidence(row, v, resource))
            for row in applying
        ]
    )


def _evidence(row: ReasonRow, v: TableView, resource: Resource) -> str:
    return row.evidence if row.detail is None else row.evidence + row.detail(v, resource)
