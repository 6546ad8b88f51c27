"""Checks of an edition beyond the types of its fields."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Final, get_args

from table_controller.rulebook.vocabulary import PHASES, TRIGGERS, DecisionFact, Phase, Trigger

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.rulebook.irregularity_rows import Conditions, IrregularityRow
    from table_controller.rulebook.schema import Edition

_MISSING: Final = object()


def objections(edition: Edition) -> list[str]:
    """Return a sentence for every error."""
    return [
        *_numbers(edition),
        *_names(edition),
        *_precedence(edition),
        *(problem for row in edition.irregularities for problem in _row(edition, row)),
        *_overlaps(edition),
    ]


def phases_of(row: IrregularityRow) -> tuple[Phase, ...]:
    """Return the phases in which a row applies."""
    if row.from_phase == "any" or row.until_phase == "any":
        return PHASES
    return PHASES[PHASES.index(row.from_phase) : PHASES.index(row.until_phase) + 1]


def _numbers(edition: Edition) -> Iterator[str]:
    cards, hand = edition.cards, edition.hand
    if cards.decks * cards.per_deck != cards.count:
        yield f"cards.count is {cards.count}, but {cards.decks} x {cards.per_deck} cards are used"
    if edition.count.expected != cards.count:
        yield f"count.expected is {edition.count.expected}, but a complete set has {cards.count}"
    if hand.first_deal + hand.second_deal != hand.cards:
        yield f"hand: {hand.first_deal} and {hand.second_deal} cards do not make {hand.cards}"
    if hand.split and sum(hand.split) != hand.cards:
        yield f"hand.split {list(hand.split)} does not make {hand.cards}"
    if not 1 <= edition.seats.least <= edition.seats.most:
        yield "seats: least must be between one and most"
    if edition.deal.to == "all_positions" and edition.stub is not None and edition.stub.expected is not None:
        dealt = (edition.seats.most + 1) * hand.cards
        if dealt + edition.stub.expected != cards.count:
            yield f"{dealt} cards dealt and a stub of {edition.stub.expected} do not make {cards.count}"
    if (edition.dice is not None) != any(start.name == "shaker" for start in edition.starts):
        yield "dice must be given exactly if a shaker may be used"
    if (edition.deal.begins == "starting_position") != bool(edition.starts):
        yield "starts must be given exactly if the deal begins at a starting position"


def _names(edition: Edition) -> Iterator[str]:
    """Check the names that refer to other parts of the edition."""
    methods = [method.name for method in edition.deal.methods]
    for where, given in (
        ("deal.replacement_card", edition.deal.replacement_card),
        ("change_hours", edition.change_hours),
        ("change_clauses", edition.change_clauses),
    ):
        if set(given) != set(methods):
            yield f"{where} must name exactly the dealing methods {', '.join(methods)}"
    wagers = [wager.name for wager in edition.wagers]
    named = [*edition.settle_order.side_wagers, *(name for wager in edition.wagers for name in wager.needs)]
    if edition.surrender:
        named += [*edition.surrender.barred_by, *edition.surrender.loses]
    if edition.progressive:
        named.append(edition.progressive.wager)
    if edition.envy:
        named += edition.envy.wagers
    named += [setting.needs for setting in edition.settings if setting.needs]
    yield from (f"no wager is called {name}" for name in dict.fromkeys(named) if name not in wagers)
    steps = [step.name for step in edition.opening]
    for name in dict.fromkeys([*edition.preshuffled.skips, *edition.idle.repeats]):
        if name not in steps:
            yield f"no opening step is called {name}"
    for setting in edition.settings:
        if setting.default is not None and setting.default not in setting.values:
            yield f"setting {setting.name}: the default {setting.default} is not one of its values"
    yield from (f"no wager is paid by {each.table}" for each in edition.warnings if each.table not in edition.tables)
    for names in (wagers, methods, [setting.name for setting in edition.settings]):
        yield from (f"{name} appears twice" for name, times in Counter(names).items() if times > 1)


def _precedence(edition: Edition) -> Iterator[str]:
    if sorted(edition.precedence) != sorted(TRIGGERS):
        odd = sorted(set(edition.precedence) ^ set(TRIGGERS)) or "one appears twice"
        yield f"precedence must name every trigger once: {odd}"


def _row(edition: Edition, row: IrregularityRow) -> Iterator[str]:
    """Check one row by itself."""
    if sum(other.id == row.id for other in edition.irregularities) > 1:
        yield f"row {row.id} appears twice"
    if not phases_of(row):
        yield f"row {row.id}: from_phase is after until_phase"
    if (row.from_phase == "any") != (row.until_phase == "any"):
        yield f"row {row.id}: from_phase and until_phase must both be any"
    if not row.outcomes and not row.adds:
        yield f"row {row.id} orders nothing"
    yield from _cited(edition, row)
    if ("ask_floorperson" in row.outcomes) != (row.decides == "floorperson"):
        yield f"row {row.id}: ask_floorperson and decides = floorperson belong together"
    if row.decides != "rule" and not row.choices:
        yield f"row {row.id}: the {row.decides} decides, but no choices are given"
    for number in row.numbers:
        if not isinstance(_at(edition, number.at), int):
            yield f"row {row.id}: {number.at} is not a number of this edition"


def _cited(edition: Edition, row: IrregularityRow) -> Iterator[str]:
    """Check the clauses of a row and that its id follows from them."""
    if not row.clauses and not row.see:
        yield f"row {row.id} cites neither a clause nor a reading"
    if row.clauses and row.id != row.clauses[0]:
        yield f"row {row.id} must be called {row.clauses[0]}, its first clause"
    if not row.clauses and not row.id.startswith(f"{edition.chapter}:"):
        yield f"row {row.id} has no clause, so its id must begin with {edition.chapter}:"
    for clause in row.clauses:
        if not clause.startswith(f"{edition.chapter}."):
            yield f"row {row.id}: {clause} is not a clause of chapter {edition.chapter}"


def _at(edition: Edition, path: str) -> object:
    target: object = edition
    for name in path.split("."):
        target = getattr(target, name, _MISSING)
    return target


def _overlaps(edition: Edition) -> Iterator[str]:
    """Find two governing rows that may apply at once, so that the lookup could not choose."""
    by_trigger: dict[Trigger, list[IrregularityRow]] = {}
    for row in edition.irregularities:
        for trigger in (row.trigger, *row.also):
            by_trigger.setdefault(trigger, []).append(row)
    for trigger, rows in by_trigger.items():
        for one, other in combinations([row for row in rows if not row.adds], 2):
            if any(_both(one.when, other.when, phase) for phase in phases_of(one) if phase in phases_of(other)):
                yield f"rows {one.id} and {other.id} overlap for {trigger}"
        orders = [row.order for row in rows if row.trigger == trigger]
        if len(set(orders)) != len(orders):
            yield f"two rows of {trigger} have the same order"


def _both(one: Conditions, other: Conditions, phase: str) -> bool:
    """Return whether some facts meet both conditions in a phase."""
    shared = {}
    for name in ("dealing", "shuffler", "start", "device", "deck", "finding", "decisions"):
        left, right = getattr(one, name), getattr(other, name)
        shared[name] = [value for value in left or right if not right or value in right]
        if (left or right) and not shared[name]:
            return False
    if phase == "dealing" and (one.hand_deal_over or other.hand_deal_over):
        return shared["dealing"] != ["hand"]
    return True


def decision_facts(edition: Edition) -> tuple[DecisionFact, ...]:
    """Return the possible values of the decisions fact; `open` only, in games without decisions."""
    decides = any(wager.decision for wager in edition.wagers)
    return get_args(DecisionFact) if decides else get_args(DecisionFact)[:1]
