"""table.toml: read whole or refused with the location and a suggestion."""

from __future__ import annotations

import os
import stat
import tomllib
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.errors import (
    BadApprovedList,
    BadConfiguration,
    BadKeyFile,
    BadPort,
    BadSubmission,
    ConfigurationError,
    SerialClaimedTwice,
)
from firmware_bridge.keys import new_key, save_approved, save_key
from simulators.casino.table_layout import table_toml
from simulators.engine.machine import approved_firmware
from table_controller.config import _ConfigReader, examine, load_config, walk
from table_controller.config.example import example
from table_controller.config.sections import (
    DEVICE,
    FORMER_KEYS,
    RULE_KEYS,
    RULES,
    SECTION_NAMES,
    SECTIONS,
    DeviceSection,
)
from table_controller.config.walk import ParsedFile
from tests.support.box.configs import uncomment_all, write_config

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
    save_approved(tmp_path / "approved.toml", frozenset([approved_firmware("shuffler")]))
    save_key(tmp_path / "one.key", new_key("A-1", "shuffler"))
    save_key(tmp_path / "two.key", new_key("A-2", "shuffler"))
    save_key(tmp_path / "twin.key", new_key("A-1", "shuffler"))
    save_key(tmp_path / "other.key", new_key("B-1", "abacus"))
    return tmp_path


