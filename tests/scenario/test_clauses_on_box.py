"""The shipped box refuses, through the request handler, what cards and amounts contradict: clauses of every chapter."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import pytest

from firmware_bridge.errors import NotAllowed
from simulators.casino.dealer import SimulatedPeople
from simulators.casino.table import CasinoTable
from table_controller import rulebook
from table_controller.access import requests as r
from table_controller.access.people_file import CredentialHolder
from table_controller.access.request_handler import Signers, handle_request
from table_controller.rulebook.registry import CHAPTERS
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Finding, Prompt, RequestRefused, WagerSettled
from tests.support.core.ranking_mutants import CHANGED
from tests.support.suite.clause_evidence import cites
from tests.support.suite.clauses import clauses
from tests.unit.clauses.test_settled_by_cards import EXAMPLES, OTHER, choices_of
from tests.unit.clauses.test_wagers_entered import DECISIONS, OPTIONAL, WILD_BET

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from table_controller.table.decisions import Decision, Proposal

SEAT: Final = 3
BY_CLAUSE: Final = {each["clause"]: each for each in EXAMPLES}
# What the dealer does at the card pad; everything else the simulated people do.
AT_THE_PAD: Final = ("settled", "side_settled", "dealer_set", "progressive", "envy_hand", "envy_paid", "player_left")
# The first clause of each chapter: with another rule the box fails its test.
CHANGED_ON_BOX: Final = ("575.6(c)", "680a.6(b)", "686a.3(d)", "687a.6(c)", "688a.6(b)(3)")
FLOOR: Final = CredentialHolder(id="floor-1", person="floor-1", role="floorperson")


class PadPeople(SimulatedPeople):
    """People who leave the questions about settling to the test."""

    def see_decision(self, decision: Decision) -> None:
        """React to every decision but those of the card pad."""
        house = self.casino
        assert isinstance(house, PadTable)
        if not isinstance(decision, Prompt) or decision.kind not in (*AT_THE_PAD, *house.ignored):
            super().see_decision(decision)

    def name_seats(self, prompt: Prompt) -> tuple[int, ...]:
        """Return the seats for a prompt: those of a side wager, as the test has them."""
        house = self.casino
        assert isinstance(house, PadTable)
        return house.side.get(prompt.kind.partition("/")[2], super().name_seats(prompt))


class PadTable(CasinoTable):
    """A table whose dealer settles through requests."""

    side: dict[str, tuple[int, ...]]  # side wager -> its seats
    ignored: tuple[str, ...] = ()  # further kinds of questions that the test answers


class Pad:
    """The requests of the people at a table in virtual time."""

    def __init__(self, house: PadTable) -> None:
        self.house = house

    async def send(self, request: r.TableRequest, who: CredentialHolder | None = None) -> tuple[Decision, ...]:
        """Send a request to the box; return what it decided, which is on disk."""
        dealer = CredentialHolder(id="dealer-1", person="dealer-1", role="dealer")
        step = await handle_request(self.house.box, request, Signers(lambda: who or dealer))
        return tuple(step.decisions)  # type: ignore[union-attr]

    async def refused(self, request: r.TableRequest) -> RequestRefused:
        """Send a request that the box must refuse."""
        (refusal,) = [each for each in await self.send(request) if isinstance(each, RequestRefused)]
        return refusal

    async def accepted(self, request: r.TableRequest, who: CredentialHolder | None = None) -> tuple[Decision, ...]:
        """Send a request that the box must accept."""
        decided = await self.send(request, who)
        assert not [each for each in decided if isinstance(each, RequestRefused)], decided
        return decided

    async def answer(self, kind: str, choice: str | None = None) -> tuple[Decision, ...]:
        """Answer the first question of a kind, once it is asked."""
        await self.house.until(lambda: bool(self.prompts(kind)))
        prompt = self.prompts(kind)[0]
        return await self.accepted(r.AnswerRequest(prompt=prompt.id, choice=choice or prompt.choices[0]))

    async def amount(self, wager: str, seat: int = SEAT, cents: int = 500) -> None:
        """Enter the amount of a wager."""
        await self.accepted(r.EnterAmountRequest(wager=wager, seat=seat, cents=cents))

    async def deal(self, until: str = "settled") -> None:
        """Call no more bets, and wait for a question."""
        await self.accepted(r.NoMoreBetsRequest())
        await self.house.until(lambda: bool(self.prompts(until)))

    async def dealer_hand(self, cards: str) -> None:
        """Enter the dealer's hand; it lies as the house way sets it."""
        await self.accepted(r.EnterHandRequest(place=0, cards=cards))
        for prompt in self.prompts("dealer_set"):
            await self.accepted(r.AnswerRequest(prompt=prompt.id, choice=prompt.choices[0]))

    async def confirm_all(self) -> dict[tuple[int, str], Proposal]:
        """Confirm what the box proposes, until it proposes nothing; return each result."""
        results: dict[tuple[int, str], Proposal] = {}
        for _ in range(20):
            asked = [each for kind in ("settled", "side_settled") for each in self.prompts(kind) if each.proposals]
            if not asked:
                return results
            decided = await self.accepted(r.AnswerRequest(prompt=asked[0].id, choice="confirmed"))
            results |= {(each.seat, each.result.wager): each.result for each in decided
                        if isinstance(each, WagerSettled)}  # fmt: skip
        raise AssertionError("the box proposes without end")

    @property
    def phase(self) -> str:
        """The state of the round."""
        return self.house.controller.table.state.round.state

    def prompts(self, kind: str) -> list[Prompt]:
        """Return the open prompts of a kind."""
        return [each for each in self.house.controller.table.state.prompts.values() if each.kind == kind]


