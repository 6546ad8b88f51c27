"""Nothing that a box records, logs, publishes or shows depends on a card before that card is exposed.

Rounds are played twice with an identifying shoe, and only the faces of some cards differ. Cards that nobody exposes,
and the order of the cards within a hand, leave every output the same, byte for byte. A card that is exposed later
changes nothing before the release of its hand.
"""

from __future__ import annotations

import logging
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import pytest

from firmware_bridge.frame import HEADER_SIZE
from simulators.casino.dealer import SimulatedPeople
from simulators.casino.table import CasinoTable
from simulators.casino.table_layout import identifying_shoe
from simulators.engine.virtual_time import run_virtual
from table_controller.access.event_json import event_to_json
from table_controller.maintenance.frame_monitor import blank_cards
from table_controller.panel.view import table_view
from table_controller.table import events as ev
from table_controller.table.dealing import deal_order
from table_controller.uplink.event_mapping import map_step
from table_controller.uplink.state_messages import describe_state
from tests.support.wire.seeded_host import seed_the_host

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.controller.controller import DurableStep
    from table_controller.table.decisions import Prompt

ROUNDS: Final = 2
GAVE_UP: Final = 4  # the seat that surrenders or folds, where the game has that
NOBODY_GIVES_UP: Final = "saigon_5_card"
MANUAL: Final = ({"dealing": "manual_shoe"}, {"shoe.1": "shoe-manual-identifying"})
DEALT: Final[list[Any]] = [
    pytest.param(game, *how, id=f"{game}-{name}")
    for game in ("asia_poker", "saigon_5_card", "dj_wild", "face_up_pai_gow")
    for name, how in (("automated", ({}, {"shoe.1": "shoe-identifying"})), ("manual", MANUAL))
] + [pytest.param("over_under", {}, identifying_shoe("over_under"), id="over_under-shoe")]


