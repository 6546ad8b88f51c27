"""The session of one client of the control socket: who is signed on, what it follows, and how requests are handled.

Every event is submitted by a person who signed on over this connection.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.errors import BadRequest, BoxLocked, NotAllowed, PitboxError
from table_controller.access import requests as p
from table_controller.access.credential_change import change_credential_by_request
from table_controller.host.quota import Admission, Origin, Quota, Rank
from table_controller.maintenance.enrollment import enroll
from table_controller.maintenance.frame_monitor import blank_cards
from table_controller.maintenance.service_calls import call_device

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from table_controller.access.people_file import CredentialHolder
    from table_controller.controller.box import Box
    from table_controller.controller.controller import DurableStep
    from table_controller.table import events as ev

log = logging.getLogger(__name__)

# After this many wrong PINs nobody can sign on over a connection; the credential itself is also blocked for some time.
MOST_WRONG_PINS: Final = 5
# The most unanswered requests of one connection.
MAX_WAITING: Final = 64
# The most clients that follow or trace: in all, without a signed-on person, and of one system user.
WATCHERS: Final = 24
ANONYMOUS_WATCHERS: Final = 12
USER_WATCHERS: Final = 8


def watcher_quota() -> Quota:
    """Return the quota of clients that follow the box: few without a signed-on person, fewer of one system user."""
    return Quota((ANONYMOUS_WATCHERS, WATCHERS, WATCHERS), (USER_WATCHERS, WATCHERS, WATCHERS))


class ClientSession:
    """`following`: this client gets every step; `told`: it also gets the events of devices."""

    def __init__(self, box: Box, send: Callable[[Any], None], uid: int, watchers: Quota | None = None) -> None:
        """`watchers`: the shared quota of clients that follow; a client without a socket has its own."""
        self._box = box
        self._watchers = watcher_quota() if watchers is None else watchers
        self._seat: Admission | None = None
        self._send = send
        self._uid = uid
        self.is_following = False
        self.follows_devices = False
        self._from = 0  # the state that the client got includes steps up to this one
        self._state: tuple[int, bytes] | None = None  # (request, state) waiting until its step is on disk
        self._people: dict[str, ev.Person] = {}
        self._proved: dict[str, CredentialHolder] = {}  # holder of each credential, with the proof of the PIN
        self._wrong = 0
        self._submitted: dict[int, tuple[int, ev.Event]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._traced: list[str] = []

    @property
    def is_idle(self) -> bool:
        """Whether nobody is signed on, nothing is followed and no request is open."""
        return not (self._people or self.is_following or self._traced or self._tasks or self._submitted)

    # --- requests -----------------------------------------------------------------------------------------------------

    def handle(self, request: p.Request) -> None:
        """Handle one request; a refused request gets an error and changes nothing."""
        try:
            match request:
                case p.StatusRequest():
                    self._answer(request, self._box.pictures.box())
                case p.FollowRequest():
                    self._follow(request)
                case p.SignOnRequest():
                    self._later(request, self._sign_on(request))
                case p.SignOffRequest():
                    self._sign_off(request)
                case p.SubmitRequest():
                    self._submit(request)
                case p.DeviceRequest():
                    self._later(request, self._device(request))
                case p.EnrollRequest():
                    self._later(request, self._enroll(request))
                case p.PeopleRequest():
                    self._later(request, self._change_people(request))
                case p.TraceRequest():
                    self._trace(request)
                case p.FaultRequest():
                    self._later(request, self._jam(request))
                case p.WearResetRequest():
                    self._later(request, self._mended(request))
        except PitboxError as error:
            self._refuse(request, error)

    def _answer(self, request: p.Request, what: Any) -> None:
        self._send({"id": request.id, "ok": what})

    def _refuse(self, request: p.Request, error: PitboxError) -> None:
        self._send({"id": request.id, "error": p.error_body(error)})

    def _later(self, request: p.Request, work: Coroutine[Any, Any, None]) -> None:
        if len(self._tasks) >= MAX_WAITING:
            work.close()
            raise BadRequest(f"{MAX_WAITING} requests of this connection are not answered yet")

        async def guarded() -> None:
            try:
                await work
            except PitboxError as error:
                self._refuse(request, error)
            except Exception as bug:  # the client must get an answer
                log.exception("a request failed")
                self._refuse(request, BadRequest(f"the request failed: {bug!r}"))

        task = asyncio.get_running_loop().create_task(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- following ----------------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        """Take a place in the quota of clients that follow."""
        if self._seat is None:
            self._seat = self._watchers.admit(self._watcher())
        if self._seat is None:
            raise NotAllowed("too many clients follow this box without a signed-on person: sign on first, or end one")

    def _watcher(self) -> Origin:
        name = f"user {self._uid}"
        return Origin(name, name, Rank.KNOWN if self._people else Rank.STRANGER)

    def _watch_as_signed_on(self) -> None:
        if self._seat is not None:
            self._watchers.promote(self._seat, self._watcher())

    def _follow(self, request: p.FollowRequest) -> None:
        controller = self._box.running_controller()
        self._watch()
        self.is_following, self.follows_devices, self._from = True, request.device_events, controller.newest_seq
        self._state = (request.id, controller.table.snapshot())
        if controller.durable_seq >= controller.newest_seq:
            self._send_state()

    def _send_state(self) -> None:
        """Send the requested state, which is now on disk."""
        assert self._state is not None
        (request, state), self._state = self._state, None
        self._send({"id": request, "ok": {"seq": self._from, "state": state}})

    def is_sent(self, step: DurableStep) -> bool:
        """Return whether this client gets a step: not if the state that it got, or will get, includes it."""
        return self.is_following and step.seq > self._from

    def on_durable(self, step: DurableStep) -> None:
        """Answer the request whose step is now on disk."""
        if self._state is not None and step.seq >= self._from:
            self._send_state()
        request = self._submitted.pop(id(step.event), None)
        if request is not None:
            self._send({"id": request[0], "ok": {"seq": step.seq, "decisions": step.decisions}})

    def on_halted(self, cause: PitboxError) -> None:
        """Answer every open request with the cause of the halt."""
        refused = p.error_body(BoxLocked(f"{cause.code}: {cause}"))
        waiting = [request for request, _ in self._submitted.values()]
        if self._state is not None:
            waiting.append(self._state[0])
        self._state = None
        self._submitted.clear()
        for request in waiting:
            self._send({"id": request, "error": refused})

    # --- people -------------------------------------------------------------------------------------------------------

    async def _sign_on(self, request: p.SignOnRequest) -> None:
        if self._wrong >= MOST_WRONG_PINS:
            raise NotAllowed(
                f"{MOST_WRONG_PINS} wrong PINs came over this connection; nobody can sign on here any more"
            )
        try:
            holder = await self._box.check_person(request.credential, request.pin, f"user {self._uid}")
        except PitboxError:
            self._wrong += 1
            raise
        self._box.running_controller()
        assert self._box.presence is not None
        who = holder.event_person
        self._people[who.credential] = who
        self._proved[who.credential] = holder
        self._watch_as_signed_on()
        self._box.presence.sign_on(who, holder.proof)
        self._answer(request, who)

    def _sign_off(self, request: p.SignOffRequest) -> None:
        who = self._person(request.credential)  # a revoked credential is signed off here
        self._forget(who)
        self._answer(request, who)

    def _forget(self, who: ev.Person) -> None:
        """End the sign-on of a person on this connection."""
        del self._people[who.credential]
        if self._box.presence is not None:
            self._box.presence.sign_off(who, self._proved[who.credential].proof)

    def _person(self, credential: str | None) -> ev.Person:
        """Return the named person, or the only one who is signed on over this connection."""
        if credential is None and len(self._people) == 1:
            return self._valid(next(iter(self._people.values())))
        person = self._people.get(credential or "")
        if person is None:
            named = "nobody" if credential is None else credential
            here = ", ".join(self._people) or "nobody"
            raise NotAllowed(f"{named} is not signed on over this connection; signed on: {here}")
        return self._valid(person)

    def _valid(self, who: ev.Person) -> ev.Person:
        """Return a person whose credential is still valid: not revoked and with the same PIN."""
        if not self._box.is_credential_valid(who, self._proved[who.credential].proof):
            self._forget(who)
            if self._box.is_credential_valid(who):
                raise NotAllowed(f"the credential {who.credential} has a new PIN: sign on with the new PIN")
            raise NotAllowed(f"the credential {who.credential} was revoked")
        return who

    def _two(self, first: str | None, second: str) -> tuple[ev.Person, ev.Person]:
        """Return two different people who are signed on over this connection."""
        who, other = self._person(first), self._person(second)
        if self._proved[other.credential].is_same_person(self._proved[who.credential]):
            raise NotAllowed(f"{who.credential} and {other.credential} belong to one person; two people are required")
        return who, other

    def _submit(self, request: p.SubmitRequest) -> None:
        controller = self._box.running_controller()
        second = None if request.second is None else self._person(request.second)
        who = self._person(request.by) if request.second is None else self._two(request.by, request.second)[0]
        event = p.read_event(request.event, who, second)
        if self._box.presence is not None:
            self._box.presence.check_dealer(event)
        if len(self._submitted) >= MAX_WAITING:
            raise BadRequest(f"{MAX_WAITING} requests of this connection are not answered yet")
        self._submitted[id(event)] = (request.id, event)  # keeps the event alive, so that its id() stays unique
        controller.submit(event)

    # --- machines -----------------------------------------------------------------------------------------------------

    async def _device(self, request: p.DeviceRequest) -> None:
        answer = await call_device(
            self._box, request.slot, request.call, request.arguments, lambda: self._person(request.by)
        )
        self._answer(request, answer)

    async def _enroll(self, request: p.EnrollRequest) -> None:
        who, second = self._two(request.by, request.second)
        self._answer(request, await enroll(self._box, request.slot, request.file, who, second))

    async def _change_people(self, request: p.PeopleRequest) -> None:
        by = None
        if request.by is not None:
            by = self._proved[self._person(request.by).credential]
        self._answer(request, await change_credential_by_request(self._box, request, by, self._uid))

    async def _jam(self, request: p.FaultRequest) -> None:
        kept = self._box.fault_reports
        if kept is None:
            raise BadRequest("this box keeps no fault reports")
        if request.step is None:
            await kept.returns.wait_until_written()  # the client may read the file of the report next
            self._answer(request, kept.returns.progress(request.fault_report))
            return
        who = self._person(request.by)
        person = self._proved[who.credential].person.casefold()  # as Person.same compares them
        self._answer(
            request, await kept.returns.complete_step(request.fault_report, request.step, who, person, request.cards)
        )

    async def _mended(self, request: p.WearResetRequest) -> None:
        who = self._person(request.by)
        if self._box.wear is None:
            raise BadRequest("this box keeps no wear histories")
        await self._box.wear.reset_by(self._box.running_controller(), request.serial, who)
        self._answer(request, {"serial": request.serial})

    def _trace(self, request: p.TraceRequest) -> None:
        slots = request.slots or list(self._box.frame_monitors)
        for name in slots:
            if name not in self._box.frame_monitors:
                raise BadRequest(f"there is no slot {name}; slots: {', '.join(self._box.frame_monitors)}")
        self._watch()
        self._untrace()
        self._traced = slots
        for name in slots:
            self._box.frame_monitors[name].watchers.append(self._frame)
        self._answer(request, {"slots": slots})

    def _frame(self, slot: str, outgoing: bool, signed: bytes, mac: bytes) -> None:
        signed, mac, why = blank_cards(signed, mac)
        self._send(
            {"frame": {"slot": slot, "time_ns": self._box.clock.now()[0], "outgoing": outgoing, "signed": signed,
                       "mac": mac, "blanked": why}}
        )  # fmt: skip

    def _untrace(self) -> None:
        for name in self._traced:
            self._box.frame_monitors[name].watchers.remove(self._frame)
        self._traced = []

    def close(self) -> None:
        """End the session, because the client is gone."""
        self._untrace()
        if self._seat is not None:
            self._watchers.release(self._seat)
        self.is_following = self.follows_devices = False
        self._submitted.clear()
        for task in self._tasks:
            task.cancel()
