"""A box in a process of its own: started, signaled, and ended by its process id."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

PITBOX: Final = (sys.executable, "-m", "table_controller.cli")
RUN: Final = (*PITBOX, "run", "--config")
# Time limit for the end of a box, even on a busy computer (s).
END_TIMEOUT_S: Final = 30.0


class BoxProcess:
    """`pitbox run` on a configuration, or another command that gets its path; ended with the `with` block."""

    def __init__(
        self, config: Path, *, command: Sequence[str] = RUN, environment: Mapping[str, str] | None = None
    ) -> None:
        self.config = config
        self.log = config.parent / "box.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(  # noqa: S603 - our own program
                [*command, str(config)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, **(environment or {})},
            )  # fmt: skip

    @property
    def is_running(self) -> bool:
        """Whether the process has not ended."""
        return self.process.poll() is None

    def log_text(self) -> str:
        """Return what it has logged."""
        return self.log.read_text("utf-8", "replace")

    def end(self, number: int = signal.SIGTERM) -> int:
        """Signal it and wait for its end, with SIGKILL if it does not end in time; return the exit code."""
        if self.is_running:
            os.kill(self.process.pid, number)
        try:
            return self.process.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.kill(self.process.pid, signal.SIGKILL)
            return self.process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
