"""Drawn requests about known cards at the shipped box, with power cuts: it never locks, and recovers what it knew."""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pytest

from firmware_bridge.errors import BadRequest, NotAllowed, PitboxError, QuestionClosed
from simulators.casino.dealer import SimulatedPeople
from simulators.casino.disk import Disk
from simulators.casino.table import CasinoTable
from table_controller.access.people_file import CredentialHolder
from table_controller.access.request_handler import Signers, handle_request
from table_controller.access.request_json import read_line
from table_controller.access.request_rules import RULES
from table_controller.journal.records import STEP, decode_step
from table_controller.rulebook.registry import GAMES
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.core import Table
from table_controller.table.decisions import Prompt, WagerSettled
from table_controller.uplink.state_messages import describe_meters, describe_state
from tests.support.core.card_entries import CardEntries
from tests.support.suite.case_counts import draw_seeds
from tests.unit.test_known_cards_search import TABLES

if TYPE_CHECKING:
    from table_controller.table.decisions import Decision

_ROLES: Final[dict[str, Any]] = {"dealer-1": "dealer", "floor-1": "floorperson", "tech-1": "technician"}
_REQUESTS: Final = {rule.event: request.name() for request, rule in RULES.items() if rule.event is not None}
# Values that no field should fall over.
_ODD: Final[tuple[Any, ...]] = (
    None, -1, 0, 7, 2**53, 2**70, 1.5, True, "", "\u202e", "\U0001f0a1" * 16, "x" * 65, [], [1] * 7, {"a": 1},
)  # fmt: skip
# Two cards in their notation: what a retained message never has.
_CARDS: Final = re.compile(rb"\b[2-9TJQKA][cdhs] [2-9TJQKA][cdhs]\b")
# What the dealer does at the card pad, where requests come at any time.
_AT_THE_PAD: Final = ("settled", "side_settled", "dealer_set", "reveal", "hands_set", "disputed", "side_disputed")


# The most acts of a round before people finish it.
_LONGEST: Final = 150


class PadPeople(SimulatedPeople):
    """People who leave the questions of the card pad to the test, until they finish the round."""

    finishes = False

    def see_decision(self, decision: Decision) -> None:
        """React to every decision but those of the card pad."""
        if self.finishes or not isinstance(decision, Prompt) or decision.kind not in _AT_THE_PAD:
            super().see_decision(decision)


