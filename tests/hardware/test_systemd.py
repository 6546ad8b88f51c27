"""The shipped unit under a real systemd: `python -m tools.systemd_unit` sees it ready, alive, killed, hung, stopped."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.support.suite.required_tools import end_without
from tools import systemd_unit

ROOT = Path(__file__).resolve().parents[2]
SEEN = (
    "READY=1",
    "WATCHDOG=1 comes again",
    "killed, and started again",
    "hung: the watchdog",
    "SIGTERM: stopped",
    "journal.copy is refused, and the log has the cause",
    "journal.archive is refused, and the log has the cause",
    "with the drop-in the second copy is written",
    "with the drop-in the archive is written",
    "a folder of another user is named by config check as root",
)
# What the tool runs and the unit runs.
PARTS = ("deploy", "devices", "firmware_bridge", "simulators", "table_controller", "tools")


def watch(tree: Path) -> str:
    """Run the tool of a tree on the unit of the same tree; return its output."""
    done = subprocess.run(
        [sys.executable, "-m", "tools.systemd_unit"],
        cwd=tree, env=os.environ | {"PYTHONPATH": str(tree)}, capture_output=True, text=True, timeout=400, check=False,
    )  # fmt: skip
    if done.returncode == systemd_unit.LACKING:
        end_without(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.realtime
def test_the_unit_is_ready_fed_restarted_and_stopped_by_systemd_itself() -> None:
    printed = watch(ROOT)
    for seen in SEEN:
        assert seen in printed


@pytest.mark.proof
@pytest.mark.realtime
@pytest.mark.timeout(600)
@pytest.mark.parametrize("place", [str(Path.home()), "/tmp", "/var/tmp", "/var/lib"])
def test_the_unit_runs_wherever_the_clone_lies(place: str) -> None:
    """The unit sees no home and no /tmp; the test must pass in a clone there too."""
    if not os.access(place, os.W_OK):
        end_without(f"{place} cannot be written (run this as root)")
    with TemporaryDirectory(prefix="pitbox clone, with a space ", dir=place) as name:
        tree = Path(name)
        tree.chmod(0o755)
        for part in PARTS:
            shutil.copytree(ROOT / part, tree / part, ignore=shutil.ignore_patterns("__pycache__"))
        printed = watch(tree)
    for seen in SEEN:
        assert seen in printed


def test_the_bench_changes_nothing_of_what_the_unit_may_not_do() -> None:
    shipped = (ROOT / "deploy/systemd/pitbox@.service").read_text().splitlines()
    at = next(number for number, line in enumerate(shipped) if "--- restrictions ---" in line)
    closed = {line.partition("=")[0] for line in shipped[at:] if "=" in line and not line.startswith("#")}
    changed = {line.partition("=")[0] for line in systemd_unit.DROP_IN.splitlines() if "=" in line}
    assert {"ProtectHome", "PrivateTmp", "ProtectSystem", "DeviceAllow"} <= closed
    assert not closed & changed


def test_a_tree_that_the_units_user_could_not_read_is_named(tmp_path: Path) -> None:
    opened, closed = tmp_path / "open", tmp_path / "closed"
    opened.mkdir(mode=0o755)
    closed.mkdir(mode=0o700)
    assert systemd_unit.closed_to_others(opened, closed) == [closed]
