"""Every event that dealers, floorpersons, technicians and devices can send to a table in its state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from table_controller.rulebook import TRIGGERS
from table_controller.table import events as ev
from table_controller.table.meter_visibility import PAGE
from table_controller.table.return_steps import Emptied, FaultedAgain, Requirements, ReturnStep, Tested
from table_controller.table.view import ODDS
from tests.support.core.ideal_table import AUDITOR, DEALER, FLOOR, TECH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.core.ideal_table import IdealTable

PEOPLE: Final = (DEALER, FLOOR, TECH, AUDITOR)
_ORDERS: Final[tuple[Any, ...]] = (
    "reshuffle", "recut", "remove_deck", "table_idle", "dealing_method", "start_method", "shuffle_by_hand",
    "shuffle_by_machine", "readmit",
)  # fmt: skip
_ACTS: Final[tuple[Any, ...]] = ("give_up", "sign", "repair", "clear", "acknowledge")
_CHANGES: Final[tuple[Any, ...]] = ("doubt", "appear", "verify", "vanish", "appear", "verify", "fault")
_OUTCOMES: Final[tuple[Any, ...]] = ("done", "failed", "unknown", "revoked")


def known_cards() -> Iterator[ev.Event]:
    """Yield entries of cards, settings, amounts and results."""
    for place in (0, 1):
        yield ev.HandEntered(place, "As Ah Kd Kc Qs 2d 3d", DEALER)
    yield ev.SettingEntered(1, "As Ah Kd Kc Qs | 2d 3d", DEALER)
    yield ev.HouseWayAsked(1, FLOOR)
    yield ev.ReplacementEntered("9s", DEALER)
    yield ev.AmountEntered("ante", 1, 500, DEALER)
    yield ev.OptionalWagerEntered("trips", (1,), DEALER)
    yield ev.SeatsSettled(DEALER, wins=(1,))


def all_inputs(floor: IdealTable) -> list[ev.Event]:
    """Return every event that can be sent now, except correct answers to prompts of irregularities."""
    return [*_people(floor), *_meter(), *_answers(floor), *_devices(floor), *_commands(floor)]


def box_inputs() -> list[ev.Event]:
    """Return the events of the box itself: a halt and restarts."""
    return [ev.BoxHalted(1), ev.BoxStarted(2), ev.BoxStarted(3, clock_back=True)]


def all_devices_report(floor: IdealTable) -> list[ev.Event]:
    """Return the events of all devices that connect and report, as after a start of the box."""
    triggers: tuple[Any, ...] = ("appear", "verify")
    return [ev.SlotChanged(name, trigger) for trigger in triggers for name in floor.state.slots]


def _people(floor: IdealTable) -> Iterator[ev.Event]:
    slots = _one_of_each(floor)
    for who in PEOPLE:
        yield ev.OpenRound(who)
        yield ev.NoMoreBets(who)
        yield ev.DeckReceived("green", who)
        yield from (ev.SlotOrdered(slot, act, who) for slot in slots for act in _ACTS)
    for order in _ORDERS:
        yield from (ev.Ordered(order, FLOOR, deck=deck, seat=2) for deck in (*floor.state.decks, "green"))
        yield ev.Ordered(order, DEALER, deck="blue", method="hand")
    for method in ("manual_shoe", "hand", "automated_shoe", "dealing_shoe", "continuous_shuffler"):
        yield ev.Ordered("dealing_method", FLOOR, method=method)
    for method in ("shaker", "rng", "flat_button"):
        yield ev.Ordered("start_method", FLOOR, method=method)
    for trigger in (*TRIGGERS, "player_leaves", "other"):
        yield ev.IrregularityReported(trigger, DEALER, seat=1, deck="blue", slot=next(iter(slots), None))
    yield ev.DealerChanged(DEALER)
    yield from known_cards()


def _meter() -> Iterator[ev.Event]:
    """Yield acts of two people on a meter, by allowed and other roles."""
    for first, second in ((FLOOR, AUDITOR), (TECH, AUDITOR), (DEALER, FLOOR)):
        yield ev.MeterCorrected(1_000_000, "slip 1", first, second, "malfunction", "sensor_fault")
        yield ev.MeterCorrected(-1_000_000, "slip 1", first, second)
        yield ev.MeterReset("slip 2", first, second, "malfunction", "sensor_fault")
        yield ev.OverflowTransferred(1_000_000, "slip 4", first, second)
        yield ev.MeterClosed("slip 5", first, second)
        yield ev.MeterParameters("slip 3", first, second, limit_cents=9_000_000)
        yield ev.MeterOpened("slip 6", first, second)
        yield ev.CopyAbsenceConfirmed("slip 7", first, second)
        yield ev.DeviceEnrolled("shoe.1", "SN-9", "00", first, second)
    yield ev.DeviceEnrolled("shoe.1", "SN-9", "00", TECH, FLOOR, ("SN-8", "11"))
    yield ev.KeysRevoked((("SN-7", "22"),))
    yield ev.CopyAwaited()
    yield ev.CopyReached()
    yield ev.CopyDamaged("record 7 is not what was copied")
    yield ev.SignShown(PAGE, "stale")
    yield ev.SignShown(PAGE)
    yield ev.SignShown(ODDS, "stale")
    yield ev.SignShown(ODDS)


def _one_of_each(floor: IdealTable) -> list[str]:
    """Return one slot of each kind."""
    return list({slot.kind: name for name, slot in reversed(floor.state.slots.items())}.values())


def _answers(floor: IdealTable) -> Iterator[ev.Event]:
    """Yield correct answers to prompts without a hold, and wrong answers to all prompts."""
    for prompt in floor.prompts():
        for who in PEOPLE:
            for choice in (*prompt.choices, "deal_anyway", "continue", ""):
                right = who.role == prompt.role and choice in prompt.choices
                if prompt.hold is None or not right:
                    yield ev.Answer(prompt.id, choice, who, 53, (1, 3))


def _devices(floor: IdealTable) -> Iterator[ev.Event]:
    cards = floor.edition.cards.count
    for name in _one_of_each(floor):
        slot = floor.state.slots[name]
        yield from (ev.SlotChanged(name, trigger) for trigger in _CHANGES)
        yield ev.ReturnStepChanged(name, 1, "clear: take every card off the path")
        yield from _return_to_service(name) if slot.kind in ("shuffler", "shoe") else ()
        if slot.kind == "shuffler":
            yield from (ev.CardsInserted(name), ev.IntakeEmptied(name), ev.ShuffleEnded(name, cards, shuffled=True))
            yield from (ev.ShuffleFailed(name, 3, None), ev.DeckGivenOut(name), ev.DiscardsTakenIn(name, cards))
            yield from (ev.CardsBehindGate(name), ev.StackInserted(name, cards))
        if slot.kind == "shoe":
            yield from (ev.ShoeLoaded(name, cards), ev.StackTaken(name), ev.StackOut(name, floor.edition.hand.cards))
            yield from (ev.CardsDrawn(name, 49), ev.StubOut(name, 4), ev.ShoeFault(name, 3), ev.FaceUpSeen(name))
            yield from (ev.ShoeEmpty(name), ev.ShoeIdentifies(name))
            yield ev.HandReleased(name, next(iter(floor.state.commands), 1), 1, "As Kd 4c")
        if slot.kind == "shaker":
            yield from (ev.DiceOpened(name), ev.DiceRead(name, (2, 3, 5)), ev.NoRollReported(name, "too_few_shakes"))
        if slot.kind == "rng":
            yield ev.NumberDrawn(name, 4)
        if slot.kind == "button":
            yield from (ev.ButtonSeen(name, 1), ev.ButtonSeen(name, None))
    number = floor.round_.number
    for seat in (1, 2):
        lock = floor.state.progressive.seats[seat].lock if seat in floor.state.progressive.seats else 1
        yield from (
            ev.SeatLatched(seat, number, lock, 9, bet=True),
            ev.EarlierLatchReported(seat, number, lock, 9, bet=True),
        )
        yield from (
            ev.SeatLockRefused(seat, lock),
            ev.BetSensed(seat, 9, placed=True),
            ev.LateBet(seat),
            ev.CoverCardOut(seat=seat),
        )


def _return_to_service(name: str) -> Iterator[ev.Event]:
    """Yield faults, evidence, and acts of people on a return to service and on test mode."""
    yield ev.MachineHalted(name, "jam", 1)
    for service in (True, False):
        yield ev.FaultDiagnosed(name, 1, "path_blocked", Requirements(service, 53, has_door=False))
    yield from (ev.EvidenceReported(name, shown) for shown in (Emptied(), Tested(0, 0), FaultedAgain("Jam")))
    for who in (DEALER, FLOOR, TECH):
        yield ev.ReturnTaken(name, 1, who, Requirements(service=True, expected=53, has_door=False))
        yield ev.StepReported(name, 1, ReturnStep.RETURN, who)
        yield ev.ReturnLeft(name, 1, who)
        yield ev.TestModeOrdered(name, "begin", who)
        yield ev.TestModeOrdered(name, "leave", who)


def _commands(floor: IdealTable) -> Iterator[ev.Event]:
    for id_ in [*floor.state.commands, 9999]:
        yield from (ev.CommandEnded(id_, outcome) for outcome in _OUTCOMES)
    for timer in ("lock", "dice_age", "deck_age/blue/4", "deck_age/blue/8", "deck_age/blue/24"):
        yield ev.Due(timer)
