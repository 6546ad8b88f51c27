"""Device benches for the three machines that find a starting position, and checks against the simulated world."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from devices.button import messages as button
from devices.button.driver import ButtonDriver
from devices.button.state import ButtonView
from devices.kinds import BUTTON, RNG, SHAKER
from devices.rng import messages as rng
from devices.rng.driver import RngDriver
from devices.rng.state import RngView
from devices.shaker import messages as shaker
from devices.shaker.driver import ShakerDriver
from devices.shaker.state import ShakerView
from firmware_bridge.errors import ProtocolError
from simulators.casino.device_bench import DeviceBench
from simulators.kinds.button.machine import SimulatedButton
from simulators.kinds.rng.machine import SimulatedRng
from simulators.kinds.shaker.machine import SimulatedShaker
from tests.support.machines.bench import device_bench
from tests.support.machines.card_checks import ask_until_answered, run_command

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from devices.driver_events import Reported

ShakerBench = DeviceBench[SimulatedShaker, ShakerDriver, ShakerView]
RngBench = DeviceBench[SimulatedRng, RngDriver, RngView]
ButtonBench = DeviceBench[SimulatedButton, ButtonDriver, ButtonView]
AnyBench = DeviceBench[Any, Any, Any]

# Enough for the dice to settle after the last shake, and for the reading after the lid came off (s).
AFTER_SHAKE: Final = 1.5
TO_READ: Final = 12.0


def shaker_bench(seed: int, rung: str = "clean", **options: Any) -> AbstractAsyncContextManager[ShakerBench]:
    return device_bench(SimulatedShaker(seed=seed, **options), SHAKER, rung)


def rng_bench(seed: int, rung: str = "clean", **options: Any) -> AbstractAsyncContextManager[RngBench]:
    return device_bench(SimulatedRng(seed=seed, **options), RNG, rung)


def button_bench(seed: int, rung: str = "clean", **options: Any) -> AbstractAsyncContextManager[ButtonBench]:
    return device_bench(SimulatedButton(seed=seed, **options), BUTTON, rung)


# Each kind's device bench by its name, for tests common to all kinds.
BENCHES: Final[dict[str, Any]] = {"shaker": shaker_bench, "rng": rng_bench, "button": button_bench}


async def reported(b: AnyBench) -> Reported:
    """Wait until the machine has reported."""
    while b.driver.reported is None:
        await b.until_reported()
    known: Reported = b.driver.reported
    return known


async def expect_false_report(b: AnyBench) -> None:
    """Fail unless what was just sent ended the session with a coded error, and nobody takes it back by reconnecting."""
    if not isinstance(b.slot.cause, ProtocolError):
        await b.until(lambda _: isinstance(b.slot.cause, ProtocolError))
    assert b.slot.cause is not None
    assert b.slot.cause.code == "PB-211"
    assert b.service.state == "faulted"
    await reported(b)
    assert b.service.state == "faulted", "a good report does not make an impossible word unsaid"


# --- dice ------------------------------------------------------------------------------------------------------------


async def roll_and_uncover(b: ShakerBench, *, shakes: int = 3, wait: float | None = None) -> int:
    """Arm, shake and take the lid off, as a dealer would; return the roll's name."""
    b.inject("lid:to=on")
    command = (await run_command(b, b.driver.arm)).command
    b.inject(f"shake:times={shakes}")
    await asyncio.sleep(shakes * 0.35 + AFTER_SHAKE if wait is None else wait)
    b.inject("lid:to=off")
    return command


async def until_roll_ended(b: ShakerBench, command: int) -> shaker.Roll:
    """Ask until a roll has ended; fail if it does not in time."""
    for _ in range(round(TO_READ / 0.5)):
        roll = await ask_until_answered(b, lambda: b.driver.roll(command))
        if roll.ending is not shaker.Ending.OPEN:
            return roll
        await asyncio.sleep(0.5)
    raise AssertionError(f"roll {command} did not end")


async def check_reported_dice(b: ShakerBench) -> shaker.Status:
    """Read the status; fail if firmware or view is wrong about lid, door or dice. None is no number."""
    status = await ask_until_answered(b, b.driver.status)
    mechanics = b.machine.mechanics
    assert status.lid_on is mechanics.lid_on
    assert b.view.lid_on is mechanics.lid_on
    assert b.view.door_open is status.door_open is mechanics.door_open
    assert status.dice in (None, len(mechanics.in_shaker))
    assert b.view.dice in (None, len(mechanics.in_shaker))
    assert b.view.roll == status.roll
    assert b.view.values == (None if status.values is None else tuple(status.values))
    if b.view.values is not None and not mechanics.lid_on and not b.view.disturbed:
        assert b.view.values == mechanics.shown_faces(), "the reading lies open, and is not what lies there"
    return status


async def good_roll(b: ShakerBench) -> shaker.Roll:
    """Roll correctly; fail unless the reading is what the dice show."""
    roll = await until_roll_ended(b, await roll_and_uncover(b))
    assert roll.ending is shaker.Ending.READ
    assert tuple(roll.values or ()) == b.machine.mechanics.shown_faces()
    await check_reported_dice(b)
    return roll


# --- numbers ---------------------------------------------------------------------------------------------------------


async def check_reported_number(b: RngBench) -> rng.Status:
    """Read the status; fail if firmware, view and the people who read the display see different things."""
    status = await ask_until_answered(b, b.driver.status)
    read = b.machine.shown_number()
    assert status.segments == b.machine.display.lit
    if status.state is rng.State.SHOWING:
        assert read == status.number == b.view.number
        assert b.view.shown
    else:
        assert status.number is None
        assert not b.view.shown
    assert b.view.failed is status.reason
    return status


# --- the button ------------------------------------------------------------------------------------------------------


async def check_reported_place(b: ButtonBench) -> button.Status:
    """Read the status; fail if firmware or view names a position where the button is not."""
    status = await ask_until_answered(b, b.driver.where)
    truth = b.machine.mat.true_place()
    assert status.place in (None, truth)
    assert b.view.place in (None, truth)
    assert (status.place is None) is (status.reason is not button.Reason.NONE)
    return status
