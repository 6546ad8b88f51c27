"""Reads `table.toml`, validates all of it and returns a frozen configuration.

Reads and checks every file that `table.toml` names; opens no port and changes nothing. `sections` defines the keys;
`walk` finds every problem in the file.
"""

from __future__ import annotations

import ipaddress
import os
import re
import stat
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge.decode_errors import BAD_TOML
from firmware_bridge.errors import (
    BadConfiguration,
    BadHouseWay,
    BadKeyFile,
    BadPort,
    BadSubmission,
    ConfigurationError,
    SerialClaimedTwice,
)
from firmware_bridge.keys import load_approved, load_key
from firmware_bridge.transport.ports import canonical_port, check_port, is_path
from table_controller.config import sections as written
from table_controller.config.devices import devices_needed, optional_devices, why_sign_needed
from table_controller.config.types import (
    ControlConfig,
    JournalConfig,
    MqttConfig,
    PanelConfig,
    SlotConfig,
    TableConfig,
)
from table_controller.config.walk import ParsedFile
from table_controller.controller.kinds import CONTROLLER_KINDS
from table_controller.host.addresses import is_loopback
from table_controller.journal.store import Policy
from table_controller.rulebook import check_submission, edition
from table_controller.rulebook.duties import duty_clauses
from table_controller.rulebook.house_ways.table import decode
from table_controller.rulebook.submission import prove_house_way

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firmware_bridge.keys import ApprovedFirmware
    from table_controller.rulebook import Edition, Submission

__all__ = [
    "DEFAULT", "ControlConfig", "Examined", "JournalConfig", "MqttConfig", "PanelConfig", "SlotConfig", "TableConfig",
    "examine", "is_loopback", "load_config",
]  # fmt: skip

# The default path on a box.
DEFAULT: Final = Path("/etc/pitbox/table.toml")


def default_path() -> Path:
    """Return the path of the configuration when a command names none: `PITBOX_CONFIG`, or the default path."""
    return Path(os.environ.get("PITBOX_CONFIG", DEFAULT))


_MB: Final = 1 << 20
# The longest path of a Unix socket on Linux (bytes).
_SOCKET_NAME: Final = 107
_MQTT_PORT: Final = 1883
_MQTT_TLS_PORT: Final = 8883
SYSTEM: Final = "system"
# The shortest token that nobody can guess (characters).
_LEAST_TOKEN: Final = 16


class Examined(msgspec.Struct, frozen=True):
    """The result of reading a file: a configuration, or every problem in it."""

    config: TableConfig | None
    problems: tuple[ConfigurationError, ...]
    warnings: tuple[str, ...] = ()


def load_config(path: Path) -> TableConfig:
    """Return the configuration; raise BadConfiguration, BadKeyFile or BadApprovedList with the place of the problem."""
    examined = examine(path)
    if len(examined.problems) == 1:
        raise examined.problems[0]
    if examined.config is None:
        texts = [str(problem).removeprefix(f"{path}: ") for problem in examined.problems]
        raise BadConfiguration(f"{path}: {len(texts)} problems: {'; '.join(texts)}")
    return examined.config


def examine(path: Path) -> Examined:
    """Read a configuration and every file that it names; report problems in the result instead of raising them."""
    try:
        raw = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        advice = f"name another with --config, or begin with: pitbox config example > {path}"
        return Examined(None, (BadConfiguration(f"{path} is missing; {advice}"),))
    except OSError as error:
        return Examined(None, (BadConfiguration(f"{path}: {error.strerror}"),))
    except BAD_TOML as error:
        return Examined(None, (BadConfiguration(f"{path}: not TOML: {error}"),))
    return _ConfigReader(path, ParsedFile(raw)).examined()


