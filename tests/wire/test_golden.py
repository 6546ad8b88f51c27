"""The golden bytes: what each end writes and reads, compared with tests/wire/golden/ and a second opinion on it."""

from __future__ import annotations

import asyncio
from hashlib import blake2s
from random import Random
from typing import TYPE_CHECKING, Any, Final, get_args

import msgspec
import pytest

from devices.kinds import KINDS, SHUFFLER
from devices.registry import MACHINES, all_messages
from devices.report import LinkDown, Reported
from devices.shuffler import messages as m
from devices.shuffler.driver import ShufflerDriver
from devices.trail import Trail
from firmware_bridge import frame as fr
from firmware_bridge import handshake, seal
from firmware_bridge.commands import Accepted, Outcome, Report, Settled
from firmware_bridge.errors import BadMessage, HostRefused
from firmware_bridge.framer import Framer
from firmware_bridge.handshake import Trust, greet
from firmware_bridge.keys import ApprovedFirmware, DeviceKey
from firmware_bridge.messages import (
    DeviceHello,
    HandshakeToDevice,
    HandshakeToHost,
    Message,
    Refuse,
    decoder,
    encode,
    tag_of,
)
from firmware_bridge.seal import Sealer
from firmware_bridge.transport.memory import MemoryTransport, memory_pair
from firmware_bridge.wire import Wire
from simulators.device_clock import DeviceClock
from simulators.twins.board import Board
from simulators.twins.continuous import ContinuousTwin
from simulators.twins.shuffler import ShufflerTwin
from simulators.world.cards import World
from simulators.world.continuous import ContinuousMechanics
from simulators.world.shuffler import ONE_BATCH, ShufflerMechanics
from tests.support.golden import CLASSES, GOLDEN, MESSAGES, class_of, message, payload, values
from tests.wire import second_opinion

if TYPE_CHECKING:
    from devices.shuffler.state import DriverEvent
    from simulators.twins.every_shuffler import EveryShufflerTwin

SESSION: Final[list[dict[str, Any]]] = GOLDEN["session"]
FRAMES: Final[list[dict[str, Any]]] = SESSION + GOLDEN["frame"]
SHAKE: Final[dict[str, bytes]] = {name: bytes.fromhex(text) for name, text in GOLDEN["handshake"].items()}

# The decoders that really wait at the far end of each message: a twin's board makes its own as here.
DECODER: Final = SHUFFLER.decoder
TWIN_DECODER: Final = decoder(m.ToDevice)
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


def _wire(number: int) -> bytes:
    return bytes.fromhex(SESSION[number]["wire"])


def _sealed(key: bytes, payload: bytes, *, seq: int, counter: int, kind: int = fr.REQUEST) -> bytes:
    """A frame that an end which holds the session key could send."""
    return fr.to_wire(*Sealer(key, counter).seal(0, kind, seq, fr.FIRST_SEQ, fr.NO_RE, payload))


# --- messages --------------------------------------------------------------------------------------------------------


def test_every_message_has_golden_bytes_and_every_entry_a_message() -> None:
    def descendants(cls: type[Message]) -> set[type[Message]]:
        return {cls}.union(*(descendants(sub) for sub in cls.__subclasses__()))

    ours = {cls for cls in descendants(Message) - {Message} if not cls.__module__.startswith("tests")}
    assert ours == set(all_messages()), "a message that no registry lists"
    assert {class_of(entry) for entry in MESSAGES} == ours


def test_every_kind_of_machine_is_listed_everywhere() -> None:
    assert list(KINDS) == [machine.KIND for machine in MACHINES] == list(CLASSES)[1:]


@pytest.mark.parametrize("entry", MESSAGES, ids=_name)
def test_the_golden_payload_follows_from_the_words_of_the_protocol(entry: dict[str, Any]) -> None:
    tag = tag_of(class_of(entry))
    assert second_opinion.pack([tag, *values(entry)]).hex() == entry["payload"]


