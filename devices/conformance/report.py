"""The report of a run: one result per requirement, written as JSON and, with `page`, as HTML."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import msgspec

from devices.conformance.html_report import render_page
from devices.conformance.requirements import RequirementVerdict
from firmware_bridge.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

    from devices.conformance.requirements import Requirement

JSON_FILE: Final = "conformance.json"
PAGE_FILE: Final = "conformance.html"

CONFORMS: Final = "conforms"
CONFORMS_WHERE_APPLICABLE: Final = "conforms in all that applies"
DOES_NOT_CONFORM: Final = "does not conform"
NOT_FULLY_CHECKED: Final = "not fully checked"
NOT_ASKED_FOR: Final = "not requested"
# In the reason of a requirement that was not checked without an operator: "needs an operator".
_HANDS: Final = "an operator"
# How many ids the summary lists for one reason.
_NAMED: Final = 4


class RequirementResult(msgspec.Struct, frozen=True):
    """The result of one requirement. `transcript`: the frames of a failed check."""

    id: str
    sentence: str
    see: str
    hands: bool
    verdict: RequirementVerdict
    seconds: float = 0.0
    why: str = ""
    expected: str = ""
    seen: str = ""
    transcript: list[str] = []


class DeviceUnderTest(msgspec.Struct, frozen=True):
    """The tested device, from its hello."""

    kind: str
    serial: str
    model: str
    firmware: str
    digest: str
    capabilities: list[str]
    boot_id: str


class UncheckedGroup(msgspec.Struct, frozen=True):
    """Requirements that were not checked for the same reason."""

    what: str  # a verdict, or `not requested`
    because: str
    count: int
    ids: list[str]


class ConformanceReport(msgspec.Struct, frozen=True):
    """A whole run."""

    kit: str  # version of pitbox
    began: str  # wall time, UTC
    seconds: float
    port: str
    hands: str  # the operator
    device: DeviceUnderTest | None
    requirements: list[RequirementResult]
    lost: str = ""  # why the run ended early
    only: list[str] = []  # requested ids, if not all
    listed: int = 0  # number of requirements on this kind of device
    format: int = 2

    @property
    def counts(self) -> Counter[RequirementVerdict]:
        """How many requirements had each verdict."""
        return Counter(line.verdict for line in self.requirements)

    @property
    def verdict(self) -> str:
        """The verdict of the run: a device conforms only if every requirement was checked and passed."""
        counts = self.counts
        if counts[RequirementVerdict.FAIL]:
            return DOES_NOT_CONFORM
        judged = counts[RequirementVerdict.PASS] + counts[RequirementVerdict.NOT_APPLICABLE]
        if self.only or not counts[RequirementVerdict.PASS] or judged < self.total:
            return NOT_FULLY_CHECKED
        return CONFORMS_WHERE_APPLICABLE if counts[RequirementVerdict.NOT_APPLICABLE] else CONFORMS

    @property
    def total(self) -> int:
        """How many requirements there are on this kind of device, requested or not."""
        return max(self.listed, len(self.requirements))

    @property
    def left_out(self) -> list[UncheckedGroup]:
        """The requirements that were not checked, by verdict and reason; those not requested (`--only`) last."""
        groups: dict[tuple[str, str], list[str]] = {}
        for line in self.requirements:
            if line.verdict not in (RequirementVerdict.PASS, RequirementVerdict.FAIL):
                because = line.why.partition(":")[0]
                because = f"it {because}" if because.startswith(("needs ", "could ")) else because
                groups.setdefault((line.verdict.value, because), []).append(line.id)
        groups_found = [UncheckedGroup(what, because, len(ids), ids) for (what, because), ids in groups.items()]
        missing = self.total - len(self.requirements)
        return (
            [*groups_found, UncheckedGroup(NOT_ASKED_FOR, "--only names others", missing, [])]
            if missing
            else groups_found
        )

    @property
    def summary(self) -> str:
        """The verdict with its counts: how many passed, and why the others did not."""
        passed, failed = self.counts[RequirementVerdict.PASS], self.counts[RequirementVerdict.FAIL]
        parts = [f"{passed} of {self.total} requirements passed"] + [f"{failed} failed"] * bool(failed)
        parts += [f"{left.count} {left.what} because {left.because}{_named(left.ids)}" for left in self.left_out]
        return f"{self.verdict}: {', '.join(parts)}"


def _named(ids: list[str]) -> str:
    """Return the first few ids as text for a summary."""
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    return f" ({', '.join(ids[:_NAMED])}{more})" if ids else ""


def make_result(
    requirement: Requirement, verdict: RequirementVerdict, seconds: float = 0.0, why: str = "", expected: str = "",
    seen: str = "", transcript: list[str] | None = None,
) -> RequirementResult:  # fmt: skip
    """Return the result of one requirement."""
    return RequirementResult(
        requirement.id,
        requirement.sentence,
        requirement.source,
        requirement.needs_operator,
        verdict,
        round(seconds, 3),
        why,
        expected,
        seen,
        transcript or [],
    )


def ids_needing_operator(lines: list[RequirementResult]) -> set[str]:
    """Return the ids not checked for lack of an operator, and those that depend on them."""
    groups_found = {_HANDS}
    for line in lines:
        needed = line.why.partition(":")[0].removeprefix("needs ")
        if line.verdict is RequirementVerdict.NOT_CHECKED and needed in groups_found:
            groups_found.add(line.id)
    return groups_found - {_HANDS}


def check_folder(folder: Path) -> None:
    """Refuse a folder that is not writable or already has a report: evidence is never overwritten."""
    for name in (JSON_FILE, PAGE_FILE):
        if (folder / name).exists():
            raise ConfigurationError(f"{folder} contains a report already; name another folder with --out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f"{JSON_FILE}.new"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise ConfigurationError(f"{folder}: {error.strerror}; name another folder with --out") from error


def write(report: ConformanceReport, folder: Path) -> None:
    """Write both files."""
    derived = {
        "verdict": report.verdict,
        "summary": report.summary,
        "counts": {verdict.value: report.counts[verdict] for verdict in RequirementVerdict},
        "left_out": report.left_out,
    }
    encoded = msgspec.json.encode(derived | msgspec.to_builtins(report))
    try:
        (folder / JSON_FILE).write_bytes(msgspec.json.format(encoded, indent=2) + b"\n")
        (folder / PAGE_FILE).write_text(render_page(report), "utf-8")
    except OSError as error:
        raise ConfigurationError(f"{folder}: {error.strerror}; the report could not be written") from error
