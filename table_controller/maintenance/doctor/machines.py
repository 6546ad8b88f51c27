"""Checks of the machines of a table, through its running box or on the bench: connection, trust and link quality."""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.driver_events import LinkDown, Reported
from devices.kinds import DriverEvent, kind_named
from devices.service import Service
from firmware_bridge.errors import FirmwareNotApproved, LinkSilent, NoBox, PitboxError
from firmware_bridge.handshake import Trust
from firmware_bridge.transport.ports import open_port
from table_controller.access.control_client import BlockingClient, RefusedByBox
from table_controller.controller.kinds import CONTROLLER_KINDS
from table_controller.controller.slot import AnySlot, Slot
from table_controller.maintenance.doctor.check_result import FAIL, OK, WARN, CheckResult
from table_controller.picture.pictures import link_of
from table_controller.picture.types import LinkPicture

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.config import SlotConfig, TableConfig

# A connected device reports within this time (s), even on a slow line.
TIMEOUT_S: Final = 5.0
# How many questions on the bench measure the round trip.
_ASKED: Final = 8
# Percent of frames that are retransmitted or damaged, for a warning and for a failure. A good cable has none.
_SOME: Final = 1
_MANY: Final = 5
# Microseconds: a serial line at 115,200 baud needs 3 ms, a port server 10 ms; more means a delay on the path.
_SLOW_US: Final = 60_000
# Fewer frames than this are not enough to judge a line.
_FEW: Final = 50
_PEER: Final = struct.Struct("3i")


class BoxProbe(msgspec.Struct, frozen=True):
    """A running box: its process and its status, or why it does not answer."""

    pid: int | None = None
    status: dict[str, Any] | None = None
    problem: str = ""


