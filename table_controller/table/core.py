"""The table: `step(event)` takes one event and returns everything that follows from it. Deterministic; no I/O, no clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.service import ABSENT
from table_controller.table import betting, dealing, decks, irregularities, playing, service
from table_controller.table import events as ev
from table_controller.table import machines as mc
from table_controller.table.context import Context
from table_controller.table.irregularities import irregular
from table_controller.table.state import Slot, State

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.rulebook import Edition, Submission
    from table_controller.table.decisions import Decision, Reason

# How often a step may look whether something more follows from it; far more than any chain of steps is long.
_MOST_PASSES: Final = 32
_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(State)


class Table:
    """One table under one edition and one Rules Submission."""

    def __init__(
        self, edition: Edition, submission: Submission, slots: dict[str, str], state: State | None = None
    ) -> None:
        """`slots` is what stands where (slot -> kind); `state` continues a table instead of beginning one."""
        if state is None:
            state = State(
                slots={name: Slot(kind) for name, kind in slots.items()},
                dealing=submission.dealing,
                shuffling="hand" if submission.shuffler == "none" else "machine",
                start=submission.start or "",
            )
        self.context = Context(edition, submission, state)

    @property
    def state(self) -> State:
        """What is known."""
        return self.context.state

    def step(self, event: ev.Event) -> list[Decision]:
        """Take one event; return what was decided, in order."""
        c = self.context
        c.out = []
        _HANDLERS[type(event)](c, event)
        for _ in range(_MOST_PASSES):
            before = len(c.out)
            _advance(c)
            if len(c.out) == before:
                return c.out
        raise AssertionError(f"a step that does not come to an end: {event}")

    def permit(self, act: str, **resource: object) -> tuple[Reason, ...]:
        """Return every reason against an actuation; asked again when it is sent."""
        return self.context.reasons_against(act, **resource)  # type: ignore[return-value]

    def snapshot(self) -> bytes:
        """Return the whole state as bytes."""
        return _ENCODER.encode(self.state)

    def restore(self, snapshot: bytes) -> None:
        """Continue from a snapshot."""
        self.context.state = _DECODER.decode(snapshot)


def _advance(c: Context) -> None:
    """Whatever follows from the state as it is now."""
    decks.advance(c)
    betting.advance(c)
    dealing.advance(c)
    playing.advance(c)
    if c.state.shoe_burn_due or c.state.dealer_burn_due:
        c.ask("burn", "dealer", clauses=(c.clause_of("burn"),))


def _answer(c: Context, event: ev.Answer) -> None:
    prompt = c.state.prompts.get(event.prompt)
    if prompt is None:
        c.refuse(f"question {event.prompt} is answered already, or was never asked")
        return
    if event.who.role != prompt.role:
        c.refuse(f"this is for the {prompt.role} to answer")
        return
    if event.choice not in prompt.choices:
        c.refuse(f"{event.choice!r} is no answer here; there are: {', '.join(prompt.choices)}")
        return
    if prompt.number and (event.number is None or not 0 <= event.number <= 9999):
        c.refuse("this question asks for a number")
        return
    c.close_prompt(prompt, event.choice)
    taken = (
        irregularities.answered(c, prompt, event.choice, event.who)
        or decks.answered(c, prompt, event.choice, event.number)
        or betting.answered(c, prompt, event)
        or dealing.answered(c, prompt, event)
        or playing.answered(c, prompt, event)
    )
    assert taken, f"nobody takes the answer to {prompt.kind}"


def _declared(c: Context, event: ev.Declared) -> None:
    """Somebody reports an irregularity; a face-up card is counted, everything else goes to the rulebook as it is."""
    if event.who.role not in ("dealer", "floorperson"):
        c.refuse("an irregularity is reported by the dealer or a floorperson")
    elif event.trigger in ("face_up_card_first", "face_up_card_more"):
        dealing.face_up(c, None)
    else:
        irregular(c, event.trigger, deck=event.deck or c.state.round.deck, seat=event.seat)


def _ordered(c: Context, event: ev.Ordered) -> None:
    if event.who.role != "floorperson":
        c.refuse(f"{event.order} is for a floorperson to order")
        return
    deck = c.state.decks.get(event.deck or "")
    match event.order:
        case "dealing_method":
            _change_method(c, event.method or "")
        case "shuffle_by_hand":
            if c.signed(c.shuffler):
                c.state.shuffling = "hand"
            else:
                c.refuse("shuffling by hand needs the shuffler out of order and signed", *c.reasons_against("method"))
        case "remove_deck" if deck is not None and deck.state != mc.REMOVED and deck.name != c.state.round.deck:
            decks.removed(c, deck)
        case "recut" if deck is not None and mc.may(mc.DECK, deck, "recut") and c.state.round.state == mc.IDLE:
            c.fire_deck(deck, "recut")
        case "table_idle" | "reshuffle" if c.state.round.state == mc.IDLE:
            for each in c.decks_at_table():
                if mc.may(mc.DECK, each, "spread") and (event.order == "table_idle" or each.name == event.deck):
                    c.fire_deck(each, "spread")
                    each.place, each.verified = "tray", False
        case _:
            c.refuse(f"{event.order} cannot be ordered now")


def _change_method(c: Context, method: str) -> None:
    """Another dealing method: only between rounds, only one that the edition has, only while a dead device is signed."""
    known = {m.name: m for m in c.edition.deal.methods}
    reasons = c.reasons_against("method")
    if method not in known or c.state.round.state != mc.IDLE or reasons:
        c.refuse(f"dealing by {method or 'nothing'} cannot be ordered now", *reasons)
    elif known[method].needs_automated_shuffler and not c.usable(c.shuffler):
        c.refuse(f"dealing by {method} needs an automated shuffler in service ({known[method].clause})")
    else:
        c.state.dealing = method


def _due(c: Context, event: ev.Due) -> None:
    if event.timer == "lock":
        betting.lock_due(c)
    elif event.timer.startswith("deck_age/"):
        _, deck, method = event.timer.split("/")
        decks.aged(c, deck, method)
    elif event.timer == "dice_age":
        c.state.dice_expired = True


def _dealer_changed(c: Context, _event: ev.DealerChanged) -> None:
    c.state.dealer_burn_due = bool(c.edition.burn.per_dealer)


def _cover_card(c: Context, event: ev.CoverCardOut) -> None:
    """The cover card came out: the round goes on, and is the last of this shoe."""
    c.state.round.cover_card_out = True
    c.state.cut_first = event.seat


_HANDLERS: Final[dict[type, Callable[[Context, Any], None]]] = {
    ev.DeckReceived: decks.received,
    ev.OpenRound: betting.open_round,
    ev.NoMoreBets: betting.no_more_bets,
    ev.Answer: _answer,
    ev.Declared: _declared,
    ev.Ordered: _ordered,
    ev.DealerChanged: _dealer_changed,
    ev.SlotOrdered: service.ordered,
    ev.SlotChanged: service.changed,
    ev.CardsInserted: decks.inserted,
    ev.ShuffleEnded: decks.shuffle_ended,
    ev.ShuffleFailed: decks.shuffle_failed,
    ev.GivenOut: decks.given_out,
    ev.ShoeLoaded: decks.shoe_loaded,
    ev.StackOut: dealing.stack_out,
    ev.StackTaken: dealing.stack_taken,
    ev.CardsDrawn: dealing.cards_drawn,
    ev.StubOut: dealing.stub_out,
    ev.ShoeFault: dealing.shoe_fault,
    ev.FaceUpSeen: lambda c, event: dealing.face_up(c, event.slot),
    ev.CoverCardOut: _cover_card,
    ev.DicePlaced: dealing.dice_placed,
    ev.DiceRead: dealing.dice_read,
    ev.NoRoll: dealing.no_roll,
    ev.NumberDrawn: dealing.number_drawn,
    ev.ButtonSeen: dealing.button_seen,
    ev.BetSensed: betting.sensed,
    ev.SeatLatched: betting.latched,
    ev.LateBet: betting.late,
    ev.CommandEnded: service.command_ended,
    ev.Due: _due,
}

__all__ = ["ABSENT", "Table"]
