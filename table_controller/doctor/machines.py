"""The machines of a table: through its running box, else on the bench. Are they there, trusted, and well connected?"""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.kinds import kind_named
from devices.report import LinkDown, Reported
from firmware_bridge.errors import FirmwareNotApproved, LinkSilent, NoBox, PitboxError
from firmware_bridge.handshake import Trust
from firmware_bridge.transport.ports import open_port
from table_controller.controller.client import Caller, Refused
from table_controller.controller.slot import Slot
from table_controller.controller.status import LinkStatus, link_of
from table_controller.doctor.lines import FAIL, OK, WARN, Line

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.config import SlotConfig, TableConfig

# A device that is there has shaken hands and reported within this time (s), also on a slow line.
PATIENCE: Final = 5.0
# Questions on the bench, for a round trip that is worth the name.
_ASKED: Final = 8
# Of a hundred frames: sent again or not whole. A good cable has none; above the second a table stutters.
_SOME: Final = 1
_MANY: Final = 5
# Microseconds: a serial line at 115,200 baud takes 3 ms, a port server 10 ms; above this something sits in between.
_SLOW_US: Final = 60_000
# Fewer frames than this say nothing about a line.
_FEW: Final = 50
_PEER: Final = struct.Struct("3i")


class BoxFound(msgspec.Struct, frozen=True):
    """Whether a box runs: its process and what it says of itself, or why it does not answer."""

    pid: int | None = None
    status: dict[str, Any] | None = None
    problem: str = ""


