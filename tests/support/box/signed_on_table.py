"""A simulated table in virtual time at whose box people sign on: they send lines of the control socket."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from firmware_bridge.errors import CredentialRefused
from simulators.casino.power import NoCredentials
from simulators.casino.remote_table import REQUEST_OF
from simulators.casino.table import MAKER, CasinoTable
from simulators.casino.table_layout import BENCH_PEOPLE, BENCH_PIN
from simulators.casino.technician import DEALER
from simulators.world.cards import DECK_53, SIX_DECKS
from simulators.world.table import TRAY
from table_controller.access.people_file import CredentialHolder
from table_controller.access.request_json import encode_line, read_line
from table_controller.access.session import ClientSession
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import RequestRefused

if TYPE_CHECKING:
    from table_controller.host.quota import Origin
    from table_controller.table.decisions import Decision

_SIGNERS = {"who": "by", "second": "second"}


class BenchCredentials(NoCredentials):
    """The people of a bench with their PIN, without the cost of a hash."""

    def check(self, id_: str, pin: str, _place: Origin | str = "") -> CredentialHolder:
        """Return the holder of a credential with the bench PIN."""
        role: Any = BENCH_PEOPLE.get(id_)
        if role is None or pin != BENCH_PIN:
            raise CredentialRefused(f"{id_}: wrong credential or PIN")
        return CredentialHolder(id=id_, person=id_, role=role)


class Reply(NamedTuple):
    """What the box answered: the decisions of the step, or why it refused the request."""

    decisions: tuple[Decision, ...]
    refused: str


class ControlDesk:
    """A connection to the control socket over which all people of the bench are signed on."""

    def __init__(self, casino: SignedOnTable) -> None:
        self._session = ClientSession(casino.box, self._receive, uid=0)
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}

    @property
    def is_waiting(self) -> bool:
        """Whether a request is not answered."""
        return bool(self._waiting)

    async def sign_on(self) -> None:
        """Sign everybody on."""
        for credential in BENCH_PEOPLE:
            reply = await self._request({"do": "sign_on", "credential": credential, "pin": BENCH_PIN})
            assert "ok" in reply, reply

    async def send(self, event: ev.Event) -> Reply:
        """Send the request for an event as a line; return the answer once it is on disk."""
        fields: dict[str, Any] = {}
        for name in event.__struct_fields__:
            value = getattr(event, name)
            if name in _SIGNERS:
                fields[_SIGNERS[name]] = value.credential
            elif value not in (None, "", ()):
                fields[name] = value
        reply = await self._request({"do": REQUEST_OF[type(event)], **fields})
        if "error" in reply:
            return Reply((), reply["error"]["text"])
        decisions = tuple(reply["ok"]["decisions"])
        refused = [f"{each.what} {[reason.text for reason in each.reasons]}" for each in decisions
                   if isinstance(each, RequestRefused)]  # fmt: skip
        return Reply(decisions, "; ".join(refused))

    async def _request(self, fields: dict[str, Any]) -> dict[str, Any]:
        number = next(self._numbers)
        reply: dict[str, Any] = {}
        answered = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._session.handle(read_line(encode_line({"id": number, **fields})))
        try:
            reply = await answered
        finally:
            del self._waiting[number]
        return reply

    def _receive(self, message: dict[str, Any]) -> None:
        waiting = self._waiting.get(message.get("id", 0))
        if waiting is not None and not waiting.done():
            waiting.set_result(message)


class SignedOnTable(CasinoTable):
    """A table whose people send requests; a request is refused or on disk before they go on."""

    def __init__(self, game: str, **options: Any) -> None:
        super().__init__(game, credentials=BenchCredentials(), **options)
        self.desk = ControlDesk(self)

    def is_answer_pending(self) -> bool:
        """Return whether a request is not answered."""
        return self.desk.is_waiting

    async def open(self, *decks: str) -> None:
        """Sign everybody on, connect every machine, and bring decks."""
        await self.desk.sign_on()
        await super().open(*decks)

    async def bring_deck(self, back: str) -> None:
        """Bring a new deck, which is opened and shuffled."""
        self.world.make_deck(TRAY, back, DECK_53 if self.edition.cards.decks == 1 else SIX_DECKS)
        await self._accepted(ev.DeckReceived(back, DEALER, maker=MAKER))
        await self.until_quiescent()

    async def round(self, bets: tuple[int, ...] = ()) -> None:
        """Play one round from open to idle."""
        await self._accepted(ev.OpenRound(DEALER))
        await self.until(lambda: not self.is_opening_bets())
        for seat in bets:
            if not self.chips.at(f"bet_sensor.{seat}/spot"):
                self.machines[f"bet_sensor.{seat}"].inject("place_bet")
        await self.wait(1.0)
        await self.before_no_more_bets()
        if self.controller.table.state.round.state == mc.BETTING:
            await self._accepted(ev.NoMoreBets(DEALER))
        await self.until_quiescent()

    async def before_no_more_bets(self) -> None:
        """Do what the dealer does while bets are open."""

    async def _accepted(self, event: ev.Event) -> None:
        reply = await self.desk.send(event)
        assert not reply.refused, reply.refused
