"""The supervisor of one link: phases, waits, log levels, and ports that are always released."""

from __future__ import annotations

import asyncio
import logging
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from devices.kinds import SHUFFLER
from firmware_bridge import errors as er
from firmware_bridge.handshake import Trust
from firmware_bridge.supervisor import LinkPhase, Supervisor
from simulators.engine.machine import approved_firmware
from simulators.engine.ports.memory import MemoryPort
from simulators.kinds.shuffler.machine import SimulatedShuffler
from tests.support.wire.handshakes import is_answered
from tests.support.wire.links import settle, timers
from tests.support.wire.supervised_link import SupervisedLink

if TYPE_CHECKING:
    from firmware_bridge.link import Link
    from firmware_bridge.messages import DeviceHello

# Every kind of failure with its first and longest wait, as documented.
WAITS = [
    (er.SessionLost("rebooted"), 0.05, 1.0),
    (er.WrongKey("not ours"), 10.0, 60.0),
    (er.FirmwareNotApproved("not ours"), 10.0, 60.0),
    (er.BadMessage("nonsense"), 5.0, 60.0),
    (er.PortBusy("held"), 1.0, 10.0),
    (er.PortMissing("gone"), 0.25, 5.0),
    (er.PortFailed("broken"), 0.1, 5.0),
    (er.LinkSilent("mute"), 0.1, 5.0),
    (er.BadPort("mistyped"), 0.1, 5.0),
]
LIVING = [LinkPhase.IDLE, LinkPhase.OPENING, LinkPhase.HANDSHAKE, LinkPhase.UP, LinkPhase.WAITING]


async def test_a_link_comes_up_serves_and_goes_down_when_closed() -> None:
    rig = SupervisedLink()
    rig.supervisor.start()
    await rig.reach(LinkPhase.UP)
    link = rig.supervisor.link
    assert link is not None
    assert await is_answered(link)
    await rig.supervisor.close()
    assert rig.supervisor.link is None
    assert rig.kinds() == ["DeviceHello", "LinkClosed"]
    rig.halt()


async def test_the_phases_follow_each_other_as_the_world_allows() -> None:
    rig = SupervisedLink()
    seen: list[LinkPhase] = []

    class Watched(Supervisor):
        @property
        def phase(self) -> LinkPhase:
            return seen[-1]

        @phase.setter
        def phase(self, phase: LinkPhase) -> None:
            seen.append(phase)

    rig.supervisor.__class__ = Watched
    rig.open_errors = [er.PortMissing("gone")]
    rig.supervisor.phase = LinkPhase.IDLE
    rig.supervisor.start()
    await settle(1.0)
    await rig.supervisor.close()
    o, h, u, w, c = LinkPhase.OPENING, LinkPhase.HANDSHAKE, LinkPhase.UP, LinkPhase.WAITING, LinkPhase.CLOSED
    assert seen[:6] == [LinkPhase.IDLE, o, w, o, h, u]
    assert set(seen[6:]) == {c}
    rig.halt()


@pytest.mark.parametrize(("cause", "first", "longest"), WAITS, ids=[type(row[0]).__name__ for row in WAITS])
async def test_each_kind_of_failure_waits_its_own_time_doubling_to_its_longest(
    cause: er.PitboxError, first: float, longest: float
) -> None:
    rig = SupervisedLink()
    rig.open_error = cause
    rig.supervisor.start()
    await settle(20 * longest)
    await rig.supervisor.close()
    waits = [after - before for before, after in pairwise(rig.tries)]
    assert len(waits) > 10
    for turn, wait in enumerate(waits):
        usual = min(longest, first * 2**turn)
        assert 0.749 * usual <= wait <= 1.251 * usual
    assert max(waits) > longest
    assert min(waits[8:]) < longest
    assert len({round(wait / longest, 6) for wait in waits[8:]}) > 2  # never in step with another supervisor


async def test_two_supervisors_do_not_retry_in_step() -> None:
    rigs = [SupervisedLink(seed=seed) for seed in (1, 2)]
    for rig in rigs:
        rig.open_error = er.PortMissing("gone")
        rig.supervisor.start()
    await settle(60.0)
    for rig in rigs:
        await rig.supervisor.close()
    assert not set(rigs[0].tries[1:]) & set(rigs[1].tries[1:])


