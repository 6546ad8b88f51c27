"""Access to the broker: TLS, passwords and the shipped ACL, with a real Mosquitto."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from simulators.casino.broker import free_port
from tests.support.box.broker import Mosquitto, MqttListener, publish, until
from tests.support.box.certificates import Authority
from tests.support.box.uplinks import PREFIX, running, settings
from tests.support.suite.required_tools import need_tool
from tools import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

USER = "pitbox-riverside-table-7"
READER = ("-u", "audit-store", "-P", "audit secret")


def guarded(folder: Path, *users: str, listener: tuple[str, ...] = (), acl: Path | None = None) -> Mosquitto:
    """Return a broker that knows these users; the password of NAME is NAME's first word and `secret`."""
    passwords = folder / "passwords"
    passwords.touch(mode=0o600)
    for user in users:
        tool = need_tool("mosquitto_passwd", "mosquitto")
        subprocess.run([tool, "-b", str(passwords), user, f"{user.partition('-')[0]} secret"], check=True)
    lines = [f"password_file {passwords}", f"acl_file {acl or ROOT / 'deploy' / 'mosquitto' / 'acl'}"]
    return Mosquitto(folder, *lines, listener=listener, anonymous=False)


async def trouble(folder: Path, **mqtt: Any) -> tuple[str, str]:
    """Return code and text of the uplink's error while the table plays on."""
    async with running(folder, settings(**mqtt)) as box:
        # A broker may disconnect before its refusal is read (PB-836); the next try names it.
        await until(lambda: box.uplink.health.code not in ("", "PB-836", None))
        box.submit_refused_step(3)
        await box.durable()
        assert len(box.on_disk()) == 4, "the table does not wait for its broker"
        assert box.uplink.health.behind
        return box.uplink.health.code, box.uplink.health.text


@pytest.mark.realtime
async def test_with_the_shipped_acl_a_box_publishes_everything_and_a_reader_receives_it(tmp_path: Path) -> None:
    broker = guarded(tmp_path, USER, "audit-store", "pit-screen")
    broker.start()
    listener = MqttListener(tmp_path, broker.port, f"{PREFIX}/#", *READER)
    pit = MqttListener(tmp_path, broker.port, f"{PREFIX}/#", "-u", "pit-screen", "-P", "pit secret", name="pit")
    try:
        async with running(tmp_path, settings(broker.port, username=USER, password="pitbox secret")) as box:
            await box.until_acknowledged()
            await until(lambda: all(listener.bodies_on(end) for end in ("status", "state", "meters", "head", "health")))
            for role in ("auditor", "technician"):  # this reader has one of the two roles
                publish(broker.port, f"{PREFIX}/command/{role}/ping", "", *READER)
            await until(lambda: listener.bodies_on("reply/auditor"))
            box.submit_refused_step()
            await box.until_acknowledged()
            assert not listener.bodies_on("reply/technician"), "a role that the ACL does not give reaches nobody"
            assert box.uplink.health.commands == 1
        await until(lambda: pit.bodies_on("state"))
        assert not pit.bodies_on("health"), "the pit's screen does not see what only service may"
    finally:
        listener.close()
        pit.close()
        broker.stop()


@pytest.mark.realtime
async def test_a_wrong_password_is_named_and_costs_the_table_nothing(tmp_path: Path) -> None:
    broker = guarded(tmp_path, USER)
    broker.start()
    try:
        code, words = await trouble(tmp_path, port=broker.port, username=USER, password="not the word")
        assert code == "PB-832"
        assert "Not authorized" in words
        assert "not the word" not in words
    finally:
        broker.stop()


@pytest.mark.realtime
async def test_an_acl_that_denies_the_events_is_noticed_and_nothing_counts_as_published(tmp_path: Path) -> None:
    acl = tmp_path / "acl"
    acl.write_text(f"user {USER}\ntopic write {PREFIX}/status\n", "utf-8")
    broker = guarded(tmp_path, USER, acl=acl)
    broker.start()
    try:
        async with running(tmp_path, settings(broker.port, username=USER, password="pitbox secret")) as box:
            await until(lambda: box.uplink.health.code == "PB-835")
            assert box.outbox.acknowledged.seq < 2, "the first record has no event; the second is denied"
    finally:
        broker.stop()


