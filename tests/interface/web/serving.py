"""A server of the web app for tests: the real command in its own process, and a client that keeps its cookie."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PATIENCE = 400  # seconds until something counts as hanging; never asserted otherwise


@dataclass
class Answer:
    """What a server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass
class Server:
    """A running server."""

    process: subprocess.Popen[str]
    address: str
    folder: Path
    cookie: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def host(self) -> str:
        """Host and port."""
        return urlsplit(self.address).netloc

    @property
    def token(self) -> str:
        """The token of its address."""
        return self.address.partition("#token=")[2]

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Send a request; a dictionary or list is sent as JSON, an underscore in a header means a dash."""
        connection = http.client.HTTPConnection(self.host, timeout=PATIENCE)
        sent = {"Cookie": self.cookie} if self.cookie else {}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        if isinstance(body, dict | list):
            body, sent = json.dumps(body), {"Content-Type": "application/json"} | sent
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read())
        finally:
            connection.close()

    def log_in(self) -> None:
        """Exchange the token for a cookie."""
        answer = self.ask("POST", "/api/session", {"token": self.token})
        assert answer.status == 204, answer.body
        self.cookie = answer.headers["set-cookie"].partition(";")[0]

    def load(self, content: bytes, name: str = "table.csv") -> str:
        """Create a project with a table; return its path."""
        project = f"/api/projects/{self.ask('POST', '/api/projects', {'name': 'trial'}).json['id']}"
        assert self.ask("PUT", f"{project}/table", content, X_File_Name=name).status == 202
        self.wait(project, "state", "loading")
        return project

    def wait(self, path: str, key: str, *during: str) -> Any:
        """Wait until a value is another one; return the answer."""
        end = time.monotonic() + PATIENCE
        while (found := self.ask("GET", path).json)[key] in during:
            assert time.monotonic() < end, f"{path} hangs"
            time.sleep(0.05)
        return found

    def workers(self) -> list[int]:
        """Return the processes below the server that work."""
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                if os.fsencode(self.folder) in path.read_bytes():
                    found.append(int(path.parent.name))
            except OSError:
                continue
        return found

    def wait_for_workers(self) -> None:
        """Wait until all workers have ended."""
        end = time.monotonic() + PATIENCE
        while self.workers():
            assert time.monotonic() < end, "a worker outlives the server"
            time.sleep(0.05)

    def children(self) -> list[int]:
        """Return the processes that the first one has started: the one that serves."""
        found = []
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(path.read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent == self.process.pid:
                found.append(int(path.parent.name))
        return found

    def end(self, number: int = signal.SIGINT) -> int:
        """Send a signal and wait for the end."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@contextmanager
def serving(folder: Path, *words: str, log_in: bool = True, env: dict[str, str] | None = None) -> Iterator[Server]:
    """Run `shoal serve` on a free port; env: further variables of its environment."""
    command = [sys.executable, "-m", "shoal", "serve", "--no-browser", "--port", "0", "--folder", str(folder), *words]
    own = os.environ | (env or {})
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=own)
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        address = process.stdout.readline().strip()
        assert address, process.stderr.read()
        server = Server(process, address, folder)
        if log_in:
            server.log_in()
        yield server
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()
