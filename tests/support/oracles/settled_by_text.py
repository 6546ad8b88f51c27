"""A second settlement of whole rounds: slow, written from the text and the printed paytables alone.

It shares no code with the product: cards are their notation, hands are ranked by `reference_hands`, and paytables are
read as TOML. Payout limits are not its subject.
"""

from __future__ import annotations

import tomllib
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support.oracles.reference_hands import (
    JOKER,
    ORDER_687A,
    ORDER_688A,
    VALUE,
    best_688a,
    five_687a,
    five_688a,
    four_575,
    held_features,
    named,
    natural_687a,
    two_cards,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Line = Mapping[str, Any]
    Hands = tuple[tuple[str, ...], ...]

DATA = Path(__file__).parents[3] / "table_controller" / "rulebook" / "data"
CHAPTERS = {
    "asia_poker": "575",
    "saigon_5_card": "680a",
    "over_under": "686a",
    "dj_wild": "687a",
    "face_up_pai_gow": "688a",
}


class PlayedBox(NamedTuple):
    """One box of a round: its cards, how they were set, its wagers in cents, and whether the player gave up."""

    number: int
    cards: tuple[str, ...]
    wagers: Mapping[str, int]
    hands: Hands = ()
    gave_up: bool = False


class Played(NamedTuple):
    """A whole round, and what the table offers: the id of each wager's paytable."""

    game: str
    boxes: tuple[PlayedBox, ...]
    tables: Mapping[str, str]
    dealer: tuple[str, ...] = ()
    dealer_hands: Hands = ()
    replacement: str | None = None  # the card in place of the joker (687a.11(f)(1))
    folded_progressive: bool = False


class End(NamedTuple):
    """How a wager ends, the line that pays it, what is paid in addition (cents), the share of the meter."""

    outcome: str
    line: str | None = None
    paid: int = 0
    percent: int = 0


LOSES = End("loses")
PUSHES = End("pushes")
# A wager of a box, or an envy bonus: box, wager, and the box whose hand is paid.
Key = tuple[int, str, int | None]


@cache
def _tables(game: str) -> dict[str, Mapping[str, Any]]:
    listed = tomllib.loads((DATA / CHAPTERS[game] / "paytables.toml").read_text("utf-8"))["paytables"]
    return {table["id"]: table for table in listed}


def _first(played: Played, wager: str, held: set[str]) -> Line | None:
    """The first printed line whose hand is held."""
    lines = _tables(played.game)[played.tables[wager]]["lines"]
    return next((line for line in lines if line["hand"] in held), None)


def _by(line: Line | None, cents: int, column: str = "pay") -> End:
    """The end of a wager by its line; without one it loses."""
    if line is None:
        return LOSES
    pay = line[column]
    if pay.get("push"):
        return End("pushes", line["label"])
    won, per = pay.get("odds", (0, 1))
    return End("wins", line["label"], cents * won // per + pay.get("fixed_cents", 0), pay.get("meter_percent", 0))


def settle_by_text(played: Played) -> dict[Key, End]:
    """Settle every wager of a round, and all envy."""
    ends: dict[Key, End] = {}
    for box in played.boxes:
        for wager, cents in box.wagers.items():
            ends[box.number, wager, None] = _SETTLED[played.game](played, box, wager, cents)
    ends.update(_envy(played))
    return ends


# --- 575 --------------------------------------------------------------------------------------------------------------


def _rank_575(hands: Hands) -> list[tuple[int, tuple[int, ...]]]:
    high, medium, (low,) = hands
    return [four_575(high), two_cards(medium), (0, (14 if low == JOKER else VALUE[low[0]],))]


def _asia(played: Played, box: PlayedBox, wager: str, cents: int) -> End:
    if wager == "bonus":  # 575.11(h), lines as printed (A3)
        held = held_features(box.cards, fully_wild=False)
        ranks = sorted((card[0] for card in box.cards), key=lambda rank: VALUE.get(rank, 0), reverse=True)
        if "".join(ranks) in ("9876432", "9875432"):
            held.add("nine_high")
        aces = ranks.count("A") + (JOKER in box.cards)
        if ranks.count("8") == 4 and (aces == 3 or any(ranks.count(rank) == 3 for rank in ranks)):
            held.add("four_8s_plus_three_of_a_kind")
        return _by(_first(played, wager, held), cents)
    if box.gave_up:  # 575.11(d)
        return LOSES
    own, other = _rank_575(box.hands), _rank_575(played.dealer_hands)
    if not own[0] > own[1] > own[2]:  # 575.11(f)(1)(iii), (iv)
        return LOSES
    higher = [mine > its for mine, its in zip(own, other, strict=True)]
    return _by(_first(played, wager, {"win"}), cents) if higher.count(True) >= 2 else LOSES


# --- 680a -------------------------------------------------------------------------------------------------------------


def _values(cards: Sequence[str]) -> set[int]:
    """The totals of some cards: an ace is 1, court cards are 10, the joker is 3, 6 or 9 (680a.6(a))."""
    worth = [(3, 6, 9) if card == JOKER else (1 if card[0] == "A" else min(VALUE[card[0]], 10),) for card in cards]
    return {sum(chosen) for chosen in product(*worth)}


def _shown(hands: Hands) -> int | None:
    """The Point Count; None if the hand does not qualify."""
    three, showdown = hands
    if not _values(three) & {10, 20, 30}:
        return None
    return max(total if total <= 10 else total - 10 for total in _values(showdown))


def _saigon(played: Played, box: PlayedBox, wager: str, cents: int) -> End:
    if wager == "bonus":
        return _by(_first(played, wager, held_features(box.cards, fully_wild=False)), cents)
    own, other = _shown(box.hands), _shown(played.dealer_hands)
    if own is None:  # 680a.11(d)(1)(i), (d)(2)(i)
        return PUSHES if other is None else LOSES
    if other is not None and own <= other:  # 680a.11(d)(2)(ii)(A), (C)
        return PUSHES if own == other else LOSES
    return _by(_first(played, wager, {"point_count_5" if own == 5 else "point_count_not_5"}), cents)


# --- 686a -------------------------------------------------------------------------------------------------------------


def _over_under(played: Played, box: PlayedBox, wager: str, cents: int) -> End:
    total = sum(11 if card[0] == "A" else min(VALUE[card[0]], 10) for card in box.cards)
    if wager == "bonus":  # 686a.7(k), also after a surrender (g)#2
        lines = _tables(played.game)[played.tables[wager]]["lines"]
        return _by(next((line for line in lines if total in line["totals"]), None), cents)
    if box.gave_up:
        return LOSES
    won = 24 <= total <= 33 if "over_23" in box.wagers else 6 <= total <= 17
    return _by(_first(played, wager, {"win"}), cents) if won else LOSES


# --- 687a -------------------------------------------------------------------------------------------------------------


def _class_687a(cards: Sequence[str]) -> str:
    return ORDER_687A[five_687a(cards)[0]].replace(" ", "_")


def _dj_wild(played: Played, box: PlayedBox, wager: str, cents: int) -> End:
    if wager == "progressive":
        if box.gave_up and not played.folded_progressive:  # 687a.11(b)(3), W21
            return LOSES
        return _by(_line_687a(played, box), cents)
    own = five_687a(box.cards)
    if wager == "trips":  # 687a.11(f)(2), also after a fold (b)(1)
        natural = natural_687a(box.cards) if JOKER not in box.cards else None
        column = "natural" if natural == ORDER_687A[own[0]] else "with_wild"
        return _by(_first(played, wager, {_class_687a(box.cards)}), cents, column)
    if box.gave_up:  # 687a.11(b), (b)(2)
        return LOSES
    dealer = five_687a(played.dealer)
    if wager == "bad_beat":  # 687a.11(f)(3), W15
        return _by(_first(played, wager, {_class_687a(box.cards)}), cents) if own < dealer else LOSES
    if own == dealer:
        return PUSHES
    held = {"win", _class_687a(box.cards)}
    if own[0] <= ORDER_687A.index("three of a kind"):
        held.add("three_of_a_kind_or_less")
    return _by(_first(played, wager, held), cents) if own > dealer else LOSES


def _line_687a(played: Played, box: PlayedBox) -> Line | None:
    """The progressive line of a hand: 2s are 2s (W8), and the replacement card takes the place of the joker."""
    cards = [played.replacement if card == JOKER else card for card in box.cards]
    return _first(played, "progressive", {named(card for card in cards if card)[0].replace(" ", "_")})


# --- 688a -------------------------------------------------------------------------------------------------------------


def _is_ace_high(cards: Sequence[str]) -> bool:
    """Ace or joker, and no pair, straight or flush in the seven cards (F12)."""
    place, ranks = best_688a(cards)
    return ORDER_688A[place] == "high card" and ranks[0] == 14


def _held_688a(played: Played, wager: str, cards: Sequence[str], *, envy: bool = False) -> set[str]:
    wild = bool(_tables(played.game)[played.tables[wager]].get("fully_wild_joker")) and not envy  # F6, F26
    return held_features(cards, fully_wild=wild)


def _pai_gow(played: Played, box: PlayedBox, wager: str, cents: int) -> End:
    if wager in ("fortune", "progressive"):
        return _by(_first(played, wager, _held_688a(played, wager, box.cards)), cents)
    ace_high = _is_ace_high(played.dealer)
    if wager == "ace_high":
        if not ace_high:
            return LOSES
        held = {"dealer_ace_high_with_joker" if JOKER in played.dealer else "dealer_ace_high_no_joker"}
        return _by(_first(played, wager, held | ({"both_ace_high"} if _is_ace_high(box.cards) else set())), cents)
    if box.gave_up:  # 688a.11(d), F11
        return LOSES
    if ace_high:  # 688a.11(f)(2)(iii), before all else
        return PUSHES
    own, other = [[five_688a(hands[0]), two_cards(hands[1])] for hands in (box.hands, played.dealer_hands)]
    if own[0] < own[1]:  # 688a.11(f)(1)(iii)
        return LOSES
    higher = [mine > its for mine, its in zip(own, other, strict=True)].count(True)
    return (LOSES, PUSHES, _by(_first(played, wager, {"win"}), cents))[higher]


# --- envy -------------------------------------------------------------------------------------------------------------


def _envy(played: Played) -> Iterator[tuple[Key, End]]:
    """Every bonus for another player's hand: 687a.12(c) and W10; 688a.11(h)(2)(ii), F3, F9 and F26."""
    least = {"dj_wild": 0, "face_up_pai_gow": 500}.get(played.game)
    for wager in ("fortune", "progressive") if least is not None else ():
        for of, box in product(played.boxes, played.boxes):
            if of is box or box.wagers.get(wager, -1) < (least or 0) or wager not in played.tables:
                continue
            line = _envied(played, wager, of)
            if line is not None and "envy_cents" in line:
                yield (box.number, wager, of.number), End("wins", line["label"], line["envy_cents"])


def _envied(played: Played, wager: str, of: PlayedBox) -> Line | None:
    if played.game == "face_up_pai_gow":
        return _first(played, wager, _held_688a(played, wager, of.cards, envy=True))
    stays = played.folded_progressive and {"trips", "progressive"} & set(of.wagers)
    return _line_687a(played, of) if not of.gave_up or stays else None  # other folded cards are in the rack


_SETTLED = {
    "asia_poker": _asia,
    "saigon_5_card": _saigon,
    "over_under": _over_under,
    "dj_wild": _dj_wild,
    "face_up_pai_gow": _pai_gow,
}
