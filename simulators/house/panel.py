"""A simulated table for the panel: hands that do what the box asks for, while people at the pages say what was done.

Also what the bench view reaches: every fault of every machine.
"""

from __future__ import annotations

import asyncio
import logging
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, cast

from devices.report import LinkDown, LinkUp, Misread, Reported
from firmware_bridge.commands import Settled
from firmware_bridge.errors import BadFault, BoxLocked
from simulators.faults import vocabulary
from simulators.house.dealer import People
from simulators.house.table import House
from table_controller import people
from table_controller.config import PanelConfig
from table_controller.controller.dossiers import Dossiers
from table_controller.controller.tap import Tap
from table_controller.controller.test_mode import TestMode
from table_controller.controller.wear import FOLDER, WearBook, WearWatch
from table_controller.panel.serve import serve
from table_controller.people_check import Checker
from table_controller.table import machines as mc

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from firmware_bridge.errors import PitboxError
    from table_controller.controller.box import Box
    from table_controller.controller.clock import Clock
    from table_controller.controller.loop import Controller
    from table_controller.controller.presence import Presence
    from table_controller.controller.sign import Sign
    from table_controller.controller.slot import Slot
    from table_controller.controller.wear import WearWarning
    from table_controller.journal.port import Journal
    from table_controller.journal.records import Note
    from table_controller.table import events as ev

log = logging.getLogger(__name__)

# Who may sign on at a simulated table. Everybody may know these: there is nothing behind them but a simulation.
PINS: Final = {"dealer-1": "481516", "dealer-2": "234299", "floor-1": "271828", "tech-1": "314159", "audit-1": "161803"}
_ROLES: Final = {"dealer": "dealer", "floor": "floorperson", "tech": "technician", "audit": "auditor"}
# A hash that costs nothing, for the same reason.
_CHEAP: Final = people.Cost(2, 1, 1)
# How often somebody looks whether a deck waits for the shuffler, or players may bet (s, at the people's usual pace).
LOOK: Final = 0.5
# What the table hears of a machine in test mode, too, as the program's own box has it.
ALWAYS_HEARD: Final = (LinkUp, LinkDown, Reported, Misread, Settled)


class Hands(People):
    """People who do what the box asks for with their hands; `found` is what they would say. `silent`: and do not."""

    def __init__(self, house: House) -> None:
        super().__init__(house)
        self.silent = True
        self.found: dict[int, ev.Answer] = {}

    def say(self, answer: ev.Answer) -> None:
        """Keep what was found, or say it."""
        if self.silent:
            self.found[answer.prompt] = answer
        else:
            super().say(answer)


class Bench(House):
    """A table whose machines may be taken into test mode: then nobody at the table hears of their cards."""

    def __init__(self, game: str, **options: Any) -> None:
        self.testing: dict[str, int] = {}
        self.on_told: list[Callable[[str, Any], None]] = []
        super().__init__(game, **options)

    def _listener(self, slot: str, controller: Controller) -> Any:
        heard = super()._listener(slot, controller)

        def take(event: Any) -> None:
            if slot not in self.testing or isinstance(event, ALWAYS_HEARD):
                heard(event)
            for told in self.on_told:
                told(slot, event)

        return take


class HouseBox:
    """A simulated table as the box that a panel needs. `folder`: where it keeps dossiers and wear, if anywhere."""

    def __init__(self, house: House, presence: Presence | None = None, folder: Path | None = None) -> None:
        self.house = house
        self._presence = presence
        self.revoked: set[str] = set()
        self.stopping = False
        self.testing: dict[str, int] = {}
        self.on_told: list[Callable[[str, Any], None]] = []
        self.taps = {name: Tap(name) for name in house.slots}
        self.plan = SimpleNamespace(edition=house.edition)
        self.digests: dict[str, str] = {}
        self.dossiers: Dossiers | None = None
        self.data = folder
        if isinstance(house, Bench):
            self.testing, self.on_told = house.testing, house.on_told
        self.test_mode = TestMode(self)
        if folder is not None and isinstance(house, Bench):
            self.dossiers = Dossiers(cast("Box", self), folder / "dossiers")

    @property
    def clock(self) -> Clock:
        """The clocks of the simulation."""
        return self.house.clock

    def running(self) -> Controller:
        """Return the controller of a table that goes on."""
        if self.cause is not None:
            raise BoxLocked(f"{self.cause.code}: {self.cause}")
        return self.controller

    def note(self, note: Note) -> None:
        """Write down what is no step of the table."""
        self.controller.note(note)

    @property
    def controller(self) -> Controller:
        """Who runs the table."""
        return self.house.controller

    def holds(self, who: ev.Person, _proof: str = "") -> bool:
        """Tell whether a credential still opens anything."""
        return who.credential not in self.revoked

    @property
    def slots(self) -> Mapping[str, Slot[Any, Any]]:
        """The machines."""
        return self.house.slots

    @property
    def presence(self) -> Presence | None:
        """Who deals, if anybody watches that."""
        return self._presence

    @property
    def sign(self) -> Sign | None:
        """What the meter's signs show."""
        return self.house.box.sign

    @property
    def store(self) -> Journal | None:
        """The journal on the simulated disk."""
        return self.house.box.store

    @property
    def cause(self) -> PitboxError | None:
        """Why nothing goes on, if nothing does."""
        return self.house.controller.halted


