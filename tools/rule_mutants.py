"""Every small change of a rule that could matter: of each irregularity row, and of each permit reason.

A mutant is left out only where it provably changes nothing at any table:

- The core uses only the parts of a ruling that `seen` returns. A mutant is the same rule if these are equal in every
  case that can arise (`arising`): for example the order of rows that exclude one another, an `acknowledges` that the
  governing row overrides, or a phase in which this game's rounds never wait.
- `stop`: the core stops for every irregularity that concerns the round; `stop` only marks that an additional question
  blocks play. `scope`: the core uses it only for a device without cards. `numbers`, and `see` next to clauses, are for
  readers. `continue_round` among the outcomes of a choice orders nothing beyond the end of the hold.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_args

from msgspec.structs import replace

from table_controller.rulebook import GAMES, edition, find_ruling
from table_controller.rulebook.irregularity_rows import Choice, Conditions, Facts
from table_controller.rulebook.lookup import DEFAULT_CHOICES
from table_controller.rulebook.validation import decision_facts
from table_controller.rulebook.vocabulary import (
    OUTCOMES,
    PHASES,
    TRIGGERS,
    Decider,
    DeckFact,
    DeviceFact,
    Scope,
    ShufflerFact,
    StartFact,
    StubFinding,
)
from table_controller.table.permits import REASONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.rulebook import Edition, Ruling
    from table_controller.rulebook.irregularity_rows import IrregularityRow
    from table_controller.table.permits import ReasonRow as Reason

_ASKING: Final = ("ask_floorperson", "player_may_void", "player_option_dead_hand")
# The outcome that replaces an outcome in a mutant: something a table could do instead, and must not.
_FLIPPED: Final = {
    "void_round": "continue_round", "return_wagers": "settle_optional_wagers", "reshuffle": "remove_deck",
    "reshuffle_with_dealt": "reshuffle", "remove_deck": "reshuffle", "hold_deck": "reshuffle",
    "discard_card": "use_as_next_card", "use_as_next_card": "discard_card", "no_roll_reshake": "continue_round",
    "player_may_void": "void_round", "player_option_dead_hand": "void_round", "reset_dealer_hand": "void_round",
    "settle_optional_wagers": "continue_round", "sign_out_of_order": "continue_round",
    "finish_after_reshuffle": "void_round", "continue_round": "void_round", "ask_floorperson": "continue_round",
}  # fmt: skip
_NO_ROUND: Final = ("idle", "complete")
# Triggers that can arise only in one phase: dice and their announcement.
_ROLLED: Final = ("dice_not_flat", "die_out_of_shaker", "wrong_start_announced")
_ANY_TIME: Final = ("shuffler_fault", "shoe_fault", "device_unusable", "count_wrong", "face_up_card_first")
# Facts that decide whether other facts can occur; cases always differ in them.
_DISTINGUISHING: Final = {"dealing", "shuffler", "device", "deck"}
_FIELDS: Final = ("dealing", "shuffler", "start", "device", "deck", "finding", "decisions")


class RuleMutant(NamedTuple):
    """One changed rule: of an edition's row, or of the permits."""

    name: str
    kind: str
    game: str | None  # None: permits
    about: tuple[str, ...]  # the triggers, or the acts, that it concerns
    key: str  # the row's id, or the reason's key
    rules: Edition | tuple[Reason, ...]


# --- rows -------------------------------------------------------------------------------------------------------------


def resting_phases(rules: Edition) -> tuple[str, ...]:
    """Return the phases in which a round of this game can wait; it passes through the others within one step."""
    without = {"starting_position"} if not rules.starts else {"locked"}
    return tuple(phase for phase in PHASES if phase not in without and (phase != "stub_check" or rules.stub))


def _drop(values: tuple[Any, ...], at: int) -> tuple[Any, ...]:
    return values[:at] + values[at + 1 :]


def _put(values: tuple[Any, ...], at: int, value: Any) -> tuple[Any, ...]:
    return (*values[:at], value, *values[at + 1 :])


def _outcomes(row: IrregularityRow) -> Iterator[tuple[str, str, IrregularityRow]]:
    for at, outcome in enumerate(row.outcomes):
        yield "outcome", f"outcome {outcome} dropped", replace(row, outcomes=_drop(row.outcomes, at))
        flipped = _FLIPPED[outcome]
        yield "outcome", f"{outcome} is {flipped}", replace(row, outcomes=_put(row.outcomes, at, flipped))
    for at, pair in enumerate(zip(row.outcomes, row.outcomes[1:], strict=False)):
        turned = (*row.outcomes[:at], *reversed(pair), *row.outcomes[at + 2 :])
        yield "outcome", f"{pair[1]} before {pair[0]}", replace(row, outcomes=turned)
    for extra in ("void_round", "remove_deck"):
        if extra not in row.outcomes:
            yield "outcome", f"{extra} as well", replace(row, outcomes=(*row.outcomes, extra))


