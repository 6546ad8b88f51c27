"""A whole simulated table as real processes on real ptys, and the output of `pitbox devices`, good and bad."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from simulators.casino.table_layout import START_DEVICES, table_slots
from table_controller.config import load_config
from table_controller.rulebook import GAMES
from tests.support.box.processes import background, pitbox, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def table(folder: Path, game: str, *options: str) -> Iterator[Path]:
    """Run `pitbox sim up table` and yield its table.toml once it is there."""
    with background(
        "sim", "up", "table", "--game", game, "--speed", "40", "--folder", str(folder), *options
    ) as process:
        wait_for(folder / "table.toml", process)
        yield folder / "table.toml"


def states(printed: str) -> dict[str, str]:
    """Return the state of each slot, in words."""
    return dict(re.findall(r"^([a-z_]+\.\d) +([a-z]+(?: [a-z]+)*)", printed, re.MULTILINE))


@pytest.mark.parametrize("game", list(GAMES))
def test_every_device_of_every_games_table_comes_into_service(tmp_path: Path, game: str) -> None:
    with table(tmp_path, game) as config:
        assert load_config(config).game == game
        listed = states(pitbox("devices", "--config", str(config)))
    assert listed == dict.fromkeys(table_slots(game), "in service")


@pytest.mark.parametrize("start", list(START_DEVICES))
def test_the_device_for_the_starting_position_can_be_chosen(tmp_path: Path, start: str) -> None:
    with table(tmp_path, "asia_poker", "--start", start) as config:
        listed = states(pitbox("devices", "--config", str(config)))
    assert set(START_DEVICES[start]) <= set(listed)
    assert set(listed.values()) == {"in service"}


def test_the_button_is_not_for_every_game(tmp_path: Path) -> None:
    output = pitbox("sim", "up", "table", "--start", "button", "--folder", str(tmp_path), expect=2)
    assert "--start button is not for face_up_pai_gow: it takes dice or rng" in output


def test_five_sensors_of_six_are_named_and_nothing_is_assumed(tmp_path: Path) -> None:
    with table(tmp_path, "dj_wild") as config:
        pitbox("sim", "inject", "bet_sensor.4", "unplug:seconds=0", "--folder", str(tmp_path))
        printed = pitbox("devices", "--config", str(config), expect=3)
    listed = states(printed)
    assert listed.pop("bet_sensor.4") == "absent"
    assert set(listed.values()) == {"in service"}
    assert "PB-111" in printed
    assert "5 of 6 bet sensor devices are in service; not bet_sensor.4" in printed


def test_a_mute_device_is_silent_and_absent(tmp_path: Path) -> None:
    with table(tmp_path, "saigon_5_card") as config:
        pitbox("sim", "inject", "keypad.1", "hang:seconds=0", "--folder", str(tmp_path))
        printed = pitbox("devices", "--config", str(config), "--seconds", "20", expect=3)
    assert states(printed)["keypad.1"] == "absent"
    assert "PB-114" in printed


def test_another_device_at_a_configured_port_never_serves(tmp_path: Path) -> None:
    with table(tmp_path, "dj_wild") as config:
        two, three = (f'"{tmp_path / f"bet_sensor.{seat}"}"' for seat in (2, 3))
        text = config.read_text("utf-8").replace(two, "TWO").replace(three, two).replace("TWO", three)
        (tmp_path / "swapped.toml").write_text(text, "utf-8")
        printed = pitbox("devices", "--config", str(tmp_path / "swapped.toml"), expect=4)
    listed = states(printed)
    assert listed.pop("bet_sensor.2") == listed.pop("bet_sensor.3") == "absent"
    assert set(listed.values()) == {"in service"}
    assert printed.count("PB-312") == 2


def test_another_kind_at_a_configured_port_never_serves(tmp_path: Path) -> None:
    with table(tmp_path, "saigon_5_card") as config:
        keypad, shoe = (f'"{tmp_path / slot}"' for slot in ("keypad.1", "shoe.1"))
        text = config.read_text("utf-8").replace(keypad, "KEYPAD").replace(shoe, keypad).replace("KEYPAD", shoe)
        (tmp_path / "swapped.toml").write_text(text, "utf-8")
        printed = pitbox("devices", "--config", str(tmp_path / "swapped.toml"), expect=4)
    assert printed.count("PB-314") == 2
    assert states(printed)["shuffler.1"] == "in service"


def test_two_slots_with_one_serial_number_are_refused_before_a_port_is_opened(tmp_path: Path) -> None:
    with table(tmp_path, "dj_wild") as config:
        text = config.read_text("utf-8").replace('"bet_sensor.5.key"', '"bet_sensor.6.key"')
        (tmp_path / "twice.toml").write_text(text, "utf-8")
        output = pitbox("devices", "--config", str(tmp_path / "twice.toml"), expect=2)
    assert "PB-618" in output
    assert "bet_sensor.5 and bet_sensor.6 both name serial number" in output


def test_a_halted_machine_is_listed_with_its_state(tmp_path: Path) -> None:
    with table(tmp_path, "saigon_5_card") as config:
        folder = ("--folder", str(tmp_path))
        pitbox("sim", "inject", "shuffler.1", "jam:segment=lift,card=3", *folder)
        pitbox("device", "shuffler", "--port", str(tmp_path / "shuffler.1"), "shuffle", expect=1)
        printed = pitbox("devices", "--config", str(config), expect=1)
    assert states(printed)["shuffler.1"] == "faulted"
    assert "PB-414" in printed


def test_a_table_over_usb(tmp_path: Path) -> None:
    with table(tmp_path, "face_up_pai_gow", "--usb", "0") as config:
        assert config.read_text("utf-8").count("usbip://127.0.0.1:") == len(table_slots("face_up_pai_gow"))
        listed = states(pitbox("devices", "--config", str(config), "--seconds", "20"))
    assert set(listed.values()) == {"in service"}
