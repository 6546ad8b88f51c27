"""What a run found: one line per requirement, and the file for programs. How the readable page looks is in `page`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import msgspec

from firmware_bridge.errors import ConfigurationError
from table_controller.conformance.page import page
from table_controller.conformance.requirements import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.conformance.requirements import Requirement

JSON_FILE: Final = "conformance.json"
PAGE_FILE: Final = "conformance.html"

CONFORMS: Final = "conforms"
DOES_NOT: Final = "does not conform"
INCOMPLETE: Final = "not wholly checked"


class Line(msgspec.Struct, frozen=True):
    """What became of one requirement. `transcript`: the frames that passed, of a check that failed."""

    id: str
    sentence: str
    see: str
    hands: bool
    verdict: Verdict
    seconds: float = 0.0
    why: str = ""
    expected: str = ""
    seen: str = ""
    transcript: list[str] = []


class Device(msgspec.Struct, frozen=True):
    """Who answered, in its own words."""

    kind: str
    serial: str
    model: str
    firmware: str
    digest: str
    capabilities: list[str]
    boot_id: str


class Report(msgspec.Struct, frozen=True):
    """A whole run."""

    kit: str  # which pitbox checked
    began: str  # wall time, UTC
    seconds: float
    port: str
    hands: str  # who acted at the machine
    device: Device | None
    requirements: list[Line]
    lost: str = ""  # why the run ended early
    only: list[str] = []  # what was asked for, if not everything
    format: int = 1

    @property
    def counts(self) -> Counter[Verdict]:
        """How many requirements had each verdict."""
        return Counter(line.verdict for line in self.requirements)

    @property
    def verdict(self) -> str:
        """The run in a word: it conforms only if every single requirement was checked and passed."""
        if self.counts[Verdict.FAIL]:
            return DOES_NOT
        whole = not self.only and self.counts[Verdict.PASS] == len(self.requirements)
        return CONFORMS if whole else INCOMPLETE


def line_of(
    requirement: Requirement, verdict: Verdict, seconds: float = 0.0, why: str = "", expected: str = "",
    seen: str = "", transcript: list[str] | None = None,
) -> Line:  # fmt: skip
    """Return the line of one requirement."""
    return Line(
        requirement.id, requirement.sentence, requirement.see, requirement.hands, verdict, round(seconds, 3), why,
        expected, seen, transcript or [],
    )  # fmt: skip


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot take a report, or has one: evidence is never written over."""
    for name in (JSON_FILE, PAGE_FILE):
        if (folder / name).exists():
            raise ConfigurationError(f"{folder} holds a report already; name another folder with --out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f"{JSON_FILE}.new"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise ConfigurationError(f"{folder}: {error.strerror}; name another folder with --out") from error


def write(report: Report, folder: Path) -> None:
    """Write both files."""
    told = {"verdict": report.verdict, "counts": {v.value: report.counts[v] for v in Verdict}}
    encoded = msgspec.json.encode(told | msgspec.to_builtins(report))
    try:
        (folder / JSON_FILE).write_bytes(msgspec.json.format(encoded, indent=2) + b"\n")
        (folder / PAGE_FILE).write_text(page(report), "utf-8")
    except OSError as error:
        raise ConfigurationError(f"{folder}: {error.strerror}; the report could not be written") from error
