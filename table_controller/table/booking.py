"""What the bets of a round do to the meter: accepted, given back, settled; and what their settling holds up.

Claims and payments of hits are in `hits`, what people do to the meter by hand in `meters`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.ledger import hits as ledger_hits
from table_controller.ledger import meter
from table_controller.ledger.money import CENT
from table_controller.table import contributions
from table_controller.table import machines as mc
from table_controller.table.decisions import BetAccepted, BetReturned, BetSettled, Booked, HitRebooked, Moved
from table_controller.table.state import Money

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    from table_controller.ledger.hits import EnvyPaid, Hit
    from table_controller.ledger.meter import Bet
    from table_controller.ledger.money import Entry
    from table_controller.table.context import Context


# Questions that a person answers with an amount in view.
_ABOUT_AMOUNT: Final = ("hit_validate", "hit_pay", "hand_pay")


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
        if seat not in money.bets and contributions.reasonable(c, rules, seat):
            number = c.state.round.number
            money.bets[seat], entry = meter.accept(money.book, rules, number, seat, c.clauses("contribution"))
            c.out.append(BetAccepted(entry, number, seat, rules.unit))


def settled(c: Context, seat: int, outcome: Literal["lost", "won"], clauses: tuple[str, ...]) -> None:
    """A bet is lost or won; what it added stays added."""
    c.state.money.bets[seat].state = outcome
    c.out.append(BetSettled(c.state.round.number, seat, outcome, clauses))


def give_back(c: Context, seats: Iterable[int], clauses: tuple[str, ...]) -> None:
    """Bets go back as they came, and what was claimed or paid for them falls. A documented hand pay keeps its bet."""
    money = c.state.money
    bets, falling = [], []
    for seat in seats:
        bet, hit = money.bets.get(seat), money.hit_of(seat)
        if bet is None or bet.state == "returned":
            continue
        if hit is not None and hit.state == mc.HIT_DOCUMENTED:
            c.finding("hand_pay_stands", f"seat {seat}: its bet is void, and its hand pay was documented before")
            continue
        bets.append(bet)
        falling += [] if hit is None else [hit]
    _undo(c, falling, bets, clauses)


def withdraw(c: Context, hit: Hit, clauses: tuple[str, ...]) -> None:
    """A claim falls, and with it the envy that its hand brought; later claims are booked as if it had never been."""
    money = c.state.money
    _take_envy_back(c, [paid for paid in money.envy if paid.of == hit.seat], clauses)
    money.envy_paid = [seat for seat in money.envy_paid if seat != hit.seat]
    _undo(c, [hit], [], clauses)


def _undo(c: Context, falling: list[Hit], bets: list[Bet], clauses: tuple[str, ...]) -> None:
    """Hits fall and bets go back, by exact reversals: the last claim first, then the bets, then later claims anew."""
    money, number = c.state.money, c.state.round.number
    first = 0 if bets else min((hit.id for hit in falling if hit.on_meter), default=c.state.next_id)
    later = [hit for hit in money.hits.values() if hit not in falling and hit.id > first and _can_move(c, hit)]
    for hit in sorted([*falling, *later], key=lambda hit: -hit.id):
        if hit in later:
            book(c, ledger_hits.withdraw(money.book, hit, clauses, "hit_reversed"))
        else:
            _fall(c, hit, clauses)
    for bet in bets:
        entry = meter.give_back(money.book, bet, number, clauses)
        c.out.append(BetReturned(entry, number, bet.seat, bet.stake, clauses))
    for hit in sorted(later, key=lambda hit: hit.id):
        _rebook(c, hit)


def _can_move(c: Context, hit: Hit) -> bool:
    """Whether a hit's amount follows the claims before it: it is unpaid, and no later claim was paid."""
    return hit.state in mc.HIT_OPEN and hit.on_meter and hit.id > c.state.money.book.last_paid


