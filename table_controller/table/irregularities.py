"""Irregularities: the rulebook's ruling becomes a hold that only people can clear.

A hold stops what it concerns. Its steps are done in the order of the ruling; the last one is the acknowledgment of the
named role. `hold_steps` asks for them and applies the answers. No step can be skipped, and clearing the cause does
not clear the hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, cast

from devices.service import FAULTED
from table_controller.rulebook import TRIGGERS, default_ruling, find_ruling, order_by_precedence
from table_controller.rulebook.game_rules import game_rules
from table_controller.table import progressive_bets
from table_controller.table import state_machines as mc
from table_controller.table.decisions import HoldOpened, WagersReturned
from table_controller.table.state import Hold, Progressive

if TYPE_CHECKING:
    from collections.abc import Iterable

    from table_controller.rulebook import Phase, Ruling, Trigger
    from table_controller.rulebook.vocabulary import StubFinding
    from table_controller.table.context import Context
    from table_controller.table.state import Deck

# Triggers that the core detects and no chapter names. The default ruling applies: stop, the floorperson decides.
CoreTrigger = Literal[
    "chips_differ", "bet_without_wager", "unreasonable_contribution", "unordered_stack",
    "drawn_without_deal", "drawn_differs", "unknown_cards",
    "wrong_number", "command_failed", "box_restarted", "stub_counts_differ", "cards_contradict", "other",
]  # fmt: skip

# When the number of chips differs from the accepted bets: recount or void. The round cannot continue otherwise.
_CHIPS: Final = {"recount": ("continue_round",), "void": ("void_round", "return_wagers")}
# Choices for a deck that is not in play, where no rule decides.
_OTHER_DECK: Final = {"reshuffle": ("reshuffle",), "remove": ("remove_deck",)}
_NO_DECK: Final = {"continue": ("continue_round",)}
# Outcomes that leave the choice to a person; the ruling lists the choices.
_ASKING: Final = ("ask_floorperson", "player_may_void", "player_option_dead_hand")
# The steps that people do for each outcome, in order; an outcome without steps is carried out at once.
STEPS_OF_OUTCOME: Final[dict[str, tuple[str, ...]]] = {
    "return_wagers": ("wagers_returned",),
    "reshuffle": ("let_out", "cards_together"),
    "reshuffle_with_dealt": ("shoe_emptied", "cards_together"),
    "remove_deck": ("let_out", "deck_removed"),
    "discard_card": ("card_discarded",),
    "use_as_next_card": ("card_kept",),
    "sign_out_of_order": ("sign_seen",),
    "finish_after_reshuffle": ("rack_shuffled", "card_burned"),
}
_MOVES_DECK: Final = ("reshuffle", "reshuffle_with_dealt", "remove_deck")
# The steps of other holds that remain due when the round is void: those about cards and devices, not hands.
_OUTLAST_VOID: Final = (
    "let_out",
    "cards_together",
    "deck_counted",
    "deck_removed",
    "device_cleared",
    "sign_seen",
    "acknowledge",
)


def open_hold(
    c: Context,
    trigger: Trigger | CoreTrigger,
    *,
    slot: str | None = None,
    deck: str | None = None,
    seat: int | None = None,
    finding: StubFinding | None = None,
) -> None:
    """Open a hold for an irregularity by its ruling, and begin with its outcomes. A repeat opens no second one."""
    if any((h.trigger, h.slot, h.deck, h.seat) == (trigger, slot, deck, seat) for h in c.state.holds.values()):
        return
    bad = c.state.decks.get(deck or "")
    if trigger == "count_wrong" and bad is not None:
        bad.verified = False  # it is dealt again only after a count finds it complete
    between = _doubt_between(c, bad)
    ruling = _ruling(c, trigger, slot, deck, finding)
    hold = Hold(
        c.fresh_id(), trigger, ruling.clauses or ruling.see, [], ruling.outcomes, slot, deck, seat,
        ruling.acknowledges, ruling.evidence, ruling.decides, this_round=_concerns_round(c, ruling, slot, deck),
    )  # fmt: skip
    hold.choices = _choices(c, hold, ruling)
    c.state.holds[hold.id] = hold
    c.out.append(HoldOpened(hold.id, trigger, ruling.outcomes, hold.clauses, slot, deck, seat))
    carry_out(c, hold, ruling.outcomes)
    if between and "shoe_emptied" not in hold.steps:
        hold.steps.insert(0, "shoe_emptied")  # whichever of the two machines failed
    if slot is not None and c.state.slots[slot].state == FAULTED:
        hold.steps.append("device_cleared")
        hold.acknowledges = "floorperson"  # a device's fault is always acknowledged by a floorperson
    hold.steps.append("acknowledge")


def open_holds(c: Context, triggers: Iterable[Trigger], *, slot: str | None = None, deck: str | None = None) -> None:
    """Open a hold for each of several simultaneous irregularities, in the edition's order of precedence."""
    for trigger in order_by_precedence(c.edition, triggers):
        open_hold(c, trigger, slot=slot, deck=deck)


