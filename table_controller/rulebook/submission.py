"""The Rules Submission: the certificate holder's choices, checked against what the edition permits.

All objections are listed together, each with its clause. A choice that is not stated takes the simplest lawful value;
where the regulation requires a statement, its absence is an objection too.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, get_type_hints

import msgspec

from firmware_bridge.errors import BadHouseWay, BadSubmission
from table_controller.rulebook.cards import RANKS
from table_controller.rulebook.duties import duty_clauses
from table_controller.rulebook.game_rules import game_rules
from table_controller.rulebook.house_ways.loader import own_house_way
from table_controller.rulebook.house_ways.proof import objections
from table_controller.rulebook.texts import paytables
from table_controller.rulebook.vocabulary import SHOE_DEALING, DealingName, ShufflerFact
from table_controller.rulebook.wager_limits import limit_problems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.rulebook.house_ways.choose import HouseWay
    from table_controller.rulebook.schema import Edition

# Hundredths of a percent in 100 %: no rate can exceed the wager itself.
_WHOLE_BP: Final = 10_000


class Submission(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The choices of one table within its edition. Only `check_submission` creates it."""

    game: str
    edition: str  # the digest of the edition that it was checked against
    dealing: DealingName
    start: Literal["shaker", "rng", "flat_button"] | None = None
    shuffler: Literal["none", "deck", "batch", "continuous"] = "none"
    shuffler_counts: bool = False  # reports the number of cards after each shuffle
    reshuffles: bool = False  # a device approved to reshuffle by itself
    inserts_into_shoe: bool = False  # the shuffler inserts its stack directly into the dealing shoe
    approved_procedure: str | None = None  # its approved procedure, where that replaces the whole section
    two_decks: bool = False  # a second deck or batch in alternation
    seats: int = 6
    wagers: tuple[str, ...] = ()  # the optional wagers offered
    paytables: Mapping[str, str] = {}  # wager -> table, complete for every wager that may be placed
    progressive_rate_bp: int | None = None  # hundredths of a percent; only where the regulation leaves the rate open
    payout_limit_cents: int | None = None
    least_wagers_cents: Mapping[str, int] = {}  # the table's minimum wagers; they determine the payout limit
    most_wagers_cents: Mapping[str, int] = {}  # the table's maximum wagers
    adjacent_boxes: int = 1
    mid_shoe_entry_ban: bool = False
    face_check_rounds: int | None = None  # after so many rounds a deck's faces are checked, which a count cannot do
    start_marker: bool = False
    wheel_lowest_straight_flush: bool = False
    wheel_lowest_straight: bool = False
    folded_progressive: bool | None = None  # whether a folded hand still plays the progressive
    house_way: str | None = None  # the policy by which the dealer sets hands; None: no hands are set
    house_way_ranks: Mapping[str, str] = {}  # the certificate holder's own ranks, where the policy depends on one
    house_way_table: str | None = None  # the text of the certificate holder's own table; table.toml names its file
    posted_on_sign: tuple[Literal["odds", "payout_limit", "special_rules"], ...] = ()  # not inscribed on the layout
    settings: Mapping[str, str] = {}  # complete for every setting that applies here
    warnings: tuple[str, ...] = ()

    @property
    def shuffler_fact(self) -> ShufflerFact:
        """The shuffler as a fact for the conditions of rows."""
        if self.shuffler == "none":
            return "none"
        return "counting" if self.shuffler_counts else "not_counting"


# Fields that are computed, not stated.
_OURS: Final = ("warnings",)


def default_submission(edition: Edition) -> Submission:
    """Return the simplest lawful choices: first dealing method, no shuffler, no optional wager."""
    return check_submission(edition, {"adjacent_boxes": 1})


def check_submission(edition: Edition, raw: Mapping[str, Any]) -> Submission:
    """Return the complete, frozen choices; BadSubmission lists every objection with its clause."""
    problems: list[str] = []
    given = _typed(raw, problems)
    stated = Submission(
        **{
            "game": edition.game,
            "edition": edition.digest,
            "dealing": edition.deal.methods[0].name,
            "start": edition.starts[0].name if edition.starts else None,
            "seats": edition.seats.most,
            **given,
        }
    )
    problems += _dealing(edition, stated)
    problems += _shuffler(edition, stated)
    problems += _start(edition, stated)
    problems += _wagers(edition, stated)
    problems += _progressive(edition, stated)
    problems += _settings(edition, stated)
    problems += _limits(edition, stated, raw)
    problems += _signage(edition, stated)
    if problems:
        raise BadSubmission(tuple(problems))
    return _completed(edition, stated)


