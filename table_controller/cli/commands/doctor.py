"""`pitbox doctor`: checks everything around a table. Prints a line each with the next action; changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.cli.box_link import add_config_argument
from table_controller.config import examine
from table_controller.maintenance.doctor.check_result import FAIL, OK, WARN, CheckResult, exit_code
from table_controller.maintenance.wear import WEAR_FOLDER, WearStore, warnings_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from pathlib import Path

    from table_controller.config import TableConfig

HELP = "check ports, keys, firmware, links, clock, disk, journal, copy and broker, and print what to do"
EXAMPLE = "pitbox doctor --config table.toml\n\nexit codes: 0 all ok, 1 a warning, 2 a failure"

_STYLE: Final = {OK: "green", WARN: "yellow", FAIL: "bold red"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    add_config_argument(parser)
    parser.add_argument("--full", action="store_true", help="check every record of the journal, not only the newest")
    parser.add_argument("--no-bench", action="store_true", help="without a running box: do not connect to the machines")
    parser.add_argument("--json", action="store_true", help="print the lines as JSON")


def run(args: argparse.Namespace) -> int:
    """Run all checks; the exit code is that of the worst line."""
    lines: list[CheckResult] = []
    for line in check_all(args.config, full=args.full, bench=not args.no_bench):
        lines.append(line)
        if not args.json:
            _print(line)
    if args.json:
        import msgspec

        print(msgspec.json.format(msgspec.json.encode({"exit": exit_code(lines), "lines": lines})).decode())
    else:
        counts = {state: sum(line.state == state for line in lines) for state in (OK, WARN, FAIL)}
        print(f"\n{counts[OK]} ok, {counts[WARN]} warn, {counts[FAIL]} fail")
    return exit_code(lines)


def check_all(path: Path, *, full: bool, bench: bool) -> Iterator[CheckResult]:
    """Run the checks one by one; yield the line of each as soon as it is known."""
    from table_controller.maintenance.doctor import computer, machines, notices, ports

    examined = examine(path)
    for problem in examined.problems:
        yield CheckResult("configuration", FAIL, f"{problem.code}: {problem}", "pitbox config check prints where")
    for warning in examined.warnings:
        yield CheckResult("configuration", WARN, warning, "pitbox config check lists it")
    config = examined.config
    if config is None:
        yield computer.check_clock()
        return
    yield CheckResult("configuration", OK, f"{path}: {config.name}, {config.game}, {len(config.slots)} slots")
    box = machines.probe_box(config.control.socket)
    yield from machines.box_lines(box, config.control.socket)
    about_ports = ports.check_ports(config, box.pid)
    yield from about_ports
    yield from ports.check_keys(config)
    yield from ports.check_approved_list(config)
    if box.status is not None:
        yield from machines.slot_lines(config, machines.probes_of_box(box.status))
    elif bench and not box.problem:
        dead = {line.what.rpartition(" ")[2] for line in about_ports if line.state == FAIL}
        yield from machines.slot_lines(config, machines.probe_on_bench(config, dead))
        enrolled = [slot.name for slot in config.slots if slot.key.enrolled]
        if enrolled:
            yield CheckResult("machines", WARN, f"not checked, because their keys are enrolled: {', '.join(enrolled)}",
                       "start the box: only it may use an enrolled key")  # fmt: skip
    yield from computer.check_computer(config, whole=full)
    yield from wear_lines(config)
    yield from notices.check_broker(config)
    yield from notices.check_notices(config)


def wear_lines(config: TableConfig) -> Iterator[CheckResult]:
    """Yield what is about to fail, by the wear that machines reported."""
    here = {slot.key.serial for slot in config.slots}
    known = [wear for wear in WearStore(config.data / WEAR_FOLDER).all() if wear.serial in here]
    warned = False
    for warning in (each for wear in known for each in warnings_of(wear)):
        warned = True
        problem, _, do = warning.sentence().rpartition("; ")
        yield CheckResult("wear", WARN, problem, do)
    if known and not warned:
        yield CheckResult("wear", OK, f"{len(known)} machines followed, no drift")


def _print(line: CheckResult) -> None:
    import sys

    from rich.text import Text

    from table_controller.cli.render.screen import PipeSafeConsole

    if not sys.stdout.isatty():  # no line breaks for a script or a file
        print(f"{line.state:4s}  {line.what}: {line.text}" + (f"  -> {line.do}" if line.do else ""))
        return
    console = PipeSafeConsole(highlight=False)
    console.print(Text.assemble((f"{line.state:4s}", _STYLE[line.state]), "  ", (line.what, "bold"), ": ", line.text))
    if line.do:
        console.print(Text(f"      -> {line.do}", style="dim"))
