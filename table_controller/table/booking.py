"""What the bets of a round do to the meter: accepted, given back, settled; and what their settling holds up.

Claims and payments of hits are in `hits`, what people do to the meter by hand in `meters`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.ledger import hits as ledger_hits
from table_controller.ledger import meter
from table_controller.ledger.money import CENT
from table_controller.table import machines as mc
from table_controller.table.decisions import BetAccepted, BetReturned, BetSettled, Booked, Moved
from table_controller.table.state import Money

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    from table_controller.ledger.hits import Hit
    from table_controller.ledger.money import Entry
    from table_controller.table.context import Context


def book(c: Context, entry: Entry) -> None:
    """Decide what was booked: no money moves without a decision that says so."""
    c.out.append(Booked(entry))


def fire_hit(c: Context, hit: Hit, trigger: str) -> None:
    """Move a hit."""
    mc.fire(mc.HIT, hit, trigger)
    c.out.append(Moved(f"hit {hit.id}", hit.state))


# --- the life of a bet ------------------------------------------------------------------------------------------------


def accept(c: Context) -> None:
    """Take every latched bet that is not booked: bet and contribution in one decision, before its light."""
    rules, money = c.meter, c.state.money
    assert rules is not None
    for seat in c.state.progressive.accepted:
        if seat not in money.bets:
            number = c.state.round.number
            money.bets[seat], entry = meter.accept(money.book, rules, number, seat, c.clauses("contribution"))
            c.out.append(BetAccepted(entry, number, seat, rules.unit))


def settled(c: Context, seat: int, outcome: Literal["lost", "won"], clauses: tuple[str, ...]) -> None:
    """A bet is lost or won; what it added stays added."""
    c.state.money.bets[seat].state = outcome
    c.out.append(BetSettled(c.state.round.number, seat, outcome, clauses))


def give_back(c: Context, seats: Iterable[int], clauses: tuple[str, ...]) -> None:
    """Bets go back, with what they added; what was claimed or paid for them is undone first."""
    money, number = c.state.money, c.state.round.number
    for seat in list(seats):
        bet = money.bets.get(seat)
        if bet is not None and bet.state != "returned" and _undone(c, seat, clauses):
            entry = meter.give_back(money.book, bet, number, clauses)
            c.out.append(BetReturned(entry, number, seat, bet.stake, clauses))


def _undone(c: Context, seat: int, clauses: tuple[str, ...]) -> bool:
    """Undo a seat's hit; tell whether none stands any more. What an attendant has paid and documented stands."""
    hit = c.state.money.hit_of(seat)
    if hit is None:
        return True
    if hit.state == mc.HIT_DOCUMENTED:
        c.finding("hand_pay_stands", f"seat {seat}: the round is void, and its hand pay was documented before")
        return False
    withdraw(c, hit, clauses)
    return True


def withdraw(c: Context, hit: Hit, clauses: tuple[str, ...]) -> None:
    """A hit falls: what was claimed goes back into the meter, what the table paid comes back to it."""
    if hit.state == mc.HIT_PAID:
        fire_hit(c, hit, "take_back")
        book(c, ledger_hits.take_back(c.state.money.book, hit, clauses))
    else:
        fire_hit(c, hit, "withdraw")
        book(c, ledger_hits.withdraw(c.state.money.book, hit, clauses))


def voided(c: Context, clauses: tuple[str, ...], *, settles: bool = False) -> None:
    """The round is void: its bets go back, the last claim undone first, unless they are settled all the same (X13)."""
    money = c.state.money
    if settles and money.bets:
        money.settles = True
        return
    for paid in reversed(money.envy):
        book(c, ledger_hits.take_envy_back(money.book, paid, c.state.round.number, clauses))
    money.envy = []
    for hit in sorted(money.hits.values(), key=lambda hit: -hit.id):
        if hit.state not in (mc.HIT_WITHDRAWN, mc.HIT_DOCUMENTED):
            withdraw(c, hit, clauses)
    give_back(c, money.bets, clauses)


def round_over(c: Context) -> None:
    """The round ended: nothing of it is open, and only the book remains."""
    money = c.state.money
    assert not busy(c), "a round ends while its progressive bets are not settled"
    c.state.money = Money(money.book, money.rate_bp, money.limit)


