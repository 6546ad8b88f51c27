"""The certificates of a table, from files and from the broker, and which of them are expired or about to expire.

`config check`, `doctor`, status, panel, log and metrics show what this module returns. The `ssl` module of Python gives
dates only for valid certificates, so this module reads the fields from the DER itself.
"""

from __future__ import annotations

import ipaddress
import ssl
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from firmware_bridge.errors import (
    BadCertificate,
    CertificateExpired,
    CertificateExpiresSoon,
    CertificateNotYetValid,
    code_of,
)
from table_controller.host.notices import Notice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from table_controller.config import TableConfig

# How many days before its end a certificate gets a notice: time to order and install another one.
WARN_DAYS: Final = 30
DAY_S: Final = 86_400
# A file with more certificates than this is a list of public authorities; notices about them would not help.
MOST_IN_FILE: Final = 8
EXPIRED: Final = code_of(CertificateExpired.number)
EXPIRES_SOON: Final = code_of(CertificateExpiresSoon.number)
NOT_YET_VALID: Final = code_of(CertificateNotYetValid.number)
PANEL: Final = "panel.cert"
BROKER: Final = "broker"

Validity = Literal["valid", "soon", "expired", "not_yet"]
_BEGIN: Final = "-----BEGIN CERTIFICATE-----"
_END: Final = "-----END CERTIFICATE-----"
# Tags of ASN.1 in DER.
_OCTETS: Final = 0x04
_OID: Final = 0x06
_UTC_TIME: Final = 0x17
_VERSION: Final = 0xA0
_EXTENSIONS: Final = 0xA3
_DNS_NAME: Final = 0x82
_IP_ADDRESS: Final = 0x87
_ALTERNATIVE_NAMES: Final = bytes.fromhex("551d11")  # 2.5.29.17
# Two digits of a year below this are of this century (RFC 5280, 4.1.2.5.1).
_CENTURY: Final = 50


class Certificate(msgspec.Struct, frozen=True):
    """One certificate: its key in table.toml or "broker", where it was read, and its validity in seconds since 1970.

    `names` are the host names and addresses that it carries.
    """

    name: str
    where: str
    begins_s: int
    ends_s: int
    names: tuple[str, ...] = ()

    def validity(self, now_s: float) -> Validity:
        """Return the validity at a time."""
        if now_s < self.begins_s:
            return "not_yet"
        if now_s >= self.ends_s:
            return "expired"
        return "soon" if self.ends_s - now_s < WARN_DAYS * DAY_S else "valid"


def notice_of(certificate: Certificate, now_s: float) -> Notice | None:
    """Return a notice if a certificate is not valid now or expires within WARN_DAYS; otherwise None."""
    state, name, where = certificate.validity(now_s), certificate.name, certificate.where
    if state == "valid":
        return None
    if state == "not_yet":
        text = f"{name}: {where} is not valid before {_day(certificate.begins_s)}; the clock shows {_day(now_s)}"
        return Notice(name, NOT_YET_VALID, text, "compare the clock of this computer with the real time", True)
    do = "renew the broker's certificate" if name == BROKER else f"renew it and replace {where}"
    do += ", then restart the box" if name == PANEL else ""
    if state == "expired":
        return Notice(name, EXPIRED, f"{name}: {where} expired on {_day(certificate.ends_s)}", do, True)
    days = int(certificate.ends_s - now_s) // DAY_S
    left = f"in {days} days" if days > 1 else "within two days"
    return Notice(name, EXPIRES_SOON, f"{name}: {where} expires {left}, on {_day(certificate.ends_s)}", do)


def notices_of(certificates: Iterable[Certificate], now_s: float) -> list[Notice]:
    """Return the notices of certificates, by the date of their end."""
    ordered = sorted(certificates, key=lambda each: each.ends_s)
    return [notice for each in ordered if (notice := notice_of(each, now_s)) is not None]


