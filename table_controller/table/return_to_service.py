"""The return to service of machines that move cards, and their test mode: who may do what, and what the table ignores.

A machine with an open procedure does not return to service (`permits`: steps_open). Only the last step ends it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, assert_never, cast, get_args

from msgspec.structs import replace

from devices.service import IN_SERVICE, UNVERIFIED, report_counts
from table_controller.table import events as ev
from table_controller.table import return_progress as rp
from table_controller.table.decisions import DenialReason, TestModeChanged
from table_controller.table.return_steps import DeckCounted, FaultedAgain, Returned, ReturnStep, SensorsRead
from table_controller.table.signers import SIGNERS, TECHNICIAN
from table_controller.table.view import slot_label

if TYPE_CHECKING:
    from table_controller.table.context import Context
    from table_controller.table.return_steps import Evidence, Requirements
    from table_controller.table.state import SlotState, TableState

# Machines that move cards; all others can be tested while they are in service.
TESTABLE_KINDS: Final = ("shuffler", "shoe")
# A machine that refuses to move because its path is dark has not halted by itself.
PATH_BLOCKED: Final = "path_blocked"
# Reports of cards. Those of a machine in test mode are about a technician's cards: they belong to no deck of the table.
_CARD_REPORTS: Final = frozenset(get_args(ev.CardEvent))
# Only these events can be ignored.
IGNORABLE: Final = frozenset({*_CARD_REPORTS, ev.SlotChanged})


def ignores(state: TableState, event: ev.Event) -> bool:
    """Return whether the table ignores an event, because its machine is in test mode.

    Its link, its report, its faults and the results of commands count; a doubt does not, because only a return to
    service ends the test.
    """
    if type(event) in _CARD_REPORTS:
        slot = state.slots.get(cast("ev.CardEvent", event).slot or "")
    elif isinstance(event, ev.SlotChanged) and event.trigger == "doubt":
        slot = state.slots[event.slot]
    else:
        return False
    return slot is not None and slot.is_testing


# --- faults -----------------------------------------------------------------------------------------------------------


def on_machine_halted(c: Context, event: ev.MachineHalted) -> None:
    """Keep the machine out of service while its fault is being recorded.

    The procedure of a machine fault, or a test, continues. That of an interruption does not: this may be a fault.
    """
    slot = c.state.slots[event.slot]
    procedure = slot.return_procedure
    match procedure:
        case rp.TestMode():
            refused = rp.halted(procedure.refused, event.what, event.at_ns)
            slot.return_procedure = replace(procedure, refused=refused)
        case rp.ReturnProgress() if procedure.began.service:
            pass  # what it reported undoes the steps that it disproves
        case rp.ReturnProgress():
            c.out += rp.apply_evidence(procedure, FaultedAgain(event.what), procedure.began.by)[1]
            slot.return_procedure = rp.FaultRecording(event.what, event.at_ns, procedure.fault_report)
        case rp.FaultRecording() | None:
            slot.return_procedure = rp.halted(procedure, event.what, event.at_ns)
        case _:
            assert_never(procedure)


def on_fault(c: Context, name: str) -> None:
    """End a test without a fault: the machine has one now, with a return to service of its own."""
    slot = c.state.slots[name]
    if isinstance(slot.return_procedure, rp.TestMode):
        slot.return_procedure = slot.return_procedure.refused
        c.out.append(TestModeChanged(name, testing=False))


def void_evidence(c: Context, name: str, why: str) -> None:
    """Undo the steps of a machine that nobody observed for a while: its link was lost, or the box was off."""
    slot = c.state.slots[name]
    if isinstance(slot.return_procedure, rp.ReturnProgress):
        slot.return_procedure, decisions = rp.void_evidence(slot.return_procedure, why)
        c.out += decisions


def on_fault_diagnosed(c: Context, event: ev.FaultDiagnosed) -> None:
    """Begin the steps of a machine fault. An interruption is resolved by the people at the table, without steps.

    The steps of a report that was lost and written again begin again, too: their evidence was lost with it.
    """
    slot = c.state.slots[event.slot]
    procedure = slot.return_procedure
    if isinstance(procedure, rp.ReturnProgress):
        if procedure.fault_report == event.fault_report:
            if procedure.is_testing:
                c.out.append(TestModeChanged(event.slot, testing=False, mode=procedure.mode))
            _begin(c, event.slot, event.fault_report, "", event.requires)
        return
    if event.requires.service and event.what == PATH_BLOCKED and (slot.state == IN_SERVICE or slot.is_testing):
        on_fault(c, event.slot)  # it only refused a command, but what blocks its path is no card
        if report_counts(slot.state, "fault", unsettled=True):  # a machine without a link is not in service anyway
            c.fire_slot(event.slot, "fault")
    procedure = slot.return_procedure
    if isinstance(procedure, rp.TestMode):
        slot.return_procedure = replace(procedure, refused=rp.diagnosed(procedure.refused, event.at_ns))
        return
    assert not isinstance(procedure, rp.ReturnProgress), "handled above"
    slot.return_procedure = rp.diagnosed(procedure, event.at_ns)
    begun_before = procedure is not None and procedure.fault_report != 0 and slot.return_procedure is None
    if begun_before or (event.requires.service and slot.state != IN_SERVICE):
        _begin(c, event.slot, event.fault_report, "", event.requires)


def on_evidence_reported(c: Context, event: ev.EvidenceReported) -> None:
    """Complete or undo the steps that a machine proves or disproves."""
    progress = c.state.slots[event.slot].return_procedure
    if isinstance(progress, rp.ReturnProgress):
        by = event.by or progress.technician or progress.began.by
        _apply(c, event.slot, progress, event.evidence, by)


def on_return_step_changed(c: Context, event: ev.ReturnStepChanged) -> None:
    """Refuse an event that only journals of record versions 1 and 2 have."""
    c.refuse(f"{event.slot}: the steps of a return to service are not submitted as text")


# --- people -----------------------------------------------------------------------------------------------------------


def on_return_taken(c: Context, event: ev.ReturnTaken) -> None:
    """Begin or continue a procedure: one that began with the fault, was left, or belongs to an interruption."""
    if not _has_slot(c, event.slot) or not _has_role(c, event.who, SIGNERS[ev.ReturnTaken]):
        return
    slot, procedure = c.state.slots[event.slot], c.state.slots[event.slot].return_procedure
    refusal = _refusal_to_begin(event, slot)
    if refusal:
        c.refuse(refusal)
        return
    service = event.requires.service if procedure is None else _is_service(procedure)
    if service and not _has_role(c, event.who, TECHNICIAN):
        return
    if procedure is None:
        _begin(c, event.slot, event.fault_report, "" if service else event.who.identity, event.requires)
    progress = slot.return_procedure
    if service and isinstance(progress, rp.ReturnProgress):
        was_testing = progress.is_testing
        slot.return_procedure, decisions = rp.assign_technician(progress, event.who.identity, event.mode)
        c.out += decisions
        if not was_testing:
            c.out.append(TestModeChanged(event.slot, testing=True))


def _is_service(procedure: rp.ReturnProcedure) -> bool:
    return isinstance(procedure, rp.ReturnProgress) and procedure.began.service


def _refusal_to_begin(event: ev.ReturnTaken, slot: SlotState) -> str:
    """Return why the procedure of this report cannot begin or continue; empty if it can."""
    match slot.return_procedure:
        case rp.ReturnProgress(began=began) if began.report != event.fault_report:
            return f"{event.slot} already has an open return to service, of report {began.report}; complete that one"
        case rp.FaultRecording():
            return f"the box is recording a fault of {event.slot}; wait until its report is on disk"
        case rp.TestMode():
            return f"{event.slot} is in test mode; leave it first"
        case None if event.requires.service and slot.state == IN_SERVICE:
            return f"{event.slot} is in service; it needs no return to service"
    return ""


def on_return_left(c: Context, event: ev.ReturnLeft) -> None:
    """Pause a procedure: the table uses the events of the machine again, and the machine stays out of service."""
    progress = _open_procedure(c, event)
    if progress is None:
        return
    if not progress.technician:
        c.refuse(f"no technician is assigned to fault report {event.fault_report}")
        return
    if event.obstacle:
        c.refuse(f"leave {event.slot}: {event.obstacle}")
        return
    c.state.slots[event.slot].return_procedure, decisions = rp.leave_procedure(progress)
    c.out += [*decisions, TestModeChanged(event.slot, testing=False, mode=progress.mode)]


def on_step_reported(c: Context, event: ev.StepReported) -> None:
    """Complete a step that a person reports. Two credentials of one person are not two people."""
    progress = _open_procedure(c, event)
    if progress is None:
        return
    shown = _shown(event)
    refusal = rp.objection(progress, event.step, shown)
    if event.step is ReturnStep.RETURN and progress.is_testing and event.obstacle:
        refusal = refusal or f"return: {event.obstacle}"
    if refusal or shown is None:
        c.refuse(refusal)
        return
    _apply(c, event.slot, progress, shown, event.who.identity)


def _shown(event: ev.StepReported) -> Evidence | None:
    """Return the evidence that a person shows; None where only the machine can."""
    match event.step:
        case ReturnStep.PATH_EMPTY if event.dark is not None:
            return SensorsRead(event.dark)
        case ReturnStep.COUNT if event.cards is not None:
            return DeckCounted(event.cards, event.who.identity)
        case ReturnStep.RETURN:
            return Returned(event.who.identity, event.who.role)
    return None


def _open_procedure(c: Context, event: ev.ReturnLeft | ev.StepReported) -> rp.ReturnProgress | None:
    """Return the open procedure that a person works on; refuse another role, or a report without one."""
    if not _has_slot(c, event.slot) or not _has_role(c, event.who, SIGNERS[type(event)]):
        return None
    progress = c.state.slots[event.slot].return_procedure
    if isinstance(progress, rp.ReturnProgress) and progress.began.report == event.fault_report:
        return progress
    c.refuse(f"the return to service of report {event.fault_report} has not begun, or its machine is back in service")
    return None


# --- test mode without a fault ----------------------------------------------------------------------------------------


def on_test_mode_ordered(c: Context, event: ev.TestModeOrdered) -> None:
    """Begin or leave test mode. While a machine is tested it is out of service; a good report ends that afterwards."""
    if not _has_role(c, event.who, SIGNERS[ev.TestModeOrdered]):
        return
    slot = c.state.slots[event.slot]
    reasons = reasons_against_test(c, event.slot) if event.act == "begin" else _reasons_against_leaving(c, event.slot)
    if reasons:
        c.refuse(f"{event.act}_test {event.slot}", *reasons)
    elif event.obstacle:
        c.refuse(f"{event.act}_test {event.slot}: {event.obstacle}")
    elif event.act == "begin":
        slot.return_procedure = rp.TestMode(event.who.identity, event.mode)
        c.out.append(TestModeChanged(event.slot, testing=True))
        c.fire_slot(event.slot, "doubt")
    elif isinstance(slot.return_procedure, rp.TestMode):
        c.out.append(TestModeChanged(event.slot, testing=False, mode=slot.return_procedure.mode))
        slot.return_procedure = None


def can_be_tested(c: Context, name: str) -> bool:
    """Return whether test mode is a matter of permits: a machine that moves cards, in service, without a procedure."""
    slot = c.state.slots[name]
    return slot.kind in TESTABLE_KINDS and slot.state == IN_SERVICE and slot.return_procedure is None


def reasons_against_test(c: Context, name: str) -> tuple[DenialReason, ...]:
    """Return every reason against test mode now; none means permitted."""
    if not can_be_tested(c, name):
        text = "only a machine that moves cards, is in service and is not in test mode can be tested"
        return (_reason(c, "not_testable", text, "technician"),)
    slot = c.state.slots[name]
    intake = (
        (_reason(c, "holds_cards", "cards are in its intake", "dealer", "take the cards out"),) if slot.intake else ()
    )
    return (*intake, *c.reasons_against("test", name, slot.deck))


def _reasons_against_leaving(c: Context, name: str) -> tuple[DenialReason, ...]:
    if isinstance(c.state.slots[name].return_procedure, rp.TestMode):
        return ()
    text = f"{slot_label(name)} is not in test mode, or its test belongs to a return to service"
    return (_reason(c, "not_tested", text, "technician"),)


# --- together ---------------------------------------------------------------------------------------------------------


def _begin(c: Context, name: str, report: int, by: str, requires: Requirements) -> None:
    """Begin the steps. A machine that only refused to move may be in service: not while people work on it."""
    began = rp.began(report, name, by, requires)
    c.state.slots[name].return_procedure = rp.ReturnProgress(began)
    c.out.append(began)
    if c.state.slots[name].state == IN_SERVICE:
        c.fire_slot(name, "doubt")


def _apply(c: Context, name: str, progress: rp.ReturnProgress, shown: Evidence, by: str) -> None:
    """Apply evidence; after the last step, the procedure and the test end, and an unverified machine is read again."""
    slot = c.state.slots[name]
    after, decisions = rp.apply_evidence(progress, shown, by)
    c.out += decisions
    slot.return_procedure = after if after.next is not None else None
    if after.next is None and after.is_testing:
        c.out.append(TestModeChanged(name, testing=False, mode=after.mode))
    elif after.next is None and slot.state == UNVERIFIED:
        c.try_issue_command("return_to_service", name)


def _has_slot(c: Context, name: str) -> bool:
    """Return whether this table has a slot; refuse if not: the report is of a machine that was here before."""
    if name not in c.state.slots:
        c.refuse(f"this table has no slot {name}")
    return name in c.state.slots


def _has_role(c: Context, who: ev.Person, roles: tuple[str, ...]) -> bool:
    """Return whether a person has one of these roles; refuse if not."""
    if who.role in roles:
        return True
    text = f"a {' or a '.join(roles)} must do this, not a {who.role}"
    c.refuse("return_to_service", _reason(c, "wrong_role", text, roles[0]))
    return False


def _reason(c: Context, key: str, text: str, clears: str, evidence: str = "") -> DenialReason:
    return DenialReason(key, c.clause("device_unusable"), text, clears, evidence)
