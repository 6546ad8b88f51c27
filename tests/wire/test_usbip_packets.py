"""USB/IP packets and USB descriptors against bytes worked out by hand; invalid ones are refused."""

from __future__ import annotations

from random import Random

import pytest

from simulators.usbip import descriptors, packets
from simulators.usbip.packets import IN, OUT, BadUsbIpPacket, ExportedDevice, Submit, Submitted, Unlink, Unlinked
from tests.support.wire import usbip_golden as golden

DEVICE = ExportedDevice("/pitbox/SN-1", "1-1", 1, 2, 2, 0x1209, 0x0001, 0x0100, (0, 0, 0), 1, 1, ((0xFF, 0, 0),))


def test_the_sizes_are_those_of_the_description() -> None:
    assert (packets.OP.size, packets.BUSID.size, packets.DEVICE.size, packets.INTERFACE.size) == (8, 32, 0x138, 4)
    assert {len(bytes_) for bytes_ in (golden.SUBMIT_IN, golden.RET_OUT, golden.UNLINK, golden.RET_UNLINKED)} == {48}


def test_requests_and_replies_before_an_import() -> None:
    assert packets.pack_op(packets.REQ_DEVLIST) == golden.REQ_DEVLIST
    assert packets.pack_op(packets.REQ_IMPORT) + packets.pack_busid("1-1") == golden.REQ_IMPORT
    assert packets.read_busid(golden.REQ_IMPORT[8:]) == "1-1"
    assert packets.pack_device(DEVICE) == golden.DEVICE
    assert packets.pack_interfaces(DEVICE) == golden.REP_DEVLIST[-4:]
    assert packets.read_device(golden.DEVICE, golden.REP_DEVLIST[-4:]) == DEVICE
    assert packets.interface_count(golden.DEVICE) == 1
    assert packets.read_op(golden.REP_BUSY) == (packets.REP_IMPORT, packets.DEVICE_BUSY)
    assert DEVICE.devid == 0x0001_0002
    assert DEVICE.serial == golden.SERIAL


SETUP = bytes.fromhex("8006000100001200")


@pytest.mark.parametrize(
    ("packet", "wire"),
    [
        (Submit(1, 0x10002, IN, 0, 18, SETUP), golden.GET_DEVICE_DESCRIPTOR),
        (Submit(2, 0x10002, OUT, 1, 3), golden.SUBMIT_OUT[:48]),
        (Submit(3, 0x10002, IN, 1, 64), golden.SUBMIT_IN),
        (Unlink(4, 0x10002, 3), golden.UNLINK),
    ],
)
def test_what_a_client_sends(packet: Submit | Unlink, wire: bytes) -> None:
    packed = packets.pack_unlink(packet) if isinstance(packet, Unlink) else packets.pack_submit(packet)
    assert packed == wire
    assert packets.read_command(wire) == packet


@pytest.mark.parametrize(
    ("packet", "wire"),
    [
        (Submitted(1, 0, 18), golden.RET_DEVICE_DESCRIPTOR[:48]),
        (Submitted(2, 0, 3), golden.RET_OUT),
        (Submitted(3, 0, 2), golden.RET_IN[:48]),
        (Submitted(3, -32, 0), golden.RET_STALL),
        (Submitted(3, -19, 0), golden.RET_UNPLUGGED),
        (Unlinked(4, -104), golden.RET_UNLINKED),
        (Unlinked(4, 0), golden.RET_UNLINKED_TOO_LATE),
    ],
)
def test_what_a_server_answers(packet: Submitted | Unlinked, wire: bytes) -> None:
    packed = packets.pack_unlinked(packet) if isinstance(packet, Unlinked) else packets.pack_submitted(packet)
    assert packed == wire
    assert packets.read_answer(wire) == packet


def test_what_linux_sends_is_understood() -> None:
    assert packets.read_command(golden.LINUX_CMD_IN) == Submit(0xD05, 0x1000F, IN, 1, 64)
    assert packets.read_command(golden.LINUX_CMD_OUT) == Submit(0xD06, 0x1000F, OUT, 1, 64)
    assert packets.read_answer(golden.LINUX_RET_IN) == Submitted(0xD05, 0, 64)
    assert packets.read_answer(golden.LINUX_RET_OUT) == Submitted(0xD06, 0, 64)


def changed(wire: bytes, at: int, value: str) -> bytes:
    new = bytes.fromhex(value)
    return wire[:at] + new + wire[at + len(new) :]


