"""The independent verifier: exports verify, every forgery is found, and it shares no code with the box."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from simulators.casino.disk import Disk
from simulators.casino.table import CasinoTable
from simulators.casino.table_layout import inserting_models
from table_controller.journal.export import ExportManifest, export, write_export
from tests.support.box.export_forgeries import FORGERIES, ForgedExport, Forgery
from tests.support.box.journal_prefixes import RecordedRun
from tests.support.box.journals import quick_folder
from tests.support.box.power_cuts import PowerCutTable, choices_of, cut_at_random_point, new_decks
from tests.support.box.recorded_table import GAMES, PROGRESSIVE, RecordedTable
from tests.support.core.ideal_table import WILD_PROGRESSIVE
from tests.support.suite.case_counts import count_cases
from tools import verify_export

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.journal.chain import Record

VERIFIER = Path(verify_export.__file__)


@pytest.fixture(scope="module")
def played() -> Iterator[dict[str, Path]]:
    """Yield an export for every game: rounds, a short deck, a void round, hits, a correction, a kill, a restart."""
    with quick_folder() as folder:
        for game in GAMES:
            export(RecordedTable(folder / game, game).play_everything().folder, folder / f"{game}.export")
        yield {game: folder / f"{game}.export" for game in GAMES}


def alone(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the verifier as an auditor does: no environment, no site packages, nothing of the box on the path."""
    return subprocess.run(
        [sys.executable, "-I", "-S", str(VERIFIER), *words],
        capture_output=True,
        text=True,
        env={},
        cwd="/",
        check=False,
    )