@asynccontextmanager
async def box_of(
    game: str, wager: str = "", *, seats: tuple[int, ...] = (SEAT,), side: tuple[int, ...] | None = None,
    decided: str | None = None, **choices: Any,
) -> AsyncIterator[Pad]:  # fmt: skip
    """A box of a table that offers an optional wager, with its round open for wagers."""
    chosen = {"wagers": [], "paytables": {}, **choices_of(game, wager), **choices}
    house = PadTable(game, seed=5, choices=chosen, people=PadPeople)
    house.seats, house.side = seats, {wager: seats if side is None else side} if wager else {}
    if decided is not None:
        house.people.choices["decide"] = decided
    try:
        await house.open("blue", "red")
        pad = Pad(house)
        await pad.accepted(r.OpenRoundRequest())
        await house.until(lambda: pad.phase == mc.BETTING and not house.is_opening_bets())
        yield pad
    finally:
        await house.close()


# --- rounds that a clause decides -------------------------------------------------------------------------------------


async def at_settlement(pad: Pad, example: dict[str, str]) -> None:
    """Play to the settlement of the example's seat, and enter what lies on the table."""
    wager = rulebook.edition(example["game"]).wager(example["wager"])
    assert wager is not None
    if wager.option:
        await pad.amount(wager.name)
    await pad.deal()
    if "dealer" in example:
        await pad.dealer_hand(example["dealer"])
    await pad.accepted(r.EnterHandRequest(place=SEAT, cards=example["cards"]))
    if "replacement" in example:
        await pad.accepted(r.EnterReplacementRequest(card=example["replacement"]))
    if "hands" in example:
        await pad.accepted(r.EnterSettingRequest(place=SEAT, hands=example["hands"]))


async def check_on_box(clause: str) -> None:
    """Check that the box refuses with the clause what the example's cards contradict, and accepts the right result."""
    example = BY_CLAUSE[clause]
    async with box_of(example["game"], example["wager"], decided=example.get("decided")) as pad:
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


@pytest.mark.parametrize("clause", [pytest.param(each, marks=clauses(each), id=each) for each in BY_CLAUSE])
async def test_the_box_refuses_a_result_that_cards_contradict(clause: str) -> None:
    await check_on_box(clause)


