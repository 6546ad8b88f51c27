"""The control socket: how every command, the panel and the virtual dealer talk to a running box. Decides nothing.

A client that sends nonsense gets an error; one that does not read, or sends without end, is dropped. None of them can
make the table wait: everything here is written without waiting, into buffers that have a limit.
"""

from __future__ import annotations

import asyncio
import grp
import os
import pwd
import socket
import stat
import struct
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.errors import BadRequest, DataFolderUnusable, NotAllowed, PitboxError
from firmware_bridge.version import VERSION
from table_controller.controller.protocol import MAX_LINE, error_body, line, read_request
from table_controller.controller.session import Session, watcher_places
from table_controller.controller.status import PROTOCOL, status_of
from table_controller.controller.told import plain
from table_controller.quota import Origin, Quota, Rank

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from table_controller.controller.box import Box
    from table_controller.controller.loop import Step
    from table_controller.quota import Seat

NAME: Final = "control.sock"
# Bytes that may wait for a client; a panel that is this far behind does not read any more.
MAX_BACKLOG: Final = 4 << 20
# Clients at once: a panel, an uplink, a few commands; more is a mistake. Some places are for root and the box's own
# user alone, and one other user gets a part of the rest.
MAX_CLIENTS: Final = 32
KEPT_CLIENTS: Final = 8
USER_CLIENTS: Final = 12
# The path of a Unix socket has so many bytes, no more.
MAX_PATH: Final = 107
_PEER: Final = struct.Struct("3i")


class Client(asyncio.Protocol):
    """One connection."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self._transport: asyncio.Transport | None = None
        self._read = bytearray()
        self._ended = False  # no more comes; what came is still answered
        self._seat: Seat | None = None
        self.session: Session | None = None

    @property
    def idle(self) -> bool:
        """Whether this client is of no use: another one may have its place."""
        return self.session is not None and self.session.idle

    def displace(self) -> None:
        """Another client gets this one's place."""
        self._control.clients.pop(self, None)
        self.drop("it did nothing, and another one came")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Greet whoever may come in; the others are told why not, and that is all."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        try:
            uid = self._control.user_of(transport.get_extra_info("socket"))
            self._seat = self._control.admit(self, uid)
        except NotAllowed as refused:
            self._control.box.repeated.warn("a client was refused", str(refused), str(refused))
            self.send({"error": error_body(refused)})
            transport.close()
            return
        self.session = Session(self._control.box, self.send, uid, self._control.watchers)
        self._control.clients[self] = None
        box = self._control.box
        hello = {"pitbox": VERSION, "protocol": PROTOCOL, "table": box.plan.name, "game": box.plan.edition.game}
        self.send({"hello": hello})

    def data_received(self, data: bytes) -> None:
        """Keep what came until it is this client's turn; one that sends faster than that is not read meanwhile."""
        if self.session is None or self._transport is None:
            return
        self._read += data
        if len(self._read) > MAX_LINE:
            self._transport.pause_reading()
        if self._more():
            self._control.wait_for_turn(self)

    def eof_received(self) -> bool:
        """Nothing more comes; stay as long as something that came is not answered."""
        self._ended = True
        return self.session is not None and self._more()

    def _more(self) -> bool:
        return len(self._read) > MAX_LINE or b"\n" in self._read

    def turn(self) -> bool:
        """Take one line; tell whether more wait. What is longer than any request ends the connection."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return False
        end = self._read.find(b"\n", 0, MAX_LINE + 1)
        if end < 0 and len(self._read) > MAX_LINE:
            self.send({"error": error_body(BadRequest(f"a line has at most {MAX_LINE} bytes"))})
            self.drop("its line has no end", abort=False)
            return False
        request = bytes(self._read[:end])
        del self._read[: end + 1]
        self._take(request)
        if self._more():
            return True
        if self._ended:
            transport.close()
        else:
            transport.resume_reading()
        return False

    def _take(self, request: bytes) -> None:
        assert self.session is not None
        if not request.strip():
            return
        try:
            self.session.take(read_request(request))
        except PitboxError as refused:
            self.send({"error": error_body(refused)})

    def send(self, what: Any) -> None:
        """Send one thing, as a line; a client that is too far behind is dropped instead."""
        self.send_line(what if isinstance(what, bytes) else line(what))

    def send_line(self, data: bytes) -> None:
        """Send a line."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if transport.get_write_buffer_size() > MAX_BACKLOG:
            self.drop("it does not read")
            return
        transport.write(data)

    def drop(self, why: str, *, abort: bool = True) -> None:
        """Be rid of a client."""
        text = f"a client of the control socket is dropped: {why}"
        self._control.box.repeated.warn("a client is dropped", why, text)
        if self._transport is not None:
            if abort:
                self._transport.abort()
            else:
                self._transport.close()

    def connection_lost(self, _error: Exception | None) -> None:
        """Whoever was signed on here speaks here no more."""
        self._transport = None
        self._control.clients.pop(self, None)
        if self._seat is not None:
            self._control.places.release(self._seat)
        if self.session is not None:
            self.session.close()

    def bye(self) -> None:
        """The box ends."""
        if self._transport is not None:
            self._transport.close()


