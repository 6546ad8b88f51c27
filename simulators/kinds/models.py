"""The models that `pitbox sim` can start: name, description, class and options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulators.kinds.bet_sensor.machine import SimulatedBetSensor
from simulators.kinds.button.machine import SimulatedButton
from simulators.kinds.keypad.machine import SimulatedKeypad
from simulators.kinds.meter_sign.machine import SimulatedMeterSign
from simulators.kinds.rng.machine import SimulatedRng
from simulators.kinds.shaker.machine import SimulatedShaker
from simulators.kinds.shoe.machine import SimulatedManualShoe, SimulatedShoe
from simulators.kinds.shuffler.continuous_machine import SimulatedContinuousShuffler
from simulators.kinds.shuffler.machine import SimulatedShuffler

if TYPE_CHECKING:
    from simulators.engine.machine import SimulatedMachine


class MachineModel:
    """One model: its class and options, and an action and a fault that a newcomer can try."""

    def __init__(self, machine: type[Any], about: str, action: str, fault: str, **options: Any) -> None:
        self.machine: type[SimulatedMachine] = machine
        self.description = about
        self.suggested_action = action
        self.suggested_fault = fault
        self.options = options


MODELS: Final = {
    "shuffler": MachineModel(SimulatedShuffler, "a single-deck shuffler that counts", "shuffle", "jam:segment=lift"),
    "shuffler-identifying": MachineModel(
        SimulatedShuffler, "a single-deck shuffler that reads card faces", "shuffle", "swapped_card", identifies=True
    ),
    "shuffler-batch": MachineModel(
        SimulatedShuffler, "a shuffler for six decks that counts", "shuffle", "cards_left_inside:count=16", batch=True
    ),
    "shuffler-batch-identifying": MachineModel(
        SimulatedShuffler,
        "a shuffler for six decks that reads card faces",
        "shuffle",
        "swapped_card",
        batch=True,
        identifies=True,
    ),
    "shuffler-continuous": MachineModel(
        SimulatedContinuousShuffler, "a continuous shuffler with six decks", "count", "double_feed:offset=0"
    ),
    "bet-sensor": MachineModel(SimulatedBetSensor, "a seat's bet sensor with a player", "watch", "place_bet"),
    "keypad": MachineModel(SimulatedKeypad, "the dealer's keypad", "watch", "press:key=start_game"),
    "meter-sign": MachineModel(
        SimulatedMeterSign, "a sign that shows the meter", "shown", "dead_digit:row=value,digit=2"
    ),
    "shaker": MachineModel(SimulatedShaker, "a dice shaker with three dice", "roll", "lean"),
    "rng": MachineModel(SimulatedRng, "a number generator from 1 to 7 with a display", "draw", "noise_stuck"),
    "button": MachineModel(
        SimulatedButton, "a flat button and the mat that senses it", "where", "slide_button:toward=2"
    ),
    "shoe": MachineModel(SimulatedShoe, "an automated dealing shoe", "load", "jam:segment=exit,card=5"),
    "shoe-manual": MachineModel(
        SimulatedManualShoe, "a manual dealing shoe that counts what is drawn", "load", "draw:cards=7"
    ),
    "shoe-identifying": MachineModel(
        SimulatedShoe, "an automated dealing shoe that reads every card it deals", "load", "card_unread:card=3",
        identifies=True,
    ),
    "shoe-manual-identifying": MachineModel(
        SimulatedManualShoe, "a manual dealing shoe that reads every card drawn", "load", "draw:cards=7",
        identifies=True,
    ),
}  # fmt: skip


def make_machine(model: str, slot: str, **options: Any) -> SimulatedMachine:
    """Build a machine of a model for a slot."""
    chosen = MODELS[model]
    return chosen.machine(slot, **chosen.options, **options)
