"""Tiny tables searched breadth first to the last state; a monitor checks every step, and every state has an exit.

The monitor keeps its own books of decks, bets and wagers and does not use the core's permits: no card is dealt from an
unverified, expired, held or wrong deck, no bet is accepted after the lock-out, no void round settles what it returns,
no other method is used while a dead device is unsigned, and no device that had a fault serves unacknowledged. From
every state people and devices can lead the table to another round without further trouble.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, get_args

import pytest

from table_controller.rulebook.registry import GAMES
from table_controller.rulebook.vocabulary import DealingName
from tests.support.core.core_mutants import CORE_MUTANTS
from tests.support.core.state_search import StateSearch
from tests.support.core.tiny_tables import TABLES, model, trouble_kinds

if TYPE_CHECKING:
    from tests.support.core.search_trouble import SearchTrouble

# Searches too large to be exhausted here, each with its reason; `BOUND` of their states are searched.
_TWO_BATCHES: Final = "two batches, each with cut, cover card and burn of its own: more than 25,000 states"
BOUNDED: Final[dict[str, str]] = {
    **{
        f"over/under, two batches: {kind}": _TWO_BATCHES
        for kind in trouble_kinds("over/under, two batches")
        if kind != "calm"
    },
    **{
        f"{table}, automated shoe, bets: hits": "hands of two seats are entered, disputed, ruled on and entered again: "
        "more than 60,000 states"
        for table in ("pai gow", "dj wild")
    },
    "over/under, continuous: dies shuffler.1": "by another shoe and by hand as well: more than 25,000 states",
    "saigon, automated shoe, two decks: links shuffler.1": "exhausted where the decks are dealt by hand",
}
BOUND: Final = 3_000
# Small enough for every run of the tests; the whole list is in the proof.
_QUICK: Final = ("calm", "people", "opening", "declared count_wrong", "declared wrong_card_count")
SEARCHES: Final = {
    f"{name}: {kind}": (name, trouble) for name in TABLES for kind, trouble in trouble_kinds(name).items()
}
QUICK: Final = [
    name
    for name in SEARCHES
    if name.partition(": ")[2] in _QUICK and not (" two " in name and name.endswith("count_wrong"))
]
Tally = Callable[[str, int], None]


@pytest.fixture
def tally(tmp_path_factory: pytest.TempPathFactory, testrun_uid: str) -> Tally:
    """Adds up the states of all searches of this run, whichever worker made them; the last line has the total."""
    base = tmp_path_factory.getbasetemp()
    kept = (base.parent if base.name.startswith("popen-") else base) / f"states-{testrun_uid}"
    kept.mkdir(exist_ok=True)

    def add(name: str, states: int) -> None:
        (kept / f"{list(SEARCHES).index(name)}").write_text(str(states))
        counts = [int(each.read_text() or 0) for each in kept.iterdir()]
        print(f"in total so far: {sum(counts)} states in {len(counts)} of {len(SEARCHES)} searches")

    return add


def search(name: str) -> StateSearch:
    """Search one table with one kind of trouble; print how many states there are."""
    where, trouble = SEARCHES[name]
    done = StateSearch(model(where, trouble), BOUND if name in BOUNDED else 60_000).run()
    reported = "all there are" if done.is_exhausted else f"bounded: {BOUNDED.get(name)}"
    print(f"{name}: {len(done.nodes)} states, {done.steps} steps, {done.repeated} moves taken twice; {reported}")
    return done


def check(name: str, tally: Tally) -> int:
    """Check every invariant, the whole search and no stuck state; return the number of states."""
    done = search(name)
    tally(name, len(done.nodes))
    if name in BOUNDED:
        assert len(done.nodes) >= BOUND, "it can be exhausted: it is no longer to be listed as bounded"
        return len(done.nodes)
    assert done.is_exhausted
    stuck = done.stuck()
    assert not stuck, f"{len(stuck)} states without a way out, the first:\n{done.story(stuck[0])}"
    assert done.repeated >= done.moves // 8
    return len(done.nodes)


@pytest.mark.parametrize("name", QUICK)
def test_every_state_of_a_small_search_keeps_every_invariant_and_has_an_exit(name: str, tally: Tally) -> None:
    assert check(name, tally) > 10


@pytest.mark.proof
@pytest.mark.parametrize("name", SEARCHES)
def test_every_state_of_every_search_keeps_every_invariant_and_has_an_exit(name: str, tally: Tally) -> None:
    assert check(name, tally) > 10


def test_the_tables_have_every_game_every_way_of_dealing_and_every_kind_of_shuffler() -> None:
    reported = [(setup.game, setup.choices) for setup in TABLES.values()]
    assert {game for game, _ in reported} == set(GAMES)
    assert {choices["dealing"] for _, choices in reported} == set(get_args(DealingName))
    assert {(choices.get("shuffler", "none"), choices.get("shuffler_counts", False)) for _, choices in reported} >= {
        ("none", False), ("deck", False), ("deck", True), ("batch", True), ("continuous", True),
    }  # fmt: skip
    assert {bool(choices.get("two_decks")) for _, choices in reported} == {False, True}
    assert BOUNDED.keys() <= SEARCHES.keys()


# --- the search can fail ----------------------------------------------------------------------------------------------

AT_ONCE: Final = ("old decks are opened", "a sort is a shuffle", "a void round keeps its wagers",
                  "a hold ends without its acknowledgment", "any latch counts",
                  "a sensor that contradicts itself is accepted", "a held deck is never released",
                  "a step that remembers")  # fmt: skip


def search_mutant(name: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Plant a mistake, search, and return the search's finding."""
    mistake = CORE_MUTANTS[name]
    planted = model(mistake.table, mistake.trouble)
    mistake.apply(monkeypatch, planted)
    searched = StateSearch(planted, 20_000)
    try:
        searched.run()
    except AssertionError as broken:
        print(f"{name}: found after {len(searched.nodes)} states: {str(broken).splitlines()[0]}")
        return str(broken)
    stuck = searched.stuck() if searched.is_exhausted else []
    print(f"{name}: {len(searched.nodes)} states, {len(stuck)} without a way out")
    return searched.story(stuck[0]) if stuck else ""


@pytest.mark.parametrize("name", AT_ONCE)
def test_a_planted_mistake_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert search_mutant(name, monkeypatch)


@pytest.mark.proof
@pytest.mark.parametrize("name", [name for name in CORE_MUTANTS if name not in AT_ONCE])
def test_every_planted_mistake_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert search_mutant(name, monkeypatch)


WITHOUT: Final = sorted({(mistake.table, mistake.trouble) for mistake in CORE_MUTANTS.values()}, key=repr)
# What is searched above to the last state needs no second search.
SEARCHED: Final = [where for name, where in SEARCHES.items() if name not in BOUNDED]


@pytest.mark.proof
@pytest.mark.parametrize("where", [where for where in WITHOUT if where not in SEARCHED])
def test_without_the_mistake_the_same_search_finds_nothing(where: tuple[str, SearchTrouble]) -> None:
    searched = StateSearch(model(*where), 20_000).run()
    assert not searched.is_exhausted or not searched.stuck()
