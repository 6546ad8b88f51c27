"""The stress run: repeats, counts what failed, and leaves no process behind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tools import stress

if TYPE_CHECKING:
    import pytest

TEST = """import pytest
from pathlib import Path

@pytest.mark.realtime
def test_every_second_time():
    here = Path(__file__).with_suffix(".seen")
    first = not here.exists()
    here.touch() if first else here.unlink()
    assert first

@pytest.mark.realtime
def test_always():
    pass
"""


def test_what_fails_sometimes_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "test_one.py").write_text(TEST)
    options = ["-p", "no:cacheprovider", "-n", "0", f"--rootdir={tmp_path}", str(tmp_path)]
    options += ["-o", "markers=realtime"]
    assert stress.main(["--times", "2", "--load", "1", *options]) == 1
    printed = capsys.readouterr().out
    assert "failed 1 of 2 times" in printed
    assert "test_every_second_time" in printed
    assert "1 of 2 repetitions passed" in printed


def test_the_load_ends_with_the_run() -> None:
    with stress.busy(2) as pids:
        assert all(Path(f"/proc/{pid}").exists() for pid in pids)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
