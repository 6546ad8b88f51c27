"""The monitor of money sees a core that breaks a promise: each promise is broken here once, on purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from table_controller.ledger import hits as ledger_hits
from table_controller.ledger import meter
from table_controller.ledger.money import METER, PENDING, MoneyBook, Transfer
from table_controller.table import betting, booking
from table_controller.table import events as ev
from table_controller.table import machines as mc
from table_controller.table.decisions import BetAccepted
from tests.support.core import DEALER
from tests.support.hits import BettingFloor

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.table.context import Context


def _no_reversal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(booking, "voided", lambda *_, **__: None)


def _half_reversal(monkeypatch: pytest.MonkeyPatch) -> None:
    give_back = meter.give_back

    def half(book: Any, bet: Any, *rest: Any) -> Any:
        """The contribution stays in the meter: the house gives it all."""
        return give_back(book, replace(bet, to_meter=0, to_reserve=0), *rest)

    monkeypatch.setattr(meter, "give_back", half)
    monkeypatch.setattr(MoneyBook, "_check_return", lambda *_: None)


def _silent_booking(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(c: Context) -> None:
        before = len(c.out)
        _ACCEPT(c)
        del c.out[before:]

    monkeypatch.setattr(booking, "accept", silent)


def _booked_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(c: Context) -> None:
        first = not c.state.money.bets
        _ACCEPT(c)
        if first:
            c.state.money.bets.clear()
            _ACCEPT(c)

    monkeypatch.setattr(booking, "accept", twice)


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
    monkeypatch.setattr(booking, "_fall", lambda *_: None)
    monkeypatch.setattr(MoneyBook, "_check", lambda *_: None)  # the book itself would not take what follows


def _raided_meter(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = ledger_hits.claim

    def raided(book: Any, *rest: Any) -> Any:
        book.held = {**book.held, METER: book.at(METER) - 1, PENDING: book.at(PENDING) + 1}
        return claim(book, *rest)

    monkeypatch.setattr(ledger_hits, "claim", raided)


_ACCEPT = booking.accept
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
    """A round with a hit that is found void in the end."""
    floor = BettingFloor("688a-progressive-4", bets=(1, 3))
    floor.play(ev.OpenRound(DEALER))
    floor.claim(3, "seven_card_natural_straight_flush")
    assert floor.phase == mc.SETTLING
    floor.declare("wrong_card_count")


def test_the_round_breaks_no_promise_by_itself() -> None:
    play()


@pytest.mark.parametrize("what", list(SABOTAGE))
def test_a_broken_promise_is_seen(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage, said = SABOTAGE[what]
    sabotage(monkeypatch)
    with pytest.raises(AssertionError, match=said):
        play()


def test_a_transfer_of_nothing_is_never_told() -> None:
    floor = BettingFloor("688a-progressive-1")
    floor.round()
    assert all(transfer.amount > 0 for entry in floor.entries() for transfer in entry.transfers)
    assert Transfer(METER, PENDING, 0) not in [each for entry in floor.entries() for each in entry.transfers]
