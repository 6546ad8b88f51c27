"""Telemetry of a machine updates its view and nothing that a rule or a permit reads."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from devices.kinds import KINDS, SHOE, SHUFFLER
from devices.shoe import messages as sh
from devices.shuffler import messages as m
from table_controller.controller.device_events import translate
from table_controller.diagnosis.evidence import ENDED_WELL, ended_of, halt_of

TELEMETRY: list[tuple[Any, Any]] = [
    *((SHUFFLER, m.Progress(1, phase, entered, 2, 255)) for phase, entered in product(m.Phase, (0, 9))),
    *((SHOE, sh.Progress(1, phase, 3, left, 255)) for phase, left in product(sh.Phase, (None, 43))),
]


@pytest.mark.parametrize(("kind", "event"), TELEMETRY)
def test_telemetry_changes_no_service_state_and_makes_no_core_event_or_fault_report(kind: Any, event: Any) -> None:
    assert isinstance(event, kind.telemetry_events)
    assert kind.trigger(event) is None
    assert translate(f"{kind.name}.1", kind.name, None, event) == []
    assert halt_of(kind.name, event) is None
    assert ended_of(event) is None
    assert not isinstance(event, ENDED_WELL)
    assert kind.fold(kind.initial_view, event) != kind.initial_view


def test_only_shufflers_and_shoes_send_telemetry() -> None:
    assert {name for name, kind in KINDS.items() if kind.telemetry_events} == {"shuffler", "shoe"}
    assert {type(event) for _, event in TELEMETRY} == {
        each for kind in KINDS.values() for each in kind.telemetry_events
    }
