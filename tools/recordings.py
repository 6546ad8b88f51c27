"""Recordings that documents show: the real commands' code, run in virtual time. No document is written here."""

from __future__ import annotations

import io
from itertools import count
from random import Random
from textwrap import wrap

from rich.console import Console

from devices.kinds import SHUFFLER
from devices.shuffler import messages as m
from firmware_bridge.handshake import Trust
from simulators.hosts.memory import MemoryHost
from simulators.house.demo import Demo
from simulators.house.recording import svg
from simulators.house.stand import ShufflerStand, Stand
from simulators.machine import approved
from simulators.machines.shuffler import SimulatedShuffler
from simulators.mutants import spoil
from simulators.virtual_time import run_virtual
from table_controller.cli.conform import line_text
from table_controller.cli.kinds.shuffler import show_shuffle
from table_controller.cli.screen import Screen
from table_controller.conformance.bench import Bench
from table_controller.conformance.hands import Nobody
from table_controller.conformance.requirements import chosen, kind_chapter, requirements_of
from table_controller.conformance.runner import Runner


def jam_text() -> str:
    """What `pitbox device shuffler ... shuffle` prints when card 27 sticks in segment lift, as a code block."""
    printed = io.StringIO()

    async def play() -> None:
        machine = SimulatedShuffler(seed=7)
        screen = Screen(Console(file=printed, width=90, highlight=False), live=False, every=0)
        stand: ShufflerStand

        def show(event: object) -> None:
            if isinstance(event, m.Jam):
                screen.path(stand.view, 53)

        stand = Stand(machine, SHUFFLER, MemoryHost(machine).open, on_event=show)
        stand.inject("jam:segment=lift,card=27")
        stand.supervisor.start()
        await stand.driver.ready()
        await show_shuffle(stand.driver, 1, screen, lambda: stand.view, 53)
        await stand.close()

    run_virtual(play())
    return "```\n" + "\n".join(line.rstrip() for line in printed.getvalue().splitlines()) + "\n```"


def conform_text() -> str:
    """What `pitbox conform` prints about FR-03 to FR-05 of a machine that does not look at the CRC."""
    printed: list[str] = []

    async def play() -> None:
        machine = SimulatedShuffler(seed=7)
        spoil(machine, "no-crc")
        trust = Trust(
            machine.kind, {machine.key.serial: machine.key}, frozenset([approved(machine.kind)]), role="bench"
        )
        profile, _ = kind_chapter(machine.kind)
        bench = Bench(
            MemoryHost(machine).open, trust, SHUFFLER, profile, Nobody(), count(1).__next__, Random(7).randbytes
        )
        await bench.open()
        run = Runner(bench, chosen(requirements_of(machine.kind), ["FR-03", "FR-04", "FR-05"]))
        await run.run()
        bench.close()
        machine.board.power_off()
        for line in run.lines:
            printed.extend(text for text, _ in line_text(line))

    run_virtual(play())
    shown = [piece for line in printed for piece in wrap(line, 118, subsequent_indent=" " * 20) or [""]]
    return "```text\n" + "\n".join(shown) + "\n```"


def demo_svg() -> str:
    """The demo as a picture, the same as `pitbox demo --fast --record`."""
    console = Console(
        file=io.StringIO(), highlight=False, record=True, width=100, force_terminal=True, color_system="truecolor"
    )
    with Screen(console, live=False, every=0) as screen:
        run_virtual(Demo(screen, seed=7, speed=1.0, fast=True).run())
    return svg(console, "pitbox demo")
