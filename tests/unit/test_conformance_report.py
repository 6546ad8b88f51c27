"""The report of a run: verdicts, files, the page; every requirement points to an existing page."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from devices.conformance.html_report import render_page
from devices.conformance.report import (
    ConformanceReport,
    DeviceUnderTest,
    RequirementResult,
    check_folder,
    ids_needing_operator,
    write,
)
from devices.conformance.requirements import (
    RequirementVerdict,
    kind_chapter,
    kinds_with_requirements,
    requirements_of,
    select_requirements,
)
from devices.edge_log import GetEdgeLog
from devices.message_registry import KIND_MESSAGES, union_members
from firmware_bridge.errors import ConfigurationError
from tools import ROOT

if TYPE_CHECKING:
    from pathlib import Path

P, F, N, S = (
    RequirementVerdict.PASS,
    RequirementVerdict.FAIL,
    RequirementVerdict.NOT_CHECKED,
    RequirementVerdict.SKIPPED,
)
A = RequirementVerdict.NOT_APPLICABLE


def report(*verdicts: RequirementVerdict, **more: Any) -> ConformanceReport:
    lines = [
        RequirementResult(f"XX-{n:02d}", "It does what it should.", "a page", False, v)
        for n, v in enumerate(verdicts, 1)
    ]
    device = DeviceUnderTest("shuffler", "SN-1", "<b>M</b>", "1.0", "00" * 32, ["counts"], "00000001")
    fields: dict[str, Any] = {"requirements": lines, "device": device} | more
    return ConformanceReport("pitbox", "2024-02-29 12:00:00 UTC", 1.0, "/dev/ttyUSB0", "nobody", **fields)


@pytest.mark.parametrize(
    ("verdicts", "output"),
    [
        ([P, P], "conforms"),
        ([P, F], "does not conform"),
        ([F, N, S], "does not conform"),
        ([P, N], "not fully checked"),
        ([N, N], "not fully checked"),
        ([P, A], "conforms in all that applies"),
        ([P, A, N], "not fully checked"),
        ([F, A], "does not conform"),
        ([A, A], "not fully checked"),
        ([], "not fully checked"),
    ],
)
def test_a_device_conforms_only_if_every_requirement_passed(verdicts: list[RequirementVerdict], output: str) -> None:
    assert report(*verdicts).verdict == output


def test_a_part_of_the_requirements_is_never_conformance() -> None:
    assert report(P, P, only=["XX"]).verdict == "not fully checked"
    assert report(P, P, listed=3).verdict == "not fully checked"


def test_the_summary_counts_all_requirements_and_gives_the_reason_for_each_that_was_left_out() -> None:
    lines = [
        RequirementResult("XX-01", "s", "p", False, P),
        RequirementResult("XX-02", "s", "p", True, N, why="needs an operator"),
        RequirementResult("XX-03", "s", "p", False, N, why="needs an operator: open the door"),
        *(
            RequirementResult(f"XX-1{n}", "s", "p", False, A, why="its hello does not list the capability counts")
            for n in range(6)
        ),
        RequirementResult("XX-20", "s", "p", False, S, why="needs XX-19: fail"),
    ]
    requirement = report(requirements=lines, listed=15, only=["XX"])
    assert requirement.summary == (
        "not fully checked: 1 of 15 requirements passed, 2 not checked because it needs an operator (XX-02, XX-03), "
        "6 not applicable because its hello does not list the capability counts (XX-10, XX-11, XX-12, XX-13 "
        "and 2 more), 1 skipped because it needs XX-19 (XX-20), 5 not requested because --only names others"
    )
    assert "5 not requested because --only names others" in render_page(requirement)
    assert ids_needing_operator(lines) == {"XX-02", "XX-03"}


def test_a_requirement_that_depends_on_one_waiting_for_hands_waits_too() -> None:
    lines = [
        RequirementResult("XX-01", "s", "p", True, N, why="needs an operator"),
        RequirementResult("XX-02", "s", "p", False, N, why="needs XX-01: not checked"),
        RequirementResult("XX-03", "s", "p", False, N, why="the command ended before it could be observed"),
        RequirementResult("XX-04", "s", "p", False, N, why="needs XX-03: not checked"),
    ]
    assert ids_needing_operator(lines) == {"XX-01", "XX-02"}


def test_the_json_file_matches_the_report(tmp_path: Path) -> None:
    write(report(P, F, lost="why"), tmp_path)
    data = msgspec.json.decode((tmp_path / "conformance.json").read_bytes())
    assert data["verdict"] == "does not conform"
    assert data["counts"] == {"pass": 1, "fail": 1, "not checked": 0, "skipped": 0, "not applicable": 0}
    assert data["summary"] == "does not conform: 1 of 2 requirements passed, 1 failed"
    assert data["left_out"] == []
    assert [line["verdict"] for line in data["requirements"]] == ["pass", "fail"]
    derived = ("verdict", "summary", "counts", "left_out")
    assert msgspec.convert({k: v for k, v in data.items() if k not in derived}, ConformanceReport) == report(
        P, F, lost="why"
    )


class _Page(HTMLParser):
    """Collects the elements of a page, and fails on elements that are not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_fetches_nothing_and_shows_no_markup_of_the_device() -> None:
    line = RequirementResult(
        "XX-09", "It <i>does</i>.", "p", True, F, why="w&", expected="<u>", seen="</pre>", transcript=["<s>"]
    )
    text = render_page(report(P, N, S, requirements=[line], lost="<hr>", only=["<em>"]))
    parsed = _Page()
    parsed.feed(text)
    assert parsed.open == []
    assert parsed.fetched == []
    assert not parsed.seen & {"script", "link", "img", "iframe", "b", "i", "u", "s", "hr", "em"}
    assert "url(" not in text
    assert "http" not in text
    for word in (
        "XX-09",
        "with operator",
        "✗ fail",
        "&lt;u&gt;",
        "&lt;s&gt;",
        "prefers-color-scheme: dark",
        "@media print",
    ):
        assert word in text


