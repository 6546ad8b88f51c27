"""The panel over HTTP: pages, streams, requests, and the checks that keep other sites out."""

from __future__ import annotations

import mimetypes
from hashlib import blake2b
from hmac import compare_digest
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import BadFault, BoxLocked, NoSuchDocument, PitboxError
from table_controller import rulebook
from table_controller.access.request_rules import ROLES_WITH_PIN_EACH_TIME
from table_controller.access.requests import ShownCredential
from table_controller.documents.html_page import render_message
from table_controller.documents.registry import DOCUMENTS, kind_named
from table_controller.host.addresses import host_name, is_loopback
from table_controller.host.metrics import CONTENT_TYPE
from table_controller.host.quota import Origin, Rank, origin_of
from table_controller.panel import labels
from table_controller.panel.documents import page_of
from table_controller.panel.fault_reports import list_fault_reports
from table_controller.panel.history import read_history
from table_controller.panel.live import SIGN
from table_controller.panel.metrics import counters_text
from table_controller.panel.page_requests import RequestResult, make_refusal
from table_controller.panel.stream_response import StreamResponse
from table_controller.panel.view import last_hits
from table_controller.rulebook.posting.render import STYLE_SHEET, posting_html, style_sheet

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from starlette.requests import Request

    from table_controller.documents.document import Document
    from table_controller.panel.live import PageStream
    from table_controller.panel.panel import Panel
    from table_controller.panel.round_index import RoundIndex
    from table_controller.panel.sessions import PanelSession

# Largest body of a request (bytes).
MAX_BODY: Final = 4096
# The header of a page's secret; a form of another site cannot set it.
PAGE_HEADER: Final = "x-pitbox-page"
HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
# Roles that may review past rounds, and roles that may see the history of the machines.
PAST_ROLES: Final = ("floorperson", "auditor")
HISTORY_ROLES: Final = ("technician", "floorperson", "auditor")
PAGES: Final = {
    "/": "index.html",
    "/dealer": "dealer.html",
    "/floor": "floor.html",
    "/technician": "technician.html",
    "/sign": "sign.html",
    "/hits": "hits.html",
    "/posting": "posting.html",
}


# The mark on every page of a development table, including the players' sign.
_UNVERIFIED: Final = (
    b'<div class="unverified" role="note" title="A development table with unapproved software.">'
    b"UNVERIFIED</div>\n</body>"
)


def _marked(page: bytes) -> bytes:
    """Return a page with the mark of a development table in its HTML, which no script removes."""
    assert page.count(b"</body>") == 1, "a page has one end"
    return page.replace(b"</body>", _UNVERIFIED)


class SignOnBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of a sign-on request."""

    who: ShownCredential


class SignShownBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The report of a sign page: its page id, the amount that it shows, and the number of the posting that it shows."""

    page: Annotated[str, msgspec.Meta(max_length=64)]
    text: Annotated[str, msgspec.Meta(max_length=64)]
    posting: Annotated[str, msgspec.Meta(max_length=8)] = ""


class InjectBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fault for a simulated machine."""

    n: int
    slot: str
    fault: str


class PanelApp:
    """The routes of one panel."""

    def __init__(self, panel: Panel) -> None:
        self._panel = panel
        self._in_thread = panel.journal.in_thread
        self._texts: dict[str, str] = {}
        self._cookie = "__Host-pitbox" if panel.secure else "pitbox"
        self._files = {
            item.name: _marked(item.read_bytes())
            if panel.unverified and item.name.endswith(".html")
            else item.read_bytes()
            for item in files(__package__).joinpath("static").iterdir()
        }
        sheet = f'<link rel="stylesheet" href="/static/{STYLE_SHEET}">'
        posting = posting_html(panel.live.posting, panel.name, sheet).encode()
        self._files[STYLE_SHEET] = style_sheet().encode()
        self._files["posting.html"] = _marked(posting) if panel.unverified else posting
        pages = PAGES | ({"/bench": "bench.html"} if panel.bench is not None else {})
        self.asgi = Starlette(
            routes=[
                *(Route(path, self._page(name), methods=["GET"]) for path, name in pages.items()),
                Route("/static/{name}", self._static, methods=["GET"]),
                Route("/metrics", self._metrics, methods=["GET"]),
                Route("/documents", self._guarded(self._documents), methods=["GET"]),
                Route("/document/{name}", self._guarded(self._document), methods=["GET"]),
                Route("/api/session", self._guarded(self._session), methods=["GET"]),
                Route("/api/sign_on", self._guarded(self._sign_on), methods=["POST"]),
                Route("/api/sign_off", self._guarded(self._sign_off), methods=["POST"]),
                Route("/api/request", self._guarded(self._submit), methods=["POST"]),
                Route("/api/fault_reports", self._guarded(self._fault_reports), methods=["GET"]),
                Route("/api/history", self._guarded(self._history), methods=["GET"]),
                Route("/api/rounds", self._guarded(self._rounds), methods=["GET"]),
                Route("/api/round/{number:int}", self._guarded(self._round), methods=["GET"]),
                Route("/api/stream", self._guarded(self._stream), methods=["GET"]),
                Route("/api/sign", self._guarded(self._sign), methods=["GET"]),
                Route("/api/sign_shown", self._guarded(self._sign_shown), methods=["POST"]),
                Route("/api/hits", self._guarded(self._hits), methods=["GET"]),
                Route("/api/labels", self._guarded(self._labels), methods=["GET"]),
                Route("/api/clause/{id:path}", self._guarded(self._clause), methods=["GET"]),
                *([Route("/api/bench", self._guarded(self._faults), methods=["GET"]),
                   Route("/api/inject", self._guarded(self._inject), methods=["POST"])] if panel.bench else []),
            ],
            exception_handlers={404: _not_served, 405: _not_served},
        )  # fmt: skip

    # --- checks of a request ------------------------------------------------------------------------------------------

    def _guarded(self, handler: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        """Return a handler that accepts only requests of the panel's own pages."""

        async def guarded(request: Request) -> Response:
            why = self._foreign(request)
            if why is not None:
                origin = self._origin(request)
                text = f"a request to {request.url.path[:64]!r} was refused: {why}"
                self._panel.box.repeated_log.warn("a foreign request was refused", (why, origin.group), text)
                return _answer(RequestResult(403, {"ok": False, "text": why}))
            response = await handler(request)
            response.headers.update(HEADERS)
            response.headers["Cache-Control"] = "no-store"
            return response

        return guarded

    def _foreign(self, request: Request) -> str | None:
        """Return why a request cannot come from the panel's own pages; None if it can."""
        host = request.headers.get("host", "")
        # A foreign name that resolves to this host is an attack (DNS rebinding); an address cannot be one.
        if self._panel.local and not is_loopback(host_name(host)):
            return "this panel accepts only loopback addresses of this computer, such as localhost"
        site = request.headers.get("sec-fetch-site")
        if site is not None and site not in ("same-origin", "none"):
            return "the request comes from another site"
        origin = request.headers.get("origin")
        ours = f"{'https' if self._panel.secure else 'http'}://{host}"
        if request.method == "POST" and origin != ours:
            return "the origin of the request is not this panel"
        if origin is not None and origin != ours:
            return "the request comes from another site"
        return None

    def _signed_on(self, request: Request, *, used: bool = True) -> PanelSession | None:
        return self._panel.sessions.find(request.cookies.get(self._cookie, ""), used=used)

    def _origin(self, request: Request) -> Origin:
        """Return the origin of a request."""
        if request.client is None:
            return origin_of("local", own=True)
        reached = request.scope.get("server") or ("",)
        return self._panel.origin(request.client.host, reached[0])

    # --- pages --------------------------------------------------------------------------------------------------------

    def _page(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        async def page(request: Request) -> Response:
            return self._file(name, request)

        return page

    async def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._files or name.endswith(".html"):
            return _answer(RequestResult(404, {"ok": False, "text": "there is no such file"}))
        return self._file(name, request)

    def _file(self, name: str, request: Request) -> Response:
        data = self._files[name]
        tag = f'"{blake2b(data, digest_size=8).hexdigest()}"'
        headers = HEADERS | {"ETag": tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return Response(data, media_type=kind, headers=headers)

    async def _metrics(self, request: Request) -> Response:
        """Return metrics to this computer, to a client with the token, and to people who are signed on."""
        if not self._has_token(request):
            why = self._foreign(request)
            if why is not None:
                return _answer(RequestResult(403, {"ok": False, "text": why}))
            if not self._is_of_this_computer(request) and self._signed_on(request, used=False) is None:
                text = "metrics need a request from this computer, a sign-on, or the token"
                refusal = _answer(RequestResult(401, {"ok": False, "text": text}))
                refusal.headers["WWW-Authenticate"] = "Bearer"
                return refusal
        live = self._panel.live
        text = self._panel.status() + counters_text(live.tally, len(live.streams))
        return Response(text, headers=HEADERS | {"Content-Type": CONTENT_TYPE, "Cache-Control": "no-store"})

    def _is_of_this_computer(self, request: Request) -> bool:
        """Return whether a program on this computer asks for it by a name or an address of this computer.

        A browser on the box that follows a foreign name to it (DNS rebinding) sends that name.
        """
        place = self._origin(request).name
        return place == "local" or (is_loopback(place) and is_loopback(host_name(request.headers.get("host", ""))))

    def _has_token(self, request: Request) -> bool:
        """Return whether a request has the token of table.toml; never true if none is configured."""
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        token = self._panel.metrics_token
        is_bearer = token is not None and scheme.lower() == "bearer"
        return is_bearer and compare_digest(given.strip().encode(), str(token).encode())

    # --- signing on and off -------------------------------------------------------------------------------------------

    async def _session(self, request: Request) -> Response:
        """Return who is signed on, and the page's secret."""
        session = self._signed_on(request)
        if session is None:
            return JSONResponse({"role": None, "bench": self._panel.bench is not None})
        return JSONResponse(
            {
                "role": session.who.role,
                "id": session.who.id,
                "page": session.open_page(request.headers.get(PAGE_HEADER, "")),
                "each_time": session.who.role in ROLES_WITH_PIN_EACH_TIME,
                "bench": self._panel.bench is not None,
            }
        )

    async def _sign_on(self, request: Request) -> Response:
        body = await _body(request)
        if body is None:
            return _too_long()
        try:
            who = msgspec.json.decode(body, type=SignOnBody).who
        except UNDECODABLE:
            return _answer(RequestResult(400, {"ok": False, "text": "this is not a request"}))
        proved = await self._panel.requests.check_credential(who, self._origin(request))
        if isinstance(proved, RequestResult):
            return _answer(proved)
        self._panel.sessions.end(request.cookies.get(self._cookie, ""))  # one browser, one person
        response = JSONResponse({"ok": True, "role": proved.role})
        response.set_cookie(
            self._cookie, self._panel.signed_on(proved), path="/", secure=self._panel.secure, httponly=True,
            samesite="strict",
        )  # fmt: skip
        return response

    async def _sign_off(self, request: Request) -> Response:
        session = self._signed_on(request)
        if session is None or not session.has_page(request.headers.get(PAGE_HEADER, "")):
            return _answer(RequestResult(401, {"ok": False, "text": "nobody is signed on here"}))
        self._panel.sessions.end(request.cookies.get(self._cookie, ""))
        response = JSONResponse({"ok": True})
        response.delete_cookie(self._cookie, path="/", secure=self._panel.secure, httponly=True, samesite="strict")
        return response

    # --- the table ----------------------------------------------------------------------------------------------------

    async def _submit(self, request: Request) -> Response:
        """Handle a request of a page whose session and secret are known."""
        session = self._signed_on(request)
        if session is None:
            return _answer(RequestResult(401, {"ok": False, "text": "nobody is signed on here"}))
        page = request.headers.get(PAGE_HEADER, "")
        if not session.has_page(page):
            return _answer(
                RequestResult(403, {"ok": False, "page": False, "text": "this page has expired; load it again"})
            )
        body = await _body(request)
        if body is None:
            return _too_long()
        return _answer(await self._panel.requests.handle(session, page, body, self._origin(request)))

    async def _fault_reports(self, request: Request) -> Response:
        """The newest fault reports, for roles that may clear faults."""
        return await self._looked_up(request, self._faults_kept(), HISTORY_ROLES)

    async def _faults_kept(self) -> Any:
        kept, table = self._panel.box.fault_reports, self._panel.box.pictures.table()
        returning = {} if table is None else table.open_returns
        return [] if kept is None else await self._in_thread(list_fault_reports, kept.store.folder, returning)

    async def _rounds(self, request: Request) -> Response:
        """The list of rounds; with `older`, more of them."""
        return await self._looked_up(request, self._listed("older" in request.query_params), PAST_ROLES)

    async def _round(self, request: Request) -> Response:
        """The review of a round, for a dispute."""
        return await self._looked_up(request, self._reviewed(request.path_params["number"]), PAST_ROLES)

    async def _history(self, request: Request) -> Response:
        """Faults and repairs, drift, and links over time."""
        return await self._looked_up(request, self._plotted(), HISTORY_ROLES)

    async def _plotted(self) -> Any:
        panel = self._panel
        controller = panel.box.controller
        newest = 0 if controller is None else controller.durable_seq
        return await read_history(panel.journal, newest, panel.data, panel.links)

    async def _listed(self, older: bool) -> Any:
        if older:
            await self._archive().load_older()
        return self._archive().rounds()

    async def _reviewed(self, number: int) -> Any:
        return await self._archive().review_round(number)

    def _archive(self) -> RoundIndex:
        archive = self._panel.live.archive
        if archive is None:
            raise BoxLocked("the box is locked; read the journal with pitbox journal")
        return archive

    async def _looked_up(self, request: Request, work: Coroutine[Any, Any, Any], roles: tuple[str, ...]) -> Response:
        """Return the result of reading past records, for people with one of these roles."""
        session = self._signed_on(request)
        if session is None or session.who.role not in roles:
            work.close()
            if session is None:
                return _answer(RequestResult(401, {"ok": False, "text": "nobody is signed on here"}))
            return _answer(RequestResult(403, {"ok": False, "text": f"this is for the {' or the '.join(roles)}"}))
        try:
            return JSONResponse(await work)
        except PitboxError as error:
            return _answer(make_refusal(409, error))

    async def _stream(self, request: Request) -> Response:
        session = self._signed_on(request)
        if session is None:
            return _answer(RequestResult(401, {"ok": False, "text": "nobody is signed on here"}))
        origin, who = self._origin(request), session.who
        if origin.rank is not Rank.OWN:  # pages of one person count together, from all addresses
            origin = Origin(origin.name, who.id, Rank.KNOWN)
        stream = self._panel.live.open_stream(
            who.role, origin, machines="machines" in request.query_params, alive=lambda: not self._over(session)
        )
        return self._streamed(stream)

    def _over(self, session: PanelSession) -> bool:
        self._panel.sessions.sweep()
        return session.is_over

    async def _sign(self, request: Request) -> Response:
        """The stream of the meter sign, for everybody."""
        origin = self._origin(request)
        return self._streamed(self._panel.live.open_stream(SIGN, origin, machines=False, alive=lambda: True))

    async def _sign_shown(self, request: Request) -> Response:
        """A report of a sign page. No sign-on is needed; the page id and the rate limit protect it."""
        body = await _body(request)
        if body is None:
            return _too_long()
        try:
            shown = msgspec.json.decode(body, type=SignShownBody)
        except UNDECODABLE:
            return _answer(RequestResult(400, {"ok": False, "text": "this is not a request"}))
        why = self._panel.live.sign_shown(shown.page, shown.text, shown.posting)
        return _answer(RequestResult(409 if why else 200, {"ok": not why, "text": why}))

    async def _hits(self, request: Request) -> Response:
        """The last hits of each level."""
        return await self._looked_up(request, self._last_hits(), PAST_ROLES)

    async def _last_hits(self) -> Any:
        table = self._panel.box.pictures.table()
        return {"table": self._panel.name, "levels": [] if table is None else last_hits(table.last_hits)}

    # --- documents ----------------------------------------------------------------------------------------------------

    async def _documents(self, request: Request) -> Response:
        """The list of the newest documents that the signed-on person may see."""
        session = self._signed_on(request)
        refusal = self._no_document(session, tuple({role for kind in DOCUMENTS.values() for role in kind.roles}))
        if refusal is not None or session is None:
            return refusal or self._message(401, "Nobody is signed on here.")
        try:
            return self._html(await self._panel.documents.list_page(session.who.role))
        except PitboxError as error:
            return self._message(409, str(error))

    async def _document(self, request: Request) -> Response:
        """One document as a page that prints well, or as PDF."""
        try:
            kind = kind_named(request.path_params["name"])
        except NoSuchDocument as error:
            return self._message(404, str(error))
        session = self._signed_on(request)
        refusal = self._no_document(session, kind.roles)
        if refusal is not None:
            return refusal
        try:
            document = await self._panel.documents.make(kind, request.query_params)
        except PitboxError as error:
            return self._message(404 if isinstance(error, NoSuchDocument) else 409, f"{error.code}: {error}")
        if request.query_params.get("format") != "pdf":
            return self._html(page_of(document, request.url.path, request.url.query))
        content = await self._in_thread(_pdf, document)
        return Response(content, media_type="application/pdf",
                        headers={"Content-Disposition": f'inline; filename="{kind.name}.pdf"'})  # fmt: skip

    def _no_document(self, session: PanelSession | None, roles: tuple[str, ...]) -> Response | None:
        """Return the refusal for people without one of these roles."""
        if session is None:
            return self._message(401, "Nobody is signed on here: sign on at the floor page.")
        if session.who.role not in roles:
            return self._message(403, f"This is for the {' or the '.join(sorted(roles))}.")
        return None

    def _message(self, status: int, text: str) -> Response:
        return self._html(render_message("Documents", [text]), status)

    def _html(self, page: str, status: int = 200) -> Response:
        content = page.encode()
        return Response(_marked(content) if self._panel.unverified else content, status, media_type="text/html")

    def _streamed(self, stream: PageStream | None) -> Response:
        if stream is None:
            return _answer(RequestResult(503, {"ok": False, "text": "too many pages are open at this table"}))

        return StreamResponse(stream, self._panel.live)

    async def _labels(self, _request: Request) -> Response:
        """The labels of reports and orders, for menus."""
        return JSONResponse({"reports": labels.REPORTS, "orders": labels.ORDERS})

    async def _clause(self, request: Request) -> Response:
        """The text of a clause or of a reading."""
        if not self._texts:  # read once, in a thread
            self._texts = await self._in_thread(_texts)
        clause = request.path_params["id"]
        text = self._texts.get(clause)
        if text is None:
            return _answer(RequestResult(404, {"ok": False, "id": clause, "text": "there is no text for this clause"}))
        return JSONResponse({"id": clause, "text": text})

    # --- simulated machines -------------------------------------------------------------------------------------------

    async def _faults(self, request: Request) -> Response:
        if self._signed_on(request) is None or self._panel.bench is None:
            return _answer(RequestResult(401, {"ok": False, "text": "nobody is signed on here"}))
        return JSONResponse({"faults": self._panel.bench.faults()})

    async def _inject(self, request: Request) -> Response:
        session, page = self._signed_on(request), request.headers.get(PAGE_HEADER, "")
        body = await _body(request)
        if session is None or self._panel.bench is None or not session.has_page(page) or body is None:
            return _answer(RequestResult(403, {"ok": False, "text": "nobody is signed on at this page"}))
        try:
            fault = msgspec.json.decode(body, type=InjectBody)
            if not session.accept_once(page, fault.n):
                return _answer(RequestResult(409, {"ok": False, "text": "this request was already accepted"}))
            return JSONResponse({"ok": True, "text": self._panel.bench.inject(fault.slot, fault.fault)})
        except (KeyError, BadFault, *UNDECODABLE) as error:
            return _answer(RequestResult(400, {"ok": False, "text": str(error)}))


def _pdf(document: Document) -> bytes:
    """Return a document as a PDF file; the library is loaded with the first one."""
    from table_controller.documents.pdf_file import render_pdf  # noqa: PLC0415

    return render_pdf(document)


def _texts() -> dict[str, str]:
    """Return the texts of all clauses and readings."""
    clauses = {clause.id: clause.duty for game in rulebook.GAMES for clause in rulebook.clauses(game)}
    return clauses | {id_: reading.reading for id_, reading in rulebook.readings().items()}


def _answer(result: RequestResult) -> Response:
    return JSONResponse(result.body, result.status, headers=HEADERS | {"Cache-Control": "no-store"})


async def _not_served(_request: Request, error: Exception) -> Response:
    """Return 404 and 405 with the headers of every other response."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    more = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    body = {"ok": False, "text": "there is no such page" if status == 404 else "this method is not allowed here"}
    return JSONResponse(body, status, headers=HEADERS | {"Cache-Control": "no-store"} | more)


def _too_long() -> Response:
    """Return 413, and close the connection without reading the rest."""
    response = _answer(RequestResult(413, {"ok": False, "text": f"a request has at most {MAX_BODY} bytes"}))
    response.headers["Connection"] = "close"
    return response


async def _body(request: Request) -> bytes | None:
    """Return the body; None if it is too long."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            return None
    return body


def app_of(panel: Panel) -> Any:
    """Return the panel as an ASGI application."""
    return PanelApp(panel).asgi
