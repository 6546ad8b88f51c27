"""Tables of every configuration of every game, brought into any phase of a round."""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from copy import copy
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from table_controller.rulebook import GAMES
from table_controller.rulebook import edition as committed
from table_controller.rulebook.duties import duty_clauses
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.core import Table
from table_controller.table.decisions import Prompt
from table_controller.table.state import TableState
from tests.support.core import ideal_table
from tests.support.core.ideal_table import CHOICES, DEALER, NO_MACHINES, SLOTS, WILD_PROGRESSIVE, IdealTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.rulebook.vocabulary import DeviceFact

_DECODER: Final = msgspec.msgpack.Decoder(TableState)
_SHUFFLER: Final[dict[str, DeviceFact]] = {"shuffler.1": "shuffler"}
_SHOE: Final[dict[str, DeviceFact]] = {"shoe.1": "shoe"}
_SENSORS: Final[dict[str, DeviceFact]] = {f"bet_sensor.{n}": "bet_sensor" for n in range(1, 7)}
# One device of every kind that deals no card.
_EVERY: Final[dict[str, DeviceFact]] = {
    "shaker.1": "shaker", "rng.1": "rng", "button.1": "button", "bet_sensor.2": "bet_sensor", "keypad.1": "keypad",
    "meter_sign.1": "meter_sign",
}  # fmt: skip
_CONTINUOUS: Final[dict[str, Any]] = {
    "dealing": "continuous_shuffler", "shuffler": "continuous", "reshuffles": True, "two_decks": False,
}  # fmt: skip
_BATCH: Final[dict[str, Any]] = {"dealing": "dealing_shoe", "shuffler": "batch", "shuffler_counts": True}
# The shuffler inserts its stack into the shoe.
INSERTING: Final = {"inserts_into_shoe": True}
# The clause that permits such a shuffler. It stands here for the games that the product ships; a game that is added
# later states it in its own `duties.toml`.
_PRINTED_INSERTION: Final = {
    "asia_poker": ("575.5(a)/2",), "saigon_5_card": ("680a.5(a)/2",), "over_under": ("686a.5(a)/2",),
    "dj_wild": ("687a.5(a)/2",), "face_up_pai_gow": ("688a.5(a)/2",),
}  # fmt: skip
INSERTION_CLAUSES: Final = {game: duty_clauses(game, "single_stack") for game in GAMES} | _PRINTED_INSERTION
# The stub check of a fifth round, where the stub of every fifth is counted.
FIFTH: Final = "fifth"
# The first card of a new shoe is to be burned, before the round or in its deal; or one for a new dealer, in the deal.
NEW_SHOE: Final = "new_shoe"
NEW_DEALER: Final = "new_dealer"
# The deal of a round before which nothing is to be burned.
BURNED: Final = "burned"
# A hand of seat 1 wins a fixed award of the progressive; the floorperson has validated it, the dealer has not paid it.
HIT: Final = "hit"


# Every player has raised or folded, and the dealer's cards are not revealed yet.
RAISED: Final = "raised"
# The dealer's hand is set, and the main wager of one seat is settled.
HALF_SETTLED: Final = "half_settled"


_SHAKER: Final[dict[str, DeviceFact]] = {"shaker.1": "shaker"}
_RNG: Final[dict[str, DeviceFact]] = {"rng.1": "rng"}


class TableKind(NamedTuple):
    """One way to equip a table; what is not given is as in `SLOTS` and `CHOICES` (an automated shoe and two decks)."""

    slots: dict[str, DeviceFact]
    choices: dict[str, Any]
    decks: tuple[str, ...] = ("blue",)
    preshuffled: bool = False


def _kinds(game: str, start: dict[str, DeviceFact], **more: Any) -> dict[str, TableKind]:
    """The games that are dealt by automated shoe, manual shoe or hand."""
    one = {"two_decks": False, **more}
    blind = {"shuffler_counts": False, **one}
    by_hand = {**_SHUFFLER, **start}
    return {
        "auto": TableKind(SLOTS[game], one),
        "two": TableKind(SLOTS[game], more, ("blue", "red")),
        "manual": TableKind({**_SHUFFLER, **_SHOE, **start}, {"dealing": "manual_shoe", **one}),
        "hand": TableKind(by_hand, {"dealing": "hand", **one}),
        "auto_blind": TableKind(SLOTS[game], blind),
        "manual_blind": TableKind({**_SHUFFLER, **_SHOE, **start}, {"dealing": "manual_shoe", **blind}),
        "hand_blind": TableKind(by_hand, {"dealing": "hand", **blind}),
        "auto_plain": TableKind({**_SHOE, **start}, {**more, **NO_MACHINES}),
        "manual_plain": TableKind(dict(start), {**more, **NO_MACHINES, "dealing": "manual_shoe"}),
        "hand_sealed": TableKind(by_hand, {"dealing": "hand", **blind}, preshuffled=True),
        "two_blind": TableKind(SLOTS[game], {"shuffler_counts": False, **more}, ("blue", "red")),
        "spare": TableKind({**by_hand, **_SHOE}, {"dealing": "hand", **one}),
        "full": TableKind({**SLOTS[game], **_EVERY}, one),
        "insert": TableKind(SLOTS[game], {**one, **INSERTING}),
        "insert_two": TableKind(SLOTS[game], {**more, **INSERTING}, ("blue", "red")),
        "insert_blind": TableKind(SLOTS[game], {**blind, **INSERTING}),
    }


