"""Fetches the certificate of a broker in a TLS handshake, without sending a message. Blocks: call it in a thread."""

from __future__ import annotations

import socket
import ssl
from typing import TYPE_CHECKING, Any

from firmware_bridge.errors import BadCertificate, BrokerUnreachable, BrokerUntrusted, UplinkError
from table_controller.host.certificates import BROKER, Certificate, from_der
from table_controller.uplink.settings import tls_context

if TYPE_CHECKING:
    from table_controller.uplink.settings import MqttSettings


def certificate_of(connection: Any, where: str) -> Certificate | None:
    """Return the peer's certificate on a connection; None without TLS."""
    if not isinstance(connection, ssl.SSLSocket):
        return None
    der = connection.getpeercert(binary_form=True)
    if not der:
        return None
    try:
        return from_der(BROKER, where, der)
    except BadCertificate:
        return None


def fetch_certificate(settings: MqttSettings, timeout_s: float, *, accept_any: bool = True) -> Certificate | None:
    """Return the broker's certificate from a handshake, None without TLS. UplinkError if there is none.

    Unless `accept_any`, the box must accept the certificate; an expired one can only be fetched with `accept_any`.
    """
    context = tls_context(settings)
    where = f"{settings.host}:{settings.port}"
    if context is not None and accept_any:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    try:
        with socket.create_connection((settings.host, settings.port), timeout_s) as plain:
            if context is None:
                return None
            with context.wrap_socket(plain, server_hostname=settings.host) as secure:
                return certificate_of(secure, where)
    except (ssl.SSLError, ssl.CertificateError) as error:
        raise BrokerUntrusted(f"{where}: {error}") from error
    except OSError as error:
        raise BrokerUnreachable(f"{where}: {error.strerror or error}") from error


def try_fetch_certificate(settings: MqttSettings, timeout_s: float) -> Certificate | None:
    """Return the certificate of a broker that the box does not accept; None if it cannot be fetched."""
    try:
        return fetch_certificate(settings, timeout_s)
    except UplinkError:
        return None
