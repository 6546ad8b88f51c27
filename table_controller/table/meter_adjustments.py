"""Manual adjustments of the meter by two people: correct, reset, close and open to play, set its parameters.

Each needs its own two roles. The grounds on which people may lower a meter are a closed list; the other grounds of a
decrease, a prize paid and a prize claimed, belong to `hits`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.ledger import meter
from table_controller.ledger.money import ACCOUNTS, CENT, BadEntry, format_dollars
from table_controller.table import progressive_bets
from table_controller.table import state_machines as mc
from table_controller.table.decisions import MeterPlay, MeterSet
from table_controller.table.meter_play import account_balances, close_meter
from table_controller.table.signers import METER_SIGNERS, OPEN_AFTER_UNREASONABLE

if TYPE_CHECKING:
    from table_controller.ledger.meter import MeterRules
    from table_controller.ledger.money import MoneyEntry
    from table_controller.table import events as ev
    from table_controller.table.context import Context
    from table_controller.table.decisions import Order

    Corrects = ev.MeterCorrected | ev.MeterReset
    ByHand = Corrects | ev.MeterParameters | ev.MeterClosed | ev.MeterOpened | ev.OverflowTransferred

# Acts that move money need a new document each; closing, setting and opening may share one.
_MOVES: Final = ("correct_meter", "reset_meter", "transfer_overflow")
# The grounds on which people may correct a meter, and the reasons of each. The parallel texts of 605a.7 name four
# grounds of a decrease: a prize paid, a prize claimed, a malfunction corrected, a transfer to another meter.
GROUNDS: Final[dict[str, tuple[str, ...]]] = {
    "malfunction": ("sensor_fault", "device_fault", "software_fault", "dealing_error", "journal_lost"),
    "transfer": ("to_other_meter", "from_other_meter"),
}


def _may(c: Context, act: Order, event: ByHand) -> MeterRules | None:
    """Return the meter's rules if both people may do this, with a document, and it is permitted; else refuse."""
    first, second = OPEN_AFTER_UNREASONABLE if _needs_technician(c, act) else METER_SIGNERS[act]
    if c.meter is None or not c.state.money.book.entries:
        c.refuse(f"{act}: this table has no seeded meter")
    elif (event.who.role, event.second.role) != (first, second):
        c.refuse(f"{act} needs two people: a {first} and, as the second credential, an {second}")
    elif event.who.is_same_person(event.second):
        c.refuse(f"{act} needs two people: {event.who.credential} and {event.second.credential} belong to one person")
    elif not event.document.strip():
        c.refuse(f"{act}: name the document")
    elif act in _MOVES and c.state.money.book.has_document(event.document):
        c.refuse(f"{act}: document {event.document} was used before; each document is used once")
    elif reasons := c.reasons_against(act):
        c.refuse(act, *reasons)
    else:
        return c.meter
    return None


def _needs_technician(c: Context, act: Order) -> bool:
    return act == "open_meter" and c.state.money.closed == mc.UNREASONABLE


# --- amounts ----------------------------------------------------------------------------------------------------------


def on_meter_corrected(c: Context, event: ev.MeterCorrected) -> None:
    """Correct the meter by an amount."""
    rules = _may(c, "correct_meter", event)
    if rules is None:
        return
    why = _groundless(event, event.amount)
    if why:
        c.refuse(f"correct_meter: {why}")
        return
    try:
        entry = meter.correct_meter(c.state.money.book, event.amount, event.document, rules.limit)
    except BadEntry as wrong:
        c.refuse(f"correct_meter: {wrong}")
    else:
        _record(c, "meter_corrected", entry, event)


def on_meter_reset(c: Context, event: ev.MeterReset) -> None:
    """Reset the meter to its seed."""
    rules = _may(c, "reset_meter", event)
    if rules is None:
        return
    why = _groundless(event, rules.seed - c.state.money.book.meters.current)
    if why:
        c.refuse(f"reset_meter: {why}")
    else:
        _record(c, "meter_reset", meter.reset_meter(c.state.money.book, rules, event.document), event)


def _groundless(event: Corrects, amount: int) -> str:
    """Return why people may not change the meter by this amount; empty if a listed ground allows it."""
    reasons = GROUNDS.get(event.ground)
    if reasons is None:
        return f"{event.ground or 'an empty ground'} is not a ground to adjust a meter; use {' or '.join(GROUNDS)}"
    if event.reason not in reasons:
        return f"{event.reason or 'an empty reason'} is not a reason of a {event.ground}; use {' or '.join(reasons)}"
    if event.ground == "transfer" and not event.counterpart.strip():
        return "a transfer needs a document of each meter: name the other meter's document as counterpart"
    if event.ground == "transfer" and (amount < 0) != (event.reason == "to_other_meter"):
        return f"{event.reason} does not {'lower' if amount < 0 else 'raise'} the meter"
    return ""