class HouseBench:
    """The machines of a simulated table, for the bench view."""

    def __init__(self, house: House) -> None:
        self._house = house

    def faults(self) -> dict[str, list[tuple[str, str]]]:
        """Return the faults that each machine knows, those of its own kind first, with their meaning."""
        return {
            slot: [
                (_typed(word.name, word.details), word.meaning)
                for word in sorted(vocabulary(machine.kind).values(), key=lambda word: _ORDER.index(word.acts_on))
                if not word.name.startswith("usb_")
            ]
            for slot, machine in self._house.machines.items()
        }

    def inject(self, slot: str, fault: str) -> str:
        """Let a fault happen to a machine, or hands do something; return a sentence about it."""
        machine = self._house.machines.get(slot)
        if machine is None:
            raise BadFault(f"there is no machine in {slot}")
        return machine.inject(fault)

    def hints(self) -> dict[str, str]:
        """Return what the hands at the table found, by question: what a person who stands there would know."""
        people = self._house.people
        if not isinstance(people, Hands):
            return {}
        open_ = self._house.controller.table.state.prompts
        return {str(id_): _hint(answer) for id_, answer in people.found.items() if id_ in open_}


# What a bench engineer looks for first: what can happen to the machine itself.
_ORDER: Final = ("machine", "hands", "firmware", "board", "line", "box")


def _typed(name: str, details: dict[str, str]) -> str:
    return name + (":" + ",".join(f"{key}={value}" for key, value in details.items()) if details else "")


def _hint(answer: ev.Answer) -> str:
    said = [answer.choice.replace("_", " ")]
    if answer.number is not None:
        said.append(str(answer.number))
    if answer.seats:
        said.append("seats " + ", ".join(map(str, answer.seats)))
    return ", ".join(said)


def silent_house(game: str, **options: Any) -> tuple[House, Hands]:
    """Return a table whose people answer nothing by themselves."""
    house = Bench(game, **options)
    hands = Hands(house)
    house.people = hands
    return house, hands


async def tend(house: House, bets: tuple[int, ...] = ()) -> None:
    """Do what hands do although nobody asks: decks into the shuffler, and players who bet. Until cancelled."""
    round_ = 0
    while True:
        house.feed()
        state = house.controller.table.state
        if bets and state.round.state == mc.BETTING and state.round.number != round_:
            round_ = state.round.number
            for seat in bets:
                if f"bet_sensor.{seat}" in house.machines:
                    house.machines[f"bet_sensor.{seat}"].inject("place_bet")
        await asyncio.sleep(LOOK * house.pace)


def people_file(folder: Path) -> Path:
    """Write a people file with everybody of PINS in it."""
    path = folder / "people.json"
    for id_, pin in PINS.items():
        people.add(path, id_, _ROLES[id_.partition("-")[0]], pin, cost=_CHEAP)
    return path


async def show(
    house: House,
    file: Path,
    *,
    port: int = 0,
    name: str = "Table 7",
    on_ready: Callable[[int], None] | None = None,
    folder: Path | None = None,
) -> None:
    """Serve the panel of a simulated table, bench view included, until cancelled. `folder`: it keeps dossiers there."""
    checker = Checker(file)

    async def check(id_: str, pin: str, place: str) -> people.Person:
        return await asyncio.to_thread(checker.check, id_, pin, place)

    config = PanelConfig(True, "127.0.0.1", port, None, None)
    box = HouseBox(house, folder=folder)
    wear = WearWatch({n: slot.driver for n, slot in house.slots.items()}, WearBook((folder or file) / FOLDER), _warned)
    if folder is not None:
        box.on_told.append(wear.take)
    try:
        await serve(config, box, check, name=name, bench=HouseBench(house), on_ready=on_ready, data=folder)
    finally:
        box.stopping = True
        await wear.close()
        if box.dossiers is not None:
            await box.dossiers.close()


def _warned(warning: WearWarning) -> None:
    log.warning("%s", warning.sentence())