@pytest.mark.parametrize("clause", CHANGED_ON_BOX)
async def test_with_another_rule_the_box_fails_that_test(clause: str, monkeypatch: pytest.MonkeyPatch) -> None:
    CHANGED[clause](monkeypatch)
    with pytest.raises((AssertionError, ValueError)):  # ValueError: the box accepted the result
        await check_on_box(clause)


# --- which wagers there are, and of what size -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "wager", "cited"),
    [pytest.param(*each, marks=clauses(*each[2]), id=f"{each[0]}, {each[1]}") for each in OPTIONAL],
)
async def test_the_box_refuses_a_wager_that_is_not_offered(game: str, wager: str, cited: tuple[str, ...]) -> None:
    async with box_of(game) as pad:
        refusal = await pad.refused(r.EnterAmountRequest(wager=wager, seat=SEAT, cents=500))
        assert "is not offered at this table" in refusal.what
        assert all(cites(refusal.what, clause) for clause in cited), refusal
        assert not pad.house.controller.table.state.round.amounts


@pytest.mark.parametrize(
    ("game", "wager", "cents", "cited"),
    [
        pytest.param(game, wager, cents, cited, marks=clauses(*cited), id=wager)
        for game, wager, _, cents, cited in DECISIONS
    ],
)
async def test_the_box_refuses_a_second_wager_of_another_size(
    game: str, wager: str, cents: int, cited: tuple[str, ...]
) -> None:
    async with box_of(game, decided=wager) as pad:
        await pad.deal()
        await pad.amount("ante")
        for wrong in (cents - 100, cents + 100):
            refusal = await pad.refused(r.EnterAmountRequest(wager=wager, seat=SEAT, cents=wrong))
            assert f"must be {cents}" in refusal.what
            assert all(cites(refusal.what, clause) for clause in cited), refusal
        await pad.amount(wager, cents=cents)


@clauses("680a.11(b)(1)")
async def test_the_box_refuses_a_setting_of_another_size() -> None:
    async with box_of("saigon_5_card") as pad:
        await pad.deal()
        refusal = await pad.refused(r.EnterSettingRequest(place=SEAT, hands="Kc 7h | 3s 9s 7d"))
        assert refusal.what == "seat 3: five cards are set into three and two (680a.11(b)(1))"
        await pad.accepted(r.EnterSettingRequest(place=SEAT, hands="Kc 7h 3s | 9s 7d"))


@clauses("688a.11(h)(1)")
async def test_the_box_refuses_a_side_wager_before_ace_high() -> None:
    wagers: dict[str, Any] = {
        "wagers": ["ace_high", "fortune"],
        "paytables": {"ace_high": "688a-acehigh-1", "fortune": "688a-fortune-1"},
    }
    async with box_of("face_up_pai_gow", **wagers) as pad:
        pad.house.side = {"ace_high": (SEAT,), "fortune": (SEAT,)}
        await pad.deal()
        refusal = await pad.refused(r.SettleSeatsRequest(loses=(SEAT,), wager="fortune"))
        assert refusal.what == "settle the Ace High Bonus Wager of seat 3 first (688a.11(h)(1))"
        for wager in ("ace_high", "fortune"):
            await pad.accepted(r.SettleSeatsRequest(loses=(SEAT,), wager=wager))


@pytest.mark.parametrize(
    ("game", "clause"),
    [
        pytest.param(game, f"{chapter}.7(b)/2", marks=clauses(f"{chapter}.7(b)/2"), id=chapter)
        for game, chapter in CHAPTERS.items()
        if game != "over_under"
    ],
)
async def test_at_the_box_a_floorperson_alone_takes_the_wagers_of_a_player_who_left(game: str, clause: str) -> None:
    async with box_of(game, seats=(SEAT, 5)) as pad:
        pad.house.people.choices["hands_set"] = "done"
        await pad.accepted(r.NoMoreBetsRequest())
        await pad.house.until(lambda: pad.phase == mc.PLAYING)
        await pad.accepted(r.ReportRequest(trigger="player_leaves", seat=SEAT))
        (asked,) = pad.prompts("player_left")
        assert clause in asked.clauses
        with pytest.raises(NotAllowed, match="floorperson"):
            await pad.send(r.AnswerRequest(prompt=asked.id, choice="abandoned"))
        decided = await pad.accepted(r.AnswerRequest(prompt=asked.id, choice="abandoned"), FLOOR)
        lost = [each.text for each in decided if isinstance(each, Finding)]
        assert lost == [f"the player of seat {SEAT} left the round; the wagers are lost ({clause})"]


