"""The deal: who gets cards in which order, from which shoe or hand, and misplaced cards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from table_controller.ledger import cards as book
from table_controller.rulebook import find_ruling
from table_controller.table import card_release
from table_controller.table import state_machines as mc
from table_controller.table.irregularities import open_hold
from table_controller.table.state import HANDS, PLAIN_SHOE

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.rulebook import Phase
    from table_controller.table import events as ev
    from table_controller.table.context import Context
    from table_controller.table.decisions import Prompt
    from table_controller.table.state import Hold

DEALER: Final = 0
PLACES: Final = 7  # the dealer and six seats; number 1 is the dealer, then counterclockwise


def place_of_position(number: int) -> int:
    """Return the seat of a position number, 0 for the dealer."""
    return DEALER if number == 1 else PLACES + 1 - number


def places_dealt(c: Context) -> list[int]:
    """Return the places that get cards, clockwise from the far left: all of them, or those with a wager."""
    seats = range(1, c.submission.seats + 1) if c.deals_to_all_seats else c.state.round.seats
    return [*seats, *([DEALER] if c.edition.hand.dealer_hand else [])]


def deal_order(c: Context) -> list[int]:
    """Return the places in the order of the deal: clockwise, from the starting position or from the far left."""
    order = places_dealt(c)
    if c.state.round.start is None:
        return order
    first = order.index(place_of_position(c.state.round.start))
    return order[first:] + order[:first]


def first_deal_cards(c: Context) -> int:
    """Return how many cards the first deal needs."""
    return c.edition.hand.first_deal * len(places_dealt(c))


def source_account(c: Context) -> str:
    """Return the account that cards are dealt from."""
    deck = c.deck
    assert deck is not None
    if c.source is not None:
        return f"{c.source}/store" if c.source == c.shuffler else c.source
    return book.TRAY if deck.place in (HANDS, PLAIN_SHOE) else deck.place


def begin_deal(c: Context) -> None:
    """Begin the deal once the deck is in place; the deck is in play from now on."""
    deck = c.deck
    burns_first = c.state.burn_due and c.state.dealing != "continuous_shuffler"
    if deck is None or deck.state not in (mc.READY, mc.IN_PLAY) or not c.is_in_place(deck) or burns_first:
        return  # a shoe that was finished after the round opened still deals this round
    c.state.begun = True
    deck.by_hand = deck.by_hand or c.state.dealing == "hand"
    deck.rounds.append(c.state.round.number)
    if c.submission.face_check_rounds is not None:
        deck.unseen.append(c.state.round.number)
    if deck.state == mc.READY:
        c.fire_deck(deck, "use")
    if not c.shuffles_per_shoe:
        c.state.last_deck = deck.name
    c.state.round.counted = c.is_stub_count_waived(deck)
    c.state.round.to_deal = deal_order(c)
    c.fire_round("deal")


# --- what shoes report ------------------------------------------------------------------------------------------------


def on_stack_out(c: Context, event: ev.StackOut) -> None:
    """A stack came out; its count is the sensor's."""
    round_ = c.state.round
    of_slot = ((id_, i) for id_, i in c.state.commands.items() if i.slot == event.slot and i.act == "dispense")
    command, ordered = next(of_slot, (0, None))
    if c.deck is None or ordered is None:
        open_hold(c, "unordered_stack", slot=event.slot, deck=c.state.slots[event.slot].deck)
        return
    c.state.book.move(c.deck.name, source_account(c), book.SEATS, event.count)
    round_.dealt += event.count
    if round_.state == mc.VOID:
        return  # dispensed as the round ended
    _stack_delivered(c, event, command, ordered.number)
    _face_up_in_stack(c, event.face_up)


def _stack_delivered(c: Context, event: ev.StackOut, command: int, ordered: int) -> None:
    """A stack of this round is in the delivery slot, for the next place."""
    assert c.deck is not None
    round_ = c.state.round
    if event.count != ordered:
        open_hold(c, "shoe_fault", slot=event.slot, deck=c.deck.name)
    elif c.state.dealing == "continuous_shuffler":
        round_.ready += event.count
    elif round_.completing is not None and ordered == 1:  # a whole stack belongs to the next place
        round_.in_slot, round_.completing = round_.completing, None
    elif round_.to_deal:
        round_.in_slot = round_.to_deal.pop(0)
        card_release.record_stack(c, event.slot, round_.in_slot, command)


def on_stack_taken(c: Context, _event: ev.StackTaken) -> None:
    """The dealer took the stack to its place."""
    c.state.round.in_slot = None


