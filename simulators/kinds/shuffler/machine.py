"""A whole simulated shuffler with cycles: mechanics, firmware, board, and hands."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from devices.edge_log import EDGE_LOG
from devices.shuffler import messages as m
from firmware_bridge.errors import BadFault
from simulators.engine.machine import SimulatedMachine, exclude_messages
from simulators.kinds.shuffler.firmware import ShufflerFirmware
from simulators.kinds.shuffler.mechanics import ONE_BATCH, ONE_DECK, ShufflerMechanics
from simulators.kinds.shuffler.shoe_chute import BENCH_SHOE
from simulators.world.table import IN_PLAY, TRAY, add_foreign, lose_card, swap_card

if TYPE_CHECKING:
    from typing import Unpack

    from simulators.engine.faults import InjectedFault
    from simulators.engine.machine import MachineOptions
    from simulators.kinds.shuffler.shuffler_base import ShufflerFirmwareBase


class SimulatedShuffler(SimulatedMachine):
    """A shuffler on the bench with its cards in the intake: a deck, or a batch while another is in play."""

    kind = m.KIND

    def __init__(
        self,
        slot: str = "shuffler.1",
        *,
        batch: bool = False,
        identifies: bool = False,
        jogs: bool = True,
        inserts: bool = False,
        **options: Unpack[MachineOptions],
    ) -> None:
        """Without `jogs` its firmware is older and does not know Jog. `inserts`: it has a chute into the shoe."""
        super().__init__(slot, **options)
        self.size = ONE_BATCH if batch else ONE_DECK
        self._jogs = jogs
        self._inserts = inserts
        self.mechanics: ShufflerMechanics
        self.firmware: ShufflerFirmwareBase
        self._build(batch=batch, identifies=identifies)
        self._rng = Random(self.rng.random())

    def _build(self, *, batch: bool, identifies: bool) -> None:
        """Make the parts and the cards, and switch the power on."""
        self.mechanics = ShufflerMechanics(self.world, self.clock, Random(self.rng.random()), self.slot)
        self.firmware = ShufflerFirmware(
            self.mechanics, Random(self.rng.random()), identifies=identifies, size=self.size
        )
        if self.has_own_world:
            self.world.make_deck(self.mechanics.intake, "blue", self.size.full_set)
        if self.has_own_world and batch:
            self.world.make_deck(IN_PLAY, "red", self.size.full_set)
        named = {m.COUNTS: True, m.IDENTIFIES: identifies, m.BATCH: batch, EDGE_LOG: True, m.JOGS: self._jogs,
                 m.INSERTS: self._inserts}  # fmt: skip
        model = ("PB-B6" if batch else "PB-S1") + "i" * identifies + "c" * self._inserts
        unknown = [m.Jog] * (not self._jogs) + [m.Insert] * (not self._inserts)
        understands = exclude_messages(m.ToCycleShuffler, *unknown)
        self.assemble(self.firmware, understands, model, [name for name, has in named.items() if has])

    def summary(self) -> list[str]:
        """Return how many cards are really inside."""
        return [f"{self.mechanics.inside():3d}  inside the machine in all"]

    def apply_machine_fault(self, fault: InjectedFault) -> None:
        """Apply a fault of the mechanics, or of the switches that the firmware reads."""
        if fault.kind.name.startswith("chute_") and not self._inserts:
            raise BadFault(f"{fault.kind.name}: this model has no chute into the shoe")
        if fault.kind.name in ("sort_mode", "door"):
            self.firmware.inject(fault)
        else:
            self.mechanics.inject(fault)

    def apply_hand_action(self, fault: InjectedFault) -> str:
        """Apply an action of hands at the cards or the path."""
        result = self._hands(fault)
        self.firmware.hands_moved()
        return result

    def _hands(self, fault: InjectedFault) -> str:
        match fault.kind.name:
            case "load":
                return f"{self._load(fault.integer('cards'))} cards put into the intake"
            case "take_intake":
                return f"{self.world.move_all(self.mechanics.intake, TRAY)} cards taken out of the intake"
            case "missing_card":
                return lose_card(self.world, self._rng, self._pile())
            case "foreign_card":
                return add_foreign(self.world, self._rng, self._pile())
            case "swapped_card":
                return swap_card(self.world, self._rng, self._pile())
            case "clear_path":
                return self._clear_path()
            case "take_deck":
                return f"{self._take_from_gate(TRAY)} cards taken from the gate to the tray"
            case "block_chute" if self._inserts:
                return self._block_chute(fault.integer("cards"))
            case "swap_batches" if self.size is ONE_BATCH:
                return self._swap_batches()
            case name:
                raise BadFault(f"{name} is not for this model of shuffler")

    def _load(self, cards: int) -> int:
        if not cards:
            return self.world.move_all(TRAY, self.mechanics.intake)
        taken = self.world.at(TRAY)[:cards]
        for card in taken:
            self.world.move(card, self.mechanics.intake)
        return len(taken)

    def _pile(self) -> str:
        """Return where hands can reach the cards."""
        for place in (self.mechanics.intake, TRAY):
            if self.world.count(place):
                return place
        raise BadFault("the deck is inside the machine; hands cannot reach it")

    def _clear_path(self) -> str:
        self.firmware.door(is_open=True)
        taken = self.mechanics.clear_path(TRAY)
        self.firmware.door(is_open=False)
        return f"{taken} card{'s' * (taken != 1)} taken off the path by hand"

    def _take_from_gate(self, to: str) -> int:
        """Take the deck from the gate; on the bench also from where its chute ends."""
        return self.world.move_all(self.mechanics.place("presented"), to) + self.world.move_all(BENCH_SHOE, to)

    def _block_chute(self, cards: int) -> str:
        taken = self.world.at(self._pile())[:cards]
        for card in taken:
            self.world.move(card, self.mechanics.shoe_chute.entry)
        return f"{len(taken)} card{'s' * (len(taken) != 1)} put where the chute ends"

    def _swap_batches(self) -> str:
        """Swap the batches without mixing them: put one down before taking up the other."""
        if self.world.count(self.mechanics.intake):
            raise BadFault("swap_batches: the intake is not empty; the two batches would mix")
        went_in = self.world.move_all(IN_PLAY, self.mechanics.intake)
        came_out = self._take_from_gate(IN_PLAY) + self.world.move_all(TRAY, IN_PLAY)
        return f"{came_out} cards into play, {went_in} cards into the intake"
