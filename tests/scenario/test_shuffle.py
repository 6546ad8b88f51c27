"""A cycle from start to gate, over every rung of the ladder, compared with the simulator's truth."""

from __future__ import annotations

import pytest

from devices.shuffler import messages as m
from devices.shuffler.state import verdict
from firmware_bridge.commands import Outcome
from firmware_bridge.errors import CommandFailed, CommandRefused
from tests.support.machines.bench import over_the_ladder, shuffler_bench


@over_the_ladder
async def test_a_good_deck_is_counted_and_given_out(seed: int, rung: str) -> None:
    async with shuffler_bench(seed, rung) as b:
        settled = await b.driver.shuffle(b.next_id())
        assert settled.outcome is Outcome.DONE
        (completed,) = b.events_of(m.Completed)
        assert (completed.count, completed.mode, completed.rejected) == (53, m.Mode.SHUFFLE, False)
        assert verdict(completed, 53) == []
        assert b.machine.true_counts() == {"shuffler.1/gate": 53}
        await b.driver.eject(b.next_id())
        assert b.machine.true_counts() == {"shuffler.1/presented": 53}


@over_the_ladder
@pytest.mark.parametrize("segment", list(m.Segment))
async def test_a_jam_is_located_and_the_cards_inside_are_counted(seed: int, rung: str, segment: m.Segment) -> None:
    async with shuffler_bench(seed, rung) as b:
        b.inject(f"jam:segment={segment.name.lower()},card=27")
        with pytest.raises(CommandFailed) as failed:
            await b.driver.shuffle(b.next_id())
        assert failed.value.reason == m.Reason.JAM
        (jam,) = b.events_of(m.Jam)
        assert (jam.segment, jam.card) == (segment, 27)
        assert b.machine.world.count(b.machine.mechanics.segment_place(segment)) == 1
        assert jam.inside == b.view.inside == b.machine.mechanics.inside()
        assert b.service.state == "faulted"
        with pytest.raises(CommandRefused):
            await b.driver.eject(b.next_id())


@pytest.mark.parametrize("other_seed", range(100, 125))
async def test_a_lossy_line_slows_a_cycle_but_never_spoils_it(other_seed: int) -> None:
    async with shuffler_bench(other_seed, "lossy") as b:
        assert (await b.driver.shuffle(b.next_id())).outcome is Outcome.DONE
        assert [completed.count for completed in b.events_of(m.Completed)] == [53]
