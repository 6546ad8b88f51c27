"""Checks envy payments: for which hand, to which seats, how much; by the dealer's answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tools.export_checks.basics import Json, Transfers, need

if TYPE_CHECKING:
    from tools.export_checks.hits import AnsweredPrompt

# The dealer's choices for a hand without envy.
NONE = ("none", "no")


class EnvyPayment(NamedTuple):
    """The envy that one seat was paid for another seat's hand."""

    of: int
    seat: int
    amount: int


class EnvyReversal(NamedTuple):
    """The envy that a step takes back: of the whole round, of void hands, or of hands whose claim was withdrawn."""

    everything: bool
    void: set[int]
    claims: set[int]

    def concern(self, paid: EnvyPayment) -> bool:
        """Return whether a payment must come back."""
        return self.everything or paid.of in self.void or paid.seat in self.void or paid.of in self.claims


class EnvyCheck:
    """The envy of one round."""

    def __init__(self) -> None:
        self.lines: dict[int, str] = {}  # seats whose hand the dealer has named
        self.given: set[int] = set()  # seats whose hand was paid to the others
        self.paid: list[EnvyPayment] = []

    def answered(self, asked: AnsweredPrompt) -> None:
        """Remember the line that the dealer named for a hand."""
        if asked.kind in ("envy_line", "envy_hand") and asked.seat is not None:
            self.lines[asked.seat] = "" if asked.choice in NONE else asked.choice

    def pay(
        self, entry: Json, asked: AnsweredPrompt | None, hand: str | None, awards: list[Json], bettors: set[int]
    ) -> Transfers:
        """Return the payment for one hand: its line's envy, once, to the seats that the dealer named."""
        of = entry.get("seat")
        ours = asked is not None and (asked.kind, asked.choice, asked.seat) == ("progressive_envy", "paid", of)
        need(ours, f"envy for the hand of seat {of}, and the dealer did not confirm that it was paid")
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
        self.paid += [EnvyPayment(of, seat, each) for seat in asked.seats]
        return {("house", "envy"): each * len(asked.seats)}

    def give_back(self, entry: Json, falls: EnvyReversal) -> Transfers:
        """Return what one seat pays back: an earlier payment, because a hand or a claim was withdrawn."""
        amount, seat = sum(one["amount"] for one in entry["transfers"]), entry.get("seat", 0)
        due = [paid for paid in self.paid if (paid.seat, paid.amount) == (seat, amount) and falls.concern(paid)]
        need(due, f"envy comes back from seat {seat} that nothing takes from it")
        self.paid.remove(due[0])
        if due[0].of in falls.claims:
            self.given.discard(due[0].of)  # what the dealer names next may be paid
        return {("envy", "house"): amount}

    def check_fallen(self, falls: EnvyReversal) -> None:
        """Check after a step that no seat keeps envy that the step takes back."""
        kept = [paid for paid in self.paid if falls.concern(paid)]
        need(not kept, f"a hand or its claim is void, and envy stays: {', '.join(map(str, kept))}")
