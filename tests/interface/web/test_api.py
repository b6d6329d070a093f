"""The JSON API: the guide runs as it stands, its releases are those of the command line, and no call ends in a 500."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from shoal.datasets import patients_path
from tests.interface.web.serving import PATIENCE, serving

ROOT = Path(__file__).parents[3]
CALLS = int(os.environ.get("SHOAL_CALLS", "500"))  # of schemathesis; 10,000 at night
MOST_CALLS = 10_000  # of a round, at most


def test_the_guide_runs_and_gives_the_bytes_of_the_command_line(tmp_path: Path) -> None:
    """W18: every command of docs/guides/web-api.md, then the same settings on the command line."""
    page = (ROOT / "docs/guides/web-api.md").read_text()
    script = "set -eu\n" + "".join(re.findall(r"^```sh\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL))
    script = script.replace("shoal serve", f"{sys.executable} -m shoal serve").replace("kill %1", "kill %1; wait %1")
    shutil.copy(patients_path(), tmp_path / "data.csv")
    ended = subprocess.run(["bash", "-m", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert ended.returncode == 0, ended.stderr
    assert '"of_rows":5000' in ended.stdout
    assert "event: end" in ended.stdout
    run = json.loads((tmp_path / "run.json").read_text())
    assert (run["state"], run["result"]["k"]) == ("done", 10)
    by_web = (tmp_path / "released.csv").read_bytes()
    words = ["anonymize", "data.csv", "-o", "again.csv", "--config", "shoal.toml"]
    subprocess.run([sys.executable, "-m", "shoal", *words], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "again.csv").read_bytes() == by_web
    assert list((tmp_path / "workbench" / "projects").iterdir()) == []


def test_what_is_loaded_can_be_changed_read_again_and_taken_away(tmp_path: Path) -> None:
    """Settings as TOML, roles, undo, hierarchies, sheets, reading in another way, export and import, over HTTP."""
    with serving(tmp_path / "home") as server:
        project = server.load(b"1;2\n3;4\n5;6\n", "numbers.csv")
        found = server.ask("GET", project).json
        assert found["state"] == "failed"
        assert "“Column names”" in found["error"]["text"]
        assert server.ask("POST", f"{project}/reload", {"header": False}).status == 202
        assert server.wait(project, "state", "loading")["table"]["rows"] == 3
        names = server.ask("GET", project).json["table"]["columns"]
        toml = "k = 2\n[file]\nheader = false\n" + "".join(f'[columns.{name}]\nrole = "qi"\n' for name in names)
        assert server.ask("PUT", f"{project}/settings.toml", toml.encode()).json["k"] == 2
        assert server.ask("POST", f"{project}/roles", {"columns": names[:1], "role": "insensitive"}).status == 200
        shown = server.ask("GET", f"{project}/settings").json["columns"][names[0]]["role"]
        undone = server.ask("POST", f"{project}/undo", {}).json["columns"][names[0]]["role"]
        assert (shown, undone) == ("insensitive", "qi")
        assert server.ask("PUT", f"{project}/settings.toml", b"k = [").status == 400
        tree = server.ask("PUT", f"{project}/files", b"1;*\n3;*\n5;*\n", X_File_Name="../tree.csv").json["name"]
        assert tree == "files/tree.csv"
        patch = {"columns": {names[0]: {"hierarchy": tree}}}
        assert server.ask("PATCH", f"{project}/settings", patch).status == 200
        laid = server.ask("GET", f"{project}/hierarchy?column={names[0]}&rule={tree}").json
        assert laid["rows"] == {"1": ["*"], "3": ["*"], "5": ["*"]}
        archive = server.ask("GET", f"{project}/export?with_data=true").body
        copy = server.ask("POST", "/api/projects/import", archive).json
        assert server.wait(f"/api/projects/{copy['id']}", "state", "loading")["state"] == "ready"
        assert server.ask("DELETE", project).status == 204
        assert server.ask("GET", project).status == 404


def test_a_heavy_project_does_not_keep_others_from_work(tmp_path: Path) -> None:
    """W16: runs wait in line, too many are refused, and other requests are answered meanwhile."""
    rows = b"age,zip,disease\n" + b"".join(b"%d,%d,d%d\n" % (i % 90, i * 7919 % 9973, i % 5) for i in range(40_000))
    with serving(tmp_path / "home") as server:
        heavy = server.load(rows)
        states = [server.ask("POST", f"{heavy}/runs", {}).status for _ in range(12)]
        assert states == [202] * 10 + [400] * 2
        answered: list[int] = []
        threads = [
            threading.Thread(target=lambda: answered.append(server.ask("GET", f"{heavy}/rows?count=5").status))
            for _ in range(50)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert answered == [200] * 50
        assert server.wait(f"{heavy}/runs/1", "state", "queued")["state"] in ("running", "done")
        for number in range(1, 11):
            assert server.ask("POST", f"{heavy}/runs/{number}/cancel", {}).status == 200
        assert server.workers() == []


@pytest.mark.slow
def test_no_call_of_schemathesis_ends_in_an_error_of_the_server(tmp_path: Path) -> None:
    """W11: hundreds of calls, made up from the description of the API, on a project with a table and a run."""
    program = shutil.which("st", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}:/opt/venv/bin")
    if program is None:
        assert os.environ.get("CI") != "true", "schemathesis is missing"
        pytest.skip("schemathesis is not installed")
    with serving(tmp_path / "home") as server:
        project = server.load(b"age,sex\n" + b"".join(b"%d,%c\n" % (20 + i % 30, b"fm"[i % 2]) for i in range(90)))
        server.ask("POST", f"{project}/runs", {})
        server.wait(f"{project}/runs/1", "state", "queued", "running")
        config = f'[parameters]\n"path.project_id" = "{project.rpartition("/")[2]}"\n"path.run_id" = "1"\n'
        (tmp_path / "schemathesis.toml").write_text(config)
        words = [program, "--config-file", "schemathesis.toml", "run", f"http://{server.host}/api/openapi.json"]
        words += ["-H", f"Cookie: {server.cookie}", "--checks", "not_a_server_error"]
        words += ["--max-examples", str(min(CALLS, MOST_CALLS) // 60), "--request-timeout", str(PATIENCE)]
        words += ["--exclude-method", "DELETE", "--exclude-path", "/api/session"]
        words += ["--phases", "examples,coverage,fuzzing", "--exclude-path-regex", "(table|reload|builtin|url|import)$"]
        n_calls = seed = 0
        while n_calls < CALLS:  # the first round makes the same calls every time
            luck = ["--seed", str(seed)] if seed else ["--generation-deterministic"]
            ended = subprocess.run([*words, *luck], cwd=tmp_path, capture_output=True, text=True, timeout=9 * PATIENCE)
            assert ended.returncode == 0, ended.stdout[-3000:]
            generated = re.search(r"([\d,]+) generated", ended.stdout)
            assert generated is not None
            n_calls, seed = n_calls + int(generated[1].replace(",", "")), seed + 1
