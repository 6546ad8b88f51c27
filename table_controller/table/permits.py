"""May this be done now? A pure function over a closed list of actuations: granted, or every reason why not.

There is no other way to move a card or to open a bet, and no reason can be overridden here: each says who may clear it,
and with what evidence. A reason is a row of REASONS, so that its absence can be tested.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from devices.service import IN_SERVICE, SIGNED, UNSIGNED
from table_controller.table import machines as mc
from table_controller.table.decisions import Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.table.context import Context


class Resource(msgspec.Struct, frozen=True):
    """What an actuation would act on."""

    slot: str | None = None
    deck: str | None = None
    seat: int | None = None
    cards: int = 0


class Row(msgspec.Struct, frozen=True):
    """One reason: for which actuations, when it holds, and how it is cleared."""

    key: str
    acts: tuple[str, ...]
    holds: Callable[[Context, Resource], bool]
    duty: str  # the name of the duty whose clause it cites, in the edition's `duties`
    text: str
    clears: str
    evidence: str


_MOVES: Final = ("shuffle", "eject", "load", "dispense", "give_stub", "arm_dice", "draw")


def _deck(c: Context, r: Resource) -> str:
    """The state of the deck that would be moved; an unknown deck counts as removed."""
    return c.state.decks[r.deck].state if r.deck in c.state.decks else mc.REMOVED


def _slot_serves(c: Context, r: Resource) -> bool:
    return r.slot is None or c.state.slots[r.slot].state == IN_SERVICE


def _concerned(c: Context, r: Resource, *, whole_round: bool) -> bool:
    """Tell whether an open irregularity concerns this device, this deck, or (if asked) the round in hand."""
    return any(
        (hold.slot is not None and hold.slot == r.slot)
        or (hold.deck is not None and hold.deck == r.deck)
        or (whole_round and hold.this_round)
        for hold in c.state.holds.values()
    )


def _unsigned(c: Context) -> bool:
    """A device is out of order and neither covered nor signed."""
    return any(slot.state == UNSIGNED for slot in c.state.slots.values())


def _two_ready(c: Context, r: Resource) -> bool:
    """The other deck could be used, and this one was used last."""
    others = [d for d in c.state.decks.values() if d.name != r.deck and d.state != mc.REMOVED]
    return bool(others) and c.edition.second_set is not None and c.state.last_deck == r.deck


REASONS: Final = (
    Row("not_in_service", (*_MOVES, "clear_out", "test"), lambda c, r: not _slot_serves(c, r), "device_unusable",
        "the device is not in service", "floorperson", "cause cleared, acknowledged, and reported again"),
    Row("command_open", (*_MOVES, "clear_out"), lambda c, r: any(i.slot == r.slot for i in c.state.commands.values()), "device_unusable",
        "an earlier command to this device has not ended", "technician", "its outcome, asked of the device"),
    Row("irregularity", _MOVES, lambda c, r: _concerned(c, r, whole_round=r.slot != c.shuffler or r.deck == c.state.round.deck),
        "irregularity", "an irregularity is not cleared", "floorperson", "its steps done and acknowledged"),
    Row("any_irregularity", ("open_bets",), lambda c, r: bool(c.state.holds), "irregularity",
        "an irregularity is not cleared", "floorperson", "its steps done and acknowledged"),
    Row("dead_device_unsigned", ("open_bets", "load", "dispense", "arm_dice", "draw", "method"), lambda c, r: _unsigned(c),
        "device_unusable", "a device that cannot be used is neither covered nor signed", "floorperson", "cover or sign seen"),
    Row("shuffler_missing", ("open_bets",),
        lambda c, r: c.state.shuffling == "machine" and c.shuffler is not None
        and c.state.slots[c.shuffler].state not in (IN_SERVICE, SIGNED),
        "shuffler_fault", "the shuffler is not in service", "floorperson", "returned to service, or given up and signed"),
    Row("shoe_missing", ("open_bets",),
        lambda c, r: c.shoe is not None and c.uses_shoe and c.state.slots[c.shoe].state != IN_SERVICE,
        "device_unusable", "the dealing shoe is not in service", "floorperson", "returned to service, or given up and signed"),
    Row("start_device_missing", ("open_bets",),
        lambda c, r: c.start_slot is not None and c.state.slots[c.start_slot].state != IN_SERVICE,
        "start_position", "the device for the starting position is not in service", "floorperson", "returned to service"),
    Row("sensor_missing", ("open_bets",),
        lambda c, r: c.progressive and any(c.state.slots[s].state != IN_SERVICE for s in c.sensors),
        "progressive", "a bet sensor is not in service", "floorperson", "returned to service"),
    Row("deck_not_shuffled", ("eject",), lambda c, r: _deck(c, r) not in (mc.READY, mc.SHUFFLED), "shuffle",
        "the deck is not shuffled and verified", "dealer", "shuffle and count"),
    Row("deck_not_ready", ("load", "open_bets"), lambda c, r: _deck(c, r) != mc.READY, "shuffle",
        "the deck is not shuffled, verified and cut", "dealer", "shuffle, count and cut"),
    Row("deck_not_held", ("clear_out",), lambda c, r: not any(h.deck == r.deck for h in c.state.holds.values()), "count",
        "a deck leaves this way only when it was found wrong", "floorperson", "the irregularity that names it"),
    Row("deck_not_in_play", ("dispense", "give_stub"), lambda c, r: r.deck != c.state.round.deck or _deck(c, r) != mc.IN_PLAY, "shuffle",
        "the cards in the shoe are not the deck of this round", "floorperson", "the deck of this round"),
    Row("deck_unverified", ("eject", "load", "dispense", "open_bets"),
        lambda c, r: r.deck in c.state.decks and not c.state.decks[r.deck].verified, "count",
        "nobody has counted this deck since it was shuffled", "dealer", "a count, by the shuffler or by hand"),
    Row("deck_expired", ("load", "open_bets"), lambda c, r: r.deck in c.state.decks and c.state.decks[r.deck].expired,
        "deck_age", "the deck has been in use for too long", "floorperson", "a new deck, opened"),
    Row("deck_used_last", ("load", "open_bets"), _two_ready, "alternate",
        "this deck was used in the round before", "dealer", "the other deck"),
    Row("not_in_place", ("open_bets",), lambda c, r: not c.in_place(r.deck), "shoe_loaded",
        "the deck is not where it is dealt from", "dealer", "the deck in the shoe, or in the hand"),
    Row("not_stacked", ("shuffle",), lambda c, r: _deck(c, r) != mc.IN_DEVICE, "opening",
        "the cards in the intake are not a deck that may be shuffled", "dealer", "inspection, spread, wash and stack"),
    Row("deck_in_rack", ("collect",), lambda c, r: any(d.state == mc.RACK and d.name != r.deck for d in c.state.decks.values()),
        "rack", "another deck is in the discard rack", "dealer", "the rack cleared"),
    Row("round_open", ("open_bets",), lambda c, r: c.state.round.state != mc.IDLE, "round",
        "a round is under way", "dealer", "the round ended"),
    Row("not_dealing", ("dispense",), lambda c, r: c.state.round.state != mc.DEALING, "no_more_bets",
        "cards are dealt only after no more bets, lock-out and starting position", "dealer", "the steps before the deal"),
    Row("not_starting", ("arm_dice", "draw"), lambda c, r: c.state.round.state != mc.STARTING_POSITION, "start_position",
        "the starting position is found after the bets are locked", "dealer", "no more bets, and bets locked"),
    Row("bets_not_verified", ("dispense", "arm_dice", "draw"),
        lambda c, r: c.progressive and c.state.progressive.state != mc.VERIFIED, "lockout",
        "the progressive bets are not locked and their chips not counted", "dealer", "every sensor's latch, chips = bets"),
    Row("seats_not_entered", ("dispense",), lambda c, r: not c.state.round.seats_entered, "seats",
        "nobody has entered which seats are in the round", "dealer", "the seats, entered"),
    Row("deal_not_over", ("give_stub",), lambda c, r: c.state.round.state not in (mc.DEALING, mc.STUB_CHECK)
        or bool(c.state.round.to_deal), "dealing",
        "positions still wait for their cards", "dealer", "the deal finished"),
    Row("stack_not_taken", ("dispense", "give_stub"), lambda c, r: c.state.round.in_slot is not None, "dealing",
        "the last stack still lies in the shoe", "dealer", "the stack taken"),
    Row("wrong_stack", ("dispense",), lambda c, r: r.cards != c.edition.hand.cards or not c.state.round.to_deal, "dealing",
        "no position waits for a stack of this size", "dealer", "the next position's stack"),
    Row("dice_expired", ("arm_dice", "open_bets"), lambda c, r: c.state.start == "shaker" and c.state.dice_expired, "dice_age",
        "the dice have been on the table for too long", "floorperson", "new dice"),
    Row("count_due", ("open_bets",), lambda c, r: c.count_overdue, "stub_count",
        "five rounds were dealt without counting the stub", "dealer", "the stub counted"),
    Row("burn_due", ("open_bets",), lambda c, r: c.state.shoe_burn_due or c.state.dealer_burn_due, "burn",
        "a card must be burned first", "dealer", "the burn confirmed"),
    Row("shoe_ended", ("open_bets",), lambda c, r: c.edition.second_set is not None and c.edition.second_set.alternate == "shoe"
        and c.state.round.cover_card_out, "cover_card",
        "the cover card came out: no further round from this shoe", "dealer", "the batch shuffled"),
    Row("prompt_open", ("open_bets",), lambda c, r: any(p.kind.partition("/")[0] not in c.harmless for p in c.state.prompts.values()), "round",
        "a question is not answered", "dealer", "the answer"),
)  # fmt: skip


def permit(c: Context, act: str, resource: Resource) -> tuple[Reason, ...]:
    """Return every reason why this may not be done; none means granted."""
    return tuple(
        Reason(row.key, c.clause_of(row.duty), row.text, row.clears, row.evidence)
        for row in c.reasons
        if act in row.acts and row.holds(c, resource)
    )
