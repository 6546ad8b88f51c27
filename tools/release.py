"""Checks that the version, the changelog and the tags of git agree.

python -m tools.release          exit 1 if they disagree (part of `make check`)
python -m tools.release --tag    also check that this commit can be released; print the command that makes the tag

Makes no tag itself. docs/versioning.md has the rules.
"""

from __future__ import annotations

import argparse
import datetime
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from packaging.version import Version

from firmware_bridge.version import VERSION

ROOT: Final = Path(__file__).resolve().parent.parent
_NUMBER: Final = re.compile(r"\d+\.\d+\.\d+")
_HEADING: Final = re.compile(r"^## (.+)$", re.MULTILINE)
_DATED: Final = re.compile(r"(\d+\.\d+\.\d+) \((\d{4}-\d{2}-\d{2})\)")
UNRELEASED: Final = "Unreleased"


class Release(NamedTuple):
    """A dated heading of the changelog."""

    version: str
    date: datetime.date


def releases(changelog: str) -> list[Release]:
    """Return the dated headings, newest first. ValueError if a heading is neither dated nor `Unreleased`."""
    first, *others = _HEADING.findall(changelog) or [""]
    if first != UNRELEASED:
        raise ValueError(f"the first heading is {first!r}, not {UNRELEASED!r}")
    results = []
    for heading in others:
        match = _DATED.fullmatch(heading)
        if match is None:
            raise ValueError(f"the heading {heading!r} is not of the form '0.1.0 (2026-11-18)'")
        results.append(Release(match[1], datetime.date.fromisoformat(match[2])))
    return results


def unreleased(changelog: str) -> str:
    """Return the text under `Unreleased`."""
    return changelog.partition(f"## {UNRELEASED}\n")[2].partition("\n## ")[0].strip()


def disagreements(version: str, changelog: str, tags: set[str]) -> list[str]:
    """Return a sentence for every point in which version, changelog and tags disagree."""
    if not _NUMBER.fullmatch(version):
        return [f"the version {version} is not of the form 0.1.0"]
    try:
        results = releases(changelog)
    except ValueError as error:
        return [f"CHANGELOG.md: {error}"]
    wrong = []
    if not results or results[0].version != version:
        newest = results[0].version if results else "none"
        wrong.append(f"the version is {version}, the newest dated heading of CHANGELOG.md is {newest}")
    for newer, older in pairwise(results):
        if Version(newer.version) <= Version(older.version) or newer.date < older.date:
            wrong.append(f"CHANGELOG.md: {newer.version} ({newer.date}) is above {older.version} ({older.date})")
    headings = {f"v{release.version}" for release in results}
    wrong += [f"the tag {tag} has no heading in CHANGELOG.md" for tag in sorted(tags - headings)]
    return wrong


def not_ready(version: str, changelog: str, tags: set[str], *, clean: bool) -> list[str]:
    """Return a sentence for every reason why this commit cannot be released."""
    reasons = []
    if f"v{version}" in tags:
        reasons.append(f"the tag v{version} exists; a tag never moves, so choose a higher version")
    if unreleased(changelog):
        reasons.append(f"CHANGELOG.md has lines under {UNRELEASED}; move them under the dated heading of the release")
    if not clean:
        reasons.append("files have changed since the last commit; commit them first")
    return reasons


def _git(*words: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)  # noqa: S603, S607 - our own words
    return done.stdout if done.returncode == 0 else ""


def main(arguments: list[str] | None = None) -> int:
    """Check; return 1 if something disagrees."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description="version, changelog and tags agree")
    parser.add_argument("--tag", action="store_true", help="check that this commit can be released")
    options = parser.parse_args(arguments)
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    tags = {tag for tag in _git("tag", "--list", "v*").split() if _NUMBER.fullmatch(tag[1:])}
    wrong = disagreements(VERSION, changelog, tags)
    if options.tag:
        wrong += not_ready(VERSION, changelog, tags, clean=not _git("status", "--porcelain"))
    for sentence in wrong:
        print(f"release: {sentence}")
    if options.tag and not wrong:
        print(f'release: ready. Make the tag: git tag -a v{VERSION} -m "pitbox {VERSION}"')
    elif not wrong:
        print(f"release: version {VERSION} and the changelog agree")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
