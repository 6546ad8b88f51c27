"""Tail probabilities for statistical tests, with the standard library alone."""

from __future__ import annotations

from math import erfc, exp, expm1, inf, lgamma, log, log1p, sqrt
from typing import Final

# The sums below end when a further term would not change a double.
_ENOUGH: Final = 1e-15
# Replaces a zero divisor.
_TINY: Final = 1e-300
# Far more terms than the degrees of freedom of these tests need.
_MAX_TERMS: Final = 10_000


def gamma_tail(shape: float, at: float) -> float:
    """Return the regularized upper incomplete gamma function Q(shape, at).

    Uses its series where that converges quickly, else its continued fraction (Lentz's method).
    """
    if at <= 0:
        return 1.0
    if at == inf:
        return 0.0
    front = exp(shape * log(at) - at - lgamma(shape))
    if at < shape + 1:
        return max(0.0, 1.0 - front * _series(shape, at))
    return front * _fraction(shape, at)


def _series(shape: float, at: float) -> float:
    term = total = 1 / shape
    for step in range(1, _MAX_TERMS):
        term *= at / (shape + step)
        total += term
        if term < total * _ENOUGH:
            return total
    raise ArithmeticError(f"Q({shape}, {at}) does not converge")


def _fraction(shape: float, at: float) -> float:
    b = at + 1 - shape
    c, d = 1 / _TINY, 1 / b
    value = d
    for step in range(1, _MAX_TERMS):
        a = step * (shape - step)
        b += 2
        d = 1 / (a * d + b or _TINY)
        c = b + a / c or _TINY
        value *= c * d
        if abs(c * d - 1) < _ENOUGH:
            return value
    raise ArithmeticError(f"Q({shape}, {at}) does not converge")


def chi_square_tail(statistic: float, freedom: int) -> float:
    """Return the probability that a chi-square variable is at least this large."""
    return gamma_tail(freedom / 2, statistic / 2)


def chi_square_critical(level: float, freedom: int) -> float:
    """Return the value that a chi-square variable stays below with this probability."""
    low, high = 0.0, 10.0 * freedom + 100.0
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        if chi_square_tail(middle, freedom) > 1 - level:
            low = middle
        else:
            high = middle
    return high


def normal_tails(deviations: float) -> float:
    """Return the probability that a normal variable is at least this many standard deviations off, on either side."""
    return erfc(abs(deviations) / sqrt(2))


def worst_of(least: float, tries: int) -> float:
    """Return the probability that the smallest of `tries` independent p-values is at most `least` (Sidak)."""
    return 1.0 if least >= 1 else -expm1(tries * log1p(-least))
