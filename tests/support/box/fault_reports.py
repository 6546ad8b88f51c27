"""Fault reports for tests of the diagnosis: a shuffler that worked until this fault."""

from __future__ import annotations

from typing import Any, Final

from table_controller.diagnosis import fault_report as d
from table_controller.diagnosis.card_paths import SHUFFLER

SENSORS: Final = ("intake", "feed", "bridge", "lift", "exit", "stack", "gate")
MOTORS: Final = ("feed", "transport", "elevator", "eject")
_USUAL: Final = {"feed": 90, "bridge": 60, "lift": 60, "shelf": 40, "unload": 90, "stack": 60, "drop": 40}  # ms
FREE, STUCK = 310, 1150


def levels(**dark: int) -> tuple[d.Level, ...]:
    """Return clear sensors, except those named with their level."""
    return tuple(d.Level(s, s in dark, dark.get(s, 900), 500) for s in SENSORS)


def currents(**strained: int) -> tuple[d.Current, ...]:
    """Return motors that run free, except those named with their current."""
    return tuple(d.Current(motor, strained.get(motor, FREE)) for motor in MOTORS)


def times(**last: float) -> tuple[d.TransitsAtFault, ...]:
    """Return transit times of 53 cards; `last`: the last card's, as a factor of the usual."""
    return tuple(
        d.TransitsAtFault(s, 53, ms * 1000, ms * 950, round(ms * 1000 * max(1.05, last.get(s, 1.0))), ms * 20,
                round(ms * 1000 * last.get(s, 1.0)))
        for s, ms in _USUAL.items()
    )  # fmt: skip


def edges(*passed: str, cards: int = 3, **pulse: float) -> tuple[d.EdgeAtFault, ...]:
    """Return edges of whole cards, then of one that passed some sensors of the first leg; `pulse`: its lengths."""
    edge_list: list[d.EdgeAtFault] = []
    at = 10_000_000
    for card in range(cards + 1):
        for sensor in SHUFFLER.legs[0].sensors if card < cards else passed:
            length = round(40_000 * (pulse.get(sensor, 1.0) if card == cards else 1.0))
            edge_list += [d.EdgeAtFault(sensor, True, at), d.EdgeAtFault(sensor, False, at - length)]
            at -= 100_000
    return tuple(edge_list)


def shuffler_report(what: d.HaltKind, segment: str | None = None, *, leg: int = 0, entered: int = 27, left: int = 0,
             **more: Any) -> d.FaultReport:  # fmt: skip
    """Return a fault report of a shuffler with 53 cards."""
    fields: dict[str, Any] = {
        "at_ns": 1,
        "complete": True,
        "machine": d.MachineIdentity("shuffler.1", "shuffler", "PB-S1", capabilities=("counts",)),
        "halts": (d.MachineHalt(what, "Jam", leg, segment, 27, entered, left),),
        "levels": levels(),
        "currents": currents(),
        "account": d.CardAccount(53, entered - left, left),
        "times": times(),
        "history": times(),
        "waited_us": 180_000,
    }
    return d.FaultReport(**(fields | more))