@pytest.mark.parametrize("entry", MESSAGES, ids=_name)
def test_encoding_gives_the_goldenpayload(entry: dict[str, Any]) -> None:
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
    """What no field with such a value may carry, whatever its exact limits."""
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
        (second_opinion.pack([68, 0]), "command ids begin at 1"),
        (second_opinion.pack([72, 7, 2]), "there is no mode 2"),
        (second_opinion.pack([17, 7, 5, 0]), "there is no outcome 5"),
        (second_opinion.pack([17, 7, 2, 65536]), "a reason has 16 bits"),
        (second_opinion.pack([85, 7, 0, 1, 0, 256]), "seven sensors fit in a byte"),
        (second_opinion.pack([86, 7, 65536, 1, 0, False]), "a count has 16 bits"),
        (second_opinion.pack([90, 7, 419, 0, 1, 1, 0]), "there is no reason 419"),
        (second_opinion.pack([88, 7, 0, 7, 1, 1, 0, [[False, 1, 1]] * 7, [0] * 4]), "there is no segment 7"),
        (second_opinion.pack([81, [[False, 1, 1]] * 6, [0] * 4]), "seven sensors, not six"),
        (second_opinion.pack([81, [[False, 1, 1]] * 7, [0] * 5]), "four motors, not five"),
        (second_opinion.pack([83, 7, b"", bytes(65)]), "no deck has 65 cards too many"),
        (second_opinion.pack([76, 7, 0]), "nobody delivers nothing"),
        (second_opinion.pack([76, 7, 256]), "a delivery has a byte of cards"),
        (second_opinion.pack([85, 7, 3, 1, 0, 0]), "there is no phase 3"),
        (second_opinion.pack([241, 7, [0] * 52, [0] * 53]), "there are 53 cards, not 52"),
        (second_opinion.pack([241, 7, [0] * 53, [0] * 54]), "there are 53 cards, not 54"),
        (second_opinion.pack([241, 7, bytes(53), [0] * 53]), "a tally is an array"),
        (second_opinion.pack([1, "table", bytes(15)]), "a challenge has 16 bytes"),
        (second_opinion.pack([4, bytes(17)]), "a proof has 16 bytes"),
        (second_opinion.pack([255]), "no such tag"),
        (second_opinion.pack([]), "no tag at all"),
        (second_opinion.pack(7), "not an array"),
        (b"", "nothing"),
    ],
)
def test_what_the_protocol_does_not_allow_is_refused_by_everybody(payload: bytes, why: str) -> None:
    for _, reader in _DECODERS:
        with pytest.raises(msgspec.DecodeError):
            reader.decode(payload)


def test_longer_forms_of_a_number_are_read_too() -> None:
    for form in ("07", "cc07", "cd0007", "ce00000007", "cf0000000000000007", "d30000000000000007"):
        assert TWIN_DECODER.decode(bytes.fromhex("9244" + form)) == m.StartCycle(7)


# --- frames ----------------------------------------------------------------------------------------------------------


def _key_of(entry: dict[str, Any]) -> bytes:
    return SHAKE["key_to_device"] if entry["sender"] == "host" else SHAKE["key_to_host"]


@pytest.mark.parametrize("entry", FRAMES, ids=_name)
def test_the_golden_frame_follows_from_the_words_of_the_protocol(entry: dict[str, Any]) -> None:
    header = second_opinion.header(*(entry[name] for name in ("flags", "type", "seq", "ack", "re", "counter")))
    signed = header + bytes.fromhex(entry["payload"])
    mac = second_opinion.mac(_key_of(entry), signed) if entry["flags"] & 1 else b""
    assert mac.hex() == entry["mac"]
    assert second_opinion.crc16(signed + mac).hex() == entry["crc"]
    assert second_opinion.wire(signed, mac).hex() == entry["wire"]
    assert second_opinion.unstuff(bytes.fromhex(entry["wire"])[:-1]).hex() == (signed + mac).hex() + entry["crc"]
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


def test_the_golden_handshake_follows_from_the_words_of_the_protocol() -> None:
    bound = second_opinion.transcript(SHAKE["host_hello"], SHAKE["device_hello"])
    assert bound == SHAKE["transcript"]
    for name, person, size in (
        ("device_proof", b"pbdevice", 16),
        ("host_proof", b"pbhost", 16),
        ("key_to_device", b"pbtodev", 32),
        ("key_to_host", b"pbtohost", 32),
    ):
        assert second_opinion.blake2s(bound, key=SHAKE["key"], person=person, size=size) == SHAKE[name]


def test_our_handshake_derives_the_golden_proofs_and_keys() -> None:
    bound = seal.transcript(SHAKE["host_hello"], SHAKE["device_hello"])
    assert bound == SHAKE["transcript"]
    assert seal.device_proof(SHAKE["key"], bound) == SHAKE["device_proof"]
    assert seal.host_proof(SHAKE["key"], bound) == SHAKE["host_proof"]
    assert seal.session_keys(SHAKE["key"], bound) == seal.Session(SHAKE["key_to_device"], SHAKE["key_to_host"])