# --- what it holds up -------------------------------------------------------------------------------------------------


def all_settled(c: Context) -> bool:
    """Whether the main wager of every hand is settled."""
    round_ = c.state.round
    return not [seat for seat in round_.seats if seat not in round_.settled and seat not in round_.dead]


def claim_due(c: Context) -> bool:
    """Whether a seat's main wager is settled and nobody has said yet what its progressive bet became."""
    bets, settled = c.state.money.bets, c.state.round.settled
    return bool(bets) and any(bet.state == "open" and seat in settled for seat, bet in bets.items())


def envy_due(c: Context) -> bool:
    """Whether a hand is still to be looked at for envy, or to be paid to the others."""
    for seat in c.state.round.seats:
        if envy_seats(c, seat):
            hand = envy_hand(c, seat)
            if hand is None or (hand and seat not in c.state.money.envy_paid):
                return True
    return False


def envy_hand(c: Context, seat: int) -> str | None:
    """Return the line that a seat's hand pays to others, empty for none; None: nobody has said what it is.

    A bettor's line is known from his bet; of any other hand the dealer says it.
    """
    known = line_by_bet(c, seat)
    return c.state.money.envied.get(seat) if known is None else known


def line_by_bet(c: Context, seat: int) -> str | None:
    """Return the line of a seat's hand that pays envy, as its own bet tells it; empty: none does; None: it tells not.

    A table with an envy column names every hand that brings envy.
    """
    rules, money = c.meter, c.state.money
    bet, hit = money.bets.get(seat), money.hit_of(seat)
    if rules is None or not envy_opened(c) or bet is None or bet.state not in ("lost", "won"):
        return None
    return hit.hand if hit is not None and hit.hand in rules.envied else ""


def envy_opened(c: Context) -> bool:
    """Whether a progressive bet of this round opens envy."""
    rules = c.meter
    standing = any(bet.state != "returned" for bet in c.state.money.bets.values())
    return rules is not None and bool(rules.envied) and standing and _opens_envy(c, rules.unit)


def to_be_announced(c: Context) -> bool:
    """Whether a hand is still to be judged for envy where that is said aloud as hands are settled (688a)."""
    if not c.state.round.envy or c.state.round.state != mc.SETTLING:
        return False
    return any(envy_seats(c, seat) and envy_hand(c, seat) is None for seat in c.state.round.seats)


def envy_seats(c: Context, of: int) -> tuple[int, ...]:
    """Return who may be paid for a seat's hand: every other bettor; nobody if the hand or the bets do not count."""
    rules, round_ = c.meter, c.state.round
    no_hand = of in round_.dead or of in round_.incomplete
    if rules is None or not rules.envied or no_hand or not _opens_envy(c, rules.unit):
        return ()
    if round_.decided.get(of) == "fold" and not c.submission.folded_progressive:
        return ()
    bettors = (seat for seat, bet in sorted(c.state.money.bets.items()) if bet.state in ("lost", "won"))
    return tuple(seat for seat in bettors if seat != of and seat not in round_.dead)


def _opens_envy(c: Context, unit: int) -> bool:
    """Whether a progressive bet opens envy: it may be too small for it, or left out by the submission (F3)."""
    envy, rules = c.edition.envy, c.edition.progressive
    assert rules is not None
    if envy is None or rules.wager not in envy.wagers or c.submission.settings.get("envy_wagers") == "fortune":
        return False
    return envy.least_cents is None or unit >= envy.least_cents * CENT


def busy(c: Context) -> bool:
    """Whether anything of this round's progressive bets is still to be done."""
    money = c.state.money
    if not money.bets and not money.hits:
        return False
    if any(bet.state == "open" for bet in money.bets.values()):
        return True
    if any(hit.state in mc.HIT_OPEN for hit in money.hits.values()):
        return True
    return bool(money.bets) and (c.state.round.state != mc.VOID or money.settles) and envy_due(c)


def holds_up(c: Context) -> bool:
    """Whether settling stands still: a bet's outcome is due, or nothing is left but hits and envy."""
    return claim_due(c) or (all_settled(c) and busy(c) and not to_be_announced(c))
