"""Attempts on a live box to get the cards of an identifying shoe before they are exposed: nothing comes.

In every phase of a round, in every role, by every call that names a method of the shoe's driver, in test mode, and with
everything that a client may follow. What the shoe really released is read from its firmware.
"""

from __future__ import annotations

import asyncio
import inspect
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import pytest

from devices.shoe.driver import ShoeDriver
from simulators.casino.table import CasinoTable
from simulators.world.table import TRAY
from table_controller.access import people_file
from table_controller.access.pin_check import PinChecker
from table_controller.cli.commands.device import COMMON_ACTIONS
from table_controller.cli.kinds import shoe as shoe_commands
from table_controller.controller.kinds.shoe import SHOE as SHOE_KIND
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command, StateChanged
from tests.scenario.test_released_cards_secret import DEALT
from tests.support.box.boxes import CHEAP, PIN, ROLES, DirectClient

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.table import events as ev
    from table_controller.table.decisions import Decision

SHOE: Final = "shoe.1"
# Two cards in a row, as every text that names a hand has them.
CARDS: Final = re.compile(r"\b(?:[2-9TJQKA][cdhs]|Jk) (?:[2-9TJQKA][cdhs]|Jk)\b")
# Every call that might make a shoe release, deal or draw cards: every method of its driver.
CALLS: Final = sorted(
    name for name, method in inspect.getmembers(ShoeDriver, callable) if not name.startswith("_")
    and "command" in inspect.signature(method).parameters
    and name not in ("stop", "reset", "self_test", "clear_jam", "actuate", "outcome", "query_outcome")
)  # fmt: skip


class WatchedTable(CasinoTable):
    """A table that notes what its shoe really released, and the phase of the round by the newest record."""

    def __init__(self, game: str, seed: int, folder: Path, choices: dict[str, Any], models: dict[str, str]) -> None:
        file = folder / "people.json"
        for id_, role in ROLES.items():
            people_file.add_credential(file, id_, role, PIN, cost=CHEAP)
        super().__init__(
            game, seed=seed, choices=choices, models=models,
            credentials=PinChecker(file, clock=lambda: self.clock.now()[1] / 1e9),
        )  # fmt: skip
        self.phase = mc.IDLE
        self.released: list[tuple[str, int, int]] = []  # the phase, and the unit
        self.ordered: list[Command] = []
        self.watchers.append(self._watch)
        self._units: Any = self.machines[SHOE].firmware._units  # type: ignore[attr-defined]
        self._release, self._units.release = self._units.release, self._noted

    def _noted(self, dealt_by: int, card: int) -> tuple[bytes, int]:
        self.released.append((self.controller.table.state.round.state, dealt_by, card))
        values: tuple[bytes, int] = self._release(dealt_by, card)
        return values

    def _watch(self, _event: ev.Event, decisions: list[Decision]) -> None:
        for each in decisions:
            if isinstance(each, StateChanged) and each.what == "round":
                self.phase = each.state
            elif isinstance(each, Command) and each.act == "release_cards":
                self.ordered.append(each)

    def dealt_ids(self) -> list[int]:
        """Return the ids by which cards were dealt, and some that were not."""
        hands = self.controller.table.state.round.dealt_hands.values()
        return [*{hand.dealt.dealt_by for hand in hands}, 1, 2**62]


async def try_everything(table: WatchedTable, client: DirectClient) -> int:
    """Call every method of the shoe with every id that might name cards; return how many calls were refused."""
    refused = 0
    for call in CALLS:
        for dealt_by in table.dealt_ids() if call.startswith("release") else (1,):
            for arguments in ({"dealt_by": dealt_by, "card": 0}, {"dealt_by": dealt_by, "card": 1}, {}):
                answer = await client.ask("device", slot=SHOE, call=call, arguments=arguments)
                assert isinstance(answer, str), (call, answer)
                assert answer.startswith("PB-"), (call, answer)
                refused += 1
    if table.phase != mc.IDLE:
        begun = await client.ask("device", slot=SHOE, call="begin_test")
        assert isinstance(begun, str), "no test mode while a round is under way"
    return refused


