"""The service machine, pair by pair against a table written by hand, and every path back to service."""

from __future__ import annotations

from itertools import product
from typing import Final

import pytest
from transitions import MachineError

from devices.service import (
    ABSENT,
    CLEARED,
    FAULTED,
    IN_SERVICE,
    MEANINGS,
    SIGNED,
    STATES,
    TRANSITIONS,
    TRIGGERS,
    UNSIGNED,
    UNVERIFIED,
    ReportTrigger,
    Service,
    Trigger,
    report_counts,
)
from table_controller.table import events as ev
from table_controller.table.return_progress import FaultRecording
from table_controller.table.state import IssuedCommand
from tests.support.core.ideal_table import IdealTable

REFUSED: Final = None
# Written by hand from what each state means, never from the machine: trigger -> result for each state in `COLUMNS`.
COLUMNS: Final = (ABSENT, UNVERIFIED, IN_SERVICE, FAULTED, CLEARED, UNSIGNED, SIGNED)
EXPECTED: Final[dict[Trigger, tuple[str | None, ...]]] = {
    "appear": (UNVERIFIED, UNVERIFIED, UNVERIFIED, FAULTED, FAULTED, UNSIGNED, SIGNED),
    "vanish": (ABSENT, ABSENT, ABSENT, FAULTED, FAULTED, UNSIGNED, SIGNED),
    "verify": (REFUSED, IN_SERVICE, REFUSED, REFUSED, REFUSED, REFUSED, REFUSED),
    "doubt": (REFUSED, UNVERIFIED, UNVERIFIED, FAULTED, FAULTED, REFUSED, REFUSED),
    "fault": (REFUSED, FAULTED, FAULTED, FAULTED, FAULTED, UNSIGNED, SIGNED),
    "clear": (REFUSED, REFUSED, REFUSED, CLEARED, REFUSED, REFUSED, REFUSED),
    "acknowledge": (REFUSED, REFUSED, REFUSED, REFUSED, UNVERIFIED, REFUSED, REFUSED),
    "give_up": (UNSIGNED, UNSIGNED, UNSIGNED, UNSIGNED, UNSIGNED, REFUSED, REFUSED),
    "sign": (REFUSED, REFUSED, REFUSED, REFUSED, REFUSED, SIGNED, REFUSED),
    "repair": (REFUSED, REFUSED, REFUSED, REFUSED, REFUSED, CLEARED, CLEARED),
}
# The steps from a fault to service: clearing (or repair), acknowledgment, verification.
STEPS: Final = (("clear", "repair"), ("acknowledge",), ("verify",))


def fire(state: str, trigger: Trigger) -> str | None:
    """Return the state after a trigger, or None if it is refused; a refusal changes nothing."""
    service = Service(state)
    try:
        service.fire(trigger)
    except MachineError:
        assert service.state == state
        return REFUSED
    return service.state


def test_the_table_has_every_state_and_every_trigger() -> None:
    assert set(COLUMNS) == set(STATES)
    assert set(EXPECTED) == set(TRIGGERS)


@pytest.mark.parametrize("trigger", TRIGGERS)
@pytest.mark.parametrize("state", STATES)
def test_every_pair_of_state_and_trigger(state: str, trigger: Trigger) -> None:
    assert fire(state, trigger) == EXPECTED[trigger][COLUMNS.index(state)]


def test_no_pair_is_listed_twice() -> None:
    pairs = [(trigger, source) for trigger, source, _ in TRANSITIONS]
    assert len(pairs) == len(set(pairs))


def test_only_in_service_serves() -> None:
    assert [state for state in STATES if Service(state).is_in_service] == [IN_SERVICE]


def test_a_slot_begins_absent() -> None:
    assert Service().state == ABSENT


def test_every_trigger_is_declared_with_its_meaning() -> None:
    for trigger in TRIGGERS:
        assert MEANINGS[trigger]


# Written by hand: the states in which a device's report counts. A good report counts only if nothing is unsettled.
COUNTS: Final[dict[ReportTrigger, tuple[str, ...]]] = {
    "appear": COLUMNS,
    "vanish": COLUMNS,
    "verify": (UNVERIFIED,),
    "doubt": (UNVERIFIED, IN_SERVICE, FAULTED, CLEARED),
    "fault": (UNVERIFIED, IN_SERVICE, FAULTED, CLEARED, UNSIGNED, SIGNED),
}


