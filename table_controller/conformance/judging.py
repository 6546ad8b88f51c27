"""Sends commands to a machine and checks their outcomes, for the requirements of all kinds."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge.commands import Accepted, Outcome, Settled
from table_controller.conformance.requirements import Failed, expect

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from enum import IntEnum

    from devices.gauges import SensorLevel
    from firmware_bridge.messages import Message
    from table_controller.conformance.bench import Bench
    from table_controller.conformance.hands import Step
    from table_controller.conformance.visit import Visit

# Allowed difference between two readings of one light level: a tenth of the scale of 1023.
NOISE: Final = 102


async def begin(visit: Visit, message: Message) -> int:
    """Send a command that must be accepted; return its id."""
    reply = await visit.order(message)
    expect(isinstance(reply, Accepted), f"Accepted to {message!r}", reply)
    return reply.command


async def ended(visit: Visit, message: Message, within: float) -> Settled:
    """Send a command and wait for its end; return it, with any outcome."""
    reply = await visit.order(message)
    return await visit.end(reply.command, within) if isinstance(reply, Accepted) else reply


async def refused(visit: Visit, message: Message, reason: IntEnum, where: str) -> None:
    """Expect that a command is refused with this reason."""
    reply = await visit.order(message)
    as_expected = isinstance(reply, Settled) and (reply.outcome, reply.reason) == (Outcome.REFUSED, reason)
    expect(as_expected, f"{type(message).__name__} refused with {reason.value} {reason.name} {where}", reply)


def settled_as(settled: Settled | None, outcome: Outcome, reason: IntEnum) -> Settled:
    """Expect this outcome and reason of a command."""
    if settled is None:
        raise Failed(f"Settled {outcome.name} {reason.name}", "no Settled at all")
    meant = (settled.outcome, settled.reason) == (outcome, reason)
    expect(meant, f"{outcome.name} with reason {reason.value}", settled)
    return settled


def one_end(visit: Visit, command: int, kind: type[Any], settled: Settled) -> Any:
    """Expect exactly one event of this kind about a command, then exactly one Settled; return the first."""
    about = visit.about(command)
    expect(
        len(about) == 2 and isinstance(about[0], kind) and about[1] == settled,
        f"one {kind.__name__} about it, then {settled!r}, and nothing else",
        about,
    )
    return about[0]


def same_but(before: Message, after: Message, **changed: Any) -> None:
    """Expect an unchanged status, except for the given fields."""
    expected = msgspec.structs.replace(before, **changed)
    expect(after == expected, repr(expected), after)


def same_picture(before: list[SensorLevel], after: list[SensorLevel]) -> None:
    """Expect unchanged sensors, within the noise of their levels."""
    expect(
        len(before) == len(after) and all(map(_same_level, before, after)),
        f"the same sensor levels, within {NOISE}: {before}",
        after,
    )


def _same_level(one: SensorLevel, other: SensorLevel) -> bool:
    return (one.blocked, one.threshold) == (other.blocked, other.threshold) and abs(one.level - other.level) <= NOISE


async def one_motor(bench: Bench, visit: Visit, m: Any, within: float, quiet: float) -> None:
    """Expect that a jog in each direction ends in Jogged and then Settled, DONE only if it turned."""
    for reverse in (False, True):
        command = await begin(visit, m.Jog(bench.next_id(), m.Motor.TRANSPORT, reverse))
        settled = await visit.end(command, within)
        await asyncio.sleep(quiet)
        reported = one_end(visit, command, m.Jogged, settled)
        expect(
            (reported.motor, reported.reverse) == (m.Motor.TRANSPORT, reverse),
            "the ordered motor and direction",
            reported,
        )
        passed = (Outcome.DONE, m.Reason.NONE) if reported.turned else (Outcome.FAILED, m.Reason.MOTOR_STALLED)
        settled_as(settled, *passed)
        expect(reported.current > 0, "a current while it was switched on", reported)
    currents = (await visit.ask(m.GetSensors(), m.Sensors)).currents
    expect(not any(currents), "every motor off afterwards", currents)


async def restarted(bench: Bench, visit: Visit) -> None:
    """Wait until the machine of a session has restarted."""
    await bench.back(not_boot=visit.hello.boot_id)


@asynccontextmanager
async def spoiled(bench: Bench, step: Step, mend: Step) -> AsyncIterator[None]:
    """Have the operator break something that no status shows, and repair it after the check."""
    await bench.do(step)
    try:
        yield
    except Failed:
        await bench.do(mend)
        raise
    await bench.do(mend)
