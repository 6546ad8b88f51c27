"""Counts what dealers catch at the card pad: their own wrong entries, and wrong proposals of a mutated rulebook.

python -m tools.studies.proposals              print the figures (some minutes)
python -m tools.studies.proposals --write      write them into docs/hands.md
python -m tools.studies.proposals --rounds 20  fewer rounds at each table

Simulated dealers compare what the shipped box proposes with the cards on the table; how often they look is their
attention. What a settlement must be is decided by the tests' own evaluator, which is written from the text.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Final
from unittest.mock import patch

from msgspec.structs import replace

from table_controller.rulebook import GAMES
from table_controller.rulebook.game_rules import game_rules
from table_controller.rulebook.settlement import round_settlement
from table_controller.rulebook.settlement.terms import SettlementTerms
from tests.support.box.erring_dealer import CAUGHT, HARMLESS, SLIPPED, ErringDealer, ErringTable
from tools import ROOT
from tools.docs.markdown import table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from table_controller.rulebook.game_rules import GameRules
    from table_controller.rulebook.settlement.dealt_round import DealtRound, Seat, WagerVerdict
    from table_controller.rulebook.texts import Paytable, PaytableLine

PAGE: Final = ROOT / "docs" / "hands.md"
_BEGIN, _END = "<!-- measured: proposals -->", "<!-- end measured -->"
SEED: Final = 700
ROUNDS: Final = 25
# How often a dealer compares a proposal with the table.
ATTENTION: Final = (0.0, 0.5, 0.8, 0.95, 1.0)
# One of so many entries is wrong; far more than at a table, so that there is something to count.
ONE_IN: Final = 10
_NEVER: Final = 1 << 60

# --- mutated rulebooks ------------------------------------------------------------------------------------------------


def _lines_off_by_one(lines: Sequence[PaytableLine], _: Random) -> Sequence[PaytableLine]:
    """Return lines that pay what the line below them pays."""
    return [_paid_as(line, lines[min(at + 1, len(lines) - 1)]) for at, line in enumerate(lines)]


def _odds_swapped(lines: Sequence[PaytableLine], rng: Random) -> Sequence[PaytableLine]:
    """Return lines of which two neighbors pay each other's odds; the lower ones, which hands reach."""
    changed = list(lines)
    if len(lines) > 1:
        at = rng.randrange(len(lines) // 2, len(lines)) if len(lines) > 2 else 1
        changed[at], changed[at - 1] = _paid_as(lines[at], lines[at - 1]), _paid_as(lines[at - 1], lines[at])
    return changed


def _ranked_upside_down(lines: Sequence[PaytableLine], _: Random) -> Sequence[PaytableLine]:
    """Return the lines from the bottom: the lowest hand that fits is paid."""
    return lines[::-1]


def _paid_as(line: PaytableLine, other: PaytableLine) -> PaytableLine:
    return replace(line, pay=other.pay, natural=other.natural, with_wild=other.with_wild, envy_cents=other.envy_cents)


class WrongTerms(SettlementTerms):
    """The terms of a table whose optional wagers without a sensor have wrong paytables."""

    def __init__(
        self, right: SettlementTerms, change: Callable[[Sequence[PaytableLine], Random], Sequence[PaytableLine]],
        rng: Random,
    ) -> None:  # fmt: skip
        super().__init__(right.edition, right.submission)
        sensed = right.edition.progressive.wager if right.edition.progressive is not None else ""
        for wager in right.edition.wagers:
            if wager.option and wager.name != sensed and right.offers(wager.name):
                self._tables[wager.name] = _changed(right.table(wager.name), change, rng)


def _changed(
    printed: Paytable, change: Callable[[Sequence[PaytableLine], Random], Sequence[PaytableLine]], rng: Random
) -> Paytable:
    return replace(printed, lines=tuple(change(printed.lines, rng)))


def _hands_ranked_wrongly(rules: GameRules) -> GameRules:
    """Return rules by which the lower hand wins the main wager."""

    def settle_wager(terms: SettlementTerms, played: DealtRound, seat: Seat, name: str) -> WagerVerdict:
        verdict = rules.settle_wager(terms, played, seat, name)
        wager = terms.edition.wager(name)
        if wager is None or wager.option or verdict.outcome not in ("wins", "loses") or seat.fate != "plays":
            return verdict
        if verdict.outcome == "wins":
            return replace(verdict, outcome="loses", back=False, odds=None, fixed_cents=0, line=None)
        return replace(verdict, outcome="wins", back=True, odds=(1, 1), line=terms.table(name).lines[0].label)

    return rules._replace(settle_wager=settle_wager)


_PAYTABLES: Final = {
    "each line pays as the line below": _lines_off_by_one,
    "odds of two lines swapped": _odds_swapped,
    "lines ranked upside down": _ranked_upside_down,
}
_HANDS: Final = "the lower hand wins the main wager"
MUTANTS: Final = (*_PAYTABLES, _HANDS)


class WrongTable(ErringTable):
    """A table whose box has a mutated rulebook; counts wrong proposals that were shown, and those that were settled."""

    def __init__(self, game: str, seed: int, mutant: str, attention: float) -> None:
        super().__init__(game, seed, one_in=_NEVER, attention=attention)
        self._mutant = mutant
        self.shown = self.settled_wrong = self.unseen = 0

    def begin(self) -> None:
        """Change the rulebook of the open table."""
        change = _PAYTABLES.get(self._mutant)
        if change is not None:
            context = self.casino.controller.table.context
            context.terms = WrongTerms(context.terms, change, Random(self.seed))

    def compare(self) -> None:
        """Count what the journal of the last round has wrong."""
        people = self.casino.people
        assert isinstance(people, ErringDealer)
        self.shown += len(people.wrong_shown)
        wrong = {(seat, "envy" if seat == 0 else wager) for seat, wager, _ in self.mismatches()}
        self.settled_wrong += len(wrong & people.wrong_shown)
        self.unseen += len(wrong - people.wrong_shown)


def count_wrong_proposals(mutant: str, attention: float, rounds: int, games: Sequence[str] = GAMES) -> tuple[int, int]:
    """Return how many wrong proposals were shown, and how many of them the journal has as settled."""
    shown = wrong = 0

    def rules(game: str) -> GameRules:
        return _hands_ranked_wrongly(game_rules(game)) if mutant == _HANDS else game_rules(game)

    for game in games:
        played = WrongTable(game, SEED, mutant, attention)
        with patch.object(round_settlement, "game_rules", rules):
            played.play(rounds)
        assert not played.unseen, "a wrong result is in the journal that no dealer was shown"
        shown, wrong = shown + played.shown, wrong + played.settled_wrong
    return shown, wrong


# --- the dealers' own errors ------------------------------------------------------------------------------------------


def count_errors(attention: float, rounds: int, games: Sequence[str] = GAMES) -> Counter[tuple[str, str]]:
    """Return the errors of dealers by kind and by what became of them."""
    counted: Counter[tuple[str, str]] = Counter()
    for game in games:
        played = ErringTable(game, SEED, one_in=ONE_IN, attention=attention)
        played.play(rounds)
        counted += played.counted
    return counted


def error_rows(counted: Counter[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Return a row for each kind of error, and their sum."""
    ends = (*CAUGHT, HARMLESS, SLIPPED)
    kinds = sorted({kind for kind, _ in counted})
    rows = [(kind, *(str(counted[kind, end] or "") for end in ends)) for kind in kinds]
    return [*rows, ("all", *(str(sum(counted[kind, end] for kind in kinds)) for end in ends))]


# --- the report -------------------------------------------------------------------------------------------------------


def report(rounds: int) -> str:
    """Return the figures as Markdown."""
    parts = [f"{rounds} rounds of each game for every figure, seed {SEED}; one of {ONE_IN} entries is wrong."]
    header = ("entry", *(end.replace("by the box ", "") for end in CAUGHT), HARMLESS, SLIPPED)
    everything = {attention: count_errors(attention, rounds) for attention in ATTENTION}
    parts.append("A dealer who compares every proposal:\n\n" + table(header, *error_rows(everything[1.0])))
    rows: list[tuple[str, ...]] = []
    for attention, counted in everything.items():
        slipped = sum(number for (_, end), number in counted.items() if end == SLIPPED)
        rows.append((f"{attention:.0%}", str(counted.total()), str(slipped), f"{slipped / counted.total():.1%}"))
    parts.append("Errors that slip through, by attention:\n\n"
                 + table(("attention", "errors", SLIPPED, "share"), *rows))  # fmt: skip
    rows = []
    for mutant in MUTANTS:
        figures = [count_wrong_proposals(mutant, attention, rounds) for attention in ATTENTION]
        rows.append((mutant, *(f"{wrong} of {shown}" for shown, wrong in figures)))
    parts.append("Wrong proposals of a mutated rulebook that were confirmed, by attention:\n\n"
                 + table(("rulebook", *(f"{each:.0%}" for each in ATTENTION)), *rows))  # fmt: skip
    return "\n\n".join(part.strip() for part in parts)


def main(arguments: list[str] | None = None) -> int:
    """Count and print, or write into the page."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.studies.proposals", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="rounds of each game for every figure")
    parser.add_argument("--write", action="store_true", help="write the figures into docs/hands.md")
    args = parser.parse_args(arguments)
    text = report(args.rounds)
    print(text)
    if args.write:
        page = PAGE.read_text("utf-8")
        before, _, after = page.partition(_BEGIN)
        PAGE.write_text(f"{before}{_BEGIN}\n\n{text}\n\n{_END}{after.partition(_END)[2]}", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