def open_ordered_hold(c: Context, what: str, outcome: str, deck: str, clauses: tuple[str, ...]) -> None:
    """Open a hold for a floorperson's order about a deck that is not in play, with the steps of the outcome."""
    hold = Hold(c.fresh_id(), what, clauses, [], (outcome,), deck=deck)
    between = _doubt_between(c, c.state.decks[deck])
    c.state.holds[hold.id] = hold
    c.out.append(HoldOpened(hold.id, what, (outcome,), clauses, deck=deck))
    carry_out(c, hold, (outcome,))
    if between:
        hold.steps.insert(0, "shoe_emptied")
    hold.steps.append("acknowledge")


def _doubt_between(c: Context, deck: Deck | None) -> bool:
    """Return whether a deck is between the shuffler and the shoe; its cards may be in both, so it must be counted."""
    between = deck is not None and c.is_between_machines(deck)
    if deck is not None and between:
        deck.verified = False
    return between


def _ruling(c: Context, trigger: str, slot: str | None, deck: str | None, finding: StubFinding | None) -> Ruling:
    """Return the rulebook's ruling; for a trigger it does not know, the default: stop, the floorperson decides."""
    phase = cast("Phase", _phase(c, slot))
    known = cast("Trigger", trigger)
    if trigger not in TRIGGERS:
        return default_ruling(known, phase)
    return find_ruling(c.edition, known, phase, c.facts(slot=slot, deck=deck, finding=finding))


def _phase(c: Context, slot: str | None) -> str:
    """Return the phase of a case. A void round counts as complete, unless its wagers are still settled."""
    if c.state.round.state != mc.VOID:
        return c.state.round.state
    return mc.SETTLING if slot is None and c.settles_void else mc.COMPLETE


def _concerns_round(c: Context, ruling: Ruling, slot: str | None, deck: str | None) -> bool:
    """Return whether a case concerns the current round: not if its deck or device serves the next round."""
    if not c.is_round_under_way and not (slot is None and c.settles_void):
        return False
    if deck is not None:
        return deck == c.state.round.deck
    if slot is not None and c.state.slots[slot].kind in ("shuffler", "shoe"):
        return slot == c.source and (ruling.scope == "round" or c.state.round.state == mc.DEALING)
    return True


def _choices(c: Context, hold: Hold, ruling: Ruling) -> dict[str, tuple[str, ...]]:
    """Return the decider's possible answers.

    A round that is not concerned cannot be voided, and no answer deals from a bad deck.
    """
    if hold.trigger == "chips_differ":
        return dict(_CHIPS)
    named: dict[str, tuple[str, ...]] = {choice.name: choice.outcomes for choice in ruling.choices}
    if ruling.rows:
        return named
    deck = c.state.decks.get(hold.deck or "")
    if not hold.this_round:
        return dict(_OTHER_DECK if deck is not None and deck.state != mc.REMOVED else _NO_DECK)
    given_out = deck is not None and hold.trigger == "unknown_cards" and not c.is_in_place(deck)
    if deck is not None and (not deck.verified or given_out):
        return {name: outcomes for name, outcomes in named.items() if "void_round" in outcomes}
    return named