def _record(c: Context, what: str, entry: MoneyEntry, event: Corrects) -> None:
    progressive_bets.record_entry(c, entry)
    people = f"{event.who.credential} and {event.second.credential}"
    amounts = f"from {format_dollars(entry.meter_before)} to {format_dollars(entry.meter_after)}"
    other = f", other side {event.counterpart}" if event.counterpart else ""
    c.record_finding(what, f"{amounts} by {people}, {event.document}; {event.ground}: {event.reason}{other}")


def on_overflow_transferred(c: Context, event: ev.OverflowTransferred) -> None:
    """Transfer overflow back to the meter, within the meter's limit."""
    rules = _may(c, "transfer_overflow", event)
    if rules is None:
        return
    try:
        entry = meter.transfer_overflow(c.state.money.book, rules, event.amount, event.document)
    except BadEntry as wrong:
        c.refuse(f"transfer_overflow: {wrong}")
        return
    progressive_bets.record_entry(c, entry)
    people = f"{event.who.credential} and {event.second.credential}"
    c.record_finding(
        "overflow_transferred", f"{format_dollars(event.amount)} to the meter by {people}, {event.document}"
    )


# --- parameters, open and closed --------------------------------------------------------------------------------------


def advance(c: Context) -> None:
    """Keep the submitted rate with which a meter began; only people set another one."""
    rules, money = c.edition.progressive, c.state.money
    if rules is not None and rules.rate == "submission" and money.rate_bp is None and money.book.entries:
        money.rate_bp = c.submission.progressive_rate_bp


def on_meter_closed(c: Context, event: ev.MeterClosed) -> None:
    """Close the meter to play, with its account balances in the record."""
    if _may(c, "close_meter", event) is None:
        return
    if c.state.money.closed:
        c.refuse("close_meter: the meter is already closed")
        return
    close_meter(c, mc.BY_PEOPLE, event.document, (event.who.credential, event.second.credential))


def on_meter_opened(c: Context, event: ev.MeterOpened) -> None:
    """Open the meter to play again, if its accounts sum to zero."""
    if _may(c, "open_meter", event) is None or not _reconciled(c, "open_meter"):
        return
    money = c.state.money
    if not money.closed:
        c.refuse("open_meter: the meter is already open")
        return
    cause, money.closed = money.closed, ""
    people = (event.who.credential, event.second.credential)
    c.out.append(MeterPlay(True, cause, account_balances(c), event.document, people))


def on_meter_parameters(c: Context, event: ev.MeterParameters) -> None:
    """Set the parameters that the regulation leaves open, while the meter is closed to play."""
    rules, money = _may(c, "change_meter", event), c.state.money
    if rules is None or not _reconciled(c, "change_meter"):
        return
    why = _bad_rate(c, event) or _bad_limit(c, rules, event)
    if why:
        c.refuse(f"change_meter: {why}")
        return
    money.rate_bp = money.rate_bp if event.rate_bp is None else event.rate_bp
    money.limit = money.limit if event.limit_cents is None else event.limit_cents * CENT
    rules = c.meter
    assert rules is not None
    people = (event.who.credential, event.second.credential)
    held = account_balances(c)
    c.out.append(MeterSet(rules.rate_bp, rules.limit, event.document, people, event.submission, held))


def _reconciled(c: Context, act: Order) -> bool:
    """Return whether the accounts sum to zero; if not, refuse."""
    book = c.state.money.book
    left = sum(book.balance(account) for account in ACCOUNTS)
    if left:
        c.refuse(f"{act}: the accounts of the meter do not sum to zero ({format_dollars(left)} over); call accounting")
    return not left


def _bad_rate(c: Context, event: ev.MeterParameters) -> str:
    """Return why a rate may not be set; empty if it may, or none is given."""
    progressive, submitted = c.edition.progressive, c.submission.progressive_rate_bp
    assert progressive is not None
    if event.rate_bp is None:
        return ""
    if progressive.rate != "submission":
        return f"the regulation prints the rate of progression ({c.clause('contribution')})"
    if not event.submission.strip():
        return "name the Rules Submission that states the new rate"
    if event.rate_bp != submitted:
        return f"only the rate of the configured Rules Submission can be set: {submitted} hundredths of a percent"
    return ""


def _bad_limit(c: Context, rules: MeterRules, event: ev.MeterParameters) -> str:
    """Return why a limit may not be set; empty if it may, or none is given."""
    limit = None if event.limit_cents is None else event.limit_cents * CENT
    if limit is not None and not max(rules.seed, c.state.money.book.meters.current) <= limit <= meter.METER_MOST:
        return f"the limit must be at least the meter's amount and at most {meter.METER_MOST // CENT} cents"
    return ""
