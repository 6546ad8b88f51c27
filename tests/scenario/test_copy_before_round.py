"""A box that cannot reach its second copy opens no round until two people confirm; a copy taken over locks it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest

from simulators.casino.table import CasinoTable
from table_controller.controller.box import Box
from table_controller.journal import records as rec
from table_controller.journal.copier import Copier, CopyState
from table_controller.journal.copy import Ack
from table_controller.table import events as ev
from table_controller.table.decisions import Finding
from tests.support.box.boxes import BoxTestBench, DirectClient
from tests.support.box.power_cuts import steps

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

ABSENT = CopyState(True, None, 5, "PB-721", "the copy is not mounted")
REACHED = CopyState(True, Ack(5, bytes(32)))


class ScriptedCopier:
    """A copier without a disk: the test sets the state of the copy."""

    def __init__(self) -> None:
        self.state = CopyState(True)

    def on_durable(self, record: Any) -> None:
        """Ship nothing."""

    async def close(self) -> None:
        """Do nothing."""

    def become(self, box: Box, state: CopyState) -> None:
        self.state = state
        box.copy_changed(state)


@asynccontextmanager
async def with_copy(folder: Path) -> AsyncIterator[tuple[BoxTestBench, Box, ScriptedCopier, DirectClient]]:
    bench = BoxTestBench(folder)
    copier = ScriptedCopier()
    box = bench.box = Box(bench.plan, bench.clock, threads=False)
    await box.begin(bench._open, lambda _store: cast("Copier", copier))
    await asyncio.sleep(2.0)
    try:
        yield bench, box, copier, await DirectClient(box).sign_on("D1", "F1", "T1", "A1")
    finally:
        await box.stop()
        bench.close()


def reasons_against_opening(box: Box) -> set[str]:
    return {reason.key for reason in box.running_controller().table.permit("open_bets")}


async def test_rounds_wait_for_the_copy_and_open_once_it_is_reached(tmp_path: Path) -> None:
    async with with_copy(tmp_path) as (_, box, copier, _talk):
        assert "copy_not_reached" in reasons_against_opening(box)
        copier.become(box, ABSENT)
        assert "copy_not_reached" in reasons_against_opening(box)
        copier.become(box, REACHED)
        assert "copy_not_reached" not in reasons_against_opening(box)
        copier.become(box, ABSENT)
        assert "copy_not_reached" not in reasons_against_opening(box), (
            "later the game goes on, and the box shows how far the copy is behind"
        )


async def test_two_people_answer_for_a_copy_that_is_out_of_reach_and_the_journal_names_them(tmp_path: Path) -> None:
    async with with_copy(tmp_path) as (bench, box, copier, talk):
        copier.become(box, ABSENT)
        text = await talk.submit("open_round", by="D1")
        assert "copy_not_reached" in str(text)
        for by, second, why in (
            ("F1", "A1", "confirm_copy_absent needs two people: a floorperson"),
            ("T1", "F1", "this is for the floorperson; T1 is technician"),
            ("D1", "T1", "this is for the floorperson; D1 is dealer"),
        ):
            answer = await talk.submit("confirm_copy_absent", document="memo 3", by=by, second=second)
            assert why in str(answer), answer
        assert "name the document" in str(await talk.submit("confirm_copy_absent", document=" ", by="F1", second="T1"))
        assert "copy_not_reached" in reasons_against_opening(box)
        await talk.submit("confirm_copy_absent", document="memo 3", by="F1", second="T1")
        assert "copy_not_reached" not in reasons_against_opening(box)
        (event,) = [
            step.event
            for step in steps(bench.records())
            if isinstance(step.event, ev.CopyAbsenceConfirmed) and "Finding" in str(step.decisions)
        ]
        assert isinstance(event, ev.CopyAbsenceConfirmed)
        assert (event.who.credential, event.second.credential, event.document) == ("F1", "T1", "memo 3")


async def test_every_start_asks_anew(tmp_path: Path) -> None:
    async with with_copy(tmp_path) as (bench, box, copier, talk):
        copier.become(box, ABSENT)
        await talk.submit("confirm_copy_absent", document="memo 3", by="F1", second="T1")
        await box.stop()
        again = bench.box = Box(bench.plan, bench.clock, threads=False)
        await again.begin(bench._open, lambda _store: cast("Copier", ScriptedCopier()))
        assert "copy_not_reached" in reasons_against_opening(again)
        await again.stop()


async def test_a_box_whose_copy_was_taken_over_halts(tmp_path: Path) -> None:
    async with with_copy(tmp_path) as (_, box, copier, _talk):
        copier.become(box, REACHED)
        copier.become(box, CopyState(True, None, 0, "PB-724", "restored into another box"))
        assert box.cause is not None
        assert box.cause.code == "PB-724"
        assert box.pictures.box().phase == "halted"


@pytest.mark.parametrize("configured", [True, False])
async def test_a_box_without_a_copy_is_not_asked(tmp_path: Path, configured: bool) -> None:
    bench = BoxTestBench(tmp_path, "saigon_5_card" if configured else "face_up_pai_gow")
    copier = ScriptedCopier()
    copier.state = CopyState(configured)
    box = bench.box = Box(bench.plan, bench.clock, threads=False)
    await box.begin(bench._open, lambda _store: cast("Copier", copier))
    assert "copy_not_reached" not in reasons_against_opening(box), "no copy, or no meter that two boxes could pay"
    await box.stop()
    bench.close()


async def test_a_copy_that_one_person_took_out_of_the_configuration_is_missed_until_two_people_answer(
    tmp_path: Path,
) -> None:
    async with with_copy(tmp_path) as (bench, box, copier, _talk):
        copier.become(box, REACHED)
        await box.stop()
        without = await bench.start()  # [journal] copy is gone from table.toml
        assert "copy_not_reached" in reasons_against_opening(without)
        talk = await DirectClient(without).sign_on("F1", "T1")
        await talk.submit("confirm_copy_absent", document="memo 4", by="F1", second="T1")
        assert "copy_not_reached" not in reasons_against_opening(without)
        await without.stop()
        answered = await bench.start()
        assert "copy_not_reached" not in reasons_against_opening(answered), (
            "two people answered for a table without a copy"
        )
        await answered.stop()


async def test_damage_in_the_copy_is_a_finding_once_and_the_table_goes_on(seed: int) -> None:
    house = CasinoTable("face_up_pai_gow", seed=seed)
    try:
        await house.open("blue", "red")
        damaged = CopyState(True, Ack(1, b""), damage="record 7 of the second copy is not what was copied: rot")
        for state in (damaged, msgspec.structs.replace(damaged, behind=3), damaged):
            house.box.copy_changed(state)
        await house.wait(1.0)
        steps = [rec.decode_step(each.body) for each in house.disk.records if each.kind == rec.STEP]
        results = [d for step in steps for d in step.decisions if isinstance(d, Finding) and d.kind == "copy_damaged"]
        assert [each.text for each in results] == [damaged.damage]
        await house.round((1, 4))
        assert house.controller.table.state.round.number == 1
    finally:
        await house.close()
