"""Envy: for which hand, to which seats, how much; by the dealer's own answers."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tools.export_checks.basics import Json, Ways, need

if TYPE_CHECKING:
    from tools.export_checks.hits import Asked

# What the dealer says of a hand that brings none.
NONE = ("none", "no")


class Envy:
    """The envy of one round."""

    def __init__(self) -> None:
        self.lines: dict[int, str] = {}  # seats whose hand the dealer has named
        self.given: set[int] = set()  # seats whose hand was paid to the others
        self.paid: Counter[tuple[int, int]] = Counter()  # (seat, amount): what it was paid and has

    def answered(self, asked: Asked) -> None:
        """Remember the line that the dealer named for a hand."""
        if asked.kind in ("envy_line", "envy_hand") and asked.seat is not None:
            self.lines[asked.seat] = "" if asked.choice in NONE else asked.choice

    def pay(self, entry: Json, asked: Asked | None, hand: str | None, awards: list[Json], bettors: set[int]) -> Ways:
        """Return what is paid for one hand: its line's envy, once, to the seats that the dealer named."""
        of = entry.get("seat")
        ours = asked is not None and (asked.kind, asked.choice, asked.seat) == ("progressive_envy", "paid", of)
        need(ours, f"envy for the hand of seat {of}, and the dealer did not say that it was paid")
        assert asked is not None
        assert of is not None
        need(of not in self.given, f"envy for the hand of seat {of} is paid twice")
        line = hand if hand is not None else self.lines.get(of)
        each = sum(award["envy"] for award in awards if award["hand"] == line)
        need(each, f"envy for the hand of seat {of}, which brings none")
        need(len(set(asked.seats)) == len(asked.seats), "envy to one seat twice")
        need(
            set(asked.seats) <= bettors - {of},
            f"envy to seats {asked.seats}; other bettors are {sorted(bettors - {of})}",
        )
        amounts = [one["amount"] for one in entry["transfers"]]
        need(amounts == [each] * len(asked.seats), "envy of an amount that its line does not pay")
        self.given.add(of)
        self.paid.update((seat, each) for seat in asked.seats)
        return {("house", "envy"): each * len(asked.seats)}

    def give_back(self, entry: Json, *, orders: bool) -> Ways:
        """Return what comes back from one seat: something that it was paid, because a hand or a claim fell."""
        amount = sum(one["amount"] for one in entry["transfers"])
        need(orders, "envy comes back, and nothing was void or withdrawn")
        need(self.paid[entry.get("seat", 0), amount] > 0, "envy comes back that was not paid")
        self.paid[entry.get("seat", 0), amount] -= 1
        self.given.clear()  # whose hand it was for, the entry does not say; each may be paid again by an answer
        return {("envy", "house"): amount}
