"""Findings of a table stay visible: important ones first, bounded by kind, also after a restart."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from table_controller.cli.commands.status import status_lines
from table_controller.panel.app import app_of
from table_controller.panel.panel import Panel
from table_controller.uplink.retained import RetainedTopics
from table_controller.uplink.service import source_of
from table_controller.uplink.settings import MqttSettings
from table_controller.uplink.topics import Topics
from tests.support.box.asgi import AsgiBrowser
from tests.support.box.boxes import PIN, BoxTestBench, DirectClient
from tests.support.box.panel_threads import run_inline

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from table_controller.controller.box import Box

BAD_DECK = "deck blue failed its inspection"
MANY = 500


async def _bad_deck(talk: DirectClient, box: Box) -> None:
    """Report by the dealer that a deck is not whole."""
    await talk.submit("deck", deck="blue")
    assert box.controller is not None
    (question,) = [p for p in box.controller.table.state.prompts.values() if p.kind == "opening/composition"]
    answer = await talk.submit("answer", prompt=question.id, choice="not_whole")
    assert any(decision["type"] == "Finding" for decision in answer["decisions"]), answer


async def _refused(talk: DirectClient, times: int) -> None:
    for _ in range(times):
        answer = await talk.submit("no_more_bets")
        assert answer["decisions"][0]["type"] == "RequestRefused", answer


async def _floor_page(box: Box) -> list[dict[str, Any]]:
    """Return the findings on the floorperson's page."""
    panel = Panel(box, box.check_person, name="bench", in_thread=run_inline)
    try:
        archive: Any = panel.live.archive
        await archive._loading
        floor = AsgiBrowser(app_of(panel))
        assert (await floor.sign_on("F1", PIN)).status == 200
        seen = await floor.stream("/api/stream", lambda events: any(e.get("event") == "state" for e in events))
        finding: list[dict[str, Any]] = seen[-1]["data"]["findings"]
        return finding
    finally:
        panel.close()


async def _published(box: Box) -> list[dict[str, Any]]:
    """Return the findings in the retained state message."""
    settings = MqttSettings(host="127.0.0.1", port=1883, prefix="pitbox/t", client_id="t")
    retained = RetainedTopics(settings, Topics("pitbox/t"), source_of(box), 1.0)
    state = msgspec.to_builtins(retained._described())
    finding: list[dict[str, Any]] = state["findings"]
    return finding


@asynccontextmanager
async def started(bench: BoxTestBench) -> AsyncIterator[tuple[Box, DirectClient]]:
    box = await bench.start()
    try:
        yield box, DirectClient(box)
    finally:
        await box.stop()


async def _must_be_first(box: Box) -> None:
    page = await _floor_page(box)
    assert BAD_DECK in [one["text"] for one in page if one["severity"] == "important"]
    ranks = [one["severity"] for one in page]
    assert ranks == sorted(ranks, key=["important", "notice", "refusal"].index), "the important ones come first"
    assert 0 < ranks.count("refusal") < 20, "a few are enough"
    picture = box.pictures.box()
    assert picture.state is not None
    listed = picture.state.findings
    assert BAD_DECK in [one.text for one in listed]
    assert listed[0].severity == "important"
    assert any(BAD_DECK in line for line in status_lines(picture))
    published = await _published(box)
    assert published[0]["severity"] == "important"
    assert "not_whole" in [one["kind"] for one in published]


async def test_a_bad_deck_stays_first_however_many_requests_are_refused_after_it(tmp_path: Path) -> None:
    bench = BoxTestBench(tmp_path)
    try:
        async with started(bench) as (box, talk):
            await talk.sign_on("D1")
            await _bad_deck(talk, box)
            await _refused(talk, MANY)
            await _must_be_first(box)
        async with started(bench) as (box, _):
            await _must_be_first(box)  # from the snapshot of the orderly stop
    finally:
        bench.close()


async def test_a_bad_deck_is_still_shown_after_a_power_cut(tmp_path: Path) -> None:
    bench = BoxTestBench(tmp_path)
    try:
        box = await bench.start()
        talk = await DirectClient(box).sign_on("D1")
        await _bad_deck(talk, box)
        await _refused(talk, 60)
        box.lose_power()
        bench.disk.cut()
        await box.stop()
        await asyncio.sleep(1.0)
        async with started(bench) as (box, _):
            await _must_be_first(box)  # from the steps that were replayed
    finally:
        bench.close()
