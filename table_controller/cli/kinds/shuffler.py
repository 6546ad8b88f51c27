"""`pitbox device shuffler`: its actions, a living picture of its card path, and what its answers look like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.report import Misread
from devices.shuffler import messages as m
from devices.shuffler.state import DriverEvent, ShufflerView, fold, verdict
from firmware_bridge.errors import CommandFailed, ConfigurationError, code_of
from table_controller.cli.bench_link import bench_command_id

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from devices.shuffler.driver import ShufflerDriver
    from table_controller.cli.screen import Screen

ACTIONS: Final = {
    "status": "what it does and what it believes is inside",
    "sensors": "levels and margins of every sensor, currents of every motor",
    "transits": "how long cards take through each segment",
    "findings": "what is missing from or extra in a rejected deck",
    "shuffle": "run a cycle, with a living picture",
    "eject": "give the deck out",
    "stop": "stop all motion",
    "selftest": "test lamps, sensors and motors",
    "mode": "choose shuffle or sort (--to)",
    "clear": "after the path was cleared by hand: empty the compartments",
    "reset": "restart the firmware",
}
# What moves cards, and is stopped by Ctrl-C.
MOVING: Final = ("shuffle", "eject", "selftest", "clear")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments that only a shuffler has."""
    parser.add_argument("--expect", type=int, default=53, help="cards in a whole deck (default 53)")
    parser.add_argument("--to", choices=[mode.name.lower() for mode in m.Mode], help="with mode: shuffle or sort")


def check(args: argparse.Namespace) -> None:
    """Refuse what cannot be meant, before anything is opened."""
    if (args.action == "mode") != (args.to is not None):
        raise ConfigurationError("--to shuffle or --to sort goes with the action mode, and only with it")
    if not 1 <= args.expect <= 60:
        raise ConfigurationError("--expect takes a number of cards from 1 to 60")


class Session:
    """One visit to a shuffler: folds its events into the view and shows it while a command runs."""

    def __init__(self, args: argparse.Namespace, screen: Screen) -> None:
        self.view = ShufflerView()
        self._args = args
        self._screen = screen
        self._expected = args.expect

    def take(self, event: DriverEvent) -> None:
        """Show what the driver tells."""
        self.view = fold(self.view, event)
        if isinstance(event, m.Progress | m.Completed | m.Jam | m.Fault | m.Stopped | m.Incomplete):
            self._screen.path(self.view, self._expected)
        elif isinstance(event, m.Cleared):
            gate = "an unknown number" if event.behind_gate is None else str(event.behind_gate)
            self._screen.line(f"{event.emptied} cards came out of the compartments; {gate} lie behind the gate")
        elif isinstance(event, m.SelfTested):
            bad = [s.name.lower() for s in m.Sensor if event.bad_sensors >> s & 1]
            bad += [f"motor {motor.name.lower()}" for motor in m.Motor if event.bad_motors >> motor & 1]
            self._screen.line("not passed: " + ", ".join(bad) if bad else "every sensor and motor passed")
        elif isinstance(event, m.Door):
            self._screen.line(f"the door is {'open' if event.open else 'closed'}")
        elif isinstance(event, Misread):
            self._screen.line(f"the outcome of command {event.command} is unknown", "bold red")

    async def stop(self, driver: ShufflerDriver) -> None:
        """Stop what moves, and say what that leaves."""
        await driver.stop(bench_command_id())
        self._screen.line("Stopped. Cards may be inside: clear the path, then have it emptied (clear).", "red")

    async def act(self, driver: ShufflerDriver) -> int:
        """Do the one thing that was asked; return the exit code."""
        args, screen, command = self._args, self._screen, bench_command_id()
        match args.action:
            case "status":
                screen.table(_status(await driver.status()))
            case "sensors":
                screen.table(*_sensors(await driver.sensors()))
            case "transits":
                screen.table(*_transits(await driver.transits()))
            case "findings":
                screen.table(_findings(await driver.findings()))
            case "shuffle":
                return await show_shuffle(driver, command, screen, lambda: self.view, args.expect)
            case "mode":
                await driver.set_mode(command, m.Mode[args.to.upper()])
            case _:
                method = {"eject": driver.eject, "stop": driver.stop, "selftest": driver.self_test,
                          "clear": driver.clear_jam, "reset": driver.reset}[args.action]  # fmt: skip
                await method(command)
        if args.action in ("eject", "stop", "selftest", "clear", "reset", "mode"):
            screen.line(f"{args.action}: done", "green")
        return 0


