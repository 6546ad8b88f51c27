"""The panel's review of past rounds and findings from before the start, read from the journal with limits."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from simulators.casino.panel import PINS
from table_controller.access.pin_check import PinChecker
from table_controller.panel import journal_access
from table_controller.panel import round_index as past
from table_controller.panel.app import app_of
from table_controller.panel.panel import Panel
from table_controller.table.decisions import Finding
from tests.scenario.test_panel import staged
from tests.support.box.asgi import AsgiBrowser
from tests.support.box.panel_threads import check_inline, run_inline

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import pytest


async def _played(stage: Any, rounds: int = 1, bets: tuple[int, ...] = ()) -> None:
    """Play rounds without a page."""
    stage.hands.is_silent = False
    for _ in range(rounds):
        await stage.house.round(bets)
    stage.hands.is_silent = True


@asynccontextmanager
async def another(stage: Any, folder: Path) -> AsyncIterator[AsgiBrowser]:
    """Start another panel at the same table and sign a floorperson on."""
    checker = check_inline(PinChecker(folder / "people.json"))
    panel = Panel(stage.house.box, checker, name="again", in_thread=run_inline)
    try:
        archive: Any = panel.live.archive
        await stage.house.until(archive._loading.done)
        browser = AsgiBrowser(app_of(panel))
        assert (await browser.sign_on("floor-1", PINS["floor-1"])).status == 200
        yield browser
    finally:
        panel.close()


async def test_a_round_is_shown_whole_with_its_phases_its_deck_and_the_meter(tmp_path: Path) -> None:
    async with staged(tmp_path, "face_up_pai_gow") as stage:
        await _played(stage, 2, (1, 4))
        floor = await stage.person("floor-1")
        listed = (await floor.get("/api/rounds")).json
        assert [one["number"] for one in listed["rounds"]] == [2, 1]
        assert {one["end"] for one in listed["rounds"]} == {"complete"}
        story = (await floor.get("/api/round/2")).json
        parts = {part["title"].partition(" (")[0].partition(":")[0]: part["lines"] for part in story["parts"]}
        phases = [re.sub(r" \(.*", "", line[10:]) for line in parts["Phases"]]
        assert phases[:3] == ["betting", "no more bets", "locked"]
        assert phases[-2:] == ["complete", "idle"]
        deck = "\n".join(parts["The deck and its checks"])
        assert "it is ready" in deck
        assert "it is in play" in deck
        assert "count 53" in deck
        latched = [line for line in parts["Wagers and bets"] if "locked by its sensor" in line]
        assert len(latched) == 6
        assert sum("a chip is on the spot" in line for line in latched) == 2
        assert "total" in parts["Starting position"][0]
        assert len(parts["Entries of the meter"]) >= 2
        assert any("dealer dealer-1" in line for line in parts["Questions and answers"])
        assert story["affected"] == []
        text = "\n".join(line for part in story["parts"] for line in part["lines"])
        assert not re.search(r"[♠♥♦♣]|\b(?:[2-9TJQKA]|10)[shdc]\b", text), "nobody records the order of cards"


async def test_a_restarted_panel_shows_what_happened_before(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        await _played(stage, 3)
        assert (await (await stage.person("dealer-1")).submit("no_more_bets")).status == 409
        async with another(stage, tmp_path) as floor:
            listed = (await floor.get("/api/rounds")).json
            assert [one["number"] for one in listed["rounds"]] == [3, 2, 1]
            assert not listed["older"]
            first = (await floor.get("/api/round/1")).json
            assert first["end"].endswith("played to its end")
            seen = await floor.stream("/api/stream", lambda events: any(e.get("event") == "state" for e in events))
            assert any(finding["text"].startswith("refused") for finding in seen[-1]["data"]["findings"])


async def test_an_affected_round_is_marked(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        await _played(stage, 2)
        archive: Any = stage.panel.live.archive
        results = [Finding("affected", "a card was missing", "blue", (1,))]
        archive._marks += past.marks_of(stage.house.controller.durable_seq, 0, results)
        floor = await stage.person("floor-1")
        listed = (await floor.get("/api/rounds")).json["rounds"]
        assert [(one["number"], one["affected"]) for one in listed] == [(2, False), (1, True)]
        assert [one["text"] for one in (await floor.get("/api/round/1")).json["affected"]] == ["a card was missing"]
        assert (await floor.get("/api/round/2")).json["affected"] == []


async def test_a_void_round_and_one_under_way_are_shown(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        dealer, floor = await stage.person("dealer-1"), await stage.person("floor-1")
        await dealer.submit("open_round")
        assert (await floor.get("/api/rounds")).json["rounds"][0]["end"] == "under way"
        under_way = (await floor.get("/api/round/1")).json
        assert under_way["end"] == "the round has not ended in this journal"
        await dealer.submit("report", trigger="shuffler_fault", slot="shuffler.1")
        assert (await floor.get("/api/rounds")).json["rounds"][0]["irregularities"] == 1
        story = (await floor.get("/api/round/1")).json
        wrong = next(part["lines"] for part in story["parts"] if part["title"].startswith("Irregularities"))
        assert "[" in wrong[0], "with its clause"
        assert "reported by dealer dealer-1" in wrong[1]


async def test_past_rounds_are_shown_to_floorpersons_and_auditors_only(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        await _played(stage)
        for id_, status in (("dealer-1", 403), ("tech-1", 403), ("floor-1", 200), ("audit-1", 200)):
            browser = await stage.person(id_)
            assert (await browser.get("/api/rounds")).status == status
            assert (await browser.get("/api/round/1")).status == status
        assert (await AsgiBrowser(stage.app).get("/api/rounds")).status == 401
        auditor = await stage.person("audit-1")
        assert (await auditor.get("/api/round/77")).status == 409
        assert (await auditor.get("/api/round/x")).status == 404


async def test_the_journal_is_read_in_pieces_and_reading_waits_while_sensors_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_access, "BATCH", 7)
    monkeypatch.setattr(past, "LOOK_BACK", 120)
    async with staged(tmp_path) as stage:
        await _played(stage, 4)
        async with another(stage, tmp_path) as floor:
            listed = (await floor.get("/api/rounds")).json
            assert listed["older"]
            known = len(listed["rounds"])
            assert 0 < known < 4
            while listed["older"]:
                listed = (await floor.get("/api/rounds?older")).json
                assert len(listed["rounds"]) >= known
            assert [one["number"] for one in listed["rounds"]] == [4, 3, 2, 1]
            whole = (await floor.get("/api/round/3")).json
        held = [True, True, False]
        pieces: list[tuple[int, int]] = []

        async def thread(work: Any, store: Any, first: int, last: int, original: Any) -> Any:
            pieces.append((first, last))
            assert not held, "nothing is read while sensors lock"
            return work(store, first, last, original)

        slow = journal_access.JournalAccess(
            lambda: stage.house.box.store, thread, lambda: bool(held and (held.pop(0) or True))
        )
        records: list[int] = []

        def original(taken: Any) -> bool:
            records.extend(record.seq for record in taken)
            return False

        await slow.forward(3, 20, original)
        assert records == list(range(3, 21))
        assert pieces == [(3, 9), (10, 16), (17, 20)]
        assert whole["number"] == 3
