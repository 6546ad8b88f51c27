"""Certificates: dates and names as openssl wrote them, with other content in the file; when each is reported."""

from __future__ import annotations

import ssl
import time
from typing import TYPE_CHECKING

import pytest

from firmware_bridge.errors import BadCertificate
from table_controller.config import load_config
from table_controller.host.certificates import (
    MOST_IN_FILE,
    Certificate,
    configured_certificates,
    from_der,
    notice_of,
    notices_of,
    read_certificates,
)
from table_controller.host.notices import NoticeBoard
from tests.support.box.certificates import Authority
from tests.support.box.configs import write_saigon_config

if TYPE_CHECKING:
    from pathlib import Path

DAY = 86_400


def test_dates_and_names_are_those_that_openssl_wrote(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "ca")
    cert, _ = authority.issue("panel", "DNS:table-7.example", "IP:127.0.0.2", "IP:::1", days=11)
    (read,) = read_certificates("panel.cert", cert)
    known = ssl._ssl._test_decode_cert(str(cert))  # type: ignore[attr-defined]
    assert read.begins_s == ssl.cert_time_to_seconds(known["notBefore"])
    assert read.ends_s == ssl.cert_time_to_seconds(known["notAfter"])
    assert read.names == ("table-7.example", "127.0.0.2", "::1")
    assert (read.name, read.where) == ("panel.cert", str(cert))


def test_a_date_after_2050_and_an_expired_one_are_read(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "ca")
    late, _ = authority.issue("late", days=40 * 365)
    past, _ = authority.issue("past", days=-400, begins=-800)
    now = time.time()
    assert abs(read_certificates("x", late)[0].ends_s - now - 40 * 365 * DAY) < 600
    assert read_certificates("x", past)[0].validity(now) == "expired"


def test_every_certificate_of_a_chain_is_read(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "ca")
    cert, _ = authority.issue("panel")
    chain = tmp_path / "chain.pem"
    chain.write_text("some words before\n" + cert.read_text() + "and between\n" + authority.ca.read_text())
    first, second = read_certificates("panel.cert", chain)
    assert first.names == ("panel",)
    assert second.names == ()
    assert "certificate 2 of 2" in second.where


def test_a_file_of_any_bytes_that_is_no_certificate_is_named(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "ca")
    der = ssl.PEM_cert_to_DER_cert(authority.ca.read_text())
    for end in range(0, len(der), 3):
        with pytest.raises(BadCertificate):
            from_der("x", "a file", der[:end])
    for text in (
        "",
        "words",
        "-----BEGIN CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----",
    ):
        (tmp_path / "bad.pem").write_text(text)
        with pytest.raises(BadCertificate):
            read_certificates("x", tmp_path / "bad.pem")


def test_a_certificate_is_mentioned_from_thirty_days_before_its_end() -> None:
    certificate = Certificate("panel.cert", "panel.pem", 0, 100 * DAY)
    assert notice_of(certificate, 70 * DAY) is None
    soon = notice_of(certificate, 70 * DAY + 1)
    assert soon is not None
    assert (soon.code, soon.is_failure) == ("PB-851", False)
    assert "expires in 29 days, on 1970-04-11" in soon.text
    expired = notice_of(certificate, 100 * DAY)
    assert expired is not None
    assert (expired.code, expired.is_failure) == ("PB-850", True)
    assert "expired on 1970-04-11" in expired.text
    early = notice_of(Certificate("mqtt.cert", "mqtt.pem", 50, 100 * DAY), 49)
    assert early is not None
    assert early.code == "PB-852"


def test_certificates_are_listed_by_end_date() -> None:
    late, early = Certificate("a", "a.pem", 0, 200), Certificate("b", "b.pem", 0, 100)
    assert [result.what for result in notices_of([late, early], 150)] == ["b", "a"]


def test_a_notice_is_logged_once_a_day_and_at_once_when_it_becomes_another(caplog: pytest.LogCaptureFixture) -> None:
    now = 75.0 * DAY
    board = NoticeBoard(lambda: now)
    certificate = Certificate("panel.cert", "panel.pem", 0, 100 * DAY)
    for hour in range(49):
        now = 75.0 * DAY + hour * 3600
        board.put("files", notices_of([certificate], now))
    assert [record.message.split()[0] for record in caplog.records] == ["PB-851"] * 3
    now = 100.0 * DAY
    board.put("files", notices_of([certificate], now))
    assert caplog.records[-1].levelname == "ERROR"
    assert caplog.records[-1].message.startswith("PB-850 panel.cert: panel.pem expired on")
    board.put("files", [])
    assert board.notices == []


def test_of_a_list_of_many_authorities_none_is_followed(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "ca")
    file = write_saigon_config(
        tmp_path, str(tmp_path / "KIND"), lambda: bytes(range(32)), more='[mqtt]\nhost = "b"\nca = "many.pem"\n'
    )
    for number, followed in ((MOST_IN_FILE, MOST_IN_FILE), (MOST_IN_FILE + 1, 0)):
        (tmp_path / "many.pem").write_text(authority.ca.read_text() * number)
        assert len(configured_certificates(load_config(file))) == followed