async def show_shuffle(
    driver: ShufflerDriver, command: int, screen: Screen, view: Callable[[], ShufflerView], expected: int
) -> int:
    """Run a cycle and judge what came out; exit code 1 unless it is a whole, shuffled deck."""
    try:
        await driver.shuffle(command)
    except CommandFailed as failed:
        ended = view().ended
        if ended is None:
            raise
        screen.line(f"{failed.code}: {'; '.join(verdict(ended, expected))}", "bold red")
        _show_jam(view(), screen)
        return 1
    ended = view().ended
    assert isinstance(ended, m.Completed)
    wrong = verdict(ended, expected)
    if view().inside is None:
        wrong.append("the machine cannot tell whether a card is still inside")
    screen.line(f"{ended.count} cards in {ended.duration_ms / 1000:.1f} s, mode {ended.mode.name}")
    screen.line("not a deck to deal from: " + "; ".join(wrong) if wrong else "a whole, shuffled deck", _colour(wrong))
    return 1 if wrong else 0


def _show_jam(view: ShufflerView, screen: Screen) -> None:
    if not isinstance(view.ended, m.Jam):
        return
    jam = view.ended
    strained = max(range(len(jam.currents)), key=lambda motor: jam.currents[motor])
    dark = [sensor.name.lower() for sensor in m.Sensor if jam.levels[sensor].blocked]
    screen.table(
        [
            ("segment", jam.segment.name.lower()),
            ("card", f"{jam.card} while {jam.phase.name.lower()}"),
            ("cards inside", str(jam.inside)),
            ("behind the gate", str(jam.left)),
            ("dark sensors", ", ".join(dark) or "none"),
            ("strained motor", f"{m.Motor(strained).name.lower()}, {jam.currents[strained]} mA"),
        ]
    )


def _colour(wrong: Any) -> str:
    return "bold red" if wrong else "bold green"


def _status(status: m.Status) -> list[tuple[str, ...]]:
    reason = f"{code_of(status.reason)} {status.reason.name.lower()}" if status.reason else "none"
    return [
        ("state", status.state.name.lower()),
        ("mode", status.mode.name),
        ("door", "open" if status.door_open else "closed"),
        ("cards in intake", "yes" if status.cards_in_intake else "no"),
        ("cards inside", _count(status.inside)),
        ("behind the gate", _count(status.behind_gate)),
        ("cycles", str(status.cycles)),
        ("last halt", reason),
    ]


def _count(cards: int | None) -> str:
    return "unknown" if cards is None else str(cards)


def _sensors(sensors: m.Sensors) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        (s.name.lower(), "dark" if v.blocked else "clear", str(v.level), str(v.threshold), str(v.margin))
        for s, v in zip(m.Sensor, sensors.levels, strict=True)
    ]
    rows += [(f"motor {motor.name.lower()}", f"{sensors.currents[motor]} mA", "", "", "") for motor in m.Motor]
    return rows, ("", "now", "level", "threshold", "margin")


def _transits(transits: m.Transits) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        (s.name.lower(), str(t.cards), *(f"{us / 1000:.1f}" for us in (t.mean, t.least, t.most, t.deviation, t.last)))
        for s, t in zip(m.Segment, transits.segments, strict=True)
    ]
    return rows, ("segment", "cards", "mean ms", "least", "most", "deviation", "last")


def _findings(findings: m.Findings | m.NoFindings) -> list[tuple[str, ...]]:
    if isinstance(findings, m.NoFindings):
        return [("findings", "none: no rejected deck, or a machine that only counts")]
    names = {"missing": findings.missing, "extra": findings.extra}
    return [(name, " ".join(m.card_name(card) for card in cards) or "none") for name, cards in names.items()]
