"""Watches what a simulated machine's memory of commands is asked. No tests here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simulators.house.stand import Stand


class Watch:
    """Notes every command that the machine began, every one it was given again, and every one it was asked about."""

    def __init__(self, b: Stand[Any, Any, Any]) -> None:
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
