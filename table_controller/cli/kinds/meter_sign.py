"""`pitbox device meter_sign`: the actions of a meter sign and a drawing of what it shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from devices.bench_link import bench_command_id
from devices.driver_events import OutcomeLost
from devices.meter_sign import messages as m
from devices.meter_sign.state import DriverEvent, MeterSignView, fold, verdict
from firmware_bridge.errors import UsageError, code_of

if TYPE_CHECKING:
    import argparse

    from devices.meter_sign.driver import MeterSignDriver
    from table_controller.cli.render.screen import Screen

ACTIONS: Final = {
    "status": "its state, and the age of its amounts",
    "shown": "what the sign really shows",
    "show": "show amounts in dollars (--value, --pending, --won), and read them back",
    "limit": "set the age at which amounts are stale (--ms)",
    "blank": "show no amount",
    "selftest": "show the test pattern and measure every digit",
    "reset": "restart the firmware",
}
# A sign has no moving parts.
MOVING: Final = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments that only a meter sign has."""
    for row in m.Row:
        name = row.name.lower()
        parser.add_argument(f"--{name}", metavar="DOLLARS", help=f"with show: the {name} row, as 1234.56")
    parser.add_argument("--ms", type=int, help="with limit: milliseconds")


def check(args: argparse.Namespace) -> None:
    """Refuse arguments that do not fit the action, before a port is opened."""
    if (args.action == "show") != (args.value is not None):
        raise UsageError("--value DOLLARS belongs to the action show, and is required there")
    if args.action != "show" and (args.pending is not None or args.won is not None):
        raise UsageError("--pending and --won belong to the action show")
    if (args.action == "limit") != (args.ms is not None):
        raise UsageError("--ms N belongs to the action limit, and is required there")
    if args.ms is not None and not 0 <= args.ms <= 0xFFFF_FFFF:
        raise UsageError("--ms takes a number up to 4294967295")
    for row in m.Row:
        _cents(getattr(args, row.name.lower()))


class BenchSession:
    """One bench session with a meter sign."""

    def __init__(self, args: argparse.Namespace, screen: Screen) -> None:
        self.view = MeterSignView()
        self._args = args
        self._screen = screen

    def on_event(self, event: DriverEvent) -> None:
        """Show an event of the driver."""
        self.view = fold(self.view, event)
        if isinstance(event, m.Fault):
            self._screen.line(f"{code_of(event.reason)}: {_digits(event.digits)}", "bold red")
        elif isinstance(event, m.SelfTested):
            bad = any(event.digits)
            self._screen.line(f"not passed: {_digits(event.digits)}" if bad else "every digit passed")
        elif isinstance(event, m.Stale):
            self._screen.line(f"stale: no amount received for {event.age_ms / 1000:.1f} s", "yellow")
        elif isinstance(event, OutcomeLost):
            self._screen.line(f"the outcome of command {event.command} is unknown", "bold red")

    async def stop(self, driver: MeterSignDriver) -> None:
        """Do nothing: there are no moving parts."""

    async def run_action(self, driver: MeterSignDriver) -> int:
        """Run the typed action; return the exit code."""
        args, screen, command = self._args, self._screen, bench_command_id()
        match args.action:
            case "status":
                screen.table(_status(await driver.status()))
                return 0
            case "shown":
                self._draw(await driver.shown())
                return 0
            case "show":
                return await self._show(driver, command)
            case "limit":
                await driver.set_limit(command, args.ms)
            case _:
                method = {"blank": driver.blank, "selftest": driver.self_test, "reset": driver.reset}[args.action]
                await method(command)
        screen.line(f"{args.action}: done", "green")
        return 0

    async def _show(self, driver: MeterSignDriver, command: int) -> int:
        """Show amounts, then compare what the sign shows with them."""
        args = self._args
        sequence = (await driver.status()).sequence + 1
        await driver.show(command, sequence, _cents(args.value), _cents(args.pending), _cents(args.won))
        self._draw(await driver.shown())
        wrong = verdict(self.view)
        for reason, what in wrong:
            self._screen.line(f"{code_of(reason)}: {what}", "bold red")
        return 1 if wrong else 0

    def _draw(self, shown: m.Shown) -> None:
        for line in draw_sign(shown):
            self._screen.line(line, "yellow" if shown.stale else "")


def draw_sign(shown: m.Shown) -> list[str]:
    """Return a drawing of the sign; a row without an amount is a dash."""
    rows = [(row.name.lower(), getattr(shown, row.name.lower())) for row in m.Row]
    mark = " stale " if shown.stale else "─" * 7
    lines = [
        f"│ {name:8s} {'-' if cents is None else f'{cents // 100:,}.{cents % 100:02d}':>14s} │" for name, cents in rows
    ]
    return [f"┌{'─' * 9}{mark}{'─' * 9}┐", *lines, f"└{'─' * 25}┘  sequence {shown.sequence}"]


def _cents(dollars: str | None) -> int:
    """Return typed dollars as cents, exactly."""
    if dollars is None:
        return 0
    match = re.fullmatch(r"([0-9]{1,15})(?:\.([0-9]{2}))?", dollars)
    if match is None:
        raise UsageError(f"{dollars!r} is not an amount; write dollars and cents as 1234.56")
    return int(match[1]) * 100 + int(match[2] or 0)


def _digits(digits: list[int]) -> str:
    bad = [
        f"{row.name.lower()} {', '.join(str(place) for place in range(m.DIGITS) if digits[row] >> place & 1)}"
        for row in m.Row
        if digits[row]
    ]
    return "digits (0 is the last cent) " + "; ".join(bad)


def _status(status: m.Status) -> list[tuple[str, ...]]:
    reason = f"{code_of(status.reason)} {status.reason.name.lower()}" if status.reason else "none"
    return [
        ("state", status.state.name.lower()),
        ("sequence", str(status.sequence)),
        ("last amount", f"{status.age_ms / 1000:.1f} s ago" if status.sequence else "none yet"),
        ("stale after", f"{status.limit_ms / 1000:g} s"),
        ("last fault", reason),
    ]