def test_the_second_opinion_knows_published_values() -> None:
    assert second_opinion.crc16(b"123456789").hex() == "29b1"  # the check value of CRC-16/CCITT-FALSE
    assert second_opinion.blake2s(b"abc").hex() == "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982"
    rng = Random(1)
    for length in (0, 1, 63, 64, 65, 128, 129, 300):
        data, key = rng.randbytes(length), rng.randbytes(32)
        theirs = blake2s(data, key=key, person=b"pbhost", digest_size=8).digest()
        assert second_opinion.blake2s(data, key=key, person=b"pbhost", size=8) == theirs
    assert second_opinion.stuff(bytes([0, 1, 0])).hex() == "01020101"


# --- one real end, the golden bytes at the other ---------------------------------------------------------------------


class _FarEnd:
    """The other end of a real transport: collects whole frames, says what the script tells it to."""

    def __init__(self, transport: MemoryTransport) -> None:
        self._transport = transport
        self._heard: asyncio.Queue[bytes] = asyncio.Queue()
        self._rest = b""
        transport.on_bytes = self._take

    def _take(self, data: bytes) -> None:
        *frames, self._rest = (self._rest + data).split(b"\0")
        for frame in filter(None, frames):  # an idle delimiter is no frame
            self._heard.put_nowait(frame + b"\0")

    def say(self, data: bytes) -> None:
        self._transport.write(data)

    async def hear(self) -> bytes:
        async with asyncio.timeout(10):
            return await self._heard.get()

    def close(self) -> None:
        self._transport.close()


class _GoldenRandom(Random):
    """Gives the golden boot id; a real board draws its own."""

    def getrandbits(self, k: int, /) -> int:
        return 0x12345678


class _Twin:
    """A real twin with the golden identity, key and challenge, on a real link; its deck is still in the tray."""

    def __init__(self, challenge: bytes = SHAKE["device_challenge"], *, continuous: bool = False) -> None:
        world, clock = World(), DeviceClock()
        self.world = world
        self.mechanics: ShufflerMechanics
        self.twin: EveryShufflerTwin
        if continuous:
            self.mechanics = store = ContinuousMechanics(world, clock, Random(1), "shuffler.1")
            self.twin = ContinuousTwin(store, Random(2), ONE_BATCH)
        else:
            self.mechanics = ShufflerMechanics(world, clock, Random(1), "shuffler.1")
            self.twin = ShufflerTwin(self.mechanics, Random(2), identifies=False)
        hello = DECODER_OF_HELLO.decode(SHAKE["device_hello"])
        self.board = Board(
            hello, SHAKE["key"], m.ToContinuing if continuous else m.ToCycling, self.twin.handle, self.twin.boot,
            clock, _GoldenRandom(3), lambda _: challenge,
        )  # fmt: skip
        self.twin.board = self.board
        world.make_deck("tray", "blue")
        self.board.power_on()
        near, far = memory_pair()
        self.board.plug(near)
        self.host = _FarEnd(far)

    def load(self) -> None:
        self.world.move_all("tray", self.mechanics.intake)
        self.twin.hands_moved()

    async def open_session(self) -> None:
        for number in (0, 3):
            self.host.say(_wire(number))
        for number in (1, 2, 4):
            assert await self.host.hear() == _wire(number)

    async def ask(self, request: Message, at: int = 0) -> Message:
        """Ask the `at`th question of a session and return the driver's reading of the reply."""
        seq, counter = fr.FIRST_SEQ + at, fr.FIRST_COUNTER + at
        self.host.say(_sealed(SHAKE["key_to_device"], encode(request), seq=seq, counter=counter))
        while True:
            (frame,) = Framer().feed(await self.host.hear())
            if frame.type == fr.REPLY and frame.re == seq:
                reply: Message = DECODER.decode(frame.payload)
                return reply

    def close(self) -> None:
        self.host.close()
        self.board.power_off()


DECODER_OF_HELLO: Final = decoder(DeviceHello)


async def test_a_real_twin_plays_its_part_of_the_golden_session_byte_for_byte() -> None:
    device = _Twin()
    for number, entry in enumerate(SESSION):
        if entry["sender"] == "host":
            if not entry.get("lost"):
                device.host.say(_wire(number))
            continue
        if entry["message"] == "Intake":
            device.load()
        assert (await device.host.hear()).hex() == entry["wire"], entry["about"]
    device.close()


