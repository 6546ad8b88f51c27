"""What the controller must know about a kind of machine. Each kind fills it in once, in its own file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic

from devices.kinds import AnyView, D, Kind

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from table_controller.rulebook import Edition, Submission
    from table_controller.table import events as ev
    from table_controller.table.decisions import Actuation, Command

# The permits that people see for every machine, after those of its kind.
COMMON_PERMITS: Final[tuple[Actuation, ...]] = ("return_to_service", "test")


def _no_events(_slot: str, _event: object) -> Iterable[ev.Event]:
    return ()


def _not_required(_rules: Edition, _submission: Submission) -> str:
    return ""


def _no_capabilities(_submission: Submission) -> frozenset[str]:
    return frozenset()


def _not_used(_rules: Edition, _submission: Submission) -> bool:
    return False


@dataclass(frozen=True)
class ServiceOrder:
    """An order of a technician: a method of the driver, and the types of its arguments without the command id."""

    method: Callable[..., Awaitable[object]]
    arguments: Mapping[str, type]
    is_safe: bool = False  # only stops: needs no permit
    needs_test_mode: bool = False  # moves cards, so no round may be able to use the machine

    @property
    def name(self) -> str:
        """The name of the order, in requests and on the panel."""
        return self.method.__name__


def order(method: Callable[..., Awaitable[object]], **arguments: type) -> ServiceOrder:
    """Return an order that needs a permit."""
    return ServiceOrder(method, arguments)


def stop_order(method: Callable[..., Awaitable[object]]) -> ServiceOrder:
    """Return a fail-safe order."""
    return ServiceOrder(method, {}, is_safe=True)


def order_in_test_mode(method: Callable[..., Awaitable[object]], **arguments: type) -> ServiceOrder:
    """Return an order that moves cards, for test mode."""
    return ServiceOrder(method, arguments, needs_test_mode=True)


@dataclass(frozen=True, kw_only=True)
class MakeSafe(Generic[D]):
    """How a machine is stopped or locked: on a fail-safe command of the core, and without the core."""

    send: Callable[[D, int, int], Awaitable[object]]  # to the driver: the command id, and the round of a lock
    # Without the core: the round of the lock, from the inventory of a report; None: the machine is safe already.
    unsafe_round: Callable[[Any], int | None] = lambda _: 0


@dataclass(frozen=True, kw_only=True)
class ControllerKind(Generic[D]):
    """One kind of machine in the controller. Most fields may be left out: then the kind has no such thing."""

    device: Kind[D, AnyView]
    # An event of the driver -> events of the core.
    core_events: Callable[[str, Any], Iterable[ev.Event]] = _no_events
    # A permissive act of the core -> the command of the driver.
    commands: Mapping[str, Callable[[D, Command], Awaitable[object]]] = field(default_factory=dict)
    make_safe: MakeSafe[D] | None = None
    permits: tuple[Actuation, ...] = ()  # that people see, in addition to COMMON_PERMITS
    questions: tuple[Callable[..., Awaitable[object]], ...] = ()  # methods of the driver that change nothing
    orders: tuple[ServiceOrder, ...] = ()
    # Why an inventory bars the begin or end of test mode; empty: it does not. None: it moves no cards, so it can be
    # tested while it is in service.
    obstacle_to_test: Callable[[Any], str] | None = None
    is_at_seats: bool = False  # one at each seat; the number of the slot is the seat
    # The reason why the choices of a table require it, with its clause; empty: they do not.
    why_required: Callable[[Edition, Submission], str] = _not_required
    # The capabilities that the choices of a table need; a device without them is never in service.
    needed_capabilities: Callable[[Submission], frozenset[str]] = _no_capabilities
    is_used: Callable[[Edition, Submission], bool] = _not_used  # the table can play with and without it
    is_private: bool = True  # its messages have bets, seats or amounts, which a support bundle must not contain

    @property
    def name(self) -> str:
        """The kind's name in slots, hellos and key files."""
        return self.device.name
