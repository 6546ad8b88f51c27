"""What the code of a game provides, found by the game's name: `games/<game>/rules.py` defines RULES."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from firmware_bridge.errors import BadRulebook
from table_controller.rulebook.registry import CHAPTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import ModuleType

    from table_controller.rulebook.cards import Card
    from table_controller.rulebook.house_ways.choose import HouseWay
    from table_controller.rulebook.posting.parts import PostedRule
    from table_controller.rulebook.settlement.dealt_round import (
        DealtRound,
        HandSetting,
        Need,
        Seat,
        SetHand,
        WagerVerdict,
    )
    from table_controller.rulebook.settlement.terms import SettlementTerms
    from table_controller.rulebook.texts import PaytableLine

T = TypeVar("T")


def _nothing(*_: object) -> None:
    """Object to nothing."""


def _no_features(_: Sequence[Card]) -> tuple[str, ...]:
    return ()


def _no_envy(_terms: SettlementTerms, _played: DealtRound, _seats: Sequence[Seat]) -> Iterator[WagerVerdict]:
    return iter(())


def _no_needs(_terms: SettlementTerms, _played: DealtRound, _seat: Seat) -> Iterator[tuple[str, Need]]:
    return iter(())


def _never(_terms: SettlementTerms, _played: DealtRound, _seat: Seat) -> bool:
    return False


def _printed_lines(terms: SettlementTerms, wager: str) -> Sequence[PaytableLine]:
    return terms.table(wager).lines


def _no_rules(_: SettlementTerms) -> Iterator[PostedRule]:
    return iter(())


class GameRules(NamedTuple):
    """How a game's hands and wagers are judged. A game without split hands needs the first three only."""

    # What the rules decide about one wager of a seat that plays or gave up; everything that it needs is known.
    settle_wager: Callable[[SettlementTerms, DealtRound, Seat, str], WagerVerdict]
    # What a wager of a seat that plays or gave up depends on.
    needs: Callable[[SettlementTerms, DealtRound, Seat, str], Sequence[Need]]
    # The best hand of some cards, in words.
    describe: Callable[[Sequence[Card]], str]
    # The features that a paytable may pay, in the paytables' words.
    features: Callable[[Sequence[Card]], tuple[str, ...]] = _no_features
    # The house ways by which the dealer sets hands, the default first.
    house_ways: Mapping[str, HouseWay] = {}
    # The hands of a setting, with their ranks in words.
    show_setting: Callable[[HandSetting], tuple[SetHand, ...]] | None = None
    # The clause by which a setting is foul; None if it is not.
    foul_clause: Callable[[HandSetting], str | None] = _nothing
    # Why the sizes of set hands are impossible; None if they are possible, though perhaps foul.
    setting_objection: Callable[[HandSetting], str | None] = _nothing
    # Why the cards of a seat cannot be settled; None if they can.
    seat_objection: Callable[[SettlementTerms, DealtRound, Seat], str | None] = _nothing
    # Whether the cards of a seat that gave up still matter.
    matters_after_giving_up: Callable[[SettlementTerms, DealtRound, Seat], bool] = _never
    # The wagers that are collected from all who gave up before any hand is settled.
    collected_first: tuple[str, ...] = ()
    # The wagers of a whole hand that are settled although the round is void.
    settled_in_void_round: tuple[str, ...] = ()
    # The envy bonuses of the seats that play or gave up that are certain by what is known, in order.
    envy: Callable[[SettlementTerms, DealtRound, Sequence[Seat]], Iterator[WagerVerdict]] = _no_envy
    # What envy of the round depends on at a seat, with the wager whose column pays it.
    envy_needs: Callable[[SettlementTerms, DealtRound, Seat], Iterator[tuple[str, Need]]] = _no_needs
    # The lines of a wager's paytable that are paid at this table, from the top.
    paid_lines: Callable[[SettlementTerms, str], Sequence[PaytableLine]] = _printed_lines
    # The special rules that a posting shows, apart from odds, payout limit and surrender.
    posted_rules: Callable[[SettlementTerms], Iterator[PostedRule]] = _no_rules


@cache
def game_rules(game: str) -> GameRules:
    """Return how a game's hands and wagers are judged; BadRulebook if its folder does not define it."""
    return provided(game, lambda: import_module(f"table_controller.rulebook.games.{game}.rules"), "RULES", GameRules)


def provided(game: str, load: Callable[[], ModuleType], name: str, kind: type[T]) -> T:
    """Return what a module in a game's folder defines by a name; KeyError for an unknown game."""
    chapter = CHAPTERS[game]
    try:
        module = load()
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith(__package__):
            raise
        raise BadRulebook(f"chapter {chapter} has no code: {error.name.replace('.', '/')}.py is missing") from error
    defined: Any = getattr(module, name, None)
    if not isinstance(defined, kind):
        raise BadRulebook(f"{module.__name__} must define {name}, a {kind.__name__}")
    return defined
