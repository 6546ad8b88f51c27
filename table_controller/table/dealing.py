"""From locked bets to the last card: starting position, the deal by shoe or hand, and the stub. No wager is settled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.ledger import cards as book
from table_controller.table import machines as mc
from table_controller.table.irregularities import irregular

if TYPE_CHECKING:
    from table_controller.table import events as ev
    from table_controller.table.context import Context
    from table_controller.table.decisions import Prompt

DEALER: Final = 0
PLACES: Final = 7  # the dealer and six seats; number 1 is the dealer, then counterclockwise
FINDINGS: Final = ("not_misdealt", "misdealt_total_right", "misdealt_total_wrong")


def position_of_total(total: int) -> int:
    """Return the position number of a total of dice."""
    return (total - 1) % PLACES + 1


def place_of(number: int) -> int:
    """Return the seat of a position number, 0 for the dealer."""
    return DEALER if number == 1 else PLACES + 1 - number


def places(c: Context) -> list[int]:
    """Return the places that get cards, clockwise from the far left."""
    return [*sorted(c.state.round.seats), *([DEALER] if c.edition.hand.dealer_hand else [])]


def deal_order(c: Context) -> list[int]:
    """Return the places in the order of the deal: clockwise, from the starting position or from the far left."""
    round_, order = c.state.round, places(c)
    if c.edition.deal.begins != "starting_position":
        return order
    assert round_.start is not None
    first = order.index(place_of(round_.start))
    return order[first:] + order[:first]


# --- starting position -----------------------------------------------------------------------------------------------


def dice_placed(c: Context, _event: ev.DicePlaced) -> None:
    """New dice: their time at the table begins."""
    c.state.dice_expired = False
    if c.edition.dice is not None:
        c.timer("dice_age", c.edition.dice.max_hours * 3600.0)


def dice_read(c: Context, event: ev.DiceRead) -> None:
    """The dice lie: the dealer announces their total, and only the same total counts."""
    if c.state.round.state != mc.STARTING_POSITION:
        c.finding("dice_out_of_turn", "dice were read when no starting position was due")
        return
    c.state.round.start = position_of_total(sum(event.values))
    c.state.round.announced = False
    c.ask("announce", "dealer", number=True, slot=event.slot, clauses=(c.clause_of("start_position"),))


def announced(c: Context, number: int | None) -> None:
    """Compare the dealer's total with the dice; a wrong one is corrected freely before the first card."""
    if c.state.round.start is None or number is None:
        return
    if position_of_total(number) == c.state.round.start and 3 <= number <= 18:
        c.state.round.announced = True
    else:
        c.refuse(f"a total of {number} does not give the position of the dice; total them again")


def no_roll(c: Context, event: ev.NoRoll) -> None:
    """No roll: the dice are shaken again."""
    if c.state.round.state == mc.STARTING_POSITION:
        c.state.round.start, c.state.round.asked_start = None, False
        c.drop_prompts("announce")
        if event.trigger == "too_few_shakes":
            c.finding("no_roll", "fewer shakes than the rule asks for")
        else:
            irregular(c, event.trigger, slot=event.slot)


def number_drawn(c: Context, event: ev.NumberDrawn) -> None:
    """The generator's number is the position."""
    if c.state.round.state != mc.STARTING_POSITION or not 1 <= event.number <= PLACES:
        irregular(c, "wrong_number", slot=event.slot)
        return
    c.state.round.start, c.state.round.announced = event.number, True


def button_seen(c: Context, event: ev.ButtonSeen) -> None:
    """The flat button's place is the position; a place that cannot be told gives none."""
    if c.state.round.state == mc.STARTING_POSITION and event.number is not None:
        c.state.round.start, c.state.round.announced = event.number, True


# --- the deal --------------------------------------------------------------------------------------------------------


