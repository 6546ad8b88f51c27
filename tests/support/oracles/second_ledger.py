"""An independent ledger of a meter's accounts, written from docs/money.md alone: answers decide what is owed.

Bets and claims in force are added up from scratch after every step; nothing is ever undone. The ledger reads questions
and answers, and of the decisions only which bets were accepted or returned and which hands a round lost.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from table_controller.table import events as ev
from table_controller.table.decisions import (
    BetAccepted,
    BetReturned,
    Booked,
    HoldOpened,
    MeterPlay,
    RequestRefused,
    WagersReturned,
)

if TYPE_CHECKING:
    from table_controller.ledger.meter import Award, MeterRules
    from table_controller.table.decisions import Decision, Prompt

CENT: Final = 10_000
MOST: Final = 9_999_999_999 * CENT
FALLS: Final = {("hit_hand", "not_winning"), ("hit_dark", "refuse"), ("hit_validate", "refuse")}
REASONS: Final = {
    "malfunction": {"sensor_fault", "device_fault", "software_fault", "dealing_error", "journal_lost"},
    "transfer": {"to_other_meter", "from_other_meter"},
}
ROLES: Final[dict[type[ev.Event], tuple[str, str]]] = {
    ev.MeterCorrected: ("floorperson", "auditor"),
    ev.MeterReset: ("floorperson", "auditor"),
    ev.MeterClosed: ("floorperson", "auditor"),
    ev.MeterOpened: ("floorperson", "auditor"),
    ev.OverflowTransferred: ("floorperson", "auditor"),
    ev.MeterParameters: ("technician", "auditor"),
}
Corrects = (ev.MeterCorrected, ev.MeterReset)


@dataclass
class SecondLedgerBet:
    """A bet in force, as it was split."""

    unit: int
    meter: int
    reserve: int
    overflow: int


@dataclass
class SecondLedgerClaim:
    """A claim in force."""

    seat: int
    award: Award
    paid: str = ""  # "table", or the slip's number
    amount: int = 0  # once it is paid by hand


@dataclass
class OwedAmounts:
    """What standing bets and claims come to."""

    meter: int
    reserve: int
    seed: int
    dues: list[int] = field(default_factory=list)


class SecondLedger:
    """One meter. `check` compares it with the box's own book after every step."""

    def __init__(self, rules: MeterRules, *, rate_is_open: bool) -> None:
        self.rules, self._rate_is_open = rules, rate_is_open
        self.limit, self.rate_bp = MOST, rules.rate_bp
        self.closed = ""
        self.slips: set[int] = set()
        self.documents: set[str] = set()  # of what moved money by hand
        self.seen: set[str] = set()  # every kind of case so far, for the coverage counts of a run
        # What closed rounds left.
        self.total: dict[str, int] = {"meter": rules.seed, "seed": -rules.seed}
        self.bets: dict[int, SecondLedgerBet] = {}
        self.claims: list[SecondLedgerClaim] = []
        self.envy: list[tuple[int, int, int]] = []  # of, to, amount
        self.is_uneven = False  # a share was paid and something before it fell: docs/money.md has no one answer then

    # --- steps --------------------------------------------------------------------------------------------------------

    def apply_step(self, event: ev.Event, prompt: Prompt | None, decisions: list[Decision], *, is_idle: bool) -> None:
        """Follow one step; `prompt` is the question that the event answers, if it was open."""
        refused = any(isinstance(each, RequestRefused) for each in decisions)
        if type(event) in ROLES:
            self._by_hand(event, is_idle=is_idle, refused=refused)
            booked = [each.entry.document for each in decisions if isinstance(each, Booked)]
            self.documents |= {_same_paper(document) for document in booked}
            return
        for each in decisions:
            if isinstance(each, MeterPlay) and not each.open:
                self.closed = each.cause
                self.seen.add(f"closed: {each.cause}")
        if isinstance(event, ev.Answer) and prompt is not None and not refused:
            self._answered(prompt, event, decisions)
        self._fallen(decisions)
        for each in decisions:
            if isinstance(each, BetAccepted):
                self._accept(each.seat)

    def _accept(self, seat: int) -> None:
        unit, rules = self.rules.unit, self.rules
        part = unit * self.rate_bp // 10_000
        room = max(0, self.limit - self.fold().meter)
        self.bets[seat] = SecondLedgerBet(
            unit, min(part, room), unit * rules.reserve_bp // 10_000, part - min(part, room)
        )
        self.seen |= {"bet"} | ({"overflow"} if part > room else set())

    def _answered(self, prompt: Prompt, answer: ev.Answer, decisions: list[Decision]) -> None:
        kind, choice, seat = prompt.kind, answer.choice, prompt.seat
        if kind == "progressive" and choice not in ("no_win", "disputed"):
            award = next(each for each in self.rules.awards if each.hand == choice)
            assert seat is not None
            self.claims.append(SecondLedgerClaim(seat, award))
            self.seen.add(f"claim of {award.percent} %")
        elif (kind, choice) in FALLS:
            self._drop(seat, f"{kind} {choice}")
        elif kind == "hit_pay":
            self._of(seat).paid = "table"
            self.seen.add("paid by the table")
        elif kind == "hand_pay":
            assert answer.number is not None
            assert answer.number not in self.slips, "one slip documents two hand pays"
            self.slips.add(answer.number)
            at = self.claims.index(self._of(seat))
            claim = self.claims[at]
            claim.amount = _paid_by(decisions) if self.is_uneven else self.fold().dues[at]
            claim.paid = str(answer.number)
            self.seen.add("hand pay")
        elif kind == "progressive_envy" and choice == "paid":
            assert seat is not None
            hand = self._envied(seat, decisions)
            self.envy += [(seat, to, hand) for to in answer.seats]
            self.seen.add("envy")

    def _envied(self, of: int, decisions: list[Decision]) -> int:
        """Return what the hand of a seat pays each of the others: of its claim, or as the entry has it."""
        claim = next((each for each in self.claims if each.seat == of), None)
        if claim is not None:
            return claim.award.envy
        entries = [each.entry for each in decisions if isinstance(each, Booked)]
        amounts = {one.amount for entry in entries if entry.kind == "envy" for one in entry.transfers}
        assert amounts <= {award.envy for award in self.rules.awards}, amounts
        return int(amounts.pop())

    def _fallen(self, decisions: list[Decision]) -> None:
        """Bets went back: nothing of them, of their claims or of their envy was ever there."""
        seats = [each.seat for each in decisions if isinstance(each, BetReturned)]
        void = {each.seat for each in decisions if isinstance(each, WagersReturned) and each.seat is not None}
        irregularities = [
            each for each in decisions if isinstance(each, HoldOpened) and each.trigger == "bet_without_wager"
        ]
        void |= {each.seat for each in irregularities if each.seat is not None}
        whole = [each for each in decisions if isinstance(each, WagersReturned) and each.seat is None]
        if any("progressive" not in each.settled for each in whole):
            self.envy = []
        gone = {*seats, *void}
        self.envy = [each for each in self.envy if not gone & {each[0], each[1]}]
        for seat in seats:
            self._drop(seat, "void", may_lack=True)
            self.is_uneven = self.is_uneven or self._has_paid_share()
            del self.bets[seat]
            self.seen.add("returned")

    def _has_paid_share(self) -> bool:
        return any(claim.paid not in ("", "table") and claim.award.percent for claim in self.claims)

    def _of(self, seat: int | None) -> SecondLedgerClaim:
        return next(each for each in self.claims if each.seat == seat)

    def _drop(self, seat: int | None, why: str, *, may_lack: bool = False) -> None:
        places = [at for at, each in enumerate(self.claims) if each.seat == seat]
        assert places or may_lack
        for at in places:
            later = self.claims[at + 1 :]
            assert self.claims[at].paid in ("", "table"), "what was documented fell"
            self.is_uneven = self.is_uneven or any(c.paid not in ("", "table") and c.award.percent for c in later)
            del self.claims[at]
            self.envy = [each for each in self.envy if each[0] != seat]
            self.seen |= {f"fell: {why}"} | ({"fell under a later claim"} if later else set())

    # --- by hand ------------------------------------------------------------------------------------------------------

    def _by_hand(self, event: Any, *, is_idle: bool, refused: bool) -> None:
        why = self._objection(event, is_idle=is_idle)
        assert bool(why) is refused, f"{event}: {why or 'nothing is against it'}; refused: {refused}"
        self.seen.add(f"{type(event).__name__}{' refused' if refused else ''}")
        if refused:
            return
        total = self.total
        if isinstance(event, Corrects):
            by = self._change(event)
            source = "seed" if isinstance(event, ev.MeterReset) and by > 0 else "corrections"
            total["meter"] += by
            total[source] = total.get(source, 0) - by
        elif isinstance(event, ev.OverflowTransferred):
            total["meter"] += event.amount
            total["overflow"] = total.get("overflow", 0) - event.amount
        elif isinstance(event, ev.MeterParameters):
            self.limit = self.limit if event.limit_cents is None else event.limit_cents * CENT
            self.rate_bp = self.rate_bp if event.rate_bp is None else event.rate_bp
        else:
            self.closed = "people" if isinstance(event, ev.MeterClosed) else ""

    def _change(self, event: Any) -> int:
        return int(event.amount if isinstance(event, ev.MeterCorrected) else self.rules.seed - self.total["meter"])

    def _objection(self, event: Any, *, is_idle: bool) -> str:
        first, second = ROLES[type(event)]
        if isinstance(event, ev.MeterOpened) and self.closed == "unreasonable":
            second = "technician"
        if (event.who.role, event.second.role) != (first, second):
            return "other roles"
        if event.who.identity == event.second.identity:
            return "one person"
        if not event.document.strip():
            return "no document"
        if not is_idle:
            return "a round is under way"
        if isinstance(event, (*Corrects, ev.OverflowTransferred)) and _same_paper(event.document) in self.documents:
            return "a document moves money once"
        if isinstance(event, Corrects):
            return self._bad_change(event)
        meter = self.total["meter"]
        if isinstance(event, ev.OverflowTransferred):
            return "" if 0 < event.amount <= min(self.total.get("overflow", 0), self.limit - meter) else "amount"
        if isinstance(event, ev.MeterParameters):
            return self._bad_parameters(event)
        return "" if isinstance(event, ev.MeterClosed) is not bool(self.closed) else "it is so already"

    def _bad_change(self, event: Any) -> str:
        by = self._change(event)
        if event.reason not in REASONS.get(event.ground, ()):
            return "no ground"
        if event.ground == "transfer" and not event.counterpart.strip():
            return "no counterpart"
        if event.ground == "transfer" and (by < 0) != (event.reason == "to_other_meter"):
            return "the other way"
        after = self.total["meter"] + by
        above = isinstance(event, ev.MeterCorrected) and by >= 0 and after > self.limit
        return "amount" if after < 0 or above else ""

    def _bad_parameters(self, event: ev.MeterParameters) -> str:
        if self.closed != "people":
            return "the meter is not closed by people"
        if event.rate_bp is not None and not (self._rate_is_open and event.submission.strip()):
            return "the rate is printed, or no submission is named"
        if event.rate_bp is not None and event.rate_bp != self.rules.rate_bp:
            return "not the configured rate"
        limit = None if event.limit_cents is None else event.limit_cents * CENT
        fits = limit is None or max(self.rules.seed, self.total["meter"]) <= limit <= MOST
        return "" if fits else "limit"

    # --- what is owed ---------------------------------------------------------------------------------------------

    def fold(self) -> OwedAmounts:
        """Add up the bets and claims in force, starting from the balances of closed rounds."""
        meter = self.total["meter"] + sum(bet.meter for bet in self.bets.values())
        reserve = self.total.get("reserve", 0) + sum(bet.reserve for bet in self.bets.values())
        owed = OwedAmounts(meter, reserve, self.total["seed"])
        for claim in self.claims:
            share = owed.meter * claim.award.percent // 100 // CENT * CENT
            owed.meter -= share
            owed.dues.append(claim.award.fixed + share)
            if claim.award.percent == 100:
                from_reserve = min(self.rules.reseed, owed.reserve)
                owed.meter += self.rules.reseed
                owed.reserve -= from_reserve
                owed.seed -= self.rules.reseed - from_reserve
        return owed

    def accounts(self) -> dict[str, int]:
        """Return what every account must hold now."""
        fold, old = self.fold(), self.total
        paid = [(claim, due) for claim, due in zip(self.claims, fold.dues, strict=True)]
        by = {
            "pending": sum(due for claim, due in paid if not claim.paid),
            "fixed_awards": sum(due for claim, due in paid if claim.paid == "table"),
            "hand_pays": sum(due for claim, due in paid if claim.paid not in ("", "table")),
            "stakes_returned": sum(claim.award.stake for claim in self.claims if claim.paid),
            "envy": sum(amount for _, _, amount in self.envy),
            "overflow": sum(bet.overflow for bet in self.bets.values()),
            "bets": -sum(bet.unit for bet in self.bets.values()),
            "corrections": 0,
        }
        balances = {name: old.get(name, 0) + amount for name, amount in by.items()}
        balances |= {"meter": fold.meter, "reserve": fold.reserve, "seed": fold.seed}
        return balances | {"house": -sum(balances.values())}

    def check(self, held: dict[str, int], closed: str, *, is_idle: bool) -> None:
        """Compare with what the box's accounts hold; and every hand pay was what its claim was owed."""
        mine = self.accounts()
        assert sum(held.values()) == 0
        assert held.keys() == mine.keys()
        if self.is_uneven:
            self._check_uneven(held)
        else:
            wrong = {name: (held[name], mine[name]) for name in mine if held[name] != mine[name]}
            assert not wrong, f"account: (box, second book) {wrong}; bets {self.bets}, claims {self.claims}"
            paid = [(c.amount, due) for c, due in zip(self.claims, self.fold().dues, strict=True) if c.amount]
            assert all(amount == due for amount, due in paid), paid
        assert closed == self.closed
        if is_idle:
            self._close_round(held)

    def _check_uneven(self, held: dict[str, int]) -> None:
        """A share was paid before something fell: what is sure then."""
        by_hand = sum(claim.amount for claim in self.claims if claim.amount)
        assert held["hand_pays"] == self.total.get("hand_pays", 0) + by_hand
        assert held["bets"] == self.total.get("bets", 0) - sum(bet.unit for bet in self.bets.values())
        assert held["overflow"] == self.total.get("overflow", 0) + sum(bet.overflow for bet in self.bets.values())
        assert held["meter"] >= 0
        self.seen.add("uneven")

    def _close_round(self, held: dict[str, int]) -> None:
        """Begin the next round from here."""
        assert held["pending"] == 0
        self.total = held
        self.bets, self.claims, self.envy, self.is_uneven = {}, [], [], False


def _paid_by(decisions: list[Decision]) -> int:
    """Return what the box booked as hand pay in this step."""
    entries = [each.entry for each in decisions if isinstance(each, Booked)]
    return sum(one.amount for entry in entries for one in entry.transfers if one.to == "hand_pays")


def _same_paper(document: str) -> str:
    """Return a document's name without what people write in two ways."""
    return " ".join(document.lower().split())
