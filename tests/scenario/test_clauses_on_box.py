"""The shipped box refuses, through the request handler, what cards and amounts contradict: clauses of every chapter."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import pytest

from simulators.casino.dealer import SimulatedPeople
from simulators.casino.table import CasinoTable
from table_controller import rulebook
from table_controller.access import requests as r
from table_controller.access.people_file import CredentialHolder
from table_controller.access.request_handler import Signers, handle_request
from table_controller.rulebook.registry import CHAPTERS
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Prompt, RequestRefused, WagerSettled
from tests.support.core.ranking_mutants import CHANGED
from tests.support.suite.clause_evidence import cites
from tests.support.suite.clauses import clauses
from tests.unit.clauses.test_settled_by_cards import EXAMPLES, OTHER, choices_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from table_controller.table.decisions import Decision

SEAT: Final = 3
BY_CLAUSE: Final = {each["clause"]: each for each in EXAMPLES}
# What the dealer does at the card pad; everything else the simulated people do.
AT_THE_PAD: Final = ("settled", "side_settled", "dealer_set", "envy_hand")
# For each chapter: rounds that its rules of setting, ranking or paying decide.
ON_BOX: Final = (
    "575.6(c)", "575.6(b)(9)", "575.1:Setting the hands", "680a.6(b)", "680a.1:Qualify", "680a.6(c)(1)", "686a.3(d)",
    "687a.6(c)", "687a.6(b)", "688a.6(b)(3)", "688a.11(b)", "688a.6(d)",
)  # fmt: skip


class PadPeople(SimulatedPeople):
    """People who leave the questions about settling to the test."""

    def see_decision(self, decision: Decision) -> None:
        """React to every decision but those of the card pad."""
        if not isinstance(decision, Prompt) or decision.kind not in AT_THE_PAD:
            super().see_decision(decision)


class Pad:
    """The dealer's requests at a table in virtual time."""

    def __init__(self, house: CasinoTable) -> None:
        self.house = house
        self._signers = Signers(lambda: CredentialHolder(id="dealer-1", person="dealer-1", role="dealer"))

    async def send(self, request: r.TableRequest) -> tuple[Decision, ...]:
        """Send a request to the box; return what it decided, which is on disk."""
        step = await handle_request(self.house.box, request, self._signers)
        return tuple(step.decisions)  # type: ignore[union-attr]

    async def refused(self, request: r.TableRequest) -> RequestRefused:
        """Send a request that the box must refuse."""
        (refusal,) = [each for each in await self.send(request) if isinstance(each, RequestRefused)]
        return refusal

    async def accepted(self, request: r.TableRequest) -> tuple[Decision, ...]:
        """Send a request that the box must accept."""
        decided = await self.send(request)
        assert not [each for each in decided if isinstance(each, RequestRefused)], decided
        return decided

    @property
    def phase(self) -> str:
        """The state of the round."""
        return self.house.controller.table.state.round.state

    def prompts(self, kind: str) -> list[Prompt]:
        """Return the open prompts of a kind."""
        return [each for each in self.house.controller.table.state.prompts.values() if each.kind == kind]


@asynccontextmanager
async def box_of(game: str, wager: str, seats: tuple[int, ...] = (SEAT,)) -> AsyncIterator[Pad]:
    """A box of a table that offers an optional wager, with its round open for wagers."""
    house = CasinoTable(
        game, seed=5, choices={"wagers": [], "paytables": {}, **choices_of(game, wager)}, people=PadPeople
    )
    house.seats = seats
    house.people.choices = {**house.people.choices, f"side_wagers/{wager}": "done"}
    try:
        await house.open("blue", "red")
        pad = Pad(house)
        await pad.accepted(r.OpenRoundRequest())
        await house.until(lambda: pad.phase == mc.BETTING and not house.is_opening_bets())
        yield pad
    finally:
        await house.close()


