"""How a bench command watches one device: until its time is up, Ctrl-C, or the link's end. Shows nothing itself."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from devices.report import LinkDown
from firmware_bridge.errors import UsageMistake

if TYPE_CHECKING:
    import argparse


def add_watch_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments of the action watch."""
    parser.add_argument("--seconds", type=float, help="with watch: end after this long (default: until Ctrl-C)")


def check_watch(args: argparse.Namespace) -> None:
    """Refuse a time that cannot be meant."""
    if args.seconds is not None and (args.action != "watch" or not 0 < args.seconds <= 86_400):
        raise UsageMistake("--seconds goes with watch and takes a number up to 86400")


class Watch:
    """Hears of the link's end; `last` returns when the time is up and raises when the link is lost first."""

    def __init__(self) -> None:
        self._lost: LinkDown | None = None
        self._heard = asyncio.Event()

    def take(self, event: Any) -> None:
        """Note the link's end."""
        if isinstance(event, LinkDown):
            self._lost = event
            self._heard.set()

    async def last(self, seconds: float | None) -> None:
        """Wait for so long, or for ever."""
        try:
            async with asyncio.timeout(seconds):
                await self._heard.wait()
        except TimeoutError:
            return
        assert self._lost is not None
        raise self._lost.cause
