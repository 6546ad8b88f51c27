"""`pitbox device shoe`: the actions of a shoe, a live picture of its card path, and the text of its answers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from devices.bench_link import bench_command_id
from devices.driver_events import LinkUp, OutcomeLost
from devices.shoe import messages as m
from devices.shoe.state import DriverEvent, Ended, ShoeView, fold, verdict
from firmware_bridge.errors import CommandFailed, UsageError, code_of
from table_controller.cli.jog_arguments import add_jog_arguments, check_jog, jog_text
from table_controller.cli.render.path_telemetry import (
    count_text,
    dark_sensors,
    failed_parts,
    sensor_table,
    strained_motor,
    transit_table,
)
from table_controller.cli.render.shoe_path import draw_shoe

if TYPE_CHECKING:
    import argparse
    from collections.abc import Awaitable, Callable

    from devices.shoe.driver import ShoeDriver
    from table_controller.cli.render.screen import Screen

ACTIONS: Final = {
    "status": "its state and its count of cards inside",
    "sensors": "levels and margins of every sensor, currents of every motor",
    "transits": "how long cards take through each segment",
    "load": "load the cards and count them (--expect); a manual shoe starts to count drawn cards",
    "dispense": "dispense a stack into the slot (--cards), with a live picture",
    "round": "a manual shoe: count a round of --cards cards that a person draws",
    "stub": "eject and count the remaining cards, and compare with the deck (--expect)",
    "stop": "stop all motion",
    "selftest": "test lamps, sensors and motors",
    "clear": "after the path was cleared by hand: empty the well into the slot",
    "jog": "turn one motor a little (--motor, --reverse), with nothing on the path",
    "reset": "restart the firmware",
}
# Actions that move cards or wait for a person who does; Ctrl-C stops them.
MOVING: Final = ("load", "dispense", "round", "stub", "selftest", "clear", "jog")
_PICTURED: Final = m.Progress | m.Drawn | m.Loaded | m.Dispensed | m.ShortStack | m.Stub | m.Jam | m.Fault | m.Stopped


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments that only a shoe has."""
    parser.add_argument("--cards", type=int, help="with dispense: cards of the stack; with round: cards of the round")
    add_jog_arguments(parser, m.Motor)
    parser.add_argument("--expect", type=int, default=53, help="cards in the whole deck or batch (default 53)")


def check(args: argparse.Namespace) -> None:
    """Refuse arguments that do not fit the action, before a port is opened."""
    if (args.action in ("dispense", "round")) != (args.cards is not None):
        raise UsageError("--cards N belongs to the actions dispense and round, and is required there")
    check_jog(args)
    if not 1 <= args.expect <= 416:
        raise UsageError("--expect takes a number of cards from 1 to 416")
    if args.cards is not None and not 0 <= args.cards <= 416:
        raise UsageError("--cards takes a number of cards from 0 to 416")


