"""The starting position: by dice, number or flat button, after the bets are locked and before the first card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.table import dealing
from table_controller.table import state_machines as mc
from table_controller.table.decks import HOUR_S
from table_controller.table.irregularities import open_hold

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.rulebook import Trigger
    from table_controller.table import events as ev
    from table_controller.table.context import Context
    from table_controller.table.decisions import Prompt

DICE_TIMER: Final = "dice_age"
# After the deal: the stub was counted or racked.
_DEALT: Final = (mc.PLAYING, mc.SETTLING, mc.COMPLETE)
# The dice are uncovered for the current round.
_ROLLED: Final = (mc.DEALING, mc.STUB_CHECK, *_DEALT)


def position_of_total(total: int) -> int:
    """Return the position number of a total of dice: counted counterclockwise from the dealer, who is one."""
    return (total - 1) % dealing.PLACES + 1


# --- dice -------------------------------------------------------------------------------------------------------------


def on_dice_opened(c: Context, _event: ev.DiceOpened) -> None:
    """The shaker was opened: a floorperson must confirm whether the dice were replaced."""
    if c.state.dice == "fresh":
        c.state.dice = "doubtful"


def on_dice_expired(c: Context) -> None:
    """The time of the dice on the table is over: the shaker is not armed until they are replaced."""
    c.state.dice = "expired"
    c.record_finding("dice_expired", "the time of the dice on the table is over; replace them")


def on_dice_read(c: Context, event: ev.DiceRead) -> None:
    """The dice were read: the dealer must announce the same total."""
    round_ = c.state.round
    c.state.lid_off = True
    due = round_.state == mc.STARTING_POSITION and c.state.start == "shaker" and round_.asked_start
    if not due or round_.total is not None:
        c.record_finding("dice_out_of_turn", "dice were read when no starting position was due")
        return
    round_.total = sum(event.values)


def on_no_roll_reported(c: Context, event: ev.NoRollReported) -> None:
    """No roll: cover the shaker and shake again; an open shaker cannot be armed."""
    c.state.lid_off = True
    if event.trigger == "too_few_shakes":
        if _reshake(c):
            c.record_finding("no_roll", f"fewer shakes than required ({c.clause('shakes')})")
    else:
        report_no_roll(c, event.trigger, event.slot)


def report_no_roll(c: Context, trigger: Trigger, slot: str | None) -> None:
    """A die is not flat, or outside, as the shaker or the dealer reports."""
    if _reshake(c):
        open_hold(c, trigger, slot=slot)


def _reshake(c: Context) -> bool:
    """Forget the roll; return whether a roll was due."""
    round_ = c.state.round
    if round_.state != mc.STARTING_POSITION or c.state.start != "shaker":
        return False
    round_.total, round_.start, round_.asked_start, round_.announced = None, None, False, False
    round_.marked = False
    return True


def _cover_due(c: Context) -> bool:
    """Whether the shaker must be covered before the next roll, because the uncovered dice are not in use.

    So after a no roll, and after a round voided before the shaker was put aside.
    """
    round_ = c.state.round
    rolled = round_.asked_start if round_.state == mc.STARTING_POSITION else round_.state in _ROLLED
    return c.state.lid_off and not rolled


def _covered(c: Context, _prompt: Prompt, _answer: ev.Answer) -> None:
    """The dealer covered the shaker; the shaker checks its lid itself when it is armed."""
    c.state.lid_off = False


def _announced(c: Context, _prompt: Prompt, answer: ev.Answer) -> None:
    """Compare the announced total with the dice; a wrong one is corrected before the first card (X7)."""
    round_ = c.state.round
    assert round_.total is not None
    if answer.number == round_.total:
        round_.start, round_.announced = position_of_total(round_.total), True
    else:
        open_hold(c, "wrong_start_announced", slot=c.start_slot)


def _new_dice(c: Context, _prompt: Prompt, answer: ev.Answer) -> None:
    """New dice start a new timer; the same dice keep theirs."""
    c.state.dice = "fresh"
    if answer.choice == "replaced" and c.edition.dice is not None:
        c.set_timer(DICE_TIMER, c.edition.dice.max_hours * HOUR_S)


# --- the dealer in charge of the shaker -------------------------------------------------------------------------------


def hand_over_shaker(c: Context, dealer: str) -> None:
    """A new dealer must take over the shaker."""
    if c.state.start == "shaker":
        c.state.shaker_for = dealer


def check_new_dealer(c: Context, _prompt: Prompt, answer: ev.Answer) -> str | None:
    """Return an objection unless the new dealer answers."""
    if answer.who.credential != c.state.shaker_for:
        return f"the new dealer, {c.state.shaker_for}, must take over the shaker"
    return None


def _taken_over(c: Context, _prompt: Prompt, _answer: ev.Answer) -> None:
    c.state.shaker_for = None


def _parked(c: Context, _prompt: Prompt, _answer: ev.Answer) -> None:
    c.state.round.parked = True
    c.state.lid_off = False


def _marked(c: Context, _prompt: Prompt, _answer: ev.Answer) -> None:
    """The dealer marked the starting position, as the Rules Submission has it."""
    c.state.round.marked = True


# --- number and button -----------------------------------------------------------------------------------------------


def on_number_drawn(c: Context, event: ev.NumberDrawn) -> None:
    """The generator's number is the position; a number outside one to seven opens a hold."""
    round_ = c.state.round
    due = round_.state == mc.STARTING_POSITION and c.state.start == "rng" and round_.asked_start
    if not due or round_.start is not None:
        c.record_finding("number_out_of_turn", "a number was drawn when no starting position was due")
        return
    if not 1 <= event.number <= dealing.PLACES:
        round_.asked_start = False
        open_hold(c, "wrong_number", slot=event.slot)
        return
    round_.start, round_.announced = event.number, True


