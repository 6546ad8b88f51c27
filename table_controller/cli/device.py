"""`pitbox device KIND ACTION`: one device on the bench, by hand. Refuses what belongs to a table; decides no rule."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.report import Misread, Reported
from devices.shuffler import messages as m
from devices.shuffler.state import DriverEvent, ShufflerView, fold, verdict
from firmware_bridge.errors import CommandFailed, ConfigurationError, code_of
from table_controller.cli.bench_link import add_link_arguments, bench_command_id, bench_shuffler
from table_controller.cli.screen import Screen

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from devices.shuffler.driver import ShufflerDriver

HELP = "talk to one device on the bench: status, sensors, a shuffle with a live picture, self-test"
EXAMPLE = "pitbox device shuffler --port /dev/ttyUSB0 --key SN123.key status"

ACTIONS: Final = (
    "identify", "status", "link", "sensors", "transits", "findings", "shuffle", "eject", "stop", "selftest", "mode",
    "clear", "reset",
)  # fmt: skip


# What moves cards, and is stopped by Ctrl-C.
MOVING: Final = ("shuffle", "eject", "selftest", "clear")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("kind", choices=[m.KIND], help="kind of device")
    parser.add_argument("action", choices=ACTIONS, help="what to do")
    add_link_arguments(parser)
    parser.add_argument("--expect", type=int, default=53, help="cards in a whole deck (default 53)")
    parser.add_argument("--to", choices=[mode.name.lower() for mode in m.Mode], help="with mode: shuffle or sort")


def run(args: argparse.Namespace) -> int:
    """Connect, do one thing, say that the device is left unverified."""
    if (args.action == "mode") != (args.to is not None):
        raise ConfigurationError("--to shuffle or --to sort goes with the action mode, and only with it")
    if not 1 <= args.expect <= 60:
        raise ConfigurationError("--expect takes a number of cards from 1 to 60")
    return asyncio.run(_session(args))


async def _session(args: argparse.Namespace) -> int:
    with Screen() as screen:
        picture = _Picture(screen, args.expect)
        async with bench_shuffler(args, picture.take) as driver:
            try:
                result = await _act(args, driver, screen, picture)
            except asyncio.CancelledError:  # Ctrl-C: what moves is stopped, as fingers would want
                if args.action in MOVING:
                    await driver.stop(bench_command_id())
                    screen.line("Stopped. Cards may be inside: clear the path, then have it emptied (clear).", "red")
                raise
        screen.line("The device is left unverified: a table reads it anew before it serves.", "dim")
        return result


class _Picture:
    """Folds events into the view and shows it while a command runs."""

    def __init__(self, screen: Screen, expected: int) -> None:
        self.view = ShufflerView()
        self.reported: Reported | None = None
        self._screen = screen
        self._expected = expected

    def take(self, event: DriverEvent) -> None:
        self.view = fold(self.view, event)
        if isinstance(event, Reported):
            self.reported = event
        elif isinstance(event, m.Progress | m.Completed | m.Jam | m.Fault | m.Stopped | m.Incomplete):
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


async def _act(args: argparse.Namespace, driver: ShufflerDriver, screen: Screen, picture: _Picture) -> int:
    command = bench_command_id()
    match args.action:
        case "identify":
            assert picture.reported is not None
            screen.table(_identity(picture.reported))
        case "status":
            screen.table(_status(await driver.status()))
        case "link":
            screen.table(_link(driver))
        case "sensors":
            screen.table(*_sensors(await driver.sensors()))
        case "transits":
            screen.table(*_transits(await driver.transits()))
        case "findings":
            screen.table(_findings(await driver.findings()))
        case "shuffle":
            return await show_shuffle(driver, command, screen, lambda: picture.view, args.expect)
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


def _identity(reported: Reported) -> list[tuple[str, ...]]:
    hello, report = reported.hello, reported.report
    return [
        ("kind", hello.kind),
        ("serial number", f"{hello.serial} (key proved)"),
        ("model", hello.model),
        ("firmware", f"{hello.firmware} (on the approved list)"),
        ("digest", hello.digest.hex()),
        ("capabilities", ", ".join(hello.capabilities)),
        ("boot id", f"{hello.boot_id:08x}"),
        ("up for", f"{report.uptime_s} s"),
        ("bench visits", f"{report.bench_visits}, this one included"),
        ("last commands", ", ".join(f"{c.command} {c.outcome.name.lower()}" for c in report.commands[-4:]) or "none"),
    ]


def _link(driver: ShufflerDriver) -> list[tuple[str, ...]]:
    link = driver.need_link()
    counted = msgspec.structs.asdict(link.counters) | msgspec.structs.asdict(link.wire.framer.counters)
    counted |= {"forged": link.forged, "replayed": link.replayed}
    trip = f"{link.round_trip * 1000:.1f} ms, repeated after {link.rto * 1000:.0f} ms"
    return [("round trip", trip), *((name.replace("_", " "), str(count)) for name, count in counted.items())]


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
