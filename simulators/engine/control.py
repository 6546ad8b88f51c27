"""How `pitbox sim` reaches running simulators: a folder, and one local socket for each simulator."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import socket
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import ConfigurationError, PitboxError, SimulatorNotFound, code_of
from firmware_bridge.keys import load_approved, save_approved, save_key
from simulators.engine.machine import approved_firmware

if TYPE_CHECKING:
    from simulators.engine.machine import SimulatedMachine

# A simulator answers at once, or within seconds on a loaded computer (s); after this time it hangs.
_ANSWER_TIME: Final = 10.0
_MAX_LINE: Final = 4096


def runtime_folder(given: Path | None) -> Path:
    """Return the folder where simulators keep their ports, keys and sockets, made for this user alone."""
    if given is None:
        base = os.environ.get("PITBOX_RUNTIME") or os.environ.get("XDG_RUNTIME_DIR")
        given = Path(base) / "pitbox" if base else Path(tempfile.gettempdir()) / f"pitbox-{os.getuid()}"
    try:
        given.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"{given}: {error.strerror}; name another folder with --folder") from error
    if given.stat().st_uid != os.getuid():
        raise ConfigurationError(f"{given} belongs to another user; name another folder with --folder")
    return given


def write_trust_files(machine: SimulatedMachine, folder: Path) -> None:
    """Write the machine's key file and add its firmware to the folder's approved list."""
    key_file = folder / f"{machine.slot}.key"
    key_file.unlink(missing_ok=True)
    save_key(key_file, machine.key)
    listed = folder / "approved.toml"
    known = load_approved(listed) if listed.exists() else frozenset()
    save_approved(listed, known | {approved_firmware(machine.kind)})


class ControlServer:
    """Answers `inject` and `truth` for one machine: one JSON object per line each way."""

    def __init__(self, machine: SimulatedMachine, path: Path) -> None:
        self._machine = machine
        self._path = path
        self.port = str(path.with_suffix(""))  # where its port is
        self._server: asyncio.Server | None = None
        self._lock: IO[str] | None = None

    async def start(self) -> None:
        """Listen; raise an error if a simulator of this name already runs. The lock ends with the process."""
        self._lock = self._path.with_suffix(".lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.close()
            name, folder = self._machine.slot, self._path.parent
            raise ConfigurationError(f"a simulator named {name} runs already in {folder}") from None
        self._path.unlink(missing_ok=True)
        self._server = await asyncio.start_unix_server(self._serve, self._path, limit=_MAX_LINE)
        self._path.chmod(0o600)

    async def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
        self._path.unlink(missing_ok=True)
        if self._lock is not None:
            self._lock.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ValueError, ConnectionError):  # an overlong line, or a caller that disconnected
            async with asyncio.timeout(_ANSWER_TIME):
                line = await reader.readline()
            writer.write(msgspec.json.encode(self._answer(line)) + b"\n")
            await writer.drain()
        writer.close()

    def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            request = msgspec.json.decode(line, type=dict[str, str])
            if request.get("do") == "inject":
                return {"message": self._machine.inject(request.get("fault", ""))}
            if request.get("do") == "truth":
                return {"truth": self._machine.true_counts(), "summary": self._machine.summary(), **self._about()}
        except PitboxError as error:
            return {"number": error.number, "error": str(error)}
        except UNDECODABLE as error:
            return {"number": ConfigurationError.number, "error": f"not a request: {error}"}
        wrong = f"a request is inject or truth, not {request.get('do')!r}"
        return {"number": ConfigurationError.number, "error": wrong}

    def _about(self) -> dict[str, Any]:
        machine = self._machine
        return {
            "kind": machine.kind,
            "serial": machine.key.serial,
            "state": machine.firmware.state.name.lower(),
            "powered": machine.board.alive,
            "seed": machine.seed,
            "port": self.port,
            "pid": os.getpid(),
        }


def send_request(folder: Path, name: str, request: dict[str, str]) -> dict[str, Any]:
    """Send a request to a running simulator; SimulatorNotFound if none has this name, its error if it refuses."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
        caller.settimeout(_ANSWER_TIME)
        try:
            caller.connect(str(folder / f"{name}.sock"))
            caller.sendall(msgspec.json.encode(request) + b"\n")
            with caller.makefile("rb") as file:
                answer: dict[str, Any] = msgspec.json.decode(file.readline())
        except (OSError, *UNDECODABLE) as error:
            raise SimulatorNotFound(f"no simulator named {name} answers in {folder}") from error
    if "error" in answer:
        raise _Refused(answer["error"], answer["number"])
    return answer


def list_running(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    """Return the simulators that answer, each with its description."""
    answering = []
    for path in sorted(folder.glob("*.sock")):
        with contextlib.suppress(SimulatorNotFound):
            answering.append((path.stem, send_request(folder, path.stem, {"do": "truth"})))
    return answering


class _Refused(ConfigurationError):
    """A simulator's refusal, with its error number."""

    def __init__(self, message: str, number: int) -> None:
        super().__init__(message)
        self._given = number

    @property
    def code(self) -> str:
        return code_of(self._given)
