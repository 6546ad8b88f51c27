"""A flood from many addresses on panel and control socket of a real box: people work on, and memory is bounded."""

from __future__ import annotations

import json
import re
import socket
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from simulators.casino.broker import free_port
from simulators.casino.table_layout import BENCH_PIN
from table_controller.access.control_client import BlockingClient
from tests.crash.test_read_only import configured, shown
from tests.support.box.processes import LIMIT
from tests.support.box.running_box import RunningBox

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.realtime

OWN = "127.0.0.1"
TABLET = "127.200.1.7"


class Answer(NamedTuple):
    status: int
    head: str
    body: Any


class Target:
    """A running box with a panel, reached from any address of the network 127.0.0.0/8."""

    def __init__(self, box: RunningBox, port: int) -> None:
        self.box, self.port = box, port

    def connect(self, address: str) -> socket.socket:
        return socket.create_connection((OWN, self.port), LIMIT, source_address=(address, 0))

    def send(self, address: str, method: str, path: str, body: Any = None, cookie: str = "") -> socket.socket:
        data = b"" if body is None else json.dumps(body).encode()
        connected = self.connect(address)
        head = f"{method} {path} HTTP/1.1\r\nHost: {OWN}:{self.port}\r\nOrigin: http://{OWN}:{self.port}\r\n"
        head += f"Cookie: {cookie}\r\nContent-Length: {len(data)}\r\n\r\n"
        connected.sendall(head.encode() + data)
        return connected

    def ask(self, address: str, method: str, path: str, body: Any = None, cookie: str = "") -> Answer:
        with self.send(address, method, path, body, cookie) as connected:
            return _answer(connected)

    def sign_on(self, address: str, pin: str = BENCH_PIN, id_: str = "dealer-1") -> Answer:
        return self.ask(address, "POST", "/api/sign_on", {"who": {"id": id_, "pin": pin}})

    def cookie(self, address: str, id_: str = "dealer-1") -> str:
        answer = self.sign_on(address, id_=id_)
        assert answer.status == 200, answer
        match = re.search(r"set-cookie: ([^;]+)", answer.head)
        assert match is not None
        return match[1]

    def follow(self, address: str, path: str, kept: ExitStack, cookie: str = "") -> int:
        """Open a stream and leave it open; return the status of its answer."""
        stream = kept.enter_context(self.send(address, "GET", path, cookie=cookie))
        return _head(stream)[0]


