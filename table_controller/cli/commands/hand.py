"""`pitbox hand`: prints the rank of a hand and what a wager on it pays, by line and clause of the rulebook."""

from __future__ import annotations

import io
import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import msgspec

from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import BadHand, PitboxError, UsageError
from table_controller import rulebook
from table_controller.cli import OK, USAGE
from table_controller.rulebook import GAMES
from table_controller.rulebook.settlement.appraise_hand import Appraisal, AppraisalRequest, appraise_hand

if TYPE_CHECKING:
    import argparse

    from table_controller.cli.render.screen import Screen
    from table_controller.rulebook.settlement.dealt_round import WagerResult

HELP = "print the rank of a hand and what a wager on it pays"
EXAMPLE = 'pitbox hand face_up_pai_gow "As Ks Qs Js Ts Kd Qd" --wager progressive --paytable 4'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("game", nargs="?", help=f"one of {', '.join(GAMES)}, or a chapter such as 688a")
    parser.add_argument("cards", nargs="?", help='such as "As Td 9h Jk"; a | between cards shows how the hand was set')
    parser.add_argument("--wager", metavar="W", help="the wager to settle, such as progressive")
    parser.add_argument(
        "--paytable", metavar="N", help="one paytable of the wager, such as 4 or DJWT-04 (default: every one)"
    )
    parser.add_argument("--dealer", metavar="CARDS", help="the dealer's cards, if the wager depends on them")
    parser.add_argument("--replacement", metavar="CARD", help="the card that replaces a joker in DJ Wild's progressive")
    parser.add_argument("--bet", metavar="DOLLARS", help="the wager's amount (default: the paytable's unit, or 5)")
    parser.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], help="a setting of the Rules Submission; repeatable"
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print data; without CARDS, read hands from standard input, one a line: cards, or an object "
        "with game, cards, wager, paytable, dealer, replacement, bet_cents, settings",
    )


def run(args: argparse.Namespace) -> int:
    """Appraise one hand, or those of standard input."""
    if args.json and args.cards is None:
        return _stream(args)
    if args.game is None or args.cards is None:
        raise UsageError(f"name a game and its cards, for example: {EXAMPLE}")
    answer = appraise_hand(_ask(args, args.cards))
    if args.json:
        _print_line(answer)
    else:
        _show(answer)
    return OK


def _ask(args: argparse.Namespace, cards: str) -> AppraisalRequest:
    return AppraisalRequest(
        game=game_of(args.game), cards=cards, wager=args.wager, paytable=args.paytable, dealer=args.dealer,
        replacement=args.replacement, bet_cents=None if args.bet is None else _cents(args.bet),
        settings=dict(_pair(text) for text in args.set),
    )  # fmt: skip


def game_of(word: str | None) -> str:
    """Return a game by its name or its chapter."""
    if word is None:
        raise BadHand("name a game, on the command line or in the line itself")
    by_name = {name: game for game in GAMES for name in (game, rulebook.edition(game).chapter)}
    if word not in by_name:
        near = get_close_matches(word, by_name, 3, 0.5) or list(by_name)
        raise UsageError(f"there is no game {word} (nearest: {', '.join(near)})")
    return by_name[word]


def _cents(text: str) -> int:
    """Return dollars, with or without cents, as cents."""
    whole, point, part = text.removeprefix("$").partition(".")
    if not whole.isdecimal() or (point and not (part.isdecimal() and len(part) == 2)):
        raise BadHand(f"{text!r} is not an amount; write 5 or 2.50")
    return int(whole) * 100 + int(part or 0)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--set {text}: write NAME=VALUE")
    return name, value


# --- one hand a line --------------------------------------------------------------------------------------------------


def _stream(args: argparse.Namespace) -> int:
    """Answer every line with a line, a bad line with its error; the exit code is 2 if a line was bad."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # bad bytes are an error of one line, not of all
    failed = False
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            _print_line(appraise_hand(_parse_line(args, line.strip())))
        except PitboxError as error:
            failed = True
            _print_line({"error": {"code": error.code, "message": str(error)}})
    return USAGE if failed else OK


def _parse_line(args: argparse.Namespace, line: str) -> AppraisalRequest:
    if not line.startswith("{"):
        return _ask(args, line)
    try:
        ask = msgspec.json.decode(line, type=AppraisalRequest)
    except UNDECODABLE as error:
        raise BadHand(f"not a hand: {error}") from error
    return msgspec.structs.replace(ask, game=game_of(ask.game))


def _print_line(value: Any) -> None:
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
    sys.stdout.flush()  # a program that sends line by line waits for it


# --- for people -------------------------------------------------------------------------------------------------------


def _show(answer: Appraisal) -> None:
    from table_controller.cli.render.screen import Screen

    edition = rulebook.edition(answer.game)
    rows = [("game", f"{edition.title} ({edition.chapter})"), ("cards", answer.cards), ("hand", answer.hand)]
    rows += [("holds", ", ".join(answer.holds).replace("_", " "))] if answer.holds else []
    rows += [("set" if place == 0 else "", f"{each.cards}  {each.hand}") for place, each in enumerate(answer.setting)]
    if answer.foul:
        rows.append(("foul", f"{answer.foul}: {rulebook.clause(answer.foul).duty}"))
    with Screen() as screen:
        screen.table([*rows])
        if answer.results:
            screen.line()
            _show_results(screen, answer.results)
        if answer.assumed:
            screen.line(f"\nAssumed; the Rules Submission must state it (--set): {', '.join(answer.assumed)}")


def _show_results(screen: Screen, results: tuple[WagerResult, ...]) -> None:
    """Print one wager by one paytable or by several."""
    first = results[0]
    heads = ("paytable", "line", "outcome")
    screen.line(f"{first.wager}, {_dollars(first.wager_cents)}, ranked as {first.hand}")
    screen.table(
        [(each.table or "", each.line or "no line", f"{each.outcome}{_pays(each)}") for each in results], heads
    )
    screen.line()
    clauses = dict.fromkeys(name for each in results for name in each.clauses)
    readings = dict.fromkeys(name for each in results for name in each.see)
    screen.table(
        [
            *((name, rulebook.clause(name).duty) for name in clauses),
            *((name, rulebook.reading(name).title) for name in readings),
        ]
    )


def _pays(result: WagerResult) -> str:
    if result.outcome != "wins":
        return ""
    parts = [_dollars(result.paid_cents)] if result.paid_cents else []
    parts += [f"{result.meter_percent} % of the meter"] if result.meter_percent else []
    stake = "the wager is returned as well" if result.back_cents else "the wager is not returned"
    return f" {' and '.join(parts)}; {stake}"


def _dollars(cents: int) -> str:
    return f"${cents // 100:,}.{cents % 100:02d}"
