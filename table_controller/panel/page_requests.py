"""The requests of pages: the number of a request on its page, PINs that come with it, and results as HTTP statuses.

`access.request_handler` carries them out. A page gets its result when the event is on disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, get_args

import msgspec

from firmware_bridge.errors import (
    BadRequest,
    BoxLocked,
    CredentialRefused,
    NotAllowed,
    PitboxError,
    RecordLate,
    TryLater,
)
from table_controller.access import requests as r
from table_controller.access.request_handler import Signers, check_signed_on, handle_request
from table_controller.access.request_json import PageEnvelope, read_request
from table_controller.access.request_rules import needs_pin_now, needs_second
from table_controller.journal.record_text import plain_text
from table_controller.maintenance.service_calls import orders_of
from table_controller.panel.labels import machine_name
from table_controller.table.decisions import RequestRefused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from table_controller.access.people_file import CredentialHolder
    from table_controller.controller.box import Box
    from table_controller.controller.controller import DurableStep
    from table_controller.host.quota import Origin
    from table_controller.panel.sessions import PanelSession

    # Checks a credential (id, PIN, origin of the attempt); CredentialRefused if it is wrong, TryLater after wrong PINs.
    Check = Callable[[str, str, Origin], Awaitable[CredentialHolder]]

# What a page may send. Enrollments, credentials and wear histories have commands; a page reads fault reports, and a
# dealer who signs on takes over the table.
_COMMANDS_ONLY: Final = (
    r.ChangeDealerRequest, r.FaultRequest, r.EnrollRequest, r.WearResetRequest,
)  # fmt: skip
PAGE_REQUESTS: Final[dict[str, type[r.HandledRequest]]] = {
    kind.name(): kind for kind in get_args(r.HandledRequest) if kind not in _COMMANDS_ONLY
}
# The HTTP status of a refusal; 409 for every other error.
_STATUSES: Final = ((NotAllowed, 403), (BoxLocked, 503), (RecordLate, 504))


class RequestResult(msgspec.Struct, frozen=True):
    """The result of a request: an HTTP status, and a body for the page."""

    status: int
    body: dict[str, Any]


def make_refusal(status: int, error: PitboxError, **more: Any) -> RequestResult:
    """Return the result of a refused request."""
    return RequestResult(status, {"ok": False, "code": error.code, "text": str(error), **more})


class PageRequests:
    """Handles the requests of all pages."""

    def __init__(self, box: Box, check: Check) -> None:
        self._box = box
        self._check = check

    async def check_credential(self, who: r.ShownCredential, place: Origin) -> CredentialHolder | RequestResult:
        """Return the person of a credential, or the refusal."""
        try:
            return await self._check(who.id, who.pin, place)
        except TryLater as wait:
            return make_refusal(429, wait, seconds=wait.seconds)
        except CredentialRefused as wrong:
            return make_refusal(401, wrong)
        except PitboxError as broken:  # the people file cannot be read: nobody can sign on, and the table plays on
            return make_refusal(503, broken)

    async def handle(self, session: PanelSession, page: str, body: bytes, place: Origin) -> RequestResult:
        """Handle a request of a page: accept its number once, check who signs it, and carry it out."""
        try:
            envelope, request = read_request(body, PageEnvelope, PAGE_REQUESTS)
        except BadRequest as error:
            return RequestResult(400, {"ok": False, "text": str(error)})
        if not session.accept_once(page, envelope.n):
            return RequestResult(409, {"ok": False, "text": "this request was already accepted"})
        signers = await self._signers(session, envelope, request, place)
        if isinstance(signers, RequestResult):
            return signers
        try:
            self._check_offered(request)
            return _result(request, await handle_request(self._box, request, signers))
        except PitboxError as refused:
            status = next((status for kind, status in _STATUSES if isinstance(refused, kind)), 409)
            return make_refusal(status, refused)

    async def _signers(
        self, session: PanelSession, envelope: PageEnvelope, request: r.Request, place: Origin
    ) -> Signers | RequestResult:
        """Return the people who sign a request, each with a checked credential; or the refusal."""
        first: CredentialHolder | RequestResult = session.who
        if envelope.by is not None:
            first = await self.check_credential(envelope.by, place)
        elif needs_pin_now(request, session.who.role):
            text = f"a {session.who.role} signs each request with the PIN"
            return RequestResult(403, {"ok": False, "pin": True, "text": text})
        else:
            try:
                check_signed_on(self._box, session.who)
            except NotAllowed as revoked:
                return make_refusal(403, revoked)
        if isinstance(first, RequestResult):
            return first
        holder = first
        if not needs_second(request):  # the handler refuses a second person
            return Signers(lambda: holder, None if envelope.second is None else lambda: holder)
        if envelope.second is None:
            return make_refusal(403, NotAllowed("this needs the credentials of two people"))
        second = await self.check_credential(envelope.second, place)
        return second if isinstance(second, RequestResult) else Signers(lambda: holder, lambda: second)

    def _check_offered(self, request: r.Request) -> None:
        """Raise BadRequest for a call that a page does not offer: a question, or an order that is not possible now."""
        if not isinstance(request, r.DeviceRequest) or request.slot not in self._box.slots:
            return
        if request.call not in orders_of(self._box, request.slot):
            raise BadRequest(f"{machine_name(request.slot)} cannot do {request.call!r} now")


def _result(request: r.Request, done: DurableStep | dict[str, Any] | None) -> RequestResult:
    """Return the result of a request that was carried out; the core may have refused it, with all its reasons."""
    if isinstance(request, r.DeviceRequest):
        return RequestResult(200, {"ok": True, "text": f"{request.call.replace('_', ' ')}: done", "result": done})
    if done is None or isinstance(done, dict):
        return RequestResult(200, {"ok": True})
    refusal = next((decision for decision in done.decisions if isinstance(decision, RequestRefused)), None)
    if refusal is None:
        return RequestResult(200, {"ok": True, "seq": done.seq})
    reasons = [
        {"text": plain_text(reason.text), "clause": reason.clause, "clears": reason.clears, "evidence": reason.evidence}
        for reason in refusal.reasons
    ]
    return RequestResult(409, {"ok": False, "seq": done.seq, "text": plain_text(refusal.what), "reasons": reasons})
