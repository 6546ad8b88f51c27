"""Notices of a running box: certificates and journal heads that do not leave it; and the addresses that it prints."""

from __future__ import annotations

import json
import re
import ssl
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from simulators.casino.broker import free_port
from simulators.casino.table_layout import BENCH_PEOPLE, BENCH_PIN, table_slots, table_toml, write_bench_people
from tests.support.box.broker import Mosquitto
from tests.support.box.certificates import Authority
from tests.support.box.configs import write_config
from tests.support.box.processes import LIMIT, pitbox
from tests.support.box.running_box import RunningBox

if TYPE_CHECKING:
    from pathlib import Path

GAME = "over_under"

pytestmark = pytest.mark.realtime


def configured(folder: Path, more: str) -> Path:
    write_bench_people(folder / "data")
    return write_config(folder, table_toml(GAME, {slot: str(folder / slot) for slot in table_slots(GAME)}) + more)


def panel(listen: str, port: int, pair: tuple[Path, Path] | None) -> str:
    tls = "" if pair is None else f'cert = "{pair[0]}"\nkey = "{pair[1]}"\n'
    return f'\n[panel]\nenabled = true\nlisten = "{listen}"\nport = {port}\n{tls}'


def until(box: RunningBox, pattern: str) -> re.Match[str]:
    """Wait until the box has logged something."""
    limit = time.monotonic() + LIMIT
    while (match := re.search(pattern, box.log_text())) is None:
        assert box.process.poll() is None, box.log_text()
        assert time.monotonic() < limit, f"{pattern} is not in\n{box.log_text()}"
        time.sleep(0.05)
    return match


def noticed(box: RunningBox, *expected: tuple[str, str]) -> list[dict[str, Any]]:
    """Wait until the status has these notices, by what and code; return all of them."""
    limit = time.monotonic() + LIMIT
    while True:
        notices: list[dict[str, Any]] = box.status()["notices"]
        if set(expected) <= {(each["what"], each["code"]) for each in notices}:
            return notices
        assert time.monotonic() < limit, f"{expected} are not all in {notices}\n{box.log_text()}"
        time.sleep(0.05)


def sign_on(address: str, context: ssl.SSLContext | None) -> int:
    """Sign on as a browser does whose page came from this address; return the answer's status."""
    origin = address.rstrip("/")
    body = json.dumps({"who": {"id": next(iter(BENCH_PEOPLE)), "pin": BENCH_PIN}}).encode()
    headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{origin}/api/sign_on", body, headers)
    try:
        with urllib.request.urlopen(request, timeout=LIMIT, context=context) as answer:
            status: int = answer.status
            return status
    except urllib.error.HTTPError as refused:
        return refused.code


@pytest.mark.parametrize(
    ("listen", "names"),
    [
        ("127.0.0.2", ("IP:127.0.0.2",)), ("127.0.0.2", None), ("127.0.0.1", None), ("::1", ("IP:::1",)), ("::1", None),
        ("localhost", ("DNS:localhost",)), ("localhost", None), ("0.0.0.0", ("IP:127.0.0.1", "DNS:localhost")),
    ],
)  # fmt: skip
def test_people_can_sign_on_at_every_address_that_is_printed(
    tmp_path: Path, listen: str, names: tuple[str, ...] | None
) -> None:
    authority = Authority(tmp_path, "ca")
    pair = None if names is None else authority.issue("panel", *names)
    config = configured(tmp_path, panel(listen, free_port(), pair))
    trusted = None if pair is None else ssl.create_default_context(cafile=authority.ca)
    checked = re.findall(
        r"https?://\S+", next(x for x in pitbox("config", "check", str(config)).splitlines() if x.startswith("panel "))
    )
    with RunningBox(config) as box:
        logged = re.findall(r"https?://\S+", until(box, r"panel: (http.*)").group(1).replace('"', " "))
        assert logged == checked
        assert len(logged) == len(names or ("",))
        for address in logged:
            assert urlsplit(address).port is not None, address
            assert sign_on(address, trusted) == 200, address


