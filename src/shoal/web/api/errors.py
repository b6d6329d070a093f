"""How errors leave the API: a status, a kind and a text, never a cell and never what was sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.errors import CancelledError, FileError, InfeasibleError, InputError, InternalError, ShoalError, UsageError
from shoal.web.files import MissingError, TooLargeError
from shoal.web.server.sessions import TooManyAttemptsError
from shoal.web.words import error_in_words

if TYPE_CHECKING:
    from fastapi import FastAPI

__all__ = ["add_error_handlers"]

# The first class that fits decides.
STATUSES: tuple[tuple[type[ShoalError], int], ...] = (
    (MissingError, 404),
    (TooLargeError, 413),
    (TooManyAttemptsError, 429),
    (InfeasibleError, 409),
    (InputError, 422),
    (UsageError, 400),
    (CancelledError, 409),
    (FileError, 422),
    (InternalError, 500),
)


def add_error_handlers(app: FastAPI) -> None:
    """Have an app answer errors in one form: {"error": {"kind", "text"}}."""
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import JSONResponse
    from starlette.exceptions import HTTPException

    def answer(status: int, kind: str, text: str, headers: Any = None) -> JSONResponse:
        return JSONResponse({"error": {"kind": kind, "text": text}}, status, headers)

    @app.exception_handler(ShoalError)
    async def refuse(_: Any, error: ShoalError) -> JSONResponse:
        status = next((status for kind, status in STATUSES if isinstance(error, kind)), 400)
        return answer(status, type(error).__name__, error_in_words(error))

    @app.exception_handler(RequestValidationError)
    async def explain(_: Any, error: RequestValidationError) -> JSONResponse:
        problems = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:10]]
        return answer(422, "UsageError", "; ".join(problems).encode("utf-8", "replace").decode())

    @app.exception_handler(HTTPException)
    async def tell(_: Any, error: HTTPException) -> JSONResponse:
        return answer(error.status_code, "UsageError", str(error.detail), error.headers)
