"""The routes that open and close a session."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from shoal.errors import UsageError
from shoal.web.api.forms import LoginForm
from shoal.web.server.security import SESSION_PATH, Security, cookie_header, session_of

__all__ = ["make_session_router"]


def make_session_router(security: Security) -> APIRouter:
    """Return the routes over the sessions of a server."""
    router = APIRouter()

    @router.post(SESSION_PATH, status_code=204, summary="Exchange the token or the password for a cookie")
    def open_session(form: LoginForm) -> Response:
        secret = form.password if security.sessions.needs_password else form.token
        id = None if secret is None else security.sessions.open(secret)
        if id is None:
            what = "password" if security.sessions.needs_password else "token"
            again = "" if security.sessions.needs_password else " A token works once; shoal serve prints a new one."
            text = f"this {what} is wrong or was used.{again}"
            return JSONResponse({"error": {"kind": "RefusedError", "text": text}}, 401)
        return Response(status_code=204, headers={"Set-Cookie": cookie_header(security, id)})

    @router.delete(SESSION_PATH, status_code=204, summary="End the session")
    def close_session(request: Request) -> Response:
        id = session_of(security, request.scope["headers"])
        if id is not None:
            security.sessions.close(id)
        return Response(status_code=204, headers={"Set-Cookie": cookie_header(security, "")})

    @router.post("/api/links", status_code=201, summary="Make another address that opens a session once")
    def new_link(request: Request) -> dict[str, str]:
        if security.sessions.needs_password:
            raise UsageError("here a password opens a session. Log in with it.")
        host = request.headers["host"]
        return {"url": f"{security.scheme}://{host}/#token={security.sessions.new_token()}"}

    return router
