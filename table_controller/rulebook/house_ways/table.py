"""The rule table of a house way: which words it has, and its reading from TOML.

A table is read from top to bottom. The first rule whose conditions fit the cards sets them. A rule that applies only
`where_possible` is passed over where no lawful setting meets it. Of several settings that a rule allows, the words
of `prefer` decide, then the strength of the hands, lowest hand first.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from firmware_bridge.errors import BadHouseWay
from table_controller.rulebook.cards import RANKS
from table_controller.rulebook.house_ways.setting_form import COMPLETE, GROUP_WORDS, HandFacts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from table_controller.rulebook.house_ways.setting_form import SettingForm, Split

AS_PRINTED: Final[Mapping[str, str]] = MappingProxyType({})
# The keys of a rule that compare ranks, with what they look at.
RANK_WORDS: Final = {
    "first": "the rank of the largest group of equal cards",
    "second": "the rank of the next group",
    "third": "the rank of the group after that",
    "single": "the highest card that no other card equals",
    "any": "the rank of any card",
}
_PLACES: Final = ("first", "second", "third")
_RULE_WORDS: Final = ("cards", *RANK_WORDS, "joker", "where_possible", "set", "reason")
_TABLE_WORDS: Final = ("game", "name", "prefer", "ranks", "rule")
# What `prefer` compares of a hand: all of it, its kind, or the rank that leads it.
_ASPECTS: Final = ("kind", "lead")
# The longest table and the longest text of it: a table is read by people.
_MOST_RULES: Final = 200
_LONGEST: Final = 300


class RankRange(NamedTuple):
    """Ranks from one to another; an end is a rank or the name of one."""

    low: str
    high: str

    def ranks(self, named: Mapping[str, str]) -> frozenset[int]:
        """Return the ranks, with the names replaced."""
        low, high = (RANKS.index(named.get(end, end)) for end in self)
        return frozenset(range(low, high + 1))

    def __str__(self) -> str:
        return self.low if self.low == self.high else f"{self.low}-{self.high}"


class HandConstraint(NamedTuple):
    """What a rule asks of one hand: its kind, and what leads it (a place such as first, or a rank)."""

    text: str
    kinds: frozenset[int]
    lead: str | None


class Preference(NamedTuple):
    """What is compared of a hand, the higher first."""

    hand: int
    aspect: str | None


class Rule(NamedTuple):
    """One rule as it is written."""

    number: int
    cards: tuple[str, ...]
    ranks: Mapping[str, RankRange]
    joker: bool | None
    where_possible: bool
    constraints: tuple[tuple[HandConstraint, ...], ...]  # for each hand, the highest first; empty: anything
    reason: str


class HouseWayTable(msgspec.Struct, frozen=True, eq=False):
    """A whole table."""

    game: str
    name: str
    ranks: Mapping[str, str]  # ranks that a Rules Submission may choose, with their defaults
    prefer: tuple[Preference, ...]
    rules: tuple[Rule, ...]


class ReadyRule(NamedTuple):
    """A rule with the chosen ranks in place."""

    rule: Rule
    ranks: tuple[tuple[str, frozenset[int]], ...]

    def fits(self, facts: HandFacts) -> bool:
        """Whether the conditions fit a hand."""
        rule = self.rule
        if rule.cards and facts.groups not in rule.cards:
            return False
        if rule.joker is not None and rule.joker is not facts.joker:
            return False
        return all(_has_rank(facts, word, allowed) for word, allowed in self.ranks)

    def allowed(self, form: SettingForm, facts: HandFacts, splits: Iterable[Split]) -> Iterator[Split]:
        """Yield the settings that the rule allows; the law about them is not asked here."""
        constraints = [
            (hand, [(each.kinds, each.lead is None, lead_rank(facts, each.lead)) for each in some])
            for hand, some in enumerate(self.rule.constraints)
            if some
        ]
        for split in splits:
            for hand, some in constraints:
                strength = split.strengths[hand]
                kind, lead = form.kind_of(strength), form.lead_of(strength)
                if not any(kind in kinds and (free or lead == rank) for kinds, free, rank in some):
                    break
            else:
                yield split


def _has_rank(facts: HandFacts, word: str, allowed: frozenset[int]) -> bool:
    if word == "any":
        return not allowed.isdisjoint(facts.ranks)
    if word == "single":
        return facts.single in allowed
    place = _PLACES.index(word)
    return place < len(facts.ranks) and facts.ranks[place] in allowed


def lead_rank(facts: HandFacts, lead: str | None) -> int | None:
    """Return the rank that a rule names; None if it names none, or the hand has no such group."""
    if lead is None:
        return None
    if lead not in _PLACES:
        return RANKS.index(lead)
    place = _PLACES.index(lead)
    return facts.ranks[place] if place < len(facts.ranks) else None


def ready_rules(table: HouseWayTable, chosen: Mapping[str, str] = AS_PRINTED) -> tuple[ReadyRule, ...]:
    """Return the rules with the chosen ranks in place of the default ones."""
    named = {name: chosen.get(name, rank) for name, rank in table.ranks.items()}
    return tuple(
        ReadyRule(rule, tuple((word, ends.ranks(named)) for word, ends in rule.ranks.items())) for rule in table.rules
    )


# --- reading ----------------------------------------------------------------------------------------------------------


def parse_table(text: str, form: SettingForm) -> HouseWayTable:
    """Return the table that a text describes; BadHouseWay lists everything that is wrong with it."""
    try:
        raw = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadHouseWay((f"not TOML: {error}",)) from error
    reader = _Reader(form)
    table = reader.table(raw)
    if reader.problems:
        raise BadHouseWay(tuple(reader.problems))
    return table


def decode(data: bytes) -> str:
    """Return the text of a file; BadHouseWay if it is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise BadHouseWay((f"not UTF-8: byte {error.start + 1} cannot be read",)) from error