@pytest.mark.realtime
async def test_an_unreachable_broker_and_an_unknown_host_name(tmp_path: Path) -> None:
    assert (await trouble(tmp_path, port=free_port()))[0] == "PB-831"
    (tmp_path / "other").mkdir()
    assert (await trouble(tmp_path / "other", port=1883, host="no-such-host.invalid"))[0] == "PB-831"


class Tls:
    """A TLS broker that requires client certificates, the CA of both sides, and a CA that nobody trusts."""

    def __init__(self, folder: Path) -> None:
        self.good, self.bad = Authority(folder, "site-ca"), Authority(folder, "other-ca")
        cert, key = self.good.issue("broker", "IP:127.0.0.1")
        own = ("cafile " + str(self.good.ca), f"certfile {cert}", f"keyfile {key}", "require_certificate true")
        self.broker = Mosquitto(folder, listener=own)
        self.box = self.good.issue("box")
        self.stranger = self.bad.issue("box")


@pytest.fixture
def tls(tmp_path: Path) -> Iterator[Tls]:
    created = Tls(tmp_path)
    created.broker.start()
    yield created
    created.broker.stop()


@pytest.mark.realtime
async def test_the_shipped_configuration_starts_as_debian_includes_it_and_accepts_a_box(tmp_path: Path) -> None:
    authority, certs, parts = Authority(tmp_path, "site-ca"), tmp_path / "certs", tmp_path / "conf.d"
    for folder in (certs, parts, tmp_path / "lib"):
        folder.mkdir()
    pair = authority.issue("broker", "IP:127.0.0.1")
    for name, file in zip(("site-ca.crt", "broker.crt", "broker.key"), (authority.ca, *pair), strict=True):
        shutil.copy(file, certs / name)
    broker = guarded(tmp_path, USER)
    (tmp_path / "passwords").rename(tmp_path / "pitbox.passwd")
    shutil.copy(ROOT / "deploy" / "mosquitto" / "acl", tmp_path / "pitbox.acl")
    shipped = (ROOT / "deploy" / "mosquitto" / "mosquitto.conf").read_text("utf-8")
    here = shipped.replace("/etc/mosquitto", str(tmp_path)).replace(
        "listener 8883", f"listener {broker.port} 127.0.0.1"
    )
    (parts / "pitbox.conf").write_text(here, "utf-8")
    debian = ("user root", "persistence true", f"persistence_location {tmp_path}/lib/", f"include_dir {parts}")
    (tmp_path / "mosquitto.conf").write_text("\n".join(debian) + "\n", "utf-8")
    broker.start()
    try:
        cert, key = authority.issue("box")
        sure: dict[str, Any] = {"tls": True, "ca": authority.ca, "cert": cert, "key": key}
        async with running(tmp_path, settings(broker.port, username=USER, password="pitbox secret", **sure)) as box:
            await box.until_acknowledged()
            assert box.uplink.health.connected
    finally:
        broker.stop()


# The library leaves the socket of a handshake that failed to the collector.
@pytest.mark.filterwarnings("ignore:unclosed <ssl.SSLSocket:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.realtime
async def test_tls_with_both_certificates_and_with_every_wrong_one(tmp_path: Path, tls: Tls) -> None:
    cert, key = tls.box
    base: dict[str, Any] = {"port": tls.broker.port, "tls": True, "ca": tls.good.ca, "cert": cert, "key": key}
    async with running(tmp_path, settings(**base)) as box:
        box.submit_refused_step(3)
        await box.until_acknowledged()
        assert box.uplink.health.connected
    wrong: dict[str, dict[str, Any]] = {
        "a broker of another CA": {"ca": tls.bad.ca},
        "our certificate of another CA": {"cert": tls.stranger[0], "key": tls.stranger[1]},
        "no certificate of ours": {"cert": None, "key": None},
        "another name": {"host": "localhost"},
        "no file": {"ca": tmp_path / "nowhere.crt"},
        "a key that does not belong to the certificate": {"key": tls.stranger[1]},
    }
    for number, (what, change) in enumerate(wrong.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        code, words = await trouble(folder, **base | change)
        assert code == "PB-833", f"{what}: {code} {words}"
        assert words
