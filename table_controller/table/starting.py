"""The starting position: by dice, number or flat button, after the bets are locked and before the first card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.table import dealing
from table_controller.table import machines as mc
from table_controller.table.decks import HOUR
from table_controller.table.irregularities import irregular

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.rulebook import Trigger
    from table_controller.table import events as ev
    from table_controller.table.context import Context
    from table_controller.table.decisions import Prompt

DICE_TIMER: Final = "dice_age"
# The dealing procedures are over: the stub was counted or racked.
_DEALT: Final = (mc.PLAYING, mc.SETTLING, mc.COMPLETE)
# The dice lie open for the round in hand.
_ROLLED: Final = (mc.DEALING, mc.STUB_CHECK, *_DEALT)


def position_of_total(total: int) -> int:
    """Return the position number of a total of dice: counted counterclockwise from the dealer, who is one."""
    return (total - 1) % dealing.PLACES + 1


# --- dice -------------------------------------------------------------------------------------------------------------


def dice_opened(c: Context, _event: ev.DiceOpened) -> None:
    """Hands were at the dice: whether they are new ones, and their time begins, only a floorperson can say."""
    if c.state.dice == "fresh":
        c.state.dice = "doubtful"


def dice_aged(c: Context) -> None:
    """The dice have been on the table for their whole time: the shaker is not armed any more."""
    c.state.dice = "expired"
    c.finding("dice_expired", "the dice have been on the table for their whole time; they are removed")


def dice_read(c: Context, event: ev.DiceRead) -> None:
    """The dice lie: the dealer announces their total, and only the same total counts."""
    round_ = c.state.round
    c.state.lid_off = True
    due = round_.state == mc.STARTING_POSITION and c.state.start == "shaker" and round_.asked_start
    if not due or round_.total is not None:
        c.finding("dice_out_of_turn", "dice were read when no starting position was due")
        return
    round_.total = sum(event.values)


def no_roll(c: Context, event: ev.NoRoll) -> None:
    """No roll: the dice are shaken again, from under the lid: an open shaker cannot be armed."""
    c.state.lid_off = True
    if event.trigger == "too_few_shakes":
        if _reshake(c):
            c.finding("no_roll", f"fewer shakes than the rule asks for ({c.clause('shakes')})")
    else:
        declared_no_roll(c, event.trigger, event.slot)


def declared_no_roll(c: Context, trigger: Trigger, slot: str | None) -> None:
    """A die does not lie flat, or outside: seen by the shaker or by the dealer."""
    if _reshake(c):
        irregular(c, trigger, slot=slot)


def _reshake(c: Context) -> bool:
    """Forget the roll; tell whether there was one to forget."""
    round_ = c.state.round
    if round_.state != mc.STARTING_POSITION or c.state.start != "shaker":
        return False
    round_.total, round_.start, round_.asked_start, round_.announced = None, None, False, False
    return True


def _cover_due(c: Context) -> bool:
    """Whether the lid must go on before the next roll: it came off, and no round in hand needs the dice that lie there.

    That is so after no roll, and after a round that was void before the shaker was put aside.
    """
    round_ = c.state.round
    rolled = round_.asked_start if round_.state == mc.STARTING_POSITION else round_.state in _ROLLED
    return c.state.lid_off and not rolled


def _covered(c: Context, _prompt: Prompt, _answer: ev.Answer) -> None:
    """The next roll may begin; whether the lid is on, the shaker itself looks at when it is armed."""
    c.state.lid_off = False


def _announced(c: Context, _prompt: Prompt, answer: ev.Answer) -> None:
    """Compare the dealer's total with the dice; a wrong one is corrected before the first card (X7)."""
    round_ = c.state.round
    assert round_.total is not None
    if answer.number == round_.total:
        round_.start, round_.announced = position_of_total(round_.total), True
    else:
        irregular(c, "wrong_start_announced", slot=c.start_slot)


def _new_dice(c: Context, _prompt: Prompt, answer: ev.Answer) -> None:
    """New dice begin their time; the same ones, put back, go on with theirs."""
    c.state.dice = "fresh"
    if answer.choice == "replaced" and c.edition.dice is not None:
        c.timer(DICE_TIMER, c.edition.dice.max_hours * HOUR)


# --- who keeps the shaker ---------------------------------------------------------------------------------------------


def handed_over(c: Context, dealer: str) -> None:
    """Another dealer stands at the table: nobody has the shaker until that one has taken it."""
    if c.state.start == "shaker":
        c.state.shaker_for = dealer


