"""The golden bytes: what each end writes and reads, compared with tests/wire/golden/ and a reference codec."""

from __future__ import annotations

from hashlib import blake2s
from random import Random
from typing import Any, Final, get_args

import msgspec
import pytest

from devices.kinds import KINDS
from devices.message_registry import KIND_MESSAGES, all_messages
from devices.shuffler import messages as m
from firmware_bridge import frame as fr
from firmware_bridge import handshake, seal
from firmware_bridge.framer import Framer
from firmware_bridge.messages import HandshakeToDevice, HandshakeToHost, Message, decoder, encode, tag_of
from firmware_bridge.seal import Sealer
from tests.support.wire.golden import CLASSES, GOLDEN, MESSAGES, class_of, message, values
from tests.support.wire.golden_session import FIRMWARE_DECODER, SESSION, SHAKE
from tests.wire import reference_codec

FRAMES: Final[list[dict[str, Any]]] = SESSION + GOLDEN["frame"]
_DECODERS: Final = [
    (HandshakeToDevice, handshake._TO_DEVICE),
    (HandshakeToHost, handshake._TO_HOST),
    *((kind.messages.ToDevice, decoder(kind.messages.ToDevice)) for kind in KINDS.values()),
    *((kind.messages.ToHost, kind.decoder) for kind in KINDS.values()),
]


def _name(entry: dict[str, Any]) -> str:
    return f"{entry.get('name') or entry.get('message') or 'bare'}-{entry['payload'][:8]}"


def _receivers(cls: type[Message]) -> list[msgspec.msgpack.Decoder[Any]]:
    return [reader for union, reader in _DECODERS if cls in get_args(union)]


# --- messages --------------------------------------------------------------------------------------------------------


def test_every_message_has_golden_bytes_and_every_entry_a_message() -> None:
    def descendants(cls: type[Message]) -> set[type[Message]]:
        return {cls}.union(*(descendants(sub) for sub in cls.__subclasses__()))

    ours = {cls for cls in descendants(Message) - {Message} if not cls.__module__.startswith("tests")}
    assert ours == set(all_messages()), "a message that no registry lists"
    assert {class_of(entry) for entry in MESSAGES} == ours


def test_every_kind_of_machine_is_listed_everywhere() -> None:
    assert list(KINDS) == [machine.KIND for machine in KIND_MESSAGES] == list(CLASSES)[1:]


@pytest.mark.parametrize("entry", MESSAGES, ids=_name)
def test_the_golden_payload_follows_from_the_protocol_page(entry: dict[str, Any]) -> None:
    tag = tag_of(class_of(entry))
    assert reference_codec.pack([tag, *values(entry)]).hex() == entry["payload"]


@pytest.mark.parametrize("entry", MESSAGES, ids=_name)
def test_encoding_gives_the_golden_payload(entry: dict[str, Any]) -> None:
    built = message(entry)
    assert list(entry.get("fields", {})) == list(built.__struct_fields__)
    assert encode(built).hex() == entry["payload"]


@pytest.mark.parametrize("entry", MESSAGES, ids=_name)
def test_each_receiver_reads_the_golden_payload_and_nobody_else_does(entry: dict[str, Any]) -> None:
    built, golden = message(entry), bytes.fromhex(entry["payload"])
    receivers = _receivers(type(built))
    assert receivers
    for _, reader in _DECODERS:
        if reader in receivers:
            assert reader.decode(golden) == built
        else:
            with pytest.raises(msgspec.ValidationError):
                reader.decode(golden)


@pytest.mark.parametrize("entry", MESSAGES, ids=_name)
def test_trailing_missing_and_swapped_fields_are_refused(entry: dict[str, Any]) -> None:
    cls, given = class_of(entry), values(entry)
    whole = [tag_of(cls), *given]
    wrong = [[*whole, 0], [*whole, None], whole[:-1], [str(whole[0]), *given], [{}, *given]]
    for reader in _receivers(cls):
        for items in wrong:
            with pytest.raises(msgspec.ValidationError):
                reader.decode(msgspec.msgpack.encode(items))
        with pytest.raises(msgspec.DecodeError):
            reader.decode(bytes.fromhex(entry["payload"]) + b"\0")
        with pytest.raises(msgspec.DecodeError):
            reader.decode(bytes.fromhex(entry["payload"])[:-1])


