"""The roles that sign each act of people. The core refuses every other role.

This is the only list of them: the rules of the requests, and so control socket, commands and pages, read it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.table import events as ev

if TYPE_CHECKING:
    from table_controller.table.decisions import Order

Roles = tuple[ev.Role, ...]

DEALER: Final[Roles] = ("dealer",)
FLOOR: Final[Roles] = ("floorperson",)
TECHNICIAN: Final[Roles] = ("technician",)
DEALER_OR_FLOOR: Final[Roles] = ("dealer", "floorperson")
TECHNICIAN_OR_FLOOR: Final[Roles] = ("technician", "floorperson")

# Who signs an act alone. A prompt names the role of its answer itself.
SIGNERS: Final[dict[type[ev.Event], Roles]] = {
    ev.OpenRound: DEALER,
    ev.NoMoreBets: DEALER,
    ev.DealerChanged: DEALER,
    ev.HandEntered: DEALER_OR_FLOOR,  # a floorperson corrects the cards of a settled seat
    ev.SettingEntered: DEALER,
    ev.HouseWayAsked: DEALER,
    ev.ReplacementEntered: DEALER_OR_FLOOR,  # a floorperson corrects the card of a settled bet
    ev.AmountEntered: DEALER,
    ev.OptionalWagerEntered: DEALER,
    ev.SeatsSettled: DEALER,
    ev.DeckReceived: DEALER_OR_FLOOR,
    ev.IrregularityReported: DEALER_OR_FLOOR,
    ev.CoverCardOut: DEALER_OR_FLOOR,
    ev.Ordered: FLOOR,
    ev.TestModeOrdered: TECHNICIAN,
    # A technician works on any fault report, a floorperson on interruptions; the step decides which of them.
    ev.ReturnTaken: TECHNICIAN_OR_FLOOR,
    ev.ReturnLeft: TECHNICIAN_OR_FLOOR,
    ev.StepReported: TECHNICIAN_OR_FLOOR,
}
# Who changes the service state of a device, by act.
SLOT_ACT_SIGNERS: Final[dict[str, Roles]] = {
    "give_up": FLOOR, "sign": FLOOR, "repair": TECHNICIAN, "clear": TECHNICIAN_OR_FLOOR, "acknowledge": FLOOR,
}  # fmt: skip
# Who adjusts the meter, and whose second credential is needed: people of two departments. The people who may reset a
# meter may not set its parameters.
METER_SIGNERS: Final[dict[Order, tuple[ev.Role, ev.Role]]] = {
    "correct_meter": ("floorperson", "auditor"),
    "reset_meter": ("floorperson", "auditor"),
    "change_meter": ("technician", "auditor"),
    "close_meter": ("floorperson", "auditor"),
    "open_meter": ("floorperson", "auditor"),
    "transfer_overflow": ("floorperson", "auditor"),
}
# After an unreasonable contribution a technician must check the sensors before the meter is opened.
OPEN_AFTER_UNREASONABLE: Final[tuple[ev.Role, ev.Role]] = ("floorperson", "technician")
# Who confirms that no other box runs this table: the floorperson knows the table, the technician replaces boxes.
COPY_ABSENCE_SIGNERS: Final[tuple[ev.Role, ev.Role]] = ("floorperson", "technician")
# Who enrolls a device, in any order: one of each.
ENROLLMENT_SIGNERS: Final[frozenset[ev.Role]] = frozenset(TECHNICIAN_OR_FLOOR)
