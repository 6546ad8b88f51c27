"""The examples of docs/documents.md: documents of one simulated table, as `pitbox document` prints them."""

from __future__ import annotations

import asyncio
import re
import tempfile
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from simulators.casino.table import CasinoTable
from simulators.casino.winning_players import WinningPlayers
from simulators.engine.virtual_time import run_virtual
from table_controller.documents.archive import read_document
from table_controller.documents.plain_text import render_text
from table_controller.documents.registry import DOCUMENTS
from table_controller.documents.search import Selection
from table_controller.journal.chain import ZERO_HEAD
from table_controller.journal.export import ExportManifest, write_export

if TYPE_CHECKING:
    from collections.abc import Callable

_SEED: Final = 3
_HEAD: Final = re.compile(r"\b[0-9a-f]{64}\b")
# What the page shows for every head: the journal's first record names the software, so its heads change with each
# change of the rulebook.
_SHOWN_HEAD: Final = "5e1fd09a…"


@cache
def examples() -> dict[str, str]:
    """Return one document of each kind as text, with one short head for all."""
    printed: dict[str, str] = {}

    async def play(folder: Path) -> None:
        house = CasinoTable(
            "face_up_pai_gow", seed=_SEED, people=lambda house: WinningPlayers(house, _SEED, wins=1.0),
            models={"shuffler.1": "shuffler-identifying"},
        )  # fmt: skip
        try:
            await house.open("blue", "red")
            for _ in range(3):
                await house.round((1, 4))
            house.machines["shuffler.1"].inject("door:to=open")
            await asyncio.sleep(5)
            house.machines["shuffler.1"].inject("door:to=closed")
            await asyncio.sleep(5)
            house.on_collect = house.swap_one
            for _ in range(3):
                await house.round((2,))
            write_export(ExportManifest(first=1, head_before=ZERO_HEAD.hex()), house.disk.records, folder)
            checks = [record.seq for record in house.disk.records if b'"rejected":true' in record.body]
        finally:
            await house.close()
        for name, kind in DOCUMENTS.items():
            record = checks[0] if name == "deck-check" else None
            text = render_text(read_document(folder, kind, Selection(record=record)))
            printed[name] = _HEAD.sub(_SHOWN_HEAD, text)

    with tempfile.TemporaryDirectory() as folder:
        run_virtual(play(Path(folder)))
    return printed


def _part(name: str) -> str:
    return f"```text\n{examples()[name].rstrip()}\n```"


PARTS: Final[dict[str, Callable[[], str]]] = {f"document {name}": partial(_part, name) for name in DOCUMENTS}
