"""`pitbox sim`: starts simulated machines, injects faults, and prints where every card really is."""

from __future__ import annotations

import asyncio
import re
import signal
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import UsageError
from simulators.casino.table_layout import (
    BENCH_PEOPLE,
    BENCH_PIN,
    START_DEVICES,
    choices_of_models,
    fit_models,
    make_machines,
    slots_of_models,
    table_slots,
    table_toml,
    write_bench_people,
)
from simulators.cli import soak
from simulators.cli.incidents import show_incidents
from simulators.engine.control import ControlServer, list_running, runtime_folder, send_request, write_trust_files
from simulators.engine.faults import ACTS_ON, COMMON_FAULTS, FAULTS_BY_KIND, check_fault_name, parse_fault
from simulators.engine.ports.pty import PtyPort
from simulators.engine.ports.usb import UsbPort
from simulators.kinds.models import MODELS, make_machine
from simulators.mutants import apply_mutant, check_mutant
from simulators.usbip.packets import DEFAULT_PORT
from simulators.usbip.server import UsbIpServer
from table_controller.cli.subcommands import Subcommands, run
from table_controller.rulebook import GAMES

if TYPE_CHECKING:
    import argparse

    from simulators.engine.machine import SimulatedMachine

__all__ = ["EXAMPLE", "HELP", "add_arguments", "run"]

HELP = "start simulated machines, inject faults, print where every card really is"
_USB = f"export it over USB/IP on loopback instead of a pty, at this TCP port (default {DEFAULT_PORT}, 0 for any)"
EXAMPLE = "pitbox sim up shuffler --seed 7 --fault jam:segment=lift,card=27"

TABLE: Final = "table"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    command = Subcommands(parser, "sim").add

    up = command(
        "up", "start a machine, or a whole table's machines, and keep them until Ctrl-C",
        "up table --game face_up_pai_gow --folder /tmp/table", _up,
    )  # fmt: skip
    models = "\n".join(f"  {name:22s} {model.description}" for name, model in MODELS.items())
    up.epilog = f"models:\n{models}\n\n{up.epilog}"
    up.add_argument("model", choices=[*MODELS, TABLE], metavar="MODEL", help=f"one of the models below, or {TABLE}")
    up.add_argument("--game", choices=GAMES, default="face_up_pai_gow", help=f"with {TABLE}: the game of the table")
    up.add_argument(
        "--start", choices=list(START_DEVICES), help=f"with {TABLE}: how the starting position is determined"
    )
    up.add_argument(
        "--with", action="append", dest="more", default=[], metavar="MODEL",
        help=f"with {TABLE}: a machine in addition to its own, or instead of the one in its slot; repeatable",
    )  # fmt: skip
    up.add_argument("--name", help="its slot name, and the name of its port (default: its kind and .1)")
    up.add_argument("--seed", type=int, default=0, help="the same seed gives the same machine (default 0)")
    up.add_argument("--speed", type=float, default=1.0, help="how many times faster than a real machine (default 1)")
    up.add_argument(
        "--live-entropy", action="store_true", help="take challenges from the operating system, not from the seed"
    )
    up.add_argument("--fault", action="append", default=[], metavar="FAULT", help="a fault from the start; repeatable")
    up.add_argument("--usb", type=int, nargs="?", const=DEFAULT_PORT, metavar="PORT", help=_USB)
    up.add_argument("--mutant", metavar="NAME", help="a deliberate mistake of the firmware, see docs/conformance.md")

    inject = command(
        "inject", "inject a fault or an act of a person into a running machine",
        "inject shuffler.1 jam:segment=lift,card=27", _inject,
    )  # fmt: skip
    inject.add_argument("name", help="as in `pitbox sim list`")
    inject.add_argument("fault", help="NAME or NAME:DETAIL=VALUE,...; `pitbox sim faults` lists them")

    world = command("world", "print where every card of a running machine really is", "world shuffler.1", _world)
    world.add_argument("name", help="as in `pitbox sim list`")

    show = command("list", "list the running machines", "list --folder /tmp/table", _list)
    faults = command("faults", "list the faults that can be injected", "faults shuffler", _faults)
    faults.add_argument(
        "kind", nargs="?", choices=list(FAULTS_BY_KIND), metavar="KIND", help="only faults of this kind"
    )

    incidents = command(
        "incidents",
        "replay published incidents at card tables, and compare",
        "incidents damaged_card",
        show_incidents,
    )
    incidents.add_argument("id", nargs="*", help="only these (default: all)")
    incidents.add_argument("--seed", type=int, default=1, help="the same seed gives the same replay (default 1)")

    soak.add_arguments(
        command(
            "soak", "play whole tables with faults in virtual time, and compare with the truth",
            "soak --game dj_wild --rounds 50 --seed 7 --faults storm", lambda args: int(args.what(args)),
        )
    )  # fmt: skip

    for each in (up, inject, world, show):
        each.add_argument("--folder", type=Path, help="where ports, keys and sockets are (default: per user)")


