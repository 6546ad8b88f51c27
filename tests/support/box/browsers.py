"""A real Chromium at a panel that is really served, over a simulated table in real time at a fast pace."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from simulators.casino.panel import PINS, make_silent_table, people_file, run_hands, serve_panel
from tests.support.suite.required_tools import need_tool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from simulators.casino.panel import PanelHands
    from simulators.casino.table import CasinoTable
    from table_controller.table import events as ev

# The dealer's touch screen.
SCREEN: Final = {"width": 1024, "height": 600}
# Time limit on a loaded computer (s); normally everything takes less than a thirtieth of it.
PATIENCE: Final = 180.0
# No button that a finger must hit is smaller than this (px), and none lies outside the screen.
FITS: Final = """() => {
  const wrong = [];
  if (document.documentElement.scrollHeight > innerHeight || document.documentElement.scrollWidth > innerWidth)
    wrong.push("the page scrolls");
  const next = document.getElementById("next");
  if (next && next.scrollHeight > next.clientHeight + 1) wrong.push(`what is asked is cut off: ${next.innerText}`);
  for (const line of document.querySelectorAll("#next p, #lock .what"))
    if (line.scrollHeight > line.clientHeight + 2) wrong.push(`${line.textContent} is cut off`);
  for (const button of document.querySelectorAll("button")) {
    const box = button.getBoundingClientRect();
    if (box.width === 0) continue;
    const text = button.textContent;
    if (box.height < 40 || box.width < 40) wrong.push(`${text} is ${box.width} x ${box.height}`);
    if (box.bottom > innerHeight + 1 || box.right > innerWidth + 1) wrong.push(`${text} is outside`);
    const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    if (top && !button.contains(top)) wrong.push(`${text} is covered by ${top.className || top.tagName}`);
    const card = button.closest(".card, .lockline, header");
    if (card && box.bottom > card.getBoundingClientRect().bottom + 1) wrong.push(`${text} is cut off`);
  }
  return wrong;
}"""


@asynccontextmanager
async def chromium() -> AsyncIterator[Any]:
    """A browser; nothing is downloaded."""
    program = need_tool("chromium", "chromium")
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        )
        try:
            yield browser
        finally:
            await browser.close()


class ServedPanel:
    """A simulated table whose panel is served. Simulated hands work; their answers are given in the browser."""

    def __init__(self, house: CasinoTable, hands: PanelHands, browser: Any) -> None:
        self.house = house
        self.hands = hands
        self.browser = browser
        self.port = 0
        self.panel: asyncio.Task[None]
        self.show: Callable[..., Any]  # serves the panel, again on the same port if asked
        self.errors: list[str] = []
        self.answered: list[str] = []
        self._contexts: list[Any] = []

    @property
    def state(self) -> Any:
        return self.house.controller.table.state

    async def until(self, condition: Callable[[], Any], what: str) -> Any:
        """Wait until a condition is true; the error names it."""
        for _ in range(round(PATIENCE / 0.02)):
            result = condition()
            if result:
                return result
            await asyncio.sleep(0.02)
        raise AssertionError(f"{what} did not come; prompts: {self.state.prompts}; errors: {self.errors}")

    def asks(self, kind: str) -> bool:
        """Whether a prompt of a kind is open."""
        return any(prompt.kind == kind for prompt in self.state.prompts.values())

    async def page(self, path: str, id_: str | None = None, stubs: dict[str, Any] | None = None, **options: Any) -> Any:
        """Open a page and sign on. `stubs`: functions that answer paths instead of the box."""
        context = await self.browser.new_context(viewport=SCREEN, reduced_motion="reduce", **options)
        self._contexts.append(context)
        page = await context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._on_console)
        for address, stub in (stubs or {}).items():
            await page.route(f"**{address}", stub)
        await page.goto(f"http://127.0.0.1:{self.port}{path}")
        if id_ is not None:
            await sign_on(page, id_)
            await page.wait_for_selector("#page:not(.hidden)")
        return page

    def _on_console(self, line: Any) -> None:
        """Record errors of a page; a refusal of the box is not an error."""
        if line.type == "error" and "Failed to load resource" not in line.text:
            self.errors.append(line.text)

    async def answer_one(self, page: Any, *, own: bool = False) -> None:
        """Answer the prompt on the dealer's page with the hands' answer. `own`: only a dealer's prompt."""
        shown = await page.query_selector("#next [data-prompt]")
        id_ = int(await shown.get_attribute("data-prompt")) if shown is not None else 0
        prompt = self.state.prompts.get(id_)
        if prompt is not None and id_ in self.hands.ready_cards:
            await self.enter_cards(page, self.hands.ready_cards[id_])
            return
        hint = await page.query_selector(
            "#next p:has-text('Simulated hands')"
        )  # until it is there the keys may still move
        if prompt is None or id_ not in self.hands.ready_answers or hint is None or (own and prompt.role != "dealer"):
            await asyncio.sleep(0.02)
            return
        answer = self.hands.ready_answers[id_]
        await no_dialog(page)
        if prompt.number and answer.choice == prompt.choices[0]:
            for digit in str(answer.number):
                await page.click(f'#next [data-key="{digit}"]')
        if prompt.seats and answer.choice == prompt.choices[0]:
            for seat in answer.seats:
                await page.click(f'#next [data-seat="{seat}"]')
        await no_dialog(page)
        wrong = await page.evaluate(FITS)
        assert not wrong, (prompt.kind, wrong)
        button = f'#next [data-choice="{answer.choice}"][data-of="{id_}"]'
        for _ in range(round(PATIENCE)):  # what was typed is drawn in a moment
            if await page.is_enabled(button):
                break
            await asyncio.sleep(0.1)
        else:
            raise AssertionError((prompt, answer, await page.inner_text("#next")))
        await page.click(button)
        if prompt.role != "dealer":
            await show_credential(page, {"floorperson": "floor-1", "technician": "tech-1"}[prompt.role])
        await self.until(lambda: id_ not in self.state.prompts, f"the answer to {prompt}")
        self.answered.append(prompt.kind)

    async def enter_cards(self, page: Any, entry: ev.HandEntered) -> None:
        """Enter the cards of a progressive hand on the card pad, which closes when it has them."""
        await page.click("#openpad")
        await page.wait_for_selector(f'#pad [data-place="{entry.place}"][aria-pressed="true"]')
        for card in entry.cards.split():
            await page.click(f'#pad [data-card="{card}"]')
        await page.click("#padenter")
        await no_dialog(page)
        await self.until(lambda: entry.place in self.state.round.hands, f"the entry {entry}")
        self.answered.append("cards")

    async def answer_floor(self, page: Any) -> None:
        """Answer the floorperson's prompts on the floor's page, with the PIN each time."""
        for prompt in [one for one in self.state.prompts.values() if one.role == "floorperson"]:
            answer = self.hands.ready_answers.get(prompt.id)
            card = f'[data-card="{prompt.id}"]'
            if answer is None or await page.query_selector(card) is None:
                continue
            if prompt.kind == "hand_pay":  # the proposed number is one touch, and another can be typed
                following = self.state.money.book.next_slip()
                await page.click(f'{card} [data-proposed="{following}"]')
                await page.wait_for_selector(f'{card} .entry:has-text("{following}")')
                await page.click(f'{card} [data-key="C"]')
            if prompt.number and answer.choice == prompt.choices[0]:
                for digit in str(answer.number):
                    await page.click(f'{card} [data-key="{digit}"]')
            await page.click(f'{card} [data-choice="{answer.choice}"]')
            await show_credential(page, "floor-1")
            await self.until(lambda: prompt.id not in self.state.prompts, f"the answer to {prompt}")  # noqa: B023
            self.answered.append(prompt.kind)

    async def answer_until(self, page: Any, condition: Callable[[], bool], floor: Any = None) -> None:
        """Answer prompts on the dealer's page, and the floor's on its page, until a condition is true."""
        async with asyncio.timeout(2 * PATIENCE):
            while not condition():
                if floor is not None:
                    await self.answer_floor(floor)
                await self.answer_one(page, own=floor is not None)

    async def close(self) -> None:
        for context in self._contexts:
            await context.close()