def configured_certificates(config: TableConfig) -> list[Certificate]:
    """Read every certificate file that a table.toml names. Unreadable files are skipped; other checks report them."""
    certificates: list[Certificate] = []
    for name, path in _files(config):
        try:
            held = read_certificates(name, path)
            certificates += held if len(held) <= MOST_IN_FILE else []
        except (OSError, BadCertificate):
            continue
    return certificates


def _files(config: TableConfig) -> Iterator[tuple[str, Path]]:
    if config.panel.enabled and config.panel.cert is not None:
        yield PANEL, config.panel.cert
    if config.mqtt is not None and config.mqtt.tls:
        if config.mqtt.cert is not None:
            yield "mqtt.cert", config.mqtt.cert
        if config.mqtt.ca is not None:
            yield "mqtt.ca", config.mqtt.ca


def read_certificates(name: str, path: Path) -> list[Certificate]:
    """Return every certificate of a PEM file, in order. Raise OSError, or BadCertificate if one cannot be read."""
    blocks = path.read_text("ascii", "replace").split(_BEGIN)[1:]
    if not blocks:
        raise BadCertificate(f"{path} has no certificate")
    certificates = []
    for number, block in enumerate(blocks, start=1):
        body, end, _ = block.partition(_END)
        where = str(path) if len(blocks) == 1 else f"{path}, certificate {number} of {len(blocks)},"
        try:
            der = ssl.PEM_cert_to_DER_cert(f"{_BEGIN}{body}{end}")
        except ValueError as error:
            raise BadCertificate(f"{where} is no certificate: {error}") from error
        certificates.append(from_der(name, where, der))
    return certificates


# --- DER --------------------------------------------------------------------------------------------------------------


def from_der(name: str, where: str, der: bytes) -> Certificate:
    """Read one certificate (RFC 5280, 4.1). Raise BadCertificate if the data is not a certificate."""
    try:
        fields = list(_items(_first(_first(der))))
        if fields[0][0] == _VERSION:
            del fields[0]
        validity = fields[3][1]  # after serial number, algorithm and issuer
        begins, ends = (_seconds(tag, body) for tag, body in _items(validity))
        names = tuple(_names(fields[5:]))
    except (ValueError, IndexError) as error:
        raise BadCertificate(f"{where} is no certificate: {error}") from error
    return Certificate(name, where, begins, ends, names)


def _items(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield tag and content of each element. Raise ValueError if the data ends too early."""
    at = 0
    while at < len(data):
        if at + 2 > len(data):
            raise ValueError("it ends too early")
        tag, size = data[at], data[at + 1]
        at += 2
        if size & 0x80:
            digits = size & 0x7F
            size = int.from_bytes(data[at : at + digits], "big")
            at += digits
        if at + size > len(data):
            raise ValueError("it ends too early")
        yield tag, data[at : at + size]
        at += size


def _first(data: bytes) -> bytes:
    """Return the content of the first element."""
    for _, body in _items(data):
        return body
    raise ValueError("it is empty")


def _seconds(tag: int, body: bytes) -> int:
    text = body.decode("ascii")
    if tag == _UTC_TIME:
        text = ("20" if int(text[:2]) < _CENTURY else "19") + text
    return int(datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC).timestamp())


def _names(fields: list[tuple[int, bytes]]) -> Iterator[str]:
    """Yield the subject's alternative names that are host names and addresses."""
    for tag, body in fields:
        if tag != _EXTENSIONS:
            continue
        for _, extension in _items(_first(body)):
            parts = list(_items(extension))
            if parts[0] != (_OID, _ALTERNATIVE_NAMES) or parts[-1][0] != _OCTETS:
                continue
            for kind, value in _items(_first(parts[-1][1])):
                if kind == _DNS_NAME:
                    yield value.decode("ascii")
                elif kind == _IP_ADDRESS:
                    yield str(ipaddress.ip_address(value))


def _day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(seconds))
