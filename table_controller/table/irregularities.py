"""What happens when something goes wrong: the rulebook's ruling becomes steps, and a hold that only people can clear.

A hold stops what it concerns. Its steps are done in the order of the ruling; the last one is the acknowledgement of the
named role. Nothing here can be skipped, and clearing a cause never clears the hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.service import FAULTED
from table_controller.rulebook import TRIGGERS, default_ruling, rulings
from table_controller.table import machines as mc
from table_controller.table.decisions import Cleared, Found, WagersReturned
from table_controller.table.state import Hold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from table_controller.rulebook import Ruling
    from table_controller.table.context import Context
    from table_controller.table.decisions import Prompt
    from table_controller.table.events import Person

# Outcomes that leave the choice to a person; what may be chosen, the ruling says.
_CHOICES: Final = ("ask_floorperson", "player_may_void", "player_option_dead_hand")
# What each outcome asks of people, in order; an outcome without an entry is carried out at once.
STEPS: Final[dict[str, tuple[str, ...]]] = {
    "return_wagers": ("wagers_returned",),
    "settle_optional_wagers": ("optional_settled",),
    "reshuffle": ("cards_together",),
    "reshuffle_with_dealt": ("shoe_emptied", "cards_together"),
    "remove_deck": ("deck_removed",),
    "discard_card": ("card_discarded",),
    "use_as_next_card": ("card_kept",),
    "reset_dealer_hand": ("dealer_hand_reset",),
    "sign_out_of_order": ("sign_seen",),
    "finish_after_reshuffle": ("discards_shuffled", "card_burned"),
}
# Who answers each step, and with what.
_ASKED: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "wagers_returned": ("dealer", ("done",)),
    "optional_settled": ("dealer", ("done",)),
    "shoe_emptied": ("dealer", ("done",)),
    "cards_together": ("dealer", ("done",)),
    "let_out": ("floorperson", ("done",)),
    "deck_removed": ("floorperson", ("done",)),
    "card_discarded": ("floorperson", ("done",)),
    "card_kept": ("dealer", ("done",)),
    "dealer_hand_reset": ("dealer", ("done",)),
    "sign_seen": ("floorperson", ("covered", "signed")),
    "discards_shuffled": ("dealer", ("done",)),
    "card_burned": ("dealer", ("done",)),
    "device_cleared": ("technician", ("done", "give_up")),
    "acknowledge": ("floorperson", ("acknowledged",)),
}
_ROUND_PROMPTS: Final = (
    "seats", "seat_undecided", "chips", "announce", "dealt", "replacement", "stub", "finding", "decide", "reveal",
    "park_shaker",
    "settled", "collected",
)  # fmt: skip


def irregular(
    c: Context,
    trigger: str,
    *,
    slot: str | None = None,
    deck: str | None = None,
    seat: int | None = None,
    finding: str | None = None,
) -> Hold:
    """Something went wrong: look the ruling up, latch it, and begin with its steps.

    What a device says again while its irregularity is being cleared belongs to that one.
    """
    for known in c.state.holds.values():
        if slot is not None and (known.trigger, known.slot) == (trigger, slot):
            c.finding("again", f"{slot}: {trigger} again, while it is being cleared", deck)
            return known
    ruling = _ruling(c, trigger, slot, deck, finding)
    hold = Hold(c.fresh_id(), trigger, ruling.clauses or ruling.see, [], ruling.outcomes, slot, deck, seat)
    hold.acknowledges, hold.evidence = ruling.acknowledges, ruling.evidence
    hold.this_round = _concerns_round(c, ruling, slot, deck)
    hold.decides = ruling.decides
    hold.choices = {choice.name: choice.outcomes for choice in ruling.choices}
    c.state.holds[hold.id] = hold
    c.out.append(Found(hold.id, trigger, ruling.outcomes, hold.clauses, slot, deck, seat))
    _stop(c, hold)
    _order(c, hold, ruling.outcomes)
    if slot is not None and c.state.slots[slot].state == FAULTED:
        hold.steps.append("device_cleared")
    hold.steps.append("acknowledge")
    _next(c, hold)
    return hold


def _ruling(c: Context, trigger: str, slot: str | None, deck: str | None, finding: str | None) -> Ruling:
    """What the rulebook says; where it knows no such trigger: stop, and the floorperson decides."""
    phase = c.state.round.state if c.state.round.state != mc.VOID else mc.COMPLETE
    if trigger not in TRIGGERS:
        return default_ruling(trigger, phase)  # type: ignore[arg-type]
    device = c.state.slots[slot].kind if slot else None
    facts = c.facts(device=device, other_deck=deck is not None and deck != c.state.round.deck, finding=finding)
    return rulings(c.edition, trigger, phase, facts)  # type: ignore[arg-type]


def _concerns_round(c: Context, ruling: Ruling, slot: str | None, deck: str | None) -> bool:
    """Whether the round in hand is concerned: not by a deck, or a shuffler with a deck, that serves the next one."""
    if c.state.round.state not in mc.UNDER_WAY:
        return False
    if deck is not None:
        return deck == c.state.round.deck
    return not (ruling.scope in ("deck", "device") and slot is not None and slot == c.shuffler)


def _stop(c: Context, hold: Hold) -> None:
    """Whatever moves and is concerned stops at once; this waits for nothing."""
    shoe = c.shoe
    if hold.this_round and shoe is not None and any(i.slot == shoe for i in c.state.commands.values()):
        c.command("stop", shoe, safe=True)


def _order(c: Context, hold: Hold, outcomes: Iterable[str]) -> None:
    """Carry out what needs nobody, and put the steps that people do before what is still to be done."""
    steps: list[str] = []
    for outcome in outcomes:
        if outcome in _CHOICES:
            steps += ["choose"] if hold.choices and "choose" not in steps else []
        elif outcome == "hold_deck":
            _hold_deck(c, hold)
        elif outcome == "void_round":
            _void(c, hold)
        elif outcome == "remove_deck" and c.shuffler is not None and c.state.slots[c.shuffler].deck == hold.deck:
            steps += ["let_out", "deck_removed"]
        else:
            steps += STEPS.get(outcome, ())
    hold.steps[:0] = steps


def _hold_deck(c: Context, hold: Hold) -> None:
    """Nobody deals from this deck until a floorperson has acted."""
    deck = c.state.decks.get(hold.deck or "")
    if deck is not None and mc.may(mc.DECK, deck, "hold"):
        c.fire_deck(deck, "hold")


def _void(c: Context, hold: Hold) -> None:
    """The round is void: its questions end, and its wagers go back but for those that are still settled."""
    if c.state.round.state not in mc.UNDER_WAY:
        return
    hold.this_round = True
    c.fire_round("void")
    c.drop_prompts(*_ROUND_PROMPTS)
    settled = ("progressive", "trips") if "settle_optional_wagers" in hold.outcomes else ()
    c.out.append(WagersReturned(c.state.round.number, settled, hold.clauses))
    if c.progressive and c.state.progressive.state != mc.CLOSED:
        if c.state.progressive.state == mc.OPEN:  # wagers go back, so none may come in
            for sensor in c.sensors:
                c.command("lock", sensor, number=c.state.round.number, safe=True)
        c.fire_progressive("settle")


def _next(c: Context, hold: Hold) -> None:
    """Ask for the hold's next step."""
    step = hold.steps[0]
    if step == "choose":
        role = (
            "floorperson" if hold.decides == "floorperson" else "dealer"
        )  # a player's choice is entered by the dealer
        choices: tuple[str, ...] = tuple(hold.choices)
    else:
        role, choices = _ASKED[step]
    if step == "acknowledge":
        role = hold.acknowledges
    c.ask(step, role, *choices, hold=hold.id, deck=hold.deck, seat=hold.seat, slot=hold.slot, clauses=hold.clauses)


