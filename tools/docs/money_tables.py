"""The generated parts of docs/money.md: the state machine of a hit, all meters, and a computed example."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.ledger import hits, meter
from table_controller.ledger.money import (
    BETS,
    CENT,
    CORRECTIONS,
    HAND_PAYS,
    HOUSE,
    METER,
    PENDING,
    SEED,
    MoneyBook,
    format_dollars,
)
from table_controller.rulebook import check_submission, edition, paytables
from table_controller.table.state_machines import HIT_STATES, HIT_TRANSITIONS
from tools.docs.markdown import table

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.ledger.money import MoneyEntry

_SHOWN: Final = (BETS, METER, HOUSE, SEED, PENDING, HAND_PAYS, CORRECTIONS)


def hit_picture() -> str:
    """Return the state machine of a hit as a picture."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for trigger, source, to in HIT_TRANSITIONS:
        arrows.setdefault((source, to), []).append(trigger)
    drawn = [f"    {source} --> {to}: {', '.join(by)}" for (source, to), by in arrows.items()]
    return "\n".join(["```mermaid", "stateDiagram-v2", f"    [*] --> {HIT_STATES[0]}", *drawn, "```"])


def meter_table() -> str:
    """Return the terms of every progressive paytable."""
    rows = []
    for game in ("dj_wild", "face_up_pai_gow"):
        for each in paytables(game):
            if each.unit_cents is None or each.seed_cents is None:
                continue
            pays = [line.pay for line in each.lines if line.pay is not None]
            shares = sorted({pay.meter_percent for pay in pays if pay.meter_percent}, reverse=True)
            rate = "submitted" if each.rate_percent is None else f"{each.rate_percent} %"
            stake = {None: "submitted", True: "yes", False: "no"}[each.stake_returned]
            rows.append(
                (f"`{each.id}`", format_dollars(each.unit_cents * CENT), format_dollars(each.seed_cents * CENT), rate,
                 f"{each.reserve_percent} %" if each.reserve_percent else "none",
                 ", ".join(f"{share} %" for share in shares), stake,
                 "yes" if any(line.envy_cents for line in each.lines) else "no",
                 "yes" if each.fully_wild_joker else "no")
            )  # fmt: skip
    heads = ("table", "bet", "seed", "rate", "reserve", "shares of the meter", "bet returned", "envy", "wild joker")
    return table(heads, *rows)


def example() -> str:
    """Return a computed example: a wrong claim before a 100 % win, then a void round, on a meter at 29 %."""
    rules_of = edition("face_up_pai_gow")
    raw = {"adjacent_boxes": 1, "wagers": ["progressive"], "paytables": {"progressive": "688a-progressive-3"}}
    rules = meter.meter_rules(rules_of, check_submission(rules_of, raw))
    assert rules is not None
    book = MoneyBook()
    rows: list[tuple[str, ...]] = []

    def row(what: str, _entry: MoneyEntry) -> None:
        rows.append((what, *(format_dollars(book.balance(account)) for account in _SHOWN)))

    row("the meter is seeded", meter.open_meter(book, rules))
    row("a correction, by document", meter.correct_meter(book, 1_234 * 1_000_000 + 567_891, "MC-1"))
    for seat in (1, 3, 6):
        row(f"round 1, seat {seat}: a bet of a dollar", meter.accept_bet(book, rules, 1, seat, ())[1])
    wrong, entry = hits.claim(book, rules, 1, 1, 6, "seven_card_straight_flush_any")
    row("seat 6 claims 100 % of the meter", entry)
    hit, entry = hits.claim(book, rules, 2, 1, 3, "seven_card_straight_flush_any")
    row("seat 3 claims 100 %, too: provisional", entry)
    row("seat 6 has not won: seat 3's claim is reversed,", hits.withdraw(book, hit, (), "hit_reversed"))
    row("seat 6's is withdrawn,", hits.withdraw(book, wrong, ()))
    row("and seat 3's is recorded again: final", hits.rebook(book, rules, hit))
    row("an attendant paid and documented it", hits.pay_by_attendant(book, hit, (), "slip 1"))
    bets = []
    for seat in (1, 3):
        bet, entry = meter.accept_bet(book, rules, 2, seat, ())
        bets.append(bet)
        row(f"round 2, seat {seat}: a bet of a dollar", entry)
    for bet in bets:
        row(f"round 2 is void: the bet of seat {bet.seat} is returned", meter.return_bet(book, bet, 2, ("688a.13(l)",)))
    assert sum(book.held.values()) == 0
    return table(("what happened", *_SHOWN), *rows)


PARTS: Final[dict[str, Callable[[], str]]] = {
    "life of a hit": hit_picture,
    "meters": meter_table,
    "money example": example,
}