def _typed(raw: Mapping[str, Any], problems: list[str]) -> dict[str, Any]:
    """Return the fields that are known and have the right type; add a problem for each other one."""
    hints = {name: hint for name, hint in get_type_hints(Submission).items() if name not in _OURS}
    typed = {}
    for name, value in raw.items():
        if name not in hints:
            near = get_close_matches(name, hints, 1)
            problems.append(f"unknown key {name}" + (f"; did you mean {near[0]}?" if near else ""))
            continue
        try:
            typed[name] = msgspec.convert(value, hints[name])
        except msgspec.ValidationError as error:
            problems.append(f"{name}: {str(error)[:1].lower()}{str(error)[1:]}")
    return typed


def _cite(*sources: str | None) -> str:
    return f"({', '.join(source for source in sources if source)})"


# --- cards and machines -----------------------------------------------------------------------------------------------


def _dealing(edition: Edition, stated: Submission) -> Iterator[str]:
    if stated.game != edition.game:
        yield f"game = {stated.game}: this is the edition of {edition.game}"
    if stated.edition != edition.digest:
        yield f"edition {stated.edition} is not the one in use, {edition.digest} (X16)"
    seats = edition.seats
    if not seats.least <= stated.seats <= seats.most:
        expected = f"exactly {seats.most}" if seats.least == seats.most else f"{seats.least} to {seats.most}"
        yield f"seats = {stated.seats}: {edition.title} has {expected} {_cite(seats.clause, *seats.see)}"
    method = edition.method(stated.dealing)
    if method is None:
        known = ", ".join(each.name for each in edition.deal.methods)
        yield f"dealing = {stated.dealing}: {edition.title} allows {known} {_cite(edition.deal.methods[0].clause)}"
    elif method.name == "continuous_shuffler":
        if stated.shuffler != "continuous":
            yield f"dealing = continuous_shuffler needs shuffler = continuous {_cite(method.clause, *method.see)}"
    elif method.needs_automated_shuffler and stated.shuffler == "none":
        yield f"dealing = {method.name} needs an automated shuffler {_cite(method.shuffler_clause)}"


def _shuffler(edition: Edition, stated: Submission) -> Iterator[str]:
    second, device = edition.second_set, edition.approved_device
    batch = second is not None and second.allowed_with == "batch_shuffler"
    fitting = ("none", "batch", "continuous") if batch else ("none", "deck")
    if stated.shuffler not in fitting:
        yield f"shuffler = {stated.shuffler}: here it is {' or '.join(fitting)} {_cite(edition.cards.clause)}"
    if second is not None:
        prepares = stated.shuffler == ("batch" if batch else "deck")
        what = "two batches" if batch else "two decks"
        if stated.two_decks and not prepares:
            yield f"{what} need a shuffler that stores one of them {_cite(second.clause)}"
        if second.required and prepares and not stated.two_decks:
            yield f"a batch shuffler needs {what} {_cite(second.clause, 'O12')}"
    if stated.shuffler == "continuous":
        if stated.dealing != "continuous_shuffler":
            yield f"a continuous shuffler serves as the shoe: dealing = continuous_shuffler {_cite('686a.3(a)', 'O7')}"
        if not stated.reshuffles:
            yield f"a continuous shuffler needs approval as a device that reshuffles {_cite(device.clause, 'O5')}"
    if stated.shuffler_counts and stated.shuffler == "none":
        yield f"shuffler_counts without a shuffler {_cite(edition.count.clause, *edition.count.see)}"
    yield from _reshuffles(edition, stated)
    if stated.inserts_into_shoe:
        yield from _inserts(edition, stated)


def _inserts(edition: Edition, stated: Submission) -> Iterator[str]:
    """Check a shuffler that inserts its stack into the shoe: a stack that must be cut cannot be in the shoe already."""
    clauses = duty_clauses(edition.game, "single_stack")
    if stated.shuffler not in ("deck", "batch"):
        yield f"inserts_into_shoe needs an automated shuffler with a stack {_cite(*clauses)}"
    if stated.dealing not in SHOE_DEALING:
        yield f"inserts_into_shoe: dealing = {stated.dealing} has no dealing shoe to insert into {_cite(*clauses)}"
    if "machine_shuffle" in edition.cut.when and not stated.reshuffles:
        device = edition.approved_device
        yield (
            "inserts_into_shoe needs a device approved to reshuffle: without the approval the stack is cut before it "
            f"is in the shoe {_cite(edition.cut.clause, device.clause, 'O5')}"
        )