def _begin(c: Context) -> None:
    """Cards may leave: the deck is in play from now on, and this round is dealt from it."""
    round_ = c.state.round
    deck = c.state.decks[round_.deck or ""]
    if c.state.dealing == "hand":
        deck.by_hand = True
    deck.rounds.append(round_.number)
    c.fire_deck(deck, "use")
    round_.to_deal = deal_order(c)
    c.fire_round("deal")


def per_place(c: Context) -> int:
    """Return how many cards each place gets in the first deal."""
    return c.edition.hand.first_deal or c.edition.hand.cards


def stack_out(c: Context, event: ev.StackOut) -> None:
    """A stack came out of the shoe; its count is what the shoe's sensor saw."""
    round_ = c.state.round
    if round_.deck is not None and round_.state in (mc.DEALING, mc.VOID):
        c.state.book.move(round_.deck, event.slot, book.SEATS, event.count)
    if round_.state != mc.DEALING or not round_.to_deal:
        irregular(c, "unordered_stack", slot=event.slot, deck=round_.deck)
        return
    round_.dealt += event.count
    if event.count != c.edition.hand.cards:
        irregular(c, "shoe_fault", slot=event.slot, deck=round_.deck)
        return
    round_.in_slot = round_.to_deal.pop(0)


def stack_taken(c: Context, _event: ev.StackTaken) -> None:
    """The dealer took the stack to its place."""
    c.state.round.in_slot = None


def cards_drawn(c: Context, event: ev.CardsDrawn) -> None:
    """A manual shoe counts what is drawn; before the deal nothing may be."""
    if c.state.round.state not in (mc.DEALING, mc.STUB_CHECK, mc.PLAYING, mc.SETTLING):
        irregular(c, "drawn_without_deal", slot=event.slot, deck=c.state.round.deck)


def shoe_fault(c: Context, event: ev.ShoeFault) -> None:
    """The shoe jammed, stopped, or did not deal all cards."""
    irregular(c, "shoe_fault", slot=event.slot, deck=c.state.slots[event.slot].deck)


def face_up(c: Context, _slot: str | None) -> None:
    """A card was found face up in this deal: the first and any further one have their own rules."""
    c.state.round.face_up += 1
    first = c.state.round.face_up == 1
    irregular(c, "face_up_card_first" if first else "face_up_card_more", deck=c.state.round.deck)


def delivered(c: Context, cards: int) -> None:
    """Cards were dealt by hand or drawn from a shoe, as the dealer says."""
    round_ = c.state.round
    round_.dealt += cards
    deck = c.state.decks[round_.deck or ""]
    c.state.book.move(deck.name, deck.place if deck.place != "hands" else book.TRAY, book.SEATS, cards)


def expected_dealt(c: Context) -> int:
    """Return how many cards the first deal takes."""
    return per_place(c) * len(places(c))


def stub_due(c: Context) -> bool:
    """Tell whether the stub of this deal must be counted."""
    stub = c.edition.stub
    if stub is None or stub.every_rounds is None or (stub.only_without_counting_shuffler and c.counting):
        return False
    return stub.every_rounds == 1 or c.state.uncounted + 1 >= stub.every_rounds


def expected_stub(c: Context) -> int:
    """Return how many cards must be left: all that were not dealt, laid aside or discarded."""
    round_ = c.state.round
    return c.edition.cards.count - expected_dealt(c) - round_.replacement - round_.discarded


def stub_out(c: Context, event: ev.StubOut) -> None:
    """The shoe gave the stub out and counted it."""
    deck = c.state.round.deck
    if deck is not None:
        c.state.book.move(deck, event.slot, book.STUB, event.count)
    _count_stub(c, event.count)


def _count_stub(c: Context, number: int) -> None:
    """A stub was counted: right, to be counted once more, or wrong."""
    round_ = c.state.round
    round_.stub = number
    if number == expected_stub(c):
        round_.stub_done = True
        c.state.uncounted = 0
        if round_.deck is not None:
            c.state.decks[round_.deck].rounds = [round_.number]  # all cards are there; this round is still open
    elif not round_.recounted:
        round_.recounted = True
        c.ask("stub", "dealer", number=True, clauses=(c.clause_of("stub"),))
    else:
        c.ask("finding", "dealer", *FINDINGS, clauses=(c.clause_of("stub"),))