async def test_a_link_that_lived_long_starts_its_waits_anew_and_one_that_did_not_does_not() -> None:
    rig = SupervisedLink()
    rig.open_errors = [er.PortFailed("broken")] * 4
    rig.supervisor.start()
    await rig.reach(LinkPhase.UP)
    assert rig.supervisor.failures == 4
    await settle(3.0)
    rig.pull()
    await rig.reach(LinkPhase.WAITING)
    assert rig.supervisor.failures == 5
    await rig.reach(LinkPhase.UP)
    await settle(30.0)
    failed_at = asyncio.get_running_loop().time()
    rig.pull()
    await rig.reach(LinkPhase.WAITING)
    assert rig.supervisor.failures == 1
    await rig.reach(LinkPhase.UP)
    assert rig.tries[-1] - failed_at < 0.13
    await rig.supervisor.close()
    rig.halt()


async def test_the_first_failure_is_loud_repeats_are_quiet_and_a_new_kind_is_loud_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "firmware_bridge.supervisor")
    rig = SupervisedLink()
    missing, busy = er.PortMissing("gone"), er.PortBusy("held")
    rig.open_errors = [missing, missing, missing, busy, busy, missing]
    rig.supervisor.start()
    await rig.reach(LinkPhase.UP)
    levels = [r.levelno for r in caplog.records if "in a row" in r.getMessage()]
    loud, quiet = logging.WARNING, logging.DEBUG
    assert levels == [loud, quiet, quiet, loud, quiet, loud]
    assert "PB-111" in caplog.text
    assert "shuffler.1" in caplog.records[0].getMessage()
    assert rig.kinds() == ["PortMissing", "PortBusy", "PortMissing", "DeviceHello"]
    await rig.supervisor.close()
    rig.halt()


async def test_a_port_that_opens_and_never_answers_is_loud_once_and_left_in_peace(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "firmware_bridge.supervisor")
    rig = SupervisedLink()
    rig.mute = True
    rig.supervisor.start()
    await settle(300.0)
    await rig.supervisor.close()
    assert rig.kinds() == ["LinkSilent"]
    assert [r.levelno for r in caplog.records].count(logging.WARNING) == 1
    assert len(rig.tries) > 5
    assert rig.supervisor.failures in (len(rig.tries) - 1, len(rig.tries))  # closed in a handshake, or between two
    longest = max(after - before for before, after in pairwise(rig.tries))
    assert longest > 7.6 + 3.7  # the handshake's patience and the longest wait
    assert rig.ports_given_back()


async def test_a_port_that_is_slow_to_fail_is_no_good_link(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "firmware_bridge.supervisor")
    rig = SupervisedLink()
    rig.open_time_s = 15.0  # a network port that does not answer
    rig.open_error = er.PortMissing("nothing answers there")
    rig.supervisor.start()
    await settle(200.0)
    await rig.supervisor.close()
    assert [r.levelno for r in caplog.records].count(logging.WARNING) == 1
    assert rig.kinds() == ["PortMissing"]


@pytest.mark.parametrize("phase", LIVING)
async def test_closing_in_any_phase_gives_the_port_back_and_nothing_is_reopened(phase: LinkPhase) -> None:
    rig = SupervisedLink()
    await rig.enter(phase)
    was_up = phase is LinkPhase.UP
    began = asyncio.get_running_loop().time()
    await rig.supervisor.close()
    assert asyncio.get_running_loop().time() == began  # at once
    assert rig.supervisor.phase is LinkPhase.CLOSED
    assert rig.ports_given_back()
    assert rig.supervisor.link is None
    assert rig.kinds().count("LinkClosed") == was_up
    tries = len(rig.tries)
    rig.halt()
    await settle(0.1)
    assert timers() == []
    await settle(1000.0)
    assert len(rig.tries) == tries
    with pytest.raises(er.LinkClosed):
        rig.supervisor.start()


@pytest.mark.parametrize("phase", LIVING[1:])
async def test_cancelling_run_in_any_phase_is_the_same_and_is_not_swallowed(phase: LinkPhase) -> None:
    rig = SupervisedLink()
    await rig.enter(phase)
    task = rig.supervisor._task
    assert task is not None
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert task.cancelled()
    assert rig.supervisor.phase is LinkPhase.CLOSED
    assert rig.ports_given_back()
    await rig.supervisor.close()
    tries = len(rig.tries)
    rig.halt()
    await settle(1000.0)
    assert len(rig.tries) == tries


@pytest.mark.parametrize("phase", LIVING)
async def test_everybody_who_closes_at_once_waits_until_the_port_is_given_back(phase: LinkPhase) -> None:
    rig = SupervisedLink()
    await rig.enter(phase)

    async def close_and_look() -> bool:
        await rig.supervisor.close()
        return rig.ports_given_back() and rig.supervisor.phase is LinkPhase.CLOSED

    assert await asyncio.gather(*(close_and_look() for _ in range(3))) == [True] * 3
    await rig.supervisor.close()
    rig.halt()


