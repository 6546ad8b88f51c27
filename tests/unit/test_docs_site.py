"""The site of the documents: builds without a warning, holds every page, and loads nothing from the network."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tools.docs_site import ROOT, _expanded, _from_top, _target

if TYPE_CHECKING:
    from pathlib import Path

# What a browser would load by itself; a link that a reader follows is not one of them.
REMOTE = re.compile(r"""(?:src=["']|<link[^>]*href=["']|url\(["']?|@import ["'])(?:https?:)?//[^"')\s]+""")


def build(site: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Build the site with every warning as an error."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site), *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    folder = tmp_path_factory.mktemp("site")
    done = build(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_of_the_documents_is_in_the_site_and_reachable(site: Path) -> None:
    home = (site / "index.html").read_text("utf-8")
    pages = [path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")]
    named = [page.with_name("index.html") if page.name == "README.html" else page for page in pages]
    assert len(named) > 60
    assert [str(page) for page in named if f'href="{page}"' not in home and str(page) != "index.html"] == []
    assert all((site / page).exists() for page in named)


def test_the_site_loads_nothing_from_the_network(site: Path) -> None:
    files = [path for path in site.rglob("*") if path.suffix in (".html", ".css", ".svg")]
    results = {match for path in files for match in REMOTE.findall(path.read_text("utf-8"))}
    assert len(files) > 60
    assert results == set()


def test_a_linked_source_file_is_a_text_file_of_the_site(site: Path) -> None:
    links = re.findall(r'href="(source/[^"]+)"', (site / "clauses.html").read_text("utf-8"))
    assert links
    assert all((site / link).exists() for link in links)


def test_a_page_outside_the_navigation_fails_the_build(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for name in ("index", "forgotten"):
        (docs / f"{name}.md").write_text(f"# {name}\n")
    config = tmp_path / "mkdocs.yml"
    config.write_text(f"INHERIT: {ROOT / 'mkdocs.yml'}\ndocs_dir: {docs}\nhooks: []\nnav:\n  - index.md\n")
    done = build(tmp_path / "site", "--config-file", str(config))
    assert done.returncode == 1
    assert "forgotten.md" in done.stderr


def test_a_folder_in_the_navigation_stands_for_its_pages() -> None:
    expanded = _expanded([{"Devices": ["devices/rng.md", "devices/*"]}], {"devices/rng.md"})
    pages = expanded[0]["Devices"]
    assert pages[0] == "devices/rng.md"
    assert "devices/shoe.md" in pages
    assert len(pages) == len(set(pages))


@pytest.mark.parametrize(
    ("page", "link", "leads_to"),
    [
        ("table.md", "money.md#hits", "money.md#hits"),
        ("table.md", "https://example.org/", "https://example.org/"),
        ("design.md", "decisions", "decisions/README.md"),
        ("table.md", "../CONTRIBUTING.md", "contributing.md"),
        ("devices/rng.md", "../../CHANGELOG.md", "../changelog.md"),
        ("devices/rng.md", "../../devices/rng/driver.py", "../source/devices/rng/driver.py.txt"),
    ],
)
def test_a_link_leads_to_a_page_of_the_site(page: str, link: str, leads_to: str) -> None:
    assert _target(page, link) == leads_to


def test_links_of_the_top_pages_are_seen_from_the_documents() -> None:
    text = "[a](docs/table.md) [b](CHANGELOG.md) [c](devices/rng/driver.py) [d](https://example.org/)"
    assert _from_top(text) == (
        "[a](table.md) [b](changelog.md) [c](../devices/rng/driver.py) [d](https://example.org/)"
    )