@pytest.mark.parametrize("entry", MESSAGES, ids=_name)
def test_no_field_takes_a_number_or_a_length_out_of_range(entry: dict[str, Any]) -> None:
    cls, given = class_of(entry), values(entry)
    for at, value in enumerate(given):
        for bad in _out_of_range(value):
            items = [tag_of(cls), *given[:at], bad, *given[at + 1 :]]
            for reader in _receivers(cls):
                with pytest.raises(msgspec.ValidationError):
                    reader.decode(msgspec.msgpack.encode(items))


def _out_of_range(value: Any) -> list[Any]:
    """Return values that no field of this type may carry, for any limits."""
    if isinstance(value, bool):
        return [0, 1, None, "true"]
    if isinstance(value, int):
        return [-1, 1 << 63, 1.0, True, str(value)]
    if isinstance(value, str):
        return ["", "x" * 33, value.encode(), None]
    if isinstance(value, bytes):
        return [b"x" * 65, value.hex(), None]
    if value is None:
        return [-1, "", False]
    return [0, "", [0] * 600, [None]]


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        (reference_codec.pack([68, 0]), "command ids begin at 1"),
        (reference_codec.pack([72, 7, 2]), "there is no mode 2"),
        (reference_codec.pack([17, 7, 5, 0]), "there is no outcome 5"),
        (reference_codec.pack([17, 7, 2, 65536]), "a reason has 16 bits"),
        (reference_codec.pack([85, 7, 0, 1, 0, 256]), "seven sensors fit in a byte"),
        (reference_codec.pack([86, 7, 65536, 1, 0, False]), "a count has 16 bits"),
        (reference_codec.pack([90, 7, 419, 0, 1, 1, 0]), "there is no reason 419"),
        (reference_codec.pack([88, 7, 0, 7, 1, 1, 0, [[False, 1, 1]] * 7, [0] * 4]), "there is no segment 7"),
        (reference_codec.pack([81, [[False, 1, 1]] * 6, [0] * 4]), "seven sensors, not six"),
        (reference_codec.pack([81, [[False, 1, 1]] * 7, [0] * 5]), "four motors, not five"),
        (reference_codec.pack([83, 7, b"", bytes(65)]), "no deck has 65 cards too many"),
        (reference_codec.pack([76, 7, 0]), "nobody delivers nothing"),
        (reference_codec.pack([76, 7, 256]), "a delivery has a byte of cards"),
        (reference_codec.pack([85, 7, 3, 1, 0, 0]), "there is no phase 3"),
        (reference_codec.pack([241, 7, [0] * 52, [0] * 53]), "there are 53 cards, not 52"),
        (reference_codec.pack([241, 7, [0] * 53, [0] * 54]), "there are 53 cards, not 54"),
        (reference_codec.pack([241, 7, bytes(53), [0] * 53]), "a tally is an array"),
        (reference_codec.pack([1, "table", bytes(15)]), "a challenge has 16 bytes"),
        (reference_codec.pack([4, bytes(17)]), "a proof has 16 bytes"),
        (reference_codec.pack([255]), "no such tag"),
        (reference_codec.pack([]), "no tag at all"),
        (reference_codec.pack(7), "not an array"),
        (b"", "nothing"),
    ],
)
def test_values_outside_the_protocol_are_refused_by_every_receiver(payload: bytes, why: str) -> None:
    for _, reader in _DECODERS:
        with pytest.raises(msgspec.DecodeError):
            reader.decode(payload)


def test_longer_forms_of_a_number_are_read_too() -> None:
    for form in ("07", "cc07", "cd0007", "ce00000007", "cf0000000000000007", "d30000000000000007"):
        assert FIRMWARE_DECODER.decode(bytes.fromhex("9244" + form)) == m.StartCycle(7)


