"""A Mosquitto broker for the demo: the installed program on a free loopback port, ended with the demo."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import BrokerUnreachable, ConfigurationError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

LOOPBACK: Final = "127.0.0.1"
# Debian installs it outside a user's PATH.
_PLACES: Final = ("/usr/sbin/mosquitto", "/usr/local/sbin/mosquitto")
_PATIENCE: Final = 10.0


def parse_broker(text: str) -> tuple[str, int]:
    """Return host and port of HOST[:PORT]; UsageMistake if the text is neither."""
    host, _, port = text.partition(":")
    if not host or not (port or "1883").isdigit() or not 0 < int(port or 1883) < 65536:
        raise UsageError(f"{text!r} is no broker; HOST or HOST:PORT is one, as in 127.0.0.1:1883")
    return host, int(port or 1883)


def unreachable_reason(broker: tuple[str, int]) -> str | None:
    """Return a sentence why a broker cannot be reached; None if it can."""
    try:
        with socket.create_connection(broker, _PATIENCE / 5):
            return None
    except OSError as error:
        why = BrokerUnreachable(f"{broker[0]}:{broker[1]}: {error.strerror or error}")
        return f"{why.code} {why}; the table plays anyway and publishes once the broker answers"


def free_port() -> int:
    """Return a free port of loopback."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


@contextmanager
def run_broker(folder: Path) -> Iterator[tuple[str, int]]:
    """Run a broker as long as the block; ConfigurationError names the package to install."""
    program = shutil.which("mosquitto") or next((place for place in _PLACES if Path(place).exists()), None)
    if program is None:
        raise ConfigurationError(
            "--mqtt needs a broker: sudo apt-get install -y mosquitto, or name one: --mqtt HOST:PORT"
        )
    port = free_port()
    config, log_file = folder / "mosquitto.conf", folder / "mosquitto.log"
    config.write_text(f"user root\nlistener {port} {LOOPBACK}\nallow_anonymous true\n", "ascii")
    with log_file.open("wb") as log:
        process = subprocess.Popen([program, "-c", str(config)], stdin=subprocess.DEVNULL, stdout=log, stderr=log)  # noqa: S603
    try:
        _listening(process, port, log_file)
        yield LOOPBACK, port
    finally:
        process.terminate()
        process.wait(_PATIENCE)


def _listening(process: subprocess.Popen[bytes], port: int, log_file: Path) -> None:
    until = time.monotonic() + _PATIENCE
    while process.poll() is None and time.monotonic() < until:
        with suppress(OSError), socket.create_connection((LOOPBACK, port), 1.0):
            return
        time.sleep(0.02)
    raise ConfigurationError(f"mosquitto does not start: {log_file.read_text('utf-8', 'replace').strip()}")
