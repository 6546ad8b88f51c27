"""`pitbox device bet_sensor`: the actions of a bet sensor and the text of its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.bench_link import bench_command_id
from devices.bet_sensor import messages as m
from devices.bet_sensor.state import BetSensorView, DriverEvent, findings, fold
from devices.driver_events import OutcomeLost
from firmware_bridge.errors import CommandRefused, UsageError, code_of
from table_controller.cli.link_watch import LinkWatch, add_watch_arguments, check_watch

if TYPE_CHECKING:
    import argparse

    from devices.bet_sensor.driver import BetSensorDriver
    from table_controller.cli.render.screen import Screen

ACTIONS: Final = {
    "status": "whether bets are open, what is on the spot, what is latched",
    "health": "level, threshold, noise and margin of the sensing",
    "watch": "show bets as they come and go",
    "open": "open bets for a round (--round)",
    "lock": "no more bets for a round (--round): latch, and report what is on the spot",
    "unlock": "end the current latch",
    "light": "light a lamp for the current or latched bet (--to)",
    "selftest": "test coil and lamps on the empty spot",
    "reset": "restart the firmware; a latch stays",
}
# A bet sensor has no moving parts.
MOVING: Final = ()
_MARKS: Final = {
    m.SpotContent.EMPTY: "○",
    m.SpotContent.CHIP: "●",
    m.SpotContent.EDGE: "◐",
    m.SpotContent.SEVERAL: "◉",
    m.SpotContent.FOREIGN: "✖",
    m.SpotContent.UNREAD: "?",
}
_STYLES: Final = {
    m.Change.PLACED: "bold green",
    m.Change.WITHDRAWN: "",
    m.Change.UNCLEAR: "yellow",
    m.Change.LATE: "bold red",
    m.Change.TAKEN: "yellow",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments that only a bet sensor has."""
    parser.add_argument("--round", type=int, help="with open and lock: the number of the round")
    parser.add_argument("--to", choices=[light.name.lower() for light in m.Light], help="with light: which lamp")
    add_watch_arguments(parser)


def check(args: argparse.Namespace) -> None:
    """Refuse arguments that do not fit the action, before a port is opened."""
    if (args.action in ("open", "lock")) != (args.round is not None):
        raise UsageError("--round N belongs to the actions open and lock, and is required there")
    if args.round is not None and not 1 <= args.round <= 0xFFFF_FFFF:
        raise UsageError("--round takes a number from 1 to 4294967295")
    if (args.action == "light") != (args.to is not None):
        raise UsageError("--to off, acknowledged or accepted belongs to the action light, and is required there")
    check_watch(args)


class BenchSession:
    """One bench session with a bet sensor: shows every change on its spot."""

    def __init__(self, args: argparse.Namespace, screen: Screen) -> None:
        self.view = BetSensorView()
        self._args = args
        self._screen = screen
        self._watch = LinkWatch()

    def on_event(self, event: DriverEvent) -> None:
        """Show an event of the driver."""
        self.view = fold(self.view, event)
        self._watch.on_event(event)
        if isinstance(event, m.Changed):
            self._screen.line(_change(event), _STYLES[event.change])
            for reason, what in findings(self.view):
                self._screen.line(f"      {code_of(reason)}: {what}", "red")
        elif isinstance(event, m.Fault):
            self._screen.line(f"{code_of(event.reason)}: level {event.level}, noise {event.noise}", "bold red")
        elif isinstance(event, m.SelfTested):
            bad = [part.name.lower().replace("_", " ") for part in m.Part if event.bad_parts >> part & 1]
            self._screen.line("not passed: " + ", ".join(bad) if bad else "coil and lamps passed")
        elif isinstance(event, OutcomeLost):
            self._screen.line(f"the outcome of command {event.command} is unknown", "bold red")

    async def stop(self, driver: BetSensorDriver) -> None:
        """Do nothing: there are no moving parts."""

    async def run_action(self, driver: BetSensorDriver) -> int:
        """Run the typed action; return the exit code."""
        args, screen, command = self._args, self._screen, bench_command_id()
        match args.action:
            case "status":
                screen.table(_status(await driver.status(), self.view))
                return 0
            case "health":
                screen.table(_health(await driver.health()))
                return 0
            case "watch":
                screen.table(_status(await driver.status(), self.view))
                await self._watch.wait(args.seconds)
                return 0
            case "lock":
                return self._locked(await driver.lock(args.round, command))
            case "open":
                await driver.open(command, args.round)
            case "unlock":
                latch = (await driver.status()).latch
                await driver.unlock(command, latch.lock_id if latch is not None else command)
            case "light":
                status = await driver.status()
                number = status.sequence if status.latch is None else status.latch.last_change
                await driver.light(command, m.Light[args.to.upper()], number)
            case _:
                await {"selftest": driver.self_test, "reset": driver.reset}[args.action](command)
        screen.line(f"{args.action}: done", "green")
        return 0

    def _locked(self, answer: Any) -> int:
        if isinstance(answer, m.LockRefused):
            raise CommandRefused("the sensor refused the lock; its bets are closed", answer.reason)
        latch = answer.latch
        self._screen.line(f"{_MARKS[latch.content]} locked: {_latched(latch)}", "bold green")
        return 0 if latch.content in (m.SpotContent.EMPTY, m.SpotContent.CHIP) else 1


def _change(event: m.Changed) -> str:
    what = f"{event.change.name.lower():9s} {event.content.name.lower():8s}"
    return f"{event.sequence:5d} {_MARKS[event.content]} {what} level {event.level:4d}  round {event.round}"


def _latched(latch: m.Latch) -> str:
    what = {m.SpotContent.EMPTY: "no bet", m.SpotContent.CHIP: f"bet {latch.last_change}"}.get(latch.content)
    content = what or f"undecided, not clearly one chip ({latch.content.name.lower()})"
    return f"{content} in round {latch.round}, last change {latch.last_change}, lock {latch.lock_id}"


def _status(status: m.Status, view: BetSensorView) -> list[tuple[str, ...]]:
    reason = f"{code_of(status.reason)} {status.reason.name.lower()}" if status.reason else "none"
    rows = [
        ("state", status.state.name.lower()),
        ("round", str(status.round) if status.round else "none yet"),
        ("on the spot", f"{_MARKS[status.content]} {status.content.name.lower()}"),
        ("last change", str(status.sequence)),
        ("light", status.light.name.lower()),
        ("latch", "none" if status.latch is None else _latched(status.latch)),
        ("last fault", reason),
    ]
    return [*rows, *((code_of(reason), what) for reason, what in findings(view))]


def _health(health: m.Health) -> list[tuple[str, ...]]:
    return [
        ("on the spot", f"{_MARKS[health.content]} {health.content.name.lower()}"),
        ("level", f"{health.level} of 1023"),
        ("a chip from", str(health.threshold)),
        ("margin", str(health.margin)),
        ("noise", str(health.noise)),
        ("like a chip", f"{health.likeness} %"),
        ("self-test", "passed" if health.tested else "not passed"),
    ]