class _Reader:
    """Reads a table and continues after each problem."""

    def __init__(self, form: SettingForm) -> None:
        self._form = form
        self.problems: list[str] = []

    def _problem(self, text: str) -> None:
        self.problems.append(text)

    def table(self, raw: dict[str, Any]) -> HouseWayTable:
        self._known("the table", raw, _TABLE_WORDS)
        name = self._text("name", raw.get("name"))
        if raw.get("game") != self._form.game:
            self._problem(f'game must be "{self._form.game}", and it is {raw.get("game")!r}')
        ranks = self._ranks(raw.get("ranks", {}))
        prefer = self._prefer(raw.get("prefer", []))
        rules = raw.get("rule", [])
        if not isinstance(rules, list) or not rules or len(rules) > _MOST_RULES:
            self._problem(f"a table has 1 to {_MOST_RULES} rules, each under [[rule]]")
            rules = []
        read = tuple(self._rule(number, rule, ranks) for number, rule in enumerate(rules, 1))
        return HouseWayTable(self._form.game, name, MappingProxyType(ranks), prefer, read)

    def _known(self, where: str, raw: Mapping[str, object], words: Sequence[str]) -> None:
        for word in raw:
            if word not in words:
                self._problem(f"{where}: there is no word {word}{_nearest(word, words)}")

    def _text(self, where: str, value: object) -> str:
        if isinstance(value, str) and value.strip() and "\n" not in value and len(value) <= _LONGEST:
            return value.strip()
        self._problem(f"{where} must be a text of one line, 1 to {_LONGEST} characters")
        return ""

    def _ranks(self, raw: object) -> dict[str, str]:
        if not isinstance(raw, dict):
            self._problem("[ranks] must be a table of names, each with a rank")
            return {}
        for name, rank in raw.items():
            if not (isinstance(rank, str) and len(rank) == 1 and rank in RANKS):
                self._problem(f"ranks: {name} = {rank!r} is not a rank; ranks are {' '.join(RANKS)}")
            if name in RANKS or "-" in name:
                self._problem(f"ranks: {name} cannot be the name of a rank")
        return {name: rank if isinstance(rank, str) and rank in RANKS else RANKS[0] for name, rank in raw.items()}

    def _prefer(self, raw: object) -> tuple[Preference, ...]:
        words = raw if isinstance(raw, list) else [raw]
        known = [f"{hand}{dot}" for hand in self._form.hands for dot in ("", *(f".{aspect}" for aspect in _ASPECTS))]
        stated = []
        for word in words:
            if word in known:
                hand, _, aspect = word.partition(".")
                stated.append(Preference(self._form.hands.index(hand), aspect or None))
            else:
                self._problem(f"prefer: there is no {word}{_nearest(word, known)}")
        missing = [number for number in reversed(range(len(self._form.hands))) if (number, None) not in stated]
        return (*stated, *(Preference(number, None) for number in missing))

    def _rule(self, number: int, raw: object, ranks: Mapping[str, str]) -> Rule:
        where = f"rule {number}"
        if not isinstance(raw, dict):
            self._problem(f"{where} must be a table, under [[rule]]")
            raw = {}
        self._known(where, raw, _RULE_WORDS)
        return Rule(
            number=number,
            cards=tuple(self._groups(where, raw.get("cards", []))),
            ranks={word: self._range(f"{where}: {word}", raw[word], ranks) for word in RANK_WORDS if word in raw},
            joker=self._yes_or_no(f"{where}: joker", raw["joker"]) if "joker" in raw else None,
            where_possible=self._yes_or_no(f"{where}: where_possible", raw.get("where_possible", False)),
            constraints=self._set(where, raw.get("set", {})),
            reason=self._text(f"{where}: reason", raw.get("reason")),
        )

    def _yes_or_no(self, where: str, value: object) -> bool:
        if not isinstance(value, bool):
            self._problem(f"{where} must be true or false")
        return value is True

    def _groups(self, where: str, raw: object) -> Iterator[str]:
        for word in raw if isinstance(raw, list) else [raw]:
            if word in GROUP_WORDS:
                yield word
            else:
                self._problem(f"{where}: cards are never {word!r}{_nearest(word, GROUP_WORDS)}")

    def _range(self, where: str, raw: object, named: Mapping[str, str]) -> RankRange:
        low, dash, high = raw.partition("-") if isinstance(raw, str) else ("", "", "")
        ends = RankRange(low, high if dash else low)
        known = [*RANKS, *named]
        for end in dict.fromkeys(ends):
            if end not in known:
                shown = end or repr(raw)
                self._problem(
                    f"{where}: {shown} is not a rank or the name of one, such as A, 2-6{_nearest(end, named)}"
                )
        if any(end not in known for end in ends):
            return RankRange(RANKS[0], RANKS[-1])
        if all(end in RANKS for end in ends) and RANKS.index(ends.low) > RANKS.index(ends.high):
            self._problem(f"{where}: {ends} has no rank; write the lower one first")
        return ends

    def _set(self, where: str, raw: object) -> tuple[tuple[HandConstraint, ...], ...]:
        if not isinstance(raw, dict):
            self._problem(f"{where}: set must be a table, such as {{ {self._form.hands[-1]} = ... }}")
            raw = {}
        self._known(f"{where}: set", raw, self._form.hands)
        return tuple(
            tuple(self._constraint(f"{where}: {hand}", place, raw[hand])) if hand in raw else ()
            for place, hand in enumerate(self._form.hands)
        )

    def _constraint(self, where: str, place: int, raw: object) -> Iterator[HandConstraint]:
        kinds = self._form.kinds[place]
        for text in raw if isinstance(raw, list) else [raw]:
            words = text if isinstance(text, str) else repr(text)
            kind, of, lead = ("", "", "") if words in kinds else words.rpartition(" of ")
            kind = kind or words
            if kind not in kinds:
                self._problem(f"{where} is never {words}{_nearest(words, tuple(kinds))}")
                continue
            if of and lead not in (*_PLACES, *RANKS):
                self._problem(f"{where} = {words}: after of comes {', '.join(_PLACES)} or a rank")
            elif of and (kinds[kind] & COMPLETE or not self._form.lead_of_kinds):
                self._problem(f"{where} = {words}: no one rank leads {kind}")
            yield HandConstraint(words, kinds[kind], lead if of else None)


def _nearest(word: object, known: Sequence[str] | Mapping[str, str]) -> str:
    near = get_close_matches(word, known, 1) if isinstance(word, str) else []
    return f"; did you mean {near[0]}?" if near else f"; there is {', '.join(known)}" if 0 < len(known) < 15 else ""
