"""`pitbox conform`: checks a device against every requirement, shows progress, and writes the report."""

from __future__ import annotations

import asyncio
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from devices.bench_link import add_link_arguments, bench_command_id, bench_trust, slot_name
from devices.conformance.bench import ConformanceBench
from devices.conformance.html_report import VERDICT_SIGNS
from devices.conformance.operators import NoOperator, SimulatorOperator, TerminalOperator
from devices.conformance.report import (
    CONFORMS,
    CONFORMS_WHERE_APPLICABLE,
    ConformanceReport,
    DeviceUnderTest,
    check_folder,
    ids_needing_operator,
    write,
)
from devices.conformance.requirements import (
    RequirementVerdict,
    kind_chapter,
    kinds_with_requirements,
    protocol_chapters,
    requirements_of,
    select_requirements,
)
from devices.conformance.runner import Runner, identify_device, stop_motion
from devices.kinds import kind_named
from firmware_bridge.errors import UsageError
from firmware_bridge.exit_codes import FAULT, LINK, OK
from firmware_bridge.transport.ports import open_port
from firmware_bridge.version import VERSION

if TYPE_CHECKING:
    import argparse

    from rich.console import Console
    from rich.progress import TaskID

    from devices.conformance.operators import Operator
    from devices.conformance.report import RequirementResult
    from devices.conformance.requirements import Chapter, Requirement
    from firmware_bridge.handshake import Trust
    from firmware_bridge.messages import DeviceHello

HELP = "check a device, simulated or real, against every requirement of the protocol and of its kind"
EXAMPLE = "pitbox conform --port /dev/ttyUSB0 --key SN123.key --out report"

# Widths (characters): the bar, the bar with its counters, and the minimum for a requirement's text.
_BAR: Final = 24
_TAKEN: Final = _BAR + 20
_LEAST: Final = 12
# Maximum length (characters) of evidence on the screen; the report has all of it.
_MOST: Final = 300

_STYLES: Final = {
    RequirementVerdict.PASS: "green",
    RequirementVerdict.FAIL: "bold red",
    RequirementVerdict.NOT_CHECKED: "yellow",
    RequirementVerdict.SKIPPED: "yellow",
    RequirementVerdict.NOT_APPLICABLE: "dim",
}
_STYLE_OF_RUN: Final = {CONFORMS: "bold green", CONFORMS_WHERE_APPLICABLE: "green"}


