"""Captures of whole sessions: the output of the real tshark, and secrets that must never be in the file."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devices.message_registry import all_messages
from devices.shuffler import messages as m
from firmware_bridge import frame as fr
from firmware_bridge import seal
from firmware_bridge.capture import Blanker, CapturedFrame, CaptureFile, read_capture, read_tag
from firmware_bridge.messages import DeviceHello, HostHello, HostProof, Message, encode, tag_of
from tests.support.machines.bench import shuffler_bench
from tests.support.wire.captures import START_NS, captured_so_far, keep_in_memory, rows, signed_with, tshark, virtual_ns
from tests.wire import reference_codec
from tools.docs import dissector


class Recorded(msgspec.Struct, frozen=True):
    """A captured session in which an identifying shuffler rejected a deck."""

    path: Path
    key: bytes
    findings: m.Findings

    @property
    def packets(self) -> list[CapturedFrame]:
        return list(read_capture(self.path))


async def record(path: Path, seed: int, rung: str = "clean") -> Recorded:
    with path.open("wb") as file:
        capture = CaptureFile(file, all_messages(), virtual_ns)
        async with shuffler_bench(seed, rung, capture=capture.port("shuffler.1"), identifies=True) as b:
            for _ in range(3):
                b.inject("swapped_card")
            await b.driver.shuffle(b.next_id())
            findings = await b.driver.findings()
            key = b.machine.key.key
        assert capture.error is None
    assert isinstance(findings, m.Findings)
    assert findings.missing
    assert findings.extra
    return Recorded(path, key, findings)


def message_name(packet: CapturedFrame) -> str:
    tag, _ = read_tag(packet.frame.payload)
    return {tag_of(message): message.__name__ for message in all_messages()}.get(tag or 0, "")


# --- what tshark prints ------------------------------------------------------------------------------------


async def test_tshark_prints_a_session_by_name(seed: int, tmp_path: Path) -> None:
    session = await record(tmp_path / "clean.pcapng", seed)
    lines = tshark(session.path).splitlines()
    assert len(lines) == len(session.packets)
    assert all(" PITBOX " in line for line in lines)
    for expected in (
        "→ HANDSHAKE HostHello",
        "← HANDSHAKE DeviceHello",
        "← HANDSHAKE DeviceProof",
        "→ HANDSHAKE HostProof",
        "← HANDSHAKE Welcome",
        "→ REQUEST GetReport seq=257",
        "← REPLY Report seq=257 re=257",
        "→ REQUEST StartCycle seq=259",
        "← REPLY Accepted seq=259 re=259",
        "← EVENT Progress seq=260",
        "← EVENT Completed seq=",
        "← EVENT Settled seq=",
        "→ REQUEST GetFindings seq=260",
        "← REPLY Findings seq=",
        "→ ACK ack=",
    ):
        assert any(expected in line for line in lines), expected
    assert [line for line in lines if "[blanked]" in line] == [line for line in lines if "REPLY Findings" in line]
    assert not any("[retransmit]" in line for line in lines)
    assert "shuffler.1 → box" in lines[1]


async def test_tshark_and_our_reader_agree_on_every_frame(seed: int, tmp_path: Path) -> None:
    session = await record(tmp_path / "lossy.pcapng", seed, "lossy")
    names = ("seq", "ack", "re", "counter", "type", "direction", "retransmit", "sealed", "blanked", "mac", "message")
    seen = rows(session.path, "frame.interface_name", "frame.time_epoch", *(f"pitbox.{name}" for name in names))
    expected = []
    for packet in session.packets:
        frame = packet.frame
        stamp = f"{packet.time_ns // 10**9}.{packet.time_ns % 10**9:09d}"
        numbers = (frame.seq, frame.ack, frame.re, frame.counter, frame.type, packet.outgoing)
        marks = (frame.flags & fr.RETRANSMIT, frame.flags & fr.SEALED, packet.blanked)
        fields = [str(int(number)) for number in numbers] + [str(int(bool(mark))) for mark in marks]
        expected.append([packet.slot, stamp, *fields, frame.mac.hex(), message_name(packet)])
    assert seen == expected


async def test_tshark_marks_retransmissions(seed: int, tmp_path: Path) -> None:
    session = await record(tmp_path / "lossy.pcapng", seed, "lossy")
    repeated = [n for n, packet in enumerate(session.packets, 1) if packet.frame.flags & fr.RETRANSMIT]
    assert repeated
    shown = rows(session.path, "frame.number", "_ws.col.Info", only="pitbox.retransmit == 1")
    assert [int(number) for number, _ in shown] == repeated
    assert all("[retransmit]" in info for _, info in shown)


async def test_tshark_shows_the_fields_of_a_message(seed: int, tmp_path: Path) -> None:
    session = await record(tmp_path / "clean.pcapng", seed)
    only = 'pitbox.message in {"DeviceHello", "Completed"}'
    text = tshark(session.path, "-Y", only, "-T", "json", "--no-duplicate-keys")
    hello, completed = (entry["_source"]["layers"]["pitbox"] for entry in json.loads(text))
    fields = hello["pitbox.payload_tree"]["pitbox.field"]
    assert fields[:4] == ['kind: "shuffler"', f'serial: "SIM-{seed:04d}-1"', 'model: "PB-S1i"', 'firmware: "sim-1.0"']
    assert fields[5] == 'capabilities: ["counts", "identifies", "trail", "jogs"]'
    assert (hello["pitbox.sealed"], completed["pitbox.sealed"]) == ("0", "1")
    assert "pitbox.mac" not in hello
    fields = completed["pitbox.payload_tree"]["pitbox.field"]
    assert [fields[1], *fields[3:]] == ["count: 53", "mode: 0 (SHUFFLE)", "rejected: true"]


def test_the_dissector_survives_any_payload(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    path = tmp_path / "noise.pcapng"
    with path.open("wb") as file:
        capture = CaptureFile(file, all_messages(), lambda: START_NS)
        port = capture.port("shuffler.1")
        for tag in map(tag_of, all_messages()):
            for _ in range(8):
                payload = bytes([0x90 + random.randint(1, 15), tag]) + random.randbytes(random.randint(0, 60))
                port(bool(random.getrandbits(1)), signed_with(payload, random.randint(0, 9)), bytes(8))
        port(False, signed_with(b"\x92\x11" + b"\xdd\xff\xff\xff\xff" * 20), bytes(8))
        port(False, signed_with(b"\x92\x11" + b"\x91" * 300), bytes(8))
        port(False, fr.pack_header(fr.SEALED, fr.ACK, 0, 0, fr.NO_RE, 0), b"")  # sealed, and no MAC
    assert capture.error is None
    assert len(rows(path, "_ws.col.Info")) == capture.packets
    assert rows(path, "frame.number", only="pitbox.malformed")


def test_every_form_of_msgpack_is_shown(tmp_path: Path) -> None:
    values: list[tuple[bytes, str]] = [
        *((msgspec.msgpack.encode(n), str(n)) for n in (0, 127, 128, 255, 256, 65_535, 65_536, 2**32, 2**63)),
        *((msgspec.msgpack.encode(n), str(n)) for n in (-1, -32, -33, -128, -129, -32_769, -(2**31) - 1)),
        *((msgspec.msgpack.encode(text), f'"{text}"') for text in ("", "a", "b" * 31, "c" * 32, "d" * 300)),
        *((msgspec.msgpack.encode(data), data.hex() or "(no bytes)") for data in (b"", b"\1\2", bytes(300))),
        *((msgspec.msgpack.encode(x), s) for x, s in ((None, "null"), (True, "true"), (False, "false"), (1.5, "1.5"))),
        (msgspec.msgpack.encode([1, [2, []]]), "[1, [2, []]]"),
        (msgspec.msgpack.encode([0] * 20), f"[{', '.join('0' * 20)}]"),
        (msgspec.msgpack.encode({"k": 1}), '{"k": 1}'),
        (msgspec.msgpack.encode(msgspec.msgpack.Ext(5, b"\xaa")), "05aa"),
        (b"\xca" + struct.pack(">f", 0.5), "0.5"),
    ]
    path = tmp_path / "forms.pcapng"
    with path.open("wb") as file:
        port = CaptureFile(file, all_messages()).port("shuffler.1")
        for encoded, _ in values:
            port(False, signed_with(bytes([0x92, tag_of(m.Door)]) + encoded), bytes(8))
    shown = [field for (field,) in rows(path, "pitbox.field")]
    assert shown == [f"open: {text}" for _, text in values]
    assert not rows(path, "frame.number", only="pitbox.malformed")


def test_the_dissector_knows_every_message(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert dissector.main(["--check"]) == 0
    monkeypatch.setattr(dissector, "all_messages", lambda: all_messages()[1:])
    assert dissector.main(["--check"]) == 1
    assert "python -m tools.docs.dissector" in capsys.readouterr().out


def test_the_registry_misses_no_message_of_the_project() -> None:
    def below(kind: type[Message]) -> set[type[Message]]:
        return {kind}.union(*map(below, kind.__subclasses__()))

    ours = {kind for kind in below(Message) - {Message} if not kind.__module__.startswith("tests.")}
    assert set(all_messages()) == ours


# --- what is never in the file -----------------------------------------------------------------------------


def session_keys_of(session: Recorded) -> list[bytes]:
    """Return every session key that the capture's handshakes can give."""
    hosts = {p.frame.payload for p in session.packets if message_name(p) == HostHello.__name__}
    devices = {p.frame.payload for p in session.packets if message_name(p) == DeviceHello.__name__}
    assert hosts
    assert devices
    pairs = [seal.derive_session_keys(session.key, seal.transcript(h, d)) for h in hosts for d in devices]
    return [key for pair in pairs for key in (pair.to_device, pair.to_host)]


