"""Keeps the wear history of every machine: reads its sensors after motions, stores the figures, and warns.

`diagnosis.drift` judges the figures. A machine that does not answer is asked again after its next motion.
"""

from __future__ import annotations

import asyncio
import logging
import re
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from devices.kinds import CardPathDriver
from devices.shoe import messages as shoe
from devices.shuffler import messages as shuffler
from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import BadRequest, PitboxError
from table_controller.diagnosis.drawings import Curve
from table_controller.diagnosis.drift import (
    BASE_WINDOWS,
    DEFAULT,
    DriftWarning,
    PathSample,
    SegmentSample,
    Wear,
    add_sample,
    excess,
    judge,
    margins,
    restart_after_repair,
)
from table_controller.journal import records as rec
from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from enum import IntEnum
    from pathlib import Path

    from devices.kinds import AnyDriver, DriverEvent
    from devices.path_telemetry import OpticalLevel, TransitTimes
    from table_controller.config import TableConfig
    from table_controller.controller.box import Box
    from table_controller.controller.controller import Controller, DurableStep

log = logging.getLogger(__name__)

# The folder of the wear histories in the data folder.
WEAR_FOLDER: Final = "wear"

# Motions after which the machine is asked: at least a deck apart, not every stack of seven.
_AFTER: Final = (
    shuffler.Completed, shuffler.Counted, shuffler.TakenIn, shoe.Stub, shoe.Loaded,
)  # fmt: skip
# Segments where cards stop: their time measures the roller of the segment before, so it is not counted again.
_END_SEGMENTS: Final = {
    shuffler.KIND: (shuffler.Segment.SHELF, shuffler.Segment.DROP),
    shoe.KIND: (shoe.Segment.STORE, shoe.Segment.DROP),
}
# Segments and sensors, by kind of machine.
PARTS: Final[dict[str, tuple[type[IntEnum], type[IntEnum]]]] = {
    shuffler.KIND: (shuffler.Segment, shuffler.Sensor),
    shoe.KIND: (shoe.Segment, shoe.Sensor),
}
_SAFE: Final = re.compile(r"[^A-Za-z0-9_-]")


class WearWarning(NamedTuple):
    """A warning about one part of a machine."""

    slot: str
    serial: str
    part: str
    warning: DriftWarning

    def sentence(self) -> str:
        """Return the warning for people, with what to do."""
        left = (
            f"about {self.warning.left:,} cards left, perhaps {self.warning.fewest:,}"
            if self.warning.left
            else "overdue"
        )
        match self.warning.signal:
            case "transit":
                what = f"segment {self.part} is {self.warning.now / 10_000:.1f} % slower than after its last service"
                do = "clean or replace its rollers"
            case "spread":
                what = f"cards slip in segment {self.part}"
                do = "clean or replace its rollers"
            case _:
                what = f"sensor {self.part} is {self.warning.now} levels from failing"
                do = "clean it"
        return f"{self.slot} ({self.serial}): {what}; {left}; {do} at the next break"


def wear_reading(
    kind: str, transits: Iterable[TransitTimes], levels: Iterable[OpticalLevel], boot: int = 0
) -> PathSample:
    """Return the report of a machine for `diagnosis.drift`. A sensor that the model does not have has no margin."""
    return PathSample(
        tuple(
            SegmentSample(0, 0, 0)
            if segment in _END_SEGMENTS[kind]
            else SegmentSample(each.cards, each.mean, each.deviation)
            for segment, each in enumerate(transits)
        ),
        tuple(None if level.blocked or not level.threshold else level.margin for level in levels),
        boot,
    )


def named_warning(slot: str, serial: str, warning: DriftWarning) -> WearWarning:
    """Return a warning with the name of its part."""
    segments, sensors = PARTS[slot.partition(".")[0]]
    part = (sensors if warning.signal == "margin" else segments)(warning.part)
    return WearWarning(slot, serial, part.name.lower(), warning)


def warnings_of(wear: Wear) -> list[WearWarning]:
    """Return the warnings of a machine, with the slot where it was last."""
    if wear.slot.partition(".")[0] not in PARTS:
        return []
    return [named_warning(wear.slot, wear.serial, warned) for warned in judge(wear)]


