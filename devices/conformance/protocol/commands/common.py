"""Shared steps of the requirements on commands, with the commands of every kind: SelfTest and Reset.

Kinds with switch commands (two commands that are done at once) are also checked with those.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from devices.conformance.operators import ManualStep
from devices.conformance.raw_host import LINE_ALLOWANCE_S
from devices.conformance.requirements import Chapter, NotChecked, RequirementFailed, expect
from firmware_bridge.commands import Accepted, GetReport, Outcome, Report, Settled
from firmware_bridge.errors import LinkError

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession
    from firmware_bridge.messages import Message

CHAPTER: Final = Chapter("CM", "Commands and reports", "docs/protocol.md", needs=("HS-04",))
COMMANDS: Final = "Commands"
EVERY_MACHINE: Final = "What every machine can do"
# Time limit (s) of a self-test or switch command.
COMMAND_LIMIT_S: Final = 60.0
# A restart that a Reset orders begins within this long of the reply (s).
RESET_BEGINS_S: Final = 1.0
# The reason when a restart ended a command: PB-435.
POWER_LOST: Final = 435
# How long (s) to wait for a reply behind many others.
_MANY: Final = 10.0

POWER_CUT: Final = ManualStep(
    "switch the machine's power off, count to five, and switch it on", ("power_cut:seconds=1",)
)


async def begin_self_test(visit: CheckSession, bench: ConformanceBench) -> Any:
    """Have a self-test accepted; return its message."""
    message: Any = bench.profile.self_test(bench.next_id())
    reply = await visit.send_command(message)
    expect(isinstance(reply, Accepted), f"Accepted to {message!r}", reply)
    return message


def require_running(visit: CheckSession, command: int) -> None:
    """Raise NotChecked if a command has ended too soon to be observed."""
    if any(isinstance(event, Settled) for event in visit.events_about(command)):
        raise NotChecked("the command ended before it could be observed; run the simulator more slowly")


async def send_together(visit: CheckSession, *messages: Message) -> list[Any]:
    """Send requests back to back; return their replies. The first command still runs when the second arrives."""
    return list(await asyncio.gather(*(visit.link.request(message, _MANY) for message in messages)))


async def refused_while_running(visit: CheckSession, bench: ConformanceBench) -> tuple[Any, Settled]:
    """Order a self-test and another one while it runs; return the second and its refusal, once the first has ended."""
    first: Any = bench.profile.self_test(bench.next_id())
    second: Any = bench.profile.self_test(bench.next_id())
    accepted, reply = await send_together(visit, first, second)
    expect(accepted == Accepted(first.command), f"Accepted to {first!r}", accepted)
    if isinstance(reply, Accepted):
        require_running(visit, first.command)
    refused = isinstance(reply, Settled) and reply.command == second.command and reply.outcome is Outcome.REFUSED
    expect(refused and bool(reply.reason), "a self-test REFUSED with a reason while one runs", reply)
    await visit.wait_settled(first.command, COMMAND_LIMIT_S)
    return second, reply


async def reset(visit: CheckSession, bench: ConformanceBench, command: int) -> None:
    """Send a Reset, and wait until the machine is back with a new boot id."""
    reply = await visit.send_command(bench.profile.reset(command))
    expect(reply == Settled(command, Outcome.DONE, 0), "Settled DONE to a Reset", reply)
    await wait_restarted(visit, bench)


async def wait_restarted(visit: CheckSession, bench: ConformanceBench) -> None:
    """Wait until a Reset has ended the session, and the machine is back with a new boot id."""
    await asyncio.sleep(LINE_ALLOWANCE_S)
    visit.link.close()
    await bench.wait_for_device(not_boot=visit.hello.boot_id)


async def expect_no_restart(visit: CheckSession, bench: ConformanceBench, why: str) -> None:
    """Expect that the machine keeps its boot and session for longer than a Reset needs to begin."""
    try:
        await asyncio.sleep(RESET_BEGINS_S + LINE_ALLOWANCE_S)
        await visit.ask(GetReport(), Report)
    except LinkError as error:
        await bench.wait_for_device()  # its port may have gone with it
        raise RequirementFailed(f"no restart: {why}", f"the session ended: {error}") from None