@pytest.mark.parametrize("trigger", COUNTS)
@pytest.mark.parametrize("state", STATES)
def test_a_report_counts_only_where_it_is_written_and_is_then_never_refused(state: str, trigger: ReportTrigger) -> None:
    counts = state in COUNTS[trigger]
    assert report_counts(state, trigger, unsettled=False) is counts
    assert report_counts(state, trigger, unsettled=True) is (counts and trigger != "verify")
    assert not counts or fire(state, trigger) is not REFUSED


@pytest.mark.parametrize("unsettled", ["", "command", "return"])
@pytest.mark.parametrize("trigger", COUNTS)
@pytest.mark.parametrize("state", STATES)
def test_the_core_and_a_bench_answer_every_report_alike(state: str, trigger: ReportTrigger, unsettled: str) -> None:
    floor = IdealTable("asia_poker").start()
    slot = floor.state.slots["shuffler.1"]
    slot.state = state
    if unsettled == "command":
        floor.state.commands[1 << 50] = IssuedCommand("shuffler.1", "shuffle", unknown=True)
    elif unsettled == "return":
        slot.return_procedure = FaultRecording("jam", 77)
    bench = Service(state)
    bench.apply_report(trigger, unsettled=bool(unsettled))
    floor.table.step(ev.SlotChanged("shuffler.1", trigger))
    assert floor.state.slots["shuffler.1"].state == bench.state


def steps_taken(triggers: tuple[str, ...]) -> int:
    """Return how many of the steps a sequence contains, in order."""
    taken = 0
    for trigger in triggers:
        if taken < len(STEPS) and trigger in STEPS[taken]:
            taken += 1
    return taken


def run(start: str, triggers: tuple[Trigger, ...]) -> str:
    """Fire triggers in a row, the refused ones without effect, as a stubborn caller would."""
    service = Service(start)
    for trigger in triggers:
        try:
            service.fire(trigger)
        except MachineError:
            continue
        if service.is_in_service:
            break
    return service.state


def test_no_four_triggers_lead_from_a_fault_to_service_without_clearing_acknowledging_and_verifying() -> None:
    # The whole tree of sequences on the table above, which the walk over every pair has compared with the machine.
    weight = []
    for length in range(1, 5):
        for triggers in product(TRIGGERS, repeat=length):
            state = FAULTED
            for trigger in triggers:
                state = EXPECTED[trigger][COLUMNS.index(state)] or state
            if state == IN_SERVICE:
                weight.append(triggers)
                assert steps_taken(triggers) == len(STEPS), triggers
    assert ("clear", "acknowledge", "verify") in weight
    assert min(map(len, weight)) == len(STEPS)
    # Without a clearing there is one sequence of four, through out of service and a repair.
    assert [path_taken for path_taken in weight if "clear" not in path_taken] == [
        ("give_up", "repair", "acknowledge", "verify")
    ]
    for triggers in weight:
        assert run(FAULTED, triggers) == IN_SERVICE


@pytest.mark.parametrize("start", [FAULTED, CLEARED, UNSIGNED, SIGNED])
def test_no_sequence_of_any_length_skips_a_step(start: str) -> None:
    """Search (state, steps that still count) to its end; a step counts until the fault is back."""
    first = 1 if start == CLEARED else 0
    seen, todo = set(), [(start, first)]
    while todo:
        state, taken = todo.pop()
        if (state, taken) in seen:
            continue
        seen.add((state, taken))
        assert state != IN_SERVICE or taken == len(STEPS)
        if state == IN_SERVICE:
            continue
        for trigger in TRIGGERS:
            after = fire(state, trigger)
            if after is REFUSED:
                continue
            if taken < len(STEPS) and trigger in STEPS[taken]:
                todo.append((after, taken + 1))
            elif after in (FAULTED, UNSIGNED, SIGNED):
                todo.append((after, 0))
            else:
                todo.append((after, taken))
    assert (IN_SERVICE, len(STEPS)) in seen  # there is a path back


def test_unplugging_does_not_clear_a_fault() -> None:
    service = Service(FAULTED)
    service.fire("vanish")
    service.fire("appear")
    assert service.state == FAULTED


def test_what_was_cleared_on_a_device_that_then_vanished_must_be_cleared_again() -> None:
    service = Service(FAULTED)
    service.fire("clear")
    service.fire("vanish")
    service.fire("appear")
    with pytest.raises(MachineError):
        service.fire("acknowledge")
    assert service.state == FAULTED


def test_a_reconnect_in_service_must_be_verified_again() -> None:
    service = Service(IN_SERVICE)
    service.fire("appear")  # the old link's end was never reported
    assert not service.is_in_service
    service.fire("verify")
    assert service.is_in_service
