"""Turns noise into numbers from 1 to 7: health tests, conditioning, unbiased scaling.

The simulated firmware draws with this module, and `pitbox rng report` examines it. Section numbers are those of NIST
SP 800-90B.
"""

from __future__ import annotations

from enum import Enum
from hashlib import sha256
from math import ceil, exp, lgamma, log, log1p
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

# The numbers that can be drawn are 1 to 7.
NUMBERS: Final = 7
# The noise source's claimed min-entropy (bits) per raw 8-bit sample. Half of the maximum, so that a source may age
# considerably before the tests below fail it; the conditioning compensates.
CLAIMED_ENTROPY_BITS: Final = 4.0
# A test may fail a good source once in 2^this samples (4.4 suggests 20 to 40). A device that draws every minute for ten
# years tests 2^29 samples, so one of 2^11 such devices would ever raise a false alarm.
FALSE_ALARM_BITS: Final = 40
# Samples in a window of the adaptive proportion test, for samples of more than one bit (4.4.2).
WINDOW: Final = 512
# Samples that must pass before the first one is used (4.3).
STARTUP_SAMPLES: Final = 1024
# Raw samples for one block of 256 conditioned bits: 80 x 4 = 320 bits of entropy, 64 more than the output, as
# SP 800-90C requires for full entropy.
BLOCK_SAMPLES: Final = 80


def repetition_cutoff(entropy: float, bits: int) -> int:
    """Return how many equal samples in a row fail a source (4.4.1): 1 + ceil(log2(1/alpha) / H)."""
    return 1 + ceil(bits / entropy)


def proportion_cutoff(entropy: float, window: int, bits: int) -> int:
    """Return how many samples equal to the first of a window fail a source (4.4.2): 1 + critbinom(W, 2^-H, 1 - alpha).

    Summed from the small terms up, so that the tail keeps its precision.
    """
    alpha, chance = 2.0**-bits, 2.0**-entropy
    tail = 0.0
    for equal in range(window, 0, -1):
        log_ways = lgamma(window + 1) - lgamma(equal + 1) - lgamma(window - equal + 1)
        tail += exp(log_ways + equal * log(chance) + (window - equal) * log1p(-chance))
        if tail > alpha:
            return 1 + equal
    return 1


# 1 + ceil(40 / 4) = 11.
REPETITION_CUTOFF: Final = repetition_cutoff(CLAIMED_ENTROPY_BITS, FALSE_ALARM_BITS)
# 1 + critbinom(512, 1/16, 1 - 2^-40) = 78; a source as good as its claim has 32 on average.
PROPORTION_CUTOFF: Final = proportion_cutoff(CLAIMED_ENTROPY_BITS, WINDOW, FALSE_ALARM_BITS)


class NoiseFailure(Enum):
    """A failure of a noise source."""

    STUCK = "the same sample too often in a row"
    BIASED = "one sample too often among others"
    DEAD = "no samples"


class NoiseHealth:
    """The two continuous health tests over every raw sample. The first failure latches."""

    def __init__(self) -> None:
        self.failure: NoiseFailure | None = None
        self.samples = 0
        self.longest = 0  # longest run of equal samples so far
        self.highest = 0  # highest count of samples equal to their window's first, so far
        self._last = -1
        self._run = 0
        self._first = -1
        self._equal = 0
        self._left = 0  # samples until the window ends

    def check(self, samples: bytes) -> NoiseFailure | None:
        """Test samples in order; return the latched failure, or None."""
        if self.failure is not None:
            return self.failure
        last, run, first, equal, left = self._last, self._run, self._first, self._equal, self._left
        longest, highest = self.longest, self.highest
        for sample in samples:
            if sample == last:
                run += 1
                longest = max(longest, run)
            else:
                last, run = sample, 1
            if not left:
                highest = max(highest, equal)
                first, equal, left = sample, 1, WINDOW - 1
            else:
                left -= 1
                equal += sample == first
            if run >= REPETITION_CUTOFF or equal >= PROPORTION_CUTOFF:
                self.failure = NoiseFailure.STUCK if run >= REPETITION_CUTOFF else NoiseFailure.BIASED
                break
        self._last, self._run, self._first, self._equal, self._left = last, run, first, equal, left
        self.longest, self.highest = max(longest, run), max(highest, equal)
        self.samples += len(samples)
        return self.failure

    def record_missing_samples(self) -> NoiseFailure:
        """Record that the source delivered no samples; return the failure."""
        self.failure = self.failure or NoiseFailure.DEAD
        return self.failure


# Each number gets 36 of the 256 byte values; the four values left over are rejected. A plain modulo would give the
# first four numbers a 37th value each.
_SHARE: Final = 256 // NUMBERS
_NUMBER_OF: Final = bytes(byte // _SHARE + 1 for byte in range(256))
_REJECTED: Final = bytes(range(_SHARE * NUMBERS, 256))


def scale_to_numbers(even: bytes) -> bytes:
    """Turn uniform bytes into numbers from 1 to 7 without bias; rejected bytes give no number."""
    return even.translate(_NUMBER_OF, _REJECTED)


def condition_samples(samples: bytes) -> bytes:
    """Condense a block of raw samples into 32 bytes of full entropy (SHA-256, a vetted component of 3.1.5.1.1)."""
    return sha256(samples).digest()


class NumberGenerator:
    """Draws numbers from a noise source and tests every sample first. After a failed test it draws none."""

    def __init__(self, noise: Callable[[int], bytes]) -> None:
        """`noise` returns the requested number of raw samples, or fewer if the source is dead."""
        self.health = NoiseHealth()
        self._noise = noise

    def run_startup_test(self) -> NoiseFailure | None:
        """Test the start-up samples and discard them; return the failure, or None."""
        self._sample(STARTUP_SAMPLES)
        return self.health.failure

    def draw_numbers(self) -> bytes:
        """Draw the numbers of one new block, about 31; none if the source failed."""
        while samples := self._sample(BLOCK_SAMPLES):
            drawn = scale_to_numbers(condition_samples(samples))
            if drawn:
                return drawn
        return b""

    def _sample(self, count: int) -> bytes:
        samples = self._noise(count)
        if len(samples) < count:
            self.health.record_missing_samples()
        return b"" if self.health.check(samples) else samples
