"""The box as a real process: errors before it starts, and a deal that is interrupted when it ends."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import termios
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from simulators.casino.dealer import DEALER
from simulators.casino.remote_table import REQUEST_OF, RemoteTable
from table_controller.journal import reader
from table_controller.journal import records as rec
from table_controller.journal.chain import STOP
from table_controller.journal.copy import begin_copy
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import StateChanged
from tests.support.box.configs import certificate
from tests.support.box.killed_box import KilledBoxWatch
from tests.support.box.power_cuts import compare_bets
from tests.support.box.processes import pitbox
from tests.support.box.remote_rounds import until_round_played
from tests.support.box.running_box import RunningBox
from tests.support.box.small_disk import small_disk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

GAME = "face_up_pai_gow"
PACE = 0.01
SPEED = 400.0

pytestmark = pytest.mark.realtime


def far_table(folder: Path, game: str = GAME) -> RemoteTable:
    return RemoteTable(folder, game, seed=5, speed=SPEED, pace=PACE)


# --- before it starts -------------------------------------------------------------------------------------------------


async def test_an_impossible_table_is_reported_before_any_machine_moves(tmp_path: Path) -> None:
    async with far_table(tmp_path) as table:
        good = table.config.read_text()
        table.config.write_text(good.replace("[table]", "[table]\nlimit = 5"))
        output = await asyncio.to_thread(pitbox, "run", "--config", str(table.config), expect=2)
        assert "PB-617" in output
        assert "table.limit" in output
        table.config.write_text(good)
        (tmp_path / "shoe.1.key").rename(tmp_path / "away")
        output = await asyncio.to_thread(pitbox, "run", "--config", str(table.config), expect=2)
        assert "PB-612" in output
        assert "shoe.1.key" in output
        (tmp_path / "away").rename(tmp_path / "shoe.1.key")
        table.config.write_text(good + '\n[control]\ngroup = "nobody-has-this"\n')
        output = await asyncio.to_thread(pitbox, "run", "--config", str(table.config), expect=2)
        assert 'control.group = "nobody-has-this": this system has no such group' in output
        for name in ("one", "other"):
            certificate(tmp_path, name)
        broker = '\n[mqtt]\nhost = "127.0.0.1"\nca = "one.pem"\ncert = "one.pem"\nkey = "other.key"\n'
        table.config.write_text(good + broker)
        output = await asyncio.to_thread(pitbox, "run", "--config", str(table.config), expect=2)
        assert "mqtt.cert and mqtt.key are not a usable pair" in output
        (tmp_path / "second").symlink_to((tmp_path / "shoe.1").readlink())
        table.config.write_text(good.replace(f'port = "{tmp_path / "shuffler.1"}"', 'port = "second"'))
        output = await asyncio.to_thread(pitbox, "run", "--config", str(table.config), expect=2)
        assert "shuffler.1 and shoe.1 are at the same port" in output
        assert not (tmp_path / "data" / "lock").exists(), "nothing was opened, and nothing taken"
        table.config.write_text(good.replace('folder = "data"', 'folder = "nowhere"'))
        output = await asyncio.to_thread(pitbox, "run", "--config", str(table.config), expect=6)
        assert "PB-816" in output
        assert "mkdir -p" in output
        assert not (tmp_path / "data" / "journal").exists()
        output = await asyncio.to_thread(pitbox, "status", "--config", str(table.config), expect=6)
        assert "PB-811" in output
        assert "what to do: Start the box" in output


async def test_an_absent_device_and_a_port_in_use_hold_their_slots_and_a_second_box_ends_at_once(
    tmp_path: Path,
) -> None:
    async with far_table(tmp_path) as table:
        (tmp_path / "shaker.1").unlink()
        master, slave = os.openpty()  # a port that another process holds
        name = os.ttyname(slave)
        fcntl.ioctl(slave, termios.TIOCEXCL)
        fcntl.flock(slave, fcntl.LOCK_EX | fcntl.LOCK_NB)
        text = table.config.read_text().replace(f'port = "{tmp_path / "shoe.1"}"', f'port = "{name}"')
        (tmp_path / "copy").mkdir()
        begin_copy(tmp_path / "copy")
        table.config.write_text(text + '\n[journal]\ncopy = "copy"\n')
        try:
            with RunningBox(table.config) as box:
                await asyncio.to_thread(box.until, "shoe.1", "PB-112")
                answer = await asyncio.to_thread(box.until, "shaker.1", "PB-111")
                assert answer["phase"] == "running"
                assert "shaker.1" in dict(answer["checks"])["ports"]
                keys = {reason["key"] for reason in answer["state"]["permits"][0]["reasons"]}
                assert {"shoe_missing", "start_device_missing"} <= keys
                output = await asyncio.to_thread(pitbox, "run", "--config", str(table.config), expect=6)
                assert "PB-812" in output
                assert str(box.process.pid) in output
                answer = await asyncio.to_thread(box.status)
                assert answer["phase"] == "running"
                output = await asyncio.to_thread(pitbox, "devices", "--config", str(table.config), expect=6)
                assert "runs and uses its ports; ask it instead: pitbox status --config" in output
                assert answer["copy"]["words"].startswith("The second copy has record ")
            own, copied = (list(reader.read(tmp_path / name, 1)) for name in ("data/journal", "copy"))
            assert own == copied, "all of it is on the other disk, the stop too"
        finally:
            for descriptor in (master, slave):
                os.close(descriptor)


async def test_a_journal_that_does_not_hold_and_a_full_disk_lock_a_box_that_still_answers(tmp_path: Path) -> None:
    async with far_table(tmp_path) as table:
        with RunningBox(table.config) as box:
            await asyncio.to_thread(box.until, "shoe.1", "in_service")
        journal = tmp_path / "data" / "journal"
        (segment,) = journal.glob("journal-*.db")
        damaged = bytearray(segment.read_bytes())
        place = damaged.rindex(b"SlotChanged")
        damaged[place : place + 11] = b"SlotChangee"
        segment.write_bytes(damaged)
        with RunningBox(table.config) as box:
            status = await asyncio.to_thread(box.status)
            assert (status["phase"], status["cause"]["code"]) == ("locked", "PB-713")
            output = await asyncio.to_thread(pitbox, "prompts", "--config", str(table.config), expect=7)
            assert "LOCKED by PB-" in output
            output = await asyncio.to_thread(pitbox, "status", "--config", str(table.config), expect=7)
            assert "LOCKED by PB-713" in output
            assert box.end() == 0
        assert segment.read_bytes() == bytes(damaged), "evidence stays as it is"
        with small_disk(tmp_path, 128) as disk:
            (disk / "filler").write_bytes(bytes(100 << 10))
            people = (tmp_path / "data" / "people.json").read_bytes()
            text = table.config.read_text().replace('folder = "data"', f'folder = "{disk}"')
            table.config.write_text(text + f'\n[control]\nsocket = "{tmp_path}/data/control.sock"\n')
            (tmp_path / "people.json").write_bytes(people)
            with RunningBox(table.config) as box:
                status = await asyncio.to_thread(box.status)
                assert (status["phase"], status["cause"]["code"]) == ("locked", "PB-716")
                assert box.end() == 0


def begun(journal: Path) -> list[rec.Note]:
    notes = [msgspec.json.decode(r.body, type=rec.Note) for r in reader.read(journal, 1) if r.kind == rec.NOTE]
    return [note for note in notes if note.kind == "begun"]


async def test_a_journal_that_vanished_locks_the_box_until_two_people_begin_another_one(tmp_path: Path) -> None:
    async with far_table(tmp_path) as table:
        journal, anchor = tmp_path / "data" / "journal", tmp_path / "data" / "anchor"
        with RunningBox(table.config) as box:
            await asyncio.to_thread(box.until, "shoe.1", "in_service")
            output = await asyncio.to_thread(pitbox, "status", "--config", str(table.config))
            assert "journal: there was no journal: a new one begins, and every meter starts at its seed" in output
        (note,) = begun(journal)
        assert note.who is None
        assert note.text.startswith("there was no journal")
        with RunningBox(table.config) as box:
            assert "journal" not in dict((await asyncio.to_thread(box.status))["checks"]), "that is reported once"
        assert len(begun(journal)) == 1
        journal.rename(tmp_path / "away")
        journal.mkdir()  # as a folder whose disk is not mounted
        begin = ["journal", "begin", "--config", str(table.config), "--pin-file", str(tmp_path / "pins")]
        begin += ["--technician", "tech-1", "--floorperson", "floor-1"]
        with RunningBox(table.config) as box:
            status = await asyncio.to_thread(box.status)
            assert (status["phase"], status["cause"]["code"]) == ("locked", "PB-723"), status["cause"]
            assert "pitbox journal restore" in status["cause"]["text"]
            assert "PB-812" in await asyncio.to_thread(pitbox, *begin, expect=6), "not while a box runs"
            assert box.end() == 0
        assert not list(journal.iterdir()), "no journal was begun"
        anchor.unlink()  # both are gone, and no copy: other files still show that a box ran here
        with RunningBox(table.config) as box:
            status = await asyncio.to_thread(box.status)
            assert (status["phase"], status["cause"]["code"]) == ("locked", "PB-723"), status["cause"]
            assert "fault-reports shows that this box had one; mount its disk" in status["cause"]["text"]
        assert not list(journal.iterdir())
        assert not anchor.exists()
        (tmp_path / "pins").write_text("tech-1 271828\nfloor-1 271828\n")
        (tmp_path / "pins").chmod(0o600)
        await asyncio.to_thread(pitbox, *begin)
        with RunningBox(table.config) as box:
            assert (await asyncio.to_thread(box.until, "shoe.1", "in_service"))["phase"] == "running"
        (note,) = begun(journal)
        assert (note.who, note.second) == (ev.Person("technician", "tech-1"), ev.Person("floorperson", "floor-1"))


# --- in the middle of a deal ------------------------------------------------------------------------------------------


class Stalled(RemoteTable):
    """A table whose dealer takes no stack once `stall` is set: a deal that has begun stays a deal."""

    stall = False

    def see_step(self, event: ev.Event, decisions: Any) -> None:
        super().see_step(event, decisions)
        if self.stall and StateChanged("round", mc.DEALING) in decisions:
            self.people.see_device_event = lambda *_: None  # type: ignore[method-assign]


@contextmanager
def fails_with(words: Callable[[], str]) -> Iterator[None]:
    try:
        yield
    except TimeoutError as late:
        raise AssertionError(words()) from late


async def _to(table: RemoteTable, state: str) -> None:
    """Wait until the round is in a stable state."""
    with fails_with(lambda: f"the round does not come to {state}: {table.controller.table.state}"):
        async with asyncio.timeout(60):
            while table.controller.table.state.round.state != state:  # noqa: ASYNC110 - another process plays
                await asyncio.sleep(0.002)


async def _to_the_middle(table: Stalled, state: str) -> None:
    """Bring a deck, open a round, place two chips; continue to the deal if requested."""
    await table.until_quiescent()
    await table.bring_deck("blue")
    table.controller.submit(ev.OpenRound(DEALER))
    await _to(table, mc.BETTING)
    await table.until(lambda: not table.is_opening_bets())  # players see whether their sensor takes bets
    for seat in (2, 4):
        table.machines[f"bet_sensor.{seat}"].inject("place_bet")
    if state == mc.DEALING:
        table.stall = True
        table.controller.submit(ev.NoMoreBets(DEALER))
        await _to(table, mc.DEALING)


async def test_a_table_waits_for_a_box_that_answers_late(tmp_path: Path) -> None:
    """On a busy computer people poll nine times before the box has answered their report."""
    async with far_table(tmp_path) as table:
        with RunningBox(table.config):
            await table.connect_to_box()
            ask = table.box.client.request

            async def late(request: str, **more: Any) -> Any:
                await asyncio.sleep(0.3 if request in REQUEST_OF.values() else 0)
                return await ask(request, **more)

            table.box.client.request = late
            await table.bring_deck("blue")
            (deck,) = table.controller.table.state.decks.values()
            assert deck.state == mc.IN_DEVICE or deck.shuffled_by != "none", deck
            await table.round((2, 4))
            assert table.controller.table.state.round.number == 1
            await _to(table, mc.IDLE)
            await table.people.close()


ENDS = [(signal.SIGTERM, mc.DEALING), (signal.SIGTERM, mc.BETTING), (signal.SIGKILL, mc.DEALING)]


@pytest.mark.parametrize(("how", "state"), ENDS)
async def test_a_box_that_ends_in_the_middle_loses_nothing_and_the_next_one_asks(
    tmp_path: Path, how: signal.Signals, state: str
) -> None:
    journal = tmp_path / "data" / "journal"
    async with Stalled(tmp_path, GAME, seed=5, speed=SPEED, pace=PACE) as table:
        watch, reported = KilledBoxWatch(table), table.people.see_device_event
        box = RunningBox(table.config)
        try:
            await table.connect_to_box()
            await _to_the_middle(table, state)
            number = table.controller.table.state.round.number
            code = await asyncio.to_thread(box.end, how)
            assert code == (0 if how == signal.SIGTERM else -signal.SIGKILL), box.log_text()
            assert (await asyncio.to_thread(reader.verify, journal)).ok
            ending = list(reader.read(journal, 1))[-1]
            assert (ending.kind == STOP) is (how == signal.SIGTERM)
            shoe: Any = table.machines["shoe.1"]
            assert how == signal.SIGKILL or shoe.firmware.state.name != "DISPENSING"
            table.stall, table.people.see_device_event = False, reported  # type: ignore[method-assign]
            box = RunningBox(table.config)
            await table.connect_to_box()
            held = [hold.trigger for hold in table.controller.table.state.holds.values()]
            # A shoe that was stopped in the deal voids the round by its rule; else the floorperson is asked.
            assert set(held) & {"box_restarted", "shoe_fault"}, held
            assert table.controller.table.state.round.number == number
            await until_round_played(table, (1, 2))
            assert await asyncio.to_thread(box.end) == 0
            compare_bets(table, watch, list(reader.read(journal, 1)))
        finally:
            if box.process.poll() is None:
                box.end(signal.SIGKILL)
