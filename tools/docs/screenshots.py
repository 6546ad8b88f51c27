"""Makes the pictures of the panel for README and docs/panel.md: `python -m tools.docs.screenshots`.

Serves the panel of a simulated table and opens it in Debian's Chromium. The pictures differ a little in every run, so
no check compares them.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any, Final

from playwright.async_api import async_playwright

from simulators.casino.panel import PINS, make_silent_table, people_file, run_hands, serve_panel
from table_controller.table import state_machines as mc
from tools import ROOT

FOLDER: Final = ROOT / "docs" / "panel"
SCREEN: Final = {"width": 1024, "height": 600}
# Limit for a picture in the repository (bytes).
LARGEST: Final = 150_000
PATIENCE: Final = 60.0


class Studio:
    """One simulated table and a browser."""

    def __init__(self, browser: Any, house: Any, hands: Any, port: int) -> None:
        self._browser = browser
        self.house = house
        self.hands = hands
        self._port = port

    @property
    def state(self) -> Any:
        """The state of the core."""
        return self.house.controller.table.state

    async def page(self, path: str, id_: str | None = None, *, dark: bool = False, height: int = 600) -> Any:
        """Open a page and sign on."""
        context = await self._browser.new_context(
            viewport=SCREEN | {"height": height}, color_scheme="dark" if dark else "light", reduced_motion="reduce"
        )
        page = await context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        await page.goto(f"http://127.0.0.1:{self._port}{path}")
        if id_ is not None:
            await page.fill("#who", id_)
            await page.fill("#pin", PINS[id_])
            await page.click("#signon button[type=submit]")
            await page.wait_for_selector("#page:not(.hidden)")
        return page

    async def until(self, condition: Any, kinds: tuple[str, ...] = ()) -> None:
        """Answer prompts until a condition holds; prompts of these kinds stay open."""
        async with asyncio.timeout(PATIENCE):
            while not condition():
                for id_, answer in list(self.hands.ready_answers.items()):
                    prompt = self.state.prompts.get(id_)
                    if prompt is not None and prompt.kind not in kinds:
                        self.house.controller.submit(answer)
                await asyncio.sleep(0.02)

    def asks(self, kind: str) -> bool:
        """Return whether the only open prompt is of this kind and the simulated people are ready to answer it."""
        return [(p.kind, id_ in self.hands.ready_answers) for id_, p in self.state.prompts.items()] == [(kind, True)]


async def shoot(page: Any, name: str) -> None:
    """Take one picture."""
    await asyncio.sleep(0.6)
    path = FOLDER / f"{name}.png"
    await page.screenshot(path=path)
    size = path.stat().st_size
    print(f"{path.relative_to(FOLDER.parent.parent)}  {size // 1000} kB")
    assert size < LARGEST, f"{path} has {size} bytes"


async def table(studio: Studio) -> None:
    """Play a round with bets, a jackpot, and a jam of the other deck; take the pictures."""
    dealer, sign = await studio.page("/dealer", "dealer-1"), await studio.page("/sign")
    await dealer.click("[data-act=open_round]")
    await dealer.wait_for_selector("[data-act=no_more_bets]")
    for seat in (1, 2, 4):
        studio.house.machines[f"bet_sensor.{seat}"].inject("place_bet")
    await shoot(dealer, "dealer-betting")
    await dealer.click("[data-act=no_more_bets]")
    await studio.until(lambda: studio.asks("stub"), ("stub",))
    await dealer.wait_for_selector("[data-kind=stub]")
    await dealer.click('#next [data-key="4"]')
    await shoot(dealer, "dealer-stub")
    studio.hands.false_numbers["hand_pay"] = 4711
    studio.hands.choices["progressive"] = studio.house.controller.table.context.meter.awards[1].hand
    await studio.until(lambda: bool(studio.state.money.hits))
    studio.hands.choices["progressive"] = "no_win"
    await studio.until(lambda: any(p.kind == "hit_validate" for p in studio.state.prompts.values()), ("hit_validate",))
    floor = await studio.page("/floor", "floor-1", height=768)
    await shoot(floor, "floor")
    await shoot(sign, "sign")
    studio.house.machines["shuffler.1"].inject("jam:segment=lift,card=27")
    studio.hands.is_ignoring = True
    await studio.until(lambda: studio.state.holds and studio.state.round.state == mc.IDLE)
    await shoot(dealer, "dealer-locked")
    technician = await studio.page("/technician", "tech-1", dark=True)
    await technician.wait_for_selector(".path .wrong")
    await shoot(technician, "technician")
    bench = await studio.page("/bench", "tech-1", dark=True)
    await bench.wait_for_selector("[data-inject]")
    await shoot(bench, "bench")
    await technician.click('[data-machine="shuffler.1"] [data-report]')
    await technician.wait_for_selector("#steps li")
    await shoot(technician, "fault-report")
    await technician.keyboard.press("Escape")
    await technician.click("#past")
    await technician.wait_for_selector("#history[data-ready]")
    await shoot(technician, "history")
    await floor.set_viewport_size(SCREEN)
    await floor.click("#reviewround")
    await floor.wait_for_selector("#review[data-round]")
    await shoot(floor, "round-review")


async def main() -> None:
    """Take every picture."""
    FOLDER.mkdir(exist_ok=True)
    ready: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    with tempfile.TemporaryDirectory(prefix="pitbox-shots-") as folder:
        file = people_file(Path(folder))
        house, hands = make_silent_table("face_up_pai_gow", file, speed=100.0, pace=0.01)
        hands.is_silent = False
        panel = asyncio.create_task(serve_panel(house, on_ready=ready.set_result, folder=Path(folder)))
        tending = asyncio.create_task(run_hands(house))
        try:
            await house.open("blue", "red")
            hands.is_silent = True
            async with async_playwright() as playwright:
                browser = await playwright.chromium.launch(
                    executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
                )
                await table(Studio(browser, house, hands, await ready))
                await browser.close()
        finally:
            panel.cancel()
            tending.cancel()
            await asyncio.wait({panel, tending})
            await house.close()


if __name__ == "__main__":
    asyncio.run(main())
