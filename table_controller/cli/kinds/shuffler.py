"""`pitbox device shuffler`: the actions of a shuffler, a live picture of its card path, the text of its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.bench_link import bench_command_id
from devices.cards import CARD_NUMBERS, card_name
from devices.driver_events import LinkUp, OutcomeLost
from devices.shuffler import messages as m
from devices.shuffler.state import DriverEvent, ShufflerView, fold, verdict
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

if TYPE_CHECKING:
    import argparse
    from collections.abc import Awaitable, Callable

    from devices.shuffler.driver import ShufflerDriver
    from firmware_bridge.commands import Settled
    from table_controller.cli.render.screen import Screen

ACTIONS: Final = {
    "status": "its state and its count of cards inside",
    "sensors": "levels and margins of every sensor, currents of every motor",
    "transits": "how long cards take through each segment",
    "findings": "missing and extra cards of a rejected deck",
    "shuffle": "run a cycle, with a live picture",
    "eject": "eject the deck",
    "insert": "with a chute into the shoe: push the stack through it",
    "stop": "stop all motion",
    "selftest": "test lamps, sensors and motors",
    "mode": "choose shuffle or sort (--to)",
    "clear": "check that the path is clear and empty the compartments, after a jam or to remove the cards",
    "jog": "turn one motor a little (--motor, --reverse), with nothing on the path",
    "reset": "restart the firmware",
    "takein": "continuous: move the cards from the intake into the store",
    "deliver": "continuous: move cards from the store into the chute (--cards)",
    "count": "continuous: cycle every card and count the whole set",
}
# Actions that move cards; Ctrl-C stops them.
MOVING: Final = ("shuffle", "eject", "insert", "selftest", "clear", "jog", "takein", "deliver", "count")
# More cards than any model holds.
MOST_CARDS: Final = 400
DECK: Final = 53
SIX_DECKS: Final = 312


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments that only a shuffler has."""
    parser.add_argument(
        "--expect", type=int, help=f"cards in a whole deck (default {DECK}; {SIX_DECKS} if the model is for six decks)"
    )
    parser.add_argument("--cards", type=int, help="with deliver: how many")
    add_jog_arguments(parser, m.Motor)
    parser.add_argument("--to", choices=[mode.name.lower() for mode in m.Mode], help="with mode: shuffle or sort")


def check(args: argparse.Namespace) -> None:
    """Refuse arguments that do not fit the action, before a port is opened."""
    if (args.action == "mode") != (args.to is not None):
        raise UsageError("--to shuffle or --to sort belongs to the action mode, and is required there")
    if (args.action == "deliver") != (args.cards is not None):
        raise UsageError("--cards N belongs to the action deliver, and is required there")
    check_jog(args)
    if args.expect is not None and not 1 <= args.expect <= MOST_CARDS:
        raise UsageError(f"--expect takes a number of cards from 1 to {MOST_CARDS}")


class BenchSession:
    """One bench session with a shuffler: shows its card path while a command runs."""

    def __init__(self, args: argparse.Namespace, screen: Screen) -> None:
        self.view = ShufflerView()
        self._args = args
        self._screen = screen
        self._expected: int = args.expect or DECK

    def on_event(self, event: DriverEvent) -> None:
        """Show an event of the driver."""
        self.view = fold(self.view, event)
        if isinstance(event, m.Progress | m.Completed | m.Counted | m.Jam | m.Fault | m.Stopped | m.Incomplete):
            self._screen.show_card_path(self.view, self._expected)
        elif isinstance(event, LinkUp):
            many = {m.BATCH, m.CONTINUOUS} & {*event.hello.capabilities}
            self._expected = self._args.expect or (SIX_DECKS if many else DECK)
        elif isinstance(event, m.Cleared):
            gate = "an unknown number" if event.behind_gate is None else str(event.behind_gate)
            self._screen.line(f"{event.emptied} cards came out of the compartments; {gate} are behind the gate")
        elif isinstance(event, m.SelfTested):
            self._screen.line(failed_parts(m.Sensor, event.bad_sensors, m.Motor, event.bad_motors))
        elif isinstance(event, m.Jogged):
            self._screen.line(jog_text(event.motor, event.current, reverse=event.reverse, turned=event.turned))
        elif isinstance(event, m.TakenIn | m.Delivered | m.StoreChanged):
            self._screen.line(_store(event))
        elif isinstance(event, m.Inserted):
            cards = "the cards" if event.count is None else f"{event.count} cards"
            self._screen.line(f"{cards} have left the chute; only the shoe knows what it received")
        elif isinstance(event, m.Door):
            self._screen.line(f"the door is {'open' if event.open else 'closed'}")
        elif isinstance(event, OutcomeLost):
            self._screen.line(f"the outcome of command {event.command} is unknown", "bold red")

    async def stop(self, driver: ShufflerDriver) -> None:
        """Stop all motion and print what to do next."""
        await driver.stop(bench_command_id())
        self._screen.line("Stopped. Cards may be inside: clear the path, then have it emptied (clear).", "red")

    async def run_action(self, driver: ShufflerDriver) -> int:
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
            case "findings":
                screen.table(_findings(await driver.findings()))
            case "shuffle":
                return await show_shuffle(driver, command, screen, lambda: self.view, self._expected)
            case "count":
                return await show_count(driver, command, screen, lambda: self.view, self._expected)
            case "takein" | "deliver":
                run = driver.take_in(command) if args.action == "takein" else driver.deliver(command, args.cards)
                if not await _carried_out(run, screen, lambda: self.view, self._expected):
                    return 1
            case "jog":
                await driver.jog(command, m.Motor[args.motor.upper()], reverse=args.reverse)
            case "mode":
                await driver.set_mode(command, m.Mode[args.to.upper()])
            case _:
                method = {"eject": driver.eject, "insert": driver.insert, "stop": driver.stop, "reset": driver.reset,
                          "selftest": driver.self_test, "clear": driver.clear_jam}[args.action]  # fmt: skip
                await method(command)
        if args.action not in ("status", "sensors", "transits", "findings"):
            screen.line(f"{args.action}: done", "green")
        return 0


