"""Clauses, paytables and readings, for people to look up. Loaded on first use; an edition does not need them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Final, Literal, TypeVar

import msgspec

from firmware_bridge.errors import BadRulebook
from table_controller.rulebook.loader import edition
from table_controller.rulebook.registry import CHAPTERS, read
from table_controller.rulebook.vocabulary import OUTCOMES, TRIGGERS, Outcome

EnforcedBy = Literal["device", "prompt", "compute", "record", "outside"]
Enforcement = Literal["enforced in play", "prompted", "computed on request", "outside", "not yet"]
# How the box handles a clause; tests prove it, see docs/clauses.md.
ENFORCEMENT: Final[dict[Enforcement, str]] = {
    "enforced in play": "the live table refuses a violation, stops, or carries the clause out itself",
    "prompted": "a person is asked, and the journal keeps the answer",
    "computed on request": "computed when a person asks (`pitbox hand`); live play does not use it",
    "outside": "not done by this software: beyond the box, or a matter of records",
    "not yet": "not done, or only in part",
}
# The condition whose values are also the names of the edition's optional wagers.
OPTION: Final = "option"
T = TypeVar("T")


class Condition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One key of `applies_when`: its meaning and its possible values."""

    meaning: str
    values: tuple[str, ...]


class ClauseVocabulary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The closed vocabulary of the clause files."""

    kind: Mapping[str, str]
    enforce: Mapping[EnforcedBy, str]
    trigger: Mapping[str, str]
    device: Mapping[str, str]
    applies_when: Mapping[str, Condition]


class Clause(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """One duty, in our words."""

    id: str
    kind: str
    trigger: str
    duty: str
    devices: tuple[str, ...] = ()
    applies_when: Mapping[str, tuple[str, ...]] = {}  # every condition must be met
    enforce: EnforcedBy
    outcome: tuple[Outcome, ...] = ()  # of irregularities and failed counts
    see: tuple[str, ...] = ()


class Pay(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """What a line pays. A fixed amount and a share of the meter are both paid."""

    odds: tuple[int, int] | None = None  # n to m; the wager is returned in addition
    fixed_cents: int | None = None
    meter_percent: int | None = None
    push: bool = False


class PaytableLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """One line of a paytable: one pay, or two by whether wild cards were used."""

    label: str  # as printed
    hand: str
    totals: tuple[int, ...] = ()
    pay: Pay | None = None
    natural: Pay | None = None
    with_wild: Pay | None = None
    envy_cents: int | None = None


class Paytable(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """One paytable as printed: the first line that fits pays. None: the regulation does not state it."""

    id: str
    wagers: tuple[str, ...]
    name: str
    selectable: bool
    unit_cents: int | None = None
    seed_cents: int | None = None
    reseed_cents: int | None = None
    rate_percent: int | None = None
    reserve_percent: int | None = None
    stake_returned: bool | None = None
    fully_wild_joker: bool | None = None
    clauses: tuple[str, ...]
    see: tuple[str, ...] = ()
    lines: tuple[PaytableLine, ...]


class ClauseReading(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """How an unclear or faulty wording is read."""

    id: str
    title: str
    reading: str
    ruling: bool = False  # a regulator should decide it before the table is used
    settings: tuple[str, ...] = ()  # settings of an edition, or submission fields, for another answer


class _Enforcements(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the box handles each clause, by clause id."""

    clauses: Mapping[str, Enforcement]


