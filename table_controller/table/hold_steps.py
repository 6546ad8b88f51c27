"""The steps of a hold: who must answer each, the possible answers, and what each answer does.

`irregularities` decides which steps a hold has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.service import FAULTED, UNSIGNED
from table_controller.ledger import cards as book
from table_controller.table import dealing, decks, progressive_bets, service, side_wagers, stub
from table_controller.table import state_machines as mc
from table_controller.table.decisions import HoldCleared, WagersReturned
from table_controller.table.irregularities import carry_out, open_hold, return_hand_wagers
from table_controller.table.view import DECK_STEPS

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.table.context import Context
    from table_controller.table.decisions import DenialReason, Prompt
    from table_controller.table.events import Answer, Person
    from table_controller.table.state import Deck, Hold

# Who answers each step, and the answers. The ruling names who chooses and who acknowledges.
STEP_QUESTIONS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "wagers_returned": ("dealer", ("done",)),
    "ante_returned": ("dealer", ("done",)),
    "wagers_reversed": ("floorperson", ("done",)),
    "hand_complete": ("floorperson", ("complete", "incomplete")),
    "replacement": ("dealer", ("done",)),
    "optional_settled": ("dealer", ("done",)),
    "shoe_emptied": ("dealer", ("done",)),
    "cards_together": ("dealer", ("done",)),
    "cards_refed": ("dealer", ("done",)),
    "let_out": ("floorperson", ("done",)),
    "deck_counted": ("floorperson", ("whole", "remove")),
    "deck_removed": ("floorperson", ("done",)),
    "card_discarded": ("dealer", ("done",)),
    "card_kept": ("dealer", ("done",)),
    "dealer_hand_reset": ("dealer", ("done",)),
    "seat_reopened": ("floorperson", ("done",)),
    "sign_seen": ("floorperson", ("covered", "signed")),
    "rack_shuffled": ("dealer", ("done",)),
    "card_burned": ("dealer", ("done",)),
    "device_cleared": ("floorperson", ("done", "give_up")),
    "choose": ("floorperson", ()),
    "acknowledge": ("floorperson", ("acknowledged",)),
}


def advance(c: Context) -> None:
    """Ask for the next step of every hold; skip steps that are moot."""
    for hold in list(c.state.holds.values()):
        while _is_moot(c, hold):
            hold.steps.pop(0)
    _settle_or_wait(c)
    for hold in c.state.holds.values():
        if not _moving(c, hold) and not (
            hold.steps[0] == "optional_settled" and (progressive_bets.has_open_bets(c) or _in_doubt(c))
        ):
            _ask(c, hold)


def _settle_or_wait(c: Context) -> None:
    """Let a void round settle its progressive bets once the complete hands are known and no decision is open."""
    settling = next((hold for hold in c.state.holds.values() if "optional_settled" in hold.steps), None)
    if settling is not None:
        due = settling.steps[0] == "optional_settled" and not _in_doubt(c)
        c.state.money.settles = due and bool(c.state.money.bets)


def _in_doubt(c: Context) -> bool:
    """Return whether another hold of the round waits for a decision."""
    return any(hold.this_round and "choose" in hold.steps for hold in c.state.holds.values())


def _split(step: str) -> tuple[str, int | None]:
    """Return the kind of a step, and its seat if it has one."""
    kind, _, seat = step.partition("/")
    return kind, int(seat) if seat else None


def _moving(c: Context, hold: Hold) -> bool:
    """Return whether a device in service is moving the cards of the next step, so that people must wait."""
    deck = _deck_of(c, hold)
    if deck is None or hold.steps[0] not in DECK_STEPS:
        return False
    return any(i.deck == deck.name and c.is_in_service(i.slot) for i in c.state.commands.values())


def _deck_of(c: Context, hold: Hold) -> Deck | None:
    """Return the deck that a hold concerns: the one it names, or the round's."""
    named = hold.deck or (c.state.round.deck if hold.this_round else None)
    deck = c.state.decks.get(named or "")
    return None if deck is None or deck.state == mc.REMOVED else deck


def _is_moot(c: Context, hold: Hold) -> bool:
    """Return whether the next step of a hold is moot."""
    deck = _deck_of(c, hold)
    slot = c.state.slots.get(hold.slot or "")
    step, seat = _split(hold.steps[0])
    match step:
        case "seat_reopened":  # another irregularity reopened it, or took its hand out of the round
            return seat not in c.state.round.settled or seat in c.state.round.dead
        case "let_out":  # people take the cards out of a machine that is not in service
            return deck is None or not c.is_inside_shuffler(deck) or not c.is_in_service(c.shuffler)
        case "cards_together" | "deck_counted" | "deck_removed":
            return deck is None
        case "device_cleared":
            return slot is None or slot.state != FAULTED
        case "sign_seen":
            return slot is None or slot.state != UNSIGNED
        case "shoe_emptied":
            return c.source is None
        case "replacement":
            return not stub.is_replacement_missing(c)
        case "optional_settled":
            return "hands_complete" in hold.evidence and not _some_hand_complete(c)
    return False