def _up(args: argparse.Namespace) -> int:
    if not 0.01 <= args.speed <= 1000:
        raise UsageError("--speed takes a number from 0.01 to 1000")
    if args.model == TABLE:
        if args.name or args.fault or args.mutant:
            raise UsageError(f"--name, --fault and --mutant go with one machine, not with a {TABLE}")
        table_slots(args.game, args.start)  # report errors before anything starts
        slots_of_models(args.more)
    elif args.more:
        raise UsageError(f"--with goes with a {TABLE}, not with one machine")
    else:
        kind = MODELS[args.model].machine.kind
        args.name = args.name or f"{kind}.1"
        if not re.fullmatch(r"[a-z0-9_]+(\.[a-z0-9_]+)*", args.name) or len(args.name) > 32:
            raise UsageError(f"{args.name!r} is not a slot name; {kind}.1 is one")
        for text in args.fault:
            parse_fault(text, kind)  # report errors before anything starts
        if args.mutant is not None:
            check_mutant(kind, args.mutant)
    return asyncio.run(_serve(args, runtime_folder(args.folder).resolve()))


def _machines(args: argparse.Namespace) -> list[SimulatedMachine]:
    options = {"seed": args.seed, "speed": args.speed, "live_entropy": args.live_entropy}
    if args.model == TABLE:
        more = fit_models(args.game, slots_of_models(args.more))
        return make_machines(table_slots(args.game, args.start) | more, **options)
    return [make_machine(args.model, args.name, **options)]


async def _serve(args: argparse.Namespace, folder: Path) -> int:
    machines = _machines(args)
    async with AsyncExitStack() as stack:
        server = UsbIpServer()
        if args.usb is not None:
            await server.start(args.usb)
            stack.callback(server.close)
        ports: dict[str, str] = {}
        for machine in machines:
            control = ControlServer(machine, folder / f"{machine.slot}.sock")
            await control.start()
            stack.push_async_callback(control.close)
            write_trust_files(machine, folder)
            if args.mutant is not None:
                print(f"mutant {args.mutant}: {apply_mutant(machine, args.mutant).mistake}")
            port = PtyPort(machine, folder / machine.slot) if args.usb is None else UsbPort(machine, server)
            stack.callback(port.close)
            ports[machine.slot] = control.port = str(port.port)
        for text in args.fault:
            print(machines[0].inject(text))
        where = "" if args.folder is None else f" --folder {folder}"
        if args.model == TABLE:
            _greet_table(args, machines, ports, folder, where)
        else:
            _greet_machine(args, machines[0], ports[machines[0].slot], folder, where)
        print("Ctrl-C ends it.", flush=True)
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        await stop.wait()
    print(f"{args.name or args.model}: ended")
    return 0


def _greet_machine(args: argparse.Namespace, machine: SimulatedMachine, port: str, folder: Path, where: str) -> None:
    model = MODELS[args.model]
    key = "" if args.usb is None else f" --key {folder / machine.slot}.key"
    print(f"{machine.slot}: {model.description}, serial number {machine.key.serial}, seed {args.seed}")
    print(f"port    {port}")
    print(f"try     pitbox device {machine.kind} --port {port}{key} {model.suggested_action}")
    print(f"break   pitbox sim inject {machine.slot} {model.suggested_fault}{where}")
    print(f"truth   pitbox sim world {machine.slot}{where}")


def _greet_table(
    args: argparse.Namespace, machines: list[SimulatedMachine], ports: dict[str, str], folder: Path, where: str
) -> None:
    choices = choices_of_models(args.game, fit_models(args.game, slots_of_models(args.more)))
    text, file = table_toml(args.game, ports, args.start, choices), folder / "table.toml"
    write_bench_people(folder / "data")
    whole = file.with_suffix(".new")  # a waiting program must find the whole file, and every file that it names
    whole.write_text(text, "utf-8")
    whole.replace(file)
    print(text)
    print(f"# {len(machines)} machines, seed {args.seed}; the configuration above is in {file}")
    print(f"# try     pitbox devices --config {file}")
    print(f"# run     pitbox run --config {file}; who signs on: {', '.join(BENCH_PEOPLE)}, PIN {BENCH_PIN}")
    print(f"# break   pitbox sim inject {machines[0].slot} jam{where}")
    print(f"# truth   pitbox sim world {machines[0].slot}{where}")


def _inject(args: argparse.Namespace) -> int:
    check_fault_name(args.fault)
    print(send_request(runtime_folder(args.folder), args.name, {"do": "inject", "fault": args.fault})["message"])
    return 0


def _world(args: argparse.Namespace) -> int:
    answer = send_request(runtime_folder(args.folder), args.name, {"do": "truth"})
    for place, cards in answer["truth"].items():
        print(f"{cards:3d}  {place}")
    for sentence in answer["summary"]:
        print(sentence)
    return 0


def _list(args: argparse.Namespace) -> int:
    folder = runtime_folder(args.folder)
    machines = list_running(folder)
    for name, answer in machines:
        power = "" if answer["powered"] else ", without power"
        print(f"{name}  {answer['serial']}  {answer['state']}{power}  port {answer['port']}  pid {answer['pid']}")
    if not machines:
        print(f"no simulator runs in {folder}; start one with: pitbox sim up shuffler")
    return 0


def _faults(args: argparse.Namespace) -> int:
    groups = {"every machine": COMMON_FAULTS} | {f"a {machine}": words for machine, words in FAULTS_BY_KIND.items()}
    for who, words in groups.items():
        if args.kind is not None and who not in ("every machine", f"a {args.kind}"):
            continue
        print(f"faults of {who}:")
        for acts_on in ACTS_ON:
            for kind in words.values():
                if kind.acts_on == acts_on:
                    details = ",".join(f"{name}={value}" for name, value in kind.details.items())
                    print(f"  {acts_on:9s} {kind.name + (':' + details if details else ''):38s} {kind.meaning}")
    return 0