async def test_a_supervisor_that_is_closed_before_it_runs_never_opens_a_port() -> None:
    rig = SupervisedLink()
    rig.supervisor.start()
    await rig.supervisor.close()
    assert rig.supervisor.phase is LinkPhase.CLOSED
    with pytest.raises(er.LinkClosed):
        rig.supervisor.start()
    await settle(10.0)
    assert rig.tries == []


async def test_a_supervisor_is_started_once() -> None:
    rig = SupervisedLink()
    rig.supervisor.start()
    with pytest.raises(er.LinkClosed):
        rig.supervisor.start()
    await rig.reach(LinkPhase.UP)
    await rig.supervisor.close()
    assert len(rig.tries) == 1
    rig.halt()


async def test_an_owner_that_breaks_ends_the_supervisor_gives_the_port_back_and_shows_at_closing() -> None:
    class Broken(SupervisedLink):
        def link_up(self, link: Link, hello: DeviceHello) -> None:
            raise ZeroDivisionError

    rig = Broken()
    rig.supervisor.start()
    await rig.reach(LinkPhase.CLOSED)
    assert rig.ports_given_back()
    rig.halt()
    await settle(0.1)
    assert timers() == []  # the link went with it
    with pytest.raises(ZeroDivisionError):
        await rig.supervisor.close()
    await rig.supervisor.close()  # logged once


async def test_the_owner_is_notified_once_that_a_link_is_up_and_once_that_it_is_down() -> None:
    rig = SupervisedLink()
    rig.supervisor.start()
    for turn in range(12):
        await rig.reach(LinkPhase.UP)
        rig.open_errors = [er.PortMissing("gone")] * (turn % 4)
        rig.pull()
        await rig.reach(LinkPhase.WAITING)
    await rig.reach(LinkPhase.UP)
    await rig.supervisor.close()
    kinds = rig.kinds()
    assert kinds.count("DeviceHello") == 13
    for before, after in pairwise(kinds):
        assert before != after, kinds  # up, down, and again down only with another kind of cause
    assert kinds[-1] == "LinkClosed"
    rig.halt()


async def test_a_reboot_is_a_short_absence(seed: int) -> None:
    machine = SimulatedShuffler(seed=seed)
    host = MemoryPort(machine)
    rig = SupervisedLink()
    trust = Trust("shuffler", {machine.key.serial: machine.key}, frozenset([approved_firmware("shuffler")]))
    supervisor = Supervisor(machine.slot, host.open, trust, SHUFFLER.decoder, rig)
    supervisor.start()
    for fault, down in (
        ("reboot", "SessionLost"),
        ("unplug:seconds=3", "PortFailed"),
        ("hang:seconds=9", "LinkSilent"),
    ):
        await settle(15.0)
        assert supervisor.phase is LinkPhase.UP
        rig.notifications.clear()
        machine.inject(fault)
        await settle(30.0)
        kinds = rig.kinds()
        assert (kinds[0], kinds[-1]) == (down, "DeviceHello")
        assert kinds.count("DeviceHello") == 1
    await supervisor.close()
    machine.board.power_off()


async def test_two_supervisors_at_one_port_share_it_one_after_the_other(seed: int) -> None:
    machine = SimulatedShuffler(seed=seed)
    host = MemoryPort(machine)
    trust = Trust("shuffler", {machine.key.serial: machine.key}, frozenset([approved_firmware("shuffler")]))
    owners = [SupervisedLink(), SupervisedLink()]
    one, other = (Supervisor(machine.slot, host.open, trust, SHUFFLER.decoder, owner) for owner in owners)
    one.start()
    await settle(1.0)
    other.start()
    await settle(60.0)
    assert owners[0].kinds() == ["DeviceHello"]
    assert owners[1].kinds() == ["PortBusy"]
    await one.close()
    await settle(13.0)
    assert owners[1].kinds() == ["PortBusy", "DeviceHello"]
    await other.close()
    machine.board.power_off()


@pytest.mark.parametrize(("fault", "error"), [("wrong_key", er.WrongKey), ("rogue_firmware", er.FirmwareNotApproved)])
async def test_a_device_that_is_not_trusted_is_never_up(seed: int, fault: str, error: type[er.TrustError]) -> None:
    machine = SimulatedShuffler(seed=seed)
    host = MemoryPort(machine)
    rig = SupervisedLink()
    trust = Trust("shuffler", {machine.key.serial: machine.key}, frozenset([approved_firmware("shuffler")]))
    machine.inject(fault)
    supervisor = Supervisor(machine.slot, host.open, trust, SHUFFLER.decoder, rig)
    supervisor.start()
    await settle(400.0)
    await supervisor.close()
    assert error.__name__ in rig.kinds()
    assert "DeviceHello" not in rig.kinds()
    assert isinstance(supervisor.last_cause, error)
    machine.board.power_off()
