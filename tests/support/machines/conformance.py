"""The conformance kit with a simulated machine in virtual time, good or with one mistake."""

from __future__ import annotations

from contextlib import asynccontextmanager
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any

from devices.conformance.bench import ConformanceBench
from devices.conformance.requirements import Requirement, RequirementVerdict, model_profile, requirements_of
from devices.conformance.runner import Runner, identify_device
from devices.kinds import kind_named
from firmware_bridge.handshake import Trust
from simulators.engine.machine import approved_firmware
from simulators.engine.ports.memory import MemoryPort
from simulators.kinds.models import MODELS, make_machine
from simulators.mutants import apply_mutant

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from devices.conformance.operators import ManualStep, Operator
    from devices.conformance.report import RequirementResult
    from firmware_bridge.keys import DeviceKey
    from simulators.engine.machine import SimulatedMachine


class MachineOperator:
    """Hands at a simulated machine in this process."""

    name = "a simulator's own hands"
    effect_timeout_s = 30.0

    def __init__(self, machine: SimulatedMachine) -> None:
        self._machine = machine

    async def perform(self, step: ManualStep) -> None:
        for word in step.faults:
            self._machine.inject(word)

    request_now = perform


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
    hands: Callable[[SimulatedMachine], Operator] = MachineOperator,
    key_for: Callable[[DeviceKey], DeviceKey] = lambda key: key,
) -> AsyncIterator[tuple[ConformanceBench, SimulatedMachine]]:
    """A machine on the kit's bench, ready to be checked; at the end every card must be in one place."""
    machine = make_machine(model, f"{MODELS[model].machine.kind}.1", seed=seed)
    if mutant:
        apply_mutant(machine, mutant)
    for fault in faults:
        machine.inject(fault)
    key = key_for(machine.key)
    trust = Trust(key.kind, {key.serial: key}, frozenset([approved_firmware(machine.kind)]), role="bench")
    profile = model_profile(machine.kind, machine.board.identity.capabilities)
    bench = ConformanceBench(
        MemoryPort(machine).open, trust, kind_named(machine.kind), profile, hands(machine),
        count(10**18).__next__, Random(seed).randbytes,
    )  # fmt: skip
    await bench.open()
    try:
        await identify_device(bench)
        yield bench, machine
    finally:
        bench.close()
        machine.board.power_off()
    machine.world.check()


def asked_of(machine: SimulatedMachine, only: Iterable[str] = ()) -> list[Requirement]:
    """Return the requirements of a machine: all, or some with the ones that they need."""
    capabilities = machine.board.identity.capabilities
    asked = [each for each in requirements_of(machine.kind) if not each.why_not_applicable(capabilities)]
    return with_needs(only, asked) if only else asked


async def examine(
    model: str = "shuffler",
    *,
    only: Iterable[str] = (),
    during: Callable[[Requirement, SimulatedMachine], None] = lambda *_: None,
    **how: Any,
) -> Runner:
    """Check a machine and return the run. `during` is called before each check."""
    async with on_bench(model, **how) as (bench, machine):
        run = Runner(bench, asked_of(machine, only), before=lambda requirement: during(requirement, machine))
        await run.run()
    return run


def with_verdict(lines: Iterable[RequirementResult], verdict: RequirementVerdict) -> set[str]:
    """Return the ids of the requirements that had this verdict."""
    return {line.id for line in lines if line.verdict is verdict}


def failures(runner: Runner) -> str:
    """Return what failed, and why, for a test that did not expect it."""
    return "\n".join(
        "\n   ".join([f"{line.id} {line.verdict}: {line.why} {line.expected} | {line.seen}", *line.transcript])
        for line in runner.results
        if line.verdict is not RequirementVerdict.PASS
    )
