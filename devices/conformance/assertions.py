"""Sends commands to a machine and checks their outcomes, for the requirements of all kinds."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.conformance.requirements import RequirementFailed, expect
from firmware_bridge.commands import Accepted, Outcome, Settled

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from enum import IntEnum

    from devices.conformance.bench import ConformanceBench
    from devices.conformance.operators import ManualStep
    from devices.conformance.session import CheckSession
    from devices.path_telemetry import OpticalLevel
    from firmware_bridge.messages import Message

# Allowed difference between two readings of one light level: a tenth of the scale of 1023.
LEVEL_NOISE: Final = 102


async def begin_command(visit: CheckSession, message: Message) -> int:
    """Send a command that must be accepted; return its id."""
    reply = await visit.send_command(message)
    expect(isinstance(reply, Accepted), f"Accepted to {message!r}", reply)
    return reply.command


async def run_command(visit: CheckSession, message: Message, within: float) -> Settled:
    """Send a command and wait for its end; return it, with any outcome."""
    reply = await visit.send_command(message)
    return await visit.wait_settled(reply.command, within) if isinstance(reply, Accepted) else reply


async def expect_refused(visit: CheckSession, message: Message, reason: IntEnum, where: str) -> None:
    """Expect that a command is refused with this reason."""
    reply = await visit.send_command(message)
    as_expected = isinstance(reply, Settled) and (reply.outcome, reply.reason) == (Outcome.REFUSED, reason)
    expect(as_expected, f"{type(message).__name__} refused with {reason.value} {reason.name} {where}", reply)


def expect_settled(settled: Settled | None, outcome: Outcome, reason: IntEnum) -> Settled:
    """Expect this outcome and reason of a command."""
    if settled is None:
        raise RequirementFailed(f"Settled {outcome.name} {reason.name}", "no Settled at all")
    meant = (settled.outcome, settled.reason) == (outcome, reason)
    expect(meant, f"{outcome.name} with reason {reason.value}", settled)
    return settled


def expect_one_end(visit: CheckSession, command: int, kind: type[Any], settled: Settled) -> Any:
    """Expect exactly one event of this kind about a command, then exactly one Settled; return the first."""
    about = visit.events_about(command)
    expect(
        len(about) == 2 and isinstance(about[0], kind) and about[1] == settled,
        f"one {kind.__name__} about it, then {settled!r}, and nothing else",
        about,
    )
    return about[0]


def expect_same_except(before: Message, after: Message, **changed: Any) -> None:
    """Expect an unchanged status, except for the given fields."""
    expected = msgspec.structs.replace(before, **changed)
    expect(after == expected, repr(expected), after)


def expect_same_levels(before: list[OpticalLevel], after: list[OpticalLevel]) -> None:
    """Expect unchanged sensors, within the noise of their levels."""
    expect(
        len(before) == len(after) and all(map(_same_level, before, after)),
        f"the same sensor levels, within {LEVEL_NOISE}: {before}",
        after,
    )


def _same_level(one: OpticalLevel, other: OpticalLevel) -> bool:
    return (one.blocked, one.threshold) == (other.blocked, other.threshold) and abs(
        one.level - other.level
    ) <= LEVEL_NOISE


async def check_jog(bench: ConformanceBench, visit: CheckSession, m: Any, within: float, quiet: float) -> None:
    """Expect that a jog in each direction ends in Jogged and then Settled, DONE only if it turned."""
    for reverse in (False, True):
        command = await begin_command(visit, m.Jog(bench.next_id(), m.Motor.TRANSPORT, reverse))
        settled = await visit.wait_settled(command, within)
        await asyncio.sleep(quiet)
        reported = expect_one_end(visit, command, m.Jogged, settled)
        expect(
            (reported.motor, reported.reverse) == (m.Motor.TRANSPORT, reverse),
            "the ordered motor and direction",
            reported,
        )
        passed = (Outcome.DONE, m.Reason.NONE) if reported.turned else (Outcome.FAILED, m.Reason.MOTOR_STALLED)
        expect_settled(settled, *passed)
        expect(reported.current > 0, "a current while it was switched on", reported)
    currents = (await visit.ask(m.GetSensors(), m.Sensors)).currents
    expect(not any(currents), "every motor off afterwards", currents)


async def wait_restarted(bench: ConformanceBench, visit: CheckSession) -> None:
    """Wait until the machine of a session has restarted."""
    await bench.wait_for_device(not_boot=visit.hello.boot_id)


@asynccontextmanager
async def broken_meanwhile(bench: ConformanceBench, step: ManualStep, repair: ManualStep) -> AsyncIterator[None]:
    """Have the operator break something that no status shows, and repair it after the check."""
    await bench.perform(step)
    try:
        yield
    except RequirementFailed:
        await bench.perform(repair)
        raise
    await bench.perform(repair)
