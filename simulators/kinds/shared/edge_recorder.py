"""The last sensor edges that firmware stores, for the diagnosis after a halt."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from devices.edge_log import MAX_EDGES, EdgeLog, SensorEdge

if TYPE_CHECKING:
    from enum import IntEnum

    from simulators.engine.device_clock import DeviceClock


class EdgeRecorder:
    """The newest edges since power-up, and the last halt. Edges after a halt do not overwrite those before it."""

    def __init__(self, clock: DeviceClock) -> None:
        self._clock = clock
        self._edges: deque[tuple[IntEnum, bool, float]] = deque(maxlen=MAX_EDGES)
        self._halt: EdgeLog | None = None

    def record_edge(self, sensor: IntEnum, blocked: bool) -> None:
        """Record an edge."""
        self._edges.append((sensor, blocked, self._clock.now))

    def _newest(self) -> list[SensorEdge]:
        return [SensorEdge(int(sensor), blocked, round(at * 1e6)) for sensor, blocked, at in self._edges]

    def record_halt(self, waited: float, currents: list[int]) -> None:
        """Record that motion stops: after so many seconds of waiting, with these currents."""
        self._halt = EdgeLog(self._newest(), round(self._clock.now * 1e6), round(waited * 1e6), currents)

    def message(self) -> EdgeLog:
        """Return the edges before the last halt; without a halt, the newest edges."""
        return self._halt or EdgeLog(self._newest(), None, 0, [])