@pytest.mark.parametrize(
    "wire",
    [
        changed(golden.SUBMIT_IN, 0, "00000003"),  # an answer
        changed(golden.SUBMIT_IN, 0, "01118005"),  # a request from before the import
        changed(golden.SUBMIT_IN, 12, "00000002"),  # a third direction
        changed(golden.SUBMIT_IN, 16, "00000010"),  # USB has endpoints 0 to 15
        changed(golden.SUBMIT_IN, 32, "00000001"),  # isochronous
    ],
)
def test_invalid_commands(wire: bytes) -> None:
    with pytest.raises(BadUsbIpPacket):
        packets.read_command(wire)


def test_invalid_replies_and_names() -> None:
    with pytest.raises(BadUsbIpPacket, match="command 0x1"):
        packets.read_answer(golden.SUBMIT_IN)
    with pytest.raises(BadUsbIpPacket, match="version 0x0106"):
        packets.read_op(changed(golden.REQ_DEVLIST, 0, "0106"))
    for name in (b"x" * 32, b"\xc3\xa9" + bytes(30), b"\x1b[2J" + bytes(28)):  # not closed, not ASCII, not printable
        with pytest.raises(BadUsbIpPacket, match="printable"):
            packets.read_busid(name)
    with pytest.raises(BadUsbIpPacket, match="bus 65536"):
        packets.read_device(changed(golden.DEVICE, 288, "00010000"))


def test_a_path_of_a_foreign_server_gives_no_serial_number() -> None:
    other = changed(golden.DEVICE, 0, b"/sys/dev/usb".hex())
    assert packets.read_device(other).serial is None


# --- descriptors -------------------------------------------------------------------------------------------


def test_descriptors_from_their_bytes() -> None:
    device = descriptors.read_device(golden.DEVICE_DESCRIPTOR, DEVICE)
    assert (device.idVendor, device.idProduct, device.iSerialNumber, device.bMaxPacketSize0) == (0x1209, 1, 3, 64)
    assert (device.bus, device.address, device.speed) == (1, 2, 2)
    configuration = descriptors.read_configuration(golden.CONFIGURATION_DESCRIPTOR)
    assert configuration.descriptor.bConfigurationValue == 1
    ((interface,),) = configuration.interfaces
    assert interface.descriptor.bInterfaceClass == 0xFF
    assert [(end.bEndpointAddress, end.wMaxPacketSize) for end in interface.endpoints] == [(0x81, 64), (0x01, 64)]


def test_alternate_settings_and_descriptors_of_other_kinds() -> None:
    extra = bytes.fromhex("05 24 00 10 01")
    alternate = bytes.fromhex("09 04 00 01 00 ff 00 00 00")
    configuration = descriptors.read_configuration(golden.CONFIGURATION_DESCRIPTOR + extra + alternate)
    ((first, second),) = configuration.interfaces
    assert (first.descriptor.bNumEndpoints, second.descriptor.bNumEndpoints) == (2, 0)


def test_strings() -> None:
    wire = bytes.fromhex("0a03 5300 4e00 2d00 3100")
    assert descriptors.pack_string("SN-1") == wire
    assert descriptors.read_string(wire) == "SN-1"


@pytest.mark.parametrize(
    "wire",
    [
        b"",
        golden.DEVICE_DESCRIPTOR,
        golden.CONFIGURATION_DESCRIPTOR[:-1],  # cut off in an endpoint
        changed(golden.CONFIGURATION_DESCRIPTOR, 9, "00"),  # a descriptor without length would never end
        changed(golden.CONFIGURATION_DESCRIPTOR, 18, "03"),  # an endpoint of three bytes
        changed(golden.CONFIGURATION_DESCRIPTOR, 12, "01"),  # an alternate of nothing
        golden.CONFIGURATION_DESCRIPTOR[9:],
    ],
)
def test_invalid_configurations(wire: bytes) -> None:
    with pytest.raises(BadUsbIpPacket):
        descriptors.read_configuration(wire)


@pytest.mark.parametrize("wire", [b"", b"\x02", b"\x08\x03ab", b"\x04\x02ab", b"\x01\x03"])
def test_invalid_strings(wire: bytes) -> None:
    with pytest.raises(BadUsbIpPacket):
        descriptors.read_string(wire)


def test_any_bytes_are_a_configuration_or_a_bad_packet(seed: int) -> None:
    random = Random(seed)
    good = bytearray(golden.CONFIGURATION_DESCRIPTOR)
    for _ in range(3000):
        data = bytearray(good)
        for _ in range(random.randint(1, 4)):
            data[random.randrange(len(data))] = random.randrange(256)
        try:
            result = descriptors.read_configuration(bytes(data[: random.randint(0, len(data))]))
        except BadUsbIpPacket:
            continue
        assert result.descriptor.bNumInterfaces == len(result.interfaces)