async def test_the_real_driver_plays_its_part_of_the_golden_session_byte_for_byte() -> None:
    near, far = memory_pair()
    device = _FarEnd(far)
    told: list[DriverEvent] = []
    driver = ShufflerDriver(told.append)
    hello: DeviceHello = DECODER_OF_HELLO.decode(SHAKE["device_hello"])
    trust = Trust(
        hello.kind,
        {hello.serial: DeviceKey(hello.serial, hello.kind, SHAKE["key"])},
        frozenset([ApprovedFirmware(hello.kind, hello.firmware, hello.digest)]),
    )
    cycle: asyncio.Task[Settled] | None = None

    async def host() -> None:
        link, proved = await greet(Wire(near), trust, DECODER, lambda _: SHAKE["host_challenge"])
        link.on_down = driver.link_down
        driver.link_up(link, proved)

    task = asyncio.create_task(host())
    for number, entry in enumerate(SESSION):
        if entry["sender"] == "device":
            device.say(_wire(number))
            continue
        if entry.get("lost"):
            cycle = asyncio.create_task(driver.shuffle(7))
        assert (await device.hear()).hex() == entry["wire"], entry["about"]
    await task
    (reported,) = [event for event in told if isinstance(event, Reported)]
    assert (reported.report.boot_id, reported.inventory.state) == (hello.boot_id, m.State.IDLE)
    assert m.Intake(cards=True) in told
    # The command ends when the device says so, and not with its acceptance.
    assert cycle is not None
    assert not cycle.done()
    ended = second_opinion.pack([17, 7, 2, 0])
    device.say(_sealed(SHAKE["key_to_host"], ended, seq=0x0105, counter=0x01010107, kind=fr.EVENT))
    assert (await cycle).outcome is Outcome.DONE
    device.close()
    await asyncio.sleep(0.1)
    assert isinstance(told[-1], LinkDown)


REPLIES: Final[dict[str, type[Message]]] = {
    "GetReport": Report,
    "AskCommand": Settled,
    "GetStatus": m.Status,
    "GetSensors": m.Sensors,
    "GetTransits": m.Transits,
    "GetTrail": Trail,
    "GetFindings": m.NoFindings,
    "StartCycle": Accepted,
    "Eject": Settled,  # refused: nothing lies behind the gate
    "Stop": Settled,
    "SelfTest": Accepted,
    "SetMode": Settled,
    "ClearJam": Accepted,
    "Jog": Accepted,
    "Reset": Settled,
}


# Of a machine without cycles, which understands the last three instead of StartCycle and SetMode.
REPLIES_WITHOUT_CYCLES: Final[dict[str, type[Message]]] = {
    **{name: reply for name, reply in REPLIES.items() if name not in ("StartCycle", "SetMode")},
    "GetStatus": m.Inventory,
    "TakeIn": Accepted,
    "Deliver": Settled,  # refused: the set was not counted
    "CountAll": Accepted,
}
_REQUESTS: Final = [(name, False) for name in REPLIES] + [(name, True) for name in REPLIES_WITHOUT_CYCLES]


def test_every_request_has_an_expected_reply() -> None:
    assert set(REPLIES) == {cls.__name__ for cls in get_args(m.ToCycling)}
    assert set(REPLIES_WITHOUT_CYCLES) == {cls.__name__ for cls in get_args(m.ToContinuing)}
    assert {*REPLIES, *REPLIES_WITHOUT_CYCLES} == {cls.__name__ for cls in get_args(m.ToDevice)}


@pytest.mark.parametrize(("name", "continuous"), _REQUESTS)
async def test_a_golden_request_gives_a_real_twins_reply_of_the_expected_type(name: str, continuous: bool) -> None:
    device = _Twin(continuous=continuous)
    await device.open_session()
    device.load()
    reply = await device.ask(TWIN_DECODER.decode(payload(name)))
    assert type(reply) is (REPLIES_WITHOUT_CYCLES if continuous else REPLIES)[name]
    device.close()


@pytest.mark.parametrize(
    ("name", "continuous"),
    [("TakeIn", False), ("Deliver", False), ("CountAll", False), ("StartCycle", True), ("SetMode", True)],
)
async def test_a_request_that_is_not_for_the_model_ends_the_session_and_moves_nothing(
    name: str, continuous: bool
) -> None:
    device = _Twin(continuous=continuous)
    await device.open_session()
    device.load()
    truth = device.world.census()
    await _ends_the_session(device, payload(name))
    assert device.world.census() == truth
    device.close()


async def test_a_real_twins_events_are_read_by_the_driver() -> None:
    device = _Twin()
    await device.open_session()
    device.load()
    accepted = await device.ask(m.StartCycle(7))
    assert accepted == Accepted(7)
    heard: list[Message] = []
    opener = seal.Opener(SHAKE["key_to_host"])
    sealer = Sealer(SHAKE["key_to_device"], 0x01010102)
    while Settled not in map(type, heard):
        (frame,) = Framer().feed(await device.host.hear())
        assert opener.accepts(frame)
        if frame.type == fr.EVENT:
            heard.append(DECODER.decode(frame.payload))
            ack = (frame.seq + 1) & 0xFFFF
            device.host.say(fr.to_wire(*sealer.seal(0, fr.ACK, 0, ack, fr.NO_RE, b"")))
    assert {type(event) for event in heard} == {m.Intake, m.Progress, m.Completed, Settled}
    assert heard[-1] == Settled(7, Outcome.DONE, 0)
    device.close()


