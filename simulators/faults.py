"""The one vocabulary of faults, for tests, `pitbox sim` and the bench view. What a fault does is in the twins."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

import msgspec

from firmware_bridge.errors import BadFault

ACTS_ON: Final = ("line", "board", "firmware", "machine", "hands")


class FaultKind(msgspec.Struct, frozen=True):
    """A word of the vocabulary: where it acts, what details it takes (name -> default text), what it means."""

    name: str
    acts_on: str  # one of ACTS_ON
    details: dict[str, str]
    meaning: str


class Fault(msgspec.Struct, frozen=True):
    """A fault to inject. Details are texts; the accessors turn them into what is meant or raise BadFault."""

    kind: FaultKind
    given: dict[str, str]

    def text(self, name: str) -> str:
        """Return a detail, or its default."""
        return self.given.get(name, self.kind.details[name])

    def number(self, name: str) -> float:
        """Return a detail as a number that is not negative."""
        try:
            value = float(self.text(name))
        except ValueError:
            raise BadFault(f"{self.kind.name}: {name} is a number, not {self.text(name)!r}") from None
        if not 0 <= value < 1e9:
            raise BadFault(f"{self.kind.name}: {name} cannot be {value:g}")
        return value

    def whole(self, name: str) -> int:
        """Return a detail as a whole number."""
        if self.number(name) % 1:
            raise BadFault(f"{self.kind.name}: {name} is a whole number, not {self.text(name)}")
        return int(self.number(name))

    def one_of(self, name: str, choices: tuple[str, ...]) -> int:
        """Return the place of a detail among its choices."""
        if self.text(name) not in choices:
            raise BadFault(f"{self.kind.name}: {name} is one of {', '.join(choices)}, not {self.text(name)!r}")
        return choices.index(self.text(name))


def describe(fault: Fault) -> str:
    """Return a fault as it could be typed, with the details that were left out, and what it means."""
    details = ",".join(f"{name}={fault.text(name)}" for name in fault.kind.details)
    return f"{fault.kind.name}{':' if details else ''}{details} ({fault.kind.meaning})"


_Rows = tuple[tuple[str, str, dict[str, str], str], ...]


_EVERY: Final[_Rows] = (
    # the line between box and machine
    ("drop", "line", {"rate": "0.2", "frames": "0"}, "lose frames: a share of all, or just the next FRAMES"),
    ("duplicate", "line", {"rate": "0.2", "frames": "0"}, "deliver frames twice"),
    ("corrupt", "line", {"rate": "0.2", "frames": "0"}, "flip a bit in frames"),
    ("junk", "line", {"rate": "0.2", "bytes": "40"}, "put noise between frames"),
    ("split", "line", {}, "deliver every byte by itself"),
    ("slow", "line", {"baud": "9600"}, "pace bytes as a slow line would"),
    ("calm", "line", {}, "end all of the line's faults"),
    ("garbage", "line", {"bytes": "2000"}, "one burst of noise towards the box"),
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
        "do what is asked, but swallow the next reply to this message",
    ),
    ("hang", "board", {"seconds": "6"}, "the firmware stops; its watchdog restarts it later (0: never)"),
    ("reboot", "board", {}, "the firmware restarts"),
    ("power_cut", "board", {"seconds": "2"}, "power goes and comes back"),
    ("wrong_key", "board", {}, "the board holds another key than its serial number's"),
    ("rogue_firmware", "board", {}, "the board runs firmware with another digest"),
    ("stall", "firmware", {}, "motors freeze and the firmware does not notice; the link lives"),
)
_SHUFFLER: Final[_Rows] = (
    (
        "jam",
        "machine",
        {"segment": "lift", "card": "0"},
        "a card sticks in a segment: card N of the phase, 0 = the next",
    ),
    ("double_feed", "machine", {"card": "0", "offset": "30"}, "two cards go in as one, OFFSET mm apart"),
    (
        "torn_card",
        "machine",
        {"segment": "bridge", "card": "0"},
        "a card tears; its larger part stays in the segment",
    ),
    (
        "card_left_inside",
        "machine",
        {"card": "0"},
        "a stored card slips behind the shelves, unseen by any sensor",
    ),
    ("wear", "machine", {"segment": "lift", "percent": "30"}, "transit takes longer by PERCENT"),
    ("dust", "machine", {"sensor": "lift", "percent": "30"}, "a sensor's clear level sinks by PERCENT"),
    ("mend", "machine", {}, "a new roller, clean sensors; faults that wait for their card are forgotten"),
    ("sort_mode", "machine", {}, "somebody switches the machine to SORT"),
    ("door", "machine", {"to": "open"}, "the door is opened or closed"),
    ("load", "hands", {}, "put the deck from the tray into the intake"),
    ("missing_card", "hands", {}, "one card of the deck falls under the rail"),
    ("foreign_card", "hands", {}, "a card of another deck joins this one"),
    ("swapped_card", "hands", {}, "one card is replaced by a copy of another: the count stays right"),
    ("clear_path", "hands", {}, "open the door, take every card off the path, close the door"),
    ("take_deck", "hands", {}, "take the deck from the open gate to the tray"),
)

# What can happen to each kind of machine besides what can happen to all of them.
_OWN: Final[dict[str, _Rows]] = {
    "shuffler": _SHUFFLER,
}


def _words(rows: _Rows) -> dict[str, FaultKind]:
    return {name: FaultKind(name, acts_on, details, meaning) for name, acts_on, details, meaning in rows}


EVERY: Final = _words(_EVERY)
OWN: Final = {machine: _words(rows) for machine, rows in _OWN.items()}


def vocabulary(machine: str) -> dict[str, FaultKind]:
    """Return the words that a kind of machine understands."""
    return EVERY | OWN[machine]


def check_word(text: str) -> None:
    """Raise BadFault for a fault that no machine knows, before anybody is asked to let it happen."""
    every = EVERY | {name: word for words in OWN.values() for name, word in words.items()}
    name = text.partition(":")[0]
    if name not in every:
        raise BadFault(f"no fault {name!r}{_near(name, every)}; `pitbox sim faults` lists them all")


def parse_fault(text: str, machine: str) -> Fault:
    """Read `name` or `name:detail=value,detail=value`; BadFault names what is wrong and what was probably meant."""
    known = vocabulary(machine)
    name, _, rest = text.partition(":")
    kind = known.get(name)
    if kind is None:
        check_word(text)
        others = [other for other, words in OWN.items() if name in words]
        raise BadFault(f"{name} does not happen to a {machine}; it happens to: {', '.join(others)}")
    given: dict[str, str] = {}
    for part in filter(None, rest.split(",")):
        detail, equals, value = part.partition("=")
        if not equals or detail not in kind.details:
            takes = ", ".join(f"{k}={v}" for k, v in kind.details.items()) or "no details"
            raise BadFault(f"{name}: cannot read {part!r}{_near(detail, kind.details)}; it takes {takes}")
        given[detail] = value
    return Fault(kind, given)


def _near(word: str, known: dict[str, FaultKind] | dict[str, str]) -> str:
    close = get_close_matches(word, known, 1)
    return f" (did you mean {close[0]!r}?)" if close else ""
