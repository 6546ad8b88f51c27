"""Random attacks on tables: bets, withdrawn claims, voids, adjustments, power cuts, against a reference ledger.

After every step every account matches the open bets and claims, and at the end the auditor's tool agrees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from table_controller.ledger import hits as ledger_hits
from table_controller.ledger import meter
from table_controller.ledger.money import Transfer
from table_controller.table import core, meter_adjustments, progressive_bets
from table_controller.table import hits as table_hits
from tests.support.box.money_adversary import attacks
from tests.support.core.meters import PROGRESSIVES

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS: Final = 8
# The least that all attacks together must have tried.
TRIED: Final = {
    "bet", "overflow", "returned", "claim of 100 %", "claim of 10 %", "claim of 20 %", "claim of 0 %", "hand pay",
    "paid by the table", "envy", "fell: hit_hand not_winning", "fell: hit_dark refuse", "fell: hit_validate refuse",
    "fell: void", "fell under a later claim", "power cut", "closed: unreasonable", "MeterClosed", "MeterClosed refused",
    "MeterOpened", "MeterOpened refused", "MeterCorrected", "MeterCorrected refused", "MeterReset",
    "MeterReset refused", "MeterParameters", "MeterParameters refused", "OverflowTransferred",
    "OverflowTransferred refused",
}  # fmt: skip


def test_no_attack_moves_a_cent_that_is_not_owed() -> None:
    seen: set[str] = set()
    for table in PROGRESSIVES:
        seen |= attacks(table, range(14), ROUNDS)
    assert seen >= TRIED, TRIED - seen


def test_a_claim_on_an_empty_meter_that_falls_is_taken_by_the_auditor() -> None:
    """Ten percent of zero is an entry of zero; the auditor's tool once took it for a missing entry."""
    attacks("688a-progressive-2", range(40_028, 40_029), ROUNDS)


def _kept_overflow(book: Any, bet: Any, *remaining: Any) -> Any:
    """Return a bet but keep its overflow."""
    came = book.bets[bet.seat]
    book.bets[bet.seat] = tuple(Transfer(t.source, "house" if t.to == "overflow" else t.to, t.amount) for t in came)
    over, bet.to_overflow = bet.to_overflow, 0
    try:
        return RETURN_BET(book, bet, *remaining)
    finally:
        bet.to_overflow = over


RETURN_BET: Final = meter.return_bet
PLANTED: Final[dict[str, tuple[Any, str, Callable[..., Any]]]] = {
    "later claims are not booked again": (progressive_bets, "_can_move", lambda *_: False),
    "any ground will do": (meter_adjustments, "_groundless", lambda *_: ""),
    "limit below the meter": (meter_adjustments, "_bad_limit", lambda *_: ""),
    "a slip for two hand pays": (table_hits, "hand_pay_objection", lambda *_: None),
    "overflow of a void bet stays": (meter, "return_bet", _kept_overflow),
    "envy of a void hand stays": (progressive_bets, "_take_envy_back", lambda *_: None),
    "share rounded up": (
        ledger_hits,
        "payable_share",
        lambda amount, percent: -(-amount * percent // 100 // 10_000) * 10_000,
    ),
}


@pytest.mark.parametrize("mistake", list(PLANTED))
def test_a_planted_mistake_is_seen(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, name, wrong = PLANTED[mistake]
    monkeypatch.setattr(where, name, wrong)
    monkeypatch.setitem(core._CHECKS, "hand_pay", table_hits.hand_pay_objection)
    with pytest.raises(AssertionError, match=r"repeat: python -m tests\.support\.box\.money_adversary"):
        _ = [attacks(table, range(150), ROUNDS) for table in ("688a-progressive-4", "687a-progressive-2")]
