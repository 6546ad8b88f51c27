"""SO-01 to SO-09: a shoe when idle, of either model. Needs no operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devices.conformance.assertions import expect_refused, expect_same_except
from devices.conformance.kinds.shoe.setup import (
    CHAPTER,
    COMMANDS,
    PATH,
    bring_to_idle,
    is_manual,
    status_of,
)
from devices.conformance.requirements import expect
from devices.conformance.shared_checks import (
    check_jog_in_place,
    check_stop_at_rest,
    check_stopped,
    check_testing,
    expect_levels,
    expect_path_clear,
    expect_test_result,
    run_self_test,
)
from devices.shoe import messages as m

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession


@CHAPTER.requirement(1, "The card path", at=bring_to_idle)
async def consistent(_: ConformanceBench, visit: CheckSession) -> None:
    """When it is idle, its status and its sensors agree; a sensor that it lacks has level 0 and threshold 0."""
    status, sensors = await status_of(visit), await visit.ask(m.GetSensors(), m.Sensors)
    fitted = (m.Sensor.WELL, m.Sensor.DRAW, m.Sensor.EXIT) if is_manual(visit) else tuple(m.Sensor)
    for sensor, level in zip(m.Sensor, sensors.levels, strict=True):
        has_it = level.threshold > 0
        expect(has_it is (sensor in fitted), f"a threshold only of sensors it has: {sensor.name}", level)
    expect_levels(m, sensors.levels)
    expect_path_clear(sensors.levels, PATH)
    for sensor, lies in ((m.Sensor.INTAKE, status.in_intake), (m.Sensor.WELL, status.in_well),
                         (m.Sensor.SLOT, status.in_slot)):  # fmt: skip
        expect(sensors.levels[sensor].blocked is lies, f"{sensor.name} to agree with the status", status)


@CHAPTER.requirement(2, "States", at=bring_to_idle)
async def not_capable(bench: ConformanceBench, visit: CheckSession) -> None:
    """A command that its model lacks is refused with 440, before any other reason."""
    command = bench.next_id()
    beyond = m.Dispense(command, 99) if is_manual(visit) else m.StartRound(command)
    await expect_refused(visit, beyond, m.Reason.NOT_CAPABLE, "by this model")


@CHAPTER.requirement(3, "States", capability=m.DISPENSES, at=bring_to_idle)
async def stack_size(bench: ConformanceBench, visit: CheckSession) -> None:
    """A stack of no cards, or of more than 10, is refused with 441."""
    for cards in (0, m.MAX_STACK + 1, 255):
        await expect_refused(visit, m.Dispense(bench.next_id(), cards), m.Reason.STACK_SIZE, f"for {cards} cards")


@CHAPTER.requirement(4, "States")
async def stop_at_rest(bench: ConformanceBench) -> None:
    """Stop is never refused, and changes nothing in an idle machine."""
    await bring_to_idle(bench)
    await check_stop_at_rest(bench, m)


@CHAPTER.requirement(5, "States", at=bring_to_idle)
async def self_test(bench: ConformanceBench, visit: CheckSession) -> None:
    """A self-test ends in SelfTested and then Settled, DONE only if every sensor and motor passed; nothing changes."""
    before = await status_of(visit)
    tested, settled = await run_self_test(bench, visit, m)
    expect_test_result(m, settled, passed=not tested.bad_sensors and not tested.bad_motors)
    expect_same_except(before, await status_of(visit))


@CHAPTER.requirement(8, "One motor", capability=m.JOGS)
async def jog(bench: ConformanceBench) -> None:
    """A jog ends in Jogged of that motor and direction, then Settled, DONE only if it turned; nothing else changes."""
    await bring_to_idle(bench)
    await check_jog_in_place(bench, m)


@CHAPTER.requirement(6, "States")
async def busy_testing(bench: ConformanceBench) -> None:
    """During a self-test it is TESTING, and every other command is refused with 420."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        manual = is_manual(visit)
    await check_testing(bench, m, [make for name, make in COMMANDS.items() if name != "Dispense" or not manual])


@CHAPTER.requirement(7, "States")
async def stopped_test(bench: ConformanceBench) -> None:
    """Stop ends a self-test as FAILED with 434; the machine is idle as before, with no Stopped."""
    await bring_to_idle(bench)
    await check_stopped(bench, m, m.SelfTest)
