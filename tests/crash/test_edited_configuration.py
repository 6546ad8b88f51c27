"""One person edits table.toml between two starts of a real box: every edit of money or the game is refused."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

import pytest

from simulators.casino.remote_table import RemoteTable
from table_controller.config import load_config
from table_controller.journal.accounts import read_money_book
from tests.support.box.running_box import RunningBox

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.realtime, pytest.mark.timeout(300)]

_DEVICE = r"\[device\.{}\]\n(?:\w.*\n)*\n?"
# The edit, the box's answer ("": it ends with a message before any machine is touched), and its text.
EDITS: dict[str, tuple[Callable[[str], str], str, str]] = {
    "paytable": (lambda t: t.replace("688a-progressive-1", "688a-progressive-2"), "PB-731", "688a-progressive-1 ->"),
    "seed": (lambda t: t.replace("688a-progressive-1", "688a-progressive-3"), "PB-731", "seed $10,000.00 -> $2,000.00"),
    "unit": (lambda t: t.replace("688a-progressive-1", "688a-progressive-4"), "PB-731", "unit $1.00 -> $5.00"),
    "no progressive": (
        lambda t: re.sub(r"(?m)^(wagers|paytables) = .*\n", "", t), "PB-731", "688a-progressive-1 -> no progressive"
    ),
    "rate": (lambda t: t.replace("[rules]\n", "[rules]\nprogressive_rate_bp = 100\n"), "", "progressive_rate_bp"),
    "another game": (lambda t: t.replace('game = "face_up_pai_gow"', 'game = "dj_wild"'), "", ""),
    "a sensor less": (lambda t: re.sub(_DEVICE.format(r"bet_sensor\.6"), "", t), "", "bet_sensor"),
    "no sensor, no progressive": (
        lambda t: re.sub(_DEVICE.format(r"bet_sensor\.\d"), "", re.sub(r"(?m)^(wagers|paytables) = .*\n", "", t)),
        "PB-731", "no progressive",
    ),
    "seats": (lambda t: t.replace("[rules]\n", "[rules]\nseats = 5\n"), "", "seats = 5"),
    "dealt by hand": (
        lambda t: re.sub(_DEVICE.format(r"shoe\.1"), "", t.replace('"automated_shoe"', '"manual_shoe"')), "PB-731",
        "dealing: automated_shoe -> manual_shoe",
    ),
}  # fmt: skip


async def test_every_edit_that_touches_the_meter_or_the_game_is_refused_and_the_old_file_plays_on(
    tmp_path: Path,
) -> None:
    async with RemoteTable(tmp_path, "face_up_pai_gow", seed=5, speed=100.0, pace=0.01) as table:
        journal = tmp_path / "data" / "journal"
        with RunningBox(table.config) as box:
            await table.connect_to_box()
            await table.until_quiescent()
            await table.bring_deck("blue")
            await table.round((1, 4))
            await table.until_quiescent()  # people play the round to its end, however slow the computer was
            state = table.controller.table.state
            assert (state.round.state, state.holds) == ("idle", {})
            table.box.powered = False
            assert await asyncio.to_thread(box.end) == 0
        before, book = table.config.read_text(), read_money_book(journal)
        assert book.meters.current > 10_000_000_000
        for name, (edit, code, words) in EDITS.items():
            table.config.write_text(edit(before))
            assert table.config.read_text() != before, name
            with RunningBox(table.config) as box:
                if code:
                    status = await asyncio.to_thread(box.status)
                    assert (status["phase"], status["cause"]["code"]) == ("locked", code), name
                    assert words in status["cause"]["text"], name
                else:
                    assert await asyncio.to_thread(box.process.wait, 60) != 0, name
                    assert words in box.log_text(), name
        table.config.write_text(before)
        load_config(table.config)
        with RunningBox(table.config) as box:
            status = await asyncio.to_thread(box.status)
            assert status["phase"] == "running"
            assert status["state"]["meters"]["current"] == book.meters.current
