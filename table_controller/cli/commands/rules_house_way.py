"""`pitbox rules house-way`: prints the rules by which the dealer sets hands, or how they set one hand and why."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from firmware_bridge.errors import BadHouseWay, ConfigurationError, UsageError
from table_controller import rulebook
from table_controller.cli import OK
from table_controller.cli.commands.hand import game_of
from table_controller.rulebook.cards import format_cards, parse_hand
from table_controller.rulebook.duties import duty_clauses
from table_controller.rulebook.game_rules import game_rules
from table_controller.rulebook.house_ways.loader import house_way_text
from table_controller.rulebook.house_ways.table import AS_PRINTED, decode
from table_controller.rulebook.settlement.dealt_round import SetHand
from table_controller.rulebook.submission import house_way_of, prove_house_way

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from table_controller.rulebook.house_ways.choose import HouseWay
    from table_controller.rulebook.house_ways.table import Rule


class ShownRule(msgspec.Struct, frozen=True, omit_defaults=True):
    """One rule of a house way in words."""

    rule: int
    when: str
    sets: str
    reason: str


class ShownSetting(msgspec.Struct, frozen=True):
    """One hand as a house way sets it."""

    house_way: str
    cards: str
    hands: tuple[SetHand, ...]
    rule: int
    reason: str
    clauses: tuple[str, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("game", help="a game whose dealer sets hands, or its chapter, such as 688a")
    parser.add_argument("cards", nargs="?", help='the cards to set, such as "9d 9h 4d 4h As 5c 3s"')
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--table", type=Path, metavar="FILE", help="check a table of your own, and use it")
    source.add_argument("--config", type=Path, metavar="FILE", help="use table and ranks of this table.toml")
    source.add_argument(
        "--toml", action="store_true", help="print the edition's table as a file to begin your own from"
    )


def run(args: argparse.Namespace) -> int:
    """Print the rules, or one hand as they set it."""
    game = game_of(args.game)
    edition = rulebook.edition(game)
    if not game_rules(game).house_ways:
        raise UsageError(f"in {edition.title} the dealer sets no hands")
    if args.toml:
        sys.stdout.write(house_way_text(game))
        return OK
    policy, chosen = _house_way(game, args)
    if args.cards is None:
        rules = tuple(_shown_rule(policy, rule) for rule in policy.table.rules)
        ranks = {**policy.ranks, **chosen}
        if args.json:
            _print_json({"game": game, "house_way": policy.table.name, "ranks": ranks, "rules": rules})
        else:
            _print_rules(policy, ranks, rules)
        return OK
    cards = parse_hand(args.cards, edition.hand.cards, jokers=edition.cards.jokers)
    shown = _shown_setting(game, policy, chosen, cards)
    if args.json:
        _print_json(shown)
    else:
        _print_setting(shown)
    return OK


def _house_way(game: str, args: argparse.Namespace) -> tuple[HouseWay, Mapping[str, str]]:
    """Return the house way that was asked for, with the chosen ranks."""
    if args.table is not None:
        return _own_house_way(game, args.table), AS_PRINTED
    if args.config is None:
        return next(iter(game_rules(game).house_ways.values())), AS_PRINTED
    from table_controller.config import load_config

    config = load_config(args.config)
    if config.game != game:
        raise UsageError(f"{args.config} is a table of {config.game}")
    policy = house_way_of(config.submission)
    assert policy is not None
    return policy, config.submission.house_way_ranks


def _own_house_way(game: str, file: Path) -> HouseWay:
    try:
        policy = prove_house_way(game, decode(file.read_bytes()))
    except OSError as error:
        raise ConfigurationError(f"{file}: {error.strerror}") from error
    except BadHouseWay as error:
        raise BadHouseWay(tuple(f"{file}: {objection}" for objection in error.objections)) from error
    assert policy is not None
    return policy


# --- words ------------------------------------------------------------------------------------------------------------


def _shown_rule(policy: HouseWay, rule: Rule) -> ShownRule:
    when = [" or ".join(rule.cards)] if rule.cards else []
    when += [f"{word} is {ranks}" for word, ranks in rule.ranks.items()]
    when += [] if rule.joker is None else ["with the joker" if rule.joker else "without the joker"]
    when += ["where possible"] if rule.where_possible else []
    sets = [
        f"{hand}: {' or '.join(each.text for each in constraints)}"
        for hand, constraints in zip(policy.form.hands, rule.constraints, strict=True)
        if constraints
    ]
    return ShownRule(rule.number, "; ".join(when) or "every other hand", "; ".join(sets) or "any", rule.reason)


def _shown_setting(game: str, policy: HouseWay, chosen: Mapping[str, str], cards: tuple[int, ...]) -> ShownSetting:
    done = policy.explain(cards, chosen)
    show = game_rules(game).show_setting
    assert show is not None
    return ShownSetting(
        policy.table.name,
        format_cards(cards),
        show(done.hands),
        done.rule,
        done.reason,
        duty_clauses(game, "house_way"),
    )


def _print_json(value: object) -> None:
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def _print_rules(policy: HouseWay, ranks: Mapping[str, str], rules: tuple[ShownRule, ...]) -> None:
    from table_controller.cli.render.screen import Screen

    with Screen() as screen:
        screen.line(f"{policy.table.name}: the first rule that fits sets the hand")
        screen.table(
            [(str(each.rule), each.when, each.sets, each.reason) for each in rules], ("rule", "when", "sets", "reason")
        )
        if ranks:
            screen.line(f"\nRanks (house_way_ranks): {', '.join(f'{name} = {rank}' for name, rank in ranks.items())}")


def _print_setting(shown: ShownSetting) -> None:
    from table_controller.cli.render.screen import Screen

    rows = [("cards", shown.cards)]
    rows += [("set" if place == 0 else "", f"{each.cards}  {each.hand}") for place, each in enumerate(shown.hands)]
    rows += [("rule", f"{shown.rule} of {shown.house_way}"), ("reason", shown.reason)]
    rows += [("clause", ", ".join(shown.clauses))] if shown.clauses else []
    with Screen() as screen:
        screen.table([*rows])
