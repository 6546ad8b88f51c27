"""Rulings at whole tables, through simulators, wire, drivers and controller: people try to bypass them."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from simulators.casino.dealer import DEALER, FLOOR
from simulators.casino.table import CasinoTable
from simulators.casino.table_layout import progressive_choices
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import BetReturned, BetSettled, HoldOpened, Prompt, RequestRefused, WagersReturned
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from table_controller.table.decisions import Decision


def decided(house: CasinoTable) -> list[Decision]:
    """Return every decision of the box."""
    return [decision for _, decisions in house.step_log for decision in decisions]


def irregularities(house: CasinoTable) -> list[str]:
    """Return the irregularities that the box has found, in order."""
    return [decision.trigger for decision in decided(house) if isinstance(decision, HoldOpened)]


async def begun(house: CasinoTable, until: str, bets: tuple[int, ...] = ()) -> None:
    """Play until a round is in a phase."""
    await house.open("blue", "red")
    house.controller.submit(ev.OpenRound(DEALER))
    await house.wait(1.0)
    for seat in bets:
        house.machines[f"bet_sensor.{seat}"].inject("place_bet")
    await house.wait(1.0)
    house.controller.submit(ev.NoMoreBets(DEALER))
    await house.until(lambda: house.controller.table.state.round.state == until)


@asynccontextmanager
async def at_table(game: str, seed: int) -> AsyncIterator[CasinoTable]:
    """Yield a table and close it at the end of the test."""
    house = CasinoTable(game, seed=seed, choices=progressive_choices(game, 0))
    try:
        yield house
    finally:
        await house.close()


# --- face up ----------------------------------------------------------------------------------------------------------

_FACE_UP = {
    "asia_poker": "575.13(f)/2", "saigon_5_card": "680a.13(a)/2", "dj_wild": "687a.13(a)/2",
    "face_up_pai_gow": "688a.13(e)/2",
}  # fmt: skip


@pytest.mark.parametrize("game", [pytest.param(game, marks=clauses(clause)) for game, clause in _FACE_UP.items()])
async def test_several_cards_face_up_end_the_round_regardless_of_later_reports(seed: int, game: str) -> None:
    async with at_table(game, seed) as house:
        await begun(house, mc.DEALING)
        house.controller.submit(ev.IrregularityReported("face_up_card_more", DEALER, seat=1))
        house.controller.submit(ev.IrregularityReported("face_up_card_first", DEALER, seat=1))  # "it was only one"
        await house.until_quiescent()
        voids = [one for one in decided(house) if isinstance(one, WagersReturned)]
        assert [one.clauses for one in voids] == [(_FACE_UP[game],)]
        assert "face_up_card_first" not in irregularities(house)
        assert any(isinstance(one, RequestRefused) for one in decided(house))
        await house.round()
        assert house.controller.table.state.round.state == mc.IDLE
        assert house.controller.table.state.round.number == 2


@clauses("575.13(f)/2")
async def test_two_cards_face_up_in_one_stack_of_a_real_shoe_end_the_round(seed: int) -> None:
    async with at_table("asia_poker", seed) as house:
        put_in = house.people._put_in_shoe

        async def turned(prompt: Prompt) -> None:
            await put_in(prompt)
            for depth in (1, 3):
                house.machines["shoe.1"].inject(f"face_up:depth={depth}")

        house.people._put_in_shoe = turned  # type: ignore[method-assign]
        await house.open("blue", "red")
        house.people._put_in_shoe = put_in  # type: ignore[method-assign]
        before = len(irregularities(house))  # seen when the shoe was loaded: no matter of a deal
        await house.round()
        assert irregularities(house)[before : before + 2] == ["face_up_card_first", "face_up_card_more"]
        assert [one.clauses for one in decided(house) if isinstance(one, WagersReturned)] == [("575.13(f)/2",)]


# --- 687a.13(d) -------------------------------------------------------------------------------------------------------


@clauses("687a.13(d)")
async def test_a_card_exposed_after_the_last_raise_takes_no_won_wager_away(seed: int) -> None:
    async with at_table("dj_wild", seed) as house:

        def expose(_event: ev.Event, decisions: list[Decision]) -> None:
            if any(isinstance(one, Prompt) and one.kind == "reveal" for one in decisions) and not irregularities(house):
                house.controller.submit(ev.IrregularityReported("dealer_card_exposed", DEALER))

        house.watchers.append(expose)
        await house.open("blue", "red")
        await house.round((1, 4))
        assert irregularities(house) == ["dealer_card_exposed"]
        assert not [one for one in decided(house) if isinstance(one, WagersReturned | BetReturned)]
        assert {one.seat for one in decided(house) if isinstance(one, BetSettled)} == {1, 4}


@clauses("687a.13(d)", "687a.13(c)")
async def test_complete_hands_are_settled_in_a_void_round_until_a_wrong_count_ends_it(seed: int) -> None:
    async with at_table("dj_wild", seed) as house:
        await begun(house, mc.DEALING, (1, 4))
        house.people.is_ignoring = True  # nobody does anything about irregularities yet
        await house.until(lambda: 1 not in house.controller.table.state.round.to_deal)
        await house.until(lambda: house.controller.table.state.round.in_slot != 1)
        house.controller.submit(ev.IrregularityReported("player_card_exposed", DEALER, seat=1))
        await house.until(lambda: house.controller.table.state.round.state == mc.VOID)
        house.people.stop_ignoring()
        await house.until(lambda: any(isinstance(one, BetSettled) for one in decided(house)))
        asked = [one.seat for one in decided(house) if isinstance(one, Prompt) and one.kind == "hand_complete"]
        assert asked == list(house.seats), "the floorperson confirms every hand"
        house.controller.submit(ev.IrregularityReported("wrong_card_count", FLOOR, seat=1))
        await house.until_quiescent()
        # The shoe that the void round stopped reports it, and no wager is taken away.
        assert sorted(irregularities(house)) == ["player_card_exposed", "shoe_fault", "wrong_card_count"]
        assert {one.seat for one in decided(house) if isinstance(one, BetReturned)} == {1, 4}
        assert house.controller.table.state.round.state == mc.IDLE
        await house.round((1, 4))
        assert house.controller.table.state.round.number == 2


# --- the dealer's hand ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "game",
    [
        pytest.param("asia_poker", marks=clauses("575.13(i)")),
        pytest.param("face_up_pai_gow", marks=clauses("688a.13(h)")),
    ],
)
async def test_a_seat_that_was_settled_against_a_wrong_hand_is_settled_twice(seed: int, game: str) -> None:
    async with at_table(game, seed) as house:

        def notice(_event: ev.Event, _decisions: list[Decision]) -> None:
            state = house.controller.table.state
            if len(state.round.settled) == 2 and not state.round.reopened and not state.holds:
                house.controller.submit(ev.IrregularityReported("dealer_hand_misset", DEALER))

        house.watchers.append(notice)
        await house.open("blue", "red")
        await house.round()
        assert irregularities(house) == ["dealer_hand_misset"]
        settled = [one.seat for one in decided(house) if isinstance(one, Prompt) and one.kind == "settled"]
        assert settled == [6, 4, 2, 6, 4, 2, 1], "seats 6 and 4 were settled, and are settled anew"
        reopened = [one for one in decided(house) if isinstance(one, Prompt) and one.kind == "seat_reopened"]
        assert [(one.role, one.seat) for one in reopened] == [("floorperson", 6), ("floorperson", 4)]
        assert house.controller.table.state.round.state == mc.IDLE


@pytest.mark.parametrize(
    "game",
    [
        pytest.param("asia_poker", marks=clauses("575.13(i)")),
        pytest.param("face_up_pai_gow", marks=clauses("688a.13(h)")),
    ],
)
async def test_a_wrong_hand_found_after_the_last_seat_was_settled_opens_every_seat_again(seed: int, game: str) -> None:
    async with at_table(game, seed) as house:

        def notice(_event: ev.Event, decisions: list[Decision]) -> None:
            asked = any(isinstance(one, Prompt) and one.kind == "collected" for one in decisions)
            if asked and not irregularities(house):
                house.controller.submit(ev.IrregularityReported("dealer_hand_misset", DEALER))
                house.controller.submit(ev.OpenRound(DEALER))  # "the next round, quickly"

        house.watchers.append(notice)
        await house.open("blue", "red")
        await house.round()
        assert irregularities(house) == ["dealer_hand_misset"]
        settled = [one.seat for one in decided(house) if isinstance(one, Prompt) and one.kind == "settled"]
        assert settled == [6, 4, 2, 1, 6, 4, 2, 1]
        reopened = [one for one in decided(house) if isinstance(one, Prompt) and one.kind == "seat_reopened"]
        assert [(one.role, one.seat) for one in reopened] == [("floorperson", seat) for seat in (6, 4, 2, 1)]
        assert house.controller.table.state.round.state == mc.IDLE
        assert house.controller.table.state.round.number == 1
        await house.round()
        assert house.controller.table.state.round.number == 2


@pytest.mark.parametrize("game", ["asia_poker", "saigon_5_card", "dj_wild", "face_up_pai_gow"])
@pytest.mark.parametrize("trigger", ["other", "wrong_card_count"])
async def test_a_void_when_all_is_settled_gives_every_seat_and_every_bet_back(
    seed: int, game: str, trigger: str
) -> None:
    async with at_table(game, seed) as house:
        house.people.choices["choose"] = "void"

        def notice(_event: ev.Event, decisions: list[Decision]) -> None:
            asked = any(isinstance(one, Prompt) and one.kind == "collected" for one in decisions)
            if asked and not irregularities(house):
                house.controller.submit(ev.IrregularityReported(trigger, FLOOR))

        house.watchers.append(notice)
        before = dict(house.controller.table.state.money.book.held)
        await house.open("blue", "red")
        bets = (1, 4) if "bet_sensor.1" in house.machines else ()
        await house.round(bets)
        assert irregularities(house)[0] == trigger
        reversed_ = [one.seat for one in decided(house) if isinstance(one, Prompt) and one.kind == "wagers_reversed"]
        assert reversed_ == [1, 2, 4, 6]
        assert {one.seat for one in decided(house) if isinstance(one, BetReturned)} == set(bets)
        assert {name: held for name, held in house.controller.table.state.money.book.held.items() if held} == {
            name: held for name, held in before.items() if held
        }
        await house.round(bets)
        assert house.controller.table.state.round.number == 2


# --- the stub ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "game",
    [
        pytest.param("asia_poker", marks=clauses("575.10(c)")),
        pytest.param("face_up_pai_gow", marks=clauses("688a.10(d)")),
    ],
)
async def test_a_dealer_who_counts_another_stub_than_the_shoe_does_not_go_on_alone(seed: int, game: str) -> None:
    async with at_table(game, seed) as house:
        await house.open("blue", "red")
        house.people.miscounts["stub"] = 1
        await house.round()
        counts = [
            one.role for one in decided(house) if isinstance(one, Prompt) and one.kind in ("stub", "stub_recount")
        ]
        assert counts == ["dealer", "floorperson"], "the dealer is asked once, then the floorperson"
        assert irregularities(house) == []
        assert house.controller.table.state.round.state == mc.IDLE