def _some_hand_complete(c: Context) -> bool:
    """Return whether any complete hand may have optional wagers to settle (W19)."""
    round_ = c.state.round
    out = (*round_.incomplete, *round_.dead)
    seats = round_.seats if "trips" in c.submission.wagers else c.state.money.bets
    return any(seat not in out for seat in seats)


def _ask(c: Context, hold: Hold) -> None:
    step, seat = _split(hold.steps[0])
    role, choices = STEP_QUESTIONS[step]
    number, least, most = False, 0, 9999
    if step == "choose":
        # The dealer enters a player's choice.
        role = "floorperson" if hold.decides == "floorperson" else "dealer"
        choices = tuple(hold.choices)
    elif step == "acknowledge":
        role = hold.acknowledges
    elif step == "hand_complete":
        assert seat is not None
        choices = dealing.completeness_choices(c, seat)
    elif step == "cards_together":
        deck = _deck_of(c, hold)
        doubtful = deck is not None and not deck.verified
        number = doubtful or "cards_counted" in hold.evidence or c.state.uncounted + 1 >= _count_every(c)
    elif step == "deck_counted":
        number, least, most = True, c.edition.cards.count, c.edition.cards.count
    evidence = hold.evidence if step == "acknowledge" else ()
    # Cards on their way from the shuffler are taken out of the shoe, whichever of the two machines failed.
    slot = c.shoe if step == "shoe_emptied" and hold.slot == c.shuffler and c.shoe is not None else hold.slot
    c.ask(step, role, *choices, hold=hold.id, deck=hold.deck, seat=hold.seat if seat is None else seat, slot=slot,
          clauses=hold.clauses,
          number=number, least=least, most=most, evidence=evidence)  # fmt: skip


def _count_every(c: Context) -> int:
    """Return after how many rounds the whole deck must be counted; 9999 where no rule requires it."""
    every = c.edition.stub.every_rounds if c.edition.stub is not None and not c.is_stub_count_waived(c.deck) else 1
    return every if every > 1 else 9999


def reasons_against_return(c: Context, prompt: Prompt, answer: Answer) -> tuple[DenialReason, ...]:
    """Return why an acknowledgment is refused: it would return a device whose return to service has open steps."""
    if prompt.hold is None or prompt.kind != "acknowledge":
        return ()
    hold = c.state.holds[prompt.hold]
    others = any(other.slot == hold.slot for other in c.state.holds.values() if other is not hold)
    if hold.slot is None or others or not _returns(c, hold.slot, answer.who):
        return ()
    return tuple(reason for reason in c.reasons_against("return_to_service", hold.slot) if reason.key == "steps_open")


def _returns(c: Context, slot: str, who: Person) -> bool:
    """Whether a person's acknowledgment returns a device to service."""
    return who.role == "floorperson" and mc.can_fire(mc.SERVICE, c.state.slots[slot], "acknowledge")


def on_step_answered(c: Context, prompt: Prompt, answer: Answer) -> None:
    """Apply the answer to the first step of a hold."""
    assert prompt.hold is not None
    hold = c.state.holds[prompt.hold]
    kind, seat = _split(hold.steps[0])
    assert kind == prompt.kind, "only the first step of a hold is asked for"
    if prompt.kind != "let_out":  # done only when the cards are out
        hold.steps.pop(0)
    if prompt.kind == "acknowledge":
        _acknowledge(c, hold, answer.who)
    elif seat is not None:
        _ANSWERS_OF_SEAT[prompt.kind](c, hold, seat, answer)
    else:
        _ANSWERS.get(prompt.kind, _nothing)(c, hold, answer)


def _nothing(_c: Context, _hold: Hold, _answer: Answer) -> None:
    """Nothing to record beyond the answer."""


def _chosen(c: Context, hold: Hold, answer: Answer) -> None:
    """A person decided where the regulation leaves the decision open. No choice deals from a bad deck."""
    outcomes = hold.choices[answer.choice]
    hold.outcomes += outcomes
    if hold.seat is not None and "return_wagers" in outcomes and "void_round" not in outcomes:
        return_hand_wagers(c, hold)
    if answer.choice == "complete_stack":
        dealing.complete_stack(c, hold)
    elif answer.choice == "late_cards":
        dealing.deal_late_cards_last(c, hold)
    carry_out(c, hold, outcomes)


def _completeness_confirmed(c: Context, hold: Hold, seat: int, answer: Answer) -> None:
    """Return the wagers of a hand that was incomplete when the round was voided (W19)."""
    if answer.choice == "incomplete":
        c.state.round.incomplete.append(seat)
        c.out.append(WagersReturned(c.state.round.number, (), hold.clauses, seat))
        progressive_bets.return_bets(c, [seat], hold.clauses)


def _replacement_laid(c: Context, _hold: Hold, _answer: Answer) -> None:
    stub.lay_replacement(c)


