"""Who may talk to the server, and what its answers allow: RELIABILITY section 7, against the real command."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.command import Shoal
from tests.interface.web.serving import PATIENCE, Server, serving

TABLE = b"age,sex,disease\n" + b"".join(b"%d,%c,CANARY%d\n" % (20 + i % 30, b"fm"[i % 2], i % 4) for i in range(90))
SOCKET = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec_WebSocket_Version": "13",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("serve") / "home") as server:
        yield server


@pytest.fixture(scope="module")
def project(server: Server) -> str:
    return server.load(TABLE)


def test_server_listens_on_the_loopback_alone(server: Server) -> None:
    """W01: no other address of this machine answers."""
    port = int(server.host.rpartition(":")[2])
    listening = [
        line.split()[1]
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
        if line.split()[3] == "0A" and line.split()[1].endswith(f":{port:04X}")
    ]
    assert listening == [f"0100007F:{port:04X}"]


def test_other_addresses_need_a_password_and_tls(shoal: Shoal, tmp_path: Path) -> None:
    """W01: the server refuses to start without both."""
    before = os.environ.get("TMPDIR")
    (tmp_path / "password").write_text("correct horse battery\n")
    for words in ((), ("--password-file", tmp_path / "password"), ("--certificate", "c.pem", "--key", "k.pem")):
        ended = shoal("serve", "--no-browser", "--folder", tmp_path / "home", "--host", "0.0.0.0", *words)
        assert ended.code == 2
        assert "password and TLS" in ended.err
    (tmp_path / "short").write_text("short\n")
    ended = shoal("serve", "--no-browser", "--folder", tmp_path / "home", "--password-file", tmp_path / "short")
    assert (ended.code, "fewer than 12" in ended.err) == (2, True)
    assert not list((tmp_path / "home").glob("session-*"))
    assert os.environ.get("TMPDIR") == before


@pytest.mark.parametrize("path", ["/", "/api/projects", "/_nicegui/x/static/nicegui.js", "/static/0/pages.js"])
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.nip.io", "127.0.0.1", "localhost:1", ""])
def test_foreign_hosts_are_refused(server: Server, path: str, host: str) -> None:
    """W02: exact names with the port, also for static files."""
    assert server.ask("GET", path, Host=host).status == 421


@pytest.mark.parametrize("path", ["/", "/api/projects", "/api/openapi.json", "/api/docs", "/_nicegui/x/static/a.js"])
def test_nothing_answers_without_a_session(server: Server, path: str) -> None:
    """W03, W11: pages, API, documentation and static files need the cookie."""
    assert server.ask("GET", path, Cookie="").status == 401
    assert server.ask("GET", path, Cookie=f"{server.cookie}x").status == 401


def test_the_token_is_used_once_and_the_cookie_is_strict(server: Server) -> None:
    """W03: the token opens one session; the cookie is out of reach for scripts and other sites."""
    again = server.ask("POST", "/api/session", {"token": server.token}, Cookie="")
    assert (again.status, "wrong or was used" in again.json["error"]["text"]) == (401, True)
    link = server.ask("POST", "/api/links", {}).json["url"]
    opened = server.ask("POST", "/api/session", {"token": link.partition("#token=")[2]}, Cookie="")
    cookie = opened.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    mine = cookie.partition(";")[0]
    assert server.ask("GET", "/api/projects", Cookie=mine).status == 200
    assert server.ask("DELETE", "/api/session", Cookie=mine).status == 204
    assert server.ask("GET", "/api/projects", Cookie=mine).status == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Origin": "http://127.0.0.1"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_other_sites_change_nothing(server: Server, project: str, headers: dict[str, str]) -> None:
    """W03: Origin and Sec-Fetch-Site of every state change and of the websocket are checked; there is no CORS."""
    before = server.ask("GET", "/api/projects").json
    for method, path in (("POST", "/api/projects"), ("DELETE", project), ("POST", "/api/session")):
        assert server.ask(method, path, {"name": "evil"}, **headers).status == 403
    assert server.ask("GET", "/api/projects").json == before
    assert "access-control-allow-origin" not in server.ask("GET", "/api/projects", **headers).headers
    assert server.ask("GET", SOCKET, **{**UPGRADE, **headers}).status == 403


def test_websockets_need_the_cookie_and_the_host(server: Server) -> None:
    """W02, W03: the websocket passes the same guard."""
    for headers in ({"Cookie": ""}, {"Host": "evil.example"}):
        assert server.ask("GET", SOCKET, **{**UPGRADE, **headers}).status == 403


def test_what_is_open_ends_with_the_session(server: Server, project: str) -> None:
    """W03, W15: a websocket and the events of a run that were open at the logout are closed, and stay silent."""
    link = server.ask("POST", "/api/links", {}).json["url"]
    opened = server.ask("POST", "/api/session", {"token": link.partition("#token=")[2]}, Cookie="")
    mine = opened.headers["set-cookie"].partition(";")[0]
    rows = b"age,zip\n" + b"".join(b"%d,%d\n" % (i % 90, i * 7919 % 9973) for i in range(30_000))
    long = server.load(rows)
    server.ask("PATCH", f"{long}/settings", {"effort": "high"})
    server.ask("POST", f"{long}/runs", {})
    lines = [f"GET {SOCKET} HTTP/1.1", f"Host: {server.host}", f"Cookie: {mine}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in UPGRADE.items()]
    place = (server.host.partition(":")[0], int(server.host.rpartition(":")[2]))
    events = http.client.HTTPConnection(server.host, timeout=PATIENCE)
    with socket.create_connection(place, PATIENCE) as line, closing(events), line.makefile("rb") as heard:
        line.sendall("\r\n".join([*lines, "", ""]).encode())
        assert heard.readline().startswith(b"HTTP/1.1 101")
        while heard.readline().strip():
            pass
        assert heard.read(1)[0] & 0x0F == 1  # a message: the server greets
        assert b'"sid"' in heard.read(heard.read(1)[0])
        events.request("GET", f"{long}/runs/1/events", headers={"Cookie": mine})
        stream = events.getresponse()
        assert stream.readline().startswith(b"event: progress")
        assert server.ask("DELETE", "/api/session", Cookie=mine).status == 204
        frame = heard.read(4)
        assert (frame[0] & 0x0F, int.from_bytes(frame[2:], "big")) == (8, 1008)  # closed for good
        assert b"event: end" not in stream.read()
    assert server.ask("POST", f"{long}/runs/1/cancel", {}).json["state"] == "cancelled"
    assert server.ask("DELETE", long).status == 204


def test_get_changes_nothing(server: Server, project: str) -> None:
    """W03: routes that change something refuse GET."""
    for path in (f"{project}/undo", f"{project}/reload", f"{project}/url", "/api/links", "/api/projects/import"):
        assert server.ask("GET", path).status in (404, 405)


@pytest.mark.parametrize(
    "name",
    [
        "../shoal.toml",
        "..%2f..%2fproject.json",
        "%2e%2e/project.json",
        "/etc/passwd",
        "%00",
        "C:%5cboot.ini",
        "scratch",
    ],
)
def test_paths_lead_nowhere(server: Server, project: str, name: str) -> None:
    """W04: ids and listed names only."""
    assert server.ask("GET", f"{project}/runs/1/files/{name}").status == 404
    assert server.ask("GET", f"/static/{name}").status in (401, 404)
    assert server.ask("GET", f"/api/swagger/{name}").status == 404


def test_settings_name_no_file_of_the_machine(server: Server, project: str) -> None:
    """W04: a hierarchy or a population is a file of the project, or refused."""
    for path in ("/etc/passwd", "../../../../etc/passwd", "files/../../project.json", "files/none.csv"):
        for patch in ({"columns": {"age": {"role": "qi", "hierarchy": path}}}, {"population": path}):
            answer = server.ask("PATCH", f"{project}/settings", patch)
            assert (answer.status, "does not have" in answer.json["error"]["text"]) == (400, True)


def test_bodies_are_limited_and_forms_refused(server: Server, project: str) -> None:
    """W05: large JSON is cut off, and there are no parts to count."""
    assert server.ask("PUT", f"{project}/settings", {"k": "x" * (9 << 20)}).status == 413
    unannounced = iter([b"x" * (1 << 20)] * 9)  # in chunks, without a length
    assert server.ask("PUT", f"{project}/settings", unannounced, Content_Type="application/json").status == 413
    for kind in ("multipart/form-data; boundary=x", "application/x-www-form-urlencoded"):
        assert server.ask("PUT", f"{project}/table", b"a,b\n1,2\n", Content_Type=kind).status == 400
    assert server.ask("GET", project).json["state"] == "ready"


def test_answers_tell_browsers_what_is_allowed(server: Server, project: str) -> None:
    """W07, W09, W13: policy, no cache, no frame, no referrer; downloads are attachments with safe names."""
    for path in ("/", "/api/projects", f"{project}/settings.toml", "/nowhere"):
        headers = server.ask("GET", path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe-inline" not in policy
        assert not re.search(r"https?:|\*", policy)
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers
    page = server.ask("GET", "/")
    nonce = re.search(r"'nonce-([\w-]+)'", page.headers["content-security-policy"])
    assert nonce is not None
    tags = re.findall(rb"<(?:script|style)\b[^>]*>", page.body)
    assert tags
    assert all(b'nonce="' + nonce[1].encode() + b'"' in tag for tag in tags)
    assert not re.search(rb"(?:src|href)=\"https?:", page.body)  # W10
    server.ask("PATCH", project, {"name": 'a/../"b"; filename=evil.html'})
    zipped = server.ask("GET", f"{project}/export").headers["content-disposition"]
    assert re.fullmatch(r"attachment; filename\*=UTF-8''[\w.%~-]+\.zip", zipped)


def test_errors_contain_neither_cells_nor_what_was_sent(server: Server) -> None:
    """W09, W11, W12: refusals name no value; nothing is evaluated."""
    refused = server.load(b"a,b\nCANARY,1,2\n")
    found = server.ask("GET", refused).json
    assert found["state"] == "failed"
    assert "CANARY" not in str(found)
    for body in ({"k": "CANARY"}, {"CANARY": 1}, {"models": [{"name": "__import__('os').system('CANARY')"}]}):
        answer = server.ask("PUT", f"{refused}/settings", body)
        assert answer.status == 400
        assert "Traceback" not in answer.body.decode()
    assert server.ask("POST", "/api/projects", {"name": {"CANARY": 1}}).status == 422
    assert b"CANARY" not in server.ask("POST", "/api/projects", {"name": {"CANARY": 1}}).body


def test_sessions_never_mix(server: Server) -> None:
    """W08: many projects with the same file name at once; each shows its own rows."""
    made = [server.ask("POST", "/api/projects", {"name": "same"}).json["id"] for _ in range(4)]
    for i, id in enumerate(made):
        content = f"n,t\n{i},a\n{i},b\n".encode()
        server.ask("PUT", f"/api/projects/{id}/table?header=true", content, X_File_Name="same.csv")
    for i, id in enumerate(made):
        server.wait(f"/api/projects/{id}", "state", "loading")
        assert server.ask("GET", f"/api/projects/{id}/rows").json["rows"] == [[str(i), "a"], [str(i), "b"]]


def test_password_and_tls_open_the_server_to_others(tmp_path: Path) -> None:
    """W14, W15: modern TLS, a Secure cookie, a limit of attempts, masked originals, no documentation."""
    import json
    import ssl

    (tmp_path / "password").write_text("correct horse battery\n")
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    made += ["-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=localhost", "-days", "2"]
    subprocess.run(made, cwd=tmp_path, check=True, capture_output=True)
    words = ("--host", "0.0.0.0", "--password-file", str(tmp_path / "password"))
    tls = ("--certificate", str(tmp_path / "cert.pem"), "--key", str(tmp_path / "key.pem"))
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with serving(tmp_path / "home", *words, *tls, log_in=False) as server:
        assert server.address.startswith("https://")
        assert "token" not in server.address
        port = int(server.host.rpartition(":")[2])

        def ask(method: str, path: str, body: object = None, **headers: str) -> tuple[int, dict[str, str], bytes]:
            connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=PATIENCE)
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
            connection.request(method, path, raw, {"Content-Type": "application/json"} | sent)
            answer = connection.getresponse()
            content = answer.read()
            connection.close()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, content

        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        with pytest.warns(DeprecationWarning, match="TLSv1_1"):
            old.maximum_version = ssl.TLSVersion.TLSv1_1
        with pytest.raises((ssl.SSLError, OSError)), socket.create_connection(("127.0.0.1", port)) as plain:
            old.wrap_socket(plain)
        status, headers, _ = ask("POST", "/api/session", {"password": "correct horse battery"})
        assert status == 204
        assert "Secure" in headers["set-cookie"]
        cookie = headers["set-cookie"].partition(";")[0]
        assert ask("GET", "/api/docs", Cookie=cookie)[0] == ask("GET", "/api/openapi.json", Cookie=cookie)[0] == 404
        project = json.loads(ask("POST", "/api/projects", {"name": "shared"}, Cookie=cookie)[2])["id"]
        ask("PUT", f"/api/projects/{project}/table", TABLE, Cookie=cookie)
        while json.loads(ask("GET", f"/api/projects/{project}", Cookie=cookie)[2])["state"] == "loading":
            time.sleep(0.05)
        status, _, rows = ask("GET", f"/api/projects/{project}/rows", Cookie=cookie)
        assert (status, b"CANARY" in rows) == (200, False)
        url = {"url": "sqlite:////etc/passwd?table=a"}
        assert ask("POST", f"/api/projects/{project}/url", url, Cookie=cookie)[0] == 400
        forged = {"X_Forwarded_For": "127.0.0.1", "X_Forwarded_Proto": "http", "X_Forwarded_Host": "evil.example"}
        assert ask("GET", "/api/projects", **forged)[0] == 401
        tries = [ask("POST", "/api/session", {"password": f"wrong {i}"})[0] for i in range(7)]
        assert tries == [401] * 5 + [429] * 2


def test_a_killed_server_leaves_no_process_and_the_next_one_no_data(tmp_path: Path) -> None:
    """W06, W17: killed with its supervisor in the middle of a run; Ctrl-C, a lost server and a sweep."""
    home = tmp_path / "home"
    rows = b"age,zip,disease\n" + b"".join(b"%d,%d,CANARY\n" % (i % 90, i * 7919 % 9973) for i in range(60_000))

    def begin_run(server: Server) -> None:
        project = server.load(rows)
        assert server.ask("PATCH", f"{project}/settings", {"effort": "high"}).status == 200  # long enough
        server.ask("POST", f"{project}/runs", {})
        assert server.wait(f"{project}/runs/1", "stage", "", "reading")["state"] == "running"
        assert server.workers()

    with serving(home) as server:
        begin_run(server)
        (child,) = server.children()
        # Each of the two deletes the data as soon as the other is gone, so the first must not notice.
        server.process.send_signal(signal.SIGSTOP)
        os.kill(child, signal.SIGKILL)
        server.process.kill()
        server.process.wait(PATIENCE)
        server.wait_for_workers()
    left = [path for path in home.rglob("*") if path.is_file() and b"CANARY" in path.read_bytes()]
    assert left  # nobody was there to delete it
    with serving(home) as server:
        assert [path for path in home.rglob("*") if path.is_file() and b"CANARY" in path.read_bytes()] == []
        begin_run(server)
        assert server.end() == 0
        assert not list(home.glob("session-*"))
        server.wait_for_workers()


@pytest.mark.parametrize("who", ["supervisor", "server"])
def test_the_survivor_of_a_killed_process_deletes_the_data(tmp_path: Path, who: str) -> None:
    """W06, W17: the server and its supervisor watch each other, and the workers end with the server."""
    home = tmp_path / "home"
    with serving(home) as server:
        server.load(TABLE)
        (child,) = server.children()
        assert list(home.glob("session-*/*/*"))
        os.kill(child if who == "server" else server.process.pid, signal.SIGKILL)
        server.process.wait(PATIENCE)
        end = time.monotonic() + PATIENCE
        while list(home.glob("session-*")):
            assert time.monotonic() < end, "the data stays"
            time.sleep(0.05)
        server.wait_for_workers()


def test_nothing_is_logged_but_the_address(tmp_path: Path) -> None:
    """W09: one line on standard output; standard error has neither names, ids nor cells. Started with --demo."""
    home = tmp_path / "home"
    with serving(home, "--demo") as server:
        (demo,) = server.ask("GET", "/api/projects").json
        assert server.wait(f"/api/projects/{demo['id']}", "state", "loading")["table"]["rows"] == 5000
        project = server.load(TABLE, "SECRETNAME.csv")
        server.ask("GET", f"{project}/rows")
        server.ask("GET", "/nowhere/CANARY")
        assert server.process.stdout is not None
        assert server.process.stderr is not None
        assert server.end(signal.SIGTERM) == 0
        said = server.process.stdout.read() + server.process.stderr.read()
        assert said.splitlines() == [
            "shoal: the workbench is open; Ctrl-C ends it.",
            "shoal: the workbench is closed; data that was not to be kept is deleted.",
        ]


def test_nothing_connects_to_another_machine_or_loads_code_from_elsewhere(tmp_path: Path) -> None:
    """W10, W19: with every package from the wheel, no process of the app opens a connection or starts an installer."""
    hook = (
        "import os, sys\n"
        "def hear(event, given):\n"
        "    if event in ('socket.connect', 'socket.getaddrinfo', 'urllib.Request') or (\n"
        "        event == 'subprocess.Popen' and 'pip' in str(given[1])\n"
        "    ):\n"
        "        place = os.open(os.environ['HEARD'], os.O_WRONLY | os.O_APPEND | os.O_CREAT)\n"
        "        os.write(place, (event + ' ' + str(given[1:]) + '\\n').encode())\n"
        "sys.addaudithook(hear)\n"
    )
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(hook)
    heard = tmp_path / "heard"
    own = {"PYTHONPATH": f"{tmp_path / 'hook'}:{os.environ.get('PYTHONPATH', '')}", "HEARD": str(heard)}
    probe = "import socket; socket.socket().connect_ex(('127.0.0.1', 1))"
    subprocess.run([sys.executable, "-c", probe], env=os.environ | own, check=True)
    assert heard.read_text().startswith("socket.connect")  # what follows can fail
    heard.unlink()
    with serving(tmp_path / "home", env=own) as server:
        project = server.load(TABLE)
        server.ask("GET", "/")
        server.ask("GET", f"{project}/hierarchy?column=age&rule=auto")
        server.ask("POST", f"{project}/forecast", {})
        server.ask("POST", f"{project}/runs", {})
        assert server.wait(f"{project}/runs/1", "state", "queued", "running")["state"] == "done"
        assert server.end() == 0
    said = heard.read_text().splitlines() if heard.exists() else []
    assert [line for line in said if "127.0.0.1" not in line and "localhost" not in line] == []


def test_without_nicegui_one_line_says_what_to_install(tmp_path: Path) -> None:
    """The extra is optional, and its absence is explained."""
    code = "import sys; sys.modules['nicegui'] = None; from shoal.cli.main import run; run(sys.argv[1:])"
    words = ["serve", "--no-browser", "--folder", str(tmp_path / "home")]
    ended = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr == "shoal: the web app needs NiceGUI, which is not installed: pip install 'shoal[web]'\n"
