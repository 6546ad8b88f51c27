"""The fault names that tests, `pitbox sim` and the bench view share. The simulated machines implement the faults."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

import msgspec

from firmware_bridge.errors import BadFault

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
        "carry out the next such message, but send no reply",
    ),
    ("hang", "board", {"seconds": "6"}, "the firmware stops; its watchdog restarts it later (0: never)"),
    ("reboot", "board", {}, "the firmware restarts"),
    ("power_cut", "board", {"seconds": "2"}, "power goes and comes back"),
    ("wrong_key", "board", {}, "the board holds a key that does not belong to its serial number"),
    ("rogue_firmware", "board", {}, "the board runs firmware with another digest"),
    ("stall", "firmware", {}, "motors, sensors and displays freeze; the firmware and its link go on"),
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
    (
        "cards_left_inside",
        "machine",
        {"count": "16", "card": "0"},
        "COUNT stored cards in a row slip behind the shelves, from card N on",
    ),
    (
        "card_migrates",
        "machine",
        {"card": "0"},
        "a stored card slips behind the shelves and comes out with the next cards: one set short, the next one over",
    ),
    (
        "bent_card",
        "machine",
        {"segment": "lift", "card": "0", "percent": "15"},
        "a bent card drags, PERCENT slower than another, and sticks in a segment",
    ),
    (
        "foreign_object",
        "machine",
        {"segment": "lift", "card": "0"},
        "something that is no card lies in a segment: it shades the sensor, and card N sticks at it",
    ),
    ("wear", "machine", {"segment": "lift", "percent": "30"}, "transit takes longer by PERCENT"),
    ("slip", "machine", {"segment": "lift", "percent": "10"}, "PERCENT of the cards slip and are gripped again"),
    ("dust", "machine", {"sensor": "lift", "percent": "30"}, "a sensor's clear level sinks by PERCENT"),
    ("seized", "machine", {"motor": "transport"}, "a motor does not turn: it strains, and what it should move sticks"),
    (
        "mend",
        "machine",
        {},
        "new rollers and motors, clean sensors; faults that wait for their card are forgotten",
    ),
    ("sort_mode", "machine", {}, "a person switches the machine to SORT mode"),
    (
        "hasty",
        "firmware",
        {"segment": "lift", "percent": "70"},
        "until its next start the firmware waits in a segment only PERCENT of the time that a card needs",
    ),
    ("door", "machine", {"to": "open"}, "the door is opened or closed"),
    ("load", "hands", {"cards": "0"}, "put CARDS cards from the tray into the intake, 0 = all of them"),
    ("take_intake", "hands", {}, "take the cards in the intake back to the tray"),
    ("missing_card", "hands", {}, "one card of the deck falls under the rail"),
    ("foreign_card", "hands", {}, "a card of another deck joins this one"),
    ("swapped_card", "hands", {}, "one card is replaced by a copy of another: the count stays right"),
    ("clear_path", "hands", {}, "open the door, take every card off the path, close the door"),
    ("take_deck", "hands", {}, "take the deck from the open gate to the tray"),
    (
        "swap_batches",
        "hands",
        {},
        "batch model: the batch from gate or tray goes into play, the one that was in play into the intake",
    ),
    ("draw", "hands", {"cards": "1"}, "continuous model: draw cards from the chute into play, one by one"),
    ("draw_pair", "hands", {}, "continuous model: draw two cards from the chute as if they were one"),
    ("discard", "hands", {"cards": "0"}, "continuous model: put cards in play back into the intake (0: all of them)"),
)
_BET_SENSOR: Final[_Rows] = (
    ("drift", "machine", {"percent": "30"}, "the coil's level rises by PERCENT of a chip's level"),
    ("interference", "machine", {"noise": "200"}, "noise on the coil, in its own units"),
    ("dead_lamp", "machine", {"light": "accepted"}, "a lamp burns out: acknowledged or accepted"),
    ("mend", "machine", {}, "a new coil and new lamps"),
    ("place_bet", "hands", {"chips": "1"}, "the player places chips on the spot"),
    ("edge_bet", "hands", {}, "the player places a chip half over the spot's edge"),
    ("straighten", "hands", {}, "a hand pushes chips at the edge to the middle"),
    ("take_bet", "hands", {"chips": "1"}, "the player takes chips back, the top one first"),
    ("collect", "hands", {}, "the dealer collects the chips on the spot to the tray"),
    ("drop_chip", "hands", {}, "a chip falls from the spot under the rail"),
    ("foreign_object", "hands", {}, "a hand puts a coin or a telephone on the spot"),
    ("take_object", "hands", {}, "a hand takes the foreign object away"),
)
_KEYPAD: Final[_Rows] = (
    ("stuck_key", "machine", {"key": "start_game"}, "a key is pressed and does not come up again"),
    ("dead_key", "machine", {"key": "start_game"}, "a key's contact no longer closes"),
    ("bounce", "machine", {"times": "5"}, "the next press closes its contact TIMES times"),
    ("dead_lamp", "machine", {"lamp": "attention"}, "a lamp burns out: start_game, lock_out or attention"),
    ("dead_display", "machine", {}, "the display stays dark"),
    ("mend", "machine", {}, "new contacts, lamps and display; every key comes up"),
    ("press", "hands", {"key": "start_game"}, "a finger presses a key"),
    ("type", "hands", {"digits": "4"}, "fingers type digits and enter"),
    ("turn", "hands", {"to": "dealer"}, "a person turns the key switch: off, dealer, floor or technician"),
)
_METER_SIGN: Final[_Rows] = (
    ("dead_digit", "machine", {"row": "value", "digit": "2"}, "a digit stays dark, counted from the last cent"),
    ("mend", "machine", {}, "a new display"),
)
_SHAKER: Final[_Rows] = (
    ("lean", "machine", {"die": "1"}, "when the lid comes off, die N leans against the wall"),
    ("stack", "machine", {"die": "1"}, "when the lid comes off, die N lies on another one"),
    ("spill", "machine", {"die": "1"}, "when the lid comes off, die N falls out of the shaker"),
    ("tremble", "machine", {"seconds": "2"}, "when the lid comes off, the dice keep moving for SECONDS"),
    ("dust", "machine", {"die": "1", "percent": "60"}, "the image of die N loses PERCENT of its clearness"),
    ("misread", "machine", {"die": "1", "as": "6"}, "the reader reads every face of die N as face AS"),
    ("drift", "machine", {"percent": "15"}, "the load cell measures PERCENT too much"),
    ("deaf", "machine", {}, "the accelerometer measures nothing"),
    ("mend", "machine", {}, "clean sensors; faults that wait for the lid are removed"),
    (
        "lie",
        "firmware",
        {"how": "seven"},
        "the firmware reports the impossible: seven, no_shake, not_flat, a second reading, under_lid",
    ),
    ("shake", "hands", {"times": "3", "strength": "100"}, "shake N times, with PERCENT of the usual strength"),
    ("lid", "hands", {"to": "off"}, "take the lid off or put it on"),
    ("bump", "hands", {}, "knock against the shaker, so that the dice jump"),
    ("pick_up", "hands", {}, "put fallen dice back into the open shaker"),
    ("door", "hands", {"to": "open"}, "the door is opened or closed"),
    ("remove_die", "hands", {}, "take one die out"),
    ("swap_die", "hands", {"die": "1", "loaded": "6"}, "replace die N by another, loaded for a face (0: a fair one)"),
    ("exchange_dice", "hands", {}, "open the door, take the dice out, put three new ones in, close it"),
)
_RNG: Final[_Rows] = (
    ("noise_stuck", "machine", {"sample": "85"}, "the noise source gives the same sample forever"),
    ("noise_biased", "machine", {"sample": "0", "percent": "35"}, "PERCENT of the samples are SAMPLE"),
    ("noise_dead", "machine", {}, "the noise source gives no samples"),
    ("segment_dead", "machine", {"segment": "a"}, "a segment of the display stays dark: a 7 without segment a shows 1"),
    ("segment_stuck", "machine", {"segment": "a"}, "a segment of the display stays lit"),
    ("mend", "machine", {}, "a new noise source and a new display"),
    (
        "lie",
        "firmware",
        {"how": "zero"},
        "the firmware reports the impossible: zero, eight, another number on the display, a second one for a draw",
    ),
)
_BUTTON: Final[_Rows] = (
    ("weak_magnet", "machine", {"percent": "45"}, "the button's magnet loses PERCENT of its strength"),
    ("stray_field", "machine", {"place": "4", "level": "700"}, "a stray field gives a place's sensor a level"),
    ("dead_sensor", "machine", {"place": "4"}, "a place's sensor gives no level"),
    ("mend", "machine", {}, "a strong magnet, working sensors, no stray field"),
    (
        "lie",
        "firmware",
        {"how": "eight"},
        "the firmware reports the impossible: place eight, an unclear place, nowhere without a reason",
    ),
    ("put_button", "hands", {"at": "1"}, "put the button at a place"),
    ("slide_button", "hands", {"toward": "2", "percent": "50"}, "push the button PERCENT of the way to a place"),
    ("second_button", "hands", {"at": "5"}, "put a second button at a place"),
    ("take_buttons", "hands", {}, "take every button off the layout"),
)
_SHOE: Final[_Rows] = (
    (
        "jam",
        "machine",
        {"segment": "exit", "card": "0"},
        "a card sticks in a segment: card N of the phase, 0 = the next",
    ),
    (
        "double_feed",
        "machine",
        {"segment": "draw", "card": "0", "offset": "30"},
        "two cards are drawn as one, OFFSET mm apart: from the intake (feed) or from the well (draw)",
    ),
    (
        "torn_card",
        "machine",
        {"segment": "exit", "card": "0"},
        "a card tears; its larger part stays in the segment",
    ),
    (
        "card_left_inside",
        "machine",
        {"card": "0"},
        "a card slips behind the well while it is loaded, unseen by any sensor",
    ),
    (
        "bent_card",
        "machine",
        {"segment": "exit", "card": "0", "percent": "15"},
        "a bent card drags, PERCENT slower than another, and sticks in a segment",
    ),
    (
        "foreign_object",
        "machine",
        {"segment": "exit", "card": "0"},
        "something that is no card lies in a segment: it shades the sensor, and card N sticks at it",
    ),
    ("wear", "machine", {"segment": "exit", "percent": "30"}, "transit takes longer by PERCENT"),
    ("slip", "machine", {"segment": "exit", "percent": "10"}, "PERCENT of the cards slip and are gripped again"),
    ("dust", "machine", {"sensor": "exit", "percent": "30"}, "a sensor's clear level sinks by PERCENT"),
    ("seized", "machine", {"motor": "transport"}, "a motor does not turn: it strains, and what it should move sticks"),
    (
        "mend",
        "machine",
        {},
        "new rollers and motors, clean sensors; faults that wait for their card are forgotten",
    ),
    (
        "hasty",
        "firmware",
        {"segment": "exit", "percent": "70"},
        "until its next start the firmware waits in a segment only PERCENT of the time that a card needs",
    ),
    ("door", "machine", {"to": "open"}, "the door is opened or closed"),
    ("load", "hands", {}, "put the deck from the tray into the intake, or into a manual shoe's well"),
    ("take", "hands", {"cards": "0"}, "take CARDS of the cards in the slot, 0 = all"),
    ("draw", "hands", {"cards": "1"}, "draw CARDS cards from the shoe by hand, one after the other"),
    ("lift", "hands", {}, "lift every card out of a manual shoe's well, not past the counter"),
    ("face_up", "hands", {"depth": "5"}, "a card of the deck lies face up, under DEPTH others"),
    ("cover_card", "hands", {"depth": "40"}, "a cover card is put into the deck, under DEPTH cards"),
    ("missing_card", "hands", {}, "one card of the deck falls under the rail"),
    ("foreign_card", "hands", {}, "a card of another deck joins this one"),
    ("clear_path", "hands", {}, "open the door, take every card off the path, close the door"),
    ("gather", "hands", {}, "collect the cards that were dealt and discarded in the tray"),
)

# Faults of a whole table: of its box, and of the people around it.
_HOUSE: Final[_Rows] = (
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

# Faults of one kind of machine only.
_OWN: Final[dict[str, _Rows]] = {
    "shuffler": _SHUFFLER,
    "shoe": _SHOE,
    "shaker": _SHAKER,
    "rng": _RNG,
    "button": _BUTTON,
    "bet_sensor": _BET_SENSOR,
    "keypad": _KEYPAD,
    "meter_sign": _METER_SIGN,
}


def _words(rows: _Rows) -> dict[str, FaultKind]:
    return {name: FaultKind(name, acts_on, details, meaning) for name, acts_on, details, meaning in rows}


COMMON_FAULTS: Final = _words(_EVERY)
FAULTS_BY_KIND: Final = {machine: _words(rows) for machine, rows in _OWN.items()}
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
