"""Every choice of the Rules Submission has an effect: another value plays, or settles, another round.

A key without a case here, or a case without an effect, fails. A key that can have no effect is explained.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_type_hints

import pytest

from firmware_bridge.errors import BadHand
from table_controller import rulebook
from table_controller.rulebook import GAMES, Submission
from table_controller.rulebook.cards import parse_cards
from table_controller.rulebook.house_ways.loader import house_way_text
from table_controller.rulebook.settlement.dealt_round import DealtRound
from table_controller.rulebook.settlement.round_settlement import settle
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import (
    Command,
    Finding,
    HitClaimed,
    Prompt,
    RequestRefused,
    WagerSettled,
    WagersReturned,
)
from table_controller.table.view import ODDS
from tests.support.core.ideal_table import DEALER, FLOOR, NO_MACHINES, WILD_PROGRESSIVE, IdealTable
from tests.support.core.settled_rounds import choices_with, seat, terms
from tests.support.core.two_games import ALL_WAGERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ASIA: Final = "asia_poker"
SAIGON: Final = "saigon_5_card"
UNDER: Final = "over_under"
WILD: Final = "dj_wild"
PAI_GOW: Final = "face_up_pai_gow"

# Keys that no value changes in play, each with the reason.
EXPLAINED: Final = {
    "game": "names the edition; a submission of another game is refused",
    "edition": "the digest of the edition; a submission of another edition is refused",
    "warnings": "computed, not stated",
    "approved_procedure": "names the approval on which `reshuffles` rests; without it `reshuffles` is refused",
    "settings": "each setting has its own case",
    "house_way": "the name of the edition's house way or of the certificate holder's own table; another is refused",
    "settings.envy_paid_to": "has one lawful value (W10); the progressive is refused until it is stated",
}


class Case(NamedTuple):
    """Two tables that differ in one key, and what is compared of them."""

    game: str
    base: dict[str, Any]
    other: dict[str, Any]
    shows: Callable[[str, dict[str, Any]], Any]


# --- what is compared -------------------------------------------------------------------------------------------------


def _acts(table: IdealTable) -> Iterator[Any]:
    """What people and machines notice of a table: orders, questions, refusals, findings, returned wagers."""
    for _, decided in table.log:
        for each in decided:
            if isinstance(each, Command):
                yield each.act, each.slot, each.number
            elif isinstance(each, Prompt):
                yield each.kind, each.role, each.choices, each.seat, each.number, each.seats, each.evidence
            elif isinstance(each, RequestRefused):
                yield each.what, [reason.key for reason in each.reasons]
            elif isinstance(each, Finding):
                yield each.kind, each.text
            elif isinstance(each, WagersReturned):
                yield each.settled, each.seat, each.kept


def opened(game: str, raw: dict[str, Any], *decks: str) -> IdealTable:
    table = IdealTable(game, **raw)
    two = raw.get("two_decks", table.table.context.submission.two_decks)
    return table.start(*(decks or (("blue", "red") if two else ("blue",))))


def round_of(game: str, raw: dict[str, Any]) -> list[Any]:
    """Play a round with bets and side wagers of all kinds."""
    table = opened(game, raw)
    table.bets = {1, 3}
    table.side = {wager.name: (1, 6) for wager in table.edition.wagers if wager.option}
    table.round()
    return list(_acts(table))


def settled(cards: str, dealer: str, /, **wagers: int) -> Callable[[str, dict[str, Any]], Any]:
    """Settle one seat by the terms that live play uses."""

    def shows(game: str, raw: dict[str, Any]) -> Any:
        at = terms(game, **raw)
        return settle(at, DealtRound(seats=(seat(1, cards, **wagers),), dealer=parse_cards(dealer)))

    return shows


def settled_in_play(cards: str, dealer: str, /, **wagers: int) -> Callable[[str, dict[str, Any]], Any]:
    """Play a round of one seat at a live table, enter its cards, and return how each wager was settled.

    A progressive bet is placed at the sensor, and its winning hand is claimed.
    """

    def shows(game: str, raw: dict[str, Any]) -> Any:
        table = opened(game, choices_with(game, **raw))
        table.seats, table.bets = (1,), {1} if "progressive" in wagers else set()
        table.side = dict.fromkeys(wagers, (1,))
        table.override = lambda each: [] if isinstance(each, Prompt) and each.kind.partition("/")[0] in _LEFT else None
        optional = {each.name for each in table.edition.wagers if each.option}
        table.play(ev.OpenRound(DEALER))
        _enter_amounts(table, wagers, optional - {"progressive"})
        table.play(ev.NoMoreBets(DEALER))
        _enter_amounts(table, wagers, wagers.keys() - optional - {"raise"})
        while table.prompts("start_game"):
            table.answer_prompt("start_game")
            table.settle()
        _enter_amounts(table, wagers, {"raise"})
        table.step(ev.HandEntered(0, dealer, DEALER))
        table.step(ev.HandEntered(1, cards.replace("|", ""), DEALER))
        if "|" in cards:
            table.step(ev.SettingEntered(1, cards, DEALER))
        for _ in range(20):
            if not table.prompts() or table.phase == mc.IDLE:
                break
            asked = table.prompts()[0]
            table.answer_prompt(asked.kind, "three_of_a_kind" if asked.kind == "progressive" else asked.choices[0])
            table.settle()
        ended = [each for _, them in table.log for each in them if isinstance(each, _ENDS)]
        assert [each for each in ended if isinstance(each, WagerSettled)], "the box settled no wager"
        return ended

    return shows


# What is left to the one who enters the cards, and what shows how the wagers ended.
_LEFT: Final = ("start_game", "settled", "side_settled", "dealer_set", "progressive")
_ENDS: Final = WagerSettled | RequestRefused | HitClaimed | Finding


def _enter_amounts(table: IdealTable, wagers: dict[str, int], names: Iterable[str]) -> None:
    """Enter amounts: optional wagers before no more bets, main wagers with their seats, a raise when it is made."""
    for name in wagers.keys() & set(names):
        table.step(ev.AmountEntered(name, 1, wagers[name], DEALER))


def house_way(game: str, raw: dict[str, Any]) -> Any:
    """A player at a live table asks the dealer to set a hand with four of a kind."""
    table = opened(game, raw)
    table.seats = (1,)
    table.override = lambda each: [] if isinstance(each, Prompt) and each.kind in ("settled", "dealer_set") else None
    table.play(ev.OpenRound(DEALER))
    table.play(ev.NoMoreBets(DEALER))
    table.step(ev.HandEntered(1, "8s 8h 8d 8c Qs Jd 9h", DEALER))
    table.step(ev.HouseWayAsked(1, DEALER))
    setting = table.round_.hands[1].setting
    assert setting is not None, "the house way is not asked for, or not known"
    return setting


def _seats_answered(*seats: int) -> Callable[[str, dict[str, Any]], Any]:
    def shows(game: str, raw: dict[str, Any]) -> Any:
        table = opened(game, raw)
        table.round()
        table.override = lambda each: [] if isinstance(each, Prompt) and each.kind == "seats" else None
        table.round()
        table.answer_prompt("seats", seats=seats)
        return list(_acts(table))

    return shows


def two_rounds(game: str, raw: dict[str, Any]) -> Any:
    table = opened(game, raw)
    table.round()
    table.round()
    return list(_acts(table))


def discarded(game: str, raw: dict[str, Any]) -> Any:
    """A card lies face up in the deal and is discarded; three cards are left."""
    table = opened(game, raw)
    table.play_to(mc.DEALING).declare("face_up_card_first")
    table.clear_holds()
    table.override = lambda each: [] if isinstance(each, Prompt) and each.kind == "stub" else None
    table.settle()
    table.answer_prompt("stub", number=3)
    return list(_acts(table))


def counted_by_machine(game: str, raw: dict[str, Any]) -> Any:
    """Six rounds with a shuffler that counts, with any choice filed about it."""
    table = opened(game, raw)
    whole = table.edition.cards.count
    table.override = lambda each: (
        [ev.ShuffleEnded(each.slot, whole, shuffled=True), ev.CommandEnded(each.id, "done")]
        if isinstance(each, Command) and each.act == "shuffle"
        else None
    )
    for _ in range(6):
        table.round()
    return list(_acts(table))


def dead_hand(game: str, raw: dict[str, Any]) -> Any:
    """A player was passed over when the additional cards were dealt, and the hand is dead."""
    table = opened(game, raw)
    table.side = {"bonus": (3,)}
    table.play_to(mc.SETTLING)
    table.declare("additional_cards_missed", seat=3)
    while table.state.holds:
        for prompt in [each for each in table.prompts() if each.hold is not None]:
            choice = "dead" if "dead" in prompt.choices else prompt.choices[-1]
            table.step(ev.Answer(prompt.id, choice, FLOOR if prompt.role == "floorperson" else DEALER))
    return list(_acts(table))


def folded(game: str, raw: dict[str, Any]) -> Any:
    """Every player folds; some have a progressive bet."""
    table = opened(game, raw)
    table.bets = {1, 3}
    table.override = lambda each: (
        [ev.Answer(each.id, "fold", DEALER)] if isinstance(each, Prompt) and each.kind == "decide" else None
    )
    table.round()
    return list(_acts(table))


def boxes_of_one_player(game: str, raw: dict[str, Any]) -> Any:
    table = opened(game, raw)
    table.seats, table.boxes = (1, 2, 3), [(1, 2)]
    table.round()
    return list(_acts(table))


def odds_not_shown(game: str, raw: dict[str, Any]) -> Any:
    """The sign page shows no odds when the dealer opens a round."""
    table = opened(game, raw)
    table.step(ev.SignShown(ODDS, "stale"))
    table.step(ev.OpenRound(DEALER))
    return list(_acts(table))


def booked(game: str, raw: dict[str, Any]) -> Any:
    table = opened(game, raw)
    table.bets = {1, 3}
    table.round()
    return table.state.money.book.held


# --- the cases --------------------------------------------------------------------------------------------------------

_MAIN: Final = {ASIA: "asia_poker", PAI_GOW: "face_up_pai_gow_poker"}
_LIMIT: Final = {"least_wagers_cents": {"asia_poker": 500, "bonus": 100}}
_BATCH: Final = {"dealing": "dealing_shoe", "shuffler": "batch", "shuffler_counts": True, "two_decks": True}
_SHOE: Final = {"dealing": "manual_shoe", "two_decks": False}
_FORTUNE: Final = {"wagers": ["fortune"], "paytables": {"fortune": "688a-fortune-1"}}
_WILD: Final = dict(WILD_PROGRESSIVE)

OWN_TABLE: Final = (
    house_way_text(PAI_GOW).replace("standard_5_2", "own").replace('fours_kept_to = "6"', 'fours_kept_to = "8"')
)
CASES: Final[dict[str, Case]] = {
    "dealing": Case(SAIGON, {}, {"dealing": "manual_shoe"}, round_of),
    "start": Case(PAI_GOW, {"start": "shaker"}, {"start": "rng"}, round_of),
    "shuffler": Case(SAIGON, {"shuffler": "deck", "two_decks": False}, NO_MACHINES, round_of),
    "shuffler_counts": Case(SAIGON, _SHOE, {**_SHOE, "shuffler_counts": False}, counted_by_machine),
    "reshuffles": Case(UNDER, _BATCH, {**_BATCH, "reshuffles": True}, round_of),
    "inserts_into_shoe": Case(SAIGON, {}, {"inserts_into_shoe": True}, round_of),
    "two_decks": Case(SAIGON, {"two_decks": True}, {"two_decks": False}, round_of),
    "seats": Case(SAIGON, {"seats": 6}, {"seats": 5}, _seats_answered(6)),
    "wagers": Case(PAI_GOW, _FORTUNE, {"wagers": [], "paytables": {}}, round_of),
    "paytables": Case(
        PAI_GOW, {}, {"paytables": {"fortune": "688a-fortune-2"}},
        settled_in_play("As Ah 2d 9h 5s | 2c 5d", "Ks Kh 9d 7c 4s Qd Jc", face_up_pai_gow_poker=500, fortune=500),
    ),
    "progressive_rate_bp": Case(WILD, _WILD, {**_WILD, "progressive_rate_bp": 2000}, booked),
    "payout_limit_cents": Case(
        ASIA, _LIMIT, {**_LIMIT, "payout_limit_cents": 5_000_000},
        settled_in_play("8s 8h 8d 8c | As Ad | Ah", "Ks Qh 9d 7c 4s 3d 2c", asia_poker=10_000_000, bonus=1_000_000),
    ),
    "least_wagers_cents": Case(PAI_GOW, _FORTUNE, {**_FORTUNE, "least_wagers_cents": {"fortune": 500}}, round_of),
    "most_wagers_cents": Case(PAI_GOW, _FORTUNE, {**_FORTUNE, "most_wagers_cents": {"fortune": 400}}, round_of),
    "adjacent_boxes": Case(ASIA, {"adjacent_boxes": 1}, {"adjacent_boxes": 2}, boxes_of_one_player),
    "mid_shoe_entry_ban": Case(UNDER, _BATCH, {**_BATCH, "mid_shoe_entry_ban": True}, _seats_answered(1, 2)),
    "face_check_rounds": Case(SAIGON, {}, {"face_check_rounds": 1}, two_rounds),
    "posted_on_sign": Case(SAIGON, {}, {"posted_on_sign": ["odds"]}, odds_not_shown),
    "start_marker": Case(ASIA, {}, {"start_marker": True}, round_of),
    "wheel_lowest_straight_flush": Case(
        ASIA, {}, {"wheel_lowest_straight_flush": True},
        settled_in_play("Ac 2c 3c 4c | 5s 5h | 2h", "Kh Qh Jh Th 3d 3s 2d", asia_poker=500),
    ),
    "wheel_lowest_straight": Case(
        ASIA, {}, {"wheel_lowest_straight": True},
        settled_in_play("Ac 2c 3c 4s | 5s 5h | 2h", "Kh Qd Jh Th 3d 3s 2d", asia_poker=500),
    ),
    "folded_progressive": Case(WILD, _WILD, {**_WILD, "folded_progressive": False}, folded),
    "house_way_table": Case(
        PAI_GOW, {}, {"house_way_table": OWN_TABLE},
        house_way,
    ),
    "house_way_ranks": Case(PAI_GOW, {}, {"house_way_ranks": {"fours_kept_to": "T"}}, house_way),
    "settings.bonus_lines": Case(
        ASIA, {}, {"settings": {"bonus_lines": "nine_high_or_better"}},
        settled_in_play("8s 8h 8d Kh | 9c 9s | Ad", "Ks Qh Td 7c 4s 3d 2c", asia_poker=500, bonus=200),
    ),
    "settings.discard_in_stub": Case(ASIA, _SHOE, {**_SHOE, "settings": {"discard_in_stub": "void"}}, discarded),
    "settings.dead_hand_returns": Case(
        UNDER, {"wagers": ["bonus"]}, {"wagers": ["bonus"], "settings": {"dead_hand_returns": "ante"}}, dead_hand
    ),
    "settings.bad_beat_pays": Case(
        WILD, {}, {"settings": {"bad_beat_pays": "either_hand"}},
        settled_in_play("As Ah Ad Ac Ks", "Qs Qh Qd Jc Jh", ante=500, blind=500, bad_beat=500, **{"raise": 1000}),
    ),
    "settings.progressive_wilds": Case(
        WILD, {}, {"settings": {"progressive_wilds": "twos"}},
        settled_in_play("9s 9h 2d 7s 4s", "Ks Qh 8d 6c 3h", ante=500, blind=500, progressive=100, **{"raise": 1000}),
    ),
    "settings.stake_returned": Case(
        WILD, {}, {"settings": {"stake_returned": "yes"}},
        settled("9s 9h 9d 7s 4s", "Ks Qh 8d 6c 3h", ante=500, blind=500, progressive=100, **{"raise": 1000}),
    ),
    "settings.settle_direction": Case(WILD, {}, {"settings": {"settle_direction": "far_left_clockwise"}}, round_of),
    "settings.blind_amount": Case(
        WILD, {}, {"settings": {"blind_amount": "equal_to_ante"}},
        settled_in_play("9s 9h 9d 7s 4s", "Ks Qh 8d 6c 3h", ante=500, blind=700, **{"raise": 1000}),
    ),
    "settings.envy_wagers": Case(PAI_GOW, ALL_WAGERS, {**ALL_WAGERS, "settings": {"envy_wagers": "fortune"}}, round_of),
}  # fmt: skip


def keys() -> set[str]:
    """Return every key of a Rules Submission, and every setting of every edition."""
    settings = {f"settings.{each.name}" for game in GAMES for each in rulebook.edition(game).settings}
    return set(get_type_hints(Submission)) | settings


def test_every_key_has_a_case_or_an_explanation() -> None:
    assert keys() == CASES.keys() | EXPLAINED.keys()
    assert not CASES.keys() & EXPLAINED.keys()


@pytest.mark.parametrize("key", CASES)
def test_another_value_plays_another_round(key: str) -> None:
    case = CASES[key]
    assert _result(case, case.base) != _result(case, case.other), f"{key} has no effect in play"


def _result(case: Case, raw: dict[str, Any]) -> Any:
    try:
        return case.shows(case.game, raw)
    except BadHand as error:
        return str(error)
