"""Deliberate mistakes in simulated machines: each proves that one requirement of the conformance kit can fail.

A mutant is a machine with one mistake, chosen by name (`pitbox sim up shuffler --mutant NAME`). Every module of this
folder but the tools has a GROUP of them.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import UsageError

if TYPE_CHECKING:
    from simulators.engine.machine import SimulatedMachine
    from simulators.mutants.mutant_tools import DeviceMutant, MutantGroup

GROUPS: Final[tuple[MutantGroup, ...]] = tuple(
    import_module(f"simulators.mutants.{module.name}").GROUP
    for module in iter_modules(__path__)
    if module.name != "mutant_tools"
)


def all_mutants() -> list[DeviceMutant]:
    """Return all mutants."""
    return [mutant for workshop in GROUPS for mutant in workshop.mutants]


def mutants_of(kind: str) -> dict[str, DeviceMutant]:
    """Return the mutants that a kind of machine can be, by name."""
    return {mutant.name: mutant for mutant in all_mutants() if mutant.kind in ("", kind)}


def check_mutant(kind: str, name: str) -> DeviceMutant:
    """Return a mutant by its name; UsageMistake if this kind of machine has no such mutant."""
    known = mutants_of(kind)
    if name not in known:
        near = get_close_matches(name, known, 1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise UsageError(f"a {kind} has no mutant {name!r}{hint}; docs/conformance.md lists them")
    return known[name]


def apply_mutant(machine: SimulatedMachine, name: str) -> DeviceMutant:
    """Build the mistake of this name into a machine; UsageMistake if its kind has no such mutant."""
    mutant = check_mutant(machine.kind, name)
    mutant.apply(machine)
    return mutant
