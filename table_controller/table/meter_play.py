"""Closes the meter to play, with every account balance in the record; `meter_adjustments` opens it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.ledger.money import ACCOUNTS
from table_controller.table.decisions import MeterPlay

if TYPE_CHECKING:
    from table_controller.table.context import Context


def close_meter(c: Context, cause: str, document: str = "", credentials: tuple[str, ...] = ()) -> None:
    """Close the meter to play, with its account balances in the record. A closed meter keeps its first cause."""
    if not c.state.money.closed:
        c.state.money.closed = cause
        c.out.append(MeterPlay(False, cause, account_balances(c), document, credentials))


def account_balances(c: Context) -> dict[str, int]:
    """Return the balance of every account."""
    return {account: c.state.money.book.balance(account) for account in ACCOUNTS}