@pytest.mark.parametrize("rung", ["clean", "lossy"])
async def test_no_key_is_in_the_file(seed: int, tmp_path: Path, rung: str) -> None:
    session = await record(tmp_path / "keys.pcapng", seed, rung)
    content = session.path.read_bytes()
    keys = [session.key, *session_keys_of(session)]
    first = next(p.frame for p in session.packets if p.frame.flags & fr.SEALED and not p.outgoing)
    openers = [seal.Opener(key) for key in keys[1:]]
    assert any(opener.accepts(first) for opener in openers), "these are not the session's keys"
    for key in keys:
        for part in (key[:8], key[8:16], key[16:24], key[24:]):
            assert part not in content
            assert part.hex().encode() not in content.lower()


@pytest.mark.parametrize("rung", ["clean", "lossy"])
async def test_identified_cards_are_not_in_the_file(seed: int, tmp_path: Path, rung: str) -> None:
    session = await record(tmp_path / "cards.pcapng", seed, rung)
    content = session.path.read_bytes()
    for finding in (session.findings.missing, session.findings.extra):
        assert msgspec.msgpack.encode(finding) in encode(session.findings)
        assert msgspec.msgpack.encode(finding) not in content
    reported = [packet for packet in session.packets if message_name(packet) == "Findings"]
    assert reported
    for packet in reported:
        original = encode(session.findings)
        assert packet.frame.payload == original[:2] + bytes(len(original) - 2)
        assert packet.frame.mac == bytes(fr.MAC_SIZE)
        assert packet.comment == "payload blanked: Findings names cards"
    assert [packet for packet in session.packets if packet.blanked] == reported
    shown = rows(session.path, "pitbox.message", "pitbox.field", "frame.comment", only="pitbox.blanked == 1")
    assert shown == [["Findings", "", "payload blanked: Findings names cards"]] * len(reported)


