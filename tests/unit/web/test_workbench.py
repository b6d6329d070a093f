"""The workbench and its projects, without a web server."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import stat
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

from shoal.datasets import patients_path
from shoal.errors import FileError, InfeasibleError, InputError, UsageError
from shoal.settings.settings import Settings
from shoal.web.files import TooLargeError, display_name
from shoal.web.projects import Project
from shoal.web.runs import RunState
from shoal.web.workbench import Workbench

SECONDS = 400  # to wait for a worker; never asserted
TABLE = pl.DataFrame(
    {
        "age": [20 + i % 40 for i in range(200)],
        "sex": ["f" if i % 3 else "m" for i in range(200)],
        "person": [f"p{i // 2}" for i in range(200)],
        "disease": [("flu", "asthma", "gout")[i % 3] for i in range(200)],
    }
)
ROLES = {"qi": ("age", "sex"), "sensitive": ("disease",), "drop": ("person",), "person": None, "insensitive": ()}


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    with Workbench(tmp_path / "home") as bench:
        yield bench


def loaded(bench: Workbench, name: str = "table.csv", frame: pl.DataFrame = TABLE) -> Project:
    project = bench.create("trial")
    project.load_file(io.BytesIO(frame.write_csv().encode()), name)
    assert project.wait_loaded(SECONDS) == "ready", project.error
    return project


def files_below(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_table_is_profiled_paged_and_counted(bench: Workbench) -> None:
    project = loaded(bench, "../../secret/My table.csv")
    assert project.table is not None
    assert (project.table["name"], project.table["rows"]) == ("My table.csv", 200)
    assert project.rows(198, 50) == [list(map(str, row)) for row in TABLE.rows()[198:]]
    assert [column["name"] for column in project.profile()["columns"]] == TABLE.columns
    counts = TABLE.group_by("age", "sex").len()["len"]
    assert project.uniques(["age", "sex"]).rows == (counts == 1).sum()
    by_group = TABLE.group_by("age", "sex").agg(pl.col("person").unique())
    alone = by_group.filter(pl.col("person").list.len() == 1)["person"].explode()
    assert project.uniques(["age", "sex"], "person").people == alone.n_unique()
    assert project.values("sex")[0] == ("f", 133)
    with pytest.raises(UsageError, match="'height'"):
        project.uniques(["height"])


def test_questions_on_different_subjects_do_not_replace_each_other(bench: Workbench) -> None:
    """An estimate and the hierarchies of two columns, asked for at once, are all answered."""
    project = loaded(bench)
    project.change(**ROLES)
    questions = (project.forecast, lambda: project.hierarchy("age"), lambda: project.hierarchy("sex"))
    with ThreadPoolExecutor(len(questions)) as threads:
        answers = [asked.result(SECONDS) for asked in [threads.submit(ask) for ask in questions]]
    assert ["loss" in answers[0], answers[1]["values"], answers[2]["values"]] == [True, 40, 2]


def test_settings_change_with_undo_and_redo(bench: Workbench) -> None:
    project = loaded(bench)
    proposed = project.settings
    project.change(k=7)
    project.set_role(["age", "sex"], "insensitive")
    assert project.settings.k == 7
    assert {"age", "sex"} <= set(project.settings.insensitive)
    project.undo()
    project.undo()
    assert project.settings == proposed
    assert not project.can_undo or project.undo() == Settings()
    while project.can_redo:
        project.redo()
    assert {"age", "sex"} <= set(project.settings.insensitive)
    before = project.settings
    with pytest.raises(UsageError, match="no setting 'kk'"):
        project.change(kk=2)
    with pytest.raises(UsageError, match="does not have"):
        project.change(hierarchies={"age": Path("/etc/passwd")})  # W04: only files of the project
    with pytest.raises(UsageError, match="weight of 'age'"):
        project.change(weights={"age": -1})
    assert project.settings is before


def test_a_run_ends_with_its_files_pages_and_figures(bench: Workbench) -> None:
    project = loaded(bench)
    project.change(**ROLES, k=5)
    run = project.start_run()
    assert run.wait(SECONDS) is RunState.DONE, run.error
    assert run.result["smallest_group"] >= 5
    assert (run.fraction, run.remaining_seconds) == (1.0, 0.0)
    assert {"released.csv", "released.csv.manifest.json", "report.html", "report.private.html"} <= set(run.files())
    page = run.before_after(0, 10)
    released = pl.read_csv(run.files()["released.csv"], infer_schema=False)
    assert page["columns"] == released.columns
    assert [tuple(cell["after"] for cell in row) for row in page["rows"]] == released.head(10).rows()
    assert all(cell["changed"] == (cell["before"] != cell["after"]) for row in page["rows"] for cell in row[:2])
    assert run.report()["reached"]["k"] == 5
    report = run.report()
    assert str(bench.folder) not in str(run.as_dict()) + str(run.facts) + str(report)
    said = [*run.facts, *run.notes, *report["warnings"], *report["meaning"], *report["criteria"], *report["loss"]]
    assert not re.search(r"--[a-z]|-k \d", str(said))  # the pages have controls, not options


def test_runs_that_fail_say_why_and_leave_nothing(bench: Workbench) -> None:
    project = loaded(bench)
    project.change(**ROLES, k=500)
    run = project.start_run()
    assert run.wait(SECONDS) is RunState.FAILED
    assert isinstance(run.error, InfeasibleError)
    assert "k=500 cannot be met" in str(run.error)
    assert not run.folder.exists()
    with pytest.raises(UsageError, match="no rows to show"):
        run.before_after(0, 1)
    with pytest.raises(UsageError, match="format 'exe'"):
        project.start_run("exe")


def test_cancel_ends_the_worker_and_deletes_its_files(bench: Workbench) -> None:
    """W16, W17: a cancelled run leaves no process and no file, and the next one starts."""
    project = loaded(bench, frame=pl.concat([TABLE.with_columns(zip=pl.lit(str(i))) for i in range(200)]))
    project.change(qi=("age", "sex", "zip"), sensitive=("disease",), drop=("person",), person=None, insensitive=(), k=5)
    runs = [project.start_run() for _ in range(4)]
    while runs[0].stage != "grouping" and not runs[0].state.is_over:
        time.sleep(0.01)
    assert [run.state for run in runs[2:]] == [RunState.QUEUED] * 2  # at most two work at once
    worker = runs[0]._worker
    assert worker is not None
    runs[0].cancel()
    assert worker.process.poll() is not None
    assert runs[0].state is RunState.CANCELLED
    assert not runs[0].folder.exists()
    for run in runs[1:]:
        run.cancel()
    assert files_below(project.data / "runs") == []


def test_bad_tables_are_refused_without_a_cell(bench: Workbench) -> None:
    project = bench.create("bad")
    project.load_file([b"a,b\n1,2,CANARY,4\n"], "bad.csv")
    assert project.wait_loaded(SECONDS) == "failed"
    assert isinstance(project.error, InputError)
    assert str(project.error).startswith("bad.csv")
    assert "CANARY" not in str(project.error)
    with pytest.raises(UsageError, match="no table is loaded"):
        project.start_run()
    with pytest.raises(UsageError, match="empty"):
        project.load_file([], "nothing.csv")


def test_uploads_have_a_limit_that_holds_while_they_arrive(tmp_path: Path) -> None:
    """W05: the server stops at its limit, whatever the sender says, and keeps nothing."""
    with Workbench(tmp_path / "home", most_bytes=10_000) as bench:
        project = bench.create("large")
        sent = 0

        def endless() -> Iterator[bytes]:
            nonlocal sent
            while True:
                sent += 1_000
                yield b"1" * 1_000

        with pytest.raises(TooLargeError, match="larger than"):
            project.load_file(endless(), "large.csv")
        assert sent == 11_000
        assert files_below(project.data) == []


def test_data_is_deleted_at_the_end_unless_it_is_kept(tmp_path: Path) -> None:
    """W06: private folders; data goes with the server, settings and figures stay."""
    home = tmp_path / "home"
    with Workbench(home) as bench:
        gone, kept = loaded(bench), loaded(bench)
        for project in (gone, kept):
            project.change(**ROLES, k=5)
            assert project.start_run().wait(SECONDS) is RunState.DONE
        kept.set_keep_data(True)
        assert kept.rows(0, 1) == gone.rows(0, 1)
        for path in (home, *home.rglob("*")):
            assert path.is_dir() is bool(stat.S_IMODE(path.stat().st_mode) & 0o100)
            assert not path.is_dir() or stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
    assert not list(home.glob("session-*"))
    assert files_below(home / "projects" / gone.id) == ["project.json", "shoal.toml"]
    with Workbench(home) as bench:
        again = bench.open(gone.id)
        assert (again.state, again.settings.k, again.runs()[0].result["k"]) == ("empty", 5, 5)
        assert again.runs()[0].files() == {}
        assert bench.open(kept.id).rows(0, 1) == [list(map(str, TABLE.row(0)))]
        assert "released.csv" in bench.open(kept.id).runs()[0].files()
        bench.delete(kept.id)
    assert not (home / "projects" / kept.id).exists()


def test_a_second_server_in_the_same_folder_is_refused(bench: Workbench) -> None:
    with pytest.raises(FileError, match="another shoal serve"), Workbench(bench.folder):
        pass


def test_projects_with_the_same_file_name_never_mix(bench: Workbench) -> None:
    """W08: data belongs to an unguessable id; there is no current project and no cache by file name."""
    projects = []
    for i in range(3):
        project = bench.create("same")
        project.load_file(f"n,text\n{i},a\n{i},b\n".encode().splitlines(keepends=True), "same.csv", header=True)
        projects.append(project)
    assert len({project.id for project in projects}) == 3
    for i, project in enumerate(projects):
        assert project.wait_loaded(SECONDS) == "ready", project.error
        assert project.rows(0, 9) == [[str(i), "a"], [str(i), "b"]]


def test_a_zip_carries_settings_and_only_on_request_data(bench: Workbench) -> None:
    project = loaded(bench)
    project.add_hierarchy([b"f;*\nm;*\n"], "sex.csv")
    project.use_hierarchy("sex", "sex.csv")
    project.change(**ROLES, k=5)
    assert project.start_run().wait(SECONDS) is RunState.DONE
    bare, full = bench.export_zip(project.id), bench.export_zip(project.id, with_data=True)
    assert sorted(zipfile.ZipFile(bare).namelist()) == ["files/sex.csv", "project.json", "shoal.toml"]
    copies = []
    for path in (bare, full):
        with open(path, "rb") as stream:
            copies.append(bench.import_zip(stream))
    assert copies[0].state == "empty"
    assert copies[1].wait_loaded(SECONDS) == "ready"
    assert copies[1].rows(0, 9) == project.rows(0, 9)
    for copy in copies:
        assert copy.settings.hierarchies["sex"].parent == copy.folder / "files"
        assert copy.settings.k == 5
        assert copy.id != project.id
    assert "released.csv" in copies[1].runs()[0].files()
    assert [copy.runs()[0].is_imported for copy in (project, *copies)] == [False, True, True]


@pytest.mark.parametrize(
    "name", ["../evil", "/etc/evil", "files/../../evil", "files/..", "C:\\evil", "data/runs/x/evil", "files/.ssh"]
)
def test_zip_entries_that_no_project_has_are_refused(bench: Workbench, name: str) -> None:
    """W04: paths in a zip file lead nowhere but into its project."""
    content = io.BytesIO(bench.export_zip(bench.create("source").id).read_bytes())
    with zipfile.ZipFile(content, "a") as archive:
        archive.writestr(name, "evil")
    before = files_below(bench.folder)
    with pytest.raises(InputError, match="entry that no project has"):
        bench.import_zip(content)
    assert files_below(bench.folder) == before


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("created", float("inf")),
        ("name", "<img src=x onerror=alert(1)>\u202e"),
        ("runs", [{"id": "1", "state": "done", "began": 0, "output": "released.csv", "error": None, "settings": ""}]),
        ("runs", "evil"),
    ],
)
def test_hostile_records_in_a_zip_break_no_page(bench: Workbench, key: str, value: object) -> None:
    """W04, W07: a record that shoal did not write is refused, or its values do not count."""
    path = bench.export_zip(bench.create("source").id)
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    record = json.loads(entries["project.json"])
    if isinstance(value, list):
        value = [{**value[0], "content": {"result": {"rows": "many", "groups": 1, "seconds": 1}}}]
    entries["project.json"] = json.dumps({**record, key: value}).encode()
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in entries.items():
            archive.writestr(name, text)
        link = zipfile.ZipInfo("files/link.csv")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    if key == "created":
        copy = bench.import_zip(content)
        assert copy.created <= time.time()
        assert not (copy.folder / "files" / "link.csv").is_symlink()
        assert (copy.folder / "files" / "link.csv").read_text() == "/etc/passwd"
    else:
        with pytest.raises((InputError, UsageError)):
            bench.import_zip(content)
        assert len(bench.projects()) == 1


def test_a_zip_that_grows_beyond_the_limit_is_stopped(tmp_path: Path) -> None:
    """W05: the limit holds while a zip file is read, whatever its directory says, and nothing is kept."""
    with Workbench(tmp_path / "home", most_bytes=3_000_000) as bench:
        content = io.BytesIO(bench.export_zip(bench.create("source").id).read_bytes())
        with zipfile.ZipFile(content, "a", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("data/source/zeros.csv", bytes(50_000_000))
        with pytest.raises(TooLargeError, match="larger than"):
            bench.import_zip(content)
        assert len(bench.projects()) == 1
        assert "zeros.csv" not in files_below(bench.folder)


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\3\4" + bytes(100)])
def test_what_is_no_zip_is_refused(bench: Workbench, content: bytes) -> None:
    with pytest.raises(InputError, match="not a project"):
        bench.import_zip(io.BytesIO(content))
    assert bench.projects() == []


def test_names_of_files_are_shown_without_folders_and_control_characters() -> None:
    """W04: the last part of a name, whatever system it comes from."""
    names = ["../../etc/passwd", "C:\\a\\b.csv", "\\\\host\\share\\b.csv", "a\0b\n.csv", "...", "é" * 300 + ".csv"]
    shown = [display_name(name) for name in names]
    assert shown[:5] == ["passwd", "b.csv", "b.csv", "ab.csv", "table"]
    assert len(os.fsencode(shown[5])) <= 200
    assert shown[5].endswith(".csv")


def test_urls_of_databases_are_for_local_servers(tmp_path: Path) -> None:
    """W04, W14: a server that others reach opens no path and no URL of its own machine."""
    with Workbench(tmp_path / "home", is_local=False) as bench, pytest.raises(UsageError, match="opens no URLs"):
        bench.create("shared").load_url("sqlite:////etc/passwd?table=a")


def test_the_built_in_table_repeats_as_the_command_line_says(bench: Workbench, tmp_path: Path) -> None:
    """W18: the file of a run, of the command line and of Python are the same bytes."""
    project = bench.create("patients")
    project.load_builtin("patients")
    assert project.wait_loaded(SECONDS) == "ready"
    project.change(effort="fast")
    run = project.start_run()
    assert run.wait(SECONDS) is RunState.DONE, run.error
    ours = run.files()["released.csv"].read_bytes()
    (tmp_path / "shoal.toml").write_text(project.toml())
    (tmp_path / "patients.csv").write_bytes(patients_path().read_bytes())
    words = shlex.split(project.command_line(run))
    subprocess.run([sys.executable, "-m", *words], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "released.csv").read_bytes() == ours
    for path in (*tmp_path.glob("released*"), *tmp_path.glob("report*")):
        path.unlink()
    subprocess.run([sys.executable, "-c", project.python_code(run)], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "released.csv").read_bytes() == ours