def probe_box(path: Path) -> BoxProbe:
    """Ask the box at the control socket for its status."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            peer.settimeout(TIMEOUT_S)
            peer.connect(str(path))
            pid, _, _ = _PEER.unpack(peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
    except (FileNotFoundError, ConnectionRefusedError):
        return BoxProbe()
    except OSError as error:
        return BoxProbe(problem=f"{path}: {error.strerror or error}")
    try:
        with BlockingClient(path, timeout_s=TIMEOUT_S) as caller:
            return BoxProbe(pid, caller.request("status"))
    except (NoBox, RefusedByBox) as error:
        return BoxProbe(pid, problem=str(error))


def box_lines(probe: BoxProbe, path: Path) -> list[CheckResult]:
    """Return the results about the box."""
    if probe.problem:
        return [
            CheckResult("box", FAIL, probe.problem, "run it as the user of the box, or as a member of control.group")
        ]
    if probe.status is None:
        return [
            CheckResult(
                "box", WARN, f"no box answers at {path}", "systemctl status pitbox, or: pitbox run --config ..."
            )
        ]
    status = probe.status
    about = f"software {status['version']}, start {status['boot']}, process {probe.pid}"
    if status["cause"] is not None:
        cause = status["cause"]
        return [
            CheckResult(
                "box", FAIL, f"{status['phase']}: {cause['code']} {cause['text']}", f"pitbox explain {cause['code']}"
            )
        ]
    lines = [CheckResult("box", OK, f"{status['phase']}, {about}")]
    for task in status["tasks"]:
        if task["restarts"]:
            text = f"was restarted {task['restarts']} times: {task['error']}"
            lines.append(CheckResult(f"task {task['name']}", WARN, text,
                              "journalctl -u pitbox shows when"))  # fmt: skip
    return lines


# --- slots ------------------------------------------------------------------------------------------------------------


class SlotProbe(msgspec.Struct, frozen=True):
    """One slot, as the box or the bench sees it."""

    name: str
    state: str = ""
    serial: str = ""
    firmware: str = ""
    code: str = ""
    cause: str = ""
    link: LinkPicture | None = None


def probes_of_box(status: dict[str, Any]) -> list[SlotProbe]:
    """Return the slots as a running box sees them."""
    probes = []
    for slot in status["slots"]:
        cause = slot["cause"] if not slot["connected"] else None
        link = slot.get("link")
        probes.append(SlotProbe(
            slot["name"], slot["state"], slot["serial"], slot["firmware"],
            cause["code"] if cause else "", cause["text"] if cause else "",
            msgspec.convert(link, LinkPicture) if link else None,
        ))  # fmt: skip
    return probes


def probe_on_bench(config: TableConfig, unusable: set[str]) -> list[SlotProbe]:
    """Connect to every device whose key is not enrolled, ask it some questions, and disconnect. Moves nothing.

    `unusable`: slots whose port cannot be used.
    """
    slots = [slot for slot in config.slots if not slot.key.enrolled and slot.name not in unusable]
    return asyncio.run(_ask_all(slots, config))


async def _ask_all(slots: list[SlotConfig], config: TableConfig) -> list[SlotProbe]:
    return list(await asyncio.gather(*(_ask(slot, config) for slot in slots)))


async def _ask(slot: SlotConfig, config: TableConfig) -> SlotProbe:
    reported: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    service = Service()

    def handle(event: DriverEvent) -> None:
        service.apply_report(asked.kind.trigger(event), unsettled=bool(asked.view.unsettled))
        if isinstance(event, Reported | LinkDown) and not reported.done():
            reported.set_result(None)

    needs = CONTROLLER_KINDS[slot.kind].needed_capabilities(config.submission)
    trust = Trust(slot.kind, {slot.key.serial: slot.key}, config.approved, role="bench", needs=needs)
    asked: AnySlot = Slot(slot.name, kind_named(slot.kind), lambda: open_port(slot.port), trust, handle)
    asked.start()
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await reported
            if asked.driver.reported is None:
                cause = asked.cause or LinkSilent(f"{slot.name} has not reported")
                return SlotProbe(slot.name, code=cause.code, cause=str(cause))
            for _ in range(_ASKED):
                await asked.driver.report()
        hello = asked.driver.reported.hello
        return SlotProbe(slot.name, service.state, hello.serial, hello.firmware, link=link_of(asked.driver))
    except TimeoutError:
        silent = LinkSilent(f"{slot.name} has not answered within {TIMEOUT_S:g} s")
        return SlotProbe(slot.name, code=silent.code, cause=str(silent))
    except PitboxError as error:
        return SlotProbe(slot.name, code=error.code, cause=str(error))
    finally:
        await asked.close()


def slot_lines(config: TableConfig, probes: list[SlotProbe]) -> list[CheckResult]:
    """Return the results about machines that are missing, run other firmware, or have a bad link."""
    lines = []
    known = {(entry.kind, entry.version) for entry in config.approved}
    unapproved = FirmwareNotApproved("").code
    firmware_bad = False
    for slot in probes:
        kind = slot.name.partition(".")[0]
        if slot.code == unapproved or (slot.firmware and (kind, slot.firmware) not in known):
            firmware_bad = True
            text = slot.cause or f"{slot.firmware} is not on the approved list"
            lines.append(CheckResult(f"firmware of {slot.name}", FAIL, text,
                              "install firmware from the approved list; the table uses no other"))  # fmt: skip
        elif slot.code:
            lines.append(CheckResult(slot.name, FAIL, f"{slot.code}: {slot.cause}", f"pitbox explain {slot.code}"))
        elif slot.state in ("faulted", "cleared", "out_of_order_unsigned", "out_of_order_signed"):
            lines.append(
                CheckResult(
                    slot.name, FAIL, f"is {slot.state.replace('_', ' ')}", "pitbox fault shows the cause and the steps"
                )
            )
        elif slot.state and slot.state != "in_service":
            lines.append(
                CheckResult(
                    slot.name, WARN, f"is {slot.state.replace('_', ' ')}", "the box reads it again when it stops"
                )
            )
        lines += _link(slot)
    serving = [slot for slot in probes if slot.state == "in_service"]
    if serving:
        lines.append(CheckResult("machines", OK, f"{len(serving)} of {len(config.slots)} are ready for service"))
    if not firmware_bad and any(slot.firmware for slot in probes):
        lines.append(CheckResult("firmware", OK, "every connected machine runs approved firmware"))
    return lines


def _link(slot: SlotProbe) -> list[CheckResult]:
    link = slot.link
    if link is None:
        return []
    again = 100 * link.retransmitted // max(1, link.sent)
    noise = 100 * link.noise // max(1, link.received + link.noise)
    about = (
        f"{link.round_trip_us / 1000:.1f} ms round trip, {link.retransmitted} of {link.sent:,} frames retransmitted, "
        f"{link.noise} damaged"
    )
    enough = link.sent + link.received >= _FEW
    if enough and max(again, noise) >= _MANY:
        return [
            CheckResult(
                f"link of {slot.name}", FAIL, about, "replace the cable; keep it away from motors and power lines"
            )
        ]
    if enough and max(again, noise) >= _SOME:
        return [CheckResult(f"link of {slot.name}", WARN, about, "check both plugs; pitbox trace shows the frames")]
    if link.round_trip_us > _SLOW_US:
        return [
            CheckResult(f"link of {slot.name}", WARN, about, "check the path: a port server, a hub, a busy computer")
        ]
    return [CheckResult(f"link of {slot.name}", OK, about)]
