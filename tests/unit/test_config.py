"""table.toml: read whole or refused with the place and what was probably meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from firmware_bridge.errors import BadApprovedList, BadConfiguration, BadKeyFile, ConfigurationError, SerialTwice
from firmware_bridge.keys import new_key, save_approved, save_key
from simulators.machine import approved
from table_controller.config import load_config

if TYPE_CHECKING:
    from pathlib import Path

GOOD: Final = """
[table]
name = "table 7"
game = "saigon_5_card"
approved = "approved.toml"

[device.shuffler.1]
port = "/dev/ttyUSB0"
key = "one.key"

[device.shuffler.2]
port = "/dev/ttyUSB1"
key = "two.key"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_approved(tmp_path / "approved.toml", frozenset([approved("shuffler")]))
    save_key(tmp_path / "one.key", new_key("A-1", "shuffler"))
    save_key(tmp_path / "two.key", new_key("A-2", "shuffler"))
    save_key(tmp_path / "twin.key", new_key("A-1", "shuffler"))
    save_key(tmp_path / "other.key", new_key("B-1", "abacus"))
    return tmp_path


def _write(folder: Path, text: str) -> Path:
    path = folder / "table.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_good_file_gives_slots_with_their_keys(folder: Path) -> None:
    config = load_config(_write(folder, GOOD))
    assert (config.name, config.game) == ("table 7", "saigon_5_card")
    assert [(slot.name, slot.kind, slot.port, slot.key.serial) for slot in config.slots] == [
        ("shuffler.1", "shuffler", "/dev/ttyUSB0", "A-1"),
        ("shuffler.2", "shuffler", "/dev/ttyUSB1", "A-2"),
    ]
    assert config.approved == frozenset([approved("shuffler")])


@pytest.mark.parametrize(
    ("old", "new", "error", "said"),
    [
        ("name =", "nmae =", BadConfiguration, "unknown key table.nmae; did you mean table.name?"),
        ("[table]", "[tabel]", BadConfiguration, "unknown key tabel; did you mean table?"),
        ("shuffler.2]", "shufler.2]", BadConfiguration, "unknown key device.shufler; did you mean device.shuffler?"),
        ('port = "/dev/ttyUSB1"', 'prt = "x"', BadConfiguration, "device.shuffler.2.prt; did you mean"),
        (
            'port = "/dev/ttyUSB1"',
            "port = 7",
            BadConfiguration,
            "device.shuffler.2.port = 7: it takes a text in quotes",
        ),
        ('port = "/dev/ttyUSB1"', "", BadConfiguration, "device.shuffler.2.port is missing: /dev/"),
        ("shuffler.2]", "shuffler.x]", BadConfiguration, "slots are numbered 1 to 99"),
        ("shuffler.2]", "shuffler.02]", BadConfiguration, "slots are numbered 1 to 99"),
        ("[device.shuffler.1]", "[device.shuffler]", BadConfiguration, "device.shuffler.port"),
        (
            '"saigon_5_card"',
            '"go_fish"',
            BadConfiguration,
            'table.game = "go_fish": it takes asia_poker or saigon_5_card or',
        ),
        ("/dev/ttyUSB1", "/dev/ttyUSB0", BadConfiguration, "shuffler.1 and shuffler.2 are at the same port"),
        ("two.key", "one.key", SerialTwice, "shuffler.1 and shuffler.2 both name serial number A-1"),
        ("two.key", "twin.key", SerialTwice, "shuffler.1 and shuffler.2 both name serial number A-1"),
        ("two.key", "other.key", BadConfiguration, "device.shuffler.2.key is the key of a abacus"),
        ("two.key", "none.key", BadKeyFile, "none.key"),
        ("approved.toml", "none.toml", BadApprovedList, "none.toml"),
        ("[table]", "[table", BadConfiguration, "not TOML"),
        (GOOD, "", BadConfiguration, "[table] is missing; [device] is missing, as in [device.shuffler.1]"),
        (GOOD, "device = 7\n", BadConfiguration, "device = 7: devices are sections, as in [device.shuffler.1]"),
        (GOOD, "[device]\nshuffler = 7\n", BadConfiguration, "device.shuffler needs a number, as in"),
        (
            GOOD,
            "[device.shuffler]\n1 = 7\n",
            BadConfiguration,
            "device.shuffler.1 = 7: it is a section, [device.shuffler.1]",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place(
    folder: Path, old: str, new: str, error: type[ConfigurationError], said: str
) -> None:
    assert old in GOOD
    with pytest.raises(error) as raised:
        load_config(_write(folder, GOOD.replace(old, new)))
    assert said in str(raised.value)


def test_a_file_that_is_not_there_or_not_text_is_refused(folder: Path) -> None:
    with pytest.raises(BadConfiguration, match="No such file"):
        load_config(folder / "nothing.toml")
    (folder / "noise.toml").write_bytes(bytes(range(128, 256)))
    with pytest.raises(BadConfiguration, match="not TOML"):
        load_config(folder / "noise.toml")
