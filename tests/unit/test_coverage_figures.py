"""The stored coverage: the page shows it, and the check finds a figure that no longer describes the source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools import coverage_figures as module
from tools.coverage_figures import (
    BEGIN,
    END,
    Figures,
    PackageFigures,
    counted,
    load,
    package_of,
    renewed,
    sizes,
    stale,
    written,
)

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

FIGURES = Figures("2026-11-18", "3.11", {"devices/rng": PackageFigures(8, 6, 2, 2, 10)})


def project(folder: Path, statements: int = 10) -> Path:
    """A project with one package and its figures."""
    files = {
        "devices/rng/driver.py": "x = 1\n" * statements,
        "docs/coverage.md": renewed(f"# Coverage\n{BEGIN}\n{END}\nMore.\n", FIGURES),
        "tests/coverage.toml": written(FIGURES),
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_figures_survive_the_file(tmp_path: Path) -> None:
    assert load(project(tmp_path)) == FIGURES


def test_the_page_shows_the_figure_with_its_command(tmp_path: Path) -> None:
    page = (project(tmp_path) / "docs/coverage.md").read_text()
    assert "**80.0 %** of lines and branches, measured 2026-11-18 with Python 3.11 by `make coverage`." in page
    assert "| `devices/rng` | 8 | 75.0 % | 100.0 % |" in page
    assert page.endswith(f"{END}\nMore.\n")


def test_figures_that_describe_the_source_pass(tmp_path: Path) -> None:
    assert stale(project(tmp_path)) == []
    assert stale(project(tmp_path, 11)) == []


def test_a_package_that_grew_makes_the_figures_stale(tmp_path: Path) -> None:
    assert stale(project(tmp_path, 12)) == ["devices/rng has 12 statements, 10 when it was measured"]


def test_a_package_without_a_figure_makes_the_figures_stale(tmp_path: Path) -> None:
    folder = project(tmp_path)
    (folder / "devices" / "new").mkdir()
    (folder / "devices" / "new" / "driver.py").write_text("x = 1\ny = 2\n")
    assert stale(folder) == ["devices/new has 2 statements, 0 when it was measured"]


def test_a_missing_file_and_an_edited_page_are_named(tmp_path: Path) -> None:
    folder = project(tmp_path)
    page = folder / "docs/coverage.md"
    page.write_text(page.read_text().replace("80.0", "99.9"))
    assert stale(folder) == ["docs/coverage.md does not show the figures of tests/coverage.toml"]
    (folder / "tests/coverage.toml").unlink()
    assert stale(folder) == ["tests/coverage.toml has no figures"]


def test_a_report_is_summed_by_package(tmp_path: Path) -> None:
    summary = {"num_statements": 4, "covered_lines": 3, "num_branches": 1, "covered_branches": 1}
    report = {"files": {f"devices/rng/{name}.py": {"summary": summary} for name in ("driver", "state")}}
    assert counted(report, sizes(project(tmp_path))) == FIGURES.packages
    assert package_of("table_controller/catalogue.py") == "table_controller"
    assert package_of("table_controller/cli/kinds/rng.py") == "table_controller/cli"


def test_a_check_that_allows_no_figures_still_finds_stale_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "ROOT", project(tmp_path, 12))
    assert module.main(["--if-measured"]) == 1
    assert "12 statements, 10 when it was measured. Run: make coverage" in capsys.readouterr().out
    (tmp_path / "tests/coverage.toml").write_text("# Not measured yet.\n")
    assert module.main(["--if-measured"]) == 0
    assert capsys.readouterr().out == "coverage: not measured yet. Run: make coverage\n"
    assert module.main([]) == 1


def test_a_trial_measures_the_named_tests_and_stores_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = []

    def measure(_root: Path, _workers: str, tests: list[str]) -> Figures:
        measured.append(tests)
        return FIGURES

    monkeypatch.setattr(module, "measure", measure)
    monkeypatch.setattr(module, "ROOT", project(tmp_path))
    (tmp_path / "tests/coverage.toml").unlink()
    assert module.main(["--try", "tests/unit/test_x.py"]) == 0
    assert measured == [["tests/unit/test_x.py"]]
    assert capsys.readouterr().out == "coverage: 80.0 % by these tests; not stored\n"
    assert not (tmp_path / "tests/coverage.toml").exists()