def _head(connected: socket.socket) -> tuple[int, str, bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        more = connected.recv(65536)
        if not more:
            return 0, "", b""
        data += more
    head, _, remaining = data.partition(b"\r\n\r\n")
    return int(head.split()[1]), head.decode(), remaining


def _answer(connected: socket.socket) -> Answer:
    try:
        status, head, body = _head(connected)
    except ConnectionError:
        return Answer(0, "", b"")
    length = re.search(r"content-length: (\d+)", head)
    while length and len(body) < int(length[1]):
        body += connected.recv(65536)
    return Answer(status, head, json.loads(body) if "application/json" in head else body)


def networks(number: int) -> list[str]:
    """Return addresses of that many networks."""
    return [f"127.{1 + n // 200}.{1 + n % 200}.9" for n in range(number)]


@contextmanager
def target(folder: Path) -> Iterator[Target]:
    port = free_port()
    with RunningBox(configured(folder, folder / "data", port)) as box:
        shown(box, "panel: http")
        yield Target(box, port)


def test_half_sent_requests_from_everywhere_keep_nobody_out(tmp_path: Path) -> None:
    with target(tmp_path) as table, ExitStack() as kept:
        tablet = table.cookie(TABLET)
        for address in (*networks(150), *(f"127.7.7.{n}" for n in range(1, 60)), *[OWN] * 60, *networks(50)):
            half = kept.enter_context(table.connect(address))
            half.sendall(b"GET /dealer HTTP/1.1\r\nHost: ")
        assert table.ask(OWN, "GET", "/dealer").status == 200, "the table's own screen"
        assert table.sign_on(OWN).status == 200
        assert table.ask(TABLET, "GET", "/api/session", cookie=tablet).body["role"] == "dealer", "a page signed on"
        assert table.ask("127.99.1.1", "GET", "/dealer").status == 200, "a half-sent request gives way"
        body = kept.enter_context(table.connect("127.99.2.1"))
        body.sendall(f"POST /api/sign_on HTTP/1.1\r\nHost: {OWN}:{table.port}\r\nContent-Length: 100\r\n\r\n".encode())
        assert table.ask(OWN, "GET", "/metrics").status == 200


def test_sign_streams_without_a_credential_leave_room_for_pages_and_for_the_tables_own_sign(tmp_path: Path) -> None:
    with target(tmp_path) as table, ExitStack() as kept:
        before = table.cookie(TABLET, "floor-1")
        many = [table.follow(address, "/api/sign", kept) for address in [*["127.7.7.7"] * 20, *networks(60)]]
        assert 200 in many, "players' signs on the network are served"
        assert 503 in many, "but not without end"
        assert table.follow(OWN, "/api/sign", kept) == 200, "the sign at the table"
        assert table.follow(OWN, "/api/stream", kept, table.cookie(OWN)) == 200
        assert table.follow(TABLET, "/api/stream", kept, before) == 200, "a tablet that was signed on before"
        for _ in range(10):
            assert table.follow(OWN, "/api/stream?machines", kept, table.cookie(OWN)) == 200, "ten panels"


def test_wrong_pins_from_many_networks_lock_nobody_out_and_are_counted_in_few_lines(tmp_path: Path) -> None:
    with target(tmp_path) as table:
        table.cookie(TABLET)
        statuses = [table.sign_on(address, "000001").status for address in networks(30) for _ in range(10)]
        assert set(statuses) == {401, 429}
        assert table.sign_on(OWN).status == 200, "the table's own screen"
        assert table.sign_on(TABLET).status == 200, "where this credential was accepted before"
        assert table.ask(OWN, "POST", "/api/sign_on", {"who": {"id": "no one", "pin": "123456"}}).status == 401
        for _ in range(500):
            assert table.ask("127.3.3.3", "GET", "/api/labels/\r\nHost: x\r\n").status in (400, 403, 404)
        assert table.box.end() == 0
        lines = [json.loads(line)["message"] for line in table.box.log_text().splitlines() if line.startswith("{")]
        pins = [line for line in lines if "PIN" in line]
        assert len(pins) <= 100, "not a line for each"
        counted = [int(match[1]) if (match := re.search(r"(\d+) more", line)) else 1 for line in pins]
        assert sum(counted) == len(statuses) + 1, "and none is lost"
        assert sum("request" in line for line in lines) <= 10


def test_followers_without_a_credential_leave_the_control_socket_to_commands(tmp_path: Path) -> None:
    with target(tmp_path) as table, ExitStack() as kept:
        path, answers = str(table.box.socket), 0
        for number in range(80):
            client = kept.enter_context(socket.socket(socket.AF_UNIX))
            client.settimeout(LIMIT)
            client.connect(path)
            client.sendall(b'{"id": 1, "do": "follow"}\n' if number % 2 else b'{"id": 1, "do": "trace"}\n')
            with suppress(ConnectionError):  # one that is refused
                read = client.makefile("rb")
                assert read.readline()
                answers += b'"ok"' in read.readline()
        assert 0 < answers < 30, "some may, not all"
        assert table.box.status()["phase"] == "running"
        with BlockingClient(table.box.socket) as caller:
            assert caller.request("sign_on", credential="dealer-1", pin=BENCH_PIN)["credential"] == "dealer-1"
            assert caller.request("follow")["seq"] >= 0
            for _ in range(30):
                assert table.box.status()["phase"] == "running"