@pytest.mark.parametrize(("game", "choices", "models"), DEALT)
async def test_nobody_gets_a_card_earlier_in_any_phase(
    seed: int, tmp_path: Path, game: str, choices: dict[str, Any], models: dict[str, str]
) -> None:
    table = WatchedTable(game, seed, tmp_path, choices, models)
    clients = [await DirectClient(table.box).sign_on(name) for name in ("D1", "F1", "T1", "A1")]
    phases: dict[str, int] = {}
    try:
        await clients[0].ask("follow", device_events=True)
        await clients[2].ask("trace")
        await table.open("blue", "red")

        async def attempt() -> None:
            """Try everything whenever the round has come to another phase."""
            while True:
                await table.until(lambda: table.phase not in phases, 3600.0)
                phase = table.phase
                phases[phase] = 0
                for client in clients:
                    phases[phase] += await try_everything(table, client)

        trying = asyncio.create_task(attempt())
        await table.until(lambda: len(phases) == 1)
        table.pace = 20.0  # slowly, so that every attempt is made in its phase
        await table.round()
        trying.cancel()
        with suppress(asyncio.CancelledError):
            await trying
    finally:
        await table.close()
    allowed = (mc.SETTLING, mc.PLAYING) if game == "face_up_pai_gow" else (mc.SETTLING,)
    assert {phase for phase, _, _ in table.released} <= set(allowed)
    units = [(o.dealt.dealt_by, card) for o in table.ordered for card in (o.dealt.cards or (0,))]  # type: ignore[union-attr]
    assert [(dealt_by, card) for _, dealt_by, card in table.released] == units, "only what the table ordered"
    expected = {mc.IDLE, mc.BETTING, mc.NO_MORE_BETS, mc.DEALING, mc.PLAYING, mc.SETTLING}
    assert expected - set(phases) <= {mc.NO_MORE_BETS}, "some phases are over before a record is on disk"
    assert all(count > 50 for count in phases.values()), phases
    for client in clients:  # what a person may follow names no card before the first release
        first = next((at for at, line in enumerate(client.lines) if "HandReleased" in str(line)), len(client.lines))
        assert not [line for line in client.lines[:first] if CARDS.search(str(line))]
    assert any(CARDS.search(str(line)) for line in clients[0].lines), "and the search sees those that are released"


def test_no_command_of_a_technician_releases_cards() -> None:
    assert not [order for order in SHOE_KIND.orders if "release" in order.name]
    assert not [name for name in (*COMMON_ACTIONS, *shoe_commands.ACTIONS) if "release" in name]
    assert {"release_cards", "release_drawn", "dispense", "start_round"} <= set(CALLS)


async def test_in_test_mode_a_shoe_that_dealt_a_technicians_cards_releases_none(seed: int, tmp_path: Path) -> None:
    table = WatchedTable("dj_wild", seed, tmp_path, {}, {SHOE: "shoe-identifying"})
    client = await DirectClient(table.box).sign_on("T1")
    try:
        await table.open()
        table.world.make_deck(TRAY, "test")
        assert await client.ask("device", slot=SHOE, call="begin_test") is None
        table.machines[SHOE].inject("load")
        await client.ask("device", slot=SHOE, call="load")
        await client.ask("device", slot=SHOE, call="dispense", arguments={"cards": 5})
        table.machines[SHOE].inject("take")
        for call in ("release_cards", "release_drawn"):
            answer = await client.ask("device", slot=SHOE, call=call, arguments={"dealt_by": 1})
            assert "has no call" in answer
        assert not table.released
        assert not any(CARDS.search(str(line)) for line in client.lines)
    finally:
        await table.close()
