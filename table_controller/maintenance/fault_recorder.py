"""Records the evidence of a fault of a machine that moves cards: the known state at once, then its answers.

One recorder per slot. It receives the same events as the controller and sends the machine only questions.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args

import msgspec

from devices.driver_events import LinkUp
from devices.edge_log import EDGE_LOG
from devices.kinds import CardPathDriver
from firmware_bridge.errors import PitboxError
from table_controller.diagnosis import evidence
from table_controller.diagnosis.fault_report import FaultReport, HaltKind, MachineHalt, MotionEnd, TransitsAtFault

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from devices.kinds import AnyDriver, AnyKind, DriverEvent
    from devices.shoe import messages as sh
    from devices.shuffler import messages as sf
    from firmware_bridge.messages import DeviceHello
    from table_controller.diagnosis.fault_report_store import FaultReportStore
    from table_controller.maintenance.frame_ring import FrameRing

    Sensors = sf.Sensors | sh.Sensors
    Transits = sf.Transits | sh.Transits

log = logging.getLogger(__name__)
_Answer = TypeVar("_Answer")

# How many earlier motions a report includes.
_ENDS: Final = 8
# States in which a machine waits to be cleared; it has already reported the cause.
_HALTED: Final = ("HALTED", "DOUBTFUL")


class FaultRecorder:
    """`facts` returns the fields of a FaultReport that the table knows, and `expected` cards."""

    def __init__(
        self,
        slot: str,
        kind: AnyKind,
        driver: AnyDriver,
        ring: FrameRing,
        store: FaultReportStore | None = None,
        *,
        facts: Callable[[], dict[str, Any]] = dict,
        wall_ns: Callable[[], int] = time.time_ns,
        threads: bool = False,
        on_closed: Callable[[FaultReport], None] | None = None,
    ) -> None:
        """`threads`: write in a thread, for real disks. `on_closed` gets a report when it is closed."""
        assert isinstance(driver, CardPathDriver), f"a {kind.name} has no card path"
        self.ring = ring
        self.reports: deque[FaultReport] = deque(maxlen=_ENDS)  # the newest complete ones
        self._slot, self._kind, self._driver, self._keep = slot, kind, driver, store
        self._facts, self._wall_ns = facts, wall_ns
        self._threads, self._on_kept = threads, on_closed
        self._view = kind.initial_view
        self._hello: DeviceHello | None = None
        self._ends: deque[MotionEnd] = deque(maxlen=_ENDS)
        self._history: tuple[TransitsAtFault, ...] = ()
        self._open: FaultReport | None = None
        self._path_reported = False  # a blocked machine refuses every command until it is cleared or moves
        self._power_reported = False  # a machine reports a power loss at every connection until it is cleared
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def recording(self) -> FaultReport | None:
        """The report that is being recorded; None if there is none."""
        return self._open

    @property
    def is_recording(self) -> bool:
        """Whether a fault is being recorded."""
        return self._open is not None

    def lost_report(self, what: str, at_ns: int) -> FaultReport | None:
        """Return an incomplete report in place of one that a power cut prevented; None before the machine is known."""
        if self._hello is None:
            return None
        halt = MachineHalt(what if what in get_args(HaltKind) else "stopped", "lost in a power cut")  # type: ignore[arg-type]
        facts = dict(self._facts())
        account = evidence.account_of(self._view, None, self._hello, facts.pop("expected", None))
        machine = evidence.machine_of(self._slot, self._kind.name, self._hello)
        return FaultReport(at_ns=at_ns or self._wall_ns(), machine=machine, halts=(halt,), account=account, **facts)

    def handle_device_event(self, event: DriverEvent) -> None:
        """Handle an event of the driver, in order."""
        if isinstance(event, self._kind.telemetry_events):
            self._view = self._kind.fold(self._view, event)
            return
        if isinstance(event, LinkUp):
            self._hello = event.hello
        halt = evidence.halt_of(self._kind.name, event)
        if halt is not None and not self._known(halt):
            self._power_reported = halt.what == "power_lost"
            self._path_reported = halt.what == "path_blocked"
            self._halted(event, halt)
        elif isinstance(event, evidence.ENDED_WELL):
            self._start(self._read_history())
        ended = evidence.ended_of(event)
        if ended is not None:
            self._power_reported = self._path_reported = False
            self._ends.append(ended)
        self._view = self._kind.fold(self._view, event)

    def _known(self, halt: MachineHalt) -> bool:
        """Return whether a report about this halt exists already."""
        if halt.what == "path_blocked":  # after a halt the sensors stay blocked for the same reason
            state = getattr(self._view.state, "name", "")
            return self._path_reported or self._power_reported or self.is_recording or state in _HALTED
        return halt.what == "power_lost" and self._power_reported

    def _halted(self, event: DriverEvent, halt: MachineHalt) -> None:
        if self._open is not None:  # the same fault continues
            self._open = msgspec.structs.replace(self._open, halts=(*self._open.halts, halt))
            return
        name, facts = self._kind.name, dict(self._facts())
        account = evidence.account_of(self._view, event, self._hello, facts.pop("expected", None))
        self._open = FaultReport(
            at_ns=self._wall_ns(),
            machine=evidence.machine_of(self._slot, name, self._hello),
            halts=(halt,),
            account=account,
            levels=evidence.levels_of(name, getattr(event, "levels", None) or ()),
            currents=evidence.currents_of(name, getattr(event, "currents", None) or ()),
            history=self._history,
            ends=tuple(self._ends),
            opening=self.ring.opening(),
            frames=self.ring.frames(),
            **facts,
        )
        self._start(self._complete(self._open))

    # --- questions to the machine -------------------------------------------------------------------------------------

    def _start(self, what: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(what)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _read_history(self) -> None:
        """Ask a machine that has stopped for its transit times and its status: a replay can begin there."""
        transits: Transits | None = await self._ask(self._driver.transits())
        await self._ask(self._driver.status())
        if transits is not None and self._open is None:
            self._history = evidence.times_of(self._kind.name, transits.segments)

    async def _ask(self, question: Awaitable[_Answer]) -> _Answer | None:
        """Wait for the answer of the machine; return None if it does not answer."""
        try:
            return await question
        except PitboxError:
            return None

    async def _write(self, call: Callable[..., Any], *args: Any) -> Any:
        """Write to disk; log a failure and continue."""
        try:
            return await asyncio.to_thread(call, *args) if self._threads else call(*args)
        except (OSError, PitboxError) as error:
            log.error("%s: its fault report could not be written: %s", self._slot, error)  # noqa: TRY400 - no traceback
            return None

    async def _complete(self, first: FaultReport) -> None:
        """Store the known evidence, ask the machine for more, and close the report with its answers."""
        number = (await self._write(self._keep.add, first) if self._keep is not None else None) or 0
        name = self._kind.name
        answers: dict[str, Any] = {}
        capable = self._hello is not None and EDGE_LOG in self._hello.capabilities
        trail = await self._ask(self._driver.edge_log()) if capable else None
        sensors: Sensors | None = await self._ask(self._driver.sensors())
        transits: Transits | None = await self._ask(self._driver.transits())
        assert self._open is not None, "only this method closes it"
        blocked = self._open.halt.what == "path_blocked"
        if blocked and trail is not None and trail.halted_us is not None:
            trail = None  # it is about an earlier halt
        if trail is not None:
            answers["edges"], answers["waited_us"] = evidence.edges_of(name, trail), trail.waited_us
        if trail is not None and not self._open.currents:
            answers["currents"] = evidence.currents_of(name, trail.currents)
        if sensors is not None and not self._open.levels:
            answers["levels"] = evidence.levels_of(name, sensors.levels)
        if transits is not None:
            answers["times"] = evidence.times_of(name, transits.segments)
        closed = msgspec.structs.replace(self._open, complete=True, number=number, **answers)
        self._open = None
        self.reports.append(closed)
        if self._keep is not None and number:
            await self._write(self._keep.complete, number, closed)
        if self._on_kept is not None:
            self._on_kept(closed)

    def cancel(self) -> None:
        """Stop at once."""
        for task in self._tasks:
            task.cancel()

    async def close(self) -> None:
        """Finish open questions."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
