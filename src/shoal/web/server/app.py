"""The app and its server: pages and API behind the guard, on a socket that is bound first."""

from __future__ import annotations

import ipaddress
import logging
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import FileError, UsageError, setting
from shoal.web.server.security import Guard, Security
from shoal.web.server.sessions import Sessions, read_password

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import ASGIApp

    from shoal.web.workbench import Workbench

__all__ = ["Listening", "check_installed", "is_loopback", "make_app", "serve"]

MISSING = "the web app needs NiceGUI, which is not installed: pip install 'shoal[web]'"


@dataclass(frozen=True)
class Listening:
    """Where the server listens, and who may come.

    Attributes:
        host: The address to bind.
        port: The port; 0 for any free one.
        password_file: The file of the password; needed beyond this machine.
        certificate: The TLS certificate; needed beyond this machine.
        key: The private key of the certificate.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    password_file: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches the server."""
        return is_loopback(self.host)

    def check(self) -> None:
        """Refuse an address beyond this machine without a password and TLS.

        Raises:
            UsageError: Something is missing.
        """
        if (self.certificate is None) != (self.key is None):
            raise UsageError(f"{setting('certificate')} and {setting('key')} belong together. Give both.")
        missing = [
            setting(name)
            for name, value in (("password_file", self.password_file), ("certificate", self.certificate))
            if value is None
        ]
        if not self.is_local and missing:
            raise UsageError(
                f"{self.host} can be reached from other machines, which needs a password and TLS. Add "
                f"{' and '.join(missing)}, or leave {setting('host')} out."
            )


def is_loopback(host: str) -> bool:
    """Return whether an address or name is that of the loopback."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_installed() -> None:
    """Raise a UsageError if NiceGUI is not installed; the text says how to install it."""
    import importlib.util

    if importlib.util.find_spec("nicegui") is None:
        raise UsageError(MISSING)


def make_app(bench: Workbench, security: Security) -> ASGIApp:
    """Return the app: pages and API, behind the guard.

    Args:
        bench: The workbench.
        security: Who may talk to it.
    """
    from fastapi import FastAPI
    from nicegui import ui

    from shoal import __version__
    from shoal.web.api.errors import add_error_handlers
    from shoal.web.api.routes import make_router
    from shoal.web.api.session import make_session_router
    from shoal.web.pages import add_pages

    app = FastAPI(title="shoal", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)
    app.openapi_version = "3.0.3"  # what the documentation page understands
    app.include_router(make_session_router(security))
    app.include_router(make_router(bench))
    add_error_handlers(app)
    if bench.is_local:
        _add_documentation(app)
    add_pages(bench, can_log_out=security.sessions.needs_password)
    ui.run_with(
        app,
        title="shoal",
        favicon="\N{FISH}",
        dark=None,
        gzip_middleware_factory=None,  # the guard puts a nonce into pages
        show_welcome_message=False,
        tailwind=False,
        reconnect_timeout=10.0,
    )
    mode = "password" if security.sessions.needs_password else "token"
    login = files("shoal.web.server").joinpath("login.html").read_text(encoding="utf-8").replace("{mode}", mode)
    return Guard(app, security, login.encode())


def _add_documentation(app: FastAPI) -> None:
    """Serve the description of the API and a page that shows it, with files of an installed package."""
    import importlib.util

    from fastapi.openapi.docs import get_swagger_ui_html
    from fastapi.responses import HTMLResponse, JSONResponse
    from fastapi.staticfiles import StaticFiles

    @app.get("/api/openapi.json", include_in_schema=False)
    def description() -> JSONResponse:
        return JSONResponse(app.openapi())

    if importlib.util.find_spec("swagger_ui_bundle") is None:
        return
    from swagger_ui_bundle import swagger_ui_path

    app.mount("/api/swagger", StaticFiles(directory=swagger_ui_path))

    @app.get("/api/docs", include_in_schema=False)
    def documentation() -> HTMLResponse:
        return get_swagger_ui_html(
            openapi_url="/api/openapi.json",
            title="shoal: JSON API",
            swagger_js_url="/api/swagger/swagger-ui-bundle.js",
            swagger_css_url="/api/swagger/swagger-ui.css",
            swagger_favicon_url="/api/swagger/favicon-32x32.png",
        )


def serve(bench: Workbench, listening: Listening, ready: Callable[[str], None]) -> None:
    """Serve the workbench until the process is asked to end.

    Args:
        bench: The workbench, entered.
        listening: Where to listen.
        ready: Called once with the address to open, as soon as the server answers.

    Raises:
        FileError: The address or the port cannot be used, or the certificate cannot be read.
    """
    import uvicorn

    listening.check()
    password = None if listening.password_file is None else read_password(listening.password_file)
    family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
    try:
        bound = socket.create_server((listening.host.strip("[]"), listening.port), family=family, backlog=128)
    except OSError as error:
        place = f"{listening.host}:{listening.port}"
        cure = f"Choose another with {setting('port', 0)}, which takes a free one."
        raise FileError(f"{place}: cannot be used: {error.strerror}. {cure}") from None
    port = bound.getsockname()[1]
    names: tuple[str, ...] = ()
    if not listening.is_local:
        names = (listening.host, socket.gethostname(), socket.getfqdn())
    security = Security(port, Sessions(password), names, listening.certificate is not None)
    config = uvicorn.Config(
        make_app(bench, security),
        log_config=None,
        access_log=False,  # a URL may name a project
        server_header=False,
        date_header=False,
        proxy_headers=False,  # nobody stands between
        timeout_graceful_shutdown=1,
        ws_max_size=8 << 20,
        lifespan="on",
        loop="asyncio",
    )
    if listening.certificate is not None and listening.key is not None:
        config.load()
        config.ssl = _tls(listening.certificate, listening.key)
    for name in ("nicegui", "asyncio", "uvicorn"):  # what they say may contain what was sent
        logging.getLogger(name).setLevel(logging.CRITICAL)
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    server = uvicorn.Server(config)
    shown = names[1] if names else "127.0.0.1"
    address = f"{security.scheme}://{shown}:{port}/"
    if password is None:
        address += f"#token={security.sessions.new_token()}"
    with bound:
        _run(server, bound, lambda: ready(address))


def _tls(certificate: Path, key: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        raise FileError(f"{certificate}: not a certificate with its key ({type(error).__name__}).") from None
    return context


def _run(server: Any, bound: socket.socket, ready: Callable[[], None]) -> None:
    """Run the server; say so once it answers."""
    import asyncio

    async def main() -> None:
        serving = asyncio.ensure_future(server.serve(sockets=[bound]))
        while not server.started and not serving.done():
            await asyncio.sleep(0.01)
        if server.started:
            ready()
        await serving

    asyncio.run(main())
