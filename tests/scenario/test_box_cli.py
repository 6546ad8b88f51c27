"""The commands that use a running box: their output, their exit codes, and their errors when no box runs."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import msgspec
import pytest

from firmware_bridge.capture import read_capture
from simulators.casino.box_process import PITBOX
from table_controller import cli
from table_controller.access.control_socket import ControlSocket
from table_controller.ledger.money import CENT, DOLLAR
from tests.support.box.boxes import PIN, ROLES, BoxTestBench
from tests.support.box.processes import LIMIT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = pytest.mark.realtime


class Console:
    """Runs commands in a thread while the box runs; returns exit code and output."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._socket = folder / "control.sock"
        self._capsys = capsys
        (folder / "pin").write_text("".join(f"{id_} {PIN}\n" for id_ in ROLES))
        (folder / "pin").chmod(0o600)
        self.pin = ("--pin-file", str(folder / "pin"))

    async def run(self, *words: str) -> tuple[int, str]:
        code = await asyncio.to_thread(cli.main, [*words, "--socket", str(self._socket)])
        output = self._capsys.readouterr()
        assert "Traceback" not in output.err
        return code, output.out + output.err


@asynccontextmanager
async def console(folder: Path, capsys: pytest.CaptureFixture[str]) -> AsyncIterator[tuple[BoxTestBench, Console]]:
    bench = BoxTestBench(folder)
    box = await bench.start(0.2)
    control = ControlSocket(box, folder / "control.sock")
    await control.start()
    try:
        yield bench, Console(folder, capsys)
    finally:
        await box.stop()
        await control.close()
        bench.close()


async def test_a_table_is_run_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with console(tmp_path, capsys) as (bench, at):
        code, output = await at.run("status")
        assert code == cli.OK
        assert "round 0: idle; no dealer is signed on" in output
        assert "current $10,000.00" in output
        assert "no round: the deck is not shuffled and cut [688a.5(a)/1]; dealer: shuffle and cut" in output
        assert "There is no second copy" in output
        code, output = await at.run("status", "--json")
        assert msgspec.json.decode(output)["phase"] == "running"
        code, output = await at.run("submit", "deck", "deck=blue", "--as", "D1", *at.pin)
        assert code == cli.OK
        code, output = await at.run("prompts", "--role", "dealer")
        number = re.search(r"dealer: (\d+) Deck blue: is it complete, .*: whole \(Whole\) \| not_whole \(", output)
        assert number, output
        code, output = await at.run("answer", number[1], "whole", "--as", "D1", *at.pin)
        assert (code, bench.box.controller is not None) == (cli.OK, True)
        assert f"question {number[1]} answered whole" in output
        code, output = await at.run("submit", "open_round", "--as", "D1", *at.pin)
        assert code == cli.FAULT
        assert "REFUSED open bets" in output
        code, output = await at.run("prompts", "--role", "technician")
        assert output == "no open prompts for the technician\n"


