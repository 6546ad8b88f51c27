"""Checks for what tests need of this computer: programs, rights, kernel modules.

CI has every one of them, so there absence is a failure; on any other computer the test is skipped with a reason that
names what to install or which user must run it.
"""

from __future__ import annotations

import os
import shutil
from typing import Final, NoReturn

import pytest

# Debian keeps daemons where an ordinary user's search path does not look.
_ALSO: Final = ("/usr/sbin", "/usr/local/sbin", "/sbin")


def need_tool(name: str, package: str) -> str:
    """Return the program's path. Without it the test is skipped, or fails where CI must have it."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *_ALSO])
    program = shutil.which(name, path=path)
    if program is None:
        end_without(f"{name} is not installed; the package {package} has it (apt install {package})")
    return program


def need(condition: object, sentence: str) -> None:
    """Go on if the condition holds; otherwise the test lacks what the sentence names."""
    if not condition:
        end_without(sentence)


def end_without(sentence: str) -> NoReturn:
    """End a test that lacks a real part of this computer: a failure in CI, a skip elsewhere."""
    if os.environ.get("CI") == "true":
        pytest.fail(sentence)
    pytest.skip(sentence)
