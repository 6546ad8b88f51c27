"""Builds the posting of a table from its terms of settlement, so that no line differs from what is paid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.rulebook.game_rules import game_rules
from table_controller.rulebook.posting.parts import PostedLine, PostedRule, PostedWager, Posting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.rulebook.schema import Edition, Wager
    from table_controller.rulebook.settlement.terms import SettlementTerms
    from table_controller.rulebook.texts import Pay, PaytableLine

# The columns that a line may have, with their heads.
_COLUMNS: Final = {"pay": "Pays", "natural": "Natural", "with_wild": "With wild"}
_ENVY: Final = "Envy"
_NOTHING: Final = "n/a"
_LIMITS: Final = {
    "player_hand": "No more than {amount} is paid to a player on a single hand.",
    "player_round": "No more than {amount} is paid to a player in a round of play.",
}


def build_posting(terms: SettlementTerms) -> Posting:
    """Return the posting of a table with these terms."""
    edition = terms.edition
    return Posting(
        chapter=edition.chapter,
        title=edition.title,
        wagers=tuple(_wager(terms, wager) for wager in edition.wagers if terms.offers(wager.name)),
        limit=_limit(terms),
        rules=(*game_rules(edition.game).posted_rules(terms), *_surrender(terms)),
    )


# --- wagers -----------------------------------------------------------------------------------------------------------


def _wager(terms: SettlementTerms, wager: Wager) -> PostedWager:
    lines = game_rules(terms.edition.game).paid_lines(terms, wager.name)
    used = [name for name in _COLUMNS if any(getattr(line, name) is not None for line in lines)]
    envy = terms.pays_envy(wager.name) and any(line.envy_cents is not None for line in lines)
    return PostedWager(
        wager=wager.name,
        title=wager.title,
        clause=terms.table(wager.name).clauses[0],
        columns=(*(_COLUMNS[name] for name in used), *((_ENVY,) if envy else ())),
        lines=tuple(PostedLine(line.label, _pays(line, used, envy=envy)) for line in lines),
        notes=tuple(_notes(terms, wager)),
    )


def _pays(line: PaytableLine, columns: list[str], *, envy: bool) -> tuple[str, ...]:
    pays = [_NOTHING if pay is None else pay_text(pay) for pay in (getattr(line, name) for name in columns)]
    if envy:
        pays.append(_NOTHING if line.envy_cents is None else dollars(line.envy_cents))
    return tuple(pays)


def _notes(terms: SettlementTerms, wager: Wager) -> Iterator[str]:
    table = terms.table(wager.name)
    if wager.amount == "table_unit" and table.unit_cents is not None:
        yield f"The wager is {dollars(table.unit_cents)}."
    if not terms.returns_stake(wager.name):
        yield "A winning wager is not returned in addition to its pay."
    if table.fully_wild_joker:
        yield "The joker stands for any card."
    rules = terms.edition.envy
    if terms.pays_envy(wager.name) and any(line.envy_cents is not None for line in table.lines):
        least = "" if rules is None or rules.least_cents is None else f" of at least {dollars(rules.least_cents)}"
        yield f"A wager{least} is paid the envy bonus for the hand of each other player."


def pay_text(pay: Pay) -> str:
    """Return what a line pays, as on a layout."""
    if pay.push:
        return "Push"
    if pay.odds is not None:
        return f"{pay.odds[0]:,} to {pay.odds[1]:,}"
    parts = [] if pay.meter_percent is None else [f"{pay.meter_percent}% of meter"]
    parts += [] if pay.fixed_cents is None else [dollars(pay.fixed_cents)]
    return " + ".join(parts)


def dollars(cents: int) -> str:
    """Return an amount as on a layout: cents only where there are some."""
    whole, part = divmod(cents, 100)
    return f"${whole:,}.{part:02d}" if part else f"${whole:,}"


# --- limit and surrender ----------------------------------------------------------------------------------------------


def _limit(terms: SettlementTerms) -> PostedRule | None:
    rule, cents = terms.edition.payout_limit, terms.submission.payout_limit_cents
    if rule is None or cents is None:
        return None
    return PostedRule(_LIMITS[rule.scope].format(amount=dollars(cents)), rule.clause)


def _surrender(terms: SettlementTerms) -> Iterator[PostedRule]:
    rule = terms.edition.surrender
    if rule is None:
        return
    edition, offered = terms.edition, [wager for wager in terms.edition.wagers if terms.offers(wager.name)]
    lost = [wager.name for wager in offered if wager.name in rule.loses or _ends_with_fold(terms, wager.name)]
    barred = [wager.name for wager in offered if wager.name in rule.barred_by]
    stay = [wager.name for wager in offered if wager.option and wager.name not in (*lost, *barred)]
    yield PostedRule(f"A player who {rule.kind}s loses the {_titles(edition, lost)}.", rule.clause)
    if barred:
        yield PostedRule(f"A player with the {_titles(edition, barred, 'or')} may not {rule.kind}.", rule.clause)
    if stay:
        remain = "remains" if len(stay) == 1 else "remain"
        yield PostedRule(f"The {_titles(edition, stay)} of a player who {rule.kind}s {remain} in play.", rule.clause)


def _ends_with_fold(terms: SettlementTerms, wager: str) -> bool:
    """Whether a hand that folds loses its progressive bet, because the Rules Submission does not let it qualify."""
    rules = terms.edition.progressive
    chosen = rules is not None and rules.wager == wager and rules.fold_survival == "submission"
    return chosen and not terms.submission.folded_progressive


def _titles(edition: Edition, names: list[str], word: str = "and") -> str:
    titles = [wager.title for wager in edition.wagers if wager.name in names]
    return titles[0] if len(titles) == 1 else f"{', '.join(titles[:-1])} {word} {titles[-1]}"
