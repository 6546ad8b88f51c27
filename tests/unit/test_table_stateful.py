"""Full tables of every game and method under random events, legal and illegal, each step checked from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from table_controller.rulebook import TRIGGERS
from table_controller.table import events as ev
from table_controller.table.decisions import Command
from tests.support.core.ideal_table import (
    AUDITOR,
    DEALER,
    FLOOR,
    NO_MACHINES,
    SLOTS,
    TECH,
    WILD_PROGRESSIVE,
    signs_report,
)
from tests.support.oracles.judged_table import JudgedTable
from tests.support.suite.case_counts import count_cases

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.rulebook.vocabulary import DeviceFact

_RNG: Final[dict[str, DeviceFact]] = {
    **{s: k for s, k in SLOTS["face_up_pai_gow"].items() if s != "shaker.1"},
    "rng.1": "rng",
}
_SHUFFLER: Final[dict[str, DeviceFact]] = {"shuffler.1": "shuffler"}
# name -> game, slots (None: all that the game can have), choices
TABLES: Final[dict[str, tuple[str, dict[str, DeviceFact] | None, dict[str, Any]]]] = {
    "asia_poker": ("asia_poker", None, {}),
    "asia_poker, manual shoe": ("asia_poker", None, {"dealing": "manual_shoe"}),
    "asia_poker, flat button": (
        "asia_poker",
        {**SLOTS["asia_poker"], "button.1": "button"},
        {"start": "flat_button"},
    ),
    "saigon_5_card": ("saigon_5_card", None, {}),
    "saigon_5_card by hand": ("saigon_5_card", _SHUFFLER, {"dealing": "hand", "shuffler_counts": False}),
    "saigon_5_card, plain": ("saigon_5_card", {}, {**NO_MACHINES, "dealing": "manual_shoe"}),
    "over_under": ("over_under", None, {}),
    "over_under, continuous": (
        "over_under",
        _SHUFFLER,
        {"dealing": "continuous_shuffler", "shuffler": "continuous", "reshuffles": True, "two_decks": False},
    ),
    "over_under, plain": ("over_under", {"shoe.1": "shoe"}, {**NO_MACHINES, "mid_shoe_entry_ban": True}),
    "dj_wild": ("dj_wild", None, WILD_PROGRESSIVE),
    "dj_wild by hand": ("dj_wild", _SHUFFLER, {"dealing": "hand"}),
    "face_up_pai_gow": ("face_up_pai_gow", None, {}),
    "face_up_pai_gow, generator": ("face_up_pai_gow", _RNG, {"start": "rng", "dealing": "manual_shoe"}),
}
_PEOPLE: Final = (DEALER, FLOOR, TECH, AUDITOR, ev.Person("floorperson", "D1"))
_NUMBERS: Final = (0, 1, 3, 4, 5, 7, 9, 13, 52, 53, 54, 311, 312)
_DECKS: Final = ("blue", "red", "green", "")
_DECLARED: Final = (*TRIGGERS, "player_leaves", "other", "nonsense")
_ORDERS: Final = (
    "reshuffle", "recut", "remove_deck", "table_idle", "dealing_method", "start_method", "shuffle_by_hand",
    "shuffle_by_machine", "readmit",
)  # fmt: skip
_METHODS: Final = (
    "manual_shoe",
    "hand",
    "automated_shoe",
    "continuous_shuffler",
    "shaker",
    "rng",
    "flat_button",
    "spoon",
)

people = st.sampled_from(_PEOPLE)
numbers = st.sampled_from(_NUMBERS)
places = st.integers(0, 7)
few = st.integers(0, 50)
outcomes: Any = st.sampled_from(("done", "done", "failed", "unknown", "revoked"))


def _device_events(kind: str, slot: str, number: int, more: int) -> list[ev.Event]:
    """Return every event that a device of a kind can send, with any number in it."""
    whole = None if more == 7 else number
    match kind:
        case "shuffler":
            return [
                ev.CardsInserted(slot), ev.IntakeEmptied(slot), ev.DeckGivenOut(slot), ev.DiscardsTakenIn(slot, number),
                ev.ShuffleEnded(slot, whole, shuffled=more != 1, rejected=more == 2),
                ev.ShuffleFailed(slot, 430, whole), ev.StackOut(slot, number), ev.CardsBehindGate(slot),
            ]  # fmt: skip
        case "shoe":
            return [
                ev.ShoeLoaded(slot, whole), ev.StackOut(slot, number), ev.StackTaken(slot), ev.CardsDrawn(slot, number),
                ev.StubOut(slot, number), ev.ShoeFault(slot, 430), ev.FaceUpSeen(slot), ev.ShoeEmpty(slot),
                ev.CoverCardOut(slot, more if 1 <= more <= 6 else None),
            ]  # fmt: skip
        case "shaker":
            dice = (1 + more % 6, 1 + number % 6, 1 + (more + number) % 6)
            return [
                ev.DiceRead(slot, dice), ev.DiceOpened(slot), ev.NoRollReported(slot, "dice_not_flat"),
                ev.NoRollReported(slot, "too_few_shakes"), ev.NoRollReported(slot, "die_out_of_shaker"),
            ]  # fmt: skip
        case "rng":
            return [ev.NumberDrawn(slot, more), ev.NumberDrawn(slot, number)]
        case "button":
            return [ev.ButtonSeen(slot, more or None)]
    seat = int(slot.rpartition(".")[2])
    return [
        ev.BetSensed(seat, number, placed=True), ev.BetSensed(seat, number, placed=False), ev.LateBet(seat),
        ev.SeatLatched(seat, more, number, number, bet=True),
    ]  # fmt: skip


class AnyDay(RuleBasedStateMachine):
    """A day at a table with obedient people, disobedient people, devices that work and devices that do not."""

    make: Callable[[], JudgedTable]

    @initialize(decks=st.integers(0, 2), on=st.integers(0, 40))
    def opened(self, decks: int, on: int) -> None:
        self.t = type(self).make()
        self.t.bets = {1, 3}
        for slot in self.t.slots:
            self.t.step(ev.SlotChanged(slot, "appear"))
            self.t.step(ev.SlotChanged(slot, "verify"))
        for event in signs_report(self.t.table):
            self.t.step(event)
        for name in _DECKS[:decks]:
            self.t.step(ev.DeckReceived(name, DEALER))
        self.t.play_events(on * bool(decks))

    # --- people and devices as they should be -------------------------------------------------------------------------

    @rule(events=st.integers(1, 30))
    def all_goes_well(self, events: int) -> None:
        self.t.play_events(events)

    @rule(events=st.integers(1, 12))
    def all_goes_well_for_a_moment(self, events: int) -> None:
        self.t.play_events(events)

    @rule(events=st.integers(5, 25))
    def the_dealer_tries_to_continue_at_every_step(self, events: int) -> None:
        """Open and close a round whenever it is permitted: before a deck is replaced or a device signed."""
        for _ in range(events):
            self.t.step(ev.OpenRound(DEALER))
            self.t.play_events(1)

    # --- people -------------------------------------------------------------------------------------------------------

    @rule(which=few, choice=st.integers(0, 3), number=st.none() | numbers, data=st.data())
    def somebody_answers(self, which: int, choice: int, number: int | None, data: st.DataObject) -> None:
        prompts = self.t.prompts()
        if not prompts:
            return
        prompt = prompts[which % len(prompts)]
        right = next(p for p in _PEOPLE if p.role == prompt.role)
        who = data.draw(st.just(right) | people)
        seats = tuple(data.draw(st.lists(places, max_size=4))) if prompt.seats else ()
        self.t.step(
            ev.Answer(
                prompt.id, (*prompt.choices, "deal_anyway")[choice % (len(prompt.choices) + 1)], who, number, seats
            )
        )

    @rule(prompt=few, who=people)
    def somebody_answers_what_nobody_asked(self, prompt: int, who: ev.Person) -> None:
        self.t.step(ev.Answer(self.t.last_id + prompt - 25, "done", who))

    @rule(
        trigger=st.sampled_from(_DECLARED),
        who=people,
        seat=st.none() | places,
        deck=st.sampled_from(_DECKS),
        data=st.data(),
    )
    def somebody_reports(self, trigger: str, who: ev.Person, seat: int | None, deck: str, data: st.DataObject) -> None:
        slot = data.draw(st.sampled_from([None, "shuffler.9", *self.t.slots]))
        self.t.step(ev.IrregularityReported(trigger, who, seat, deck or None, slot))

    @rule(
        order=st.sampled_from(_ORDERS),
        who=people,
        deck=st.sampled_from(_DECKS),
        method=st.sampled_from(_METHODS),
        seat=st.none() | places,
    )
    def somebody_orders(self, order: Any, who: ev.Person, deck: str, method: str, seat: int | None) -> None:
        self.t.step(ev.Ordered(order, who, deck or None, method, seat))

    @rule(act=st.sampled_from(("give_up", "sign", "repair", "clear", "acknowledge")), who=people, data=st.data())
    def somebody_orders_about_a_device(self, act: Any, who: ev.Person, data: st.DataObject) -> None:
        self.t.step(ev.SlotOrdered(data.draw(st.sampled_from(["shoe.7", *self.t.slots])), act, who))

    @rule(what=st.integers(0, 3), who=people, deck=st.sampled_from(_DECKS), preshuffled=st.booleans())
    def somebody_begins(self, what: int, who: ev.Person, deck: str, *, preshuffled: bool) -> None:
        self.t.step(
            (
                ev.OpenRound(who), ev.NoMoreBets(who), ev.DealerChanged(who),
                ev.DeckReceived(deck, who, preshuffled=preshuffled, two_jokers=what % 2 == 1),
            )[what]
        )  # fmt: skip

    # --- devices, commands, time --------------------------------------------------------------------------------------

    @rule(which=few, event=few, number=numbers, more=places)
    def a_device_reports_anything(self, which: int, event: int, number: int, more: int) -> None:
        if self.t.slots:
            slot, kind = list(self.t.slots.items())[which % len(self.t.slots)]
            reported = _device_events(kind, slot, number, more)
            self.t.step(reported[event % len(reported)])

    @rule(which=few, trigger=st.sampled_from(("appear", "vanish", "verify", "doubt", "fault")))
    def a_link_or_a_report(self, which: int, trigger: Any) -> None:
        if self.t.slots:
            self.t.step(ev.SlotChanged(list(self.t.slots)[which % len(self.t.slots)], trigger))

    @rule(which=few, outcome=outcomes, reported=st.booleans())
    def a_command_ends(self, which: int, outcome: Any, *, reported: bool) -> None:
        """With or without the device's result event before it."""
        if not self.t.open:
            return
        id_ = list(self.t.open)[which % len(self.t.open)]
        issued = self.t.state.commands[id_]
        if reported:
            for event in self.t.answer(Command(id_, issued.slot, issued.act, issued.number)):
                if not isinstance(event, ev.CommandEnded):
                    self.t.step(event)
        self.t.step(ev.CommandEnded(id_, outcome))

    @rule(which=few, outcome=outcomes)
    def a_command_ends_twice_or_was_never_given(self, which: int, outcome: Any) -> None:
        ended = [0, 10_000, *self.t.ended]
        self.t.step(ev.CommandEnded(ended[which % len(ended)], outcome))

    @rule(which=few)
    def something_falls_due(self, which: int) -> None:
        hours = sorted(set(self.t.edition.change_hours.values()))
        timers = ["lock", "dice_age", "nobody's", *(f"deck_age/{d}/{h}" for d in self.t.state.decks for h in hours)]
        self.t.step(ev.Due(timers[which % len(timers)]))

    def teardown(self) -> None:
        if hasattr(self, "t"):
            self.t.check_end()
            self.t.play_to_complete_round()


def run(name: str, examples: int, steps: int) -> None:
    game, slots, choices = TABLES[name]
    day = type("Day", (AnyDay,), {"make": staticmethod(lambda: JudgedTable(game, slots, **choices))})
    # A failure prints its whole sequence; shrinking would take longer than reading it.
    phases = (Phase.explicit, Phase.generate)
    run_state_machine_as_test(
        day,
        settings=settings(
            max_examples=examples, stateful_step_count=steps, phases=phases, report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip


@pytest.mark.parametrize("name", list(TABLES))
def test_no_random_day_breaks_an_invariant(name: str) -> None:
    run(name, 9, 35)


@pytest.mark.proof
@pytest.mark.parametrize("name", list(TABLES))
def test_no_long_random_day_breaks_an_invariant(name: str) -> None:
    run(name, count_cases(45), 60)
