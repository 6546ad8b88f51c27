"""`pitbox device button`: the actions of a button mat and the text of its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.bench_link import bench_command_id
from devices.button import messages as m
from devices.button.state import ButtonView, DriverEvent, fold
from devices.driver_events import OutcomeLost
from firmware_bridge.errors import code_of
from table_controller.cli.render.positions import draw_positions, position_text

if TYPE_CHECKING:
    import argparse

    from devices.button.driver import ButtonDriver
    from table_controller.cli.render.screen import Screen

ACTIONS: Final = {
    "where": "the position of the button, or why it is unknown",
    "sensors": "level and margin of every position",
    "selftest": "test every sensor",
    "reset": "restart the firmware",
}
# A button mat has no moving parts.
MOVING: Final = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing: a button mat has no arguments of its own."""


def check(args: argparse.Namespace) -> None:
    """Accept everything: there is nothing to check."""


class BenchSession:
    """One bench session with a button mat."""

    def __init__(self, args: argparse.Namespace, screen: Screen) -> None:
        self.view = ButtonView()
        self._args = args
        self._screen = screen

    def on_event(self, event: DriverEvent) -> None:
        """Show an event of the driver."""
        self.view = fold(self.view, event)
        match event:
            case m.Moved():
                words = _reason(event.reason) if event.place is None else position_text(event.place)
                self._screen.line(f"the button moved: {words}")
            case m.SelfTested():
                bad = [str(place) for place in range(1, m.PLACES + 1) if event.bad_places >> (place - 1) & 1]
                self._screen.line("not passed: place " + ", ".join(bad) if bad else "every sensor passed")
            case OutcomeLost():
                self._screen.line(f"the outcome of command {event.command} is unknown", "bold red")
            case _:
                pass

    async def stop(self, driver: ButtonDriver) -> None:
        """Do nothing: there are no moving parts."""

    async def run_action(self, driver: ButtonDriver) -> int:
        """Run the typed action; return the exit code."""
        screen, command = self._screen, bench_command_id()
        match self._args.action:
            case "where":
                return _show(await driver.where(), screen)
            case "sensors":
                screen.table(*_sensors(await driver.sensors()))
            case action:
                await {"selftest": driver.self_test, "reset": driver.reset}[action](command)
                screen.line(f"{action}: done", "green")
        return 0


def _show(status: m.Status, screen: Screen) -> int:
    """Show the position; return exit code 1 if it is unknown."""
    if status.place is None:
        screen.line(_reason(status.reason), "bold red")
    else:
        screen.line(position_text(status.place), "bold green")
    for row in draw_positions(status.place):
        screen.line(row)
    return 1 if status.place is None else 0


def _reason(reason: m.Reason) -> str:
    return f"{code_of(reason)}: {reason.name.lower().replace('_', ' ')}"


def _sensors(sensors: m.Sensors) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for place, level in enumerate(sensors.levels, 1):
        margin = sensors.margin(place)
        now = "button" if level >= sensors.present else "none" if level <= sensors.absent else "not clear"
        rows.append((position_text(place), now, str(level), str(margin)))
    return rows, ("", "now", f"level ({sensors.absent} none, {sensors.present} button)", "margin")
