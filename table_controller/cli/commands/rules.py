"""`pitbox rules`: prints games, clauses with readings and rows, irregularities, the posting, diagrams of the core.

The data comes from the rulebook, the diagrams from the state machines themselves.
"""

from __future__ import annotations

import sys
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge.errors import ConfigurationError, UsageError
from table_controller import rulebook
from table_controller.cli import OK
from table_controller.cli.commands import rules_house_way
from table_controller.cli.subcommands import Subcommands, run
from table_controller.rulebook import GAMES, OUTCOMES, TRIGGERS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from table_controller.rulebook import Clause, ClauseReading, Edition, IrregularityRow, Submission

__all__ = ["EXAMPLE", "HELP", "add_arguments", "run"]

HELP = "print the rules: games, clauses, irregularities, house ways, the sign of a table, diagrams of state machines"
EXAMPLE = "pitbox rules show '688a.13(l)'"

# So many digits of a digest distinguish editions at a glance; --json has all.
_DIGITS: Final = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    command = Subcommands(parser, "rules").add
    games = command("games", "print the games and their editions", "games --json", _games)
    show = command("show", "print a clause, a whole section, or a reading", "show '688a.13(l)'", _show)
    show.add_argument("id", help="such as '688a.13(l)', 688a.13 or X7 (quote parentheses for the shell)")
    irregularities = command(
        "irregularities", "print what a game orders for each irregularity", "irregularities dj_wild", _irregularities
    )
    irregularities.add_argument("game", help=f"one of {', '.join(GAMES)}, or a chapter such as 688a")
    irregularities.add_argument("--trigger", help="only this trigger")
    diagram = command("diagram", "print a state machine of the table as Mermaid text", "diagram ROUND", _diagram)
    diagram.add_argument("machine", help="ROUND, DECK, PROGRESSIVE or SERVICE, in any case")
    posting = command(
        "posting", "print the sign of a table: wagers, odds, payout limit, special rules", "posting --html > sign.html",
        _posting,
    )  # fmt: skip
    posting.add_argument("game", nargs="?", help="the simplest lawful table of this game, instead of a table.toml")
    posting.add_argument("--config", type=Path, metavar="FILE", help="table.toml (default: /etc/pitbox/table.toml)")
    posting.add_argument("--html", action="store_true", help="print a page for a browser or a printer")
    house_way = command(
        "house-way", "print how the dealer sets hands: the rules in order, or how they set one hand and why",
        'house-way 688a "9d 9h 4d 4h As 5c 3s"', rules_house_way.run,
    )  # fmt: skip
    rules_house_way.add_arguments(house_way)
    for each in (games, show, irregularities, posting, house_way):
        each.add_argument("--json", action="store_true", help="print the data instead of a table")


def _print_json(value: Any) -> None:
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value, enc_hook=dict), indent=2).decode() + "\n")


def _print_table(rows: Sequence[tuple[str, ...]], heads: tuple[str, ...] = ()) -> None:
    from table_controller.cli.render.screen import Screen

    with Screen() as screen:
        screen.table(list(rows), heads)


def _known(word: str, known: list[str], what: str) -> ConfigurationError:
    near = get_close_matches(word, known, 3, 0.5)
    hint = f" (nearest: {', '.join(near)})" if near else f"; known are {', '.join(known)}" if len(known) < 30 else ""
    return ConfigurationError(f"there is no {what} {word}{hint}")


# --- games ------------------------------------------------------------------------------------------------------------


def _games(args: argparse.Namespace) -> int:
    editions = [rulebook.edition(game) for game in GAMES]
    names = ("game", "chapter", "title", "status", "dated", "digest")
    if args.json:
        _print_json([{name: getattr(edition, name) for name in names} for edition in editions])
    else:
        shown = [(e.game, e.chapter, e.title, f"{e.status}\n{e.dated}", e.digest[:_DIGITS]) for e in editions]
        _print_table(shown, ("game", "chapter", "title", "status", "digest"))
    return OK


def _edition_of(word: str) -> Edition:
    by_name = {name: rulebook.edition(game) for game in GAMES for name in (game, rulebook.edition(game).chapter)}
    if word not in by_name:
        raise _known(word, list(by_name), "game")
    return by_name[word]


# --- clauses and readings ---------------------------------------------------------------------------------------------


