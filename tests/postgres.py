"""A PostgreSQL server for the tests: a new cluster in a temporary folder, removed at the end."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PASSWORD = "pa55-w0rd-canary"
MISSING = "PostgreSQL is not installed (Debian: apt-get install postgresql)"


@dataclass(frozen=True)
class Server:
    """A running server with one superuser, named owner."""

    port: int
    folder: Path

    def url(self, table: str | None = None, *, user: str = "owner", database: str = "clinic") -> str:
        """Return a URL with a password, with or without a table."""
        base = f"postgresql://{user}:{PASSWORD}@127.0.0.1:{self.port}/{database}"
        return base if table is None else f"{base}?table={table}"

    def run(self, *statements: str, database: str = "clinic") -> list[Any]:
        """Run statements as the superuser; return the rows of the last one."""
        import psycopg

        rows: list[Any] = []
        with psycopg.connect(self.url(database=database), autocommit=True, client_encoding="utf8") as connection:
            for statement in statements:
                cursor = connection.execute(statement.encode())
                rows = cursor.fetchall() if cursor.description else []
        return rows

    def copy(self, table: str, frame: Any) -> None:
        """Fill a table from a polars frame of text; every cell is quoted, so that an empty text is not null."""
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            statement = f"copy {table} from stdin (format csv)"
            with connection.cursor().copy(statement.encode()) as copy:
                copy.write(frame.write_csv(include_header=False, quote_style="always"))


def binaries() -> Path | None:
    """Return the folder of initdb and postgres, or None."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


def demote() -> dict[str, Any]:
    """Return the user that runs the server, as PostgreSQL refuses to run as root."""
    if os.getuid() != 0:
        return {}
    import pwd

    names = {entry.pw_name for entry in pwd.getpwall()}
    entry = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """Start a server for this test process."""
    place = binaries()
    if place is None:
        if os.environ.get("CI") == "true":
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    who = demote()
    folder = Path(tempfile.mkdtemp(prefix="shoal-postgres-"))
    process = None
    try:
        secret = folder / "password"
        secret.write_text(PASSWORD)
        if who:
            for path in (folder, secret):
                os.chown(path, who["user"], who["group"])
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        data = folder / "data"
        words = ["-D", data, "-U", "owner", "-A", "scram-sha-256", "--pwfile", secret, "-E", "UTF8", "--no-sync"]
        made = subprocess.run([place / "initdb", *words, "--locale=C.UTF-8"], capture_output=True, cwd=folder, **who)
        assert made.returncode == 0, made.stderr.decode()
        options = ["-c", "listen_addresses=127.0.0.1", "-c", f"port={port}", "-c", "fsync=off"]
        options += ["-c", f"unix_socket_directories={folder}", "-c", "max_connections=30"]
        with open(folder / "log", "wb") as log:
            process = subprocess.Popen([place / "postgres", "-D", data, *options], stderr=log, cwd=folder, **who)
        started = Server(port, folder)
        _wait(process, folder, started)
        started.run("create database clinic", database="postgres")
        yield started
    finally:
        if process is not None:
            process.terminate()  # SIGTERM waits for clients; ours are gone or about to be
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _wait(process: subprocess.Popen[bytes], folder: Path, started: Server) -> None:
    import time

    import psycopg

    for _ in range(300):
        if process.poll() is not None:
            pytest.fail(f"the server ended: {(folder / 'log').read_text()[-1000:]}")
        try:
            started.run("select 1", database="postgres")
            return
        except psycopg.OperationalError:
            time.sleep(0.1)
    pytest.fail("the server did not start within 30 s")
