"""What certificate a broker shows: seen in a handshake of TLS; no message is sent. It waits: to be run in a thread."""

from __future__ import annotations

import socket
import ssl
from typing import TYPE_CHECKING, Any

from firmware_bridge.errors import BadCertificate, BrokerUnreachable, BrokerUntrusted, UplinkError
from table_controller.certificates import BROKER, Certificate, from_der
from table_controller.uplink.settings import tls_context

if TYPE_CHECKING:
    from table_controller.uplink.settings import MqttSettings


def shown_on(connection: Any, where: str) -> Certificate | None:
    """Return the certificate that the other end of a connection showed; None without TLS."""
    if not isinstance(connection, ssl.SSLSocket):
        return None
    der = connection.getpeercert(binary_form=True)
    if not der:
        return None
    try:
        return from_der(BROKER, where, der)
    except BadCertificate:
        return None


def look(settings: MqttSettings, patience_s: float, *, trusting: bool = True) -> Certificate | None:
    """Shake hands and hang up; return what the broker showed, None without TLS. UplinkError says why not.

    Unless `trusting`, it must be a certificate that the box accepts; an expired one can be seen only by trusting it.
    """
    context = tls_context(settings)
    where = f"{settings.host}:{settings.port}"
    if context is not None and trusting:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    try:
        with socket.create_connection((settings.host, settings.port), patience_s) as plain:
            if context is None:
                return None
            with context.wrap_socket(plain, server_hostname=settings.host) as secure:
                return shown_on(secure, where)
    except (ssl.SSLError, ssl.CertificateError) as error:
        raise BrokerUntrusted(f"{where}: {error}") from error
    except OSError as error:
        raise BrokerUnreachable(f"{where}: {error.strerror or error}") from error


def look_if_possible(settings: MqttSettings, patience_s: float) -> Certificate | None:
    """Return what a broker shows whom the box does not accept; None if even that cannot be seen."""
    try:
        return look(settings, patience_s)
    except UplinkError:
        return None