# --- what the box pays ------------------------------------------------------------------------------------------------


@clauses("575.12(c)")
async def test_the_box_cuts_what_a_hand_is_paid_to_the_payout_limit() -> None:
    limit: dict[str, Any] = {"payout_limit_cents": 5_000_000, "least_wagers_cents": {"asia_poker": 500, "bonus": 100}}
    async with box_of("asia_poker", "bonus", **limit) as pad:
        await pad.amount("bonus", cents=2_000)
        await pad.deal()
        await pad.amount("asia_poker", cents=10_000)
        await pad.dealer_hand("Ks Qh Td 7c 4s 3d 2c")
        await pad.accepted(r.EnterSettingRequest(place=SEAT, hands="8s 8h 8d 8c | As Ad | Ah"))
        results = await pad.confirm_all()
        assert results[SEAT, "bonus"].paid_cents == 5_000_000 - 10_000
        assert "575.12(c)" in results[SEAT, "bonus"].clauses


@clauses("680a.12(d)")
async def test_the_box_counts_all_boxes_of_a_player_under_the_payout_limit() -> None:
    limit: dict[str, Any] = {
        "payout_limit_cents": 5_000_000,
        "least_wagers_cents": {"ante": 200, "bonus": 100},
        "adjacent_boxes": 2,
    }
    async with box_of("saigon_5_card", "bonus", seats=(2, 3), **limit) as pad:
        pad.house.people.choices["players"] = "done"
        await pad.amount("bonus", 2, 20_000)
        await pad.amount("bonus", 3, 800)
        await pad.deal()
        for seat in (2, 3):
            await pad.amount("ante", seat)
        await pad.dealer_hand("Kh Kd 8c 6h 2h")
        for seat, cards in ((3, "As Ah Ad Ac Jk"), (2, "Ks Qs Js Ts 9s")):
            await pad.accepted(r.EnterHandRequest(place=seat, cards=cards))
            await pad.accepted(r.AskHouseWayRequest(seat=seat))
        results = await pad.confirm_all()
        assert sum(each.paid_cents or 0 for each in results.values()) == 5_000_000
        assert [key for key, each in results.items() if "680a.12(d)" in each.clauses] == [(2, "bonus")]


@clauses("687a.12(b)")
async def test_the_box_pays_the_blind_by_its_printed_table() -> None:
    for cards, outcome, odds in (("9s 8h 7d 6s 5c", "wins", (1, 1)), ("9s 9h 9d 7s 4s", "pushes", None)):
        async with box_of("dj_wild", decided="raise") as pad:
            await pad.deal()
            await pad.dealer_hand("Ks Qh 8d 6c 3h")
            await pad.accepted(r.EnterHandRequest(place=SEAT, cards=cards))
            blind = (await pad.confirm_all())[SEAT, "blind"]
            assert (blind.outcome, blind.odds, "687a.12(b)" in blind.clauses) == (outcome, odds, True)