def carry_out(c: Context, hold: Hold, outcomes: Iterable[str]) -> None:
    """Carry out the outcomes that need no person, and put the steps of the others before the open ones."""
    steps: list[str] = []
    for outcome in outcomes:
        if outcome in _ASKING:
            steps += ["choose"] if hold.choices and "choose" not in steps else []
        elif outcome == "hold_deck":
            _hold_deck(c, hold)
        elif outcome == "void_round":
            _void(c, hold)
        elif outcome in _MOVES_DECK and _dealt_from(c, hold):
            steps += _out_of_play(c, hold, outcome)
        elif outcome == "reshuffle" and "deck_verified" in hold.evidence:
            steps += ["let_out", "deck_counted"]
        elif outcome == "return_wagers" and _ante_alone(c, hold):
            steps += ["ante_returned"]
        elif outcome == "return_wagers":  # wagers that were taken or paid come first
            steps += _wagers_back(c, hold)
        elif outcome == "settle_optional_wagers":
            steps += [*_hands_to_confirm(c, hold), "replacement", "optional_settled"]
        elif outcome == "reset_dealer_hand":
            steps += ["dealer_hand_reset", *_seats_to_reopen(c, hold)]
        else:
            steps += STEPS_OF_OUTCOME.get(outcome, ())
    hold.steps[:0] = steps


def _hands_to_confirm(c: Context, hold: Hold) -> list[str]:
    """Return a step for every seat, where only wagers of complete hands are settled (W19).

    The box does not know who has a Trips Wager, and any hand may pay envy to a bettor, so it asks for all seats.
    """
    if "hands_complete" not in hold.evidence or not (c.state.money.bets or "trips" in c.submission.wagers):
        return []
    return [f"hand_complete/{seat}" for seat in c.state.round.seats if seat not in c.state.round.dead]


def _seats_to_reopen(c: Context, hold: Hold) -> list[str]:
    """Return a step for every seat whose main wager was settled against a dealer's hand that was set wrong (X18)."""
    if "wagers_reversed" not in hold.evidence:
        return []
    round_ = c.state.round
    kept = (*round_.surrendered, *round_.dead)  # their hands were not compared
    return [f"seat_reopened/{seat}" for seat in round_.settled if seat not in kept]


def _dealt_from(c: Context, hold: Hold) -> bool:
    """Return whether the current round was dealt from this hold's deck and wagers still depend on its cards."""
    deck = c.deck
    named = hold.deck or (c.state.round.deck if hold.this_round else None)
    dealt = c.state.round.state in (mc.DEALING, mc.STUB_CHECK, mc.PLAYING, mc.SETTLING) or _ends_settling(c, hold)
    return deck is not None and named == deck.name and dealt


def _out_of_play(c: Context, hold: Hold, outcome: str) -> list[str]:
    """Take a deck out of the round that was dealt from it: void the round and return the steps.

    With a continuous shuffler the dealt cards stay, and the round may continue, unless the batch was found wrong.
    """
    whole = c.deck is not None and c.deck.verified
    if hold.slot is not None and hold.slot == c.source == c.shuffler and whole:
        return ["cards_refed"]
    _void(c, hold)
    verified = outcome == "reshuffle" and "deck_verified" in hold.evidence
    return [*_wagers_back(c, hold), *(("let_out", "deck_counted") if verified else STEPS_OF_OUTCOME[outcome])]


def _wagers_back(c: Context, hold: Hold) -> list[str]:
    """Return the steps that return wagers: first those that were taken or paid, seat by seat.

    The floorperson directs this, for a void round and for one void hand (X18).
    """
    of_round = hold.this_round and c.state.round.state == mc.VOID
    dead = c.state.round.dead
    seats = [
        f"wagers_reversed/{seat}" for seat in _taken_or_paid(c) if (seat not in dead if of_round else seat == hold.seat)
    ]
    if seats and "wagers_reversed" not in hold.evidence:
        hold.evidence += ("wagers_reversed",)
    if not seats and "wagers_reversed" in hold.evidence:
        seats = ["wagers_reversed"]
    return [*seats, "wagers_returned"]


def _taken_or_paid(c: Context) -> list[int]:
    """Return the seats with a wager that was taken or paid: settled, folded or surrendered."""
    round_ = c.state.round
    folded = [seat for seat, choice in round_.decided.items() if choice == "fold" and round_.folds_taken]
    taken = {*round_.settled, *round_.side_settled, *round_.surrender_collected, *folded}
    return sorted(taken)


