"""Converts console output into an SVG picture that needs nothing from the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import CONSOLE_SVG_FORMAT  # type: ignore[attr-defined]

if TYPE_CHECKING:
    from rich.console import Console


def console_to_svg(console: Console, title: str) -> str:
    """Return the recorded output as SVG. Rich's template loads a web font; this one uses the viewer's fonts."""
    before, _, tail = CONSOLE_SVG_FORMAT.partition("@font-face")
    after = tail[tail.rindex("}}", 0, tail.index(".{unique_id}-matrix")) + 2 :]
    template = (before + after).replace("<!-- Generated with Rich https://www.textualize.io -->", "")
    return console.export_svg(title=title, code_format=template, unique_id="pitbox")
