"""The shipped unit under a real systemd: `python -m tools.systemd_unit` sees it ready, alive, killed, hung, stopped."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMESPACES = ("unshare", "-m", "-p", "-f", "-u", "-C", "-i", "mount", "--make-rprivate", "/")


def _may() -> bool:
    if os.geteuid() != 0 or not all(map(shutil.which, ("unshare", "nsenter", "systemctl", "systemd-sysusers"))):
        return False
    return subprocess.run(NAMESPACES, capture_output=True, timeout=30, check=False).returncode == 0


@pytest.mark.realtime
def test_the_unit_is_ready_fed_restarted_and_stopped_by_systemd_itself() -> None:
    if not _may():
        pytest.skip("needs root that may make namespaces, and systemd: apt install systemd util-linux")
    done = subprocess.run(
        [sys.executable, "-m", "tools.systemd_unit"], cwd=ROOT, capture_output=True, text=True, timeout=400, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for seen in (
        "READY=1",
        "WATCHDOG=1 comes again",
        "killed, and started again",
        "hung: the watchdog",
        "SIGTERM: stopped",
    ):
        assert seen in done.stdout
