"""The fault schedule of a simulated table: a list of mishaps drawn by seed, and their injection.

A mishap is a round, a moment in it, a slot and a fault. The list is the only random choice of faults, so any part of it
can be played again with the same seed. What happens to a kind of machine only is in its `faults.py`.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from firmware_bridge.errors import BadFault, UsageError
from simulators.casino.dealer import DEALER
from simulators.casino.table_layout import keypad_and_sign, table_slots
from simulators.engine.faults import MISHAPS_BY_KIND, TABLE_KIND, parse_fault
from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulators.casino.table import CasinoTable
    from simulators.engine.faults import InjectedFault

FaultLevel = Literal["none", "some", "storm"]
FAULT_LEVELS: Final[tuple[FaultLevel, ...]] = ("none", "some", "storm")
# Average number of mishaps in a round.
_RATES: Final[dict[str, float]] = {"none": 0.0, "some": 0.12, "storm": 0.9}
# The slot name of mishaps of the table itself.
TABLE_SLOT: Final = TABLE_KIND
# Latest moment of a mishap in a round (s); a round takes about a minute, and a later mishap meets the next one.
_LATEST: Final = 60.0
# Latest moment of a chip after a round opened (s): no more bets is called after two.
_BETTING: Final = 2.6

_POINTS: Final = ("sync", "before", "after")
_QUESTIONS: Final = ("stub", "chips", "announce", "cards_together", "deck_counted", "cut")


class Mishap(msgspec.Struct, frozen=True, order=True):
    """One mishap: round, seconds after its opening, slot, and fault."""

    round: int
    moment: float
    slot: str
    fault: str

    def __str__(self) -> str:
        return f"{self.round}@{self.moment:g} {self.slot} {self.fault}"


def parse_mishap(text: str) -> Mishap:
    """Parse a mishap as it is printed; UsageMistake names the error."""
    try:
        when, slot, fault = text.split()
        number, _, moment = when.partition("@")
        mishap = Mishap(int(number), float(moment), slot, fault)
    except ValueError:
        raise UsageError(f"{text!r} is not a mishap; write for example '17@12.5 shuffler.1 jam:segment=lift'") from None
    kind = mishap.slot.partition(".")[0]
    try:
        parse_fault(mishap.fault, kind)
    except (BadFault, KeyError) as bad:
        raise UsageError(f"{text!r}: {bad}") from bad
    return mishap


def draw_schedule(
    game: str, seed: int, rounds: int, level: FaultLevel, more: Mapping[str, str] | None = None
) -> list[Mishap]:
    """Draw the mishaps of so many rounds, in order. `more`: further slots of the table, with the model in each."""
    rng = Random(f"storm {game} {seed}")
    rate, unused = _RATES[level], keypad_and_sign(game)
    slots = {slot: model for slot, model in (table_slots(game) | dict(more or {})).items() if slot not in unused}
    drawn: list[Mishap] = []
    for number in range(1, rounds + 1):
        left = rate
        while rng.random() < left / (1 + left):  # geometric, with this mean
            drawn.append(_one(rng, number, slots))
    return sorted(drawn)


def _one(rng: Random, number: int, slots: Mapping[str, str]) -> Mishap:
    moment = round(rng.uniform(0, _LATEST), 3)
    sort = rng.random()
    if sort < 0.12:
        return Mishap(number, moment, TABLE_SLOT, _of_box(rng))
    if sort < 0.28:
        return Mishap(number, moment, TABLE_SLOT, rng.choice(_of_people(rng)))
    slot = rng.choice([*slots, *[s for s in slots if s.startswith(("shuffler", "shoe"))] * 2])
    kind = slot.partition(".")[0]
    if kind == "bet_sensor" and rng.random() < 0.7:
        word = rng.choice(["place_bet", "place_bet", "take_bet", "place_bet:chips=2", "edge_bet", "drop_chip"])
        return Mishap(number, round(rng.uniform(0.5, _BETTING), 4), slot, word)
    is_common, own = rng.random() < 0.45, MISHAPS_BY_KIND[kind]
    words = _of_any(rng) if is_common or own is None else own(rng, slots[slot])
    return Mishap(number, moment, slot, rng.choice(words))


def _of_box(rng: Random) -> str:
    if rng.random() < 0.15:
        return f"clock_step:to={rng.choice(['back', 'ahead'])},minutes={rng.choice([1, 20, 60])}"
    return f"box_power_cut:at={rng.choice(['sync', 'before', 'after'])},points={rng.randint(1, 60)}"


def _of_people(rng: Random) -> list[str]:
    return [
        "card_falls", "card_aside", "card_swapped", "answer_twice", "open_again", "call_again",
        f"miscount:question={rng.choice(_QUESTIONS)},by={rng.choice([1, 2, 7])},way={rng.choice(['more', 'less'])}",
    ]  # fmt: skip


def _of_any(rng: Random) -> list[str]:
    """Return faults of any machine that end by themselves or by a technician's work."""
    return [
        "reboot", f"power_cut:seconds={rng.randint(1, 9)}", f"hang:seconds={rng.choice([1, 6])}",
        f"unplug:seconds={rng.choice([1, 5, 20])}", f"garbage:bytes={rng.choice([1, 300, 4000])}",
        f"drop:frames={rng.randint(1, 6)}", f"corrupt:frames={rng.randint(1, 6)}",
        f"duplicate:frames={rng.randint(1, 6)}", "withhold:message=GetStatus",
    ]  # fmt: skip


def inject_mishap(casino: CasinoTable, mishap: Mishap) -> bool:
    """Inject a mishap; return whether it was possible: hands cannot reach inside a machine."""
    if mishap.slot == TABLE_SLOT:
        _at_table(casino, parse_fault(mishap.fault, TABLE_KIND))
        return True
    try:
        casino.machines[mishap.slot].inject(mishap.fault)
    except BadFault:
        return False
    return True


def _at_table(casino: CasinoTable, fault: InjectedFault) -> None:
    match fault.kind.name:
        case "box_power_cut":
            ahead, at = fault.integer("points"), _POINTS[fault.choice_index("at", _POINTS)]
            if at == "sync":
                casino.disk.cut_at = casino.disk.points + ahead
            else:
                casino.mains.cut_at, casino.mains.before = casino.mains.writes + ahead, at == "before"
        case "clock_step":
            minutes = fault.integer("minutes") * (-1, 1)[fault.choice_index("to", ("back", "ahead"))]
            casino.clock.ahead_ns += minutes * 60_000_000_000
        case "card_falls":
            casino.on_collect = casino.lose_one
        case "card_aside":
            casino.on_collect = lambda back: casino.lose_one(back, "set_aside")
        case "card_swapped":
            casino.on_collect = casino.swap_one
        case "miscount":
            by = fault.integer("by") * (1, -1)[fault.choice_index("way", ("more", "less"))]
            casino.people.miscounts[fault.text("question")] = by
        case "answer_twice":
            casino.people.answers_twice = True
        case "open_again" if not casino.is_box_down:
            casino.controller.submit(ev.OpenRound(DEALER))
        case "call_again" if not casino.is_box_down:
            casino.controller.submit(ev.NoMoreBets(DEALER))
