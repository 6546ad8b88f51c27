"""`pitbox device bay_door`: the actions of a bay door and the text of its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.bay_door import messages as m
from devices.bay_door.state import BayDoorView, DriverEvent, fold
from devices.bench_link import bench_command_id
from devices.driver_events import OutcomeLost

if TYPE_CHECKING:
    import argparse

    from devices.bay_door.driver import BayDoorDriver
    from table_controller.cli.render.screen import Screen

ACTIONS: Final = {
    "status": "whether the door is open",
    "selftest": "test the lamp",
    "reset": "restart the firmware",
}
# Nothing moves by itself.
MOVING: Final = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing: a bay door has no arguments of its own."""


def check(args: argparse.Namespace) -> None:
    """Accept everything: there is nothing to check."""


class BenchSession:
    """One bench session with a bay door."""

    def __init__(self, args: argparse.Namespace, screen: Screen) -> None:
        self.view = BayDoorView()
        self._args = args
        self._screen = screen

    def on_event(self, event: DriverEvent) -> None:
        """Show an event of the driver."""
        self.view = fold(self.view, event)
        match event:
            case m.Opened():
                self._screen.line(f"opened, {event.openings} times since the start", "bold red")
            case m.Closed():
                self._screen.line("closed", "green")
            case m.SelfTested():
                self._screen.line("the lamp passed" if event.lamp else "the lamp did not pass")
            case OutcomeLost():
                self._screen.line(f"the outcome of command {event.command} is unknown", "bold red")
            case _:
                pass

    async def stop(self, driver: BayDoorDriver) -> None:
        """Do nothing: nothing moves."""

    async def run_action(self, driver: BayDoorDriver) -> int:
        """Run the typed action; return the exit code."""
        command = bench_command_id()
        match self._args.action:
            case "status":
                status = await driver.status()
                is_open = status.state is m.State.OPEN
                self._screen.line(status.state.name.lower(), "bold red" if is_open else "bold green")
                return 1 if is_open else 0
            case action:
                await {"selftest": driver.self_test, "reset": driver.reset}[action](command)
                self._screen.line(f"{action}: done", "green")
        return 0
