"""Serves a panel until it is canceled. Errors here never stop the table: the box restarts this task."""

from __future__ import annotations

import asyncio
import socket
import ssl
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.errors import ConfigurationError, PanelNotServed
from table_controller.host.addresses import is_loopback
from table_controller.panel.panel import Panel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from table_controller.config import PanelConfig
    from table_controller.controller.box import Box
    from table_controller.panel.page_requests import Check
    from table_controller.panel.panel import SimulatedMachines

# Graceful shutdown (s), after all streams have ended.
GRACE: Final = 1
# Longest head of a request (bytes): a cookie, a page's secret, and the browser's own headers.
HEAD: Final = 16_384


def _bound(config: PanelConfig) -> socket.socket:
    """Return a listening socket. Bound here, because the web server ends the whole process on an error."""
    family = socket.AF_INET6 if ":" in config.listen else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((config.listen, config.port))
        listening.listen(64)
        listening.setblocking(False)
    except OSError as error:
        listening.close()
        raise PanelNotServed(f"panel.listen {config.listen}, panel.port {config.port}: {error.strerror}") from error
    return listening


async def serve(
    config: PanelConfig,
    box: Box,
    check: Check,
    *,
    name: str,
    bench: SimulatedMachines | None = None,
    on_ready: Callable[[int], None] | None = None,
    status: Callable[[], str] = str,
    data: Path | None = None,
    unverified: bool = False,
) -> None:
    """Serve the panel of a box. PanelNotServed if the port is not available; calls `on_ready` with the port.

    `status` returns the box's own metrics; `data` is its data folder, if it has one. With `unverified` every page shows
    that the software is not approved.

    Any address except loopback needs TLS, because PINs are sent.
    """
    local, secure = is_loopback(config.listen), config.cert is not None
    if not local and not secure:
        raise ConfigurationError(f"panel.listen {config.listen} is not a loopback address, and panel.cert is missing")
    # The web server is imported in a thread, because that takes long and would block the table.
    app = await asyncio.to_thread(import_module, "table_controller.panel.app")
    uvicorn = await asyncio.to_thread(import_module, "uvicorn")
    connections = await asyncio.to_thread(import_module, "table_controller.panel.connections")
    listening = _bound(config)
    try:
        panel = Panel(
            box, check, name=name, secure=secure, local=local, bench=bench, status=status, data=data,
            unverified=unverified, screens=config.screens, metrics_token=config.metrics_token,
        )  # fmt: skip
        try:
            server = _server(uvicorn, connections, app.app_of(panel), panel, config)
            await _until_canceled(server, listening, panel, on_ready)
        finally:
            panel.close()
    finally:
        listening.close()


async def _until_canceled(
    server: Any, listening: socket.socket, panel: Panel, on_ready: Callable[[int], None] | None
) -> None:
    work = asyncio.get_running_loop().create_task(server.serve(sockets=[listening]))
    try:
        if on_ready is not None:
            on_ready(listening.getsockname()[1])
        await asyncio.shield(work)
    except asyncio.CancelledError:
        panel.close()  # ends the streams, which the server would wait for
        server.should_exit = True
        await asyncio.wait({work})
        raise


def _server(uvicorn: Any, connections: Any, app: Any, panel: Panel, config: PanelConfig) -> Any:
    class Server(uvicorn.Server):  # type: ignore[misc]
        """A server that ignores signals, and accepts only connections that have a place."""

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            assert sockets, "the panel binds its own socket"
            await self.lifespan.startup()
            self.servers: list[Any] = []
            self.door = connections.ConnectionAcceptor(
                sockets[0], self._connection, panel.origin, panel.box.repeated_log, self.config.ssl
            )  # fmt: skip
            self.started = True

        def _connection(self) -> Any:
            state, app_state = self.server_state, self.lifespan.state
            return connections.PanelConnection(config=self.config, server_state=state, app_state=app_state)

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await self.door.close()
            await super().shutdown(sockets)
            self.door.check()

        async def on_tick(self, counter: int) -> bool:
            return self.door.failed or bool(await super().on_tick(counter))

    settings = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="off", ws="none",
        http=connections.PanelConnection, loop="asyncio", proxy_headers=False, server_header=False,
        timeout_graceful_shutdown=GRACE, h11_max_incomplete_event_size=HEAD,
        ssl_certfile=None if config.cert is None else str(config.cert),
        ssl_keyfile=None if config.key is None else str(config.key),
        ssl_version=ssl.PROTOCOL_TLS_SERVER,
    )  # fmt: skip
    return Server(settings)