def _choices(row: IrregularityRow) -> Iterator[tuple[str, str, IrregularityRow]]:
    for at, choice in enumerate(row.choices):
        yield "choice", f"choice {choice.name} dropped", replace(row, choices=_drop(row.choices, at))
        for which, outcome in enumerate(choice.outcomes):
            for what, outcomes in (
                ("dropped", _drop(choice.outcomes, which)),
                (f"is {_FLIPPED[outcome]}", _put(choice.outcomes, which, _FLIPPED[outcome])),
            ):
                changed = _put(row.choices, at, Choice(choice.name, outcomes))
                yield "choice", f"choice {choice.name}: {outcome} {what}", replace(row, choices=changed)
    if row.choices:
        extra = Choice("deal_on", ("continue_round",))
        yield "choice", "choice deal_on as well", replace(row, choices=(*row.choices, extra))
    else:
        asked = replace(
            row, outcomes=(*row.outcomes, "ask_floorperson"), decides="floorperson", choices=DEFAULT_CHOICES
        )
        yield "choice", "the floorperson is asked", asked


def _phases(rules: Edition, row: IrregularityRow) -> Iterator[tuple[str, str, IrregularityRow]]:
    every = resting_phases(rules)
    if row.from_phase == "any":
        for first, last in ((every[1], every[-1]), (every[0], every[-2])):
            yield "phase", f"only {first} to {last}", replace(row, from_phase=first, until_phase=last)
        return
    begin, end = every.index(row.from_phase), every.index(row.until_phase)
    for what, one, other in (
        ("earlier", begin - 1, end), ("later", begin + 1, end),
        ("less long", begin, end - 1), ("longer", begin, end + 1),
    ):  # fmt: skip
        if 0 <= one <= other < len(every):
            changed = replace(row, from_phase=every[one], until_phase=every[other])
            yield "phase", f"{what}: {every[one]} to {every[other]}", changed


def _values(rules: Edition, field: str) -> tuple[str, ...]:
    return {
        "dealing": tuple(method.name for method in rules.deal.methods),
        "shuffler": get_args(ShufflerFact),
        "start": tuple(start.name for start in rules.starts) or get_args(StartFact)[-1:],
        "device": get_args(DeviceFact),
        "deck": get_args(DeckFact),
        "finding": get_args(StubFinding),
        "decisions": decision_facts(rules),
    }[field]


def _conditions(rules: Edition, row: IrregularityRow) -> Iterator[tuple[str, str, IrregularityRow]]:
    for field in _FIELDS:
        given: tuple[str, ...] = getattr(row.when, field)
        if given:
            yield "condition", f"{field} does not matter", replace(row, when=replace(row.when, **{field: ()}))
        for at, value in enumerate(given):
            others = _drop(given, at) or tuple(v for v in _values(rules, field) if v != value)
            if others:
                yield "condition", f"not {field} {value}", replace(row, when=replace(row.when, **{field: others}))
        for value in _values(rules, field):
            if given and value not in given:
                more = replace(row.when, **{field: (*given, value)})
                yield "condition", f"also {field} {value}", replace(row, when=more)
            elif not given:
                only = replace(row.when, **{field: (value,)})
                yield "condition", f"only {field} {value}", replace(row, when=only)
    over = replace(row.when, hand_deal_over=not row.when.hand_deal_over)
    yield "condition", f"hand_deal_over is {over.hand_deal_over}", replace(row, when=over)
    if row.when != Conditions():
        yield "condition", "always", replace(row, when=Conditions())


def _people(row: IrregularityRow) -> Iterator[tuple[str, str, IrregularityRow]]:
    other: Any = "dealer" if row.acknowledges == "floorperson" else "floorperson"
    yield "acknowledges", f"acknowledged by the {other}", replace(row, acknowledges=other)
    for at, seen in enumerate(row.evidence):
        yield "evidence", f"evidence {seen} dropped", replace(row, evidence=_drop(row.evidence, at))
    for decider in get_args(Decider):
        if decider != row.decides:
            yield "decides", f"decided by {decider}", replace(row, decides=decider)
    yield "stop", f"stop is {not row.stop}", replace(row, stop=not row.stop)
    for scope in get_args(Scope):
        if scope != row.scope:
            yield "scope", f"scope {scope}", replace(row, scope=scope)