@pytest.fixture(autouse=True)
def _same_challenges(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host's challenges are the only bytes that no seed decides."""
    seed_the_host(monkeypatch)


class Output(NamedTuple):
    """Something that left the core, in the order of time: where, and its bytes."""

    where: str
    data: bytes


class OneGivesUp(SimulatedPeople):
    """One player surrenders or folds; the others play."""

    def choose(self, prompt: Prompt) -> str:
        gives_up = ("surrendered", "surrender", "fold")
        if prompt.seat == GAVE_UP and prompt.kind in ("own_reveal", "decide"):
            return next(choice for choice in prompt.choices if choice in gives_up)
        return super().choose(prompt)


class ArrangedTable:
    """A table whose shoe gets its cards in an order that `change` may alter, and everything that its box puts out."""

    def __init__(self, game: str, seed: int, choices: dict[str, Any], models: dict[str, str]) -> None:
        self.casino = CasinoTable(game, seed=seed, choices=choices, models=models, people=OneGivesUp)
        self.outputs: list[Output] = []
        self.change: Callable[[dict[int | None, list[int]], list[int]], None] = lambda *_: None
        self._game, self._shuffles = game, 0
        casino = self.casino
        casino.controller.followers.append(self._follow)
        casino.box.on_device_event.append(lambda slot, event: self._put(f"event of {slot}", event_to_json(event)))
        shoe: Any = casino.machines["shoe.1"]
        self._load, shoe.inject = shoe.inject, self._inject

    def _put(self, where: str, what: Any) -> None:
        self.outputs.append(Output(where, msgspec.json.encode(what, enc_hook=str)))

    def _follow(self, step: DurableStep) -> None:
        released = " of cards" * isinstance(step.event, ev.HandReleased)
        self._put(f"journal{released}", [step.seq, step.event, step.decisions, step.head.hex()])
        picture = self.casino.picture()
        self._put("picture", picture)
        for role in ("dealer", "floorperson", "technician", "auditor"):
            self._put("page", table_view(picture, role, {}))
        self._put("state over MQTT", describe_state(picture, None, "now"))
        self._put("items over MQTT", map_step(step.event, step.decisions, picture.round.number).items)
        starts = self.casino.edition.starts
        if starts and any(getattr(each, "kind", "") == "announce" for each in step.decisions):
            self._arrange()

    def _inject(self, fault: str) -> str:
        result: str = self._load(fault)
        if fault == "load" and not self.casino.edition.starts:
            self._arrange()
        return result

    def watch_frames(self) -> None:
        """Record every frame as a capture has it."""
        for monitor in self.casino.box.frame_monitors.values():
            monitor.watchers.append(self._frame)

    def _frame(self, slot: str, outgoing: bool, signed: bytes, mac: bytes) -> None:
        blank, _, why = blank_cards(signed, mac)
        where = f"capture of {slot}{' of cards' * bool(why)}"
        self.outputs.append(Output(where, bytes([outgoing]) + blank[HEADER_SIZE:]))

    # --- the cards ------------------------------------------------------------------------------------------------

    def _arrange(self) -> None:
        """Give the cards in the shoe new faces: drawn by seed, then changed."""
        world = self.casino.world
        inside = [card for place in world.census() if place.startswith("shoe.1/") for card in reversed(world.at(place))]
        cards = [card for card in inside if card.face >= 0]
        faces = sorted(card.face for card in cards)
        self._shuffles += 1
        Random(f"{self._game} {self._shuffles}").shuffle(faces)
        self.change(self._places(len(cards)), faces)
        for card, face in zip(cards, faces, strict=True):
            world._cards[card.id] = msgspec.structs.replace(card, face=face)

    def _places(self, count: int) -> dict[int | None, list[int]]:
        """Return the positions (as drawn) of the cards of each place that is exposed; None: all others."""
        hand, seats = self.casino.edition.hand, self.casino.seats
        places: dict[int, list[int]] = {}
        if hand.second_deal:  # after the burned card, each round has a first card for each seat, then two more
            for first in range(1, 1 + ROUNDS * hand.cards * len(seats), hand.cards * len(seats)):
                for at, seat in enumerate(seats):
                    more = first + len(seats) + at * hand.second_deal
                    key = seat + 10 * (first > 1)
                    places[key] = [first + at, *range(more, more + hand.second_deal)]
        else:
            context = self.casino.controller.table.context
            total = context.state.round.total
            order = [*seats, 0] if total is None else self._from_start((total - 1) % 7 + 1)
            by_stack = context.state.dealing == "automated_shoe" or self._game == "dj_wild"
            for at, place in enumerate(order):
                cards = range(hand.cards)
                places[place] = [at * hand.cards + n if by_stack else at + n * len(order) for n in cards]
        exposed: dict[int | None, list[int]]
        exposed = {place: at for place, at in places.items() if place in (0, *seats, *(10 + s for s in seats))}
        if self._game != NOBODY_GIVES_UP:
            exposed = {place: at for place, at in exposed.items() if place is not None and place % 10 != GAVE_UP}
        taken = {position for positions in exposed.values() for position in positions}
        return {**exposed, None: [position for position in range(count) if position not in taken]}

    def _from_start(self, number: int) -> list[int]:
        """Return the order of the deal from a starting position."""
        context = self.casino.controller.table.context
        before, context.state.round.start = context.state.round.start, number
        order = deal_order(context)
        context.state.round.start = before
        return order


def play(game: str, seed: int, choices: dict[str, Any], models: dict[str, str], change: Any = None) -> list[Output]:
    """Play some rounds in a virtual time of their own; return everything that the box put out, with its log."""
    return run_virtual(_play(game, seed, choices, models, change))


async def _play(game: str, seed: int, choices: dict[str, Any], models: dict[str, str], change: Any) -> list[Output]:
    table = ArrangedTable(game, seed, choices, models)
    table.change = change or table.change
    handler = logging.Handler(0)
    handler.emit = lambda record: table._put("log", [record.name, record.getMessage()])  # type: ignore[method-assign]
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(1)
    try:
        casino = table.casino
        table.watch_frames()
        await casino.open("blue", "red")
        for _ in range(ROUNDS):
            await casino.round()
        assert casino.controller.table.state.round.number == ROUNDS
        assert not casino.controller.table.state.holds
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
        await table.casino.close()
    return table.outputs


def hide(places: dict[int | None, list[int]], faces: list[int]) -> None:
    """Change what nobody may learn: the cards that are not exposed, and the order within each hand."""
    rng = Random(len(faces))
    for positions in places.values():
        before = [faces[position] for position in positions]
        after = before[:]
        while after == before and len(set(before)) > 1:
            rng.shuffle(after)
        for position, face in zip(positions, after, strict=True):
            faces[position] = face


def swap(first: int, second: int) -> Callable[[dict[int | None, list[int]], list[int]], None]:
    """Exchange a card of two exposed hands."""

    def change(places: dict[int | None, list[int]], faces: list[int]) -> None:
        a, b = places[first][0], places[second][0]
        faces[a], faces[b] = faces[b], faces[a]

    return change


def released(outputs: list[Output]) -> list[int]:
    return [at for at, each in enumerate(outputs) if each.where == "journal of cards"]


@pytest.mark.parametrize(("game", "choices", "models"), DEALT)
def test_cards_that_nobody_exposes_and_the_order_of_a_hand_change_no_output(
    seed: int, game: str, choices: dict[str, Any], models: dict[str, str]
) -> None:
    first = play(game, seed, choices, models)
    second = play(game, seed, choices, models, hide)
    exposed = 3 + (game != "over_under") + (game == NOBODY_GIVES_UP)  # the seats that play, and the dealer
    assert len(released(first)) == ROUNDS * exposed
    kinds = {each.where.split()[0] for each in first}
    assert kinds == {"journal", "picture", "page", "state", "items", "event", "capture", "log"}
    for at, (one, other) in enumerate(zip(first, second, strict=True)):
        assert one == other, f"output {at} of {len(first)}"


@pytest.mark.parametrize(("game", "choices", "models"), DEALT)
def test_an_exposed_card_changes_nothing_before_the_release_of_its_hand(
    seed: int, game: str, choices: dict[str, Any], models: dict[str, str]
) -> None:
    first = play(game, seed, choices, models)
    others = play(game, seed, choices, models, swap(1, 6))
    differs = next(at for at, (one, other) in enumerate(zip(first, others, strict=False)) if one != other)
    assert first[differs].where in ("journal of cards", "capture of shoe.1 of cards"), "and the comparison sees it"
    order = 0 if game == "over_under" else 1  # the dealer's hand is released before those of the seats
    assert differs <= released(first)[order]
    assert all(one == other for one, other in zip(first[:differs], others[:differs], strict=True))