def _seat_reopened(c: Context, _hold: Hold, seat: int, _answer: Answer) -> None:
    """A main wager and its hand are back in place, to be settled again (X18).

    Side wagers stay settled: none depends on how the dealer's cards were set.
    """
    c.state.round.settled.remove(seat)
    c.state.round.reopened = sorted({*c.state.round.reopened, seat})
    side_wagers.return_hand_from_rack(c, seat)


def _put_back(_c: Context, _hold: Hold, _seat: int, _answer: Answer) -> None:
    """The wagers of one seat are back in place; the journal records who directed it (X18)."""


def _let_out(c: Context, hold: Hold, _answer: Answer) -> None:
    """Have a shuffler in service give out a deck that may not be dealt, once a person agrees."""
    deck = _deck_of(c, hold)
    if deck is not None and c.shuffler is not None:
        c.try_issue_command("clear_out", c.shuffler, deck=deck.name)


def _cards_together(c: Context, hold: Hold, answer: Answer) -> None:
    """All cards of the deck are together, out of the device and out of play; the deck must be shuffled."""
    deck = _deck_of(c, hold)
    assert deck is not None
    decks.gather(c, deck)
    if answer.number is not None:
        decks.record_hand_count(c, deck, answer.number)


def _deck_counted(c: Context, hold: Hold, answer: Answer) -> None:
    """A held deck was counted and is complete, so it may be shuffled; or it is removed."""
    deck = _deck_of(c, hold)
    assert deck is not None
    if answer.choice == "remove":
        carry_out(c, hold, ("remove_deck",))
        return
    decks.gather(c, deck)
    decks.record_hand_count(c, deck, c.edition.cards.count)
    others = [h for h in c.state.holds.values() if h.id != hold.id and h.deck == deck.name and _undecided(h)]
    if deck.state == mc.HELD and not others:
        c.fire_deck(deck, "release")


def _undecided(hold: Hold) -> bool:
    """Return whether a hold keeps its deck and people have not counted or removed it yet."""
    return "hold_deck" in hold.outcomes and any(
        step in ("choose", "deck_counted", "deck_removed") for step in hold.steps
    )


def _deck_removed(c: Context, hold: Hold, _answer: Answer) -> None:
    deck = _deck_of(c, hold)
    assert deck is not None
    if c.is_round_under_way and deck.name == c.state.round.deck:  # removed before the deal, so the round has no cards
        carry_out(c, hold, ("void_round", "return_wagers"))
    decks.remove(c, deck)


def _shoe_emptied(c: Context, _hold: Hold, _answer: Answer) -> None:
    """The cards from the shoe and its delivery slot are on the table."""
    c.state.round.in_slot = None


def _card_discarded(c: Context, hold: Hold, _answer: Answer) -> None:
    dealing.discard_face_up_card(c, hold.seat)


def _sign_seen(c: Context, hold: Hold, _answer: Answer) -> None:
    assert hold.slot is not None
    c.fire_slot(hold.slot, "sign")


def _rack_shuffled(c: Context, _hold: Hold, _answer: Answer) -> None:
    """The shuffled and cut rack is in the shoe; after this round the whole batch is shuffled (O13)."""
    deck = c.deck
    if deck is not None:
        c.state.book.move(deck.name, book.RACK, dealing.source_account(c), c.state.book.balance(deck.name, book.RACK))
    c.state.shoe_over = True


def _card_burned(c: Context, _hold: Hold, _answer: Answer) -> None:
    dealing.burn_cards(c, c.edition.burn.after_emergency)


def _device_cleared(c: Context, hold: Hold, answer: Answer) -> None:
    """The fault is cleared, or the device is taken out of service and must be covered or signed."""
    assert hold.slot is not None
    if answer.choice == "give_up":
        service.take_out_of_service(c, hold.slot)
        open_hold(c, "device_unusable", slot=hold.slot)
    else:
        c.fire_slot(hold.slot, "clear")


_ANSWERS: Final[dict[str, Callable[[Context, Hold, Answer], None]]] = {
    "choose": _chosen,
    "let_out": _let_out,
    "cards_together": _cards_together,
    "deck_counted": _deck_counted,
    "deck_removed": _deck_removed,
    "shoe_emptied": _shoe_emptied,
    "card_discarded": _card_discarded,
    "sign_seen": _sign_seen,
    "rack_shuffled": _rack_shuffled,
    "card_burned": _card_burned,
    "device_cleared": _device_cleared,
    "replacement": _replacement_laid,
}
_ANSWERS_OF_SEAT: Final[dict[str, Callable[[Context, Hold, int, Answer], None]]] = {
    "hand_complete": _completeness_confirmed,
    "seat_reopened": _seat_reopened,
    "wagers_reversed": _put_back,
}


def _acknowledge(c: Context, hold: Hold, who: Person) -> None:
    """End the hold. Only a floorperson's acknowledgment returns a faulty device, which must then report well."""
    del c.state.holds[hold.id]
    c.out.append(HoldCleared(hold.id, who.credential))
    if hold.slot is not None and _returns(c, hold.slot, who) and not c.is_held(slot=hold.slot):
        c.fire_slot(hold.slot, "acknowledge")
        c.try_issue_command("return_to_service", hold.slot)
