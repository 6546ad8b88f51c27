"""The fault history of a table from its journal: what failed where, and how long the repair took.

The caller adds the plain JSON of records, oldest first, so that records of other software versions are readable. Facts
that the journal does not have, such as the segment of a jam, come from fault reports.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

_NS: Final = 1_000_000_000
# A fault with the same place and reason within this many cards is a repeat: ten decks.
REPEAT_CARDS: Final = 530
# A fault report belongs to the fault that was journaled within this time (ns).
_SAME: Final = 5 * _NS
UNKNOWN: Final = "not known"
# Irregularities that are faults of a device; others only name a device.
_OF_DEVICE: Final = ("shuffler_fault", "shoe_fault", "device_unusable", "command_failed")

FaultClass = Literal["interruption", "failure"]


class HistoryRow(msgspec.Struct, frozen=True):
    """One step of the journal, as plain JSON."""

    seq: int
    wall_ns: int
    event: dict[str, Any]
    decisions: list[dict[str, Any]]


class ReportedFault(msgspec.Struct, frozen=True):
    """Facts of a fault report that the journal does not have."""

    slot: str
    wall_ns: int
    segment: str
    cause: str
    number: str = ""
    staff: bool = True  # table staff may clear it


class FaultRecord(msgspec.Struct):
    """One fault, from its first sign to the return to service. Times are wall clock (ns); 0: not yet."""

    seq: int
    slot: str
    at_ns: int
    reason: int = 0  # code of the catalog; 0: the device disappeared or a person reported it
    deck: str = ""
    hold: int | None = None
    segment: str = UNKNOWN
    cause: str = UNKNOWN
    report: str = ""
    inside: int | None = None
    cards: int = 0  # moved by the slot up to the fault
    acknowledged_ns: int = 0  # the first answer or order of a person
    cleared_ns: int = 0
    returned_ns: int = 0
    latched: bool = False  # the device is faulted; otherwise only a command failed
    kind: FaultClass = "interruption"  # a failure needed a technician, or the device was taken out of service
    repeats: int | None = None  # the record of the fault that this one repeats

    def waited(self, until_ns: int) -> int | None:
        """Return the seconds from the fault to a time; None if it is 0."""
        return max(0, until_ns - self.at_ns) // _NS if until_ns else None


class CardUse(msgspec.Struct):
    """How many cards a slot moved, in total and by deck."""

    cards: int = 0
    by_deck: dict[str, int] = msgspec.field(default_factory=dict)

    def add(self, cards: int, deck: str) -> None:
        """Count cards."""
        self.cards += cards
        if deck:
            self.by_deck[deck] = self.by_deck.get(deck, 0) + cards


class FaultHistory:
    """The history since some time. Add rows in order, call `finish`, then read `faults` and `uses`."""

    def __init__(self, known: list[ReportedFault] | None = None, since_ns: int = 0) -> None:
        self.faults: list[FaultRecord] = []
        self.uses: dict[str, CardUse] = {}
        self.slots: set[str] = set()  # every slot that an event names, at any time
        self.first_ns = 0
        self.last_ns = 0
        self._since = since_ns
        self._known = known or []
        self._open: dict[str, FaultRecord] = {}
        self._in_slot: dict[str, str] = {}  # the deck in each shuffler
        self._in_play = ""
        self._drawn: dict[str, int] = {}
        self._holds: dict[int, str] = {}  # prompt -> slot

    def add_row(self, row: HistoryRow) -> None:
        """Add one step."""
        counts = row.wall_ns >= self._since
        if slot := row.event.get("slot"):
            self.slots.add(slot)
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

    def _decks(self, row: HistoryRow) -> None:
        """Track which deck is in which shuffler, and which is in play."""
        slot = row.event.get("slot") or ""
        for decision in row.decisions:
            if decision.get("type") == "StateChanged" and str(decision["what"]).startswith("deck "):
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
            case "ShuffleEnded" | "DiscardsTakenIn" | "StackOut" | "StubOut":
                self.uses.setdefault(slot, CardUse()).add(count, deck)
            case "CardsDrawn":  # a running count since the deal began
                before = self._drawn.get(slot, 0)
                self._drawn[slot] = count
                self.uses.setdefault(slot, CardUse()).add(count - before if count > before else count, deck)

    # --- faults -------------------------------------------------------------------------------------------------------

    def _faults(self, row: HistoryRow, *, counts: bool) -> None:
        event, kind = row.event, row.event.get("type")
        if kind == "SlotChanged" and event["trigger"] == "fault":
            self._fault(event["slot"], row, counts=counts)
        elif kind in ("ShuffleFailed", "ShoeFault"):
            fault = self._fault(event["slot"], row, counts=counts)
            fault.reason = fault.reason or int(event.get("reason") or 0)
            if event.get("inside") is not None:
                fault.inside = event["inside"]
        for decision in row.decisions:
            if decision.get("type") == "HoldOpened" and decision["trigger"] in _OF_DEVICE and decision.get("slot"):
                fault = self._fault(decision["slot"], row, counts=counts)
                fault.hold = decision["hold"]
                fault.deck = decision.get("deck") or fault.deck
                if kind == "CommandEnded":
                    fault.reason = fault.reason or int(event.get("reason") or 0)
            elif decision.get("type") == "Prompt" and decision.get("slot") in self._open:
                self._holds[decision["id"]] = decision["slot"]

    def _fault(self, slot: str, row: HistoryRow, *, counts: bool) -> FaultRecord:
        """Return the open fault of a slot, or begin one."""
        if slot in self._open:
            return self._open[slot]
        use = self.uses.setdefault(slot, CardUse())
        fault = FaultRecord(row.seq, slot, row.wall_ns, deck=self._in_slot.get(slot, self._in_play), cards=use.cards)
        if not slot.startswith(("shuffler", "shoe")):
            fault.deck = ""
        near = [each for each in self._known if each.slot == slot and abs(each.wall_ns - row.wall_ns) <= _SAME]
        if near:
            best = min(near, key=lambda each: abs(each.wall_ns - row.wall_ns))
            fault.segment, fault.cause, fault.report = best.segment or UNKNOWN, best.cause or UNKNOWN, best.number
            fault.kind = "interruption" if best.staff else "failure"
        self._open[slot] = fault
        if counts:
            self.faults.append(fault)
        return fault

    def _people(self, row: HistoryRow) -> None:
        """Note the first response of a person to a fault, and whether a technician was needed."""
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

    def _moves(self, row: HistoryRow) -> None:
        for decision in row.decisions:
            if decision.get("type") == "HoldCleared":
                self._hold_cleared(decision["hold"], row)
            if decision.get("type") != "StateChanged" or not str(decision["what"]).startswith("slot "):
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

    def _hold_cleared(self, hold: int, row: HistoryRow) -> None:
        """Close the fault of a cleared irregularity, unless its device is still faulted."""
        for fault in [each for each in self._open.values() if each.hold == hold and not each.latched]:
            fault.cleared_ns = fault.returned_ns = row.wall_ns
            del self._open[fault.slot]

    # --- the result ---------------------------------------------------------------------------------------------------

    def finish(self) -> FaultHistory:
        """Mark repeated faults."""
        last: dict[tuple[str, str, int], FaultRecord] = {}
        for fault in self.faults:
            key = (fault.slot, fault.segment, fault.reason)
            before = last.get(key)
            if before is not None and fault.reason and fault.cards - before.cards <= REPEAT_CARDS:
                fault.repeats = before.seq
            last[key] = fault
        return self


def cards_between(faults: list[FaultRecord], cards: int) -> int | None:
    """Return the mean number of cards between faults; None without faults or cards."""
    return cards // len(faults) if faults and cards else None


def median(values: list[int]) -> int | None:
    """Return the median."""
    return sorted(values)[len(values) // 2] if values else None
