"""The terms of settlement: edition, Rules Submission, selected paytables, and the meaning of a line for a wager."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from table_controller.rulebook.hands import hand_features
from table_controller.rulebook.settlement.dealt_round import WagerVerdict
from table_controller.rulebook.submission import house_way_of
from table_controller.rulebook.texts import paytables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from table_controller.rulebook.house_ways.choose import HouseWay, SetByRule
    from table_controller.rulebook.schema import Edition
    from table_controller.rulebook.settlement.dealt_round import HandSetting, Seat
    from table_controller.rulebook.submission import Submission
    from table_controller.rulebook.texts import Pay, Paytable, PaytableLine

# Which columns a line may have; most have one.
_ONE_PAY: Final = "pay"


class SettlementTerms:
    """An edition and a submission, with the paytables that the submission selects."""

    def __init__(self, edition: Edition, submission: Submission) -> None:
        assert submission.edition == edition.digest, "a submission is checked against its edition"
        self.edition = edition
        self.submission = submission
        by_id = {table.id: table for table in paytables(edition.game)}
        self._tables = {wager: by_id[table] for wager, table in submission.paytables.items()}
        self._fractional = {wager: tuple(_fractional_odds(table)) for wager, table in self._tables.items()}

    def table(self, wager: str) -> Paytable:
        """Return the paytable of a wager that is offered."""
        return self._tables[wager]

    def fractional_odds(self, wager: str) -> tuple[tuple[int, int], ...]:
        """Return the odds of a wager that cannot pay every amount in whole cents."""
        return self._fractional[wager]

    def offers(self, wager: str) -> bool:
        """Whether a wager may be placed here."""
        return wager in self._tables

    def setting(self, name: str) -> str:
        """Return the submission's answer to a reading."""
        return self.submission.settings[name]

    def set_by_house_way(self, cards: Sequence[int]) -> HandSetting:
        """Return the hands as the dealer must set them, or advises a player to who asks; never what a player did."""
        return self.house_way(cards).hands

    def house_way(self, cards: Sequence[int]) -> SetByRule:
        """Return the hands as the dealer must set them, with the rule of the house way and its reason in words."""
        return self._policy.explain(cards, self.submission.house_way_ranks)

    def misset(self, setting: HandSetting) -> SetByRule | None:
        """Return how the dealer's hands must be set again (575.13(i), 688a.13(h)); None if they are set rightly.

        Hands of the same strength are set alike: it does not matter which of two kings is in the low hand.
        """
        if self._policy.is_set_so(setting, self.submission.house_way_ranks):
            return None
        return self.house_way([card for hand in setting for card in hand])

    @property
    def _policy(self) -> HouseWay:
        policy = house_way_of(self.submission)
        assert policy is not None, "the dealer sets no hands in this game"
        return policy

    @property
    def envy_wagers(self) -> tuple[str, ...]:
        """The wagers that open envy bonuses at this table, if they are large enough (F3)."""
        rules = self.edition.envy
        if rules is None:
            return ()
        return ("fortune",) if self.submission.settings.get("envy_wagers") == "fortune" else rules.wagers

    def pays_envy(self, wager: str) -> bool:
        """Whether a wager can be paid an envy bonus; one whose unit or maximum is too small cannot."""
        rules = self.edition.envy
        if rules is None or wager not in self.envy_wagers or not self.offers(wager):
            return False
        most = self.table(wager).unit_cents or self.submission.most_wagers_cents.get(wager)
        return rules.least_cents is None or most is None or most >= rules.least_cents

    def returns_stake(self, wager: str) -> bool:
        """Whether a winning wager is returned in addition to its pay. Only progressive ones may not be."""
        rules = self.edition.progressive
        if rules is None or wager != rules.wager:
            return True
        printed = self.table(wager).stake_returned
        return self.setting("stake_returned") == "yes" if printed is None else printed


def _fractional_odds(table: Paytable) -> Iterator[tuple[int, int]]:
    """Yield the odds of a paytable, line by line, whose second number is not one."""
    for line in table.lines:
        for pay in (line.pay, line.natural, line.with_wild):
            if pay is not None and pay.odds is not None and pay.odds[1] != 1:
                yield pay.odds


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


def lost(seat: Seat, wager: str, clauses: Sequence[str], hand: str = "", see: Sequence[str] = ()) -> WagerVerdict:
    """Return the verdict on a wager that is collected."""
    return WagerVerdict(
        seat=seat.number, wager=wager, outcome="loses", back=False, hand=hand, clauses=tuple(clauses), see=tuple(see)
    )


def returned(
    seat: Seat, wager: str, clauses: Sequence[str], hand: str = "", *, void: bool = False, see: Sequence[str] = ()
) -> WagerVerdict:
    """Return the verdict on a wager that is returned without pay."""
    return WagerVerdict(
        seat=seat.number, wager=wager, outcome="returned" if void else "pushes", back=True,
        hand=hand, clauses=tuple(clauses), see=tuple(see),
    )  # fmt: skip


def by_line(
    terms: SettlementTerms,
    seat: Seat,
    wager: str,
    line: PaytableLine | None,
    won: Sequence[str],
    else_lost: Sequence[str],
    hand: str = "",
    column: str = _ONE_PAY,
    see: Sequence[str] = (),
) -> WagerVerdict:
    """Return the verdict on a wager that its paytable line pays, or that is collected where no line fits."""
    table = terms.table(wager)
    if line is None:
        return msgspec.structs.replace(lost(seat, wager, else_lost, hand, see), table=table.id)
    pay = line_pay(line, column)
    see = tuple(dict.fromkeys((*see, *table.see)))
    if pay.push:
        return msgspec.structs.replace(returned(seat, wager, won, hand, see=see), table=table.id, line=line.label)
    return WagerVerdict(
        seat=seat.number, wager=wager, outcome="wins", back=terms.returns_stake(wager),
        odds=pay.odds, fixed_cents=pay.fixed_cents or 0, meter_percent=pay.meter_percent or 0,
        hand=hand, table=table.id, line=line.label, clauses=tuple(won), see=see,
    )  # fmt: skip


def envy_bonus(
    terms: SettlementTerms, seat: Seat, wager: str, of: Seat, line: PaytableLine, clauses: Sequence[str], hand: str
) -> WagerVerdict:
    """Return the verdict on an envy bonus: a fixed amount for another player's hand."""
    table = terms.table(wager)
    assert line.envy_cents is not None
    return WagerVerdict(
        seat=seat.number, wager=wager, outcome="wins", back=False, fixed_cents=line.envy_cents,
        envy_of=of.number, hand=hand, table=table.id, line=line.label, clauses=tuple(clauses), see=table.see,
    )  # fmt: skip
