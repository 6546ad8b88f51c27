"""The report of a run: verdicts, files, the page; every requirement points to an existing page."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from devices.registry import MACHINES, members
from devices.trail import GetTrail
from firmware_bridge.errors import ConfigurationError
from table_controller.conformance.page import page
from table_controller.conformance.report import Device, Line, Report, check_folder, waits_for_hands, write
from table_controller.conformance.requirements import (
    Verdict,
    chosen,
    kind_chapter,
    kinds_with_requirements,
    requirements_of,
)
from tools import docs

if TYPE_CHECKING:
    from pathlib import Path

P, F, N, S = Verdict.PASS, Verdict.FAIL, Verdict.NOT_CHECKED, Verdict.SKIPPED
A = Verdict.NOT_APPLICABLE


def report(*verdicts: Verdict, **more: Any) -> Report:
    lines = [Line(f"XX-{n:02d}", "It does what it should.", "a page", False, v) for n, v in enumerate(verdicts, 1)]
    device = Device("shuffler", "SN-1", "<b>M</b>", "1.0", "00" * 32, ["counts"], "00000001")
    fields: dict[str, Any] = {"requirements": lines, "device": device} | more
    return Report("pitbox", "2024-02-29 12:00:00 UTC", 1.0, "/dev/ttyUSB0", "nobody", **fields)


@pytest.mark.parametrize(
    ("verdicts", "output"),
    [
        ([P, P], "conforms"),
        ([P, F], "does not conform"),
        ([F, N, S], "does not conform"),
        ([P, N], "not wholly checked"),
        ([N, N], "not wholly checked"),
        ([P, A], "conforms in all that applies"),
        ([P, A, N], "not wholly checked"),
        ([F, A], "does not conform"),
        ([A, A], "not wholly checked"),
        ([], "not wholly checked"),
    ],
)
def test_a_device_conforms_only_if_every_requirement_passed(verdicts: list[Verdict], output: str) -> None:
    assert report(*verdicts).verdict == output


def test_a_part_of_the_requirements_is_never_conformance() -> None:
    assert report(P, P, only=["XX"]).verdict == "not wholly checked"
    assert report(P, P, listed=3).verdict == "not wholly checked"


def test_the_summary_counts_all_requirements_and_gives_the_reason_for_each_that_was_left_out() -> None:
    lines = [
        Line("XX-01", "s", "p", False, P),
        Line("XX-02", "s", "p", True, N, why="needs hands"),
        Line("XX-03", "s", "p", False, N, why="needs hands: open the door"),
        *(Line(f"XX-1{n}", "s", "p", False, A, why="its hello does not name the capability counts") for n in range(6)),
        Line("XX-20", "s", "p", False, S, why="needs XX-19: fail"),
    ]
    requirement = report(requirements=lines, listed=15, only=["XX"])
    assert requirement.summary == (
        "not wholly checked: 1 of 15 requirements passed, 2 not checked because it needs hands (XX-02, XX-03), "
        "6 not applicable because its hello does not name the capability counts (XX-10, XX-11, XX-12, XX-13 "
        "and 2 more), 1 skipped because it needs XX-19 (XX-20), 5 not asked for because --only names others"
    )
    assert "5 not asked for because --only names others" in page(requirement)
    assert waits_for_hands(lines) == {"XX-02", "XX-03"}


def test_what_builds_on_what_waits_for_hands_waits_for_them_too() -> None:
    lines = [
        Line("XX-01", "s", "p", True, N, why="needs hands"),
        Line("XX-02", "s", "p", False, N, why="needs XX-01: not checked"),
        Line("XX-03", "s", "p", False, N, why="the command ended before anybody could look"),
        Line("XX-04", "s", "p", False, N, why="needs XX-03: not checked"),
    ]
    assert waits_for_hands(lines) == {"XX-01", "XX-02"}


def test_the_file_for_programs_says_what_the_report_says(tmp_path: Path) -> None:
    write(report(P, F, lost="why"), tmp_path)
    data = msgspec.json.decode((tmp_path / "conformance.json").read_bytes())
    assert data["verdict"] == "does not conform"
    assert data["counts"] == {"pass": 1, "fail": 1, "not checked": 0, "skipped": 0, "not applicable": 0}
    assert data["summary"] == "does not conform: 1 of 2 requirements passed, 1 failed"
    assert data["left_out"] == []
    assert [line["verdict"] for line in data["requirements"]] == ["pass", "fail"]
    derived = ("verdict", "summary", "counts", "left_out")
    assert msgspec.convert({k: v for k, v in data.items() if k not in derived}, Report) == report(P, F, lost="why")


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
    line = Line("XX-09", "It <i>does</i>.", "p", True, F, why="w&", expected="<u>", seen="</pre>", transcript=["<s>"])
    text = page(report(P, N, S, requirements=[line], lost="<hr>", only=["<em>"]))
    parsed = _Page()
    parsed.feed(text)
    assert parsed.open == []
    assert parsed.fetched == []
    assert not parsed.seen & {"script", "link", "img", "iframe", "b", "i", "u", "s", "hr", "em"}
    assert "url(" not in text
    assert "http" not in text
    for word in (
        "XX-09",
        "with hands",
        "✗ fail",
        "&lt;u&gt;",
        "&lt;s&gt;",
        "prefers-color-scheme: dark",
        "@media print",
    ):
        assert word in text


def test_a_page_without_a_readable_device_is_still_a_page() -> None:
    assert "said nothing readable" in page(report(F, device=None))


def test_a_report_is_never_written_over_another_and_never_into_what_is_no_folder(tmp_path: Path) -> None:
    check_folder(tmp_path / "new" / "folder")
    write(report(P), tmp_path / "new" / "folder")
    with pytest.raises(ConfigurationError, match="holds a report already"):
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
        text = (docs.ROOT / requirement.page).read_text("utf-8")
        headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
        assert requirement.section in headings, f"{requirement.id}: {requirement.page} has no {requirement.section!r}"
        assert requirement.sentence.endswith("."), requirement.id


def test_requirements_are_chosen_by_id_and_by_chapter() -> None:
    every = requirements_of("shuffler")
    assert chosen(every, []) == every
    assert [requirement.id for requirement in chosen(every, ["lk-07", "HS-01"])] == ["HS-01", "LK-07"]
    assert {requirement.id[:2] for requirement in chosen(every, ["HB"])} == {"HB"}
    with pytest.raises(ConfigurationError, match="no requirement LK-99"):
        chosen(every, ["LK-99"])


def test_a_kind_without_requirements_is_told() -> None:
    with pytest.raises(ConfigurationError, match="no conformance requirements on a 'toaster'"):
        kind_chapter("toaster")


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.KIND)
def test_every_kind_has_the_two_commands_with_which_every_kind_is_checked(machine: Any) -> None:
    profile, _ = kind_chapter(machine.KIND)
    assert {machine.SelfTest, machine.Reset} <= set(members(machine.Actuation))
    assert (type(profile.self_test(1)), type(profile.reset(1))) == (machine.SelfTest, machine.Reset)


def test_the_questions_of_a_profile_are_all_the_questions_of_its_kind() -> None:
    for kind in kinds_with_requirements():
        profile, _ = kind_chapter(kind)
        asked = {type(question) for question, _ in profile.questions}
        machine = next(machine for machine in MACHINES if kind == machine.KIND)
        # Only a machine that names TRAIL is queried for it, in its own requirement.
        assert asked == set(members(machine.Question)) - {GetTrail}, kind