def _show(args: argparse.Namespace) -> int:
    reading = rulebook.readings().get(args.id)
    if reading is not None:
        _show_reading(reading, as_json=args.json)
        return OK
    clauses = _clauses_at(args.id)
    if args.json:
        shown = [
            {"clause": clause, "in_play": rulebook.enforcement(clause.id), "rows": _rows_of(edition, clause)}
            for edition, clause in clauses
        ]
        _print_json(shown)
        return OK
    if len(clauses) > 3:  # a whole section: a line each
        lines = [(clause.id, rulebook.enforcement(clause.id), clause.duty) for _, clause in clauses]
        _print_table(lines, ("clause", "in play", "duty"))
        return OK
    for number, (edition, clause) in enumerate(clauses):
        if number:
            print()
        _show_clause(edition, clause)
    return OK


def _clauses_at(id_: str) -> list[tuple[Edition, Clause]]:
    """Return the clause of an id, or all below it; if there is none, raise with the nearest clause above."""
    every = [(rulebook.edition(game), clause) for game in GAMES for clause in rulebook.clauses(game)]
    exact = [pair for pair in every if pair[1].id == id_]
    below = [pair for pair in every if pair[1].id.startswith((f"{id_}(", f"{id_}/", f"{id_}#", f"{id_}:"))]
    if exact or below:
        return exact or below
    ids = [clause.id for _, clause in every]
    parent = id_.rpartition("(")[0]
    while parent and parent not in ids:
        parent = parent.rpartition("(")[0]
    if parent:
        raise ConfigurationError(f"{id_} has no duty of its own (nearest: {parent})")
    raise _known(id_, [*ids, *rulebook.readings()], "clause or reading")


def _rows_of(edition: Edition, clause: Clause) -> list[IrregularityRow]:
    """Return the rows that cite a clause, and the rows that add to them."""
    carries = [row for row in edition.irregularities if clause.id in row.clauses]
    triggers = {row.trigger for row in carries}
    return carries + [row for row in edition.irregularities if row.adds and triggers & {row.trigger, *row.also}]


def _show_clause(edition: Edition, clause: Clause) -> None:
    words = rulebook.clause_vocabulary()
    triggers = {**words.trigger, **{str(trigger): meaning for trigger, meaning in TRIGGERS.items()}}
    rows = [
        (clause.id, f"{edition.title} ({edition.status}, {edition.dated})"),
        ("duty", clause.duty),
        ("kind", f"{clause.kind}: {words.kind[clause.kind]}"),
        ("when", f"{clause.trigger}: {triggers[clause.trigger]}"),
    ]
    rows += [("only if", _applies(clause))] if clause.applies_when else []
    word = rulebook.enforcement(clause.id)
    rows += [("in play", f"{word}: {rulebook.ENFORCEMENT[word]}")]
    rows += [("meant for", f"{clause.enforce}: {words.enforce[clause.enforce]}")]
    rows += [("devices", ", ".join(words.device[device] for device in clause.devices))] if clause.devices else []
    rows += [("orders", f"{outcome}: {OUTCOMES[outcome]}") for outcome in clause.outcome]
    for name in clause.see:
        reading = rulebook.reading(name)
        rows.append((f"reading {name}", f"{reading.title}. {reading.reading}"))
    for row in _rows_of(edition, clause):
        rows += [("", ""), *_row_lines(row)]
    _print_table(rows)


def _applies(clause: Clause) -> str:
    parts = [
        f"{name.removesuffix('_not')} is {'not ' if name.endswith('_not') else ''}{' or '.join(values)}"
        for name, values in clause.applies_when.items()
    ]
    return "; ".join(parts)


def _row_lines(row: IrregularityRow) -> list[tuple[str, str]]:
    lines = [
        ("row", row.id + (", added to the one that governs" if row.adds else "")),
        ("trigger", ", ".join((row.trigger, *row.also))),
        ("phases", phases_text(row)),
        ("conditions", conditions_text(row) or "none"),
        ("outcomes", ", ".join(row.outcomes) or "none of its own"),
        ("scope", row.scope),
        ("decides", row.decides + ("; the round stops until then" if row.stop else "")),
    ]
    lines += [("may answer", f"{choice.name}: {', '.join(choice.outcomes)}") for choice in row.choices]
    lines += [("acknowledges", f"{row.acknowledges}, with {', '.join(row.evidence)}")]
    lines += [("number", f"{number.name} = {number.value} ({number.at})") for number in row.numbers]
    return lines


