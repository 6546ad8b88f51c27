"""Records the use of a simulated machine's command memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simulators.casino.device_bench import DeviceBench


class CommandWatch:
    """Records every command that the machine started, received again, or was asked about."""

    def __init__(self, b: DeviceBench[Any, Any, Any]) -> None:
        self.begun: list[int] = []
        self.repeated: list[int] = []
        self.asked: list[int] = []
        memory = b.machine.board.memory
        begin, recall = memory.begin, memory.recall

        def began(command: int, tag: int = 0) -> Any:
            known = begin(command, tag)
            (self.begun if known is None else self.repeated).append(command)
            return known

        def recalled(command: int) -> Any:
            self.asked.append(command)
            return recall(command)

        memory.begin, memory.recall = began, recalled