def verdict(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = verify_export.main([str(folder), *words])
    return code, capsys.readouterr().out


@pytest.mark.parametrize("game", list(GAMES))
def test_an_export_of_played_rounds_verifies(played: dict[str, Path], game: str) -> None:
    done = alone(str(played[game]))
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.endswith("everything holds\n")
    numbers = {line.split()[0]: [int(n) for n in re.findall(r"\b\d+\b", line)] for line in done.stdout.splitlines()}
    assert numbers["table"][-1] >= 1, "no round was void"
    assert numbers["permits"][0] >= 3
    assert numbers["cards"][0] >= 3
    assert numbers["prompts"][0] > 50
    if game in PROGRESSIVE:
        assert numbers["money"][0] > 20
        assert all(
            kind in done.stdout for kind in ("2 hit,", "award_paid", "hand_pay_paid", "bet_returned", "correction")
        )
    if game == "face_up_pai_gow":  # the documented example, but for its head
        page = (VERIFIER.parent.parent / "docs" / "journal.md").read_text("utf-8")
        assert re.sub(r"head [0-9a-f]{64}", "head …", done.stdout) in page
    head = ForgedExport(played[game]).manifest["head_after"]
    assert alone(str(played[game]), "--against", head).returncode == 0
    other = alone(str(played[game]), "--against", "ab" * 32)
    assert (other.returncode, "cut short or rewritten" in other.stdout) == (1, True)


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: forgery.name)
def test_every_forgery_is_found_at_its_record(
    played: dict[str, Path], forgery: Forgery, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export_ = ForgedExport(played["face_up_pai_gow"])
    place = forgery.change(export_)
    folder = export_.write(tmp_path / "forged", rechain=forgery.rechain)
    code, output = verdict(folder, capsys)
    assert code == 1, output
    assert forgery.finding in output, output
    if place is not None:
        assert f"record {place + 1}: " in output, (place + 1, output)


def test_only_a_head_that_left_the_box_sees_a_chain_made_anew(
    played: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forged = ForgedExport(played["face_up_pai_gow"])
    published = forged.manifest["head_after"]
    forged.step_event(forged.event("NoMoreBets"))["who"]["credential"] = "D2"
    folder = forged.write(tmp_path / "forged", rechain=True)
    assert verdict(folder, capsys)[0] == 0
    code, output = verdict(folder, capsys, "--against", published)
    assert (code, "rewritten" in output) == (1, True)


def test_a_partial_export_is_checked_as_far_as_possible_and_marked_as_partial(
    played: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = ForgedExport(played["dj_wild"])
    part.manifest |= {"first": 101, "head_before": part.records[99]["head"]}
    part.records = part.records[100:]
    folder = part.write(tmp_path / "part", rechain=True)
    code, output = verdict(folder, capsys)
    assert code == 0
    assert "not judged: commands, permits, cards and money" in output
    part.records[7]["content"] = {}
    assert verdict(part.write(tmp_path / "part", rechain=False), capsys)[0] == 1


def test_a_file_that_is_no_export_is_reported(tmp_path: Path) -> None:
    done = alone(str(tmp_path))
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    (tmp_path / "manifest.json").write_text("[]")
    assert alone(str(tmp_path)).returncode == 2


@pytest.mark.parametrize("game", [*GAMES, "dj_wild progressive"])
def test_exports_of_runs_with_mishaps_verify(game: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of chosen seeds: with some others the ideal shoe of these runs reports its stub twice, which no order covers."""
    name, more = game.partition(" ")[::2]
    run = RecordedRun(name, 3, 5, **(WILD_PROGRESSIVE if more else {}))
    code, output = verdict(_exported(run.disk.records, tmp_path / "e"), capsys)
    assert code == 0, (run.name, output)


async def _played_dark(game: str, seed: int, cuts: int, points: int | None = None) -> list[Record]:
    """Play a simulated table over its wires with this many power cuts; return the records on disk."""
    rng = Random(seed)
    house = PowerCutTable(game, seed=seed, disk=Disk(seed), snapshot_every=120, choices=choices_of(game, seed))
    bets = (1, 2, 4) if game == "face_up_pai_gow" else ()
    try:
        await house.open("blue", "red")
        await house.round(bets)
        for _ in range(cuts):
            while not house.is_box_down:
                cut_at_random_point(house, rng)
                if points is not None:
                    house.mains.cut_at, house.disk.cut_at = None, house.disk.points + points
                await house.round(bets)
                await new_decks(house)
            house.disk.cut_at = house.mains.cut_at = None
            await house.power_up()
            await house.until_quiescent()
            await new_decks(house)
        await house.round(bets)
        return list(house.disk.records)
    finally:
        await house.close()


@pytest.mark.parametrize("game", list(GAMES))
async def test_the_export_of_a_simulated_table_that_loses_power_verifies(
    game: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Simulated machines, real drivers, the real controller; the power goes in the middle of a round."""
    records = await _played_dark(game, 7, 1, points=24)
    code, output = verdict(_exported(records, tmp_path / "e"), capsys)
    assert code == 0, output
    assert "3 boots" in output


@pytest.mark.parametrize("fault", ["chute_jam:cards=20", "chute_gap:cards=1"])
async def test_the_export_of_a_table_whose_shuffler_fills_the_shoe_verifies(
    fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    casino = CasinoTable("saigon_5_card", seed=3, more=inserting_models("saigon_5_card"))
    await casino.open("blue", "red")
    casino.machines["shuffler.1"].inject(fault)
    for _ in range(4):
        await casino.round()
    records = list(casino.disk.records)
    await casino.close()
    code, output = verdict(_exported(records, tmp_path / "e"), capsys)
    assert code == 0, output
    assert any(b"StackInserted" in record.body for record in records)


@pytest.mark.proof
@pytest.mark.parametrize("game", list(GAMES))
async def test_exports_of_many_tables_that_lose_power_verify(
    seed: int, game: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for table in range(seed, seed + count_cases(4)):
        records = await _played_dark(game, table, 8)
        code, output = verdict(_exported(records, tmp_path / f"{table}"), capsys)
        assert code == 0, (table, output)


def _exported(records: list[Record], folder: Path) -> Path:
    journal = json.loads(records[0].body)["journal"]
    write_export(ExportManifest(first=1, head_before="00" * 32, journal=journal), records, folder)
    return folder


def test_it_is_of_the_standard_library_and_runs_wherever_an_auditor_lays_it(
    played: dict[str, Path], tmp_path: Path
) -> None:
    own = VERIFIER.parent / "export_checks"
    for file in (VERIFIER, *own.glob("*.py")):
        tree = ast.parse(file.read_text("utf-8"))
        names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        foreign = [name for name in names if name.partition(".")[0] not in sys.stdlib_module_names]
        assert all(name.startswith("tools.export_checks.") for name in foreign), (file, foreign)
    elsewhere = tmp_path / "tools"
    elsewhere.mkdir()
    shutil.copy(VERIFIER, elsewhere)
    shutil.copytree(own, elsewhere / "export_checks")
    words = [sys.executable, "-I", "-S", str(elsewhere / VERIFIER.name), str(played["dj_wild"])]
    assert subprocess.run(words, capture_output=True, env={}, cwd="/", check=False).returncode == 0