def _reshuffles(edition: Edition, stated: Submission) -> Iterator[str]:
    device = edition.approved_device
    if stated.reshuffles and stated.shuffler == "none":
        yield f"reshuffles without a shuffler {_cite(device.clause)}"
    if stated.reshuffles and device.counts and not stated.shuffler_counts:
        yield f"a device approved to reshuffle also counts: shuffler_counts {_cite(device.clause)}"
    whole = not device.counts  # 575: the approved procedure replaces the section
    if stated.reshuffles and whole and not stated.approved_procedure:
        yield f"reshuffles needs approved_procedure, which replaces the whole section {_cite(device.clause, 'X12')}"
    if stated.approved_procedure is not None and not (stated.reshuffles and whole):
        yield f"approved_procedure does not apply here {_cite(device.clause, 'X12')}"


def _start(edition: Edition, stated: Submission) -> Iterator[str]:
    if not edition.starts:
        if stated.start is not None:
            yield f"start = {stated.start}: the deal begins at the far left {_cite(edition.deal.clause)}"
        return
    method = next((start for start in edition.starts if start.name == stated.start), None)
    if method is None:
        known = ", ".join(start.name for start in edition.starts)
        clauses = duty_clauses(edition.game, "one_start")
        yield f"start = {stated.start}: {edition.title} allows {known} {_cite(*clauses)}"
        return
    having = {"automated_shuffler": stated.shuffler != "none", "automated_shoe": stated.dealing == "automated_shoe"}
    lacking = [need.replace("_", " ") for need in method.needs if not having[need]]
    if lacking:
        yield f"start = {method.name} needs an {' and an '.join(lacking)} {_cite(method.clause, *method.see)}"


# --- wagers -----------------------------------------------------------------------------------------------------------


def _wagers(edition: Edition, stated: Submission) -> Iterator[str]:
    optional = [wager.name for wager in edition.wagers if wager.option]
    for name in stated.wagers:
        wager = edition.wager(name)
        if wager is None:
            options = ", ".join(optional)
            yield f"wagers: {edition.title} has no {name}; its options are {options} {_cite(f'{edition.chapter}.7')}"
        elif not wager.option:
            yield f"wagers: {name} is not optional, it is always offered {_cite(wager.clause)}"
    for name in {name for name in stated.wagers if stated.wagers.count(name) > 1}:
        yield f"wagers: {name} is named twice"
    for name, table in stated.paytables.items():
        wager = edition.wager(name)
        if wager is None:
            yield f"paytables: {edition.title} has no wager {name}"
        elif wager.option and name not in stated.wagers:
            yield f"paytables: {name} is not offered {_cite(wager.clause)}"
        elif table not in wager.tables:
            yield f"paytables: {table} is not a paytable of {name}; {', '.join(wager.tables)} are {_cite(wager.clause)}"
    for wager in edition.wagers:
        if len(wager.tables) > 1 and wager.name in stated.wagers and wager.name not in stated.paytables:
            yield f"paytables: one of {', '.join(wager.tables)} must be selected for {wager.name} {_cite(wager.clause)}"


def _progressive(edition: Edition, stated: Submission) -> Iterator[str]:
    rules = edition.progressive
    offered = rules is not None and rules.wager in stated.wagers
    if stated.progressive_rate_bp is not None and not (offered and rules and rules.rate == "submission"):
        yield f"progressive_rate_bp: the rate cannot be chosen here {_cite(f'{edition.chapter}.12')}"
    if stated.folded_progressive is not None and not (offered and rules and rules.fold_survival == "submission"):
        yield "folded_progressive does not apply here"
    if not offered or rules is None:
        return
    if rules.rate == "submission":
        if stated.progressive_rate_bp is None:
            yield "the progressive needs progressive_rate_bp, because the regulation gives no rate of progression (W11)"
        elif not 0 < stated.progressive_rate_bp <= _WHOLE_BP:
            yield f"progressive_rate_bp = {stated.progressive_rate_bp} must be 1 to {_WHOLE_BP} (W11)"
    if rules.fold_survival == "submission" and stated.folded_progressive is None:
        folded = duty_clauses(edition.game, "folded_bet")
        yield f"the progressive needs folded_progressive {_cite(*folded, 'W21')}"


