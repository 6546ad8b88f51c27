"""A table's configuration as the box uses it: frozen, with files read and choices checked. Built by `config` only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from firmware_bridge.keys import ApprovedFirmware, DeviceKey
from table_controller.config_sections import Site
from table_controller.journal.store import Policy
from table_controller.rulebook import Edition, Submission


class SlotConfig(msgspec.Struct, frozen=True):
    """One slot: what kind of device stands there, at which port, and the key of the one that is enrolled."""

    name: str
    kind: str
    port: str
    key: DeviceKey
    key_file: Path


class JournalConfig(msgspec.Struct, frozen=True):
    """Where the journal and its second copy are (None: there is no copy), and how much is kept."""

    folder: Path
    copy: Path | None
    policy: Policy


class MqttConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The broker and how we talk to it. Without `ca`, `tls` trusts the system's own list."""

    host: str
    port: int
    prefix: str  # of every topic of this table, without a / at its end
    client_id: str
    username: str | None
    password: str | None
    tls: bool
    ca: Path | None
    cert: Path | None
    key: Path | None
    keep_alive_s: int
    in_flight: int
    outbox_records: int
    meters_every_s: float
    health_every_s: float

    def __repr__(self) -> str:
        """Never show the password."""
        return f"MqttConfig(host={self.host!r}, port={self.port}, prefix={self.prefix!r}, tls={self.tls})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Not in rich's drawings either."""
        return [("host", self.host), ("port", self.port), ("prefix", self.prefix), ("tls", self.tls)]


class PanelConfig(msgspec.Struct, frozen=True):
    """Where the panel listens; with TLS if it has a certificate. `metrics_token` lets another computer read metrics."""

    enabled: bool
    listen: str
    port: int
    cert: Path | None
    key: Path | None
    screens: tuple[str, ...] = ()  # addresses of the table's own screens
    metrics_token: str | None = None

    def __repr__(self) -> str:
        """Never show the token."""
        return f"PanelConfig(enabled={self.enabled}, listen={self.listen!r}, port={self.port}, cert={self.cert})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Not in rich's drawings either."""
        return [("enabled", self.enabled), ("listen", self.listen), ("port", self.port), ("cert", self.cert)]


class ControlConfig(msgspec.Struct, frozen=True):
    """The control socket, and the group of the system that may connect besides the box's own user."""

    socket: Path
    group: str | None


class TableConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A table's configuration, with keys, approved list and password read, and the Rules Submission checked."""

    path: Path
    name: str
    id: str
    game: str
    site: Site
    slots: tuple[SlotConfig, ...]
    approved: frozenset[ApprovedFirmware]
    edition: Edition
    submission: Submission
    data: Path
    journal: JournalConfig
    mqtt: MqttConfig | None  # None: no broker
    panel: PanelConfig
    control: ControlConfig
    people: Path
    escalate_after_s: int
    development: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def kinds(self) -> dict[str, str]:
        """What stands where: slot -> kind, as the core and the digests take it."""
        return {slot.name: slot.kind for slot in self.slots}
