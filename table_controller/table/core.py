"""The table: `step(event)` applies one event and returns every decision that follows from it.

Deterministic; it does no I/O and reads no clock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar, assert_never, cast, get_args

import msgspec

from table_controller.table import (
    betting,
    boxes,
    card_release,
    cutting,
    dealing,
    deck_opening,
    decks,
    enrollment,
    hits,
    hold_steps,
    known_hands,
    meter_adjustments,
    meter_visibility,
    optional_wagers,
    orders,
    playing,
    restart,
    return_to_service,
    second_copy,
    service,
    shuffling,
    side_wagers,
    starting_position,
    stub,
)
from table_controller.table import events as ev
from table_controller.table.context import Context
from table_controller.table.decisions import Prompt
from table_controller.table.signers import SIGNERS
from table_controller.table.state import SlotState, TableState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_controller.rulebook import Edition, Submission
    from table_controller.table.decisions import Actuation, Decision, DenialReason, Order

# How many passes one step may need until nothing more follows; far more than any real chain of decisions.
_MOST_PASSES: Final = 32
_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(TableState)


class Table:
    """One table under one edition and one Rules Submission."""

    def __init__(
        self, edition: Edition, submission: Submission, slots: Mapping[str, str], state: TableState | None = None
    ) -> None:
        """`slots` maps each slot to its kind of device; `state` continues a table instead of beginning one."""
        if state is None:
            state = TableState(
                dealing=submission.dealing,
                shuffling="hand" if submission.shuffler == "none" else "machine",
                start=submission.start,
                slots={name: SlotState(kind) for name, kind in slots.items()},
            )
        self.context = Context(edition, submission, state)

    @property
    def state(self) -> TableState:
        """The whole state of the table."""
        return self.context.state

    def step(self, event: ev.Event) -> list[Decision]:
        """Apply one event; return the decisions in order."""
        self.apply(event)
        return self.advance(event)

    def apply(self, event: ev.Event) -> list[Decision]:
        """Begin a step: return the decisions of the event itself.

        Fail-safe commands are among them, so the caller can send those before the step ends.
        """
        c = self.context
        c.out = []
        kind = type(event)
        if kind in return_to_service.IGNORABLE and return_to_service.ignores(c.state, event):
            return c.out
        act = service.RESULT_EVENTS.get(kind)
        if act is not None:
            service.record_result(c, act, cast("service.ResultEvent", event))
        if kind not in service.OUT_ONCE or not service.is_duplicate_report(c, event):
            _HANDLERS[kind](c, event)
        return c.out

    def ignores(self, event: ev.Event) -> bool:
        """Return whether the table ignores an event: it changes nothing, and is not recorded."""
        return return_to_service.ignores(self.state, event)

    def advance(self, event: ev.Event) -> list[Decision]:
        """End the step that this event began: advance as far as the state allows; return all decisions of the step."""
        c = self.context
        for _ in range(_MOST_PASSES):
            before = len(c.out)
            c.needed_prompts.clear()
            for advance in _ADVANCE:
                advance(c)
            # A pass that only asked questions changed no state.
            if len(c.out) == before or all(type(decision) is Prompt for decision in c.out[before:]):
                c.close_unneeded_prompts()
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
    ) -> tuple[DenialReason, ...]:
        """Return every reason why an actuation is not permitted; none means granted."""
        return self.context.reasons_against(act, slot, deck, seat=seat, cards=cards)

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
    hold_steps.advance,
    deck_opening.advance,
    deck_opening.ask_stored_deck,
    shuffling.advance,
    cutting.advance,
    betting.advance,
    starting_position.advance,
    dealing.advance,
    stub.advance,
    playing.advance,
    hits.advance,
    meter_adjustments.advance,
    orders.advance,
)


# --- answers ----------------------------------------------------------------------------------------------------------

_ANSWERS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], None]]] = {
    **deck_opening.ANSWERS, **shuffling.ANSWERS, **cutting.ANSWERS, **betting.ANSWERS, **boxes.ANSWERS,
    **starting_position.ANSWERS, **dealing.ANSWERS, **stub.ANSWERS, **playing.ANSWERS, **orders.ANSWERS,
    **side_wagers.ANSWERS, **hits.ANSWERS, **card_release.ANSWERS,
}  # fmt: skip
_CHECKS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], str | None]]] = {
    **deck_opening.CHECKS,
    **cutting.CHECKS,
    **betting.CHECKS,
    **boxes.CHECKS,
    **starting_position.CHECKS,
    **side_wagers.CHECKS,
    **hits.CHECKS,
}


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
    reasons = hold_steps.reasons_against_return(c, prompt, event)
    if reasons:
        c.refuse("return_to_service", *reasons)
        return
    c.close_prompt(prompt, event.choice)
    if prompt.hold is not None:
        hold_steps.on_step_answered(c, prompt, event)
    else:
        _ANSWERS[prompt.kind.partition("/")[0]](c, prompt, event)


def _objection(c: Context, prompt: Prompt, event: ev.Answer) -> str | None:
    """Return why this answer is not valid for this question; None if it is."""
    if event.who.role != prompt.role:
        return f"the {prompt.role} must answer this"
    if event.choice not in prompt.choices:
        why = hits.NOT_OFFERED.get(prompt.kind)
        objection = why(c, prompt, event) if why is not None else None
        return objection or f"{event.choice!r} is not an answer to this question; answer {', '.join(prompt.choices)}"
    first = event.choice == prompt.choices[0]
    if prompt.number and first and (event.number is None or not prompt.least <= event.number <= prompt.most):
        return f"enter a number from {prompt.least} to {prompt.most}"
    check = _CHECKS.get(prompt.kind.partition("/")[0]) if prompt.hold is None else None
    return check(c, prompt, event) if check is not None else None


# --- events -----------------------------------------------------------------------------------------------------------


def _due(c: Context, event: ev.Due) -> None:
    kind, _, about = event.timer.partition("/")
    if kind == "lock":
        betting.on_lock_timeout(c)
    elif kind == "deck_age":
        deck, _, hours = about.rpartition("/")
        decks.on_deck_aged(c, deck, int(hours))
    elif kind == starting_position.DICE_TIMER:
        starting_position.on_dice_expired(c)


def _dealer_changed(c: Context, event: ev.DealerChanged) -> None:
    """A new dealer takes over the shaker and, where the regulation requires it, burns a card before dealing."""
    if event.who.role not in SIGNERS[ev.DealerChanged]:
        c.refuse("only a dealer can take over a table")
        return
    starting_position.hand_over_shaker(c, event.who.credential)
    c.state.burn_dealer = c.edition.burn.per_dealer


# mypy proves that each function below has a case for every event of its union: `assert_never` fails if one is missing.
# They run once for each type of event, when this file is imported.

_Handler = Callable[[Context, Any], None]
_E = TypeVar("_E")


def _typed(_kind: type[_E], handler: Callable[[Context, _E], None]) -> _Handler:
    """Return a handler; mypy proves that it handles this type of event."""
    return handler


_DealersEntry = TypeVar(
    "_DealersEntry", ev.HandEntered, ev.SettingEntered, ev.HouseWayAsked, ev.ReplacementEntered, ev.AmountEntered,
    ev.OptionalWagerEntered, ev.SeatsSettled,
)  # fmt: skip


def _by_dealer(handler: Callable[[Context, _DealersEntry], None]) -> Callable[[Context, _DealersEntry], None]:
    """Return a handler that refuses every other role than the one that enters cards and settles wagers."""

    def checked(c: Context, event: _DealersEntry) -> None:
        if event.who.role in SIGNERS[type(event)]:
            handler(c, event)
        else:
            c.refuse(f"only the {' or the '.join(SIGNERS[type(event)])} enters this")

    return checked


def _person_handler(kind: type[ev.PersonEvent]) -> _Handler:  # noqa: C901, PLR0912 - a short case each
    """Return the handler of one type of event: what people enter."""
    if issubclass(kind, ev.DeckReceived):
        return _typed(kind, deck_opening.on_deck_received)
    if issubclass(kind, ev.OpenRound):
        return _typed(kind, betting.on_open_round)
    if issubclass(kind, ev.NoMoreBets):
        return _typed(kind, betting.on_no_more_bets)
    if issubclass(kind, ev.Answer):
        return _typed(kind, _answer)
    if issubclass(kind, ev.IrregularityReported):
        return _typed(kind, orders.on_irregularity_reported)
    if issubclass(kind, ev.Ordered):
        return _typed(kind, orders.on_ordered)
    if issubclass(kind, ev.DealerChanged):
        return _typed(kind, _dealer_changed)
    if issubclass(kind, ev.SlotOrdered):
        return _typed(kind, service.on_slot_ordered)
    if issubclass(kind, ev.ReturnTaken):
        return _typed(kind, return_to_service.on_return_taken)
    if issubclass(kind, ev.ReturnLeft):
        return _typed(kind, return_to_service.on_return_left)
    if issubclass(kind, ev.StepReported):
        return _typed(kind, return_to_service.on_step_reported)
    if issubclass(kind, ev.TestModeOrdered):
        return _typed(kind, return_to_service.on_test_mode_ordered)
    if issubclass(kind, ev.MeterCorrected):
        return _typed(kind, meter_adjustments.on_meter_corrected)
    if issubclass(kind, ev.MeterReset):
        return _typed(kind, meter_adjustments.on_meter_reset)
    if issubclass(kind, ev.MeterParameters):
        return _typed(kind, meter_adjustments.on_meter_parameters)
    if issubclass(kind, ev.MeterClosed):
        return _typed(kind, meter_adjustments.on_meter_closed)
    if issubclass(kind, ev.MeterOpened):
        return _typed(kind, meter_adjustments.on_meter_opened)
    if issubclass(kind, ev.OverflowTransferred):
        return _typed(kind, meter_adjustments.on_overflow_transferred)
    if issubclass(kind, ev.DeviceEnrolled):
        return _typed(kind, enrollment.on_device_enrolled)
    if issubclass(kind, ev.KeysRevoked):
        return _typed(kind, enrollment.on_keys_revoked)
    if issubclass(kind, ev.HandEntered):
        return _typed(kind, _by_dealer(known_hands.on_hand_entered))
    if issubclass(kind, ev.SettingEntered):
        return _typed(kind, _by_dealer(known_hands.on_setting_entered))
    if issubclass(kind, ev.HouseWayAsked):
        return _typed(kind, _by_dealer(known_hands.on_house_way_asked))
    if issubclass(kind, ev.ReplacementEntered):
        return _typed(kind, _by_dealer(known_hands.on_replacement_entered))
    if issubclass(kind, ev.AmountEntered):
        return _typed(kind, _by_dealer(known_hands.on_amount_entered))
    if issubclass(kind, ev.OptionalWagerEntered):
        return _typed(kind, _by_dealer(optional_wagers.on_optional_wager_entered))
    if issubclass(kind, ev.SeatsSettled):
        return _typed(kind, _by_dealer(playing.on_seats_settled))
    assert_never(kind)


def _card_handler(kind: type[ev.CardEvent]) -> _Handler:  # noqa: C901, PLR0912 - a short case each
    """Return the handler of one type of event: what shufflers and shoes report."""
    if issubclass(kind, ev.CardsInserted):
        return _typed(kind, shuffling.on_cards_inserted)
    if issubclass(kind, ev.CardsBehindGate):
        return _typed(kind, shuffling.on_cards_behind_gate)
    if issubclass(kind, ev.IntakeEmptied):
        return _typed(kind, shuffling.on_intake_emptied)
    if issubclass(kind, ev.ShuffleEnded):
        return _typed(kind, shuffling.on_shuffle_ended)
    if issubclass(kind, ev.ShuffleFailed):
        return _typed(kind, shuffling.on_shuffle_failed)
    if issubclass(kind, ev.DeckGivenOut):
        return _typed(kind, shuffling.on_deck_given_out)
    if issubclass(kind, ev.StackInserted):
        return _typed(kind, shuffling.on_stack_inserted)
    if issubclass(kind, ev.DiscardsTakenIn):
        return _typed(kind, shuffling.on_discards_taken_in)
    if issubclass(kind, ev.ShoeLoaded):
        return _typed(kind, shuffling.on_shoe_loaded)
    if issubclass(kind, ev.ShoeEmpty):
        return _typed(kind, shuffling.on_shoe_empty)
    if issubclass(kind, ev.StackOut):
        return _typed(kind, dealing.on_stack_out)
    if issubclass(kind, ev.StackTaken):
        return _typed(kind, dealing.on_stack_taken)
    if issubclass(kind, ev.CardsDrawn):
        return _typed(kind, dealing.on_cards_drawn)
    if issubclass(kind, ev.StubOut):
        return _typed(kind, stub.on_stub_out)
    if issubclass(kind, ev.ShoeFault):
        return _typed(kind, dealing.on_shoe_fault)
    if issubclass(kind, ev.ShoeIdentifies):
        return _typed(kind, card_release.on_shoe_identifies)
    if issubclass(kind, ev.HandReleased):
        return _typed(kind, card_release.on_cards_released)
    if issubclass(kind, ev.FaceUpSeen):
        return _typed(kind, dealing.on_face_up_seen)
    if issubclass(kind, ev.CoverCardOut):
        return _typed(kind, cutting.on_cover_card_out)
    assert_never(kind)


def _device_handler(kind: type[ev.DeviceEvent]) -> _Handler:  # noqa: C901, PLR0912 - a short case each
    """Return the handler of one type of event: what other devices report."""
    if issubclass(kind, ev.SlotChanged):
        return _typed(kind, service.on_slot_changed)
    if issubclass(kind, ev.MachineHalted):
        return _typed(kind, return_to_service.on_machine_halted)
    if issubclass(kind, ev.FaultDiagnosed):
        return _typed(kind, return_to_service.on_fault_diagnosed)
    if issubclass(kind, ev.EvidenceReported):
        return _typed(kind, return_to_service.on_evidence_reported)
    if issubclass(kind, ev.ReturnStepChanged):
        return _typed(kind, return_to_service.on_return_step_changed)
    if issubclass(kind, ev.DiceRead):
        return _typed(kind, starting_position.on_dice_read)
    if issubclass(kind, ev.DiceOpened):
        return _typed(kind, starting_position.on_dice_opened)
    if issubclass(kind, ev.NoRollReported):
        return _typed(kind, starting_position.on_no_roll_reported)
    if issubclass(kind, ev.NumberDrawn):
        return _typed(kind, starting_position.on_number_drawn)
    if issubclass(kind, ev.ButtonSeen):
        return _typed(kind, starting_position.on_button_seen)
    if issubclass(kind, ev.BetSensed):
        return _typed(kind, betting.on_bet_sensed)
    if issubclass(kind, ev.SeatLatched):
        return _typed(kind, betting.on_seat_latched)
    if issubclass(kind, ev.EarlierLatchReported):
        return _typed(kind, betting.on_earlier_latch_reported)
    if issubclass(kind, ev.SeatLockRefused):
        return _typed(kind, betting.on_seat_lock_refused)
    if issubclass(kind, ev.LateBet):
        return _typed(kind, betting.on_late_bet)
    if issubclass(kind, ev.SignShown):
        return _typed(kind, meter_visibility.on_sign_shown)
    assert_never(kind)


def _box_handler(kind: type[ev.BoxEvent]) -> _Handler:
    """Return the handler of one type of event: what the box reports."""
    if issubclass(kind, ev.CommandEnded):
        return _typed(kind, service.on_command_ended)
    if issubclass(kind, ev.Due):
        return _typed(kind, _due)
    if issubclass(kind, ev.BoxStarted):
        return _typed(kind, restart.on_box_started)
    if issubclass(kind, ev.BoxHalted):
        return _typed(kind, restart.on_box_halted)
    if issubclass(kind, ev.CopyAwaited):
        return _typed(kind, second_copy.on_copy_awaited)
    if issubclass(kind, ev.CopyReached):
        return _typed(kind, second_copy.on_copy_reached)
    if issubclass(kind, ev.CopyDamaged):
        return _typed(kind, second_copy.on_copy_damaged)
    if issubclass(kind, ev.CopyAbsenceConfirmed):
        return _typed(kind, second_copy.on_copy_absence_confirmed)
    assert_never(kind)


def _handler(kind: type[ev.Event]) -> _Handler:
    """Return the handler of one type of event."""
    if issubclass(kind, ev.PersonEvent):
        return _person_handler(kind)
    if issubclass(kind, ev.CardEvent):
        return _card_handler(kind)
    if issubclass(kind, ev.DeviceEvent):
        return _device_handler(kind)
    if issubclass(kind, ev.BoxEvent):
        return _box_handler(kind)
    assert_never(kind)


_HANDLERS: Final[dict[type, _Handler]] = {kind: _handler(kind) for kind in get_args(ev.Event)}
