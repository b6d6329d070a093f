"""`shoal serve`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import terminal
from shoal.cli.supervisor import say_serving
from shoal.settings.fields import Panel


def serve(
    port: Annotated[int, typer.Option(help="Port; 0 takes any free one.", min=0, max=65535)] = 8765,
    demo: Annotated[
        bool, typer.Option("--demo", help="Start with a project of the built-in patients table.", show_default=False)
    ] = False,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.", show_default=False)
    ] = True,
    folder: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where projects are kept; by default a private folder of yours."),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on. Beyond this machine, a password and TLS are required.",
            rich_help_panel=Panel.RUN,
        ),
    ] = "127.0.0.1",
    password_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File whose first line is the password.", rich_help_panel=Panel.RUN),
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TLS certificate (PEM).", rich_help_panel=Panel.RUN)
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Private key of the certificate (PEM).", rich_help_panel=Panel.RUN),
    ] = None,
) -> None:
    """Open the workbench in a browser: load a table, see who is at risk, set the goal, run, and take the release.

    The one line on standard output is the address with its token, which is used once. Ctrl-C ends the server, and
    deletes the data that was not to be kept.

    Example: shoal serve

    Example: shoal serve --demo

    Example: shoal serve --no-browser --port 0
    """
    from shoal.web.server.app import Listening, check_installed
    from shoal.web.server.app import serve as run
    from shoal.web.workbench import Workbench

    listening = Listening(host, port, password_file, certificate, key)
    listening.check()
    check_installed()

    def ready(address: str) -> None:
        say_serving()
        terminal.say(address)
        terminal.say("shoal: the workbench is open; Ctrl-C ends it.", err=True)
        if browser:
            open_browser(address)

    with Workbench(folder, is_local=listening.is_local) as bench, temporary_files_in(bench.scratch):
        if demo:
            bench.create("Demo").load_builtin("patients")
        run(bench, listening, ready)


@contextmanager
def temporary_files_in(folder: Path) -> Iterator[None]:
    """Keep the temporary files of requests out of folders that others share."""
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before


def open_browser(address: str) -> None:
    """Open an address in the browser of the user, if there is one."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