def _settings(edition: Edition, stated: Submission) -> Iterator[str]:
    known = {setting.name: setting for setting in edition.settings}
    for name, value in stated.settings.items():
        setting = known.get(name)
        if setting is None:
            near = get_close_matches(name, known, 1)
            yield f"settings: there is no {name}" + (f"; did you mean {near[0]}?" if near else "")
        elif value not in setting.values:
            yield f"settings: {name} = {value} may be {' or '.join(setting.values)} {_cite(setting.reading)}"
        elif setting.needs and setting.needs not in stated.wagers:
            yield f"settings: {name} applies only with the wager {setting.needs} {_cite(setting.reading)}"
    for setting in edition.settings:
        if setting.default is None and setting.name not in stated.settings and setting.needs in stated.wagers:
            yield f"the {setting.needs} needs the setting {setting.name}: {setting.meaning} {_cite(setting.reading)}"
    for choice in ("mid_shoe_entry_ban", "start_marker", "wheel_lowest_straight_flush", "wheel_lowest_straight"):
        if getattr(stated, choice) and choice not in edition.submission_choices:
            yield f"{choice} is not a choice in {edition.title}"
    yield from _house_way(edition, stated)


def _house_way(edition: Edition, stated: Submission) -> Iterator[str]:
    policies = game_rules(edition.game).house_ways
    clauses = _cite(*duty_clauses(edition.game, "house_way"))
    if not policies:
        for name in ("house_way", "house_way_table"):
            if getattr(stated, name) is not None:
                value = f" = {stated.house_way}" if name == "house_way" else ""
                yield f"{name}{value}: the dealer sets no hands"
        return
    try:
        policy = house_way_of(stated)
    except BadHouseWay as error:
        yield from (f"house_way_table: {objection} {clauses}" for objection in error.objections)
        return
    if policy is None:
        yield f"house_way = {stated.house_way}: the dealer sets by {' or '.join(policies)} {clauses}"
        return
    problems = [*_house_way_ranks(stated, policy.ranks, clauses)]
    yield from problems
    if not problems:
        changed = {name: rank for name, rank in stated.house_way_ranks.items() if rank != policy.ranks[name]}
        if changed or stated.house_way_table is not None:
            key = "house_way_ranks" if changed else "house_way_table"
            yield from (f"{key}: {problem} {clauses}" for problem in objections(policy.form, policy.table, changed))


def house_way_of(stated: Submission) -> HouseWay | None:
    """Return the house way that a submission names; None if there is none of that name, or no hands are set.

    BadHouseWay if the certificate holder's own table cannot be read.
    """
    policies = game_rules(stated.game).house_ways
    if stated.house_way_table is None:
        return policies.get(stated.house_way or next(iter(policies), ""))
    policy = own_house_way(next(iter(policies.values())).form, stated.house_way_table)
    return policy if stated.house_way in (None, policy.table.name) else None


def prove_house_way(game: str, text: str) -> HouseWay | None:
    """Return the house way of a certificate holder's own table; BadHouseWay if it does not set every hand lawfully.

    None in a game in which the dealer sets no hands.
    """
    policies = game_rules(game).house_ways
    if not policies:
        return None
    policy = own_house_way(next(iter(policies.values())).form, text)
    problems = objections(policy.form, policy.table)
    if problems:
        raise BadHouseWay(problems)
    return policy


def _house_way_ranks(stated: Submission, known: Mapping[str, str], clauses: str) -> Iterator[str]:
    """Check the ranks that a certificate holder chose for a house way."""
    for name, rank in stated.house_way_ranks.items():
        if name not in known:
            near = get_close_matches(name, known, 1) or [", ".join(known) or "none"]
            yield f"house_way_ranks: there is no {name}; did you mean {near[0]}? {clauses}"
        elif len(rank) != 1 or rank not in RANKS:
            yield f"house_way_ranks: {name} = {rank} is not a rank; ranks are {' '.join(RANKS)}"


# --- limits -----------------------------------------------------------------------------------------------------------


