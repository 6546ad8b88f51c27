"""The state machine of a device's service state. Faults latch; a device never returns to service by itself.

The caller decides who may acknowledge, and with what evidence.
"""

from __future__ import annotations

import logging
from typing import Final

from transitions import Machine

# With `model_override`, transitions warns about every convenience method that it does not bind; we use none of them.
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
TRIGGERS: Final = sorted({row[0] for row in TRANSITIONS})


class Service:
    """One slot's service state. Each trigger is a method; an impossible one raises `transitions.MachineError`."""

    state: str

    def __init__(self, initial: str = ABSENT) -> None:
        Machine(
            model=self,
            states=STATES,
            transitions=TRANSITIONS,
            initial=initial,
            auto_transitions=False,
            ignore_invalid_triggers=False,
            model_override=True,
            send_event=False,
        )

    @property
    def is_in_service(self) -> bool:
        """True only in service; every permit checks this."""
        return self.state == IN_SERVICE

    def apply_trigger(self, trigger: str | None, *, unsettled: bool) -> None:
        """Apply the trigger of a device event; `unsettled`: the outcome of one of its commands is unknown.

        A good report does not clear a fault, and counts for nothing while an outcome is unknown. In an absent slot,
        doubts and faults are ignored.
        """
        if trigger == "verify" and (self.state != UNVERIFIED or unsettled):
            return
        if trigger == "doubt" and self.state in (ABSENT, UNSIGNED, SIGNED):
            return
        if trigger == "fault" and self.state == ABSENT:
            return
        if trigger is not None:
            getattr(self, trigger)()

    # Declared for readers and the type checker; the state machine replaces them.
    def appear(self) -> bool:
        """The link is up: a device is connected in this slot."""
        raise NotImplementedError

    def vanish(self) -> bool:
        """The link is down."""
        raise NotImplementedError

    def verify(self) -> bool:
        """The device's report was read and is good."""
        raise NotImplementedError

    def doubt(self) -> bool:
        """Part of the device's state is no longer known."""
        raise NotImplementedError

    def fault(self) -> bool:
        """The device reported a fault, or the box detected one."""
        raise NotImplementedError

    def clear(self) -> bool:
        """The cause of the fault is gone, with evidence."""
        raise NotImplementedError

    def acknowledge(self) -> bool:
        """A person in the required role has acknowledged."""
        raise NotImplementedError

    def give_up(self) -> bool:
        """A person takes the device out of service: it is out of order."""
        raise NotImplementedError

    def sign(self) -> bool:
        """The device is covered or has an out-of-order sign."""
        raise NotImplementedError

    def repair(self) -> bool:
        """The device was repaired; acknowledgment and report are still to come."""
        raise NotImplementedError
