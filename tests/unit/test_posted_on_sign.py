"""Odds and limits that the layout lacks: no round opens unless the sign page shows them."""

from __future__ import annotations

from typing import Any, Final

import pytest

from firmware_bridge.errors import BadSubmission
from table_controller.rulebook import GAMES, check_submission, edition
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Finding, RequestRefused
from table_controller.table.view import ODDS
from tests.support.core.ideal_table import DEALER, IdealTable
from tests.support.suite.clauses import clauses

# The clause of each game that orders the odds on the layout or on a sign, and that of a payout limit.
ODDS_CLAUSES: Final = {
    "asia_poker": "575.2(b)(6)", "saigon_5_card": "680a.2(b)(5)", "over_under": "686a.2(b)(6)",
    "dj_wild": "687a.2(b)(5)", "face_up_pai_gow": "688a.2(b)(9)",
}  # fmt: skip
LIMIT_CLAUSES: Final = {"asia_poker": "575.2(b)(7)", "saigon_5_card": "680a.2(b)(6)"}
MAIN: Final = {"asia_poker": "asia_poker", "saigon_5_card": "ante"}
ALL_ODDS: Final = [pytest.param(game, clause, marks=clauses(clause)) for game, clause in ODDS_CLAUSES.items()]
ALL_LIMITS: Final = [pytest.param(game, clause, marks=clauses(clause)) for game, clause in LIMIT_CLAUSES.items()]


def limit(game: str) -> dict[str, Any]:
    return {"payout_limit_cents": 6_000_000, "least_wagers_cents": {MAIN[game]: 500}}


def table(game: str, *posted: str, **choices: Any) -> IdealTable:
    """A table that is ready for its first round, and whose sign page has shown nothing yet."""
    floor = IdealTable(game, posted_on_sign=list(posted), **choices).start("blue", "red")
    floor.step(ev.SignShown(ODDS, "stale"))
    return floor


def try_to_open(floor: IdealTable) -> list[str]:
    """Try to open a round; return the clauses of the refusal, none if it opens."""
    refused = [d for d in floor.step(ev.OpenRound(DEALER)) if isinstance(d, RequestRefused)]
    assert (floor.phase == mc.IDLE) is bool(refused)
    return [reason.clause for decision in refused for reason in decision.reasons]


@pytest.mark.parametrize(("game", "clause"), ALL_ODDS)
def test_no_round_opens_while_nothing_shows_the_odds(game: str, clause: str) -> None:
    floor = table(game, "odds")
    assert try_to_open(floor) == [clause]
    assert floor.reasons_against_opening() == {"odds_not_posted"}
    floor.step(ev.SignShown("/sign"))
    assert "odds_not_posted" in floor.reasons_against_opening(), "the amount of a meter is not the odds"
    floor.step(ev.SignShown(ODDS))
    assert try_to_open(floor) == []


@pytest.mark.parametrize(("game", "clause"), ALL_LIMITS)
def test_no_round_opens_while_nothing_shows_the_payout_limit(game: str, clause: str) -> None:
    floor = table(game, "payout_limit", **limit(game))
    assert try_to_open(floor) == [clause]
    assert floor.reasons_against_opening() == {"limit_not_posted"}
    floor.step(ev.SignShown(ODDS))
    assert try_to_open(floor) == []


@pytest.mark.parametrize("game", GAMES)
def test_inscribed_odds_need_no_sign(game: str) -> None:
    assert try_to_open(table(game)) == []


def test_a_restart_of_the_box_does_not_trust_what_the_sign_showed_before() -> None:
    floor = table("over_under", "odds")
    floor.step(ev.SignShown(ODDS))
    assert floor.reasons_against_opening() == set()
    floor.step(ev.BoxStarted(0))
    assert "odds_not_posted" in floor.reasons_against_opening()


def test_a_round_that_is_open_goes_on_and_the_journal_keeps_the_loss() -> None:
    floor = table("over_under", "odds")
    (seen,) = [d for d in floor.step(ev.SignShown(ODDS)) if isinstance(d, Finding)]
    assert (seen.kind, "odds on the sign page" in seen.text.lower()) == ("odds_seen", True)
    assert try_to_open(floor) == []
    (lost,) = [d for d in floor.step(ev.SignShown(ODDS, "stale")) if isinstance(d, Finding)]
    assert (lost.kind, "no further round opens" in lost.text) == ("odds_not_seen", True)
    floor.settle()
    floor.play(ev.NoMoreBets(DEALER))
    assert floor.phase == mc.IDLE
    assert "odds_not_posted" in floor.reasons_against_opening()


def test_a_table_with_inscribed_odds_records_nothing_of_its_page() -> None:
    floor = table("over_under")
    assert not [d for d in floor.step(ev.SignShown(ODDS)) if isinstance(d, Finding)]


# --- the Rules Submission ---------------------------------------------------------------------------------------------


def objections(game: str, **choices: Any) -> str:
    with pytest.raises(BadSubmission) as refused:
        check_submission(edition(game), {"adjacent_boxes": 1, **choices})
    return str(refused.value)


@pytest.mark.parametrize(
    ("game", "clause"),
    [
        pytest.param("over_under", "686a.2(b)(4)", marks=clauses("686a.2(b)(4)")),
        pytest.param("face_up_pai_gow", "688a.2(b)(8)", marks=clauses("688a.2(b)(8)")),
    ],
)
def test_a_sign_does_not_replace_the_inscriptions_that_only_the_layout_may_have(game: str, clause: str) -> None:
    why = objections(game, posted_on_sign=["special_rules"])
    assert "no sign replaces them" in why
    assert f"({clause})" in why


@pytest.mark.parametrize(
    ("game", "posted", "why"),
    [
        ("asia_poker", "special_rules", "orders no inscription of its special rules (575.2(b))"),
        ("dj_wild", "payout_limit", "orders no inscription of its payout limit (687a.2(b))"),
        ("saigon_5_card", "payout_limit", "there is no payout_limit_cents to post (680a.2(b)(6))"),
        ("saigon_5_card", "paytables", "posted_on_sign: invalid enum value 'paytables'"),
    ],
)
def test_what_cannot_be_on_a_sign_is_refused(game: str, posted: str, why: str) -> None:
    assert why in objections(game, posted_on_sign=[posted])
