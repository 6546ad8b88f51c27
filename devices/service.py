"""The state machine of a device's service state. Faults latch; a device never returns to service by itself.

The caller decides who may acknowledge, and with what evidence. The core of a table and `Service` use this machine.
"""

from __future__ import annotations

import logging
from typing import Final, Literal, assert_never

from transitions import Machine

# transitions warns about every convenience method that it does not bind; we use none of them.
logging.getLogger("transitions.core").setLevel(logging.ERROR)

ABSENT: Final = "absent"
UNVERIFIED: Final = "unverified"
IN_SERVICE: Final = "in_service"
FAULTED: Final = "faulted"
CLEARED: Final = "cleared"
UNSIGNED: Final = "out_of_order_unsigned"
SIGNED: Final = "out_of_order_signed"

STATES: Final = [ABSENT, UNVERIFIED, IN_SERVICE, FAULTED, CLEARED, UNSIGNED, SIGNED]

# trigger, source, destination. Any other combination raises MachineError.
TRANSITIONS: Final[list[list[str]]] = [
    # The link. A latched fault survives a reconnect: unplugging clears nothing, and a fault cleared before the link
    # dropped is not cleared on the device that comes back.
    ["appear", ABSENT, UNVERIFIED],
    ["appear", UNVERIFIED, UNVERIFIED],
    ["appear", IN_SERVICE, UNVERIFIED],
    ["appear", FAULTED, FAULTED],
    ["appear", CLEARED, FAULTED],
    ["appear", UNSIGNED, UNSIGNED],
    ["appear", SIGNED, SIGNED],
    ["vanish", ABSENT, ABSENT],
    ["vanish", UNVERIFIED, ABSENT],
    ["vanish", IN_SERVICE, ABSENT],
    ["vanish", FAULTED, FAULTED],
    ["vanish", CLEARED, FAULTED],
    ["vanish", UNSIGNED, UNSIGNED],
    ["vanish", SIGNED, SIGNED],
    # The device has reported, and the report was good.
    ["verify", UNVERIFIED, IN_SERVICE],
    # An unknown outcome, or a bench session: the device must be read again before it is in service.
    ["doubt", UNVERIFIED, UNVERIFIED],
    ["doubt", IN_SERVICE, UNVERIFIED],
    ["doubt", FAULTED, FAULTED],
    ["doubt", CLEARED, FAULTED],
    # Faults latch in every state.
    ["fault", UNVERIFIED, FAULTED],
    ["fault", IN_SERVICE, FAULTED],
    ["fault", FAULTED, FAULTED],
    ["fault", CLEARED, FAULTED],
    ["fault", UNSIGNED, UNSIGNED],
    ["fault", SIGNED, SIGNED],
    # A fault whose cause is gone still needs a person's acknowledgment, and a new report of the device.
    ["clear", FAULTED, CLEARED],
    ["acknowledge", CLEARED, UNVERIFIED],
    # Out of order until repaired; then the same steps as after a fault.
    ["give_up", ABSENT, UNSIGNED],
    ["give_up", UNVERIFIED, UNSIGNED],
    ["give_up", IN_SERVICE, UNSIGNED],
    ["give_up", FAULTED, UNSIGNED],
    ["give_up", CLEARED, UNSIGNED],
    ["sign", UNSIGNED, SIGNED],
    ["repair", UNSIGNED, CLEARED],
    ["repair", SIGNED, CLEARED],
]
# What devices and their links cause. All other triggers are acts of people.
ReportTrigger = Literal["appear", "vanish", "verify", "doubt", "fault"]
Trigger = ReportTrigger | Literal["clear", "acknowledge", "give_up", "sign", "repair"]

MEANINGS: Final[dict[Trigger, str]] = {
    "appear": "The link is up: a device is connected in this slot.",
    "vanish": "The link is down.",
    "verify": "The device's report was read and is good.",
    "doubt": "Part of the device's state is no longer known.",
    "fault": "The device reported a fault, or the box detected one.",
    "clear": "The cause of the fault is gone, with evidence.",
    "acknowledge": "A person in the required role has acknowledged.",
    "give_up": "A person takes the device out of service: it is out of order.",
    "sign": "The device is covered or has an out-of-order sign.",
    "repair": "The device was repaired; acknowledgment and report are still to come.",
}
TRIGGERS: Final = sorted(MEANINGS)

MACHINE: Final = Machine(
    model=None,
    states=STATES,
    transitions=TRANSITIONS,
    initial=ABSENT,
    auto_transitions=False,
    ignore_invalid_triggers=False,
    send_event=False,
)


def report_counts(state: str, trigger: ReportTrigger, *, unsettled: bool) -> bool:
    """Return whether a device's report has an effect in a state. `unsettled`: an outcome or a repair is still open.

    A good report does not clear a fault, and counts for nothing while something is unsettled. In an absent slot,
    doubts and faults are ignored.
    """
    match trigger:
        case "verify":
            return state == UNVERIFIED and not unsettled
        case "doubt":
            return state not in (ABSENT, UNSIGNED, SIGNED)
        case "fault":
            return state != ABSENT
        case "appear" | "vanish":
            return True
        case _:
            assert_never(trigger)


class Service:
    """The service state of a device that no table owns: on a bench, in a replay, or in safe mode.

    A running table keeps the service states of its slots in the state of the core.
    """

    def __init__(self, state: str = ABSENT) -> None:
        self.state = state

    @property
    def is_in_service(self) -> bool:
        """True only in service."""
        return self.state == IN_SERVICE

    def fire(self, trigger: Trigger) -> None:
        """Fire a trigger; MachineError if the state does not allow it."""
        MACHINE.events[trigger].trigger(self)

    def apply_report(self, trigger: ReportTrigger | None, *, unsettled: bool) -> None:
        """Apply what a device reported, if it counts; `unsettled`: the outcome of one of its commands is unknown."""
        if trigger is not None and report_counts(self.state, trigger, unsettled=unsettled):
            self.fire(trigger)