def curves_of(wear: Wear) -> list[Curve]:
    """Return a curve for each part of a machine; empty until the base of its history is known."""
    if wear.slot.partition(".")[0] not in PARTS or len(wear.base) < BASE_WINDOWS:
        return []
    warned = {(each.warning.signal == "margin", each.part) for each in warnings_of(wear)}
    segments, sensors = PARTS[wear.slot.partition(".")[0]]
    curves = []
    for segment in segments:
        name = segment.name.lower()
        if slower := excess(wear, segment):  # tenths of a percent
            points, limit = [(at, ppm // 1_000) for at, ppm in slower], DEFAULT.transit // 1_000
            curves.append(Curve(f"{name}, slower by", "%", points, limit, (False, name) in warned, tenth=True))
    for sensor in sensors:
        name = sensor.name.lower()
        if left := margins(wear, sensor):
            curves.append(Curve(f"sensor {name}, margin", "levels", left, DEFAULT.margin, (True, name) in warned))
    return curves


class WearStore:
    """Wear histories in a folder, one file for each serial number, because the history belongs to the machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, serial: str) -> Path:
        """Return the file of a machine; unsafe characters of its serial number are replaced."""
        return self.folder / f"{_SAFE.sub('_', serial)}.json"

    def read(self, serial: str) -> Wear:
        """Return the history of a machine; an empty one if there is none or it cannot be read."""
        try:
            wear = msgspec.json.decode(self.path(serial).read_bytes(), type=Wear)
        except FileNotFoundError:
            return Wear(serial)
        except (OSError, *UNDECODABLE) as error:
            log.warning("the wear history of %s cannot be read and starts again: %s", serial, error)
            return Wear(serial)
        return wear if wear.serial == serial else Wear(serial)

    def all(self) -> list[Wear]:
        """Return every readable history."""
        histories = []
        for path in sorted(self.folder.glob("*.json")) if self.folder.is_dir() else ():
            try:
                histories.append(msgspec.json.decode(path.read_bytes(), type=Wear))
            except (OSError, *UNDECODABLE):
                continue
        return histories

    def reset(self, serial: str) -> bool:
        """Restart the base of a machine after it was serviced; return whether it has a history."""
        if not self.path(serial).exists():
            return False
        self.write(restart_after_repair(self.read(serial)))
        return True

    async def reset_by(self, controller: Controller, serial: str, who: ev.Person) -> None:
        """Restart the base of a machine that a technician serviced; record it first, with the technician."""
        known = [wear for wear in self.all() if wear.serial == serial]
        if not known:
            names = ", ".join(wear.serial for wear in self.all()) or "none"
            raise BadRequest(f"there is no wear history of {serial}; known: {names}")
        await controller.note_and_wait(
            rec.Note(
                "mended", f"{serial}: serviced; its wear history starts again", who=who, slot=known[0].slot or None
            )
        )
        self.reset(serial)

    def write(self, wear: Wear) -> None:
        """Replace a history atomically. Not synced: a lost window is measured again."""
        path = self.path(wear.serial)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            fresh = path.with_suffix(".new")
            fresh.write_bytes(msgspec.json.encode(wear))
            fresh.replace(path)
        except OSError as error:  # the journal reports a full disk
            log.warning("the wear history of %s was not saved: %s", wear.serial, error)


class WearMonitor:
    """Follows the machines that move cards. `handle_device_event` gets every event of a driver, after its slot."""

    def __init__(
        self, drivers: Mapping[str, AnyDriver], book: WearStore, on_warning: Callable[[WearWarning], None]
    ) -> None:
        self._drivers = drivers
        self._book = book
        self._on_warning = on_warning
        self._warned: dict[str, set[tuple[str, str]]] = {}
        self._asking: dict[str, asyncio.Task[None]] = {}

    def handle_device_event(self, slot: str, event: DriverEvent) -> None:
        """Ask a machine that has just stopped, unless a question is open."""
        if isinstance(event, _AFTER) and slot.partition(".")[0] in PARTS and slot not in self._asking:
            task = self._asking[slot] = asyncio.get_running_loop().create_task(self._ask(slot))
            task.add_done_callback(lambda _: self._asking.pop(slot, None))

    async def close(self) -> None:
        """Stop asking."""
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _ask(self, slot: str) -> None:
        driver = self._drivers[slot]
        assert isinstance(driver, CardPathDriver), f"a {driver.name} has no card path"
        try:
            transits, sensors = await driver.transits(), await driver.sensors()
            reported = await driver.ready()
        except PitboxError as error:
            log.info("%s did not answer questions about its wear: %s", slot, error)
            return
        hello = reported.hello
        if shoe.DRAWS not in hello.capabilities:  # the speed of a hand is not wear of the machine
            look = wear_reading(hello.kind, transits.segments, sensors.levels, reported.report.boot_id)
            self._fold(slot, hello.serial, look)

    def _fold(self, slot: str, serial: str, look: PathSample) -> None:
        before = self._book.read(serial)  # each time, because a technician may have restarted it
        if before.last is not None and len(before.last.segments) != len(look.segments):
            before = Wear(serial)  # another model has this serial number
        wear = msgspec.structs.replace(add_sample(before, look), slot=slot)
        if wear == before:
            return
        self._book.write(wear)
        if wear.windows == before.windows:
            return
        known = self._warned.get(serial, set()) if len(wear.base) >= BASE_WINDOWS else set()
        warnings = [named_warning(slot, serial, warned) for warned in judge(wear)]
        for warning in warnings:
            if (warning.warning.signal, warning.part) not in known:
                self._on_warning(warning)
        self._warned[serial] = {(warning.warning.signal, warning.part) for warning in warnings} | known


async def monitor_configured_wear(box: Box, config: TableConfig) -> None:
    """Keep the wear of a configured box in its data folder."""
    await monitor_wear(box, config.data)


async def monitor_wear(box: Box, data: Path) -> None:
    """Follow the machines of a running box; log and record its warnings."""

    def warned(warning: WearWarning) -> None:
        log.warning("%s", warning.sentence())
        box.note(rec.Note("wear", warning.sentence(), slot=warning.slot))

    book = WearStore(data / WEAR_FOLDER)

    def repaired(step: DurableStep) -> None:
        if isinstance(step.event, ev.SlotOrdered) and step.event.act == "repair":
            reported = box.slots[step.event.slot].driver.reported
            if reported is not None:
                book.reset(reported.hello.serial)

    box.wear = book
    watch = WearMonitor({name: slot.driver for name, slot in box.slots.items()}, book, warned)
    followers = box.controller.followers if box.controller is not None else []
    box.on_device_event.append(watch.handle_device_event)
    followers.append(repaired)
    try:
        await asyncio.get_running_loop().create_future()  # until the box ends
    finally:
        followers.remove(repaired)
        box.on_device_event.remove(watch.handle_device_event)
        box.wear = None
        await watch.close()