def _show_reading(reading: ClauseReading, *, as_json: bool) -> None:
    cited = [clause.id for game in GAMES for clause in rulebook.clauses(game) if reading.id in clause.see]
    settings = [
        setting for game in GAMES for setting in rulebook.edition(game).settings if setting.reading == reading.id
    ]
    if as_json:
        _print_json({"reading": reading, "clauses": cited, "settings": settings})
        return
    rows = [(reading.id, reading.title), ("reading", reading.reading)]
    rows += [("ruling", "required before use; until then the default applies")] if reading.ruling else []
    for setting in settings:
        default = "no default: must be stated" if setting.default is None else f"default {setting.default}"
        rows.append(("setting", f"{setting.name} = {' or '.join(setting.values)} ({default}): {setting.meaning}"))
    rows += [("clauses", ", ".join(cited))] if cited else []
    _print_table(rows)


# --- irregularities ---------------------------------------------------------------------------------------------------


def _irregularities(args: argparse.Namespace) -> int:
    edition = _edition_of(args.game)
    if args.trigger is not None and args.trigger not in TRIGGERS:
        raise _known(args.trigger, list(TRIGGERS), "trigger")
    rows = [row for row in in_precedence(edition) if args.trigger is None or args.trigger in (row.trigger, *row.also)]
    if args.json:
        _print_json(rows)
        return OK
    if rows:
        _print_table([_row_cells(row) for row in rows], ("row", "when", "orders", "who"))
        print()
    print("In every other case: play stops, the floorperson decides, and the journal keeps the decision (rule 2).")
    return OK


def in_precedence(edition: Edition) -> list[IrregularityRow]:
    """Return the rows in the order in which simultaneous triggers are handled."""
    return sorted(edition.irregularities, key=lambda row: (edition.precedence.index(row.trigger), row.order))


def _row_cells(row: IrregularityRow) -> tuple[str, ...]:
    when = [", ".join((row.trigger, *row.also)), phases_text(row), conditions_text(row)]
    return (
        "\n".join(row.clauses or (row.id,)),
        "\n".join(part for part in when if part),
        "\n".join((*(("in addition",) if row.adds else ()), *row.outcomes)),
        f"decides: {decides_text(row)}\nacknowledges: {row.acknowledges}, {', '.join(row.evidence)}",
    )


def decides_text(row: IrregularityRow) -> str:
    """Return who decides, and between what."""
    return row.decides + (f" ({' or '.join(choice.name for choice in row.choices)})" if row.choices else "")


def phases_text(row: IrregularityRow) -> str:
    """Return the phases of a row in words."""
    return row.from_phase if row.from_phase == row.until_phase else f"{row.from_phase} to {row.until_phase}"


def conditions_text(row: IrregularityRow) -> str:
    """Return the conditions of a row in words."""
    when = msgspec.to_builtins(row.when)
    over = when.pop("hand_deal_over", False)
    parts = [f"{name} {' or '.join(values)}" for name, values in when.items()]
    return "; ".join([*parts, *(["not while dealing from the hand"] if over else [])])


# --- the posting ------------------------------------------------------------------------------------------------------


def _posting(args: argparse.Namespace) -> int:
    from table_controller.rulebook.posting.build import build_posting
    from table_controller.rulebook.posting.render import posting_html, posting_text, style_sheet
    from table_controller.rulebook.settlement.terms import SettlementTerms

    table, edition, submission = _table_to_post(args)
    posting = build_posting(SettlementTerms(edition, submission))
    if args.json:
        _print_json({"number": posting.number, "table": table, "posting": posting})
    elif args.html:
        sys.stdout.write(posting_html(posting, table, f"<style>\n{style_sheet()}</style>"))
    else:
        sys.stdout.write(posting_text(posting))
    return OK


def _table_to_post(args: argparse.Namespace) -> tuple[str, Edition, Submission]:
    """Return the name, edition and Rules Submission of a table.toml, or of the simplest table of a game."""
    if args.game is not None and args.config is not None:
        raise UsageError("name a game or a table.toml, not both")
    if args.game is not None:
        edition = _edition_of(args.game)
        return "", edition, rulebook.default_submission(edition)
    from table_controller.config import default_path, load_config

    config = load_config(args.config or default_path())
    return config.name, config.edition, config.submission


# --- diagrams ---------------------------------------------------------------------------------------------------------


def _diagram(args: argparse.Namespace) -> int:
    from table_controller.table import diagrams  # imported only here: it loads the state machines

    if args.machine.upper() not in diagrams.NAMES:
        raise ConfigurationError(f"there is no machine {args.machine}; known are {', '.join(diagrams.NAMES)}")
    print(diagrams.draw_mermaid(args.machine))
    return OK
