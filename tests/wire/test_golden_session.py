"""The golden session: simulated firmware and the real driver play it byte for byte; nothing else opens or moves."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, get_args

import pytest

from devices.driver_events import LinkDown, Reported
from devices.edge_log import EdgeLog
from devices.shuffler import messages as m
from devices.shuffler.driver import ShufflerDriver
from firmware_bridge import frame as fr
from firmware_bridge import handshake, seal
from firmware_bridge.commands import Accepted, Outcome, Report, Settled
from firmware_bridge.errors import BadMessage, HostRefused
from firmware_bridge.framer import Framer
from firmware_bridge.handshake import Trust, open_session
from firmware_bridge.keys import ApprovedFirmware, DeviceKey
from firmware_bridge.messages import DeviceHello, Message, Refuse
from firmware_bridge.seal import Sealer
from firmware_bridge.transport.memory import memory_pair
from firmware_bridge.wire import Wire
from tests.support.wire.golden import GOLDEN, payload
from tests.support.wire.golden_session import (
    DECODER,
    DECODER_OF_HELLO,
    FIRMWARE_DECODER,
    SESSION,
    SHAKE,
    GoldenMachine,
    ScriptedEnd,
    sealed,
    wire,
)
from tests.wire import reference_codec

if TYPE_CHECKING:
    from devices.shuffler.state import DriverEvent


async def test_simulated_firmware_plays_its_part_of_the_golden_session_byte_for_byte() -> None:
    device = GoldenMachine()
    for number, entry in enumerate(SESSION):
        if entry["sender"] == "host":
            if not entry.get("lost"):
                device.host.send(wire(number))
            continue
        if entry["message"] == "Intake":
            device.load()
        assert (await device.host.receive()).hex() == entry["wire"], entry["about"]
    device.close()


async def test_the_real_driver_plays_its_part_of_the_golden_session_byte_for_byte() -> None:
    near, far = memory_pair()
    device = ScriptedEnd(far)
    received: list[DriverEvent] = []
    driver = ShufflerDriver(received.append)
    hello: DeviceHello = DECODER_OF_HELLO.decode(SHAKE["device_hello"])
    trust = Trust(
        hello.kind,
        {hello.serial: DeviceKey(hello.serial, hello.kind, SHAKE["key"])},
        frozenset([ApprovedFirmware(hello.kind, hello.firmware, hello.digest)]),
    )
    cycle: asyncio.Task[Settled] | None = None

    async def host() -> None:
        link, proved = await open_session(Wire(near), trust, DECODER, lambda _: SHAKE["host_challenge"])
        link.on_down = driver.link_down
        driver.link_up(link, proved)

    task = asyncio.create_task(host())
    for number, entry in enumerate(SESSION):
        if entry["sender"] == "device":
            device.send(wire(number))
            continue
        if entry.get("lost"):
            cycle = driver.shuffle(7)
        assert (await device.receive()).hex() == entry["wire"], entry["about"]
    await task
    (reported,) = [event for event in received if isinstance(event, Reported)]
    assert (reported.report.boot_id, reported.inventory.state) == (hello.boot_id, m.State.IDLE)
    assert m.Intake(cards=True) in received
    # The command ends with the device's event, not with its acceptance.
    assert cycle is not None
    assert not cycle.done()
    ended = reference_codec.pack([17, 7, 2, 0])
    device.send(sealed(SHAKE["key_to_host"], ended, seq=0x0105, counter=0x01010107, kind=fr.EVENT))
    assert (await cycle).outcome is Outcome.DONE
    device.close()
    await asyncio.sleep(0.1)
    assert isinstance(received[-1], LinkDown)


REPLIES: Final[dict[str, type[Message]]] = {
    "GetReport": Report,
    "AskCommand": Settled,
    "GetStatus": m.Status,
    "GetSensors": m.Sensors,
    "GetTransits": m.Transits,
    "GetEdgeLog": EdgeLog,
    "GetFindings": m.NoFindings,
    "StartCycle": Accepted,
    "Eject": Settled,  # refused: nothing is behind the gate
    "Insert": Settled,  # the same; of a machine with a chute into the shoe
    "Stop": Settled,
    "SelfTest": Accepted,
    "SetMode": Settled,
    "ClearJam": Accepted,
    "Jog": Accepted,
    "Reset": Settled,
}
# Of a machine without cycles, which understands the last three instead of StartCycle and SetMode.
REPLIES_WITHOUT_CYCLES: Final[dict[str, type[Message]]] = {
    **{name: reply for name, reply in REPLIES.items() if name not in ("StartCycle", "SetMode", "Insert")},
    "GetStatus": m.Inventory,
    "TakeIn": Accepted,
    "Deliver": Settled,  # refused: the set was not counted
    "CountAll": Accepted,
}
_REQUESTS: Final = [(name, False) for name in REPLIES] + [(name, True) for name in REPLIES_WITHOUT_CYCLES]


def test_every_request_has_an_expected_reply() -> None:
    assert set(REPLIES) == {cls.__name__ for cls in get_args(m.ToCycleShuffler)}
    assert set(REPLIES_WITHOUT_CYCLES) == {cls.__name__ for cls in get_args(m.ToContinuousShuffler)}
    assert {*REPLIES, *REPLIES_WITHOUT_CYCLES} == {cls.__name__ for cls in get_args(m.ToDevice)}


@pytest.mark.parametrize(("name", "continuous"), _REQUESTS)
async def test_a_golden_request_gets_a_reply_of_the_expected_type(name: str, continuous: bool) -> None:
    device = GoldenMachine(continuous=continuous, inserts=name == "Insert")
    await device.open_session()
    device.load()
    reply = await device.ask(FIRMWARE_DECODER.decode(payload(name)))
    assert type(reply) is (REPLIES_WITHOUT_CYCLES if continuous else REPLIES)[name]
    device.close()


@pytest.mark.parametrize(
    ("name", "continuous"),
    [
        ("TakeIn", False),
        ("Deliver", False),
        ("CountAll", False),
        ("StartCycle", True),
        ("SetMode", True),
        ("Insert", False),
        ("Insert", True),
    ],
)
async def test_a_request_that_is_not_for_the_model_ends_the_session_and_moves_nothing(
    name: str, continuous: bool
) -> None:
    device = GoldenMachine(continuous=continuous)
    await device.open_session()
    device.load()
    truth = device.world.census()
    await _ends_the_session(device, payload(name))
    assert device.world.census() == truth
    device.close()


async def test_events_of_simulated_firmware_are_read_by_the_driver() -> None:
    device = GoldenMachine()
    await device.open_session()
    device.load()
    accepted = await device.ask(m.StartCycle(7))
    assert accepted == Accepted(7)
    received: list[Message] = []
    opener = seal.Opener(SHAKE["key_to_host"])
    sealer = Sealer(SHAKE["key_to_device"], 0x01010102)
    while Settled not in map(type, received):
        (frame,) = Framer().feed(await device.host.receive())
        assert opener.accepts(frame)
        if frame.type == fr.EVENT:
            received.append(DECODER.decode(frame.payload))
            ack = (frame.seq + 1) & 0xFFFF
            device.host.send(fr.to_wire(*sealer.seal(0, fr.ACK, 0, ack, fr.NO_RE, b"")))
    assert {type(event) for event in received} == {m.Intake, m.Progress, m.Completed, Settled}
    assert received[-1] == Settled(7, Outcome.DONE, 0)
    device.close()


@pytest.mark.parametrize("name", ["Status", "Completed", "Settled", "Welcome", "HostHello"])
async def test_a_message_in_the_wrong_direction_ends_the_session(name: str) -> None:
    device = GoldenMachine()
    await device.open_session()
    await _ends_the_session(device, payload(name))
    device.close()


async def _ends_the_session(device: GoldenMachine, wrong: bytes) -> None:
    """Send the message, then a query: the reply must be that there is no session."""
    key = SHAKE["key_to_device"]
    device.host.send(sealed(key, wrong, seq=0x0101, counter=0x01010101))
    device.host.send(sealed(key, payload("GetStatus"), seq=0x0102, counter=0x01010102))
    while (frame := Framer().feed(await device.host.receive())[0]).flags & fr.SEALED:
        assert frame.type == fr.EVENT, "the machine's status before"
    assert frame.payload == payload("NoSession")


@pytest.mark.parametrize("name", ["GetStatus", "StartCycle", "DeviceHello"])
async def test_the_host_ends_a_session_in_which_a_device_sends_a_message_of_another_kind(name: str) -> None:
    near, far = memory_pair()
    device = ScriptedEnd(far)
    hello: DeviceHello = DECODER_OF_HELLO.decode(SHAKE["device_hello"])
    key = DeviceKey(hello.serial, hello.kind, SHAKE["key"])
    approved = frozenset([ApprovedFirmware(hello.kind, hello.firmware, hello.digest)])
    task = asyncio.create_task(
        open_session(
            Wire(near), Trust(hello.kind, {key.serial: key}, approved), DECODER, lambda _: SHAKE["host_challenge"]
        )
    )
    for number in (1, 2, 4):
        device.send(wire(number))
    link, _ = await task
    device.send(sealed(SHAKE["key_to_host"], payload(name), seq=0x0101, counter=0x01010102, kind=fr.EVENT))
    await asyncio.sleep(0.1)
    assert isinstance(link.down, BadMessage)
    device.close()


async def test_a_device_without_a_session_answers_the_golden_hint() -> None:
    device = GoldenMachine()
    device.host.send(wire(5))
    assert (await device.host.receive()).hex() == GOLDEN["frame"][2]["wire"]
    device.close()


async def test_a_wrong_proof_gets_the_golden_refusal() -> None:
    device = GoldenMachine()
    device.host.send(wire(0))
    assert [await device.host.receive(), await device.host.receive()] == [wire(1), wire(2)]
    wrong = fr.pack_header(0, fr.HANDSHAKE, 0, 0, fr.NO_RE, 0) + reference_codec.pack([4, bytes(16)])
    device.host.send(fr.to_wire(wrong))
    assert (await device.host.receive()).hex() == GOLDEN["frame"][1]["wire"]
    assert Refuse(HostRefused.number) == handshake._TO_HOST.decode(payload("Refuse"))
    device.close()


async def test_a_recorded_handshake_opens_nothing() -> None:
    device = GoldenMachine(challenge=bytes(range(16)))  # fresh, as every handshake has it
    for number in (0, 3, 5):
        device.host.send(wire(number))
    received = [await device.host.receive() for _ in range(4)]
    entries = [handshake._TO_HOST.decode(Framer().feed(frame)[0].payload) for frame in received]
    assert [type(message).__name__ for message in entries] == ["DeviceHello", "DeviceProof", "Refuse", "NoSession"]
    device.close()


async def test_a_stranger_neither_ends_a_session_nor_moves_anything_in_it() -> None:
    device = GoldenMachine()
    await device.open_session()
    hello = fr.pack_header(0, fr.HANDSHAKE, 0, 0, fr.NO_RE, 0) + reference_codec.pack([1, "table", bytes(16)])
    proof = fr.pack_header(0, fr.HANDSHAKE, 0, 0, fr.NO_RE, 0) + reference_codec.pack([4, bytes(16)])
    order = fr.pack_header(0, fr.REQUEST, 0x0101, 0x0101, fr.NO_RE, 0x01010101) + payload("StartCycle")
    for unsealed in (hello, proof, order):
        device.host.send(fr.to_wire(unsealed))
    device.load()
    status = await device.ask(m.GetStatus())
    assert isinstance(status, m.Status)
    assert status.state is m.State.IDLE
    device.close()
