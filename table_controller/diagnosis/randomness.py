"""Statistical tests of drawn numbers, as laboratories require them: frequency, pairs, runs, gaps, correlation.

Each test gets the expected distribution, so that dice are tested with the odds of dice. The p-value is the probability
that fair draws deviate at least as much.
"""

from __future__ import annotations

from collections import Counter
from math import inf, sqrt
from operator import mul
from typing import TYPE_CHECKING, Final

import msgspec

from table_controller.diagnosis.probability import chi_square_critical, chi_square_tail, normal_tails, worst_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from fractions import Fraction

# Draws that laboratories require at least.
LABORATORY_DRAWS: Final = 1_000_000
# With fewer draws, a class of the tests would expect less than five, too few for chi-square.
LEAST_DRAWS: Final = 10_000
LEVELS: Final = (0.95, 0.99)
# Gaps of this length and more are one class, which has every 22nd gap.
LONG_GAP: Final = 20
# Distances at which draws are compared: far enough to detect a short cycle.
LAGS: Final = 10


class DrawTestResult(msgspec.Struct, frozen=True):
    """The result of one test: the worst of its `tries`. Without degrees of freedom, it is in standard deviations."""

    test: str
    statistic: float
    freedom: int | None
    tries: int
    about: str

    @property
    def p(self) -> float:
        """The probability that fair draws deviate at least as much in this test."""
        if self.freedom is None:
            return worst_of(normal_tails(self.statistic), self.tries)
        return worst_of(chi_square_tail(self.statistic, self.freedom), self.tries)

    def limit(self, level: float) -> float:
        """Return the limit of the statistic at a level of confidence."""
        one = level ** (1 / self.tries)
        return sqrt(chi_square_critical(one, 1)) if self.freedom is None else chi_square_critical(one, self.freedom)

    def passes(self, level: float) -> bool:
        """Return whether this test accepts the draws at a level of confidence."""
        return self.p >= 1 - level


class Examination(msgspec.Struct, frozen=True):
    """The results of all tests over the same draws."""

    draws: int
    results: list[DrawTestResult]

    def passes(self, level: float) -> bool:
        """Return whether all tests together accept the draws; fair draws fail as often as the level allows."""
        return worst_of(min(finding.p for finding in self.results), len(self.results)) >= 1 - level


def examine(draws: bytes, odds: Sequence[Fraction], on_test: Callable[[str], None] = lambda _: None) -> Examination:
    """Test draws of 1, 2, ... with the odds of each; calls `on_test` with the name of each test."""
    findings = []
    for test in TESTS:
        on_test(test.__name__)
        findings.append(test(draws, odds))
    return Examination(len(draws), findings)


def frequency(draws: bytes, odds: Sequence[Fraction]) -> DrawTestResult:
    """Test whether every number is drawn as often as expected: chi-square over the numbers."""
    counts = [draws.count(number) for number in range(1, len(odds) + 1)]
    statistic = _chi_square(counts, [len(draws) * chance for chance in odds])
    off = max(range(len(odds)), key=lambda i: abs(counts[i] - len(draws) * odds[i]))
    about = f"number {off + 1} is farthest off: {counts[off]} times, {float(len(draws) * odds[off]):.0f} expected"
    return DrawTestResult("frequency", statistic, len(odds) - 1, 1, about)


def pairs(draws: bytes, odds: Sequence[Fraction]) -> DrawTestResult:
    """Test whether a number predicts the next: chi-square over pairs that do not overlap (Knuth's serial test)."""
    counted = Counter(zip(draws[::2], draws[1::2], strict=False))
    total = len(draws) // 2
    cells = [(one, other) for one in range(len(odds)) for other in range(len(odds))]
    expected = [total * odds[one] * odds[other] for one, other in cells]
    counts = [counted[one + 1, other + 1] for one, other in cells]
    off = max(range(len(cells)), key=lambda i: abs(counts[i] - expected[i]))
    about = f"{cells[off][0] + 1} before {cells[off][1] + 1} is farthest off"
    return DrawTestResult("pairs", _chi_square(counts, expected), len(cells) - 1, 1, about)


def runs(draws: bytes, odds: Sequence[Fraction]) -> DrawTestResult:
    """Test whether high and low numbers alternate by chance: Wald and Wolfowitz, split at the middle number."""
    middle = (len(odds) + 1) // 2
    halves = draws.translate(bytes(byte >= middle for byte in range(256)))
    high = halves.count(1)
    low = len(halves) - high
    if not high or not low:
        return DrawTestResult("runs", inf, None, 1, "all draws are on one side of the middle")
    changes = halves.count(b"\0\1") + halves.count(b"\1\0")
    both, total = 2 * high * low, high + low
    mean = both / total + 1
    deviation = sqrt(both * (both - total) / (total**2 * (total - 1)))
    off = (changes + 1 - mean) / deviation
    about = f"{changes + 1} runs of {middle} and more or less than {middle}, {mean:.0f} expected"
    return DrawTestResult("runs", off, None, 1, about)


def gaps(draws: bytes, odds: Sequence[Fraction]) -> DrawTestResult:
    """Test the gaps between equal numbers: chi-square for each number; the worst."""
    worst, at = -1.0, 0
    for number, chance in enumerate(odds, 1):
        between = draws.split(bytes([number]))[1:-1]
        lengths = Counter(min(len(piece), LONG_GAP) for piece in between)
        expected = [len(between) * chance * (1 - chance) ** length for length in range(LONG_GAP)]
        expected.append(len(between) * (1 - chance) ** LONG_GAP)
        statistic = _chi_square([lengths[length] for length in range(LONG_GAP + 1)], expected)
        if statistic > worst:
            worst, at = statistic, number
    return DrawTestResult("gaps", worst, LONG_GAP, len(odds), f"{at} is the worst of {len(odds)} numbers")


def correlation(draws: bytes, odds: Sequence[Fraction]) -> DrawTestResult:
    """Test whether draws depend on earlier ones: serial correlation at each distance; the worst."""
    total, mean = len(draws), sum(draws) / len(draws)
    spread = sum(map(mul, draws, draws)) / total - mean * mean
    if spread <= 0:
        return DrawTestResult("correlation", inf, None, LAGS, f"all {len(odds)} numbers but one are missing")
    worst, at = 0.0, 1
    for lag in range(1, LAGS + 1):
        together = sum(map(mul, draws, draws[lag:])) / (total - lag)
        off = ((together - mean * mean) / spread + 1 / total) * sqrt(total - lag)
        if abs(off) > abs(worst):
            worst, at = off, lag
    about = f"{worst / sqrt(total):+.5f} at distance {at}, the largest of {LAGS}"
    return DrawTestResult("correlation", worst, None, LAGS, about)


TESTS: Final = (frequency, pairs, runs, gaps, correlation)


def _chi_square(counts: Iterable[int], expected: Iterable[Fraction]) -> float:
    total = 0.0
    for count, due in zip(counts, expected, strict=True):
        total += (count - float(due)) ** 2 / float(due) if due else inf
    return total
