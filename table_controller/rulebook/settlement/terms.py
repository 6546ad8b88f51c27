"""The terms of settlement: edition, Rules Submission, selected paytables, and how a line pays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from table_controller.rulebook.game_rules import game_rules
from table_controller.rulebook.hands import hand_features
from table_controller.rulebook.settlement.dealt_round import WagerResult
from table_controller.rulebook.texts import paytables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from table_controller.rulebook.schema import Edition
    from table_controller.rulebook.settlement.dealt_round import HandSetting, Seat
    from table_controller.rulebook.submission import Submission
    from table_controller.rulebook.texts import Pay, Paytable, PaytableLine

# Which columns a line may have; most have one.
_ONE_PAY: Final = "pay"


def pay_at_odds(cents: int, odds: tuple[int, int]) -> int:
    """Return a wager's pay at odds of n to m. It is exact: wagers that whole cents cannot pay are refused before."""
    won, remainder = divmod(cents * odds[0], odds[1])
    assert remainder == 0, f"{cents} cents at {odds[0]} to {odds[1]}"
    return won


class SettlementTerms:
    """An edition and a submission, with the paytables that the submission selects."""

    def __init__(self, edition: Edition, submission: Submission) -> None:
        assert submission.edition == edition.digest, "a submission is checked against its edition"
        self.edition = edition
        self.submission = submission
        by_id = {table.id: table for table in paytables(edition.game)}
        self._tables = {wager: by_id[table] for wager, table in submission.paytables.items()}

    def table(self, wager: str) -> Paytable:
        """Return the paytable of a wager that is offered."""
        return self._tables[wager]

    def offers(self, wager: str) -> bool:
        """Whether a wager may be placed here."""
        return wager in self._tables

    def setting(self, name: str) -> str:
        """Return the submission's answer to a reading."""
        return self.submission.settings[name]

    def set_by_house_way(self, cards: Sequence[int]) -> HandSetting:
        """Return the hands as the dealer must set them, or would advise a player to."""
        assert self.submission.house_way is not None
        policy = game_rules(self.edition.game).house_ways[self.submission.house_way]
        return policy.set_hands(cards, self.submission.house_way_ranks)

    def returns_stake(self, wager: str) -> bool:
        """Whether a winning wager is returned in addition to its pay. Only progressive ones may not be."""
        rules = self.edition.progressive
        if rules is None or wager != rules.wager:
            return True
        printed = self.table(wager).stake_returned
        return self.setting("stake_returned") == "yes" if printed is None else printed


def first_line(table: Paytable, held: int, *, total: int | None = None) -> PaytableLine | None:
    """Return the first printed line that fits, from the top; None if no line does."""
    for line in table.lines:
        if total in line.totals or (not line.totals and held & hand_features.FEATURE_BIT[line.hand]):
            return line
    return None


def line_pay(line: PaytableLine, column: str = _ONE_PAY) -> Pay:
    """Return what a line pays in a column."""
    pay: Pay | None = getattr(line, column)
    assert pay is not None, f"{line.label} has no {column}"
    return pay


def lost_result(seat: Seat, wager: str, clauses: Sequence[str], hand: str = "", see: Sequence[str] = ()) -> WagerResult:
    """Return the result of a wager that is collected."""
    cents = seat.wagers[wager]
    return WagerResult(
        seat=seat.number, wager=wager, outcome="loses", wager_cents=cents, back_cents=0,
        hand=hand, clauses=tuple(clauses), see=tuple(see),
    )  # fmt: skip


def returned_result(
    seat: Seat, wager: str, clauses: Sequence[str], hand: str = "", *, void: bool = False, see: Sequence[str] = ()
) -> WagerResult:
    """Return the result of a wager that is returned without pay."""
    cents = seat.wagers[wager]
    return WagerResult(
        seat=seat.number, wager=wager, outcome="returned" if void else "pushes", wager_cents=cents, back_cents=cents,
        hand=hand, clauses=tuple(clauses), see=tuple(see),
    )  # fmt: skip


def line_result(
    terms: SettlementTerms,
    seat: Seat,
    wager: str,
    line: PaytableLine | None,
    won: Sequence[str],
    else_lost: Sequence[str],
    hand: str = "",
    column: str = _ONE_PAY,
    see: Sequence[str] = (),
) -> WagerResult:
    """Return the result of a wager that its paytable line pays, or that is collected where no line fits."""
    table, cents = terms.table(wager), seat.wagers[wager]
    if line is None:
        return msgspec.structs.replace(lost_result(seat, wager, else_lost, hand, see), table=table.id)
    pay = line_pay(line, column)
    see = tuple(dict.fromkeys((*see, *table.see)))
    if pay.push:
        return msgspec.structs.replace(
            returned_result(seat, wager, won, hand, see=see), table=table.id, line=line.label
        )
    paid = pay_at_odds(cents, pay.odds) if pay.odds else pay.fixed_cents or 0
    return WagerResult(
        seat=seat.number, wager=wager, outcome="wins", wager_cents=cents,
        back_cents=cents if terms.returns_stake(wager) else 0, paid_cents=paid, meter_percent=pay.meter_percent or 0,
        hand=hand, table=table.id, line=line.label, clauses=tuple(won), see=see,
    )  # fmt: skip


def envy_result(
    terms: SettlementTerms, seat: Seat, wager: str, of: Seat, line: PaytableLine, clauses: Sequence[str], hand: str
) -> WagerResult:
    """Return the result of an envy bonus: a fixed amount for another player's hand."""
    table = terms.table(wager)
    assert line.envy_cents is not None
    return WagerResult(
        seat=seat.number, wager=wager, outcome="wins", wager_cents=0, back_cents=0, paid_cents=line.envy_cents,
        envy_of=of.number, hand=hand, table=table.id, line=line.label, clauses=tuple(clauses), see=table.see,
    )  # fmt: skip
