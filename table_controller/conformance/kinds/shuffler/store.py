"""A shuffler without cycles in the kit: its commands, its hands, its store filled and counted."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from devices.shuffler import messages as m
from table_controller.conformance.hands import Step
from table_controller.conformance.kinds.shuffler.machine import (
    CLEAR_PATH,
    CLOSE_DOOR,
    CYCLE,
    LOOK_INSIDE,
    MOVING,
    PROFILE,
    RELOAD,
    SHORT,
)
from table_controller.conformance.probe import QUIET
from table_controller.conformance.requirements import Failed, Profile, expect, preparing

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.commands import Accepted, Settled
    from firmware_bridge.messages import Message
    from table_controller.conformance.bench import Bench
    from table_controller.conformance.visit import Visit

WITHOUT: Final = "Without cycles"
# A whole count takes four minutes (s); twice that.
COUNT: Final = 480.0
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
GATHER: Final = Step("draw what lies in the chute, and put every card that was dealt into the intake",
                     ("draw:cards=40", "discard"))  # fmt: skip
DRAW: Final = Step("draw one card from the chute", ("draw:cards=1",))
DRAW_ALL: Final = Step("draw every card from the chute, one by one", ("draw:cards=40",))
DISCARD: Final = Step("put every card that was drawn into the intake", ("discard",))
DRAW_PAIR: Final = Step("draw two cards from the chute as if they were one", ("draw_pair",))
STRANGE: Final = Step("put every card that was drawn into the intake, and one more of another deck",
                      ("draw:cards=40", "discard", "foreign_card"))  # fmt: skip


async def status_of(visit: Visit) -> m.Inventory:
    """Return its inventory."""
    return await visit.ask(m.GetStatus(), m.Inventory)


async def tried(visit: Visit, bench: Bench) -> dict[str, Settled | Accepted]:
    """Send every command; return the reply to each."""
    return {name: await visit.order(make(bench.next_id())) for name, make in COMMANDS.items()}


@preparing
async def rest(bench: Bench) -> None:
    """Bring it to IDLE with the door closed, from any state. Cards may be in its store."""
    async with bench.visit() as visit:
        for _ in range(10):
            status = await status_of(visit)
            if status.state in (*MOVING, m.State.DELIVERING):
                await visit.order(m.Stop(bench.next_id()))
                await asyncio.sleep(QUIET)
            elif status.door_open:
                await bench.do(CLOSE_DOOR)
            elif status.state in (m.State.HALTED, m.State.DOUBTFUL):
                await bench.do(CLEAR_PATH)
                await visit.done(m.ClearJam(bench.next_id()), CYCLE)
            elif status.state is m.State.READY:
                await visit.done(m.Eject(bench.next_id()), SHORT)
            else:
                return
    raise Failed("a machine that can be brought to its idle state", repr(status))


@preparing
async def closed(bench: Bench) -> None:
    """Bring it to idle with its whole set inside, counted."""
    await rest(bench)
    async with bench.visit() as visit:
        status = await status_of(visit)
        if status.counted is not None and status.inside == status.counted and not status.cards_in_intake:
            return
        if status.inside is None:
            await _emptied(bench, visit)
        elif status.outside or status.in_chute != 0:
            await bench.do(GATHER)
        status = await status_of(visit)
        if not status.inside and not status.cards_in_intake:
            await bench.do(RELOAD)
        await visit.done(m.CountAll(bench.next_id()), COUNT)
        status = await status_of(visit)
        expect(bool(status.inside) and status.inside == status.counted, "a set that is closed", status)


async def _emptied(bench: Bench, visit: Visit) -> None:
    """Take everything out, look, and put everything in the intake."""
    await visit.done(m.ClearJam(bench.next_id()), CYCLE)
    if (await status_of(visit)).state is m.State.READY:
        await visit.done(m.Eject(bench.next_id()), SHORT)
    await bench.do(LOOK_INSIDE)
    await visit.done(m.SelfTest(bench.next_id()), SHORT)
    await bench.do(GATHER)
    await bench.do(RELOAD)


# What no cycle can be asked of has no mode to switch either.
WITHOUT_CYCLES: Final = Profile(
    question=PROFILE.question,
    answer=m.Inventory,
    questions=tuple((ask, (m.Inventory,) if m.Status in answers else answers) for ask, answers in PROFILE.questions),
    rest=rest,
    self_test=m.SelfTest,
    reset=m.Reset,
    refused=m.Eject,
    stop=m.Stop,
)
