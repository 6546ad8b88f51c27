"""The shipped box refuses, through the request handler, entries and results that come in another order or way."""

from __future__ import annotations

from typing import Any, Final

import pytest

from table_controller.access import requests as r
from table_controller.table import known_hands, playing
from tests.scenario.test_clauses_on_box import SEAT, box_of
from tests.support.suite.clauses import clauses

# The dealer's hand of each game that sets hands, and a lawful setting of it that is not the house way's.
MISSET: Final = (
    ("asia_poker", "575.11(c)", "Ks Qh Td 7c 4s 3d 2c", "Ks Qh Td 7c | 4s 3d | 2c"),
    ("saigon_5_card", "680a.11(c)", "Ks Qh 6d 4c 2s", "Ks 6d 2s | Qh 4c"),
    ("face_up_pai_gow", "688a.11(c)", "Ks Kh 9d 7c 4s Qd Jc", "Ks Kh Qd Jc 9d | 7c 4s"),
)
# Which of seats 3 and 6 is settled first, by the direction of the chapter.
ORDER: Final = (
    ("asia_poker", "575.11(e)", 6), ("saigon_5_card", "680a.11(d)", 6), ("dj_wild", "687a.11(e)", 6),
    ("face_up_pai_gow", "688a.11(e)", 6),
)  # fmt: skip


async def check_misset(game: str, clause: str, cards: str, misset: str) -> None:
    """Check that the dealer's hand is known only when it is exposed, and set only in the house way."""
    async with box_of(game) as pad:
        if game != "face_up_pai_gow":  # its dealer's hand is dealt face up
            early = await pad.refused(r.EnterHandRequest(place=0, cards=cards))
            assert early.what == f"the dealer's cards are not exposed yet ({clause})"
        await pad.deal()
        await pad.accepted(r.EnterHandRequest(place=0, cards=cards))
        assert not pad.prompts("settled"), "nothing is paid before the dealer's hand is compared"
        refusal = await pad.refused(r.EnterSettingRequest(place=0, hands=misset))
        assert refusal.what.startswith("set the dealer's hand again: ")
        assert refusal.what.endswith(f"({clause})")
        await pad.answer("dealer_set")
        assert pad.prompts("settled")


@pytest.mark.parametrize("case", [pytest.param(each, marks=clauses(each[1]), id=each[1]) for each in MISSET])
async def test_the_dealers_hand_is_set_after_the_players_and_in_the_house_way(case: tuple[str, str, str, str]) -> None:
    await check_misset(*case)


async def check_order(game: str, clause: str, first: int) -> None:
    """Check that a seat is not settled before its turn."""
    async with box_of(game, seats=(3, 6), decided="raise") as pad:
        await pad.deal()
        assert [each.seat for each in pad.prompts("settled")] == [first]
        other = 9 - first
        refusal = await pad.refused(r.SettleSeatsRequest(loses=(other,)))
        assert refusal.what == f"settle seats {first} first ({clause})"
        for seat in (first, other):
            await pad.accepted(r.SettleSeatsRequest(loses=(seat,)))


@pytest.mark.parametrize("case", [pytest.param(each, marks=clauses(each[1]), id=each[1]) for each in ORDER])
async def test_no_seat_is_settled_before_its_turn(case: tuple[str, str, int]) -> None:
    await check_order(*case)


@clauses("686a.7(i)")
async def test_a_player_of_over_under_is_settled_before_the_next_gets_cards() -> None:
    async with box_of("over_under", seats=(3, 6), decided="over_23") as pad:
        await pad.deal()
        first = pad.prompts("settled")[0].seat
        assert first == 3
        refusal = await pad.refused(r.SettleSeatsRequest(loses=(6,)))
        assert refusal.what == "settle seats 3 first (686a.7(i))"
        await pad.accepted(r.SettleSeatsRequest(loses=(3,)))
        await pad.house.until(lambda: [each.seat for each in pad.prompts("settled")] == [6])


@pytest.mark.parametrize(
    ("game", "clause", "cards"),
    [
        pytest.param("asia_poker", "575.11(d)/2", "8s 8h 8d 8c As Ad Jh", marks=clauses("575.11(d)/2"), id="575"),
        pytest.param(
            "face_up_pai_gow", "688a.11(d)/2", "9s 9h 9d 9c Jk 2c 4d", marks=clauses("688a.11(d)/2"), id="688a"
        ),
    ],
)
async def test_a_surrendered_hand_stays_face_down_and_is_counted(game: str, clause: str, cards: str) -> None:
    async with box_of(game) as pad:
        pad.house.people.choices["surrender_count"] = "done"
        pad.house.people.false_numbers["surrender_count"] = 6
        await pad.deal()
        await pad.answer("settled", "surrendered")
        refusal = await pad.refused(r.EnterHandRequest(place=SEAT, cards=cards))
        assert refusal.what == f"the hand of seat {SEAT} was surrendered and stays face down ({clause})"
        table = pad.house.controller.table
        await pad.house.until(lambda: bool(table.state.holds))
        assert [hold.trigger for hold in table.state.holds.values()] == ["wrong_card_count"], "6 cards are no hand of 7"


BOXES: Final = (
    ("saigon_5_card", "680a.7(e)", {"payout_limit_cents": 5_000_000, "least_wagers_cents": {"ante": 200}}),
    ("dj_wild", "687a.7(e)", {
        "wagers": ["progressive"], "paytables": {"progressive": "687a-progressive-1"}, "progressive_rate_bp": 1500,
        "folded_progressive": True, "settings": {"envy_paid_to": "progressive_bettors", "stake_returned": "no"},
    }),
)  # fmt: skip


@pytest.mark.parametrize(
    ("game", "clause", "choices"), [pytest.param(*each, marks=clauses(each[1]), id=each[1]) for each in BOXES]
)
async def test_a_player_has_no_more_boxes_than_the_rules_submission_states(
    game: str, clause: str, choices: dict[str, Any]
) -> None:
    async with box_of(game, seats=(2, 3, 4), adjacent_boxes=2, **choices) as pad:
        pad.house.ignored = ("players",)
        await pad.accepted(r.NoMoreBetsRequest())
        await pad.house.until(lambda: bool(pad.prompts("players")))
        (asked,) = pad.prompts("players")
        refusal = await pad.refused(r.AnswerRequest(prompt=asked.id, choice="done", seats=(2, 3, 4)))
        assert refusal.what == f"enter the boxes of one player, 2 to 2 ({clause})"
        apart = await pad.refused(r.AnswerRequest(prompt=asked.id, choice="done", seats=(2, 4)))
        assert apart.what == f"seats 2, 4 are not adjacent ({clause})"
        await pad.accepted(r.AnswerRequest(prompt=asked.id, choice="done", seats=(2, 3)))
        assert pad.house.controller.table.state.round.players == {2: 2, 3: 2}


# --- without those checks ---------------------------------------------------------------------------------------------


async def test_without_its_check_each_of_these_tests_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    accepted = (AssertionError, ValueError)  # ValueError: nothing was refused
    with monkeypatch.context() as patch:
        patch.setattr(playing, "_batch_objection", lambda *_: None)
        with pytest.raises(accepted):
            await check_order(*ORDER[0])
    with monkeypatch.context() as patch:
        patch.setattr(known_hands, "exposure_objection", lambda *_: None)
        with pytest.raises(accepted):
            await check_misset(*MISSET[0])
