"""`pitbox trace`: watch one device's frames on the bench, decoded, and keep them as pcapng. No keys, no cards in it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from devices.registry import all_messages
from firmware_bridge import frame as fr
from firmware_bridge.capture import PcapngCapture
from firmware_bridge.messages import tag_of
from table_controller.cli.bench_link import add_link_arguments, bench_shuffler

if TYPE_CHECKING:
    import argparse

HELP = "watch one device's frames, decoded, and keep them as pcapng for Wireshark (deploy/wireshark/pitbox.lua)"
EXAMPLE = "pitbox trace --port /dev/ttyUSB0 --key SN123.key --out shuffler.pcapng --seconds 30"
