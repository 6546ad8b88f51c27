"""From noise to number: cutoffs against exact arithmetic and published values, and what each health test accepts."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import comb
from random import Random
from typing import TYPE_CHECKING

import pytest

from devices import number_draw
from devices.number_draw import (
    NoiseFailure,
    NoiseHealth,
    NumberGenerator,
    condition_samples,
    proportion_cutoff,
    repetition_cutoff,
    scale_to_numbers,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def exact_cutoff(chance_of_one: Fraction, window: int, bits: int) -> int:
    """1 + the smallest c with P(X <= c) >= 1 - 2^-bits, in whole numbers only."""
    tail, limit = Fraction(0), Fraction(1, 1 << bits)
    for equal in range(window, -1, -1):
        tail += comb(window, equal) * chance_of_one**equal * (1 - chance_of_one) ** (window - equal)
        if tail > limit:
            return 1 + equal
    raise AssertionError


# --- cutoffs ---------------------------------------------------------------------------------------------------------


def test_the_cutoffs_equal_the_values_computed_in_their_comments() -> None:
    assert number_draw.REPETITION_CUTOFF == 1 + -(-40 // 4) == 11
    assert number_draw.PROPORTION_CUTOFF == exact_cutoff(Fraction(1, 16), 512, 40) == 78


@pytest.mark.parametrize(
    ("entropy", "bits", "cutoff"), [(1, 20, 21), (1, 30, 31), (1, 60, 61), (8, 20, 4), (8, 40, 6), (0.5, 30, 61)]
)
def test_repetition_cutoffs_as_section_4_4_1_gives_them(entropy: float, bits: int, cutoff: int) -> None:
    assert repetition_cutoff(entropy, bits) == cutoff


@pytest.mark.parametrize(
    ("entropy", "window", "bits", "cutoff"),
    [
        (1, 512, 30, 325),  # these two are what the kernel's jitter entropy source uses
        (1, 512, 60, 355),
        (0.5, 512, 30, 422),
        (1, 1024, 20, 589),  # the standard's window for single bits
    ],
)
def test_proportion_cutoffs_as_others_have_published_them(entropy: float, window: int, bits: int, cutoff: int) -> None:
    assert proportion_cutoff(entropy, window, bits) == cutoff


@pytest.mark.parametrize("bits", [20, 30, 40])
@pytest.mark.parametrize("entropy", [1, 2, 3, 4, 6, 8])
def test_proportion_cutoffs_lose_no_digit_against_exact_arithmetic(entropy: int, bits: int) -> None:
    for window in (64, 512):
        assert proportion_cutoff(entropy, window, bits) == exact_cutoff(Fraction(1, 1 << entropy), window, bits)


# --- health ----------------------------------------------------------------------------------------------------------


def even(count: int) -> bytes:
    """Return samples where no two neighbors and not too many in a window are equal."""
    return bytes(i % 251 for i in range(count))


def test_one_sample_less_than_the_cutoff_passes_and_the_next_one_fails() -> None:
    health = NoiseHealth()
    assert health.check(even(100) + bytes([7]) * 10) is None
    assert health.longest == 10
    assert health.check(bytes([7])) is NoiseFailure.STUCK
    assert health.longest == 11


def test_a_run_across_two_pieces_is_one_run() -> None:
    health = NoiseHealth()
    for _ in range(10):
        assert health.check(b"\x07") is None
    assert health.check(b"\x07") is NoiseFailure.STUCK


@pytest.mark.parametrize("split", [1, 3, 512, 5000])
def test_a_window_counts_what_equals_its_first_sample_and_no_more(split: int) -> None:
    """77 of 512 pass and 78 fail, wherever the pieces are cut; the next window counts from zero."""

    def window(equal: int) -> bytes:
        others = [sample for i in range(512) if (sample := i % 250 + 1)]
        spread = [0 if i % 6 == 0 and i // 6 < equal else others[i] for i in range(512)]
        assert spread.count(0) == equal
        return bytes(spread)

    health = NoiseHealth()
    for samples in (window(77), window(77)):
        for at in range(0, 512, split):
            assert health.check(samples[at : at + split]) is None
    assert health.highest == 77
    assert health.samples == 1024
    assert health.check(window(78)) is NoiseFailure.BIASED


def test_the_first_failure_stays_after_good_samples() -> None:
    health = NoiseHealth()
    assert health.check(bytes(20)) is NoiseFailure.STUCK
    assert health.check(even(5000)) is NoiseFailure.STUCK
    assert health.record_missing_samples() is NoiseFailure.STUCK
    dead = NoiseHealth()
    assert dead.record_missing_samples() is NoiseFailure.DEAD
    assert dead.check(even(10)) is NoiseFailure.DEAD


def test_good_noise_passes_a_hundred_times_a_start_up(seed: int) -> None:
    health = NoiseHealth()
    assert health.check(Random(seed).randbytes(100 * number_draw.STARTUP_SAMPLES)) is None
    assert health.longest <= 4
    assert health.highest <= 14


# --- scaling ---------------------------------------------------------------------------------------------------------


def test_every_number_has_exactly_as_many_bytes_as_every_other() -> None:
    every = scale_to_numbers(bytes(range(256)))
    assert Counter(every) == dict.fromkeys(range(1, 8), 36)
    assert [byte for byte in range(256) if not scale_to_numbers(bytes([byte]))] == [252, 253, 254, 255]


def test_scaling_keeps_the_order_and_drops_only_the_biased_remainder() -> None:
    assert scale_to_numbers(bytes([0, 255, 35, 36, 251, 252, 100])) == bytes([1, 1, 2, 7, 3])


def test_one_changed_sample_changes_the_whole_block() -> None:
    samples = Random(1).randbytes(number_draw.BLOCK_SAMPLES)
    other = bytes([samples[0] ^ 1]) + samples[1:]
    same = sum(a == b for a, b in zip(condition_samples(samples), condition_samples(other), strict=True))
    assert same <= 3


def test_the_claimed_entropy_of_a_block_is_64_bits_more_than_comes_out() -> None:
    assert 8 * len(condition_samples(b"")) + 64 == number_draw.BLOCK_SAMPLES * number_draw.CLAIMED_ENTROPY_BITS


# --- the generator ---------------------------------------------------------------------------------------------------


def test_no_sample_of_the_start_up_is_used_for_a_number() -> None:
    asked: list[bytes] = []
    rng = Random(5)

    def noise(count: int) -> bytes:
        asked.append(rng.randbytes(count))
        return asked[-1]

    generator = NumberGenerator(noise)
    assert generator.run_startup_test() is None
    assert generator.draw_numbers() == scale_to_numbers(condition_samples(asked[1]))
    assert [len(samples) for samples in asked] == [number_draw.STARTUP_SAMPLES, number_draw.BLOCK_SAMPLES]


def test_a_block_that_gives_no_number_at_all_is_followed_by_another(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = iter([bytes([255]) * 32, bytes([252]) * 32, bytes([255, 36])])
    monkeypatch.setattr(number_draw, "condition_samples", lambda _: next(blocks))
    assert NumberGenerator(Random(1).randbytes).draw_numbers() == bytes([2])


@pytest.mark.parametrize(
    ("noise", "failure"),
    [
        (lambda count: bytes([85]) * count, NoiseFailure.STUCK),
        (lambda _: b"", NoiseFailure.DEAD),
        (lambda count: bytes(count - 1), NoiseFailure.DEAD),
        (lambda count: bytes(0 if i % 3 == 0 else i % 250 + 1 for i in range(count)), NoiseFailure.BIASED),
    ],
)
def test_a_failed_source_gives_no_number(noise: Callable[[int], bytes], failure: NoiseFailure) -> None:
    generator = NumberGenerator(noise)
    assert generator.run_startup_test() is failure
    assert generator.draw_numbers() == b""


def test_a_source_that_fails_gives_no_number_from_the_failing_samples() -> None:
    rng = Random(5)
    ill = False
    generator = NumberGenerator(lambda count: bytes(count) if ill else rng.randbytes(count))
    assert generator.draw_numbers()
    ill = True
    assert generator.draw_numbers() == b""
    ill = False
    assert generator.draw_numbers() == b"", "the failure is latched"
    assert generator.health.failure is NoiseFailure.STUCK


def test_a_source_with_little_more_than_the_claimed_entropy_passes_and_its_numbers_are_even() -> None:
    """Five bits in a sample: what conditioning is for."""
    rng = Random(6)
    generator = NumberGenerator(lambda count: bytes(rng.randrange(32) for _ in range(count)))
    assert generator.run_startup_test() is None
    counts = Counter(b"".join(generator.draw_numbers() for _ in range(700)))
    total = sum(counts.values())
    assert sum((counts[n] - total / 7) ** 2 / (total / 7) for n in range(1, 8)) < 16.81
