"""Every pair of state and trigger of every machine of the core has a stated result: a state, or a refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from table_controller.table import machines as mc

if TYPE_CHECKING:
    from transitions import Machine


class Model(msgspec.Struct):
    state: str


def triggers(name: str) -> list[str]:
    return sorted({row[0] for row in mc.MACHINES[name][2]})


PAIRS = [
    (name, state, trigger)
    for name, (_, states, _) in mc.MACHINES.items()
    for state in states
    for trigger in triggers(name)
]


@pytest.mark.parametrize(("name", "state", "trigger"), PAIRS)
def test_every_pair_goes_where_the_table_says_or_is_refused(name: str, state: str, trigger: str) -> None:
    machine: Machine = mc.MACHINES[name][0]
    results = [to for by, source, to in mc.MACHINES[name][2] if (by, source) == (trigger, state)]
    assert len(results) <= 1, "a pair with two results"
    model = Model(state)
    assert mc.may(machine, model, trigger) is bool(results)
    if results:
        mc.fire(machine, model, trigger)
        assert model.state == results[0]
    else:
        with pytest.raises(mc.MachineError):
            mc.fire(machine, model, trigger)
        assert model.state == state


@pytest.mark.parametrize("name", list(mc.MACHINES))
def test_every_state_can_be_reached_from_the_first(name: str) -> None:
    _, states, rows = mc.MACHINES[name]
    reached = {states[0]}
    for _ in states:
        reached |= {to for _, source, to in rows if source in reached}
    assert reached == set(states)


def test_no_machine_jumps_by_itself_or_swallows_a_misspelt_trigger() -> None:
    for machine, states, _ in mc.MACHINES.values():
        assert not [name for name in machine.events if name.startswith("to_")]
        with pytest.raises(KeyError):
            mc.fire(machine, Model(states[0]), "no_such_trigger")