async def show_shuffle(
    driver: ShufflerDriver, command: int, screen: Screen, view: Callable[[], ShufflerView], expected: int
) -> int:
    """Run a cycle and judge the deck; return exit code 1 unless it is complete and shuffled."""
    if not await _carried_out(driver.shuffle(command), screen, view, expected):
        return 1
    ended = view().ended
    assert isinstance(ended, m.Completed)
    batch = "deck" if expected < SIX_DECKS else "batch"
    screen.line(f"{ended.count} cards in {ended.duration_ms / 1000:.1f} s, mode {ended.mode.name}")
    return _judge(view(), expected, screen, f"a whole, shuffled {batch}", f"not a {batch} to deal from")


async def show_count(
    driver: ShufflerDriver, command: int, screen: Screen, view: Callable[[], ShufflerView], expected: int
) -> int:
    """Count the whole set; return exit code 1 unless it is complete."""
    if not await _carried_out(driver.count_all(command), screen, view, expected):
        return 1
    ended = view().ended
    assert isinstance(ended, m.Counted)
    screen.line(f"{ended.count} cards in {ended.duration_ms / 1000:.1f} s, {ended.outside} outside")
    return _judge(view(), expected, screen, "the whole set", "not a set to deal from")


async def _carried_out(
    run: Awaitable[Settled], screen: Screen, view: Callable[[], ShufflerView], expected: int
) -> bool:
    """Wait for a command that moves cards; if it failed, print where and why."""
    try:
        await run
    except CommandFailed as failed:
        ended = view().ended
        if ended is None:
            raise
        screen.line(f"{failed.code}: {'; '.join(verdict(ended, expected))}", "bold red")
        _show_jam(view(), screen)
        return False
    return True


def _judge(view: ShufflerView, expected: int, screen: Screen, good: str, bad: str) -> int:
    """Print what is wrong with the cards, or that they are complete; return the exit code."""
    assert view.ended is not None
    wrong = verdict(view.ended, expected)
    if view.inside is None:
        wrong.append("the machine does not know whether a card is still inside")
    screen.line(f"{bad}: " + "; ".join(wrong) if wrong else good, "bold red" if wrong else "bold green")
    return 1 if wrong else 0


def _show_jam(view: ShufflerView, screen: Screen) -> None:
    if not isinstance(view.ended, m.Jam):
        return
    jam = view.ended
    screen.table(
        [
            ("segment", jam.segment.name.lower()),
            ("card", f"{jam.card} while {jam.phase.name.lower()}"),
            ("cards inside", str(jam.inside)),
            ("behind the gate", str(jam.left)),
            ("dark sensors", dark_sensors(m.Sensor, jam.levels)),
            ("strained motor", strained_motor(m.Motor, jam.currents)),
        ]
    )


def _store(event: m.TakenIn | m.Delivered | m.StoreChanged) -> str:
    inside = f"{count_text(event.inside)} inside"
    match event:
        case m.TakenIn():
            return f"{event.count} cards taken in; {inside}, {count_text(event.outside)} outside"
        case m.Delivered():
            low = "; too few cards to continue, return the discards" if event.low else ""
            return f"{event.count} cards delivered; {inside}, {count_text(event.in_chute)} in the chute{low}"
        case m.StoreChanged():
            why = f" ({code_of(event.reason)} {event.reason.name.lower()})" if event.reason else ""
            return f"{inside}, {count_text(event.in_chute)} in the chute{why}"


def _status(status: m.Status) -> list[tuple[str, ...]]:
    reason = f"{code_of(status.reason)} {status.reason.name.lower()}" if status.reason else "none"
    kept: list[tuple[str, ...]] = []
    if isinstance(status, m.Inventory):
        kept = [
            ("in the chute", count_text(status.in_chute)),
            ("outside", f"{count_text(status.outside)}, the chute included"),
            ("last count", "none since it was filled" if status.counted is None else str(status.counted)),
            ("store low", "yes" if status.low else "no"),
        ]
    return [
        ("state", status.state.name.lower()),
        ("mode", status.mode.name),
        ("door", "open" if status.door_open else "closed"),
        ("cards in intake", "yes" if status.cards_in_intake else "no"),
        ("cards inside", count_text(status.inside)),
        ("behind the gate", count_text(status.behind_gate)),
        *kept,
        ("cycles", str(status.cycles)),
        ("last halt", reason),
    ]


def _findings(findings: m.Findings | m.BatchFindings | m.NoFindings) -> list[tuple[str, ...]]:
    if isinstance(findings, m.NoFindings):
        return [("findings", "none: no rejected deck, or a machine that only counts")]
    names = {"missing": findings.missing, "extra": findings.extra}
    if isinstance(findings, m.BatchFindings):
        return [(name, _tally(tally)) for name, tally in names.items()]
    return [(name, " ".join(card_name(card) for card in cards) or "none") for name, cards in names.items()]


def _tally(tally: Any) -> str:
    """Return a tally as text: 2 As, 1 Td (3 cards)."""
    named = [f"{count} {card_name(card)}" for card, count in zip(CARD_NUMBERS, tally, strict=True) if count]
    return f"{', '.join(named)} ({sum(tally)} cards)" if named else "none"