class ConformanceScreen(Protocol):
    """The output of this command; `table_controller.cli` passes it as `args.make_screen()`."""

    console: Console

    def line(self, text: str = "", style: str = "") -> None:
        """Print one line."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    add_link_arguments(parser, required=False)
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="folder for the report (default: conformance-SERIAL-TIME)"
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="ID", help="only this requirement (LK-07) or chapter; repeatable"
    )
    parser.add_argument(
        "--list", nargs="?", const="", metavar="KIND", help="list the requirements (of one kind) and check nothing"
    )
    who = parser.add_mutually_exclusive_group()
    who.add_argument(
        "--simulator",
        "--hands",
        dest="hands",
        type=Path,
        metavar="FOLDER",
        help="a simulator's folder (or socket); the simulator does the manual steps",
    )
    who.add_argument(
        "--unattended",
        "--no-hands",
        dest="no_hands",
        action="store_true",
        help="skip requirements with manual steps; they are reported as not checked",
    )


def run(args: argparse.Namespace) -> int:
    """Check a device and write the report; or list the requirements."""
    if args.list is not None:
        _list(args.list, args.make_screen())
        return OK
    if args.port is None:
        raise UsageError("name the device with --port, or use --list to list the requirements")
    trust = bench_trust(args)
    requirements = select_requirements(requirements_of(trust.kind), args.only)
    (serial,) = trust.keys
    folder = args.out or Path(f"conformance-{serial}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    check_folder(folder)
    with args.make_screen() as screen:
        return asyncio.run(_conform(args, trust, requirements, folder, screen))


async def _conform(
    args: argparse.Namespace, trust: Trust, requirements: list[Requirement], folder: Path, screen: ConformanceScreen
) -> int:
    profile, _ = kind_chapter(trust.kind)
    hands = _hands(args, screen)
    ids = _ids()
    bench = ConformanceBench(lambda: open_port(args.port), trust, kind_named(trust.kind), profile, hands, ids.__next__)
    await bench.open()
    try:
        hello = await identify_device(bench)
        began, clock = datetime.now(UTC), time.monotonic()
        with _Show(screen, len(requirements)) as show:
            runner = Runner(bench, requirements, show.before, show.after)
            try:
                await runner.run()
            except asyncio.CancelledError:
                await stop_motion(bench)
                raise
            finally:
                report = ConformanceReport(
                    f"pitbox {VERSION}", f"{began:%Y-%m-%d %H:%M:%S} UTC", round(time.monotonic() - clock, 1),
                    args.port, hands.name, _device(hello), runner.results, runner.ended_early, args.only,
                    len(requirements_of(trust.kind)),
                )  # fmt: skip
                write(report, folder)
    finally:
        bench.close()
    _conclude(report, folder, screen)
    return _exit_code(report, no_hands=args.no_hands)


def _ids() -> Any:
    """Yield rising command ids that no earlier bench command used."""
    last = 0
    while True:
        last = max(last + 1, bench_command_id())
        yield last


def _hands(args: argparse.Namespace, screen: ConformanceScreen) -> Operator:
    if args.no_hands:
        return NoOperator()
    if args.hands is not None:
        named = args.hands.is_socket()
        return SimulatorOperator(args.hands if named else args.hands / f"{slot_name(args.port)}.sock")
    if not (sys.stdin.isatty() and screen.console.is_terminal):
        raise UsageError("manual steps need a terminal: use --unattended or --simulator FOLDER")
    return TerminalOperator(lambda text: screen.line(f"  {text}", "bold"))


def _device(hello: DeviceHello | None) -> DeviceUnderTest | None:
    if hello is None:
        return None
    return DeviceUnderTest(
        hello.kind, hello.serial, hello.model, hello.firmware, hello.digest.hex(), hello.capabilities,
        f"{hello.boot_id:08x}",
    )  # fmt: skip


def _exit_code(report: ConformanceReport, *, no_hands: bool) -> int:
    """Return 0 only if every requested requirement passed; --unattended requests only those without manual steps."""
    counts = report.counts
    if counts[RequirementVerdict.FAIL]:
        return FAULT
    if report.lost:
        return LINK
    open_ids = {line.id for line in report.requirements if line.verdict is RequirementVerdict.NOT_CHECKED}
    if open_ids - (ids_needing_operator(report.requirements) if no_hands else set()):
        return FAULT
    # If only requirements that do not apply were requested, nothing was checked.
    return OK if counts[RequirementVerdict.PASS] or open_ids else FAULT


class _Show:
    """Shows progress: a bar on a terminal, a line for each requirement elsewhere."""

    def __init__(self, screen: ConformanceScreen, total: int) -> None:
        self._screen = screen
        self._bar: Progress | None = None
        self._task: TaskID
        if screen.console.is_terminal:
            columns = (BarColumn(_BAR), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
            self._bar = Progress(*columns, console=screen.console, transient=True)
            self._task = self._bar.add_task("", total=total)

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def before(self, requirement: Requirement) -> None:
        if self._bar is not None:
            room = max(_LEAST, self._screen.console.width - _TAKEN)
            self._bar.update(self._task, description=f"{requirement.id} {requirement.sentence}"[:room], refresh=True)

    def after(self, line: RequirementResult) -> None:
        if self._bar is not None:
            self._bar.update(self._task, advance=1, refresh=True)
        if self._bar is None or line.verdict not in (RequirementVerdict.PASS, RequirementVerdict.NOT_APPLICABLE):
            for text, style in line_text(line):
                self._screen.line(text, style)


def line_text(line: RequirementResult) -> list[tuple[str, str]]:
    """Return the printed lines of one result, with styles."""
    lines = [(f"{VERDICT_SIGNS[line.verdict]} {line.id}  {line.verdict:14s}  {line.sentence}", _STYLES[line.verdict])]
    if line.why:
        lines.append((f"           {line.why}", "dim"))
    if line.verdict is RequirementVerdict.FAIL:
        lines += [(f"           {name} {_short(text)}", "") for name, text in _evidence(line)]
    return lines


def _evidence(line: RequirementResult) -> tuple[tuple[str, str], ...]:
    return (("expected", line.expected), ("seen    ", line.seen))


def _short(text: str) -> str:
    return text if len(text) <= _MOST else f"{text[:_MOST]} ..."


def _conclude(report: ConformanceReport, folder: Path, screen: ConformanceScreen) -> None:
    screen.line(report.summary, _STYLE_OF_RUN.get(report.verdict, "bold red"))
    if report.lost:
        screen.line(report.lost, "red")
    screen.line(f"report  {folder / 'conformance.html'}")
    screen.line("The device is left unverified: a table reads it again before it is in service.", "dim")


def _list(kind: str, screen: ConformanceScreen) -> None:
    """Print the requirements of the protocol, and those of one kind or of all kinds."""
    chapters = protocol_chapters()
    chapters += [kind_chapter(name)[1] for name in ([kind] if kind else kinds_with_requirements())]
    for chapter in chapters:
        _list_chapter(chapter, screen)


def _list_chapter(chapter: Chapter, screen: ConformanceScreen) -> None:
    screen.console.print(Text(chapter.title, style="bold"))
    for requirement in chapter.requirements:
        marks = " (with operator)" if requirement.needs_operator else ""
        marks += f" (capability {requirement.capability})" if requirement.capability else ""
        marks += f" (not with capability {requirement.without})" if requirement.without else ""
        screen.line(f"  {requirement.id}  {requirement.sentence}{marks}")
