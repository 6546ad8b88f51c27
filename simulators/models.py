"""The models that `pitbox sim` can start: name, description, class and options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulators.machines.bet_sensor import SimulatedBetSensor
from simulators.machines.button import SimulatedButton
from simulators.machines.continuous import SimulatedContinuous
from simulators.machines.keypad import SimulatedKeypad
from simulators.machines.meter_sign import SimulatedMeterSign
from simulators.machines.rng import SimulatedRng
from simulators.machines.shaker import SimulatedShaker
from simulators.machines.shoe import SimulatedManualShoe, SimulatedShoe
from simulators.machines.shuffler import SimulatedShuffler

if TYPE_CHECKING:
    from simulators.machine import Machine


class Model:
    """One model: its class and options, and an action and a fault that a newcomer can try."""

    def __init__(self, machine: type[Any], about: str, action: str, fault: str, **options: Any) -> None:
        self.machine: type[Machine] = machine
        self.about = about
        self.action = action
        self.fault = fault
        self.options = options


MODELS: Final = {
    "shuffler": Model(SimulatedShuffler, "a single-deck shuffler that counts", "shuffle", "jam:segment=lift"),
    "shuffler-identifying": Model(
        SimulatedShuffler, "a single-deck shuffler that reads card faces", "shuffle", "swapped_card", identifies=True
    ),
    "shuffler-batch": Model(
        SimulatedShuffler, "a shuffler for six decks that counts", "shuffle", "cards_left_inside:count=16", batch=True
    ),
    "shuffler-batch-identifying": Model(
        SimulatedShuffler,
        "a shuffler for six decks that reads card faces",
        "shuffle",
        "swapped_card",
        batch=True,
        identifies=True,
    ),
    "shuffler-continuous": Model(
        SimulatedContinuous, "a continuous shuffler with six decks", "count", "double_feed:offset=0"
    ),
    "bet-sensor": Model(SimulatedBetSensor, "a seat's bet sensor with a player", "watch", "place_bet"),
    "keypad": Model(SimulatedKeypad, "the dealer's keypad", "watch", "press:key=start_game"),
    "meter-sign": Model(SimulatedMeterSign, "a sign that shows the meter", "shown", "dead_digit:row=value,digit=2"),
    "shaker": Model(SimulatedShaker, "a dice shaker with three dice", "roll", "lean"),
    "rng": Model(SimulatedRng, "a number generator from 1 to 7 with a display", "draw", "noise_stuck"),
    "button": Model(SimulatedButton, "a flat button and the mat that senses it", "where", "slide_button:toward=2"),
    "shoe": Model(SimulatedShoe, "an automated dealing shoe", "load", "jam:segment=exit,card=5"),
    "shoe-manual": Model(
        SimulatedManualShoe, "a manual dealing shoe that counts what is drawn", "load", "draw:cards=7"
    ),
}


def make(model: str, slot: str, **options: Any) -> Machine:
    """Build a machine of a model for a slot."""
    chosen = MODELS[model]
    return chosen.machine(slot, **chosen.options, **options)
