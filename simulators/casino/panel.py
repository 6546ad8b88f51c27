"""A simulated table for the panel: simulated hands do what the box asks for, and people answer on the pages.

Also the bench view: every fault of every machine.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.errors import BadFault
from simulators.casino.dealer import SimulatedPeople
from simulators.casino.table import CasinoTable
from simulators.engine.faults import known_faults
from table_controller.access import people_file as people
from table_controller.access.pin_check import PinChecker
from table_controller.config import PanelConfig
from table_controller.diagnosis.fault_report_store import FOLDER
from table_controller.maintenance.fault_reports import FaultReports
from table_controller.maintenance.wear import monitor_wear
from table_controller.panel.serve import serve
from table_controller.table import state_machines as mc

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from table_controller.table import events as ev
    from table_controller.table.decisions import Prompt

# People and PINs of a simulated table. Not secret: they protect only a simulation.
PINS: Final = {"dealer-1": "481516", "dealer-2": "234299", "floor-1": "271828", "tech-1": "314159", "audit-1": "161803"}
_ROLES: Final = {"dealer": "dealer", "floor": "floorperson", "tech": "technician", "audit": "auditor"}
# A cheap hash, for the same reason.
_CHEAP: Final = people.Cost(2, 1, 1)
# Interval of looking whether a deck waits for the shuffler, or players may bet (s, at the usual pace).
LOOK: Final = 0.5


class PanelHands(SimulatedPeople):
    """People who do what the box asks for. If `is_silent`, they only store `ready_answers` and `ready_cards`."""

    def __init__(self, casino: CasinoTable) -> None:
        super().__init__(casino)
        self.is_silent = True
        self.ready_answers: dict[int, ev.Answer] = {}
        self.ready_cards: dict[int, ev.HandEntered] = {}  # what is entered before a prompt is answered

    def submit_entry(self, prompt: Prompt, entry: ev.HandEntered) -> None:
        """Store the cards of a seat, or enter them."""
        if self.is_silent:
            self.ready_cards[prompt.id] = entry
        else:
            super().submit_entry(prompt, entry)

    def submit_answer(self, answer: ev.Answer) -> None:
        """Store the answer, or send it."""
        if self.is_silent:
            self.ready_answers[answer.prompt] = answer
        else:
            super().submit_answer(answer)


class SimulatedBench:
    """The machines of a simulated table, for the bench view."""

    def __init__(self, casino: CasinoTable) -> None:
        self._casino = casino

    def faults(self) -> dict[str, list[tuple[str, str]]]:
        """Return the faults that each machine knows, those of its own kind first, with their meaning."""
        return {
            slot: [
                (_typed(word.name, word.details), word.meaning)
                for word in sorted(known_faults(machine.kind).values(), key=lambda word: _ORDER.index(word.acts_on))
                if not word.name.startswith("usb_")
            ]
            for slot, machine in self._casino.machines.items()
        }

    def inject(self, slot: str, fault: str) -> str:
        """Apply a fault or a hand action to a machine; return a sentence about it."""
        machine = self._casino.machines.get(slot)
        if machine is None:
            raise BadFault(f"there is no machine in {slot}")
        return machine.inject(fault)

    def hints(self) -> dict[str, str]:
        """Return the answers that the hands found, by prompt: what a person at the table would know."""
        people = self._casino.people
        if not isinstance(people, PanelHands):
            return {}
        open_ = self._casino.controller.table.state.prompts
        cards = {str(id_): f"enter {entry.cards}" for id_, entry in people.ready_cards.items() if id_ in open_}
        return cards | {str(id_): _hint(answer) for id_, answer in people.ready_answers.items() if id_ in open_}


# Order for a bench engineer: faults of the machine itself first.
_ORDER: Final = ("machine", "hands", "firmware", "board", "line", "box")


def _typed(name: str, details: dict[str, str]) -> str:
    return name + (":" + ",".join(f"{key}={value}" for key, value in details.items()) if details else "")


def _hint(answer: ev.Answer) -> str:
    parts = [answer.choice.replace("_", " ")]
    if answer.number is not None:
        parts.append(str(answer.number))
    if answer.seats:
        parts.append("seats " + ", ".join(map(str, answer.seats)))
    return ", ".join(parts)


def make_silent_table(game: str, file: Path | None = None, **options: Any) -> tuple[CasinoTable, PanelHands]:
    """Return a table whose people send no answers. `file`: the people file of its box."""
    checker = None if file is None else PinChecker(file, clock=asyncio.get_running_loop().time)
    casino = CasinoTable(game, people=PanelHands, credentials=checker, **options)
    hands = casino.people
    assert isinstance(hands, PanelHands)
    return casino, hands


async def run_hands(casino: CasinoTable, bets: tuple[int, ...] = ()) -> None:
    """Do what hands do without a prompt: put decks into the shuffler, place bets. Runs until canceled."""
    round_ = 0
    while True:
        casino.load_shuffler()
        state = casino.controller.table.state
        if bets and state.round.state == mc.BETTING and state.round.number != round_:
            round_ = state.round.number
            for seat in bets:
                if f"bet_sensor.{seat}" in casino.machines:
                    casino.machines[f"bet_sensor.{seat}"].inject("place_bet")
        await asyncio.sleep(LOOK * casino.pace)


def people_file(folder: Path) -> Path:
    """Write a people file with all people of PINS."""
    path = folder / "people.json"
    for id_, pin in PINS.items():
        people.add_credential(path, id_, _ROLES[id_.partition("-")[0]], pin, cost=_CHEAP)
    return path


async def serve_panel(
    casino: CasinoTable,
    *,
    port: int = 0,
    on_ready: Callable[[int], None] | None = None,
    folder: Path | None = None,
) -> None:
    """Serve the panel of a simulated table with its bench view, until canceled.

    `folder`: where its box stores fault reports and wear, if given.
    """
    box = casino.box
    if folder is not None and box.fault_reports is None:
        box.fault_reports = FaultReports(box, folder / FOLDER)
        box.supervise("wear", partial(monitor_wear, box, folder))
    config = PanelConfig(True, "127.0.0.1", port, None, None)
    await serve(
        config, box, box.check_person, name="Table 7", bench=SimulatedBench(casino), on_ready=on_ready, data=folder,
        unverified=box.plan.is_development,
    )  # fmt: skip
