"""The words of mishaps, and `pitbox sim soak`: its result, and what it refuses."""

from __future__ import annotations

import pytest

from firmware_bridge.errors import ConfigurationError
from simulators.casino.fault_schedule import draw_schedule, parse_mishap
from table_controller.cli import main
from table_controller.rulebook import GAMES


def test_a_mishap_is_read_as_it_is_printed() -> None:
    for mishap in draw_schedule("face_up_pai_gow", 1, 60, "storm"):
        assert parse_mishap(str(mishap)) == mishap
    for text in ("17 shuffler.1 jam", "x@1 shoe.1 jam", "1@1 shoe.1 fly", "1@1 shoes.1 jam", "1@1 house jam", ""):
        with pytest.raises(ConfigurationError):
            parse_mishap(text)


def test_the_command_prints_the_result_of_a_soak(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sim", "soak", "--game", "over_under", "--rounds", "12", "--seed", "2", "--faults", "some"]) == 0
    shown = capsys.readouterr().out
    assert "over_under: clean" in shown
    assert "12 rounds" in shown
    assert "hands from a bad deck after the first check able to see it: 0" in shown
    assert "rounds/s of processor time" in shown


@pytest.mark.parametrize("game", GAMES)
def test_a_shuffler_that_fills_the_shoe_stands_a_storm(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sim", "soak", "--with", "shuffler-inserting", "--game", game, "--rounds", "20", "--seed", "3"]
    assert main([*words, "--faults", "storm"]) == 0
    shown = capsys.readouterr().out
    assert "hands from a bad deck after the first check able to see it: 0" in shown


def test_the_command_refuses_what_it_cannot_play(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sim", "soak", "--rounds", "0"]) != 0
    assert main(["sim", "soak", "--mishap", "1@1 shoe.1 jam"]) != 0
    assert "--mishap goes with one --game" in capsys.readouterr().err
