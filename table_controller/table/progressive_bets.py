"""Progressive bets in the meter: accepted, returned, settled; and when they delay the settlement of the round.

Claims and payments of hits are in `hits`, manual adjustments of the meter in `meter_adjustments`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.ledger import hits as ledger_hits
from table_controller.ledger import meter
from table_controller.ledger.money import CENT
from table_controller.table import contribution_check
from table_controller.table import state_machines as mc
from table_controller.table.decisions import BetAccepted, BetReturned, BetSettled, Booked, HitRebooked, StateChanged
from table_controller.table.state import Money

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    from table_controller.ledger.hits import EnvyPaid, Hit
    from table_controller.ledger.meter import Bet
    from table_controller.ledger.money import MoneyEntry
    from table_controller.table.context import Context


# Prompts that show an amount.
_ABOUT_AMOUNT: Final = ("hit_validate", "hit_pay", "hand_pay")


def record_entry(c: Context, entry: MoneyEntry) -> None:
    """Record an entry as a decision; every movement of money has one."""
    c.out.append(Booked(entry))


def fire_hit(c: Context, hit: Hit, trigger: str) -> None:
    """Fire a trigger of a hit."""
    mc.fire(mc.HIT, hit, trigger)
    c.out.append(StateChanged(f"hit {hit.id}", hit.state))


# --- the life of a bet ------------------------------------------------------------------------------------------------


def accept_bets(c: Context) -> None:
    """Accept every latched bet not recorded yet: bet and contribution in one decision, before its light."""
    rules, money = c.meter, c.state.money
    assert rules is not None
    for seat in c.state.progressive.accepted:
        if seat not in money.bets and contribution_check.is_reasonable(c, rules, seat):
            number = c.state.round.number
            money.bets[seat], entry = meter.accept_bet(money.book, rules, number, seat, c.clauses("contribution"))
            c.out.append(BetAccepted(entry, number, seat, rules.unit))


def settle_bet(c: Context, seat: int, outcome: Literal["lost", "won"], clauses: tuple[str, ...]) -> None:
    """Settle a bet as lost or won; its contribution stays."""
    c.state.money.bets[seat].state = outcome
    c.out.append(BetSettled(c.state.round.number, seat, outcome, clauses))


def return_bets(c: Context, seats: Iterable[int], clauses: tuple[str, ...]) -> None:
    """Return bets exactly as they were accepted, and withdraw their hits. A bet with a documented hand pay stays."""
    money = c.state.money
    bets, falling = [], []
    for seat in seats:
        bet, hit = money.bets.get(seat), money.hit_of(seat)
        if bet is None or bet.state == "returned":
            continue
        if hit is not None and hit.state == mc.HIT_DOCUMENTED:
            c.record_finding("hand_pay_stands", f"seat {seat}: its bet is void, but its hand pay is already documented")
            continue
        bets.append(bet)
        falling += [] if hit is None else [hit]
    _undo(c, falling, bets, clauses)


def withdraw_hit(c: Context, hit: Hit, clauses: tuple[str, ...]) -> None:
    """Withdraw a claim and the envy paid for its hand; recompute later claims as if it had never been made."""
    money = c.state.money
    _take_envy_back(c, [paid for paid in money.envy if paid.of == hit.seat], clauses)
    money.envy_paid = [seat for seat in money.envy_paid if seat != hit.seat]
    _undo(c, [hit], [], clauses)


def _undo(c: Context, falling: list[Hit], bets: list[Bet], clauses: tuple[str, ...]) -> None:
    """Reverse hits and bets exactly: the last claim first, then the bets, then record later claims again."""
    money, number = c.state.money, c.state.round.number
    first = 0 if bets else min((hit.id for hit in falling if hit.on_meter), default=c.state.next_id)
    later = [hit for hit in money.hits.values() if hit not in falling and hit.id > first and _can_move(c, hit)]
    for hit in sorted([*falling, *later], key=lambda hit: -hit.id):
        if hit in later:
            record_entry(c, ledger_hits.withdraw(money.book, hit, clauses, "hit_reversed"))
        else:
            _fall(c, hit, clauses)
    for bet in bets:
        entry = meter.return_bet(money.book, bet, number, clauses)
        c.out.append(BetReturned(entry, number, bet.seat, bet.stake, clauses))
    for hit in sorted(later, key=lambda hit: hit.id):
        _rebook(c, hit)


def _can_move(c: Context, hit: Hit) -> bool:
    """Whether a hit's amount can still change: it is unpaid, and no later claim was paid."""
    return hit.state in mc.HIT_OPEN and hit.on_meter and hit.id > c.state.money.book.last_paid


