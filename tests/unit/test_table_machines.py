"""Every pair of state and trigger of every machine has a stated result, written out here: a state, or a refusal.

The tables below are written by hand, independent of the machines' source: a transition that is added, lost or changed
fails them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
import pytest

from devices import service
from table_controller.table import state_machines as mc

if TYPE_CHECKING:
    from transitions import Machine

# Per machine: its states in their order, then per trigger `from>to`, or `a,b>to` for several states that lead there.
# Every pair that is not written is refused.
STATED: Final[dict[str, tuple[str, dict[str, str]]]] = {
    "round": (
        "idle betting no_more_bets locked starting_position dealing stub_check playing settling complete void",
        {
            "open": "idle>betting",
            "close": "betting>no_more_bets",
            "lock": "no_more_bets>locked",
            "find_start": "locked>starting_position",
            "deal": "locked,starting_position>dealing",
            "check_stub": "dealing>stub_check",
            "play": "dealing,stub_check>playing",
            "settle": "playing>settling",
            "finish": "settling>complete",
            "reopen": "complete>settling",
            "void": "betting,no_more_bets,locked,starting_position,dealing,stub_check,playing,settling>void",
            "end": "complete,void>idle",
        },
    ),
    "deck": (
        "received inspected shown stacked in_device shuffled ready in_play rack held removed",
        {
            "inspect": "received>inspected",
            "show": "inspected>shown",
            "stack": "shown>stacked",
            "preshuffled": "received>shuffled",
            "insert": "stacked,rack>in_device",
            "verify": "in_device>ready",
            "verify_uncut": "in_device>shuffled",
            "hand_shuffle": "stacked,rack>shuffled",
            "cut": "shuffled>ready",
            "recut": "ready>shuffled",
            "take_out": "in_device,shuffled,ready,rack>stacked",
            "use": "ready>in_play",
            "collect": "in_play>rack",
            "spread": "stacked,shuffled,ready,rack>inspected",
            "open_again": "stacked,shuffled,ready,rack,in_play>received",
            "hold": "received,inspected,shown,stacked,in_device,shuffled,ready,in_play,rack,held>held",
            "release": "held>stacked",
            "remove": "received,inspected,shown,stacked,in_device,shuffled,ready,in_play,rack,held>removed",
        },
    ),
    "progressive": (
        "closed open locking locked collected verified",
        {
            "open": "closed>open",
            "lock": "open>locking",
            "latched": "locking>locked",
            "collect": "locked>collected",
            "verify": "collected>verified",
            "recount": "collected>locked",
            "settle": "open,locking,locked,collected,verified>closed",
        },
    ),
    "hit": (
        "claimed hand_confirmed light_seen validated paid hand_pay documented withdrawn",
        {
            "confirm": "claimed>hand_confirmed",
            "see_light": "hand_confirmed>light_seen",
            "validate": "light_seen>validated",
            "pay": "validated>paid",
            "hand_pay": "validated>hand_pay",
            "document": "hand_pay>documented",
            "withdraw": "claimed,hand_confirmed,light_seen,validated,hand_pay>withdrawn",
            "take_back": "paid>withdrawn",
            "revalidate": "validated,hand_pay>light_seen",
        },
    ),
    "service": (
        "absent unverified in_service faulted cleared out_of_order_unsigned out_of_order_signed",
        {
            "appear": "absent,unverified,in_service>unverified faulted,cleared>faulted "
            "out_of_order_unsigned>out_of_order_unsigned out_of_order_signed>out_of_order_signed",
            "vanish": "absent,unverified,in_service>absent faulted,cleared>faulted "
            "out_of_order_unsigned>out_of_order_unsigned out_of_order_signed>out_of_order_signed",
            "verify": "unverified>in_service",
            "doubt": "unverified,in_service>unverified faulted,cleared>faulted",
            "fault": "unverified,in_service,faulted,cleared>faulted "
            "out_of_order_unsigned>out_of_order_unsigned out_of_order_signed>out_of_order_signed",
            "clear": "faulted>cleared",
            "acknowledge": "cleared>unverified",
            "give_up": "absent,unverified,in_service,faulted,cleared>out_of_order_unsigned",
            "sign": "out_of_order_unsigned>out_of_order_signed",
            "repair": "out_of_order_unsigned,out_of_order_signed>cleared",
        },
    ),
}


class Model(msgspec.Struct):
    state: str


def stated(name: str, trigger: str) -> dict[str, str]:
    """Return the result of a trigger in each state where it is not refused."""
    results: dict[str, str] = {}
    for rule in STATED[name][1][trigger].split():
        sources, _, to = rule.partition(">")
        for source in sources.split(","):
            assert source not in results, f"{name}: {trigger} in {source} is stated twice"
            results[source] = to
    return results


PAIRS: Final = [
    (name, state, trigger) for name, (states, by) in STATED.items() for state in states.split() for trigger in by
]


@pytest.mark.parametrize("name", list(mc.MACHINES))
def test_every_machine_has_the_states_and_triggers_that_are_written_here_and_no_others(name: str) -> None:
    machine, states, _ = mc.MACHINES[name]
    assert states == tuple(STATED[name][0].split())
    assert set(machine.states) == set(states)
    assert set(machine.events) == set(STATED[name][1])
    assert machine.initial == states[0]


def test_no_machine_of_the_core_is_left_out() -> None:
    assert mc.MACHINES.keys() == STATED.keys()
    assert {id(machine) for machine, _, _ in mc.MACHINES.values()} == {
        id(machine) for machine in vars(mc).values() if isinstance(machine, type(mc.ROUND))
    }


@pytest.mark.parametrize(("name", "state", "trigger"), PAIRS)
def test_every_pair_goes_where_it_is_written_or_is_refused(name: str, state: str, trigger: str) -> None:
    machine: Machine = mc.MACHINES[name][0]
    to = stated(name, trigger).get(state)
    model = Model(state)
    assert mc.can_fire(machine, model, trigger) is (to is not None)
    if to is not None:
        mc.fire(machine, model, trigger)
        assert model.state == to
    else:
        with pytest.raises(mc.MachineError):
            mc.fire(machine, model, trigger)
        assert model.state == state


@pytest.mark.parametrize(
    ("state", "trigger"), [(state, trigger) for name, state, trigger in PAIRS if name == "service"]
)
def test_the_service_of_a_driver_is_the_same_machine(state: str, trigger: str) -> None:
    slot = service.Service(state)
    to = stated("service", trigger).get(state)
    if to is None:
        with pytest.raises(mc.MachineError):
            slot.fire(trigger)  # type: ignore[arg-type]
    else:
        slot.fire(trigger)  # type: ignore[arg-type]
    assert slot.state == (to or state)
    assert slot.is_in_service is (slot.state == "in_service")


@pytest.mark.parametrize("name", list(STATED))
def test_every_state_can_be_reached_from_the_first_and_only_decks_and_hits_end(name: str) -> None:
    states = STATED[name][0].split()
    reached, ends = {states[0]}, set(states)
    for _ in states:
        for trigger in STATED[name][1]:
            for source, to in stated(name, trigger).items():
                reached |= {to} if source in reached else set()
                ends -= {source} if to != source else set()
    assert reached == set(states)
    assert ends == {"deck": {"removed"}, "hit": {"documented", "withdrawn"}}.get(name, set())


def test_no_machine_jumps_by_itself_or_swallows_a_misspelled_trigger() -> None:
    for machine, states, _ in mc.MACHINES.values():
        assert not [name for name in machine.events if name.startswith("to_")]
        with pytest.raises(KeyError):
            mc.fire(machine, Model(states[0]), "no_such_trigger")