def _by_number(more: dict[str, DeviceFact]) -> dict[str, TableKind]:
    """The starting position by generator, with a shuffler that does not count."""
    one = {"start": "rng", "two_decks": False, "shuffler_counts": False}
    slots: dict[str, DeviceFact] = {**_SHUFFLER, **_SHOE, **_RNG, **more}
    return {
        "rng": TableKind(slots, {**one, "shuffler_counts": True}),
        "rng_blind": TableKind(slots, one),
        "rng_two": TableKind(slots, {**one, "two_decks": True}, ("blue", "red")),
        "rng_manual": TableKind(slots, {**one, "dealing": "manual_shoe"}),
        "rng_hand": TableKind({**_SHUFFLER, **_RNG, **more}, {**one, "dealing": "hand"}),
    }


# The kinds of single games, in addition to or in place of those that every game has.
_OWN: Final[dict[str, dict[str, TableKind]]] = {
    "asia_poker": {
        **_by_number({}),
        "button": TableKind({**_SHUFFLER, **_SHOE}, {"start": "flat_button", "two_decks": False}),
    },
    "saigon_5_card": {
        "faces": TableKind(SLOTS["saigon_5_card"], {"two_decks": False, "face_check_rounds": 3}),
    },
    "over_under": {
        "shoe": TableKind({**_SHUFFLER, **_SHOE}, {**_BATCH, "two_decks": True}, ("blue", "red")),
        "shoe_blind": TableKind(
            {**_SHUFFLER, **_SHOE}, {**_BATCH, "two_decks": True, "shuffler_counts": False}, ("blue", "red")
        ),
        "full": TableKind({**_SHUFFLER, **_SHOE, **_EVERY}, {**_BATCH, "two_decks": True}, ("blue", "red")),
        "insert": TableKind(
            {**_SHUFFLER, **_SHOE}, {**_BATCH, "two_decks": True, "reshuffles": True, **INSERTING}, ("blue", "red")
        ),
        "plain": TableKind({}, {**NO_MACHINES, "dealing": "dealing_shoe"}),
        "continuous": TableKind(_SHUFFLER, _CONTINUOUS),
    },
    "dj_wild": {
        "wild": TableKind({**_SHUFFLER, **_SHOE, **_SENSORS}, {"two_decks": False, **WILD_PROGRESSIVE}),
    },
    "face_up_pai_gow": _by_number(_SENSORS),
}


def _of_game(game: str) -> dict[str, TableKind]:
    """Return the kinds of a game: those that every game with an automated shoe has, and its own."""
    rules, own = committed(game), _OWN.get(game, {})
    if rules.method("automated_shoe") is None:
        return own
    sensors = _SENSORS if "wagers" in CHOICES[game] else {}
    return {**_kinds(game, {**(_SHAKER if rules.starts else {}), **sensors}), **own}


KINDS: Final[dict[str, dict[str, TableKind]]] = {game: _of_game(game) for game in GAMES}


@contextmanager
def _by_the_book() -> Iterator[None]:
    """Under any changed rules that are in force, a table is brought to its state by those that are committed."""
    editions, permits = dict(ideal_table.EDITIONS), list(ideal_table.PERMITS)
    ideal_table.EDITIONS.clear()
    ideal_table.PERMITS.clear()
    try:
        yield
    finally:
        ideal_table.EDITIONS.update(editions)
        ideal_table.PERMITS.extend(permits)


@cache
@_by_the_book()
def _opened(game: str, kind: str) -> IdealTable:
    """A table whose decks are opened, shuffled and in place."""
    slots, choices, decks, preshuffled = KINDS[game][kind]
    floor = IdealTable(game, slots, rules=committed(game), **choices)
    floor.start(*(() if preshuffled else decks))
    if preshuffled:
        floor.play(*(ev.DeckReceived(deck, DEALER, preshuffled=True) for deck in decks))
    return floor