def _fall(c: Context, hit: Hit, clauses: tuple[str, ...]) -> None:
    """Withdraw one hit: its claim goes back into the meter, or the table's payment is taken back."""
    if hit.state == mc.HIT_PAID:
        fire_hit(c, hit, "take_back")
        record_entry(c, ledger_hits.reverse_paid_hit(c.state.money.book, hit, clauses))
    else:
        fire_hit(c, hit, "withdraw")
        record_entry(c, ledger_hits.withdraw(c.state.money.book, hit, clauses))


def _rebook(c: Context, hit: Hit) -> None:
    """Record a later claim again. If its amount changed, it must be validated again by a new prompt."""
    rules, before = c.meter, hit.amount
    assert rules is not None
    entry = ledger_hits.rebook(c.state.money.book, rules, hit)
    final = c.state.money.is_final(hit)
    c.out.append(HitRebooked(entry, hit.id, hit.round, hit.seat, hit.hand, hit.fixed, hit.share, final))
    if hit.amount == before:
        return
    if hit.state not in mc.HIT_UNVALIDATED:
        fire_hit(c, hit, "revalidate")
        hit.validated_by = ""
    for prompt in [p for p in c.state.prompts.values() if p.seat == hit.seat and p.kind in _ABOUT_AMOUNT]:
        c.close_prompt(prompt)


def void_hand(c: Context, seat: int, clauses: tuple[str, ...]) -> None:
    """Void one hand: it neither pays nor receives envy, and its bet is returned."""
    money = c.state.money
    _take_envy_back(c, [paid for paid in money.envy if seat in (paid.of, paid.seat)], clauses)
    money.envied.pop(seat, None)
    return_bets(c, [seat], clauses)


def _take_envy_back(c: Context, envy: list[EnvyPaid], clauses: tuple[str, ...]) -> None:
    """Take back paid envy, the last payment first."""
    money = c.state.money
    for paid in reversed(envy):
        record_entry(c, ledger_hits.reverse_envy(money.book, paid, c.state.round.number, clauses))
    money.envy = [paid for paid in money.envy if paid not in envy]


def void_bets(c: Context, clauses: tuple[str, ...], *, settles: bool = False) -> None:
    """Void the bets of a round: return them, the last claim first, unless they are still settled (X13)."""
    money = c.state.money
    if settles and money.bets:
        money.settles = True
        return
    _take_envy_back(c, money.envy, clauses)
    return_bets(c, money.bets, clauses)


def end_round(c: Context) -> None:
    """End the round: keep only the book and the meter's parameters."""
    money = c.state.money
    assert not has_open_bets(c), "a round ended before its progressive bets were settled"
    c.state.money = Money(money.book, money.rate_bp, money.limit, closed=money.closed)


# --- what delays the settlement ---------------------------------------------------------------------------------------


def are_main_wagers_settled(c: Context) -> bool:
    """Whether the main wager of every hand is settled."""
    round_ = c.state.round
    return not [seat for seat in round_.seats if seat not in round_.settled and seat not in round_.dead]


def is_claim_next(c: Context, seat: int) -> bool:
    """Whether a seat's progressive bet is next: its main and side wagers are settled (688a.11(h))."""
    return seat in c.state.round.settled and not is_side_wager_due(c, seat)


def is_side_wager_due(c: Context, seat: int) -> bool:
    """Whether a seat still has a side wager without a sensor to settle."""
    round_ = c.state.round
    return seat not in round_.side_settled and any(seat in seats for seats in round_.side_wagers.values())


