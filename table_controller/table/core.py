"""The table: `step(event)` applies one event and returns every decision that follows from it.

Deterministic; it does no I/O and reads no clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from table_controller.table import (
    betting,
    copy_watch,
    cutting,
    dealing,
    decks,
    enrolment,
    hits,
    meters,
    opening,
    orders,
    playing,
    restart,
    service,
    shuffling,
    side,
    signs,
    starting,
    steps,
    stub,
)
from table_controller.table import events as ev
from table_controller.table.context import Context
from table_controller.table.decisions import Prompt
from table_controller.table.state import Slot, State

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.rulebook import Edition, Submission
    from table_controller.rulebook.vocabulary import DeviceFact
    from table_controller.table.decisions import Actuation, Decision, Order, Reason

# How many passes one step may need until nothing more follows; far more than any real chain of decisions.
_MOST_PASSES: Final = 32
_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(State)


class Table:
    """One table under one edition and one Rules Submission."""

    def __init__(
        self, edition: Edition, submission: Submission, slots: dict[str, DeviceFact], state: State | None = None
    ) -> None:
        """`slots` maps each slot to its kind of device; `state` continues a table instead of beginning one."""
        if state is None:
            state = State(
                dealing=submission.dealing,
                shuffling="hand" if submission.shuffler == "none" else "machine",
                start=submission.start,
                slots={name: Slot(kind) for name, kind in slots.items()},
            )
        self.context = Context(edition, submission, state)

    @property
    def state(self) -> State:
        """The whole state of the table."""
        return self.context.state

    def step(self, event: ev.Event) -> list[Decision]:
        """Apply one event; return the decisions in order."""
        self.take(event)
        return self.go_on(event)

    def take(self, event: ev.Event) -> list[Decision]:
        """Begin a step: return the decisions of the event itself.

        Fail-safe commands are among them, so the caller can send those before the step ends.
        """
        c = self.context
        c.out = []
        act = service.TOLD_BY.get(type(event))
        if act is not None:
            service.told(c, act, event)
        if not service.told_again(c, event):
            _HANDLERS[type(event)](c, event)
        return c.out

    def go_on(self, event: ev.Event) -> list[Decision]:
        """End the step that this event began: advance as far as the state allows; return all decisions of the step."""
        c = self.context
        for _ in range(_MOST_PASSES):
            before = len(c.out)
            c.wanted.clear()
            for advance in _ADVANCE:
                advance(c)
            # A pass that only asked questions changed no state.
            if len(c.out) == before or all(type(decision) is Prompt for decision in c.out[before:]):
                c.close_unwanted()
                return c.out
        raise AssertionError(f"a step that does not end: {event}")

    def permit(
        self,
        act: Actuation | Order,
        slot: str | None = None,
        deck: str | None = None,
        *,
        seat: int | None = None,
        cards: int = 0,
    ) -> tuple[Reason, ...]:
        """Return every reason why an actuation is not permitted; none means granted."""
        return self.context.against(act, slot, deck, seat=seat, cards=cards)

    def deck_at(self, slot: str) -> str | None:
        """Return the deck that a pending command to a slot concerns, else the deck that the slot holds."""
        about = (i.deck for i in self.state.commands.values() if i.slot == slot and i.deck is not None)
        return next(about, self.state.slots[slot].deck)

    def snapshot(self) -> bytes:
        """Return the whole state as bytes."""
        return _ENCODER.encode(self.state)

    def restore(self, snapshot: bytes) -> None:
        """Continue from a snapshot."""
        self.context.state = _DECODER.decode(snapshot)


# What follows from the state alone, in the order of a round.
_ADVANCE: Final = (
    steps.advance, opening.advance, opening.stored_deck, shuffling.advance, cutting.advance, betting.advance,
    starting.advance, dealing.advance, stub.advance, playing.advance, hits.advance, meters.advance, orders.advance,
)  # fmt: skip


# --- answers ----------------------------------------------------------------------------------------------------------

_ANSWERS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], None]]] = {
    **opening.ANSWERS, **shuffling.ANSWERS, **cutting.ANSWERS, **betting.ANSWERS, **starting.ANSWERS,
    **dealing.ANSWERS, **stub.ANSWERS, **playing.ANSWERS, **orders.ANSWERS, **side.ANSWERS, **hits.ANSWERS,
}  # fmt: skip
_CHECKS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], str | None]]] = {
    **opening.CHECKS, **cutting.CHECKS, **betting.CHECKS, **starting.CHECKS, **side.CHECKS, **hits.CHECKS,
}  # fmt: skip


def _answer(c: Context, event: ev.Answer) -> None:
    """Apply a valid answer; refuse any other without changing anything."""
    prompt = c.state.prompts.get(event.prompt)
    if prompt is None:
        c.refuse(f"question {event.prompt} is no longer open")
        return
    objection = _objection(c, prompt, event)
    if objection is not None:
        c.refuse(objection)
        return
    reasons = steps.against_return(c, prompt, event)
    if reasons:
        c.refuse("return_to_service", *reasons)
        return
    c.close_prompt(prompt, event.choice)
    if prompt.hold is not None:
        steps.answered(c, prompt, event)
    else:
        _ANSWERS[prompt.kind.partition("/")[0]](c, prompt, event)


def _objection(c: Context, prompt: Prompt, event: ev.Answer) -> str | None:
    """Return why this answer is not valid for this question; None if it is."""
    if event.who.role != prompt.role:
        return f"the {prompt.role} must answer this"
    if event.choice not in prompt.choices:
        return f"{event.choice!r} is not an answer to this question; answer {', '.join(prompt.choices)}"
    first = event.choice == prompt.choices[0]
    if prompt.number and first and (event.number is None or not prompt.least <= event.number <= prompt.most):
        return f"enter a number from {prompt.least} to {prompt.most}"
    check = _CHECKS.get(prompt.kind.partition("/")[0]) if prompt.hold is None else None
    return check(c, prompt, event) if check is not None else None


# --- events -----------------------------------------------------------------------------------------------------------


def _due(c: Context, event: ev.Due) -> None:
    kind, _, about = event.timer.partition("/")
    if kind == "lock":
        betting.lock_due(c)
    elif kind == "deck_age":
        deck, _, hours = about.rpartition("/")
        decks.aged(c, deck, int(hours))
    elif kind == starting.DICE_TIMER:
        starting.dice_aged(c)


def _dealer_changed(c: Context, event: ev.DealerChanged) -> None:
    """A new dealer takes over the shaker and, where the regulation requires it, burns a card before dealing."""
    if event.who.role != "dealer":
        c.refuse("only a dealer can take over a table")
        return
    starting.handed_over(c, event.who.credential)
    c.state.burn_dealer = c.edition.burn.per_dealer


_HANDLERS: Final[dict[type, Callable[[Context, Any], None]]] = {
    ev.DeckReceived: opening.received,
    ev.OpenRound: betting.open_round,
    ev.NoMoreBets: betting.no_more_bets,
    ev.Answer: _answer,
    ev.Declared: orders.declared,
    ev.Ordered: orders.order,
    ev.DealerChanged: _dealer_changed,
    ev.SlotOrdered: service.ordered,
    ev.MeterCorrected: meters.corrected,
    ev.MeterReset: meters.reset,
    ev.MeterParameters: meters.changed,
    ev.MeterClosed: meters.close,
    ev.MeterOpened: meters.reopen,
    ev.OverflowTransferred: meters.transfer_overflow,
    ev.DeviceEnrolled: enrolment.enrolled,
    ev.KeysRevoked: enrolment.revoked_before,
    ev.SignShown: signs.shown,
    ev.SlotChanged: service.changed,
    ev.WayBack: service.way_back,
    ev.CardsInserted: shuffling.inserted,
    ev.IntakeEmptied: shuffling.intake_emptied,
    ev.BehindGate: shuffling.behind_gate,
    ev.ShuffleEnded: shuffling.shuffle_ended,
    ev.ShuffleFailed: shuffling.shuffle_failed,
    ev.GivenOut: shuffling.given_out,
    ev.TakenIn: shuffling.taken_in,
    ev.ShoeLoaded: shuffling.shoe_loaded,
    ev.ShoeEmpty: shuffling.shoe_empty,
    ev.StackOut: dealing.stack_out,
    ev.StackTaken: dealing.stack_taken,
    ev.CardsDrawn: dealing.cards_drawn,
    ev.StubOut: stub.stub_out,
    ev.ShoeFault: dealing.shoe_fault,
    ev.FaceUpSeen: dealing.seen_face_up,
    ev.CoverCardOut: cutting.cover_card,
    ev.DiceOpened: starting.dice_opened,
    ev.DiceRead: starting.dice_read,
    ev.NoRoll: starting.no_roll,
    ev.NumberDrawn: starting.number_drawn,
    ev.ButtonSeen: starting.button_seen,
    ev.BetSensed: betting.sensed,
    ev.SeatLatched: betting.latched,
    ev.LatchStands: betting.latch_stands,
    ev.LockRefused: betting.lock_refused,
    ev.LateBet: betting.late,
    ev.CommandEnded: service.command_ended,
    ev.Due: _due,
    ev.BoxStarted: restart.started,
    ev.BoxHalted: restart.halted,
    ev.CopyAwaited: copy_watch.awaited,
    ev.CopyReached: copy_watch.reached,
    ev.CopyDamaged: copy_watch.damaged,
    ev.CopyAbsenceConfirmed: copy_watch.confirmed,
}
