"""`pitbox devices`: connects to every device of a table on the bench and prints which could go into service."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from devices.driver_events import LinkDown, Reported
from devices.kinds import DriverEvent, kind_named
from devices.service import IN_SERVICE, Service
from firmware_bridge.errors import (
    BoxAlreadyRunning,
    EnrolledKey,
    LinkSilent,
    NoBox,
    NotInService,
    PitboxError,
    UsageError,
)
from firmware_bridge.handshake import Trust
from firmware_bridge.messages import DeviceHello
from firmware_bridge.transport.ports import open_port
from table_controller.cli import OK, exit_code
from table_controller.cli.render.screen import Screen
from table_controller.config import load_config
from table_controller.controller.slot import AnySlot, Slot
from table_controller.journal.record_text import to_words

if TYPE_CHECKING:
    import argparse

    from table_controller.config import SlotConfig, TableConfig

HELP = "connect to every device of a table on the bench and print which of them could go into service"
EXAMPLE = "pitbox devices --config table.toml"

# A connected device completes its handshake and reports within this time (s), also on a slow line.
REPORT_TIMEOUT_S: Final = 5.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("--config", type=Path, required=True, metavar="FILE", help="the table's table.toml")
    parser.add_argument(
        "--seconds", type=float, default=REPORT_TIMEOUT_S, help=f"how long to wait (default {REPORT_TIMEOUT_S:g})"
    )


def run(args: argparse.Namespace) -> int:
    """Connect to all slots at once, print a line each; the exit code is that of the first slot with a problem."""
    if not 0 < args.seconds <= 600:
        raise UsageError("--seconds takes a number up to 600")
    config = load_config(args.config)
    _no_box(config)
    for slot in config.slots:
        if slot.key.enrolled:
            raise EnrolledKey(
                f"{slot.name}: its key is enrolled at {slot.key.enrolled}; a bench command may not use it"
            )
    results = asyncio.run(_ask_all(config, args.seconds))
    with Screen() as screen:
        screen.table([_row(slot) for slot in results], ("slot", "state", "serial number", "firmware", "problem"))
        for sentence in _not_whole(results):
            screen.line(sentence, "bold red")
    return next((exit_code(slot.cause) for slot in results if slot.state != IN_SERVICE), OK)


def _no_box(config: TableConfig) -> None:
    """Raise BoxRuns if the table's own box answers: it uses every port."""
    from table_controller.access.control_client import BlockingClient

    try:
        BlockingClient(config.control.socket, timeout_s=1.0).close()
    except NoBox:
        return
    except PitboxError:  # a box runs, and refuses this user
        pass
    ask = f"pitbox status --config {config.path}"
    raise BoxAlreadyRunning(f"the box of {config.name} runs and uses its ports; ask it instead: {ask}")


class SlotResult(msgspec.Struct, frozen=True):
    """The state of one slot after the check."""

    name: str
    state: str
    hello: DeviceHello | None
    cause: PitboxError


async def _ask_all(config: TableConfig, seconds: float) -> list[SlotResult]:
    """Connect to all slots at once; wait until each has reported or failed, or the time is up."""
    loop = asyncio.get_running_loop()
    answered: dict[str, asyncio.Future[None]] = {slot.name: loop.create_future() for slot in config.slots}
    services = {slot.name: Service() for slot in config.slots}
    slots = [_slot(slot, config, services[slot.name], answered[slot.name]) for slot in config.slots]
    for slot in slots:
        slot.start()
    try:
        await asyncio.wait(answered.values(), timeout=seconds)
        return [_result(slot, services[slot.name].state, seconds) for slot in slots]
    finally:
        for slot in slots:
            await slot.close()


def _slot(slot: SlotConfig, config: TableConfig, service: Service, answered: asyncio.Future[None]) -> AnySlot:
    def on_event(event: DriverEvent) -> None:
        service.apply_report(asked.kind.trigger(event), unsettled=bool(asked.view.unsettled))
        if isinstance(event, Reported | LinkDown) and not answered.done():
            answered.set_result(None)

    trust = Trust(slot.kind, {slot.key.serial: slot.key}, config.approved, role="bench")
    asked: AnySlot = Slot(slot.name, kind_named(slot.kind), lambda: open_port(slot.port), trust, on_event)
    return asked


def _result(slot: AnySlot, state: str, seconds: float) -> SlotResult:
    reported = slot.driver.reported
    cause = slot.cause or LinkSilent(f"{slot.name} has not reported within {seconds:g} s")
    if reported is not None:
        cause = NotInService(f"{slot.name} has reported, but is {to_words(state)}")
    return SlotResult(slot.name, state, reported.hello if reported else None, cause)


def _row(slot: SlotResult) -> tuple[str, ...]:
    serial, firmware = (slot.hello.serial, slot.hello.firmware) if slot.hello else ("", "")
    problem = "" if slot.state == IN_SERVICE else f"{slot.cause.code}: {slot.cause}"
    return slot.name, to_words(slot.state), serial, firmware, problem


def _not_whole(results: list[SlotResult]) -> list[str]:
    """Return a sentence for each kind of which only some devices are in service, such as five sensors of six."""
    kinds = {slot.name.partition(".")[0]: None for slot in results}
    sentences = []
    for kind in kinds:
        group = [slot for slot in results if slot.name.partition(".")[0] == kind]
        missing = [slot.name for slot in group if slot.state != IN_SERVICE]
        if missing and len(missing) < len(group):
            serving = len(group) - len(missing)
            sentences.append(
                f"{serving} of {len(group)} {to_words(kind)} devices are in service; not {', '.join(missing)}"
            )
    return sentences