def on_cards_drawn(c: Context, event: ev.CardsDrawn) -> None:
    """A manual shoe counts drawn cards. Cards drawn outside the deal or a burn open a hold."""
    round_ = c.state.round
    allowed = round_.counting and round_.state in (mc.DEALING, mc.STUB_CHECK, mc.PLAYING, mc.SETTLING)
    if allowed:
        round_.drawn = max(round_.drawn, event.count)
    elif not (event.reported or c.state.burn_due or round_.stub_ordered or round_.state in (mc.VOID, mc.STUB_CHECK)
              or _discarding(c)):  # fmt: skip
        open_hold(c, "drawn_without_deal", slot=event.slot, deck=c.state.slots[event.slot].deck)


def _discarding(c: Context) -> bool:
    """Return whether the dealer is asked to discard a face-up card from the shoe."""
    return any(hold.steps[:1] == ["card_discarded"] for hold in c.state.holds.values())


def on_shoe_fault(c: Context, event: ev.ShoeFault) -> None:
    """The shoe jammed, stopped, or did not deal all cards."""
    open_hold(c, "shoe_fault", slot=event.slot, deck=c.state.slots[event.slot].deck)


# --- misplaced cards --------------------------------------------------------------------------------------------------


def report_face_up(c: Context, seat: int | None, cards: int = 1) -> None:
    """Report face-up cards: the first one of a deal and several have different rules.

    Only cards found in the deal count toward "several". From an automated shoe the card is in a stack: at the given
    seat, or in the stack that is coming out.
    """
    round_ = c.state.round
    several = cards > 1
    if _deal_rule_holds(c):
        round_.face_up += cards
        several = round_.face_up > 1
    if seat is None and c.state.dealing == "automated_shoe" and round_.state == mc.DEALING:
        seat = round_.in_slot if round_.in_slot is not None else next(iter(round_.to_deal), None)
    open_hold(c, "face_up_card_more" if several else "face_up_card_first", deck=round_.deck, seat=seat)


def _deal_rule_holds(c: Context) -> bool:
    """Return whether the chapter's rule on face-up cards in the deal applies now."""
    phase = cast("Phase", c.state.round.state)
    facts = c.facts(slot=None, deck=c.state.round.deck, finding=None)
    return c.is_round_under_way and bool(find_ruling(c.edition, "face_up_card_first", phase, facts).rows)


def on_face_up_seen(c: Context, _event: ev.FaceUpSeen) -> None:
    """A shoe detected a face-up card."""
    c.state.round.faces_in_stack += c.state.round.state == mc.DEALING
    report_face_up(c, None)


def _face_up_in_stack(c: Context, cards: int) -> None:
    """A stack is out: report its face-up cards that the shoe has not reported one by one."""
    missed = cards - c.state.round.faces_in_stack
    c.state.round.faces_in_stack = 0
    if missed > 0 and c.state.round.state == mc.DEALING:
        report_face_up(c, None, missed)


def completeness_choices(c: Context, seat: int) -> tuple[str, ...]:
    """Return the possible answers on whether a seat's hand is complete in the middle of the deal.

    A shoe that deals whole stacks decides it; only people know about the delivery slot and hand-dealt hands.
    """
    round_ = c.state.round
    if c.state.dealing != "automated_shoe" or seat == round_.in_slot:
        return ("complete", "incomplete")
    return ("incomplete",) if seat in (*round_.to_deal, round_.completing) else ("complete",)


def discard_face_up_card(c: Context, seat: int | None) -> None:
    """Move a face-up card to the rack, out of this round and out of the stack of this seat, if it is known."""
    if c.deck is None:
        return
    card_release.forget_place(c, seat)
    before = c.shuffles_per_shoe and not c.state.round.counting  # the shoe does not count the cards of this round yet
    c.state.round.discarded += not before
    dealt = c.state.dealing == "automated_shoe"  # it lay in a stack
    c.state.book.move(c.deck.name, book.SEATS if dealt else source_account(c), book.RACK, 1)
    if dealt:
        c.state.round.dealt -= 1


def complete_stack(c: Context, hold: Hold) -> None:
    """Complete the stack that lost a card, on a floorperson's order."""
    c.state.round.completing = hold.seat


def deal_late_cards_last(c: Context, hold: Hold) -> None:
    """Deal the additional cards of a player who was passed over after all others."""
    assert hold.seat is not None
    if hold.seat not in c.state.round.late:
        c.state.round.late.append(hold.seat)


