"""pyusb and libusb on a real kernel: `python -m tools.vhci` runs tests/hardware/test_vhci.py on Debian's, in QEMU."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.suite.required_tools import end_without
from tools import vhci

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.proof
@pytest.mark.realtime
@pytest.mark.timeout(900)
def test_simulated_usb_machines_on_a_real_kernel() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.vhci"], cwd=ROOT, capture_output=True, text=True, timeout=840, check=False
    )
    if done.returncode == vhci.LACKING:
        end_without(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    ended = re.search(r"(\d+) passed.* in [\d.]+s", done.stdout)
    assert ended is not None, done.stdout
    print(f"{ended[1]} tests of USB machines passed on a guest's kernel, through the real libusb and vhci_hcd")
    assert "skipped" not in ended[0]