FIVE_ALIKE: Final[dict[str, Any]] = {"wagers": ["progressive"], "paytables": {"progressive": "688a-progressive-2"}}
# Hands with a progressive bet: cards, the card that replaces the joker, the line that pays them, and the clauses.
CLAIMS: Final = (
    ("dj_wild", WILD_BET, "9s 9h 9d 7s 4s", "", "Three-of-a-Kind", ("687a.6(d)", "687a.7(d)(2)", "687a.11(f)(1)(ii)")),
    ("dj_wild", WILD_BET, "9s 9h 2d 7s 4s", "", "", ("687a.11(f)(1)(i)",)),
    ("dj_wild", WILD_BET, "9s 9h Jk 7s 4s", "9c", "Three-of-a-Kind", ("687a.11(f)(1)",)),
    ("face_up_pai_gow", FIVE_ALIKE, "9s 9h 9d 9c Jk 2c 4d", "", "Five of a Kind",
     ("688a.6(f)", "688a.6(f)(6)", "688a.7(e)(3)")),
    ("face_up_pai_gow", FIVE_ALIKE, "As Kh Qd 9h 7s 2c 5d", "", "", ("688a.11(h)(4)(i)(A)",)),
)  # fmt: skip


async def check_claim(
    game: str, choices: dict[str, Any], cards: str, replacement: str, line: str, cited: tuple[str, ...]
) -> None:
    """Check that the box claims for a progressive bet what its cards are, and records it with the clauses."""
    async with box_of(game, decided="raise", **choices) as pad:
        pad.house.machines[f"bet_sensor.{SEAT}"].inject("place_bet")
        await pad.house.wait(1.0)
        await pad.deal()
        await pad.accepted(r.EnterHandRequest(place=SEAT, cards=cards))
        if replacement:
            await pad.accepted(r.EnterReplacementRequest(card=replacement))
        await pad.answer("settled")
        decided = await pad.answer("progressive")
        (settled,) = [each.result for each in decided if isinstance(each, WagerSettled)]
        assert (settled.outcome, settled.line) == ("wins" if line else "loses", line)
        assert set(cited) <= set(settled.clauses)


@pytest.mark.parametrize("claim", [pytest.param(each, marks=clauses(*each[-1]), id=each[-1][0]) for each in CLAIMS])
async def test_the_box_claims_a_progressive_hand_by_its_cards(claim: Any) -> None:
    await check_claim(*claim)


@pytest.mark.parametrize("claim", [CLAIMS[0], CLAIMS[3]], ids=["687a", "688a"])
async def test_with_another_rule_the_box_claims_another_hand(claim: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    CHANGED[claim[-1][0]](monkeypatch)
    with pytest.raises(AssertionError):
        await check_claim(*claim)


@clauses("688a.1:Envy Bonus", "688a.1:Envy Bonus Qualifying Hand", "688a.1:Qualifying Wager", "688a.12(c)/2")
async def test_the_box_pays_envy_for_four_aces_to_the_other_player_with_a_qualifying_wager() -> None:
    async with box_of("face_up_pai_gow", "fortune", seats=(1, 3, 6), side=(1, 6)) as pad:
        await pad.amount("fortune", 1, 500)
        await pad.amount("fortune", 6, 499)
        await pad.deal()
        await pad.dealer_hand("Ks Kh 9d 7c 4s Qd Jc")
        for seat, cards in ((1, "2s 4h 6d 8s Th Jd Qs"), (3, "As Ah Ad Ac 9s 2c 5d"), (6, "2h 3h 5s 7s 8h Js Ts")):
            await pad.accepted(r.EnterHandRequest(place=seat, cards=cards))
            await pad.accepted(r.AskHouseWayRequest(seat=seat))
        for _ in range(20):
            if pad.prompts("envy_paid"):
                break
            (kind,) = {each.kind for each in pad.house.controller.table.state.prompts.values()} & set(AT_THE_PAD)
            await pad.answer(kind)
        decided = await pad.answer("envy_paid")
        (bonus,) = [each for each in decided if isinstance(each, WagerSettled)]
        assert (bonus.seat, bonus.result.envy_of, bonus.result.paid_cents) == (1, 3, 500)
        cited = {"688a.1:Envy Bonus", "688a.1:Envy Bonus Qualifying Hand", "688a.1:Qualifying Wager", "688a.12(c)/2"}
        assert cited <= set(bonus.result.clauses)
