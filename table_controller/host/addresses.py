"""Addresses of the panel: those that people can use, and whether an address is local. Opens no socket."""

from __future__ import annotations

import ipaddress
import socket
from typing import TYPE_CHECKING

from firmware_bridge.errors import BadCertificate
from table_controller.host.certificates import PANEL, read_certificates

if TYPE_CHECKING:
    from table_controller.config import PanelConfig


def is_loopback(address: str) -> bool:
    """Return whether an address or a name means this computer, in any form that sockets and browsers write."""
    if address == "localhost":
        return True
    try:
        parsed = ipaddress.ip_address(address.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    mapped = getattr(parsed, "ipv4_mapped", None)  # an IPv4 peer of an IPv6 socket
    return (parsed if mapped is None else mapped).is_loopback


def host_name(header: str) -> str:
    """Return the name in a Host header, without its port."""
    return header if header.endswith("]") else header.rpartition(":")[0] or header


def panel_addresses(config: PanelConfig, port: int | None = None) -> list[str]:
    """Return the URLs at which people can sign on, the best first.

    If the panel listens on every address, these are the names in its certificate.
    """
    scheme, number = "http" if config.cert is None else "https", config.port if port is None else port
    try:
        is_any = ipaddress.ip_address(config.listen).is_unspecified
    except ValueError:
        is_any = False
    names = _certificate_names(config) or [socket.getfqdn()] if is_any else [config.listen]
    return [f"{scheme}://{f'[{name}]' if ':' in name else name}:{number}/" for name in names]


def _certificate_names(config: PanelConfig) -> list[str]:
    """Return the names in the certificate of the panel, without wildcards."""
    if config.cert is None:
        return []
    try:
        names = read_certificates(PANEL, config.cert)[0].names
    except (OSError, BadCertificate):
        return []
    return [name for name in names if not name.startswith("*")]


def missing_certificate_name(config: PanelConfig) -> str:
    """Return the address that the certificate of the panel lacks, "any name" if it has none, or an empty text."""
    if config.cert is None or not config.enabled:
        return ""
    names = _certificate_names(config)
    if not names:
        return "any name"
    try:
        listen = ipaddress.ip_address(config.listen)
    except ValueError:
        return "" if config.listen in names else config.listen
    return "" if listen.is_unspecified or str(listen) in names else config.listen
