"""While an irregularity is open, no event from anybody brings a card out: "deal anyway" does not exist."""

from __future__ import annotations

from importlib import import_module
from random import Random
from typing import TYPE_CHECKING, Final, get_args

import pytest

from table_controller.ledger.money import FIXED, HAND_PAYS
from table_controller.rulebook import GAMES, edition
from table_controller.rulebook.registry import CHAPTERS
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command, StateChanged
from tests.support.core.all_inputs import all_devices_report, all_inputs, box_inputs
from tests.support.core.ideal_table import DEALER, decisions_of
from tests.support.core.irregularities import ARRIVALS, IrregularityCase
from tests.support.core.ruling_scripts import RULING_SCRIPTS
from tests.support.core.setups import HIT, restored_copy, table_at

if TYPE_CHECKING:
    from table_controller.table.decisions import Decision
    from tests.support.core.ideal_table import IdealTable

CASES: Final[list[IrregularityCase]] = [
    case
    for chapter in CHAPTERS.values()
    for case in import_module(f"tests.unit.test_rows_{chapter}").CASES
    if RULING_SCRIPTS[case.behavior].orders
]
# Commands that bring a card to a player or decide who gets the first.
DEALS: Final = ("dispense", "start_round", "give_stub", "arm_dice", "draw")


# The fewest irregularities of a chapter that is in force; an example may have fewer.
FEWEST_ROWS: Final = 8
# One case of each behavior of each game; the proof takes them all, in every phase.
FEW: Final = list({(case.game, case.behavior): case for case in CASES}.values())


def dealt_on(event: object, stood: bool, decided: list[Decision]) -> str | None:
    """Return the forbidden decisions while an irregularity is open: a new round, or a card of a stopped one."""
    opened = any(one.what == "round" and one.state == mc.BETTING for one in decisions_of(StateChanged, decided))
    cards = [one.act for one in decisions_of(Command, decided) if one.act in DEALS]
    return f"{event}: opened {opened}, {cards}" if opened or (stood and cards) else None


def arrived(case: IrregularityCase, phase: str) -> IdealTable:
    floor = table_at(case.game, case.kinds[0], phase)
    ARRIVALS[case.how](floor, case.trigger)
    return floor


def each_by_itself(case: IrregularityCase, phase: str) -> None:
    """Send every event to the same state."""
    floor = arrived(case, phase)
    snapshot, amount = floor.table.snapshot(), floor.table.context.is_round_stopped
    for event in [*all_inputs(floor), *box_inputs()]:
        assert dealt_on(event, amount, restored_copy(floor, snapshot).step(event)) is None


def all_of_them(case: IrregularityCase, phase: str) -> None:
    """Send every event one after another, in a mixed order, twice, and again after a restart of the box.

    The irregularity is still there.
    """
    floor = arrived(case, phase)
    open_ = set(floor.state.holds)
    rng = Random(f"{case.id} {phase}")
    for first in ([], [], box_inputs()):
        events = all_inputs(floor)
        rng.shuffle(events)
        for event in [*first, *(all_devices_report(floor) if first else []), *events]:
            stood = floor.table.context.is_round_stopped
            assert dealt_on(event, stood, floor.step(event)) is None
    assert open_ <= set(floor.state.holds), "an irregularity ended without its answers"


def test_every_game_is_here() -> None:
    assert {case.game for case in CASES} == set(GAMES) == set(CHAPTERS)


def test_every_kind_of_event_is_sent() -> None:
    sent = {type(event) for event in box_inputs()}
    for game, kind in (("face_up_pai_gow", "full"), ("over_under", "continuous")):
        sent |= {type(event) for event in all_inputs(table_at(game, kind, "playing"))}
    assert sent == set(get_args(ev.Event))


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{CHAPTERS[case.game]}-{case.id}") for case in FEW])
def test_nothing_that_anybody_sends_deals_on(case: IrregularityCase) -> None:
    each_by_itself(case, case.phases[-1])
    all_of_them(case, case.phases[-1])


@pytest.mark.parametrize(("game", "kind"), [("face_up_pai_gow", "auto"), ("dj_wild", "wild")])
@pytest.mark.parametrize("trigger", ["other", "dealer_hand_misset"])
def test_nothing_that_anybody_sends_pays_a_hit_while_the_round_stands_still(game: str, kind: str, trigger: str) -> None:
    """A validated hit waits for the dealer's payment when something goes wrong."""
    floor = table_at(game, kind, HIT)
    paid = ev.Answer(floor.prompt("hit_pay").id, "paid", DEALER)
    floor.declare(trigger, seat=3)
    assert floor.table.context.is_round_stopped
    (hit,) = floor.state.money.hits.values()
    assert hit.state == mc.HIT_VALIDATED
    snapshot, held = floor.table.snapshot(), dict(floor.state.money.book.held)
    for event in [paid, *all_inputs(floor), *box_inputs()]:
        other = restored_copy(floor, snapshot)
        other.step(event)
        money = other.state.money
        assert (money.book.balance(FIXED), money.book.balance(HAND_PAYS)) == (0, 0), event
        if other.phase == mc.VOID and not money.settles:  # something worse was reported, and all of it goes back
            assert money.hits[hit.id].state == mc.HIT_WITHDRAWN, event
        else:
            assert (money.book.held, money.hits[hit.id].state) == (held, mc.HIT_VALIDATED), event


@pytest.mark.proof
@pytest.mark.parametrize("game", GAMES)
def test_nothing_deals_on_after_any_irregularity_in_any_phase(game: str) -> None:
    tried = 0
    for case in CASES:
        for phase in case.phases if case.game == game else ():
            each_by_itself(case, phase)
            all_of_them(case, phase)
            tried += 1
    print(f"{game}: {tried} irregularities, everything sent against each")
    rows = len(edition(game).irregularities)
    assert tried >= (50 if rows >= FEWEST_ROWS else 5 * rows)