async def test_submit_lists_each_report_with_its_details_and_refuses_other_details(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        cli.main(["submit", "--help"])
    page = capsys.readouterr().out
    for line in (
        "deck            deck=TEXT [preshuffled=yes|no] [two_jokers=yes|no]",
        "slot            slot=TEXT act=acknowledge|clear|give_up|repair|sign",
        "correct_meter   amount=±DOLLARS.CENTS document=TEXT ground=TEXT reason=TEXT [counterpart=TEXT] (two",
        "set_meter       document=TEXT [rate=PERCENT] [limit=DOLLARS.CENTS] [submission=TEXT] (two people: --second)",
        "transfer_overflow amount=DOLLARS.CENTS document=TEXT (two people: --second)",
    ):
        assert line in page
    async with console(tmp_path, capsys) as (bench, at):
        before = len(bench.records())
        for words, text in (
            (("order", "order=dance"), "order takes one of"), (("deck",), "deck needs deck="),
            (("deck", "deck=blue", "preshuffled=maybe"), "takes yes or no"),
            (("cover_card", "slot=shoe.1"), "cover_card has no 'slot'; it takes: [seat=N]"),
            (("open_round", "seat=1"), "it takes: nothing"),
        ):  # fmt: skip
            code, reported = await at.run("submit", *words, "--as", "D1", *at.pin)
            assert (code, text in reported) == (cli.USAGE, True), reported
        assert len(bench.records()) == before


CORRECTION = ("submit", "correct_meter", "document=MC-1", "ground=malfunction", "reason=sensor_fault")


async def test_a_correction_is_typed_in_dollars_shown_before_and_after_and_confirmed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with console(tmp_path, capsys) as (bench, at):
        book = bench.box.running_controller().table.state.money.book
        people = ("--as", "F1", "--second", "A1", *at.pin)
        for unclear in ("100", "12.50", "+12.5", "1,00.00"):
            code, output = await at.run(*CORRECTION, f"amount={unclear}", *people)
            assert (code, "write dollars and cents with its sign" in output) == (cli.USAGE, True), output
        code, output = await at.run(*CORRECTION, "amount=+12.50", *people)
        assert (code, "confirm with --yes" in output) == (cli.USAGE, True), "nobody can be asked without a terminal"
        assert book.meters.current == 10_000 * DOLLAR
        code, output = await at.run(*CORRECTION, "amount=+12.50", "--yes", *people)
        assert code == cli.OK
        assert re.search(r"meter before +\$10,000.00\nmeter after +\$10,012.50  \(\+\$12.50, document MC-1\)", output)
        assert bench.box.running_controller().table.state.money.book.meters.current == 10_012 * DOLLAR + 50 * CENT
        code, output = await at.run(*CORRECTION, "amount=-0.01", "--yes", *people)
        assert (code, "document MC-1 was used before" in output) == (cli.FAULT, True)
        reset = ("submit", "reset_meter", "document=MC-2", "ground=malfunction", "reason=sensor_fault", "--yes")
        code, output = await at.run(*reset, *people)
        assert "(-$12.50, document MC-2)" in output
        close = ("submit", "close_meter", "document=MC-3")
        assert (await at.run(*close, *people))[0] == cli.OK
        limit, by_technician = ("submit", "set_meter", "document=MC-3"), ("--as", "T1", "--second", "A1", *at.pin)
        for typed, why in (
            ("limit=1", "write dollars and cents"), ("limit=10000.001", "whole cents"),
            ("rate=much", "takes a percentage"), ("limit_cents=5", "set_meter has no 'limit_cents'"),
        ):  # fmt: skip
            code, output = await at.run(*limit, typed, *by_technician)
            assert (code, why in output) == (cli.USAGE, True), output
        assert (await at.run(*limit, "limit=20,000.00", *by_technician))[0] == cli.OK
        assert bench.box.running_controller().table.state.money.limit == 20_000 * DOLLAR


@pytest.mark.parametrize(("typed", "code", "meter"), [("yes", 0, 10_001), ("no", 1, 10_000)])
async def test_a_terminal_is_asked_before_money_moves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], typed: str, code: int, meter: int
) -> None:
    async with console(tmp_path, capsys) as (bench, at):
        words = (*CORRECTION, "amount=+1.00", "--as", "F1", "--second", "A1", *at.pin)
        master, slave = os.openpty()
        try:
            os.write(master, f"{typed}\n".encode())
            done = await asyncio.to_thread(
                subprocess.run, [*PITBOX, *words, "--socket", str(tmp_path / "control.sock")], stdin=slave,
                capture_output=True, text=True, timeout=LIMIT, check=False,
            )  # fmt: skip
        finally:
            os.close(master)
            os.close(slave)
        assert done.returncode == code, done.stdout + done.stderr
        assert "Change the meter? Type yes:" in done.stdout
        assert bench.box.running_controller().table.state.money.book.meters.current == meter * DOLLAR


async def test_refused_and_mistaken_commands_have_their_own_exit_codes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with console(tmp_path, capsys) as (_, at):
        (tmp_path / "wrong").write_text("D1 000000")
        code, output = await at.run("submit", "open_round", "--as", "D1", "--pin-file", str(tmp_path / "wrong"))
        assert (code, "others can read these PINs" in output) == (cli.USAGE, True)
        (tmp_path / "wrong").chmod(0o600)
        code, output = await at.run("submit", "open_round", "--as", "D2", "--pin-file", str(tmp_path / "wrong"))
        assert (code, "no line begins with D2" in output) == (cli.USAGE, True)
        code, output = await at.run("submit", "open_round", "--as", "D1", "--pin-file", str(tmp_path / "wrong"))
        assert (code, "PB-320" in output) == (cli.TRUST, True)
        code, output = await at.run("submit", "correct_meter", "amount=ten", "document=memo", "--as", "F1", *at.pin)
        assert (code, "write dollars and cents with its sign, as +12.50 or -0.01" in output) == (cli.USAGE, True)
        code, output = await at.run("submit", "deck", "blue", "--as", "F1", *at.pin)
        assert (code, "not KEY=VALUE" in output) == (cli.USAGE, True)
        code, output = await at.run("submit", "deck", "color=blue", "--as", "F1", *at.pin)
        assert (code, "deck has no 'color'" in output) == (cli.USAGE, True)
        code, output = await at.run("answer", "1", "done", "--seats", "1,x", "--as", "D1", *at.pin)
        assert (code, "seats are numbers" in output) == (cli.USAGE, True)
        code, output = await at.run("enroll", "shoe.1", "--key", str(tmp_path / "x"), "--as", "T1", *at.pin)
        assert (code, "--second" in output) == (cli.REFUSED, True)
    code, output = await at.run("status")
    assert (code, "PB-811 no box answers" in output, "what to do: Start the box" in output) == (cli.NO_BOX, True, True)


async def test_frames_of_a_running_box_are_traced_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with console(tmp_path, capsys) as (_, at):
        file = tmp_path / "trace.pcapng"
        code, output = await at.run("trace", "--slot", "shoe.1", "--slot", "rng.1")
        assert (code, "there is no slot rng.1" in output) == (cli.USAGE, True)
        code, output = await at.run("trace", "--slot", "all", "--seconds", "2.5", "--out", str(file))
        assert code == cli.OK, output
        packets = list(read_capture(file))
        assert len(packets) == len([line for line in output.splitlines() if "->" in line or "<-" in line]) > 10
        assert {packet.outgoing for packet in packets} == {True, False}
        code, output = await at.run("trace")
        assert (code, "--port" in output) == (cli.USAGE, True)
