"""Reads evidence for a return to service out of the messages of a shuffler or shoe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.shoe import messages as sh
from devices.shoe import state as shoe
from devices.shuffler import messages as sf
from devices.shuffler import state as shuffler
from table_controller.diagnosis.card_paths import BY_HAND
from table_controller.table import return_steps as st

if TYPE_CHECKING:
    from collections.abc import Iterable

    from table_controller.diagnosis.fault_report import FaultReport, Level

# Sensors at piles, not on the path.
_PILES: Final = ("intake", "gate", "well", "slot")


def evidence_of(event: object) -> st.MachineEvidence | None:
    """Return the evidence in an event of a shuffler or shoe; None if there is none."""
    match event:
        case sf.Door() | sh.Door():
            return st.DoorMoved(event.open)
        case sf.Cleared() | sh.Cleared():
            return st.Emptied()
        case sf.SelfTested() | sh.SelfTested():
            return st.Tested(event.bad_sensors.bit_count(), event.bad_motors.bit_count())
        case sf.Jogged() | sh.Jogged():
            return st.MotorJogged(event.motor.name.lower(), event.reverse, event.current, event.turned)
        case sf.Completed():  # a machine that identifies cards rejects a single card, which is accepted here
            return None if event.rejected and event.count != 1 else st.CardsMoved(event.count)
        case sf.Counted() | sf.Delivered() | sh.Dispensed() | sh.Stub() | sh.RoundEnded():
            return st.CardsMoved(event.count)
        case _:
            failed = shuffler.has_failed(event) or shoe.has_failed(event)
            return st.FaultedAgain(type(event).__name__) if failed else None


def dark_sensors(levels: Iterable[Level]) -> tuple[str, ...]:
    """Return the dark sensors of the path."""
    return tuple(x.sensor for x in levels if x.blocked and x.threshold and x.sensor not in _PILES)


def requirements_of(report: FaultReport, *, service: bool) -> st.Requirements:
    """Return what the steps of a fault report require; it depends on the machine."""
    machine = report.machine
    return st.Requirements(
        service, report.account.expected, BY_HAND not in machine.capabilities,
        motors_of(machine.kind, machine.capabilities),
    )  # fmt: skip


def motors_of(kind: str, capabilities: Iterable[str]) -> tuple[str, ...]:
    """Return the motors that the machine's firmware can jog."""
    messages = {sf.KIND: sf, sh.KIND: sh}[kind]
    return tuple(motor.name.lower() for motor in messages.Motor) if messages.JOGS in capabilities else ()
