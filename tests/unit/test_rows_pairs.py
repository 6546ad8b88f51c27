"""Every two irregularities that people can report, one upon the other, in every phase: no pair leads to a dead end."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final

import pytest

from table_controller.rulebook import GAMES, TRIGGERS
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from tests.support.core.ideal_table import DEALER, PEOPLE
from tests.support.core.setups import FIFTH, HALF_SETTLED, RAISED, restored_copy, table_at

if TYPE_CHECKING:
    from tests.support.core.ideal_table import IdealTable

_OTHERS: Final = ("stub_wrong", "wrong_start_announced", "shuffler_fault", "shoe_fault", "device_unusable")
REPORTS: Final = (*(trigger for trigger in TRIGGERS if trigger not in _OTHERS), "other")
PHASES: Final = (mc.BETTING, mc.DEALING, mc.STUB_CHECK, mc.PLAYING, RAISED, mc.SETTLING, HALF_SETTLED, mc.COMPLETE)
# The kinds of tables of each game: unless a game is named here, one for each dealing method.
KINDS: Final = dict.fromkeys(GAMES, ("auto", "manual", "hand")) | {
    "saigon_5_card": ("auto", "manual_blind", "hand_blind"),
    "over_under": ("shoe", "plain", "continuous"),
    "dj_wild": ("wild", "manual", "hand"),
}


def phases(game: str) -> tuple[str, ...]:
    """Return the stable phases of a round of a game."""
    own = {"over_under": (mc.STUB_CHECK, HALF_SETTLED, mc.COMPLETE), "dj_wild": (HALF_SETTLED,)}
    out = own.get(game, (RAISED,))
    fifth = (FIFTH,) if game == "saigon_5_card" else ()
    return tuple(phase for phase in (*PHASES, *fifth) if phase not in out)


def begun(game: str, kind: str, phase: str) -> IdealTable:
    """Return a round in a phase, with progressive bets of seats 1 and 3 where they are offered."""
    floor = table_at(game, kind, phase)
    if not floor.table.context.has_progressive or phase == mc.BETTING:
        return floor
    floor = table_at(game, kind, mc.BETTING)
    floor.bets = {1, 3}
    floor.play_to({RAISED: mc.PLAYING, HALF_SETTLED: mc.SETTLING}.get(phase, phase))
    while phase == RAISED and floor.prompts("decide"):
        floor.answer_prompt("decide")
    if phase == HALF_SETTLED:
        floor.answer_prompt("settled")
    return floor


def report(floor: IdealTable, trigger: str) -> bool:
    """Report an irregularity at seat 3 as dealer; return whether it was accepted."""
    deck = "blue" if trigger == "count_wrong" else None
    before = len(floor.state.holds)
    floor.step(ev.IrregularityReported(trigger, DEALER, seat=3, deck=deck))
    return len(floor.state.holds) > before


def comes_to_an_end(floor: IdealTable, last: bool) -> None:
    """Answer with the first choices, or the last, until the table opens another round."""
    if last:
        for _ in range(60):
            asked = [p for p in floor.prompts() if p.hold is not None and len(p.choices) > 1]
            if not asked:
                break
            floor.step(ev.Answer(asked[0].id, asked[0].choices[-1], PEOPLE[asked[0].role]))
    floor.clear_holds()
    floor.settle()
    if floor.phase == mc.BETTING:
        floor.play(ev.NoMoreBets(DEALER))
    assert floor.phase == mc.IDLE, f"{floor.phase}: {floor.prompts()} {floor.state.holds}"
    if not floor.table.context.decks_at_table():
        floor.play(ev.DeckReceived("green", DEALER))
    floor.round()
    assert floor.phase == mc.IDLE


def pairs(game: str, kind: str, within: tuple[str, ...], reports: tuple[str, ...] = REPORTS) -> int:
    """Report every pair in some phases, beginning with these reports; return how many were accepted."""
    taken = 0
    for phase in within:
        start = begun(game, kind, phase)
        whole = start.table.snapshot()
        for first in reports:
            floor = restored_copy(start, whole)
            if not report(floor, first):
                continue
            then = floor.table.snapshot()
            for second, last in product(REPORTS, (False, True)):
                other = restored_copy(floor, then)
                report(other, second)
                try:
                    comes_to_an_end(other, last)
                except AssertionError as error:
                    raise AssertionError(f"{game} {kind} {phase}: {first}, then {second}, last={last}") from error
                taken += 1
    return taken


@pytest.mark.parametrize(
    ("game", "phase", "first"),
    [
        ("dj_wild", mc.DEALING, "player_card_exposed"),
        ("dj_wild", RAISED, "dealer_card_exposed"),
        ("asia_poker", HALF_SETTLED, "dealer_hand_misset"),
        ("asia_poker", mc.COMPLETE, "dealer_hand_misset"),
        ("face_up_pai_gow", mc.COMPLETE, "wrong_card_count"),
        ("dj_wild", mc.COMPLETE, "other"),
        ("face_up_pai_gow", mc.DEALING, "face_up_card_more"),
    ],
)
def test_nothing_that_follows_such_a_ruling_is_a_dead_end(game: str, phase: str, first: str) -> None:
    assert pairs(game, KINDS[game][0], (phase,), (first,)) == 2 * len(REPORTS)


@pytest.mark.proof
@pytest.mark.parametrize(("game", "kind"), [(game, kind) for game in GAMES for kind in KINDS[game]])
def test_no_pair_of_irregularities_is_a_dead_end(game: str, kind: str) -> None:
    taken = pairs(game, kind, phases(game))
    print(f"{game}, {kind}: {taken} pairs")
    assert taken > 100
