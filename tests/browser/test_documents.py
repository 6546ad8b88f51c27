"""Documents in a real browser: they print on one sheet, black on white and without navigation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from table_controller.documents.registry import DOCUMENTS
from tests.support.box.browsers import chromium, serve_table
from tests.support.box.documents import pdf_pages, pdf_words
from tests.support.box.page_checks import check_page

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.realtime, pytest.mark.timeout(900)]

# Colors that the print would use, other than black and white and no background.
_COLORS = """() => [...document.querySelectorAll("body, body *")].flatMap((each) => {
  const style = getComputedStyle(each);
  return [style.color, style.backgroundColor, style.borderTopColor];
}).filter((color) => !["rgb(0, 0, 0)", "rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"].includes(color))"""


async def test_documents_print_on_one_sheet_black_on_white_without_navigation(tmp_path: Path) -> None:
    async with chromium() as browser, serve_table(browser, tmp_path, "face_up_pai_gow") as stage:
        floor = await stage.page("/floor", "floor-1")
        await floor.click("a[href='/documents']")
        await floor.wait_for_selector("h1:has-text('Documents')")
        assert await floor.locator("main a:has-text('Deck receipt: Deck red')").count() == 1
        for name in ("deck-receipt", "deck-check", "dice"):
            await floor.goto(f"http://127.0.0.1:{stage.port}/document/{name}")
            await floor.wait_for_selector(f"h1:has-text('{DOCUMENTS[name].title}')")
            assert await check_page(floor, name)
            await floor.emulate_media(media="print")
            assert await floor.evaluate(_COLORS) == []
            assert not await floor.is_visible("nav")
            sheet = await floor.pdf(prefer_css_page_size=True)
            assert pdf_pages(sheet, tmp_path) == 1
            await floor.emulate_media(media="screen")
            words = pdf_words(sheet, tmp_path)
            assert "PDF" not in words
            assert "Verify" in words
        assert stage.errors == []
