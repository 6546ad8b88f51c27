"""Examples and schema of table.toml: both come from the types, name every key, and agree with what is accepted."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from devices.kinds import KINDS
from firmware_bridge.errors import BadSubmission
from simulators.casino.table_layout import START_DEVICES, table_slots, table_toml
from table_controller.config import examine, load_config
from table_controller.config.example import example, example_choices
from table_controller.config.schema import schema
from table_controller.config.sections import REQUIRED, RULE_KEYS, SECTION_NAMES, SECTIONS, DeviceSection
from table_controller.rulebook import GAMES, Submission, check_submission, edition
from tests.support.box.configs import certificate, uncomment_all, write_config
from tests.support.oracles.json_schema import schema_errors

if TYPE_CHECKING:
    from pathlib import Path

EVERY_GAME = pytest.mark.parametrize("game", GAMES)


@EVERY_GAME
def test_an_example_is_a_configuration(game: str, tmp_path: Path) -> None:
    config = load_config(write_config(tmp_path, example(game)))
    assert config.game == game
    assert (config.mqtt, config.journal.copy) == (None, None), "no broker and no copy unless they are asked for"
    assert config.panel.listen == "127.0.0.1"


@EVERY_GAME
@pytest.mark.realtime
def test_an_example_with_every_choice_made_is_a_configuration_too(game: str, tmp_path: Path) -> None:
    text = uncomment_all(example(game))
    file = write_config(tmp_path, text)
    for name in ("mqtt", "mqtt-ca", "panel"):
        certificate(tmp_path, name)
    (tmp_path / "mqtt.password").write_text("secret\n")
    (tmp_path / "mqtt.password").chmod(0o600)
    (tmp_path / "metrics.token").write_text("0123456789abcdef\n")
    (tmp_path / "metrics.token").chmod(0o600)
    examined = examine(file)
    assert not examined.problems
    assert examined.config is not None
    assert examined.config.mqtt is not None
    assert examined.config.mqtt.password == "secret"
    assert "secret" not in repr(examined.config)


@EVERY_GAME
def test_every_key_appears_in_every_example(game: str) -> None:
    text: dict[str, Any] = tomllib.loads(uncomment_all(example(game)))
    assert tuple(text) == SECTION_NAMES
    for name, section in SECTIONS.items():
        assert tuple(text[name]) == section.__struct_fields__, name
    for numbers in text["device"].values():
        for device in numbers.values():
            assert tuple(device) == DeviceSection.__struct_fields__
    nowhere = example(game).partition("# No choice in this game: ")[2].partition(".\n")[0].replace("\n# ", " ")
    assert {*text["rules"], *nowhere.replace(" ", "").split(",")} - {""} == set(RULE_KEYS)


@EVERY_GAME
def test_a_choice_that_a_game_does_not_have_is_refused_by_its_edition(game: str) -> None:
    rules = edition(game)
    chosen, further = example_choices(rules)
    check_submission(rules, chosen | further)
    odd = {"start": "rng", "approved_procedure": "x", "progressive_rate_bp": 1, "payout_limit_cents": 10**9,
           "mid_shoe_entry_ban": True, "start_marker": True, "wheel_lowest_straight_flush": True,
           "wheel_lowest_straight": True, "folded_progressive": True, "house_way": "x",
           "house_way_table": "x", "posted_on_sign": ["odds"]}  # fmt: skip
    for key in set(RULE_KEYS) - {*chosen, *further, "house_way_ranks"}:
        with pytest.raises(BadSubmission, match=key):
            check_submission(rules, chosen | {key: odd[key]})


def test_the_rules_have_every_key_of_a_submission_that_a_person_states() -> None:
    assert {*RULE_KEYS, "game", "edition", "warnings"} == set(Submission.__struct_fields__)


# --- the schema -------------------------------------------------------------------------------------------------------


@EVERY_GAME
def test_examples_and_simulated_tables_fit_the_schema(game: str) -> None:
    created = json.loads(json.dumps(schema()))
    starts = {"asia_poker": tuple(START_DEVICES), "face_up_pai_gow": ("dice", "rng")}.get(game, (None,))
    ports = {start: dict.fromkeys(table_slots(game, start), "/dev/null") for start in starts}
    for text in (example(game), uncomment_all(example(game)), *(table_toml(game, ports[s], s) for s in starts)):
        assert schema_errors(tomllib.loads(text), created) == []


def test_the_schema_names_and_explains_every_key() -> None:
    created = json.loads(json.dumps(schema()))
    assert tuple(created["properties"]) == SECTION_NAMES
    assert tuple(created["required"]) == REQUIRED
    assert tuple(created["properties"]["device"]["properties"]) == tuple(KINDS)
    assert set(created["properties"]["rules"]["properties"]) == set(RULE_KEYS)
    for section in SECTIONS.values():
        known = created["$defs"][section.__name__]
        assert set(known["properties"]) == set(section.__struct_fields__)
        assert known["additionalProperties"] is False
        assert all(key.get("description") for key in known["properties"].values()), section
    assert "null" not in json.dumps(created)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('name = "Table 7"', "name = 7"),
        ('name = "Table 7"', ""),
        ('game = "asia_poker"', 'game = "go_fish"'),
        ("[device.shuffler.1]", "[device.shufler.1]"),
        ("[device.shuffler.1]", "[device.shuffler.100]"),
        ('port = "/dev/ttyUSB0"', 'prt = "/dev/ttyUSB0"'),
        ("shuffler_counts = true", 'shuffler_counts = "yes"'),
        ("#[data]", "[dta]"),
        ("#ballast_mb = 16", "ballast_mb = -1"),
        ("#[panel]\n", "[panel]\nport = 70000\n"),
        ("#[site]\n", '[site]\nid = "Über"\n'),
    ],
)
def test_what_the_schema_refuses_is_refused_by_the_box_and_the_other_way_round(
    tmp_path: Path, old: str, new: str
) -> None:
    text = example("asia_poker").replace("#[journal]", "[journal]")
    assert old in text
    wrong = tomllib.loads(text.replace(old, new, 1))
    assert schema_errors(wrong, json.loads(json.dumps(schema())))
    file = write_config(tmp_path, text)
    assert examine(file).config is not None
    file.write_text(text.replace(old, new, 1), "utf-8")
    assert examine(file).problems


def test_defaults_match_the_types() -> None:
    for section in SECTIONS.values():
        for field in msgspec.structs.fields(section):
            if not field.required and field.default is not None:
                assert msgspec.convert(field.default, field.type) == field.default
