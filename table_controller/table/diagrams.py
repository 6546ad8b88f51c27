"""The state machines of a table as Mermaid diagrams, made from their transition rows."""

from __future__ import annotations

from typing import Final

from table_controller.table.state_machines import MACHINES

# The names on the command line.
NAMES: Final = tuple(name.upper() for name in MACHINES)


def draw_mermaid(name: str) -> str:
    """Return one machine's state diagram; a trigger that leaves the state as it is has no arrow."""
    _, states, transitions = MACHINES[name.lower()]
    arrows: dict[tuple[str, str], list[str]] = {}
    for trigger, source, destination in transitions:
        if source != destination:
            arrows.setdefault((source, destination), []).append(trigger)
    drawn = [f"    {source} --> {to}: {', '.join(by)}" for (source, to), by in arrows.items()]
    return "\n".join(["stateDiagram-v2", f"    [*] --> {states[0]}", *drawn])


def transition_table(name: str) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return a machine's triggers, and a row for each state: itself, then where each trigger leads, or `refused`."""
    _, states, transitions = MACHINES[name.lower()]
    triggers = tuple(dict.fromkeys(trigger for trigger, _, _ in transitions))
    to = {(source, trigger): destination for trigger, source, destination in transitions}
    return triggers, [(state, *(to.get((state, trigger), "refused") for trigger in triggers)) for state in states]