def find_box(path: Path) -> BoxFound:
    """Ask whoever listens at the control socket; nobody is no box."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            peer.settimeout(PATIENCE)
            peer.connect(str(path))
            pid, _, _ = _PEER.unpack(peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
    except (FileNotFoundError, ConnectionRefusedError):
        return BoxFound()
    except OSError as error:
        return BoxFound(problem=f"{path}: {error.strerror or error}")
    try:
        with Caller(path, patience=PATIENCE) as caller:
            return BoxFound(pid, caller.ask("status"))
    except (NoBox, Refused) as error:
        return BoxFound(pid, problem=str(error))


def box_lines(found: BoxFound, path: Path) -> list[Line]:
    """Say how the box stands."""
    if found.problem:
        return [Line("box", FAIL, found.problem, "ask as the box's own user, or as one of control.group")]
    if found.status is None:
        return [Line("box", WARN, f"none answers at {path}", "systemctl status pitbox, or: pitbox run --config ...")]
    told = found.status
    about = f"software {told['version']}, start {told['boot']}, process {found.pid}"
    if told["cause"] is not None:
        cause = told["cause"]
        return [
            Line("box", FAIL, f"{told['phase']}: {cause['code']} {cause['text']}", f"pitbox explain {cause['code']}")
        ]
    lines = [Line("box", OK, f"{told['phase']}, {about}")]
    for task in told["tasks"]:
        if task["restarts"]:
            said = f"was started again {task['restarts']} times: {task['error']}"
            lines.append(Line(f"task {task['name']}", WARN, said,
                              "journalctl -u pitbox tells when"))  # fmt: skip
    return lines


# --- slots ------------------------------------------------------------------------------------------------------------


class SlotFound(msgspec.Struct, frozen=True):
    """One slot, by whoever could ask it."""

    name: str
    state: str = ""
    serial: str = ""
    firmware: str = ""
    code: str = ""
    cause: str = ""
    link: LinkStatus | None = None


def through_box(status: dict[str, Any]) -> list[SlotFound]:
    """Return the slots as a running box sees them."""
    found = []
    for slot in status["slots"]:
        cause = slot["cause"] if not slot["connected"] else None
        link = slot.get("link")
        found.append(SlotFound(
            slot["name"], slot["state"], slot["serial"], slot["firmware"],
            cause["code"] if cause else "", cause["text"] if cause else "",
            msgspec.convert(link, LinkStatus) if link else None,
        ))  # fmt: skip
    return found


def on_bench(config: TableConfig, dead: set[str]) -> list[SlotFound]:
    """Connect to every device whose key is not enrolled, ask it a few things, and hang up. Moves nothing.

    `dead`: slots whose port is known to be of no use.
    """
    slots = [slot for slot in config.slots if not slot.key.enrolled and slot.name not in dead]
    return asyncio.run(_ask_all(slots, config))


async def _ask_all(slots: list[SlotConfig], config: TableConfig) -> list[SlotFound]:
    return list(await asyncio.gather(*(_ask(slot, config) for slot in slots)))


async def _ask(slot: SlotConfig, config: TableConfig) -> SlotFound:
    heard: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def take(event: Any) -> None:
        if isinstance(event, Reported | LinkDown) and not heard.done():
            heard.set_result(None)

    trust = Trust(slot.kind, {slot.key.serial: slot.key}, config.approved, role="bench")
    asked: Slot[Any, Any] = Slot(slot.name, kind_named(slot.kind), lambda: open_port(slot.port), trust, take)
    asked.start()
    try:
        async with asyncio.timeout(PATIENCE):
            await heard
            if asked.driver.reported is None:
                cause = asked.cause or LinkSilent(f"{slot.name} has not reported")
                return SlotFound(slot.name, code=cause.code, cause=str(cause))
            for _ in range(_ASKED):
                await asked.driver.report()
        hello = asked.driver.reported.hello
        state = asked.service.state
        return SlotFound(slot.name, state, hello.serial, hello.firmware, link=link_of(asked.driver))
    except TimeoutError:
        silent = LinkSilent(f"{slot.name} has not answered within {PATIENCE:g} s")
        return SlotFound(slot.name, code=silent.code, cause=str(silent))
    except PitboxError as error:
        return SlotFound(slot.name, code=error.code, cause=str(error))
    finally:
        await asked.close()


def slot_lines(config: TableConfig, found: list[SlotFound]) -> list[Line]:
    """Say which machines are not there, run other firmware, or are badly connected."""
    lines = []
    known = {(entry.kind, entry.version) for entry in config.approved}
    unapproved = FirmwareNotApproved("").code
    firmware_bad = False
    for slot in found:
        kind = slot.name.partition(".")[0]
        if slot.code == unapproved or (slot.firmware and (kind, slot.firmware) not in known):
            firmware_bad = True
            said = slot.cause or f"{slot.firmware} is not on the approved list"
            lines.append(Line(f"firmware of {slot.name}", FAIL, said,
                              "load firmware of the approved list; the table never uses another"))  # fmt: skip
        elif slot.code:
            lines.append(Line(slot.name, FAIL, f"{slot.code}: {slot.cause}", f"pitbox explain {slot.code}"))
        elif slot.state in ("faulted", "cleared", "out_of_order_unsigned", "out_of_order_signed"):
            lines.append(
                Line(slot.name, FAIL, f"is {slot.state.replace('_', ' ')}", "pitbox fault says why and what to do")
            )
        elif slot.state and slot.state != "in_service":
            lines.append(Line(slot.name, WARN, f"is {slot.state.replace('_', ' ')}", "it is read again when it rests"))
        lines += _link(slot)
    serving = [slot for slot in found if slot.state == "in_service"]
    if serving:
        lines.append(Line("machines", OK, f"{len(serving)} of {len(config.slots)} could serve"))
    if not firmware_bad and any(slot.firmware for slot in found):
        lines.append(Line("firmware", OK, "every machine that answers runs firmware of the approved list"))
    return lines


def _link(slot: SlotFound) -> list[Line]:
    link = slot.link
    if link is None:
        return []
    again = 100 * link.retransmitted // max(1, link.sent)
    noise = 100 * link.noise // max(1, link.received + link.noise)
    about = (
        f"{link.round_trip_us / 1000:.1f} ms round trip, {link.retransmitted} of {link.sent:,} frames sent again, "
        f"{link.noise} not whole"
    )
    enough = link.sent + link.received >= _FEW
    if enough and max(again, noise) >= _MANY:
        return [Line(f"link of {slot.name}", FAIL, about, "change the cable; keep it away from motors and the power")]
    if enough and max(again, noise) >= _SOME:
        return [Line(f"link of {slot.name}", WARN, about, "look at both plugs; pitbox trace shows the frames")]
    if link.round_trip_us > _SLOW_US:
        return [
            Line(f"link of {slot.name}", WARN, about, "what sits in between: a port server, a hub, a busy computer?")
        ]
    return [Line(f"link of {slot.name}", OK, about)]
