"""The conformance kit with a simulated machine in virtual time, good or with one mistake."""

from __future__ import annotations

from contextlib import asynccontextmanager
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any

from devices.kinds import kind_named
from firmware_bridge.handshake import Trust
from simulators.hosts.memory import MemoryHost
from simulators.machine import approved
from simulators.models import MODELS, make
from simulators.mutants import spoil
from table_controller.conformance.bench import Bench
from table_controller.conformance.requirements import Requirement, Verdict, able, model_profile, requirements_of
from table_controller.conformance.runner import Runner, meet

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from firmware_bridge.keys import DeviceKey
    from simulators.machine import Machine
    from table_controller.conformance.hands import Hands, Step
    from table_controller.conformance.report import Line


class MachineHands:
    """Hands at a simulated machine in this process."""

    name = "a simulator's own hands"
    patience = 30.0

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    async def do(self, step: Step) -> None:
        for word in step.words:
            self._machine.inject(word)

    now = do


def with_needs(ids: Iterable[str], requirements: list[Requirement]) -> list[Requirement]:
    """Return requirements and everything that they need, in their order."""
    by_id = {requirement.id: requirement for requirement in requirements}
    selected: set[str] = set()

    def select(name: str) -> None:
        if name not in selected:
            selected.add(name)
            for need in by_id[name].needs:
                select(need)

    for name in ids:
        select(name)
    return [requirement for requirement in requirements if requirement.id in selected]


@asynccontextmanager
async def on_bench(
    model: str = "shuffler",
    *,
    seed: int = 1,
    mutant: str = "",
    faults: Iterable[str] = (),
    hands: Callable[[Machine], Hands] = MachineHands,
    key_for: Callable[[DeviceKey], DeviceKey] = lambda key: key,
) -> AsyncIterator[tuple[Bench, Machine]]:
    """A machine on the kit's bench, ready to be checked; at the end every card must be in one place."""
    machine = make(model, f"{MODELS[model].machine.kind}.1", seed=seed)
    if mutant:
        spoil(machine, mutant)
    for fault in faults:
        machine.inject(fault)
    key = key_for(machine.key)
    trust = Trust(key.kind, {key.serial: key}, frozenset([approved(machine.kind)]), role="bench")
    profile = model_profile(machine.kind, machine.board.identity.capabilities)
    bench = Bench(
        MemoryHost(machine).open, trust, kind_named(machine.kind), profile, hands(machine),
        count(10**18).__next__, Random(seed).randbytes,
    )  # fmt: skip
    await bench.open()
    try:
        await meet(bench)
        yield bench, machine
    finally:
        bench.close()
        machine.board.power_off()
    machine.world.check()


def asked_of(machine: Machine, only: Iterable[str] = ()) -> list[Requirement]:
    """Return the requirements of a machine: all, or some with the ones that they need."""
    capabilities = machine.board.identity.capabilities
    asked = able(requirements_of(machine.kind), capabilities)
    return with_needs(only, asked) if only else asked


async def examine(
    model: str = "shuffler",
    *,
    only: Iterable[str] = (),
    during: Callable[[Requirement, Machine], None] = lambda *_: None,
    **how: Any,
) -> Runner:
    """Check a machine and return the run. `during` is called before each check."""
    async with on_bench(model, **how) as (bench, machine):
        run = Runner(bench, asked_of(machine, only), before=lambda requirement: during(requirement, machine))
        await run.run()
    return run


def with_verdict(lines: Iterable[Line], verdict: Verdict) -> set[str]:
    """Return the ids of the requirements that had this verdict."""
    return {line.id for line in lines if line.verdict is verdict}


def failures(runner: Runner) -> str:
    """Return what failed, and why, for a test that did not expect it."""
    return "\n".join(
        "\n   ".join([f"{line.id} {line.verdict}: {line.why} {line.expected} | {line.seen}", *line.transcript])
        for line in runner.lines
        if line.verdict is not Verdict.PASS
    )
