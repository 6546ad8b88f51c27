"""The tails of distributions against values that are printed in tables."""

from __future__ import annotations

from math import exp, inf

import pytest

from table_controller.diagnosis.probability import (
    chi_square_critical,
    chi_square_tail,
    gamma_tail,
    normal_tails,
    worst_of,
)

# Upper 5 % and 1 % points of the chi-square distribution, as any table of it prints them.
CRITICAL = {
    1: (3.841, 6.635),
    2: (5.991, 9.210),
    3: (7.815, 11.345),
    5: (11.070, 15.086),
    6: (12.592, 16.812),
    10: (18.307, 23.209),
    20: (31.410, 37.566),
    30: (43.773, 50.892),
    50: (67.505, 76.154),
    100: (124.342, 135.807),
}


@pytest.mark.parametrize("freedom", CRITICAL)
def test_critical_values_are_those_of_the_tables(freedom: int) -> None:
    five, one = CRITICAL[freedom]
    assert round(chi_square_critical(0.95, freedom), 3) == five
    assert round(chi_square_critical(0.99, freedom), 3) == one
    assert chi_square_tail(five, freedom) == pytest.approx(0.05, abs=2e-5)
    assert chi_square_tail(one, freedom) == pytest.approx(0.01, abs=1e-5)


@pytest.mark.parametrize("at", [0.001, 0.1, 1.0, 2.9, 3.1, 10.0, 50.0, 500.0])
def test_two_degrees_of_freedom_are_an_exponential(at: float) -> None:
    assert chi_square_tail(at, 2) == pytest.approx(exp(-at / 2), rel=1e-12)


@pytest.mark.parametrize("freedom", [1, 2, 6, 20, 48])
def test_the_two_ways_of_summing_meet_where_one_takes_over(freedom: int) -> None:
    border = freedom + 2.0  # at < shape + 1 is the series, from there on the fraction
    below, above = chi_square_tail(border - 1e-9, freedom), chi_square_tail(border + 1e-9, freedom)
    assert below == pytest.approx(above, rel=1e-8)
    assert 0 < above < below < 1


def test_the_tail_falls_from_one_to_nothing() -> None:
    tails = [gamma_tail(3.0, at) for at in (0.0, 0.5, 1.0, 3.0, 4.0, 9.0, 40.0, 1e6, inf)]
    assert tails[0] == 1.0
    assert tails[-1] == 0.0
    assert tails == sorted(tails, reverse=True)


@pytest.mark.parametrize(("off", "p"), [(0.0, 1.0), (1.0, 0.31731), (1.95996, 0.05), (2.57583, 0.01), (-3.0, 0.0027)])
def test_a_normal_variable_has_two_tails(off: float, p: float) -> None:
    assert normal_tails(off) == pytest.approx(p, abs=1e-5)


def test_the_square_of_a_normal_variable_is_chi_square() -> None:
    for off in (0.1, 1.0, 2.5, 6.0):
        assert normal_tails(off) == pytest.approx(chi_square_tail(off * off, 1), rel=1e-10)


def test_the_least_of_many_is_less_surprising_than_one() -> None:
    assert worst_of(0.05, 1) == pytest.approx(0.05)
    assert worst_of(0.05, 2) == pytest.approx(0.0975)
    assert worst_of(1e-20, 7) == pytest.approx(7e-20)
    assert worst_of(1.0, 7) == 1.0
    assert worst_of(0.0, 7) == 0.0
