"""The service state of any device: a pure state machine. Faults latch; nothing returns to service by itself.

No clock, no link, no rule of a game: who may acknowledge, and with what evidence, is decided above.
"""

from __future__ import annotations

import logging
from typing import Final

from transitions import Machine

# With `model_override` it warns of every convenience that it does not bind; we want none but what is declared below.
logging.getLogger("transitions.core").setLevel(logging.ERROR)

ABSENT: Final = "absent"
UNVERIFIED: Final = "unverified"
IN_SERVICE: Final = "in_service"
FAULTED: Final = "faulted"
CLEARED: Final = "cleared"
UNSIGNED: Final = "out_of_order_unsigned"
SIGNED: Final = "out_of_order_signed"

STATES: Final = [ABSENT, UNVERIFIED, IN_SERVICE, FAULTED, CLEARED, UNSIGNED, SIGNED]

# trigger, source, destination. What is not listed is refused with MachineError.
TRANSITIONS: Final[list[list[str]]] = [
    # The link. A latched fault outlives its cable: unplugging is not clearing, and what was seen as cleared on a
    # device that then vanished was not seen on the one that comes back.
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
    # An outcome nobody knows, or a bench tool that held the device: read it again before it serves.
    ["doubt", UNVERIFIED, UNVERIFIED],
    ["doubt", IN_SERVICE, UNVERIFIED],
    ["doubt", FAULTED, FAULTED],
    ["doubt", CLEARED, FAULTED],
    # Faults latch, wherever they are seen.
    ["fault", UNVERIFIED, FAULTED],
    ["fault", IN_SERVICE, FAULTED],
    ["fault", FAULTED, FAULTED],
    ["fault", CLEARED, FAULTED],
    ["fault", UNSIGNED, UNSIGNED],
    ["fault", SIGNED, SIGNED],
    # Cause gone is not back in service: a person acknowledges, then the device reports again.
    ["clear", FAULTED, CLEARED],
    ["acknowledge", CLEARED, UNVERIFIED],
    # Out of order until repaired; then the way back is the same as after a fault.
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
    def serves(self) -> bool:
        """True only in service; every permit asks this."""
        return self.state == IN_SERVICE

    def take(self, trigger: str | None, *, unsettled: bool) -> None:
        """Move by what an event of the device means; `unsettled`: the outcome of one of its commands is unknown.

        A good report of a slot that is faulted or out of order unlatches nothing, and none is good enough while a
        command's outcome is unknown: it must be asked about first. A slot that is absent is in doubt anyway, and has
        nothing that could be at fault.
        """
        if trigger == "verify" and (self.state != UNVERIFIED or unsettled):
            return
        if trigger == "doubt" and self.state in (ABSENT, UNSIGNED, SIGNED):
            return
        if trigger == "fault" and self.state == ABSENT:
            return
        if trigger is not None:
            getattr(self, trigger)()

    # Declared for readers and the type checker; the machine puts its own in their place.
    def appear(self) -> bool:
        """The link is up: a device answers in this slot."""
        raise NotImplementedError

    def vanish(self) -> bool:
        """The link is down."""
        raise NotImplementedError

    def verify(self) -> bool:
        """Its report was read and is good."""
        raise NotImplementedError

    def doubt(self) -> bool:
        """Something about it is not known any more."""
        raise NotImplementedError

    def fault(self) -> bool:
        """It reported a fault, or one was found."""
        raise NotImplementedError

    def clear(self) -> bool:
        """The cause is gone, with evidence."""
        raise NotImplementedError

    def acknowledge(self) -> bool:
        """The named role has acknowledged."""
        raise NotImplementedError

    def give_up(self) -> bool:
        """It is declared out of order."""
        raise NotImplementedError

    def sign(self) -> bool:
        """It is covered or has a sign on it."""
        raise NotImplementedError

    def repair(self) -> bool:
        """It was repaired; acknowledgement and report are still to come."""
        raise NotImplementedError
