"""Decides whether faults are caused by a deck or by a machine, with exact probabilities."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, Final, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

# Fewer faults give no result.
LEAST_FAULTS: Final = 4
# A pattern counts if chance alone gives it less often than once in this many times.
RARE_ONE_IN: Final = 100
_NEVER: Final = 10**9


class FaultPattern(msgspec.Struct, frozen=True):
    """The result. `name` is the deck or the slot; `one_in`: chance alone gives this once in so many times."""

    what: Literal["deck", "slot", "neither", "too few", "one deck only"]
    name: str = ""
    faults: int = 0
    of: int = 0
    share: int = 0  # percent of the cards that were its own
    one_in: int = 0

    def sentence(self) -> str:
        """Return the result as a sentence."""
        match self.what:
            case "deck":
                return (
                    f"The faults follow deck {self.name}: {self._counts()}. Remove the deck and inspect its cards "
                    "before you open the machine."
                )
            case "slot":
                return f"The faults follow the machine in {self.name}: {self._counts()}. The decks are not the cause."
            case "neither":
                return f"No deck stands out: deck {self.name} has the most, {self._counts()}. Inspect the machine."
            case "one deck only":
                return f"{self.of} faults, all with the same deck: run another deck before you decide."
            case _:
                return f"{self.of} fault{'s' * (self.of != 1)}: too few to decide between deck and machine."

    def _counts(self) -> str:
        often = f"chance alone: once in {self.one_in:,} times" if self.one_in > 1 else "as expected by chance"
        return f"{self.faults} of {self.of} faults on {self.share} % of the cards ({often})"


def find_pattern(faults: Mapping[tuple[str, str], int], cards: Mapping[tuple[str, str], int]) -> FaultPattern:
    """Return the pattern in the faults of one kind of machine. Both mappings are by (slot, deck)."""
    total = sum(faults.values())
    if total < LEAST_FAULTS or not sum(cards.values()):
        return FaultPattern("too few", of=total)
    decks = _most("deck", total, _by(faults, 1), _by(cards, 1))
    slots = _most("slot", total, _by(faults, 0), _by(cards, 0))
    best = max((each for each in (decks, slots) if each), key=lambda each: each.one_in, default=None)
    if best is not None and best.one_in >= RARE_ONE_IN:
        return best
    return FaultPattern("one deck only", of=total) if decks is None else msgspec.structs.replace(decks, what="neither")


def _by(counts: Mapping[tuple[str, str], int], place: int) -> dict[str, int]:
    sums: dict[str, int] = {}
    for key, count in counts.items():
        if key[place]:
            sums[key[place]] = sums.get(key[place], 0) + count
    return sums


def _most(
    what: Literal["deck", "slot"], total: int, faults: dict[str, int], cards: dict[str, int]
) -> FaultPattern | None:
    """Return the deck or slot with the most faults for its share of cards; None if there is only one."""
    if len(cards) < 2:
        return None
    every = sum(cards.values())
    candidates = []
    for name, count in faults.items():
        share = Fraction(cards.get(name, 0), every)
        chance = binomial_tail(count, total, share) * len(cards)  # any of them could have stood out
        candidates.append((chance, FaultPattern(what, name, count, total, int(100 * share), _one_in(chance))))
    return min(candidates, key=lambda each: each[0], default=(0, None))[1]


def _one_in(chance: Fraction) -> int:
    return min(_NEVER, int(1 / chance)) if chance else _NEVER


def binomial_tail(at_least: int, of: int, share: Fraction) -> Fraction:
    """Return the exact probability that at least `at_least` of all fall on a share."""
    return sum((comb(of, k) * share**k * (1 - share) ** (of - k) for k in range(at_least, of + 1)), Fraction(0))