def test_expired_and_ending_certificates_are_shown_wherever_people_look(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "ca")
    port = free_port()
    old = authority.issue("panel", "IP:127.0.0.1", days=-3, begins=-90)
    client = authority.issue("box", days=29)
    broker = authority.issue("broker", "IP:127.0.0.1", days=-1, begins=-90)
    own = (f"cafile {authority.ca}", f"certfile {broker[0]}", f"keyfile {broker[1]}", "require_certificate true")
    mosquitto = Mosquitto(tmp_path, listener=own)
    mqtt = f'\n[mqtt]\nhost = "127.0.0.1"\nport = {mosquitto.port}\nca = "{authority.ca}"\n'
    mqtt += f'cert = "{client[0]}"\nkey = "{client[1]}"\n'
    config = configured(tmp_path, panel("127.0.0.1", port, old) + mqtt)
    checked = pitbox("config", "check", str(config), expect=1)
    assert f"PB-850  panel.cert: {old[0]} expired on" in checked
    assert f"PB-851 mqtt.cert: {client[0]} expires in 28 days" in checked
    mosquitto.start()
    try:
        with RunningBox(config) as box:
            expected = (("panel.cert", "PB-850"), ("mqtt.cert", "PB-851"), ("mqtt.ca", "PB-851"), ("broker", "PB-850"))
            notices = noticed(box, *expected)
            assert "PB-854" not in {each["code"] for each in notices}, "heads leave the box by the broker"
            status = pitbox("status", "--config", str(config))
            doctor = {(line["what"], line["state"]) for line in json.loads(
                pitbox("doctor", "--json", "--config", str(config), expect=2))["lines"]}  # fmt: skip
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            page = (
                urllib.request.urlopen(f"https://127.0.0.1:{port}/metrics", timeout=LIMIT, context=context)
                .read()
                .decode()
            )
            words = box.log_text()
    finally:
        mosquitto.stop()
    assert f"FAILURE: PB-850 panel.cert: {old[0]} expired on" in status
    assert f"FAILURE: PB-850 broker: 127.0.0.1:{mosquitto.port} expired on" in status
    assert "note: PB-851 mqtt.cert" in status
    assert "NOT CONNECTED. PB-833" in status
    assert {("panel.cert", "fail"), ("mqtt.cert", "warn"), ("broker", "fail"), ("broker", "warn")} <= doctor
    assert words.count("PB-850 panel.cert") == 1
    assert words.count("PB-850 broker") == 1
    for name, what in (("panel.cert", str(old[0])), ("broker", f"127.0.0.1:{mosquitto.port}")):
        line = rf'pitbox_certificate_expiry_timestamp_seconds{{certificate="{name}",where="{re.escape(what)}"}} (\d+)'
        match = re.search(line, page)
        assert match is not None, page
        assert int(match[1]) < time.time()
    assert "pitbox_uplink_connected 0\n" in page
    behind = re.search(r"pitbox_uplink_behind_records (\d+)", page)
    assert behind is not None
    assert int(behind[1]) > 0
    assert 'pitbox_notices{code="PB-850"} 2' in page


def test_a_box_that_publishes_no_journal_heads_warns_at_start_and_in_doctor(tmp_path: Path) -> None:
    config = configured(tmp_path, "\n[panel]\nenabled = false\n")
    with RunningBox(config) as box:
        (notice,) = noticed(box, ("journal heads", "PB-854"))
        assert "no broker and no second copy" in notice["text"]
        until(box, "PB-854 no head of the journal leaves this computer")
        assert "note: PB-854" in pitbox("status", "--config", str(config))
    parsed = json.loads(pitbox("doctor", "--no-bench", "--json", "--config", str(config), expect=2))["lines"]
    assert [line["state"] for line in parsed if line["what"] == "journal heads"] == ["warn"]
    (tmp_path / "copy").mkdir()
    config.write_text(config.read_text() + '\n[journal]\ncopy = "copy"\n')
    assert "PB-854 no head of the journal leaves this disk" in pitbox("config", "check", str(config))
