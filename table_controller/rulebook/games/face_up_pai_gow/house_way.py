"""What house-way rules of Face Up Pai Gow Poker may ask: seven cards into five and two; the rules are data."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

from table_controller.rulebook.games.face_up_pai_gow import hands as pai_gow
from table_controller.rulebook.hands.poker5 import RUNS
from table_controller.rulebook.hands.ranking import HandClass, class_number, lead_of, strength
from table_controller.rulebook.house_ways.loader import house_ways_of
from table_controller.rulebook.house_ways.setting_form import POKER_KINDS, TWO_CARD_KINDS, SettingForm, Split

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def _splits(cards: Sequence[int]) -> Iterator[Split]:
    for low in combinations(cards, 2):
        high = tuple(card for card in cards if card not in low)
        yield Split((pai_gow.strength(high), pai_gow.strength(low)), (high, low))


FORM: Final = SettingForm(
    game="face_up_pai_gow",
    hands=("high", "low"),
    cards=sum(pai_gow.SIZES),
    splits=_splits,
    is_lawful=lambda strengths: strengths[0] >= strengths[1],
    lawful="the high hand ranks at least as high as the low hand (688a.11(b))",
    kinds=(POKER_KINDS, TWO_CARD_KINDS),
    kind_of=class_number,
    lead_of=lead_of,
    strength_of=lambda kind: strength(HandClass(kind), ()),
    flush=RUNS.length,
    runs=RUNS,
)
HOUSE_WAYS: Final = house_ways_of(FORM)
standard_5_2: Final = HOUSE_WAYS["standard_5_2"].set_hands
