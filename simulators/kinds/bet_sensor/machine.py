"""A whole simulated bet sensor: spot, firmware, board, and the hands of player and dealer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.bet_sensor import messages as m
from firmware_bridge.errors import BadFault
from simulators.engine.machine import SimulatedMachine
from simulators.kinds.bet_sensor.firmware import BetSensorFirmware
from simulators.kinds.bet_sensor.mechanics import BetSpot
from simulators.world.chips import RAIL, TRAY, Chips, player_hand

if TYPE_CHECKING:
    from typing import Unpack

    from simulators.engine.faults import InjectedFault
    from simulators.engine.machine import MachineOptions

# Chips that a seat's player begins with.
CHIPS: Final = 20


class SimulatedBetSensor(SimulatedMachine):
    """A seat's bet sensor on the bench, with a player. The sensors of one table share the chips."""

    kind = m.KIND
    firmware: BetSensorFirmware

    def __init__(
        self, slot: str = "bet_sensor.1", *, chips: Chips | None = None, **options: Unpack[MachineOptions]
    ) -> None:
        super().__init__(slot, **options)
        self.chips = Chips() if chips is None else chips
        self.hand = player_hand(slot)
        self.chips.make(self.hand, CHIPS)
        self.spot = BetSpot(self.chips, slot)
        self.firmware = BetSensorFirmware(self.spot, self.clock)
        self.firmware.on_latch = self._note_latch
        self.latched: list[tuple[m.Latch, int]] = []  # every latch, with the true number of chips at that moment
        self.assemble(self.firmware, m.ToDevice, "PB-B1", [m.LATCHES])

    def _note_latch(self, latch: m.Latch) -> None:
        self.latched.append((latch, self.spot.chip_count()))

    def true_counts(self) -> dict[str, int]:
        """Return how many chips are really at each place."""
        return self.chips.census()

    def summary(self) -> list[str]:
        """Return the light that is on, and the true number of chips at the last latch."""
        lines = [f"light: {self.spot.light.name.lower()}"]
        if self.latched:
            latch, lying = self.latched[-1]
            lines.append(f"at the latch of round {latch.round}: {lying} chip{'s' * (lying != 1)} on the spot")
        return lines

    def apply_machine_fault(self, fault: InjectedFault) -> None:
        """Apply a fault of coil or lamps."""
        self.spot.inject(fault)

    def apply_hand_action(self, fault: InjectedFault) -> str:
        """Apply an action of player or dealer with chips."""
        match fault.kind.name:
            case "place_bet":
                return _chips_text(self.spot.place_chips(self.hand, self._few(fault)), "placed on the spot")
            case "edge_bet":
                return _chips_text(self.spot.place_chips(self.hand, edge=True), "placed half over the spot's edge")
            case "straighten":
                return _chips_text(self.spot.straighten(), "pushed to the middle of the spot")
            case "take_bet":
                return _chips_text(self.spot.remove_chips(self.hand, self._few(fault)), "taken back by the player")
            case "collect":
                return _chips_text(self.spot.remove_chips(TRAY), "collected to the tray")
            case "drop_chip":
                return _chips_text(self.spot.remove_chips(RAIL, 1), "fell from the spot under the rail")
            case "foreign_object":
                self.spot.put_object(there=True)
                return "a foreign object is on the spot"
            case "take_object":
                self.spot.put_object(there=False)
                return "the foreign object was taken off the spot"
        raise AssertionError(fault.kind.name)

    @staticmethod
    def _few(fault: InjectedFault) -> int:
        count = fault.integer("chips")
        if not 1 <= count <= CHIPS:
            raise BadFault(f"{fault.kind.name}: chips is from 1 to {CHIPS}, not {count}")
        return count


def _chips_text(chips: int, what: str) -> str:
    return f"{chips} chip{'s' * (chips != 1)} {what}"