def answered(c: Context, prompt: Prompt, answer: ev.Answer) -> bool:
    """Take an answer about the deal; False if it is about something else."""
    match prompt.kind:
        case "announce":
            announced(c, answer.number)
        case "dealt":
            delivered(c, expected_dealt(c))
            c.state.round.to_deal = []
        case "replacement":
            c.state.round.replacement = 1
        case "park_shaker":
            c.state.round.parked = True
        case "stub":
            if answer.number is not None:
                _count_stub(c, answer.number)
        case "finding":
            irregular(c, "stub_wrong", deck=c.state.round.deck, finding=answer.choice)
        case "burn":
            c.state.shoe_burn_due = c.state.dealer_burn_due = False
        case _:
            return False
    return True


# --- going on --------------------------------------------------------------------------------------------------------


def advance(c: Context) -> None:
    """Go on as far as position, cards and stub allow."""
    if any(hold.this_round for hold in c.state.holds.values()):
        return
    if c.state.round.state == mc.LOCKED:
        _find_start(c)
    if c.state.round.state == mc.STARTING_POSITION:
        _await_start(c)
    if c.state.round.state == mc.DEALING:
        _deal_on(c)
    if c.state.round.state == mc.STUB_CHECK:
        _check_stub(c)


def _find_start(c: Context) -> None:
    if c.edition.deal.begins == "starting_position":
        c.fire_round("find_start")
    else:
        _begin(c)


def _await_start(c: Context) -> None:
    round_, slot = c.state.round, c.start_slot
    if round_.start is not None and round_.announced:
        _begin(c)
    elif round_.start is not None:
        c.ask("announce", "dealer", number=True, slot=slot, clauses=(c.clause_of("start_position"),))
    elif slot is not None and not round_.asked_start and c.state.start != "flat_button":
        act = "arm_dice" if c.state.start == "shaker" else "draw"
        round_.asked_start = c.try_command(act, slot, deck=round_.deck)


def _deal_on(c: Context) -> None:
    round_ = c.state.round
    automated = c.state.dealing == "automated_shoe"
    if round_.to_deal and automated and c.shoe is not None:
        c.try_command("dispense", c.shoe, deck=round_.deck, number=c.edition.hand.cards)
        return
    if round_.to_deal:
        c.ask("dealt", "dealer", clauses=(c.clause_of("dealing"),))
        return
    if automated and round_.in_slot is not None:
        return
    if _replacement_due(c):
        c.ask("replacement", "dealer", clauses=(c.clause_of("replacement"),))
    elif stub_due(c) or automated:  # a shoe that counts is emptied after every deal, and its count is looked at
        c.fire_round("check_stub")
    else:
        if c.edition.stub is not None and not c.counting:
            c.state.uncounted += 1
        c.fire_round("play")
    if not round_.to_deal and c.state.start == "shaker" and c.edition.dice is not None and not round_.parked:
        c.ask("park_shaker", "dealer", slot=c.start_slot, clauses=(c.edition.dice.clause,))


def _replacement_due(c: Context) -> bool:
    rule = c.edition.deal.replacement_card.get(c.state.dealing, "never")
    wanted = rule == "offered" or (rule == "bet" and bool(c.state.progressive.accepted))
    return c.progressive and wanted and not c.state.round.replacement


def _check_stub(c: Context) -> None:
    round_ = c.state.round
    if round_.stub_done:
        c.fire_round("play")
    elif round_.stub is None and c.state.dealing == "automated_shoe" and c.shoe is not None:
        c.try_command("give_stub", c.shoe, deck=round_.deck)
    elif round_.stub is None:
        c.ask("stub", "dealer", number=True, clauses=(c.clause_of("stub"),))