async def sign_on(page: Any, id_: str) -> None:
    await page.fill("#who", id_)
    await page.fill("#pin", PINS[id_])
    await page.click("#signon button[type=submit]")


async def show_credential(page: Any, id_: str) -> None:
    """Show a credential where a dialog asks for one."""
    await page.fill("#by-id", id_)
    await page.fill("#by-pin", PINS[id_])
    await page.click("#by-ok")
    await no_dialog(page, "dialog:has(#by-ok)")


async def no_dialog(page: Any, which: str = "dialog") -> None:
    """Wait until the dialog is closed."""
    await page.wait_for_selector(which, state="detached")


@asynccontextmanager
async def serve_table(
    browser: Any,
    folder: Path,
    game: str,
    decks: tuple[str, ...] = ("blue", "red"),
    choices: dict[str, Any] | None = None,
) -> AsyncIterator[ServedPanel]:
    """An open table at a fast pace, and its panel."""
    house, hands = make_silent_table(game, people_file(folder), speed=200.0, pace=0.004, choices=choices)
    hands.is_silent = False
    stage = ServedPanel(house, hands, browser)
    data = folder / "data"

    async def begin(port: int = 0) -> None:
        ready: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        stage.panel = asyncio.create_task(serve_panel(house, port=port, on_ready=ready.set_result, folder=data))
        stage.port = await ready

    stage.show = begin
    tending = asyncio.create_task(run_hands(house))
    try:
        await begin()
        await house.open(*decks)
        hands.is_silent = True
        yield stage
        assert not stage.errors, stage.errors
    finally:
        await stage.close()
        tending.cancel()
        stage.panel.cancel()
        await asyncio.wait({tending, stage.panel})
        await house.close()