def is_claim_due(c: Context) -> bool:
    """Whether the outcome of a seat's progressive bet is due."""
    bets = c.state.money.bets
    return bool(bets) and any(bet.state == "open" and is_claim_next(c, seat) for seat, bet in bets.items())


def is_envy_due(c: Context) -> bool:
    """Whether a hand must still be judged for envy, or its envy paid."""
    for seat in c.state.round.seats:
        if seats_paid_envy(c, seat):
            hand = envy_line(c, seat)
            if hand is None or (hand and seat not in c.state.money.envy_paid):
                return True
    return False


def envy_line(c: Context, seat: int) -> str | None:
    """Return the paytable line by which a seat's hand pays envy; empty: none; None: not known yet.

    A bettor's line is known from the bet; for any other hand the dealer enters it.
    """
    known = envy_line_from_bet(c, seat)
    return c.state.money.envied.get(seat) if known is None else known


def envy_line_from_bet(c: Context, seat: int) -> str | None:
    """Return the envy line of a seat's hand from its own bet; empty: none; None: the bet does not decide it.

    A paytable with an envy column lists every hand that pays envy.
    """
    rules, money = c.meter, c.state.money
    bet, hit = money.bets.get(seat), money.hit_of(seat)
    if rules is None or not is_envy_open(c) or bet is None or bet.state not in ("lost", "won"):
        return None
    return hit.hand if hit is not None and hit.hand in rules.envied else ""


def is_envy_open(c: Context) -> bool:
    """Whether a progressive bet of this round opens envy."""
    rules = c.meter
    standing = any(bet.state != "returned" for bet in c.state.money.bets.values())
    return rules is not None and bool(rules.envied) and standing and _opens_envy(c, rules.unit)


def is_announcement_due(c: Context) -> bool:
    """Whether a hand must still be announced for envy as hands are settled (688a)."""
    if not c.state.round.envy or c.state.round.state != mc.SETTLING:
        return False
    return any(seats_paid_envy(c, seat) and envy_line(c, seat) is None for seat in c.state.round.seats)


def seats_paid_envy(c: Context, of: int) -> tuple[int, ...]:
    """Return the seats paid for a seat's hand: every bettor but its own player; none if hand or bets do not count."""
    rules, round_ = c.meter, c.state.round
    no_hand = of in round_.dead or of in round_.incomplete
    if rules is None or not rules.envied or no_hand or not _opens_envy(c, rules.unit):
        return ()
    if round_.decided.get(of) == "fold" and not c.submission.folded_progressive:
        return ()
    bettors = (seat for seat, bet in sorted(c.state.money.bets.items()) if bet.state in ("lost", "won"))
    own = round_.players.get(of, of)
    return tuple(seat for seat in bettors if round_.players.get(seat, seat) != own and seat not in round_.dead)


def _opens_envy(c: Context, unit: int) -> bool:
    """Whether a progressive bet opens envy; it may be too small, or excluded by the submission (F3)."""
    envy, rules = c.edition.envy, c.edition.progressive
    assert rules is not None
    if envy is None or rules.wager not in envy.wagers or c.submission.settings.get("envy_wagers") == "fortune":
        return False
    return envy.least_cents is None or unit >= envy.least_cents * CENT


def has_open_bets(c: Context) -> bool:
    """Whether any progressive bet, hit or envy of this round is still open."""
    money = c.state.money
    if not money.bets and not money.hits:
        return False
    if any(bet.state == "open" for bet in money.bets.values()):
        return True
    if any(hit.state in mc.HIT_OPEN for hit in money.hits.values()):
        return True
    return bool(money.bets) and (c.state.round.state != mc.VOID or money.settles) and is_envy_due(c)


def delays_settlement(c: Context) -> bool:
    """Whether settlement must wait: a bet's outcome is due, or only hits and envy are left."""
    if is_claim_due(c):
        return True
    side_wagers_due = any(is_side_wager_due(c, seat) for seat in c.state.round.settled)
    return are_main_wagers_settled(c) and has_open_bets(c) and not side_wagers_due and not is_announcement_due(c)
