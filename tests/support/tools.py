"""Programs of the operating system that tests run: found, or the test says what to install. Starts nothing itself."""

from __future__ import annotations

import os
import shutil
from typing import Final

import pytest

# Debian keeps daemons where an ordinary user's search path does not look.
_ALSO: Final = ("/usr/sbin", "/usr/local/sbin", "/sbin")


def need_tool(name: str, package: str) -> str:
    """Return the program's path. Without it the test is skipped, or fails where CI promised to have it."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *_ALSO])
    found = shutil.which(name, path=path)
    if found is not None:
        return found
    sentence = f"{name} is not installed; the package {package} has it (apt install {package})"
    if os.environ.get("CI") == "true":
        pytest.fail(sentence)
    pytest.skip(sentence)
