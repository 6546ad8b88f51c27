"""Shaker, generator and button by commands at the bench: simulators in their own processes, real ptys."""

from __future__ import annotations

import json
import re
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from table_controller.cli import main
from tests.support.box.processes import background, pitbox, simulator

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Typed = Callable[..., str]


@pytest.fixture
def typed(capsys: pytest.CaptureFixture[str]) -> Typed:
    """Run `pitbox` in this process; return its output of both streams. Faster than another process."""

    def run(*arguments: Any, expect: int = 0) -> str:
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as wrong_words:
            code = int(wrong_words.code or 0)
        printed = "".join(capsys.readouterr())
        assert code == expect, f"pitbox {arguments} gave {code}, not {expect}:\n{printed}"
        return printed

    return run


def test_a_roll_by_hand_is_shown_as_the_dice_lie(tmp_path: Path, typed: Typed) -> None:
    folder = ("--folder", tmp_path)
    with simulator(tmp_path, "--speed", "4", name="shaker.1", model="shaker") as port:
        device = ("device", "shaker", "--port", port)
        assert re.search(r"last roll +none", typed(*device, "status"))
        assert "no roll" in typed(*device, "rolled", expect=1)
        with background("device", "shaker", "--port", str(port), "roll") as roll:
            assert roll.stdout is not None
            assert "shake it at least 3 times" in roll.stdout.readline()
            typed("sim", "inject", "shaker.1", "shake:times=4", *folder)
            for line in roll.stdout:
                if line.startswith("shaken 4 times"):
                    break
            time.sleep(0.5)
            typed("sim", "inject", "shaker.1", "lid", *folder)
            output = roll.stdout.read()
            assert roll.wait(10) == 0
        truth = typed("sim", "world", "shaker.1", *folder)
        values = re.findall(r"die \d: (\d) up, flat", truth)
        assert f"{' + '.join(values)} = {sum(map(int, values))}: position number" in output
        assert output.count("●") == 1
        assert f"{' + '.join(values)} =" in typed(*device, "rolled")
        assert f"{' + '.join(values)} =" in typed(*device, "status")
        assert "clearness 220" in typed(*device, "sensors")
        assert "PB-466 lid off" in typed(*device, "arm", expect=1)


def test_an_invalid_roll_gives_the_reason_and_a_false_report_is_not_accepted(tmp_path: Path, typed: Typed) -> None:
    folder = ("--folder", tmp_path)
    with simulator(tmp_path, "--speed", "8", name="shaker.1", model="shaker") as port:
        device = ("device", "shaker", "--port", port)
        assert "covered" in typed(*device, "sensors")
        assert "nobody uncovered the dice within 0.3 s; disarmed" in typed(*device, "roll", "--seconds", 0.3, expect=1)
        assert "PB-434: stopped" in typed(*device, "rolled", expect=1)
        typed(*device, "arm")
        assert re.search(r"state +armed", typed(*device, "status"))
        typed("sim", "inject", "shaker.1", "lid", *folder)
        assert "PB-460: too few shakes" in typed(*device, "rolled", expect=1)
        typed("sim", "inject", "shaker.1", "lid:to=on", *folder)
        assert "every sensor passed" in typed(*device, "selftest")
        with background("device", "shaker", "--port", str(port), "roll") as roll:
            assert roll.stdout is not None
            roll.stdout.readline()
            typed("sim", "inject", "shaker.1", "lie:how=seven", *folder)
            assert "PB-211 bad message" in roll.stdout.read()
            assert roll.wait(10) == 1
        typed(*device, "disarm")
        typed(*device, "reset")


def test_ctrl_c_disarms(tmp_path: Path, typed: Typed) -> None:
    with simulator(tmp_path, name="shaker.1", model="shaker") as port:
        with background("device", "shaker", "--port", str(port), "roll") as roll:
            assert roll.stdout is not None
            roll.stdout.readline()
            roll.send_signal(signal.SIGINT)
            assert "Disarmed" in roll.communicate(timeout=10)[0]
        assert roll.returncode == 130
        assert "PB-434 stopped" in typed("device", "shaker", "--port", port, "status")


def test_a_number_is_drawn_shown_remembered_and_cleared(tmp_path: Path, typed: Typed) -> None:
    folder = ("--folder", tmp_path)
    with simulator(tmp_path, "--speed", "4", "--live-entropy", name="rng.1", model="rng") as port:
        device = ("device", "rng", "--port", port)
        assert "nothing has been drawn" in typed(*device, "drawn", expect=1)
        match = re.search(r"position number (\d), (.*)\n", typed(*device, "draw"))
        assert match
        assert f"the display shows {match[1]} " in typed("sim", "world", "rng.1", *folder)
        assert "PB-472 number shown" in typed(*device, "draw", expect=1)
        assert f"position number {match[1]}, {match[2]}" in typed(*device, "drawn")
        assert f"position number {match[1]}, {match[2]}" in typed(*device, "status")
        assert "no number" in typed(*device, "drawn", "--command", 3, expect=1)
        assert re.search(r"equal samples in a row +\d +11", typed(*device, "health"))
        typed(*device, "clear")
        assert "the display is blank" in typed("sim", "world", "rng.1", *folder)
        assert "noise and display passed" in typed(*device, "selftest")
        typed("sim", "inject", "rng.1", "noise_stuck", *folder)
        assert "PB-468" in typed(*device, "draw", expect=1)
        assert "PB-471 generator not healthy" in typed(*device, "draw", expect=1)
        assert re.search(r"failed +PB-468 noise stuck", typed(*device, "status"))
        typed(*device, "reset")