@pytest.mark.parametrize("name", ["Status", "Completed", "Settled", "Welcome", "HostHello"])
async def test_a_message_in_the_wrong_direction_ends_the_session(name: str) -> None:
    device = _Twin()
    await device.open_session()
    await _ends_the_session(device, payload(name))
    device.close()


async def _ends_the_session(device: _Twin, wrong: bytes) -> None:
    """Say it, then ask: the answer must be that there is no session."""
    key = SHAKE["key_to_device"]
    device.host.say(_sealed(key, wrong, seq=0x0101, counter=0x01010101))
    device.host.say(_sealed(key, payload("GetStatus"), seq=0x0102, counter=0x01010102))
    while (frame := Framer().feed(await device.host.hear())[0]).flags & fr.SEALED:
        assert frame.type == fr.EVENT, "what the machine said of itself before"
    assert frame.payload == payload("NoSession")


@pytest.mark.parametrize("name", ["GetStatus", "StartCycle", "DeviceHello"])
async def test_the_host_ends_a_session_in_which_the_device_says_what_only_others_may(name: str) -> None:
    near, far = memory_pair()
    device = _FarEnd(far)
    hello: DeviceHello = DECODER_OF_HELLO.decode(SHAKE["device_hello"])
    key = DeviceKey(hello.serial, hello.kind, SHAKE["key"])
    approved = frozenset([ApprovedFirmware(hello.kind, hello.firmware, hello.digest)])
    task = asyncio.create_task(
        greet(Wire(near), Trust(hello.kind, {key.serial: key}, approved), DECODER, lambda _: SHAKE["host_challenge"])
    )
    for number in (1, 2, 4):
        device.say(_wire(number))
    link, _ = await task
    device.say(_sealed(SHAKE["key_to_host"], payload(name), seq=0x0101, counter=0x01010102, kind=fr.EVENT))
    await asyncio.sleep(0.1)
    assert isinstance(link.down, BadMessage)
    device.close()


async def test_a_device_without_a_session_answers_the_golden_hint() -> None:
    device = _Twin()
    device.host.say(_wire(5))
    assert (await device.host.hear()).hex() == GOLDEN["frame"][2]["wire"]
    device.close()


async def test_a_wrong_proof_gets_the_golden_refusal() -> None:
    device = _Twin()
    device.host.say(_wire(0))
    assert [await device.host.hear(), await device.host.hear()] == [_wire(1), _wire(2)]
    wrong = fr.head(0, fr.HANDSHAKE, 0, 0, fr.NO_RE, 0) + second_opinion.pack([4, bytes(16)])
    device.host.say(fr.to_wire(wrong))
    assert (await device.host.hear()).hex() == GOLDEN["frame"][1]["wire"]
    assert Refuse(HostRefused.number) == handshake._TO_HOST.decode(payload("Refuse"))
    device.close()


async def test_a_recorded_handshake_opens_nothing() -> None:
    device = _Twin(challenge=bytes(range(16)))  # fresh, as every handshake has it
    for number in (0, 3, 5):
        device.host.say(_wire(number))
    heard = [await device.host.hear() for _ in range(4)]
    said = [handshake._TO_HOST.decode(Framer().feed(frame)[0].payload) for frame in heard]
    assert [type(message).__name__ for message in said] == ["DeviceHello", "DeviceProof", "Refuse", "NoSession"]
    device.close()


async def test_a_stranger_neither_ends_a_session_nor_moves_anything_in_it() -> None:
    device = _Twin()
    await device.open_session()
    hello = fr.head(0, fr.HANDSHAKE, 0, 0, fr.NO_RE, 0) + second_opinion.pack([1, "table", bytes(16)])
    proof = fr.head(0, fr.HANDSHAKE, 0, 0, fr.NO_RE, 0) + second_opinion.pack([4, bytes(16)])
    order = fr.head(0, fr.REQUEST, 0x0101, 0x0101, fr.NO_RE, 0x01010101) + payload("StartCycle")
    for unsealed in (hello, proof, order):
        device.host.say(fr.to_wire(unsealed))
    device.load()
    status = await device.ask(m.GetStatus())
    assert isinstance(status, m.Status)
    assert status.state is m.State.IDLE
    device.close()
