"""Checks a configuration against this computer: certificates, groups, folders, people. Changes nothing.

`config` checks the file alone. `pitbox config check` runs all checks of this module; the start of a box runs
`unusable_settings`. A box starts without a device or an unmounted disk, so those are warnings.
"""

from __future__ import annotations

import grp
import os
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Final
from zoneinfo import available_timezones

from firmware_bridge.errors import BadConfiguration, ConfigurationError
from table_controller.access.people_file import load_credentials
from table_controller.host.addresses import missing_certificate_name, panel_addresses
from table_controller.journal.store import COPY_MARK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.config import TableConfig

# Without these roles nobody can open a table or acknowledge a fault.
_REQUIRED_ROLES: Final = ("dealer", "floorperson", "technician")


def unusable_settings(config: TableConfig) -> Iterator[ConfigurationError]:
    """Yield every setting with which a box cannot run on this computer. The start of a box checks them first."""
    path = config.path
    for where, cert, key in _pairs(config):
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password=_no_password)
        except (ssl.SSLError, OSError, ValueError) as error:
            yield BadConfiguration(f"{path}: {where}.cert and {where}.key are not a usable pair: {_why(error)}")
    if config.mqtt is not None and config.mqtt.ca is not None:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(config.mqtt.ca)
        except (ssl.SSLError, OSError) as error:
            yield BadConfiguration(f"{path}: mqtt.ca: {config.mqtt.ca} contains no certificate: {_why(error)}")
    if config.control.group is not None and not _is_group(config.control.group):
        yield BadConfiguration(f'{path}: control.group = "{config.control.group}": this system has no such group')


def host_problems(config: TableConfig) -> Iterator[ConfigurationError]:
    """Yield every problem that prevents a start of the box on this computer, or prevents people from signing on."""
    yield from unusable_settings(config)
    path = config.path
    if config.people.exists():
        try:
            load_credentials(config.people)
        except ConfigurationError as error:
            yield error
    if not _writable(config.data):
        yield BadConfiguration(f"{path}: data.folder: {config.data} cannot be written by this user")


def host_warnings(config: TableConfig) -> Iterator[str]:
    """Yield what a technician should know before the table opens."""
    zone = config.documents.time_zone
    if zone not in available_timezones():
        yield f"documents.time_zone: this computer does not know {zone}; documents would have UTC only (package tzdata)"
    approved = {entry.kind for entry in config.approved}
    for kind in sorted(set(config.kinds.values()) - approved):
        yield f"table.approved lists no firmware for a {kind}: no {kind} can be in service"
    for slot in config.slots:
        if slot.port.startswith("/") and not Path(slot.port).exists():
            yield f"device.{slot.name}: {slot.port} is missing now"
        if not slot.key.enrolled:
            yield f"device.{slot.name}: its key is not enrolled"
    if lacks := missing_certificate_name(config.panel):
        there = panel_addresses(config.panel)[0]
        yield f"panel.cert does not include {lacks}: browsers warn people who sign on at {there}"
    if config.journal.copy is None:
        yield "journal.copy is not set: if this disk fails, the meters are lost"
    elif not config.journal.copy.is_dir():
        yield f"journal.copy: {config.journal.copy} is missing now"
    elif not (config.journal.copy / COPY_MARK).exists():
        yield f"journal.copy: no copy was begun in {config.journal.copy} yet: pitbox journal begin-copy"
    yield from _people_warnings(config)


def _people_warnings(config: TableConfig) -> Iterator[str]:
    if not config.people.exists():
        yield f"people.file: {config.people} is missing: nobody can sign on; create it with pitbox people add"
        return
    try:
        roles = {each.role for each in load_credentials(config.people).values() if not each.revoked}
    except ConfigurationError:
        return
    for role in _REQUIRED_ROLES:
        if role not in roles:
            yield f"people.file: nobody has a valid credential as a {role}"


def _pairs(config: TableConfig) -> Iterator[tuple[str, Path, Path]]:
    if config.panel.cert is not None and config.panel.key is not None:
        yield "panel", config.panel.cert, config.panel.key
    if config.mqtt is not None and config.mqtt.cert is not None and config.mqtt.key is not None:
        yield "mqtt", config.mqtt.cert, config.mqtt.key


def _no_password() -> str:
    """Refuse a key with a password: a box starts without a person, so OpenSSL must not ask on the terminal."""
    raise ValueError("the key has a password; a box starts without a person")


def _why(error: Exception) -> str:
    return getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)


def _is_group(name: str) -> bool:
    try:
        grp.getgrnam(name)
    except KeyError:
        return False
    return True


def _writable(folder: Path) -> bool:
    """Return whether this user can write to the folder, or to its nearest parent that exists."""
    there = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)
