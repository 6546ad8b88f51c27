"""What a configuration means on this computer: certificates, groups, folders, people. Changes nothing.

`config` has checked what the file says by itself; this is looked at by `pitbox config check`, and what a box cannot
run with by its start. A box starts without a
device, and a disk that is not mounted now may be later: such things are only mentioned.
"""

from __future__ import annotations

import grp
import os
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import BadConfiguration, ConfigurationError
from table_controller.addresses import certificate_lacks, panel_addresses
from table_controller.journal.store import COPY_MARK
from table_controller.people import load_people

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.config import TableConfig

# Without these nobody can open a table or acknowledge a fault.
_WANTED: Final = ("dealer", "floorperson", "technician")


def unusable_here(config: TableConfig) -> Iterator[ConfigurationError]:
    """What a box cannot run with on this computer: looked at by its start as well, before anything is opened."""
    path = config.path
    for where, cert, key in _pairs(config):
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password=_no_password)
        except (ssl.SSLError, OSError, ValueError) as error:
            yield BadConfiguration(f"{path}: {where}.cert and {where}.key are no pair that can be used: {_why(error)}")
    if config.mqtt is not None and config.mqtt.ca is not None:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(config.mqtt.ca)
        except (ssl.SSLError, OSError) as error:
            yield BadConfiguration(f"{path}: mqtt.ca: {config.mqtt.ca} holds no certificate: {_why(error)}")
    if config.control.group is not None and not _is_group(config.control.group):
        yield BadConfiguration(f'{path}: control.group = "{config.control.group}": this system has no such group')


def problems_here(config: TableConfig) -> Iterator[ConfigurationError]:
    """What would keep the box from starting on this computer, or people from signing on."""
    yield from unusable_here(config)
    path = config.path
    if config.people.exists():
        try:
            load_people(config.people)
        except ConfigurationError as error:
            yield error
    if not _writable(config.data):
        yield BadConfiguration(f"{path}: data.folder: {config.data} cannot be written by this user")


def warnings_here(config: TableConfig) -> Iterator[str]:
    """What a person should know before the table opens."""
    approved = {entry.kind for entry in config.approved}
    for kind in sorted(set(config.kinds.values()) - approved):
        yield f"table.approved lists no firmware of a {kind}: none will be taken into service"
    for slot in config.slots:
        if slot.port.startswith("/") and not Path(slot.port).exists():
            yield f"device.{slot.name}: {slot.port} is not there now"
        if not slot.key.enrolled:
            yield f"device.{slot.name}: its key is not enrolled"
    if lacks := certificate_lacks(config.panel):
        there = panel_addresses(config.panel)[0]
        yield f"panel.cert does not carry {lacks}: browsers warn people who sign on at {there}"
    if config.journal.copy is None:
        yield "journal.copy is not set: if this disk dies, the meters die with it"
    elif not config.journal.copy.is_dir():
        yield f"journal.copy: {config.journal.copy} is not there now"
    elif not (config.journal.copy / COPY_MARK).exists():
        yield f"journal.copy: {config.journal.copy} is no copy's place yet: pitbox journal begin-copy"
    yield from _people_warnings(config)


def _people_warnings(config: TableConfig) -> Iterator[str]:
    if not config.people.exists():
        yield f"people.file: {config.people} is not there: nobody can sign on; pitbox people add makes it"
        return
    try:
        roles = {each.role for each in load_people(config.people).values() if not each.revoked}
    except ConfigurationError:
        return
    for role in _WANTED:
        if role not in roles:
            yield f"people.file: nobody has a valid credential as a {role}"


def _pairs(config: TableConfig) -> Iterator[tuple[str, Path, Path]]:
    if config.panel.cert is not None and config.panel.key is not None:
        yield "panel", config.panel.cert, config.panel.key
    if config.mqtt is not None and config.mqtt.cert is not None and config.mqtt.key is not None:
        yield "mqtt", config.mqtt.cert, config.mqtt.key


def _no_password() -> str:
    """A key that wants a password could not be used by a box that starts alone: never ask on the terminal."""
    raise ValueError("the key has a password; a box starts without anybody there")


def _why(error: Exception) -> str:
    return getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)


def _is_group(name: str) -> bool:
    try:
        grp.getgrnam(name)
    except KeyError:
        return False
    return True


def _writable(folder: Path) -> bool:
    """Tell whether the folder, or the nearest one above it that is there, can be written."""
    there = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)
