"""Links and machines lost during a roll, a draw or a test: each has one result, learned by a query."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import pytest

from devices.button import messages as button
from devices.driver_events import LinkDown, OutcomeLost, Reported
from devices.rng import messages as rng
from devices.shaker import messages as shaker
from firmware_bridge.commands import Outcome
from firmware_bridge.errors import BadMessage, FirmwareNotApproved, OutcomeUnknown, PitboxError, WrongKey
from tests.support.machines.bench import over_the_ladder
from tests.support.machines.card_checks import ask_until_answered, run_command, until_true
from tests.support.machines.start_devices import (
    BENCHES,
    AnyBench,
    ShakerBench,
    check_reported_dice,
    check_reported_number,
    reported,
    rng_bench,
    shaker_bench,
    until_roll_ended,
)
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from firmware_bridge.messages import Message

UNPLUGGED: Final = ["unplug:seconds=2", "unplug:seconds=40"]
REBOOTED: Final = ["reboot", "power_cut:seconds=2", "hang:seconds=6"]
# Moments of a roll: armed and untouched, being shaken, uncovered with the dice still rolling.
MOMENTS: Final = ["armed", "shaking", "settling"]


async def lost(b: AnyBench, fault: str) -> None:
    """Drop the link and wait until the host knows it."""
    received = len(b.events)
    b.inject(fault)
    if not any(isinstance(event, LinkDown) for event in b.events[received:]):
        await b.until(lambda event: isinstance(event, LinkDown))
    assert not b.service.is_in_service


async def open_roll(b: ShakerBench, moment: str) -> int:
    """Open a roll and bring it to a moment."""
    command = (await run_command(b, b.driver.arm)).command
    if moment == "armed":
        return command
    b.inject("shake:times=4")
    if moment == "shaking":
        await asyncio.sleep(0.8)
        return command
    b.inject("tremble:seconds=1.5")
    await asyncio.sleep(4 * 0.35 + 1.5)
    b.inject("lid")
    await asyncio.sleep(0.2)
    return command


async def finish_by_hand(b: ShakerBench, moment: str) -> None:
    """Finish the roll by hand, with or without a cable."""
    if moment == "armed":
        b.inject("shake:times=4")
    if moment != "settling":
        await asyncio.sleep(4 * 0.35 + 1.5)
        b.inject("lid")
    await asyncio.sleep(4)


async def rolled_meanwhile(b: ShakerBench, fault: str, moment: str) -> tuple[int, shaker.Roll]:
    """Open a roll, lose the link, finish it by hand; return its command and result."""
    command = await open_roll(b, moment)
    await lost(b, fault)
    await finish_by_hand(b, moment)
    await reported(b)
    return command, await until_roll_ended(b, command)


@over_the_ladder
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("fault", UNPLUGGED)
async def test_a_roll_goes_on_without_its_cable_and_the_report_gives_its_result(
    seed: int, rung: str, fault: str, moment: str
) -> None:
    async with shaker_bench(seed, rung) as b:
        _, roll = await rolled_meanwhile(b, fault, moment)
        assert (roll.ending, roll.shakes) == (shaker.Ending.READ, 4)
        assert b.view.values == tuple(roll.values or ()) == b.machine.mechanics.shown_faces()
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "in_service"
        await check_reported_dice(b)


@over_the_ladder
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("fault", REBOOTED)
async def test_a_roll_that_was_open_when_power_went_is_no_roll_however_the_dice_lie(
    seed: int, rung: str, fault: str, moment: str
) -> None:
    async with shaker_bench(seed, rung) as b:
        command, roll = await rolled_meanwhile(b, fault, moment)
        assert (roll.ending, roll.reason) == (shaker.Ending.NO_ROLL, shaker.Reason.POWER_LOST)
        assert (b.view.roll, b.view.no_roll, b.view.values) == (command, shaker.Reason.POWER_LOST, None)
        assert not b.events_of(shaker.Reading)
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "in_service"
        await check_reported_dice(b)


@over_the_ladder
@pytest.mark.parametrize("fault", [*UNPLUGGED, *REBOOTED])
async def test_a_reading_outlives_cable_and_power_unchanged(seed: int, rung: str, fault: str) -> None:
    async with shaker_bench(seed, rung) as b:
        command = await open_roll(b, "settling")
        roll = await until_roll_ended(b, command)
        b.inject("lid:to=on")
        await lost(b, fault)
        assert b.view.values == tuple(roll.values or ()), "what was read was read"
        await reported(b)
        assert await ask_until_answered(b, lambda: b.driver.roll(command)) == roll
        assert b.view.values == tuple(roll.values or ())


@over_the_ladder
@pytest.mark.parametrize("fault", [*UNPLUGGED, *REBOOTED])
async def test_a_draw_in_doubt_has_one_number_or_none_and_is_never_drawn_again(
    seed: int, rung: str, fault: str
) -> None:
    async with rng_bench(seed, rung) as b:
        command = b.next_id()
        draw = b.driver.draw(command)
        await until_true(lambda: b.machine.firmware.state is rng.State.DRAWING)
        await lost(b, fault)
        with pytest.raises(OutcomeUnknown):
            await draw
        assert b.events_of(OutcomeLost) == [OutcomeLost(command)]
        await reported(b)
        assert b.service.state == "unverified"
        outcome = await ask_until_answered(b, lambda: b.driver.outcome(command))
        number = (await ask_until_answered(b, lambda: b.driver.drawn(command))).number
        if fault.startswith("unplug"):
            assert outcome.outcome is Outcome.DONE
            assert number == b.machine.shown_number() == b.view.number is not None
        else:
            assert (outcome.outcome, outcome.reason) == (Outcome.FAILED, rng.Reason.POWER_LOST)
            assert number is b.machine.shown_number() is b.view.number is None
        assert (await check_reported_number(b)).draws == (number is not None)
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "in_service"
        for _ in range(3):
            assert (await ask_until_answered(b, lambda: b.driver.drawn(command))).number == number


@over_the_ladder
@pytest.mark.parametrize("kind", BENCHES)
@pytest.mark.parametrize("fault", ["unplug:seconds=2", *REBOOTED])
async def test_a_self_test_in_doubt_is_asked_about(seed: int, rung: str, kind: str, fault: str) -> None:
    async with BENCHES[kind](seed, rung) as b:
        command = b.next_id()
        test = b.driver.self_test(command)
        await until_true(lambda: b.machine.firmware.state.name == "TESTING")
        await lost(b, fault)
        with pytest.raises(OutcomeUnknown):
            await test
        await reported(b)
        await asyncio.sleep(2)
        outcome = await ask_until_answered(b, lambda: b.driver.outcome(command))
        assert outcome.outcome is (Outcome.DONE if fault.startswith("unplug") else Outcome.FAILED)
        assert outcome.reason in (0, 435)
        assert not b.service.is_in_service
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "in_service"


@over_the_ladder
@pytest.mark.parametrize("kind", BENCHES)
@pytest.mark.parametrize("fault", ["unplug:seconds=2", "reboot"])
async def test_nothing_was_under_way_and_so_a_good_report_is_enough(
    seed: int, rung: str, kind: str, fault: str
) -> None:
    async with BENCHES[kind](seed, rung) as b:
        await lost(b, fault)
        assert b.service.state == "absent"
        await reported(b)
        assert b.service.state == "in_service"


# A first report that cannot be read, and one that can be read but is impossible.
IMPOSSIBLE: Final[dict[str, Message]] = {
    "a die of seven": shaker.Status(
        shaker.State.RESTING, True, False, 3, 3, 5, [7, 1, 1], False, 0, 1, shaker.Reason.NONE
    ),
    "number eight": rng.Status(rng.State.SHOWING, 5, 8, 0x7F, 1, rng.Reason.NONE),
    "another on the display": rng.Status(rng.State.SHOWING, 5, 7, 0x06, 1, rng.Reason.NONE),
    "place zero": button.Status(button.State.WATCHING, 0, button.Reason.NONE, 0),
    "an unclear place": button.Status(button.State.WATCHING, 3, button.Reason.MOVING, 0),
}


@over_the_ladder
@pytest.mark.parametrize("what", IMPOSSIBLE)
async def test_a_first_report_that_cannot_be_true_is_a_coded_fault_and_nothing_is_assumed(
    seed: int, rung: str, what: str
) -> None:
    text = IMPOSSIBLE[what]
    async with BENCHES[type(text).__module__.split(".")[1]](seed, rung) as b:
        b.machine.board._handle = lambda _: text
        b.inject("reboot")
        await b.until(lambda _: isinstance(b.slot.cause, BadMessage))
        assert b.slot.cause.code == "PB-211"
        assert b.service.state == "faulted"
        assert b.driver.reported is None
        with pytest.raises(BadMessage):
            await b.driver.ready()
        assert len(b.events_of(Reported)) == 1, "the one before the restart"


@clauses("575.2(c)(2)", "688a.2(c)(2)")
@over_the_ladder
@pytest.mark.parametrize("kind", BENCHES)
@pytest.mark.parametrize(("fault", "cause"), [("wrong_key", WrongKey), ("rogue_firmware", FirmwareNotApproved)])
async def test_a_board_that_is_changed_at_run_time_never_reports_again(
    seed: int, rung: str, kind: str, fault: str, cause: type[PitboxError]
) -> None:
    """For the generator the text requires it: a device that is not approved is not used."""
    async with BENCHES[kind](seed, rung) as b:
        b.inject(fault)
        await b.until(lambda event: isinstance(event, LinkDown) and isinstance(event.cause, cause))
        for _ in range(30):
            await asyncio.sleep(2)
            assert not b.service.is_in_service
            assert b.driver.reported is None


@over_the_ladder
@pytest.mark.parametrize("kind", BENCHES)
async def test_garbage_and_lost_frames_cost_nothing_but_time(seed: int, rung: str, kind: str) -> None:
    async with BENCHES[kind](seed, rung) as b:
        for fault in ("garbage:bytes=3000", "drop:frames=3", "corrupt:frames=2", "duplicate:frames=4"):
            b.inject(fault)
            assert (await run_command(b, b.driver.self_test)).outcome is Outcome.DONE
        assert b.service.state == "in_service" or rung == "lossy"
