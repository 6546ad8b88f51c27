"""The auditor's tool ties money to answers: a change of either, even with a new chain, is found at its record."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from table_controller.journal.export import export
from tests.support.box.export_forgeries import ForgedExport, Forgery
from tests.support.box.journals import quick_folder
from tests.support.box.money_forgeries import MONEY_FORGERIES, played
from tools import verify_export

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def honest() -> Iterator[Path]:
    with quick_folder() as folder:
        export(played(folder / "journal").folder, folder / "export")
        yield folder / "export"


def test_the_honest_export_verifies_and_holds_what_is_forged(honest: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify_export.main([str(honest)]) == 0, capsys.readouterr().out
    output = capsys.readouterr().out
    for kind in (
        "award_paid",
        "envy",
        "hit_rebooked",
        "hit_reversed",
        "hit_withdrawn",
        "hand_pay_paid",
        "bet_returned",
    ):
        assert f" {kind}" in output, output


@pytest.mark.parametrize("forgery", MONEY_FORGERIES, ids=lambda forgery: forgery.name)
def test_every_forgery_of_money_is_found_at_its_record(
    honest: Path, forgery: Forgery, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forged = ForgedExport(honest)
    place = forgery.change(forged)
    code = verify_export.main([str(forged.write(tmp_path / "forged", rechain=True))])
    output = capsys.readouterr().out
    assert code == 1, output
    assert re.search(forgery.finding, output), output
    assert place is not None
    assert f"record {place + 1}: " in output, (place + 1, output)
