"""Checks the accounts of one meter, in whole micro-dollars: no gap, sums of zero, no account overdrawn."""

from __future__ import annotations

from collections import Counter

from tools.export_checks.basics import ACCOUNTS, FIRST, NEVER_BELOW_ZERO, Json, Transfers, need

LOWERS_METER = ("hit", "hit_rebooked", "hit_withdrawn", "hit_reversed", "correction", "reset", "bet_returned")


class MeterBook:
    """The balances of the accounts, added up from the transfers."""

    def __init__(self) -> None:
        self.held = dict.fromkeys(ACCOUNTS, 0)
        self.entries = 0
        self.entries_by_kind: Counter[str] = Counter()
        self.edition = FIRST
        self.documents: set[str] = set()  # of entries by people, in comparable form

    def check_entry(self, entry: Json, expected: Transfers, round_: int, seat: int | None) -> Transfers:
        """Check one entry: it must move exactly the expected amounts. Return what it moved."""
        self.entries += 1
        need(entry["number"] == self.entries, f"entry {entry['number']} is not the next one, {self.entries}")
        need(entry["meter_before"] == self.held["meter"],
             "the meter before the entry is not what it was after the last one")  # fmt: skip
        moved = self._move(entry)
        expected = {transfer: amount for transfer, amount in expected.items() if amount}
        need(moved == expected, f"{entry['kind']} moved {moved}; by the terms it moves {expected}")
        need(sum(self.held.values()) == 0, "the accounts do not sum to zero")
        need(all(self.held[name] >= 0 for name in NEVER_BELOW_ZERO), "an account paid what it did not hold")
        need(entry["meter_after"] == self.held["meter"], "the meter after the entry is not what the accounts give")
        fell = entry["meter_after"] < entry["meter_before"]
        need(not fell or self._may_lower(entry["kind"]), f"the meter falls by a {entry['kind']}")
        need(entry.get("round", 0) == round_ and entry.get("seat") == seat, "the entry names another round or seat")
        self.entries_by_kind[entry["kind"]] += 1
        return expected

    def _move(self, entry: Json) -> Transfers:
        moved: Counter[tuple[str, str]] = Counter()
        for one in entry["transfers"]:
            need(type(one["amount"]) is int and one["amount"] > 0, f"{one['amount']!r} is no amount")
            need(one["source"] in ACCOUNTS and one["to"] in ACCOUNTS, "there is no such account")
            moved[one["source"], one["to"]] += one["amount"]
            self.held[one["source"]] -= one["amount"]
            self.held[one["to"]] += one["amount"]
        return dict(moved)

    def _may_lower(self, kind: str) -> bool:
        return kind in LOWERS_METER and not (self.edition == FIRST and kind == "hit_withdrawn")
