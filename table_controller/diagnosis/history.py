"""Faults and repairs of a table, told from its journal: what failed where, how long it took, what it follows. Pure.

Takes the plain contents of records, oldest first, so that records of other software are still readable. Reads no file,
knows no device's messages. What a journal does not have, as the segment of a jam, is added from dossiers (`Known`).
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

_NS: Final = 1_000_000_000
# A fault of the same place and reason within so many cards after the last one is that one again: ten decks.
REPEAT: Final = 530
# A dossier is of the fault that was journaled at most so long before or after it (ns).
_SAME: Final = 5 * _NS
UNKNOWN: Final = "not known"
# Irregularities that are a device's own fault; others only name the device they were seen at.
_OF_DEVICE: Final = ("shuffler_fault", "shoe_fault", "device_unusable", "command_failed")

Class = Literal["interruption", "failure"]


class Row(msgspec.Struct, frozen=True):
    """One step of the journal, as it stands there."""

    seq: int
    wall_ns: int
    event: dict[str, Any]
    decisions: list[dict[str, Any]]


class Known(msgspec.Struct, frozen=True):
    """What a dossier knows of a fault that the journal does not."""

    slot: str
    wall_ns: int
    segment: str
    cause: str
    number: str = ""
    staff: bool = True  # the people of the table may clear it


class Fault(msgspec.Struct):
    """One fault, from its first sign until its device served again. Times are wall clock (ns), 0: not yet."""

    seq: int
    slot: str
    at_ns: int
    reason: int = 0  # code of the catalogue; 0: it only vanished or was reported faulty
    deck: str = ""
    hold: int | None = None
    segment: str = UNKNOWN
    cause: str = UNKNOWN
    dossier: str = ""
    inside: int | None = None
    cards: int = 0  # that the slot had moved by then
    acknowledged_ns: int = 0  # the first word of a person about it
    cleared_ns: int = 0
    returned_ns: int = 0
    latched: bool = False  # the device was faulted; otherwise only what it was told to do failed
    kind: Class = "interruption"  # a failure needed a technician, or the device was given up
    repeats: int | None = None  # the record of the fault that this one is again

    def waited(self, until_ns: int) -> int | None:
        """Return the seconds from the fault until something, None if it has not come."""
        return max(0, until_ns - self.at_ns) // _NS if until_ns else None


class Use(msgspec.Struct):
    """How many cards a slot moved, of which deck."""

    cards: int = 0
    by_deck: dict[str, int] = msgspec.field(default_factory=dict)

    def add(self, cards: int, deck: str) -> None:
        """Count cards."""
        self.cards += cards
        if deck:
            self.by_deck[deck] = self.by_deck.get(deck, 0) + cards


class History:
    """Everything since some time. `take` rows in order, then read `faults` and `uses`."""

    def __init__(self, known: list[Known] | None = None, since_ns: int = 0) -> None:
        self.faults: list[Fault] = []
        self.uses: dict[str, Use] = {}
        self.first_ns = 0
        self.last_ns = 0
        self._since = since_ns
        self._known = known or []
        self._open: dict[str, Fault] = {}
        self._in_slot: dict[str, str] = {}  # which deck a shuffler has
        self._in_play = ""
        self._drawn: dict[str, int] = {}
        self._holds: dict[int, str] = {}  # prompt -> slot

    def take(self, row: Row) -> None:
        """Fold one step."""
        counts = row.wall_ns >= self._since
        if counts:
            self.first_ns = self.first_ns or row.wall_ns
            self.last_ns = max(self.last_ns, row.wall_ns)
        self._decks(row)
        if counts:
            self._cards(row.event)
        self._faults(row, counts=counts)
        self._people(row)
        self._moves(row)

    # --- cards --------------------------------------------------------------------------------------------------------

    def _decks(self, row: Row) -> None:
        """Follow which deck lies in which shuffler, and which is in play."""
        slot = row.event.get("slot") or ""
        for decision in row.decisions:
            if decision.get("type") == "Moved" and str(decision["what"]).startswith("deck "):
                deck = str(decision["what"])[5:]
                if decision["state"] == "in_device" and slot:
                    self._in_slot[slot] = deck
                elif decision["state"] == "in_play":
                    self._in_play = deck

    def _cards(self, event: dict[str, Any]) -> None:
        slot, count = event.get("slot") or "", event.get("count")
        if not slot or not isinstance(count, int):
            return
        deck = self._in_slot.get(slot, self._in_play)
        match event.get("type"):
            case "ShuffleEnded" | "TakenIn" | "StackOut" | "StubOut":
                self.uses.setdefault(slot, Use()).add(count, deck)
            case "CardsDrawn":  # counted since the deal began
                before = self._drawn.get(slot, 0)
                self._drawn[slot] = count
                self.uses.setdefault(slot, Use()).add(count - before if count > before else count, deck)

    # --- faults -------------------------------------------------------------------------------------------------------

    def _faults(self, row: Row, *, counts: bool) -> None:
        event, kind = row.event, row.event.get("type")
        if kind == "SlotChanged" and event["trigger"] == "fault":
            self._fault(event["slot"], row, counts=counts)
        elif kind in ("ShuffleFailed", "ShoeFault"):
            fault = self._fault(event["slot"], row, counts=counts)
            fault.reason = fault.reason or int(event.get("reason") or 0)
            if event.get("inside") is not None:
                fault.inside = event["inside"]
        for decision in row.decisions:
            if decision.get("type") == "Found" and decision["trigger"] in _OF_DEVICE and decision.get("slot"):
                fault = self._fault(decision["slot"], row, counts=counts)
                fault.hold = decision["hold"]
                fault.deck = decision.get("deck") or fault.deck
                if kind == "CommandEnded":
                    fault.reason = fault.reason or int(event.get("reason") or 0)
            elif decision.get("type") == "Prompt" and decision.get("slot") in self._open:
                self._holds[decision["id"]] = decision["slot"]

    def _fault(self, slot: str, row: Row, *, counts: bool) -> Fault:
        """Return the fault that stands at a slot, or begin one."""
        if slot in self._open:
            return self._open[slot]
        use = self.uses.setdefault(slot, Use())
        fault = Fault(row.seq, slot, row.wall_ns, deck=self._in_slot.get(slot, self._in_play), cards=use.cards)
        if not slot.startswith(("shuffler", "shoe")):
            fault.deck = ""
        near = [each for each in self._known if each.slot == slot and abs(each.wall_ns - row.wall_ns) <= _SAME]
        if near:
            best = min(near, key=lambda each: abs(each.wall_ns - row.wall_ns))
            fault.segment, fault.cause, fault.dossier = best.segment or UNKNOWN, best.cause or UNKNOWN, best.number
            fault.kind = "interruption" if best.staff else "failure"
        self._open[slot] = fault
        if counts:
            self.faults.append(fault)
        return fault

    def _people(self, row: Row) -> None:
        """The first word of a person about a fault, and who had to come."""
        event = row.event
        slot = event.get("slot") if event.get("type") == "SlotOrdered" else None
        if event.get("type") == "Answer":
            slot = self._holds.get(event.get("prompt", -1))
        fault = self._open.get(slot) if slot else None
        if fault is None:
            return
        fault.acknowledged_ns = fault.acknowledged_ns or row.wall_ns
        role = (event.get("who") or {}).get("role")
        if event.get("act") in ("give_up", "sign", "repair") or role == "technician":
            fault.kind = "failure"

    def _moves(self, row: Row) -> None:
        for decision in row.decisions:
            if decision.get("type") == "Cleared":
                self._hold_cleared(decision["hold"], row)
            if decision.get("type") != "Moved" or not str(decision["what"]).startswith("slot "):
                continue
            fault = self._open.get(str(decision["what"])[5:])
            if fault is None:
                continue
            fault.latched = True
            if decision["state"] == "out_of_order_unsigned":
                fault.kind = "failure"
            elif decision["state"] == "cleared":
                fault.cleared_ns = row.wall_ns
            elif decision["state"] == "in_service":
                fault.returned_ns = row.wall_ns
                del self._open[fault.slot]

    def _hold_cleared(self, hold: int, row: Row) -> None:
        """An irregularity is over; so is its fault, unless its device is still out."""
        for fault in [each for each in self._open.values() if each.hold == hold and not each.latched]:
            fault.cleared_ns = fault.returned_ns = row.wall_ns
            del self._open[fault.slot]

    # --- what comes of it ---------------------------------------------------------------------------------------------

    def finish(self) -> History:
        """Mark the faults that are an earlier one again."""
        last: dict[tuple[str, str, int], Fault] = {}
        for fault in self.faults:
            key = (fault.slot, fault.segment, fault.reason)
            before = last.get(key)
            if before is not None and fault.reason and fault.cards - before.cards <= REPEAT:
                fault.repeats = before.seq
            last[key] = fault
        return self


def between(faults: list[Fault], cards: int) -> int | None:
    """Return the mean number of cards between faults; None if there was none, or the device moves no cards."""
    return cards // len(faults) if faults and cards else None


def middle(values: list[int]) -> int | None:
    """Return the median."""
    return sorted(values)[len(values) // 2] if values else None