def _place(row: IrregularityRow) -> Iterator[tuple[str, str, IrregularityRow]]:
    yield "adds", f"adds is {not row.adds}", replace(row, adds=not row.adds)
    for order in (0, 99):
        yield "order", f"order {order}", replace(row, order=order)
    for at, trigger in enumerate(row.also):
        yield "also", f"also {trigger} dropped", replace(row, also=_drop(row.also, at))
    for at, clause in enumerate(row.clauses):
        yield "clauses", f"clause {clause} dropped", replace(row, clauses=_drop(row.clauses, at))
    for at, reading in enumerate(row.see):
        yield "clauses", f"reading {reading} dropped", replace(row, see=_drop(row.see, at))


def _changes(rules: Edition, row: IrregularityRow) -> Iterator[tuple[str, str, IrregularityRow | None]]:
    yield "delete", "deleted", None
    yield from _outcomes(row)
    yield from _choices(row)
    yield from _phases(rules, row)
    yield from _conditions(rules, row)
    yield from _people(row)
    yield from _place(row)


def of_rows(game: str) -> Iterator[tuple[RuleMutant, bool]]:
    """Yield every changed row of a game, and whether it is the same rule at every table."""
    rules = edition(game)
    for at, row in enumerate(rules.irregularities):
        for kind, what, changed in _changes(rules, row):
            others = _drop(rules.irregularities, at)
            rows = others if changed is None else _put(rules.irregularities, at, changed)
            other = replace(rules, irregularities=rows)
            about = (row.trigger, *row.also)
            yield RuleMutant(f"{row.id}: {what}", kind, game, about, row.id, other), same(rules, other, about)
    yield from _precedence(rules)


def _precedence(rules: Edition) -> Iterator[tuple[RuleMutant, bool]]:
    """Yield swaps of triggers that one event can cause together; the core handles all others one by one."""
    for pair in (
        ("shuffler_fault", "count_wrong"),
        ("shuffler_fault", "device_unusable"),
        ("shoe_fault", "device_unusable"),
    ):
        first, second = (rules.precedence.index(one) for one in pair)
        order = _put(_put(rules.precedence, first, pair[1]), second, pair[0])
        name = f"{rules.chapter}: {pair[1]} precedes {pair[0]}"
        yield RuleMutant(name, "precedence", rules.game, pair, "precedence", replace(rules, precedence=order)), False


# --- sameness ---------------------------------------------------------------------------------------------------------


def arising(rules: Edition, trigger: str, fields: set[str]) -> Iterator[tuple[str, Facts]]:
    """Yield every case of a trigger that can arise at a table of this game and differs in the given facts."""
    for phase in resting_phases(rules):
        if trigger in _ROLLED and phase != "starting_position":
            continue
        if trigger == "stub_wrong" and phase != "stub_check":
            continue
        if phase in _NO_ROUND and trigger not in _ANY_TIME:
            continue
        for facts in _facts(rules, trigger, phase, fields):
            if not _barred(rules, trigger, phase, facts):
                yield phase, facts


def _barred(rules: Edition, trigger: str, phase: str, facts: Facts) -> bool:
    """Return whether these facts cannot occur together."""
    under_way = phase not in _NO_ROUND
    in_play = facts.deck == "in_play"
    if facts.dealing == "continuous_shuffler" and facts.shuffler != "counting":
        return True  # a continuous shuffler must count (686a.5(h))
    if trigger == "stub_wrong" and rules.stub is not None and rules.stub.only_without_counting_shuffler:
        # Then nobody counts the stub, or a shoe did, and a misdeal has its own trigger.
        return facts.shuffler == "counting" and (facts.dealing == "hand" or facts.finding == "misdealt_total_right")
    if trigger == "shoe_fault":  # a shoe holds the cards of the round only if the round is dealt from it
        return in_play and facts.dealing in ("hand", "continuous_shuffler")
    if trigger == "shuffler_fault" and facts.dealing == "continuous_shuffler":  # it always holds the round's batch
        return under_way and not in_play
    if trigger == "shuffler_fault" and in_play:
        # The deck of a round in progress enters another shuffler only before the deal, to be counted again.
        return PHASES.index(phase) >= PHASES.index("dealing") or rules.count.on_wrong != "ask_floorperson"
    return False