class Novel(Message, frozen=True, tag=255):
    cards: bytes


class Impostor(Message, frozen=True, tag=64):
    carries_cards = True
    cards: bytes


@pytest.mark.parametrize(
    ("payload", "kept", "why"),
    [
        (encode(Novel(b"secret")), b"\x92\xcc\xff", "tag 255 is unknown"),
        (b"\x92\x3f" + b"secret", b"\x92\x3f", "tag 63 is unknown"),
        (b"\x92\xcc\x56" + b"secret", b"", "no readable tag"),  # a known tag in a longer form than necessary
        (b"\x92\xcd\x00\x56" + b"secret", b"", "no readable tag"),
        (b"\xdc\x00\x02\x56" + b"secret", b"", "no readable tag"),
        (b"\x81\x56" + b"secret", b"", "no readable tag"),
        (b"secret", b"", "no readable tag"),
        (b"\x91", b"", "no readable tag"),
        (b"\x90\x56" + b"secret", b"", "no readable tag"),
    ],
)
def test_unknown_messages_are_blanked(payload: bytes, kept: bytes, why: str) -> None:
    file, capture = keep_in_memory()
    capture.port("shuffler.1")(False, signed_with(payload), b"\xaa" * 8)
    assert b"secret" not in file.getvalue()
    (packet,) = captured_so_far(file)
    assert packet.data[:4] == bytes([1, 0, 1, 0])
    assert packet.data[16:-8] == kept + bytes(len(payload) - len(kept))
    assert packet.data[-8:] == bytes(8)
    assert why in packet.comment


def test_without_known_messages_everything_is_blanked() -> None:
    file, capture = keep_in_memory([])
    port = capture.port("shuffler.1")
    for message in (m.Door(True), HostProof(b"p" * 16)):
        port(True, signed_with(encode(message)), bytes(8))
    port(True, signed_with(b"", fr.PING), bytes(8))
    assert [packet.data[2] for packet in captured_so_far(file)] == [1, 1, 0]


def test_a_tag_that_one_of_two_messages_uses_for_cards_is_blanked() -> None:
    known: list[type[Message]] = [Impostor, m.GetStatus]
    for order in (known, known[::-1]):
        assert "Impostor" in Blanker(order).blank_reason(encode(Impostor(b"secret")))


@given(st.binary(max_size=fr.MAX_PAYLOAD))
def test_a_payload_is_kept_only_if_its_tag_is_harmless(payload: bytes) -> None:
    blanker = Blanker(all_messages())
    harmless = {tag_of(message) for message in all_messages() if not message.carries_cards}
    if not blanker.blank_reason(payload):
        assert not payload or read_tag(payload)[0] in harmless
    blanked = blanker.blank(payload)
    assert len(blanked) == len(payload)
    assert not any(blanked[3:])


@pytest.mark.parametrize("message", all_messages(), ids=lambda message: message.__name__)
def test_every_message_is_judged_by_its_class(message: type[Message]) -> None:
    payload = reference_codec.pack([tag_of(message)])
    assert bool(Blanker(all_messages()).blank_reason(payload)) is message.carries_cards
