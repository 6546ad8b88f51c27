"""Recordings for the documents: the code of real commands, run in virtual time."""

from __future__ import annotations

import io
from itertools import count
from random import Random
from textwrap import wrap
from typing import TYPE_CHECKING

from rich.console import Console

from devices.conformance.bench import ConformanceBench
from devices.conformance.cli import line_text
from devices.conformance.operators import NoOperator
from devices.conformance.requirements import kind_chapter, requirements_of, select_requirements
from devices.conformance.runner import Runner
from devices.kinds import SHUFFLER
from devices.shuffler import messages as m
from firmware_bridge.handshake import Trust
from simulators.casino.demo import DemoShow, DemoTable, choose_mishaps, summary
from simulators.casino.device_bench import DeviceBench, ShufflerBench
from simulators.casino.svg_export import console_to_svg
from simulators.casino.table import CasinoTable
from simulators.casino.table_picture import WIDTH
from simulators.engine.machine import approved_firmware
from simulators.engine.ports.memory import MemoryPort
from simulators.engine.virtual_time import run_virtual
from simulators.kinds.shuffler.machine import SimulatedShuffler
from simulators.mutants import apply_mutant
from table_controller.cli.kinds.shuffler import show_shuffle
from table_controller.cli.render.screen import Screen
from table_controller.table.decisions import HoldOpened

if TYPE_CHECKING:
    from table_controller.table.decisions import Decision

_GAME, _SEED, _ROUNDS = "face_up_pai_gow", 7, 6


def jam_text() -> str:
    """Return what `pitbox device shuffler ... shuffle` prints when card 27 jams in segment lift, as a code block."""
    printed = io.StringIO()

    async def play() -> None:
        machine = SimulatedShuffler(seed=7)
        screen = Screen(Console(file=printed, width=90, highlight=False), live=False, every=0)
        device: ShufflerBench

        def show(event: object) -> None:
            if isinstance(event, m.Jam):
                screen.show_card_path(device.view, 53)

        device = DeviceBench(machine, SHUFFLER, MemoryPort(machine).open, on_event=show)
        device.inject("jam:segment=lift,card=27")
        device.supervisor.start()
        await device.driver.ready()
        await show_shuffle(device.driver, 1, screen, lambda: device.view, 53)
        await device.close()

    run_virtual(play())
    return "```\n" + "\n".join(line.rstrip() for line in printed.getvalue().splitlines()) + "\n```"


def conform_text() -> str:
    """Return what `pitbox conform` prints about FR-03 to FR-05 of a machine that ignores the CRC."""
    printed: list[str] = []

    async def play() -> None:
        machine = SimulatedShuffler(seed=7)
        apply_mutant(machine, "no-crc")
        trust = Trust(
            machine.kind, {machine.key.serial: machine.key}, frozenset([approved_firmware(machine.kind)]), role="bench"
        )
        profile, _ = kind_chapter(machine.kind)
        bench = ConformanceBench(
            MemoryPort(machine).open, trust, SHUFFLER, profile, NoOperator(), count(1).__next__, Random(7).randbytes
        )
        await bench.open()
        run = Runner(bench, select_requirements(requirements_of(machine.kind), ["FR-03", "FR-04", "FR-05"]))
        await run.run()
        bench.close()
        machine.board.power_off()
        for line in run.results:
            printed.extend(text for text, _ in line_text(line))

    run_virtual(play())
    shown = [piece for line in printed for piece in wrap(line, 118, subsequent_indent=" " * 20) or [""]]
    return "```text\n" + "\n".join(shown) + "\n```"


def demo_svg() -> str:
    """Return the output of `pitbox demo`, played in memory, as SVG, with the table at the first irregularity."""
    console = Console(
        file=io.StringIO(), highlight=False, record=True, width=WIDTH, force_terminal=True, color_system="truecolor"
    )

    async def play(screen: Screen) -> None:
        house = CasinoTable(_GAME, seed=_SEED)
        show = DemoShow(house, screen, f"pitbox demo · {_GAME}")
        drawn: list[int] = []

        def draw_first(_event: object, decisions: list[Decision]) -> None:
            if not drawn and any(isinstance(decision, HoldOpened) for decision in decisions):
                drawn.append(1)
                screen.show(show.picture(), last=True)

        house.watchers.append(draw_first)
        day = await DemoTable(_GAME, _SEED, choose_mishaps(_GAME, _SEED, _ROUNDS, "some"), house, show).play(_ROUNDS)
        screen.line()
        for line in summary(day, progressive=True):
            screen.line(line.plain, str(line.style))

    with Screen(console, live=False, every=0) as screen:
        run_virtual(play(screen))
    return console_to_svg(console, "pitbox demo")
