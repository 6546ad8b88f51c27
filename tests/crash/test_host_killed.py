"""kill -9 of the host in mid-command: the machine goes on, the next host queries the result, nothing is done twice."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Final

import pytest

from devices.driver_events import Reported
from devices.shuffler import messages as m
from firmware_bridge.commands import Outcome
from tests.support.box.processes import simulator
from tests.support.suite.case_counts import count_cases
from tests.support.wire.connected_driver import connected

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.realtime

# Machine times faster than real: a cycle takes about 0.65 s.
SPEED: Final = "40"
HOST: Final = """
import asyncio, sys
from pathlib import Path
from tests.support.wire.connected_driver import connected

async def main(port, folder, command):
    async with connected(port, Path(folder)) as c:
        print("connected", flush=True)
        await c.driver.shuffle(int(command))
        print("done", flush=True)
        await asyncio.sleep(30)

asyncio.run(main(*sys.argv[1:]))
"""


async def one_kill(port: Path, folder: Path, command: int, rng: random.Random) -> Outcome:
    """Start a host that shuffles, kill it at a random instant, and query what it began. Returns the outcome."""
    host = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOST, str(port), str(folder), str(command), stdout=subprocess.PIPE
    )
    assert host.stdout is not None
    assert await host.stdout.readline() == b"connected\n"
    await asyncio.sleep(rng.uniform(0.0, 0.9))
    os.kill(host.pid, signal.SIGKILL)
    await host.communicate()
    async with connected(str(port), folder) as c:
        (first,) = c.events_of(Reported)
        assert first.report.bench_visits == 0
        result = (await c.driver.outcome(command)).outcome
        assert result in (Outcome.UNKNOWN, Outcome.RUNNING, Outcome.DONE)
        if result is Outcome.UNKNOWN:  # the command never arrived: the deck was not touched
            assert first.inventory.state is m.State.IDLE
            assert first.inventory.cards_in_intake
            return result
        remembered = {settled.command: settled.outcome for settled in first.report.commands}
        assert remembered[command] in (Outcome.RUNNING, Outcome.DONE)
        async with asyncio.timeout(20):
            while (await c.driver.outcome(command)).outcome is Outcome.RUNNING:  # noqa: ASYNC110 - asked, as a host would
                await asyncio.sleep(0.02)
        status = await c.driver.status()
        assert (status.state, status.behind_gate, status.inside) == (m.State.READY, 53, 0)
        return result


async def run_kills(tmp_path: Path, kills: int, seed: int) -> Counter[Outcome]:
    rng = random.Random(seed)
    results: Counter[Outcome] = Counter()
    with simulator(tmp_path, "--speed", SPEED, "--seed", str(seed)) as port:
        cycles = 0
        boots = set()
        for number in range(1, kills + 1):
            outcome = await one_kill(port, tmp_path, number, rng)
            results[outcome] += 1
            cycles += outcome is not Outcome.UNKNOWN
            async with connected(str(port), tmp_path) as c:
                status = await c.driver.status()
                assert status.cycles == cycles, "a cycle ran twice, or not at all"
                boots.add(c.events_of(Reported)[0].report.boot_id)
                if status.state is m.State.READY:
                    await c.driver.eject(10_000 + number)
            await asyncio.to_thread(_hands, tmp_path, "take_deck")
            await asyncio.to_thread(_hands, tmp_path, "load")
        assert len(boots) == 1, "the machine never rebooted"
    return results


def _hands(folder: Path, what: str) -> None:
    from simulators.engine.control import send_request

    send_request(folder, "shuffler.1", {"do": "inject", "fault": what})


async def test_a_killed_host_leaves_a_machine_that_reports_the_truth(tmp_path: Path, seed: int) -> None:
    result = await run_kills(tmp_path, 6, seed)
    assert sum(result.values()) == 6


@pytest.mark.proof
async def test_many_killed_hosts(tmp_path: Path, seed: int) -> None:
    kills = count_cases(100)
    result = await run_kills(tmp_path, kills, seed)
    figures = ", ".join(f"{count} {outcome.name.lower()}" for outcome, count in sorted(result.items()))
    print(f"{kills} hosts killed with SIGKILL at random instants: found {figures}; none carried out twice")
    assert result[Outcome.RUNNING] > 0
    assert result[Outcome.DONE] > 0
