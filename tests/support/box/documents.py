"""Exports of simulated tables, and the texts of a document in each of its forms."""

from __future__ import annotations

import re
import subprocess
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from table_controller.journal.chain import ZERO_HEAD
from table_controller.journal.export import ExportManifest, write_export
from tests.support.suite.required_tools import need_tool

if TYPE_CHECKING:
    from pathlib import Path

    from simulators.casino.table import CasinoTable


def export_of(house: CasinoTable, folder: Path) -> Path:
    """Write everything that the disk of a simulated table has as an export."""
    records = house.disk.records
    write_export(ExportManifest(first=1, head_before=ZERO_HEAD.hex(), journal="00"), records, folder)
    return folder


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._quiet = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._quiet += tag in ("nav", "title", "style")

    def handle_endtag(self, tag: str) -> None:
        self._quiet -= tag in ("nav", "title", "style")

    def handle_data(self, data: str) -> None:
        if not self._quiet:
            self.texts.append(data)


def html_words(page: str) -> list[str]:
    """Return the words that a page prints, in order: without title, style and navigation."""
    parser = _Words()
    parser.feed(page)
    return " ".join(parser.texts).split()


def pdf_words(content: bytes, folder: Path) -> list[str]:
    """Return the words of a PDF file as poppler reads them, in no certain order."""
    tool = need_tool("pdftotext", "poppler-utils")
    path = folder / "document.pdf"
    path.write_bytes(content)
    done = subprocess.run([tool, "-raw", str(path), "-"], capture_output=True, check=True)
    return re.sub(r"\f", " ", done.stdout.decode()).split()


def pdf_pages(content: bytes, folder: Path) -> int:
    """Return the number of sheets of a PDF file."""
    tool = need_tool("pdfinfo", "poppler-utils")
    path = folder / "document.pdf"
    path.write_bytes(content)
    done = subprocess.run([tool, str(path)], capture_output=True, check=True)
    match = re.search(rb"Pages:\s+(\d+)", done.stdout)
    assert match is not None
    return int(match[1])
