"""`pitbox device rng`: the actions of a number generator, its digit, and the text of its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.bench_link import bench_command_id
from devices.driver_events import OutcomeLost
from devices.rng import messages as m
from devices.rng.state import DriverEvent, RngView, fold
from firmware_bridge.errors import OutcomeUnknown, UsageError, code_of
from table_controller.cli.render.positions import draw_digit, draw_positions, position_text

if TYPE_CHECKING:
    import argparse

    from devices.rng.driver import RngDriver
    from table_controller.cli.render.screen import Screen

ACTIONS: Final = {
    "status": "its state, and what its display shows",
    "health": "how close its noise source came to failing a test",
    "draw": "draw one number and show it",
    "drawn": "which number a command drew (--command; default: the last one)",
    "clear": "blank the display, so that another number can be drawn",
    "selftest": "run the start-up tests and light every segment",
    "reset": "restart the firmware",
}
# No moving parts. A draw that has begun ends by itself; its result is queried, the draw is never repeated.
MOVING: Final = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments that only a generator has."""
    parser.add_argument("--command", type=int, metavar="ID", help="with drawn: the id of the draw")


def check(args: argparse.Namespace) -> None:
    """Refuse arguments that do not fit the action, before a port is opened."""
    if args.command is not None and args.action != "drawn":
        raise UsageError("--command belongs to the action drawn")
    if args.command is not None and args.command < 1:
        raise UsageError("--command takes the id of a draw, from 1 up")


class BenchSession:
    """One bench session with a number generator: shows the digit."""

    def __init__(self, args: argparse.Namespace, screen: Screen) -> None:
        self.view = RngView()
        self._args = args
        self._screen = screen

    def on_event(self, event: DriverEvent) -> None:
        """Show an event of the driver."""
        self.view = fold(self.view, event)
        line = self._screen.line
        match event:
            case m.Drawn():
                _show(event.number, event.segments, self._screen)
            case m.HealthFailed():
                count = f", {event.count} equal samples" if event.count else ""
                line(f"{code_of(event.reason)}: {_words(event.reason)}{count}", "bold red")
            case m.SelfTested():
                line(f"not passed: {_words(event.reason)}" if event.reason else "noise and display passed")
            case OutcomeLost():
                line(f"the outcome of command {event.command} is unknown", "bold red")
            case _:
                pass

    async def stop(self, driver: RngDriver) -> None:
        """Do nothing: there are no moving parts."""

    async def run_action(self, driver: RngDriver) -> int:
        """Run the typed action; return the exit code."""
        args, screen, command = self._args, self._screen, bench_command_id()
        match args.action:
            case "status":
                status = await driver.status()
                screen.table(_status(status))
                for row in draw_digit(status.segments) if status.segments else []:
                    screen.line(row)
            case "health":
                screen.table(*_health(await driver.health()))
            case "draw":
                try:
                    await driver.draw(command)
                except OutcomeUnknown:
                    screen.line(f"query later which number it drew: drawn --command {command}", "bold red")
                    raise
            case "drawn":
                return await self._drawn(driver)
            case _:
                method = {"clear": driver.clear, "selftest": driver.self_test, "reset": driver.reset}[args.action]
                await method(command)
                screen.line(f"{args.action}: done", "green")
        return 0

    async def _drawn(self, driver: RngDriver) -> int:
        command = self._args.command or (await driver.status()).draw
        if command is None:
            self._screen.line("nothing has been drawn")
            return 1
        drawn = await driver.drawn(command)
        words = (
            "no number, or one that the device has forgotten" if drawn.number is None else position_text(drawn.number)
        )
        self._screen.line(f"draw {command}: {words}")
        return 0 if drawn.number is not None else 1


def _show(number: int, segments: int, screen: Screen) -> None:
    for row in draw_digit(segments):
        screen.line(row, "bold green")
    screen.line(position_text(number), "bold green")
    for row in draw_positions(number):
        screen.line(row)


def _words(named: m.Reason | m.State) -> str:
    return named.name.lower().replace("_", " ")


def _status(status: m.Status) -> list[tuple[str, ...]]:
    failed = f"{code_of(status.reason)} {_words(status.reason)}" if status.reason else "nothing"
    return [
        ("state", _words(status.state)),
        ("last draw", "none" if status.draw is None else str(status.draw)),
        ("number shown", "none" if status.number is None else position_text(status.number)),
        ("draws", str(status.draws)),
        ("failed", failed),
    ]


def _health(health: m.Health) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        ("equal samples in a row", str(health.longest), str(health.repetition_cutoff)),
        (f"equal in a window of {health.window}", str(health.highest), str(health.proportion_cutoff)),
        ("samples tested since the start", str(health.samples), ""),
    ]
    return rows, ("", "most so far", "fails at")