def _limits(edition: Edition, stated: Submission, raw: Mapping[str, Any]) -> Iterator[str]:
    boxes = edition.adjacent_boxes
    most = edition.seats.most if boxes.most is None else boxes.most
    if boxes.must_state and "adjacent_boxes" not in raw:
        yield f"adjacent_boxes must be stated {_cite(boxes.clause)}"
    if not 1 <= stated.adjacent_boxes <= most:
        yield f"adjacent_boxes = {stated.adjacent_boxes} must be 1 to {most} {_cite(boxes.clause)}"
    yield from limit_problems(edition, stated)
    if stated.face_check_rounds is not None and stated.face_check_rounds < 1:
        yield f"face_check_rounds = {stated.face_check_rounds} must be at least 1 {_cite(edition.cards.clause)}"
    limit = edition.payout_limit
    if stated.payout_limit_cents is None:
        return
    if limit is None:
        yield f"payout_limit_cents: {edition.title} allows no limit (X9)"
        return
    missing = [name for name in _played(edition, stated) if name not in stated.least_wagers_cents]
    if missing:
        yield f"a payout limit needs least_wagers_cents of {', '.join(missing)} {_cite(limit.clause)}"
        return
    floor = max(limit.floor_cents, _best_win(edition, stated))
    if stated.payout_limit_cents < floor:
        yield f"payout_limit_cents = {stated.payout_limit_cents} must be at least {floor} {_cite(limit.clause, 'X9')}"


# What a sign shows instead of the layout, with the duty that orders it.
_POSTED: Final = {"odds": "odds_posted", "payout_limit": "limit_posted", "special_rules": "inscriptions"}


def _signage(edition: Edition, stated: Submission) -> Iterator[str]:
    """Check what a sign replaces on the layout."""
    for name in dict.fromkeys(stated.posted_on_sign):
        clauses = duty_clauses(edition.game, _POSTED[name])
        what = name.replace("_", " ")
        if not clauses:
            yield f"posted_on_sign: {edition.title} orders no inscription of its {what} ({edition.chapter}.2(b))"
        elif name == "special_rules":
            yield f"posted_on_sign: the {what} are inscribed on the layout, and no sign replaces them {_cite(*clauses)}"
        elif name == "payout_limit" and stated.payout_limit_cents is None:
            yield f"posted_on_sign: there is no payout_limit_cents to post {_cite(*clauses)}"


def _played(edition: Edition, stated: Submission) -> list[str]:
    """Return the wagers that a player may place: the required ones and the offered options."""
    return [wager.name for wager in edition.wagers if not wager.option or wager.name in stated.wagers]


def _best_win(edition: Edition, stated: Submission) -> int:
    """Return the most cents that one player could win in a round at the minimum wagers, on all allowed boxes."""
    tables = {table.id: table for table in paytables(edition.game)}
    total = 0
    for name in _played(edition, stated):
        wager = edition.wager(name)
        assert wager is not None
        # Wrong tables are reported elsewhere; the best of the valid ones counts here.
        lines = [
            line for table in wager.tables if stated.paytables.get(name, table) == table for line in tables[table].lines
        ]
        odds = [pay.odds for line in lines for pay in (line.pay, line.natural, line.with_wild) if pay and pay.odds]
        total += max((stated.least_wagers_cents[name] * won // per for won, per in odds), default=0)
    return total * stated.adjacent_boxes


def _completed(edition: Edition, stated: Submission) -> Submission:
    """Fill in single paytables, default settings and warnings; make the mappings read-only."""
    tables = {wager.name: wager.tables[0] for wager in edition.wagers if wager.name in _played(edition, stated)}
    tables |= stated.paytables
    settings = {
        setting.name: setting.default
        for setting in edition.settings
        if setting.default is not None and (setting.needs is None or setting.needs in stated.wagers)
    }
    warnings = tuple(
        f"{each.table}: {each.meaning} ({each.reading})" for each in edition.warnings if each.table in tables.values()
    )
    policy = house_way_of(stated)
    return msgspec.structs.replace(
        stated,
        house_way=None if policy is None else policy.table.name,
        paytables=MappingProxyType(tables),
        settings=MappingProxyType(settings | dict(stated.settings)),
        least_wagers_cents=MappingProxyType(dict(stated.least_wagers_cents)),
        most_wagers_cents=MappingProxyType(dict(stated.most_wagers_cents)),
        warnings=warnings,
    )
