"""Hooks of mkdocs for `make docs`: they put into the site what lies outside docs/ and is linked from it.

- A link to a source file (`../tests/unit/test_x.py`) becomes a link to its copy below `source/`, as plain text.
- A link to a folder becomes a link to its README.
- CONTRIBUTING.md and CHANGELOG.md become pages.
- `FOLDER/*` in the navigation of mkdocs.yml means every page of a folder that the navigation does not name.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).resolve().parent.parent
# Page of the site -> file at the top of the project.
TOP_PAGES: Final = {"contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}
_LINK: Final = re.compile(r"(\]\()([^)\s]+)(\))")
_FENCE: Final = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Expand `FOLDER/*` in the navigation."""
    named = set(_pages(config.nav or []))
    config.nav = _expanded(config.nav or [], named)
    return config


def _pages(nav: list[Any]) -> Iterator[str]:
    for item in nav:
        if isinstance(item, str):
            yield item
        else:
            for value in item.values():
                yield from _pages(value if isinstance(value, list) else [value])


def _expanded(nav: list[Any], named: set[str]) -> list[Any]:
    items: list[Any] = []
    for item in nav:
        if isinstance(item, str) and item.endswith("/*"):
            results = sorted((ROOT / "docs").glob(f"{item.removesuffix('*')}**/*.md"))
            paths = [path.relative_to(ROOT / "docs").as_posix() for path in results]
            items += [path for path in paths if path not in named]
        elif isinstance(item, dict):
            items.append({k: _expanded(v, named) if isinstance(v, list) else v for k, v in item.items()})
        else:
            items.append(item)
    return items


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from the top of the project and every linked source file."""
    for uri, name in TOP_PAGES.items():
        files.append(File.generated(config, uri, content=_from_top((ROOT / name).read_text("utf-8"))))
    sources = {
        source for page in files.documentation_pages() for source in _linked_sources(page.src_uri, page.content_string)
    }
    for source in sorted(sources):
        files.append(File.generated(config, f"source/{source}.txt", content=(ROOT / source).read_text("utf-8")))
    return files


def _from_top(text: str) -> str:
    """Return a page of the project's top folder with its links as seen from docs/."""

    def seen_from_docs(link: re.Match[str]) -> str:
        target = link[2]
        if re.match(r"[a-z]+:|#", target):
            return link[0]
        inside = target.removeprefix("docs/")
        moved = {name: uri for uri, name in TOP_PAGES.items()}.get(target)
        return f"{link[1]}{moved or (inside if inside != target else f'../{target}')}{link[3]}"

    return _LINK.sub(seen_from_docs, text)


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Lead links that leave docs/, and links to folders, to pages of the site."""
    uri = page.file.src_uri
    parts = _FENCE.split(markdown)
    return "".join(
        part if part.startswith("```") else _LINK.sub(lambda link: link[1] + _target(uri, link[2]) + link[3], part)
        for part in parts
    )


def _target(page: str, target: str) -> str:
    if re.match(r"[a-z]+:|#|/", target):
        return target
    path, _, anchor = target.partition("#")
    full = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), path))
    here = posixpath.dirname(page)
    if full.startswith("docs/"):
        return posixpath.join(path, "README.md") if (ROOT / full).is_dir() else target
    top = {name: uri for uri, name in TOP_PAGES.items()}.get(full)
    if top is not None:
        return posixpath.relpath(top, here or ".") + (f"#{anchor}" if anchor else "")
    return posixpath.relpath(f"source/{full}.txt", here or ".") if (ROOT / full).is_file() else target


def _linked_sources(page: str, text: str) -> Iterator[str]:
    for _, target, _ in _LINK.findall(_FENCE.sub("", text)):
        path = target.partition("#")[0]
        if re.match(r"[a-z]+:|/", target) or not path:
            continue
        full = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), path))
        if not full.startswith("docs/") and full not in TOP_PAGES.values() and (ROOT / full).is_file():
            yield full
