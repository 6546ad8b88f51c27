"""What two people may do to the meter by hand: correct it, reset it, set its parameters. Each is its own authority."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.ledger import meter
from table_controller.ledger.money import CENT, BadEntry, dollars
from table_controller.table import booking
from table_controller.table.decisions import MeterSet

if TYPE_CHECKING:
    from table_controller.ledger.money import Entry
    from table_controller.table import events as ev
    from table_controller.table.context import Context
    from table_controller.table.decisions import Order

# Who does it, and who stands by with a credential of their own. Who may reset a meter may not set how it runs.
AUTHORITY: Final[dict[Order, tuple[str, str]]] = {
    "correct_meter": ("floorperson", "auditor"),
    "reset_meter": ("floorperson", "auditor"),
    "change_meter": ("technician", "auditor"),
}
_WHOLE_BP: Final = 10_000  # hundredths of a percent


def _may(c: Context, act: Order, event: ev.MeterCorrected | ev.MeterReset | ev.MeterParameters) -> bool:
    """Whether both people are who they must be, a document is named, and nothing is against it; else it is refused."""
    first, second = AUTHORITY[act]
    if c.meter is None or not c.state.money.book.entries:
        c.refuse(f"{act}: this table has no meter, or none that was seeded")
    elif (event.who.role, event.second.role) != (first, second):
        c.refuse(f"{act} is for a {first} with the credential of an {second} besides")
    elif event.who.same_person(event.second):
        c.refuse(f"{act} is for two people: {event.who.credential} and {event.second.credential} are one person's")
    elif not event.document.strip():
        c.refuse(f"{act}: no document is named")
    elif reasons := c.against(act):
        c.refuse(act, *reasons)
    else:
        return True
    return False


def corrected(c: Context, event: ev.MeterCorrected) -> None:
    """The meter is corrected by an amount."""
    if _may(c, "correct_meter", event):
        try:
            entry = meter.correct(c.state.money.book, event.amount, event.document)
        except BadEntry as wrong:
            c.refuse(f"correct_meter: {wrong}")
        else:
            _tell(c, "meter_corrected", entry, event)


def reset(c: Context, event: ev.MeterReset) -> None:
    """The meter is brought to its seed."""
    if _may(c, "reset_meter", event):
        assert c.meter is not None
        _tell(c, "meter_reset", meter.reset(c.state.money.book, c.meter, event.document), event)


def _tell(c: Context, what: str, entry: Entry, event: ev.MeterCorrected | ev.MeterReset) -> None:
    booking.book(c, entry)
    people = f"{event.who.credential} and {event.second.credential}"
    amounts = f"from {dollars(entry.meter_before)} to {dollars(entry.meter_after)}"
    c.finding(what, f"{amounts} by {people}, {event.document}")


def changed(c: Context, event: ev.MeterParameters) -> None:
    """The meter's parameters are set, as far as the text leaves them open."""
    if not _may(c, "change_meter", event):
        return
    rules, money, progressive = c.meter, c.state.money, c.edition.progressive
    assert rules is not None
    assert progressive is not None
    if event.rate_bp is not None and progressive.rate != "submission":
        c.refuse(f"change_meter: the rate of progression is printed ({c.clause('contribution')})")
        return
    if event.rate_bp is not None and not 0 < event.rate_bp <= _WHOLE_BP - rules.reserve_bp:
        c.refuse(f"change_meter: a rate is 1 to {_WHOLE_BP - rules.reserve_bp} hundredths of a percent")
        return
    limit = None if event.limit_cents is None else event.limit_cents * CENT
    if limit is not None and not max(rules.seed, money.book.meters.current) <= limit <= meter.MOST:
        c.refuse(f"change_meter: a limit is at least what the meter holds, and at most {meter.MOST // CENT} cents")
        return
    money.rate_bp = money.rate_bp if event.rate_bp is None else event.rate_bp
    money.limit = money.limit if limit is None else limit
    rules = c.meter
    assert rules is not None
    credentials = (event.who.credential, event.second.credential)
    c.out.append(MeterSet(rules.rate_bp, rules.limit, event.document, credentials))
