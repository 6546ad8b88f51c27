"""Minimum and maximum wagers of the Rules Submission: what is accepted, what is refused, and with which clause."""

from __future__ import annotations

from typing import Any

import pytest

from firmware_bridge.errors import BadHand, BadSubmission
from table_controller import rulebook
from table_controller.rulebook import check_submission
from table_controller.rulebook.wager_limits import wager_objection
from table_controller.table import state_machines as mc
from tests.support.core.ideal_table import findings
from tests.support.core.settled_rounds import seat, settle_round, terms
from tests.unit.clauses.test_688a_progressive import table_of

MAIN = "face_up_pai_gow_poker"
DEALER = "Ks Kh 9d 7c 4s Qd Jc"
HAND = "As Ah 8d 6c 3s Ad Jd"
LIMITS: dict[str, Any] = {
    "least_wagers_cents": {MAIN: 1000, "fortune": 100}, "most_wagers_cents": {MAIN: 50_000, "fortune": 2500},
}  # fmt: skip


@pytest.mark.parametrize(
    ("wager", "cents", "objection"),
    [
        (MAIN, 1000, None),
        (MAIN, 50_000, None),
        (MAIN, 999, f"{MAIN} = 999 cents is below the table minimum of 1000 (688a.7(d))"),
        (MAIN, 50_001, f"{MAIN} = 50001 cents is above the table maximum of 50000 (688a.7(d))"),
        ("fortune", 2501, "fortune = 2501 cents is above the table maximum of 2500 (688a.7(e)(2))"),
        ("ace_high", 1, None),
        ("ace_high", 0, "ace_high = 0 cents is not a wager"),
        ("fortune", -5, "fortune = -5 cents is not a wager"),
        ("progressive", 500, None),
        ("progressive", 400, "progressive = 400 cents must be 500 (688a.7(e)(3))"),
        ("tips", 500, "Face Up Pai Gow Poker has no wager tips"),
    ],
)
def test_an_amount_outside_the_limits_is_refused_with_the_clause(wager: str, cents: int, objection: str | None) -> None:
    assert wager_objection(terms("face_up_pai_gow", **LIMITS).submission, wager, cents) == objection


def test_a_wager_that_is_not_offered_has_no_valid_amount() -> None:
    plain = check_submission(rulebook.edition("face_up_pai_gow"), {})
    refused = "the Fortune Bonus Wager is not offered at this table"
    cited = "688a.7(e)(2), 688a.7(e), 688a.1:Fortune Bonus Wager"
    assert wager_objection(plain, "fortune", 500) == f"{refused} ({cited})"


def test_settlement_refuses_an_amount_above_the_maximum() -> None:
    at = terms("face_up_pai_gow", **LIMITS)
    assert settle_round(at, seat(1, HAND, **{MAIN: 50_000}), dealer=DEALER)
    with pytest.raises(BadHand, match=r"seat 1: .* = 50001 cents is above the table maximum of 50000 \(688a\.7\(d\)\)"):
        settle_round(at, seat(1, HAND, **{MAIN: 50_001}), dealer=DEALER)


def test_amounts_that_follow_from_the_ante_have_no_limits_of_their_own() -> None:
    """A Raise is twice the Ante: a minimum that the Ante obeys never refuses it, with any limit of the Raise."""
    at = terms("dj_wild", least_wagers_cents={"ante": 500, "raise": 5000, "blind": 700}).submission
    assert wager_objection(at, "raise", 1000) is None
    assert wager_objection(at, "blind", 600) == "blind = 600 cents is below the table minimum of 700 (687a.7(d)(1))"
    equal = terms("dj_wild", least_wagers_cents={"blind": 700}, settings={"blind_amount": "equal_to_ante"}).submission
    assert wager_objection(equal, "blind", 600) is None, "it must equal the Ante, which has the limit"


@pytest.mark.parametrize(
    ("game", "raw", "message"),
    [
        ("asia_poker", {"most_wagers_cents": {"tips": 3}}, "most_wagers_cents: Asia Poker has no wager tips"),
        ("asia_poker", {"most_wagers_cents": {"asia_poker": 0}},
         "most_wagers_cents: asia_poker = 0 must be at least 1 (575.7(d))"),
        ("asia_poker", {"most_wagers_cents": {"asia_poker": 900}, "least_wagers_cents": {"asia_poker": 1000}},
         "most_wagers_cents: asia_poker = 900 must be at least 1000 (575.7(d))"),
        ("asia_poker", {"most_wagers_cents": {"bonus": 900}},
         "most_wagers_cents: bonus is not offered (575.7(e))"),
        ("dj_wild", {"most_wagers_cents": {"raise": 900}},
         "most_wagers_cents: the text fixes the amount of raise, so it has no maximum (687a.7(d)(1))"),
        ("dj_wild", {"most_wagers_cents": {"ante": "900"}},
         "most_wagers_cents: expected `int`, got `str` - at `$[...]`"),
        ("dj_wild", {"most_wager_cents": {"ante": 900}},
         "unknown key most_wager_cents; did you mean most_wagers_cents?"),
    ],
)  # fmt: skip
def test_bad_maximums_are_refused(game: str, raw: dict[str, Any], message: str) -> None:
    with pytest.raises(BadSubmission) as caught:
        check_submission(rulebook.edition(game), {"adjacent_boxes": 1, **raw})
    assert caught.value.objections == (message,)


def test_a_maximum_below_five_dollars_opens_no_envy() -> None:
    """688a.1: a Qualifying Wager is at least $5, so a table whose Fortune ends below it asks for no lammer."""
    table = table_of("automated_shoe", "lammers", wagers=["fortune"], paytables={"fortune": "688a-fortune-1"},
                     most_wagers_cents={"fortune": 499})  # fmt: skip
    table.side = {"fortune": (1, 3)}
    table.play_to(mc.PLAYING)
    assert not table.prompts("lammers")
    assert not table.round_.envy
    recorded = [each for _, decided in table.log for each in findings(decided, "not_qualifying")]
    assert len(recorded) == 2
