"""The settings of the uplink, with the names of the [mqtt] section, and its TLS context."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import msgspec

from firmware_bridge.errors import BrokerUntrusted


class MqttSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The broker and the connection to it. Without `ca`, `tls` trusts the system's certificate authorities."""

    host: str
    port: int
    prefix: str  # of every topic of this table, without a trailing /
    client_id: str
    username: str | None = None
    password: str | None = None
    tls: bool = False
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    keep_alive_s: int = 30
    in_flight: int = 20
    outbox_records: int = 1_000_000
    meters_every_s: float = 1.0
    health_every_s: float = 30.0

    @classmethod
    def from_section(cls, section: msgspec.Struct) -> MqttSettings:
        """Return the settings from a configuration section with the same names."""
        return cls(**{name: getattr(section, name) for name in cls.__struct_fields__})

    def __repr__(self) -> str:
        """Never show the password."""
        return f"MqttSettings(host={self.host!r}, port={self.port}, prefix={self.prefix!r}, tls={self.tls})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Never show the password in rich output."""
        return [("host", self.host), ("port", self.port), ("prefix", self.prefix), ("tls", self.tls)]


def tls_context(settings: MqttSettings) -> ssl.SSLContext | None:
    """Return the TLS context; reads files, so call it in a thread. BrokerUntrusted names a bad file."""
    if not settings.tls:
        return None
    try:
        context = ssl.create_default_context(cafile=settings.ca)
    except (OSError, ssl.SSLError) as error:
        raise BrokerUntrusted(f"{settings.ca}: the certificate authority cannot be read: {error}") from error
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if settings.cert is not None:
        try:
            context.load_cert_chain(settings.cert, settings.key)
        except (OSError, ssl.SSLError) as error:
            raise BrokerUntrusted(
                f"{settings.cert}, {settings.key}: the certificate and its key cannot be read: {error}"
            ) from error
    return context
