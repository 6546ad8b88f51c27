"""How checks of a kind's own requirements put commands to a machine and judge what became of them. Knows no kind."""

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

# How far two readings of one light level may lie apart: a tenth of the scale of 1023.
NOISE: Final = 102


async def begin(visit: Visit, message: Message) -> int:
    """Have a command accepted; return its id."""
    reply = await visit.order(message)
    expect(isinstance(reply, Accepted), f"Accepted to {message!r}", reply)
    return reply.command


async def ended(visit: Visit, message: Message, within: float) -> Settled:
    """Have a command carried out, at once or after a while; return its end, whatever it is."""
    reply = await visit.order(message)
    return await visit.end(reply.command, within) if isinstance(reply, Accepted) else reply


async def refused(visit: Visit, message: Message, reason: IntEnum, where: str) -> None:
    """A command is refused, with this reason."""
    reply = await visit.order(message)
    as_expected = isinstance(reply, Settled) and (reply.outcome, reply.reason) == (Outcome.REFUSED, reason)
    expect(as_expected, f"{type(message).__name__} refused with {reason.value} {reason.name} {where}", reply)


def settled_as(settled: Settled | None, outcome: Outcome, reason: IntEnum) -> Settled:
    """A command ended, in this way."""
    if settled is None:
        raise Failed(f"Settled {outcome.name} {reason.name}", "no Settled at all")
    meant = (settled.outcome, settled.reason) == (outcome, reason)
    expect(meant, f"{outcome.name} with reason {reason.value}", settled)
    return settled


def one_end(visit: Visit, command: int, kind: type[Any], settled: Settled) -> Any:
    """Exactly one event of this kind about a command, then exactly one Settled; return the first."""
    about = visit.about(command)
    expect(
        len(about) == 2 and isinstance(about[0], kind) and about[1] == settled,
        f"one {kind.__name__} about it, then {settled!r}, and nothing else",
        about,
    )
    return about[0]


def same_but(before: Message, after: Message, **changed: Any) -> None:
    """A status is as it was, but for what is named."""
    expected = msgspec.structs.replace(before, **changed)
    expect(after == expected, repr(expected), after)


def same_picture(before: list[SensorLevel], after: list[SensorLevel]) -> None:
    """Sensors are as they were; light is never measured twice the same."""
    expect(
        len(before) == len(after) and all(map(_same_level, before, after)),
        f"the sensors as they still are, within {NOISE} of each level: {before}",
        after,
    )


def _same_level(one: SensorLevel, other: SensorLevel) -> bool:
    return (one.blocked, one.threshold) == (other.blocked, other.threshold) and abs(one.level - other.level) <= NOISE


async def one_motor(bench: Bench, visit: Visit, m: Any, within: float, quiet: float) -> None:
    """A jog either way ends in Jogged and then Settled, DONE only if it turned; `m` are the messages of the kind."""
    for reverse in (False, True):
        command = await begin(visit, m.Jog(bench.next_id(), m.Motor.TRANSPORT, reverse))
        settled = await visit.end(command, within)
        await asyncio.sleep(quiet)
        reported = one_end(visit, command, m.Jogged, settled)
        expect(
            (reported.motor, reported.reverse) == (m.Motor.TRANSPORT, reverse), "the motor and way ordered", reported
        )
        passed = (Outcome.DONE, m.Reason.NONE) if reported.turned else (Outcome.FAILED, m.Reason.MOTOR_STALLED)
        settled_as(settled, *passed)
        expect(reported.current > 0, "a current while it was switched on", reported)
    currents = (await visit.ask(m.GetSensors(), m.Sensors)).currents
    expect(not any(currents), "every motor off afterwards", currents)


async def restarted(bench: Bench, visit: Visit) -> None:
    """Wait until the machine of a visit is back, in another boot."""
    await bench.back(not_boot=visit.hello.boot_id)


@asynccontextmanager
async def spoiled(bench: Bench, step: Step, mend: Step) -> AsyncIterator[None]:
    """Have something broken by hand that no status tells, and mended afterwards, whatever the check finds."""
    await bench.do(step)
    try:
        yield
    except Failed:
        await bench.do(mend)
        raise
    await bench.do(mend)