def answered(c: Context, prompt: Prompt, choice: str, who: Person) -> bool:
    """Take the answer to a hold's step; False if the prompt belongs to no hold."""
    hold = c.state.holds.get(prompt.hold or 0)
    if hold is None:
        return False
    assert hold.steps[0] == prompt.kind, "only the first step of a hold is asked for"
    hold.steps.pop(0)
    if prompt.kind == "acknowledge":
        _acknowledge(c, hold, who)
        return True
    _ANSWERS.get(prompt.kind, _nothing)(c, hold, choice)
    _next(c, hold)
    return True


def _nothing(_c: Context, _hold: Hold, _choice: str) -> None:
    """People did it; there is nothing more to know."""


def _chosen(c: Context, hold: Hold, choice: str) -> None:
    """A person has decided where the text leaves it to one. No choice deals from a bad deck: none is in the rulebook."""
    outcomes = hold.choices[choice]
    if hold.seat is not None and "return_wagers" in outcomes and "void_round" not in outcomes:
        c.state.round.dead.append(hold.seat)
    hold.outcomes += tuple(outcomes)
    _order(c, hold, outcomes)


def _cards_together(c: Context, hold: Hold, _choice: str) -> None:
    """The cards are together again, out of device and play: a stack that must be shuffled."""
    from table_controller.table import decks

    deck = c.state.decks.get(hold.deck or c.state.round.deck or "")
    if deck is None or deck.state == mc.REMOVED:
        return
    held = deck.state == mc.HELD
    if held and any(other.deck == deck.name and other.id != hold.id for other in c.state.holds.values()):
        return  # another irregularity holds it still
    if deck.state == mc.IN_PLAY:
        decks.collected(c, deck)
    elif deck.state == mc.IN_DEVICE or held:
        _let_out(c, hold, "")
        decks.out_of_device(c, deck)
        c.fire_deck(deck, "release" if held else "take_out")