def _hold_deck(c: Context, hold: Hold) -> None:
    """Hold the deck: no card is dealt from it until a floorperson acts."""
    deck = c.state.decks.get(hold.deck or "")
    if deck is not None and mc.can_fire(mc.DECK, deck, "hold"):
        c.fire_deck(deck, "hold")


def _void(c: Context, hold: Hold) -> None:
    """Void the round: stop motion, close its questions, return its wagers except those still settled."""
    if _ends_settling(c, hold):
        _end_settling(c, hold)
    if not c.is_round_under_way:
        return
    hold.this_round = True
    if c.shoe is not None and c.has_pending_command(c.shoe):
        c.issue_command("stop", c.shoe, safe=True)
    if c.state.round.asked_start and c.state.start == "shaker" and c.start_slot is not None:
        c.issue_command("stop", c.start_slot, safe=True)
    c.fire_round("void")
    settles = "settle_optional_wagers" in hold.outcomes
    settled = game_rules(c.edition.game).settled_in_void_round if settles else ()
    c.out.append(WagersReturned(c.state.round.number, settled, hold.clauses))
    progressive_bets.void_bets(c, hold.clauses, settles="progressive" in settled)
    close_bets(c)
    _drop_needless(c, hold)


def _drop_needless(c: Context, hold: Hold) -> None:
    """Drop the steps of the other holds of a void round, except those about cards and devices."""
    for other in c.state.holds.values():
        if other.this_round and other.id != hold.id:
            kept = (*_OUTLAST_VOID, "choose") if "hold_deck" in other.outcomes else _OUTLAST_VOID
            other.steps = [step for step in other.steps if step in kept]


def _ends_settling(c: Context, hold: Hold) -> bool:
    """Return whether the round is already void, and this hold ends the settlement of its optional wagers.

    A device's hold does not: the cards to settle are at the seats, and voiding the round stopped the shoe.
    """
    return c.settles_void and hold.slot is None and "settle_optional_wagers" not in hold.outcomes


def _end_settling(c: Context, hold: Hold) -> None:
    """Return also the optional wagers of a void round, because another rule returns all wagers."""
    hold.this_round = True
    c.state.money.settles = False
    c.out.append(WagersReturned(c.state.round.number, (), hold.clauses))
    progressive_bets.void_bets(c, hold.clauses)
    _drop_needless(c, hold)
    for other in c.state.holds.values():
        other.outcomes = tuple(each for each in other.outcomes if each != "settle_optional_wagers")


def close_bets(c: Context) -> None:
    """Close the progressive bets of this round; lock the sensors where bets were still open."""
    if c.state.progressive.state == mc.OPEN:
        for sensor in c.sensors:
            c.issue_command("lock", sensor, number=c.state.round.number, safe=True)
    if c.state.progressive.state != mc.CLOSED:
        c.set_timer("lock", None)
        c.fire_progressive("settle")
        c.state.progressive = Progressive()


def return_hand_wagers(c: Context, hold: Hold) -> None:
    """Return the wagers of one hand and take it out of the round."""
    assert hold.seat is not None
    round_ = c.state.round
    round_.dead.append(hold.seat)
    round_.surrendered = [seat for seat in round_.surrendered if seat != hold.seat]  # its wager is not collected
    c.out.append(WagersReturned(round_.number, (), hold.clauses, hold.seat, _kept(c, hold)))
    if round_.envy_paid and (hold.seat in round_.envy_hands or hold.seat in round_.envy):
        c.record_finding(
            "envy_void", f"seat {hold.seat}: its hand is void; the dealer takes back the envy paid for it or to it"
        )
    progressive_bets.void_hand(c, hold.seat, hold.clauses)


def _ante_alone(c: Context, hold: Hold) -> bool:
    """Whether a dead hand gets only its Ante back, which the submission may choose (O9)."""
    dead = hold.seat is not None and "void_round" not in hold.outcomes
    return dead and c.submission.settings.get("dead_hand_returns") == "ante"


def _kept(c: Context, hold: Hold) -> tuple[str, ...]:
    """Return the wagers of this hand that are not returned: its decision wager and the optional ones."""
    if not _ante_alone(c, hold):
        return ()
    decided = c.state.round.decided.get(hold.seat or 0)
    return tuple(wager.name for wager in c.edition.wagers if wager.name in (decided, *c.submission.wagers))
