"""The last hits of each level: their number, their fields, and that a restart keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.cli.commands.hits import hit_lines
from table_controller.journal.hit_log import KEPT_PER_LEVEL, HitLog
from table_controller.ledger.money import DOLLAR, MoneyEntry
from table_controller.table.decisions import HitClaimed, StateChanged

if TYPE_CHECKING:
    from table_controller.table.decisions import Decision

_NS = 1_000_000_000
_ENTRY = MoneyEntry(number=1, kind="hit", transfers=(), meter_before=0, meter_after=0)


def claim(hit: int, hand: str = "royal", seat: int = 3) -> Decision:
    return HitClaimed(_ENTRY, hit, 100 + hit, seat, hand, 50 * DOLLAR, hit * DOLLAR)


def test_each_level_keeps_its_own_last_hits() -> None:
    log = HitLog()
    for hit in range(1, KEPT_PER_LEVEL + 11):
        log.add_step(hit * _NS, [claim(hit)])
    log.add_step(99 * _NS, [claim(99, "straight_flush")])
    assert [one.hit for one in log.levels["royal"]] == list(range(11, KEPT_PER_LEVEL + 11))
    assert [one.hit for one in log.levels["straight_flush"]] == [99]


def test_a_hit_has_time_seat_amount_and_its_newest_state() -> None:
    log = HitLog()
    log.add_step(5 * _NS, [claim(7)])
    log.add_step(9 * _NS, [StateChanged("hit 7", "hand_confirmed"), StateChanged("round", "settling")])
    (one,) = log.levels["royal"]
    assert (one.hit, one.round, one.seat, one.amount) == (7, 107, 3, 57 * DOLLAR)
    assert (one.state, one.claimed_ns, one.changed_ns) == ("hand_confirmed", 5 * _NS, 9 * _NS)


def test_a_withdrawn_hit_stays_in_the_list_as_withdrawn() -> None:
    log = HitLog()
    log.add_step(0, [claim(7), StateChanged("hit 7", "withdrawn")])
    assert log.levels["royal"][0].state == "withdrawn"


def test_hits_are_printed_the_newest_first() -> None:
    import msgspec

    log = HitLog()
    log.add_step(0, [claim(1)])
    log.add_step(86_400 * _NS, [claim(2, seat=5)])
    lines = list(hit_lines(msgspec.to_builtins(log.levels)))
    assert lines[0] == "royal: the last 2 hits (at most 25 are kept here)"
    assert "1970-01-02 00:00:00" in lines[2]
    assert lines[2].split()[2:] == ["102", "5", "$52.00", "claimed"]
    assert lines[3].split()[2:] == ["101", "3", "$51.00", "claimed"]
    assert list(hit_lines({})) == ["no hit has been claimed"]
