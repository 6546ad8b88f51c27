"""Files that the second version wrote (tests/fixtures/second_edition), unpacked before use. No tests here."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from table_controller.journal import records as rec
from table_controller.journal.store import Policy, Store
from table_controller.journal.versions import digests_of
from tests.support.core.ideal_table import WILD_PROGRESSIVE, IdealTable

if TYPE_CHECKING:
    from collections.abc import Mapping

FILES: Final = Path(__file__).parent.parent / "fixtures" / "second_edition"
CAPTURE: Final = FILES / "capture.pcapng"
PEOPLE: Final = FILES / "people.json"
GAMES: Final = ("asia_poker", "saigon_5_card", "over_under", "dj_wild", "face_up_pai_gow")
JOURNALS: Final = ("wild", "pai_gow", "halfway", "several", "box_journal")
EXPORTS: Final = ("wild", "pai_gow", "box_journal")
# Journals that ended between two rounds, with the game and the choices of their table.
TABLES: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "wild": ("dj_wild", WILD_PROGRESSIVE),
    "pai_gow": ("face_up_pai_gow", {}),
    "several": ("over_under", {}),
}


def golden() -> dict[str, Any]:
    """Return the figures that every version must find."""
    content: dict[str, Any] = json.loads((FILES / "golden.json").read_text("utf-8"))
    return content


def shapes() -> dict[str, Any]:
    """Return the names of types and fields that this edition used."""
    content: dict[str, Any] = json.loads((FILES / "shapes.json").read_text("utf-8"))
    return content


def unpacked(name: str, folder: Path) -> Path:
    """Unpack one of the archives into a folder of its own."""
    target = folder / name
    with tarfile.open(FILES / f"{name}.tar.xz") as archive:
        archive.extractall(target, filter="data")
    return target


def opened(folder: Path, floor: IdealTable) -> tuple[Store, dict[str, str]]:
    """Open a journal for writing as a box of this version does."""
    context = floor.table.context
    digests = digests_of(context.edition, context.submission, dict(floor.slots))
    policy = Policy(segment_bytes=1 << 20, ballast_bytes=0)
    return Store.open(folder, version=rec.VERSION, digests=digests, policy=policy), digests


def floor_of(name: str) -> IdealTable:
    """Return a fresh table of the game that a journal was written at."""
    game, choices = TABLES[name]
    return IdealTable(game, **choices)
