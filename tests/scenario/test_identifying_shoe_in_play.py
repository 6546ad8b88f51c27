"""A table with a shoe that identifies cards: storms, a reader that errs, lost links and power, on the shipped box."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pytest

from simulators.casino.fault_schedule import draw_schedule
from simulators.casino.soak import run_table
from simulators.casino.table import CasinoTable
from simulators.casino.table_layout import fit_models, identifying_shoe, slots_of_models
from table_controller.rulebook import GAMES
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command, Finding, HoldOpened, WagerSettled
from tests.support.core.ideal_table import DEALER

if TYPE_CHECKING:
    from collections.abc import Callable

SHOE: Final = "shoe.1"
WILD: Final = "dj_wild"
IDENTIFYING: Final = "shoe-identifying"
MANUAL_IDENTIFYING: Final = "shoe-manual-identifying"
MANUAL: Final[dict[str, Any]] = {"choices": {"dealing": "manual_shoe"}, "models": {SHOE: MANUAL_IDENTIFYING}}
AUTOMATED: Final[dict[str, Any]] = {"models": {SHOE: IDENTIFYING}}


class CountedTable(CasinoTable):
    """A table that counts, over all tables of a test, the hands that were released."""

    hands = 0

    def _stepped(self, event: ev.Event, decisions: Any) -> None:
        CountedTable.hands += isinstance(event, ev.HandReleased)
        super()._stepped(event, decisions)


@pytest.mark.parametrize("game", GAMES)
def test_storms_break_no_promise_and_no_card_is_released_early_or_wrong(seed: int, game: str) -> None:
    more, before = identifying_shoe(game), CountedTable.hands
    mishaps = draw_schedule(game, seed, 12, "storm", more)
    day, failure = run_table(game, seed, 12, mishaps, make=partial(CountedTable, more=more))
    assert failure is None, failure
    assert day.rounds == 12
    assert CountedTable.hands > before + 12


class Exchanged(CasinoTable):
    """The shoe releases the cards of the stack before."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        units: Any = self.machines[SHOE].firmware._units  # type: ignore[attr-defined]
        release = units.release
        units.release = lambda dealt_by, card: release(
            max((u for u, _ in units._units if u < dealt_by), default=dealt_by), card
        )