def _deck_removed(c: Context, hold: Hold, _choice: str) -> None:
    from table_controller.table import decks

    deck = c.state.decks.get(hold.deck or c.state.round.deck or "")
    if deck is not None and deck.state != mc.REMOVED:
        decks.removed(c, deck)


def _let_out(c: Context, hold: Hold, _choice: str) -> None:
    """On a person's word a shuffler in service gives out a deck that nobody may deal from."""
    deck = c.state.decks.get(hold.deck or "")
    if deck is not None and c.shuffler is not None and c.state.slots[c.shuffler].deck == deck.name:
        c.try_command("clear_out", c.shuffler, deck=deck.name)


def _card_discarded(c: Context, _hold: Hold, _choice: str) -> None:
    c.state.round.discarded += 1


def _sign_seen(c: Context, hold: Hold, _choice: str) -> None:
    assert hold.slot is not None
    mc.fire(mc.SERVICE, c.state.slots[hold.slot], "sign")
    c.moved(f"slot {hold.slot}", c.state.slots[hold.slot].state)


def _device_cleared(c: Context, hold: Hold, choice: str) -> None:
    """The technician has cleared the cause, or gives the device up: then it is out of order and must be signed."""
    assert hold.slot is not None
    slot = c.state.slots[hold.slot]
    trigger = "give_up" if choice == "give_up" else "clear"
    if mc.may(mc.SERVICE, slot, trigger):
        mc.fire(mc.SERVICE, slot, trigger)
        c.moved(f"slot {hold.slot}", slot.state)
    if choice == "give_up":
        hold.steps.insert(0, "sign_seen")


_ANSWERS: Final[dict[str, Callable[[Context, Hold, str], None]]] = {
    "choose": _chosen,
    "cards_together": _cards_together,
    "let_out": _let_out,
    "deck_removed": _deck_removed,
    "card_discarded": _card_discarded,
    "sign_seen": _sign_seen,
    "device_cleared": _device_cleared,
}


def _acknowledge(c: Context, hold: Hold, who: Person) -> None:
    """The named role has acknowledged: the hold is over. A device still has to report before it serves."""
    del c.state.holds[hold.id]
    c.out.append(Cleared(hold.id, who.credential))
    slot = c.state.slots.get(hold.slot or "")
    if slot is not None and mc.may(mc.SERVICE, slot, "acknowledge"):
        mc.fire(mc.SERVICE, slot, "acknowledge")
        c.moved(f"slot {hold.slot}", slot.state)
