"""The auditor's tool and meter adjustments: a changed record is found, and honest exports verify."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import pytest

from table_controller.journal.export import export
from tests.support.box.export_forgeries import ForgedExport, Forgery
from tests.support.box.journals import quick_folder
from tests.support.box.supervision_forgeries import (
    ENVY_FORGERIES,
    SUPERVISION_FORGERIES,
    play_envy_table,
    play_supervised_table,
)
from tools import verify_export

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PLAYED: Final = {"supervised": play_supervised_table, "envied": play_envy_table}
FORGERIES: Final = [("supervised", one) for one in SUPERVISION_FORGERIES] + [("envied", one) for one in ENVY_FORGERIES]
# Records that the honest exports must hold so that the forgeries have an effect.
HAS: Final = {
    "supervised": ("correction", "reset", "transfer", "hit", "bet_returned"),
    "envied": ("envy", "envy_returned", "hit_withdrawn"),
}


@pytest.fixture(scope="module")
def honest() -> Iterator[dict[str, Path]]:
    with quick_folder() as folder:
        for name, play in PLAYED.items():
            export(play(folder / name).folder, folder / f"{name} export")
        yield {name: folder / f"{name} export" for name in PLAYED}


@pytest.mark.parametrize("name", list(PLAYED))
def test_the_honest_export_verifies(honest: dict[str, Path], name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify_export.main([str(honest[name])]) == 0, capsys.readouterr().out
    output = capsys.readouterr().out
    assert all(f" {kind}" in output for kind in HAS[name]), output


@pytest.mark.parametrize(("name", "forgery"), FORGERIES, ids=lambda each: getattr(each, "name", ""))
def test_every_forgery_of_supervision_is_found_at_its_record(
    honest: dict[str, Path], name: str, forgery: Forgery, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forged = ForgedExport(honest[name])
    place = forgery.change(forged)
    code = verify_export.main([str(forged.write(tmp_path / "forged", rechain=True))])
    output = capsys.readouterr().out
    assert code == 1, output
    assert re.search(forgery.finding, output), output
    assert place is not None
    assert f"record {place + 1}: " in output, (place + 1, output)
