"""`pitbox device shaker`: the actions of a dice shaker, the dice as faces, and the text of its answers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from devices.bench_link import bench_command_id
from devices.driver_events import LinkDown, OutcomeLost
from devices.position import position_of_dice
from devices.shaker import messages as m
from devices.shaker.state import DriverEvent, ShakerView, fold
from firmware_bridge.errors import UsageError, code_of
from table_controller.cli.render.positions import dice_text, draw_positions

if TYPE_CHECKING:
    import argparse

    from devices.shaker.driver import ShakerDriver
    from table_controller.cli.render.screen import Screen

ACTIONS: Final = {
    "status": "its state, and the result of the last roll",
    "sensors": "levels and margins, and the dice if uncovered",
    "roll": "arm it, wait until a person shakes and uncovers it, show the dice",
    "rolled": "the result of a roll (--command; default: the last one)",
    "arm": "allow a new roll, and do not wait for it",
    "disarm": "cancel an open roll; it counts as no roll",
    "selftest": "test every sensor",
    "reset": "restart the firmware",
}
# Actions that wait for a person; Ctrl-C ends them.
MOVING: Final = ("roll", "selftest")
# How long `roll` waits for a person (s).
_PATIENCE: Final = 120.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments that only a shaker has."""
    parser.add_argument("--command", type=int, metavar="ID", help="with rolled: the id of the roll")
    parser.add_argument(
        "--seconds",
        type=float,
        default=_PATIENCE,
        help=f"with roll: how long to wait for a person (default {_PATIENCE:g})",
    )


def check(args: argparse.Namespace) -> None:
    """Refuse arguments that do not fit the action, before a port is opened."""
    if args.command is not None and args.action != "rolled":
        raise UsageError("--command belongs to the action rolled")
    if args.command is not None and args.command < 1:
        raise UsageError("--command takes the id of a roll, from 1 up")
    if not 0 < args.seconds <= 3600:
        raise UsageError("--seconds takes a number up to 3600")