def test_the_button_is_found_and_followed(tmp_path: Path, typed: Typed) -> None:
    folder = ("--folder", tmp_path)
    with simulator(tmp_path, "--speed", "10", name="button.1", model="button") as port:
        device = ("device", "button", "--port", port)
        assert "position number 1, the dealer" in typed(*device, "where")
        typed("sim", "inject", "button.1", "put_button:at=7", *folder)
        time.sleep(0.2)
        assert "position number 7, seat 1" in typed(*device, "where")
        assert re.search(r"seat 1 +button +9\d\d +3\d\d", typed(*device, "sensors"))
        typed("sim", "inject", "button.1", "slide_button:toward=6,percent=50", *folder)
        time.sleep(0.2)
        assert "PB-477: between places" in typed(*device, "where", expect=1)
        assert "a button at place 7, 50% of the way to 6" in typed("sim", "world", "button.1", *folder)
        assert "every sensor passed" in typed(*device, "selftest")
        typed(*device, "reset")


def test_impossible_arguments_are_refused_before_a_port_is_opened(tmp_path: Path, typed: Typed) -> None:
    nowhere = ("--port", tmp_path / "gone")
    assert "belongs to the action rolled" in typed("device", "shaker", *nowhere, "status", "--command", 5, expect=2)
    assert "--seconds" in typed("device", "shaker", *nowhere, "roll", "--seconds", 0, expect=2)
    assert "from 1 up" in typed("device", "rng", *nowhere, "drawn", "--command", 0, expect=2)
    assert "it happens to" in typed("sim", "up", "rng", "--fault", "lean", "--folder", tmp_path, expect=2)


# --- the report ------------------------------------------------------------------------------------------------------


def test_a_report_of_live_entropy_has_every_test_with_its_limits(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rng", "report", "--draws", "50000"]) in (0, 1)  # of fair runs one in a hundred fails
    output = capsys.readouterr().out
    for test in ("frequency", "pairs", "runs", "gaps", "correlation"):
        assert re.search(rf"^{test} +-?[\d.]+ +[\d.]+ +[\d.]+ +[\d.< ]+ +\w+ +\w+", output, re.MULTILINE), output
    assert "12.59       16.81" in output
    assert "a laboratory requires 1000000 draws or more" in output
    assert re.search(r"health: \d+ samples tested", output)


def test_a_report_from_a_seed_can_be_repeated_and_read_by_programs(typed: Typed) -> None:
    arguments = ("rng", "report", "--source", "seed", "--seed", "7", "--draws", "100000", "--json")
    first = pitbox(*arguments)
    assert first == typed(*arguments)
    report = json.loads(first)
    assert (report["source"], report["seed"], report["draws"]) == ("seed", 7, 100000)
    assert report["passes_95"]
    assert report["passes_99"]
    assert report["health"]["failure"] is None
    assert [test["test"] for test in report["tests"]] == ["frequency", "pairs", "runs", "gaps", "correlation"]
    for test in report["tests"]:
        assert 0 <= test["p"] <= 1
        assert test["passes_95"]
        assert test["limit_95"] < test["limit_99"]


def test_a_biased_source_fails_and_dice_pass_as_dice(typed: Typed) -> None:
    output = typed("rng", "report", "--source", "biased", "--seed", 7, expect=1)
    assert re.search(r"^frequency .*< 0.0001 +FAIL +FAIL", output, re.MULTILINE)
    assert "all tests together at 99%: fail" in output
    dice = typed("rng", "report", "--source", "dice", "--seed", 7, "--draws", 100_000)
    assert "all tests together at 99%: pass" in dice


def test_noise_that_fails_in_the_middle_of_a_report_is_reported(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("table_controller.cli.commands.rng.Random", lambda _: _Stuck())
    output = typed("rng", "report", "--source", "seed", "--seed", 1, "--draws", 10_000, expect=1)
    assert "the noise failed: the same sample too often in a row" in output
    report = json.loads(typed("rng", "report", "--source", "seed", "--seed", 1, "--draws", 10_000, "--json", expect=1))
    assert report["health"]["failure"] == "stuck"
    assert not report["passes_99"]


class _Stuck:
    def randbytes(self, count: int) -> bytes:
        return bytes(count)


def test_impossible_report_arguments_are_refused(typed: Typed) -> None:
    assert "PB-856" in typed("rng", "report", "--draws", 100, expect=2)
    assert "cannot be repeated: use --source seed" in typed("rng", "report", "--seed", 7, expect=2)
    assert "needs --seed" in typed("rng", "report", "--source", "seed", expect=2)
    assert "invalid choice" in typed("rng", "report", "--source", "nature", expect=2)
