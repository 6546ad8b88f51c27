"""There is one Box: soak, power cuts and simulated panel run the shipped class."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pytest

from simulators.casino.panel import PINS, make_silent_table, people_file
from simulators.casino.soak import run_table
from simulators.casino.table import CasinoTable
from simulators.engine.virtual_time import run_virtual
from table_controller.controller.box import Box
from table_controller.controller.plan import ESCALATE_AFTER_S
from table_controller.journal import records as rec
from table_controller.journal.chain import STOP
from table_controller.panel.app import app_of
from table_controller.panel.panel import Panel
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from tests.support.box.asgi import AsgiBrowser
from tests.support.box.panel_threads import run_inline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.journal.chain import Record

GAME: Final = "face_up_pai_gow"
_ROOT: Final = Path(__file__).parents[2]
# Where a table is simulated, and who may build a controller.
_SIMULATED: Final = (_ROOT / "simulators", _ROOT / "tests" / "support")
_START: Final = "table_controller.controller.start"


def _notes(records: list[Record]) -> list[rec.Note]:
    return [msgspec.json.decode(record.body, type=rec.Note) for record in records if record.kind == rec.NOTE]


def _last_step(records: list[Record]) -> ev.Event:
    return rec.decode_step([record for record in records if record.kind == rec.STEP][-1].body).event


async def _led_on(house: CasinoTable) -> None:
    """Restore power after every cut and play until the table is idle."""
    while house.is_box_down:
        await house.power_up()
        await house.until_quiescent()


# --- one class --------------------------------------------------------------------------------------------------------


def _sources(*folders: Path, word: str) -> Iterator[tuple[str, ast.AST]]:
    """Yield the source files below these folders that contain this word."""
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            text = path.read_text("utf-8")
            for node in ast.walk(ast.parse(text)) if word in text else ():
                yield str(path.relative_to(_ROOT)), node


def test_no_simulation_has_a_box_class_of_its_own_or_passes_something_off_as_one() -> None:
    wrong = []
    for path, node in _sources(*_SIMULATED, word="Box"):
        if isinstance(node, ast.ClassDef):
            bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
            if node.name == "Box" or "Box" in bases:
                wrong.append(f"{path}: class {node.name}")
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "cast" and "Box" in ast.dump(node.args[0]):
            wrong.append(f"{path}:{node.lineno}: a cast to Box")
    assert not wrong, wrong


def test_only_the_shipped_box_builds_a_controller() -> None:
    folders = [_ROOT / name for name in ("table_controller", "simulators", "tests", "tools", "benchmarks")]
    importing = {
        path
        for path, node in _sources(*folders, word=_START)
        if isinstance(node, ast.ImportFrom) and node.module == _START
    }
    assert importing == {"table_controller/controller/box.py"}


# --- the simulated table ----------------------------------------------------------------------------------------------


async def test_a_simulated_table_runs_the_shipped_box_also_after_a_power_cut(seed: int) -> None:
    house = CasinoTable(GAME, seed=seed)
    try:
        await house.open("blue", "red")
        first = house.box
        await house.round((1, 4))
        house.disk.cut()
        assert house.is_box_down
        await house.power_up()
        await house.until_quiescent()
        assert type(first) is type(house.box) is Box
        assert first is not house.box
        assert (first.boot, house.box.boot) == (1, 2)
        assert house.controller is house.box.running_controller()
    finally:
        await house.close()


async def test_nothing_of_a_box_runs_once_its_power_is_gone(seed: int) -> None:
    house = CasinoTable(GAME, seed=seed, models={"keypad.1": "keypad", "meter_sign.1": "meter-sign"})
    try:
        await house.open("blue", "red")
        house.controller.submit(ev.OpenRound(ev.Person("dealer", "dealer-1")))
        await house.wait(1.0)
        box, reported = house.box, len(house.step_log)
        house.disk.cut()
        writes, records, seen = house.mains.writes, list(house.disk.records), []
        box.on_device_event.append(lambda slot, event: seen.append((slot, event)))
        box.running_controller().submit(ev.NoMoreBets(ev.Person("dealer", "dealer-1")))
        box.note(rec.Note("died", "nobody writes this down"))
        await house.wait(ESCALATE_AFTER_S * 3)
        assert (house.mains.writes, house.disk.records, len(house.step_log), seen) == (writes, records, reported, [])
        assert all(task.done() for task in box.tasks._tasks.values())
        assert house.machines["bet_sensor.1"].firmware.memory.open, "no machine was made safe by a box without power"  # type: ignore[attr-defined]
        await box.stop()
        assert house.disk.records == records, "a box without power leaves no last word"
    finally:
        await house.close()


async def test_a_box_that_is_stopped_in_order_stops_its_machines_and_records_its_stop(seed: int) -> None:
    house = CasinoTable(GAME, seed=seed)
    await house.open("blue", "red")
    house.controller.submit(ev.OpenRound(ev.Person("dealer", "dealer-1")))
    await house.wait(1.0)
    await house.close()
    assert any(
        isinstance(rec.decode_step(record.body).event, ev.BoxHalted)
        for record in house.disk.records
        if record.kind == rec.STEP
    )
    assert house.disk.records[-1].kind == STOP
    assert not house.machines["bet_sensor.1"].firmware.memory.open  # type: ignore[attr-defined]


async def test_a_hold_that_nobody_clears_is_escalated_at_a_simulated_table_and_again_after_a_cut(seed: int) -> None:
    house = CasinoTable(GAME, seed=seed)
    try:
        await house.open("blue", "red")
        house.people.see_decision = lambda decision: None  # type: ignore[method-assign] # nobody is there
        house.disk.cut()
        await house.power_up()
        house.controller.submit(ev.IrregularityReported("count_wrong", ev.Person("dealer", "dealer-1"), deck="blue"))
        await house.wait(ESCALATE_AFTER_S + 1)
        once = [note for note in _notes(house.disk.records) if note.kind == "escalated"]
        house.disk.cut()
        await house.power_up()
        await house.wait(ESCALATE_AFTER_S + 1)
        again = [note for note in _notes(house.disk.records) if note.kind == "escalated"]
        assert once
        assert {note.hold for note in again[len(once) :]} >= {note.hold for note in once}
    finally:
        await house.close()


def test_the_same_seed_gives_the_same_journal_over_power_cuts() -> None:
    async def played() -> list[tuple[str, bytes]]:
        house = CasinoTable(GAME, seed=11)
        try:
            await house.open("blue", "red")
            house.mains.cut_at = house.mains.writes + 300
            await house.round((1, 4))
            await _led_on(house)
            house.disk.cut_at = house.disk.points + 20
            await house.round((2,))
            await _led_on(house)
        finally:
            await house.close()
        assert house.disk.cuts == 2
        return [(record.kind, record.body) for record in house.disk.records]

    assert run_virtual(played()) == run_virtual(played())


# --- soak -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", [GAME, "over_under"])
def test_the_journal_of_a_soak_holds_what_only_the_shipped_box_records(game: str) -> None:
    houses: list[CasinoTable] = []

    def make(*args: Any, **options: Any) -> CasinoTable:
        houses.append(CasinoTable(*args, **options))
        return houses[-1]

    day, failure = run_table(game, 4, 2, [], make=make)
    assert failure is None
    assert day.rounds == 2
    (house,) = houses
    assert type(house.box) is Box
    assert next(note.kind for note in _notes(house.disk.records)) == "signed_on"
    assert isinstance(_last_step(house.disk.records), ev.BoxHalted)
    assert house.disk.records[-1].kind == STOP
    assert house.box.is_stopping


# --- the simulated panel ----------------------------------------------------------------------------------------------


async def test_a_panel_of_a_simulated_table_shows_the_state_of_the_shipped_box_after_a_power_cut(
    tmp_path: Path,
) -> None:
    house, hands = make_silent_table(GAME, people_file(tmp_path))
    hands.is_silent = False
    await house.open("blue", "red")
    hands.is_silent = True
    house.controller.submit(ev.OpenRound(ev.Person("dealer", "dealer-1")))
    await house.wait(1.0)
    house.disk.cut()
    await house.power_up()
    panel = Panel(house.box, house.box.check_person, name="table 7", in_thread=run_inline)
    try:
        browser = AsgiBrowser(app_of(panel))
        assert (await browser.sign_on("floor-1", PINS["floor-1"])).status == 200
        events = await browser.stream("/api/stream", lambda seen: any(each.get("event") == "state" for each in seen))
        shown = str(next(event for event in events if event.get("event") == "state"))
        assert "box_restarted" in shown or "Box restarted" in shown
        assert house.controller.table.state.round.state == mc.NO_MORE_BETS
        dealer = AsgiBrowser(app_of(panel))
        assert (await dealer.sign_on("dealer-2", PINS["dealer-2"])).status == 200
        assert house.box.presence is not None
        assert house.box.presence.dealer == ev.Person("dealer", "dealer-2"), "the box knows who deals"
        await house.wait(1.0)
        assert [note.who.credential for note in _notes(house.disk.records) if note.who] == ["floor-1", "dealer-2"]
    finally:
        panel.close()
        await house.close()
