"""Tiny tables searched breadth first with people and devices that do whatever they can; a monitor watches every step.

The monitor keeps its own books of decks, bets and wagers and does not use the core's permits: no card is dealt from an
unverified, expired, held or wrong deck, no bet is accepted after the lock-out, no void round settles what it returns,
and no other method is used while a dead device is unsigned.
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.support.explore import Bounds, Model, Search
from tests.support.tiny import table

SENSORS: Final = {"bet_sensor.1": "bet_sensor", "bet_sensor.2": "bet_sensor"}
TABLES: Final[dict[str, tuple[str, dict[str, Any], dict[str, Any], tuple[str, ...]]]] = {
    "saigon_5_card": (
        "saigon_5_card",
        {"shuffler.1": "shuffler", "shoe.1": "shoe"},
        {"dealing": "automated_shoe", "shuffler": "deck", "shuffler_counts": True, "two_decks": True},
        ("wrong_card_count", "face_up_card_first", "count_wrong", "card_drawn_in_error"),
    ),
    "saigon_5_card by hand": (
        "saigon_5_card",
        {"shuffler.1": "shuffler"},
        {"dealing": "hand", "shuffler": "deck", "shuffler_counts": False},
        ("wrong_card_count", "face_up_card_first", "count_wrong"),
    ),
    "asia_poker": (
        "asia_poker",
        {"shuffler.1": "shuffler", "shoe.1": "shoe", "shaker.1": "shaker"},
        {"dealing": "automated_shoe", "shuffler": "deck", "shuffler_counts": True},
        ("wrong_card_count", "player_card_exposed", "dealer_card_exposed", "wrong_start_dealt"),
    ),
    "over_under": (
        "over_under",
        {"shoe.1": "shoe"},
        {"dealing": "dealing_shoe"},
        ("face_up_card_first", "shoe_short", "additional_cards_missed", "count_wrong"),
    ),
    "face_up_pai_gow": (
        "face_up_pai_gow",
        {"shoe.1": "shoe", "rng.1": "rng", **SENSORS},
        {
            "dealing": "automated_shoe",
            "start": "rng",
            "wagers": ["progressive"],
            "paytables": {"progressive": "688a-progressive-1"},
        },
        ("wrong_card_count", "player_card_exposed", "wrong_start_dealt"),
    ),
    "dj_wild": (
        "dj_wild",
        {"shuffler.1": "shuffler"},
        {"dealing": "hand", "shuffler": "deck", "shuffler_counts": True},
        ("cards_revealed_before_raise", "wrong_card_count", "face_up_card_first"),
    ),
}


def search(name: str, states: int) -> Search:
    game, slots, choices, declared = TABLES[name]
    bounds = Bounds(holds=1, states=states, declared=declared, slots=tuple(slots), variety=True)
    found = Search(Model(table(game, slots, **choices), bounds))
    found.run()
    return found


@pytest.mark.parametrize("name", list(TABLES))
def test_the_first_states_of_every_tiny_table_break_no_promise(name: str) -> None:
    found = search(name, 2_000)
    print(f"{name}: {len(found.nodes)} states, {found.steps} steps")
    assert len(found.nodes) >= 2_000 or found.whole


@pytest.mark.proof
@pytest.mark.parametrize("name", list(TABLES))
def test_many_states_of_every_tiny_table_break_no_promise(name: str) -> None:
    found = search(name, 15_000)
    print(f"{name}: {len(found.nodes)} states, {found.steps} steps, all there are: {found.whole}")
    assert len(found.nodes) >= 15_000 or found.whole
