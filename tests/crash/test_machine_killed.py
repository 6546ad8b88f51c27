"""kill -9 and SIGSTOP of the machine in mid-cycle: no caller waits forever; the returning machine is queried."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import pytest

from devices.driver_events import LinkDown, OutcomeLost, Reported
from devices.service import Service
from devices.shuffler import messages as m
from devices.shuffler.state import ShufflerView, fold, service_trigger
from firmware_bridge.commands import Outcome
from firmware_bridge.errors import LinkError, LinkSilent, OutcomeUnknown, PortFailed, PortMissing
from firmware_bridge.link import SILENCE_LIMIT_S
from simulators.engine.control import send_request
from tests.support.box.processes import kill_machine, simulator
from tests.support.suite.case_counts import count_cases
from tests.support.wire.connected_driver import ConnectedDriver, connected

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.realtime

# Machine times faster than real: a cycle takes about 1.3 s.
SPEED: Final = "20"
# A pty whose master is gone fails at once; the margin is for a busy computer (s).
AT_ONCE: Final = 3.0


def pid_of(folder: Path) -> int:
    number: int = send_request(folder, "shuffler.1", {"do": "truth"})["pid"]
    return number


def service_of(c: ConnectedDriver) -> tuple[str, ShufflerView]:
    """Return the slot's service state after all events of the driver."""
    service, view = Service(), ShufflerView()
    for event in c.events:
        view = fold(view, event)
        service.apply_report(service_trigger(event), unsettled=bool(view.unsettled))
    return service.state, view


async def one_kill(folder: Path, rng: random.Random) -> str:
    """Kill the machine at a random instant of its cycle; return the name of the cause that the host got."""
    with simulator(folder, "--speed", SPEED, "--seed", "3") as port:
        pid = await asyncio.to_thread(pid_of, folder)
        async with connected(str(port), folder) as c:
            cycle = c.driver.shuffle(1)
            await asyncio.sleep(rng.uniform(0.0, 1.2))
            questions = [asyncio.create_task(question()) for question in (c.driver.status, c.driver.transits)]
            kill_machine(port, pid)
            async with asyncio.timeout(AT_ONCE):
                answers: list[Any] = await asyncio.gather(cycle, *questions, return_exceptions=True)
            assert isinstance(answers[0], OutcomeUnknown)
            assert answers[0].command == 1
            assert all(isinstance(answer, LinkError | m.Status | m.Transits) for answer in answers[1:])
            assert c.events_of(OutcomeLost) == [OutcomeLost(1)]
            state, view = service_of(c)
            assert state == "absent"
            assert view.inside is None
            assert view.unsettled == {1}
            cause: LinkDown = c.events_of(LinkDown)[0]
            assert isinstance(cause.cause, PortFailed | LinkSilent)
            return type(cause.cause).__name__


async def test_a_killed_machine_releases_every_caller_at_once_with_the_outcome_unknown(
    tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert await one_kill(folder, rng) in ("PortFailed", "LinkSilent")


@pytest.mark.proof
async def test_many_killed_machines(tmp_path: Path, seed: int) -> None:
    rng, kills = random.Random(seed), count_cases(60)
    causes: Counter[str] = Counter()
    for number in range(kills):
        folder = tmp_path / str(number)
        folder.mkdir()
        causes[await one_kill(folder, rng)] += 1
    print(f"{kills} machines killed with SIGKILL at random instants of a cycle: the host was told {dict(causes)};")
    print(f"every waiter released within {AT_ONCE:g} s, every outcome unknown until asked")
    assert sum(causes.values()) == kills


def take_pty(name: Path) -> list[int]:
    """Open ptys until one has this name or the tries are used up; return all that were opened."""
    opened: list[int] = []
    for _ in range(64):
        opened += os.openpty()
        if os.ttyname(opened[-1]) == str(name):
            break
    return opened


async def test_a_killed_machine_leaves_no_link_name_that_leads_to_another_machine(tmp_path: Path) -> None:
    with simulator(tmp_path, "--speed", SPEED, "--seed", "3") as port:
        pid, pty = await asyncio.to_thread(pid_of, tmp_path), port.readlink()
        async with connected(str(port), tmp_path) as c:
            down = asyncio.create_task(c.next(LinkDown))
            kill_machine(port, pid)
            assert isinstance((await down).cause, PortFailed)
            missing = asyncio.create_task(c.next(LinkDown))
            opened = take_pty(pty)
            try:
                assert isinstance((await missing).cause, PortMissing), "nobody else is asked who he is"
            finally:
                for fd in opened:
                    os.close(fd)


async def test_another_machine_under_the_same_name_is_asked_and_does_not_remember(tmp_path: Path) -> None:
    with simulator(tmp_path, "--speed", SPEED, "--seed", "3") as port:
        pid = await asyncio.to_thread(pid_of, tmp_path)
        async with connected(str(port), tmp_path) as c:
            cycle = c.driver.shuffle(1)
            await c.next(m.Progress)
            back = asyncio.create_task(c.next(Reported))
            kill_machine(port, pid)
            with pytest.raises(OutcomeUnknown):
                await cycle
            with simulator(tmp_path, "--speed", SPEED, "--seed", "3"):
                await back
                assert service_of(c)[0] == "unverified", "a good report does not settle what nobody knows"
                assert (await c.driver.outcome(1)).outcome is Outcome.UNKNOWN
                await c.driver.report()
                assert service_of(c)[0] == "in_service"


async def test_a_frozen_machine_is_silent_in_time_and_reports_the_truth_once_it_thaws(tmp_path: Path) -> None:
    with simulator(tmp_path, "--speed", SPEED) as port:
        pid = await asyncio.to_thread(pid_of, tmp_path)
        async with connected(str(port), tmp_path) as c:
            cycle = c.driver.shuffle(1)
            await c.next(m.Progress)
            os.kill(pid, signal.SIGSTOP)
            try:
                with pytest.raises(OutcomeUnknown):
                    async with asyncio.timeout(SILENCE_LIMIT_S + AT_ONCE):
                        await cycle
                assert isinstance(c.events_of(LinkDown)[0].cause, LinkSilent)
                backlog = 0 if c.supervisor.link is None else c.supervisor.link.wire.transport.backlog
                assert backlog < 64 * 1024
                back = asyncio.create_task(c.next(Reported))
            finally:
                os.kill(pid, signal.SIGCONT)
            again = await back
            assert again.report.boot_id == c.events_of(Reported)[0].report.boot_id
            assert service_of(c)[0] == "unverified"
            async with asyncio.timeout(20):
                while (await c.driver.outcome(1)).outcome is Outcome.RUNNING:  # noqa: ASYNC110 - asked, as a host would
                    await asyncio.sleep(0.05)
            assert (await c.driver.outcome(1)).outcome is Outcome.DONE
            status = await c.driver.status()
            assert (status.state, status.cycles, status.behind_gate) == (m.State.READY, 1, 53)
            assert service_of(c)[0] == "unverified"
            await c.driver.report()
            assert service_of(c)[0] == "in_service"