def own_word(c: Context, _prompt: Prompt, answer: ev.Answer) -> str | None:
    """Return an objection if another than the new dealer would take the shaker."""
    if answer.who.credential != c.state.shaker_for:
        return f"the shaker is taken over by {c.state.shaker_for}, who deals now"
    return None


def _taken_over(c: Context, _prompt: Prompt, _answer: ev.Answer) -> None:
    c.state.shaker_for = None


def _parked(c: Context, _prompt: Prompt, _answer: ev.Answer) -> None:
    c.state.round.parked = True
    c.state.lid_off = False


# --- number and button -----------------------------------------------------------------------------------------------


def number_drawn(c: Context, event: ev.NumberDrawn) -> None:
    """The generator's number is the position; another than one to seven is none."""
    round_ = c.state.round
    due = round_.state == mc.STARTING_POSITION and c.state.start == "rng" and round_.asked_start
    if not due or round_.start is not None:
        c.finding("number_out_of_turn", "a number was drawn when no starting position was due")
        return
    if not 1 <= event.number <= dealing.PLACES:
        round_.asked_start = False
        irregular(c, "wrong_number", slot=event.slot)
        return
    round_.start, round_.announced = event.number, True


def button_seen(c: Context, event: ev.ButtonSeen) -> None:
    """The flat button lies at one place, or nobody can say where."""
    c.state.button_seen = event.number


def _button_moved(c: Context, prompt: Prompt, _answer: ev.Answer) -> None:
    """The dealer says that the button lies where it must; where a sensor looks, the sensor says it."""
    if prompt.slot is None:
        c.state.button_seen = c.state.button


def round_completed(c: Context) -> None:
    """The button goes one place clockwise after every completed round; clockwise the numbers go down (A8)."""
    if c.state.start == "flat_button":
        c.state.button = dealing.PLACES if c.state.button == 1 else c.state.button - 1
        if c.start_slot is None:
            c.state.button_seen = None


# --- going on --------------------------------------------------------------------------------------------------------


def advance(c: Context) -> None:
    """Ask for new dice; once the bets are locked, find the position and begin the deal."""
    shaker = c.state.start == "shaker"
    unattended = shaker and c.state.shaker_for is not None
    if shaker:
        _attend(c)
    if c.stopped:
        return
    if shaker:
        _park(c)
    if c.state.round.state == mc.LOCKED:
        if c.edition.deal.begins == "starting_position":
            c.fire_round("find_start")
        else:
            dealing.begin(c)
    if c.state.round.state == mc.STARTING_POSITION and not unattended:
        _find(c)


def _attend(c: Context) -> None:
    """Ask for what a shaker needs at any time: dice that may be used, somebody at it, its lid."""
    if c.state.dice != "fresh":
        choices = ("replaced", "same") if c.state.dice == "doubtful" else ("replaced",)
        c.ask("dice", "floorperson", *choices, slot=c.start_slot, clauses=c.clauses("dice"))
    if c.state.shaker_for is not None:
        c.ask("take_shaker", "dealer", slot=c.start_slot, clauses=c.clauses("attend"))
    if _cover_due(c):
        c.ask("cover_shaker", "dealer", slot=c.start_slot, clauses=c.clauses("shakes"))


def _find(c: Context) -> None:
    round_, slot = c.state.round, c.start_slot
    if c.state.start == "flat_button" and c.state.button_seen == c.state.button and (slot is None or c.serves(slot)):
        round_.start, round_.announced = c.state.button, True
    if round_.start is not None and round_.announced:
        dealing.begin(c)
    elif round_.total is not None:
        c.ask("announce", "dealer", number=True, slot=slot, least=3, most=18, clauses=c.clauses("announce"))
    elif c.state.start == "flat_button":
        c.ask("move_button", "dealer", slot=slot, seat=dealing.place_of(c.state.button), clauses=c.clauses("button"))
    elif slot is not None and not round_.asked_start and c.state.start == "rng":
        round_.asked_start = c.try_command("draw", slot, deck=round_.deck)
    elif slot is not None and not round_.asked_start and not _cover_due(c):
        round_.asked_start = c.state.lid_off = c.try_command("arm_dice", slot, deck=round_.deck)


def _park(c: Context) -> None:
    """After the deal the shaker is covered, shaken once and put aside; the round does not end before."""
    if c.state.round.state in _DEALT and not c.state.round.parked:
        c.ask("park_shaker", "dealer", slot=c.start_slot, clauses=c.clauses("park"))


ANSWERS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], None]]] = {
    "announce": _announced,
    "cover_shaker": _covered,
    "dice": _new_dice,
    "park_shaker": _parked,
    "move_button": _button_moved,
    "take_shaker": _taken_over,
}
CHECKS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], str | None]]] = {"take_shaker": own_word}