class Control:
    """Serves one box at one socket."""

    def __init__(self, box: Box, path: Path) -> None:
        self.box = box
        self.path = path
        self.clients: dict[Client, None] = {}  # the oldest first
        others = max(1, MAX_CLIENTS - KEPT_CLIENTS)
        self.places = Quota((0, others, MAX_CLIENTS), (0, USER_CLIENTS, MAX_CLIENTS))
        self.watchers = watcher_places()
        self._server: asyncio.Server | None = None
        self._turns: deque[Client] = deque()
        box.on_told.append(self._told)
        box.on_halted.append(self._halted)

    async def start(self) -> None:
        """Listen. The data folder's lock is held by now: a socket that lies there is of a box that is gone."""
        if len(os.fsencode(self.path)) > MAX_PATH:
            raise DataFolderUnusable(f"{self.path}: a socket's path has at most {MAX_PATH} bytes")
        try:
            with suppress(FileNotFoundError):
                if not stat.S_ISSOCK(self.path.lstat().st_mode):
                    raise DataFolderUnusable(f"{self.path} is there and is no socket; it is left as it is")
                self.path.unlink()
            self._server = await asyncio.get_running_loop().create_unix_server(lambda: Client(self), str(self.path))
            self.path.chmod(0o660)
            if self.box.plan.group is not None:
                os.chown(self.path, -1, grp.getgrnam(self.box.plan.group).gr_gid)
        except KeyError:
            raise DataFolderUnusable(f"there is no group {self.box.plan.group} on this computer") from None
        except OSError as error:
            raise DataFolderUnusable(f"{self.path}: {error.strerror or error}") from error
        if self.box.controller is not None:
            self.box.controller.followers.append(self._step)

    def wait_for_turn(self, client: Client) -> None:
        """Have a client's next line taken: one line of one client each time that the loop comes round.

        So whatever is sent, and by however many, machines and deadlines wait for one request at most.
        """
        if client not in self._turns:
            self._turns.append(client)
            if len(self._turns) == 1:
                asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        client = self._turns[0]
        try:
            more = client.turn()
        finally:
            self._turns.popleft()
            if self._turns:
                asyncio.get_running_loop().call_soon(self._turn)
        if more:
            self.wait_for_turn(client)

    def admit(self, client: Client, uid: int) -> Seat:
        """Give a client its place, if need be one of a client that is of no use; NotAllowed if there is none."""
        name = f"user {uid}"
        rank = Rank.OWN if uid in (0, os.geteuid()) else Rank.KNOWN
        seat = self.places.admit(Origin(name, name, rank), idle=lambda: client.idle, displace=client.displace)
        if seat is None:
            raise NotAllowed(f"{len(self.places)} clients are connected and in use; this box takes no more")
        return seat

    def user_of(self, peer: socket.socket) -> int:
        """Return the user at the other end; NotAllowed if this box does not answer that one."""
        _, uid, gid = _PEER.unpack(peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
        if uid in (0, os.geteuid()) or self._in_group(uid, gid):
            return int(uid)
        raise NotAllowed(f"this box does not answer user {uid}; who may: its own user, root" + self._group_words())

    def _group_words(self) -> str:
        return f", the group {self.box.plan.group}" if self.box.plan.group else ""

    def _in_group(self, uid: int, gid: int) -> bool:
        if self.box.plan.group is None:
            return False
        try:
            wanted = grp.getgrnam(self.box.plan.group).gr_gid
            user = pwd.getpwuid(uid)
        except KeyError:
            return False
        return wanted == gid or wanted in os.getgrouplist(user.pw_name, user.pw_gid)

    # --- what the box tells by itself ---------------------------------------------------------------------------------

    def _step(self, step: Step) -> None:
        data: bytes | None = None
        for client in tuple(self.clients):
            if client.session is not None and client.session.wants(step):
                data = data or line({"step": step})
                client.send_line(data)
            if client.session is not None:
                client.session.durable(step)

    def _told(self, slot: str, event: Any) -> None:
        self._push(lambda session: session.told, lambda: {"told": {"slot": slot, **(plain(event) or {})}}, event)

    def _push(self, wants: Callable[[Session], bool], what: Callable[[], Any], event: Any) -> None:
        listeners = [c for c in tuple(self.clients) if c.session is not None and wants(c.session)]
        if listeners and plain(event) is not None:
            data = line(what())
            for client in listeners:
                client.send_line(data)

    def _halted(self, cause: PitboxError) -> None:
        for client in tuple(self.clients):
            if client.session is not None:
                client.session.halted(cause)
            client.send({"halted": error_body(cause)})

    def status(self) -> Any:
        """Return the box's picture of itself."""
        return status_of(self.box)

    async def close(self) -> None:
        """Send everybody away and take the socket back."""
        if self._server is not None:
            self._server.close()
            for client in tuple(self.clients):
                client.bye()
            await self._server.wait_closed()
            with suppress(FileNotFoundError):
                self.path.unlink()
        await asyncio.sleep(0)