@pytest.fixture
def former_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys as if a version before had called them otherwise."""
    former = {
        "table.title": "table.name",
        "rules.decks": "rules.two_decks",
        "device.KIND.NUMBER.address": "device.KIND.NUMBER.port",
        "broker": "mqtt",
    }
    monkeypatch.setattr(walk, "FORMER_KEYS", former)


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
    assert config.approved == frozenset([approved_firmware("shuffler")])


@pytest.mark.parametrize(
    ("old", "new", "error", "message"),
    [
        ("name =", "nmae =", BadConfiguration, "unknown key table.nmae; did you mean table.name?"),
        ("[table]", "[tabel]", BadConfiguration, "unknown key tabel; did you mean table?"),
        ("shuffler.2]", "shufler.2]", BadConfiguration, "unknown key device.shufler; did you mean device.shuffler?"),
        ('port = "/dev/ttyUSB1"', 'prt = "x"', BadConfiguration, "device.shuffler.2.prt; did you mean"),
        (
            'port = "/dev/ttyUSB1"',
            "port = 7",
            BadConfiguration,
            "device.shuffler.2.port = 7: must be a text in quotes",
        ),
        ('port = "/dev/ttyUSB1"', "", BadConfiguration, "device.shuffler.2.port is missing: /dev/"),
        ("shuffler.2]", "shuffler.x]", BadConfiguration, "slots are numbered 1 to 99"),
        ("shuffler.2]", "shuffler.02]", BadConfiguration, "slots are numbered 1 to 99"),
        ("[device.shuffler.1]", "[device.shuffler]", BadConfiguration, "device.shuffler.port"),
        (
            '"saigon_5_card"',
            '"go_fish"',
            BadConfiguration,
            'table.game = "go_fish": must be asia_poker or saigon_5_card or',
        ),
        ('"saigon_5_card"', '"saigon_5_cards"', BadConfiguration, "; did you mean saigon_5_card?"),
        ("/dev/ttyUSB1", "/dev/ttyUSB0", BadConfiguration, "shuffler.1 and shuffler.2 are at the same port"),
        ("/dev/ttyUSB1", "telnet://x", BadPort, "device.shuffler.2.port: telnet://x: a port is a device path"),
        ("/dev/ttyUSB1", "usb:12:34", BadPort, "device.shuffler.2.port: usb:12:34: a USB port is"),
        ("two.key", "one.key", SerialClaimedTwice, "shuffler.1 and shuffler.2 both name serial number A-1"),
        ("two.key", "twin.key", SerialClaimedTwice, "shuffler.1 and shuffler.2 both name serial number A-1"),
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
            "device.shuffler.1 = 7: this is a section, [device.shuffler.1]",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place(
    folder: Path, old: str, new: str, error: type[ConfigurationError], message: str
) -> None:
    assert old in GOOD
    with pytest.raises(error) as raised:
        load_config(_write(folder, GOOD.replace(old, new)))
    assert message in str(raised.value)


def test_a_file_that_is_not_there_or_not_text_is_refused(folder: Path) -> None:
    with pytest.raises(BadConfiguration, match="is missing; name another with --config"):
        load_config(folder / "nothing.toml")
    (folder / "noise.toml").write_bytes(bytes(range(128, 256)))
    with pytest.raises(BadConfiguration, match="not TOML"):
        load_config(folder / "noise.toml")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("usb:1209:00ab:SN-1", "usb:1209:00AB:SN-1"), ("usbip://[::1]:3240/1209:00ab:S", "usbip://[::1]:3240/1209:00AB:S"),
        ("socket://localhost:4000", "socket://127.0.0.1:4000"), ("socket://far:4000", "rfc2217://FAR:4000?ign_set_control"),
        ("/dev/ttyUSB9", "/dev/../dev/ttyUSB9"),
    ],
)  # fmt: skip
def test_two_spellings_of_a_port_are_one_port(folder: Path, one: str, other: str) -> None:
    text = GOOD.replace("/dev/ttyUSB0", one).replace("/dev/ttyUSB1", other)
    with pytest.raises(BadConfiguration, match=r"shuffler.1 and shuffler.2 are at the same port, .*, which is "):
        load_config(_write(folder, text))
    apart = GOOD.replace("/dev/ttyUSB0", one).replace("/dev/ttyUSB1", other.replace("4000", "4001") + "7")
    load_config(_write(folder, apart))


def test_a_link_to_a_port_and_another_device_file_of_it_are_that_port(folder: Path) -> None:
    master, slave = os.openpty()
    try:
        name = os.ttyname(slave)
        (folder / "by-id").symlink_to(name)
        (folder / "again").symlink_to(folder / "by-id")
        names = ["by-id", str(folder / "again")]
        if os.geteuid() == 0:
            os.mknod(folder / "node", stat.S_IFCHR | 0o600, os.fstat(slave).st_rdev)
            names.append("node")
        for other in names:
            with pytest.raises(BadConfiguration, match="are at the same port"):
                load_config(_write(folder, GOOD.replace("/dev/ttyUSB0", name).replace("/dev/ttyUSB1", other)))
        with pytest.raises(BadConfiguration, match="are at the same port"):
            load_config(_write(folder, GOOD.replace("/dev/ttyUSB0", "by-id").replace("/dev/ttyUSB1", "again")))
    finally:
        os.close(master)
        os.close(slave)


def test_a_port_that_is_a_path_is_relative_to_the_file(folder: Path) -> None:
    config = load_config(
        _write(folder, GOOD.replace("/dev/ttyUSB1", "ports/two").replace("/dev/ttyUSB0", "socket://h:1"))
    )
    assert [slot.port for slot in config.slots] == ["socket://h:1", str(folder / "ports/two")]


# --- the whole file ---------------------------------------------------------------------------------------------------

PAI_GOW: Final = example("face_up_pai_gow")


def _refused(folder: Path, text: str) -> list[ConfigurationError]:
    file = write_config(folder, PAI_GOW)
    file.write_text(text, "utf-8")
    examined = examine(file)
    assert examined.config is None
    return list(examined.problems)


def test_a_file_with_table_and_devices_only_gets_defaults(folder: Path) -> None:
    config = load_config(_write(folder, GOOD))
    assert config.id == "table-7"
    assert config.kinds == {"shuffler.1": "shuffler", "shuffler.2": "shuffler"}
    assert config.mqtt is None
    assert (config.panel.enabled, config.panel.listen, config.panel.port) == (True, "127.0.0.1", 8080)
    assert str(config.journal.folder) == "/var/lib/pitbox/journal"
    assert str(config.control.socket) == "/var/lib/pitbox/control.sock"
    assert str(config.people) == "/var/lib/pitbox/people.json"
    assert config.submission.shuffler == "none"
    assert any("[rules] is missing" in warning for warning in config.warnings)
    assert any("device.shuffler.2 is not used" in warning for warning in config.warnings)


def test_every_key_reaches_the_configuration(tmp_path: Path) -> None:
    text = PAI_GOW.replace("#[site]\n", '[site]\nid = "river"\nname = "River"\n').replace(
        "#[journal]\n",
        '[journal]\ncopy = "copy"\nkeep_days = 9\nkeep_mb = 7\narchive = "old"\nsegment_mb = 2\nballast_mb = 0\n',
    )
    text = text.replace("#[data]\n", '[data]\nfolder = "d"\n').replace(
        '#file = "people.json"', 'file = "who.json"\nescalate_after_s = 45'
    )
    text = text.replace("#escalate_after_s", "#after")
    text = text.replace("#[people]", "[people]").replace("#[panel]\n", '[panel]\nlisten = "::1"\nport = 99\n')
    text = text.replace("#[control]\n", '[control]\nsocket = "c.sock"\ngroup = "users"\n')
    text = text.replace("#[mqtt]\n", '[mqtt]\nhost = "localhost"\nin_flight = 3\nmeters_every_s = 5\n')
    config = load_config(write_config(tmp_path, text))
    assert (config.site.id, config.site.name, config.data) == ("river", "River", tmp_path / "d")
    policy = config.journal.policy
    assert (config.journal.folder, config.journal.copy) == (tmp_path / "d/journal", tmp_path / "copy")
    assert (policy.keep_days, policy.keep_bytes, policy.archive) == (9, 7 << 20, tmp_path / "old")
    assert (policy.segment_bytes, policy.ballast_bytes) == (2 << 20, 0)
    assert (config.people, config.panel.listen, config.panel.port) == (tmp_path / "who.json", "::1", 99)
    assert config.escalate_after_s == 45
    assert (config.control.socket, config.control.group) == (tmp_path / "c.sock", "users")
    assert config.mqtt is not None
    assert (config.mqtt.host, config.mqtt.port, config.mqtt.tls) == ("localhost", 1883, False)
    assert (config.mqtt.prefix, config.mqtt.client_id) == ("pitbox/river/table-7", "pitbox-river-table-7")
    assert (config.mqtt.in_flight, config.mqtt.meters_every_s) == (3, 5.0)
    assert config.submission.paytables["progressive"] == "688a-progressive-1"


def test_every_problem_is_reported_at_once_with_its_path(tmp_path: Path) -> None:
    text = PAI_GOW.replace('dealing = "automated_shoe"', 'dealing = "by_drone"').replace("two_decks", "too_decks")
    text = text.replace("#[panel]\n", "[panel]\nport = 0\nlisen = 1\n").replace("[device.keypad.1]", "[device.kepad.1]")
    text = text.replace("#[mqtt]\n", '[mqtt]\nprefix = "a/#"\n')
    entries = [str(problem).removeprefix(f"{tmp_path / 'table.toml'}: ") for problem in _refused(tmp_path, text)]
    assert len(entries) == 7, entries
    for expected in (
        "unknown key rules.too_decks; did you mean rules.two_decks?",
        "unknown key panel.lisen; did you mean panel.listen?",
        "panel.port = 0: must be a whole number from 1 to 65535",
        'mqtt.prefix = "a/#": must be words separated by /, without + and #',
        "mqtt.host is missing: the name or address of the broker",
        "unknown key device.kepad; did you mean device.keypad?",
    ):
        assert expected in entries
    assert any(each.startswith('rules.dealing = "by_drone": must be manual_shoe or hand or') for each in entries), (
        entries
    )
    with pytest.raises(BadConfiguration, match="7 problems: "):
        load_config(tmp_path / "table.toml")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('dealing = "automated_shoe"', 'dealing = "hand"', "rules.dealing = hand needs an automated shuffler (688a"),
        ("adjacent_boxes = 1", "adjacent_boxes = 3", "rules.adjacent_boxes = 3 must be 1 to 2 (688a.7(f))"),
        ('"688a-progressive-1"', '"688a-main"', "rules.paytables: 688a-main is not a paytable of progressive"),
        ('shuffler = "deck"', 'shuffler = "none"', "rules.two_decks: two decks need a shuffler"),
        ("shuffler_counts = true", "reshuffles = true", "rules.shuffler_counts: a device approved to reshuffle also"),
        ("two_decks = true", "two_decks = 2", "rules.two_decks = 2: must be true or false"),
        ('wagers = ["progressive"]', "wagers = 1", "rules.wagers = 1: must be a list of texts"),
        (
            '{ progressive = "688a-progressive-1" }',
            "1",
            "rules.paytables = 1: must be a table of names, each with a text",
        ),
        ("[rules]", '[rules]\ngame = "dj_wild"', "rules.game belongs in [table]"),
        ("[rules]", "rules = 7\n[x]", "rules = 7: this is a section, [rules]"),
    ],
)
def test_a_choice_that_the_edition_does_not_permit_cites_clause_and_key(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    if old == 'dealing = "automated_shoe"':
        text = PAI_GOW.replace('shuffler = "deck"\n', "").replace("shuffler_counts = true\n", "")
        text = text.replace("two_decks = true\n", "").replace(old, new)
    elif new.startswith("rules = 7"):
        text = "rules = 7\n" + PAI_GOW.replace("[rules]", "[rule]")
    else:
        text = PAI_GOW.replace(old, new)
    assert text != PAI_GOW
    problems = _refused(tmp_path, text)
    assert any(message in str(problem) for problem in problems), problems


@pytest.mark.parametrize(
    ("slot", "message"),
    [
        ("bet_sensor.4", 'device.bet_sensor.4 missing: rules.wagers has "progressive", and every seat is sensed (688a'),
        ("shuffler.1", 'device.shuffler.1 is missing: rules.shuffler = "deck" (688a'),
        ("shoe.1", 'device.shoe.1 is missing: rules.dealing = "automated_shoe" (688a'),
        ("shaker.1", 'device.shaker.1 is missing: rules.start = "shaker" (688a'),
    ],
)
def test_a_device_that_the_rules_submission_needs_is_reported_missing(tmp_path: Path, slot: str, message: str) -> None:
    before, _, after = PAI_GOW.partition(f"[device.{slot}]")
    (problem,) = _refused(tmp_path, before + after.partition("\n\n")[2])
    assert isinstance(problem, BadConfiguration)
    assert message in str(problem)


def test_optional_devices_are_not_reported_missing(tmp_path: Path) -> None:
    assert load_config(write_config(tmp_path, _without("keypad.1"))).warnings == ()


def _without(slot: str) -> str:
    before, _, after = PAI_GOW.partition(f"[device.{slot}]")
    return before + after.partition("\n\n")[2]


def test_the_tables_own_screens_are_addresses(tmp_path: Path) -> None:
    text = PAI_GOW + '\n[panel]\nscreens = ["10.4.7.21", "2001:db8::5"]\n'
    assert load_config(write_config(tmp_path, text)).panel.screens == ("10.4.7.21", "2001:db8::5")


@pytest.mark.parametrize("screens", [["10.4.7.21", "dealer-screen"], ["10.4.7.21"] * 7, [""]])
def test_a_screen_that_is_no_address_or_one_too_many_is_refused(tmp_path: Path, screens: list[str]) -> None:
    (problem,) = _refused(tmp_path, PAI_GOW + f"\n[panel]\nscreens = {screens}\n")
    assert "panel.screens" in str(problem)


@pytest.mark.clauses("688a.2(d)")
def test_a_progressive_without_any_sign_is_refused(tmp_path: Path) -> None:
    (problem,) = _refused(tmp_path, _without("meter_sign.1") + "\n[panel]\nenabled = false\n")
    assert "device.meter_sign.1 is missing, and panel.enabled = false leaves no /sign page" in str(problem)
    assert "688a.2(d)" in str(problem)


def test_a_progressive_whose_only_sign_is_the_page_is_mentioned(tmp_path: Path) -> None:
    (text,) = load_config(write_config(tmp_path, _without("meter_sign.1"))).warnings
    assert "no round opens unless a display shows the panel's /sign page" in text
    with_device = PAI_GOW + "\n[panel]\nenabled = false\n"
    (tmp_path / "other").mkdir()
    assert load_config(write_config(tmp_path / "other", with_device)).warnings == ()


def test_a_sensor_without_a_seat_and_a_second_shuffler_are_reported(tmp_path: Path) -> None:
    more = '[device.KIND]\nport = "/dev/x"\nkey = "keys/more.key"\n\n[device.keypad.1]'
    for kind in ("bet_sensor.7", "shuffler.2"):
        folder = tmp_path / kind
        folder.mkdir()
        examined = examine(write_config(folder, PAI_GOW.replace("[device.keypad.1]", more.replace("KIND", kind))))
        if kind == "shuffler.2":
            assert examined.warnings == ("device.shuffler.2: a table uses one shuffler, device.shuffler.1",)
        else:
            assert [str(each).rpartition(": ")[2] for each in examined.problems] == [
                "its number is a seat, and there are 6"
            ]


def test_an_edition_of_another_day_is_refused(tmp_path: Path) -> None:
    text = PAI_GOW.replace('#edition = "rulemaking 125-223"', 'edition = "2019-01-01"')
    (problem,) = _refused(tmp_path, text)
    assert 'table.edition = "2019-01-01": this software has 688a of "rulemaking 125-223"' in str(problem)


@pytest.mark.parametrize(
    ("section", "lines", "message"),
    [
        ("panel", 'listen = "0.0.0.0"', "PINs would cross the network unencrypted"),
        ("panel", 'cert = "approved.toml"', "panel.cert and panel.key need each other"),
        ("panel", 'cert = "no.pem"\nkey = "keys/shoe.1.key"', "panel.cert: "),
        ("panel", 'cert = "approved.toml"\nkey = "open.key"', "panel.key: others can read or change"),
        ("mqtt", 'host = "b"\nusername = "u"', "mqtt.username and mqtt.password_file need each other"),
        ("mqtt", 'host = "b"\nusername = "u"\npassword_file = "secret"', "sends no password to b without TLS"),
        ("mqtt", 'host = "b"\nusername = "u"\npassword_file = "open.key"', "others can read or change"),
        ("mqtt", 'host = "localhost"\nusername = "u"\npassword_file = "empty"', "is not one line of text"),
        ("mqtt", 'host = "b"\ncert = "approved.toml"\nkey = "secret"', "mqtt.cert needs mqtt.ca"),
        ("mqtt", 'host = "b"\nca = "no.pem"', "mqtt.ca: "),
        ("journal", 'copy = "/var/lib/pitbox/journal"', "journal.copy is the journal's own folder"),
        ("control", f'socket = "{"x" * 120}"', "the path of a socket has at most 107"),
    ],
)
def test_what_would_be_open_to_others_or_cannot_work_is_refused(
    tmp_path: Path, section: str, lines: str, message: str
) -> None:
    for name, mode in (("open.key", 0o644), ("secret", 0o600), ("empty", 0o600)):
        (tmp_path / name).write_text("" if name == "empty" else "word\n")
        (tmp_path / name).chmod(mode)
    problems = _refused(tmp_path, PAI_GOW.replace(f"#[{section}]\n", f"[{section}]\n{lines}\n"))
    assert len(problems) == 1, problems
    assert message in str(problems[0])
    assert isinstance(problems[0], BadKeyFile if "others can" in message else BadConfiguration)


def test_the_systems_own_certificates_can_be_trusted(tmp_path: Path) -> None:
    text = PAI_GOW.replace("#[mqtt]\n", '[mqtt]\nhost = "b"\nca = "system"\n')
    config = load_config(write_config(tmp_path, text))
    assert config.mqtt is not None
    assert (config.mqtt.tls, config.mqtt.ca, config.mqtt.port) == (True, None, 8883)


def test_a_bad_submission_keeps_its_code(tmp_path: Path) -> None:
    (problem,) = _refused(tmp_path, PAI_GOW.replace("adjacent_boxes = 1", "adjacent_boxes = 9"))
    assert isinstance(problem, BadSubmission)


def test_a_file_of_before_without_rules_still_works(tmp_path: Path) -> None:
    text = table_toml("saigon_5_card", {"shuffler.1": "/dev/a", "shoe.1": "/dev/b", "keypad.1": "/dev/c"})
    before, _, after = text.partition("[rules]")
    old = before + "[device" + after.partition("[device")[2]
    assert load_config(write_config(tmp_path, old)).game == "saigon_5_card"


# --- anything at all --------------------------------------------------------------------------------------------------

_LEAF: Final = st.one_of(
    st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(), st.text(max_size=20), st.datetimes(),
    st.sampled_from(["hand", "shaker", "progressive", "127.0.0.1", "system", "approved.toml", 0, 1, -1]),
)  # fmt: skip
_VALUE: Final = st.recursive(
    _LEAF,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


def test_any_file_content_gives_clear_error_sentences(tmp_path: Path) -> None:
    file = write_config(tmp_path, PAI_GOW)
    whole = tomllib.loads(uncomment_all(PAI_GOW))
    places = [(name, key) for name, section in whole.items() if name != "device" for key in section]
    places += [("device", kind) for kind in whole["device"]]

    @settings(max_examples=100, deadline=None)
    @given(st.lists(st.tuples(st.sampled_from(places), _VALUE), min_size=1, max_size=3), st.booleans())
    def check(changes: list[tuple[tuple[str, str], object]], broken: bool) -> None:
        raw = {name: dict(section) for name, section in whole.items() if name not in ("mqtt", "panel", "people")}
        for (name, key), value in changes:
            raw.setdefault(name, {})[key] = value
        if broken:
            raw[changes[0][0][0]] = changes[0][1]  # type: ignore[assignment]
        examined = _ConfigReader(file, ParsedFile(raw)).examined()
        assert (examined.config is None) == bool(examined.problems)
        assert all(str(problem) for problem in examined.problems)

    check()


@pytest.mark.usefixtures("former_keys")
@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("name =", "title =", "table.title is now called table.name; rename it"),
        ("[device.shuffler.1]", "[rules]\ndecks = true\n[device.shuffler.1]",
         "rules.decks is now called rules.two_decks; rename it"),
        ('port = "/dev/ttyUSB1"', 'address = "/dev/ttyUSB1"',
         "device.shuffler.2.address is now called device.shuffler.2.port; rename it"),
        ("[device.shuffler.1]", '[broker]\nhost = "b"\n[device.shuffler.1]', "broker is now called mqtt; rename it"),
    ],
)  # fmt: skip
def test_a_former_key_is_the_only_problem_and_is_named_with_its_new_name(
    folder: Path, old: str, new: str, expected: str
) -> None:
    text = GOOD.replace(old, new, 1)
    problems = [str(problem).partition(": ")[2] for problem in examine(_write(folder, text)).problems]
    assert expected in problems
    assert not any("unknown key" in problem or "is missing: " in problem for problem in problems)


def test_every_former_key_has_a_new_one_that_exists_and_is_no_key_itself() -> None:
    sections = {name: section.__struct_fields__ for name, section in SECTIONS.items()}
    keys = {*SECTION_NAMES, *(f"{RULES}.{key}" for key in RULE_KEYS)}
    keys |= {f"{name}.{key}" for name, fields in sections.items() for key in fields}
    keys |= {f"{DEVICE}.KIND.NUMBER.{key}" for key in DeviceSection.__struct_fields__}
    assert set(FORMER_KEYS.values()) <= keys
    assert not set(FORMER_KEYS) & keys