class _ConfigReader:
    """One pass over a file. After a problem it continues with everything that can still be checked."""

    def __init__(self, path: Path, file: ParsedFile) -> None:
        self._path = path
        self._file = file
        self._warnings: list[str] = []
        self._problems: list[ConfigurationError] = []
        for problem in file.problems:
            self._problem(problem)

    def _problem(self, text: str, kind: type[ConfigurationError] = BadConfiguration) -> None:
        self._problems.append(kind(f"{self._path}: {text}"))

    def examined(self) -> Examined:
        """Check everything; the result has a configuration only if there is no problem."""
        table = self._file.sections.get("table")
        data = self._file.section("data", written.DataSection)
        folder = self._at(data.folder if data else written.DataSection().folder)
        slots = tuple(self._slots())
        self._check_slots(slots)
        approved = self._approved(table) if table is not None else frozenset()
        rules = None if table is None else self._edition(table)
        submission = self._submission(rules) if rules is not None and self._file.are_rules_valid else None
        if rules is not None and submission is not None:
            self._check_devices(rules, submission)
        site = self._file.section("site", written.SiteSection)
        id_ = (table.id or _plain(table.name)) if table is not None else ""
        mqtt = self._mqtt(site, id_)
        panel, control = self._panel(), self._control(folder)
        if rules is not None and submission is not None and panel is not None:
            self._check_sign(rules, submission, panel)
        journal = self._journal(folder)
        people = self._file.section("people", written.PeopleSection)
        documents = self._file.section("documents", written.DocumentsSection)
        if not (table and site and rules and submission and panel and control and journal and people and documents):
            return Examined(None, tuple(self._problems), tuple(self._warnings))
        if self._problems:
            return Examined(None, tuple(self._problems), tuple(self._warnings))
        config = TableConfig(
            path=self._path, name=table.name, id=id_, game=table.game, site=site, slots=slots, approved=approved,
            edition=rules, submission=submission, data=folder, journal=journal, mqtt=mqtt, panel=panel,
            control=control, people=self._at(people.file) if people.file else folder / "people.json",
            escalate_after_s=people.escalate_after_s, development=table.development, documents=documents,
            warnings=(*self._warnings, *submission.warnings),
        )  # fmt: skip
        return Examined(config, (), config.warnings)

    def _at(self, name: str) -> Path:
        return (self._path.parent / name).absolute()

    def _may_be_at(self, name: str | None) -> Path | None:
        return None if name is None else self._at(name)

    # --- the game -----------------------------------------------------------------------------------------------------

    def _edition(self, table: written.TableSection) -> Edition | None:
        current = edition(table.game)
        if table.edition is None or table.edition == current.dated:
            return current
        self._problem(f'table.edition = "{table.edition}": this software has {current.chapter} of "{current.dated}"')
        return None

    def _submission(self, rules: Edition) -> Submission | None:
        stated = self._file.rules
        if stated is None:
            self._warnings.append(f"[rules] is missing: the table uses the simplest lawful choices of {rules.chapter}")
        else:
            stated = self._with_house_way_table(rules, stated)
        try:
            return check_submission(rules, {"adjacent_boxes": 1} if stated is None else stated)
        except BadSubmission as error:
            self._problems += [
                BadSubmission((f"{self._path}: {_with_path(objection)}",)) for objection in error.objections
            ]
            return None

    def _with_house_way_table(self, rules: Edition, stated: dict[str, Any]) -> dict[str, Any]:
        """Return the choices with the text of the house way's table; without them, if the file cannot be used."""
        if stated.get("house_way_table") is None:
            return stated
        file = self._at(stated["house_way_table"])
        try:
            text = decode(file.read_bytes())
            prove_house_way(rules.game, text)
        except OSError as error:
            self._problems.append(BadHouseWay((f"{file}: {error.strerror}",)))
        except BadHouseWay as error:
            self._problems += [BadHouseWay((f"{file}: {objection}",)) for objection in error.objections]
        else:
            return {**stated, "house_way_table": text}
        return {key: value for key, value in stated.items() if not key.startswith("house_way")}

    # --- devices ------------------------------------------------------------------------------------------------------

    def _approved(self, table: written.TableSection) -> frozenset[ApprovedFirmware]:
        try:
            return load_approved(self._at(table.approved))
        except ConfigurationError as error:
            self._problems.append(error)
            return frozenset()

    def _slots(self) -> Iterator[SlotConfig]:
        for (kind, number), device in self._file.devices.items():
            name, port = f"{kind}.{number}", device.port
            try:
                check_port(port)
            except BadPort as error:
                self._problem(f"device.{name}.port: {error}", BadPort)
            try:
                key = load_key(self._at(device.key))
            except ConfigurationError as error:
                self._problem(f"device.{name}.key: {error}", type(error))
                continue
            yield SlotConfig(name, kind, str(self._at(port)) if is_path(port) else port, key, self._at(device.key),
                             device.maker)  # fmt: skip

    def _check_slots(self, slots: tuple[SlotConfig, ...]) -> None:
        """Check that each device has one slot, one port and the kind of its slot."""
        by_serial: dict[str, str] = {}
        by_port: dict[str, str] = {}
        for slot in slots:
            if slot.key.kind != slot.kind:
                self._problem(f"device.{slot.name}.key is the key of a {slot.key.kind}")
            other = by_serial.setdefault(slot.key.serial, slot.name)
            if other != slot.name:
                self._problem(f"{other} and {slot.name} both name serial number {slot.key.serial}", SerialClaimedTwice)
            try:
                other = by_port.setdefault(canonical_port(slot.port), slot.name)
            except (BadPort, ValueError):
                continue  # `_slots` has reported it
            if other != slot.name:
                written_there = next(each.port for each in slots if each.name == other)
                also = "" if written_there == slot.port else f", which is {written_there}"
                self._problem(f"{other} and {slot.name} are at the same port, {slot.port}{also}")

    def _check_devices(self, rules: Edition, submission: Submission) -> None:
        """Check that the table has the devices that the Rules Submission requires; warn about unused devices."""
        there = {f"{kind}.{number}" for kind, number in self._file.devices}
        kinds = {slot.partition(".")[0] for slot in there}
        needed = devices_needed(rules, submission)
        for kind, why in needed.items():
            if CONTROLLER_KINDS[kind].is_at_seats:
                lacking = [f"{kind}.{n}" for n in range(1, submission.seats + 1) if f"{kind}.{n}" not in there]
                if lacking:
                    self._problem(f"device.{' and device.'.join(lacking)} missing: {why}")
            elif kind not in kinds:
                self._problem(f"device.{kind}.1 is missing: {why}")
        useful = {*needed, *optional_devices(rules, submission)}
        for slot in sorted(there):
            kind, _, number = slot.partition(".")
            if kind not in useful:
                self._warnings.append(f"device.{slot} is not used by the choices in [rules]")
            elif CONTROLLER_KINDS[kind].is_at_seats and int(number) > submission.seats:
                self._problem(f"device.{slot}: its number is a seat, and there are {submission.seats}")
            elif not CONTROLLER_KINDS[kind].is_at_seats and int(number) > 1 and f"{kind}.1" in there:
                self._warnings.append(f"device.{slot}: a table uses one {kind}, device.{kind}.1")

    def _check_sign(self, rules: Edition, submission: Submission, panel: PanelConfig) -> None:
        """Check that players can see meter and odds: the meter on a sign device, or both on the panel's /sign page."""
        if submission.posted_on_sign and not panel.enabled:
            clause = ", ".join(duty_clauses(rules.game, "odds_posted"))
            self._problem(f"rules.posted_on_sign needs the /sign page, and panel.enabled = false ({clause})")
        elif submission.posted_on_sign:
            self._warnings.append(
                "rules.posted_on_sign: no round opens unless a display at the table shows the panel's /sign page"
            )
        why = why_sign_needed(rules, submission)
        if not why or any(kind == "meter_sign" for kind, _ in self._file.devices):
            return
        if not panel.enabled:
            self._problem(f"device.meter_sign.1 is missing, and panel.enabled = false leaves no /sign page: {why}")
        else:
            self._warnings.append(
                f"device.meter_sign.1 is missing: no round opens unless a display shows the panel's /sign page; {why}"
            )

    # --- journal, broker, panel, control socket -----------------------------------------------------------------------

    def _journal(self, data: Path) -> JournalConfig | None:
        section = self._file.section("journal", written.JournalSection)
        if section is None:
            return None
        folder, copy, archive = data / "journal", self._may_be_at(section.copy), self._may_be_at(section.archive)
        named = {"the journal's own folder": folder, "journal.copy": copy, "journal.archive": archive}
        places: dict[Path, str] = {}
        for name, place in named.items():
            if place is not None:
                other = places.setdefault(place.absolute(), name)
                if other != name:
                    self._problem(f"{name} is {other}: {place}")
        if archive is not None and section.keep_days is None and section.keep_mb is None:
            self._warnings.append("journal.archive has no effect without journal.keep_days or journal.keep_mb")
        policy = Policy(
            segment_bytes=section.segment_mb * _MB,
            ballast_bytes=section.ballast_mb * _MB,
            keep_days=section.keep_days,
            keep_bytes=None if section.keep_mb is None else section.keep_mb * _MB,
            archive=archive,
        )
        return JournalConfig(folder, copy, policy)

    def _mqtt(self, site: written.SiteSection | None, table: str) -> MqttConfig | None:
        section: written.MqttSection | None = self._file.sections.get("mqtt")
        if section is None or site is None:
            return None
        before = len(self._problems)
        tls = section.ca is not None
        cert, key = self._pair("mqtt", section.cert, section.key)
        password = self._password(section)
        if cert is not None and not tls:
            self._problem(f'mqtt.cert needs mqtt.ca, or ca = "{SYSTEM}"')
        if password is not None and not tls and not is_loopback(section.host):
            self._problem(f"mqtt.password_file: the box sends no password to {section.host} without TLS; set mqtt.ca")
        ca = None if section.ca in (None, SYSTEM) else self._file_at("mqtt.ca", str(section.ca))
        if len(self._problems) > before:
            return None
        return MqttConfig(
            host=section.host, port=section.port or (_MQTT_TLS_PORT if tls else _MQTT_PORT),
            prefix=f"{section.prefix}/{site.id}/{table}", client_id=section.client_id or f"pitbox-{site.id}-{table}",
            username=section.username, password=password, tls=tls, ca=ca, cert=cert, key=key,
            keep_alive_s=section.keep_alive_s, in_flight=section.in_flight, outbox_records=section.outbox_records,
            meters_every_s=section.meters_every_s, health_every_s=section.health_every_s,
        )  # fmt: skip

    def _password(self, section: written.MqttSection) -> str | None:
        if (section.username is None) != (section.password_file is None):
            self._problem("mqtt.username and mqtt.password_file need each other: set both or none")
        if section.password_file is None:
            return None
        return self._secret("mqtt.password_file", section.password_file)

    def _panel(self) -> PanelConfig | None:
        section = self._file.section("panel", written.PanelSection)
        if section is None:
            return None
        cert, key = self._pair("panel", section.cert, section.key)
        if section.enabled and section.cert is None and not is_loopback(section.listen):
            self._problem(
                f'panel.listen = "{section.listen}": PINs would cross the network unencrypted; '
                "set panel.cert and panel.key, or listen on 127.0.0.1"
            )
        for screen in section.screens:
            if not _is_address(screen):
                self._problem(f'panel.screens: "{screen}" is no IP address')
        token = None
        if section.metrics_token_file is not None:
            token = self._secret("panel.metrics_token_file", section.metrics_token_file)
        if token is not None and len(token) < _LEAST_TOKEN:
            self._problem(
                f"panel.metrics_token_file: a token needs at least {_LEAST_TOKEN} characters; "
                f"make one: openssl rand -hex 32"
            )
        return PanelConfig(section.enabled, section.listen, section.port, cert, key, section.screens, token)

    def _control(self, data: Path) -> ControlConfig | None:
        section = self._file.section("control", written.ControlSection)
        if section is None:
            return None
        socket = self._at(section.socket) if section.socket else data / "control.sock"
        length = len(bytes(socket))
        if length > _SOCKET_NAME:
            self._problem(
                f"control.socket: {socket} has {length} bytes; the path of a socket has at most {_SOCKET_NAME}"
            )
        return ControlConfig(socket, section.group)

    # --- files --------------------------------------------------------------------------------------------------------

    def _pair(self, where: str, cert: str | None, key: str | None) -> tuple[Path | None, Path | None]:
        if (cert is None) != (key is None):
            self._problem(f"{where}.cert and {where}.key need each other: set both or none")
        return (
            None if cert is None else self._file_at(f"{where}.cert", cert),
            None if key is None else self._private(f"{where}.key", key),
        )

    def _file_at(self, where: str, name: str) -> Path | None:
        path = self._at(name)
        try:
            with path.open("rb"):
                return path
        except OSError as error:
            self._problem(f"{where}: {path}: {error.strerror}")
            return None

    def _secret(self, where: str, name: str) -> str | None:
        """Return the one line of a file that only its owner can read."""
        path = self._private(where, name)
        if path is None:
            return None
        try:
            secret = path.read_text("utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError):
            secret = ""
        if not secret or not secret.isprintable():
            self._problem(f"{where}: {path} is not one line of text")
            return None
        return secret

    def _private(self, where: str, name: str) -> Path | None:
        """Return the path of a file that only its owner can read."""
        path = self._file_at(where, name)
        if path is not None and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            self._problem(f"{where}: others can read or change {path}; run: chmod 600 {path}", BadKeyFile)
            return None
        return path


# --- texts ------------------------------------------------------------------------------------------------------------

# Objections of the rulebook that name a choice in other words than its key.
_MEANT: Final = {
    "two decks": "two_decks",
    "two batches": "two_decks",
    "payout limit": "payout_limit_cents",
    "setting": "settings",
    "progressive": "wagers",
}


def _with_path(objection: str) -> str:
    """Return an objection with the path of its key in front."""
    words = re.findall(r"[a-z_]+", objection)
    if words and words[0] in written.RULE_KEYS:
        return f"rules.{objection}"
    keys = [word for word in words if word in written.RULE_KEYS]
    exact = [key for key in keys if "_" in key]  # certainly a key and not an English word
    meant = [key for phrase, key in _MEANT.items() if phrase in objection]
    key = next(iter((*exact, *meant, *keys)), None)
    return f"rules.{key}: {objection}" if key else f"rules: {objection}"


def _is_address(text: str) -> bool:
    """Return whether this is an IP address."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _plain(name: str) -> str:
    """Return an id made from a name: characters that a topic cannot have become a dash."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:32].strip("-") or "table"
