"""Service state, fault report and return to service agree on which messages of a machine report a failure."""

from __future__ import annotations

from typing import Any

import pytest

from devices.kinds import KINDS
from devices.message_registry import union_members
from devices.shoe import messages as sh
from devices.shoe import state as shoe
from devices.shuffler import messages as sf
from devices.shuffler import state as shuffler
from table_controller.diagnosis.evidence import halt_of
from table_controller.diagnosis.return_evidence import evidence_of
from table_controller.table import return_steps as st
from tests.support.wire.golden import MESSAGES, class_of, message

HAS_FAILED = {sf.KIND: shuffler.has_failed, sh.KIND: shoe.has_failed}
# Failures that a golden message does not show.
MORE: dict[str, list[Any]] = {
    sf.KIND: [
        sf.SelfTested(7, 1, 0), sf.SelfTested(7, 0, 1), sf.SelfTested(7, 0, 0),
        sf.Jogged(7, sf.Motor.FEED, False, 900, False), sf.Jogged(7, sf.Motor.FEED, False, 300, True),
    ],
    sh.KIND: [
        sh.SelfTested(7, 1, 0), sh.SelfTested(7, 0, 1), sh.SelfTested(7, 0, 0),
        sh.Jogged(7, next(iter(sh.Motor)), False, 900, False), sh.Jogged(7, next(iter(sh.Motor)), False, 300, True),
    ],
}  # fmt: skip
EVENTS = [
    (kind, event)
    for kind in (sf.KIND, sh.KIND)
    for event in (
        *(message(entry) for entry in MESSAGES if class_of(entry) in union_members(KINDS[kind].messages.ToHost)),
        *MORE[kind],
    )
]


@pytest.mark.parametrize(("kind", "event"), EVENTS, ids=lambda each: type(each).__name__)
def test_what_reports_a_failure_latches_a_fault_is_recorded_and_disproves_steps(kind: str, event: Any) -> None:
    failed = HAS_FAILED[kind](event)
    assert (KINDS[kind].trigger(event) == "fault") is failed
    if not (isinstance(event, sf.Power | sh.Power) and event.interrupted):  # its report has the fault
        assert (halt_of(kind, event) is not None) is failed
    evidence = evidence_of(event)
    match evidence:
        case st.FaultedAgain():
            assert failed
        case st.Tested():
            assert failed is bool(evidence.bad_sensors or evidence.bad_motors)
        case st.MotorJogged():
            assert failed is not evidence.turned
        case _:
            assert not failed


def test_both_outcomes_of_every_kind_are_among_these() -> None:
    assert {(kind, HAS_FAILED[kind](event)) for kind, event in EVENTS} == {
        (sf.KIND, True), (sf.KIND, False), (sh.KIND, True), (sh.KIND, False),
    }  # fmt: skip
