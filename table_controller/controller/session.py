"""One client's conversation with the box: who is signed on here, what is followed, and what each request does.

Whatever is said is said by somebody who signed on over this very connection.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.errors import BadRequest, BoxLocked, NotAllowed, PitboxError
from table_controller.controller import protocol as p
from table_controller.controller.change_people import change_people
from table_controller.controller.enroll import enroll
from table_controller.controller.service_calls import call
from table_controller.controller.status import status_of
from table_controller.controller.tap import without_cards
from table_controller.quota import Origin, Quota, Rank, Seat

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from table_controller.controller.box import Box
    from table_controller.controller.loop import Step
    from table_controller.people import Person
    from table_controller.table import events as ev

log = logging.getLogger(__name__)

# After so many wrong PINs a connection speaks for nobody; the people file's own waits are besides.
WRONG_PINS: Final = 5
# Requests of one connection that wait for something; more is a client that does not listen.
MAX_WAITING: Final = 64
# Clients that follow or trace: a panel, an uplink, a few screens of technicians. Without a credential, and of one user.
WATCHERS: Final = 24
UNPROVED_WATCHERS: Final = 12
USER_WATCHERS: Final = 8


def watcher_places() -> Quota:
    """Return the places for those who are sent what happens: few without a credential, and fewer of one user."""
    return Quota((UNPROVED_WATCHERS, WATCHERS, WATCHERS), (USER_WATCHERS, WATCHERS, WATCHERS))


class Session:
    """`told` and `following` say what this client is sent."""

    def __init__(self, box: Box, send: Callable[[Any], None], uid: int, watchers: Quota | None = None) -> None:
        """`watchers`: the places of all who are sent what happens; a client without a socket needs none of them."""
        self._box = box
        self._watchers = watcher_places() if watchers is None else watchers
        self._seat: Seat | None = None
        self._send = send
        self._uid = uid
        self.following = False
        self.told = False
        self._from = 0  # steps up to this one are in the state that the client was sent
        self._state: tuple[int, bytes] | None = None  # (request, state) that waits for its step to be on disk
        self._people: dict[str, ev.Person] = {}
        self._proved: dict[str, Person] = {}  # whose credential each is, for one person may have two; and by which PIN
        self._wrong = 0
        self._said: dict[int, tuple[int, ev.Event]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._traced: list[str] = []

    @property
    def idle(self) -> bool:
        """Nobody is signed on here, nothing is followed and nothing waits for an answer."""
        return not (self._people or self.following or self._traced or self._tasks or self._said)

    # --- requests -----------------------------------------------------------------------------------------------------

    def take(self, request: p.Request) -> None:
        """Carry out one request; what cannot be done is answered with an error and changes nothing."""
        try:
            match request:
                case p.AskStatus():
                    self._answer(request, status_of(self._box))
                case p.Follow():
                    self._follow(request)
                case p.SignOn():
                    self._later(request, self._sign_on(request))
                case p.SignOff():
                    self._sign_off(request)
                case p.Say():
                    self._say(request)
                case p.Device():
                    self._later(request, self._device(request))
                case p.Enroll():
                    self._later(request, self._enroll(request))
                case p.People():
                    self._later(request, self._change_people(request))
                case p.Trace():
                    self._trace(request)
                case p.Jam():
                    self._later(request, self._jam(request))
                case p.Mended():
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
            except Exception as bug:  # whoever asked is answered, whatever it is
                log.exception("a request failed")
                self._refuse(request, BadRequest(f"it could not be carried out: {bug!r}"))

        task = asyncio.get_running_loop().create_task(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- following ----------------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        """Take a place among those that are sent what happens; few are for clients that nobody is signed on at."""
        if self._seat is None:
            self._seat = self._watchers.admit(self._watcher())
        if self._seat is None:
            raise NotAllowed("as many clients follow this box as may without a credential: sign on first, or end one")

    def _watcher(self) -> Origin:
        name = f"user {self._uid}"
        return Origin(name, name, Rank.KNOWN if self._people else Rank.STRANGER)

    def _watch_as_signed_on(self) -> None:
        if self._seat is not None:
            self._watchers.promote(self._seat, self._watcher())

    def _follow(self, request: p.Follow) -> None:
        controller = self._box.running()
        self._watch()
        self.following, self.told, self._from = True, request.told, controller.newest
        self._state = (request.id, controller.table.snapshot())
        if controller.durable >= controller.newest:
            self._send_state()

    def _send_state(self) -> None:
        """Send the state that was asked for, now that it is on disk."""
        assert self._state is not None
        (request, state), self._state = self._state, None
        self._send({"id": request, "ok": {"seq": self._from, "state": state}})

    def wants(self, step: Step) -> bool:
        """Tell whether a step is sent to this client: not if the state that it got, or will get, contains it."""
        return self.following and step.seq > self._from

    def durable(self, step: Step) -> None:
        """A step is on disk: whoever said it is told what came of it."""
        if self._state is not None and step.seq >= self._from:
            self._send_state()
        said = self._said.pop(id(step.event), None)
        if said is not None:
            self._send({"id": said[0], "ok": {"seq": step.seq, "decisions": step.decisions}})

    def halted(self, cause: PitboxError) -> None:
        """Nothing goes on: whoever waits is told so."""
        refused = p.error_body(BoxLocked(f"{cause.code}: {cause}"))
        waiting = [request for request, _ in self._said.values()]
        if self._state is not None:
            waiting.append(self._state[0])
        self._state = None
        self._said.clear()
        for request in waiting:
            self._send({"id": request, "error": refused})

    # --- people -------------------------------------------------------------------------------------------------------

    async def _sign_on(self, request: p.SignOn) -> None:
        if self._wrong >= WRONG_PINS:
            raise NotAllowed(f"{WRONG_PINS} wrong PINs came over this connection; it speaks for nobody any more")
        try:
            found = await self._box.check_person(request.credential, request.pin, f"user {self._uid}")
        except PitboxError:
            self._wrong += 1
            raise
        self._box.running()
        assert self._box.presence is not None
        who = found.speaker
        self._people[who.credential] = who
        self._proved[who.credential] = found
        self._watch_as_signed_on()
        self._box.presence.signed_on(who, found.proof)
        self._answer(request, who)

    def _sign_off(self, request: p.SignOff) -> None:
        who = self._person(request.credential)  # one that was revoked is signed off by that
        self._forget(who)
        self._answer(request, who)

    def _forget(self, who: ev.Person) -> None:
        """Somebody speaks here no more."""
        del self._people[who.credential]
        if self._box.presence is not None:
            self._box.presence.signed_off(who, self._proved[who.credential].proof)

    def _person(self, credential: str | None) -> ev.Person:
        """Return who speaks: the one named, or the only one who is signed on here."""
        if credential is None and len(self._people) == 1:
            return self._valid(next(iter(self._people.values())))
        found = self._people.get(credential or "")
        if found is None:
            named = "nobody" if credential is None else credential
            here = ", ".join(self._people) or "nobody"
            raise NotAllowed(f"{named} is not signed on over this connection; {here} is")
        return self._valid(found)

    def _valid(self, who: ev.Person) -> ev.Person:
        """Return somebody whose credential was not revoked since they signed on, nor given another PIN."""
        if not self._box.holds(who, self._proved[who.credential].proof):
            self._forget(who)
            if self._box.holds(who):
                raise NotAllowed(f"the credential {who.credential} has another PIN since; sign on with that")
            raise NotAllowed(f"the credential {who.credential} was revoked; it speaks no more")
        return who

    def _two(self, first: str | None, second: str) -> tuple[ev.Person, ev.Person]:
        """Return two people who are signed on here, and who are two."""
        who, other = self._person(first), self._person(second)
        if self._proved[other.credential].same(self._proved[who.credential]):
            raise NotAllowed(f"{who.credential} and {other.credential} are one person; two are asked for")
        return who, other

    def _say(self, request: p.Say) -> None:
        controller = self._box.running()
        second = None if request.second is None else self._person(request.second)
        who = self._person(request.by) if request.second is None else self._two(request.by, request.second)[0]
        event = p.read_event(request.event, who, second)
        if self._box.presence is not None:
            self._box.presence.check(event)
        if len(self._said) >= MAX_WAITING:
            raise BadRequest(f"{MAX_WAITING} requests of this connection are not answered yet")
        self._said[id(event)] = (request.id, event)  # the event is kept, so that its id stays its own
        controller.submit(event)

    # --- machines -----------------------------------------------------------------------------------------------------

    async def _device(self, request: p.Device) -> None:
        told = await call(self._box, request.slot, request.call, request.arguments, lambda: self._person(request.by))
        self._answer(request, told)

    async def _enroll(self, request: p.Enroll) -> None:
        who, second = self._two(request.by, request.second)
        self._answer(request, await enroll(self._box, request.slot, request.file, who, second))

    async def _change_people(self, request: p.People) -> None:
        by = None
        if request.by is not None:
            by = self._proved[self._person(request.by).credential]
        self._answer(request, await change_people(self._box, request, by, self._uid))

    async def _jam(self, request: p.Jam) -> None:
        kept = self._box.dossiers
        if kept is None:
            raise BadRequest("this box keeps no dossiers")
        if request.step is None:
            await kept.ways.written()  # whoever asks may read the dossier's own file next
            self._answer(request, kept.ways.told(request.dossier))
            return
        who = self._person(request.by)
        person = self._proved[who.credential].person.casefold()  # as Person.same compares them
        self._answer(request, await kept.ways.step(request.dossier, request.step, who, person, request.cards))

    async def _mended(self, request: p.Mended) -> None:
        who = self._person(request.by)
        if self._box.wear is None:
            raise BadRequest("this box keeps no wear histories")
        await self._box.wear.mended_by(self._box.running(), request.serial, who)
        self._answer(request, {"serial": request.serial})

    def _trace(self, request: p.Trace) -> None:
        wanted = request.slots or list(self._box.taps)
        for name in wanted:
            if name not in self._box.taps:
                raise BadRequest(f"there is no slot {name}; there are: {', '.join(self._box.taps)}")
        self._watch()
        self._untrace()
        self._traced = wanted
        for name in wanted:
            self._box.taps[name].watchers.append(self._frame)
        self._answer(request, {"slots": wanted})

    def _frame(self, slot: str, outgoing: bool, signed: bytes, mac: bytes) -> None:
        signed, mac, why = without_cards(signed, mac)
        self._send(
            {"frame": {"slot": slot, "time_ns": self._box.clock.now()[0], "outgoing": outgoing, "signed": signed,
                       "mac": mac, "blanked": why}}
        )  # fmt: skip

    def _untrace(self) -> None:
        for name in self._traced:
            self._box.taps[name].watchers.remove(self._frame)
        self._traced = []

    def close(self) -> None:
        """The client is gone."""
        self._untrace()
        if self._seat is not None:
            self._watchers.release(self._seat)
        self.following = self.told = False
        self._said.clear()
        for task in self._tasks:
            task.cancel()
