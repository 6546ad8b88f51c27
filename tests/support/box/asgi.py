"""Calls an ASGI application without a socket: a browser's requests, one at a time, with its cookies."""

from __future__ import annotations

import asyncio
import json
from http.cookies import SimpleCookie
from typing import Any

HOST = "127.0.0.1:8080"
ORIGIN = f"http://{HOST}"


class HttpAnswer:
    def __init__(self, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        self.status = status
        self.headers = {key.decode().lower(): value.decode() for key, value in headers}
        self.body = body

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class AsgiBrowser:
    """One browser with cookies, an origin and one open page. `place` is its address."""

    def __init__(self, app: Any, *, place: str = "127.0.0.1", host: str = HOST, origin: str | None = ORIGIN) -> None:
        self._app = app
        self.place = place
        self.host = host
        self.origin = origin
        self.cookies: dict[str, str] = {}
        self.set_cookie = ""
        self.page = ""
        self.request_number = 0

    def _scope(self, method: str, path: str, headers: dict[str, str]) -> dict[str, Any]:
        target, _, query = path.partition("?")
        sent = {"host": self.host} | headers
        if self.cookies:
            sent["cookie"] = "; ".join(f"{key}={value}" for key, value in self.cookies.items())
        if self.origin is not None and method == "POST":
            sent.setdefault("origin", self.origin)
        return {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": target, "raw_path": target.encode(), "query_string": query.encode(), "root_path": "",
            "headers": [(key.encode(), value.encode()) for key, value in sent.items()],
            "client": (self.place, 40000), "server": ("127.0.0.1", 8080),
        }  # fmt: skip

    async def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> HttpAnswer:
        """Send a request and return the whole answer."""
        began: list[Any] = []
        parts: list[bytes] = []
        left = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Any:
            if left:
                return left.pop()
            await asyncio.Event().wait()
            return None

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                began.append(message)
            else:
                parts.append(message.get("body", b""))

        await self._app(self._scope(method, path, {k.replace("_", "-"): v for k, v in headers.items()}), receive, send)
        answer = HttpAnswer(began[0]["status"], began[0]["headers"], b"".join(parts))
        if "set-cookie" in answer.headers:
            self.set_cookie = answer.headers["set-cookie"]
            for name, morsel in SimpleCookie(self.set_cookie).items():
                self.cookies[name] = morsel.value
        return answer

    async def get(self, path: str, **headers: str) -> HttpAnswer:
        return await self.ask("GET", path, b"", **headers)

    async def post(self, path: str, body: Any, **headers: str) -> HttpAnswer:
        return await self.ask("POST", path, json.dumps(body).encode(), **headers)

    async def sign_on(self, id_: str, pin: str) -> HttpAnswer:
        answer = await self.post("/api/sign_on", {"who": {"id": id_, "pin": pin}})
        if answer.status == 200:
            self.page, self.request_number = (await self.get("/api/session")).json["page"], 0
        return answer

    async def submit(self, name: str, **more: Any) -> HttpAnswer:
        self.request_number += 1
        return await self.post("/api/request", {"n": self.request_number, "do": name, **more}, x_pitbox_page=self.page)

    async def stream(self, path: str, is_complete: Any, seconds: float = 10.0) -> list[dict[str, Any]]:
        """Follow a stream until `wanted(events)` is true, then disconnect; return its events."""
        events: list[dict[str, Any]] = []
        gone = asyncio.Event()
        asked = [{"type": "http.request", "body": b"", "more_body": False}]
        partial = ""

        async def receive() -> Any:
            if asked:
                return asked.pop()
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            nonlocal partial
            if message["type"] == "http.response.start":
                events.append({"status": message["status"]})
                return
            *whole, partial = (partial + message.get("body", b"").decode()).split("\n\n")
            events.extend(_event(text) for text in whole)
            if is_complete(events):
                gone.set()

        async with asyncio.timeout(seconds):
            await self._app(self._scope("GET", path, {}), receive, send)
        return events


def _event(text: str) -> dict[str, Any]:
    fields = dict(line.split(": ", 1) for line in text.splitlines())
    if "data" in fields:
        return fields | {"data": json.loads(fields["data"])}
    return dict(fields)
