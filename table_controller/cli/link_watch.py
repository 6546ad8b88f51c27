"""Waits while a bench command shows a device's events: until the time is up, Ctrl-C, or the link is lost."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from devices.driver_events import LinkDown
from firmware_bridge.errors import UsageError

if TYPE_CHECKING:
    import argparse


def add_watch_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the action watch."""
    parser.add_argument("--seconds", type=float, help="with watch: end after this long (default: until Ctrl-C)")


def check_watch(args: argparse.Namespace) -> None:
    """Refuse a time that does not fit the action."""
    if args.seconds is not None and (args.action != "watch" or not 0 < args.seconds <= 86_400):
        raise UsageError("--seconds belongs to the action watch and takes a number up to 86400")


class LinkWatch:
    """Waits for the end of a link: returns when the time is up, raises the cause if the link is lost first."""

    def __init__(self) -> None:
        self._lost: LinkDown | None = None
        self._link_lost = asyncio.Event()

    def on_event(self, event: object) -> None:
        """Note that the link is lost."""
        if isinstance(event, LinkDown):
            self._lost = event
            self._link_lost.set()

    async def wait(self, seconds: float | None) -> None:
        """Wait so many seconds (None: without limit)."""
        try:
            async with asyncio.timeout(seconds):
                await self._link_lost.wait()
        except TimeoutError:
            return
        assert self._lost is not None
        raise self._lost.cause
