"""Why `transitions.extensions.asyncio.AsyncMachine` is not used here: each test shows one thing that it does.

These are tests of the library (seen with 0.9.3), not of our code. If one fails after an upgrade, the library has
changed: read what is new, then look at the reasons in docs/design.md again. The last tests show that the plain
machine, set up as `devices.service` sets it up, has none of these defects.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import pytest
from transitions import Machine, MachineError
from transitions.extensions.asyncio import AsyncMachine

from devices.service import FAULTED, IN_SERVICE, Service

if TYPE_CHECKING:
    from collections.abc import Callable

STATES: Final = ["idle", "moving", "faulted"]
TRANSITIONS: Final = [["go", "idle", "moving"], ["fault", "moving", "faulted"]]
# Every queue mode of the library.
any_queue = pytest.mark.parametrize("queued", [False, True, "model"])
a_queue = pytest.mark.parametrize("queued", [True, "model"])


class _Model:
    """The model of the machine; entering `moving` runs `work`."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.finished = False
        self._work = work

    async def on_enter_moving(self) -> None:
        await self._work()
        self.finished = True


def _model(work: Callable[[], Any] = lambda: asyncio.sleep(10), **options: Any) -> Any:
    model = _Model(work)
    AsyncMachine(model, states=STATES, transitions=TRANSITIONS, initial="idle", **options)
    return model


@any_queue
async def test_cancelling_a_task_that_waits_for_a_trigger_does_not_cancel_it(queued: Any) -> None:
    model = _model(queued=queued)
    went_on = False

    async def work() -> None:
        nonlocal went_on
        await model.go()
        went_on = True  # never reached by a canceled task

    task = asyncio.create_task(work())
    await asyncio.sleep(1)
    task.cancel()
    await asyncio.wait({task})
    assert not task.cancelled()
    assert went_on
    # The state has changed although what belongs to it was cut off.
    assert (model.state, model.finished) == ("moving", False)


@any_queue
async def test_a_timeout_around_a_trigger_does_not_raise(queued: Any) -> None:
    model = _model(queued=queued)
    start = asyncio.get_running_loop().time()
    async with asyncio.timeout(1) as deadline:
        answer = await model.go()
    assert deadline.expired()
    assert answer is False  # and not a TimeoutError
    assert asyncio.get_running_loop().time() - start == pytest.approx(1)
    assert (model.state, model.finished) == ("moving", False)


@any_queue
async def test_wait_for_returns_instead_of_raising_when_time_is_up(queued: Any) -> None:
    model = _model(queued=queued)
    assert await asyncio.wait_for(model.go(), 1) is False
    assert model.state == "moving"


async def test_unqueued_a_trigger_cancels_what_another_task_is_doing() -> None:
    cut_off: list[BaseException] = []

    async def stop_the_motor() -> None:
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError as error:
            cut_off.append(error)
            raise

    model = _model(stop_the_motor)
    first = asyncio.create_task(model.go())
    await asyncio.sleep(1)
    assert await model.fault()
    assert await first is False  # only the library canceled it
    assert len(cut_off) == 1
    assert (model.state, model.finished) == ("faulted", False)


@a_queue
async def test_queued_a_trigger_returns_true_before_it_has_run(queued: Any) -> None:
    model = _model(queued=queued)
    first = asyncio.create_task(model.go())
    await asyncio.sleep(1)
    assert await model.fault() is True
    assert model.state == "moving"  # the fault has not happened
    await first
    assert model.state == "faulted"


@a_queue
async def test_queued_an_impossible_trigger_returns_true_and_fails_in_another_task(queued: Any) -> None:
    model = _model(queued=queued)
    first = asyncio.create_task(model.go())
    await asyncio.sleep(1)
    assert await model.fault() is True
    assert await model.go() is True  # impossible by then
    with pytest.raises(MachineError, match="Can't trigger event go from state faulted"):
        await first


@a_queue
async def test_queued_an_exception_drops_every_trigger_that_waits(queued: Any) -> None:
    async def fail() -> None:
        await asyncio.sleep(10)
        raise OSError("the motor does not answer")

    model = _model(fail, queued=queued)
    first = asyncio.create_task(model.go())
    await asyncio.sleep(1)
    assert await model.fault() is True
    with pytest.raises(OSError, match="the motor does not answer"):
        await first
    assert model.state == "moving"  # the fault was accepted, and is gone
    await asyncio.sleep(60)
    assert model.state == "moving"


async def test_jumps_to_any_state_are_there_unless_switched_off() -> None:
    model = _model()
    assert await model.to_faulted()
    assert model.state == "faulted"
    assert not hasattr(_model(auto_transitions=False), "to_faulted")


async def test_an_exception_on_entering_leaves_the_new_state() -> None:
    async def fail() -> None:
        raise OSError("the motor does not answer")

    model = _model(fail)
    with pytest.raises(OSError, match="the motor does not answer"):
        await model.go()
    assert model.state == "moving"


@pytest.mark.parametrize("machine", [AsyncMachine, Machine])
async def test_an_exception_after_a_transition_leaves_the_new_state(machine: Any) -> None:
    def fail() -> None:
        raise OSError("the journal is full")

    model = machine(
        states=STATES,
        transitions=[{"trigger": "go", "source": "idle", "dest": "moving", "after": fail}],
        initial="idle",
    )
    with pytest.raises(OSError, match="the journal is full"):  # noqa: PT012 - one trigger, awaited if it must be
        answer = model.go()
        if asyncio.iscoroutine(answer):
            await answer
    assert model.state == "moving"


async def test_ignoring_invalid_triggers_hides_misspelled_names_too() -> None:
    model = _model(ignore_invalid_triggers=True)
    assert model.trigger("fualt") is False  # nothing to await
    with pytest.raises(AttributeError, match="fualt"):
        await _model().trigger("fualt")
    plain: Any = Machine(states=STATES, transitions=TRANSITIONS, initial="idle", ignore_invalid_triggers=True)
    assert plain.trigger("fualt") is False


# --- what we use instead ---------------------------------------------------------------------------------------------


def test_our_machine_has_no_jumps_and_hides_nothing() -> None:
    service: Any = Service(FAULTED)
    assert not [name for name in dir(service) if name.startswith("to_")]
    with pytest.raises(MachineError):
        service.fire("verify")
    with pytest.raises(KeyError):
        service.fire("fualt")
    assert service.state == FAULTED


async def test_our_machine_is_done_when_its_trigger_returns() -> None:
    service = Service(IN_SERVICE)
    loop = asyncio.get_running_loop()
    seen: list[str] = []
    loop.call_soon(lambda: seen.append(service.state))
    service.fire("fault")
    assert service.state == FAULTED  # in the same call: no task could run in between
    await asyncio.sleep(0)
    assert seen == [FAULTED]
