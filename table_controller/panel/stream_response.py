"""The HTTP response of a page's stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import StreamingResponse

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from table_controller.panel.live import LivePages, PageStream


class StreamResponse(StreamingResponse):
    """A streaming response that always releases its stream at the end, even if nothing was sent."""

    def __init__(self, stream: PageStream, live: LivePages) -> None:
        super().__init__(stream.chunks(), media_type="text/event-stream")
        self._stream = stream
        self._live = live

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream until it ends or its client is gone."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._live.close_stream(self._stream)
