"""Version, changelog and tags agree, and the check finds every way in which they could not."""

from __future__ import annotations

import pytest

from firmware_bridge.version import VERSION
from tools.release import ROOT, disagreements, not_ready, releases, unreleased

GOOD = "# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-11-18)\n\n- New.\n\n## 0.1.0 (2026-11-16)\n\n- First.\n"


def test_the_version_and_the_changelog_of_this_project_agree() -> None:
    assert disagreements(VERSION, (ROOT / "CHANGELOG.md").read_text("utf-8"), set()) == []


def test_dated_headings_are_read_newest_first() -> None:
    assert [release.version for release in releases(GOOD)] == ["0.2.0", "0.1.0"]
    assert disagreements("0.2.0", GOOD, {"v0.1.0", "v0.2.0"}) == []


WRONG = {
    "another version": ("0.3.0", GOOD, "the version is 0.3.0, the newest dated heading of CHANGELOG.md is 0.2.0"),
    "no number": ("0.2", GOOD, "the version 0.2 is not of the form 0.1.0"),
    "no Unreleased": (
        "0.2.0",
        GOOD.replace("## Unreleased\n", ""),
        "CHANGELOG.md: the first heading is '0.2.0 (2026-11-18)', not 'Unreleased'",
    ),
    "an undated heading": (
        "0.2.0",
        GOOD.replace(" (2026-11-16)", ""),
        "CHANGELOG.md: the heading '0.1.0' is not of the form '0.1.0 (2026-11-18)'",
    ),
    "dates that rise": (
        "0.2.0",
        GOOD.replace("2026-11-16", "2026-11-20"),
        "CHANGELOG.md: 0.2.0 (2026-11-18) is above 0.1.0 (2026-11-20)",
    ),
    "one number twice": (
        "0.2.0",
        GOOD.replace("0.1.0", "0.2.0"),
        "CHANGELOG.md: 0.2.0 (2026-11-18) is above 0.2.0 (2026-11-16)",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_the_check_names(case: str) -> None:
    version, changelog, sentence = WRONG[case]
    assert disagreements(version, changelog, set()) == [sentence]


def test_a_tag_without_a_heading_is_named() -> None:
    assert disagreements("0.2.0", GOOD, {"v0.9.0"}) == ["the tag v0.9.0 has no heading in CHANGELOG.md"]


def test_a_commit_can_be_released_once_and_only_whole() -> None:
    assert not_ready("0.2.0", GOOD, {"v0.1.0"}, clean=True) == []
    busy = GOOD.replace("## Unreleased\n", "## Unreleased\n\n- Not yet.\n")
    assert unreleased(busy) == "- Not yet."
    assert len(not_ready("0.2.0", busy, {"v0.2.0"}, clean=False)) == 3