class BenchSession:
    """One bench session with a shaker: shows shakes, lid, dice and rolls."""

    def __init__(self, args: argparse.Namespace, screen: Screen) -> None:
        self.view = ShakerView()
        self._args = args
        self._screen = screen
        self._ended: asyncio.Future[m.Reading | m.NoRoll] | None = None

    def on_event(self, event: DriverEvent) -> None:
        """Show an event of the driver."""
        self.view = fold(self.view, event)
        line = self._screen.line
        match event:
            case m.Shaken() if event.shakes:
                line(f"shaken {event.shakes} time{'s' * (event.shakes != 1)}")
            case m.Lid():
                line(f"the lid is {'on' if event.on else 'off'}")
            case m.Dice():
                line(f"the dice door is {'open' if event.door_open else 'closed'}, {_dice(event.dice)} in the shaker")
                if event.disturbed:
                    line("the dice have moved since they were read", "bold red")
            case m.SelfTested():
                bad = [sensor.name.lower() for sensor in m.Sensor if event.bad_sensors >> sensor & 1]
                line("not passed: " + ", ".join(bad) if bad else "every sensor passed")
            case OutcomeLost():
                line(f"the outcome of command {event.command} is unknown", "bold red")
            case _:
                pass
        self._release(event)

    def _release(self, event: DriverEvent) -> None:
        """Wake the task that waits for the end of the roll."""
        if self._ended is None or self._ended.done():
            return
        if isinstance(event, m.Reading | m.NoRoll):
            self._ended.set_result(event)
        elif isinstance(event, LinkDown):
            self._ended.set_exception(event.cause)

    async def stop(self, driver: ShakerDriver) -> None:
        """Cancel an open roll and print that."""
        await driver.disarm(bench_command_id())
        self._screen.line("Disarmed. The open roll counts as no roll.", "red")

    async def run_action(self, driver: ShakerDriver) -> int:
        """Run the typed action; return the exit code."""
        args, screen, command = self._args, self._screen, bench_command_id()
        match args.action:
            case "status":
                screen.table(_status(await driver.status()))
            case "sensors":
                screen.table(*_sensors(await driver.sensors()))
            case "roll":
                return await self._roll(driver, command)
            case "rolled":
                return await self._rolled(driver)
            case _:
                method = {"arm": driver.arm, "disarm": driver.disarm, "selftest": driver.self_test,
                          "reset": driver.reset}[args.action]  # fmt: skip
                await method(command)
                screen.line(f"{args.action}: done", "green")
        return 0

    async def _roll(self, driver: ShakerDriver, command: int) -> int:
        screen = self._screen
        self._ended = asyncio.get_running_loop().create_future()
        await driver.arm(command)
        screen.line(f"roll {command}: shake it at least {m.LEAST_SHAKES} times, put it down, take the lid off")
        try:
            async with asyncio.timeout(self._args.seconds):
                ended = await self._ended
        except TimeoutError:
            await driver.disarm(bench_command_id())
            screen.line(f"nobody uncovered the dice within {self._args.seconds:g} s; disarmed", "red")
            return 1
        if isinstance(ended, m.NoRoll):
            flat = f"{_dice(ended.dice)} in the shaker, {ended.flat} flat"
            screen.line(f"{code_of(ended.reason)}: no roll ({_words(ended.reason)}), {flat}", "bold red")
            return 1
        _show(ended.values, screen)
        return 0

    async def _rolled(self, driver: ShakerDriver) -> int:
        command = self._args.command or (await driver.status()).roll
        if command is None:
            self._screen.line("there has been no roll")
            return 1
        roll = await driver.roll(command)
        self._screen.line(f"roll {command}: {_words(roll.ending)}, {roll.shakes} shakes")
        if roll.values is not None:
            _show(roll.values, self._screen)
        elif roll.reason:
            self._screen.line(f"{code_of(roll.reason)}: {_words(roll.reason)}", "bold red")
        return 0 if roll.values is not None else 1


def _show(values: list[int], screen: Screen) -> None:
    screen.line(dice_text(values), "bold green")
    for row in draw_positions(position_of_dice(values)):
        screen.line(row)


def _words(named: m.Reason | m.Ending | m.State) -> str:
    return named.name.lower().replace("_", " ")


def _dice(dice: int | None) -> str:
    return "an unknown number of dice" if dice is None else f"{dice} {'die' if dice == 1 else 'dice'}"


def _status(status: m.Status) -> list[tuple[str, ...]]:
    if status.values is not None:
        end = dice_text(status.values)
    elif status.reason:
        end = f"no roll: {code_of(status.reason)} {_words(status.reason)}"
    else:
        end = "none yet" if status.roll is None else "open"
    return [
        ("state", _words(status.state)),
        ("lid", "on" if status.lid_on else "off"),
        ("dice door", f"{'open' if status.door_open else 'closed'}, opened {status.openings} times in its life"),
        ("dice", _dice(status.dice)),
        ("shakes", str(status.shakes)),
        ("last roll", "none" if status.roll is None else str(status.roll)),
        ("its end", end + (", but the dice have moved since" if status.disturbed else "")),
        ("rolls", str(status.rolls)),
    ]


def _sensors(sensors: m.Sensors) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        (name, "yes" if level.active else "no", str(level.level), str(level.threshold), str(level.margin))
        for name, level in (("lid on", sensors.lid), ("shake (1/1000 g)", sensors.motion))
    ]
    rows.append(("weight", f"{sensors.weight / 10:.1f} g", "", "", ""))
    if sensors.lid.active:
        rows.append(("dice", "covered", "", "", ""))
    for number, die in enumerate(sensors.dice, 1):
        face = "no face" if die.face is None else f"a {die.face}"
        rows.append((f"die {number}", face, f"tilt {die.tilt}°", f"clearness {die.clearness}", ""))
    return rows, ("", "now", "level", "threshold", "margin")
