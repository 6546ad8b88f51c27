"""What house-way rules of Asia Poker may ask: seven cards into four, two and one; the rules are data."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

from table_controller.rulebook.games.asia_poker import hands as asia
from table_controller.rulebook.hands.ranking import HandClass, Straights, class_number, lead_of, strength
from table_controller.rulebook.house_ways.loader import house_ways_of
from table_controller.rulebook.house_ways.setting_form import POKER_KINDS, TWO_CARD_KINDS, SettingForm, Split

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_HIGH_KINDS: Final = {
    name: kinds for name, kinds in POKER_KINDS.items() if name not in ("full house", "five aces")
}  # of four cards


def _splits(cards: Sequence[int]) -> Iterator[Split]:
    """Yield every setting. The order of wheels among straights decides none of them, so the default one ranks."""
    ranked = asia.strength()
    mediums: dict[tuple[int, ...], int] = {pair: ranked(pair) for pair in combinations(cards, 2)}
    lows = {card: ranked((card,)) for card in cards}
    for high in combinations(cards, 4):
        whole = ranked(high)
        others = [card for card in cards if card not in high]
        for low in others:
            medium = tuple(card for card in others if card != low)
            yield Split((whole, mediums[medium], lows[low]), (high, medium, (low,)))


FORM: Final = SettingForm(
    game="asia_poker",
    hands=("high", "medium", "low"),
    cards=sum(asia.SIZES),
    splits=_splits,
    is_lawful=lambda strengths: strengths[0] > strengths[1] > strengths[2],
    lawful="the high hand ranks above the medium hand, and that above the low hand (575.11(b))",
    kinds=(_HIGH_KINDS, TWO_CARD_KINDS, {"high card": TWO_CARD_KINDS["high card"]}),
    kind_of=class_number,
    lead_of=lead_of,
    strength_of=lambda kind: strength(HandClass(kind), ()),
    flush=asia.SIZES[0],
    runs=Straights(asia.SIZES[0], wheel_second=True),
)
HOUSE_WAYS: Final = house_ways_of(FORM)
standard_4_2_1: Final = HOUSE_WAYS["standard_4_2_1"].set_hands
