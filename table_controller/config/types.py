"""The configuration of a table as the box uses it: frozen, with all files read and all choices checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from firmware_bridge.keys import ApprovedFirmware, DeviceKey
from table_controller.config.sections import DocumentsSection, SiteSection
from table_controller.journal.store import Policy
from table_controller.rulebook import Edition, Submission


class SlotConfig(msgspec.Struct, frozen=True):
    """One slot: its kind of device, its port, and the key of the enrolled device."""

    name: str
    kind: str
    port: str
    key: DeviceKey
    key_file: Path
    maker: str | None = None


class JournalConfig(msgspec.Struct, frozen=True):
    """The folders of the journal and its second copy (None: no copy), and how much is kept."""

    folder: Path
    copy: Path | None
    policy: Policy


class MqttConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The broker and the connection to it. With `tls` but no `ca` the box trusts the certificates of the system."""

    host: str
    port: int
    prefix: str  # of every topic of this table, without a trailing /
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
        """Hide the password."""
        return f"MqttConfig(host={self.host!r}, port={self.port}, prefix={self.prefix!r}, tls={self.tls})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Not in rich's drawings either."""
        return [("host", self.host), ("port", self.port), ("prefix", self.prefix), ("tls", self.tls)]


class PanelConfig(msgspec.Struct, frozen=True):
    """The address of the panel, with TLS if it has a certificate. `metrics_token` permits other computers /metrics."""

    enabled: bool
    listen: str
    port: int
    cert: Path | None
    key: Path | None
    screens: tuple[str, ...] = ()  # addresses of the screens of this table
    metrics_token: str | None = None

    def __repr__(self) -> str:
        """Hide the token."""
        return f"PanelConfig(enabled={self.enabled}, listen={self.listen!r}, port={self.port}, cert={self.cert})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Not in rich's drawings either."""
        return [("enabled", self.enabled), ("listen", self.listen), ("port", self.port), ("cert", self.cert)]


class ControlConfig(msgspec.Struct, frozen=True):
    """The control socket, and the system group that may connect in addition to the user of the box."""

    socket: Path
    group: str | None


class TableConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration of a table, with keys, approved list and password read, and the Rules Submission checked."""

    path: Path
    name: str
    id: str
    game: str
    site: SiteSection
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
    documents: DocumentsSection = DocumentsSection()
    development: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of device in each slot, as the core and the digests use it."""
        return {slot.name: slot.kind for slot in self.slots}
