"""The fault names that tests, `pitbox sim` and the bench view share. The simulated machines implement the faults.

Each kind of machine lists its own in `simulators/kinds/<kind>/faults.py`, with those that a fault schedule draws.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Final

import msgspec

from devices.message_registry import KIND_MESSAGES
from firmware_bridge.errors import BadFault

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

ACTS_ON: Final = ("line", "board", "firmware", "machine", "hands")
# The kind name of faults that concern a whole table, not one of its machines.
TABLE_KIND: Final = "house"


class FaultKind(msgspec.Struct, frozen=True):
    """A fault name: where it acts, its details (name -> default text), and its meaning."""

    name: str
    acts_on: str  # one of ACTS_ON
    details: dict[str, str]
    meaning: str


class InjectedFault(msgspec.Struct, frozen=True):
    """A fault to inject. Details are texts; the accessors convert them or raise BadFault."""

    kind: FaultKind
    details: dict[str, str]

    def text(self, name: str) -> str:
        """Return a detail, or its default."""
        return self.details.get(name, self.kind.details[name])

    def number(self, name: str) -> float:
        """Return a detail as a number that is not negative."""
        try:
            value = float(self.text(name))
        except ValueError:
            raise BadFault(f"{self.kind.name}: {name} is a number, not {self.text(name)!r}") from None
        if not 0 <= value < 1e9:
            raise BadFault(f"{self.kind.name}: {name} cannot be {value:g}")
        return value

    def integer(self, name: str) -> int:
        """Return a detail as a whole number."""
        if self.number(name) % 1:
            raise BadFault(f"{self.kind.name}: {name} is a whole number, not {self.text(name)}")
        return int(self.number(name))

    def choice_index(self, name: str, choices: tuple[str, ...]) -> int:
        """Return the index of a detail among its choices."""
        if self.text(name) not in choices:
            raise BadFault(f"{self.kind.name}: {name} is one of {', '.join(choices)}, not {self.text(name)!r}")
        return choices.index(self.text(name))


def describe(fault: InjectedFault) -> str:
    """Return a fault as it can be typed, with default details filled in, and its meaning."""
    details = ",".join(f"{name}={fault.text(name)}" for name in fault.kind.details)
    return f"{fault.kind.name}{':' if details else ''}{details} ({fault.kind.meaning})"


# Rows of faults: name, where it acts, details, meaning.
FaultRows = tuple[tuple[str, str, dict[str, str], str], ...]

_EVERY: Final[FaultRows] = (
    # the line between box and machine
    ("drop", "line", {"rate": "0.2", "frames": "0"}, "lose frames: a share of all, or just the next FRAMES"),
    ("duplicate", "line", {"rate": "0.2", "frames": "0"}, "deliver frames twice"),
    ("corrupt", "line", {"rate": "0.2", "frames": "0"}, "flip a bit in frames"),
    ("junk", "line", {"rate": "0.2", "bytes": "40"}, "put noise between frames"),
    ("split", "line", {}, "deliver every byte by itself"),
    ("slow", "line", {"baud": "9600"}, "pace bytes as a slow line would"),
    ("calm", "line", {}, "end all of the line's faults"),
    ("garbage", "line", {"bytes": "2000"}, "one burst of noise toward the box"),
    ("unplug", "line", {"seconds": "2"}, "pull the cable, put it back later (0: never)"),
    (
        "usb_stall",
        "line",
        {"endpoint": "in", "times": "1"},
        "on USB: an endpoint stalls until it was cleared TIMES times",
    ),
    ("usb_busy", "line", {"seconds": "1"}, "on USB: no transfer is answered for a while"),
    # the controller board
    (
        "withhold",
        "board",
        {"message": "GetStatus"},
        "carry out the next such message, but send no reply",
    ),
    ("hang", "board", {"seconds": "6"}, "the firmware stops; its watchdog restarts it later (0: never)"),
    ("reboot", "board", {}, "the firmware restarts"),
    ("power_cut", "board", {"seconds": "2"}, "power goes and comes back"),
    ("wrong_key", "board", {}, "the board has a key that does not belong to its serial number"),
    ("rogue_firmware", "board", {}, "the board runs firmware with another digest"),
    ("stall", "firmware", {}, "motors, sensors and displays freeze; the firmware and its link go on"),
)

# Faults of a whole table: of its box, and of the people around it.
_HOUSE: Final[FaultRows] = (
    (
        "box_power_cut",
        "box",
        {"at": "sync", "points": "1"},
        "the box loses power at the POINTS-th disk sync from now (at=sync), or before or after a device write",
    ),
    ("clock_step", "box", {"to": "back", "minutes": "60"}, "the box's wall clock is set MINUTES ahead or back"),
    ("card_falls", "hands", {}, "a card of the next collected deck falls under the rail"),
    (
        "card_aside",
        "hands",
        {},
        "a card of the next collected deck is set aside next to the shoe, like a cover card",
    ),
    ("card_swapped", "hands", {}, "a card of the next collected deck is replaced by a copy of another"),
    (
        "miscount",
        "hands",
        {"question": "stub", "by": "1", "way": "more"},
        "the next answer to this QUESTION is wrong by BY, more or less",
    ),
    ("answer_twice", "hands", {}, "two people answer the next question at once"),
    ("open_again", "hands", {}, "the dealer opens a round, even while one is under way"),
    ("call_again", "hands", {}, "the dealer calls no more bets, at any moment"),
)


def _words(rows: FaultRows) -> dict[str, FaultKind]:
    return {name: FaultKind(name, acts_on, details, meaning) for name, acts_on, details, meaning in rows}


COMMON_FAULTS: Final = _words(_EVERY)
FAULTS_BY_KIND: Final = {
    machine.KIND: _words(import_module(f"simulators.kinds.{machine.KIND}.faults").FAULTS) for machine in KIND_MESSAGES
}
# What a fault schedule may inject into a machine of a model, drawn at random; a kind without a `mishaps` of its own has
# the faults of every machine only.
MISHAPS_BY_KIND: Final[dict[str, Callable[[Random, str], list[str]] | None]] = {
    machine.KIND: getattr(import_module(f"simulators.kinds.{machine.KIND}.faults"), "mishaps", None)
    for machine in KIND_MESSAGES
}
TABLE_FAULTS: Final = _words(_HOUSE)


def known_faults(machine: str) -> dict[str, FaultKind]:
    """Return the faults of a kind of machine, or of a whole table."""
    return TABLE_FAULTS if machine == TABLE_KIND else COMMON_FAULTS | FAULTS_BY_KIND[machine]


def check_fault_name(text: str) -> None:
    """Raise BadFault for a fault name that no machine knows."""
    every = COMMON_FAULTS | {name: word for words in FAULTS_BY_KIND.values() for name, word in words.items()}
    name = text.partition(":")[0]
    if name not in every:
        raise BadFault(f"no fault {name!r}{_near(name, every)}; `pitbox sim faults` lists them all")


def parse_fault(text: str, machine: str) -> InjectedFault:
    """Parse `name` or `name:detail=value,detail=value`; BadFault names the error and the nearest known name."""
    known = known_faults(machine)
    name, _, details_text = text.partition(":")
    kind = known.get(name)
    if kind is None:
        check_fault_name(text)
        others = [other for other, words in FAULTS_BY_KIND.items() if name in words]
        raise BadFault(f"{name} does not happen to a {machine}; it happens to: {', '.join(others)}")
    given: dict[str, str] = {}
    for part in filter(None, details_text.split(",")):
        detail, equals, value = part.partition("=")
        if not equals or detail not in kind.details:
            accepted = ", ".join(f"{k}={v}" for k, v in kind.details.items()) or "no details"
            raise BadFault(f"{name}: cannot read {part!r}{_near(detail, kind.details)}; it takes {accepted}")
        given[detail] = value
    return InjectedFault(kind, given)


def _near(word: str, known: dict[str, FaultKind] | dict[str, str]) -> str:
    close = get_close_matches(word, known, 1)
    return f" (did you mean {close[0]!r}?)" if close else ""
