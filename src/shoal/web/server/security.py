"""The guard before the app: host, origin and session of every request, and what its answers allow a browser to do.

It is plain ASGI, so that it stands before pages, static files, the API and the websocket alike.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any

from shoal.errors import place_of
from shoal.web.server.sessions import Sessions
from shoal.web.server.sockets import REFUSED, SessionSocket

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["SESSION_PATH", "Guard", "Security", "cookie_header", "session_of"]

SESSION_PATH = "/api/session"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
MOST_BODY = 8 << 20  # bytes of a request that is not an upload
UPLOADS = re.compile(r"/api/projects/(import|[0-9a-f]+/(table|files))")
STATIC = re.compile(
    r"/(_nicegui/[^/]+/(static|components|libraries|esm|resources|dynamic_resources|codehilite)|static)/"
)
TAG = re.compile(rb"<(script|style)(?=[\s>])")
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "x-robots-tag": "noindex",
}
log = logging.getLogger("shoal.web")


@dataclass(frozen=True)
class Security:
    """Who may talk to the server.

    Attributes:
        port: The port.
        sessions: The sessions.
        hosts: Names of this machine besides those of the loopback.
        encrypted: Whether the server speaks TLS.
    """

    port: int
    sessions: Sessions
    hosts: tuple[str, ...] = ()
    encrypted: bool = False

    @property
    def scheme(self) -> str:
        """The scheme of its URLs."""
        return "https" if self.encrypted else "http"

    @property
    def allowed(self) -> frozenset[str]:
        """The values of Host that are answered."""
        names = [*LOOPBACK, *self.hosts]
        default = {"http": 80, "https": 443}[self.scheme]
        return frozenset(f"{name}:{self.port}" for name in names) | (
            frozenset(names) if self.port == default else frozenset()
        )

    @property
    def cookie(self) -> str:
        """The name of the cookie; it has the port, because browsers send a cookie to every port of a host."""
        return f"shoal-{self.port}"

    def policy(self, nonce: str) -> str:
        """Return the content security policy of an answer: scripts and styles of this server or with its nonce."""
        return (
            f"default-src 'none'; script-src 'self' 'nonce-{nonce}' 'unsafe-eval'; style-src 'self' 'nonce-{nonce}'; "
            "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; manifest-src 'self'; base-uri 'none'; "
            "form-action 'self'; frame-ancestors 'none'; object-src 'none'"
        )


def session_of(security: Security, headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """Return the id of the session that a request names, if it is open."""
    for name, value in headers:
        if name == b"cookie":
            try:
                cookies = SimpleCookie(value.decode("latin-1"))
            except CookieError:
                continue
            if security.cookie in cookies and security.sessions.is_open(cookies[security.cookie].value):
                return cookies[security.cookie].value
    return None


def cookie_header(security: Security, id: str) -> str:
    """Return the header that gives a browser its cookie; an empty id takes it away."""
    parts = [f"{security.cookie}={id}", "Path=/", "HttpOnly", "SameSite=Strict"]
    parts += ["Secure"] * security.encrypted + ["Max-Age=0"] * (not id)
    return "; ".join(parts)


@dataclass
class _Answer:
    """An answer on its way out: adds headers, and the nonce to the tags of a page; events end with the session."""

    send: Send
    policy: str
    nonce: str
    is_static: bool
    lasts: Callable[[], bool]
    began: bool = False
    _was_cut: bool = False
    _start: Message = field(default_factory=dict)
    _body: list[bytes] = field(default_factory=list)

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.began = True
            self._start = {**message, "headers": self._headers(message["headers"])}
            if not self._is_page:
                await self.send(self._start)
        elif message["type"] == "http.response.body" and self._is_page:
            self._body.append(message.get("body", b""))
            if not message.get("more_body"):
                await self._send_page()
        elif self._are_events and not self.lasts():
            if not self._was_cut:
                self._was_cut = True
                await self.send({"type": "http.response.body", "body": b""})
        else:
            await self.send(message)

    @property
    def _are_events(self) -> bool:
        return bool(dict(self._start["headers"]).get(b"content-type", b"").startswith(b"text/event-stream"))

    @property
    def _is_page(self) -> bool:
        headers = dict(self._start["headers"])
        is_download = headers.get(b"content-disposition", b"").startswith(b"attachment")
        return headers.get(b"content-type", b"").startswith(b"text/html") and not is_download

    async def _send_page(self) -> None:
        tag = f' nonce="{self.nonce}"'.encode()
        page = TAG.sub(lambda found: found[0] + tag, b"".join(self._body)).replace(
            b' style="display: none"', b" hidden"
        )
        headers = [(name, value) for name, value in self._start["headers"] if name != b"content-length"]
        await self.send({**self._start, "headers": [*headers, (b"content-length", str(len(page)).encode())]})
        await self.send({"type": "http.response.body", "body": page})

    def _headers(self, headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        ours = {**HEADERS, "content-security-policy": self.policy}
        if not self.is_static:
            ours["cache-control"] = "no-store"
        replaced = {name.encode() for name in ours} | {b"server", b"access-control-allow-origin"}
        kept = [(name.lower(), value) for name, value in headers if name.lower() not in replaced]
        return [*kept, *((name.encode(), value.encode()) for name, value in ours.items())]


class Guard:
    """The app behind checks that every request passes: host, origin, session, size; errors go out without details."""

    def __init__(self, app: ASGIApp, security: Security, login: bytes) -> None:
        """Stand before an app.

        Args:
            app: The app.
            security: Who may talk to the server.
            login: The page that exchanges a token or a password for a cookie.
        """
        self._app = app
        self._security = security
        self._login = login

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal, sessions = self._refuse(scope), self._security.sessions
        session = session_of(self._security, scope["headers"])
        if scope["type"] == "websocket":
            if refusal is not None or session is None:
                await receive()
                await send({"type": "websocket.close", "code": REFUSED})
                return
            await SessionSocket(sessions, session, receive, send).serve(self._app, scope)
            return
        nonce = secrets.token_urlsafe(16)
        is_static = STATIC.match(scope["path"]) is not None and refusal is None
        lasts = partial(sessions.lasts, session or "")
        answer = _Answer(send, self._security.policy(nonce), nonce, is_static, lasts)
        if refusal is not None:
            await self._answer(answer, scope, *refusal)
            return
        try:
            limited = receive if UPLOADS.fullmatch(scope["path"]) else _limited(receive)
            await self._app(scope, limited, answer)
        except Exception as error:
            id = secrets.token_hex(6)
            log.error(
                "error %s: %s in %s", id, type(error).__name__, place_of(error)
            )  # never its text: it may have cells
            if not answer.began:
                await self._answer(
                    answer, scope, 500, f"an error inside shoal (id {id}). This is a bug; please report it."
                )

    def _refuse(self, scope: Scope) -> tuple[int, str] | None:
        """Return status and text of the refusal of a request; None if it may pass."""
        headers = [(name.lower(), value) for name, value in scope["headers"]]
        named = dict(headers)
        if [name for name, _ in headers].count(b"host") != 1 or named[b"host"].decode(
            "latin-1"
        ) not in self._security.allowed:
            return 421, "this server does not answer to that name."
        is_change = scope["type"] == "websocket" or scope["method"] not in SAFE_METHODS
        if is_change and not self._is_own(named):
            return 403, "the request comes from another site."
        is_login = scope["type"] == "http" and scope["path"] == SESSION_PATH and scope["method"] == "POST"
        if not is_login and session_of(self._security, headers) is None:
            return 401, "open the address that shoal serve printed, or exchange its token for a cookie first."
        return None

    def _is_own(self, headers: dict[bytes, bytes]) -> bool:
        """Return whether a request comes from a page of this server, or from no page at all."""
        site = headers.get(b"sec-fetch-site", b"none")
        if site not in (b"same-origin", b"none"):
            return False
        origin = headers.get(b"origin")
        scheme = self._security.scheme
        return origin is None or origin.decode("latin-1") in {f"{scheme}://{host}" for host in self._security.allowed}

    async def _answer(self, answer: _Answer, scope: Scope, status: int, text: str) -> None:
        """Answer with an error: a page for a browser that has to log in, otherwise JSON."""
        accepts = dict(scope["headers"]).get(b"accept", b"")
        is_page = status == 401 and scope["method"] == "GET" and b"text/html" in accepts
        body = self._login if is_page else json.dumps({"error": {"kind": "RefusedError", "text": text}}).encode()
        kind = b"text/html; charset=utf-8" if is_page else b"application/json"
        headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
        await answer({"type": "http.response.start", "status": status, "headers": headers})
        await answer({"type": "http.response.body", "body": body})


def _limited(receive: Receive) -> Receive:
    """Return a receiver that stops at the limit of bodies that are not uploads."""
    from fastapi import HTTPException

    left = MOST_BODY

    async def limited() -> Any:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise HTTPException(413, "the request is too large.")
        return message

    return limited