async def at_settlement(pad: Pad, example: dict[str, str]) -> None:
    """Play to the settlement of the example's seat, and enter what lies on the table."""
    wager = rulebook.edition(example["game"]).wager(example["wager"])
    assert wager is not None
    if wager.option:
        await pad.accepted(r.EnterAmountRequest(wager=wager.name, seat=SEAT, cents=500))
    await pad.accepted(r.NoMoreBetsRequest())
    await pad.house.until(lambda: bool(pad.prompts("settled")))
    if "dealer" in example:
        await pad.accepted(r.EnterHandRequest(place=0, cards=example["dealer"]))
    for prompt in pad.prompts("dealer_set"):
        await pad.accepted(r.AnswerRequest(prompt=prompt.id, choice=prompt.choices[0]))
    await pad.accepted(r.EnterHandRequest(place=SEAT, cards=example["cards"]))
    if "hands" in example:
        await pad.accepted(r.EnterSettingRequest(place=SEAT, hands=example["hands"]))


async def check_on_box(clause: str) -> None:
    """Check that the box refuses with the clause what the example's cards contradict, and accepts the right result."""
    example = BY_CLAUSE[clause]
    async with box_of(example["game"], example["wager"]) as pad:
        await at_settlement(pad, example)
        refusal = await pad.refused(stated(example, OTHER[example["outcome"]]))
        assert clause in [reason.clause for reason in refusal.reasons], refusal
        decided = await pad.accepted(stated(example, example["outcome"]))
        results = {each.result.wager: each.result for each in decided if isinstance(each, WagerSettled)}
        result = results[example["wager"]]
        assert (result.outcome, clause in result.clauses) == (example["outcome"], True)
        assert example.get("line", result.line) == result.line


def stated(example: dict[str, str], outcome: str) -> r.SettleSeatsRequest:
    """Return the request that states how the wager of the example ended."""
    wager = rulebook.edition(example["game"]).wager(example["wager"])
    seats: dict[str, Any] = {outcome: (SEAT,)}
    return r.SettleSeatsRequest(**seats, wager=example["wager"] if wager is not None and wager.option else "")


@pytest.mark.parametrize("clause", [pytest.param(each, marks=clauses(each), id=each) for each in ON_BOX])
async def test_the_box_refuses_a_result_that_cards_contradict(clause: str) -> None:
    await check_on_box(clause)


@pytest.mark.parametrize("chapter", CHAPTERS.values())
async def test_with_another_rule_the_box_fails_that_test(chapter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clause = next(each for each in ON_BOX if each.startswith(f"{chapter}."))
    CHANGED[clause](monkeypatch)
    with pytest.raises((AssertionError, ValueError)):  # ValueError: the box accepted the result
        await check_on_box(clause)


@pytest.mark.parametrize(
    ("game", "wager", "cited"),
    [
        pytest.param(*each, marks=clauses(*each[2]), id=each[0])
        for each in (
            ("asia_poker", "bonus", ("575.7(e)",)),
            ("saigon_5_card", "bonus", ("680a.7(d)(2)", "680a.1:Bonus Wager")),
            ("over_under", "bonus", ("686a.6(e)", "686a.1:Bonus Wager")),
            ("dj_wild", "trips", ("687a.7(d)(3)", "687a.1:Trips Bonus Wager")),
            ("face_up_pai_gow", "fortune", ("688a.7(e)(2)", "688a.7(e)", "688a.1:Fortune Bonus Wager")),
        )
    ],
)
async def test_the_box_refuses_a_wager_that_is_not_offered(game: str, wager: str, cited: tuple[str, ...]) -> None:
    async with box_of(game, "") as pad:
        refusal = await pad.refused(r.EnterAmountRequest(wager=wager, seat=SEAT, cents=500))
        assert "is not offered at this table" in refusal.what
        assert all(cites(refusal.what, clause) for clause in cited), refusal
        assert not pad.house.controller.table.state.round.amounts