def burn_cards(c: Context, cards: int) -> None:
    """Burn cards: move them unseen to the rack, from the dispensed cards or from the source."""
    deck = c.deck if c.is_round_under_way else c.next_deck()
    if deck is not None and c.state.dealing == "continuous_shuffler":
        brought = min(cards, c.state.round.ready)
        c.state.round.ready -= brought
        c.state.round.dealt -= brought
        c.state.book.move(deck.name, book.SEATS, book.RACK, brought)
        c.state.book.move(deck.name, source_account(c), book.RACK, cards - brought)
    elif deck is not None:
        c.state.book.move(deck.name, book.TRAY if deck.place == PLAIN_SHOE else deck.place, book.RACK, cards)
    c.state.round.burned += cards * c.state.round.counting
    card_release.forget_if_drawn_early(c)


# --- advancing -------------------------------------------------------------------------------------------------------


def advance(c: Context) -> None:
    """Ask for a burn, or for the next cards."""
    if c.is_round_stopped:
        return
    if c.state.burn_due and _may_burn(c):
        duty = "burn_shoe" if c.state.burn_shoe else "burn_dealer"
        if c.state.dealing != "continuous_shuffler" or prepare_cards(c, 1):
            c.ask(duty, "dealer", clauses=c.clauses(duty))
        return
    if c.state.round.state == mc.DEALING:
        _deal_on(c)


def _may_burn(c: Context) -> bool:
    """Return whether a card can be burned now: from a shoe at any time, from a continuous shuffler in the deal."""
    if c.state.dealing == "continuous_shuffler":
        return c.state.round.state in (mc.DEALING, mc.SETTLING)
    deck = c.deck if c.is_round_under_way else c.next_deck()
    return deck is not None and c.is_in_place(deck) and c.state.round.state not in (mc.COMPLETE, mc.VOID)


def _deal_on(c: Context) -> None:
    round_ = c.state.round
    waiting = round_.to_deal or round_.completing is not None
    if not waiting:
        if round_.in_slot is None:
            c.fire_round("check_stub" if c.edition.stub is not None else "play")
    elif c.state.dealing == "automated_shoe" and c.shoe is not None:
        number = 1 if round_.completing is not None else c.edition.hand.cards
        c.try_issue_command("dispense", c.shoe, deck=round_.deck, number=number)
    elif prepare_cards(c, first_deal_cards(c)):
        c.ask("dealt", "dealer", seat=round_.to_deal[0], clauses=c.clauses("deal"))


def prepare_cards(c: Context, cards: int) -> bool:
    """Have the source prepare cards to be dealt by hand; return whether they are ready."""
    round_ = c.state.round
    if c.source is None:
        return True
    if c.state.dealing == "continuous_shuffler":
        if round_.ready >= cards:
            return True
        c.try_issue_command("dispense", c.source, deck=round_.deck, number=cards - round_.ready)
        return False
    if not round_.counting and not c.is_blocked("start_round", c.source, round_.deck):
        round_.counted_by = c.issue_command("start_round", c.source, deck=round_.deck)
        round_.counting = True
    return round_.counting


def _dealt(c: Context, _prompt: Prompt, _answer: ev.Answer) -> None:
    """The dealer dealt the first cards."""
    places, c.state.round.to_deal = c.state.round.to_deal, []
    record_dealt(c, first_deal_cards(c))
    card_release.record_first_deal(c, places)


def record_dealt(c: Context, cards: int) -> None:
    """Record cards dealt by hand; a counting shoe must have counted the same number."""
    round_ = c.state.round
    assert c.deck is not None
    if c.state.dealing == "continuous_shuffler":
        round_.ready -= cards
        return
    c.state.book.move(c.deck.name, source_account(c), book.SEATS, cards)
    round_.dealt += cards
    slip = round_.dealt + round_.discarded + round_.burned - round_.drawn
    if round_.counting and slip != round_.slip:
        seen = f"the shoe counted {round_.drawn} drawn cards, {round_.drawn + slip - round_.slip} expected"
        c.record_finding("drawn_differs", seen, c.deck.name)
        round_.slip = slip  # the floorperson decides about this difference; a new one opens another hold
        open_hold(c, "drawn_differs", slot=c.source, deck=c.deck.name)


def _burned_of_shoe(c: Context, _prompt: Prompt, _answer: ev.Answer) -> None:
    burn_cards(c, c.state.burn_shoe)
    c.state.burn_shoe = 0


def _burned_by_dealer(c: Context, _prompt: Prompt, _answer: ev.Answer) -> None:
    burn_cards(c, c.state.burn_dealer)
    c.state.burn_dealer = 0


ANSWERS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], None]]] = {
    "dealt": _dealt,
    "burn_shoe": _burned_of_shoe,
    "burn_dealer": _burned_by_dealer,
}
