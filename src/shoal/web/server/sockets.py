"""Websockets that live no longer than the session which opened them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from shoal.web.server.sessions import Sessions

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["REFUSED", "SessionSocket"]

LOOK_SECONDS = 0.5  # between two looks whether the session lasts; a message is looked at in any case
REFUSED = 1008  # the close code for what the rules of a server forbid
USE = '42["event"'  # how a message begins that a user caused; others, such as signs of life, prolong no session


class SessionSocket:
    """A websocket on its way to the app: closed, and deaf in both directions, as soon as its session ends."""

    def __init__(self, sessions: Sessions, id: str, receive: Receive, send: Send) -> None:
        """Stand between a websocket and the app.

        Args:
            sessions: The sessions.
            id: The session that opened the websocket.
            receive: Takes the next message of the browser.
            send: Sends a message to the browser.
        """
        self._sessions = sessions
        self._id = id
        self._receive = receive
        self._send = send
        self._is_closed = False

    async def serve(self, app: ASGIApp, scope: Scope) -> None:
        """Have the app serve the websocket until its end."""
        await app(scope, self._next, self._answer)

    async def _next(self) -> Message:
        """Return the next message of the browser; that it is gone, once the session has ended."""
        coming = asyncio.ensure_future(self._receive())
        try:
            while not self._is_closed:
                await asyncio.wait((coming,), timeout=LOOK_SECONDS)
                if not self._sessions.lasts(self._id):
                    break
                if coming.done():
                    message = coming.result()
                    if (message.get("text") or "").startswith(USE):
                        self._sessions.is_open(self._id)  # prolongs it
                    return message
        finally:
            coming.cancel()
        await self._close()
        return {"type": "websocket.disconnect", "code": REFUSED}

    async def _answer(self, message: Message) -> None:
        if not self._sessions.lasts(self._id):
            await self._close()
        elif not self._is_closed:
            self._is_closed = message["type"] == "websocket.close"
            await self._send(message)

    async def _close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            with suppress(OSError):  # the browser is gone
                await self._send({"type": "websocket.close", "code": REFUSED})
