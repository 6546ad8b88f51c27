"""Asks a Python language server (basedpyright) where a name is used. It knows types, so it distinguishes attributes."""

from __future__ import annotations

import json
import subprocess
from typing import IO, TYPE_CHECKING, Any, Final, Self
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

SERVER: Final = "basedpyright-langserver"
_ANALYSIS: Final = {"typeCheckingMode": "off", "diagnosticMode": "openFilesOnly", "autoSearchPaths": True}


class LanguageServer:
    """A running language server over the tree at `root`, with the packages of the interpreter `python`."""

    def __init__(self, root: Path, command: str, python: str) -> None:
        self._root = root
        self._python = python
        self._process = subprocess.Popen([command, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 - given by the person at the keyboard
        self._next = 0

    def __enter__(self) -> Self:
        """Start the conversation."""
        self._request(
            "initialize",
            {
                "processId": None,
                "rootUri": self._root.as_uri(),
                "workspaceFolders": [{"uri": self._root.as_uri(), "name": "tree"}],
                "capabilities": {"workspace": {"configuration": True, "workspaceFolders": True}},
            },
        )
        self._send({"method": "initialized", "params": {}})
        self._wait_for_files()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the server."""
        self._process.kill()
        self._process.wait()

    def open(self, path: Path) -> None:
        """Let the server read a file."""
        document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": path.read_text()}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})

    def references(self, path: Path, line: int, column: int) -> list[tuple[str, int, int, int]]:
        """Return every use and definition of the name at a position: path, line, first and last column."""
        answer = self._request(
            "textDocument/references",
            {
                "textDocument": {"uri": path.as_uri()},
                "position": {"line": line, "character": column},
                "context": {"includeDeclaration": True},
            },
        )
        return [self._place(item) for item in answer or []]

    def _wait_for_files(self) -> None:
        """Wait until the server has listed the files of the tree: before that it would miss uses."""
        while True:
            message = self._receive()
            if "id" in message:
                self._answer(message)
            elif "source files" in str(message.get("params", {}).get("message", "")):
                return

    def _place(self, item: dict[str, Any]) -> tuple[str, int, int, int]:
        path = unquote(urlsplit(item["uri"]).path).removeprefix(f"{self._root}/")
        start, end = item["range"]["start"], item["range"]["end"]
        return path, start["line"], start["character"], end["character"]

    def _request(self, method: str, params: dict[str, Any]) -> Any:
        self._next += 1
        number = self._next
        self._send({"id": number, "method": method, "params": params})
        while True:
            message = self._receive()
            if message.get("id") == number and "method" not in message:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            if "id" in message:
                self._answer(message)

    def _answer(self, message: dict[str, Any]) -> None:
        """Answer a question of the server: which settings it has to use."""
        result: Any = None
        if message["method"] == "workspace/configuration":
            settings = {"python": {"pythonPath": self._python}, "basedpyright.analysis": _ANALYSIS}
            result = [settings.get(item.get("section", ""), {}) for item in message["params"]["items"]]
        self._send({"id": message["id"], "result": result})

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        pipe = self._pipe(self._process.stdin)
        pipe.write(f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        pipe.flush()

    def _receive(self) -> dict[str, Any]:
        pipe = self._pipe(self._process.stdout)
        length = 0
        while line := pipe.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        if not length:
            raise RuntimeError("the language server has ended")
        message: dict[str, Any] = json.loads(pipe.read(length))
        return message

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
        assert pipe is not None
        return pipe
