"""Freezes the evidence when a machine that moves cards faults: what is known in that instant, then what it answers.

One freezer per slot. It listens beside the controller, asks the machine only questions, and decides nothing.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.report import LinkUp
from devices.trail import TRAIL
from firmware_bridge.errors import PitboxError
from table_controller.diagnosis import evidence
from table_controller.diagnosis.dossier import Dossier, Ended, Times

if TYPE_CHECKING:
    from collections.abc import Callable

    from devices.kinds import Kind
    from firmware_bridge.messages import DeviceHello
    from table_controller.controller.frame_ring import FrameRing
    from table_controller.diagnosis.dossier import Halt
    from table_controller.diagnosis.store import DossierStore

log = logging.getLogger(__name__)

# How many earlier ends of motions are told.
_ENDS: Final = 8
# The kinds of machines that move cards along a path.
KINDS: Final = ("shuffler", "shoe")
# States in which a machine waits to be cleared: why has been told.
_HALTED: Final = ("HALTED", "DOUBTFUL")


class Freezer:
    """`facts` gives what the table knows besides: fields of a Dossier, and `expected` cards. `keep` is the store."""

    def __init__(
        self,
        slot: str,
        kind: Kind[Any, Any],
        driver: Any,
        ring: FrameRing,
        keep: DossierStore | None = None,
        *,
        facts: Callable[[], dict[str, Any]] = dict,
        wall_ns: Callable[[], int] = time.time_ns,
        threads: bool = False,
        on_kept: Callable[[Dossier], None] | None = None,
    ) -> None:
        """`threads`: write in a thread, as a real disk wants it. `on_kept` is told a dossier once it is closed."""
        assert kind.name in KINDS, f"a {kind.name} has no card path"
        self.ring = ring
        self.dossiers: deque[Dossier] = deque(maxlen=_ENDS)  # the newest ones, as far as they are complete
        self._slot, self._kind, self._driver, self._keep = slot, kind, driver, keep
        self._facts, self._wall_ns = facts, wall_ns
        self._threads, self._on_kept = threads, on_kept
        self._view = kind.blank
        self._hello: DeviceHello | None = None
        self._ends: deque[Ended] = deque(maxlen=_ENDS)
        self._history: tuple[Times, ...] = ()
        self._open: Dossier | None = None
        self._told_of_path = False  # a machine refuses as often as it is asked, until it was cleared or has moved
        self._told_of_power = False  # a machine says at every connect that power was lost, until it was cleared
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def busy(self) -> bool:
        """True from a fault until its dossier is closed."""
        return self._open is not None

    def take(self, event: Any) -> None:
        """Take what the driver tells, in its order."""
        if isinstance(event, self._kind.pictures):
            self._view = self._kind.fold(self._view, event)
            return
        if isinstance(event, LinkUp):
            self._hello = event.hello
        halt = evidence.halt_of(self._kind.name, event)
        if halt is not None and not self._known(halt):
            self._told_of_power = halt.what == "power_lost"
            self._told_of_path = halt.what == "path_blocked"
            self._halted(event, halt)
        elif isinstance(event, evidence.ENDED_WELL):
            self._start(self._read_history())
        ended = evidence.ended_of(event)
        if ended is not None:
            self._told_of_power = self._told_of_path = False
            self._ends.append(ended)
        self._view = self._kind.fold(self._view, event)

    def _known(self, halt: Halt) -> bool:
        """Tell whether a halt is one that a dossier tells of already."""
        if halt.what == "path_blocked":  # after a halt the path is dark because of that one
            state = getattr(self._view.state, "name", "")
            return self._told_of_path or self._told_of_power or self.busy or state in _HALTED
        return halt.what == "power_lost" and self._told_of_power

    def _halted(self, event: Any, halt: Halt) -> None:
        if self._open is not None:  # the same fault goes on
            self._open = msgspec.structs.replace(self._open, halts=(*self._open.halts, halt))
            return
        name, facts = self._kind.name, dict(self._facts())
        account = evidence.account_of(name, self._view, event, self._hello, facts.pop("expected", None))
        self._open = Dossier(
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

    # --- what the machine is asked ------------------------------------------------------------------------------------

    def _start(self, what: Any) -> None:
        task = asyncio.get_running_loop().create_task(what)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _read_history(self) -> None:
        """Ask a machine that has come to rest for its times, and where it stands: a recording can begin there."""
        transits = await self._ask("transits")
        await self._ask("status")
        if transits is not None and self._open is None:
            self._history = evidence.times_of(self._kind.name, transits.segments)

    async def _ask(self, question: str) -> Any:
        """Ask the machine; None if it does not answer."""
        try:
            return await getattr(self._driver, question)()
        except PitboxError:
            return None

    async def _write(self, call: Callable[..., Any], *args: Any) -> Any:
        """Bring something to disk; what cannot be written is said, and the table goes on."""
        try:
            return await asyncio.to_thread(call, *args) if self._threads else call(*args)
        except (OSError, PitboxError) as error:
            log.error("%s: its dossier could not be written: %s", self._slot, error)  # noqa: TRY400 - told, not traced
            return None

    async def _complete(self, first: Dossier) -> None:
        """Keep what is known, ask what the machine remembers, and close the dossier with whatever came."""
        number = (await self._write(self._keep.add, first) if self._keep is not None else None) or 0
        name = self._kind.name
        found: dict[str, Any] = {}
        capable = self._hello is not None and TRAIL in self._hello.capabilities
        trail = await self._ask("trail") if capable else None
        sensors, transits = await self._ask("sensors"), await self._ask("transits")
        assert self._open is not None, "only this closes it"
        blocked = self._open.halt.what == "path_blocked"
        if blocked and trail is not None and trail.halted is not None:
            trail = None  # it tells of an earlier halt
        if trail is not None:
            found["edges"], found["waited_us"] = evidence.edges_of(name, trail), trail.waited
        if trail is not None and not self._open.currents:
            found["currents"] = evidence.currents_of(name, trail.currents)
        if sensors is not None and not self._open.levels:
            found["levels"] = evidence.levels_of(name, sensors.levels)
        if transits is not None:
            found["times"] = evidence.times_of(name, transits.segments)
        closed = msgspec.structs.replace(self._open, complete=True, number=number, **found)
        self._open = None
        self.dossiers.append(closed)
        if self._keep is not None and number:
            await self._write(self._keep.complete, number, closed)
        if self._on_kept is not None:
            self._on_kept(closed)

    def cancel(self) -> None:
        """Ask and write nothing any more."""
        for task in self._tasks:
            task.cancel()

    async def close(self) -> None:
        """Let what is being asked end."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
