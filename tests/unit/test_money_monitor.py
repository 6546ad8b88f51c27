"""The money monitor detects a core that breaks an invariant: each is broken here once, on purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from table_controller.ledger import hits as ledger_hits
from table_controller.ledger import meter
from table_controller.ledger.money import METER, PENDING, SEED, MoneyBook, Transfer
from table_controller.table import betting, progressive_bets
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import BetAccepted
from table_controller.table.state import Money
from tests.support.core.hits import BettingTable
from tests.support.core.ideal_table import AUDITOR, DEALER, FLOOR

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.table.context import Context


def _no_reversal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progressive_bets, "void_bets", lambda *_, **__: None)


def _half_reversal(monkeypatch: pytest.MonkeyPatch) -> None:
    give_back = meter.return_bet

    def half(book: Any, bet: Any, *remaining: Any) -> Any:
        """The contribution stays in the meter: the casino pays all of it."""
        return give_back(book, replace(bet, to_meter=0, to_reserve=0), *remaining)

    monkeypatch.setattr(meter, "return_bet", half)
    monkeypatch.setattr(MoneyBook, "_check_return", lambda *_: None)


def _silent_booking(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(c: Context) -> None:
        before = len(c.out)
        _ACCEPT(c)
        del c.out[before:]

    monkeypatch.setattr(progressive_bets, "accept_bets", silent)


def _booked_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(c: Context) -> None:
        first = not c.state.money.bets
        _ACCEPT(c)
        if first:
            c.state.money.bets.clear()
            _ACCEPT(c)

    monkeypatch.setattr(progressive_bets, "accept_bets", twice)


def _light_first(monkeypatch: pytest.MonkeyPatch) -> None:
    light = betting._light

    def first(c: Context) -> None:
        before = len(c.out)
        light(c)
        for decision in [each for each in c.out[:before] if isinstance(each, BetAccepted)]:
            c.out.remove(decision)
            c.out.append(decision)

    monkeypatch.setattr(betting, "_light", first)


def _kept_hit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progressive_bets, "_fall", lambda *_: None)
    monkeypatch.setattr(MoneyBook, "_check", lambda *_: None)  # the ledger itself would refuse what follows


def _raided_meter(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = ledger_hits.claim

    def raided(book: Any, *remaining: Any) -> Any:
        book.held = {**book.held, METER: book.balance(METER) - 1, PENDING: book.balance(PENDING) + 1}
        return claim(book, *remaining)

    monkeypatch.setattr(ledger_hits, "claim", raided)


def _no_rebooking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progressive_bets, "_can_move", lambda *_: False)


def _any_amount_final(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Money, "is_final", lambda *_: True)


def _inexact_withdrawal(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the version before did it: the re-seed goes back only as far as the meter does not fall."""

    def inexact(book: Any, hit: Any, clauses: Any, kind: Any = "hit_withdrawn") -> Any:
        back = min(hit.from_seed, hit.share)
        transfers = (Transfer(PENDING, METER, hit.share), Transfer(METER, SEED, back))
        return book.post(kind, *transfers, round=hit.round, seat=hit.seat, hit=hit.id, clauses=clauses)

    monkeypatch.setattr(MoneyBook, "_check_withdrawal", lambda *_: None)  # the ledger itself would refuse it
    monkeypatch.setattr(ledger_hits, "withdraw", inexact)


def _slip_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MoneyBook, "has_slip", lambda *_: False)


def _old_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Later claims are booked again in the wrong order."""
    rebook, waiting = progressive_bets._rebook, []

    def late(c: Any, hit: Any) -> None:
        waiting.append(hit)
        if len(waiting) == 2:
            for each in reversed(waiting):
                rebook(c, each)

    monkeypatch.setattr(progressive_bets, "_rebook", late)


_ACCEPT = progressive_bets.accept_bets
CLAIMS: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], str]] = {
    "later claims are not booked again": (_no_rebooking, "is owed"),
    "later claims are booked again in another order": (_old_order, "is owed"),
    "a provisional amount is validated and paid": (_any_amount_final, "a provisional amount"),
    "a withdrawal is not exact": (_inexact_withdrawal, "is owed"),
    "a slip serves twice": (_slip_twice, "documents two hand pays"),
}
SABOTAGE: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], str]] = {
    "bets of a void round are kept": (_no_reversal, "keeps bets"),
    "contributions of a void round are kept": (_half_reversal, "left a trace"),
    "bets are booked and not told": (_silent_booking, "without a decision|comes before"),
    "a bet adds twice": (_booked_twice, "twice"),
    "the light comes first": (_light_first, "comes before its bet is booked"),
    "a claim of a void round stands": (_kept_hit, "keeps hits"),
    "a micro-dollar leaves the meter unseen": (_raided_meter, "moved without an entry"),
}


def play() -> None:
    """Play a round with a hit that is void in the end."""
    floor = BettingTable("688a-progressive-4", bets=(1, 3))
    floor.play(ev.OpenRound(DEALER))
    floor.claim(3, "seven_card_natural_straight_flush")
    assert floor.phase == mc.SETTLING
    floor.declare("wrong_card_count")


def play_claims() -> None:
    """Play three verified claims on a low meter; the first is withdrawn, the others are paid if permitted."""
    floor = BettingTable("688a-progressive-1", bets=(1, 3, 6))
    floor.step(ev.MeterCorrected(-1_900 * 1_000_000, "test 1", FLOOR, AUDITOR, "malfunction", "sensor_fault"))
    floor.play_to_settling()
    for seat, hand in ((6, "seven_card_straight_flush_any"), (3, "five_aces"), (1, "five_aces")):
        while not [prompt for prompt in floor.prompts("progressive") if prompt.seat == seat]:
            prompt = next(each for each in floor.prompts() if not each.kind.startswith("hit_"))
            for event in floor.answer(prompt):
                floor.step(event)
        floor.answer_for_seat("progressive", seat, hand)
    for seat in (3, 1):
        floor.answer_for_seat("hit_hand", seat)
        floor.answer_for_seat("hit_light", seat)
    for prompt in floor.prompts("hit_validate"):
        floor.answer_for_seat("hit_validate", prompt.seat or 0)
    floor.answer_for_seat("hit_hand", 6, "not_winning")
    for seat in (3, 1):
        floor.answer_for_seat("hit_validate", seat)
    for prompt in floor.prompts("hand_pay"):
        floor.step(ev.Answer(prompt.id, "documented", FLOOR, 7))
    floor.finish()


def test_the_unmodified_round_breaks_no_invariant() -> None:
    play()
    play_claims()


@pytest.mark.parametrize("what", list(CLAIMS))
def test_a_broken_invariant_about_claims_is_detected(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage, text = CLAIMS[what]
    sabotage(monkeypatch)
    with pytest.raises(AssertionError, match=text):
        play_claims()


@pytest.mark.parametrize("what", list(SABOTAGE))
def test_a_broken_invariant_is_detected(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage, text = SABOTAGE[what]
    sabotage(monkeypatch)
    with pytest.raises(AssertionError, match=text):
        play()


def test_a_transfer_of_zero_is_never_published() -> None:
    floor = BettingTable("688a-progressive-1")
    floor.round()
    assert all(transfer.amount > 0 for entry in floor.entries() for transfer in entry.transfers)
    assert Transfer(METER, PENDING, 0) not in [each for entry in floor.entries() for each in entry.transfers]