def on_button_seen(c: Context, event: ev.ButtonSeen) -> None:
    """Record the place that the button sensor reports; None if it is not clear."""
    c.state.button_seen = event.number


def _button_moved(c: Context, prompt: Prompt, _answer: ev.Answer) -> None:
    """The dealer placed the button; where a sensor watches it, the sensor's report counts instead."""
    if prompt.slot is None:
        c.state.button_seen = c.state.button


def move_button(c: Context) -> None:
    """Move the button one place clockwise after a completed round; clockwise the numbers go down (A8)."""
    if c.state.start == "flat_button":
        c.state.button = dealing.PLACES if c.state.button == 1 else c.state.button - 1
        if c.start_slot is None:
            c.state.button_seen = None


# --- advancing -------------------------------------------------------------------------------------------------------


def advance(c: Context) -> None:
    """Ask for what the shaker needs; once the bets are locked, find the position and begin the deal."""
    shaker = c.state.start == "shaker"
    unattended = shaker and c.state.shaker_for is not None
    if shaker:
        _attend(c)
    if c.is_round_stopped:
        return
    if shaker:
        _park(c)
    if c.state.round.state == mc.LOCKED:
        if c.edition.deal.begins == "starting_position":
            c.fire_round("find_start")
        else:
            dealing.begin_deal(c)
    if c.state.round.state == mc.STARTING_POSITION and not unattended:
        _find(c)


def _attend(c: Context) -> None:
    """Ask for what a shaker needs at any time: valid dice, a dealer in charge, its lid."""
    if c.state.dice != "fresh":
        choices = ("replaced", "same") if c.state.dice == "doubtful" else ("replaced",)
        c.ask("dice", "floorperson", *choices, slot=c.start_slot, clauses=c.clauses("dice"))
    if c.state.shaker_for is not None:
        c.ask("take_shaker", "dealer", slot=c.start_slot, clauses=c.clauses("attend"))
    if _cover_due(c):
        c.ask("cover_shaker", "dealer", slot=c.start_slot, clauses=c.clauses("shakes"))


def _find(c: Context) -> None:
    round_, slot = c.state.round, c.start_slot
    if (
        c.state.start == "flat_button"
        and c.state.button_seen == c.state.button
        and (slot is None or c.is_in_service(slot))
    ):
        round_.start, round_.announced = c.state.button, True
    if round_.start is not None and round_.announced:
        if c.submission.start_marker and not round_.marked:
            c.ask("marker", "dealer", seat=dealing.place_of_position(round_.start), clauses=c.clauses("marker"))
        else:
            dealing.begin_deal(c)
    elif round_.total is not None:
        c.ask("announce", "dealer", number=True, slot=slot, least=3, most=18, clauses=c.clauses("announce"))
    elif c.state.start == "flat_button":
        c.ask(
            "move_button",
            "dealer",
            slot=slot,
            seat=dealing.place_of_position(c.state.button),
            clauses=c.clauses("button"),
        )
    elif slot is not None and not round_.asked_start and c.state.start == "rng":
        round_.asked_start = c.try_issue_command("draw", slot, deck=round_.deck)
    elif slot is not None and not round_.asked_start and not _cover_due(c):
        round_.asked_start = c.state.lid_off = c.try_issue_command("arm_dice", slot, deck=round_.deck)


def _park(c: Context) -> None:
    """After the deal, ask to cover the shaker, shake it once and put it aside; the round cannot end before."""
    if c.state.round.state in _DEALT and not c.state.round.parked:
        c.ask("park_shaker", "dealer", slot=c.start_slot, clauses=c.clauses("park"))


ANSWERS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], None]]] = {
    "announce": _announced,
    "marker": _marked,
    "cover_shaker": _covered,
    "dice": _new_dice,
    "park_shaker": _parked,
    "move_button": _button_moved,
    "take_shaker": _taken_over,
}
CHECKS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], str | None]]] = {"take_shaker": check_new_dealer}