# --- frames ----------------------------------------------------------------------------------------------------------


def _key_of(entry: dict[str, Any]) -> bytes:
    return SHAKE["key_to_device"] if entry["sender"] == "host" else SHAKE["key_to_host"]


@pytest.mark.parametrize("entry", FRAMES, ids=_name)
def test_the_golden_frame_follows_from_the_protocol_page(entry: dict[str, Any]) -> None:
    header = reference_codec.header(*(entry[name] for name in ("flags", "type", "seq", "ack", "re", "counter")))
    signed = header + bytes.fromhex(entry["payload"])
    mac = reference_codec.mac(_key_of(entry), signed) if entry["flags"] & 1 else b""
    assert mac.hex() == entry["mac"]
    assert reference_codec.crc16(signed + mac).hex() == entry["crc"]
    assert reference_codec.wire(signed, mac).hex() == entry["wire"]
    assert reference_codec.unstuff(bytes.fromhex(entry["wire"])[:-1]).hex() == (signed + mac).hex() + entry["crc"]
    if entry["message"]:
        assert entry["payload"] in {e["payload"] for e in MESSAGES if e["name"] == entry["message"]}


@pytest.mark.parametrize("entry", FRAMES, ids=_name)
def test_our_framer_and_seal_read_and_write_the_golden_frame(entry: dict[str, Any]) -> None:
    wire, inside = bytes.fromhex(entry["wire"]), bytes.fromhex(entry["payload"])
    (frame,) = Framer().feed(wire)
    for name in ("flags", "type", "seq", "ack", "re", "counter"):
        assert getattr(frame, name) == entry[name]
    assert (frame.payload, frame.mac.hex()) == (inside, entry["mac"])
    assert fr.to_wire(frame.signed, frame.mac) == wire
    if entry["flags"] & fr.SEALED:
        sealer = Sealer(_key_of(entry), entry["counter"])
        flags = entry["flags"] & ~fr.SEALED
        again = sealer.seal(flags, entry["type"], entry["seq"], entry["ack"], entry["re"], inside)
        assert fr.to_wire(*again) == wire
        assert seal.Opener(_key_of(entry)).accepts(frame)


def test_the_golden_handshake_follows_from_the_protocol_page() -> None:
    bound = reference_codec.transcript(SHAKE["host_hello"], SHAKE["device_hello"])
    assert bound == SHAKE["transcript"]
    for name, person, size in (
        ("device_proof", b"pbdevice", 16),
        ("host_proof", b"pbhost", 16),
        ("key_to_device", b"pbtodev", 32),
        ("key_to_host", b"pbtohost", 32),
    ):
        assert reference_codec.blake2s(bound, key=SHAKE["key"], person=person, size=size) == SHAKE[name]


def test_our_handshake_derives_the_golden_proofs_and_keys() -> None:
    bound = seal.transcript(SHAKE["host_hello"], SHAKE["device_hello"])
    assert bound == SHAKE["transcript"]
    assert seal.device_proof(SHAKE["key"], bound) == SHAKE["device_proof"]
    assert seal.host_proof(SHAKE["key"], bound) == SHAKE["host_proof"]
    assert seal.derive_session_keys(SHAKE["key"], bound) == seal.SessionKeys(
        SHAKE["key_to_device"], SHAKE["key_to_host"]
    )


def test_the_reference_codec_matches_published_values() -> None:
    assert reference_codec.crc16(b"123456789").hex() == "29b1"  # the check value of CRC-16/CCITT-FALSE
    assert reference_codec.blake2s(b"abc").hex() == "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982"
    rng = Random(1)
    for length in (0, 1, 63, 64, 65, 128, 129, 300):
        data, key = rng.randbytes(length), rng.randbytes(32)
        theirs = blake2s(data, key=key, person=b"pbhost", digest_size=8).digest()
        assert reference_codec.blake2s(data, key=key, person=b"pbhost", size=8) == theirs
    assert reference_codec.stuff(bytes([0, 1, 0])).hex() == "01020101"
