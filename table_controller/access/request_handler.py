"""Handles the requests that people sign, for pages, the control socket and commands alike.

It checks the signers, their roles and the table's dealer, submits the event with the people whom the box itself knows,
and returns when the step is on disk.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, NamedTuple, assert_never

from firmware_bridge.errors import (
    BadFaultReport,
    BadRequest,
    BoxLocked,
    JournalFailed,
    NotAllowed,
    RecordLate,
)
from table_controller.access import requests as r
from table_controller.access.request_rules import check_role, needs_second, to_event
from table_controller.maintenance.enrollment import enroll
from table_controller.maintenance.service_calls import call_device

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.access.people_file import CredentialHolder
    from table_controller.controller.box import Box
    from table_controller.controller.controller import DurableStep
    from table_controller.maintenance.fault_reports import FaultReports

# Longest wait for a record to be durable (s); it normally takes milliseconds.
RECORD_TIMEOUT_S: Final = 10.0


class Signers(NamedTuple):
    """The people who sign a request: each function returns the holder of a checked credential, or raises."""

    first: Callable[[], CredentialHolder]
    second: Callable[[], CredentialHolder] | None = None


async def handle_request(box: Box, request: r.HandledRequest, signers: Signers) -> DurableStep | dict[str, Any] | None:
    """Carry out a request; return its step once that is on disk, or what the box or the machine answered."""
    if isinstance(request, r.TableRequest):
        return await _submit(box, request, signers)
    match request:
        case r.DeviceRequest():
            return await call_device(
                box, request.slot, request.call, request.arguments, lambda: signers.first().event_person
            )
        case r.FaultRequest():
            returns = _fault_reports(box).returns
            await returns.wait_until_written()  # the client may read the file of the report next
            return returns.progress(request.fault_report)
        case r.ReturnStepRequest():
            who, _ = _signed(box, request, signers)
            return await _fault_reports(box).returns.complete_step(
                request.fault_report, request.step, who.event_person, request.cards
            )
        case r.EnrollRequest():
            who, second = _signed(box, request, signers)
            assert second is not None
            return await enroll(box, request.slot, request.file, who.event_person, second.event_person)
        case r.WearResetRequest():
            who, _ = _signed(box, request, signers)
            if box.wear is None:
                raise BadRequest("this box keeps no wear histories")
            await box.wear.reset_by(box.running_controller(), request.serial, who.event_person)
            return {"serial": request.serial}
        case _:
            assert_never(request)


async def _submit(box: Box, request: r.TableRequest, signers: Signers) -> DurableStep:
    """Submit the event of a request to the table; return its step when it is on disk.

    The checks and the step run without a pause, so if two people answer one question, the second is refused.
    """
    controller = box.running_controller()
    who, second = _signed(box, request, signers)
    event = to_event(request, who.event_person, None if second is None else second.event_person)
    if box.presence is not None:
        box.presence.check_dealer(event)
    try:
        async with asyncio.timeout(RECORD_TIMEOUT_S):
            return await controller.submit_and_wait(event)
    except TimeoutError:
        raise RecordLate("it is not known whether this was recorded; check the table") from None
    except JournalFailed:
        box.running_controller()  # raises the cause that locked the box
        raise BoxLocked("the box locked before this was recorded") from None


def _signed(box: Box, request: r.Request, signers: Signers) -> tuple[CredentialHolder, CredentialHolder | None]:
    """Return the people who sign a request: one, or two different ones where it needs two, in a role that may."""
    who, second = _people(request, signers)
    prompts = {} if box.controller is None else box.controller.table.state.prompts
    try:
        check_role(request, who, prompts)
    except NotAllowed as refused:  # it never reaches the core, and so the journal; the log has it
        box.repeated_log.warn("a request was refused", (request.name(), who.id), f"{request.name()}: {refused}")
        raise
    return who, second


def _people(request: r.Request, signers: Signers) -> tuple[CredentialHolder, CredentialHolder | None]:
    if not needs_second(request):
        if signers.second is not None:
            raise BadRequest(f"{request.name()} is signed by one person; it has no 'second'")
        return signers.first(), None
    if signers.second is None:
        raise BadRequest(f"{request.name()} needs two people: name the other one as 'second'")
    who, second = signers.first(), signers.second()
    if second.is_same_person(who):
        raise NotAllowed(f"{who.id} and {second.id} belong to one person; two people are required")
    return who, second


def check_signed_on(box: Box, holder: CredentialHolder) -> None:
    """Raise NotAllowed if the credential of a signed-on person was revoked or got another PIN since."""
    who = holder.event_person
    if not box.is_credential_valid(who, holder.proof):
        if box.is_credential_valid(who):
            raise NotAllowed(f"the credential {holder.id} has a new PIN: sign on with the new PIN")
        raise NotAllowed(f"the credential {holder.id} was revoked")


def _fault_reports(box: Box) -> FaultReports:
    if box.fault_reports is None:
        raise BadFaultReport("this box keeps no fault reports")
    return box.fault_reports
