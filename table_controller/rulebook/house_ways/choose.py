"""Sets a hand by a house way: the hands, and the rule and reason that set them so."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from firmware_bridge.errors import BadHand
from table_controller.rulebook.cards import Card, format_cards
from table_controller.rulebook.house_ways.setting_form import hand_facts
from table_controller.rulebook.house_ways.table import AS_PRINTED, HouseWayTable, ReadyRule, ready_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from table_controller.rulebook.house_ways.setting_form import SettingForm, Split


class SetByRule(msgspec.Struct, frozen=True):
    """A hand as the house way sets it."""

    hands: tuple[tuple[Card, ...], ...]  # highest first
    rule: int  # the number of the rule in the table
    reason: str


class HouseWay:
    """A house way of a game: its table, ready to set hands. It was proved to set every hand, and none foul."""

    def __init__(self, form: SettingForm, table: HouseWayTable) -> None:
        self.form = form
        self.table = table
        self.ranks = table.ranks
        self._ready: Callable[[tuple[tuple[str, str], ...]], tuple[ReadyRule, ...]] = lru_cache(16)(
            lambda chosen: ready_rules(table, dict(chosen))
        )

    def set_hands(self, cards: Sequence[int], chosen: Mapping[str, str] = AS_PRINTED) -> tuple[tuple[int, ...], ...]:
        """Return the hands, highest first; `chosen`: the ranks that differ from the default."""
        return self.explain(cards, chosen).hands

    def explain(self, cards: Sequence[int], chosen: Mapping[str, str] = AS_PRINTED) -> SetByRule:
        """Return the hands with the rule that sets them; BadHand if no rule does, which its proof excludes."""
        governs = governing(self.form, self._ready(tuple(sorted(chosen.items()))), cards)
        if governs is None or not governs[1]:
            raise BadHand(f"{self.table.name} does not set {format_cards(cards)}")
        ready, splits = governs
        best = max(splits, key=self._preference)
        return SetByRule(best.hands, ready.rule.number, ready.rule.reason)

    def is_set_so(self, setting: Sequence[Sequence[int]], chosen: Mapping[str, str] = AS_PRINTED) -> bool:
        """Whether hands are set as the house way sets them: equal in strength, hand by hand; suits may differ."""
        hands = self.set_hands([card for hand in setting for card in hand], chosen)
        return self._strengths(setting) == self._strengths(hands)

    def _strengths(self, setting: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
        """Return the strength of each hand; None if the law forbids this setting."""
        sets = [frozenset(hand) for hand in setting]
        splits = self.form.splits([card for hand in setting for card in hand])
        same = (split.strengths for split in splits if [frozenset(hand) for hand in split.hands] == sets)
        return next(same, None)

    def _preference(self, split: Split) -> tuple[Any, ...]:
        return tuple(self._compared(split.strengths[each.hand], each.aspect) for each in self.table.prefer)

    def _compared(self, strength: int, aspect: str | None) -> int:
        if aspect is None:
            return strength
        if aspect == "kind":
            return self.form.kind_of(strength)
        lead = self.form.lead_of(strength)
        return -1 if lead is None else lead


def governing(
    form: SettingForm, rules: Sequence[ReadyRule], cards: Sequence[int]
) -> tuple[ReadyRule, list[Split]] | None:
    """Return the rule that sets some cards, with the settings that it allows; None if there is no such rule.

    A rule without settings is one that asks for what the cards do not give.
    """
    facts = hand_facts(cards)
    lawful: list[Split] | None = None
    for ready in rules:
        if not ready.fits(facts):
            continue
        if lawful is None:
            lawful = [split for split in form.splits(cards) if form.is_lawful(split.strengths)]
        allowed = list(ready.allowed(form, facts, lawful))
        if allowed or not ready.rule.where_possible:
            return ready, allowed
    return None
