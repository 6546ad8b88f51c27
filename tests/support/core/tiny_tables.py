"""The minimal tables that are searched, and the fault kinds that each is searched with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from table_controller.rulebook import GAMES
from tests.support.core.ideal_table import WILD_PROGRESSIVE
from tests.support.core.search_moves import SearchModel
from tests.support.core.search_trouble import SearchTrouble
from tests.support.core.tiny_editions import tiny_table

if TYPE_CHECKING:
    from table_controller.rulebook.vocabulary import DeviceFact


class TinyTable(NamedTuple):
    """One table: its game, its devices, and the choices of its Rules Submission."""

    game: str
    slots: dict[str, DeviceFact]
    choices: dict[str, Any]


_SENSORS: Final[dict[str, DeviceFact]] = {"bet_sensor.1": "bet_sensor", "bet_sensor.2": "bet_sensor"}
_COUNTING: Final = {"shuffler": "deck", "shuffler_counts": True}
_NOT_COUNTING: Final = {"shuffler": "deck", "shuffler_counts": False}

# Every game and all five ways of dealing; shufflers that count, that do not, and none; one deck and two.
TABLES: Final[dict[str, TinyTable]] = {
    "asia, automated shoe": TinyTable(
        "asia_poker",
        {"shuffler.1": "shuffler", "shoe.1": "shoe", "shaker.1": "shaker"},
        {"dealing": "automated_shoe", **_COUNTING},
    ),
    "asia, manual shoe": TinyTable("asia_poker", {"shoe.1": "shoe", "shaker.1": "shaker"}, {"dealing": "manual_shoe"}),
    "saigon, hand": TinyTable("saigon_5_card", {"shuffler.1": "shuffler"}, {"dealing": "hand", **_NOT_COUNTING}),
    "saigon, manual shoe": TinyTable(
        "saigon_5_card", {"shuffler.1": "shuffler"}, {"dealing": "manual_shoe", **_NOT_COUNTING}
    ),
    "saigon, automated shoe": TinyTable(
        "saigon_5_card", {"shuffler.1": "shuffler", "shoe.1": "shoe"}, {"dealing": "automated_shoe", **_COUNTING}
    ),
    "saigon, hand, two decks": TinyTable(
        "saigon_5_card", {"shuffler.1": "shuffler"}, {"dealing": "hand", "two_decks": True, **_COUNTING}
    ),
    "saigon, automated shoe, two decks": TinyTable(
        "saigon_5_card",
        {"shuffler.1": "shuffler", "shoe.1": "shoe"},
        {"dealing": "automated_shoe", "two_decks": True, **_COUNTING},
    ),
    "saigon, inserting": TinyTable(
        "saigon_5_card",
        {"shuffler.1": "shuffler", "shoe.1": "shoe"},
        {"dealing": "automated_shoe", "inserts_into_shoe": True, **_COUNTING},
    ),
    "saigon, inserting, two decks": TinyTable(
        "saigon_5_card",
        {"shuffler.1": "shuffler", "shoe.1": "shoe"},
        {"dealing": "automated_shoe", "inserts_into_shoe": True, "two_decks": True, **_COUNTING},
    ),
    "saigon, inserting, manual shoe": TinyTable(
        "saigon_5_card",
        {"shuffler.1": "shuffler", "shoe.1": "shoe"},
        {"dealing": "manual_shoe", "inserts_into_shoe": True, **_NOT_COUNTING},
    ),
    "over/under, dealing shoe": TinyTable("over_under", {"shoe.1": "shoe"}, {"dealing": "dealing_shoe"}),
    "over/under, two batches": TinyTable(
        "over_under",
        {"shuffler.1": "shuffler"},
        {"dealing": "dealing_shoe", "shuffler": "batch", "shuffler_counts": True, "two_decks": True},
    ),
    "over/under, continuous": TinyTable(
        "over_under",
        {"shuffler.1": "shuffler"},
        {"dealing": "continuous_shuffler", "shuffler": "continuous", "shuffler_counts": True, "reshuffles": True},
    ),
    "dj wild, hand": TinyTable("dj_wild", {"shuffler.1": "shuffler"}, {"dealing": "hand", **_COUNTING}),
    "dj wild, automated shoe, bets": TinyTable(
        "dj_wild", {"shoe.1": "shoe", **_SENSORS}, {"dealing": "automated_shoe", **WILD_PROGRESSIVE}
    ),
    "pai gow, automated shoe, bets": TinyTable(
        "face_up_pai_gow",
        {"shoe.1": "shoe", "rng.1": "rng", **_SENSORS},
        {
            "dealing": "automated_shoe",
            "start": "rng",
            "wagers": ["progressive"],
            "paytables": {"progressive": "688a-progressive-1"},
        },
    ),
    "pai gow, hand": TinyTable(
        "face_up_pai_gow",
        {"shuffler.1": "shuffler", "shaker.1": "shaker"},
        {"dealing": "hand", "start": "shaker", **_COUNTING},
    ),
}
# A game that is not named above is searched with a shuffler and an automated shoe.
for _game in set(GAMES) - {table.game for table in TABLES.values()}:
    TABLES[f"{_game}, automated shoe"] = TinyTable(
        _game, {"shuffler.1": "shuffler", "shoe.1": "shoe"}, {"dealing": "automated_shoe", **_COUNTING}
    )
# What people never report themselves, or report by what devices do.
_REPORTED_BY_DEVICES: Final = {"stub_wrong", "wrong_start_announced", "shuffler_fault", "shoe_fault", "device_unusable"}
# Two decks multiply the states: these tables are searched with what concerns decks and the shuffler that prepares one.
_TWO_DECKS: Final = (
    "calm", "counts shuffler.1", "ends shuffler.1", "links shuffler.1", "ages", "people", "declared count_wrong",
    "declared wrong_card_count",
)  # fmt: skip


def model(name: str, trouble: SearchTrouble) -> SearchModel:
    """Return a table with its trouble."""
    setup = TABLES[name]
    return SearchModel(tiny_table(setup.game, setup.slots, **setup.choices), trouble)


def trouble_kinds(name: str) -> dict[str, SearchTrouble]:
    """Return the kinds of trouble that a table is searched with."""
    setup = TABLES[name]
    edition = tiny_table(setup.game, setup.slots, **setup.choices).context.edition
    sensors = tuple(slot for slot, kind in setup.slots.items() if kind == "bet_sensor")
    others = tuple(slot for slot, kind in setup.slots.items() if kind != "bet_sensor")
    chosen = {
        "calm": SearchTrouble(variety=True, slow=others),
        "opening": SearchTrouble(opening=True),
        "orders": SearchTrouble(orders=True),
        "ages": SearchTrouble(ages=True),
        "people": SearchTrouble(people=True),
    }
    if sensors:
        chosen["bets"] = SearchTrouble(bets=True, slow=sensors[:1], variety=True)
        chosen["hits"] = SearchTrouble(money=True)
        chosen["chips"] = SearchTrouble(people=True, bets=True)
        chosen["links bet_sensor.1"] = SearchTrouble(links=sensors[:1])
        chosen["ends bet_sensor.1"] = SearchTrouble(ends=sensors[:1])
    for slot in others:
        chosen[f"links {slot}"] = SearchTrouble(links=(slot,))
        chosen[f"dies {slot}"] = SearchTrouble(given_up=(slot,))
        chosen[f"ends {slot}"] = SearchTrouble(ends=(slot,))
        chosen[f"counts {slot}"] = SearchTrouble(counts=(slot,))
        chosen[f"unbidden {slot}"] = SearchTrouble(unbidden=(slot,))
    triggers = {
        trigger for row in edition.irregularities for trigger in (row.trigger, *row.also)
    } - _REPORTED_BY_DEVICES
    # An automated shoe that dealt at once would leave nobody the time to report what happens in the deal.
    slow = ("shoe.1",) if setup.choices["dealing"] == "automated_shoe" else ()
    for trigger in (*sorted(triggers), "player_leaves", "other"):
        chosen[f"declared {trigger}"] = SearchTrouble(declared=(trigger,), slow=slow)
    if sensors and "cards_revealed_before_raise" in triggers:  # what is found while a void round settles
        both = ("cards_revealed_before_raise", "wrong_card_count", "other")
        chosen["revealed, then more"] = SearchTrouble(declared=both, slow=slow, holds=2)
    kept = _TWO_DECKS if setup.choices.get("two_decks") else tuple(chosen)
    return {kind: trouble for kind, trouble in chosen.items() if kind in kept}