class CardPad:
    """Sends drawn requests to the box of a table."""

    def __init__(self, name: str, seed: int) -> None:
        game, choices = TABLES[name]
        self.rng = random.Random(f"{name} {seed}")
        self.house = CasinoTable(
            game, seed=seed, disk=Disk(seed), choices=choices, people=PadPeople,
            snapshot_every=self.rng.choice((3, 40, 1000)),
        )  # fmt: skip
        self.entries = CardEntries(self.rng, self.house.edition, lambda: self.house.controller.table.state)
        self.seen: Counter[str] = Counter()

    async def send(self, event: ev.Event, who: str = "dealer-1") -> None:
        """Send the request of an event, through the same reader as the control socket's lines."""
        fields = msgspec.to_builtins(event)
        del fields["who"], fields["type"]
        if self.rng.random() < 0.08:
            fields[self.rng.choice(list(fields) or ["more"])] = self.rng.choice(_ODD)
        line = msgspec.json.encode({"do": _REQUESTS[type(event)], "id": 1, **fields})
        holder = CredentialHolder(id=who, person=who, role=_ROLES[who])
        try:
            request = read_line(line).request
            await handle_request(self.house.box, request, Signers(lambda: holder))  # type: ignore[arg-type]
        except (BadRequest, NotAllowed, QuestionClosed) as refused:
            self.seen[type(refused).__name__] += 1
        except PitboxError as error:
            raise AssertionError(f"{error!r} after {line!r}") from error
        self.check()

    def check(self) -> None:
        """The box runs, and knows no card that the procedure has not exposed."""
        assert self.house.box.cause is None, self.house.box.cause
        state = self.house.controller.table.state
        face_up = self.house.edition.hand.dealer_face_up and state.round.state == mc.PLAYING
        if state.round.state in (mc.BETTING, mc.NO_MORE_BETS, mc.DEALING, mc.PLAYING):
            assert set(state.round.hands) <= ({0} if face_up else set())
        picture = self.house.picture()
        for place in picture.places:
            assert bool(place.hand) == (place.place in state.round.hands)
        public = msgspec.json.encode((describe_state(picture, None, ""), describe_meters(picture, "")))
        assert not _CARDS.search(public), public

    async def play_round(self) -> None:
        """Play a round with drawn requests at any time; then people finish it."""
        house, rng = self.house, self.rng
        people = house.people
        assert isinstance(people, PadPeople)
        people.finishes = False
        house.seats = tuple(sorted(rng.sample(range(1, 7), rng.randint(1, 4))))
        await self.send(ev.OpenRound(_DEALER))
        await house.wait(2.0)
        for _ in range(4):
            await self._act()
        await self.send(ev.NoMoreBets(_DEALER))
        for _ in range(_LONGEST):
            state = house.controller.table.state
            if state.round.state == mc.IDLE or self.seen["answers"] > 25:
                break
            is_at_pad = any(each.kind in _AT_THE_PAD for each in state.prompts.values())
            await house.wait(rng.choice((0.0, 0.3)) if is_at_pad else 2.0)
            if is_at_pad or rng.random() < 0.1:
                await self._act()
        del self.seen["answers"]
        people.finishes = True
        people.look_at_screen()
        await house.until_quiescent()
        self.check()

    async def _act(self) -> None:
        rng, chance = self.rng, self.rng.random()
        if chance < 0.02:
            await self._cut_power()
        elif chance < 0.25:
            state = self.house.controller.table.state
            asked = [each for each in state.prompts.values() if each.kind in _AT_THE_PAD]
            for prompt in asked[:1]:
                self.seen["answers"] += 1
                if prompt.kind == "settled" and not prompt.proposals and rng.random() < 0.9:
                    for event in self.entries.true_entries():
                        await self.send(event)
                    return
                who = "dealer-1" if prompt.role == "dealer" else "floor-1"
                await self.send(ev.Answer(prompt.id, rng.choice(prompt.choices), _DEALER), who)
        elif chance < 0.4:
            for event in self.entries.true_entries():
                await self.send(event)
        else:
            await self.send(self.entries.draw(), rng.choice((*["dealer-1"] * 8, "floor-1", "tech-1")))

    async def _cut_power(self) -> None:
        """Have the power go, and compare what the next box recovers with what this one knew."""
        before = msgspec.to_builtins(self.house.controller.table.state.round.hands)
        amounts = self.house.controller.table.state.round.amounts
        self.house.disk.cut()
        await self.house.power_up()
        round_ = self.house.controller.table.state.round
        assert msgspec.to_builtins(round_.hands) == before
        assert round_.amounts == amounts
        self.seen["cuts"] += 1
        self.check()

    def check_journal(self) -> None:
        """The chain is whole, each wager was settled once, and a new table replays to the same state."""
        house = self.house
        assert house.box.store is not None
        assert house.box.store.verify().ok
        kinds: Any = {slot: machine.kind for slot, machine in house.machines.items()}
        table = Table(house.edition, house.submission, kinds)
        settled: set[Any] = set()
        for record in house.disk.records:
            if record.kind == STEP:
                step = decode_step(record.body)
                before = list(table.state.round.settled)
                assert table.step(step.event) == step.decisions
                again = set(before) - set(table.state.round.settled) if table.state.round.state != mc.IDLE else ()
                settled = {each for each in settled if each[1] not in again}
                for each in step.decisions:
                    if isinstance(each, WagerSettled) and each.result.wager != "progressive":
                        key = (each.round, each.seat, each.result.wager, each.result.envy_of)
                        assert key not in settled, f"{key} is settled twice"
                        settled.add(key)
        assert table.snapshot() == house.controller.table.snapshot()
        self.seen["settled"] += len(settled)


_DEALER: Final = ev.Person("dealer", "dealer-1")


async def search(name: str, seed: int, rounds: int) -> Counter[str]:
    """Play so many rounds with drawn requests; return what was seen."""
    pad = CardPad(name, seed)
    try:
        await pad.house.open("blue", "red")
        for _ in range(rounds):
            await pad.play_round()
        pad.check_journal()
    finally:
        await pad.house.close()
    return pad.seen


@pytest.mark.parametrize("name", TABLES)
async def test_no_request_about_cards_locks_a_box(name: str) -> None:
    await search(name, 1, 2)


@pytest.mark.proof
@pytest.mark.parametrize("name", TABLES)
async def test_no_request_about_cards_locks_a_box_on_many_days(name: str) -> None:
    seen = Counter[str]()
    for seed in draw_seeds(100, 3):
        seen += await search(name, seed, 4)
    assert seen["cuts"]
    assert seen["settled"]


def test_every_game_is_searched() -> None:
    assert {game for game, _ in TABLES.values()} == set(GAMES)
