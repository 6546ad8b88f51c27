"""Proves a rule table over all hands: every hand is set, none is set foul, and every rule applies somewhere.

Hands are taken by their ranks alone (67,600 of seven cards), in suits without a flush. What suits add is proved from
one setting: a suit can only make its highest hand a flush, which ranks higher, so the setting stays lawful. If the
rules met so far allow that setting both as it is and as a flush, they set these ranks in any suits. Ranks for which no
setting proves it are tried in every suit.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, combinations_with_replacement, product
from typing import TYPE_CHECKING, Final

from table_controller.rulebook.cards import ACE, JOKER, RANKS, format_cards, rank, suit
from table_controller.rulebook.hands.ranking import HandClass, rank_mask
from table_controller.rulebook.house_ways.choose import governing
from table_controller.rulebook.house_ways.setting_form import COMPLETE, Split, hand_facts
from table_controller.rulebook.house_ways.table import AS_PRINTED, HouseWayTable, ready_rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from table_controller.rulebook.house_ways.setting_form import HandFacts, SettingForm
    from table_controller.rulebook.house_ways.table import ReadyRule

_SUITS: Final = 4
_SUITED: Final = frozenset({HandClass.STRAIGHT_FLUSH, HandClass.ROYAL_FLUSH})


def objections(form: SettingForm, table: HouseWayTable, chosen: Mapping[str, str] = AS_PRINTED) -> tuple[str, ...]:
    """Return what is wrong with a table, each with a hand or a rule; nothing if it sets every hand lawfully.

    With ranks that differ from the table's own a rule may have nothing left to do, which is no mistake.
    """
    return _proved(form, table, tuple(sorted(chosen.items())))


@lru_cache(32)
def _proved(form: SettingForm, table: HouseWayTable, chosen: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    proof = _Proof(form, ready_rules(table, dict(chosen)))
    for cards in rank_hands(form.cards):
        proof.try_ranks(cards)
    if not chosen:
        proof.find_idle_rules()
    return tuple(proof.problems.values())


class _Proof:
    """One pass over all hands. Each rule has at most one problem, with the first hand that shows it."""

    def __init__(self, form: SettingForm, rules: Sequence[ReadyRule]) -> None:
        self._form = form
        self._rules = rules
        self._applied: set[int] = set()
        self._reached: dict[int, list[tuple[int, ...]]] = {ready.rule.number: [] for ready in rules}
        self.problems: dict[int, str] = {}  # by rule; 0: no rule

    def try_ranks(self, cards: tuple[int, ...]) -> None:
        """Prove that these ranks are set in any suits, or find suits in which they are not."""
        facts = hand_facts(cards)
        governed = False
        reached: list[ReadyRule] = []
        for ready in self._rules:
            if not ready.fits(facts):
                continue
            reached.append(ready)
            number = ready.rule.number
            if number not in self._applied:
                self._reached[number].append(cards)
            for split in self._lawful(ready, cards, facts):
                if not governed:
                    governed = True
                    self._applied.add(number)
                if self._holds_in_any_suits(split, reached, facts):
                    return
            if not ready.rule.where_possible:
                break
        last = 0 if not reached or reached[-1].rule.where_possible else reached[-1].rule.number
        for variant in () if last in self.problems else _suited(cards, self._form.flush):
            self._try_hand(variant)
            if last in self.problems:
                return

    def _lawful(self, ready: ReadyRule, cards: Sequence[int], facts: HandFacts) -> Iterator[Split]:
        if self._requires_a_straight(ready) and not self._has_a_straight(cards):
            return
        for split in ready.allowed(self._form, facts, self._form.splits(cards)):
            if self._form.is_lawful(split.strengths):
                yield split

    def _requires_a_straight(self, ready: ReadyRule) -> bool:
        constraints = ready.rule.constraints[0]
        return bool(constraints) and self._form.runs is not None and all(each.kinds <= COMPLETE for each in constraints)

    def _has_a_straight(self, cards: Sequence[int]) -> bool:
        held = [0] * len(RANKS)
        for card in cards:
            if card != JOKER:
                held[rank(card)] = 1
        assert self._form.runs is not None
        return self._form.runs.best(rank_mask(held), int(JOKER in cards)) is not None

    def _holds_in_any_suits(self, split: Split, reached: Sequence[ReadyRule], facts: HandFacts) -> bool:
        """Whether these rules allow a setting that one of them allows also if its highest hand is of one suit."""
        return all(
            any(next(ready.allowed(self._form, facts, [suited]), None) for ready in reached)
            for suited in self._in_one_suit(split)
        )

    def _in_one_suit(self, split: Split) -> Iterator[Split]:
        """Yield what a setting is if its highest hand is of one suit; nothing if it cannot be."""
        natural = [rank(card) for card in split.hands[0] if card != JOKER]
        if self._form.flush is None or len(set(natural)) < len(natural):
            return
        straight = self._form.kind_of(split.strengths[0]) == HandClass.STRAIGHT
        for hand_class in _SUITED if straight else (HandClass.FLUSH,):
            yield Split((self._form.strength_of(hand_class), *split.strengths[1:]), split.hands)

    def _try_hand(self, cards: tuple[int, ...]) -> None:
        """Find out what sets one hand."""
        governs = governing(self._form, self._rules, cards)
        if governs is None:
            facts = hand_facts(cards)
            self.problems.setdefault(0, f"no rule sets {format_cards(cards)} ({facts.groups})")
            return
        ready, allowed = governs
        if allowed:
            self._applied.add(ready.rule.number)
            return
        splits = self._form.splits(cards)
        foul = next(ready.allowed(self._form, hand_facts(cards), splits), None)
        if foul is None:
            why = "these cards cannot be set so"
        else:
            why = f"{' | '.join(format_cards(hand) for hand in foul.hands)} is foul: {self._form.lawful}"
        self.problems.setdefault(ready.rule.number, f"rule {ready.rule.number} and {format_cards(cards)}: {why}")

    # --- rules without a hand -----------------------------------------------------------------------------------------

    def find_idle_rules(self) -> None:
        """Object to every rule that sets no hand in any suits."""
        for ready in self._rules:
            number = ready.rule.number
            if number not in self._applied and number not in self.problems and not self._applies_somewhere(ready):
                self.problems[number] = f"rule {number} can never apply: {self._why_idle(ready)}"

    def _why_idle(self, ready: ReadyRule) -> str:
        if self._reached[ready.rule.number]:
            return "no cards that reach it can be set so"
        fitting = any(ready.fits(hand_facts(cards)) for cards in rank_hands(self._form.cards))
        return "the rules before it set every hand that it fits" if fitting else "no hand fits its conditions"

    def _applies_somewhere(self, ready: ReadyRule) -> bool:
        for cards in self._reached[ready.rule.number]:
            if not self._may_apply(ready, cards):
                continue
            for variant in _suited(cards, self._form.flush):
                governs = governing(self._form, self._rules, variant)
                if governs is not None and governs[0] is ready and governs[1]:
                    return True
        return False

    def _may_apply(self, ready: ReadyRule, cards: Sequence[int]) -> bool:
        """Whether a rule allows a setting of these ranks, in these suits or with the highest hand in one."""
        facts = hand_facts(cards)
        for split in self._form.splits(cards):
            if next(ready.allowed(self._form, facts, [split, *self._in_one_suit(split)]), None):
                return True
        return False


# --- hands ------------------------------------------------------------------------------------------------------------


def rank_hands(size: int) -> Iterator[tuple[int, ...]]:
    """Yield one hand for every choice of ranks, with and without the joker, in as many suits as possible."""
    for joker in (False, True):
        for ranks in combinations_with_replacement(range(ACE, -1, -1), size - joker):
            if all(ranks[at] != ranks[at + _SUITS] for at in range(len(ranks) - _SUITS)):
                yield (*_rainbow(ranks), *((JOKER,) if joker else ()))


def _rainbow(ranks: Sequence[int]) -> Iterator[int]:
    """Yield cards of these ranks with as few of one suit as possible."""
    # Equal ranks are next to each other, so going round the suits gives them different ones.
    for at, number in enumerate(ranks):
        yield number << 2 | at % _SUITS


def _suited(cards: Sequence[int], flush: int | None) -> Iterator[tuple[int, ...]]:
    """Yield hands of these ranks, one for every way in which suits may matter; most cards of one suit first."""
    if flush is None:
        yield tuple(cards)
        return
    natural = [rank(card) for card in cards if card != JOKER]
    joker = tuple(card for card in cards if card == JOKER)
    groups = [(number, natural.count(number)) for number in dict.fromkeys(natural)]
    seen: dict[tuple[int, ...], tuple[int, ...]] = {}
    for suits in product(*(combinations(range(_SUITS), times) for _, times in groups)):
        hand = tuple(number << 2 | each for (number, _), some in zip(groups, suits, strict=True) for each in some)
        masks = [sum(1 << rank(card) for card in hand if suit(card) == each) for each in range(_SUITS)]
        long = sorted(mask for mask in masks if mask.bit_count() + len(joker) >= flush)
        seen.setdefault(tuple(long), (*hand, *joker))
    for key in sorted(seen, key=lambda masks: -sum(mask.bit_count() for mask in masks)):
        yield seen[key]
