"""`pitbox config accept` on a real box: devices change by two people between rounds, and the auditor's tool agrees."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from firmware_bridge.keys import new_key, save_key
from simulators.casino.remote_table import RemoteTable
from simulators.casino.table_layout import BENCH_PEOPLE, BENCH_PIN
from table_controller.table import events as ev
from table_controller.table.state import SlotState
from tests.support.box.processes import pitbox
from tests.support.box.running_box import RunningBox
from tools import verify_export

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.realtime, pytest.mark.timeout(300)]

GAME = "face_up_pai_gow"


def _pins(folder: Path, pin: str = BENCH_PIN) -> list[str]:
    file = folder / f"pins-{pin}"
    file.write_text("".join(f"{id_} {pin}\n" for id_ in BENCH_PEOPLE))
    file.chmod(0o600)
    return ["--pin-file", str(file)]


def _add_keypad(config: Path) -> None:
    """Write a device into a table.toml that its table never had; it need not be plugged in."""
    save_key(config.parent / "keypad.1.key", new_key("SN-keypad", "keypad"))
    more = f'\n[device.keypad.1]\nport = "{config.parent / "keypad.1"}"\nkey = "keypad.1.key"\n'
    config.write_text(config.read_text() + more)


def _accept(config: Path, pins: list[str], technician: str, floorperson: str, expect: int) -> str:
    people = ["--technician", technician, "--floorperson", floorperson]
    return pitbox("config", "accept", "--config", str(config), *people, *pins, expect=expect)


async def _locked(config: Path) -> str:
    with RunningBox(config) as box:
        status = await asyncio.to_thread(box.status)
        assert status["phase"] == "locked", status
        return f"{status['cause']['code']} {status['cause']['text']}"


async def test_a_keypad_is_added_and_removed_by_two_people_between_rounds_and_the_table_plays_on(
    tmp_path: Path,
) -> None:
    pins = _pins(tmp_path)
    async with RemoteTable(tmp_path, GAME, seed=5, speed=400.0, pace=0.01) as table:
        with RunningBox(table.config) as box:
            await table.connect_to_box()
            await table.until_quiescent()
            await table.bring_deck("blue")
            await table.round((1, 4))
            refused = await asyncio.to_thread(_accept, table.config, pins, "tech-1", "floor-1", 6)
            assert "PB-812" in refused, "a box runs"
        before = table.config.read_text()
        _add_keypad(table.config)
        why = await _locked(table.config)
        assert why.startswith("PB-731")
        assert "added: keypad.1 (keypad)" in why
        assert "pitbox config accept" in why
        for technician, floorperson, words, code in (
            ("tech-1", "tech-1", "tech-1 is one", 1),
            ("tech-1", "dealer-1", "dealer-1 is a dealer", 1),
            ("dealer-1", "floor-1", "dealer-1 is a dealer", 1),
            ("floor-1", "tech-1", "floor-1 is a floorperson", 1),
        ):
            answer = await asyncio.to_thread(_accept, table.config, pins, technician, floorperson, code)
            assert words in answer
        wrong = _pins(tmp_path, "314159")
        assert "PB-320" in await asyncio.to_thread(_accept, table.config, wrong, "tech-1", "floor-1", 4)
        people = tmp_path / "data" / "people.json"
        known = json.loads(people.read_text())
        next(each for each in known["people"] if each["id"] == "floor-2")["person"] = "4711"  # by hand
        people.write_text(json.dumps(known))
        answer = await asyncio.to_thread(_accept, table.config, pins, "tech-1", "floor-1", 0)
        assert "added: keypad.1 (keypad)" in answer
        assert "accepted by technician tech-1 and floorperson floor-1" in answer
        assert "PB-322" in await asyncio.to_thread(_accept, table.config, pins, "tech-1", "floor-1", 4), "once"
        with RunningBox(table.config) as box:
            status = await asyncio.to_thread(box.status)
            assert status["phase"] == "running"
            edited = [
                finding for finding in status["state"]["findings"] if "edited by hand: floor-2" in finding["text"]
            ]
            assert edited, "the journal still knows who was listed, and finds what was edited by hand"
            assert "keypad.1" in [slot["name"] for slot in status["slots"]]
            number = status["state"]["round"]["number"]
            table.controller.table.state.slots["keypad.1"] = SlotState("keypad")  # people see the added machine, too
            await table.connect_to_box()
            await table.until_quiescent()
            await table.round((1, 4))
            assert (await asyncio.to_thread(box.status))["state"]["round"]["number"] == number + 1
        table.config.write_text(before)
        assert "removed: keypad.1 (keypad)" in await _locked(table.config)
        assert "removed" in await asyncio.to_thread(_accept, table.config, pins, "tech-1", "floor-1", 0)
        with RunningBox(table.config) as box:
            assert (await asyncio.to_thread(box.status))["phase"] == "running"
    folder = str(tmp_path / "data" / "journal")
    shown = pitbox("journal", "tail", "-n", "9999", folder)
    for what in ("added", "removed"):
        assert f"technician tech-1 and floorperson floor-1 accepted: {what}: keypad.1 (keypad)" in shown
    pitbox("journal", "export", folder, "--to", str(tmp_path / "export"))
    assert verify_export.main([str(tmp_path / "export")]) == 0


async def test_nothing_is_accepted_while_a_round_is_open(tmp_path: Path) -> None:
    async with RemoteTable(tmp_path, GAME, seed=5, speed=400.0, pace=0.01) as table:
        with RunningBox(table.config) as box:
            await table.connect_to_box()
            await table.until_quiescent()
            await table.bring_deck("blue")
            number = (await asyncio.to_thread(box.status))["state"]["round"]["number"]
            table.controller.submit(ev.OpenRound(ev.Person("dealer", "dealer-1")))
            await table.until(lambda: table.controller.table.state.round.number == number + 1)
            table.box.powered = False
            box.end()
        _add_keypad(table.config)
        answer = await asyncio.to_thread(_accept, table.config, _pins(tmp_path), "tech-1", "floor-1", 1)
        assert "PB-731" in answer
        assert "end the round" in answer