def _facts(rules: Edition, trigger: str, phase: str, fields: set[str]) -> Iterator[Facts]:
    known: dict[str, tuple[Any, ...]] = {name: _values(rules, name) for name in _FIELDS}
    known["device"] = {
        "device_unusable": known["device"], "shuffler_fault": ("shuffler",), "shoe_fault": ("shoe",),
        "count_wrong": (None, "shuffler", "shoe"),
    }.get(trigger, ("shaker",) if trigger in _ROLLED else (None,))  # fmt: skip
    if trigger in _ROLLED:
        known["start"] = ("shaker",)
    if phase in _NO_ROUND:
        known["deck"] = ("other",)
    elif trigger not in _ANY_TIME or trigger == "face_up_card_first":
        known["deck"] = ("in_play",)
    if trigger != "stub_wrong":
        known["finding"] = (None,)
    if phase != "playing":  # only in this phase can some players have decided and others not
        known["decisions"] = known["decisions"][-1:] if phase == "settling" else known["decisions"][:1]
    varied = [known[name] if name in fields else known[name][:1] for name in _FIELDS]
    for values in product(*varied):
        yield Facts(**dict(zip(_FIELDS, values, strict=True)))


def seen(ruling: Ruling, facts: Facts) -> tuple[object, ...]:
    """Return the parts of a ruling that the core uses."""
    asked = bool(ruling.choices) and any(outcome in _ASKING for outcome in ruling.outcomes)
    choices = [(c.name, tuple(o for o in c.outcomes if o != "continue_round")) for c in ruling.choices]
    empty = ruling.trigger == "device_unusable" or (ruling.trigger == "shoe_fault" and facts.deck == "other")
    return (
        bool(ruling.rows),
        ruling.outcomes,
        ruling.clauses or ruling.see,
        ruling.acknowledges,
        ruling.evidence,
        (choices, ruling.decides == "floorperson") if asked else None,
        ruling.scope == "round" if empty and facts.device in ("shuffler", "shoe") else None,
    )


def same(rules: Edition, other: Edition, triggers: tuple[str, ...]) -> bool:
    """Return whether both editions give the core the same ruling in every case that can arise."""
    for trigger in triggers:
        rows = [row for one in (rules, other) for row in one.irregularities if trigger in (row.trigger, *row.also)]
        asked = {name for row in rows for name in _FIELDS if getattr(row.when, name)}
        for phase, facts in arising(rules, trigger, asked | _DISTINGUISHING):
            one, two = (find_ruling(each, trigger, phase, facts) for each in (rules, other))  # type: ignore[arg-type]
            if seen(one, facts) != seen(two, facts):
                return False
    return True


# --- permits ----------------------------------------------------------------------------------------------------------


def of_permits() -> Iterator[RuleMutant]:
    """Yield every permit reason deleted, negated, without one act, or with another text or clause."""
    for at, reason in enumerate(REASONS):
        for kind, what, changed in _reason(reason):
            others = _drop(REASONS, at)
            reasons = others if changed is None else (*REASONS[:at], changed, *REASONS[at + 1 :])
            yield RuleMutant(f"{reason.key}: {what}", kind, None, reason.acts, reason.key, reasons)


def _reason(reason: Reason) -> Iterator[tuple[str, str, Reason | None]]:
    from dataclasses import replace as changed  # noqa: PLC0415  # a dataclass, unlike the rows

    yield "reason", "deleted", None
    yield "negated", "negated", changed(reason, applies=lambda v, r: not reason.applies(v, r))
    for at, act in enumerate(reason.acts):
        yield "act", f"does not block {act}", changed(reason, acts=_drop(reason.acts, at))
    clears = "dealer" if reason.clears != "dealer" else "floorperson"
    yield "clears", f"cleared by the {clears}", changed(reason, clears=clears)
    yield "text", "without its evidence", changed(reason, evidence="")
    yield "text", "without its text", changed(reason, text="")
    duty = "composition" if reason.duty != "composition" else "close"
    yield "duty", "cites another duty", changed(reason, duty=duty)


@cache
def every() -> tuple[tuple[RuleMutant, ...], int]:
    """Return all mutants, and how many changes are left out because they are the same rule."""
    all_changes = [each for game in GAMES for each in of_rows(game)]
    return (*(mutant for mutant, equal in all_changes if not equal), *of_permits()), sum(
        equal for _, equal in all_changes
    )


assert set(_FLIPPED) == set(OUTCOMES)
assert set(_ROLLED + _ANY_TIME) <= set(TRIGGERS)