@cache
@_by_the_book()
def _snapshot(game: str, kind: str, phase: str) -> bytes:
    floor = restored_copy(_opened(game, kind), _opened(game, kind).table.snapshot())
    if phase == mc.LOCKED:
        to_locked(floor)
    elif phase == FIFTH:
        _to_fifth(floor, preshuffled=KINDS[game][kind].preshuffled)
    elif phase == NEW_SHOE:
        floor = _new_shoe(game, kind)
    elif phase == NEW_DEALER:
        floor.round()
        floor.play_to(mc.BETTING).step(ev.DealerChanged(DEALER))
        floor.play_to(mc.DEALING)
    elif phase == BURNED:
        floor.round()
        floor.play_to(mc.DEALING)
    elif phase == HIT:
        _to_hit(floor)
    elif phase == RAISED:
        floor.play_to(mc.PLAYING)
        while floor.prompts("decide"):
            floor.answer_prompt("decide")
    elif phase == HALF_SETTLED:
        floor.play_to(mc.SETTLING).answer_prompt("settled")
    elif phase == mc.COMPLETE and floor.table.context.shuffles_per_shoe:
        floor.play_to(mc.SETTLING).step(ev.CoverCardOut())
        floor.play_to(phase)
    elif phase != mc.IDLE:
        floor.play_to(phase)
    return floor.table.snapshot()


def to_locked(floor: IdealTable) -> None:
    """Bets are closed and the deal cannot begin yet: a card is to be burned, or the deck is cut once more.

    A continuous shuffler brings the card to burn in the deal; there the batch is shuffled again, after a jam.
    """
    floor.play_to(mc.BETTING)
    if floor.state.dealing == "continuous_shuffler":
        floor.step(ev.ShuffleFailed("shuffler.1", 3, None))
        floor.clear_holds()
        floor.step(ev.CardsInserted("shuffler.1"))
    elif floor.edition.burn.per_dealer:
        floor.step(ev.DealerChanged(DEALER))
    else:
        floor.order("recut", deck="blue")
    floor.loads_shuffler = False
    floor.step(ev.NoMoreBets(DEALER))
    while floor.phase != mc.LOCKED:
        prompt = next(p for p in floor.prompts() if p.kind not in ("burn_dealer", "cut", "put_in_shoe"))
        for event in floor.answer(prompt):
            floor.step(event)


def _new_shoe(game: str, kind: str) -> IdealTable:
    """A shoe was loaded, and its first card is not burned; a continuous shuffler brings that one in the first deal."""
    slots, choices, decks, _ = KINDS[game][kind]
    floor = IdealTable(game, slots, rules=committed(game), **choices)
    floor.override = lambda one: [] if isinstance(one, Prompt) and one.kind == "burn_shoe" else None
    floor.start(*decks)
    if floor.state.dealing == "continuous_shuffler":
        floor.play_to(mc.DEALING)
    return floor


def _to_hit(floor: IdealTable) -> None:
    floor.bets = {1}
    floor.play_to(mc.SETTLING)
    while not floor.prompts("progressive"):
        for event in floor.answer(floor.prompts()[0]):
            floor.step(event)
    rules = floor.table.context.meter
    assert rules is not None
    fixed = next(award.hand for award in rules.awards if not award.percent)
    floor.answer_prompt("progressive", fixed)
    for kind in ("hit_hand", "hit_light", "hit_validate"):
        floor.answer_prompt(kind)


def _to_fifth(floor: IdealTable, *, preshuffled: bool) -> None:
    """Four rounds were dealt whose stub nobody counted; the fifth is dealt from a sealed deck on request."""
    for _ in range(4):
        floor.round()
    if preshuffled:
        floor.order("remove_deck", deck="blue")
        floor.clear_holds()
        floor.play(ev.DeckReceived("blue", DEALER, preshuffled=True))
    floor.play_to(mc.STUB_CHECK)


def restored_copy(floor: IdealTable, snapshot: bytes) -> IdealTable:
    """Another table like this one, in a state that was written down, by the edition and permits in force now."""
    other = copy(floor)
    other.edition = ideal_table.edition(floor.edition.game)
    other.table = Table(other.edition, floor.table.context.submission, {}, state=_DECODER.decode(snapshot))
    if ideal_table.PERMITS:
        other.table.context.reasons = ideal_table.PERMITS[0]
    other.log, other.bets, other._queue = [], set(floor.bets), deque()
    return other


def kind_of(floor: IdealTable) -> str:
    """The kind of a table that came from here."""
    ours = floor.table.context.submission
    game = floor.edition.game
    return next(kind for kind in KINDS[game] if _opened(game, kind).table.context.submission is ours)


def table_at(game: str, kind: str, phase: str) -> IdealTable:
    """A table of a kind, its round in a phase. What led there obeyed the committed rules, and nothing of it is open."""
    return restored_copy(_opened(game, kind), _snapshot(game, kind, phase))