class BenchSession:
    """One bench session with a shoe: shows its card path while cards move."""

    def __init__(self, args: argparse.Namespace, screen: Screen) -> None:
        self.view = ShoeView()
        self._args = args
        self._screen = screen
        self._by_hand = False
        self._until: Callable[[], bool] = lambda: False
        self._reached = asyncio.Event()

    def on_event(self, event: DriverEvent) -> None:
        """Show an event of the driver."""
        self.view = fold(self.view, event)
        screen = self._screen
        match event:
            case LinkUp():
                self._by_hand = m.DRAWS in event.hello.capabilities
            case m.FaceUp():
                screen.line(f"card {event.card} is face up", "bold red")
            case m.CoverCard():
                screen.line(f"the cover card came after {event.after} cards", "bold yellow")
            case m.Drawn(ordered=False):
                screen.line(f"drawn without a command; {count_text(event.drawn)} cards since loading", "bold red")
            case m.Cleared():
                screen.line(f"{event.emptied} cards came out of the well")
            case m.SelfTested():
                screen.line(failed_parts(m.Sensor, event.bad_sensors, m.Motor, event.bad_motors))
            case m.Jogged():
                screen.line(jog_text(event.motor, event.current, reverse=event.reverse, turned=event.turned))
            case m.Unbalanced():
                screen.line(verdict(event, 0)[0], "bold red")
            case m.Door():
                screen.line(f"the door is {'open' if event.open else 'closed'}")
            case OutcomeLost():
                screen.line(f"the outcome of command {event.command} is unknown", "bold red")
        if isinstance(event, _PICTURED):
            picture = screen.to_text(draw_shoe(self.view, by_hand=self._by_hand))
            screen.show(picture, last=self.view.ended is not None)
        if self._until():
            self._reached.set()

    async def stop(self, driver: ShoeDriver) -> None:
        """Stop all motion and print what to do next."""
        await driver.stop(bench_command_id())
        self._screen.line("Stopped. Cards may be inside: clear the path, then have it emptied (clear).", "red")

    async def run_action(self, driver: ShoeDriver) -> int:
        """Run the typed action; return the exit code."""
        args, screen, command = self._args, self._screen, bench_command_id()
        match args.action:
            case "status":
                screen.table(_status(await driver.status()))
            case "sensors":
                sensors = await driver.sensors()
                screen.table(*sensor_table(m.Sensor, sensors.levels, m.Motor, sensors.currents))
            case "transits":
                screen.table(*transit_table(m.Segment, (await driver.transits()).segments))
            case "load":
                return await self._judged(driver.load(command), args.expect)
            case "dispense":
                return await self._judged(driver.dispense(command, args.cards), args.cards)
            case "stub":
                self._until = lambda: isinstance(self.view.ended, m.Stub | m.Fault | m.Jam | m.Stopped)
                return await self._judged(driver.count_stub(command), args.expect, by_hand=self._by_hand)
            case "round":
                return await self._round(driver, command)
            case "jog":
                await driver.jog(command, m.Motor[args.motor.upper()], reverse=args.reverse)
                screen.line("jog: done", "green")
            case _:
                method = {"stop": driver.stop, "selftest": driver.self_test, "clear": driver.clear_jam,
                          "reset": driver.reset}[args.action]  # fmt: skip
                await method(command)
                screen.line(f"{args.action}: done", "green")
        return 0

    async def _round(self, driver: ShoeDriver, command: int) -> int:
        """Wait until a person has drawn a round; return exit code 1 if something else happened first."""
        self._until = lambda: self.view.moved >= self._args.cards or self.view.ended is not None
        await driver.start_round(command)
        self._screen.line(f"a round of {self._args.cards} cards: draw")
        await self._reached.wait()
        await driver.stop(bench_command_id())  # later cards belong to no round
        if self.view.ended is not None:
            return self._print_result(self.view.ended, self._args.cards)
        self._screen.line(f"{self._args.cards} cards drawn", "bold green")
        return 0

    async def _judged(self, doing: Awaitable[Any], expected: int, *, by_hand: bool = False) -> int:
        """Wait for a command and judge its result; return exit code 1 unless all cards are accounted for."""
        try:
            await doing
        except CommandFailed as failed:
            if self.view.ended is None:
                raise
            self._screen.line(f"{failed.code}: {'; '.join(verdict(self.view.ended, expected))}", "bold red")
            self._show_jam()
            return 1
        if by_hand:
            self._screen.line("run the remaining cards through the counter")
            await self._reached.wait()
        assert self.view.ended is not None
        return self._print_result(self.view.ended, expected)

    def _print_result(self, ended: Ended, expected: int) -> int:
        wrong = verdict(ended, expected)
        if self._by_hand and isinstance(ended, m.Loaded):
            wrong = []  # a manual shoe cannot count cards in
        if not self.view.counts_certain:
            wrong.append("the machine does not know what is inside")
        good = {
            m.Loaded: "the cards are in the shoe",
            m.Dispensed: "the stack that was ordered",
            m.Stub: "all accounted for",
        }
        if isinstance(ended, m.Dispensed | m.Stub) or (isinstance(ended, m.Loaded) and ended.count is not None):
            self._screen.line(f"{ended.count} cards; {count_text(self.view.left)} left")
        verdict_text = "; ".join(wrong) or good.get(type(ended), "done")
        self._screen.line(
            f"not as it should be: {verdict_text}" if wrong else verdict_text, "bold red" if wrong else "bold green"
        )
        return 1 if wrong else 0

    def _show_jam(self) -> None:
        jam = self.view.ended
        if not isinstance(jam, m.Jam):
            return
        self._screen.table(
            [
                ("segment", jam.segment.name.lower()),
                ("card", f"{jam.card} while {jam.phase.name.lower()}"),
                ("on the path", count_text(jam.in_path)),
                ("left", count_text(jam.left)),
                ("dark sensors", dark_sensors(m.Sensor, jam.levels)),
                ("strained motor", strained_motor(m.Motor, jam.currents)),
            ]
        )


def _status(status: m.Status) -> list[tuple[str, ...]]:
    reason = f"{code_of(status.reason)} {status.reason.name.lower()}" if status.reason else "none"
    laid = [("laid into the slot", count_text(status.delivered))] * (status.in_slot or status.delivered is not None)
    places = {"intake": status.in_intake, "well": status.in_well, "slot": status.in_slot}
    return [
        ("state", status.state.name.lower()),
        ("door", "open" if status.door_open else "closed"),
        ("cards in", ", ".join(place for place, cards in places.items() if cards) or "none of its piles"),
        ("cards left", count_text(status.left)),
        ("on the path", count_text(status.in_path)),
        ("drawn since loading", count_text(status.drawn)),
        *laid,
        ("in this stack or round", str(status.moved)),
        ("stacks", str(status.stacks)),
        ("sure", "yes" if status.counts_certain else "no: look inside, then run a self-test"),
        ("last halt", reason),
    ]
