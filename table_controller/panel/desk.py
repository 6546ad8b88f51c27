"""Takes what people ask for on a page: proves who they are, has the core decide, and says what came of it.

Everything that is done is an event with the person's credential, on disk before the page is told.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge.decoding import UNDECODABLE
from firmware_bridge.errors import (
    BadDossier,
    BadRequest,
    BoxLocked,
    CredentialRefused,
    NotAllowed,
    PitboxError,
    TryLater,
)
from table_controller.controller.service_calls import call, orders_of
from table_controller.panel import acts
from table_controller.table.decisions import Refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from table_controller.controller.box import Box
    from table_controller.controller.loop import Controller
    from table_controller.panel.live import Live
    from table_controller.panel.sessions import Session
    from table_controller.people import Person
    from table_controller.quota import Origin
    from table_controller.table import events as ev

    # Proves a credential (id, PIN, where the try came from); CredentialRefused if it does not hold, TryLater after
    # wrong PINs.
    Check = Callable[[str, str, Origin], Awaitable[Person]]

# A record is on disk within milliseconds; a disk that takes longer than this (s) is about to be declared dead.
PATIENCE: Final = 10.0


class Said(msgspec.Struct, frozen=True):
    """What came of a request: an HTTP status, and a body that a page can show."""

    status: int
    body: dict[str, Any]


def refused(status: int, error: PitboxError, **more: Any) -> Said:
    """Return a refusal."""
    return Said(status, {"ok": False, "code": error.code, "text": str(error), **more})


class Desk:
    """Where a page's requests arrive."""

    def __init__(self, box: Box, live: Live, check: Check) -> None:
        self._box = box
        self._live = live
        self._check = check

    async def prove(self, who: acts.Who, place: Origin) -> Person | Said:
        """Return whose credential this is, or what to answer."""
        try:
            return await self._check(who.id, who.pin, place)
        except TryLater as wait:
            return refused(429, wait, seconds=wait.seconds)
        except CredentialRefused as wrong:
            return refused(401, wrong)
        except PitboxError as broken:  # the people file cannot be read: nobody can sign on, and the table goes on
            return refused(503, broken)

    async def say(self, session: Session, page: str, body: bytes, place: Origin) -> Said:
        """Take one request of a page."""
        taken = await self._taken(acts.READ, session, page, body, place)
        if isinstance(taken, Said):
            return taken
        request, people = taken
        return await self._submit(request, *people)

    async def step(self, session: Session, page: str, body: bytes, place: Origin) -> Said:
        """Begin the way back of a dossier, or tick one of its steps."""
        taken = await self._taken(acts.STEP, session, page, body, place)
        if isinstance(taken, Said):
            return taken
        request, people = taken
        kept = self._box.dossiers
        try:
            if kept is None:
                raise BadDossier("this box keeps no dossiers")
            await kept.ways.step(request.dossier, request.step, _person(people[0]), people[0].person, request.cards)
        except NotAllowed as barred:
            return refused(403, barred)
        except PitboxError as refusal:
            return refused(409, refusal)
        return Said(200, {"ok": True})

    async def order(self, session: Session, page: str, body: bytes, place: Origin) -> Said:
        """Have a machine do what a technician orders; the answer comes when it has ended."""
        taken = await self._taken(acts.DEVICE, session, page, body, place)
        if isinstance(taken, Said):
            return taken
        request, people = taken
        who = _person(people[0])
        try:
            if request.slot in self._box.slots and request.call not in orders_of(self._box, request.slot):
                raise BadRequest(f"{request.slot} takes no order {request.call!r} now")
            result = await call(self._box, request.slot, request.call, dict(request.arguments), lambda: who)
        except NotAllowed as barred:
            return refused(403, barred)
        except PitboxError as refusal:
            return refused(409, refusal)
        return Said(200, {"ok": True, "text": f"{request.call.replace('_', ' ')}: done", "told": result})

    async def _taken(
        self, reader: msgspec.json.Decoder[Any], session: Session, page: str, body: bytes, place: Origin
    ) -> tuple[Any, tuple[Person, Person | None]] | Said:
        """Read a request, take it once, and return it with who stands for it; or what is wrong with it."""
        try:
            request = reader.decode(body)
        except UNDECODABLE as error:
            return Said(400, {"ok": False, "text": f"this is no request: {error}"})
        if not session.take(page, request.n):
            return Said(409, {"ok": False, "text": "this request was taken already"})
        people = await self._people(session, request, place)
        return people if isinstance(people, Said) else (request, people)

    async def _people(self, session: Session, request: acts.Act, place: Origin) -> tuple[Person, Person | None] | Said:
        """Return who stands for a request, each proved as it must be."""
        first: Person | Said = session.who
        if request.by is not None:
            first = await self.prove(request.by, place)
        elif session.who.role in acts.EACH_TIME or isinstance(request, acts.EACH_ACT):
            return Said(403, {"ok": False, "pin": True, "text": f"a {session.who.role}'s word needs the PIN each time"})
        elif not self._box.holds(_person(session.who), session.who.proof):
            text = f"the credential {session.who.id} was revoked, or has another PIN since; sign on anew"
            return refused(403, NotAllowed(text))
        if isinstance(first, Said):
            return first
        if not isinstance(request, acts.TWO_PEOPLE):
            return first, None
        if request.second is None:
            return refused(403, NotAllowed("this needs the credentials of two people"))
        second = await self.prove(request.second, place)
        if isinstance(second, Said):
            return second
        if first.same(second):
            return refused(403, NotAllowed("two credentials of one person are not two people"))
        return first, second

    async def _submit(self, request: acts.Request, who: Person, second: Person | None) -> Said:
        """Have the core decide. From the checks to the step nothing comes in between: only one of two panels is right.

        The other one's question is not open any more.
        """
        try:
            controller = self._running()
        except BoxLocked as locked:
            return refused(503, locked)
        allowed = acts.roles_for(request, controller.table.state.prompts)
        if not allowed:
            return Said(409, {"ok": False, "text": "this question is answered already, or has lost its cause"})
        if who.role not in allowed:
            return refused(403, NotAllowed(f"this is for the {' or the '.join(allowed)}; {who.id} is {who.role}"))
        event = acts.event_of(request, _person(who), None if second is None else _person(second))
        try:
            if self._box.presence is not None:
                self._box.presence.check(event)
        except NotAllowed as barred:
            return refused(403, barred)
        except PitboxError as refusal:
            return refused(409, refusal)
        step = self._live.expect(event)
        controller.submit(event)
        return await self._outcome(event, step)

    async def _outcome(self, event: ev.Event, step: asyncio.Future[Any]) -> Said:
        """Wait until the step is on disk, and say what it decided."""
        try:
            async with asyncio.timeout(PATIENCE):
                while not step.done():
                    await asyncio.wait({step}, timeout=0.5)
                    if not step.done() and self._box.cause is not None:
                        return refused(503, BoxLocked("the box locked before this was recorded"))
        except TimeoutError:
            return Said(504, {"ok": False, "text": "nobody knows yet whether this was recorded; look at the table"})
        finally:
            self._live.forget(event)
        if step.cancelled():
            return Said(503, {"ok": False, "text": "the panel stops; look at the table"})
        taken = step.result()
        refusal = next((decision for decision in taken.decisions if isinstance(decision, Refused)), None)
        if refusal is not None:
            reasons = [
                {"text": r.text, "clause": r.clause, "clears": r.clears, "evidence": r.evidence}
                for r in refusal.reasons
            ]
            return Said(409, {"ok": False, "seq": taken.seq, "text": refusal.what, "reasons": reasons})
        return Said(200, {"ok": True, "seq": taken.seq})

    def _running(self) -> Controller:
        controller, cause = self._box.controller, self._box.cause
        if controller is None or cause is not None:
            raise BoxLocked("the box has not started" if cause is None else f"{cause.code}: {cause}")
        return controller


def _person(who: Person) -> ev.Person:
    return who.speaker
