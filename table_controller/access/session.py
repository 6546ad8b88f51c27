"""The session of one client of the control socket: who is signed on, and what it follows.

`request_handler` carries out the requests that people sign. Every signer signed on over this connection.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.errors import BadRequest, BoxLocked, NotAllowed, PitboxError
from table_controller.access import requests as r
from table_controller.access.credential_change import change_credential_by_request
from table_controller.access.request_handler import Signers, check_signed_on, handle_request
from table_controller.access.request_json import error_body
from table_controller.host.quota import Admission, Origin, Quota, Rank
from table_controller.maintenance.frame_monitor import blank_cards

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from table_controller.access.people_file import CredentialHolder
    from table_controller.access.request_json import LineEnvelope, ReceivedRequest
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
    """One client. If `is_following`, it gets every step; if `follows_devices`, also the events of devices."""

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
        self._people: dict[str, CredentialHolder] = {}  # who is signed on, with the proof of the PIN
        self._wrong = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._traced: list[str] = []

    @property
    def is_idle(self) -> bool:
        """Whether nobody is signed on, nothing is followed and no request is open."""
        return not (self._people or self.is_following or self._traced or self._tasks)

    # --- requests -----------------------------------------------------------------------------------------------------

    def handle(self, received: ReceivedRequest[LineEnvelope, r.AnyRequest]) -> None:
        """Handle one request; a refused request gets an error and changes nothing."""
        envelope, request = received
        try:
            match request:
                case r.StatusRequest():
                    self._answer(envelope.id, self._box.pictures.box())
                case r.FollowRequest():
                    self._follow(envelope.id, request)
                case r.TraceRequest():
                    self._answer(envelope.id, self._trace(request))
                case r.SignOffRequest():
                    self._answer(envelope.id, self._sign_off(request))
                case r.SignOnRequest():
                    self._later(envelope.id, self._sign_on(request))
                case r.PeopleRequest():
                    self._later(envelope.id, self._change_people(request, envelope.by))
                case signed:
                    self._later(envelope.id, self._handle_signed(signed, envelope))
        except PitboxError as error:
            self._refuse(envelope.id, error)

    async def _handle_signed(self, request: r.HandledRequest, envelope: LineEnvelope) -> Any:
        """Carry out a request that people sign; return its answer."""
        by, second = envelope.by, envelope.second
        signers = Signers(lambda: self._holder(by), None if second is None else lambda: self._holder(second))
        done = await handle_request(self._box, request, signers)
        return done if done is None or isinstance(done, dict) else {"seq": done.seq, "decisions": done.decisions}

    def _answer(self, number: int, what: Any) -> None:
        self._send({"id": number, "ok": what})

    def _refuse(self, number: int, error: PitboxError) -> None:
        self._send({"id": number, "error": error_body(error)})

    def _later(self, number: int, work: Coroutine[Any, Any, Any]) -> None:
        if len(self._tasks) >= MAX_WAITING:
            work.close()
            raise BadRequest(f"{MAX_WAITING} requests of this connection are not answered yet")

        async def guarded() -> None:
            try:
                self._answer(number, await work)
            except PitboxError as error:
                self._refuse(number, error)
            except Exception as bug:  # the client must get an answer
                log.exception("a request failed")
                self._refuse(number, BadRequest(f"the request failed: {bug!r}"))

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

    def _follow(self, number: int, request: r.FollowRequest) -> None:
        controller = self._box.running_controller()
        self._watch()
        self.is_following, self.follows_devices, self._from = True, request.device_events, controller.newest_seq
        self._state = (number, controller.table.snapshot())
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
        """Send the requested state, if this step completes it."""
        if self._state is not None and step.seq >= self._from:
            self._send_state()

    def on_halted(self, cause: PitboxError) -> None:
        """Refuse the requested state with the cause of the halt."""
        if self._state is not None:
            (number, _), self._state = self._state, None
            self._refuse(number, BoxLocked(f"{cause.code}: {cause}"))

    # --- people -------------------------------------------------------------------------------------------------------

    async def _sign_on(self, request: r.SignOnRequest) -> ev.Person:
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
        self._people[holder.id] = holder
        self._watch_as_signed_on()
        self._box.presence.sign_on(holder.event_person, holder.proof)
        return holder.event_person

    def _sign_off(self, request: r.SignOffRequest) -> ev.Person:
        holder = self._holder(request.credential)  # a revoked credential is signed off here
        self._forget(holder)
        return holder.event_person

    def _forget(self, holder: CredentialHolder) -> None:
        """End the sign-on of a person on this connection."""
        del self._people[holder.id]
        if self._box.presence is not None:
            self._box.presence.sign_off(holder.event_person, holder.proof)

    def _holder(self, credential: str | None) -> CredentialHolder:
        """Return the named person, or the only one who is signed on over this connection."""
        if credential is None and len(self._people) == 1:
            return self._valid(next(iter(self._people.values())))
        holder = self._people.get(credential or "")
        if holder is None:
            named = "nobody" if credential is None else credential
            here = ", ".join(self._people) or "nobody"
            raise NotAllowed(f"{named} is not signed on over this connection; signed on: {here}")
        return self._valid(holder)

    def _valid(self, holder: CredentialHolder) -> CredentialHolder:
        """Return a person whose credential is still valid; end the sign-on of any other."""
        try:
            check_signed_on(self._box, holder)
        except NotAllowed:
            self._forget(holder)
            raise
        return holder

    async def _change_people(self, request: r.PeopleRequest, by: str | None) -> dict[str, Any]:
        """Change a credential. While nobody can sign, the system user of this connection has the right to do it."""
        signer = None if by is None else self._holder(by)
        return await change_credential_by_request(self._box, request, signer, self._uid)

    # --- frames -------------------------------------------------------------------------------------------------------

    def _trace(self, request: r.TraceRequest) -> dict[str, Any]:
        slots = list(dict.fromkeys(request.slots or self._box.frame_monitors))  # each frame is sent once
        for name in slots:
            if name not in self._box.frame_monitors:
                raise BadRequest(f"there is no slot {name}; slots: {', '.join(self._box.frame_monitors)}")
        self._watch()
        self._untrace()
        self._traced = slots
        for name in slots:
            self._box.frame_monitors[name].watchers.append(self._frame)
        return {"slots": slots}

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
        for task in self._tasks:
            task.cancel()