def test_a_page_without_a_readable_device_is_still_a_page() -> None:
    assert "sent no readable hello" in render_page(report(F, device=None))


def test_a_report_is_never_written_over_another_and_never_into_what_is_no_folder(tmp_path: Path) -> None:
    check_folder(tmp_path / "new" / "folder")
    write(report(P), tmp_path / "new" / "folder")
    with pytest.raises(ConfigurationError, match="contains a report already"):
        check_folder(tmp_path / "new" / "folder")
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match="name another folder"):
        check_folder(tmp_path / "file")
    with pytest.raises(ConfigurationError, match="could not be written"):
        write(report(P), tmp_path / "nowhere")


# --- requirements -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", kinds_with_requirements())
def test_every_requirement_names_a_section_that_exists(kind: str) -> None:
    for requirement in requirements_of(kind):
        text = (ROOT / requirement.page).read_text("utf-8")
        headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
        assert requirement.section in headings, f"{requirement.id}: {requirement.page} has no {requirement.section!r}"
        assert requirement.sentence.endswith("."), requirement.id


def test_requirements_are_chosen_by_id_and_by_chapter() -> None:
    every = requirements_of("shuffler")
    assert select_requirements(every, []) == every
    assert [requirement.id for requirement in select_requirements(every, ["lk-07", "HS-01"])] == ["HS-01", "LK-07"]
    assert {requirement.id[:2] for requirement in select_requirements(every, ["HB"])} == {"HB"}
    with pytest.raises(ConfigurationError, match="no requirement LK-99"):
        select_requirements(every, ["LK-99"])


def test_a_kind_without_requirements_is_reported() -> None:
    with pytest.raises(ConfigurationError, match="no conformance requirements on a 'toaster'"):
        kind_chapter("toaster")


@pytest.mark.parametrize("machine", KIND_MESSAGES, ids=lambda machine: machine.KIND)
def test_every_kind_has_the_two_commands_with_which_every_kind_is_checked(machine: Any) -> None:
    profile, _ = kind_chapter(machine.KIND)
    assert {machine.SelfTest, machine.Reset} <= set(union_members(machine.Actuation))
    assert (type(profile.self_test(1)), type(profile.reset(1))) == (machine.SelfTest, machine.Reset)


def test_the_questions_of_a_profile_are_all_the_questions_of_its_kind() -> None:
    for kind in kinds_with_requirements():
        profile, _ = kind_chapter(kind)
        asked = {type(question) for question, _ in profile.questions}
        machine = next(machine for machine in KIND_MESSAGES if kind == machine.KIND)
        # Only a machine that names TRAIL is queried for it, in its own requirement.
        assert asked == set(union_members(machine.Question)) - {GetEdgeLog}, kind