def _fall(c: Context, hit: Hit, clauses: tuple[str, ...]) -> None:
    """One hit falls: what was claimed goes back into the meter, what the table paid comes back to it."""
    if hit.state == mc.HIT_PAID:
        fire_hit(c, hit, "take_back")
        book(c, ledger_hits.take_back(c.state.money.book, hit, clauses))
    else:
        fire_hit(c, hit, "withdraw")
        book(c, ledger_hits.withdraw(c.state.money.book, hit, clauses))


def _rebook(c: Context, hit: Hit) -> None:
    """Book a later claim again. An amount that changed is validated anew, by a question that was not open before."""
    rules, before = c.meter, hit.amount
    assert rules is not None
    entry = ledger_hits.rebook(c.state.money.book, rules, hit)
    final = c.state.money.is_final(hit)
    c.out.append(HitRebooked(entry, hit.id, hit.round, hit.seat, hit.hand, hit.fixed, hit.share, final))
    if hit.amount == before:
        return
    if hit.state not in mc.HIT_UNSURE:
        fire_hit(c, hit, "revalidate")
        hit.validated_by = ""
    for prompt in [p for p in c.state.prompts.values() if p.seat == hit.seat and p.kind in _ABOUT_AMOUNT]:
        c.close_prompt(prompt)


def void_hand(c: Context, seat: int, clauses: tuple[str, ...]) -> None:
    """One hand is void: it neither gives nor receives envy, and its bet goes back."""
    money = c.state.money
    _take_envy_back(c, [paid for paid in money.envy if seat in (paid.of, paid.seat)], clauses)
    money.envied.pop(seat, None)
    give_back(c, [seat], clauses)


def _take_envy_back(c: Context, envy: list[EnvyPaid], clauses: tuple[str, ...]) -> None:
    """Envy that was paid comes back, the last payment first."""
    money = c.state.money
    for paid in reversed(envy):
        book(c, ledger_hits.take_envy_back(money.book, paid, c.state.round.number, clauses))
    money.envy = [paid for paid in money.envy if paid not in envy]


def voided(c: Context, clauses: tuple[str, ...], *, settles: bool = False) -> None:
    """The round is void: its bets go back, the last claim undone first, unless they are settled all the same (X13)."""
    money = c.state.money
    if settles and money.bets:
        money.settles = True
        return
    _take_envy_back(c, money.envy, clauses)
    give_back(c, money.bets, clauses)


def round_over(c: Context) -> None:
    """The round ended: nothing of it is open, and only the book remains."""
    money = c.state.money
    assert not busy(c), "a round ends while its progressive bets are not settled"
    c.state.money = Money(money.book, money.rate_bp, money.limit, closed=money.closed)


# --- what it holds up -------------------------------------------------------------------------------------------------


def all_settled(c: Context) -> bool:
    """Whether the main wager of every hand is settled."""
    round_ = c.state.round
    return not [seat for seat in round_.seats if seat not in round_.settled and seat not in round_.dead]


def may_claim(c: Context, seat: int) -> bool:
    """Whether a seat's progressive bet is next: its main wager is settled, and so is what comes before (688a.11(h))."""
    return seat in c.state.round.settled and not side_wager_due(c, seat)


def side_wager_due(c: Context, seat: int) -> bool:
    """Whether a side wager that lies on no sensor is still to be settled at a seat."""
    round_ = c.state.round
    return seat not in round_.side_settled and any(seat in seats for seats in round_.side.values())


def claim_due(c: Context) -> bool:
    """Whether a seat's progressive bet is next to be settled and nobody has said yet what it became."""
    bets = c.state.money.bets
    return bool(bets) and any(bet.state == "open" and may_claim(c, seat) for seat, bet in bets.items())


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
    if claim_due(c):
        return True
    side_wagers_due = any(side_wager_due(c, seat) for seat in c.state.round.settled)
    return all_settled(c) and busy(c) and not side_wagers_due and not to_be_announced(c)
