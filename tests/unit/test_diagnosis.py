"""Each cause from its evidence, and none without it, on handwritten fault reports; runs are tested elsewhere."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from devices.shuffler import messages as sf
from devices.shuffler.state import ShufflerView
from table_controller.diagnosis import fault_report as d
from table_controller.diagnosis.causes import diagnose
from table_controller.diagnosis.evidence import account_of, halt_of
from table_controller.diagnosis.findings import CardRange, CauseKind
from table_controller.diagnosis.measurements import pulses
from tests.support.box.fault_reports import STUCK, currents, edges, levels, shuffler_report, times


def first(report: d.FaultReport) -> CauseKind:
    return diagnose(report).causes[0].why


def test_a_motor_that_works_against_something_is_a_card_that_sticks() -> None:
    diagnosis = diagnose(
        shuffler_report("jam", "lift", currents=currents(transport=STUCK), edges=edges("feed", "bridge"))
    )
    assert diagnosis.causes[0].why is CauseKind.STUCK_CARD
    assert diagnosis.where.segments == ("lift",)
    assert (diagnosis.where.past, diagnosis.where.before) == ("bridge", "lift")
    assert (diagnosis.cards.path, diagnosis.cards.inside, diagnosis.cards.waiting) == (
        CardRange(1, 1),
        CardRange(27, 27),
        CardRange(26, 26),
    )
    assert diagnosis.staff


def test_a_card_that_was_slow_and_long_on_its_way_is_bent() -> None:
    slow = shuffler_report(
        "jam", "lift", currents=currents(transport=STUCK), times=times(feed=1.15, bridge=1.15),
        edges=edges("feed", "bridge", feed=1.15, bridge=1.15),
    )  # fmt: skip
    assert first(slow) is CauseKind.BENT_CARD
    assert first(msgspec.structs.replace(slow, times=times(), edges=edges("feed", "bridge"))) is CauseKind.STUCK_CARD


def test_a_motor_that_runs_free_is_a_roller_without_grip() -> None:
    worn = shuffler_report("jam", "lift", times=times(lift=2.6), edges=edges("feed", "bridge"))
    diagnosis = diagnose(worn)
    assert (diagnosis.causes[0].why, diagnosis.causes[0].sure) == (CauseKind.WORN_ROLLER, True)
    assert not diagnosis.staff, "a technician changes rollers"


def test_a_machine_that_did_not_wait_is_blamed_for_its_timing() -> None:
    assert (
        first(shuffler_report("jam", "lift", waited_us=45_000, edges=edges("feed", "bridge")))
        is CauseKind.FIRMWARE_TIMING
    )
    unknown = shuffler_report("jam", "lift", waited_us=45_000, times=(), history=(), edges=edges("feed", "bridge"))
    assert not diagnose(unknown).causes[0].sure, "nobody knows how long cards take there"


def test_a_sensor_that_was_dark_before_is_dusty_and_the_card_may_be_anywhere_behind_it() -> None:
    diagnosis = diagnose(shuffler_report("jam", "lift", levels=levels(lift=430), edges=edges("feed", "bridge")))
    assert diagnosis.causes[0].why is CauseKind.DUST
    assert diagnosis.where.segments == ("lift", "shelf")
    assert (diagnosis.cards.path, diagnosis.cards.inside) == (CardRange(0, 1), CardRange(27, 27))


def test_a_card_that_the_next_sensor_saw_is_behind_that_one() -> None:
    blind = shuffler_report(
        "jam", "feed", levels=levels(feed=430, bridge=110), edges=(*edges(), d.EdgeAtFault("bridge", True, 0))
    )
    diagnosis = diagnose(blind)
    assert (diagnosis.causes[0].why, diagnosis.causes[0].at, diagnosis.causes[0].sure) == (CauseKind.DUST, "feed", True)
    assert (diagnosis.where.segments, diagnosis.cards.path) == (("lift",), CardRange(1, 1))


def test_a_blind_sensor_and_a_strained_motor_are_something_that_is_no_card() -> None:
    diagnosis = diagnose(
        shuffler_report(
            "jam", "bridge", levels=levels(bridge=250), currents=currents(transport=STUCK), edges=edges("feed")
        )
    )
    assert diagnosis.causes[0].why is CauseKind.FOREIGN_OBJECT
    assert diagnosis.where.segments == ("bridge", "lift"), "one motor moves both, and the sensor between them is blind"


def test_behind_the_last_sensor_a_card_may_be_out_already() -> None:
    diagnosis = diagnose(shuffler_report("jam", "stack", leg=1, entered=53, left=20, levels=levels(stack=300)))
    assert diagnosis.cards.inside == CardRange(32, 33)
    assert diagnosis.cards.out == CardRange(20, 21)


def test_a_long_pulse_of_a_card_that_came_at_its_usual_speed_is_two_cards() -> None:
    diagnosis = diagnose(shuffler_report("double_feed", "feed", edges=edges("feed", feed=1.5)))
    assert (diagnosis.causes[0].why, diagnosis.causes[0].sure) == (CauseKind.DOUBLE_FEED, True)
    assert (diagnosis.where.segments, diagnosis.cards.path, diagnosis.cards.inside) == (
        ("bridge",),
        CardRange(2, 2),
        CardRange(28, 28),
    )


def test_a_long_pulse_of_a_slow_card_is_one_card() -> None:
    diagnosis = diagnose(shuffler_report("double_feed", "feed", times=times(feed=1.4), edges=edges("feed", feed=1.4)))
    assert diagnosis.causes[0].why is CauseKind.BENT_CARD
    assert diagnosis.cards.inside == CardRange(27, 27)


def test_a_long_pulse_that_nobody_measured_is_a_range() -> None:
    diagnosis = diagnose(shuffler_report("double_feed", "feed", edges=()))
    assert (diagnosis.cards.path, diagnosis.cards.inside) == (CardRange(1, 2), CardRange(27, 28))
    assert not diagnosis.causes[0].sure


def test_a_short_pulse_is_a_torn_card_that_is_still_before_the_sensor() -> None:
    diagnosis = diagnose(shuffler_report("short_card", "bridge", edges=edges("feed", "bridge", bridge=0.35)))
    assert (diagnosis.causes[0].why, diagnosis.where.segments) == (CauseKind.TORN_CARD, ("bridge",))


@pytest.mark.parametrize(
    ("went_in", "came_out", "why", "inside"),
    [
        (53, 52, CauseKind.SLIPPED_CARD, CardRange(0, 1)),
        (53, 37, CauseKind.SLIPPED_CARD, CardRange(15, 16)),
        (52, 53, CauseKind.UNSEEN_PAIR, CardRange(0, 0)),
        (52, 52, CauseKind.SLIPPED_CARD, CardRange(0, 1)),
    ],
)
def test_counts_that_disagree(went_in: int, came_out: int, why: CauseKind, inside: CardRange) -> None:
    diagnosis = diagnose(_counts(went_in, came_out))
    assert (diagnosis.causes[0].why, diagnosis.cards.inside) == (why, inside)
    assert not diagnosis.staff, "a card is missing, and nobody has found it"


def _counts(went_in: int, came_out: int, *ends: d.MotionEnd) -> d.FaultReport:
    halt = d.MachineHalt("counts_disagree", "Incomplete", 1, None, None, went_in, came_out)
    return shuffler_report("counts_disagree", halts=(halt,), account=d.CardAccount(53, None, came_out), ends=ends)


def test_a_card_too_many_after_one_was_missed_is_the_missed_one() -> None:
    assert first(_counts(52, 53, d.MotionEnd("Incomplete", 53, 52))) is CauseKind.MIGRATED_CARD
    assert (
        first(_counts(52, 53, d.MotionEnd("Incomplete", 53, 52), d.MotionEnd("Incomplete", 52, 53)))
        is CauseKind.UNSEEN_PAIR
    )


def test_fewer_cards_in_than_expected_widen_the_account_of_a_jam_on_the_way_out() -> None:
    diagnosis = diagnose(
        shuffler_report("jam", "stack", leg=1, entered=52, left=20, currents=currents(transport=STUCK))
    )
    assert diagnosis.cards.inside == CardRange(32, 33), "a pair that counted as one, or a deck that lacks a card"


def test_a_failed_self_test_names_its_sensor_with_the_margin() -> None:
    halt = d.MachineHalt("self_test", "SelfTested", bad_sensors=("exit",))
    diagnosis = diagnose(shuffler_report("self_test", halts=(halt,), levels=tuple(_dim(level) for level in levels())))
    assert (diagnosis.causes[0].why, diagnosis.causes[0].at) == (CauseKind.DUST, "exit")
    assert "its level is 540, 40 above the threshold of 500" in diagnosis.causes[0].evidence


def _dim(level: d.Level) -> d.Level:
    return d.Level("exit", False, 540, 500) if level.sensor == "exit" else level


def test_what_people_interrupted_is_no_fault_of_the_machine() -> None:
    halt = d.MachineHalt("stopped", "Stopped", 0)
    diagnosis = diagnose(
        shuffler_report("stopped", halts=(halt,), edges=(*edges("feed"), d.EdgeAtFault("bridge", True, 3000)))
    )
    assert (diagnosis.causes[0].why, diagnosis.where.segments, diagnosis.staff) == (
        CauseKind.INTERRUPTED,
        ("lift",),
        True,
    )


def test_an_unknown_account_is_bounded_by_what_is_expected() -> None:
    diagnosis = diagnose(
        shuffler_report("jam", "lift", account=d.CardAccount(53, None, None), currents=currents(transport=STUCK))
    )
    assert diagnosis.cards.inside == CardRange(1, 53)


def test_every_fault_report_has_a_cause_even_without_any_evidence() -> None:
    for what in ("jam", "double_feed", "short_card"):
        bare = shuffler_report(what, "feed", levels=(), currents=(), times=(), history=(), edges=(), waited_us=None)
        diagnosis = diagnose(bare)
        assert diagnosis.causes
        assert not diagnosis.causes[0].sure


def test_an_edge_without_its_beginning_is_no_pulse() -> None:
    seen = pulses(
        (d.EdgeAtFault("feed", False, 900), d.EdgeAtFault("feed", True, 500), d.EdgeAtFault("feed", False, 460))
    )
    assert [(pulse.since, pulse.length) for pulse in seen["feed"]] == [(500, 40)]


def _first_card(segment: str, motor: str, drawn: int, **more: Any) -> d.FaultReport:
    """Return a jam at the first card of a motion, with one motor strained."""
    halt = d.MachineHalt("jam", "Jam", more.pop("leg", 0), segment, 1, more.pop("entered", 0), 0)
    return shuffler_report("jam", segment, halts=(halt,), currents=currents(**{motor: drawn}), **more)


def test_a_motor_that_stalls_at_its_first_card_may_not_turn_at_all() -> None:
    diagnosis = diagnose(_first_card("feed", "feed", STUCK))
    assert (diagnosis.causes[0].why, diagnosis.causes[0].at, diagnosis.staff) == (CauseKind.SEIZED_MOTOR, "feed", False)
    assert not diagnosis.causes[0].sure, "a card that sticks first of all looks the same until a jog"
    assert "the motor moves: feed" in diagnosis.causes[0].evidence[1]
    assert diagnosis.causes[1].why is CauseKind.STUCK_CARD
    later = shuffler_report("jam", "feed", currents=currents(feed=STUCK), edges=edges())
    assert first(later) is CauseKind.STUCK_CARD, "it has moved 26 cards in this motion"
    assert first(_first_card("feed", "feed", 800)) is CauseKind.STUCK_CARD, "it strains, and turns"


def test_a_motor_that_stalls_again_after_clearing_needs_no_full_stall() -> None:
    again = (d.MotionEnd("Completed", 53, 53), d.MotionEnd("Jam", 20, 0), d.MotionEnd("Cleared"))
    assert first(_first_card("feed", "feed", 800, ends=again)) is CauseKind.SEIZED_MOTOR
    well = (*again, d.MotionEnd("Completed", 53, 53))
    assert first(_first_card("feed", "feed", 800, ends=well)) is CauseKind.STUCK_CARD


def test_a_motor_that_brought_every_card_in_has_turned_when_the_first_one_sticks_on_its_way_out() -> None:
    assert first(_first_card("stack", "transport", STUCK, leg=1, entered=53)) is CauseKind.STUCK_CARD
    assert first(_first_card("unload", "eject", STUCK, leg=1, entered=53)) is CauseKind.SEIZED_MOTOR
    kept = d.CardAccount(53, 53, None, keeps=True)
    assert first(_first_card("stack", "transport", STUCK, leg=1, entered=53, account=kept)) is CauseKind.SEIZED_MOTOR


def _dark(**dark: int) -> d.FaultReport:
    halt = d.MachineHalt("path_blocked", "Refused", 0, refused="StartCycle")
    return shuffler_report(
        "path_blocked", halts=(halt,), account=d.CardAccount(53, 0, 0), levels=levels(**dark), currents=()
    )


def test_the_cause_of_a_dark_idle_path_is_derived_from_how_dark_it_is() -> None:
    dust = diagnose(_dark(lift=300))
    assert [cause.why for cause in dust.causes] == [CauseKind.DUST, CauseKind.FOREIGN_OBJECT, CauseKind.LEFT_CARD]
    assert (dust.where.segments, dust.where.sensors, dust.cards.path) == ((), ("lift",), CardRange(0, 0))
    card = diagnose(_dark(lift=100))
    assert (card.causes[0].why, card.staff, card.where.segments) == (CauseKind.LEFT_CARD, True, ("lift", "shelf"))
    assert (card.cards.path, card.cards.inside) == (CardRange(0, 1), CardRange(0, 1))
    both = diagnose(_dark(lift=100, exit=300))
    assert (both.causes[0].at, both.staff, both.where.sensors) == ("lift", True, ("lift", "exit"))
    assert not diagnose(_dark(lift=300, exit=300)).staff, "no card makes two sensors half dark"
    piles = diagnose(_dark(intake=100, gate=100))
    assert piles.causes[0].why is CauseKind.INTERRUPTED, "a pile is no part of the path"


def test_a_stack_that_sticks_in_the_chute_is_between_the_machines_and_no_count_claims_it() -> None:
    stuck = sf.Fault(7, sf.Reason.CHUTE_JAMMED, sf.Segment.DROP, 0, 0, 0)
    halt = halt_of("shuffler", stuck)
    assert halt is not None
    assert halt.what == "chute_jam"
    ready = ShufflerView(connected=True, state=sf.State.READY, inside=0, behind_gate=53)
    for event in (stuck, sf.Stopped(7, 0, 0, sf.Reason.STOPPED)):
        account = account_of(ready, event, None, 53)
        assert (account.inside, account.out) == (None, None), "cards may be on both sides of the chute"
    report = msgspec.structs.replace(shuffler_report("chute_jam", "drop", leg=1, entered=0), account=account)
    diagnosis = diagnose(report)
    assert diagnosis.where.at_rest == "the chute into the shoe"
    assert diagnosis.cards.inside == CardRange(0, 53)
    assert diagnosis.causes[0].why is CauseKind.STUCK_CARD
    assert diagnosis.staff, "table staff may take the cards out"
