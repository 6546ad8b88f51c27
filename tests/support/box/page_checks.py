"""Accessibility checks of a rendered page: contrast as drawn, and the names of all controls."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

_HERE: Final = Path(__file__).parent
CONTRAST: Final = (_HERE / "contrast.js").read_text("utf-8")
NAMES: Final = (_HERE / "names.js").read_text("utf-8")


async def check_page(page: Any, what: str) -> int:
    """Fail if something on a page cannot be read, by light or in the dark; return how many texts were looked at."""
    looked = 0
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        for theme in ("", scheme):  # as the system has it, and as somebody chose it
            await page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)
            result = await page.evaluate(CONTRAST)
            assert not result["wrong"], (what, scheme, theme, result["wrong"])
            looked += result["looked"]
    unnamed = await page.evaluate(NAMES)
    assert not unnamed, (what, unnamed)
    return looked
