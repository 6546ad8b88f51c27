"""The mean ratios of benchmarks are read from the output of `make bench` and kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools import benchmark_figures as module

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

OUTPUT = """== codec
                           median        p99   x pitbox
  pitbox                  2.00 us    5.04 us       1.00
  pymodbus, write        13.06 us   14.30 us       4.00
encode, pymodbus's write / pitbox: budget >= 3 x: measured 4.00 x: held
== service
start to ready: budget < 1.5 s: measured 1.14 s (7.4 x import asyncio): held
== link
  bare echo               69.63 us    312.31 us          1.00                   0.50
  pitbox               1,218.41 us    855.89 us          3.17                   8.00
"""


def test_a_mean_ratio_is_the_geometric_mean_of_the_last_column() -> None:
    assert module.mean_ratios(OUTPUT) == {"codec": 2.0, "link": 2.0, "mean": 2.0}


def test_output_without_rows_has_no_figures() -> None:
    assert module.mean_ratios("== service\nstart to ready\n") == {}


def test_figures_are_recorded_and_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "OUTPUT", tmp_path / "output.txt")
    monkeypatch.setattr(module, "FIGURES", tmp_path / "figures.json")
    assert module.main(["--record"]) == 1
    assert "run `make bench` first" in capsys.readouterr().err
    (tmp_path / "output.txt").write_text("== service\n")
    assert module.main(["--record"]) == 1
    assert "no rows" in capsys.readouterr().err
    (tmp_path / "output.txt").write_text(OUTPUT)
    assert module.main(["--record"]) == 0
    assert "codec    2.00 x its floor" in capsys.readouterr().out
    assert module.stored()["link"] == 2.0
