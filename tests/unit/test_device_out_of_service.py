"""A device that is taken out of service while it moves is stopped, by every role and order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command
from tests.support.core.ideal_table import DEALER, FLOOR, IdealTable

if TYPE_CHECKING:
    from table_controller.table.decisions import Decision


def _give_up(how: str, slot: str) -> ev.Event:
    if how == "ordered":
        return ev.SlotOrdered(slot, "give_up", FLOOR)
    return ev.IrregularityReported("device_unusable", DEALER, slot=slot)


def _until(game: str, act: str) -> tuple[IdealTable, str]:
    """Return a table whose device got this command and has not answered."""
    floor = IdealTable(game).start("blue", "red")
    reported: list[str] = []

    def come(decision: Decision) -> bool:
        reported.extend([decision.slot] if isinstance(decision, Command) and decision.act == act else [])
        return bool(reported)

    floor.play(ev.OpenRound(DEALER))
    floor.play(ev.NoMoreBets(DEALER), until=come)
    return floor, reported[0]


def _stops(message: list[Decision], slot: str) -> int:
    return sum(isinstance(d, Command) and (d.slot, d.act, d.safe) == (slot, "stop", True) for d in message)


@pytest.mark.parametrize("how", ["ordered", "declared"])
@pytest.mark.parametrize(("game", "act"), [("dj_wild", "dispense"), ("asia_poker", "arm_dice"), ("dj_wild", "shuffle")])
def test_a_moving_device_is_stopped(game: str, act: str, how: str) -> None:
    floor, slot = _until(game, act)
    decisions = floor.step(_give_up(how, slot))
    assert _stops(decisions, slot)
    assert act not in [i.act for i in floor.state.commands.values() if i.slot == slot], "nobody waits for it"


@pytest.mark.parametrize("how", ["ordered", "declared"])
def test_a_shoe_that_deals_is_stopped_and_the_round_is_void(how: str) -> None:
    floor, slot = _until("dj_wild", "dispense")
    decisions = floor.step(_give_up(how, slot))
    assert floor.phase == mc.VOID
    assert _stops(decisions, slot)


def test_dice_that_lie_armed_are_disarmed() -> None:
    """The command has ended, but the shaker can still be shaken."""
    floor, slot = _until("asia_poker", "arm_dice")
    for id_ in list(floor.state.commands):
        floor.step(ev.CommandEnded(id_, "done"))
    assert floor.round_.asked_start
    assert _stops(floor.step(_give_up("ordered", slot)), slot)


def test_an_idle_device_is_left_alone() -> None:
    floor = IdealTable("dj_wild").start("blue", "red")
    assert not _stops(floor.step(_give_up("ordered", "shoe.1")), "shoe.1")
