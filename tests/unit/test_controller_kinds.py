"""The registry of the kinds of machine: complete, and in agreement with the drivers and the core."""

from __future__ import annotations

import asyncio
import inspect
from enum import IntEnum
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import pytest

from devices.kinds import KINDS
from table_controller.controller.kinds import CONTROLLER_KINDS
from table_controller.table.decisions import Actuation
from table_controller.table.restart import STOPPABLE

if TYPE_CHECKING:
    from devices.driver import Driver

OF_EACH_KIND = pytest.mark.parametrize("name", CONTROLLER_KINDS)


def test_the_controller_knows_every_kind_of_machine() -> None:
    assert {name: kind.device for name, kind in CONTROLLER_KINDS.items()} == KINDS
    assert list(CONTROLLER_KINDS) == list(KINDS)


def test_the_machines_that_the_core_stops_or_locks_can_be_made_safe_and_no_others() -> None:
    assert {name for name, kind in CONTROLLER_KINDS.items() if kind.make_safe} == {*STOPPABLE, "bet_sensor"}


@OF_EACH_KIND
def test_every_command_and_permit_is_an_actuation(name: str) -> None:
    kind = CONTROLLER_KINDS[name]
    assert {*kind.commands, *kind.permits} <= set(get_args(Actuation))
    of_no_machine = {"open_bets", "release_cards"}  # these permits belong to the round and to a place
    assert set(kind.commands) - of_no_machine <= set(kind.permits)


@OF_EACH_KIND
def test_a_technician_calls_methods_of_the_driver_with_their_own_arguments(name: str) -> None:
    kind = CONTROLLER_KINDS[name]
    driver: type[Driver] = kind.device.driver  # type: ignore[assignment]
    for question in kind.questions:
        assert getattr(driver, question.__name__) is question
        assert list(inspect.signature(question).parameters) == ["self"]
    for order in kind.orders:
        assert getattr(driver, order.name) is order.method
        hints = _arguments(order.method)
        assert list(hints) == ["command", *order.arguments], order.name
        assert all(hints[key] is declared for key, declared in order.arguments.items()), order.name
        assert all(declared in (int, bool) or issubclass(declared, IntEnum) for declared in order.arguments.values())


def _arguments(method: Any) -> dict[str, Any]:
    module = inspect.getmodule(method)
    assert module is not None
    local = {"Settled": object, "asyncio": asyncio}  # imported for type checkers only
    return {
        key: hint for key, hint in get_type_hints(method, vars(module), local).items() if key not in ("self", "return")
    }


@OF_EACH_KIND
def test_only_machines_that_move_cards_have_orders_for_test_mode(name: str) -> None:
    kind = CONTROLLER_KINDS[name]
    assert any(order.needs_test_mode for order in kind.orders) is (kind.obstacle_to_test is not None)
