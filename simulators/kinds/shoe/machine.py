"""Whole simulated shoes, automated and manual: mechanics, firmware, board, hands."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from devices.edge_log import EDGE_LOG
from devices.shoe import messages as m
from firmware_bridge.errors import BadFault
from simulators.engine.machine import SimulatedMachine
from simulators.kinds.shoe.firmware import ShoeFirmware
from simulators.kinds.shoe.manual_firmware import ManualShoeFirmware
from simulators.kinds.shoe.mechanics import ManualShoeMechanics, ShoeMechanics
from simulators.world.cards import DECK_52
from simulators.world.table import (
    LAYOUT,
    TRAY,
    add_foreign,
    collect_to_tray,
    insert_cover,
    lose_card,
    put_down,
    turn_card_face_up,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from simulators.engine.faults import InjectedFault
    from simulators.engine.machine import MachineOptions


class _Shoe(SimulatedMachine):
    """The actions of hands at both kinds of shoe."""

    kind = m.KIND
    mechanics: ManualShoeMechanics
    firmware: ShoeFirmware | ManualShoeFirmware

    def __init__(self, slot: str, **options: Unpack[MachineOptions]) -> None:
        super().__init__(slot, **options)
        self.entry = ""  # where hands put the deck

    def summary(self) -> list[str]:
        """Return how many cards are really inside."""
        mechanics = self.mechanics
        return [f"{mechanics.left():3d}  left in the shoe in all", f"{mechanics.in_path():3d}  on the path"]

    def apply_hand_action(self, fault: InjectedFault) -> str:
        """Apply an action of hands at the deck, the slot or the throat."""
        result = self._hands()[fault.kind.name](fault)
        self.firmware.hands_moved()
        return result

    def _hands(self) -> dict[str, Callable[[InjectedFault], str]]:
        return {
            "load": lambda _: f"{self.world.move_all(TRAY, self.entry)} cards put into the shoe",
            "take": self._take_stack,
            "draw": self._draw,
            "lift": lambda _: self._lift(),
            "face_up": lambda fault: turn_card_face_up(self.world, self._pile(), fault.integer("depth")),
            "cover_card": lambda fault: insert_cover(self.world, self._pile(), fault.integer("depth")),
            "missing_card": lambda _: lose_card(self.world, self.rng, self._pile()),
            "foreign_card": lambda _: add_foreign(self.world, self.rng, self._pile()),
            "clear_path": lambda _: self._clear_path(),
            "gather": lambda _: collect_to_tray(self.world),
        }

    def _pile(self) -> str:
        """Return where hands can reach the deck before it is dealt."""
        if not self.world.count(self.entry):
            raise BadFault(f"no deck is in {self.entry}; hands cannot reach one")
        return self.entry

    def _draw(self, fault: InjectedFault) -> str:
        cards = fault.integer("cards")
        if not cards:
            raise BadFault("draw: cards is at least 1")
        self.mechanics.pull(cards)
        return f"a hand draws {cards} card{'s' * (cards != 1)}"

    def _clear_path(self) -> str:
        cards = self.mechanics.path_cards()
        if self.mechanics.drawing:
            raise BadFault("clear_path: a hand is drawing a card; wait until it is out")
        self.mechanics.clear_path(TRAY)
        put_down(self.world, cards, TRAY)
        return f"{len(cards)} card{'s' * (len(cards) != 1)} taken off the path by hand"

    def _take_stack(self, _: InjectedFault) -> str:
        raise BadFault("take: a manual shoe has no slot; hands draw")

    def _lift(self) -> str:
        raise BadFault("lift: the well of an automated shoe is inside; nothing can be lifted out")


class SimulatedShoe(_Shoe):
    """An automated shoe on the bench, with a deck of 53 in its intake unless it shares a world."""

    mechanics: ShoeMechanics
    firmware: ShoeFirmware

    def __init__(self, slot: str = "shoe.1", *, identifies: bool = False, **options: Unpack[MachineOptions]) -> None:
        super().__init__(slot, **options)
        self.mechanics = ShoeMechanics(self.world, self.clock, Random(self.rng.random()), slot)
        self.mechanics.has_value_reader = identifies
        self.firmware = ShoeFirmware(self.mechanics, identifies=identifies)
        self.entry = self.mechanics.intake
        if self.has_own_world:
            self.world.make_deck(self.entry, "blue")
        capabilities = [m.COUNTS, m.DISPENSES, m.SEES_FACES, EDGE_LOG, m.JOGS] + [m.IDENTIFIES] * identifies
        self.assemble(self.firmware, m.ToDevice, "PB-D1" + "i" * identifies, capabilities)

    def apply_machine_fault(self, fault: InjectedFault) -> None:
        """Apply a fault of the mechanics, or of the switches that the firmware reads."""
        if fault.kind.name == "door":
            self.firmware.inject(fault)
        else:
            self.mechanics.inject(fault)

    def _take_stack(self, fault: InjectedFault) -> str:
        cards = self.world.at(self.mechanics.delivery)[-fault.integer("cards") :]
        put_down(self.world, cards, LAYOUT)
        self.mechanics.taken()
        return f"{len(cards)} card{'s' * (len(cards) != 1)} taken from the slot"

    def _clear_path(self) -> str:
        self.firmware.door(is_open=True)
        try:
            return super()._clear_path()
        finally:
            self.firmware.door(is_open=False)


class SimulatedManualShoe(_Shoe):
    """A manual shoe on the bench, with a deck of 53 in its well, or with several decks of 52."""

    firmware: ManualShoeFirmware

    def __init__(
        self,
        slot: str = "shoe.1",
        *,
        sees_faces: bool = True,
        decks: int = 1,
        identifies: bool = False,
        **options: Unpack[MachineOptions],
    ) -> None:
        super().__init__(slot, **options)
        self.mechanics = ManualShoeMechanics(self.world, self.clock, Random(self.rng.random()), slot)
        self.mechanics.has_value_reader = identifies
        self.firmware = ManualShoeFirmware(self.mechanics, sees_faces=sees_faces, identifies=identifies)
        self.entry = self.mechanics.well
        if self.has_own_world and decks == 1:
            self.world.make_deck(self.entry, "blue")
        elif self.has_own_world:
            self.world.make_deck(self.entry, "blue", DECK_52 * decks)
        capabilities = [m.COUNTS, m.DRAWS, EDGE_LOG] + [m.SEES_FACES] * sees_faces + [m.IDENTIFIES] * identifies
        self.assemble(self.firmware, m.ToDevice, "PB-D0" + "i" * identifies, capabilities)

    def apply_machine_fault(self, fault: InjectedFault) -> None:
        """Apply a fault of the throat; there is no door."""
        if fault.kind.name == "door":
            self.firmware.inject(fault)
        self.mechanics.inject(fault)

    def _lift(self) -> str:
        cards = self.world.at(self.mechanics.well)
        put_down(self.world, cards, TRAY)
        return f"{len(cards)} cards lifted out of the well"
