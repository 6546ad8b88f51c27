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
IN_WHAT_APPLIES: Final = "conforms in all that applies"
DOES_NOT: Final = "does not conform"
INCOMPLETE: Final = "not wholly checked"
NOT_ASKED_FOR: Final = "not asked for"
# In the reason of a line that nobody's hands could check: "needs hands".
_HANDS: Final = "hands"
# So many ids are named for one reason; the lines have them all.
_NAMED: Final = 4


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


class LeftOut(msgspec.Struct, frozen=True):
    """Requirements that were not checked, for one reason."""

    what: str  # a verdict, or `not asked for`
    because: str
    count: int
    ids: list[str]


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
    listed: int = 0  # how many requirements `--list` names for this kind of device
    format: int = 2

    @property
    def counts(self) -> Counter[Verdict]:
        """How many requirements had each verdict."""
        return Counter(line.verdict for line in self.requirements)

    @property
    def verdict(self) -> str:
        """The run in a word: it conforms only if every single requirement was checked and passed."""
        counts = self.counts
        if counts[Verdict.FAIL]:
            return DOES_NOT
        judged = counts[Verdict.PASS] + counts[Verdict.NOT_APPLICABLE]
        if self.only or not counts[Verdict.PASS] or judged < self.total:
            return INCOMPLETE
        return IN_WHAT_APPLIES if counts[Verdict.NOT_APPLICABLE] else CONFORMS

    @property
    def total(self) -> int:
        """How many requirements there are on this kind of device, asked for or not."""
        return max(self.listed, len(self.requirements))

    @property
    def left_out(self) -> list[LeftOut]:
        """Everything that was not checked, by verdict and reason; what nobody asked for (`--only`) at the end."""
        groups: dict[tuple[str, str], list[str]] = {}
        for line in self.requirements:
            if line.verdict not in (Verdict.PASS, Verdict.FAIL):
                because = line.why.partition(":")[0]
                because = f"it {because}" if because.startswith(("needs ", "could ")) else because
                groups.setdefault((line.verdict.value, because), []).append(line.id)
        groups_found = [LeftOut(what, because, len(ids), ids) for (what, because), ids in groups.items()]
        missing = self.total - len(self.requirements)
        return [*groups_found, LeftOut(NOT_ASKED_FOR, "--only names others", missing, [])] if missing else groups_found

    @property
    def summary(self) -> str:
        """The verdict with its figures: how many of how many passed, and why each of the others did not."""
        passed, failed = self.counts[Verdict.PASS], self.counts[Verdict.FAIL]
        parts = [f"{passed} of {self.total} requirements passed"] + [f"{failed} failed"] * bool(failed)
        parts += [f"{left.count} {left.what} because {left.because}{_named(left.ids)}" for left in self.left_out]
        return f"{self.verdict}: {', '.join(parts)}"


def _named(ids: list[str]) -> str:
    """Return ids as a summary shows them: the first few."""
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    return f" ({', '.join(ids[:_NAMED])}{more})" if ids else ""


def line_of(
    requirement: Requirement, verdict: Verdict, seconds: float = 0.0, why: str = "", expected: str = "",
    seen: str = "", transcript: list[str] | None = None,
) -> Line:  # fmt: skip
    """Return the line of one requirement."""
    return Line(
        requirement.id, requirement.sentence, requirement.see, requirement.hands, verdict, round(seconds, 3), why,
        expected, seen, transcript or [],
    )  # fmt: skip


def waits_for_hands(lines: list[Line]) -> set[str]:
    """Return what was not checked because nobody acts at the machine, and what builds on that."""
    groups_found = {_HANDS}
    for line in lines:
        needed = line.why.partition(":")[0].removeprefix("needs ")
        if line.verdict is Verdict.NOT_CHECKED and needed in groups_found:
            groups_found.add(line.id)
    return groups_found - {_HANDS}


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
    derived = {
        "verdict": report.verdict,
        "summary": report.summary,
        "counts": {verdict.value: report.counts[verdict] for verdict in Verdict},
        "left_out": report.left_out,
    }
    encoded = msgspec.json.encode(derived | msgspec.to_builtins(report))
    try:
        (folder / JSON_FILE).write_bytes(msgspec.json.format(encoded, indent=2) + b"\n")
        (folder / PAGE_FILE).write_text(page(report), "utf-8")
    except OSError as error:
        raise ConfigurationError(f"{folder}: {error.strerror}; the report could not be written") from error
