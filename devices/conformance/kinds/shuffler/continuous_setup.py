"""A shuffler without cycles in the kit: its commands, its hands, its store filled and counted."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from devices.conformance.kinds.shuffler.setup import CLEAR_PATH, CYCLE_LIMIT_S, MOVING, PROFILE, RELOAD
from devices.conformance.operators import ManualStep
from devices.conformance.raw_host import QUIET_S
from devices.conformance.requirements import KindProfile, RequirementFailed, expect, preparation
from devices.conformance.shared_checks import CLOSE_DOOR, LOOK_INSIDE, SHORT_LIMIT_S
from devices.shuffler import messages as m

if TYPE_CHECKING:
    from collections.abc import Callable

    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession
    from firmware_bridge.messages import Message

WITHOUT: Final = "Without cycles"
# A whole count takes four minutes (s); twice that.
COUNT_LIMIT_S: Final = 480.0
# Cards that the kit has delivered: few, and so many that it can be stopped between them.
FEW: Final = 5
MANY: Final = 20
# How many cards fit into the chute.
CHUTE_ROOM: Final = 30

COMMANDS: Final[dict[str, Callable[[int], Message]]] = {
    "TakeIn": m.TakeIn,
    "Deliver": lambda command: m.Deliver(command, 1),
    "CountAll": m.CountAll,
    "Eject": m.Eject,
    "SelfTest": m.SelfTest,
    "ClearJam": m.ClearJam,
}
GATHER: Final = ManualStep("draw what lies in the chute, and put every card that was dealt into the intake",
                     ("draw:cards=40", "discard"))  # fmt: skip
DRAW: Final = ManualStep("draw one card from the chute", ("draw:cards=1",))
DRAW_ALL: Final = ManualStep("draw every card from the chute, one by one", ("draw:cards=40",))
DISCARD: Final = ManualStep("put every card that was drawn into the intake", ("discard",))
DRAW_PAIR: Final = ManualStep("draw two cards from the chute as if they were one", ("draw_pair",))
STRANGE: Final = ManualStep("put every card that was drawn into the intake, and one more of another deck",
                      ("draw:cards=40", "discard", "foreign_card"))  # fmt: skip


async def status_of(visit: CheckSession) -> m.Inventory:
    """Return its inventory."""
    return await visit.ask(m.GetStatus(), m.Inventory)


@preparation
async def bring_to_idle(bench: ConformanceBench) -> None:
    """Bring it to IDLE with the door closed, from any state. Cards may be in its store."""
    async with bench.session() as visit:
        for _ in range(10):
            status = await status_of(visit)
            if status.state in (*MOVING, m.State.DELIVERING):
                await visit.send_command(m.Stop(bench.next_id()))
                await asyncio.sleep(QUIET_S)
            elif status.door_open:
                await bench.perform(CLOSE_DOOR)
            elif status.state in (m.State.HALTED, m.State.DOUBTFUL):
                await bench.perform(CLEAR_PATH)
                await visit.complete_command(m.ClearJam(bench.next_id()), CYCLE_LIMIT_S)
            elif status.state is m.State.READY:
                await visit.complete_command(m.Eject(bench.next_id()), SHORT_LIMIT_S)
            else:
                return
    raise RequirementFailed("a machine that can be brought to its idle state", repr(status))


@preparation
async def bring_to_counted(bench: ConformanceBench) -> None:
    """Bring it to idle with its whole set inside, counted."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        status = await status_of(visit)
        if status.counted is not None and status.inside == status.counted and not status.cards_in_intake:
            return
        if status.inside is None:
            await _emptied(bench, visit)
        elif status.outside or status.in_chute != 0:
            await bench.perform(GATHER)
        status = await status_of(visit)
        if not status.inside and not status.cards_in_intake:
            await bench.perform(RELOAD)
        await visit.complete_command(m.CountAll(bench.next_id()), COUNT_LIMIT_S)
        status = await status_of(visit)
        expect(bool(status.inside) and status.inside == status.counted, "a set that is closed", status)


async def _emptied(bench: ConformanceBench, visit: CheckSession) -> None:
    """Take everything out, look, and put everything in the intake."""
    await visit.complete_command(m.ClearJam(bench.next_id()), CYCLE_LIMIT_S)
    if (await status_of(visit)).state is m.State.READY:
        await visit.complete_command(m.Eject(bench.next_id()), SHORT_LIMIT_S)
    await bench.perform(LOOK_INSIDE)
    await visit.complete_command(m.SelfTest(bench.next_id()), SHORT_LIMIT_S)
    await bench.perform(GATHER)
    await bench.perform(RELOAD)


# What no cycle can be asked of has no mode to switch either.
WITHOUT_CYCLES: Final = KindProfile(
    question=PROFILE.question,
    answer=m.Inventory,
    questions=tuple((ask, (m.Inventory,) if m.Status in answers else answers) for ask, answers in PROFILE.questions),
    bring_to_idle=bring_to_idle,
    self_test=m.SelfTest,
    reset=m.Reset,
    refused=m.Eject,
    stop=m.Stop,
)