class Early(CasinoTable):
    """The core does not ask whether cards are exposed."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        context = self.controller.table.context
        kept = ("not_identifying", "no_dealt_hand", "release_ended", "device_busy", "slot_not_in_service")
        context.reasons = tuple(row for row in context.reasons if "release_cards" not in row.acts or row.key in kept)


@pytest.mark.parametrize(
    ("make", "how"), [(Exchanged, "but it has"), (Early, "were released while playing")], ids=["exchanged", "early"]
)
def test_the_checkers_see_wrong_and_early_cards(make: Callable[..., CasinoTable], how: str) -> None:
    _, failure = run_table(WILD, 1, 2, [], make=partial(make, more=identifying_shoe(WILD)))
    assert failure is not None
    assert failure.invariant == "released cards"
    assert how in failure.how


# --- one round with a reader that errs --------------------------------------------------------------------------------


class Played:
    """One round, with what happened."""

    def __init__(self, table: CasinoTable) -> None:
        decisions = [each for _, of_step in table.step_log for each in of_step]
        self.findings = [each.kind for each in decisions if isinstance(each, Finding)]
        self.holds = [each.trigger for each in decisions if isinstance(each, HoldOpened)]
        self.hands = [event for event, _ in table.step_log if isinstance(event, ev.HandReleased)]
        self.settled = [each for each in decisions if isinstance(each, WagerSettled)]
        ordered = [each.id for each in decisions if isinstance(each, Command) and each.act == "release_cards"]
        ended = [
            event for event, _ in table.step_log if isinstance(event, ev.CommandEnded) and event.outcome != "unknown"
        ]
        self.ends = [sum(event.command == id_ for event in ended) for id_ in ordered]
        self.phase = table.controller.table.state.round.state


async def play(seed: int, options: dict[str, Any], *faults: str, when: str = mc.BETTING) -> Played:
    """Play a round; the faults happen when it comes to a phase."""
    table = CasinoTable(WILD, seed=seed, **options)
    left = list(faults)

    def happen(_event: ev.Event, decisions: Any) -> None:
        if left and any(
            getattr(each, "state", "") == when and getattr(each, "what", "") == "round" for each in decisions
        ):
            while left:
                table.machines[SHOE].inject(left.pop(0))

    table.watchers.append(happen)
    try:
        await table.open("blue", "red")
        await table.round()
        return Played(table)
    finally:
        await table.close()


BOTH: Final = pytest.mark.parametrize("options", [AUTOMATED, MANUAL], ids=["automated", "manual"])


@BOTH
async def test_without_mishaps_every_wager_is_settled_by_the_released_cards(seed: int, options: dict[str, Any]) -> None:
    played = await play(seed, options)
    assert (len(played.hands), played.findings, played.holds) == (5, [], [])
    assert all(each.result.hand and all(each.cards) for each in played.settled)
    assert set(played.ends) == {1}


@BOTH
async def test_a_card_that_was_not_read_leaves_its_hand_to_the_dealer(seed: int, options: dict[str, Any]) -> None:
    played = await play(seed, options, "card_unread:card=2")
    assert (played.findings, played.holds, played.phase) == (["cards_unread"], [], mc.IDLE)
    assert [hand.unread for hand in played.hands].count(1) == 1


@pytest.mark.parametrize("fault", ["card_misread:card=3", "card_read_twice:card=3"])
async def test_a_card_identified_twice_is_held_for_a_floorperson_and_the_round_goes_on(seed: int, fault: str) -> None:
    played = await play(seed, AUTOMATED, fault)
    assert (played.findings, played.holds) == (["cards_contradict"], ["cards_contradict"])
    assert (len(played.hands), played.phase) == (4, mc.IDLE)
    assert set(played.ends) == {1}


async def test_a_value_twice_in_one_hand_of_a_manual_shoe_is_found_by_the_table(seed: int) -> None:
    """Such a shoe does not know how many decks it has; here five cards in a row are one hand."""
    played = await play(seed, MANUAL, "card_misread:card=3")
    assert (played.findings, played.holds) == (["cards_contradict"], ["cards_contradict"])
    assert played.phase == mc.IDLE


@BOTH
@pytest.mark.parametrize("fault", ["reboot", "power_cut:seconds=2"])
async def test_a_shoe_that_restarted_has_forgotten_and_people_settle(
    seed: int, options: dict[str, Any], fault: str
) -> None:
    played = await play(seed, options, fault, when=mc.PLAYING)
    assert played.hands == []
    assert set(played.findings) <= {"cards_not_released"}
    assert played.phase == mc.IDLE
    assert set(played.ends) <= {1}


@BOTH
@pytest.mark.parametrize(
    "fault", ["unplug:seconds=3", "hang:seconds=2", "withhold:message=ReleaseCards", "drop:frames=6"]
)
async def test_a_lost_link_or_answer_costs_no_round_and_no_command_its_end(
    seed: int, options: dict[str, Any], fault: str
) -> None:
    played = await play(seed, options, fault, when=mc.SETTLING)
    assert played.holds == []
    assert played.phase == mc.IDLE
    assert set(played.ends) == {1}


@pytest.mark.parametrize("points", range(1, 24, 3))
async def test_a_power_cut_of_the_box_with_an_order_open_loses_nothing(seed: int, points: int) -> None:
    table = CasinoTable(WILD, seed=seed, **AUTOMATED)

    def cut(_event: ev.Event, decisions: Any) -> None:
        if any(
            getattr(each, "state", "") == mc.SETTLING and getattr(each, "what", "") == "round" for each in decisions
        ):
            table.disk.cut_at = table.disk.points + points

    table.watchers.append(cut)
    try:
        await table.open("blue", "red")
        await table.round()
        while table.is_box_down:
            table.watchers.clear()
            await table.power_up()
            await table.until_quiescent()
        played = Played(table)
        assert table.controller.table.state.round.state == mc.IDLE
        assert not [trigger for trigger in played.holds if trigger != "box_restarted"]
        assert set(played.ends) <= {0, 1}, "a step that was cut off is on the disk, and nobody saw it"
        ids = [
            event.command
            for event, _ in table.step_log
            if isinstance(event, ev.CommandEnded) and event.outcome != "unknown"
        ]
        assert len(ids) == len(set(ids))
    finally:
        await table.close()


async def test_the_dealer_enters_other_cards_and_both_are_shown(seed: int) -> None:
    table = CasinoTable(WILD, seed=seed, **AUTOMATED)
    table.people.choices["cards_differ"] = "released"
    entered: list[str] = []

    def enter(event: ev.Event, _decisions: Any) -> None:
        if isinstance(event, ev.HandReleased) and len(entered) == 1:  # after the dealer's hand: the first seat's
            entered.append("wrong")
            table.controller.submit(ev.HandEntered(6, "2c 3c 4c 5c 7c", DEALER))
        elif isinstance(event, ev.HandReleased) and not entered:
            entered.append("of the dealer")

    table.watchers.append(enter)
    try:
        await table.open("blue", "red")
        await table.round()
        played = Played(table)
        prompt = next(each for each in table.people.prompts_seen if each.kind == "cards_differ")
        assert "Shoe 1 released" in prompt.shows
        assert "the dealer entered 2c 3c 4c 5c 7c" in prompt.shows
        assert played.findings == ["cards_differ", "cards_ruled"]
        assert (len(played.hands), played.phase) == (5, mc.IDLE)
    finally:
        await table.close()


# --- the names of simulated tables ------------------------------------------------------------------------------------


def test_an_identifying_shoe_is_the_model_that_fits_the_game() -> None:
    assert {game: identifying_shoe(game)[SHOE] for game in GAMES} == {
        "asia_poker": IDENTIFYING, "saigon_5_card": IDENTIFYING, "dj_wild": IDENTIFYING, "face_up_pai_gow": IDENTIFYING,
        "over_under": MANUAL_IDENTIFYING,
    }  # fmt: skip
    for game in GAMES:  # what --with makes of the one name
        assert fit_models(game, slots_of_models([IDENTIFYING, "rng"])) == {**identifying_shoe(game), "rng.1": "rng"}
    assert fit_models("over_under", {"rng.1": "rng"}) == {"rng.1": "rng"}