class _RulebookFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The tables that a rulebook file may contain."""

    clauses: tuple[Clause, ...] = ()
    paytables: tuple[Paytable, ...] = ()
    readings: tuple[ClauseReading, ...] = ()


@cache
def clause_vocabulary() -> ClauseVocabulary:
    """Return the vocabulary of the clause files."""
    return _read("words.toml", ClauseVocabulary)


@cache
def clauses(game: str) -> tuple[Clause, ...]:
    """Return every duty of a game in the order of the text."""
    name = f"{CHAPTERS[game]}/clauses.toml"
    entries = _read(name, _RulebookFile).clauses
    _refuse(name, [problem for clause in entries for problem in _clause_objections(clause, game)])
    _refuse(name, _twice([clause.id for clause in entries]))
    return entries


@cache
def paytables(game: str) -> tuple[Paytable, ...]:
    """Return every paytable of a game."""
    name = f"{CHAPTERS[game]}/paytables.toml"
    entries = _read(name, _RulebookFile).paytables
    _refuse(name, [problem for table in entries for problem in _table_objections(table)])
    _refuse(name, _twice([table.id for table in entries]))
    return entries


@cache
def readings() -> dict[str, ClauseReading]:
    """Return every reading by its id: those of several chapters, then those of each chapter."""
    known: dict[str, ClauseReading] = {}
    for name in ("readings.toml", *(f"{chapter}/readings.toml" for chapter in CHAPTERS.values())):
        entries = _read(name, _RulebookFile).readings
        _refuse(name, _twice([*known, *(reading.id for reading in entries)]))
        known |= {reading.id: reading for reading in entries}
    return known


@cache
def _enforcements(game: str) -> Mapping[str, Enforcement]:
    name = f"{CHAPTERS[game]}/enforcement.toml"
    entries = _read(name, _Enforcements).clauses
    ids = [clause.id for clause in clauses(game)]
    missing = [f"{id_} is missing" for id_ in ids if id_ not in entries]
    _refuse(name, missing + [f"there is no clause {id_}" for id_ in entries if id_ not in ids])
    return entries


def enforcement(clause_id: str) -> Enforcement:
    """Return how the box handles a clause; KeyError if there is none of this id."""
    by_chapter = {chapter: game for game, chapter in CHAPTERS.items()}
    return _enforcements(by_chapter[clause_id.partition(".")[0]])[clause_id]


def clause(clause_id: str) -> Clause:
    """Return one duty; KeyError if there is none of this id."""
    return _by_id()[clause_id]


def reading(reading_id: str) -> ClauseReading:
    """Return one reading; KeyError if there is none of this id."""
    return readings()[reading_id]


@cache
def _by_id() -> dict[str, Clause]:
    return {clause.id: clause for game in CHAPTERS for clause in clauses(game)}


# --- reading the files ------------------------------------------------------------------------------------------------


def _read(name: str, kind: type[T]) -> T:
    try:
        return msgspec.convert(tomllib.loads(read(name).decode()), kind)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise BadRulebook(f"{name} cannot be read: {error}") from error


def _refuse(name: str, problems: list[str]) -> None:
    if problems:
        raise BadRulebook(f"{name}: " + "; ".join(problems))


def _twice(ids: list[str]) -> list[str]:
    return [f"{id_} appears twice" for id_ in dict.fromkeys(ids) if ids.count(id_) > 1]


def _clause_objections(item: Clause, game: str) -> list[str]:
    known, chapter = clause_vocabulary(), CHAPTERS[game]
    wagers = [wager.name for wager in edition(game).wagers if wager.option]
    problems = [] if item.id.startswith(f"{chapter}.") else [f"{item.id} is not of chapter {chapter}"]
    if item.kind not in known.kind:
        problems.append(f"{item.id}: there is no kind {item.kind}")
    if item.trigger not in known.trigger and item.trigger not in TRIGGERS:
        problems.append(f"{item.id}: there is no trigger {item.trigger}")
    problems += [f"{item.id}: there is no device {device}" for device in item.devices if device not in known.device]
    problems += [f"{item.id}: there is no outcome {outcome}" for outcome in item.outcome if outcome not in OUTCOMES]
    problems += [f"{item.id}: there is no reading {name}" for name in item.see if name not in readings()]
    for condition, values in item.applies_when.items():
        allowed = known.applies_when.get(condition)
        possible = {*allowed.values, *(wagers if condition == OPTION else ())} if allowed else set()
        if not set(values) <= possible:
            problems.append(f"{item.id}: applies_when {condition} cannot be {', '.join(values)}")
    return problems


def _table_objections(table: Paytable) -> list[str]:
    problems = [f"{table.id}: there is no reading {name}" for name in table.see if name not in readings()]
    for line in table.lines:
        pays = [pay for pay in (line.pay, line.natural, line.with_wild) if pay is not None]
        if not pays or (line.pay is not None and len(pays) > 1):
            problems.append(f"{table.id}, {line.label}: one pay, or one by wild cards")
        for pay in pays:
            money = pay.fixed_cents is not None or pay.meter_percent is not None
            if (pay.odds is not None) + pay.push + money != 1:
                problems.append(f"{table.id}, {line.label}: odds, or money, or a push, and nothing else")
    return problems
