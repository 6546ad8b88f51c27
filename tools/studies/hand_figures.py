"""Computes the exact counts and paybacks of docs/hands.md: the counts in hand_figures.json, paybacks by chapter.

python -m tools.studies.hand_figures                compute and write all (minutes)
python -m tools.studies.hand_figures --game GAME    the paybacks of one game; a new game writes a file of its own

The documents are written from this data, so that checking them is fast; `make proof` computes the counts again.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from table_controller.rulebook import GAMES
from table_controller.rulebook.games.dj_wild import payback as dj_wild
from table_controller.rulebook.hands import hand_features
from table_controller.rulebook.payback import hand_counts
from table_controller.rulebook.payback.figures import compute_figures, figures_of_wager, select_studies
from table_controller.rulebook.payback.study import Effort, Figure
from table_controller.rulebook.registry import CHAPTERS

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping

    from table_controller.rulebook.hands.ranking import HandClass

COUNTS: Final = Path(__file__).with_suffix(".json")
# A file for each chapter of the regulations.
PAYBACKS: Final = Path(__file__).with_name("paybacks")
# Rounds of the recorded simulations: their intervals are about a quarter of a percent.
ROUNDS: Final = 250_000
SEED: Final = 1

# Lines in the order of the paytables; a hand counts for the first line that it matches.
_SEVEN: Final = (
    "seven_card_natural_straight_flush", "royal_flush_plus_royal_match", "seven_card_straight_flush_with_joker",
    "five_aces", "royal_flush", "straight_flush", "four_of_a_kind", "full_house", "flush", "three_of_a_kind",
    "straight", "three_pair", "two_pair", "pair",
)  # fmt: skip
_WILD: Final = (
    "seven_card_natural_straight_flush", "seven_card_straight_flush_with_joker", "five_aces", "five_of_a_kind",
    "royal_flush", "straight_flush", "four_of_a_kind", "full_house", "flush", "three_of_a_kind", "straight",
)  # fmt: skip
_ASIA: Final = (
    "four_8s_plus_three_of_a_kind", "five_aces", "royal_flush", "natural_straight_flush", "straight_flush_with_joker",
    "four_of_a_kind", "nine_high", "full_house", "flush", "three_of_a_kind", "straight",
)  # fmt: skip
_FIVE: Final = (
    "five_aces", "royal_flush_natural", "royal_flush_with_joker", "straight_flush", "four_of_a_kind", "full_house",
    "flush", "straight", "three_of_a_kind", "two_pair", "pair",
)  # fmt: skip


def by_line(tally: Mapping[int, int], lines: tuple[str, ...]) -> dict[str, list[int]]:
    """Return the number of hands without and with the joker by the first matching line, or under `other`."""
    lines_found: dict[str, list[int]] = {word: [0, 0] for word in (*lines, "other")}
    for held, hands in tally.items():
        word = next((word for word in lines if held & hand_features.FEATURE_BIT[word]), "other")
        lines_found[word][bool(held & hand_counts.JOKER_BIT)] += hands
    return lines_found


def by_class(tally: Counter[tuple[HandClass, Any]]) -> dict[str, list[int]]:
    """Return the hands of DJ Wild by class: natural and with wild cards."""
    return {
        class_.name.lower(): [tally[class_, "natural"], tally[class_, "with_wild"]]
        for class_ in sorted({class_ for class_, _ in tally}, reverse=True)
    }


def counted() -> dict[str, dict[str, list[int]]]:
    """Count all hands."""
    five, seven = hand_counts.five_cards(_no_tick), hand_counts.seven_cards(_no_tick)
    return {
        "dj_wild": by_class(dj_wild.five_cards(_no_tick).by_column),
        "five_limited": by_line(five, _FIVE),
        "seven_limited": by_line(seven.limited, _SEVEN),
        "seven_fully_wild": by_line(seven.fully_wild, _WILD),
        "seven_asia": by_line(seven.limited, _ASIA),
    }


def paybacks(effort: Effort, game: str) -> list[dict[str, Any]]:
    """Compute every figure of a game."""
    all_figures = [figure for study in select_studies(game) for figure in compute_figures(study, effort, _no_tick)]
    return [row(figure) for figure in figures_of_wager(all_figures, None, None)]


def stored() -> dict[str, Any]:
    """Return the counts and paybacks that are written, by chapter."""
    files = sorted(PAYBACKS.glob("*.json"))
    rows = [row for path in files for row in json.loads(path.read_text("utf-8"))]
    return {"counts": json.loads(COUNTS.read_text("utf-8"))["counts"], "paybacks": rows}


def row(figure: Figure) -> dict[str, Any]:
    """Return a figure as stored."""
    return {
        "game": figure.game, "wager": figure.wager, "table": figure.table, "method": figure.method,
        "assuming": figure.assuming, "computed": _share(figure.computed, exact=figure.half_width is None),
        "half_width": None if figure.half_width is None else _share(figure.half_width, exact=False),
    }  # fmt: skip


def _share(value: Fraction, *, exact: bool) -> str:
    """Return an exact share as a fraction, a simulated one to the millionth."""
    return f"{value.numerator}/{value.denominator}" if exact else str(Fraction(round(value * 1_000_000), 1_000_000))


def _no_tick(_: int) -> None:
    pass


def main() -> int:
    """Write the data."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, metavar="N", help=f"simulated rounds (default {ROUNDS:,})"
    )
    parser.add_argument("--game", choices=GAMES, help="only the paybacks of this game")
    args = parser.parse_args()
    for game in GAMES if args.game is None else (args.game,):
        rows = paybacks(Effort(args.rounds, SEED), game)
        (PAYBACKS / f"{CHAPTERS[game]}.json").write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    if args.game is None:
        pairs = re.compile(r"\[\s+(\d+),\s+(\d+)\s+\]")  # keep a pair of counts on one line
        COUNTS.write_text(pairs.sub(r"[\1, \2]", json.dumps({"counts": counted()}, indent=1)) + "\n", "utf-8")
    print("the figures are written; now: python -m tools.docs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
