"""Handles the requests of pages: checks credentials, submits the event to the core, and returns the result.

Every request becomes an event with the person's credential, which is on disk before the page gets the result.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import (
    BadFaultReport,
    BadRequest,
    BoxLocked,
    CredentialRefused,
    NotAllowed,
    PitboxError,
    TryLater,
)
from table_controller.maintenance.service_calls import call_device, orders_of
from table_controller.panel import request_types
from table_controller.panel.labels import machine_name
from table_controller.table.decisions import RequestRefused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from table_controller.access.people_file import CredentialHolder
    from table_controller.controller.box import Box
    from table_controller.controller.controller import Controller
    from table_controller.host.quota import Origin
    from table_controller.panel.live import LivePages
    from table_controller.panel.sessions import PanelSession
    from table_controller.table import events as ev

    # Checks a credential (id, PIN, origin of the attempt); CredentialRefused if it is wrong, TryLater after wrong PINs.
    Check = Callable[[str, str, Origin], Awaitable[CredentialHolder]]

# Longest wait for a record to be durable (s); it normally takes milliseconds.
RECORD_TIMEOUT_S: Final = 10.0


class RequestResult(msgspec.Struct, frozen=True):
    """The result of a request: an HTTP status, and a body for the page."""

    status: int
    body: dict[str, Any]


def make_refusal(status: int, error: PitboxError, **more: Any) -> RequestResult:
    """Return the result of a refused request."""
    return RequestResult(status, {"ok": False, "code": error.code, "text": str(error), **more})


class RequestHandler:
    """Handles the requests of all pages."""

    def __init__(self, box: Box, live: LivePages, check: Check) -> None:
        self._box = box
        self._live = live
        self._check = check

    async def check_credential(
        self, who: request_types.ShownCredential, place: Origin
    ) -> CredentialHolder | RequestResult:
        """Return the person of a credential, or the refusal."""
        try:
            return await self._check(who.id, who.pin, place)
        except TryLater as wait:
            return make_refusal(429, wait, seconds=wait.seconds)
        except CredentialRefused as wrong:
            return make_refusal(401, wrong)
        except PitboxError as broken:  # the people file cannot be read: nobody can sign on, and the table plays on
            return make_refusal(503, broken)

    async def submit(self, session: PanelSession, page: str, body: bytes, place: Origin) -> RequestResult:
        """Handle a request to the table."""
        taken = await self._taken(request_types.TABLE_REQUESTS, session, page, body, place)
        if isinstance(taken, RequestResult):
            return taken
        request, people = taken
        return await self._submit(request, *people)

    async def do_return_step(self, session: PanelSession, page: str, body: bytes, place: Origin) -> RequestResult:
        """Begin the return to service of a fault report, or complete one of its steps."""
        taken = await self._taken(request_types.RETURN_STEP_REQUESTS, session, page, body, place)
        if isinstance(taken, RequestResult):
            return taken
        request, people = taken
        kept = self._box.fault_reports
        try:
            if kept is None:
                raise BadFaultReport("this box keeps no fault reports")
            await kept.returns.complete_step(request.report, request.step, _person(people[0]), request.cards)
        except NotAllowed as barred:
            return make_refusal(403, barred)
        except PitboxError as refusal:
            return make_refusal(409, refusal)
        return RequestResult(200, {"ok": True})

    async def order_device(self, session: PanelSession, page: str, body: bytes, place: Origin) -> RequestResult:
        """Send a technician's order to a machine; return when it has ended."""
        taken = await self._taken(request_types.DEVICE_ORDER_REQUESTS, session, page, body, place)
        if isinstance(taken, RequestResult):
            return taken
        request, people = taken
        who = _person(people[0])
        try:
            if request.slot in self._box.slots and request.call not in orders_of(self._box, request.slot):
                raise BadRequest(f"{machine_name(request.slot)} cannot do {request.call!r} now")
            result = await call_device(self._box, request.slot, request.call, dict(request.arguments), lambda: who)
        except NotAllowed as barred:
            return make_refusal(403, barred)
        except PitboxError as refusal:
            return make_refusal(409, refusal)
        return RequestResult(200, {"ok": True, "text": f"{request.call.replace('_', ' ')}: done", "result": result})

    async def _taken(
        self, reader: msgspec.json.Decoder[Any], session: PanelSession, page: str, body: bytes, place: Origin
    ) -> tuple[Any, tuple[CredentialHolder, CredentialHolder | None]] | RequestResult:
        """Decode a request, accept its number once, and return it with the people who sign it; or the refusal."""
        try:
            request = reader.decode(body)
        except UNDECODABLE as error:
            return RequestResult(400, {"ok": False, "text": f"this is not a request: {error}"})
        if not session.accept_once(page, request.n):
            return RequestResult(409, {"ok": False, "text": "this request was already accepted"})
        people = await self._people(session, request, place)
        return people if isinstance(people, RequestResult) else (request, people)

    async def _people(
        self, session: PanelSession, request: request_types.PageRequest, place: Origin
    ) -> tuple[CredentialHolder, CredentialHolder | None] | RequestResult:
        """Return the people who sign a request, each with a checked credential; or the refusal."""
        first: CredentialHolder | RequestResult = session.who
        if request.by is not None:
            first = await self.check_credential(request.by, place)
        elif session.who.role in request_types.ROLES_WITH_PIN_EACH_TIME or isinstance(
            request, request_types.REQUESTS_WITH_PIN_EACH_TIME
        ):
            return RequestResult(
                403, {"ok": False, "pin": True, "text": f"a {session.who.role} signs each request with the PIN"}
            )
        elif not self._box.is_credential_valid(_person(session.who), session.who.proof):
            text = f"the credential {session.who.id} was revoked, or its PIN changed; sign on again"
            return make_refusal(403, NotAllowed(text))
        if isinstance(first, RequestResult):
            return first
        if not isinstance(request, request_types.TWO_PERSON_REQUESTS):
            return first, None
        if request.second is None:
            return make_refusal(403, NotAllowed("this needs the credentials of two people"))
        second = await self.check_credential(request.second, place)
        if isinstance(second, RequestResult):
            return second
        if first.is_same_person(second):
            return make_refusal(403, NotAllowed("two credentials of one person do not count as two people"))
        return first, second

    async def _submit(
        self, request: request_types.TableRequest, who: CredentialHolder, second: CredentialHolder | None
    ) -> RequestResult:
        """Submit the event of a request to the core, and return the result.

        The checks and the step run without a pause, so if two panels answer one question, the second is refused.
        """
        try:
            controller = self._running()
        except BoxLocked as locked:
            return make_refusal(503, locked)
        allowed = request_types.roles_for(request, controller.table.state.prompts)
        if not allowed:
            return RequestResult(
                409, {"ok": False, "text": "this question is already answered, or is not asked any more"}
            )
        if who.role not in allowed:
            return make_refusal(403, NotAllowed(f"this is for the {' or the '.join(allowed)}; {who.id} is {who.role}"))
        event = request_types.to_event(request, _person(who), None if second is None else _person(second))
        try:
            if self._box.presence is not None:
                self._box.presence.check_dealer(event)
        except NotAllowed as barred:
            return make_refusal(403, barred)
        except PitboxError as refusal:
            return make_refusal(409, refusal)
        step = self._live.expect(event)
        controller.submit(event)
        return await self._outcome(event, step)

    async def _outcome(self, event: ev.Event, step: asyncio.Future[Any]) -> RequestResult:
        """Wait until the step is on disk, and return its result."""
        try:
            async with asyncio.timeout(RECORD_TIMEOUT_S):
                while not step.done():
                    await asyncio.wait({step}, timeout=0.5)
                    if not step.done() and self._box.cause is not None:
                        return make_refusal(503, BoxLocked("the box locked before this was recorded"))
        except TimeoutError:
            return RequestResult(
                504, {"ok": False, "text": "it is not known whether this was recorded; check the table"}
            )
        finally:
            self._live.forget(event)
        if step.cancelled():
            return RequestResult(503, {"ok": False, "text": "the panel is stopping; check the table"})
        taken = step.result()
        refusal = next((decision for decision in taken.decisions if isinstance(decision, RequestRefused)), None)
        if refusal is not None:
            reasons = [
                {"text": r.text, "clause": r.clause, "clears": r.clears, "evidence": r.evidence}
                for r in refusal.reasons
            ]
            return RequestResult(409, {"ok": False, "seq": taken.seq, "text": refusal.what, "reasons": reasons})
        return RequestResult(200, {"ok": True, "seq": taken.seq})

    def _running(self) -> Controller:
        controller, cause = self._box.controller, self._box.cause
        if controller is None or cause is not None:
            raise BoxLocked("the box has not started" if cause is None else f"{cause.code}: {cause}")
        return controller


def _person(who: CredentialHolder) -> ev.Person:
    return who.event_person
