"""Bet sensor, keypad and sign by commands at the bench: real processes, real ptys."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.support.box.processes import background, pitbox, simulator

if TYPE_CHECKING:
    from pathlib import Path


def inject(folder: Path, name: str, *faults: str) -> None:
    for fault in faults:
        pitbox("sim", "inject", name, fault, "--folder", str(folder))


def test_bets_are_watched_live_and_latched_with_what_lies_there(tmp_path: Path) -> None:
    with simulator(tmp_path, model="bet-sensor", name="bet_sensor.3") as port:
        device = ("device", "bet_sensor", "--port", str(port))
        assert "none yet" in pitbox(*device, "status")
        pitbox(*device, "open", "--round", "7")
        with background(*device, "watch", "--seconds", "20") as watch:
            assert watch.stdout is not None
            shown = ""
            for line in watch.stdout:
                shown += line
                if "last fault" in line:
                    inject(tmp_path, "bet_sensor.3", "place_bet", "take_bet", "edge_bet", "straighten")
                if re.search(r"4 ● placed", line):
                    break
        assert re.search(r"1 ● placed +chip +level +700", shown), shown
        assert re.search(r"2 ○ withdrawn", shown), shown
        assert re.search(r"3 ◐ unclear", shown), shown
        assert "PB-487" in shown
        pitbox(*device, "light", "--to", "acknowledged")
        assert "PB-485 no such bet" in pitbox(*device, "light", "--to", "accepted", expect=1)
        assert "● locked: bet 4 in round 7" in pitbox(*device, "lock", "--round", "7")
        pitbox(*device, "light", "--to", "accepted")
        inject(tmp_path, "bet_sensor.3", "place_bet")
        status = pitbox(*device, "status")
        assert "PB-486" in status
        assert "accepted" in status
        assert "PB-482 another lock is active" in pitbox(*device, "lock", "--round", "7", expect=1)
        assert "PB-481 wrong round" in pitbox(*device, "lock", "--round", "8", expect=1)
        assert "PB-481 wrong round" in pitbox(*device, "open", "--round", "7", expect=1)
        assert "PB-484 spot occupied" in pitbox(*device, "open", "--round", "8", expect=1)
        truth = pitbox("sim", "world", "bet_sensor.3", "--folder", str(tmp_path))
        assert "at the latch of round 7: 1 chip on the spot" in truth
        assert re.search(r"2  bet_sensor\.3/spot", truth), truth
        inject(tmp_path, "bet_sensor.3", "collect")
        assert "PB-489" in pitbox(*device, "status")
        pitbox(*device, "unlock")
        assert "coil and lamps passed" in pitbox(*device, "selftest")
        assert "margin" in pitbox(*device, "health")
        pitbox(*device, "reset")


def test_presses_are_watched_live_and_old_ones_are_marked(tmp_path: Path) -> None:
    with simulator(tmp_path, model="keypad", name="keypad.1") as port:
        device = ("device", "keypad", "--port", str(port))
        inject(tmp_path, "keypad.1", "press:key=start_game")
        pitbox(*device, "show", "--ask", "seats", "--line", "Seats in the round?")
        with background(*device, "watch", "--seconds", "20") as watch:
            assert watch.stdout is not None
            shown = ""
            for line in watch.stdout:
                shown += line
                if "start game" in line:
                    inject(tmp_path, "keypad.1", "press:key=seat_2", "press:key=seat_5", "press:key=confirm")
                if "seats in the round" in line:
                    break
        assert re.search(r"1 start game \(key switch on dealer\), [0-9.]+ s ago", shown), shown
        assert "2 seats in the round: 2, 5" in shown
        pitbox(*device, "lamps", "--on", "attention")
        assert re.search(r"lamps +attention", pitbox(*device, "status"))
        assert "keys, lamps and display passed" in pitbox(*device, "selftest")
        inject(tmp_path, "keypad.1", "turn:to=off")
        assert "PB-491" in pitbox(*device, "show", "--ask", "chip-count", expect=1)
        assert "PB-610" in pitbox(*device, "show", "--line", "x" * 21, expect=2)
        assert "--on belongs to" in pitbox(*device, "status", "--on", "attention", expect=2)


def test_a_sign_is_drawn_as_it_reads_and_compared_with_what_was_sent(tmp_path: Path) -> None:
    with simulator(tmp_path, model="meter-sign", name="meter_sign.1") as port:
        device = ("device", "meter_sign", "--port", str(port))
        assert re.search(r"│ value +- │", pitbox(*device, "shown"))
        assert "123,456.78" in pitbox(*device, "show", "--value", "123456.78", "--pending", "12.00")
        assert re.search(r"state +showing", pitbox(*device, "status"))
        assert "every digit passed" in pitbox(*device, "selftest")
        pitbox(*device, "limit", "--ms", "100")
        assert " stale " in pitbox(*device, "shown")
        assert "PB-497" in pitbox(*device, "limit", "--ms", "0", expect=1)
        assert "PB-495" in pitbox(*device, "show", "--value", "100000000.00", expect=1)
        inject(tmp_path, "meter_sign.1", "dead_digit:row=value,digit=0")
        output = pitbox(*device, "show", "--value", "5.55", expect=1)
        assert "PB-498" in output
        assert "value 0" in output
        for wrong in ("12.3", "-1", "1e3", "12,50"):
            assert "PB-856" in pitbox(*device, "show", f"--value={wrong}", expect=2)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("bet_sensor", "--port", "x", "open"), "--round N belongs to"),
        (("bet_sensor", "--port", "x", "lock", "--round", "0"), "from 1 to"),
        (("bet_sensor", "--port", "x", "light"), "belongs to the action light"),
        (("bet_sensor", "--port", "x", "status", "--seconds", "3"), "--seconds belongs to the action watch"),
        (("keypad", "--port", "x", "status", "--line", "a"), "belong to the action show"),
        (("meter_sign", "--port", "x", "show"), "--value DOLLARS belongs to"),
        (("meter_sign", "--port", "x", "blank", "--won", "1.00"), "belong to the action show"),
        (("meter_sign", "--port", "x", "limit"), "--ms N belongs to"),
    ],
)
def test_impossible_arguments_are_refused_before_a_port_is_opened(words: tuple[str, ...], sentence: str) -> None:
    assert sentence in pitbox("device", *words, expect=2)


def test_a_fault_of_another_kind_names_the_kinds_that_have_it(tmp_path: Path) -> None:
    with simulator(tmp_path, model="keypad", name="keypad.1"):
        output = pitbox("sim", "inject", "keypad.1", "place_bet", "--folder", str(tmp_path), expect=2)
        assert "it happens to: bet_sensor" in output
